"""Why: a run is one line in the console's lists: it must say which run it is, in what state, and what it reached."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from evalkit.records import Outcome, ReviewedRun
from evalkit.views.formats import compact
from evalkit.views.names import plain, short

__all__ = ["WHO", "place_label", "run_line", "states"]

WHO = {"performance": "model", "reviewed": "model", "season": "agent"}
"""Whose a run is, by its kind: the name of that column."""


def place_label(row: tuple[Any, ...], many: bool) -> str:
    """A case or season in the list of places; `row` is one of `Console.places`, `many` adds its fuel schedule."""
    kind, name, version, variant, schedule, runs = row[:6]
    parts = [short(name, 30), plain(version), *([short(variant, 16)] if variant else [])]
    parts += [f"fuel {schedule[:8]}"] if many and schedule else []
    what = {"performance": "", "reviewed": "reviewed, ", "season": "season, "}[kind]
    return f"{' '.join(parts)} ({what}{runs:,} run{'' if runs == 1 else 's'})"


def states(frame: pd.DataFrame, reviewed: dict[str, ReviewedRun], damaged: Iterable[str] = ()) -> pd.Series[str]:
    """What each run is, in a word: voided before all else, and damaged where its record cannot be read."""
    is_season, is_reviewed = frame["kind"] == "season", frame["kind"] == "reviewed"
    proof = frame["verified"].astype("boolean").map({True: "verified", False: "fails"}).astype("string")
    state = frame["outcome"].astype("string").str.replace("_", " ")
    state = state.mask(is_season, proof.fillna("not replayed"))
    state = state.mask(is_season & frame["ungraded"].notna(), "ungraded")
    done = frame["run_id"].isin([run_id for run_id, run in reviewed.items() if run.review is not None])
    state = state.mask(is_reviewed & done, "reviewed").mask(is_reviewed & ~done, "unreviewed")
    state = state.mask(frame["run_id"].isin(list(damaged)), "damaged")
    return state.mask(frame["voided"].notna(), "voided")


_MARKS = {
    "pass": "✓", "verified": "✓", "reviewed": "✓", "over ceiling": "▲", "incorrect": "✗", "fails": "✗", "voided": "⊘",
    "ungraded": "?", "not replayed": "○", "unreviewed": "○", "damaged": "✗",
}  # fmt: skip


def run_line(row: Any, kind: str) -> str:
    """A run in the list: a mark, who, what it reached, its id; no two alike."""
    who = short(str(getattr(row, WHO[kind])), 30)
    if kind == "season":
        who += "" if pd.isna(row.reference) else f" ({short(row.reference, 8)})"
        score = getattr(row, "score", None)
        reached = f"{short(row.level, 12)} {short(row.difficulty, 12)} seed {int(row.seed)}" + (
            "" if score is None or pd.isna(score) else f" · {score:.1f}"
        )
    elif kind == "performance":
        reached = compact(row.total_fuel) if row.outcome == Outcome.PASS else row.state
    else:
        reached = row.state
    return f"{_MARKS.get(row.state, ' ')} {who} · {reached} · {row.run_id[:6]}"
