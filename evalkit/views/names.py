"""Why: names come from whoever wrote a solution, so no name may change what a page does or how a table lines up."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from html import escape

__all__ = ["html", "labels", "plain", "short"]

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_UNSEEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
"""Unicode categories that draw nothing or reorder what stands beside them: controls, bidi marks, line separators."""


def plain(text: str) -> str:
    """Return text on one line in which every control, bidi or unpaired character shows as a replacement mark.

    White space of any kind becomes one space; an empty result becomes `(no name)`.

    >>> plain("line one\\nline two")
    'line one line two'
    """
    spaced = " ".join(text.split())
    seen = "".join(_REPLACEMENT if unicodedata.category(c) in _UNSEEN else c for c in spaced)
    return seen or "(no name)"


def short(text: str, limit: int = 36) -> str:
    """Return `plain(text)` in at most `limit` characters; the middle goes, because names differ at both ends."""
    text = plain(text)
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 3
    return f"{text[: limit - 1 - tail].rstrip()}…{text[len(text) - tail :].lstrip()}"


def labels(names: Iterable[str], limit: int = 36) -> dict[str, str]:
    """Map each name to a label of at most `limit` characters, no two alike, in the order given.

    Names that read the same once shortened get ` (2)`, ` (3)` … so that no two rows of a chart fall into one.
    """
    result: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(names):
        label, count = short(name, limit), 1
        while label in taken:
            count += 1
            mark = f" ({count})"
            label = short(name, limit - len(mark)) + mark
        taken.add(label)
        result[name] = label
    return result


def html(text: str) -> str:
    """Return `plain(text)` escaped for HTML text and for quoted attributes."""
    return escape(plain(text), quote=True)
