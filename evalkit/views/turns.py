"""Why: what a model was shown, what it answered and what that cost belongs beside its replay: one cannot judge its play
without it.

`turns` are what `Store.turns` returns. They may come from another machine's export: whatever they hold is shown as
text, escaped and shortened, and what is no turn at all is said in a line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evalkit.errors import StoreError
from evalkit.store import Store
from evalkit.views.cells import number, rows_of
from evalkit.views.formats import DASH, grouped
from evalkit.views.grid import Cell, Column, Table
from evalkit.views.names import html, short
from evalkit.views.prose import Note, paragraphs

__all__ = ["COLUMNS", "turn_frame", "turn_notes", "turn_table", "turns_of"]

COLUMNS = {
    "decision": "Int64", "call": "Int64", "observation": "string", "answer": "string", "fault": "string",
    "action": "string", "noop": "boolean", "input": "Int64", "cached": "Int64", "output": "Int64",
    "reasoning": "Int64", "dollars": "Float64",
}  # fmt: skip
"""A row a call: `decision` from 1, `call` from 1 within it (0: no call was made), and what was played in the end."""

_TOKENS = ("input", "cached", "output", "reasoning")
_ROWS = 400
_TOLD = 20_000
_UNREADABLE = "What was kept of its turns cannot be read here."


def turns_of(run_id: str, store: Store) -> tuple[pd.DataFrame, str]:
    """The turns of a run as a frame, and what is wrong with them, in a line; an empty frame where none were kept."""
    try:
        turns = store.turns(run_id)
        return turn_frame(turns or ()), ""
    except StoreError as error:
        return turn_frame(()), str(error)
    except (AttributeError, KeyError, TypeError, ValueError):
        return turn_frame(()), _UNREADABLE


def turn_frame(turns: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return a row for each call of each turn, with whole texts; `COLUMNS` says which columns. Unknown is missing.

    What the model was told before its first turn is in the frame's `attrs["told"]`, where it was kept.
    """
    rows, told = [], None
    for turn in turns:
        told = turn.get("system") or told
        seen = _observed(turn)
        for place, call in enumerate(turn["calls"] or [{}], 1 if turn["calls"] else 0):
            tokens = call.get("tokens") or {}
            rows.append(
                (
                    turn["decision"], place, seen, call.get("answer"), call.get("fault"), turn["action"], turn["noop"],
                    *(tokens.get(name) for name in _TOKENS), call.get("dollars"),
                )
            )  # fmt: skip
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
    if told is not None:
        frame.attrs["told"] = str(told)
    return frame


def _observed(turn: Mapping[str, Any]) -> str:
    """What was shown: the game's numbers, a picture, how many actions were legal."""
    shown = turn["observation"]
    numbers = ", ".join(f"{name} {value}" for name, value in shown.get("numbers", {}).items())
    legal = shown.get("legal")
    parts = (numbers, "a picture" if turn.get("picture") else "", f"{len(legal)} legal actions" if legal else "")
    return "; ".join(part for part in parts if part)


def turn_table(frame: pd.DataFrame) -> list[Note]:
    """What it was told, then what was shown and answered, call by call, folded up; nothing where no model played."""
    if frame.empty:
        return []
    rows = [
        (
            number(row.decision), Cell.name(_or_dash(row.observation), 90), Cell(_answer(row, 180)),
            Cell.name(_played(row), 40), number(row.input), number(row.cached), number(row.output),
            number(row.reasoning), number(row.dollars, ".6f"),
        )
        for row in rows_of(frame.head(_ROWS))
    ]  # fmt: skip
    heads = [Column("turn", "number"), Column("was shown"), Column("answered"), Column("played")]
    heads += [Column(name, "number") for name in ("tokens in", "of them cached", "out", "of them reasoning", "dollars")]
    note = f"The first {_ROWS} of {len(frame):,} calls. " if len(frame) > _ROWS else ""
    note += "A row a call; a dash is unknown. Whole texts: .turns, or evalkit show RUN --turns --json"
    table = Table("Turns", heads, rows, note=note, searchable=False)
    said = f"{frame['decision'].nunique():,} turns of the model: {_spent(frame)}"
    style = "max-height:420px;overflow:auto"
    markup = f'<details><summary>{html(said)}</summary><div style="{style}">{table._repr_html_()}</div></details>'
    told = frame.attrs.get("told", "")
    before = f"<details><summary>What the model was told before its first turn</summary>{_pre(told)}</details>"
    return [*([Note(before, told)] if told else []), Note(markup, f"{said}\n{table!r}")]


def _pre(text: str) -> str:
    shown = "\n".join(html(line) for line in text[:_TOLD].split("\n"))
    more = f"\n… {len(text) - _TOLD:,} more characters: evalkit show RUN --turns --json" if len(text) > _TOLD else ""
    return f'<pre style="white-space:pre-wrap;max-height:320px;overflow:auto">{shown}{more}</pre>'


def turn_notes(frame: pd.DataFrame) -> dict[int, Note]:
    """Return for each decision what was shown, answered and spent, to stand beside the screen it led to."""
    notes = {}
    for decision, calls in frame.groupby("decision"):
        first = next(rows_of(calls))
        lines = [f"Shown: {short(_or_dash(first.observation), 300)}"]
        for row in rows_of(calls):
            lines.append(f"Answered: {_answer(row, 600)}" if row.call else "Nothing was asked.")
        lines += [f"Played: {_played(first)}", f"Spent: {_spent(calls)}"]
        notes[int(str(decision))] = paragraphs(*lines)
    return notes


def _answer(row: Any, most: int) -> str:
    said = short(row.answer, most) if not pd.isna(row.answer) else "(nothing)" if row.call else "(not asked)"
    return said if pd.isna(row.fault) else f"✗ {short(row.fault, 80)}: {said}"


def _played(row: Any) -> str:
    if pd.isna(row.action):
        return "nothing"
    return short(row.action, 40) + (" (a no-op in its place)" if not pd.isna(row.noop) and row.noop else "")


def _spent(calls: pd.DataFrame) -> str:
    """Calls, tokens and dollars of some calls; a sum of which a part is unknown says so."""
    made = calls[calls["call"] > 0]
    faults = int(made["fault"].notna().sum())
    bad = f" ({faults} malformed)" if faults else ""
    into, out = (grouped(int(made[name].sum())) + _gap(made[name]) for name in ("input", "output"))
    priced = made["dollars"].notna().any()
    cost = f"{made['dollars'].sum():.4f}{_gap(made['dollars'])} dollars" if priced else "no known price"
    return f"{len(made):,} call{'' if len(made) == 1 else 's'}{bad}, {into} tokens in, {out} out, {cost}"


def _gap(values: pd.Series[Any]) -> str:
    return " +?" if values.isna().any() else ""


def _or_dash(text: Any) -> str:
    return DASH if pd.isna(text) or not text else str(text)
