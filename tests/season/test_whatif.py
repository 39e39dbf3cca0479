"""What if the rules were other ones: the same answer as ranking the changed season, and limits that hold."""

from __future__ import annotations

import random
import shlex
import time
import warnings
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.cli.boards import _changed
from evalkit.errors import UsageError
from evalkit.season.limits import LIMITS, TOLERANCE, limits
from evalkit.season.ranking import standings
from evalkit.season.score import Rules
from evalkit.season.season import Entry, Season
from evalkit.season.whatif import Setting, as_if, code, command, entry_name, fold, ranked, what_if
from tests.season.test_ranking import SEASON, run, whole

DAM, RUNWAY = ("dam", "agent"), ("runway", "agent")


def some(agent: str, *, seconds: float = 200.0, **changed: Any) -> list[Any]:
    """A run a cell, all completed in so many seconds."""
    return whole(agent, 4, **{"completed": True, "time_s": seconds} | changed)


def made(
    agent: str, cell: tuple[str, str, int], done: int, ends: str, time: float, verified: bool | None, attempt: int
) -> Any:
    """A run that ends in one of three ways; the route is a reference."""
    finished = ends == "completed"
    return run(
        agent, cell[0], cell[2], 4 if finished else done, completed=finished, died=ends == "died", verified=verified,
        time_s=time if finished else None, attempt=attempt, reference="anchor" if agent == "route" else None,
    )  # fmt: skip


RUN = st.builds(
    made,
    agent=st.sampled_from(["a", "b", "c", "route"]),
    cell=st.sampled_from(SEASON.cells),
    done=st.integers(0, 4),
    ends=st.sampled_from(["completed", "died", "budget"]),
    time=st.sampled_from([20.0, 55.5, 100.0, 131.7, 300.0]),
    verified=st.sampled_from([True, False, None]),
    attempt=st.integers(1, 9),
)
RUNS = st.lists(RUN, min_size=1, max_size=40)
POINTS = st.sampled_from([0.0, 10.0, 33.3, 60.0, 100.0])
SETTINGS = st.builds(
    Setting,
    rules=st.one_of(st.none(), st.builds(Rules, objectives=POINTS, completion=POINTS, death=POINTS,
                                         exponent=st.sampled_from([0.0, 0.5, 1.0, 2.0]))),
    anchors=st.dictionaries(st.sampled_from([DAM, RUNWAY]), st.sampled_from([None, 40.0, 120.0])),
    without_entries=st.sampled_from([(), (DAM,), (RUNWAY,)]),
    without_seeds=st.sampled_from([(), (0,), (1,)]),
    verified_only=st.booleans(), partial_as_zero=st.booleans(),
)  # fmt: skip


@given(RUNS, SETTINGS)
def test_a_what_if_is_the_standing_of_the_changed_season(runs: list[Any], setting: Setting) -> None:
    frame = what_if(runs, SEASON, setting)
    scored = frame[frame["score"].notna()]
    keys = {"verified_only": setting.verified_only, "partial_as_zero": setting.partial_as_zero}
    rows = standings(runs, as_if(SEASON, setting), **keys)
    assert list(scored["agent"]) == [row.agent for row in rows]
    assert [None if pd.isna(rank) else rank for rank in scored["rank"]] == [row.rank for row in rows]
    assert np.allclose(scored["score"], [row.score for row in rows])
    assert np.allclose(scored["se"], [np.nan if row.se is None else row.se for row in rows], equal_nan=True)
    official = {row.agent: row for row in standings(runs, SEASON)}
    for row in frame.itertuples():
        before = official.get(row.agent)
        assert (None if pd.isna(row.official_rank) else row.official_rank) == (before and before.rank)
        assert bool(row.why) == ((None if pd.isna(row.rank) else row.rank) != (before and before.rank))


@given(RUNS, SETTINGS)
@settings(max_examples=25)
def test_the_code_of_a_setting_gives_the_same_frame(runs: list[Any], setting: Setting) -> None:
    names: dict[str, Any] = {"runs": runs, "season": SEASON}
    exec(code(SEASON, setting), names)
    pd.testing.assert_frame_equal(names["frame"], what_if(runs, SEASON, setting))


