"""Made-up records: a small case's runs of every outcome, many models, and names that try to do harm."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from evalkit.records import InputResult, Outcome, PerformanceRun

CEILING = 50_000_000
STRESS = (("belt-128", 10.0), ("belt-1k", 6.5), ("mixed-4k", 4.0), ("mega-base-16k", 2.0))
SMOKE = (
    ("smoke-belt", "A lone item travels the length of a belt and stops at its end."),
    ("smoke-inserter", "An inserter takes from a full belt without losing an item."),
    ("smoke-splitter", None),
)
HOSTILE = (
    "</script><script>window.pwned=1</script>",
    '"><img src=x onerror=window.pwned=1>',
    "line one\nline two\r\n\x1b[31mred\x1b[0m \u202egnp.exe",
    "<!--<script>' \" & {{7*7}} ${7*7} \\u003c %3Cscript%3E",
    "m" * 300,
    "a very long model name that differs only at its very end, number " + "x" * 40 + " one",
    "a very long model name that differs only at its very end, number " + "x" * 40 + " two",
    "   ",
)


@dataclass(frozen=True)
class Row:
    """Stands in for a leaderboard row."""

    rank: int
    model: str
    total_fuel: int
    ratio_to_best: float
    runs: int
    run_id: str


@dataclass(frozen=True)
class Place:
    """Stands in for a placement."""

    run_id: str
    rank: int
    field_size: int
    efficiency_percentile: float | None
    ratio_to_best: float
    is_model_best: bool
    model_best: int


def case(**values: Any) -> Any:
    """A case as far as the views look at one."""
    smoke = [SimpleNamespace(name=name, kind="smoke", fuel_runway=1.0, behaviour=said) for name, said in SMOKE]
    stress = [SimpleNamespace(name=name, kind="stress", fuel_runway=way, behaviour=None) for name, way in STRESS]
    told: dict[str, Any] = {
        "digest": lambda: "c" * 64,
        "slug": "belts",
        "version": "v1.0.0",
        "name": "Belts",
        "summary": "Move items along belts, tick by tick.",
    }
    return SimpleNamespace(
        **(told | {"inputs": (*smoke, *stress), "sandbox": SimpleNamespace(fuel_limit=CEILING)} | values)
    )


def run(model: str, factor: float = 1.0, outcome: str = "pass", attempt: int = 1, **values: Any) -> PerformanceRun:
    """One run. `factor` scales its fuel; 1 lies well under the ceiling. `outcome` is the run's."""
    closed = values.pop("gate_closed", False)
    inputs = []
    for place, (name, said) in enumerate(SMOKE):
        wrong = closed and place == 1
        inputs.append(
            InputResult(
                name=name, kind="smoke", behaviour=said, runway_limit=CEILING, fuel=12_000 + place,
                outcome=Outcome.INCORRECT if wrong else Outcome.PASS, reason="wrong_answer" if wrong else None,
                first_mismatch_tick=17 if wrong else None, detail="expected 4 items, found 3" if wrong else None,
            )
        )  # fmt: skip
    for place, (name, way) in enumerate(STRESS):
        limit = round(CEILING * way)
        fuel: int | None = int(factor * 900_000 * 3.1**place)
        found, reason = Outcome.PASS, None
        if closed:
            found, fuel = Outcome.SKIPPED, None
        elif outcome == "incorrect" and place == 3:
            found, fuel, reason = Outcome.INCORRECT, None, "exhausted"
        elif outcome == "ungraded" and place >= 2:
            found, fuel = Outcome.SKIPPED, None
        elif fuel is not None and fuel > limit:
            found, fuel, reason = Outcome.INCORRECT, None, "exhausted"
        elif fuel is not None and fuel > CEILING:
            found = Outcome.OVER_CEILING
        inputs.append(
            InputResult(
                name=name, kind="stress", behaviour=None, outcome=found, reason=reason, fuel=fuel, runway_limit=limit,
                overshoot_percent=100 * (fuel - CEILING) / CEILING if fuel and fuel > CEILING else None,
            )
        )  # fmt: skip
    reasons = [row.reason for row in inputs if row.reason]
    states = {row.outcome for row in inputs}
    if outcome == "ungraded":
        ended, correct = Outcome.UNGRADED, None
    elif states & {Outcome.INCORRECT, Outcome.SKIPPED}:
        ended, correct = Outcome.INCORRECT, False
    else:
        ended, correct = (Outcome.OVER_CEILING if Outcome.OVER_CEILING in states else Outcome.PASS), True
    total = sum(row.fuel or 0 for row in inputs if row.kind == "stress") if ended is Outcome.PASS else None
    return PerformanceRun(
        **{
            "case": "belts", "version": "v1.0.0", "variant": "base", "model": model, "attempt": attempt,
            "outcome": ended,
            "reason": "wall limit reached" if ended is Outcome.UNGRADED else reasons[0] if reasons else None,
            "correct": correct, "total_fuel": total, "fuel_limit": CEILING, "fuel_schedule": "ab" * 32,
            "engine": "wasmtime 50.0.0", "module_digest": "cd" * 32, "case_digest": "ef" * 32,
            "solution_digest": hashlib.sha256(model.encode("utf-8", "replace")).hexdigest(),
            "recorded_at": f"2026-11-30T10:{attempt:02}:00Z", "inputs": tuple(inputs),
        } | values
    )  # fmt: skip


