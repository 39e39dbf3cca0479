"""Why: the wing of the seasons: what a season is, how it is played and proven, and how it is scored and ranked.

`play`, `verify`, `watch_replay`, `scored` and `standings` are the public calls, with the readers of a season; each is
imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalkit.season.manifest import check_season, load_season, open_season
    from evalkit.season.playing import play
    from evalkit.season.ranking import scored, standings
    from evalkit.season.verifying import verify
    from evalkit.season.watching import watch_replay

__all__ = ["check_season", "load_season", "open_season", "play", "scored", "standings", "verify", "watch_replay"]

_MODULE_OF = {
    **dict.fromkeys(("check_season", "load_season", "open_season"), "manifest"),
    "play": "playing",
    "scored": "ranking",
    "standings": "ranking",
    "verify": "verifying",
    "watch_replay": "watching",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'evalkit.season' has no attribute {name!r}")
    return getattr(import_module(f"evalkit.season.{_MODULE_OF[name]}"), name)
