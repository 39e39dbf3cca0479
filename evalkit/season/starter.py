"""Why: the example agent that a pack hands out: it plays any game that a season is made of, badly, and shows how.

It keeps doing what changes what it sees, and tries something else where nothing changes. Copy it and think of more.
"""

from __future__ import annotations

import random

from evalkit.season.agents import Action, Observation, Spec, Usage


class Starter:
    """Repeat what makes a difference; else draw another legal action."""

    name = "starter"
    deterministic = True  # with the same seed it makes the same choices again

    def reset(self, spec: Spec, seed: int) -> None:
        """A run begins: `spec` has the actions, the variables, the budget. All chance comes from `seed`."""
        self.spec = spec
        self.random = random.Random(seed)
        self.last: Action | None = None
        self.seen: dict[str, int] = {}

    def decide(self, observation: Observation) -> Action:
        """One turn: `observation.variables` has numbers, `.legal` the actions allowed now, `.png()` the screen."""
        changed = dict(observation.variables) != self.seen
        self.seen = dict(observation.variables)
        keeps = self.last is not None and changed and self.random.random() < 0.8
        if self.last is None or not keeps or self.last.name not in observation.legal:
            name = self.random.choice(sorted(observation.legal))
            self.last = Action(name, max(observation.legal[name]))
        return self.last

    def usage(self) -> Usage:
        """Tokens and dollars so far. An agent that calls a model says what it spent; without this it is unknown."""
        return Usage(tokens=0, dollars=0.0)
