"""Why: a notebook is run here, whole, with checked parameters, and a failure in it becomes one line that says where."""

from __future__ import annotations

import logging
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeGuard

from evalkit import errors
from evalkit.errors import EvalkitError, MachineError, UsageError
from evalkit.notebooks.export import export_html
from evalkit.notebooks.kernels import own_kernel
from evalkit.notebooks.parameters import SCHEMAS, check_parameters, notebook_name
from evalkit.notebooks.provenance import machine_facts

__all__ = ["find_notebook", "report", "run_notebook"]

_REPORTS = {"case": "20_case_report", "season": "21_season_report", "review": "22_review_report"}
"""Kind of report -> its notebook. Each takes what it is of as its first parameter."""


def find_notebook(name_or_path: str | Path) -> Path:
    """Return a notebook's absolute path from a path, or from its name in `notebooks/`.

    A name goes with or without its number and suffix. Looks in the working directory's `notebooks/`, then in that of
    the checkout. Raises UsageError where it is nowhere.
    """
    path = Path(name_or_path)
    if path.suffix == ".ipynb" and path.is_file():
        return path.resolve()
    if path.parent != Path():
        raise UsageError(f"no notebook at {path}")
    name = notebook_name(path.name)
    for folder in (Path.cwd(), Path(__file__).parents[2]):
        found = folder / "notebooks" / f"{name}.ipynb"
        if found.is_file():
            return found.resolve()
    raise UsageError(f"notebook {name} is not here: run this in a checkout of evalkit, or give its path")


def run_notebook(
    name_or_path: str | Path, parameters: Mapping[str, Any] | None = None, output: Path | str = ""
) -> Path:
    """Run a notebook with papermill and return the absolute path of the executed copy, `output`.

    Parameters are checked against the notebook's schema before a kernel starts; a notebook that has none takes none.
    The default for `output` is `reports/<name>.ipynb`. What made the copy goes into its metadata, under `evalkit`.

    Raises UsageError for an unknown notebook, an unknown or mistyped parameter, or an output that would overwrite its
    source. A failing cell raises the kit's own error where the cell did (AuthoringError, StoreError, …), else
    MachineError; the one line names the executed notebook, the cell and the error.
    """
    source = find_notebook(name_or_path)
    values = _checked(source, dict(parameters or {}))
    target = Path(output or Path("reports") / source.name).absolute()
    if target.suffix != ".ipynb":
        raise UsageError(f"an executed notebook is an .ipynb file, not {target.name}")
    if target.resolve() == source:
        raise UsageError(f"{target.name} would overwrite the notebook it runs; give another output")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MachineError(f"cannot make the folder of {target}: {error.strerror}") from error
    facts = machine_facts(source, values)
    with own_kernel() as kernel:
        _execute(source, target, values, kernel)
    _stamp(target, facts)
    return target


def report(
    case: str | Path, store: str | None = None, output: Path | str | None = None, *,
    run_id: str | None = None, kind: str = "case",
) -> Path:  # fmt: skip
    """Build a report as one HTML file that needs no network, and return its absolute path.

    `case`: a path or `slug[@version]`, of a case, of a season (`kind` "season") or a reviewed case (`kind` "review").
    `store`: a store's URL, None for the local one or the sample; `output` defaults to `reports/<case>.html`. The
    executed notebook is kept beside it. Where the report cannot be made no file is left, and earlier ones stay as they
    were. Raises what `run_notebook` and `export_html` do; an error of the kit's own keeps its own line.
    """
    if kind not in _REPORTS:
        raise UsageError(f"no report of kind {kind!r} (known: {', '.join(_REPORTS)})")
    where = str(Path(case).absolute()) if Path(case).exists() else str(case)
    name = "-".join(part for part in Path(where).parts[-2:] if part != "cases") if Path(case).exists() else str(case)
    name = re.sub(r"[^\w.@-]+", "-", name).strip("-.") or kind
    page = Path(output or Path("reports") / f"{name}.html").absolute()
    if page.suffix not in (".html", ".htm"):
        raise UsageError(f"a report is an .html file, not {page.name}")
    values = {SCHEMAS[_REPORTS[kind]][0].name: where, "store": store} | ({"run_id": run_id} if run_id else {})
    with _beside(page) as scratch:
        executed = _ran(_REPORTS[kind], values, scratch / f"{page.stem}.ipynb")
        made = export_html(executed, page, title=f"{name}: {kind} report")
        executed.replace(page.with_suffix(".ipynb"))
    return made


