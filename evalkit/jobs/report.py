"""Why: every sweep, of cases or of seasons, plans a grid, says how it goes, and ends with the same few numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from evalkit.errors import EvalkitError
from evalkit.jobs.pool import Job, JobResult
from evalkit.records import Outcome

__all__ = ["FailedJob", "Plan", "Progress", "SweepReport", "gather"]


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that left no run, and why."""

    job: str
    error: str


@dataclass(frozen=True, slots=True)
class SweepReport:
    """How a sweep went: jobs in the grid, runs stored now, jobs that were stored before, and the failures.

    `ungraded` are those of the stored runs that this machine could not grade. `spent` is what a sweep under a
    `dollar_cap` spent, in dollars, also in jobs that left no run.
    """

    jobs: int
    stored: int
    skipped: int
    failed: tuple[FailedJob, ...] = ()
    ungraded: int = 0
    dollar_cap: float | None = None
    spent: float | None = None


Progress = Callable[[int, int, JobResult[Any]], None]
"""Called as `progress(done, of, result)` after each job."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sweep would do: jobs in the grid, those still to run by name, those stored, and those that cannot run."""

    jobs: int
    grid: dict[str, Job]
    skipped: int
    failed: tuple[FailedJob, ...]


def gather(
    plan: Plan, results: Iterable[JobResult[Any]], keep: Callable[[Any], bool], progress: Progress | None
) -> SweepReport:
    """Keep each result as it comes (`keep` says whether it was new), and report when all are in."""
    failed = list(plan.failed)
    stored, ungraded, done = 0, 0, plan.jobs - len(plan.grid)
    for result in results:
        done += 1
        try:
            if result.value is not None:
                run = getattr(result.value, "run", result.value)
                ungraded += (
                    getattr(run, "ungraded", None) is not None or getattr(run, "outcome", None) is Outcome.UNGRADED
                )
                stored += keep(result.value)
        except EvalkitError as error:
            result = JobResult(result.name, error=str(error))
        if result.error is not None:
            failed.append(FailedJob(result.name, result.error))
        if progress:
            progress(done, plan.jobs, result)
    return SweepReport(plan.jobs, stored, plan.skipped, tuple(failed), ungraded)
