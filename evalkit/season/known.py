"""Why: a season run holds facts and no score, so whoever shows one looks its season up, and may not find it."""

from __future__ import annotations

from evalkit.errors import AuthoringError, EvalkitError
from evalkit.records import SeasonRun
from evalkit.season.manifest import named_season
from evalkit.season.score import run_score
from evalkit.season.season import Season

__all__ = ["Seasons", "score_of"]


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
    season = seasons.of(run)
    entry = next((e for e in season.entries if e.key == (run.level, run.difficulty)), None) if season else None
    if season is None or entry is None:
        return None, None
    if run.ungraded is not None:
        return None, entry.anchor_s
    score = run_score(
        objectives_done=run.objectives_done, objectives_total=run.objectives_total, completed=run.completed,
        time_s=run.time_s, anchor_s=entry.anchor_s, died=run.died, rules=season.rules,
    )  # fmt: skip
    return score, entry.anchor_s
