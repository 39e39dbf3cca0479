"""Why: a state has one JSON form and one byte form, and the checksum of the second is what an answer is graded by."""

from __future__ import annotations

import struct
from typing import Any

from .scenario import FIELDS, Entity
from .tables import INDEX, LEFT, RIGHT

__all__ = ["canonical_bytes", "checksum", "state_of"]

TAGS = {("lanesplitter" if kind == "lane-splitter" else kind): tag for tag, kind in enumerate(FIELDS)}
PHASES = ("idle", "swing", "return")


def state_of(entity: Entity, tick: int) -> dict[str, Any]:
    """Return one entity's state after `tick` ticks as the answer shows it."""
    if entity.kind == "belt":
        lanes = [[{"pos": pos, "item": item} for pos, item in lane] for lane in entity.lanes]
        return {"belt": {"left": lanes[LEFT], "right": lanes[RIGHT]}}
    if entity.kind == "splitter":
        out_pref = entity.out_pref[LEFT] + 2 * entity.out_pref[RIGHT]
        return {"splitter": {"out_pref": out_pref, "in_first": entity.in_first}}
    if entity.kind == "inserter":
        phase = "swing" if entity.held is not None else "return" if entity.left else "idle"
        held = {} if entity.held is None else {"held": entity.held}
        return {"inserter": {"phase": phase, **held, "swing_left": entity.left}}
    if entity.kind == "source":
        return {"source": {"emit_phase": tick % entity.period}}
    if entity.kind == "sink":
        return {"sink": {"consumed": _by_name(entity.consumed)}}
    if entity.kind == "lane-splitter":
        return {"lanesplitter": {}}
    inputs, output = _by_name(entity.inputs), _by_name(entity.output)
    return {entity.kind: {"inputs": inputs, "output": output, "craft_left": entity.left}}


def canonical_bytes(tick: int, entities: list[dict[str, Any]]) -> bytes:
    """Return the bytes that stand for a state, little-endian and of fixed widths; `entities` as in an answer."""
    return struct.pack("<QI", tick, len(entities)) + b"".join(map(_entity_bytes, entities))


def checksum(data: bytes) -> str:
    """Return the FNV-1a 64 checksum of canonical bytes in its text form."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"fnv1a64:{value:016x}"


def _by_name(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _entity_bytes(entity: dict[str, Any]) -> bytes:
    ((kind, body),) = entity.items()
    tag = struct.pack("<B", TAGS[kind])
    if kind == "belt":
        return tag + _lane_bytes(body["left"]) + _lane_bytes(body["right"])
    if kind == "splitter":
        return tag + struct.pack("<HB", body["out_pref"], body["in_first"])
    if kind == "inserter":
        held = b"\0" if "held" not in body else struct.pack("<BH", 1, INDEX[body["held"]])
        return tag + struct.pack("<B", PHASES.index(body["phase"])) + held + struct.pack("<H", body["swing_left"])
    if kind == "source":
        return tag + struct.pack("<I", body["emit_phase"])
    if kind == "sink":
        return tag + _map_bytes(body["consumed"], "<HQ")
    if kind == "lanesplitter":
        return tag
    maps = _map_bytes(body["inputs"], "<HH") + _map_bytes(body["output"], "<HH")
    return tag + maps + struct.pack("<H", body["craft_left"])


def _lane_bytes(lane: list[dict[str, Any]]) -> bytes:
    items = b"".join(struct.pack("<IH", entry["pos"], INDEX[entry["item"]]) for entry in lane)
    return struct.pack("<I", len(lane)) + items


def _map_bytes(counts: dict[str, int], layout: str) -> bytes:
    pairs = sorted((INDEX[item], count) for item, count in counts.items() if count)
    return struct.pack("<B", len(pairs)) + b"".join(struct.pack(layout, *pair) for pair in pairs)
