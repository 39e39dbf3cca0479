"""Why: a factory is drawn by one hand: what stands still is this SVG, in the player and in a still alike.

`ground` draws every shape of a scene as a few long paths, one for each ink, so that a factory of a thousand shapes is
a dozen elements; `still` adds what moves at one tick. Scenes are those of `evalkit.performance.scene`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from evalkit.errors import UsageError
from evalkit.performance.scene import Scene
from evalkit.views.names import html, short

__all__ = ["DARK", "GLYPHS", "LIGHT", "SIZE", "ground", "still", "used_items"]

LIGHT: Mapping[str, str] = {
    "floor": "#f4f5f7", "grid": "#e3e6ea", "belt0": "#ccd1d9", "belt1": "#bcc4d0", "belt2": "#a9b5c7", "rail": "#8e98a6",
    "chevron": "#98a2b1", "machine": "#e9e3d6", "furnace": "#ecd9d2", "edge": "#7d7a72", "plate": "#f8f6f1",
    "post": "#5d6672", "arm": "#3d4652", "port": "#dfe9e2", "drain": "#d9d6e6", "text": "#24272d", "soft": "#5d636c",
    "outline": "#2a2f37", "done": "#0f7a55", "fault": "#b3261e", "halo": "#ffffff",
}  # fmt: skip
DARK: Mapping[str, str] = {
    "floor": "#16191e", "grid": "#20242b", "belt0": "#353b45", "belt1": "#3f4856", "belt2": "#4b5870", "rail": "#5f6a7a",
    "chevron": "#5c6777", "machine": "#3b382f", "furnace": "#42322d", "edge": "#8f8979", "plate": "#2a2823",
    "post": "#98a2b1", "arm": "#c3cad4", "port": "#2c3b33", "drain": "#37334a", "text": "#e6e8eb", "soft": "#a3aab4",
    "outline": "#f2f4f7", "done": "#3fcf9b", "fault": "#ff8a80", "halo": "#101317",
}  # fmt: skip
"""The inks of both themes by role. Items keep their own colours in both; the outline around them changes."""

SIZE = 0.115
"""Half the width of an item, in tiles: four fit on a lane of one tile with a hair between them."""


def dial(shape: Mapping[str, Any]) -> float:
    """Return the radius of a machine's progress dial, which leaves room for what it holds on both sides."""
    return 0.3 + 0.25 * max(0, min(shape["w"], shape["h"]) - 2)


def _polygon(*corners: tuple[float, float]) -> str:
    return "M" + "L".join(f"{x:.3g} {y:.3g}" for x, y in corners) + "Z"


def _star(points: int, outer: float, inner: float) -> str:
    radii = [outer, inner] * points
    turns = [math.pi * (i / points - 0.5) for i in range(2 * points)]
    return _polygon(*((r * math.cos(a), r * math.sin(a)) for r, a in zip(radii, turns, strict=True)))


_CIRCLE = "M{0} 0A{0} {0} 0 1 1-{0} 0A{0} {0} 0 1 1 {0} 0Z"

GLYPHS: Mapping[str, str] = {
    "disc": _CIRCLE.format(1),
    "square": "M-.9-.9H.9V.9H-.9Z",
    "hexagon": _polygon(*((1.05 * math.cos(a), 1.05 * math.sin(a)) for a in (math.pi / 3 * i for i in range(6)))),
    "ring": _CIRCLE.format(1.05) + _CIRCLE.format(0.42),
    "diamond": "M0-1.2L1.2 0 0 1.2-1.2 0Z",
    "triangle": "M0-1.15L1.1.85H-1.1Z",
    "star": _star(5, 1.25, 0.62),
    "cross": "M-.4-1.05H.4V-.4H1.05V.4H.4V1.05H-.4V.4H-1.05V-.4H-.4Z",
}
"""Each form of an item as an SVG path of about radius 1; a ring is filled by the even-odd rule."""

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
            icons.append(_glyph(scene["items"][item], *_middle(shape), radius, inks))
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


def _middle(shape: Mapping[str, Any]) -> tuple[float, float]:
    return shape["x"] + shape["w"] / 2, shape["y"] + shape["h"] / 2


def _box(shape: Mapping[str, Any], inset: float, corner: float) -> str:
    x, y, w, h = shape["x"] + inset, shape["y"] + inset, shape["w"] - 2 * inset, shape["h"] - 2 * inset
    arc = f"a{corner:g} {corner:g} 0 0 1 "
    return (
        f"M{x + corner:g} {y:g}h{w - 2 * corner:g}{arc}{corner:g} {corner:g}v{h - 2 * corner:g}{arc}-{corner:g} {corner:g}"
        f"h-{w - 2 * corner:g}{arc}-{corner:g}-{corner:g}v-{h - 2 * corner:g}{arc}{corner:g}-{corner:g}z"
    )


