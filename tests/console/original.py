"""Why: the original web runtime, run as it is under node, says what a cart's page must hold after every tick.

Install it once with `python -m tests.console.original` (npm, about 30 MB, into `build/oracle`, which git
ignores). It is an oracle: it is run, its code is not read, and none of it is in this repository.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).with_name("oracle")
INSTALLED = Path(__file__).parents[2] / "build" / "oracle"
PAGE = 65536


@dataclass(frozen=True)
class Played:
    """`hashes`: SHA-256 of the page after booting and after each tick. `pages`: the page after the ticks asked for."""

    hashes: list[bytes]
    pages: dict[int, bytes]
    trapped: int | None


def missing() -> str:
    """Why the original cannot be run here, or nothing."""
    if shutil.which("node") is None:
        return "the original runtime needs node"
    version = json.loads((HERE / "package.json").read_text())["dependencies"]["wasm4"]
    found = INSTALLED / "node_modules" / "wasm4" / "package.json"
    if not found.exists() or json.loads(found.read_text())["version"] != version:
        return "the original runtime is not installed: python -m tests.console.original"
    return ""


def play(games: list[tuple[bytes, bytes]], keep: list[int] | None = None) -> list[Played]:
    """Play each (cart, pads) in the original; `keep` lists the ticks whose whole pages to bring back."""
    kept = keep or []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        jobs = []
        for n, (cart, pads) in enumerate(games):
            paths = {key: str(work / f"{n}.{key}") for key in ("cart", "pads", "out")}
            Path(paths["cart"]).write_bytes(cart)
            Path(paths["pads"]).write_bytes(pads)
            jobs.append({**paths, "keep": kept})
        (work / "jobs.json").write_text(json.dumps(jobs))
        command = ["node", str(HERE / "run.mjs"), str(INSTALLED), str(work / "jobs.json")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stderr[-2000:]
        return [_read(job, answer) for job, answer in zip(jobs, json.loads(done.stdout), strict=True)]


def _read(job: dict[str, object], answer: dict[str, int | None]) -> Played:
    out, ticks = Path(str(job["out"])).read_bytes(), answer["ticks"]
    assert ticks is not None
    hashes = [out[at : at + 32] for at in range(0, 32 * (ticks + 1), 32)]
    asked = [tick for tick in job["keep"] if tick < ticks]  # type: ignore[attr-defined]
    pages = {tick: out[32 * (ticks + 1) + PAGE * n :][:PAGE] for n, tick in enumerate(asked)}
    return Played(hashes, pages, answer["trapped"])


def main() -> int:
    """Install the pinned packages."""
    if shutil.which("npm") is None:
        print("npm is not here: install node and npm first", file=sys.stderr)
        return 2
    INSTALLED.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, INSTALLED / name)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    return subprocess.run(command, cwd=INSTALLED, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
