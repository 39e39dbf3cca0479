"""Why: who gives most for least is decided on the numbers as they are, before a chart rounds them."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["front"]


def front(scores: Sequence[float], costs: Sequence[float | None]) -> list[bool]:
    """Whether each row is on the Pareto front of score (higher is better) and cost (lower is better; None: unknown).

    A row is on it exactly where its cost is known and no row of known cost is at least as good in both and better in
    one. Raises ValueError where the two differ in length or a number is not finite.
    """
    known = [(s, c) for s, c in zip(scores, costs, strict=True) if c is not None]
    if any(not -float("inf") < number < float("inf") for pair in known for number in pair):
        raise ValueError("scores and costs are finite numbers, and an unknown cost is None")
    return [
        c is not None and not any(a >= s and b <= c and (a > s or b < c) for a, b in known)
        for s, c in zip(scores, costs, strict=True)
    ]
