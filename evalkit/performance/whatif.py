"""Why: "what if the ceiling were another one?" is answered beside the official ranking, with a reason for who moved.

What a setting is and how it ranks is in `settings`; here are the table of both rankings and the code that makes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from evalkit.performance.settings import RERUN, SCORES, STATES, Facts, Places, Ranked, Setting, fold, ranked
from evalkit.records import PerformanceRun

__all__ = ["RERUN", "SCORES", "Facts", "Ranked", "Setting", "code", "fold", "ranked", "what_if"]


def what_if(
    runs: Iterable[PerformanceRun] | Facts,
    setting: Setting,
    aliases: Mapping[str, str] | None = None,
    *,
    reasons: int | None = None,
) -> pd.DataFrame:
    """Rank the models of one cohort by a setting beside their official rank: one row a model, best first.

    Columns: `rank, model, outcome, score, official_rank, official_outcome, official_score, moved` (places up), `why` (a
    sentence where rank or outcome changed, else ""), `run_id, official_run_id` (the best passing runs). `outcome` is
    the best of the model's runs: pass, needs a rerun, over_ceiling, incorrect, ungraded. The official columns are those
    of `leaderboard`. With `reasons` only the first so many rows that changed say why, and the others "…", which is
    faster. Raises UsageError for an input that no run has, and where none is left.
    """
    facts = runs if isinstance(runs, Facts) else fold(runs, aliases=aliases)
    now, was = ranked(facts, setting), ranked(facts, Setting())
    order = np.lexsort((now.best, now.state, np.nan_to_num(np.round(now.score, 9), nan=np.inf)))
    rank, official = (pd.Series(ranks, dtype="Int64") for ranks in (now.rank, was.rank))

    def texts(values: Iterable[str | None]) -> pd.Series[str]:
        return pd.Series(list(values), dtype="string")

    frame = pd.DataFrame(
        {
            "rank": rank,
            "model": texts(facts.models),
            "outcome": texts(STATES[s] for s in now.state),
            "score": now.score,
            "official_rank": official,
            "official_outcome": texts(STATES[s] for s in was.state),
            "official_score": was.score,
            "moved": official - rank,
            "why": texts(_whys(facts, setting, now, was, order, reasons)),
            "run_id": texts(facts.run_ids[b] if b >= 0 else None for b in now.best),
            "official_run_id": texts(facts.run_ids[b] if b >= 0 else None for b in was.best),
        }
    )
    return frame.iloc[order].reset_index(drop=True)


def _whys(facts: Facts, setting: Setting, now: Ranked, was: Ranked, order: Places, reasons: int | None) -> list[str]:
    turned = now.state != was.state
    changed = turned | ~((now.rank == was.rank) | (np.isnan(now.rank) & np.isnan(was.rank)))
    newest = np.full(len(facts.models), -1, dtype=np.intp)  # of each model, a run in the model's own state
    own = now.runs == now.state[facts.model]
    newest[facts.model[own]] = np.flatnonzero(own)
    whys = ["…" if is_changed else "" for is_changed in changed]
    for model in map(int, order[changed[order]][:reasons]):
        run = now.best[model] if now.best[model] >= 0 else newest[model]
        is_turned = turned[model]
        whys[model] = (
            _turned(facts, now, was, int(run), model) if is_turned else _moved(facts, setting, now, was, model)
        )
    return whys


def _turned(facts: Facts, now: Ranked, was: Ranked, run: int, model: int) -> str:
    """Why a model's outcome is another one."""
    state = STATES[now.state[model]]
    if state == RERUN:
        place = int(np.argmax(facts.stopped[run] & now.kept & (now.ceiling[run] > facts.runway_limit[run])))
        limit, ceiling = facts.runway_limit[run, place], now.ceiling[run, place]
        return f"was stopped at {limit:,.0f} on {facts.inputs[place]}: a ceiling of {ceiling:,.0f} needs a rerun"
    if state == "over_ceiling":
        percent = np.where(now.over[run], 100 * (facts.fuel[run] - now.ceiling[run]) / now.ceiling[run], -np.inf)
        return f"over the ceiling on {facts.inputs[int(np.argmax(percent))]} by {percent.max():,.1f} %"
    dropped = ~now.kept & (was.over[run] | ~facts.right[run])
    if dropped.any():
        return f"without {_listed(facts, dropped)}, where it did not pass"
    return f"within the ceiling now on {_listed(facts, was.over[run])}" if state == "pass" else f"{state} now"


