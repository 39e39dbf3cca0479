"""Why: `evalkit verify` replays each run in a process of its own, many at once, and records what that said."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.cli.keeping import open_store
from evalkit.cli.output import emit, figure, line, note
from evalkit.errors import EvalkitError, ReplayError, UsageError
from evalkit.season.manifest import open_season
from evalkit.season.replays import load_bytes, read_replay
from evalkit.season.season import Season
from evalkit.season.verifying import Verification

if TYPE_CHECKING:
    from evalkit.store import Store

__all__ = ["verify"]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A replay to verify: its bytes, and its season's folder, or why that is not even tried."""

    file: str
    data: bytes = b""
    folder: Path | None = None
    refused: str | None = None


def verify(arguments: Namespace) -> int:
    """0 where every replay verifies, 1 where one does not, 2 where one could not be tried."""
    from evalkit.jobs import record_verification, verify_replays

    if bool(arguments.replays) is arguments.all:
        raise UsageError("name replays, or ask for --all of the store's")
    with ExitStack() as leaving:
        store = _store(arguments, leaving)
        wanted = list(_stored(arguments, store) if arguments.all else _named(arguments, store))
        found = {w.file: Verification(verified=False, refused=w.refused) for w in wanted if w.refused is not None}
        data = {w.file: w.data for w in wanted}
        jobs: dict[str, tuple[bytes | Path, Path]] = {
            w.file: (w.data, w.folder) for w in wanted if w.folder is not None
        }
        for result in verify_replays(jobs, jobs=arguments.jobs):
            answer = result.value or Verification(verified=None, refused=result.error)
            found[result.name] = answer
            if store is not None:
                record_verification(store, answer, data[result.name])
    rows = [_document(w.file, found[w.file]) for w in wanted]
    emit(arguments, rows, [_said(row) for row in rows] or ["no replays in the store"])
    if any(row["verified"] is None for row in rows):
        note("some replays could not be played here, which says nothing of them")
        return 2
    return 0 if all(row["verified"] for row in rows) else 1


def _store(arguments: Namespace, leaving: ExitStack) -> Store | None:
    """The store, for `--all` and to record results in; none where nobody named one and there is none."""
    from evalkit.store import default_path

    if not (arguments.all or arguments.store or os.environ.get("EVALKIT_STORE") or default_path().exists()):
        return None
    return leaving.enter_context(open_store(arguments, create=False))


def _stored(arguments: Namespace, store: Store | None) -> Iterator[_Wanted]:
    known: dict[str, Season | EvalkitError] = {}
    assert store is not None
    slug, _, version = (arguments.season or "").partition("@") if arguments.season else ("", "", "")
    by_name = slug and not Path(arguments.season).exists()
    filters = {"season": slug, "season_version": version or None} if by_name else {}
    for run in store.runs(kind="season", include_voided=False, **filters):
        if store.has_replay(run.run_id):
            yield _found(run.run_id, store.replay(run.run_id), arguments, known)


def _named(arguments: Namespace, store: Store | None) -> Iterator[_Wanted]:
    known: dict[str, Season | EvalkitError] = {}
    for name in dict.fromkeys(arguments.replays):
        if store is not None and not Path(name).exists() and _is_id(name):
            yield _found(name, store.replay(name), arguments, known)
        elif not Path(name).exists():
            raise UsageError(f"{line(name)}: there is no such file" + ("" if store else ", and no store to look in"))
        else:
            try:
                yield _found(name, load_bytes(name), arguments, known)
            except ReplayError as error:
                yield _Wanted(name, refused=str(error))


def _is_id(name: str) -> bool:
    return 4 <= len(name) <= 16 and not set(name) - set("0123456789abcdef")


def _found(file: str, data: bytes, arguments: Namespace, known: dict[str, Season | EvalkitError]) -> _Wanted:
    try:
        header = read_replay(data).header
    except ReplayError as error:
        return _Wanted(file, refused=str(error))
    ref = arguments.season or header.season
    if ref not in known:
        try:
            known[ref] = open_season(ref)
        except EvalkitError as error:
            known[ref] = error
    season = known[ref]
    if isinstance(season, EvalkitError):
        if arguments.season:
            raise season
        return _Wanted(file, refused=f"its season is not at hand: {season}; name it with --season")
    return _Wanted(file, data, season.root)


def _document(file: str, answer: Verification) -> dict[str, Any]:
    drift = None if answer.drift is None else asdict(answer.drift)
    known = {"verified": answer.verified, "drift": drift, "score": answer.score, "refused": answer.refused}
    return {"file": file, **known}


def _said(row: dict[str, Any]) -> str:
    name = line(row["file"])
    if row["refused"] is not None:
        return f"{name}: {'refused' if row['verified'] is False else 'not played'}: {line(row['refused'])}"
    if (drift := row["drift"]) is not None:
        return f"{name}: drifts at decision {drift['decision']}, tick {drift['tick']:,}: {line(drift['what'])}"
    return f"{name}: verified, score {figure(row['score'], '.2f')}"
