"""Why: the scored inputs have to be real factories that go on running, and another seed has to give another one.

A block is a part of a district: a few rows of crafters that turn ore from the district's two buses into one product and
bring it to sinks. Inside it each belt carries two items, one a lane, and every row of crafters works between two belts,
so nothing ever has to cross. How many crafters stand in a row is drawn, and what stands before and after it follows:
stages nearly match, a stage that gives more backs up at once, and one that gets less than it could use goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from .plan import Plan

__all__ = ["BLOCKS", "IRON_BUS", "TIERS", "District"]

IRON_BUS = 5
TIERS = ("slow", "fast", "express")


@dataclass
class District:
    """A district being drawn. Feeds are drawn last, when it is known how far east the copper bus has to be."""

    random: Random
    plan: Plan = field(default_factory=Plan)
    iron_rows: list[int] = field(default_factory=list)
    copper_rows: list[tuple[int, int]] = field(default_factory=list)
    """Rows that the copper bus feeds, and the column to which each feed leads."""

    def tier(self) -> str:
        """Draw the speed of one belt."""
        return self.random.choice(TIERS)

    def spread(self, start: int, count: int, least: int) -> list[int]:
        """Draw the columns of `count` crafters from `start` on, `least` or a tile or two more apart."""
        columns, gaps = [], self.random.choice(((0,), (0, 0, 1), (0, 1), (0, 1, 2)))
        for _ in range(count):
            columns.append(start)
            start += least + self.random.choice(gaps)
        return columns

    def cable_makers(self, furnaces: list[int], count: int) -> list[int]:
        """Draw the columns of cable makers so that each finds a furnace of its own upstream of it."""
        columns = self.spread(furnaces[0] + 1, count, 4)
        for number, furnace in enumerate(furnaces[:count]):
            late = max(0, furnace + 1 - columns[number])
            columns[number:] = [column + late for column in columns[number:]]
        return columns

    def iron_feed(self, row: int, end: int) -> None:
        """Lead iron ore and coal from the bus along a row, up to and including a column."""
        tier = self.tier()
        self.iron_rows.append(row)
        self.plan.belts(IRON_BUS + 1, row - 1, "S1", tier)
        self.plan.belts(IRON_BUS + 1, row, f"E{end - IRON_BUS}", tier)

    def copper_feed(self, row: int, end: int) -> None:
        """Have copper ore and coal led from the bus along a row, back to and including a column."""
        self.copper_rows.append((row, end))

    def line(self, row: int, start: int, end: int, *, sink: bool = False) -> None:
        """Draw an eastward belt over the columns from `start` to `end`, and a sink behind it if wanted."""
        self.plan.belts(start, row, f"E{end - start + 1}", self.tier())
        if sink:
            self.plan.sink(end + 1, row)


def _gear_rows(district: District, top: int, makers: int, gears: int, furnaces: int) -> list[int]:
    """Iron plates in row 5, gears from beside it, and both made into transport belts. Returns the makers' columns."""
    plan, start = district.plan, IRON_BUS + 3
    irons, wheels = district.spread(start, furnaces, 2), district.spread(start + 1, gears, 4)
    columns = district.spread(max(wheels[-1] + 4, irons[-1] + 3), makers, 4)
    district.iron_feed(top, irons[-1] + 1)
    plan.crafters_between("iron-plate", irons, top, top + 5)
    district.line(top + 5, start, columns[-1] + 2)
    plan.crafters_beside("iron-gear", wheels, top + 5, "S")
    plan.crafters_between("transport-belt", columns, top + 5, top + 11)
    return columns


