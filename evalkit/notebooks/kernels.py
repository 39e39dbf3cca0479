"""Why: a notebook runs in the Python that runs the kit, over private sockets, whatever else is installed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["own_kernel"]


@contextmanager
def own_kernel() -> Iterator[dict[str, Any]]:
    """Give papermill's arguments for a kernel of this interpreter, with no ports, so that no two can clash."""
    from ipykernel.kernelspec import RESOURCES, get_kernel_dict
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager
    from traitlets.config import Config

    class OwnKernelManager(AsyncKernelManager):
        """Looks up no kernel by name: a `python3` installed for the user may be another interpreter."""

        @property
        def kernel_spec(self) -> KernelSpec:
            # A kernel that is shut down may log the interrupt on our standard error; what fails is told by papermill.
            quiet = ["--log-level=50"]
            return KernelSpec(resource_dir=RESOURCES, **get_kernel_dict(extra_arguments=quiet))

    config, folder = Config(), None
    if os.name == "posix":
        base = tempfile.gettempdir()
        # A socket's path must stay under 108 bytes, so a long TMPDIR is passed over.
        folder = tempfile.mkdtemp(prefix="evk-", dir=base if len(base) < 60 else "/tmp")
        where = {"transport": "ipc", "ip": f"{folder}/k"}
        config = Config(dict.fromkeys(("KernelManager", "AsyncKernelManager", "OwnKernelManager"), where))
    try:
        yield {
            "kernel_name": "python3",
            "language": "python",
            "kernel_manager_class": OwnKernelManager,
            "config": config,
        }
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
