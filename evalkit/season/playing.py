"""Why: one call plays a cell with an agent and leaves the facts and their proof.

A choice that is not legal is the agent's own play: a no-op is played in its place and counted, so that nobody escapes
what comes next. Where an agent's program fails (an exception, an account that cannot be), the run ends as
`agent_error`, ungraded, with words. Such a run, and one that this machine stopped, is kept without a replay, with what
it spent. A run that a sweep's cap cuts short is ungraded too: what other runs spent says nothing of this one.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from evalkit.errors import UsageError
from evalkit.reading import printable
from evalkit.records import SeasonRun, canonical, check_model, digest_id, read_turns
from evalkit.sandbox.console import TICK_FUEL, picture_of
from evalkit.sandbox.engine import engine_name
from evalkit.season.agents import Action, ActionSpec, Agent, LoadedAgent, Observation, Spec, Usage, load_agent
from evalkit.season.agents.guard import AgentFault, called
from evalkit.season.agents.protocol import noop
from evalkit.season.carts import begin
from evalkit.season.course import Choice, Course, Moment, Setting, Stop, run_course
from evalkit.season.game import BUTTONS, MOST_NAME
from evalkit.season.purse import Purse
from evalkit.season.replays import Replay
from evalkit.season.season import Season

__all__ = ["Played", "check_ready", "first_look", "play"]


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
    asked = _Asked(loaded.agent, setting, purse)
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


def first_look(season: Season, level: str, difficulty: str) -> tuple[Spec, Observation]:
    """What an agent is told, and what it sees at its first decision. Raises what `play` raises for the game."""
    seed = next(iter(season.seeds))
    setting = Setting(season=season, entry=season.entry(level, difficulty), seed=seed, agent="", agent_digest="")
    moment = Moment(season.playable(), begin(season, setting.entry, setting.intro_ticks).console)
    legal = {rule.name: rule.ticks for rule in moment.legal()}
    return _spec(setting, lambda dollars: False), _observation(moment, legal)


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
    header, claims = course.header, course.claims
    return SeasonRun(
        season=header.season,
        season_version=header.season_version,
        season_digest=header.season_digest,
        level=header.level,
        difficulty=header.difficulty,
        seed=header.seed,
        agent=header.agent,
        agent_digest=header.agent_digest,
        attempt=header.attempt,
        reference=header.reference,
        cheats=header.cheats,
        objectives_done=claims.objectives_done,
        objectives_total=claims.objectives_total,
        completed=claims.completed,
        died=claims.died,
        time_s=claims.time_s,
        decisions=claims.decisions,
        decision_budget=setting.budget,
        ticks=claims.ticks,
        tokens=claims.tokens,
        dollars=claims.dollars,
        dollar_cap=claims.dollar_cap,
        ended_by=claims.ended_by,
        ungraded=course.why,
        game_digest=header.game_digest,
        engine=engine_name(),
        fuel=course.fuel,
        replay_digest=None if replay is None else hashlib.sha256(replay).hexdigest(),
        provenance=provenance,
    )


class _Asked:
    """An agent as a source of actions, and what it may still spend."""

    def __init__(self, agent: Agent, setting: Setting, purse: Purse | None) -> None:
        self._agent, self._setting, self._purse = agent, setting, purse
        self._spec = _spec(setting, self._may_spend)
        self._buttons = {action.name: action.buttons for action in self._spec.actions}
        self._usage = Usage()
        self._paid = 0.0
        self.pays = hasattr(type(agent), "unpriced") or "unpriced" in getattr(agent, "__dict__", {})
        self._illegal: list[str] = []

    def choose(self, number: int, ticks: int, moment: Moment) -> Choice | Stop:
        self._legal = {
            rule.name: rule.ticks for rule in moment.legal()
        }  # none: the game file is at fault, not the agent
        choice: Choice | str = ""
        fault = None
        try:
            if number == 1:
                called(lambda: self._agent.reset(self._spec, _seed(self._setting)))
            choice = called(lambda: _choice(self._agent.decide(_observation(moment, dict(self._legal)))))
        except AgentFault as error:
            fault = Stop("agent_error", printable(f"decision {number}: {error}", 400))
        try:
            self._usage = called(_usage, self._agent)  # also where it failed: what it spent is spent
        except AgentFault as error:
            fault = fault or Stop("agent_error", printable(f"decision {number}: usage: {error}", 400))
        stop = self._over(number)
        if fault or stop:
            return fault or stop  # type: ignore[return-value]  # one of them is there
        return choice if isinstance(choice, Choice) else self.illegal(number, ticks, choice)

    def illegal_choices(self) -> dict[str, Any]:
        """For the run's record: how many choices were not legal, and what was wrong with the first; else nothing."""
        return {"illegal_choices": len(self._illegal), "first_illegal": self._illegal[0]} if self._illegal else {}

    def _may_spend(self, dollars: float | None) -> bool:
        """Whether a run that has spent so much may make another call."""
        cap = self._setting.dollar_cap
        if dollars is None:
            return cap is None and self._purse is None
        return (cap is None or dollars < cap) and not self._pay(dollars)

    def _pay(self, dollars: float) -> str | None:
        """Pay into the purse what came new; in a line that it is empty, and None where this run may go on."""
        if self._purse is None or not (self.pays or dollars > 0):
            return None
        self._purse.pay(dollars - self._paid)
        self._paid = dollars
        return self._purse.empty()

    def _over(self, number: int) -> Stop | None:
        cap, dollars = self._setting.dollar_cap, self._usage.dollars
        empty = None if dollars is None else self._pay(dollars)
        if cap is not None and dollars is not None and dollars >= cap:
            return Stop("dollar_cap")
        if empty:
            return Stop("agent_error", f"decision {number}: {empty}")
        if dollars is None and self.pays and (cap is not None or self._purse is not None):
            return Stop("agent_error", f"decision {number}: the endpoint does not say what it used: no cap can be held")
        return None

    def illegal(self, number: int, ticks: int, fault: str) -> Choice:
        del ticks
        self._illegal.append(printable(f"decision {number}: {fault}", 400))
        action = noop(self._legal, self._buttons)
        return Choice(action.name, action.ticks)

    def played(self, number: int, ticks: int, digest: str) -> None:
        pass

    def spent(self) -> tuple[int | None, float | None]:
        return self._usage.tokens, self._usage.dollars


