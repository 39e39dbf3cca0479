"""Jobs: every finished one is kept, none stops the others, and what is stored is not run again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evalkit.errors import UsageError
from evalkit.jobs import FailedJob, JobResult, SweepReport, plan_sweep, run_jobs, sweep_case
from evalkit.records import Outcome
from evalkit.store import Store
from tests.casework import burner, make_case, make_solution, module
from tests.compilations import counted


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def work(n: int, how: str = "") -> int:
    """A job; it runs in a worker process."""
    if how == "raise":
        raise ValueError("bad\nnumber")
    if how == "die":
        os._exit(9)
    if how == "leave":
        os._exit(0)
    if how == "exit":
        sys.exit(0)
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "mute":
        raise Mute
    if how == "hang":
        time.sleep(60)
    return n * n


class TestRunJobs:
    def test_every_job_yields_its_value_by_name(self) -> None:
        results = list(run_jobs(work, {f"job {n}": {"n": n} for n in range(5)}))
        assert {r.name: r.value for r in results} == {f"job {n}": n * n for n in range(5)}

    def test_a_job_that_raises_dies_or_hangs_fails_alone(self) -> None:
        jobs = {how or "well": {"n": 3, "how": how} for how in ("", "raise", "die", "hang")}
        results = {r.name: r for r in run_jobs(work, jobs, seconds=5)}
        assert results["well"] == JobResult("well", 9)
        assert results["raise"].error == "ValueError: bad number"
        assert "its process ended" in str(results["die"].error)
        assert results["hang"].error == "it was ended after its 5 s"

    def test_no_way_to_end_reaches_the_parent_or_leaves_it_waiting(self) -> None:
        began = time.monotonic()
        jobs = {how or "well": {"n": 3, "how": how} for how in ("leave", "exit", "interrupt", "mute", "")}
        results = {r.name: r for r in run_jobs(work, jobs, seconds=100)}
        assert time.monotonic() - began < 60
        assert results["well"] == JobResult("well", 9)
        assert "its process ended" in str(results["leave"].error)
        assert [results[how].error for how in ("exit", "interrupt", "mute")] == [
            "SystemExit: 0", "KeyboardInterrupt:", "Mute",
        ]  # fmt: skip

    @pytest.mark.parametrize("after", [0.03, 0.1, 0.2, 0.4])
    def test_ctrl_c_while_workers_start_is_no_traceback_of_theirs(self, tmp_path: Path, after: float) -> None:
        (tmp_path / "go.py").write_text("""if __name__ == "__main__":
    from evalkit.jobs import run_jobs
    from tests.test_jobs import work
    print("began", flush=True)
    try:
        for _ in run_jobs(work, {"a": {"n": 1, "how": "hang"}, "b": {"n": 1, "how": "hang"}}): pass
    except KeyboardInterrupt: print("interrupted", flush=True)
