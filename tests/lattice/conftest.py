"""Why: every test of Lattice looks at the same case folder, and at the published oracles only where they are."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.lattice.lattice_case import CASE, SHARED, load


@pytest.fixture(scope="session")
def case_folder() -> Path:
    return CASE


@pytest.fixture(scope="session")
def oracle() -> ModuleType:
    return load("oracle")


@pytest.fixture(scope="session")
def checker() -> ModuleType:
    return load("checker")


@pytest.fixture(scope="session")
def generate() -> ModuleType:
    return load("generate")


@pytest.fixture(scope="session")
def manifest() -> dict[str, Any]:
    return tomllib.loads((CASE / "test-case.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def published() -> Any:
    """Read a file of the published oracles, which are not part of the project."""
    if not SHARED.is_dir():
        pytest.skip("the published oracles are not here (set EVALKIT_SHARED to the folder that holds lattice/)")
    return lambda name: json.loads((SHARED / name).read_text(encoding="utf-8"))
