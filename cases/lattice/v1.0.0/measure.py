"""Why: says where an engine's fuel goes, so that every figure in the engines' READMEs can be printed again.

`python cases/lattice/v1.0.0/measure.py ENGINE SCENARIO.json` builds the engine (a folder, or its name) and runs it on
variants of the scenario: other ticks, other snapshots. The differences are the parts; they add up to the whole. Engines
whose sources offer STAGES, HASHING and SKIPPING are built without a part too, and say more.

`python cases/lattice/v1.0.0/measure.py ENGINE --seeds 21 22 23 24 25` draws a factory of each seed instead, of about
`--size` entities, and prints what its graded run over `--ticks` costs, and a tick where nothing is skipped.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# This file is loaded by path, not as a part of a package; its folder has to be found first.
if str(Path(__file__).parent) not in sys.path:
    sys.path.insert(0, str(Path(__file__).parent))

from lattice_generator.factory import build

from evalkit.performance.build import build_solution
from evalkit.performance.manifest import load_case
from evalkit.sandbox.solution import UNLIMITED, Solution, load_solution

__all__ = ["ENGINES", "built", "burn", "graded"]

HERE = Path(__file__).parent
ENGINES = {
    path.parent.name: path.parent
    for folder in ("over_ceiling", "pass")
    for path in sorted((HERE / "solutions" / folder).glob("*/solution.toml"))
}
"""The folders of all engines whose answers are right, by name."""
CUTS = (1_000, 2_500, 5_000, 10_000)


@functools.cache
def built(folder: Path, *definitions: str) -> Solution:
    """Build an engine as the grader does, with these `-D` besides."""
    case = load_case(HERE)
    assert case.build is not None and case.contract is not None and case.sandbox is not None
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / folder.name
        shutil.copytree(folder, copy)
        script = copy / "build.sh"
        defined = " ".join(["-ffreestanding", *(f"-D{definition}" for definition in definitions)])
        script.write_text(script.read_text().replace("-ffreestanding", defined))
        made = build_solution(copy, case.build)
    assert made.module is not None, f"{folder}: {made.detail}\n{made.log}"
    loaded = load_solution(made.module, entry=case.contract.entry, max_memory_bytes=case.sandbox.max_memory_bytes)
    assert isinstance(loaded, Solution), loaded
    return loaded


def burn(solution: Solution, scenario: dict[str, Any] | bytes) -> int:
    """Return the fuel of one call, whatever it answers."""
    text = scenario if isinstance(scenario, bytes) else json.dumps(scenario, separators=(",", ":")).encode()
    call = solution.call(text, runway_limit=UNLIMITED, max_output_bytes=1 << 28, wall_limit_s=600)
    assert call.fuel is not None and call.reason in (None, "bad_output"), call
    return call.fuel


def graded(ticks: int) -> list[int]:
    """Return five graded ticks as the scored inputs have them: two early, three over the whole run."""
    return sorted({1_250, 2_500, ticks // 4, ticks // 2, ticks})


def cut(text: bytes, *snapshots: int) -> bytes:
    """Return the same factory, written in the same way but for these ticks."""
    text = re.sub(rb'"ticks":\s*\d+', b'"ticks":%d' % snapshots[-1], text)
    return re.sub(rb'"snapshots":\s*\[[^]]*\]', b'"snapshots":%s' % json.dumps(list(snapshots)).encode(), text)


def offers(folder: Path) -> set[str]:
    """Return which parts this engine can be built without."""
    text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.[ch]"))
    return {name for name in ("STAGES", "HASHING", "SKIPPING") if re.search(f"^#ifndef {name}$", text, re.MULTILINE)}


def parts(folder: Path, text: bytes) -> Iterator[tuple[str, int, str]]:
    """Yield the parts of one run, what each burns, and a remark. They add up to the whole."""
    engine, can, scenario = built(folder), offers(folder), json.loads(text)
    every = built(folder, "SKIPPING=0") if "SKIPPING" in can else engine
    count, last = len(scenario["entities"]), scenario["snapshots"][-1]

    def snapshot(tick: int) -> int:
        return burn(every, cut(text, tick, tick + 1)) - burn(every, cut(text, tick + 1))

    whole = burn(engine, text)
    late = snapshot(last)
    snapshots = (whole if every is engine else burn(every, text)) - burn(every, cut(text, last)) + late
    ready = burn(engine, cut(text, 1)) - snapshot(1)
    yield "whole run", whole, f"{count:,} entities, {last:,} ticks, {len(scenario['snapshots'])} snapshots"
    if "STAGES" in can:
        read = burn(built(folder, "STAGES=1"), text)
        yield "reading the scenario", read, ""
        yield "layout, setting up, and the first tick", ready - read, ""
    else:
        yield "reading, layout, and the first tick", ready, ""
    before, done, looks = 1, 0, 0
    for tick in (*(tick for tick in CUTS if tick < last), last):
        here = whole if tick == last else burn(engine, cut(text, tick))
        if tick < last and "SKIPPING" in can:
            if here < burn(every, cut(text, tick)):
                continue  # a repeat was found before: what lies between this tick and the last one is one skip
            looks, looked = here - burn(every, cut(text, tick)), tick
        burnt = here - (snapshots if tick == last else snapshot(tick)) - ready
        each = (burnt - done) / (tick - before)
        yield f"ticks {before + 1:,} to {tick:,}", burnt - done, f"{each:,.0f} a tick, {each / count:.1f} an entity"
        before, done = tick, burnt
    if looks:
        yield f"  of these: looks for a repeat, up to tick {looked:,}", looks, ""
    yield "snapshots", snapshots, f"the last one alone: {late:,}"
    if "HASHING" in can:
        hashed = whole - burn(built(folder, "HASHING=0"), text)
        yield "  of these: checksums", hashed, f"and text: {snapshots - hashed:,}"
    if "SKIPPING" in can:
        plain = (burn(every, cut(text, 20_000)) - burn(every, cut(text, 10_000))) / 10_000
        yield "  without a skip: a tick of 10,001 to 20,000", round(plain), f"{plain / count:.1f} an entity"


def of_seeds(folder: Path, seeds: list[int], size: int, ticks: int) -> Iterator[str]:
    """Yield a line for the factory of each seed."""
    engine = built(folder)
    every = built(folder, "SKIPPING=0") if "SKIPPING" in offers(folder) else engine
    yield f"{'seed':>6}{'entities':>10}{f'{ticks:,} ticks':>20}   without a skip, for each entity and tick"
    yield f"{'':36}{'1 to 2,000':>14}{'2,001 to 10,000':>18}{'10,001 to 20,000':>18}"
    for seed in seeds:
        scenario = build(seed, size).scenario(graded(ticks))
        text, count = json.dumps(scenario).encode(), len(scenario["entities"])
        start, early, middle, late = (burn(every, cut(text, tick)) for tick in (1, 2_000, 10_000, 20_000))
        rates = ((early - start) / 1_999, (middle - early) / 8_000, (late - middle) / 10_000)
        shown = "".join(f"{rate / count:{width}.1f}" for rate, width in zip(rates, (14, 18, 18), strict=True))
        yield f"{seed:6}{count:10,}{burn(engine, text):20,}{shown}"


def main() -> None:
    """Print the table asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", help=f"a folder, or one of {', '.join(ENGINES)}")
    parser.add_argument("scenario", nargs="?", type=Path, help="a scenario to take apart")
    parser.add_argument("--seeds", type=int, nargs="+", help="draw factories instead")
    parser.add_argument("--size", type=int, default=1_000, help="their entities, about (default: %(default)s)")
    parser.add_argument("--ticks", type=int, help="graded over so many ticks (default: a scenario's own; 360,000)")
    given = parser.parse_args()
    folder = ENGINES.get(given.engine, Path(given.engine)).resolve()
    if given.seeds:
        for line in of_seeds(folder, given.seeds, given.size, given.ticks or 360_000):
            print(line, flush=True)
    elif given.scenario:
        text = given.scenario.read_bytes()
        for name, fuel, remark in parts(folder, cut(text, *graded(given.ticks)) if given.ticks else text):
            print(f"{name:46}{fuel:18,}   {remark}".rstrip(), flush=True)
    else:
        parser.error("name a scenario, or --seeds")


if __name__ == "__main__":
    main()
