"""Why: a jammed factory is also periodic, and decoration costs nothing: scored factories have to do real work.

Measured with an engine, because that is quick; the fuzzer and the graded answers hold it to the reference.
"""

from __future__ import annotations

import functools
import json
import math
from collections import Counter
from types import ModuleType
from typing import Any

import pytest

from tests.lattice.engines import RIGHT_ENGINES, call, engine
from tests.lattice.lattice_case import CASE, load

STRESS = ("small", "medium", "large")
FAST = next(folder for folder in RIGHT_ENGINES if folder.name == "transport")
SEEDS = range(1_000, 1_012)
PERIOD = 576


def scenario_of(name: str) -> dict[str, Any]:
    return dict(json.loads((CASE / f"stress/{name}.json").read_bytes()))


@functools.cache
def drawn(seed: int, size: int) -> dict[str, Any]:
    return dict(load("generate").build(seed, size).scenario([1]))


def answer(scenario: dict[str, Any], snapshots: list[int]) -> list[dict[str, Any]]:
    made = call(engine(FAST), {**scenario, "ticks": snapshots[-1], "snapshots": snapshots}, 10**12)
    assert made.output is not None, made.detail
    return list(json.loads(made.output))


def states_of(row: dict[str, Any]) -> list[Any]:
    """Of all but the sinks, whose counts only grow."""
    return [entity for entity in row["entities"] if "sink" not in entity]


def is_crafting(state: dict[str, Any]) -> bool:
    return any(body["craft_left"] > 0 for body in state.values())


def is_crafter(entity: dict[str, Any]) -> bool:
    return entity["type"] in ("assembler", "furnace")


@pytest.mark.parametrize("name", STRESS)
def test_a_scored_factory_has_everything(name: str) -> None:
    scenario = scenario_of(name)
    world = load("oracle").World(scenario)
    assert {entity["tier"] for entity in scenario["entities"] if "tier" in entity} == {"slow", "fast", "express"}
    kinds = {entity["type"] for entity in scenario["entities"]}
    assert kinds == {"belt", "splitter", "inserter", "assembler", "furnace", "source", "sink"}
    assert world.curves
    assert world.side_loads
    recipes = {entity["recipe"] for entity in scenario["entities"] if "recipe" in entity}
    assert len(recipes) == (4 if name == "small" else 8)


def test_the_scored_factories_grow() -> None:
    sizes = [len(scenario_of(name)["entities"]) for name in STRESS]
    assert 150 <= sizes[0] <= 170 and 580 <= sizes[1] <= 620 and 950 <= sizes[2] <= 1_050


