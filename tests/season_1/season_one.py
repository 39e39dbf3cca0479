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
PANELS_AT, THINGS_AT, THING_BYTES, THINGS = 0xF000 + 221, 0xF000 + 948, 8, 40
UNAWARE, SUSPICIOUS, HUNTING, DOWN = 1, 2, 3, 4  # what a guard may be
PANEL, CAMERA = 3, 4
Tile = tuple[int, int]


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


def poke(console: Console, form: str, at: int, *values: int) -> None:
    """Put numbers into the game's memory."""
    state = console.save()
    memory = bytearray(state.memory)
    struct.pack_into(form, memory, at, *values)
    console.restore(State(bytes(memory), state.globals, state.disk))


def put(console: Console, **numbers: int) -> None:
    """Set variables of game.toml."""
    for name, number in numbers.items():
        variable = season().playable().variables[name]
        poke(console, f"<{'h' if variable.type == 'i16' else 'B'}", variable.address, number)


def move(console: Console, x: int, y: int) -> None:
    """Put the player's middle somewhere, in sixths of a pixel."""
    poke(console, "<2h", PLACE_AT, x, y)


def stand(console: Console, tile: Tile) -> None:
    """Put the player on the middle of a tile."""
    move(console, *(48 * part + 24 for part in tile))


def clear(console: Console) -> None:
    """Every guard down, and nothing left to take from one."""
    for n in range(console.memory[0xF000 + 213]):
        poke(console, "<B6xB", GUARDS_AT + GUARD_BYTES * n + 4, DOWN, 1)


def post(console: Console, tile: Tile, state: int, facing: int) -> None:
    """The first guard alone: on a tile, unhurt, in a state, looking somewhere, and not about to move or to shoot."""
    clear(console)
    fields = *(48 * part + 24 for part in tile), state, 0, facing, 2, 0, 60, 200, 0, 0, 0, 160, 0
    poke(console, "<2h10B2H", GUARDS_AT, *fields)


def guard_state(console: Console) -> int:
    """What the first guard is."""
    return console.memory[GUARDS_AT + 4]


def standing(console: Console) -> int:
    """How many guards are on their feet."""
    states = [console.memory[GUARDS_AT + GUARD_BYTES * n + 4] for n in range(GUARDS)]
    return sum(state not in (0, DOWN) for state in states)


def rows(level: str) -> list[str]:
    """A map as it is drawn."""
    return (ROOT / "game" / "maps" / f"{level}.txt").read_text().splitlines()


def tiles(level: str, letter: str) -> list[Tile]:
    """Where a letter stands on a map."""
    return [(x, y) for y, row in enumerate(rows(level)) for x, found in enumerate(row) if found == letter]
