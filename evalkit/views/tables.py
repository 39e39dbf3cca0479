"""Why: the tables of a performance case: exact numbers, marks in words, and a dash for what does not exist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from evalkit.records import InputResult, PerformanceRun, ReviewedRun
from evalkit.views.formats import DASH, OUTCOME_MARKS, OUTCOME_WORDS, grouped, ratio, signed_percent
from evalkit.views.frames import overshoot_percent, plain_rows, stress
from evalkit.views.grid import MOST_ROWS, Cell, Column, Table, interactive
from evalkit.views.names import short

__all__ = ["Table", "interactive", "leaderboard", "results", "runs", "smoke", "standing", "stress_results", "sweep"]

_IF_WRONG = ("first wrong tick", "detail")
_NO_RUN = "No graded run yet. Grade a solution: evalkit grade CASE SOLUTION"


def leaderboard(rows: Any, *, here: str | None = None) -> Table:
    """List models by the fuel of their best passing run.

    `rows` as `charts.leaderboard` takes them; `here` is a run id whose row stands out.
    """
    values = plain_rows(rows)
    columns = (
        Column("rank", "number"), Column("model"), Column("total fuel", "number"), Column("ratio to best", "number"),
        Column("runs", "number"), Column("best run", "mark"),
    )  # fmt: skip
    body = [
        (
            _number(row["rank"], grouped), Cell.name(str(row["model"])), _number(row["total_fuel"], grouped),
            _number(row["ratio_to_best"], ratio), _number(row["runs"], grouped), Cell(row["run_id"] or DASH),
        )
        for row in values
    ]  # fmt: skip
    at = next((i for i, row in enumerate(values) if here is not None and row["run_id"] == here), None)
    return Table(
        "Leaderboard", columns, body, here=at,
        empty="No passing run yet. Grade a solution: evalkit grade CASE SOLUTION",
        note="Each model's best passing run, by wasmtime fuel summed over the stress inputs; lower is better.",
    )  # fmt: skip


def smoke(run: PerformanceRun | None) -> Table:
    """List one run's smoke inputs by the behaviour each isolates: correct or not, and where it first went wrong."""
    inputs = [row for row in run.inputs if row.kind == "smoke"] if run else []
    columns = (Column("behaviour"), Column("input", "mark"), Column("result", "mark"),
               Column("first wrong tick", "number"),
               Column("detail", "sentence"))  # fmt: skip
    body = [
        (
            Cell(row.behaviour or DASH), Cell.name(row.name), _result(row),
            _number(row.first_mismatch_tick, grouped), Cell.name(_why(row), 160),
        )
        for row in inputs
    ]  # fmt: skip
    passed = sum(row.outcome == "pass" for row in inputs)
    return Table(
        "Smoke inputs", columns, body, empty="This run has no smoke inputs: the gate is open." if run else _NO_RUN,
        drop=_IF_WRONG,
        note=f"Correctness alone, one behaviour each; no fuel score. {passed} of {len(body)} right." if body else "",
    )  # fmt: skip


def stress_results(run: PerformanceRun | None) -> Table:
    """List one run's stress inputs: fuel, ceiling, overshoot in percent, outcome."""
    columns = (
        Column("input"), Column("fuel", "number"), Column("ceiling", "number"), Column("against ceiling", "number"),
        Column("runway limit", "number"), Column("result", "mark"), Column("first wrong tick", "number"),
        Column("detail", "sentence"),
    )  # fmt: skip
    if run is None:
        return Table("Stress inputs", columns, (), empty=_NO_RUN, drop=_IF_WRONG)
    body = []
    for row in stress(run):
        percent = overshoot_percent(row.fuel, run.fuel_limit)
        body.append(
            (
                Cell.name(row.name), _number(row.fuel, grouped), _number(run.fuel_limit, grouped),
                Cell(signed_percent(percent), percent), _number(row.runway_limit, grouped), _result(row),
                _number(row.first_mismatch_tick, grouped), Cell.name(_why(row), 160),
            )
        )  # fmt: skip
    total = f"Total {grouped(run.total_fuel)}." if run.total_fuel is not None else "No total: not every input passed."
    return Table(
        "Stress inputs", columns, body, empty="This run has no stress inputs.", searchable=False,
        drop=_IF_WRONG,
        note=f"Wasmtime fuel of one metered call each; at or under the ceiling passes. {total}",
    )  # fmt: skip


