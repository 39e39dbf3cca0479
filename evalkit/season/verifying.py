"""Why: a replay is believed only after the game itself has said again all that it claims.

Verified means: from the season's own boot, these inputs, each a legal action held for an allowed time, lead through
exactly these states to exactly these facts, and to this score. It does not show who chose the inputs, nor what that
cost. Only bound to the play, and claimed, are: the agent's name and digest, the attempt, whether it is a reference,
tokens, dollars and the dollar cap; and that a run which ends by its dollar cap ended there, since its spending is what
ended it: such a result carries a `note`. The chain guards against accident and partial edits. It has no key, so whoever
writes a whole replay anew can put another name on it, or the cap at another place; the witness of those is the
operator's store alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from evalkit.errors import MachineError, ReplayError, UsageError
from evalkit.reading import printable
from evalkit.records import CAPPED
from evalkit.sandbox.console import TICK_FUEL
from evalkit.sandbox.engine import engine_name
from evalkit.season.course import Choice, Moment, Setting, Stop, run_course
from evalkit.season.replays import Claims, Header, Replay, load_bytes, read_replay
from evalkit.season.score import run_score
from evalkit.season.season import Season

__all__ = ["Drift", "Verification", "verify"]


@dataclass(frozen=True, slots=True)
class Drift:
    """The first decision (from 1) after which replay and game differ, its last tick, and what differs.

    Decision 0: not the play, but what is said of it, as where a record is not what its replay says.
    """

    decision: int
    tick: int
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What came of replaying: `verified` with its score; or the `drift`; or why the file was `refused` unplayed.

    `verified` is None where this machine could not play it to its end, which says nothing of the replay. `note` is
    what even a verified replay only claims. `season` (`slug@version`), its digest and its folder say what it was held
    against, and `decision_budget` what a run of its header may take there.
    """

    verified: bool | None
    drift: Drift | None = None
    score: float | None = None
    refused: str | None = None
    run_id: str | None = None
    engine: str | None = None
    note: str | None = None
    season: str | None = None
    season_digest: str | None = None
    season_folder: Path | None = None
    decision_budget: int | None = None


class _Drifted(Exception):
    def __init__(self, decision: int, tick: int, what: str) -> None:
        super().__init__(what)
        self.drift = Drift(decision, tick, what)


