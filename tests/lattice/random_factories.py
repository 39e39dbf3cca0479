"""Why: engines go wrong in layouts that nobody thought of, so the fuzzer draws factories that nobody would build.

A seed gives a scenario, the same one everywhere. A sheet is small and is covered with pieces that do something (a fed
belt that wanders, a splitter with its four belts, a workshop with its arms) and with strays, up to several times its
area: pieces overlap, point at each other, and hang over the edge. Only anchors are kept inside the grid, as the rules
demand, so every scenario is valid.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from tests.lattice.lattice_case import load

__all__ = ["draw_factory", "scenario_from"]

generate = load("generate")
tables = generate.sys.modules["lattice_reference.tables"]
STEP, OPPOSITE, RECIPES, ITEMS = tables.STEP, tables.OPPOSITE, tables.RECIPES, tables.ITEMS
DIRS, TIERS, LANES = "NESW", ("slow", "fast", "express"), ("left", "right", "both")
TURN = {"N": "EW", "E": "NS", "S": "EW", "W": "NS"}
FOOTPRINT = {"assembler": (3, 3), "furnace": (2, 2)}


class Sheet:
    """A grid being covered. Entities whose anchor would lie outside are dropped, and all that overlap if so drawn."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.width, self.height = random.choice(((3, 3), (5, 5), (8, 6), (6, 12), (12, 9), (14, 14), (40, 3), (1, 30)))
        self.overlaps = random.random() < 0.4
        self.tier = random.choice((*TIERS, None, None))  # None: mixed
        self.items = random.choice((ITEMS[:2], ITEMS, *([*recipe.inputs] for recipe in RECIPES.values())))
        self.periods = random.choice(((1,), (2, 3, 4), (5, 7, 13), (1, 2, 40), (16, 17, 32), (100, 2**32 - 1)))
        self.taken: set[tuple[int, int]] = set()
        self.entities: list[dict[str, Any]] = []

    def add(self, kind: str, x: int, y: int, **fields: Any) -> None:
        if not (0 <= x < self.width and 0 <= y < self.height):
            return
        width, height = FOOTPRINT.get(kind, (1, 1))
        if "splitter" in kind:
            width, height = (1, 2) if fields["dir"] in "EW" else (2, 1)
        tiles = {(x + dx, y + dy) for dx in range(width) for dy in range(height)}
        if self.overlaps or not tiles & self.taken:
            self.taken |= tiles
            self.entities.append({"type": kind, "x": x, "y": y, **fields})

    def spot(self) -> tuple[int, int]:
        return self.random.randrange(self.width), self.random.randrange(self.height)

    def dir(self) -> str:
        return self.random.choice(DIRS)

    def belt(self, x: int, y: int, direction: str) -> None:
        self.add("belt", x, y, dir=direction, tier=self.tier or self.random.choice(TIERS))

    def source(self, x: int, y: int, direction: str, item: str | None = None) -> None:
        item = item or self.random.choice(self.items)
        lane, period = self.random.choice(LANES), self.random.choice(self.periods)
        self.add("source", x, y, dir=direction, item=item, lane=lane, period=period)

    def anything(self, x: int, y: int) -> None:
        """One entity of any kind, of arms and belts rather more."""
        kind = self.random.choice(("belt", "belt", "belt", "inserter", "inserter", "splitter", *"lsacf"))
        if kind == "belt":
            self.belt(x, y, self.dir())
        elif kind == "s":
            self.source(x, y, self.dir())
        elif kind in "af":
            side = {"a": "assembler", "f": "furnace"}[kind]
            self.add(side, x, y, recipe=self.random.choice([n for n, r in RECIPES.items() if r.kind == side]))
        else:
            self.add({"l": "lane-splitter", "c": "sink"}.get(kind, kind), x, y, dir=self.dir())


def _go(x: int, y: int, direction: str, steps: int = 1) -> tuple[int, int]:
    return x + steps * STEP[direction][0], y + steps * STEP[direction][1]


def stray(sheet: Sheet) -> None:
    """Anything, anywhere."""
    sheet.anything(*sheet.spot())


