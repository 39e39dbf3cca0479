"""Grading: the gate, the ceiling, the runway, the reasons; a solution's failure is a record, an author's an error."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import wasmtime

from evalkit.errors import AuthoringError, UsageError
from evalkit.performance import grade
from evalkit.performance.grading import REASONS, grade_module, grade_solution
from evalkit.performance.manifest import load_case
from evalkit.records import InputResult, Outcome, PerformanceRun
from tests.casework import ECHO, burner, make_case, make_solution, module

Row = tuple[str, str, bytes, bytes, float]


def graded(
    tmp_path: Path, wasm: bytes | None = None, *, inputs: Sequence[Row] | None = None, fuel_limit: int = 100_000,
    checker: str | None = None, sandbox: str = "wall_limit_s = 20.0", unlimited: bool = False,
) -> PerformanceRun:  # fmt: skip
    rows = {} if inputs is None else {"inputs": inputs}
    case = make_case(tmp_path / "cases", fuel_limit=fuel_limit, checker=checker, sandbox=sandbox, **rows)
    run = grade(case, make_solution(tmp_path / "solution", wasm), unlimited=unlimited)
    if not unlimited:  # a reading beyond the runway is shown, and never stored
        run.validate()
    return run


def row(run: PerformanceRun, name: str) -> InputResult:
    return next(result for result in run.inputs if result.name == name)


STRESS: list[Row] = [("x", "stress", b"x" * 10, b"x" * 10, 3.0), ("y", "stress", b"y" * 20, b"y" * 20, 3.0)]


class TestOutcomes:
    def test_a_right_solution_under_the_ceiling_passes_and_its_score_is_the_sum_over_stress_inputs(
        self, tmp_path: Path
    ) -> None:
        run = graded(tmp_path, burner(10), inputs=[("s", "smoke", b"s" * 50, b"s" * 50, 1.0), *STRESS])
        assert (run.outcome, run.reason, run.correct) == (Outcome.PASS, None, True)
        fuels = [result.fuel for result in run.inputs if result.kind == "stress"]
        assert run.total_fuel == sum(fuels)  # type: ignore[arg-type]
        assert all(fuel and fuel > 400 for fuel in fuels)

    def test_fuel_past_the_ceiling_on_the_runway_is_over_the_ceiling_and_has_no_total(self, tmp_path: Path) -> None:
        base = graded(tmp_path / "a", burner(100), inputs=STRESS)
        small, large = (result.fuel for result in base.inputs)
        assert small is not None
        assert large is not None
        run = graded(tmp_path / "b", burner(100), inputs=STRESS, fuel_limit=small)
        assert (run.outcome, run.correct, run.total_fuel, run.reason) == (Outcome.OVER_CEILING, True, None, None)
        assert row(run, "x").outcome is Outcome.PASS
        assert row(run, "x").overshoot_percent is None
        assert row(run, "y").outcome is Outcome.OVER_CEILING
        assert row(run, "y").fuel == large
        assert row(run, "y").overshoot_percent == pytest.approx(100 * (large - small) / small)

    def test_the_edges_of_ceiling_and_runway_are_exact(self, tmp_path: Path) -> None:
        inputs = [("x", "stress", b"x" * 10, b"x" * 10, 1.5)]
        fuel = graded(tmp_path / "0", burner(1000), inputs=inputs).total_fuel
        assert fuel is not None
        at = {limit: graded(tmp_path / str(limit), burner(1000), inputs=inputs, fuel_limit=limit)
              for limit in (fuel, fuel - 1, -(-fuel * 2 // 3), fuel * 2 // 3 - 1)}  # fmt: skip
        assert [run.outcome for run in at.values()] == ["pass", "over_ceiling", "over_ceiling", "incorrect"]
        last = row(list(at.values())[-1], "x")
        assert (last.reason, last.fuel) == ("exhausted", None)

    def test_a_wrong_answer_is_incorrect_at_any_fuel_and_the_first_wrong_tick_is_kept(self, tmp_path: Path) -> None:
        checker = """from evalkit.records import Verdict
