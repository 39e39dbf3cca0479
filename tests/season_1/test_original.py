"""In the web runtime, where a person plays it by hand, the game is the same game."""

from __future__ import annotations

import random
from importlib.util import find_spec

import pytest

from evalkit.sandbox.console import Console
from evalkit.season.carts import game_module
from tests.console import original
from tests.season_1.season_one import LEVELS, season

pytestmark = [
    pytest.mark.skipif(find_spec("ziglang") is None, reason="the game is in C: it needs the toolchain extra, ziglang"),
    pytest.mark.skipif(bool(original.missing()), reason=original.missing() or "installed"),
]
PROGRAM_AT = 0x19A0
KEPT = [100, 250, 399]
DOWN, FIRE = b"\x80\0", b"\x01\0"


def test_from_its_menu_on_the_original_runtime_plays_every_level_alike() -> None:
    """All of the program's memory; on the screen the letters alone differ, whose shapes are ours."""
    stream = random.Random(4)
    cart = game_module(season().playable())
    games = []
    for number in range(len(LEVELS)):
        pads = bytes(5) + DOWN * number + FIRE + bytes(40) + FIRE
        while len(pads) < 400:
            pads += bytes([stream.choice([0, 16, 32, 64, 128, 1, 2, 33, 97])]) * stream.choice([4, 8, 16])
        games.append((cart, pads))
    for (_, pads), played in zip(games, original.play(games, KEPT), strict=True):
        console, ticks = Console(cart), 0
        for tick in KEPT:
            console.run(pads[ticks : tick + 1])
            ticks = tick + 1
            assert bytes(console.memory[PROGRAM_AT:]) == played.pages[tick][PROGRAM_AT:], f"tick {tick}"
