"""Why: a case can be ranked by other ceilings than its own, from recorded fuel alone, and never by a guess.

A right answer's fuel is known, so any ceiling can be held against it. A run that was stopped at its runway limit has no
fuel: under a ceiling above that limit it needs a rerun, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from evalkit.errors import UsageError
from evalkit.performance.rank import fold_model
from evalkit.records import PerformanceRun

__all__ = ["RERUN", "SCORES", "STATES", "Facts", "Places", "Ranked", "Setting", "fold", "ranked"]

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

RERUN = "needs a rerun"
STATES = ("pass", RERUN, "over_ceiling", "incorrect", "ungraded")
"""What a run may be under a setting; a model is what the first of these is that one of its runs is."""

SCORES = ("sum", "ratios")
_RUN = ("run_id", "case", "version", "variant", "fuel_schedule", "model", "outcome", "voided", "recorded_at")
_INPUT = ("name", "kind", "outcome", "reason", "fuel", "runway_limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What differs from the case. `ceilings` maps a stress input to fuel; the others keep the recorded one.

    `score` "sum" is total fuel; "ratios" is the geometric mean, over the inputs, of fuel to the least fuel that any
    passing run burned there: at least 1, and every input counts alike (Fleming and Wallace 1986, "How not to lie with
    statistics", on why ratios want the geometric mean). Lower is better in both.
    """

    ceilings: Mapping[str, int] = field(default_factory=dict)
    without_inputs: tuple[str, ...] = ()
    score: Literal["sum", "ratios"] = "sum"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A cohort's runs as arrays: a value a run, or runs x stress inputs. Made by `fold`.

    `fuel` is NaN where there is no reading. `right` is a right answer, `stopped` a spent runway, `shut` a run whose
    smoke inputs were not all right, `ungraded` one whose machine failed.
    """

    models: tuple[str, ...]
    inputs: tuple[str, ...]
    run_ids: tuple[str, ...]
    model: Places
    fuel: Floats
    ceiling: Floats
    runway_limit: Floats
    right: npt.NDArray[np.bool_]
    stopped: npt.NDArray[np.bool_]
    shut: npt.NDArray[np.bool_]
    ungraded: npt.NDArray[np.bool_]


def fold(
    runs: Iterable[PerformanceRun] | pd.DataFrame,
    inputs: pd.DataFrame | None = None,
    aliases: Mapping[str, str] | None = None,
) -> Facts:
    """Fold one cohort's runs, voided ones left out: records, or the store's `runs_frame` with its `inputs_frame`.

    Raises UsageError where the runs are of more than one cohort.
    """
    if not isinstance(runs, pd.DataFrame):
        runs, inputs = _frames(runs)
    assert inputs is not None, "a table of runs comes with the table of their inputs"
    runs = runs[runs["voided"].isna()].sort_values(["recorded_at", "run_id"], na_position="last")
    if len(runs[["case", "version", "variant", "fuel_schedule"]].drop_duplicates()) > 1:
        raise UsageError("these runs are of more than one cohort, and such runs never compare: choose one")
    folded = {name: fold_model(name, aliases) for name in runs["model"].unique()}
    models, place = np.unique(runs["model"].map(folded).to_numpy(dtype=object).astype(str), return_inverse=True)
    index = pd.Index(runs["run_id"])
    rows = inputs.assign(run=index.get_indexer(pd.Index(inputs["run_id"])))
    rows = rows[rows["run"] >= 0]
    smoke, stress = rows[rows["kind"] == "smoke"], rows[rows["kind"] == "stress"]
    names = list(dict.fromkeys(stress["name"]))
    at = (stress["run"].to_numpy(), pd.Index(names).get_indexer(pd.Index(stress["name"])))
    shape = (len(runs), len(names))

    def grid(values: Any, default: Any) -> Any:
        filled = np.full(shape, default)
        filled[at] = values
        return filled

    shut = np.zeros(len(runs), dtype=bool)
    shut[smoke.loc[smoke["outcome"] != "pass", "run"].to_numpy(dtype=np.intp)] = True
    return Facts(
        models=tuple(str(name) for name in models),
        inputs=tuple(str(name) for name in names),
        run_ids=tuple(str(run_id) for run_id in runs["run_id"]),
        model=place.astype(np.intp),
        fuel=grid(_numbers(stress["fuel"]), np.nan),
        ceiling=grid(_numbers(stress["fuel_limit"]), np.nan),
        runway_limit=grid(_numbers(stress["runway_limit"]), np.nan),
        right=grid(stress["outcome"].isin(["pass", "over_ceiling"]).to_numpy(dtype=bool), False),
        stopped=grid((stress["reason"] == "exhausted").fillna(False).to_numpy(dtype=bool), False),
        shut=shut,
        ungraded=(runs["outcome"] == "ungraded").to_numpy(dtype=bool),
    )


def _numbers(column: pd.Series[Any]) -> Floats:
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _frames(runs: Iterable[PerformanceRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    runs = list(runs)
    table = pd.DataFrame([[getattr(run, name) for name in _RUN] for run in runs], columns=list(_RUN))
    rows = [
        [run.run_id, run.fuel_limit, *(getattr(row, name) for name in _INPUT)] for run in runs for row in run.inputs
    ]
    frame = pd.DataFrame(rows, columns=["run_id", "fuel_limit", *_INPUT])
    return table, frame.astype({"fuel": "Float64", "reason": "string", "runway_limit": "Float64"})


@dataclass(frozen=True, slots=True)
class Ranked:
    """A cohort under one setting: what each run is, and each model at its best.

    `runs` and `state` are places in STATES, of each run and each model. `best` is a run or -1, `score` and `rank` NaN
    where a model has none. `kept` says which inputs count; `over` (over the new `ceiling`) and `parts` (what a passing
    run's score is made of: fuel, or the logarithm of a ratio) are runs x inputs.
    """

    runs: Places
    kept: npt.NDArray[np.bool_]
    over: npt.NDArray[np.bool_]
    best: Places
    state: Places
    score: Floats
    rank: Floats
    parts: Floats
    ceiling: Floats


def ranked(facts: Facts, setting: Setting) -> Ranked:
    """Rank under a setting; a few milliseconds for 10,000 runs. Raises UsageError as `what_if` does."""
    for name in (*setting.ceilings, *setting.without_inputs):
        if name not in facts.inputs:
            raise UsageError(f"no run has a stress input {name!r}: there are {', '.join(facts.inputs) or 'none'}")
    if min(setting.ceilings.values(), default=1) < 1:
        raise UsageError("a ceiling is a fuel of at least 1")
    kept = np.array([name not in setting.without_inputs for name in facts.inputs], dtype=bool)
    if facts.inputs and not kept.any():
        raise UsageError("nothing is left to score: keep at least one stress input")
    ceiling = facts.ceiling.copy()
    for place, name in enumerate(facts.inputs):
        ceiling[:, place] = setting.ceilings.get(name, ceiling[:, place])
    over = facts.right & (facts.fuel > ceiling) & kept
    again = facts.stopped & (ceiling > facts.runway_limit) & kept
    wrong = ~facts.right & ~again & kept
    state = np.select(
        [facts.ungraded, facts.shut | wrong.any(axis=1), again.any(axis=1), over.any(axis=1)], [4, 3, 1, 2], 0
    ).astype(np.intp)
    passed = np.flatnonzero(state == 0)
    parts = facts.fuel[passed][:, kept]
    if setting.score == "ratios":
        parts = np.log(parts / parts.min(axis=0)) if len(passed) else parts
        scores = np.exp(parts.mean(axis=1)) if len(passed) else np.zeros(0)
    else:
        scores = parts.sum(axis=1)
    count = len(facts.models)
    first = np.lexsort((passed, np.round(scores, 9), facts.model[passed]))  # of a tie, the run recorded earlier
    leads = np.unique(facts.model[passed][first], return_index=True)
    best, score = np.full(count, -1, dtype=np.intp), np.full(count, np.nan)
    best[leads[0]], score[leads[0]] = passed[first][leads[1]], scores[first][leads[1]]
    whole = np.full((len(state), len(facts.inputs)), np.nan)
    whole[np.ix_(passed, kept)] = parts
    models = np.full(count, len(STATES) - 1, dtype=np.intp)
    np.minimum.at(models, facts.model, state)
    rounded = np.round(score, 9)
    rank = 1.0 + np.searchsorted(np.sort(rounded[best >= 0]), rounded)
    return Ranked(state, kept, over, best, models, score, np.where(best >= 0, rank, np.nan), whole, ceiling)
