"""The original web runtime, run as it is, is the reference: the page must be the same after booting and every tick."""

from __future__ import annotations

import hashlib
import os

import numpy as np
import pytest

from evalkit.sandbox.cart import ABI
from evalkit.sandbox.console import Console
from tests.console import original as runtime
from tests.console.cartwork import CARTS, built, cart, tape

pytestmark = pytest.mark.skipif(bool(runtime.missing()), reason=runtime.missing() or "installed")

TICKS = int(os.environ.get("CONSOLE_TICKS", "4096"))
EXACT = tuple(name for name in CARTS if name != "glyphs.c")


def hashes(console: Console, pads: bytes) -> list[bytes]:
    found = [hashlib.sha256(console.memory).digest()]
    for n in range(len(pads)):
        ran = console.run(pads[n : n + 1])
        assert ran.limit is None, ran
        found.append(hashlib.sha256(console.memory).digest())
        if ran.trap:
            break
    return found


@pytest.mark.parametrize("name", EXACT)
def test_every_tick_of_every_cart_leaves_the_page_that_the_original_leaves(name: str) -> None:
    pads = tape(TICKS, seed=CARTS.index(name))
    original = runtime.play([(built(name), pads)])[0]
    ours = hashes(Console(built(name)), pads)
    assert len(set(ours)) > TICKS // 2, "the cart does too little to tell anything"
    differing = [tick for tick, (a, b) in enumerate(zip(original.hashes, ours, strict=True)) if a != b]
    assert not differing, f"the first of {len(differing)} differing ticks is {differing[0] - 1}"