@contextmanager
def _beside(page: Path) -> Iterator[Path]:
    """A folder for what is not finished, on the disk of the page, so that what is done moves there in one step."""
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(dir=page.parent, prefix=f".{page.stem}.", ignore_cleanup_errors=True)
    except OSError as error:
        raise MachineError(f"cannot write into the folder of {page}: {error.strerror}") from error
    with folder as scratch:
        yield Path(scratch)


def _ran(name: str, values: dict[str, Any], target: Path) -> Path:
    """`run_notebook` for a report: of an error of the kit's own its line alone, and of no file that is gone again."""
    try:
        return run_notebook(name, values, target)
    except EvalkitError as error:
        if isinstance(cell := error.__cause__, _papermill_error()):
            if _is_ours(kind := getattr(errors, str(cell.ename), None)):
                raise kind(_said(cell)) from error
            where = f"cell {cell.cell_index} of {name}.ipynb"  # without the one that papermill puts parameters in
            raise MachineError(f"no report was written: {where} failed: {cell.ename}: {_said(cell)}") from error
        raise type(error)(str(error).replace(f"{target}: ", f"{name}.ipynb: ")) from error


def _checked(source: Path, values: dict[str, Any]) -> dict[str, Any]:
    if source.stem in SCHEMAS:
        return check_parameters(source.stem, values)
    if values:
        raise UsageError(f"{source.name} has no parameter schema, so it takes no {', '.join(map(repr, values))}")
    return {}


def _execute(source: Path, target: Path, values: dict[str, Any], kernel: dict[str, Any]) -> None:
    from papermill.exceptions import PapermillExecutionError
    from papermill.execute import execute_notebook

    logging.getLogger("papermill").setLevel(logging.ERROR)
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # else each kernel prints a debugger warning
    try:
        execute_notebook(  # type: ignore[no-untyped-call]
            str(source), str(target), parameters=values, progress_bar=False, **kernel
        )
    except PapermillExecutionError as error:
        raise _failure(target, error) from error
    except EvalkitError:
        raise
    except Exception as error:  # a kernel that dies or cannot start raises one of many types
        what = " ".join(str(error).split())[:300]
        raise MachineError(f"{target}: the notebook could not be run: {type(error).__name__}: {what}") from error


def _papermill_error() -> type[Any]:
    from papermill.exceptions import PapermillExecutionError

    found: type[Any] = PapermillExecutionError
    return found


def _failure(target: Path, error: Any) -> EvalkitError:
    kind = getattr(errors, str(error.ename), None)
    line = f"{target}: cell {error.cell_index + 1} (In [{error.exec_count}]) failed: {error.ename}: {_said(error)}"
    return kind(line) if _is_ours(kind) else MachineError(line)


def _said(error: Any) -> str:
    said = " ".join(str(error.evalue).split())
    return said if len(said) <= 500 else said[:499] + "…"


def _is_ours(kind: Any) -> TypeGuard[type[EvalkitError]]:
    return isinstance(kind, type) and issubclass(kind, EvalkitError) and kind is not EvalkitError


def _stamp(target: Path, facts: dict[str, Any]) -> None:
    import nbformat

    notebook = nbformat.read(target, as_version=4)  # type: ignore[no-untyped-call]
    notebook.metadata["evalkit"] = facts
    nbformat.write(notebook, target)  # type: ignore[no-untyped-call]
