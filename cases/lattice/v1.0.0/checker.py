"""Why: a checksum that an engine reports can be copied, so this checker computes it again from the returned entities.

An output is right where, for every snapshot, reported == recomputed == expected. An expected snapshot needs only `tick`
and `checksum`; where it also has `entities`, the verdict names the first entity that differs. Whatever an output holds,
the result is a Verdict; only a broken scenario or expected answer, the author's own fault, raises.

Two things keep it fast. The hash is FNV-1a, one multiplication per byte; a belt item is six bytes of which four are
always 0, and a 0 byte only multiplies, so an item costs two multiplications by a power of the prime. Keys that stand
twice are looked for by counting colons, because asking Python about every object would cost as much as the hash.
"""

from __future__ import annotations

import json
from typing import Any

from evalkit.records import Verdict

__all__ = ["check", "checksum"]

ITEMS = (
    *("iron-ore", "iron-plate", "iron-gear", "copper-ore", "copper-plate", "copper-cable", "circuit"),
    *("transport-belt", "fast-transport-belt", "express-transport-belt"),
    *("assembler", "fast-assembler", "express-assembler", "inserter", "fast-inserter", "express-inserter", "coal"),
)
INDEX = {name: index for index, name in enumerate(ITEMS)}
TAGS = {
    "belt": 0,
    "splitter": 1,
    "inserter": 2,
    "assembler": 3,
    "source": 4,
    "sink": 5,
    "furnace": 6,
    "lane-splitter": 7,
}
PHASES = {"idle": 0, "swing": 1, "return": 2}

BASIS = 0xCBF29CE484222325
PRIME = 0x100000001B3
MASK = 0xFFFFFFFFFFFFFFFF
PRIME_2 = PRIME**2 & MASK
PRIME_4 = PRIME**4 & MASK
LONGEST_DETAIL = 300


class Wrong(Exception):
    """The output is not right; its text says why. Never leaves this module."""


def check(input: bytes, expected: bytes, output: bytes) -> Verdict:
    """Compare an output with the expected answer of a scenario, snapshot by snapshot."""
    scenario, answer = json.loads(input), json.loads(expected)
    placed = _placed(scenario)
    try:
        returned = _parse(output)
    except Wrong as wrong:
        return Verdict(False, None, str(wrong)[:LONGEST_DETAIL])
    for number, (right, given) in enumerate(zip(answer, returned, strict=False), 1):
        try:
            _check_snapshot(placed, right, given)
        except Wrong as wrong:
            detail = f"snapshot {number} of {len(answer)} (tick {right['tick']}): {wrong}"
            return Verdict(False, right["tick"], detail[:LONGEST_DETAIL])
    if len(returned) != len(answer):
        tick = answer[len(returned)]["tick"] if len(returned) < len(answer) else None
        return Verdict(False, tick, f"{len(returned)} snapshots, not {len(answer)}")
    try:
        _refuse_double_keys(output, returned)
    except Wrong as wrong:
        return Verdict(False, None, str(wrong))
    return Verdict(True)


def checksum(scenario: dict[str, Any], snapshot: Any) -> str:
    """The checksum of a returned snapshot by its entities. Raises ValueError where they are no state of `scenario`."""
    try:
        snapshot = _keys(snapshot, ("tick", "checksum", "entities"), "")
        tick, entities, placed = snapshot["tick"], snapshot["entities"], _placed(scenario)
        if type(tick) is not int or not 0 <= tick < 2**64:
            raise Wrong(f"tick is {_show(tick)}")
        if type(entities) is not list or len(entities) != len(placed):
            raise Wrong(f"entities is {_show(entities)}, not a list of {len(placed)}")
        return f"fnv1a64:{_hash_state(tick, placed, entities):016x}"
    except Wrong as wrong:
        raise ValueError(str(wrong)[:LONGEST_DETAIL]) from None


def _placed(scenario: dict[str, Any]) -> list[tuple[str, str]]:
    """The kind and the name of each entity, in placement order."""
    return [(item["type"], f"a {item['type']} at ({item['x']}, {item['y']})") for item in scenario["entities"]]


