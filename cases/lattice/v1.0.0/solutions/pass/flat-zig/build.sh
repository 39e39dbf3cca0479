#!/bin/sh
# Leaves engine.wasm here: the same bytes from any folder.
set -eu
export ZIG_GLOBAL_CACHE_DIR="${ZIG_GLOBAL_CACHE_DIR:-$PWD/.zig-cache}" ZIG_LOCAL_CACHE_DIR="${ZIG_LOCAL_CACHE_DIR:-$PWD/.zig-cache}"
python3 -m ziglang build-exe engine.zig -target wasm32-freestanding -O ReleaseFast -fno-entry -fstrip \
    --export=alloc --export=simulate -femit-bin=engine.wasm
