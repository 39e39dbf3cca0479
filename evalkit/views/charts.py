"""Why: the pictures of a performance case, each answering one question about fuel.

Every function takes rows or records and returns an altair chart with its data inside; none reads a store. Fuel is
wasmtime fuel. A chart with nothing to draw says so and what to do next. Tooltips give the full name, the exact number
and how it was measured; no sign is carried by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from evalkit.views import theme
from evalkit.views.formats import OUTCOME_WORDS, compact, signed_percent, times
from evalkit.views.frames import Row, input_rows, plain_rows, stress, worst_overshoot
from evalkit.views.names import labels, plain, short
from evalkit.records import PerformanceRun

import altair as alt  # isort: skip  # after the theme, which mends its slow start

__all__ = ["WIDTH", "fuel_per_input", "leaderboard", "nothing", "overshoot", "placement", "worst_overshoots"]

AnyChart = alt.Chart | alt.LayerChart

WIDTH = 560
"""Pixels of a plot, without its axis labels: with them it fits Lab's output area and a printed page."""

_STEP = 24
_LEGEND_MAX = 16
_TOTAL = "total fuel (lower is better)"
_AGAINST = "fuel against the ceiling, % (right of zero is over)"
_SUMMED = "wasmtime fuel, summed over the stress inputs"
_METERED = "wasmtime fuel of one metered call"
_SHAPES = {"pass": "circle", "over ceiling": "triangle-up", "incorrect": "cross", "skipped": "square"}


def nothing(title: str, what_to_do: str) -> alt.Chart:
    """Return a chart that says there is nothing to draw yet, and what to do about it."""
    return (
        alt.Chart(_data([{"text": what_to_do}]))
        .mark_text(style=theme.TEXT_STYLE, align="left", fontSize=13, lineBreak="\n")
        .encode(text="text:N", x=alt.value(2), y=alt.value(16))
        .properties(width=WIDTH, height=44, title=_title(title), description=f"{title}: {what_to_do}")
    )


def leaderboard(rows: Any) -> AnyChart:
    """Draw a bar of total fuel for each model, best first.

    `rows`: a DataFrame or rows with `rank, model, total_fuel, ratio_to_best, runs, run_id` (as `leaderboard` returns).
    A row with no total fuel keeps its place without a bar.
    """
    title = "Leaderboard: total fuel of each model's best passing run"
    values = plain_rows(rows)
    if not values:
        return nothing(title, "No passing run yet. Grade a solution: evalkit grade CASE SOLUTION")
    label = labels(str(row["model"]) for row in values)
    for place, row in enumerate(values):
        fuel = row["total_fuel"]
        row |= {
            "label": label[str(row["model"])], "place": place, "ink": theme.colour(str(row["model"])),
            "model": plain(str(row["model"])), "measured": _SUMMED, "at": fuel or 0,
            "text": "no passing run" if fuel is None else f"{compact(fuel)}   {times(row['ratio_to_best'])}",
        }  # fmt: skip
    top = max((row["total_fuel"] or 0 for row in values), default=0)
    base = alt.Chart(_data(values)).encode(
        y=_by_place("label", None),
        x=alt.X("total_fuel:Q", title=_TOTAL, axis=alt.Axis(format="~s", tickCount=6))
        .scale(domain=[0, max(top, 1) * 1.28], nice=False),
        tooltip=[
            _tip("model", "model"), _tip("rank", "rank", ","), _tip("total_fuel", "total fuel", ","),
            _tip("ratio_to_best", "ratio to best", ".3f"), _tip("runs", "runs made", ","),
            _tip("run_id", "best run"), _tip("measured", "measured"),
        ],
    )  # fmt: skip
    bars = base.mark_bar(height={"band": 0.68}).encode(color=alt.Color("ink:N", scale=None))
    text = base.mark_text(style=theme.TEXT_STYLE, align="left", dx=6).encode(text="text:N", x=alt.X("at:Q", title=_TOTAL))
    best = values[0]
    said = f"{title}; best: {short(best['model'])} with {compact(best['total_fuel'])}."
    return (bars + text).properties(width=WIDTH, height=alt.Step(_STEP), title=_title(title), description=said)


