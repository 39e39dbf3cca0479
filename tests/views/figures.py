"""Why: "redrawn within 0.2 s for 10,000 runs" and "a report under 2 MB, of 10,000 runs too" are claims; `python -m
tests.views.figures` measures them and prints them.

Nothing is asserted: a busy machine is no failure.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import evalkit
from evalkit.notebooks import report
from evalkit.performance import limits as ceilings
from evalkit.performance import whatif as case
from evalkit.season import limits, whatif
from evalkit.season.score import Rules
from evalkit.views.whatif import Board
from evalkit.views.whatif import whatif as board_of
from tests import made_up_runs as made
from tests.views.boards import many

RUNS = 10_000
CASE = Path(__file__).parents[2] / "cases" / "lattice" / "v1.0.0"


def seconds(work: Callable[[], object], times: int = 9) -> float:
    """Median wall time."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def say(what: str, figure: float, aim: str = "") -> None:
    print(f"{what:<66} {figure:>8.3f} s   {aim}", flush=True)


def dragged(board: Board, control: str, values: list[Any]) -> Callable[[], object]:
    """One step of a drag: the control gets its next value, and the board is drawn again."""
    at = iter(values)
    return lambda: board.controls[control].set_state({"value": next(at)})


def main() -> None:
    """Print every figure."""
    frame, season = many(RUNS)
    facts = whatif.fold(frame, season)
    setting = whatif.Setting(rules=Rules(completion=55.0, exponent=0.7), verified_only=True, without_seeds=(1,))
    say("season: fold 10,000 runs, once", seconds(lambda: whatif.fold(frame, season)))
    say("season: rank by four changes, with reasons", seconds(lambda: whatif.what_if(facts, season, setting)), "0.2 s")
    say("season: limits of every constant, once", seconds(lambda: limits.limits(facts), 3))
    steps = [41.0 + place for place in range(20)]
    board = board_of(season, runs=frame)
    say("season: a slider's step to a drawn board", seconds(dragged(board, "completion", steps)), "0.2 s")
    rng = random.Random(0)
    runs = [made.run(f"model {place % 40}", rng.uniform(0.3, 3), attempt=1 + place // 40) for place in range(RUNS)]
    cohort = case.fold(runs)
    changed = case.Setting(ceilings={made.STRESS[-1][0]: 90_000_000}, score="ratios")
    say("case: fold 10,000 records, once", seconds(lambda: case.fold(runs), 1))
    say(
        "case: rank by another ceiling, by ratios, with reasons",
        seconds(lambda: case.what_if(cohort, changed)),
        "0.2 s",
    )
    say("case: limits of every ceiling, once", seconds(lambda: ceilings.limits(cohort), 3))
    of_case = board_of(evalkit.load_case(CASE), runs=runs)
    fuels = [60_000_000 + 1_000_000 * place for place in range(20)]
    step = dragged(of_case, f"ceiling {made.STRESS[-1][0]}", fuels)
    say("case: a slider's step to a drawn board", seconds(step), "0.2 s")
    reporting(1_000, crowd=20)
    reporting(10_000, crowd=3)


def reporting(count: int, crowd: int) -> None:
    """A season report of so many runs: Season One's sample under `crowd` times as many names, played again with other
    times and decisions.
    """
    season = evalkit.open_season("season-1", CASE.parents[1])
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/runs.sqlite"
        with evalkit.Store.open("sqlite://") as sample, evalkit.Store.open(url) as store:
            sample.import_(CASE.parents[2] / "data" / "sample")
            runs = [run for run in sample.runs(kind="season") if isinstance(run, evalkit.SeasonRun)]
            for place in range(count):
                run = runs[place % len(runs)]
                again = place // len(runs)
                name = f"{run.agent} {again % crowd}" if again % crowd else run.agent
                time_s = None if run.time_s is None else (round(run.time_s * 60) + 7 * again) / 60
                facts = {"time_s": time_s, "ticks": run.ticks + 7 * again}
                if run.ended_by != "budget":
                    facts["decisions"] = max(1, run.decisions - again % 9)
                store.add(replace(run, agent=name, attempt=1 + again // crowd, **facts))
        page = Path(folder, "report.html")
        took = seconds(lambda: report(season.root, url, page, kind="season"), 1)
        say(f"a season report of {count:,} runs, {page.stat().st_size / 1e6:.2f} MB (aim 2 MB)", took, "20 s")


if __name__ == "__main__":
    main()
