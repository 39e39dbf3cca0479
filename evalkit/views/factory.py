"""Why: a factory is drawn by one hand: what stands still is this SVG, in the player and in a still alike.

`ground` draws every shape of a scene as a few long paths, one for each ink, so that a factory of a thousand shapes is
a dozen elements. Scenes are those of `evalkit.performance.scene`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from evalkit.performance.scene import Scene

__all__ = ["DARK", "LIGHT", "SIZE", "Inks", "dial", "drawn", "glyph", "ground", "middle", "outline"]

LIGHT: Mapping[str, str] = {
    "floor": "#f4f5f7", "grid": "#e3e6ea", "belt0": "#ccd1d9", "belt1": "#bcc4d0", "belt2": "#a9b5c7",
    "rail": "#8e98a6", "chevron": "#98a2b1", "machine": "#e9e3d6", "furnace": "#ecd9d2", "edge": "#7d7a72",
    "plate": "#f8f6f1", "post": "#5d6672", "arm": "#3d4652", "port": "#dfe9e2", "drain": "#d9d6e6", "text": "#24272d",
    "soft": "#5d636c", "outline": "#2a2f37", "done": "#0f7a55", "fault": "#b3261e",
}  # fmt: skip
DARK: Mapping[str, str] = {
    "floor": "#16191e", "grid": "#20242b", "belt0": "#353b45", "belt1": "#3f4856", "belt2": "#4b5870",
    "rail": "#5f6a7a", "chevron": "#5c6777", "machine": "#3b382f", "furnace": "#42322d", "edge": "#8f8979",
    "plate": "#2a2823", "post": "#98a2b1", "arm": "#c3cad4", "port": "#2c3b33", "drain": "#37334a", "text": "#e6e8eb",
    "soft": "#a3aab4", "outline": "#f2f4f7", "done": "#3fcf9b", "fault": "#ff8a80",
}  # fmt: skip
"""The inks of both themes by role. Items keep their own colours in both; the outline around them changes."""

SIZE = 0.115
"""Half the width of an item, in tiles: four fit on a lane of one tile with a hair between them."""


def dial(shape: Mapping[str, Any]) -> float:
    """Return the radius of a machine's progress dial, which leaves room for what it holds on both sides."""
    side: int = min(shape["w"], shape["h"])
    return 0.3 + 0.25 * max(0, side - 2)


def _ring_of(count: int, *radii: float, turn: float = 0.0) -> tuple[tuple[float, float], ...]:
    angles = [2 * math.pi * i / count + turn for i in range(count)]
    return tuple(
        (radii[i % len(radii)] * math.cos(a), radii[i % len(radii)] * math.sin(a)) for i, a in enumerate(angles)
    )


_CORNERS: Mapping[str, tuple[tuple[float, float], ...]] = {
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "hexagon": _ring_of(6, 1.05),
    "diamond": _ring_of(4, 1.2),
    "triangle": ((0, -1.15), (1.1, 0.85), (-1.1, 0.85)),
    "star": _ring_of(10, 1.25, 0.62, turn=-math.pi / 2),
    "cross": ((-0.4, -1.05), (0.4, -1.05), (0.4, -0.4), (1.05, -0.4), (1.05, 0.4), (0.4, 0.4),
              (0.4, 1.05), (-0.4, 1.05), (-0.4, 0.4), (-1.05, 0.4), (-1.05, -0.4), (-0.4, -0.4)),
}  # fmt: skip
_CIRCLES: Mapping[str, tuple[float, ...]] = {"disc": (1,), "ring": (1.05, -0.42)}
"""Radii; a negative one runs the other way round and so cuts a hole."""


def outline(form: str, x: float = 0, y: float = 0, radius: float = 1) -> str:
    """Return an item's form around a point as an SVG path; one such path can follow another in one element."""
    if form in _CORNERS:
        return "M" + "L".join(f"{x + radius * a:.3f} {y + radius * b:.3f}" for a, b in _CORNERS[form]) + "Z"
    circles = ((abs(radius * r), int(r > 0)) for r in _CIRCLES[form])
    return "".join(
        f"M{x + r:.3f} {y:.3f}a{r:.3f} {r:.3f} 0 1 {way} {-2 * r:.3f} 0a{r:.3f} {r:.3f} 0 1 {way} {2 * r:.3f} 0z"
        for r, way in circles
    )


