"""Why: papermill only warns of an unknown parameter and never checks a type, so each notebook states its own here.

They are checked before a kernel starts, and once more in the notebook itself, where a person may have edited them.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evalkit.errors import UsageError

__all__ = ["SCHEMAS", "Parameter", "check_parameters", "notebook_name"]

Kind = Literal["str", "int", "float", "bool", "list[str]"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a notebook. `optional` lets it be None; `least` is the smallest number it takes.

    `among` are the only texts it takes; empty for any.
    """

    name: str
    kind: Kind
    default: Any
    doc: str
    optional: bool = False
    least: float | None = None
    among: tuple[str, ...] = ()


_CASE = Parameter("case", "str", "lattice", "the case: a path, or slug[@version] under cases/")
_WHAT = Parameter("what", "str", "lattice", "a case or a season: a path, or slug[@version] under cases/")
_STORE = Parameter("store", "str", None, "the run store's URL; None: the local store, else the committed sample", True)

_SEASON = Parameter("season", "str", "season-1", "the season: a path, or slug[@version] under cases/")
_SHOWN = Parameter("run_id", "str", None, "the run shown at play; None: the best one that is no reference run", True)

_IN_FULL = Parameter("run_id", "str", None, "the run shown in full; None: the best passing one, else the nearest", True)

SCHEMAS: dict[str, tuple[Parameter, ...]] = {
    "01_start_here": (_STORE,),
    "02_case_results": (_CASE, _STORE, _IN_FULL),
    "03_watch_a_factory": (
        _CASE,
        _STORE,
        Parameter("run_id", "str", None, "the run to watch; None: the best passing one, else the nearest", True),
        Parameter("input", "str", None, "the input's name; None: the first stress input", True),
        Parameter("first", "int", 1, "the first tick", least=1),
        Parameter("last", "int", 250, "the last tick, at most 400 ticks in all", least=1),
    ),
    "04_season_results": (_SEASON, _STORE),
    "05_one_run": (_SEASON, _STORE, _SHOWN),
    "06_what_if": (
        _WHAT,
        _STORE,
        Parameter(
            "changes",
            "list[str]",
            None,
            "what to change, as CONTROL=VALUE; None: the constant nearest to changing a rank, just past it",
            True,
        ),
    ),
    "07_compare_two": (
        Parameter("what", "str", "season-1", _WHAT.doc),
        _STORE,
        Parameter("first", "str", None, "an agent or a model; None: the best that is not the second", True),
        Parameter("second", "str", None, "another one; None: the best that is not the first", True),
    ),
    "08_browse": (_STORE,),
    "09_score_against_cost": (
        _SEASON,
        _STORE,
        Parameter("cost", "str", "decisions", "decisions, tokens or dollars", among=("decisions", "tokens", "dollars")),
        Parameter("log", "bool", None, "a log axis; None: where costs span more than 20 times", True),
    ),
    "10_sweep_case": (
        _CASE,
        Parameter("solutions", "list[str]", None, "solution folders; None: every solution the case ships", True),
        _STORE,
        Parameter("variant", "str", None, "the case's variant; None: its default", True),
        Parameter("attempts", "int", 1, "runs of each solution", least=1),
        Parameter("jobs", "int", 2, "how many run at once", least=1),
    ),
    "11_sweep_season": (
        _SEASON,
        Parameter("agents", "list[str]", ["random"], "agents: random, an installed one, or module:Class"),
        _STORE,
        Parameter("attempts", "int", 1, "runs of each agent in each cell", least=1),
        Parameter("dollar_cap", "float", None, "end a run that has spent so much", True, 0),
        Parameter("jobs", "int", 2, "how many play at once", least=1),
        Parameter("verify", "bool", True, "replay every replay that was never replayed here"),
    ),
    "20_case_report": (_CASE, _STORE, _IN_FULL),
    "21_season_report": (_SEASON, _STORE, _SHOWN),
    "22_review_report": (Parameter("case", "str", "outage-note", _CASE.doc), _STORE),
}
"""Every parameterised notebook of the kit: name -> its parameters, in the order of its `parameters` cell."""


def notebook_name(name: str) -> str:
    """Return the schema's name for a notebook named with or without its number and suffix.

    Raises UsageError, with a did-you-mean, where the kit has no such notebook.
    """
    stem = name.removesuffix(".ipynb")
    found = stem if stem in SCHEMAS else next((known for known in SCHEMAS if known.split("_", 1)[1] == stem), None)
    if found is None:
        raise UsageError(f"no notebook {name!r}{_hint(stem, [*SCHEMAS, *(k.split('_', 1)[1] for k in SCHEMAS)])}")
    return found


def check_parameters(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return every parameter of a notebook as plain Python: the given values checked, the others by default.

    Paths become text and numpy numbers Python's. Raises UsageError with one line that lists every fault.
    """
    name = notebook_name(name)
    schema = {parameter.name: parameter for parameter in SCHEMAS[name]}
    faults = [f"no parameter {key!r}{_hint(key, list(schema))}" for key in values if key not in schema]
    checked: dict[str, Any] = {}
    for key, parameter in schema.items():
        try:
            checked[key] = _value(parameter, values[key]) if key in values else parameter.default
        except ValueError as error:
            faults.append(f"{key}: {error}")
    if faults:
        raise UsageError(f"notebook {name}: {'; '.join(faults)}")
    return checked


def _value(parameter: Parameter, value: Any) -> Any:
    if value is None and parameter.optional:
        return None
    plain = _plain(value)
    if not _fits(parameter.kind, plain):
        optional = " or None" if parameter.optional else ""
        raise ValueError(f"takes {parameter.kind}{optional}, not {type(value).__name__} {value!r:.60}")
    if parameter.kind == "float":
        plain = float(plain)
    if parameter.least is not None and not plain >= parameter.least:
        raise ValueError(f"is {plain}, and must be at least {parameter.least:g}")
    if parameter.kind == "str" and not plain.strip():
        raise ValueError("is empty")
    if parameter.among and plain not in parameter.among:
        raise ValueError(f"is {plain!r:.60}, and must be one of {', '.join(parameter.among)}")
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value.item() if type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0 else value


def _fits(kind: Kind, value: Any) -> bool:
    if kind == "list[str]":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if kind == "float":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value) is {"str": str, "int": int, "bool": bool}[kind]


def _hint(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f", did you mean {close[0]!r}?" if close else f" (known: {', '.join(sorted(set(known)))})"
