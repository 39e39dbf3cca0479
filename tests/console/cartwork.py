"""Why: carts of our own, built from the sources in `carts/` once for each digest, for every test that plays one."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import wasmtime

SOURCES = Path(__file__).with_name("carts")
BUILT = Path(__file__).parents[2] / "build" / "carts"

CARTS = tuple(sorted(path.name for path in SOURCES.iterdir() if path.suffix in {".c", ".zig", ".wat"}))

_LINK = (
    "-Wl,--no-entry", "-Wl,--import-memory", "-Wl,--initial-memory=65536", "-Wl,--max-memory=65536",
    "-Wl,--stack,14752",
)  # fmt: skip
_C = (
    "cc", "-target", "wasm32-freestanding", "-std=c11", "-Oz", "-fno-ident", "-nostdlib", "-mbulk-memory", *_LINK, "-s",
)  # fmt: skip
_ZIG = (
    "build-exe", "-target", "wasm32-freestanding", "-O", "ReleaseSmall", "-fno-entry", "-rdynamic", "--import-memory",
    "--initial-memory=65536", "--max-memory=65536", "--stack", "14752", "-fstrip",
)  # fmt: skip


@cache
def built(name: str) -> bytes:
    """The cart of a source in `carts/`, such as `blit.c`."""
    source = SOURCES / name
    if source.suffix == ".wat":
        return bytes(wasmtime.wat2wasm(source.read_text()))
    parts = (source.read_bytes(), (SOURCES / "cart.h").read_bytes(), repr((_C, _ZIG)).encode())
    kept = BUILT / f"{source.stem}-{hashlib.sha256(b''.join(parts)).hexdigest()[:16]}.wasm"
    if not kept.exists():
        if find_spec("ziglang") is None:
            pytest.skip("carts in C and Zig need the toolchain extra: ziglang")
        BUILT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=BUILT) as work:
            made = Path(work, "cart.wasm")
            order = [*_C, "-o", str(made)] if source.suffix == ".c" else [*_ZIG, f"-femit-bin={made}"]
            command = [sys.executable, "-m", "ziglang", *order, str(source)]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=work)
            assert done.returncode == 0, done.stderr
            made.replace(kept)
    return kept.read_bytes()


def tape(ticks: int, seed: int) -> bytes:
    """Random pads, each held for a few ticks."""
    source = random.Random(seed)
    pads = bytearray()
    while len(pads) < ticks:
        pads += bytes([source.randrange(256)]) * source.randrange(1, 9)
    return bytes(pads[:ticks])


def cart(body: str = "", *, imports: str = "", memory: str = "1") -> bytes:
    """A cart in text with the page imported; `body` is all the rest."""
    page = f'(import "env" "memory" (memory {memory}))' if memory else ""
    return bytes(wasmtime.wat2wasm(f"(module {page} {imports} {body})"))
