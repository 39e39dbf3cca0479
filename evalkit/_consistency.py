"""Why: what must hold in a record, said once, so that one that contradicts itself is refused where it enters.

The rules read the plain JSON form, types first: a file from elsewhere is checked before anything is built from it, and
arithmetic never meets a string. They know no other module.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

__all__ = ["INT64", "is_name", "is_text", "performance_faults", "reviewed_faults", "season_faults"]

INT64 = 2**63
"""Counts stay below it: it is the widest signed integer that every database and every DataFrame keeps exactly."""

Check = tuple[Callable[[Any], bool], str]


def is_text(value: object) -> bool:
    """Whether this is text that every database and every UTF-8 file can hold: no NUL and no lone surrogate."""
    return isinstance(value, str) and "\0" not in value and not any("\ud800" <= mark <= "\udfff" for mark in value)


def is_name(value: object) -> bool:
    """Whether this is text as in `is_text` that is not blank."""
    return is_text(value) and bool(str(value).strip())


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < INT64


def _is_number(value: object) -> bool:
    # A boolean is an int to Python, and an integer past the largest float has no place in a column of them.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _depth(value: object, most: int = 10) -> int:
    """Levels of lists and objects, counted up to `most`: what is deeper could not be written back."""
    if most == 0 or not isinstance(value, dict | list):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max((_depth(part, most - 1) for part in inner), default=0)


def _is_utc(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).utcoffset() == timedelta(0)
    except ValueError:
        return False


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value) is not None


def _optional(check: Check) -> Check:
    holds, what = check
    return lambda value: value is None or holds(value), f"{what}, or null"


def _one_of(*words: str) -> Check:
    return lambda value: isinstance(value, str) and value in words, f"one of {', '.join(words)}"


NAME: Check = (is_name, "text that is not blank, without NUL or lone surrogates")
TEXT: Check = (is_text, "text without NUL or lone surrogates")
WORDS: Check = (lambda value: isinstance(value, str), "text")
COUNT: Check = (_is_count, "a whole number from 0 to 2^63 - 1")
NUMBER: Check = (_is_number, "a finite number")
DIGEST: Check = (_is_digest, "64 lower-case hex digits")
UTC: Check = (_is_utc, "an ISO 8601 time in UTC")
ATTEMPT: Check = (lambda value: _is_count(value) and 0 < value < 2**31, "a whole number from 1")
FLAG: Check = (lambda value: isinstance(value, bool), "true or false")
OBJECT: Check = (lambda value: isinstance(value, dict), "an object")
SHALLOW: Check = (lambda value: isinstance(value, dict) and _depth(value) <= 8, "an object of at most 8 levels")
LIST: Check = (lambda value: isinstance(value, list), "a list")

# What a person or a solution's output may put into free text is kept escaped; only names go into columns as they are.
COMMON: dict[str, Check] = {
    "case": NAME, "version": NAME, "variant": TEXT, "model": NAME, "attempt": ATTEMPT, "solution_digest": DIGEST,
    "case_digest": DIGEST, "provenance": SHALLOW, "recorded_at": _optional(UTC), "voided": _optional(NAME),
}  # fmt: skip
PERFORMANCE: dict[str, Check] = COMMON | {
    "outcome": _one_of("pass", "over_ceiling", "incorrect", "ungraded"), "reason": _optional(NAME),
    "detail": _optional(WORDS), "correct": _optional(FLAG), "total_fuel": _optional(COUNT), "fuel_limit": COUNT,
    "fuel_schedule": TEXT, "engine": TEXT, "module_digest": _optional(DIGEST), "build_log": _optional(WORDS),
    "warnings": LIST, "inputs": LIST,
}  # fmt: skip
REVIEWED: dict[str, Check] = COMMON | {"review": _optional(OBJECT)}
REVIEW: dict[str, Check] = {
    "reviewer": NAME, "ratings": OBJECT, "items": OBJECT, "score": NUMBER, "writeup": WORDS,
    "recorded_at": _optional(UTC),
}  # fmt: skip
INPUT: dict[str, Check] = {
    "name": NAME, "kind": _one_of("smoke", "stress"), "behaviour": _optional(TEXT),
    "outcome": _one_of("pass", "over_ceiling", "incorrect", "skipped"), "reason": _optional(NAME),
    "fuel": _optional(COUNT), "runway_limit": COUNT, "overshoot_percent": _optional(NUMBER),
    "first_mismatch_tick": _optional(COUNT), "detail": _optional(WORDS),
}  # fmt: skip


MONEY: Check = (lambda value: _is_number(value) and value < 1e12, "a finite number below 10^12: no run costs more")
DRIFT: dict[str, Check] = {"decision": COUNT, "tick": COUNT, "what": WORDS}
GRADED = ("completed", "died", "failed", "budget", "dollar_cap", "tick_limit", "trap")
UNGRADED = ("fuel", "stack", "wall", "agent_error")
SEASON: dict[str, Check] = {
    "season": NAME, "season_version": NAME, "season_digest": DIGEST, "level": NAME, "difficulty": NAME, "seed": COUNT,
    "agent": NAME, "agent_digest": DIGEST, "attempt": ATTEMPT, "reference": _optional(_one_of("anchor", "floor")),
    "cheats": LIST, "objectives_done": COUNT, "objectives_total": COUNT, "completed": FLAG, "died": FLAG,
    "time_s": _optional(NUMBER), "decisions": COUNT, "decision_budget": _optional(COUNT), "ticks": COUNT,
    "tokens": _optional(COUNT), "dollars": _optional(MONEY), "dollar_cap": _optional(NUMBER),
    "ended_by": _one_of(*GRADED, *UNGRADED), "ungraded": _optional(WORDS), "game_digest": DIGEST, "engine": TEXT,
    "fuel": _optional(COUNT), "replay_digest": _optional(DIGEST), "verified": _optional(FLAG),
    "verified_at": _optional(UTC), "verified_on": _optional(TEXT), "drift": _optional(OBJECT), "provenance": SHALLOW,
    "recorded_at": _optional(UTC), "voided": _optional(NAME),
}  # fmt: skip


def performance_faults(data: Mapping[str, Any]) -> list[str]:
    """List what is wrong with the plain form of a performance run, empty where it holds together."""
    found = list(_shape(data, PERFORMANCE, ""))
    if not found:
        found += [f"warnings[{n}] must be text" for n, line in enumerate(data["warnings"]) if not isinstance(line, str)]
        for n, row in enumerate(data["inputs"]):
            found += (
                _shape(row, INPUT, f"inputs[{n}].") if isinstance(row, dict) else [f"inputs[{n}] must be an object"]
            )
    if not found:
        for row in data["inputs"]:
            found += (f"input {row['name']!r}: {what}" for what in _input_faults(row, data["fuel_limit"]))
        found += _run_faults(data)
    return found or list(_round_trip(data))


def reviewed_faults(data: Mapping[str, Any]) -> list[str]:
    """List what is wrong with the plain form of a reviewed run, empty where it holds together."""
    found = list(_shape(data, REVIEWED, ""))
    if not found and (review := data["review"]) is not None:
        found += _shape(review, REVIEW, "review.")
    if not found and review is not None:
        found += (
            f"review.ratings[{k!r}] must be {NUMBER[1]}" for k, v in review["ratings"].items() if not _is_number(v)
        )
        found += (
            f"review.items[{k!r}] must be {FLAG[1]}" for k, v in review["items"].items() if not isinstance(v, bool)
        )
    return found or list(_round_trip(data))


def season_faults(data: Mapping[str, Any]) -> list[str]:
    """List what is wrong with the plain form of a season run, empty where it holds together."""
    found = list(_shape(data, SEASON, ""))
    if not found:
        found += (f"cheats[{n}] must be {NAME[1]}" for n, row in enumerate(data["cheats"]) if not is_name(row))
        if data["drift"] is not None:
            found += _shape(data["drift"], DRIFT, "drift.")
    if not found:
        found += [*_play_faults(data), *_proof_faults(data)]
    return found or list(_round_trip(data))


def _play_faults(data: Mapping[str, Any]) -> Iterator[str]:
    ended, dollars, cap, budget = data["ended_by"], data["dollars"], data["dollar_cap"], data["decision_budget"]
    if not data["objectives_total"] >= 1 or data["objectives_done"] > data["objectives_total"]:
        yield f"{data['objectives_done']} of {data['objectives_total']} objectives cannot be"
    if data["completed"] is not (ended == "completed"):
        yield f"completed is {json.dumps(data['completed'])}, and it ended by {ended}"
    if (data["time_s"] is None) is data["completed"] or (data["completed"] and data["time_s"] != data["ticks"] / 60):
        yield f"time_s is {data['time_s']}, and it ended by {ended} at tick {data['ticks']}"
    if ended == "died" and not data["died"]:
        yield "it ended by died, and nobody did"
    if data["died"] and ended not in ("completed", "died", "failed"):
        yield f"somebody died, and it ended by {ended}"
    if budget is not None and (data["decisions"] > budget or (ended == "budget") > (data["decisions"] == budget)):
        yield f"it ended by {ended} after {data['decisions']} decisions of {budget}"
    if ended == "budget" and budget is None:
        yield "it ended by budget, and has none"
    if data["decisions"] > data["ticks"]:
        yield f"{data['decisions']} decisions take more than {data['ticks']} ticks"
    if any(value is not None and value < 0 for value in (dollars, cap)):
        yield "dollars are never below 0"
    if ended == "dollar_cap" and (dollars is None or cap is None or dollars < cap):
        yield f"it ended by dollar_cap, at {dollars} of {cap}"
    if data["cheats"] and data["reference"] != "anchor":
        yield "cheats are for a reference run of the anchor alone"


def _proof_faults(data: Mapping[str, Any]) -> Iterator[str]:
    verified = data["verified"]
    if (data["ungraded"] is not None) is not (data["ended_by"] in UNGRADED):
        yield f"ungraded is {json.dumps(data['ungraded'])}, and it ended by {data['ended_by']}"
    if (data["replay_digest"] is None) is not (data["ungraded"] is not None):
        yield "a run has a replay exactly where it is graded"
    if verified is not None and data["replay_digest"] is None:
        yield "what has no replay cannot have been verified"
    if any((data[name] is None) is not (verified is None) for name in ("verified_at", "verified_on")):
        yield "verified stands with when and on which engine, or not at all"
    if verified is not False and data["drift"] is not None:
        yield "a drift is of a run that did not verify"


def _shape(data: Mapping[str, Any], checks: dict[str, Check], where: str) -> Iterator[str]:
    for name in sorted(set(data) - set(checks) - ({"schema", "kind", "run_id"} if not where else set()), key=str):
        yield f"{where}{name!r} is no known field"
    for name, (holds, what) in checks.items():
        if name not in data:
            yield f"{where}{name} is missing"
        elif not holds(data[name]):
            yield f"{where}{name} must be {what}"


def _input_faults(row: Mapping[str, Any], ceiling: int) -> Iterator[str]:
    outcome, fuel = row["outcome"], row["fuel"]
    if row["runway_limit"] < ceiling:
        yield f"its runway limit {row['runway_limit']} is below the fuel limit {ceiling}"
    if fuel is not None and fuel > row["runway_limit"]:
        yield f"fuel {fuel} is over its runway limit {row['runway_limit']}, where there is no reading"
    if fuel == 0:
        yield "fuel 0 is no reading: every call burns some"
    if fuel is None and row["overshoot_percent"] is not None:
        yield "an overshoot needs a fuel reading"
    if fuel is None and outcome in ("pass", "over_ceiling"):
        yield f"{outcome} needs a fuel reading"
    if outcome == "skipped" and fuel is not None:
        yield "a skipped input burned no fuel"
    if outcome == "over_ceiling" and row["kind"] == "smoke":
        yield "a smoke input is graded on correctness alone, so it cannot be over the ceiling"
    if outcome == "over_ceiling" and fuel is not None and fuel <= ceiling:
        yield f"over_ceiling, and fuel {fuel} is within the fuel limit {ceiling}"
    if outcome == "pass" and row["kind"] == "stress" and fuel is not None and fuel > ceiling:
        yield f"pass, and fuel {fuel} is over the fuel limit {ceiling}"
    if outcome != "incorrect" and row["first_mismatch_tick"] is not None:
        yield f"{outcome}, and it has a first mismatch"


def _run_faults(data: Mapping[str, Any]) -> Iterator[str]:
    outcome, inputs = data["outcome"], data["inputs"]
    outcomes = {row["outcome"] for row in inputs}
    correct = {"pass": True, "over_ceiling": True, "incorrect": False, "ungraded": None}[outcome]
    if data["correct"] is not correct:
        yield f"outcome {outcome} needs correct = {json.dumps(correct)}, not {json.dumps(data['correct'])}"
    if outcome != "pass" and data["total_fuel"] is not None:
        yield f"total_fuel exists only for a pass, not for {outcome}"
    if outcome in ("pass", "over_ceiling") and not any(row["kind"] == "stress" for row in inputs):
        yield f"{outcome} needs at least one stress input"
    if outcome == "pass":
        if not outcomes <= {"pass"}:
            yield f"outcome pass, and inputs ended as {', '.join(sorted(outcomes - {'pass'}))}"
        elif data["total_fuel"] != (total := sum(row["fuel"] or 0 for row in inputs if row["kind"] == "stress")):
            yield f"total_fuel is {data['total_fuel']}, and the stress inputs burned {total}"
        if data["reason"] is not None:
            yield "a pass has no reason"
    if outcome == "over_ceiling" and inputs and (outcomes - {"pass"}) != {"over_ceiling"}:
        yield "outcome over_ceiling needs every answer right and an input over the ceiling"
    if outcome == "incorrect":
        if data["reason"] is None:
            yield "outcome incorrect needs a reason"
        if inputs and outcomes <= {"pass", "over_ceiling"}:
            yield "outcome incorrect, and every input's answer was right"


def _round_trip(data: Mapping[str, Any]) -> Iterator[str]:
    """Whatever JSON would change on its way (a tuple, a number as a key, a date) is refused now, not noticed later."""
    for name, value in data.items():
        try:
            if json.loads(json.dumps(value, allow_nan=False)) != value:
                yield f"{name} holds values that JSON does not keep as they are"
        except (TypeError, ValueError, RecursionError) as error:
            yield f"{name} is not plain JSON: {error}"
