"""Why: where a store lives and how it is reached, so that each way a database can fail is one `StoreError` in one line.

Work is handed in as a function of a connection and runs in one transaction: when another process holds the database,
or won a race for the same key, the whole of it is rolled back and tried again.
"""

from __future__ import annotations

import os
import random
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, IntegrityError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import QueuePool, StaticPool

from evalkit._consistency import is_name
from evalkit.errors import StoreError
from evalkit.project import data_dir
from evalkit.store.tables import METADATA, VERSION, meta

__all__ = ["Database", "default_path"]

T = TypeVar("T")
Mode = Literal["rwc", "rw", "ro", "ro&immutable=1"]

HINTS = (
    ("not a database", "name another file, or move this one away"),
    ("locked", "another process is writing; try again when it is done"),
    ("is full", "free some space and try again"),
    ("readonly", "it can be read here, not written"),
    ("unable to open", "check that it exists and that you may read and write it and its folder"),
    ("malformed", "the file is damaged: restore a copy, or import an export into a new store"),
)


def default_path(start: Path | None = None) -> Path:
    """Return where the store is when nobody says: `data/runs.sqlite` of the project around `start` (default: the cwd).

    The project is the nearest folder, going up, that holds `cases/`, so that a notebook in `notebooks/` and a command
    at the top meet in one store. Without one it is `start` itself.
    """
    return data_dir(start) / "runs.sqlite"


class Database:
    """An opened database whose tables are those of this version. `name` is for people: it never shows a password."""

    def __init__(self, engine: sa.Engine, name: str, *, read_only: bool, patience: float) -> None:
        self.name = name
        self.read_only = read_only
        self._engine: sa.Engine | None = engine
        self._patience = patience
        self._process = os.getpid()

    @classmethod
    def open(cls, url: str | os.PathLike[str] | None, *, create: bool, patience: float) -> Database:
        """Open, and where `create` allows it make, the database. Raises StoreError for anything that is none."""
        place = _locate(url)
        with _explained(f"cannot open the store ({place.name})"):
            database = cls._file(place, create, patience) if place.is_sqlite else cls._server(place, patience)
            try:
                database._prepare(create and not database.read_only)
            except BaseException:
                database.close()
                raise
        return database

    @classmethod
    def _server(cls, place: _Place, patience: float) -> Database:
        try:
            engine = sa.create_engine(place.url)
        except ImportError as error:
            raise StoreError(f"the store {place.name} needs the Python package {error.name}: install it") from None
        return cls(engine, place.name, read_only=False, patience=patience)

    @classmethod
    def _file(cls, place: _Place, create: bool, patience: float) -> Database:
        path = place.path
        if path is None:
            engine = _sqlite_engine(lambda: sqlite3.connect(":memory:", check_same_thread=False), StaticPool)
            return cls(engine, place.name, read_only=False, patience=patience)
        if path.is_dir():
            raise StoreError(f"the store {place.name} is a folder: name a file in it")
        exists = path.exists()
        if not exists and (place.read_only or not create):
            raise StoreError(f"there is no store at {place.name}: check the path, or create one by storing a run")
        if not exists:
            path.parent.mkdir(parents=True, exist_ok=True)
        # SQLite keeps its journal beside the file: without a writable folder a writable file is of no use.
        writable = not exists or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
        mode: Mode = "rwc" if not exists else "rw" if writable and not place.read_only else "ro"
        if mode == "ro" and not _can_read(path, "ro", patience) and _is_settled(path):
            # Without a journal there is no writer at work, and SQLite need not make one to read along.
            mode = "ro&immutable=1"
        engine = _sqlite_engine(lambda: _connect(path, mode, patience), QueuePool)
        return cls(engine, place.name, read_only=mode.startswith("ro"), patience=patience)

    def _prepare(self, create: bool) -> None:
        """Check that the tables are this version's, or make them in an empty database."""
        missing = self.read("open the store", self._missing)
        if missing == set(METADATA.tables) and not create:
            raise StoreError(f"{self.name} holds no runs store: check the path, or store a run to make it one")
        if missing and not self.read_only:
            # Some are missing where a later kind of run brought tables: a store that was there before gains them.
            self.write("create the store", self._make)
        if not self.read_only and self._require().dialect.name == "sqlite":
            self._retried(self._set_wal)

    def _missing(self, connection: sa.Connection) -> set[str]:
        """Which tables are still to be made; raises StoreError where the database is of something or somewhen else."""
        present = set(sa.inspect(connection).get_table_names())
        if not present:
            return set(METADATA.tables)
        version = None
        if meta.name in present:
            version = connection.scalar(sa.select(meta.c.value).where(meta.c.name == "evalkit_store"))
        if version is None:
            raise StoreError(f"{self.name} is a database of something else: name an empty or a new one")
        if version != VERSION:
            raise StoreError(
                f"{self.name} is a store of version {version}, and this evalkit reads version {VERSION}: "
                "export it with the evalkit that wrote it, and import that into a new store"
            )
        return set(METADATA.tables) - present

    def _make(self, connection: sa.Connection) -> None:
        # Asked again under the write lock: another process may have been first.
        missing = self._missing(connection)
        METADATA.create_all(connection, tables=[METADATA.tables[name] for name in missing])
        if meta.name in missing:
            connection.execute(meta.insert().values(name="evalkit_store", value=VERSION))

    def _set_wal(self) -> None:
        raw = self._require().raw_connection()
        try:
            cursor = raw.cursor()
            if cursor.execute("PRAGMA journal_mode").fetchone()[0] == "delete":
                cursor.execute("PRAGMA journal_mode = WAL")
        finally:
            raw.close()

    def read(self, doing: str, work: Callable[[sa.Connection], T]) -> T:
        """Run `work` in one transaction that sees one state. Raises StoreError that starts with what was being done."""
        return self._transact(doing, work, "read")

    def write(self, doing: str, work: Callable[[sa.Connection], T]) -> T:
        """Run `work` in one transaction, again where another process was in the way: all of it lands, or none."""
        return self._transact(doing, work, "write")

    def _transact(self, doing: str, work: Callable[[sa.Connection], T], purpose: str) -> T:
        def once() -> T:
            with self._require().execution_options(evalkit_purpose=purpose).begin() as connection:
                return work(connection)

        with _explained(f"cannot {doing} ({self.name})"):
            return self._retried(once)

    def _retried(self, work: Callable[[], T]) -> T:
        deadline = time.monotonic() + self._patience
        raced = False
        while True:
            try:
                return work()
            except IntegrityError:
                # The unique key has decided for another process; the second look finds its row.
                if raced:
                    raise
                raced = True
            except (OperationalError, sqlite3.OperationalError) as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(random.uniform(0.005, 0.05))

    def _require(self) -> sa.Engine:
        if self._engine is None:
            raise StoreError(f"the store {self.name} is closed: open it again")
        if self._process != os.getpid():
            # A connection does not survive a fork: the child leaves its parent's alone and opens its own.
            self._engine.dispose(close=False)
            self._process = os.getpid()
        return self._engine

    def close(self) -> None:
        """Let go of every connection; closing twice is harmless."""
        if self._engine is not None:
            self._engine.dispose(close=self._process == os.getpid())
            self._engine = None


