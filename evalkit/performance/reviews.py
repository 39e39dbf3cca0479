"""Why: what a reviewer found is data too: it is read with every fault named, and scored by the case's own points.

`reviews.toml` beside a case's manifest holds recorded reviews of the solutions beside it::

    [[review]]
    solution = "short-and-plain"      # a folder under solutions/
    variant = "base"                  # absent: the default variant
    reviewer = "Ada"
    recorded_at = 2026-01-31T12:00:00Z
    writeup = "What a reader would want to know."
    ratings = { accuracy = 8 }        # every domain, from 0 to its points
    items = { names-the-time = true } # every review item: was it met?
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalkit.errors import UsageError
from evalkit.performance.case import Case
from evalkit.reading import (
    BOOLEAN,
    LINE,
    SLUG,
    TEXT,
    Faults,
    Kind,
    Table,
    Unfit,
    describe,
    did_you_mean,
    folder_in,
    number,
    printable,
    read_toml,
)
from evalkit.records import Review

__all__ = ["REVIEWS", "RecordedReview", "load_reviews", "review_score"]

REVIEWS = "reviews.toml"


@dataclass(frozen=True, slots=True)
class RecordedReview:
    """A review and what it is of: a solution's folder, and the slug of the variant it answers."""

    solution: Path
    variant: str
    review: Review


def review_score(case: Case, ratings: Mapping[str, float], items: Mapping[str, bool]) -> float:
    """Give the score, 0 to 100: points earned over points to be had, ratings and met items alike, times 100.

    Raises UsageError that lists everything unknown, missing or out of range: a review is of the whole case.
    """
    wrong = _misfits(case, ratings, items)
    if wrong:
        raise UsageError("this review does not fit the case: " + "; ".join(f"{key}: {what}" for key, what in wrong))
    most = sum(domain.points for domain in case.domains) + sum(item.points for item in case.review_items)
    earned = sum(ratings.values()) + sum(item.points for item in case.review_items if items[item.slug])
    return 100 * earned / most


def load_reviews(case: Case) -> tuple[RecordedReview, ...]:
    """Read the reviews recorded beside a case, in the file's order; none where there is no such file.

    Raises AuthoringError with every fault: unknown or missing domains and items, ratings out of range, no such
    solution or variant, two reviews of one solution and variant.
    """
    if case.is_performance or not (case.root / REVIEWS).exists():
        return ()
    faults = Faults()
    found: list[RecordedReview] = []
    table = read_toml(case.root / REVIEWS, REVIEWS, faults)
    if table is not None:
        found = [_review(case, row) for row in table.tables("review")]
        table.finish()
        keys = [(row.solution, row.variant) for row in found]
        for place, key in enumerate(keys, 1):
            first = keys.index(key) + 1
            if first < place and key[0] != case.root:
                table.error(f"review#{place}", f"review#{first} is of the same solution and variant: keep one")
    faults.raise_errors()
    return tuple(found)


def _review(case: Case, table: Table) -> RecordedReview:
    slugs = [variant.slug for variant in case.variants]
    variant = table.take("variant", SLUG, slugs[0])
    if variant not in slugs:
        near = did_you_mean(variant, slugs) or f": it has {', '.join(slugs)}"
        table.error("variant", f'the case has no variant "{variant}"{near}')
    ratings = _values(table, "ratings", number())
    items = _values(table, "items", BOOLEAN)
    wrong = _misfits(case, ratings, items)
    for key, what in wrong:
        table.error(key, what)
    review = Review(
        reviewer=table.take("reviewer", LINE),
        ratings=ratings,
        items=items,
        score=0.0 if wrong else review_score(case, ratings, items),
        writeup=table.take("writeup", TEXT, ""),
        recorded_at=table.take("recorded_at", MOMENT),
    )
    return RecordedReview(table.take("solution", _solution_in(case)), variant, review)


def _values(table: Table, key: str, kind: Kind[Any]) -> dict[str, Any]:
    inner = table.table(key)
    return {name: inner.take(name, kind) for name in inner.keys()} if inner else {}  # noqa: SIM118 - no dict: it marks them known


def _misfits(case: Case, ratings: Mapping[str, float], items: Mapping[str, bool]) -> list[tuple[str, str]]:
    points = {domain.slug: domain.points for domain in case.domains}
    slugs = [item.slug for item in case.review_items]
    wrong = []
    if not points and not slugs:
        wrong.append(("ratings", "the case has no domain and no review item: a review of it has no score"))
    for group, noun, given, known in (
        ("ratings", "domain", ratings, list(points)),
        ("items", "review item", items, slugs),
    ):
        for slug in given:
            if slug not in known:
                near = did_you_mean(slug, known) or f": it has {', '.join(known) or 'none'}"
                wrong.append((f"{group}.{printable(slug)}", f"the case has no such {noun}{near}"))
        wrong += [
            (group, f'the {noun} "{slug}" is missing: a review covers all') for slug in known if slug not in given
        ]
    for slug, rating in ratings.items():
        if slug in points and not 0 <= rating <= points[slug]:
            wrong.append((f"ratings.{slug}", f"must be from 0 to {points[slug]:g}, not {rating:g}"))
    return wrong


def _solution_in(case: Case) -> Kind[Path]:
    folder = folder_in(case.root)

    def read(value: Any) -> Path:
        return folder.read(f"solutions/{SLUG.read(value)}")

    return Kind(read, case.root, '"a-folder"')


def _moment(value: Any) -> str:
    """A TOML date and time with its offset, as ISO 8601 in UTC."""
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise Unfit(f"must be a date and time such as 2026-01-31T12:00:00Z, not {describe(value)}")
    return value.astimezone(UTC).isoformat()


MOMENT: Kind[str] = Kind(_moment, "", "2026-01-31T12:00:00Z")
