"""Why: runs move between stores as plain files, loss-free and checked as if a stranger had written them.

Each function works inside a transaction that the store holds; the form of the files is in `files`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa

from evalkit.errors import StoreError, UsageError
from evalkit.store import rows
from evalkit.store.files import ImportReport, read_export, write_export
from evalkit.store.intake import check_turns, ready

__all__ = ["folder_of", "take_in", "write_out"]


def folder_of(path: str | os.PathLike[str]) -> Path:
    """A folder as a path. Raises UsageError for what can name none."""
    if "\0" in os.fspath(path):
        raise UsageError(f"{os.fspath(path)!r} is no path of a folder")
    return Path(path)


def write_out(connection: sa.Connection, target: Path, wanted: Sequence[str] | None, *, modules: bool) -> int:
    """Write the runs of these ids, or all with None, as `Store.export` says; how many."""
    chosen = None if wanted is None else {rows.resolve(connection, run_id) for run_id in wanted}
    found = connection.execute(rows.select_records()).all()
    return write_export(
        target,
        (rows.load(row) for row in found if chosen is None or row.run_id in chosen),
        lambda digest: rows.find_module(connection, digest) if modules else None,
        lambda run_id: rows.find_replay(connection, run_id),
        lambda run_id: rows.find_turns(connection, run_id),
    )


def take_in(connection: sa.Connection, source: Path) -> ImportReport:
    """Store what an export holds, as `Store.import_` says; what is refused is named, and the rest goes in."""
    done = {True: 0, False: 0}
    refused = []
    for line in read_export(source):
        try:
            if line.record is None:
                raise StoreError(line.why)
            given = ready(line.record, line.module, line.replay, line.turns)
            check_turns(given, line.turns)
            done[rows.put(connection, given, line.module, line.replay, line.turns)] += 1
        except StoreError as error:
            refused.append((line.run_id, str(error)))
    return ImportReport(stored=done[True], same=done[False], refused=tuple(refused))