def every_outcome() -> list[PerformanceRun]:
    """Twelve runs of eight models: passes, a tie, over the ceiling, incorrect, a closed gate, ungraded, voided."""
    return [
        run("Aster 2"), run("Aster 2", 1.4, attempt=2), run("Borealis Large", 1.22), run("Cobalt", 0.31),
        run("Dahlia mini", 1.22), run("Ember-9b", 2.6), run("Flint", 3.3), run("Garnet", 1.1, "incorrect"),
        run("Heron", gate_closed=True), run("Aster 2", 1.0, "ungraded", attempt=3),
        run("Cobalt", 0.2, attempt=2, voided="built with the wrong toolchain"), run("Ember-9b", 1.9, attempt=2),
    ]  # fmt: skip


def many(count: int = 40) -> list[PerformanceRun]:
    """One run each of many models, some over the ceiling."""
    return [run(f"model-{index:02}", 0.2 * 1.09**index) for index in range(count)]


def hostile() -> list[PerformanceRun]:
    """Runs whose every free text tries to leave its place."""
    return [
        run(name, 1 + index / 4, detail=name, voided=name if index == 1 else None, variant="base")
        for index, name in enumerate(HOSTILE)
    ]


def board(runs: list[PerformanceRun]) -> list[Row]:
    """A stand-in for the kit's leaderboard: models by their best passing run, ties sharing a rank."""
    best: dict[str, PerformanceRun] = {}
    made: dict[str, int] = {}
    for record in runs:
        key = record.model.strip().casefold()
        made[key] = made.get(key, 0) + 1
        if record.total_fuel is None or record.voided is not None:
            continue
        if key not in best or record.total_fuel < (best[key].total_fuel or 0):
            best[key] = record
    rows = sorted(best.items(), key=lambda item: item[1].total_fuel or 0)
    fuels = [record.total_fuel or 0 for _, record in rows]
    return [
        Row(1 + sum(f < fuel for f in fuels), record.model, fuel, fuel / fuels[0], made[key], record.run_id)
        for (key, record), fuel in zip(rows, fuels, strict=True)
    ]


def place(runs: list[PerformanceRun], run_id: str) -> Place:
    """A stand-in for the kit's placement, without its care for ties."""
    me = next(record for record in runs if record.run_id == run_id)
    key = me.model.strip().casefold()
    rows = board(runs)
    mine = next(row for row in rows if row.model.strip().casefold() == key)
    others = [row.total_fuel for row in rows if row is not mine]
    fuel = me.total_fuel or 0
    below, equal = sum(f < fuel for f in others), sum(f == fuel for f in others)
    share = 100 * (len(others) - below - equal + equal / 2) / len(others) if others else None
    least = min([*others, mine.total_fuel, fuel])
    return Place(run_id, 1 + below, len(rows), share, fuel / least, mine.run_id == run_id, mine.total_fuel)