def fuel_per_input(runs: Sequence[PerformanceRun]) -> AnyChart:
    """Draw fuel against stress input on a log axis, a line for each run, with the ceiling and every runway limit.

    Pass one run per model (`frames.one_per_model`). Points over the ceiling are triangles, incorrect ones crosses. An
    input without a reading leaves a gap in its line, and the subtitle counts them.
    """
    title = "Fuel per stress input (log scale)"
    values = input_rows(runs)
    read = [row for row in values if row["fuel"] is not None]
    if not read:
        return nothing(title, "No stress input has a reading yet. Grade a solution: evalkit grade CASE SOLUTION")
    label = labels((row["model"] for row in values), 30)
    for row in values:
        row["fuel"] = None if row["fuel"] is None else max(row["fuel"], 1)  # a log axis has no zero
        row |= {"label": label[row["model"]], "how": OUTCOME_WORDS[row["outcome"]], "measured": _METERED,
                "name": plain(row["model"]), "input": plain(row["input"])}  # fmt: skip
    marks = {row["input"]: row for row in sorted(values, key=lambda row: row["runway_limit"])}
    highest = max(max(row["fuel"] or 0, row["ceiling"], row["runway_limit"]) for row in values)
    domain = [min(min(row["fuel"] for row in read), min(row["ceiling"] for row in values)) / 1.5, highest * 1.5]
    x = alt.X("input:N", title=None, sort=alt.EncodingSortField("position", op="min")).axis(
        labelAngle=0 if _short_axis(marks) else -30, labelLimit=150
    )
    y = alt.Y("fuel:Q", title="fuel").scale(type="log", domain=domain, nice=False).axis(format="~s", tickCount=8)
    shown, models = sorted({row["how"] for row in read}, key=list(_SHAPES).index), list(label)
    ink = alt.Color("label:N", title="model", sort=None).scale(
        domain=list(label.values()), range=[theme.colour(model) for model in models]
    )
    many = len(models) > _LEGEND_MAX
    ink = ink.legend(None) if many else ink.legend(symbolType="stroke", symbolStrokeWidth=3, symbolLimit=_LEGEND_MAX)
    styles = alt.StrokeDash("label:N", legend=None).scale(
        domain=list(label.values()), range=[theme.dash(model) for model in models]
    )
    pick = alt.selection_point(fields=["label"], bind="legend")
    base = alt.Chart(_data(values)).encode(x=x, y=y, color=ink, opacity=alt.condition(pick, alt.value(1), alt.value(0.12)))
    lines = base.mark_line().encode(detail="run_id:N", strokeDash=styles)
    points = base.mark_point().encode(
        shape=alt.Shape("how:N", title="outcome").scale(domain=shown, range=[_SHAPES[how] for how in shown])
        .legend(None if len(shown) == 1 else alt.Legend(symbolFillColor=theme.GREY, symbolStrokeColor=theme.GREY)),
        tooltip=[
            _tip("name", "model"), _tip("input", "input"), _tip("fuel", "fuel", ","), _tip("how", "outcome"),
            _tip("overshoot_percent", "against the ceiling, %", "+,.2f"), _tip("ceiling", "ceiling", ","),
            _tip("runway_limit", "runway limit", ","), _tip("run_id", "run"), _tip("measured", "measured"),
        ],
    )  # fmt: skip
    subtitle = ["Dashed: the ceiling, the pass line of each input. Grey ticks: runway limits, where the engine is stopped."]
    if len(read) < len(values):
        subtitle.append(f"{len(values) - len(read)} of {len(values)} have no reading (skipped, trapped or exhausted).")
    if many:
        subtitle.append(f"{len(models)} models: point at a mark to see whose it is.")
    said = f"{title}: {len(models)} models, {len(marks)} inputs, ceiling {compact(values[0]['ceiling'])}."
    layers = alt.layer(*_limits(list(marks.values()), x, domain), lines, points.add_params(pick))
    return layers.resolve_scale(color="independent").properties(
        width=WIDTH, height=360, title=_title(title, *subtitle), description=said
    )


