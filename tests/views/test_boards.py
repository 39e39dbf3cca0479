"""The boards of a saved report compute what the package computes: their marks are read back from the drawn picture."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
import vl_convert

from evalkit.performance.rank import leaderboard
from evalkit.records import SeasonRun
from evalkit.season.ranking import standings
from evalkit.season.score import Rules
from evalkit.season.season import Entry, Season
from evalkit.views import boards
from tests import made_up_runs as made

SEASON = Season(
    slug="s", version="1", digest="d" * 64, seeds={0: 60, 1: 97},
    entries=tuple(Entry(level=name, difficulty="agent", anchor_s=90.0 + 7 * i) for i, name in enumerate("xyz")),
)  # fmt: skip


def run(agent: str, level: str, seed: int, rng: random.Random, **facts: Any) -> SeasonRun:
    completed = rng.random() < 0.6
    values: dict[str, Any] = {
        "season": "s", "season_version": "1", "season_digest": "d" * 64, "level": level, "difficulty": "agent",
        "seed": seed, "agent": agent, "agent_digest": "a" * 64, "attempt": 1, "reference": None,
        "objectives_done": 4 if completed else rng.randint(0, 4), "objectives_total": 4, "completed": completed,
        "died": not completed and rng.random() < 0.7, "time_s": rng.uniform(60, 400) if completed else None,
        "decisions": 100, "decision_budget": 150, "ticks": 600, "tokens": None, "dollars": None,
        "ended_by": "budget", "game_digest": "f" * 64, "engine": "e",
    }  # fmt: skip
    return SeasonRun(**{**values, **facts})


def runs_of(agents: int, seed: int = 1) -> list[SeasonRun]:
    rng = random.Random(seed)
    return [
        run(f"agent-{n}", entry.level, at, rng, reference="anchor" if n == 0 else None)
        for n in range(agents) for entry in SEASON.entries for at in SEASON.seeds
    ]  # fmt: skip


def drawn(chart: Any, **set_to: Any) -> list[str]:
    """The texts beside the bars, from top to bottom, with some parameters set."""
    spec = chart.to_dict()
    for param in spec["params"]:
        if param["name"] in set_to:
            param["value"] = set_to[param["name"]]
    svg = vl_convert.vegalite_to_svg(spec)
    mark = r'<text[^>]*transform="translate\(([-\d.]+),([-\d.]+)\)"[^>]*>((?:#\d|reference|partial)[^<]*)<'
    found = re.findall(mark, svg)
    return [text for _, text in sorted((float(y), text) for _, y, text in found)]


def said(rows: Any) -> list[tuple[str, float]]:
    return [("reference" if r.reference else "partial" if r.partial else f"#{r.rank}", r.score) for r in rows]


@pytest.mark.parametrize(
    ("rules", "boxes"),
    [
        ({}, {}),
        ({"completion": 80.0, "objectives": 20.0}, {}),
        ({"death": 50.0, "exponent": 2.0}, {}),
        ({"exponent": 0.0}, {"e1": False}),
        ({"objectives": 10.0, "completion": 10.0}, {"e0": False, "e2": False}),
    ],
)
def test_the_season_board_scores_and_ranks_as_the_package_does(rules: dict[str, float], boxes: dict[str, bool]) -> None:
    runs = runs_of(6)
    entries = tuple(e for i, e in enumerate(SEASON.entries) if boxes.get(f"e{i}", True))
    smaller = Season(slug="s", version="1", digest="d" * 64, seeds=SEASON.seeds, entries=entries)
    rows = standings(runs, smaller, rules=Rules(**rules))
    texts = drawn(boards.season_board(runs, SEASON), **rules, **boxes)
    assert [text.split("  ")[0] for text in texts] == [rank for rank, _ in said(rows)]
    assert [float(text.split("  ")[1]) for text in texts] == pytest.approx(
        [score for _, score in said(rows)], abs=0.051
    )


def test_a_partial_row_has_no_rank_until_what_it_lacks_is_out() -> None:
    runs = [r for r in runs_of(3) if not (r.agent == "agent-1" and r.level == "z")]
    assert sum(text.startswith("partial") for text in drawn(boards.season_board(runs, SEASON))) == 1
    assert not any(text.startswith("partial") for text in drawn(boards.season_board(runs, SEASON), e2=False))


def test_the_case_board_ranks_as_the_leaderboard_does() -> None:
    runs = made.every_outcome()
    rows = [row for row in leaderboard(runs, {}) if row.total_fuel is not None]
    texts = drawn(boards.case_board(runs))
    assert [text.split("  ")[0] for text in texts] == [f"#{row.rank}" for row in rows]
    assert [float(text.split(" ")[-1].rstrip("×")) for text in texts] == [round(row.ratio_to_best, 2) for row in rows]


def test_a_lower_ceiling_drops_models_and_a_higher_one_brings_in_those_over_it() -> None:
    runs = made.every_outcome()
    board = boards.case_board(runs)
    official = len(drawn(board))
    assert len(drawn(board, ceiling=0.0)) == 0
    right = {r.model for r in runs if r.voided is None and str(r.outcome) in ("pass", "over_ceiling")}
    assert len(drawn(board, ceiling=1000.0)) == len(right) >= official


def test_nothing_to_draw_says_so() -> None:
    assert "No run counts yet" in str(boards.season_board([], SEASON).to_dict())
    assert "evalkit grade" in str(boards.case_board([]).to_dict())
