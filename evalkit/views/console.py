"""Why: the place to browse: choose a case or a season, narrow its runs, pick one, and see all that is kept of it.

`evalkit.console()`. Every control is a standard one, reached by keyboard; what is shown is in DataFrames beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import ipywidgets as widgets
import pandas as pd

from evalkit.errors import EvalkitError, StoreError
from evalkit.performance.case import Case
from evalkit.performance.manifest import open_case
from evalkit.performance.rank import (
    LeaderboardRow,
    leaderboard,
    project_aliases,
    review_leaderboard,
    worklist,
)
from evalkit.records import PerformanceRun, ReviewedRun, SeasonRun
from evalkit.season.known import Seasons
from evalkit.season.ranking import scored, standings
from evalkit.season.season import Season
from evalkit.views import console_tabs as tabs
from evalkit.views import prose
from evalkit.views.cells import as_html, rows_of
from evalkit.views.console_list import WHO, place_label, run_line, states
from evalkit.views.controls import keyboard, offer
from evalkit.views.names import labels
from evalkit.views.watching import Watching
from evalkit.views.whatif import opened

__all__ = ["Console", "console"]

MOST = 500
"""Runs in the list at once; a filter reaches the others."""

_PLACE = ["kind", "name", "version", "variant", "fuel_schedule"]
_FIRST = {"performance": "Results", "reviewed": "Verdict", "season": "Score"}


class Console:
    """A store as a notebook shows it. `widget` is the whole; its controls: `place, who, state, text, pick, watching`.

    DataFrames: `places` (what there is to choose), `runs` (those that the filters leave, a row each, with `state` and,
    of a season that is known, `score`), `results` (the picked run's inputs, ratings or score parts), `decisions` (of a
    season run), `turns` (of a run that a model played, a row a call), `leaderboard`, `worklist`. `run` is the picked
    record, None where there is none.
    """

    def __init__(self, store: Any = None) -> None:
        self._store, _ = opened(store)
        self._seasons, self._aliases = Seasons(), project_aliases()
        self.run: PerformanceRun | ReviewedRun | SeasonRun | None = None
        self.runs = self.results = self.decisions = self.turns = self.leaderboard = self.worklist = pd.DataFrame()
        self.place, self.who, self.state = (
            widgets.Dropdown(description=name, layout={"width": "auto"}, style={"description_width": "42px"})
            for name in ("show", "who", "state")
        )
        self.text = widgets.Text(
            description="text", placeholder="in a name, an id, a reason", layout=self.place.layout,
            style={"description_width": "42px"},
        )  # fmt: skip
        self.pick = widgets.Select(rows=18, layout={"width": "auto"})
        self.refresh = widgets.Button(description="Read the store again", icon="refresh", layout={"width": "auto"})
        self._count, self._above, self._below = (widgets.HTML() for _ in range(3))
        self.watching = Watching(self._store)
        self._standings, self._waiting = widgets.HTML(), widgets.HTML()
        self._quiet = False
        self._all = self._here = pd.DataFrame({"run_id": pd.Series(dtype="string")})
        self._board: Sequence[Any] = []
        self._cohort: Sequence[PerformanceRun] = []
        self._season: Season | None = None
        self._reviewed: dict[str, ReviewedRun] = {}
        self._damaged: dict[str, str] = {}
        self.widget = self._laid_out()
        self.load()
        self.place.observe(lambda _: self._placed(), "value")
        for control in (self.who, self.state, self.text):
            control.observe(lambda _: self._filter(), "value")
        self.pick.observe(lambda _: self._picked(), "value")
        self.refresh.on_click(lambda _: self.load())

    def _repr_mimebundle_(self, **given: Any) -> Any:
        return self.widget._repr_mimebundle_(**given)

    def __repr__(self) -> str:
        return f"console of {self._store.name}: {len(self._all)} runs"

    def _laid_out(self) -> Any:
        left = widgets.VBox(
            [self.place, self.who, self.state, self.text, self._count, self.pick, self.refresh],
            layout={"flex": "0 1 360px", "min_width": "300px", "margin": "0 14px 0 0"},
        )
        first = widgets.VBox([self._above, self.watching.widget, self._below])
        self.tabs = widgets.Tab([first, self._standings, self._waiting])
        for index, title in enumerate(("Results", "Leaderboard", "Worklist")):
            self.tabs.set_title(index, title)
        self.tabs.layout = {"flex": "1 1 500px", "min_width": "0", "max_width": "100%"}
        return keyboard(
            [widgets.HBox([left, self.tabs], layout={"flex_flow": "row wrap", "align_items": "flex-start"})]
        )

    def finding(self) -> prose.Note:
        """Say how much is kept, of what, and what waits for a person."""
        kept = ", ".join(label for label, _ in self.place.options) or "nothing"
        waits = f"; {len(self.worklist)} wait for a review" if len(self.worklist) else ""
        return prose.paragraphs(f"Finding: {len(self._all):,} runs are kept: {kept}{waits}.")

    def load(self) -> None:
        """Read the store again, and show what was shown; or, where it cannot be read, why, and nothing of before."""
        try:
            self._read()
        except EvalkitError as error:
            self._emptied(str(error))
            return
        self._placed()

    def _emptied(self, said: str) -> None:
        """Say why there is nothing, and keep nothing of before."""
        self._all = self._here = pd.DataFrame({"run_id": pd.Series(dtype="string")})
        self.places = self.runs = self.leaderboard = self.worklist = pd.DataFrame()
        self._board, self._cohort, self._season = [], [], None
        self._quiet = True
        for control in (self.place, self.who, self.state, self.pick):
            offer(control, [])
        self._quiet = False
        self._show(tabs.nothing(said), None)
        self._standings.value = self._waiting.value = self._count.value = as_html(prose.paragraphs(said))

    def _read(self) -> None:
        cases = self._store.runs_frame()
        cases["kind"] = cases["outcome"].isna().map({True: "reviewed", False: "performance"})
        self._reviewed, self._damaged = {}, {}
        for run_id in cases.loc[cases["kind"] == "reviewed", "run_id"]:
            try:  # one damaged record hides no other run, but there is no ranking without it
                self._reviewed[run_id] = cast(ReviewedRun, self._store.find(run_id))
            except StoreError as error:
                self._damaged[run_id] = str(error)
        seasons = self._store.season_frame().assign(kind="season", variant="", fuel_schedule="")
        seasons = seasons.rename(columns={"season": "name", "season_version": "version"})
        self._all = pd.concat([cases.rename(columns={"case": "name"}), seasons], ignore_index=True)
        self._all["fuel_schedule"] = self._all["fuel_schedule"].fillna("")
        self._all["state"] = states(self._all, self._reviewed, self._damaged)
        groups = self._all.groupby(_PLACE, sort=False, dropna=False)
        self.places = groups.agg(runs=("run_id", "size"), last=("recorded_at", "max")).reset_index()
        self.places = self.places.sort_values("last", ascending=False, na_position="last").reset_index(drop=True)
        waiting = worklist(self._reviewed.values())
        self.worklist = pd.DataFrame(
            [(run.run_id, run.case, run.version, run.variant, run.model, run.recorded_at) for run in waiting],
            columns=["run_id", "case", "version", "variant", "model", "recorded_at"],
        )
        unread = prose.paragraphs(*self._damaged.values())
        self._waiting.value = as_html(tabs.waiting(self.worklist), unread)
        chosen = self.place.value
        many = self.places.groupby(["kind", "name", "version", "variant"])["fuel_schedule"].transform("size") > 1
        self._quiet = True
        choices = [(place_label(row, more), row[:5]) for row, more in zip(_rows(self.places), many, strict=True)]
        offer(self.place, choices, chosen)
        self._quiet = False

    def _placed(self) -> None:
        """Another case or season: its people, its states, its leaderboard."""
        if self._quiet:
            return
        place = self.place.value
        self._here = self._all[(self._all[_PLACE] == list(place or [""] * 5)).all(axis=1)].copy()
        kind, name, version = (place or ("performance", "", ""))[:3]
        self._season = self._seasons.named(name, version) if kind == "season" else None
        if self._season is not None:
            runs = self._here.rename(columns={"name": "season", "version": "season_version"})
            marks = scored(runs, self._season)
            self._here["score"] = self._here["run_id"].map(dict(zip(marks["run_id"], marks["score"], strict=True)))
        self.tabs.set_title(0, _FIRST[kind])
        self._quiet = True
        named = labels(sorted(str(name) for name in self._here[WHO[kind]].dropna().unique()), 40)
        offer(self.who, [(f"every {WHO[kind]} ({len(named)})", ""), *((text, name) for name, text in named.items())])
        counts = self._here["state"].value_counts()
        offer(self.state, [("any state", ""), *((f"{state} ({n})", state) for state, n in counts.items())])
        self._quiet = False
        self._cohort = tabs.bare(self._here) if kind == "performance" else []
        self._board = self._ranked(kind)
        self._filter()

    def _ranked(self, kind: str) -> Sequence[Any]:
        """The leaderboard's rows of where we are."""
        if kind == "season":
            if self._season is None:
                return []
            return standings(self._here.rename(columns={"name": "season", "version": "season_version"}), self._season)
        if kind == "reviewed":
            ids = list(self._here["run_id"])
            return [] if set(ids) & set(self._damaged) else review_leaderboard(
                [self._reviewed[run_id] for run_id in ids], self._aliases
            )  # fmt: skip
        return leaderboard(self._cohort, self._aliases)

    def _filter(self) -> None:
        """Narrow the list by the three filters, and keep the picked run where it still is in it."""
        if self._quiet:
            return
        place = self.place.value
        kind = place[0] if place else "performance"
        found = self._here
        if self.who.value:
            found = found[found[WHO[kind]] == self.who.value]
        if self.state.value:
            found = found[found["state"] == self.state.value]
        if words := self.text.value.strip():
            seen = [name for name in (WHO[kind], "run_id", "reason", "level", "ended_by", "voided") if name in found]
            holds = [found[name].astype("string").str.contains(words, case=False, regex=False) for name in seen]
            found = found[pd.concat(holds, axis=1).fillna(False).any(axis=1)]
        always = {"run_id", "kind", "name", "version", "state", "recorded_at"}
        self.runs = found[[c for c in found if c in always or found[c].notna().any()]].reset_index(drop=True)
        listed = found.tail(MOST).iloc[::-1]  # the latest first
        more = f", the latest {MOST} of them listed" if len(found) > MOST else ""
        self._count.value = f"<small>{len(found):,} of {len(self._here):,} runs{more}</small>"
        self._quiet = True
        kept = self.pick.value
        if kept not in set(listed["run_id"]) and kind == "season":
            kept = next(
                iter(listed.loc[listed["reference"].isna(), "run_id"]), None
            )  # a reference run shows no screens
        offer(self.pick, [(run_line(row, kind), str(row.run_id)) for row in rows_of(listed)], kept)
        self._quiet = False
        self._picked()

    def _picked(self) -> None:
        """Another run: its own tab, and its row in the leaderboard."""
        if self._quiet:
            return
        run = None
        try:
            run = cast(Any, self._store.find(self.pick.value)) if self.pick.value else None
            page = self._page(run)
        except EvalkitError as error:  # of this run alone: the others can still be picked
            page = tabs.nothing(str(error))
        self._show(page, run)
        place = self.place.value
        shown, self.leaderboard = tabs.board(
            place[0] if place else "performance", self._board, run, self._season is not None
        )
        lost = [self._damaged[run_id] for run_id in self._here["run_id"] if run_id in self._damaged]
        if lost:
            shown = [prose.paragraphs(*lost, "So there is no ranking: void that run, or import it again.")]
        self._standings.value = as_html(*shown)

    def _page(self, run: Any) -> tabs.Page:
        """What the picked run opens on."""
        if run is None:
            return tabs.nothing("No run is kept here yet." if self._all.empty else "No run matches these filters.")
        if isinstance(run, PerformanceRun):
            return tabs.results(run, self._cohort, cast("list[LeaderboardRow]", self._board), self._aliases)
        if isinstance(run, ReviewedRun):
            return tabs.verdict(run, self._board, _case_of(run))
        fault = self._seasons.fault(run.season, run.season_version)
        return tabs.score(run, self._season, self._store, fault)

    def _show(self, page: tabs.Page, run: Any) -> None:
        self.run = run
        self.results, self.decisions, self.turns = page.results, page.decisions, page.turns
        self._above.value, self._below.value = as_html(*page.above), as_html(*page.below)
        self.watching.of(run, page.turns)


def console(store: Any = None) -> Console:
    """Browse a store: a Store, its URL or path, or None for what `open_results` opens."""
    return Console(store)


def _case_of(run: ReviewedRun) -> Case | None:
    """The run's case as it lies under cases/ today; None where it does not, or not soundly."""
    try:
        return open_case(f"{run.case}@{run.version}")
    except EvalkitError:
        return None


def _rows(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in frame.itertuples(index=False, name=None)]
