"""Why: when an engine is wrong, the first question is where; each smoke input isolates one behaviour of the rules.

Every function here draws one, its docstring is the sentence that the manifest shows, and `SMOKE` lists them in the
order in which they are graded: a behaviour comes after those that it builds on. `tests/lattice/test_mutants.py` breaks
the rules one at a time and demands that the input of that rule fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .plan import Plan

__all__ = ["SMOKE", "behaviour"]

Scenario = dict[str, Any]


def _two_items(plan: Plan, x: int, y: int, left: str, right: str, period: int = 7) -> None:
    """Feed the belt tile at (x, y), which must be free on its west and north side: one item a lane."""
    plan.source(x - 1, y, "E", left, "left", period)
    plan.source(x, y - 1, "S", right, "right", period)


def _straight(tier: str, period: int) -> Scenario:
    plan = Plan()
    plan.source(0, 0, "E", "iron-ore", "left", period)
    end = plan.belts(1, 0, "E5", tier)
    plan.sink(*end)
    return plan.scenario([7, 8, 15, 16, 17, 23, 30, 42, 61, 90])


def belt_slow() -> Scenario:
    """A slow belt moves an item 32 units a tick."""
    return _straight("slow", 5)


def belt_fast() -> Scenario:
    """A fast belt moves an item 64 units a tick."""
    return _straight("fast", 5)


def belt_express() -> Scenario:
    """An express belt moves an item 96 units a tick, over tile borders that 96 does not divide."""
    return _straight("express", 5)


def belt_tiers_mixed() -> Scenario:
    """Where tiers change inside a run, an item moves at the speed of the tile on which it stands before it moves."""
    plan = Plan()
    plan.source(0, 0, "E", "iron-ore", "both", 9)
    plan.belts(1, 0, "E2", "express")
    plan.belts(3, 0, "E2", "slow")
    plan.belts(5, 0, "E2", "fast")
    plan.sink(7, 0)
    return plan.scenario([11, 12, 13, 14, 17, 20, 25, 29, 31, 40, 60])


def belt_packing() -> Scenario:
    """A belt that ends nowhere fills up to four items a lane and tile, 64 units apart, and moves no further."""
    plan = Plan()
    plan.source(0, 0, "E", "copper-ore", "both", 1)
    plan.belts(1, 0, "E3", "express")
    return plan.scenario([3, 4, 5, 6, 8, 11, 20, 40])


def source_cadence() -> Scenario:
    """A source emits at the multiples of its period on the lanes it names, and loses what finds no room."""
    plan = Plan()
    for row, (lane, period, tier) in enumerate((("left", 3, "fast"), ("right", 5, "slow"), ("both", 1, "slow"))):
        plan.source(0, row, "E", "coal", lane, period)
        plan.belts(1, row, "E4", tier)
        plan.sink(5, row)
    plan.source(0, 3, "E", "iron-ore", "left", 4)  # two sources, one lane: the second in placement order loses
    plan.source(1, 4, "N", "copper-ore", "both", 4)
    plan.belts(1, 3, "E4", "slow")
    plan.sink(5, 3)
    return plan.scenario([1, 2, 3, 4, 5, 6, 9, 10, 15, 40, 77])


def sink_sides() -> Scenario:
    """A sink takes from belts on all four sides and from inserters, whatever its own direction."""
    plan = Plan()
    plan.sink(4, 4)
    for x, y, way, direction, item in (
        (0, 4, "E3", "E", "iron-ore"),
        (8, 4, "W3", "W", "copper-ore"),
        (4, 0, "S3", "S", "coal"),
        (4, 8, "N2", "N", "circuit"),
    ):
        plan.source(x, y, direction, item, "both", 6)
        step = {"E": (1, 0), "W": (-1, 0), "S": (0, 1), "N": (0, -1)}[direction]
        plan.belts(x + step[0], y + step[1], way)
    plan.belts(4, 5, "N1", "express")
    plan.source(0, 6, "E", "iron-plate")
    plan.inserter(1, 6, "E")
    plan.sink(2, 6)
    return plan.scenario([7, 14, 16, 17, 18, 24, 31, 60, 100])


def pure_curve() -> Scenario:
    """Two turns, one each way, keep both lanes and their length of one tile."""
    plan = Plan()
    _two_items(plan, 1, 1, "iron-ore", "copper-ore", 5)
    plan.sink(*plan.belts(1, 1, "E2 S3 E3"))
    return plan.scenario([5, 9, 14, 18, 22, 27, 40, 65])


def _side_load(feeder: str, target: str) -> Scenario:
    """A feeder with one item a lane meets the middle of an otherwise empty slow belt that goes on into a sink."""
    plan = Plan()
    step = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0)}
    (fx, fy), (tx, ty) = step[feeder], step[target]
    cx, cy = 6, 6  # the tile that is loaded
    plan.belts(cx - tx, cy - ty, f"{target}4", "slow")
    plan.sink(cx + 3 * tx, cy + 3 * ty)
    x, y = cx - 3 * fx, cy - 3 * fy
    plan.belts(x, y, f"{feeder}3", "fast")
    plan.source(x - fx, y - fy, feeder, "iron-plate", "left", 9)
    plan.source(x - tx, y - ty, target, "copper-plate", "right", 9)
    return plan.scenario([9, 15, 18, 19, 20, 21, 22, 24, 27, 36, 60, 100])


def side_load_from_north() -> Scenario:
    """Loading an eastward belt from the north: onto its left lane, from the left at 64, from the right at 192."""
    return _side_load("S", "E")


def side_load_from_south() -> Scenario:
    """Loading an eastward belt from the south: onto its right lane, from the left at 192, from the right at 64."""
    return _side_load("N", "E")


def side_load_from_east() -> Scenario:
    """Loading a southward belt from the east: onto its left lane, from the left at 64, from the right at 192."""
    return _side_load("W", "S")


def side_load_from_west() -> Scenario:
    """Loading a southward belt from the west: onto its right lane, from the left at 192, from the right at 64."""
    return _side_load("E", "S")


def splitter_one_to_two() -> Scenario:
    """One input is dealt to two outputs in turn, each lane on its own turn."""
    plan = Plan()
    _two_items(plan, 1, 1, "iron-ore", "copper-ore", 6)
    plan.source(1, 2, "N", "coal", "left", 14)
    plan.belts(1, 1, "E2")
    plan.splitter(3, 1, "E")
    for row in (1, 2):
        plan.belts(4, row, "E3")
        plan.sink(7, row)
    return plan.scenario([13, 14, 16, 19, 22, 25, 30, 37, 50, 91, 120])


def splitter_two_to_one() -> Scenario:
    """Two inputs share one output, served first in turn; the missing output counts as no output, not as a full one."""
    plan = Plan()
    plan.source(0, 1, "S", "iron-ore", "both", 2)
    plan.source(1, 1, "S", "copper-ore", "both", 3)
    for x in (0, 1):
        plan.belts(x, 2, "S2", "fast")
    plan.splitter(0, 4, "S")
    plan.belts(1, 5, "S3", "fast")
    plan.sink(1, 8)
    return plan.scenario([6, 7, 8, 9, 10, 11, 12, 14, 19, 31, 60, 101])


def splitter_back_pressure() -> Scenario:
    """Two inputs, two outputs, one of them full: everything takes the other, and turns resume where room appears."""
    plan = Plan()
    for row, item in ((2, "iron-ore"), (3, "copper-ore")):
        plan.source(6, row, "W", item, "both", row)
        plan.belts(5, row, "W2", "fast")
    plan.splitter(3, 2, "W")
    plan.belts(2, 2, "W2", "fast")
    plan.belts(2, 3, "W2", "slow")
    plan.sink(0, 3)
    plan.inserter(1, 1, "N")  # makes room on the full output now and then
    plan.sink(1, 0)
    return plan.scenario([9, 10, 12, 15, 18, 22, 27, 35, 50, 75, 110, 150])


def inserter_cycle() -> Scenario:
    """An arm swings for 8 ticks, drops, returns for 8 and grabs again in the tick after that."""
    plan = Plan()
    plan.source(0, 0, "E", "coal")
    plan.inserter(1, 0, "E")
    plan.sink(2, 0)
    return plan.scenario([1, 2, 8, 9, 10, 17, 18, 26, 35, 52, 100])


def inserter_belt_to_belt() -> Scenario:
    """From belt to belt an arm takes the far lane's head, the near one's only if the far is empty, and drops near."""
    plan = Plan()
    _two_items(plan, 1, 1, "iron-plate", "iron-gear", 11)
    plan.sink(*plan.belts(1, 1, "E4", "slow"))
    plan.inserter(2, 2, "S")
    plan.belts(1, 3, "E3", "slow")
    plan.sink(4, 3)
    plan.source(8, 0, "W", "coal", "right", 5)
    plan.belts(7, 0, "W1")
    plan.inserter(7, 1, "S")  # here the far lane stays empty
    plan.belts(7, 2, "S2")
    return plan.scenario([12, 15, 20, 21, 25, 28, 34, 37, 45, 54, 63, 80, 120])


def inserter_waits_loaded() -> Scenario:
    """Two arms see the same room and both grab: the one that drops second waits loaded and tries again every tick."""
    plan = Plan()
    plan.source(0, 0, "E", "iron-ore", "both", 1)
    plan.belts(1, 0, "E1", "fast")
    plan.inserter(2, 0, "E")
    plan.source(3, 2, "N", "coal")
    plan.inserter(3, 1, "N")
    plan.belts(3, 0, "E2", "slow")
    plan.source(5, 2, "N", "coal", "both", 1)
    plan.inserter(5, 1, "N")
    plan.source(7, 0, "W", "iron-gear")
    plan.inserter(6, 0, "W")
    plan.belts(5, 0, "W1", "slow")
    return plan.scenario([2, 9, 10, 11, 12, 19, 28, 36, 53, 70, 120, 200])


def crafting_one_input() -> Scenario:
    """One copper plate becomes two cables in 32 ticks, and the next craft starts in the tick that one ends."""
    plan = Plan()
    plan.source(0, 1, "E", "copper-plate")
    plan.inserter(1, 1, "E")
    plan.source(0, 0, "E", "copper-plate")
    plan.inserter(1, 0, "E")
    plan.crafter(2, 0, "copper-cable")
    plan.inserter(5, 1, "E")
    plan.sink(6, 1)
    return plan.scenario([9, 10, 39, 40, 41, 42, 49, 72, 73, 104, 105, 150, 201])


def crafting_two_inputs() -> Scenario:
    """A circuit needs one plate and three cables at once, and 96 ticks."""
    plan = Plan()
    plan.source(0, 0, "E", "iron-plate")
    plan.inserter(1, 0, "E")
    plan.source(0, 2, "E", "copper-cable")
    plan.inserter(1, 2, "E")
    plan.crafter(2, 0, "circuit")
    plan.inserter(5, 1, "E")
    plan.sink(6, 1)
    return plan.scenario([9, 26, 42, 43, 44, 60, 137, 138, 139, 140, 147, 234, 235, 331, 400])


def furnace_with_coal() -> Scenario:
    """A furnace burns one coal with each ore, and its arm fetches coal first, up to eight."""
    plan = Plan()
    _two_items(plan, 1, 1, "coal", "iron-ore", 4)
    plan.belts(1, 1, "E2")
    plan.inserter(2, 2, "S")
    plan.crafter(2, 3, "iron-plate")
    plan.inserter(4, 4, "E")
    plan.sink(5, 4)
    return plan.scenario([14, 31, 48, 100, 140, 150, 160, 170, 190, 191, 192, 193, 230, 300])


def pickup_by_need() -> Scenario:
    """From a belt with two items an arm takes the one its assembler holds less of, and the far lane's in a tie."""
    plan = Plan()
    _two_items(plan, 1, 1, "iron-plate", "iron-gear", 3)
    plan.belts(1, 1, "E2")
    plan.inserter(2, 2, "S")
    plan.crafter(1, 3, "inserter")
    plan.source(0, 4, "E", "circuit", "both", 1)  # feeds nothing: a source needs a belt or an arm
    _two_items(plan, 6, 1, "copper-cable", "iron-plate", 3)
    plan.belts(6, 1, "E2")
    plan.inserter(7, 2, "S")
    plan.crafter(6, 3, "circuit")
    return plan.scenario([5, 8, 16, 25, 42, 59, 76, 93, 110, 127, 170, 250])


