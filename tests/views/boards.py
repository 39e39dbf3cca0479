"""Why: what the widget tests stand on: a season made by hand, its runs, a store, and a check that no name gets out."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import pandas as pd

from evalkit.records import SeasonRun
from evalkit.season.replays import Claims, Decision, Header, Replay
from evalkit.season.season import Season
from evalkit.store import Store
from tests.season.test_ranking import SEASON, run

DECISIONS = (Decision("left", 8, "0" * 64), Decision("<i>take</i>", 2, "0" * 64))
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


def keep(store: Store, made: SeasonRun) -> None:
    """Store a run with a replay of `DECISIONS` that says what the run says, though no game was played."""
    ended = "completed" if made.completed else "died" if made.died else "failed"
    ticks = round((made.time_s or 10) * 60)
    made = replace(made, ended_by=ended, ticks=ticks, decisions=len(DECISIONS), verified=None)
    header = {f.name: getattr(made, f.name) for f in fields(Header) if hasattr(made, f.name)}
    claims = Claims(**{f.name: getattr(made, f.name) for f in fields(Claims)})
    said = Header(**header, boot="", intro_ticks=60)
    proof = Replay(header=said, decisions=DECISIONS, claims=claims, hash="0" * 64).to_bytes()
    store.add(replace(made, replay_digest=hashlib.sha256(proof).hexdigest()), replay=proof)


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


def marked(markup: str) -> list[str]:
    """The rows of tables that stand out, each as its cells' text."""
    found = re.findall(r"<tr class=here>(.*?)</tr>", markup)
    return [" | ".join(re.findall(r"<td[^>]*>(.*?)</td>", row)) for row in found]


def is_inert(widget: Any) -> bool:
    """Whether nothing in the HTML of a widget is a tag that a name brought."""
    return not any(sign in text for text in texts(widget) for sign in ("<img", "<script", "<i>take"))
