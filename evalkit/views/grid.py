"""Why: one table for every screen and for paper: plain escaped HTML that reads alone, searchable where scripts run.

The HTML carries every value, already formatted, with a sort key beside it where the text is none. After
`interactive()` a table of two rows or more sorts by its headings, and a long one is searched too, by the DataTables
bundle that itables ships; nothing is fetched, and without scripts (an untrusted notebook, a printed page) the same
table is still there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

import itables
from IPython.display import HTML, display
from itables.javascript import generate_init_offline_itables_html

from evalkit.views import sorting
from evalkit.views.formats import DASH
from evalkit.views.names import plain, short

__all__ = ["MOST_ROWS", "Cell", "Column", "Table", "interactive"]

MOST_ROWS = 1_000
"""Rows that a list of runs shows of more: a page of ten thousand would be megabytes that nobody reads."""

SEARCHABLE_FROM = 9
"""Rows from which a table is worth searching; below that the eye is faster and the page calmer."""

_SHORT = 20
_SHORT_OF_SENTENCES = 8
"""Rows up to which a table is kept on one printed page."""

_BUNDLE = "_itables_" + itables.__version__.replace(".", "_").replace("-", "_")
_READY = f"itables-{itables.__version__}-ready"
_loaded = False

_STYLE = (
    "<style>"
    "table.evk{border-collapse:collapse;font-size:13px;line-height:1.45;margin:.4em 0 1em;width:auto}"
    "table.evk caption{text-align:left;font-weight:600;font-size:15px;padding:0 0 .5em;caption-side:top;"
    "color:inherit}"
    # As wide as what is seen of the table, wherever it is scrolled to; a widget's width follows from its content.
    ".evk-wrap:not(.widget-html-content *){container-type:inline-size}"
    "table.evk caption span{display:block;position:sticky;left:0;width:fit-content;max-width:100cqw}"
    "table.evk caption small{display:block;font-weight:400;font-size:12px;opacity:.75}"
    "table.evk th,table.evk td{padding:.3em .6em;border:0;border-bottom:1px solid rgba(128,128,128,.28);"
    "vertical-align:top;max-width:26em;overflow-wrap:anywhere;white-space:normal}"
    "table.evk th,table.evk td{text-align:left!important}"  # JupyterLab and DataTables would align both their way
    "table.evk th.n,table.evk td.n{text-align:right!important}"
    "table.evk th{overflow-wrap:normal;font-weight:600;border-bottom:1.5px solid rgba(128,128,128,.6);"
    "vertical-align:bottom}"
    "table.evk td.n{font-variant-numeric:tabular-nums;white-space:nowrap}"
    "table.evk td.w{white-space:nowrap}table.evk td.t{min-width:9em}table.evk td.p{min-width:22em;max-width:34em}"
    "table.evk.dataTable{margin-left:0!important;margin-right:auto!important}"
    ".evk-wrap .dt-container,.evk-wrap table.evk.dataTable{background:transparent!important}"
    "table.evk tbody tr{background:transparent}table.evk tbody tr.here{background:rgba(47,155,216,.13)}"
    "@media screen{.evk-wrap{overflow-x:auto}}" + sorting.STYLE + "</style>"
)


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, and whether its cells are words (left), sentences, a number (right), or a mark that must not wrap."""

    title: str
    kind: Literal["words", "sentence", "number", "mark"] = "words"


@dataclass(frozen=True, slots=True)
class Cell:
    """What is shown, and the number to sort by where the text would sort wrongly (None sorts last)."""

    text: str
    sort: float | None = None
    full: str | None = None
    """The whole text where `text` is shortened: shown when the pointer rests on the cell."""

    @classmethod
    def name(cls, text: str, limit: int = 64) -> Cell:
        """Return a cell for a name: on one line, shortened in the middle, whole in its hint."""
        whole, shown = plain(text), short(text, limit)
        return cls(shown, full=whole if whole != shown else None)


