"""Why: many runs at once, where every finished one is kept and none stops the others.

`pool` runs jobs, `report` says how a sweep went, `cases` sweeps the solutions of a case.
"""

from evalkit.jobs.cases import (
    attempt_number,
    file_for_review,
    find_solutions,
    job_key,
    plan_sweep,
    store_graded,
    sweep_case,
)
from evalkit.jobs.pool import JobResult, run_jobs
from evalkit.jobs.report import FailedJob, SweepReport

__all__ = [
    "FailedJob",
    "JobResult",
    "SweepReport",
    "attempt_number",
    "file_for_review",
    "find_solutions",
    "job_key",
    "plan_sweep",
    "run_jobs",
    "store_graded",
    "sweep_case",
]
