"""Why: what a run of a case leaves behind: a graded solution with its inputs, or prose with a person's review."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal, Self

from evalkit._consistency import performance_faults, reviewed_faults
from evalkit.records.plain import SCHEMA, digest_id, read, refuse

__all__ = ["InputResult", "Outcome", "PerformanceRun", "Review", "ReviewedRun", "Verdict"]

Kind = Literal["smoke", "stress"]


class Outcome(StrEnum):
    """How an input or a run ended. `skipped` is an input's only, `ungraded` a run's only."""

    PASS = "pass"
    OVER_CEILING = "over_ceiling"
    INCORRECT = "incorrect"
    SKIPPED = "skipped"
    UNGRADED = "ungraded"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A checker's answer for one output: is it right, and if not, from which tick on and why."""

    ok: bool
    first_mismatch_tick: int | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InputResult:
    """One input of a run. `fuel` is None where there is no reading (skipped, trapped, exhausted)."""

    name: str
    kind: Kind
    behaviour: str | None
    outcome: Outcome
    reason: str | None = None
    fuel: int | None = None
    runway_limit: int
    overshoot_percent: float | None = None
    first_mismatch_tick: int | None = None
    detail: str | None = None

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read one from its plain form. Raises KeyError, TypeError or ValueError on a missing or unknown field."""
        return cls(**{**data, "outcome": Outcome(data["outcome"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class PerformanceRun:
    """A graded solution. Fuel counts are wasmtime fuel; digests are lower-case hex SHA-256.

    The identity is (case, version, variant, fuel_schedule, model, solution_digest, attempt); `run_id` derives from it.
    `correct` is None where the run is ungraded. `total_fuel` is the sum over stress inputs, and exists only where
    every input passed. `recorded_at` (ISO 8601, UTC) and `warnings` are not part of a run's content: see `content`.
    """

    case: str
    version: str
    variant: str
    model: str
    attempt: int = 1
    outcome: Outcome
    reason: str | None
    detail: str | None = None
    correct: bool | None
    total_fuel: int | None
    fuel_limit: int
    fuel_schedule: str
    engine: str
    module_digest: str | None
    solution_digest: str
    case_digest: str
    provenance: dict[str, Any] = field(default_factory=dict)
    build_log: str | None = None
    recorded_at: str | None = None
    warnings: tuple[str, ...] = ()
    voided: str | None = None
    inputs: tuple[InputResult, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """The job key: what makes this the same job when it is run again."""
        parts = (self.case, self.version, self.variant, self.fuel_schedule, self.model, self.solution_digest)
        return (*parts, str(self.attempt))

    @property
    def run_id(self) -> str:
        """First 16 hex digits of SHA-256 over the canonical JSON of the job key."""
        return digest_id(self.key)

    @property
    def cohort(self) -> tuple[str, str, str, str]:
        """What must agree before two runs may be compared."""
        return (self.case, self.version, self.variant, self.fuel_schedule)

    def content(self) -> dict[str, Any]:
        """What the run found, without when, by which build text, and what was said about it later."""
        data = self.to_json()
        for key in ("recorded_at", "warnings", "voided", "build_log", "provenance", "detail", "engine"):
            del data[key]
        for row in data["inputs"]:
            del row["detail"]
        return data

    def to_json(self) -> dict[str, Any]:
        """All of it, as plain JSON values."""
        data = {"schema": SCHEMA, "kind": "performance", "run_id": self.run_id, **asdict(self)}
        data["warnings"] = list(self.warnings)
        data["inputs"] = [asdict(row) for row in self.inputs]
        return data

    def public(self) -> dict[str, Any]:
        """The document that the command line prints for a run."""
        data = self.to_json()
        return {name: data[name] for name in _PUBLIC}

    def validate(self) -> None:
        """Raise ValueError that lists everything in this run that is malformed or contradicts something else in it."""
        refuse(performance_faults(self.to_json()))

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read a record back. Raises ValueError where it is of another schema, fails `validate`, or its id differs."""
        return read(cls, "performance", data, performance_faults, _typed)

    def void(self, why: str) -> Self:
        """The same run, counting nowhere from now on."""
        return replace(self, voided=why)


def _typed(values: dict[str, Any]) -> dict[str, Any]:
    return {
        "outcome": Outcome(values["outcome"]),
        "warnings": tuple(values["warnings"]),
        "inputs": tuple(InputResult.from_json(row) for row in values["inputs"]),
    }


_PUBLIC = (
    "run_id", "case", "version", "variant", "model", "outcome", "reason", "correct", "total_fuel", "fuel_limit",
    "fuel_schedule", "engine", "module_digest", "solution_digest", "voided", "inputs",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A person's verdict on a run of a reviewed case: a rating per domain, marks on the checklist, and words.

    `ratings` maps a domain's slug to points; `items` maps a review item's slug to whether it was met.
    `score` is computed from them by the case's own weights when the review is recorded.
    """

    reviewer: str
    ratings: dict[str, float]
    items: dict[str, bool]
    score: float
    writeup: str = ""
    recorded_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedRun:
    """A run of a reviewed case: it waits in the worklist until a review is recorded with it."""

    case: str
    version: str
    variant: str
    model: str
    attempt: int = 1
    solution_digest: str
    case_digest: str
    provenance: dict[str, Any] = field(default_factory=dict)
    recorded_at: str | None = None
    voided: str | None = None
    review: Review | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """The job key; a reviewed run burns no fuel, so its schedule is empty."""
        return (self.case, self.version, self.variant, "", self.model, self.solution_digest, str(self.attempt))

    @property
    def run_id(self) -> str:
        """First 16 hex digits of SHA-256 over the canonical JSON of the job key."""
        return digest_id(self.key)

    def content(self) -> dict[str, Any]:
        """What the run is, without when it came and what was said about it later."""
        data = self.to_json()
        for key in ("recorded_at", "voided", "provenance", "review"):
            del data[key]
        return data

    def to_json(self) -> dict[str, Any]:
        """All of it, as plain JSON values."""
        return {"schema": SCHEMA, "kind": "reviewed", "run_id": self.run_id, **asdict(self)}

    def public(self) -> dict[str, Any]:
        """The document that the command line prints for a run."""
        return self.to_json()

    def validate(self) -> None:
        """Raise ValueError that lists everything in this run that is malformed or contradicts something else in it."""
        refuse(reviewed_faults(self.to_json()))

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read a record back. Raises ValueError where it is of another schema, fails `validate`, or its id differs."""
        return read(
            cls,
            "reviewed",
            data,
            reviewed_faults,
            lambda values: {"review": values["review"] and Review(**values["review"])},
        )
