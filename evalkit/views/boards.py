"""Why: a reader of a saved report asks "what if" too, and a page has no kernel: the browser computes the rules again.

Each board holds the facts of every run, a control for each constant, and the formula of the score as Vega expressions;
moving a control scores, averages, ranks and sorts anew, in the page. The tests hold its ranks to those of
`season.standings` and `performance.leaderboard`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from evalkit.performance.rank import fold_model
from evalkit.records import PerformanceRun, ReviewedRun
from evalkit.season.ranking import scored
from evalkit.season.season import Season
from evalkit.views import theme
from evalkit.views.drawing import STEP, AnyChart, data, finish, fuel_axis, nothing, title, tooltip
from evalkit.views.frames import Row, graded, plain_rows, stress
from evalkit.views.names import labels, plain, short

__all__ = ["case_board", "season_board"]

_TIE = 1e9
"""Scores that agree to nine decimals are one rank, as in the official standings."""

_MOST_INPUTS = 12


def season_board(runs: pd.DataFrame | Iterable[Any], season: Season) -> AnyChart:
    """Draw the standings of a season with a slider for each constant of its rules and a box for each entry.

    `runs` as `season.standings` takes them. Bars are what-if scores, 0 to 100, whiskers a standard error each way, grey
    ticks the official scores. Reference rows are grey, and no row that lacks a cell has a rank.
    """
    heading = "What if the rules were others?"
    table = scored(runs, season)
    if table.empty:
        return nothing(heading, "No run counts yet. Play a season: evalkit sweep SEASON --agents …")
    entries = [f"{entry.level} ({entry.difficulty})" for entry in season.entries]
    place = {entry.key: index for index, entry in enumerate(season.entries)}
    label = labels(dict.fromkeys(table["agent"]), 30)
    references = set(table.loc[table["reference"].notna(), "agent"])
    official = table.groupby(["agent", "level", "difficulty", "seed"])["score"].mean().groupby("agent").mean()
    # T matters only through anchor / T: a number a run, and none where there is no anchor.
    table["pace"] = (table["anchor_s"] / table["time_s"].astype("float64")).clip(upper=1.0).fillna(1.0)
    rows: list[Row] = [
        {
            "a": label[run["agent"]], "e": place[run["level"], run["difficulty"]], "s": run["seed"],
            "f": run["objectives_done"] / run["objectives_total"], "c": int(run["completed"]), "d": int(run["died"]),
            "p": run["pace"], "was": round(float(official[run["agent"]]), 6), "ref": int(run["agent"] in references),
            "ink": theme.GREY if run["agent"] in references else theme.colour(run["agent"]),
            "name": plain(run["agent"]),
        }
        for run in plain_rows(table)
    ]  # fmt: skip
    rules = season.rules
    sliders = [
        _slider("objectives", rules.objectives, 100, 1, "objectives, points"),
        _slider("completion", rules.completion, 100, 1, "completion, points"),
        _slider("death", rules.death, 50, 1, "death, points lost"),
        _slider("exponent", rules.exponent, 3, 0.05, "exponent of anchor / T"),
    ]
    boxes = [_box(f"e{index}", entry) for index, entry in enumerate(entries)]
    seeds = len(season.seeds)
    expected = " + ".join(f"(e{index} ? {seeds} : 0)" for index in range(len(entries)))
    points = "objectives * datum.f + completion * datum.c * pow(datum.p, exponent) - death * datum.d"
    base = (
        alt.Chart(data(rows))
        .transform_filter(_any_of("datum.e", len(entries), "e"))
        .transform_calculate(points=f"max(0, {points})")
        .transform_aggregate(cell="mean(points)", tries="count()", groupby=[*_KEPT, "e", "s"])
        .transform_aggregate(mean="mean(cell)", se="stderr(cell)", cells="count()", runs="sum(tries)", groupby=_KEPT)
        .transform_calculate(
            ranked=f"!datum.ref && datum.cells >= {expected}",
            key=f"datum.ranked ? round(datum.mean * {_TIE:.0f}) : -1",
        )
        .transform_window(place="rank()", sort=[alt.SortField("key", order="descending")])
        .transform_calculate(
            low="datum.cells > 1 ? max(0, datum.mean - datum.se) : datum.mean",
            high="datum.cells > 1 ? datum.mean + datum.se : datum.mean",
            rank="datum.ref ? 'reference' : datum.ranked ? '' + datum.place : 'partial'",
            text="(datum.ranked ? '#' + datum.place + '  ' : datum.rank + '  ') + format(datum.mean, '.1f')"
            " + (abs(datum.mean - datum.was) < 0.05 ? '' : '  (' + format(datum.mean - datum.was, '+.1f') + ')')",
        )
    )
    y = alt.Y("a:N", title=None, sort=alt.EncodingSortField("mean", op="max", order="descending"))
    x = alt.X("mean:Q", title="score, mean over cells").scale(domainMin=0, nice=True)
    tips = tooltip(
        ("name", "agent"), ("rank", "what-if rank"), ("mean", "what-if score", ".3f"), ("was", "official score", ".3f"),
        ("cells", "cells", ","), ("runs", "runs", ","),
    )  # fmt: skip
    layers = [
        base.mark_bar(height={"band": 0.62}).encode(x=x, y=y, color=alt.Color("ink:N", scale=None), tooltip=tips),
        base.mark_rule(strokeWidth=1.4, color=theme.TEXT).encode(x=alt.X("low:Q"), x2="high:Q", y=y),
        base.mark_tick(thickness=2.5, color=theme.GREY, size=STEP * 0.9).encode(x=alt.X("was:Q"), y=y),
        base.mark_text(align="left", dx=8).encode(x=alt.X("high:Q"), y=y, text="text:N"),
    ]
    notes = ["Bar: what-if score; whisker: a standard error each way; grey tick: official score.",
             "The controls are below the chart; opening the page again brings the official rules back."]  # fmt: skip
    said = f"{heading} {len(label)} agents under adjustable rules."
    return finish(layers, title(heading, *notes), said).add_params(*sliders, *boxes)


_KEPT: list[Any] = ["a", "ref", "ink", "name", "was"]


def case_board(runs: Iterable[PerformanceRun | ReviewedRun], aliases: Mapping[str, str] | None = None) -> AnyChart:
    """Draw a case's leaderboard with a slider for the ceiling, a box for each stress input, and two ways to add up.

    The ceiling moves as a multiple of the official one, for every input alike. Runs that were right on every stress
    input take part; each model shows its best one. Where the ceiling is raised above a runway limit at which some run
    was stopped, the board says how many runs would need a rerun: what they would burn is not known.
    """
    heading = "What if the ceiling, or the inputs, were others?"
    kept = graded(runs)
    right = [run for run in kept if stress(run) and all(row.fuel is not None for row in stress(run)) and run.correct]
    if not right:
        return nothing(heading, "No run is right on every stress input yet. evalkit grade CASE SOLUTION")
    names = list(dict.fromkeys(row.name for run in right for row in stress(run)))[:_MOST_INPUTS]
    folded = {run.run_id: fold_model(run.model, aliases) for run in right}
    first = {folded[run.run_id]: run.model for run in reversed(right)}
    label = labels(first.values(), 30)
    rows: list[Row] = [
        {
            "m": label[first[folded[run.run_id]]], "r": run.run_id, "i": names.index(row.name),
            "f": row.fuel, "q": row.fuel / run.fuel_limit, "ink": theme.colour(first[folded[run.run_id]]),
            "name": plain(first[folded[run.run_id]]),
        }
        for run in right
        for row in stress(run)
        if row.name in names and row.fuel is not None
    ]  # fmt: skip
    stopped = sorted(
        row.runway_limit / run.fuel_limit for run in kept for row in stress(run) if row.reason == "exhausted"
    )
    most = max([2.0, *(row["q"] for row in rows)]) * 1.1
    ceiling = _slider("ceiling", 1.0, round(most, 1), 0.05, "ceiling, multiple of the official")
    way = alt.param(
        name="way", value="sum of fuel", bind=alt.binding_select(options=["sum of fuel", "geometric mean of ratios"],
                                                                name="score "),
    )  # fmt: skip
    boxes = [_box(f"e{index}", short(name, 30)) for index, name in enumerate(names)]
    base = (
        alt.Chart(data(rows))
        .transform_filter(_any_of("datum.i", len(names), "e"))
        .transform_joinaggregate(least="min(f)", groupby=["i"])
        .transform_calculate(over="datum.q > ceiling ? 1 : 0", ln="log(max(1, datum.f) / max(1, datum.least))")
        .transform_aggregate(total="sum(f)", over="max(over)", ln="mean(ln)", groupby=["m", "r", "ink", "name"])
        .transform_filter("!datum.over")
        .transform_calculate(score="way === 'sum of fuel' ? datum.total : exp(datum.ln)")
        .transform_joinaggregate(best="min(score)", runs="count()", groupby=["m"])
        .transform_filter("datum.score === datum.best")
        .transform_window(nth="row_number()", groupby=["m"])
        .transform_filter("datum.nth === 1")
        .transform_window(place="rank()", sort=[alt.SortField("score")])
        .transform_joinaggregate(front="min(score)")
        .transform_calculate(
            text="'#' + datum.place + '  ' + (way === 'sum of fuel' ? format(datum.score, '.3s') + ' · ' : '')"
            " + format(datum.score / datum.front, '.2f') + '×'"
        )
    )
    y = alt.Y("m:N", title=None, sort=alt.EncodingSortField("score", op="min"))
    x = alt.X("score:Q", title="score (lower is better)", axis=fuel_axis()).scale(domainMin=0)
    tips = tooltip(("name", "model"), ("place", "what-if rank", ","), ("score", "what-if score", ",.3f"),
                   ("total", "fuel, summed over the inputs in", ","), ("r", "run"),
                   ("runs", "its runs within the ceiling", ","))  # fmt: skip
    layers: list[Any] = [
        base.mark_bar(height={"band": 0.62}).encode(x=x, y=y, color=alt.Color("ink:N", scale=None), tooltip=tips),
        base.mark_text(align="left", dx=6).encode(x=x, y=y, text="text:N"),
    ]
    notes = ["Each model at its best run that is right and within the ceiling on every input that is ticked.",
             "The controls are below the chart."]  # fmt: skip
    if stopped:
        notes.append(_reruns(stopped))
    said = f"{heading} {len(label)} models under an adjustable ceiling."
    return finish(layers, title(heading, *notes), said).add_params(ceiling, way, *boxes)


def _reruns(stopped: Sequence[float]) -> str:
    return (
        f"Needs a rerun above {stopped[0]:g} times the ceiling: there the engine stopped {len(stopped)} "
        f"call{'s' if len(stopped) > 1 else ''}, and what it would have burned is not known."
    )


def _slider(name: str, value: float, most: float, step: float, said: str) -> alt.Parameter:
    bind = alt.binding_range(min=0, max=max(most, value), step=step, name=f"{said} ")
    return alt.param(name=name, value=value, bind=bind)


def _box(name: str, said: str) -> alt.Parameter:
    return alt.param(name=name, value=True, bind=alt.binding_checkbox(name=f"{plain(said)} "))


def _any_of(field: str, count: int, prefix: str) -> str:
    return " || ".join(f"({field} === {index} && {prefix}{index})" for index in range(count))
