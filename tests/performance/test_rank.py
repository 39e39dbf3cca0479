"""Runs are placed among the runs that compare with them, and among no others."""

from __future__ import annotations

import json
import os
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import AuthoringError, UsageError
from evalkit.performance.rank import (
    cohorts,
    fold_model,
    leaderboard,
    load_aliases,
    place,
    review_leaderboard,
    worklist,
)
from evalkit.records import Outcome, PerformanceRun, Review, ReviewedRun, SeasonRun

SHARED = Path(os.environ.get("EVALKIT_SHARED", Path(__file__).parents[3] / "shared"))


def run(model: str, fuel: int | None, attempt: int = 1, **changes: Any) -> PerformanceRun:
    values: dict[str, Any] = {
        "case": "maze",
        "version": "v1",
        "variant": "base",
        "model": model,
        "attempt": attempt,
        "outcome": Outcome.PASS if fuel else Outcome.INCORRECT,
        "reason": None if fuel else "wrong_answer",
        "correct": bool(fuel),
        "total_fuel": fuel,
        "fuel_limit": 10**9,
        "fuel_schedule": "s1",
        "engine": "wasmtime 1",
        "module_digest": "m",
        "solution_digest": f"{model} {fuel}",
        "case_digest": "c",
        "recorded_at": f"2026-01-01T00:00:{attempt:02}+00:00",
    }
    return PerformanceRun(**{**values, **changes})


def reviewed(model: str, score: float | None, attempt: int = 1, **changes: Any) -> ReviewedRun:
    review = None if score is None else Review(reviewer="Ada", ratings={}, items={}, score=score)
    values: dict[str, Any] = {
        "case": "note",
        "version": "v1",
        "variant": "base",
        "model": model,
        "attempt": attempt,
        "solution_digest": model,
        "case_digest": "c",
        "recorded_at": f"2026-01-01T00:00:{attempt:02}+00:00",
        "review": review,
    }
    return ReviewedRun(**{**values, **changes})


FIELD = {"a": 10, "b": 20, "c": 20, "d": 40}


@pytest.mark.parametrize(
    ("field", "model", "fuel", "rank", "size", "percentile", "ratio", "best"),
    [
        (FIELD, "a", 10, 1, 4, 100.0, 1.0, 10),
        (FIELD, "b", 20, 2, 4, 50.0, 2.0, 20),  # a tie is half a win
        (FIELD, "d", 40, 4, 4, 0.0, 4.0, 40),
        (FIELD, "b", 30, 3, 4, 100 / 3, 3.0, 20),  # slower than its model's best: placed as itself, and told
        (FIELD, "e", 5, 1, 5, 100.0, 1.0, 5),
        ({}, "alone", 7, 1, 1, None, 1.0, 7),
    ],
)
def test_placements_of_our_own_come_out_as_the_rule_says(
    field: dict[str, int], model: str, fuel: int, rank: int, size: int, percentile: float, ratio: float, best: int
) -> None:
    own = run(model, fuel, attempt=2)
    placed = place([*(run(name, burned) for name, burned in field.items()), own], own.run_id)
    assert (placed.rank, placed.field_size, placed.ratio_to_best) == (rank, size, ratio)
    assert placed.efficiency_percentile == (None if percentile is None else pytest.approx(percentile))
    assert (placed.is_model_best, placed.model_best) == (fuel == best, best)


def test_the_published_placements_are_met() -> None:
    path = SHARED / "vectors" / "placements.json"
    if not path.is_file():
        pytest.skip(f"no {path}: set EVALKIT_SHARED to the folder that holds it")
    vectors = json.loads(path.read_text())["placements"]
    assert vectors
    for vector in vectors:
        runs = [run(model, fuel) for model, fuel in vector["field"].items()]
        own = run(vector["model"], vector["fuel"])
        placed = place([*runs, own], own.run_id)
        assert (placed.rank, placed.field_size) == (vector["rank"], vector["field_size"])
        assert placed.ratio_to_best == pytest.approx(vector["ratio_to_best"])
        assert (placed.is_model_best, placed.model_best) == (vector["is_model_best"], vector["model_best"])
        if vector["efficiency_percentile"] is None:
            assert placed.efficiency_percentile is None
        else:
            assert placed.efficiency_percentile == pytest.approx(vector["efficiency_percentile"])


def test_only_a_pass_that_was_not_voided_has_a_placement() -> None:
    slow = run("a", 10, outcome=Outcome.OVER_CEILING)
    lost = run("a", None, outcome=Outcome.UNGRADED)
    void = run("a", 10, 2).void("wrong flags")
    runs = [slow, lost, void, run("b", 5)]
    for one, why in ((slow, "outcome is over_ceiling"), (lost, "outcome is ungraded"), (void, "wrong flags")):
        with pytest.raises(UsageError, match=f"has no placement.*{why}"):
            place(runs, one.run_id)
    with pytest.raises(UsageError, match='no run "nobody" here'):
        place(runs, "nobody")
    assert place(runs, runs[-1].run_id).field_size == 1
    assert [row.model for row in leaderboard(runs)] == ["b"]


