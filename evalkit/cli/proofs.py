"""Why: `evalkit verify` replays each run in a process of its own, many at once, and records what that said.

Whatever names a run or a season in a replay may come from anyone. Its season is looked for in `cases/` alone, and what
is recorded of a stored run holds for its record, not for its replay only.
"""

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
from evalkit.errors import ReplayError, UsageError
from evalkit.project import project_root
from evalkit.records import SeasonRun
from evalkit.season.manifest import open_season
from evalkit.season.replays import load_bytes
from evalkit.season.verifying import Verification

if TYPE_CHECKING:
    from evalkit.store import Store

__all__ = ["verify"]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A replay to verify: its bytes, or why there are none, and the stored run that it was asked for as."""

    file: str
    data: bytes = b""
    refused: str | None = None
    run: SeasonRun | None = None


def verify(arguments: Namespace) -> int:
    """0 where every replay verifies, 1 where one does not, 2 where one could not be tried."""
    from evalkit.jobs import verify_replays

    if bool(arguments.replays) is arguments.all:
        raise UsageError("name replays, or ask for --all of the store's")
    with ExitStack() as leaving:
        store = _store(arguments, leaving)
        wanted = {w.file: w for w in (_stored(arguments, store) if arguments.all else _named(arguments, store))}
        found = {w.file: Verification(verified=False, refused=w.refused) for w in wanted.values() if w.refused}
        tried = {name: w for name, w in wanted.items() if name not in found}
        folder = open_season(arguments.season).root if arguments.season and tried else None
        jobs: dict[str, tuple[bytes | Path, Path | None]] = {name: (w.data, folder) for name, w in tried.items()}
        for result in verify_replays(jobs, jobs=arguments.jobs):
            answer = result.value or Verification(verified=None, refused=result.error)
            found[result.name] = answer if store is None else _kept(store, answer, tried[result.name])
    rows = [_document(name, found[name]) for name in wanted]
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
    assert store is not None
    slug, _, version = (arguments.season or "").partition("@") if arguments.season else ("", "", "")
    by_name = slug and not Path(arguments.season).exists()
    filters = {"season": slug, "season_version": version or None} if by_name else {}
    for run in store.runs(kind="season", include_voided=False, **filters):
        if isinstance(run, SeasonRun) and store.has_replay(run.run_id):
            yield _Wanted(run.run_id, store.replay(run.run_id, even_damaged=True), run=run)


def _named(arguments: Namespace, store: Store | None) -> Iterator[_Wanted]:
    for name in dict.fromkeys(arguments.replays):
        if store is not None and not Path(name).exists() and _is_id(name):
            run, data = store.get(name), store.replay(name, even_damaged=True)
            yield _Wanted(name, data, run=run if isinstance(run, SeasonRun) else None)
        elif not Path(name).exists():
            raise UsageError(f"{line(name)}: there is no such file" + ("" if store else ", and no store to look in"))
        else:
            try:
                yield _Wanted(name, load_bytes(name))
            except ReplayError as error:
                yield _Wanted(name, refused=str(error))


def _is_id(name: str) -> bool:
    return 4 <= len(name) <= 16 and not set(name) - set("0123456789abcdef")


def _kept(store: Store, answer: Verification, wanted: _Wanted) -> Verification:
    from evalkit.jobs import record_verification

    return record_verification(store, answer, wanted.data, wanted.run)


def _document(file: str, answer: Verification) -> dict[str, Any]:
    drift = None if answer.drift is None else asdict(answer.drift)
    known = {"verified": answer.verified, "drift": drift, "score": answer.score, "refused": answer.refused}
    against = {"season": answer.season, "season_digest": answer.season_digest, "season_folder": _folder(answer)}
    return {"file": file, **known, "note": answer.note, **against}


def _folder(answer: Verification) -> str | None:
    """Where the season lies, from the project's root where it is inside."""
    if answer.season_folder is None:
        return None
    root = project_root().resolve()
    inside = answer.season_folder.is_relative_to(root)
    return (answer.season_folder.relative_to(root) if inside else answer.season_folder).as_posix()


def _said(row: dict[str, Any]) -> str:
    digest = row["season_digest"]
    against = f" (against {line(row['season_folder'])}, digest {digest[:12]})" if digest else ""
    return f"{line(row['file'])}: {_answer(row)}{against}"


def _answer(row: dict[str, Any]) -> str:
    if row["refused"] is not None:
        return f"{'refused' if row['verified'] is False else 'not played'}: {line(row['refused'])}"
    if (drift := row["drift"]) is not None:
        at = f"drifts at decision {drift['decision']}, tick {drift['tick']:,}" if drift["decision"] else "not verified"
        return f"{at}: {line(drift['what'])}"
    note = f"; {line(row['note'])}" if row["note"] else ""
    return f"verified, score {figure(row['score'], '.2f')}{note}"
