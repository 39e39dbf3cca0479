"""Why: one call plays a cell with an agent and leaves the facts and their proof.

How the agent is asked, and what ends a run on its side, is in `asking`. An ungraded run is kept without a replay, with
what it spent.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evalkit.errors import UsageError
from evalkit.reading import printable
from evalkit.records import SeasonRun, canonical, check_model, read_turns
from evalkit.sandbox.console import TICK_FUEL
from evalkit.sandbox.engine import engine_name
from evalkit.season.agents import Agent, LoadedAgent, load_agent
from evalkit.season.agents.guard import AgentFault, called
from evalkit.season.asking import Asked
from evalkit.season.course import Course, Setting, run_course
from evalkit.season.purse import Purse
from evalkit.season.recorded import facts
from evalkit.season.replays import Replay
from evalkit.season.season import Season

__all__ = ["Played", "check_ready", "play"]


@dataclass(frozen=True, slots=True)
class Played:
    """A run and the bytes of its replay; none where it is ungraded. `turns` are JSON Lines, where the agent has any."""

    run: SeasonRun
    replay: bytes | None
    turns: bytes | None = None


def play(
    season: Season | Path | str,
    *,
    level: str,
    difficulty: str | None = None,
    seed: int,
    agent: str | Agent | LoadedAgent | type = "random",
    attempt: int = 1,
    reference: str | None = None,
    cheats: Collection[str] = (),
    dollar_cap: float | None = None,
    purse: Purse | None = None,
    tick_fuel: int = TICK_FUEL,
) -> Played:
    """Play one entry with one seed. Nothing is stored.

    `agent`: a reference as `load_agent` takes it, or an agent. `reference` (`anchor`, `floor`) and `cheats` default to
    what the agent says of itself; cheats are for an anchor alone. `dollar_cap` is checked after every call of the
    agent, and the action of the call that reached it is not played; `purse` is the cap of a whole sweep. Raises
    UsageError for what the season does not have and where the agent is not ready, AuthoringError where its game cannot
    be played, MachineError where this machine cannot.
    """
    if not isinstance(season, Season):
        from evalkit.season.manifest import open_season

        season = open_season(season)
    if reference not in (None, "anchor", "floor"):
        raise UsageError(f'a reference run is of the "anchor" or the "floor", not "{printable(reference)}"')
    if dollar_cap is not None and not (math.isfinite(dollar_cap) and dollar_cap > 0):
        raise UsageError(f"a dollar cap is a finite number above 0, not {dollar_cap}")
    loaded = agent if isinstance(agent, LoadedAgent) else load_agent(agent, season.root)
    if loaded.reference == "anchor" and reference == "floor":
        raise UsageError(f"{printable(loaded.name)} is the anchor: its runs are the operator's routes, and no floor")
    setting = Setting(
        season=season,
        entry=season.entry(level, difficulty),
        seed=seed,
        agent=loaded.name,
        agent_digest=loaded.digest,
        attempt=attempt,
        reference=reference or loaded.reference,
        cheats=tuple(sorted(set(cheats) or set(loaded.cheats))),
        dollar_cap=None if dollar_cap is None else float(dollar_cap),
        tick_fuel=tick_fuel,
    )
    check_ready(loaded, capped=dollar_cap is not None or purse is not None)
    asked = Asked(loaded.agent, setting, purse)
    if purse is not None and asked.pays and (said := purse.empty()):
        raise UsageError(f"not played: {said}")
    try:
        course = run_course(setting, asked)
    finally:
        with suppress(AgentFault):
            called(lambda: getattr(loaded.agent, "close", lambda: None)())
    graded = course.why is None
    replay = Replay(header=course.header, decisions=course.decisions, claims=course.claims, hash=course.hash)
    data = replay.to_bytes() if graded else None
    turns, provenance = _kept(loaded.agent)
    run = _run(course, setting, data, provenance)
    try:
        run.validate()
    except ValueError as error:  # nothing that an agent says of itself costs it its run
        run, turns = replace(run, provenance={"fault": printable(error)}), None
    more = {} if purse is None else {"sweep_dollar_cap": purse.cap}
    return Played(replace(run, provenance={**run.provenance, **more, **asked.illegal_choices()}), data, turns)


def check_ready(loaded: LoadedAgent, *, capped: bool) -> None:
    """Raise UsageError where an agent could not play now, or pays for calls that no cap could be held against."""

    def asked() -> str | None:
        if callable(ready := getattr(loaded.agent, "ready", None)):
            ready()
        return getattr(loaded.agent, "unpriced", None) if capped else None

    try:
        why = called(asked)
    except AgentFault as fault:
        known = isinstance(fault.error, UsageError)
        raise UsageError(fault.words if known else f"agent {printable(loaded.name)} is not ready: {fault}") from fault
    if why:
        raise UsageError(f"a dollar cap cannot be held: {why}")


def _kept(agent: Any) -> tuple[bytes | None, dict[str, Any]]:
    """What an agent says of the run beside its actions: its turns, and the provenance, which holds their digest."""

    def asked() -> tuple[bytes | None, dict[str, Any]]:
        said = agent.provenance() if callable(getattr(agent, "provenance", None)) else {}
        provenance: dict[str, Any] = dict(json.loads(canonical(said)))  # plain, whatever it was made of
        turns = agent.turns() if callable(getattr(agent, "turns", None)) else None
        if turns is None:
            return None, provenance
        lines = b"".join(canonical(turn) + b"\n" for turn in turns)
        read_turns(lines)
        check_model(provenance)
        return lines, {**provenance, "turns": hashlib.sha256(lines).hexdigest()}

    try:
        return called(asked)
    except AgentFault as fault:
        return None, {"fault": f"what the agent says of its run cannot be kept: {fault}"}


def _run(course: Course, setting: Setting, replay: bytes | None, provenance: dict[str, Any]) -> SeasonRun:
    return SeasonRun(
        **facts(course.header, course.claims),
        decision_budget=setting.budget,
        ungraded=course.why,
        engine=engine_name(),
        fuel=course.fuel,
        replay_digest=None if replay is None else hashlib.sha256(replay).hexdigest(),
        provenance=provenance,
    )
