"""Why: the verbs' words about money: what a sweep may cost, and what runs cost at other prices than their own."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evalkit.cli.keeping import open_store
from evalkit.cli.output import emit, figure, line, note, table
from evalkit.errors import EvalkitError, StoreError
from evalkit.records import SeasonRun
from evalkit.season.manifest import open_season

if TYPE_CHECKING:
    from evalkit.season.costs import Estimate
    from evalkit.season.season import Season
    from evalkit.store import Store

__all__ = ["estimate_lines", "estimates", "reprice"]


def estimates(season: Season, store: Store, agents: Sequence[str], jobs: Sequence[Mapping[str, Any]]) -> list[Estimate]:
    """What the planned jobs of each model-backed agent may cost, the dearest first and the unpriced last."""
    from evalkit.season.agents import load_agent
    from evalkit.season.agents.model import ModelAgent
    from evalkit.season.costs import estimate

    found = []
    runs = [run for run in store.runs(season=season.slug, season_version=season.version) if isinstance(run, SeasonRun)]
    for who in dict.fromkeys(agents):
        try:
            loaded = load_agent(who)
        except EvalkitError:
            continue  # the plan says so
        cells = [(job["level"], job["difficulty"]) for job in jobs if job["agent"] == who]
        if isinstance(loaded.agent, ModelAgent) and cells:
            found.append(estimate(loaded, season, cells, runs))
    return sorted(found, key=lambda row: (row.dollars is None, -(row.dollars or 0)))


def estimate_lines(rows: Sequence[Estimate]) -> Iterator[str]:
    """A line an agent, and the total where every price is known."""
    for row in rows:
        what = "unpriced" if row.dollars is None else f"about {row.dollars:.2f} dollars"
        yield f"{line(row.agent, 60)}: {row.jobs} runs, {what} ({row.grounds})"
    if len(rows) > 1:
        total = sum(row.dollars for row in rows if row.dollars is not None)
        some = any(row.dollars is None for row in rows)
        yield f"together: about {total:.2f} dollars" + (", and what is unpriced" if some else "")


def reprice(arguments: Namespace) -> int:
    """What the runs of a season cost: as recorded, as charged, and by the prices given now; nothing is stored."""
    from evalkit.season.agents.prices import load_prices
    from evalkit.season.costs import run_cost

    season, prices = open_season(arguments.case), load_prices(arguments.prices)
    with open_store(arguments, create=False) as store:
        runs = store.runs(include_voided=False, season=season.slug, season_version=season.version)
        turned = [(run, _turns(store, run)) for run in runs if isinstance(run, SeasonRun)]
    rows = [
        run_cost(run, None if isinstance(turns, str) else turns, prices) for run, turns in turned if turns is not None
    ]
    rows.sort(key=lambda row: (row.computed is None, -(row.computed or 0), row.agent))
    documents = [asdict(row) for row in rows]
    cells = [
        [row.run_id, line(row.agent, 60), figure(row.tokens), *map(_dollars, amounts), line(row.prices or "-", 60)]
        for row in rows
        for amounts in [(row.recorded, row.charged, row.computed)]
    ]
    head = ("run", "agent", "tokens", "recorded", "charged", "computed", "prices")
    lines = table(head, cells)
    if unknown := sum(row.computed is None for row in rows):
        lines.append(
            f"{unknown} of {len(rows)} runs are unpriced, so no total is whole: add prices to data/prices.toml"
        )
    emit(arguments, documents, lines)
    return 0


def _turns(store: Store, run: SeasonRun) -> list[dict[str, Any]] | str | None:
    """The turns of a run; None where it has none, and in a line why they cannot be read."""
    try:
        return store.turns(run.run_id)
    except StoreError as error:
        note(str(error))
        return str(error)


def _dollars(value: float | None) -> str:
    return "-" if value is None else f"{value:.6f}"
