#!/bin/sh
# Leaves game.wasm here: the same bytes from any folder.
set -eu
export ZIG_GLOBAL_CACHE_DIR="${ZIG_GLOBAL_CACHE_DIR:-$PWD/.zig-cache}" ZIG_LOCAL_CACHE_DIR="${ZIG_LOCAL_CACHE_DIR:-$PWD/.zig-cache}"
"${PYTHON:-python3}" -m ziglang cc -target wasm32-freestanding -std=c11 -O2 -Wall -Wextra -Werror -Wno-c23-extensions \
    -fno-ident -fno-sanitize=undefined -ffreestanding -nostdlib -mbulk-memory \
    -Wl,--no-entry -Wl,--import-memory -Wl,--initial-memory=65536 -Wl,--max-memory=65536 -Wl,--stack,14752 -s \
    -o game.wasm ./*.c
