"""Why: a game as the rest of the kit sees it: a cart, and a table that says what its numbers mean; `gamefile` makes it.

Nothing here knows a game by name. Whoever has a cart and a list of addresses has a level.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evalkit.building.commands import Build
from evalkit.sandbox.pacer import FORMATS, NumberType
from evalkit.season.conditions import Rule, Variable

__all__ = ["BUTTONS", "MOST_NAME", "ActionRule", "Boot", "BootField", "Game", "Objectives", "Status"]

BUTTONS: Mapping[str, int] = {"x": 1, "z": 2, "left": 16, "right": 32, "up": 64, "down": 128}
"""The bits of the gamepad byte."""

MOST_NAME = 400
"""Characters of a name that a replay may hold; a longer one would make runs that nobody can prove."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRule:
    """What an agent may do: buttons held (`pad`) for one of the allowed numbers of ticks, where `when` holds."""

    name: str
    pad: int
    ticks: tuple[int, ...]
    when: Rule | None = None
    description: str | None = None

    def is_legal(self, memory: memoryview) -> bool:
        """Whether it may be done now."""
        return self.when is None or self.when.holds(memory)


@dataclass(frozen=True, slots=True)
class BootField:
    """A number on the disk that the game reads when it boots, by the word that stands for it."""

    at: int
    type: NumberType
    values: Mapping[str, int]

    def put(self, disk: bytearray, word: str) -> None:
        """Write the number for a word in place."""
        struct.pack_into(FORMATS[self.type], disk, self.at, self.values[word])


@dataclass(frozen=True, slots=True)
class Boot:
    """The disk that a game starts with: a template, the numbers for level and difficulty put in, cheats or-ed in."""

    template: bytes = b""
    level: BootField | None = None
    difficulty: BootField | None = None
    cheats: Mapping[str, BootField] = field(default_factory=dict)

    def disk(self, level: str, difficulty: str, cheats: Collection[str] = ()) -> bytes:
        """The bytes for one entry; each name must be one that the fields know."""
        disk = bytearray(self.template)
        if self.level is not None:
            self.level.put(disk, level)
        if self.difficulty is not None:
            self.difficulty.put(disk, difficulty)
        for cheat in sorted(cheats):
            bits = bytearray(len(disk))
            self.cheats[cheat].put(bits, cheat)
            disk = bytearray(a | b for a, b in zip(disk, bits, strict=True))
        return bytes(disk)


@dataclass(frozen=True, slots=True, kw_only=True)
class Objectives:
    """How objectives are counted: a rule each, or two variables that hold a count, or a bit each.

    With variables, `done` and `total` are read from the page; `total` may be a fixed number (of bits: the mask).
    """

    rules: tuple[Rule, ...] = ()
    done: Variable | None = None
    total: Variable | int = 0
    bits: bool = False

    def begin(self, memory: memoryview) -> tuple[int, int]:
        """What holds as play begins, for `credited`: (done already, what counts), numbers or masks."""
        if self.done is None:
            return self._done(memory), (1 << len(self.rules)) - 1
        return self._done(memory), self.total if isinstance(self.total, int) else self._read(self.total, memory)

    def total_of(self, begun: tuple[int, int]) -> int:
        """How many objectives there are."""
        return self._count(begun[1])

    def credited(self, memory: memoryview, begun: tuple[int, int]) -> int:
        """How many are done now that were not when play began."""
        before, total = begun
        if self.done is None or self.bits:
            return self._count(self._done(memory) & ~before & total)
        return max(0, min(total, self._done(memory)) - max(0, before))

    def _done(self, memory: memoryview) -> int:
        if self.done is not None:
            return self._read(self.done, memory)
        return sum(rule.holds(memory) << place for place, rule in enumerate(self.rules))

    def _read(self, variable: Variable, memory: memoryview) -> int:
        return variable.bits(memory) if self.bits else variable.read(memory)

    def _count(self, number: int) -> int:
        return number if self.done is not None and not self.bits else number.bit_count()


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """When a mission is being played (checked as play begins), and when it is over; and how its objectives count."""

    completed: Rule
    died: Rule | None = None
    failed: Rule | None = None
    playing: Rule | None = None
    objectives: Objectives

    def endings(self) -> tuple[tuple[str, Rule], ...]:
        """(`completed` | `died` | `failed`, its rule), the earlier one counting where several turn true at one tick."""
        pairs = (("completed", self.completed), ("died", self.died), ("failed", self.failed))
        return tuple((word, rule) for word, rule in pairs if rule is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """A cart and what its numbers mean.

    `digest` is the SHA-256 of the module as it comes, `file_digest` that of `game.toml`. `module` is the path, inside
    `root`, of the cart: shipped there, or where the `[build]` commands leave it.
    """

    root: Path
    name: str
    module: str
    build: Build | None
    digest: str
    file_digest: str
    boot: Boot
    variables: Mapping[str, Variable]
    status: Status
    observed: tuple[Variable, ...]
    picture: bool
    actions: Mapping[str, ActionRule]
