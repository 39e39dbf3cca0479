"""The rules of a season, held to the published examples and to what must be true of any score."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.season.score import OFFICIAL, Rules, decision_budget, run_score

SHARED = Path(os.environ.get("EVALKIT_SHARED", Path(__file__).parents[3] / "shared")) / "vectors"


def vectors(name: str, key: str) -> list[dict[str, Any]]:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"no {path}: set EVALKIT_SHARED to the folder that holds vectors/")
    rows: list[dict[str, Any]] = json.loads(path.read_text())[key]
    assert rows
    return rows


FACTS = ("objectives_done", "objectives_total", "completed", "time_s", "anchor_s", "died")


def facts(**changed: Any) -> dict[str, Any]:
    return {
        "objectives_done": 1, "objectives_total": 2, "completed": True, "time_s": 100.0, "anchor_s": 50.0,
        "died": False,
    } | changed  # fmt: skip


# done, total, completed, T, anchor, died: score. The published examples are these rules with these and other numbers.
OWN = [
    (4, 4, True, 200.0, 200.0, False, 100.0),  # at the anchor
    (4, 4, True, 50.0, 200.0, False, 100.0),  # below the anchor earns no more
    (4, 4, True, 800.0, 200.0, False, 80.0),  # four times as slow: half of 40
    (4, 4, True, 400.0, 200.0, False, 60 + 40 * 0.5**0.5),
    (2, 4, True, 300.0, 75.0, False, 50.0),  # completed without every objective
    (1, 3, False, None, 200.0, True, 10.0),  # died with one of three
    (0, 3, False, None, 200.0, True, 0.0),  # never below 0
    (1, 12, False, None, 200.0, True, 0.0),
    (0, 3, False, None, 200.0, False, 0.0),
    (3, 4, False, None, None, False, 45.0),  # no anchor, not completed
    (3, 3, True, 5000.0, None, False, 100.0),  # no anchor: time counts for nothing
    (3, 3, True, 200.0, 200.0, True, 90.0),  # died at the tick of completing
]


def test_examples_of_our_own_score_as_the_rules_say_alone_and_together() -> None:
    for *row, score in OWN:
        assert run_score(**dict(zip(FACTS, row, strict=True))) == pytest.approx(score, abs=1e-9), row
    columns = list(zip(*OWN, strict=True))
    together = run_score(**{name: pd.Series(list(columns[n])) for n, name in enumerate(FACTS)})
    np.testing.assert_allclose(together, columns[-1], atol=1e-9)


def test_every_published_example_scores_as_published() -> None:
    for row in vectors("season_scores.json", "run_score"):
        assert run_score(**{name: row[name] for name in FACTS}) == pytest.approx(row["score"], abs=1e-9), row["note"]


def test_many_runs_at_once_score_like_each_alone() -> None:
    rows = vectors("season_scores.json", "run_score")
    frame = pd.DataFrame(rows)
    together = run_score(**{name: frame[name] for name in FACTS})
    assert together.shape == (len(rows),)
    np.testing.assert_allclose(together, [row["score"] for row in rows], atol=1e-9)


def test_the_published_budgets_come_from_their_anchors() -> None:
    for row in vectors("season_scores.json", "decision_budget"):
        assert decision_budget(row["anchor_s"]) == row["decision_budget"]


@pytest.mark.parametrize(
    ("anchor", "budget"),
    [
        (267.3, 150),
        (641.0, 256),
        (85.5, 150),
        (217.5, 150),
        (174.7, 150),
        (377.5, 151),
        (749.9, 299),
        (1e6, 300),
        (375.0, 150),
        (377.4, 150),
        (750.0, 300),
        (750.1, 300),
        (702.5, 281),
        (1.0, 150),
    ],
)
def test_a_budget_is_two_fifths_of_the_anchor_within_150_and_300(anchor: float, budget: int) -> None:
    assert decision_budget(anchor) == budget


@pytest.mark.parametrize("anchor", [0, -1, float("nan"), float("inf")])
def test_an_anchor_that_is_no_time_has_no_budget(anchor: float) -> None:
    with pytest.raises(ValueError, match="finite number of seconds above 0"):
        decision_budget(anchor)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"objectives_total": 0}, "objectives_total"),
        ({"objectives_done": 3}, "objectives_done"),
        ({"objectives_done": -1}, "objectives_done"),
        ({"time_s": None}, "time_s"),
        ({"time_s": 0.0}, "time_s"),
        ({"time_s": float("inf")}, "time_s"),
        ({"anchor_s": 0.0}, "anchor_s"),
        ({"anchor_s": float("inf")}, "anchor_s"),
        ({"completed": 2}, "completed"),
        ({"died": None}, "died"),
        ({"objectives_total": None}, "objectives_total"),
    ],
)
def test_facts_that_cannot_be_are_refused_by_name(changed: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=f"row 0: .*{what}"):
        run_score(**facts(**changed))


def test_the_first_wrong_row_of_many_is_named() -> None:
    with pytest.raises(ValueError, match="row 2: objectives_done"):
        run_score(**facts(objectives_done=np.array([1, 2, 3, 4])))


done_of = st.integers(1, 12).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total)))
seconds = st.floats(0.01, 1e6)
maybe_anchor = st.none() | seconds
some_rules = st.builds(
    Rules, objectives=st.floats(0, 100), completion=st.floats(0, 100), death=st.floats(0, 100), exponent=st.floats(0, 3)
)


@given(done_of, st.booleans(), seconds, maybe_anchor, st.booleans(), some_rules)
def test_a_score_is_bounded_by_its_parts(
    done: tuple[int, int], completed: bool, time: float, anchor: float | None, died: bool, rules: Rules
) -> None:
    run = {"objectives_done": done[0], "objectives_total": done[1], "completed": completed, "time_s": time}
    score = run_score(**run, anchor_s=anchor, died=died, rules=rules)
    assert 0 <= score <= rules.objectives + rules.completion + 1e-9
    assert 0 <= run_score(**run, anchor_s=anchor, died=died) <= 100


@given(done_of, st.booleans(), seconds, seconds, maybe_anchor, st.booleans())
def test_more_objectives_less_time_and_staying_alive_never_hurt(
    done: tuple[int, int], completed: bool, time: float, slower: float, anchor: float | None, died: bool
) -> None:
    run = facts(objectives_done=done[0], objectives_total=done[1], completed=completed, anchor_s=anchor, died=died)
    fast, slow = sorted((time, time + slower))
    assert run_score(**run | {"time_s": fast}) >= run_score(**run | {"time_s": slow})
    if done[0] < done[1]:
        assert run_score(**run | {"objectives_done": done[0] + 1}) > run_score(**run) or died
    assert run_score(**run | {"died": False}) >= run_score(**run | {"died": True})
    assert run_score(**run | {"completed": True}) >= run_score(**run | {"completed": False})


def test_what_if_changes_any_constant() -> None:
    run = facts(time_s=200.0, anchor_s=50.0, died=True)
    assert run_score(**run) == 30 + 20 - 10
    assert run_score(**run, rules=Rules(death=0)) == 50
    assert run_score(**run, rules=Rules(exponent=1)) == 30 + 10 - 10
    assert run_score(**run, rules=Rules(objectives=0, completion=100)) == 50 - 10
    assert Rules() == OFFICIAL
