"""Why: a file is read to its end whatever is wrong with it, so that its author sees every fault at once."""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

from evalkit.errors import AuthoringError, Fault
from evalkit.reading.kinds import Kind, Unfit, describe, did_you_mean, printable

__all__ = ["Faults", "Table", "read_bytes", "read_toml"]

MOST_BYTES = 4 << 20
"""A larger file than this is no manifest that a person wrote; it is refused before it is read."""

_DEEP_KEY = re.compile(
    r"""(?<![\w-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""",
)
"""A dotted key of more parts than a person writes: the time that `tomllib` takes grows with their square."""

SHOWN = 10
"""A table of more keys than this is not spelt out in a message."""

T = TypeVar("T")
D = TypeVar("D")
_REQUIRED = object()


class Faults:
    """Everything found wrong so far, over any number of files."""

    def __init__(self) -> None:
        self._found: list[Fault] = []
        self._order: dict[tuple[str, str], int] = {}

    def add(self, file: str, key: str, what: str, severity: Literal["error", "warning"] = "error") -> None:
        """Record one fault; its parts are made printable here, and nowhere else needs to care."""
        self._found.append(Fault(printable(file), printable(key), printable(what, 400), severity))

    def watch(self, file: str, data: Mapping[str, Any]) -> None:
        """Learn the order of a file's keys, so that its faults come in the order in which a person reads it."""
        for key in _walk(data, ""):
            self._order.setdefault((printable(file), printable(key)), len(self._order))

    def all(self) -> tuple[Fault, ...]:
        """Every fault and warning: files as they were first opened, keys as they stand in the file."""
        return tuple(sorted(self._found, key=self._place))

    def errors(self) -> tuple[Fault, ...]:
        """The faults that forbid use, in the same order."""
        return tuple(fault for fault in self.all() if fault.severity == "error")

    def raise_errors(self) -> None:
        """Raise AuthoringError with every error, if there is one."""
        if errors := self.errors():
            raise AuthoringError(errors)

    def _place(self, fault: Fault) -> int:
        key = fault.key
        while key and (fault.file, key) not in self._order:  # a missing key stands where its table does
            key = key[: max(key.rfind("."), key.rfind("#"), 0)]
        return self._order.get((fault.file, key), len(self._order))


def _walk(data: Mapping[str, Any], prefix: str) -> Iterator[str]:
    yield prefix
    for name, value in data.items():
        key = _join(prefix, name)
        if isinstance(value, dict):
            yield from _walk(value, key)
        elif isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            yield key
            for place, row in enumerate(value, 1):
                yield from _walk(row, f"{key}#{place}")
        else:
            yield key


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{_quoted(name)}" if prefix else _quoted(name)


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name) else f'"{name}"'


