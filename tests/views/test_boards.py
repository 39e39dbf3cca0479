"""The boards of a saved report compute what the package computes: their marks are read back from the drawn picture."""

from __future__ import annotations

import gzip
import json
import math
import random
import re
from dataclasses import replace
from typing import Any

import pytest
import vl_convert

from evalkit.performance import whatif
from evalkit.performance.rank import leaderboard
from evalkit.records import InputResult, Outcome, SeasonRun
from evalkit.season.ranking import standings
from evalkit.season.score import Rules
from evalkit.season.season import Entry, Season
from evalkit.views import boards
from tests import made_up_runs as made

SEASON = Season(
    slug="s", version="1", digest="d" * 64, seeds={0: 60, 1: 97},
    entries=tuple(Entry(level=name, difficulty="agent", anchor_s=90.0 + 7 * i) for i, name in enumerate("xyz")),
)  # fmt: skip


def run(agent: str, level: str, seed: int, rng: random.Random, **facts: Any) -> SeasonRun:
    completed = rng.random() < 0.6
    values: dict[str, Any] = {
        "season": "s", "season_version": "1", "season_digest": "d" * 64, "level": level, "difficulty": "agent",
        "seed": seed, "agent": agent, "agent_digest": "a" * 64, "attempt": 1, "reference": None,
        "objectives_done": 4 if completed else rng.randint(0, 4), "objectives_total": 4, "completed": completed,
        "died": not completed and rng.random() < 0.7, "time_s": rng.uniform(60, 400) if completed else None,
        "decisions": 100, "decision_budget": 150, "ticks": 600, "tokens": None, "dollars": None,
        "ended_by": "budget", "game_digest": "f" * 64, "engine": "e",
    }  # fmt: skip
    return SeasonRun(**{**values, **facts})


def runs_of(agents: int, seed: int = 1) -> list[SeasonRun]:
    rng = random.Random(seed)
    return [
        run(f"agent-{n}", entry.level, at, rng, reference="anchor" if n == 0 else None)
        for n in range(agents) for entry in SEASON.entries for at in SEASON.seeds
    ]  # fmt: skip


def drawn(chart: Any, **set_to: Any) -> list[str]:
    """The texts beside the bars, from top to bottom, with some parameters set."""
    spec = chart.to_dict()
    for param in spec["params"]:
        if param["name"] in set_to:
            param["value"] = set_to[param["name"]]
    svg = vl_convert.vegalite_to_svg(spec)
    mark = r'<text[^>]*transform="translate\(([-\d.]+),([-\d.]+)\)"[^>]*>((?:#\d|reference|partial)[^<]*)<'
    found = re.findall(mark, svg)
    return [text for _, text in sorted((float(y), text) for _, y, text in found)]


def marks(chart: Any, **set_to: Any) -> dict[str, dict[str, str]]:
    """What each bar says of itself when pointed at, by model or agent, with some parameters set."""
    spec = chart.to_dict()
    for param in spec["params"]:
        if param["name"] in set_to:
            param["value"] = set_to[param["name"]]
    found = re.findall(r'aria-label="([^"]*)" role="graphics-symbol"', vl_convert.vegalite_to_svg(spec))
    rows = [dict(part.split(": ", 1) for part in text.split("; ")) for text in found if "what-if rank: " in text]
    return {row.get("model") or row["agent"]: row for row in rows}


def words(chart: Any, **set_to: Any) -> str:
    """Every text of the drawn picture."""
    spec = chart.to_dict()
    for param in spec["params"]:
        if param["name"] in set_to:
            param["value"] = set_to[param["name"]]
    return "\n".join(re.findall(r"<(?:text|tspan)[^>]*>([^<]+)<", vl_convert.vegalite_to_svg(spec)))


def said(rows: Any) -> list[tuple[str, float]]:
    return [("reference" if r.reference else "partial" if r.partial else f"#{r.rank}", r.score) for r in rows]


@pytest.mark.parametrize(
    ("rules", "boxes"),
    [
        ({}, {}),
        ({"completion": 80.0, "objectives": 20.0}, {}),
        ({"death": 50.0, "exponent": 2.0}, {}),
        ({"exponent": 0.0}, {"e1": False}),
        ({"objectives": 10.0, "completion": 10.0}, {"e0": False, "e2": False}),
    ],
)
def test_the_season_board_scores_and_ranks_as_the_package_does(rules: dict[str, float], boxes: dict[str, bool]) -> None:
    runs = runs_of(6)
    entries = tuple(e for i, e in enumerate(SEASON.entries) if boxes.get(f"e{i}", True))
    smaller = Season(slug="s", version="1", digest="d" * 64, seeds=SEASON.seeds, entries=entries)
    rows = standings(runs, smaller, rules=Rules(**rules))
    texts = drawn(boards.season_board(runs, SEASON), **rules, **boxes)
    assert [text.split("  ")[0] for text in texts] == [rank for rank, _ in said(rows)]
    assert [float(text.split("  ")[1]) for text in texts] == pytest.approx(
        [score for _, score in said(rows)], abs=0.051
    )