def belt_block(district: District, top: int) -> int:
    """Iron plates and gears on one belt, made into transport belts. Returns the number of rows."""
    gears = district.random.randint(2, 4)
    makers = -(-3 * gears // 4)
    furnaces = 3 * gears // 2 + district.random.randint(0, gears % 2)
    columns = _gear_rows(district, top, makers, gears, furnaces)
    district.line(top + 11, columns[0], columns[-1] + 4, sink=True)
    return 12


def circuit_block(district: District, top: int) -> int:
    """Cable from above and iron plates from below on one belt, made into circuits. Returns the number of rows."""
    plan, start, cables = district.plan, IRON_BUS + 3, district.random.randint(1, 4)
    coppers = district.spread(start, cables, 3)
    irons = district.spread(start, -(-2 * cables // 3), 3)
    makers = district.cable_makers(coppers, cables)
    first = max(makers[-1], coppers[-1]) + 4
    above, below = district.spread(first, cables, 4), district.spread(first, cables, 4)
    end = max(above[-1], below[-1]) + 2
    district.copper_feed(top, start)
    plan.crafters_between("copper-plate", coppers, top, top + 5)
    district.line(top + 5, start, max(makers[-1], coppers[-1]) + 2)
    plan.crafters_between("copper-cable", makers, top + 5, top + 11)
    district.iron_feed(top + 16, irons[-1] + 1)
    plan.crafters_between("iron-plate", irons, top + 16, top + 11)
    district.line(top + 11, start, end)
    plan.crafters_between("circuit", above, top + 11, top + 5)
    plan.crafters_between("circuit", below, top + 11, top + 17)
    district.line(top + 5, first, end + 1, sink=True)
    district.line(top + 17, first, end + 1, sink=True)
    return 18


def assembler_block(district: District, top: int) -> int:
    """Transport belts and circuits, made into assemblers. Returns the number of rows."""
    pairs = district.random.randint(1, 3)
    makers = _gear_rows(district, top, makers=pairs, gears=-(-4 * pairs // 3), furnaces=2 * pairs)
    return _with_circuits(district, top, "assembler", makers, pairs, finals=(pairs, pairs))


def inserter_block(district: District, top: int) -> int:
    """Gears and circuits, made into inserters. Returns the number of rows."""
    plan, start, pairs = district.plan, IRON_BUS + 3, district.random.randint(1, 3)
    irons = district.spread(start, pairs + 1, 2)
    gears = district.spread(irons[-1] + 3, pairs + 1, 4)
    district.iron_feed(top, irons[-1] + 1)
    plan.crafters_between("iron-plate", irons, top, top + 5)
    district.line(top + 5, start, gears[-1] + 2)
    plan.crafters_between("iron-gear", gears, top + 5, top + 11)
    above = (pairs + 2) // 2
    return _with_circuits(district, top, "inserter", gears, pairs, finals=(above, pairs + 1 - above))


def _with_circuits(
    district: District, top: int, product: str, makers: list[int], pairs: int, finals: tuple[int, int]
) -> int:
    """The lower half of a block: circuits join what the `makers` gave to the belt in row 11, and become the product."""
    plan, start = district.plan, IRON_BUS + 3
    irons, coppers = district.spread(start, -(-2 * pairs // 3), 3), district.spread(start, pairs, 3)
    cables = district.cable_makers(coppers, pairs)
    circuits = district.spread(max(irons[-1] + 3, start + 5), 2 * pairs, 4)
    last = max(makers[-1], circuits[-1]) + 4
    above, below = district.spread(last, finals[0], 4), district.spread(last, finals[1], 4)
    end = max(above[-1], below[-1]) + 2
    district.iron_feed(top + 12, irons[-1] + 1)
    plan.crafters_between("iron-plate", irons, top + 12, top + 17)
    district.copper_feed(top + 28, start)
    plan.crafters_between("copper-plate", coppers, top + 28, top + 23)
    district.line(top + 23, start, cables[-1] + 2)
    plan.crafters_between("copper-cable", cables, top + 23, top + 17)
    district.line(top + 17, start, circuits[-1] + 1)
    plan.crafters_between("circuit", circuits, top + 17, top + 11)
    district.line(top + 11, min(makers[0], circuits[0]), end)
    plan.crafters_between(product, above, top + 11, top + 5)
    plan.crafters_between(product, below, top + 11, top + 17)
    district.line(top + 5, last, end + 1, sink=True)
    district.line(top + 17, last, end + 1, sink=True)
    return 29


BLOCKS: dict[str, Callable[[District, int], int]] = {
    "belt": belt_block,
    "circuit": circuit_block,
    "assembler": assembler_block,
    "inserter": inserter_block,
}
