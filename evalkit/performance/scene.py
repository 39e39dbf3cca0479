"""Why: what a case's player draws is plain JSON in one small vocabulary, so the kit can show any factory, knowing none.

A scene, lengths in tiles, x growing east and y south, frame 0 being the tick `first`::

    width, height   tiles of the grid                first, last   its ticks, one frame each
    items           [{name, colour: "#rrggbb", shape}]
    paths           [[s, x, y, s, x, y, …]]          at position s lies (x, y); straight in between; s grows
    shapes          [{kind, x, y, w, h, title, …}]   what stands on the grid, in drawing order; see `KINDS`
    tokens          [{item, from, legs, born?, gone?}]  items that move: see below
    faults          [[frame, shape], …]              optional: where a state does not follow from the one before

A token exists from frame `from` on; `legs` is `[[path, s, s, …], [path, s, …]]`, one position a frame, and between two
frames it glides. With `born`, the first position only says where it came from; with `gone`, the last one only says
where it went: it is not there in that frame. Numbers that stand for items, paths and shapes are places in those lists.

`holds` is `[[frame, [[item, count], …], [[item, count], …]], …]`: what a shape holds, incoming and outgoing, from that
frame on. All other lists of a shape have one whole number a frame.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

__all__ = ["DIRECTIONS", "FORMS", "KINDS", "Scene", "scene_fault"]

Scene = dict[str, Any]

DIRECTIONS = ("N", "E", "S", "W")

FORMS = ("disc", "square", "hexagon", "ring", "diamond", "triangle", "star", "cross")
"""The shapes of items: the second sign beside the colour."""

KINDS: dict[str, tuple[str, ...]] = {
    "belt": ("dir", "from", "rank"),
    "splitter": ("dir",),
    "arm": ("dir", "path", "hand"),
    "machine": ("makes", "ticks", "left", "holds"),
    "source": ("dir", "gives", "period", "beat"),
    "sink": ("holds",),
}
"""What each kind of shape has beside the six keys of all. `from`: the facing from which a belt is fed, another than
`dir` in a curve; `rank`: its speed, 0 the slowest; `hand`: position on `path`; `left`: of `ticks`, 0 is idle; `beat`: 0
when it gives, counting up to `period`. A splitter may have `next`: bit 0 (left lane) and 1 (right): the second half's
turn."""

_PER_FRAME = ("hand", "left", "beat", "next")
_COLOUR = re.compile(r"#[0-9a-f]{6}")


def scene_fault(scene: Any) -> str | None:
    """Return what is wrong with a scene first, as `key: what`; None where it can be drawn."""
    return next(_faults(scene), None)


def _faults(scene: Any) -> Iterator[str]:
    if not isinstance(scene, dict):
        yield "a scene is an object"
        return
    missing = [k for k in ("width", "height", "first", "last", "items", "paths", "shapes", "tokens") if k not in scene]
    if missing:
        yield f"{missing[0]}: is missing"
        return
    sizes = [scene[key] for key in ("width", "height", "first", "last")]
    if not all(type(size) is int for size in sizes) or min(sizes) < 0 or min(sizes[:2]) < 1 or sizes[3] < sizes[2]:
        yield "width, height, first, last: are whole numbers; the grid has a tile, the window a tick"
        return
    frames = scene["last"] - scene["first"] + 1
    for key, judge in (("items", _item), ("paths", _path), ("shapes", _shape), ("tokens", _token)):
        yield from _each(scene, key, frames, judge)
    yield from _each(scene, "faults", frames, _fault)


def _each(scene: Scene, key: str, frames: int, judge: Callable[[Any, Scene, int], str | None]) -> Iterator[str]:
    values = scene.get(key, [])
    if not isinstance(values, list):
        yield f"{key}: is a list"
        return
    for number, value in enumerate(values):
        try:
            what = judge(value, scene, frames)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            what = f"is not of its form ({type(error).__name__}: {error})"
        if what:
            yield f"{key}[{number}]: {what}"


def _item(item: Any, _scene: Scene, _frames: int) -> str | None:
    if not isinstance(item["name"], str) or not _COLOUR.fullmatch(item["colour"]):
        return "has a name, and a colour as #rrggbb"
    return None if item["shape"] in FORMS else f"shape is one of {', '.join(FORMS)}"


def _path(path: Any, _scene: Scene, _frames: int) -> str | None:
    if len(path) < 6 or len(path) % 3 or not all(type(value) in (int, float) for value in path):
        return "has two points or more, three numbers each"
    return None if all(a < b for a, b in pairwise(path[::3])) else "its positions grow"


def _shape(shape: Any, scene: Scene, frames: int) -> str | None:
    kind = shape["kind"]
    if kind not in KINDS:
        return f"kind is one of {', '.join(KINDS)}"
    missing = [key for key in ("x", "y", "w", "h", "title", *KINDS[kind]) if key not in shape]
    if missing:
        return f"a {kind} has {missing[0]}"
    whole = [shape[key] for key in ("x", "y", "w", "h", "rank", "ticks", "period") if key in shape]
    if not all(type(value) is int and value >= 0 for value in whole) or not isinstance(shape["title"], str):
        return "its sizes are whole numbers, its title is text"
    if any(shape[key] not in DIRECTIONS for key in ("dir", "from") if key in shape):
        return "its directions are N, E, S or W"
    for key, many in (("path", "paths"), ("makes", "items"), ("gives", "items")):
        if key in shape and not _within(shape[key], scene[many]):
            return f"{key} is a place in {many}"
    for key in _PER_FRAME:
        if key in shape and (len(shape[key]) != frames or not all(type(value) is int for value in shape[key])):
            return f"{key} has one whole number a frame, {frames} in all"
    for at, *sides in shape.get("holds", []):
        pairs = [pair for side in sides for pair in side]
        if len(sides) != 2 or not all(_within(item, scene["items"]) and type(n) is int for item, n in pairs):
            return "holds has a frame and two lists of item and count"
        if type(at) is not int or not 0 <= at < frames:
            return "holds names a frame of the window"
    return None


def _token(token: Any, scene: Scene, frames: int) -> str | None:
    if not _within(token["item"], scene["items"]) or type(token["from"]) is not int or token["from"] < 0:
        return "has an item and a frame"
    if any(not _within(leg[0], scene["paths"]) or len(leg) < 2 for leg in token["legs"]):
        return "its legs are a path and positions"
    if not all(type(value) in (int, float) for leg in token["legs"] for value in leg):
        return "its positions are numbers"
    count = sum(len(leg) - 1 for leg in token["legs"])
    return None if 0 < count <= frames - token["from"] else "has a position for each frame that it is there"


def _fault(fault: Any, scene: Scene, frames: int) -> str | None:
    frame, shape = fault
    return None if type(frame) is int and 0 <= frame < frames and _within(shape, scene["shapes"]) else "names no shape"


def _within(index: Any, values: list[Any]) -> bool:
    return type(index) is int and 0 <= index < len(values)