def test_a_partial_row_has_no_rank_until_what_it_lacks_is_out() -> None:
    runs = [r for r in runs_of(3) if not (r.agent == "agent-1" and r.level == "z")]
    assert sum(text.startswith("partial") for text in drawn(boards.season_board(runs, SEASON))) == 1
    assert not any(text.startswith("partial") for text in drawn(boards.season_board(runs, SEASON), e2=False))


def test_the_case_board_ranks_as_the_leaderboard_does() -> None:
    runs = made.every_outcome()
    rows = [row for row in leaderboard(runs, {}) if row.total_fuel is not None]
    texts = drawn(boards.case_board(runs))
    assert [text.split("  ")[0] for text in texts] == [f"#{row.rank}" for row in rows]
    assert [float(text.split(" ")[-1].rstrip("×")) for text in texts] == [round(row.ratio_to_best, 2) for row in rows]


def test_a_lower_ceiling_drops_models_and_a_higher_one_brings_in_those_over_it() -> None:
    runs = made.every_outcome()
    board = boards.case_board(runs)
    official = len(drawn(board))
    assert len(drawn(board, ceiling=0.0)) == 0
    right = {r.model for r in runs if r.voided is None and str(r.outcome) in ("pass", "over_ceiling")}
    assert len(drawn(board, ceiling=1000.0)) == len(right) >= official


LIMIT = 100_000


def graded(model: str, readings: list[int | str], at: int = 0, **facts: Any) -> Any:
    """A run of any number of stress inputs: a fuel, "wrong", or "stopped" at ten times the ceiling, for each."""
    outcomes = {"wrong": (Outcome.INCORRECT, "wrong_answer"), "stopped": (Outcome.INCORRECT, "exhausted")}
    rows = []
    for place, read in enumerate(readings):
        over = isinstance(read, int) and read > LIMIT
        fine = (Outcome.OVER_CEILING if over else Outcome.PASS, None)
        outcome, reason = fine if isinstance(read, int) else outcomes[read]
        rows.append(
            InputResult(
                name=f"in{place:02}", kind="stress", behaviour=None, outcome=outcome, reason=reason,
                runway_limit=10 * LIMIT, fuel=read if isinstance(read, int) else None,
                overshoot_percent=100 * (read - LIMIT) / LIMIT if over else None,
            )
        )  # fmt: skip
    states = [row.outcome for row in rows]
    worst = next(o for o in (Outcome.INCORRECT, Outcome.OVER_CEILING, Outcome.PASS) if o in states)
    total = sum(row.fuel or 0 for row in rows) if worst is Outcome.PASS else None
    values: dict[str, Any] = {
        "inputs": tuple(rows), "outcome": worst, "total_fuel": total, "fuel_limit": LIMIT, "attempt": at + 1,
        "correct": worst is not Outcome.INCORRECT, "reason": next((row.reason for row in rows if row.reason), None),
        "recorded_at": f"2026-11-30T{at // 60:02}:{at % 60:02}:00Z",
    }  # fmt: skip
    return replace(made.run(model), **(values | facts))


def field_of(seed: int) -> list[Any]:
    """A random cohort: several runs a model, of every kind."""
    rng = random.Random(seed)
    inputs = rng.choice([1, 2, 3, 5, 14])
    odd = 0.3 / inputs

    def reading() -> int | str:
        if rng.random() < odd:
            return rng.choice(["wrong", "stopped", rng.randint(LIMIT, 9 * LIMIT)])
        return rng.choice([rng.randint(1, LIMIT), 40_000, 60_000])

    runs = [graded(f"m{rng.randrange(6)}", [reading() for _ in range(inputs)], at) for at in range(24)]
    runs += [replace(runs[0], attempt=90 + n, recorded_at=f"2026-11-30T23:0{n}:00Z") for n in range(2)]
    runs.append(graded("m0", [1] * inputs, 99, voided="why not"))
    runs.append(graded("m1", [1] * inputs, 98, outcome=Outcome.UNGRADED, total_fuel=None, correct=None, reason="wall"))
    return runs


@pytest.mark.parametrize("seed", range(12))
def test_the_case_board_answers_as_the_package_does(seed: int) -> None:
    runs, rng = field_of(seed), random.Random(1000 + seed)
    board = boards.case_board(runs)
    names = [row.name for row in runs[0].inputs]
    for turn in range(4):
        factor = 1.0 if turn == 0 else rng.choice([0.35, 0.6, 0.95, 1.0, 1.15, 3.0, 9.5])
        out = [name for name in names if turn and rng.random() < 0.35]
        score = rng.choice(whatif.SCORES)
        ceilings = {name: math.floor(factor * LIMIT + 0.5) for name in names}
        off = {f"e{names.index(name)}": False for name in out}
        way = "sum of fuel" if score == "sum" else "geometric mean of ratios"
        if len(out) == len(names):
            continue
        frame = whatif.what_if(runs, whatif.Setting(ceilings=ceilings, without_inputs=tuple(out), score=score))
        frame = frame[frame["rank"].notna()]
        got = marks(board, ceiling=factor, way=way, **off)
        wanted = {r.model: (str(r.rank), r.run_id, round(r.score, 3)) for r in frame.itertuples()}
        shown = {
            model: (row["what-if rank"], row["run"], round(float(row["what-if score"].replace(",", "")), 3))
            for model, row in got.items()
        }
        assert shown == wanted, (factor, out, score)


