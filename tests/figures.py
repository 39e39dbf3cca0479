"""Why: the README's figures come from here: `make figures` measures each claim as a ratio within one run and prints it.

Nothing is asserted: a busy machine is no failure. With `--write` the table replaces the one in the README.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest import mock

import wasmtime

from evalkit.building.build import build_solution
from evalkit.jobs import sweep_case
from evalkit.performance.case import Case, CaseInput
from evalkit.performance.checking import load_checker
from evalkit.performance.manifest import load_case
from evalkit.sandbox import engine as engine_module
from evalkit.sandbox.solution import Solution, load_solution
from evalkit.store import Store
from tests.compilations import counted

ROOT = Path(__file__).parents[1]
LATTICE = ROOT / "cases" / "lattice" / "v1.0.0"


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    began = clock()
    work()
    return clock() - began


def interleaved(first: Callable[[], object], second: Callable[[], object], times: int) -> tuple[float, float]:
    """Least processor seconds of each, in turn so that a drift of the machine meets both; the rest is other load."""
    clock = time.process_time
    pairs = [(seconds(first, clock), seconds(second, clock)) for _ in range(times)]
    return min(a for a, _ in pairs), min(b for _, b in pairs)


ROWS: list[str] = []


def say(what: str, figure: str, aim: str) -> None:
    ROWS.append(f"| {what} | {figure} | {aim} |")
    print(f"{what:<66} {figure:>26}   {aim}", flush=True)


def bare_call(wasm: bytes, case: Case, row: CaseInput, *, epochs: bool = True) -> Callable[[], object]:
    """The same module and input on wasmtime alone, in the kit's configuration: no clock, no limits, no checks.

    Without `epochs` the configuration leaves out the check that the wall guard needs, to show what that costs.
    """
    config = engine_module._config(multi_memory=False)
    config.epoch_interruption = epochs
    engine = wasmtime.Engine(config)
    module = wasmtime.Module(engine, wasm)
    data = row.input.read_bytes()
    assert case.contract is not None
    entry = case.contract.entry

    def work() -> object:
        store = wasmtime.Store(engine)
        store.set_fuel(1 << 60)
        if epochs:
            store.set_epoch_deadline(1 << 40)
        exports = wasmtime.Instance(store, module, []).exports(store)
        at = exports["alloc"](store, len(data))  # type: ignore[operator]
        memory = exports["memory"]
        assert isinstance(memory, wasmtime.Memory)
        memory.write(store, data, at)
        packed = exports[entry](store, at, len(data))  # type: ignore[operator]
        return memory.read(store, packed >> 32, (packed >> 32) + (packed & 0xFFFFFFFF))

    return work


def compiled(case: Case, name: str) -> tuple[bytes, Solution]:
    assert case.build is not None
    assert case.contract is not None
    assert case.sandbox is not None
    module = build_solution(next((LATTICE / "solutions").glob(f"*/{name}")), case.build).module
    assert module is not None
    found = load_solution(module, entry=case.contract.entry, max_memory_bytes=case.sandbox.max_memory_bytes)
    assert isinstance(found, Solution)
    return module, found


def grading(case: Case) -> None:
    assert case.sandbox is not None
    for name, rows, times in (("transport", case.stress, 7), ("naive", case.stress[:1], 5)):
        wasm, found = compiled(case, name)
        for row in rows:
            data, limit = row.input.read_bytes(), case.runway_limit(row)
            most, wall = case.sandbox.max_output_bytes, case.sandbox.wall_limit_s
            metered = partial(found.call, data, runway_limit=limit, max_output_bytes=most, wall_limit_s=wall)
            call, bare = interleaved(metered, bare_call(wasm, case, row), times)
            figure = f"{call / bare:.3f} x ({1000 * (call - bare):+.1f} ms)"
            what = f"metered call over a bare call, both as the kit runs them: {name}, {row.name}"
            say(what, figure, "1.05 x + 30 ms")
        row = rows[-1]
        with_check, without = interleaved(bare_call(wasm, case, row), bare_call(wasm, case, row, epochs=False), times)
        say(
            f"against an engine without the wall guard's check: {name}, {row.name}",
            f"{with_check / without:.3f} x ({1000 * (with_check - without):+.1f} ms)",
            "1.05 x + 30 ms" + ("" if with_check <= 1.05 * without + 0.03 else ", missed"),
        )


def smoke(case: Case) -> None:
    assert case.sandbox is not None
    assert case.contract is not None
    check = load_checker(case.contract.checker)
    _, found = compiled(case, "transport")
    most, wall = case.sandbox.max_output_bytes, case.sandbox.wall_limit_s

    def whole_set() -> None:
        for row in case.smoke:
            data = row.input.read_bytes()
            call = found.call(data, runway_limit=case.runway_limit(row), max_output_bytes=most, wall_limit_s=wall)
            assert call.output is not None
            assert check(data, row.expected.read_bytes(), call.output).ok

    median = statistics.median(seconds(whole_set) for _ in range(5))
    say(f"the smoke set, {len(case.smoke)} inputs of a compiled solution, checked", f"{median:.3f} s", "0.3 s")


def sweeping(case: Case) -> None:
    folder_of = next((LATTICE / "solutions").glob("*/transport"))
    with tempfile.TemporaryDirectory() as folder, counted(Path(folder, "notes")) as compilations:
        with mock.patch.dict(os.environ, EVALKIT_CACHE=str(Path(folder, "cache"))):
            took = {}
            for jobs in (1, 2):
                with Store.open(Path(folder, f"{jobs}.sqlite")) as store:
                    took[jobs] = seconds(
                        lambda s=store, j=jobs: sweep_case(case, solutions=[folder_of], store=s, attempts=8, jobs=j)
                    )
        compiled_so_often = compilations()
    share = f"{100 * took[1] / took[2] / 2:.0f} % ({took[1]:.1f} s alone, {took[2]:.1f} s on two)"
    say("a sweep of 8 runs uses two cores at", share, "85 %")
    say("compilations in two sweeps of 8 runs of one module", str(compiled_so_often), "1")


def starting() -> None:
    programs = {
        "import evalkit": ([sys.executable, "-c", "import evalkit"], "0.3 s"),
        "evalkit --help": ([str(Path(sys.executable).with_name("evalkit")), "--help"], "0.4 s"),
    }
    for name, (command, aim) in programs.items():
        run = [seconds(lambda c=command: subprocess.run(c, stdout=subprocess.DEVNULL, check=True)) for _ in range(9)]
        say(name, f"{statistics.median(run):.3f} s", aim)


def main() -> None:
    """Print every figure."""
    case = load_case(LATTICE)
    starting()
    smoke(case)
    grading(case)
    sweeping(case)
    if "--write" in sys.argv:
        readme = ROOT / "README.md"
        before, begin, rest = readme.read_text().partition("<!-- figures -->\n")
        _, end, after = rest.partition("<!-- end of figures -->")
        table = "\n".join(["| what | measured | aim |", "|---|---|---|", *ROWS]) + "\n"
        readme.write_text(before + begin + table + end + after)


if __name__ == "__main__":
    main()
