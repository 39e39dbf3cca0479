"""Why: what a scenario looks like before anything moves: shapes on the grid, and the paths on which items travel.

A path is a flat list `[s, x, y, s, x, y, …]`: at position s (256 a tile, growing downstream) lies the point (x, y) in
tiles; between two points it is straight. A run of belts has one path for each lane, an arm has one, a source one for
each belt lane that it feeds.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from lattice_reference.scenario import Entity
from lattice_reference.tables import INDEX, LANES, LEFT, OPPOSITE, RECIPES, RIGHT, SPEED, STEP, TILE, ahead
from lattice_reference.world import World

__all__ = ["Layout"]

Point = tuple[float, float]
Path = list[float]

WORDS = {"N": "north", "E": "east", "S": "south", "W": "west"}
LANE = 0.25
"""Tiles between the middle of a belt and each of its lanes: where a side-loaded item lands, it lies exactly beside."""

REACH = 0.75
"""Tiles from an arm's base to its hand: over the lane that it picks from and the one that it drops on."""

BULGE = 0.34
"""How far the hand swings out sideways; less than a real half circle, so that it stays off its neighbours."""


class Layout:
    """The shapes and the paths of a world; `lane_path` and `arm_path` say which path belongs to whom."""

    def __init__(self, world: World, width: int, height: int) -> None:
        self.world = world
        self.width, self.height = width, height
        self.paths: list[Path] = []
        self.place: dict[int, tuple[int, int]] = {}
        """By belt: the number of its run, and the position of its downstream edge on that run's paths."""
        self.run_paths: list[tuple[int, int]] = []
        self.arm_paths: dict[int, int] = {}
        self.source_paths: dict[tuple[int, int], int] = {}
        """By belt and lane: the path out of the source that feeds it."""
        self.drains: dict[int, int] = {}
        """By path that ends in a sink: the position at which an item has vanished into it."""
        for run in world.runs:
            self._add_run(run)
        for arm in world.of_kind("inserter"):
            self.arm_paths[id(arm)] = self._add(_swing(arm))
        for source in world.of_kind("source"):
            belt = world.belt_at(ahead(source.tile, source.dir))
            if belt is not None:
                for lane in LANES[source.lane]:
                    self.source_paths[id(belt), lane] = self._add(_line(_middle(source), _entry(belt, lane)))

    def _add(self, path: Path) -> int:
        self.paths.append([round(value, 3) for value in path])
        return len(self.paths) - 1

    def _add_run(self, run: list[Entity]) -> None:
        upstream_first = run[::-1]
        for number, belt in enumerate(upstream_first, 1):
            self.place[id(belt)] = (len(self.run_paths), TILE * number)
        end = run[0]
        into = self.world.owner.get(ahead(end.tile, end.dir))
        pair = []
        for lane in (LEFT, RIGHT):
            path: Path = []
            for number, belt in enumerate(upstream_first):
                points = self._lane_points(belt, lane)
                for step, (x, y) in enumerate(points):
                    if not (path and step == 0):  # a tile begins where the one before it ended
                        path += [TILE * (number + step / (len(points) - 1)), x, y]
            if into is not None and into.kind == "sink":
                dx, dy = STEP[end.dir]
                path += [path[-3] + TILE * 0.6, path[-2] + 0.6 * dx, path[-1] + 0.6 * dy]
            pair.append(self._add(_straightened(path)))
            if into is not None and into.kind == "sink":
                self.drains[pair[-1]] = int(TILE * (len(run) + 0.6))
        self.run_paths.append((pair[LEFT], pair[RIGHT]))

    def feeder(self, belt: Entity) -> str:
        """The facing of the belt that feeds a curve; any other belt's own facing."""
        if id(belt) in self.world.curves:
            for direction in STEP:
                other = self.world.belt_at(ahead(belt.tile, OPPOSITE[direction]))
                if other is not None and other.dir == direction and direction not in (belt.dir, OPPOSITE[belt.dir]):
                    return direction
        return belt.dir

    def _lane_points(self, belt: Entity, lane: int) -> list[Point]:
        (cx, cy), (dx, dy) = _middle(belt), STEP[belt.dir]
        side = LANE if lane == LEFT else -LANE
        fx, fy = STEP[self.feeder(belt)]
        if (fx, fy) == (dx, dy):
            lx, ly = cx + dy * side, cy - dx * side
            return [(lx - dx / 2, ly - dy / 2), (lx + dx / 2, ly + dy / 2)]
        turn = 1 if (fy, -fx) == (dx, dy) else -1  # left or right
        radius = 0.5 - side * turn
        ox, oy = cx + (dx - fx) / 2, cy + (dy - fy) / 2
        angles = [math.pi / 2 * step / 6 for step in range(7)]
        return [
            (
                ox + radius * (fx * math.sin(a) - dx * math.cos(a)),
                oy + radius * (fy * math.sin(a) - dy * math.cos(a)),
            )
            for a in angles
        ]

    def items(self) -> list[dict[str, str]]:
        """Every item: name, colour and shape. Hue says the family, shape and lightness the stage."""
        return [{"name": name, "colour": LOOKS[name][0], "shape": LOOKS[name][1]} for name in INDEX]

    def shape(self, entity: Entity) -> dict[str, Any]:
        """What of an entity never changes. `title` names it in a line."""
        x, y = entity.tile
        tiles = entity.tiles()
        shape: dict[str, Any] = {
            "kind": "machine" if entity.kind in ("assembler", "furnace") else KINDS.get(entity.kind, entity.kind),
            "x": x, "y": y, "w": tiles[-1][0] - x + 1, "h": tiles[-1][1] - y + 1,
        }  # fmt: skip
        facing = f" facing {WORDS[entity.dir]}" if entity.dir and entity.kind != "sink" else ""
        title = f"{entity.kind}{facing}"
        if entity.dir:
            shape["dir"] = entity.dir
        if entity.kind == "belt":
            shape |= {"from": self.feeder(entity), "rank": [*SPEED].index(entity.tier)}
            title = f"{entity.tier} belt{facing}"
        elif shape["kind"] == "machine":
            recipe = RECIPES[entity.recipe]
            shape |= {"makes": INDEX[recipe.output[0]], "ticks": recipe.ticks, "style": entity.kind}
            title = f"{entity.kind} of {entity.recipe}"
        elif entity.kind == "inserter":
            shape["path"] = self.arm_paths[id(entity)]
        elif entity.kind == "source":
            shape |= {"gives": INDEX[entity.item], "period": entity.period}
            title = f"source of {entity.item} every {entity.period} ticks{facing}"
        return {**shape, "title": f"{title} at ({x}, {y})"}