def results(run: PerformanceRun | None) -> tuple[Table, Table]:
    """Return one run's results in its two sections: smoke inputs, then stress inputs."""
    return smoke(run), stress_results(run)


def standing(run: PerformanceRun | None, place: Any) -> Table:
    """State where a run stands in its field. `place` is a placement, or None for a run that has none."""
    if run is None:
        return Table("Standing", (Column("what"), Column("value")), (), empty=_NO_RUN)
    rows: list[tuple[str, str]] = [
        ("model", run.model),
        ("run", run.run_id),
        ("outcome", _mark(run.outcome) + (f" ({run.reason})" if run.reason else "")),
        ("total fuel", grouped(run.total_fuel)),
    ]
    if place is not None:
        share = place.efficiency_percentile
        rows += [
            ("rank", f"{place.rank} of {place.field_size}"),
            ("efficiency percentile", DASH if share is None else f"{share:.1f}"),
            ("ratio to the best", ratio(place.ratio_to_best)),
            ("this model's best run", "this one" if place.is_model_best else f"{grouped(place.model_best)} fuel"),
        ]
    else:
        why = "a voided run is not placed" if run.voided is not None else "only a passing run is placed"
        rows.append(("rank", f"{DASH} ({why})"))
    body = [(Cell(name), Cell.name(value, 96)) for name, value in rows]
    return Table("Standing", (Column("what"), Column("value")), body, searchable=False)


def runs(records: Iterable[PerformanceRun | ReviewedRun]) -> Table:
    """List every run, voided and ungraded ones too; those carry their mark and count nowhere.

    Of more than 1,000 it lists 1,000, each model's first ones, says where the others are, and counts the outcomes of
    all, model by model.
    """
    columns = [
        Column("run", "mark"), Column("model"), Column("attempt", "number"), Column("result", "mark"),
        Column("detail", "sentence"), Column("total fuel", "number"), Column("worst against ceiling", "number"),
        Column("recorded", "mark"),
    ]  # fmt: skip
    records = list(records)
    scopes = [_scope(run) for run in records]
    # Version, variant and schedule take room, and are worth it only where runs differ in them.
    told = [i for i in range(3) if len({scope[i] for scope in scopes}) > 1]
    columns += [Column(("version", "variant", "fuel schedule")[i], "mark") for i in told]
    voided = sum(run.voided is not None for run in records)
    ungraded = sum(isinstance(run, PerformanceRun) and run.outcome == "ungraded" for run in records)
    body = []
    for run, scope in _most(records, scopes):
        total, worst, detail = None, None, ""
        if isinstance(run, PerformanceRun):
            readings = [overshoot_percent(row.fuel, run.fuel_limit) for row in stress(run)]
            worst = max((percent for percent in readings if percent is not None), default=None)
            total, mark = run.total_fuel, _mark(run.outcome)
            detail = " · ".join(part for part in (run.reason, run.detail) if part)
        else:
            mark = "✓ reviewed" if run.review else "○ unreviewed"
        if run.voided is not None:
            mark, detail = f"⊘ voided ({mark})", f"voided: {run.voided}" + (f" · {detail}" if detail else "")
        body.append(
            (
                Cell(run.run_id[:8], full=run.run_id), Cell.name(run.model),
                Cell(DASH if run.attempt == 1 else grouped(run.attempt), run.attempt), Cell(mark),
                Cell.name(detail, 120) if detail else Cell(DASH), _number(total, grouped),
                Cell(signed_percent(worst), worst), Cell((run.recorded_at or DASH)[:10], full=run.recorded_at),
                *(Cell.name(scope[i], 24) for i in told),
            )
        )  # fmt: skip
    note = f"{len(records):,} kept; {ungraded:,} ungraded and {voided:,} voided, which are never ranked."
    if len(body) == len(records):
        empty = "No run is kept yet. Grade a solution: evalkit grade CASE SOLUTION"
        return Table("All runs", columns, body, note=note if body else "", empty=empty, drop=_IF_ANY)
    note += f" Listed: {len(body):,}, each model's first ones; {len(records) - len(body):,} more are listed by:"
    note += f" evalkit runs --case {records[0].case}. Whole: evalkit export DIR"
    heading = f"Runs, {len(body):,} of {len(records):,}"
    return Table(heading, columns, body, note=note, drop=_IF_ANY, above=_outcomes(records))


