"""Why: the verbs that play a season: one level, or every cell that is not stored yet."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.cli.costs import estimate_lines, estimates
from evalkit.cli.keeping import open_store, planning_store
from evalkit.cli.output import answer_apart, emit, line, note
from evalkit.cli.season_runs import Seasons, practice_line, public, season_run_lines
from evalkit.errors import EvalkitError, ReplayError, UsageError
from evalkit.finding import find_case
from evalkit.project import cases_dir
from evalkit.reading import printable
from evalkit.records import SeasonRun, digest_id
from evalkit.season.manifest import MANIFEST, load_season, open_season

if TYPE_CHECKING:
    from evalkit.jobs import SweepReport
    from evalkit.season.costs import Estimate
    from evalkit.season.season import Season

__all__ = ["play", "season_folder", "show_sweep", "sweep_season"]


def season_folder(ref: str) -> Path | None:
    """The folder of the season that a person typed; None where it is none (it may be a case)."""
    try:
        return find_case(ref, cases_dir(), MANIFEST)
    except UsageError:
        folder = cases_dir() / ref.partition("@")[0]
        return open_season(ref).root if "@" in ref and (folder / MANIFEST).is_file() else None


@answer_apart()
def play(arguments: Namespace) -> int:
    """Play and store; 0 whenever the runs are recorded."""
    from evalkit.jobs import attempt_number
    from evalkit.season.agents import load_agent
    from evalkit.season.playing import play as play_cell

    season = open_season(arguments.case)
    entry = season.entry(arguments.level, arguments.difficulty)
    agent = load_agent(arguments.agent, season.root)
    if arguments.replay and (arguments.reference or agent.reference) == "anchor":
        raise UsageError("an anchor's replay is the operator's route and stays in the store: leave out --replay")
    if arguments.replay and arguments.attempts > 1:
        raise UsageError("--replay is for one run: leave out --attempts")
    if agent.reference == "anchor" and arguments.reference not in (None, "anchor"):
        raise UsageError(f"{printable(agent.name)} plays an anchor's route, which is private: leave out --reference")
    runs = []
    with open_store(arguments, writing=True) as store:
        key = (season.digest, *entry.key, str(arguments.seed), agent.name, agent.digest)
        attempt = 0
        for wanted in range(1, arguments.attempts + 1):
            attempt = attempt_number(store, key, max(wanted, attempt + 1), again=agent.deterministic)
            if arguments.replay:
                _check_spot(Path(arguments.replay), digest_id((*key, str(attempt))))
            played = play_cell(
                season, level=entry.level, difficulty=entry.difficulty, seed=arguments.seed, agent=agent,
                attempt=attempt, reference=arguments.reference, cheats=arguments.cheat,
                dollar_cap=arguments.dollar_cap,
            )  # fmt: skip
            store.add(played.run, replay=played.replay, turns=played.turns)
            run = store.get(played.run.run_id)
            assert isinstance(run, SeasonRun)
            runs.append(run)
            if arguments.replay and played.replay is not None:
                _write_new(Path(arguments.replay), played.replay, run.run_id)
    known = Seasons(season)
    documents = [public(run, known) for run in runs]
    text = [part for run in runs for part in season_run_lines(run, known)]
    emit(arguments, documents[0] if arguments.attempts == 1 else documents, text)
    if arguments.json and (said := practice_line(runs[0], known)):
        note(said)
    for run in runs:
        if (illegal := run.provenance.get("illegal_choices")) is not None:
            first = run.provenance.get("first_illegal")
            note(f"run {run.run_id}: {illegal} of {run.decisions} choices were not legal: a no-op was played; {first}")
        if (lost := run.provenance.get("fault")) is not None:
            note(f"run {run.run_id}: {lost}")
        if run.ungraded is not None:
            note(f"run {run.run_id} is ungraded: {run.ungraded}; it is stored, and playing again makes a new attempt")
    return 0


def _check_spot(path: Path, run_id: str) -> None:
    """Raise UsageError where a run's replay could not be written, before the run is played."""
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise UsageError(f"{printable(path)}: no file can be written there: name another for --replay")
    if not path.exists() and not path.is_symlink():
        return
    from evalkit.season.replays import load_bytes, read_replay

    try:
        there = read_replay(load_bytes(path)).header.run_id
    except ReplayError:
        there = None
    if there != run_id:
        raise UsageError(f"{printable(path)} is there already, and no replay of this run: name another for --replay")


