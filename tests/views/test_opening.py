"""The code that a board shows: it opens what the board has read, or says what it needs, and reads no other."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalkit
from evalkit.errors import UsageError
from evalkit.store import Store
from evalkit.views.opening import opened, source_of
from evalkit.views.whatif import whatif
from tests import made_up_runs as made
from tests.season.test_ranking import SEASON
from tests.views.boards import keep, season_runs

ROOT = Path(__file__).parents[2]
CASE = evalkit.load_case(ROOT / "cases" / "lattice" / "v1.0.0")
SAMPLE = ROOT / "data" / "sample"
CHANGES = {"season-1": ["completion=90", "seed 1=no"], "lattice": ["ceiling large=12000000000"]}


def ran(board: Any, **names: Any) -> None:
    """Run a board's code and compare what it gives with the board's frame."""
    exec(board.code, names)
    pd.testing.assert_frame_equal(names["frame"], board.frame)


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("EVALKIT_STORE", raising=False)


@pytest.mark.parametrize("what", ["season-1", "lattice"])
@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_code_asks_for_a_store_in_memory_and_reads_no_other(what: str, url: str) -> None:
    with Store.open(url) as store:
        store.import_(SAMPLE)
        board = evalkit.whatif(what, store).apply(CHANGES[what])
        assert "# store: the Store that you gave, which no name opens again" in board.code
        ran(board, store=store)
        with pytest.raises(NameError, match="store"):
            ran(board)


@pytest.mark.parametrize("what", ["season-1", "lattice"])
@pytest.mark.parametrize("form", ["{}", "sqlite:///{}"])
def test_code_opens_a_kept_store_by_its_name_however_it_was_given(what: str, form: str, tmp_path: Path) -> None:
    name = form.format(tmp_path / "runs.sqlite")
    with Store.open(name) as store:
        store.import_(SAMPLE)
        ran(evalkit.whatif(what, store).apply(CHANGES[what]))
    ran(evalkit.whatif(what, name).apply(CHANGES[what]))


def test_code_never_shows_a_password_and_says_what_opens_by_no_name() -> None:
    with Store.open("sqlite://") as memory:

        class Hidden(Store):
            name = "postgresql://me:***@host/runs"  # type: ignore[assignment]

        hidden = Hidden(memory._database)
        assert opened(hidden) == (hidden, "store")
        assert source_of(hidden, "postgresql://me:secret@host/runs") == "store"
        assert source_of(memory, None) == "evalkit.open_results()"
    with pytest.raises(UsageError, match="5 is no name"):
        opened(5)


def test_code_opens_a_season_that_lies_elsewhere_by_its_folder(tmp_path: Path) -> None:
    there = shutil.copytree(ROOT / "cases" / "season-1", tmp_path / "mine")
    manifest = there / "season.toml"
    manifest.write_text(manifest.read_text().replace("tick_limit", "# another one\ntick_limit", 1))
    season = evalkit.open_season(there)
    board = whatif(season).apply(CHANGES["season-1"])
    assert f"evalkit.open_season({str(there)!r})" in board.code
    assert "90 of 90 runs were recorded under another digest of the season" in repr(board.finding())
    ran(board)
    ran(whatif(str(there)).apply(CHANGES["season-1"]))
    at_home = whatif(evalkit.open_season("season-1"))
    assert "evalkit.open_season('season-1@1.0')" in at_home.code
    ran(at_home)


def test_code_asks_for_a_season_that_no_folder_holds() -> None:
    with Store.open("sqlite://") as store:
        for one in season_runs():
            keep(store, one)
        board = whatif(SEASON, store).apply(["completion=90"])
        ran(board, store=store, season=SEASON)
    changed = replace(evalkit.open_season("season-1"), tick_limit=1)
    assert "# season: the Season that you gave" in whatif(changed).code
    given = whatif(changed, runs=season_runs())
    assert "# runs: the runs that you gave" in given.code and "open_" not in given.code
    ran(given, season=changed, runs=season_runs())


def test_code_takes_the_cohort_that_the_board_took_of_the_runs_given() -> None:
    runs = [*made.every_outcome(), made.run("late", variant="hard", recorded_at="2027-01-01T00:00:00Z")]
    board = whatif(CASE, runs=runs)
    assert list(board.frame["model"]) == ["late"]
    assert "# runs: the runs that you gave" in board.code
    ran(board, runs=runs)
    ran(whatif(CASE, runs=[]), runs=[])


def test_code_folds_models_by_the_aliases_that_the_board_folded_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cases").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "models.toml").write_text('[aliases]\n"other" = "one"\n')
    monkeypatch.chdir(tmp_path)
    runs = [made.run("one"), made.run("other", 0.5), made.run("two")]
    board = whatif(CASE, runs=runs)
    assert sorted(board.frame["model"]) == ["one", "two"]
    ran(board, runs=runs)
    with Store.open("sqlite://") as store:
        for one in runs:
            store.add(replace(one, case="lattice"))
        ran(whatif(CASE, store), store=store)


def test_what_names_neither_a_season_nor_a_case_is_refused_in_a_line() -> None:
    for what in (None, 5, ["lattice"]):
        with pytest.raises(UsageError, match="is no name"):
            evalkit.whatif(what)  # type: ignore[arg-type]
