"""Why: the pictures of a performance case, each answering one question about fuel.

Every function takes rows or records and returns an altair chart with its data inside; none reads a store. Fuel is
wasmtime fuel. A chart with nothing to draw says so and what to do next. Tooltips give the full name, the exact number
and how it was measured; no sign is carried by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from evalkit.records import Outcome, PerformanceRun
from evalkit.views import theme
from evalkit.views.drawing import (
    WIDTH,
    AnyChart,
    by_place,
    data,
    finish,
    fuel_axis,
    line_legend,
    log_axis,
    nothing,
    pass_line,
    title,
    tooltip,
)
from evalkit.views.flow import rank_flow
from evalkit.views.formats import OUTCOME_WORDS, compact, signed_percent, times
from evalkit.views.frames import Row, input_rows, plain_rows, stress, worst_overshoot
from evalkit.views.names import labels, plain, short

__all__ = ["fuel_per_input", "leaderboard", "nothing", "overshoot", "placement", "rank_flow", "worst_overshoots"]

_LEGEND_MAX = 16
_GRADE = "Grade a solution: evalkit grade CASE SOLUTION"
_TOTAL = "total fuel (lower is better)"
_AGAINST = "fuel against the ceiling, % (right of zero is over)"
_SUMMED = "wasmtime fuel, summed over the stress inputs"
_METERED = "wasmtime fuel of one metered call"
_SHAPES = {"pass": "circle", "over ceiling": "triangle-up", "incorrect": theme.FAT_CROSS, "skipped": "square"}


def leaderboard(rows: Any) -> AnyChart:
    """Draw a bar of total fuel for each model, best first.

    `rows`: a DataFrame or rows with `rank, model, total_fuel, ratio_to_best, runs, run_id` (as `leaderboard` returns).
    A row with no total fuel keeps its place without a bar.
    """
    heading = "Leaderboard: total fuel of each model's best passing run"
    values = plain_rows(rows)
    if not values:
        return nothing(heading, f"No passing run yet. {_GRADE}")
    label = labels(str(row["model"]) for row in values)
    for place, row in enumerate(values):
        name, fuel = str(row["model"]), row["total_fuel"]
        text = "no passing run" if fuel is None else f"{compact(fuel)} · {times(row['ratio_to_best'])}"
        row |= {"label": label[name], "place": place, "ink": theme.colour(name), "model": plain(name)}
        row |= {"measured": _SUMMED, "at": fuel or 0, "text": text}
    room = 1.28 * max(1, *(row["at"] for row in values))  # for the text right of the longest bar
    tips = tooltip(
        ("model", "model"), ("rank", "rank", ","), ("total_fuel", "total fuel", ","),
        ("ratio_to_best", "ratio to best", ".3f"), ("runs", "runs made", ","), ("run_id", "best run"),
        ("measured", "measured"),
    )  # fmt: skip
    x = alt.X("at:Q", title=_TOTAL, axis=fuel_axis()).scale(domain=[0, room], nice=False)
    base = alt.Chart(data(values)).encode(y=by_place("label"), x=x, tooltip=tips)
    bars = base.mark_bar(height={"band": 0.68}).encode(color=alt.Color("ink:N", scale=None))
    text = base.mark_text(align="left", dx=6).encode(text="text:N")
    said = f"{heading}; best: {short(values[0]['model'])} with {compact(values[0]['total_fuel'])}."
    return finish([bars, text], title(heading), said)


def fuel_per_input(runs: Sequence[PerformanceRun]) -> AnyChart:
    """Draw fuel against stress input on a log axis, a line for each run, with the ceiling and every runway limit.

    Pass one run per model (`frames.one_per_model`). Points over the ceiling are triangles, incorrect ones crosses. An
    input without a reading leaves a gap in its line, and the subtitle counts them.
    """
    heading = "Fuel per stress input (log scale)"
    values = input_rows(runs)
    read = [row for row in values if row["fuel"] is not None]
    if not read:
        return nothing(heading, f"No stress input has a reading yet. {_GRADE}")
    lit = {row["run_id"] for row in read}
    dark = len({row["run_id"] for row in values} - lit)
    values = [row for row in values if row["run_id"] in lit]
    label = labels((row["model"] for row in values), 30)
    inputs = labels((row["input"] for row in values), 30)
    for row in values:
        row |= {"label": label[row["model"]], "how": OUTCOME_WORDS[row["outcome"]], "measured": _METERED}
        row |= {"name": plain(row["model"]), "whole_input": plain(row["input"]), "input": inputs[row["input"]]}
        row["drawn"] = None if row["fuel"] is None else max(row["fuel"], 1)  # a log axis has no zero
    limits = {row["input"]: row for row in sorted(values, key=lambda row: row["runway_limit"])}
    highest = max(max(row["drawn"] or 0, row["ceiling"], row["runway_limit"]) for row in values)
    domain = [min(*(row["drawn"] for row in read), *(row["ceiling"] for row in values)) / 1.5, highest * 1.5]
    x = alt.X("input:N", title=None, sort=alt.EncodingSortField("position", op="min")).axis(
        labelAngle=0 if _fits_level(limits) else -30
    )
    y = alt.Y("drawn:Q", title="fuel", axis=fuel_axis(8)).scale(type="log", domain=domain, nice=False)
    many = len(label) > _LEGEND_MAX
    legend = None if many else line_legend(_LEGEND_MAX)
    ink = alt.Color("label:N", title="model", legend=legend).scale(
        domain=list(label.values()), range=[theme.colour(model) for model in label]
    )
    styles = alt.StrokeDash("label:N", title="model", legend=legend).scale(
        domain=list(label.values()), range=theme.dashes(label)
    )
    shown = sorted({row["how"] for row in read}, key=list(_SHAPES).index)
    signs = None if len(shown) == 1 else alt.Legend(symbolFillColor=theme.GREY, symbolStrokeColor=theme.GREY)
    shape = alt.Shape("how:N", title="outcome", legend=signs).scale(domain=shown, range=[_SHAPES[how] for how in shown])
    tips = tooltip(
        ("name", "model"), ("whole_input", "input"), ("fuel", "fuel", ","), ("how", "outcome"),
        ("overshoot_percent", "against the ceiling, %", "+,.2f"), ("ceiling", "ceiling", ","),
        ("runway_limit", "runway limit", ","), ("run_id", "run"), ("measured", "measured"),
    )  # fmt: skip
    pick = alt.selection_point(fields=["label"], bind="legend")
    seen = alt.condition(pick, alt.value(1), alt.value(0.12))
    base = alt.Chart(data(values)).encode(x=x, y=y, color=ink, opacity=seen)
    lines = base.mark_line().encode(detail="run_id:N", strokeDash=styles)
    points = base.mark_point().encode(shape=shape, tooltip=tips).add_params(pick)
    notes = ["Dashed: the ceiling, each input's pass line. Grey ticks: runway limits, where the engine is stopped."]
    if len(read) < len(values):
        notes.append(f"{len(values) - len(read)} of {len(values)} have no reading (skipped, trapped or exhausted).")
    if dark:
        notes.append(_left_out(dark))
    if many:
        notes.append(f"{len(label)} models: point at a mark to see whose it is.")
    said = f"{heading}: {len(label)} models, {len(limits)} inputs, ceiling {compact(values[0]['ceiling'])}."
    return finish([*_limits(list(limits.values()), x, domain), lines, points], title(heading, *notes), said, 360)


def _limits(rows: list[Row], x: alt.X, domain: list[float]) -> list[Any]:
    y = alt.Y("limit:Q").scale(type="log", domain=domain, nice=False)
    tips = tooltip(("whole_input", "input"), ("limit", "runway limit", ","), ("ceiling", "ceiling", ","))
    ticks = alt.Chart(data([row | {"limit": row["runway_limit"]} for row in rows])).encode(x=x, y=y, tooltip=tips)
    ceilings = sorted({row["ceiling"] for row in rows})
    lines = alt.Chart(data([{"limit": value, "text": f"ceiling {compact(value)}"} for value in ceilings])).encode(y=y)
    return [
        ticks.mark_tick(orient="horizontal", color=theme.GREY, thickness=2, size=34),
        lines.mark_rule(color=theme.GREY, strokeDash=[5, 4], strokeWidth=1.4).encode(
            tooltip=tooltip(("text", "pass line"), ("limit", "fuel", ","))
        ),
        lines.mark_text(align="left", baseline="bottom", dx=3, dy=-3, fontSize=11).encode(
            x=alt.value(0), text="text:N"
        ),
    ]


def overshoot(run: PerformanceRun | None) -> AnyChart:
    """Draw how far each stress input of one run lies below or above the ceiling, in percent of the ceiling.

    Zero is the pass line; a bar to its right went over. An input without a reading has a word instead of a bar.
    """
    heading = "Against the ceiling, input by input"
    if run is None or not stress(run):
        return nothing(heading, f"No graded run yet. {_GRADE}" if run is None else "This run has no stress inputs.")
    values = input_rows([run])
    label = labels(row["input"] for row in values)
    for row in values:
        row |= {"label": label[row["input"]], "place": row["position"], "input": plain(row["input"])}
        row["word"] = f"no reading ({plain(row['reason'] or OUTCOME_WORDS[row['outcome']])})"
    tips = tooltip(("input", "input"), ("fuel", "fuel", ","), ("ceiling", "ceiling", ","))
    return _percent_bars(values, heading, [f"{short(run.model)}, run {run.run_id}"], tips)


def worst_overshoots(runs: Sequence[PerformanceRun]) -> AnyChart:
    """Draw, for each run, the stress input that went furthest over the ceiling or came nearest to it, in percent.

    Pass one run per model (`frames.one_per_model`). Zero is the pass line.
    """
    heading = "Nearest to the ceiling, or furthest over it: each model's costliest input"
    if not runs:
        return nothing(heading, f"No graded run yet. {_GRADE}")
    lit = [run for run in runs if worst_overshoot(run)] or list(runs)
    label, values = labels(run.model for run in lit), []
    for place, run in enumerate(lit):
        worst = worst_overshoot(run)
        row: Row = {"label": label[run.model], "place": place, "model": plain(run.model), "run_id": run.run_id}
        row["aside"] = " · run incorrect" if worst and run.outcome is Outcome.INCORRECT else ""
        row |= {"ceiling": run.fuel_limit, "word": f"no reading ({OUTCOME_WORDS[run.outcome]})"}
        row |= {"input": plain(worst[0].name), "fuel": worst[0].fuel} if worst else {"input": None, "fuel": None}
        values.append(row | {"overshoot_percent": worst[1] if worst else None})
    tips = tooltip(
        ("model", "model"), ("input", "costliest input"), ("fuel", "fuel", ","), ("ceiling", "ceiling", ","),
        ("run_id", "run"),
    )  # fmt: skip
    return _percent_bars(values, heading, [_left_out(len(runs) - len(lit))] if len(lit) < len(runs) else [], tips)


def _left_out(runs: int) -> str:
    return f"{runs} run{'s' if runs > 1 else ''} without any reading left out."


def _percent_bars(values: list[Row], heading: str, notes: list[str], tips: list[alt.Tooltip]) -> AnyChart:
    for row in values:
        percent = row["overshoot_percent"]
        text = row["word"] if percent is None else signed_percent(percent) + (" ▲ over" if percent > 0 else "")
        text += row.get("aside", "")
        row |= {"at": max(percent or 0, 0), "over": (percent or 0) > 0, "text": text}
        row["measured"] = f"{_METERED}, against the ceiling"
    read = [row["overshoot_percent"] for row in values if row["overshoot_percent"] is not None]
    low, high = min([-10.0, *read]), max([0.0, *read])
    room = (high - low) * 0.24  # for the text right of the longest bar
    x = alt.X("overshoot_percent:Q", title=_AGAINST, axis=alt.Axis(format="+,.0f", tickCount=6))
    x = x.scale(domain=[low, high + room], nice=False)
    tips = [*tips, *tooltip(("overshoot_percent", "against the ceiling, %", "+,.2f"), ("measured", "measured"))]
    base = alt.Chart(data(values)).encode(y=by_place("label"), tooltip=tips)
    ink = alt.Color("over:N", legend=None).scale(domain=[False, True], range=[theme.GREY, theme.WARN])
    bars = base.mark_bar(height={"band": 0.6}).encode(x=x, color=ink)
    text = base.mark_text(align="left", dx=6).encode(x=alt.X("at:Q", title=_AGAINST), text="text:N")
    said = f"{heading}: {sum(row['over'] for row in values)} of {len(values)} over the ceiling."
    notes = [*notes, "Dashed: the pass line. Left of it is room to spare."]
    return finish([bars, text, pass_line(_AGAINST)], title(heading, *notes), said)


def placement(rows: Any, run: PerformanceRun | None, place: Any) -> AnyChart:
    """Draw where one run stands in its field: a tick for each model's best, a diamond for this run.

    `rows`: the field, as `leaderboard` takes it. `place`: a placement, or None for a run that has none.
    """
    heading = "Where this run stands in its field"
    if run is None:
        return nothing(heading, f"No graded run yet. {_GRADE}")
    if run.total_fuel is None or place is None:
        state = "voided" if run.voided is not None else OUTCOME_WORDS[run.outcome]
        return nothing(heading, f"A run that is {state} has no placement: only a pass is ranked.")
    field = [row for row in plain_rows(rows) if row["total_fuel"] is not None]
    for row in field:
        row |= {"ink": theme.colour(str(row["model"])), "model": plain(str(row["model"])), "measured": _SUMMED}
    fuels = [max(1, fuel) for fuel in (run.total_fuel, *(row["total_fuel"] for row in field))]
    wide = max(fuels) > 20 * min(fuels)
    pad, axis = (1.25, log_axis(fuels)) if wide else (1.06, fuel_axis())
    x = alt.X("total_fuel:Q", title="total fuel (log scale)" if wide else "total fuel", axis=axis).scale(
        type="log" if wide else "linear", domain=[min(fuels) / pad, max(fuels) * pad], nice=False, zero=False
    )
    tips = tooltip(
        ("model", "model"), ("rank", "rank", ","), ("total_fuel", "total fuel", ","),
        ("ratio_to_best", "ratio to best", ".3f"), ("share", "efficiency percentile", ".1f"), ("measured", "measured"),
    )  # fmt: skip
    share = place.efficiency_percentile
    me = {"model": plain(run.model), "rank": place.rank, "total_fuel": run.total_fuel, "share": share}
    me |= {"ratio_to_best": place.ratio_to_best, "measured": _SUMMED}
    ticks = alt.Chart(data(field)).mark_tick(thickness=3, size=26, opacity=0.85)
    here = alt.Chart(data([me])).mark_point(shape="diamond", size=210, filled=True, stroke="white", strokeWidth=1)
    words = f"rank {place.rank} of {place.field_size}, {times(place.ratio_to_best)} the best, "
    words += "alone in its field" if share is None else f"efficiency percentile {share:.1f}"
    layers = [
        ticks.encode(x=x, color=alt.Color("ink:N", scale=None), tooltip=tips[:4] + tips[5:]),
        here.encode(x=x, color=alt.value(theme.colour(run.model)), tooltip=tips),
    ]
    notes = [f"{short(run.model)}: {words}", "Diamond: this run. Ticks: the best passing run of each model."]
    return finish(layers, title(heading, *notes), f"{heading}: {words}.", 52)


def _fits_level(names: Iterable[str]) -> bool:
    names = list(names)
    return max(map(len, names)) * len(names) * 7 < WIDTH
