"""Why: the compiler meets hostile bytes in a process of its own, whose memory and processor time the kernel limits.

Run as `python -m evalkit.sandbox.compiler ORDER`, by `engine.compile_module` only; ORDER is a JSON object.
Exit status 0: compiled; 3: the bytes are no acceptable module, standard output says why.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

import wasmtime

from evalkit.sandbox.engine import engine


def main(order_json: str) -> int:
    """Compile `order["source"]` to machine code in `order["target"]`."""
    order = json.loads(order_json)
    seconds, memory = int(order["seconds"]) + 1, order["memory_bytes"]
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds * 2, seconds * 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        module = wasmtime.Module(engine(multi_memory=order["multi_memory"]), Path(order["source"]).read_bytes())
    except wasmtime.WasmtimeError as error:
        sys.stdout.write(" ".join(str(error).split()))
        return 3
    Path(order["target"]).write_bytes(module.serialize())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
