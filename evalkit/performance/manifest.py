"""Why: `test-case.toml` is read here, once, into a `Case`; the format is a published catalog's, with keys of ours.

Paths in a manifest and in its variant files are relative to the case folder and stay inside it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from evalkit.building.commands import COMMAND, Build, Command
from evalkit.errors import AuthoringError, Fault
from evalkit.finding import find_case
from evalkit.performance.case import (
    MAX_OUTPUT_BYTES,
    WALL_LIMIT_S,
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
from evalkit.performance.rules import check_rules
from evalkit.project import cases_dir
from evalkit.reading import (
    BOOLEAN,
    LINE,
    SLUG,
    TEXT,
    Faults,
    Kind,
    Table,
    Unfit,
    choice,
    file_in,
    folder_in,
    integer,
    list_of,
    number,
    path_in,
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

REVIEWED_TABLES = ("simulation", "match", "replay", "canvas", "tool", "output", "check")
"""Tables of the catalog's reviewed types, which mean something to their own tools and nothing to this kit."""


def load_case(path: Path | str, *, deep: bool = False) -> Case:
    """Read the case at a folder, or at its `test-case.toml`. Raises AuthoringError with every fault.

    Manifest, variants, paths and rules are always checked, in milliseconds. `deep` also parses every input, answer,
    schema, checker and player and holds them together, which takes seconds for megabytes; `check_case` always does.
    """
    case, faults = _read(Path(path), deep)
    faults.raise_errors()
    if case is None:
        raise AuthoringError(f"{printable(path)} holds no case")
    return case


def open_case(ref: str | Path, cases: Path | None = None) -> Case:
    """Load a case by path or `slug[@version]`, looking in the project's `cases/`. Raises UsageError, AuthoringError."""
    return load_case(find_case(ref, cases or cases_dir()))


def check_case(path: Path | str) -> tuple[Fault, ...]:
    """Give every error and warning of a case, its files' contents included; empty where it is clean.

    Whatever the folder holds, the answer is faults and no exception.
    """
    return _read(Path(path), deep=True)[1].all()


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
    case = _Reader(root, table, faults).case()
    check_rules(case, table)
    table.finish()
    if deep:
        check_contents(case, table, faults)
    return replace(case, warnings=tuple(fault for fault in faults.all() if fault.severity == "warning")), faults


