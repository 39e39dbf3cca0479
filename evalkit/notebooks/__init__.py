"""Why: sweeps and reports are notebooks that a person can open, run by papermill and saved as one HTML file.

`run_notebook` executes, `export_html` saves the page, `report` does both. Nothing heavy is imported before.
"""

from __future__ import annotations

from evalkit import _startup  # noqa: F401  # before papermill and nbformat: saves 3 s
from evalkit.notebooks.export import export_html
from evalkit.notebooks.parameters import SCHEMAS, Parameter, check_parameters
from evalkit.notebooks.provenance import data_facts, machine_facts, season_facts
from evalkit.notebooks.run import find_notebook, report, run_notebook

__all__ = [
    "SCHEMAS",
    "Parameter",
    "check_parameters",
    "data_facts",
    "export_html",
    "find_notebook",
    "machine_facts",
    "report",
    "run_notebook",
    "season_facts",
]
