"""Why: every table sorts in one way, in Lab, in a report and in a widget, by pointer and by keyboard.

A number sorts by what its cell says, read as a person reads it ("1,234", "+7.5 %", "203 of 300"), and only a cell whose
text says another number carries that number as its key. Words sort without the mark before them. What is missing comes
last, whichever way. DataTables, where it has a table, asks the same two functions.
"""

from __future__ import annotations

import re

from evalkit.views.formats import DASH

__all__ = ["BUTTON", "RULES", "SCRIPT", "STYLE", "key"]

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE)

BUTTON = '<span class="evk-sort" role="button" tabindex="0">'
"""What opens a heading that sorts; a `</span>` closes it."""

STYLE = (
    ".evk-sort{cursor:pointer}.evk-sort:hover{text-decoration:underline dotted}"
    ".evk-sort:focus-visible{outline:2px solid #2f9bd8;outline-offset:2px}"
    'th[aria-sort=ascending]>.evk-sort::after{content:" ▲"}th[aria-sort=descending]>.evk-sort::after{content:" ▼"}'
)

RULES = "window.evalkitSort"
"""Where a page finds `key(cell)`, null for what is missing, and `compare(key, key, 1 or -1)`."""

SCRIPT = r"""<script>(() => {
if (window.evalkitSort) return;
const words = new Intl.Collator("en", {numeric: true, sensitivity: "base"});
const key = (cell) => {
  const text = (cell.dataset.key ?? cell.textContent).trim();
  if (!cell.classList.contains("n")) return text === "" || text === "–" ? null : text.replace(/^[^\p{L}\p{N}]+/u, "");
  const found = text.replaceAll(",", "").replace("−", "-").match(/^[+-]?\d+(\.\d+)?(e[+-]?\d+)?/i);
  return found ? Number(found[0]) : null;
};
const compare = (a, b, way) => a === null || b === null ? (a === null) - (b === null)
  : way * (typeof a === "number" ? a - b : words.compare(a, b));
window.evalkitSort = {key, compare};
const next = {ascending: "descending", descending: null};
const sort = (head) => {
  const body = head.closest("table").tBodies[0], rows = [...body.rows], was = head.getAttribute("aria-sort");
  const now = was in next ? next[was] : "ascending", way = now === "descending" ? -1 : 1;
  rows.forEach((row, at) => row.evalkitAt ??= at);
  const keys = new Map(rows.map((row) => [row, now && key(row.cells[head.cellIndex])]));
  rows.sort((a, b) => compare(keys.get(a), keys.get(b), way) || a.evalkitAt - b.evalkitAt);
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  if (now) head.setAttribute("aria-sort", now);
  body.append(...rows);
};
addEventListener("click", (event) => {
  const head = event.target.closest && event.target.closest("table.evk th");
  if (head && head.querySelector(".evk-sort")) sort(head);
});
addEventListener("keydown", (event) => {
  if (!["Enter", " "].includes(event.key) || !event.target.matches || !event.target.matches(".evk-sort")) return;
  event.preventDefault();
  event.stopImmediatePropagation();  // else Lab takes Enter for its own
  sort(event.target.closest("th"));
}, true);
})()</script>"""
"""Sorts any table whose headings open with `BUTTON`; in a page once, however often it stands there.

A first press sorts up, a second down, a third brings back the order in which the rows came.
"""


def key(text: str, number: float | None) -> str | None:
    """Return the key that a number's cell must carry beside its text; None where the text says that number itself."""
    found = _NUMBER.match(text.strip().replace(",", "").replace("−", "-"))
    if number is None or number != number:
        return DASH if found else None
    if found is None:
        return f"{number:.12g}"
    digits = 0 if found[2] else len((found[1] or ".").removeprefix("."))
    return None if abs(float(found[0]) - number) <= 0.500001 * 10.0**-digits else f"{number:.12g}"
