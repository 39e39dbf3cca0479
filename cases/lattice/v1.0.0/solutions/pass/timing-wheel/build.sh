#!/bin/sh
# Leaves engine.wasm here: the same bytes from any folder.
set -eu
export ZIG_GLOBAL_CACHE_DIR="${ZIG_GLOBAL_CACHE_DIR:-$PWD/.zig-cache}" ZIG_LOCAL_CACHE_DIR="${ZIG_LOCAL_CACHE_DIR:-$PWD/.zig-cache}"
python3 -m ziglang cc -target wasm32-freestanding -std=c11 -O3 -flto -mllvm -inline-threshold=1000 -fwrapv -Wall -Wextra -Werror \
    -fno-ident -fno-sanitize=undefined -ffreestanding -nostdlib -msimd128 \
    -Wl,--no-entry -Wl,--export-memory -Wl,--export=alloc -Wl,--export=simulate -s \
    -o engine.wasm memory.c scenario.c layout.c answer.c engine.c
