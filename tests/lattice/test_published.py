"""Why: an engine that matches our oracle and not the published ones would only show that we erred twice alike."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from evalkit.building.build import build_solution
from evalkit.performance.manifest import load_case
from evalkit.sandbox.solution import UNLIMITED, Solution, load_solution
from tests.lattice.lattice_case import CASE

RIGHT = sorted(path.parent for path in (CASE / "solutions").glob("*/*/solution.toml") if path.parts[-3] != "incorrect")
NAIVE = {"evalkit-naive"}
"""For these, the long scenario is cut to its first two snapshots."""


@pytest.fixture(scope="module", params=RIGHT, ids=lambda folder: folder.name)
def engine(request: pytest.FixtureRequest) -> tuple[str, Solution]:
    folder: Path = request.param
    case = load_case(CASE)
    assert case.build is not None
    module = build_solution(folder, case.build).module
    assert module is not None
    solution = load_solution(module, entry="simulate", max_memory_bytes=268_435_456)
    assert isinstance(solution, Solution)
    return tomllib.loads((folder / "solution.toml").read_text())["model"], solution


def simulate(engine: Solution, scenario: Any) -> Any:
    data = json.dumps(scenario).encode()
    call = engine.call(data, runway_limit=UNLIMITED, max_output_bytes=1 << 26, wall_limit_s=300)
    assert call.output is not None, call
    return json.loads(call.output)


@pytest.mark.parametrize("name", ["furnace-single", "inserter-backed-up"])
def test_it_reproduces_a_published_oracle_entity_by_entity(
    engine: tuple[str, Solution], published: Any, name: str
) -> None:
    assert simulate(engine[1], published(f"{name}.json")) == published(f"{name}.out")


def test_it_reproduces_the_published_checksums_of_a_large_factory(engine: tuple[str, Solution], published: Any) -> None:
    model, solution = engine
    scenario, expected = published("medium.json"), published("medium.checksums.json")["checksums"]
    if model in NAIVE:
        scenario["snapshots"] = scenario["snapshots"][:2]
    given = {str(snapshot["tick"]): snapshot["checksum"] for snapshot in simulate(solution, scenario)}
    assert given == {tick: expected[tick] for tick in given}
    assert len(given) == len(scenario["snapshots"])
