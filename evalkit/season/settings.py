"""Why: a season can be ranked by other rules than its own, fast enough for a slider.

A `Setting` says what differs from the season; `as_if` is the season that it makes, and ranking that one is the whole
meaning of a what-if. Here the facts are folded into arrays once, so that every further setting costs milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from evalkit.errors import UsageError
from evalkit.records import SeasonRun
from evalkit.season.ranking import scored
from evalkit.season.score import Rules, run_score
from evalkit.season.season import Season

__all__ = ["Facts", "Floats", "Key", "Ranked", "Setting", "as_if", "entry_name", "fold", "ranked"]

Key = tuple[str, str]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What differs from the season. `rules` None are the season's own.

    `anchors` maps (level, difficulty) to seconds, or None for no anchor. `without_entries` and `without_seeds` are left
    out. `verified_only` drops runs that did not verify here; `partial_as_zero` counts a missing cell as 0.
    """

    rules: Rules | None = None
    anchors: Mapping[Key, float | None] = field(default_factory=dict)
    without_entries: tuple[Key, ...] = ()
    without_seeds: tuple[int, ...] = ()
    verified_only: bool = False
    partial_as_zero: bool = False


def entry_name(key: Key) -> str:
    """An entry for people: `dam (agent)`."""
    return f"{key[0]} ({key[1]})"


def as_if(season: Season, setting: Setting) -> Season:
    """The season that a setting makes. Raises UsageError for an entry or seed it does not have, or none left."""
    keys = {entry.key for entry in season.entries}
    for key in (*setting.anchors, *setting.without_entries):
        if key not in keys:
            raise UsageError(f"{season.slug} has no entry {entry_name(key)}")
    if strange := set(setting.without_seeds) - set(season.seeds):
        raise UsageError(f"{season.slug} has no seed {min(strange)}: it has {', '.join(map(str, season.seeds))}")
    entries = tuple(
        replace(entry, anchor_s=setting.anchors.get(entry.key, entry.anchor_s))
        for entry in season.entries
        if entry.key not in setting.without_entries
    )
    seeds = {seed: ticks for seed, ticks in season.seeds.items() if seed not in setting.without_seeds}
    if not entries or not seeds:
        raise UsageError("nothing is left to rank: keep at least one entry and one seed")
    return replace(season, entries=entries, seeds=seeds, rules=setting.rules or season.rules)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A season's runs as arrays, one value a run: `agent`, `entry` and `seed` are places in the lists of the same name.

    `anchor_s` is the season's own. `other_digest` counts runs that were recorded under another digest of the season.
    Made by `fold`.
    """

    season: Season
    agents: tuple[str, ...]
    references: tuple[str | None, ...]
    agent: npt.NDArray[np.intp]
    entry: npt.NDArray[np.intp]
    seed: npt.NDArray[np.intp]
    verified: npt.NDArray[np.bool_]
    columns: Mapping[str, Floats]
    other_digest: int = 0


def fold(runs: pd.DataFrame | Iterable[SeasonRun], season: Season) -> Facts:
    """Fold the runs that count in a season, as `ranking.scored` does. Raises ValueError as `run_score` does."""
    table = scored(runs, season)
    agents = sorted(set(table["agent"]))
    entries = {entry.key: place for place, entry in enumerate(season.entries)}
    keys = zip(table["level"], table["difficulty"], strict=True)
    seeds = list(season.seeds)
    named = table.dropna(subset="reference").drop_duplicates("agent").set_index("agent")["reference"]
    names = ("objectives_done", "objectives_total", "completed", "time_s", "died", "anchor_s")
    return Facts(
        season=season,
        agents=tuple(agents),
        references=tuple(str(named[agent]) if agent in named.index else None for agent in agents),
        agent=np.searchsorted(np.array(agents, dtype=object), table["agent"].to_numpy(dtype=object)).astype(np.intp),
        entry=np.fromiter((entries[key] for key in keys), dtype=np.intp, count=len(table)),
        seed=pd.Index(seeds).get_indexer(pd.Index(table["seed"])).astype(np.intp),
        verified=table["verified"].astype("boolean").fillna(False).to_numpy(dtype=bool),
        columns={name: table[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in names},
        other_digest=int((table["season_digest"] != season.digest).sum()),
    )


@dataclass(frozen=True, slots=True)
class Ranked:
    """Every agent under one setting. `cells` is agents x entries x seeds, NaN where there is no run."""

    cells: Floats
    score: Floats
    se: Floats
    count: npt.NDArray[np.intp]
    expected: int
    rank: Floats


def ranked(facts: Facts, setting: Setting) -> Ranked:
    """Score and rank under a setting; NaN is "no score" and "no rank". A few milliseconds for 10,000 runs."""
    season, known = as_if(facts.season, setting), facts.season
    shape = (len(facts.agents), len(known.entries), len(known.seeds))
    anchors = np.array([setting.anchors.get(e.key, e.anchor_s) for e in known.entries], dtype=np.float64)
    use = facts.verified if setting.verified_only else np.ones(len(facts.agent), dtype=bool)
    columns = {name: values[use] for name, values in facts.columns.items()}
    columns["anchor_s"] = anchors[facts.entry[use]]
    scores = run_score(rules=season.rules, **columns)
    at = np.ravel_multi_index((facts.agent[use], facts.entry[use], facts.seed[use]), shape)
    size = int(np.prod(shape))
    with np.errstate(invalid="ignore", divide="ignore"):
        cells = (np.bincount(at, scores, size) / np.bincount(at, minlength=size)).reshape(shape)
        kept = {entry.key for entry in season.entries}
        cells[:, [entry.key not in kept for entry in known.entries], :] = np.nan
        cells[:, :, [seed not in season.seeds for seed in known.seeds]] = np.nan
        expected = len(season.cells)
        count = np.isfinite(cells).sum(axis=(1, 2))
        total = np.nansum(cells, axis=(1, 2))
        n = np.where(count > 0, expected, 0) if setting.partial_as_zero else count
        mean = total / n
        squares = np.nansum((cells - mean[:, None, None]) ** 2, axis=(1, 2)) + (n - count) * mean**2
        se = np.sqrt(squares / (n - 1) / n)
    competing = np.array([reference is None for reference in facts.references], dtype=bool) & (n == expected)
    rounded = np.round(mean, 9)
    rank = 1.0 + np.searchsorted(np.sort(-rounded[competing]), -rounded)
    return Ranked(cells, mean, np.where(n > 1, se, np.nan), n, expected, np.where(competing, rank, np.nan))
