"""One walk over everything under `cases/`: a new case or solution is tested by being there."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.jobs import find_solutions
from evalkit.performance import grade
from evalkit.performance.manifest import check_case, load_case
from evalkit.performance.reviews import load_reviews
from evalkit.records import Outcome

CASES = sorted(path.parent for path in (Path(__file__).parents[1] / "cases").glob("*/*/test-case.toml"))
PERFORMANCE = [folder for folder in CASES if load_case(folder).is_performance]
SOLUTIONS = [
    pytest.param(folder, solution, id=f"{folder.parent.name}-{solution.relative_to(folder / 'solutions').as_posix()}")
    for folder in PERFORMANCE
    for solution in find_solutions(load_case(folder))
]


def test_there_are_cases_and_solutions_to_walk() -> None:
    assert len(CASES) >= 2
    assert len(SOLUTIONS) >= 12


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.parent.name)
def test_every_case_is_clean(folder: Path) -> None:
    assert check_case(folder) == ()
    load_reviews(load_case(folder))


@pytest.mark.parametrize("folder", PERFORMANCE, ids=lambda folder: folder.parent.name)
def test_every_smoke_input_says_what_it_isolates(folder: Path) -> None:
    assert all(row.behaviour and row.behaviour.endswith(".") for row in load_case(folder).smoke)


@pytest.mark.parametrize(("folder", "solution"), SOLUTIONS)
def test_every_solution_gets_the_outcome_and_the_reason_that_it_is_filed_under(folder: Path, solution: Path) -> None:
    """`solutions/OUTCOME/NAME`, or `solutions/incorrect/REASON/NAME`; a trap is filed under `trap`."""
    filed = solution.relative_to(folder / "solutions").parts
    run = grade(folder, solution)
    run.validate()
    assert run.outcome == filed[0], run.detail
    if run.outcome is Outcome.INCORRECT:
        assert (run.reason or "").partition(":")[0] == filed[1], run.detail
    smoke = [row for row in run.inputs if row.kind == "smoke"]
    stress = [row for row in run.inputs if row.kind == "stress"]
    if any(row.outcome is not Outcome.PASS for row in smoke):
        assert {row.outcome for row in stress} == {Outcome.SKIPPED}
    if run.outcome is Outcome.OVER_CEILING:
        over = [row for row in stress if row.outcome is Outcome.OVER_CEILING]
        assert all(row.overshoot_percent and row.fuel and row.fuel > run.fuel_limit for row in over)
    if run.reason == "wrong_answer":
        wrong = next(row for row in run.inputs if row.outcome is Outcome.INCORRECT)
        assert wrong.first_mismatch_tick is not None
        assert wrong.kind == "stress" or wrong.behaviour
