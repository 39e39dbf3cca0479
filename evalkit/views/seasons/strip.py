"""Why: a row of screens tells how a run went to whoever has no time to watch it; each is the game's own picture."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from evalkit.views.names import html, plain
from evalkit.views.prose import Note

if TYPE_CHECKING:  # it brings the engine, which a view can do without
    from evalkit.season.watching import Frame, Watched

__all__ = ["picture", "strip"]


def picture(frame: Frame, size: int, said: str = "") -> str:
    """Return a frame as an `img` of `size` pixels that needs nothing else; `said` is read out."""
    data = base64.b64encode(frame.png).decode()
    style = f"width:{size}px;height:{size}px;image-rendering:pixelated;display:block"
    return f'<img alt="{html(said or f"tick {frame.tick}")}" style="{style}" src="data:image/png;base64,{data}">'


def strip(watched: Watched | None, count: int = 10, size: int = 160) -> Note:
    """Return `count` screens of a run, evenly spread over it, the first as play begins and the last at its end.

    Each has its decision, action and time below. Where the replay drifts, screens from there on say so.
    """
    if watched is None or not watched.frames:
        return Note("<p>There is no run to show.</p>", "There is no run to show.")
    frames, last = watched.frames, len(watched.frames) - 1
    places = sorted({round(last * place / max(1, count - 1)) for place in range(count)}) if last else [0]
    parts = []
    for place in places:
        frame = frames[place]
        head, action = _said(watched, frame)
        parts.append(
            f'<figure style="margin:0;width:{size}px;break-inside:avoid">{picture(frame, size, f"{head}: {action}")}'
            f'<figcaption style="font-size:12px;line-height:1.35;margin-top:.3em">{html(head)}<br>'
            f'<span style="opacity:.75">{html(action)}</span></figcaption></figure>'
        )
    style = "display:flex;flex-wrap:wrap;gap:14px 10px;margin:.6em 0 1.2em"
    text = f"{len(places)} screens of {plain(watched.header.agent)} on {plain(watched.header.level)}"
    return Note(f'<div class="evk-strip" style="{style}">{"".join(parts)}</div>', text)


def _said(watched: Watched, frame: Frame) -> tuple[str, str]:
    if not frame.decision:
        return "play begins", f"after an intro of {watched.header.intro_ticks} ticks"
    row, drift = watched.decisions[frame.decision - 1], watched.verification.drift
    late = " ✗ after the drift" if drift is not None and frame.decision >= drift.decision else ""
    return f"decision {frame.decision:,}, {frame.seconds:,.1f} s", f"{plain(row.action)}, {row.ticks} ticks{late}"