def test_a_placement_looks_at_its_own_cohort_alone() -> None:
    mine = run("a", 100)
    others = [
        run("b", 1, fuel_schedule="s2"),
        run("b", 1, version="v2"),
        run("b", 1, variant="x"),
        run("b", 1, case="y"),
    ]
    assert place([mine, *others], mine.run_id).rank == 1
    assert len(cohorts([mine, *others])) == 5


def test_a_leaderboard_of_two_cohorts_is_refused_by_name() -> None:
    with pytest.raises(
        UsageError, match=r"2 cohorts.*maze v1 base on fuel schedule s1; maze v2 base on fuel schedule s1"
    ):
        leaderboard([run("a", 1), run("b", 1, version="v2")])
    assert len(leaderboard([run("a", 1), run("b", 1, version="v2").void("old")])) == 1


def test_ties_share_a_rank_the_next_skips_and_the_earlier_stands_first() -> None:
    rows = leaderboard([run("late", 5, 9), run("early", 5, 3), run("last", 7, 1), run("best", 4, 2)])
    assert [(row.rank, row.model) for row in rows] == [(1, "best"), (2, "early"), (2, "late"), (4, "last")]
    assert [row.ratio_to_best for row in rows] == [1.0, 1.25, 1.25, 1.75]
    undated = leaderboard(
        [run("a", 5, recorded_at=None), run("b", 5, 9), run("c", 5, recorded_at="2025-01-01T00:00:00Z")]
    )
    assert [row.model for row in undated] == ["c", "b", "a"]


def test_a_model_counts_once_at_its_best_and_shows_all_runs_but_the_voided() -> None:
    best = run("A ", 5, 2)
    runs = [run("a", 9), best, run("a", None, 3), run("a", 6, 4, outcome=Outcome.UNGRADED), run("a", 1, 5).void("x")]
    (row,) = leaderboard(runs)
    assert (row.model, row.total_fuel, row.runs, row.run_id) == ("a", 5, 4, best.run_id)
    assert leaderboard([]) == []
    assert leaderboard([run("a", None)]) == []


def test_a_pass_without_fuel_is_a_broken_record_and_never_ranked() -> None:
    for fuel in (None, 0, -1):
        with pytest.raises(ValueError, match="recorded as a pass with a total fuel of"):
            leaderboard([run("a", fuel, outcome=Outcome.PASS)])


def test_names_fold_by_trim_case_and_alias() -> None:
    aliases = {"Opus": "Model-O", "straße": "road"}
    assert fold_model("  OPUS\t", aliases) == "model-o"
    assert fold_model("STRASSE", aliases) == "road"
    assert fold_model(" Other ") == "other"
    rows = leaderboard([run("opus", 5), run("MODEL-O", 6)], aliases)
    assert [(row.model, row.runs) for row in rows] == [("model-o", 2)]
    mine = run("opus", 5)
    assert place([mine, run("model-o", 4)], mine.run_id, aliases).model_best == 4


def test_aliases_are_read_folded(tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text('[aliases]\n"GPT X " = "Gpt-X"\n')
    assert load_aliases(tmp_path / "models.toml") == {"gpt x": "gpt-x"}
    assert isinstance(load_aliases(Path(__file__).parents[2] / "data" / "models.toml"), dict)


def test_every_fault_of_the_aliases_is_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text('alias = 1\n[aliases]\na = "b"\n"A " = "c"\nb = "d"\nself = "Self"\nn = 3\n')
    with pytest.raises(AuthoringError) as caught:
        load_aliases(tmp_path / "models.toml")
    assert [str(fault) for fault in caught.value.faults] == [
        'models.toml: alias: is not a known key; did you mean "aliases"?',
        'models.toml: aliases: "a" is said twice, once trimmed and case-folded: keep one',
        'models.toml: aliases: "self" is its own alias, once trimmed and case-folded: remove it',
        'models.toml: aliases: "a" leads to "b", itself an alias: point it at "d"',
        "models.toml: aliases.n: must be a string in quotes, not the integer 3",
    ]
    with pytest.raises(AuthoringError, match="is missing"):
        load_aliases(tmp_path / "absent.toml")


FIELDS = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(1, 6)), min_size=1, max_size=12)


def numbered(field: list[tuple[str, int]]) -> list[PerformanceRun]:
    return [run(model, fuel, attempt) for attempt, (model, fuel) in enumerate(field, 1)]


@given(FIELDS, st.randoms(use_true_random=False))
def test_the_order_of_the_runs_changes_nothing(field: list[tuple[str, int]], random: Any) -> None:
    runs = numbered(field)
    shuffled = runs[:]
    random.shuffle(shuffled)
    assert leaderboard(shuffled) == leaderboard(runs)
    assert all(place(shuffled, one.run_id) == place(runs, one.run_id) for one in runs)


