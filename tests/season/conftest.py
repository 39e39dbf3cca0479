"""One played season for every test that looks at one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evalkit.season.season import Season
from evalkit.store import Store
from tests.season.seasonplay import played_season


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Season, Store, str]]:
    """A season's folder, a store of its runs, and the store's URL; to look at, not to change."""
    season, url = played_season(tmp_path_factory.mktemp("played"))
    with Store.open(url) as store:
        yield season, store, url
