"""Why: the READMEs quote what the measuring command prints, so its parts have to be parts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.lattice.engines import RIGHT_ENGINES, call, engine
from tests.lattice.lattice_case import CASE, load

load("scaling")
measure = sys.modules["measure"]  # the one that it imports: engines are then built once
TEXT = (CASE / "training" / "training-inserters.json").read_bytes()
WHEEL = CASE / "solutions" / "pass" / "timing-wheel"


def test_it_knows_every_right_engine() -> None:
    assert sorted(measure.ENGINES.values()) == RIGHT_ENGINES


@pytest.mark.parametrize("folder", [WHEEL, WHEEL.parent / "flat-zig"], ids=lambda folder: folder.name)
def test_the_parts_of_a_run_add_up_to_what_the_grader_would_see(folder: Path) -> None:
    (_, whole, said), *parts = measure.parts(folder, TEXT)
    assert whole == call(engine(folder), TEXT.decode()).fuel
    assert whole == sum(fuel for name, fuel, _ in parts if not name.startswith(" "))
    assert all(fuel > 0 for _, fuel, _ in parts), parts
    assert "2,000 ticks, 3 snapshots" in said


def test_the_best_engine_tells_reading_looks_and_checksums_apart() -> None:
    names = [name for name, _, _ in measure.parts(WHEEL, TEXT)]
    assert names[1] == "reading the scenario"
    assert [name for name in names if name.startswith(" ")] == [
        "  of these: looks for a repeat, up to tick 1,000",
        "  of these: checksums",
        "  without a skip: a tick of 10,001 to 20,000",
    ]


def test_a_run_without_a_skip_is_as_right_as_one_with_it() -> None:
    scenario = measure.cut(TEXT, *range(100, 20_000, 4_111))
    with_skip, without = (call(measure.built(WHEEL, *built), scenario.decode()) for built in ((), ("SKIPPING=0",)))
    assert with_skip.output == without.output
    assert without.fuel > 2 * with_skip.fuel


@pytest.mark.parametrize("seed", range(4))
def test_parts_at_rest_are_as_right_where_they_are_tried_all_the_time(seed: int) -> None:
    """With EAGER, periods are replayed that hardly ever fit: then parts have to become live in time."""
    scenario = measure.build(seed, 200).scenario([3_333, 3_400, 5_000, 8_000])
    text = json.dumps(scenario)
    eager, every = (call(measure.built(WHEEL, built), text) for built in ("EAGER=1", "SKIPPING=0"))
    assert eager.output == every.output


def test_factories_of_seeds_are_listed_with_their_cost() -> None:
    *_, line = measure.of_seeds(WHEEL, [3], 100, 12_000)
    seed, entities, fuel, *rates = line.replace(",", "").split()
    assert seed == "3" and 90 < int(entities) < 130
    assert int(fuel) > 1_000_000 and all(1 < float(rate) < 100 for rate in rates)


@pytest.mark.parametrize(("seed", "entities", "most"), [(24, 1_029, 140), (35, 1_009, 210)])
def test_a_thousand_entities_stay_far_below_a_quarter_of_a_billion(seed: int, entities: int, most: int) -> None:
    """An ordinary one and the dearest of seeds 21 to 40, in millions: a little more than the engine's README says."""
    scenario = measure.build(seed, 1_000).scenario(measure.graded(360_000))
    assert len(scenario["entities"]) == entities
    assert measure.burn(measure.built(WHEEL), scenario) < most * 1_000_000


def test_a_tick_without_a_skip_costs_at_most_60_an_entity_where_most_is_bus() -> None:
    text, every = (CASE / "stress" / "small.json").read_bytes(), measure.built(WHEEL, "SKIPPING=0")
    first, last = (measure.burn(every, measure.cut(text, tick)) for tick in (10_000, 12_000))
    assert (last - first) / 2_000 / 165 < 60


def test_snapshots_in_replays_are_right_at_any_tick() -> None:
    """Parts rest across all of these: next to each other, some in one period, more than a replay can hold ready."""
    ticks = [1_250, 2_500, 2_501, 3_333, 4_000, 4_576, 7_000, 7_100, 11_111, 20_000]
    text = json.dumps(measure.build(30, 1_000).scenario(ticks))
    with_rest, every = (call(measure.built(WHEEL, *built), text) for built in ((), ("SKIPPING=0",)))
    assert with_rest.output == every.output
    assert every.fuel > 2 * with_rest.fuel
