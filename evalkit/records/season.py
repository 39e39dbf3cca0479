"""Why: a season run as it is kept: the facts of an agent's play, from which its score is computed whenever shown."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from evalkit._consistency import season_faults
from evalkit.records.plain import SCHEMA, digest_id, read, refuse

__all__ = ["CAPPED", "VERIFIED", "SeasonRun"]

CAPPED = "it ends by a dollar cap: where it ended is only claimed"
"""Of every run that ends so, verified too: spending cannot be replayed."""

VERIFIED = ("verified", "verified_at", "verified_on", "drift")
"""What is known of a season run only after its replay was replayed here."""

_PUBLIC_SEASON = (
    "run_id", "season", "season_digest", "level", "difficulty", "seed", "agent", "reference", "score",
    "objectives_done", "objectives_total", "completed", "died", "time_s", "anchor_s", "decisions", "decision_budget",
    "ticks", "tokens", "dollars", "dollar_cap", "ended_by", "verified", "drift", "game_digest", "engine", "voided",
)  # fmt: skip


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
        refuse(season_faults(self.to_json()))

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read a record back. Raises ValueError where it is of another schema, fails `validate`, or its id differs."""
        return read(cls, "season", data, season_faults, lambda values: {"cheats": tuple(values["cheats"])})

    def unverified(self) -> Self:
        """The same run, as one whose replay was never verified."""
        return replace(self, verified=None, verified_at=None, verified_on=None, drift=None)
