"""Why: every sweep, of cases or of seasons, plans a grid, says how it goes, and ends with the same few numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evalkit.jobs.pool import Job, JobResult

__all__ = ["FailedJob", "Plan", "Progress", "SweepReport"]


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that left no run, and why."""

    job: str
    error: str


@dataclass(frozen=True, slots=True)
class SweepReport:
    """How a sweep went: jobs in the grid, runs stored now, jobs that were stored before, and the failures.

    `ungraded` are those of the stored runs that this machine could not grade.
    """

    jobs: int
    stored: int
    skipped: int
    failed: tuple[FailedJob, ...] = ()
    ungraded: int = 0


Progress = Callable[[int, int, JobResult[Any]], None]
"""Called as `progress(done, of, result)` after each job."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sweep would do: jobs in the grid, those still to run by name, those stored, and those that cannot run."""

    jobs: int
    grid: dict[str, Job]
    skipped: int
    failed: tuple[FailedJob, ...]
