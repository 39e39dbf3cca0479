"""Why: the place to ask "what if": every constant under a hand, the official ranking and the other one side by side.

`evalkit.whatif("season-1")` or `evalkit.whatif("lattice")`. All it computes is in `season.whatif`, `season.limits` and
their namesakes in `performance`; here are only the controls and what they show.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from typing import Any, Protocol

import ipywidgets as widgets
import pandas as pd

from evalkit.errors import UsageError
from evalkit.performance.case import Case
from evalkit.performance.manifest import open_case
from evalkit.reading import did_you_mean, printable
from evalkit.season.manifest import open_season
from evalkit.season.season import Season
from evalkit.store import Store, open_results
from evalkit.views import prose
from evalkit.views.cells import as_html, number, rows_of
from evalkit.views.controls import folds, keyboard
from evalkit.views.flow import live
from evalkit.views.grid import Cell, Column, Table
from evalkit.views.names import html, short

__all__ = ["Board", "Question", "find", "opened", "whatif"]

ROWS = 60
"""Rows of the table that are drawn; `frame` holds all."""


class Question(Protocol):
    """What can be changed, and what it then gives: a season's, in `whatif_season`, or a case's, in `whatif_case`.

    `controls` are by name, `panels` the same ones as they are laid out; `official` is what resets them. `frame` and
    `code` answer for the controls as they stand, and raise UsageError, in a line, where they leave nothing to rank.
    """

    title: str
    what: str
    controls: dict[str, Any]
    panels: tuple[tuple[str, Any], ...]
    limits: pd.DataFrame

    def frame(self) -> pd.DataFrame:
        """The ranking, official and what-if, as the wing's `what_if` gives it."""

    def code(self) -> str:
        """What gives the same frame with no widget."""

    def limit_table(self) -> Table:
        """How far each constant can go."""

    def cells(self, row: Any) -> tuple[tuple[Column, Cell], ...]:
        """The scores of a row of `frame`, official and what-if."""


