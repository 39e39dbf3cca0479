"""Why: what can be changed of a season, as controls: the constants, the anchors, who and what counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import ipywidgets as widgets
import pandas as pd

from evalkit.season.limits import limits
from evalkit.season.score import Rules
from evalkit.season.season import Season
from evalkit.season.whatif import Setting, code, command, entry_name, fold, what_if
from evalkit.views.cells import named, number, rows_of
from evalkit.views.controls import BOX, exact, number_field, panel
from evalkit.views.formats import some
from evalkit.views.grid import Cell, Column, Table
from evalkit.views.opening import opened
from evalkit.views.whatif_words import figured, other_digest

__all__ = ["SeasonQuestion"]

_WORDS = {
    "objectives": "objectives, points", "completion": "completion, points", "death": "death, points lost",
    "exponent": "exponent of pace",
}  # fmt: skip


class SeasonQuestion:
    """A season's what-if, over the runs of a store or those given. Control names: the constants of `Rules`,
    `anchor LEVEL (DIFFICULTY)`, `entry LEVEL (DIFFICULTY)`, `seed N`, `verified_only`, `partial_as_zero`.
    """

    what = "agent"

    def __init__(self, season: Season, store: Any, runs: Any, ref: str | None) -> None:
        self._season, self._ref = season, ref
        self._source: str | None = None
        if runs is None:
            source, self._source = opened(store)
            runs = source.season_frame(include_voided=False, season=season.slug, season_version=season.version)
        self._facts = fold(runs, season)
        count = len(self._facts.agent)
        self.title = f"{season.name or season.slug} {season.version}: {some(count, 'run')}"
        self.note = other_digest(self._facts.other_digest, count, "season")
        self.limits = limits(self._facts)
        self._entries = {entry_name(entry.key): entry for entry in season.entries}
        rules = {field.name: self._constant(field.name) for field in fields(Rules)}
        anchors = {f"anchor {name}": _anchor(name, e.anchor_s or 0.0) for name, e in self._entries.items()}
        entries = {f"entry {name}": _tick(name) for name in self._entries}
        seeds = {f"seed {seed}": _tick(f"seed {seed}") for seed in season.seeds}
        flags = {
            "verified_only": _tick("verified runs only", False),
            "partial_as_zero": _tick("a missing cell counts as 0", False),
        }
        self.controls: dict[str, Any] = {**rules, **flags, **anchors, **entries, **seeds}
        self.panels: tuple[tuple[str, Any], ...] = (
            ("Rules", panel([*(self._slid(name, field) for name, field in rules.items()), *flags.values()])),
            ("Anchors", panel(list(anchors.values()), "Seconds of game time; 0 is no anchor.")),
            ("Entries and seeds", panel([*entries.values(), *seeds.values()], "Ticked ones count.")),
        )

    def _constant(self, name: str) -> Any:
        step, official = 0.05 if name == "exponent" else 1.0, getattr(self._season.rules, name)
        return number_field(_WORDS[name], official, most=max(1e6, official), step=step)

    def _slid(self, name: str, field: Any) -> Any:
        """A constant with its slider, which ends at twice the official value or more."""
        least = 2.0 if name == "exponent" else 100.0
        return exact(field, most=max(least, 2 * field.value), step=field.step)

    def setting(self, value: Mapping[str, Any]) -> Setting:
        """What values of the controls say."""
        rules = replace(self._season.rules, **{field.name: float(value[field.name]) for field in fields(Rules)})
        anchors = {entry.key: value[f"anchor {name}"] or None for name, entry in self._entries.items()}
        return Setting(
            rules=None if rules == self._season.rules else rules,
            anchors={key: anchor for key, anchor in anchors.items() if anchor != self._season.anchors[key]},
            without_entries=tuple(e.key for name, e in self._entries.items() if not value[f"entry {name}"]),
            without_seeds=tuple(seed for seed in self._season.seeds if not value[f"seed {seed}"]),
            verified_only=value["verified_only"],
            partial_as_zero=value["partial_as_zero"],
        )

    def frame(self, values: Mapping[str, Any], reasons: int | None = None) -> pd.DataFrame:
        """The ranking for values of the controls. Raises UsageError where they leave nothing."""
        return what_if(self._facts, self._season, self.setting(values), reasons=reasons)

    def code(self, values: Mapping[str, Any]) -> str:
        """Python, and the shell command where one says the same."""
        setting = self.setting(values)
        text = code(self._season, setting, ref=self._ref, source=self._source)
        is_named = self._ref is not None and self._source not in (None, "store")
        shell = command(self._season, setting) if is_named and setting != Setting() else None
        return text if shell is None else f"{text}\n# or in a shell: {shell}\n"

    def limited(self, row: Any) -> str:
        """Rows of `limits` are named as their controls are."""
        return str(row.constant)

    def cells(self, row: Any) -> tuple[tuple[Column, Cell], ...]:
        """Score, what it was, its standard error, and how many cells are behind it."""
        told = (("score", row.score), ("official score", row.official_score), ("± SE", row.se))
        cells = Cell(f"{row.cells}/{row.cells_expected}", float(row.cells))
        return (*((Column(title, "number"), number(value, ".2f")) for title, value in told),
                (Column("cells", "number"), cells))  # fmt: skip

    def limit_table(self) -> Table:
        """How far each constant can go before the first rank changes."""
        columns = (
            Column("constant"), Column("official", "number"), Column("down to", "number"), Column("then meet"),
            Column("up to", "number"), Column("then meet"),
        )  # fmt: skip
        rows = [
            (
                named(row.constant), figured(row.official), figured(row.below), named(row.below_who),
                figured(row.above), named(row.above_who),
            )
            for row in rows_of(self.limits)
        ]  # fmt: skip
        return Table(
            "How far each constant can go, alone, before the first rank changes", columns, rows, searchable=False,
            note="A dash: no rank changes on that side, from 0 (an anchor: a tenth) to ten times the official value.",
        )  # fmt: skip


def _tick(text: str, value: bool = True) -> Any:
    return widgets.Checkbox(value=value, description=text, indent=False, layout=BOX)


def _anchor(name: str, official: float) -> Any:
    return number_field(name, official, most=max(1e9, official))
