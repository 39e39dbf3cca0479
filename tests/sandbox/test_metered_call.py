"""The facts about wasmtime's fuel that the kit is built on, each shown on a small module, and what follows from it."""

from __future__ import annotations

import threading
import time

import psutil
import pytest
import wasmtime

from evalkit.sandbox import engine as engine_module
from evalkit.sandbox.engine import engine, fuel_schedule, probe_fuels
from evalkit.sandbox.solution import UNLIMITED, Call, Rejection, Solution, load_solution

CAP = 1 << 20
AMPLE = 1 << 40


def wat(body: str, *, memory: str = "1", alloc: str = "(i32.const 16)", extra: str = "") -> bytes:
    """A module that keeps the contract, with `body` as its entry `go`."""
    return bytes(
        wasmtime.wat2wasm(f"""(module
          (memory (export "memory") {memory})
          (func (export "alloc") (param i32) (result i32) {alloc})
          {extra}
          (func $go (export "go") (param i32 i32) (result i64) (local i32 i64) {body}))""")
    )


def loaded(wasm: bytes, **options: int) -> Solution:
    solution = load_solution(wasm, entry="go", max_memory_bytes=options.get("cap", CAP))
    assert isinstance(solution, Solution), solution
    return solution


def call(
    wasm: bytes, data: bytes = b"", *, runway_limit: int = AMPLE, wall_limit_s: float = 20.0, **options: int
) -> Call:
    most = options.pop("most", CAP)
    return loaded(wasm, **options).call(
        data, runway_limit=runway_limit, max_output_bytes=most, wall_limit_s=wall_limit_s
    )


def rejected(wasm: bytes) -> Rejection:
    found = load_solution(wasm, entry="go", max_memory_bytes=CAP)
    assert isinstance(found, Rejection)
    return found


def bare(wasm: bytes, budget: int) -> tuple[wasmtime.Store, wasmtime.Func]:
    """An instance with a store's budget as wasmtime itself keeps it, without the kit's headroom."""
    store = wasmtime.Store(engine())
    store.set_epoch_deadline(1 << 40)
    store.set_fuel(1 << 40)
    go = wasmtime.Instance(store, wasmtime.Module(engine(), wasm), []).exports(store)["go"]
    assert isinstance(go, wasmtime.Func)
    store.set_fuel(budget)
    return store, go


STRAIGHT = wat("(drop (i32.const 1))" * 10_000 + "(i64.const 0)")
ECHO = wat("(i64.or (i64.shl (i64.extend_i32_u (local.get 0)) (i64.const 32)) (i64.extend_i32_u (local.get 1)))")


class TestFact1ABudgetIsSoft:
    def test_straight_line_code_runs_far_past_the_stores_budget(self) -> None:
        store, go = bare(STRAIGHT, 10)
        assert go(store, 0, 0) == 0
        assert store.get_fuel() == 0

    def test_the_kit_measures_what_was_burned_and_not_what_the_budget_allowed(self) -> None:
        fuel = call(STRAIGHT).fuel
        assert fuel is not None and fuel > 10_000
        assert call(STRAIGHT, runway_limit=fuel).fuel == fuel
        assert call(STRAIGHT, runway_limit=fuel - 1).reason == "exhausted"

    @pytest.mark.parametrize("limit", [0, 1, 10, 100])
    def test_a_return_with_a_result_is_exhausted_when_it_burned_more_than_its_runway(self, limit: int) -> None:
        answer = call(STRAIGHT, runway_limit=limit)
        assert (answer.reason, answer.fuel, answer.output) == ("exhausted", None, None)

    def test_the_headroom_covers_the_longest_straight_line_of_any_module(self) -> None:
        """Fuel grows by at most one a byte between two checks, so a module's size bounds the overrun."""
        solution = loaded(STRAIGHT)
        fuel = call(STRAIGHT).fuel
        assert fuel is not None and solution._headroom >= len(STRAIGHT) > fuel / 2


