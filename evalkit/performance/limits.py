"""Why: a rank is only as firm as the ceilings behind it: how far can each go before the first rank changes?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from evalkit.performance.whatif import Facts, Ranked, Setting, ranked

__all__ = ["LIMITS", "limits"]

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

LIMITS = {
    "input": "string", "official": "Int64", "below": "Int64", "below_who": "string", "above": "Int64",
    "above_who": "string", "known_to": "Int64",
}  # fmt: skip


def limits(facts: Facts) -> pd.DataFrame:
    """For each stress input's ceiling, alone: the nearest one below and above at which the first rank changes.

    Exact, in fuel, with the columns and dtypes of `LIMITS`: `official` is the highest recorded ceiling, `..._who` the
    model that falls out or comes in; missing where no ceiling changes a rank. `known_to` is the highest ceiling of
    which everything is known: above it a run that was stopped would need a rerun; missing where none was stopped.
    """
    was = ranked(facts, Setting())
    rows: list[tuple[object, ...]] = []
    for place, name in enumerate(facts.inputs):
        official = float(np.nanmax(facts.ceiling[:, place]))
        fuel, lone = facts.fuel[:, place], Setting(without_inputs=(name,))
        elsewhere = ranked(facts, lone).runs == 0 if len(facts.inputs) > 1 else ~facts.shut & ~facts.ungraded
        able = np.flatnonzero(elsewhere & facts.right[:, place])
        below, fallen = _lowered(facts, was, name, fuel)
        above, come = _raised(facts, was, name, fuel, able[fuel[able] > official])
        stopped = facts.runway_limit[elsewhere & facts.stopped[:, place], place]
        rows.append((name, int(official), below, fallen, above, come, int(stopped.min()) if len(stopped) else None))
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(LIMITS)
    return pd.DataFrame({n: pd.Series(list(c), dtype=d) for (n, d), c in zip(LIMITS.items(), columns, strict=True)})


def _differs(now: Ranked, was: Ranked) -> bool:
    return bool((~((now.rank == was.rank) | (np.isnan(now.rank) & np.isnan(was.rank)))).any())


def _lowered(facts: Facts, was: Ranked, name: str, fuel: Floats) -> tuple[int | None, str | None]:
    """Only a best run's fall can change a rank, so the ceiling goes down from one best run's fuel to the next."""
    now = was
    while (bests := now.best[now.best >= 0]).size:
        last = int(bests[np.argmax(fuel[bests])])
        ceiling = int(fuel[last]) - 1
        now = ranked(facts, Setting(ceilings={name: ceiling}))
        if _differs(now, was):
            return ceiling, facts.models[facts.model[last]]
    return None, None


def _raised(facts: Facts, was: Ranked, name: str, fuel: Floats, able: Places) -> tuple[int | None, str | None]:
    for run in able[np.argsort(fuel[able], kind="stable")]:
        total, best = facts.fuel[run].sum(), was.score[facts.model[run]]
        if np.isnan(best) or total < best:
            now = ranked(facts, Setting(ceilings={name: int(fuel[run])}))
            if _differs(now, was):
                return int(fuel[run]), facts.models[facts.model[run]]
    return None, None
