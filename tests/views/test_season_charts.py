"""Season charts: each draws every edge case as a valid document, with its facts in it and no harm from a name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import vl_convert

from evalkit.errors import UsageError
from evalkit.season.ranking import standings
from evalkit.season.score import Rules
from evalkit.season.whatif import Setting, what_if
from evalkit.views import profiles, theme
from evalkit.views.drawing import AnyChart
from evalkit.views.flow import rank_flow
from evalkit.views.frames import one_per_model
from evalkit.views.seasons import charts, rows
from evalkit.views.seasons.placing import Spot, placed
from tests import made_up_runs
from tests import made_up_seasons as made

Runs = list[dict[str, Any]]


def _ties() -> Runs:
    return [row | {"agent": name} for name in ("a", "b", "c") for row in made.whole("same", 0.7)]


def _nothing_known() -> Runs:
    return made.model("m", 0.5, None, None)


FIELDS: dict[str, Callable[[], Runs]] = {
    "none": list,
    "one run": lambda: [made.run("alone", "dam", 0)],
    "references alone": lambda: [*made.anchor(), *made.whole("random", 0.1, reference="floor")],
    "every kind": made.every_kind,
    "forty": made.many,
    "hostile names": made.hostile,
    "costs unknown": _nothing_known,
}


def _board(runs: Runs, **options: Any) -> list[Any]:
    return standings(made.frame(runs), made.SEASON, **options)


def _moved(runs: Runs, rules: Rules | None = None) -> Any:
    return what_if(made.frame(runs), made.SEASON, Setting(rules=rules or Rules(completion=90, death=60)))


CHARTS: dict[str, Callable[[Runs], AnyChart]] = {
    "leaderboard": lambda runs: charts.leaderboard(_board(runs)),
    "score_against_cost": lambda runs: charts.score_against_cost(_board(runs), "dollars"),
    "score_against_cost, log": lambda runs: charts.score_against_cost(_board(runs), "decisions", log=True),
    "cells": lambda runs: charts.cells(made.runs(runs), made.SEASON),
    "time_and_decisions": lambda runs: charts.time_and_decisions(made.runs(runs), made.SEASON),
    "paired": lambda runs: charts.paired(made.runs(runs), rows.leader(_board(runs))),
}


def _values(spec: Any) -> list[dict[str, Any]]:
    """Every row of every layer, a layer's as often as it is drawn."""
    named = spec.get("datasets", {})
    return [row for part in _parts(spec) for row in part.get("values") or named.get(part.get("name"), [])]


def _parts(spec: dict[str, Any]) -> list[dict[str, Any]]:
    own = [spec["data"]] if "data" in spec else []
    return own + [p for key in ("layer", "hconcat") for inner in spec.get(key, []) for p in _parts(inner)]


def _notes(chart: AnyChart) -> str:
    return " ".join(chart.to_dict()["title"].get("subtitle", []))


def test_every_chart_is_covered() -> None:
    assert {name.partition(",")[0] for name in CHARTS} == set(charts.__all__)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_of_any_field_is_valid_says_what_it_shows_and_draws(name: str, field: str) -> None:
    spec = CHARTS[name](FIELDS[field]()).to_dict()  # altair validates against the Vega-Lite schema here
    assert spec["description"] and spec["title"]["text"]
    assert "http" not in json.dumps({key: value for key, value in spec.items() if key != "$schema"})
    svg = vl_convert.vegalite_to_svg(spec, vl_version="6.4")
    assert "<text" in svg and "NaN" not in svg
    for bad in ("<script", "<img", "\x1b", "\u202e"):
        assert bad not in svg


@pytest.mark.parametrize("name", [name for name in CHARTS if name != "paired"])
def test_a_chart_with_nothing_to_draw_says_what_to_do(name: str) -> None:
    assert "evalkit sweep" in json.dumps(CHARTS[name]([]).to_dict())


def test_reference_rows_are_grey_everywhere_and_an_agent_has_one_ink() -> None:
    runs = made.every_kind()
    for draw in (CHARTS["leaderboard"], CHARTS["cells"], CHARTS["time_and_decisions"], CHARTS["paired"]):
        inks: dict[str, set[str]] = {}
        for row in _values(draw(runs).to_dict()):
            if "ink" in row:
                inks.setdefault(row["name"], set()).add(row["ink"])
        assert inks["route"] == inks["random"] == {theme.GREY}
        assert inks["planner"] == {theme.colour("planner")} if "planner" in inks else True


def test_one_cell_has_no_whisker_and_a_partial_row_is_marked_hollow_and_last_named_so() -> None:
    chart = charts.leaderboard(_board([made.run("alone", "dam", 0)]))
    (row,) = {json.dumps(row): row for row in _values(chart.to_dict())}.values()
    assert row["low"] == row["high"] == row["score"] and "±" not in row["text"] and "partial 1/15" in row["text"]
    assert "Hollow: partial" in _notes(chart)


