"""Why: the least that gets anywhere: walk towards the next goal, act where it is at hand, mind nothing else.

Copy this file to begin an agent of your own: `evalkit play season-1 --level dam --seed 100 --agent walker`.
"""

import random

from evalkit.season.agents import Action, Observation, Spec

WAYS = ("up", "up-right", "right", "down-right", "down", "down-left", "left", "up-left")


class Walker:
    """Takes the way that points at the goal; where that brings it no nearer, it wanders for a while."""

    name = "walker"
    deterministic = True

    def reset(self, spec: Spec, seed: int) -> None:
        """Begin: nothing is remembered but how near to the goal it has been."""
        self._stream = random.Random(seed)
        self._goal: tuple[int, int] | None = None
        self._best = self._stuck = 0

    def decide(self, observation: Observation) -> Action:
        """One step."""
        seen = observation.variables
        if seen["can_act"]:
            return Action("act", 60)
        goal = seen["goal_x"], seen["goal_y"]
        dx, dy = goal[0] - seen["x"], goal[1] - seen["y"]
        far = abs(dx) + abs(dy)
        if goal != self._goal:
            self._goal, self._best, self._stuck = goal, far, 0
        self._stuck = 0 if far < self._best else self._stuck + 1
        self._best = min(self._best, far)
        if self._stuck > 2:
            if self._stuck > 6:
                self._best, self._stuck = far, 0
            return Action(self._stream.choice(WAYS), 64)
        return Action(_way(dx, dy), 64 if far > 64 else 16)


def _way(dx: int, dy: int) -> str:
    """The nearest of the eight ways."""
    words = ["down" if dy > 0 else "up"] if abs(dy) * 5 > abs(dx) * 2 else []
    words += ["right" if dx > 0 else "left"] if abs(dx) * 5 > abs(dy) * 2 else []
    return "-".join(words) or "up"
