"""Why: the least that gets anywhere: cross the screen towards the goal, act where it is at hand, mind nobody.

It remembers no wall: it looks for a way on the screen before it, to the tile that lies nearest to the goal, and where
it was before it tries another. Copy this file to begin an agent of your own, and play it on a practice seed:
`evalkit play season-1 --level dam --seed 100 --agent walker`.
"""

from collections import Counter
from collections.abc import Mapping

from evalkit.season.agents import Action, Observation, Spec, Usage

Tile = tuple[int, int]
WAYS = {(0, -1): "up", (1, 0): "right", (0, 1): "down", (-1, 0): "left"}
DETOUR = 12
TICKS = (128, 96, 64, 48, 32, 24, 16, 8, 4)


class Walker:
    """Crosses the screen towards the goal, guards or no guards."""

    name = "walker"
    deterministic = True

    def reset(self, spec: Spec, seed: int) -> None:
        """Begin: nothing is remembered but where it was and is going."""
        del spec, seed
        self._been: Counter[Tile] = Counter()
        self._end: Tile | None = None

    def decide(self, observation: Observation) -> Action:
        """A straight piece of the way."""
        seen = observation.variables
        if seen["can_act"]:
            return Action("act", 60)
        here, goal = (seen["x"] // 8, seen["y"] // 8), (seen["goal_x"] // 8, seen["goal_y"] // 8)
        before = _reach(seen, here, goal)
        if goal in before:
            self._end = goal
        elif self._end not in before or self._end == here:  # what it set out for, it reaches first
            self._been[here[0] // 4, here[1] // 4] += 1
            self._end = min(before, key=lambda tile: self._cost(tile, goal))
        end = self._end
        path = [end]
        while before[path[-1]] != path[-1]:
            path.append(before[path[-1]])
        path.reverse()
        if len(path) == 1:
            return Action("wait", 16)
        step = path[1][0] - path[0][0], path[1][1] - path[0][1]
        run = 1
        while run + 1 < len(path) and (path[run + 1][0] - path[run][0], path[run + 1][1] - path[run][1]) == step:
            run += 1
        far = abs(path[run][step[0] == 0] * 8 + 4 - seen["xy"[step[0] == 0]])
        return Action(WAYS[step], next((ticks for ticks in TICKS if ticks <= far * 2), 4))

    def usage(self) -> Usage:
        """Nothing is spent: an agent that calls a model says here how many tokens and dollars so far."""
        return Usage(0, 0.0)

    def _cost(self, tile: Tile, goal: Tile) -> int:
        """How far it is from a tile to the goal; places where it was before count as further off."""
        return abs(tile[0] - goal[0]) + abs(tile[1] - goal[1]) + DETOUR * self._been[tile[0] // 4, tile[1] // 4]


def _reach(seen: Mapping[str, int], here: Tile, goal: Tile) -> dict[Tile, Tile]:
    """Every tile of the screen that can be walked to, and the one before it; the goal's own counts as free."""
    before, queue = {here: here}, [here]
    for tile in queue:
        for dx, dy in WAYS:
            to = tile[0] + dx, tile[1] + dy
            column, row = to[0] - seen["view_x"], to[1] - seen["view_y"]
            if to in before or not (0 <= column < 20 and 0 <= row < 18):
                continue
            if not seen[f"row_{row:02}"] >> column & 1 or to == goal:
                before[to] = tile
                queue.append(to)
    return before
