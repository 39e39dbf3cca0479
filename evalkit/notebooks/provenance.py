"""Why: a page of numbers is worth little without what made it: which data, which code, which machine, which command.

Facts hold names and digests, never the paths or passwords of the machine that made the page.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import evalkit
from evalkit.records import PerformanceRun, ReviewedRun, SeasonRun, canonical

__all__ = ["ORDER", "data_facts", "git_commit", "machine_facts", "public_name", "season_facts"]

ORDER = ("made", "command", "notebook", "parameters", "evalkit", "commit", "packages", "python", "platform")
"""How a page lists what `machine_facts` returns: a notebook file keeps its metadata sorted by name."""

_PACKAGES = ("wasmtime", "pandas", "altair", "vl-convert-python", "itables", "papermill", "nbconvert")


def public_name(text: str) -> str:
    """Return a path's or URL's last name, without the folders, user, password or query in front of and behind it.

    Of a path that ends in a version, the name before it too: `lattice/v1.0.0`.
    """
    if "://" in text:
        parts = urlsplit(text)
        host = f"{parts.hostname}/" if parts.hostname else ""
        return f"{parts.scheme}://{host}{parts.path.rstrip('/').rpartition('/')[2]}"
    path = Path(text)
    if not path.is_absolute():
        return text
    return "/".join(path.parts[-2:]) if re.fullmatch(r"v?\d[\w.+-]*", path.name) and len(path.parts) > 2 else path.name


def git_commit(folder: Path) -> str | None:
    """Return the commit of the checkout that holds `folder`, `+changes` after it where files differ, or None."""

    def git(*words: str) -> str:
        line = ["git", "-C", str(folder), *words]
        return subprocess.run(line, capture_output=True, text=True, timeout=10, check=True).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", "__init__.py")  # a copy inside someone else's checkout is not of it
        changes = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "HEAD")[:12] + ("+changes" if changes else "")
    except (OSError, subprocess.SubprocessError):
        return None


def machine_facts(
    notebook: Path | None = None, parameters: Mapping[str, Any] | None = None, command: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return when, by which command, notebook, code and packages, and on what platform; plain JSON values."""
    given = {name: value for name, value in (parameters or {}).items() if value is not None}
    return {
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": _command(sys.argv if command is None else command),
        "notebook": f"{notebook.name}, SHA-256 {_digest(notebook.read_bytes())[:16]}" if notebook else None,
        "parameters": {name: _named(value) for name, value in given.items()},
        "evalkit": evalkit.__version__,
        "commit": git_commit(Path(evalkit.__file__).parent),
        "packages": {name: found for name in _PACKAGES if (found := _version(name))},
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }


def _store_name(store: str | None) -> str:
    """What `open_results(store)` opens, without a password or a folder of this machine."""
    from evalkit.store.database import default_path

    if chosen := store or os.environ.get("EVALKIT_STORE"):
        return public_name(chosen)
    return "the local store" if default_path().exists() else "the committed sample"


def data_facts(case: Any, runs: Iterable[PerformanceRun | ReviewedRun], store: str | None = None) -> dict[str, Any]:
    """Return what the numbers rest on: the case and its digests, engines, fuel schedules, and a digest over all runs.

    The digest is SHA-256 over the runs' canonical JSON in the order of their ids; it changes with any stored fact.
    """
    kept = sorted(runs, key=lambda run: run.run_id)
    graded = [run for run in kept if isinstance(run, PerformanceRun)]
    return {
        "case": f"{case.slug}@{case.version}",
        "case digest": case.digest()[:16],
        "case digest when graded": sorted({run.case_digest[:16] for run in kept}),
        "store": _store_name(store),
        "runs": len(kept),
        "runs digest": _digest(b"".join(canonical(run.to_json()) for run in kept))[:16],
        "engine": sorted({run.engine for run in graded}),
        "fuel schedule": sorted({run.fuel_schedule[:16] for run in graded}),
    }


def season_facts(season: Any, runs: Iterable[Any], store: str | None = None) -> dict[str, Any]:
    """Return what a season's numbers rest on: its digests, the game's, engines, when replayed, a digest over all runs.

    The digest is as `data_facts` makes it; verifying a run again changes it, since that is a stored fact.
    """
    kept = sorted((run for run in runs if isinstance(run, SeasonRun)), key=lambda run: run.run_id)
    checked = sorted(run.verified_at for run in kept if run.verified_at)
    return {
        "season": f"{season.slug}@{season.version}",
        "season digest": season.digest[:16],
        "season digest when played": sorted({run.season_digest[:16] for run in kept}),
        "game": season.playable().name,
        "game digest": season.playable().digest[:16],
        "store": _store_name(store),
        "runs": len(kept),
        "runs digest": _digest(b"".join(canonical(run.to_json()) for run in kept))[:16],
        "played on": sorted({run.engine for run in kept}),
        "replayed": f"{len(checked)} of {len(kept)}" + (f", last at {checked[-1][:16]} UTC" if checked else ""),
        "replayed on": sorted({run.verified_on for run in kept if run.verified_on}),
    }


def _named(value: Any) -> Any:
    if isinstance(value, list):
        return [_named(item) for item in value]
    return public_name(value) if isinstance(value, str) else value


def _command(words: Sequence[str]) -> str | None:
    if not words or not words[0]:
        return None
    first, *rest = (public_name(word) for word in words)
    return shlex.join([*(["python", "-m", "evalkit.cli"] if first == "__main__.py" else [first]), *rest])


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
