"""The full state is the page, every mutable global and the disk: with it a fresh instance has the same future."""

from __future__ import annotations

import hashlib

import pytest
import wasmtime
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import AuthoringError, UsageError
from evalkit.sandbox.console import Console, State
from evalkit.sandbox.engine import engine
from evalkit.sandbox.state_exports import expose_globals
from tests.console.cartwork import CARTS, built, cart, tape

PADS = tape(400, seed=17)


def future(console: Console, pads: bytes) -> list[bytes]:
    found = []
    for n in range(0, len(pads), 10):
        console.run(pads[n : n + 10])
        found.append(console.state_hash())
    return found


@pytest.mark.parametrize("name", CARTS)
@pytest.mark.parametrize("at", [0, 1, 37, 250])
def test_a_state_restored_into_a_fresh_instance_has_the_same_future(name: str, at: int) -> None:
    played = Console(built(name))
    played.run(PADS[:at])
    state = played.save()
    fresh = Console(built(name), disk=b"something else")
    fresh.restore(state)
    assert fresh.save() == state and fresh.state_hash() == played.state_hash()
    assert future(fresh, PADS[at:]) == future(played, PADS[at:])


@settings(max_examples=20, deadline=None)
@given(at=st.integers(0, 120), back=st.integers(0, 120), seed=st.integers(0, 1 << 32))
def test_going_back_to_any_tick_and_on_again_gives_the_same_states(at: int, back: int, seed: int) -> None:
    pads = tape(140, seed)
    console = Console(built("strokes.wat"))
    states = [console.save()]
    for n in range(at):
        console.run(pads[n : n + 1])
        states.append(console.save())
    tick = min(back, at)
    console.restore(states[tick])
    for n in range(tick, at):
        console.run(pads[n : n + 1])
        assert console.save() == states[n + 1]


@pytest.mark.parametrize(("name", "rest"), [("strokes.wat", "globals"), ("disk.c", "disk")])
def test_memory_alone_does_not_restore_a_game_that_keeps_state_elsewhere(name: str, rest: str) -> None:
    played = Console(built(name))
    played.run(PADS[:37])
    state, fresh = played.save(), Console(built(name))
    fresh.restore(State(state.memory, fresh.save().globals, fresh.save().disk))
    assert getattr(fresh.save(), rest) != getattr(state, rest)
    with_all = Console(built(name))
    with_all.restore(state)
    pads = PADS[37:]
    expected = future(with_all, pads)
    assert future(fresh, pads) != expected and future(played, pads) == expected
    assert fresh.save().memory != with_all.save().memory or rest == "disk", "it shows in the page too"


def test_the_disk_alone_changes_what_the_game_reads() -> None:
    played, fresh = Console(built("disk.c")), Console(built("disk.c"))
    played.run(PADS[:37])
    state = played.save()
    fresh.restore(State(state.memory, state.globals, b""))
    played.run(PADS[37:39])
    fresh.run(PADS[37:39])
    assert fresh.save().memory != played.save().memory


ALL_TYPES = """
  (global $fixed i32 (i32.const 5)) (global $a (mut i32) (i32.const -2))
  (global $b (export "b") (mut i64) (i64.const -3))
  (global $c (mut f32) (f32.const 1.5)) (global (mut i32) (i32.add (i32.const 3) (i32.const 4)))
  (global f64 (f64.const 9))
  (global $v (mut v128) (v128.const i64x2 7 8)) (global $d (mut f64) (f64.const nan:0x8000000000123))
  (global $last (mut i32) (i32.const 0))
  (func (export "update") (global.set $a (i32.load8_u (i32.const 0x16))) (global.set $last (global.get $a))
    (global.set $v (i64x2.add (global.get $v) (v128.const i64x2 1 1))))"""


def test_every_mutable_global_is_hashed_in_index_order_as_8_or_16_little_endian_bytes() -> None:
    console = Console(cart(ALL_TYPES), disk=b"abc")
    words = ["feffffff00000000", "fdffffffffffffff", "0000c03f00000000", "0700000000000000"]
    words += ["0700000000000000" + "0800000000000000", "230100000000f87f", "0000000000000000"]
    memory, saved, disk = console.state_parts()
    assert saved.hex() == "".join(words) and bytes(disk) == b"abc"
    console.run(b"\x2a")
    words[0] = words[-1] = "2a00000000000000"
    words[4] = "0800000000000000" + "0900000000000000"
    assert saved.hex() == "".join(words)
    assert console.state_hash(b"x", b"yz") == hashlib.sha256(b"xyz" + bytes(memory) + bytes(saved) + b"abc").digest()
    fresh = Console(cart(ALL_TYPES))
    fresh.restore(console.save())
    assert fresh.run(b"\1").ticks == 1 and console.run(b"\1").ticks == 1 and fresh.state_hash() == console.state_hash()


@pytest.mark.parametrize(
    "body",
    [
        "(global (mut i32) (i32.const 1))",
        '(global (mut i32) (i32.const 1)) (func (export "state0"))',
        "(global (mut i32) (i32.const 1)) (func $f) (start $f)",
        '(global (mut i32) (i32.const 1)) (table 1 funcref) (func $f) (elem (i32.const 0) $f) (data "x")',
        '(global i32 (i32.const 1)) (global (mut f64) (f64.const 1)) (export "g" (global 1))',
    ],
)
def test_a_module_still_compiles_with_its_globals_exported_and_keeps_its_own_exports(body: str) -> None:
    wasm = cart(body)
    exposed, found = expose_globals(wasm)
    before = [e.name for e in wasmtime.Module(engine(multi_memory=True), wasm).exports]
    after = [e.name for e in wasmtime.Module(engine(multi_memory=True), exposed).exports]
    assert len(found) == 1 and after == [*before, found[0].name] and found[0].name not in before


def test_a_module_without_mutable_globals_is_left_as_it_is() -> None:
    wasm = cart("(global i32 (i32.const 1))")
    assert expose_globals(wasm) == (wasm, ())


def test_a_state_of_another_shape_and_a_disk_too_large_are_refused() -> None:
    console = Console(built("rect.c"))
    with pytest.raises(UsageError, match="not one of this cart"):
        console.restore(State(bytes(65536), bytes(9), b""))
    with pytest.raises(AuthoringError, match="1,025 bytes, more than the 1,024"):
        Console(built("rect.c"), disk=bytes(1025))


def test_the_disk_holds_what_was_last_written_and_no_more_than_1024_bytes() -> None:
    wasm = cart(
        """(func (export "update") (i32.store (i32.const 0x2000) (call $diskr (i32.const 0x3000) (i32.const 2000)))
          (drop (call $diskw (i32.const 0x3000) (i32.mul (i32.const 8) (i32.load8_u (i32.const 0x16))))))""",
        imports="""(import "env" "diskr" (func $diskr (param i32 i32) (result i32)))
          (import "env" "diskw" (func $diskw (param i32 i32) (result i32)))""",
    )
    console = Console(wasm, disk=b"boot data")
    console.run(b"\1")
    assert console.peek(0x2000, "u16") == 9 and console.disk == b"boot dat"
    console.run(b"\xff")
    assert console.peek(0x2000, "u16") == 8 and len(console.disk) == 1024
    console.run(b"\0")
    assert console.peek(0x2000, "u16") == 1024 and console.disk == b""
