"""Why: a replay is an agent too, and an anchor's replay stays the operator's private route, whoever plays it again."""

from __future__ import annotations

from collections.abc import Iterable

from evalkit.season.agents.builtin import Replayer
from evalkit.season.agents.protocol import Action
from evalkit.season.replays import Replay

__all__ = ["AnchorReplayer", "replayer"]


class AnchorReplayer(Replayer):
    """Plays an anchor's route again: its runs are an anchor's as well, with the same cheats, and never leave."""

    reference = "anchor"

    def __init__(self, actions: Iterable[Action], cheats: Iterable[str]) -> None:
        super().__init__(actions)
        self.cheats = tuple(cheats)


def replayer(replay: Replay) -> Replayer:
    """An agent that says again what a replay says."""
    actions = [Action(row.action, row.ticks) for row in replay.decisions]
    if replay.header.reference == AnchorReplayer.reference:
        return AnchorReplayer(actions, replay.header.cheats)
    return Replayer(actions)
