"""Why: where a run stands among the runs that compare with it; pure functions on records, so every reader agrees.

A cohort holds the runs that compare; its field is the best passing run of each model. Voided, ungraded, incorrect and
over-ceiling runs are never ranked. Reviewed runs have no fuel: they rank by the score a reviewer gave.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import fmean
from typing import Any

from evalkit.errors import UsageError
from evalkit.performance.models import fold_model, load_aliases, project_aliases
from evalkit.reading import printable
from evalkit.records import Outcome, PerformanceRun, ReviewedRun, SeasonRun

__all__ = [
    "Cohort",
    "LeaderboardRow",
    "Placement",
    "ReviewRow",
    "choose_schedule",
    "cohorts",
    "fold_model",
    "leaderboard",
    "load_aliases",
    "place",
    "project_aliases",
    "review_leaderboard",
    "worklist",
]

Cohort = tuple[str, str, str, str]
"""(case, version, variant, fuel schedule): what must agree before two runs compare."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where one passing run stands in its field.

    `efficiency_percentile`, 0 to 100, is the share of the other models' bests that burned more, ties counting half;
    None where there is no other model. `ratio_to_best` is at least 1. `model_best` is the fuel of the model's best run.
    """

    run_id: str
    rank: int
    field_size: int
    efficiency_percentile: float | None
    ratio_to_best: float
    is_model_best: bool
    model_best: int


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """A model at its best passing run, `run_id`; `runs` counts all its runs of the cohort but the voided ones."""

    rank: int
    model: str
    total_fuel: int
    ratio_to_best: float
    runs: int
    run_id: str


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """A model at the mean score of its reviewed runs. `runs` are all not voided, `reviewed` those with a review.

    `run_id` and `best` are the run with the highest score, to read first.
    """

    rank: int
    model: str
    score: float
    runs: int
    reviewed: int
    best: float
    run_id: str


def cohorts(runs: Iterable[PerformanceRun]) -> dict[Cohort, list[PerformanceRun]]:
    """Group runs by cohort, voided ones left out; cohorts in sorted order, runs in the order given.

    Raises UsageError where one is no run of a performance case.
    """
    groups: dict[Cohort, list[PerformanceRun]] = defaultdict(list)
    for run in _records(runs):
        if not isinstance(run, PerformanceRun):
            other = ("of a season", "standings") if isinstance(run, SeasonRun) else ("reviewed", "review_leaderboard")
            what = f"run {run.run_id} is {other[0]}: see `{other[1]}`"
            raise UsageError(f'{what}; fuel ranks the runs of one performance case, as store.runs(case="…") gives them')
        if run.voided is None:
            groups[run.cohort].append(run)
    return dict(sorted(groups.items()))


def choose_schedule(runs: Iterable[PerformanceRun], asked: str | None, here: str) -> str:
    """Give the fuel schedule to rank: the one asked for, else this engine's, else that of the run recorded last.

    Raises UsageError, with the schedules there are, where the one asked for has no run.
    """
    made = sorted((run for run in runs if run.voided is None), key=_when)
    known = list(dict.fromkeys(run.fuel_schedule for run in made))
    if asked is not None and asked not in known:
        raise UsageError(f'no run on fuel schedule "{printable(asked)}": there are {", ".join(known) or "none"}')
    return asked or (here if here in known or not known else made[-1].fuel_schedule)


def place(runs: Iterable[PerformanceRun], run_id: str, aliases: Mapping[str, str] | None = None) -> Placement:
    """Place one run in the field of its own cohort; runs of other cohorts, and of other kinds, are ignored.

    `run_id` is an id or a beginning of one, of four hex digits or more, that no other run has. Raises UsageError where
    it names no one run, and where that has no placement: not of a performance case, voided, or not passed.
    """
    given = _records(runs)
    run = _named(given, run_id)
    if not isinstance(run, PerformanceRun):
        kind = "a season" if isinstance(run, SeasonRun) else "a reviewed case"
        raise UsageError(f"run {run.run_id} has no placement: it is of {kind}, and fuel places runs")
    run_id = run.run_id
    if run.voided is not None:
        raise UsageError(f"run {run_id} has no placement: it was voided ({printable(run.voided)})")
    if run.outcome is not Outcome.PASS:
        raise UsageError(f"run {run_id} has no placement: its outcome is {run.outcome}, and only a pass is placed")
    made = [r for r in given if isinstance(r, PerformanceRun) and r.cohort == run.cohort and r.voided is None]
    field = {model: _fuel(best) for model, best in _bests(made, aliases).items()}
    fuel = _fuel(run)
    model_best = field.pop(fold_model(run.model, aliases))
    others = list(field.values())
    below, ties = sum(other < fuel for other in others), others.count(fuel)
    above = len(others) - below - ties
    return Placement(
        run_id=run_id,
        rank=1 + below,
        field_size=len(others) + 1,
        efficiency_percentile=100 * (above + ties / 2) / len(others) if others else None,
        ratio_to_best=fuel / min([*others, model_best]),
        is_model_best=fuel == model_best,
        model_best=model_best,
    )


def leaderboard(runs: Iterable[PerformanceRun], aliases: Mapping[str, str] | None = None) -> list[LeaderboardRow]:
    """Rank the models of one cohort by the fuel of their best passing run; models that never passed have no row.

    Ties share a rank and the next rank skips; of a tie, the run recorded earlier is listed first.
    Raises UsageError where the runs are of more than one cohort (`cohorts` groups them) or of no performance case.
    """
    groups = cohorts(runs)
    _is_one([_words(cohort) for cohort in groups])
    made = [run for group in groups.values() for run in group]
    bests = sorted(_bests(made, aliases).items(), key=lambda item: _order(item[1]))
    fuels = [_fuel(run) for _, run in bests]
    models = Counter(fold_model(run.model, aliases) for run in made)
    return [
        LeaderboardRow(1 + fuels.index(fuel), model, fuel, fuel / fuels[0], models[model], run.run_id)
        for fuel, (model, run) in zip(fuels, bests, strict=True)
    ]


def review_leaderboard(
    runs: Iterable[PerformanceRun | ReviewedRun], aliases: Mapping[str, str] | None = None
) -> list[ReviewRow]:
    """Rank the models of one reviewed case by their mean score; models without a review have no row.

    The mean and not the best, so that trying again is no way up. Ties, equal after rounding to 9 decimals, share a
    rank; the model whose first run came earlier is listed first. Runs of other kinds and voided runs are left out.
    Raises UsageError where the runs are of more than one case, version or variant, or are no runs.
    """
    made = sorted((run for run in _records(runs) if isinstance(run, ReviewedRun) and run.voided is None), key=_when)
    _is_one(sorted({f"{run.case} {run.version} {run.variant}" for run in made}))
    by_model: dict[str, list[ReviewedRun]] = defaultdict(list)
    for run in made:
        by_model[fold_model(run.model, aliases)].append(run)
    rows: list[ReviewRow] = []
    for model, own in by_model.items():
        scores = {run.run_id: run.review.score for run in own if run.review is not None}
        if scores:
            top = max(scores, key=scores.__getitem__)
            mean = round(fmean(scores.values()), 9)
            rows.append(ReviewRow(0, model, mean, len(own), len(scores), scores[top], top))
    rows.sort(key=lambda row: -row.score)
    ranked = [row.score for row in rows]
    return [replace(row, rank=1 + ranked.index(row.score)) for row in rows]


def worklist(runs: Iterable[PerformanceRun | ReviewedRun]) -> list[ReviewedRun]:
    """Give the reviewed runs that wait for a review, oldest first; voided runs and runs of other kinds never do.

    Raises UsageError where these are no runs.
    """
    filed = (run for run in _records(runs) if isinstance(run, ReviewedRun))
    return sorted((run for run in filed if run.voided is None and run.review is None), key=_when)


def _records(runs: Iterable[Any]) -> list[PerformanceRun | ReviewedRun | SeasonRun]:
    """The runs as a list; a table of runs, or of anything else, is said to be none."""
    found = list(runs)
    others = {type(row).__name__ for row in found if not isinstance(row, PerformanceRun | ReviewedRun | SeasonRun)}
    if others:
        got = "a table" if hasattr(runs, "columns") else f"any {sorted(others)[0]}"
        raise UsageError(f"runs are ranked from their records, as `store.runs(…)` gives them, not from {got}")
    return found


def _named(runs: Sequence[PerformanceRun | ReviewedRun | SeasonRun], run_id: str) -> Any:
    """The one run whose id is `run_id` or begins so."""
    known = {run.run_id: run for run in reversed(runs)}
    start = run_id.strip().lower()
    found = [start] if start in known else [own for own in known if len(start) >= 4 and own.startswith(start)]
    if len(found) == 1:
        return known[found[0]]
    if found:
        raise UsageError(f'{len(found)} runs start with "{printable(run_id)}": give more digits of the id')
    raise UsageError(f'no run "{printable(run_id)}" here: give its id, or four or more of its first digits')


def _bests(made: Sequence[PerformanceRun], aliases: Mapping[str, str] | None) -> dict[str, PerformanceRun]:
    """The field: each model's passing run of least fuel, the earlier of two alike."""
    field: dict[str, PerformanceRun] = {}
    for run in made:
        if run.outcome is Outcome.PASS:
            model = fold_model(run.model, aliases)
            field[model] = min(field.get(model, run), run, key=_order)
    return field


def _fuel(run: PerformanceRun) -> int:
    if run.total_fuel is None or run.total_fuel < 1:
        raise ValueError(f"run {run.run_id} is recorded as a pass with a total fuel of {run.total_fuel}")
    return run.total_fuel


def _order(run: PerformanceRun) -> tuple[int, datetime, str]:
    return (_fuel(run), *_when(run))


def _when(run: PerformanceRun | ReviewedRun) -> tuple[datetime, str]:
    """When it was recorded, unknown times last; the id settles what is left, so that order is never chance."""
    try:
        when = datetime.fromisoformat(run.recorded_at or "")
    except ValueError:
        when = datetime.max
    return (when if when.tzinfo else when.replace(tzinfo=UTC), run.run_id)


def _words(cohort: Cohort) -> str:
    case, version, variant, schedule = cohort
    return f"{case} {version} {variant} on fuel schedule {schedule[:12]}"


def _is_one(names: Sequence[str]) -> None:
    if len(names) > 1:
        listed = "; ".join(printable(name) for name in names)
        raise UsageError(f"these runs are of {len(names)} cohorts, which never compare: {listed}. Choose one of them")
