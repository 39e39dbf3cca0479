"""Charts as Vega draws them: a sign that a reader goes by is there, of the right length, and where it belongs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evalkit.performance.whatif import Setting, what_if
from evalkit.season.ranking import cell_scores, standings
from evalkit.season.statistics import paired_difference
from evalkit.views import boards, charts, growth, profiles, theme
from evalkit.views.drawing import WIDTH
from evalkit.views.frames import one_per_model
from evalkit.views.seasons import charts as seasons
from evalkit.views.seasons import rows
from tests import made_up_runs as made
from tests import made_up_seasons as seasonal
from tests.views.scene import Mark, contrast, length, marks
from tests.views.test_boards import SEASON, runs_of
from tests.views.test_charts import CHARTS as OF_A_CASE
from tests.views.test_growth import POINTS
from tests.views.test_season_charts import CHARTS as OF_A_SEASON

BOARD = standings(seasonal.frame(seasonal.every_kind()), seasonal.SEASON)

CHARTS: dict[str, Callable[[], Any]] = {
    **{f"case: {name}": lambda draw=draw: draw(made.every_outcome()) for name, draw in OF_A_CASE.items()},
    **{f"season: {name}": lambda draw=draw: draw(seasonal.every_kind()) for name, draw in OF_A_SEASON.items()},
    "case: board": lambda: boards.case_board(made.every_outcome()),
    "season: board": lambda: boards.season_board(runs_of(4), SEASON),
    "case: ratio profile": lambda: profiles.ratio_profile(one_per_model(made.every_outcome())),
    "case: nothing": lambda: charts.leaderboard([]),
}


def grounds(text: dict[str, Any], drawn: list[Mark]) -> tuple[str, ...]:
    """What a text is read on: the tile below it, or else the page, white or as dark as Lab's."""
    tiles = [item for mark in drawn if mark.kind == "rect" for item in mark.items if item.get("opacity", 1) == 1]
    below = [
        tile["fill"] for tile in tiles
        if 0 <= text["x"] - tile["x"] <= tile["width"] and 0 <= text["y"] - tile.get("y", -1e9) <= tile["height"]
    ]  # fmt: skip
    return tuple(below[-1:]) or ("#ffffff", "#111111")


@pytest.mark.parametrize("name", CHARTS)
def test_text_of_every_chart_is_read_on_white_and_on_labs_dark_ground(name: str) -> None:
    drawn = marks(CHARTS[name]())
    texts = [item for mark in drawn if mark.kind == "text" for item in mark.items]
    for text in texts:
        if text["fill"] not in {*theme.PALETTE, theme.GREY}:
            assert min(contrast(text["fill"], ground) for ground in grounds(text, drawn)) >= 4.3, text
    assert texts or name in ("case: placement", "case: ratio profile")


TOLD: dict[str, list[set[str]]] = {
    "case: leaderboard": [{"model", "rank", "total fuel", "ratio to best", "runs made", "best run", "measured"}],
    "case: fuel_per_input": [
        {"model", "input", "fuel", "outcome", "against the ceiling, %", "ceiling", "runway limit", "run", "measured"},
        {"input", "runway limit"}, {"pass line", "fuel"},
    ],
    "case: worst_overshoots": [{"model", "costliest input", "fuel", "against the ceiling, %", "measured"}],
    "case: overshoot": [{"input", "fuel", "ceiling", "against the ceiling, %", "measured"}],
    "case: placement": [
        {"model", "rank", "total fuel", "measured"}, {"model", "rank", "efficiency percentile", "measured"},
    ],
    "case: rank_flow": [{"name", "rank, official", "rank, what if", "score, official", "score, what if", "measured"}],
    "case: ratio profile": [{"model", "ratio to the best", "inputs within it", "measured"}],
    "case: board": [{"model", "what-if rank", "what-if score", "fuel, summed over the inputs in", "run", "measured"}],
    "season: leaderboard": [{"agent", "rank", "score", "standard error", "cells", "runs", "proof", "measured"}],
    "season: score_against_cost": [
        {"agent", "score", "US dollars a run", "Pareto front", "cost", "measured"}, {"agent", "score"}
    ],
    "season: score_against_cost, log": [{"agent", "score", "decisions a run", "Pareto front", "cost", "measured"}],
    "season: cells": [{"agent", "entry", "mean over seeds", "seeds played"}, {"agent", "seed", "score", "run"}],
    "season: time_and_decisions": [
        {"agent", "entry", "seed", "seconds of game time", "decisions", "run"}, {"entry", "anchor"}, {"entry", "budget"}
    ],
    "season: paired": [
        {"agent", "mean difference", "standard error", "shared cells", "measured"},
        {"agent", "cell", "difference", "measured"},
    ],
    "season: board": [{"agent", "what-if rank", "what-if score", "official score", "cells", "runs", "measured"}],
    "case: nothing": [],
}  # fmt: skip
"""What a pointer is told at a mark of each chart: who, how much, and how that was measured."""


