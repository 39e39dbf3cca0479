"""Why: a command at the top, a notebook in `notebooks/` and a test all mean one project, wherever they started."""

from __future__ import annotations

from pathlib import Path

__all__ = ["cases_dir", "data_dir", "project_root"]


def project_root(start: Path | None = None) -> Path:
    """The nearest folder, going up from `start` (default: where the process is), that holds `cases/`; else `start`."""
    start = (start or Path.cwd()).absolute()
    return next((folder for folder in (start, *start.parents) if (folder / "cases").is_dir()), start)


def cases_dir(start: Path | None = None) -> Path:
    """Where cases and seasons lie, a folder each."""
    return project_root(start) / "cases"


def data_dir(start: Path | None = None) -> Path:
    """Where `models.toml`, the committed sample and the local store lie."""
    return project_root(start) / "data"
