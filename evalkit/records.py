"""Why: what a run leaves behind, as frozen types with one plain JSON form, so that every reader sees the same facts.

The wire form is made and read here and nowhere else. `PerformanceRun.to_json` is loss-free (it is what the store
keeps and what `export` writes); `PerformanceRun.public` is the shorter document that the command line shows.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, Literal, Self, TypeVar

from evalkit._consistency import performance_faults, reviewed_faults, season_faults

__all__ = [
    "SCHEMA",
    "InputResult",
    "Outcome",
    "PerformanceRun",
    "Review",
    "ReviewedRun",
    "SeasonRun",
    "Verdict",
    "canonical",
    "digest_id",
]

SCHEMA = 1
"""Version of the JSON form; a record of another version is refused, not guessed at."""

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
        _refuse(performance_faults(self.to_json()))

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read a record back. Raises ValueError where it is of another schema, fails `validate`, or its id differs."""
        return _read(cls, "performance", data)

    def void(self, why: str) -> Self:
        """The same run, counting nowhere from now on."""
        return replace(self, voided=why)


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
        _refuse(reviewed_faults(self.to_json()))

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read a record back. Raises ValueError where it is of another schema, fails `validate`, or its id differs."""
        return _read(cls, "reviewed", data)


R = TypeVar("R", bound="PerformanceRun | ReviewedRun | SeasonRun")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeasonRun:
    """An agent's play of one entry with one seed: the facts, from which scores are computed whenever they are shown.

    `time_s` is T, in seconds of game time, None where the mission was not completed; `ticks` are those since play
    began. `tokens` and `dollars` are None where unknown, 0 where nothing was spent. `verified` is None until the
    replay was verified here, on the engine `verified_on`. `ungraded` says why the machine, the operator or the agent's
    program failed, None for a run that counts. `reference` is `anchor`, `floor` or None; only an anchor has `cheats`.
    `replay_digest` is the SHA-256 of the replay's bytes, which an ungraded run does not have.
    """

    season: str
    season_version: str
    season_digest: str
    level: str
    difficulty: str
    seed: int
    agent: str
    agent_digest: str
    attempt: int = 1
    reference: str | None = None
    cheats: tuple[str, ...] = ()
    objectives_done: int
    objectives_total: int
    completed: bool
    died: bool
    time_s: float | None
    decisions: int
    decision_budget: int | None
    ticks: int
    tokens: int | None
    dollars: float | None
    dollar_cap: float | None = None
    ended_by: str
    ungraded: str | None = None
    game_digest: str
    engine: str
    fuel: int | None = None
    replay_digest: str | None = None
    verified: bool | None = None
    verified_at: str | None = None
    verified_on: str | None = None
    drift: dict[str, Any] | None = None
    provenance: dict[str, Any] = field(default_factory=dict)
    recorded_at: str | None = None
    voided: str | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """The job key: what makes this the same job when it is played again."""
        names = (self.season_digest, self.level, self.difficulty, str(self.seed), self.agent, self.agent_digest)
        return (*names, str(self.attempt))

    @property
    def run_id(self) -> str:
        """First 16 hex digits of SHA-256 over the canonical JSON of the job key."""
        return digest_id(self.key)

    @property
    def is_private(self) -> bool:
        """Whether its replay is the operator's own route, which never leaves the store."""
        return self.reference == "anchor"

    def content(self) -> dict[str, Any]:
        """What the run found, without when, on which engine, and what was said about it later."""
        data = self.to_json()
        for key in ("recorded_at", "voided", "provenance", "engine", "fuel", *VERIFIED):
            del data[key]
        return data

    def to_json(self) -> dict[str, Any]:
        """All of it, as plain JSON values."""
        data = {"schema": SCHEMA, "kind": "season", "run_id": self.run_id, **asdict(self)}
        return {**data, "cheats": list(self.cheats)}

    def public(self, *, score: float | None = None, anchor_s: float | None = None) -> dict[str, Any]:
        """The document that the command line prints; score and anchor come from the season, which a record has not."""
        data = {**self.to_json(), "score": score, "anchor_s": anchor_s}
        return {name: data[name] for name in _PUBLIC_SEASON}

    def validate(self) -> None:
        """Raise ValueError that lists everything in this run that is malformed or contradicts something else in it."""
        _refuse(season_faults(self.to_json()))

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read a record back. Raises ValueError where it is of another schema, fails `validate`, or its id differs."""
        return _read(cls, "season", data)

    def unverified(self) -> Self:
        """The same run, as one whose replay was never verified."""
        return replace(self, verified=None, verified_at=None, verified_on=None, drift=None)


VERIFIED = ("verified", "verified_at", "verified_on", "drift")
"""What is known of a season run only after its replay was replayed here."""

_PUBLIC_SEASON = (
    "run_id", "season", "season_digest", "level", "difficulty", "seed", "agent", "reference", "score",
    "objectives_done", "objectives_total", "completed", "died", "time_s", "anchor_s", "decisions", "decision_budget",
    "ticks", "tokens", "dollars", "dollar_cap", "ended_by", "verified", "drift", "game_digest", "engine", "voided",
)  # fmt: skip


def _read(cls: type[R], kind: str, data: dict[str, Any]) -> R:
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or data.get("kind") != kind:
        raise ValueError(f"not a {kind} record of schema {SCHEMA}")
    _refuse(_FAULTS[kind](data))
    values = {f.name: data[f.name] for f in fields(cls)}
    if kind == "performance":
        values |= {
            "outcome": Outcome(values["outcome"]),
            "warnings": tuple(values["warnings"]),
            "inputs": tuple(InputResult.from_json(row) for row in values["inputs"]),
        }
    elif kind == "season":
        values["cheats"] = tuple(values["cheats"])
    elif values["review"] is not None:
        values["review"] = Review(**values["review"])
    run = cls(**values)
    if run.run_id != data.get("run_id"):
        raise ValueError(f"the record says run {data.get('run_id')!r}, its job key says {run.run_id}")
    return run


_FAULTS = {"performance": performance_faults, "reviewed": reviewed_faults, "season": season_faults}


def _refuse(faults: list[str]) -> None:
    if faults:
        raise ValueError("the record does not hold together: " + "; ".join(faults))


def canonical(value: Any) -> bytes:
    """One byte form for one JSON value: sorted keys, no spaces, UTF-8. Raises ValueError on NaN and infinities.

    A lone surrogate, which UTF-8 has no form for, stays as its JSON escape, so hostile text is kept and never crashes.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace")


def digest_id(key: tuple[str, ...]) -> str:
    """First 16 hex digits of the SHA-256 of a job key's canonical JSON."""
    return hashlib.sha256(canonical(list(key))).hexdigest()[:16]
