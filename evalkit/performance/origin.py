"""Why: `solution.toml` says who wrote a solution and where it came from; a number without that is nobody's."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from evalkit.errors import AuthoringError
from evalkit.reading import Faults, Kind, Unfit, describe, read_toml

__all__ = ["Origin", "load_origin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The model that wrote a solution, and the rest of what `solution.toml` says, None where it says nothing."""

    model: str
    provider: str | None = None
    date: str | None = None
    prompt_digest: str | None = None
    toolchain: str | None = None
    notes: str | None = None

    def provenance(self) -> dict[str, Any]:
        """What is recorded beside the run: every field that was given, except the model, which is part of its key."""
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "model"}
        return {name: value for name, value in given.items() if value is not None}


def _words(value: Any) -> str:
    # Any characters at all: a name is shown escaped wherever it is shown, so none of them can do harm.
    if not isinstance(value, str):
        raise Unfit(f"must be a string in quotes, not {describe(value)}")
    if "\0" in value:
        raise Unfit("holds a NUL character: remove it")
    if not value.strip():
        raise Unfit("is blank: write something, or remove the key")
    return value.strip()


def _day(value: Any) -> str:
    try:
        day = datetime.date.fromisoformat(value) if isinstance(value, str) else value
        return day.isoformat()[:10]
    except (AttributeError, ValueError):
        raise Unfit(f"must be a date such as 2026-01-31, not {describe(value)}") from None


_WORDS: Kind[str] = Kind(_words, "", '"some-model-1"')
_DAY: Kind[str] = Kind(_day, "", "2026-01-31")


def load_origin(folder: Path) -> Origin:
    """Read `folder/solution.toml`. Raises AuthoringError with every fault of it, a missing file included."""
    if not folder.is_dir():
        raise AuthoringError(f"{folder}: is no folder: name the solution's own, which holds its solution.toml")
    faults = Faults()
    values: dict[str, Any] = {}
    if table := read_toml(folder / "solution.toml", f"{folder.name}/solution.toml", faults):
        values["model"] = table.take("model", _WORDS)
        values["date"] = table.take("date", _DAY, None)
        for key in ("provider", "prompt_digest", "toolchain", "notes"):
            values[key] = table.take(key, _WORDS, None)
        table.finish()
    faults.raise_errors()
    return Origin(**values)
