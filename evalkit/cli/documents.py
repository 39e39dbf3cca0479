"""Why: the verbs that hand a person something to read: a report, or JupyterLab on the first notebook."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path

from evalkit.cli.output import emit, line
from evalkit.errors import UsageError
from evalkit.performance.manifest import open_case
from evalkit.project import project_root

__all__ = ["lab", "report"]


def report(arguments: Namespace) -> int:
    """Write a case's report and print its path."""
    from evalkit import notebooks

    case = open_case(arguments.case)
    output = Path(arguments.output or project_root() / "reports" / f"{case.slug}-{case.version}.html")
    written = notebooks.report(case.root, store=arguments.store, output=output)
    emit(arguments, {"report": str(written)}, line(written, 4000))
    return 0


def lab(arguments: Namespace) -> int:
    """Become JupyterLab, on the first notebook of the project."""
    if find_spec("jupyterlab") is None:
        raise UsageError('JupyterLab is not installed here: pip install "evalkit[lab]"')
    found = sorted((project_root() / "notebooks").glob("*.ipynb"))
    if not found:
        raise UsageError(f"no notebooks in {project_root() / 'notebooks'}: run this inside the project")
    os.chdir(project_root())
    first = os.path.relpath(found[0])
    command = [sys.executable, "-m", "jupyterlab", f"--LabApp.default_url=/lab/tree/{first}", *arguments.arguments]
    sys.stdout.flush()
    os.execv(sys.executable, command)
