"""Why: what every chart of the kit is made of, so that each says the same thing in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Any, cast

import altair as alt

from evalkit.views import theme
from evalkit.views.frames import Row

__all__ = [
    "STEP", "WIDTH", "AnyChart", "by_place", "data", "finish", "fuel_axis", "line_legend", "log_axis", "nothing",
    "pass_line", "title", "tooltip",
]  # fmt: skip

AnyChart = alt.Chart | alt.LayerChart | alt.HConcatChart

WIDTH = 560
"""Pixels of a plot, without its axis labels: with them it fits Lab's output area and a printed page."""

STEP = 24
"""Pixels of a row of bars."""


def nothing(heading: str, what_to_do: str) -> AnyChart:
    """Return a chart that says there is nothing to draw yet, and what to do about it."""
    text = (
        alt.Chart(data([{"text": what_to_do}]))
        .mark_text(align="left", fontSize=13)
        .encode(text="text:N", x=alt.value(2), y=alt.value(16))
    )
    return finish([text], title(heading), f"{heading}: {what_to_do}", 44)


def finish(layers: Sequence[Any], heading: alt.TitleParams, said: str, height: Any = None) -> AnyChart:
    """Layer marks into one chart of the kit's width; `said` is read out to whoever cannot see it.

    `height` is in pixels; None gives each row of bars its step.
    """
    chart = alt.layer(*layers).properties(
        width=WIDTH, height=alt.Step(STEP) if height is None else height, title=heading, description=said
    )
    return cast(AnyChart, chart)


def data(values: Sequence[Row]) -> alt.InlineData:
    """Put rows into a chart as they are: plain JSON, no limit on their number."""
    return alt.InlineData(values=list(values))


def title(text: str, *subtitle: str) -> alt.TitleParams:
    """Return a heading with a line for each subtitle."""
    return alt.TitleParams(text, subtitle=list(subtitle)) if subtitle else alt.TitleParams(text)


def tooltip(*fields: tuple[str, str] | tuple[str, str, str]) -> list[alt.Tooltip]:
    """Return tooltip lines from `(field, title)` for words and `(field, title, number format)` for numbers."""
    return [
        alt.Tooltip(f"{field[0]}:Q", title=field[1], format=field[2])
        if len(field) == 3
        else alt.Tooltip(f"{field[0]}:N", title=field[1])
        for field in fields
    ]


def by_place(field: str) -> alt.Y:
    """Return a row for each value of a field, in the order of the rows' `place`."""
    return alt.Y(f"{field}:N", title=None, sort=alt.EncodingSortField("place", op="min"))


def fuel_axis(ticks: int = 6) -> alt.Axis:
    """Return an axis in thousands (k), millions (M) and milliards (G) of fuel."""
    return alt.Axis(labelExpr="datum.value === 0 ? '0' : format(datum.value, '~s')", tickCount=ticks)


def log_axis(values: Sequence[int]) -> alt.Axis:
    """Return an axis with a line for each power of ten, so that slopes can be seen; for a short range, a few more."""
    decades = range(floor(log10(min(values))), ceil(log10(max(values))) + 1)
    steps = (1,) if max(values) > 300 * min(values) else (1, 3) if max(values) > 10 * min(values) else (1, 2, 5)
    axis = fuel_axis()
    axis.values = [step * 10**decade for decade in decades for step in steps]
    return axis


def line_legend(entries: int) -> alt.Legend:
    """Return a legend of lines, each long enough to show its dashes."""
    return alt.Legend(symbolType="M-2,0L2,0", symbolStrokeWidth=2.5, symbolOffset=5, labelOffset=9, symbolLimit=entries)


def pass_line(heading: str) -> alt.Chart:
    """Return the upright dashed line at zero percent: the pass line."""
    rule = alt.Chart(data([{"pass_line": 0}])).mark_rule(color=theme.GREY, strokeWidth=1.6, strokeDash=[5, 4])
    return cast(alt.Chart, rule.encode(x=alt.X("pass_line:Q", title=heading)))
