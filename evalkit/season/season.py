"""Why: a season as the rest of the kit sees it: entries, seeds, rules; what a standing is computed over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalkit.season.score import OFFICIAL, Rules, decision_budget

__all__ = ["Cell", "Entry", "Season"]

Cell = tuple[str, str, int]
"""(level, difficulty, seed): one entry with one seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A level at one difficulty. `anchor_s` is Tref in seconds of game time; an entry without one states its budget."""

    level: str
    difficulty: str
    anchor_s: float | None = None
    own_budget: int | None = None

    @property
    def decision_budget(self) -> int | None:
        """How many decisions a run may take here: by the anchor, else the entry's own number, else no limit."""
        return decision_budget(self.anchor_s) if self.anchor_s is not None else self.own_budget

    @property
    def key(self) -> tuple[str, str]:
        """(level, difficulty)."""
        return (self.level, self.difficulty)


@dataclass(frozen=True, slots=True, kw_only=True)
class Season:
    """What is played and how it is scored. `seeds` and `practice_seeds` map a seed to its intro ticks (60 a second)."""

    slug: str
    version: str
    digest: str
    entries: tuple[Entry, ...]
    seeds: Mapping[int, int]
    practice_seeds: Mapping[int, int] = field(default_factory=dict)
    rules: Rules = OFFICIAL
    tick_limit: int = 36_000

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every entry with every seed, in the season's order."""
        return tuple((entry.level, entry.difficulty, seed) for entry in self.entries for seed in self.seeds)

    @property
    def anchors(self) -> dict[tuple[str, str], float | None]:
        """Tref of each entry, by (level, difficulty)."""
        return {entry.key: entry.anchor_s for entry in self.entries}
