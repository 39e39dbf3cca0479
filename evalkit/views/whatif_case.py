"""Why: what can be changed of a case, as controls: the ceiling of each stress input, which inputs count, and how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets
import numpy as np
import pandas as pd

from evalkit.errors import UsageError
from evalkit.performance.case import Case
from evalkit.performance.limits import limits
from evalkit.performance.rank import project_aliases
from evalkit.performance.whatif import RERUN, Facts, Setting, code, fold, what_if
from evalkit.store.filters import Filters
from evalkit.views.cells import named, number, rows_of
from evalkit.views.controls import BOX, exact, number_field, panel
from evalkit.views.formats import OUTCOME_MARKS, OUTCOME_WORDS, some
from evalkit.views.frames import latest_cohort
from evalkit.views.grid import Cell, Column, Table
from evalkit.views.names import short
from evalkit.views.opening import opened
from evalkit.views.whatif_words import other_digest

__all__ = ["CaseQuestion"]

_COHORT = ["case", "version", "variant", "fuel_schedule"]


class CaseQuestion:
    """A case's what-if, over the cohort in which a run was recorded last, or over the runs given.

    Control names: `ceiling INPUT` (fuel), `input INPUT`, `score` ("sum" or "ratios").
    """

    what = "model"

    def __init__(self, case: Case, store: Any, runs: Any) -> None:
        self._cohort: tuple[str, str, str, str] | None = None
        self._source: str | None = None
        self._facts, others = self._read(case, store) if runs is None else self._given(case, runs)
        count = len(self._facts.run_ids)
        self.title = f"{case.name} {case.version}: {some(count, 'run')}"
        self.note = other_digest(others, count, "case")
        self.limits = limits(self._facts)
        recorded = np.nanmax(self._facts.ceiling, axis=0) if len(self._facts.run_ids) else []
        self._official = {name: int(value) for name, value in zip(self._facts.inputs, recorded, strict=True)}
        self.controls: dict[str, Any] = {}
        ceilings: list[Any] = []
        for name, official in self._official.items():
            field = number_field(name, official, whole=True, most=max(2**53 - 1, official), step=max(1, official // 20))
            self.controls[f"ceiling {name}"] = field
            ceilings.append(exact(field, times=max(1, official)))
        ticks = []
        for name in self._official:
            ticks.append(widgets.Checkbox(value=True, description=short(name), indent=False, layout=BOX))
            self.controls[f"input {name}"] = ticks[-1]
        choices = [("the sum of fuel", "sum"), ("the geometric mean of ratios to the best", "ratios")]
        self.controls["score"] = widgets.RadioButtons(options=choices, value="sum", layout={"width": "auto"})
        self.panels: tuple[tuple[str, Any], ...] = (
            (
                "Ceilings",
                panel(
                    ceilings,
                    "Fuel at or under which a right answer passes; a slider goes from a hundredth to a hundred times.",
                ),
            ),
            ("Inputs and score", panel([*ticks, self.controls["score"]], "Ticked inputs count; a score is")),
        )

    def _given(self, case: Case, runs: Any) -> tuple[Facts, int]:
        """The facts of the latest cohort of the runs given, and how many of its runs are of another digest."""
        cohort = latest_cohort(runs)
        self._cohort = cohort[0].cohort if cohort else None
        digest = case.digest()
        others = sum(run.voided is None and run.case_digest != digest for run in cohort)
        return fold(cohort, aliases=project_aliases()), others

    def _read(self, case: Case, store: Any) -> tuple[Facts, int]:
        """The same of a store."""
        source, self._source = opened(store)
        found: Filters = {"kind": "performance", "case": case.slug, "version": case.version}
        runs = source.runs_frame(include_voided=False, **found)
        if runs.empty:
            self._cohort = (case.slug, case.version, "", "")  # of which no run is, as there is none
            return fold(runs, source.inputs_frame(**found)), 0
        last = runs.sort_values(["recorded_at", "run_id"]).iloc[-1]
        self._cohort = tuple(str(last[name]) for name in _COHORT)  # type: ignore[assignment]
        runs = runs[(runs[_COHORT] == last[_COHORT]).all(axis=1)]
        found["variant"] = str(last["variant"])
        inputs = source.inputs_frame(include_voided=False, **found)
        found["case_digest"] = case.digest()
        same = source.runs_frame(include_voided=False, **found)
        return fold(runs, inputs, project_aliases()), int((~runs["run_id"].isin(same["run_id"])).sum())

    def setting(self, value: Mapping[str, Any]) -> Setting:
        """What values of the controls say."""
        ceilings = {name: int(value[f"ceiling {name}"]) for name in self._official}
        return Setting(
            ceilings={name: ceiling for name, ceiling in ceilings.items() if ceiling != self._official[name]},
            without_inputs=tuple(name for name in self._official if not value[f"input {name}"]),
            score=value["score"],
        )

    def frame(self, values: Mapping[str, Any], reasons: int | None = None) -> pd.DataFrame:
        """The ranking for values of the controls. Raises UsageError where they leave nothing."""
        setting = self.setting(values)
        if self._official and len(setting.without_inputs) == len(self._official):
            raise UsageError("nothing is left to score: tick at least one input")
        return what_if(self._facts, setting, reasons=reasons)

    def code(self, values: Mapping[str, Any]) -> str:
        """Python that gives the same frame."""
        return code(self.setting(values), cohort=self._cohort, source=self._source, aliases=True)

    def limited(self, row: Any) -> str:
        """The control of an input's ceiling."""
        return f"ceiling {row.input}"

    def cells(self, row: Any) -> tuple[tuple[Column, Cell], ...]:
        """Score, what it was, and the outcome."""
        form = ",.0f" if self.controls["score"].value == "sum" else ",.3f"
        title = "total fuel" if form == ",.0f" else "mean ratio"
        mark = "↻" if row.outcome == RERUN else OUTCOME_MARKS[row.outcome]
        return (
            (Column(title, "number"), number(row.score, form)),
            (Column("official fuel", "number"), number(row.official_score)),
            (Column("outcome", "mark"), Cell(f"{mark} {OUTCOME_WORDS.get(row.outcome, row.outcome)}")),
        )

    def limit_table(self) -> Table:
        """How far each ceiling can go before the first rank changes."""
        columns = (
            Column("input"), Column("official", "number"), Column("down to", "number"), Column("then falls out"),
            Column("up to", "number"), Column("then comes in"), Column("known up to", "number"),
        )  # fmt: skip
        rows = [
            (
                named(row.input), number(row.official), number(row.below), named(row.below_who), number(row.above),
                named(row.above_who), number(row.known_to),
            )
            for row in rows_of(self.limits)
        ]  # fmt: skip
        return Table(
            "How far each ceiling can go, alone, before the first rank changes", columns, rows, searchable=False,
            note="In fuel, exact. A dash under down to or up to: no ceiling on that side changes a rank. Above the "
            "figure under known up to, a run that was stopped would need a rerun; a dash there: no run was stopped.",
            empty="No run has a stress input yet.",
        )  # fmt: skip
