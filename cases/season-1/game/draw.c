// The world in the upper 144 lines: tiles straight into the framebuffer, then whatever moves.
#include "game.h"

enum { FLIP = 2, PLAYER_INK = 0x3310, GUARD_INK = 0x3410, PLAIN_INK = 0x4320 };

// Eight pixels of a tile; water moves.
static u32 tile_line(u8 tile, i32 line) {
    return TILE_ART[tile][tile == T_WATER ? (line + (S->ticks >> 4)) & 7 : (u32)line];
}

// A row of pixels is a stream of 16-bit tile rows, shifted by the camera's last two bits of x.
static void draw_tiles(void) {
    static u8 row_tiles[24];
    i32 shift = (S->camera_x & 7) * 2;
    for (i32 y = 0; y < VIEW_H; y++) {
        i32 world = S->camera_y + y, line = world & 7;
        if (!y || !line)
            for (i32 x = 0; x < 22; x++) {
                u8 tile = tile_at((S->camera_x >> 3) + x, world >> 3);
                row_tiles[x] = tile == T_FLOOR ? (u8)(TILES + LEVEL[S->level].theme) : tile;
            }
        u16 *out = (u16 *)(FRAMEBUFFER + y * (VIEW_W / 4));
        for (i32 x = 0; x < 20; x++) {
                u32 pair = tile_line(row_tiles[x], line) | tile_line(row_tiles[x + 1], line) << 16;
            out[x] = (u16)(pair >> shift);
        }
    }
}

static i32 put(i32 sprite, i32 x, i32 y, u16 ink, i32 flags) {
    i32 sx = x - S->camera_x - 4, sy = y - S->camera_y - 4;
    if (sx < -8 || sy < -8 || sx >= VIEW_W || sy >= VIEW_H) return 0;
    COLOURS = ink;
    blit(SPRITE[sprite], sx, sy, 8, 8, BLIT_2BPP | flags);
    return 1;
}

static void draw_man(i32 x, i32 y, i32 facing, i32 frame, u16 ink) {
    static const u8 look[8] = {MAN_NORTH, MAN_EAST, MAN_EAST, MAN_EAST, MAN_SOUTH, MAN_EAST, MAN_EAST, MAN_EAST};
    put(look[facing] + frame, x, y - 1, ink, facing > SOUTH ? FLIP : 0);
}

static void draw_goal(i32 index) {
    static const u8 shape[] = {
        [REACH] = FLAG, [TAKE] = PAPERS,   [DESTROY] = TANK,   [PHOTOGRAPH] = DISH,
        [USE] = SCREEN, [KEY] = KEY_CARD, [MEET] = MAN_SOUTH,
    };
    const Mark *m = &S->marks[index];
    u8 kind = LEVEL[S->level].goals[index].kind;
    if (!m->present || (m->done && (kind == TAKE || kind == KEY || kind == MEET || kind == REACH))) return;
    if (kind == MEET) {
        draw_man(m->x, m->y, SOUTH, 0, 0x3210);
    } else {
        u16 ink = m->done ? 0x2320 : S->ticks & 16 ? 0x4310 : PLAIN_INK;  // what is still to be done blinks
        put(m->done && kind == DESTROY ? BLAST_B : shape[kind], m->x, m->y, ink, 0);
    }
}

static void dot(i32 x, i32 y) {
    i32 sx = x - S->camera_x, sy = y - S->camera_y;
    if (sx < 0 || sy < 0 || sx >= VIEW_W || sy >= VIEW_H) return;
    FRAMEBUFFER[sy * (VIEW_W / 4) + sx / 4] |= (u8)(3 << sx % 4 * 2);
}

// The edges of what a guard or a camera sees, as dots: a person must be able to read it at a glance.
static void draw_gaze(i32 x, i32 y, i32 facing, i32 reach) {
    for (i32 edge = 7; edge <= 9; edge += 2) {
        i32 way = (facing + edge) & 7;
        for (i32 far = 10; far < reach; far += 6) {
            i32 along = way & 1 ? far * 7 / 10 : far, px = x + DIR_X[way] * along, py = y + DIR_Y[way] * along;
            if (does_at(px >> 3, py >> 3) & OPAQUE) break;
            dot(px, py);
        }
    }
}