@pytest.mark.parametrize("name", CHARTS)
def test_a_pointer_at_a_mark_is_told_who_how_much_and_how_measured(name: str) -> None:
    drawn = marks(CHARTS[name]())
    for titles in TOLD[name]:
        telling = [mark for mark in drawn if titles <= set(mark.tips) and mark.items and mark.kind != "text"]
        assert telling, f"no mark tells {titles}: {[mark.tips for mark in drawn]}"
        assert titles <= set(telling[0].said(0)), "a title has nothing behind it"


def test_growth_tells_at_each_point_what_was_run_and_how_it_was_measured() -> None:
    (points,) = [mark for mark in marks(growth.chart(POINTS, "rounds")) if mark.kind == "symbol"]
    assert {"model", "run of", "held at", "fuel", "measured"} <= set(points.tips)


# Of a case ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["overshoot", "worst_overshoots"])
def test_the_pass_line_stands_where_the_bars_begin_and_runs_from_top_to_bottom(name: str) -> None:
    drawn = marks(OF_A_CASE[name]([*made.every_outcome()]))
    (bars,), (line,) = ([mark for mark in drawn if mark.kind == kind] for kind in ("rect", "rule"))
    (rule,) = line.items
    over = [bars.said(at)["against the ceiling, %"].startswith("+") for at in range(len(bars.items))]
    begins = [bar["x"] if is_over else bar["x2"] for bar, is_over in zip(bars.items, over, strict=True)]
    assert begins == pytest.approx([rule["x"]] * len(begins)) and rule["strokeDash"]
    assert abs(rule["y2"] - rule["y"]) == 24 * len(bars.items)


def test_placement_has_a_tick_for_each_of_the_field_and_a_diamond_on_the_runs_own() -> None:
    runs = made.every_outcome()
    board, run = made.board(runs), next(run for run in runs if run.model == "Aster 2" and run.attempt == 1)
    ticks, diamond = marks(charts.placement(board, run, made.place(runs, run.run_id)))
    assert [ticks.said(at)["model"] for at in range(len(ticks.items))] == [row.model for row in board]
    middle = [tick["x"] + tick["width"] / 2 for tick in ticks.items]
    assert middle == sorted(middle) and len(set(middle)) == len({row.total_fuel for row in board})
    assert all(tick["opacity"] > 0.5 and tick["fill"] == theme.colour(row.model)
               for tick, row in zip(ticks.items, board, strict=True))  # fmt: skip
    (own,) = diamond.items
    assert own["shape"] == "diamond"
    assert middle[[row.model for row in board].index("Aster 2")] == pytest.approx(own["x"])


def test_the_board_of_a_case_says_above_which_ceiling_a_run_would_have_to_be_made_again() -> None:
    def notes(runs: list[Any]) -> str:
        return " ".join(boards.case_board(runs).to_dict()["title"]["subtitle"])

    runs = made.every_outcome()
    stopped = [
        (row.runway_limit or 0) / run.fuel_limit
        for run in runs if run.voided is None for row in run.inputs if row.reason == "exhausted"
    ]  # fmt: skip
    assert stopped and f"Needs a rerun above {min(stopped):g} times the ceiling" in notes(runs)
    assert "rerun" not in notes([made.run("alone")])


def test_ranks_flow_from_the_official_place_to_the_other() -> None:
    frame = what_if(made.every_outcome(), Setting(score="ratios"))
    lines = [mark for mark in marks(charts.rank_flow(frame)) if mark.kind == "line"]
    assert len(lines) == int(frame["rank"].notna().sum()) and all(len(line.items) == 2 for line in lines)


# Of a season ----------------------------------------------------------------------------------------------------------


