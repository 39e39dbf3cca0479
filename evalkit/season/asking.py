"""Why: an agent is asked for one action after another, and neither its program nor its spending can unmake a run.

A choice that is not legal is the agent's own play: a no-op is played in its place and counted, so that nobody escapes
what comes next. Where an agent's program fails (an exception, an account that cannot be), the run ends as
`agent_error`, ungraded, with words; so does a run that a sweep's cap cuts short, as what other runs spent says nothing
of this one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from evalkit.reading import printable
from evalkit.records import digest_id
from evalkit.sandbox.console import picture_of
from evalkit.season.agents import Action, ActionSpec, Agent, Observation, Spec, Usage
from evalkit.season.agents.guard import AgentFault, called
from evalkit.season.agents.protocol import noop
from evalkit.season.carts import begin
from evalkit.season.course import Choice, Moment, Setting, Stop
from evalkit.season.game import BUTTONS, MOST_NAME
from evalkit.season.purse import Purse
from evalkit.season.season import Season

__all__ = ["Asked", "first_look"]


def first_look(season: Season, level: str, difficulty: str) -> tuple[Spec, Observation]:
    """What an agent is told, and what it sees at its first decision. Raises what `play` raises for the game."""
    seed = next(iter(season.seeds))
    setting = Setting(season=season, entry=season.entry(level, difficulty), seed=seed, agent="", agent_digest="")
    moment = Moment(season.playable(), begin(season, setting.entry, setting.intro_ticks).console)
    legal = {rule.name: rule.ticks for rule in moment.legal()}
    return _spec(setting, lambda dollars: False), _observation(moment, legal)


class Asked:
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
        """Ask the agent, take note of what it has spent, and give what is played, or why nothing is any more."""
        # Outside of what may be the agent's fault: that no action is legal is the game file's.
        self._legal = {rule.name: rule.ticks for rule in moment.legal()}
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
        """The no-op that is played in place of a choice that is not legal; it is counted."""
        del ticks
        self._illegal.append(printable(f"decision {number}: {fault}", 400))
        action = noop(self._legal, self._buttons)
        return Choice(action.name, action.ticks)

    def played(self, number: int, ticks: int, digest: str) -> None:
        """An agent is not told the hashes."""

    def spent(self) -> tuple[int | None, float | None]:
        """Tokens and dollars so far, None where unknown."""
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
