"""Why: a rank is only as firm as its constants: how far can each one go before the first rank changes?

In the points, and in a power of an anchor, every run's score is a straight line between 0 and a most, so the first
meeting of two neighbours in the ranking is computed, not searched. The exponent is searched and then bisected.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from evalkit.season.score import Rules, run_score
from evalkit.season.whatif import Facts, Setting, entry_name, ranked

__all__ = ["LIMITS", "TOLERANCE", "limits"]

Floats = npt.NDArray[np.float64]
_Ways = tuple[float | None, str | None, float | None, str | None]
"""Where the first change is below, of whom, where it is above, of whom."""

TOLERANCE = 1e-9
"""Of the exponent: bisection ends there. A change that is undone within 1/200 of the way to the bound is not seen."""

LIMITS = {
    "constant": "string", "official": "Float64", "below": "Float64", "below_who": "string", "above": "Float64",
    "above_who": "string", "least": "Float64", "most": "Float64",
}  # fmt: skip
_TIE = 5e-10  # scores are equal after rounding to 9 decimals
_STEPS = 200


def limits(facts: Facts) -> pd.DataFrame:
    """For each constant, alone: the nearest value below and above the official one at which the first rank changes.

    One row a constant, with the columns and dtypes of `LIMITS`: the four of the rules, then the anchor of each entry,
    as `anchor dam (agent)`.
    `below` and `above` are where two ranked agents, named in `..._who`, first tie or a tie first ends; missing where
    none does from `least` (0, or a tenth of an anchor) to `most` (ten times the official value; 100 where that is 0).
    """
    neighbours = _neighbours(facts)
    rules = facts.season.rules
    rows: list[tuple[object, ...]] = []
    parts = {"objectives": _unit(facts, "objectives"), "completion": _unit(facts, "completion")}
    parts["death"] = -facts.columns["died"]
    for name, slope in parts.items():
        official = getattr(rules, name)
        most = 10 * official or 100.0
        rest = np.zeros(len(slope)) + sum(getattr(rules, other) * parts[other] for other in parts if other != name)
        ways = _both_ways(neighbours, rest, slope, np.inf, (official, 0.0, most))
        rows.append((name, official, *ways, 0.0, most))
    rows.append(("exponent", rules.exponent, *_exponent(neighbours, facts), 0.0, 10 * rules.exponent or 100.0))
    for place, entry in enumerate(facts.season.entries):
        if entry.anchor_s is not None:
            ways = _anchor(neighbours, facts, place, entry.anchor_s)
            most = 10 * entry.anchor_s
            rows.append((f"anchor {entry_name(entry.key)}", entry.anchor_s, *ways, most / 100, most))
    columns = zip(*rows, strict=True)
    return pd.DataFrame({n: pd.Series(list(c), dtype=d) for (n, d), c in zip(LIMITS.items(), columns, strict=True)})


@dataclass(frozen=True, slots=True)
class _Neighbours:
    """Ranked agents, best first; a pair is a place and the next one. `weight` is what a run counts in its mean."""

    names: tuple[str, ...]
    place: npt.NDArray[np.intp]
    weight: Floats
    tied: npt.NDArray[np.bool_]

    def gaps(self, points: Floats) -> Floats:
        """Upper minus lower score of each pair, where the runs score `points`."""
        ranks = self.place >= 0
        means = np.bincount(self.place[ranks], (self.weight * points)[ranks], len(self.names)).astype(np.float64)
        return means[:-1] - means[1:]

    def changed(self, gaps: Floats) -> npt.NDArray[np.bool_]:
        """Which pairs stand otherwise than officially."""
        return np.where(self.tied, np.abs(gaps) > _TIE, gaps <= _TIE)

    def who(self, pair: int) -> str:
        return f"{self.names[pair]} and {self.names[pair + 1]}"


def _neighbours(facts: Facts) -> _Neighbours:
    was = ranked(facts, Setting())
    order = [a for a in np.lexsort((np.arange(len(was.rank)), was.rank)) if np.isfinite(was.rank[a])]
    place = np.full(len(facts.agents), -1, dtype=np.intp)
    place[order] = np.arange(len(order))
    at = np.ravel_multi_index((facts.agent, facts.entry, facts.seed), was.cells.shape)
    attempts = np.bincount(at, minlength=was.cells.size)[at]
    rank = was.rank[order]
    weight = 1 / (attempts * was.count[facts.agent])
    return _Neighbours(tuple(facts.agents[a] for a in order), place[facts.agent], weight, rank[:-1] == rank[1:])


def _unit(facts: Facts, name: str) -> Floats:
    """A part of every run's score where it earns one point at most."""
    none = Rules(objectives=0.0, completion=0.0, death=0.0, exponent=facts.season.rules.exponent)
    unit: Floats = run_score(rules=replace(none, **{name: 1.0}), **facts.columns)
    return unit


