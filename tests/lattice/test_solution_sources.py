"""Why: solutions are self-contained folders, so some sources exist more than once; here they are held together."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

SOLUTIONS = Path(__file__).parents[2] / "cases" / "lattice" / "v1.0.0" / "solutions"
TRANSPORT = SOLUTIONS / "pass" / "transport"
NAIVE = SOLUTIONS / "over_ceiling" / "naive"
GAP_LINES = SOLUTIONS / "pass" / "gap-lines"
ALL = sorted(path.parent for path in SOLUTIONS.rglob("solution.toml"))
WRONG_ENGINES = [folder for folder in ALL if folder.parent.name == "wrong_answer"]


def sources(folder: Path) -> dict[str, bytes]:
    """Return the C files of a solution by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.[ch]"))}


def named(folder: Path) -> str:
    """Return the name that a test report shows for a solution."""
    return str(folder.relative_to(SOLUTIONS))


def test_there_are_solutions_of_every_outcome() -> None:
    """The walk below covers something: each outcome has a solution, and so has each reason to be incorrect."""
    assert {folder.relative_to(SOLUTIONS).parts[0] for folder in ALL} == {"pass", "over_ceiling", "incorrect"}
    reasons = {folder.parent.name for folder in ALL if folder.is_relative_to(SOLUTIONS / "incorrect")}
    assert reasons == {
        "bad_output",
        "build_failed",
        "exhausted",
        "imports",
        "invalid_module",
        "memory",
        "missing_export",
        "start_function",
        "trap",
        "wrong_answer",
    }
    assert len(WRONG_ENGINES) == 2


@pytest.mark.parametrize("folder", ALL, ids=named)
def test_a_solution_says_who_made_it_and_can_be_built(folder: Path) -> None:
    """Each folder has a build script and the whole of its provenance."""
    facts = tomllib.loads((folder / "solution.toml").read_text())
    assert set(facts) == {"model", "provider", "date", "toolchain", "notes"}
    assert facts["provider"] == "evalkit" and facts["model"].startswith("evalkit-")
    assert (folder / "build.sh").read_text().startswith("#!/bin/sh\n")


def test_models_are_told_apart() -> None:
    """No two solutions share a model, for results fold by it."""
    models = [tomllib.loads((folder / "solution.toml").read_text())["model"] for folder in ALL]
    assert len(set(models)) == len(models)


@pytest.mark.parametrize("name", ["io.h", "io.c", "layout.h", "layout.c"])
@pytest.mark.parametrize("folder", [NAIVE, GAP_LINES], ids=named)
def test_three_engines_read_write_and_lay_out_alike(folder: Path, name: str) -> None:
    """They differ in how they simulate, so their fuel differs for that reason alone."""
    assert sources(folder)[name] == sources(TRANSPORT)[name]


def test_gap_encoded_lines_alone_differ_from_those_with_sleepers_in_nothing_but_who_is_woken() -> None:
    """The two are built alike, and a line does with its items what the other does with them."""
    assert (GAP_LINES / "build.sh").read_text() == (TRANSPORT / "build.sh").read_text()
    without, sleeping = (sources(folder)["line.c"].decode() for folder in (GAP_LINES, TRANSPORT))
    assert "sleep" not in without and "ring(" not in without
    assert without.partition("/* ---- changing")[0] == sleeping.partition("/* ---- changing")[0]


@pytest.mark.parametrize("folder", WRONG_ENGINES, ids=named)
def test_a_wrong_engine_is_the_right_one_with_one_definition(folder: Path) -> None:
    """Its sources are those of the transport engine; its build script adds `-D` and nothing else."""
    assert sources(folder) == sources(TRANSPORT)
    script = (folder / "build.sh").read_text()
    without, definitions = re.subn(r"-D[A-Z_]+=\w+ ", "", script)
    assert definitions >= 1
    assert without == (TRANSPORT / "build.sh").read_text()
    for macro in re.findall(r"-D([A-Z_]+)=", script):
        assert f"#define {macro} ".encode() in sources(folder)["engine.c"]
