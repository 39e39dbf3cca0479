"""Why: what is stored is not run again, and what the machine failed at is tried again under a number of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.records import Outcome, PerformanceRun, ReviewedRun, SeasonRun, digest_id

if TYPE_CHECKING:  # importing the store costs a second, and the workers of a pool never need it
    from evalkit.store import Store

__all__ = ["attempt_number", "missing_attempts", "opened"]


def _is_ungraded(run: PerformanceRun | ReviewedRun | SeasonRun | None) -> bool:
    if isinstance(run, SeasonRun):
        return run.ungraded is not None
    return getattr(run, "outcome", None) is Outcome.UNGRADED


@contextmanager
def opened(store: Store | Path | str | None) -> Iterator[Store]:
    """The store itself, or one at a path or URL (default: the local one) for as long as the block runs."""
    from evalkit.store import Store

    if isinstance(store, Store):
        yield store
    else:
        with Store.open(store) as opened:
            yield opened


def missing_attempts(store: Store, key: tuple[str, ...], wanted: int) -> list[int]:
    """The free attempt numbers that still have to run until the store holds `wanted` runs of this job.

    An ungraded run does not count, and keeps its number; a voided one counts, or else it would come back.
    """
    free: list[int] = []
    number = 0
    while wanted > 0:
        number += 1
        run = store.find(digest_id((*key, str(number))))
        if run is None:
            free.append(number)
        if run is None or not _is_ungraded(run):
            wanted -= 1
    return free


def attempt_number(store: Store, key: tuple[str, ...], wanted: int, *, again: bool = True) -> int:
    """`wanted`, or where an ungraded or a voided run has that number the next one without: what is stored stays.

    Whoever asks for a voided run by name gets it anew; a sweep does not ask (`missing_attempts`). Without `again`, for
    work that would come out differently, any run that has a number passes it over.
    """
    for number in count(wanted):
        run = store.find(digest_id((*key, str(number))))
        if run is None or (again and not _is_ungraded(run) and run.voided is None):
            return number
    raise AssertionError("numbers do not end")