static void draw_things(void) {
    static const u8 shape[] = {0, AMMO, ARMOUR, PANEL, EYE};
    for (i32 i = 0; i < S->thing_count; i++) {
        Thing *t = &S->things[i];
        if (t->kind == SPAWN) continue;
        if (t->kind == BLAST) {
            if (t->live) put(t->live & 4 ? BLAST_A : BLAST_B, t->x, t->y, 0x4310, 0);
            continue;
        }
        if (!t->live && t->kind <= ARMOUR_BOX) continue;
        put(shape[t->kind], t->x, t->y, t->live ? PLAIN_INK : 0x2320, 0);
        if (t->kind == CAMERA && t->live) draw_gaze(t->x, t->y, t->facing, 56);
    }
}

static void draw_guards(void) {
    for (i32 i = 0; i < S->guard_count; i++)
        if (S->guards[i].state == DOWN) put(BODY, S->guards[i].x / UNIT, S->guards[i].y / UNIT, 0x3420, 0);
    for (i32 i = 0; i < S->guard_count; i++) {
        const Guard *g = &S->guards[i];
        i32 x = g->x / UNIT, y = g->y / UNIT;
        if (g->state == DOWN) continue;
        if (x < S->camera_x - 60 || y < S->camera_y - 60 || x > S->camera_x + 220 || y > S->camera_y + 204) continue;
        if (g->state != HUNTING) draw_gaze(x, y, g->facing, SHARP[S->difficulty].sight);
        draw_man(x, y, g->facing, (x + y) >> 2 & 1, GUARD_INK);
        if (g->state == SUSPICIOUS) put(PUZZLED, x, y - 10, 0x4310, 0);
        if (g->state == HUNTING && (g->flash > 6 || S->ticks & 16)) put(NOTICED, x, y - 10, 0x4310, 0);
        if (g->state == HUNTING && g->flash && g->flash <= 6)
            put(FLASH, x + DIR_X[g->facing] * 6, y + DIR_Y[g->facing] * 6, 0x4410, 0);
    }
}

static void draw_player(void) {
    if (S->hidden && S->ticks & 8) return;  // half seen in cover
    u16 ink = S->hurt & 4 ? 0x4410 : PLAYER_INK;
    if (S->mode == DIED) put(BODY, S->x, S->y, 0x3320, 0);
    else draw_man(S->x, S->y, S->facing, S->footstep >> 3 & 1, ink);
    if (S->flash) put(FLASH, S->x + DIR_X[S->facing] * 7, S->y + DIR_Y[S->facing] * 7, 0x4410, 0);
    if (!S->tracer || S->tracer < 3) return;
    COLOURS = 4;
    line(S->x - S->camera_x + DIR_X[S->facing] * 5, S->y - S->camera_y + DIR_Y[S->facing] * 5,
         S->tracer_x - S->camera_x, S->tracer_y - S->camera_y);
}

// An arrow at the screen's edge points to the next step where that is out of view.
static void draw_pointer(void) {
    i32 x = S->goal_x - S->camera_x, y = S->goal_y - S->camera_y;
    if (x >= 0 && y >= 0 && x < VIEW_W && y < VIEW_H) return;
    x = larger(5, smaller(VIEW_W - 6, x)), y = larger(5, smaller(VIEW_H - 6, y));
    if (!(S->ticks & 32)) return;
    put(CREST, x + S->camera_x, y + S->camera_y, 0x4310, 0);
}

void draw_world(void) {
    draw_tiles();
    for (i32 i = 0; i < LEVEL[S->level].goal_count; i++) draw_goal(i);
    draw_things();
    draw_guards();
    draw_player();
    draw_pointer();
}
