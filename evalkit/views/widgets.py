"""Why: one name under which all that lives in a notebook is found: to browse, to ask "what if", to watch.

`console(store)` and `whatif(what)` are the workbench; `replay` plays a season's run and `factory` a case's. Each works
by keyboard and leaves its figures as DataFrames.
"""

from evalkit.views.console import Console, console
from evalkit.views.player import Player
from evalkit.views.player import show as factory
from evalkit.views.seasons.player import ReplayPlayer
from evalkit.views.seasons.player import show as replay
from evalkit.views.whatif import Board, whatif

__all__ = ["Board", "Console", "Player", "ReplayPlayer", "console", "factory", "replay", "whatif"]