class _Played:
    """A replay as a source of actions, holding every hash against the game's."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay

    def choose(self, number: int, ticks: int, moment: Moment) -> Choice | Stop:
        del moment
        rows = self._replay.decisions
        if number <= len(rows):
            return Choice(rows[number - 1].action, rows[number - 1].ticks)
        if self._replay.claims.ended_by == "dollar_cap":
            return Stop("dollar_cap")
        raise _Drifted(number - 1, ticks, f"the replay ends after decision {number - 1}, and nothing had ended the run")

    def illegal(self, number: int, ticks: int, fault: str) -> Stop:
        raise _Drifted(number, ticks, fault)

    def played(self, number: int, ticks: int, digest: str) -> None:
        if self._replay.decisions[number - 1].hash != digest:
            other = "header, input, state" if number == 1 else "input, state"
            raise _Drifted(number, ticks, f"the hash: {other} or the hash itself is another")

    def spent(self) -> tuple[int | None, float | None]:
        return self._replay.claims.tokens, self._replay.claims.dollars


def verify(
    source: Path | str | bytes | Replay, season: Season | Path | str, *, tick_fuel: int = TICK_FUEL
) -> Verification:
    """Replay a file (or its bytes, or what was read of them) on a season's game and say whether all of it holds.

    Raises AuthoringError or UsageError where the season itself cannot be played; whatever is wrong with the replay is
    in the answer.
    """
    if not isinstance(season, Season):
        from evalkit.season.manifest import open_season

        season = open_season(season)
    answer = Verification(
        verified=False,
        engine=engine_name(),
        season=f"{season.slug}@{season.version}",
        season_digest=season.digest,
        season_folder=season.root,
    )
    try:
        if not isinstance(source, Replay):
            source = read_replay(source if isinstance(source, bytes) else load_bytes(source))
        answer = replace(answer, run_id=source.header.run_id)
        setting = _setting(source, season, tick_fuel)
    except ReplayError as error:
        return replace(answer, refused=str(error))
    answer = replace(answer, decision_budget=setting.budget)
    try:
        drift, claims = _replayed(source, setting)
    except MachineError as error:
        return replace(answer, verified=None, refused=str(error))
    if drift is not None:
        return replace(answer, drift=drift)
    note = CAPPED if claims.ended_by == "dollar_cap" else None
    return replace(answer, verified=True, score=_score(claims, setting), note=note)


def _setting(replay: Replay, season: Season, tick_fuel: int) -> Setting:
    """The cell that a replay is of, taken from the season. Raises ReplayError where its header is not of there."""
    header, claims = replay.header, replay.claims
    for key, words in (("season", "season"), ("season_version", "version"), ("season_digest", "digest")):
        _same(header, key, getattr(season, words if key != "season" else "slug"), f"another season's {words}")
    game = season.playable()
    _same(header, "game_digest", game.digest, "another game's digest")
    try:
        setting = Setting(
            season=season,
            entry=season.entry(header.level, header.difficulty),
            seed=header.seed,
            agent=header.agent,
            agent_digest=header.agent_digest,
            attempt=header.attempt,
            reference=header.reference,
            cheats=header.cheats,
            dollar_cap=claims.dollar_cap,
            tick_fuel=tick_fuel,
        )
        _same(header, "intro_ticks", setting.intro_ticks, f"not the intro of seed {header.seed}")
    except UsageError as error:
        raise ReplayError(f"header: {error}") from None
    disk = game.boot.disk(header.level, header.difficulty, header.cheats)
    _same(header, "boot", disk.hex(), "not the boot data of its level, difficulty and cheats")
    if setting.budget is not None and len(replay.decisions) > setting.budget:
        raise ReplayError(f"decisions: {len(replay.decisions):,}, more than the budget of {setting.budget}")
    _check_spending(claims)
    return setting


def _check_spending(claims: Claims) -> None:
    """What no run can say of its dollars, since a cap is above 0, and reaching it ends a run there and then."""
    dollars, cap = claims.dollars, claims.dollar_cap
    if cap is not None and cap <= 0:
        raise ReplayError("claims: dollar_cap must be above 0, or null")
    reached = dollars is not None and cap is not None and dollars >= cap
    if claims.ended_by == "dollar_cap" and not reached:
        raise ReplayError("claims: ended_by is dollar_cap, and dollars do not reach a dollar_cap")
    if reached and claims.ended_by != "dollar_cap":
        raise ReplayError(f"claims: dollars reach the dollar_cap, and ended_by is {printable(claims.ended_by, 60)}")


def _same(header: Header, key: str, expected: object, what: str) -> None:
    if getattr(header, key) != expected:
        found = printable(getattr(header, key), 70)
        raise ReplayError(f"header: {key} is {found}: {what} (here {printable(expected, 70)})")


def _replayed(replay: Replay, setting: Setting) -> tuple[Drift | None, Claims]:
    source = _Played(replay)
    try:
        course = run_course(setting, source)
    except _Drifted as drifted:
        return drifted.drift, replay.claims
    last, shown = len(course.decisions), course.claims
    if course.why is not None:
        raise MachineError(course.why)
    if last < len(replay.decisions):
        what = f"the run had ended after decision {last} ({shown.ended_by}), and the replay goes on"
        return Drift(last + 1, shown.ticks, what), shown
    for key in Claims.__slots__:
        claimed, is_so = getattr(replay.claims, key), getattr(shown, key)
        if claimed != is_so:
            what = f"claims.{key}: {printable(claimed, 60)} is claimed, and the game shows {is_so}"
            return Drift(last, shown.ticks, what), shown
    if course.hash != replay.hash:
        return Drift(last, shown.ticks, "the last hash: the claims or the hash are others"), shown
    return None, shown


def _score(claims: Claims, setting: Setting) -> float:
    return run_score(
        objectives_done=claims.objectives_done,
        objectives_total=claims.objectives_total,
        completed=claims.completed,
        time_s=claims.time_s,
        anchor_s=setting.entry.anchor_s,
        died=claims.died,
        rules=setting.season.rules,
    )
