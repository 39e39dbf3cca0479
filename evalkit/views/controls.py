"""Why: every control of the kit looks alike, says what it is, keeps the exact number, and is moved by keyboard.

Two things that JupyterLab does are undone here. A slider snaps what it is given to its own steps and sends that back:
so an exact field stands beside it, and only a step of the slider moves the field. And Lab takes the arrow keys and the
letters of whoever is in a list for commands of the notebook: within `keyboard(…)` they belong to the controls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets

from evalkit.views.names import html, short
from evalkit.views.sorting import SCRIPT

__all__ = ["BOX", "exact", "folds", "keyboard", "number_field", "offer", "panel"]

BOX = {"width": "98%"}

# The browser paints the picked line of a focused list pale, under a text that Lab's dark theme makes pale too.
_KEYS = """<style>.evk-keys select[size] option:checked{background:#1565c0 linear-gradient(#1565c0,#1565c0);
color:#fff;-webkit-text-fill-color:#fff}.evk-keys .evk-wrap :is(td,th){padding-left:.45em;padding-right:.45em}
.evk-keys{--jp-widgets-container-padding:8px}</style><script>(() => {
if (window.evalkitKeys) return;
window.evalkitKeys = true;
addEventListener("keydown", (event) => {
  const asked = event.ctrlKey || event.metaKey || event.altKey;
  if (event.target.closest && event.target.closest(".evk-keys"))
    event.target.toggleAttribute("data-lm-suppress-shortcuts", !asked);
}, true);
})()</script>"""


def keyboard(children: Sequence[Any]) -> Any:
    """The whole of a widget, in which plain keys are the controls' own and not commands of the notebook."""
    script = widgets.Output(layout={"display": "none"})
    data = {"text/plain": "", "text/html": _KEYS + SCRIPT}
    script.outputs = ({"output_type": "display_data", "data": data, "metadata": {}},)
    box = widgets.VBox([*children, script])
    box.add_class("evk-keys")
    return box


def number_field(name: str, value: float, *, whole: bool = False, most: float = 1e9, step: float = 1.0) -> Any:
    """A field for a number from 0 to `most`; `whole` for one without decimals, from 1."""
    made = widgets.BoundedIntText if whole else widgets.BoundedFloatText
    return made(
        value=value, min=1 if whole else 0, max=most, step=step, description=short(name, 24),
        style={"description_width": "118px"}, layout={"width": "auto", "flex": "0 1 250px"},
    )  # fmt: skip


def exact(field: Any, *, most: float = 0.0, step: float = 0.0, times: float = 0.0) -> Any:
    """A field with a slider beside it: from 0 to `most` in steps, or from a hundredth to a hundred `times` a number."""
    style: dict[str, Any] = {
        "readout": False,
        "tooltip": field.description,
        "layout": {"flex": "1 1 80px", "width": "auto", "min_width": "70px"},
    }
    if times:
        slider = widgets.FloatLogSlider(value=1.0, base=10, min=-2, max=2, step=0.01, **style)
    else:
        slider = widgets.FloatSlider(min=0.0, max=most, step=step, **style)

    def place(value: float) -> int:
        """Which step of the slider is nearest to a value of the field."""
        if not times:
            return round(min(most, value) / step)
        return max(-200, min(200, round(100 * math.log10(value / times)))) if value > 0 else -200

    def stands(value: float) -> int:
        """Which step a value of the slider is."""
        return round(100 * math.log10(value)) if times else round(value / step)

    def follow(_: Any = None) -> None:
        at = place(field.value)
        if at != stands(slider.value):  # what it has already is not sent back: by now it may have been moved on
            slider.value = 10 ** (at / 100) if times else min(most, at * step)

    def lead(change: Any) -> None:
        if stands(change["new"]) != place(field.value):
            field.value = round(times * change["new"]) if times else round(change["new"], 9)

    follow()
    slider.observe(lead, "value")
    field.observe(follow, "value")
    return widgets.HBox([field, slider], layout={"width": "98%", "flex_flow": "row wrap"})


def panel(controls: Sequence[Any], note: str = "") -> Any:
    """Controls below each other, with a line about them."""
    said = [widgets.HTML(f"<small style='line-height:1.4;display:block'>{html(note)}</small>")] if note else []
    return widgets.VBox([*said, *controls], layout={"overflow": "hidden"})


def folds(panels: Sequence[tuple[str, Any]]) -> Any:
    """Titled panels below each other, the first one open; a button opens and closes each, so Tab reaches all of them.

    (An Accordion's titles are no stops of the Tab key in JupyterLab.)
    """
    made: list[Any] = []
    for place, (title, content) in enumerate(panels):
        head = widgets.ToggleButton(value=place == 0, layout={"width": "98%"})

        def turn(_: Any = None, head: Any = head, content: Any = content, title: str = title) -> None:
            head.description = f"{'▾' if head.value else '▸'} {short(title, 60)}"
            head.tooltip = f"{'close' if head.value else 'open'} {short(title, 60)}"
            content.layout.display = None if head.value else "none"

        head.observe(turn, "value")
        turn()
        made += [head, content]
    return widgets.VBox(made)


def offer(control: Any, options: Sequence[tuple[str, Any]], value: Any = None) -> None:
    """Give a list its options, label and value, and keep `value` chosen where it is one; else the first, if any."""
    control.options = options
    values = [choice for _, choice in options]
    control.value = value if value in values else values[0] if values else None
