"""Why: a mean hides where it comes from: these two charts show every run that a season's standing rests on.

`runs` are what `evalkit.season.ranking.scored` returns. Rows and columns are laid out here, in numbers, so that each
run keeps a place of its own within its cell.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, cast

import altair as alt

from evalkit.season.season import Season
from evalkit.views import theme
from evalkit.views.drawing import WIDTH, AnyChart, data, finish, nothing, title, tooltip
from evalkit.views.frames import Row
from evalkit.views.names import plain, short
from evalkit.views.seasons.rows import entry_names, run_rows
from evalkit.views.seasons.together import EACH_UP_TO, together

__all__ = ["cells", "time_and_decisions"]

_PLAY = "Play it: evalkit sweep SEASON --agents AGENT"
_HOW = ("completed", "not completed", "died")
_SIGNS = ("circle", "stroke", theme.CROSS)
_LEGEND_MAX = 12
_ROOM = 0.27
"""Share of a cell that its number takes."""
_NARROWEST = 84
"""Pixels of a cell."""

Tip = tuple[str, str] | tuple[str, str, str]

RUN_TIPS: tuple[Tip, ...] = (
    ("name", "agent"), ("entry", "entry"), ("seed", "seed", "d"), ("attempt", "attempt", "d"),
    ("score", "score", ".2f"), ("objectives", "objectives"), ("ended", "ended by"),
    ("played_s", "seconds of game time", ",.2f"),
    ("anchor_s", "anchor, s", ",.2f"), ("decisions", "decisions", ","), ("of_budget", "decision budget"),
    ("proved", "proof"), ("run_id", "run"),
)  # fmt: skip

_DRAWN = ("x", "y", "how", "ink", "label", "form", "completed")

_CARD, _LOW, _HIGH, NUMBER = "#f6f8fa", (0xDF, 0xEA, 0xF4), (0x74, 0xB3, 0xDE), "#10202e"
"""A cell's ground, its number's ground from 0 to the top, and the number's ink: they bring their own light ground, so
that numbers and every agent's ink can be read on a light page and on a dark one."""


def _drawn(values: list[Row]) -> list[Row]:
    """What a chart of runs needs of each: altair copies its data many times over."""
    names = (*_DRAWN, "runs", *(tip[0] for tip in RUN_TIPS))
    return [{name: row[name] for name in names if name in row} for row in values]


def _tint(share: float) -> str:
    return "#" + "".join(f"{round(low + (high - low) * share):02x}" for low, high in zip(_LOW, _HIGH, strict=True))