def _both_ways(
    neighbours: _Neighbours, rest: Floats, slope: Floats, top: Floats | float, span: tuple[float, float, float]
) -> _Ways:
    """Where runs score clip(rest + slope * x, 0, top): the x below and above of the first change.

    `span` is the official x, the least and the most.
    """
    official, least, most = span
    start = rest + slope * official
    down, by = _first(neighbours, start, -slope, top, official - least)
    up, also = _first(neighbours, start, slope, top, most - official)
    # A bound that is met but for the last digits of a float is the bound.
    low, high = (None if way is None else float(np.round(official + way, 12)) for way in (down and -down, up))
    return low, by, high, also


def _first(
    neighbours: _Neighbours, start: Floats, slope: Floats, top: Floats | float, far: float
) -> tuple[float | None, str | None]:
    """The least distance in 0..far at which a pair changes, where runs score clip(start + slope * distance, 0, top).

    A run's line is bent where it meets 0 or its top. Each pair walks the bends of both its agents' runs in order.
    """
    count = len(neighbours.tied)
    if count == 0:
        return None, None
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.sort(np.stack(np.broadcast_arrays(-start / slope, (top - start) / slope)), axis=0)
    sloped = slope != 0
    at, turn, pair = [np.zeros(count)], [np.zeros(count)], [np.arange(count)]
    for bends, sign in ((ends[0], 1.0), (ends[1], -1.0)):
        for shift, side in ((0, 1.0), (1, -1.0)):  # as the upper agent of its pair, and as the lower of the one before
            mine = neighbours.place - shift
            seen = sloped & (neighbours.place >= 0) & (mine >= 0) & (mine < count) & (ends[1] > 0) & (bends < far)
            at.append(np.maximum(bends[seen], 0.0))
            turn.append(sign * side * (neighbours.weight * slope)[seen])
            pair.append(mine[seen])
    when, turns, pairs = np.concatenate(at), np.concatenate(turn), np.concatenate(pair)
    order = np.lexsort((when, pairs))
    when, turns, pairs = when[order], turns[order], pairs[order]
    first = np.searchsorted(pairs, np.arange(count))

    def within(values: Floats) -> Floats:  # running sums that begin anew with each pair
        sums = np.cumsum(values)
        return np.asarray(sums - (sums[first] - values[first])[pairs])

    slopes = within(turns)
    length = np.append(when[1:], 0.0) - when
    length[np.append(first[1:], len(when)) - 1] = far - when[np.append(first[1:], len(when)) - 1]
    grown = slopes * length
    gaps = neighbours.gaps(np.clip(start, 0.0, top))[pairs] + within(grown) - grown
    tied, then = neighbours.tied[pairs], gaps + grown
    with np.errstate(divide="ignore", invalid="ignore"):
        # Two that meet and then stay together end a hair apart: what counts is the tie, and no crossing of 0.
        until = np.where(slopes < 0, np.clip(-gaps / slopes, 0.0, length), 0.0)
        apart = np.clip((np.sign(slopes) * _TIE - gaps) / slopes, 0.0, length)
    # A tie ends where it begins to end, but for one that for long stays within a tie.
    ends = when + np.where(apart > 1e-6 * far, apart, 0.0)
    found = np.where(tied, np.where(np.abs(then) > _TIE, ends, np.inf), np.where(then <= _TIE, when + until, np.inf))
    best = int(np.argmin(found))
    return (None, None) if not np.isfinite(found[best]) else (float(found[best]), neighbours.who(int(pairs[best])))


