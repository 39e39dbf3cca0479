"""Records: their JSON form loses nothing, and one that contradicts itself is refused with every fault at once."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from evalkit.records import Outcome, PerformanceRun, ReviewedRun, canonical
from tests.run_factory import (
    HOSTILE_NAMES,
    incorrect,
    performance,
    performance_runs,
    review,
    reviewed,
    reviewed_runs,
    sha,
    stress,
    ungraded,
)


@given(performance_runs())
def test_a_performance_run_survives_its_json_form(run: PerformanceRun) -> None:
    run.validate()
    assert PerformanceRun.from_json(json.loads(canonical(run.to_json()))) == run


@given(reviewed_runs)
def test_a_reviewed_run_survives_its_json_form(run: ReviewedRun) -> None:
    run.validate()
    assert ReviewedRun.from_json(json.loads(canonical(run.to_json()))) == run


@given(performance_runs())
def test_the_canonical_form_is_a_fixed_point_on_one_line(run: PerformanceRun) -> None:
    line = canonical(run.to_json())
    assert canonical(json.loads(line)) == line
    assert b"\n" not in line


@given(performance_runs())
def test_content_and_id_do_not_depend_on_when_or_what_was_said_later(run: PerformanceRun) -> None:
    later = replace(run, recorded_at="2030-01-01T00:00:00+00:00", voided="a slip", build_log="other text")
    assert (later.content(), later.run_id) == (run.content(), run.run_id)


@pytest.mark.parametrize("run", [performance(), incorrect(), ungraded(), reviewed(), reviewed(review=review())])
def test_each_kind_of_run_holds_together(run: PerformanceRun | ReviewedRun) -> None:
    run.validate()


def test_the_run_id_is_pinned() -> None:
    # Stored ids and exported files refer to runs by it: if this moves, every existing store is orphaned.
    assert performance().run_id == "782052c6b3d3b99c"


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_hostile_name_is_kept_as_it_is(name: str) -> None:
    run = performance(model=name, case=name, variant=name)
    assert PerformanceRun.from_json(json.loads(canonical(run.to_json()))).model == name


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x\udcffy", "", "  "])
@pytest.mark.parametrize("field", ["case", "version", "model"])
def test_a_name_that_no_database_can_hold_is_refused(field: str, name: str) -> None:
    with pytest.raises(ValueError, match=f"{field} must be text"):
        performance(**{field: name}).validate()


def test_free_text_may_hold_anything_a_solution_printed() -> None:
    run = performance(detail="\0 and \udc80", build_log="\ud800\0\x1b[2J")
    assert PerformanceRun.from_json(json.loads(canonical(run.to_json()))) == run


OVER = stress(150, outcome=Outcome.OVER_CEILING, overshoot_percent=50.0)
CONTRADICTIONS: list[tuple[PerformanceRun, str]] = [
    (performance(total_fuel=71), "total_fuel is 71, and the stress inputs burned 70"),
    (performance(total_fuel=None), "total_fuel is None"),
    (performance(inputs=()), "needs at least one stress input"),
    (performance(inputs=(stress(3, kind="smoke"),)), "needs at least one stress input"),
    (performance(reason="wrong_answer"), "a pass has no reason"),
    (performance(correct=None), "needs correct = true, not null"),
    (performance(inputs=(stress(), OVER)), "outcome pass, and inputs ended as over_ceiling"),
    (performance(inputs=(stress(101),)), "over the fuel limit 100"),
    (performance(inputs=(stress(70, runway_limit=99),)), "below the fuel limit"),
    (performance(inputs=(stress(fuel=None),)), "pass needs a fuel reading"),
    (performance(inputs=(stress(first_mismatch_tick=1),)), "has a first mismatch"),
    (performance(outcome=Outcome.OVER_CEILING, total_fuel=None), "an input over the ceiling"),
    (performance(outcome=Outcome.OVER_CEILING, inputs=(OVER,)), "total_fuel exists only for a pass"),
    (incorrect(correct=True), "needs correct = false"),
    (incorrect(reason=None), "needs a reason"),
    (incorrect(inputs=(stress(),)), "every input's answer was right"),
    (incorrect(total_fuel=90), "total_fuel exists only for a pass"),
    (incorrect(inputs=(stress(201, outcome=Outcome.INCORRECT),)), "where there is no reading"),
    (incorrect(inputs=(stress(1, outcome=Outcome.SKIPPED),)), "a skipped input burned no fuel"),
    (incorrect(inputs=(stress(150, kind="smoke", outcome=Outcome.OVER_CEILING),)), "on correctness alone"),
    (incorrect(inputs=(stress(100, outcome=Outcome.OVER_CEILING),)), "within the fuel limit"),
    (incorrect(inputs=(stress(fuel=None, outcome=Outcome.SKIPPED, overshoot_percent=1.0),)), "needs a fuel reading"),
    (ungraded(correct=False), "needs correct = null"),
]


@pytest.mark.parametrize(("run", "what"), CONTRADICTIONS, ids=[what for _, what in CONTRADICTIONS])
def test_a_run_that_contradicts_itself_is_refused(run: PerformanceRun, what: str) -> None:
    with pytest.raises(ValueError, match="does not hold together") as refused:
        run.validate()
    assert what in str(refused.value)


def test_all_faults_are_reported_together() -> None:
    with pytest.raises(ValueError, match=r"attempt must be .*solution_digest must be .*fuel_limit must be"):
        performance(attempt=0, solution_digest="abc", fuel_limit=2**63).validate()


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"schema": 2}, "schema 1"),
        ({"kind": "reviewed"}, "not a performance record"),
        ({"run_id": "0" * 16}, "its job key says"),
        ({"run_id": None}, "its job key says"),
        ({"extra": 1}, "'extra' is no known field"),
        ({"attempt": True}, "attempt must be"),
        ({"attempt": "1"}, "attempt must be"),
        ({"outcome": "won"}, "outcome must be one of"),
        ({"outcome": ["pass"]}, "outcome must be one of"),
        ({"outcome": "skipped"}, "outcome must be one of"),
        ({"total_fuel": 70.0}, "total_fuel must be"),
        ({"total_fuel": -1}, "total_fuel must be"),
        ({"fuel_limit": 2**63}, "fuel_limit must be"),
        ({"inputs": None}, "inputs must be a list"),
        ({"inputs": [7]}, "inputs[0] must be an object"),
        ({"inputs": [{}]}, "inputs[0].name is missing"),
        ({"warnings": "text"}, "warnings must be a list"),
        ({"warnings": [1]}, "warnings[0] must be text"),
        ({"module_digest": "ABC"}, "64 lower-case hex"),
        ({"recorded_at": "yesterday"}, "ISO 8601 time in UTC"),
        ({"recorded_at": "2026-01-01T00:00:00+02:00"}, "ISO 8601 time in UTC"),
        ({"recorded_at": "2026-01-01T00:00:00"}, "ISO 8601 time in UTC"),
        ({"provenance": []}, "provenance must be an object"),
        ({"provenance": {"x": float("nan")}}, "provenance is not plain JSON"),
        ({"provenance": {"x": (1,)}}, "provenance holds values that JSON does not keep"),
        ({"provenance": {1: 2}}, "provenance holds values that JSON does not keep"),
        ({"provenance": {"x": sha}}, "provenance is not plain JSON"),
    ],
)
def test_a_malformed_record_is_refused_with_a_reason(change: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError) as refused:
        PerformanceRun.from_json({**performance().to_json(), **change})
    assert what in str(refused.value)


@pytest.mark.parametrize("data", [None, [], "run", 7, {}])
def test_what_is_no_record_at_all_is_refused(data: Any) -> None:
    for kind in (PerformanceRun, ReviewedRun):
        with pytest.raises(ValueError, match="not a"):
            kind.from_json(data)


@pytest.mark.parametrize("missing", sorted(set(performance().to_json()) - {"schema", "kind", "run_id"}))
def test_every_field_of_a_record_is_required(missing: str) -> None:
    data = performance().to_json()
    del data[missing]
    with pytest.raises(ValueError, match=f"{missing} is missing"):
        PerformanceRun.from_json(data)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"reviewer": " "}, "review.reviewer must be"),
        ({"ratings": {"style": "good"}}, "review.ratings['style'] must be a finite number"),
        ({"ratings": {"style": True}}, "review.ratings['style'] must be a finite number"),
        ({"items": {"cites": 1}}, "review.items['cites'] must be true or false"),
        ({"score": float("inf")}, "review.score must be a finite number"),
        ({"score": 10**400}, "review.score must be a finite number"),
    ],
)
def test_a_malformed_review_is_refused(change: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match="does not hold together") as refused:
        reviewed(review=review(**change)).validate()
    assert what in str(refused.value)


def test_importing_records_brings_in_no_heavy_module() -> None:
    program = "import sys, evalkit.records; print({'sqlalchemy', 'pandas', 'wasmtime'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "set()\n"
