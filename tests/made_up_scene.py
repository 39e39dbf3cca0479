"""Made-up scene: one shape of every kind, items that come, go and swing, and a name for each text to be told apart."""

from __future__ import annotations

from typing import Any


def scene(first: int = 1, last: int = 4, names: tuple[str, str] = ("ore", "plate")) -> dict[str, Any]:
    """Return a scene of four frames or more in which every part of the form is used."""
    frames = last - first + 1
    return {
        "width": 6,
        "height": 3,
        "first": first,
        "last": last,
        "items": [
            {"name": names[0], "colour": "#3f7fc4", "shape": "disc"},
            {"name": names[1], "colour": "#ffd9a0", "shape": "ring"},
        ],
        "paths": [[0, 0, 0.25, 512, 2, 0.25], [0, 2, 1.5, 128, 2.5, 1, 256, 3, 1.5], [0, 0.5, 2.5, 256, 1, 0.25]],
        "shapes": [
            {"kind": "belt", "x": 0, "y": 0, "w": 1, "h": 1, "dir": "E", "from": "E", "rank": 0, "title": names[0]},
            {"kind": "belt", "x": 1, "y": 0, "w": 1, "h": 1, "dir": "S", "from": "E", "rank": 2, "title": "curve"},
            {"kind": "arm", "x": 2, "y": 1, "w": 1, "h": 1, "dir": "E", "path": 1, "hand": [0] * frames,
             "title": "arm"},
            {"kind": "machine", "x": 3, "y": 0, "w": 3, "h": 3, "makes": 1, "ticks": 8, "left": [8] * frames,
             "holds": [[0, [[0, 2]], []], [2, [], [[1, 1]]]], "title": names[1]},
            {"kind": "source", "x": 0, "y": 2, "w": 1, "h": 1, "dir": "N", "gives": 0, "period": 4,
             "beat": [0] * frames, "title": "source"},
            {"kind": "sink", "x": 1, "y": 2, "w": 1, "h": 1, "holds": [[0, [[1, 12345]], []]], "title": "sink"},
            {"kind": "splitter", "x": 0, "y": 1, "w": 2, "h": 1, "dir": "N", "next": [1] * frames, "title": "splitter"},
        ],
        "tokens": [
            {"item": 0, "from": 0, "legs": [[0, *range(0, 32 * frames, 32)]]},
            {"item": 1, "from": 0, "born": True, "gone": True, "legs": [[2, 0], [1, 0, 256]]},
        ],
        "faults": [[2, 5]],
    }  # fmt: skip
