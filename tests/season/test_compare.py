"""Two agents side by side: the shared cells, what each entry adds, and how many seeds would settle it."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest

from evalkit.errors import UsageError
from evalkit.season.compare import by_entry, seeds_to_separate, shared_cells
from tests.season.test_ranking import SEASON, run, whole


def test_only_cells_that_both_played_are_compared_attempts_averaged_first() -> None:
    runs = [*whole("a", 2), run("a", done=4, attempt=2), *whole("b", 1)[:3]]
    cells = shared_cells(runs, SEASON, "a", "b")
    assert [tuple(row) for row in cells[["level", "seed", "difference"]].itertuples(index=False)] == [
        ("dam", 0, 30.0), ("dam", 1, 15.0), ("runway", 0, 15.0),
    ]  # fmt: skip


def test_what_the_entries_add_sums_to_the_difference_most_first() -> None:
    runs = [*whole("a", 2), *whole("b", 1)[:2], run("b", "runway", 0, 4), run("b", "runway", 1, 4)]
    cells = shared_cells(runs, SEASON, "a", "b")
    entries = by_entry(cells)
    assert list(entries["level"]) == ["runway", "dam"]
    assert entries["adds"].sum() == pytest.approx(cells["difference"].mean())
    assert list(entries["seeds"]) == [2, 2] and (entries["se"] == 0).all()
    assert by_entry(cells.iloc[:0]).empty


def test_an_agent_without_a_run_is_refused_with_a_near_name() -> None:
    with pytest.raises(UsageError, match=r'no run of "agnet" counts in s.*agent'):
        shared_cells(whole("agent"), SEASON, "agent", "agnet")


def test_the_seeds_that_separate_follow_the_stratified_formula() -> None:
    given = {("x", "", 0): 4.0, ("x", "", 1): 8.0, ("y", "", 0): -1.0, ("y", "", 1): 3.0, ("z", "", 0): 99.0}
    found = seeds_to_separate(given)
    assert found is not None
    assert (found.difference, found.se, found.seeds) == (pytest.approx(3.5), pytest.approx(math.sqrt(8) / 2), 2)
    assert found.is_separate  # 3.5 is more than 1.96 x 1.414
    z = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
    assert found.needed == math.ceil(z**2 * (8 + 8) / (2 * 3.5) ** 2) == 3


@pytest.mark.parametrize(
    ("given", "needed", "is_separate"),
    [
        ({("x", "", 0): 5.0, ("x", "", 1): 5.0}, 2, True),
        ({("x", "", 0): 5.0, ("x", "", 1): -5.0}, None, False),
        ({("x", "", 0): 0.0, ("x", "", 1): 0.0}, None, False),
    ],
)
def test_no_spread_and_no_difference_are_answers(
    given: dict[tuple[str, str, int], float], needed: int | None, is_separate: bool
) -> None:
    found = seeds_to_separate(given)
    assert found is not None and (found.needed, found.is_separate) == (needed, is_separate)


def test_one_seed_says_nothing_about_how_many_more() -> None:
    assert seeds_to_separate({("x", "", 0): 1.0, ("y", "", 0): 2.0}) is None
    assert seeds_to_separate({}) is None


def test_entries_of_one_seed_are_named_as_left_out() -> None:
    found = seeds_to_separate({("x", "a", 0): 4.0, ("x", "a", 1): 8.0, ("y", "a", 0): -9.0})
    assert found is not None and found.difference == 6.0
    assert found.left_out == (("y", "a"),)
