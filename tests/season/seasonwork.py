"""Why: seasons on carts of our own, laid out in a folder in a line, for every test that plays, proves or keeps one."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import wasmtime

CARTS = Path(__file__).with_name("carts")
BUILT = Path(__file__).parents[2] / "build" / "carts"
C = (
    "cc", "-target", "wasm32-freestanding", "-std=c11", "-Oz", "-fno-ident", "-nostdlib", "-mbulk-memory",
    "-Wl,--no-entry", "-Wl,--import-memory", "-Wl,--initial-memory=65536", "-Wl,--max-memory=65536",
    "-Wl,--stack,14752", "-s",
)  # fmt: skip


@cache
def built(name: str) -> bytes:
    """The cart of a C source in `carts/`, made once for each digest."""
    source = CARTS / name
    kept = BUILT / f"{source.stem}-{hashlib.sha256(source.read_bytes() + repr(C).encode()).hexdigest()[:16]}.wasm"
    if not kept.exists():
        if find_spec("ziglang") is None:
            pytest.skip("carts in C need the toolchain extra: ziglang")
        BUILT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=BUILT) as work:
            made = Path(work, "cart.wasm")
            command = [sys.executable, "-m", "ziglang", *C, "-o", str(made), str(source)]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=work)
            assert done.returncode == 0, done.stderr
            made.replace(kept)
    return kept.read_bytes()


VAULT = """
name = "Vault"
module = "vault.wasm"
[boot]
disk = "00000000 00000000"
level = { at = 4, values = { hall = 0, cellar = 1 } }
difficulty = { at = 5, values = { easy = 0, hard = 1 } }
[boot.cheats]
invincible = { at = 6, value = 1 }
infinite-ammo = { at = 6, value = 2 }
[variables]
mode = { address = 0x8000 }
x = { address = 0x8004, type = "i16" }
health = { address = 0x8006, type = "i16" }
taken = { address = 0x8008 }
wanted = { address = 0x8009 }
ammo = { address = 0x800a }
guard = { address = 0x8014, type = "i16" }
[status]
playing = "mode == 1"
completed = "mode == 2"
died = "mode == 3"
failed = "mode == 4"
objectives = { done = "taken", total = "wanted", form = "bits" }
[observation]
variables = ["x", "health", "ammo", "guard"]
picture = true
[actions.wait]
ticks = [4, 30]
[actions.left]
buttons = ["left"]
ticks = [8, 16]
[actions.right]
buttons = ["right"]
ticks = [8, 16]
[actions.take]
buttons = ["up"]
ticks = [2]
[actions.shoot]
buttons = ["x"]
ticks = [4]
when = "ammo > 0"
[actions.down]
buttons = ["down"]
ticks = [4]
[actions.leave]
buttons = ["z"]
ticks = [4]
when = "x > 100"
"""

SEASON = """
slug = "{slug}"
version = "1.0"
game = "game"
tick_limit = 2400
[seeds]
0 = 60
1 = 97
[practice_seeds]
9 = 75
[[entry]]
level = "hall"
difficulty = "easy"
anchor_s = 6.5
[[entry]]
level = "cellar"
difficulty = "hard"
budget = 40
"""

COINS = """
module = "coins.wasm"
[variables]
coins = {{ address = {coins}, type = "u32" }}
lives = {{ address = {lives}, type = "u16" }}
at = {{ address = {at}, type = "u16" }}
page = {{ address = {page} }}
[status]
completed = "page == 2"
died = "page == 3"
objectives = {{ done = "coins", total = 7, form = "count" }}
[observation]
variables = ["at", "lives", "coins"]
[actions.start]
buttons = ["x", "z"]
ticks = [2]
when = "page == 0"
[actions.walk]
buttons = ["right"]
ticks = [1, 4]
when = "page == 1"
[actions.grab]
buttons = ["x"]
ticks = [1]
when = "page == 1 and at > 0"
"""

SPIN = """(module (import "env" "memory" (memory 1)) (func (export "update")
  (i32.store (i32.const 0x2000) (i32.add (i32.load (i32.const 0x2000)) (i32.const 1)))
  (if (i32.load8_u (i32.const 0x16)) (then {body}))))"""


def make_season(
    root: Path, game: str = VAULT, season: str = SEASON, *, cart: bytes | None = None, slug: str = "vault"
) -> Path:
    """A season's folder: `season.toml`, and `game/` with `game.toml` and its cart."""
    folder = root / slug
    (folder / "game").mkdir(parents=True)
    name = "coins.wasm" if "coins.wasm" in game else "vault.wasm"
    (folder / "game" / name).write_bytes(built(name.replace("wasm", "c")) if cart is None else cart)
    (folder / "game" / "game.toml").write_text(game)
    (folder / "season.toml").write_text(season.replace("{slug}", slug))
    return folder


def spin(body: str = "(unreachable)") -> bytes:
    """A cart that counts its ticks at 0x2000 and does something else when a pad is pressed."""
    return bytes(wasmtime.wat2wasm(SPIN.format(body=body)))
