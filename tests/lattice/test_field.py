"""What the field of Lattice's own engines must look like, read off the sample, which test_sample keeps true to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.records import InputResult, PerformanceRun
from evalkit.store import Store

ROOT = Path(__file__).parents[2]
LATTICE = ROOT / "cases" / "lattice" / "v1.0.0"


@pytest.fixture(scope="module")
def field() -> dict[str, PerformanceRun]:
    with Store.open("sqlite://") as store:
        store.import_(ROOT / "data" / "sample")
        return {run.model: run for run in store.runs(case="lattice") if isinstance(run, PerformanceRun)}


def stress(run: PerformanceRun) -> list[InputResult]:
    return [row for row in run.inputs if row.kind == "stress"]


def test_the_naive_engine_passes_the_small_input_and_is_over_the_ceiling_on_the_two_large_ones(
    field: dict[str, PerformanceRun],
) -> None:
    rows = stress(field["evalkit-naive"])
    assert [row.outcome for row in rows] == ["pass", "over_ceiling", "over_ceiling"]
    assert all(row.overshoot_percent and row.overshoot_percent > 0 for row in rows[1:])


def test_transport_lines_cost_at_most_a_quarter_of_the_naive_engine(field: dict[str, PerformanceRun]) -> None:
    """The same input has the same ticks, so that fuel stands for fuel a tick; this engine skips no cycle."""
    pairs = zip(stress(field["evalkit-transport"]), stress(field["evalkit-naive"]), strict=True)
    for lines, naive in pairs:
        assert lines.fuel is not None
        assert naive.fuel is not None
        assert lines.fuel <= naive.fuel / 4, lines.name


def test_one_engine_is_wrong_on_smoke_and_one_only_on_stress(field: dict[str, PerformanceRun]) -> None:
    wrong = [run for run in field.values() if run.reason == "wrong_answer"]
    first = {run.model: next(row for row in run.inputs if row.outcome == "incorrect") for run in wrong}
    on_smoke = [name for name, row in first.items() if row.kind == "smoke"]
    on_stress = [name for name, row in first.items() if row.kind == "stress"]
    assert len(on_smoke) >= 1 and len(on_stress) >= 1
    for name in on_smoke:
        assert first[name].behaviour
        assert all(row.outcome == "skipped" for row in stress(field[name]))
    for name in on_stress:
        assert first[name].first_mismatch_tick is not None
        assert all(row.outcome == "pass" for row in field[name].inputs if row.kind == "smoke")