@given(FIELDS)
def test_every_placement_is_within_its_bounds_and_agrees_with_the_leaderboard(field: list[tuple[str, int]]) -> None:
    runs = numbered(field)
    rows = {row.run_id: row for row in leaderboard(runs)}
    for one in runs:
        placed = place(runs, one.run_id)
        assert 1 <= placed.rank <= placed.field_size == len(rows)
        assert placed.ratio_to_best >= 1
        assert (placed.efficiency_percentile is None) == (len(rows) == 1)
        assert 0 <= (placed.efficiency_percentile or 0) <= 100
        if one.run_id in rows:
            assert (placed.rank, placed.is_model_best) == (rows[one.run_id].rank, True)


@given(FIELDS, st.integers(0, 5))
def test_running_a_model_again_no_better_changes_nothing_for_anyone(field: list[tuple[str, int]], worse: int) -> None:
    runs = numbered(field)
    again = run(runs[0].model, min(r.total_fuel or 0 for r in runs if r.model == runs[0].model) + worse, 50)
    after = [*runs, again]
    assert [replace(row, runs=0) for row in leaderboard(after)] == [replace(row, runs=0) for row in leaderboard(runs)]
    assert all(place(after, one.run_id) == place(runs, one.run_id) for one in runs)


def test_reviewed_models_rank_by_their_mean_score() -> None:
    runs: list[PerformanceRun | ReviewedRun] = [
        reviewed("twice", 90, 1),
        reviewed("Twice", 50, 2),
        reviewed("steady", 70, 3),
        reviewed("top", 80, 4),
        reviewed("top", None, 5),
        reviewed("top", 1, 6, voided="wrong prompt"),
        reviewed("unread", None, 7),
        run("fuel", 5),
    ]
    rows = review_leaderboard(runs)
    assert [(row.rank, row.model, row.score, row.runs, row.reviewed) for row in rows] == [
        (1, "top", 80, 2, 1),
        (2, "twice", 70, 2, 2),
        (2, "steady", 70, 1, 1),
    ]
    assert (rows[1].best, rows[1].run_id) == (90, runs[0].run_id)
    assert review_leaderboard(runs[::-1]) == rows
    with pytest.raises(UsageError, match="note v1 base; note v1 short"):
        review_leaderboard([*runs, reviewed("a", 1, variant="short")])


def test_the_worklist_holds_what_waits_for_a_review_oldest_first_and_no_performance_run() -> None:
    waiting = [reviewed("c", None, 9), reviewed("a", None, 2), reviewed("b", None, 5, recorded_at=None)]
    runs: list[PerformanceRun | ReviewedRun] = [
        *waiting,
        reviewed("d", 50, 1),
        reviewed("e", None, 1, voided="x"),
        run("f", 5),
        run("g", None),
    ]
    assert worklist(runs) == [waiting[1], waiting[0], waiting[2]]


def season_run() -> Any:
    facts: dict[str, Any] = dict.fromkeys(field.name for field in fields(SeasonRun))
    return SeasonRun(**{**facts, "season": "snow", "season_digest": "d", "seed": 1, "attempt": 1, "provenance": {}})


def test_a_run_of_another_kind_is_said_to_be_one_in_one_line() -> None:
    mixed: list[Any] = [run("a", 10), reviewed("b", 5), season_run()]
    for take in (cohorts, leaderboard):
        with pytest.raises(UsageError, match=r'is reviewed: see `review_leaderboard`; .* as store\.runs\(case="…"\)'):
            take(mixed)
        with pytest.raises(UsageError, match="of a season: see `standings`"):
            take([season_run()])
    assert [row.model for row in review_leaderboard(mixed)] == ["b"]
    assert worklist([*mixed, waiting := reviewed("c", None)]) == [waiting]
    assert place(mixed, mixed[0].run_id).rank == 1
    for other, what in ((mixed[1], "of a reviewed case"), (mixed[2], "of a season")):
        with pytest.raises(UsageError, match=f"has no placement: it is {what}"):
            place(mixed, other.run_id)


@pytest.mark.parametrize("take", [cohorts, leaderboard, review_leaderboard, worklist, lambda runs: place(runs, "abcd")])
def test_a_table_is_no_list_of_runs(take: Any) -> None:
    with pytest.raises(UsageError, match=r"from their records, as `store.runs\(…\)` gives them, not from a table"):
        take(pd.DataFrame({"run_id": ["a"], "": [1]}))
    with pytest.raises(UsageError, match="not from any str"):
        take([""])


def test_a_beginning_of_an_id_places_its_run_where_no_other_begins_so() -> None:
    runs = [run("a", 10, attempt) for attempt in range(1, 9)]
    one = runs[3]
    assert place(runs, one.run_id[:8].upper()) == place(runs, one.run_id)
    with pytest.raises(UsageError, match='no run "abc" here: give its id, or four or more of its first digits'):
        place(runs, "abc")
    many = [run("a", 10, attempt, solution_digest="many") for attempt in range(1, 1000)]
    seen: dict[str, str] = {}
    twice = next(own.run_id for own in many if seen.setdefault(own.run_id[:4], own.run_id) != own.run_id)
    with pytest.raises(UsageError, match=f'2 runs start with "{twice[:4]}": give more digits'):
        place(many, twice[:4])
