"""Why: two agents are compared cell by cell, where both have played, and not by reading two means."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from evalkit.season.ranking import cell_scores
from evalkit.season.statistics import paired_difference
from evalkit.views import theme
from evalkit.views.drawing import WIDTH, AnyChart, by_place, data, finish, nothing, title, tooltip
from evalkit.views.frames import Row, plain_rows
from evalkit.views.names import labels, plain, short
from evalkit.views.seasons.rows import agent_ink

__all__ = ["paired"]

_SIGNED = "datum.value === 0 ? '0' : format(datum.value, '+~g')"
_POINTS = "score above or below, in points"


def paired(runs: Any, against: str) -> AnyChart:
    """Draw each agent's difference to one of them, cell by cell where both have played, with its mean and error.

    `runs`: what `evalkit.season.ranking.scored` returns; `against`: the agent that the others are held against. Right
    of zero the agent of a row is better. Pairing takes out what makes a cell hard for everyone.
    """
    heading = f"Against {short(against, 40)}, cell by cell"
    cells = cell_scores(runs)
    reference = {str(row["agent"]): row["reference"] for row in plain_rows(runs[["agent", "reference"]])}
    own = cells.get(against)
    found = {
        agent: difference
        for agent, other in cells.items()
        if agent != against and own and (difference := paired_difference(other, own)) is not None
    }
    if own is None or not found:
        return nothing(heading, "No other agent has played a cell that this one has.")
    label, rows, dots = labels(found), [], []
    order = sorted(found, key=lambda agent: (-found[agent].mean, agent))
    for place, agent in enumerate(order):
        d = found[agent]
        error = d.se or 0.0
        text = f"{d.mean:+.1f}" + ("" if d.se is None else f" ± {d.se:.1f}") + f"  ({d.cells} cells)"
        row: Row = {"label": label[agent], "name": plain(agent), "place": place}
        row["ink"] = agent_ink(agent, reference[agent])
        row |= {"mean": d.mean, "low": d.mean - error, "high": d.mean + error, "se": d.se, "cells": d.cells}
        how = {"measured": "mean over the shared cells, and its error over them"}
        rows.append(row | how | {"text": text.replace("-", "−")})
        dots += [
            row
            | {
                "measured": "the cell's attempts averaged",
                "difference": value - own[key],
                "cell": plain(f"{key[0]} · {key[1]} · seed {key[2]}"),
            }
            for key, value in cells[agent].items()
            if key in own
        ]
    values = [dot["difference"] for dot in dots] + [row["high"] for row in rows] + [0.0]
    low, high = min([*values, *(row["low"] for row in rows)]), max(values)
    span = (high - low) or 1.0
    domain = [low - 0.04 * span, high + 0.04 * span + span * 0.62]
    x = alt.X("difference:Q", title=_POINTS, axis=alt.Axis(labelExpr=_SIGNED, values=_ticks(low, high))).scale(
        domain=domain, nice=False
    )
    base = alt.Chart(data(rows)).encode(
        y=by_place("label"), color=alt.Color("ink:N", scale=None),
        tooltip=tooltip(
            ("name", "agent"), ("mean", "mean difference", "+.2f"), ("se", "standard error", ".2f"),
            ("cells", "shared cells", ","), ("measured", "measured"),
        ),
    )  # fmt: skip
    layers = [
        alt.Chart(data([{"difference": 0}])).mark_rule(color=theme.GREY, strokeDash=[5, 4]).encode(x=x),
        alt.Chart(data(dots)).mark_tick(thickness=1.6, size=12, opacity=0.6).encode(
            x=x, y=by_place("label"), color=alt.Color("ink:N", scale=None),
            tooltip=tooltip(("name", "agent"), ("cell", "cell"), ("difference", "difference", "+.2f"),
                            ("measured", "measured")),
        ),
        base.mark_rule(strokeWidth=2.4).encode(x=alt.X("low:Q", title=_POINTS), x2="high:Q"),
        base.mark_point(size=80, filled=True).encode(x=alt.X("mean:Q", title=_POINTS)),
        alt.Chart(data(rows)).mark_text(align="right").encode(
            x=alt.value(WIDTH), y=by_place("label"), text="text:N"
        ),
    ]  # fmt: skip
    notes = [
        f"Right of zero: better than {short(against, 40)}. Ticks: single cells.",
        "Whiskers: one standard error of the difference, over cells.",
    ]
    return finish(layers, title(heading, *notes), f"{heading}: {len(order)} agents.")


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers within the data alone: the room for words beside it has no scale."""
    rough = (high - low) / 6 or 1.0
    unit = 10 ** math.floor(math.log10(rough))
    step = unit * next(n for n in (1, 2, 5, 10) if n * unit >= rough)
    return [step * n for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
