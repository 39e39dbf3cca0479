"""Why: facts about a module that wasmtime does not tell, or that it must not be asked for, from the module's bytes.

`wasmtime-py` ends the process where it is asked for the type of a function that takes or gives `v128`.

Only for bytes that wasmtime has already accepted: nothing here validates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["EXPORT", "START", "Section", "count_exports", "has_start", "read_leb", "sections", "vector_function"]

TYPE, IMPORT, FUNCTION, EXPORT, START = 1, 2, 3, 7, 8
_FUNCTION_KIND, _TABLE_KIND, _MEMORY_KIND = 0, 1, 2
_V128 = 0x7B
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


def vector_function(wasm: bytes) -> str | None:
    """The name of an imported or exported function with v128 in its type, None where there is none."""
    bodies = {section.id: section.begin for section in sections(wasm) if section.id}
    vector = list(_vector_types(wasm, bodies[TYPE])) if TYPE in bodies else []
    if not any(vector):
        return None
    functions: list[int] = []  # the type of each, imported ones first
    if IMPORT in bodies:
        for name, type_ in _imports(wasm, bodies[IMPORT]):
            if type_ is not None:
                functions.append(type_)
                if vector[type_]:
                    return name
    if FUNCTION in bodies:
        count, at = read_leb(wasm, bodies[FUNCTION])
        for _ in range(count):
            type_, at = read_leb(wasm, at)
            functions.append(type_)
    count, at = read_leb(wasm, bodies[EXPORT]) if EXPORT in bodies else (0, 0)
    for _ in range(count):
        name, at = _name(wasm, at)
        kind = wasm[at]
        index, at = read_leb(wasm, at + 1)
        if kind == _FUNCTION_KIND and vector[functions[index]]:
            return name
    return None


def _vector_types(wasm: bytes, at: int) -> Iterator[bool]:
    """Of each type, whether v128 is in it: 0x60, then parameters, then results, each a byte."""
    count, at = read_leb(wasm, at)
    for _ in range(count):
        at, found = at + 1, False
        for _ in range(2):
            length, at = read_leb(wasm, at)
            found |= _V128 in wasm[at : at + length]
            at += length
        yield found


def _imports(wasm: bytes, at: int) -> Iterator[tuple[str, int | None]]:
    """Of each import, its name and the index of its type, which only a function has."""
    count, at = read_leb(wasm, at)
    for _ in range(count):
        where, at = _name(wasm, at)
        what, at = _name(wasm, at)
        kind, at = wasm[at], at + 1
        type_ = None
        if kind == _FUNCTION_KIND:
            type_, at = read_leb(wasm, at)
        elif kind in (_TABLE_KIND, _MEMORY_KIND):
            flags, at = read_leb(wasm, at + (kind == _TABLE_KIND))
            for _ in range(1 + (flags & 1)):
                _, at = read_leb(wasm, at)
        else:  # a global: its type, and whether it changes
            at += 2
        yield f"{where}.{what}", type_


def _name(wasm: bytes, at: int) -> tuple[str, int]:
    length, at = read_leb(wasm, at)
    return wasm[at : at + length].decode(errors="replace"), at + length
