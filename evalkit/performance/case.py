"""Why: a case as the rest of the kit sees it: typed, complete, its paths known to exist; `manifest` makes it."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalkit.building.commands import Build, Command
from evalkit.errors import AuthoringError, Fault, UsageError
from evalkit.reading import did_you_mean, printable

__all__ = [
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
]

MAX_OUTPUT_BYTES = 64 << 20
"""Far more than a case should compare, and little beside the memory that a solution may have."""

WALL_LIMIT_S = 600.0
"""Time to burn some 10^11 units of fuel, so that fuel ends a run before the clock does; wider runways want more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseInput:
    """One `[[case]]` row. `behaviour` says what a smoke input isolates; `fuel_runway` is a multiplier >= 1."""

    name: str
    kind: Literal["smoke", "stress"]
    input: Path
    expected: Path
    fuel_runway: float = 1.0
    behaviour: str | None = None


@dataclass(frozen=True, slots=True)
class Spec:
    """A file that whoever solves the case is given, and the relative path at which it lies for them."""

    source: Path
    dest: str


@dataclass(frozen=True, slots=True)
class Variant:
    """One form of the case; `spec` is what it adds to the specs that every variant has."""

    slug: str
    name: str
    spec: tuple[Spec, ...] = ()
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Contract:
    """What a module must answer. `input`, `output`: JSON Schemas. `checker`, `player`: the operator's Python."""

    entry: str
    input: Path | None = None
    output: Path | None = None
    checker: Path | None = None
    player: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """The limits of every single input; the two with defaults are guards and no part of a score."""

    fuel_limit: int
    max_memory_bytes: int
    max_output_bytes: int = MAX_OUTPUT_BYTES
    wall_limit_s: float = WALL_LIMIT_S


@dataclass(frozen=True, slots=True)
class Domain:
    """What a reviewer rates, from 0 to `points`."""

    slug: str
    name: str
    points: float
    description: str | None = None


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One line of a reviewer's checklist: met, it earns its `points`; not met, none."""

    slug: str
    domain: str
    text: str
    points: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A case folder that was read and found sound. `version` is the folder's name.

    `build`, `contract` and `sandbox` are None and `inputs` is empty for a reviewed case; `domains` and `review_items`
    are empty for a performance case. `files` are the paths, relative to `root`, that the digest covers.
    """

    root: Path
    slug: str
    version: str
    name: str
    type: str
    difficulty: str | None = None
    tags: tuple[str, ...] = ()
    summary: str | None = None
    description: Path | None = None
    changelog: Path | None = None
    prompt: Path | None = None
    max_runtime_hours: float | None = None
    workspace: Path | None = None
    init: Command | None = None
    experimental: bool = False
    variants: tuple[Variant, ...]
    build: Build | None = None
    contract: Contract | None = None
    sandbox: Sandbox | None = None
    inputs: tuple[CaseInput, ...] = ()
    specs: tuple[Spec, ...] = ()
    domains: tuple[Domain, ...] = ()
    review_items: tuple[ReviewItem, ...] = ()
    files: tuple[str, ...]
    warnings: tuple[Fault, ...] = ()

    @property
    def is_performance(self) -> bool:
        """Whether fuel is the score; otherwise a person's review is."""
        return self.type == "performance"

    @property
    def smoke(self) -> tuple[CaseInput, ...]:
        """The gate: inputs graded on correctness alone, in the manifest's order."""
        return tuple(row for row in self.inputs if row.kind == "smoke")

    @property
    def stress(self) -> tuple[CaseInput, ...]:
        """The inputs whose fuel is the score, in the manifest's order."""
        return tuple(row for row in self.inputs if row.kind == "stress")

    def variant(self, slug: str | None = None) -> Variant:
        """Give the variant of that slug, or the default with None. Raises UsageError, with the list, if unknown."""
        slugs = [variant.slug for variant in self.variants]
        if slug is not None and slug not in slugs:
            near = did_you_mean(slug, slugs)
            raise UsageError(f'case {self.slug} has no variant "{printable(slug)}": it has {", ".join(slugs)}{near}')
        return self.variants[0 if slug is None else slugs.index(slug)]

    def runway_limit(self, row: CaseInput) -> int:
        """Give the fuel at which the engine is stopped on this input. Raises UsageError for a reviewed case."""
        if self.sandbox is None:
            raise UsageError(f"case {self.slug} is a reviewed case: it has no fuel ceiling and no runway")
        # The product is a float; beyond 2^53 its rounding must not put the end of the runway before the ceiling.
        return max(self.sandbox.fuel_limit, round(self.sandbox.fuel_limit * row.fuel_runway))

    def digest(self) -> str:
        """Give the hex SHA-256 over the manifest and every file it names, each with its relative name.

        It is the digest of the lines `<hex digest>  <name>` in the order of the names, so that `sha256sum` can make
        it too. Raises AuthoringError if a file went away since the case was read.
        """
        whole = hashlib.sha256()
        for name in sorted(self.files, key=os.fsencode):
            try:
                with (self.root / name).open("rb") as file:
                    part = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError as error:
                raise AuthoringError([Fault(name, "", f"cannot be read any more: {error.strerror}")]) from error
            whole.update(f"{part}  ".encode() + os.fsencode(name) + b"\n")
        return whole.hexdigest()