def _anchor(neighbours: _Neighbours, facts: Facts, place: int, official: float) -> _Ways:
    """In u = anchor ^ exponent a completed run of the entry scores a line up to its top, which it meets at T.

    Every u is told as a share of the largest of a stretch, and a stretch is so short that no share is too small for a
    float: seasons may have an exponent of a million.
    """
    exponent, columns = facts.season.rules.exponent, facts.columns
    here = (facts.entry == place) & (columns["completed"] > 0)
    if exponent == 0 or not here.any():
        return None, None, None, None
    times = np.sort(columns["time_s"][here])
    ratio = 10 ** min(1.0, 8 / exponent)
    found: list[float | str | None] = []
    for bound in (official / 10, official * 10):
        limit, who, at = None, None, official
        while at != bound and limit is None:
            end = min(bound, at * ratio) if bound > official else max(bound, at / ratio)
            near = np.searchsorted(times, [min(at, end), max(at, end) * ratio**2], "right")
            if near[0] < near[1]:
                limit, who = _stretch(neighbours, facts, here, at, end)
                at = end
            elif bound > official:  # every run is at its top, or so far from it that it moves less than a tie
                at = bound if near[1] == len(times) else max(end, min(bound, float(times[near[1]]) / ratio**2))
            else:
                at = bound if near[0] == 0 else max(bound, float(times[near[0] - 1]))
        found += [limit, who]
    return tuple(found)  # type: ignore[return-value]


def _stretch(
    neighbours: _Neighbours, facts: Facts, here: npt.NDArray[np.bool_], at: float, end: float
) -> tuple[float | None, str | None]:
    """The first change where the anchor of the runs `here` goes from `at` to `end`; no rank has changed before."""
    rules, columns = facts.season.rules, facts.columns
    low, high = min(at, end), max(at, end)
    base = rules.objectives * columns["objectives_done"] / columns["objectives_total"] - rules.death * columns["died"]
    moves = here & (columns["time_s"] > low)
    slope = np.where(moves, rules.completion * (high / np.where(moves, columns["time_s"], high)) ** rules.exponent, 0.0)
    most = np.maximum(0.0, base + rules.completion)
    rest = np.where(moves, base, np.where(here, most, run_score(rules=rules, **columns)))
    begin, until = (at / high) ** rules.exponent, (end / high) ** rules.exponent
    way = 1.0 if until > begin else -1.0
    far, who = _first(neighbours, rest + slope * begin, way * slope, np.where(moves, most, np.inf), abs(until - begin))
    if far is None:
        return None, None
    value = high * min(1.0, max(0.0, begin + way * far)) ** (1 / rules.exponent)
    return float(f"{min(max(value, low), high):.15g}"), who


def _exponent(neighbours: _Neighbours, facts: Facts) -> _Ways:
    official = facts.season.rules.exponent

    def at(value: float) -> npt.NDArray[np.bool_]:
        points = run_score(rules=replace(facts.season.rules, exponent=value), **facts.columns)
        return neighbours.changed(neighbours.gaps(points))

    found: list[float | str | None] = []
    for bound in (0.0, 10 * official or 100.0):
        path = np.linspace(official, bound, _STEPS + 1)
        step = next((float(value) for value in path[1:] if value != official and at(value).any()), None)
        if step is None:
            found += [None, None]
            continue
        near = step - (bound - official) / _STEPS
        while abs(step - near) > TOLERANCE:
            middle = (near + step) / 2
            near, step = (near, middle) if at(middle).any() else (middle, step)
        found += [step, neighbours.who(int(np.argmax(at(step))))]
    return tuple(found)  # type: ignore[return-value]
