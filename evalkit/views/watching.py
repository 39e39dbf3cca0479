"""Why: a run in the console is watched where it stands, and only when asked: its module has to run again for that."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets
import pandas as pd

from evalkit.errors import EvalkitError
from evalkit.performance.manifest import open_case
from evalkit.records import Outcome, PerformanceRun, SeasonRun
from evalkit.store import Store
from evalkit.views.controls import offer
from evalkit.views.names import html, short
from evalkit.views.seasons.player import ReplayPlayer
from evalkit.views.turns import turn_frame, turn_notes

__all__ = ["Watching", "replay_player"]


def replay_player(run: SeasonRun, store: Store, turns: pd.DataFrame | None = None) -> ReplayPlayer:
    """Play a stored run again for its player, with what a model said at each turn, where `turns` are of one.

    Raises UsageError where it may not be seen, or its replay is not here.
    """
    from evalkit.season.watching import watch_replay

    watched = watch_replay(store.replay(run.run_id), f"{run.season}@{run.season_version}")
    return ReplayPlayer(watched, None if turns is None else turn_notes(turns))


class Watching:
    """A line of controls, and a player below it once `button` is pressed. `widget` is empty where there is none."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._run: Any = None
        self._turns = turn_frame(())
        self.input = widgets.Dropdown(description="input", layout={"width": "260px"})
        self.first, self.last = (
            widgets.BoundedIntText(value=value, min=1, max=10**9, description=name, layout={"width": "180px"})
            for value, name in ((1, "from tick"), (250, "to tick"))
        )
        self.button = widgets.Button(description="Watch this run", icon="play")
        self.button.on_click(lambda _: self.watch())
        self._said, self.screen = widgets.HTML(), widgets.Output()
        self._line = widgets.HBox([self.input, self.first, self.last, self.button], layout={"flex_flow": "row wrap"})
        self.widget = widgets.VBox([])

    def of(self, run: Any, turns: pd.DataFrame) -> None:
        """Offer to watch this run, with its model's turns, if any; nothing is computed yet."""
        self._run, self._turns, self._said.value, self.screen.outputs = run, turns, "", ()
        if isinstance(run, PerformanceRun):
            graded = [row for row in run.inputs if row.outcome is not Outcome.SKIPPED]
            graded.sort(key=lambda row: row.kind != "stress")
            offer(self.input, [(short(row.name, 30), row.name) for row in graded], self.input.value)
            self.widget.children = (self._line, self._said, self.screen) if graded and run.module_digest else ()
        elif isinstance(run, SeasonRun) and run.replay_digest and run.reference is None:
            self.widget.children = (self.button, self._said)
        else:
            self.widget.children = ()

    def watch(self) -> None:
        """Run it again and show it, or say in a line why that cannot be."""
        self._said.value, self.screen.outputs = "<small>Running it again …</small>", ()
        try:
            player = self._player()
        except (EvalkitError, ValueError) as error:
            self._said.value = f"<p>{html(str(error))}</p>"
            return
        self._said.value = ""
        if isinstance(player, ReplayPlayer):
            self.widget.children = (self.button, self._said, player.box)
            return
        data = {"text/plain": repr(player), "text/html": player._repr_html_()}
        self.screen.outputs = ({"output_type": "display_data", "data": data, "metadata": {}},)

    def _player(self) -> Any:
        run = self._run
        if isinstance(run, SeasonRun):
            return replay_player(run, self._store, self._turns)
        assert isinstance(run, PerformanceRun)
        from evalkit.performance.playback import watch
        from evalkit.views.player import show

        case = open_case(f"{run.case}@{run.version}")
        module = self._store.module(run.module_digest or "")
        return show(watch(case, run, module, self.input.value, self.first.value, self.last.value))
