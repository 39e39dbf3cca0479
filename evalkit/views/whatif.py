"""Why: the place to ask "what if": every constant under a hand, the official ranking and the other one side by side.

`evalkit.whatif("season-1")` or `evalkit.whatif("lattice")`. All it computes is in `season.whatif`, `season.limits` and
their namesakes in `performance`; here are only the controls and what they show.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, Protocol

import ipywidgets as widgets
import pandas as pd

from evalkit.errors import UsageError
from evalkit.performance.case import Case
from evalkit.reading import did_you_mean, printable
from evalkit.season.season import Season
from evalkit.views import prose
from evalkit.views.cells import as_html, number, rows_of
from evalkit.views.controls import folds, keyboard
from evalkit.views.flow import live
from evalkit.views.formats import some
from evalkit.views.grid import Cell, Column, Table
from evalkit.views.names import html, short
from evalkit.views.opening import find, named_again, opened
from evalkit.views.whatif_words import arrow, edges, name_of, said, tightest, whys

__all__ = ["Board", "Question", "find", "opened", "whatif"]

ROWS = 60
"""Rows of the table that are drawn; `frame` holds all."""


class Question(Protocol):
    """What can be changed, and what it then gives: a season's, in `whatif_season`, or a case's, in `whatif_case`.

    `controls` are by name, `panels` the same ones as they are laid out. `note` is what to know of the runs, or "".
    `frame` and `code` answer for values of the controls, by their names, and raise UsageError, in a line, where these
    leave nothing to rank.
    """

    title: str
    what: str
    note: str
    controls: dict[str, Any]
    panels: tuple[tuple[str, Any], ...]
    limits: pd.DataFrame

    def frame(self, values: Mapping[str, Any], reasons: int | None = None) -> pd.DataFrame:
        """The ranking, official and what-if, as the wing's `what_if` gives it."""

    def code(self, values: Mapping[str, Any]) -> str:
        """What gives the same frame with no widget."""

    def limited(self, row: Any) -> str:
        """The name of the control that a row of `limits` is about."""

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
        self._edges = edges(question.limits, question.limited)
        self._shown = pd.DataFrame()
        self._whole: pd.DataFrame | None = None
        self._drawn: Mapping[str, Any] = {}
        self.code = self._refusal = ""
        self._official = self._values()
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
        return f"what-if of {self._question.title}: {some(len(self._shown), 'row')}"

    def _values(self) -> dict[str, Any]:
        return {name: control.value for name, control in self.controls.items()}

    @property
    def frame(self) -> pd.DataFrame:
        """The ranking, official and what-if; empty where the controls leave nothing to rank."""
        if self._whole is None:
            self._whole = self._question.frame(self._drawn)
        return self._whole

    def reset(self) -> None:
        """Set every control back to its official value."""
        self._set(self._official)

    def apply(self, changes: Iterable[str] | str) -> Board:
        """Set controls from texts like `completion=50` or `entry dam (agent)=no`, and return the board.

        Raises UsageError, in a line, for a name that is no control and a value that does not fit it; nothing is set.
        """
        if not isinstance(changes, Iterable):
            raise UsageError(f"changes are texts such as {next(iter(self.controls))}=…, not {changes!r}")
        values: dict[str, Any] = {}
        for change in [changes] if isinstance(changes, str) else changes:
            name, sign, text = (part.strip() for part in str(change).rpartition("="))
            if not sign or name not in self.controls:
                raise UsageError(self._strange(name if sign else text, bool(sign)))
            values[name] = _value(self.controls[name], text)
        self._set(values)
        return self

    def _strange(self, name: str, has_value: bool) -> str:
        """What is wrong with a name that is no control, or that no value follows."""
        if name in self.controls and not has_value:
            return f'"{printable(name)}" says no value: write {printable(name)}=…'
        names = list(self.controls)
        listed = ", ".join(short(known, 30) for known in names[:8])
        more = f" and {len(names) - 8} more, as `.controls` lists them" if len(names) > 8 else ""
        return f'no control "{printable(name)}"{did_you_mean(name, names)}: there are {listed}{more}'

    def nearest(self) -> list[str]:
        """The one change, as `apply` takes it, of the constant that is nearest to changing a rank: just beyond that.

        Nearest is as a share of the constant's official value. Empty where no constant, alone, changes a rank.
        """
        for edge in self._edges:
            control = self.controls[edge.control]
            whole = isinstance(control.value, int)
            for value in [edge.limit] if whole else edge.beyond():
                value = int(value) if whole else value
                if not control.min <= value <= control.max:
                    continue
                frame = self._question.frame({**self._official, edge.control: value}, 0)
                if not frame["rank"].equals(frame["official_rank"].rename("rank")):
                    return [f"{edge.control}={value!r}"]
        return []

    def _set(self, values: Mapping[str, Any]) -> None:
        self._quiet = True
        try:
            for name, value in values.items():
                self.controls[name].value = value
        finally:
            self._quiet = False
        self.redraw()

    def _changed(self, _change: Any) -> None:
        if not self._quiet:
            self.redraw()

    def redraw(self) -> None:
        """Compute and show again; a control that changes does this itself."""
        values, what = self._values(), self._question.what
        try:
            for name, value in values.items():
                if isinstance(value, float) and not math.isfinite(value):
                    raise UsageError(f"{name} is no number now: set one from 0, or reset")
            # The reasons of rows that are not listed wait until someone asks for `frame`.
            self._shown, self.code = self._question.frame(values, ROWS), self._question.code(values)
        except UsageError as error:
            self._shown = self._whole = self._shown.iloc[:0]
            self.code, self._refusal = "", str(error)
            self._summary.value = f"<p><b>{html(self._refusal)}</b></p>"
            self._ranks.value = self._code.value = ""
            return
        self._drawn, self._whole, self._refusal = values, None, ""
        lines = [said(self._shown, what), self._question.note]
        self._summary.value = "".join(f"<p style='margin:.2em 0 .6em'>{html(line)}</p>" for line in lines if line)
        self._ranks.value = as_html(self.table()) + live(self._shown) + whys(self._shown, what, ROWS)
        self._code.value = f'<pre style="white-space:pre-wrap;line-height:1.45">{escape(self.code)}</pre>'

    def table(self) -> Table:
        """The official and the other ranking, side by side, as a table to print."""
        what = self._question.what
        rows, columns = [], [Column("rank", "number"), Column("was", "number"), Column("moved", "mark"), Column(what)]
        scores: tuple[tuple[Column, Cell], ...] = ()
        for row in rows_of(self._shown.head(ROWS)):
            scores = self._question.cells(row)
            place = (
                number(row.rank),
                number(row.official_rank),
                Cell(arrow(row), None if pd.isna(row.moved) else float(row.moved)),
                Cell.name(name_of(row, what), 44),
            )
            rows.append((*place, *(cell for _, cell in scores)))
        columns += [column for column, _ in scores]
        left = len(self._shown) - len(rows)
        note = f"The best {len(rows)} of {len(self._shown)}; `.frame` holds all." if left > 0 else ""
        empty = _sentence(self._refusal) or "No run counts here yet, so there is nothing to rank."
        return Table(
            "Official and what-if, side by side", columns, rows, note=note, searchable=False, empty=empty
        )  # fmt: skip

    def limit_table(self) -> Table:
        """How far each constant can go before the first rank changes, as a table to print."""
        return self._question.limit_table()

    def finding(self) -> prose.Note:
        """Say what this setting changes, and which constant is nearest to changing a rank."""
        if self._refusal:
            return prose.paragraphs(f"Finding: {_sentence(self._refusal)}")
        any_ranked = bool(self._shown["official_rank"].notna().any())
        line = f"Finding: {said(self._shown, self._question.what)}"
        return prose.paragraphs(line, tightest(self._edges, any_ranked), self._question.note)

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
        return Board(SeasonQuestion(found, store, runs, named_again(what, found)))
    if not found.is_performance:
        raise UsageError(f"case {found.slug} has no constants to change: a review is its score")
    return Board(CaseQuestion(found, store, runs))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""


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
