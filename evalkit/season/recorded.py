"""Why: a stored run is believed on the strength of its replay, so that all it says must be what its replay says.

A record whose replay is another run's, or another truth, is refused where it enters the store, and does not verify.
"""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

from evalkit.reading import printable
from evalkit.records import SeasonRun
from evalkit.season.replays import Claims, Header, Replay
from evalkit.season.verifying import Drift, Verification

__all__ = ["differences", "facts", "held"]

_FROM_SEASON = ("schema", "boot", "intro_ticks")
"""Of a header: no record has them, since its season gives them."""
_HEADER = tuple(f.name for f in fields(Header) if f.name not in _FROM_SEASON)
_CLAIMS = tuple(f.name for f in fields(Claims))


def facts(header: Header, claims: Claims) -> dict[str, Any]:
    """What a replay says of its run, by the names of `SeasonRun`."""
    said = {name: getattr(header, name) for name in _HEADER}
    return said | {name: getattr(claims, name) for name in _CLAIMS}


def differences(run: SeasonRun, replay: Replay) -> tuple[str, ...]:
    """Every fact of a record that is another in its replay's header or claims, a line each; empty where none is."""
    return tuple(
        f"{name} is {_brief(getattr(run, name))}, and its replay says {_brief(value)}"
        for name, value in facts(replay.header, replay.claims).items()
        if getattr(run, name) != value
    )


def held(answer: Verification, run: SeasonRun, replay: Replay) -> Verification:
    """What verifying a stored run's replay says of the run: `answer`, or a drift that names where the record differs.

    Where the replay verified, the record's decision budget must be the season's as well.
    """
    found = differences(run, replay)
    budget, granted = run.decision_budget, answer.decision_budget
    if not found and answer.verified and budget != granted:
        found = (f"decision_budget is {_brief(budget)}, and {answer.season} grants {_brief(granted)}",)
    if not found:
        return answer
    what = f"the record of run {run.run_id}: {'; '.join(found)}"
    return replace(answer, verified=False, drift=Drift(0, 0, what), score=None, refused=None, note=None)


def _brief(value: Any) -> str:
    return printable(json.dumps(list(value) if isinstance(value, tuple) else value), 70)