def test_whiskers_are_one_standard_error() -> None:
    board = {row.agent: row for row in _board(made.every_kind())}
    found = {row["agent"]: row for row in _values(charts.leaderboard(list(board.values())).to_dict())}
    for agent, row in board.items():
        assert found[agent]["high"] - row.score == pytest.approx(row.se)
        assert found[agent]["low"] == pytest.approx(max(0.0, row.score - (row.se or 0)))


# The Pareto front -----------------------------------------------------------------------------------------------------


def test_the_front_takes_rows_of_known_cost_and_no_reference() -> None:
    found = {row["agent"]: row for row in rows.cost_rows(_board(made.every_kind()), "dollars")}
    assert not found["route"]["front"] and not found["random"]["front"]
    assert found["half-way"]["partial"] and found["half-way"]["front"], "marked, and a row like any other"
    assert found["unpriced"]["cost"] is None and not found["unpriced"]["front"]
    free = [row for row in found.values() if row["cost"] == 0 and row["reference"] is None]
    assert [row["agent"] for row in free if row["front"]] == [max(free, key=lambda row: row["score"])["agent"]]
    assert not found["Sonnet class"]["front"], "dearer than the retreater and no better"


def test_the_front_is_of_means_a_run_so_that_a_second_attempt_changes_nothing() -> None:
    once = made.model("m", 0.5, 1000, 0.1) + made.whole("w", 0.4)
    again = once + [row | {"attempt": 2, "run_id": "f" + row["run_id"][1:]} for row in made.model("m", 0.5, 1000, 0.1)]
    costs = [{r["agent"]: r["cost"] for r in rows.cost_rows(_board(runs), "tokens")} for runs in (once, again)]
    assert costs[0] == pytest.approx(costs[1])


def test_an_incomplete_sum_of_dollars_is_an_unknown_cost() -> None:
    runs = made.model("m", 0.5, 1000, 0.1)
    runs[3]["dollars"] = None
    (row,) = rows.cost_rows(_board(runs), "dollars")
    assert row["dollars"] is not None and row["cost"] is None
    assert "No agent's US dollars are known" in json.dumps(charts.score_against_cost(_board(runs), "dollars").to_dict())


def test_the_cost_chart_says_what_is_left_out_and_draws_references_as_lines() -> None:
    chart = charts.score_against_cost(_board(made.every_kind()), "dollars")
    assert "1 of unknown US dollars, so not on the front: unpriced" in _notes(chart)
    assert "Hollow: partial rows" in _notes(chart)
    lines = {row["text"] for row in _values(chart.to_dict()) if row.get("reference")}
    assert {text.partition(")")[0] for text in lines} == {"route (anchor", "random (floor"}


def test_a_log_axis_is_refused_in_words_where_a_run_costs_nothing() -> None:
    chart = charts.score_against_cost(_board(made.every_kind()), "dollars", log=True)
    assert "A log axis has no zero" in _notes(chart)
    with pytest.raises(UsageError, match="no cost 'money'"):
        charts.score_against_cost(_board(made.every_kind()), "money")


# The other charts -----------------------------------------------------------------------------------------------------


def test_cells_show_every_run_once_and_what_was_never_played() -> None:
    runs = made.runs(made.every_kind())
    values = _values(charts.cells(runs, made.SEASON).to_dict())
    assert {row["run_id"] for row in values if "run_id" in row} == set(runs["run_id"])
    assert sum(row.get("text") == "not played" for row in values) == 2  # the half-way agent, on two levels
    tile = next(row for row in values if row.get("name") == "walker" and row.get("entry") == "dam" and "mean" in row)
    own = runs[(runs["agent"] == "walker") & (runs["level"] == "dam")]
    assert tile["mean"] == pytest.approx(own.groupby("seed")["score"].mean().mean())


