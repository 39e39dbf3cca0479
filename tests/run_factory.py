"""Runs to test with: plain ones by hand, and any that hold together by hypothesis."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from hypothesis import strategies as st

from evalkit.records import InputResult, Outcome, PerformanceRun, Review, ReviewedRun

MODULE = b"\0asm\1\0\0\0"
HEX = "0123456789abcdef"
HOSTILE_NAMES = [
    'O\'Brien "the" quoter',
    "<script>alert(1)</script>&amp;",
    "two\nlines\r\nand\ttabs",
    "\x1b[31mred\x1b[0m",
    "'; DROP TABLE runs; --",
    "%s {0} %(name)s :name ?",
    "naïve 模型 🦀 \u2028 \x85",
    "x" * 300,
    " padded ",
]


def sha(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def stress(fuel: int | None = 70, **changes: Any) -> InputResult:
    row: dict[str, Any] = {"name": "large", "kind": "stress", "behaviour": None, "outcome": Outcome.PASS, "fuel": fuel}
    return InputResult(**{**row, "runway_limit": 200, **changes})


def performance(**changes: Any) -> PerformanceRun:
    """A passing run of 70 fuel; changes of `inputs` bring their own total."""
    inputs = changes.get("inputs", (stress(3, name="tiny", kind="smoke", behaviour="one step"), stress()))
    values: dict[str, Any] = {
        "case": "lattice", "version": "1.0.0", "variant": "plain", "model": "model-a", "outcome": Outcome.PASS,
        "reason": None, "correct": True, "total_fuel": sum(r.fuel or 0 for r in inputs if r.kind == "stress"),
        "fuel_limit": 100, "fuel_schedule": "f" * 12, "engine": "wasmtime 50.0.0", "module_digest": sha(MODULE),
        "solution_digest": sha("solution"), "case_digest": sha("case"), "inputs": inputs,
    }  # fmt: skip
    return PerformanceRun(**{**values, **changes})


def incorrect(**changes: Any) -> PerformanceRun:
    wrong = stress(90, outcome=Outcome.INCORRECT, reason="wrong_answer", first_mismatch_tick=4)
    verdict = {"outcome": Outcome.INCORRECT, "reason": "wrong_answer", "correct": False, "total_fuel": None}
    return performance(**{**verdict, "inputs": (wrong,), **changes})


def ungraded(**changes: Any) -> PerformanceRun:
    verdict = {"outcome": Outcome.UNGRADED, "reason": "wall_limit", "correct": None, "total_fuel": None}
    return performance(**{**verdict, "inputs": (), "module_digest": None, **changes})


def reviewed(**changes: Any) -> ReviewedRun:
    values = {"case": "essay", "version": "2.0.0", "variant": "plain", "model": "model-a"}
    return ReviewedRun(**{**values, "solution_digest": sha("prose"), "case_digest": sha("essay case"), **changes})


def review(**changes: Any) -> Review:
    values: dict[str, Any] = {"reviewer": "Ada", "ratings": {"style": 4.5}, "items": {"cites": True}, "score": 81.0}
    return Review(**{**values, **changes})


def _keeps(value: Any) -> bool:
    return bool(json.loads(json.dumps(value)) == value)


# Names exclude what a record refuses: NUL and the surrogates (category Cs). Words may hold anything at all.
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40).filter(
    lambda text: text.strip() != ""
)
words = st.none() | st.text(st.characters(), max_size=60).filter(_keeps)
digests = st.text(HEX, min_size=64, max_size=64)
counts = st.integers(0, 2**63 - 1)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
plain_json = st.dictionaries(st.text(max_size=8), scalars | st.lists(scalars, max_size=3), max_size=4).filter(_keeps)
times = st.none() | st.datetimes().map(lambda when: when.isoformat() + "+00:00")


@st.composite
def performance_runs(draw: st.DrawFn) -> PerformanceRun:
    """Any run that holds together, of any outcome."""
    outcome = draw(st.sampled_from([Outcome.PASS, Outcome.OVER_CEILING, Outcome.INCORRECT, Outcome.UNGRADED]))
    ceiling = draw(st.integers(1, 2**61))
    rows = []
    ends = {Outcome.PASS: ["pass"], Outcome.OVER_CEILING: ["pass", "over_ceiling"]}.get(
        outcome, ["pass", "over_ceiling", "incorrect", "skipped"]
    )
    for end in map(Outcome, draw(st.lists(st.sampled_from(ends), max_size=4))):
        kind = draw(st.sampled_from(["smoke", "stress"] if end is not Outcome.OVER_CEILING else ["stress"]))
        rows.append(draw(_input(end, kind, ceiling)))
    if outcome in (Outcome.PASS, Outcome.OVER_CEILING, Outcome.INCORRECT):
        rows.append(draw(_input(outcome, "stress", ceiling)))
    total = sum(row.fuel or 0 for row in rows if row.kind == "stress") if outcome is Outcome.PASS else None
    return PerformanceRun(
        case=draw(names), version=draw(names), variant=draw(names | st.just("")), model=draw(names),
        attempt=draw(st.integers(1, 2**31 - 1)), outcome=outcome, detail=draw(words),
        reason=None if outcome is Outcome.PASS else draw(names),
        correct={Outcome.UNGRADED: None, Outcome.INCORRECT: False}.get(outcome, True), total_fuel=total,
        fuel_limit=ceiling, fuel_schedule=draw(names), engine=draw(names), module_digest=draw(st.none() | digests),
        solution_digest=draw(digests), case_digest=draw(digests), provenance=draw(plain_json), build_log=draw(words),
        recorded_at=draw(times), warnings=tuple(draw(st.lists(st.text(max_size=20), max_size=2))),
        voided=draw(st.none() | names), inputs=tuple(rows),
    )  # fmt: skip


def _input(end: Outcome, kind: str, ceiling: int) -> st.SearchStrategy[InputResult]:
    fuels = {
        Outcome.PASS: st.integers(1, max(1, ceiling // 8)),
        Outcome.OVER_CEILING: st.integers(ceiling + 1, ceiling * 2),
        Outcome.INCORRECT: st.none() | st.integers(1, ceiling),
        Outcome.SKIPPED: st.none(),
    }
    return st.builds(
        InputResult, name=names, kind=st.just(kind), behaviour=st.none() | names, outcome=st.just(end),
        reason=st.none() | names, fuel=fuels[end], runway_limit=st.integers(ceiling * 2, 2**63 - 1),
        overshoot_percent=st.floats(0, 1e9) if end is Outcome.OVER_CEILING else st.none(), detail=words,
        first_mismatch_tick=st.none() | counts if end is Outcome.INCORRECT else st.none(),
    )  # fmt: skip


numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-100, 100)
reviews = st.builds(
    Review, reviewer=names, ratings=st.dictionaries(names, numbers, max_size=3), score=numbers,
    items=st.dictionaries(names, st.booleans(), max_size=3), writeup=st.text().filter(_keeps), recorded_at=times,
)  # fmt: skip
reviewed_runs = st.builds(
    ReviewedRun, case=names, version=names, variant=names, model=names, attempt=st.integers(1, 2**31 - 1),
    solution_digest=digests, case_digest=digests, provenance=plain_json, recorded_at=times,
    voided=st.none() | names, review=st.none() | reviews,
)  # fmt: skip
