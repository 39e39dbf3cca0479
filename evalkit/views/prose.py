"""Why: the sentences of a report are made from the facts, so that they cannot drift from the tables beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Protocol

from evalkit.performance.rank import fold_model
from evalkit.records import PerformanceRun, ReviewedRun
from evalkit.views.formats import OUTCOME_WORDS, grouped, some, times
from evalkit.views.frames import plain_rows, worst_overshoot
from evalkit.views.names import html, short

__all__ = ["Note", "cohort", "finding", "heading", "outcome", "paragraphs", "provenance", "rules"]


class _Input(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def fuel_runway(self) -> float: ...


class _Sandbox(Protocol):
    @property
    def fuel_limit(self) -> int: ...


class _Case(Protocol):
    """What the sentences need of a case; `evalkit.load_case` gives more."""

    @property
    def slug(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str | None: ...
    @property
    def inputs(self) -> Sequence[_Input]: ...
    @property
    def sandbox(self) -> _Sandbox | None: ...


class Note:
    """A piece of HTML that a notebook shows; every name in it is escaped already. Its `repr` is the plain text."""

    def __init__(self, markup: str, text: str) -> None:
        self._markup, self._text = markup, text

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return self._markup


def paragraphs(*texts: str) -> Note:
    """Return plain texts as one paragraph each; empty ones are left out."""
    return Note(
        "".join(f"<p>{escape(text)}</p>" for text in texts if text), "\n\n".join(text for text in texts if text)
    )


def heading(case: _Case) -> Note:
    """Return the report's title: the case's name, slug, version and one-line summary."""
    line = f"{short(case.slug)}@{short(case.version)}"
    markup = f'<h1 class="evk-title">{html(case.name)}</h1><p class="evk-lead"><code>{escape(line)}</code>'
    summary = " ".join((case.summary or "").split())
    markup += f" {html(summary)}</p>" if summary else "</p>"
    return Note(markup, f"{short(case.name, 80)} ({line})")


def rules(case: _Case) -> Note:
    """State how a run of this case is scored, with the case's own constants."""
    smoke = [row for row in case.inputs if row.kind == "smoke"]
    stress = [row for row in case.inputs if row.kind == "stress"]
    gate = (
        f"{some(len(smoke), 'smoke input')} run first, on correctness alone. If one is wrong, "
        f"the {some(len(stress), 'stress input')} are skipped and count as failed."
        if smoke
        else "There are no smoke inputs: the gate is open."
    )
    ceiling = case.sandbox.fuel_limit if case.sandbox else None
    runways = sorted({row.fuel_runway for row in stress})
    span = f"{runways[0]:g}×" if len(runways) == 1 else f"{runways[0]:g}× to {runways[-1]:g}×" if runways else "1×"
    return paragraphs(
        f"Correctness first, then fuel; lower is better. {gate}",
        f"The ceiling is {grouped(ceiling)} fuel for each stress input: a right answer within it passes. A right "
        f"answer past it is over the ceiling: no pass, but its overshoot is measured up to the runway limit ({span} "
        "the ceiling), where the engine is stopped. A wrong answer, or one that exhausts the runway, is incorrect.",
        "Total fuel is the sum over the stress inputs and exists only where every input passed. Only runs of one "
        "cohort (case, version, variant and fuel schedule) are compared; ungraded and voided runs are never ranked.",
    )


def cohort(runs: Iterable[PerformanceRun | ReviewedRun], case: Any = None, kept: Iterable[Any] = ()) -> Note:
    """Say how many runs there are, of how many models, and in which cohorts; more than one is a warning.

    `case` is what the page is about, where it is about one: runs that were graded on other files of it are counted.
    `kept` are all the runs of that case: what is of another version is named, as it is not on the page.
    """
    graded = [run for run in runs if isinstance(run, PerformanceRun)]
    others = sorted({run.version for run in kept if case is not None and run.version != case.version})
    apart = f"Of other versions, and not here: {', '.join(short(version, 20) for version in others)}." if others else ""
    if not graded:
        where = "this case" if case is None else f"{short(case.slug)}@{short(case.version)}"
        return paragraphs(f"No run of {where} is kept yet. Grade a solution: evalkit grade CASE SOLUTION", apart)
    cohorts = sorted({run.cohort for run in graded})
    models = len({fold_model(run.model) for run in graded})
    said = f"{some(len(graded), 'run')} of {some(models, 'model')}, in {some(len(cohorts), 'cohort')}: "
    said += "; ".join(
        f"case {short(c)}, version {short(v)}, variant {short(x)}, fuel schedule {short(s)[:12]}"
        for c, v, x, s in cohorts
    )
    digest = case.digest() if case is not None else ""
    late = sum(run.case_digest != digest for run in graded) if digest else 0
    changed = f"{some(late, 'run')} of them {'was' if late == 1 else 'were'} graded on other files of the case than "
    changed += "lie there now, so its rules and these numbers may not fit each other: see evalkit regrade."
    alike = "." if len(cohorts) == 1 else ". Runs of different cohorts are never compared."
    return paragraphs(said + alike, changed if late else "", apart)


def outcome(run: PerformanceRun | None) -> Note:
    """Say in a sentence how one run ended."""
    if run is None:
        return paragraphs("There is no graded run to show yet.")
    said = f"{short(run.model)}, run {run.run_id}: {OUTCOME_WORDS[run.outcome]}"
    if run.total_fuel is not None:
        said += f" with {grouped(run.total_fuel)} fuel"
    elif run.outcome == "over_ceiling" and (worst := worst_overshoot(run)):
        said += f", {worst[1]:,.1f} % over at worst (input {short(worst[0].name)})"
    elif run.reason:
        said += f" ({short(run.reason, 60)})"
    return paragraphs(said + (f". Voided: {short(run.voided, 80)}." if run.voided is not None else "."))


def finding(rows: Any) -> Note:
    """Say who leads and by how much; `rows` as `charts.leaderboard` takes them."""
    values = [row for row in plain_rows(rows) if row["total_fuel"] is not None]
    if not values:
        return paragraphs("Finding: no run has passed yet, so there is no ranking.")
    best = [row for row in values if row["rank"] == 1]
    names = " and ".join(short(str(row["model"])) for row in best[:3]) + (" and more" if len(best) > 3 else "")
    lead = "leads" if len(best) == 1 else "share the lead"
    said = f"Finding: {names} {lead} with {grouped(best[0]['total_fuel'])} fuel over the stress inputs"
    rest = [row for row in values if row["rank"] != 1]
    if rest:
        said += f"; next is {short(str(rest[0]['model']))} with {times(rest[0]['ratio_to_best'])} that"
        if len(rest) > 1:
            said += f", last {short(str(rest[-1]['model']))} with {times(rest[-1]['ratio_to_best'])}"
    elif len(values) == 1:
        said += "; it is alone in its field"
    return paragraphs(f"{said}.")


def provenance(facts: Mapping[str, object]) -> Note:
    """Show facts about how a page was made, one `name: value` a line."""
    lines = [(str(name), _fact(value)) for name, value in facts.items() if value not in (None, "", [], {}, ())]
    left = ' style="text-align:left"'
    markup = "".join(f"<tr><td{left}>{html(name)}</td><td{left}>{html(value)}</td></tr>" for name, value in lines)
    return Note(
        f'<table class="evk-facts"><tbody>{markup}</tbody></table>',
        "\n".join(f"{name}: {value}" for name, value in lines),
    )


def _fact(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {short(str(item), 60)}" for name, item in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return ", ".join(short(str(item), 60) for item in value)
    return short(str(value), 200)