def _write_new(path: Path, replay: bytes, run_id: str) -> None:
    """Write a replay where nothing is. Raises UsageError where there is now anything but the same."""
    from evalkit.season.replays import load_bytes

    try:
        with path.open("xb") as file:
            file.write(replay)
    except FileExistsError:
        if load_bytes(path) != replay:
            said = f"{printable(path)} is there already with other content, and stays; run {run_id} is stored"
            raise UsageError(said) from None


@answer_apart()
def sweep_season(arguments: Namespace, folder: Path) -> int:
    """Play what is not stored, and replay it where asked to; 1 where a job failed or a replay does not verify."""
    from evalkit.jobs import JobResult, SweepReport, plan_season, verify_season
    from evalkit.jobs import sweep_season as sweep

    if arguments.solutions or arguments.variant:
        raise UsageError("solutions and variants are of a case; a season is swept with --agents")
    season = load_season(folder)
    options: dict[str, Any] = {
        "agents": tuple(arguments.agents or ("random",)),
        "attempts": arguments.attempts,
    }
    caps = {"dollar_cap": arguments.dollar_cap, "run_dollar_cap": arguments.run_dollar_cap}

    _one_can_play(season, options["agents"], capped=any(caps.values()), ready=not arguments.dry_run)

    def progress(done: int, of: int, result: JobResult[Any]) -> None:
        said = f"failed: {result.error}" if result.value is None else result.value.run.ended_by
        note(f"{done}/{of} {result.name}: {said}")

    with planning_store(arguments) if arguments.dry_run else open_store(arguments, writing=True) as store:
        if arguments.dry_run:
            plan = plan_season(season, store=store, ready=False, **options)
            costs = estimates(season, store, options["agents"], list(plan.grid.values()))
            report = SweepReport(plan.jobs, 0, plan.skipped, plan.failed)
            return show_sweep(arguments, report, list(plan.grid), costs)
        engines = {"jobs": arguments.jobs, "scheduler": arguments.scheduler}
        report = sweep(season, store=store, progress=progress, **engines, **options, **caps)
        answers = verify_season(season, store=store, jobs=arguments.jobs) if arguments.verify else {}
    status = show_sweep(arguments, report, [])
    bad = [run_id for run_id, answer in answers.items() if answer.verified is not True]
    if answers:
        failed = f"; not {', '.join(bad)}" if bad else ""
        note(f"{len(answers) - len(bad)} of {len(answers)} replays verified{failed}")
    return 1 if bad else status


def _one_can_play(season: Season, agents: Sequence[str], *, capped: bool, ready: bool) -> None:
    """Raise what is wrong with the first agent where none can play: there is nothing to sweep, and one line to say."""
    from evalkit.season.agents import load_agent
    from evalkit.season.playing import check_ready

    faults: list[EvalkitError] = []
    for who in agents:
        try:
            loaded = load_agent(who, season.root)
            if ready:
                check_ready(loaded, capped=capped)
        except EvalkitError as error:
            faults.append(error)
    if len(faults) == len(agents):
        raise faults[0]


def show_sweep(
    arguments: Namespace, report: SweepReport, planned: Sequence[str], costs: Sequence[Estimate] = ()
) -> int:
    """Print how a sweep went, of a case or of a season; 1 where a job failed or was ungraded."""
    document: dict[str, Any] = {
        "jobs": report.jobs,
        "stored": report.stored,
        "skipped": report.skipped,
        "failed": [{"job": f.job, "error": f.error} for f in report.failed],
    }
    lines = [f"would run {line(name)}" for name in planned]
    lines += [f"failed {line(f.job)}: {line(f.error)}" for f in report.failed]
    counts = f"{report.stored} stored, {report.skipped} were stored before, {len(report.failed)} failed"
    if arguments.dry_run:
        cannot = f", {len(report.failed)} cannot run" if report.failed else ""
        counts = f"{len(planned)} would run, {report.skipped} are stored already{cannot}; nothing was run"
    lines.append(f"{report.jobs} jobs: {counts}")
    if report.ungraded:
        lines.append(f"{report.ungraded} of them ungraded: machine or agent gave up; sweep again to try again")
    if arguments.dry_run:
        document["planned"] = list(planned)
    if costs:
        document["estimate"] = [asdict(row) for row in costs]
        lines += estimate_lines(costs)
    if report.spent is not None:
        document |= {"dollar_cap": report.dollar_cap, "dollars": report.spent}
        lines.append(f"{report.spent:.4f} dollars spent, of {report.dollar_cap:g}")
    emit(arguments, document, lines)
    return 1 if report.failed or report.ungraded else 0
