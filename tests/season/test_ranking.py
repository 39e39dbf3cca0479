"""A season's standings: attempts within cells, cells within rows, partial and reference rows, ties, what is unknown."""

from __future__ import annotations

import json
import os
import random
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.records import SeasonRun
from evalkit.season import check_season, load_season
from evalkit.season.ranking import cell_scores, scored, standings
from evalkit.season.score import Rules
from evalkit.season.season import Entry, Season
from evalkit.season.statistics import (
    mean_and_se,
    paired_difference,
    rank_ranges,
    se_clustered,
    se_stratified,
)
from tests.season.seasonwork import make_season

SHARED = Path(os.environ.get("EVALKIT_SHARED", Path(__file__).parents[3] / "shared")) / "vectors"
SEASON = Season(
    slug="s",
    version="1",
    digest="d" * 64,
    entries=(
        Entry(level="dam", difficulty="agent", anchor_s=100.0),
        Entry(level="runway", difficulty="agent", anchor_s=50.0),
    ),
    seeds={0: 60, 1: 97},
)


def run(agent: str = "a", level: str = "dam", seed: int = 0, done: int = 2, **changed: Any) -> SeasonRun:
    """A run that does `done` of 4 objectives and is not completed: 15 points each."""
    values: dict[str, Any] = {
        "season": "s", "season_version": "1", "season_digest": "d" * 64, "level": level, "difficulty": "agent",
        "seed": seed, "agent": agent, "agent_digest": "e" * 64, "objectives_done": done, "objectives_total": 4,
        "completed": False, "died": False, "time_s": None, "decisions": 10, "decision_budget": 150, "ticks": 600,
        "tokens": 0, "dollars": 0.0, "ended_by": "budget", "game_digest": "f" * 64, "engine": "e", "verified": True,
    }  # fmt: skip
    return SeasonRun(**(values | changed))


def whole(agent: str = "a", done: int = 2, **changed: Any) -> list[SeasonRun]:
    return [run(agent, level, seed, done, **changed) for level, _, seed in SEASON.cells]


def test_a_row_is_the_mean_over_cells_with_its_standard_error() -> None:
    runs = [
        run(seed=0, done=0),
        run(seed=1, done=1),
        run(level="runway", seed=0, done=2),
        run(level="runway", seed=1, done=4),
    ]
    (row,) = standings(runs, SEASON)
    points = [0, 15, 30, 60]
    assert (row.rank, row.score, row.cells, row.cells_expected) == (1, np.mean(points), 4, 4)
    assert row.se == pytest.approx(np.std(points, ddof=1) / 2)


def test_attempts_within_a_cell_are_averaged_first() -> None:
    runs = [*whole(done=0), run(done=4, attempt=2), run(done=4, attempt=3)]
    (row,) = standings(runs, SEASON)
    assert row.score == pytest.approx((40 + 0 + 0 + 0) / 4)
    assert (row.attempts, row.cells) == (6, 4)


def test_a_partial_row_keeps_its_mean_and_takes_no_rank() -> None:
    rows = standings([*whole("a", 1), *whole("b", 4)[:3], *whole("c", 0)], SEASON)
    assert [(row.agent, row.rank, row.partial) for row in rows] == [("b", None, True), ("a", 1, False), ("c", 2, False)]
    assert rows[0].score == 60
    (zeroed,) = standings(whole("b", 4)[:3], SEASON, partial_as_zero=True)
    assert (zeroed.score, zeroed.rank) == (45, 1)


def test_one_cell_has_no_standard_error() -> None:
    (row,) = standings([run()], SEASON)
    assert (row.se, row.cells) == (None, 1)


def test_reference_rows_stand_in_the_table_and_take_no_rank() -> None:
    rows = standings(
        [*whole("route", 4, reference="anchor"), *whole("a", 1), *whole("rnd", 0, reference="floor")], SEASON
    )
    assert [(row.agent, row.rank, row.reference) for row in rows] == [
        ("route", None, "anchor"), ("a", 1, None), ("rnd", None, "floor"),
    ]  # fmt: skip


def test_ties_after_nine_decimals_share_a_rank_and_the_next_skips() -> None:
    near = whole("b", 2)
    rows = standings([*whole("a", 2), *near, *whole("c", 1), *whole("d", 4)], SEASON)
    assert [(row.agent, row.rank) for row in rows] == [("d", 1), ("a", 2), ("b", 2), ("c", 4)]


