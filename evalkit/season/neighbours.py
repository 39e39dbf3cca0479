"""Why: the first rank to change is that of two who stand next to each other, so limits look at neighbours alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalkit.season.settings import Facts, Floats, Setting, ranked

__all__ = ["TIE", "Neighbours", "neighbours_of"]

TIE = 5e-10
"""Scores are equal after rounding to 9 decimals."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Ranked agents, best first; a pair is a place and the next one. `weight` is what a run counts in its mean."""

    names: tuple[str, ...]
    place: npt.NDArray[np.intp]
    weight: Floats
    tied: npt.NDArray[np.bool_]

    def means(self, points: Floats) -> Floats:
        """Each agent's score, where the runs score `points`."""
        ranks = self.place >= 0
        sums: Floats = np.bincount(self.place[ranks], (self.weight * points)[ranks], len(self.names)).astype(np.float64)
        return sums

    def gaps(self, points: Floats) -> Floats:
        """Upper minus lower score of each pair, where the runs score `points`."""
        means = self.means(points)
        return means[:-1] - means[1:]

    def changed(self, gaps: Floats) -> npt.NDArray[np.bool_]:
        """Which pairs stand otherwise than officially."""
        return np.where(self.tied, np.abs(gaps) > TIE, gaps <= TIE)

    def who(self, pair: int) -> str:
        """Both names of a pair."""
        return f"{self.names[pair]} and {self.names[pair + 1]}"


def neighbours_of(facts: Facts) -> Neighbours:
    """The ranked agents of a season by its own rules."""
    was = ranked(facts, Setting())
    order = [a for a in np.lexsort((np.arange(len(was.rank)), was.rank)) if np.isfinite(was.rank[a])]
    place = np.full(len(facts.agents), -1, dtype=np.intp)
    place[order] = np.arange(len(order))
    at = np.ravel_multi_index((facts.agent, facts.entry, facts.seed), was.cells.shape)
    attempts = np.bincount(at, minlength=was.cells.size)[at]
    rank = was.rank[order]
    weight = 1 / (attempts * was.count[facts.agent])
    return Neighbours(tuple(facts.agents[a] for a in order), place[facts.agent], weight, rank[:-1] == rank[1:])
