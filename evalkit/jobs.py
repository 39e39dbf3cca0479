"""Why: many runs at once, on this machine or on a cluster, where every finished one is kept and none stops the others.

`run_jobs` is the one interface to the two engines, pebble here and dask.distributed there; `sweep_case` puts a grid of
solutions through it. What is stored is not run again, so a sweep that was cut short goes on when it is called again.
"""

from __future__ import annotations

import importlib
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from evalkit.errors import EvalkitError, MachineError, UsageError
from evalkit.performance.build import BuildLimits, solution_digest
from evalkit.performance.case import Case
from evalkit.performance.grading import Graded, grade_solution
from evalkit.performance.manifest import load_case
from evalkit.performance.origin import load_origin
from evalkit.performance.reviews import load_reviews
from evalkit.records import Outcome, ReviewedRun, digest_id
from evalkit.sandbox.engine import fuel_schedule

if TYPE_CHECKING:  # importing the store costs a second, and the workers of a pool never need it
    from evalkit.store import Store

__all__ = [
    "FailedJob",
    "JobResult",
    "Plan",
    "SweepReport",
    "attempt_number",
    "file_for_review",
    "find_solutions",
    "job_key",
    "missing_attempts",
    "plan_sweep",
    "record_reviews",
    "run_jobs",
    "store_graded",
    "sweep_case",
]

