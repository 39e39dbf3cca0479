"""Why: the least that gets anywhere: walk towards the next goal, act where it is at hand, and mind nothing else.

Copy this file to begin an agent of your own: `evalkit play season-1 --level dam --seed 100 --agent walker`.
"""

import random

from evalkit.season.agents import Action, Observation, Spec

WAYS = ("up", "up-right", "right", "down-right", "down", "down-left", "left", "up-left")


class Walker:
    """Takes whichever free way brings it nearest to the goal; where it does not get on, it wanders for a while."""

    name = "walker"
    deterministic = True

    def reset(self, spec: Spec, seed: int) -> None:
        """Begin: nothing is remembered but where it was."""
        self._stream = random.Random(seed)
        self._best = 1 << 30
        self._stuck = 0
        self._goal = None

    def decide(self, observation: Observation) -> Action:
        """One step."""
        seen = observation.variables
        if seen["can_act"]:
            return Action("act", 96)
        goal = (seen["goal_x"], seen["goal_y"])
        far = abs(goal[0] - seen["x"]) + abs(goal[1] - seen["y"])
        if goal != self._goal:
            self._goal, self._best, self._stuck = goal, 1 << 30, 0
        self._stuck = 0 if far < self._best - 4 else self._stuck + 1
        self._best = min(self._best, far)
        if self._stuck > 3:
            if self._stuck > 6:
                self._stuck, self._best = 0, far
            return Action(self._stream.choice(WAYS), 64)
        dx, dy = goal[0] - seen["x"], goal[1] - seen["y"]
        way = WAYS.index(_name(dx, dy))
        return Action(WAYS[way], 64 if far > 64 else 16)


def _name(dx: int, dy: int) -> str:
    """The nearest of the eight ways."""
    words = ["down" if dy > 0 else "up"] if abs(dy) * 5 > abs(dx) * 2 else []
    words += ["right" if dx > 0 else "left"] if abs(dx) * 5 > abs(dy) * 2 else []
    return "-".join(words)
