"""Why: a run is watched in a frame of its own: it works in JupyterLab and in a saved report, and can touch neither.

The frame is an `iframe` with its document in `srcdoc` and a sandbox that allows scripts alone: no request, no access to
the page around it, its own keys. Names and states reach it as compressed JSON, which no text can break out of.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pandas as pd

from evalkit.performance.scene import FORMS
from evalkit.views import factory, stills
from evalkit.views.formats import OUTCOME_WORDS, grouped, times
from evalkit.views.names import html, plain, short
from evalkit.views.prose import Note, paragraphs

if TYPE_CHECKING:
    from evalkit.performance.playback import Playback  # which brings the engine: a view can do without

__all__ = ["Player", "Still", "compared", "show"]

_ROLES = {name: f"var(--{name})" for name in factory.LIGHT}
_PAGE = {
    "light": {"page": "#ffffff", "line": "#d3d7dd", "button": "#f4f5f7", "tip": "#ffffff", "accent": "#0a66b7",
              "onaccent": "#ffffff"},
    "dark": {"page": "#111111", "line": "#3a404a", "button": "#22262d", "tip": "#22262d", "accent": "#6cb6ff",
             "onaccent": "#0b1a2b"},
}  # fmt: skip

_AROUND = """<script>(() => {
if (window.evalkitPlayers) return;
window.evalkitPlayers = true;
const tell = (frame) => {
  let ground = [255, 255, 255];
  for (let at = frame.parentElement; at; at = at.parentElement) {
    const found = getComputedStyle(at).backgroundColor.match(/[\\d.]+/g).map(Number);
    if (found.length < 4 || found[3] > 0.5) { ground = found; break; }
  }
  const dark = 0.3 * ground[0] + 0.59 * ground[1] + 0.11 * ground[2] < 110;
  frame.contentWindow.postMessage({ evalkitPlayer: { dark } }, "*");
};
const frames = () => [...document.querySelectorAll("iframe.evk-player")];
addEventListener("message", (event) => {
  if (event.data && event.data.evalkitPlayer === "ready")
    frames().filter((frame) => frame.contentWindow === event.source).forEach(tell);
});
new MutationObserver(() => setTimeout(() => frames().forEach(tell), 300))
  .observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "class"] });
})()</script>"""
"""Of the page around, once: it tells each player whether its ground is dark, and tells it again when that changes."""


class Still:
    """One tick of a run as a picture; `svg` is the whole of it."""

    def __init__(self, svg: str, said: str) -> None:
        self.svg, self._said = svg, said

    def __repr__(self) -> str:
        return self._said

    def _repr_html_(self) -> str:
        return f"<figure style='margin:0'>{self.svg}<figcaption>{html(self._said)}</figcaption></figure>"


class Player:
    """A playback that a notebook shows as a player; `page` is its whole document, `still` one tick as SVG.

    `table` is what was compared, tick by tick, as a DataFrame.
    """

    def __init__(self, playback: Playback, height: int | None = None) -> None:
        self.playback = playback
        self._height = height

    def __repr__(self) -> str:
        return f"{_title(self.playback)}: {_outcome(self.playback)}. {_note(self.playback)}"

    @property
    def height(self) -> int:
        """Pixels of the frame: the factory at a notebook's width, within reason, and the controls."""
        scene = self.playback.scene
        tile = min(56.0, 880 / scene["width"])
        return self._height or round(min(510.0, max(120.0, scene["height"] * tile + 20))) + 214

    @property
    def table(self) -> pd.DataFrame:
        """A row a tick that is drawn: `tick`, `state` (equal marks are equal states), `graded`, and `wrong`.

        `graded`: the case grades this tick and its state is the expected one; `wrong`: known to be wrong here.
        """
        shown, wrong = self.playback, self.playback.wrong_from
        rows = [
            (tick, shown.states[tick], tick in shown.checked, wrong is not None and tick >= wrong)
            for tick in sorted(shown.states)
            if shown.first <= tick <= shown.last
        ]
        return pd.DataFrame(rows, columns=["tick", "state", "graded", "wrong"])

    def page(self) -> str:
        """Return the player as one HTML document that needs nothing else."""
        data = {
            "scene": _inert(self.playback.scene), "ground": factory.ground(self.playback.scene, _ROLES),
            "glyphs": {form: factory.outline(form) for form in FORMS}, "size": factory.SIZE,
            "used": stills.used_items(self.playback.scene),
            "title": _title(self.playback), "outcome": _outcome(self.playback), "note": _note(self.playback),
            "marks": [t for t in self.playback.checked if self.playback.first <= t <= self.playback.last],
            "wrongFrom": self.playback.wrong_from,
        }  # fmt: skip
        text = json.dumps(data, separators=(",", ":"))
        packed = base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()
        folder = files(__package__)
        page = (folder / "player.html").read_text(encoding="utf-8")
        script = "".join((folder / name).read_text(encoding="utf-8") for name in ("factory.js", "player.js"))
        inks = _inks("", {**factory.LIGHT, **_PAGE["light"]})
        inks += _inks("[data-theme=dark]", {**factory.DARK, **_PAGE["dark"]})
        for mark, value in (("/*inks*/", inks), ("/*script*/", script), ("/*packed*/", packed)):
            page = page.replace(mark, value, 1)
        return page

    def still(self, tick: int) -> Still:
        """Return one tick as a picture for a report. Raises UsageError for a tick outside the window."""
        said = f"{short(self.playback.model)} on {short(self.playback.input)}, tick {tick:,}"
        return Still(stills.still(self.playback.scene, tick, said=said), said)

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{self.height}px;border:0;display:block"
        return (
            "<style>@media print{iframe.evk-player{display:none!important}}"
            "@media screen{.evk-paper{display:none}}</style>"
            f'<div class="evk-paper">{self.still(self.playback.last)._repr_html_()}</div>'
            f'<iframe class="evk-player" sandbox="allow-scripts" title="{html(_title(self.playback))}" style="{style}" '
            f'srcdoc="{escape(self.page(), quote=True)}"></iframe>{_AROUND}'
        )