def _limits(marks: list[Row], x: alt.X, domain: list[float]) -> list[alt.Chart]:
    y = alt.Y("limit:Q").scale(type="log", domain=domain, nice=False)
    runway = (
        alt.Chart(_data([row | {"limit": row["runway_limit"], "what": "runway limit"} for row in marks]))
        .mark_tick(orient="horizontal", color=theme.GREY, thickness=2, size=34)
        .encode(x=x, y=y, tooltip=[_tip("input", "input"), _tip("limit", "runway limit", ","), _tip("ceiling", "ceiling", ",")])
    )
    ceilings = sorted({row["ceiling"] for row in marks})
    line = (
        alt.Chart(_data([{"limit": value, "what": "ceiling (pass line)"} for value in ceilings]))
        .mark_rule(color=theme.GREY, strokeDash=[5, 4], strokeWidth=1.4)
        .encode(y=y, tooltip=[_tip("what", "line"), _tip("limit", "fuel", ",")])
    )
    return [runway, line]


def overshoot(run: PerformanceRun | None) -> AnyChart:
    """Draw how far each stress input of one run lies below or above the ceiling, in percent of the ceiling.

    Zero is the pass line; a bar to its right went over. An input without a reading has a word instead of a bar.
    """
    title = "Against the ceiling, input by input"
    if run is None or not stress(run):
        return nothing(title, "No graded run yet." if run is None else "This run has no stress inputs.")
    values = input_rows([run])
    label = labels(row["input"] for row in values)
    for row in values:
        row |= {"label": label[row["input"]], "place": row["position"], "word": _no_reading(row)}
        row["input"] = plain(row["input"])
    tips = [_tip("input", "input"), _tip("fuel", "fuel", ","), _tip("ceiling", "ceiling", ",")]
    return _percent_bars(values, title, f"{short(run.model)}, run {run.run_id}", tips)


def worst_overshoots(runs: Sequence[PerformanceRun]) -> AnyChart:
    """Draw, for each run, the stress input that went furthest over the ceiling or came nearest to it, in percent.

    Pass one run per model (`frames.one_per_model`). Zero is the pass line.
    """
    title = "Nearest to the ceiling, or furthest over it: each model's costliest input"
    if not runs:
        return nothing(title, "No graded run yet. Grade a solution: evalkit grade CASE SOLUTION")
    label, values = labels(run.model for run in runs), []
    for place, run in enumerate(runs):
        worst = worst_overshoot(run)
        values.append({
            "label": label[run.model], "place": place, "model": plain(run.model), "run_id": run.run_id,
            "input": plain(worst[0].name) if worst else None, "fuel": worst[0].fuel if worst else None,
            "overshoot_percent": worst[1] if worst else None, "ceiling": run.fuel_limit,
            "word": None if worst else f"no reading ({OUTCOME_WORDS[run.outcome]})",
        })  # fmt: skip
    tips = [_tip("model", "model"), _tip("input", "costliest input"), _tip("fuel", "fuel", ","),
            _tip("ceiling", "ceiling", ","), _tip("run_id", "run")]  # fmt: skip
    return _percent_bars(values, title, "", tips)


def _percent_bars(values: list[Row], title: str, subtitle: str, tips: list[alt.Tooltip]) -> AnyChart:
    for row in values:
        percent = row["overshoot_percent"]
        row |= {
            "measured": f"{_METERED}, against the ceiling", "at": max(percent or 0, 0), "over": (percent or 0) > 0,
            "text": row["word"] if percent is None else signed_percent(percent) + (" ▲ over" if percent > 0 else ""),
        }  # fmt: skip
    read = [row["overshoot_percent"] for row in values if row["overshoot_percent"] is not None]
    low, high = min([-10.0, *read]), max([0.0, *read])
    room = (high - low) * 0.24  # for the text right of the longest bar
    x = alt.X("overshoot_percent:Q", title=_AGAINST).scale(
        domain=[low, high + room], nice=False
    )
    tips = [*tips, _tip("overshoot_percent", "against the ceiling, %", "+,.2f"), _tip("measured", "measured")]
    base = alt.Chart(_data(values)).encode(y=_by_place("label", None), tooltip=tips)
    bars = base.mark_bar(height={"band": 0.6}).encode(
        x=x.axis(format="+,.0f", tickCount=6),
        color=alt.Color("over:N", legend=None).scale(domain=[False, True], range=[theme.GREY, theme.WARN]),
    )
    text = base.mark_text(style=theme.TEXT_STYLE, align="left", dx=6).encode(x=alt.X("at:Q", title=_AGAINST), text="text:N")
    line = alt.Chart(_data([{"pass_line": 0}])).mark_rule(strokeWidth=1.6, strokeDash=[5, 4]).encode(x=alt.X("pass_line:Q", title=_AGAINST))
    over = sum(row["over"] for row in values)
    said = f"{title}: {over} of {len(values)} over the ceiling."
    titles = _title(title, *([subtitle] if subtitle else []), "Dashed: the pass line. Left of it is room to spare.")
    return (bars + text + line).properties(width=WIDTH, height=alt.Step(_STEP), title=titles, description=said)


