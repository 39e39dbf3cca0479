"""Why: every control of the kit looks alike, says what it is, and is reached and moved by keyboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets

from evalkit.views.names import html, short

__all__ = ["BOX", "number_field", "offer", "panel"]

BOX = {"width": "98%"}
_LABEL = {"description_width": "136px"}


def number_field(name: str, value: float, *, whole: bool = False) -> Any:
    """A field for a number from 0; `whole` for one without decimals."""
    made = widgets.BoundedIntText if whole else widgets.BoundedFloatText
    most = 2**53 - 1 if whole else 1e9
    step = max(1, round(value / 20)) if whole else 1.0
    return made(value=value, min=0, max=most, step=step, description=short(name, 24), style=_LABEL, layout=BOX)


def panel(controls: Sequence[Any], note: str = "") -> Any:
    """Controls below each other, with a line about them."""
    said = [widgets.HTML(f"<small style='line-height:1.4;display:block'>{html(note)}</small>")] if note else []
    return widgets.VBox([*said, *controls], layout={"overflow": "hidden"})


def offer(control: Any, options: Sequence[tuple[str, Any]], value: Any = None) -> None:
    """Give a list its options, label and value, and keep `value` chosen where it is one; else the first, if any."""
    control.options = options
    values = [choice for _, choice in options]
    control.value = value if value in values else values[0] if values else None
