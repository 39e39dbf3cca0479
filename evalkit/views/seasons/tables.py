"""Why: the tables of a season: exact numbers, in words what is proven and what not, a dash where there is nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalkit.records import SeasonRun
from evalkit.season.score import score_parts
from evalkit.season.season import Season
from evalkit.views.formats import DASH, grouped
from evalkit.views.frames import Row
from evalkit.views.grid import Cell, Column, Table
from evalkit.views.names import plain, short
from evalkit.views.seasons.kept import runs
from evalkit.views.seasons.rows import COSTS, cost_rows, cost_text, proof, standing_rows

if TYPE_CHECKING:  # they bring the engine, which a view can do without
    from evalkit.season.verifying import Verification
    from evalkit.season.watching import Watched

__all__ = ["costs", "decisions", "entries", "one_run", "runs", "standings", "verdict"]

_NO_RUN = "No run counts yet. Play it: evalkit sweep SEASON --agents AGENT"


def entries(season: Season) -> Table:
    """List the season's entries: level, difficulty, the anchor's time, and how many decisions a run may take."""
    columns = (
        Column("level"), Column("difficulty"), Column("anchor, s", "number"), Column("decision budget", "number"),
    )  # fmt: skip
    body = [
        (Cell(plain(e.level)), Cell(plain(e.difficulty)), _number(e.anchor_s, 2), _number(e.decision_budget))
        for e in season.entries
    ]
    seeds = ", ".join(map(str, season.seeds))
    return Table("Entries", columns, body, note=f"Each is played with the seeds {seeds}.", searchable=False)


def standings(rows: Any, *, here: str | None = None) -> tuple[Table, Table]:
    """List the agents that compete, best first, and then the reference rows apart. `rows`: as `evalkit.standings`.

    `here` is an agent whose row stands out.
    """
    values = standing_rows(rows)
    field = [row for row in values if row["reference"] is None]
    apart = [row for row in values if row["reference"] is not None]
    columns = (
        Column("rank", "number"), Column("agent"), Column("score", "number"), Column("standard error", "number"),
        Column("cells", "mark"), Column("runs", "number"), Column("proof", "mark"), Column("decisions", "number"),
        Column("tokens", "number"), Column("dollars", "number"), Column("other digest", "number"),
    )  # fmt: skip
    spent = any(row["tokens"] or row["dollars"] for row in values)
    note = "Mean over cells. Partial rows keep their mean and take no rank. "
    note += (
        "Decisions, tokens and dollars are sums over the runs; a dash is unknown, and +? a sum with unknown parts."
        if spent
        else "Decisions are sums over the runs; none is known to have spent tokens or dollars."
    )
    at, at_apart = (next((i for i, r in enumerate(side) if r["agent"] == here), None) for side in (field, apart))
    main = Table("Standing", columns, _standings(field), note=note, empty=_NO_RUN, drop=_RARE, here=at)
    rest = Table(
        "Reference rows", columns, _standings(apart), drop=_RARE, searchable=False, here=at_apart,
        empty="No reference run is kept: neither the anchor's autopilot nor the random floor.",
        note="The anchor's autopilot is the ceiling of the scale, the random agent its floor; neither takes a rank.",
    )  # fmt: skip
    return main, rest


_RARE = ("other digest", "tokens", "dollars")


def _standings(rows: list[Row]) -> list[tuple[Cell, ...]]:
    """Tokens and dollars are shown where some were spent: a column of nothing says nothing."""
    if any(row["tokens"] or row["dollars"] for row in rows):
        return [_standing(row) for row in rows]
    return [_standing(row | {"tokens": None, "dollars": None}) for row in rows]


def _standing(row: Row) -> tuple[Cell, ...]:
    dollars = DASH if row["dollars"] is None else f"{row['dollars']:,.2f}" + ("" if row["dollars_complete"] else " +?")
    cells = f"{'◐ partial ' if row['partial'] else ''}{row['cells']}/{row['cells_expected']}"
    rank = row["reference"] or (grouped(row["rank"]) if row["rank"] is not None else DASH)
    other = row.get("other_digest") or None
    return (
        Cell(rank, row["rank"]), Cell.name(str(row["agent"])), _number(row["score"], 2), _number(row["se"], 2),
        Cell(cells), _number(row["attempts"]), Cell(row["proved"]), _number(row["decisions"]), _number(row["tokens"]),
        Cell(dollars, row["dollars"]), _number(other),
    )  # fmt: skip


def costs(rows: Any, cost: str = "decisions") -> Table:
    """List score against what one run costs on average, cheapest first, and by whom a row off the front is beaten.

    `rows`: as `evalkit.standings`; `cost`: decisions, tokens or dollars. Reference rows come last and beat nobody.
    """
    values = sorted(cost_rows(rows, cost), key=lambda r: (r["reference"] is not None, r["cost"] is None, r["cost"] or 0,
                                                          -r["score"]))  # fmt: skip
    on_it = [row for row in values if row["front"]]
    body = []
    for row in values:
        beats = [b for b in on_it if b["cost"] <= (row["cost"] or 0) and b["score"] >= row["score"]]
        is_off = row["reference"] is None and row["cost"] is not None and not row["front"]
        mark = row["reference"] or (
            "✓ on it" if row["front"] else "? unknown cost" if row["cost"] is None else "not on it"
        )
        body.append(
            (
                Cell.name(str(row["agent"])), _number(row["score"], 2), _number(row["se"], 2),
                Cell(cost_text(row["cost"], cost), row["cost"]), Cell(mark),
                Cell.name(beats[-1]["name"] if is_off and beats else DASH, 40),
                Cell(f"{'◐ partial ' if row['partial'] else ''}{row['cells']}/{row['cells_expected']}"),
            )
        )  # fmt: skip
    columns = (
        Column("agent"), Column("score", "number"), Column("standard error", "number"),
        Column(f"{COSTS[cost]} a run", "number"), Column("Pareto front", "mark"), Column("beaten by"),
        Column("cells", "mark"),
    )  # fmt: skip
    note = (
        "Beaten by: the best of those that cost no more and score no less. A dash is unknown, or nobody."
        if body
        else ""
    )
    return Table(f"Score against {COSTS[cost]}", columns, body, note=note, empty=_NO_RUN)


def one_run(run: SeasonRun, row: Row, season: Season) -> Table:
    """State the facts of one run and its score in parts, by the season's rules; `row` is its row of `rows.run_rows`."""
    parts = score_parts(
        objectives_done=run.objectives_done, objectives_total=run.objectives_total, completed=run.completed,
        time_s=run.time_s, anchor_s=row["anchor_s"], died=run.died, rules=season.rules,
    )  # fmt: skip
    sum_of = f"{row['score']:.2f}: {parts['objectives']:.2f} for objectives, {parts['completion']:.2f} for completion"
    sum_of += f", {parts['death']:.2f} for dying, and never below 0" if run.died else ""
    spent = cost_text(run.dollars, "dollars") + ("" if run.dollar_cap is None else f" of a cap of {run.dollar_cap:g}")
    checked = f" on {run.verified_on}, {(run.verified_at or '')[:16].replace('T', ' ')} UTC" if run.verified_at else ""
    facts = [
        ("agent", run.agent), ("entry", f"{row['entry']}, seed {run.seed}, attempt {run.attempt}"),
        ("score", sum_of), ("objectives", row["objectives"]), ("ended by", row["ended"]),
        ("T", DASH if run.time_s is None else f"{run.time_s:,.2f} s of game time"),
        ("anchor", DASH if row["anchor_s"] is None else f"{row['anchor_s']:g} s"),
        ("decisions", f"{run.decisions:,} of {row['of_budget']}"), ("ticks", grouped(run.ticks)),
        ("tokens", grouped(run.tokens)), ("dollars", spent), ("proof", proof(run.verified) + checked),
        ("drift", DASH if not run.drift else f"decision {run.drift['decision']}: {run.drift['what']}"),
        ("run", run.run_id), ("game digest", run.game_digest), ("played on", run.engine),
    ]  # fmt: skip
    body = [(Cell(name), Cell.name(value, 160)) for name, value in facts if (name, value) != ("drift", DASH)]
    return Table("The run", (Column("what"), Column("value")), body, searchable=False)


