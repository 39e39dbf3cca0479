"""Why: plans its way as the planner does, strikes first, fights whoever hunts it, and falls back when hurt.

Four habits, in the order of their weight: break the line of sight when health is low, shoot hunters, take down or
shoot a guard who has not noticed yet, keep out of the cones of the rest while walking.
"""

from collections.abc import Mapping
from heapq import heappop, heappush

from evalkit.season.agents import Action, Observation, Spec, Usage

Tile = tuple[int, int]
WAYS = {(0, -1): "up", (1, 0): "right", (0, 1): "down", (-1, 0): "left"}
EIGHT = ("up", "up-right", "right", "down-right", "down", "down-left", "left", "up-left")
TICKS = (128, 96, 64, 48, 32, 24, 16, 8, 4)
GUARDS = ("guard1", "guard2", "guard3", "guard4")
HUNTING, MEET = 3, 5


class Ghost:
    """Kills what it must, avoids what it can, and picks up what it needs."""

    name = "ghost"
    deterministic = True

    def reset(self, spec: Spec, seed: int) -> None:
        """Begin: the level is unknown, and unknown tiles are taken to be free."""
        del spec, seed
        self._blocked: set[Tile] = set()
        self._opened = (0, 0)
        self._away = 0

    def decide(self, observation: Observation) -> Action:
        """Fight, hide, work, or walk."""
        seen = observation.variables
        self._remember(observation)
        clear = [guard for guard in self._guards(seen) if guard["clear"]]
        hunters = [guard for guard in clear if guard["state"] == HUNTING]
        here = seen["x"] // 8, seen["y"] // 8
        if len(hunters) > 1 and seen["health"] + seen["armour"] < 80 and self._away < 12:
            self._away += 1
            path = self._retreat(here, hunters)
            if path:
                return self._along(seen, here, path)
        if not hunters:
            self._away = 0
        if hunters and seen["ammo"]:
            return Action(_shot(hunters[0]), self._burst(seen))
        for guard in clear:
            if guard["far"] <= 12:
                return Action("act", 6)
            if guard["far"] < 60 and seen["ammo"] > 6:
                return Action(_shot(guard), self._burst(seen))
        if seen["can_act"]:
            return Action("act", 60)
        path = self._path(here, self._aim(seen), self._watched(seen))
        return self._along(seen, here, path) if path else Action("wait", 16)

    def usage(self) -> Usage:
        """Nothing is spent: an agent that calls a model says here how many tokens and dollars so far."""
        return Usage(0, 0.0)

    def _guards(self, seen: Mapping[str, int]) -> list[dict[str, int]]:
        """The guards in view, nearest first: where they are from here, and what they are about."""
        rows = []
        for guard in GUARDS:
            if seen[f"{guard}_state"]:
                row = {key: seen[f"{guard}_{key}"] for key in ("x", "y", "state", "clear", "facing", "sees")}
                dx, dy = row["x"] - seen["x"], row["y"] - seen["y"]
                rows.append({**row, "dx": dx, "dy": dy, "far": int((dx * dx + dy * dy) ** 0.5)})
        return rows

    def _burst(self, seen: Mapping[str, int]) -> int:
        """Three shots at once, but one at a time where a friend is about: the second might be his."""
        return 36 if seen["goal_kind"] != MEET else 18 if seen["cooldown"] > 2 else 4

    def _aim(self, seen: Mapping[str, int]) -> Tile:
        """The goal, or first what lies about and is needed."""
        needed = seen["armour"] < 20 if seen["pickup_kind"] == 2 else seen["ammo"] < 24
        if seen["pickup_kind"] and needed:
            tile = seen["pickup_x"] // 8, seen["pickup_y"] // 8
            if abs(tile[0] - seen["x"] // 8) + abs(tile[1] - seen["y"] // 8) < 9:
                return tile
        return seen["goal_x"] // 8, seen["goal_y"] // 8

    def _watched(self, seen: Mapping[str, int]) -> set[Tile]:
        """Tiles in front of guards who do not hunt."""
        found = set()
        for guard in self._guards(seen):
            if guard["state"] != HUNTING:
                step = _step(guard["facing"])
                for far in range(1, 8):
                    x, y = guard["x"] // 8 + step[0] * far, guard["y"] // 8 + step[1] * far
                    if (x, y) in self._blocked:
                        break
                    wide = far // 2
                    found |= {(x + i, y + j) for i in range(-wide, wide + 1) for j in range(-wide, wide + 1)}
        return found

    def _retreat(self, here: Tile, hunters: list[dict[str, int]]) -> list[Tile]:
        """The way to the nearest tile that no hunter sees."""
        eyes = [(guard["x"] // 8, guard["y"] // 8) for guard in hunters]
        before, queue = {here: here}, [here]
        at = 0
        while at < len(queue) and at < 160:
            tile = queue[at]
            at += 1
            if tile != here and not any(self._sees(eye, tile) for eye in eyes):
                path = [tile]
                while before[path[-1]] != here:
                    path.append(before[path[-1]])
                return path[::-1]
            for dx, dy in WAYS:
                to = tile[0] + dx, tile[1] + dy
                if to not in before and to not in self._blocked:
                    before[to] = tile
                    queue.append(to)
        return []

    def _sees(self, eye: Tile, tile: Tile) -> bool:
        steps = max(abs(tile[0] - eye[0]), abs(tile[1] - eye[1]), 1)
        return not any(
            (eye[0] + round((tile[0] - eye[0]) * n / steps), eye[1] + round((tile[1] - eye[1]) * n / steps))
            in self._blocked
            for n in range(1, steps)
        )

    def _along(self, seen: Mapping[str, int], here: Tile, path: list[Tile]) -> Action:
        """The straight piece that a path begins with."""
        step = path[0][0] - here[0], path[0][1] - here[1]
        run = 1
        while run < len(path) and (path[run][0] - path[run - 1][0], path[run][1] - path[run - 1][1]) == step:
            run += 1
        end = path[run - 1]
        far = abs(end[0] * 8 + 4 - seen["x"]) if step[0] else abs(end[1] * 8 + 4 - seen["y"])
        return Action(WAYS[step], next((ticks for ticks in TICKS if ticks <= far * 2), 4))

    def _remember(self, observation: Observation) -> None:
        """Take in the view: doors open and gates rise, so that what is seen now counts."""
        seen = observation.variables
        if self._opened != (seen["keys"], seen["done"]):  # a key, or work that is done, may open a way
            self._opened = seen["keys"], seen["done"]
            self._blocked.clear()
        for row in range(18):
            bits = seen[f"row_{row:02}"]
            for column in range(20):
                tile = seen["view_x"] + column, seen["view_y"] + row
                if bits >> column & 1:
                    self._blocked.add(tile)
                else:
                    self._blocked.discard(tile)

    def _path(self, here: Tile, goal: Tile, watched: set[Tile]) -> list[Tile]:
        """The shortest way over tiles that are not known to block it (A*); the goal's own tile counts as free."""
        blocked = self._blocked - {goal}
        cost, before = {here: 0}, {here: here}
        heap = [(0, 0, here)]  # of two as short, the one further on: it turns less
        while heap:
            _, gone, tile = heappop(heap)
            so_far = -gone
            if tile == goal:
                break
            if so_far > cost[tile]:
                continue
            for dx, dy in WAYS:
                to = tile[0] + dx, tile[1] + dy
                after = so_far + (4 if to in watched else 1)
                if to in blocked or not (0 <= to[0] < 128 and 0 <= to[1] < 64) or after >= cost.get(to, 1 << 30):
                    continue
                cost[to], before[to] = after, tile
                heappush(heap, (after + abs(goal[0] - to[0]) + abs(goal[1] - to[1]), -after, to))
        path: list[Tile] = []
        tile = goal if goal in cost else here
        while tile != here:
            path.append(tile)
            tile = before[tile]
        return path[::-1]


def _step(facing: int) -> Tile:
    """The tile next in a direction, clockwise from up."""
    return ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1))[facing]


def _shot(guard: Mapping[str, int]) -> str:
    """The action that fires at a guard: the nearest of the eight ways."""
    dx, dy = guard["dx"], guard["dy"]
    best = max(range(8), key=lambda way: _along(way, dx, dy))
    return f"shoot-{EIGHT[best]}"


def _along(way: int, dx: int, dy: int) -> float:
    x, y = _step(way)
    return (x * dx + y * dy) / (1.414 if x and y else 1)