@pytest.mark.parametrize("name", STRESS)
def test_a_scored_factory_is_graded_twice_early_and_three_times_over_a_long_run(name: str) -> None:
    snapshots = scenario_of(name)["snapshots"]
    ticks = snapshots[-1]
    assert ticks >= 50_000
    assert snapshots == [1_250, 2_500, ticks // 4, ticks // 2, ticks]


@pytest.mark.parametrize("name", STRESS)
def test_in_its_period_a_scored_factory_crafts_moves_and_delivers_everything(name: str) -> None:
    """One whole period, looked at every 8 ticks; no craft is shorter than 32."""
    entities, start = scenario_of(name)["entities"], 12_000
    rows = answer(scenario_of(name), [*range(start, start + PERIOD + 1, 8)])
    assert states_of(rows[0]) == states_of(rows[-1]), (
        "the factory repeats itself, and so early that it is cheap to grade"
    )
    states = [row["entities"] for row in rows]
    busy = Counter(n for state in states[1:] for n, e in enumerate(entities) if is_crafter(e) and is_crafting(state[n]))
    crafters = sum(map(is_crafter, entities))
    assert sum(busy.values()) >= 0.8 * crafters * (len(rows) - 1)
    assert len(busy) == crafters, "a machine that never runs is decoration"
    moving = {e["tier"] for n, e in enumerate(entities) if "tier" in e and any(s[n] != states[0][n] for s in states)}
    assert moving == {"slow", "fast", "express"}
    delivered: set[str] = set()
    for number, entity in enumerate(entities):
        if entity["type"] == "sink":
            first, last = (state[number]["sink"]["consumed"] for state in (states[0], states[-1]))
            gained = {item for item in last if last[item] > first.get(item, 0)}
            assert gained, f"the sink at {entity['x']}, {entity['y']} gets nothing any more"
            delivered |= gained
    assert delivered >= ({"circuit"} if name == "small" else {"assembler", "inserter"})


@pytest.mark.parametrize("name", STRESS)
def test_no_graded_tick_is_a_whole_number_of_periods_after_another(name: str) -> None:
    """Otherwise an engine that writes one state five times, with other sink counts, would do."""
    scenario = scenario_of(name)
    snapshots = scenario["snapshots"]
    states = [*map(states_of, answer(scenario, snapshots))]
    assert all(states.index(state) == number for number, state in enumerate(states))


@pytest.mark.parametrize(
    ("seed", "size"), [*((seed, size) for seed in SEEDS for size in (160, 600)), (7, 1_000), (7, 10_000)]
)
def test_a_factory_of_any_seed_and_size_runs(seed: int, size: int) -> None:
    """About the size asked for; most crafters craft; every sink receives something late in a long run."""
    scenario = drawn(seed, size)
    entities = scenario["entities"]
    assert abs(len(entities) - size) <= 0.25 * size
    start, count = 9_000, 24
    rows = answer(scenario, [start + 41 * number for number in range(count)])
    crafters = [number for number, entity in enumerate(entities) if is_crafter(entity)]
    busy = sum(
        row["entities"][number][entities[number]["type"]]["craft_left"] > 0 for row in rows for number in crafters
    )
    assert busy >= 0.6 * count * len(crafters)
    for number, entity in enumerate(entities):
        if entity["type"] == "sink":
            first, last = (sum(row["entities"][number]["sink"]["consumed"].values()) for row in (rows[0], rows[-1]))
            assert last > first, (entity, first)


def test_seeds_differ_in_more_than_placement_order() -> None:
    """Over a dozen seeds: bus widths, recipes, row lengths, tiers of rows, periods, outlines."""
    factories = [drawn(seed, 600) for seed in SEEDS]
    recipes = [Counter(e["recipe"] for e in scenario["entities"] if "recipe" in e) for scenario in factories]
    assert len({frozenset(counts.items()) for counts in recipes}) >= 6
    tiers = [Counter(e["tier"] for e in scenario["entities"] if "tier" in e) for scenario in factories]
    assert len({frozenset(counts.items()) for counts in tiers}) == len(factories)
    periods = [Counter(e["period"] for e in scenario["entities"] if "period" in e) for scenario in factories]
    assert len({frozenset(counts.items()) for counts in periods}) >= 8
    assert all(math.lcm(*counts) in (2, 4, 6, 12) for counts in periods)
    assert len({tuple(scenario["grid"].values()) for scenario in factories}) >= 8
    splitters = {sum(e["type"] == "splitter" for e in scenario["entities"]) for scenario in factories}
    assert len(splitters) >= 4


def test_a_seed_gives_the_same_factory_every_time(generate: ModuleType) -> None:
    first, again, other = (generate.build(seed, 160).entities for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_turned_drawing_works_as_before(generate: ModuleType) -> None:
    """Whatever side is up: the same products, to the item, but for the turns of splitters."""
    district = generate.sys.modules["lattice_generator.factory"].district
    plan = district(generate.sys.modules["random"].Random(5), ("inserter",))
    made = []
    for mirrored in (False, True):
        for quarters in range(4):
            (row,) = answer(plan.turned(quarters, mirrored=mirrored).scenario([1]), [6_000])
            consumed: Counter[str] = Counter()
            for entity in row["entities"]:
                consumed.update(entity.get("sink", {}).get("consumed", {}))
            made.append(consumed["inserter"])
    assert min(made) > 50
    assert max(made) - min(made) <= 3
