"""Why: runs as plain files that lose nothing and diff well, and what it means that two records are of one run.

An export is a folder: `runs.jsonl`, one canonical record a line in the order of run ids, and `modules/<digest>.wasm`,
and `replays/<run id>.json` and `turns/<run id>.jsonl` as a season run left them. Those of a private run, an anchor's
route, are never written.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evalkit.errors import StoreError, UsageError
from evalkit.records import PerformanceRun, ReviewedRun, SeasonRun, canonical

__all__ = ["ImportReport", "Line", "Record", "merge", "read_export", "write_export"]

Record = PerformanceRun | ReviewedRun | SeasonRun
KINDS: dict[str, type[PerformanceRun] | type[ReviewedRun] | type[SeasonRun]] = {
    "performance": PerformanceRun,
    "reviewed": ReviewedRun,
    "season": SeasonRun,
}
RUNS = "runs.jsonl"
MODULES = "modules"
REPLAYS = "replays"
TURNS = "turns"
_MOST_MODULE_BYTES = 64 << 20
PART = ".part"
_ROUTE = b'"reference":"anchor"'
"""In a replay's one form: an anchor's. A store from before records were held to their replays may call it another's."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did: runs `stored`, runs that were there already (`same`), and `refused` ones as (run id, why).

    Where a record names no run id that can be read, its line number stands in for it.
    """

    stored: int
    same: int
    refused: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an export, read: a record with its module, replay or turns, or `why` it is refused."""

    run_id: str
    record: Record | None = None
    module: bytes | None = None
    replay: bytes | None = None
    turns: bytes | None = None
    why: str | None = None


def merge(known: Record, other: Record) -> Record:
    """Return `known` with what was said about the same run elsewhere: being voided and a review carry over.

    Raises StoreError where the two are not the same run's content, or hold different reviews.
    """
    old, new = known.content(), other.content()
    if canonical(old) != canonical(new):
        raise StoreError(
            f"run {known.run_id} is there already with other content ({_differences(old, new)}): "
            f"void it (`evalkit void {known.run_id} --reason WHY`), then play or grade again for another attempt"
        )
    if known.voided is None and other.voided is not None:
        known = replace(known, voided=other.voided)
    if isinstance(known, ReviewedRun) and isinstance(other, ReviewedRun) and other.review is not None:
        if known.review is None:
            known = replace(known, review=other.review)
        elif replace(known.review, recorded_at=None) != replace(other.review, recorded_at=None):
            raise StoreError(f"run {known.run_id} is there already with another review, by {known.review.reviewer!r}")
    return known


def _differences(old: dict[str, Any], new: dict[str, Any]) -> str:
    parts = []
    for name in sorted(old.keys() | new.keys()):
        a, b = old.get(name), new.get(name)
        if canonical(a) == canonical(b):
            continue
        if isinstance(a, list) and isinstance(b, list):
            rows = [x["name"] for x, y in zip(a, b, strict=False) if canonical(x) != canonical(y)]
            parts.append(f"{name}: {len(a)} there, {len(b)} here" if len(a) != len(b) else f"{name}: {_brief(rows)}")
        else:
            parts.append(f"{name}: {_brief(a)} there, {_brief(b)} here")
    return "; ".join(parts)


def _brief(value: Any) -> str:
    # JSON, so that no name can put a line break or an escape sequence into a message.
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."


def write_export(
    folder: Path,
    records: Iterable[Record],
    module: Callable[[str], bytes | None],
    replay: Callable[[str], bytes | None],
    turns: Callable[[str], bytes | None],
) -> int:
    """Write records, with what stands beside them, into `folder`, merged with an export there, and return how many.

    Each file is replaced whole, `runs.jsonl` last, so that an interrupted export leaves the former one readable.
    Raises StoreError, with nothing replaced, where the folder holds something else or records that would be lost.
    """
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"{folder} is a file: export into a folder")
    merged = _present(folder)
    count = 0
    for record in records:
        known = merged.get(record.run_id)
        merged[record.run_id] = record if known is None else merge(record, known)
        count += 1
    (folder / MODULES).mkdir(parents=True, exist_ok=True)
    for digest in sorted({r.module_digest for r in merged.values() if isinstance(r, PerformanceRun)} - {None}, key=str):
        target = folder / MODULES / f"{digest}.wasm"
        wasm = module(str(digest))
        if wasm is not None and not (target.exists() and target.read_bytes() == wasm):
            _replace(target, [wasm])
    for run in merged.values():
        for data, name in ((replay, f"{REPLAYS}/{run.run_id}.json"), (turns, f"{TURNS}/{run.run_id}.jsonl")):
            if (
                isinstance(run, SeasonRun)
                and not run.is_private
                and (found := data(run.run_id)) is not None
                and _ROUTE not in found
            ):
                (folder / name).parent.mkdir(exist_ok=True)
                _replace(folder / name, [found])
    _replace(folder / RUNS, (canonical(run.to_json()) + b"\n" for _, run in sorted(merged.items())))
    return count


