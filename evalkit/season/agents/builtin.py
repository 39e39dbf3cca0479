"""Why: two agents need no author: the floor of the scale, and one that says again what was said before."""

from __future__ import annotations

import random
from collections.abc import Iterable

from evalkit.errors import UsageError
from evalkit.season.agents.protocol import Action, Observation, Spec, Usage

__all__ = ["RandomAgent", "Replayer"]


class RandomAgent:
    """The floor: each turn a legal action, uniformly, for an allowed number of ticks, uniformly."""

    name = "random"
    reference = "floor"
    deterministic = True

    def reset(self, spec: Spec, seed: int) -> None:
        """Begin a stream of its own."""
        del spec
        self._stream = random.Random(seed)

    def decide(self, observation: Observation) -> Action:
        """Draw."""
        name = self._stream.choice(sorted(observation.legal))
        return Action(name, self._stream.choice(observation.legal[name]))

    def usage(self) -> Usage:
        """Nothing is spent."""
        return Usage(0, 0.0)


class Replayer:
    """Plays a fixed list of actions, such as a replay's, and has nothing to say after its end."""

    name = "replay"
    deterministic = True

    def __init__(self, actions: Iterable[Action]) -> None:
        self.actions = tuple(actions)

    def reset(self, spec: Spec, seed: int) -> None:
        """Begin again."""
        del spec, seed
        self._at = 0

    def decide(self, observation: Observation) -> Action:
        """The next action. Raises UsageError where there is none."""
        del observation
        if self._at == len(self.actions):
            raise UsageError(f"the route is at its end after {len(self.actions)} actions, and the mission is not over")
        self._at += 1
        return self.actions[self._at - 1]

    def usage(self) -> Usage:
        """Nothing is spent."""
        return Usage(0, 0.0)
