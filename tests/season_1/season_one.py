"""Why: season 1 as its tests hold it: any level at any difficulty, and its game to tamper with."""

from __future__ import annotations

import dataclasses
import struct
from functools import cache
from pathlib import Path

from evalkit.sandbox.console import Console, State
from evalkit.season import load_season
from evalkit.season.carts import begin
from evalkit.season.season import Entry, Season

ROOT = Path(__file__).parents[2] / "cases" / "season-1"
LEVELS = ("dam", "facility", "runway", "surface-1", "bunker-1")
DIFFICULTIES = ("agent", "secret-agent", "00-agent")
PLACE_AT = 0xF000 + 184  # the player's middle, in sixths of a pixel: two i16, past what an agent sees
GUARDS_AT, GUARD_BYTES, GUARDS = 0xF000 + 228, 18, 40


@cache
def season() -> Season:
    return load_season(ROOT)


def at(level: str, difficulty: str) -> Season:
    """The season with one entry, which it may not have itself."""
    return dataclasses.replace(season(), entries=(Entry(level=level, difficulty=difficulty, own_budget=150),))


def begun(level: str, difficulty: str, ticks: int = 60) -> Console:
    """The game at the moment play begins."""
    return begin(season(), Entry(level=level, difficulty=difficulty), ticks).console


def see(console: Console, name: str) -> int:
    """A variable of game.toml."""
    return season().playable().variables[name].read(console.memory)


def guards(console: Console) -> list[tuple[int, int]]:
    """Where every guard is, in sixths of a pixel."""
    memory = console.memory
    rows = [struct.unpack_from("<2hB", memory, GUARDS_AT + GUARD_BYTES * n) for n in range(GUARDS)]
    return [(x, y) for x, y, state in rows if state]


def move(console: Console, x: int, y: int) -> None:
    """Put the player's middle somewhere, in sixths of a pixel."""
    state = console.save()
    memory = bytearray(state.memory)
    struct.pack_into("<2h", memory, PLACE_AT, x, y)
    console.restore(State(bytes(memory), state.globals, state.disk))
