"""Why: one call from Python plays a whole decision, so the loop over its ticks is wasm, made to measure for each game.

The pacer imports the game's page, the board's memory, the game's entry points and its mutable globals. `run` plays
ticks from the tape: write the pad, clear the framebuffer unless the game keeps it, call `update`, and stop at the tick
at which a watched condition turns true. Conditions are data in the board's memory; so are the copies of the globals
that `save` makes and `load` puts back (`run` ends with a `save`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import wasmtime

from evalkit.errors import AuthoringError
from evalkit.sandbox.engine import engine
from evalkit.sandbox.state_exports import GlobalType, StateGlobal

__all__ = [
    "DISK_BYTES",
    "DISK_LENGTH_AT",
    "FORMATS",
    "GLOBALS_AT",
    "MAX_CONDITIONS",
    "PAGE",
    "RUN_AT",
    "TAPE_AT",
    "Comparison",
    "Condition",
    "NumberType",
    "Signature",
    "condition_bytes",
    "globals_bytes",
    "pacer",
]

PAGE = 65536

# The board's memory. The disk comes first and its length right behind it: board.wat knows both.
DISK_BYTES = 1024
DISK_LENGTH_AT = 1024
RUN_AT = 1028
"""Three i32: the ticks to play; then `run`'s answers: the ticks begun, and 1 + the condition that turned true, or 0."""
_BEGUN_AT, _TURNED_AT = RUN_AT + 4, RUN_AT + 8
_WATCHED_AT, _CONDITIONS_AT, MAX_CONDITIONS, _RECORD = 1040, 1048, 8, 24
GLOBALS_AT = 2048
TAPE_AT = 32768
"""The tape of pads runs from here to the end of the page."""

NumberType = Literal["u8", "i8", "u16", "i16", "u32", "i32"]
Comparison = Literal["==", "!=", "<", "<=", ">", ">="]

FORMATS: Mapping[NumberType, str] = {"u8": "<B", "i8": "<b", "u16": "<H", "i16": "<h", "u32": "<I", "i32": "<i"}

_LOADS = ("8_u", "8_s", "16_u", "16_s", "32_u", "32_s")  # in the order of FORMATS
_TESTS: Mapping[Comparison, str] = {"==": "eq", "!=": "ne", "<": "lt_s", "<=": "le_s", ">": "gt_s", ">=": "ge_s"}
_SIZES: Mapping[GlobalType, int] = {"i32": 8, "i64": 8, "f32": 8, "f64": 8, "v128": 16}
_SAID = {"anyref": "externref"}  # wasmtime-py's own word for it, which wat does not know
_ZEROS = {"funcref": "(ref.null func)", "externref": "(ref.null extern)"}


@dataclass(frozen=True, slots=True)
class Condition:
    """`number at address (comparison) value`, little-endian, as in `Condition(0x2000, "u8", "==", 3)`."""

    address: int
    type: NumberType
    comparison: Comparison
    value: int

    def __post_init__(self) -> None:
        if self.type not in FORMATS or self.comparison not in _TESTS:
            raise AuthoringError(
                f"condition: {self.type} {self.comparison}: use one of {', '.join(FORMATS)}; {' '.join(_TESTS)}"
            )
        if not 0 <= self.address <= PAGE - struct.calcsize(FORMATS[self.type]):
            raise AuthoringError(f"condition: address {self.address:#x} is not in the game's page of {PAGE:,} bytes")
        if not -(1 << 63) <= self.value < 1 << 63:
            raise AuthoringError(f"condition: value {self.value} does not fit 64 bits")


@dataclass(frozen=True, slots=True)
class Signature:
    """The type of a function that the pacer calls with zeros, dropping what it returns, as the original does."""

    params: tuple[str, ...]
    results: tuple[str, ...]

    @classmethod
    def of(cls, type_: wasmtime.FuncType) -> Signature:
        """The signature of a function of wasmtime's."""
        params, results = (tuple(_SAID.get(str(t), str(t)) for t in types) for types in (type_.params, type_.results))
        return cls(params, results)

    def text(self) -> str:
        """As wat says it."""
        return f"(param {' '.join(self.params)}) (result {' '.join(self.results)})"

    def call(self, name: str) -> str:
        """A call of `$name`, in wat."""
        zeros = " ".join(_ZEROS.get(p, f"({p}.const 0)") for p in self.params)
        return f"{zeros} call ${name} {'drop ' * len(self.results)}"


def condition_bytes(watch: Sequence[Condition]) -> tuple[int, bytes]:
    """Where in the board's memory the conditions go, and their bytes."""
    if len(watch) > MAX_CONDITIONS:
        raise AuthoringError(f"{len(watch)} conditions to watch: at most {MAX_CONDITIONS} at a time")
    types, tests = list(FORMATS), list(_TESTS)
    records = (struct.pack("<3i4xq", c.address, types.index(c.type), tests.index(c.comparison), c.value) for c in watch)
    return _WATCHED_AT, struct.pack("<i4x", len(watch)) + b"".join(records)


