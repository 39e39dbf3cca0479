"""Why: forged replays, by one who knows the format well: the chain is computed here anew, from its written rule."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from evalkit.records import canonical
from evalkit.sandbox.console import Condition, Console
from evalkit.season.carts import game_module
from evalkit.season.season import Season


def document(replay: bytes) -> Any:
    return json.loads(replay)


def written(parts: Any) -> bytes:
    return canonical(parts)


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def closed(parts: Any) -> bytes:
    """The document with its last hash made right for its claims: what a forger of claims would hand in."""
    last = bytes.fromhex(parts["decisions"][-1]["hash"])
    return canonical({**parts, "hash": sha(last, canonical(parts["claims"])).hex()})


def chained(parts: Any, season: Season) -> bytes:
    """The document with every hash made right for its header, its inputs, and the states that they lead through."""
    game, header = season.playable(), parts["header"]
    endings = [g[0] for r in (game.status.completed, game.status.died, game.status.failed) if r for g in r.groups]
    watch = [Condition(t.variable.address, t.variable.type, t.comparison, t.value) for t in endings]
    console = Console(game_module(game), bytes.fromhex(header["boot"]))
    console.run(bytes(header["intro_ticks"]))
    console.watch(watch)

    def state() -> bytes:
        return b"".join(bytes(part) for part in console.state_parts())

    value = sha(b"evalkit-replay-1", canonical(header), state())
    rows = []
    for number, row in enumerate(parts["decisions"], 1):
        pads = bytes([game.actions[row["action"]].pad]) * row["ticks"]
        console.run(pads)
        value = sha(value, number.to_bytes(4, "little"), pads, state())
        rows.append({**row, "hash": value.hex()})
    claims = parts["claims"]
    return canonical({**parts, "decisions": rows, "hash": sha(value, canonical(claims)).hex()})
