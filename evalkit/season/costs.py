"""Why: what a run was recorded to cost stays; what its tokens cost at other prices, or a sweep may cost, is computed.

Three amounts stand apart: **recorded** (the run's `dollars`, by the prices of its day), **charged** (what the provider
itself reported, where it does), and **computed** (from the tokens of each kept call, by the prices given now).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from evalkit.records import SeasonRun, check_model
from evalkit.season.agents import LoadedAgent
from evalkit.season.agents.model import ModelAgent
from evalkit.season.agents.prices import Prices, Tokens
from evalkit.season.asking import first_look
from evalkit.season.season import Season

__all__ = ["Estimate", "RunCost", "estimate", "run_cost"]

CHARACTERS_A_TOKEN, TOKENS_A_PICTURE, TOKENS_ANSWERED = 4, 1000, 150
"""Assumed where no run tells: of a request as it is sent, but for its picture; and of output. Reasoning is more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCost:
    """What a run cost, in dollars; None where unknown. `prices` names whose prices `computed` is by."""

    run_id: str
    agent: str
    tokens: int | None
    recorded: float | None
    charged: float | None = None
    computed: float | None = None
    prices: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What `jobs` runs of an agent may cost together, in dollars, and on which grounds; None: no price is known."""

    agent: str
    jobs: int
    dollars: float | None
    grounds: str


def run_cost(run: SeasonRun, turns: Iterable[Mapping[str, Any]] | None, prices: Prices) -> RunCost:
    """Price the kept calls of a run one by one, by the prices of its day (None: unreadable); nothing is stored."""
    try:
        check_model(run.provenance)
    except ValueError:
        return RunCost(run_id=run.run_id, agent=run.agent, tokens=run.tokens, recorded=run.dollars)
    model, provider = run.provenance.get("model"), run.provenance.get("provider")
    said = run.provenance.get("priced_at") or run.recorded_at
    when = datetime.now(UTC) if said is None else datetime.fromisoformat(said)
    calls = [call for turn in turns or () for call in turn["calls"]]
    costs = [
        prices.cost(Tokens(**call["tokens"]), model, provider=provider, base_url=None, when=when)
        if isinstance(model, str) and call["tokens"] is not None
        else None
        for call in calls
    ]
    known = [cost for cost in costs if cost is not None]
    whole = turns is not None and len(known) == len(costs)
    return RunCost(
        run_id=run.run_id,
        agent=run.agent,
        tokens=run.tokens,
        recorded=run.dollars,
        charged=run.provenance.get("charged"),
        computed=math.fsum(cost.dollars for cost in known) if whole else None,
        prices=", ".join(sorted({cost.source for cost in known})) or None,
    )


def estimate(
    loaded: LoadedAgent, season: Season, cells: Sequence[tuple[str, str]], runs: Iterable[SeasonRun]
) -> Estimate:
    """What runs of a model-backed agent on these (level, difficulty) may cost: by its stored runs, else assumed.

    What is assumed rests on the length of its own requests, for which the game is begun once.

    `runs` are of this season; those that count are this very agent's, neither voided nor ungraded, of known cost.
    """
    spent = [
        run.dollars
        for run in runs
        if (run.agent, run.agent_digest) == (loaded.name, loaded.digest)
        and run.dollars is not None and run.voided is None and run.ungraded is None
    ]  # fmt: skip
    if spent:
        mean = math.fsum(spent) / len(spent)
        grounds = f"the mean of its {len(spent)} stored runs, {mean:.4f} dollars"
        return Estimate(agent=loaded.name, jobs=len(cells), dollars=mean * len(cells), grounds=grounds)
    agent = loaded.agent
    assert isinstance(agent, ModelAgent)
    file = agent.file
    spec, seen = first_look(season, *cells[0])
    budgets = {entry.key: entry.decision_budget or 300 for entry in season.entries}
    made = Counter(min(number, file.memory) for cell in cells for number in range(budgets[cell]))  # by turns remembered
    size = {past: math.ceil(agent.length(spec, seen, past) / CHARACTERS_A_TOKEN) for past in made}
    size = {past: tokens + TOKENS_A_PICTURE * (file.see != "text") for past, tokens in size.items()}
    now = datetime.now(UTC)
    costs = {past: agent.cost(Tokens(input=tokens, output=TOKENS_ANSWERED), now) for past, tokens in size.items()}
    known = [cost.dollars * made[past] for past, cost in costs.items() if cost is not None]
    grounds = (
        f"assumed: {made.total():,} decisions, all of every budget; requests as they are sent, up to "
        f"{max(size.values()):,} tokens of {CHARACTERS_A_TOKEN} characters in, and {TOKENS_ANSWERED} out each"
    )
    dollars = math.fsum(known) if len(known) == len(costs) else None
    return Estimate(agent=loaded.name, jobs=len(cells), dollars=dollars, grounds=grounds)
