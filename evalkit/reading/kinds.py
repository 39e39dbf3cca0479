"""Why: what a value in a TOML file must be, said once per kind, with the words that tell a person how to mend it."""

from __future__ import annotations

import math
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Generic, TypeVar

__all__ = [
    "BOOLEAN",
    "LINE",
    "SLUG",
    "TEXT",
    "Kind",
    "Unfit",
    "at_most",
    "choice",
    "describe",
    "did_you_mean",
    "file_in",
    "folder_in",
    "integer",
    "list_of",
    "number",
    "path_in",
    "printable",
]

T = TypeVar("T")


def printable(text: object, most: int = 200) -> str:
    r"""Give text as one line of at most `most` characters: whatever a terminal would act on is shown as `\x1b`."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text)[: most + 1])
    return line if len(line) <= most else line[: most - 1] + "…"


def did_you_mean(word: str, options: Iterable[str], cutoff: float = 0.6) -> str:
    """Give `; did you mean "x"?` for the closest option, or an empty string where none is as close as `cutoff`."""
    close = get_close_matches(word, list(options), n=1, cutoff=cutoff)
    return f'; did you mean "{printable(close[0])}"?' if close else ""


class Unfit(Exception):
    """A value is not what its kind asks for; the text says what is, and how to mend it."""


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """What a value must be. `read` gives the typed value or raises Unfit; `blank` stands in where there is none.

    `example` is a right value as TOML, for the message about a missing key.
    """

    read: Callable[[Any], T]
    blank: T
    example: str


def describe(value: Any) -> str:
    """Name a TOML value for a message: its kind, and itself where that is short."""
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, (int, float)):
        return f"the {'integer' if isinstance(value, int) else 'number'} {_figure(value)}"
    if isinstance(value, str):
        return f'the string "{printable(value, 40)}"'
    return "a table" if isinstance(value, dict) else "a list" if isinstance(value, list) else "a date or time"


def _figure(value: float) -> str:
    # str() of an integer beyond 4300 digits raises, and TOML may hold one in hexadecimal.
    return str(value) if not isinstance(value, int) or value.bit_length() < 200 else "of more than 60 digits"


def _string(value: Any, allowed: str) -> str:
    if not isinstance(value, str):
        raise Unfit(f"must be a string in quotes, not {describe(value)}")
    if not value.strip():
        raise Unfit("is empty: write something, or remove the key")
    bad = next((c for c in value if c not in allowed and _is_hostile(c)), None)
    if bad is not None:
        raise Unfit(f"holds the control character {bad.encode('unicode_escape').decode()}: remove it")
    return value


def _is_hostile(c: str) -> bool:
    # Control characters, line separators and halves of surrogate pairs drive a terminal or break a line; the marks
    # that turn the direction of writing make a line read as something else. Other invisible ones are honest prose.
    return (
        unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")
        or c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    )


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Unfit(f"must be true or false, not {describe(value)}")
    return value


def _slug(value: Any) -> str:
    slug = _string(value, "")
    if not re.fullmatch(r"[a-z0-9]+([-_.][a-z0-9]+)*", slug):
        raise Unfit(f'"{slug}" is no slug: use lower-case letters and digits, joined by single hyphens')
    return slug


TEXT: Kind[str] = Kind(lambda value: _string(value, "\n\r\t"), "", '"…"')
"""A string, of several lines if need be."""
LINE: Kind[str] = Kind(lambda value: _string(value, ""), "", '"…"')
"""A string of one line, fit for a table's cell or a terminal."""
SLUG: Kind[str] = Kind(_slug, "", '"a-slug"')


def at_most(characters: int, kind: Kind[str]) -> Kind[str]:
    """A string as `kind` has it, of so many characters at most."""

    def read(value: Any) -> str:
        text = kind.read(value)
        if len(text) > characters:
            raise Unfit(f"is {len(text):,} characters long: use at most {characters}")
        return text

    return Kind(read, kind.blank, kind.example)


BOOLEAN: Kind[bool] = Kind(_boolean, False, "false")


