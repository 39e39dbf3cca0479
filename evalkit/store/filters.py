"""Why: which runs a person means, said once for records and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, cast

import sqlalchemy as sa

from evalkit._consistency import is_text
from evalkit.errors import UsageError
from evalkit.performance.models import fold_model, project_aliases
from evalkit.store import tables
from evalkit.store.files import KINDS

__all__ = ["Filters", "filtered", "spellings"]


class Filters(TypedDict, total=False):
    """Which runs: each given value is compared exactly, but `model`, which is folded as a leaderboard folds names."""

    kind: str | None
    case: str | None
    version: str | None
    variant: str | None
    model: str | None
    case_digest: str | None
    season: str | None
    season_version: str | None
    season_digest: str | None
    level: str | None
    difficulty: str | None
    agent: str | None


def spellings(connection: sa.Connection, model: str) -> list[str]:
    """Every stored name that is this model's, folded and by the project's aliases. Raises AuthoringError of these."""
    aliases = project_aliases()
    wanted = fold_model(model, aliases)
    names = connection.scalars(sa.select(tables.case_runs.c.model).distinct()).all()
    return [name for name in names if fold_model(name, aliases) == wanted]


def filtered(
    query: sa.Select[Any], include_voided: bool, filters: Filters, models: Sequence[str] = ()
) -> sa.Select[Any]:
    """The query with a condition for each filter; `models` are the `spellings` of the model that is filtered by.

    Raises UsageError for an unknown filter, and for an unknown kind.
    """
    columns: dict[str, sa.Column[Any]] = {
        name: tables.case_runs.c[name] for name in ("case", "version", "variant", "model")
    }
    in_seasons = ("season", "season_version", "season_digest", "level", "difficulty", "agent")
    columns |= {name: tables.season_runs.c[name] for name in in_seasons}
    columns["kind"] = tables.runs.c.kind
    columns["case_digest"] = tables.runs.c.record
    for name, value in cast(dict[str, str | None], filters).items():
        if name not in columns:
            raise UsageError(f"runs are not filtered by {name!r}: filters are {', '.join(sorted(columns))}")
        if name == "kind" and value is not None and value not in KINDS:
            raise UsageError(f"{value!r} is no kind of run: kinds are {', '.join(KINDS)}")
        if name == "model" and value is not None:
            query = query.where(columns[name].in_(models))
        elif name == "case_digest" and value is not None:  # no column has it; a record's text has its keys as they are
            query = query.where(columns[name].contains(f'"case_digest":"{value}"', autoescape=True))
        elif value is not None:
            query = query.where(columns[name] == value if is_text(value) else sa.false())
    return query if include_voided else query.where(tables.runs.c.voided.is_(None))
