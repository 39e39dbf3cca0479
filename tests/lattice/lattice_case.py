"""Why: files of a case are not a package, so the tests of Lattice load them by path, here and nowhere else."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
CASE = ROOT / "cases" / "lattice" / "v1.0.0"
SHARED = Path(os.environ.get("EVALKIT_SHARED", ROOT.parent / "shared")) / "lattice"


def load(name: str) -> ModuleType:
    """Return a module of the case folder, loaded once."""
    key = f"lattice_case_{name}"
    if key not in sys.modules:
        spec = importlib.util.spec_from_file_location(key, CASE / f"{name}.py")
        assert spec is not None and spec.loader is not None
        sys.modules[key] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[key]
