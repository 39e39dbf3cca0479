"""Why: a reviewed case has no fuel: what there is to see is who was rated how, by whom and for what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from evalkit.performance.case import Case
from evalkit.records import ReviewedRun
from evalkit.views.cells import rows_of
from evalkit.views.formats import DASH, grouped
from evalkit.views.frames import plain_rows
from evalkit.views.grid import Cell, Column, Table
from evalkit.views.names import plain, short
from evalkit.views.prose import Note, paragraphs

__all__ = ["finding", "leaderboard", "marks", "rules", "verdict", "verdicts", "waiting"]

_MET = {True: "✓ met", False: "✗ not met", None: DASH}


def rules(case: Case, runs: Iterable[Any]) -> Note:
    """State how a review becomes a score, with the case's own points, and how many of the runs have one."""
    kept = [run for run in runs if isinstance(run, ReviewedRun) and run.voided is None]
    most = sum(d.points for d in case.domains) + sum(item.points for item in case.review_items)
    domains = ", ".join(f"{plain(d.name)} ({d.points:g})" for d in case.domains) or "none"
    done = sum(run.review is not None for run in kept)
    return paragraphs(
        "A person reads each run and rates it. The score is the points earned of the points to be had, times 100: of "
        f"{most:g} here, {sum(item.points for item in case.review_items):g} for review items that are met and the rest "
        f"for the domains {domains}.",
        "A model's score is the mean over its reviewed runs, and not the best of them, so that trying again is no way "
        f"up. {done} of {len(kept)} runs that count have a review; voided runs count nowhere.",
    )


def leaderboard(rows: Any, *, here: str | None = None) -> Table:
    """List models by their mean review score; `rows` as `evalkit.review_leaderboard` returns them.

    `here` is a folded name whose row stands out.
    """
    values = plain_rows(rows)
    columns = (
        Column("rank", "number"), Column("model"), Column("score", "number"), Column("reviewed", "number"),
        Column("runs", "number"), Column("best score", "number"), Column("best run", "mark"),
    )  # fmt: skip
    body = [
        (
            _number(row["rank"], 0), Cell.name(str(row["model"])), _number(row["score"], 1),
            _number(row["reviewed"], 0), _number(row["runs"], 0), _number(row["best"], 1), Cell(row["run_id"]),
        )
        for row in values
    ]  # fmt: skip
    at = next((i for i, row in enumerate(values) if row["model"] == here), None)
    note = "The mean of each model's reviewed runs, of 100 points; higher is better."
    return Table("Ranking by review", columns, body, note=note, here=at, empty="No run has a review yet.")


def verdicts(case: Case, runs: Iterable[Any]) -> tuple[Table, ...]:
    """Return the Verdict of each reviewed run, best first: its domains, its review items, and the reviewer's words."""
    scored = [run for run in runs if isinstance(run, ReviewedRun) and run.voided is None and run.review is not None]
    scored.sort(key=lambda run: (-(run.review.score if run.review else 0.0), run.run_id))
    return tuple(verdict(run, case) for run in scored)


def verdict(run: ReviewedRun, case: Case | None) -> Table:
    """Return the Verdict of one reviewed run, who gave it and in what words.

    `case` says what was asked and for how many points; where it is None, and for a mark that it does not know, the
    mark stands alone under its slug.
    """
    review = run.review
    body = [
        (
            Cell.name(row.name, 60) if row.kind == "rating" else Cell(_MET[row.value]), _points(row.points, row.of),
            Cell.name(row.asks or (DASH if row.kind == "rating" else row.name), 200),
        )
        for row in rows_of(marks(run, case))
    ]  # fmt: skip
    columns = (Column("domain or review item", "mark"), Column("points", "number"), Column("what it asks"))
    note = ""
    if review is not None:
        when = f", {review.recorded_at[:10]}" if review.recorded_at else ""
        words = f" “{' '.join(review.writeup.split())}”" if review.writeup.strip() else ""
        note = f"{review.score:.1f} of 100 by {plain(review.reviewer)}{when}, run {run.run_id}.{words}"
    return Table(f"Verdict: {short(run.model, 60)}", columns, body, note=note, searchable=False, empty="No mark given.")


def marks(run: ReviewedRun, case: Case | None) -> pd.DataFrame:
    """Return a review's marks, a row each: `slug, name, kind, value, points, of, asks`.

    `kind` is rating or item; `value` is a rating in points, or whether an item was met (None: not marked); `points` are
    earned, of `of` to be had; `asks` is what the case wants there. What no case says is None.
    """
    review = run.review
    ratings, items = (review.ratings, review.items) if review else ({}, {})
    domains = case.domains if case else ()
    asked = case.review_items if case else ()
    rows: list[tuple[Any, ...]] = [
        (d.slug, d.name, "rating", ratings.get(d.slug), ratings.get(d.slug), d.points, d.description) for d in domains
    ]
    rows += [(slug, slug, "rating", given, given, None, None) for slug, given in ratings.items()
             if slug not in {d.slug for d in domains}]  # fmt: skip
    for item in asked:
        met = items.get(item.slug)
        points = None if met is None else item.points * met
        rows.append((item.slug, item.slug, "item", met, points, item.points, item.text))
    rows += [(slug, slug, "item", met, None, None, None) for slug, met in items.items()
             if slug not in {item.slug for item in asked}]  # fmt: skip
    columns = ["slug", "name", "kind", "value", "points", "of", "asks"]
    return pd.DataFrame(rows, columns=columns, dtype=object)


def _points(value: float | None, most: float | None) -> Cell:
    if value is None:
        return Cell(DASH)
    return Cell(f"{value:g}" if most is None else f"{value:g} of {most:g}", value)


def waiting(runs: Sequence[ReviewedRun]) -> Table:
    """List the runs that wait for a review, oldest first; `runs` as `evalkit.worklist` returns them."""
    columns = (Column("run", "mark"), Column("model"), Column("variant", "mark"), Column("recorded", "mark"))
    body = [
        (
            Cell(run.run_id), Cell.name(run.model), Cell(plain(run.variant)),
            Cell((run.recorded_at or DASH)[:16].replace("T", " ")),
        )
        for run in runs
    ]  # fmt: skip
    return Table("Worklist", columns, body, empty="Nothing waits: every run has a review.")


def finding(rows: Any) -> Note:
    """Say who leads, and by how much."""
    values = plain_rows(rows)
    if not values:
        return paragraphs("Finding: no run has been reviewed yet, so there is no ranking.")
    best = [row for row in values if row["rank"] == 1]
    names = " and ".join(short(str(row["model"])) for row in best[:3])
    said = f"Finding: {names} {'leads' if len(best) == 1 else 'share the lead'} with {best[0]['score']:.1f} of 100"
    rest = [row for row in values if row["rank"] != 1]
    said += f"; next is {short(str(rest[0]['model']))} with {rest[0]['score']:.1f}" if rest else ""
    reviewed = sum(row["reviewed"] for row in values)
    return paragraphs(f"{said}. That rests on {grouped(reviewed)} review{'s' if reviewed != 1 else ''}.")


def _number(value: float | None, digits: int) -> Cell:
    return Cell(DASH if value is None else f"{value:,.{digits}f}", None if value is None else float(value))
