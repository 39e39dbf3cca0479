"""Why: the verbs that compare: leaderboard, placement, and the worklist of what a person still has to compare."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from evalkit.cli.boards import season_board
from evalkit.cli.keeping import chosen, open_results
from evalkit.cli.output import emit, figure, line, table
from evalkit.cli.seasons import season_folder
from evalkit.errors import UsageError
from evalkit.performance import rank
from evalkit.performance.manifest import open_case
from evalkit.records import Outcome, PerformanceRun, SeasonRun
from evalkit.sandbox.engine import fuel_schedule

__all__ = ["leaderboard", "place", "worklist"]


def leaderboard(arguments: Namespace) -> int:
    """The models of one cohort, or the agents of a season, best first."""
    if (folder := season_folder(arguments.case)) is not None:
        if arguments.variant or arguments.schedule:
            raise UsageError("variants and fuel schedules are of a case: a season's board takes --verified-only")
        return season_board(arguments, folder)
    case = open_case(arguments.case)
    if arguments.verified_only:
        raise UsageError("--verified-only is of a season: the runs of a case have no replay; see `evalkit regrade`")
    variant = case.variant(arguments.variant).slug
    with open_results(arguments) as store:
        runs = store.runs(case=case.slug, version=case.version, variant=variant)
    if not case.is_performance:
        filed = [run for run in runs if not isinstance(run, SeasonRun)]
        scored = rank.review_leaderboard(filed, rank.project_aliases())
        reviewed = [
            [str(r.rank), line(r.model, 60), f"{r.score:.2f}", f"{r.reviewed}/{r.runs}", r.run_id] for r in scored
        ]
        names = ("rank", "model", "score", "reviewed", "best run")
        emit(arguments, [asdict(row) for row in scored], table(names, reviewed))
        return 0
    made = [run for run in runs if isinstance(run, PerformanceRun)]
    schedule = rank.choose_schedule(made, arguments.schedule, fuel_schedule())
    rows = rank.leaderboard([run for run in made if run.fuel_schedule == schedule], rank.project_aliases())
    head = ("rank", "model", "total fuel", "ratio", "runs", "best run")
    cells = [
        [str(r.rank), line(r.model, 60), figure(r.total_fuel), f"{r.ratio_to_best:.3f}", str(r.runs), r.run_id]
        for r in rows
    ]
    emit(arguments, [asdict(row) for row in rows], table(head, cells))
    return 0


def place(arguments: Namespace) -> int:
    """Where one run stands; 1 where it has no placement, because it did not pass or was voided."""
    with open_results(arguments) as store:
        run = store.get(arguments.run_id)
        if not isinstance(run, PerformanceRun):
            kind = "of a season: agents rank by their means" if isinstance(run, SeasonRun) else "of a reviewed case"
            raise UsageError(f"run {run.run_id} is {kind}: see `evalkit leaderboard`")
        runs = store.runs(kind="performance", case=run.case, version=run.version, variant=run.variant)
    names = [field for field in rank.Placement.__slots__ if field != "run_id"]
    if run.voided is not None or run.outcome is not Outcome.PASS:
        why = f"voided: {line(run.voided)}" if run.voided else f"{run.outcome}"
        nothing = {"run_id": run.run_id, **dict.fromkeys(names)}
        emit(arguments, nothing, f"run {run.run_id} has no placement ({why}): only a pass that counts is placed")
        return 1
    placed = rank.place([r for r in runs if isinstance(r, PerformanceRun)], run.run_id, rank.project_aliases())
    percentile = figure(placed.efficiency_percentile, ".1f")
    lines = [
        f"{line(run.model)}, run {run.run_id}: rank {placed.rank} of {placed.field_size}, "
        f"efficiency percentile {percentile}, {placed.ratio_to_best:.3f} x the best"
    ]
    if not placed.is_model_best:
        lines.append(f"  this model already has a better run: {figure(placed.model_best)} fuel")
    emit(arguments, asdict(placed), lines)
    return 0


def worklist(arguments: Namespace) -> int:
    """The runs that wait for a person, oldest first."""
    with open_results(arguments) as store:
        waiting = rank.worklist(chosen(arguments, store))
    cells = [[r.run_id, r.case, r.version, r.variant, line(r.model, 60), (r.recorded_at or "-")[:16]] for r in waiting]
    head = ("run", "case", "version", "variant", "model", "recorded")
    emit(arguments, [run.public() for run in waiting], table(head, cells))
    return 0
