"""Why: what a game does to its tables and passive segments lasts, and no saved state can hold it, so no game may.

`lasting_instruction` reads code instruction by instruction, over the operands of each. Only for bytes that wasmtime has
already accepted, by the configuration of `engine`: nothing here validates.
"""

from __future__ import annotations

from evalkit.sandbox.sections import read_leb, sections

__all__ = ["lasting_instruction"]

_TABLE, _ELEMENT, _CODE, _DATA_COUNT = 4, 9, 10, 12
_LASTING = {0xFC09: "data.drop", 0xFC0C: "table.init", 0xFC0D: "elem.drop", 0xFC0E: "table.copy",
            0xFC0F: "table.grow", 0xFC11: "table.fill", 0x26: "table.set"}  # fmt: skip

_NUMBERS = {  # how many LEB128 numbers follow; what is in no table here is followed by nothing
    **dict.fromkeys(range(0x02, 0x05), 1),  # block, loop, if
    **dict.fromkeys((0x0C, 0x0D, 0x10, *range(0x20, 0x27), 0x3F, 0x40, 0x41, 0x42, 0xD0, 0xD2), 1),
    0x11: 2,
    0xFC08: 2, 0xFC09: 1, 0xFC0A: 2, 0xFC0B: 1, 0xFC0C: 2, 0xFC0D: 1, 0xFC0E: 2, 0xFC0F: 1, 0xFC10: 1, 0xFC11: 1,
}  # fmt: skip
_BYTES = {0x43: 4, 0x44: 8, 0xFD0C: 16, 0xFD0D: 16, **dict.fromkeys(range(0xFD15, 0xFD23), 1)}
_LANES = range(0xFD54, 0xFD5C)  # loads and stores of one lane: a memory argument, then the lane
_MEMORY = {*range(0x28, 0x3F), *range(0xFD00, 0xFD0C), *_LANES, 0xFD5C, 0xFD5D}
_BR_TABLE, _TYPED_SELECT = 0x0E, 0x1C


def lasting_instruction(wasm: bytes) -> str | None:
    """The name of the first instruction that changes a table or drops a segment; None where there is none."""
    found = {section.id: section for section in sections(wasm) if section.id}
    if _CODE not in found or not found.keys() & {_TABLE, _ELEMENT, _DATA_COUNT}:
        return None  # there is nothing that could be changed so, as in nearly every game
    count, at = read_leb(wasm, found[_CODE].begin)
    for _ in range(count):
        size, at = read_leb(wasm, at)
        if (name := _in_body(wasm, at, at + size)) is not None:
            return name
        at += size
    return None


def _in_body(wasm: bytes, at: int, end: int) -> str | None:
    groups, at = read_leb(wasm, at)
    for _ in range(groups):  # locals: how many, and their type
        _, at = read_leb(wasm, at)
        at += 1
    while at < end:
        code, at = wasm[at], at + 1
        if code in (0xFC, 0xFD):
            low, at = read_leb(wasm, at)
            code = (code << 8) + low
        if code in _LASTING:
            return _LASTING[code]
        at = _behind_operands(wasm, code, at)
    return None


def _behind_operands(wasm: bytes, code: int, at: int) -> int:
    numbers = _NUMBERS.get(code, 0)
    if code in _MEMORY:
        flags, at = read_leb(wasm, at)
        numbers = 2 if flags & 0x40 else 1  # a memory by number, and the offset
    elif code == _BR_TABLE:
        labels, at = read_leb(wasm, at)
        numbers = labels + 1
    elif code == _TYPED_SELECT:
        numbers, at = read_leb(wasm, at)
    for _ in range(numbers):
        while wasm[at] >= 0x80:
            at += 1
        at += 1
    return at + _BYTES.get(code, 0) + (code in _LANES)
