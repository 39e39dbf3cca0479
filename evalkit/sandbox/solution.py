"""Why: one metered call of an untrusted solution, so that its answer and its fuel are exactly what its code did.

A solution that fails is a value here (`Rejection`, or a `Call` with a reason), in the words of `REASONS`; only a fault
of the machine raises. Wasmtime's budget is soft, so the pass line is drawn by subtraction: see `Solution.call`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import wasmtime

from evalkit.errors import MachineError
from evalkit.reading import printable
from evalkit.sandbox.engine import CompileLimits, InvalidModule, compile_module, engine, interruptible
from evalkit.sandbox.sections import count_exports, has_start, vector_function

__all__ = ["UNLIMITED", "Call", "Rejection", "Solution", "load_solution"]

UNLIMITED = 1 << 61
"""A runway limit that no call reaches: years of work."""

_AMPLE = 1 << 62  # for instantiation, whose cost differs by platform and is never charged
_PAGE = 65536
_MAX_TABLE_ELEMENTS = 1 << 20
_MAX_EXPORTS = (
    1000  # a host lists them for every instance, outside fuel and clock, in time that grows with their square
)
_HEADROOM = 4096  # on top of the module's size: straight-line code cannot overrun its budget by more than its length

_I32, _I64 = "i32", "i64"
_SIGNATURES = {"alloc": ([_I32], [_I32]), "entry": ([_I32, _I32], [_I64]), "_initialize": ([], [])}


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a module is no solution of this case: a reason of DESIGN's list, and one line of detail."""

    reason: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One metered call. Exactly one of `output` and `reason` is set.

    `fuel` is None where there is no reading (a trap, or more than the runway limit). `timed_out` says that the wall
    guard ended it: the machine gave up, and the solution is not wrong.
    """

    output: bytes | None = None
    fuel: int | None = None
    reason: str | None = None
    detail: str | None = None
    timed_out: bool = False


class Solution:
    """A compiled module that keeps the contract: no imports, `memory`, `alloc` and the entry, no start section."""

    def __init__(self, module: wasmtime.Module, *, entry: str, size: int, max_memory_bytes: int) -> None:
        self._module = module
        self._entry = entry
        self._headroom = size + _HEADROOM
        self._max_memory_bytes = max_memory_bytes
        self._initialize = any(e.name == "_initialize" for e in module.exports)

    def call(self, data: bytes, *, runway_limit: int, max_output_bytes: int, wall_limit_s: float) -> Call:
        """Run the entry on `data` in a fresh store and instance, and say what it answered and burned.

        `fuel` is what `_initialize`, `alloc` and the entry consumed; writing the input is not charged. The store's
        budget is the runway limit plus headroom of at least the module's size, because code after wasmtime's last
        check runs on: what counts is budget given minus budget left, and more than `runway_limit` is `exhausted`,
        whatever the engine said.
        """
        store = wasmtime.Store(engine())
        try:
            return self._call(store, data, runway_limit, max_output_bytes, wall_limit_s)
        finally:
            store.close()  # a trap keeps its store alive in a cycle, with all the memory that the solution took

    def _call(
        self, store: wasmtime.Store, data: bytes, runway_limit: int, max_output_bytes: int, wall_limit_s: float
    ) -> Call:
        store.set_limits(
            memory_size=self._max_memory_bytes, table_elements=_MAX_TABLE_ELEMENTS, instances=1, tables=64, memories=1
        )
        store.set_fuel(_AMPLE)
        given = runway_limit + self._headroom
        with interruptible(store, wall_limit_s):
            try:
                exports = wasmtime.Instance(store, self._module, []).exports(store)
                memory = cast(wasmtime.Memory, exports["memory"])
                store.set_fuel(given)
                if self._initialize:
                    cast(wasmtime.Func, exports["_initialize"])(store)
                at = cast(wasmtime.Func, exports["alloc"])(store, len(data)) & 0xFFFFFFFF
                if at + len(data) > memory.data_len(store):
                    return Call(reason="bad_output", detail=_outside("alloc", at, len(data), memory.data_len(store)))
                memory.write(store, data, at)
                packed = cast(wasmtime.Func, exports[self._entry])(store, at, len(data)) & 0xFFFFFFFFFFFFFFFF
            except wasmtime.Trap as trap:
                return _after(trap, wall_limit_s)
            except wasmtime.WasmtimeError as error:
                # Not a trap: the instance declares more than its limits allow, or this host could not make it.
                if "limit" in str(error):
                    return Call(reason="memory", detail=_line(error))
                raise MachineError(f"wasmtime could not run the module here: {_line(error)}") from error
        fuel = given - store.get_fuel()
        if not 0 <= fuel <= runway_limit:
            return Call(reason="exhausted", detail=f"it burned more than its runway limit of {runway_limit:,} fuel")
        start, length = packed >> 32, packed & 0xFFFFFFFF
        if start + length > memory.data_len(store):
            where = _outside(self._entry, start, length, memory.data_len(store))
            return Call(reason="bad_output", detail=where, fuel=fuel)
        if length > max_output_bytes:
            what = f"the output has {length:,} bytes, more than the {max_output_bytes:,} allowed"
            return Call(reason="bad_output", detail=what, fuel=fuel)
        return Call(output=bytes(memory.read(store, start, start + length)), fuel=fuel)


def load_solution(
    wasm: bytes,
    *,
    entry: str,
    max_memory_bytes: int,
    limits: CompileLimits | None = None,
    cache_dir: Path | None = None,
) -> Solution | Rejection:
    """Compile and vet a module; the first reason that applies, in DESIGN's order, rejects it.

    Raises MachineError where compiling took more than this machine allows.
    """
    try:
        module = compile_module(wasm, limits=limits, cache_dir=cache_dir)
    except InvalidModule as error:
        return Rejection("invalid_module", str(error))
    if (count := count_exports(wasm)) > _MAX_EXPORTS:
        return Rejection("invalid_module", f"it has {count:,} exports, more than the {_MAX_EXPORTS:,} allowed")
    if (name := vector_function(wasm)) is not None:
        what = f"its `{printable(name, 60)}` takes or gives v128, which no host function does"
        return Rejection("invalid_module", f"{what}: import and export functions of numbers only")
    exports = {export.name: export.type for export in module.exports}
    memory = exports.get("memory")
    wanted = [("alloc", "alloc"), (entry, "entry")] + [(n, n) for n in ("_initialize",) if n in exports]
    missing = [problem for name, kind in wanted if (problem := _unlike(name, exports.get(name), kind))]
    if not isinstance(memory, wasmtime.MemoryType):
        missing.insert(0, "it exports no memory named `memory`")
    if missing:
        return Rejection("missing_export", "; ".join(missing))
    assert isinstance(memory, wasmtime.MemoryType)
    if module.imports:
        names = ", ".join(f"{i.module}.{i.name}" for i in module.imports[:5])
        return Rejection("imports", f"it imports {names}; a solution is closed: build it without imports")
    if has_start(wasm):
        return Rejection(
            "start_function",
            "it has a start section, which would run unmetered: export it as `_initialize`, called and charged",
        )
    minimum = memory.limits.min * _PAGE
    if minimum > max_memory_bytes:
        return Rejection(
            "memory", f"it declares {minimum:,} bytes of memory, more than the {max_memory_bytes:,} allowed"
        )
    return Solution(module, entry=entry, size=len(wasm), max_memory_bytes=max_memory_bytes)


def _unlike(name: str, found: object, kind: str) -> str | None:
    params, results = _SIGNATURES[kind]
    want = f"({', '.join(params)}) -> {', '.join(results) or 'nothing'}"
    if not isinstance(found, wasmtime.FuncType):
        return f"it exports no function `{name}` {want}"
    if [str(p) for p in found.params] != params or [str(r) for r in found.results] != results:
        return f"its `{name}` is not {want}"
    return None


def _after(trap: wasmtime.Trap, wall_limit_s: float) -> Call:
    code = trap.trap_code
    if code is wasmtime.TrapCode.OUT_OF_FUEL:
        return Call(reason="exhausted", detail="it burned all of its runway and was stopped")
    if code is wasmtime.TrapCode.INTERRUPT:
        return Call(reason="wall_limit", detail=f"stopped after {wall_limit_s:g} s of wall time", timed_out=True)
    if code is None:
        raise MachineError(f"wasmtime stopped the call for a reason it does not name: {_line(trap)}")
    return Call(reason=f"trap:{code.name.lower()}", detail=_line(trap))


def _line(error: Exception) -> str:
    """The last line of an engine's message, which is its cause; the rest is a backtrace in the solution's own names."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1].removeprefix("1: ")[:300] if lines else type(error).__name__


def _outside(who: str, start: int, length: int, size: int) -> str:
    return f"`{who}` returned {start:,} + {length:,} bytes, past the end of its memory ({size:,} bytes)"
