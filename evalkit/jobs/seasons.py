"""Why: a season's grid of agents and cells goes through the pool as solutions do, and so do replays to be proven.

What the store holds is not played again; an ungraded run is, as a new attempt. A worker gets an agent by reference and
a season by folder, so that a job is a few words and its process can be ended at its limit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from evalkit.errors import AuthoringError, EvalkitError, ReplayError, UsageError
from evalkit.jobs.attempts import missing_attempts, opened
from evalkit.jobs.pool import Job, JobResult, run_jobs
from evalkit.jobs.report import FailedJob, Plan, Progress, SweepReport, gather
from evalkit.records import SeasonRun
from evalkit.sandbox.engine import engine_name
from evalkit.season.agents import load_agent
from evalkit.season.manifest import load_season, named_season, open_season
from evalkit.season.playing import Played, check_ready, play
from evalkit.season.purse import Purse
from evalkit.season.recorded import held
from evalkit.season.replays import load_bytes, read_replay
from evalkit.season.season import Season
from evalkit.season.verifying import Verification, verify

if TYPE_CHECKING:
    from evalkit.store import Store

__all__ = ["JOB_SECONDS", "plan_season", "record_verification", "sweep_season", "verify_replays", "verify_season"]

_DAMAGED = "the replay in the store is damaged: its bytes are not the ones that were recorded"

JOB_SECONDS = 4 * 3600.0
"""After which a job of a sweep is ended: ample for 300 calls of a slow model. What it had spent is then in no run."""


def plan_season(
    season: Season,
    *,
    store: Store,
    agents: Sequence[str] = ("random",),
    attempts: int = 1,
    dollar_cap: float | None = None,
    purse: Purse | None = None,
    ready: bool = True,
) -> Plan:
    """Hold agents by every cell of the season against the store; nothing is played. An agent may fail to load.

    `dollar_cap` is each run's, `purse` that of all. Without `ready` an agent whose key is missing is planned for too.
    """
    grid: dict[str, Job] = {}
    failed: list[FailedJob] = []
    seen: set[tuple[str, ...]] = set()
    for who in agents:
        try:
            agent = load_agent(who, season.root)
            if ready:
                check_ready(agent, capped=dollar_cap is not None or purse is not None)
        except EvalkitError as error:
            failed += [FailedJob(f"{who} {_cell(cell)}", str(error)) for cell in season.cells] * attempts
            continue
        for level, difficulty, seed in season.cells:
            key = (season.digest, level, difficulty, str(seed), agent.name, agent.digest)
            for attempt in () if key in seen else missing_attempts(store, key, attempts):
                name = f"{who} {_cell((level, difficulty, seed))}" + (f" (attempt {attempt})" if attempt > 1 else "")
                job = {"level": level, "difficulty": difficulty, "seed": seed, "agent": who, "attempt": attempt}
                grid[name] = {**job, "folder": season.root, "dollar_cap": dollar_cap, "purse": purse}
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
    run_dollar_cap: float | None = None,
    jobs: int = 2,
    scheduler: str | None = None,
    seconds: float = JOB_SECONDS,
    progress: Progress | None = None,
) -> SweepReport:
    """Play every cell that the store does not hold yet with every agent, `jobs` at a time, storing each as it ends.

    `season`: loaded, or a path or `slug[@version]`; `agents` by reference, as `load_agent` takes them; a job is ended
    after `seconds`. `run_dollar_cap` ends a run, which is graded so; `dollar_cap` is what all runs of this call may
    spend together, and each alone. Where their sum reaches it, each job in flight ends, ungraded, after the call
    that it is making, and the rest are not played. Raises AuthoringError for a broken season.
    """
    loaded = season if isinstance(season, Season) else open_season(season)
    loaded.playable()
    if dollar_cap is not None and scheduler:
        raise UsageError("a sweep's dollar cap holds on one machine alone: with a scheduler, cap each run")
    with opened(store) as kept, TemporaryDirectory(prefix="evalkit-") as folder:
        purse = None if dollar_cap is None else Purse(Path(folder) / "purse.sqlite", dollar_cap)
        each = min((cap for cap in (dollar_cap, run_dollar_cap) if cap is not None), default=None)
        plan = plan_season(loaded, store=kept, agents=agents, attempts=attempts, dollar_cap=each, purse=purse)
        results = run_jobs(_play, plan.grid, workers=jobs, seconds=seconds, scheduler=scheduler)

        def keep(played: Played) -> bool:
            return kept.add(played.run, replay=played.replay, turns=played.turns)

        report = gather(plan, results, keep, progress)
        return report if purse is None else replace(report, dollar_cap=purse.cap, spent=purse.spent)


@cache
def _season(folder: Path) -> Season:
    """In a worker: one command's season is one season."""
    return load_season(folder)


