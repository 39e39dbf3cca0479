"""Why: the figures of play and proof, from one command on the machine at hand: `python -m tests.season.figures`.

What a decision costs beyond its ticks in one bare loop, everything included: legality, the call, the chained hash of
the full state, the record, the end's bookkeeping; on a game of ours and on an empty one. It may cost 150 us. And what
two processes make of verifying replays against one, which should be 85 % of twice as fast. All of a row is measured in
turns within one run, and medians are compared; a decision in seconds of the processor, so that a busy machine tells
nearly what an idle one does.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evalkit.jobs import verify_replays
from evalkit.season import load_season, play, verify
from evalkit.season.agents import Action, Observation, Spec
from evalkit.season.carts import begin
from evalkit.season.season import Season
from tests.season.seasonwork import SEASON, VAULT, make_season, spin

ROUNDS, DECISIONS, TICKS = 9, 300, 12
BUDGET_US, SHARE = 150.0, 0.85

EMPTY = """module = "vault.wasm"
[variables]
ticks = { address = 0x2000, type = "u32" }
[status]
completed = "ticks > 1000000"
objectives = ["ticks > 200"]
[observation]
variables = ["ticks"]
[actions.wait]
ticks = [12]
"""


class _Waits:
    name = "waits"

    def reset(self, spec: Spec, seed: int) -> None:
        del spec, seed

    def decide(self, observation: Observation) -> Action:
        del observation
        return Action("wait", TICKS)


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    began = clock()
    work()
    return clock() - began


def decision(name: str, season: Season) -> float:
    """Measure and print what a decision costs when a game is played and when it is verified; the larger, in us."""
    entry = season.entries[0]
    options: dict[str, Any] = {"level": entry.level, "seed": 0, "agent": _Waits(), "reference": "anchor"}
    options["cheats"] = [cheat for cheat in season.playable().boot.cheats if cheat == "invincible"]
    played = play(season, **options)
    assert played.run.decisions == DECISIONS and played.replay is not None, played.run
    times: dict[str, list[float]] = {"bare": [], "play": [], "verify": []}

    def bare() -> None:
        begin(season, entry, 60, options["cheats"]).console.run(bytes(DECISIONS * TICKS))

    for _ in range(ROUNDS):
        times["bare"].append(seconds(bare, time.process_time))
        times["play"].append(seconds(lambda: play(season, **options), time.process_time))
        times["verify"].append(seconds(lambda: verify(played.replay or b"", season), time.process_time))
    one = {key: statistics.median(found) for key, found in times.items()}
    costs = {key: (one[key] - one["bare"]) / DECISIONS * 1e6 for key in ("play", "verify")}
    print(f"{name:<10}{one['bare'] * 1e3:>12.1f}{costs['play']:>16.0f}{costs['verify']:>18.0f}")
    return max(costs.values())


def in_two(season: Season, folder: Path) -> float:
    """Verify the same replays in one process and in two; how much of twice as fast the two are."""
    play_long = play(
        season, level=season.entries[0].level, seed=0, agent=_Waits(), reference="anchor", cheats=["invincible"]
    ).replay
    assert play_long is not None
    work: dict[str, tuple[bytes | Path, Path]] = {f"{n}": (play_long, folder) for n in range(240)}

    def all_of(jobs: int, count: int) -> None:
        some = dict(list(work.items())[:count])
        assert all(r.value and r.value.verified for r in verify_replays(some, jobs=jobs)), "one did not verify"

    one, two = [], []
    for _ in range(3):
        # What the pool itself costs to start is taken off: it is paid once, however many replays there are.
        one.append(seconds(lambda: all_of(1, len(work))) - seconds(lambda: all_of(1, 2)))
        two.append(seconds(lambda: all_of(2, len(work))) - seconds(lambda: all_of(2, 2)))
    share = statistics.median(one) / statistics.median(two) / 2
    rate = len(work) / statistics.median(two)
    print(f"{len(work)} replays of {DECISIONS} decisions: {rate:.0f} a second in two processes, {share:.0%} of ideal")
    return share


def main() -> int:
    """Print the figures; exit 1 where a decision costs more than it may, or two processes do less than they should."""
    with tempfile.TemporaryDirectory() as scratch:
        text = SEASON.split('[[entry]]\nlevel = "cellar"')[0].replace("anchor_s = 6.5", f"budget = {DECISIONS}")
        text = text.replace("tick_limit = 2400", f"tick_limit = {DECISIONS * TICKS}")
        vault = VAULT.replace("ticks = [4, 30]", f"ticks = [{TICKS}]")
        seasons = {
            "empty": make_season(Path(scratch, "a"), EMPTY, text, cart=spin()),
            "vault": make_season(Path(scratch, "b"), vault, text),
        }
        print(f"{DECISIONS} decisions of {TICKS} ticks, medians of {ROUNDS} rounds")
        print(f"{'game':<10}{'bare ms':>12}{'play us/dec.':>16}{'verify us/dec.':>18}")
        worst = max(decision(name, load_season(folder)) for name, folder in seasons.items())
        print(f"worst: {worst:.0f} us a decision, of {BUDGET_US:.0f} allowed")
        share = in_two(load_season(seasons["vault"]), seasons["vault"])
    return int(worst > BUDGET_US or share < SHARE)


if __name__ == "__main__":
    sys.exit(main())
