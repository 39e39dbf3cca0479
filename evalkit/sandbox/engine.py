"""Why: one deterministic wasmtime configuration, so that a module burns the same fuel on an input anywhere.

Nothing here knows of cases or games. `compile_module` treats its bytes as hostile: it compiles in a child process
under limits of size, time and memory, once for each digest, and keeps the machine code in a cache of its own.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

import wasmtime

from evalkit.errors import MachineError
from evalkit.sandbox.probes import PROBES

__all__ = [
    "CompileLimits",
    "InvalidModule",
    "compile_module",
    "default_cache",
    "engine",
    "engine_name",
    "fuel_schedule",
    "interruptible",
    "probe_fuels",
]

MAX_WASM_STACK = 1 << 20
"""Bytes of native stack for wasm. How deep that reaches depends on the host's code generator, so it is no score."""

_TICK_S = 0.05


class InvalidModule(Exception):
    """The bytes are no module that this configuration accepts. The solution's failure: graders turn it into a value."""


@dataclass(frozen=True, slots=True)
class CompileLimits:
    """What compiling one module may take: bytes of wasm, seconds of wall time, bytes of address space."""

    module_bytes: int = 16 << 20
    seconds: float = 60.0
    memory_bytes: int = 4 << 30


def _config(multi_memory: bool) -> wasmtime.Config:
    config = wasmtime.Config()
    config.consume_fuel = True
    config.epoch_interruption = True
    config.cranelift_nan_canonicalization = True
    config.cranelift_opt_level = "speed"
    config.max_wasm_stack = MAX_WASM_STACK
    for on in ("bulk_memory", "multi_value", "reference_types", "simd"):
        setattr(config, f"wasm_{on}", True)
    # Sign extension and saturating conversion are part of every configuration that wasmtime offers; no switch exists.
    for off in (
        "threads", "relaxed_simd", "memory64", "tail_call", "function_references", "gc", "exceptions",
        "custom_page_sizes", "wide_arithmetic", "stack_switching",
    ):  # fmt: skip
        setattr(config, f"wasm_{off}", False)
    config.wasm_multi_memory = multi_memory
    return config


@cache
def _engine(multi_memory: bool) -> wasmtime.Engine:
    return wasmtime.Engine(_config(multi_memory))


def engine(*, multi_memory: bool = False) -> wasmtime.Engine:
    """The engine of this process. Only the game console may ask for `multi_memory`."""
    return _engine(multi_memory)


def engine_name() -> str:
    """The engine and its version, as recorded beside every fuel count: `wasmtime 50.0.1`."""
    return f"wasmtime {version('wasmtime')}"


@cache
def probe_fuels() -> dict[str, int]:
    """Fuel of each probe: a small function that exercises one kind of instruction (see `probes.py`)."""
    module = wasmtime.Module(engine(), bytes(wasmtime.wat2wasm(PROBES)))
    fuels: dict[str, int] = {}
    for export in module.exports:
        if not isinstance(export.type, wasmtime.FuncType):
            continue
        store = wasmtime.Store(engine())
        store.set_epoch_deadline(1 << 40)
        store.set_fuel(1 << 40)
        probe = wasmtime.Instance(store, module, []).exports(store)[export.name]
        assert isinstance(probe, wasmtime.Func)
        store.set_fuel(1 << 40)
        probe(store)
        fuels[export.name] = (1 << 40) - store.get_fuel()
    return fuels


