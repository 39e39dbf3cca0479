"""Why: to see how a run went, its own module runs again and answers for every tick of a window, and that is drawn.

Nothing is drawn on trust. The module also answers for every graded tick up to the window and for the first one after
it, and each of these states must be the recorded one: the expected answer as far as the run was right.

A case that can be watched names a `player`, a Python file beside its manifest, which defines::

    schedule(input: bytes, ticks: Sequence[int]) -> bytes      the same input, answered for at exactly these ticks
    states(input: bytes, answer: bytes) -> dict[int, str]      of an expected answer or an output: a mark for each tick,
                                                               made from the state itself; equal marks, equal states
    frames(input: bytes, output: bytes, first: int, last: int) -> Scene    what to draw; its form is in `scene`

A ValueError from `schedule` (no such tick) or `states` (no such state) is an answer, one line for a person; anything
else that a player raises is its author's fault. `frames` is given only an output that `states` could read.
"""

from __future__ import annotations

import gc
import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from evalkit.errors import AuthoringError, UsageError
from evalkit.performance.case import Case, CaseInput
from evalkit.performance.checking import load_file, where
from evalkit.performance.manifest import open_case
from evalkit.performance.scene import Scene, scene_fault
from evalkit.reading import did_you_mean, printable
from evalkit.records import InputResult, Outcome, PerformanceRun
from evalkit.sandbox.solution import UNLIMITED, Rejection, load_solution

__all__ = ["MOST_TICKS", "Playback", "watch"]

T = TypeVar("T")

MOST_TICKS = 400
"""Of one window: a state of a large factory is 0.1 MB, and each has to be written, read and drawn."""

_MOST_BYTES = 256 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Playback:
    """The ticks `first` to `last` of one input of a run, checked and ready to be drawn.

    `fuel` is what the run recorded for the whole input. `states` holds a mark for each tick that the module answered
    for; equal marks are equal states. `checked` are the graded ticks among them whose states are the expected ones,
    `wrong_from` is the first that is wrong (None where none is known to be). `is_recorded` is False where the run left
    no answer to compare with, as after a trap.
    """

    case: str
    version: str
    run_id: str
    model: str
    input: str
    outcome: Outcome
    reason: str | None
    fuel: int | None
    first: int
    last: int
    scene: Scene
    states: dict[int, str]
    checked: tuple[int, ...]
    wrong_from: int | None
    is_recorded: bool

    @property
    def first_fault(self) -> int | None:
        """The first tick of the window whose state does not follow from the one before, where the player can tell."""
        faults = self.scene.get("faults") or []
        return self.first + min(frame for frame, _ in faults) if faults else None

    def differs_from(self, other: Playback) -> int | None:
        """Return the first tick that both answered for with different states. UsageError unless one input was asked."""
        if (self.case, self.version, self.input) != (other.case, other.version, other.input):
            raise UsageError(f"{self.input} of {self.case} and {other.input} of {other.case} are different inputs")
        return next((t for t in sorted(self.states.keys() & other.states) if self.states[t] != other.states[t]), None)


def watch(case: Case | Path | str, run: PerformanceRun, module: bytes, input: str, first: int, last: int) -> Playback:
    """Run a run's own `module` on one of its inputs again and return every tick from `first` to `last` (1-based).

    `case` is an opened one, a path or `slug[@version]`; `module` is as `store.module(run.module_digest)` gives it,
    `input` the name of one of `run.inputs`. In a notebook, `evalkit.views.player.show(playback)` shows what came of it.

    It may burn any fuel, so that a run over the ceiling, or one that was stopped, can be watched too; the wall guard of
    the case holds. Raises UsageError, in one line, where there is nothing to watch, the window does not fit, the module
    fails in it, or a state is not the recorded one; AuthoringError where the case's player or expected answer is wrong.
    """
    case = case if isinstance(case, Case) else open_case(case)
    row, result = _graded(case, run, input)
    player = _Player(case)
    name = f"run {run.run_id}, input {row.name}"
    if type(first) is not int or type(last) is not int or not 1 <= first <= last:
        raise UsageError(f"ticks {first} to {last} are no window: it starts at 1 or later and does not end before that")
    if last - first >= MOST_TICKS:
        raise UsageError(f"ticks {first:,} to {last:,} are {last - first + 1:,}: a window has {MOST_TICKS} at most")
    if hashlib.sha256(module).hexdigest() != run.module_digest:
        raise UsageError(f"run {run.run_id}: these bytes are not its module {(run.module_digest or '(none)')[:16]}")
    data, expected = _read(row.input), _read(row.expected)
    with _no_collector():
        graded = player.states(data, expected, lambda what: AuthoringError(f"{row.expected}: {what}"))
        ticks, is_recorded = _ticks(graded, result, first, last)
        output = _answer(case, module, player.schedule(data, ticks, name), name)
        states = player.states(data, output, lambda what: UsageError(f"{name}: its answer is no state: {what}"))
        if sorted(states) != ticks:
            raise UsageError(f"{name}: the module did not answer for the ticks it was asked for")
        wrong_from = _compare(result, graded, states, is_recorded, name)
        scene = player.frames(data, output, first, last)
    return Playback(
        case=case.slug, version=case.version, run_id=run.run_id, model=run.model, input=row.name,
        outcome=result.outcome, reason=result.reason, fuel=result.fuel, first=first, last=last, scene=scene,
        states=states, checked=tuple(tick for tick in ticks if graded.get(tick) == states[tick]),
        wrong_from=wrong_from, is_recorded=is_recorded,
    )  # fmt: skip


