"""Why: a pack holds TOML files that the kit wrote, from data and not from a person's text, so no comment slips in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["toml_text"]


def toml_text(document: Mapping[str, Any], comment: str = "") -> str:
    """TOML of text, numbers, booleans, lists, tables and lists of tables; reading it gives the same document.

    Tables below the first level are written inline. Raises TypeError for a value of another type.
    """
    lines = [f"# {comment}"] if comment else []
    tables = {key: value for key, value in document.items() if isinstance(value, Mapping)}
    rows = {key: value for key, value in document.items() if _is_tables(value)}
    lines += [f"{_key(key)} = {_value(value)}" for key, value in document.items() if key not in {*tables, *rows}]
    for key, table in tables.items():
        lines += ["", f"[{_key(key)}]", *(f"{_key(name)} = {_value(value)}" for name, value in table.items())]
    for key, group in rows.items():
        for row in group:
            lines += ["", f"[[{_key(key)}]]", *(f"{_key(name)} = {_value(value)}" for name, value in row.items())]
    return "\n".join(lines) + "\n"


def _is_tables(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {_value(item)}" for name, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, (str, bool, int, float)):
        # JSON and TOML write these alike, but for DEL and for what is beyond 16 bits, which JSON alone halves.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    raise TypeError(f"{type(value).__name__} is not written here")
