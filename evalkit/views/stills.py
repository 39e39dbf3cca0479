"""Why: a report on paper, or in a mail, needs one tick of a factory as a picture that depends on nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from evalkit.errors import UsageError
from evalkit.performance.scene import Scene
from evalkit.views.factory import LIGHT, SIZE, Inks, dial, drawn, glyph, ground, middle, outline
from evalkit.views.names import html, short

__all__ = ["still", "used_items"]


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


def _items(moving: list[tuple[Mapping[str, str], int, float, float]], inks: Inks) -> str:
    """Every item of one kind is in one path: a factory may hold thousands."""
    paths: dict[str, tuple[Mapping[str, str], list[str]]] = {}
    for item, _, x, y in moving:
        paths.setdefault(item["name"], (item, []))[1].append(outline(item["shape"], x, y, SIZE))
    return "".join(drawn(item, "".join(path), SIZE, inks) for item, path in paths.values())


def still(scene: Scene, tick: int, *, said: str = "", inks: Inks = LIGHT, width: int = 900) -> str:
    """Return one tick of a scene as an SVG with a legend below, which needs nothing else; `said` is read out.

    `width` is in pixels, and less where tiles would get larger than 48. UsageError for a tick outside the scene.
    """
    if not scene["first"] <= tick <= scene["last"]:
        raise UsageError(f"tick {tick} is not in this scene: it shows {scene['first']:,} to {scene['last']:,}")
    frame, arms = tick - scene["first"], {s["path"]: s for s in scene["shapes"] if s["kind"] == "arm"}
    moving = list(_moving(scene, frame))
    parts = [_items([m for m in moving if m[1] not in arms], inks)]
    for path, arm in arms.items():
        (cx, cy), (x, y) = middle(arm), _at(scene["paths"][path], arm["hand"][frame])
        parts.append(
            f'<path d="M{cx:.4g} {cy:.4g}L{x:.4g} {y:.4g}" stroke="{inks["arm"]}" stroke-width=".1" '
            'stroke-linecap="round"/>'
        )
    parts.append(_items([m for m in moving if m[1] in arms], inks))
    parts += [_state(scene, shape, frame, inks) for shape in scene["shapes"]]
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
        f'<g transform="scale({scale:.6g})">{ground(scene, inks)}{"".join(parts)}</g>'
        f'<g transform="translate(0 {high:.6g})" font-size="12" fill="{inks["text"]}">{legend}</g></svg>'
    )


def _held(shape: Mapping[str, Any], frame: int) -> tuple[list[list[int]], list[list[int]]]:
    """Return what a shape holds in a frame: incoming and outgoing, as item and count."""
    known = [entry for entry in shape.get("holds", []) if entry[0] <= frame]
    return (known[-1][1], known[-1][2]) if known else ([], [])


def _state(scene: Scene, shape: Mapping[str, Any], frame: int, inks: Inks) -> str:
    (cx, cy), (incoming, outgoing) = middle(shape), _held(shape, frame)
    if shape["kind"] == "sink":
        total = sum(count for _, count in incoming)
        where = f'x="{cx:g}" y="{cy + 0.13:g}" text-anchor="middle"'
        return f'<text {where} font-size=".36" fill="{inks["text"]}">{total}</text>'
    if shape["kind"] != "machine":
        return ""
    parts = []
    if shape["left"][frame] and shape["ticks"]:
        share, r = max(0.02, 1 - shape["left"][frame] / shape["ticks"]), dial(shape)
        around = 2 * math.pi * r
        parts.append(
            f'<circle cx="{cx:g}" cy="{cy:g}" r="{r:g}" fill="none" stroke="{inks["done"]}" stroke-width=".09" '
            f'stroke-dasharray="{share * around:.4g} {around:.4g}" transform="rotate(-90 {cx:g} {cy:g})"/>'
        )
    for counts, x in ((incoming, shape["x"] + 0.27), (outgoing, shape["x"] + shape["w"] - 0.48)):
        for row, (item, count) in enumerate(counts):
            y = cy + 0.42 * (row - (len(counts) - 1) / 2)
            parts.append(glyph(scene["items"][item], x, y, 0.1, inks))
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
        parts.append(glyph(item, x + 6, y - 4, 5.5, inks) + f'<text x="{x + 17:.6g}" y="{y:.6g}">{html(name)}</text>')
        x += space
    return "".join(parts), y + 12
