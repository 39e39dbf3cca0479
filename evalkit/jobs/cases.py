"""Why: a grid of solutions goes through the pool, and what the store holds is not run again.

Every run is stored as it ends, so a sweep that was cut short goes on when it is called again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.building.build import BuildLimits, solution_digest
from evalkit.errors import EvalkitError, MachineError
from evalkit.jobs.attempts import missing_attempts, opened
from evalkit.jobs.pool import Job, JobResult, run_jobs
from evalkit.jobs.report import FailedJob, Plan, Progress, SweepReport, gather
from evalkit.performance.case import Case
from evalkit.performance.grading import Graded, grade_solution
from evalkit.performance.manifest import open_case
from evalkit.performance.origin import load_origin
from evalkit.performance.reviews import load_reviews
from evalkit.records import Outcome, ReviewedRun
from evalkit.sandbox.engine import fuel_schedule

if TYPE_CHECKING:  # importing the store costs a second, and the workers of a pool never need it
    from evalkit.store import Store

__all__ = [
    "file_for_review",
    "find_solutions",
    "job_key",
    "plan_sweep",
    "record_reviews",
    "store_graded",
    "sweep_case",
]


def find_solutions(case: Case | Path | str) -> list[Path]:
    """Every folder below the case's `solutions/` that holds a `solution.toml`, in the order of their names.

    `case` is an opened one, a path or `slug[@version]`. Raises UsageError and AuthoringError as `open_case` does.
    """
    case = case if isinstance(case, Case) else open_case(case)
    found: list[Path] = []
    for folder in sorted(path.parent for path in (case.root / "solutions").rglob("solution.toml")):
        if not any(outer in folder.parents for outer in found):  # what lies inside a solution is part of it
            found.append(folder)
    return found


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
        except (EvalkitError, OSError, ValueError) as error:  # one hostile folder stops nobody else's run
            failed += [FailedJob(str(folder), " ".join(str(error).split()))] * attempts
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
    store: Store | Path | str | None = None,
    solutions: Sequence[Path | str] | None = None,
    variant: str | None = None,
    attempts: int = 1,
    jobs: int = 2,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> SweepReport:
    """Grade every solution that the store does not hold yet, `jobs` at a time, storing each run as it ends.

    `case`: loaded, or a path or `slug[@version]`; `store`: open, or a path or URL (default: the local one).
    `solutions` defaults to those filed under the case. A run that was stored `ungraded` is tried again as a new
    attempt. The runs of a reviewed case are filed for review, with the reviews recorded beside it. Raises
    AuthoringError for a broken case, UsageError for an unknown variant.
    """
    loaded = case if isinstance(case, Case) else open_case(case)
    with opened(store) as kept:
        return _sweep(loaded, kept, solutions, variant, attempts, jobs, scheduler, progress)


def _sweep(
    loaded: Case,
    store: Store,
    solutions: Sequence[Path | str] | None,
    variant: str | None,
    attempts: int,
    jobs: int,
    scheduler: str | None,
    progress: Progress | None,
) -> SweepReport:
    plan = plan_sweep(loaded, store=store, solutions=solutions, variant=variant, attempts=attempts)
    results: Iterator[JobResult[Any]]
    if loaded.is_performance:
        seconds = _longest(loaded)
        results = run_jobs(grade_solution, plan.grid, workers=jobs, seconds=seconds, scheduler=scheduler)
    else:
        results = (JobResult(name, _reviewed_run(**job)) for name, job in plan.grid.items())
    keep = store.add if not loaded.is_performance else lambda graded: store_graded(store, graded)
    report = gather(plan, results, keep, progress)
    if not loaded.is_performance:
        record_reviews(store, loaded)
    return report


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


def store_graded(store: Store, graded: Graded) -> bool:
    """Store a run with its module; False where it is there. The same source with another module is a warning."""
    run = graded.run
    before = store.find(run.run_id)
    if run.outcome is Outcome.UNGRADED and before is not None and before.to_json().get("outcome") != run.outcome:
        raise MachineError(f"this machine could not grade it: {run.detail}; run {run.run_id} stays as it was")
    others = store.module_digests(run.solution_digest) - {run.module_digest}
    if graded.module is not None and others:
        warning = f"the same source built another module before ({min(others)[:12]}…): its build is not reproducible"
        run = replace(run, warnings=(*run.warnings, warning))
    return store.add(run, graded.module)


def _longest(case: Case) -> float:
    """Seconds after which a job cannot be alive any more but by a fault: every guard inside it at its limit."""
    assert case.sandbox is not None
    return 2 * BuildLimits().seconds + len(case.inputs) * (case.sandbox.wall_limit_s + 10) + 120
