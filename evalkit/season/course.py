"""Why: playing and proving are this one loop; only where its actions come from differs.

A `Source` chooses; the loop checks that the choice is legal, plays it in one call, chains the hash, and says how the
run ended. The game alone decides what a run is worth: its numbers are read here, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from evalkit.errors import AuthoringError, UsageError
from evalkit.reading import did_you_mean, printable
from evalkit.sandbox.console import TICK_FUEL, Console
from evalkit.season.carts import Begun, begin, watched
from evalkit.season.game import ActionRule, Game
from evalkit.season.replays import MAX_DECISIONS, Chain, Claims, Decision, Header
from evalkit.season.season import Entry, Season

__all__ = ["TICKS_A_SECOND", "Choice", "Course", "Moment", "Setting", "Source", "Stop", "run_course"]

TICKS_A_SECOND = 60


@dataclass(frozen=True, slots=True)
class Choice:
    """An action by name, and for how many ticks its buttons are held."""

    action: str
    ticks: int


@dataclass(frozen=True, slots=True)
class Stop:
    """The run ends before another decision: `dollar_cap`, or `agent_error` with words for a person."""

    ended_by: str
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """The game between two decisions, as a source may look at it."""

    game: Game
    console: Console

    def legal(self) -> tuple[ActionRule, ...]:
        """The actions that may be chosen now. Raises AuthoringError where there is none."""
        memory = self.console.memory
        found = tuple(rule for rule in self.game.actions.values() if rule.is_legal(memory))
        if not found:
            raise AuthoringError(f"{self.game.name}: no action is legal, and the mission is not over: mend [actions]")
        return found

    def fault(self, choice: Choice) -> str | None:
        """Why a choice may not be made now, or None."""
        actions = self.game.actions
        rule = actions.get(choice.action)
        if rule is None:
            near = did_you_mean(choice.action, actions) or f": there are {', '.join(actions)}"
            return f'there is no action "{printable(choice.action, 60)}"{near}'
        if choice.ticks not in rule.ticks:
            return f"{rule.name} may be held for {' or '.join(map(str, rule.ticks))} ticks, not {choice.ticks:,}"
        if not rule.is_legal(self.console.memory):
            return f"{rule.name} is not legal now: {rule.when.text if rule.when else ''} does not hold"
        return None


class Source(Protocol):
    """Where actions come from: an agent, or a replay."""

    def choose(self, number: int, ticks: int, moment: Moment) -> Choice | Stop:
        """Decision `number`, from 1, `ticks` after play began."""

    def illegal(self, number: int, ticks: int, fault: str) -> Choice | Stop:
        """The choice just made may not be; give a legal one in its place, or say how the run ends."""

    def played(self, number: int, ticks: int, digest: str) -> None:
        """The choice was played; the hash after it."""

    def spent(self) -> tuple[int | None, float | None]:
        """Tokens and dollars so far, None where unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Which cell is played, by whom, under which limits."""

    season: Season
    entry: Entry
    seed: int
    agent: str
    agent_digest: str
    attempt: int = 1
    reference: str | None = None
    cheats: tuple[str, ...] = ()
    dollar_cap: float | None = None
    tick_fuel: int = TICK_FUEL

    def __post_init__(self) -> None:
        known = self.season.playable().boot.cheats
        if self.cheats and self.reference != "anchor":
            raise UsageError(f"{', '.join(self.cheats)}: only a reference run of the anchor may have cheats")
        for cheat in self.cheats:
            if cheat not in known:
                near = did_you_mean(cheat, known) or f": there are {', '.join(known) or 'none'}"
                raise UsageError(f'the game has no cheat "{printable(cheat)}"{near}')

    @property
    def budget(self) -> int | None:
        """How many decisions the run may take; the anchor's autopilot has no limit but that of ticks."""
        return None if self.reference == "anchor" else self.entry.decision_budget

    @property
    def intro_ticks(self) -> int:
        """Ticks before play begins."""
        return self.season.intro_ticks(self.seed)

    def header(self, disk: bytes) -> Header:
        """What the replay of such a run begins with."""
        season = self.season
        return Header(
            season=season.slug,
            season_version=season.version,
            season_digest=season.digest,
            game_digest=season.playable().digest,
            boot=disk.hex(),
            cheats=tuple(sorted(self.cheats)),
            level=self.entry.level,
            difficulty=self.entry.difficulty,
            seed=self.seed,
            intro_ticks=self.intro_ticks,
            agent=self.agent,
            agent_digest=self.agent_digest,
            attempt=self.attempt,
            reference=self.reference,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a run went. `why` is set where it is ungraded: by `fuel`, `stack`, `wall` or `agent_error`."""

    header: Header
    decisions: tuple[Decision, ...]
    claims: Claims
    hash: str
    fuel: int
    why: str | None = None


def run_course(setting: Setting, source: Source) -> Course:
    """Play one cell from its boot to its end. Raises as `carts.begin` does, and whatever the source raises."""
    season, game = setting.season, setting.season.playable()
    begun = begin(season, setting.entry, setting.intro_ticks, setting.cheats, setting.tick_fuel)
    console, endings, budget = begun.console, watched(game), setting.budget
    moment, header = Moment(game, console), setting.header(begun.disk)
    chain = Chain(console, header)
    decisions: list[Decision] = []
    ticks = 0
    ended: Stop | None = None
    while ended is None:
        number = len(decisions) + 1
        if budget is not None and number > budget:
            ended = Stop("budget")
            break
        if number > MAX_DECISIONS:
            raise UsageError(
                f"a run of more than {MAX_DECISIONS:,} decisions cannot be proven: hold actions for longer"
            )
        chosen = source.choose(number, ticks, moment)
        if isinstance(chosen, Choice) and (fault := moment.fault(chosen)):
            chosen = source.illegal(number, ticks, fault)
        if isinstance(chosen, Stop):
            ended = chosen
            break
        pads = bytes([game.actions[chosen.action].pad]) * chosen.ticks
        ran = console.run(pads[: season.tick_limit - ticks])
        ticks += ran.ticks
        if ran.limit:
            ended = Stop(ran.limit, f"this machine stopped the game at tick {ticks:,}: {ran.limit}")
            break
        digest = chain.add(number, pads)
        decisions.append(Decision(chosen.action, chosen.ticks, digest))
        source.played(number, ticks, digest)
        if ran.trap:
            ended = Stop("trap")
        elif ran.stopped_by is not None:
            ended = Stop(endings[ran.stopped_by])
        elif ticks >= season.tick_limit:
            ended = Stop("tick_limit")
    tokens, dollars = source.spent()
    claims = _claims(begun, game, ended.ended_by, ticks, len(decisions), tokens, dollars, setting.dollar_cap)
    return Course(
        header=header,
        decisions=tuple(decisions),
        claims=claims,
        hash=chain.end(claims),
        fuel=console.fuel,
        why=ended.why,
    )


def _claims(
    begun: Begun,
    game: Game,
    ended_by: str,
    ticks: int,
    decisions: int,
    tokens: int | None,
    dollars: float | None,
    dollar_cap: float | None,
) -> Claims:
    memory, status = begun.console.memory, game.status
    completed = ended_by == "completed"
    over = ended_by in ("completed", "died", "failed")
    return Claims(
        objectives_done=status.objectives.credited(memory, begun.objectives),
        objectives_total=begun.total,
        completed=completed,
        died=over and status.died is not None and status.died.holds(memory),
        time_s=ticks / TICKS_A_SECOND if completed else None,
        ticks=ticks,
        decisions=decisions,
        ended_by=ended_by,
        tokens=tokens,
        dollars=dollars,
        dollar_cap=dollar_cap,
    )