KINDS = {"inserter": "arm", "lane-splitter": "splitter"}

LOOKS = {
    "iron-ore": ("#3f7fc4", "disc"),
    "iron-plate": ("#9fcbee", "square"),
    "iron-gear": ("#1d4f87", "hexagon"),
    "copper-ore": ("#c65a1e", "disc"),
    "copper-plate": ("#f3ab5e", "square"),
    "copper-cable": ("#ffd9a0", "ring"),
    "circuit": ("#13946a", "diamond"),
    "transport-belt": ("#e8c51f", "triangle"),
    "fast-transport-belt": ("#b8321f", "triangle"),
    "express-transport-belt": ("#2f9bd8", "triangle"),
    "assembler": ("#8a4fb5", "star"),
    "fast-assembler": ("#b78fd6", "star"),
    "express-assembler": ("#5b2f80", "star"),
    "inserter": ("#d873ad", "cross"),
    "fast-inserter": ("#a03d78", "cross"),
    "express-inserter": ("#f0b3d3", "cross"),
    "coal": ("#2b2d31", "hexagon"),
}


def _middle(entity: Entity) -> Point:
    return entity.tile[0] + 0.5, entity.tile[1] + 0.5


def _line(a: Point, b: Point) -> Path:
    return [0, *a, TILE, *b]


def _entry(belt: Entity, lane: int) -> Point:
    (x, y), (dx, dy) = _middle(belt), STEP[belt.dir]
    side = LANE if lane == LEFT else -LANE
    return x + dy * side - dx / 4, y - dx * side - dy / 4


def _swing(arm: Entity) -> Path:
    (x, y), (dx, dy) = _middle(arm), STEP[arm.dir]
    path: Path = []
    for step in range(9):
        along, aside = -math.cos(math.pi * step / 8) * REACH, math.sin(math.pi * step / 8) * BULGE
        path += [TILE * step / 8, x + dx * along + dy * aside, y + dy * along - dx * aside]
    return path


def _straightened(path: Path) -> Path:
    """The same path without the points that lie on a straight line, at an even pace, between their neighbours."""
    points = [tuple(path[i : i + 3]) for i in range(0, len(path), 3)]
    kept = points[:1]
    for here, following in pairwise(points[1:]):
        last = kept[-1]
        share = (here[0] - last[0]) / (following[0] - last[0])
        off = max(abs(last[i] + share * (following[i] - last[i]) - here[i]) for i in (1, 2))
        if off > 1e-9:
            kept.append(here)
    return [value for point in [*kept, points[-1]] for value in point]