class TestFact2BulkAndPlainCodeHaveOneEdge:
    FILL = wat("(memory.fill (i32.const 0) (i32.const 1) (i32.const 4096)) (i64.const 0)")

    @staticmethod
    def edge(wasm: bytes) -> int:
        """The smallest budget with which wasmtime itself lets the module return."""
        low, high = 0, 100_000
        while low < high:
            middle = (low + high) // 2
            store, go = bare(wasm, middle)
            try:
                go(store, 0, 0)
                high = middle
            except wasmtime.Trap:
                low = middle + 1
        return low

    def test_wasmtime_alone_draws_the_line_in_two_places(self) -> None:
        store, go = bare(self.FILL, AMPLE)
        go(store, 0, 0)
        cost = AMPLE - store.get_fuel()
        loop = wat(
            "(loop (local.set 2 (i32.add (local.get 2) (i32.const 1)))"
            "(br_if 0 (i32.lt_u (local.get 2) (i32.const 500)))) (i64.const 0)"
        )
        store, go = bare(loop, AMPLE)
        go(store, 0, 0)
        loop_cost = AMPLE - store.get_fuel()
        assert self.edge(self.FILL) >= cost  # traps with budgets up to its cost, or leaves more than nothing
        assert self.edge(loop) < loop_cost  # the last lap runs on a spent budget

    def test_with_headroom_the_runway_limit_is_the_edge_for_both(self) -> None:
        for wasm in (self.FILL, STRAIGHT):
            fuel = call(wasm).fuel
            assert fuel is not None
            assert call(wasm, runway_limit=fuel).fuel == fuel
            assert call(wasm, runway_limit=fuel - 1).reason == "exhausted"


class TestFact3InstantiationIsNotCharged:
    def test_data_segments_and_tables_cost_the_solution_nothing(self) -> None:
        plain = wat("(i64.const 0)")
        rich = wat(
            "(i64.const 0)",
            extra='(table 100 funcref) (elem (i32.const 0) $go) (data (i32.const 0) "' + "x" * 50_000 + '")',
        )
        assert call(plain).fuel == call(rich).fuel

    def test_initialize_alloc_and_the_entry_are_charged(self) -> None:
        plain = call(wat("(i64.const 0)")).fuel
        assert plain is not None
        slow = "(drop (i32.const 1))" * 100
        entry = call(wat(slow + "(i64.const 0)")).fuel
        alloc = call(wat("(i64.const 0)", alloc=slow + "(i32.const 16)")).fuel
        begun = call(wat("(i64.const 0)", extra=f'(func (export "_initialize") {slow})')).fuel
        assert entry == alloc == plain + 100
        assert begun is not None and begun > plain + 100

    def test_writing_the_input_costs_nothing(self) -> None:
        assert call(ECHO, b"x").fuel == call(ECHO, b"x" * 50_000).fuel

    def test_initialize_runs_before_alloc(self) -> None:
        wasm = wat(
            "(i64.const 0)",
            alloc="(if (i32.eqz (i32.load (i32.const 0))) (then unreachable)) (i32.const 16)",
            extra='(func (export "_initialize") (i32.store (i32.const 0) (i32.const 1)))',
        )
        assert call(wasm).output == b""


class TestFact4NoReadingAfterATrap:
    @pytest.mark.parametrize(
        ("body", "code"),
        [
            ("unreachable", "unreachable"),
            ("(i64.load (i32.const 70000))", "memory_out_of_bounds"),
            ("(i64.div_s (i64.const 1) (i64.const 0))", "integer_division_by_zero"),
            ("(i64.div_s (i64.const -9223372036854775808) (i64.const -1))", "integer_overflow"),
            ("(i64.trunc_f64_s (f64.const nan))", "bad_conversion_to_integer"),
            ("(call $go (i32.const 0) (i32.const 0))", "stack_overflow"),
        ],
    )
    def test_a_trap_has_a_code_and_no_fuel(self, body: str, code: str) -> None:
        answer = call(wat(body))
        assert (answer.reason, answer.fuel, answer.output) == (f"trap:{code}", None, None)

    def test_a_burned_runway_is_exhausted_and_has_no_fuel(self) -> None:
        answer = call(wat("(loop (br 0)) (i64.const 0)"), runway_limit=1_000_000)
        assert (answer.reason, answer.fuel) == ("exhausted", None)

    def test_a_trap_in_alloc_or_initialize_counts_like_one_in_the_entry(self) -> None:
        assert call(wat("(i64.const 0)", alloc="unreachable")).reason == "trap:unreachable"
        begun = wat("(i64.const 0)", extra='(func (export "_initialize") unreachable)')
        assert call(begun).reason == "trap:unreachable"

    def test_a_data_segment_outside_memory_traps_at_instantiation(self) -> None:
        assert call(wat("(i64.const 0)", extra='(data (i32.const 70000) "x")')).reason == "trap:memory_out_of_bounds"


