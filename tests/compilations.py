"""Why: "a module is compiled once" is only seen by counting the children that compile, wherever they are started."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

__all__ = ["counted"]


@contextmanager
def counted(folder: Path) -> Iterator[Callable[[], int]]:
    """Within the block: how many children of this process and its workers began to compile; notes go to `folder`."""
    told = folder / "compilations"
    (folder / "site").mkdir(parents=True)
    (folder / "site" / "sitecustomize.py").write_text(
        "import sys\n"
        "if 'evalkit.sandbox.compiler' in getattr(sys, 'orig_argv', []):\n"
        f"    open({str(told)!r}, 'a').write('one\\n')\n"
    )
    paths = [str(folder / "site"), os.environ.get("PYTHONPATH", "")]
    with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in paths if path)):
        yield lambda: len(told.read_text().splitlines()) if told.exists() else 0