def globals_bytes(found: Sequence[StateGlobal]) -> int:
    """How many bytes the saved globals take."""
    return sum(_SIZES[each.type] for each in found)


@lru_cache(maxsize=64)
def pacer(
    found: tuple[StateGlobal, ...], boots: tuple[tuple[str, Signature], ...], update: Signature | None
) -> wasmtime.Module:
    """The pacer of a game with these globals, boot functions in order of their call, and type of `update`.

    Its imports, in order: the page, the board's memory, each boot function, `update` if there is one, each global.
    """
    return wasmtime.Module(engine(multi_memory=True), bytes(wasmtime.wat2wasm("\n".join(_text(found, boots, update)))))


def _text(
    found: tuple[StateGlobal, ...], boots: tuple[tuple[str, Signature], ...], update: Signature | None
) -> Iterator[str]:
    yield '(module (import "env" "memory" (memory $page 1 1)) (import "board" "own" (memory $own 1 1))'
    for name, signature in boots:
        yield f'(import "game" "{name}" (func ${name} {signature.text()}))'
    if update is not None:
        yield f'(import "game" "update" (func $update {update.text()}))'
    for index, each in enumerate(found):
        yield f'(import "game" "{each.name}" (global $g{index} (mut {each.type})))'
    yield f'(func (export "boot") {" ".join(s.call(n) for n, s in boots)} (call $save))'
    yield _value() + _holding()
    yield _run(update.call("update") if update is not None else "")
    stores, loads, at = [], [], GLOBALS_AT
    for index, each in enumerate(found):
        stores.append(f"({each.type}.store $own (i32.const {at}) (global.get $g{index}))")
        loads.append(f"(global.set $g{index} ({each.type}.load $own (i32.const {at})))")
        at += _SIZES[each.type]
    yield f'(func $save (export "save") {" ".join(stores)}) (func (export "load") {" ".join(loads)}))'


def _branches(selector: str, arms: Sequence[str]) -> str:
    """Return the arm that `selector` numbers."""
    labels = [f"$arm{n}" for n in range(len(arms))]
    text = f"(br_table {' '.join(labels)} {selector})"
    for label, arm in zip(labels, arms, strict=True):
        text = f"(block {label} {text}) (return {arm})"
    return text + " (unreachable)"


def _value() -> str:
    loads = [f"(i64.load{suffix} $page (local.get $at))" for suffix in _LOADS]
    tests = [f"(i64.{op} (local.get $is) (local.get $than))" for op in _TESTS.values()]
    return f"""
  (func $value (param $at i32) (param $type i32) (result i64) {_branches("(local.get $type)", loads)})
  (func $test (param $is i64) (param $op i32) (param $than i64) (result i32) {_branches("(local.get $op)", tests)})"""


def _holding() -> str:
    return f"""
  (func $holding (result i32) (local $bits i32) (local $n i32) (local $at i32)
    (local.set $n (i32.load $own (i32.const {_WATCHED_AT})))
    (local.set $at (i32.add (i32.const {_CONDITIONS_AT}) (i32.mul (local.get $n) (i32.const {_RECORD}))))
    (block $done (loop $next
      (br_if $done (i32.eqz (local.get $n)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (local.set $at (i32.sub (local.get $at) (i32.const {_RECORD})))
      (local.set $bits (i32.or (i32.shl (local.get $bits) (i32.const 1)) (call $test
        (call $value (i32.load $own (local.get $at)) (i32.load $own offset=4 (local.get $at)))
        (i32.load $own offset=8 (local.get $at))
        (i64.load $own offset=16 (local.get $at)))))
      (br $next)))
    (local.get $bits))"""


def _run(update: str) -> str:
    """`run` takes and returns nothing: a call with values costs twice as much. See RUN_AT."""
    return f"""
  (func (export "run") (local $tick i32) (local $before i32) (local $now i32) (local $turned i32)
    (i32.store $own (i32.const {_BEGUN_AT}) (i32.const 0))
    (local.set $before (call $holding))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $tick) (i32.load $own (i32.const {RUN_AT}))))
      (i32.store8 $page (i32.const 0x16) (i32.load8_u $own offset={TAPE_AT} (local.get $tick)))
      (local.set $tick (i32.add (local.get $tick) (i32.const 1)))
      (i32.store $own (i32.const {_BEGUN_AT}) (local.get $tick))
      (if (i32.eqz (i32.and (i32.load8_u $page (i32.const 0x1f)) (i32.const 1)))
        (then (memory.fill $page (i32.const 0xa0) (i32.const 0) (i32.const 6400))))
      {update}
      (local.set $now (call $holding))
      (local.set $turned (i32.and (local.get $now) (i32.xor (local.get $before) (i32.const -1))))
      (br_if $done (local.get $turned))
      (local.set $before (local.get $now))
      (br $next)))
    (call $save)
    (i32.store $own (i32.const {_TURNED_AT})
      (select (i32.add (i32.ctz (local.get $turned)) (i32.const 1)) (i32.const 0) (local.get $turned))))"""
