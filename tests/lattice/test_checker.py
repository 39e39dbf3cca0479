"""Why: the checker reads what an untrusted engine wrote, so whatever that is, it answers with a verdict."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.records import Verdict
from tests.lattice.lattice_case import CASE, load

NAME = "craft-chain"
Answer = list[dict[str, Any]]


def read(name: str = NAME) -> tuple[bytes, bytes, Answer]:
    expected = (CASE / "smoke" / f"{name}.out").read_bytes()
    return (CASE / "smoke" / f"{name}.json").read_bytes(), expected, json.loads(expected)


def verdict_on(change: Callable[[Answer], Any], name: str = NAME) -> tuple[Verdict, Answer]:
    """Check the right answer after a change; the change may return another answer altogether."""
    given_input, expected, answer = read(name)
    broken = copy.deepcopy(answer)
    changed = change(broken)
    output = json.dumps(broken if changed is None else changed).encode()
    return load("checker").check(given_input, expected, output), answer


def refused(verdict: Verdict) -> str:
    assert verdict.ok is False
    assert verdict.detail
    assert len(verdict.detail) <= 300
    assert verdict.detail.isprintable()
    return verdict.detail


@pytest.mark.parametrize("path", sorted((CASE / "smoke").glob("*.json")), ids=lambda path: path.stem)
def test_the_right_answer_is_right_however_it_is_formatted(checker: ModuleType, path: Path) -> None:
    given_input, expected, answer = read(path.stem)
    assert checker.check(given_input, expected, expected) == Verdict(True)
    assert checker.check(given_input, expected, json.dumps(answer, indent=3, sort_keys=True).encode()) == Verdict(True)


def test_an_expected_answer_without_entities_checks_as_strictly(checker: ModuleType) -> None:
    given_input, expected, answer = read()
    short = json.dumps([{"tick": row["tick"], "checksum": row["checksum"]} for row in answer]).encode()
    assert checker.check(given_input, short, expected).ok
    next(entity for entity in answer[3]["entities"] if "assembler" in entity)["assembler"]["craft_left"] += 1
    verdict = checker.check(given_input, short, json.dumps(answer).encode())
    assert "hash" in refused(verdict)
    assert verdict.first_mismatch_tick == answer[3]["tick"]


def test_an_output_may_not_leave_out_its_entities(checker: ModuleType) -> None:
    given_input, _, answer = read()
    short = json.dumps([{"tick": row["tick"], "checksum": row["checksum"]} for row in answer]).encode()
    assert checker.check(given_input, short, short).ok is False


def test_a_copied_checksum_over_wrong_entities_is_wrong_and_the_entity_is_named() -> None:
    given_input, _, _ = read()
    number = [entity["type"] for entity in json.loads(given_input)["entities"]].index("assembler")

    def change(answer: Answer) -> None:
        answer[2]["entities"][number]["assembler"]["craft_left"] += 1

    verdict, answer = verdict_on(change)
    detail = refused(verdict)
    assert verdict.first_mismatch_tick == answer[2]["tick"]
    assert f"snapshot 3 of {len(answer)}" in detail
    assert f"entities[{number}]" in detail
    assert "assembler" in detail


def test_a_wrong_reported_checksum_over_right_entities_is_wrong() -> None:
    verdict, answer = verdict_on(lambda answer: answer[1].update(checksum="fnv1a64:0000000000000000"))
    assert "reported checksum" in refused(verdict)
    assert verdict.first_mismatch_tick == answer[1]["tick"]


def test_a_consistent_answer_to_another_world_is_wrong(oracle: ModuleType) -> None:
    def change(answer: Answer) -> None:
        for row in answer:
            row["entities"][0]["source"]["emit_phase"] += 1
            row["checksum"] = oracle.checksum(oracle.canonical_bytes(row["tick"], row["entities"]))

    verdict, answer = verdict_on(change)
    refused(verdict)
    assert verdict.first_mismatch_tick == answer[0]["tick"]


def test_a_missing_snapshot_is_wrong_at_its_tick_and_an_extra_one_is_wrong() -> None:
    verdict, answer = verdict_on(lambda answer: answer[:-1])
    assert refused(verdict) == f"{len(answer) - 1} snapshots, not {len(answer)}"
    assert verdict.first_mismatch_tick == answer[-1]["tick"]
    refused(verdict_on(lambda answer: [*answer, answer[-1]])[0])
    verdict, answer = verdict_on(lambda _: [])
    assert verdict.first_mismatch_tick == answer[0]["tick"]
    refused(verdict)


WRONG: dict[str, tuple[str, tuple[Any, ...], Any]] = {
    "an unknown item on a belt": ("pure-curve", ("belt", "left"), [{"pos": 0, "item": "gold"}]),
    "an item that is a list": ("pure-curve", ("belt", "left"), [{"pos": 0, "item": []}]),
    "an item that is a number": ("pure-curve", ("belt", "left"), [{"pos": 0, "item": 3}]),
    "an item with a lone surrogate": ("pure-curve", ("belt", "left"), [{"pos": 0, "item": "\ud800"}]),
    "a position that is a bool": ("pure-curve", ("belt", "left"), [{"pos": False, "item": "coal"}]),
    "a position that is a float": ("pure-curve", ("belt", "left"), [{"pos": 0.0, "item": "coal"}]),
    "a position off the tile": ("pure-curve", ("belt", "left"), [{"pos": 256, "item": "coal"}]),
    "a negative position": ("pure-curve", ("belt", "left"), [{"pos": -1, "item": "coal"}]),
    "a huge position": ("pure-curve", ("belt", "left"), [{"pos": 10**4000, "item": "coal"}]),
    "an item with a key too many": ("pure-curve", ("belt", "left"), [{"pos": 0, "item": "coal", "x": 1}]),
    "a lane that holds text": ("pure-curve", ("belt", "left"), ["coal"]),
    "a lane that holds null": ("pure-curve", ("belt", "left"), [None]),
    "a lane that is a map": ("pure-curve", ("belt", "left"), {}),
    "a lane that is text": ("pure-curve", ("belt", "left"), "coal"),
    "a belt without its lanes": ("pure-curve", ("belt",), {}),
    "a belt that is null": ("pure-curve", ("belt",), None),
    "another kind of entity": ("pure-curve", (), {"splitter": {"out_pref": 0, "in_first": 0}}),
    "two kinds at once": ("pure-curve", (), {"belt": {"left": [], "right": []}, "sink": {"consumed": {}}}),
    "an entity that is a number": ("pure-curve", (), 5),
    "a preferred output out of range": ("splitter-one-to-two", ("splitter", "out_pref"), 4),
    "a first input that is a bool": ("splitter-one-to-two", ("splitter", "in_first"), True),
    "an unknown phase": ("inserter-cycle", ("inserter", "phase"), "rest"),
    "a phase that is a list": ("inserter-cycle", ("inserter", "phase"), ["idle"]),
    "a held that is null": ("inserter-cycle", ("inserter",), {"phase": "swing", "held": None, "swing_left": 8}),
    "a counter that is huge": ("inserter-cycle", ("inserter", "swing_left"), 2**16),
    "an emit phase that is huge": ("inserter-cycle", ("source", "emit_phase"), 2**32),
    "a consumed count that is huge": ("inserter-cycle", ("sink", "consumed"), {"coal": 2**64}),
    "a consumed count that is negative": ("inserter-cycle", ("sink", "consumed"), {"coal": -1}),
    "a consumed item that is unknown": ("inserter-cycle", ("sink", "consumed"), {"gold": 1}),
    "a count that is a bool": ("crafting-one-input", ("assembler", "inputs"), {"copper-plate": True}),
    "a count that is text": ("crafting-one-input", ("assembler", "inputs"), {"copper-plate": "1"}),
    "an output that is a list": ("crafting-one-input", ("assembler", "output"), []),
    "a craft that is null": ("crafting-one-input", ("assembler", "craft_left"), None),
    "a key too many": ("crafting-one-input", ("assembler", "burn"), 1),
}


@pytest.mark.parametrize(("name", "path", "value"), WRONG.values(), ids=WRONG.keys())
def test_a_malformed_entity_is_wrong_at_its_snapshot(name: str, path: tuple[str, ...], value: Any) -> None:
    def change(answer: Answer) -> None:
        kind = path[0] if path else "belt"
        place: Any = answer[1]["entities"]
        key: Any = next(number for number, entity in enumerate(place) if kind in entity)
        for step in path:
            place, key = place[key], step
        place[key] = value

    verdict, answer = verdict_on(change, name)
    assert "entities[" in refused(verdict)
    assert verdict.first_mismatch_tick == answer[1]["tick"]


@pytest.mark.parametrize(
    "change",
    [
        lambda answer: answer[0].update(tick=True),
        lambda answer: answer[0].update(tick=10**30),
        lambda answer: answer[0].update(tick=answer[1]["tick"]),
        lambda answer: answer[0].update(checksum=7),
        lambda answer: answer[0].update(checksum=None),
        lambda answer: answer[0].update(extra=1),
        lambda answer: answer[0].pop("checksum") and None,
        lambda answer: answer[0].update(entities={}),
        lambda answer: answer[0]["entities"].pop() and None,
        lambda answer: answer[0]["entities"].append({}),
        lambda answer: [None, *answer[1:]],
        lambda answer: {"0": answer},
        lambda _: 5,
        lambda _: "answer",
    ],
)
def test_a_malformed_snapshot_is_wrong(change: Callable[[Answer], Any]) -> None:
    refused(verdict_on(change)[0])


@pytest.mark.parametrize(
    "output",
    [
        b"",
        b"null",
        b"[",
        b"\xff\xfe[\x00]\x00",
        b"\xef\xbb\xbf[]",
        b"[NaN]",
        b"[Infinity]",
        b"[" * 200_000 + b"]" * 200_000,
        b'[{"tick":' + b"[" * 900 + b"]" * 900 + b"}]",
        b'{"a":' * 200_000 + b"1" + b"}" * 200_000,
        b"[" + b"9" * 10_000 + b"]",
        b"[1e999]",
        b'[{"tick":1,"tick":1}]',
        b"[]garbage",
    ],
    ids=range(14),
)
def test_what_is_not_a_state_array_is_wrong(checker: ModuleType, output: bytes) -> None:
    given_input, expected, _ = read()
    refused(checker.check(given_input, expected, output))


def test_a_duplicate_key_is_wrong_even_where_the_last_value_is_right(checker: ModuleType) -> None:
    given_input, expected, _ = read()
    double = expected.replace(b'"craft_left":', b'"craft_left":1,"craft_left":', 1)
    assert double != expected
    assert "twice" in refused(checker.check(given_input, expected, double))


def test_a_duplicate_key_cannot_hide_behind_escapes(checker: ModuleType) -> None:
    given_input, expected, _ = read()
    escaped = expected.replace(b"fnv1a64:", b"fnv1a64\\u003a", 1)
    assert checker.check(given_input, expected, escaped).ok
    double = escaped.replace(b'"craft_left":', b'"craft_left":1,"craft_left":', 1)
    assert "twice" in refused(checker.check(given_input, expected, double))


def test_a_count_of_zero_is_the_same_as_none(checker: ModuleType) -> None:
    def change(answer: Answer) -> None:
        entity = next(entity for entity in answer[0]["entities"] if "assembler" in entity)
        entity["assembler"]["output"]["circuit"] = 0

    assert verdict_on(change)[0] == Verdict(True)


def test_a_broken_expected_answer_is_the_authors_fault_and_raises(checker: ModuleType) -> None:
    given_input, expected, _ = read()
    with pytest.raises(ValueError, match=r"\w"):
        checker.check(given_input, b"[", expected)


def test_it_hashes_as_the_reference_does(checker: ModuleType, oracle: ModuleType) -> None:
    for path in sorted((CASE / "training").glob("*.json")):
        placed = [(entity["type"], "") for entity in json.loads(path.read_bytes())["entities"]]
        for row in json.loads(path.with_suffix(".out").read_bytes()):
            expected = oracle.checksum(oracle.canonical_bytes(row["tick"], row["entities"]))
            assert f"fnv1a64:{checker._hash_state(row['tick'], placed, row['entities']):016x}" == expected


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(value=json_values, seed=st.integers(0, 10**6))
def test_any_value_anywhere_gives_a_verdict(value: Any, seed: int) -> None:
    def change(answer: Answer) -> Any:
        place: Any = answer
        rest = seed
        while isinstance(place, (list, dict)) and place:
            keys = list(place) if isinstance(place, dict) else range(len(place))
            key = keys[rest % len(keys)]
            rest //= 3
            if rest == 0 or not isinstance(place[key], (list, dict)) or not place[key]:
                place[key] = value
                return None
            place = place[key]
        return None

    verdict, _ = verdict_on(change)
    assert verdict.ok or refused(verdict)
