"""Why: the rules of a season are a dozen lines, so that a reader can check them and what-if can change them.

Scores are computed from the recorded facts, here, whenever they are shown; none is ever read back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from typing import Any, overload

import numpy as np
import numpy.typing as npt

__all__ = ["OFFICIAL", "OFFICIAL_BUDGET", "BudgetRule", "Rules", "decision_budget", "run_score", "score_parts"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Every constant of the run score; the defaults are the official ones.

    `objectives` and `completion` are the most that each part earns, `death` is what dying costs, and `exponent` is the
    power to which anchor / T is taken (a half: a square root).

    A new one is a field here, with a default that changes no score, its term in `run_score` and its place in
    `score_parts`. Who else knows the constants by name: `_rules` of `season.manifest` reads them from `[scoring]`,
    `season.wording` says them in words, `season.limits` how far each can go before a rank changes, and
    `views.whatif_season` and `views.boards` put a control to each.
    """

    objectives: float = 60.0
    completion: float = 40.0
    death: float = 10.0
    exponent: float = 0.5


OFFICIAL = Rules()


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRule:
    """How many decisions an anchor grants: `share` for each of its seconds, within `least` and `most`."""

    share: float = 0.4
    least: int = 150
    most: int = 300


OFFICIAL_BUDGET = BudgetRule()


@overload
def run_score(
    *, objectives_done: int, objectives_total: int, completed: bool, time_s: float | None, anchor_s: float | None,
    died: bool, rules: Rules = ...,
) -> float: ...  # fmt: skip
@overload
def run_score(
    *, objectives_done: Any, objectives_total: Any, completed: Any, time_s: Any, anchor_s: Any, died: Any,
    rules: Rules = ...,
) -> Any: ...  # fmt: skip
def run_score(
    *,
    objectives_done: Any,
    objectives_total: Any,
    completed: Any,
    time_s: Any,
    anchor_s: Any,
    died: Any,
    rules: Rules = OFFICIAL,
) -> Any:
    """Score runs from 0 to 100: `60 done/total + 40 completed sqrt(min(1, anchor/T)) - 10 died`, never below 0.

    Scalars give a float; arrays or Series of n runs give an array of n. `time_s` (T) and `anchor_s` are seconds of
    game time; None or NaN is "none": without an anchor the root is 1, and T matters only where completed.
    Raises ValueError naming the first row where total < 1, done is not in 0..total, or a completed run has no finite
    T > 0, or an anchor is not finite and > 0.

    >>> run_score(objectives_done=3, objectives_total=4, completed=True, time_s=160, anchor_s=40, died=False)
    65.0
    >>> run_score(objectives_done=[1, 0], objectives_total=4, completed=False, time_s=None, anchor_s=40, died=True)
    array([5., 0.])
    """
    given = (objectives_done, objectives_total, completed, time_s, anchor_s, died)
    scalar = all(np.ndim(value) == 0 for value in given)
    done, total, finished, time, anchor, dead = (
        np.atleast_1d(column) for column in np.broadcast_arrays(*(_floats(value) for value in given))
    )
    _refuse(done, total, finished, time, anchor, dead)
    with np.errstate(all="ignore"):  # the rows whose T or anchor is no number are replaced right below
        pace = np.minimum(1.0, anchor / time) ** rules.exponent
    pace = np.where(np.isnan(anchor), 1.0, np.where(finished > 0, pace, 0.0))
    points = rules.objectives * done / total + rules.completion * finished * pace - rules.death * dead
    scores = np.maximum(0.0, points)
    return float(scores[0]) if scalar else scores


def score_parts(
    *, objectives_done: int, objectives_total: int, completed: bool, time_s: float | None, anchor_s: float | None,
    died: bool, rules: Rules = OFFICIAL,
) -> dict[str, float]:  # fmt: skip
    """Give the points of one run by part: `objectives` and `completion` from 0 up, `death` from 0 down.

    Each is the score by rules that keep that part alone, so the formula stays in one place. Their sum is the score,
    which is held at 0 where the sum is below. Raises ValueError as `run_score` does.

    >>> score_parts(objectives_done=3, objectives_total=4, completed=True, time_s=160, anchor_s=40, died=True)
    {'objectives': 45.0, 'completion': 20.0, 'death': -10.0}
    """
    none = replace(rules, objectives=0.0, completion=0.0, death=0.0)
    alone = {
        "objectives": replace(none, objectives=rules.objectives),
        "completion": replace(none, completion=rules.completion),
    }
    earned = {
        part: run_score(
            objectives_done=objectives_done, objectives_total=objectives_total, completed=completed, time_s=time_s,
            anchor_s=anchor_s, died=died, rules=kept,
        )
        for part, kept in alone.items()
    }  # fmt: skip
    return {**earned, "death": -rules.death if died else 0.0}


def _floats(value: Any) -> Array:
    """Numbers with NaN for what is missing, whatever they came as: None, pandas' NA, nullable columns."""
    if hasattr(value, "to_numpy"):
        return np.asarray(value.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(np.nan if value is None else value, dtype=np.float64)


def _refuse(done: Array, total: Array, finished: Array, time: Array, anchor: Array, dead: Array) -> None:
    with np.errstate(invalid="ignore"):
        faults = {
            "objectives_total must be at least 1": ~(total >= 1),
            "objectives_done must be from 0 to objectives_total": ~((done >= 0) & (done <= total)),
            "completed must be true or false": ~((finished == 0) | (finished == 1)),
            "died must be true or false": ~((dead == 0) | (dead == 1)),
            "a completed run needs a finite time_s above 0": (finished == 1) & ~((time > 0) & np.isfinite(time)),
            "anchor_s must be finite and above 0, or none": ~np.isnan(anchor) & ~((anchor > 0) & np.isfinite(anchor)),
        }
    for what, rows in faults.items():
        if rows.any():
            raise ValueError(f"row {int(np.argmax(rows))}: {what}")


def decision_budget(anchor_s: float, rule: BudgetRule = OFFICIAL_BUDGET) -> int:
    """How many decisions an entry grants: floor(0.4 x anchor seconds), at least 150 and at most 300, or by `rule`.

    Computed in decimal, from the digits as written: 0.4 has no exact binary form. Raises ValueError for an anchor that
    is not finite and above 0.

    >>> [decision_budget(anchor) for anchor in (267.3, 641.0, 750.0)]
    [150, 256, 300]
    """
    anchor = Decimal(str(anchor_s))
    if not anchor.is_finite() or anchor <= 0:
        raise ValueError(f"an anchor is a finite number of seconds above 0, not {anchor_s}")
    share = (Decimal(str(rule.share)) * anchor).to_integral_value(ROUND_FLOOR)
    return int(max(Decimal(rule.least), min(Decimal(rule.most), share)))
