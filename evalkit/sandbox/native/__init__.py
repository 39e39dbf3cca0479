"""Why: the console's own wasm, built from the sources beside it by `python -m evalkit.sandbox.build_native`."""
