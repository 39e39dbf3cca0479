"""Why: one seed and one size give one whole factory, so that inputs of any size can be made, and any number of them.

A factory is one district or several side by side. In a district an iron bus comes down on the west side and a copper
bus on the east side, one or two belts wide, with ore on one lane and coal on the other. Blocks are stacked between
them and take what they need by splitters; what nobody takes ends in a sink. A finished district is turned and mirrored
as drawn, and at last all entities are shuffled. `tests/lattice` measures that the crafters craft and the sinks fill.
"""

from __future__ import annotations

from random import Random

from .blocks import BLOCKS, IRON_BUS, TIERS, District
from .plan import Plan

__all__ = ["build", "district"]

FIRST_ROW = 6
DISTRICT = 700
"""About how many entities one district has at most: what its buses can feed."""
TRIES = 100
TOLERANCE = 0.06


def build(seed: int, size: int, blocks: tuple[str, ...] = ()) -> Plan:
    """Return the factory of a seed, of about `size` entities, or of exactly these blocks in one district."""
    random = Random(seed)
    if blocks:
        drawn = [district(random, blocks)]
    else:
        count = -(-size // DISTRICT)
        drawn = [_district_of(random, size // count) for _ in range(count)]
    plan, across, x, y, bottom = Plan(), 4, 0, 0, 0
    for number, part in enumerate(drawn):
        turned = part.turned(random.randrange(4), mirrored=random.random() < 0.5)
        if number % across == 0:
            x, y = 0, bottom
        plan.place(turned.entities, x, y)
        width, height = turned.extent()
        x, bottom = x + width + 2, max(bottom, y + height + 2)
    plan.shuffle(random)
    return plan


def _district_of(random: Random, size: int) -> Plan:
    """Draw districts until one has about this size and all tiers; after many tries, return the nearest."""
    nearest: Plan | None = None
    for _ in range(TRIES):
        names = ["assembler", "inserter"] if size >= 500 else [random.choice([*BLOCKS])]
        more = max(0, round((size - 450) / 170)) if size >= 500 else size // 200
        names += random.choices([*BLOCKS], k=more + random.randint(0, 1))
        random.shuffle(names)
        plan = district(random, tuple(names))
        if len({entity["tier"] for entity in plan.entities if "tier" in entity}) < len(TIERS):
            continue
        if nearest is None or abs(len(plan.entities) - size) < abs(len(nearest.entities) - size):
            nearest = plan
        if abs(len(plan.entities) - size) <= TOLERANCE * size:
            break
    assert nearest is not None, "hardly any district lacks a tier"
    return nearest


def district(random: Random, blocks: tuple[str, ...]) -> Plan:
    """Draw one district of these blocks, from north to south."""
    part, top = District(random), FIRST_ROW
    for name in blocks:
        top += BLOCKS[name](part, top) + 2
    copper_bus = part.plan.extent()[0] + random.randint(2, 8)
    for row, end in part.copper_rows:
        tier = part.tier()
        part.plan.belts(copper_bus - 1, row - 1, "S1", tier)
        part.plan.belts(copper_bus - 1, row, f"W{copper_bus - end}", tier)
    _bus(part, IRON_BUS, part.iron_rows, "iron-ore", west=True)
    if part.copper_rows:
        _bus(part, copper_bus, [row for row, _ in part.copper_rows], "copper-ore", west=False)
    return part.plan


def _bus(part: District, x: int, rows: list[int], ore: str, *, west: bool) -> None:
    """A bus: ore is side-loaded from outside, coal from inside; a splitter two rows above a row feeds it.

    A second belt runs along its outer side if so drawn: split off at the top, and brought together with the first one
    by a splitter before each further row that is fed.
    """
    plan, random, out = part.plan, part.random, -1 if west else 1
    inward, outward = ("E", "W") if west else ("W", "E")
    tier = random.choice(("fast", "express", "express"))
    plan.splitter(x + 2 * out, 0, inward)
    for row in (0, 1):
        plan.source(x + 4 * out, row, inward, ore, "both", random.choice((2, 3, 4)))
        plan.belts(x + 3 * out, row, f"{inward}1", tier)
        plan.belts(x + out, row, f"{inward}1", tier)
        plan.belts(x - out, row, f"{outward}1", tier)
        plan.source(x - 2 * out, row, outward, "coal", "both", random.choice((2, 3, 4)))
    branches, last = {row - 2 for row in rows}, max(rows)
    joints: set[int] = set()
    if random.random() < 0.5:
        # A splitter passes nothing to a splitter, so there is a belt between a joint and a branch.
        joints = {2, *(row - 4 for row in rows if row > 8 and not {row - 5, row - 4, row - 3} & branches)}
    for row in range(last + 1):
        if row in branches:
            plan.splitter(x if west else x - 1, row, "S")
        elif row in joints:
            plan.splitter(x - 1 if west else x, row, "S")
        else:
            plan.belts(x, row, "S1", tier)
        if joints and 2 < row < max(joints) and row not in joints:
            plan.belts(x + out, row, "S1", tier)
    plan.sink(x, last + 1)
