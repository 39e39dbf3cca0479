"""Why: a season's standing and runs become the plain rows that its charts and tables draw, with every gap kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from evalkit.errors import StoreError, UsageError
from evalkit.season.pareto import front
from evalkit.season.season import Season
from evalkit.views import theme
from evalkit.views.formats import DASH, grouped
from evalkit.views.frames import Row, plain_rows
from evalkit.views.names import labels, plain

__all__ = [
    "COSTS", "PROOFS", "agent_ink", "choose_run", "cost_rows", "cost_text", "ending", "entry_names", "known_costs",
    "leader", "proof", "run_rows", "standing_rows", "watchable",
]  # fmt: skip

PROOFS = {True: "✓ verified", False: "✗ fails", None: "○ never replayed"}
"""What is known of a row's or a run's replays, in a sign and words."""

COSTS = {"decisions": "decisions", "tokens": "tokens", "dollars": "US dollars"}


def proof(value: bool | None) -> str:
    """Return the mark of a row or run that is verified (True), fails (False), or was never replayed (None)."""
    return PROOFS[None if value is None else bool(value)]


def agent_ink(agent: str, reference: str | None) -> str:
    """Return an agent's ink, the same everywhere; every reference row has the one grey."""
    return theme.GREY if reference is not None else theme.colour(agent)


def standing_rows(rows: Any) -> list[Row]:
    """Return a row an agent, those that compete first, as given, and reference rows last.

    `rows`: what `evalkit.standings` returns, or a DataFrame of it. Adds `place, partial, ink, label, name, proved` and
    `marks`: what a reader must know of the row, in words, joined.
    """
    values = sorted(plain_rows(rows), key=lambda row: row["reference"] is not None)
    label = labels(str(row["agent"]) for row in values)
    for place, row in enumerate(values):
        agent = str(row["agent"])
        row["partial"] = row["cells"] < row["cells_expected"]
        marks = [
            str(row["reference"] or ""),
            f"partial {row['cells']}/{row['cells_expected']}" if row["partial"] else "",
            {True: "", False: "fails", None: "never replayed"}[row["verified"]],
            f"{row['other_digest']} of another digest" if row.get("other_digest") else "",
        ]
        row |= {"place": place, "label": label[agent], "name": plain(agent), "proved": proof(row["verified"])}
        row |= {"ink": agent_ink(agent, row["reference"]), "marks": " · ".join(filter(None, marks))}
    return values


def cost_rows(rows: Any, cost: str) -> list[Row]:
    """Return `standing_rows` with `cost` for one run on average, and whether the row is on the Pareto `front`.

    `cost`: decisions, tokens or dollars; a row's sum over its runs is divided by their number, so that neither a second
    attempt nor a missing cell changes what is compared. A total that is incomplete is unknown (None). Reference rows
    neither enter the front nor keep a row off it; a partial row, whose mean is over fewer cells, is a row like any
    other there, and marked. Raises UsageError for another cost.
    """
    if cost not in COSTS:
        raise UsageError(f"there is no cost {cost!r}: there are {', '.join(COSTS)}")
    values = standing_rows(rows)
    for row in values:
        known = row[cost] is not None and (cost != "dollars" or row["dollars_complete"])
        row["cost"] = row[cost] / row["attempts"] if known else None
    field = [row for row in values if row["reference"] is None]
    found = front([row["score"] for row in field], [row["cost"] for row in field])
    on_front = dict(zip((row["place"] for row in field), found, strict=True))
    for row in values:
        row["front"] = on_front.get(row["place"], False)
    return values


def cost_text(value: float | None, cost: str) -> str:
    """Return a cost of one run as text: dollars to four decimals, others to one where they are no whole number."""
    if value is None:
        return DASH
    return f"{value:,.4f}" if cost == "dollars" and value else f"{value:,.1f}".removesuffix(".0")


def known_costs(rows: Any) -> list[str]:
    """Return the costs worth a chart: decisions, and tokens or dollars where an agent is known to have spent any."""
    field = [row for row in standing_rows(rows) if row["reference"] is None]
    return ["decisions", *(cost for cost in ("tokens", "dollars") if any(row[cost] for row in field))]


def leader(rows: Any) -> str:
    """Return the agent of the first rank, else the first one that is no reference row; empty where there is none."""
    field = [row for row in standing_rows(rows) if row["reference"] is None]
    return next((row["agent"] for row in [*(r for r in field if r["rank"] == 1), *field]), "")


