"""Why: the store as everyone meets it: runs go in once and whole, stay, and come back by id, by filter or as tables."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self, Unpack

import sqlalchemy as sa

from evalkit._consistency import is_name
from evalkit.errors import StoreError, UsageError
from evalkit.records import Review, ReviewedRun, SeasonRun, read_turns
from evalkit.store import frames, rows, tables
from evalkit.store.database import Database
from evalkit.store.files import ImportReport, Record
from evalkit.store.filters import Filters, filtered, spellings
from evalkit.store.intake import now, ready
from evalkit.store.transfer import folder_of, take_in, write_out

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Store"]


class Store:
    """Runs in a database; a context manager. Make one with `Store.open`.

    Every method raises StoreError where the database cannot be read or written; nothing in it has changed then.
    A run id may be given by any unique beginning of at least four hex digits; UsageError where it names no one run.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, url: str | os.PathLike[str] | None = None, *, create: bool = True, patience: float = 30.0) -> Self:
        """Open the store at a path or SQLAlchemy URL; by default at EVALKIT_STORE, else `default_path()`.

        A path is a SQLite file; `create` makes it, and its folder, where it is missing. What may only be read, or is
        asked for as `sqlite:///PATH?mode=ro`, is opened for reading. `patience` is in seconds: how long to wait for
        another process that holds the database. Raises StoreError for what is no store of this version.
        """
        return cls(Database.open(url, create=create, patience=patience))

    def close(self) -> None:
        """Let go of the database; closing twice is harmless."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.name!r})"

    @property
    def name(self) -> str:
        """Path or URL, without a password."""
        return self._database.name

    @property
    def read_only(self) -> bool:
        """Whether this store can be read, not written."""
        return self._database.read_only

    # Storing

    def add(
        self, run: Record, module: bytes | None = None, *, replay: bytes | None = None, turns: bytes | None = None
    ) -> bool:
        """Store a run with its inputs and module, or its replay and turns, all or none: False if it was there.

        A run that was there with the same content gains what it lacked: its module, being voided, a review. A run
        without `recorded_at` gets the time of now. Raises StoreError where the same job is stored with other content,
        where the record fails `validate`, where module or replay is not the one whose digest the run holds, and where
        a replay says anything else than the record.
        A season run is stored as never verified: only `record_verification` says otherwise.
        """
        run = ready(run, module, replay, turns)
        return self._database.write(
            f"store run {run.run_id}", lambda connection: rows.put(connection, run, module, replay, turns)
        )

    def void(self, run_id: str, reason: str) -> Record:
        """Mark a run as counting nowhere, for a reason, and return it; it stays, and nothing undoes it.

        Raises UsageError for a blank reason and for a run that is voided already, with its first reason.
        """
        return self.void_all([run_id], reason)[0]

    def void_all(self, run_ids: Iterable[str], reason: str) -> list[Record]:
        """Void these runs for one reason, all or none, and return them, each once. Raises as `void` does."""
        if not is_name(reason):
            raise UsageError("a run is voided for a reason: say why in words")

        def work(connection: sa.Connection) -> list[Record]:
            found = {run.run_id: run for run in [rows.named(connection, run_id) for run_id in asked]}
            for run in found.values():
                if run.voided is not None:
                    raise UsageError(f"run {run.run_id} is voided already: {run.voided!r}")
                rows.set_voided(connection, run.run_id, reason)
            return [dataclasses.replace(run, voided=reason) for run in found.values()]

        asked = list(run_ids)
        return self._database.write("void a run", work)

    def review(self, run_id: str, review: Review, *, replace: bool = False) -> Record:
        """Record a person's review with a reviewed run, and return the run; the same review again changes nothing.

        A review without `recorded_at` gets the time of now. Raises UsageError for a performance run, a voided run, a
        malformed review, and another review than the one that is there, unless `replace`.
        """
        review = dataclasses.replace(review, recorded_at=review.recorded_at or now())

        def work(connection: sa.Connection) -> Record:
            run = rows.named(connection, run_id)
            if not isinstance(run, ReviewedRun):
                what = "a season run: its facts are" if isinstance(run, SeasonRun) else "a performance run: fuel is"
                raise UsageError(f"run {run.run_id} is {what} its score, and no one reviews it")
            if run.voided is not None:
                raise UsageError(f"run {run.run_id} is voided ({run.voided!r}): a review of it would count nowhere")
            new = dataclasses.replace(run, review=review)
            try:
                new.validate()
            except ValueError as error:
                raise UsageError(f"the review of run {run.run_id} is not recorded: {error}") from None
            if run.review is not None:
                if dataclasses.replace(run.review, recorded_at=review.recorded_at) == review:
                    return run
                if not replace:
                    raise UsageError(f"run {run.run_id} has a review by {run.review.reviewer!r}: ask to replace it")
            rows.set_review(connection, run.run_id, review)
            return new

        return self._database.write("record a review", work)

    def record_verification(
        self, run_id: str, *, verified: bool, engine: str, drift: dict[str, Any] | None = None
    ) -> SeasonRun:
        """Record what replaying a season run's stored replay said here and now, and return the run.

        Raises UsageError where the run has no replay here, StoreError where the facts contradict each other.
        """

        def work(connection: sa.Connection) -> SeasonRun:
            run = rows.named(connection, run_id)
            if not isinstance(run, SeasonRun) or rows.find_replay(connection, run.run_id) is None:
                raise UsageError(f"run {run.run_id} has no replay here, so nothing can be said of it")
            new = dataclasses.replace(run, verified=verified, verified_at=now(), verified_on=engine, drift=drift)
            try:
                new.validate()
            except ValueError as error:
                raise StoreError(f"the verification of run {run.run_id} is not recorded: {error}") from None
            rows.set_verified(connection, new)
            return new

        return self._database.write("record a verification", work)

    # Reading

    def get(self, run_id: str) -> Record:
        """Return the run with this id. Raises UsageError, naming near ids, where there is none or more than one."""
        return self._database.read("read a run", lambda connection: rows.named(connection, run_id))

    def find(self, run_id: str) -> Record | None:
        """Return the run with exactly this id, or None."""
        return self._database.read("read a run", lambda connection: rows.find(connection, run_id))

    def has(self, run_id: str) -> bool:
        """Say whether a run with exactly this id is stored, voided or not."""
        query = sa.select(tables.runs.c.run_id).where(tables.runs.c.run_id == rows.plain(run_id))
        return self._database.read("look for a run", lambda connection: connection.scalar(query)) is not None

    def runs(self, *, include_voided: bool = True, **filters: Unpack[Filters]) -> list[Record]:
        """Return runs in recorded order; the names of `Filters` are the filters.

        Raises UsageError for an unknown filter or kind, and with `model` AuthoringError for a broken `models.toml`.
        """
        query = self._chosen(rows.select_records(), include_voided, filters)
        return self._database.read("read runs", lambda connection: [rows.load(r) for r in connection.execute(query)])

    def next_attempt(self, run: Record) -> int:
        """Return the first attempt, from 1, that the store does not hold for the job of `run`; its own is ignored."""
        query = sa.select(tables.runs.c.attempt).where(tables.runs.c.job == rows.job_of(run))
        taken = set(self._database.read("read attempts", lambda connection: connection.scalars(query).all()))
        return next(attempt for attempt in range(1, len(taken) + 2) if attempt not in taken)

    def module(self, digest: str) -> bytes:
        """Return a module by its digest. Raises UsageError where it is not stored, StoreError where it was damaged."""
        wasm = self._database.read("read a module", lambda connection: rows.find_module(connection, digest))
        if wasm is None:
            raise UsageError(f"module {digest!r} is not in {self.name}: grade the solution to build it")
        return wasm

    def replay(self, run_id: str, *, even_damaged: bool = False) -> bytes:
        """Return a season run's replay. Raises UsageError where there is none, StoreError where it was damaged.

        `even_damaged` returns what is there all the same: for who holds it against the run, and finds it wanting.
        """

        def work(connection: sa.Connection) -> bytes:
            run = rows.named(connection, run_id)
            proof = rows.find_replay(connection, run.run_id)
            if proof is None or not isinstance(run, SeasonRun):
                raise UsageError(f"run {run.run_id} has no replay in {self.name}")
            if not even_damaged and hashlib.sha256(proof).hexdigest() != run.replay_digest:
                raise StoreError(f"the replay of run {run.run_id} is damaged in the store")
            return proof

        return self._database.read("read a replay", work)

    def has_replay(self, run_id: str) -> bool:
        """Say whether the run with exactly this id has its replay here."""
        return self._database.read("look for a replay", lambda c: rows.find_replay(c, run_id) is not None)

    def turns(self, run_id: str) -> list[dict[str, Any]] | None:
        """Return what was said at each decision of a season run, oldest first; None where nothing was kept.

        A turn of a model-backed agent: `decision`, `observation`, `picture` (a digest), `calls` (each with `request`,
        a digest, `answer`, `fault`, `tokens`, `dollars`), `action`, `noop`; `system`, what the model was told, in the
        first. Raises StoreError where they were damaged, or are no turns.
        """

        def work(connection: sa.Connection) -> list[dict[str, Any]] | None:
            run = rows.named(connection, run_id)
            said = rows.find_turns(connection, run.run_id)
            if said is None:
                return None
            if hashlib.sha256(said).hexdigest() != run.provenance.get("turns"):
                raise StoreError(f"the turns of run {run.run_id} are damaged in the store")
            try:
                return read_turns(said)
            except ValueError as error:
                raise StoreError(f"the turns of run {run.run_id} cannot be read here: {error}") from None

        return self._database.read("read turns", work)

    def module_digests(self, solution_digest: str) -> set[str]:
        """Return the digests of every module that runs of this solution were graded with; more than one is a sign."""
        column = tables.case_runs.c.module_digest
        known = sa.select(column).where(
            tables.case_runs.c.solution_digest == rows.plain(solution_digest), column.is_not(None)
        )
        return set(self._database.read("read module digests", lambda connection: connection.scalars(known).all()))

    # Tables

    def runs_frame(self, *, include_voided: bool = True, **filters: Unpack[Filters]) -> pd.DataFrame:
        """Return a row a run, in recorded order, with the columns and dtypes of `frames.RUNS`; filters as in `runs`.

        Fuels are counts of wasmtime fuel; `voided` is the reason, and missing where a run counts.
        """
        return self._frame(self._chosen(frames.runs_query(), include_voided, filters), frames.RUNS)

    def season_frame(self, *, include_voided: bool = True, **filters: Unpack[Filters]) -> pd.DataFrame:
        """Return a row a season run, in recorded order, with the columns and dtypes of `frames.SEASON_RUNS`.

        It is what `evalkit.season.standings` takes. `time_s` is seconds of game time, missing where not completed.
        """
        return self._frame(self._chosen(frames.season_runs_query(), include_voided, filters), frames.SEASON_RUNS)

    def inputs_frame(self, *, include_voided: bool = True, **filters: Unpack[Filters]) -> pd.DataFrame:
        """Return a row an input of each run, with the columns and dtypes of `frames.INPUTS`; filters as in `runs`."""
        return self._frame(self._chosen(frames.inputs_query(), include_voided, filters), frames.INPUTS)

    def counts(self) -> pd.DataFrame:
        """Return case, version, variant, outcome, n: how many runs ended how. Voided runs do not count."""
        return self._frame(frames.counts_query(), frames.COUNTS)

    def _chosen(self, query: sa.Select[Any], include_voided: bool, filters: Filters) -> sa.Select[Any]:
        model = filters.get("model")
        known = () if model is None else self._database.read("read models", lambda c: spellings(c, model))
        return filtered(query, include_voided, filters, known)

    def _frame(self, query: sa.Select[Any], dtypes: dict[str, str]) -> pd.DataFrame:
        found = self._database.read("read a table", lambda connection: connection.execute(query).all())
        return frames.to_frame(found, dtypes)

    # Plain files

    def export(
        self, folder: str | os.PathLike[str], run_ids: Iterable[str] | None = None, *, modules: bool = True
    ) -> int:
        """Write these runs (default: all) to a folder of plain files, and return how many; `modules` with their wasm.

        Replays and turns go along, but for those of anchors: an anchor's replay is the operator's private route.

        The folder may be new, empty, or an export, which is merged with: what only it holds stays. Raises StoreError,
        with nothing replaced, where it is something else, cannot be read whole, or holds a run with other content.
        Of a run that both hold, this store's record is written, with the other's void or review where it has none.
        """
        target = folder_of(folder)
        wanted = None if run_ids is None else list(run_ids)
        return self._database.read(f"export to {target}", lambda c: write_out(c, target, wanted, modules=modules))

    def import_(self, folder: str | os.PathLike[str]) -> ImportReport:
        """Take in an export in one transaction. What is malformed, or conflicts with a stored run, is refused by name.

        So is a run whose record its own replay contradicts. Runs keep the time they were recorded at; a season run is
        not verified until it is replayed here. Being voided is monotone: a voided record voids the stored run, and a
        stored void stays. Raises UsageError where the folder is no export.
        """
        source = folder_of(folder)
        return self._database.write(f"import {source}", lambda connection: take_in(connection, source))
