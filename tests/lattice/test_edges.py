"""Why: what a scenario may say at its edges is where engines that do well on factories go wrong, so it has names here.

Every right engine is asked. A call may burn as much fuel as a scored input; where only an engine that skips periods can
answer within that, others are skipped with a reason.
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.lattice.engines import RIGHT_ENGINES, call, engine
from tests.lattice.fuzzing import answer_of, difference
from tests.lattice.lattice_case import load
from tests.lattice.random_factories import scenario_from

Entities = list[dict[str, Any]]
QUICK = 200_000_000
"""Fuel for what must not depend on the number of ticks."""

pytestmark = pytest.mark.parametrize("folder", RIGHT_ENGINES, ids=lambda folder: folder.name)


def belt(x: int, y: int = 0, direction: str = "E", tier: str = "fast") -> dict[str, Any]:
    return {"type": "belt", "x": x, "y": y, "dir": direction, "tier": tier}


def source(x: int, y: int = 0, period: int = 3, lane: str = "both", item: str = "coal") -> dict[str, Any]:
    return {"type": "source", "x": x, "y": y, "dir": "E", "item": item, "lane": lane, "period": period}


def sink(x: int, y: int = 0) -> dict[str, Any]:
    return {"type": "sink", "x": x, "y": y, "dir": "N"}


def smelter() -> Entities:
    """A small factory with a short period: ore and coal on one belt, a furnace, two sinks."""
    ore, coal = source(0, 1, 5, "left", "iron-ore"), source(1, 0, 7, "right")
    return [
        *(ore, coal | {"dir": "S"}, belt(1, 1), belt(2, 1), belt(3, 1), sink(4, 1)),
        {"type": "inserter", "x": 2, "y": 2, "dir": "S"},
        {"type": "furnace", "x": 2, "y": 3, "recipe": "iron-plate"},
        *({"type": "inserter", "x": 4, "y": 3, "dir": "E"}, sink(5, 3)),
    ]


def assert_right(folder: Path, scenario: dict[str, Any]) -> None:
    assert difference(engine(folder), scenario, answer_of(scenario)) is None


@pytest.mark.parametrize("snapshots", [[1], [1, 2], [99, 100, 101], [1, 199, 200], [*range(1, 201)], [35, 36, 70, 71]])
def test_snapshots_may_lie_anywhere(folder: Path, snapshots: list[int]) -> None:
    """One tick apart, at every tick, at the first and at the last."""
    assert_right(folder, scenario_from(smelter(), snapshots[-1], snapshots=snapshots))


@pytest.mark.parametrize("ticks", [10**12, 2**63, 2**64 - 1])
def test_nothing_has_to_happen_after_the_last_snapshot(folder: Path, ticks: int) -> None:
    scenario = scenario_from(smelter(), ticks, snapshots=[1, 40, 300])
    made = call(engine(folder), scenario, QUICK)
    assert made.output is not None, made.detail
    assert_right(folder, scenario)


@pytest.mark.parametrize("last", [10**12, 10**12 + 1, 10**15 + 17])
def test_a_periodic_factory_can_be_asked_about_its_far_future(folder: Path, last: int) -> None:
    scenario = scenario_from(smelter(), last, snapshots=[100, last - 1, last])
    made = call(engine(folder), scenario, QUICK)
    if made.reason == "exhausted":
        pytest.skip("this engine does not skip periods: it would simulate every tick")
    assert made.output is not None, made.detail
    assert json.loads(made.output) == load("oracle").simulate(scenario, skip_repeats=True)


@pytest.mark.parametrize("last", [10**12])
def test_a_factory_at_rest_can_be_asked_about_its_far_future(folder: Path, last: int) -> None:
    scenario = scenario_from([source(0), belt(1), belt(2)], last, snapshots=[last])
    made = call(engine(folder), scenario, QUICK)
    if made.reason == "exhausted":
        pytest.skip("this engine does not skip ticks in which nothing happens")
    assert made.output is not None, made.detail
    assert json.loads(made.output) == load("oracle").simulate(scenario, skip_repeats=True)


LAYOUTS: dict[str, tuple[Entities, list[int]]] = {
    "no entities": ([], [1, 2, 50]),
    "only sinks": ([sink(x, y) for x in range(4) for y in range(3)], [1, 30]),
    "one belt": ([belt(0)], [1, 2, 30]),
    "one source": ([source(0, period=7)], [*range(1, 16)]),
    "one inserter": ([{"type": "inserter", "x": 0, "y": 0, "dir": "W"}], [1, 20]),
    "one splitter": ([{"type": "splitter", "x": 0, "y": 0, "dir": "S"}], [1, 2, 3]),
    "one lane splitter": ([{"type": "lane-splitter", "x": 0, "y": 0, "dir": "W"}], [1, 2, 3]),
    "one furnace": ([{"type": "furnace", "x": 0, "y": 0, "recipe": "iron-plate"}], [1, 40]),
    "a belt of 2,000 tiles": ([source(0), *(belt(x) for x in range(1, 2_001)), sink(2_001)], [1, 500, 1_200]),
    "2,000 tiles of all tiers": (
        [source(0, period=2), *(belt(x, tier=("slow", "fast", "express")[x // 7 % 3]) for x in range(1, 2_001))],
        [10, 700],
    ),
    "items that never move": ([source(0, period=1), belt(1), belt(2)], [1, 5, 100, 101]),
    "a period longer than the run": ([source(0, period=1_000), belt(1), sink(2)], [1, 998, 999]),
    "a period as long as the run": ([source(0, period=50), belt(1), sink(2)], [49, 50]),
    "the longest period": ([source(0, period=2**32 - 1), belt(1), sink(2)], [1, 100]),
    "everything on one tile": ([belt(0), sink(0), source(0), belt(0, direction="N"), sink(0), belt(0)], [1, 20]),
    "a grid of one tile, footprints outside": ([{"type": "assembler", "x": 0, "y": 0, "recipe": "circuit"}], [1, 9]),
    "a thousand entities that never meet": ([belt(3 * x, 2 * y) for x in range(40) for y in range(25)], [1, 9]),
}


@functools.cache
def layout(name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A scenario and the reference's answer, worked out once for all engines."""
    entities, snapshots = LAYOUTS[name]
    scenario = scenario_from(entities, snapshots[-1], snapshots=snapshots)
    return scenario, answer_of(scenario)


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_may_be_as_bare_or_as_long_as_it_likes(folder: Path, name: str) -> None:
    scenario, right = layout(name)
    assert difference(engine(folder), scenario, right) is None


