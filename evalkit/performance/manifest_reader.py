"""Why: a manifest is read key by key to its end, whatever is wrong with it; `manifest` says what the format is.

Where a value is wrong the case holds a blank, and the faults say why. A type that is missing or misspelt is taken for
what the rest of the file shows it was meant to be, so that the faults of that rest are said in the same answer.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from evalkit.building.commands import COMMAND, Build
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
    did_you_mean,
    file_in,
    folder_in,
    integer,
    list_of,
    number,
    path_in,
    read_toml,
)

__all__ = ["read_case"]

METERED = ("build", "contract", "sandbox", "case")
"""Tables that a file of a performance case has."""

REVIEWED_TABLES = ("simulation", "match", "replay", "canvas", "tool", "output", "check")
"""Tables of the catalog's reviewed types, which mean something to their own tools and nothing to this kit."""

_NO_TYPE = (
    'is missing: add type = "performance", which needs [build], [contract], [sandbox] and [[case]], or another type, '
    'such as "writing", whose runs a person reviews by [[domain]] and [[review_item]]'
)


def _is_almost_performance(kind: str) -> bool:
    """Whether a type is "performance", cut short, lengthened, in capitals or with a slip; "conformance" is none."""
    folded = kind.strip().casefold()
    word = re.split(r"[^a-z]", folded)[0]
    cut = len(word) >= 4 and "performance".startswith(word)
    return cut or folded.startswith("performance") or bool(did_you_mean(folded, ["performance"], 0.85))


def read_case(root: Path, table: Table, faults: Faults, manifest: str) -> Case:
    """Read the case of a folder from the opened table of its manifest, which is called `manifest`."""
    return _Reader(root, table, faults, manifest).case()


class _Reader:
    """Reads one manifest key by key."""

    def __init__(self, root: Path, table: Table, faults: Faults, manifest: str) -> None:
        self.root, self.table, self.faults = root, table, faults
        self.files = {manifest}
        self.inside = path_in(root)
        self.file = replace(file_in(root), read=self._file)

    def _file(self, value: Any) -> Path:
        path = file_in(self.root).read(value)
        self.files.add(path.relative_to(self.root).as_posix())
        return path

    def kind(self) -> str:
        """The type, or the one that was meant where it is missing or misspelt."""
        kind: str = self.table.take("type", LINE, "")
        if "type" not in self.table:
            self.table.error("type", _NO_TYPE)
            judged = any(key in self.table for key in (*REVIEWED_TABLES, "domain", "review_item"))
            return "performance" if not judged and any(key in self.table for key in METERED) else ""
        if kind != "performance" and _is_almost_performance(kind):
            self.table.error("type", f'"{kind}" would make this a reviewed case; did you mean "performance"?')
            return "performance"
        return kind

    def case(self) -> Case:
        """The case, with blanks for what is wrong."""
        take, tables = self.table.take, self.table.tables
        kind = self.kind()
        performance = kind == "performance"
        if not performance:
            self.table.accept(*METERED, *REVIEWED_TABLES)
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
