"""Why: what the kernel is asked for before an untrusted command starts, each wall for what the others leave open.

Name spaces take away the sight of other processes, the network and every writable place; Landlock takes away reading
what is not listed; dropped capabilities leave root no privilege. A kernel may refuse any of them: `confine` says so.
"""

from __future__ import annotations

import ctypes
import os
import platform
from pathlib import Path
from typing import Any

__all__ = ["drop_capabilities", "enter_name_spaces", "freeze_files", "landlock", "landlock_abi"]

# Landlock's system calls have one number on every architecture of Linux, and so has mount_setattr.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE, _IOCTL_DEV = 1, 2, 4, 8, 1 << 14, 1 << 15
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_CONNECT_AND_BIND_TCP = 3
_ABSTRACT_SOCKETS_AND_SIGNALS = 3

_NEW_FILES, _NEW_USERS, _NEW_PROCESSES, _NEW_IPC, _NEW_NETWORK = 1 << 17, 1 << 28, 1 << 29, 1 << 27, 1 << 30
_MS_BIND, _MS_REC, _MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _RDONLY = 442, -100, 0x8000, 1
_PR_CAPBSET_DROP, _PR_CAP_AMBIENT, _CLEAR_ALL = 24, 47, 4


class _MountAttr(ctypes.Structure):
    _fields_ = [
        ("set", ctypes.c_uint64), ("clear", ctypes.c_uint64), ("way", ctypes.c_uint64), ("user", ctypes.c_uint64)
    ]  # fmt: skip


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def enter_name_spaces(network: bool) -> bool:
    """Leave this process's view of processes, shared memory, mounts and, without `network`, interfaces.

    The next child is the first process of the new view, and all end with it. False, with nothing changed, where the
    kernel grants none.
    """
    if platform.system() != "Linux":
        return False
    user, group = os.geteuid(), os.getegid()
    wanted = _NEW_FILES | _NEW_PROCESSES | _NEW_IPC | (0 if network else _NEW_NETWORK) | (_NEW_USERS if user else 0)
    if _libc().unshare(wanted):
        return False
    if user:  # as the same user, in a space of its own in which mounting is allowed
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True


def freeze_files(writable: str, network: bool) -> None:
    """Make every file system read-only but the given folder, in a new view of mounts.

    Landlock governs opening and making files, and not changing their modes, owners or times: a read-only mount does.
    Without `network` the sockets of local services, in /run, are hidden too. What the kernel refuses is left as it is.
    """
    libc, folder = _libc(), os.fsencode(writable)
    libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None)
    libc.mount(b"proc", b"/proc", b"proc", 0, None)
    if not network:
        libc.mount(b"none", b"/run", b"tmpfs", 0, None)
    libc.mount(folder, folder, None, _MS_BIND | _MS_REC, None)
    libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, b"/", _AT_RECURSIVE, ctypes.byref(_MountAttr(_RDONLY, 0)), 32)
    libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, folder, 0, ctypes.byref(_MountAttr(0, _RDONLY)), 32)


def drop_capabilities() -> None:
    """Give up, for this process and all that it starts, every privilege of root beyond owning root's files."""
    if platform.system() == "Linux":
        libc = _libc()
        for capability in range(64):
            libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
        libc.prctl(_PR_CAP_AMBIENT, _CLEAR_ALL, 0, 0, 0)


def landlock_abi() -> int:
    """Version of Landlock that this kernel offers; 0 where there is none."""
    if platform.system() != "Linux":
        return 0
    return max(0, int(_libc().syscall(_CREATE_RULESET, None, 0, 1)))


def landlock(readable: list[str], writable: str, network: bool) -> None:
    """Confine this process for good: read the listed places, write the given folder only, no TCP unless allowed."""
    libc, abi = _libc(), landlock_abi()
    rights = max(v for k, v in _RIGHTS_BY_ABI.items() if k <= abi)
    ruleset = _Ruleset(rights, 0, 0)
    size = 8
    if abi >= 4:
        ruleset.net, size = 0 if network else _CONNECT_AND_BIND_TCP, 16
    if abi >= 6:
        ruleset.scoped, size = _ABSTRACT_SOCKETS_AND_SIGNALS, 24
    handle = libc.syscall(_CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    reading = _EXECUTE | _READ_FILE | _READ_DIR
    devices = (_READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV) & rights
    rules = [(place, reading) for place in readable]
    rules += [(device, devices) for device in ("/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "/dev/random")]
    rules.append((writable, rights & ~(_MAKE_CHAR | _MAKE_BLOCK)))  # a device made there would be a way to the disk
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
