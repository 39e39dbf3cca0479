"""Why: any WASM-4 cart is a game that can be played, saved and verified, with nothing of Python inside a tick.

::

    console = Console(cart_bytes, disk, watch=[Condition(0x2000, "u8", "==", 2)])
    ran = console.run(bytes([PAD_RIGHT] * 30))     # one call into wasm; stops early at a watched condition
    console.state_hash(previous_hash, pads)        # memory, mutable globals and disk, hashed where they lie

Memory alone is not the state of a game: some keep it in globals, some on the disk. A trap of the game is an event that
repeats at the same tick on any engine. Fuel that ran out, a stack that overflowed and a wall limit are not: they are
`Ran.limit`, and such a run is nobody's result.

Two things differ from the original runtime. The glyphs of text are ours, in the same cells. And a cart whose code
changes a table or drops a segment is refused: no table can be read back, so its state could not be saved.
"""

from __future__ import annotations

import ctypes
import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
import numpy.typing as npt
import wasmtime

from evalkit.errors import AuthoringError, MachineError, UsageError
from evalkit.sandbox.cart import Cart, load_cart, native
from evalkit.sandbox.engine import engine, interruptible
from evalkit.sandbox.pacer import (
    DISK_BYTES,
    DISK_LENGTH_AT,
    FORMATS,
    GLOBALS_AT,
    PAGE,
    RUN_AT,
    TAPE_AT,
    Condition,
    NumberType,
    condition_bytes,
    globals_bytes,
)

__all__ = ["SIDE", "TICK_FUEL", "Condition", "Console", "Ran", "State", "picture_of"]

SIDE = 160
"""Pixels of the screen, both ways."""

TICK_FUEL = 1 << 30
"""Fuel that the ticks of one run may burn on average, drawing included: nine times what the hungriest of 148 public
carts burned in a tick."""

_BOOT_TICKS = 64  # booting may burn what this many ticks may
_PALETTE_AT, _FRAMEBUFFER_AT, _FRAMEBUFFER_BYTES = 0x04, 0xA0, SIDE * SIDE // 4
_SCREEN_BYTES = _FRAMEBUFFER_AT + _FRAMEBUFFER_BYTES
_BOOT_PAGE = struct.pack("<4x4IH4x2h", 0xE0F8CF, 0x86C06C, 0x306850, 0x071821, 0x1203, 0x7FFF, 0x7FFF)
_TAPE_TICKS = PAGE - TAPE_AT
_WORD, _RUN = struct.Struct("<i"), struct.Struct("<3i")

