"""Why: a season as the rest of the kit sees it: entries, seeds, rules; what a standing is computed over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evalkit.errors import UsageError
from evalkit.reading import did_you_mean, printable
from evalkit.season.game import Game
from evalkit.season.score import OFFICIAL, OFFICIAL_BUDGET, BudgetRule, Rules, decision_budget

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
    budget_rule: BudgetRule = OFFICIAL_BUDGET

    @property
    def decision_budget(self) -> int | None:
        """How many decisions a run may take here: by the anchor, else the entry's own number, else no limit."""
        return decision_budget(self.anchor_s, self.budget_rule) if self.anchor_s is not None else self.own_budget

    @property
    def key(self) -> tuple[str, str]:
        """(level, difficulty)."""
        return (self.level, self.difficulty)


@dataclass(frozen=True, slots=True, kw_only=True)
class Season:
    """What is played and how it is scored. `seeds` and `practice_seeds` map a seed to its intro ticks (60 a second).

    `digest` is over `season.toml`, `game.toml` and the game's module. `game` is None only for a season that was made
    by hand, to rank with.
    """

    slug: str
    version: str
    digest: str
    entries: tuple[Entry, ...]
    seeds: Mapping[int, int]
    practice_seeds: Mapping[int, int] = field(default_factory=dict)
    rules: Rules = OFFICIAL
    tick_limit: int = 36_000
    name: str = ""
    root: Path | None = None
    game: Game | None = None

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every entry with every seed, in the season's order."""
        return tuple((entry.level, entry.difficulty, seed) for entry in self.entries for seed in self.seeds)

    @property
    def anchors(self) -> dict[tuple[str, str], float | None]:
        """Tref of each entry, by (level, difficulty)."""
        return {entry.key: entry.anchor_s for entry in self.entries}

    def entry(self, level: str, difficulty: str | None = None) -> Entry:
        """The entry of a level; its difficulty may be left out where there is one. Raises UsageError, with the list."""
        levels = list(dict.fromkeys(entry.level for entry in self.entries))
        found = [entry for entry in self.entries if entry.level == level]
        if not found:
            near = did_you_mean(level, levels)
            raise UsageError(f'{self.slug} has no level "{printable(level)}": it has {", ".join(levels)}{near}')
        named = [entry for entry in found if difficulty in (None, entry.difficulty)]
        if len(named) != 1:
            which = ", ".join(entry.difficulty for entry in found)
            what = f'has no difficulty "{printable(difficulty)}"' if difficulty else "has several difficulties"
            raise UsageError(f"level {level} of {self.slug} {what}: name one of {which}")
        return named[0]

    def intro_ticks(self, seed: int) -> int:
        """Ticks before play begins with this seed, of the season or for practice. Raises UsageError where unknown."""
        known = {**self.practice_seeds, **self.seeds}
        if seed not in known:
            names = ", ".join(map(str, self.seeds))
            practice = f"; for practice {', '.join(map(str, self.practice_seeds))}" if self.practice_seeds else ""
            raise UsageError(f"{self.slug} has no seed {seed}: it has {names}{practice}")
        return known[seed]

    def playable(self) -> Game:
        """Its game. Raises UsageError where there is none."""
        if self.game is None:
            raise UsageError(f"season {self.slug} has no game to play: open it from its folder")
        return self.game