def _observation(moment: Moment, legal: dict[str, tuple[int, ...]]) -> Observation:
    memory, game = moment.console.memory, moment.game
    seen = {variable.name: variable.read(memory) for variable in game.observed}
    # A copy of the screen: what the agent holds leads to no console, and shows this decision also later.
    return Observation(seen, legal, partial(picture_of, moment.console.screen()) if game.picture else None)


def _choice(action: object) -> Choice | str:
    """What an agent returned, as plain values; in words why, where it is no action at all."""
    if isinstance(action, Action):
        name, ticks = action.name, action.ticks
        if isinstance(name, str) and type(ticks) is int:
            # Cut short where no game could have it: words about it shall cost nothing. A StrEnum is the text it is.
            return Choice(str.__str__(name)[: MOST_NAME + 1], max(-1, min(ticks, 1 << 31)))
    try:
        said = printable(repr(action), 80)
    except Exception:
        said = "what it returned"
    return f"{said} is no Action(name, ticks)"


def _usage(agent: Any) -> Usage:
    if not hasattr(agent, "usage"):
        return Usage()
    usage = agent.usage()
    tokens, dollars = usage.tokens, usage.dollars
    if tokens is not None and (type(tokens) is not int or not 0 <= tokens < 2**63):
        raise ValueError(f"tokens are {tokens!r}, not a whole number from 0")
    if dollars is not None:
        dollars = abs(float(dollars)) if dollars == 0 else float(dollars)
        if not 0 <= dollars < 1e12:
            raise ValueError(f"dollars are {dollars!r}, not a number from 0")
    return Usage(tokens, dollars)


def _spec(setting: Setting, may_spend: Callable[[float | None], bool]) -> Spec:
    game = setting.season.playable()
    actions = tuple(
        ActionSpec(rule.name, rule.ticks, tuple(b for b, bit in BUTTONS.items() if rule.pad & bit), rule.description)
        for rule in game.actions.values()
    )
    return Spec(
        level=setting.entry.level,
        difficulty=setting.entry.difficulty,
        variables=tuple(variable.name for variable in game.observed),
        picture=game.picture,
        actions=actions,
        decision_budget=setting.budget,
        tick_limit=setting.season.tick_limit,
        may_spend=may_spend,
    )


def _seed(setting: Setting) -> int:
    """The agent's own seed, from the job key."""
    names = (setting.season.digest, *setting.entry.key, str(setting.seed), setting.agent, setting.agent_digest)
    return int(digest_id((*names, str(setting.attempt))), 16)
