"""Why: what the console's tabs hold, as tables and sentences made from one run and the runs around it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pandas as pd

from evalkit.errors import EvalkitError
from evalkit.performance.case import Case
from evalkit.performance.rank import LeaderboardRow, fold_model, place
from evalkit.records import Outcome, PerformanceRun, ReviewedRun, SeasonRun
from evalkit.season.score import run_score, score_parts
from evalkit.season.season import Season
from evalkit.store import Store
from evalkit.views import prose, reviews, tables
from evalkit.views.cells import named, number, rows_of
from evalkit.views.formats import DASH, grouped, times
from evalkit.views.frames import input_rows, is_ranked
from evalkit.views.grid import Cell, Column, Table
from evalkit.views.names import html, short
from evalkit.views.seasons import tables as seasons
from evalkit.views.turns import turn_frame, turn_table, turns_of

__all__ = ["Page", "bare", "board", "nothing", "results", "score", "verdict", "waiting"]

Shown = Any
"""A table or a note: whatever a notebook shows as HTML."""

_PROOF = {
    True: "✓ verified: replaying it here gave every state, fact and point again",
    False: "✗ not verified: replaying it here did not bear it out",
    None: "○ no replay of it was ever recorded as verified here, so nothing is proven: evalkit verify RUN, or --all",
}
_DECISIONS = 400
_DAMAGED = (
    "The replay that is kept here is damaged, so nothing of it is shown. Import the run again from where it was made."
)


@dataclass(frozen=True, slots=True)
class Page:
    """What a run's own tab shows, above and below the place where it can be watched, and that as DataFrames."""

    above: Sequence[Shown]
    below: Sequence[Shown] = ()
    results: pd.DataFrame = field(default_factory=pd.DataFrame)
    decisions: pd.DataFrame = field(default_factory=pd.DataFrame)
    turns: pd.DataFrame = field(default_factory=lambda: turn_frame(()))


def nothing(text: str) -> Page:
    """A line where there is nothing to show."""
    return Page([prose.paragraphs(text)])


def bare(frame: pd.DataFrame) -> list[PerformanceRun]:
    """Performance runs from the store's table, without their inputs: all that ranking needs, in a tenth of the time."""
    runs = []
    for row in frame.to_dict("records"):
        when, total = row["recorded_at"], row["total_fuel"]
        runs.append(
            PerformanceRun(
                case=row["name"], version=row["version"], variant=row["variant"], model=row["model"],
                attempt=int(row["attempt"]), outcome=Outcome(row["outcome"]), reason=None, correct=None,
                total_fuel=None if pd.isna(total) else int(total), fuel_limit=int(row["fuel_limit"]),
                fuel_schedule=row["fuel_schedule"], engine=row["engine"], module_digest=None, case_digest="",
                solution_digest=row["solution_digest"], voided=None if pd.isna(row["voided"]) else row["voided"],
                recorded_at=None if pd.isna(when) else when.isoformat(),
            )
        )  # fmt: skip
    return runs


def results(
    run: PerformanceRun, cohort: Sequence[PerformanceRun], rows: Sequence[LeaderboardRow], aliases: Mapping[str, str]
) -> Page:
    """Correctness, standing, smoke by behaviour, stress with overshoot; and the inputs as a table."""
    placed = place(cohort, run.run_id, aliases) if is_ranked(run) else None
    own = next((row for row in rows if row.model == fold_model(run.model, aliases)), None)
    better = ""
    if own is not None and run.voided is None and (run.total_fuel is None or own.total_fuel < run.total_fuel):
        better = f"This model already has a better run: {own.run_id} with {grouped(own.total_fuel)} fuel"
        if run.total_fuel:
            better += f"; this one burned {times(run.total_fuel / own.total_fuel)} that"
        better += "."
    why = f"Why: {short(run.detail, 300)}" if run.detail else ""
    smoke, stress = tables.results(run)
    frame = pd.DataFrame(input_rows([run], "smoke") + input_rows([run]))
    return Page(
        [prose.outcome(run), prose.paragraphs(better, why), tables.standing(run, placed), stress], [smoke], frame
    )


