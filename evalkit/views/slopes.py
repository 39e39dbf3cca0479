"""Why: who moved, at a glance, redrawn while a slider is dragged: a small SVG that cannot flicker.

`charts` are for pages that stay; this one is replaced several times a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalkit.views.formats import DASH
from evalkit.views.names import html, labels
from evalkit.views.theme import colour

__all__ = ["Move", "slopes"]

_ROW, _WIDTH, _LEFT, _RIGHT, _TOP = 22, 660, 250, 410, 30
_INK = "var(--jp-content-font-color1, #222)"
_FAINT = "var(--jp-border-color2, #bbb)"
MOST = 20
"""Rows that are drawn; more are for the table."""


@dataclass(frozen=True, slots=True)
class Move:
    """A name with its rank before and after; None is "takes no rank"."""

    name: str
    before: int | None
    after: int | None


def slopes(moves: Sequence[Move], before: str = "official", after: str = "what if") -> str:
    """Return two columns of ranks with a line for each name that has a rank on either side, as SVG; "" for none.

    The best `MOST` by the rank after are drawn. A name that takes no rank stands below the others, on a dotted line.
    """
    shown = [move for move in moves if move.before is not None or move.after is not None]
    shown = sorted(shown, key=lambda move: (move.after is None, move.after or 0, move.before or 0))[:MOST]
    if not shown:
        return ""
    named = labels((move.name for move in shown), 30)
    order = sorted(shown, key=lambda move: (move.before is None, move.before or 0, move.after or 0))
    from_row = {id(move): row for row, move in enumerate(order)}
    height = _TOP + _ROW * len(shown) + 6
    turned = sum(move.before != move.after for move in shown)
    parts = [
        f'<text x="{_LEFT - 10}" y="14" text-anchor="end" font-weight="600">{html(before)}</text>',
        f'<text x="{_RIGHT + 10}" y="14" font-weight="600">{html(after)}</text>',
    ]
    for row, move in enumerate(shown):
        left, right = _TOP + _ROW * from_row[id(move)] + 8, _TOP + _ROW * row + 8
        moved, ink, name = move.before != move.after, colour(move.name), html(named[move.name])
        bent = "" if None not in (move.before, move.after) else ' stroke-dasharray="2 4"'
        parts.append(
            f'<path d="M{_LEFT} {left}C{_LEFT + 70} {left} {_RIGHT - 70} {right} {_RIGHT} {right}" fill="none" '
            f'stroke="{ink if moved else _FAINT}" stroke-width="{2.4 if moved else 1.4}"{bent}/>'
        )
        weight = ' font-weight="600"' if moved else ""
        for x, y, anchor, text in (
            (_LEFT, left, "end", f"{name}&#160; {move.before or DASH}"),
            (_RIGHT, right, "start", f"{move.after or DASH}&#160; {name}"),
        ):
            parts.append(f'<circle cx="{x}" cy="{y}" r="3.5" fill="{ink}"/>')
            side = -10 if anchor == "end" else 10
            parts.append(f'<text x="{x + side}" y="{y + 4}" text-anchor="{anchor}"{weight}>{text}</text>')
    said = html(f"Ranks, {before} and {after}: {turned} of {len(shown)} differ")
    return (
        f'<svg role="img" aria-label="{said}" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'style="max-width:100%;height:auto;font:12px system-ui,sans-serif" fill="{_INK}">{"".join(parts)}</svg>'
    )
