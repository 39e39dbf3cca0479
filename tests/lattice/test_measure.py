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
    scenario = measure.build(seed, 200).scenario([3_333, 8_000])
    text = json.dumps(scenario)
    eager, every = (call(measure.built(WHEEL, built), text) for built in ("EAGER=1", "SKIPPING=0"))
    assert eager.output == every.output


def test_factories_of_seeds_are_listed_with_their_cost() -> None:
    *_, line = measure.of_seeds(WHEEL, [3], 100, 12_000)
    seed, entities, fuel, *rates = line.replace(",", "").split()
    assert seed == "3" and 90 < int(entities) < 130
    assert int(fuel) > 1_000_000 and all(1 < float(rate) < 100 for rate in rates)
