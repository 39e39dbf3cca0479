"""Compiling hostile bytes: bounded, in another process, once for each module."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import wasmtime

from evalkit.errors import MachineError
from evalkit.sandbox import engine as engine_module
from evalkit.sandbox.engine import CompileLimits, InvalidModule, compile_module

SMALL = bytes(wasmtime.wat2wasm('(module (func (export "f")))'))


def test_a_module_is_compiled_once_and_read_back_after_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = engine_module._compile_in_child
    monkeypatch.setattr(engine_module, "_compile_in_child", lambda *a: (calls.append(a), real(*a)))
    for _ in range(3):
        assert [e.name for e in compile_module(SMALL, cache_dir=tmp_path).exports] == ["f"]
    assert len(calls) == 1


def test_many_that_want_one_module_at_once_compile_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = engine_module._compile_in_child
    monkeypatch.setattr(engine_module, "_compile_in_child", lambda *a: (calls.append(a), real(*a)))
    with ThreadPoolExecutor(4) as pool:
        modules = list(pool.map(lambda _: compile_module(SMALL, cache_dir=tmp_path), range(4)))
    assert len(calls) == 1
    assert all(module.exports for module in modules)


def test_a_spoiled_cache_entry_is_made_again(tmp_path: Path) -> None:
    compile_module(SMALL, cache_dir=tmp_path)
    (kept,) = (tmp_path / "modules").glob("*.cwasm")
    kept.write_bytes(kept.read_bytes()[:100])
    assert compile_module(SMALL, cache_dir=tmp_path).exports


@pytest.mark.parametrize("junk", [b"", b"\0asm", b"\0asm\x01\0\0\0\x01", SMALL[:-3], b"#!/bin/sh\n", b"\x7fELF" * 100])
def test_bytes_that_are_no_module_are_refused_in_one_line(junk: bytes, tmp_path: Path) -> None:
    with pytest.raises(InvalidModule) as refusal:
        compile_module(junk, cache_dir=tmp_path)
    assert str(refusal.value) and "\n" not in str(refusal.value)


def test_text_is_no_module_even_where_wasmtime_would_read_it(tmp_path: Path) -> None:
    with pytest.raises(InvalidModule):
        compile_module(b"(module)", cache_dir=tmp_path)


def test_a_module_over_the_size_limit_is_refused_before_it_is_compiled(tmp_path: Path) -> None:
    with pytest.raises(InvalidModule, match="more than the 10 allowed"):
        compile_module(SMALL, limits=CompileLimits(module_bytes=10), cache_dir=tmp_path)
    assert not (tmp_path / "modules").exists()


def heavy() -> bytes:
    """Many large functions: seconds of work for the compiler in half a megabyte."""
    step = "(i64.store (i32.wrap_i64 (local.get 0)) (i64.mul (i64.load (i32.wrap_i64 (local.get 0))) (local.get 0)))"
    function = f"(func (param i64) {step * 2000})"
    return bytes(wasmtime.wat2wasm(f"(module (memory 1) {function * 150})"))


def test_compiling_that_takes_too_long_is_the_machines_fault(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match=r"more than 0\.3 s"):
        compile_module(heavy(), limits=CompileLimits(seconds=0.3), cache_dir=tmp_path)


def test_compiling_that_takes_too_much_memory_is_the_machines_fault(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="of memory allowed"):
        compile_module(heavy(), limits=CompileLimits(memory_bytes=200 << 20), cache_dir=tmp_path)
