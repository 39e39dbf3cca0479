"""Why: a reviewed case has no fuel: what there is to see is who was rated how, by whom and for what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from evalkit.performance.case import Case
from evalkit.records import ReviewedRun
from evalkit.views.formats import DASH, grouped
from evalkit.views.frames import plain_rows
from evalkit.views.grid import Cell, Column, Table
from evalkit.views.names import plain, short
from evalkit.views.prose import Note, paragraphs

__all__ = ["finding", "leaderboard", "rules", "verdicts", "waiting"]


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
    return tuple(_verdict(case, run) for run in scored)


def _verdict(case: Case, run: ReviewedRun) -> Table:
    assert run.review is not None
    review = run.review
    body = [
        (Cell(plain(d.name)), _points(review.ratings.get(d.slug), d.points), Cell.name(d.description or DASH, 200))
        for d in case.domains
    ]
    for item in case.review_items:
        met = review.items.get(item.slug)
        mark = {True: "✓ met", False: "✗ not met", None: DASH}[met]
        body.append(
            (Cell(mark), _points(None if met is None else item.points * met, item.points), Cell.name(item.text, 200))
        )
    when = f", {review.recorded_at[:10]}" if review.recorded_at else ""
    words = f" “{' '.join(review.writeup.split())}”" if review.writeup.strip() else ""
    columns = (Column("domain or review item", "mark"), Column("points", "number"), Column("what it asks"))
    note = f"{review.score:.1f} of 100 by {plain(review.reviewer)}{when}, run {run.run_id}.{words}"
    return Table(f"Verdict: {short(run.model, 60)}", columns, body, note=note, searchable=False)


def _points(value: float | None, most: float) -> Cell:
    return Cell(DASH if value is None else f"{value:g} of {most:g}", value)


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
