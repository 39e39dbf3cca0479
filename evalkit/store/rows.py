"""Why: the one way from a record to rows and back, inside of a transaction that the caller holds."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from evalkit._consistency import is_text
from evalkit.errors import StoreError, UsageError
from evalkit.records import PerformanceRun, Review, ReviewedRun, canonical
from evalkit.store.files import KINDS, Record, merge
from evalkit.store.tables import case_runs, inputs, modules, reviews, runs

__all__ = [
    "find", "find_module", "job_of", "load", "named", "plain", "put", "resolve", "select_records",
    "set_review", "set_voided",
]  # fmt: skip


def job_of(run: Record) -> str:
    """Return the SHA-256 of the job key without its attempt: what the attempts at one job share."""
    return hashlib.sha256(canonical(list(run.key[:-1]))).hexdigest()


def _insert(connection: sa.Connection, run: Record) -> None:
    """Insert every row of a run that is not there yet; the caller's transaction makes it all or none."""
    data = run.to_json()
    if run.recorded_at is None:
        raise ValueError("a run is stored with the time it was recorded at")
    when = datetime.fromisoformat(run.recorded_at).astimezone(UTC).replace(tzinfo=None)
    record = canonical({**data, "voided": None, **({"review": None} if "review" in data else {})}).decode()
    general = {"run_id": run.run_id, "kind": data["kind"], "job": job_of(run), "attempt": run.attempt}
    connection.execute(runs.insert().values(**general, recorded_at=when, voided=run.voided, record=record))
    connection.execute(case_runs.insert().values({column.name: data.get(column.name) for column in case_runs.c}))
    if rows := data.get("inputs"):
        names = [column.name for column in inputs.c if column.name not in ("run_id", "position")]
        placed = [{name: row[name] for name in names} | {"position": n} for n, row in enumerate(rows)]
        connection.execute(inputs.insert(), [{**row, "run_id": run.run_id} for row in placed])
    if isinstance(run, ReviewedRun) and run.review is not None:
        set_review(connection, run.run_id, run.review)


def select_records() -> sa.Select[Any]:
    """Select what `load` reads, in recorded order; `case_runs` is joined for conditions on its columns."""
    whole = runs.join(case_runs).outerjoin(reviews, reviews.c.run_id == runs.c.run_id)
    columns = (runs.c.run_id, runs.c.kind, runs.c.voided, runs.c.record, reviews.c.review)
    return sa.select(*columns).select_from(whole).order_by(runs.c.recorded_at, runs.c.run_id)


def load(row: sa.Row[Any]) -> Record:
    """Read a row of `select_records` as the record it is. Raises StoreError where the row was tampered with."""
    try:
        run = KINDS[row.kind].from_json(json.loads(row.record))
        run = replace(run, voided=row.voided)
        if isinstance(run, ReviewedRun) and row.review is not None:
            run = replace(run, review=Review(**json.loads(row.review)))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"run {row.run_id} is damaged in the store: {error}") from None
    return run


def put(connection: sa.Connection, run: Record, module: bytes | None) -> bool:
    """Store a run that was checked before, and its module: True if it is new. Raises StoreError on other content."""
    known = find(connection, run.run_id)
    merged = run if known is None else merge(known, run)
    if (
        module is not None
        and isinstance(run, PerformanceRun)
        and find_module(connection, run.module_digest or "") is None
    ):
        connection.execute(modules.insert().values(digest=run.module_digest, wasm=module))
    if known is None:
        _insert(connection, run)
        return True
    if merged.voided is not None and known.voided is None:
        set_voided(connection, run.run_id, merged.voided)
    if isinstance(merged, ReviewedRun) and isinstance(known, ReviewedRun) and merged.review and not known.review:
        set_review(connection, run.run_id, merged.review)
    return False


def set_voided(connection: sa.Connection, run_id: str, reason: str) -> None:
    """Write why a run counts nowhere from now on."""
    connection.execute(runs.update().where(runs.c.run_id == run_id).values(voided=reason))


def set_review(connection: sa.Connection, run_id: str, review: Review) -> None:
    """Write the review of a run in place of the one that is there."""
    connection.execute(reviews.delete().where(reviews.c.run_id == run_id))
    connection.execute(reviews.insert().values(run_id=run_id, review=canonical(asdict(review)).decode()))


def find(connection: sa.Connection, run_id: str) -> Record | None:
    """Return the run with exactly this id, or None."""
    row = connection.execute(select_records().where(runs.c.run_id == plain(run_id))).one_or_none()
    return None if row is None else load(row)


def resolve(connection: sa.Connection, prefix: str) -> str:
    """Return the one id that starts with `prefix`. Raises UsageError, with near ids, where there is none or more."""
    start = prefix.strip().lower() if isinstance(prefix, str) else ""
    if not re.fullmatch(r"[0-9a-f]{4,16}", start):
        raise UsageError(f"{prefix!r} is no run id: give at least four of its sixteen hex digits")
    column = runs.c.run_id
    # "g" sorts right behind the hex digits.
    found: list[str] = list(
        connection.scalars(sa.select(column).where(column >= start, column < start + "g").order_by(column))
    )
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{len(found)} runs start with {start}: {', '.join(found[:5])}; give more digits")
    near = difflib.get_close_matches(start, connection.scalars(sa.select(column)).all(), n=3, cutoff=0.4)
    raise UsageError(f"there is no run {start}" + (f": near are {', '.join(near)}" if near else ""))


def named(connection: sa.Connection, prefix: str) -> Record:
    """Return the run that `resolve` finds."""
    run_id = resolve(connection, prefix)
    return load(connection.execute(select_records().where(runs.c.run_id == run_id)).one())


def find_module(connection: sa.Connection, digest: str) -> bytes | None:
    """Return the module with this digest, or None. Raises StoreError where its bytes are not what they were."""
    wasm: bytes | None = connection.scalar(sa.select(modules.c.wasm).where(modules.c.digest == plain(digest)))
    if wasm is not None and hashlib.sha256(wasm).hexdigest() != digest:
        raise StoreError(f"module {digest} is damaged in the store")
    return wasm


def plain(value: str) -> str:
    """Return text that any database can be asked for; what none can hold becomes blank, which equals no key."""
    return value if is_text(value) else ""
