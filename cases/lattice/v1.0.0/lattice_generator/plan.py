"""Why: scenarios are drawn tile by tile, and a drawing that overlaps itself or leaves its grid is an author's slip."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

from lattice_reference.tables import OPPOSITE, RECIPES, STEP

__all__ = ["Plan"]

FOOTPRINT = {"assembler": (3, 3), "furnace": (2, 2), "splitter": (1, 2), "lane-splitter": (1, 2)}
"""Tiles across and down; of a splitter, where it faces east or west."""


def _size(entity: dict[str, Any]) -> tuple[int, int]:
    across, down = FOOTPRINT.get(entity["type"], (1, 1))
    return (down, across) if entity.get("dir", "E") in "NS" else (across, down)


class Plan:
    """A scenario being drawn. Entities keep the order in which they were drawn, unless `shuffle` is called."""

    def __init__(self) -> None:
        self.entities: list[dict[str, Any]] = []
        self.taken: set[tuple[int, int]] = set()

    def add(self, kind: str, x: int, y: int, width: int = 1, height: int = 1, **fields: Any) -> None:
        """Place one entity. Raises ValueError where a tile is taken or negative."""
        for tile in ((x + dx, y + dy) for dy in range(height) for dx in range(width)):
            if tile in self.taken or min(tile) < 0:
                raise ValueError(f"{kind} at {x},{y}: tile {tile} is taken or outside the grid")
            self.taken.add(tile)
        self.entities.append({"type": kind, "x": x, "y": y, **fields})

    def belts(self, x: int, y: int, way: str, tier: str = "fast") -> tuple[int, int]:
        """Draw a belt along `way`, say "E4 S2", from a tile on, and return the first free tile behind its end.

        A turn belongs to the way that it turns into.
        """
        for leg in way.split():
            direction, length = leg[0], int(leg[1:])
            for _ in range(length):
                self.add("belt", x, y, dir=direction, tier=tier)
                x, y = x + STEP[direction][0], y + STEP[direction][1]
        return x, y

    def source(self, x: int, y: int, direction: str, item: str, lane: str = "both", period: int = 4) -> None:
        """Place a source."""
        self.add("source", x, y, dir=direction, item=item, lane=lane, period=period)

    def sink(self, x: int, y: int) -> None:
        """Place a sink; the direction of a sink means nothing."""
        self.add("sink", x, y, dir="E")

    def inserter(self, x: int, y: int, direction: str) -> None:
        """Place an inserter."""
        self.add("inserter", x, y, dir=direction)

    def splitter(self, x: int, y: int, direction: str) -> None:
        """Place a splitter; its second tile is south or east of the anchor."""
        self.add("splitter", x, y, *((1, 2) if direction in "EW" else (2, 1)), dir=direction)

    def crafter(self, x: int, y: int, recipe: str) -> None:
        """Place the assembler or furnace that runs a recipe."""
        kind = RECIPES[recipe].kind
        side = 3 if kind == "assembler" else 2
        self.add(kind, x, y, side, side, recipe=recipe)

    def crafters_between(self, recipe: str, xs: Iterable[int], take_y: int, give_y: int) -> None:
        """Place a row of crafters that take from the belt in row `take_y` and give to the belt in row `give_y`.

        An arm's cycle of 17 ticks is too slow for a furnace, which takes two items in 32 ticks, and for a cable maker,
        which gives two: they get two arms there. Otherwise 17 would get into every period of the factory.
        """
        direction = "S" if give_y > take_y else "N"
        side = 3 if RECIPES[recipe].kind == "assembler" else 2
        if abs(give_y - take_y) != side + 3:
            raise ValueError(f"{recipe}: rows {take_y} and {give_y} do not leave room for exactly one row of crafters")
        takers, givers = 2 if side == 2 else 1, 2 if recipe == "copper-cable" else 1
        for x in xs:
            for taker in range(takers):
                self.inserter(x + taker, take_y + STEP[direction][1], direction)
            self.crafter(x, min(take_y, give_y) + 2, recipe)
            for giver in range(givers):
                self.inserter(x + side - 1 - giver, give_y - STEP[direction][1], direction)

    def crafters_beside(self, recipe: str, xs: Iterable[int], belt_y: int, direction: str) -> None:
        """Place a row of assemblers, in `direction` from a belt, that take from it and give back to it."""
        step = STEP[direction][1]
        for x in xs:
            self.inserter(x, belt_y + step, direction)
            self.crafter(x, belt_y + (2 if step > 0 else -4), recipe)
            self.inserter(x + 2, belt_y + step, OPPOSITE[direction])

    def turned(self, quarters: int, *, mirrored: bool) -> Plan:
        """Return the drawing turned clockwise by quarters, as seen in a mirror first if wanted. It works as before."""
        entities = self.entities
        width, height = self.extent()
        if mirrored:
            swap = {"E": "W", "W": "E", "left": "right", "right": "left"}
            changed = [(entity, {"x": width - entity["x"] - _size(entity)[0]}) for entity in entities]
            for entity, new in changed:
                new |= {key: swap.get(entity[key], entity[key]) for key in ("dir", "lane") if key in entity}
            entities = [{**entity, **new} for entity, new in changed]
        for _ in range(quarters):
            entities = [
                {
                    **entity,
                    "x": height - entity["y"] - _size(entity)[1],
                    "y": entity["x"],
                    **({"dir": "ESWN"["NESW".index(entity["dir"])]} if "dir" in entity else {}),
                }
                for entity in entities
            ]
            width, height = height, width
        plan = Plan()
        plan.place(entities, 0, 0)
        return plan

    def place(self, entities: Iterable[dict[str, Any]], dx: int, dy: int) -> None:
        """Add entities of another drawing, moved by so much."""
        for entity in entities:
            fields = {key: value for key, value in entity.items() if key not in ("type", "x", "y")}
            self.add(entity["type"], entity["x"] + dx, entity["y"] + dy, *_size(entity), **fields)

    def extent(self) -> tuple[int, int]:
        """The width and height of the smallest grid that holds it."""
        width, height = (1 + max(tile[axis] for tile in self.taken) for axis in (0, 1))
        return width, height

    def shuffle(self, random: Random) -> None:
        """Bring the entities into another order; the placement order is a part of the rules."""
        random.shuffle(self.entities)

    def scenario(self, snapshots: list[int]) -> dict[str, Any]:
        """Return the scenario on the smallest grid that holds it."""
        width, height = self.extent()
        return {
            "version": 1,
            "grid": {"width": width, "height": height},
            "ticks": snapshots[-1],
            "snapshots": snapshots,
            "entities": self.entities,
        }
