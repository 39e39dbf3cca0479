"""Why: a replay is believed only after the game itself has said again all that it claims.

Verified means: from the season's own boot, these inputs, each a legal action held for an allowed time, lead through
exactly these states to exactly these facts, and to this score. It does not show who chose the inputs, nor what that
cost: name, tokens and dollars are only bound to the play.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit.errors import MachineError, ReplayError, UsageError
from evalkit.reading import printable
from evalkit.sandbox.console import TICK_FUEL
from evalkit.sandbox.engine import engine_name
from evalkit.season.course import Choice, Moment, Setting, Stop, run_course
from evalkit.season.replays import Claims, Header, Replay, load_bytes, read_replay
from evalkit.season.score import run_score
from evalkit.season.season import Season

__all__ = ["Drift", "Verification", "verify"]


@dataclass(frozen=True, slots=True)
class Drift:
    """The first decision (from 1; 0: none) after which replay and game differ, its last tick, and what differs."""

    decision: int
    tick: int
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What came of replaying: `verified` with its score; or the `drift`; or why the file was `refused` unplayed.

    `verified` is None where this machine could not play it to its end, which says nothing of the replay.
    """

    verified: bool | None
    drift: Drift | None = None
    score: float | None = None
    refused: str | None = None
    run_id: str | None = None
    engine: str | None = None


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


def verify(source: Path | str | bytes, season: Season | Path | str, *, tick_fuel: int = TICK_FUEL) -> Verification:
    """Replay a file (or its bytes) on a season's game and say whether all of it holds.

    Raises AuthoringError or UsageError where the season itself cannot be played; whatever is wrong with the replay is
    in the answer.
    """
    if not isinstance(season, Season):
        from evalkit.season.manifest import open_season

        season = open_season(season)
    run_id = None
    try:
        replay = read_replay(source if isinstance(source, bytes) else load_bytes(source))
        run_id = replay.header.run_id
        setting = _setting(replay, season, tick_fuel)
    except ReplayError as error:
        return Verification(verified=False, refused=str(error), run_id=run_id)
    found: dict[str, Any] = {"run_id": run_id, "engine": engine_name()}
    try:
        drift, claims = _replayed(replay, setting)
    except MachineError as error:
        return Verification(verified=None, refused=str(error), **found)
    if drift is not None:
        return Verification(verified=False, drift=drift, **found)
    return Verification(verified=True, score=_score(claims, setting), **found)


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
    if claims.ended_by == "dollar_cap" and not (
        claims.dollars is not None and claims.dollar_cap is not None and claims.dollars >= claims.dollar_cap
    ):
        raise ReplayError("claims: ended_by is dollar_cap, and dollars do not reach a dollar_cap")
    return setting


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