class Board:
    """A what-if as a notebook shows it. `widget` is the whole of it, `controls` are its inputs by name.

    `frame` is the table behind it (what `what_if` returns), `limits` how far each constant can go, `code` what gives
    the same frame with no widget. Set a control's `value` in code, or by hand; `reset()` goes back to the official.
    """

    def __init__(self, question: Question) -> None:
        self._question = question
        self.controls = question.controls
        self.limits = question.limits
        self.frame = pd.DataFrame()
        self.code = ""
        self._official = {name: control.value for name, control in self.controls.items()}
        self._quiet = False
        self._summary, self._ranks, self._code = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.reset_button = widgets.Button(description="Reset to official", icon="undo", layout={"width": "auto"})
        self.reset_button.on_click(lambda _: self.reset())
        for control in self.controls.values():
            control.observe(self._changed, "value")
        self.widget = self._laid_out()
        self.redraw()

    def _repr_mimebundle_(self, **given: Any) -> Any:
        return self.widget._repr_mimebundle_(**given)

    def __repr__(self) -> str:
        return f"what-if of {self._question.title}: {len(self.frame)} rows"

    def reset(self) -> None:
        """Set every control back to its official value."""
        self._quiet = True
        try:
            for name, value in self._official.items():
                self.controls[name].value = value
        finally:
            self._quiet = False
        self.redraw()

    def apply(self, changes: Sequence[str]) -> Board:
        """Set controls from texts like `completion=50` or `entry dam (agent)=no`, and return the board.

        Raises UsageError, in a line, for a name that is no control and a value that does not fit it; nothing is set.
        """
        values: dict[str, Any] = {}
        for change in changes:
            name, _, text = (part.strip() for part in change.rpartition("="))
            if name not in self.controls:
                raise UsageError(f'no control "{printable(name)}"{did_you_mean(name, list(self.controls))}')
            values[name] = _value(self.controls[name], text)
        self._quiet = True
        try:
            for name, value in values.items():
                self.controls[name].value = value
        finally:
            self._quiet = False
        self.redraw()
        return self

    def _changed(self, _change: Any) -> None:
        if not self._quiet:
            self.redraw()

    def redraw(self) -> None:
        """Compute and show again; a control that changes does this itself."""
        try:
            self.frame, self.code = self._question.frame(), self._question.code()
        except UsageError as error:
            self.frame, self.code = self.frame.iloc[:0], ""
            self._summary.value = f"<p><b>{html(str(error))}</b></p>"
            self._ranks.value = self._code.value = ""
            return
        self._summary.value = f"<p style='margin:.2em 0 .6em'>{html(_said(self.frame, self._question.what))}</p>"
        what = self._question.what
        self._ranks.value = as_html(self.table()) + live(self.frame) + _whys(self.frame, what)
        self._code.value = f'<pre style="white-space:pre-wrap;line-height:1.45">{escape(self.code)}</pre>'

    def table(self) -> Table:
        """The official and the other ranking, side by side, as a table to print."""
        what = self._question.what
        rows, columns = [], [Column("rank", "number"), Column("was", "number"), Column("moved", "mark"), Column(what)]
        scores: tuple[tuple[Column, Cell], ...] = ()
        for row in rows_of(self.frame.head(ROWS)):
            scores = self._question.cells(row)
            place = (number(row.rank), number(row.official_rank), Cell(_arrow(row)), Cell.name(_name(row, what), 44))
            rows.append((*place, *(cell for _, cell in scores)))
        columns += [column for column, _ in scores]
        left = len(self.frame) - len(rows)
        note = f"The best {len(rows)} of {len(self.frame)}; `.frame` holds all." if left > 0 else ""
        return Table(
            "Official and what-if, side by side", columns, rows, note=note, searchable=False,
            empty="No run counts here yet, so there is nothing to rank.",
        )  # fmt: skip

    def limit_table(self) -> Table:
        """How far each constant can go before the first rank changes, as a table to print."""
        return self._question.limit_table()

    def finding(self) -> prose.Note:
        """Say what this setting changes, and which constant is nearest to changing a rank."""
        return prose.paragraphs(f"Finding: {_said(self.frame, self._question.what)}", _tightest(self.limits))

    def _laid_out(self) -> Any:
        left = widgets.VBox(
            [self.reset_button, folds(self._question.panels)],
            layout={"flex": "0 1 304px", "min_width": "290px", "margin": "0 10px 0 0"},
        )
        tabs = widgets.Tab([
            self._ranks, widgets.HTML(as_html(self.limit_table())), self._code
        ], layout={"overflow": "auto"})  # fmt: skip
        for place, title in enumerate(("Ranks", "How far can it go?", "The code")):
            tabs.set_title(place, title)
        right = widgets.VBox([self._summary, tabs], layout={"flex": "1 1 500px", "min_width": "0", "max_width": "100%"})
        sides = widgets.HBox([left, right], layout={"flex_flow": "row wrap", "align_items": "flex-start"})
        return keyboard([widgets.HTML(f"<h3>What if? {html(self._question.title)}</h3>"), sides])


def whatif(what: str | os.PathLike[str] | Season | Case, store: Any = None, *, runs: Any = None) -> Board:
    """Show a what-if of a season or a case: a path, `slug[@version]`, or an opened one.

    `store` is a Store, its URL or path, or None for what `open_results` opens; `runs` are taken instead of a store's:
    a season frame or season runs, or performance runs. Raises UsageError, in a line, where it is neither a season nor a
    performance case.
    """
    from evalkit.views.whatif_case import CaseQuestion
    from evalkit.views.whatif_season import SeasonQuestion

    found = find(what)
    if isinstance(found, Season):
        ref = f"{found.slug}@{found.version}" if isinstance(what, (Season, Case)) else os.fspath(what)
        return Board(SeasonQuestion(found, store, runs, ref))
    if not found.is_performance:
        raise UsageError(f"case {found.slug} has no constants to change: a review is its score")
    return Board(CaseQuestion(found, store, runs))