@given(RUNS)
@settings(max_examples=30)
def test_no_rank_changes_before_a_limit_and_one_does_there(runs: list[Any]) -> None:
    facts = fold(runs, SEASON)
    was = ranked(facts, Setting()).rank

    def is_same(constant: str, value: float) -> bool:
        if constant.startswith("anchor"):
            setting = Setting(anchors={(constant.split()[1], "agent"): value})
        else:
            setting = Setting(rules=replace(SEASON.rules, **{constant: value}))
        return bool(np.array_equal(ranked(facts, setting).rank, was, equal_nan=True))

    frame = limits(facts)
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == LIMITS
    assert len(frame) == 6
    for row in frame.itertuples():
        for limit, bound in ((row.below, row.least), (row.above, row.most)):
            end = bound if pd.isna(limit) else limit
            for share in np.linspace(0, 1 - 1e-5, 25):
                assert is_same(row.constant, row.official + share * (end - row.official)), (row.constant, limit)
            if not pd.isna(limit):
                step = np.sign(end - row.official) or np.sign(bound - row.official)
                past = [end + step * (TOLERANCE + 1e-6 * size) for size in (0, 1, 10, 100, 1000)]
                assert not all(is_same(row.constant, max(value, 1e-9)) for value in past), (row.constant, limit)


def test_a_limit_is_found_where_two_meet_and_then_stay_tied() -> None:
    """Both lose what dying costs until their dead runs are at 0; then they stay tied, but for a float's last digit."""
    season = replace(SEASON, entries=tuple(Entry(level=f"level-{n}", difficulty="agent", own_budget=150)
                                           for n in range(5)), seeds={0: 60, 1: 97, 2: 98})  # fmt: skip
    told = {"low": "0d 0d 1 2 1 1d 0d 2 2 1d 2 2 0 2 1", "high": "2 1d 1d 1d 2d 0 2 1 2 2 0d 2 2d 2 2"}
    runs = [
        run(agent, level, seed, int(what[0]), died=what.endswith("d"))
        for agent, line in told.items()
        for (level, _, seed), what in zip(season.cells, line.split(), strict=True)
    ]
    row = limits(fold(runs, season)).set_index("constant").loc["death"]
    assert (row["above"], row["above_who"]) == (30.0, "high and low")
    for death, ranks in ((29.999, [1, 2]), (30.0, [1, 1]), (60.0, [1, 1])):
        assert list(what_if(runs, season, Setting(rules=Rules(death=death)))["rank"]) == ranks


def by_chance(seed: int, exponents: tuple[float, ...]) -> tuple[Season, list[Any]]:
    """A small season under some rules, and runs of a few agents, with ties, attempts and cells that lack a run."""
    rng = random.Random(seed)
    anchors = rng.sample([40.0, 100.0, 267.3, None, 85.5], rng.randint(1, 4))
    rules = Rules(
        objectives=rng.choice([60.0, 60.0, 0.0, 33.3]), completion=rng.choice([40.0, 40.0, 0.0, 12.5]),
        death=rng.choice([10.0, 10.0, 0.0, 70.0]), exponent=rng.choice(exponents),
    )  # fmt: skip
    entries = tuple(
        Entry(level=f"e{n}", difficulty="agent", anchor_s=anchor, own_budget=None if anchor else 150)
        for n, anchor in enumerate(anchors)
    )
    season = replace(SEASON, entries=entries, seeds={s: 60 + s for s in range(rng.randint(1, 3))}, rules=rules)
    runs = []
    for place in range(rng.randint(2, 7)):
        skill, attempts = rng.random(), rng.choice([1, 1, 1, 2, 3])
        for level, difficulty, number in [cell for cell in season.cells if rng.random() > 0.03]:
            for attempt in range(1, attempts + 1):
                done = min(4, int((skill + rng.random()) / 2 * 5))
                ended = done == 4 and rng.random() < 0.8
                time_s = rng.choice([round(60 * rng.uniform(20, 320)) / 60, 100.0, 50.0]) if ended else None
                runs.append(run(f"a{place}", level, number, done, difficulty=difficulty, attempt=attempt,
                                completed=ended, died=not ended and rng.random() < 0.4, time_s=time_s))  # fmt: skip
    return season, runs