class Table:
    """One table of a TOML file while it is being read; `place` is its key in the file, `""` for the root.

    The second of several `[[case]]` tables has the place `case#2`. Taking a key makes it known; `finish` reports
    the others.
    """

    def __init__(self, data: dict[str, Any], file: str, place: str, faults: Faults) -> None:
        self._data, self.file, self.place, self._faults = data, file, place, faults
        self._known: dict[str, bool] = {}
        self._children: list[Table] = []

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def keys(self) -> tuple[str, ...]:
        """The keys that stand in this table, in the file's order; they count as known from now on."""
        self.accept(*self._data)
        return tuple(self._data)

    def error(self, key: str, what: str) -> None:
        """Record an error at a key of this table, which may lead deeper (`case#2.input`), or at itself with `""`."""
        self._note(key, what, "error")

    def warning(self, key: str, what: str) -> None:
        """Record a warning likewise."""
        self._note(key, what, "warning")

    def _note(self, key: str, what: str, severity: Literal["error", "warning"]) -> None:
        self._faults.add(self.file, ".".join(filter(None, (self.place, key))), what, severity)

    @overload
    def take(self, key: str, kind: Kind[T]) -> T: ...
    @overload
    def take(self, key: str, kind: Kind[T], default: D) -> T | D: ...
    def take(self, key: str, kind: Kind[T], default: Any = _REQUIRED) -> Any:
        """Give the value of a key. Absent without a default, or unfit: an error is recorded, a stand-in comes back."""
        self.accept(key)
        if key not in self._data:
            if default is _REQUIRED:
                self.error(_quoted(key), f"is missing: add {key} = {kind.example}")
            return kind.blank if default is _REQUIRED else default
        try:
            return kind.read(self._data[key])
        except Unfit as unfit:
            self.error(_quoted(key), str(unfit))
            return kind.blank if default is _REQUIRED else default

    def table(self, key: str) -> Table | None:
        """Open the table under a key; None where it is absent or no table (which is an error)."""
        self.accept(key)
        value = self._data.get(key)
        if value is not None and not isinstance(value, dict):
            self.error(key, f"must be a table [{key}], not {describe(value)}")
        return self._open(value, key) if isinstance(value, dict) else None

    def tables(self, key: str) -> list[Table]:
        """Open the list of tables under a key; empty where it is absent or no such list (which is an error)."""
        self.accept(key)
        value = self._data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            self.error(key, f"must be tables, each under [[{key}]], not {describe(value)}")
            return []
        return [self._open(row, f"{key}#{place}") for place, row in enumerate(value, 1)]

    def holds_tables(self, key: str) -> bool:
        """Whether a key holds a list of tables and nothing else, for a key that may be written in two ways."""
        value = self._data.get(key)
        return isinstance(value, list) and all(isinstance(row, dict) for row in value)

    def accept(self, *keys: str, offer: bool = True) -> None:
        """Make keys known without reading them; those not on offer are never proposed for a misspelt key."""
        self._known.update(dict.fromkeys(keys, offer))

    def finish(self) -> None:
        """Report the keys that nothing took, here and in every table opened from here."""
        for key in self._data:
            if key not in self._known:
                known = sorted(name for name, offered in self._known.items() if offered)
                others = f", or use one of {', '.join(known)}" if len(known) <= SHOWN else ""
                self.error(_quoted(key), f"is not a known key{did_you_mean(key, known) or f': remove it{others}'}")
        for child in self._children:
            child.finish()

    def _open(self, data: dict[str, Any], key: str) -> Table:
        place = f"{self.place}.{key}" if self.place else key
        self._children.append(Table(data, self.file, place, self._faults))
        return self._children[-1]


def read_bytes(path: Path, file: str, faults: Faults, most: int | None = None) -> bytes | None:
    """Read a whole file; where that fails, record it and give None. `file` is its name in messages."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            faults.add(file, "", "is not a file" + (": it is a folder" if stat.S_ISDIR(status.st_mode) else ""))
        elif most is not None and status.st_size > most:
            faults.add(file, "", f"is {status.st_size} bytes, and at most {most} are read: keep large data in files")
        else:
            return path.read_bytes()
    except FileNotFoundError:
        faults.add(file, "", "is missing: add the file")
    except (OSError, ValueError) as error:
        faults.add(file, "", f"cannot be read: {getattr(error, 'strerror', None) or error}")
    return None


def read_toml(path: Path, file: str, faults: Faults) -> Table | None:
    """Open a TOML file's root table; where that fails, record one fault, with line and column, and give None."""
    data = read_bytes(path, file, faults, MOST_BYTES)
    if data is None:
        return None
    try:
        text = data.decode("utf-8-sig")
        if found := _DEEP_KEY.search(text):
            line = text.count("\n", 0, found.start()) + 1
            faults.add(file, "", f"has a key of more than 16 parts, joined by dots (line {line}): write tables instead")
            return None
        values = tomllib.loads(text)
        faults.watch(file, values)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        faults.add(file, "", f"is not UTF-8 text (line {line}, byte {error.start}): save it as UTF-8")
    except RecursionError:
        faults.add(file, "", "is nested too deeply to be read")
    except ValueError as error:  # TOMLDecodeError is one; so is an integer of more digits than Python converts
        faults.add(file, "", f"is not TOML: {error}")
    else:
        return Table(values, file, "", faults)
    return None
