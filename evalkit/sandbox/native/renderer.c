// The console's draw functions, on the memory page of the game that calls them.
//
// Written from the documented ABI and from what the original web runtime was seen to draw (tests/console compares the
// two, pixel for pixel); no line of it comes from that runtime. The page belongs to the game: this module brings no
// data and keeps no stack there, so every value lives in wasm locals, and the font is code (see font.h).
// Numbers: arguments are signed 32-bit; sums are taken in 64 bits and ovals in doubles, as the original adds them.

#include <stdbool.h>
#include <stdint.h>

#include "font.h"

#define EXPORT(name) __attribute__((export_name(#name))) void name

typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef uint8_t u8;

enum { SIDE = 160, PAGE = 65536, DRAW_COLORS = 0x14, FRAMEBUFFER = 0xa0 };
enum { BLIT_2BPP = 1, BLIT_FLIP_X = 2, BLIT_FLIP_Y = 4, BLIT_ROTATE = 8 };

// A byte of the game's page; outside of it everything reads as zero.
static u32 peek(i64 at) { return at >= 0 && at < PAGE ? *(volatile u8 *)(u32)at : 0; }

// The four draw colours, four bits each: 0 draws nothing, n draws palette entry (n - 1) mod 4.
static u32 colors(void) { return peek(DRAW_COLORS) | peek(DRAW_COLORS + 1) << 8; }

static u32 slot(u32 all, u32 n) { return all >> (4 * n) & 15; }

static void plot(u32 x, u32 y, u32 color) {  // x and y are on the screen, color is not 0
    u8 *byte = (u8 *)(FRAMEBUFFER + (y * SIDE + x) / 4);
    u32 shift = 2 * (x & 3);
    *byte = (u8)((*byte & ~(3u << shift)) | ((color - 1) & 3) << shift);
}

static void dot(i64 x, i64 y, u32 color) {
    if (color && x >= 0 && x < SIDE && y >= 0 && y < SIDE) plot((u32)x, (u32)y, color);
}

// The pixels of row y from `from` up to but without `to`.
static void row(i64 from, i64 to, i64 y, u32 color) {
    if (!color || y < 0 || y >= SIDE) return;
    if (from < 0) from = 0;
    if (to > SIDE) to = SIDE;
    if (from >= to) return;
    u32 x = (u32)from, end = (u32)to;
    for (; x < end && (x & 3); x++) plot(x, (u32)y, color);
    for (u32 four = ((color - 1) & 3) * 0x55; x + 4 <= end; x += 4) *(u8 *)(FRAMEBUFFER + ((u32)y * SIDE + x) / 4) = (u8)four;
    for (; x < end; x++) plot(x, (u32)y, color);
}

static void column(i64 x, i64 from, i64 to, u32 color) {
    if (!color || x < 0 || x >= SIDE) return;
    if (from < 0) from = 0;
    if (to > SIDE) to = SIDE;
    for (; from < to; from++) plot((u32)x, (u32)from, color);
}

EXPORT(hline)(i32 x, i32 y, i32 length) { row(x, (i64)x + length, y, slot(colors(), 0)); }

EXPORT(vline)(i32 x, i32 y, i32 length) { column(x, y, (i64)y + length, slot(colors(), 0)); }

// A row of a rectangle. Where its start lies within 3 of the largest i32 and its end before it, the original draws the
// pixels behind the last multiple of 4 before the end: it rounds the start up to such a multiple, which wraps round.
static void side(i64 from, i64 to, i64 y, u32 color) {
    if (from > INT32_MAX - 3 && to < from) from = (to < SIDE ? to : SIDE) & ~3;
    row(from, to, y, color);
}

EXPORT(rect)(i32 x, i32 y, i32 width, i32 height) {
    u32 all = colors(), fill = slot(all, 0), outline = slot(all, 1);
    if (!fill && !outline) return;
    i64 right = (i64)x + width, bottom = (i64)y + height;
    for (i64 at = (i64)y < 0 ? 0 : y; at < bottom && at < SIDE; at++) side(x, right, at, fill);
    column(x, y, bottom, outline);
    column(right - 1, y, bottom, outline);
    side(x, right, y, outline);
    side(x, right, bottom - 1, outline);
}

