// What the console gives: its memory, its functions, and short names for numbers.
#pragma once
#include <stdint.h>

typedef int8_t i8;
typedef uint8_t u8;
typedef int16_t i16;
typedef uint16_t u16;
typedef int32_t i32;
typedef uint32_t u32;

#define CONSOLE(name) __attribute__((import_module("env"), import_name(#name)))
CONSOLE(blit) void blit(const void *sprite, i32 x, i32 y, i32 width, i32 height, i32 flags);
CONSOLE(line) void line(i32 x1, i32 y1, i32 x2, i32 y2);
CONSOLE(hline) void hline(i32 x, i32 y, i32 length);
CONSOLE(rect) void rect(i32 x, i32 y, i32 width, i32 height);
CONSOLE(text) void text(const char *string, i32 x, i32 y);
CONSOLE(tone) void tone(i32 frequency, i32 duration, i32 volume, i32 flags);
CONSOLE(diskr) i32 diskr(void *to, i32 bytes);

#define PALETTE ((volatile u32 *)0x04)
#define COLOURS (*(volatile u16 *)0x14)
#define GAMEPAD (*(volatile u8 *)0x16)
#define SYSTEM_FLAGS (*(volatile u8 *)0x1f)
#define FRAMEBUFFER ((u8 *)0xa0)

enum { PAD_X = 1, PAD_Z = 2, PAD_LEFT = 16, PAD_RIGHT = 32, PAD_UP = 64, PAD_DOWN = 128 };
enum { KEEP_FRAMEBUFFER = 1, BLIT_2BPP = 1 };
