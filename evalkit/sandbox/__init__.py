"""Why: everything that says wasmtime is in this folder and nothing else is, so that one place decides what fuel means."""