@dataclass(frozen=True, slots=True)
class _Place:
    """What a path or URL names. `path` is None for a server and for a store in memory."""

    url: sa.URL
    name: str
    path: Path | None = None
    read_only: bool = False

    @property
    def is_sqlite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"


def _locate(url: str | os.PathLike[str] | None) -> _Place:
    text = os.fspath(url) if url is not None else os.environ.get("EVALKIT_STORE") or str(default_path())
    if not is_name(text):
        raise StoreError(f"{text!r} is no path and no URL of a store")
    if "://" not in text:
        home = os.path.expanduser(text)  # noqa: PTH111 - that of Path raises where a name after ~ is no user's
        return _Place(sa.URL.create("sqlite"), text, Path(home).absolute())
    # A URL that cannot be read may still hold a password.
    hidden = re.sub(r"://[^/]*@", "://***@", text)
    try:
        parsed = sa.make_url(text)
        parsed.get_dialect()
    except (ArgumentError, ValueError):
        raise StoreError(f"{hidden!r} is no URL of a database: write one like sqlite:///data/runs.sqlite") from None
    except ImportError as error:
        raise StoreError(f"the store {hidden!r} needs the Python package {error.name}: install it") from None
    name = parsed.render_as_string(hide_password=True)
    if parsed.get_backend_name() != "sqlite":
        return _Place(parsed, name)
    query = dict(parsed.query)
    if parsed.drivername not in ("sqlite", "sqlite+pysqlite") or query not in ({}, {"mode": "ro"}):
        raise StoreError(
            f"{hidden!r} asks for more than a SQLite file: only sqlite:///PATH and ?mode=ro are understood"
        )
    if parsed.database in (None, "", ":memory:"):
        return _Place(parsed, name)
    return _Place(parsed, name, Path(str(parsed.database)).absolute(), read_only=bool(query))


def _connect(path: Path, mode: Mode, patience: float) -> sqlite3.Connection:
    # Transactions are begun by hand (see `_begin`): the driver's own begin comes too late to lock for writing.
    uri = f"file:{quote(str(path))}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=patience, isolation_level=None, check_same_thread=False)


def _can_read(path: Path, mode: Mode, patience: float) -> bool:
    try:
        connection = _connect(path, mode, patience)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        finally:
            connection.close()
    except sqlite3.OperationalError:
        return False
    except sqlite3.DatabaseError:
        return True  # no database: opening it says so
    return True


def _is_settled(path: Path) -> bool:
    """Whether all that was written is in the file itself, and nothing waits in a journal beside it."""
    journals = (path.with_name(path.name + end) for end in ("-wal", "-journal"))
    return not any(journal.exists() and journal.stat().st_size for journal in journals)


def _sqlite_engine(creator: Callable[[], sqlite3.Connection], pool: type[sa.Pool]) -> sa.Engine:
    engine = sa.create_engine("sqlite://", creator=creator, poolclass=pool)

    @sa.event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys = ON")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        # Taking the write lock first makes a second writer wait its turn; upgrading later would fail at once.
        writes = connection.get_execution_options().get("evalkit_purpose") == "write"
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Turn whatever a database or a file system raises into one line, without their tracebacks behind it."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        cause = getattr(error, "orig", None) or error
        text = " ".join(str(cause).split()) or type(cause).__name__
        hint = next((f": {advice}" for sign, advice in HINTS if sign in text), "")
        raise StoreError(f"{what}: {text}{hint}") from None
