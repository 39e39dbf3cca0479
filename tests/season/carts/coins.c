// Another game by another hand: a title page, no disk, its score in its own .bss, lives, and a count of coins.
#include <stdint.h>

#define PAD (*(volatile uint8_t *)0x16)

__attribute__((used)) static volatile struct { uint32_t coins; uint16_t lives, at; uint8_t page; } game;
static uint32_t stream = 7;

__attribute__((export_name("update"))) void update(void) {
    stream = stream * 1664525u + 1013904223u;
    if (game.page == 0) {
        if (PAD & 1) { game.page = 1; game.lives = 3; game.coins = 2; }
        return;
    }
    if (PAD & 32) game.at++;
    if (PAD & 16 && game.at) game.at--;
    if (game.at % 16 == 15 && PAD & 1) { game.coins++; game.at++; }
    if ((stream >> 16) % 97 == 0 && game.lives) game.lives--;
    if (game.coins >= 7) game.page = 2;
    if (!game.lives) game.page = 3;
}
