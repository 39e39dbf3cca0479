// What an agent may see, in numbers at fixed addresses: no more than the screen shows a person.
#include "game.h"

enum { RAY = 96 };

static i32 on_screen(i32 x, i32 y) {
    i32 sx = x - S->camera_x, sy = y - S->camera_y;
    return sx >= 0 && sy >= 0 && sx < VIEW_W && sy < VIEW_H;
}

// A plain door opens to whoever walks into it, a locked one to whoever has its key.
static u32 blocks(i32 tx, i32 ty) {
    u8 tile = tile_at(tx, ty);
    if (tile >= T_LOCK_A && tile <= T_LOCK_C) return !(S->keys & 1 << (tile - T_LOCK_A));
    return TILE_DOES[tile] & SOLID && tile != T_DOOR;
}

static void see_walls(void) {
    for (i32 d = 0; d < 8; d++) {
        i32 far = 0, x = S->x, y = S->y;
        while (far < RAY && !blocks(x >> 3, y >> 3)) x += DIR_X[d] * 2, y += DIR_Y[d] * 2, far += 2;
        S->wall[d] = (u8)far;
    }
    S->view_x = (i16)(S->camera_x >> 3);
    S->view_y = (i16)(S->camera_y >> 3);
    for (i32 row = 0; row < VIEW_ROWS; row++) {
        u32 bits = 0;
        for (i32 column = 0; column < VIEW_COLUMNS; column++)
            bits |= blocks(S->view_x + column, S->view_y + row) << column;
        S->rows[row] = bits;
    }
}

static void see_guards(void) {
    i32 far[NEAR];
    S->in_sight = 0;
    for (i32 n = 0; n < NEAR; n++) {
        far[n] = 0x7fff;
        S->near[n].x = S->near[n].y = 0;
        S->near[n].state = S->near[n].clear = S->near[n].facing = S->near[n].sees = 0;
    }
    for (i32 i = 0; i < S->guard_count; i++) {
        Guard *g = &S->guards[i];
        i32 x = g->x / UNIT, y = g->y / UNIT, d = distance(x - S->x, y - S->y), n = NEAR;
        if (g->state == DOWN || !on_screen(x, y)) continue;
        S->in_sight++;
        while (n && d < far[n - 1]) n--;
        if (n == NEAR) continue;
        for (i32 k = NEAR - 1; k > n; k--) far[k] = far[k - 1], S->near[k] = S->near[k - 1];
        far[n] = d;
        S->near[n].x = (i16)x, S->near[n].y = (i16)y;
        S->near[n].state = g->state, S->near[n].facing = g->facing, S->near[n].sees = g->sees;
    }
    for (i32 n = 0; n < NEAR; n++)
        if (S->near[n].state) S->near[n].clear = (u8)clear_line(S->x, S->y, S->near[n].x, S->near[n].y);
}

static void see_doors(void) {
    i32 best = 0x7fff;
    S->door_x = S->door_y = 0;
    S->door_state = S->door_key = 0;
    for (i32 i = 0; i < S->door_count; i++) {
        Door *door = &S->doors[i];
        i32 x = door->x * TILE + 4, y = door->y * TILE + 4, d = distance(x - S->x, y - S->y);
        if (d >= best || !on_screen(x, y)) continue;
        u8 tile = tile_at(door->x, door->y);
        best = d;
        S->door_x = (i16)x, S->door_y = (i16)y;
        S->door_state = tile == T_OPEN ? 3 : tile == T_DOOR ? 1 : 2;
        S->door_key = tile >= T_LOCK_A && tile <= T_LOCK_C ? (u8)(tile - T_LOCK_A + 1) : 0;
    }
}

static void see_pickups(void) {
    i32 best = 0x7fff;
    S->pickup_kind = 0;
    S->pickup_x = S->pickup_y = 0;
    for (i32 i = 0; i < S->thing_count; i++) {
        Thing *t = &S->things[i];
        i32 d = distance(t->x - S->x, t->y - S->y);
        if (t->kind > ARMOUR_BOX || !t->live || d >= best || !on_screen(t->x, t->y)) continue;
        best = d;
        S->pickup_kind = t->kind, S->pickup_x = t->x, S->pickup_y = t->y;
    }
}

void observe(void) {
    see_walls();
    see_guards();
    see_doors();
    see_pickups();
    S->alarm = (u8)((S->alarm_ticks + 59) / 60);
}
