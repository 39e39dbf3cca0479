"""Why: "which of these two, and where does it come from?", answered the same way for two agents and for two models."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import altair as alt
import pandas as pd

from evalkit.errors import UsageError
from evalkit.performance.case import Case
from evalkit.performance.compare import by_input
from evalkit.performance.rank import fold_model, project_aliases
from evalkit.season.compare import by_entry, seeds_to_separate, shared_cells
from evalkit.season.ranking import scored, standings
from evalkit.season.season import Season
from evalkit.season.whatif import entry_name
from evalkit.views import prose, theme
from evalkit.views.cells import named, number, rows_of
from evalkit.views.drawing import AnyChart, by_place, data, finish, fuel_axis, nothing, title, tooltip
from evalkit.views.formats import DASH, grouped, listed, some, times
from evalkit.views.frames import latest_cohort, one_per_model
from evalkit.views.grid import Cell, Column, Table
from evalkit.views.names import labels, short
from evalkit.views.opening import find, opened
from evalkit.views.seasons.prose import certainty
from evalkit.views.whatif_words import other_digest

__all__ = ["Comparison", "compare"]


class Comparison:
    """Two agents of a season, or two models of a case. `frame` is a row an entry or input, the most telling first.

    `cells` (of a season) is a row a shared cell. `first` and `second` are the names; differences are first minus
    second. `separation` says how many seeds would tell two agents apart; None for models, whose fuel is exact. `note`
    is what to know of the runs, or "".
    """

    def __init__(
        self, first: str, second: str, what: str, frame: pd.DataFrame, cells: pd.DataFrame, note: str = ""
    ) -> None:
        self.first, self.second, self.frame, self.cells, self.note = first, second, frame, cells, note
        self._what, self._short = what, (short(first, 28), short(second, 28))
        self.separation = None
        if what == "entry":
            keys = zip(cells["level"], cells["difficulty"], cells["seed"].map(int), strict=True)
            self.separation = seeds_to_separate(dict(zip(keys, cells["difference"].map(float), strict=True)))

    def chart(self) -> AnyChart:
        """Draw what each entry or input adds to the difference, the most telling first."""
        is_fuel = self._what == "input"
        heading = f"{self._short[0]} minus {self._short[1]}: what each {self._what} adds"
        values = [
            {"label": row.name, "adds": float(row.adds), "first": float(row.first), "second": float(row.second),
             "place": place, "ink": theme.colour(self.first if row.adds > 0 else self.second)}
            for place, row in enumerate(rows_of(self._named()))
        ]  # fmt: skip
        if not values:
            return nothing(heading, f"They share no {self._what}, so there is nothing to compare.")
        shown = labels((row["label"] for row in values), 30)
        for row in values:
            row["label"] = shown[row["label"]]
        unit = "fuel (left of zero: the first burns less)" if is_fuel else "points (right of zero: the first is ahead)"
        axis = fuel_axis() if is_fuel else alt.Axis()
        form = ",.0f" if is_fuel else ",.2f"
        tips = tooltip(
            (self._what, self._what), *((n, n, form) for n in ("first", "second", "adds")), ("measured", "measured")
        )
        how = "wasmtime fuel of one metered call" if is_fuel else "mean over the seeds that both played"
        for row in values:
            row |= {self._what: row["label"], "measured": how}
        bars = (
            alt.Chart(data(values)).mark_bar(height={"band": 0.68})
            .encode(y=by_place("label"), x=alt.X("adds:Q", title=unit, axis=axis),
                    color=alt.Color("ink:N", scale=None), tooltip=tips)
        )  # fmt: skip
        line = alt.Chart(data([{"zero": 0}])).mark_rule(color=theme.GREY).encode(x=alt.X("zero:Q", title=unit))
        return finish([bars, line], title(heading), heading)

    def _named(self) -> pd.DataFrame:
        """`frame` with one name a row, and `adds` in its unit."""
        if self._what == "input":
            return self.frame.assign(name=self.frame["input"], adds=self.frame["difference"])
        keys = zip(self.frame["level"], self.frame["difficulty"], strict=True)
        return self.frame.assign(name=[entry_name(key) for key in keys])

    def table(self) -> Table:
        """List the entries or inputs with both values."""
        is_fuel = self._what == "input"
        form = ",.0f" if is_fuel else ",.2f"
        more = (("ratio", "ratio", ",.3f"), ("share", "share of the differences", ".0%")) if is_fuel else (
            ("se", "± SE", ",.2f"), ("seeds", "seeds", ",.0f"), ("adds", "adds", "+,.2f"))  # fmt: skip
        told = (("first", self._short[0], form), ("second", self._short[1], form), ("difference", "difference", form))
        columns = (Column(self._what), *(Column(head, "number") for _, head, _ in (*told, *more)))
        rows: list[tuple[Cell, ...]] = [
            (named(row.name), *(number(getattr(row, name), how) for name, _, how in (*told, *more)))
            for row in rows_of(self._named())
        ]
        return Table("Side by side", columns, rows, empty=f"They share no {self._what}.", searchable=False)

    def finding(self) -> prose.Note:
        """Say who is ahead, by how much, where from, and how sure that is."""
        first, second = self._short
        if self.frame.empty:
            return prose.paragraphs(f"Finding: {first} and {second} share no {self._what}, so they do not compare.")
        return prose.paragraphs(self._of_inputs() if self._what == "input" else self._of_entries(), self.note)

    def _of_inputs(self) -> str:
        first, second = self._short
        totals = int(self.frame["first"].sum()), int(self.frame["second"].sum())
        low, high = (first, second) if totals[0] <= totals[1] else (second, first)
        over = f"over the {some(len(self.frame), 'stress input')} that both have a reading on"
        exact = "Fuel is exact: running again would change nothing."
        if totals[0] == totals[1]:
            return f"Finding: {first} and {second} burned the same fuel {over}. {exact}"
        ratio = times(max(totals) / max(1, min(totals)))
        said = f"Finding: {high} burned {ratio} the fuel of {low} {over}"
        with_it, against = self._sides(totals[0] - totals[1])
        top = with_it[0]
        if not against:
            return f"{said}; {short(top.name, 30)} makes {top.share:.0%} of the difference. {exact}"
        said += f"; {short(top.name, 30)} adds most to that, {grouped(abs(top.adds))} more for {high}"
        return f"{said}, while {_against(against, low, high, ',.0f', 'more for')}. {exact}"

    def _of_entries(self) -> str:
        first, second = self._short
        mean = round(float(self.cells["difference"].mean()), 9)
        over = f"over {some(len(self.cells), 'shared cell')}"
        if not mean:
            return f"Finding: {over} {first} and {second} are level. {self._certain(mean, first, second)}"
        ahead, behind = (first, second) if mean > 0 else (second, first)
        with_it, against = self._sides(mean)
        said = f"Finding: {over} {ahead} is {abs(mean):.2f} points ahead of {behind}"
        said += f"; {short(with_it[0].name, 40)} adds most to that ({abs(with_it[0].adds):.2f})"
        said += f", while {_against(against, behind, ahead, '.2f', 'for')}" if against else ""
        return f"{said}. {self._certain(mean, ahead, behind)}"

    def _sides(self, way: float) -> tuple[list[Any], list[Any]]:
        """The rows that add to the difference in its own direction, most first, and those that go against it."""
        rows = sorted(rows_of(self._named()), key=lambda row: -abs(row.adds))
        return [row for row in rows if row.adds * way > 0], [row for row in rows if row.adds * way < 0]

    def _certain(self, mean: float, ahead: str, behind: str) -> str:
        """How sure that is, and over which entries: one of a single shared seed says nothing of it."""
        apart = self.separation
        if apart is None:
            return f"Cell by cell {certainty(apart)}"
        count, names = len(apart.left_out), listed([short(entry_name(key), 40) for key in apart.left_out])
        left = f"{'1 entry' if count == 1 else f'{count:,} entries'} of one shared seed ({names})"
        left += f" {'says' if count == 1 else 'say'} nothing of it"
        rest = len(self.frame) - count
        over = "the other one" if rest == 1 else f"the other {rest:,}"
        if mean * apart.difference < 0 or (not mean and apart.difference):
            other = behind if mean else self._short[0] if apart.difference > 0 else self._short[1]
            why = f"{left}, and over {over}" if count else "where every entry counts alike, whatever its seeds,"
            told = f"{abs(apart.difference):.2f} ± {apart.se:.2f} points"
            return f"How sure that is cannot be said: {why} {other} is ahead, by {told}. Play more seeds."
        if not count:
            return f"Cell by cell {certainty(apart)}"
        return f"How sure is that? {left[:1].upper()}{left[1:]}; over {over} {certainty(apart)}"

    def sureness(self) -> Table | prose.Note:
        """State `separation`: the difference with its error, the seeds that there are, and those that it takes."""
        if self._what == "input":
            return prose.paragraphs("Fuel is exact: running again would change nothing.")
        apart = self.separation
        if apart is None:
            return prose.paragraphs("No entry has two shared seeds, so nothing says how sure it is: play more seeds.")
        half = NormalDist().inv_cdf(0.975) * apart.se
        shown = [
            ("difference of the means, in points", f"{apart.difference:+.2f}"),
            ("standard error, over seeds with the entries fixed", f"{apart.se:.2f}"),
            ("95 % interval", f"{apart.difference - half:+.2f} to {apart.difference + half:+.2f}"),
            ("apart: the interval leaves out 0", "✓ yes" if apart.is_separate else "✗ no"),
            ("entries left out, of one shared seed", f"{len(apart.left_out):,}"),
            ("seeds of every other entry now" if apart.left_out else "seeds of every entry now", f"{apart.seeds:,}"),
            ("seeds that show this difference 8 times in 10", DASH if apart.needed is None else f"{apart.needed:,}"),
            ("more seeds", DASH if apart.needed is None else f"{max(0, apart.needed - apart.seeds):,}"),
        ]
        rows = [(Cell(name), Cell(value)) for name, value in shown]
        heading = f"{self._short[0]} minus {self._short[1]}: how sure is it?"
        mean = float(self.cells["difference"].mean())
        note = f"The mean over all shared cells, where each counts alike, is {mean:+.2f}; here each entry counts alike."
        note = note if abs(mean - apart.difference) > 0.005 else ""
        return Table(heading, (Column("what"), Column("how much", "number")), rows, note=note, searchable=False)


def compare(what: Any, store: Any = None, *, first: str | None = None, second: str | None = None) -> Comparison:
    """Compare two agents of a season, or two models of a case: a path, `slug[@version]`, or an opened one.

    None takes the best two that rank. Raises UsageError where there are not two, or a name has no run.
    """
    found, source = find(what), opened(store)[0]
    if isinstance(found, Season):
        runs = source.season_frame(include_voided=False, season=found.slug, season_version=found.version)
        rows = [row.agent for row in standings(runs, found) if row.reference is None]
        one, two = _two(rows, first, second)
        cells = shared_cells(runs, found, one, two)
        counted = scored(runs, found)
        digests = counted.loc[counted["agent"].isin([one, two]), "season_digest"]
        note = other_digest(int((digests != found.digest).sum()), len(digests), "season")
        return Comparison(one, two, "entry", by_entry(cells), cells, note)
    return _models(found, source, first, second)


def _models(case: Case, source: Any, first: str | None, second: str | None) -> Comparison:
    aliases = project_aliases()
    cohort = latest_cohort(source.runs(kind="performance", case=case.slug), version=case.version)
    best = {fold_model(run.model, aliases): run for run in one_per_model(cohort, aliases)}
    given = [name if name is None else fold_model(name, aliases) for name in (first, second)]
    one, two = _two(list(best), *given)
    for name in (one, two):
        if name not in best:
            raise UsageError(f'no graded run of "{short(name)}": there are {", ".join(map(short, best)) or "none"}')
    others = sum(best[name].case_digest != case.digest() for name in (one, two))
    note = other_digest(others, 2, "case")
    return Comparison(one, two, "input", by_input(best[one], best[two]), pd.DataFrame(), note)


def _against(rows: list[Any], who: str, other: str, form: str, how: str) -> str:
    """What goes against a difference, in words."""
    most = f"{format(abs(rows[0].adds), form)} {how} {who}"
    name = short(rows[0].name, 40)
    if len(rows) == 1:
        return f"{name} goes the other way ({most})"
    return f"{len(rows)} go the other way, {name} most ({most})"


def _two(ranked: list[str], first: str | None, second: str | None) -> tuple[str, str]:
    if first is not None and first == second:
        raise UsageError(f'"{short(first)}" is named twice: name two different ones to compare')
    rest = [name for name in ranked if name not in (first, second)]
    one = first if first is not None else rest.pop(0) if rest else None
    two = second if second is not None else rest.pop(0) if rest else None
    if one is None or two is None:
        raise UsageError(f"two are needed to compare, and {len(ranked)} made a run: play or grade another")
    return one, two