def test_voided_ungraded_and_unlisted_runs_count_nowhere() -> None:
    strange = [
        run(voided="slip"),
        run(ungraded="agent_error"),
        run(seed=9),
        run(level="bunker"),
        run(difficulty="hard"),
    ]
    assert standings(strange, SEASON) == []


def test_practice_seeds_count_on_no_board() -> None:
    practised = replace(SEASON, practice_seeds={9: 75})
    assert standings([run(seed=9)], practised) == []
    [row] = standings([*whole(), run(seed=9, done=4)], practised)
    assert (row.score, row.cells, row.cells_expected, row.attempts) == (30, 4, 4, 4)


def test_unverified_runs_are_marked_and_can_be_dropped() -> None:
    some = [*whole("a", 1), *whole("b", 2, verified=None), *whole("c", 3, verified=False)]
    assert {row.agent: row.verified for row in standings(some, SEASON)} == {"a": True, "b": None, "c": False}
    assert [row.agent for row in standings(some, SEASON, verified_only=True)] == ["a"]
    assert standings([run(), run(seed=1, verified=False)], SEASON)[0].verified is False


def test_unknown_dollars_are_unknown_and_make_a_total_incomplete() -> None:
    a, b, c, d = whole()
    some = [replace(a, dollars=1.5, tokens=10), replace(b, dollars=None, tokens=None), c, d]
    (row,) = standings(some, SEASON)
    assert (row.dollars, row.dollars_complete, row.tokens) == (1.5, False, None)
    (none,) = standings(whole(dollars=None), SEASON)
    assert (none.dollars, none.dollars_complete) == (None, False)
    (free,) = standings(whole(), SEASON)
    assert (free.dollars, free.dollars_complete, free.tokens, free.decisions) == (0.0, True, 0, 40)


def test_a_run_of_another_digest_of_the_season_is_flagged() -> None:
    rows = standings([*whole("a"), run("a", season_digest="0" * 64, attempt=2)], SEASON)
    assert rows[0].other_digest == 1


def test_scores_come_from_the_facts_by_the_rules_that_are_given() -> None:
    runs = [run(completed=True, time_s=400.0, died=True, done=4)]
    assert scored(runs, SEASON)["score"].tolist() == [60 + 20 - 10]
    assert scored(runs, SEASON, rules=Rules(death=0))["score"].tolist() == [80]
    other = replace(SEASON, entries=(Entry(level="dam", difficulty="agent", anchor_s=400.0),))
    assert scored(runs, other)["score"].tolist() == [90]
    assert standings(runs, SEASON, rules=Rules(completion=0))[0].score == 50


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(SEASON.cells), st.integers(0, 4)), max_size=30),
    st.randoms(),
)
def test_the_order_of_the_runs_changes_nothing(picks: list[Any], shuffler: random.Random) -> None:
    runs = [run(agent, cell[0], cell[2], done, attempt=n + 1) for n, (agent, cell, done) in enumerate(picks)]
    before = standings(runs, SEASON)
    shuffler.shuffle(runs)
    after = standings(runs, SEASON)
    assert [(row.agent, row.rank, row.cells, row.attempts) for row in before] == [
        (row.agent, row.rank, row.cells, row.attempts) for row in after
    ]
    assert [row.score for row in before] == pytest.approx([row.score for row in after])


def test_the_published_standard_errors() -> None:
    path = SHARED / "standard_errors.json"
    if not path.exists():
        pytest.skip(f"no {path}: set EVALKIT_SHARED to the folder that holds vectors/")
    for row in json.loads(path.read_text())["standard_errors"]:
        mean, error = mean_and_se([value for values in row["levels"].values() for value in values])
        assert mean == pytest.approx(row["mean"], abs=1e-6)
        for got, key in (
            (error, "se"),
            (se_stratified(row["levels"]), "se_stratified"),
            (se_clustered(row["levels"]), "se_clustered"),
        ):
            assert got == (None if row[key] is None else pytest.approx(row[key], abs=1e-6)), key


def test_the_designs_own_check_of_the_three_standard_errors() -> None:
    levels = {"L1": [90, 95, 100, 95], "L2": [40, 60, 50, 50], "L3": [10, 20, 5, 5]}
    mean, error = mean_and_se([value for values in levels.values() for value in values])
    assert (round(mean, 3), round(error or 0, 3)) == (51.667, 10.613)
    assert round(se_stratified(levels) or 0, 3) == 1.925
    assert round(se_clustered(levels) or 0, 3) == 24.552


