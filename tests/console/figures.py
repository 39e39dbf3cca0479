"""Why: the console's figures, from one command on the machine at hand: `python -m tests.console.figures`.

For each test cart: ticks a second in one bare loop inside wasm; what a decision costs beyond its ticks in that loop
(the call, one hash of the full state chained to the last and to the pads, a record kept); what the same ticks cost
with one call a tick. The three are measured in turns, many short rounds of processor time from one state, and what is
compared is always of one round (medians over the rounds), so that a busy machine changes little. A decision may cost
at most 150 us.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from evalkit.sandbox.cart import load_cart
from evalkit.sandbox.console import Console
from tests.console.cartwork import CARTS, built, cart, tape

ROUNDS, DECISIONS, TICKS = 41, 20, 12
BUDGET_US = 150


def seconds(play: Callable[[], object]) -> float:
    begin = time.process_time()
    play()
    return time.process_time() - begin


def row(name: str, wasm: bytes) -> float:
    """Measure and print one cart; what a decision of it costs beyond its ticks, in microseconds."""
    loaded = load_cart(wasm)
    boot = min(seconds(lambda: Console(loaded)) for _ in range(5))
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
    overhead = (
        statistics.median(d - b for d, b in zip(times["decisions"], times["bare"], strict=True)) / DECISIONS * 1e6
    )
    decided, alone = (
        statistics.median(t / b for t, b in zip(times[key], times["bare"], strict=True))
        for key in ("decisions", "single")
    )
    print(
        f"{name:<13}{len(pads) / statistics.median(times['bare']):>12,.0f}{fuel / len(pads):>13,.0f}{overhead:>14.0f}"
        f"{decided:>11.2f}{alone:>15.2f}{boot * 1e3:>9.1f}"
    )
    return overhead


def main() -> int:
    """Print the table."""
    print(f"decisions of {TICKS} ticks, medians of {ROUNDS} rounds")
    print(
        f"{'cart':<13}{'ticks/s':>12}{'fuel/tick':>13}{'us/decision':>14}"
        f"{'decided':>11}{'a tick a call':>15}{'boot ms':>9}"
    )
    empty = cart('(func (export "update"))')
    found = [row(name, wasm) for name, wasm in [("(empty)", empty), *((name, built(name)) for name in CARTS)]]
    print(f"a decision: {statistics.median(found):.0f} us in the middle, {max(found):.0f} at most; {BUDGET_US} allowed")
    print("decided, a tick a call: times the bare loop; where a cart's own ticks take long, their noise is in its row")
    return 0


if __name__ == "__main__":
    sys.exit(main())
