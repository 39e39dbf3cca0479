"""Why: many jobs at once, on this machine or on a cluster, where a job that fails, crashes or hangs fails alone.

`run_jobs` is the one interface to the two engines: pebble here, dask.distributed on many machines.
"""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, as_completed
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, Generic, TypeVar, cast

from evalkit.errors import EvalkitError, MachineError, UsageError

__all__ = ["Job", "JobResult", "run_jobs"]

Job = dict[str, Any]
"""The keyword arguments of one call."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JobResult(Generic[T]):
    """How one job ended: its value, or one line that says what went wrong."""

    name: str
    value: T | None = None
    error: str | None = None


def run_jobs(
    fn: Callable[..., T],
    jobs: Mapping[str, Job],
    *,
    workers: int = 2,
    seconds: float | None = None,
    scheduler: str | None = None,
) -> Iterator[JobResult[T]]:
    """Call `fn(**job)` for every named job in other processes, and yield each result as it ends, in no fixed order.

    On this machine `workers` processes run and a job that takes longer than `seconds` is killed; a job that fails,
    crashes or hangs fails alone. With `scheduler`, the address of a dask scheduler, jobs run there, and a job must hold
    its own time limit. `fn` and its arguments must pickle. Leaving the loop early ends what still runs.
    """
    if not jobs:
        return
    if scheduler:
        yield from _on_cluster(fn, jobs, scheduler)
        return
    from pebble import ProcessPool

    pool = ProcessPool(
        max_workers=max(1, min(workers, len(jobs))), context=cast(Any, _Workers()), initializer=_begin_worker
    )
    with ExitStack() as leaving:
        leaving.callback(pool.join)
        leaving.callback(pool.stop)
        futures: dict[Future[Any], str] = {
            pool.schedule(_call, args=[fn, job], timeout=seconds): name for name, job in jobs.items()
        }
        for future in as_completed(futures):
            yield _result(futures[future], future, seconds)


class _Worker(SpawnProcess):
    """A process that Ctrl-C does not reach, not even while it starts, and that has no business to end by itself."""

    def start(self) -> None:
        """Start with Ctrl-C held back; a process takes that over from the thread that starts it."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with _no_script():
                super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    @property
    def exitcode(self) -> int | None:
        """Never 0: pebble takes that for a worker that is done, and would wait for its job for ever."""
        return 1 if super().exitcode == 0 else super().exitcode


@contextmanager
def _no_script() -> Iterator[None]:
    """Within the block a new process is not told of the script that runs here.

    It would run it once more, to find what the script defines; a script that sweeps without asking whether it is
    `__main__` would sweep again in each worker. Jobs are the package's own functions, so no worker needs the script.
    """
    main = sys.modules["__main__"].__dict__
    kept: dict[str, Any] = {name: main[name] for name in ("__file__", "__spec__") if name in main}
    main.pop("__file__", None)
    main["__spec__"] = None
    try:
        yield
    finally:
        main.update(kept)


class _Workers(SpawnContext):
    Process = _Worker


def _begin_worker() -> None:
    """In the worker: Ctrl-C is the parent's to answer, who stops the pool; standard output is the parent's too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    with suppress(OSError):  # no standard error, no words
        os.dup2(2, 1)


def _call(fn: Callable[..., T], job: Job) -> tuple[T | None, str | None]:
    """In the worker: errors become one line here, so that nothing that does not pickle has to travel."""
    try:
        return fn(**job), None
    except BaseException as error:  # sys.exit too: whatever is raised here would be raised again in the parent
        return None, _line(error)


def _line(error: BaseException) -> str:
    try:
        return str(error) if isinstance(error, EvalkitError) else " ".join(f"{type(error).__name__}: {error}".split())
    except BaseException:  # what it says is code of the job's own
        return type(error).__name__


def _result(name: str, future: Any, seconds: float | None) -> JobResult[Any]:
    fault = future.exception()
    if fault is None:
        return JobResult(name, *future.result())
    if isinstance(fault, TimeoutError):
        return JobResult(name, error=f"it was ended after its {seconds:g} s")
    return JobResult(name, error=f"its process ended: {_line(fault)}")  # by the kernel, or by the code that it ran


def _on_cluster(fn: Callable[..., T], jobs: Mapping[str, Job], scheduler: str) -> Iterator[JobResult[T]]:
    if not re.fullmatch(r"[\w+.:/\[\]-]+", scheduler):
        raise UsageError("the address of a dask scheduler looks like tcp://10.0.0.5:8786")
    try:
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise UsageError('a scheduler needs dask: install it with pip install "evalkit[cluster]"') from error
    try:
        client = distributed.Client(scheduler, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise MachineError(f"no dask scheduler answers at {scheduler}: {' '.join(str(error).split())}") from error
    with client:
        futures = {client.submit(_call, fn, job, pure=False, retries=0): name for name, job in jobs.items()}
        for future in distributed.as_completed(list(futures), loop=client.loop):
            yield _result(futures[future], future, None)
