"""Why: a case's checker is the operator's own code; it is loaded and called here, and a fault in it is the author's."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

from evalkit.errors import AuthoringError
from evalkit.records import Verdict

__all__ = ["Check", "load_checker", "load_file", "where"]

Check = Callable[[bytes, bytes, bytes], Verdict]
"""`check(input, expected, output)`: is the output right?"""


def _same_bytes(data: bytes, expected: bytes, output: bytes) -> Verdict:
    """What is checked where a case has no checker of its own."""
    if output == expected:
        return Verdict(True)
    at = next((i for i, pair in enumerate(zip(output, expected, strict=False)) if pair[0] != pair[1]), None)
    if at is None:
        return Verdict(False, detail=f"the output has {len(output):,} bytes, the expected answer {len(expected):,}")
    return Verdict(False, detail=f"the output differs from the expected answer at byte {at:,}")


def load_checker(path: Path | None) -> Check:
    """The case's `check`, or byte equality where it has none.

    Raises AuthoringError where the file does not load or defines no `check`; so does the returned function where the
    checker fails or answers with something other than a verdict.
    """
    if path is None:
        return _same_bytes
    check = getattr(load_file(path), "check", None)
    if not callable(check):
        raise AuthoringError(f"{path}: check: is missing: define check(input, expected, output) -> Verdict")

    def checked(data: bytes, expected: bytes, output: bytes) -> Verdict:
        try:
            with redirect_stdout(sys.stderr):  # standard output may be one JSON document
                answer = check(data, expected, output)
            verdict = Verdict(answer.ok, answer.first_mismatch_tick, answer.detail)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # `sys.exit` too: a checker that leaves has given no verdict
            raise AuthoringError(f"{path}: check: {where(error, path)}; mend the checker") from error
        if not isinstance(verdict.ok, bool):
            raise AuthoringError(f"{path}: check: its verdict's `ok` is {verdict.ok!r}; it must be True or False")
        return verdict

    return checked


def load_file(path: Path) -> ModuleType:
    """Import a Python file that lies beside a manifest. Raises AuthoringError, in one line, where that fails."""
    name = f"evalkit_case_{path.stem}_{abs(hash(path.resolve())):x}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise AuthoringError(f"{path}: is not a Python file: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up while it is being made
    try:
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        del sys.modules[name]
        raise AuthoringError(f"{path}: does not load: {where(error, path)}") from error
    return module


def where(error: BaseException, path: Path) -> str:
    """Say in one line what a case's own file raised, and in which line of it."""
    frames = traceback.extract_tb(error.__traceback__)
    line = next((frame.lineno for frame in reversed(frames) if frame.filename == str(path)), None)
    text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return f"{text} (line {line})" if line else text
