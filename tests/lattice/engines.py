"""Why: tests of engines call them as the grader does, and find them by walking, so a new one is tested for free."""

from __future__ import annotations

import functools
import json
import tomllib
from pathlib import Path
from typing import Any

from evalkit.performance.build import build_solution
from evalkit.performance.manifest import load_case
from evalkit.sandbox.solution import Call, Solution, load_solution
from tests.lattice.lattice_case import CASE

__all__ = ["RIGHT_ENGINES", "call", "engine", "fuel_limit"]

RIGHT_ENGINES = sorted(
    path.parent for folder in ("pass", "over_ceiling") for path in (CASE / "solutions" / folder).glob("*/solution.toml")
)
"""The folders of all solutions whose answers must be right."""


@functools.cache
def engine(folder: Path) -> Solution:
    """Build a solution as the grader does; AssertionError with the log where that fails."""
    case = load_case(CASE)
    assert case.build is not None and case.contract is not None and case.sandbox is not None
    built = build_solution(folder, case.build)
    assert built.module is not None, f"{folder}: {built.detail}\n{built.log}"
    loaded = load_solution(built.module, entry=case.contract.entry, max_memory_bytes=case.sandbox.max_memory_bytes)
    assert isinstance(loaded, Solution), f"{folder}: {loaded}"
    return loaded


def fuel_limit() -> int:
    """The fuel that a scored input may burn."""
    return int(tomllib.loads((CASE / "test-case.toml").read_text(encoding="utf-8"))["sandbox"]["fuel_limit"])


def call(solution: Solution, scenario: dict[str, Any] | str, fuel: int | None = None) -> Call:
    """One call, with a scenario or with its text; the fuel limit is what a scored input may burn."""
    text = scenario if isinstance(scenario, str) else json.dumps(scenario, separators=(",", ":"))
    limit = fuel_limit() if fuel is None else fuel
    return solution.call(text.encode(), runway_limit=limit, max_output_bytes=1 << 28, wall_limit_s=120)
