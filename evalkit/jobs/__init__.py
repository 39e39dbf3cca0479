"""Why: many runs at once, where every finished one is kept and none stops the others.

`pool` runs jobs, `report` says how a sweep went, `cases` sweeps solutions, `seasons` agents, and verifies replays.
"""

from evalkit.jobs.attempts import attempt_number
from evalkit.jobs.cases import (
    file_for_review,
    find_solutions,
    job_key,
    plan_sweep,
    store_graded,
    sweep_case,
)
from evalkit.jobs.pool import JobResult, run_jobs
from evalkit.jobs.report import FailedJob, SweepReport
from evalkit.jobs.seasons import plan_season, record_verification, sweep_season, verify_replays, verify_season

__all__ = [
    "FailedJob",
    "JobResult",
    "SweepReport",
    "attempt_number",
    "file_for_review",
    "find_solutions",
    "job_key",
    "plan_season",
    "plan_sweep",
    "record_verification",
    "run_jobs",
    "store_graded",
    "sweep_case",
    "sweep_season",
    "verify_replays",
    "verify_season",
]
