/* A heap that only grows: one call, one answer, nothing to give back. */
#include "lattice.h"

enum { PAGE = 65536, GROW_PAGES = 64, SLACK = 64 }; /* slack: vector loads may look past the end of what they read */

extern unsigned char __heap_base;
uintptr_t heap_top, heap_limit;

void heap_grow(size_t bytes) {
    if (heap_top == 0) {
        heap_top = ((uintptr_t)&__heap_base + 15) & ~(uintptr_t)15;
        heap_limit = (uintptr_t)__builtin_wasm_memory_size(0) * PAGE - SLACK;
    }
    if (bytes <= heap_limit - heap_top) return;
    size_t pages = (bytes - (heap_limit - heap_top) + PAGE - 1) / PAGE;
    size_t grown = pages > GROW_PAGES ? pages : GROW_PAGES;
    if (__builtin_wasm_memory_grow(0, grown) == (size_t)-1) {
        grown = pages; /* close to the cap: ask for no more than is needed */
        if (__builtin_wasm_memory_grow(0, grown) == (size_t)-1) __builtin_trap();
    }
    heap_limit += grown * PAGE;
}

void *reserve(size_t bytes) {
    if (bytes > (size_t)1 << 30) __builtin_trap();
    bytes = (bytes + 15) & ~(size_t)15;
    heap_ensure(bytes);
    void *start = (void *)heap_top;
    heap_top += bytes;
    return start;
}

__attribute__((export_name("alloc"))) void *alloc(size_t length) { return reserve(length + 32); }

/* The compiler may ask for these; nothing hot does. */
void *memset(void *to, int value, size_t count) {
    for (size_t i = 0; i < count; i++) ((volatile char *)to)[i] = (char)value;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t count) {
    for (size_t i = 0; i < count; i++) ((volatile char *)to)[i] = ((const char *)from)[i];
    return to;
}
