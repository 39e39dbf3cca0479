"""Why: a season run holds facts and no score, so whoever shows one looks its season up, and may not find it."""

from __future__ import annotations

from evalkit.errors import AuthoringError, EvalkitError
from evalkit.records import SeasonRun
from evalkit.season.manifest import named_season
from evalkit.season.score import run_score, score_parts
from evalkit.season.season import Entry, Season

_FACTS = ("objectives_done", "objectives_total", "completed", "time_s", "died")

__all__ = ["Seasons", "parts_of", "score_of"]


class Seasons:
    """The seasons under cases/, each read once for one answer."""

    def __init__(self, *known: Season) -> None:
        self._known: dict[tuple[str, str], Season | None] = {(s.slug, s.version): s for s in known}
        self._faults: dict[tuple[str, str], str] = {}

    def of(self, run: SeasonRun) -> Season | None:
        """The season of a run as it lies there today; None where it does not."""
        return self.named(run.season, run.season_version)

    def named(self, slug: str, version: str) -> Season | None:
        """The season of that slug and version; None where it does not lie there, or not soundly."""
        if (slug, version) not in self._known:
            self._known[slug, version] = self._found(slug, version)
        return self._known[slug, version]

    def fault(self, slug: str, version: str) -> str | None:
        """What is wrong, in a line, with a season that lies there and cannot be read; None where none does, or well."""
        self.named(slug, version)
        return self._faults.get((slug, version))

    def _found(self, slug: str, version: str) -> Season | None:
        try:
            return named_season(slug, version)
        except AuthoringError as error:
            self._faults[slug, version] = str(error)
            return None
        except EvalkitError:
            return None


def score_of(run: SeasonRun, seasons: Seasons) -> tuple[float | None, float | None]:
    """(score, anchor) by the season's rules; None where ungraded, or where the season or the entry is not known."""
    season, entry = _place_of(run, seasons)
    if season is None or entry is None:
        return None, None
    if run.ungraded is not None:
        return None, entry.anchor_s
    facts = {name: getattr(run, name) for name in _FACTS}
    return run_score(**facts, anchor_s=entry.anchor_s, rules=season.rules), entry.anchor_s


def parts_of(run: SeasonRun, seasons: Seasons) -> dict[str, float] | None:
    """The points of each part of a run's score, as `score_parts` names them; None where it has no score."""
    season, entry = _place_of(run, seasons)
    if season is None or entry is None or run.ungraded is not None:
        return None
    facts = {name: getattr(run, name) for name in _FACTS}
    return score_parts(**facts, anchor_s=entry.anchor_s, rules=season.rules)


def _place_of(run: SeasonRun, seasons: Seasons) -> tuple[Season | None, Entry | None]:
    season = seasons.of(run)
    entry = next((e for e in season.entries if e.key == (run.level, run.difficulty)), None) if season else None
    return season, entry
