"""Why: a replay is the proof of a run; it has one byte form, and what is not that form is refused, never guessed at.

::

    {"claims": {…}, "decisions": [{"action", "hash", "ticks"}, …], "hash": h_end, "header": {…}}

in canonical JSON. With H = SHA-256 and S = the full state (memory, mutable globals, disk):
`h0 = H("evalkit-replay-1" || header || S after the intro)`, `h_i = H(h_{i-1} || i as u32 || a pad byte for each tick
asked for || S)`, `h_end = H(h_n || claims)`. The chain binds all of it against accident and partial edits. It has no
key: whoever writes a whole file anew computes it anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import struct
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from evalkit._consistency import INT64, is_name
from evalkit.errors import ReplayError
from evalkit.reading import printable
from evalkit.records import canonical, digest_id
from evalkit.sandbox.console import Console

__all__ = [
    "MAX_BYTES",
    "MAX_DECISIONS",
    "SCHEMA",
    "Chain",
    "Claims",
    "Decision",
    "Header",
    "Replay",
    "load_bytes",
    "read_replay",
]

SCHEMA = "evalkit-replay-1"
MAX_BYTES = 16 << 20
"""Of a replay; a run of 100,000 decisions fits."""
MAX_DECISIONS = 100_000
_TOO_MANY = f"more than the {MAX_BYTES:,} that a replay may have"
_INDEX = struct.Struct("<I")


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a run began with: whose game and season, which cell, and who played. `boot` is the disk in hex."""

    schema: str = SCHEMA
    season: str
    season_version: str
    season_digest: str
    game_digest: str
    boot: str
    cheats: tuple[str, ...]
    level: str
    difficulty: str
    seed: int
    intro_ticks: int
    agent: str
    agent_digest: str
    attempt: int
    reference: str | None

    @property
    def run_id(self) -> str:
        """The id of the run that this replay is of."""
        names = (self.season_digest, self.level, self.difficulty, str(self.seed), self.agent, self.agent_digest)
        return digest_id((*names, str(self.attempt)))

    def canonical(self) -> bytes:
        """As it enters the chain."""
        return canonical({**asdict(self), "cheats": list(self.cheats)})


@dataclass(frozen=True, slots=True)
class Decision:
    """An action held for a number of ticks that it allows, and the chain's hash after it."""

    action: str
    ticks: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What a run says of itself. The game shows all but `tokens`, `dollars`, `dollar_cap`, and an end by that cap."""

    objectives_done: int
    objectives_total: int
    completed: bool
    died: bool
    time_s: float | None
    ticks: int
    decisions: int
    ended_by: str
    tokens: int | None
    dollars: float | None
    dollar_cap: float | None

    def canonical(self) -> bytes:
        """As they enter the chain."""
        return canonical(asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """One run's proof."""

    header: Header
    decisions: tuple[Decision, ...]
    claims: Claims
    hash: str

    def to_bytes(self) -> bytes:
        """The file."""
        rows = [{"action": row.action, "ticks": row.ticks, "hash": row.hash} for row in self.decisions]
        header, claims = json.loads(self.header.canonical()), asdict(self.claims)
        return canonical({"header": header, "decisions": rows, "claims": claims, "hash": self.hash})


class Chain:
    """The chained hash of a run while it is being played."""

    def __init__(self, console: Console, header: Header) -> None:
        self._console = console
        self._value = console.state_hash(SCHEMA.encode(), header.canonical())

    def add(self, number: int, pads: bytes) -> str:
        """Take in decision `number`, counted from 1, and the state that it led to."""
        self._value = self._console.state_hash(self._value, _INDEX.pack(number), pads)
        return self._value.hex()

    def end(self, claims: Claims) -> str:
        """The last hash."""
        return hashlib.sha256(self._value + claims.canonical()).hexdigest()


