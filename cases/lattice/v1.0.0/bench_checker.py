"""Why: the checker runs on every graded input, so its time for a large state is a figure that anybody can print again.

`python cases/lattice/v1.0.0/bench_checker.py` builds one snapshot with about 100 kB of canonical bytes and prints how
many milliseconds of processor time a check takes: JSON, shape, hash, all of it. It shows the best and the median of 15.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import time
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent


def load(name: str) -> ModuleType:
    """Return a module of this folder."""
    spec = importlib.util.spec_from_file_location(f"lattice_{name}", HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def full_belts(count: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a scenario of `count` belts and their state with four items on every lane."""
    lane = [
        {"pos": pos, "item": item} for pos, item in ((0, "iron-ore"), (64, "coal"), (128, "circuit"), (192, "coal"))
    ]
    placed = [{"type": "belt", "x": x, "y": 0, "dir": "E", "tier": "fast"} for x in range(count)]
    grid = {"width": count, "height": 1}
    scenario = {"version": 1, "grid": grid, "ticks": 1, "snapshots": [1], "entities": placed}
    return scenario, [{"belt": {"left": lane, "right": lane}} for _ in range(count)]


def main() -> None:
    """Print the figure."""
    oracle, checker = load("oracle"), load("checker")
    scenario, entities = full_belts(1_755)
    canonical = oracle.canonical_bytes(1, entities)
    checksum = oracle.checksum(canonical)
    given = json.dumps([{"tick": 1, "checksum": checksum, "entities": entities}], separators=(",", ":")).encode()
    expected = json.dumps([{"tick": 1, "checksum": checksum}]).encode()
    input_bytes = json.dumps(scenario).encode()
    times = []
    for _ in range(15):
        start = time.process_time()
        verdict = checker.check(input_bytes, expected, given)
        times.append(1000 * (time.process_time() - start))
        assert verdict.ok, verdict
    print(f"{len(canonical):,} canonical bytes in {len(given):,} bytes of JSON")
    print(f"one check: best {min(times):.1f} ms, median {statistics.median(times):.1f} ms")


if __name__ == "__main__":
    main()
