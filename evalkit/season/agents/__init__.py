"""Why: whoever plays is an agent: it is told what there is to do, sees what the game file shows, and names an action.

::

    class Runner:
        name = "runner"

        def reset(self, spec: Spec, seed: int) -> None: ...
        def decide(self, observation: Observation) -> Action: ...
        def usage(self) -> Usage: ...        # optional: tokens and dollars so far; without it they are unknown

A choice that is not legal is the agent's own play: a no-op is played in its place, and counted. So no choice, however
wrong, ends a run early or makes it ungraded. An exception does: there the program failed.

`load_agent` finds one: `random`, `replay:FILE`, `model:FILE.toml` (a language model, see `modelfile`), a file of the
season's `agents/` by its plain name, a name of the entry point group `evalkit.agents`, or `module:Class`. Where a new
price goes, `prices` says.
"""

from evalkit.season.agents.finding import LoadedAgent, agents_beside, load_agent
from evalkit.season.agents.protocol import Action, ActionSpec, Agent, Observation, Spec, Usage

__all__ = [
    "Action",
    "ActionSpec",
    "Agent",
    "LoadedAgent",
    "Observation",
    "Spec",
    "Usage",
    "agents_beside",
    "load_agent",
]
