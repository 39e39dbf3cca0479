"""Why: what was said at each decision of a run comes from agents and from elsewhere: it is read here, or refused.

A turn is an object with `decision`, `observation`, `calls`, `action` and `noop`; a call has `answer`, `fault`, `tokens`
and `dollars`; more may be there. All else that reads turns leans on that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

__all__ = ["check_model", "read_turns"]

Check = tuple[Callable[[Any], bool], str]
TOKENS = ("input", "cached", "output", "reasoning")


def _count(value: object) -> bool:
    return type(value) is int and 0 <= value < 1e12


def _amount(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12)


def _text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _tokens(value: Any) -> bool:
    if value is None:
        return True
    known = isinstance(value, dict) and set(value) == set(TOKENS) and all(map(_count, value.values()))
    return known and value["cached"] <= value["input"] and value["reasoning"] <= value["output"]


def _observation(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("numbers", {}), dict)
        and isinstance(value.get("legal", []), list)
    )


def _utc(value: object) -> bool:
    try:
        return value is None or (isinstance(value, str) and datetime.fromisoformat(value).utcoffset() == timedelta(0))
    except ValueError:
        return False


AMOUNT: Check = (_amount, "a number from 0, or null")
TEXT: Check = (_text, "text, or null")
TURN: dict[str, Check] = {
    "decision": (lambda value: _count(value) and value > 0, "a whole number from 1"),
    "observation": (_observation, "an object"),
    "calls": (lambda value: isinstance(value, list), "a list"),
    "action": TEXT,
    "noop": (lambda value: isinstance(value, bool), "true or false"),
}
CALL: dict[str, Check] = {"answer": TEXT, "fault": TEXT, "tokens": (_tokens, "the four counts"), "dollars": AMOUNT}
MODEL: dict[str, Check] = {
    "model": TEXT, "provider": TEXT, "prices": TEXT, "charged": AMOUNT, "priced_at": (_utc, "an ISO 8601 time in UTC"),
}  # fmt: skip


def read_turns(data: bytes) -> list[dict[str, Any]]:
    """The turns of JSON Lines. Raises ValueError, in a line, where one is none."""
    found = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            turn = json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError):
            raise ValueError(f"turn {number} is not JSON") from None
        _hold(turn, TURN, f"turn {number}")
        if not _text(turn.get("system")):
            raise ValueError(f"turn {number}: system must be {TEXT[1]}")
        for place, call in enumerate(turn["calls"], 1):
            _hold(call, CALL, f"turn {number}, call {place}")
        found.append(turn)
    return found


def check_model(provenance: Mapping[str, Any]) -> None:
    """Raise ValueError, in a line, where what a run with turns says of its model cannot be."""
    _hold({**dict.fromkeys(MODEL), **provenance}, MODEL, "provenance")


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _hold(row: Any, checks: Mapping[str, Check], where: str) -> None:
    if not isinstance(row, dict):
        raise ValueError(f"{where} is no object")
    for name, (holds, what) in checks.items():
        if name not in row:
            raise ValueError(f"{where} has no {name}")
        if not holds(row[name]):
            raise ValueError(f"{where}: {name} must be {what}")