def _light(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, two: str) -> float:
    high, low = sorted((_light(one), _light(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_cells_bring_a_ground_on_which_numbers_and_inks_can_be_read_in_any_theme() -> None:
    spec = charts.cells(made.runs(made.every_kind()), made.SEASON).to_dict()
    card, tints, number = (layer["mark"] for layer in spec["layer"][:3])
    assert "opacity" not in card and spec["layer"][1]["encoding"]["color"] == {
        "field": "tint",
        "scale": None,
        "type": "nominal",
    }
    rows_ = next(rows_ for rows_ in spec["datasets"].values() if "tint" in rows_[0])
    assert min(_contrast(number["color"], row["tint"]) for row in rows_) > 7 and tints["type"] == "rect"
    assert min(_contrast(ink, card["color"]) for ink in (*theme.PALETTE, theme.GREY)) > 2.8


def test_many_runs_share_marks_and_the_charts_say_so() -> None:
    few, most = made.every_kind(), []
    for place in range(4_000):
        level, seed = made.LEVELS[place % 5][0], place // 5 % 3
        most.append(made.run(f"a{place % 4}", level, seed, place % 4 / 4, attempt=place))
    for draw in (charts.cells, charts.time_and_decisions):
        assert "stands for" not in json.dumps(draw(made.runs(few), made.SEASON).to_dict())
        spec = draw(made.runs(most), made.SEASON).to_dict()
        assert any("4,000 runs: a mark stands for" in line for line in spec["title"]["subtitle"])
        counted = [rows_ for rows_ in spec["datasets"].values() if rows_ and "runs" in rows_[0]]
        assert counted and all(sum(row["runs"] for row in rows_) == 4_000 for rows_ in counted)
        assert all(len(rows_) < 1_500 for rows_ in counted)
        vl_convert.vegalite_to_svg(spec)


def test_a_legend_of_long_names_is_not_cut() -> None:
    runs = [r for n in ("1", "2", "3") for r in made.model("m" * 79 + n, 0.5, 0, 0.0)]
    svg = vl_convert.vegalite_to_svg(charts.time_and_decisions(made.runs(runs), made.SEASON).to_dict())
    assert {f">{label}<" in svg for label in {row["label"] for row in rows.run_rows(made.runs(runs), made.SEASON)}} == {
        True
    }


def test_time_is_t_where_completed_and_the_autopilots_decisions_are_no_measure() -> None:
    runs = made.runs(made.every_kind())
    values = _values(charts.time_and_decisions(runs, made.SEASON).to_dict())
    times = dict(zip(runs["run_id"], runs["time_s"], strict=True))
    done = [row for row in values if row.get("completed")]
    assert done and all(row["played_s"] == times[row["run_id"]] for row in done)
    assert sum(row.get("name") == "route" for row in values) == 15  # in the left panel alone


def test_rank_flow_keeps_ties_apart_and_counts_who_moved() -> None:
    chart = rank_flow(_moved(_ties()))
    values = _values(chart.to_dict())
    assert len({row["place"] for row in values if row.get("side") == 0 and "name" in row}) == 3
    assert "0 of 3 ranks differ" in _notes(chart)
    frame = _moved(made.every_kind(), Rules(death=60))
    notes, held = _notes(rank_flow(frame)), frame.dropna(subset="rank")
    assert f"{int((held['rank'] != held['official_rank']).sum())} of {len(held)} ranks differ" in notes
    assert f"{len(frame) - len(held)} more hold a rank on neither side" in notes


def test_paired_differences_are_over_shared_cells_with_the_sign_of_the_row() -> None:
    runs = [*made.whole("low", 0.2), *made.whole("high", 0.95)[:6]]
    row = next(r for r in _values(charts.paired(made.runs(runs), "low").to_dict()) if "text" in r)
    assert row["cells"] == 6 and row["mean"] > 0 and row["text"].startswith("+")
    assert "No other agent" in json.dumps(charts.paired(made.runs(runs), "nobody").to_dict())


def test_a_ratio_profile_ends_at_the_share_that_was_answered_rightly() -> None:
    runs = one_per_model(made_up_runs.every_outcome())
    chart = profiles.ratio_profile(runs)
    ends = {row["name"]: row["share"] for row in _values(chart.to_dict())}  # the last row of each
    assert ends["Cobalt"] == 1 and ends["Garnet"] == 0.75 and "Heron" not in ends
    assert "ends below 100 %" in _notes(chart) and "left out" in _notes(chart)
    assert "Heron" not in json.dumps(chart.to_dict())  # nor in the legend
    assert "evalkit grade" in json.dumps(profiles.ratio_profile([]).to_dict())
    vl_convert.vegalite_to_svg(chart.to_dict(), vl_version="6.4")


def test_names_never_overlap_leave_the_plot_or_stand_at_another_point() -> None:
    spots = [Spot(20 + 11 * n, 30 + 7 * (n % 5), f"agent {n}") for n in range(30)]
    found = placed(spots, 400, 200)
    assert 5 < len(found) < 30
    boxes = []
    for place in found:
        size = 6.2 * len(place.text)
        left = place.x - {"left": 0, "center": size / 2, "right": size}[place.align]
        boxes.append((left, place.y - 6, left + size, place.y + 6))
        own = next(s for s in spots if s.text == place.text)
        assert min(spots, key=lambda s: (s.x - place.x) ** 2 + (s.y - place.y) ** 2) == own
    assert all(b[0] >= 0 and b[2] <= 400 and b[1] >= 0 and b[3] <= 200 for b in boxes)
    for i, a in enumerate(boxes):
        assert not any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for b in boxes[:i])