def _present(folder: Path) -> dict[str, Record]:
    """What an export in `folder` holds; nothing for a folder that is empty, new, or was left by a first attempt."""
    if not folder.exists():
        return {}
    if not (folder / RUNS).exists():
        if any(
            entry.name not in (MODULES, REPLAYS, TURNS) and not entry.name.endswith(PART) for entry in folder.iterdir()
        ):
            raise StoreError(f"{folder} is not empty and no export: name a new folder, or one that holds {RUNS}")
        return {}
    found: dict[str, Record] = {}
    for line in read_export(folder, files=False):
        if line.record is None:
            raise StoreError(f"{folder / RUNS} holds {line.run_id}, which would be lost: {line.why}; mend or move it")
        known = found.get(line.run_id)
        found[line.run_id] = line.record if known is None else merge(known, line.record)
    return found


def _replace(target: Path, chunks: Iterable[bytes]) -> None:
    part = target.with_name(f".{target.name}.{os.getpid()}{PART}")
    try:
        with part.open("wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def read_export(folder: Path, *, files: bool = True) -> Iterator[Line]:
    """Read an export line by line, each checked on its own. Raises UsageError where the folder is no export."""
    if not (folder / RUNS).is_file():
        raise UsageError(f"{folder} is no export: it has no {RUNS}")
    with (folder / RUNS).open("rb") as file:
        # A file read as bytes ends its lines at \n alone, which canonical JSON escapes inside of text.
        for number, text in enumerate(file, start=1):
            if text.strip():
                yield _line(folder, f"line {number}", text, files)


def _line(folder: Path, place: str, text: bytes, files: bool) -> Line:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Line(place, why=f"not JSON: {error}")
    if not isinstance(data, dict):
        return Line(place, why="not a record")
    claimed = data.get("run_id")
    run_id = claimed if isinstance(claimed, str) and re.fullmatch("[0-9a-f]{16}", claimed) else place
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        return Line(run_id, why=f"unknown kind of record {_brief(kind)}: known are {', '.join(KINDS)}")
    try:
        record = KINDS[kind].from_json(data)
    except (ValueError, RecursionError) as error:
        return Line(run_id, why=str(error))
    if isinstance(record, SeasonRun):
        return _season_line(folder, record, files)
    digest = record.module_digest if isinstance(record, PerformanceRun) and files else None
    if digest is None:
        return Line(run_id, record)
    # The record's check made sure that the digest is hex, so the path cannot leave the folder.
    path = folder / MODULES / f"{digest}.wasm"
    if not path.exists():
        return Line(run_id, record)
    if not path.is_file() or path.stat().st_size > _MOST_MODULE_BYTES:  # a pipe would never end, a device neither
        return Line(run_id, why=f"its module {path.name} is no file of at most {_MOST_MODULE_BYTES >> 20} MiB")
    wasm = path.read_bytes()
    if hashlib.sha256(wasm).hexdigest() != digest:
        return Line(run_id, why=f"its module {MODULES}/{path.name} has another digest: the file was changed")
    return Line(run_id, record, wasm)


def _season_line(folder: Path, run: SeasonRun, files: bool) -> Line:
    found: dict[str, bytes] = {}
    parts = (
        ("replay", f"{REPLAYS}/{run.run_id}.json", run.replay_digest),
        ("turns", f"{TURNS}/{run.run_id}.jsonl", run.provenance.get("turns")),
    )
    for what, name, digest in parts if files else ():
        path = folder / name
        if not path.exists():
            continue
        if not path.is_file() or path.stat().st_size > _MOST_MODULE_BYTES:
            return Line(run.run_id, why=f"its {what} {path.name} is no file of at most {_MOST_MODULE_BYTES >> 20} MiB")
        found[what] = path.read_bytes()
        if hashlib.sha256(found[what]).hexdigest() != digest:
            return Line(run.run_id, why=f"its {what} {name} has another digest: the file was changed")
    return Line(run.run_id, run, replay=found.get("replay"), turns=found.get("turns"))
