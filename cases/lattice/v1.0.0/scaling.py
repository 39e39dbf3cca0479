"""Why: says how each engine's fuel grows with ticks and with entities, for the charts of the results notebook.

`python cases/lattice/v1.0.0/scaling.py` measures and rewrites `scaling.csv` beside this file; it takes some minutes.
Fuel is deterministic, so the tests measure the cheapest rows again and demand the same numbers. The naive engine stops
at 100,000 ticks: another decade takes it half a minute, the one after that five.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

# This file is loaded by path, not as a part of a package; its folder has to be found first.
if str(Path(__file__).parent) not in sys.path:
    sys.path.insert(0, str(Path(__file__).parent))

from lattice_generator.factory import build
from measure import ENGINES, built, burn

from evalkit.performance.scaling import ScalingPoint, write_scaling

__all__ = ["measure"]

SEED = 21
"""Of no scored and of no training factory."""
TICKS = (10_000, 100_000, 1_000_000, 10_000_000)
OF_NAIVE = 100_000
SIZE = 600
SIZES = (100, 300, 1_000, 3_000, 10_000)
FIXED_TICKS = 20_000


def measure(*, ticks: int = TICKS[-1], size: int = SIZES[-1]) -> Iterator[ScalingPoint]:
    """Run every engine, for up to so many ticks and on factories of up to about so many entities."""
    for name, folder in ENGINES.items():
        model = tomllib.loads((folder / "solution.toml").read_text(encoding="utf-8"))["model"]
        runs = [("ticks", SIZE, last) for last in TICKS if last <= (min(ticks, OF_NAIVE) if name == "naive" else ticks)]
        runs += [("entities", about, FIXED_TICKS) for about in SIZES if about <= size]
        for along, about, last in runs:
            scenario = build(SEED, about).scenario([last])
            fuel = burn(built(folder), json.dumps(scenario, separators=(",", ":")).encode())
            entities = len(scenario["entities"])
            amount, held = (last, f"{entities:,} entities") if along == "ticks" else (entities, f"{last:,} ticks")
            yield ScalingPoint(model, along, amount, held, fuel)


def main() -> None:
    """Measure everything and rewrite the data file."""
    points = []
    for point in measure():
        points.append(point)
        print(f"{point.model:24}{point.amount:12,} {point.along:10}{point.held:16}{point.fuel:20,}", flush=True)
    write_scaling(Path(__file__).parent, points)


if __name__ == "__main__":
    main()