def _play(
    folder: Path,
    level: str,
    difficulty: str,
    seed: int,
    agent: str,
    attempt: int,
    dollar_cap: float | None,
    purse: Purse | None,
) -> Played:
    return play(
        _season(folder), level=level, difficulty=difficulty, seed=seed, agent=agent, attempt=attempt,
        dollar_cap=dollar_cap, purse=purse,
    )  # fmt: skip


def verify_replays(
    replays: Mapping[str, tuple[bytes | Path, Path | None]], *, jobs: int = 2, seconds: float = JOB_SECONDS
) -> Iterator[JobResult[Verification]]:
    """Replay each (replay, its season's folder), by name, in other processes, and yield what came of it, as it ends.

    Without a folder the season is the one under `cases/` that the replay names. No byte of a replay is read here.
    """
    work = {name: {"replay": replay, "folder": folder} for name, (replay, folder) in replays.items()}
    return run_jobs(_verify, work, workers=jobs, seconds=seconds)


def _verify(replay: bytes | Path, folder: Path | None) -> Verification:
    try:
        read = read_replay(replay if isinstance(replay, bytes) else load_bytes(replay))
    except ReplayError as error:
        return Verification(verified=False, refused=str(error), engine=engine_name())
    try:
        season = _season(folder) if folder else _named(read.header.season, read.header.season_version)
    except (AuthoringError, UsageError) as error:
        why = f"its season is not at hand: {error}; name it with --season"
        return Verification(verified=None, refused=why, run_id=read.header.run_id)
    return verify(read, season)


@cache
def _named(slug: str, version: str) -> Season:
    return named_season(slug, version)


def record_verification(
    store: Store, answer: Verification, replay: bytes, run: SeasonRun | None = None
) -> Verification:
    """Hold what was said of a replay against the stored run with these very bytes, keep it there, and return it.

    `run` where the caller knows whose replay it is; else the one of the replay's run id. An answer that says nothing
    of the run (a machine that could not, a season that the caller named and that is another) is not kept.
    """
    run = run or _run_of(store, answer, replay)
    if run is None:
        return answer
    if hashlib.sha256(replay).hexdigest() != run.replay_digest:
        answer = Verification(verified=False, run_id=run.run_id, refused=_DAMAGED, engine=answer.engine)
    elif answer.run_id is not None:  # then the worker could read it
        answer = held(answer, run, read_replay(replay))
    other = answer.refused is not None and answer.season not in (None, f"{run.season}@{run.season_version}")
    if answer.verified is not None and not other and not store.read_only:
        drift = {"decision": 0, "tick": 0, "what": answer.refused} if answer.refused else None
        drift = asdict(answer.drift) if answer.drift else drift
        store.record_verification(run.run_id, verified=answer.verified, engine=answer.engine or "", drift=drift)
    return answer


def _run_of(store: Store, answer: Verification, replay: bytes) -> SeasonRun | None:
    run = store.find(answer.run_id) if answer.run_id is not None else None
    if (
        isinstance(run, SeasonRun)
        and store.has_replay(run.run_id)
        and store.replay(run.run_id, even_damaged=True) == replay
    ):
        return run
    return None


def verify_season(
    season: Season | Path | str, *, store: Store | Path | str | None = None, jobs: int = 2
) -> dict[str, Verification]:
    """Replay what was never replayed here of a season's stored runs, record what that said, and return it by run id."""
    loaded = season if isinstance(season, Season) else open_season(season)
    loaded.playable()
    assert loaded.root is not None
    found: dict[str, Verification] = {}
    with opened(store) as kept:
        runs = kept.runs(kind="season", include_voided=False, season=loaded.slug, season_version=loaded.version)
        waiting = {
            run.run_id: (kept.replay(run.run_id, even_damaged=True), run)
            for run in runs
            if isinstance(run, SeasonRun) and run.verified is None and kept.has_replay(run.run_id)
        }
        work: dict[str, tuple[bytes | Path, Path | None]] = {n: (data, loaded.root) for n, (data, _) in waiting.items()}
        for result in verify_replays(work, jobs=jobs):
            answer = result.value or Verification(verified=None, refused=result.error)
            found[result.name] = record_verification(kept, answer, *waiting[result.name])
    return found
