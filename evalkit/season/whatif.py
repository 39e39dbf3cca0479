"""Why: "what if the rules were other ones?" is answered from the recorded facts, fast enough for a slider.

A `Setting` says what differs from the season; `as_if` is the season that it makes, and ranking that one is the whole
meaning of a what-if. Here the facts are folded into arrays once, so that every further setting costs milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from evalkit.errors import UsageError
from evalkit.records import SeasonRun
from evalkit.season.ranking import scored
from evalkit.season.score import Rules, run_score
from evalkit.season.season import Season

__all__ = [
    "Facts",
    "Ranked",
    "Setting",
    "as_if",
    "code",
    "command",
    "entry_name",
    "fold",
    "pieces",
    "ranked",
    "what_if",
]

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

    `anchor` is the season's own. Made by `fold`.
    """

    season: Season
    agents: tuple[str, ...]
    references: tuple[str | None, ...]
    agent: npt.NDArray[np.intp]
    entry: npt.NDArray[np.intp]
    seed: npt.NDArray[np.intp]
    verified: npt.NDArray[np.bool_]
    columns: Mapping[str, Floats]


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


def what_if(runs: pd.DataFrame | Iterable[SeasonRun] | Facts, season: Season, setting: Setting) -> pd.DataFrame:
    """Rank by a setting beside the official rank: one row an agent, best first by the setting, names deciding ties.

    Columns: `rank, agent, reference, score, se, cells, cells_expected, official_rank, official_score, change` (score
    minus official score), `moved` (places up; below 0 is down) and `why` (a sentence where the rank changed, else "").
    Scores and ranks are those of `standings(runs, as_if(season, setting), ...)`. Raises UsageError as `as_if` does.
    """
    facts = runs if isinstance(runs, Facts) else fold(runs, season)
    now, was = ranked(facts, setting), ranked(facts, Setting())
    integers = {name: pd.Series(values, dtype="Int64") for name, values in (("rank", now.rank), ("was", was.rank))}
    frame = pd.DataFrame(
        {
            "rank": integers["rank"],
            "agent": pd.Series(facts.agents, dtype="string"),
            "reference": pd.Series(facts.references, dtype="string"),
            "score": now.score,
            "se": now.se,
            "cells": now.count,
            "cells_expected": now.expected,
            "official_rank": integers["was"],
            "official_score": was.score,
            "change": now.score - was.score,
            "moved": integers["was"] - integers["rank"],
            "why": pd.Series(list(_whys(facts, setting, now, was)), dtype="string"),
        }
    )
    order = np.lexsort((np.arange(len(frame)), np.nan_to_num(-np.round(now.score, 9), nan=np.inf)))
    return frame.iloc[order].reset_index(drop=True)


def pieces(season: Season, setting: Setting) -> list[tuple[str, Setting]]:
    """What a setting changes, one thing at a time: how it reads, and the setting with that change alone."""
    found: list[tuple[str, Setting]] = []
    rules = setting.rules or season.rules
    for constant in fields(Rules):
        old, new = getattr(season.rules, constant.name), getattr(rules, constant.name)
        if new != old:
            alone = Setting(rules=replace(season.rules, **{constant.name: new}))
            found.append((f"{constant.name} {old:g} → {new:g}", alone))
    for key, anchor in setting.anchors.items():
        if anchor != season.anchors[key]:
            words = " → ".join("none" if a is None else f"{a:g} s" for a in (season.anchors[key], anchor))
            found.append((f"the anchor of {entry_name(key)} {words}", Setting(anchors={key: anchor})))
    found += [(f"{entry_name(key)} left out", Setting(without_entries=(key,))) for key in setting.without_entries]
    found += [(f"seed {seed} left out", Setting(without_seeds=(seed,))) for seed in setting.without_seeds]
    if setting.verified_only:
        found.append(("verified runs only", Setting(verified_only=True)))
    if setting.partial_as_zero:
        found.append(("missing cells as zero", Setting(partial_as_zero=True)))
    return found


def _whys(facts: Facts, setting: Setting, now: Ranked, was: Ranked) -> Iterator[str]:
    """For each agent whose rank changed, why; the shares of single changes are read where each acts alone."""
    moved = ~((now.rank == was.rank) | (np.isnan(now.rank) & np.isnan(was.rank)))
    alone: list[tuple[str, Ranked]] = []
    if moved.any():
        for words, piece in pieces(facts.season, setting):
            try:
                alone.append((words, ranked(facts, piece)))
            except UsageError:  # alone it would leave nothing to rank
                continue
    both = np.flatnonzero(np.isfinite(now.rank) & np.isfinite(was.rank))
    for place in range(len(facts.agents)):
        yield _why(facts, setting, now, was, alone, place, both) if moved[place] else ""


