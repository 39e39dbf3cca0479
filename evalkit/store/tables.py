"""Why: how runs lie in a database, so that another kind of run fits in later and leaves these tables alone.

`runs` holds what any kind of run has, with the record itself as canonical JSON; a table per kind repeats the facts that
queries ask for. What changes after a run was stored, being voided, reviewed or verified, stands beside its record.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

__all__ = [
    "METADATA", "VERSION", "case_runs", "inputs", "meta", "modules", "replays", "reviews", "runs", "season_runs",
    "turns", "verifications",
]  # fmt: skip

VERSION = "1"
"""Of the tables; another version is refused. New tables for a new kind of run do not change it."""

METADATA = sa.MetaData()


def _run_id(**more: Any) -> sa.Column[str]:
    return sa.Column("run_id", sa.String(16), sa.ForeignKey("runs.run_id"), primary_key=True, **more)


meta = sa.Table(
    "meta", METADATA,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)  # fmt: skip

runs = sa.Table(
    "runs", METADATA,
    sa.Column("run_id", sa.String(16), primary_key=True),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("job", sa.String(64), nullable=False, index=True),  # digest of the job key without its attempt
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("recorded_at", sa.DateTime, nullable=False),  # UTC, for order; the record keeps its own text
    sa.Column("voided", sa.Text),
    sa.Column("record", sa.Text, nullable=False),
)  # fmt: skip

case_runs = sa.Table(
    "case_runs", METADATA,
    _run_id(),
    sa.Column("case", sa.Text, nullable=False),
    sa.Column("version", sa.Text, nullable=False),
    sa.Column("variant", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("solution_digest", sa.String(64), nullable=False, index=True),
    # The rest exists for performance runs only.
    sa.Column("outcome", sa.String(16)),
    sa.Column("reason", sa.Text),
    sa.Column("correct", sa.Boolean),
    sa.Column("total_fuel", sa.BigInteger),
    sa.Column("fuel_limit", sa.BigInteger),
    sa.Column("fuel_schedule", sa.Text),
    sa.Column("engine", sa.Text),
    sa.Column("module_digest", sa.String(64)),
)  # fmt: skip

inputs = sa.Table(
    "inputs", METADATA,
    _run_id(),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("behaviour", sa.Text),
    sa.Column("outcome", sa.String(16), nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("fuel", sa.BigInteger),
    sa.Column("runway_limit", sa.BigInteger, nullable=False),
    sa.Column("overshoot_percent", sa.Double),
    sa.Column("first_mismatch_tick", sa.BigInteger),
)  # fmt: skip

reviews = sa.Table("reviews", METADATA, _run_id(), sa.Column("review", sa.Text, nullable=False))

modules = sa.Table(
    "modules", METADATA,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("wasm", sa.LargeBinary(2**31 - 1), nullable=False),
)  # fmt: skip

season_runs = sa.Table(
    "season_runs", METADATA,
    _run_id(),
    sa.Column("season", sa.Text, nullable=False),
    sa.Column("season_version", sa.Text, nullable=False),
    sa.Column("season_digest", sa.String(64), nullable=False, index=True),
    sa.Column("level", sa.Text, nullable=False),
    sa.Column("difficulty", sa.Text, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("agent_digest", sa.String(64), nullable=False),
    sa.Column("reference", sa.String(16)),
    sa.Column("objectives_done", sa.BigInteger, nullable=False),
    sa.Column("objectives_total", sa.BigInteger, nullable=False),
    sa.Column("completed", sa.Boolean, nullable=False),
    sa.Column("died", sa.Boolean, nullable=False),
    sa.Column("time_s", sa.Double),
    sa.Column("decisions", sa.BigInteger, nullable=False),
    sa.Column("decision_budget", sa.BigInteger),
    sa.Column("ticks", sa.BigInteger, nullable=False),
    sa.Column("tokens", sa.BigInteger),
    sa.Column("dollars", sa.Double),
    sa.Column("dollar_cap", sa.Double),
    sa.Column("ended_by", sa.String(16), nullable=False),
    sa.Column("ungraded", sa.Text),
    sa.Column("game_digest", sa.String(64), nullable=False),
    sa.Column("engine", sa.Text, nullable=False),
    sa.Column("fuel", sa.BigInteger),
    sa.Column("replay_digest", sa.String(64)),
)  # fmt: skip

replays = sa.Table("replays", METADATA, _run_id(), sa.Column("replay", sa.LargeBinary(2**31 - 1), nullable=False))

turns = sa.Table("turns", METADATA, _run_id(), sa.Column("turns", sa.LargeBinary(2**31 - 1), nullable=False))

verifications = sa.Table(
    "verifications", METADATA,
    _run_id(),
    sa.Column("verified", sa.Boolean, nullable=False),
    sa.Column("verified_at", sa.String(40), nullable=False),
    sa.Column("verified_on", sa.Text, nullable=False),
    sa.Column("drift", sa.Text),
)  # fmt: skip
