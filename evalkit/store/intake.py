"""Why: what enters the store is checked once, here: the record, and the module, replay or turns that come with it."""

from __future__ import annotations

import dataclasses
import hashlib
from datetime import UTC, datetime

from evalkit.errors import ReplayError, StoreError
from evalkit.records import PerformanceRun, SeasonRun, check_model, read_turns
from evalkit.store.files import Record

__all__ = ["check_turns", "now", "ready"]


def now() -> str:
    """The time, as records hold it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def ready(run: Record, module: bytes | None, replay: bytes | None, turns: bytes | None = None) -> Record:
    """The run with the time it came at. Raises StoreError where it, or what comes with it, does not hold together."""
    try:
        run.validate()
    except ValueError as error:
        raise StoreError(f"run {run.run_id} is not stored: {error}") from None
    if module is not None:
        digest = run.module_digest if isinstance(run, PerformanceRun) else None
        if hashlib.sha256(module).hexdigest() != digest:
            raise StoreError(f"run {run.run_id} is not stored: the module given with it is not its module {digest}")
    if replay is not None:
        digest = run.replay_digest if isinstance(run, SeasonRun) else None
        if hashlib.sha256(replay).hexdigest() != digest:
            raise StoreError(f"run {run.run_id} is not stored: the replay given with it is not its replay {digest}")
        assert isinstance(run, SeasonRun)
        _hold(run, replay)
    if turns is not None:
        digest = run.provenance.get("turns") if isinstance(run, SeasonRun) else None
        if hashlib.sha256(turns).hexdigest() != digest:
            raise StoreError(f"run {run.run_id} is not stored: the turns given with it are not its turns {digest}")
    return run if run.recorded_at is not None else dataclasses.replace(run, recorded_at=now())


def check_turns(run: Record, turns: bytes | None) -> None:
    """Raise StoreError where turns from elsewhere are none, or what their run says of its model cannot be."""
    try:
        if turns is not None:
            read_turns(turns)
            check_model(run.provenance)
    except ValueError as error:
        raise StoreError(f"run {run.run_id} is not stored: its turns cannot be read: {error}") from None


def _hold(run: SeasonRun, replay: bytes) -> None:
    """Raise StoreError where a replay is none, or says anything else than the record that it is to prove."""
    from evalkit.season.recorded import differences  # with the console and its engine, which a look at a store spares
    from evalkit.season.replays import read_replay

    try:
        found = differences(run, read_replay(replay))
    except ReplayError as error:
        raise StoreError(f"run {run.run_id} is not stored: its replay is refused: {error}") from None
    if found:
        raise StoreError(f"run {run.run_id} is not stored: {'; '.join(found)}")
