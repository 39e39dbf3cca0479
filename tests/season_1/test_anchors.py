"""The command that keeps the anchors says what is better, and writes it when asked, into a copy of the season here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.season_1.season_one import ROOT

pytestmark = pytest.mark.skipif(
    find_spec("ziglang") is None, reason="the game is in C: it needs the toolchain extra, ziglang"
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The season with its first and third entries alone, so that a test is short."""
    folder = tmp_path / "season-1"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns("*.wasm", ".zig-cache", "__pycache__"))
    head, *entries = (ROOT / "season.toml").read_text().split("[[entry]]")
    (folder / "season.toml").write_text("[[entry]]".join([head, entries[0], entries[2]]))
    return folder


def run(folder: Path, *options: str) -> tuple[int, list[str], str]:
    command = [sys.executable, str(folder / "anchors.py"), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_anchors_that_stand_are_left_alone(copy: Path) -> None:
    before = (copy / "season.toml").read_bytes()
    for options in ((), ("--write",)):
        status, (head, dam, runway), _ = run(copy, *options)
        assert status == 0 and head.startswith("level") and dam.startswith("dam") and runway.startswith("runway")
        assert dam.endswith("stands") and runway.endswith("stands")
        assert (copy / "season.toml").read_bytes() == before


def test_a_better_time_and_a_missing_anchor_are_said_and_written_when_asked(copy: Path) -> None:
    path = copy / "season.toml"
    stands = path.read_text()
    worse = stands.replace("anchor_s = 60.7", "anchor_s = 99.5").replace("anchor_s = 62.8", "budget = 150")
    path.write_text(worse)
    assert worse.count("99.5") == worse.count("budget") == 1
    status, (_, dam, runway), _ = run(copy)
    assert status == 1 and path.read_text() == worse, "nothing is written unasked"
    assert dam.endswith("a better one; --write takes it over") and "99.5" in dam and "60.7" in dam
    assert runway.endswith("the first one; --write takes it over") and "62.8" in runway
    status, (_, dam, runway), _ = run(copy, "--write")
    assert status == 0 and path.read_text() == stands
    assert dam.endswith("a better one, written") and runway.endswith("the first one, written")


def test_nothing_is_called_written_that_was_not(copy: Path) -> None:
    path = copy / "season.toml"
    path.write_text(apart := path.read_text().replace("anchor_s = 60.7", "# by hand\nanchor_s = 99.5"))
    status, lines, said = run(copy, "--write")
    assert status == 1 and "cannot find the lines of dam; write anchor_s = 60.7 by hand" in said
    assert not any("written" in line for line in lines) and path.read_text() == apart


def test_a_route_that_fails_is_no_anchor(copy: Path) -> None:
    path = copy / "season.toml"
    path.write_text(short := path.read_text().replace("tick_limit = 36000", "tick_limit = 600"))
    status, (_, *rows), _ = run(copy, "--write")
    assert status == 1 and all(row.endswith("A ROUTE FAILED") for row in rows) and path.read_text() == short


@pytest.mark.parametrize("option", ["--wirte", "season-1"])
def test_an_unknown_option_is_refused_before_anything_is_played(copy: Path, option: str) -> None:
    before = (copy / "season.toml").read_bytes()
    status, lines, said = run(copy, option)
    assert status == 2 and not lines and f"unrecognized arguments: {option}" in said
    assert (copy / "season.toml").read_bytes() == before
