"""Why: what the widget tests stand on: a season made by hand, its runs, a store, and a check that no name gets out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from evalkit.records import SeasonRun
from evalkit.season.season import Season
from tests.season.test_ranking import SEASON, run

REPLAY = json.dumps({"decisions": [{"action": "left", "ticks": 8}, {"action": "<i>take</i>", "ticks": 2}]}).encode()
NASTY = 'an agent of more than eighty characters, "quoted", <img src=x onerror=alert(1)>\n and on a second line & more'


def season_runs(agents: int = 4, season: Season = SEASON) -> list[SeasonRun]:
    """A run a cell of agents that do different things; the last has a nasty name and lacks a cell."""
    made = []
    for place in range(agents):
        last = place == agents - 1 and agents > 1
        name = NASTY if last else f"agent {place}"
        for level, difficulty, seed in season.cells[: -1 if last else None]:
            done = (place + seed) % 5
            completed = done == 4
            made.append(
                run(
                    name, level, seed, done, difficulty=difficulty, completed=completed,
                    died=place == 1 and not completed,
                    time_s=70.0 + 40 * place if completed else None, verified=None,
                )
            )  # fmt: skip
    return made


def kept(made: SeasonRun) -> SeasonRun:
    """The same run as a store takes it: with a replay, of `REPLAY`."""
    ended = "completed" if made.completed else "died" if made.died else "failed"
    ticks = round((made.time_s or 10) * 60)
    digest = hashlib.sha256(REPLAY).hexdigest()
    return replace(made, ended_by=ended, ticks=ticks, replay_digest=digest, verified=None)


def many(count: int = 10_000, agents: int = 40) -> tuple[pd.DataFrame, Season]:
    """So many season runs as a frame, of as many agents, over both entries and many seeds."""
    seeds = {seed: 60 + seed for seed in range(count // agents // 2)}
    wide = replace(SEASON, seeds=seeds)
    rows = [
        {name: getattr(one, name) for name in SeasonRun.__dataclass_fields__}
        for one in (
            run(f"agent {place:02}", level, seed, (place * (seed + 3)) % 5, died=(place + seed) % 7 == 0)
            for place in range(agents)
            for level in ("dam", "runway")
            for seed in seeds
        )
    ]
    return pd.DataFrame(rows), wide


def texts(widget: Any) -> Iterator[str]:
    """Every piece of HTML below a widget."""
    if type(widget).__name__ == "HTML":
        yield widget.value
    for child in getattr(widget, "children", ()):
        yield from texts(child)


def is_inert(widget: Any) -> bool:
    """Whether nothing in the HTML of a widget is a tag that a name brought."""
    return not any(sign in text for text in texts(widget) for sign in ("<img", "<script", "<i>take"))