def find(what: str | os.PathLike[str] | Season | Case) -> Season | Case:
    """Open a case or a season. Raises UsageError as `open_case` does where it is neither."""
    if isinstance(what, (Season, Case)):
        return what
    ref = os.fspath(what)
    try:
        return open_case(ref)
    except UsageError as error:
        refusal = error
    try:
        return open_season(ref)
    except UsageError:
        raise refusal from None


def opened(store: Any) -> tuple[Store, str | None]:
    """A store to read, and the name that opens it again (None: what opens when nobody says)."""
    if isinstance(store, Store):
        return store, None if store.name.startswith("sqlite://") else store.name
    return open_results(store), None if store is None else os.fspath(store)


def _name(row: Any, what: str) -> str:
    name = str(getattr(row, what))
    reference = getattr(row, "reference", None)
    return name if reference is None or pd.isna(reference) else f"{name} ({reference})"


def _arrow(row: Any) -> str:
    if pd.isna(row.rank) or pd.isna(row.official_rank):
        return "" if pd.isna(row.rank) == pd.isna(row.official_rank) else "new" if pd.isna(row.official_rank) else "out"
    return "" if row.moved == 0 else f"{'▲' if row.moved > 0 else '▼'} {abs(row.moved)}"


def _said(frame: pd.DataFrame, what: str) -> str:
    """Who leads and how many moved, in a line."""
    if frame.empty:
        return "No run counts here yet."
    first = frame.loc[frame["rank"] == 1, what]
    official = set(frame.loc[frame["official_rank"] == 1, what])
    moved = int((frame["why"] != "").sum())
    lead = "nobody takes a rank" if first.empty else f"first: {short(', '.join(first), 60)}"
    if set(first) == official:
        lead += ", as officially" if moved else ""
    elif official:
        lead += f" (officially {short(', '.join(sorted(official)), 60)})"
    said = "No rank differs from the official one" if not moved else f"{moved} of {len(frame)} rows differ"
    return f"{said}; {lead}."


def _tightest(limits: pd.DataFrame) -> str:
    """Which constant is nearest, as a share of itself, to changing a rank."""
    near: list[tuple[float, str]] = []
    for row in rows_of(limits.dropna(subset="official")):
        for limit in (row.below, row.above):
            if not pd.isna(limit) and row.official:
                said = f"{row[0]}, at {limit:,.6g} instead of {row.official:,.6g}"
                near.append((abs(limit - row.official) / row.official, said))
    return f"Of all constants, the nearest to change a rank alone: {min(near)[1]}." if near else ""


def _value(control: Any, text: str) -> Any:
    """A text as a control's value."""
    said = {"yes": True, "true": True, "no": False, "false": False}
    if isinstance(control.value, bool):
        if text.lower() in said:
            return said[text.lower()]
    elif isinstance(control.value, str):
        if text in [value for _, value in control.options]:
            return text
    else:
        try:
            value = type(control.value)(text)
        except ValueError:
            value = None
        if value is not None and control.min <= value <= control.max:
            return value
    raise UsageError(f'"{printable(text)}" does not fit the control {short(control.description or "score", 40)}')


def _whys(frame: pd.DataFrame, what: str) -> str:
    """Who moved, and why, a line each."""
    moved = frame[frame["why"] != ""]
    if moved.empty:
        return ""
    lines = [f"<li><b>{html(short(str(getattr(row, what)), 44))}</b> {html(row.why)}</li>"
             for row in rows_of(moved.head(ROWS))]  # fmt: skip
    return f'<h4 style="margin:.8em 0 .3em">Who moved, and why</h4><ul style="line-height:1.5">{"".join(lines)}</ul>'