def check(input, expected, output): return Verdict(False, 1250, "entity 7 differs")"""
        run = graded(tmp_path, inputs=STRESS, checker=checker)
        assert (run.outcome, run.reason, run.correct, run.total_fuel) == ("incorrect", "wrong_answer", False, None)
        result = row(run, "x")
        assert (result.first_mismatch_tick, result.detail, result.reason) == (1250, "entity 7 differs", "wrong_answer")
        assert result.fuel is not None

    def test_without_a_checker_the_bytes_must_be_equal(self, tmp_path: Path) -> None:
        run = graded(tmp_path, inputs=[("x", "stress", b"abc", b"abd", 1.0)])
        assert "byte 2" in str(row(run, "x").detail)

    def test_a_run_that_meets_the_wall_guard_is_ungraded_and_neither_right_nor_wrong(self, tmp_path: Path) -> None:
        wasm = module("(loop (br 0)) (i64.const 0)")
        run = graded(tmp_path, wasm, inputs=STRESS, fuel_limit=1 << 50, sandbox="wall_limit_s = 0.2")
        assert (run.outcome, run.reason, run.correct) == (Outcome.UNGRADED, "wall_limit", None)
        assert {result.outcome for result in run.inputs} == {Outcome.SKIPPED}

    def test_unlimited_reads_a_fuel_beyond_the_runway(self, tmp_path: Path) -> None:
        run = graded(tmp_path, burner(1000), inputs=STRESS, fuel_limit=10, unlimited=True)
        assert run.outcome is Outcome.OVER_CEILING
        assert (row(run, "y").fuel or 0) > 30
        assert row(run, "y").runway_limit == 30


class TestTheGate:
    SMOKE: Sequence[Row] = [
        ("s1", "smoke", b"1", b"1", 1.0), ("s2", "smoke", b"2", b"wrong", 1.0), ("s3", "smoke", b"3", b"3", 1.0),
    ]  # fmt: skip

    def test_a_failed_smoke_input_skips_every_stress_input(self, tmp_path: Path) -> None:
        run = graded(tmp_path, inputs=[*self.SMOKE, *STRESS])
        assert run.outcome is Outcome.INCORRECT
        outcomes = {result.name: result.outcome for result in run.inputs}
        assert outcomes == {"s1": "pass", "s2": "incorrect", "s3": "pass", "x": "skipped", "y": "skipped"}
        assert row(run, "s2").behaviour == "It answers s2."
        assert "s2" in str(run.detail)

    def test_the_gate_holds_also_where_the_manifest_names_stress_inputs_first(self, tmp_path: Path) -> None:
        run = graded(tmp_path, inputs=[*STRESS, *self.SMOKE])
        assert [result.name for result in run.inputs] == ["x", "y", "s1", "s2", "s3"]
        assert row(run, "x").outcome is Outcome.SKIPPED

    def test_smoke_is_not_scored_for_fuel_up_to_its_runway_limit(self, tmp_path: Path) -> None:
        inputs: list[Row] = [("s", "smoke", b"s" * 100, b"s" * 100, 1000.0), ("x", "stress", b"", b"", 1.0)]
        run = graded(tmp_path, burner(100), inputs=inputs, fuel_limit=100)
        assert run.outcome is Outcome.PASS
        assert (row(run, "s").fuel or 0) > 100
        assert row(run, "s").overshoot_percent is None
        assert run.total_fuel == row(run, "x").fuel

    def test_smoke_past_its_runway_closes_the_gate(self, tmp_path: Path) -> None:
        inputs: list[Row] = [("s", "smoke", b"s" * 100, b"s" * 100, 2.0), ("x", "stress", b"", b"", 1.0)]
        run = graded(tmp_path, burner(100), inputs=inputs, fuel_limit=100)
        assert (run.outcome, run.reason) == (Outcome.INCORRECT, "exhausted")

    def test_without_smoke_inputs_the_gate_is_open(self, tmp_path: Path) -> None:
        assert graded(tmp_path, inputs=STRESS).outcome is Outcome.PASS

    def test_results_are_heard_as_they_come(self, tmp_path: Path) -> None:
        heard: list[str] = []
        case = load_case(make_case(tmp_path / "cases"))
        grade_solution(case, make_solution(tmp_path / "s"), on_input=lambda result: heard.append(result.name))
        assert heard == ["s", "x"]


class TestReasons:
    @pytest.mark.parametrize(
        ("wasm", "reason"),
        [
            (b"\0asm junk", "invalid_module"),
            (module()[:-4], "invalid_module"),
            (bytes(wasmtime.wat2wasm("(module)")), "missing_export"),
            (module(extra="(func $s) (start $s)"), "start_function"),
            (module(memory="17"), "memory"),
            (module("unreachable"), "trap:unreachable"),
            (module("(loop (br 0)) (i64.const 0)"), "exhausted"),
            (module("(i64.const -1)"), "bad_output"),
            (module("(i64.const 5)"), "wrong_answer"),
        ],
    )
    def test_each_failure_has_its_reason_and_every_input_its_row(
        self, tmp_path: Path, wasm: bytes, reason: str
    ) -> None:
        run = graded(tmp_path, wasm)
        assert (run.outcome, run.reason, run.correct, run.total_fuel) == ("incorrect", reason, False, None)
        assert [result.name for result in run.inputs] == ["s", "x"]
        assert row(run, "x").outcome is Outcome.SKIPPED

    def test_a_failed_build_keeps_the_tail_of_its_log(self, tmp_path: Path) -> None:
        case = make_case(tmp_path / "cases", build="echo the reason; exit 1")
        run = grade(case, make_solution(tmp_path / "s"))
        assert (run.outcome, run.reason, run.module_digest) == (Outcome.INCORRECT, "build_failed", None)
        assert run.build_log == "the reason\n"

    def test_of_several_reasons_the_first_of_the_list_is_the_runs(self, tmp_path: Path) -> None:
        by_input = "(if (i32.eq (i32.load8_u (local.get 0)) (i32.const {})) (then {}))"
        wasm = module(
            by_input.format(ord("t"), "unreachable")
            + by_input.format(ord("e"), "(loop (br 0))")
            + by_input.format(ord("b"), "(return (i64.const -1))")
            + ECHO
        )
        letters = {"w": b"wrong", "b": b"b", "e": b"e", "t": b"t"}
        rows: list[Row] = [(name, "stress", name.encode(), answer, 1.0) for name, answer in letters.items()]
        reasons = [graded(tmp_path / str(n), wasm, inputs=rows[:n]).reason for n in range(1, 5)]
        assert reasons == ["wrong_answer", "bad_output", "exhausted", "trap:unreachable"]
        assert [REASONS.index(reason.partition(":")[0]) for reason in reasons if reason] == [9, 8, 7, 6]


class TestWhoseFaultItIs:
    @pytest.mark.parametrize(
        ("checker", "words"),
        [
            ("def check(input, expected, output): raise KeyError('tick')", "KeyError: 'tick' (line 1)"),
            ("def check(input, expected, output): return None", "has no attribute"),
            ("def check(a): pass", "TypeError"),
            ("from evalkit.records import Verdict\ndef check(a, b, c): return Verdict('yes')", "`ok` is 'yes'"),
            ("check = 3", "define check(input, expected, output)"),
            ("def check(:", "SyntaxError"),
            ("import no_such_module", "ModuleNotFoundError"),
        ],
    )
    def test_a_checker_that_fails_is_an_authoring_error_in_one_line(
        self, tmp_path: Path, checker: str, words: str
    ) -> None:
        with pytest.raises(AuthoringError) as error:
            graded(tmp_path, checker=checker)
        assert words in str(error.value)
        assert "\n" not in str(error.value)
        assert "checker.py" in str(error.value)

    def test_an_input_that_went_missing_is_an_authoring_error(self, tmp_path: Path) -> None:
        folder = make_case(tmp_path / "cases")
        case = load_case(folder)
        (folder / "inputs" / "x.in").unlink()
        with pytest.raises(AuthoringError, match=r"x\.in"):
            grade(case, make_solution(tmp_path / "s"))

    @pytest.mark.parametrize("text", ["", "model = ''", "modle = 'x'", "model = 3", "model = 'x'\nmore = 1", "["])
    def test_a_solution_that_does_not_say_who_wrote_it_is_refused(self, tmp_path: Path, text: str) -> None:
        solution = make_solution(tmp_path / "s")
        (solution / "solution.toml").write_text(text)
        with pytest.raises(AuthoringError, match=r"solution\.toml"):
            grade(make_case(tmp_path / "cases"), solution)

    def test_a_missing_solution_or_variant_is_a_usage_error(self, tmp_path: Path) -> None:
        case = make_case(tmp_path / "cases")
        with pytest.raises(UsageError, match="variant"):
            grade(case, make_solution(tmp_path / "s"), variant="nope")


class TestIdentity:
    def test_the_same_grade_again_is_the_same_record(self, tmp_path: Path) -> None:
        case, solution = make_case(tmp_path / "cases"), make_solution(tmp_path / "s")
        first, second = grade(case, solution), grade(case, solution)
        assert first == second
        assert first.run_id == second.run_id

    def test_model_source_variant_version_and_attempt_make_another_run(self, tmp_path: Path) -> None:
        case, solution = make_case(tmp_path / "cases"), make_solution(tmp_path / "s")
        ids = {grade(case, solution).run_id, grade(case, solution, variant="other").run_id}
        ids.add(grade(case, solution, attempt=2).run_id)
        ids.add(grade(case, make_solution(tmp_path / "t", model="model-b")).run_id)
        ids.add(grade(case, make_solution(tmp_path / "u", burner(3))).run_id)
        ids.add(grade(make_case(tmp_path / "cases", version="v2"), solution).run_id)
        assert len(ids) == 6

    def test_where_it_came_from_is_recorded(self, tmp_path: Path) -> None:
        solution = make_solution(tmp_path / "s", model="  Model <A> ", provider="p", date="2026-05-01", notes="n")
        run = grade(make_case(tmp_path / "cases"), solution)
        assert run.model == "Model <A>"
        assert run.provenance == {"provider": "p", "date": "2026-05-01", "notes": "n"}

    def test_a_stored_module_grades_like_its_solution(self, tmp_path: Path) -> None:
        case = load_case(make_case(tmp_path / "cases"))
        first = grade_solution(case, make_solution(tmp_path / "s", burner(7)))
        assert first.module is not None
        again = grade_module(case, first.module, first.run)
        assert (again.run_id, again.inputs, again.total_fuel) == (
            first.run.run_id,
            first.run.inputs,
            first.run.total_fuel,
        )


def test_a_case_is_graded_by_its_slug_its_folder_of_versions_or_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_case(tmp_path / "cases")
    solution = make_solution(tmp_path / "s")
    monkeypatch.chdir(tmp_path)
    found = {grade(ref, solution).run_id for ref in ("echo", "echo@v1", "cases/echo", Path("cases/echo/v1"))}
    assert len(found) == 1
    with pytest.raises(UsageError, match=r'no "ecko" in .*; did you mean "echo"'):
        grade("ecko", solution)
