"""Why: the sentences of a season's report are made from the season and its standing, and so cannot drift from them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from evalkit.season.compare import Separation, seeds_to_separate
from evalkit.season.ranking import cell_scores
from evalkit.season.season import Season
from evalkit.season.wording import OWN_RUNS, rules_in_words
from evalkit.views.formats import listed, some
from evalkit.views.frames import Row
from evalkit.views.names import html, short
from evalkit.views.prose import Note, paragraphs
from evalkit.views.seasons.rows import COSTS, cost_rows, cost_text, proof, standing_rows

if TYPE_CHECKING:  # it brings the engine, which a view can do without
    from evalkit.season.verifying import Verification

__all__ = ["certainty", "chosen", "cost_finding", "coverage", "finding", "heading", "proven", "rules", "verified"]


def heading(season: Season) -> Note:
    """Return the report's title: the season's name, slug and version, and whose runs these are."""
    line = f"{short(season.slug)}@{short(season.version)}"
    markup = f'<h1 class="evk-title">{html(season.name or season.slug)}</h1><p class="evk-lead">'
    return Note(f"{markup}<code>{escape(line)}</code> {escape(OWN_RUNS)}</p>", f"{line}. {OWN_RUNS}")


def rules(season: Season) -> Note:
    """State how this season scores and ranks, with its own constants."""
    return paragraphs(*rules_in_words(season))


def coverage(rows: Any, season: Season) -> Note:
    """Say how many agents and runs there are, what is partial, what is not proven, and what has another digest."""
    values = standing_rows(rows)
    if not values:
        return paragraphs("No run of this season counts yet. Play it: evalkit sweep SEASON --agents AGENT")
    field = [row for row in values if row["reference"] is None]
    runs = sum(row["attempts"] for row in values)
    said = f"{some(len(field), 'agent')} and {some(len(values) - len(field), 'reference row')}, {some(runs, 'run')}; "
    said += f"a row has {some(len(season.cells), 'cell')}"
    parts = [
        (sum(row["partial"] for row in field), "partial"),
        (sum(row["verified"] is False for row in values), "with a replay that fails"),
        (sum(row["verified"] is None for row in values), "with a replay never replayed here"),
    ]
    told = [f"{count} {what}" for count, what in parts if count]
    other = sum(row.get("other_digest") or 0 for row in values)
    late = f"{other:,} runs were recorded under another digest of the season: its files have changed since."
    proven = f"Rows: {', '.join(told)}." if told else "Every replay was verified here."
    return paragraphs(f"{said}. {proven}", late if other else "")


def finding(rows: Any, counted: Any = None) -> Note:
    """Say who leads, by how much and how surely, and who is cheapest for what they score.

    `counted`: what `evalkit.season.ranking.scored` returns. With it, the leader is held against the next one cell by
    cell, as `evalkit.views.compare.compare` does it: two means that are each unsure, as a level is hard for everyone,
    may still be surely apart. Without it nothing is said of how sure the lead is.
    """
    ranked = [row for row in standing_rows(rows) if row["rank"] is not None]
    if not ranked:
        return paragraphs("Finding: no agent has played every cell yet, so there is no ranking.")
    best = [row for row in ranked if row["rank"] == 1]
    names = listed([short(row["name"]) for row in best])
    said = f"Finding: {names} {'leads' if len(best) == 1 else 'share the lead'} with {_with_error(best[0])}"
    rest, sure = [row for row in ranked if row["rank"] != 1], ""
    if rest:
        second = rest[0]
        gap = best[0]["score"] - second["score"]
        said += f"; next is {short(second['name'])} with {_with_error(second)}, {gap:.1f} points behind"
        if counted is not None:
            sure = " Cell by cell: " + certainty(_apart(counted, str(best[0]["agent"]), str(second["agent"])))
    front = [
        short(row["name"], 24) + (" (partial)" if row["partial"] else "")
        for row in cost_rows(rows, "decisions")
        if row["front"]
    ]
    cheap = f"On the front of score against decisions: {listed(front, 6)}." if front else ""
    return paragraphs(f"{said}.{sure}", cheap)


def certainty(apart: Separation | None) -> str:
    """Say in a sentence or two whether two agents are apart, and how many seeds it takes to show it.

    `apart` is `evalkit.season.compare.seeds_to_separate` of their differences, cell by cell.
    """
    if apart is None:
        return "no entry has two shared seeds, so nothing says how sure that is: play more seeds."
    told = f"{abs(apart.difference):.2f} ± {apart.se:.2f} points (SE over seeds, the entries fixed)"
    said = f"they are apart: {told} leaves out 0 at 95 %. " if apart.is_separate else (
        f"they are not apart: {told} includes 0 at 95 %. "
    )  # fmt: skip
    if apart.needed is None:
        return f"{said}No number of seeds separates a difference of 0."
    more = apart.needed - apart.seeds
    if more > 0:
        seeds = f"{more} more seed{'' if more == 1 else 's'} of every entry, {apart.needed} in all,"
        return f"{said}Were that the true difference, {seeds} would show it 8 times in 10."
    return f"{said}Were that the true difference, {apart.needed} seeds of every entry would show it 8 times in 10."


def _apart(counted: Any, first: str, second: str) -> Separation | None:
    cells = cell_scores(counted)
    return seeds_to_separate(
        {key: cells[first][key] - cells[second][key] for key in cells[first] if key in cells[second]}
    )


def cost_finding(rows: Any, cost: str = "decisions") -> Note:
    """Say who is on the front of score against a cost, and what a point more costs from each to the next."""
    values = [row for row in cost_rows(rows, cost) if row["reference"] is None]
    on_it = sorted((row for row in values if row["front"]), key=lambda row: (row["cost"], row["name"]))
    what, unknown = COSTS[cost], [short(row["name"], 24) for row in values if row["cost"] is None]
    left = f"Of unknown cost, and so neither on the front nor off it: {listed(unknown)}." if unknown else ""
    if not on_it:
        return paragraphs(f"Finding: the {what} of no agent are known, so nothing can be held against the score.", left)
    told = [f"{short(row['name'], 24)} ({_with_error(row)} for {cost_text(row['cost'], cost)} a run"
            f"{', partial' if row['partial'] else ''})" for row in on_it]  # fmt: skip
    off = len(values) - len(unknown) - len(on_it)
    verb = "is" if len(on_it) == 1 else "are"
    said = f"Finding: of {len(values) - len(unknown)} agents of known cost {len(on_it)} {verb} on the front of score "
    said += f"against {what}: {listed(told, 6)}."
    if off:
        said += f" {'The other' if off == 1 else f'Each of the other {off}'} is beaten by one that costs no more and "
        said += "scores no less."
    steps = [
        f"{cost_text((b['cost'] - a['cost']) / (b['score'] - a['score']), cost)} from {short(a['name'], 24)} to "
        f"{short(b['name'], 24)}"
        for a, b in pairwise(on_it)
        if b["score"] > a["score"]
    ]
    way = f"Along the front a point more costs, in {what} a run: {listed(steps, 6)}." if steps else ""
    return paragraphs(said, way, left)


def chosen(row: Row | None) -> Note:
    """Say which run is shown, and how it went."""
    if row is None:
        return paragraphs(
            "There is no run to show: reference runs never are, and no other that counts here has a replay that is "
            "kept and whole."
        )
    said = f"{short(row['name'])} on {row['entry']}, seed {row['seed']}: {row['ended']}, {row['score']:.1f} points, "
    said += f"{row['objectives']} objectives, {row['decisions']:,} decisions, {row['played_s']:,.1f} s of game time. "
    return paragraphs(f"{said}Run {row['run_id']}, {proof(row['verified'])[2:]}.")


def verified(answers: Mapping[str, Verification]) -> Note:
    """Say what replaying runs said; `answers` as `evalkit.jobs.verify_season` returns them."""
    if not answers:
        return paragraphs("Nothing was left to replay: every run was replayed before. The standing says what holds.")
    bad = {run_id: answer for run_id, answer in answers.items() if answer.verified is False}
    unknown = sum(answer.verified is None for answer in answers.values())
    said = f"{len(answers) - len(bad) - unknown} of {len(answers)} replays verified"
    said += f", and {unknown} could not be played on this machine" if unknown else ""
    why = {r: a.refused or (a.drift.what if a.drift else "") for r, a in bad.items()}
    lines = (f"✗ run {run_id}: {short(what, 160)}" for run_id, what in list(why.items())[:10])
    return paragraphs(f"{said}.", *lines)


def proven(row: Row, answer: Verification, *forged: Verification) -> Note:
    """Say what verifying showed of a run, and of forgeries of it."""
    said = {
        True: f"Finding: run {row['run_id']} is proven: its input, replayed on the game alone, leads through every "
        f"recorded state to the recorded facts and to {row['score']:.2f} points",
        False: f"Finding: run {row['run_id']} is not what its file says",
        None: "Finding: this machine could not replay the run, which says nothing of it",
    }[answer.verified]
    caught = sum(other.verified is False for other in forged)
    return paragraphs(
        f"{said}. Of {len(forged)} forgeries of it {caught} were found out. What this cannot show is who chose the "
        "inputs, and what that cost: the agent's name, tokens and dollars are only bound to the play."
    )


def _with_error(row: Row) -> str:
    return f"{row['score']:.1f}" + ("" if row["se"] is None else f" ± {row['se']:.1f}")
