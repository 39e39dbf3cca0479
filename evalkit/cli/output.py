"""Why: what a verb prints is made here, so that no name can drive a terminal and `--json` prints one document only."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from typing import Any

from evalkit.reading import printable

__all__ = ["emit", "figure", "line", "note", "table"]


def line(text: object, most: int = 400) -> str:
    """The text as one line that a terminal shows and does not obey."""
    return printable(text, most)


def figure(value: object, pattern: str = ",") -> str:
    """A number with thousands grouped (or by `pattern`), a dash for what does not exist."""
    return "-" if value is None else format(value, pattern) if isinstance(value, int | float) else line(value, 60)


def emit(arguments: Namespace, document: Any, text: str | Iterable[str]) -> None:
    """Print the document where `--json` asks for it, else the text, whose parts `line` has made harmless."""
    if arguments.json:
        json.dump(document, sys.stdout, indent=2, ensure_ascii=True, allow_nan=False)
        print()
    else:
        for part in [text] if isinstance(text, str) else text:
            print(line(part, 100_000))  # once more, whole: whatever came in by an import obeys too


def note(text: object) -> None:
    """One line beside the answer, on standard error."""
    print(f"evalkit: {line(text, 2000)}", file=sys.stderr)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Aligned columns: a column whose cells are all figures is set right."""
    if not rows:
        return ["(none)"]
    rows = [[line(cell, 200) for cell in row] for row in rows]
    columns = list(zip(head, *rows, strict=True))
    right = [all(cell[:1] in "-0123456789x" for cell in column[1:]) for column in columns]
    width = [max(map(len, column)) for column in columns]
    return [
        "  ".join(cell.rjust(width[i]) if right[i] else cell.ljust(width[i]) for i, cell in enumerate(row)).rstrip()
        for row in (head, *rows)
    ]