def pixels(chart: Any) -> float:
    """Pixels of one unit of a chart's x axis."""
    domains = [
        layer["encoding"]["x"]["scale"]["domain"]
        for layer in chart.to_dict()["layer"] if "domain" in layer["encoding"].get("x", {}).get("scale", {})
    ]  # fmt: skip
    return WIDTH / (domains[0][1] - domains[0][0])


def whiskers(drawn: list[Mark]) -> dict[str, float]:
    """Pixels from end to end of each agent's whisker."""
    (rules,) = [mark for mark in drawn if mark.kind == "rule" and "standard error" in mark.tips]
    return {rules.said(at)["agent"]: length(item) for at, item in enumerate(rules.items)}


def test_a_seasons_leaderboard_has_a_whisker_of_one_standard_error_each_way() -> None:
    chart = seasons.leaderboard(BOARD)
    found, unit = whiskers(marks(chart)), pixels(chart)
    assert set(found) == {row.agent for row in BOARD}
    for row in BOARD:
        error = row.se or 0.0
        assert found[row.agent] == pytest.approx(unit * (row.score + error - max(0.0, row.score - error)), abs=0.01)
    assert max(found.values()) > 10


def test_paired_differences_have_whiskers_of_one_standard_error_of_the_difference() -> None:
    runs = seasonal.runs(seasonal.every_kind())
    chart, cells = seasons.paired(runs, "planner"), cell_scores(runs)
    found, unit = whiskers(marks(chart)), pixels(chart)
    assert len(found) == len(cells) - 1
    for agent, pixel in found.items():
        difference = paired_difference(cells[agent], cells["planner"])
        assert difference is not None and difference.se
        assert pixel == pytest.approx(2 * difference.se * unit, abs=0.01)


def test_the_pareto_front_is_a_line_through_the_rows_on_it_and_an_unknown_cost_a_question_mark() -> None:
    drawn = marks(seasons.score_against_cost(BOARD, "dollars"))
    found = rows.cost_rows(BOARD, "dollars")
    (line,) = [mark for mark in drawn if mark.kind == "line"]
    points = next(mark for mark in drawn if mark.kind == "symbol")
    front = [item for at, item in enumerate(points.items) if points.said(at)["Pareto front"].startswith("on it")]
    assert len(front) == sum(row["front"] for row in found) == len(line.items) - 1, "and on to the right edge"
    corners = {(round(item["x"], 3), round(item["y"], 3)) for item in line.items}
    assert {(round(item["x"], 3), round(item["y"], 3)) for item in front} <= corners
    assert all(item["stroke"] == theme.TEXT and item.get("opacity", 1) > 0.5 for item in line.items)
    asked = [mark for mark in drawn if mark.kind == "text" and mark.where(text="?")]
    unknown = [row["name"] for row in found if row["cost"] is None and row["reference"] is None]
    assert [mark.said(at)["agent"] for mark in asked for at in range(len(mark.items))] == unknown == ["unpriced"]
    assert asked[0].items[0]["x"] > WIDTH, "right of the plot, where no cost is"


def test_a_cell_of_the_heat_map_is_darker_the_higher_its_mean() -> None:
    _, tiles = (mark for mark in marks(OF_A_SEASON["cells"](seasonal.every_kind())) if mark.kind == "rect")
    shades = sorted(
        (float(tiles.said(at)["mean over seeds"]), round(contrast(item["fill"], "#ffffff"), 6))
        for at, item in enumerate(tiles.items)
    )
    assert shades[-1][1] > 1.5 * shades[0][1]
    assert [shade for _, shade in shades] == sorted(shade for _, shade in shades)
    assert len({shade for _, shade in shades}) > len({mean for mean, _ in shades}) / 2, "not in a few steps"


def test_the_board_of_a_season_draws_reference_rows_grey_and_agents_in_their_ink() -> None:
    bars = next(mark for mark in marks(boards.season_board(runs_of(4), SEASON)) if mark.kind == "rect")
    inks = {bars.said(at)["agent"]: item["fill"] for at, item in enumerate(bars.items)}
    assert inks == {"agent-0": theme.GREY, **{f"agent-{n}": theme.colour(f"agent-{n}") for n in (1, 2, 3)}}


def test_every_chart_of_the_package_is_drawn_here() -> None:
    told = {name.partition(": ")[2].partition(",")[0] for name in TOLD}
    assert told >= {*seasons.__all__, *charts.__all__}
