"""Why: many jobs at once, on this machine or on a cluster, where a job that fails, crashes or hangs fails alone.

`run_jobs` is the one interface to the two engines: pebble here, dask.distributed on many machines.
"""

from __future__ import annotations

import importlib
import multiprocessing
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, as_completed
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

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
        max_workers=max(1, min(workers, len(jobs))),
        context=multiprocessing.get_context("spawn"),
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),  # Ctrl-C is this process's to answer; it then stops the pool
    )
    with ExitStack() as leaving:
        leaving.callback(pool.join)
        leaving.callback(pool.stop)
        futures: dict[Future[Any], str] = {
            pool.schedule(_call, args=[fn, job], timeout=seconds): name for name, job in jobs.items()
        }
        for future in as_completed(futures):
            yield _result(futures[future], future, seconds)


def _call(fn: Callable[..., T], job: Job) -> tuple[T | None, str | None]:
    """In the worker: errors become one line here, so that nothing that does not pickle has to travel."""
    try:
        return fn(**job), None
    except EvalkitError as error:
        return None, str(error)
    except Exception as error:
        return None, " ".join(f"{type(error).__name__}: {error}".split())


def _result(name: str, future: Any, seconds: float | None) -> JobResult[Any]:
    try:
        value, error = future.result()
        return JobResult(name, value, error)
    except TimeoutError:
        return JobResult(name, error=f"it was ended after its {seconds:g} s")
    except Exception as error:  # the worker died: killed by the kernel, or by the code it ran
        return JobResult(name, error=" ".join(f"its process ended: {type(error).__name__}: {error}".split()))


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
