"""Why: two tables of one season, or two of its agents, are compared where they differ and not by reading both."""

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
from evalkit.views.seasons.rows import agent_ink, standing_rows

__all__ = ["paired", "rank_flow"]

_ROW = 26
_SIGNED = "datum.value === 0 ? '0' : format(datum.value, '+~g')"
_POINTS = "score above or below, in points"


def rank_flow(before: Any, after: Any, names: tuple[str, str] = ("official", "what if")) -> AnyChart:
    """Draw where each ranked agent stands under two sets of rules, and who moved.

    `before` and `after`: two standings of the same runs. Rows without a rank in both (reference rows, partial ones) are
    left out and counted. Agents of one rank stand one below the other, each with the rank's number.
    """
    heading = f"Ranks, {plain(names[0])} and {plain(names[1])}"
    sides = [
        {str(row["agent"]): row for row in standing_rows(rows) if row["rank"] is not None} for rows in (before, after)
    ]
    shared = [agent for agent in sides[0] if agent in sides[1]]
    if not shared:
        return nothing(heading, "No agent has a rank in both: a rank needs every cell of the season.")
    label, lines, ends = labels(shared, 28), [], []
    places = [{agent: place for place, agent in enumerate(a for a in side if a in shared)} for side in sides]
    moved = 0
    for agent in shared:
        ranks = [side[agent]["rank"] for side in sides]
        scores = [side[agent]["score"] for side in sides]
        moved += ranks[0] != ranks[1]
        change = ranks[0] - ranks[1]
        row: Row = {"name": plain(agent), "ink": theme.colour(agent), "before": ranks[0], "after": ranks[1]}
        row |= {"score_before": scores[0], "score_after": scores[1], "same": ranks[0] == ranks[1]}
        row["dash"] = theme.dash(agent)
        for side in (0, 1):
            lines.append(row | {"side": side, "y": places[side][agent]})
            move = "" if side == 0 or not change else f"  {'▲' if change > 0 else '▼'}{abs(change)}"
            text = f"{label[agent]}  {scores[0]:.1f}   {ranks[0]}" if side == 0 else (
                f"{ranks[1]}   {label[agent]}  {scores[1]:.1f}{move}"
            )  # fmt: skip
            ends.append({"side": side, "y": places[side][agent], "text": text})
    x = alt.X("side:Q", axis=None).scale(domain=[-1.5, 2.5], nice=False)
    y = alt.Y("y:Q", axis=None).scale(domain=[len(shared) - 0.5, -0.5], nice=False)
    tips = tooltip(
        ("name", "agent"), ("before", f"rank, {names[0]}", ","), ("after", f"rank, {names[1]}", ","),
        ("score_before", f"score, {names[0]}", ".2f"), ("score_after", f"score, {names[1]}", ".2f"),
    )  # fmt: skip
    base = alt.Chart(data(lines)).encode(
        x=x, y=y, color=alt.Color("ink:N", scale=None), tooltip=tips,
        opacity=alt.condition("datum.same", alt.value(0.6), alt.value(1)),
    )  # fmt: skip
    heads = [{"side": side, "text": plain(names[side])} for side in (0, 1)]
    layers = [
        base.mark_line(strokeWidth=2).encode(detail="name:N"),
        base.mark_point(size=60, filled=True),
        *(
            alt.Chart(data([e for e in ends if e["side"] == side]))
            .mark_text(align="right" if side == 0 else "left", dx=-10 if side == 0 else 10, fontSize=12)
            .encode(x=x, y=y, text="text:N")
            for side in (0, 1)
        ),
        alt.Chart(data(heads)).mark_text(fontSize=12, fontWeight=600, baseline="bottom").encode(
            x=x, y=alt.value(-4), text="text:N"
        ),
    ]  # fmt: skip
    left_out = max(len(standing_rows(rows)) for rows in (before, after)) - len(shared)
    notes = [f"{moved} of {len(shared)} ranks differ. Beside each name: its score."]
    if left_out:
        notes.append(f"{left_out} without a rank in both left out: reference rows and partial ones.")
    return finish(layers, title(heading, *notes), f"{heading}: {moved} of {len(shared)} differ.", _ROW * len(shared))


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
        rows.append(row | {"text": text.replace("-", "−")})
        dots += [
            row | {"difference": value - own[key], "cell": plain(f"{key[0]} · {key[1]} · seed {key[2]}")}
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
            ("cells", "shared cells", ","),
        ),
    )  # fmt: skip
    layers = [
        alt.Chart(data([{"difference": 0}])).mark_rule(color=theme.GREY, strokeDash=[5, 4]).encode(x=x),
        alt.Chart(data(dots)).mark_tick(thickness=1.6, size=12, opacity=0.6).encode(
            x=x, y=by_place("label"), color=alt.Color("ink:N", scale=None),
            tooltip=tooltip(("name", "agent"), ("cell", "cell"), ("difference", "difference", "+.2f")),
        ),
        base.mark_rule(strokeWidth=2.4).encode(x=alt.X("low:Q", title=_POINTS), x2="high:Q"),
        base.mark_point(size=80, filled=True).encode(x=alt.X("mean:Q", title=_POINTS)),
        alt.Chart(data(rows)).mark_text(align="right").encode(
            x=alt.value(WIDTH), y=by_place("label"), text="text:N"
        ),
    ]  # fmt: skip
    notes = [
        f"Right of zero: better than {short(against, 40)}. Ticks: single cells.",
        "Whiskers: one standard error of the difference.",
    ]
    return finish(layers, title(heading, *notes), f"{heading}: {len(order)} agents.")


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers within the data alone: the room for words beside it has no scale."""
    rough = (high - low) / 6 or 1.0
    unit = 10 ** math.floor(math.log10(rough))
    step = unit * next(n for n in (1, 2, 5, 10) if n * unit >= rough)
    return [step * n for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
