"""Why: a solution's or a game's own commands make a module of its source; they are untrusted: they run here alone.

The folder is copied clean; the commands see that copy, a few read-only system places and an allow-listed environment;
what they start is ended whole. A build that fails is a value with the tail of its log.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from evalkit.building.commands import Build, Command
from evalkit.errors import MachineError, UsageError

__all__ = ["BuildLimits", "BuildResult", "build_solution", "solution_digest", "solution_files"]

_NOT_SOURCE = {".git", ".hg", ".zig-cache", "zig-out", "__pycache__", "node_modules", ".DS_Store", "solution.toml"}
_TAIL_BYTES = 4000
_MOST_SOURCE_BYTES = 256 << 20
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/etc", "/nix", "/sys/devices/system/cpu")
# Of /proc only what names no process: another process's environment may hold the operator's secrets.
_PROC = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", "/proc/sys/vm/overcommit_memory")


@dataclass(frozen=True, slots=True)
class BuildLimits:
    """What one command may take: seconds, bytes of memory (all together), processes, bytes of a file."""

    seconds: float = 300.0
    memory_bytes: int = 8 << 30
    processes: int = 512
    file_bytes: int = 1 << 30
    module_bytes: int = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """The module's bytes, or None with a reason and one line of detail. `log` is the tail of what they printed."""

    module: bytes | None = None
    reason: str | None = None
    detail: str | None = None
    log: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def digest(self) -> str | None:
        """Hex SHA-256 of the module, or None."""
        return None if self.module is None else hashlib.sha256(self.module).hexdigest()


def solution_files(folder: Path) -> Iterator[Path]:
    """Every file and link that is source, in a stable order. Caches and `solution.toml` (words about it) are not.

    Raises UsageError where the folder is missing or holds something that cannot be copied (a socket, a device).
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such solution folder")
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _NOT_SOURCE)
        links = [name for name in folders if Path(parent, name).is_symlink()]
        for name in sorted(files + links):
            path = Path(parent, name)
            if name in _NOT_SOURCE:
                continue
            if not path.is_symlink() and not stat.S_ISREG(path.lstat().st_mode):
                raise UsageError(f"{path}: neither a file nor a link; a solution is plain files")
            yield path


def solution_digest(folder: Path) -> str:
    """Hex SHA-256 over every source file's relative name, kind, mode bit and bytes. Raises UsageError as above."""
    total, size = hashlib.sha256(), 0
    for path in solution_files(folder):
        try:
            status = path.lstat()
            link = stat.S_ISLNK(status.st_mode)
            size += status.st_size
            if size > _MOST_SOURCE_BYTES:
                raise UsageError(
                    f"{folder}: holds more than {_MOST_SOURCE_BYTES >> 20} MiB; leave out what is not source"
                )
            body = os.fsencode(path.readlink()) if link else path.read_bytes()
            kind = "link" if link else "exec" if status.st_mode & stat.S_IXUSR else "file"
        except OSError as error:
            raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
        name = path.relative_to(folder).as_posix()
        total.update(json.dumps([name, kind, len(body)]).encode() + b"\n" + body)  # odd names: escaped, all ASCII
    return total.hexdigest()


def build_solution(folder: Path, build: Build, *, limits: BuildLimits | None = None) -> BuildResult:
    """Run the manifest's commands in a clean copy of `folder` and return the module they leave.

    `install` may reach the network, `build` may not (where the kernel can refuse it). Raises UsageError where the
    folder is no solution, MachineError where this machine cannot run a build at all.
    """
    limits = limits or BuildLimits()
    with _scratch() as scratch:
        work = scratch / "work"
        copy = work / "solution"
        copy.mkdir(parents=True)
        identity = _identity(copy)
        for path in solution_files(folder):
            target = copy / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target, follow_symlinks=False)
        for name in ("home", "tmp"):
            (work / name).mkdir()
        log = scratch / "log"
        confined = True
        steps = [("install", build.install), ("build", build.build)]
        for step, command in steps:
            if command is None:
                continue
            report = _run(command, work, log, limits, network=step == "install")
            confined = report["confined"] is True
            if report["status"] != 0:
                ended = f"the {step} command {_ending(report)}"
                return BuildResult(reason="build_failed", detail=ended, log=_tail(log), warnings=_warn(confined))
        if _identity(copy) != identity:  # a link put in its place would lead to another solution's module
            detail = "the build moved or replaced the folder that it runs in"
            return BuildResult(reason="build_failed", detail=detail, log=_tail(log), warnings=_warn(confined))
        return _collect(copy, build.module, log, limits, _warn(confined))