def decisions(watched: Watched) -> Table:
    """List what a run did, turn by turn: the action, how long it was held, and the hash of all that came of it."""
    drift = watched.verification.drift
    at = {frame.decision: frame for frame in watched.frames}  # the last of each decision
    body = []
    for number, row in enumerate(watched.decisions, 1):
        frame = at.get(number)
        mark = "✗ drifts here" if drift is not None and drift.decision == number else ""
        ends = (_number(None if frame is None else frame.tick), _number(None if frame is None else frame.seconds, 2))
        body.append(
            (_number(number), Cell.name(row.action), _number(row.ticks), *ends, Cell(row.hash[:16]), Cell(mark))
        )
    columns = (
        Column("decision", "number"), Column("action"), Column("held for ticks", "number"), Column("ends at", "number"),
        Column("seconds", "number"), Column("hash", "mark"), Column("", "mark"),
    )  # fmt: skip
    note = "Each hash is over the one before, the input, and the game's full state after it."
    return Table("Decisions", columns, body, note=note, empty="This run ended before its first decision.", drop=("",))


def verdict(answer: Verification) -> Table:
    """State what replaying said."""
    said = {True: "✓ verified", False: "✗ not verified", None: "? this machine could not say"}[answer.verified]
    facts = [("verdict", said), ("score", DASH if answer.score is None else f"{answer.score:.2f}")]
    if answer.drift is not None:
        facts.append(("first difference", f"decision {answer.drift.decision}, tick {answer.drift.tick:,}"))
        facts.append(("what differs", answer.drift.what))
    if answer.refused is not None:
        facts.append(("refused", answer.refused))
    if answer.engine is not None:
        facts.append(("replayed on", answer.engine))
    body = [(Cell(name), Cell.name(short(value, 300), 300)) for name, value in facts]
    return Table("Replayed", (Column("what"), Column("value")), body, searchable=False)


def _number(value: float | None, digits: int = 0) -> Cell:
    return Cell(DASH if value is None else f"{value:,.{digits}f}", None if value is None else float(value))
