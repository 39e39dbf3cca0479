"""Why: records become the plain rows that a chart or a table draws, in one place, with every gap kept as None."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, Literal

import pandas as pd

from evalkit.errors import UsageError
from evalkit.performance.rank import fold_model
from evalkit.records import InputResult, Outcome, PerformanceRun, ReviewedRun

__all__ = [
    "Row",
    "chosen_run",
    "graded",
    "input_rows",
    "input_to_watch",
    "is_ranked",
    "latest_cohort",
    "one_per_model",
    "over_ceiling_run",
    "overshoot_percent",
    "plain_rows",
    "stress",
    "worst_overshoot",
]

Row = dict[str, Any]

_OUTCOMES = (Outcome.PASS, Outcome.OVER_CEILING, Outcome.INCORRECT)


def plain_rows(rows: pd.DataFrame | Iterable[Any]) -> list[Row]:
    """Return rows as dictionaries of plain Python values, whatever they came as.

    Takes a DataFrame, dataclass instances, or mappings. Missing values of pandas become None, numpy numbers Python's.
    """
    if isinstance(rows, pd.DataFrame):
        rows = rows.to_dict("records")
    return [{str(key): _plain(value) for key, value in _mapping(row).items()} for row in rows]


def _mapping(row: Any) -> Mapping[Any, Any]:
    if isinstance(row, Mapping):
        return row
    if is_dataclass(row) and not isinstance(row, type):
        return asdict(row)
    raise TypeError(f"a row is a mapping or a dataclass, not {type(row).__name__}")


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, bool, int, list, tuple, dict)):
        return value
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return None
    return value.item() if hasattr(value, "item") else value


def stress(run: PerformanceRun) -> list[InputResult]:
    """Return a run's stress inputs, in the case's order."""
    return [row for row in run.inputs if row.kind == "stress"]


def overshoot_percent(fuel: int | None, ceiling: int) -> float | None:
    """Return 100 x (fuel - ceiling) / ceiling; below zero is room left, None where there is no reading or ceiling."""
    return None if fuel is None or ceiling <= 0 else 100 * (fuel - ceiling) / ceiling


def worst_overshoot(run: PerformanceRun) -> tuple[InputResult, float] | None:
    """Return the stress input that went furthest over (or came nearest to) the ceiling, with its percent.

    None where no stress input has a reading.
    """
    pairs = [(row, overshoot_percent(row.fuel, run.fuel_limit)) for row in stress(run)]
    read = [(row, percent) for row, percent in pairs if percent is not None]
    return max(read, key=lambda pair: pair[1], default=None)


def graded(runs: Iterable[PerformanceRun | ReviewedRun]) -> list[PerformanceRun]:
    """Return the performance runs that count: neither voided nor ungraded."""
    return [
        run
        for run in runs
        if isinstance(run, PerformanceRun) and run.voided is None and run.outcome is not Outcome.UNGRADED
    ]


def one_per_model(
    runs: Iterable[PerformanceRun | ReviewedRun], aliases: Mapping[str, str] | None = None
) -> list[PerformanceRun]:
    """Return the run that shows each model best: least fuel among passes, else least overshoot, else the first one.

    `aliases` maps an alias to the name it stands for. Order: passing runs by fuel, then over the ceiling, then
    incorrect. Voided and ungraded runs are left out.
    """
    best: dict[str, PerformanceRun] = {}
    for run in graded(runs):
        name = fold_model(run.model, aliases)
        if name not in best or _worth(run) < _worth(best[name]):
            best[name] = run
    return sorted(best.values(), key=lambda run: (*_worth(run), fold_model(run.model)))


def latest_cohort(
    runs: Iterable[PerformanceRun | ReviewedRun], version: str | None = None, variant: str | None = None
) -> list[PerformanceRun]:
    """Return the runs, voided and ungraded ones too, of the cohort in which a run was recorded last.

    Only one cohort is ever shown as one ranking. `version` and `variant` narrow the choice. Empty where none fits.
    """
    kept = [
        run
        for run in runs
        if isinstance(run, PerformanceRun) and version in (None, run.version) and variant in (None, run.variant)
    ]
    last = max(kept, key=lambda run: (run.recorded_at or "", run.run_id), default=None)
    return [run for run in kept if last is not None and run.cohort == last.cohort]


def is_ranked(run: PerformanceRun | None) -> bool:
    """Whether a run has a placement: it passed and is not voided."""
    return run is not None and run.total_fuel is not None and run.voided is None


def chosen_run(runs: Iterable[PerformanceRun], run_id: str | None = None) -> PerformanceRun | None:
    """Return the run of that id (or of a prefix that only one has); with None the best one, or None without runs.

    Raises UsageError where no run, or more than one, has the id.
    """
    kept = list(runs)
    if run_id is None:
        return next(iter(one_per_model(kept)), None)
    found = [run for run in kept if run_id and run.run_id.startswith(run_id)]
    if len(found) != 1:
        raise UsageError(f"{len(found) or 'no'} runs of this cohort have the id {run_id!r}; `evalkit runs` lists them")
    return found[0]


def run_to_watch(runs: Iterable[PerformanceRun], run_id: str | None = None) -> PerformanceRun:
    """Return what `chosen_run` does, for a page that is about that run. Raises UsageError where there is none."""
    run = chosen_run(runs, run_id)
    if run is None:
        raise UsageError("no graded run of this case is kept: evalkit grade CASE SOLUTION, or make report")
    return run


def over_ceiling_run(runs: Iterable[PerformanceRun | ReviewedRun]) -> PerformanceRun | None:
    """Return the run over the ceiling that came nearest to passing, or None where every right run passed."""
    return next((run for run in one_per_model(runs) if run.outcome is Outcome.OVER_CEILING), None)


def input_to_watch(run: PerformanceRun, name: str | None = None) -> str:
    """Return `name`, or with None the first stress input that the run was graded on, or else the first of all.

    Raises UsageError where the run was graded on none.
    """
    graded_on = sorted(
        (row for row in run.inputs if row.outcome is not Outcome.SKIPPED), key=lambda r: r.kind != "stress"
    )
    if name is None and not graded_on:
        raise UsageError(f"run {run.run_id} was graded on no input ({run.reason}): there is nothing to watch")
    return graded_on[0].name if name is None else name


def _worth(run: PerformanceRun) -> tuple[int, float]:
    if run.total_fuel is not None:
        return (0, float(run.total_fuel))
    worst = worst_overshoot(run)
    return (_OUTCOMES.index(run.outcome), worst[1] if worst else float("inf"))


def input_rows(runs: Iterable[PerformanceRun], kind: Literal["smoke", "stress"] = "stress") -> list[Row]:
    """Return one row per run and input of a kind, in the order given.

    Keys: run_id, model, input, position (0-based, by first appearance), outcome, reason, fuel, ceiling, runway_limit,
    overshoot_percent. Fuel is wasmtime fuel; None is "no reading".
    """
    rows: list[Row] = []
    position: dict[str, int] = {}
    for run in runs:
        for result in run.inputs:
            if result.kind != kind:
                continue
            rows.append(
                {
                    "run_id": run.run_id,
                    "model": run.model,
                    "input": result.name,
                    "position": position.setdefault(result.name, len(position)),
                    "outcome": str(result.outcome),
                    "reason": result.reason,
                    "fuel": result.fuel,
                    "ceiling": run.fuel_limit,
                    "runway_limit": result.runway_limit,
                    "overshoot_percent": overshoot_percent(result.fuel, run.fuel_limit),
                }
            )
    return rows
