"""Why: whether the files of a case say what its manifest claims; the slow half of checking, for `check` alone.

Every document is parsed and held against its schema, which takes seconds for megabytes. Grading loads a case without
it: the case was checked when it was published, and its digest shows whether it is still that case.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from evalkit.performance.case import Case
from evalkit.reading import Faults, Table, printable, read_bytes

__all__ = ["check_contents"]

SHOWN = 3
"""How many breaches of its schema are reported for one document; the rest tend to be the same one again."""


def check_contents(case: Case, manifest: Table, faults: Faults) -> None:
    """Record what is wrong inside the files of a performance case; faults of an answer stand at its manifest key."""
    if case.contract is None:
        return
    for key, functions in (("checker", ("check",)), ("player", ("schedule", "states", "frames"))):
        path: Path | None = getattr(case.contract, key)
        if path is not None and path != case.root:
            _check_python(path, path.relative_to(case.root).as_posix(), functions, faults)
    # One schema may serve both ways; it is read, and its faults reported, once.
    schemas = {path: _schema(path, case.root, faults) for path in (case.contract.input, case.contract.output)}
    for place, row in enumerate(case.inputs, 1):
        pairs = (("input", row.input, case.contract.input), ("expected", row.expected, case.contract.output))
        for key, path, schema in pairs:
            judge = schemas[schema]
            if path == case.root:  # stands for a file whose absence is already a fault
                continue
            name = path.relative_to(case.root).as_posix()
            # With no schema a document may be anything; only its own name can promise that it is JSON.
            if (judge or path.suffix == ".json") and (data := read_bytes(path, name, faults)) is not None:
                for what in _breaches(data, judge):
                    manifest.error(f"case#{place}.{key}", f'"{name}" {what}')


Judge = Callable[[Any], Iterator[str]]


def _breaches(data: bytes, judge: Judge | None) -> Iterator[str]:
    try:
        document = _json(data)
    except (ValueError, RecursionError) as error:
        yield f"does not parse as JSON: {error or 'it is nested too deeply'}"
        return
    if judge is not None:
        yield from judge(document)


def _json(data: bytes) -> Any:
    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no JSON number")

    return json.loads(data.decode(), parse_constant=refuse)


def _schema(path: Path | None, root: Path, faults: Faults) -> Judge | None:
    """Read a JSON Schema into a function that gives what a document does against it; None where there is no schema."""
    if path is None or path == root:
        return None
    name = path.relative_to(root).as_posix()
    data = read_bytes(path, name, faults)
    if data is None:
        return None
    try:
        schema = _json(data)
    except (ValueError, RecursionError) as error:
        faults.add(name, "", f"does not parse as JSON: {error or 'it is nested too deeply'}")
        return None
    import jsonschema
    import referencing
    import referencing.exceptions

    from evalkit import _startup  # noqa: F401  # before jsonschema: saves 3 s

    try:
        kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        kind.check_schema(schema)
    except (jsonschema.SchemaError, RecursionError, TypeError, re.error) as error:
        faults.add(name, "", f"is not a JSON Schema: {printable(getattr(error, 'message', error))}")
        return None
    # An explicit registry: the default one would fetch a remote $ref over the network.
    validator = kind(schema, registry=referencing.Registry())

    def judge(document: Any) -> Iterator[str]:
        try:
            for error in islice(validator.iter_errors(document), SHOWN):
                yield f"breaks {name} at {printable(error.json_path, 80)}: {printable(error.message)}"
        except referencing.exceptions.Unresolvable as error:
            yield f"cannot be held against {name}: {printable(error.ref)} is not in it; keep a schema in one file"
        except (RecursionError, ArithmeticError, TypeError, re.error) as error:  # what odd schemas provoke
            yield f"cannot be held against {name}: {printable(error)}"

    return judge


def _check_python(path: Path, name: str, functions: tuple[str, ...], faults: Faults) -> None:
    """Record whether a Python file parses and defines these functions; it is not run."""
    data = read_bytes(path, name, faults)
    if data is None:
        return
    try:
        tree = ast.parse(data)
    except SyntaxError as error:
        faults.add(name, "", f"is not Python: {error.msg} (line {error.lineno})")
        return
    except (ValueError, RecursionError, MemoryError) as error:
        faults.add(name, "", f"is not Python: {error}")
        return
    defined: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            defined.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            defined.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign):
            defined.update(target.id for target in node.targets if isinstance(target, ast.Name))
    missing = [function for function in functions if function not in defined]
    if missing:
        faults.add(name, "", f"defines no function {', '.join(missing)}: add it at the top level")
