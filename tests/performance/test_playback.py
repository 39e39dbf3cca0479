"""Playback: a run's own module answers for every tick of a window; a state that is not the recorded one is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import AuthoringError, UsageError
from evalkit.performance.case import Case
from evalkit.performance.grading import grade_solution
from evalkit.performance.manifest import load_case
from evalkit.performance.playback import MOST_TICKS, watch
from evalkit.performance.scene import scene_fault
from evalkit.records import InputResult, Outcome, PerformanceRun
from tests.casework import make_case, make_solution, module
from tests.made_up_scene import scene

RIGHT = "from evalkit.records import Verdict\ndef check(input, expected, output): return Verdict(True)\n"

# A module that echoes answers for the ticks it is asked for; the state at a tick is its number, doubled.
PLAYER = """
import json
from tests.made_up_scene import scene

def schedule(input, ticks):
    if max(ticks) > 1000:
        raise ValueError("this input has the ticks 1 to 1,000")
    return json.dumps({"ticks": list(ticks)}).encode()

def states(input, answer):
    data = json.loads(answer)
    return {tick: str(2 * tick) for tick in data["ticks"]} | {int(t): s for t, s in data.get("states", {}).items()}

def frames(input, output, first, last):
    return scene(first, last)
"""
DATA = b'{"ticks": [10, 20, 30]}'

Made = Callable[..., tuple[Case, PerformanceRun, bytes]]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    def make(
        player: str | None = PLAYER, expected: bytes = DATA, wasm: bytes | None = None, **changes: Any
    ) -> tuple[Case, PerformanceRun, bytes]:
        rows = [("s", "smoke", b"{}", b"{}", 1.0), ("x", "stress", DATA, expected, 2.0)]
        case = load_case(make_case(tmp_path / "cases", inputs=rows, checker=RIGHT, player=player))
        graded = grade_solution(case, make_solution(tmp_path / "solution", wasm))
        inputs = tuple(replace(r, **changes) if r.name == "x" else r for r in graded.run.inputs)
        assert graded.module is not None
        return case, replace(graded.run, inputs=inputs), graded.module

    return make


def test_a_window_is_checked_up_to_its_end_and_at_the_next_graded_tick(made: Made) -> None:
    seen = watch(*made(), "x", 12, 25)
    assert sorted(seen.states) == [10, *range(12, 26), 30]
    assert seen.checked == (10, 20, 30)
    assert (seen.wrong_from, seen.is_recorded) == (None, True)
    assert (seen.first, seen.last, seen.scene["first"], seen.scene["last"]) == (12, 25, 12, 25)


def test_a_run_over_the_ceiling_is_watched_like_any_other(made: Made) -> None:
    seen = watch(*made(outcome=Outcome.OVER_CEILING, overshoot_percent=12.5), "x", 1, 5)
    assert seen.outcome is Outcome.OVER_CEILING
    assert seen.checked == (10,)


def test_a_state_that_is_not_the_recorded_one_is_refused_and_its_tick_named(made: Made) -> None:
    case = made(expected=b'{"ticks": [10, 20, 30], "states": {"20": "another"}}')
    with pytest.raises(UsageError, match="input x: the state at tick 20 is not the recorded one"):
        watch(*case, "x", 25, 28)
    assert watch(*case, "x", 1, 5).checked == (10,)


def test_a_wrong_run_is_right_up_to_its_first_mismatch_and_wrong_from_there(made: Made) -> None:
    case = made(
        expected=b'{"ticks": [10, 20, 30], "states": {"20": "another"}}', outcome=Outcome.INCORRECT,
        reason="wrong_answer", first_mismatch_tick=20,
    )  # fmt: skip
    seen = watch(*case, "x", 15, 25)
    assert (seen.wrong_from, seen.checked, seen.is_recorded) == (20, (10, 30), True)


def test_before_its_first_mismatch_a_wrong_run_is_held_to_the_expected_answer_too(made: Made) -> None:
    case = made(
        expected=b'{"ticks": [10, 20, 30], "states": {"10": "another"}}', outcome=Outcome.INCORRECT,
        reason="wrong_answer", first_mismatch_tick=20,
    )  # fmt: skip
    with pytest.raises(UsageError, match="tick 10 is not the recorded one"):
        watch(*case, "x", 15, 25)


def test_a_run_that_left_no_answer_is_watched_and_marked_where_it_is_known_to_be_wrong(made: Made) -> None:
    case = made(
        expected=b'{"ticks": [10, 20, 30], "states": {"20": "another"}}', outcome=Outcome.INCORRECT, reason="exhausted",
        fuel=None,
    )  # fmt: skip
    seen = watch(*case, "x", 15, 25)
    assert (seen.wrong_from, seen.is_recorded, sorted(seen.states)[-1]) == (20, False, 25)


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        (0, 5, "are no window"),
        (7, 6, "are no window"),
        (True, 6, "are no window"),
        (1, MOST_TICKS + 1, f"has {MOST_TICKS} at most"),
        (999, 1001, "input x: this input has the ticks 1 to 1,000"),
    ],
)
def test_a_window_that_does_not_fit_is_one_line(made: Made, first: int, last: int, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        watch(*made(), "x", first, last)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_other_bytes_than_the_runs_own_module_are_refused(made: Made) -> None:
    case, run, wasm = made()
    with pytest.raises(UsageError, match="are not its module"):
        watch(case, run, wasm + b"\0", "x", 1, 5)


def test_an_input_that_was_skipped_or_never_was_is_one_line(made: Made) -> None:
    case, run, wasm = made(outcome=Outcome.SKIPPED)
    with pytest.raises(UsageError, match="input x was skipped"):
        watch(case, run, wasm, "x", 1, 5)
    with pytest.raises(UsageError, match="has no input 'y'"):
        watch(case, run, wasm, "y", 1, 5)
    with pytest.raises(UsageError, match="is of other@"):
        watch(case, replace(run, case="other"), wasm, "x", 1, 5)


def test_a_trap_in_the_window_is_one_line_with_its_cause(made: Made) -> None:
    case, run, _ = made()
    trapping = module("(unreachable)")
    run = replace(run, module_digest=hashlib.sha256(trapping).hexdigest())
    with pytest.raises(UsageError, match=r"input x: the module gave no answer for this window: .*unreachable"):
        watch(case, run, trapping, "x", 1, 5)
    run = replace(run, module_digest=hashlib.sha256(b"no wasm").hexdigest())
    with pytest.raises(UsageError, match="its module cannot be run"):
        watch(case, run, b"no wasm", "x", 1, 5)


def test_an_answer_for_other_ticks_or_of_no_state_is_the_solutions_fault(made: Made) -> None:
    case, run, _ = made()
    for text, said in ((b'{"ticks": [1]}', "did not answer for the ticks"), (b"{{{", "its answer is no state")):
        bytes_ = "".join(f"\\{byte:02x}" for byte in text)
        body, extra = f"(i64.const {(64 << 32) | len(text)})", f'(data (i32.const 64) "{bytes_}")'
        stuck = module(body, extra=extra, alloc="(i32.const 4096)")
        digest = hashlib.sha256(stuck).hexdigest()
        with pytest.raises(UsageError, match=said):
            watch(case, replace(run, module_digest=digest), stuck, "x", 1, 5)


@pytest.mark.parametrize(
    ("player", "said"),
    [
        (PLAYER.replace("def states", "def stat"), "states: is missing"),
        (PLAYER.replace("return scene(first, last)", "return 1 / 0"), "ZeroDivisionError"),
        (PLAYER.replace("return scene(first, last)", "return {}"), "frames: width: is missing"),
        (PLAYER.replace("return scene(first, last)", "return scene(1, 4)"), "drew other ticks"),
        (PLAYER.replace(".encode()", ""), "schedule: gives str, not bytes"),
    ],
)
def test_a_fault_in_the_player_is_the_authors(made: Made, player: str, said: str) -> None:
    with pytest.raises(AuthoringError) as caught:
        watch(*made(player), "x", 12, 25)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_a_case_without_a_player_says_so(made: Made) -> None:
    with pytest.raises(UsageError, match="case echo has no player"):
        watch(*made(None), "x", 1, 5)


def test_two_playbacks_name_the_first_tick_at_which_they_differ(made: Made) -> None:
    seen = watch(*made(), "x", 1, 9)
    assert seen.differs_from(seen) is None
    assert seen.differs_from(replace(seen, states={**seen.states, 4: "another", 7: "too"})) == 4
    with pytest.raises(UsageError, match="different inputs"):
        seen.differs_from(replace(seen, input="y"))


def test_the_first_fault_is_a_tick(made: Made) -> None:
    seen = watch(*made(), "x", 12, 25)
    assert seen.first_fault == 14
    assert replace(seen, scene={**seen.scene, "faults": []}).first_fault is None


# Scenes ---------------------------------------------------------------------------------------------------------------


def test_a_scene_that_uses_everything_is_sound() -> None:
    assert scene_fault(scene()) is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s.pop("tokens"), "tokens: is missing"),
        (lambda s: s.update(last=0), "width, height, first, last"),
        (lambda s: s.update(paths={}), "paths: is a list"),
        (lambda s: s["items"][0].update(colour="red"), "items[0]: has a name, and a colour"),
        (lambda s: s["items"][0].update(colour='#000000"/><script>'), "items[0]"),
        (lambda s: s["items"][1].update(shape="blob"), "items[1]: shape is one of"),
        (lambda s: s["paths"][0].pop(), "paths[0]: has two points"),
        (lambda s: s["paths"].__setitem__(0, [5, 0, 0, 5, 1, 1]), "paths[0]: its positions grow"),
        (lambda s: s["shapes"][0].update(kind="robot"), "shapes[0]: kind is one of"),
        (lambda s: s["shapes"][0].update(dir="up"), "shapes[0]: its directions"),
        (lambda s: s["shapes"][0].update(x="<script>"), "shapes[0]: its sizes"),
        (lambda s: s["shapes"][2].update(path=9), "shapes[2]: path is a place in paths"),
        (lambda s: s["shapes"][2]["hand"].pop(), "shapes[2]: hand has one whole number a frame, 4 in all"),
        (lambda s: s["shapes"][3].pop("left"), "shapes[3]: a machine has left"),
        (lambda s: s["shapes"][3]["holds"].append([9, [], []]), "shapes[3]: holds names a frame"),
        (lambda s: s["shapes"][5]["holds"].append([0, [[7, 1]], []]), "shapes[5]: holds has a frame"),
        (lambda s: s["tokens"][0].update(item=2), "tokens[0]: has an item"),
        (lambda s: s["tokens"][0]["legs"][0].append(1), "tokens[0]: has a position for each frame"),
        (lambda s: s["tokens"][1].pop("from"), "tokens[1]: is not of its form (KeyError"),
        (lambda s: s["faults"].append([0, 99]), "faults[1]: names no shape"),
    ],
)
def test_what_is_wrong_with_a_scene_is_named(change: Callable[[dict[str, Any]], Any], said: str) -> None:
    broken = scene()
    change(broken)
    assert said in (scene_fault(broken) or "")


def test_a_result_without_a_row_in_the_run_is_skipped(made: Made) -> None:
    case, run, wasm = made()
    kept: tuple[InputResult, ...] = tuple(result for result in run.inputs if result.name != "x")
    with pytest.raises(UsageError, match="input x was skipped"):
        watch(case, replace(run, inputs=kept), wasm, "x", 1, 5)