def _graded(case: Case, run: PerformanceRun, name: str) -> tuple[CaseInput, InputResult]:
    if (run.case, run.version) != (case.slug, case.version):
        raise UsageError(f"run {run.run_id} is of {run.case}@{run.version}, not of {case.slug}@{case.version}")
    rows = {row.name: row for row in case.inputs}
    if name not in rows:
        raise UsageError(f"case {case.slug} has no input {printable(name)!r}{did_you_mean(name, list(rows))}")
    result = next((result for result in run.inputs if result.name == name), None)
    if result is None or (result.outcome is Outcome.SKIPPED and result.reason is None):
        why = f" ({run.reason})" if run.reason else ""
        raise UsageError(f"run {run.run_id}: input {name} was skipped{why}: there is nothing to watch")
    return rows[name], result


def _ticks(graded: dict[int, str], result: InputResult, first: int, last: int) -> tuple[list[int], bool]:
    """The ticks to ask for, and whether the run left states to compare with; if so, one graded tick past the window."""
    is_recorded = result.outcome in (Outcome.PASS, Outcome.OVER_CEILING) or result.first_mismatch_tick is not None
    asked = {*range(first, last + 1), *(tick for tick in graded if tick <= last)}
    later = [tick for tick in graded if tick > last]
    return sorted({*asked, min(later)} if is_recorded and later else asked), is_recorded


def _compare(
    result: InputResult, graded: dict[int, str], states: dict[int, str], is_recorded: bool, name: str
) -> int | None:
    """Refuse a state that is not the recorded one; return the first graded tick that is wrong.

    A wrong run recorded the expected states up to its first mismatch. From there on nothing is compared: the checker
    may have refused more than the state, a false checksum for one.
    """
    wrong = [tick for tick in sorted(graded) if tick in states and states[tick] != graded[tick]]
    if not is_recorded:
        return wrong[0] if wrong else None
    limit = result.first_mismatch_tick
    for tick in wrong:
        if limit is None or tick < limit:
            raise UsageError(f"{name}: the state at tick {tick} is not the recorded one; nothing is drawn")
    return limit


def _answer(case: Case, module: bytes, data: bytes, name: str) -> bytes:
    assert case.contract is not None and case.sandbox is not None
    solution = load_solution(module, entry=case.contract.entry, max_memory_bytes=case.sandbox.max_memory_bytes)
    if isinstance(solution, Rejection):
        raise UsageError(f"{name}: its module cannot be run: {solution.detail}")
    call = solution.call(
        data, runway_limit=UNLIMITED, max_output_bytes=_MOST_BYTES, wall_limit_s=case.sandbox.wall_limit_s
    )
    if call.output is None:
        raise UsageError(f"{name}: the module gave no answer for this window: {call.detail or call.reason}")
    return call.output


class _Player:
    """A case's `player.py`. Its ValueErrors are answers; anything else that it raises is its author's fault."""

    def __init__(self, case: Case) -> None:
        if case.contract is None or case.contract.player is None:
            raise UsageError(f"case {case.slug} has no player: its manifest names none under [contract]")
        self._path: Path = case.contract.player
        module = load_file(self._path)
        for function in ("schedule", "states", "frames"):
            if not callable(getattr(module, function, None)):
                raise AuthoringError(f"{self._path}: {function}: is missing: define it at the top level")
        self._module = module

    def schedule(self, data: bytes, ticks: list[int], name: str) -> bytes:
        asked = self._call("schedule", lambda what: UsageError(f"{name}: {what}"), data, ticks)
        return self._typed("schedule", asked, bytes)

    def states(self, data: bytes, answer: bytes, refusal: Callable[[str], Exception]) -> dict[int, str]:
        return self._typed("states", self._call("states", refusal, data, answer), dict)

    def frames(self, data: bytes, output: bytes, first: int, last: int) -> Scene:
        scene = self._call("frames", lambda what: AuthoringError(f"{self._path}: {what}"), data, output, first, last)
        if fault := scene_fault(scene):
            raise AuthoringError(f"{self._path}: frames: {fault}; mend the player")
        if (scene["first"], scene["last"]) != (first, last):
            raise AuthoringError(f"{self._path}: frames: it drew other ticks than {first} to {last}; mend the player")
        return self._typed("frames", scene, dict)

    def _call(self, function: str, refusal: Callable[[str], Exception], *arguments: Any) -> Any:
        try:
            with redirect_stdout(sys.stderr):
                return getattr(self._module, function)(*arguments)
        except ValueError as error:
            raise refusal(" ".join(str(error).split())[:300]) from error
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise AuthoringError(f"{self._path}: {function}: {where(error, self._path)}; mend the player") from error

    def _typed(self, function: str, value: Any, kind: type[T]) -> T:
        if not isinstance(value, kind):
            raise AuthoringError(f"{self._path}: {function}: gives {type(value).__name__}, not {kind.__name__}")
        return value


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise AuthoringError(f"{path}: cannot be read: {error.strerror}; restore the file") from error


@contextmanager
def _no_collector() -> Iterator[None]:
    """Millions of small objects are made and none is garbage: looking for cycles would take most of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
