"""Why: the charts of growth show a committed file, so it has to be what the engines burn today."""

from __future__ import annotations

import pytest

from evalkit.performance.manifest import load_case
from evalkit.performance.scaling import ScalingPoint, read_scaling
from tests.lattice.engines import RIGHT_ENGINES
from tests.lattice.lattice_case import CASE, load

FLAT_OUT = 10_000_000


@pytest.fixture(scope="module")
def points() -> tuple[ScalingPoint, ...]:
    return read_scaling(load_case(CASE))


def test_the_cheapest_rows_burn_the_same_again(points: tuple[ScalingPoint, ...]) -> None:
    """After an engine has changed, `python cases/lattice/v1.0.0/scaling.py` makes the file again."""
    again = list(load("scaling").measure(ticks=10_000, size=100))
    assert len(again) == 2 * len(RIGHT_ENGINES)
    assert [point for point in again if point not in points] == []


def test_every_engine_is_measured_over_the_whole_range(points: tuple[ScalingPoint, ...]) -> None:
    """But the naive one, which is measured up to 100,000 ticks."""
    ticks: dict[str, set[int]] = {}
    sizes: dict[str, set[int]] = {}
    for point in points:
        (ticks if point.along == "ticks" else sizes).setdefault(point.model, set()).add(point.amount)
    assert len(ticks) == len(RIGHT_ENGINES) and set(ticks) == set(sizes)
    assert ticks.pop("evalkit-naive") == {10_000, 100_000}
    assert all(amounts == {10_000, 100_000, 1_000_000, FLAT_OUT} for amounts in ticks.values())
    assert len({frozenset(amounts) for amounts in sizes.values()}) == 1
    (amounts,) = {frozenset(amounts) for amounts in sizes.values()}
    assert len(amounts) == 5 and min(amounts) < 120 and max(amounts) > 10_000


def test_only_a_skip_makes_a_long_run_cheap(points: tuple[ScalingPoint, ...]) -> None:
    fuel = {(point.model, point.amount): point.fuel for point in points if point.along == "ticks"}
    for model in {point.model for point in points} - {"evalkit-naive"}:
        growth = fuel[model, FLAT_OUT] / fuel[model, 1_000_000]
        assert growth < 1.01 if model == "evalkit-timing-wheel" else 9 < growth < 11, model
