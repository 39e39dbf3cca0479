"""Why: a test per rule finds the mistakes one expects; random factories against the reference find the others.

`python -m tests.lattice.fuzzing --seeds 100000 --start 0` compares every right engine with the reference on so many
factories, at every tick of the small ones. What differs is made smaller and printed with its seed. A scenario that ever
differed belongs into `regressions/`: `--save NAME` writes it, and its sentence is to be put into better words.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit.sandbox.solution import Solution
from tests.lattice.engines import RIGHT_ENGINES, call, engine
from tests.lattice.lattice_case import load
from tests.lattice.random_factories import draw_factory

__all__ = ["REGRESSIONS", "Failure", "answer_of", "difference", "fuzz", "shrink"]

REGRESSIONS = Path(__file__).parent / "regressions"
FUEL = 2_000_000_000
HASHED = 12
"""About how many snapshots of a scenario the reference hashes: hashing costs it more than simulating."""

oracle = load("oracle")
state_of = sys.modules["lattice_reference.state"].state_of
Scenario = dict[str, Any]


@dataclass(frozen=True)
class Failure:
    """What an engine got wrong: on which seed, what is different, and the smallest scenario found that shows it."""

    seed: int
    engine: str
    what: str
    scenario: Scenario

    def __str__(self) -> str:
        return f"seed {self.seed}, {self.engine}: {self.what}\n{json.dumps(self.scenario, separators=(',', ':'))}"


def answer_of(scenario: Scenario) -> list[dict[str, Any]]:
    """The reference's answer, with a checksum at about `HASHED` of the snapshots and always at the last."""
    world, answer = oracle.World(scenario), []
    stride = -(-len(scenario["snapshots"]) // HASHED)
    for number, target in enumerate(reversed(scenario["snapshots"])):  # counted from the last one on
        answer.append({"tick": target, "checksum": None if number % stride else ""})
    answer.reverse()
    for snapshot in answer:
        while world.tick < snapshot["tick"]:
            world.step()
        if snapshot["checksum"] is None:
            snapshot["entities"] = [state_of(entity, world.tick) for entity in world.entities]
        else:
            snapshot.update(world.snapshot())
    return answer


def difference(solution: Solution, scenario: Scenario, answer: list[dict[str, Any]]) -> str | None:
    """The first thing in an engine's output that is not as in the answer, or None."""
    made = call(solution, scenario, FUEL)
    if made.output is None:
        return f"it gave no answer ({made.reason}: {made.detail})"
    try:
        given = json.loads(made.output)
    except ValueError as error:
        return f"its output is not JSON: {error}"
    if [snapshot["tick"] for snapshot in given] != scenario["snapshots"]:
        return f"it answered for the ticks {[snapshot['tick'] for snapshot in given]}"
    for right, snapshot in zip(answer, given, strict=True):
        if snapshot["entities"] != right["entities"]:
            for number, pair in enumerate(zip(right["entities"], snapshot["entities"], strict=False)):
                if pair[0] != pair[1]:
                    return f"tick {right['tick']}: entities[{number}] is {pair[1]}, not {pair[0]}"
            return f"tick {right['tick']}: {len(snapshot['entities'])} entities"
        if right["checksum"] not in (None, snapshot["checksum"]):
            return f"tick {right['tick']}: the checksum is {snapshot['checksum']}, not {right['checksum']}"
        if set(snapshot) != {"tick", "checksum", "entities"}:
            return f"tick {right['tick']}: the keys are {[*snapshot]}"
    return None


def shrink(scenario: Scenario, fails: Callable[[Scenario], bool]) -> Scenario:
    """Make a failing scenario smaller for as long as it fails: fewer snapshots and ticks, then fewer entities."""

    def cut(ticks: int, entities: list[Any]) -> Scenario:
        snapshots = [tick for tick in scenario["snapshots"] if tick <= ticks] or [ticks]
        return {**scenario, "ticks": ticks, "snapshots": snapshots, "entities": entities}

    def earliest() -> Scenario:
        for tick in scenario["snapshots"]:
            if fails(smaller := cut(tick, scenario["entities"])):
                return smaller
        return scenario

    scenario = earliest()
    size = max(1, len(scenario["entities"]) // 2)
    while size:
        at, before = 0, len(scenario["entities"])
        while at < len(scenario["entities"]):
            rest = scenario["entities"][:at] + scenario["entities"][at + size :]
            if fails(smaller := {**scenario, "entities": rest}):
                scenario = smaller
            else:
                at += size
        if size > 1:
            size //= 2
        elif len(scenario["entities"]) == before:
            size = 0
    scenario = earliest()
    if fails(alone := {**scenario, "snapshots": scenario["snapshots"][-1:]}):
        return alone
    return scenario


def fuzz(seeds: Iterable[int], folders: Iterable[Path] = tuple(RIGHT_ENGINES)) -> Iterator[Failure]:
    """Compare engines with the reference on the factories of these seeds; yield what differs."""
    engines = {folder.name: engine(folder) for folder in folders}
    for seed in seeds:
        scenario = draw_factory(seed)
        answer = answer_of(scenario)
        for name, solution in engines.items():
            if what := difference(solution, scenario, answer):

                def fails(smaller: Scenario, solution: Solution = solution) -> bool:
                    return difference(solution, smaller, answer_of(smaller)) is not None

                yield Failure(seed, name, what, shrink(scenario, fails))


def main() -> int:
    """Fuzz, print every failure, and return 1 if there was one."""
    parser = argparse.ArgumentParser(prog="python -m tests.lattice.fuzzing", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2_000, help="how many (default: %(default)s)")
    parser.add_argument("--start", type=int, default=0, help="the first of them (default: %(default)s)")
    parser.add_argument("--engine", type=Path, action="append", help="a solution's folder (default: all right ones)")
    parser.add_argument("--save", metavar="NAME", help="write the first failure to regressions/NAME.json")
    arguments = parser.parse_args()
    folders = [folder.resolve() for folder in arguments.engine or RIGHT_ENGINES]
    started, failures = time.monotonic(), 0
    for failure in fuzz(range(arguments.start, arguments.start + arguments.seeds), folders):
        print(failure, flush=True)
        if arguments.save and not failures:
            saved = {"what": f"{failure.engine}: {failure.what}", "scenario": failure.scenario}
            (REGRESSIONS / f"{arguments.save}.json").write_text(json.dumps(saved, indent=1) + "\n")
        failures += 1
    names = ", ".join(folder.name for folder in folders)
    print(f"{arguments.seeds:,} factories, {names}: {failures} failures, {time.monotonic() - started:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
