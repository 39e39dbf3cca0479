"""Why: a DataFrame becomes a table's cells in one way, with a dash for what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from evalkit.views.formats import DASH
from evalkit.views.grid import Cell, Table

__all__ = ["as_html", "named", "number", "rows_of"]


_FIT = "<style>.widget-html-content:has(.evk-wrap){min-width:0}</style>"
"""A wide table scrolls within its widget and is not cut off."""


def as_html(*parts: Any) -> str:
    """Tables and notes as the HTML of a widget; it runs no scripts, so tables come without their search, and sort."""
    for part in parts:
        for table in (part, getattr(part, "above", None)):
            if isinstance(table, Table):
                table.in_widget = True
    return _FIT + "".join(part._repr_html_() for part in parts)


def rows_of(frame: pd.DataFrame) -> Iterator[Any]:
    """A frame's rows, each with its columns as attributes."""
    return iter(frame.itertuples(index=False))


def number(value: Any, form: str = ",.0f") -> Cell:
    """A number by a format, or a dash."""
    return Cell(DASH) if pd.isna(value) else Cell(format(value, form), float(value))


def named(text: Any, limit: int = 60) -> Cell:
    """A name, or nothing where it is missing."""
    return Cell("") if pd.isna(text) else Cell.name(str(text), limit)
