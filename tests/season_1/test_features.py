"""What the game of season 1 is made of works: alarm, doors, keys, pickups, cover, panels, takedowns, goals, pages."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from evalkit.sandbox.console import Console
from evalkit.season.carts import begin
from tests.season_1.season_one import (
    DOWN,
    HUNTING,
    LEVELS,
    PANELS_AT,
    UNAWARE,
    Tile,
    at,
    begun,
    clear,
    guard_state,
    poke,
    post,
    put,
    rows,
    season,
    see,
    stand,
    standing,
    tiles,
)

pytestmark = pytest.mark.skipif(
    find_spec("ziglang") is None, reason="the game is in C: it needs the toolchain extra, ziglang"
)
PLAYING, COMPLETED, DIED, FAILED = 2, 3, 4, 5
X, Z, LEFT, RIGHT, UP, DOWNWARD = b"\x01", b"\x02", b"\x10", b"\x20", b"\x40", b"\x80"
EAST, WEST = 2, 6
TAKE, DESTROY, PHOTOGRAPH, MEET, USE, KEY, EXIT = range(2, 9)
SHARPEST = "00-agent"


def unhurt(level: str) -> Console:
    """A level whose player cannot be hurt, and nobody on it."""
    console = begin(season(), at(level, SHARPEST).entries[0], 60, ("invincible",)).console
    clear(console)
    return console


def test_a_camera_raises_the_alarm_and_guards_are_called() -> None:
    console = unhurt("bunker-1")
    x, y = tiles("bunker-1", "c")[0]
    stand(console, (x, y + 12))  # walls between: nobody looks
    console.run(bytes(400))
    assert see(console, "alarm") == 0 and standing(console) == 0
    stand(console, (x + 2, y + 2))
    console.run(bytes(400))
    assert see(console, "alarm") > 0 and standing(console) > 0
    console.run(bytes(330))
    assert standing(console) > 1, "another, every five seconds"


def test_a_camera_that_was_shot_sees_nobody() -> None:
    console = unhurt("bunker-1")
    x, y = tiles("bunker-1", "c")[0]
    stand(console, (x, y + 2))
    console.run(bytes(1) + bytes([X[0] | UP[0]]))
    stand(console, (x + 2, y + 2))
    console.run(bytes(400))
    assert see(console, "alarm") == 0


@pytest.mark.parametrize("silenced", [False, True])
def test_a_guard_who_looks_for_long_raises_the_alarm_unless_every_panel_was_shot(silenced: bool) -> None:
    console = unhurt("dam")
    panels = tiles("dam", "n")
    assert console.memory[PANELS_AT] == len(panels) > 1
    for x, y in panels if silenced else ():
        beside = {UP: (x, y + 1), DOWNWARD: (x, y - 1), LEFT: (x + 1, y), RIGHT: (x - 1, y)}
        way, tile = next((way, tile) for way, tile in beside.items() if rows("dam")[tile[1]][tile[0]] in ".,:")
        stand(console, tile)
        console.run(bytes(20) + bytes([X[0] | way[0]]))
    assert console.memory[PANELS_AT] == (0 if silenced else len(panels))
    start = tiles("dam", "@")[0]
    stand(console, start)
    post(console, (start[0] + 3, start[1]), HUNTING, WEST)
    console.run(bytes(120))
    assert see(console, "alarm") == 0, "a glance is no look"
    console.run(bytes(160))
    assert (see(console, "alarm") > 0) is not silenced


def through(level: str, door: Tile) -> tuple[Tile, bytes, str, int]:
    """Where to stand before a door, the button that leads through, the axis, and the sign."""
    x, y = door
    if all(rows(level)[y][x + side] in '.,:"' for side in (-2, -1, 1, 2)):
        return (x - 2, y), RIGHT, "x", 8 * x + 8
    return (x, y - 2), DOWNWARD, "y", 8 * y + 8


def passes(console: Console, level: str, door: Tile) -> bool:
    before, button, axis, beyond = through(level, door)
    stand(console, before)
    console.run(button * 100)
    return see(console, axis) >= beyond


def test_a_plain_door_opens_to_who_walks_into_it_and_shuts_again() -> None:
    console = unhurt("dam")
    door = tiles("dam", "+")[0]
    stand(console, (door[0] - 2, door[1]))
    console.run(bytes(2))
    assert (see(console, "door_state"), see(console, "door_key")) == (1, 0)
    assert passes(console, "dam", door)
    assert see(console, "door_state") == 3
    stand(console, (door[0] - 3, door[1]))
    console.run(bytes(200))
    assert see(console, "door_state") == 1


LOCKED = [(level, letter, door) for level in LEVELS for letter in "DEF" for door in tiles(level, letter)]


@pytest.mark.parametrize(("level", "letter", "door"), LOCKED)
def test_a_locked_door_opens_with_its_own_key_alone(level: str, letter: str, door: Tile) -> None:
    console = unhurt(level)
    bit = 1 << "DEF".index(letter)
    stand(console, through(level, door)[0])
    console.run(bytes(2))
    assert (see(console, "door_state"), see(console, "door_key")) == (2, "DEF".index(letter) + 1)
    for keys, opens in ((0, False), (7 & ~bit, False), (bit, True)):
        put(console, keys=keys)
        assert passes(console, level, door) is opens, f"keys {keys}"


def test_there_are_locked_doors_for_all_three_keys() -> None:
    assert {letter for _, letter, _ in LOCKED} == set("DEF")


@pytest.mark.parametrize(
    ("letter", "name", "before", "after"),
    [("m", "ammo", 10, 26), ("m", "ammo", 90, 99), ("h", "armour", 0, 30), ("h", "armour", 50, 60)],
)
def test_a_pickup_is_taken_once_and_changes_its_number(letter: str, name: str, before: int, after: int) -> None:
    console = unhurt("dam")
    put(console, **{name: before})
    x, y = tiles("dam", letter)[0]
    stand(console, (x + 2, y))
    console.run(bytes(2))
    assert see(console, name) == before and see(console, "pickup_kind") == (1 if letter == "m" else 2)
    stand(console, (x, y))
    console.run(bytes(2))
    assert see(console, name) == after
    put(console, **{name: before})
    console.run(bytes(20))
    assert see(console, name) == before, "it is gone"


def test_armour_takes_a_part_of_every_hit() -> None:
    lost = []
    for armour in (0, 60):
        console = begun("dam", SHARPEST)
        start = tiles("dam", "@")[0]
        post(console, (start[0] + 2, start[1]), HUNTING, WEST)
        put(console, armour=armour)
        while see(console, "hits") == 0:
            console.run(bytes(1))
        lost.append((100 - see(console, "health"), armour - see(console, "armour")))
    (bare, none), (worn, taken) = lost
    assert none == 0 < worn < taken and worn + taken == bare


def test_who_is_in_cover_that_hides_is_seen_from_near_by_alone() -> None:
    x, y = tiles("dam", '"')[0]
    assert rows("dam")[y + 4][x] in ".:", "open ground, as far from the guard"
    for tile, hidden in (((x, y), 1), ((x, y + 4), 0)):
        console = unhurt("dam")
        stand(console, tile)
        post(console, (tile[0] - 4, tile[1]), UNAWARE, EAST)
        console.run(bytes(20))
        assert (see(console, "hidden"), see(console, "noticed")) == (hidden, 1 - hidden)
        post(console, (tile[0] - 1, tile[1]), UNAWARE, EAST)
        console.run(bytes(20))
        assert see(console, "noticed") == 1 or guard_state(console) == HUNTING


def test_a_camera_does_not_see_who_is_hidden() -> None:
    found = []
    for camera in tiles("bunker-1", "c"):
        for x, y in tiles("bunker-1", '"'):
            if camera[1] < y <= camera[1] + 3 and abs(camera[0] - x) <= 3:
                console = unhurt("bunker-1")
                stand(console, (x, y))
                console.run(bytes(700))
                found.append((see(console, "hidden"), see(console, "alarm")))
    assert found and set(found) == {(1, 0)}


def test_low_cover_protects_from_who_shoots_across_it() -> None:
    x, y = next((x, y) for x, y in tiles("dam", "=") if rows("dam")[y][x - 5 : x + 4] == "....." + "=" + "...")
    hits = {}
    for side, tile in (("open", (x - 4, y)), ("covered", (x + 2, y))):
        console = unhurt("dam")
        poke(console, "B", PANELS_AT, 0)  # nobody comes to help
        stand(console, (x - 1, y))
        post(console, tile, HUNTING, WEST if side == "covered" else EAST)
        console.run(bytes(2))
        assert see(console, "guard1_sees") == 1
        console.run(bytes(4000))
        hits[side] = see(console, "hits")
    assert hits["covered"] * 2 < hits["open"] > 20, hits


def test_a_guard_who_does_not_hunt_is_taken_down_in_silence_and_one_who_hunts_is_not() -> None:
    start = tiles("dam", "@")[0]
    for state, down in ((UNAWARE, 1), (HUNTING, 0)):
        console = unhurt("dam")
        post(console, (start[0] + 1, start[1]), state, EAST)
        ammo = see(console, "ammo")
        console.run(Z * 4)
        assert see(console, "kills") == down and (guard_state(console) == DOWN) is bool(down)
        assert see(console, "ammo") - ammo in (0, 5), "no shot; what he had is taken where he falls"
        post(console, (start[0] + 3, start[1]), UNAWARE, EAST)
        console.run(Z * 4)
        assert see(console, "kills") == down, "too far away"


def perform(console: Console) -> list[int]:
    """Do what the game says is next, put where it is, until the exit is next; the kinds in their order."""
    kinds: list[int] = []
    while (kind := see(console, "goal_kind")) != EXIT:
        assert len(kinds) < 12
        done, keys = see(console, "done"), see(console, "keys")
        poke(console, "<2h", 0xF000 + 184, see(console, "goal_x") * 6, see(console, "goal_y") * 6)
        console.run(bytes(20))
        if kind not in (TAKE, KEY):
            assert see(console, "done") == done and see(console, "can_act") == kind, "act is to be held"
            console.run(Z * 250)
        if kind == KEY:
            assert see(console, "done") == done and (see(console, "keys") ^ keys).bit_count() == 1
        else:
            assert (see(console, "done") ^ done).bit_count() == 1
        kinds.append(kind)
    return kinds


def test_every_kind_of_objective_can_be_done_and_then_the_exit_completes() -> None:
    kinds: set[int] = set()
    for level in LEVELS:
        console = unhurt(level)
        console.run(bytes(1))
        assert see(console, "exit_open") == 0
        kinds |= set(perform(console))
        assert see(console, "done") == see(console, "wanted") and see(console, "mode") == PLAYING
        console.run(bytes(1))
        assert see(console, "exit_open") == 1
        stand(console, tiles(level, "X")[0])
        console.run(bytes(2))
        assert see(console, "mode") == COMPLETED, level
    assert kinds == {TAKE, DESTROY, PHOTOGRAPH, MEET, USE, KEY}


def test_an_objective_opens_its_gate() -> None:
    console = unhurt("dam")
    gate = tiles("dam", "H")[1]
    before = gate[0] - 1, gate[1]
    stand(console, before)
    console.run(RIGHT * 60)
    assert see(console, "x") < 8 * gate[0]
    stand(console, tiles("dam", "1")[0])
    console.run(Z * 250)
    stand(console, before)
    console.run(RIGHT * 60)
    assert see(console, "x") > 8 * gate[0] + 8


def test_what_is_to_be_destroyed_breaks_under_fire_and_a_friend_who_is_shot_fails_the_mission() -> None:
    for letter, mode in (("3", PLAYING), ("1", FAILED)):
        console = unhurt("facility")
        x, y = tiles("facility", letter)[0]
        side = next(side for side in (-2, 2) if all(rows("facility")[y][x + side // 2 * n] in ".,:" for n in (1, 2)))
        stand(console, (x + side, y))
        console.run(bytes(1) + bytes([X[0] | (RIGHT if side < 0 else LEFT)[0]]) * 80)
        assert see(console, "mode") == mode
        assert see(console, "done").bit_count() == (mode == PLAYING)


def test_giving_up_takes_a_while_without_letting_go() -> None:
    console = unhurt("dam")
    stand(console, tiles("dam", "X")[0])
    console.run(Z * 80 + bytes(1) + Z * 80)
    assert see(console, "mode") == PLAYING
    console.run(Z * 20)
    assert see(console, "mode") == FAILED


def ended(mode: int) -> np.ndarray:
    """The page that ends a mission in this way, once it has come to rest."""
    console = begun("dam", "agent")
    if mode == DIED:
        start = tiles("dam", "@")[0]
        post(console, (start[0] + 2, start[1]), HUNTING, WEST)
        put(console, health=1)
        console.run(bytes(900))
    else:
        clear(console)
        stand(console, tiles("dam", "X")[0])
        if mode == COMPLETED:
            put(console, done=see(console, "wanted"))
        console.run(Z * 120)
    assert see(console, "mode") == mode
    console.run(bytes(60))
    return console.framebuffer().copy()


def test_a_mission_ends_on_a_page_that_says_how() -> None:
    """The title is in row 38, the reason in row 58; colours are the game's: ground 2, words 0, bad news 3."""
    playing = begun("dam", "agent").framebuffer()
    assert len(np.unique(playing[33:50, 8:152])) > 1
    pages = {mode: ended(mode) for mode in (COMPLETED, DIED, FAILED)}
    for mode, page in pages.items():
        title, why = page[36:48, 8:152], page[56:68, 8:152]
        assert set(np.unique(title)) == {2, 0 if mode == COMPLETED else 3}, mode
        assert set(np.unique(why)) == {2, 0}, mode
        assert 100 < np.count_nonzero(title != 2) < 1200
    assert (pages[DIED][36:48, 8:152] == pages[FAILED][36:48, 8:152]).all(), "both are MISSION FAILED"
    whys = {page[56:68, 8:152].tobytes() for page in pages.values()}
    assert len(whys) == 3, "killed, called off, and the level's name"
