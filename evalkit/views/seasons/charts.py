"""Why: the pictures of a season: who leads and how surely, at what cost, where, how fast, and in how many decisions.

`rows` are what `evalkit.standings` returns, `runs` what `evalkit.season.ranking.scored` does. Each function returns an
altair chart with its data inside. An agent has one ink everywhere, and every reference row the same grey; no sign is
carried by colour alone. Means and errors are over cells, scores are by the season's own rules.
"""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from evalkit.views import theme
from evalkit.views.drawing import WIDTH, AnyChart, by_place, data, finish, fuel_axis, nothing, title, tooltip
from evalkit.views.frames import Row
from evalkit.views.names import short
from evalkit.views.seasons.compare import paired
from evalkit.views.seasons.every_run import cells, time_and_decisions
from evalkit.views.seasons.placing import Box, Spot, placed
from evalkit.views.seasons.rows import COSTS, cost_rows, standing_rows

__all__ = ["cells", "leaderboard", "paired", "score_against_cost", "time_and_decisions"]

_PLAY = "Play it: evalkit sweep SEASON --agents AGENT"
_MEAN = "mean over cells, attempts in a cell averaged first; ± its standard error"
_HEIGHT = 340

ROW_TIPS = (
    ("name", "agent"), ("rank", "rank", ","), ("score", "score", ".2f"), ("se", "standard error", ".2f"),
    ("cells", "cells", ","), ("cells_expected", "of", ","), ("attempts", "runs", ","), ("proved", "proof"),
)  # fmt: skip


def leaderboard(rows: Any) -> AnyChart:
    """Draw each agent's season score with its standard error, best first, reference rows in grey below.

    A row of one cell has no error and so no whisker. A hollow mark is a partial row, which takes no rank.
    """
    heading = "Season score, with its standard error"
    values = standing_rows(rows)
    if not values:
        return nothing(heading, f"No run counts yet. {_PLAY}")
    for row in values:
        error = row["se"]
        row |= {"low": max(0.0, row["score"] - (error or 0)), "high": row["score"] + (error or 0)}
        said = f"{row['score']:.1f}" + ("" if error is None else f" ± {error:.1f}")
        row |= {"text": said + (f"  {row['marks']}" if row["marks"] else ""), "measured": _MEAN, "zero": 0}
        row["form"] = "partial" if row["partial"] else "whole"
    most = max(100.0, *(row["high"] for row in values))
    room = most + 7 * max(len(row["text"]) for row in values) * most / WIDTH
    axis = alt.Axis(values=list(range(0, math.ceil(most) + 1, 20)))
    x = alt.X("score:Q", title="score", axis=axis).scale(domain=[0, room], nice=False)
    base = alt.Chart(data(values)).encode(
        y=by_place("label"), color=alt.Color("ink:N", scale=None),
        tooltip=tooltip(*ROW_TIPS, ("measured", "measured")),
    )  # fmt: skip
    fill = alt.condition("datum.partial", alt.value("transparent"), alt.Fill("ink:N", scale=None))
    layers = [
        base.mark_bar(height={"band": 0.62}, opacity=0.22).encode(x=x, x2="zero:Q"),
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="score"), x2="high:Q"),
        base.mark_point(size=70, filled=False, strokeWidth=2).encode(x=x, fill=fill),
        base.mark_text(align="left", dx=8).encode(
            x=alt.X("high:Q", title="score"), text="text:N", color=alt.value(theme.TEXT)
        ),
    ]
    notes = ["Whiskers: one standard error over the season's cells. Grey: reference rows, which take no rank."]
    if any(row["partial"] for row in values):
        notes.append("Hollow: partial, with fewer cells than the season has, and so without a rank.")
    best = next((row for row in values if row["rank"] == 1), None)
    said = f"{heading}: " + (f"best {short(best['name'])} with {best['score']:.1f}." if best else "no ranked row.")
    return finish(layers, title(heading, *notes), said)


