"""Why: the verbs that hand a person something to read: a report, or JupyterLab on the first notebook."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path

from evalkit.cli.keeping import note_sample
from evalkit.cli.output import emit, line
from evalkit.cli.seasons import season_folder
from evalkit.errors import UsageError
from evalkit.performance.case import Case
from evalkit.performance.manifest import open_case
from evalkit.project import project_root
from evalkit.season.manifest import load_season
from evalkit.season.season import Season

__all__ = ["lab", "pack", "report"]


def report(arguments: Namespace) -> int:
    """Write the report of a case or a season and print its path."""
    from evalkit import notebooks

    if (folder := season_folder(arguments.case)) is not None:
        of: Case | Season = load_season(folder)
        kind = "season"
    else:
        of = open_case(arguments.case)
        kind, folder = ("case" if of.is_performance else "review"), of.root
    if arguments.run_id and kind == "review":
        raise UsageError(f"{of.slug} is a reviewed case: its report shows every run, so leave out --run")
    output = Path(arguments.output or project_root() / "reports" / f"{of.slug}-{of.version}.html")
    note_sample(arguments)
    written = notebooks.report(folder, store=arguments.store, output=output, run_id=arguments.run_id, kind=kind)
    emit(arguments, {"report": str(written)}, line(written, 4000))
    return 0


def pack(arguments: Namespace) -> int:
    """Write a participant's pack and list its files."""
    from evalkit.performance.pack import pack_case
    from evalkit.season.pack import pack_season

    target = Path(arguments.output)
    if (folder := season_folder(arguments.case)) is not None:
        names = pack_season(load_season(folder), target)
    else:
        names = pack_case(open_case(arguments.case), target)
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
