"""Why: two spellings of a model's name are one model, wherever runs are ranked, compared or looked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evalkit.project import data_dir
from evalkit.reading import LINE, Faults, read_toml

__all__ = ["fold_model", "load_aliases", "project_aliases"]


def fold_model(name: str, aliases: Mapping[str, str] | None = None) -> str:
    """Give the name that a model's results gather under: trimmed, case-folded, and an alias resolved, once.

    `aliases` maps alias to canonical name; its own names may be written in any case.

    >>> fold_model("  Aster-2 ", {"aster-2": "Aster 2"})
    'aster 2'
    """
    folded = name.strip().casefold()
    for alias, canonical in (aliases or {}).items():
        if alias.strip().casefold() == folded:
            return canonical.strip().casefold()
    return folded


def load_aliases(path: Path) -> dict[str, str]:
    """Read `[aliases]` of a models.toml, `"alias" = "canonical"`, as folded names.

    Raises AuthoringError with every fault: an alias said twice, an alias of itself, an alias of an alias.
    """
    faults = Faults()
    aliases: dict[str, str] = {}
    if root := read_toml(path, path.name, faults):
        table = root.table("aliases")
        for key in table.keys() if table else ():
            alias, canonical = fold_model(key), fold_model(table.take(key, LINE))  # type: ignore[union-attr]
            if alias in aliases:
                root.error("aliases", f'"{alias}" is said twice, once trimmed and case-folded: keep one')
            elif alias == canonical:
                root.error("aliases", f'"{alias}" is its own alias, once trimmed and case-folded: remove it')
            elif canonical:
                aliases[alias] = canonical
        for alias, canonical in aliases.items():
            if canonical in aliases:
                end = aliases[canonical]
                root.error("aliases", f'"{alias}" leads to "{canonical}", itself an alias: point it at "{end}"')
        root.finish()
    faults.raise_errors()
    return aliases


def project_aliases() -> dict[str, str]:
    """Read the project's own `data/models.toml`: alias to canonical name, both folded; empty where there is no file.

    Raises AuthoringError as `load_aliases` does.
    """
    path = data_dir() / "models.toml"
    return load_aliases(path) if path.exists() else {}
