"""Why: a season to look at: `charts` draws, `tables` lists, `prose` says it, `strip` and `player` show a run at play.

`rows` makes what they draw from a standing and from scored runs, and chooses the run to show. Like all views these take
what they are given, read no store and start no run; a reference run is never shown at play.
"""

from __future__ import annotations

from evalkit import _startup  # noqa: F401  # before altair: saves 3 s
from evalkit.views.seasons import charts, player, prose, rows, strip, tables

__all__ = ["charts", "player", "prose", "rows", "strip", "tables"]