@pytest.mark.parametrize(
    ("levels", "mean", "se", "stratified", "clustered"),
    [
        ({"L1": [50]}, 50.0, None, None, None),
        ({"L1": [0, 100]}, 50.0, 50.0, 50.0, None),
        ({"L1": [20, 40], "L2": [60, 80]}, 50.0, 12.909944487, 7.071067812, 20.0),
        ({"L1": [10, 30], "L2": [50]}, 30.0, 11.547005384, 10.0, None),
        ({"L1": [70, 70], "L2": [70, 70]}, 70.0, 0.0, 0.0, 0.0),
    ],
)
def test_what_has_no_spread_has_no_standard_error(
    levels: dict[str, list[float]], mean: float, se: float | None, stratified: float | None, clustered: float | None
) -> None:
    found = mean_and_se([value for values in levels.values() for value in values])
    for got, expected in zip(
        (*found, se_stratified(levels), se_clustered(levels)), (mean, se, stratified, clustered), strict=True
    ):
        assert got == (None if expected is None else pytest.approx(expected, abs=1e-8))


def test_a_paired_difference_uses_shared_cells_only() -> None:
    first, second = {1: 10.0, 2: 20.0, 3: 90.0}, {1: 4.0, 2: 10.0, 4: 0.0}
    found = paired_difference(first, second)
    assert found is not None
    assert (found.mean, found.cells) == (8.0, 2)
    assert found.se == pytest.approx(2.0)
    assert paired_difference({1: 1.0}, {2: 1.0}) is None
    lone = paired_difference({1: 1.0}, {1: 3.0})
    assert lone is not None
    assert (lone.mean, lone.se, lone.cells) == (-2.0, None, 1)


def test_rank_ranges_are_the_same_for_the_same_seed_and_sum_to_one_first() -> None:
    cells = cell_scores(scored([*whole("a", 1), *whole("b", 2), run("c", done=4), *whole("c", 2)[1:]], SEASON))
    ranges = rank_ranges(cells, seed=7)
    assert ranges == rank_ranges(cells, seed=7)
    assert sum(found.p_first for found in ranges.values()) == pytest.approx(1)
    assert (ranges["a"].low, ranges["a"].high) == (3, 3)
    with pytest.raises(ValueError, match="share no cell"):
        rank_ranges({"a": {1: 1.0}, "b": {2: 1.0}}, seed=1)


def test_a_season_is_named_by_its_slug_or_path_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_season(tmp_path / "cases")
    season = load_season(folder)
    runs = [run(level=entry.level, difficulty=entry.difficulty, season_digest=season.digest)
            for entry in season.entries]  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for ref in ("vault", "vault@1.0", folder, str(folder / "season.toml")):
        assert standings(runs, ref) == standings(runs, season) != []
        assert scored(runs, ref)["score"].tolist() == scored(runs, season)["score"].tolist()
    with pytest.raises(UsageError, match='did you mean "vault"'):
        standings(runs, "valt")
    assert check_season("vault") == check_season(folder) == ()
    with pytest.raises(UsageError, match='did you mean "vault"'):
        check_season("valt")


def test_what_holds_no_season_runs_is_one_line() -> None:
    for take in (standings, scored):
        with pytest.raises(UsageError, match=r"these are no season runs, .* no season_digest"):
            take(pd.DataFrame({"run_id": ["a"]}), SEASON)
        with pytest.raises(UsageError, match=r"agents are ranked from season runs, .* not from any str"):
            take(["a"], SEASON)  # type: ignore[list-item]


def test_tokens_beyond_sixty_four_bits_and_dollars_beyond_every_float_are_carried() -> None:
    runs = [replace(one, tokens=2**62, decisions=2**62) for one in whole("a")]
    assert (standings(runs, SEASON)[0].tokens, standings(runs, SEASON)[0].decisions) == (2**64, 2**64)
    frame = pd.DataFrame([asdict(one) for one in runs]).astype({"tokens": "Int64"})
    assert standings(frame, SEASON)[0].tokens == 2**64
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        row = standings([replace(one, dollars=1.7e308) for one in whole("a")], SEASON)[0]
    assert (row.dollars, row.dollars_complete) == (None, False)


def test_what_no_run_can_cost_is_refused_in_a_line() -> None:
    with pytest.raises(ValueError, match="dollars must be a finite number below 10\\^12"):
        replace(run(), dollars=1e12).validate()