class TestFact5SchedulesChange:
    def test_the_probes_know_this_versions_price_of_a_fill_and_of_a_growth(self) -> None:
        assert probe_fuels()["memory_fill_1_MiB"] == 1_048_581
        assert probe_fuels()["memory_grow_16"] == 19

    def test_the_schedule_moves_when_any_one_probe_does(self, monkeypatch: pytest.MonkeyPatch) -> None:
        here = fuel_schedule()
        names = {here}
        for probe in probe_fuels():
            changed = {**probe_fuels(), probe: probe_fuels()[probe] + 1}
            monkeypatch.setattr(engine_module, "probe_fuels", lambda changed=changed: changed)
            names.add(engine_module.fuel_schedule.__wrapped__())
            monkeypatch.undo()
        assert len(names) == 1 + len(probe_fuels())

    def test_the_schedule_of_the_locked_engine_is_the_recorded_one(self) -> None:
        """Moved only by a new wasmtime with other prices, or by changing the probes: then no run compares any more."""
        assert fuel_schedule() == "89c7c2f6c7142686"


class TestFact6MemoryAndStackAreNoScore:
    def test_growing_past_the_cap_returns_minus_one_and_does_not_trap(self) -> None:
        wasm = wat("(i64.store (i32.const 0) (i64.extend_i32_s (memory.grow (i32.const 16)))) (i64.const 8)")
        assert call(wasm, cap=16 << 16).output == b"\xff" * 8
        assert call(wasm, cap=17 << 16).output == (1).to_bytes(8, "little")

    def test_a_table_cannot_take_the_hosts_memory_either(self) -> None:
        wasm = wat(
            "(i64.store (i32.const 0) (i64.extend_i32_s (table.grow 0 (ref.null func) (i32.const 100000000))))"
            "(i64.const 8)",
            extra="(table 1 funcref)",
        )
        assert call(wasm).output == b"\xff" * 8
        assert call(wat("(i64.const 0)", extra="(table 2000000 funcref)")).reason == "memory"