def integer(least: int, most: int = 2**63 - 1) -> Kind[int]:
    """An integer from `least` to `most`; true and false are not integers."""

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise Unfit(f"must be an integer, not {describe(value)}")
        if not least <= value <= most:
            raise Unfit(f"must be from {least} to {most}, not {_figure(value)}")
        return value

    return Kind(read, least, str(least))


def number(least: float = -math.inf, *, above: float = -math.inf, most: float = math.inf) -> Kind[float]:
    """A finite number, at least `least`, greater than `above` and at most `most`; an integer will do."""

    def read(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Unfit(f"must be a number, not {describe(value)}")
        if (isinstance(value, int) and value.bit_length() > 1000) or not math.isfinite(value):
            raise Unfit(f"must be a finite number, not {_figure(value)}")
        if value < least or value <= above:
            raise Unfit(f"must be {f'at least {least:g}' if value < least else f'more than {above:g}'}, not {value:g}")
        if value > most:
            raise Unfit(f"must be at most {most:,.0f}, not {value:g}")
        return float(value)

    blank = max(least, above + 1, 0.0)
    return Kind(read, blank, f"{blank:g}")


def choice(*words: str) -> Kind[Any]:
    """One of a few words; typed Any, so that the caller can name a Literal."""

    def read(value: Any) -> str:
        word = _string(value, "")
        if word not in words:
            known = ", ".join(f'"{known}"' for known in words)
            raise Unfit(f'must be one of {known}, not "{word}"{did_you_mean(word, words)}')
        return word

    return Kind(read, words[0], f'"{words[0]}"')


def list_of(kind: Kind[T], *, least: int = 0) -> Kind[tuple[T, ...]]:
    """A list of at least `least` values of one kind; the message names each that does not fit."""

    def read(value: Any) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise Unfit(f"must be a list such as [{kind.example}], not {describe(value)}")
        if len(value) < least:
            raise Unfit(f"must hold at least {least}, not {len(value)}")
        rows, wrong = [], []
        for place, row in enumerate(value, 1):
            try:
                rows.append(kind.read(row))
            except Unfit as unfit:
                wrong.append(f"number {place}: {unfit}")
        if wrong:
            raise Unfit("; ".join(wrong))
        return tuple(rows)

    return Kind(read, (), f"[{kind.example}]")


def path_in(root: Path) -> Kind[str]:
    """A relative path with forward slashes that stays inside `root`, also through links; nothing need be there."""

    def read(value: Any) -> str:
        text = _string(value, "")
        parts = text.split("/")
        if text.startswith(("/", "~")) or ".." in parts or "\\" in text or re.match(r"[A-Za-z]:", text):
            raise Unfit(f'"{text}" must stay inside the folder: write it relative, with forward slashes and no ".."')
        try:
            outside = not (root / text).resolve().is_relative_to(root.resolve())
        except (OSError, RuntimeError, ValueError):  # a link that goes round in circles, a name too long to exist
            raise Unfit(f'"{text}" cannot be followed: check its links and its length') from None
        if outside:
            raise Unfit(f'"{text}" is a link that leads outside the folder: copy the file in')
        return "/".join(part for part in parts if part not in ("", "."))

    return Kind(read, "", '"a/path"')


def file_in(root: Path) -> Kind[Path]:
    """A file that is there and can be read, by its path inside `root`; gives `root / path`."""
    return _found_in(root, "file", stat.S_ISREG)


def folder_in(root: Path) -> Kind[Path]:
    """A folder that is there, by its path inside `root`; gives `root / path`."""
    return _found_in(root, "folder", stat.S_ISDIR)


def _found_in(root: Path, noun: str, fits: Callable[[int], bool]) -> Kind[Path]:
    inside = path_in(root)

    def read(value: Any) -> Path:
        path = root / inside.read(value)
        try:
            if not fits(path.stat().st_mode):
                raise Unfit(f'"{value}" is not a {noun}')
        except OSError as error:
            why = "" if isinstance(error, FileNotFoundError) else f" ({error.strerror})"
            raise Unfit(f'no {noun} "{value}" here: add it, or mend the path{why}') from None
        if not os.access(path, os.R_OK):
            raise Unfit(f'"{value}" may not be read: mend its permissions')
        return path

    return Kind(read, root, '"a/path"')
