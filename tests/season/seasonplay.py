"""Why: a small season that was really played: an anchor with a route of its own, a floor, honest agents, what is
unknown, partial, drifted and never replayed; for every test of a report, a pack or a notebook.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from evalkit.jobs import verify_season
from evalkit.season import load_season, play
from evalkit.season.agents import Action, Observation, Spec, Usage
from evalkit.season.season import Season
from evalkit.store import Store
from tests.season.seasonwork import SEASON, make_season

ROUTE = "# The route of the vault: dither, take, dither again, and out by the door.\nstep left 8\nstep right 16\n"
"""Of `private/`: what must be in nothing that is handed out."""


class Walker:
    """Takes what there is and walks to the door, whatever happens."""

    name = "walker"
    deterministic = True
    takes, shoots = (0, 1, 2), False
    tokens, dollars = 0, 0.0

    def reset(self, spec: Spec, seed: int) -> None:
        del spec, seed
        self.turns = 0
        self.left = list(self.takes)

    def decide(self, observation: Observation) -> Action:
        self.turns += 1
        x, guard = observation.variables["x"], observation.variables["guard"]
        if self.left and x // 40 == self.left[0]:
            self.left.pop(0)
            return Action("take", 2)
        if self.shoots and "shoot" in observation.legal and 0 < guard - x < 40:
            return Action("shoot", 4)
        return Action("leave", 4) if x > 150 else Action("right", 16 if x < 140 else 8)

    def usage(self) -> Usage:
        tokens = None if self.tokens is None else self.turns * self.tokens
        return Usage(tokens, None if self.dollars is None else self.turns * self.dollars)


class Shooter(Walker):
    name = "shooter"
    shoots = True


class Hasty(Walker):
    name = "hasty <b>& bold</b>"
    takes = (0,)


class Thinker(Shooter):
    name = "thinker"
    tokens, dollars = 900, 0.004


class Unpriced(Walker):
    name = "unpriced"
    tokens, dollars = 700, None  # type: ignore[assignment]


class Pilot(Walker):
    """The anchor: invincible, and on a route that no one else takes."""

    name = "route"
    reference = "anchor"
    cheats = ("invincible",)

    def decide(self, observation: Observation) -> Action:
        action = super().decide(observation)
        dither = action.name == "right" and self.turns % 3 == 0 and observation.variables["x"] > 20
        return Action("left", 8) if dither else Action("wait", 4) if self.turns % 5 == 0 else action


def played_season(root: Path) -> tuple[Season, str]:
    """A season's folder with its private routes, and the URL of a store with some thirty runs of it."""
    folder = make_season(root / "cases", season=SEASON)
    (folder / "private").mkdir()
    (folder / "private" / "hall.route").write_text(ROUTE)
    season, url = load_season(folder), f"sqlite:///{root / 'runs.sqlite'}"
    with Store.open(url) as store:
        for agent in (Pilot, "random", Walker, Shooter, Hasty, Thinker, Unpriced):
            for level, _, seed in season.cells:
                keep(store, season, agent, level, seed)
        keep(store, season, Walker, "hall", 0, attempt=2)
        verify_season(season, store=store, jobs=1)
        for level, _, seed in season.cells[:3]:
            keep(store, season, _named("half-way"), level, seed)
        late = keep(store, season, _named("late"), "hall", 0)
        store.record_verification(
            late, verified=False, engine="wasmtime 50.0.0", drift={"decision": 3, "tick": 34, "what": "the hash"}
        )
        store.void(keep(store, season, Shooter, "hall", 1, attempt=2), "made with the wrong build")
    return season, url


def _named(name: str) -> Walker:
    agent = Walker()
    agent.name = name
    return agent


def keep(store: Store, season: Season, agent: object, level: str, seed: int, attempt: int = 1) -> str:
    """Play and store; the run's id."""
    played = play(season, level=level, seed=seed, agent=agent, attempt=attempt)  # type: ignore[arg-type]
    store.add(played.run, replay=played.replay)
    return played.run.run_id


def reference_secrets(season: Season, store: Store) -> list[bytes]:
    """What tells a reference run's play: its replay's hashes and bytes, and the private files' text."""
    found = [path.read_bytes() for path in sorted((season.root or Path()).glob("private/*"))]
    for run in store.runs(kind="season"):
        if run.reference == "anchor":
            replay = json.loads(store.replay(run.run_id))
            found += [row["hash"].encode() for row in replay["decisions"]] + [replay["hash"].encode()]
    return found


def tapes(season: Season, store: Store) -> list[list[tuple[str, int]]]:
    """The anchor's decisions, run by run, as (action, ticks)."""
    kept = [json.loads(store.replay(r.run_id)) for r in store.runs(kind="season") if r.reference == "anchor"]
    return [[(row["action"], row["ticks"]) for row in replay["decisions"]] for replay in kept]


MOST_ALIKE = 8
"""Consecutive decisions that must not be found."""


def leaks(folder: Path, season: Season, store: Store) -> list[str]:
    """What of the anchor's play or of the private files is in a folder: (file: what)."""
    secrets, routes = reference_secrets(season, store), tapes(season, store)
    assert secrets and all(len(route) > MOST_ALIKE for route in routes)
    runs_of = {tuple(route[i : i + MOST_ALIKE]) for route in routes for i in range(len(route) - MOST_ALIKE + 1)}
    game = season.playable()
    pads = [b"".join(bytes([game.actions[a].pad]) * t for a, t in part) for part in runs_of]
    names = "|".join(sorted(map(re.escape, game.actions), key=len, reverse=True))
    found = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        data = path.read_bytes()
        found += [f"{path.name}: a secret" for secret in secrets if secret in data]
        found += [f"{path.name}: a tape" for tape in pads if tape in data or tape.hex().encode() in data]
        # Every mention of an action with the number nearest to it, as in a replay, a table or a caption.
        text = data.decode("utf-8", "replace")
        told = [
            (m["a"] or m["c"], int(m["b"] or m["d"]))
            for m in re.finditer(
                rf'"action":"(?P<a>{names})","hash":"[0-9a-f]*","ticks":(?P<b>\d+)|\b(?P<c>{names})\b\D{{1,40}}?(?P<d>\d+)',
                text,
            )
        ]
        parts = {tuple(told[i : i + MOST_ALIKE]) for i in range(len(told) - MOST_ALIKE + 1)}
        found += [f"{path.name}: {MOST_ALIKE} decisions" for part in parts if part in runs_of]
    return found
