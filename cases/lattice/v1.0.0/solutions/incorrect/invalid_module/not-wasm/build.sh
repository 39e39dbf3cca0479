#!/bin/sh
set -eu
printf 'this is no WebAssembly module\n' > engine.wasm
