"""Why: a season run as a document or as text; its score comes from its season, so the season is looked up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalkit.cli.output import figure, line, table
from evalkit.records import CAPPED, PerformanceRun, ReviewedRun, SeasonRun
from evalkit.season.known import Seasons, parts_of, score_of

__all__ = [
    "PROOF", "Seasons", "practice_line", "public", "score_of", "season_lines", "season_run_lines", "turn_lines",
]  # fmt: skip


PROOF = {True: "verified", False: "fails", None: "not replayed"}
"""What is said of a run, or of the runs behind a row, by whether replaying them here bore them out."""


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
    return PROOF[run.verified]


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
    pace = "not completed" if run.time_s is None else f"completed in T {run.time_s:.2f} s"
    against = "no anchor" if anchor is None else f"anchor {figure(anchor)} s"
    yield f"  score {figure(score, '.2f')}: {done}, {pace}, {against}{', died' if run.died else ''}"
    if parts := parts_of(run, seasons):
        said = ", ".join(f"{name} {points:.2f}" for name, points in parts.items())
        yield f"  in parts: {said}" + ("; a score is never below 0" if sum(parts.values()) < 0 else "")
    if practice := practice_line(run, seasons):
        yield f"  {practice}"
    yield f"  {run.decisions} decisions of {figure(run.decision_budget)}, {run.ticks:,} ticks, {spent}"
    if calls := _calls_line(run):
        yield calls
    if run.reference:
        cheats = f", with {', '.join(run.cheats)}" if run.cheats else ""
        yield f"  reference: {run.reference}{cheats}; it takes no rank"
    yield f"  {_proof(run)}" + (f" on {run.verified_on} at {run.verified_at}" if run.verified_at else "")
    if run.ended_by == "dollar_cap":
        yield f"  {CAPPED}"
    if run.drift:
        at = f"drift at decision {run.drift['decision']}, tick {run.drift['tick']}: " if run.drift["decision"] else ""
        yield f"  {at}{line(run.drift['what'])}"
    if other := _other(run, seasons):
        yield f"  recorded {other}: {run.season_digest[:16]}"


def practice_line(run: SeasonRun, seasons: Seasons) -> str | None:
    """That a run counts in no standing for its seed, and why; None where its seed is one of the season's."""
    season = seasons.of(run)
    if season is None or run.seed in season.seeds:
        return None
    kind = "is for practice" if run.seed in season.practice_seeds else "is none of the season's"
    seeds = ", ".join(map(str, season.seeds))
    return f"seed {run.seed} {kind}: the run is kept and counts in no standing, which is over seeds {seeds}"


def _calls_line(run: SeasonRun) -> str | None:
    """How the calls of a model-backed run went, in a line; None for any other run."""
    said = run.provenance
    counts = {name: said.get(name) for name in ("calls", "malformed", "noops", "unanswered", "without_usage")}
    usage = said.get("usage")
    if not isinstance(usage, dict) or not all(isinstance(value, int) for value in counts.values()):
        return None
    spent = ", ".join(f"{figure(usage.get(name))} {name}" for name in ("input", "cached", "output", "reasoning"))
    went = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in counts.items())
    return f"  {line(said.get('model'), 60)}: {went}; tokens {spent}; {line(said.get('prices') or 'unpriced', 60)}"


def turn_lines(turns: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A turn as text: what was played, what was shown, and each call with its answer, fault and cost."""
    for turn in turns:
        yield from (f"  | {line(told)}" for told in (turn.get("system") or "").splitlines())
        numbers = ", ".join(f"{name} {value}" for name, value in turn["observation"].get("numbers", {}).items())
        played = f"{line(turn['action'] or 'nothing played')}{' (no-op)' if turn['noop'] else ''}"
        yield f"  {turn['decision']}: {played}" + (f"   at {line(numbers, 120)}" if numbers else "")
        for call in turn["calls"]:
            tokens = call["tokens"] or {}
            spent = f"{figure(tokens.get('input'))} in, {figure(tokens.get('output'))} out"
            fault = f" [{line(call['fault'])}]" if call["fault"] else ""
            cost = f"{spent}, {figure(call['dollars'], '.6f')} dollars"
            yield f"     {line(call['answer'] or '(nothing)', 160)}{fault} ({cost})"
