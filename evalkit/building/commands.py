"""Why: what a `[build]` table says, read in one way wherever it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evalkit.reading import TEXT, Kind, Unfit, describe, list_of

__all__ = ["COMMAND", "Build", "Command"]

Command = str | tuple[str, ...]
"""A string is run by `sh -c`, a tuple as it stands; both in the source's folder."""


@dataclass(frozen=True, slots=True)
class Build:
    """How source becomes a module; `module` is the path of the result in the source's folder."""

    install: Command | None
    build: Command
    module: str


def _command(value: Any) -> Command:
    if isinstance(value, list):
        return list_of(TEXT, least=1).read(value)
    if not isinstance(value, str):
        raise Unfit(f"must be a command in quotes or a list of its words, not {describe(value)}")
    return TEXT.read(value)


COMMAND: Kind[Command] = Kind(_command, "", '"make"')
