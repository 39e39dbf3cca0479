"""Why: a board in a page carries the facts of every run, and ten thousand runs must fit: what is alike is told once.

Nothing is rounded and no rank can change: runs that agree in all that the rules see become one with a weight, and a
run that another one of its model beats on every input, whatever counts, is not carried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from evalkit.performance.whatif import Facts
from evalkit.season.season import Season

__all__ = ["SEEN", "contenders", "tries"]

Floats = npt.NDArray[np.float64]

SEEN = ("e", "s", "f", "c", "d", "t", "n")
"""Of each distinct try: entry, seed, share of objectives, completed, died, T in ticks (0: it takes nothing), and how
many runs were so."""

_COMPARED = 500
"""Runs of a model that the others are held against: more would cost seconds and save little."""


def tries(table: pd.DataFrame, season: Season) -> Mapping[str, dict[str, list[Any]]]:
    """Return agent -> a column for each of SEEN, from what `evalkit.season.ranking.scored` gave."""
    place = {entry.key: index for index, entry in enumerate(season.entries)}
    completed = table["completed"].astype(bool).to_numpy()
    ticks = (table["time_s"].astype("float64") * 60).to_numpy(dtype=np.float64, na_value=np.nan)
    anchored = table["anchor_s"].astype("float64").notna().to_numpy()
    facts = pd.DataFrame(
        {
            "agent": table["agent"].astype(str).to_numpy(),
            "e": [place[key] for key in zip(table["level"], table["difficulty"], strict=True)],
            "s": table["seed"].astype(int).to_numpy(),
            "f": (table["objectives_done"] / table["objectives_total"]).astype("float64").to_numpy(),
            "c": completed.astype(int),
            "d": table["died"].astype(bool).astype(int).to_numpy(),
            # T matters only where a run completed and its entry has an anchor.
            "t": np.where(completed & anchored & ~np.isnan(ticks), ticks, 0.0),
        }
    )
    same = facts.groupby([*facts.columns], sort=True).size().reset_index(name="n")
    return {
        str(agent): {name: [_plain(value) for value in part[name]] for name in SEEN}
        for agent, part in same.groupby("agent", sort=False)
    }


def _plain(value: Any) -> Any:
    """A whole number where it is one, but for the last bits that dividing by 60 and back has cost."""
    number = float(value)
    return round(number) if abs(number - round(number)) < 1e-9 else number


def contenders(facts: Facts) -> list[int]:
    """Return the runs, as they were recorded, that can be their model's best under some setting of a board.

    Left out: ungraded runs, those whose smoke inputs were not all right, those right on no stress input, and those that
    an earlier run of their model equals or beats on every input, or any run of it beats on every one.
    """
    fuel = np.where(facts.right, facts.fuel, np.inf)
    able = ~facts.ungraded & ~facts.shut & facts.right.any(axis=1)
    found: list[int] = []
    for model in range(len(facts.models)):
        found += _front(np.flatnonzero(able & (facts.model == model)), fuel, facts.ceiling)
    return sorted(found)


def _front(runs: Iterable[int], fuel: Floats, ceiling: Floats) -> list[int]:
    kept: list[int] = []
    finite = {int(run): np.where(np.isinf(fuel[run]), 0, fuel[run]).sum() for run in runs}
    wrong = {run: int(np.isinf(fuel[run]).sum()) for run in finite}
    for run in sorted(finite, key=lambda run: (wrong[run], finite[run], run)):
        against = np.array(kept[:_COMPARED], dtype=np.intp)
        alike = (ceiling[against] == ceiling[run]) | np.isinf(fuel[run])
        no_worse = ((fuel[against] <= fuel[run]) & alike).all(axis=1)
        better = ((fuel[against] < fuel[run]) | np.isinf(fuel[run])).all(axis=1)
        if not (no_worse & (better | (against < run))).any():
            kept.append(run)
    return kept
