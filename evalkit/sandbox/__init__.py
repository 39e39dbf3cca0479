"""Why: everything that says wasmtime is in this folder, so that one place decides what fuel means."""
