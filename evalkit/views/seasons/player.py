"""Why: in a live notebook a run is watched turn by turn, with what the agent chose and what the game's numbers were.

Everything it shows was computed before it opened, so that a control only picks; it works by keyboard, as its parts are
plain Jupyter widgets. A saved page has no kernel: it carries a strip of screens instead (`strip`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets
import pandas as pd

from evalkit.views.controls import keyboard
from evalkit.views.names import html, plain, short
from evalkit.views.prose import Note, paragraphs
from evalkit.views.seasons.strip import picture
from evalkit.views.turns import turn_frame, turn_notes

if TYPE_CHECKING:  # it brings the engine, which a view can do without
    from evalkit.season.watching import Frame, Watched

__all__ = ["ReplayPlayer", "show"]

_SIZE = 400
"""Pixels of the screen: two and a half for each of the game's."""
_HIGH = 18
"""Rows of the list of turns, and of a column of numbers, which are as high as the screen."""
_FIRST = "0  play begins"
_SAID = f"max-width:{_SIZE}px;line-height:1.4;overflow-wrap:anywhere;border-left:3px solid rgba(128,128,128,.4);\
padding-left:.7em"


class ReplayPlayer:
    """A watched run with its controls: play and pause, a slider over the frames, steps of a frame or a decision.

    `slider.value` is the frame's index; `screen`, `facts`, `numbers` and `turns` follow it. The list of turns goes to
    the frame at the end of the one that is picked. `said` is of the turn on the screen, from `notes` by decision: what
    a model was shown, and what it answered. `table` is all of it as a DataFrame.
    """

    def __init__(self, watched: Watched, notes: Mapping[int, Note] | None = None) -> None:
        self.watched, self._notes = watched, notes or {}
        last = max(0, len(watched.frames) - 1)
        self.play = widgets.Play(min=0, max=last, interval=120, description="play")
        self.slider = widgets.IntSlider(
            min=0, max=last, description="frame", continuous_update=True, layout=widgets.Layout(width="340px")
        )
        self.back, self.forward = (
            widgets.Button(description=text, tooltip=tip, layout=widgets.Layout(width="44px"))
            for text, tip in (("◀", "one frame back"), ("▶", "one frame on"))
        )
        self.speed = widgets.Dropdown(
            options=[("slow", 360), ("normal", 120), ("fast", 40)], value=120, description="speed",
            layout=widgets.Layout(width="160px"), style={"description_width": "44px"},
        )  # fmt: skip
        self.screen, self.facts, self.numbers, self.said = (widgets.HTML() for _ in range(4))
        self.turns = widgets.Select(
            options=[(self._turn(number), number) for number in range(len(watched.decisions) + 1)],
            rows=_HIGH, layout=widgets.Layout(width="270px"),
        )  # fmt: skip
        self._end = {frame.decision: place for place, frame in enumerate(watched.frames)}  # the last of each decision
        widgets.jslink((self.play, "value"), (self.slider, "value"))
        self.speed.observe(lambda change: setattr(self.play, "interval", change["new"]), "value")
        self.slider.observe(self._draw, "value")
        self.turns.observe(self._jump, "value")
        self.back.on_click(lambda _: self.step(-1))
        self.forward.on_click(lambda _: self.step(1))
        self._follows = False
        self._draw()
        controls = widgets.HBox(
            [self.play, self.back, self.forward, self.slider, self.speed], layout={"flex_flow": "row wrap"}
        )
        shown = widgets.VBox([self.screen, self.facts, self.said])
        title = widgets.HTML(f"<b>{html(self._title())}</b>")
        parts = widgets.HBox([shown, self.turns, self.numbers], layout={"flex_flow": "row wrap"})
        self.box = keyboard([title, controls, parts])

    def __repr__(self) -> str:
        return self._title()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def step(self, frames: int) -> None:
        """Go so many frames on, or back where negative, and no further than the ends."""
        self.slider.value = min(self.slider.max, max(0, self.slider.value + frames))

    @property
    def frame(self) -> Frame:
        """What is on the screen now."""
        return self.watched.frames[int(self.slider.value)]

    @property
    def table(self) -> pd.DataFrame:
        """A row a frame: decision, tick, seconds, action, buttons (as text), and each of the game's numbers."""
        decisions = self.watched.decisions
        rows = [
            {"decision": frame.decision, "tick": frame.tick, "seconds": frame.seconds,
             "action": decisions[frame.decision - 1].action if frame.decision else None,
             "buttons": " ".join(frame.buttons), **frame.variables}
            for frame in self.watched.frames
        ]  # fmt: skip
        return pd.DataFrame(rows)

    def _title(self) -> str:
        header, answer = self.watched.header, self.watched.verification
        proof = {True: "it verifies", False: "it is not verified", None: "not proven on this machine"}[answer.verified]
        cell = f"{header.level} ({header.difficulty}), seed {header.seed}"
        return f"{short(header.agent)} on {cell}, replayed just now: {proof}"

    def _turn(self, number: int) -> str:
        if not number:
            return _FIRST
        row, drift = self.watched.decisions[number - 1], self.watched.verification.drift
        mark = "  ✗ drifts here" if drift is not None and drift.decision == number else ""
        return f"{number}  {plain(row.action)} {row.ticks}{mark}"

    def _jump(self, _: Any) -> None:
        if not self._follows and self.turns.value in self._end:
            self.slider.value = self._end[self.turns.value]

    def _draw(self, _: Any = None) -> None:
        frame, drift = self.frame, self.watched.verification.drift
        self.screen.value = picture(frame, _SIZE, f"the screen at tick {frame.tick}")
        said = f"decision {frame.decision} of {len(self.watched.decisions)} · tick {frame.tick:,} · "
        said += f"{frame.seconds:,.2f} s"
        if frame.decision:
            row = self.watched.decisions[frame.decision - 1]
            held = " + ".join(frame.buttons) or "no button"
            said += f" · input: {plain(row.action)} for {row.ticks} ticks ({held})"
        if drift is not None and frame.decision >= drift.decision:
            said += f" · ✗ from decision {drift.decision} on this is not the recorded run: {plain(drift.what)}"
        self.facts.value = f'<div style="max-width:{_SIZE}px;line-height:1.4">{html(said)}</div>'
        note = self._notes.get(frame.decision)
        self.said.value = f'<div class="evk-turn" style="{_SAID}">{note._repr_html_()}</div>' if note else ""
        rows = [
            f'<tr><td style="padding-right:1em">{html(name)}</td><td style="text-align:right">{value:,}</td></tr>'
            for name, value in frame.variables.items()
        ]
        parts = [f'<table style="line-height:1.35;margin-right:1em">{"".join(rows[at : at + _HIGH])}</table>'
                 for at in range(0, len(rows), _HIGH)]  # fmt: skip
        self.numbers.value = f'<div style="display:flex;flex-wrap:wrap;align-items:flex-start">{"".join(parts)}</div>'
        self._follows = True  # the list follows, and must not lead back to the end of its turn
        self.turns.value = frame.decision
        self._follows = False


def show(watched: Watched | None, turns: Sequence[Mapping[str, Any]] | None = None) -> ReplayPlayer | Note:
    """Return a player of a watched run, for a notebook to display; words where there is none.

    `turns`: what `Store.turns` says of a run that a model played; its answers then stand beside the screens.
    """
    if watched is None:
        return paragraphs("There is no run to show.")
    return ReplayPlayer(watched, turn_notes(turn_frame(turns or ())))
