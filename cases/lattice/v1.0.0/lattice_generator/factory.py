"""Why: the scored inputs have to be real factories that go on running, and another seed has to give another one.

An iron bus comes down on the west side and a copper bus on the east side, each with ore on one lane and coal on the
other. Blocks are stacked between them and take what they need from the buses by splitters. Inside a block each belt
carries two items, one a lane, and every row of crafters works between two belts, so nothing ever has to cross. The
last stage of every block asks for a little more than the stage before it gives; that is what keeps a factory from
backing up, and `tests/lattice` measures it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random

from .plan import Plan

__all__ = ["BLOCKS", "Factory", "build"]

IRON_BUS = 4
FIRST_ROW = 6
TIERS = ("slow", "fast", "express")


@dataclass
class Factory:
    """A factory being built: where its copper bus is, and which rows of each bus feed a block."""

    plan: Plan
    random: Random
    copper_bus: int
    iron_rows: list[int]
    copper_rows: list[int]

    def tier(self) -> str:
        """Draw the speed of one belt inside a block."""
        return self.random.choice(TIERS)

    def spread(self, start: int, count: int, least: int) -> list[int]:
        """Draw the columns of `count` crafters from `start` on, `least` or a tile more apart."""
        columns = []
        for _ in range(count):
            columns.append(start)
            start += least + self.random.choice((0, 0, 1))
        return columns

    def iron_feed(self, row: int, end: int) -> None:
        """Lead iron ore and coal from the bus along a row, up to and including a column."""
        self.iron_rows.append(row)
        self.plan.belts(IRON_BUS + 1, row - 1, "S1", "fast")
        self.plan.belts(IRON_BUS + 1, row, f"E{end - IRON_BUS}", "fast")

    def copper_feed(self, row: int, end: int) -> None:
        """Lead copper ore and coal from the bus along a row, back to and including a column."""
        self.copper_rows.append(row)
        self.plan.belts(self.copper_bus - 1, row - 1, "S1", "fast")
        self.plan.belts(self.copper_bus - 1, row, f"W{self.copper_bus - end}", "fast")

    def line(self, row: int, start: int, end: int, *, sink: bool = False) -> None:
        """Draw an eastward belt over the columns from `start` to `end`, and a sink behind it if wanted."""
        self.plan.belts(start, row, f"E{end - start + 1}", self.tier())
        if sink:
            self.plan.sink(end + 1, row)


def belt_block(factory: Factory, top: int) -> int:
    """Iron plates and gears on one belt, made into transport belts. Returns the number of rows."""
    plan, start = factory.plan, IRON_BUS + 3
    furnaces = factory.spread(start, 5, 2)
    gears = factory.spread(start + 1, 3, 4)
    makers = factory.spread(max(gears[-1] + 4, furnaces[-1] + 3), 2, 4)
    factory.iron_feed(top, furnaces[-1])
    plan.crafters_between("iron-plate", furnaces, top, top + 5)
    factory.line(top + 5, start, makers[-1] + 2)
    plan.crafters_beside("iron-gear", gears, top + 5, "S")
    plan.crafters_between("transport-belt", makers, top + 5, top + 11)
    factory.line(top + 11, makers[0], makers[-1] + 4, sink=True)
    return 12


def circuit_block(factory: Factory, top: int, cables: int = 3) -> int:
    """Cable from above and iron plates from below on one belt, made into circuits. Returns the number of rows."""
    plan, start = factory.plan, IRON_BUS + 3
    coppers, irons = factory.spread(start, cables, 3), factory.spread(start, -(-2 * cables // 3), 3)
    makers = factory.spread(start + 1, cables, 4)  # one column on, so that each finds a furnace upstream of it
    first = makers[-1] + 4
    above, below = factory.spread(first, cables, 4), factory.spread(first, cables, 4)
    end = max(above[-1], below[-1]) + 2
    factory.copper_feed(top, start)
    plan.crafters_between("copper-plate", coppers, top, top + 5)
    factory.line(top + 5, start, makers[-1] + 2)
    plan.crafters_between("copper-cable", makers, top + 5, top + 11)
    factory.iron_feed(top + 16, irons[-1] + 1)
    plan.crafters_between("iron-plate", irons, top + 16, top + 11)
    factory.line(top + 11, start, end)
    plan.crafters_between("circuit", above, top + 11, top + 5)
    plan.crafters_between("circuit", below, top + 11, top + 17)
    factory.line(top + 5, first, end + 1, sink=True)
    factory.line(top + 17, first, end + 1, sink=True)
    return 18


def assembler_block(factory: Factory, top: int) -> int:
    """Transport belts and circuits, made into assemblers. Returns the number of rows."""
    plan, start = factory.plan, IRON_BUS + 3
    furnaces, gears = factory.spread(start, 5, 2), factory.spread(start + 1, 3, 4)
    makers = factory.spread(gears[-1] + 4, 2, 4)
    factory.iron_feed(top, furnaces[-1])
    plan.crafters_between("iron-plate", furnaces, top, top + 5)
    factory.line(top + 5, start, makers[-1] + 2)
    plan.crafters_beside("iron-gear", gears, top + 5, "S")
    plan.crafters_between("transport-belt", makers, top + 5, top + 11)
    return _with_circuits(factory, top, "assembler", makers, finals=(2, 2))


def inserter_block(factory: Factory, top: int) -> int:
    """Gears and circuits, made into inserters. Returns the number of rows."""
    plan, start = factory.plan, IRON_BUS + 3
    furnaces = factory.spread(start, 4, 2)
    gears = factory.spread(start + 9, 3, 4)
    factory.iron_feed(top, furnaces[-1])
    plan.crafters_between("iron-plate", furnaces, top, top + 5)
    factory.line(top + 5, start, gears[-1] + 2)
    plan.crafters_between("iron-gear", gears, top + 5, top + 11)
    return _with_circuits(factory, top, "inserter", gears, finals=(2, 1))


def _with_circuits(factory: Factory, top: int, product: str, makers: list[int], finals: tuple[int, int]) -> int:
    """The lower half of a block: circuits join what the `makers` gave to the belt in row 11, and become the product."""
    plan, start = factory.plan, IRON_BUS + 3
    irons, coppers = factory.spread(start, 2, 3), factory.spread(start, 2, 3)
    cables = factory.spread(start + 1, 2, 4)
    circuits = factory.spread(start + 9, 4, 4)
    last = max(makers[-1], circuits[-1]) + 3
    above, below = factory.spread(last, finals[0], 4), factory.spread(last, finals[1], 4)
    end = max(above[-1], below[-1]) + 2
    factory.iron_feed(top + 12, irons[-1])
    plan.crafters_between("iron-plate", irons, top + 12, top + 17)
    factory.copper_feed(top + 28, start)
    plan.crafters_between("copper-plate", coppers, top + 28, top + 23)
    factory.line(top + 23, start, cables[-1] + 2)
    plan.crafters_between("copper-cable", cables, top + 23, top + 17)
    factory.line(top + 17, start, circuits[-1] + 1)
    plan.crafters_between("circuit", circuits, top + 17, top + 11)
    factory.line(top + 11, min(makers[0], circuits[0]), end)
    plan.crafters_between(product, above, top + 11, top + 5)
    plan.crafters_between(product, below, top + 11, top + 17)
    factory.line(top + 5, last, end + 1, sink=True)
    factory.line(top + 17, last, end + 1, sink=True)
    return 29


BLOCKS: dict[str, Callable[[Factory, int], int]] = {
    "belt": belt_block,
    "circuit": circuit_block,
    "small-circuit": partial(circuit_block, cables=2),
    "assembler": assembler_block,
    "inserter": inserter_block,
}


def build(seed: int, blocks: list[str], width: int) -> Plan:
    """Return a factory of these blocks between two buses that are `width` columns apart, shuffled by the seed."""
    random = Random(seed)
    factory = Factory(Plan(), random, IRON_BUS + width, [], [])
    top = FIRST_ROW
    for name in blocks:
        top += BLOCKS[name](factory, top) + 2
    _bus(factory, IRON_BUS, factory.iron_rows, "iron-ore", west=True)
    if factory.copper_rows:
        _bus(factory, factory.copper_bus, factory.copper_rows, "copper-ore", west=False)
    factory.plan.shuffle(random)
    return factory.plan


def _bus(factory: Factory, x: int, rows: list[int], ore: str, *, west: bool) -> None:
    """A bus: ore is side-loaded from outside, coal from inside; a splitter two rows above a row feeds it."""
    plan, out = factory.plan, -1 if west else 1
    inward, outward = ("E", "W") if west else ("W", "E")
    plan.splitter(x + 2 * out, 0, inward)
    for row in (0, 1):
        plan.source(x + 4 * out, row, inward, ore, "both", factory.random.choice((2, 3, 4)))
        plan.belts(x + 3 * out, row, f"{inward}1", "express")
        plan.belts(x + out, row, f"{inward}1", "express")
        plan.belts(x - out, row, f"{outward}1", "express")
        plan.source(x - 2 * out, row, outward, "coal", "both", factory.random.choice((2, 3, 4)))
    branches = {row - 2 for row in rows}
    for row in range(max(rows) + 1):
        if row in branches:
            plan.splitter(x if west else x - 1, row, "S")
        else:
            plan.belts(x, row, "S1", "express")
    plan.sink(x, max(rows) + 1)
