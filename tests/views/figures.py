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
from tests.season.test_ranking import run
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
    crowded()
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
    many_models()
    reporting(1_000, crowd=20)
    reporting(10_000, crowd=3)


def worst(what: str, board: Board, changes: list[list[str]]) -> None:
    """The slowest of several changes from the official setting, each to a drawn board; the median of three times."""

    def one(change: list[str]) -> float:
        taken = []
        for _ in range(3):
            board.reset()
            began = time.perf_counter()
            board.apply(change)
            taken.append(time.perf_counter() - began)
        return statistics.median(taken)

    slowest, change = max((one(change), " ".join(change)) for change in changes)
    say(f"{what}, worst of {len(changes)} changes", slowest, f"0.2 s ({change[:60]})")


def crowded(agents: int = 667) -> None:
    """Season One's entries and seeds with as many agents as make 10,000 runs, nearly all of which move."""
    rng = random.Random(0)
    season = evalkit.open_season("season-1", CASE.parents[1])
    facts = []
    for place in range(agents):
        skill = rng.random()
        for level, difficulty, seed in season.cells:
            done = min(4, int((skill + rng.random()) / 2 * 5))
            time_s = rng.uniform(60, 260) if done == 4 else None
            died = done < 4 and rng.random() < 0.4
            facts.append(run(f"agent {place}", level, seed, done, difficulty=difficulty, completed=done == 4, died=died,
                             time_s=time_s, season_digest=season.digest))  # fmt: skip
    board = board_of(season, runs=facts)
    several = ["completion=50", "death=20", "exponent=0.7", "objectives=30", "anchor dam (agent)=100", "seed 1=no"]
    changes = [[change] for change in (*several, "verified_only=yes", "partial_as_zero=yes", "entry dam (agent)=no")]
    worst(f"season: a change of {agents} agents, {len(facts):,} runs", board, [*changes, several])
    say("season: limits of so many agents, once", seconds(lambda: limits.limits(whatif.fold(facts, season)), 1))


def many_models(models: int = RUNS) -> None:
    """A case with a run a model, of fuels by chance, so that nearly all of them move."""
    rng = random.Random(0)
    runs = []
    for place in range(models):
        one = made.run(f"model {place}")
        fuels = {name: rng.randint(100_000, 55_000_000) for name, _ in made.STRESS}
        inputs = tuple(replace(row, fuel=fuels.get(row.name, row.fuel)) for row in one.inputs)
        runs.append(replace(one, inputs=inputs, total_fuel=sum(fuels.values())))
    board = board_of(evalkit.load_case(CASE), runs=runs)
    name = made.STRESS[-1][0]
    changes = [
        ["score=ratios"],
        [f"ceiling {name}=30000000"],
        [f"input {name}=no"],
        ["score=ratios", f"input {name}=no"],
    ]
    worst(f"case: a change of {models:,} models, a run each", board, changes)


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
