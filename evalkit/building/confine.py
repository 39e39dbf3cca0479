"""Why: an untrusted build runs under this supervisor, so that it ends whole, stays in its folder, and sees no secrets.

Run as a program by `build.py` only: `python -m evalkit.building.confine ORDER`, ORDER being a JSON object. The command
is the child of the first process of a name space of its own where the kernel grants one, so that all it starts ends
with that process; elsewhere the supervisor adopts what the command leaves behind and ends it, one by one.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import platform
import resource
import select
import signal
import sys
import time
from typing import Any, NoReturn

import psutil

from evalkit.building import walls

_POLL_S = 0.05
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 36, 38


def _prctl(what: int, value: int) -> None:
    if platform.system() == "Linux":
        ctypes.CDLL(None).prctl(what, value, 0, 0, 0)


def _become(order: dict[str, Any]) -> NoReturn:
    """In the innermost child: take on every limit, then turn into the command."""
    try:
        for limit, value in (
            (resource.RLIMIT_AS, order["memory_bytes"]),
            (resource.RLIMIT_FSIZE, order["file_bytes"]),
            (resource.RLIMIT_CPU, int(order["seconds"]) * 4 + 1),
            (resource.RLIMIT_CORE, 0),
        ):
            resource.setrlimit(limit, (value, value))
        os.chdir(order["cwd"])
        walls.drop_capabilities()
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        if walls.landlock_abi():
            walls.landlock(order["readable"], order["writable"], order["network"])
        os.execvpe(order["argv"][0], order["argv"], order["environment"])
    except FileNotFoundError:
        sys.stderr.write(f"command not found: {order['argv'][0]}\n")
    except OSError as error:
        sys.stderr.write(f"cannot start {order['argv'][0]}: {error}\n")
    sys.stderr.flush()
    os._exit(127)


def _stage(order: dict[str, Any], report_to: int) -> NoReturn:
    """In the supervisor's child: build the walls, start the command inside, and report its status when it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    inside = False
    with contextlib.suppress(OSError):
        inside = walls.enter_name_spaces(order["network"])
    if inside:
        first = os.fork()
        if first:
            os.waitpid(first, 0)
            os._exit(0)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        walls.freeze_files(order["writable"], order["network"])
    command = os.fork()
    if not command:
        os.close(report_to)
        _become(order)
    while True:  # the first process of a name space is the one that orphans come to
        done, code = os.waitpid(-1, 0)
        if done == command:
            os.write(report_to, str(os.waitstatus_to_exitcode(code)).encode())
            os._exit(0)


def _end_all() -> None:
    """Kill whatever is left below this process; orphans come back to it, so it looks until nobody is there.

    A name space ends with its first process. Without one, each is stopped before it is killed, in every pass, so that
    what forks has the least time to.
    """
    me = psutil.Process()
    while below := me.children(recursive=True):
        for process in below:
            with contextlib.suppress(psutil.Error):
                process.suspend()
        for process in below:
            with contextlib.suppress(psutil.Error):
                process.kill()
        _reap()
        time.sleep(0.001)


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _usage() -> tuple[int, int]:
    """Resident bytes, and how many processes, of everything below this one."""
    below = psutil.Process().children(recursive=True)
    total = 0
    for process in below:
        with contextlib.suppress(psutil.Error):
            total += process.memory_info().rss
    return total, len(below)


def _over(order: dict[str, Any], deadline: float) -> str | None:
    if time.monotonic() > deadline:
        return f"time limit of {order['seconds']:g} s"
    resident, processes = _usage()
    if resident > order["memory_bytes"]:
        return f"memory limit of {order['memory_bytes'] >> 20:,} MiB"
    if processes > order["processes"]:
        return f"limit of {order['processes']} processes"
    return None


def _quit(*_: object) -> NoReturn:
    """The harness is gone or gives up: take the build along."""
    _end_all()
    os._exit(143)


def supervise(order: dict[str, Any]) -> dict[str, Any]:
    """Run `order["argv"]` and report `{"status", "limit", "confined"}`; `limit` is what ended it, or None."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.signal(signal.SIGTERM, _quit)
    status_from, status_to = os.pipe()
    child = os.fork()
    if not child:
        os.close(status_from)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _stage(order, status_to)
    os.close(status_to)
    deadline, pause = time.monotonic() + order["seconds"], 0.002
    limit = None
    while limit is None and not select.select([status_from], [], [], pause)[0]:
        _reap()
        limit = _over(order, deadline)
        pause = min(_POLL_S, pause * 1.5)
    said = b"" if limit else os.read(status_from, 16)
    _end_all()
    # Nothing said, and no limit met: something outside ended the stage itself.
    status = int(said) if said else None if limit else -signal.SIGKILL
    return {"status": status, "limit": limit, "confined": walls.landlock_abi() > 0}


if __name__ == "__main__":
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the command's output goes to the log, the report alone to standard output
    os.set_inheritable(report.fileno(), False)
    json.dump(supervise(json.loads(sys.argv[1])), report)
    report.close()