def _points(cx: float, cy: float, direction: str, *points: tuple[float, float]) -> list[tuple[float, float]]:
    """Turn points given as (along, to the right) of a facing into points on the grid."""
    dx, dy = _STEP[direction]
    return [(cx + a * dx - r * dy, cy + a * dy + r * dx) for a, r in points]


def _open(points: list[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.4g} {y:.4g}" for x, y in points)


def _belt(shape: Mapping[str, Any], layers: Layers, inks: Inks) -> None:
    (cx, cy), direction, rank = _middle(shape), shape["dir"], min(shape["rank"], 2)
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
    cx, cy = _middle(shape)
    layers[3][inks["post"], "none", 0.0].append(f"M{cx - 0.17:g} {cy:g}a.17.17 0 1 1 .34 0a.17.17 0 1 1-.34 0z")
    reach = _points(cx, cy, shape["dir"], (-0.42, 0), (0.42, 0)), _points(cx, cy, shape["dir"], (0.28, -0.13))
    (a, b), (c,) = reach
    (d,) = _points(cx, cy, shape["dir"], (0.28, 0.13))
    layers[2]["none", inks["chevron"], 0.045].append(_open([a, b]) + _open([c, b, d]))


def _machine(shape: Mapping[str, Any], layers: Layers, inks: Inks) -> None:
    fill = inks["furnace" if shape.get("style") == "furnace" else "machine"]
    layers[2][fill, inks["edge"], 0.07].append(_box(shape, 0.1, 0.22))
    (cx, cy), r = _middle(shape), dial(shape)
    plate = f"M{cx - r:g} {cy:g}a{r:g} {r:g} 0 1 1 {2 * r:g} 0a{r:g} {r:g} 0 1 1-{2 * r:g} 0z"
    layers[3][inks["plate"], inks["edge"], 0.03].append(plate)


def _source(shape: Mapping[str, Any], layers: Layers, inks: Inks) -> None:
    layers[2][inks["port"], inks["edge"], 0.05].append(_box(shape, 0.08, 0.3))
    tip = _points(*_middle(shape), shape["dir"], (0.36, -0.11), (0.46, 0), (0.36, 0.11))
    layers[3]["none", inks["edge"], 0.06].append(_open(tip))


def _sink(shape: Mapping[str, Any], layers: Layers, inks: Inks) -> None:
    layers[2][inks["drain"], inks["edge"], 0.05].append(_box(shape, 0.06, 0.08))
    layers[2]["none", inks["edge"], 0.03].append(_box(shape, 0.18, 0.06))


_DRAW = {
    "belt": _belt, "splitter": _splitter, "arm": _arm, "machine": _machine, "source": _source, "sink": _sink,
}  # fmt: skip


def _glyph(item: Mapping[str, str], x: float, y: float, radius: float, inks: Inks) -> str:
    return (
        f'<path d="{GLYPHS[item["shape"]]}" transform="translate({x:.4g} {y:.4g})scale({radius:.3g})" fill="{item["colour"]}" '
        f'fill-rule="evenodd" stroke="{inks["outline"]}" stroke-width=".28" paint-order="stroke"/>'
    )


def used_items(scene: Scene) -> list[int]:
    """Return the items that a scene shows anywhere, in the order of its list: the legend."""
    used = {token["item"] for token in scene["tokens"]}
    for shape in scene["shapes"]:
        used |= {shape[key] for key in ("makes", "gives") if key in shape}
        used |= {item for _, *sides in shape.get("holds", []) for side in sides for item, _ in side}
    return sorted(used)


def _at(path: list[float], position: float) -> tuple[float, float]:
    for i in range(0, len(path) - 3, 3):
        if position <= path[i + 3] or i == len(path) - 6:
            share = (position - path[i]) / (path[i + 3] - path[i])
            return path[i + 1] + share * (path[i + 4] - path[i + 1]), path[i + 2] + share * (path[i + 5] - path[i + 2])
    raise AssertionError("a path has two points")


def _moving(scene: Scene, frame: int) -> Iterator[tuple[Mapping[str, str], int, float, float]]:
    """The items that are there in a frame: which, on which path, and where."""
    for token in scene["tokens"]:
        index = frame - token["from"]
        positions = [(leg[0], position) for leg in token["legs"] for position in leg[1:]]
        if index < bool(token.get("born")) or index >= len(positions) - bool(token.get("gone")):
            continue
        path, position = positions[index]
        yield scene["items"][token["item"]], path, *_at(scene["paths"][path], position)


def still(scene: Scene, tick: int, *, said: str = "", inks: Inks = LIGHT, width: int = 900) -> str:
    """Return one tick of a scene as an SVG with a legend below, which needs nothing else; `said` is read out.

    `width` is in pixels, and less where tiles would get larger than 48. UsageError for a tick outside the scene.
    """
    if not scene["first"] <= tick <= scene["last"]:
        raise UsageError(f"tick {tick} is not in this scene: it shows {scene['first']:,} to {scene['last']:,}")
    frame, arms = tick - scene["first"], {s["path"]: s for s in scene["shapes"] if s["kind"] == "arm"}
    moving = list(_moving(scene, frame))
    drawn = [_glyph(item, x, y, SIZE, inks) for item, path, x, y in moving if path not in arms]
    for path, arm in arms.items():
        (cx, cy), (x, y) = _middle(arm), _at(scene["paths"][path], arm["hand"][frame])
        drawn.append(
            f'<path d="M{cx:.4g} {cy:.4g}L{x:.4g} {y:.4g}" stroke="{inks["arm"]}" stroke-width=".1" stroke-linecap="round"/>'
        )
    drawn += [_glyph(item, x, y, SIZE, inks) for item, path, x, y in moving if path in arms]
    drawn += [_state(scene, shape, frame, inks) for shape in scene["shapes"]]
    scale = min(48.0, width / scene["width"])
    legend, rows = _legend(scene, scene["width"] * scale, inks)
    wide, high = scene["width"] * scale, scene["height"] * scale
    wide = max(wide, 220.0)
    label = html(said or f"the factory at tick {tick:,}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.6g} {high + rows:.6g}" width="{wide:.6g}" '
        f'style="max-width:100%;height:auto" role="img" aria-label="{label}" '
        'font-family="system-ui, -apple-system, Segoe UI, Roboto, Arial, sans-serif">'
        f'<title>{label}</title><rect width="100%" height="100%" fill="{inks["floor"]}"/>'
        f'<g transform="scale({scale:.6g})">{ground(scene, inks)}{"".join(drawn)}</g>'
        f'<g transform="translate(0 {high:.6g})" font-size="12" fill="{inks["text"]}">{legend}</g></svg>'
    )


def held(shape: Mapping[str, Any], frame: int) -> tuple[list[list[int]], list[list[int]]]:
    """Return what a shape holds in a frame: incoming and outgoing, as item and count."""
    known = [entry for entry in shape.get("holds", []) if entry[0] <= frame]
    return (known[-1][1], known[-1][2]) if known else ([], [])


def _state(scene: Scene, shape: Mapping[str, Any], frame: int, inks: Inks) -> str:
    (cx, cy), (incoming, outgoing) = _middle(shape), held(shape, frame)
    if shape["kind"] == "sink":
        total = sum(count for _, count in incoming)
        return f'<text x="{cx:g}" y="{cy + 0.13:g}" font-size=".36" text-anchor="middle" fill="{inks["text"]}">{total}</text>'
    if shape["kind"] != "machine":
        return ""
    parts = []
    if shape["left"][frame] and shape["ticks"]:
        share, r = 1 - (shape["left"][frame] - 1) / shape["ticks"], dial(shape)
        around = 2 * math.pi * r
        parts.append(
            f'<circle cx="{cx:g}" cy="{cy:g}" r="{r:g}" fill="none" stroke="{inks["done"]}" stroke-width=".09" '
            f'stroke-dasharray="{share * around:.4g} {around:.4g}" transform="rotate(-90 {cx:g} {cy:g})"/>'
        )
    for counts, x in ((incoming, shape["x"] + 0.27), (outgoing, shape["x"] + shape["w"] - 0.48)):
        for row, (item, count) in enumerate(counts):
            y = cy + 0.42 * (row - (len(counts) - 1) / 2)
            parts.append(_glyph(scene["items"][item], x, y, 0.1, inks))
            parts.append(f'<text x="{x + 0.14:g}" y="{y + 0.1:g}" font-size=".28" fill="{inks["text"]}">{count}</text>')
    return "".join(parts)


def _legend(scene: Scene, width: float, inks: Inks) -> tuple[str, float]:
    parts, x, y = [], 10.0, 20.0
    for index in used_items(scene):
        item = scene["items"][index]
        name = short(item["name"], 24)
        space = 30 + 6.6 * len(name)
        if x > 10 and x + space > max(width, 220):
            x, y = 10.0, y + 20
        parts.append(_glyph(item, x + 6, y - 4, 5.5, inks) + f'<text x="{x + 17:.6g}" y="{y:.6g}">{html(name)}</text>')
        x += space
    return "".join(parts), y + 12
