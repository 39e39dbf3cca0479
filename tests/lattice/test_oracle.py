"""Why: every expected answer rests on the reference, so it has to agree with oracles that others published."""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest


@pytest.mark.parametrize("name", ["furnace-single", "inserter-backed-up"])
def test_it_reproduces_a_published_oracle_entity_by_entity(oracle: ModuleType, published: Any, name: str) -> None:
    expected = published(f"{name}.out")
    given = oracle.simulate(published(f"{name}.json"))
    for right, snapshot in zip(expected, given, strict=True):
        for number, entity in enumerate(right["entities"]):
            assert snapshot["entities"][number] == entity, (right["tick"], number)
        assert snapshot == right


def test_it_reproduces_the_five_published_checksums_of_a_large_factory(oracle: ModuleType, published: Any) -> None:
    expected = published("medium.checksums.json")["checksums"]
    given = oracle.simulate(published("medium.json"), skip_repeats=True)
    assert {str(snapshot["tick"]): snapshot["checksum"] for snapshot in given} == expected


def chain(snapshots: list[int]) -> dict[str, Any]:
    """A small factory that soon falls into a period: ore and coal on a belt, a furnace, a sink at each end."""
    entities = [
        {"type": "source", "x": 0, "y": 1, "dir": "E", "item": "iron-ore", "lane": "left", "period": 5},
        {"type": "source", "x": 1, "y": 0, "dir": "S", "item": "coal", "lane": "right", "period": 7},
        *({"type": "belt", "x": x, "y": 1, "dir": "E", "tier": "fast"} for x in (1, 2, 3)),
        {"type": "sink", "x": 4, "y": 1, "dir": "E"},
        {"type": "inserter", "x": 2, "y": 2, "dir": "S"},
        {"type": "furnace", "x": 2, "y": 3, "recipe": "iron-plate"},
        {"type": "inserter", "x": 4, "y": 3, "dir": "E"},
        {"type": "sink", "x": 5, "y": 3, "dir": "E"},
    ]
    grid = {"width": 6, "height": 5}
    return {"version": 1, "grid": grid, "ticks": snapshots[-1], "snapshots": snapshots, "entities": entities}


def test_skipping_repeats_and_stepping_give_the_same_answer(oracle: ModuleType) -> None:
    scenario = chain([1, 36, 4_000, 4_001, 11_111, 20_000])
    world = oracle.World(scenario)
    repeats = oracle.Repeats(world)
    while repeats.period is None:
        world.step()
        repeats.look()
    assert world.tick < 4_000, "the period has to be found early enough to be used"
    assert oracle.simulate(scenario, skip_repeats=True) == oracle.simulate(scenario)


def test_skipping_repeats_reaches_a_tick_that_stepping_never_could(oracle: ModuleType) -> None:
    (snapshot,) = oracle.simulate(chain([10**15]), skip_repeats=True)
    assert snapshot["tick"] == 10**15
    assert snapshot["entities"][-1]["sink"]["consumed"]["iron-plate"] > 10**12


def test_one_item_more_in_a_buffer_is_not_a_repeat(oracle: ModuleType) -> None:
    world = oracle.World(chain([100]))
    for _ in range(50):
        world.step()
    before = world.future()
    world.of_kind("furnace")[0].inputs["coal"] = world.of_kind("furnace")[0].inputs.get("coal", 0) + 1
    assert world.future() != before


def test_the_checksum_is_fnv1a_64(oracle: ModuleType) -> None:
    # The test values of the hash's authors.
    assert oracle.checksum(b"") == "fnv1a64:cbf29ce484222325"
    assert oracle.checksum(b"a") == "fnv1a64:af63dc4c8601ec8c"
    assert oracle.checksum(b"foobar") == "fnv1a64:85944171f73967e8"


def test_the_canonical_bytes_are_laid_out_as_the_rules_say(oracle: ModuleType) -> None:
    entities = [
        {"belt": {"left": [{"pos": 3, "item": "coal"}], "right": []}},
        {"splitter": {"out_pref": 2, "in_first": 1}},
        {"inserter": {"phase": "swing", "held": "circuit", "swing_left": 5}},
        {"inserter": {"phase": "return", "swing_left": 7}},
        {"furnace": {"inputs": {"iron-ore": 2, "coal": 1}, "output": {"iron-plate": 0}, "craft_left": 9}},
        {"source": {"emit_phase": 4}},
        {"sink": {"consumed": {"coal": 258}}},
        {"lanesplitter": {}},
    ]
    expected = "0102000000000000 08000000 00 01000000 03000000 1000 00000000 01 0200 01 02 01 01 0600 0500"
    expected += "02 02 00 0700 06 02 0000 0200 1000 0100 00 0900 04 04000000 05 01 1000 0201000000000000 07"
    assert oracle.canonical_bytes(513, entities) == bytes.fromhex(expected)