def placement(rows: Any, run: PerformanceRun | None, place: Any) -> AnyChart:
    """Draw where one run stands in its field: a tick for each model's best, a diamond for this run.

    `rows`: the field, as `leaderboard` takes it. `place`: a placement, or None for a run that has none.
    """
    title = "Where this run stands in its field"
    field = [row for row in plain_rows(rows) if row["total_fuel"] is not None]
    if run is None:
        return nothing(title, "No graded run yet.")
    if run.total_fuel is None or place is None:
        state = "voided" if run.voided is not None else OUTCOME_WORDS[run.outcome]
        return nothing(title, f"A run that is {state} has no placement: only a pass is ranked.")
    for row in field:
        row |= {"ink": theme.colour(str(row["model"])), "model": plain(str(row["model"])), "measured": _SUMMED}
    fuels = [row["total_fuel"] for row in field] + [run.total_fuel]
    wide = max(fuels) > 20 * max(min(fuels), 1)
    pad = 1.25 if wide else 1.06
    scale = alt.Scale(type="log" if wide else "linear", domain=[max(min(fuels), 1) / pad, max(fuels) * pad], nice=False, zero=False)
    x = alt.X("total_fuel:Q", scale=scale, title=f"total fuel{' (log scale)' if wide else ''}", axis=alt.Axis(format="~s", tickCount=6))
    ticks = (
        alt.Chart(_data(field)).mark_tick(thickness=3, size=26, opacity=0.85)
        .encode(x=x, color=alt.Color("ink:N", scale=None), tooltip=[
            _tip("model", "model"), _tip("rank", "rank", ","), _tip("total_fuel", "total fuel", ","),
            _tip("ratio_to_best", "ratio to best", ".3f"), _tip("measured", "measured")])
    )  # fmt: skip
    share = place.efficiency_percentile
    me = [{"total_fuel": run.total_fuel, "model": plain(run.model), "run_id": run.run_id, "rank": place.rank,
           "ratio": place.ratio_to_best, "share": share, "measured": _SUMMED}]  # fmt: skip
    here = (
        alt.Chart(_data(me)).mark_point(shape="diamond", size=210, filled=True, stroke="white", strokeWidth=1)
        .encode(x=x, color=alt.value(theme.colour(run.model)), tooltip=[
            _tip("model", "this run"), _tip("rank", "rank", ","), _tip("total_fuel", "total fuel", ","),
            _tip("ratio", "ratio to best", ".3f"), _tip("share", "efficiency percentile", ".1f"), _tip("measured", "measured")])
    )  # fmt: skip
    words = f"Rank {place.rank} of {place.field_size}, {times(place.ratio_to_best)} the best" + (
        f", efficiency percentile {share:.1f}" if share is not None else ", alone in its field"
    )
    titles = _title(title, f"{short(run.model)}: {words}", "Diamond: this run. Ticks: the best passing run of each model.")
    return (ticks + here).properties(width=WIDTH, height=52, title=titles, description=f"{title}: {words}.")


def _no_reading(row: Row) -> str:
    return f"no reading ({row['reason'] or OUTCOME_WORDS[row['outcome']]})"


def _short_axis(names: Iterable[str]) -> bool:
    names = list(names)
    return max(map(len, names)) * len(names) * 7 < WIDTH


def _by_place(name: str, title: str | None) -> alt.Y:
    return alt.Y(f"{name}:N", title=title, sort=alt.EncodingSortField("place", op="min"))


def _tip(name: str, title: str, form: str | None = None) -> alt.Tooltip:
    return alt.Tooltip(f"{name}:N", title=title) if form is None else alt.Tooltip(f"{name}:Q", title=title, format=form)


def _title(text: str, *subtitle: str) -> alt.TitleParams:
    return alt.TitleParams(text, subtitle=list(subtitle)) if subtitle else alt.TitleParams(text)


def _data(values: list[Row]) -> alt.InlineData:
    return alt.InlineData(values=values)

