"""Why: the verbs about runs that are kept: list, show, void, export, import."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit._consistency import GRADED, UNGRADED
from evalkit.cli.output import emit, figure, line, note, table
from evalkit.cli.season_runs import Seasons, public, season_lines, season_run_lines, turn_lines
from evalkit.errors import StoreError, UsageError
from evalkit.records import Outcome, PerformanceRun, ReviewedRun, SeasonRun
from evalkit.season.known import parts_of

if TYPE_CHECKING:
    from evalkit.store import Store

__all__ = [
    "MARKS", "chosen", "export", "import_", "note_sample", "open_results", "open_store", "planning_store", "run_lines",
    "runs", "show", "show_version", "void",
]  # fmt: skip

MARKS = {
    Outcome.PASS: "pass",
    Outcome.OVER_CEILING: "over the ceiling",
    Outcome.INCORRECT: "incorrect",
    Outcome.SKIPPED: "skipped",
    Outcome.UNGRADED: "ungraded",
}


def open_store(arguments: Namespace, *, create: bool = True, writing: bool = False) -> Store:
    """The store that `--store`, `$EVALKIT_STORE` or the project names.

    With `writing`, a store that can only be read is refused here, before the work that it could not keep.
    """
    from evalkit.store import Store

    if writing and arguments.store in ("sqlite://", "sqlite:///:memory:"):
        raise StoreError(f"{arguments.store} is gone when this command ends: name a file with --store")
    store = Store.open(arguments.store, create=create)
    if writing and store.read_only:
        store.close()
        raise StoreError(f"{store.name} can only be read: name a store that can be written with --store")
    return store


def open_results(arguments: Namespace) -> Store:
    """For verbs that only look: the store, or where nobody named one and there is none the sample, which is said."""
    from evalkit.store import open_results

    note_sample(arguments)
    return open_results(arguments.store)


def note_sample(arguments: Namespace) -> None:
    """Say, beside the answer, where it is of the committed sample."""
    from evalkit.store import is_sample

    if is_sample(arguments.store):
        note("no runs are kept here yet, so this is of the committed sample, data/sample; `make report` makes your own")


def planning_store(arguments: Namespace) -> Store:
    """The store to plan against; where nobody named one and there is none an empty one, and none is made."""
    from evalkit.store import Store, default_path

    named = arguments.store or os.environ.get("EVALKIT_STORE") or default_path().exists()
    return open_store(arguments) if named else Store.open("sqlite://")


def show_version(_: Namespace) -> int:
    """The version of the kit and of its engine."""
    from evalkit import __version__
    from evalkit.sandbox.engine import engine_name, fuel_schedule

    print(f"evalkit {__version__}, {engine_name()}, fuel schedule {fuel_schedule()}")
    return 0


def chosen(arguments: Namespace, store: Store) -> list[Any]:
    """The runs that the filters leave, in recorded order."""
    slug, _, version = (arguments.case or "").partition("@")
    season, _, edition = (arguments.season or "").partition("@")
    found = store.runs(
        case=slug or None, version=version or None, model=arguments.model, season=season or None,
        season_version=edition or None, agent=arguments.agent,
    )  # fmt: skip
    if arguments.outcome is None:
        return found
    if arguments.outcome not in (known := [*Outcome, *GRADED, *UNGRADED]):
        raise UsageError(f"there is no outcome {arguments.outcome!r}: there are {', '.join(known)}")
    return [run for run in found if arguments.outcome in (getattr(run, n, None) for n in ("outcome", "ended_by"))]


def runs(arguments: Namespace) -> int:
    """A line a run."""
    with open_results(arguments) as store:
        found = chosen(arguments, store)
    head = ("run", "case", "version", "variant", "model", "outcome", "total fuel", "recorded", "")
    seasons = [run for run in found if isinstance(run, SeasonRun)]
    rows = [_row(run) for run in found if not isinstance(run, SeasonRun)]
    known = Seasons()
    lines = [*(table(head, rows) if rows or not seasons else ()), *(season_lines(seasons, known) if seasons else ())]
    emit(arguments, [public(run, known) for run in found], lines)
    return 0


def _row(run: PerformanceRun | ReviewedRun) -> list[str]:
    fuel = figure(run.total_fuel) if isinstance(run, PerformanceRun) else "-"
    when = (run.recorded_at or "-")[:16].replace("T", " ")
    names = [run.run_id, run.case, run.version, run.variant, line(run.model, 40)]
    return [*names, _said(run), fuel, when, f"voided: {line(run.voided, 60)}" if run.voided else ""]


def _said(run: PerformanceRun | ReviewedRun) -> str:
    if isinstance(run, ReviewedRun):
        return f"{run.review.score:.1f} points" if run.review else "waits for a review"
    return MARKS[run.outcome] + (f": {line(run.reason, 60)}" if run.reason else "")


def show(arguments: Namespace) -> int:
    """One run, whole."""
    with open_results(arguments) as store:
        run = store.get(arguments.run_id)
        turns = store.turns(run.run_id) if arguments.turns else None
    known = Seasons()
    text = [*(season_run_lines(run, known) if isinstance(run, SeasonRun) else run_lines(run))]
    document = public(run, known)
    if isinstance(run, SeasonRun):
        document["parts"] = parts_of(run, known)
    if arguments.turns:
        if turns is None:
            raise UsageError(f"no turns were kept of run {run.run_id}: only a model-backed agent leaves some")
        document |= {"provenance": run.provenance, "turns": turns}
        text += turn_lines(turns)
    emit(arguments, document, text)
    return 0


def run_lines(run: PerformanceRun | ReviewedRun) -> Iterator[str]:
    """A run as text: what it is, the two sections of its inputs, its number, where it came from."""
    yield f"{_said(run)}: {line(run.model)} on {run.case} {run.version} ({run.variant}), run {run.run_id}"
    if run.voided:
        yield f"  voided: {line(run.voided)}"
    if isinstance(run, PerformanceRun):
        if run.detail:
            yield f"  {line(run.detail)}"
        yield from _input_lines(run)
        yield f"  total fuel {figure(run.total_fuel)}, ceiling {figure(run.fuel_limit)} an input"
        yield f"  {run.engine}, fuel schedule {run.fuel_schedule}, module {(run.module_digest or '-')[:16]}"
        if run.reason == "build_failed" and run.build_log:
            yield from (f"  | {line(text)}" for text in run.build_log.splitlines()[-12:])
    elif run.review:
        yield f"  Verdict: {run.review.score:.1f} of 100 by {line(run.review.reviewer)}"
        yield from (f"  {line(name)}: {points:g}" for name, points in run.review.ratings.items())
        yield from (f"  {line(name)}: {'met' if met else 'not met'}" for name, met in run.review.items.items())
        yield from (f"  | {line(text)}" for text in run.review.writeup.splitlines())
    came = ", ".join(f"{name} {line(value, 100)}" for name, value in run.provenance.items() if name != "notes")
    yield f"  solution {run.solution_digest[:16]}" + (f" ({came})" if came else "")


def _input_lines(run: PerformanceRun) -> Iterator[str]:
    smoke = [row for row in run.inputs if row.kind == "smoke"]
    right = sum(row.outcome is Outcome.PASS for row in smoke)
    skipped = sum(row.outcome is Outcome.SKIPPED for row in smoke)
    if smoke:
        yield f"  smoke: {right} of {len(smoke)} right" + (f", {skipped} skipped" if skipped else "")
    for row in smoke:
        if row.outcome is Outcome.INCORRECT:
            yield f"    {MARKS[row.outcome]} {line(row.name)}: {line(row.behaviour or '')} [{line(_why(row), 160)}]"
    rows = []
    for row in run.inputs:
        if row.kind == "stress":
            over = "" if row.overshoot_percent is None else f"+{row.overshoot_percent:,.1f} %"
            rows.append([f"    {line(row.name, 40)}", MARKS[row.outcome], figure(row.fuel), over, _why(row)])
    yield from table(("  stress:", "", "fuel", "over", ""), rows) if rows else ()


def _why(row: Any) -> str:
    tick = "" if row.first_mismatch_tick is None else f" from tick {row.first_mismatch_tick:,}"
    return f"{line(row.reason or '')}{tick}{': ' if row.detail else ''}{line(row.detail or '')}"


def void(arguments: Namespace) -> int:
    """Mark runs as counting nowhere, all or none; the document is a list where several were named."""
    with open_store(arguments, create=False) as store:
        voided = store.void_all(arguments.runs, arguments.reason)
    known = Seasons()
    documents = [public(run, known) for run in voided]
    lines = [f"run {run.run_id} is voided: {line(run.voided)}" for run in voided]
    emit(arguments, documents[0] if len(arguments.runs) == 1 else documents, lines)
    return 0


def export(arguments: Namespace) -> int:
    """Write runs as plain files."""
    with open_store(arguments, create=False) as store:
        written = store.export(arguments.folder, arguments.runs)
    document = {"folder": arguments.folder, "runs": written}
    emit(arguments, document, f"{written} run{'s'[: written != 1]} written to {line(arguments.folder)}")
    return 0


def import_(arguments: Namespace) -> int:
    """Take in exported runs; 1 where any was refused."""
    if not Path(arguments.folder).is_dir():  # before a store is made for nothing
        raise UsageError(f"{line(arguments.folder)} is no folder: name one that `evalkit export` wrote")
    with open_store(arguments) as store:
        report = store.import_(arguments.folder)
    refused = [{"run_id": run_id, "why": why} for run_id, why in report.refused]
    lines = [f"refused {line(row['run_id'])}: {line(row['why'])}" for row in refused]
    lines.append(f"{report.stored} stored, {report.same} were there, {len(refused)} refused")
    emit(arguments, {"stored": report.stored, "same": report.same, "refused": refused}, lines)
    return 1 if refused else 0
