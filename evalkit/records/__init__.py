"""Why: what a run leaves behind, as frozen types with one plain JSON form, so that every reader sees the same facts.

The wire form is made and read here and nowhere else. A run's `to_json` is loss-free (it is what the store keeps and
what `export` writes); its `public` is the shorter document that the command line shows.
"""

from evalkit.records.cases import InputResult, Outcome, PerformanceRun, Review, ReviewedRun, Verdict
from evalkit.records.plain import SCHEMA, canonical, digest_id
from evalkit.records.season import CAPPED, VERIFIED, SeasonRun
from evalkit.records.turns import check_model, read_turns

__all__ = [
    "CAPPED",
    "SCHEMA",
    "VERIFIED",
    "InputResult",
    "Outcome",
    "PerformanceRun",
    "Review",
    "ReviewedRun",
    "SeasonRun",
    "Verdict",
    "canonical",
    "check_model",
    "digest_id",
    "read_turns",
]
