"""Why: a name beside every point is worth more than a legend, as long as no name lies on another or leaves the plot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Box", "Placed", "Spot", "placed"]

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in pixels."""
Align = Literal["left", "center", "right"]
_LETTER, _LINE, _MARK = 6.2, 12.0, 6.0
"""Pixels: a letter's width and a line's height at the size of names, and half a point."""

_TRIED: tuple[tuple[Align, float, float], ...] = (
    ("left", 10, 0), ("right", -10, 0), ("center", 0, -14), ("center", 0, 14),
    ("left", 8, -12), ("left", 8, 12), ("right", -8, -12), ("right", -8, 12),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Spot:
    """A point to be named: pixels from the left and from the top, and its name."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a name goes: its own point in pixels, and which end of it stands there."""

    x: float
    y: float
    text: str
    align: Align


def placed(spots: Sequence[Spot], width: float, height: float, lines: Sequence[Box] = ()) -> list[Placed]:
    """Return places for the names of as many spots as fit, the first ones first; a name that fits nowhere is left out.

    No name covers a point or another name, stands nearer to another point than to its own, or leaves the plot of
    `width` by `height` pixels. Where it can, it keeps off the `lines` (left, top, right, bottom) too.
    """
    taken: list[Box] = [(s.x - _MARK, s.y - _MARK, s.x + _MARK, s.y + _MARK) for s in spots]
    found = []
    for spot in spots:
        others = [(s.x, s.y) for s in spots if (s.x, s.y) != (spot.x, spot.y)]
        tries = [
            (Placed(spot.x + dx, spot.y + dy, spot.text, align), avoided)
            for avoided in (lines, ())
            for align, dx, dy in _TRIED
        ]
        for place, avoided in tries:
            box, own = _box(place), math.dist((place.x, place.y), (spot.x, spot.y))
            inside = box[0] >= 0 and box[1] >= 0 and box[2] <= width and box[3] <= height
            near = all(math.dist((place.x, place.y), other) > own for other in others)
            if inside and near and not any(_meet(box, other) for other in (*taken, *avoided)):
                taken.append(box)
                found.append(place)
                break
    return found


def _box(place: Placed) -> Box:
    size = _LETTER * len(place.text)
    left = place.x - {"left": 0.0, "center": size / 2, "right": size}[place.align]
    return (left, place.y - _LINE / 2, left + size, place.y + _LINE / 2)


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
