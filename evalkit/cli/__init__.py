"""Why: the verbs, for a shell and for scripts: one JSON document with `--json`, one line where something is wrong.

Exit status: 0 did it, and it passed, verified or is clean; 1 did it, and it did not; 2 could not do it.
"""

from __future__ import annotations

import errno
import io
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from evalkit.cli.arguments import parse
from evalkit.cli.output import line
from evalkit.errors import AuthoringError, EvalkitError

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit status. Never raises and never shows a traceback."""
    status = _run(argv)
    if argv is None and any(not t.daemon and t is not threading.main_thread() for t in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):  # threads that an agent has left would hold up the end
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(status)
    return status


def _run(argv: Sequence[str] | None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a letter shows its number
            stream.reconfigure(errors="backslashreplace")
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "standard output is closed")
        try:
            arguments = parse(sys.argv[1:] if argv is None else argv)
        except SystemExit as ended:  # argparse, after --help or its own one line; from anywhere else it is a fault
            return int(ended.code or 0)
        module, function = arguments.run.split(":")
        status: int = getattr(import_module(f"evalkit.cli.{module}"), function)(arguments)
        sys.stdout.flush()
        return status
    except AuthoringError as error:
        more = len(error.faults) - 1
        text = f"{error.faults[0]} (and {more} more: `evalkit check` lists all)" if more > 0 else str(error)
        return _fail(text)
    except EvalkitError as error:
        return _fail(str(error))
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _fail("interrupted; what had finished is stored")
    except OSError as error:
        return _fail(f"{error.filename or 'the system'}: {error.strerror or error}")
    except (Exception, SystemExit) as error:
        if os.environ.get("EVALKIT_TRACEBACK"):
            raise
        return _fail(f"a fault in evalkit itself: {type(error).__name__}: {error}; EVALKIT_TRACEBACK=1 shows where")


def _fail(text: str) -> int:
    print(f"evalkit: {line(text, 2000)}", file=sys.stderr)
    return 2
