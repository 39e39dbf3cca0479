"""Why: all that a notebook needs is one import away, and each name is imported when first used, so that it is instant.

Explore:
    open_results        the runs there are: a store, the local one, or the committed sample
    console             choose a case or a season, a run of it, and see all of it (Jupyter)
    whatif              change the constants of a score and see who moves (Jupyter)
    compare             two models or two agents side by side
    Store               runs in a database: `runs`, `runs_frame`, `season_frame`, `inputs_frame`, `void`, `export`, …

Performance and reviewed cases:
    open_case           a case by path or slug[@version]; `load_case` by its path, `find_case` its folder alone
    check_case          everything that is wrong with one
    grade               build a solution, run it, return the record; nothing is stored
    find_solutions      the folders of a case's own solutions
    sweep_case          grade and store what is not stored yet
    leaderboard         models of one cohort by fuel; `cohorts` groups runs, `project_aliases` says who is whom
    place               where one run stands
    review_leaderboard  models of a reviewed case by their reviews; `worklist`: what waits for one
    watch               an input of a run, tick by tick
    read_scaling        how fuel grows, by a case's own measurements

Seasons:
    open_season         a season by path or slug[@version]; `load_season` by its path
    check_season        everything that is wrong with one
    play                an agent plays one level with one seed; nothing is stored
    sweep_season        play and store every cell that is not stored yet
    verify              replay a run, and say whether all that it claims holds
    watch_replay        the screens of a run, from its replay
    standings           agents by their mean score; `scored` is a row a run

Records: PerformanceRun (its inputs end in an Outcome), ReviewedRun, SeasonRun; a checker answers with a Verdict.
What goes wrong raises one of `evalkit.errors`, in one line.

>>> import evalkit
>>> store = evalkit.Store.open("sqlite://")     # in memory; open_results() opens yours, or else the sample
>>> store.import_("data/sample").refused
()
>>> runs = store.runs(case="lattice")
>>> best, second, *_ = evalkit.leaderboard(runs, evalkit.project_aliases())
>>> best.model, second.model, second.ratio_to_best > 20
('evalkit-timing-wheel', 'evalkit-transport', True)
>>> evalkit.place(runs, second.run_id).efficiency_percentile > 50
True
>>> table = store.season_frame(season="season-1")
>>> [(row.rank, row.agent, round(row.score, 1)) for row in evalkit.standings(table, "season-1")][:2]
[(None, 'route', 100.0), (1, 'ghost', 67.2)]
>>> evalkit.scored(table, "season-1").groupby("level")["score"].max().idxmin()      # pandas from here on
'facility'
"""

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
    from evalkit.views.compare import compare
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
    "evalkit.views.compare": ("compare",),
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
    "compare",
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