def _parse(output: bytes) -> list[Any]:
    try:
        data = json.loads(output.decode("utf-8"), parse_constant=_no_constant)
    except RecursionError:
        raise Wrong("not a state array: nested too deeply") from None
    except ValueError as error:  # also what is not UTF-8, and a number of too many digits
        raise Wrong(f"not JSON: {error}") from None
    if type(data) is not list:
        raise Wrong(f"not a state array but {_show(data)}")
    return data


def _refuse_double_keys(output: bytes, returned: list[Any]) -> None:
    """Look for a key that an object names twice, in an output that is right in everything else.

    Every string of such an output is known, so without escapes it has one colon for each key and one in each checksum.
    """
    colons = sum(4 + sum(map(_count_keys, snapshot["entities"])) for snapshot in returned)
    if b"\\" in output or output.count(b":") != colons:
        json.loads(output, object_pairs_hook=_unique)


def _count_keys(value: Any) -> int:
    if type(value) is not dict:
        return 0
    if "belt" in value:
        return 3 + 2 * (len(value["belt"]["left"]) + len(value["belt"]["right"]))
    return len(value) + sum(map(_count_keys, value.values()))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise Wrong("an object names one key twice")
    return result


def _no_constant(name: str) -> None:
    raise Wrong(f"not JSON: {name}")


def _check_snapshot(placed: list[tuple[str, str]], right: dict[str, Any], given: Any) -> None:
    given = _keys(given, ("tick", "checksum", "entities"), "")
    tick, entities = given["tick"], given["entities"]
    if type(tick) is not int or tick != right["tick"]:
        raise Wrong(f"tick is {_show(tick)}, not {right['tick']}")
    if type(entities) is not list:
        raise Wrong(f"entities is {_show(entities)}, not a list")
    if len(entities) != len(placed):
        raise Wrong(f"{len(entities)} entities, not {len(placed)}")
    recomputed = f"fnv1a64:{_hash_state(tick, placed, entities):016x}"
    if recomputed != right["checksum"]:
        raise Wrong(_first_difference(placed, right.get("entities"), entities, recomputed, right["checksum"]))
    if given["checksum"] != recomputed:
        raise Wrong(
            f"the entities are right, but the reported checksum is {_show(given['checksum'])}, not {recomputed}"
        )


def _first_difference(
    placed: list[tuple[str, str]], right: list[Any] | None, entities: list[Any], recomputed: str, wanted: str
) -> str:
    for number, (expected, given) in enumerate(zip(right or [], entities, strict=False)):
        if expected != given:
            return f"entities[{number}], {placed[number][1]}, is {_show(given)}, not {_show(expected)}"
    return f"the entities hash to {recomputed}, not {wanted}"


def _hash_state(tick: int, placed: list[tuple[str, str]], entities: list[Any]) -> int:
    value = _fold(_fold(BASIS, tick, 8), len(placed), 4)
    for number, (kind, name) in enumerate(placed):
        try:
            value = _hash_entity(_fold(value, TAGS[kind], 1), kind, entities[number])
        except Wrong as wrong:
            raise Wrong(f"entities[{number}], {name}: {wrong}") from None
    return value


def _fold(value: int, number: int, width: int) -> int:
    """Hash one little-endian integer that is known to fit."""
    for byte in number.to_bytes(width, "little"):
        value = (value ^ byte) * PRIME & MASK
    return value


