"""Why: the one place where a season's game becomes a console that is booted and past its intro, the same everywhere.

A game that is shipped built is read; one that is built is built once on a machine, and must be what its file says.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from evalkit.building.build import build_solution
from evalkit.errors import AuthoringError, EvalkitError, Fault, MachineError
from evalkit.reading import printable
from evalkit.sandbox.cart import Cart, load_cart
from evalkit.sandbox.console import TICK_FUEL, Console
from evalkit.sandbox.engine import default_cache
from evalkit.season.game import Game
from evalkit.season.gamefile import GAME
from evalkit.season.season import Entry, Season

__all__ = ["Begun", "begin", "find_faults", "game_module", "watched"]


def game_module(game: Game) -> bytes:
    """The game's module, built if need be. Raises AuthoringError where it is not the one that its file states.

    A module that was built before is not built again, whatever became of its source: the digest says what is played.
    """
    kept = _kept(game)
    if game.build and kept.exists() and hashlib.sha256(wasm := kept.read_bytes()).hexdigest() == game.digest:
        return wasm
    return _made(game)


def _kept(game: Game) -> Path:
    return default_cache() / "games" / f"{game.digest}.wasm"


def _made(game: Game) -> bytes:
    """The module as the folder has it now: read, or built from its source and kept."""
    if game.build is None:
        return _right(game, (game.root / game.module).read_bytes(), "the module in the folder")
    wasm, kept = _right(game, _build(game), "what the build makes here"), _kept(game)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = kept.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(wasm)
        part.replace(kept)
    except OSError as error:
        raise MachineError(
            f"cannot keep the built game in {kept.parent}: {error.strerror}; set EVALKIT_CACHE"
        ) from error
    return wasm


def _build(game: Game) -> bytes:
    assert game.build is not None
    built = build_solution(game.root, game.build)
    if built.module is None:
        tail = built.log.strip().splitlines()[-1:]
        raise AuthoringError([Fault(GAME, "build", f"{built.detail}{': ' + printable(tail[0]) if tail else ''}")])
    return built.module


def _right(game: Game, wasm: bytes, what: str) -> bytes:
    found = hashlib.sha256(wasm).hexdigest()
    if found != game.digest:
        why = f"{what} is another game: its digest is {found}, and {game.digest} was promised"
        raise AuthoringError([Fault(GAME, "digest", why)])
    return wasm


_carts: dict[str, Cart] = {}  # by digest, which is all that a cart depends on


def _cart(game: Game) -> Cart:
    if game.digest not in _carts:
        _carts[game.digest] = load_cart(game_module(game))
    return _carts[game.digest]


def watched(game: Game) -> tuple[str, ...]:
    """The ending that each of the console's conditions stands for, in their order."""
    return tuple(word for word, rule in game.status.endings() for _ in rule.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A game at the moment play begins, and the objectives that held already."""

    console: Console
    disk: bytes
    objectives: tuple[int, int]
    total: int


def begin(
    season: Season, entry: Entry, intro_ticks: int, cheats: Collection[str] = (), tick_fuel: int = TICK_FUEL
) -> Begun:
    """Boot the game for an entry and play the intro with no input.

    Raises AuthoringError where the game cannot begin here so, MachineError where this machine stopped it.
    """
    game = season.playable()
    disk = game.boot.disk(entry.level, entry.difficulty, cheats)
    console = Console(_cart(game), disk, tick_fuel=tick_fuel)
    where = f"{entry.level} at {entry.difficulty}"
    ran = console.run(bytes(intro_ticks))
    if ran.limit:
        raise MachineError(f"{where}: the game was stopped in its intro, at tick {ran.ticks}: {ran.limit}")
    if ran.trap:
        raise AuthoringError(f"{where}: the game traps in its intro, at tick {ran.ticks}: {ran.trap}")
    memory, status = console.memory, game.status
    if status.playing is not None and not status.playing.holds(memory):
        raise AuthoringError(f"{where}: {status.playing.text} does not hold after an intro of {intro_ticks} ticks")
    for word, rule in status.endings():
        if rule.holds(memory):
            raise AuthoringError(f"{where}: {word} ({rule.text}) holds before play begins")
    objectives = status.objectives.begin(memory)
    total = status.objectives.total_of(objectives)
    if total < 1:
        raise AuthoringError(f"{where}: the game has {total} objectives as play begins; it needs one at least")
    console.watch([group[0].condition() for _, rule in status.endings() for group in rule.groups])
    return Begun(console=console, disk=disk, objectives=objectives, total=total)


def find_faults(season: Season) -> Iterator[tuple[str, str, str]]:
    """What is wrong with a game beyond its file, as (file, key, what): it is built, booted and begun in every cell."""
    game = season.playable()
    prefix = "" if game.root == season.root else f"{game.root.name}/"
    try:
        if not game.digest:
            found = hashlib.sha256(_build(game)).hexdigest()
            yield f"{prefix}{GAME}", "digest", f'is missing: what the build makes here is digest = "{found}"'
            return
        _made(game)  # even where it was built before and its cart is known: the folder is what is being checked
        _cart(game)
    except AuthoringError as error:
        for fault in error.faults or (Fault(GAME, "module", str(error)),):
            yield f"{prefix}{fault.file}", fault.key, fault.what
        return
    for place, entry in enumerate(season.entries, 1):
        for seed, ticks in {**season.seeds, **season.practice_seeds}.items():
            try:
                begin(season, entry, ticks)
            except EvalkitError as error:
                yield "season.toml", f"entry#{place}", f"with seed {seed}: {error}"
                break
