"""Why: an untrusted build runs under this supervisor, so that it ends whole, stays in its folder, and sees no secrets.

Run as a program by `build.py` only: `python -I confine.py ORDER`, ORDER being a JSON object. The supervisor adopts
every process that the command leaves behind, counts their memory together, and ends them all before it exits.
Linux keeps the command in its folder (Landlock); elsewhere the report says `"confined": false`.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import platform
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import psutil

_POLL_S = 0.05
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 36, 38
# Landlock's system calls have one number on every architecture of Linux.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE, _IOCTL_DEV = 1, 2, 4, 8, 1 << 14, 1 << 15
_RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_CONNECT_AND_BIND_TCP = 3
_ABSTRACT_SOCKETS_AND_SIGNALS = 3


_CLONE_NEWNS, _CLONE_NEWUSER = 0x20000, 0x10000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _RDONLY = 442, -100, 0x8000, 1


class _MountAttr(ctypes.Structure):
    _fields_ = [
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("way", ctypes.c_uint64),
        ("user", ctypes.c_uint64),
    ]


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def landlock_abi() -> int:
    """Version of Landlock that this kernel offers; 0 where there is none."""
    if platform.system() != "Linux":
        return 0
    return max(0, int(ctypes.CDLL(None, use_errno=True).syscall(_CREATE_RULESET, None, 0, 1)))


def _restrict(order: dict[str, Any], abi: int) -> None:
    """Confine this process for good: read the listed places, write the given folder only, no TCP unless allowed."""
    libc = ctypes.CDLL(None, use_errno=True)
    rights = max(v for k, v in _RIGHTS_BY_ABI.items() if k <= abi)
    ruleset = _Ruleset(rights, 0, 0)
    size = 8
    if abi >= 4:
        ruleset.net, size = 0 if order["network"] else _CONNECT_AND_BIND_TCP, 16
    if abi >= 6:
        ruleset.scoped, size = _ABSTRACT_SOCKETS_AND_SIGNALS, 24
    handle = libc.syscall(_CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    reading = _EXECUTE | _READ_FILE | _READ_DIR
    devices = (_READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV) & rights
    rules = [(place, reading) for place in order["readable"]]
    rules += [(device, devices) for device in ("/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "/dev/random")]
    rules.append((order["writable"], rights))
    for place, allowed in rules:
        try:
            opened = os.open(place, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # a listed place that this machine does not have
        if not Path(place).is_dir():
            allowed &= ~_READ_DIR
        rule = _PathRule(allowed, opened)
        if libc.syscall(_ADD_RULE, handle, 1, ctypes.byref(rule), 0):
            raise OSError(ctypes.get_errno(), f"Landlock refused a rule for {place}")
        os.close(opened)
    if handle < 0 or libc.syscall(_RESTRICT_SELF, handle, 0):
        raise OSError(ctypes.get_errno(), "Landlock refused the ruleset")


def _freeze(order: dict[str, Any]) -> bool:
    """Give this process its own view of the file system, read-only but for the given folder; False where it may not.

    Landlock governs opening and making files, and not changing their modes, owners or times: a read-only mount does.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(_CLONE_NEWNS | (_CLONE_NEWUSER if user else 0)):
        return False
    if user:  # as the same user in a name space of its own, where mounting is allowed
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    folder = os.fsencode(order["writable"])
    steps = (
        libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None),
        libc.mount(folder, folder, None, _MS_BIND | _MS_REC, None),
        libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, b"/", _AT_RECURSIVE, ctypes.byref(_MountAttr(_RDONLY, 0)), 32),
        libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, folder, 0, ctypes.byref(_MountAttr(0, _RDONLY)), 32),
    )
    return not any(steps)


def _become(order: dict[str, Any], abi: int) -> NoReturn:
    """In the child: take on every limit, then turn into the command."""
    try:
        for limit, value in (
            (resource.RLIMIT_AS, order["memory_bytes"]),
            (resource.RLIMIT_FSIZE, order["file_bytes"]),
            (resource.RLIMIT_CPU, int(order["seconds"]) * 4 + 1),
            (resource.RLIMIT_CORE, 0),
        ):
            resource.setrlimit(limit, (value, value))
        with contextlib.suppress(OSError):  # a second wall: where this kernel refuses it, Landlock stands alone
            _freeze(order)
        os.chdir(order["cwd"])
        if abi:
            ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            _restrict(order, abi)
        os.execvpe(order["argv"][0], order["argv"], order["environment"])
    except FileNotFoundError:
        sys.stderr.write(f"command not found: {order['argv'][0]}\n")
    except OSError as error:
        sys.stderr.write(f"cannot start {order['argv'][0]}: {error}\n")
    sys.stderr.flush()
    os._exit(127)


def _end_all() -> None:
    """Kill whatever is left below this process; orphans come back to it, so it looks until nobody is there.

    All are stopped before any is killed: a stopped process cannot fork, so a fork bomb cannot outrun this.
    """
    me = psutil.Process()
    stopped: set[int] = set()
    while fresh := [p for p in me.children(recursive=True) if p.pid not in stopped]:
        for process in fresh:
            stopped.add(process.pid)
            with contextlib.suppress(psutil.Error):
                process.suspend()
    for pid in stopped:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    while True:  # every one of them, adopted as its parent went, ends here
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


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
    if platform.system() == "Linux":
        libc = ctypes.CDLL(None)
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    signal.signal(signal.SIGTERM, _quit)
    abi = landlock_abi()
    child = os.fork()
    if not child:
        _become(order, abi)
    deadline = time.monotonic() + order["seconds"]
    status, limit, pause = None, None, 0.002
    while status is None and limit is None:
        done, code = os.waitpid(child, os.WNOHANG)
        if done:
            status = os.waitstatus_to_exitcode(code)
        elif (limit := _over(order, deadline)) is None:
            time.sleep(pause)
            pause = min(_POLL_S, pause * 1.5)
    _end_all()
    return {"status": status, "limit": limit, "confined": abi > 0}


if __name__ == "__main__":
    report_to = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the command's output goes to the log, the report alone to standard output
    os.set_inheritable(report_to.fileno(), False)
    json.dump(supervise(json.loads(sys.argv[1])), report_to)
    report_to.close()
