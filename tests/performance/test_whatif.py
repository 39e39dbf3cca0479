"""What if the ceiling were another one: recorded fuel decides, and what is not recorded is never guessed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import UsageError
from evalkit.performance.limits import LIMITS, limits
from evalkit.performance.rank import leaderboard
from evalkit.performance.whatif import RERUN, Facts, Setting, code, fold, what_if
from evalkit.records import Outcome, PerformanceRun
from evalkit.store import Store
from tests import made_up_runs as made

NAMES = tuple(name for name, _ in made.STRESS)
LAST = NAMES[-1]
RUNS = st.lists(
    st.builds(
        lambda model, factor, outcome, shut: (model, factor, outcome, shut),
        st.sampled_from(["A", "a ", "B", "C", "D"]), st.sampled_from([0.3, 0.31, 1.0, 1.9, 2.6, 3.3, 4.0]),
        st.sampled_from(["pass", "incorrect", "ungraded"]), st.sampled_from([False, False, False, True]),
    ),
    min_size=1, max_size=12,
).map(lambda rows: [made.run(m, f, o, attempt=n, gate_closed=g) for n, (m, f, o, g) in enumerate(rows, 1)])  # fmt: skip
SETTINGS = st.builds(
    Setting,
    ceilings=st.dictionaries(st.sampled_from(NAMES), st.sampled_from([1_000_000, 30_000_000, 60_000_000, 10**9])),
    without_inputs=st.sampled_from([(), (LAST,), NAMES[:2]]),
    score=st.sampled_from(["sum", "ratios"]),
)


def by_model(runs: Any, setting: Setting) -> pd.DataFrame:
    return what_if(runs, setting).set_index("model")


@given(RUNS)
def test_without_a_change_the_ranking_is_the_leaderboard(runs: list[PerformanceRun]) -> None:
    frame = what_if(runs, Setting())
    ranked = frame[frame["rank"].notna()]
    expected = [(row.rank, row.model, row.total_fuel, row.run_id) for row in leaderboard(runs)]
    assert list(zip(ranked["rank"], ranked["model"], ranked["score"], ranked["run_id"], strict=True)) == expected
    assert frame["why"].eq("").all()
    assert (frame["outcome"] == frame["official_outcome"]).all()


@given(RUNS, SETTINGS)
@settings(max_examples=30)
def test_known_fuel_decides_and_nothing_else_passes(runs: list[PerformanceRun], setting: Setting) -> None:
    """Said again run by run, the slow way."""

    def state(run: PerformanceRun) -> str:
        if run.outcome is Outcome.UNGRADED:
            return "ungraded"
        found = {"incorrect"} if any(r.kind == "smoke" and r.outcome != "pass" for r in run.inputs) else {"pass"}
        for row in run.inputs:
            if row.kind == "smoke" or row.name in setting.without_inputs:
                continue
            ceiling = setting.ceilings.get(row.name, run.fuel_limit)
            if row.outcome in ("pass", "over_ceiling"):
                found.add("pass" if row.fuel is not None and row.fuel <= ceiling else "over_ceiling")
            else:
                is_open = row.reason == "exhausted" and ceiling > row.runway_limit
                found.add(RERUN if is_open else "incorrect")
        return next(name for name in ("incorrect", RERUN, "over_ceiling", "pass") if name in found)

    frame = by_model(runs, setting)
    order = ["pass", RERUN, "over_ceiling", "incorrect", "ungraded"]
    for model, row in frame.iterrows():
        own = [state(run) for run in runs if run.model.strip().casefold() == model]
        assert row["outcome"] == min(own, key=order.index)
        assert pd.isna(row["rank"]) == (row["outcome"] != "pass")
        assert pd.isna(row["score"]) == (row["outcome"] != "pass")
    names: dict[str, Any] = {"runs": runs}
    exec(code(setting), names)
    pd.testing.assert_frame_equal(names["frame"], what_if(runs, setting))


@given(RUNS)
@settings(max_examples=30)
def test_no_rank_changes_before_a_ceilings_limit_and_one_does_there(runs: list[PerformanceRun]) -> None:
    facts = fold(runs)
    frame = limits(facts)
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == LIMITS

    def is_same(name: str, ceiling: int) -> bool:
        found = what_if(facts, Setting(ceilings={name: ceiling}))
        return bool((found["rank"].fillna(0) == found["official_rank"].fillna(0)).all())

    fuels = {name: sorted({r.fuel for run in runs for r in run.inputs if r.name == name and r.fuel}) for name in NAMES}
    for row in frame.itertuples():
        steps = [step for fuel in fuels[row.input] for step in (fuel - 1, fuel)]
        lower = 0 if pd.isna(row.below) else row.below
        upper = 10**12 if pd.isna(row.above) else row.above
        assert all(is_same(row.input, step) for step in steps if lower < step < upper)
        assert pd.isna(row.below) or not is_same(row.input, row.below)
        assert pd.isna(row.above) or not is_same(row.input, row.above)


def test_a_stopped_run_needs_a_rerun_above_its_runway_and_only_there() -> None:
    runs = made.every_outcome()
    at_limit = by_model(runs, Setting(ceilings={LAST: 100_000_000}))
    assert at_limit["outcome"]["garnet"] == "incorrect"
    above = by_model(runs, Setting(ceilings={LAST: 100_000_001}))
    assert above["outcome"]["garnet"] == RERUN and pd.isna(above["score"]["garnet"])
    assert above["why"]["garnet"] == (f"was stopped at 100,000,000 on {LAST}: a ceiling of 100,000,001 needs a rerun")
    known = limits(fold(runs)).set_index("input")["known_to"]
    assert known[LAST] == 100_000_000 and known.drop(LAST).isna().all()


def test_a_ceiling_lets_in_and_throws_out_by_known_fuel() -> None:
    runs = made.every_outcome()
    higher = by_model(runs, Setting(ceilings={LAST: 90_000_000}))
    assert higher["outcome"]["flint"] == "pass" and higher["rank"]["flint"] == 6
    assert higher["why"]["flint"] == f"within the ceiling now on {LAST}"
    lower = by_model(runs, Setting(ceilings={LAST: 30_000_000}))
    assert lower["outcome"]["dahlia mini"] == "over_ceiling"
    assert lower["why"]["dahlia mini"] == f"over the ceiling on {LAST} by 9.0 %"
    assert higher["outcome"]["heron"] == lower["outcome"]["heron"] == "incorrect"


def test_inputs_out_and_ratios_say_what_moved_a_model() -> None:
    runs = made.every_outcome()
    fewer = by_model(runs, Setting(without_inputs=(LAST,)))
    assert fewer["why"]["garnet"] == f"without {LAST}, where it did not pass"
    assert fewer["why"]["dahlia mini"] == "garnet above it takes a rank now"
    small = made.run("small first", 1.0)
    cheap = [
        replace(row, fuel=row.fuel // 9) if row.name == NAMES[0] and row.fuel else
        replace(row, fuel=row.fuel * 11 // 10) if row.name == LAST and row.fuel else row for row in small.inputs
    ]  # fmt: skip
    total = sum(row.fuel or 0 for row in cheap if row.kind == "stress")
    runs = [made.run("big first"), replace(small, inputs=tuple(cheap), total_fuel=total)]
    ratios = by_model(runs, Setting(score="ratios"))
    assert ratios["rank"]["small first"] == 1 and ratios["official_rank"]["small first"] == 2
    assert ratios["why"]["small first"] == f"passes big first: {NAMES[0]} counts most, 1.00× its least against 9.00×"
    without = by_model(runs, Setting(without_inputs=(LAST,)))
    assert without["why"]["small first"].startswith(f"passes big first: without {LAST}, where it burned 2,")


def test_a_next_best_run_stands_in_for_a_best_that_falls() -> None:
    best, second, other = made.run("two"), made.run("two", 1.04, attempt=2), made.run("one", 1.02)
    worse = tuple(replace(row, fuel=950_000) if row.name == NAMES[0] else row for row in best.inputs)
    total = sum(row.fuel or 0 for row in worse if row.kind == "stress")
    best = replace(best, inputs=worse, total_fuel=total)
    frame = by_model([best, second, other], Setting(ceilings={NAMES[0]: 940_000}))
    assert frame["rank"].to_dict() == {"one": 1, "two": 2}
    assert (frame["official_run_id"]["two"], frame["run_id"]["two"]) == (best.run_id, second.run_id)
    assert frame["why"]["two"] == f"its best run is over the ceiling on {NAMES[0]}; the next best stands in"
    assert frame["why"]["one"] == "passes two, whose best run is another one now"


def test_stored_tables_fold_to_what_the_records_fold_to() -> None:
    runs = [*made.every_outcome()]
    with Store.open("sqlite://") as store:
        for run in runs:
            store.add(run)
        tables = fold(store.runs_frame(kind="performance"), store.inputs_frame(kind="performance"))
    records = fold(runs)
    assert isinstance(records, Facts)
    pd.testing.assert_frame_equal(limits(tables), limits(records))
    setting = Setting(ceilings={LAST: 150_000_000}, score="ratios")
    left, right = what_if(tables, setting), what_if(records, setting)
    pd.testing.assert_frame_equal(left, right)


def test_what_does_not_fit_is_refused_in_a_line_and_nothing_is_an_answer() -> None:
    with pytest.raises(UsageError, match="no run has a stress input 'x': there are belt-128"):
        what_if(made.every_outcome(), Setting(ceilings={"x": 1}))
    with pytest.raises(UsageError, match="at least 1"):
        what_if(made.every_outcome(), Setting(ceilings={LAST: 0}))
    with pytest.raises(UsageError, match="nothing is left to score"):
        what_if(made.every_outcome(), Setting(without_inputs=NAMES))
    with pytest.raises(UsageError, match="more than one cohort"):
        fold([made.run("a"), made.run("b", version="v2.0.0")])
    assert what_if([], Setting()).empty
    assert limits(fold([])).empty
    assert len(what_if([made.run("a")], Setting(score="ratios"))) == 1
    assert "('c', 'v', 'b', 'x')" in code(Setting(), cohort=("c", "v", "b", "x"))