Limit = Literal["fuel", "stack", "wall"]
_LIMITS: dict[wasmtime.TrapCode, Limit] = {
    wasmtime.TrapCode.OUT_OF_FUEL: "fuel",
    wasmtime.TrapCode.STACK_OVERFLOW: "stack",
    wasmtime.TrapCode.INTERRUPT: "wall",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What became of a run: `ticks` that began, the last one included that a condition, a trap or a limit ended."""

    ticks: int
    stopped_by: int | None = None
    """Index of the watched condition that turned true (the lowest, where several did)."""
    trap: str | None = None
    """The game's own trap, as in `unreachable`: the same tick and the same state on any engine."""
    limit: Limit | None = None
    """What stopped it here and might not elsewhere: fuel, stack or wall time. Such a run is ungraded."""


@dataclass(frozen=True, slots=True)
class State:
    """All that decides a game's future: its page, its mutable globals as `Console.state_parts` has them, its disk."""

    memory: bytes
    globals: bytes
    disk: bytes


class _Page(ctypes.c_ubyte * PAGE):  # type: ignore[misc]  # ctypes makes the base at run time
    """A view of a memory in place. It holds the store, so that no view can outlive what it looks at."""

    store: wasmtime.Store


class Console:
    """One game, booted: the page set up, instantiated, then `_start`, `_initialize` and `start` called.

    Raises AuthoringError where the cart cannot be played or does not boot, MachineError where this machine could not
    compile it or boot it in time.
    """

    def __init__(
        self,
        cart: bytes | Cart,
        disk: bytes = b"",
        *,
        watch: Sequence[Condition] = (),
        tick_fuel: int = TICK_FUEL,
        wall_limit_s: float = 60.0,
    ) -> None:
        if len(disk) > DISK_BYTES:
            raise AuthoringError(f"disk: {len(disk):,} bytes, more than the {DISK_BYTES:,} that the console keeps")
        self._cart = cart if isinstance(cart, Cart) else load_cart(cart)
        self._tick_fuel, self._wall_limit_s = tick_fuel, wall_limit_s
        self._fuel = 0
        self._over: Ran | None = None
        try:
            store = self._store = wasmtime.Store(engine(multi_memory=True))
            store.set_limits(memory_size=PAGE, table_elements=1 << 20, tables=64)
            page = wasmtime.Memory(store, wasmtime.MemoryType(wasmtime.Limits(1, 1)))
            board = wasmtime.Instance(store, native("board"), [page]).exports(store)
            renderer = wasmtime.Instance(store, native("renderer"), [page]).exports(store)
        except wasmtime.WasmtimeError as error:  # each memory reserves gigabytes of addresses, which a limit may forbid
            raise MachineError(f"this machine gives the console no memory: {_last(error)}; see `ulimit -v`") from error
        own = cast(wasmtime.Memory, board["own"])
        self._page, self._own = _view(store, page), _view(store, own)
        self._page[: len(_BOOT_PAGE)] = _BOOT_PAGE
        self._put_disk(disk)
        self.watch(watch)
        functions = {e: f for part in (renderer, board) for e, f in part.items() if isinstance(f, wasmtime.Func)}
        self._boot(page, own, functions)

    def _boot(self, page: wasmtime.Memory, own: wasmtime.Memory, functions: dict[str, wasmtime.Func]) -> None:
        store, cart = self._store, self._cart
        store.set_fuel(_BOOT_TICKS * self._tick_fuel)
        with interruptible(store, self._wall_limit_s):
            try:
                game = wasmtime.Instance(store, cart.module, cart.link(store, page, functions)).exports(store)
                entries = [game[name] for name in cart.entries()]
                paced = wasmtime.Instance(store, cart.pacer(), [page, own, *entries]).exports(store)
                cast(wasmtime.Func, paced["boot"])(store)
            except wasmtime.Trap as trap:
                if trap.trap_code is wasmtime.TrapCode.INTERRUPT:
                    raise MachineError(f"cart: it did not boot within {self._wall_limit_s:g} s here") from trap
                raise AuthoringError(f"cart: it does not boot: {_trap_name(trap)}") from trap
            except wasmtime.WasmtimeError as error:
                if "mmap" in str(error):
                    raise MachineError(f"this machine gives the game no memory: {_last(error)}") from error
                raise AuthoringError(f"cart: it does not boot: {_last(error)}") from error
        self._fuel = _BOOT_TICKS * self._tick_fuel - store.get_fuel()
        self._run, self._save, self._load = (cast(wasmtime.Func, paced[name]) for name in ("run", "save", "load"))

    @property
    def game_digest(self) -> str:
        """SHA-256 of the cart as it came."""
        return self._cart.digest

    @property
    def fuel(self) -> int:
        """Fuel burned since the console was made, booting, drawing and the pacer's few instructions a tick included."""
        return self._fuel

    def watch(self, conditions: Sequence[Condition]) -> None:
        """Stop runs from now on at the tick at which one of these turns true; one that holds already does not stop."""
        at, data = condition_bytes(conditions)
        self._own[at : at + len(data)] = data

    def run(self, pads: bytes) -> Ran:
        """Play one tick for each byte of `pads`, with that byte as the gamepad, in one call into wasm.

        (Beyond 32,768 ticks it is one call for each as many.) After a trap or a limit the game is over: UsageError.
        """
        if self._over is not None:
            raise UsageError(f"the game ended in {self._over.trap or self._over.limit}: boot a new console to play on")
        ticks = 0
        for begin in range(0, len(pads), _TAPE_TICKS):
            ran = self._play(pads[begin : begin + _TAPE_TICKS])
            ticks += ran.ticks
            if ran.stopped_by is not None or ran.trap or ran.limit:
                return Ran(ticks=ticks, stopped_by=ran.stopped_by, trap=ran.trap, limit=ran.limit)
        return Ran(ticks=ticks)

    def _play(self, pads: bytes) -> Ran:
        store, budget = self._store, len(pads) * self._tick_fuel
        self._own[TAPE_AT : TAPE_AT + len(pads)] = pads
        _WORD.pack_into(self._own, RUN_AT, len(pads))
        store.set_fuel(budget)
        try:
            with interruptible(store, self._wall_limit_s):
                self._run(store)
        except wasmtime.Trap as trap:
            self._fuel += budget - store.get_fuel()
            self._over = _after(trap, _WORD.unpack_from(self._own, RUN_AT + 4)[0])
            self._unmetered(self._save)
            return self._over
        self._fuel += budget - store.get_fuel()
        _, ticks, turned = _RUN.unpack_from(self._own, RUN_AT)
        return Ran(ticks=ticks, stopped_by=turned - 1 if turned else None)

    def _unmetered(self, copy: wasmtime.Func) -> None:
        """Copy the globals out or in: the pacer's own code, a few instructions each."""
        self._store.set_fuel(self._tick_fuel)
        self._store.set_epoch_deadline(1 << 40)
        copy(self._store)

    @property
    def memory(self) -> memoryview:
        """The game's page, in place and read-only: it changes under the next run."""
        return memoryview(self._page).toreadonly()

    @property
    def disk(self) -> bytes:
        """What is stored on the disk."""
        return bytes(self._disk())

    def state_parts(self) -> tuple[memoryview, memoryview, memoryview]:
        """The full state in place: memory, every mutable global in index order as 8 (v128: 16) bytes, disk."""
        saved = self._own[GLOBALS_AT : GLOBALS_AT + globals_bytes(self._cart.globals)]
        return self.memory, saved.toreadonly(), self._disk()

    def state_hash(self, *prefix: bytes) -> bytes:
        """SHA-256 of the prefixes and then the full state."""
        digest = hashlib.sha256(b"".join(prefix))
        for part in self.state_parts():
            digest.update(part)
        return digest.digest()

    def save(self) -> State:
        """The full state, copied."""
        memory, saved, disk = self.state_parts()
        return State(bytes(memory), bytes(saved), bytes(disk))

    def restore(self, state: State) -> None:
        """Put a state of the same cart in place of this one; from here on the future is that state's."""
        size = globals_bytes(self._cart.globals)
        if len(state.memory) != PAGE or len(state.globals) != size or len(state.disk) > DISK_BYTES:
            raise UsageError("the state is not one of this cart: its parts have other sizes")
        self._page[:] = state.memory
        self._own[GLOBALS_AT : GLOBALS_AT + size] = state.globals
        self._put_disk(state.disk)
        self._unmetered(self._load)
        self._over = None

    def peek(self, address: int, type: NumberType = "u8") -> int:
        """The number at an address of the game's page, little-endian."""
        if not 0 <= address <= PAGE - struct.calcsize(FORMATS[type]):
            raise UsageError(f"address {address:#x} is not in the game's page of {PAGE:,} bytes")
        number: int = struct.unpack_from(FORMATS[type], self._page, address)[0]
        return number

    def framebuffer(self) -> npt.NDArray[np.uint8]:
        """The screen as palette indices 0 to 3: 160 x 160, a copy."""
        return _indices(self._page)

    def screen(self) -> bytes:
        """What `picture_of` needs to show this tick's screen later."""
        return bytes(self._page[:_SCREEN_BYTES])

    def picture(self) -> npt.NDArray[np.uint8]:
        """The screen in the game's colours: 160 x 160 x 3, red, green and blue."""
        return picture_of(self._page)

    def _disk(self) -> memoryview:
        return self._own[: _WORD.unpack_from(self._own, DISK_LENGTH_AT)[0]].toreadonly()

    def _put_disk(self, disk: bytes) -> None:
        self._own[: len(disk)] = disk
        _WORD.pack_into(self._own, DISK_LENGTH_AT, len(disk))


def picture_of(screen: bytes | memoryview) -> npt.NDArray[np.uint8]:
    """The picture of a `Console.screen`: 160 x 160 x 3, red, green and blue."""
    palette = np.frombuffer(screen, np.uint8, 16, _PALETTE_AT).reshape(4, 4)[:, 2::-1]
    return palette[_indices(screen)]


def _indices(screen: bytes | memoryview) -> npt.NDArray[np.uint8]:
    packed = np.frombuffer(screen, np.uint8, _FRAMEBUFFER_BYTES, _FRAMEBUFFER_AT)
    pixels = packed[:, None] >> np.array([0, 2, 4, 6], np.uint8) & np.uint8(3)
    return pixels.astype(np.uint8, copy=False).reshape(SIDE, SIDE)


def _view(store: wasmtime.Store, memory: wasmtime.Memory) -> memoryview:
    at = ctypes.addressof(memory.data_ptr(store).contents)  # fixed for good: the memory has no room to grow
    page = _Page.from_address(at)
    page.store = store
    return memoryview(page).cast("B")


def _after(trap: wasmtime.Trap, ticks: int) -> Ran:
    code = trap.trap_code
    if code is None:
        raise MachineError(f"wasmtime stopped the game for a reason it does not name: {str(trap).splitlines()[-1]}")
    if limit := _LIMITS.get(code):
        return Ran(ticks=ticks, limit=limit)
    return Ran(ticks=ticks, trap=_trap_name(trap))


def _last(error: Exception) -> str:
    return " ".join(str(error).split())[-200:]


def _trap_name(trap: wasmtime.Trap) -> str:
    return trap.trap_code.name.lower() if trap.trap_code is not None else str(trap).splitlines()[-1]
