"""Why: a game may keep state in globals that it does not export, and a state that cannot be read cannot be saved.

`expose_globals` rewrites a module so that every mutable global of its own is exported under a name of ours. Only for
bytes that wasmtime has already accepted: nothing here validates. The digest of a game is of its bytes as they came.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evalkit.sandbox.sections import read_leb, sections

__all__ = ["GlobalType", "StateGlobal", "Unreadable", "expose_globals", "memories"]

GlobalType = Literal["i32", "i64", "f32", "f64", "v128"]

_TYPES: dict[int, GlobalType] = {0x7F: "i32", 0x7E: "i64", 0x7D: "f32", 0x7C: "f64", 0x7B: "v128"}
_IMPORT, _MEMORY, _GLOBAL, _EXPORT = 2, 5, 6, 7
_BEHIND_EXPORTS = {8, 9, 10, 11, 12}
_KIND_GLOBAL = 3
_PLAIN_OPERANDS = {0x23: 1, 0xD2: 1, 0x41: 1, 0x42: 1}  # global.get, ref.func, i32.const, i64.const: one LEB128 each
_FIXED_OPERANDS = {0x43: 4, 0x44: 8, 0xD0: 1}  # f32.const, f64.const, ref.null


class Unreadable(Exception):
    """The module keeps state that no 8 or 16 bytes can hold; the text says where."""


@dataclass(frozen=True, slots=True)
class StateGlobal:
    """A mutable global: the name it is exported by now, and its type."""

    name: str
    type: GlobalType


def memories(wasm: bytes) -> int:
    """How many memories the module defines of its own."""
    return next((read_leb(wasm, s.begin)[0] for s in sections(wasm) if s.id == _MEMORY), 0)


def expose_globals(wasm: bytes) -> tuple[bytes, tuple[StateGlobal, ...]]:
    """The module with every mutable global exported, under a short name of ours, and those globals in index order.

    Raises Unreadable where a mutable global holds a reference.
    """
    mutable = list(_mutable(wasm))
    if not mutable:
        return wasm, ()
    prefix = next(name for n in itertools.count() if (name := f"state{n}_").encode() not in wasm)
    found = tuple(StateGlobal(f"{prefix}{index}", type_) for index, type_ in mutable)
    entries = b"".join(
        _name(each.name) + bytes([_KIND_GLOBAL]) + _leb(index) for each, (index, _) in zip(found, mutable, strict=True)
    )
    return _with_exports(wasm, len(found), entries), found


def _with_exports(wasm: bytes, count: int, entries: bytes) -> bytes:
    begin = end = len(wasm)  # where the module has neither exports nor a section that stands behind them
    for section in sections(wasm):
        if section.id == _EXPORT:
            before, first = read_leb(wasm, section.begin)
            count, entries = before + count, wasm[first : section.end] + entries
            begin, end = section.header, section.end
            break
        if section.id in _BEHIND_EXPORTS:
            begin = end = min(begin, section.header)
    body = _leb(count) + entries
    return wasm[:begin] + bytes([_EXPORT]) + _leb(len(body)) + body + wasm[end:]


def _mutable(wasm: bytes) -> Iterator[tuple[int, GlobalType]]:
    index = _imported_globals(wasm)
    for section in sections(wasm):
        if section.id != _GLOBAL:
            continue
        count, at = read_leb(wasm, section.begin)
        for position in range(index, index + count):
            type_byte, is_mutable = wasm[at], wasm[at + 1]
            if is_mutable:
                if type_byte not in _TYPES:
                    raise Unreadable(f"its mutable global {position} holds a reference, which no saved state can")
                yield position, _TYPES[type_byte]
            at = _behind_expression(wasm, at + 2)


def _imported_globals(wasm: bytes) -> int:
    for section in sections(wasm):
        if section.id != _IMPORT:
            continue
        found = 0
        count, at = read_leb(wasm, section.begin)
        for _ in range(count):
            for _ in range(2):  # module and name
                length, at = read_leb(wasm, at)
                at += length
            kind, at = wasm[at], at + 1
            if kind == 0:  # function: a type index
                _, at = read_leb(wasm, at)
            elif kind == _KIND_GLOBAL:
                found, at = found + 1, at + 2
            else:  # 1 table: an element type, then limits; 2 memory: limits
                flags, at = read_leb(wasm, at + (kind == 1))
                for _ in range(1 + (flags & 1)):
                    _, at = read_leb(wasm, at)
        return found
    return 0


def _behind_expression(wasm: bytes, at: int) -> int:
    """Behind a constant expression: instructions with known operands, up to `end`."""
    while True:
        opcode, at = wasm[at], at + 1
        if opcode == 0x0B:
            return at
        if opcode == 0xFD:  # v128.const
            _, at = read_leb(wasm, at)
            at += 16
        elif opcode in _FIXED_OPERANDS:
            at += _FIXED_OPERANDS[opcode]
        elif opcode in _PLAIN_OPERANDS:
            _, at = read_leb(wasm, at)
        # else i32.add and its like, which take nothing


def _leb(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _name(text: str) -> bytes:
    return _leb(len(text)) + text.encode()
