"""Why: a season's table from its runs: scores from facts, cells from attempts, rows from cells, ranks from rows.

Every number is recomputed by the rules it is given, so the official standing and a what-if are one function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from evalkit.errors import UsageError
from evalkit.records import SeasonRun
from evalkit.season.score import Rules, run_score
from evalkit.season.season import Season

__all__ = ["StandingRow", "cell_scores", "scored", "standings"]

_NEEDED = (
    "season_digest", "level", "difficulty", "seed", "agent", "reference", "objectives_done", "objectives_total",
    "completed", "died", "time_s", "decisions", "tokens", "dollars", "verified", "ungraded", "voided",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingRow:
    """An agent's season: `score` is the mean over the `cells` it has, of `cells_expected`; fewer is partial.

    `rank` is None for a reference row and a partial one, `se` for a single cell. `attempts` are the runs behind it;
    `decisions`, `tokens` and `dollars` are their sums. `tokens` is None where any is unknown, `dollars` where all are
    or they sum to no float; where some are, `dollars_complete` is false. `verified`: all (True), some failed (False),
    some not replayed (None). `other_digest` counts runs that were recorded under another digest of the season.
    """

    rank: int | None
    agent: str
    reference: str | None
    score: float
    se: float | None
    cells: int
    cells_expected: int
    attempts: int
    verified: bool | None
    decisions: int
    tokens: int | None
    dollars: float | None
    dollars_complete: bool
    other_digest: int = 0

    @property
    def partial(self) -> bool:
        """Whether cells are missing."""
        return self.cells < self.cells_expected


def scored(
    runs: pd.DataFrame | Iterable[SeasonRun], season: Season | Path | str, *, rules: Rules | None = None
) -> pd.DataFrame:
    """The runs that count in `season`, a row each, with `anchor_s` and `score` by its rules (or `rules`).

    `season` is one that was opened, a path or `slug[@version]`; `score` is from 0 to 100, `anchor_s` in seconds of
    game time. Left out: voided and ungraded runs, and those of an entry or seed that the season does not list. A frame
    needs the columns of `SeasonRun`, as `store.season_frame` has them. Raises ValueError as `run_score` does,
    UsageError where there is no such season and where these are no season runs.
    """
    season = _opened(season)
    table = _table(runs)
    entries = {entry.key for entry in season.entries}
    keys = list(zip(table["level"], table["difficulty"], strict=True))
    listed = np.fromiter((key in entries for key in keys), dtype=bool, count=len(table))
    counts = listed & table["seed"].isin(list(season.seeds)).to_numpy(dtype=bool)
    counts &= table["voided"].isna().to_numpy(dtype=bool) & table["ungraded"].isna().to_numpy(dtype=bool)
    kept = table[counts].reset_index(drop=True)
    anchors = season.anchors
    kept["anchor_s"] = [anchors[key] for key, counted in zip(keys, counts, strict=True) if counted]
    kept["anchor_s"] = kept["anchor_s"].astype("float64")
    columns = ("objectives_done", "objectives_total", "completed", "time_s", "anchor_s", "died")
    kept["score"] = run_score(rules=rules or season.rules, **{name: kept[name] for name in columns})
    return kept


def _table(runs: pd.DataFrame | Iterable[SeasonRun]) -> pd.DataFrame:
    if isinstance(runs, pd.DataFrame):
        if missing := [name for name in _NEEDED if name not in runs.columns]:
            raise UsageError(f"these are no season runs, as `store.season_frame(…)` gives them: no {missing[0]}")
        return runs
    found = list(runs)
    if others := {type(run).__name__ for run in found if not isinstance(run, SeasonRun)}:
        what = "agents are ranked from season runs, as `store.season_frame(…)` gives them"
        raise UsageError(f"{what}, not from any {sorted(others)[0]}")
    rows = [[getattr(run, name) for name in _NEEDED] for run in found]
    return pd.DataFrame(rows, columns=list(_NEEDED))


def _opened(season: Season | Path | str) -> Season:
    if isinstance(season, Season):
        return season
    from evalkit.season.manifest import open_season

    return open_season(season)


def cell_scores(table: pd.DataFrame) -> dict[str, dict[tuple[str, str, int], float]]:
    """Agent -> cell -> mean score of its attempts there, from what `scored` gave."""
    means = table.groupby(["agent", "level", "difficulty", "seed"], sort=False)["score"].mean()
    found: dict[str, dict[tuple[str, str, int], float]] = {}
    for key, value in means.items():
        agent, level, difficulty, seed = cast(tuple[str, str, str, int], key)
        found.setdefault(agent, {})[(level, difficulty, int(seed))] = float(value)
    return found


def standings(
    runs: pd.DataFrame | Iterable[SeasonRun],
    season: Season | Path | str,
    *,
    rules: Rules | None = None,
    verified_only: bool = False,
    partial_as_zero: bool = False,
) -> list[StandingRow]:
    """Rank agents by their mean score over the season's cells, best first, names deciding the order of a tie.

    `season` is one that was opened, a path or `slug[@version]`. Attempts within a cell are averaged first. Ties, equal
    after rounding to 9 decimals, share a rank and the next one skips. `verified_only` drops runs whose replay did not
    verify here; `partial_as_zero` counts a missing cell as 0. Raises as `scored` does.
    """
    season = _opened(season)
    table = scored(runs, season, rules=rules)
    if verified_only:
        table = table[table["verified"].map(lambda value: value is True or value is np.True_).astype(bool)]
    if table.empty:
        return []
    expected = len(season.cells)
    values = table.groupby(["agent", "level", "difficulty", "seed"], sort=False)["score"].mean()
    grid = values.unstack(["level", "difficulty", "seed"])  # an agent a row, a cell a column, NaN where never played
    if partial_as_zero:
        grid = grid.reindex(columns=pd.MultiIndex.from_tuples(season.cells, names=grid.columns.names)).fillna(0.0)
    counts, means, errors = grid.count(axis=1), grid.mean(axis=1), grid.sem(axis=1, ddof=1)
    rows = [
        _row(str(agent), part, season, float(means[agent]), errors[agent], int(counts[agent]), expected)
        for agent, part in table.groupby("agent", sort=False)
    ]
    rows.sort(key=lambda row: (-round(row.score, 9), row.agent))
    return _ranked(rows)


def _row(
    agent: str, part: pd.DataFrame, season: Season, mean: float, error: float, cells: int, expected: int
) -> StandingRow:
    references = part["reference"].dropna()
    verified = [None if pd.isna(value) else bool(value) for value in part["verified"]]
    known = part["dollars"].dropna().astype("float64")
    with np.errstate(over="ignore"):
        dollars = float(known.sum())
    is_sum = not known.empty and np.isfinite(dollars)
    tokens = part["tokens"]
    return StandingRow(
        rank=None,
        agent=agent,
        reference=None if references.empty else str(references.iloc[0]),
        score=mean,
        se=None if pd.isna(error) else float(error),
        cells=cells,
        cells_expected=expected,
        attempts=len(part),
        verified=False if False in verified else None if None in verified else True,
        decisions=sum(map(int, part["decisions"])),  # by Python, whose integers have no end
        tokens=None if tokens.isna().any() else sum(map(int, tokens)),
        dollars=dollars if is_sum else None,
        dollars_complete=bool(is_sum) and len(known) == len(part),
        other_digest=int((part["season_digest"] != season.digest).sum()),
    )


def _ranked(rows: list[StandingRow]) -> list[StandingRow]:
    """Number the rows that compete: whole, and no reference."""
    competing = [round(row.score, 9) for row in rows if row.reference is None and not row.partial]
    ranked = []
    for row in rows:
        values: Mapping[str, Any] = {field.name: getattr(row, field.name) for field in fields(row)}
        rank = None if row.reference is not None or row.partial else 1 + competing.index(round(row.score, 9))
        ranked.append(StandingRow(**{**values, "rank": rank}))
    return ranked
