"""Why: the wing of the cases: what a case is, how its solutions are built and graded, and where they stand.

`grade`, `leaderboard` and `place` are the public calls; each is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalkit.performance.grading import grade
    from evalkit.performance.manifest import load_case
    from evalkit.performance.rank import leaderboard, place

__all__ = ["grade", "leaderboard", "load_case", "place"]

_MODULE_OF = {"grade": "grading", "load_case": "manifest", "leaderboard": "rank", "place": "rank"}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'evalkit.performance' has no attribute {name!r}")
    return getattr(import_module(f"evalkit.performance.{_MODULE_OF[name]}"), name)