_STEP = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}
_MARGIN = 0.06

Inks = Mapping[str, str]
Parts = dict[tuple[str, str, float], list[str]]
"""By fill, stroke and stroke width: pieces of one long path."""

Layers = tuple[Parts, ...]
"""Bottom to top: belts, what is marked on them, what stands on the floor, what is marked on that."""


def ground(scene: Scene, inks: Inks) -> str:
    """Return the SVG elements of everything that does not move, in tiles; `inks` maps each role to a CSS colour."""
    width, height = scene["width"], scene["height"]
    lines = "".join(f"M{x} 0V{height}" for x in range(width + 1)) + "".join(
        f"M0 {y}H{width}" for y in range(height + 1)
    )
    layers: Layers = tuple(defaultdict(list) for _ in range(4))
    icons = []
    for shape in scene["shapes"]:
        _DRAW[shape["kind"]](shape, layers, inks)
        item = shape.get("makes", shape.get("gives"))
        if item is not None:
            radius = 0.24 if shape["kind"] == "source" else 0.55 * dial(shape)
            icons.append(glyph(scene["items"][item], *middle(shape), radius, inks))
    return (
        f'<rect width="{width}" height="{height}" fill="{inks["floor"]}"/>'
        f'<path d="{lines}" stroke="{inks["grid"]}" stroke-width=".03" fill="none"/>'
        + "".join(_paths(layer) for layer in layers)
        + "".join(icons)
    )


def _paths(parts: Parts) -> str:
    return "".join(
        f'<path d="{"".join(pieces)}" fill="{fill}" stroke="{stroke}" stroke-width="{width:g}" stroke-linejoin="round" '
        'stroke-linecap="round"/>'
        for (fill, stroke, width), pieces in parts.items()
    )


def middle(shape: Mapping[str, Any]) -> tuple[float, float]:
    """Return the middle of a shape, in tiles."""
    return shape["x"] + shape["w"] / 2, shape["y"] + shape["h"] / 2


def _box(shape: Mapping[str, Any], inset: float, corner: float) -> str:
    x, y, w, h = shape["x"] + inset, shape["y"] + inset, shape["w"] - 2 * inset, shape["h"] - 2 * inset
    arc = f"a{corner:g} {corner:g} 0 0 1 "
    return (
        f"M{x + corner:g} {y:g}h{w - 2 * corner:g}{arc}{corner:g} {corner:g}"
        f"v{h - 2 * corner:g}{arc}-{corner:g} {corner:g}"
        f"h-{w - 2 * corner:g}{arc}-{corner:g}-{corner:g}v-{h - 2 * corner:g}{arc}{corner:g}-{corner:g}z"
    )


def _points(cx: float, cy: float, direction: str, *points: tuple[float, float]) -> list[tuple[float, float]]:
    """Turn points given as (along, to the right) of a facing into points on the grid."""
    dx, dy = _STEP[direction]
    return [(cx + a * dx - r * dy, cy + a * dy + r * dx) for a, r in points]


