/* Wants a clock from the host; a solution may import nothing. */
#include <stddef.h>
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(name)))

__attribute__((import_module("env"), import_name("now"))) uint64_t now(void);

/* Whole new pages, wherever memory ends: enough for an engine that is called once. */
EXPORT("alloc") uintptr_t alloc(size_t length) { return __builtin_wasm_memory_grow(0, (length >> 16) + 1) << 16; }

EXPORT("simulate") uint64_t simulate(const char *text, size_t length) {
    (void)text;
    (void)length;
    return now();
}
