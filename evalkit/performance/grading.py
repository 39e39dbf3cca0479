"""Why: one solution and one case become one record: correctness first, input by input, then fuel.

The order is the rule: build, vet the module, smoke inputs (any fuel up to their runway limit), and only behind an open
gate the stress inputs. A solution that fails is a record; what raises is the case's, the operator's or the machine's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evalkit.building.build import BuildLimits, BuildResult, build_solution, solution_digest
from evalkit.errors import AuthoringError, MachineError, UsageError
from evalkit.performance.checking import Check, load_checker
from evalkit.performance.manifest import Case, CaseInput, open_case
from evalkit.performance.origin import load_origin
from evalkit.records import InputResult, Outcome, PerformanceRun
from evalkit.sandbox.engine import engine_name, fuel_schedule
from evalkit.sandbox.solution import UNLIMITED, Call, Rejection, Solution, load_solution

__all__ = ["REASONS", "Graded", "grade", "grade_module", "grade_solution"]

REASONS = (
    "build_failed", "invalid_module", "missing_export", "imports", "start_function", "memory", "trap", "exhausted",
    "bad_output", "wrong_answer",
)  # fmt: skip
"""Why a run is incorrect, first come first named; a trap's reason carries its code, as `trap:unreachable`."""

_UNGRADED = ("wall_limit", "machine")


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """A run's record, and the bytes of the module that earned it (None where the build left none)."""

    run: PerformanceRun
    module: bytes | None


def grade(
    case: Case | Path | str,
    solution: Path | str,
    *,
    variant: str | None = None,
    attempt: int = 1,
    unlimited: bool = False,
) -> PerformanceRun:
    """Build `solution`, a folder, run it on every input of `case`, and return the record; nothing is stored.

    `case` is a path, `slug[@version]`, or an opened case. `variant` names the cohort (default: the case's first);
    `unlimited` lets every input run to its end, to read a fuel beyond its runway. Raises AuthoringError (case or
    checker), UsageError (no such case, folder or variant), MachineError (no builds).
    """
    loaded = case if isinstance(case, Case) else open_case(case)
    return grade_solution(loaded, Path(solution), variant=variant, attempt=attempt, unlimited=unlimited).run


def grade_solution(
    case: Case,
    folder: Path,
    *,
    variant: str | None = None,
    attempt: int = 1,
    unlimited: bool = False,
    limits: BuildLimits | None = None,
    on_input: Callable[[InputResult], None] | None = None,
) -> Graded:
    """`grade`, with the module beside the record; `on_input` hears each input's result as it comes."""
    if case.build is None:
        raise UsageError(f"{case.slug} is a reviewed case: a person reviews its runs; nothing is graded")
    origin = load_origin(folder)
    identity = {
        "variant": case.variant(variant).slug,
        "model": origin.model,
        "attempt": attempt,
        "solution_digest": solution_digest(folder),
        "provenance": origin.provenance(),
    }
    built = build_solution(folder, case.build, limits=limits)
    run = _grade(case, built, identity, unlimited=unlimited, on_input=on_input)
    return Graded(run=run, module=built.module)


def grade_module(case: Case, module: bytes, like: PerformanceRun, *, attempt: int | None = None) -> PerformanceRun:
    """Grade a module that an earlier run left, on `case` and this engine as they are now; who made it: as in `like`."""
    names = ("variant", "model", "solution_digest", "provenance")
    identity: dict[str, Any] = {name: getattr(like, name) for name in names}
    identity["attempt"] = like.attempt if attempt is None else attempt
    case.variant(like.variant)
    return _grade(case, BuildResult(module=module, log=like.build_log or ""), identity)


def _grade(
    case: Case,
    built: BuildResult,
    identity: dict[str, Any],
    *,
    unlimited: bool = False,
    on_input: Callable[[InputResult], None] | None = None,
) -> PerformanceRun:
    contract, sandbox = case.contract, case.sandbox
    if contract is None or sandbox is None:
        raise UsageError(f"{case.slug} is a reviewed case: a person reviews its runs; nothing is graded")
    check = load_checker(contract.checker)
    done: dict[str, InputResult] = {}

    def hear(result: InputResult) -> None:
        done[result.name] = result
        if on_input:
            on_input(result)

    reason, detail = built.reason, built.detail
    if built.module is not None:
        try:
            loaded = load_solution(built.module, entry=contract.entry, max_memory_bytes=sandbox.max_memory_bytes)
            if isinstance(loaded, Rejection):
                reason, detail = loaded.reason, loaded.detail
            else:
                _run_inputs(case, loaded, check, unlimited, hear)
        except MachineError as error:
            reason, detail = "machine", str(error)
    run = PerformanceRun(
        case=case.slug,
        version=case.version,
        **identity,
        outcome=Outcome.UNGRADED,
        reason=reason,
        detail=detail,
        correct=None,
        total_fuel=None,
        fuel_limit=sandbox.fuel_limit,
        fuel_schedule=fuel_schedule(),
        engine=engine_name(),
        module_digest=built.digest,
        case_digest=case.digest(),
        build_log=built.log or None,
        warnings=built.warnings,
        inputs=tuple(done.get(row.name) or _skipped(case, row) for row in case.inputs),
    )
    return _conclude(run)


