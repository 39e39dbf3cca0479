"""Why: two implementations that agree on thousands of odd factories, tick by tick, are wrong in the same way or right.

The same seeds every time, so that a failure here is a failure everywhere. For more of them, and for one engine alone:
`python -m tests.lattice.fuzzing --seeds 100000 --start 1000000`.
"""

from __future__ import annotations

import functools
import json
import sys
from collections import Counter
from typing import Any

import pytest

from tests.lattice import test_mutants
from tests.lattice.engines import RIGHT_ENGINES, call, engine
from tests.lattice.fuzzing import REGRESSIONS, answer_of, difference, fuzz, shrink
from tests.lattice.random_factories import draw_factory

SEEDS = 2_400
PARTS = 8
REGRESSED = sorted(REGRESSIONS.glob("*.json"))
WRONG = RIGHT_ENGINES[0].parents[1] / "incorrect" / "wrong_answer" / "side-load-swapped"
world_module = sys.modules["lattice_reference.world"]


@pytest.mark.parametrize("part", range(PARTS))
def test_every_engine_agrees_with_the_reference_on_random_factories(part: int) -> None:
    failures = [str(failure) for failure in fuzz(range(part, SEEDS, PARTS))]
    assert not failures, "\n".join(failures[:5])


@pytest.mark.parametrize("folder", RIGHT_ENGINES, ids=lambda folder: folder.name)
@pytest.mark.parametrize("path", REGRESSED, ids=lambda path: path.stem)
def test_what_once_went_wrong_stays_right(path: Any, folder: Any) -> None:
    """`regressions/` holds scenarios on which an engine or a draft of one was wrong, with a sentence about it."""
    saved = json.loads(path.read_bytes())
    assert saved["what"]
    assert difference(engine(folder), saved["scenario"], answer_of(saved["scenario"])) is None


def test_the_walk_over_regressions_finds_some() -> None:
    assert REGRESSED


def test_the_random_factories_are_of_every_sort() -> None:
    """Every kind of entity, and the layouts in which engines are most easily wrong, come often."""
    seen: Counter[str] = Counter()
    for seed in range(300):
        scenario = draw_factory(seed)
        world = world_module.World(scenario)
        owned = set(map(id, world.owner.values()))
        tiles = [tile for entity in world.entities for tile in entity.tiles()]
        grid = scenario["grid"]
        heads = [(world.belt_at(world_module.ahead(belt.tile, belt.dir)), belt) for belt in world.belts]
        seen.update({entity.kind for entity in world.entities})
        seen["mixed tiers"] += any(len({belt.tier for belt in run}) > 1 for run in world.runs)
        seen["long runs"] += any(len(run) > 5 for run in world.runs)
        seen["curves"] += bool(world.curves)
        seen["side-loads"] += bool(world.side_loads)
        seen["a belt under something"] += any(id(belt) not in owned for belt in world.belts)
        seen["over the edge"] += any(x >= grid["width"] or y >= grid["height"] for x, y in tiles)
        seen["head-on"] += any(
            target is not None and target.dir == world_module.OPPOSITE[belt.dir] for target, belt in heads
        )
        seen["every tick"] += len(scenario["snapshots"]) == scenario["ticks"]
        seen["main bus"] += len(scenario["entities"]) > 70
    assert len(seen) == 17
    assert seen.pop("main bus") >= 4
    assert all(count >= 20 for count in seen.values()), seen


def test_a_wrong_engine_is_found_and_its_scenario_made_small() -> None:
    failure = next(fuzz(range(300), [WRONG]))
    assert failure.engine == WRONG.name
    text = json.dumps(failure.scenario, separators=(",", ":"))
    assert f"seed {failure.seed}" in str(failure) and text in str(failure)
    assert difference(engine(WRONG), failure.scenario, answer_of(failure.scenario)) is not None
    assert len(failure.scenario["snapshots"]) == 1
    entities = failure.scenario["entities"]
    assert len(entities) < len(draw_factory(failure.seed)["entities"])
    for number in range(len(entities)):
        smaller = failure.scenario | {"entities": entities[:number] + entities[number + 1 :]}
        assert difference(engine(WRONG), smaller, answer_of(smaller)) is None, "nothing of it can be left out"


def test_shrinking_keeps_what_is_needed_and_nothing_else() -> None:
    scenario = draw_factory(3) | {"snapshots": [*range(1, 30)], "ticks": 29, "entities": [*"abcdefghijklm"]}
    small = shrink(scenario, lambda s: {*"cg"} <= {*s["entities"]} and s["snapshots"][-1] >= 17)
    assert small["entities"] == ["c", "g"]
    assert small["snapshots"] == [17] and small["ticks"] == 17


@functools.cache
def checked(seed: int) -> tuple[dict[str, Any], list[str]]:
    """A random factory with its last snapshot alone, and the checksum that a right engine gives it."""
    scenario = draw_factory(seed)
    scenario["snapshots"] = scenario["snapshots"][-1:]
    made = call(engine(RIGHT_ENGINES[0]), scenario)
    assert made.output is not None, made.detail
    return scenario, [snapshot["checksum"] for snapshot in json.loads(made.output)]


@pytest.mark.parametrize("change", [m[1] for m in test_mutants.MUTANTS], ids=[m[0] for m in test_mutants.MUTANTS])
def test_an_engine_that_breaks_a_rule_would_be_found(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each mutant of the rules ends up elsewhere than a right engine on one of the first random factories."""
    broken = test_mutants.World
    if isinstance(change, dict):
        for name, value in change.items():
            monkeypatch.setattr(world_module, name, value)
        if "ENTRY" in change:
            monkeypatch.setattr(test_mutants.World.accepts, "__defaults__", (change["ENTRY"],))
            monkeypatch.setattr(test_mutants.World.force, "__defaults__", (change["ENTRY"],))
    else:
        broken = change
    cheap = (seed for seed in range(SEEDS) if seed % 50 != 49)
    assert any(test_mutants.answer(broken, scenario) != right for scenario, right in map(checked, cheap))
