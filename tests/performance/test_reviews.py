"""Recorded reviews are read with every fault named, and scored by the points of their case."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.errors import AuthoringError, UsageError
from evalkit.performance.manifest import Case, check_case, find_case, load_case
from evalkit.performance.reviews import load_reviews, review_score

CASES = Path(__file__).parents[2] / "cases"
REVIEWED = Path(__file__).parent / "valid" / "reviewed.toml"


@pytest.fixture
def case(case_folder: Callable[[str], Path]) -> Case:
    root = case_folder(REVIEWED.read_text())
    (root / "solutions" / "one").mkdir(parents=True)
    return load_case(root)


def test_the_example_case_is_clean_and_its_reviews_are_scored() -> None:
    case = load_case(find_case("outage-note", CASES))
    assert check_case(case.root) == ()
    assert not case.is_performance
    scores = {row.solution.name: row.review.score for row in load_reviews(case)}
    assert scores == {"plain": pytest.approx(95), "guesswork": pytest.approx(100 * 7 / 30)}
    assert {folder.name for folder in (case.root / "solutions").iterdir()} - set(scores) == {"terse"}


def test_the_example_notes_keep_to_the_limit_that_their_reviews_say_they_keep() -> None:
    case = load_case(find_case("outage-note", CASES))
    for row in load_reviews(case):
        words = len((row.solution / "note.md").read_text().split())
        assert (words <= 150) == row.review.items["within-limit"]


def test_a_score_is_the_share_of_the_points_to_be_had(case: Case) -> None:
    assert review_score(case, {"craft": 5, "overall": 10}, {"signed": True}) == 100
    assert review_score(case, {"craft": 0, "overall": 0}, {"signed": False}) == 0
    assert review_score(case, {"craft": 5, "overall": 0}, {"signed": True}) == pytest.approx(100 * 5.5 / 15.5)


def test_a_review_that_does_not_fit_says_everything_that_is_wrong(case: Case) -> None:
    with pytest.raises(UsageError) as caught:
        review_score(case, {"carft": 1, "overall": 11}, {})
    assert str(caught.value) == (
        'this review does not fit the case: ratings.carft: the case has no such domain; did you mean "craft"?; '
        'ratings: the domain "craft" is missing: a review covers all; '
        'items: the review item "signed" is missing: a review covers all; '
        "ratings.overall: must be from 0 to 10, not 11"
    )


def test_a_case_without_points_gives_no_score(case_folder: Callable[[str], Path]) -> None:
    bare = load_case(case_folder('slug = "bare"\nname = "Bare"\ntype = "writing"\n'))
    with pytest.raises(UsageError, match="no domain and no review item"):
        review_score(bare, {}, {})


def test_a_case_without_recorded_reviews_has_none(case: Case) -> None:
    assert load_reviews(case) == ()


def test_every_fault_of_the_reviews_is_reported_at_once(case: Case) -> None:
    (case.root / "reviews.toml").write_text(
        """
        [[review]]
        solution = "one"
        reviewer = "Ada"
        recorded_at = 2026-01-31T13:00:00+01:00
        ratings = { craft = 5, overall = 10 }
        items = { signed = true }

        [[review]]
        solution = "one"
        reviewer = "Bob"
        recorded_at = "yesterday"
        ratings = { craft = true, overall = 3 }
        items = { singed = true }

        [[review]]
        solution = "../one"
        variant = "bass"
        stars = 5
        """
    )
    with pytest.raises(AuthoringError) as caught:
        load_reviews(case)
    assert [str(fault) for fault in caught.value.faults] == [
        "reviews.toml: review#2: review#1 is of the same solution and variant: keep one",
        "reviews.toml: review#2.recorded_at: must be a date and time such as 2026-01-31T12:00:00Z, "
        'not the string "yesterday"',
        "reviews.toml: review#2.ratings.craft: must be a number, not the boolean true",
        'reviews.toml: review#2.items: the review item "signed" is missing: a review covers all',
        'reviews.toml: review#2.items.singed: the case has no such review item; did you mean "signed"?',
        'reviews.toml: review#3.ratings: the domain "craft" is missing: a review covers all',
        'reviews.toml: review#3.ratings: the domain "overall" is missing: a review covers all',
        'reviews.toml: review#3.items: the review item "signed" is missing: a review covers all',
        'reviews.toml: review#3.reviewer: is missing: add reviewer = "…"',
        "reviews.toml: review#3.recorded_at: is missing: add recorded_at = 2026-01-31T12:00:00Z",
        'reviews.toml: review#3.solution: "../one" is no slug: use lower-case letters and digits, '
        "joined by single hyphens",
        'reviews.toml: review#3.variant: the case has no variant "bass"; did you mean "base"?',
        "reviews.toml: review#3.stars: is not a known key: remove it, or use one of items, ratings, recorded_at, "
        "reviewer, solution, variant, writeup",
    ]


def test_a_time_is_recorded_in_utc(case: Case) -> None:
    (case.root / "reviews.toml").write_text(
        '[[review]]\nsolution = "one"\nreviewer = "Ada"\nrecorded_at = 2026-01-31T13:00:00+01:00\n'
        "ratings = { craft = 5, overall = 10 }\nitems = { signed = true }\n"
    )
    (row,) = load_reviews(case)
    assert (row.variant, row.review.recorded_at) == ("base", "2026-01-31T12:00:00+00:00")