class TestTheWallGuard:
    def test_a_call_that_takes_too_long_is_stopped_and_is_not_wrong(self) -> None:
        began = time.monotonic()
        answer = call(wat("(loop (br 0)) (i64.const 0)"), runway_limit=UNLIMITED, wall_limit_s=0.3)
        assert (answer.timed_out, answer.reason, answer.fuel) == (True, "wall_limit", None)
        assert time.monotonic() - began < 10

    def test_each_of_two_calls_at_once_has_its_own_deadline(self) -> None:
        endless = loaded(wat("(loop (br 0)) (i64.const 0)"))
        answers: dict[float, float] = {}

        def run(seconds: float) -> None:
            began = time.monotonic()
            endless.call(b"", runway_limit=UNLIMITED, max_output_bytes=1, wall_limit_s=seconds)
            answers[seconds] = time.monotonic() - began

        threads = [threading.Thread(target=run, args=(seconds,)) for seconds in (0.2, 1.5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers[1.5] >= 1.4 > answers[0.2]


class TestTheContract:
    def test_input_and_output_pass_through_unchanged(self) -> None:
        assert call(ECHO, bytes(range(256))).output == bytes(range(256))

    def test_every_call_starts_from_a_fresh_instance(self) -> None:
        counter = loaded(
            wat(
                "(i32.store (i32.const 0) (i32.add (i32.load (i32.const 0)) (i32.const 1))) (i64.const 4)",
                extra="(global (mut i32) (i32.const 0))",
            )
        )
        answers = [counter.call(b"", runway_limit=AMPLE, max_output_bytes=9, wall_limit_s=9) for _ in range(3)]
        assert len({(a.output, a.fuel) for a in answers}) == 1

    def test_an_output_past_the_end_of_memory_is_bad_output(self) -> None:
        past = call(wat("(i64.const 0xFFFF00000002)"))
        assert past.reason == "bad_output" and "past the end" in str(past.detail)

    def test_a_claim_of_4_gib_is_refused_before_anything_is_copied(self) -> None:
        assert call(wat("(i64.const 0xFFFFFFFF)")).reason == "bad_output"
        assert call(wat("(i64.const -1)")).reason == "bad_output"

    def test_an_output_larger_than_the_case_allows_is_bad_output(self) -> None:
        assert call(ECHO, b"x" * 100, most=99).reason == "bad_output"
        assert call(ECHO, b"x" * 100, most=100).output == b"x" * 100

    def test_an_alloc_that_points_outside_memory_is_bad_output(self) -> None:
        assert call(wat("(i64.const 0)", alloc="(i32.const -8)"), b"123456789").reason == "bad_output"

    @pytest.mark.parametrize(
        ("text", "reason", "words"),
        [
            ('(module (memory (export "memory") 1))', "missing_export", "`alloc`"),
            ('(module (func (export "go") (param i32 i32) (result i64) (i64.const 0)))', "missing_export", "`memory`"),
            (
                '(module (memory (export "memory") 1) (func (export "alloc") (param i64) (result i32) (i32.const 0))'
                '(func (export "go") (param i32 i32) (result i64) (i64.const 0)))',
                "missing_export",
                "its `alloc` is not (i32) -> i32",
            ),
            ('(module (import "env" "f" (func)) (memory (export "memory") 1))', "missing_export", "`alloc`"),
        ],
    )
    def test_a_missing_export_is_named(self, text: str, reason: str, words: str) -> None:
        found = rejected(bytes(wasmtime.wat2wasm(text)))
        assert found.reason == reason and words in found.detail

    @pytest.mark.parametrize(
        "text",
        [
            '(func (export "alloc") (param v128) (result i32) (i32.const 0))',
            '(func (export "alloc") (param i32) (result i32) unreachable) (func (export "x") (param v128))',
        ],
    )
    def test_a_function_of_v128_is_refused_before_the_engine_is_asked_for_its_type(self, text: str) -> None:
        found = rejected(bytes(wasmtime.wat2wasm(f'(module (memory (export "memory") 1) {text})')))
        assert found.reason == "invalid_module" and "takes or gives v128" in found.detail
        imports = '(module (import "host" "f" (func (param v128))) (memory (export "memory") 1))'
        assert "its `host.f` takes or gives v128" in rejected(bytes(wasmtime.wat2wasm(imports))).detail

    def test_an_import_is_named(self) -> None:
        whole = '(import "env" "now" (func)) (memory (export "memory") 1)'
        text = (
            f'(module {whole} (func (export "alloc") (param i32) (result i32) (i32.const 0))'
            '(func (export "go") (param i32 i32) (result i64) (i64.const 0)))'
        )
        found = rejected(bytes(wasmtime.wat2wasm(text)))
        assert found.reason == "imports" and "env.now" in found.detail

    def test_a_start_section_is_refused_with_the_way_out(self) -> None:
        found = rejected(wat("(i64.const 0)", extra="(func $s) (start $s)"))
        assert found.reason == "start_function" and "_initialize" in found.detail

    def test_a_module_with_thousands_of_exports_is_refused(self) -> None:
        """The host lists them for every instance, outside fuel and clock."""
        many = "".join(f'(export "e{n}" (func $go))' for n in range(1200))
        found = rejected(wat("(i64.const 0)", extra=many))
        assert (found.reason, "1,203 exports" in found.detail) == ("invalid_module", True)

    def test_a_trap_gives_the_solutions_memory_back(self) -> None:
        fill = "(drop (memory.grow (i32.const 1500))) (memory.fill (i32.const 0) (i32.const 1) (i32.const 98000000))"
        greedy = loaded(wat(fill + " unreachable"), cap=100 << 20)
        for _ in range(12):
            assert (
                greedy.call(b"", runway_limit=AMPLE, max_output_bytes=1, wall_limit_s=20).reason == "trap:unreachable"
            )
        assert psutil.Process().memory_info().rss < 700 << 20

    def test_a_memory_that_starts_above_the_cap_is_refused(self) -> None:
        assert rejected(wat("(i64.const 0)", memory="17")).reason == "memory"
        assert loaded(wat("(i64.const 0)", memory="16"))

    @pytest.mark.parametrize(
        "text",
        [
            '(module (memory (export "memory") 1 1 shared))',
            "(module (memory i64 1))",
            "(module (memory 1) (memory 1))",
            "(module (func $f (return_call $f)))",
            "(module (func (result v128) (i8x16.relaxed_swizzle (v128.const i64x2 0 0) (v128.const i64x2 0 0))))",
            "(module (tag))",
            "(module (type (struct)))",
        ],
    )
    def test_what_the_configuration_leaves_out_is_an_invalid_module(self, text: str) -> None:
        assert rejected(bytes(wasmtime.wat2wasm(text))).reason == "invalid_module"

    def test_a_nan_has_one_bit_pattern_on_every_host(self) -> None:
        wasm = wat("(f64.store (i32.const 0) (f64.div (f64.const 0) (f64.const -0))) (i64.const 8)")
        assert call(wasm).output == bytes.fromhex("000000000000f87f")
