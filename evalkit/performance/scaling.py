"""Why: how fuel grows says more of a solution than one figure; a case may offer such figures, and here they are read.

A case offers them as `scaling.csv` beside its manifest, with the columns of `ScalingPoint`. How they were measured is
the case's own affair. They are for looking at: no score is made of them, and they are no part of the case's digest.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from evalkit.errors import AuthoringError, Fault
from evalkit.performance.case import Case
from evalkit.performance.manifest import open_case

__all__ = ["SCALING_FILE", "ScalingPoint", "read_scaling", "write_scaling"]

SCALING_FILE = "scaling.csv"


@dataclass(frozen=True, slots=True)
class ScalingPoint:
    """One measured run: whose, what grew (`along`, as "ticks") and how far, what was held, and the fuel it burned."""

    model: str
    along: str
    amount: int
    held: str
    fuel: int


_COLUMNS = [field.name for field in fields(ScalingPoint)]


def read_scaling(case: Case | Path | str) -> tuple[ScalingPoint, ...]:
    """Return what the case offers, in the order of its file; nothing where it has none. Raises AuthoringError.

    `case` is an opened one, a path or `slug[@version]`; UsageError where there is no such case.
    """
    case = case if isinstance(case, Case) else open_case(case)
    path = case.root / SCALING_FILE
    if not path.is_file():
        return ()
    try:
        with path.open(encoding="utf-8", newline="") as file:
            table = list(csv.reader(file, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise AuthoringError([Fault(SCALING_FILE, "", f"cannot be read: {error}")]) from error
    if not table or table[0] != _COLUMNS:
        raise AuthoringError([Fault(SCALING_FILE, "line 1", f"the columns must be {', '.join(_COLUMNS)}")])
    points, faults = [], []
    for number, row in enumerate(table[1:], start=2):
        if len(row) != len(_COLUMNS) or not (row[2].isdecimal() and row[4].isdecimal() and int(row[2]) and int(row[4])):
            faults.append(
                Fault(SCALING_FILE, f"line {number}", "takes words, and whole numbers above 0 as amount, fuel")
            )
        else:
            points.append(ScalingPoint(row[0], row[1], int(row[2]), row[3], int(row[4])))
    if faults:
        raise AuthoringError(faults)
    return tuple(points)


def write_scaling(folder: Path, points: Iterable[ScalingPoint]) -> None:
    """Write the file into a case's folder, as `read_scaling` takes it."""
    with (folder / SCALING_FILE).open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(asdict(point) for point in points)