def cells(runs: Any, season: Season) -> AnyChart:
    """Draw entries across, agents down: each cell's mean as a number and a shade, and in it a mark for every run.

    Within a cell, right of its number, a run stands at its score, from 0 to 100, a seed a line. The best
    mean is at the top, reference rows at the bottom.
    """
    heading = "Every run, by entry and agent"
    values = run_rows(runs, season)
    if not values:
        return nothing(heading, f"No run counts yet. {_PLAY}")
    means = _means(values)
    agents = _agents(values, means)
    entries = list(entry_names(season).values())
    top = max(100.0, *(row["score"] for row in values))
    high = 26 if len(agents) > 12 else 36
    seeds = {seed: place for place, seed in enumerate(sorted({row["seed"] for row in values}))}
    down, across = {a: i for i, a in enumerate(agents)}, {e: i for i, e in enumerate(entries)}
    marks, run_tips, each = _marks(values, ("agent", "seed", "reference"), "score", top / 100)
    for row in marks:
        share = (seeds[row["seed"]] + 0.5) / len(seeds)
        row |= {"x": across[row["entry"]] + _ROOM + (0.93 - _ROOM) * row["score"] / top}
        row |= {"y": down[str(row["agent"])] + 0.1 + 0.8 * share}
    tiles = []
    for (agent, entry), found in means.items():
        left, up = across[entry], down[agent]
        mean = sum(found.values()) / len(found)
        tile = {
            "x": left + 0.01,
            "x2": left + 0.99,
            "y": up + 0.03,
            "y2": up + 0.97,
            "middle": up + 0.5,
            "mean": mean,
            "text": f"{mean:.0f}",
            "x3": left + _ROOM - 0.015,
            "center": left + (_ROOM - 0.005) / 2,
            "tint": _tint(min(1.0, max(0.0, mean / top))),
        }
        tiles.append(tile | {"name": plain(agent), "entry": entry, "n": len(found), "of": len(season.seeds)})
    missing = [
        {"x": across[e] + 0.5, "y": down[a] + 0.5, "text": "not played"}
        for a in agents for e in entries if (a, e) not in means
    ]  # fmt: skip
    x = alt.X("x:Q", axis=None).scale(domain=[0, len(entries)], nice=False)
    y = alt.Y("y:Q", axis=None).scale(domain=[len(agents), 0], nice=False)
    base = alt.Chart(data(tiles)).encode(x=x, y=y)
    tips = tooltip(
        ("name", "agent"), ("entry", "entry"), ("mean", "mean over seeds", ".2f"), ("n", "seeds played", ","),
        ("of", "of", ","),
    )  # fmt: skip
    how = [word for word in _HOW if any(row["how"] == word for row in values)]
    shape = alt.Shape("how:N", title=None, legend=alt.Legend(orient="bottom", symbolStrokeColor=theme.TEXT)).scale(
        domain=how, range=[_SIGNS[_HOW.index(word)] for word in how]
    )
    names = [{"y": i + 0.5, "text": short(a, 30)} for a, i in down.items()]
    wide = max(WIDTH, _NARROWEST * len(entries))
    room = wide / len(entries)
    most = max(6, int(room / 6.6))
    parted = {i: e.partition(" · ") for e, i in across.items()}  # level over difficulty
    heads = [{"x": i + 0.5, "text": short(level, most)} for i, (level, _, _) in parted.items()]
    under = [{"x": i + 0.5, "text": short(rest, most)} for i, (_, _, rest) in parted.items() if rest]
    layers = [
        base.mark_rect(color=_CARD, cornerRadius=3).encode(x2="x2:Q", y2="y2:Q", tooltip=tips),
        base.mark_rect(cornerRadius=3).encode(
            x2="x3:Q", y2="y2:Q", tooltip=tips, color=alt.Color("tint:N", scale=None)
        ),
        base.mark_text(fontSize=12, fontWeight=600, color=NUMBER).encode(
            x=alt.X("center:Q", axis=None), y=alt.Y("middle:Q", axis=None), text="text:N"
        ),
        alt.Chart(data(_drawn(marks))).mark_point(filled=False, size=38, strokeWidth=1.8).encode(
            x=x, y=y, shape=shape, color=alt.Color("ink:N", scale=None), tooltip=tooltip(*run_tips)
        ),
        alt.Chart(data(names)).mark_text(align="right", fontSize=12).encode(x=alt.value(-8), y=y, text="text:N"),
        *(
            alt.Chart(data(words)).mark_text(baseline="bottom", fontSize=size).encode(
                x=x, y=alt.value(above), text="text:N"
            )
            for words, size, above in ((heads, 12, -20 if under else -6), (under, 11, -6)) if words
        ),
    ]  # fmt: skip
    if missing:
        layers.append(
            alt.Chart(data(missing)).mark_text(fontSize=11, fontStyle="italic").encode(x=x, y=y, text="text:N")
        )
    note = "Number and shade: the mean over seeds. Right of it every run stands at its score, from 0 to "
    said = f"{heading}: {len(values)} runs of {len(agents)} agents on {len(entries)} entries."
    notes = [f"{note}{top:.0f}, a seed a line.", "Grey: reference rows."]
    notes += [] if each else [f"{len(values):,} runs: a mark stands for those of one seed and end, to the point."]
    return finish(layers, title(heading, *notes), said, high * len(agents)).properties(width=wide)


def _marks(
    values: list[Row], keys: tuple[str, ...], field: str, step: float
) -> tuple[list[Row], tuple[Tip, ...], bool]:
    """The marks for so many runs, what each says when pointed at, and whether each is one run."""
    if len(values) <= EACH_UP_TO:
        return values, RUN_TIPS, True
    told: list[Tip] = [tip for tip in RUN_TIPS if tip[0] in ("name", "entry", *keys)]
    tips = (*told, ("how", "ended"), (field, f"{field.removesuffix('_s')}, about", ",.0f"), ("runs", "runs", ","))
    return together(values, ("entry", "how", "ink", "label", "name", *keys), field, step), tips, False


def _means(values: list[Row]) -> dict[tuple[str, str], dict[int, float]]:
    """Of each agent on each entry: seed -> mean score of its attempts there."""
    found: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in values:
        found[(str(row["agent"]), row["entry"])][row["seed"]].append(row["score"])
    return {key: {seed: sum(s) / len(s) for seed, s in seeds.items()} for key, seeds in found.items()}


def _agents(values: list[Row], means: dict[tuple[str, str], dict[int, float]]) -> list[str]:
    agents = list(dict.fromkeys(str(row["agent"]) for row in values))
    apart = {str(row["agent"]) for row in values if row["reference"] is not None}

    def worth(agent: str) -> tuple[bool, float, str]:
        scores = [s for (who, _), seeds in means.items() if who == agent for s in seeds.values()]
        return (agent in apart, -sum(scores) / len(scores), agent)

    return sorted(agents, key=worth)


