"""Why: one small tree of errors, so that every fault a person meets is one line: what, where, and what to do.

::

    EvalkitError                 anything below; `evalkit` prints its text as one line and exits 2
    +-- AuthoringError           a case, season, checker or player is wrong: its author mends it (`.faults` lists all)
    +-- UsageError               a name, option or value from the person at the keyboard is wrong
    +-- StoreError               the run store cannot be read, written, or would lose something
    +-- MachineError             this machine or its tools failed: never the solution's or the agent's fault
    +-- ReplayError              a replay cannot be read as one (it is refused, not guessed at)

A solution that fails is no error: it is an `Outcome` in a record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["AuthoringError", "EvalkitError", "Fault", "MachineError", "ReplayError", "StoreError", "UsageError"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong in one file: `file: key: what, and the fix`."""

    file: str
    key: str
    what: str
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        place = f"{self.file}: {self.key}" if self.key else self.file
        return f"{place}: {self.what}"


class EvalkitError(Exception):
    """The root: its text is one line for a person, in a notebook too."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback, wherever the error was raised."""
        return [f"{type(self).__name__}: {self}"]


class AuthoringError(EvalkitError):
    """A case or season is wrong. `faults` holds every fault that was found, in file order."""

    def __init__(self, what: str | Sequence[Fault]) -> None:
        self.faults: tuple[Fault, ...] = () if isinstance(what, str) else tuple(what)
        super().__init__(what if isinstance(what, str) else "; ".join(map(str, self.faults)))


class UsageError(EvalkitError):
    """What was asked for does not exist or does not fit; the text says what would."""


class StoreError(EvalkitError):
    """The store could not do it, and nothing in it changed."""


class MachineError(EvalkitError):
    """The machine or a tool on it failed; the work can be tried again."""


class ReplayError(EvalkitError):
    """A file is not a replay that can be verified: malformed, too large, of another game or season."""