def test_every_input_counts_though_not_every_one_has_a_box() -> None:
    runs = [graded("slow", [5000] * 40), graded("over", [1000] * 39 + [LIMIT + 1]), graded("w", [1] * 39 + ["wrong"])]
    board = boards.case_board(runs)
    assert [*marks(board)] == ["slow"]
    assert "40 inputs: the first 24 have a box, the others always count." in words(board)
    assert sum(param["name"].startswith("e") for param in board.to_dict()["params"]) == 24
    assert {*marks(board, ceiling=1.5)} == {"slow", "over"}
    all_off = {f"e{i}": False for i in range(24)}
    assert marks(board, **all_off)["slow"]["what-if rank"] == "1"


def test_a_wrong_or_stopped_run_enters_once_that_input_is_left_out() -> None:
    board = boards.case_board(
        [graded("a", [5000] * 3), graded("d", ["stopped", 100, 100]), graded("w", ["wrong", 1, 1])]
    )
    assert [*marks(board)] == ["a"]
    assert {m: r["what-if rank"] for m, r in marks(board, e0=False).items()} == {"w": "1", "d": "2", "a": "3"}


def test_the_least_is_taken_over_the_runs_that_pass() -> None:
    runs = [graded("a", [2000, 2000]), graded("b", [4000, 4000]), graded("c", [500, 150_000])]
    got = marks(boards.case_board(runs), way="geometric mean of ratios")
    assert {model: row["what-if score"] for model, row in got.items()} == {"a": "1.000", "b": "2.000"}


def test_a_board_with_nothing_to_rank_says_why() -> None:
    board = boards.case_board(made.every_outcome())
    assert "Nobody is right and within the ceiling." in words(board, ceiling=0)
    off = words(board, **{f"e{i}": False for i in range(len(made.STRESS))})
    assert "Every input is left out: tick one below." in off and "\n0\n" not in off
    season = boards.season_board(runs_of(3), SEASON)
    assert "left out" not in words(season) and "Nobody" not in words(board)
    off = words(season, e0=False, e1=False, e2=False)
    assert "Every entry is left out: tick one below." in off and "\n0\n" not in off


@pytest.mark.parametrize("seed", range(4))
def test_runs_that_are_alike_count_as_often_as_they_were(seed: int) -> None:
    rng = random.Random(seed)
    runs = [
        run(f"agent-{n}", entry.level, at, rng, attempt=a, time_s=None) if rng.random() < 0.5
        else run(f"agent-{n}", entry.level, at, rng, attempt=a)
        for n in range(4) for entry in SEASON.entries for at in SEASON.seeds for a in range(1, rng.randint(2, 5))
    ]  # fmt: skip
    runs = [replace(r, time_s=5000 / 60 if r.completed else None) for r in runs]
    board = boards.season_board(runs, SEASON)
    (told,) = board.to_dict()["datasets"].values()
    assert sum(sum(row["n"]) for row in told if row["real"]) == len(runs) > sum(len(row["n"]) for row in told)
    for rules in (Rules(), Rules(objectives=33.0, completion=71.0, death=25.0, exponent=1.35)):
        rows = standings(runs, SEASON, rules=rules)
        got = marks(board, objectives=rules.objectives, completion=rules.completion, death=rules.death,
                    exponent=rules.exponent)  # fmt: skip
        wanted = {row.agent: (str(row.rank), row.score, str(row.attempts)) for row in rows}
        assert {
            agent: (row["what-if rank"], pytest.approx(float(row["what-if score"]), abs=6e-4), row["runs"])
            for agent, row in got.items()
        } == wanted


def test_a_board_of_ten_thousand_runs_is_small() -> None:
    rng = random.Random(5)
    runs = [run(f"agent-{n % 20}", SEASON.entries[n % 3].level, n % 2, rng, attempt=n) for n in range(10_000)]
    runs = [replace(r, time_s=r.time_s and round(r.time_s * 60) / 60) for r in runs]
    assert len(gzip.compress(json.dumps(boards.season_board(runs, SEASON).to_dict()).encode())) < 60_000
    cohort = [graded(f"m{n % 20}", [rng.randint(1, LIMIT) for _ in range(3)], n % 1400) for n in range(3_000)]
    assert len(gzip.compress(json.dumps(boards.case_board(cohort).to_dict()).encode())) < 60_000


def test_nothing_to_draw_says_so() -> None:
    assert "No run counts yet" in str(boards.season_board([], SEASON).to_dict())
    assert "evalkit grade" in str(boards.case_board([]).to_dict())
