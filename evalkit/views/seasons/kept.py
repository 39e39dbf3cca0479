"""Why: a season's standing rests on every run that is kept, and those that count nowhere are kept too: all are told."""

from __future__ import annotations

from collections import Counter
from typing import Any

from evalkit.season.season import Season
from evalkit.views.formats import DASH, grouped
from evalkit.views.frames import Row, plain_rows
from evalkit.views.grid import MOST_ROWS, Cell, Column, Table
from evalkit.views.names import plain
from evalkit.views.seasons.rows import entry_names, proof, run_rows

__all__ = ["runs"]

_NO_RUN = "No run counts yet. Play it: evalkit sweep SEASON --agents AGENT"


def runs(frame: Any, counted: Any, season: Season) -> Table:
    """List every run that is kept, voided and ungraded ones too, which carry their mark and count nowhere.

    Of more than 1,000 it lists 1,000, runs that fail first and then the first ones of every cell, says where the others
    are, and counts the proof of all, agent by agent.

    `frame`: `Store.season_frame`; `counted`: what `evalkit.season.ranking.scored` made of it.
    """
    scores = {str(row["run_id"]): row for row in run_rows(counted, season)}
    names = entry_names(season)
    columns = (
        Column("agent"), Column("entry", "mark"), Column("seed", "number"), Column("score", "number"),
        Column("done", "mark"), Column("ended by", "mark"), Column("T, s", "number"), Column("decisions", "number"),
        Column("tokens", "number"), Column("dollars", "number"), Column("proof", "mark"), Column("run", "mark"),
        Column("attempt", "number"), Column("note", "sentence"),
    )  # fmt: skip
    kept = _by_agent(plain_rows(frame), scores, list(names))
    body, spent = [], any(row["tokens"] or row["dollars"] for row in kept)
    aside = sum(str(row["run_id"]) not in scores for row in kept)
    for row in _most(kept):
        own = scores.get(str(row["run_id"]))
        why = _why_not(row, own, season)
        budget = "" if row["decision_budget"] is None else f" of {row['decision_budget']:,}"
        dollars, tokens = (row["dollars"], row["tokens"]) if spent else (None, None)
        body.append(
            (
                Cell.name(f"{row['agent']} ({row['reference']})" if row["reference"] else str(row["agent"]), 40),
                Cell(names.get((row["level"], row["difficulty"])) or plain(row["level"])),
                _number(row["seed"]), _number(own["score"] if own else None, 2),
                Cell(f"{row['objectives_done']} of {row['objectives_total']}"),
                Cell(plain(row["ended_by"]).replace("_", " ")), _number(row["time_s"], 2),
                Cell(f"{row['decisions']:,}{budget}", row["decisions"]), _number(tokens),
                _number(dollars, 4 if dollars else 0), Cell(_mark(row)),
                Cell(row["run_id"][:8], full=row["run_id"]),
                Cell(DASH if row["attempt"] == 1 else f"{row['attempt']:,}", row["attempt"]),
                Cell.name(why, 100) if why else Cell(DASH),
            )
        )  # fmt: skip
    note = f"{len(kept):,} kept, {aside:,} of which count nowhere: voided, ungraded, or of no cell of this season."
    note += "" if spent else " None is known to have spent tokens or dollars."
    drop = ("attempt", "note", "tokens", "dollars", "T, s", "score")
    if len(body) == len(kept):
        return Table("All runs", columns, body, note=note if body else "", empty=_NO_RUN, drop=drop)
    note += f" Listed: {len(body):,}, those that fail and the first of every cell; {len(kept) - len(body):,} more are"
    note += f" listed by: evalkit runs --season {season.slug}@{season.version}. Whole: evalkit export DIR"
    return Table(f"Runs, {len(body):,} of {len(kept):,}", columns, body, note=note, drop=drop, above=_proofs(kept))


def _most(kept: list[Row]) -> list[Row]:
    """As many as are listed, in their order: first those that fail, then every cell's first run, its second, ..."""
    if len(kept) <= MOST_ROWS:
        return kept
    seen: Counter[tuple[Any, ...]] = Counter()
    rank = []
    for row in kept:
        cell = (row["agent"], row["level"], row["difficulty"], row["seed"])
        rank.append((row["verified"] is not False, seen[cell]))
        seen[cell] += 1
    chosen = sorted(range(len(kept)), key=lambda place: (rank[place], place))[:MOST_ROWS]
    return [kept[place] for place in sorted(chosen)]


_VERDICTS = ("✓ verified", "✗ fails", "○ never replayed", "⊘ voided", "? ungraded")


def _proofs(kept: list[Row]) -> Table:
    """Every run counted by its mark, an agent a row: what a list that is cut can no longer show."""
    counts: dict[str, Counter[str]] = {}
    for row in kept:
        counts.setdefault(str(row["agent"]), Counter())[_mark(row)] += 1
    columns = (Column("agent"), Column("runs", "number"), *(Column(mark, "number") for mark in _VERDICTS))
    body = [
        (
            Cell.name(agent, 40), Cell(grouped(found.total()), found.total()),
            *(Cell(grouped(found[mark]) if found[mark] else DASH, found[mark]) for mark in _VERDICTS),
        )
        for agent, found in counts.items()
    ]  # fmt: skip
    note = f"All {len(kept):,} runs that are kept, by their mark."
    return Table("Proof, run by run", columns, body, note=note, drop=_VERDICTS, searchable=False)


def _by_agent(kept: list[Row], scores: dict[str, Row], entries: list[tuple[str, str]]) -> list[Row]:
    """The agents with the best runs first and reference rows last; each agent's runs as the season lists its cells."""
    points: dict[str, list[float]] = {}
    for row in kept:
        own = scores.get(str(row["run_id"]))
        points.setdefault(str(row["agent"]), []).extend([own["score"]] if own else [])
    mean = {agent: sum(found) / len(found) if found else -1.0 for agent, found in points.items()}
    place = {key: index for index, key in enumerate(entries)}

    def order(row: Row) -> tuple[Any, ...]:
        agent = str(row["agent"])
        entry = place.get((row["level"], row["difficulty"]), len(place))
        return (row["reference"] is not None, -mean[agent], agent, entry, row["seed"], row["attempt"])

    return sorted(kept, key=order)


def _mark(row: Row) -> str:
    return "⊘ voided" if row["voided"] is not None else "? ungraded" if row["ungraded"] else proof(row["verified"])


def _why_not(row: Row, own: Row | None, season: Season) -> str:
    if row["voided"] is not None:
        return f"voided: {row['voided']}"
    if row["ungraded"] is not None:
        return f"ungraded: {row['ungraded']}"
    if own is None:
        return "of an entry or seed that this season does not list"
    return "counted, though of another digest of the season" if row["season_digest"] != season.digest else ""


def _number(value: float | None, digits: int = 0) -> Cell:
    return Cell(DASH if value is None else f"{value:,.{digits}f}", None if value is None else float(value))
