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

__all__ = ["lab", "pack", "report"]


def report(arguments: Namespace) -> int:
    """Write a case's report and print its path."""
    from evalkit import notebooks

    case = open_case(arguments.case)
    if not case.is_performance:
        raise UsageError(
            f"{case.slug} is a reviewed case: a report is of fuel; see `evalkit leaderboard` and `evalkit show`"
        )
    output = Path(arguments.output or project_root() / "reports" / f"{case.slug}-{case.version}.html")
    written = notebooks.report(case.root, store=arguments.store, output=output)
    emit(arguments, {"report": str(written)}, line(written, 4000))
    return 0


def pack(arguments: Namespace) -> int:
    """Write a participant's pack and list its files."""
    from evalkit.performance.pack import pack_case

    names = pack_case(open_case(arguments.case), Path(arguments.output))
    document = {"folder": arguments.output, "files": [name.as_posix() for name in names]}
    emit(arguments, document, [line(name) for name in names])
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
    quiet = ["--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]  # phone nobody
    # In a container the user is often root; the server listens on loopback, behind its token.
    root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    options = [f"--LabApp.default_url=/lab/tree/{first}", *quiet, *root]
    command = [sys.executable, "-m", "jupyterlab", *options, *arguments.arguments]
    sys.stdout.flush()
    os.execv(sys.executable, command)
