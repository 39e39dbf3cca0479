"""Why: a reader of a saved report asks "what if" too, and a page has no kernel: the browser computes the rules again.

Each board holds the facts of the runs, a control for each constant, and the formula of the score as Vega expressions;
moving a control scores, averages, ranks and sorts anew, in the page. The tests hold its ranks to those of
`season.whatif` and `performance.whatif`, which are the authority. Where nothing is left to rank, a row of words says
so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from evalkit.performance.whatif import fold
from evalkit.records import PerformanceRun, ReviewedRun
from evalkit.season.ranking import scored
from evalkit.season.season import Season
from evalkit.views import theme
from evalkit.views.board_facts import SEEN, contenders, tries
from evalkit.views.drawing import STEP, AnyChart, data, finish, nothing, title, tooltip
from evalkit.views.frames import Row, graded, stress
from evalkit.views.names import labels, plain, short

__all__ = ["case_board", "season_board"]

_TIE = 1e9
"""Scores that agree to nine decimals are one rank, as in the official standings."""

_MOST_BOXES = 24
"""Inputs with a box of their own; more would be a wall of boxes. The others always count."""

_WORDS = "\N{NO-BREAK SPACE}"
"""The row that stands where no other one does; it has no name, and words in place of a bar."""


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
    label = labels(dict.fromkeys(table["agent"]), 30)
    references = set(table.loc[table["reference"].notna(), "agent"])
    official = table.groupby(["agent", "level", "difficulty", "seed"])["score"].mean().groupby("agent").mean()
    rows: list[Row] = [
        columns
        | {
            "a": label[agent], "name": plain(agent), "was": round(float(official[agent]), 6),
            "ref": int(agent in references), "real": 1,
            "ink": theme.GREY if agent in references else theme.colour(agent),
        }
        for agent, columns in tries(table, season).items()
    ]  # fmt: skip
    rows.append({name: [-1] for name in SEEN} | {"a": _WORDS, "name": "", "was": None, "ref": 1, "real": 0, "ink": ""})
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
    chosen = " || ".join(f"(datum.e === {index} && e{index})" for index in range(len(entries)))
    anchors = [60 * (entry.anchor_s or 0) for entry in season.entries]
    pace = f"(datum.t > 0 ? min(1, {anchors}[datum.e] / datum.t) : 1)"
    points = f"objectives * datum.f + completion * datum.c * pow({pace}, exponent) - death * datum.d"
    base = (
        alt.Chart(data(rows))
        .transform_flatten([*SEEN])
        .transform_filter(f"!datum.real || {chosen}")
        .transform_calculate(points=f"datum.n * max(0, {points})")
        .transform_aggregate(points="sum(points)", tries="sum(n)", groupby=[*_KEPT, "e", "s"])
        .transform_calculate(cell="datum.points / datum.tries")
        .transform_aggregate(mean="mean(cell)", se="stderr(cell)", cells="count()", runs="sum(tries)", groupby=_KEPT)
        .transform_joinaggregate(others="sum(real)")
        .transform_filter("datum.real || !datum.others")
        .transform_calculate(
            ranked=f"!datum.ref && datum.cells >= {expected}",
            key=f"datum.ranked ? round(datum.mean * {_TIE:.0f}) : -1",
        )
        .transform_window(place="rank()", sort=[alt.SortField("key", order="descending")])
        .transform_calculate(
            mean="datum.real ? datum.mean : null",
            low="datum.cells > 1 ? max(0, datum.mean - datum.se) : datum.mean",
            high="!datum.real ? 0 : datum.cells > 1 ? datum.mean + datum.se : datum.mean",
            measured="'mean over cells, attempts in a cell averaged first'",
            rank="datum.ref ? 'reference' : datum.ranked ? '' + datum.place : 'partial'",
            text="!datum.real ? 'Every entry is left out: tick one below.' :"
            " (datum.ranked ? '#' + datum.place + '  ' : datum.rank + '  ') + format(datum.mean, '.1f')"
            " + (abs(datum.mean - datum.was) < 0.05 ? '' : '  (' + format(datum.mean - datum.was, '+.1f') + ')')",
        )
    )
    y = alt.Y("a:N", title=None, sort=alt.EncodingSortField("mean", op="max", order="descending"))
    x = alt.X("mean:Q", title="score, mean over cells", axis=_axis("format(datum.value, '')")).scale(
        domainMin=0, nice=True
    )
    tips = tooltip(
        ("name", "agent"), ("rank", "what-if rank"), ("mean", "what-if score", ".3f"), ("was", "official score", ".3f"),
        ("cells", "cells", ","), ("runs", "runs", ","), ("measured", "measured"),
    )  # fmt: skip
    layers = [
        base.mark_bar(height={"band": 0.62}).encode(x=x, y=y, color=alt.Color("ink:N", scale=None), tooltip=tips),
        base.mark_rule(strokeWidth=1.4, color=theme.TEXT).encode(x=alt.X("low:Q"), x2="high:Q", y=y),
        base.mark_tick(thickness=2.5, color=theme.GREY, size=STEP * 0.9).encode(x=alt.X("was:Q"), y=y),
        base.mark_text(align="left", dx=8).encode(x=alt.X("high:Q"), y=y, text="text:N"),
    ]
    note = "Bar: what-if score; whisker: a standard error each way; grey tick: official score."
    said = f"{heading} {len(label)} agents under adjustable rules."
    return finish(layers, title(heading, note), said).add_params(*sliders, *boxes)


_KEPT: list[Any] = ["a", "ref", "ink", "name", "was", "real"]


def case_board(runs: Iterable[PerformanceRun | ReviewedRun], aliases: Mapping[str, str] | None = None) -> AnyChart:
    """Draw a case's leaderboard with a slider for the ceiling, a box for each stress input, and two ways to add up.

    `runs` are one cohort's. The ceiling moves as a multiple of the official one, for every input alike. A run passes
    where it is right and within the ceiling on every input that counts; each model shows its best one. Past 24 inputs
    there are no more boxes: those always count, and the board says so. Where the ceiling is raised above a runway limit
    at which some run was stopped, the board says how many would need a rerun: what they would burn is not known.
    """
    heading = "What if the ceiling, or the inputs, were others?"
    records = {run.run_id: run for run in runs if isinstance(run, PerformanceRun)}
    facts = fold(list(records.values()), aliases=aliases)
    able = contenders(facts)
    if not able:
        return nothing(heading, "No run is right on a stress input yet. evalkit grade CASE SOLUTION")
    called: dict[int, str] = {}  # a folded model -> its name as it was first recorded among these
    for run in able:
        called.setdefault(int(facts.model[run]), records[facts.run_ids[run]].model)
    label = labels(called.values(), 30)
    rows: list[Row] = [
        {
            "m": label[called[int(facts.model[run])]], "r": facts.run_ids[run], "real": 1,
            "l": int(np.nanmax(facts.ceiling[run])), "ink": theme.colour(called[int(facts.model[run])]),
            "name": plain(called[int(facts.model[run])]),
            "f": [int(fuel) if right else None for fuel, right in zip(facts.fuel[run], facts.right[run], strict=True)],
        }
        for run in able
    ]  # fmt: skip
    names = facts.inputs
    rows.append({"m": _WORDS, "r": "", "real": 0, "l": 1, "ink": "", "name": "", "f": [0] * len(names)})
    most = max(2.0, *(fuel / row["l"] for row in rows for fuel in row["f"] if fuel is not None)) * 1.1
    ceiling = _slider("ceiling", 1.0, round(most, 1), 0.05, "ceiling, multiple of the official")
    way = alt.param(
        name="way", value="sum of fuel", bind=alt.binding_select(options=["sum of fuel", "geometric mean of ratios"],
                                                                name="score "),
    )  # fmt: skip
    boxes = [_box(f"e{index}", short(name, 30)) for index, name in enumerate(names[:_MOST_BOXES])]
    counts = [f"e{index}" if index < _MOST_BOXES else "true" for index in range(len(names))]
    number = " + ".join(f"({count} ? 1 : 0)" for count in counts)
    out = " || ".join(
        f"({count} && (datum.f[{i}] === null || datum.f[{i}] > datum.at_most))" for i, count in enumerate(counts)
    )
    total = " + ".join(f"({count} ? datum.f[{i}] : 0)" for i, count in enumerate(counts))
    ratios = " + ".join(
        f"({count} ? log(max(1, datum.f[{i}]) / max(1, datum.least{i})) : 0)" for i, count in enumerate(counts)
    )
    words = f"{number} === 0 ? 'Every input is left out: tick one below.' : 'Nobody is right and within the ceiling.'"
    base = (
        alt.Chart(data(rows))
        .transform_calculate(at_most="round(ceiling * datum.l)")
        .transform_filter(f"!datum.real || ({number} > 0 && !({out}))")
        .transform_joinaggregate(others="sum(real)")
        .transform_filter("datum.real || !datum.others")
        .transform_calculate(**{f"fuel{i}": f"datum.f[{i}]" for i in range(len(names))})
        # The least on each input is taken over the runs that pass, as `performance.whatif.Setting` has it.
        .transform_joinaggregate(
            [alt.JoinAggregateFieldDef(op="min", field=f"fuel{i}", **{"as": f"least{i}"}) for i in range(len(names))]
        )
        .transform_calculate(
            total=total, score=f"way === 'sum of fuel' ? datum.total : exp(({ratios}) / max(1, {number}))"
        )
        .transform_calculate(key=f"way === 'sum of fuel' ? datum.score : round(datum.score * {_TIE:.0f})")
        .transform_window(nth="row_number()", sort=[alt.SortField("key")], groupby=["m"])
        .transform_filter("datum.nth === 1")
        .transform_window(place="rank()", sort=[alt.SortField("key")])
        .transform_joinaggregate(front="min(score)")
        .transform_calculate(
            at="datum.real ? datum.score : 0",
            measured="'wasmtime fuel of one metered call for each input'",
            score="datum.real ? datum.score : null",
            text=f"!datum.real ? ({words}) : '#' + datum.place + '  ' + format(datum.score, way === 'sum of fuel' ?"
            " '.3s' : '.3f') + ' · ' + format(datum.score / datum.front, '.2f') + '×'",
        )
    )
    y = alt.Y("m:N", title=None, sort=alt.EncodingSortField("at", op="min"))
    x = alt.X(
        "score:Q", title="score (lower is better)", axis=_axis("format(datum.value, datum.value < 1000 ? '' : '~s')")
    ).scale(domainMin=0)
    tips = tooltip(("name", "model"), ("place", "what-if rank", ","), ("score", "what-if score", ",.3f"),
                   ("total", "fuel, summed over the inputs in", ","), ("r", "run"),
                   ("measured", "measured"))  # fmt: skip
    layers: list[Any] = [
        base.mark_bar(height={"band": 0.62}).encode(x=x, y=y, color=alt.Color("ink:N", scale=None), tooltip=tips),
        base.mark_text(align="left", dx=6).encode(x=alt.X("at:Q"), y=y, text="text:N"),
    ]
    notes = ["Each model at its best run that is right and within the ceiling on every input that is ticked."]
    if len(names) > _MOST_BOXES:
        notes.append(f"{len(names)} inputs: the first {_MOST_BOXES} have a box, the others always count.")
    stopped = sorted(
        row.runway_limit / run.fuel_limit
        for run in graded(records.values()) for row in stress(run) if row.reason == "exhausted"
    )  # fmt: skip
    if stopped:
        notes.append(_reruns(stopped))
    said = f"{heading} {len(label)} models under an adjustable ceiling."
    return finish(layers, title(heading, *notes), said).add_params(ceiling, way, *boxes)


def _axis(shown: str) -> alt.Axis:
    """An axis whose numbers go where there is nothing to measure."""
    return alt.Axis(labelExpr=f"domain('x')[1] > 0 ? (datum.value === 0 ? '0' : {shown}) : ''", tickCount=6)


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
