"""Why: a rank is only as firm as its constants: how far can each one go before the first rank changes?

In the points, and in a power of an anchor, every run's score is a straight line between 0 and a most, so the first
meeting of two neighbours in the ranking is computed, not searched. What the exponent does is in `convex`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from evalkit.season.convex import TOLERANCE, Ways, exponent_ways
from evalkit.season.neighbours import TIE, Neighbours, neighbours_of
from evalkit.season.score import Rules, run_score
from evalkit.season.settings import Facts, Floats, entry_name

__all__ = ["LIMITS", "TOLERANCE", "limits"]

LIMITS = {
    "constant": "string", "official": "Float64", "below": "Float64", "below_who": "string", "above": "Float64",
    "above_who": "string", "least": "Float64", "most": "Float64",
}  # fmt: skip


def limits(facts: Facts) -> pd.DataFrame:
    """For each constant, alone: the nearest value below and above the official one at which the first rank changes.

    One row a constant, with the columns and dtypes of `LIMITS`: the four of the rules, then the anchor of each entry,
    as `anchor dam (agent)`.
    `below` and `above` are where two ranked agents, named in `..._who`, first tie or a tie first ends; missing where
    none does from `least` (0, or a tenth of an anchor) to `most` (ten times the official value; 100 where that is 0).
    """
    neighbours = neighbours_of(facts)
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
    rows.append(("exponent", rules.exponent, *exponent_ways(neighbours, facts), 0.0, 10 * rules.exponent or 100.0))
    for place, entry in enumerate(facts.season.entries):
        if entry.anchor_s is not None:
            ways = _anchor(neighbours, facts, place, entry.anchor_s)
            most = 10 * entry.anchor_s
            rows.append((f"anchor {entry_name(entry.key)}", entry.anchor_s, *ways, most / 100, most))
    columns = zip(*rows, strict=True)
    return pd.DataFrame({n: pd.Series(list(c), dtype=d) for (n, d), c in zip(LIMITS.items(), columns, strict=True)})


def _unit(facts: Facts, name: str) -> Floats:
    """A part of every run's score where it earns one point at most."""
    none = Rules(objectives=0.0, completion=0.0, death=0.0, exponent=facts.season.rules.exponent)
    unit: Floats = run_score(rules=replace(none, **{name: 1.0}), **facts.columns)
    return unit


def _both_ways(
    neighbours: Neighbours, rest: Floats, slope: Floats, top: Floats | float, span: tuple[float, float, float]
) -> Ways:
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
    neighbours: Neighbours, start: Floats, slope: Floats, top: Floats | float, far: float
) -> tuple[float | None, str | None]:
    """The least distance in 0..far at which a pair changes, where runs score clip(start + slope * distance, 0, top).

    A run's line is bent where it meets 0 or its top. Each pair walks the bends of both its agents' runs in order.
    """
    count = len(neighbours.tied)
    if count == 0:
        return None, None
    with np.errstate(all="ignore"):
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
    with np.errstate(all="ignore"):
        # Two that meet and then stay together end a hair apart, so what counts is the tie and no crossing of 0. Told is
        # the crossing, or where a tie begins to end, but for two that for long are within a tie.
        zero = np.where(tied, 0.0, np.clip(-gaps / slopes, 0.0, length))
        hair = np.clip((np.where(tied, np.sign(slopes), 1.0) * TIE - gaps) / slopes, 0.0, length)
    until = np.where(np.abs(hair - zero) > 1e-6 * far, hair, zero)
    meets = np.where(tied, np.abs(then) > TIE, then <= TIE)
    found = np.where(meets, when + np.where(tied | (slopes < 0), until, 0.0), np.inf)
    best = int(np.argmin(found))
    return (None, None) if not np.isfinite(found[best]) else (float(found[best]), neighbours.who(int(pairs[best])))


def _anchor(neighbours: Neighbours, facts: Facts, place: int, official: float) -> Ways:
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
    neighbours: Neighbours, facts: Facts, here: npt.NDArray[np.bool_], at: float, end: float
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
