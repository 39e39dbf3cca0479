"""Why: a case, a season or a store is named in several ways, and code that is shown must open the same one again.

What no name opens again, code asks for by its own name; it never reads something else instead.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import unquote

from evalkit.errors import EvalkitError, UsageError
from evalkit.performance.case import Case
from evalkit.performance.manifest import open_case
from evalkit.reading import printable
from evalkit.season.manifest import load_season, open_season
from evalkit.season.season import Season
from evalkit.store import Store, open_results

__all__ = ["find", "named_again", "opened", "source_of"]


def find(what: str | os.PathLike[str] | Season | Case) -> Season | Case:
    """Open a case or a season. Raises UsageError as `open_case` does where it is neither, and where it is no name."""
    if isinstance(what, (Season, Case)):
        return what
    if not isinstance(what, (str, os.PathLike)):
        raise UsageError(f"name a season or a case, by path or slug[@version]: {printable(repr(what), 40)} is no name")
    ref = os.fspath(what)
    try:
        return open_case(ref)
    except UsageError as error:
        refusal = error
    try:
        return open_season(ref)
    except UsageError:
        raise refusal from None


def opened(store: Any) -> tuple[Store, str]:
    """A store to read, and Python that gives it again, as `source_of` says it.

    Raises StoreError where none opens, and UsageError for what is neither a store nor a name of one.
    """
    if isinstance(store, Store):
        return store, source_of(store, store.name)
    if store is not None and not isinstance(store, (str, os.PathLike)):
        raise UsageError(f"name a store by path or URL: {printable(repr(store), 40)} is no name")
    found = open_results(store)
    return found, source_of(found, None if store is None else os.fspath(store))


def source_of(store: Store, name: str | None) -> str:
    """Python that opens a store again by its name (None: what opens when nobody says), or `store` where none does.

    A store in memory has no such name, and one with a password has none that may be shown.
    """
    if name is None:
        return "evalkit.open_results()"
    scheme, _, place = unquote(name).partition("://")
    is_kept = not scheme.startswith("sqlite") or place not in ("", "/", "/:memory:")
    return f"evalkit.open_results({name!r})" if is_kept and "***" not in store.name else "store"


def named_again(what: Any, season: Season) -> str | None:
    """What `open_season` opens this season by: as it was named, its slug and version, or its folder; None: nothing.

    `what` is a name, or the season itself.
    """
    if not isinstance(what, Season):
        return str(os.fspath(what))
    if season.root is None:
        return None
    ref = f"{season.slug}@{season.version}"
    for name, open_again in ((ref, open_season), (str(season.root), load_season)):
        try:
            if bool(open_again(name) == season):
                return name
        except EvalkitError:
            continue
    return None
