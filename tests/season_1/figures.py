"""Why: what season 1 makes of its agents, and how fast, from one command: `python -m tests.season_1.figures`.

Every shipped agent plays every cell, two at a time, and every replay is verified; then the game's ticks are timed bare
and within a recorded run. With `--write` the tables replace those in the season's README.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Collection
from pathlib import Path

from evalkit.jobs import sweep_season, verify_replays
from evalkit.records import SeasonRun
from evalkit.season import load_season, play, standings
from evalkit.season.agents import Action, Observation, Spec, agents_beside
from evalkit.season.carts import begin, game_module
from evalkit.season.ranking import cell_scores, scored
from evalkit.season.season import Season
from evalkit.store import Store

ROOT = Path(__file__).parents[2] / "cases" / "season-1"
README = ROOT / "README.md"
MARKS = ("<!-- figures -->", "<!-- end of figures -->")
JOBS, TICKS, ROUNDS = 2, 20_000, 5


class _Waits:
    name = "waits"

    def reset(self, spec: Spec, seed: int) -> None:
        del spec, seed

    def decide(self, observation: Observation) -> Action:
        del observation
        return Action("wait", 128)


def results(season: Season, store: Store) -> list[str]:
    """Sweep, verify, and tell who stands where: a row an agent, its mean, and its mean on each level."""
    names = ("random", *agents_beside(ROOT))
    game_module(season.playable())  # built before the clock starts
    began = time.perf_counter()
    report = sweep_season(season, store=store, agents=names, jobs=JOBS)
    assert not report.failed, report.failed
    runs = {run.run_id: run for run in store.runs() if isinstance(run, SeasonRun)}
    replays = {run_id: (store.replay(run_id) or b"", ROOT) for run_id in runs}
    proven = sum(bool(row.value and row.value.verified) for row in verify_replays(replays, jobs=JOBS))
    took = time.perf_counter() - began
    lines = standing(season, runs.values())
    return [
        *lines,
        "",
        f"{len(runs)} runs played and {proven} verified by {JOBS} processes in {took:.0f} s (aim: 120 s).",
    ]


def standing(season: Season, runs: Collection[SeasonRun]) -> list[str]:
    """Write the standing as a table: a row an agent, its mean over the season, and over each level."""
    cells = cell_scores(scored(runs, season))
    levels = [entry.level for entry in season.entries]
    lines = ["| rank | agent | score | SE | " + " | ".join(levels) + " | decisions |"]
    lines.append("|---|---|---|---|" + "---|" * (len(levels) + 1))
    for row in standings(runs, season):
        mine = cells[row.agent]
        each = [statistics.mean(score for cell, score in mine.items() if cell[0] == level) for level in levels]
        rank, error = row.rank or row.reference, "-" if row.se is None else f"{row.se:.1f}"
        numbers = " | ".join(f"{number:.1f}" for number in each)
        lines.append(f"| {rank} | {row.agent} | {row.score:.1f} | {error} | {numbers} | {row.decisions:,} |")
    return lines


def speed(season: Season) -> list[str]:
    """Ticks per second of each level, alone in wasm and within a run that is recorded; medians."""
    lines = ["| level | ticks a second in wasm | within a recorded run |", "|---|---|---|"]
    for entry in season.entries:
        bare, whole = [], []
        for _ in range(ROUNDS):
            console = begin(season, entry, 60, ("invincible",)).console
            began = time.process_time()
            console.run(bytes(TICKS))
            bare.append(TICKS / (time.process_time() - began))
            began = time.process_time()
            run = play(season, level=entry.level, seed=0, agent=_Waits(), reference="anchor", cheats=["invincible"]).run
            whole.append(run.ticks / (time.process_time() - began))
        lines.append(f"| {entry.level} | {statistics.median(bare):,.0f} | {statistics.median(whole):,.0f} |")
    return lines


def main(arguments: list[str]) -> int:
    """Print, and write where asked."""
    season = load_season(ROOT)
    with tempfile.TemporaryDirectory() as scratch, Store.open(Path(scratch, "figures.sqlite")) as store:
        text = "\n".join([*results(season, store), "", *speed(season)])
    print(text)
    if "--write" in arguments:
        before, rest = README.read_text().split(MARKS[0])
        README.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{rest.split(MARKS[1])[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