def show(playback: Playback, *, height: int | None = None) -> Player:
    """Return a player of a playback, for a notebook to display; `height` is in pixels, chosen to fit by default."""
    return Player(playback, height)


def compared(playback: Playback, other: Playback | None) -> Note:
    """Say whether two runs had the same factory before them, and what each burned for the whole input."""
    name, window = short(playback.model), f"ticks {playback.first:,} to {playback.last:,} of {short(playback.input)}"
    if other is None:
        return paragraphs(f"Finding: {name} was watched over {window}. There is no run over the ceiling beside it.")
    tick, second = playback.differs_from(other), short(other.model)
    same = f"{name} and {second} are in the same state at every tick that both were asked for, {window} among them"
    said = same if tick is None else f"{name} and {second} are first in different states at tick {tick:,}"
    if playback.fuel and other.fuel:
        ratio = times(max(playback.fuel, other.fuel) / min(playback.fuel, other.fuel))
        said += (
            f"; for the whole input one burned {grouped(playback.fuel)} fuel, the other {grouped(other.fuel)} ({ratio})"
        )
    return paragraphs(f"Finding: {said}.")


def _inks(theme: str, inks: Mapping[str, str]) -> str:
    scheme = "dark" if theme else "light"
    return f":root{theme}{{color-scheme:{scheme};" + "".join(f"--{name}:{ink};" for name, ink in inks.items()) + "}\n"


def _inert(value: Any) -> Any:
    """The same data with every text on one line and without characters that cannot be seen."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, dict):
        return {key: _inert(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return value if value and isinstance(value[0], (int, float)) else [_inert(item) for item in value]
    return value


def _title(playback: Playback) -> str:
    window = f"ticks {playback.first:,} to {playback.last:,}"
    return f"{short(playback.model)} on {short(playback.input)}, {window}"


def _outcome(playback: Playback) -> str:
    said = OUTCOME_WORDS[playback.outcome]
    return f"{said} ({short(playback.reason, 40)})" if playback.reason else said


def _note(playback: Playback) -> str:
    """What was compared before anything was drawn."""
    if not playback.is_recorded:
        return "This run left no answer on this input, so there was no recorded state to compare these with."
    ticks = "; ".join(f"{tick:,}" for tick in playback.checked)
    ticks = f"tick{'' if len(playback.checked) == 1 else 's'} {ticks}" if ticks else ""
    if playback.wrong_from is not None:
        start = f"right at the graded {ticks}, and " if ticks else ""
        return f"This run was {start}wrong from tick {playback.wrong_from:,} on."
    return f"Computed by the run's own module; its states are the expected ones at the graded {ticks}."