class Table:
    """A titled table; a notebook shows it as HTML. `rows` hold a `Cell` per column; `here` is the row to stand out."""

    def __init__(
        self, title: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], *, note: str = "",
        empty: str = "Nothing yet.", here: int | None = None, searchable: bool | None = None, drop: Sequence[str] = (),
        above: Table | None = None,
    ) -> None:  # fmt: skip
        """Take the cells; `drop` names columns that are left out where every cell of theirs is a dash.

        `above` is a table shown with this one and before it: the counts of a list that is cut.
        """
        bare = {i for i, c in enumerate(columns) if c.title in drop and all(row[i].text in ("", DASH) for row in rows)}
        columns = [c for i, c in enumerate(columns) if i not in bare]
        rows = [[cell for i, cell in enumerate(row) if i not in bare] for row in rows]
        self.title, self.note, self.empty, self.here, self.above = title, note, empty, here, above
        self.columns, self.rows = tuple(columns), tuple(map(tuple, rows))
        self.searchable = len(self.rows) >= SEARCHABLE_FROM if searchable is None else searchable
        self.in_widget = False
        """Whether it stands in the HTML of a widget, which runs no script of its own: `controls.keyboard` brings it."""

    def __repr__(self) -> str:
        return f"{plain(self.title)}: {len(self.rows)} rows"

    def _repr_html_(self) -> str:
        live = self.searchable and _loaded and bool(self.rows) and not self.in_widget
        table = self.to_html(sorts=not live and (_loaded or self.in_widget) and len(self.rows) > 1)
        name = hashlib.sha256(table.encode("utf-8", "replace")).hexdigest()[:12]  # the same in every run of a notebook
        script = _script(name) if live else ""
        before = self.above._repr_html_() if self.above else ""
        return f'{before}{_STYLE}<div class="evk-wrap" data-evk="{name}">{table}</div>{script}'

    def to_html(self, *, sorts: bool = False) -> str:
        """Return the table alone, every text escaped; `sorts` where the page has `sorting.SCRIPT`."""
        note = f"<small>{_text(self.note)}</small>" if self.note else ""
        heads = [_text(c.title) for c in self.columns]
        if sorts:
            heads = [f"{sorting.BUTTON}{head}</span>" if head else "" for head in heads]
        head = "".join(f'<th scope="col"{_kind(c)}>{h}</th>' for c, h in zip(self.columns, heads, strict=True))
        if self.rows:
            body = "".join(self._row(i, row) for i, row in enumerate(self.rows))
        else:
            body = f'<tr><td colspan="{len(self.columns)}">{_text(self.empty)}</td></tr>'
        short = _SHORT_OF_SENTENCES if any(c.kind == "sentence" for c in self.columns) else _SHORT
        klass = "evk evk-short" if len(self.rows) <= short else "evk"
        return (
            f'<table class="{klass}"><caption style="text-align:left"><span>{_text(self.title)}{note}'
            f"</span></caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )

    def _row(self, index: int, row: Sequence[Cell]) -> str:
        cells = "".join(self._cell(column, cell) for column, cell in zip(self.columns, row, strict=True))
        return f"<tr{' class=here' if index == self.here else ''}>{cells}</tr>"

    def _cell(self, column: Column, cell: Cell) -> str:
        own = sorting.key(cell.text, cell.sort) if column.kind == "number" else None
        key = f' data-key="{own}"' if own is not None else ""
        hint = f' title="{_text(cell.full)}"' if cell.full else ""
        return f"<td{_kind(column)}{key}{hint}>{_text(cell.text) or DASH}</td>"


def _script(name: str) -> str:
    options: dict[str, Any] = {
        "classes": ["evk", "compact"], "style": {}, "paging": False, "info": False, "order": [], "autoWidth": False,
        "layout": {"topStart": "search", "topEnd": None, "bottomStart": None, "bottomEnd": None},
        "language": {"search": "Search ", "zeroRecords": "No row matches."},
        "columnDefs": [{"targets": "_all", "type": "evk", "orderDataType": "evk"}],
    }  # fmt: skip
    return (
        '<script type="module">(()=>{const go=async()=>{const {ITable,default:{ext},set_or_remove_dark_class:shade}='
        f"await window.{_BUNDLE},{{key,compare}}={sorting.RULES};shade();"
        "ext.order.evk=function(_,i){return this.api().column(i,{order:'index'}).nodes().toArray().map(key)};"
        "ext.type.order['evk-asc']=(a,b)=>compare(a,b,1);ext.type.order['evk-desc']=(a,b)=>compare(a,b,-1);"
        f"for(const t of document.querySelectorAll('[data-evk=\"{name}\"]>table:not(.dataTable)'))"
        f"new ITable(t,{json.dumps(options)})}};"
        f'window.{_BUNDLE}?go():window.addEventListener("{_READY}",go)}})()</script>'
    )


def interactive() -> None:
    """Load sorting, and DataTables from the installed itables, into this page once a notebook: in its first cell."""
    global _loaded
    display(HTML(sorting.SCRIPT))
    # Its `init_notebook_mode` also asks for the bundle before there is one: an error in every page.
    display(HTML(generate_init_offline_itables_html(itables.options.dt_bundle)))
    _loaded = True


def _kind(column: Column) -> str:
    return {"number": " class=n", "mark": " class=w", "words": " class=t", "sentence": " class=p"}[column.kind]


def _text(text: str) -> str:
    return escape(plain(text) if text.strip() else "", quote=True)
