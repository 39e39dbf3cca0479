"""Why: the pictures of how fuel grows, each on two log axes: a line that rises by one decade a decade is linear."""

from __future__ import annotations

from typing import Any

import altair as alt

from evalkit.views import theme
from evalkit.views.drawing import AnyChart, data, finish, line_legend, log_axis, nothing, title, tooltip
from evalkit.views.formats import compact
from evalkit.views.frames import Row, plain_rows
from evalkit.views.names import labels, plain

__all__ = ["chart", "charts"]

_NOTHING = "The case offers no such measurements: a file scaling.csv beside its manifest would."


def charts(points: Any) -> list[AnyChart]:
    """Draw a chart for each thing that grew, in the order of the points; one that says so where there is none."""
    values = plain_rows(points)
    if not values:
        return [nothing("How fuel grows (log scales)", _NOTHING)]
    return [chart(values, along) for along in dict.fromkeys(row["along"] for row in values)]


def chart(points: Any, along: str) -> AnyChart:
    """Draw fuel against whatever grew, a line for each model, on log axes.

    `points`: a DataFrame or rows with `model, along, amount, held, fuel` (as `read_scaling` returns); only those along
    `along` are drawn. The subtitle says what was held, and which models were not measured all the way.
    """
    heading = f"Fuel against {plain(along)} (log scales)"
    values = [row for row in plain_rows(points) if row["along"] == along]
    if not values:
        return nothing(heading, _NOTHING)
    farthest = max(row["amount"] for row in values)
    ends: dict[str, Row] = {}  # of each model, the row where it ends
    for row in sorted(values, key=lambda row: row["amount"]):
        ends[row["model"]] = row
    order = sorted(ends, key=lambda model: -ends[model]["fuel"] / ends[model]["amount"])  # as the lines end, top down
    label = labels(order, 30)
    for row in values:
        row |= {"label": label[row["model"]], "name": plain(row["model"]), "what": f"{row['amount']:,} {plain(along)}"}
        row |= {"held": plain(row["held"]), "each": row["fuel"] / row["amount"]}
        row["measured"] = "wasmtime fuel of one metered call"
    shown = list(label.values())
    legend = line_legend(len(shown))
    ink = alt.Color("label:N", title="model", legend=legend)
    ink = ink.scale(domain=shown, range=[theme.colour(model) for model in label])
    style = alt.StrokeDash("label:N", title="model", legend=legend)
    style = style.scale(domain=shown, range=theme.dashes(label))
    log = alt.Scale(type="log", nice=False, padding=12)
    x = alt.X("amount:Q", title=plain(along), axis=log_axis([row["amount"] for row in values]), scale=log)
    y = alt.Y("fuel:Q", title="fuel", axis=log_axis([row["fuel"] for row in values]), scale=log)
    tips = tooltip(
        ("name", "model"), ("what", "run of"), ("held", "held at"), ("fuel", "fuel", ","),
        ("each", f"fuel for each of the {plain(along)}", ",.1f"), ("measured", "measured"),
    )  # fmt: skip
    pick = alt.selection_point(fields=["label"], bind="legend")
    seen = alt.condition(pick, alt.value(1), alt.value(0.12))
    base = alt.Chart(data(values)).encode(x=x, y=y, color=ink, opacity=seen)
    layers = [base.mark_line().encode(strokeDash=style), base.mark_point().encode(tooltip=tips).add_params(pick)]
    held = list(dict.fromkeys(row["held"] for row in values))
    notes = [f"Held: {', '.join(held[:3])}{' and more' if len(held) > 3 else ''}."]
    notes += [
        f"{label[model]} was not measured beyond {row['amount']:,} {plain(along)}."
        for model, row in ends.items()
        if row["amount"] < farthest
    ]
    least, most = (ends[model] for model in (order[-1], order[0]))
    said = f"{heading}: {len(label)} models, from {compact(least['fuel'])} to {compact(most['fuel'])} at the far end."
    return finish(layers, title(heading, *notes), said, 340)
