"""Why: ten thousand marks are a blur and cost a page its bytes: runs that fall on one spot are a mark with a count."""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.views.frames import Row

__all__ = ["EACH_UP_TO", "together"]

EACH_UP_TO = 1_500
"""Runs up to which every one has a mark of its own."""


def together(values: list[Row], keys: Sequence[str], field: str, step: float) -> list[Row]:
    """Return a row for each spot: runs that agree in `keys`, and in `field` to the nearest `step`.

    A row has the `keys`, `field` at the middle of its spot, and how many `runs` it stands for.
    """
    found: dict[tuple[object, ...], int] = {}
    for row in values:
        spot = (*(row[key] for key in keys), round(row[field] / step))
        found[spot] = found.get(spot, 0) + 1
    return [
        dict(zip(keys, spot, strict=False)) | {field: round(int(str(spot[-1])) * step, 6), "runs": count}
        for spot, count in found.items()
    ]
