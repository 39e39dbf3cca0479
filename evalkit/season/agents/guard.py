"""Why: an agent's program may raise anything, even what cannot be printed; the kit goes on, and says what it was."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing import parent_process
from typing import Any, TypeVar

from evalkit.reading import printable

__all__ = ["AgentFault", "called"]

T = TypeVar("T")


class AgentFault(Exception):
    """What an agent's program raised, in one line: `error`, and `words`, which is what it says without its type."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        try:
            self.words = printable(str(error), 400)
        except BaseException:  # its own code again
            self.words = "(it cannot say why)"
        super().__init__(printable(f"{type(error).__name__}: {self.words}", 400))


def called(program: Callable[..., T], *given: Any) -> T:
    """Call into an agent's program. Raises AgentFault for whatever that raises, `sys.exit` and the like included.

    Ctrl-C goes through in the main process, where it is a person's; in a worker, which never gets one, it is not.
    """
    try:
        return program(*given)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and parent_process() is None:
            raise
        raise AgentFault(error) from error