def _run_inputs(
    case: Case, solution: Solution, check: Check, unlimited: bool, hear: Callable[[InputResult], None]
) -> None:
    """Smoke inputs in order, then, if every one was right, the stress inputs; `hear` gets each result as it comes.

    A smoke input that burns its whole runway or meets the wall guard ends the smoke phase: the others would most
    likely do the same, minute by minute.
    """
    gate_open = True
    for row in case.smoke:
        result = _run_input(case, row, solution, check, unlimited)
        hear(result)
        gate_open &= result.outcome is Outcome.PASS
        if result.reason in ("exhausted", *_UNGRADED):
            break
    for row in case.stress if gate_open else ():
        result = _run_input(case, row, solution, check, unlimited)
        hear(result)
        if result.reason in _UNGRADED:
            break


def _run_input(case: Case, row: CaseInput, solution: Solution, check: Check, unlimited: bool) -> InputResult:
    sandbox = case.sandbox
    assert sandbox is not None
    data, expected = _read(row.input), _read(row.expected)
    call = solution.call(
        data,
        runway_limit=UNLIMITED if unlimited else case.runway_limit(row),
        max_output_bytes=sandbox.max_output_bytes,
        wall_limit_s=sandbox.wall_limit_s,
    )
    blank = _skipped(case, row)
    if call.timed_out:
        return replace(blank, reason=call.reason, detail=call.detail)
    if call.output is None:
        return replace(blank, outcome=Outcome.INCORRECT, reason=call.reason, fuel=call.fuel, detail=call.detail)
    verdict = check(data, expected, call.output)
    if not verdict.ok:
        return replace(
            blank, outcome=Outcome.INCORRECT, reason="wrong_answer", fuel=call.fuel,
            first_mismatch_tick=verdict.first_mismatch_tick, detail=verdict.detail,
        )  # fmt: skip
    return _priced(blank, call, sandbox.fuel_limit)


def _priced(blank: InputResult, call: Call, ceiling: int) -> InputResult:
    """A right answer: for a stress input its fuel decides; a smoke input is not scored for fuel."""
    assert call.fuel is not None
    if blank.kind == "smoke" or call.fuel <= ceiling:
        return replace(blank, outcome=Outcome.PASS, fuel=call.fuel)
    overshoot = 100 * (call.fuel - ceiling) / ceiling
    return replace(blank, outcome=Outcome.OVER_CEILING, fuel=call.fuel, overshoot_percent=overshoot)


def _skipped(case: Case, row: CaseInput) -> InputResult:
    return InputResult(
        name=row.name,
        kind=row.kind,
        behaviour=row.behaviour,
        outcome=Outcome.SKIPPED,
        runway_limit=case.runway_limit(row),
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise AuthoringError(f"{path}: cannot be read: {error.strerror}; restore the file") from error


def _conclude(run: PerformanceRun) -> PerformanceRun:
    """The run's outcome from its inputs' outcomes. A run in which nothing was executed never passes."""
    if run.reason in _UNGRADED:
        return run
    wrong = [row for row in run.inputs if row.outcome is Outcome.INCORRECT]
    if run.reason or wrong:
        first = min(wrong, key=lambda row: _precedence(row.reason or ""), default=None)
        reason, detail = (run.reason, run.detail) if run.reason or not first else (first.reason, first.detail)
        if first and not run.reason and detail:
            detail = f"{first.name}: {detail}"
        return replace(run, outcome=Outcome.INCORRECT, reason=reason, detail=detail, correct=False)
    stopped = next((row for row in run.inputs if row.reason in _UNGRADED), None)
    if stopped:
        return replace(run, reason=stopped.reason, detail=f"{stopped.name}: {stopped.detail}")
    stress = [row for row in run.inputs if row.kind == "stress"]
    fuels = [row.fuel for row in stress if row.fuel is not None]
    if not stress or len(fuels) < len(stress):
        return replace(run, reason="machine", detail="no stress input was run")
    if any(row.outcome is Outcome.OVER_CEILING for row in stress):
        return replace(run, outcome=Outcome.OVER_CEILING, correct=True)
    return replace(run, outcome=Outcome.PASS, correct=True, total_fuel=sum(fuels))


def _precedence(reason: str) -> int:
    return REASONS.index(reason.partition(":")[0])
