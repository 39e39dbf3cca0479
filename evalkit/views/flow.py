"""Why: who moved between two rule sets, at a glance: as a chart that stays, and live, while a slider is dragged.

Both draw the same rows in the same order. The chart has tooltips and the project's theme; the live one is a small SVG,
as it is replaced several times a second and must not flicker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from evalkit.views import theme
from evalkit.views.cells import rows_of
from evalkit.views.drawing import AnyChart, data, finish, nothing, title, tooltip
from evalkit.views.formats import DASH, some
from evalkit.views.frames import Row
from evalkit.views.names import html, labels, plain

__all__ = ["live", "rank_flow"]

MOST = 20
"""Rows that are drawn; more are for the table."""

_FUEL = "wasmtime fuel over the stress inputs, or the mean of its ratios to the least on each"

_ROW, _WIDTH, _LEFT, _RIGHT, _TOP = 22, 660, 250, 410, 30
_INK = "var(--jp-content-font-color1, #222)"
_FAINT = "var(--jp-border-color2, #bbb)"


@dataclass(frozen=True, slots=True)
class _Line:
    """A name with its rank, score and place from the top on either side; a rank of None is "takes no rank"."""

    name: str
    label: str
    ranks: tuple[int | None, int | None]
    scores: tuple[float | None, float | None]
    places: tuple[int, int]

    @property
    def has_moved(self) -> bool:
        return self.ranks[0] != self.ranks[1]

    def at(self, side: int) -> str:
        """The rank as it is written."""
        return str(self.ranks[side] or DASH)


def _lines(frame: pd.DataFrame) -> list[_Line]:
    """The best `MOST` rows by the rank after, of those that hold a rank on either side; ranks of one agent or model."""
    who = "agent" if "agent" in frame else "model"
    held = frame[frame["rank"].notna() | frame["official_rank"].notna()]
    order = np.lexsort((held["official_rank"].fillna(0), held["rank"].fillna(0), held["rank"].isna()))
    after = [
        (str(getattr(row, who)), (_whole(row.official_rank), _whole(row.rank)),
         (_known(row.official_score), _known(row.score)))
        for row in rows_of(held.iloc[order[:MOST]])
    ]  # fmt: skip
    before = sorted(after, key=lambda row: (row[1][0] is None, row[1][0] or 0, row[1][1] or 0))
    from_place = {row[0]: place for place, row in enumerate(before)}
    label = labels((row[0] for row in after), 28)
    return [
        _Line(name, label[name], ranks, scores, (from_place[name], place))
        for place, (name, ranks, scores) in enumerate(after)
    ]


def rank_flow(frame: pd.DataFrame, names: tuple[str, str] = ("official", "what if")) -> AnyChart:
    """Draw where each agent or model stands under two rule sets, and who moved, as a chart.

    `frame` is a ranking of both, a row an agent or model: what `what_if` of a season or case returns, or a board's
    `.frame`. `names` are those of the rule sets. Rows that hold a rank on neither side are left out and counted; rows
    of one rank stand one below the other, each with the rank's number; what takes no rank on a side has a dash there.
    """
    heading = f"Ranks, {plain(names[0])} and {plain(names[1])}"
    lines = _lines(frame)
    if not lines:
        how = "evalkit sweep SEASON --agents AGENT" if "agent" in frame else "evalkit grade CASE SOLUTION"
        return nothing(heading, f"Nobody has a rank yet. Make a run: {how}")
    forms = [
        ",.0f" if any(abs(line.scores[side] or 0) >= 10_000 for line in lines) else ",.2f" for side in (0, 1)
    ]  # a what-if score may be a ratio beside an official one in fuel
    measured = "mean over cells, by each set of rules" if "agent" in frame else _FUEL
    dots: list[Row] = []
    for line in lines:
        row: Row = {
            "measured": measured,
            "name": plain(line.name),
            "ink": theme.colour(line.name),
            "moved": line.has_moved,
        }
        row |= {"was": line.at(0), "now": line.at(1), "half": None in line.ranks}
        row |= {"score_was": line.scores[0], "score_now": line.scores[1]}
        change = (line.ranks[0] or 0) - (line.ranks[1] or 0) if None not in line.ranks else 0
        move = f"  {'▲' if change > 0 else '▼'}{abs(change)}" if change else ""
        texts = (f"{line.label}   {line.at(0)}", f"{line.at(1)}   {line.label}{move}")
        dots += [row | {"side": side, "place": line.places[side], "text": texts[side]} for side in (0, 1)]
    x = alt.X("side:Q", axis=None).scale(domain=[-1.5, 2.5], nice=False)
    y = alt.Y("place:Q", axis=None).scale(domain=[len(lines) - 0.5, -0.5], nice=False)
    base = alt.Chart(data(dots)).encode(
        x=x, y=y, color=alt.Color("ink:N", scale=None),
        tooltip=tooltip(
            ("name", "name"), ("was", f"rank, {names[0]}"), ("now", f"rank, {names[1]}"),
            ("score_was", f"score, {names[0]}", forms[0]), ("score_now", f"score, {names[1]}", forms[1]),
            ("measured", "measured"),
        ),
    )  # fmt: skip
    heads = alt.Chart(data([{"side": side, "head": plain(names[side])} for side in (0, 1)]))
    layers = [
        base.mark_line().encode(
            detail="name:N", strokeWidth=alt.condition("datum.moved", alt.value(2.6), alt.value(1.2)),
            strokeDash=alt.condition("datum.half", alt.value([2, 4]), alt.value([1, 0]))
        ),
        base.mark_point(size=60, filled=True),
        *(
            alt.Chart(data([dot for dot in dots if dot["side"] == side]))
            .mark_text(align="right" if side == 0 else "left", dx=-10 if side == 0 else 10, fontSize=12)
            .encode(x=x, y=y, text="text:N")
            for side in (0, 1)
        ),
        heads.mark_text(fontSize=12, fontWeight=600, baseline="bottom").encode(x=x, y=alt.value(-4), text="head:N"),
    ]  # fmt: skip
    moved = sum(line.has_moved for line in lines)
    said = f"{moved} of {some(len(lines), 'rank')} {'differs' if moved == 1 else 'differ'}."
    notes = [said]
    held = int((frame["rank"].notna() | frame["official_rank"].notna()).sum())
    if held > len(lines):
        notes.append(f"The best {len(lines)} of {held} that hold a rank.")
    if len(frame) > held:
        more = len(frame) - held
        notes.append(f"{more} more {'holds' if more == 1 else 'hold'} a rank on neither side.")
    return finish(layers, title(heading, *notes), f"{heading}: {said}", _ROW * len(lines))


def live(frame: pd.DataFrame, names: tuple[str, str] = ("official", "what if")) -> str:
    """Return the same as a small SVG for a widget that is redrawn; "" where nobody has a rank."""
    lines = _lines(frame)
    if not lines:
        return ""
    parts = [
        f'<text x="{_LEFT - 10}" y="14" text-anchor="end" font-weight="600">{html(names[0])}</text>',
        f'<text x="{_RIGHT + 10}" y="14" font-weight="600">{html(names[1])}</text>',
    ]
    for line in lines:
        left, right = (_TOP + _ROW * place + 8 for place in line.places)
        ink, name = theme.colour(line.name), html(line.label)
        bent = ' stroke-dasharray="2 4"' if None in line.ranks else ""
        parts.append(
            f'<path d="M{_LEFT} {left}C{_LEFT + 70} {left} {_RIGHT - 70} {right} {_RIGHT} {right}" fill="none" '
            f'stroke="{ink if line.has_moved else _FAINT}" stroke-width="{2.4 if line.has_moved else 1.4}"{bent}/>'
        )
        weight = ' font-weight="600"' if line.has_moved else ""
        for x, y, anchor, text in (
            (_LEFT, left, "end", f"{name}&#160; {line.at(0)}"),
            (_RIGHT, right, "start", f"{line.at(1)}&#160; {name}"),
        ):
            parts.append(f'<circle cx="{x}" cy="{y}" r="3.5" fill="{ink}"/>')
            side = -10 if anchor == "end" else 10
            parts.append(f'<text x="{x + side}" y="{y + 4}" text-anchor="{anchor}"{weight}>{text}</text>')
    moved = sum(line.has_moved for line in lines)
    said = html(f"Ranks, {names[0]} and {names[1]}: {moved} of {len(lines)} differ")
    return (
        f'<svg role="img" aria-label="{said}" viewBox="0 0 {_WIDTH} {_TOP + _ROW * len(lines) + 6}" width="{_WIDTH}" '
        f'style="max-width:100%;height:auto;font:12px system-ui,sans-serif" fill="{_INK}">{"".join(parts)}</svg>'
    )


def _whole(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)


def _known(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)
