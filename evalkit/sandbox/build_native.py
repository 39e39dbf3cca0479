"""Why: the console's wasm is shipped built, so one command makes it again, bit for bit, from the sources beside it.

Run as `python -m evalkit.sandbox.build_native` with the `toolchain` extra installed (the pinned ziglang); it rewrites
`native/renderer.wasm` and `native/board.wasm`. The renderer shares its page with a game, so it may bring neither data
nor a stack there: its font becomes code, and a test reads the built sections.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import wasmtime

from evalkit.errors import MachineError
from evalkit.sandbox.cart import NATIVE

__all__ = ["build", "font_header", "main"]

# No jump tables: clang would otherwise turn the font's switch into a table of data in the game's page.
_FLAGS = (
    "-target", "wasm32-freestanding", "-std=c11", "-O2", "-fno-ident", "-nostdlib", "-fno-jump-tables", "-mbulk-memory",
    "-Wall", "-Wextra", "-Werror", "-Wl,--no-entry", "-Wl,--import-memory", "-Wl,--initial-memory=65536",
    "-Wl,--max-memory=65536", "-Wl,--stack,14752", "-s",
)  # fmt: skip
_ACROSS, _HEIGHT, _WIDTH = 16, 8, 6
_BOX = 0x7F


def _glyphs(font: str) -> Iterator[tuple[int, int]]:
    """Each drawn glyph of `font.txt`: its code, and its 64 bits, the top left pixel first."""
    lines = [line for line in font.splitlines() if line and not line.startswith("# ")]
    for top in range(0, len(lines), 1 + _HEIGHT):
        first, rows = int(lines[top]), [line.split() for line in lines[top + 1 : top + 1 + _HEIGHT]]
        assert len(rows) == _HEIGHT and all(len(row) == _ACROSS for row in rows), f"font.txt: the band of {first}"
        for across in range(_ACROSS):
            art = [row[across] for row in rows]
            assert all(len(row) == _WIDTH and set(row) <= {".", "#"} for row in art), f"font.txt: {first + across}"
            bits = "".join(f".{row}.".replace(".", "0").replace("#", "1") for row in art)
            if int(bits, 2):
                yield first + across, int(bits, 2)


def font_header(font: str) -> str:
    """`font.txt` as a C function from a code to 64 bits: a glyph, nothing for a space, the box for any other code."""
    drawn = dict(_glyphs(font))
    cases = "".join(f"        case {code}: return 0x{bits:016x};\n" for code, bits in drawn.items())
    head = "static uint64_t glyph(uint32_t code) {\n    switch (code) {\n        case 32: return 0;\n"
    return f"{head}{cases}    }}\n    return 0x{drawn[_BOX]:016x};\n}}\n"


def build(target: Path) -> None:
    """Make `renderer.wasm` and `board.wasm` in the folder `target`; MachineError where the compiler fails."""
    with tempfile.TemporaryDirectory() as work:
        Path(work, "renderer.c").write_bytes((NATIVE / "renderer.c").read_bytes())
        Path(work, "font.h").write_text(font_header((NATIVE / "font.txt").read_text("ascii")), "ascii")
        command = [sys.executable, "-m", "ziglang", "cc", *_FLAGS, "-o", "renderer.wasm", "renderer.c"]
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
        if done.returncode:
            raise MachineError(f"the renderer does not compile: {done.stderr.strip().splitlines()[-1:]}")
        (target / "renderer.wasm").write_bytes(Path(work, "renderer.wasm").read_bytes())
    (target / "board.wasm").write_bytes(wasmtime.wat2wasm((NATIVE / "board.wat").read_text("ascii")))


def main() -> int:
    """Rewrite the shipped modules in place."""
    build(NATIVE)
    for name in ("renderer.wasm", "board.wasm"):
        print(f"{NATIVE / name}: {(NATIVE / name).stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
