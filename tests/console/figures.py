"""Why: the console's figures, from one command on the machine at hand: `python -m tests.console.figures`.

For each test cart: ticks a second in one bare loop inside wasm; what a decision costs beyond its ticks in that loop
(the call, one hash of the full state chained to the last and to the pads, a record kept); what the same ticks cost
with one call a tick. All of a row is measured in turns within one run, and medians are compared, so that ratios hold
on a busy machine too. A decision may cost at most 150 us.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from evalkit.sandbox.cart import load_cart
from evalkit.sandbox.console import Console
from tests.console.cartwork import CARTS, built, cart, tape

ROUNDS, DECISIONS, TICKS = 9, 100, 12
BUDGET_US = 150.0


def seconds(play: Callable[[], object]) -> float:
    begin = time.perf_counter()
    play()
    return time.perf_counter() - begin


def row(name: str, wasm: bytes) -> float:
    """Measure and print one cart; the cost of a decision in microseconds."""
    loaded = load_cart(wasm)
    boot = statistics.median(seconds(lambda: Console(loaded)) for _ in range(5))
    console = Console(loaded)
    pads = tape(DECISIONS * TICKS, seed=3)
    console.run(pads)
    state = console.save()

    def bare() -> None:
        console.run(pads)

    def decisions() -> None:
        chain, records = bytes(32), []
        for n in range(DECISIONS):
            held = pads[n * TICKS : (n + 1) * TICKS]
            ran = console.run(held)
            chain = console.state_hash(chain, n.to_bytes(4, "little"), held)
            records.append((ran, chain.hex()))

    def single() -> None:
        for n in range(len(pads)):
            console.run(pads[n : n + 1])

    times: dict[str, list[float]] = {"bare": [], "decisions": [], "single": []}
    fuel = 0
    for _ in range(ROUNDS):
        for key, play in (("bare", bare), ("decisions", decisions), ("single", single)):
            console.restore(state)
            before = console.fuel
            times[key].append(seconds(play))
            fuel = console.fuel - before
    one = {key: statistics.median(found) for key, found in times.items()}
    overhead = (one["decisions"] - one["bare"]) / DECISIONS * 1e6
    print(
        f"{name:<13}{len(pads) / one['bare']:>12,.0f}{fuel / len(pads):>13,.0f}{overhead:>14.0f}"
        f"{one['decisions'] / one['bare']:>11.2f}{one['single'] / one['bare']:>15.2f}{boot * 1e3:>9.1f}"
    )
    return overhead


def main() -> int:
    """Print the table; exit 1 where a decision costs more than it may."""
    print(f"decisions of {TICKS} ticks, medians of {ROUNDS} rounds")
    print(
        f"{'cart':<13}{'ticks/s':>12}{'fuel/tick':>13}{'us/decision':>14}"
        f"{'decided':>11}{'a tick a call':>15}{'boot ms':>9}"
    )
    empty = cart('(func (export "update"))')
    worst = max(row(name, wasm) for name, wasm in [("(empty)", empty), *((name, built(name)) for name in CARTS)])
    print(
        f"worst: {worst:.0f} us a decision, of {BUDGET_US:.0f} allowed (decided and a tick a call: times the bare loop)"
    )
    return worst > BUDGET_US


if __name__ == "__main__":
    sys.exit(main())