_IF_ANY = ("attempt", "detail", "total fuel", "worst against ceiling", "recorded")
"""Columns of the list of runs that go where every cell is a dash."""
_Scoped = tuple[PerformanceRun | ReviewedRun, tuple[str, str, str]]


def _most(records: list[PerformanceRun | ReviewedRun], scopes: list[tuple[str, str, str]]) -> list[_Scoped]:
    """As many as are listed, in their order: every model's first run, its second, ..."""
    seen: Counter[str] = Counter()
    turn = []
    for run in records:
        turn.append(seen[run.model])
        seen[run.model] += 1
    chosen = sorted(range(len(records)), key=lambda place: (turn[place], place))[:MOST_ROWS]
    return [(records[place], scopes[place]) for place in sorted(chosen)]


def _outcomes(records: list[PerformanceRun | ReviewedRun]) -> Table:
    """Every run counted by its mark, a model a row: what a list that is cut can no longer show."""
    counts: dict[str, Counter[str]] = {}
    for run in records:
        mark = _mark(run.outcome) if isinstance(run, PerformanceRun) else "✓ reviewed" if run.review else "○ unreviewed"
        counts.setdefault(run.model, Counter())["⊘ voided" if run.voided is not None else mark] += 1
    marks = [*map(_mark, OUTCOME_WORDS), "✓ reviewed", "○ unreviewed", "⊘ voided"]
    columns = (Column("model"), Column("runs", "number"), *(Column(mark, "number") for mark in marks))
    body = [
        (
            Cell.name(model), _number(found.total(), grouped),
            *(_number(found[mark] or None, grouped) for mark in marks),
        )
        for model, found in counts.items()
    ]  # fmt: skip
    note = f"All {len(records):,} runs that are kept."
    return Table("Outcomes, run by run", columns, body, note=note, drop=marks)


def sweep(report: Any) -> Table:
    """List what a sweep did: its jobs, how many were stored now, skipped because stored before, and each failure.

    `report` has `jobs, stored, skipped` (counts) and `failed` (rows with `job` and `error`).
    """
    counts = [("jobs", report.jobs), ("stored now", report.stored), ("stored before, not run again", report.skipped)]
    body = [(Cell(name), Cell(grouped(count))) for name, count in [*counts, ("failed", len(report.failed))]]
    for row in plain_rows(report.failed):
        job = row["job"]
        said = ", ".join(f"{k} {v}" for k, v in job.items()) if isinstance(job, dict) else str(job)
        body.append((Cell(f"✗ {short(said, 60)}"), Cell.name(str(row["error"]), 200)))
    return Table("Sweep", (Column("what"), Column("value")), body, searchable=False)


def _scope(run: PerformanceRun | ReviewedRun) -> tuple[str, str, str]:
    return (run.version, run.variant, run.fuel_schedule[:12] if isinstance(run, PerformanceRun) else DASH)


def _mark(outcome: str) -> str:
    return f"{OUTCOME_MARKS[outcome]} {OUTCOME_WORDS[outcome]}"


def _result(row: InputResult) -> Cell:
    return Cell(_mark(row.outcome))


def _why(row: InputResult) -> str:
    return " · ".join(part for part in (row.reason, row.detail) if part) or DASH


def _number(value: float | None, shown: Any) -> Cell:
    return Cell(shown(value), None if value is None else float(value))
