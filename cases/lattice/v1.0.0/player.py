"""Why: a factory can be watched only if its own case says how a state looks; the kit knows belts and arms, no rules.

`schedule` asks a module for the state at other ticks, `states` says which state an answer has at a tick, `frames` draws
successive states as a scene. What is drawn is what the module returned, and nothing else.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# This file is loaded by path, not as a part of a package; its folder has to be found first.
if str(Path(__file__).parent) not in sys.path:
    sys.path.insert(0, str(Path(__file__).parent))

from lattice_player.layout import Layout
from lattice_player.motion import Motion, hand_of
from lattice_reference.tables import INDEX
from lattice_reference.world import World

from evalkit.performance.checking import load_file

__all__ = ["frames", "schedule", "states"]

_checksum = load_file(Path(__file__).with_name("checker.py")).checksum


def schedule(input: bytes, ticks: Sequence[int]) -> bytes:
    """Return the same scenario with a snapshot at each of these ticks. Raises ValueError where it has no such tick."""
    scenario = json.loads(input)
    last = scenario["ticks"]
    wanted = sorted(set(ticks))
    if not wanted or not 1 <= wanted[0] <= wanted[-1] <= last:
        raise ValueError(f"this scenario has the ticks 1 to {last:,}")
    return json.dumps({**scenario, "snapshots": wanted}, separators=(",", ":")).encode()


def states(input: bytes, answer: bytes) -> dict[int, str]:
    """Return the checksum of each snapshot of an answer, recomputed wherever it has the entities.

    Raises ValueError where the answer holds anything but states of the scenario.
    """
    scenario = json.loads(input)
    result = {}
    for number, snapshot in enumerate(_snapshots(answer), 1):
        try:
            bare = isinstance(snapshot, dict) and set(snapshot) == {"tick", "checksum"}
            result[snapshot["tick"]] = snapshot["checksum"] if bare else _checksum(scenario, snapshot)
        except (ValueError, TypeError) as error:
            tick = snapshot.get("tick") if isinstance(snapshot, dict) else None
            raise ValueError(f"snapshot {number} (tick {tick}): {error}") from None
    return result


def frames(input: bytes, output: bytes, first: int, last: int) -> dict[str, Any]:
    """Return the scene of the ticks `first` to `last` of an output that `states` could read; the kit says its form."""
    scenario = json.loads(input)
    layout = Layout(World(scenario), scenario["grid"]["width"], scenario["grid"]["height"])
    motion = Motion(layout)
    shapes = [layout.shape(entity) for entity in layout.world.entities]
    window = {snapshot["tick"]: snapshot["entities"] for snapshot in _snapshots(output)}
    for frame, tick in enumerate(range(first, last + 1)):
        motion.feed(tick, window[tick])
        for shape, state in zip(shapes, window[tick], strict=True):
            _note(shape, frame, state)
    return {
        "width": layout.width,
        "height": layout.height,
        "first": first,
        "last": last,
        "items": layout.items(),
        "paths": layout.paths,
        "shapes": shapes,
        "tokens": motion.tokens,
        "faults": motion.faults,
    }


def _snapshots(answer: bytes) -> list[Any]:
    try:
        data = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(data, list):
        raise ValueError("not a list of snapshots")
    return data


def _note(shape: dict[str, Any], frame: int, state: dict[str, Any]) -> None:
    """Add what one entity's state shows in this frame to its shape."""
    (body,) = state.values()
    if shape["kind"] == "arm":
        shape.setdefault("hand", []).append(hand_of(body))
    elif shape["kind"] == "machine":
        shape.setdefault("left", []).append(body["craft_left"])
        _hold(shape, frame, body["inputs"], body["output"])
    elif shape["kind"] == "source":
        shape.setdefault("beat", []).append(body["emit_phase"])
    elif shape["kind"] == "sink":
        _hold(shape, frame, body["consumed"], {})
    elif shape["kind"] == "splitter" and body:
        shape.setdefault("next", []).append(body["out_pref"])


def _hold(shape: dict[str, Any], frame: int, inputs: dict[str, int], outputs: dict[str, int]) -> None:
    """Note what it holds, in frames in which that changes alone."""
    holds = [[[INDEX[item], count] for item, count in sorted(side.items()) if count] for side in (inputs, outputs)]
    told = shape.setdefault("holds", [])
    if not told or told[-1][1:] != holds:
        told.append([frame, *holds])
