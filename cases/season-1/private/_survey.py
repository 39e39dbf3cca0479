"""Why: works the autopilot's ways out of the maps: `python cases/season-1/private/_survey.py --write`.

Where it stops, in which order, and what opens on the way is written here by hand; the tiles between come from the maps,
so that a wall moved in a map is a route mended by one command. Without `--write` it says whether `routes.toml` is so.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from pathlib import Path
from textwrap import wrap

HERE = Path(__file__).parent
MAPS = HERE.parent / "game" / "maps"
RANKS = ("agent", "secret-agent", "00-agent")
WALLS, DOORS, LOCKS = set("# ~o=Tcn"), set("+DEF"), set("DEFHIJ")
STRAIGHT, ASLANT, DOOR = 16, 24, 8  # ticks
HEAD = """# For each level and difficulty, made by _survey.py. "go X Y" is a tile to walk to, aslant first and then
# straight; "act" is to work at what is at hand until it counts.
"""

Tile = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Stop:
    """A mark of the map: how near to come, whether to work there, from which difficulty on, and what it opens."""

    mark: str
    near: int = 0
    act: bool = False
    least: int = 0
    opens: str = ""


def work(mark: str, least: int = 0, opens: str = "", near: int = 1) -> Stop:
    return Stop(mark, near, True, least, opens)


STOPS = {
    "dam": [work("1", opens="H"), work("2", near=4), work("5", opens="I"), Stop("3", least=1), work("6", opens="J"),
            work("4", 2), Stop("X")],
    "facility": [Stop("6"), Stop("d", opens="D"), work("1"), Stop("e", opens="E"), work("2", opens="H"), work("3"),
                 work("4", 1), work("5", 2), Stop("f", opens="F"), Stop("X")],
    "runway": [Stop("1"), work("2"), work("4"), work("3", 1), Stop("5", least=2), Stop("X")],
    "surface-1": [Stop("d", least=1, opens="D"), Stop("3", least=2), work("2", 1), work("1", near=4),
                  work("4", opens="H"), Stop("X")],
    "bunker-1": [Stop("d", opens="D"), work("1"), Stop("4", least=2), work("2", near=4), work("3", 1),
                 Stop("e", opens="E"), Stop("X")],
}  # fmt: skip


class Survey:
    """A level's map, with what is open so far."""

    def __init__(self, level: str, stops: list[Stop]) -> None:
        self.rows = (MAPS / f"{level}.txt").read_text().splitlines()
        self.open: set[str] = set()
        people = {"1"} if level == "facility" else set()  # who is met stands in nobody's way
        self.solid = {self.find(stop.mark) for stop in stops if stop.act and stop.mark not in people}

    def find(self, mark: str) -> Tile:
        return next((x, y) for y, row in enumerate(self.rows) for x, letter in enumerate(row) if letter == mark)

    def at(self, tile: Tile) -> str:
        x, y = tile
        return self.rows[y][x] if 0 <= y < len(self.rows) and 0 <= x < len(self.rows[y]) else " "

    def free(self, tile: Tile) -> bool:
        letter = self.at(tile)
        return tile not in self.solid and letter not in WALLS and (letter not in LOCKS or letter in self.open)

    def in_frame(self, tile: Tile, goal: Tile) -> bool:
        steps = 4 * max(abs(goal[0] - tile[0]), abs(goal[1] - tile[1]), 1)
        for n in range(1, steps):
            on = (
                round(tile[0] + (goal[0] - tile[0]) * n / steps),
                round(tile[1] + (goal[1] - tile[1]) * n / steps),
            )
            if on == goal:
                return True
            if self.at(on) in "# oT+DEFcn":
                return False
        return True

    def way(self, start: Tile, goal: Tile, near: int) -> list[Tile]:
        """The bends of the quickest way to a tile near enough to the goal, its end included."""
        cost, before, heap = {start: 0}, {start: start}, [(0, start)]
        while heap:
            gone, tile = heappop(heap)
            if gone > cost[tile]:
                continue
            away = abs(tile[0] - goal[0]) + abs(tile[1] - goal[1])
            if away <= near and (near < 2 or self.in_frame(tile, goal)):
                return self._bends(before, start, tile)
            for to, ticks in self._next(tile):
                if gone + ticks < cost.get(to, 1 << 30):
                    cost[to], before[to] = gone + ticks, tile
                    heappush(heap, (gone + ticks, to))
        raise SystemExit(f"no way from {start} to {goal}")

    def _next(self, tile: Tile) -> list[tuple[Tile, int]]:
        found = []
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                to = tile[0] + dx, tile[1] + dy
                if to == tile or not self.free(to):
                    continue
                aslant, door = bool(dx and dy), self.at(to) in DOORS
                if aslant and (door or self.at(tile) in DOORS):
                    continue
                if aslant and not (self.free((to[0], tile[1])) and self.free((tile[0], to[1]))):
                    continue
                found.append((to, (ASLANT if aslant else STRAIGHT) + DOOR * door))
        return found

    def _bends(self, before: dict[Tile, Tile], start: Tile, end: Tile) -> list[Tile]:
        path = [end]
        while path[-1] != start:
            path.append(before[path[-1]])
        path.reverse()
        steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(path)]
        return [path[n + 1] for n in range(len(steps)) if n + 1 == len(steps) or steps[n + 1] != steps[n]]


def routes() -> str:
    """The whole of routes.toml."""
    lines = [HEAD]
    for level, stops in STOPS.items():
        lines.append(f"[{level}]")
        for rank, difficulty in enumerate(RANKS):
            asked = [stop for stop in stops if stop.least <= rank]
            survey = Survey(level, asked)
            place = survey.find("@")
            lines.append(f"{difficulty} = [")
            for stop in asked:
                bends = survey.way(place, survey.find(stop.mark), stop.near)
                place = bends[-1] if bends else place
                survey.open |= set(stop.opens)
                text = ", ".join([f"go_{x}_{y}" for x, y in bends] + ["act"] * stop.act)
                lines += [f'    "{row.rstrip(",").replace("_", " ")}",' for row in wrap(text, 108)]
            lines.append("]")
        lines.append("")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    path = HERE / "routes.toml"
    made = routes()
    if "--write" in arguments:
        path.write_text(made)
    return int(made != path.read_text())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
