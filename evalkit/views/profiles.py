"""Why: a sum of fuel is ruled by the largest input; a profile shows on how many inputs a model is near the best."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from evalkit.records import PerformanceRun
from evalkit.views import theme
from evalkit.views.drawing import AnyChart, data, finish, line_legend, nothing, title, tooltip
from evalkit.views.frames import Row, stress
from evalkit.views.names import labels, plain

__all__ = ["ratio_profile"]

_MEASURED = "wasmtime fuel of one metered call for each input, over the least on that input"
_LEGEND_MAX = 16


def ratio_profile(runs: Sequence[PerformanceRun]) -> AnyChart:
    """Draw, for each run, the share of stress inputs on which its fuel is within a ratio of the best one's.

    The performance profile of Dolan and More (2002). Pass one run per model (`frames.one_per_model`) of one cohort. An
    input that a run did not answer rightly counts as never within any ratio, so its line ends below 100 %.
    """
    heading = "Ratio to the best, over the stress inputs"
    fuels = {
        run.run_id: {row.name: row.fuel for row in stress(run) if row.outcome in ("pass", "over_ceiling") and row.fuel}
        for run in runs
    }
    names = list(dict.fromkeys(row.name for run in runs for row in stress(run)))
    best = {name: min((f[name] for f in fuels.values() if name in f), default=None) for name in names}
    if not any(best.values()):
        return nothing(heading, "No stress input has a right answer yet. Grade a solution: evalkit grade CASE SOLUTION")
    ratios = {
        run_id: sorted(fuel / low for name, fuel in found.items() if (low := best[name]) is not None)
        for run_id, found in fuels.items()
    }
    furthest = max(1.0, *(r for found in ratios.values() for r in found)) * 1.08
    shown = [run for run in runs if ratios[run.run_id]]
    label, values = labels((run.model for run in shown), 30), []
    for run in shown:
        found = ratios[run.run_id]
        row: Row = {"measured": _MEASURED, "name": plain(run.model), "label": label[run.model], "run_id": run.run_id}
        # A step at each ratio, up to the share within it; where one is twice, the higher share stands.
        steps = {1.0: 0.0} | {ratio: place / len(names) for place, ratio in enumerate(found, 1)}
        steps[furthest] = len(found) / len(names)
        values += [row | {"ratio": r, "share": s, "step": i} for i, (r, s) in enumerate(steps.items())]
    many = len(label) > _LEGEND_MAX
    legend = None if many else line_legend(_LEGEND_MAX)
    ink = alt.Color("label:N", title="model", legend=legend).scale(
        domain=list(label.values()), range=[theme.colour(model) for model in label]
    )
    styles = alt.StrokeDash("label:N", title="model", legend=legend).scale(
        domain=list(label.values()), range=theme.dashes(label)
    )
    heading_x = "fuel, as a ratio to the best on the same input (log scale)"
    x = alt.X("ratio:Q", title=heading_x, axis=alt.Axis(format=",.4~g", tickCount=6)).scale(
        type="log", domain=[1, max(furthest, 1.05)], nice=False
    )
    y = alt.Y("share:Q", title="share of the stress inputs", axis=alt.Axis(format=".0%", tickCount=5)).scale(
        domain=[0, 1.03], nice=False
    )
    lines = alt.Chart(data(values)).mark_line(interpolate="step-after", strokeWidth=2).encode(
        x=x, y=y, color=ink, strokeDash=styles, detail="run_id:N", order="step:Q",
        tooltip=tooltip(
            ("name", "model"), ("ratio", "ratio to the best", ",.3f"), ("share", "inputs within it", ".0%"),
            ("measured", "measured"),
        ),
    )  # fmt: skip
    notes = ["Higher and further left is better; at 1 a line starts at the share of inputs on which it is the best."]
    if any(len(ratios[run.run_id]) < len(names) for run in shown):
        notes.append("A line that ends below 100 % belongs to a run that did not answer every input rightly.")
    if gone := len(runs) - len(shown):
        notes.append(f"{gone} run{'s' if gone > 1 else ''} with no right answer to any stress input left out.")
    said = f"{heading}: {len(shown)} models on {len(names)} inputs."
    return finish([lines], title(heading, *notes), said, 300)
