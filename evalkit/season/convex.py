"""Why: in the exponent a score is no line, but it is convex, and that is enough to find the first change for sure.

Halves of the way are searched, but for those in which the tangents and chords of two neighbours rule a meeting out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from evalkit.season.neighbours import TIE, Neighbours
from evalkit.season.score import run_score
from evalkit.season.settings import Facts, Floats

__all__ = ["TOLERANCE", "Ways", "exponent_ways"]

Ways = tuple[float | None, str | None, float | None, str | None]
"""Where the first change is below, of whom, where it is above, of whom."""

TOLERANCE = 1e-9
"""Of the exponent, as a share of it where it is above 1: the search ends there."""

MOST = 4_000
"""Halvings on a side; only two that all but touch over a long stretch need more, and there ends alone are looked at."""


@dataclass(frozen=True, slots=True)
class _Point:
    """Every ranked agent's score at an exponent, and its slope there: means are convex, so a slope bounds them."""

    at: float
    means: Floats
    slopes: Floats


def exponent_ways(neighbours: Neighbours, facts: Facts) -> Ways:
    """Where the first rank changes if the exponent is lower, down to 0, and higher, up to ten times (of 0: to 100)."""
    rules, columns = facts.season.rules, facts.columns
    with np.errstate(divide="ignore", invalid="ignore"):
        paces = np.minimum(1.0, columns["anchor_s"] / columns["time_s"])
    logs = np.log(np.where((columns["completed"] > 0) & np.isfinite(paces), paces, 1.0))

    def point(at: float) -> _Point:
        points = run_score(rules=replace(rules, exponent=at), **columns)
        turns = np.where(points > 0, rules.completion * logs * np.exp(at * logs), 0.0)
        return _Point(at, neighbours.means(points), neighbours.means(turns))

    alike = _alike(neighbours, facts, logs)
    found: list[float | str | None] = []
    for bound in (0.0, 10 * rules.exponent or 100.0):
        step = _walk(neighbours, point, point(rules.exponent), point(bound), alike)
        found += [None, None] if step is None else [step.at, neighbours.who(_changes(neighbours, step, alike)[0])]
    return tuple(found)  # type: ignore[return-value]


def _alike(neighbours: Neighbours, facts: Facts, logs: Floats) -> npt.NDArray[np.bool_]:
    """Which pairs tie whatever the exponent is: those that tie and whose runs lose the same to it."""
    rules, columns = facts.season.rules, facts.columns
    base = rules.objectives * columns["objectives_done"] / columns["objectives_total"] - rules.death * columns["died"]
    below = np.minimum(0.0, base)  # such a run may be at 0, where its pace counts less
    terms: list[dict[tuple[float, float], float]] = [{} for _ in neighbours.names]
    for run in np.flatnonzero((logs < 0) & (neighbours.place >= 0)):
        mine, key = terms[neighbours.place[run]], (float(logs[run]), float(below[run]))
        mine[key] = mine.get(key, 0.0) + float(neighbours.weight[run])
    same = [
        one.keys() == two.keys() and all(abs(one[key] - two[key]) < 1e-12 for key in one)
        for one, two in pairwise(terms)
    ]
    alike: npt.NDArray[np.bool_] = neighbours.tied & np.array(same, dtype=bool)
    return alike


def _changes(neighbours: Neighbours, point: _Point, alike: npt.NDArray[np.bool_]) -> list[int]:
    gaps = point.means[:-1] - point.means[1:]
    return [int(pair) for pair in np.flatnonzero(neighbours.changed(gaps) & ~alike)]


def _walk(
    neighbours: Neighbours, point: Callable[[float], _Point], start: _Point, end: _Point,
    alike: npt.NDArray[np.bool_],
) -> _Point | None:  # fmt: skip
    """The first point after `start` at which a pair stands otherwise; stretches in which none can are stepped over."""
    rest, budget = [(start, end)], MOST
    while rest:
        one, two = rest.pop()
        if _is_still(neighbours, alike, *((one, two) if one.at < two.at else (two, one))):
            continue
        if abs(two.at - one.at) <= TOLERANCE * max(1.0, abs(start.at)) or budget == 0:
            if _changes(neighbours, two, alike):
                return two
            continue
        budget -= 1
        middle = point((one.at + two.at) / 2)
        rest += [(middle, two), (one, middle)]
    return None


def _is_still(neighbours: Neighbours, alike: npt.NDArray[np.bool_], low: _Point, high: _Point) -> bool:
    """Whether no pair can stand otherwise between two points: a convex score is over its tangents, under its chord."""
    width = high.at - low.at
    over = (low.means + low.slopes * width, high.means - high.slopes * width)  # where the tangents end

    def least(upper: slice, lower: slice) -> Floats:
        """The least that the scores of `upper` can be above those of `lower`."""
        left = np.minimum(low.means[upper] - low.means[lower], over[0][upper] - high.means[lower])
        right = np.minimum(high.means[upper] - high.means[lower], over[1][upper] - low.means[lower])
        return np.maximum(left, right)

    first, second = slice(None, -1), slice(1, None)
    ahead = least(first, second)
    still = np.where(neighbours.tied, np.minimum(ahead, least(second, first)) >= -TIE, ahead > TIE)
    return bool((still | alike).all())
