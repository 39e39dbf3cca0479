"""Why: how sure a mean is, and whether two rows differ, said by plain functions on cells; randomness is an argument.

A cell's value is the mean score of its attempts. `levels` maps a level to the values of its cells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "PairedDifference",
    "RankRange",
    "mean_and_se",
    "paired_difference",
    "rank_ranges",
    "se_clustered",
    "se_stratified",
]

Levels = Mapping[str, Sequence[float]]


def mean_and_se(values: Sequence[float]) -> tuple[float, float | None]:
    """Mean of n cells, and its standard error s / sqrt(n) with ddof 1; None for one cell. ValueError for none.

    >>> mean_and_se([40.0, 60.0])
    (50.0, 10.0)
    """
    if len(values) == 0:
        raise ValueError("a mean needs at least one cell")
    error = float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else None
    return float(np.mean(values)), error


def _wide(levels: Levels) -> list[Sequence[float]]:
    return [values for values in levels.values() if len(values) >= 2]


def se_stratified(levels: Levels) -> float | None:
    """Standard error with levels as fixed strata, sqrt(sum s_l^2 / n_l) / L, over levels with at least two cells.

    >>> round(se_stratified({"dam": [90, 95, 100, 95], "runway": [40, 60, 50, 50], "bunker-1": [10, 20, 5, 5]}), 3)
    1.925
    """
    wide = _wide(levels)
    if not wide:
        return None
    return math.sqrt(sum(float(np.var(values, ddof=1)) / len(values) for values in wide)) / len(wide)


def se_clustered(levels: Levels) -> float | None:
    """Standard error with levels as a sample of levels, sd(level means) / sqrt(L), over levels with two cells or more.

    None for fewer than two such levels: one mean has no spread.

    >>> round(se_clustered({"dam": [90, 95, 100, 95], "runway": [40, 60, 50, 50], "bunker-1": [10, 20, 5, 5]}), 3)
    24.552
    """
    means = [float(np.mean(values)) for values in _wide(levels)]
    return float(np.std(means, ddof=1) / math.sqrt(len(means))) if len(means) > 1 else None


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Mean difference over shared cells, its standard error (None for one cell), and how many cells.

    How many more seeds would settle it is `compare.seeds_to_separate`.
    """

    mean: float
    se: float | None
    cells: int


def paired_difference(first: Mapping[Any, float], second: Mapping[Any, float]) -> PairedDifference | None:
    """`first` minus `second` over the cells that both have; None where they share none."""
    shared = [key for key in first if key in second]
    if not shared:
        return None
    differences = [first[key] - second[key] for key in shared]
    return PairedDifference(*mean_and_se(differences), len(shared))


@dataclass(frozen=True, slots=True)
class RankRange:
    """From bootstrap samples: the middle 95 % of an agent's ranks, and how often it came first (ties shared)."""

    low: int
    high: int
    p_first: float


def rank_ranges(cells: Mapping[str, Mapping[object, float]], *, seed: int, samples: int = 2000) -> dict[str, RankRange]:
    """Resample the cells that every agent has, with replacement, and rank the means each time.

    `cells` maps an agent to its cells' values. The same `seed` gives the same answer. Raises ValueError where the
    agents share no cell.
    """
    agents = sorted(cells)
    if not agents:
        return {}
    shared = sorted(set.intersection(*(set(cells[agent]) for agent in agents)), key=repr)
    if not shared:
        raise ValueError("the agents share no cell to resample")
    table = np.array([[cells[agent][key] for key in shared] for agent in agents])
    picks = np.random.default_rng(seed).integers(0, len(shared), size=(samples, len(shared)))
    means = np.round(table[:, picks].mean(axis=2), 9)
    ranks = 1 + (means[None, :, :] > means[:, None, :]).sum(axis=1)
    first = ranks == 1
    share = (first / first.sum(axis=0)).mean(axis=1)
    low, high = np.quantile(ranks, [0.025, 0.975], axis=1, method="nearest")
    return {agent: RankRange(int(low[i]), int(high[i]), float(share[i])) for i, agent in enumerate(agents)}