def _why(
    facts: Facts, setting: Setting, now: Ranked, was: Ranked, alone: list[tuple[str, Ranked]], place: int,
    both: npt.NDArray[np.intp],
) -> str:  # fmt: skip
    if np.isnan(now.rank[place]):
        if not now.count[place]:
            return "no run is left that is verified" if setting.verified_only else "no run is left"
        return f"partial now: {now.count[place]} of {now.expected} cells"
    if np.isnan(was.rank[place]):
        return "ranked now: missing cells count as zero" if setting.partial_as_zero else "whole now, so it is ranked"
    up = bool(now.rank[place] < was.rank[place])
    turned = np.sign(now.rank[both] - now.rank[place]) - np.sign(was.rank[both] - was.rank[place])
    crossed = both[turned > 0 if up else turned < 0]
    if not len(crossed):
        above = (now.rank < now.rank[place]) != (was.rank < was.rank[place])
        other = int(np.argmax(above))
        verb = "takes a rank now" if np.isnan(was.rank[other]) else "has no rank any more"
        return f"{facts.agents[other]} above it {verb}"
    rival = int(crossed[np.argmin((was if up else now).rank[crossed])])
    said = f"{'gains on' if up else 'falls behind'} {facts.agents[rival]}"
    gaps = [(words, (_shares(piece) - _shares(was))[[place, rival]]) for words, piece in alone]
    whole = (now.score - was.score)[place] - (now.score - was.score)[rival]
    if not gaps:
        return said
    words, share = max(gaps, key=lambda gap: float(np.sign(whole) * np.subtract(*gap[1]).sum()))
    by_entry = np.sign(whole) * (share[0] - share[1])
    said += f": {words} gives it {share[0].sum():+.2f} against {share[1].sum():+.2f}"
    if len(facts.season.entries) > 1 and by_entry.max() > 0:
        said += f", most by {entry_name(facts.season.entries[int(np.argmax(by_entry))].key)}"
    return said


def _shares(rows: Ranked) -> Floats:
    """What each entry adds to each agent's score: agents x entries; a row sums to the score, 0 where there is none."""
    shares: Floats = np.nansum(rows.cells, axis=2) / np.maximum(rows.count, 1)[:, None]
    return shares


def code(season: Season, setting: Setting, *, ref: str | None = None, store: str | None = None) -> str:
    """Python that gives the same DataFrame as `frame`. With `ref` it opens season and store, else it takes both.

    Without `ref`, `season` and `runs` are names that must be there when it runs.
    """
    lines = ["from dataclasses import replace", "", "from evalkit.season.whatif import Setting, what_if"]
    if ref is not None:
        lines[1:1] = ["", "import evalkit"]
        which = f"season={season.slug!r}, season_version={season.version!r}"
        lines += ["", f"season = evalkit.open_season({ref!r})"]
        lines += [f"runs = evalkit.open_results({'' if store is None else repr(store)}).season_frame({which})"]
    given: list[str] = []
    if setting.rules is not None and setting.rules != season.rules:
        names = [f.name for f in fields(Rules) if getattr(setting.rules, f.name) != getattr(season.rules, f.name)]
        changes = ", ".join(f"{name}={getattr(setting.rules, name)!r}" for name in names)
        given.append(f"rules=replace(season.rules, {changes})")
    else:
        lines.remove("from dataclasses import replace")
    plain: dict[str, Any] = {
        "anchors": {key: value for key, value in setting.anchors.items() if value != season.anchors[key]},
        "without_entries": tuple(setting.without_entries), "without_seeds": tuple(setting.without_seeds),
        "verified_only": setting.verified_only, "partial_as_zero": setting.partial_as_zero,
    }  # fmt: skip
    given += [f"{name}={value!r}" for name, value in plain.items() if value]
    lines += ["", f"setting = Setting({', '.join(given)})", "frame = what_if(runs, season, setting)"]
    return "\n".join(lines).strip() + "\n"


def command(season: Season, setting: Setting) -> str | None:
    """The shell command that shows the same scores; None where it cannot say so, which is all but the constants."""
    rules = setting.rules or season.rules
    if replace(setting, rules=None) != Setting():
        return None
    names = [f.name for f in fields(Rules) if getattr(rules, f.name) != getattr(season.rules, f.name)]
    changes = "".join(f" --set {name}={repr(getattr(rules, name)).removesuffix('.0')}" for name in names)
    return f"evalkit rescore {season.slug}@{season.version}{changes}"
