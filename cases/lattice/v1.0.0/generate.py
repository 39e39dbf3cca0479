"""Why: inputs and expected answers are written by one command, so that a change of the rules cannot leave one behind.

`python cases/lattice/v1.0.0/generate.py` rewrites `smoke/`, `stress/` and `training/` identically on every machine.
Smoke and training answers hold whole states, so that a mismatch can be named; stress answers hold tick and checksum
alone, which keeps the repository small. To change the scored inputs, change their row in `FACTORIES` and run it.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# This file is loaded by path, not as a part of a package; its folder has to be found first.
if str(Path(__file__).parent) not in sys.path:
    sys.path.insert(0, str(Path(__file__).parent))

from lattice_generator.blocks import BLOCKS
from lattice_generator.factory import build
from lattice_generator.smoke import SMOKE
from oracle import simulate

__all__ = ["BLOCKS", "FACTORIES", "Recipe", "build", "files"]

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Recipe:
    """What makes one factory: its folder, seed, about how many entities, and its graded ticks."""

    folder: str
    seed: int
    size: int
    snapshots: tuple[int, ...]
    blocks: tuple[str, ...] = ()
    """Where given: exactly these blocks, whatever size they add up to."""

    def scenario(self) -> dict[str, Any]:
        """Return the factory as a scenario."""
        return build(self.seed, self.size, self.blocks).scenario(list(self.snapshots))


def _graded(ticks: int) -> tuple[int, ...]:
    """Two early ticks, where a wrong start shows, and three over the whole length."""
    return (1_250, 2_500, ticks // 4, ticks // 2, ticks)


FACTORIES = {
    "small": Recipe("stress", 4, 160, _graded(60_000)),
    "medium": Recipe("stress", 1, 600, _graded(71_000)),
    "large": Recipe("stress", 2, 1_000, _graded(56_000)),
    "training-belts": Recipe("training", 11, 0, (60, 400, 2_000), ("belt",)),
    "training-circuits": Recipe("training", 12, 0, (60, 400, 2_000), ("circuit",)),
    "training-inserters": Recipe("training", 13, 0, (60, 400, 2_000), ("belt", "inserter")),
}


def files(folders: tuple[str, ...] = ("smoke", "stress", "training")) -> Iterator[tuple[str, bytes]]:
    """Yield every generated file of these folders as its path inside the case and its content."""
    if "smoke" in folders:
        for name, draw in SMOKE.items():
            yield from _pair(f"smoke/{name}", draw(), whole=True)
    for name, recipe in FACTORIES.items():
        if recipe.folder in folders:
            yield from _pair(f"{recipe.folder}/{name}", recipe.scenario(), whole=recipe.folder == "training")


def _pair(stem: str, scenario: dict[str, Any], *, whole: bool) -> Iterator[tuple[str, bytes]]:
    yield f"{stem}.json", _lines(scenario)
    answer = [
        _lines(snapshot if whole else _short(snapshot)).decode().rstrip("\n")
        for snapshot in simulate(scenario, skip_repeats=True)
    ]
    yield f"{stem}.out", ("[" + ",\n".join(answer) + "]\n").encode()


def _short(snapshot: dict[str, Any]) -> dict[str, Any]:
    return {"tick": snapshot["tick"], "checksum": snapshot["checksum"]}


def _lines(value: dict[str, Any]) -> bytes:
    """JSON with one line for each entity: small, and readable in a diff."""
    parts = []
    for key, part in value.items():
        if key == "entities":
            lines = ",\n".join(json.dumps(entity, separators=(",", ":")) for entity in part)
            parts.append(f'"entities":[\n{lines}]')
        else:
            parts.append(f"{json.dumps(key)}:{json.dumps(part, separators=(',', ':'))}")
    return ("{" + ",\n".join(parts) + "}\n").encode()


def main() -> None:
    """Rewrite everything; files that are no longer generated go."""
    written = dict(files())
    for folder in ("smoke", "stress", "training"):
        shutil.rmtree(HERE / folder, ignore_errors=True)
        (HERE / folder).mkdir()
    for path, content in written.items():
        (HERE / path).write_bytes(content)
    print(f"{len(written)} files, {sum(map(len, written.values())):,} bytes")


if __name__ == "__main__":
    main()
