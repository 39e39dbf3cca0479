"""What a caller of the console relies on: one call a decision, exact stops, repeatable traps, limits that hold."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from types import FrameType

import numpy as np
import pytest
import wasmtime

from evalkit.errors import AuthoringError, UsageError
from evalkit.sandbox.cart import MAX_CART_BYTES, load_cart
from evalkit.sandbox.console import Condition, Console, Ran
from evalkit.sandbox.state_exports import expose_globals
from tests.console.cartwork import CARTS, built, cart, tape

COUNTS = cart("""(func (export "update")
  (i32.store (i32.const 0x2000) (i32.add (i32.load (i32.const 0x2000)) (i32.const 1)))
  (i32.store8 (i32.const 0x2010) (i32.load8_u (i32.const 0x16))))""")


def python_calls(console: Console, ticks: int) -> int:
    calls = 0

    def seen(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(seen)
    try:
        console.run(bytes(ticks))
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("name", ["rect.c", "disk.c", "text.c", "strokes.wat"])
def test_a_decision_of_a_thousand_ticks_makes_the_same_python_calls_as_one_of_one_tick(name: str) -> None:
    console = Console(built(name))
    console.run(b"\0")
    assert python_calls(console, 1000) == python_calls(console, 1) < 200


def test_no_function_that_a_game_can_reach_is_a_python_function(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a host function was made")

    monkeypatch.setattr(wasmtime.Func, "__init__", refuse)
    assert Console(built("disk.c")).run(bytes(40)).ticks == 40


def test_a_run_stops_in_mid_decision_at_the_tick_at_which_a_condition_turns_true() -> None:
    console = Console(COUNTS, watch=[Condition(0x2000, "i32", ">", 1000), Condition(0x2000, "u16", "==", 7)])
    assert console.run(bytes(5)) == Ran(ticks=5)
    assert console.run(bytes(30)) == Ran(ticks=2, stopped_by=1)
    assert console.peek(0x2000, "i32") == 7


def test_a_condition_that_holds_already_does_not_stop_until_it_turns_true_again() -> None:
    console = Console(COUNTS, watch=[Condition(0x2010, "u8", ">=", 100)])
    assert console.run(bytes([200])) == Ran(ticks=1, stopped_by=0)
    assert console.run(bytes([200, 100, 150])) == Ran(ticks=3)
    assert console.run(bytes([200, 99, 101, 4])) == Ran(ticks=3, stopped_by=0)


@pytest.mark.parametrize(
    ("type_", "comparison", "value", "pad"),
    [("u8", "==", 255, 255), ("i8", "==", -1, 255), ("i8", "<", -100, 130), ("u16", ">", 0x01FE, 255),
     ("i16", ">=", 511, 255), ("i8", "<=", -1, 255),
     ("u32", ">=", 0x800001FF, 255), ("i32", ">", -(2**31) + 0x1FE, 255), ("i32", "!=", -(2**31) + 0x100, 9)],
)  # fmt: skip
def test_conditions_compare_numbers_of_every_type_little_endian(
    type_: str, comparison: str, value: int, pad: int
) -> None:
    wasm = cart("""(data (i32.const 0x2000) "\\00\\01\\00\\80") (func (export "update")
      (i32.store8 (i32.const 0x2000) (i32.load8_u (i32.const 0x16))))""")
    console = Console(wasm, watch=[Condition(0x2000, type_, comparison, value)])  # type: ignore[arg-type]
    assert console.run(bytes([0, 0, pad, 0])) == Ran(ticks=3, stopped_by=0)


def test_the_lowest_of_several_conditions_that_turn_true_at_one_tick_is_named_and_none_may_be_out_of_bounds() -> None:
    console = Console(COUNTS)
    console.watch([Condition(0x2000, "i32", "==", n) for n in (9, 4, 3, 3, 8, 8, 8, 8)])
    assert console.run(bytes(20)) == Ran(ticks=3, stopped_by=2)
    with pytest.raises(AuthoringError, match="9 conditions to watch: at most 8"):
        console.watch([Condition(0x2000, "i32", "==", n) for n in range(9)])
    with pytest.raises(AuthoringError, match="0xfffd is not in the game's page"):
        Condition(0xFFFD, "u32", "==", 0)


def test_a_tape_longer_than_the_board_holds_is_played_to_its_end() -> None:
    console = Console(COUNTS, watch=[Condition(0x2000, "i32", "==", 69_000)])
    assert console.run(bytes(70_000)) == Ran(ticks=69_000, stopped_by=0)


def test_how_ticks_are_grouped_into_decisions_changes_nothing() -> None:
    pads = tape(600, seed=5)
    whole, single = Console(built("strokes.wat")), Console(built("strokes.wat"))
    whole.run(pads)
    for n in range(len(pads)):
        single.run(pads[n : n + 1])
    assert whole.state_hash() == single.state_hash()


TRAPS = cart("""(global $g (mut i32) (i32.const 0)) (func (export "update")
  (global.set $g (i32.add (global.get $g) (i32.const 1)))
  (if (i32.eq (global.get $g) (i32.const 12)) (then (i32.store (i32.const 0x2000) (i32.const 5)) (unreachable))))""")


def test_a_trap_of_the_game_ends_the_run_at_that_tick_with_a_state_that_repeats() -> None:
    hashes = set()
    for groups in ([20], [3] * 10, [11, 9]):
        console = Console(TRAPS)
        rans = []
        for ticks in groups:
            rans.append(console.run(bytes(ticks)))
            if rans[-1].trap:
                break
        assert sum(r.ticks for r in rans) == 12 and rans[-1].trap == "unreachable" and rans[-1].limit is None
        assert console.state_parts()[1] == (12).to_bytes(8, "little"), "the globals as the trap left them"
        hashes.add(console.state_hash())
        with pytest.raises(UsageError, match="the game ended in unreachable"):
            console.run(b"\0")
    assert len(hashes) == 1


HUGE = """(func (export "update") (i32.store16 (i32.const 0x14) (i32.const 0x4321))
  (if (i32.load8_u (i32.const 0x16)) (then (call $draw %s))))"""


def hostile(function: str, *values: int) -> bytes:
    constants = " ".join(f"(i32.const {v})" for v in values)
    imports = f'(import "env" "{function}" (func $draw (param {"i32 " * len(values)})))'
    return cart(HUGE % constants, imports=imports)


@pytest.mark.parametrize(
    ("function", "values"),
    [("line", (-2_000_000_000, 10, 150, 11)), ("line", (0, -(2**31), 1, 2**31 - 1)),
     ("oval", (-(2**31), 0, 2**31 - 1, 2**31 - 1)),
     ("oval", (0, 0, 5, -(2**31)))],
)  # fmt: skip
def test_drawing_is_fuelled_so_a_hostile_draw_ends_as_a_limit_and_never_hangs(
    function: str, values: tuple[int, ...]
) -> None:
    console = Console(hostile(function, *values), tick_fuel=30_000_000)
    assert console.run(bytes(3)) == Ran(ticks=3)
    ran = console.run(bytes([0, 1, 1]))
    assert ran == Ran(ticks=2, limit="fuel") or ran == Ran(ticks=3)
    if ran.limit:
        with pytest.raises(UsageError, match="the game ended in fuel"):
            console.run(b"\0")
    assert console.fuel < 300_000_000


def test_a_line_over_two_thousand_million_pixels_runs_out_of_fuel() -> None:
    console = Console(hostile("line", -2_000_000_000, 10, 150, 11), tick_fuel=30_000_000)
    assert console.run(b"\1").limit == "fuel"


@pytest.mark.parametrize(
    ("function", "values"),
    [("rect", (-(2**31), -(2**31), 2**31 - 1, 2**31 - 1)), ("rect", (0, 0, 2**31 - 1, 2**31 - 1)),
     ("hline", (-(2**31), 5, 2**31 - 1)), ("vline", (5, -(2**31), 2**31 - 1)),
     ("blit", (0, 0, 0, 2**31 - 1, 2**31 - 1, 1)),
     ("blitSub", (65536, -(2**31), 0, 2**31 - 1, 2**31 - 1, -(2**31), -(2**31), -(2**31), 15)),
     ("line", (2**31 - 1, 10, 2_000, -(2**31))), ("textUtf8", (0x2000, 40_000, 0, 0))],
)  # fmt: skip
def test_huge_draws_that_can_be_clipped_cost_no_more_than_the_screen(function: str, values: tuple[int, ...]) -> None:
    console = Console(hostile(function, *values), tick_fuel=20_000_000)
    assert console.run(bytes([1, 1])) == Ran(ticks=2)


def test_a_loop_without_end_is_a_limit_of_fuel_and_endless_recursion_one_of_the_stack() -> None:
    loops = cart('(func (export "update") (loop $l (br $l)))')
    recurs = cart('(func $f (export "update") (call $f) (call $f))')
    assert Console(loops, tick_fuel=1_000_000).run(bytes(9)) == Ran(ticks=1, limit="fuel")
    assert Console(recurs).run(bytes(9)) == Ran(ticks=1, limit="stack")


def test_a_wall_limit_stops_what_fuel_has_not() -> None:
    loops = cart('(func (export "update") (loop $l (br $l)))')
    assert Console(loops, tick_fuel=1 << 55, wall_limit_s=0.1).run(b"\0") == Ran(ticks=1, limit="wall")


def test_fuel_counts_the_game_and_what_it_draws_and_repeats_exactly() -> None:
    fuels = []
    for _ in range(2):
        console = Console(built("rect.c"))
        booted = console.fuel
        console.run(tape(50, seed=1))
        fuels.append((booted, console.fuel))
    assert fuels[0] == fuels[1] and fuels[0][1] > fuels[0][0] > 0


@pytest.mark.parametrize(
    ("wasm", "says"),
    [
        (b"", "cart: the file does not begin as a WebAssembly binary does"),
        (b"not wasm at all", "cart: the file does not begin"),
        (b"\0asm\1\0\0\0garbage", "cart: "),
        (bytes(MAX_CART_BYTES + 1), "cart: 65,537 bytes, more than the 65,536 that a cart may have"),
        (cart(memory="2"), "cart: it imports env.memory with at least 2 pages of 64 KiB; the console has one"),
        (cart(memory="0 0"), "cart: it imports env.memory with 0 to 0 pages"),
        (cart(memory="") + b"", ""),
        (cart('(memory 1)'), "cart: it has a memory besides the imported env.memory"),
        (cart(imports='(import "env" "second" (memory 1))'), "cart: it imports env.second, which the"),
        (cart(imports='(import "env" "exec" (func))'), "cart: it imports env.exec, which .* have: blit, "),
        (cart(imports='(import "wasi" "rect" (func))'), "cart: it imports wasi.rect, which"),
        (cart(imports='(import "env" "rect" (global i32))'), "cart: it imports env.rect, which"),
        (cart(imports='(import "env" "rect" (func (param f32)))'), r"cart: it imports env.rect as \(param f32\) "),
        (cart("(global (mut funcref) (ref.null func))"), "cart: its mutable global 0 holds a reference"),
        (cart('(func $f (unreachable)) (start $f)'), "cart: it does not boot: unreachable"),
        (cart('(func (export "start") (loop $l (br $l)))'), "cart: it does not boot: out_of_fuel"),
    ],
)  # fmt: skip
def test_what_the_console_cannot_play_is_refused_in_one_clear_line(wasm: bytes, says: str) -> None:
    if not says:
        assert Console(wasm).run(bytes(3)).ticks == 3, "a cart that imports no page at all only does not draw"
        return
    with pytest.raises(AuthoringError, match=says) as refused:
        Console(wasm, tick_fuel=1_000_000)
    assert "\n" not in str(refused.value)


def test_a_cart_with_nothing_to_call_is_played_as_silence() -> None:
    console = Console(cart())
    assert console.run(bytes([9, 8])) == Ran(ticks=2) and console.peek(0x16) == 8


def test_peek_reads_numbers_and_refuses_what_is_beyond_the_page() -> None:
    console = Console(cart('(data (i32.const 0xfffc) "\\fe\\ff\\ff\\ff")'))
    assert [console.peek(0xFFFC, t) for t in ("u8", "i8", "u16", "i16", "u32", "i32")] == [
        254,
        -2,
        65534,
        -2,
        2**32 - 2,
        -2,
    ]  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="0xfffd is not in the game's page"):
        console.peek(0xFFFD, "i32")


def test_the_screen_is_read_as_palette_indices_and_as_colours() -> None:
    wasm = cart("""(func (export "update") (i32.store8 (i32.const 0xa0) (i32.const 0xe4))
      (i32.store8 (i32.const 0x199f) (i32.const 0x80)) (i32.store (i32.const 0x10) (i32.const 0x112233)))""")
    console = Console(wasm)
    console.run(b"\0")
    indices, colours = console.framebuffer(), console.picture()
    assert indices.shape == (160, 160) and indices.dtype == np.uint8 and list(indices[0, :5]) == [0, 1, 2, 3, 0]
    assert indices[159, 159] == 2 and indices.sum() == 8
    assert colours.shape == (160, 160, 3) and colours.dtype == np.uint8
    assert [tuple(map(int, c)) for c in colours[0, :4]] == [
        (0xE0, 0xF8, 0xCF),
        (0x86, 0xC0, 0x6C),
        (0x30, 0x68, 0x50),
        (0x11, 0x22, 0x33),
    ]


def test_the_page_is_hashed_where_it_lies_and_nobody_can_write_to_it() -> None:
    console = Console(COUNTS)
    page = console.memory
    before = hashlib.sha256(page).digest()
    console.run(bytes(3))
    assert len(page) == 65536 and page[0x2000] == 3 and hashlib.sha256(page).digest() != before
    with pytest.raises(TypeError, match="read-only"):
        page[0] = 1  # type: ignore[index]
    del console
    assert page[0x2000] == 3, "the view keeps alive what it shows"


def test_the_digest_is_of_the_cart_as_it_came_and_a_loaded_cart_can_be_played_many_times() -> None:
    wasm = built("strokes.wat")
    loaded = load_cart(wasm)
    assert loaded.digest == hashlib.sha256(wasm).hexdigest() == Console(loaded).game_digest
    first, second = Console(loaded), Console(loaded)
    first.run(bytes(9))
    assert second.state_hash() == Console(wasm).state_hash() != first.state_hash()


def test_every_cart_of_the_tests_boots() -> None:
    assert len(CARTS) >= 10
    for name in CARTS:
        assert Console(built(name)).run(bytes(2)).ticks == 2


VECTORS = {
    "helper": '(func (export "helper") (param v128)) (func (export "update"))',
    "update": '(func (export "update") (result v128) (v128.const i64x2 0 0))',
    "twice": '(func) (func $f (param i32 v128)) (export "twice" (func $f))',
}


@pytest.mark.parametrize("name", VECTORS)
def test_a_function_of_v128_that_is_exported_is_refused_before_the_engine_is_asked_for_its_type(name: str) -> None:
    with pytest.raises(AuthoringError, match=f"cart: {name} takes or gives v128"):
        load_cart(cart(VECTORS[name]))


def test_a_function_of_v128_that_is_imported_is_refused_and_one_of_the_carts_own_is_not() -> None:
    with pytest.raises(AuthoringError, match=r"cart: env\.rect takes or gives v128"):
        load_cart(cart(imports='(import "env" "rect" (func (param v128)))'))
    inside = '(func $f (param v128)) (func (export "update") (call $f (v128.const i64x2 0 0)))'
    assert Console(cart(inside)).run(bytes(2)).ticks == 2
    taken = '(func (export "update") (param externref) (result funcref) (ref.null func))'
    assert Console(cart(taken)).run(bytes(2)).ticks == 2


LASTING = {
    "table.set": "(table.set 0 (i32.const 0) (ref.func $a))",
    "table.grow": "(drop (table.grow 0 (ref.null func) (i32.const 1)))",
    "table.fill": "(table.fill 0 (i32.const 0) (ref.null func) (i32.const 1))",
    "table.copy": "(table.copy (i32.const 0) (i32.const 1) (i32.const 1))",
    "table.init": "(table.init $e (i32.const 0) (i32.const 0) (i32.const 1))",
    "elem.drop": "(elem.drop $e)",
    "data.drop": "(data.drop $d)",
}
TABLES = (
    '(table 2 funcref) (elem (i32.const 0) $a $a) (elem $e func $a) (data $d "\\07") (func $a (result i32) i32.const 1)'
)
# Every kind of operand, with the bytes of the instructions above among them: a reader that loses its place finds one.
OPERANDS = """(local i64 f32 v128)
  (block (loop (br_if 1 (i32.const 0x26))) (if (i32.const 0x0efc) (then) (else (nop))))
  (block (block (br_table 0 1 0 1 (i32.const 0x26)))) (drop (call_indirect (result i32) (i32.const 1)))
  (drop (i64.const 0x2626262626262626)) (drop (f32.const 1e-30)) (drop (f64.const 0x1.9fc0ffc0efc0dp+10))
  (drop (select (result funcref) (ref.null func) (ref.func $a) (i32.const 38))) (drop (table.get 0 (i32.const 0)))
  (drop (table.size 0)) (memory.copy (i32.const 9) (i32.const 38) (i32.const 1)) (drop (memory.size))
  (memory.init $d (i32.const 0x2000) (i32.const 0) (i32.const 1)) (drop (memory.grow (i32.const 0)))
  (i32.store offset=0x26 align=1 (i32.const 0x2600) (i32.trunc_sat_f32_s (f32.const 38)))
  (local.set 2 (v128.const i32x4 0x09fc26fc 0x0cfc26fc 0x0dfc26fc 0x0efc26fc))
  (drop (i8x16.shuffle 0 9 12 13 14 15 17 26 0 9 12 13 14 15 17 26 (local.get 2) (local.get 2)))
  (drop (i8x16.extract_lane_u 12 (local.get 2))) (drop (f64x2.replace_lane 1 (local.get 2) (f64.const 38)))
  (drop (v128.load8_lane offset=38 15 (i32.const 0) (local.get 2))) (drop (v128.load32_zero offset=38 (i32.const 0)))
  (drop (v128.load8_splat offset=38 (i32.const 0))) (drop (i32x4.dot_i16x8_s (local.get 2) (local.get 2)))
  (drop (ref.is_null (ref.null func))) (drop (i64.extend32_s (i64.const 9)))
  (memory.fill (i32.const 0x2000) (i32.const 0) (i32.const 9))"""


@pytest.mark.parametrize("name", LASTING)
def test_a_cart_that_changes_a_table_or_drops_a_segment_is_refused_as_its_state_could_not_be_saved(name: str) -> None:
    with pytest.raises(AuthoringError, match=f"cart: its code holds {name}: what that changes is in no saved state"):
        load_cart(cart(f'{TABLES} (func (export "update") {OPERANDS} {LASTING[name]})'))


def test_operands_are_never_read_as_instructions() -> None:
    assert Console(cart(f'{TABLES} (func (export "update") {OPERANDS})')).run(bytes(3)) == Ran(ticks=3)


def test_a_name_made_to_look_like_ours_makes_no_module_large() -> None:
    many = "(global (mut i32) (i32.const 0))" * 3000
    wasm = cart(f'{many} (func (export "update")) (func (export "state{"_" * 40_000}")) (func (export "state0_7"))')
    exposed, found = expose_globals(wasm)
    assert len(exposed) < 120_000 and len({each.name for each in found}) == 3000
    assert Console(wasm).run(bytes(2)).ticks == 2


def test_a_machine_that_gives_no_memory_is_at_fault_and_not_the_cart() -> None:
    code = """import resource; from evalkit.errors import MachineError; from evalkit.sandbox.cart import load_cart
from evalkit.sandbox.console import Console
from tests.console.test_console import COUNTS
cart = load_cart(COUNTS); Console(cart)
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
try: kept = [Console(cart) for _ in range(20)]
except MachineError as error: print(error)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("this machine gives the ") and done.stdout.count("\n") == 1


def test_a_frame_is_cleared_but_where_the_game_keeps_it() -> None:
    wasm = cart("""(func (export "update") (i32.store8 (i32.const 0x1f) (i32.load8_u (i32.const 0x16)))
      (i32.store8 (i32.add (i32.const 0x100) (i32.load8_u (i32.const 0x16))) (i32.const 0xff)))""")
    console = Console(wasm)
    console.run(bytes([1]))
    assert (console.peek(0x101), console.peek(0x102)) == (255, 0)
    console.run(bytes([2]))
    assert (console.peek(0x101), console.peek(0x102)) == (255, 255), "flag 1 was set as this tick began"
    console.run(bytes([0]))
    assert (console.peek(0x100), console.peek(0x101), console.peek(0x102)) == (255, 0, 0), "flag 2 keeps no frame"