def load_bytes(path: Path | str) -> bytes:
    """Read a replay's file. Raises ReplayError where it is none or too large to be one; nothing is read then."""
    try:
        # What is looked at is what is read: one descriptor, whose opening never waits for a pipe's other end.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise ReplayError(f"{printable(path)}: cannot be read: it is no regular file")
            if found.st_size > MAX_BYTES:
                raise ReplayError(f"{printable(path)}: {found.st_size:,} bytes, {_TOO_MANY}")
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise ReplayError(f"{printable(path)}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > MAX_BYTES:
        raise ReplayError(f"{printable(path)}: {_TOO_MANY}")
    return data


def read_replay(data: bytes) -> Replay:
    """Read a replay's bytes. Raises ReplayError, in one line, for whatever is not the one form of a replay."""
    if len(data) > MAX_BYTES:
        raise ReplayError(f"{len(data):,} bytes, {_TOO_MANY}")
    document = _json(data)
    _shape("the replay", document, _DOCUMENT)
    header, claims, rows = document["header"], document["claims"], document["decisions"]
    if isinstance(header, dict) and header.get("schema") != SCHEMA:
        raise ReplayError(f"it is of schema {_said(header.get('schema'))}; this kit reads {SCHEMA}")
    _shape("header", header, _HEADER)
    _shape("claims", claims, _CLAIMS)
    if len(rows) > MAX_DECISIONS:
        raise ReplayError(f"decisions: {len(rows):,}, more than the {MAX_DECISIONS:,} that a replay may have")
    for number, row in enumerate(rows, 1):
        _shape(f"decision {number}", row, _DECISION)
    return Replay(
        header=Header(**{**header, "cheats": tuple(header["cheats"])}),
        decisions=tuple(Decision(**row) for row in rows),
        claims=Claims(**claims),
        hash=document["hash"],
    )


def _json(data: bytes) -> Any:
    try:
        document = json.loads(data.decode("utf-8"), object_pairs_hook=_object, parse_constant=_constant)
        same = canonical(document) == data
    except UnicodeDecodeError as error:
        raise ReplayError(f"it is not UTF-8 text (byte {error.start})") from None
    except RecursionError:
        raise ReplayError("it is nested too deeply to be a replay") from None
    except ValueError as error:
        raise ReplayError(f"it is not JSON, cut short or with more behind its end: {printable(error)}") from None
    if not same:
        raise ReplayError("it is not in canonical form (sorted keys, no spaces, one spelling of every value)")
    return document


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ReplayError(f"it names the key {_said(key)} twice")
            seen.add(key)
    return found


def _constant(word: str) -> Any:
    raise ReplayError(f"it holds {word}, which is no JSON")


def _said(value: Any) -> str:
    return printable(json.dumps(value), 60)


Check = tuple[Callable[[Any], bool], str]


def _shape(what: str, found: Any, checks: Mapping[str, Check]) -> None:
    if not isinstance(found, dict):
        raise ReplayError(f"{what}: must be an object, not {_said(found)}")
    for key in sorted(found.keys() - checks.keys()):
        raise ReplayError(f"{what}: {_said(key)} is no known key")
    for key, (holds, words) in checks.items():
        if key not in found:
            raise ReplayError(f"{what}: {key} is missing")
        if not holds(found[key]):
            raise ReplayError(f"{what}: {key} must be {words}, not {_said(found[key])}")


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < INT64


def _is_money(value: Any) -> bool:
    return value is None or (type(value) is float and 0 <= value < 1e12 and str(value)[0] != "-")


def _is_hex(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def _is_set(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_name, value)) and value == sorted({*value})


_NAME: Check = (lambda value: is_name(value) and len(value) <= 400, "a name of at most 400 characters")
_COUNT: Check = (_is_count, "a whole number from 0")
_HASH: Check = (_is_hex, "64 lower-case hex digits")
_FLAG: Check = (lambda value: isinstance(value, bool), "true or false")
_MONEY: Check = (_is_money, "a number with a point, from 0, or null")
_DOCUMENT: Mapping[str, Check] = {
    "header": (lambda value: True, ""),
    "decisions": (lambda value: isinstance(value, list), "a list"),
    "claims": (lambda value: True, ""),
    "hash": _HASH,
}
_DECISION: Mapping[str, Check] = {"action": _NAME, "ticks": _COUNT, "hash": _HASH}
_HEADER: Mapping[str, Check] = {
    "schema": _NAME,
    **dict.fromkeys(("season", "season_version", "level", "difficulty", "agent"), _NAME),
    **dict.fromkeys(("season_digest", "game_digest", "agent_digest"), _HASH),
    "boot": (lambda value: isinstance(value, str) and bool(re.fullmatch("([0-9a-f]{2}){0,1024}", value)), "hex bytes"),
    "cheats": (_is_set, "names, each once and in order"),
    "seed": _COUNT,
    "intro_ticks": _COUNT,
    "attempt": (lambda value: _is_count(value) and 0 < value < 2**31, "a whole number from 1"),
    "reference": (lambda value: value in (None, "anchor", "floor"), 'null, "anchor" or "floor"'),
}
_CLAIMS: Mapping[str, Check] = {
    **dict.fromkeys(("objectives_done", "objectives_total", "ticks", "decisions"), _COUNT),
    "completed": _FLAG,
    "died": _FLAG,
    "time_s": _MONEY,
    "ended_by": _NAME,
    "tokens": (lambda value: value is None or _is_count(value), "a whole number from 0, or null"),
    "dollars": _MONEY,
    "dollar_cap": _MONEY,
}
assert {f.name for f in fields(Header)} == set(_HEADER) and {f.name for f in fields(Claims)} == set(_CLAIMS)
