"""Why: who only wants to look opens what there is: the store that is named, the local one, or the committed sample."""

from __future__ import annotations

import os

from evalkit.errors import StoreError
from evalkit.project import data_dir
from evalkit.store.database import default_path
from evalkit.store.runs import Store

__all__ = ["is_sample", "open_results"]


def is_sample(url: str | os.PathLike[str] | None = None) -> bool:
    """Say whether `open_results(url)` opens the committed sample: where no store is named and there is none."""
    named = url is not None or os.environ.get("EVALKIT_STORE")
    return not named and not default_path().exists() and (data_dir() / "sample").is_dir()


def open_results(url: str | os.PathLike[str] | None = None) -> Store:
    """Open what there is to look at: the named store, else the local one, else the committed sample, in memory.

    Raises StoreError where the named store cannot be opened, or where there is neither a store nor a sample.
    """
    if not is_sample(url):
        if url is None and not os.environ.get("EVALKIT_STORE") and not default_path().exists():
            what = f"neither a store at {default_path()} nor a sample at {data_dir() / 'sample'}"
            raise StoreError(f"there are no results yet, {what}: run `make report`, or name a store with --store")
        return Store.open(url, create=False)
    store = Store.open("sqlite://")
    store.import_(data_dir() / "sample")
    return store