@pytest.mark.parametrize("seeds", [range(20), range(20, 40)])
def test_no_limit_of_a_season_made_by_chance_is_wrong(seeds: range) -> None:
    for seed in seeds:
        season, runs = by_chance(seed, (0.0, 0.5, 0.5, 0.5, 1.0, 2.0, 0.3, 7.5))
        facts = fold(runs, season)
        was = ranked(facts, Setting()).rank
        keys = {f"anchor {entry_name(entry.key)}": entry.key for entry in season.entries}

        def is_same(name: str, value: float, facts=facts, was=was, keys=keys, season=season) -> bool:  # type: ignore[no-untyped-def]
            change = {"anchors": {keys[name]: value}} if name in keys else {
                "rules": replace(season.rules, **{name: value})}  # fmt: skip
            return bool(np.array_equal(ranked(facts, Setting(**change)).rank, was, equal_nan=True))

        for row in limits(facts).itertuples():
            for limit, bound in ((row.below, row.least), (row.above, row.most)):
                end = bound if pd.isna(limit) else limit
                for share in (*np.linspace(0, 1, 40)[:-1], *(1 - 10.0**-size for size in range(2, 6))):
                    value = float(row.official + share * (end - row.official))
                    assert is_same(row.constant, value), (seed, row.constant, limit, value)
                if not pd.isna(limit):
                    way = np.sign(bound - row.official)
                    past = [limit, *(limit + way * 10.0**-size * max(1, abs(limit)) for size in range(12, 2, -1))]
                    assert not all(is_same(row.constant, max(value, 0.0)) for value in past), (seed, row.constant)


def test_two_that_meet_and_part_again_within_a_hair_of_the_exponent_are_found() -> None:
    """With x = p ^ exponent the first is ahead by 40 ((x - 1/2)^2 - 0.002^2): behind from x = 0.502 to 0.498."""
    middle, half = 1.00625, 0.002
    pace = 0.5 ** (1 / middle)
    season = replace(SEASON, seeds={0: 60}, rules=Rules(objectives=40 * (1 - 4 * half**2), completion=40.0))
    runs = [
        run("first", "dam", 0, 4, completed=True, time_s=100 / pace**2), run("first", "runway", 0, 1),
        run("second", "dam", 0, 4, completed=True, time_s=100 / pace), run("second", "runway", 0, 0),
    ]  # fmt: skip
    row = limits(fold(runs, season)).set_index("constant").loc["exponent"]
    assert row["above"] == pytest.approx(np.log(0.5 + half) / np.log(pace), abs=1e-6)
    assert pd.isna(row["below"])


