"""Why: the verbs that rank the agents of a season, by its own constants and by others, and what must be said too."""

from __future__ import annotations

import dataclasses
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from evalkit.cli.keeping import open_results
from evalkit.cli.output import emit, figure, line, note, table
from evalkit.cli.season_runs import PROOF
from evalkit.cli.seasons import season_folder
from evalkit.errors import UsageError
from evalkit.finding import find_case
from evalkit.project import cases_dir
from evalkit.reading import did_you_mean, printable
from evalkit.season.manifest import load_season
from evalkit.season.score import Rules

__all__ = ["rescore", "season_board"]

_SHOWN = (
    "rank", "agent", "reference", "score", "se", "cells", "cells_expected", "attempts", "verified", "decisions",
    "tokens", "dollars", "dollars_complete",
)  # fmt: skip


def _board(arguments: Namespace, folder: Path, rules: Rules | None = None) -> list[dict[str, Any]]:
    from evalkit.season.ranking import standings

    season = load_season(folder)
    with open_results(arguments) as store:
        runs = store.season_frame(include_voided=False, season=season.slug, season_version=season.version)
    rows = standings(runs, season, rules=rules, verified_only=arguments.verified_only)
    other = sum(row.other_digest for row in rows)
    if other:
        note(f"{other} of these runs were recorded under another digest of {season.slug}: its files have changed since")
    capped = int((runs["ended_by"] == "dollar_cap").sum())
    if capped:
        note(f"{capped} of these runs ended by a dollar cap: where such a run ended is only claimed")
    failed = runs[runs["ended_by"] == "agent_error"]
    for (agent, how), rows_of in failed.groupby(["agent", failed["ungraded"].map(_ending)]):
        spent, known = rows_of["dollars"].sum(), rows_of["dollars"].notna()
        said = f"; they spent {'' if known.all() else 'at least '}{spent:.4f} dollars" if spent > 0 else ""
        note(f"{agent}: {len(rows_of)} attempts {how}, and are not in its score{said}")
    versions = runs[runs["ungraded"].isna()].groupby("agent")["agent_digest"].nunique()
    for agent, number in versions[versions > 1].items():
        note(f"{agent}: runs of {number} versions of this agent count as one: name them apart, or void the old")
    return [{name: asdict(row)[name] for name in _SHOWN} for row in rows]


def _ending(why: str) -> str:
    """How an attempt ended that its agent left ungraded, by the words that playing leaves."""
    _, _, said = why.partition(": ")
    if said.startswith("the sweep's cap of "):
        return "were cut short by the sweep's cap"
    if said.startswith(("MachineError: the endpoint ", "the endpoint ")):
        return "were cut short by its endpoint"
    return "ended in a fault of its program"


def season_board(arguments: Namespace, folder: Path) -> int:
    """The agents of a season, best first."""
    rows = _board(arguments, folder)
    emit(arguments, rows, _table(rows))
    return 0


def _table(rows: Sequence[dict[str, Any]], *more: str) -> list[str]:
    head = ("rank", "agent", "score", "se", "cells", "runs", "proof", "decisions", "tokens", "dollars", *more)
    return table(head, [[*_cells(row), *(_number(row[name.replace(" ", "_")]) for name in more)] for row in rows])


def _number(value: float | None) -> str:
    """A rank is whole, a score is not."""
    return figure(value) if isinstance(value, int) else figure(value, ".2f")


def _cells(row: dict[str, Any]) -> list[str]:
    rank = str(row["rank"]) if row["rank"] else row["reference"] or "partial"
    proof = PROOF[row["verified"]]
    dollars = "unpriced" if row["dollars"] is None else f"{row['dollars']:,.2f}"
    dollars += "" if row["dollars_complete"] or row["dollars"] is None else "+?"
    cells = f"{row['cells']}/{row['cells_expected']}"
    numbers = [figure(row["score"], ".2f"), figure(row["se"], ".2f"), cells, str(row["attempts"])]
    return [rank, line(row["agent"], 60), *numbers, proof, figure(row["decisions"]), figure(row["tokens"]), dollars]


def rescore(arguments: Namespace) -> int:
    """The agents of a season by other constants, beside their official rank and score; nothing is stored."""
    folder = season_folder(arguments.case)
    if folder is None:
        find_case(arguments.case, cases_dir())
        raise UsageError("a case has no constants to change: fuel, or a review, is its score; rescore takes a season")
    rules = _changed(load_season(folder).rules, arguments.set)
    official = {row["agent"]: row for row in _board(arguments, folder)}
    rows = [
        {**row, "official_rank": official[row["agent"]]["rank"], "official_score": official[row["agent"]]["score"]}
        for row in _board(arguments, folder, rules)
    ]
    said = ", ".join(f"{field.name} {getattr(rules, field.name):g}" for field in fields(rules))
    emit(arguments, rows, [f"what if: {said}", *_table(rows, "official rank", "official score")])
    return 0


def _changed(rules: Rules, settings: Sequence[str]) -> Rules:
    known = [field.name for field in fields(rules)]
    changes: dict[str, float] = {}
    for setting in settings:
        key, _, text = setting.partition("=")
        if key not in known:
            near = did_you_mean(key, known) or f": there are {', '.join(known)}"
            raise UsageError(f'the rules have no "{printable(key)}"{near}')
        try:
            changes[key] = float(text)
        except ValueError:
            raise UsageError(f'"{printable(setting)}" sets no number: write {key}=50') from None
        if not 0 <= changes[key] < 1e9:
            raise UsageError(f"{key} must be a number from 0, not {printable(text)}")
    return dataclasses.replace(rules, **changes)
