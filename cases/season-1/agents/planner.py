"""Why: remembers every wall it has seen, plans its way round them, and fires only back: what does knowing the way earn?

The rows of the view are bits: bit 0 of `row_00` is the tile (view_x, view_y), and 1 means that it blocks the way.
"""

from heapq import heappop, heappush

from evalkit.season.agents import Action, Observation, Spec, Usage

Tile = tuple[int, int]
WAYS = {(0, -1): "up", (1, 0): "right", (0, 1): "down", (-1, 0): "left"}
HUNTING, RANGE = 3, 40
TICKS = (128, 96, 64, 48, 32, 24, 16, 8, 4)


class Planner:
    """Goes from tile to tile, up, down, left or right, by the shortest way that it knows of."""

    name = "planner"
    deterministic = True

    def reset(self, spec: Spec, seed: int) -> None:
        """Begin: the level is unknown, and unknown tiles are taken to be free."""
        del spec, seed
        self._blocked: set[Tile] = set()
        self._opened = (0, 0)

    def decide(self, observation: Observation) -> Action:
        """A straight piece of the way, as long as it may be."""
        seen = observation.variables
        self._remember(observation)
        for guard in ("guard1", "guard2", "guard3", "guard4"):  # they come nearest first
            dx, dy = seen[f"{guard}_x"] - seen["x"], seen[f"{guard}_y"] - seen["y"]
            if seen[f"{guard}_state"] == HUNTING and seen[f"{guard}_clear"] and dx * dx + dy * dy < RANGE * RANGE:
                return Action(f"shoot-{_way(dx, dy)}", 18)
        if seen["can_act"]:
            return Action("act", 60)
        here, goal = (seen["x"] // 8, seen["y"] // 8), (seen["goal_x"] // 8, seen["goal_y"] // 8)
        path = self._path(here, goal)
        if not path:
            return Action("wait", 16)
        step = path[0][0] - here[0], path[0][1] - here[1]
        run = 1
        while run < len(path) and (path[run][0] - path[run - 1][0], path[run][1] - path[run - 1][1]) == step:
            run += 1
        end = path[run - 1]
        far = abs(end[0] * 8 + 4 - seen["x"]) if step[0] else abs(end[1] * 8 + 4 - seen["y"])
        return Action(WAYS[step], next((ticks for ticks in TICKS if ticks <= far * 2), 4))

    def usage(self) -> Usage:
        """Nothing is spent: an agent that calls a model says here how many tokens and dollars so far."""
        return Usage(0, 0.0)

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

    def _path(self, here: Tile, goal: Tile) -> list[Tile]:
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
                if to in blocked or not (0 <= to[0] < 128 and 0 <= to[1] < 64) or so_far + 1 >= cost.get(to, 1 << 30):
                    continue
                cost[to], before[to] = so_far + 1, tile
                heappush(heap, (so_far + 1 + abs(goal[0] - to[0]) + abs(goal[1] - to[1]), -so_far - 1, to))
        path: list[Tile] = []
        tile = goal if goal in cost else here
        while tile != here:
            path.append(tile)
            tile = before[tile]
        return path[::-1]


def _way(dx: int, dy: int) -> str:
    """The nearest of the eight ways."""
    words = ["down" if dy > 0 else "up"] if abs(dy) * 5 > abs(dx) * 2 else []
    words += ["right" if dx > 0 else "left"] if abs(dx) * 5 > abs(dy) * 2 else []
    return "-".join(words) or "up"
