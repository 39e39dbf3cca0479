"""Sweeps of a season: cells by agents, each in a process that can be ended, and found again by what is stored."""

from __future__ import annotations

import subprocess
import sys
import time
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from evalkit.errors import UsageError
from evalkit.jobs import JobResult, plan_season, sweep_season, verify_replays
from evalkit.records import SeasonRun
from evalkit.season import load_season
from evalkit.season.agents import load_agent
from evalkit.season.verifying import Verification
from evalkit.store import Store
from tests.season.seasonwork import make_season

AGENTS = """
import os, sys, time
from evalkit.season.agents import Action
class Quick:
    def reset(self, spec, seed): self.seed = seed
    def decide(self, observation): return Action("wait", 30)
class Hangs(Quick):
    def decide(self, observation): time.sleep(60)
class Dies(Quick):
    def decide(self, observation): os._exit(3)
class Leaves(Quick):
    def decide(self, observation): os._exit(0)
class Exits(Quick):
    def decide(self, observation): sys.exit(0)
class Interrupts(Quick):
    def decide(self, observation): raise KeyboardInterrupt
class Prints(Quick):
    def decide(self, observation): print("hello"); os.write(1, b"hello"); return Action("wait", 30)
class Named(Quick):
    name = "n" * 500
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(AGENTS)
    return make_season(tmp_path)


def test_an_agent_that_hangs_or_dies_fails_alone_and_the_others_are_stored(folder: Path, tmp_path: Path) -> None:
    who = [f"{tmp_path / 'mine.py'}:{name}" for name in ("Hangs", "Dies", "Quick")]
    seen = []
    with Store.open(tmp_path / "s.sqlite") as store:
        report = sweep_season(
            folder, store=store, agents=who, seconds=4, progress=lambda done, of, r: seen.append((done, of))
        )
        runs = [run for run in store.runs() if isinstance(run, SeasonRun)]
    assert (report.jobs, report.stored, len(report.failed)) == (12, 4, 8)
    assert {run.agent for run in runs} == {who[2]}
    errors = {failed.job.split(":")[1].split()[0]: failed.error for failed in report.failed}
    assert errors["Hangs"] == "it was ended after its 4 s" and "its process ended" in errors["Dies"]
    assert seen[-1] == (12, 12)


def test_no_way_out_of_a_process_ends_a_sweep_or_leaves_it_waiting(folder: Path, tmp_path: Path) -> None:
    who = [f"{tmp_path / 'mine.py'}:{name}" for name in ("Leaves", "Exits", "Interrupts", "Quick")]
    began = time.monotonic()
    with Store.open(tmp_path / "s.sqlite") as store:
        report = sweep_season(folder, store=store, agents=who, seconds=120)
        runs = [run for run in store.runs() if isinstance(run, SeasonRun)]
    assert time.monotonic() - began < 60
    assert (report.jobs, report.stored, len(report.failed), report.ungraded) == (16, 12, 4, 8)
    assert {"Leaves" in failed.job and "its process ended" in failed.error for failed in report.failed} == {True}
    said = {str(run.ungraded) for run in runs if run.ungraded}
    assert said == {"decision 1: SystemExit: 0", "decision 1: KeyboardInterrupt: "}


def test_what_agents_print_in_workers_is_not_on_standard_output(folder: Path, tmp_path: Path) -> None:
    code = f"""if __name__ == "__main__":
    from evalkit.jobs import sweep_season
    print(sweep_season({str(folder)!r}, store={str(tmp_path / "p.sqlite")!r}, agents=["mine.py:Prints"]).stored)"""
    (tmp_path / "go.py").write_text(code)
    done = subprocess.run([sys.executable, "go.py"], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "4\n" and "hello" in done.stderr


def test_a_plan_says_what_a_sweep_would_play_and_plays_nothing(folder: Path, tmp_path: Path) -> None:
    season = load_season(folder)
    with Store.open(tmp_path / "s.sqlite") as store:
        plan = plan_season(season, store=store, agents=["random", "random"], attempts=2)
        assert (plan.jobs, len(plan.grid), plan.skipped) == (16, 8, 8)
        assert "random on hall (easy), seed 0 (attempt 2)" in plan.grid
        assert store.runs() == []


def test_a_cap_on_a_whole_sweep_is_not_promised_where_its_jobs_share_no_file(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds on one machine alone"):
        sweep_season(folder, store=tmp_path / "s.sqlite", dollar_cap=1.0, scheduler="tcp://127.0.0.1:9")


def test_replays_are_verified_in_other_processes_and_come_back_by_name(folder: Path, tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.sqlite") as store:
        sweep_season(folder, store=store)
        work: dict[str, tuple[bytes | Path, Path]] = {
            run.run_id: (store.replay(run.run_id), folder) for run in store.runs()
        }
    work["broken"] = (b"{}", folder)
    results: dict[str, JobResult[Verification]] = {r.name: r for r in verify_replays(work)}
    said = {name: result.value.verified for name, result in results.items() if result.value}
    assert said == {**dict.fromkeys(work, True), "broken": False}


def test_an_installed_agent_is_found_by_its_name_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("walker", "evalkit.season.agents.builtin:RandomAgent", "evalkit.agents")
    monkeypatch.setattr("evalkit.season.agents.finding.entry_points", lambda group: [point])
    assert load_agent("walker").digest == load_agent("random").digest
    with pytest.raises(UsageError, match='did you mean "walker"'):
        load_agent("walkr")


def test_a_name_that_no_replay_could_hold_is_refused_before_anything_is_played(folder: Path) -> None:
    with pytest.raises(UsageError, match="text of 1 to 200 characters"):
        load_agent(f"{folder.parent / 'mine.py'}:Named")


def test_importing_the_season_wing_is_cheap() -> None:
    code = "import sys, evalkit.season, evalkit; assert not {'pandas', 'wasmtime', 'sqlalchemy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