def verdict(run: ReviewedRun, rows: Sequence[Any], case: Case | None) -> Page:
    """A person's verdict, or that one is awaited; and the marks as a table. `case` is None where it is not here."""
    head = f"{short(run.model)}, run {run.run_id}" + (f". Voided: {short(run.voided, 120)}" if run.voided else "")
    review = run.review
    if review is None:
        said = "It waits for a review: record one in reviews.toml beside the case, and sweep the case again."
        return Page([prose.paragraphs(f"{head}.", said)])
    own = next((row for row in rows if row.model == fold_model(run.model)), None)
    standing = f"; its model is at rank {own.rank} of {len(rows)} with a mean of {own.score:,.2f}" if own else ""
    notes = [f"{head}.", f"Reviewed by {short(review.reviewer)}: {review.score:,.2f} points{standing}."]
    if case is None:
        notes.append(f"The case {short(run.case)} {short(run.version)} is not in cases/, so its marks stand by slug.")
    elif case.digest() != run.case_digest:
        notes.append("It was recorded under another digest of the case: the case's files have changed since.")
    written = "".join(f"<p>{html(part)}</p>" for part in review.writeup.split("\n") if part.strip())
    table = reviews.verdict(run, case)
    table.note = ""  # who and what words are told around it here
    above = [prose.paragraphs(*notes), table, prose.Note(written, review.writeup)]
    return Page(above, results=reviews.marks(run, case))


def score(run: SeasonRun, season: Season | None, store: Store, fault: str | None = None) -> Page:
    """A season run's score in its parts, its proof, its decisions, a model's turns; all of them as tables too.

    `fault` is what is wrong with the season where it lies there and is none.
    """
    cell = f"{short(run.level)} ({short(run.difficulty)}), seed {run.seed}"
    head = f"{short(run.agent)} on {short(run.season)} {short(run.season_version)}, {cell}: {run.ended_by}."
    notes = [head, _spent(run)]
    if run.reference:
        notes.append(f"A reference run, the {short(run.reference)}: it takes no rank, and its screens are not shown.")
    if run.voided:
        notes.append(f"⊘ Voided: {short(run.voided, 200)}")
    if run.ungraded:
        notes.append(f"? Ungraded, so it has no score: {short(run.ungraded, 300)}")
    if season is None:
        notes.append(
            f"The season {short(run.season)} {short(run.season_version)} "
            + (f"cannot be read ({short(fault, 300)})" if fault else "is not in cases/")
            + ", so there are the recorded facts and no score: "
            + ("mend it" if fault else "put its folder back")
            + " to see one."
        )
    elif season.digest != run.season_digest:
        notes.append("It was recorded under another digest of the season: the season's files have changed since.")
    proof = _PROOF[run.verified]
    if run.drift:
        proof += f" at decision {run.drift['decision']}, tick {run.drift['tick']}: {short(str(run.drift['what']), 200)}"
    notes.append(proof + (f" ({short(run.verified_on or DASH)}, {(run.verified_at or DASH)[:16]})."
                          if run.verified is not None else "."))  # fmt: skip
    parts = _parts(run, season)
    rows = [(named(row.part), number(row.points, ".2f"), named(row.how, 120)) for row in rows_of(parts)]
    table = Table("Score", (Column("part"), Column("points", "number"), Column("from")), rows, searchable=False)
    decisions, (turns, damaged) = _decisions(run, store), turns_of(run.run_id, store)
    below = [prose.paragraphs(short(damaged, 200)) if damaged else None, *turn_table(turns)]
    below += _decision_table(run, store, decisions)
    return Page([prose.paragraphs(*notes), table], [part for part in below if part], parts, decisions, turns)


def _spent(run: SeasonRun) -> str:
    """What a run took, in a sentence; what is not known is said to be unknown."""
    budget = "" if run.decision_budget is None else f" of {grouped(run.decision_budget)}"
    dollars = None if run.dollars is None else f"{run.dollars:.4f}" if run.dollars else "0"
    known = [f"{value} {name}" for name, value in (("tokens", grouped(run.tokens)), ("dollars", dollars or DASH))
             if value != DASH]  # fmt: skip
    unknown = [name for name, value in (("tokens", run.tokens), ("dollars", run.dollars)) if value is None]
    said = ", ".join([f"It took {grouped(run.decisions)} decisions{budget}", f"{grouped(run.ticks)} ticks", *known])
    return said + (f"; {' and '.join(unknown)} unknown." if unknown else ".")


