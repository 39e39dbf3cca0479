"""Why: `test-case.toml` is read here, once, into a `Case`; the format is a published catalog's, with keys of ours.

A case is a folder `cases/SLUG/VERSION/` with this file. The least of a performance case, whose score is fuel::

    slug = "adder"                       # root, optional: difficulty, tags, summary, description, changelog, prompt,
    name = "Adder"                       # max_runtime_hours, workspace, init, experimental
    type = "performance"

    [build]                              # run in a copy of the solution's folder; install is optional, and runs first
    build = "make"                       # a string for sh -c, or a list of words
    module = "adder.wasm"                # what it leaves: exports memory, alloc(i32) -> i32 and the entry

    [contract]                           # optional: input, output (JSON Schemas), checker, player (Python files)
    entry = "add"                        # (pointer, length) -> pointer << 32 | length

    [sandbox]                            # optional: max_output_bytes, wall_limit_s
    fuel_limit = 1000000                 # the ceiling of each input
    max_memory_bytes = 1048576

    [[case]]                             # optional: name, behaviour (what a smoke input isolates)
    input = "small.json"
    expected = "small.out"               # equal byte for byte, unless [contract].checker says what is right
    kind = "stress"                      # the default; "smoke" inputs come first, for correctness alone
    fuel_runway = 2.0                    # the engine stops at fuel_limit x this, from 1, the default

Both kinds may have `variants = ["variants/base.toml"]`, each with `slug`, `name` and `spec`, the first the default; and
`[[spec]]` with `source` and `dest`, what whoever solves the case is given. Any other type is a reviewed case, rated by
a person, by `[[domain]]` (`slug`, `name`, `points`, `description`) and `[[review_item]]` (`slug`, `domain`, `text`,
`points`), and has no `[build]`, `[contract]`, `[sandbox]` or `[[case]]`.

A solution is a folder with a `solution.toml`, which says who wrote it, and what `[build]` needs::

    model = "some-model-1"               # optional: provider, date, prompt_digest, toolchain, notes
    date = 2026-01-31

Those of the case's own are in its `solutions/OUTCOME/NAME/`, by the outcome they must get. Paths in a manifest and in
its variant files are relative to the case folder and stay inside it. Every fault is reported at once; `check_case` also
parses inputs, answers, schemas and checker.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from evalkit.building.commands import Build, Command
from evalkit.errors import AuthoringError, Fault
from evalkit.finding import find_case, find_to_check
from evalkit.performance.case import (
    Case,
    CaseInput,
    Contract,
    Domain,
    ReviewItem,
    Sandbox,
    Spec,
    Variant,
)
from evalkit.performance.contents import check_contents
from evalkit.performance.manifest_reader import read_case
from evalkit.performance.rules import check_rules
from evalkit.project import cases_dir
from evalkit.reading import (
    Faults,
    printable,
    read_toml,
)

__all__ = [
    "MANIFEST",
    "Build",
    "Case",
    "CaseInput",
    "Command",
    "Contract",
    "Domain",
    "ReviewItem",
    "Sandbox",
    "Spec",
    "Variant",
    "check_case",
    "find_case",
    "load_case",
    "open_case",
    "runway_for",
]

MANIFEST = "test-case.toml"


def load_case(path: Path | str, *, deep: bool = False) -> Case:
    """Read the case at a folder, or at its `test-case.toml`. Raises AuthoringError with every fault.

    Manifest, variants, paths and rules are always checked, in milliseconds. `deep` also parses every input, answer,
    schema, checker and player and holds them together, which takes seconds for megabytes; `check_case` always does.
    """
    case, faults = _read(Path(path), deep)
    if case is None and not _manifest(Path(path)).exists():
        what = f"is missing in {printable(path)}: add the file, or name the case by its slug to `evalkit.open_case`"
        raise AuthoringError([Fault(MANIFEST, "", what)])
    faults.raise_errors()
    if case is None:
        raise AuthoringError(f"{printable(path)} holds no case")
    return case


def open_case(ref: str | Path, cases: Path | None = None) -> Case:
    """Load a case by path or `slug[@version]`, looking in the project's `cases/`. Raises UsageError, AuthoringError."""
    return load_case(find_case(ref, cases or cases_dir()))


def check_case(ref: Path | str) -> tuple[Fault, ...]:
    """Give every error and warning of a case, its files' contents included; empty where it is clean.

    `ref` is a path or `slug[@version]`, as for `open_case`. Whatever the folder holds, the answer is faults and no
    exception; UsageError is for a word that names neither a path nor a case.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "test-case.toml").write_text('slug = "mine"\\ntype = "writing"\\nnam = "Mine"\\n')
    ...     for fault in check_case(folder):
    ...         print(fault)
    test-case.toml: name: is missing: add name = "…"
    test-case.toml: domain: no domain and no review item: a review of this case could have no score
    test-case.toml: nam: is not a known key; did you mean "name"?
    """
    return _read(find_to_check(ref, cases_dir()), deep=True)[1].all()


def runway_for(size: float, smallest: float, largest: float) -> float:
    """Propose a runway: 10 for the smallest input, falling log-linearly to 2 for the largest.

    `size` is any positive measure that the author chooses. Raises ValueError unless 0 < smallest <= size <= largest.

    >>> [round(runway_for(size, 1_000, 100_000), 1) for size in (1_000, 10_000, 100_000)]
    [10.0, 6.0, 2.0]
    """
    if not (0 < smallest <= size <= largest < math.inf):
        raise ValueError(f"need 0 < smallest <= size <= largest, all finite, got {smallest}, {size}, {largest}")
    if smallest == largest:
        return 10.0
    return 10.0 - 8.0 * math.log(size / smallest) / math.log(largest / smallest)


def _manifest(path: Path) -> Path:
    return path if path.name == MANIFEST else path / MANIFEST


def _read(path: Path, deep: bool) -> tuple[Case | None, Faults]:
    faults = Faults()
    try:
        # The version is the folder's own name, whatever way led to it.
        root = (path.parent if path.name == MANIFEST else path).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        faults.add(str(path), "", f"cannot be followed: {error}")
        return None, faults
    table = read_toml(root / MANIFEST, MANIFEST, faults)
    if table is None:
        return None, faults
    case = read_case(root, table, faults, MANIFEST)
    check_rules(case, table)
    table.finish()
    if deep:
        check_contents(case, table, faults)
    return replace(case, warnings=tuple(fault for fault in faults.all() if fault.severity == "warning")), faults
