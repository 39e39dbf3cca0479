"""Why: every chart of the kit looks alike and draws with no network, in Lab's light and dark theme, and on paper.

The theme sets shapes, sizes and spacing, and leaves the colours of text, axes and background alone: Lab puts its own
dark ones in, a report puts in its ink. Only text beside a mark takes no part in that, so its grey suits both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import altair as alt

from evalkit.performance.rank import fold_model

__all__ = [
    "CROSS", "DASHES", "FAT_CROSS", "GREY", "LABEL", "MIME", "PALETTE", "SHAPES", "TEXT", "WARN", "colour", "dash",
    "dashes", "enable", "shape", "shapes",
]  # fmt: skip

MIME = "application/vnd.vegalite.v5+json"
"""What JupyterLab bundles, with a `+json` that makes a valid notebook; the report exporter looks for it."""

GREY = "#8a8f98"
"""Reference marks: the ceiling, runway limits, the best of the field."""

WARN = "#c4500c"
"""Over the ceiling. Never alone: a shape, a sign or a word always says it too."""

TEXT = "#74797f"
"""Text beside a mark: 4.3 to 1 or better on white and on Lab's dark ground alike."""

PALETTE = (
    "#0090fc", "#cc8418", "#30a878", "#cc1818", "#903cb4", "#186c60", "#f048c0", "#9c6c48",
    "#3054d8", "#9c903c", "#c00054", "#0c9ccc", "#785490", "#3c6c0c", "#e46c6c", "#b45478",
)  # fmt: skip
"""Sixteen inks, each 3 to 1 or better on white and on Lab's dark ground.

They were searched for: any two, and each and `GREY`, are at least 11 apart in CIELAB for deuteranopes and protanopes as
well (Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", 2009).
"""

DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3))
"""Line styles: the second sign, for when two models share an ink."""

SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down")
"""Shapes of points: the second sign where there is no line."""


CROSS = "M-1.1,-1.1L1.1,1.1M1.1,-1.1L-1.1,1.1"
"""A cross of two strokes, larger than a circle of its size: Vega's own looks like one at the size of a mark."""

FAT_CROSS = "M-1.5,-1L-1,-1.5L0,-.5L1,-1.5L1.5,-1L.5,0L1.5,1L1,1.5L0,.5L-1,1.5L-1.5,1L-.5,0Z"
"""The same to be filled."""


_SALT = "20005:"
"""Any salt spreads names alike; this one also gives the kit's own engines and agents inks far apart for every eye."""


def _digest(model: str) -> int:
    return int.from_bytes(hashlib.sha256((_SALT + fold_model(model)).encode("utf-8", "replace")).digest()[:8], "big")


def colour(model: str) -> str:
    """Return a model's ink: the same in every chart, notebook and report, whatever other models stand beside it."""
    return PALETTE[_digest(model) % len(PALETTE)]


def dash(model: str) -> list[int]:
    """Return a model's line style, in pixels on and off; as stable as its colour and drawn from other bits."""
    return list(DASHES[_digest(model) // len(PALETTE) % len(DASHES)])


def shape(model: str) -> str:
    """Return the shape of a model's points: as stable as its colour, for when two share an ink."""
    return SHAPES[_digest(model) // len(PALETTE) // len(DASHES) % len(SHAPES)]


def dashes(models: Iterable[str]) -> list[list[int]]:
    """Return a line style for each model of one chart: its own, or another where one with its ink has that already."""
    return [
        list(DASHES[place]) for place in _apart(models, lambda model: DASHES.index(tuple(dash(model))), len(DASHES))
    ]


def shapes(models: Iterable[str]) -> list[str]:
    """Return a shape for each model of one chart: its own, or another where one with its ink has that already."""
    return [SHAPES[place] for place in _apart(models, lambda model: SHAPES.index(shape(model)), len(SHAPES))]


def _apart(models: Iterable[str], own: Callable[[str], int], signs: int) -> list[int]:
    """Each model's own sign, or the next that no earlier one of the same ink has; past as many signs they repeat."""
    taken: dict[str, list[int]] = {}
    for model in (models := list(models)):
        used = taken.setdefault(colour(model), [])
        tries = [(own(model) + step) % signs for step in range(signs)]
        used.append(min(tries, key=used.count))
    return [taken[colour(model)].pop(0) for model in models]


LABEL = 440
"""Pixels that a label may take: any of `names.labels`, which are cut already and differ, also one of 36 capitals."""

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def _theme() -> Any:
    return {
        "config": {
            "font": _FONT,
            "background": "transparent",
            "padding": {"left": 4, "right": 12, "top": 8, "bottom": 8},
            "view": {"stroke": None, "continuousWidth": 560, "continuousHeight": 320},
            "axis": {
                "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "titlePadding": 10,
                "labelLimit": LABEL, "labelPadding": 6, "gridOpacity": 0.35, "gridWidth": 0.6, "domain": False,
                "tickSize": 4, "labelOverlap": "greedy",
            },
            "axisBand": {"grid": False, "ticks": False, "labelOverlap": False},
            "legend": {
                "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": LABEL,
                "symbolSize": 70, "rowPadding": 3, "orient": "right", "offset": 16,
            },
            "title": {
                "anchor": "start", "frame": "bounds", "fontSize": 15, "fontWeight": 600, "offset": 14,
                "subtitleFontSize": 12, "subtitlePadding": 5, "lineHeight": 19, "subtitleLineHeight": 16,
            },
            "bar": {"cornerRadiusEnd": 2},
            "point": {"size": 70, "filled": True, "opacity": 1},
            "line": {"strokeWidth": 1.6},
            "text": {"fontSize": 11.5, "color": TEXT},
            "rule": {"color": GREY},
        }
    }  # fmt: skip


def _renderer(spec: dict[str, Any], **_: Any) -> dict[str, Any]:
    return {MIME: spec, "text/plain": str(spec.get("description") or "a chart")}


def enable() -> None:
    """Register the theme and the renderer and make them altair's choice; calling it again changes nothing."""
    alt.theme.register("evalkit", enable=True)(_theme)
    alt.renderers.register("evalkit", _renderer)
    alt.renderers.enable("evalkit")


enable()