def _entity(number: int, **changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda scenario: scenario["entities"][number].update(changes)


def _top(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda scenario: scenario.update(changes)


INVALID: dict[str, Callable[[dict[str, Any]], None]] = {
    "another version": _top(version=2),
    "a version that is a bool": _top(version=True),
    "an unknown key at the top": _top(extra=1),
    "an unknown key in the grid": lambda s: s["grid"].update(depth=1),
    "a grid without width": lambda s: s["grid"].update(width=0),
    "a grid of negative height": lambda s: s["grid"].update(height=-1),
    "no snapshot": _top(snapshots=[]),
    "a snapshot at tick 0": _top(snapshots=[0, 10]),
    "a snapshot after the last tick": _top(snapshots=[10, 101]),
    "a snapshot twice": _top(snapshots=[10, 10]),
    "snapshots that descend": _top(snapshots=[20, 10]),
    "a missing list of entities": lambda s: s.pop("entities"),
    "an unknown type": _entity(0, type="pump"),
    "an unknown tier": _entity(2, tier="hyper"),
    "an unknown recipe": _entity(7, recipe="gold"),
    "an unknown item": _entity(0, item="gold"),
    "an unknown lane": _entity(0, lane="middle"),
    "an unknown direction": _entity(2, dir="NE"),
    "a period of 0": _entity(0, period=0),
    "an anchor west of the grid": _entity(2, x=-1),
    "an anchor east of the grid": _entity(2, x=6),
    "an anchor south of the grid": _entity(2, y=5),
    "an assembler that smelts": _entity(7, type="assembler"),
    "a furnace that assembles": _entity(7, recipe="iron-gear"),
    "a missing field": lambda s: s["entities"][2].pop("tier"),
}


@pytest.mark.parametrize("breaking", INVALID.values(), ids=INVALID.keys())
def test_an_invalid_scenario_is_rejected(oracle: ModuleType, breaking: Callable[[dict[str, Any]], None]) -> None:
    scenario = chain([10, 100])
    oracle.World(copy.deepcopy(scenario))
    breaking(scenario)
    with pytest.raises(ValueError, match=r"\w"):
        oracle.simulate(scenario)


def test_unknown_fields_of_an_entity_are_ignored_and_only_the_anchor_has_to_be_inside(oracle: ModuleType) -> None:
    scenario = chain([10, 100])
    expected = oracle.simulate(scenario)
    scenario["entities"][6]["tier"] = "fast"
    assert oracle.simulate(scenario) == expected
    scenario["entities"].append({"type": "assembler", "x": 5, "y": 4, "recipe": "circuit"})
    assert len(oracle.simulate(scenario)[0]["entities"]) == 11


def test_the_later_of_two_overlapping_entities_owns_the_tile(oracle: ModuleType) -> None:
    scenario = chain([100])
    scenario["entities"].append({"type": "sink", "x": 2, "y": 1, "dir": "E"})
    (snapshot,) = oracle.simulate(scenario)
    assert snapshot["entities"][-1]["sink"]["consumed"], "the sink on top of the belt takes what arrives"
    assert snapshot["entities"][5]["sink"]["consumed"] == {}


def test_a_closed_ring_of_belts_hands_nothing_on(oracle: ModuleType) -> None:
    ring = [(0, 0, "E"), (1, 0, "E"), (2, 0, "S"), (2, 1, "W"), (1, 1, "W"), (0, 1, "N")]
    entities: list[dict[str, Any]] = [{"type": "belt", "x": x, "y": y, "dir": d, "tier": "fast"} for x, y, d in ring]
    entities.append({"type": "source", "x": 1, "y": 2, "dir": "N", "item": "coal", "lane": "both", "period": 1})
    grid = {"width": 3, "height": 3}
    scenario = {"version": 1, "grid": grid, "ticks": 50, "snapshots": [50], "entities": entities}
    belts = [state["belt"] for state in oracle.simulate(scenario)[0]["entities"][:6]]
    assert [len(belt["left"]) + len(belt["right"]) for belt in belts] == [0, 0, 0, 0, 8, 0]


def test_a_belt_that_is_met_head_on_and_also_fed_takes_both_lanes_on_its_right_one(oracle: ModuleType) -> None:
    entities: list[dict[str, Any]] = [
        {"type": "belt", "x": 0, "y": 0, "dir": "E", "tier": "slow"},
        {"type": "belt", "x": 1, "y": 0, "dir": "E", "tier": "slow"},
        {"type": "belt", "x": 2, "y": 0, "dir": "W", "tier": "slow"},
        {"type": "belt", "x": 2, "y": 1, "dir": "N", "tier": "slow"},
        {"type": "source", "x": 1, "y": 1, "dir": "N", "item": "coal", "lane": "left", "period": 6},
    ]
    grid = {"width": 3, "height": 2}
    scenario = {"version": 1, "grid": grid, "ticks": 11, "snapshots": [11], "entities": entities}
    target = oracle.simulate(scenario)[0]["entities"][2]["belt"]
    assert target == {"left": [], "right": [{"pos": 128, "item": "coal"}]}


def test_a_lane_splitter_parts_the_lanes(oracle: ModuleType) -> None:
    entities: list[dict[str, Any]] = [
        {"type": "source", "x": 0, "y": 0, "dir": "E", "item": "coal", "lane": "both", "period": 4},
        {"type": "lane-splitter", "x": 2, "y": 0, "dir": "E"},
        *({"type": "belt", "x": x, "y": y, "dir": "E", "tier": "fast"} for x, y in ((1, 0), (3, 0), (3, 1))),
    ]
    grid = {"width": 4, "height": 2}
    scenario = {"version": 1, "grid": grid, "ticks": 60, "snapshots": [60], "entities": entities}
    states = oracle.simulate(scenario)[0]["entities"]
    counts = [(len(state["belt"]["left"]), len(state["belt"]["right"])) for state in states[2:]]
    assert states[1] == {"lanesplitter": {}}
    assert counts[1:] == [(4, 0), (0, 4)]
