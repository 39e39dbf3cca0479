"""Why: what a run looked like is not stored; it is played again from its replay, and each picture is the game's own.

The replay is verified first, so that whoever watches knows whether the pictures are of the run that was recorded.
A reference run is never shown: its replay is the operator's route.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import UsageError
from evalkit.sandbox.console import Console
from evalkit.season.agents.protocol import png
from evalkit.season.carts import begin
from evalkit.season.course import TICKS_A_SECOND, Choice, Moment
from evalkit.season.game import BUTTONS
from evalkit.season.replays import Claims, Decision, Header, read_replay
from evalkit.season.season import Season
from evalkit.season.verifying import Verification, verify

__all__ = ["MOST_FRAMES", "Frame", "Watched", "watch_replay"]

MOST_FRAMES = 4000
"""Of one watched run: about 2 KB each, and more than a minute of play at one for each tick."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The screen after `tick` ticks of play, within or at the end of decision `decision` (from 1; 0: play begins).

    `png` is the screen as a file, 160 x 160; `variables` are all that the game file names; `buttons` are those that
    were held up to here.
    """

    decision: int
    tick: int
    png: bytes
    variables: Mapping[str, int]
    buttons: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Game time since play began."""
        return self.tick / TICKS_A_SECOND


@dataclass(frozen=True, slots=True)
class Watched:
    """A run played again: its replay's header, decisions and claims, what verifying said, and the frames in order."""

    header: Header
    decisions: tuple[Decision, ...]
    claims: Claims
    verification: Verification
    frames: tuple[Frame, ...]


def watch_replay(replay: bytes, season: Season | Path | str, *, every: int | None = None) -> Watched:
    """Play a replay again and take a picture as play begins and after each decision, or also each `every` ticks.

    `replay` is the bytes, as `store.replay(run_id)` gives them; `season` a path, `slug[@version]`, or an opened one.
    In a notebook, `evalkit.views.seasons.player.show(watched)` shows what came of it.
    A replay that drifts is shown as far as its actions can be played; `verification.drift` says from where on it is
    not the run that was recorded. Raises ReplayError for what is no replay, UsageError for a reference run, for one
    of another season, game or cell, for `every` below 1, and for more than MOST_FRAMES pictures.
    """
    read = read_replay(replay)
    if read.header.reference is not None:
        raise UsageError(f"run {read.header.run_id} is a reference run: its replay stays with the operator, unseen")
    if every is not None and every < 1:
        raise UsageError(f"a picture each {every} ticks: it must be 1 or more")
    if not isinstance(season, Season):
        from evalkit.season.manifest import open_season

        season = open_season(season)
    answer = verify(replay, season)
    if answer.refused is not None:
        raise UsageError(f"run {read.header.run_id} cannot be watched: {answer.refused}")
    pictures = sum(1 if every is None else -(-row.ticks // every) for row in read.decisions)
    if pictures > MOST_FRAMES:
        raise UsageError(f"that is {pictures:,} pictures, more than {MOST_FRAMES:,}: take one each few more ticks")
    frames = tuple(_frames(season, read.header, read.decisions, every))
    return Watched(read.header, read.decisions, read.claims, answer, frames)


def _frames(season: Season, header: Header, decisions: tuple[Decision, ...], every: int | None) -> list[Frame]:
    game = season.playable()
    begun = begin(season, season.entry(header.level, header.difficulty), header.intro_ticks, header.cheats)
    console, tick = begun.console, 0
    moment = Moment(game, console)

    def taken(decision: int, pad: int = 0) -> Frame:
        held = tuple(name for name, bit in BUTTONS.items() if pad & bit)
        return Frame(decision, tick, png(console.picture()), _variables(season, console), held)

    frames = [taken(0)]
    for number, row in enumerate(decisions, 1):
        if moment.fault(Choice(row.action, row.ticks)) is not None:
            break
        left = min(row.ticks, season.tick_limit - tick)
        while left > 0:
            asked = min(left, every or left)
            pad = game.actions[row.action].pad
            ran = console.run(bytes([pad]) * asked)
            tick, left = tick + ran.ticks, left - asked
            frames.append(taken(number, pad))
            if ran.stopped_by is not None or ran.trap or ran.limit:
                return frames
    return frames


def _variables(season: Season, console: Console) -> dict[str, int]:
    memory = console.memory
    return {name: variable.read(memory) for name, variable in season.playable().variables.items()}
