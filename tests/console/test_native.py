"""The wasm that is shipped is what its sources build, and it leaves the game's page to the game."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
import wasmtime

from evalkit.sandbox.build_native import build, font_header
from evalkit.sandbox.cart import ABI, NATIVE, native
from evalkit.sandbox.engine import engine
from evalkit.sandbox.pacer import Signature
from evalkit.sandbox.sections import sections

NAMES = ("renderer.wasm", "board.wasm")
DATA, START = 11, 8


@pytest.mark.skipif(find_spec("ziglang") is None, reason="the toolchain extra is not installed")
def test_the_shipped_modules_are_rebuilt_bit_for_bit_from_any_folder(tmp_path: Path) -> None:
    build(tmp_path)
    for name in NAMES:
        assert (tmp_path / name).read_bytes() == (NATIVE / name).read_bytes(), (
            f"python -m evalkit.sandbox.build_native: {name}"
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_module_brings_no_data_into_the_page_and_runs_nothing_by_itself(name: str) -> None:
    assert not {section.id for section in sections((NATIVE / name).read_bytes())} & {DATA, START}


def test_together_they_export_exactly_the_functions_of_the_abi() -> None:
    exports = {e.name: e.type for n in ("renderer", "board") for e in native(n).exports}
    signatures = {n: Signature.of(t) for n, t in exports.items() if isinstance(t, wasmtime.FuncType)}
    assert {n: (len(s.params), len(s.results)) for n, s in signatures.items()} == dict(ABI)
    assert {t for s in signatures.values() for t in (*s.params, *s.results)} == {"i32"}


def test_drawing_and_tracing_change_nothing_in_the_page_but_the_framebuffer() -> None:
    store = wasmtime.Store(engine(multi_memory=True))
    store.set_fuel(1 << 40)
    store.set_epoch_deadline(1 << 40)
    page = wasmtime.Memory(store, wasmtime.MemoryType(wasmtime.Limits(1, 1)))
    outside = bytes(range(1, 251)) * 263
    page.write(store, outside[:65536], 0)
    before = bytes(page.read(store, 0, 65536))
    exports = wasmtime.Instance(store, native("renderer"), [page]).exports(store)
    for name, (takes, _) in ABI.items():
        if name.startswith("disk") or name in {"trace", "tracef"}:
            continue
        function = exports[name]
        assert isinstance(function, wasmtime.Func)
        function(store, *[0x2000, 24, 31, 17, 12, 3, 5, 20, 15][:takes])
    after = bytes(page.read(store, 0, 65536))
    assert after[:0xA0] == before[:0xA0] and after[0x19A0:] == before[0x19A0:] and after != before


def test_the_font_draws_every_printable_character_of_ascii_and_no_two_alike() -> None:
    text = font_header((NATIVE / "font.txt").read_text("ascii"))
    glyphs = {int(line.split()[1][:-1]): line.split()[3] for line in text.splitlines() if "case" in line}
    assert set(range(32, 127)) <= set(glyphs) and len({glyphs[code] for code in range(32, 127)}) == 95
