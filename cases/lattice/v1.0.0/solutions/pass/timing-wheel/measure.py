"""Why: says where the fuel of one scenario goes, so that the README's figures can be printed again.

`python measure.py SCENARIO.json`, from the root of the repository and after build.sh, runs the engine on variants of
the scenario: other ticks, other snapshots, no entities. The differences are the parts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from evalkit.sandbox.solution import UNLIMITED, Rejection, load_solution


def main() -> None:
    """Print the parts and the whole."""
    wasm = (Path(__file__).parent / "engine.wasm").read_bytes()
    solution = load_solution(wasm, entry="simulate", max_memory_bytes=256 << 20)
    assert not isinstance(solution, Rejection), solution
    text = Path(sys.argv[1]).read_bytes()
    scenario = json.loads(text)

    def burn(data: bytes) -> int:
        call = solution.call(data, runway_limit=UNLIMITED, max_output_bytes=64 << 20, wall_limit_s=600)
        assert call.fuel is not None, call
        return call.fuel

    def at(*snapshots: int, **changes: Any) -> int:
        changed = {**scenario, "ticks": snapshots[-1], "snapshots": list(snapshots), **changes}
        return burn(json.dumps(changed, separators=(",", ":")).encode())

    count, last = len(scenario["entities"]), scenario["snapshots"][-1]
    # An unknown key with all the entities in it is read, and then ignored.
    whole, first, empty = burn(text), at(1), at(1, entities=[])
    start = min(1000, last - 2)
    early = at(start) - first
    print(f"whole run                       {whole:14,}   ({count:,} entities, {last:,} ticks)")
    print(f"reading, layout, one snapshot   {first:14,}   (without any entity: {empty:,})")
    print(f"one more snapshot, early        {at(1, 2) - at(2):14,}")
    print(f"one more snapshot, late         {at(last - 1, last) - at(last):14,}")
    print(f"the first {start:,} ticks{'':13}{early:14,}   ({early / start:,.0f} a tick)")
    for until in (2000, 5000, 10_000, 20_000, 50_000):
        if start < until < last:
            fuel = at(until) - first
            print(f"ticks up to {until:<10,}{'':10}{fuel:14,}   ({(fuel - early) / (until - start):,.0f} a tick)")
            start, early = until, fuel


if __name__ == "__main__":
    main()
