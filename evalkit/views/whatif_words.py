"""Why: what a what-if says in words is made from its table and its limits, so that it cannot drift from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evalkit.views.cells import rows_of
from evalkit.views.formats import listed, some
from evalkit.views.grid import Cell
from evalkit.views.names import html, short

__all__ = [
    "Edge", "arrow", "edges", "figure", "figured", "name_of", "other_digest", "said", "tightest", "whys",
]  # fmt: skip


def figure(value: float) -> str:
    """A constant as it is written: whole numbers and large ones in full, others in six digits."""
    return f"{value:,.0f}" if value == round(value) or abs(value) >= 1e5 else f"{value:,.6g}"


def figured(value: Any) -> Cell:
    """`figure` as a cell, or a dash."""
    return Cell("\N{EN DASH}") if pd.isna(value) else Cell(figure(float(value)), float(value))


def other_digest(count: int, total: int, what: str) -> str:
    """How many runs are of another digest of the season or case, in a sentence; "" where none is."""
    if not count:
        return ""
    verb = "was" if count == 1 else "were"
    return (
        f"{count:,} of {some(total, 'run')} {verb} recorded under another digest of the {what}: its files have changed."
    )


def name_of(row: Any, what: str) -> str:
    """Who a row is of, with what kind of reference it is."""
    name = str(getattr(row, what))
    reference = getattr(row, "reference", None)
    return name if reference is None or pd.isna(reference) else f"{name} ({reference})"


def arrow(row: Any) -> str:
    """How many places up or down, or in or out."""
    if pd.isna(row.rank) or pd.isna(row.official_rank):
        return "" if pd.isna(row.rank) == pd.isna(row.official_rank) else "new" if pd.isna(row.official_rank) else "out"
    return "" if row.moved == 0 else f"{'▲' if row.moved > 0 else '▼'} {abs(row.moved)}"


def said(frame: pd.DataFrame, what: str) -> str:
    """Who leads, how many moved and who, in a line."""
    if frame.empty:
        return "No run counts here yet."
    first = frame.loc[frame["rank"] == 1, what]
    official = set(frame.loc[frame["official_rank"] == 1, what])
    moved = [str(name) for name in frame.loc[frame["why"] != "", what]]
    lead = "nobody takes a rank" if first.empty else f"first: {short(', '.join(first), 60)}"
    if set(first) == official:
        lead += ", as officially" if moved else ""
    elif official:
        lead += f" (officially {short(', '.join(sorted(official)), 60)})"
    if not moved:
        return f"No rank differs from the official one; {lead}."
    verb = "differs" if len(moved) == 1 else "differ"
    return (
        f"{len(moved):,} of {some(len(frame), 'row')} {verb} ({listed([short(name, 40) for name in moved])}); {lead}."
    )


def whys(frame: pd.DataFrame, what: str, most: int) -> str:
    """Who moved, and why, a line each, as HTML."""
    moved = frame[frame["why"] != ""]
    if moved.empty:
        return ""
    lines = [f"<li><b>{html(short(str(getattr(row, what)), 44))}</b> {html(row.why)}</li>"
             for row in rows_of(moved.head(most))]  # fmt: skip
    return f'<h4 style="margin:.8em 0 .3em">Who moved, and why</h4><ul style="line-height:1.5">{"".join(lines)}</ul>'


@dataclass(frozen=True, slots=True)
class Edge:
    """A constant, its official value, where the first rank changes on one side of it (`limit`), and who changes."""

    control: str
    official: float
    limit: float
    way: int
    who: str

    @property
    def share(self) -> float:
        """How far the limit is, as a share of the official value; infinite where that is 0."""
        gap = abs(self.limit - self.official)
        return 0.0 if gap <= 1e-9 * max(1.0, abs(self.official)) else gap / self.official if self.official else math.inf

    def beyond(self) -> list[float]:
        """Values at which its rank should have changed, the first to try first: in six digits, a little past it."""
        if not self.limit:
            return [0.0, *(self.way * 10.0**size for size in range(-6, 0))]
        size = math.floor(math.log10(abs(self.limit))) - 5
        values = []
        for digits in range(size, size + 5):
            unit = 10.0**digits
            whole = math.ceil(self.limit / unit) if self.way > 0 else math.floor(self.limit / unit)
            past = round(whole * unit, -digits)
            values.append(past if past != self.limit else round((whole + self.way) * unit, -digits))
        return [values[0], self.limit, *values[1:]]


def edges(limits: pd.DataFrame, control: Callable[[Any], str]) -> list[Edge]:
    """Every limit of a table of `limits`, the nearest first, as a share of the constant; `control` names a row's."""
    found = [
        Edge(control(row), float(row.official), float(limit), way, "" if pd.isna(who) else str(who))
        for row in rows_of(limits.dropna(subset="official"))
        for limit, who, way in ((row.below, row.below_who, -1), (row.above, row.above_who, 1))
        if not pd.isna(limit)
    ]
    return [found[place] for place in np.argsort([edge.share for edge in found], kind="stable")]


def tightest(found: Sequence[Edge], any_ranked: bool) -> str:
    """Which constant is nearest, as a share of itself, to changing a rank; "" where there are no ranks to change."""
    near = [edge for edge in found if math.isfinite(edge.share)]
    if not near:
        return "No constant, alone, changes a rank as far as its limits were looked for." if any_ranked else ""
    first = near[0]
    if first.share == 0:
        same = {edge.way for edge in near if edge.control == first.control and edge.share == 0}
        how = "any other" if len(same) > 1 else "a higher" if first.way > 0 else "a lower"
        who = f" ({short(first.who, 60)})" if first.who else ""
        value = f"{how} value of {first.control} than {figure(first.official)}"
        return f"A rank is at its edge now: {value} changes it{who}."
    return (
        f"Of all constants, the nearest to change a rank alone: {first.control}, at {figure(first.limit)} instead of "
        f"{figure(first.official)}."
    )
