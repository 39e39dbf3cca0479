"""Two models or two agents side by side: table, chart and finding, whatever their names and however little there is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import evalkit
from evalkit.errors import UsageError
from evalkit.performance.compare import by_input
from evalkit.store import Store
from evalkit.views.compare import compare
from tests import made_up_runs as made
from tests.season.test_ranking import SEASON, run
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


def _kept(cells: dict[str, dict[tuple[int, int], int]], **changed: Any) -> Store:
    """A store of runs: agent -> (entry of SEASON, seed) -> objectives done of four."""
    store = Store.open("sqlite://")
    for agent, own in cells.items():
        for (entry, seed), done in own.items():
            level, difficulty = SEASON.entries[entry].key
            keep(store, run(agent, level, seed, done, difficulty=difficulty, verified=None, **changed))
    return store


def test_what_goes_against_the_leader_is_said_to() -> None:
    wide = replace(SEASON, seeds={0: 60, 1: 97, 2: 99})
    ahead = {"a": {(0, 0): 3, (0, 1): 3, (1, 0): 0, (1, 1): 0}, "b": {(0, 0): 2, (0, 1): 2, (1, 0): 3, (1, 1): 4}}
    said = repr(compare(wide, _kept(ahead), first="a", second="b").finding())
    assert "b is 18.75 points ahead of a; runway (agent) adds most to that (26.25)" in said
    assert "while dam (agent) goes the other way (7.50 for a)" in said
    level = {"a": {(0, 0): 3, (1, 0): 0}, "b": {(0, 0): 0, (1, 0): 3}}
    assert "over 2 shared cells a and b are level." in repr(
        compare(wide, _kept(level), first="a", second="b").finding()
    )


def test_a_certainty_that_leaves_entries_out_or_points_the_other_way_says_so() -> None:
    wide = replace(SEASON, seeds={0: 60, 1: 97, 2: 99})
    turned = {"a": {(0, 0): 3, (0, 1): 3, (1, 0): 0}, "b": {(0, 0): 2, (0, 1): 2, (1, 0): 4}}
    two = compare(wide, _kept(turned), first="a", second="b")
    said = repr(two.finding())
    assert "b is 10.00 points ahead of a" in said and "apart" not in said
    assert "1 entry of one shared seed (runway (agent)) says nothing of it, and over the other one a is ahead" in said
    assert "entries left out, of one shared seed" in repr(two.sureness().rows)  # type: ignore[union-attr]
    same = {"a": {(0, 0): 3, (0, 1): 3, (1, 0): 4}, "b": {(0, 0): 2, (0, 1): 2, (1, 0): 0}}
    said = repr(compare(wide, _kept(same), first="a", second="b").finding())
    assert "1 entry of one shared seed (runway (agent)) says nothing of it; over the other one they are apart" in said
    uneven = {"a": {(0, 0): 1, (0, 1): 1, (0, 2): 1, (1, 0): 0, (1, 1): 0},
              "b": {(0, 0): 0, (0, 1): 0, (0, 2): 0, (1, 0): 1, (1, 1): 2}}  # fmt: skip
    said = repr(compare(wide, _kept(uneven), first="a", second="b").finding())
    assert "are level" in said and "where every entry counts alike, whatever its seeds, b is ahead" in said


def test_an_input_that_goes_the_other_way_makes_no_share_of_the_difference() -> None:
    def one(model: str, *fuels: int) -> Any:
        made_up = made.run(model)
        inputs = tuple(
            replace(row, fuel=fuels[n]) for n, row in enumerate(r for r in made_up.inputs if r.kind == "stress")
        )
        return replace(made_up, case=CASE.slug, inputs=inputs, total_fuel=sum(fuels), case_digest=CASE.digest())

    store = Store.open("sqlite://")
    for run_of in (one("a", 90_000, 10, 10, 10), one("b", 10, 60_000, 50_000, 10)):
        store.add(run_of)
    said = repr(compare(CASE, store, first="a", second="b").finding())
    assert "b burned 1.22× the fuel of a over the 4 stress inputs" in said
    names = [name for name, _ in made.STRESS]
    assert f"{names[1]} adds most to that, 59,990 more for b, while {names[0]} goes the other way" in said
    assert "89,990 more for a" in said and "%" not in said and "digest" not in said


def test_nobody_is_compared_with_itself(store: Store) -> None:
    for what, name in ((SEASON, "agent 0"), (CASE, "evalkit-naive")):
        with pytest.raises(UsageError, match=f'"{name}" is named twice'):
            compare(what, store, first=name, second=name)
    with pytest.raises(UsageError, match="is named twice"):
        compare(CASE, store, first=" EVALKIT-naive", second="evalkit-naive")


def test_a_comparison_of_runs_of_another_digest_says_so() -> None:
    cells = {"a": {(0, 0): 3, (1, 0): 1}, "b": {(0, 0): 2, (1, 0): 0}}
    said = repr(compare(SEASON, _kept(cells, season_digest="0" * 64), first="a", second="b").finding())
    assert "4 of 4 runs were recorded under another digest of the season" in said
    assert "digest" not in repr(compare(SEASON, _kept(cells), first="a", second="b").finding())
    store = Store.open("sqlite://")
    for one in (made.run("a", case=CASE.slug), made.run("b", 2.0, case=CASE.slug, case_digest=CASE.digest())):
        store.add(one)
    assert "1 of 2 runs was recorded under another digest of the case" in repr(compare(CASE, store).finding())
