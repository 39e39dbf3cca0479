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
from evalkit.records import VERIFIED, PerformanceRun, Review, ReviewedRun, SeasonRun, canonical
from evalkit.store.files import KINDS, Record, merge
from evalkit.store.tables import case_runs, inputs, modules, replays, reviews, runs, season_runs, turns, verifications

__all__ = [
    "find", "find_module", "find_replay", "find_turns", "job_of", "load", "named", "plain", "put", "resolve",
    "select_records", "set_review", "set_verified", "set_voided",
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
    beside = [name for name in ("voided", "review", *VERIFIED) if name in data]
    record = canonical({**data, **dict.fromkeys(beside)}).decode()
    general = {"run_id": run.run_id, "kind": data["kind"], "job": job_of(run), "attempt": run.attempt}
    connection.execute(runs.insert().values(**general, recorded_at=when, voided=run.voided, record=record))
    facts = season_runs if isinstance(run, SeasonRun) else case_runs
    connection.execute(facts.insert().values({column.name: data.get(column.name) for column in facts.c}))
    if rows := data.get("inputs"):
        names = [column.name for column in inputs.c if column.name not in ("run_id", "position")]
        placed = [{name: row[name] for name in names} | {"position": n} for n, row in enumerate(rows)]
        connection.execute(inputs.insert(), [{**row, "run_id": run.run_id} for row in placed])
    if isinstance(run, ReviewedRun) and run.review is not None:
        set_review(connection, run.run_id, run.review)


def select_records() -> sa.Select[Any]:
    """Select what `load` reads, in recorded order; each kind's table is joined for conditions on its columns."""
    whole = runs
    for table in (case_runs, season_runs, reviews, verifications):
        whole = whole.outerjoin(table, table.c.run_id == runs.c.run_id)  # type: ignore[assignment]
    proofs = [verifications.c[name] for name in VERIFIED]
    columns = (runs.c.run_id, runs.c.kind, runs.c.voided, runs.c.record, reviews.c.review, *proofs)
    return sa.select(*columns).select_from(whole).order_by(runs.c.recorded_at, runs.c.run_id)


def load(row: sa.Row[Any]) -> Record:
    """Read a row of `select_records` as the record it is. Raises StoreError where the row was tampered with."""
    try:
        run = KINDS[row.kind].from_json(json.loads(row.record))
        run = replace(run, voided=row.voided)
        if isinstance(run, ReviewedRun) and row.review is not None:
            run = replace(run, review=Review(**json.loads(row.review)))
        if isinstance(run, SeasonRun) and row.verified is not None:
            found = {name: getattr(row, name) for name in VERIFIED}
            run = replace(run, **{**found, "drift": None if row.drift is None else json.loads(row.drift)})
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"run {row.run_id} is damaged in the store: {error}") from None
    return run


def put(
    connection: sa.Connection,
    run: Record,
    module: bytes | None = None,
    replay: bytes | None = None,
    said: bytes | None = None,
) -> bool:
    """Store a run that was checked before, with its module, or its replay and its turns (`said`): True if it is new.

    Raises StoreError on other content. Whether it verified is never taken over from elsewhere.
    """
    known = find(connection, run.run_id)
    merged = run if known is None else merge(known, run)
    if (
        module is not None
        and isinstance(run, PerformanceRun)
        and find_module(connection, run.module_digest or "") is None
    ):
        connection.execute(modules.insert().values(digest=run.module_digest, wasm=module))
    if known is None:
        _insert(connection, run.unverified() if isinstance(run, SeasonRun) else run)
    if replay is not None and isinstance(run, SeasonRun) and find_replay(connection, run.run_id) is None:
        connection.execute(replays.insert().values(run_id=run.run_id, replay=replay))
    # A run that was there keeps its own account of how it came about, and only turns that are of that.
    same = known is None or known.provenance.get("turns") == run.provenance.get("turns")
    if said is not None and same and find_turns(connection, run.run_id) is None:
        connection.execute(turns.insert().values(run_id=run.run_id, turns=said))
    if known is None:
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


def set_verified(connection: sa.Connection, run: SeasonRun) -> None:
    """Write what replaying a run here said, in place of what it said before."""
    connection.execute(verifications.delete().where(verifications.c.run_id == run.run_id))
    drift = None if run.drift is None else canonical(run.drift).decode()
    values = {"verified": run.verified, "verified_at": run.verified_at, "verified_on": run.verified_on, "drift": drift}
    connection.execute(verifications.insert().values(run_id=run.run_id, **values))


def find_replay(connection: sa.Connection, run_id: str) -> bytes | None:
    """Return the replay of the run with exactly this id, or None."""
    proof: bytes | None = connection.scalar(sa.select(replays.c.replay).where(replays.c.run_id == plain(run_id)))
    return proof


def find_turns(connection: sa.Connection, run_id: str) -> bytes | None:
    """Return the turns of the run with exactly this id, as JSON Lines, or None."""
    if not sa.inspect(connection).has_table(turns.name):  # an older store that may only be read
        return None
    said: bytes | None = connection.scalar(sa.select(turns.c.turns).where(turns.c.run_id == plain(run_id)))
    return said


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