""")
        child = subprocess.Popen(
            [sys.executable, str(tmp_path / "go.py")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        )  # fmt: skip
        assert child.stdout is not None and child.stdout.readline() == "began\n"
        time.sleep(after)
        os.killpg(child.pid, signal.SIGINT)
        out, errors = child.communicate(timeout=60)
        assert (out, errors) == ("interrupted\n", "")

    def test_leaving_the_loop_ends_what_still_runs(self) -> None:
        began = time.monotonic()
        for _ in run_jobs(work, {"a": {"n": 1}, "b": {"n": 1, "how": "hang"}}):
            break
        assert time.monotonic() - began < 30

    def test_no_jobs_are_no_results(self) -> None:
        assert list(run_jobs(work, {})) == []

    def test_an_unreachable_scheduler_is_one_line(self) -> None:
        pytest.importorskip("distributed", reason="the cluster extra is not installed")
        with pytest.raises(Exception, match="no dask scheduler answers"):
            list(run_jobs(work, {"a": {"n": 1}}, scheduler="tcp://127.0.0.1:9"))

    def test_a_cluster_gives_the_same_results(self) -> None:
        distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
        options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
        with distributed.LocalCluster(**options) as cluster:
            jobs = {f"{n}": {"n": n, "how": "raise" if n == 2 else ""} for n in range(4)}
            there = {r.name: r for r in run_jobs(work, jobs, scheduler=cluster.scheduler_address)}
        assert there == {r.name: r for r in run_jobs(work, jobs)}


class TestSweep:
    @pytest.fixture
    def case(self, tmp_path: Path) -> Path:
        folder = make_case(tmp_path / "cases")
        make_solution(folder / "solutions" / "pass" / "a", model="model-a")
        make_solution(folder / "solutions" / "pass" / "b", burner(5), model="model-b")
        make_solution(folder / "solutions" / "incorrect" / "c", module("unreachable"), model="model-c")
        return folder

    def test_a_sweep_stores_a_run_and_a_module_for_every_solution(self, case: Path, tmp_path: Path) -> None:
        with Store.open(tmp_path / "s.sqlite") as store:
            assert sweep_case(case, store=store) == SweepReport(jobs=3, stored=3, skipped=0)
            runs = store.runs()
            assert {run.model: run.outcome for run in runs} == {  # type: ignore[union-attr]
                "model-a": "pass", "model-b": "pass", "model-c": "incorrect",
            }  # fmt: skip
            assert all(store.module(run.module_digest).startswith(b"\0asm") for run in runs)  # type: ignore[union-attr]

    def test_what_is_stored_is_neither_built_nor_run_again(self, case: Path, tmp_path: Path) -> None:
        with Store.open(tmp_path / "s.sqlite") as store:
            sweep_case(case, store=store, solutions=[case / "solutions/pass/a"])
            assert sorted(Path(name).name for name in plan_sweep(_load(case), store=store).grid) == ["b", "c"]
            assert sweep_case(case, store=store) == SweepReport(jobs=3, stored=2, skipped=1)
            assert sweep_case(case, store=store) == SweepReport(jobs=3, stored=0, skipped=3)

    def test_a_broken_solution_is_recorded_and_does_not_stop_the_rest(self, case: Path, tmp_path: Path) -> None:
        (case / "solutions/pass/a/solution.toml").write_text("nonsense")
        with Store.open(tmp_path / "s.sqlite") as store:
            report = sweep_case(case, store=store)
        assert (report.jobs, report.stored) == (3, 2)
        (failed,) = report.failed
        assert isinstance(failed, FailedJob)
        assert "solution.toml" in failed.error

    def test_hostile_folders_stop_nobody_elses_run(self, case: Path, tmp_path: Path) -> None:
        links = make_solution(case / "solutions" / "links", model="links")
        (links / "odd").symlink_to(os.fsdecode(b"\xff"))
        large = make_solution(case / "solutions" / "large", model="large")
        with (large / "big").open("wb") as file:
            file.truncate(200 << 30)
        os.mkfifo(make_solution(case / "solutions" / "pipe", model="pipe") / "pipe")
        with Store.open(tmp_path / "s.sqlite") as store:
            report = sweep_case(case, store=store)
            assert {run.model for run in store.runs()} == {"model-a", "model-b", "model-c", "links"}
        assert [Path(failed.job).name for failed in report.failed] == ["large", "pipe"]

    def test_what_lies_inside_a_solution_is_part_of_it_and_no_solution_of_its_own(
        self, case: Path, tmp_path: Path
    ) -> None:
        make_solution(case / "solutions" / "pass" / "a" / "inner", model="a rival")
        with Store.open(tmp_path / "s.sqlite") as store:
            assert sweep_case(case, store=store).jobs == 3

    def test_attempts_ask_for_more_runs_of_each(self, case: Path, tmp_path: Path) -> None:
        with Store.open(tmp_path / "s.sqlite") as store:
            assert sweep_case(case, store=store, attempts=2).stored == 6
            assert sweep_case(case, store=store, attempts=3).stored == 3

    def test_an_ungraded_run_stays_and_is_tried_again_as_another_attempt(self, tmp_path: Path) -> None:
        folder = make_case(tmp_path / "cases", fuel_limit=1 << 50, sandbox="wall_limit_s = 0.2")
        make_solution(folder / "solutions" / "slow", module("(loop (br 0)) (i64.const 0)"))
        with Store.open(tmp_path / "s.sqlite") as store:
            for _ in range(2):
                assert sweep_case(folder, store=store).stored == 1
            assert [(run.attempt, run.outcome) for run in store.runs()] == [  # type: ignore[union-attr]
                (1, Outcome.UNGRADED), (2, Outcome.UNGRADED),
            ]  # fmt: skip

    def test_a_voided_run_does_not_come_back(self, case: Path, tmp_path: Path) -> None:
        with Store.open(tmp_path / "s.sqlite") as store:
            sweep_case(case, store=store)
            store.void(store.runs()[0].run_id, "a slip")
            assert sweep_case(case, store=store).stored == 0

    def test_the_same_source_that_builds_another_module_is_a_warning(self, tmp_path: Path) -> None:
        build = (
            "cp $(ls a.wasm b.wasm | head -n $(( ($(date +%N | sed s/^0*//) / 1000) % 2 + 1 )) | tail -1) engine.wasm"
        )
        folder = make_case(tmp_path / "cases", build=build)
        solution = make_solution(folder / "solutions" / "dice")
        (solution / "engine.wasm").unlink()
        (solution / "a.wasm").write_bytes(module())
        (solution / "b.wasm").write_bytes(module(extra="(global i32 (i32.const 1))"))
        with Store.open(tmp_path / "s.sqlite") as store:
            sweep_case(folder, store=store, attempts=16)
            warned = [run for run in store.runs() if run.warnings]  # type: ignore[union-attr]
        assert warned
        assert "not reproducible" in warned[0].warnings[0]  # type: ignore[union-attr]

    def test_two_folders_with_one_solution_are_one_run(self, case: Path, tmp_path: Path) -> None:
        make_solution(case / "solutions" / "pass" / "copy", model="model-a")
        with Store.open(tmp_path / "s.sqlite") as store:
            assert sweep_case(case, store=store) == SweepReport(jobs=4, stored=3, skipped=1)

    def test_an_unknown_variant_is_refused_before_anything_runs(self, case: Path, tmp_path: Path) -> None:
        with Store.open(tmp_path / "s.sqlite") as store, pytest.raises(UsageError, match="variant"):
            sweep_case(case, store=store, variant="nope")

    def test_a_module_is_compiled_once_in_a_sweep(
        self, case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With workers side by side, and three attempts at each."""
        monkeypatch.setenv("EVALKIT_CACHE", str(tmp_path / "cache"))
        with Store.open(tmp_path / "s.sqlite") as store, counted(tmp_path / "notes") as compilations:
            sweep_case(case, store=store, attempts=3, jobs=4)
            modules = {run.module_digest for run in store.runs()}  # type: ignore[union-attr]
        assert compilations() == len(modules) == 3

    def test_a_script_may_sweep_at_its_top_level(self, case: Path, tmp_path: Path) -> None:
        """A worker would run the script again, and that would sweep again, and so on."""
        script = tmp_path / "script.py"
        script.write_text(f"import evalkit\nprint(evalkit.sweep_case({str(case)!r}, store='s.sqlite').stored)\n")
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        done = subprocess.run(
            [sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120,
            check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")

    def test_ctrl_c_keeps_what_had_finished_and_a_second_sweep_goes_on(self, tmp_path: Path) -> None:
        folder = make_case(tmp_path / "cases", fuel_limit=1 << 50, sandbox="wall_limit_s = 60.0")
        make_solution(folder / "solutions" / "a", model="quick")
        make_solution(folder / "solutions" / "b", module("(loop (br 0)) (i64.const 0)"), model="slow")
        path = tmp_path / "s.sqlite"
        command = [sys.executable, "-m", "evalkit.cli", "sweep", str(folder), "--store", str(path)]
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        assert child.stderr is not None
        assert "a: pass" in child.stderr.readline()
        os.killpg(child.pid, signal.SIGINT)
        _, errors = child.communicate(timeout=60)
        assert child.returncode == 2
        assert errors.strip() == "evalkit: interrupted; what had finished is stored"
        with Store.open(path) as store:
            assert [run.model for run in store.runs()] == ["quick"]
            assert [Path(name).name for name in plan_sweep(_load(folder), store=store).grid] == ["b"]


def _load(folder: Path):  # type: ignore[no-untyped-def]
    from evalkit import load_case

    return load_case(folder)