def _listed(facts: Facts, chosen: npt.NDArray[np.bool_]) -> str:
    return ", ".join(name for name, is_one in zip(facts.inputs, chosen, strict=True) if is_one) or "every input"


def _moved(facts: Facts, setting: Setting, now: Ranked, was: Ranked, model: int) -> str:
    """Why a model that passes either way has another rank."""
    if now.best[model] != was.best[model] and now.runs[was.best[model]] != 0:
        over = _listed(facts, now.over[was.best[model]])
        return f"its best run is over the ceiling on {over}; the next best stands in"
    up = bool(now.rank[model] < was.rank[model])
    turned = np.sign(now.rank - now.rank[model]) - np.sign(was.rank - was.rank[model])
    crossed = np.flatnonzero(turned > 0 if up else turned < 0)
    if not len(crossed):
        other = int(np.argmax((now.rank < now.rank[model]) != (was.rank < was.rank[model])))
        verb = "takes a rank now" if np.isnan(was.rank[other]) else "has no rank any more"
        return f"{facts.models[other]} above it {verb}"
    rival = int(crossed[np.argmin((was if up else now).rank[crossed])])
    mine, other = int(now.best[model]), int(now.best[rival])
    said = f"{'passes' if up else 'falls behind'} {facts.models[rival]}"
    gaps = (1 if up else -1) * (facts.fuel[other] - facts.fuel[mine])
    if setting.score == "ratios":
        place = int(np.nanargmax((1 if up else -1) * (now.parts[other] - now.parts[mine])))
        ratios = np.exp([now.parts[mine, place], now.parts[other, place]])
        return f"{said}: {facts.inputs[place]} counts most, {ratios[0]:,.2f}× its least against {ratios[1]:,.2f}×"
    if (~now.kept).any() and now.best[rival] == was.best[rival]:
        place = int(np.argmax(np.where(~now.kept, -gaps, -np.inf)))
        word = "more" if up else "less"
        return f"{said}: without {facts.inputs[place]}, where it burned {-gaps[place]:,.0f} {word}"
    return f"{said}, whose best run is another one now"


def code(
    setting: Setting, *, cohort: tuple[str, str, str, str] | None = None, source: str | None = None,
    aliases: bool = False,
) -> str:  # fmt: skip
    """Python that gives the same DataFrame as `frame`. `source` is Python that gives the store to read.

    What no name opens, it says in a comment: without `source` the name `runs` must be there when it runs, and where
    `source` is "store", that name. Of the runs, those of `cohort` are taken, by the project's `aliases` or by none.
    """
    lines = ["from evalkit.performance.whatif import Setting, what_if", ""]
    if aliases or source not in (None, "store"):
        lines[:0] = ["import evalkit"]
    if source is None:
        lines.append("# runs: the runs that you gave")
    else:
        lines += ["# store: the Store that you gave, which no name opens again"] if source == "store" else []
        which = "" if cohort is None else ", case={!r}, version={!r}, variant={!r}".format(*cohort[:3])
        lines.append(f"runs = {source}.runs(kind='performance'{which})")
    if cohort is not None:
        lines.append(f"cohort = {cohort!r}")
        lines.append("runs = [run for run in runs if getattr(run, 'cohort', None) == cohort]")
    plain: dict[str, Any] = {"ceilings": dict(setting.ceilings), "without_inputs": tuple(setting.without_inputs)}
    given = [f"{name}={value!r}" for name, value in plain.items() if value]
    given += [f"score={setting.score!r}"] if setting.score != "sum" else []
    told = ", evalkit.project_aliases()" if aliases else ""
    lines += ["", f"setting = Setting({', '.join(given)})", f"frame = what_if(runs, setting{told})"]
    return "\n".join(lines) + "\n"