@contextmanager
def _scratch() -> Iterator[Path]:
    """A private folder, removed afterwards whatever a build has left in it: too deep, unreadable, whatever."""
    folder = Path(tempfile.mkdtemp(prefix="evalkit-build-"))
    try:
        yield folder
    finally:
        try:
            shutil.rmtree(folder)
        except (OSError, RecursionError):
            subprocess.run(["chmod", "-R", "u+rwX", str(folder)], capture_output=True, check=False)
            subprocess.run(["rm", "-rf", str(folder)], capture_output=True, check=False)


def _identity(folder: Path) -> tuple[int, int] | None:
    """Which folder this is, whatever its name leads to; None for a link and where there is nothing."""
    try:
        status = folder.lstat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISDIR(status.st_mode) else None


def _collect(copy: Path, name: str, log: Path, limits: BuildLimits, warnings: tuple[str, ...]) -> BuildResult:
    module = copy / name
    try:
        inside = module.resolve(strict=True).is_relative_to(copy.resolve()) and module.is_file()
        size = module.stat().st_size if inside else 0
    except (OSError, RuntimeError):
        inside, size = False, 0
    if not inside:
        detail = f"the build ended well but left no file {name}"
        return BuildResult(reason="build_failed", detail=detail, log=_tail(log), warnings=warnings)
    if size > limits.module_bytes:
        detail = f"the module has {size:,} bytes, more than the {limits.module_bytes:,} allowed"
        return BuildResult(reason="invalid_module", detail=detail, log=_tail(log), warnings=warnings)
    return BuildResult(module=module.read_bytes(), log=_tail(log), warnings=warnings)


def _run(command: Command, work: Path, log: Path, limits: BuildLimits, *, network: bool) -> dict[str, object]:
    order = {
        "argv": ["/bin/sh", "-c", command] if isinstance(command, str) else list(command),
        "cwd": str(work / "solution"),
        "environment": _environment(work),
        "readable": _readable(),
        "writable": str(work),
        "network": network,
        "seconds": limits.seconds,
        "memory_bytes": limits.memory_bytes,
        "processes": limits.processes,
        "file_bytes": limits.file_bytes,
    }
    supervisor = [sys.executable, "-P", "-m", "evalkit.building.confine", json.dumps(order)]
    environment = {"PATH": os.defpath, "PYTHONPATH": str(Path(__file__).parents[2])}
    with log.open("ab") as sink:
        process = subprocess.Popen(
            supervisor, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=sink, start_new_session=True,
            env=environment,
        )  # fmt: skip
        try:
            # The supervisor keeps its own clock; the wider one here only guards against the supervisor itself.
            said, _ = process.communicate(timeout=limits.seconds + 60)
        except subprocess.TimeoutExpired as error:
            raise MachineError("the build's supervisor did not end in time; try again") from error
        finally:  # Ctrl-C too: asked to end, it takes everything that the build started along
            if process.poll() is None:
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(10)
                process.kill()
    try:
        report: dict[str, object] = json.loads(said)
    except ValueError as error:
        raise MachineError(
            f"the build's supervisor ended with status {process.returncode}: {_tail(log)[-300:]}"
        ) from error
    return report


def _environment(work: Path) -> dict[str, str]:
    """All that a build sees of the operator's environment: where programs are. No secret passes."""
    programs = [str(Path(sys.executable).parent), sysconfig.get_path("scripts")]
    return {
        "PATH": os.pathsep.join(dict.fromkeys([*programs, *os.environ.get("PATH", os.defpath).split(os.pathsep)])),
        "HOME": str(work / "home"),
        "TMPDIR": str(work / "tmp"),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "SOURCE_DATE_EPOCH": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _readable() -> list[str]:
    """Where programs and their libraries lie; `EVALKIT_BUILD_READABLE` adds toolchains that live elsewhere."""
    extra = [place for place in os.environ.get("EVALKIT_BUILD_READABLE", "").split(os.pathsep) if place]
    own = [sys.prefix, sys.base_prefix, os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix)]
    return list(dict.fromkeys([*_SYSTEM, *_PROC, *own, *extra]))


def _ending(report: dict[str, object]) -> str:
    if report["limit"]:
        return f"was ended at its {report['limit']}"
    status = report["status"]
    if isinstance(status, int) and status < 0:
        return f"was killed by signal {-status}"
    return f"ended with status {status}" + (" (command not found)" if status == 127 else "")


def _warn(confined: bool) -> tuple[str, ...]:
    return () if confined else ("the build could write outside its folder: this kernel has no Landlock",)


def _tail(log: Path) -> str:
    with log.open("rb") as text:
        text.seek(max(0, log.stat().st_size - _TAIL_BYTES))
        return text.read().decode(errors="replace")
