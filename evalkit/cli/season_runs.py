"""Why: a season run as a document or as text; its score comes from its season, so the season is looked up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evalkit.cli.output import figure, line, table
from evalkit.records import PerformanceRun, ReviewedRun, SeasonRun
from evalkit.season.known import Seasons, score_of

__all__ = ["Seasons", "public", "score_of", "season_lines", "season_run_lines"]


def public(run: PerformanceRun | ReviewedRun | SeasonRun, seasons: Seasons) -> dict[str, Any]:
    """The document of any run."""
    if not isinstance(run, SeasonRun):
        return run.public()
    score, anchor = score_of(run, seasons)
    return run.public(score=score, anchor_s=anchor)


def season_lines(runs: Sequence[SeasonRun], seasons: Seasons) -> list[str]:
    """A line a run, under a head."""
    head = ("run", "season", "level", "difficulty", "seed", "agent", "score", "ended by", "proof", "recorded", "")
    return table(head, [_row(run, seasons) for run in runs])


def _row(run: SeasonRun, seasons: Seasons) -> list[str]:
    cell = [line(name, 40) for name in (run.season, run.level, run.difficulty, run.seed, run.agent)]
    when = (run.recorded_at or "-")[:16].replace("T", " ")
    said = f"voided: {line(run.voided, 60)}" if run.voided else _other(run, seasons)
    return [run.run_id, *cell, figure(score_of(run, seasons)[0], ".2f"), run.ended_by, _proof(run), when, said]


def _other(run: SeasonRun, seasons: Seasons) -> str:
    season = seasons.of(run)
    return "of another season digest" if season and season.digest != run.season_digest else ""


def _proof(run: SeasonRun) -> str:
    if run.ungraded is not None:
        return "ungraded"
    return {True: "verified", False: "drifts", None: "not replayed"}[run.verified]


def season_run_lines(run: SeasonRun, seasons: Seasons) -> Iterator[str]:
    """A run as text: what it is, how it went, its number, its proof."""
    score, anchor = score_of(run, seasons)
    cell = f"{line(run.level)} ({line(run.difficulty)}), seed {run.seed}"
    yield f"{run.ended_by}: {line(run.agent)} on {line(run.season)}, {cell}, run {run.run_id}"
    if run.voided:
        yield f"  voided: {line(run.voided)}"
    if run.ungraded:
        yield f"  ungraded: {line(run.ungraded)}"
    done = f"{run.objectives_done} of {run.objectives_total} objectives"
    spent = f"{figure(run.tokens)} tokens, {figure(run.dollars, '.4f')} dollars"
    yield f"  score {figure(score, '.2f')}: {done}, T {figure(run.time_s, '.2f')} s, anchor {figure(anchor)} s"
    yield f"  {run.decisions} decisions of {figure(run.decision_budget)}, {run.ticks:,} ticks, {spent}"
    if run.reference:
        cheats = f", with {', '.join(run.cheats)}" if run.cheats else ""
        yield f"  reference: {run.reference}{cheats}; it takes no rank"
    yield f"  {_proof(run)}" + (f" on {run.verified_on} at {run.verified_at}" if run.verified_at else "")
    if run.drift:
        yield f"  drift at decision {run.drift['decision']}, tick {run.drift['tick']}: {line(run.drift['what'])}"
    if other := _other(run, seasons):
        yield f"  recorded {other}: {run.season_digest[:16]}"
