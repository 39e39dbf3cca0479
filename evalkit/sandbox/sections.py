"""Why: two facts about a module that wasmtime does not tell, a start section and where sections lie, from its bytes.

Only for bytes that wasmtime has already accepted: nothing here validates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["EXPORT", "START", "Section", "count_exports", "has_start", "read_leb", "sections"]

EXPORT, START = 7, 8
_HEADER = 8  # magic and version


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its id, where its header starts, and where its body lies in the module's bytes."""

    id: int
    header: int
    begin: int
    end: int


def read_leb(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned LEB128 number at `at`, and the offset behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7


def sections(wasm: bytes) -> Iterator[Section]:
    """The sections of a valid binary module, in file order."""
    at = _HEADER
    while at < len(wasm):
        size, body = read_leb(wasm, at + 1)
        yield Section(wasm[at], at, body, body + size)
        at = body + size


def count_exports(wasm: bytes) -> int:
    """How many exports the module has."""
    return next((read_leb(wasm, section.begin)[0] for section in sections(wasm) if section.id == EXPORT), 0)


def has_start(wasm: bytes) -> bool:
    """Whether instantiating the module would run code of its own, before any budget is set."""
    return any(section.id == START for section in sections(wasm))
