"""The committed sample: what every notebook shows on the first open is what this kit grades today."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit import open_case, open_season
from evalkit.jobs import plan_season, plan_sweep, verify_season
from evalkit.performance.grading import grade_module
from evalkit.records import Outcome, PerformanceRun, SeasonRun
from evalkit.season.agents import agents_beside
from evalkit.store import Store

ROOT = Path(__file__).parents[1]
CASES = sorted(path.parent.parent.name for path in (ROOT / "cases").glob("*/*/test-case.toml"))
SEASONS = sorted(path.parent.name for path in (ROOT / "cases").glob("*/season.toml"))


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


@pytest.mark.parametrize("slug", SEASONS)
def test_it_holds_every_cell_of_a_season_by_every_agent_beside_it(sample: Store, slug: str) -> None:
    season = open_season(slug, ROOT / "cases")
    agents = ("random", *agents_beside(season.root))
    plan = plan_season(season, store=sample, agents=agents)
    assert len(agents) >= 6
    assert plan.jobs == len(agents) * len(season.cells)
    assert (list(plan.grid), plan.failed) == ([], ())


@pytest.mark.parametrize("slug", SEASONS)
def test_every_replay_of_it_verifies_and_no_anchor_has_one(sample: Store, slug: str) -> None:
    season = open_season(slug, ROOT / "cases")
    runs = [run for run in sample.runs(season=slug) if isinstance(run, SeasonRun)]
    assert {sample.has_replay(run.run_id) for run in runs if run.is_private} == {False}
    assert {sample.has_replay(run.run_id) for run in runs if not run.is_private} == {True}
    answers = verify_season(season, store=sample)
    assert len(answers) == sum(not run.is_private for run in runs)
    assert [answer for answer in answers.values() if answer.verified is not True] == []