@pytest.mark.parametrize("offset", [0, 10**6, 2**31 - 20])
def test_a_grid_may_be_huge_and_its_factory_anywhere(folder: Path, offset: int) -> None:
    """The grid is a bound, not an array; numbers up to 2^31 - 1."""
    entities = [entity | {"x": entity["x"] + offset, "y": entity["y"] + offset} for entity in smelter()]
    size = 2**31 - 1
    assert_right(folder, scenario_from(entities, 60, size, size, [1, 30, 60]))


def test_a_footprint_may_hang_over_the_edge_of_a_huge_grid(folder: Path) -> None:
    size = 2**31 - 1
    edge = [{"type": kind, "x": size - 1, "y": size - 1, **fields} for kind, fields in (
        ("splitter", {"dir": "S"}), ("assembler", {"recipe": "circuit"}), ("belt", {"dir": "E", "tier": "slow"}),
    )]  # fmt: skip
    assert_right(folder, scenario_from(edge, 5, size, size))


def entity_with(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda scenario: scenario["entities"].append({"x": 0, "y": 0, **fields})


INVALID: dict[str, Callable[[dict[str, Any]], Any]] = {
    "version 2": lambda s: s.update(version=2),
    "version 0": lambda s: s.update(version=0),
    "no version": lambda s: s.pop("version"),
    "no grid": lambda s: s.pop("grid"),
    "no ticks": lambda s: s.pop("ticks"),
    "no snapshots": lambda s: s.pop("snapshots"),
    "no entities": lambda s: s.pop("entities"),
    "an unknown key": lambda s: s.update(seed=1),
    "an unknown key of the grid": lambda s: s["grid"].update(depth=1),
    "a grid without height": lambda s: s["grid"].pop("height"),
    "width 0": lambda s: s["grid"].update(width=0),
    "height 0": lambda s: s["grid"].update(height=0),
    "width -1": lambda s: s["grid"].update(width=-1),
    "empty snapshots": lambda s: s.update(snapshots=[]),
    "snapshot 0": lambda s: s.update(snapshots=[0, 5]),
    "equal snapshots": lambda s: s.update(snapshots=[5, 5]),
    "falling snapshots": lambda s: s.update(snapshots=[6, 5]),
    "a snapshot behind the end": lambda s: s.update(snapshots=[5, s["ticks"] + 1]),
    "a negative snapshot": lambda s: s.update(snapshots=[-1, 5]),
    "no ticks at all": lambda s: s.update(ticks=0),
    "an unknown type": entity_with(type="pump", dir="E"),
    "no type": entity_with(dir="E"),
    "an unknown tier": entity_with(type="belt", dir="E", tier="hyper"),
    "no tier": entity_with(type="belt", dir="E"),
    "an unknown direction": entity_with(type="belt", dir="e", tier="slow"),
    "no direction": entity_with(type="inserter"),
    "a sink without direction": entity_with(type="sink"),
    "an unknown item": entity_with(type="source", dir="E", item="gold", lane="left", period=1),
    "an unknown lane": entity_with(type="source", dir="E", item="coal", lane="middle", period=1),
    "period 0": entity_with(type="source", dir="E", item="coal", lane="left", period=0),
    "no period": entity_with(type="source", dir="E", item="coal", lane="left"),
    "an unknown recipe": entity_with(type="assembler", recipe="gold"),
    "smelting in an assembler": entity_with(type="assembler", recipe="iron-plate"),
    "assembling in a furnace": entity_with(type="furnace", recipe="circuit"),
    "an anchor east of the grid": lambda s: s["entities"].append(belt(s["grid"]["width"])),
    "an anchor south of the grid": lambda s: s["entities"].append(belt(0, s["grid"]["height"])),
    "an anchor west of the grid": lambda s: s["entities"].append(belt(-1)),
    "an anchor north of the grid": lambda s: s["entities"].append(belt(0, -1)),
}


@pytest.mark.parametrize("name", INVALID)
def test_an_invalid_scenario_traps(folder: Path, name: str) -> None:
    scenario = scenario_from(copy.deepcopy(smelter()), 50, snapshots=[5, 50])
    load("oracle").World(scenario)
    INVALID[name](scenario)
    with pytest.raises(ValueError):
        load("oracle").World(scenario)
    made = call(engine(folder), scenario, QUICK)
    assert made.output is None and made.reason == "trap:unreachable", made


@pytest.mark.parametrize("text", ["", " ", "[]", "{}", "null", "{", '{"version":1'])
def test_what_is_not_a_scenario_traps(folder: Path, text: str) -> None:
    made = call(engine(folder), text, QUICK)
    assert made.output is None and (made.reason or "").startswith("trap:"), made


def every_string_escaped(value: Any) -> str:
    if isinstance(value, str):
        return '"' + "".join(f"\\u{ord(letter):04x}" for letter in value) + '"'
    if isinstance(value, dict):
        return "{" + ",".join(f"{every_string_escaped(k)}:{every_string_escaped(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(every_string_escaped, value)) + "]"
    return json.dumps(value)


def backwards(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: backwards(value[key]) for key in reversed(value)}
    return [*map(backwards, value)] if isinstance(value, list) else value


def with_unknown_keys(scenario: dict[str, Any]) -> dict[str, Any]:
    junk = {"tags": [1, -2.5e-3, {"type": "sink", "x": [9]}], "note": 'a "quoted" \\ \n é ☃ 𝄞', "on": True, "off": None}
    misleading = {"Type": "belt", "dirs": "N", "x ": 7, "": 0, "a-key-longer-than-any-that-is-known-to-engines": 3}
    entities = [{**junk, **entity, **misleading} for entity in scenario["entities"]]
    return {**scenario, "entities": entities}


WRITINGS: dict[str, Callable[[dict[str, Any]], str]] = {
    "compact": lambda s: json.dumps(s, separators=(",", ":")),
    "indented": lambda s: json.dumps(s, indent=4),
    "white space of every kind": lambda s: (
        "\r\n\t " + json.dumps(s, indent="\t", separators=(" \r,\n", "\t: ")) + " \n\t\r"
    ),
    "keys backwards": lambda s: json.dumps(backwards(s)),
    "entities first": lambda s: json.dumps({"entities": s["entities"], **s}),
    "keys sorted": lambda s: json.dumps(s, sort_keys=True),
    "every string escaped": every_string_escaped,
    "unknown keys in entities": lambda s: json.dumps(with_unknown_keys(s)),
    "unknown keys, not escaped": lambda s: json.dumps(with_unknown_keys(s), ensure_ascii=False),
    "fields of other types": lambda s: json.dumps(
        {
            **s,
            "entities": [
                {"tier": "slow", "recipe": "gold", "lane": 7, "period": 0, "item": [], **e} for e in s["entities"]
            ],
        }
    ),
}


@pytest.mark.parametrize("name", WRITINGS)
def test_a_scenario_may_be_written_in_every_way_that_json_allows(folder: Path, name: str) -> None:
    scenario = scenario_from(smelter(), 80, snapshots=[10, 80])
    made = call(engine(folder), WRITINGS[name](scenario), QUICK)
    assert made.output is not None, made.detail
    assert json.loads(made.output) == load("oracle").simulate(scenario)
