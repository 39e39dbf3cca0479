"""Why: what every record shares: one canonical byte form, an id from its job key, and one way to be read or refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

__all__ = ["SCHEMA", "canonical", "digest_id", "read", "refuse"]

SCHEMA = 1
"""Version of the JSON form; a record of another version is refused, not guessed at."""


R = TypeVar("R")


def read(
    cls: type[R],
    kind: str,
    data: dict[str, Any],
    faults: Callable[[Mapping[str, Any]], list[str]],
    typed: Callable[[dict[str, Any]], dict[str, Any]],
) -> R:
    """Make a record of its plain form; `typed` gives the fields that JSON has no type for. Raises ValueError."""
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or data.get("kind") != kind:
        raise ValueError(f"not a {kind} record of schema {SCHEMA}")
    refuse(faults(data))
    values = {f.name: data[f.name] for f in fields(cls)}  # type: ignore[arg-type]  # every record is a dataclass
    run: Any = cls(**{**values, **typed(values)})
    if run.run_id != data.get("run_id"):
        raise ValueError(f"the record says run {data.get('run_id')!r}, its job key says {run.run_id}")
    return run  # type: ignore[no-any-return]


def refuse(faults: list[str]) -> None:
    """Raise ValueError with all faults, if there are any."""
    if faults:
        raise ValueError("the record does not hold together: " + "; ".join(faults))


def canonical(value: Any) -> bytes:
    """One byte form for one JSON value: sorted keys, no spaces, UTF-8. Raises ValueError on NaN and infinities.

    A lone surrogate, which UTF-8 has no form for, stays as its JSON escape, so hostile text is kept and never crashes.

    >>> canonical({"b": 1, "a": "é"})
    b'{"a":"\\xc3\\xa9","b":1}'
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace")


def digest_id(key: tuple[str, ...]) -> str:
    """First 16 hex digits of the SHA-256 of a job key's canonical JSON."""
    return hashlib.sha256(canonical(list(key))).hexdigest()[:16]