def _parts(run: SeasonRun, season: Season | None) -> pd.DataFrame:
    """part, points, how: each part is the score by rules that keep it alone, so the formula stays in one place."""
    entry = next((e for e in season.entries if e.key == (run.level, run.difficulty)), None) if season else None
    facts = {
        name: getattr(run, name) for name in ("objectives_done", "objectives_total", "completed", "time_s", "died")
    }
    pace = "not completed"
    if run.completed and run.time_s:
        anchor = f", anchor {entry.anchor_s:g} s" if entry and entry.anchor_s else ", no anchor"
        pace = f"completed in T = {run.time_s:,.2f} s{anchor if entry else ''}"
    points: list[float | None] = [None] * 4
    if season is not None and entry is not None and run.ungraded is None:
        earned = score_parts(**facts, anchor_s=entry.anchor_s, rules=season.rules)
        points = [*earned.values(), run_score(**facts, anchor_s=entry.anchor_s, rules=season.rules)]
    done = f"{run.objectives_done} of {run.objectives_total}"
    death, total = "died" if run.died else "alive", "their sum, never below 0"
    told = (("objectives", done), ("completion", pace), ("death", death), ("score", total))
    rows = [(part, value, how) for (part, how), value in zip(told, points, strict=True)]
    return pd.DataFrame(rows, columns=["part", "points", "how"]).astype({"points": "Float64"})


def _decisions(run: SeasonRun, store: Store) -> pd.DataFrame:
    """decision (from 1), action, ticks, at_tick (when it began), from the stored replay; empty where there is none."""
    try:
        made = json.loads(store.replay(run.run_id))["decisions"] if run.replay_digest else []
        frame = pd.DataFrame([(str(d["action"]), int(d["ticks"])) for d in made], columns=["action", "ticks"])
    except (EvalkitError, ValueError, KeyError, TypeError):
        return pd.DataFrame(columns=["decision", "action", "ticks", "at_tick"])
    frame.insert(0, "decision", range(1, len(frame) + 1))
    frame["at_tick"] = frame["ticks"].cumsum() - frame["ticks"]
    return frame


def _decision_table(run: SeasonRun, store: Store, decisions: pd.DataFrame) -> list[Shown]:
    if decisions.empty:
        is_whole = run.replay_digest is None or not store.has_replay(run.run_id)
        said = "No replay of this run is kept here." if is_whole else _DAMAGED
        return [prose.paragraphs(said)] if run.ungraded is None else []
    drift = run.drift["decision"] if run.drift else None
    rows = [
        (number(row.decision), named(row.action, 40), number(row.ticks), number(row.at_tick))
        for row in rows_of(decisions.head(_DECISIONS))
    ]
    at = drift - 1 if isinstance(drift, int) and 1 <= drift <= len(rows) else None
    note = f"The first {_DECISIONS} of {len(decisions):,}. " if len(decisions) > _DECISIONS else ""
    note += "The marked row is where the replay drifts." if at is not None else ""
    columns = (Column("decision", "number"), Column("action"), Column("ticks held", "number"),
               Column("from tick", "number"))  # fmt: skip
    table = Table("Decisions", columns, rows, note=note, here=at, searchable=False)
    style = "max-height:320px;overflow:auto"
    return [prose.Note(f'<details><summary>{len(decisions):,} decisions</summary><div style="{style}">'
                       f"{table._repr_html_()}</div></details>", repr(table))]  # fmt: skip


def board(kind: str, rows: Sequence[Any], run: Any, is_known: bool) -> tuple[list[Shown], pd.DataFrame]:
    """The leaderboard with the picked run's row marked, and as a DataFrame."""
    frame = pd.DataFrame([asdict(row) for row in rows])
    if kind == "performance":
        return [tables.leaderboard(rows, here=run.run_id if run else None)], frame
    if kind == "reviewed":
        return [reviews.leaderboard(rows, here=fold_model(run.model) if run else None)], frame
    if not is_known:
        return [prose.paragraphs("There is no season here to score by, so its runs have no score and no rank.")], frame
    return list(seasons.standings(rows, here=run.agent if run else None)), frame


def waiting(frame: pd.DataFrame) -> Table:
    """The reviewed runs that wait for a review, oldest first."""
    rows = [
        (Cell(row.run_id), Cell.name(f"{row.case} {row.version} {row.variant}"), Cell.name(row.model),
         Cell((row.recorded_at or DASH)[:16].replace("T", " ")))
        for row in rows_of(frame)
    ]  # fmt: skip
    columns = (Column("run", "mark"), Column("case"), Column("model"), Column("recorded", "mark"))
    return Table("Worklist", columns, rows, empty="Nothing waits for a review.", searchable=False)
