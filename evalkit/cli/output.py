"""Why: what a verb prints is made here, so that no name can drive a terminal and `--json` prints one document only."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, TextIO

from evalkit.reading import printable

__all__ = ["answer_apart", "emit", "figure", "line", "note", "table"]


_answer: TextIO | None = None  # where the document goes while standard output is somebody else's


@contextmanager
def answer_apart() -> Iterator[None]:
    """Within the block what anyone but `emit` prints, agents and processes included, goes to standard error.

    An agent may also close or replace `sys.stdout` and `sys.stderr`: the kit's own are back behind the block.
    """
    global _answer
    kept = sys.stdout, sys.stderr
    with ExitStack() as leaving:
        leaving.callback(_put_back, kept)
        sys.stdout.flush()
        if _number(sys.stdout) == 1:
            own = os.dup(1)
            leaving.callback(os.close, own)
            leaving.callback(os.dup2, own, 1)
            os.dup2(2 if _number(sys.stderr) == 2 else os.open(os.devnull, os.O_WRONLY), 1)
            _answer = leaving.enter_context(open(own, "w", closefd=False, errors=sys.stdout.errors))
            sys.stdout = _second(1)
            sys.stderr = _second(2) if _number(sys.stderr) == 2 else sys.stderr
        else:  # caught by a test or shown in a notebook
            _answer, sys.stdout = sys.stdout, sys.stderr
        yield


def _number(stream: TextIO | None) -> int | None:
    try:
        return None if stream is None else stream.fileno()
    except (OSError, ValueError):
        return None


def _second(number: int) -> TextIO:
    return open(number, "w", buffering=1, closefd=False, errors="backslashreplace")


def _put_back(streams: tuple[TextIO, TextIO]) -> None:
    global _answer
    _answer = None
    sys.stdout, sys.stderr = streams


def line(text: object, most: int = 400) -> str:
    """The text as one line that a terminal shows and does not obey."""
    return printable(text, most)


def figure(value: object, pattern: str = ",") -> str:
    """A number with thousands grouped (or by `pattern`), a dash for what does not exist."""
    return "-" if value is None else format(value, pattern) if isinstance(value, int | float) else line(value, 60)


def emit(arguments: Namespace, document: Any, text: str | Iterable[str]) -> None:
    """Print the document where `--json` asks for it, else the text, whose parts `line` has made harmless."""
    out = _answer or sys.stdout
    if arguments.json:
        json.dump(document, out, indent=2, ensure_ascii=True, allow_nan=False)
        print(file=out)
    else:
        for part in [text] if isinstance(text, str) else text:
            print(line(part, 100_000), file=out)  # once more, whole: whatever came in by an import obeys too


def note(text: object) -> None:
    """One line beside the answer, on standard error."""
    with suppress(ValueError, AttributeError):  # an agent has closed it, or put something else in its place
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
