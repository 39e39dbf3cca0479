"""Why: a season's grid of agents and cells goes through the pool as solutions do, and so do replays to be proven.

What the store holds is not played again; an ungraded run is, as a new attempt. A worker gets an agent by reference and
a season by folder, so that a job is a few words and its process can be ended at its limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.errors import EvalkitError
from evalkit.jobs.attempts import missing_attempts, opened
from evalkit.jobs.pool import Job, JobResult, run_jobs
from evalkit.jobs.report import FailedJob, Plan, Progress, SweepReport, gather
from evalkit.season.agents import load_agent
from evalkit.season.manifest import load_season, open_season
from evalkit.season.playing import Played, play
from evalkit.season.season import Season
from evalkit.season.verifying import Verification, verify

if TYPE_CHECKING:
    from evalkit.store import Store

__all__ = ["JOB_SECONDS", "plan_season", "sweep_season", "verify_replays"]

JOB_SECONDS = 3600.0
"""After which a job of a sweep is ended: an hour is ample for 300 calls of a model."""


def plan_season(
    season: Season,
    *,
    store: Store,
    agents: Sequence[str] = ("random",),
    attempts: int = 1,
    dollar_cap: float | None = None,
) -> Plan:
    """Hold agents by every cell of the season against the store; nothing is played. An agent may fail to load."""
    grid: dict[str, Job] = {}
    failed: list[FailedJob] = []
    seen: set[tuple[str, ...]] = set()
    for who in agents:
        try:
            agent = load_agent(who, season.root)
        except EvalkitError as error:
            failed += [FailedJob(f"{who} {_cell(cell)}", str(error)) for cell in season.cells] * attempts
            continue
        for level, difficulty, seed in season.cells:
            key = (season.digest, level, difficulty, str(seed), agent.name, agent.digest)
            for attempt in () if key in seen else missing_attempts(store, key, attempts):
                name = f"{who} {_cell((level, difficulty, seed))}" + (f" (attempt {attempt})" if attempt > 1 else "")
                job = {"level": level, "difficulty": difficulty, "seed": seed, "agent": who, "attempt": attempt}
                grid[name] = {**job, "folder": season.root, "dollar_cap": dollar_cap}
            seen.add(key)
    jobs = len(agents) * len(season.cells) * attempts
    return Plan(jobs, grid, jobs - len(failed) - len(grid), tuple(failed))


def _cell(cell: tuple[str, str, int]) -> str:
    return "on {} ({}), seed {}".format(*cell)


def sweep_season(
    season: Season | Path | str,
    *,
    store: Store | Path | str | None = None,
    agents: Sequence[str] = ("random",),
    attempts: int = 1,
    dollar_cap: float | None = None,
    jobs: int = 2,
    scheduler: str | None = None,
    seconds: float = JOB_SECONDS,
    progress: Progress | None = None,
) -> SweepReport:
    """Play every cell that the store does not hold yet with every agent, `jobs` at a time, storing each as it ends.

    `season`: loaded, or a path or `slug[@version]`; `agents` by reference, as `load_agent` takes them; `dollar_cap` is
    each run's; a job is ended after `seconds`. Raises AuthoringError for a broken season.
    """
    loaded = season if isinstance(season, Season) else open_season(season)
    loaded.playable()
    with opened(store) as kept:
        plan = plan_season(loaded, store=kept, agents=agents, attempts=attempts, dollar_cap=dollar_cap)
        results = run_jobs(_play, plan.grid, workers=jobs, seconds=seconds, scheduler=scheduler)

        def keep(played: Played) -> bool:
            return kept.add(played.run, replay=played.replay)

        return gather(plan, results, keep, progress)


@cache
def _season(folder: Path) -> Season:
    """In a worker: one command's season is one season."""
    return load_season(folder)


def _play(
    folder: Path, level: str, difficulty: str, seed: int, agent: str, attempt: int, dollar_cap: float | None
) -> Played:
    return play(
        _season(folder), level=level, difficulty=difficulty, seed=seed, agent=agent, attempt=attempt,
        dollar_cap=dollar_cap,
    )  # fmt: skip


def verify_replays(
    replays: Mapping[str, tuple[bytes | Path, Path]], *, jobs: int = 2, seconds: float = JOB_SECONDS
) -> Iterator[JobResult[Verification]]:
    """Replay each (replay, its season's folder), by name, in other processes, and yield what came of it, as it ends."""
    work = {name: {"replay": replay, "folder": folder} for name, (replay, folder) in replays.items()}
    return run_jobs(_verify, work, workers=jobs, seconds=seconds)


def _verify(replay: bytes | Path, folder: Path) -> Verification:
    return verify(replay, _season(folder))
