"""Why: two models differ by the fuel of their best runs, input by input; fuel is exact, so nothing is inferred."""

from __future__ import annotations

import pandas as pd

from evalkit.errors import UsageError
from evalkit.records import PerformanceRun

__all__ = ["by_input"]


def by_input(first: PerformanceRun, second: PerformanceRun) -> pd.DataFrame:
    """The stress inputs on which both runs have a reading, those that make the most difference first.

    input, first, second (fuel), difference (first minus second), ratio (first over second), share (of the summed
    differences without their signs; 0 to 1). Raises UsageError where the runs are of different cohorts.
    """
    if first.cohort != second.cohort:
        raise UsageError(f"runs {first.run_id} and {second.run_id} are of different cohorts, which never compare")
    fuels = {row.name: row.fuel for row in second.inputs if row.kind == "stress"}
    rows = [
        (row.name, row.fuel, fuels[row.name]) for row in first.inputs if row.kind == "stress" and row.fuel is not None
    ]
    rows = [row for row in rows if row[2] is not None]
    frame = pd.DataFrame(rows, columns=["input", "first", "second"]).astype({"first": "int64", "second": "int64"})
    frame["difference"] = frame["first"] - frame["second"]
    frame["ratio"] = frame["first"] / frame["second"]
    total = frame["difference"].abs().sum()
    frame["share"] = frame["difference"].abs() / total if total else 0.0
    return frame.sort_values("share", ascending=False, kind="stable").reset_index(drop=True)
