"""Why: the dozen names that a notebook needs, imported when first used, so that `import evalkit` is instant."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalkit.finding import find_case
    from evalkit.jobs import find_solutions, sweep_case, sweep_season
    from evalkit.performance.grading import grade
    from evalkit.performance.manifest import check_case, load_case, open_case
    from evalkit.performance.playback import watch
    from evalkit.performance.rank import cohorts, leaderboard, place, project_aliases, review_leaderboard, worklist
    from evalkit.performance.scaling import read_scaling
    from evalkit.records import Outcome, PerformanceRun, ReviewedRun, SeasonRun, Verdict
    from evalkit.season import (
        check_season,
        load_season,
        open_season,
        play,
        scored,
        standings,
        verify,
        watch_replay,
    )  # fmt: skip
    from evalkit.store import Store, open_results
    from evalkit.views.console import console
    from evalkit.views.whatif import whatif

__version__ = "0.1.0"

_HOME = {
    "evalkit.jobs": ("find_solutions", "sweep_case", "sweep_season"),
    "evalkit.finding": ("find_case",),
    "evalkit.performance.grading": ("grade",),
    "evalkit.performance.manifest": ("check_case", "load_case", "open_case"),
    "evalkit.performance.playback": ("watch",),
    "evalkit.performance.rank": (
        "cohorts", "leaderboard", "place", "project_aliases", "review_leaderboard", "worklist",
    ),
    "evalkit.performance.scaling": ("read_scaling",),
    "evalkit.records": ("Outcome", "PerformanceRun", "ReviewedRun", "SeasonRun", "Verdict"),
    "evalkit.season": (
        "check_season", "load_season", "open_season", "play", "scored", "standings", "verify", "watch_replay",
    ),
    "evalkit.store": ("Store", "open_results"),
    "evalkit.views.console": ("console",),
    "evalkit.views.whatif": ("whatif",),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Outcome",
    "PerformanceRun",
    "ReviewedRun",
    "SeasonRun",
    "Store",
    "Verdict",
    "check_case",
    "check_season",
    "cohorts",
    "console",
    "find_case",
    "find_solutions",
    "grade",
    "leaderboard",
    "load_case",
    "load_season",
    "open_case",
    "open_results",
    "open_season",
    "place",
    "play",
    "project_aliases",
    "read_scaling",
    "review_leaderboard",
    "scored",
    "standings",
    "sweep_case",
    "sweep_season",
    "verify",
    "watch",
    "watch_replay",
    "whatif",
    "worklist",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'evalkit' has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