// From the upper end to the lower one, in unit steps of Bresenham's error term.
EXPORT(line)(i32 x1, i32 y1, i32 x2, i32 y2) {
    u32 color = slot(colors(), 0);
    i64 x = x1, y = y1, to_x = x2, to_y = y2;
    if (!color) return;
    if (y > to_y) {
        x = x2, y = y2, to_x = x1, to_y = y1;
    }
    i64 step = x < to_x ? 1 : -1, dx = (to_x - x) * step, dy = to_y - y;
    i64 error = (dx > dy ? dx : -dy) / 2;
    for (;;) {
        dot(x, y, color);
        if (x == to_x && y == to_y) return;
        if (y >= SIDE || (step > 0 ? x >= SIDE : x < 0)) return;  // what follows is off the screen
        i64 before = error;
        if (before > -dx) error -= dy, x += step;
        if (before < dy) error += dx, y++;
    }
}

// Zingl's ellipse in a rectangle, with the corner cases that the original shows: a height below zero keeps its sign.
EXPORT(oval)(i32 x, i32 y, i32 width, i32 height) {
    u32 all = colors(), fill = slot(all, 0), outline = slot(all, 1);
    if (outline == 15) return;
    if (!outline) outline = 4;  // as the original does, for ovals alone: an outline is never transparent
    i64 a = (i64)width - 1, b = (i64)height - 1, odd = b % 2;
    i64 west = x, east = x + a, south = y + ((b + 1) >> 1), north = south - odd;
    double da = (double)a, db = (double)b;
    double dx = 4 * (1 - da) * db * db, dy = 4 * ((double)odd + 1) * da * da, error = dx + dy + (double)odd * da * da;
    double step_y = 8 * da * da, step_x = 8 * db * db;
    do {
        dot(east, south, outline);
        dot(west, south, outline);
        dot(west, north, outline);
        dot(east, north, outline);
        double twice = 2 * error;
        if (twice <= dy) {
            row(west + 1, east, south, fill);  // a row is filled when it is left, so only strictly inside
            row(west + 1, east, north, fill);
            south++, north--, error += dy += step_y;
        }
        if (twice >= dx || twice > dy) west++, east--, error += dx += step_x;
    } while (west <= east);
    for (; south - north <= b; south++, north--) {  // flat ovals stop early: finish the tips
        dot(west - 1, south, outline);
        dot(east + 1, south, outline);
        dot(west - 1, north, outline);
        dot(east + 1, north, outline);
    }
}

// A double below 2^64 as the low 32 bits of its integer part.
static i32 wrap(double number) {
    if (number >= 0x1p63) number -= 0x1p63;
    if (number < -0x1p63) number += 0x1p63;
    return (i32)(i64)number;
}

static u32 from_sprite(i32 sprite, i32 offset) { return offset < 0 ? 0 : peek((i64)sprite + offset); }

EXPORT(blitSub)(i32 sprite, i32 x, i32 y, i32 width, i32 height, i32 src_x, i32 src_y, i32 stride, i32 flags) {
    if ((u32)sprite > PAGE) __builtin_trap();
    u32 all = colors();
    bool flip_x = flags & BLIT_FLIP_X, flip_y = flags & BLIT_FLIP_Y, rotate = flags & BLIT_ROTATE;
    if (rotate) flip_x = !flip_x;
    i64 begin_x, end_x, begin_y, end_y;
    if (rotate) {
        begin_y = x < 0 ? -(i64)x : 0, end_y = (i64)SIDE - x < height ? (i64)SIDE - x : height;
        begin_x = y < 0 ? -(i64)y : 0, end_x = (i64)SIDE - y < width ? (i64)SIDE - y : width;
    } else {
        begin_x = x < 0 ? -(i64)x : 0, end_x = (i64)SIDE - x < width ? (i64)SIDE - x : width;
        begin_y = y < 0 ? -(i64)y : 0, end_y = (i64)SIDE - y < height ? (i64)SIDE - y : height;
    }
    for (i64 v = begin_y; v < end_y; v++) {
        double above = (double)(src_y + (flip_y ? height - v - 1 : v)) * (double)stride;
        bool exact = above > -0x1p52 && above < 0x1p52;
        i64 start = exact ? (i64)above : 0;
        for (i64 u = begin_x; u < end_x; u++) {
            i64 along = src_x + (flip_x ? width - u - 1 : u);
            i32 pixel = exact ? (i32)(start + along) : wrap(above + (double)along);
            u32 value = flags & BLIT_2BPP ? from_sprite(sprite, pixel >> 2) >> (6 - 2 * (pixel & 3)) & 3
                                          : from_sprite(sprite, pixel >> 3) >> (7 - (pixel & 7)) & 1;
            u32 color = slot(all, value);
            if (color) plot((u32)(rotate ? x + v : x + u), (u32)(rotate ? y + u : y + v), color);
        }
    }
}