def craft_chain() -> Scenario:
    """Plates become gears, gears and plates become transport belts, handed from machine to machine by arms."""
    plan = Plan()
    for row in (0, 2):
        plan.source(0, row, "E", "iron-plate")
        plan.inserter(1, row, "E")
    plan.crafter(2, 0, "iron-gear")
    plan.inserter(5, 1, "E")
    plan.crafter(6, 0, "transport-belt")
    plan.source(7, 4, "N", "iron-plate")
    plan.inserter(7, 3, "N")
    plan.inserter(9, 1, "E")
    plan.sink(*plan.belts(10, 1, "E2", "slow"))
    return plan.scenario([9, 10, 73, 74, 81, 82, 83, 130, 131, 138, 139, 150, 220, 300])


def output_backs_up() -> Scenario:
    """A machine whose products are not fetched stops where another craft would bring it above eight, inputs full."""
    plan = Plan()
    for row in (0, 2):
        plan.source(0, row, "E", "copper-plate")
        plan.inserter(1, row, "E")
    plan.crafter(2, 0, "copper-cable")
    plan.inserter(5, 1, "E")
    plan.crafter(6, 0, "circuit")  # uses half of the cables, so the output is often one below the cap
    plan.source(7, 4, "N", "iron-plate")
    plan.inserter(7, 3, "N")
    plan.inserter(9, 1, "E")
    plan.sink(10, 1)
    plan.source(0, 5, "E", "iron-plate")
    plan.inserter(1, 5, "E")
    plan.crafter(2, 4, "iron-gear")
    plan.inserter(5, 5, "E")
    plan.belts(6, 5, "N1", "slow")
    return plan.scenario([41, 73, 105, 137, 138, 160, 200, 300, 420, 437, 500, 533, 566, 610, 700, 900])


SMOKE: dict[str, Callable[[], Scenario]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        *(belt_slow, belt_fast, belt_express, belt_tiers_mixed, belt_packing, source_cadence, sink_sides, pure_curve),
        *(side_load_from_north, side_load_from_south, side_load_from_east, side_load_from_west),
        *(splitter_one_to_two, splitter_two_to_one, splitter_back_pressure),
        *(inserter_cycle, inserter_belt_to_belt, inserter_waits_loaded),
        *(crafting_one_input, crafting_two_inputs, furnace_with_coal, pickup_by_need, craft_chain, output_backs_up),
    )
}


def behaviour(name: str) -> str:
    """Return the sentence that says what a smoke input isolates."""
    return (SMOKE[name].__doc__ or "").strip()