def wander(sheet: Sheet) -> None:
    """A fed belt that turns now and then, and ends at a sink, at nothing, or at whatever lies there."""
    (x, y), direction = sheet.spot(), sheet.dir()
    sheet.source(x, y, direction)
    turns = sheet.random.choice((0, 0.15, 0.5))
    for _ in range(sheet.random.choice((2, 4, 8, 20))):
        x, y = _go(x, y, direction)
        if sheet.random.random() < turns:
            direction = sheet.random.choice(TURN[direction])
        sheet.belt(x, y, direction)
    x, y = _go(x, y, direction)
    if sheet.random.random() < 0.6:
        sheet.add("sink", x, y, dir="N")


def junction(sheet: Sheet) -> None:
    """A splitter of either kind with most of its four belts, fed, and now and then backed up."""
    (x, y), direction = sheet.spot(), sheet.dir()
    kind = "lane-splitter" if sheet.random.random() < 0.25 else "splitter"
    sheet.add(kind, x, y, dir=direction)
    for at in ((x, y), (x, y + 1) if direction in "EW" else (x + 1, y)):
        for steps in (1, 2, -1, -2):
            if sheet.random.random() < 0.85:
                sheet.belt(*_go(*at, direction, steps), direction)
        if sheet.random.random() < 0.8:
            sheet.source(*_go(*at, direction, -3), direction)
        if sheet.random.random() < 0.5:
            sheet.add("sink", *_go(*at, direction, 3), dir="N")


def relay(sheet: Sheet) -> None:
    """Arms in a row, each between two things of any kind."""
    (x, y), direction = sheet.spot(), sheet.dir()
    sheet.source(x, y, direction) if sheet.random.random() < 0.5 else sheet.anything(x, y)
    for _ in range(sheet.random.choice((1, 2, 4))):
        x, y = _go(x, y, direction)
        sheet.add("inserter", x, y, dir=direction)
        x, y = _go(x, y, direction)
        if sheet.random.random() < 0.5:
            sheet.belt(x, y, sheet.dir())
        else:
            sheet.anything(x, y)


def workshop(sheet: Sheet) -> None:
    """A machine with an arm for each input, from a source or from a fed belt, and now and then one for its product."""
    (x, y), recipe = sheet.spot(), sheet.random.choice([*RECIPES])
    kind = RECIPES[recipe].kind
    side = FOOTPRINT[kind][0]
    sheet.add(kind, x, y, recipe=recipe)
    for number, item in enumerate(RECIPES[recipe].inputs):
        if sheet.random.random() < 0.5:
            sheet.add("inserter", x - 1, y + number, dir="E")
            sheet.source(x - 2, y + number, "E", item)
        else:
            sheet.add("inserter", x + number, y - 1, dir="S")
            sheet.belt(x + number, y - 2, "E")
            sheet.source(x + number - 1, y - 2, "E", item)
    if sheet.random.random() < 0.7:
        sheet.add("inserter", x + side, y + sheet.random.randrange(side), dir="E")
        sheet.anything(x + side + 1, y) if sheet.random.random() < 0.5 else sheet.add("sink", x + side + 1, y, dir="N")


def canteen(sheet: Sheet) -> None:
    """A machine at a belt with one item a lane, as in a main-bus factory; its product jams, or does not."""
    x, y = (1 + sheet.random.randrange(max(1, size - room)) for size, room in ((sheet.width, 7), (sheet.height, 5)))
    recipe = sheet.random.choice([*RECIPES, "copper-cable", "transport-belt"])  # these give two at once
    kind, inputs = RECIPES[recipe].kind, [*RECIPES[recipe].inputs]
    sheet.random.shuffle(inputs)
    for lane, item in zip(("left", "right"), inputs * 2, strict=False):
        period = sheet.random.choice((1, 3, 8, 24))
        sheet.add("source", x - 1 if lane == "left" else x, y if lane == "left" else y - 1,
                  dir="E" if lane == "left" else "S", item=item, lane=lane, period=period)  # fmt: skip
    for step in range(4):
        sheet.belt(x + step, y, "E")
    for number in range(sheet.random.choice((1, 1, 2))):
        sheet.add("inserter", x + 1 + number, y + 1, dir="S")
    side = FOOTPRINT[kind][0]
    sheet.add(kind, x + 1, y + 2, recipe=recipe)
    sheet.add("inserter", x + 1 + side, y + 2, dir="E")
    sheet.belt(x + 2 + side, y + 2, sheet.dir())
    if (end := sheet.random.random()) < 0.3:
        sheet.add("sink", x + 3 + side, y + 2, dir="N")
    elif (
        end < 0.7
    ):  # another arm competes for the same lane, so the jam begins with an odd count as often as with an even
        sheet.add("inserter", x + 3 + side, y + 2, dir="W")
        sheet.source(x + 4 + side, y + 2, "W")