def _hash_entity(value: int, kind: str, entity: Any) -> int:
    key = "lanesplitter" if kind == "lane-splitter" else kind
    body = _keys(entity, (key,), "")[key]
    if kind == "belt":
        _keys(body, ("left", "right"), key)
        return _hash_lane(_hash_lane(value, body["left"], "left"), body["right"], "right")
    if kind == "splitter":
        _keys(body, ("out_pref", "in_first"), key)
        return _fold(_fold(value, _integer(body, "out_pref", 3), 2), _integer(body, "in_first", 1), 1)
    if kind == "inserter":
        return _hash_inserter(value, body)
    if kind == "source":
        return _fold(value, _integer(_keys(body, ("emit_phase",), key), "emit_phase", 2**32 - 1), 4)
    if kind == "sink":
        return _hash_counts(value, _keys(body, ("consumed",), key), "consumed", 8)
    if kind == "lane-splitter":
        _keys(body, (), key)
        return value
    _keys(body, ("inputs", "output", "craft_left"), key)
    value = _hash_counts(_hash_counts(value, body, "inputs", 2), body, "output", 2)
    return _fold(value, _integer(body, "craft_left", 2**16 - 1), 2)


def _hash_inserter(value: int, body: Any) -> int:
    held = type(body) is dict and "held" in body
    _keys(body, ("phase", "held", "swing_left") if held else ("phase", "swing_left"), "inserter")
    phase = PHASES.get(body["phase"]) if type(body["phase"]) is str else None
    if phase is None:
        raise Wrong(f"phase is {_show(body['phase'])}")
    value = _fold(_fold(value, phase, 1), int(held), 1)
    if held:
        value = _fold(value, _item(body["held"]), 2)
    return _fold(value, _integer(body, "swing_left", 2**16 - 1), 2)


def _hash_lane(value: int, lane: Any, name: str) -> int:
    """The hot loop: nearly all the bytes of a state are belt items."""
    if type(lane) is not list:
        raise Wrong(f"lane {name} is {_show(lane)}, not a list")
    value = _fold(value, len(lane), 4)
    index = INDEX
    for entry in lane:
        try:
            pos, item = entry["pos"], index[entry["item"]]
        except (KeyError, TypeError, IndexError):
            raise Wrong(f"lane {name} holds {_show(entry)}, which is not a position and a known item") from None
        if len(entry) != 2 or type(pos) is not int or not 0 <= pos < 256:
            raise Wrong(f"lane {name} holds {_show(entry)}, which is not a position within 0..255 and an item")
        value = (((value ^ pos) * PRIME_4 & MASK) ^ item) * PRIME_2 & MASK
    return value


def _hash_counts(value: int, body: dict[str, Any], key: str, width: int) -> int:
    counts = body[key]
    if type(counts) is not dict:
        raise Wrong(f"{key} is {_show(counts)}, not a map of counts")
    pairs = sorted((_item(item), _integer(counts, item, 256**width - 1)) for item in counts)
    pairs = [pair for pair in pairs if pair[1]]
    value = _fold(value, len(pairs), 1)
    for item, count in pairs:
        value = _fold(_fold(value, item, 2), count, width)
    return value


def _keys(value: Any, keys: tuple[str, ...], where: str) -> dict[str, Any]:
    if type(value) is not dict or len(value) != len(keys) or any(key not in value for key in keys):
        prefix = f"{where} " if where else ""
        raise Wrong(f"{prefix}is {_show(value)}, not an object with exactly the keys {', '.join(keys) or '(none)'}")
    return value


def _integer(body: dict[str, Any], key: str, most: int) -> int:
    value = body[key]
    if type(value) is not int or not 0 <= value <= most:  # `type`, because a bool is an int to isinstance
        raise Wrong(f"{key} is {_show(value)}, not a whole number within 0..{most}")
    return value


def _item(name: Any) -> int:
    if type(name) is not str or name not in INDEX:
        raise Wrong(f"{_show(name)} is not an item")
    return INDEX[name]


def _show(value: Any) -> str:
    """A short, printable form of anything that JSON can hold, however big, deep or wide."""
    if type(value) is int and abs(value) >= 10**20:
        return f"a number of {value.bit_length()} bits"
    if (type(value) is list and len(value) > 4) or (type(value) is dict and len(value) > 8):
        return f"a {'list' if type(value) is list else 'object'} of {len(value)}"
    try:
        text = ascii(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of too many digits inside
        return f"a {type(value).__name__}"
    return text if len(text) <= 120 else text[:117] + "..."
