"""Two models or two agents side by side: table, chart and finding, whatever their names and however little there is."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalkit
from evalkit.errors import UsageError
from evalkit.performance.compare import by_input
from evalkit.store import Store
from evalkit.views.compare import compare
from tests import made_up_runs as made
from tests.season.test_ranking import SEASON
from tests.views.boards import NASTY, keep, season_runs

CASE = evalkit.load_case(Path(__file__).parents[2] / "cases" / "lattice" / "v1.0.0")
SAMPLE = Path(__file__).parents[2] / "data" / "sample"


@pytest.fixture
def store() -> Store:
    opened = Store.open("sqlite://")
    opened.import_(SAMPLE)
    for one in season_runs():
        keep(opened, one)
    return opened


def test_models_are_compared_input_by_input(store: Store) -> None:
    two = compare(CASE, store)
    assert (two.first, two.second) == ("evalkit-timing-wheel", "evalkit-transport")
    assert list(two.frame["input"]) == ["large", "medium", "small"]
    assert two.frame["share"].sum() == pytest.approx(1)
    best = {row.model: row.total_fuel for row in evalkit.leaderboard(store.runs(case="lattice", kind="performance"))}
    ratio = best["evalkit-transport"] / best["evalkit-timing-wheel"]
    assert f"burned {ratio:.2f}× the fuel of evalkit-timing-wheel" in repr(two.finding())
    assert two.separation is None and "Fuel is exact" in repr(two.sureness())
    assert len(two.chart().to_dict()["layer"]) == 2
    other = compare(CASE, store, first=" EVALKIT-naive")
    assert other.first == "evalkit-naive" and other.second == "evalkit-timing-wheel"


def test_agents_are_compared_over_shared_cells_with_the_seeds_that_would_separate_them(store: Store) -> None:
    two = compare(SEASON, store, first=NASTY, second="agent 0")
    assert len(two.cells) == 3 and list(two.frame["seeds"]) == [2, 1]
    assert two.separation is not None
    said = repr(two.finding())
    assert "over 3 shared cells" in said and "(SE over seeds, the entries fixed)" in said
    assert f"{two.separation.needed:,}" in [row[1].text for row in two.sureness().rows]  # type: ignore[union-attr]
    assert "<img" not in two.table()._repr_html_() + two.finding()._repr_html_() + two.sureness()._repr_html_()
    turned = compare(SEASON, store, first="agent 0", second=NASTY)
    assert repr(turned.finding()) == said, "who is ahead is ahead, whoever is named first"
    alone = compare(SEASON, store)
    assert {alone.first, alone.second} <= {f"agent {n}" for n in range(3)} | {NASTY}


def test_what_cannot_be_compared_is_refused_in_a_line(store: Store) -> None:
    with pytest.raises(UsageError, match='no graded run of "nobody"'):
        compare(CASE, store, first="nobody")
    with pytest.raises(UsageError, match='no run of "nobody" counts'):
        compare(SEASON, store, second="nobody")
    with pytest.raises(UsageError, match="two are needed to compare, and 0 made a run"):
        compare(SEASON, Store.open("sqlite://"))
    with pytest.raises(UsageError, match="different cohorts"):
        by_input(made.run("a"), made.run("b", version="v2.0.0"))


def test_runs_that_share_no_reading_say_so() -> None:
    frame = by_input(made.run("a"), made.run("b", gate_closed=True))
    assert frame.empty and list(frame.columns) == ["input", "first", "second", "difference", "ratio", "share"]
    same = by_input(made.run("a"), made.run("b"))
    assert (same["share"] == 0).all() and (same["ratio"] == 1).all()