def entry_names(season: Season) -> dict[tuple[str, str], str]:
    """Return what each entry is called here: its level, with its difficulty where that level has several."""
    of_level = Counter(entry.level for entry in season.entries)
    return {e.key: plain(f"{e.level} · {e.difficulty}" if of_level[e.level] > 1 else e.level) for e in season.entries}


def ending(row: Row) -> str:
    """Return how a run ended in one of three words: completed, died, or not completed."""
    return "completed" if row["completed"] else "died" if row["died"] else "not completed"


def run_rows(runs: Any, season: Season) -> list[Row]:
    """Return a row for each run that counts, by agent, entry and seed.

    `runs`: what `evalkit.season.ranking.scored` returns. Adds `entry, how, ink, label, name, proved, played_s` (seconds
    of game time, T where completed).
    """
    values = plain_rows(runs)
    names, label = entry_names(season), labels(str(row["agent"]) for row in values)
    for row in values:
        agent = str(row["agent"])
        row |= {"entry": names[(row["level"], row["difficulty"])], "how": ending(row), "label": label[agent]}
        row |= {"name": plain(agent), "ink": agent_ink(agent, row["reference"]), "proved": proof(row["verified"])}
        row["played_s"] = row["ticks"] / 60 if row["time_s"] is None else row["time_s"]
        row["recorded"] = str(row.pop("recorded_at", None) or DASH)[:16]
        row["objectives"] = f"{row['objectives_done']} of {row['objectives_total']}"
        row["ended"] = plain(str(row["ended_by"])).replace("_", " ")
        row["of_budget"] = DASH if row["decision_budget"] is None else grouped(row["decision_budget"])
    order = {key: place for place, key in enumerate(names)}
    return sorted(values, key=lambda r: (order[(r["level"], r["difficulty"])], r["seed"], r["name"], r["run_id"]))


def watchable(runs: Any, season: Season) -> list[Row]:
    """Return the runs that may be shown at play, best first: no reference run, and of the season as it is now.

    Of one score, verified runs come before those never replayed. A run that failed has proven nothing, and is
    shown only where it is asked for by its id.
    """
    values = [
        row
        for row in run_rows(runs, season)
        if row["reference"] is None and row["season_digest"] == season.digest and row["verified"] is not False
    ]
    return sorted(
        values,
        key=lambda r: (-round(r["score"], 9), r["verified"] is None, r["decisions"], r["played_s"], r["run_id"]),
    )


def sound(store: Any) -> Callable[[str], bool]:
    """Return what says of a run's id whether its replay is in this store, and whole."""

    def is_there(run_id: str) -> bool:
        try:
            return bool(store.replay(run_id))
        except (StoreError, UsageError):
            return False

    return is_there


def run_to_show(
    runs: Any, season: Season, run_id: str | None = None, *, has_replay: Callable[[str], bool] = bool
) -> Row:
    """Return what `choose_run` does, for a page that is about that one run. Raises UsageError where there is none."""
    row = choose_run(runs, season, run_id, has_replay=has_replay)
    if row is None:
        raise UsageError(f"no run of {season.slug} with a replay is kept: evalkit sweep {season.slug} --agents AGENT")
    return row


def choose_run(
    runs: Any, season: Season, run_id: str | None = None, *, has_replay: Callable[[str], bool] = bool
) -> Row | None:
    """Return the run of that id (or beginning) to show; with None the best, or None where there is none to show.

    `has_replay` says whether a run's replay is at hand, as `sound(store)` does; without one a run is not chosen.

    Raises UsageError for a reference run, whose play is never shown, and where the id names no one run of the season.
    """
    if run_id is None:
        return next((row for row in watchable(runs, season) if has_replay(row["run_id"])), None)
    found = [row for row in run_rows(runs, season) if run_id and str(row["run_id"]).startswith(run_id)]
    if len(found) != 1:
        raise UsageError(f"{len(found) or 'no'} runs that count in {season.slug} have the id {run_id!r}")
    if found[0]["reference"] is not None:
        raise UsageError(f"run {found[0]['run_id']} is a reference run: its play is the operator's, and is not shown")
    if found[0]["season_digest"] != season.digest:
        raise UsageError(f"run {found[0]['run_id']} is of another digest of {season.slug}: it cannot be played again")
    return found[0]
