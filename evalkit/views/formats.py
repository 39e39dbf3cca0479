"""Why: one way to write a number down, in charts, tables and sentences; what does not exist is a dash, never 0."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "DASH",
    "OUTCOME_MARKS",
    "OUTCOME_WORDS",
    "compact",
    "grouped",
    "listed",
    "ratio",
    "signed_percent",
    "some",
    "times",
]

DASH = "\N{EN DASH}"

OUTCOME_WORDS = {
    "pass": "pass",
    "over_ceiling": "over ceiling",
    "incorrect": "incorrect",
    "skipped": "skipped",
    "ungraded": "ungraded",
}

OUTCOME_MARKS = {"pass": "✓", "over_ceiling": "▲", "incorrect": "✗", "skipped": "○", "ungraded": "?"}
"""A sign before each word, so that a column can be scanned; neither stands alone."""


def grouped(value: float | None) -> str:
    """Return a whole number with its thousands grouped; a dash for None."""
    return DASH if value is None else f"{value:,.0f}"


def ratio(value: float | None) -> str:
    """Return a ratio to three decimals; a dash for None."""
    return DASH if value is None else f"{value:,.3f}"


def compact(fuel: float | None) -> str:
    """Return fuel in three digits with a unit: 950, 12.3 k, 4.56 M, 1.20 G, 3.40 T; a dash for None.

    >>> compact(63_100_000), compact(None)
    ('63.1 M', '–')
    """
    if fuel is None:
        return DASH
    value = float(fuel)
    for unit in ("", " k", " M", " G", " T"):
        if abs(value) < 999.5 or unit == " T":
            break
        value /= 1000
    digits = 0 if not unit or abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2
    return f"{value:,.{digits}f}{unit}"


def times(ratio: float | None) -> str:
    """Return a ratio as `1.25×`; a dash for None."""
    return DASH if ratio is None else f"{ratio:,.2f}×"


def signed_percent(percent: float | None) -> str:
    """Return percent with its sign (a true minus); never `+0.0 %` for what is a hair over the line.

    >>> signed_percent(0.001), signed_percent(-12.34)
    ('+<0.01 %', '−12.3 %')
    """
    if percent is None:
        return DASH
    digits = 1 if abs(percent) >= 0.05 or percent == 0 else 2
    if 0 < abs(percent) < 0.005:
        return ("+" if percent > 0 else "−") + "<0.01 %"
    return f"{percent:+,.{digits}f} %".replace("-", "−")


def some(count: int, what: str) -> str:
    """Return `1 run`, `2 runs`, `1,000 runs`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def listed(texts: Sequence[str], most: int = 3) -> str:
    """Return up to `most` texts as a list in a sentence, and how many more there are; "" for none.

    >>> listed(["ghost", "gunner", "planner"]), listed(["ghost", "gunner", "planner"], 1)
    ('ghost, gunner and planner', 'ghost and 2 more')
    """
    shown = [*texts[:most], *([f"{len(texts) - most:,} more"] if len(texts) > most else [])]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""