@cache
def fuel_schedule() -> str:
    """First 16 hex digits of the SHA-256 of the probes' fuels: runs compare only where this agrees."""
    text = json.dumps(probe_fuels(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _Clock:
    """Moves the epoch of every engine of this process while some call is under way: the second guard beside fuel."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = 0
        self._wake = threading.Event()
        self._pid = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        with self._lock:
            self._calls += 1
            if self._pid != os.getpid():  # first call here, or in a process forked from one that had the thread
                self._pid = os.getpid()
                self._wake = threading.Event()
                threading.Thread(target=self._tick, daemon=True, name="evalkit-epoch").start()
            self._wake.set()
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                if not self._calls:
                    self._wake.clear()

    def _tick(self) -> None:
        pause = threading.Event()
        while True:
            self._wake.wait()
            pause.wait(_TICK_S)
            engine().increment_epoch()
            engine(multi_memory=True).increment_epoch()


_clock = _Clock()


@contextmanager
def interruptible(store: wasmtime.Store, seconds: float) -> Iterator[None]:
    """Within the block, wasm in `store` traps with `interrupt` once about `seconds` of wall time have passed."""
    with _clock.running():
        store.set_epoch_deadline(int(seconds / _TICK_S) + 2)
        yield


def compile_module(
    wasm: bytes,
    *,
    multi_memory: bool = False,
    limits: CompileLimits | None = None,
    cache_dir: Path | None = None,
) -> wasmtime.Module:
    """Compile hostile bytes once and remember the result by their digest.

    `cache_dir` defaults to `$EVALKIT_CACHE`, else `evalkit/` under the user's cache folder.
    Raises InvalidModule where the bytes are no acceptable module or more than `limits.module_bytes`, MachineError
    where compiling took too long or too much memory here (another machine may manage it).
    """
    limits = limits or CompileLimits()
    if len(wasm) > limits.module_bytes:
        raise InvalidModule(f"the module has {len(wasm):,} bytes, more than the {limits.module_bytes:,} allowed")
    if not wasm.startswith(b"\0asm"):  # wasmtime would also take text, whose sections nobody could then read
        raise InvalidModule("the file does not begin as a WebAssembly binary does (00 61 73 6d)")
    folder = (cache_dir or default_cache()) / "modules"
    name = hashlib.sha256(wasm).hexdigest()
    kept = folder / f"{name}-{_config_digest()}{'-mm' if multi_memory else ''}.cwasm"
    host = engine(multi_memory=multi_memory)
    if module := _kept_module(host, kept):
        return module
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _alone(kept.with_suffix(".lock")), tempfile.TemporaryDirectory(dir=folder) as work:
            if module := _kept_module(host, kept):  # another process made it while this one waited
                return module
            source, target = Path(work, "in.wasm"), Path(work, "out.cwasm")
            source.write_bytes(wasm)
            _compile_in_child(source, target, multi_memory, limits)
            target.replace(kept)
        return wasmtime.Module.deserialize_file(host, str(kept))
    except wasmtime.WasmtimeError as error:
        raise MachineError(f"this machine cannot load a compiled module: {' '.join(str(error).split())}") from error
    except OSError as error:
        raise MachineError(f"cannot keep compiled modules in {folder}: {error.strerror}; set EVALKIT_CACHE") from error


def _kept_module(host: wasmtime.Engine, kept: Path) -> wasmtime.Module | None:
    if kept.exists():
        # An error: it was made on another processor, or cut short. It is made again then.
        with suppress(wasmtime.WasmtimeError):
            return wasmtime.Module.deserialize_file(host, str(kept))
    return None


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """One process at a time within the block, so that many jobs with one module compile it once."""
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def default_cache() -> Path:
    """Where what can be made again is kept: `$EVALKIT_CACHE`, else `evalkit/` under the user's cache folder."""
    if chosen := os.environ.get("EVALKIT_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evalkit"


@cache
def _config_digest() -> str:
    """What the kept machine code depends on: the engine's version and this file, which holds the configuration."""
    return hashlib.sha256(engine_name().encode() + Path(__file__).read_bytes()).hexdigest()[:12]


def _compile_in_child(source: Path, target: Path, multi_memory: bool, limits: CompileLimits) -> None:
    order = {"source": str(source), "target": str(target), "multi_memory": multi_memory, **asdict(limits)}
    command = [sys.executable, "-P", "-m", "evalkit.sandbox.compiler", json.dumps(order)]
    path = os.pathsep.join(p for p in (str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")) if p)
    environment = {**os.environ, "PYTHONPATH": path}
    try:
        child = subprocess.run(
            command, capture_output=True, timeout=limits.seconds, check=False, stdin=subprocess.DEVNULL, env=environment
        )
    except subprocess.TimeoutExpired as error:
        raise MachineError(f"compiling the module took more than {limits.seconds:g} s on this machine") from error
    if child.returncode == 3:
        raise InvalidModule(child.stdout.decode(errors="replace").strip())
    if child.returncode != 0 or not target.exists():
        tail = child.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
        allowed = f"{limits.memory_bytes >> 20:,} MiB"
        raise MachineError(f"compiling the module failed here ({allowed} of memory allowed): {tail[0]}")
