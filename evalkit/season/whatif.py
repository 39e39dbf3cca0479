"""Why: "what if the rules were other ones?" is answered beside the official ranking, with a reason for who moved.

What a setting is and how it ranks is in `settings`; here are the table of both rankings and the code that makes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from evalkit.errors import UsageError
from evalkit.records import SeasonRun
from evalkit.season.score import Rules
from evalkit.season.season import Season
from evalkit.season.settings import Facts, Floats, Ranked, Setting, as_if, entry_name, fold, ranked

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


def what_if(
    runs: pd.DataFrame | Iterable[SeasonRun] | Facts, season: Season, setting: Setting, *, reasons: int | None = None
) -> pd.DataFrame:
    """Rank by a setting beside the official rank: one row an agent, best first by the setting, names deciding ties.

    Columns: `rank, agent, reference, score, se, cells, cells_expected, official_rank, official_score, change` (score
    minus official score), `moved` (places up; below 0 is down) and `why` (a sentence where the rank changed, else "").
    Scores and ranks are those of `standings(runs, as_if(season, setting), ...)`. With `reasons` only the first so many
    rows that changed say why, and the others "…", which is faster. Raises UsageError as `as_if` does.
    """
    facts = runs if isinstance(runs, Facts) else fold(runs, season)
    now, was = ranked(facts, setting), ranked(facts, Setting())
    order = np.lexsort((np.arange(len(now.score)), np.nan_to_num(-np.round(now.score, 9), nan=np.inf)))
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
            "why": pd.Series(_whys(facts, setting, now, was, order, reasons), dtype="string"),
        }
    )
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


def _whys(
    facts: Facts, setting: Setting, now: Ranked, was: Ranked, order: npt.NDArray[np.intp], reasons: int | None
) -> list[str]:
    """For each agent whose rank changed, why; the shares of single changes are read where each acts alone."""
    moved = ~((now.rank == was.rank) | (np.isnan(now.rank) & np.isnan(was.rank)))
    both = np.flatnonzero(np.isfinite(now.rank) & np.isfinite(was.rank))
    gains: list[tuple[str, Floats]] = []
    if moved[both].any():
        official = _shares(was)
        for words, piece in pieces(facts.season, setting):
            try:
                gains.append((words, _shares(ranked(facts, piece)) - official))
            except UsageError:  # alone it would leave nothing to rank
                continue
    sums = np.stack([gain.sum(axis=1) for _, gain in gains]) if gains else np.zeros((0, len(moved)))
    whys = ["…" if is_moved else "" for is_moved in moved]
    for place in order[moved[order]][:reasons]:
        whys[place] = _why(facts, setting, now, was, gains, sums, int(place), both)
    return whys


def _why(
    facts: Facts, setting: Setting, now: Ranked, was: Ranked, gains: list[tuple[str, Floats]], sums: Floats, place: int,
    both: npt.NDArray[np.intp],
) -> str:  # fmt: skip
    if np.isnan(now.rank[place]):
        if not now.count[place]:
            return "no run is left that is verified" if setting.verified_only else "no run is left"
        return f"partial now: {now.count[place]} of {now.expected} cells"
    if np.isnan(was.rank[place]):
        return "ranked now: missing cells count as zero" if setting.partial_as_zero else "whole now, so it is ranked"
    up = bool(now.rank[place] < was.rank[place])
    after, before = now.rank[both] - now.rank[place], was.rank[both] - was.rank[place]
    turned = np.sign(after) > np.sign(before) if up else np.sign(after) < np.sign(before)
    crossed = both[turned]
    if not len(crossed):
        above = (now.rank < now.rank[place]) != (was.rank < was.rank[place])
        other = int(np.argmax(above))
        verb = "takes a rank now" if np.isnan(was.rank[other]) else "has no rank any more"
        return f"{facts.agents[other]} above it {verb}"
    rival = int(crossed[np.argmin((was if up else now).rank[crossed])])
    said = f"{'gains on' if up else 'falls behind'} {facts.agents[rival]}"
    if not gains:
        return said
    sign = np.sign((now.score - was.score)[place] - (now.score - was.score)[rival])
    most = int(np.argmax(sign * (sums[:, place] - sums[:, rival])))
    words, gain = gains[most]
    by_entry = sign * (gain[place] - gain[rival])
    said += f": {words} gives it {sums[most, place]:+.2f} against {sums[most, rival]:+.2f}"
    if by_entry.size > 1 and by_entry.max() > 0:
        said += f", most by {entry_name(facts.season.entries[int(np.argmax(by_entry))].key)}"
    return said


def _shares(rows: Ranked) -> Floats:
    """What each entry adds to each agent's score: agents x entries; a row sums to the score, 0 where there is none."""
    shares: Floats = np.nansum(rows.cells, axis=2) / np.maximum(rows.count, 1)[:, None]
    return shares


def code(season: Season, setting: Setting, *, ref: str | None = None, source: str | None = None) -> str:
    """Python that gives the same DataFrame as `frame`. `ref` opens the season, `source` is Python that gives the store.

    What no name opens, it says in a comment: without `ref` the name `season` must be there when it runs, without
    `source` the name `runs`, and where `source` is "store", that name.
    """
    lines = []
    if (source != "store" and source is not None) or ref is not None:
        lines += ["import evalkit"]
    lines += ["from evalkit.season.whatif import Setting, what_if", ""]
    lines.append("# season: the Season that you gave" if ref is None else f"season = evalkit.open_season({ref!r})")
    if source is None:
        lines.append("# runs: the runs that you gave")
    else:
        lines += ["# store: the Store that you gave, which no name opens again"] if source == "store" else []
        lines.append(f"runs = {source}.season_frame(season={season.slug!r}, season_version={season.version!r})")
    given: list[str] = []
    if setting.rules is not None and setting.rules != season.rules:
        names = [f.name for f in fields(Rules) if getattr(setting.rules, f.name) != getattr(season.rules, f.name)]
        changes = ", ".join(f"{name}={getattr(setting.rules, name)!r}" for name in names)
        given.append(f"rules=replace(season.rules, {changes})")
        lines[:0] = ["from dataclasses import replace", ""]
    plain: dict[str, Any] = {
        "anchors": {key: value for key, value in setting.anchors.items() if value != season.anchors[key]},
        "without_entries": tuple(setting.without_entries), "without_seeds": tuple(setting.without_seeds),
        "verified_only": setting.verified_only, "partial_as_zero": setting.partial_as_zero,
    }  # fmt: skip
    given += [f"{name}={value!r}" for name, value in plain.items() if value]
    lines += ["", f"setting = Setting({', '.join(given)})", "frame = what_if(runs, season, setting)"]
    return "\n".join(lines) + "\n"


def command(season: Season, setting: Setting) -> str | None:
    """The shell command that shows the same scores; None where it cannot say so, which is all but the constants."""
    rules = setting.rules or season.rules
    if replace(setting, rules=None) != Setting():
        return None
    names = [f.name for f in fields(Rules) if getattr(rules, f.name) != getattr(season.rules, f.name)]
    changes = "".join(f" --set {name}={repr(getattr(rules, name)).removesuffix('.0')}" for name in names)
    return f"evalkit rescore {season.slug}@{season.version}{changes}"
