"""Why: the expected answers of this case come from here, so it says what `rules.md` says in the plainest way it can.

It is a reference, not an engine: no dependencies, one method for each rule. `simulate` gives the answer of a scenario;
`World` can be stepped tick by tick; `canonical_bytes` and `checksum` are the hash of a state. The rules themselves are
in `lattice_reference/`. From the command line: `python oracle.py SCENARIO.json` prints the answer.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

# This file is loaded by path, not as a part of a package; its folder has to be found first.
if str(Path(__file__).parent) not in sys.path:
    sys.path.insert(0, str(Path(__file__).parent))

from lattice_reference.state import canonical_bytes, checksum
from lattice_reference.tables import ITEMS, RECIPES
from lattice_reference.world import World

__all__ = ["ITEMS", "RECIPES", "World", "canonical_bytes", "checksum", "simulate"]

SAMPLE = 48
"""About how many ticks lie between two looks for a repeat: a look costs about as much as a tick."""


class Repeats:
    """Finds the period of a world that has begun to repeat itself, and jumps it forward by whole periods.

    Complete states are compared, no hashes. A look is taken only at multiples of all source periods, so that the
    sources' phases agree without being compared. The kept state is renewed at ever longer distances (as in Brent's
    method, but each only a quarter longer), so one state is kept, not thousands.
    """

    def __init__(self, world: World) -> None:
        base = math.lcm(*(source.period for source in world.of_kind("source")))
        self.world = world
        self.stride = base * -(-SAMPLE // base)
        self.kept: tuple[int, list[Any], list[dict[str, int]]] | None = None
        self.period: int | None = None
        self.gains: list[dict[str, int]] = []

    def look(self) -> None:
        """Compare the state with the kept one, if now is the tick for it."""
        if self.period is not None or self.world.tick % self.stride:
            return
        state, consumed = self.world.future(), [dict(sink.consumed) for sink in self.world.of_kind("sink")]
        if self.kept is not None and self.kept[1] == state:
            self.period = self.world.tick - self.kept[0]
            self.gains = [
                {item: count - before.get(item, 0) for item, count in after.items()}
                for before, after in zip(self.kept[2], consumed, strict=True)
            ]
        elif self.kept is None or self.world.tick >= self.kept[0] * 5 // 4:
            self.kept = (self.world.tick, state, consumed)

    def jump(self, target: int) -> None:
        """Go as near to `target` as whole periods allow."""
        if self.period is not None:
            times = (target - self.world.tick) // self.period
            self.world.tick += times * self.period
            for sink, gain in zip(self.world.of_kind("sink"), self.gains, strict=True):
                for item, count in gain.items():
                    sink.consumed[item] += times * count


def simulate(scenario: dict[str, Any], *, skip_repeats: bool = False) -> list[dict[str, Any]]:
    """Return the answer: one object with tick, checksum and entities for each snapshot.

    With `skip_repeats` the same answer comes sooner where the factory falls into a period. Raises ValueError where the
    scenario is invalid.
    """
    world = World(scenario)
    repeats = Repeats(world) if skip_repeats else None
    answer = []
    for target in scenario["snapshots"]:
        while world.tick < target:
            world.step()
            if repeats is not None:
                repeats.look()
                repeats.jump(target)
        answer.append(world.snapshot())
    return answer


if __name__ == "__main__":
    print(json.dumps(simulate(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), skip_repeats=True), indent=2))
