"""Why: what a person types for a case is found in one way: a path, or a slug with or without its version."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from evalkit.errors import UsageError
from evalkit.project import cases_dir as project_cases
from evalkit.reading import did_you_mean, printable

__all__ = ["find_case", "find_to_check", "version_key"]


def find_case(ref: str | Path, cases_dir: Path | None = None, marker: str = "test-case.toml") -> Path:
    """Give the folder of a case from a path (its own, its manifest's, its versions') or `slug[@version]`.

    Slugs are looked for in `cases_dir`, by default the project's `cases/`. Without a version the highest is taken.
    `marker` is the file that makes a folder one. Raises UsageError otherwise.
    """
    text, path = printable(ref), Path(ref)
    cases_dir = project_cases() if cases_dir is None else cases_dir
    try:
        if path.name == marker and path.is_file():
            return path.parent
        found = _versions(path, marker) if path.is_dir() else {}
    except (OSError, ValueError) as error:
        raise UsageError(f'"{text}" cannot be read: {printable(error)}') from error
    if found:
        return found[max(found, key=version_key)]
    slug, _, version = str(ref).partition("@")
    if not re.fullmatch(r"[\w.-]+", slug) or slug in (".", ".."):
        what = f"holds no {marker}" if path.exists() else "is no path here, and no slug[@version]"
        raise UsageError(f'"{text}" {what}')
    found = _versions(cases_dir / slug, marker)
    other = "season.toml" if marker != "season.toml" else "test-case.toml"
    if not found and _versions(cases_dir / slug, other):
        kinds = ("a season", "a case") if other == "season.toml" else ("a case", "a season")
        raise UsageError(f"{printable(slug)} is {kinds[0]}, and {kinds[1]} is needed here")
    if not found:
        slugs = sorted(folder.name for folder in _folders(cases_dir) if _versions(folder, marker))
        known = did_you_mean(slug, slugs) or f": there is {', '.join(slugs) or 'none'}"
        raise UsageError(f'no "{text}" in {printable(cases_dir)}{known}')
    if version and version not in found:
        versions = sorted(found, key=version_key)
        near = did_you_mean(version, versions)
        raise UsageError(f'{slug} has no version "{printable(version)}": it has {", ".join(versions)}{near}')
    return found[version or max(found, key=version_key)]


def find_to_check(ref: str | Path, cases_dir: Path, marker: str = "test-case.toml") -> Path:
    """Give what `find_case` finds, or else the path itself, whose faults are then to be told.

    Raises UsageError as `find_case` does for a single word that is neither a path nor a slug.
    """
    try:
        return find_case(ref, cases_dir, marker)
    except UsageError:
        if len(Path(ref).parts) == 1 and not Path(ref).exists():
            raise
        return Path(ref)


def version_key(version: str) -> tuple[Any, ...]:
    """Order versions as people read them: v1.10.0 after v1.9.0, a pre-release before its release, other names first."""
    match = re.fullmatch(r"v?(\d+(?:\.\d+)*)(?:-([^+]*))?(?:\+.*)?", version)
    if match is None:
        return (0, _natural(version), version)
    release = tuple(int(part) for part in match[1].split("."))
    return (1, release, match[2] is None, _natural(match[2] or ""), version)


def _natural(text: str) -> tuple[tuple[int, int, str], ...]:
    parts = re.findall(r"\d+|\D+", text)
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts)


def _versions(folder: Path, marker: str) -> dict[str, Path]:
    """The folders that hold the marker, by version: this one itself, or else those in it."""
    if (folder / marker).is_file():
        return {folder.name: folder}
    return {child.name: child for child in _folders(folder) if (child / marker).is_file()}


def _folders(folder: Path) -> list[Path]:
    try:
        return [child for child in folder.iterdir() if child.is_dir()]
    except OSError:
        return []
