"""Why: the wing of the seasons: what a season is, how it is played and proven, and how it is scored and ranked.

`standings` is a public call; it is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalkit.season.ranking import standings

__all__ = ["standings"]

_MODULE_OF = {"standings": "ranking"}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'evalkit.season' has no attribute {name!r}")
    return getattr(import_module(f"evalkit.season.{_MODULE_OF[name]}"), name)