def _open(points: list[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.4g} {y:.4g}" for x, y in points)


def _belt(shape: Mapping[str, Any], layers: Layers, inks: Inks) -> None:
    (cx, cy), direction, rank = middle(shape), shape["dir"], min(shape["rank"], 2)
    fill = (inks[f"belt{rank}"], "none", 0.0)
    rail, marks = ("none", inks["rail"], 0.05), ("none", inks["chevron"], 0.055)
    half = 0.5 - _MARGIN
    if shape["from"] == direction:
        layers[0][fill].append(
            _open(_points(cx, cy, direction, (-0.5, -half), (0.5, -half), (0.5, half), (-0.5, half))) + "Z"
        )
        for side in (-half, half):
            layers[1][rail].append(_open(_points(cx, cy, direction, (-0.5, side), (0.5, side))))
    else:
        (fx, fy), (dx, dy) = _STEP[shape["from"]], _STEP[direction]
        ox, oy, sweep = cx + (dx - fx) / 2, cy + (dy - fy) / 2, int((-fy, fx) == (dx, dy))
        ends = [((ox - dx * r, oy - dy * r), (ox + fx * r, oy + fy * r), r) for r in (1 - _MARGIN, _MARGIN)]
        arcs = [f"A{r:g} {r:g} 0 0 {sweep} {b[0]:.4g} {b[1]:.4g}" for _, b, r in ends]
        (outer, _, _), ((sx, sy), (ex, ey), r) = ends
        back = f"L{ex:.4g} {ey:.4g}A{r:g} {r:g} 0 0 {1 - sweep} {sx:.4g} {sy:.4g}Z"
        layers[0][fill].append(f"M{outer[0]:.4g} {outer[1]:.4g}{arcs[0]}{back}")
        for (start, _, _), arc in zip(ends, arcs, strict=True):
            layers[1][rail].append(f"M{start[0]:.4g} {start[1]:.4g}{arc}")
    for number in range(rank + 1):  # one, two or three chevrons: the tier without its colour
        at = 0.16 * (number - rank / 2)
        layers[1][marks].append(
            _open(_points(cx, cy, direction, (at - 0.07, -0.09), (at + 0.05, 0), (at - 0.07, 0.09)))
        )


def _splitter(shape: Mapping[str, Any], layers: Layers, inks: Inks) -> None:
    layers[2][inks["belt1"], inks["post"], 0.06].append(_box(shape, 0.08, 0.14))
    tiles = [(shape["x"] + i + 0.5, shape["y"] + j + 0.5) for i in range(shape["w"]) for j in range(shape["h"])]
    for x, y in tiles:
        arrow = _points(x, y, shape["dir"], (-0.2, -0.2), (0.14, 0), (-0.2, 0.2))
        layers[2]["none", inks["post"], 0.07].append(_open(arrow))


def _arm(shape: Mapping[str, Any], layers: Layers, inks: Inks) -> None:
    cx, cy = middle(shape)
    layers[3][inks["post"], "none", 0.0].append(f"M{cx - 0.17:g} {cy:g}a.17.17 0 1 1 .34 0a.17.17 0 1 1-.34 0z")
    reach = _points(cx, cy, shape["dir"], (-0.42, 0), (0.42, 0)), _points(cx, cy, shape["dir"], (0.28, -0.13))
    (a, b), (c,) = reach
    (d,) = _points(cx, cy, shape["dir"], (0.28, 0.13))
    layers[2]["none", inks["chevron"], 0.045].append(_open([a, b]) + _open([c, b, d]))


def _machine(shape: Mapping[str, Any], layers: Layers, inks: Inks) -> None:
    fill = inks["furnace" if shape.get("style") == "furnace" else "machine"]
    layers[2][fill, inks["edge"], 0.07].append(_box(shape, 0.1, 0.22))
    (cx, cy), r = middle(shape), dial(shape)
    plate = f"M{cx - r:g} {cy:g}a{r:g} {r:g} 0 1 1 {2 * r:g} 0a{r:g} {r:g} 0 1 1-{2 * r:g} 0z"
    layers[3][inks["plate"], inks["edge"], 0.03].append(plate)


def _source(shape: Mapping[str, Any], layers: Layers, inks: Inks) -> None:
    layers[2][inks["port"], inks["edge"], 0.05].append(_box(shape, 0.08, 0.3))
    tip = _points(*middle(shape), shape["dir"], (0.36, -0.11), (0.46, 0), (0.36, 0.11))
    layers[3]["none", inks["edge"], 0.06].append(_open(tip))


def _sink(shape: Mapping[str, Any], layers: Layers, inks: Inks) -> None:
    layers[2][inks["drain"], inks["edge"], 0.05].append(_box(shape, 0.06, 0.08))
    layers[2]["none", inks["edge"], 0.03].append(_box(shape, 0.18, 0.06))


_DRAW = {
    "belt": _belt, "splitter": _splitter, "arm": _arm, "machine": _machine, "source": _source, "sink": _sink,
}  # fmt: skip


def glyph(item: Mapping[str, str], x: float, y: float, radius: float, inks: Inks) -> str:
    """Return an item as an SVG path of that radius around a point."""
    return drawn(item, outline(item["shape"], x, y, radius), radius, inks)


def drawn(item: Mapping[str, str], path: str, radius: float, inks: Inks) -> str:
    """Return outlines of one item, all of that radius, in its colour."""
    return (
        f'<path d="{path}" fill="{item["colour"]}" stroke="{inks["outline"]}" stroke-width="{0.28 * radius:.3g}" '
        'paint-order="stroke"/>'
    )