def test_text_covers_the_same_cells_whoever_drew_the_glyphs() -> None:
    pads, ticks = tape(300, seed=99), list(range(0, 300, 3))
    original = runtime.play([(built("glyphs.c"), pads)], keep=ticks)[0]
    console = Console(built("glyphs.c"))
    covered = 0
    for tick, pad in enumerate(pads):
        console.run(bytes([pad]))
        if tick in original.pages:
            theirs = np.frombuffer(original.pages[tick], np.uint8)[0xA0:0x19A0]
            pixels = ((theirs[:, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3).reshape(160, 160)
            assert np.array_equal(pixels > 0, console.framebuffer() > 0)
            assert original.pages[tick][0x19A0:] == console.memory[0x19A0:]
            covered += int((pixels > 0).sum())
    assert covered > 100_000


ENDS = """(func (export "update")
  (i32.store8 (i32.const 0x2000) (i32.const 1)) %s (i32.store8 (i32.const 0x2000) (i32.const 2)))"""
STORED = "(drop (call $diskw (i32.const 5000) (i32.const 3)))"
ANSWER = "(i32.store (i32.const 0x2004) %s)"


def numbers(text: str) -> str:
    """`f 1 2` as a call with constants."""
    name, *values = text.split()
    call = f"(call ${name} {' '.join(f'(i32.const {v})' for v in values)})"
    return ANSWER % call if name.startswith("disk") else call


EDGES = [
    "blit -5 5 5 8 8 0", "blit -5 500 5 8 8 0", "blit 65536 5 5 8 8 0", "blit 65537 5 5 8 8 0",
    "blitSub -1 0 0 8 8 0 0 8 1",
    "blitSub 65536 0 0 8 8 0 0 8 1", "text -5 5 5", "text 65536 5 5", "text 65537 5 5", "textUtf8 -5 3 5 5",
    "textUtf8 5000 -3 5 5", "textUtf8 65534 3 5 5", "textUtf8 65534 2 5 5", "textUtf8 65536 0 5 5",
    "textUtf8 65537 0 5 5",
    "textUtf16 5001 4 5 5", "textUtf16 5000 5 5 5", "textUtf16 65534 3 5 5", "textUtf16 65534 4 5 5",
    "textUtf16 5000 -1 5 5",
    "textUtf16 65538 0 5 5", "textUtf16 65536 1 5 5", "diskr -5 3", "diskr 65530 30", "diskr 65535 30", "diskr 65537 0",
    "diskr 65536 0", "diskr 6000 -5", "diskw -5 3", "diskw 65530 30", "diskw 5000 -3", "diskw 5000 5000",
    "diskw 65536 0",
    "diskw 65537 0", "diskw 64512 5000", "diskw 64513 5000", "trace -5", "trace 65535", "trace 65536", "trace 65537",
    "traceUtf8 65536 0", "traceUtf8 65537 0", "traceUtf8 65534 3", "traceUtf8 5000 -1", "traceUtf16 65535 1",
    "traceUtf16 65535 2", "traceUtf16 0 -1", "traceUtf16 5001 10", "tracef -1 10", "tracef 65535 0", "tracef 65536 0",
    "tracef 5000 -10", "tone -1 -1 -1 -1", "line 5 5 5 5", "oval 5 5 0 0", "rect 5 5 0 0",
    "rect 2147483646 73 -2147483620 40", "hline 2147483645 32 -2147483627", "oval 2147483645 46 -2147483630 -2",
]  # fmt: skip
FORMATS = [
    ("%d", 65534),
    ("%d", 65532),
    ("%f", 65532),
    ("%f", 65528),
    ("%q", 65535),
    ("%c%x", 65530),
    ("%s", 9000),
    ("%s", 0),
]


def edge_carts() -> dict[str, bytes]:
    imports = " ".join(
        f'(import "env" "{name}" (func ${name} (param {"i32 " * takes}) (result {"i32 " * gives})))'
        for name, (takes, gives) in ABI.items()
    )
    carts = {edge: cart(ENDS % (STORED + numbers(edge)), imports=imports) for edge in EDGES}
    for form, at in FORMATS:
        data = f'(data (i32.const 7000) "{form}") (data (i32.const 9000) "\\ff\\ff\\ff\\7f")'
        carts[f"tracef {form} {at}"] = cart(ENDS % numbers(f"tracef 7000 {at}") + data, imports=imports)
    at_end = '(data (i32.const 65535) "A")'
    carts["trace unterminated"] = cart(ENDS % numbers("trace 65535") + at_end, imports=imports)
    carts["text unterminated"] = cart(ENDS % numbers("textUtf8 65535 1 0 0") + at_end, imports=imports)
    return carts


def test_ranges_beyond_the_page_trap_exactly_where_the_original_stops_the_game() -> None:
    carts = edge_carts()
    trapped = 0
    for (edge, wasm), original in zip(carts.items(), runtime.play([(w, b"\0\0") for w in carts.values()]), strict=True):
        console = Console(wasm)
        ran = console.run(b"\0\0")
        assert (ran.trap is not None) == (original.trapped is not None), edge
        if ran.trap is None:
            if "unterminated" not in edge:  # which draws a glyph
                assert hashlib.sha256(console.memory).digest() == original.hashes[-1], edge
        else:
            assert ran.ticks == 1 and console.peek(0x2000) == 1, edge
            trapped += 1
    assert 20 < trapped < len(carts) - 20


def test_a_game_that_traps_does_so_at_the_same_tick_with_the_same_page() -> None:
    wasm = cart("""(func (export "update") (local $p i32)
      (local.set $p (i32.load8_u (i32.const 0x16)))
      (i32.store (i32.const 0x2000) (i32.add (i32.load (i32.const 0x2000)) (local.get $p)))
      (drop (i32.div_u (i32.const 1) (i32.sub (i32.load (i32.const 0x2000)) (i32.const 300)))))""")
    pads = bytes([1, 99, 100, 50, 50, 7, 8, 9])
    original = runtime.play([(wasm, pads)])[0]
    ours = hashes(Console(wasm), pads)
    assert original.trapped == 4 and ours == original.hashes


BLIT_OF_FIVE = cart(
    """(func (export "update")
      (memory.copy (i32.const 0x2000) (i32.const 0) (i32.const 64)) (i32.store16 (i32.const 0x14) (i32.const 0x4321))
      (call $blit (i32.const 0x2000) (i32.const 5) (i32.const 6) (i32.const 16) (i32.const 8))
      (i32.store (i32.const 0x2100)
        (call $rect (i32.const 1) (i32.const 2) (i32.const 9) (i32.const 9) (i32.const 77))))""",
    imports="""(import "env" "blit" (func $blit (param i32 i32 i32 i32 i32)))
      (import "env" "rect" (func $rect (param i32 i32 i32 i32 i32) (result i32)))""",
)


def test_an_import_declared_with_another_number_of_values_does_what_it_does_in_the_original() -> None:
    original = runtime.play([(BLIT_OF_FIVE, b"\1\2\3")])[0]
    assert hashes(Console(BLIT_OF_FIVE), b"\1\2\3") == original.hashes


ORDER = cart("""
  (global $n (mut i32) (i32.const 0x2000)) (start $first)
  (func $note (param i32)
    (i32.store8 (global.get $n) (local.get 0)) (global.set $n (i32.add (global.get $n) (i32.const 1))))
  (func $first (memory.copy (i32.const 0x3000) (i32.const 0) (i32.const 0xa0)) (call $note (i32.const 1)))
  (func (export "start") (param i32) (call $note (i32.const 2)))
  (func (export "_initialize") (result i32) (call $note (i32.const 3)) (i32.const 5))
  (func (export "_start") (call $note (i32.const 4)))
  (func (export "update") (param i32 f64) (result f32 i32)
    (call $note (i32.add (local.get 0) (i32.const 5))) (f32.const 0) (i32.const 0))""")


def test_booting_sets_the_page_then_calls_what_the_original_calls_in_its_order() -> None:
    original = runtime.play([(ORDER, b"\1\2")])[0]
    console = Console(ORDER)
    assert bytes(console.memory[0x2000:0x2004]) == bytes([1, 4, 3, 2])
    assert hashes(console, b"\1\2") == original.hashes


def test_a_cart_without_update_has_its_pad_and_its_cleared_screen_and_nothing_else() -> None:
    wasm = cart('(data (i32.const 0xa0) "\\ff\\ff\\ff\\ff")')
    original = runtime.play([(wasm, b"\7\1")])[0]
    assert hashes(Console(wasm), b"\7\1") == original.hashes
