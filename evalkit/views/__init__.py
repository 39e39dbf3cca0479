"""Why: one place where runs become something to look at, in JupyterLab, in a saved report and on paper.

`charts`, `profiles`, `growth` and `boards` draw, `tables` lists, `prose` says it in words, `player` lets a run be
watched; `reviews` is of reviewed cases, and `seasons` has the same of a season. All take records and plain rows, read
no store and start no run. Importing `charts` registers the theme and the renderer; `tables.interactive()` in a
notebook's first cell makes long tables searchable.
"""

from __future__ import annotations

from evalkit import _startup  # noqa: F401  # before altair: saves 3 s
from evalkit.views import charts, frames, growth, player, prose, tables, theme

__all__ = ["charts", "frames", "growth", "player", "prose", "tables", "theme"]
