"""Why: tests of building, grading and ranking need small cases and solutions of every kind, made in a line or two."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import wasmtime

__all__ = ["ECHO", "burner", "make_case", "make_solution", "module"]

ECHO = "(i64.or (i64.shl (i64.extend_i32_u (local.get 0)) (i64.const 32)) (i64.extend_i32_u (local.get 1)))"
"""The body of an entry that answers with its input."""


def module(body: str = ECHO, *, alloc: str = "(i32.const 16)", memory: str = "2", extra: str = "") -> bytes:
    """A module that keeps the contract, with `body` as its entry `go`; locals 2 (i32) and 3 (i64) are free."""
    return bytes(
        wasmtime.wat2wasm(
            f"""(module (memory (export "memory") {memory}) {extra}
            (func (export "alloc") (param i32) (result i32) {alloc})
            (func $go (export "go") (param i32 i32) (result i64) (local i32 i64) {body}))"""
        )
    )


def burner(laps_per_byte: int) -> bytes:
    """A module that echoes, and runs a loop of that many laps for each byte of its input: about 8 fuel a lap."""
    loop = f"""(local.set 2 (i32.mul (local.get 1) (i32.const {laps_per_byte})))
    (block (br_if 0 (i32.eqz (local.get 2)))
      (loop (br_if 0 (local.tee 2 (i32.sub (local.get 2) (i32.const 1))))))"""
    return module(loop + ECHO)


def make_case(
    root: Path,
    *,
    inputs: Sequence[tuple[str, str, bytes, bytes, float]] = (
        ("s", "smoke", b"s", b"s", 1),
        ("x", "stress", b"x", b"x", 1),
    ),
    fuel_limit: int = 100_000,
    build: str | list[str] = "true",
    checker: str | None = None,
    player: str | None = None,
    slug: str = "echo",
    version: str = "v1",
    sandbox: str = "wall_limit_s = 20.0",
) -> Path:
    """A performance case whose solutions ship `engine.wasm`; inputs are (name, kind, input, expected, runway)."""
    folder = root / slug / version
    (folder / "inputs").mkdir(parents=True)
    for name in ("description.md", "changelog.md", "prompt.md"):
        (folder / name).write_text(name)
    (folder / "base.toml").write_text('slug = "base"\nname = "Base"\n')
    (folder / "other.toml").write_text('slug = "other"\nname = "Other"\n')
    text = f"""
slug = "{slug}"
name = "Echo"
type = "performance"
difficulty = "easy"
tags = ["test"]
summary = "Answer with the input."
description = "description.md"
changelog = "changelog.md"
prompt = "prompt.md"
max_runtime_hours = 1
variants = ["base.toml", "other.toml"]
[build]
build = {json.dumps(build)}
module = "engine.wasm"
[contract]
entry = "go"
"""
    if checker is not None:
        (folder / "checker.py").write_text(checker)
        text += 'checker = "checker.py"\n'
    if player is not None:
        (folder / "player.py").write_text(player)
        text += 'player = "player.py"\n'
    text += f"[sandbox]\nfuel_limit = {fuel_limit}\nmax_memory_bytes = 1048576\n{sandbox}\n"
    for name, kind, data, expected, runway in inputs:
        (folder / "inputs" / f"{name}.in").write_bytes(data)
        (folder / "inputs" / f"{name}.out").write_bytes(expected)
        text += f"""[[case]]
name = "{name}"
kind = "{kind}"
input = "inputs/{name}.in"
expected = "inputs/{name}.out"
fuel_runway = {float(runway)}
"""
        if kind == "smoke":
            text += f'behaviour = "It answers {name}."\n'
    (folder / "test-case.toml").write_text(text)
    return folder


def make_solution(folder: Path, wasm: bytes | None = None, *, model: str = "model-a", **origin: str) -> Path:
    """A solution's folder that holds a finished module (default: echo)."""
    folder.mkdir(parents=True)
    (folder / "engine.wasm").write_bytes(module() if wasm is None else wasm)
    lines = {"model": model, **origin}
    (folder / "solution.toml").write_text("".join(f"{key} = {json.dumps(text)}\n" for key, text in lines.items()))
    return folder
