"""Why: a game is one module that draws through the console's functions and keeps its state where it can be read.

`load_cart` vets and compiles a cart and refuses, in one line, what the console could not play or save. `Cart.link`
finds a function for each import. The original runtime calls across any declared number of parameters, so a cart that
declares `blit` with five gets an adapter: what it does not pass is zero, what is too many is ignored. (Where the last
value is missing that is what the original draws, except for `rect`, and for `line` and `oval`, which never end there.)
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import wasmtime

from evalkit.errors import AuthoringError
from evalkit.reading import printable
from evalkit.sandbox.engine import CompileLimits, InvalidModule, compile_module, engine
from evalkit.sandbox.instructions import lasting_instruction
from evalkit.sandbox.pacer import GLOBALS_AT, TAPE_AT, Signature, globals_bytes, pacer
from evalkit.sandbox.sections import vector_function
from evalkit.sandbox.state_exports import StateGlobal, Unreadable, expose_globals, memories

__all__ = ["ABI", "MAX_CART_BYTES", "NATIVE", "Cart", "load_cart", "native"]

NATIVE = Path(__file__).with_name("native")
"""The console's own wasm and its sources; `build_native.py` makes the one from the other."""

MAX_CART_BYTES = 65536
"""The convention's own limit: the original runtime refuses a larger cart too."""

ABI: Mapping[str, tuple[int, int]] = {
    "blit": (6, 0), "blitSub": (9, 0), "line": (4, 0), "hline": (3, 0), "vline": (3, 0), "oval": (4, 0),
    "rect": (4, 0), "text": (3, 0), "textUtf8": (4, 0), "textUtf16": (4, 0), "tone": (4, 0), "diskr": (2, 1),
    "diskw": (2, 1), "trace": (1, 0), "traceUtf8": (2, 0), "traceUtf16": (2, 0), "tracef": (2, 0),
}  # fmt: skip
"""Each function a cart may import from `env`: how many i32 it takes and returns."""

_BOOTS = ("_start", "_initialize", "start")  # in the order the original calls them
_MOST_SAVED = TAPE_AT - GLOBALS_AT


@dataclass(frozen=True, slots=True, kw_only=True)
class Cart:
    """A cart that the console can play: compiled, with every mutable global exported."""

    digest: str
    module: wasmtime.Module
    globals: tuple[StateGlobal, ...]
    boots: tuple[tuple[str, Signature], ...]
    update: Signature | None

    def pacer(self) -> wasmtime.Module:
        """The module that boots this cart and plays its ticks."""
        return pacer(self.globals, self.boots, self.update)

    def entries(self) -> list[str]:
        """The exports that the pacer imports, in its order."""
        names = [name for name, _ in self.boots] + ["update"] * (self.update is not None)
        return names + [each.name for each in self.globals]

    def link(
        self, store: wasmtime.Store, memory: wasmtime.Memory, functions: Mapping[str, wasmtime.Func]
    ) -> Sequence[wasmtime.Memory | wasmtime.Func]:
        """What each of the cart's imports gets, in order."""
        linked: list[wasmtime.Memory | wasmtime.Func] = []
        for wanted in self.module.imports:
            if isinstance(wanted.type, wasmtime.FuncType):
                name, signature = str(wanted.name), Signature.of(wanted.type)
                function = functions[name]
                linked.append(function if _fits(name, signature) else _adapted(store, function, name, signature))
            else:
                linked.append(memory)
        return linked