def score_against_cost(rows: Any, cost: str = "decisions", *, log: bool | None = None) -> AnyChart:
    """Draw score against what one run costs on average, with the Pareto front.

    `cost`: decisions, tokens or dollars. `log` chooses the axis; None takes a log axis where costs span more than 20
    times. Reference rows are grey lines. A partial row is hollow; a row of unknown cost stands at the right edge.
    """
    heading = f"Score against {COSTS.get(cost, cost)} a run"
    values = cost_rows(rows, cost)
    field = [row for row in values if row["reference"] is None]
    priced = [row for row in field if row["cost"] is not None]
    if not values:
        return nothing(heading, f"No run counts yet. {_PLAY}")
    if not priced:
        return nothing(heading, f"No agent's {COSTS[cost]} are known: an agent says so in usage().")
    costs = [row["cost"] for row in priced]
    can_log = min(costs) > 0
    wide = can_log and (max(costs) > 20 * min(costs) if log is None else log)
    x_scale, y_top = _spread(costs, wide), max(100.0, *(row["score"] for row in values))
    y_scale = (-4.0, y_top + 4)
    x = alt.X("cost:Q", title=_axis_title(cost, wide), axis=_cost_axis(cost, wide)).scale(
        type="log" if wide else "linear", domain=list(x_scale), nice=False, zero=False
    )
    y = alt.Y("score:Q", title="score", axis=alt.Axis(values=list(range(0, math.ceil(y_top) + 1, 20)))).scale(
        domain=list(y_scale), nice=False
    )
    for row, form in zip(field, theme.shapes(row["name"] for row in field), strict=True):
        row |= {"low": max(0.0, row["score"] - (row["se"] or 0)), "high": row["score"] + (row["se"] or 0)}
        row |= {
            "state": _state(row),
            "form": form,
            "measured": f"mean over {row['attempts']:,} runs, as recorded",
            "scored": _MEAN,
        }
    line = sorted((row for row in priced if row["front"]), key=lambda row: (row["cost"], row["score"]))
    edge = [{"cost": x_scale[1], "score": line[-1]["score"]}] if line else []
    references = [row for row in values if row["reference"] is not None]
    names = _named(priced, line, references, x_scale, y_scale, wide)
    tips = tooltip(
        *ROW_TIPS,
        ("cost", f"{COSTS[cost]} a run", ",.4~f"),
        ("state", "Pareto front"),
        ("measured", "cost"),
        ("scored", "measured"),
    )
    base = alt.Chart(data(priced)).encode(x=x, color=alt.Color("ink:N", scale=None), tooltip=tips)
    fill = alt.condition("datum.partial", alt.value("transparent"), alt.Fill("ink:N", scale=None))
    layers = [
        *_reference_lines(references, y),
        alt.Chart(data([{"cost": r["cost"], "score": r["score"]} for r in line] + edge))
        .mark_line(interpolate="step-after", color=theme.TEXT, strokeWidth=1.4, opacity=0.8)
        .encode(x=x, y=y),
        base.mark_rule(strokeWidth=1.2, opacity=0.6).encode(y=alt.Y("low:Q", title="score"), y2="high:Q"),
        base.mark_point(size=85, filled=False, strokeWidth=2).encode(
            y=y, fill=fill, shape=alt.Shape("form:N", scale=None),
            opacity=alt.condition("datum.front", alt.value(1), alt.value(0.75)),
        ),
        *(
            alt.Chart(data([n for n in names if n["align"] == align]))
            .mark_text(align=align, fontSize=11)
            .encode(x=x, y=y, text="text:N")
            for align in ("left", "center", "right")
            if any(n["align"] == align for n in names)
        ),
    ]  # fmt: skip
    unpriced = [row for row in field if row["cost"] is None]
    if unpriced:
        layers.append(
            alt.Chart(data(unpriced)).mark_text(text="?", fontSize=15, fontWeight="bold", align="right").encode(
                x=alt.value(WIDTH + 16), y=y, color=alt.Color("ink:N", scale=None), tooltip=tips[:8] + tips[9:]
            )
        )  # fmt: skip
    notes = ["Line: the Pareto front, no row of known cost is as good in both and better in one. Bars: one SE."]
    notes += _asides(field, unpriced, cost, log is True and not can_log, len(names) < len(priced))
    said = f"{heading}: on the front {', '.join(short(row['name'], 24) for row in line[:8]) or 'no row'}."
    return finish(layers, title(heading, *notes), said, _HEIGHT)


