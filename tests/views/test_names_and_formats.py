"""Names keep to their place, and numbers read one way."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.views.formats import compact, grouped, ratio, signed_percent, times
from evalkit.views.names import html, labels, plain, short
from tests import made_up_runs as made


@given(st.text())
def test_a_plain_name_is_one_line_without_unseen_characters(text: str) -> None:
    seen = plain(text)
    assert seen and len(seen.splitlines()) == 1
    assert not {unicodedata.category(c) for c in seen} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@given(st.lists(st.text()), st.integers(12, 60))
def test_labels_are_short_and_no_two_are_alike(names: list[str], limit: int) -> None:
    result = labels(names, limit)
    assert list(result) == list(dict.fromkeys(names))
    assert len(set(result.values())) == len(result)
    assert all(len(label) <= limit for label in result.values())


def test_names_that_differ_at_the_end_stay_apart_when_shortened() -> None:
    one, two = (name for name in made.HOSTILE if name.startswith("a very long"))
    assert short(one) != short(two)
    assert len(short("m" * 300)) == 36


@given(st.text(alphabet="<>&\"'/ab"))
def test_html_holds_no_markup(text: str) -> None:
    assert not set(html(text)) & set("<>\"'")


@pytest.mark.parametrize(
    ("fuel", "said"),
    [
        (None, "–"),
        (0, "0"),
        (999, "999"),
        (1000, "1.00 k"),
        (12_136_779, "12.1 M"),
        (999_600_000, "1.00 G"),
        (3.4e12, "3.40 T"),
        (5e16, "50,000 T"),
    ],
)
def test_compact_fuel_keeps_three_digits(fuel: float | None, said: str) -> None:
    assert compact(fuel) == said


@pytest.mark.parametrize(
    ("percent", "said"),
    [
        (None, "–"),
        (0.0, "+0.0 %"),
        (12.34, "+12.3 %"),
        (-40.0, "−40.0 %"),
        (0.02, "+0.02 %"),
        (1e-6, "+<0.01 %"),
        (900.0, "+900.0 %"),
    ],
)
def test_a_hair_over_the_line_never_reads_as_on_it(percent: float | None, said: str) -> None:
    assert signed_percent(percent) == said


def test_what_does_not_exist_is_a_dash() -> None:
    assert {grouped(None), ratio(None), times(None), compact(None), signed_percent(None)} == {"–"}
    assert grouped(1234567) == "1,234,567"