def load_cart(wasm: bytes, *, limits: CompileLimits | None = None, cache_dir: Path | None = None) -> Cart:
    """Vet and compile a cart. Raises AuthoringError with the first thing that keeps it off the console."""
    if len(wasm) > MAX_CART_BYTES:
        raise AuthoringError(f"cart: {len(wasm):,} bytes, more than the {MAX_CART_BYTES:,} that a cart may have")
    options = {"multi_memory": True, "limits": limits, "cache_dir": cache_dir}
    try:
        module = compile_module(wasm, **options)  # type: ignore[arg-type]  # one spelling of the options for both calls
        if (name := vector_function(wasm)) is not None:
            what = f"{printable(name, 60)} takes or gives v128, which no function of the console does"
            raise AuthoringError(f"cart: {what}: import and export functions of numbers only")
        _vet(module, wasm)
        if (lasting := lasting_instruction(wasm)) is not None:
            raise Unreadable(f"its code holds {lasting}: what that changes is in no saved state; build it without")
        exposed, found = expose_globals(wasm)
        if globals_bytes(found) > _MOST_SAVED:
            raise Unreadable(f"it has {len(found):,} mutable globals, more than the console can save")
        if found:
            module = compile_module(exposed, **options)  # type: ignore[arg-type]
    except (InvalidModule, Unreadable) as error:
        raise AuthoringError(f"cart: {error}") from error
    entries = {e.name: e.type for e in module.exports if e.name in (*_BOOTS, "update")}
    types = {name: Signature.of(t) for name, t in entries.items() if isinstance(t, wasmtime.FuncType)}
    return Cart(
        digest=hashlib.sha256(wasm).hexdigest(),
        module=module,
        globals=found,
        boots=tuple((name, types[name]) for name in _BOOTS if name in types),
        update=types.get("update"),
    )


def _vet(module: wasmtime.Module, wasm: bytes) -> None:
    pages = 0
    for wanted in module.imports:
        where, type_ = f"{wanted.module}.{wanted.name}", wanted.type
        if where == "env.memory" and isinstance(type_, wasmtime.MemoryType):
            pages += 1
            least, most = type_.limits.min, type_.limits.max
            if least > 1 or most == 0:
                bounds = f"{least} to {most}" if most is not None else f"at least {least}"
                raise AuthoringError(f"cart: it imports env.memory with {bounds} pages of 64 KiB; the console has one")
        elif wanted.module != "env" or wanted.name not in ABI or not isinstance(type_, wasmtime.FuncType):
            raise AuthoringError(f"cart: it imports {where}, which the console does not have: {', '.join(ABI)}, memory")
        else:
            signature = Signature.of(type_)
            if {*signature.params, *signature.results} - {"i32"}:
                raise AuthoringError(
                    f"cart: it imports {where} as {signature.text()}; the console's functions take i32"
                )
    if pages > 1 or memories(wasm):
        raise AuthoringError("cart: it has a memory besides the imported env.memory, which the console could not save")


def _fits(name: str, signature: Signature) -> bool:
    return (len(signature.params), len(signature.results)) == ABI[name]


def _adapted(store: wasmtime.Store, function: wasmtime.Func, name: str, signature: Signature) -> wasmtime.Func:
    instance = wasmtime.Instance(store, _adapter(name, signature), [function])
    adapted = instance.exports(store)["adapted"]
    assert isinstance(adapted, wasmtime.Func)
    return adapted


@lru_cache(maxsize=256)
def _adapter(name: str, signature: Signature) -> wasmtime.Module:
    takes, gives = ABI[name]
    passed = " ".join(f"(local.get {n})" if n < len(signature.params) else "(i32.const 0)" for n in range(takes))
    spare = len(signature.results) - gives
    result = "drop " * -spare + "(i32.const 0) " * spare
    text = f"""(module (import "env" "{name}" (func $f (param {"i32 " * takes}) (result {"i32 " * gives})))
      (func (export "adapted") {signature.text()} {passed} call $f {result}))"""
    return wasmtime.Module(engine(multi_memory=True), bytes(wasmtime.wat2wasm(text)))


@cache
def native(name: str) -> wasmtime.Module:
    """A shipped module of the console's own: `renderer` or `board`."""
    return wasmtime.Module(engine(multi_memory=True), (NATIVE / f"{name}.wasm").read_bytes())