def _asides(field: list[Row], unpriced: list[Row], cost: str, no_log: bool, unnamed: bool) -> list[str]:
    notes = []
    if any(row["partial"] for row in field):
        notes.append("Hollow: partial rows; their mean is over fewer cells.")
    if unpriced:
        names = ", ".join(short(row["name"], 20) for row in unpriced[:3]) + (" …" if len(unpriced) > 3 else "")
        notes.append(f"? right of the plot: {len(unpriced)} of unknown {COSTS[cost]}, so not on the front: {names}.")
    if no_log:
        notes.append("A log axis has no zero, and a run here costs nothing: the axis is linear.")
    if unnamed:
        notes.append("Where names would collide they are left out: point at a mark.")
    return notes


def _state(row: Row) -> str:
    if row["cost"] is None:
        return "cost unknown: not on it"
    return ("on it" if row["front"] else "not on it") + (", partial" if row["partial"] else "")


def _spread(costs: list[float], wide: bool) -> tuple[float, float]:
    low, high = min(costs), max(costs)
    if wide:
        return low / 1.6, high * 1.9
    room = (high - low) or max(high, 1.0)
    return max(low - 0.12 * room, -0.04 * room if low >= 0 else -math.inf), high + 0.22 * room


def _axis_title(cost: str, wide: bool) -> str:
    return f"{COSTS[cost]} a run, on average" + (" (log scale)" if wide else "") + "; left is cheaper"


def _cost_axis(cost: str, wide: bool) -> alt.Axis:
    ticks = 5 if wide else 7
    return alt.Axis(format="$,.4~f", tickCount=ticks) if cost == "dollars" else fuel_axis(ticks)


def _named(
    rows: list[Row], front: list[Row], references: list[Row], x: tuple[float, float], y: tuple[float, float], wide: bool
) -> list[Row]:
    """Name points where a name fits, those on the front first; positions in the units of the axes."""
    low, high = (math.log(x[0]), math.log(x[1])) if wide else x

    def across(cost: float) -> float:
        return WIDTH * ((math.log(cost) if wide else cost) - low) / (high - low)

    def down(score: float) -> float:
        return _HEIGHT * (y[1] - score) / (y[1] - y[0])

    def back(pixel: float) -> float:
        value = low + pixel / WIDTH * (high - low)
        return math.exp(value) if wide else value

    lines: list[Box] = [(across(r["cost"]), down(r["high"]), across(r["cost"]), down(r["low"])) for r in rows]
    ends = [*(across(r["cost"]) for r in front[1:]), float(WIDTH)][: len(front)]
    for row, end in zip(front, ends, strict=True):
        lines.append((across(row["cost"]), down(row["score"]) - 1, end, down(row["score"]) + 1))
    for row in references:
        lines += [(0, down(row["score"]) - 1, WIDTH, down(row["score"]) + 1)]
        lines += [(WIDTH - 190, down(row["score"]) - 16, WIDTH, down(row["score"]))]
    order = sorted(rows, key=lambda row: (not row["front"], row["place"]))
    spots = [Spot(across(r["cost"]), down(r["score"]), short(r["name"], 26)) for r in order]
    return [
        {"cost": back(p.x), "score": y[1] - p.y / _HEIGHT * (y[1] - y[0]), "text": p.text, "align": p.align}
        for p in placed(spots, WIDTH, _HEIGHT, lines)
    ]


def _reference_lines(rows: list[Row], y: alt.Y) -> list[Any]:
    if not rows:
        return []
    for row in rows:
        row["text"] = f"{short(row['name'], 24)} ({row['reference']}) {row['score']:.1f}"
    base = alt.Chart(data(rows)).encode(y=y, tooltip=tooltip(*ROW_TIPS, ("reference", "reference row")))
    return [
        base.mark_rule(color=theme.GREY, strokeDash=[5, 4], strokeWidth=1.4),
        base.mark_text(align="right", baseline="bottom", dy=-3, fontSize=11).encode(x=alt.value(WIDTH), text="text:N"),
    ]