@pytest.mark.parametrize("exponent", [150.0, 400.0, 1e6])
def test_an_exponent_as_large_as_a_manifest_may_have_has_limits_too(exponent: float) -> None:
    """Nearly a step at T: who is quicker than 100 s gains everything once the anchor is there."""
    season = replace(SEASON, rules=Rules(exponent=exponent))
    runs = [run(agent, "dam", seed, 4, completed=True, time_s=seconds)
            for agent, seconds in (("quick", 150.0), ("slow", 160.0)) for seed in (0, 1)]  # fmt: skip
    runs += [run(agent, "runway", seed, done) for agent, done in (("quick", 0), ("slow", 1)) for seed in (0, 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        row = limits(fold(runs, season)).set_index("constant").loc["anchor dam (agent)"]
    assert pd.isna(row["below"]) and 100 < row["above"] < 150
    for share, ranks in ((1 - 1e-7, ["slow", "quick"]), (1 + 1e-7, ["quick", "slow"])):
        frame = what_if(runs, season, Setting(anchors={DAM: row["above"] * share}))
        assert list(frame["agent"]) == ranks


def test_reasons_may_be_asked_for_the_first_rows_alone() -> None:
    season, runs = by_chance(32, (0.5,))
    setting = Setting(rules=Rules(objectives=0.0, completion=100.0, death=90.0, exponent=2.0))
    whole, first = (what_if(runs, season, setting, reasons=most) for most in (None, 1))
    moved = whole["why"] != ""
    assert moved.sum() > 1
    assert list(first["why"][moved])[1:] == ["…"] * (moved.sum() - 1)
    assert first["why"][moved].iloc[0] == whole["why"][moved].iloc[0]
    pd.testing.assert_frame_equal(first.drop(columns="why"), whole.drop(columns="why"))


def test_reasons_of_many_agents_are_no_matter_of_seconds() -> None:
    """The aim is 0.2 s with the drawing; here only that it does not grow with agents times runs."""
    rng = random.Random(0)
    seeds = {seed: 60 + seed for seed in range(7)}
    wide = replace(SEASON, seeds=seeds)
    runs = [run(f"agent {place}", level, seed, rng.randint(0, 4), died=rng.random() < 0.3)
            for place in range(700) for level in ("dam", "runway") for seed in seeds]  # fmt: skip
    facts = fold(runs, wide)
    setting = Setting(rules=Rules(objectives=30.0, death=40.0, exponent=0.7), without_seeds=(1,), partial_as_zero=True)
    began = time.process_time()
    frame = what_if(facts, wide, setting)
    assert time.process_time() - began < 1
    assert (frame["why"] != "").sum() > 500 and not (frame["why"] == "…").any()


def test_a_row_that_moved_says_which_constant_and_entry_did_it() -> None:
    runs = [*some("quick", seconds=50.0, objectives_done=2), *some("slow", seconds=400.0)]
    first = what_if(runs, SEASON, Setting(rules=Rules(completion=80.0)))
    assert list(first["agent"]) == ["quick", "slow"]
    assert list(first["moved"]) == [1, -1]
    assert first["why"][0] == "gains on slow: completion 40 → 80 gives it +40.00 against +17.07, most by runway (agent)"
    assert first["why"][1].startswith("falls behind quick: completion 40 → 80 gives it +17.07")


def test_rows_that_win_or_lose_their_rank_say_so() -> None:
    runs = [*some("whole"), *some("half")[:2], *some("lies", verified=False), run("route", reference="anchor")]
    was = what_if(runs, SEASON, Setting()).set_index("agent")
    assert was["why"].eq("").all()
    assert pd.isna(was["rank"]["half"])
    now = what_if(runs, SEASON, Setting(partial_as_zero=True, verified_only=True)).set_index("agent")
    assert now["why"]["half"] == "ranked now: missing cells count as zero"
    assert now["why"]["lies"] == "no run is left that is verified"
    assert pd.isna(now["rank"]["route"])
    fewer = what_if(runs, SEASON, Setting(without_entries=(RUNWAY,))).set_index("agent")
    assert fewer["why"]["half"] == "whole now, so it is ranked"
    above = what_if([*some("below", seconds=900.0), *some("half")[:2]], SEASON, Setting(without_entries=(RUNWAY,)))
    assert list(above["why"]) == ["whole now, so it is ranked", "half above it takes a rank now"]


def test_the_command_says_constants_and_nothing_else() -> None:
    given = command(SEASON, Setting(rules=Rules(completion=50.5, death=0.0)))
    assert given == "evalkit rescore s@1 --set completion=50.5 --set death=0"
    assert _changed(SEASON.rules, shlex.split(given)[4::2]) == Rules(completion=50.5, death=0.0)
    assert command(SEASON, Setting(without_seeds=(1,))) is None
    assert command(SEASON, Setting(anchors={DAM: 5.0})) is None


def test_runs_of_another_digest_are_counted() -> None:
    runs = [*whole("a"), run("b", season_digest="0" * 64), run("b", season_digest="0" * 64, voided="no")]
    assert fold(runs, SEASON).other_digest == 1


def test_the_code_of_a_named_season_opens_it_and_the_store() -> None:
    text = code(SEASON, Setting(rules=Rules(death=5.0)), ref="s@1", source="evalkit.open_results('runs.sqlite')")
    assert "season = evalkit.open_season('s@1')" in text
    assert "evalkit.open_results('runs.sqlite').season_frame(season='s', season_version='1')" in text
    assert "replace(season.rules, death=5.0)" in text
    compile(text, "code", "exec")
    assert "dataclasses" not in code(SEASON, Setting())


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (Setting(without_seeds=(7,)), "s has no seed 7: it has 0, 1"),
        (Setting(anchors={("moon", "agent"): 3.0}), r"no entry moon \(agent\)"),
        (Setting(without_entries=(DAM, RUNWAY)), "nothing is left to rank"),
    ],
)
def test_a_setting_that_does_not_fit_is_refused_in_a_line(setting: Setting, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        what_if(whole(), SEASON, setting)


def test_no_run_and_one_run_are_answers_too() -> None:
    assert what_if([], SEASON, Setting()).empty
    assert limits(fold([], SEASON))[["below", "above"]].isna().all(axis=None)
    assert len(what_if([run()], SEASON, Setting(verified_only=True))) == 1
    assert {field.name for field in fields(Rules)} <= set(limits(fold([run()], SEASON))["constant"])


def test_ten_thousand_runs_are_one_frame_of_arrays() -> None:
    seeds = {seed: 60 + seed for seed in range(125)}
    wide: Season = replace(SEASON, seeds=seeds)
    base = [run(f"agent {a}", level, seed, (a * seed) % 5) for a in range(40) for level in ("dam", "runway")
            for seed in seeds]  # fmt: skip
    facts = fold(base, wide)
    assert len(facts.agent) == 10_000
    frame = what_if(facts, wide, Setting(rules=Rules(objectives=30.0)))
    assert len(frame) == 40 and np.allclose(frame["score"] * 2, frame["official_score"])
