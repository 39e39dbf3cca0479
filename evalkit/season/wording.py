"""Why: a season's rules are said in words from its own constants, so that report, pack and rules cannot drift apart."""

from __future__ import annotations

from evalkit.season.season import Season

__all__ = ["OWN_RUNS", "rules_in_words"]

OWN_RUNS = "Every result here is the operator's own run on the operator's machine."


def rules_in_words(season: Season) -> tuple[str, ...]:
    """How a run and an agent are scored in this season, a paragraph each, with every constant of its `Rules`."""
    rules, cells = season.rules, len(season.cells)
    power = "the square root of" if rules.exponent == 0.5 else f"to the power {rules.exponent:g}"
    ratio = "min(1, anchor / T)"
    speed = f"{power} {ratio}" if rules.exponent == 0.5 else f"{ratio} {power}"
    return (
        f"A run scores {rules.objectives:g} × objectives done / objectives in all, plus, where it completes the "
        f"mission, {rules.completion:g} × {speed}, minus {rules.death:g} where the agent dies; never below 0. T is the "
        "time from the tick at which play begins to the tick at which the mission ends, in seconds of game time (60 "
        "ticks each). The anchor is the best time of the route autopilot on that entry; an entry without an anchor "
        "gives the full completion part. An objective that holds as play begins is not credited.",
        f"The season has {_count(len(season.entries), 'entry', 'entries')} and {_count(len(season.seeds), 'seed')}: "
        f"{_count(cells, 'cell')}. Attempts within a cell are averaged first; the season score is the mean over the "
        f"cells, and its standard error is s / sqrt(n) over them. A failed run scores what it scored. A row with fewer "
        "than all cells is partial: it keeps its mean and takes no rank. Scores are never rescaled.",
        f"{_budgets(season)} A run also ends after {season.tick_limit:,} ticks. Decisions, tokens and dollars stand "
        "beside the score, never in it. Reference rows (the anchor's autopilot, the random floor) take no rank.",
        "Each run leaves a replay: every action, and a chained hash of the game's full state. Verified means that a "
        "replay of it here, on the game alone, led through the same states to the same facts and the same score. That "
        "proves the play and the score; the agent's name, its tokens and its dollars are only bound to it.",
    )


def _budgets(season: Season) -> str:
    budgets = sorted({e.decision_budget for e in season.entries if e.decision_budget is not None})
    if not budgets:
        return "Decisions are not limited."
    span = f"{budgets[0]:,}" if len(budgets) == 1 else f"{budgets[0]:,} to {budgets[-1]:,}"
    anchored = [entry for entry in season.entries if entry.anchor_s is not None]
    if not anchored:
        return f"A run may take {span} decisions."
    ruled = anchored[0].budget_rule
    return (
        f"A run may take {span} decisions: {ruled.share:g} for each second of the anchor, rounded down, at least "
        f"{ruled.least:,} and at most {ruled.most:,}"
        + ("; an entry without an anchor states its own number." if len(anchored) < len(season.entries) else ".")
    )


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