def ring(sheet: Sheet) -> None:
    """A closed loop of belts, whole or with a gap, fed by an arm or a source or not at all."""
    (x, y), (w, h) = sheet.spot(), (sheet.random.randrange(1, 5), sheet.random.randrange(1, 4))
    start, gap = (x, y), sheet.random.randrange(60)
    for number, direction in enumerate("E" * w + "S" * h + "W" * w + "N" * h):
        if number != gap:
            sheet.belt(x, y, direction)
        x, y = _go(x, y, direction)
    sheet.add("inserter", start[0] - 1, start[1], dir="E")
    sheet.source(start[0] - 2, start[1], "E")


def head_on(sheet: Sheet) -> None:
    """Belts that face each other, or a third thing that faces itself, with feeds from behind and from the side."""
    (x, y), direction = sheet.spot(), sheet.dir()
    ahead, side = _go(x, y, direction), sheet.random.choice(TURN[direction])
    sheet.belt(x, y, direction)
    sheet.belt(*ahead, OPPOSITE[direction])
    sheet.source(*_go(x, y, direction, -1), direction)
    if sheet.random.random() < 0.5:
        sheet.belt(*_go(*ahead, side), OPPOSITE[side])
        sheet.source(*_go(*ahead, side, 2), OPPOSITE[side])
    if sheet.random.random() < 0.5:
        sheet.belt(*_go(*ahead, direction), OPPOSITE[direction])
        sheet.source(*_go(*ahead, direction, 2), OPPOSITE[direction])


PIECES: tuple[Callable[[Sheet], None], ...] = (
    *(stray, stray, wander, wander, junction, relay, workshop, canteen, canteen, ring, head_on),
)


def scenario_from(
    entities: list[dict[str, Any]], ticks: int, width: int = 0, height: int = 0, snapshots: list[int] | None = None
) -> dict[str, Any]:
    """A scenario around these entities: on a grid that just holds the anchors, with a snapshot at every tick."""
    return {
        "version": 1,
        "grid": {
            "width": width or max((entity["x"] + 1 for entity in entities), default=1),
            "height": height or max((entity["y"] + 1 for entity in entities), default=1),
        },
        "ticks": ticks,
        "snapshots": snapshots or [*range(1, ticks + 1)],
        "entities": entities,
    }


def draw_factory(seed: int) -> dict[str, Any]:
    """The scenario of a seed: nearly always a small sheet watched at every tick, one in fifty a main-bus factory."""
    random = Random(seed)
    if seed % 50 == 49:
        return _main_bus(random, seed)
    sheet = Sheet(random)
    pieces = random.choice((PIECES, PIECES, (random.choice(PIECES), stray), (random.choice(PIECES),)))
    for _ in range(random.choice((1, 2, 3, 5, 8, 14))):
        random.choice(pieces)(sheet)
    del sheet.entities[60:]  # dense enough, and still cheap
    if random.random() < 0.7:
        random.shuffle(sheet.entities)
    ticks = max(4, random.choice((40, 90, 250, 700)) * 12 // (12 + len(sheet.entities)))
    return scenario_from(sheet.entities, ticks, sheet.width, sheet.height)


def _main_bus(random: Random, seed: int) -> dict[str, Any]:
    """A factory as the scored ones are, watched at some ticks of its start."""
    plan = generate.build(seed, 0, (random.choice([*generate.BLOCKS]),))
    ticks = random.randrange(100, 700)
    snapshots = sorted({ticks, *(random.randrange(1, ticks + 1) for _ in range(30))})
    return dict(plan.scenario(snapshots))
