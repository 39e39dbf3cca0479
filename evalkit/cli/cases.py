"""Why: the verbs that execute: check a case, grade a solution, sweep them all, regrade what is stored."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evalkit.cli.keeping import MARKS, open_store, planning_store, run_lines
from evalkit.cli.output import emit, figure, line, note, table
from evalkit.cli.seasons import season_folder, show_sweep, sweep_season
from evalkit.errors import UsageError
from evalkit.finding import find_case
from evalkit.performance.case import Case
from evalkit.performance.manifest import check_case, open_case
from evalkit.project import cases_dir
from evalkit.records import Outcome, PerformanceRun, SeasonRun
from evalkit.season.manifest import check_season

__all__ = ["check", "grade", "regrade", "sweep"]


def check(arguments: Namespace) -> int:
    """Every fault and warning of a case or season, a line each; 1 where there is an error."""
    if (season := season_folder(arguments.case)) is not None:
        folder, faults = season, check_season(season)
    else:
        folder = find_case(arguments.case, cases_dir())
        faults = check_case(folder)
    errors = sum(fault.severity == "error" for fault in faults)
    document = {
        "case": str(folder),
        "clean": not errors,
        "faults": [{"file": f.file, "key": f.key, "what": f.what, "severity": f.severity} for f in faults],
    }
    rows = [f"{'warning: ' if fault.severity == 'warning' else ''}{line(fault, 600)}" for fault in faults]
    summary = f"{line(folder)}: " + (f"{errors} error{'s'[: errors != 1]}" if errors else "clean")
    emit(arguments, document, [*rows, summary])
    return 1 if errors else 0


def grade(arguments: Namespace) -> int:
    """Grade a solution and store its run; 0 for a pass, 1 for any other grade, 2 where there is none."""
    from evalkit.jobs import attempt_number, job_key, store_graded
    from evalkit.performance.grading import grade_solution

    case = open_case(arguments.case)
    folder = Path(arguments.solution)
    if not case.is_performance:
        if arguments.unlimited:
            raise UsageError(f"--unlimited reads fuel, and {case.slug} is a reviewed case: leave it out")
        return _file_for_review(arguments, case, folder)
    if arguments.unlimited:
        run = grade_solution(case, folder, variant=arguments.variant, unlimited=True).run
        _say_ungraded([run])
        emit(arguments, run.public(), [*run_lines(run), "  read with --unlimited: nothing is stored"])
        return _status([run])
    runs = []
    with open_store(arguments, writing=True) as store:
        key = job_key(case, folder, arguments.variant)
        attempt = 0
        for wanted in range(1, arguments.attempts + 1):
            attempt = attempt_number(store, key, max(wanted, attempt + 1))
            graded = grade_solution(case, folder, variant=arguments.variant, attempt=attempt)
            store_graded(store, graded)
            stored = store.get(graded.run.run_id)
            assert isinstance(stored, PerformanceRun)
            runs.append(stored)
    documents = [run.public() for run in runs]
    emit(arguments, documents[0] if arguments.attempts == 1 else documents, [t for run in runs for t in run_lines(run)])
    if not _say_ungraded(runs, " It is stored; grading again makes a new attempt."):
        for warning in dict.fromkeys(warning for run in runs for warning in run.warnings):
            note(f"warning: {warning}")
    return _status(runs)


def _say_ungraded(runs: Sequence[PerformanceRun], more: str = "") -> bool:
    """The one line that goes with status 2: which run this machine could not grade, and why."""
    found = [run for run in runs if run.outcome is Outcome.UNGRADED]
    if found:
        others = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        note(f"run {found[0].run_id}{others} is ungraded: {found[0].detail}.{more}")
    return bool(found)


def _status(runs: list[PerformanceRun]) -> int:
    outcomes = {run.outcome for run in runs}
    return 2 if Outcome.UNGRADED in outcomes else 0 if outcomes == {Outcome.PASS} else 1


def _file_for_review(arguments: Namespace, case: Case, folder: Path) -> int:
    from evalkit.jobs import file_for_review

    with open_store(arguments, writing=True) as store:
        run = file_for_review(store, case, folder, arguments.variant)
    said = f"scored {run.review.score:.1f} by {line(run.review.reviewer)}" if run.review else "waits for a review"
    emit(arguments, run.public(), f"{line(run.model)} on {run.case} {run.version}: {said}, run {run.run_id}")
    return 0


def sweep(arguments: Namespace) -> int:
    """Grade, or play, what is not stored; 1 where a job failed."""
    from evalkit.jobs import JobResult, SweepReport, find_solutions, plan_sweep, sweep_case

    if (folder := season_folder(arguments.case)) is not None:
        return sweep_season(arguments, folder)
    case = open_case(arguments.case)
    if arguments.agents or arguments.dollar_cap or arguments.run_dollar_cap or arguments.verify:
        raise UsageError("agents, dollars and replays are of a season; a case is swept with --solutions")
    options: dict[str, Any] = {
        "solutions": arguments.solutions or find_solutions(case),
        "variant": arguments.variant,
        "attempts": arguments.attempts,
    }

    def progress(done: int, of: int, result: JobResult[Any]) -> None:
        run = getattr(result.value, "run", result.value)
        said = f"failed: {result.error}" if run is None else MARKS[run.outcome] if case.is_performance else "filed"
        note(f"{done}/{of} {result.name}: {said}")

    with planning_store(arguments) if arguments.dry_run else open_store(arguments, writing=True) as store:
        if arguments.dry_run:
            plan = plan_sweep(case, store=store, **options)
            report, runs = SweepReport(plan.jobs, 0, plan.skipped, plan.failed), list(plan.grid)
        else:
            engines = {"jobs": arguments.jobs, "scheduler": arguments.scheduler}
            report, runs = sweep_case(case, store=store, progress=progress, **engines, **options), []
    return show_sweep(arguments, report, runs)


def regrade(arguments: Namespace) -> int:
    """Grade stored modules again; 1 where an outcome or a fuel moved. None is replaced."""
    from evalkit.performance.grading import grade_module

    rows: list[dict[str, Any]] = []
    with open_store(arguments, create=False) as store:
        for old in [_regradable(store.get(name)) for name in arguments.runs]:  # all of them, before any is graded
            assert old.module_digest is not None
            case = open_case(arguments.case or old.case)
            module = store.module(old.module_digest)
            new = grade_module(case, module, old)
            kept = new.run_id != old.run_id and new.outcome is not Outcome.UNGRADED
            if kept:
                store.add(new, module)
            rows.append(_moved(old, new, kept))
    names = ("run", "new run", "outcome", "", "total fuel", "", "ratio")
    emit(arguments, rows, table(names, [_regraded(row) for row in rows]))
    if any(row["new"]["outcome"] == Outcome.UNGRADED for row in rows):
        stuck = next(row for row in rows if row["new"]["outcome"] == Outcome.UNGRADED)
        note(f"run {stuck['run_id']} could not be graded here: {stuck['detail']}")
        return 2
    return 1 if any(row["changed"] for row in rows) else 0


def _regradable(run: Any) -> PerformanceRun:
    if not isinstance(run, PerformanceRun):
        what = "of a season: `evalkit verify` replays it" if isinstance(run, SeasonRun) else "of a reviewed case"
        raise UsageError(f"run {run.run_id} is {what}, and has no module to grade again")
    if run.module_digest is None:
        raise UsageError(f"run {run.run_id} left no module ({run.reason}): grade its solution again")
    return run


def _moved(old: PerformanceRun, new: PerformanceRun, kept: bool) -> dict[str, Any]:
    facts = ("version", "outcome", "reason", "total_fuel", "fuel_schedule", "engine")
    before, after = ({name: getattr(run, name) for name in facts} for run in (old, new))
    fuels = {row.name: row.fuel for row in old.inputs}
    inputs = [{"name": row.name, "old_fuel": fuels.get(row.name), "new_fuel": row.fuel} for row in new.inputs]
    changed = (old.outcome, old.reason, fuels) != (new.outcome, new.reason, {row.name: row.fuel for row in new.inputs})
    return {
        "run_id": old.run_id,
        "new_run_id": new.run_id,
        "stored": kept,
        "changed": changed,
        "detail": new.detail,
        "old": before,
        "new": after,
        "inputs": inputs,
    }


def _regraded(row: dict[str, Any]) -> list[str]:
    old, new = row["old"], row["new"]
    ratio = new["total_fuel"] / old["total_fuel"] if old["total_fuel"] and new["total_fuel"] else None
    return [
        row["run_id"],
        row["new_run_id"] if row["stored"] else "(same)",
        old["outcome"],
        f"-> {new['outcome']}",
        figure(old["total_fuel"]),
        f"-> {figure(new['total_fuel'])}",
        figure(ratio, ".4f"),
    ]
