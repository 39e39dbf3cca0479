/* Says that its answer starts 8 bytes before the end of memory and is 16 bytes long. */
#include <stddef.h>
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(name)))

/* Whole new pages, wherever memory ends: enough for an engine that is called once. */
EXPORT("alloc") uintptr_t alloc(size_t length) { return __builtin_wasm_memory_grow(0, (length >> 16) + 1) << 16; }

EXPORT("simulate") uint64_t simulate(const char *text, size_t length) {
    (void)text;
    (void)length;
    uint64_t end = (uint64_t)__builtin_wasm_memory_size(0) << 16;
    return (end - 8) << 32 | 16;
}
