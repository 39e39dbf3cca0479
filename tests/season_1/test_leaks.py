"""Nothing of the operator's routes or of a reference run's play is in what leaves the operator's hands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import evalkit
from evalkit.cli import main
from evalkit.notebooks import report
from evalkit.season import load_season, play
from evalkit.season.season import Season
from evalkit.store import Store
from tests.season.seasonplay import leaks

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Season, Store]]:
    season = load_season(ROOT / "cases" / "season-1")
    with Store.open(tmp_path_factory.mktemp("leaks") / "runs.sqlite") as store:
        for agent in ("route", "ghost"):
            for entry in season.entries:
                run = play(season, level=entry.level, seed=0, agent=agent)
                store.add(run.run, replay=run.replay)
        yield season, store


def test_what_is_searched_for_would_be_found(played: tuple[Season, Store], tmp_path: Path) -> None:
    season, store = played
    anchor = next(run for run in store.runs(kind="season") if getattr(run, "reference", None) == "anchor")
    (tmp_path / "planted.json").write_bytes(store.replay(anchor.run_id))
    assert leaks(tmp_path, season, store)


def test_the_pack_holds_no_route(played: tuple[Season, Store], tmp_path: Path) -> None:
    season, store = played
    assert main(["pack", str(season.root), "-o", str(tmp_path / "pack")]) == 0
    assert leaks(tmp_path / "pack", season, store) == []
    names = {path.name for path in (tmp_path / "pack").rglob("*")}
    assert {"season.toml", "game.toml", "game.wasm", "README.md"} <= names
    assert not names & {"private", "route.py", "routes.toml", "_survey.py", "anchors.py"}


def test_an_export_holds_no_route(played: tuple[Season, Store], tmp_path: Path) -> None:
    season, store = played
    assert store.export(tmp_path / "out") == len(store.runs(kind="season"))
    assert leaks(tmp_path / "out", season, store) == []


def test_the_committed_sample_holds_no_route(played: tuple[Season, Store]) -> None:
    season, store = played
    assert leaks(ROOT / "data" / "sample", season, store) == []


def test_the_report_holds_no_route(
    played: tuple[Season, Store], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    season, store = played
    assert season.root is not None
    monkeypatch.setenv("PYTHONPATH", str(Path(evalkit.__file__).parents[1]))
    page = report(season.root, store.name, tmp_path / "page" / "season.html", kind="season")
    assert page.stat().st_size < 2_000_000
    assert leaks(page.parent, season, store) == []
