"""Why: the autopilot that sets each entry's anchor: it knows every level by heart, and cannot be hurt.

Its routes are `routes.toml`: places to walk to, in tiles, and work to do. It steers by where it is, so no guard, door
or seed can lead it astray. A reference run alone may play like this; the routes never leave the operator's hands.
"""

import hashlib
import tomllib
from pathlib import Path

from evalkit.season.agents import Action, Observation, Spec

ROUTES = Path(__file__).with_name("routes.toml")
WAYS = {
    (0, -1): "up", (1, -1): "up-right", (1, 0): "right", (1, 1): "down-right",
    (0, 1): "down", (-1, 1): "down-left", (-1, 0): "left", (-1, -1): "up-left",
}  # fmt: skip
TICKS = (256, 192, 128, 96, 64, 48, 32, 24, 16, 8, 4)


class Route:
    """Walks its legs one by one, each to the pixel."""

    name = "route"
    reference = "anchor"
    cheats = ("invincible", "infinite-ammo")
    deterministic = True
    digest = hashlib.sha256(Path(__file__).read_bytes() + ROUTES.read_bytes()).hexdigest()

    def reset(self, spec: Spec, seed: int) -> None:
        """Take the way for this level at this difficulty."""
        del seed
        legs = tomllib.loads(ROUTES.read_text())[spec.level][spec.difficulty]
        self._steps = [step.split() for leg in legs for step in leg.split(", ")]
        self._done: int | None = None

    def decide(self, observation: Observation) -> Action:
        """The next piece of the way, or of the work."""
        seen = observation.variables
        while self._steps:
            what, *place = self._steps[0]
            if what == "act":
                if self._done in (None, seen["done"]):
                    self._done = seen["done"]
                    return Action("act", 6)
                self._done = None
            else:
                dx, dy = (int(place[axis]) * 8 + 4 - seen["xy"[axis]] for axis in (0, 1))
                if abs(dx) > 2 or abs(dy) > 2:
                    return self._walk(dx, dy)
            self._steps.pop(0)
        return Action("wait", 8)

    def _walk(self, dx: int, dy: int) -> Action:
        aslant = abs(dx) > 2 and abs(dy) > 2
        way = ((dx > 2) - (dx < -2), (dy > 2) - (dy < -2))
        need = min(abs(dx), abs(dy)) * 3 if aslant else max(abs(dx), abs(dy)) * 2
        return Action(WAYS[way], next(ticks for ticks in TICKS if ticks <= max(need, 4)))
