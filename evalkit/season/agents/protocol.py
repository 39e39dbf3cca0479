"""Why: what passes between the kit and an agent, and nothing else does: no address, no page, no console."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from evalkit.errors import UsageError

__all__ = ["Action", "ActionSpec", "Agent", "Observation", "Spec", "Usage", "noop", "png"]

Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Action:
    """An action by name, held for one of the numbers of ticks that it allows."""

    name: str
    ticks: int


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """What there is to do: a name, the numbers of ticks allowed, the buttons held, and words where the game has any."""

    name: str
    ticks: tuple[int, ...]
    buttons: tuple[str, ...]
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What an agent is told before it plays. `decision_budget` is None where only ticks (60 a second) are limited.

    `may_spend(dollars so far)` is for an agent that pays for calls: it asks before each whether a dollar cap allows it.
    """

    level: str
    difficulty: str
    variables: tuple[str, ...]
    picture: bool
    actions: tuple[ActionSpec, ...]
    decision_budget: int | None
    tick_limit: int
    may_spend: Callable[[float | None], bool] = lambda dollars: True


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and dollars spent since `reset`; None where unknown."""

    tokens: int | None = None
    dollars: float | None = None


class Observation:
    """What an agent sees at one decision: the game file's `[observation]` variables, and the actions legal now."""

    __slots__ = ("_look", "legal", "variables")

    def __init__(
        self, variables: Mapping[str, int], legal: Mapping[str, tuple[int, ...]], look: Callable[[], Pixels] | None
    ) -> None:
        self.variables = variables
        self.legal = legal
        self._look = look

    def picture(self) -> Pixels:
        """The screen: 160 x 160 x 3, red, green and blue. Raises UsageError where the game file does not show it."""
        if self._look is None:
            raise UsageError("this game shows agents no picture: see [observation] in game.toml")
        return self._look()

    def png(self) -> bytes:
        """The screen as a PNG file."""
        return png(self.picture())


class Agent(Protocol):
    """Who plays. `usage() -> Usage` may be there too; so may `name`, `reference`, `cheats` and `deterministic`.

    An agent that pays for calls also has `unpriced` (why its calls have no price, or None), and may have `ready()`
    (UsageError where it could not play now), `close()` for the end of a run, and of the run since `reset`: `turns()`,
    plain JSON objects as in `evalkit.records.turns` that are kept beside the run (of another shape they are left out,
    with a reason in the run's provenance), and `provenance()`, one for its record.
    """

    def reset(self, spec: Spec, seed: int) -> None:
        """A run begins. All randomness is to come from `seed`, which differs for each job."""

    def decide(self, observation: Observation) -> Action:
        """Choose one of the legal actions and one of its numbers of ticks.

        Anything else that is returned is a choice too: the `noop` is played in its place, and the run's provenance
        counts it. What is raised is no choice: the agent's program failed, and the run is ungraded.
        """


def noop(legal: Mapping[str, tuple[int, ...]], buttons: Mapping[str, tuple[str, ...]]) -> Action:
    """What is played in place of no legal choice: the first legal action that holds no button, else the first legal
    one, for its fewest ticks."""
    name = next((name for name in legal if not buttons[name]), next(iter(legal)))
    return Action(name, min(legal[name]))


def png(pixels: Pixels) -> bytes:
    """Pixels, red, green and blue, as a PNG file."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    head = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
