"""Why: who writes an agent needs the rules, the game and seeds to practise with, and must not see what would give a
score away: the season's own seeds with their intros, the autopilot's routes, and any run of it.

A pack is itself a season, with the practice seeds where the season's were, so that `evalkit play` works on it. It is
written from what the kit read, so no comment of a file comes along; what goes in is listed here, and nothing else does.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

from evalkit.errors import AuthoringError, UsageError
from evalkit.reading.written import toml_text
from evalkit.season.carts import game_module
from evalkit.season.game import Game
from evalkit.season.gamefile import GAME
from evalkit.season.manifest import MANIFEST, load_season
from evalkit.season.season import Season
from evalkit.season.wording import OWN_RUNS, rules_in_words

__all__ = ["pack_season"]

_AGENT = "starter.py"


def pack_season(season: Season, folder: Path) -> list[Path]:
    """Write what a participant may see to `folder`, and return the files' paths, relative to it, in order.

    In it: `season.toml` with the practice seeds in place of the season's, `game/` with `game.toml` and the built
    module, `README.md` with the rules, and an example agent. Raises UsageError for a folder that is not empty,
    AuthoringError where the season has no practice seed or its game cannot be built.
    """
    game = season.playable()
    if season.root is None:
        raise UsageError(f"season {season.slug} was made by hand: only one that lies in a folder can be packed")
    if folder.resolve().is_relative_to(season.root.resolve()):
        raise UsageError(f"{folder}: lies in the season's own folder: write the pack somewhere else")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: is there already: name a new or an empty folder")
    if not season.practice_seeds:
        raise AuthoringError(f"{season.root / MANIFEST}: has no practice_seeds: add some, to be played at home")
    module = game_module(game)
    starter = files("evalkit.season").joinpath(_AGENT).read_bytes()
    texts: dict[str, bytes] = {
        MANIFEST: _manifest(season).encode(),
        f"game/{GAME}": _game(game.root / GAME).encode(),
        f"game/{_MODULE}": module,
        "README.md": _readme(season).encode(),
        _AGENT: starter,
    }
    for name, data in texts.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    packed = load_season(folder)  # what was written must be the season that was read
    assert packed.playable().digest == game.digest and packed.cells
    return [Path(name) for name in sorted(texts)]


_MODULE = "game.wasm"


def _read(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return tomllib.load(file)


def _manifest(season: Season) -> str:
    assert season.root is not None
    document = _read(season.root / MANIFEST)
    document.pop("practice_seeds")
    document |= {"game": "game", "seeds": {str(seed): ticks for seed, ticks in season.practice_seeds.items()}}
    return toml_text(document, f"The practice form of {season.slug} {season.version}: its seeds are for practice.")


def _game(path: Path) -> str:
    document = _read(path)
    document.pop("build", None)
    document.pop("digest", None)
    document.get("boot", {}).pop("cheats", None)  # for an anchor alone
    return toml_text({**document, "module": _MODULE}, "What the numbers in the game's memory mean.")


def _seen(game: Game) -> tuple[str, str]:
    """The observed numbers in a line, and where the game says what they mean, a table of them.

    Neighbours of one meaning share a row: a map is many numbers.
    """
    if not any(variable.description for variable in game.observed):
        return ": " + (", ".join(f"`{variable.name}`" for variable in game.observed) or "none"), ""
    rows = []
    for said, group in groupby(game.observed, key=lambda variable: variable.description or ""):
        names = [f"`{variable.name}`" for variable in group]
        several = f"{names[0]} to {names[-1]}" if said and len(names) > 2 else ", ".join(names)
        rows.append(f"| {several} | {said.replace('|', '/')} |")
    return " in the table below", "\n".join(["", "| number | what it means |", "|---|---|", *rows, ""])


def _readme(season: Season) -> str:
    game, first = season.playable(), season.entries[0]
    seed = next(iter(season.practice_seeds))
    entries = "\n".join(
        f"| {e.level} | {e.difficulty} | {'-' if e.anchor_s is None else f'{e.anchor_s:g}'} | "
        f"{'-' if e.decision_budget is None else e.decision_budget} |"
        for e in season.entries
    )
    actions = "\n".join(
        f"| {rule.name} | {', '.join(map(str, rule.ticks))} | {rule.when.text if rule.when else ''} | "
        f"{(rule.description or '').replace('|', '/')} |"
        for rule in game.actions.values()
    )
    seen, table = _seen(game)
    rules = "\n\n".join(rules_in_words(season))
    play = f"evalkit play . --level {first.level} --difficulty {first.difficulty} --seed {seed}"
    return f"""# {season.name}: what a participant gets

Write an agent: a Python class that is told what there is to do, sees the game turn by turn, and names an action.

## The rules

{rules}

| level | difficulty | anchor, s | decisions |
|---|---|---|---|
{entries}

## What an agent sees and does

At each decision: the numbers of the game{seen}{", and the screen" if game.picture else ""}; and the actions that
are legal now.

| action | may be held for ticks | legal when | |
|---|---|---|---|
{actions}
{table}
`{_AGENT}` is an agent to copy: `reset(spec, seed)` begins a run, `decide(observation)` returns `Action(name, ticks)`,
and `usage()` says what was spent. A choice that is not legal is played as a no-op, and counted; it costs a decision.
An agent that raises ends its run unscored.

## Play at home

With evalkit installed, in this folder:

```
evalkit check .
{play} --agent {_AGENT}:Starter
evalkit sweep . --agents {_AGENT}:Starter random
evalkit verify --all --season .
evalkit leaderboard .
```

The game is `game/{_MODULE}`, a WASM-4 cart: the web runtime of WASM-4 plays it by hand.

## What is not here

* The season's own seeds. A seed sets how long the game runs before play begins, and so what each run meets; those in
  `season.toml` are for practice. So a run made here is of another season digest, and never enters the standing.
* The autopilot's routes and its runs. Its times are: they are the anchors above.
* Anyone's results. {OWN_RUNS}
"""
