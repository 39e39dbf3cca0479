"""Why: a season of five entries and its runs, made by hand, with every kind of row that a chart or table must draw."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import pandas as pd

from evalkit.season.ranking import scored
from evalkit.season.season import Entry, Season

LEVELS = (("dam", 267.3), ("facility", 641.0), ("runway", 85.5), ("surface-1", 217.5), ("bunker-1", 174.7))
SEASON = Season(
    slug="spies", version="1.0", name="Spies", digest="d" * 64,
    entries=tuple(Entry(level=level, difficulty="agent", anchor_s=anchor) for level, anchor in LEVELS),
    seeds={0: 60, 1: 97, 2: 131},
)  # fmt: skip
HOSTILE = (
    "</script><script>window.pwned=1</script>",
    '"><img src=x onerror=window.pwned=1>',
    "line one\nline two\r\n\x1b[31mred\x1b[0m \u202egnp.exe",
    "m" * 80,
    "an agent whose name is long and differs from the next one only at its end, number one",
    "an agent whose name is long and differs from the next one only at its end, number two",
)


def chance(*parts: object) -> float:
    """From 0 to 1, the same for the same parts."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:6], "big") / 2**48


def run(agent: str, level: str, seed: int, skill: float = 0.5, **changed: Any) -> dict[str, Any]:
    """One run, as a row of `Store.season_frame`; `skill` from 0 to 1 decides about how it goes."""
    place = [name for name, _ in LEVELS].index(level)
    anchor, luck = LEVELS[place][1], chance(agent, level, seed, changed.get("attempt", 1))
    form = min(1.0, max(0.0, skill + 0.5 * (luck - 0.5) - 0.12 * (chance(agent, level) - 0.5)))
    total = 3 + place % 2
    done = min(total, math.floor(form * (total + 1)))
    completed = done == total and form > 0.55
    died = not completed and luck < 0.55
    time_s = round(anchor * (1.02 + 2.4 * (1 - form)) * 60) / 60 if completed else None
    ticks = round((time_s or anchor * (0.2 + luck)) * 60)
    budget = SEASON.entries[place].decision_budget
    decisions = min(budget or 300, 25 + round((budget or 300) * (0.25 + 0.6 * (1 - form))))
    ended = "completed" if completed else "died" if died else "budget"
    row = {
        "season": "spies", "season_version": "1.0", "season_digest": "d" * 64, "level": level, "difficulty": "agent",
        "seed": seed, "agent": agent, "agent_digest": "e" * 64, "attempt": 1, "reference": None,
        "objectives_done": done, "objectives_total": total, "completed": completed, "died": died, "time_s": time_s,
        "decisions": decisions, "decision_budget": budget, "ticks": ticks, "tokens": 0, "dollars": 0.0,
        "dollar_cap": None, "ended_by": ended, "ungraded": None, "game_digest": "f" * 64, "engine": "wasmtime 50.0.0",
        "fuel": 10**9, "verified": True, "verified_at": "2026-11-30T12:00:00+00:00",
        "verified_on": "wasmtime 50.0.0", "recorded_at": "2026-11-30T11:00:00+00:00", "voided": None,
    } | changed  # fmt: skip
    row["run_id"] = hashlib.sha256(repr((agent, level, seed, row["attempt"])).encode()).hexdigest()[:16]
    return row


def whole(agent: str, skill: float = 0.5, **changed: Any) -> list[dict[str, Any]]:
    """A run in every cell."""
    return [run(agent, level, seed, skill, **changed) for level, _, seed in SEASON.cells]


def model(agent: str, skill: float, tokens: int | None, dollars: float | None, **changed: Any) -> list[dict[str, Any]]:
    """A run in every cell of an agent that calls a model."""
    rows = whole(agent, skill, **changed)
    for row in rows:
        share = 0.7 + 0.6 * chance(agent, row["level"], row["seed"], "cost")
        row["tokens"] = None if tokens is None else round(tokens * share)
        row["dollars"] = None if dollars is None else round(dollars * share, 4)
    return rows


def anchor() -> list[dict[str, Any]]:
    """The autopilot in every cell."""
    rows = whole("route", 1.0, reference="anchor", decision_budget=None)
    for row in rows:
        own = dict(LEVELS)[row["level"]]
        row |= {"objectives_done": row["objectives_total"], "completed": True, "died": False, "ended_by": "completed"}
        row |= {"time_s": own * (1 + 0.03 * row["seed"]), "ticks": round(own * 60 * (1 + 0.03 * row["seed"]))}
        row["decisions"] = 400 + row["seed"]
    return rows


def every_kind() -> list[dict[str, Any]]:
    """Scripted agents and models, the two references, a partial row, unknown dollars, drift, never replayed."""
    rows = [
        *anchor(), *whole("random", 0.06, reference="floor"), *whole("walker", 0.3), *whole("hider", 0.46),
        *whole("planner", 0.72), *whole("retreater", 0.84),
        *model("Sonnet class", 0.66, 52_000, 0.31), *model("Haiku class", 0.5, 61_000, 0.052),
        *model("Opus class", 0.8, 75_000, 1.9, verified=None), *model("unpriced", 0.6, 40_000, None),
        *whole("half-way", 0.9)[:7],
    ]  # fmt: skip
    rows += [row | {"attempt": 2} for row in whole("walker", 0.3, attempt=2)[:4]]
    rows[70]["verified"] = False
    rows += [
        run("walker", "dam", 0, attempt=5, voided="a wrong build"),
        run("planner", "dam", 0, attempt=4, ungraded="decision 3: ValueError", ended_by="agent_error"),
    ]  # fmt: skip
    return rows


def many(count: int = 40) -> list[dict[str, Any]]:
    """As many agents of about evenly spread strength."""
    return [row for n in range(count) for row in whole(f"agent-{n:02}", n / count)]


def hostile() -> list[dict[str, Any]]:
    """Agents whose names try to leave their place."""
    return [row for n, name in enumerate(HOSTILE) for row in whole(name, 0.2 + n / 10)]


def frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows with the columns and dtypes of the store's table."""
    from evalkit.store.frames import SEASON_RUNS, to_frame

    found = [
        [pd.Timestamp(row[name]).tz_convert(None) if name == "recorded_at" else row[name] for name in SEASON_RUNS]
        for row in rows
    ]
    return to_frame(found, SEASON_RUNS)


def runs(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """The runs that count, scored."""
    return scored(frame(rows), SEASON)