Job = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JobResult(Generic[T]):
    """How one job ended: its value, or one line that says what went wrong."""

    name: str
    value: T | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that left no run, and why."""

    job: str
    error: str


@dataclass(frozen=True, slots=True)
class SweepReport:
    """How a sweep went: jobs in the grid, runs stored now, jobs that were stored before, and the failures."""

    jobs: int
    stored: int
    skipped: int
    failed: tuple[FailedJob, ...] = ()


Progress = Callable[[int, int, JobResult[Any]], None]
"""Called as `progress(done, of, result)` after each job."""


def run_jobs(
    fn: Callable[..., T],
    jobs: Mapping[str, Job],
    *,
    workers: int = 2,
    seconds: float | None = None,
    scheduler: str | None = None,
) -> Iterator[JobResult[T]]:
    """Call `fn(**job)` for every named job in other processes, and yield each result as it ends, in no fixed order.

    On this machine `workers` processes run and a job that takes longer than `seconds` is killed; a job that fails,
    crashes or hangs fails alone. With `scheduler`, the address of a dask scheduler, jobs run there, and a job must hold
    its own time limit. `fn` and its arguments must pickle. Leaving the loop early ends what still runs.
    """
    if not jobs:
        return
    if scheduler:
        yield from _on_cluster(fn, jobs, scheduler)
        return
    from pebble import ProcessPool

    pool = ProcessPool(
        max_workers=max(1, min(workers, len(jobs))),
        context=multiprocessing.get_context("spawn"),
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),  # Ctrl-C is this process's to answer; it then stops the pool
    )
    with ExitStack() as leaving:
        leaving.callback(pool.join)
        leaving.callback(pool.stop)
        futures: dict[Future[Any], str] = {
            pool.schedule(_call, args=[fn, job], timeout=seconds): name for name, job in jobs.items()
        }
        for future in as_completed(futures):
            yield _result(futures[future], future, seconds)


def _call(fn: Callable[..., T], job: Job) -> tuple[T | None, str | None]:
    """In the worker: errors become one line here, so that nothing that does not pickle has to travel."""
    try:
        return fn(**job), None
    except EvalkitError as error:
        return None, str(error)
    except Exception as error:
        return None, " ".join(f"{type(error).__name__}: {error}".split())


def _result(name: str, future: Any, seconds: float | None) -> JobResult[Any]:
    try:
        value, error = future.result()
        return JobResult(name, value, error)
    except TimeoutError:
        return JobResult(name, error=f"it was ended after its {seconds:g} s")
    except Exception as error:  # the worker died: killed by the kernel, or by the code it ran
        return JobResult(name, error=" ".join(f"its process ended: {type(error).__name__}: {error}".split()))


def _on_cluster(fn: Callable[..., T], jobs: Mapping[str, Job], scheduler: str) -> Iterator[JobResult[T]]:
    try:
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise UsageError('a scheduler needs dask: install it with pip install "evalkit[cluster]"') from error
    try:
        client = distributed.Client(scheduler, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise MachineError(f"no dask scheduler answers at {scheduler}: {' '.join(str(error).split())}") from error
    with client:
        futures = {client.submit(_call, fn, job, pure=False, retries=0): name for name, job in jobs.items()}
        for future in distributed.as_completed(list(futures), loop=client.loop):
            yield _result(futures[future], future, None)


def find_solutions(case: Case) -> list[Path]:
    """Every folder below the case's `solutions/` that holds a `solution.toml`, in the order of their names."""
    return sorted(path.parent for path in (case.root / "solutions").rglob("solution.toml"))


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sweep would do: jobs in the grid, those still to run by name, those stored, and those that cannot run."""

    jobs: int
    grid: dict[str, Job]
    skipped: int
    failed: tuple[FailedJob, ...]


def plan_sweep(
    case: Case,
    *,
    store: Store,
    solutions: Sequence[Path | str] | None = None,
    variant: str | None = None,
    attempts: int = 1,
) -> Plan:
    """Hold a grid of solutions against the store; nothing is built. Raises UsageError for an unknown variant."""
    slug = case.variant(variant).slug
    folders = find_solutions(case) if solutions is None else [Path(folder) for folder in solutions]
    grid: dict[str, Job] = {}
    failed: list[FailedJob] = []
    seen: set[tuple[str, ...]] = set()
    for folder in folders:
        try:
            key = job_key(case, folder, slug)
        except EvalkitError as error:
            failed += [FailedJob(str(folder), str(error))] * attempts
            continue
        for attempt in () if key in seen else missing_attempts(store, key, attempts):
            name = str(folder) if attempt == 1 else f"{folder} (attempt {attempt})"
            grid[name] = {"case": case, "folder": folder, "variant": slug, "attempt": attempt}
        seen.add(key)
    jobs = len(folders) * attempts
    return Plan(jobs, grid, jobs - len(failed) - len(grid), tuple(failed))


def sweep_case(
    case: Case | Path | str,
    *,
    store: Store,
    solutions: Sequence[Path | str] | None = None,
    variant: str | None = None,
    attempts: int = 1,
    jobs: int = 2,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> SweepReport:
    """Grade every solution that the store does not hold yet, `jobs` at a time, storing each run as it ends.

    `solutions` defaults to those filed under the case. A run that was stored `ungraded` is tried again as a new
    attempt. The runs of a reviewed case are filed for review, with the reviews recorded beside it. Raises
    AuthoringError for a broken case, UsageError for an unknown variant.
    """
    loaded = case if isinstance(case, Case) else load_case(Path(case))
    plan = plan_sweep(loaded, store=store, solutions=solutions, variant=variant, attempts=attempts)
    failed = list(plan.failed)
    stored, done = 0, plan.jobs - len(plan.grid)
    results: Iterator[JobResult[Any]]
    if loaded.is_performance:
        seconds = _longest(loaded)
        results = run_jobs(grade_solution, plan.grid, workers=jobs, seconds=seconds, scheduler=scheduler)
    else:
        results = (JobResult(name, _reviewed_run(**job)) for name, job in plan.grid.items())
    for result in results:
        done += 1
        try:
            if result.value is not None:
                stored += store_graded(store, result.value) if loaded.is_performance else store.add(result.value)
        except EvalkitError as error:
            result = JobResult(result.name, error=str(error))
        if result.error is not None:
            failed.append(FailedJob(result.name, result.error))
        if progress:
            progress(done, plan.jobs, result)
    if not loaded.is_performance:
        record_reviews(store, loaded)
    return SweepReport(plan.jobs, stored, plan.skipped, tuple(failed))


def _reviewed_run(case: Case, folder: Path, variant: str, attempt: int = 1) -> ReviewedRun:
    origin = load_origin(folder)
    return ReviewedRun(
        case=case.slug,
        version=case.version,
        variant=variant,
        model=origin.model,
        attempt=attempt,
        solution_digest=solution_digest(folder),
        case_digest=case.digest(),
        provenance=origin.provenance(),
    )


def file_for_review(store: Store, case: Case, folder: Path, variant: str | None = None) -> ReviewedRun:
    """Store a run of a reviewed case, with its review if one is recorded beside the case; else it waits for one."""
    run = _reviewed_run(case, folder, case.variant(variant).slug)
    store.add(run)
    record_reviews(store, case)
    stored = store.get(run.run_id)
    assert isinstance(stored, ReviewedRun)
    return stored


def record_reviews(store: Store, case: Case) -> None:
    """Take over the reviews that lie beside a case for its stored runs; one that changed replaces the old."""
    for recorded in load_reviews(case):
        run = store.find(_reviewed_run(case, recorded.solution, recorded.variant).run_id)
        if run is not None and run.voided is None:
            store.review(run.run_id, recorded.review, replace=True)


def job_key(case: Case, folder: Path, variant: str | None = None) -> tuple[str, ...]:
    """The job key without its attempt: known from the source alone, so that what is stored is not even built."""
    schedule = fuel_schedule() if case.is_performance else ""
    names = (case.slug, case.version, case.variant(variant).slug, schedule, load_origin(folder).model)
    return (*names, solution_digest(folder))


def missing_attempts(store: Store, key: tuple[str, ...], wanted: int) -> list[int]:
    """The free attempt numbers that still have to run until the store holds `wanted` runs of this job.

    An ungraded run does not count, and keeps its number; a voided one counts, or else it would come back.
    """
    free: list[int] = []
    number = 0
    while wanted > 0:
        number += 1
        run = store.find(digest_id((*key, str(number))))
        if run is None:
            free.append(number)
        if run is None or getattr(run, "outcome", None) is not Outcome.UNGRADED:
            wanted -= 1
    return free


def attempt_number(store: Store, key: tuple[str, ...], wanted: int) -> int:
    """`wanted`, or where an ungraded run has that number the next one that is free: what is stored stays."""
    run = store.find(digest_id((*key, str(wanted))))
    if getattr(run, "outcome", None) is not Outcome.UNGRADED:
        return wanted
    return next(n for n in count(wanted + 1) if not store.has(digest_id((*key, str(n)))))


def store_graded(store: Store, graded: Graded) -> bool:
    """Store a run with its module; False where it is there. The same source with another module is a warning."""
    run = graded.run
    others = store.module_digests(run.solution_digest) - {run.module_digest}
    if graded.module is not None and others:
        warning = f"the same source built another module before ({min(others)[:12]}…): its build is not reproducible"
        run = replace(run, warnings=(*run.warnings, warning))
    return store.add(run, graded.module)


def _longest(case: Case) -> float:
    """Seconds after which a job cannot be alive any more but by a fault: every guard inside it at its limit."""
    assert case.sandbox is not None
    return 2 * BuildLimits().seconds + len(case.inputs) * (case.sandbox.wall_limit_s + 10) + 120
