"""Why: two agents differ where they played the same cells, so they are compared there: by how much, and where from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import NormalDist, fmean, variance

import pandas as pd

from evalkit.errors import UsageError
from evalkit.reading import did_you_mean, printable
from evalkit.records import SeasonRun
from evalkit.season.ranking import cell_scores, scored
from evalkit.season.score import Rules
from evalkit.season.season import Cell, Season
from evalkit.season.statistics import se_stratified

__all__ = ["Separation", "by_entry", "seeds_to_separate", "shared_cells"]


def shared_cells(
    runs: pd.DataFrame | Iterable[SeasonRun], season: Season, first: str, second: str, *, rules: Rules | None = None
) -> pd.DataFrame:
    """The cells that both agents played, in the season's order: level, difficulty, seed, first, second, difference.

    A cell's value is the mean score of its attempts; difference is first minus second. Raises UsageError for an agent
    without a run that counts.
    """
    cells = cell_scores(scored(runs, season, rules=rules))
    for agent in (first, second):
        if agent not in cells:
            near = did_you_mean(agent, sorted(cells)) or f": there are {', '.join(sorted(cells)) or 'none'}"
            raise UsageError(f'no run of "{printable(agent)}" counts in {season.slug}{near}')
    both = [cell for cell in season.cells if cell in cells[first] and cell in cells[second]]
    rows = [(*cell, cells[first][cell], cells[second][cell]) for cell in both]
    frame = pd.DataFrame(rows, columns=["level", "difficulty", "seed", "first", "second"])
    frame = frame.astype({"seed": "int64", "first": "float64", "second": "float64"})
    return frame.assign(difference=frame["first"] - frame["second"])


def by_entry(cells: pd.DataFrame) -> pd.DataFrame:
    """What each entry adds to the difference, most first, from `shared_cells`.

    level, difficulty, seeds (shared), first, second, difference (means), se (of the difference over seeds, ddof 1; NaN
    for one seed), adds (to the mean difference over all shared cells; they sum to it).
    """
    groups = cells.groupby(["level", "difficulty"], sort=False)
    frame = groups[["first", "second", "difference"]].mean()
    frame.insert(0, "seeds", groups.size())
    frame["se"] = groups["difference"].sem(ddof=1)
    frame["adds"] = groups["difference"].sum() / max(1, len(cells))
    order = frame["adds"].abs().sort_values(ascending=False, kind="stable").index
    return frame.loc[order].reset_index()


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation:
    """How far two agents are apart over the entries' means, and how many seeds of each entry would tell them apart.

    `se` is stratified by entry. `seeds` is the fewest that any of these entries has now; `needed` None where the
    difference is 0. `is_separate`: the interval of this confidence around the difference leaves out 0. All of it is
    over entries of two shared seeds or more; `left_out` are the (level, difficulty) of the others.
    """

    difference: float
    se: float
    seeds: int
    needed: int | None
    is_separate: bool
    left_out: tuple[tuple[str, str], ...] = ()


def seeds_to_separate(
    differences: Mapping[Cell, float], *, confidence: float = 0.95, power: float = 0.8
) -> Separation | None:
    """How many seeds of every entry would separate two agents, were the difference seen the true one.

    `differences` are first minus second by (level, difficulty, seed). Entries with fewer than two seeds are left out;
    None where none is left. With L entries fixed and seeds the sample, the mean difference d has variance
    sum s_l^2 / (n L^2) at n seeds each (stratified: Cochran, "Sampling Techniques", 1977, chapter 5); put into the
    sample size of a paired comparison, ((z_confidence + z_power) sigma / d)^2 (as in Miller, "Adding Error Bars to
    Evals", 2024, arXiv:2411.00640, on power), that gives n = (z_c + z_p)^2 sum s_l^2 / (L d)^2, rounded up, at least 2.
    Both use normal quantiles, which with few seeds is optimistic.
    """
    entries: dict[tuple[str, str], list[float]] = {}
    for (level, difficulty, _), value in differences.items():
        entries.setdefault((level, difficulty), []).append(value)
    error = se_stratified({f"{level} {difficulty}": values for (level, difficulty), values in entries.items()})
    if error is None:
        return None
    wide = [values for values in entries.values() if len(values) >= 2]
    count, mean = len(wide), fmean(fmean(values) for values in wide)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    needed = None
    if mean:
        spread = sum(variance(values) for values in wide)
        needed = max(2, math.ceil((z + NormalDist().inv_cdf(power)) ** 2 * spread / (count * mean) ** 2))
    return Separation(
        difference=mean, se=error, seeds=min(map(len, wide)), needed=needed, is_separate=abs(mean) > z * error,
        left_out=tuple(key for key, values in entries.items() if len(values) < 2),
    )  # fmt: skip
