// Art is text: a name, then eight lines of eight characters. `_` is 0, `.` 1, `+` 2, `#` 3.
#include "game.h"

static const char TILE_TEXT[] = {
#embed "art/tiles.txt"
};
static const char SPRITE_TEXT[] = {
#embed "art/sprites.txt"
};

u16 TILE_ART[TILES + LEVELS][8];
u8 SPRITE[SPRITES][16];

static u32 ink(char letter) { return letter == '.' ? 1 : letter == '+' ? 2 : letter == '#' ? 3 : 0; }

static const char *after_line(const char *at) {
    while (*at++ != '\n') {}
    return at;
}

// Tiles keep their first pixel in the lowest bits, as the screen does; sprites in the highest, as `blit` wants them.
void decode_art(void) {
    const char *at = TILE_TEXT;
    for (i32 tile = 0; tile < TILES + LEVELS; tile++) {
        at = after_line(at);
        for (i32 y = 0; y < 8; y++, at = after_line(at))
            for (i32 x = 0; x < 8; x++) TILE_ART[tile][y] |= (u16)(ink(at[x]) << x * 2);
    }
    at = SPRITE_TEXT;
    for (i32 sprite = 0; sprite < SPRITES; sprite++) {
        at = after_line(at);
        for (i32 y = 0; y < 8; y++, at = after_line(at))
            for (i32 x = 0; x < 8; x++) SPRITE[sprite][y * 2 + x / 4] |= (u8)(ink(at[x]) << (6 - x % 4 * 2));
    }
}