EXPORT(blit)(i32 sprite, i32 x, i32 y, i32 width, i32 height, i32 flags) {
    blitSub(sprite, x, y, width, height, 0, 0, width, flags);
}

// --- text: 8 x 8 cells; a glyph is 64 bits, row by row, the leftmost pixel first ---------------------------------

static void draw_glyph(i64 x, i64 y, u32 code, u32 ink, u32 paper) {
    if (x <= -8 || x >= SIDE || y <= -8 || y >= SIDE) return;
    uint64_t bits = glyph(code);
    for (i64 v = 0; v < 8; v++) {
        for (i64 u = 0; u < 8; u++, bits <<= 1) dot(x + u, y + v, bits >> 63 ? ink : paper);
    }
}

// Characters of `size` bytes from `at`, until `end` or a zero. Every character takes a cell; only 32 to 255 draw in it.
static void write(i64 at, i64 end, i64 size, i64 x, i64 y) {
    u32 all = colors(), ink = slot(all, 0), paper = slot(all, 1);
    for (i64 column = x; at < end; at += size) {
        u32 code = peek(at) | (size == 2 ? peek(at + 1) << 8 : 0);
        if (code == 0) return;
        if (code == '\n') {
            column = x, y += 8;
            continue;
        }
        if (code >= 32 && code < 256) draw_glyph(column, y, code, ink, paper);
        column += 8;
    }
}

// A game that hands out a range beyond its page traps, as it does in the original.
static void within(i32 at, u32 bytes) {
    if ((i64)(u32)at + bytes > PAGE) __builtin_trap();
}

EXPORT(text)(i32 string, i32 x, i32 y) {
    within(string, 0);
    write(string, PAGE, 1, x, y);
}

EXPORT(textUtf8)(i32 string, i32 bytes, i32 x, i32 y) {
    within(string, (u32)bytes);
    write(string, (i64)string + bytes, 1, x, y);
}

EXPORT(textUtf16)(i32 string, i32 bytes, i32 x, i32 y) {
    u32 whole = (u32)bytes & ~1u;
    within(string, whole);
    if (string & 1) __builtin_trap();
    write(string, (i64)string + whole, 2, x, y);
}

// --- sound and trace: nothing a game could see comes of them, except a trap for a range beyond the page ----------

static void string_at(i64 at) {
    while (at < PAGE && peek(at)) at++;
    if (at >= PAGE) __builtin_trap();
}

EXPORT(tone)(i32 frequency, i32 duration, i32 volume, i32 flags) {
    (void)frequency, (void)duration, (void)volume, (void)flags;
}

EXPORT(trace)(i32 string) { string_at((u32)string); }

EXPORT(traceUtf8)(i32 string, i32 bytes) { within(string, (u32)bytes); }

EXPORT(traceUtf16)(i32 string, i32 bytes) { within(string, (u32)bytes & ~1u); }

EXPORT(tracef)(i32 format, i32 arguments) {
    string_at((u32)format);
    i64 next = (u32)arguments;
    for (i64 at = (u32)format; peek(at); at++) {
        if (peek(at) != '%') continue;
        u32 kind = peek(++at);
        if (!kind) return;
        i64 size = kind == 'f' ? 8 : kind == 'c' || kind == 'd' || kind == 'x' || kind == 's' ? 4 : 0;
        if (size && next + size > PAGE) __builtin_trap();
        if (kind == 's') string_at(peek(next) | peek(next + 1) << 8 | peek(next + 2) << 16 | (i64)peek(next + 3) << 24);
        next += size;
    }
}
