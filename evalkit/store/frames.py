"""Why: the store as tidy tables, one row a run or an input, with the same columns and dtypes when there is nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from evalkit.store.tables import case_runs, inputs, runs, season_runs, verifications

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "COUNTS", "INPUTS", "RUNS", "SEASON_RUNS", "counts_query", "inputs_query", "runs_query", "season_runs_query",
    "to_frame",
]  # fmt: skip

RUNS = {
    "run_id": "string", "case": "string", "version": "string", "variant": "string", "model": "string",
    "attempt": "int64", "outcome": "string", "reason": "string", "correct": "boolean", "total_fuel": "Int64",
    "fuel_limit": "Int64", "fuel_schedule": "string", "engine": "string", "solution_digest": "string",
    "module_digest": "string", "recorded_at": "datetime64[us, UTC]", "voided": "string",
}  # fmt: skip
INPUTS = {
    "run_id": "string", "case": "string", "version": "string", "variant": "string", "model": "string",
    "name": "string", "kind": "string", "behaviour": "string", "outcome": "string", "reason": "string",
    "fuel": "Int64", "fuel_limit": "Int64", "runway_limit": "Int64", "overshoot_percent": "Float64",
    "first_mismatch_tick": "Int64",
}  # fmt: skip
SEASON_RUNS = {
    "run_id": "string", "season": "string", "season_version": "string", "season_digest": "string", "level": "string",
    "difficulty": "string", "seed": "int64", "agent": "string", "agent_digest": "string", "attempt": "int64",
    "reference": "string", "objectives_done": "int64", "objectives_total": "int64", "completed": "bool",
    "died": "bool", "time_s": "Float64", "decisions": "int64", "decision_budget": "Int64", "ticks": "int64",
    "tokens": "Int64", "dollars": "Float64", "dollar_cap": "Float64", "ended_by": "string", "ungraded": "string",
    "game_digest": "string", "engine": "string", "fuel": "Int64", "verified": "boolean", "verified_at": "string",
    "verified_on": "string", "recorded_at": "datetime64[us, UTC]", "voided": "string",
}  # fmt: skip
COUNTS = {"case": "string", "version": "string", "variant": "string", "outcome": "string", "n": "int64"}


def runs_query() -> sa.Select[Any]:
    """Select the columns of RUNS, in recorded order."""
    table = {**dict(case_runs.c), **dict(runs.c)}
    whole = sa.select(*(table[name] for name in RUNS)).select_from(runs.join(case_runs))
    return whole.order_by(runs.c.recorded_at, runs.c.run_id)


def season_runs_query() -> sa.Select[Any]:
    """Select the columns of SEASON_RUNS, in recorded order."""
    table = {**dict(verifications.c), **dict(season_runs.c), **dict(runs.c)}
    whole = runs.join(season_runs).outerjoin(verifications, verifications.c.run_id == runs.c.run_id)
    query = sa.select(*(table[name] for name in SEASON_RUNS)).select_from(whole)
    return query.order_by(runs.c.recorded_at, runs.c.run_id)


def inputs_query() -> sa.Select[Any]:
    """Select the columns of INPUTS, runs in recorded order and inputs in the case's."""
    table = {**dict(case_runs.c), **dict(inputs.c)}
    whole = runs.join(case_runs).join(inputs, inputs.c.run_id == runs.c.run_id)
    query = sa.select(*(table[name] for name in INPUTS)).select_from(whole)
    return query.order_by(runs.c.recorded_at, runs.c.run_id, inputs.c.position)


def counts_query() -> sa.Select[Any]:
    """Select how many runs that count ended how, per case, version and variant; a reviewed run has no outcome."""
    group = [case_runs.c[name] for name in ("case", "version", "variant", "outcome")]
    query = sa.select(*group, sa.func.count().label("n")).select_from(runs.join(case_runs))
    return query.where(runs.c.voided.is_(None)).group_by(*group).order_by(*group)


def to_frame(rows: Iterable[Iterable[Any]], dtypes: dict[str, str]) -> pd.DataFrame:
    """Return rows as a DataFrame whose columns and dtypes are `dtypes`, whatever the rows hold."""
    import pandas as pd  # half a second, and most uses of a store need no table

    table = [tuple(row) for row in rows]
    columns: dict[str, pd.Series[Any]] = {}
    for place, (name, dtype) in enumerate(dtypes.items()):
        values = [row[place] for row in table]
        if dtype == "datetime64[us, UTC]":
            columns[name] = pd.Series(values, dtype="datetime64[us]").dt.tz_localize("UTC")
        else:
            columns[name] = pd.Series(values, dtype=dtype)
    return pd.DataFrame(columns)
