"""Why: the verbs of a season: play a level, sweep its cells, rank its agents, and rank them by other constants."""

from __future__ import annotations

import dataclasses
import os
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.cli.costs import estimate_lines, estimates
from evalkit.cli.keeping import open_store
from evalkit.cli.output import answer_apart, emit, figure, line, note, table
from evalkit.cli.season_runs import PROOF, Seasons, public, season_run_lines
from evalkit.errors import EvalkitError, ReplayError, UsageError
from evalkit.finding import find_case
from evalkit.project import cases_dir
from evalkit.reading import did_you_mean, printable
from evalkit.records import SeasonRun, digest_id
from evalkit.season.manifest import MANIFEST, load_season, open_season
from evalkit.season.score import Rules

if TYPE_CHECKING:
    from evalkit.jobs import SweepReport
    from evalkit.season.costs import Estimate
    from evalkit.season.season import Season

__all__ = ["play", "rescore", "season_board", "season_folder", "show_sweep", "sweep_season"]


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

    with open_store(arguments, writing=not arguments.dry_run) as store:
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


_SHOWN = (
    "rank", "agent", "reference", "score", "se", "cells", "cells_expected", "attempts", "verified", "decisions",
    "tokens", "dollars", "dollars_complete",
)  # fmt: skip


def _board(arguments: Namespace, folder: Path, rules: Rules | None = None) -> list[dict[str, Any]]:
    from evalkit.season.ranking import standings

    season = load_season(folder)
    with open_store(arguments, create=False) as store:
        runs = store.season_frame(include_voided=False, season=season.slug, season_version=season.version)
    rows = standings(runs, season, rules=rules, verified_only=arguments.verified_only)
    other = sum(row.other_digest for row in rows)
    if other:
        note(f"{other} of these runs were recorded under another digest of {season.slug}: its files have changed since")
    capped = int((runs["ended_by"] == "dollar_cap").sum())
    if capped:
        note(f"{capped} of these runs ended by a dollar cap: where such a run ended is only claimed")
    failed = runs[runs["ended_by"] == "agent_error"]
    for (agent, how), rows_of in failed.groupby(["agent", failed["ungraded"].map(_ending)]):
        spent, known = rows_of["dollars"].sum(), rows_of["dollars"].notna()
        said = f"; they spent {'' if known.all() else 'at least '}{spent:.4f} dollars" if spent > 0 else ""
        note(f"{agent}: {len(rows_of)} attempts {how}, and are not in its score{said}")
    versions = runs[runs["ungraded"].isna()].groupby("agent")["agent_digest"].nunique()
    for agent, number in versions[versions > 1].items():
        note(f"{agent}: runs of {number} versions of this agent count as one: name them apart, or void the old")
    return [{name: asdict(row)[name] for name in _SHOWN} for row in rows]


def _ending(why: str) -> str:
    """How an attempt ended that its agent left ungraded, by the words that playing leaves."""
    _, _, said = why.partition(": ")
    if said.startswith("the sweep's cap of "):
        return "were cut short by the sweep's cap"
    if said.startswith(("MachineError: the endpoint ", "the endpoint ")):
        return "were cut short by its endpoint"
    return "ended in a fault of its program"


def season_board(arguments: Namespace, folder: Path) -> int:
    """The agents of a season, best first."""
    rows = _board(arguments, folder)
    emit(arguments, rows, _table(rows))
    return 0


def _table(rows: Sequence[dict[str, Any]], *more: str) -> list[str]:
    head = ("rank", "agent", "score", "se", "cells", "runs", "proof", "decisions", "tokens", "dollars", *more)
    return table(head, [[*_cells(row), *(_number(row[name.replace(" ", "_")]) for name in more)] for row in rows])


def _number(value: float | None) -> str:
    """A rank is whole, a score is not."""
    return figure(value) if isinstance(value, int) else figure(value, ".2f")


def _cells(row: dict[str, Any]) -> list[str]:
    rank = str(row["rank"]) if row["rank"] else row["reference"] or "partial"
    proof = PROOF[row["verified"]]
    dollars = "unpriced" if row["dollars"] is None else f"{row['dollars']:,.2f}"
    dollars += "" if row["dollars_complete"] or row["dollars"] is None else "+?"
    cells = f"{row['cells']}/{row['cells_expected']}"
    numbers = [figure(row["score"], ".2f"), figure(row["se"], ".2f"), cells, str(row["attempts"])]
    return [rank, line(row["agent"], 60), *numbers, proof, figure(row["decisions"]), figure(row["tokens"]), dollars]


def rescore(arguments: Namespace) -> int:
    """The agents of a season by other constants, beside their official rank and score; nothing is stored."""
    folder = season_folder(arguments.case)
    if folder is None:
        find_case(arguments.case, cases_dir())
        raise UsageError("a case has no constants to change: fuel, or a review, is its score; rescore takes a season")
    rules = _changed(load_season(folder).rules, arguments.set)
    official = {row["agent"]: row for row in _board(arguments, folder)}
    rows = [
        {**row, "official_rank": official[row["agent"]]["rank"], "official_score": official[row["agent"]]["score"]}
        for row in _board(arguments, folder, rules)
    ]
    said = ", ".join(f"{field.name} {getattr(rules, field.name):g}" for field in fields(rules))
    emit(arguments, rows, [f"what if: {said}", *_table(rows, "official rank", "official score")])
    return 0


def _changed(rules: Rules, settings: Sequence[str]) -> Rules:
    known = [field.name for field in fields(rules)]
    changes: dict[str, float] = {}
    for setting in settings:
        key, _, text = setting.partition("=")
        if key not in known:
            near = did_you_mean(key, known) or f": there are {', '.join(known)}"
            raise UsageError(f'the rules have no "{printable(key)}"{near}')
        try:
            changes[key] = float(text)
        except ValueError:
            raise UsageError(f'"{printable(setting)}" sets no number: write {key}=50') from None
        if not 0 <= changes[key] < 1e9:
            raise UsageError(f"{key} must be a number from 0, not {printable(text)}")
    return dataclasses.replace(rules, **changes)
