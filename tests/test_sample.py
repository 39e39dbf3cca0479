"""The committed sample: what every notebook shows on the first open is what this kit grades today."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit import open_case
from evalkit.jobs import plan_sweep
from evalkit.performance.grading import grade_module
from evalkit.records import Outcome, PerformanceRun
from evalkit.store import Store

ROOT = Path(__file__).parents[1]
CASES = sorted(path.parent.parent.name for path in (ROOT / "cases").glob("*/*/test-case.toml"))


@pytest.fixture(scope="module")
def sample() -> Store:
    store = Store.open("sqlite://")
    report = store.import_(ROOT / "data" / "sample")
    assert report.refused == ()
    assert report.stored > 0
    return store


@pytest.mark.parametrize("slug", CASES)
def test_it_holds_a_run_of_every_solution_as_it_is_now(sample: Store, slug: str) -> None:
    """Fails after a solution or the fuel schedule has changed: `make sample` makes it again."""
    plan = plan_sweep(open_case(slug, ROOT / "cases"), store=sample)
    assert plan.jobs > 0
    assert (list(plan.grid), plan.failed) == ([], ())


@pytest.mark.parametrize("slug", CASES)
def test_it_was_graded_on_the_case_as_it_is_now(sample: Store, slug: str) -> None:
    case = open_case(slug, ROOT / "cases")
    assert {run.case_digest for run in sample.runs(case=slug)} == {case.digest()}


def test_its_passing_modules_burn_the_same_fuel_again(sample: Store) -> None:
    passing = [run for run in sample.runs() if isinstance(run, PerformanceRun) and run.outcome is Outcome.PASS]
    assert passing
    for run in passing:
        assert run.module_digest is not None
        again = grade_module(open_case(run.case, ROOT / "cases"), sample.module(run.module_digest), run)
        assert [row.fuel for row in again.inputs] == [row.fuel for row in run.inputs]