def time_and_decisions(runs: Any, season: Season) -> AnyChart:
    """Draw how long each run played and in how many decisions, entry by entry, an agent a line.

    A filled mark completed the mission, at T; a hollow one stands where its run ended. Grey ticks: the anchor, and the
    decision budget.
    """
    heading = "How long, and in how many decisions"
    values = run_rows(runs, season)
    if not values:
        return nothing(heading, f"No run counts yet. {_PLAY}")
    agents = _agents(values, _means(values))
    entries = [name for name in entry_names(season).values() if any(row["entry"] == name for row in values)]
    rivals = list(dict.fromkeys(str(row["agent"]) for row in values if row["reference"] is None))
    forms = dict.fromkeys(agents, "circle") | dict(zip(rivals, theme.shapes(rivals), strict=True))
    line = 9 if len(agents) <= 14 else 5
    for row in values:
        row["y"] = entries.index(row["entry"]) + 0.06 + 0.88 * (agents.index(str(row["agent"])) + 0.5) / len(agents)
        row["form"] = forms[str(row["agent"])]
    marks = []
    for name, entry in zip(entry_names(season).values(), season.entries, strict=True):
        if name in entries:
            at = entries.index(name)
            known = {"entry": name, "y": at + 0.04, "y2": at + 0.96, "middle": at + 0.5}
            marks.append(known | {"anchor": entry.anchor_s, "budget": entry.decision_budget})
    tall = max(30, line * len(agents) + 8) * len(entries)
    by_agent = {str(row["agent"]): row for row in values}
    names, inks, shapes = ([by_agent[a][key] for a in agents] for key in ("label", "ink", "form"))
    columns = max(1, min(4, (WIDTH + 80) // (30 + 7 * max(map(len, names)))))
    legend = alt.Legend(orient="bottom", columns=columns) if len(agents) <= _LEGEND_MAX else None
    ink = alt.Color("label:N", title=None, legend=legend).scale(domain=names, range=inks)
    shape = alt.Shape("label:N", title=None, legend=legend).scale(domain=names, range=shapes)
    left = _panel(values, marks, ("played_s", "anchor"), "seconds of game time: T where completed", ink, shape)
    each = len(values) <= EACH_UP_TO
    limited = [row for row in values if row["reference"] != "anchor"]  # the autopilot has no budget to keep to
    right = _panel(limited, marks, ("decisions", "budget"), "decisions", ink, shape)
    heads = alt.Chart(data(marks)).mark_text(align="right", fontSize=12).encode(
        x=alt.value(-8), y=alt.Y("middle:Q"), text="entry:N"
    )  # fmt: skip
    panels = [alt.layer(*left, heads), alt.layer(*right)]
    sized = [panel.properties(width=WIDTH // 2 - 14, height=tall) for panel in panels]
    notes = ["Filled: completed. Hollow: ended before. Grey ticks: the anchor's time; the decision budget."]
    if legend is None:
        notes.append(f"{len(agents)} agents, a line each: point at a mark to see whose it is.")
    if not each:
        notes.append(f"{len(values):,} runs: a mark stands for all that end alike at about one place.")
    done = sum(bool(row["completed"]) for row in values)
    said = f"{heading}: {done} of {len(values)} runs completed their mission."
    chart = alt.hconcat(*sized, spacing=28).properties(title=title(heading, *notes), description=said)
    return cast(AnyChart, chart)


def _panel(
    values: list[Row], marks: list[Row], fields: tuple[str, str], heading: str, ink: Any, shape: Any
) -> list[Any]:
    field, tick = fields
    given = [row for row in marks if row[tick] is not None]
    highest = max([row[field] for row in values] + [row[tick] for row in given], default=1)
    points, run_tips, _ = _marks(values, ("y", "completed"), field, (highest or 1) / 100)
    x = alt.X(f"{field}:Q", title=heading, axis=alt.Axis(tickCount=5)).scale(
        domain=[-0.03 * highest, highest * 1.04 or 1], nice=False
    )
    y = alt.Y("y:Q", axis=None).scale(domain=[len(marks), 0], nice=False)
    bands = alt.Chart(data([row for place, row in enumerate(marks) if place % 2 == 0]))
    fill = alt.condition("datum.completed", alt.Fill("ink:N", scale=None), alt.value("transparent"))
    return [
        bands.mark_rect(color=theme.GREY, opacity=0.09).encode(
            y=alt.Y("y:Q", axis=None).scale(domain=[len(marks), 0], nice=False), y2="y2:Q", x=alt.value(0),
            x2=alt.value(WIDTH // 2 - 14),
        ),
        alt.Chart(data(given)).mark_rule(color=theme.GREY, strokeWidth=2.5).encode(
            x=alt.X(f"{tick}:Q", title=heading), y=y, y2="y2:Q",
            tooltip=tooltip(("entry", "entry"), (tick, tick, ",.1f")),
        ),
        alt.Chart(data(_drawn(points))).mark_point(filled=False, size=34, strokeWidth=1.6).encode(
            x=x, y=y, color=ink, shape=shape, fill=fill, tooltip=tooltip(*run_tips)
        ),
    ]  # fmt: skip
