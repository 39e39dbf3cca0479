// The bar below the world, the briefing, the menu, and the pages that end a mission.
#include "game.h"

enum { DARK_ON_LIGHT = 0x03, LIGHT_ON_DARK = 0x31, ACCENT = 0x04, BAR_Y = 144 };

static const char *const RANK[DIFFICULTIES] = {"AGENT", "SECRET AGENT", "00 AGENT"};

static void fill(u16 colour, i32 x, i32 y, i32 width, i32 height) {
    COLOURS = colour;
    if (width > 0) rect(x, y, width, height);
}

static void write(const char *words, i32 x, i32 y, u16 colours) {
    COLOURS = colours;
    text(words, x, y);
}

static i32 length(const char *words) {
    i32 n = 0;
    while (words[n]) n++;
    return n;
}

static void centred(const char *words, i32 y, u16 colours) { write(words, 80 - length(words) * 4, y, colours); }

static void number(i32 value, i32 x, i32 y, u16 colours) {
    char digits[3] = {' ', (char)('0' + value % 10), 0};
    if (value > 9) digits[0] = (char)('0' + value / 10 % 10);
    write(digits, x, y, colours);
}

static void use_palette(i32 level) {
    for (i32 i = 0; i < 4; i++) PALETTE[i] = LEVEL[level].palette[i];
}

static void small_sprite(i32 sprite, i32 x, i32 y, u16 ink) {
    COLOURS = ink;
    blit(SPRITE[sprite], x, y, 8, 8, BLIT_2BPP);
}

static void draw_bar(void) {
    fill(3, 0, BAR_Y, 160, 16);
    fill(2, 3, BAR_Y + 3, 42, 4);
    fill(S->hurt & 4 ? 4 : 1, 4, BAR_Y + 4, S->health * 40 / 100, 2);
    if (S->armour) fill(2, 3, BAR_Y + 9, 42, 4);
    fill(4, 4, BAR_Y + 10, S->armour * 40 / 60, 2);
    small_sprite(AMMO, 48, BAR_Y + 4, 0x1430);
    number(S->ammo, 57, BAR_Y + 5, 0x01);
    for (i32 k = 0; k < 3; k++)
        if (S->keys & 1 << k) small_sprite(KEY_CARD, 76 + k * 8, BAR_Y + 4, 0x4120);
    i32 x = 104;
    for (i32 bit = 0; bit < 8; bit++) {  // a box for each objective
        if (!(S->wanted & 1 << bit)) continue;
        fill(1, x, BAR_Y + 5, 6, 6);
        if (!(S->done & 1 << bit)) fill(3, x + 1, BAR_Y + 6, 4, 4);
        x += 8;
    }
    if (S->alarm_ticks && S->ticks & 16) small_sprite(NOTICED, 150, BAR_Y + 4, 0x4310);
    else if (S->noticed) small_sprite(S->noticed == 2 ? NOTICED : PUZZLED, 150, BAR_Y + 4, 0x4130);
    if (S->mode > PLAYING) return;
    if (S->work) {
        fill(3, 29, 130, 102, 8);
        fill(1, 30, 131, 100, 6);
        fill(4, 31, 132, S->work - 2, 4);
    } else if (S->message_ticks) {
        i32 wide = length(S->message) * 8;
        fill(3, 80 - wide / 2 - 3, 128, wide + 6, 12);
        centred(S->message, 130, 0x01);
    } else if (S->can_act) {
        fill(3, 56, 128, 48, 12);
        write("Z: ACT", 56, 130, 0x01);
    }
}

static void draw_briefing(void) {
    const Level *level = &LEVEL[S->level];
    fill(1, 0, 0, 160, 160);
    fill(3, 0, 0, 160, 30);
    fill(4, 0, 30, 160, 2);
    centred(level->name, 6, 0x01);
    centred(RANK[S->difficulty], 18, 0x02);
    centred(level->line1, 38, 0x03);
    centred(level->line2, 48, 0x03);
    i32 y = 64;
    for (i32 i = 0; i < level->goal_count; i++) {
        const Goal *goal = &level->goals[i];
        if (goal->kind == KEY || goal->least > S->difficulty) continue;
        fill(4, 4, y + 1, 5, 5);
        write(goal->words, 13, y, 0x03);
        y += 12;
    }
    fill(4, 4, y + 1, 5, 5);
    write("GET OUT ALIVE", 13, y, 0x03);
    if (S->by_hand && S->over_ticks & 32) centred("PRESS X", 148, 0x04);
}

static void draw_end(void) {
    const char *title = S->mode == COMPLETED ? "MISSION COMPLETED" : "MISSION FAILED";
    i32 y = 52 - smaller(S->over_ticks, 20);
    fill(3, 6, y, 148, 66);
    fill(S->mode == COMPLETED ? 1 : 4, 6, y + 18, 148, 2);
    centred(title, y + 6, S->mode == COMPLETED ? 0x01 : 0x04);
    const char *why = S->mode == DIED ? "KILLED IN ACTION" : S->mode == FAILED ? "CALLED OFF" : LEVEL[S->level].name;
    centred(why, y + 26, 0x01);
    write("OBJECTIVES", 16, y + 40, 0x02);
    number(S->done_count, 112, y + 40, 0x01);
    write("/", 128, y + 40, 0x02);
    number(S->wanted_count, 130, y + 40, 0x01);
    write("GUARDS DOWN", 16, y + 52, 0x02);
    number(smaller(S->kills, 99), 130, y + 52, 0x01);
}

static void draw_menu(void) {
    use_palette(S->level);
    fill(3, 0, 0, 160, 160);
    fill(4, 0, 26, 160, 2);
    centred("SEASON ONE", 6, 0x01);
    centred("FIVE QUIET JOBS", 16, 0x02);
    for (i32 i = 0; i < LEVELS; i++) {
        if (i == S->level) fill(4, 8, 35 + i * 14, 144, 12);
        write(LEVEL[i].name, 20, 37 + i * 14, 0x01);
    }
    fill(2, 0, 108, 160, 1);
    write("<", 8, 114, 0x04);
    centred(RANK[S->difficulty], 114, 0x01);
    write(">", 144, 114, 0x04);
    centred("X BEGIN", 128, 0x02);
    centred("IN PLAY: X FIRE", 140, 0x02);
    centred("Z ACT", 150, 0x02);
}

void update_menu(u8 pressed) {
    if (pressed & PAD_UP) S->level = (u8)((S->level + LEVELS - 1) % LEVELS);
    if (pressed & PAD_DOWN) S->level = (u8)((S->level + 1) % LEVELS);
    if (pressed & PAD_LEFT) S->difficulty = (u8)((S->difficulty + DIFFICULTIES - 1) % DIFFICULTIES);
    if (pressed & PAD_RIGHT) S->difficulty = (u8)((S->difficulty + 1) % DIFFICULTIES);
    if (pressed & (PAD_X | PAD_Z)) S->mode = BRIEFING;
    if (pressed & (PAD_UP | PAD_DOWN | PAD_LEFT | PAD_RIGHT)) tone(400, 3, 20, 2);
}

void draw_screen(void) {
    if (S->mode == MENU) {
        draw_menu();
        return;
    }
    use_palette(S->level);
    if (S->mode == BRIEFING) {
        draw_briefing();
        return;
    }
    draw_bar();
    if (S->mode > PLAYING) draw_end();
}
