// What every test cart in C shares: the console's functions, and a random stream in memory that the gamepad stirs.
#include <stdint.h>

typedef int32_t i32;
typedef uint32_t u32;

#define CONSOLE(name) __attribute__((import_module("env"), import_name(#name)))
CONSOLE(blit) void blit(i32 sprite, i32 x, i32 y, i32 width, i32 height, i32 flags);
CONSOLE(blitSub) void blitSub(i32 sprite, i32 x, i32 y, i32 width, i32 height, i32 sx, i32 sy, i32 stride, i32 flags);
CONSOLE(line) void line(i32 x1, i32 y1, i32 x2, i32 y2);
CONSOLE(vline) void vline(i32 x, i32 y, i32 length);
CONSOLE(hline) void hline(i32 x, i32 y, i32 length);
CONSOLE(oval) void oval(i32 x, i32 y, i32 width, i32 height);
CONSOLE(rect) void rect(i32 x, i32 y, i32 width, i32 height);
CONSOLE(text) void text(i32 string, i32 x, i32 y);
CONSOLE(textUtf8) void textUtf8(i32 string, i32 bytes, i32 x, i32 y);
CONSOLE(textUtf16) void textUtf16(i32 string, i32 bytes, i32 x, i32 y);
CONSOLE(tone) void tone(i32 frequency, i32 duration, i32 volume, i32 flags);
CONSOLE(diskr) i32 diskr(i32 to, i32 bytes);
CONSOLE(diskw) i32 diskw(i32 from, i32 bytes);

#define BYTE(address) (*(volatile uint8_t *)(address))
#define HALF(address) (*(volatile uint16_t *)(address))

static u32 stream = 0x9e3779b9;

static inline u32 next(void) {
    stream ^= stream << 13;
    stream ^= stream >> 17;
    return stream ^= stream << 5;
}

static inline i32 between(i32 least, i32 most) { return least + (i32)(next() % (u32)(most - least + 1)); }

static inline i32 extreme(void) {
    u32 kind = next() % 4;
    i32 offset = between(0, 40);
    return kind == 0 ? INT32_MAX - offset : kind == 1 ? INT32_MIN + offset : kind == 2 ? between(-1, 1) : (i32)next();
}

// A coordinate: mostly about the screen, at times far from it, at times at the ends of 32 bits.
static inline i32 coordinate(void) {
    u32 kind = next() % 10;
    return kind < 6 ? between(-24, 184) : kind < 8 ? between(-2000, 2000) : extreme();
}

// A size: mostly a sprite's, at times zero, negative, or huge.
static inline i32 size(void) {
    u32 kind = next() % 10;
    return kind < 5 ? between(0, 40) : kind < 8 ? between(-40, 220) : extreme();
}

// Somewhere to read from: the cart's own noise, the screen itself, or the page's last bytes and the end behind them.
static inline i32 pointer(void) {
    u32 kind = next() % 8;
    return kind < 5 ? between(0x4000, 0x4800) : kind < 7 ? between(0xa0, 0x19a0) : between(65500, 65536);
}

static inline void make_noise(void) {
    for (u32 at = 0x4000; at < 0x5000; at++) BYTE(at) = (uint8_t)next();
}

// Once a tick: stir in the pad, draw the colours and at times the system flags anew.
static inline void stir(void) {
    stream ^= (BYTE(0x16) + 1u) * 0x01000193u;
    if (!stream) stream = 1;
    if (next() % 4 == 0) BYTE(0x1f) = (uint8_t)next();
    HALF(0x14) = (uint16_t)next();
}

__attribute__((export_name("start"))) void start(void) { make_noise(); }