class _Reader:
    """Reads one manifest key by key; where one is wrong, the case holds a blank and the faults say why."""

    def __init__(self, root: Path, table: Table, faults: Faults) -> None:
        self.root, self.table, self.faults = root, table, faults
        self.files = {MANIFEST}
        self.inside = path_in(root)
        self.file = replace(file_in(root), read=self._file)

    def _file(self, value: Any) -> Path:
        path = file_in(self.root).read(value)
        self.files.add(path.relative_to(self.root).as_posix())
        return path

    def case(self) -> Case:
        take, tables = self.table.take, self.table.tables
        kind = take("type", LINE)
        performance = kind == "performance"
        if not performance:
            self.table.accept("build", "contract", "sandbox", "case", *REVIEWED_TABLES)
        return Case(
            root=self.root,
            version=self.root.name,
            slug=take("slug", SLUG),
            name=take("name", LINE),
            type=kind,
            difficulty=take("difficulty", LINE, None),
            tags=take("tags", list_of(LINE), ()),
            summary=take("summary", TEXT, None),
            description=take("description", self.file, None),
            changelog=take("changelog", self.file, None),
            prompt=take("prompt", self.file, None),
            max_runtime_hours=take("max_runtime_hours", number(above=0), None),
            workspace=self.workspace(),
            init=take("init", COMMAND, None),
            experimental=take("experimental", BOOLEAN, False),
            variants=self.variants(),
            build=self.build() if performance else None,
            contract=self.contract() if performance else None,
            sandbox=self.sandbox() if performance else None,
            inputs=tuple(map(self.input, tables("case"))) if performance else (),
            specs=tuple(map(self.spec, tables("spec"))),
            domains=() if performance else tuple(map(_domain, tables("domain"))),
            review_items=() if performance else tuple(map(_review_item, tables("review_item"))),
            files=tuple(sorted(self.files)),  # last: everything above has named its files by now
        )

    def workspace(self) -> Path | None:
        name = self.table.take("workspace", self.inside, None)
        if name is None:
            return None
        try:
            folder = folder_in(self.root).read(name)
        except Unfit as unfit:  # it is for whoever solves the case; nothing here needs it
            self.table.warning("workspace", str(unfit))
            return None
        for path in folder.rglob("*"):
            if path.is_file() and path.resolve().is_relative_to(self.root):
                self.files.add(path.relative_to(self.root).as_posix())
        return folder

    def variants(self) -> tuple[Variant, ...]:
        read = []
        names = self.table.take("variants", list_of(LINE, least=1), None)
        for place, name in enumerate(names or (), 1):
            try:
                path = self.file.read(name)
            except Unfit as unfit:  # one bad path must not hide what is wrong in the other files
                self.table.error(f"variants#{place}", str(unfit))
                continue
            if table := read_toml(path, path.relative_to(self.root).as_posix(), self.faults):
                read.append(self.variant(table, path))
        return tuple(read) or (Variant("base", "Base"),)

    def variant(self, table: Table, path: Path) -> Variant:
        table.accept("slug")
        slug = table.take("slug", SLUG) if "slug" in table else path.stem
        if table.holds_tables("spec"):
            spec = tuple(map(self.spec, table.tables("spec")))
        else:
            paths: Kind[tuple[Path, ...]] = Kind(self._one_or_more, (), '["specs/rules.md"]')
            sources = table.take("spec", paths, ())
            spec = tuple(Spec(source, self._dest(source)) for source in sources)
        variant = Variant(
            slug=slug,
            name=table.take("name", LINE, slug.replace("-", " ").capitalize()),
            spec=spec,
            description=table.take("description", TEXT, None),
        )
        table.finish()
        return variant

    def _one_or_more(self, value: Any) -> tuple[Path, ...]:
        return list_of(self.file).read(value) if isinstance(value, list) else (self.file.read(value),)

    def spec(self, table: Table) -> Spec:
        source = table.take("source", self.file)
        return Spec(source, table.take("dest", self.inside, self._dest(source)))

    def _dest(self, source: Path) -> str:
        """A spec lies for its reader where it lies in the case, without the suffix of a template."""
        return source.relative_to(self.root).as_posix().removesuffix(".hbs")

    def build(self) -> Build | None:
        table = self.table.table("build")
        if table is None:
            return None
        return Build(
            install=table.take("install", COMMAND, None),
            build=table.take("build", COMMAND),
            module=table.take("module", self.inside),
        )

    def contract(self) -> Contract | None:
        table = self.table.table("contract")
        if table is None:
            return None
        files = {key: table.take(key, self.file, None) for key in ("input", "output", "checker", "player")}
        return Contract(entry=table.take("entry", LINE), **files)

    def sandbox(self) -> Sandbox | None:
        table = self.table.table("sandbox")
        if table is None:
            return None
        return Sandbox(
            fuel_limit=table.take("fuel_limit", integer(1)),
            max_memory_bytes=table.take("max_memory_bytes", integer(1)),
            max_output_bytes=table.take("max_output_bytes", integer(1), MAX_OUTPUT_BYTES),
            wall_limit_s=table.take("wall_limit_s", number(above=0), WALL_LIMIT_S),
        )

    def input(self, table: Table) -> CaseInput:
        path = table.take("input", self.file)
        table.accept("name")
        return CaseInput(
            name=table.take("name", LINE) if "name" in table else "" if path == self.root else path.stem,
            kind=table.take("kind", choice("smoke", "stress"), "stress"),
            input=path,
            expected=table.take("expected", self.file),
            fuel_runway=table.take("fuel_runway", number(1.0), 1.0),
            behaviour=table.take("behaviour", LINE, None),
        )


def _domain(table: Table) -> Domain:
    slug = table.take("slug", SLUG)
    return Domain(
        slug=slug,
        name=table.take("name", LINE, slug.replace("-", " ").capitalize()),
        points=table.take("points", number(above=0), 10.0),
        description=table.take("description", TEXT, None),
    )


def _review_item(table: Table) -> ReviewItem:
    return ReviewItem(
        slug=table.take("slug", SLUG),
        domain=table.take("domain", SLUG),
        text=table.take("text", TEXT),
        points=table.take("points", number(above=0), 1.0),
    )
