"""Why: an agent is named in one word that also works in another process, and its digest says which code it was."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Collection
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from evalkit._consistency import is_name
from evalkit.errors import EvalkitError, UsageError
from evalkit.reading import did_you_mean, printable
from evalkit.season.agents.builtin import RandomAgent, Replayer
from evalkit.season.agents.guard import AgentFault, called
from evalkit.season.agents.model import load_model
from evalkit.season.agents.protocol import Agent
from evalkit.season.agents.replayed import replayer
from evalkit.season.replays import load_bytes, read_replay

__all__ = ["BESIDE", "GROUP", "LoadedAgent", "agents_beside", "load_agent"]

BESIDE = ("agents", "private")
"""Folders of a season whose files are agents: those for everybody to read, and the operator's own."""

GROUP = "evalkit.agents"
"""Of entry points: each names a class, or a function that makes an agent."""


@dataclass(frozen=True, slots=True)
class LoadedAgent:
    """An agent, what it is called, the digest of its code, and what it says of itself.

    `reference`: None, `floor` or `anchor`; `cheats` are boot flags that only an anchor may ask for; a `deterministic`
    agent makes the same choices again when it is given the same seed.
    """

    agent: Agent
    name: str
    digest: str
    reference: str | None = None
    cheats: tuple[str, ...] = ()
    deterministic: bool = False


def agents_beside(root: Path | None) -> dict[str, Path]:
    """The agents that live in a season's folder, by plain name, those of `agents/` first."""
    found: dict[str, Path] = {}
    paths = [path for folder in BESIDE if root is not None for path in sorted((root / folder).glob("*.py"))]
    for path in paths:
        if not path.name.startswith("_") and path.is_file():  # a pipe would be waited for
            found.setdefault(path.stem, path)
    return found


def load_agent(who: str | Agent | type, root: Path | None = None) -> LoadedAgent:
    """Find an agent by reference, or take an object or a class as one. Raises UsageError where it is none.

    `root` is the folder of the season it is to play: `walker` is found in its `agents/walker.py`. A model's or a
    replay's file raises AuthoringError or ReplayError for its own faults.
    """
    named = who if isinstance(who, str) else getattr(who, "__name__", type(who).__name__)
    try:
        return called(_found, who, root) if isinstance(who, str) else called(_taken, who, named)
    except AgentFault as fault:
        if isinstance(fault.error, UsageError):
            raise UsageError(fault.words) from fault
        if isinstance(fault.error, EvalkitError):
            raise fault.error from None
        raise UsageError(f'agent "{printable(named)}" does not load: {printable(fault)}') from fault


def _found(who: str, root: Path | None) -> LoadedAgent:
    if who == RandomAgent.name:
        return _loaded(RandomAgent(), who)
    if who.startswith("replay:"):
        replay = read_replay(load_bytes(who.removeprefix("replay:")))
        return _loaded(replayer(replay), who)
    if who.startswith("model:"):
        loaded = _loaded(load_model(who.removeprefix("model:")), who)
        if loaded.name in (RandomAgent.name, "route", *agents_beside(root)):
            raise UsageError(f'"{printable(loaded.name)}" is another agent here: give the model\'s file another name')
        return loaded
    beside = agents_beside(root)
    found = {point.name: point for point in entry_points(group=GROUP)}
    if who in beside:
        return _loaded(_made(_only_agent(beside[who]), who), who)
    if who in found:
        return _loaded(_made(found[who].load(), who), who)
    if ":" in who:
        module, _, name = who.rpartition(":")
        target: Any = _module(module)
        for part in name.split("."):
            target = getattr(target, part, None)
        if target is None:
            raise UsageError(f'"{printable(who)}": {printable(module)} has no {printable(name)}')
        return _loaded(_made(target, who), who)
    known = ["random", *beside, *found]
    near = (
        did_you_mean(who, known)
        or f": there are {', '.join(known)}, replay:FILE, model:FILE.toml, and module:Class of your own"
    )
    raise UsageError(f'there is no agent "{printable(who)}"{near}')


def _taken(who: Any, named: str) -> LoadedAgent:
    made = _made(who, named)
    return _loaded(made, type(made).__qualname__)


def _only_agent(path: Path) -> type:
    """The one class of a file that plays."""
    module = _module(str(path))
    own = [kind for kind in vars(module).values() if inspect.isclass(kind) and kind.__module__ == module.__name__]
    playing = [kind for kind in own if hasattr(kind, "decide") and hasattr(kind, "reset")]
    if len(playing) != 1:
        raise UsageError(f"{path.parent.name}/{path.name} holds {len(playing) or 'no'} agents: it must hold one class")
    return playing[0]


def _made(target: Any, who: str) -> Any:
    made = target
    if inspect.isclass(target) or not hasattr(target, "decide"):
        if not callable(target):
            raise UsageError(f'"{printable(who)}" is no agent: it needs reset(spec, seed) and decide(observation)')
        made = target()
    if not callable(getattr(made, "decide", None)) or not callable(getattr(made, "reset", None)):
        raise UsageError(f'"{printable(who)}" is no agent: it needs reset(spec, seed) and decide(observation)')
    return made


def _module(name: str) -> ModuleType:
    if not name.endswith(".py"):
        if "" not in sys.path and str(Path.cwd()) not in sys.path:
            sys.path.append(str(Path.cwd()))
        return importlib.import_module(name)
    path = Path(name).resolve()
    known = f"evalkit_agent_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(known, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{printable(name)} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[known] = module
    spec.loader.exec_module(module)
    return module


def _loaded(agent: Any, who: str) -> LoadedAgent:
    name = getattr(agent, "name", None) or who
    if not is_name(name) or len(name) > 200:
        raise UsageError(f"an agent's name is text of 1 to 200 characters, not {printable(repr(name), 60)}")
    reference = getattr(agent, "reference", None)
    if reference is not None and (type(reference) is not str or reference not in ("floor", "anchor")):
        raise UsageError(f'agent {printable(name)}: its reference is {printable(reference)!r}, not "floor" or "anchor"')
    said = getattr(agent, "cheats", ())
    cheats = (None,) if isinstance(said, str) or not isinstance(said, Collection) else tuple(said)
    if not all(type(cheat) is str for cheat in cheats):
        raise UsageError(f'agent {printable(name)}: its cheats are names in a list, as in ("invincible",)')
    return LoadedAgent(
        agent=agent,
        name=str.__str__(name),  # itself, where a class of text has more to it
        digest=_digest(agent),
        reference=reference,
        cheats=cheats,
        deterministic=bool(getattr(agent, "deterministic", False)),
    )


def _digest(agent: Any) -> str:
    """What it says itself, if it does; else over its class's name and source file, and its actions where it has any."""
    own = getattr(agent, "digest", None)
    if own is not None:
        return hashlib.sha256(str(own).encode()).hexdigest()
    total = hashlib.sha256(type(agent).__qualname__.encode())
    try:
        total.update(Path(inspect.getfile(type(agent))).read_bytes())
    except (OSError, TypeError):  # made at a prompt or in a notebook: its name is all there is
        total.update(b"?")
    if isinstance(agent, Replayer):
        total.update(repr([(action.name, action.ticks) for action in agent.actions]).encode())
    return total.hexdigest()
