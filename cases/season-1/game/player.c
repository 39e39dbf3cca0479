// The player: walking, pushing doors, shooting, taking guards down by hand, being hurt.
#include "game.h"

enum { STRAIGHT = 3, ASLANT = 2, PUSH_TICKS = 6, COOLDOWN = 16, REACH_OF_SHOT = 96, SLIDE = 5 * UNIT };

static void push_door(i32 dx, i32 dy) {
    i32 tx = (S->ux + dx * 7 * UNIT) / (TILE * UNIT), ty = (S->uy + dy * 7 * UNIT) / (TILE * UNIT);
    if (!(does_at(tx, ty) & DOORWAY) || tile_at(tx, ty) == T_OPEN) return;
    if (++S->push >= PUSH_TICKS) S->push = 0, open_door(tx, ty, 1);
}

// Blocked along one axis: slip round a corner that is a few pixels off.
static void slide(i32 dx, i32 dy) {
    for (i32 off = UNIT; off <= SLIDE; off += UNIT)
        for (i32 side = -1; side <= 1; side += 2) {
            i32 x = S->ux + (dx ? dx : side * off), y = S->uy + (dy ? dy : side * off);
            if (!body_fits(x, y)) continue;
            i32 nx = S->ux + (dx ? 0 : side * ASLANT), ny = S->uy + (dy ? 0 : side * ASLANT);
            if (body_fits(nx, ny)) S->ux = (i16)nx, S->uy = (i16)ny;
            return;
        }
}

static void walk(i32 dx, i32 dy) {
    i32 speed = dx && dy ? ASLANT : STRAIGHT, moved = 0;
    if (dx && body_fits(S->ux + dx * speed, S->uy)) S->ux = (i16)(S->ux + dx * speed), moved = 1;
    if (dy && body_fits(S->ux, S->uy + dy * speed)) S->uy = (i16)(S->uy + dy * speed), moved = 1;
    if (moved) S->push = 0;
    else {
        push_door(dx, dy);
        if (!dx || !dy) slide(dx * speed, dy * speed);
    }
    S->moving = (u8)moved;
    S->footstep = (u8)(S->footstep + moved);
}

// The nearest thing within the cone of fire: a guard, then whatever breaks. Persons are hit too.
typedef struct {
    i32 far, x, y, kind, index;
} Aim;
enum { AT_NOTHING, AT_GUARD, AT_THING, AT_MARK };

static void consider(Aim *aim, i32 x, i32 y, i32 kind, i32 index, i32 wide) {
    i32 dx = x - S->x, dy = y - S->y, far = distance(dx, dy);
    if (far > aim->far || (far > 8 && !within_cone(S->facing, dx, dy, wide)) || !clear_line(S->x, S->y, x, y)) return;
    *aim = (Aim){far, x, y, kind, index};
}

static void hit_guard(Guard *g) {
    if (g->health > 1) {
        g->health--;
        return;
    }
    g->state = DOWN;
    S->kills++;
    tone(160 | 60 << 16, 12, 30, 3);
}

static void hit_thing(Thing *t) {
    t->live = 0;
    tone(300 | 50 << 16, 20, 40, 3);
    if (t->kind == ALARM_PANEL && --S->panels == 0) say("NO ALARM IS LEFT");
}

static void shoot(void) {
    if (S->cooldown) return;
    S->cooldown = COOLDOWN;
    if (!S->ammo) {
        tone(90, 3, 20, 2);
        say("NO AMMUNITION");
        return;
    }
    if (!(S->cheats & INFINITE_AMMO)) S->ammo--;
    S->flash = 4;
    S->tracer = 5;
    tone(220 | 90 << 16, 5 | 3 << 8, 40, 3);
    Aim aim = {.far = REACH_OF_SHOT};
    for (i32 i = 0; i < S->guard_count; i++)
        if (S->guards[i].state != DOWN)
            consider(&aim, S->guards[i].x / UNIT, S->guards[i].y / UNIT, AT_GUARD, i, 80);
    for (i32 i = 0; i < LEVEL[S->level].goal_count; i++) {
        u8 kind = LEVEL[S->level].goals[i].kind;
        i32 friendly = kind == MEET && aim.kind == AT_NOTHING;  // who aims at a guard spares a friend
        if (S->marks[i].present && !S->marks[i].done && (kind == DESTROY || friendly))
            consider(&aim, S->marks[i].x, S->marks[i].y, AT_MARK, i, friendly ? 98 : 80);
    }
    if (aim.kind == AT_NOTHING)
        for (i32 i = 0; i < S->thing_count; i++)
            if (S->things[i].live && (S->things[i].kind == ALARM_PANEL || S->things[i].kind == CAMERA))
                consider(&aim, S->things[i].x, S->things[i].y, AT_THING, i, 80);
    if (aim.kind == AT_NOTHING) {
        i32 far = 8;
        aim.x = S->x, aim.y = S->y;
        while (far < REACH_OF_SHOT && !(does_at(aim.x >> 3, aim.y >> 3) & OPAQUE)) {
            aim.x = S->x + DIR_X[S->facing] * far, aim.y = S->y + DIR_Y[S->facing] * far;
            far += 4;
        }
    }
    S->tracer_x = (i16)aim.x, S->tracer_y = (i16)aim.y;
    i32 lucky = (i32)below(100) < 96 - aim.far / 3;
    if (aim.kind == AT_GUARD && lucky) hit_guard(&S->guards[aim.index]);
    if (aim.kind == AT_THING) hit_thing(&S->things[aim.index]);
    if (aim.kind == AT_MARK) strike_mark(aim.index);
    hear_shot(S->x, S->y, SHARP[S->difficulty].hearing);
}

static void take_down(void) {
    for (i32 i = 0; i < S->guard_count; i++) {
        Guard *g = &S->guards[i];
        if (g->state == DOWN || g->state == HUNTING) continue;
        if (distance(g->x / UNIT - S->x, g->y / UNIT - S->y) > 13) continue;
        g->state = DOWN;  // in silence
        S->kills++;
        tone(140, 8, 20, 3);
        return;
    }
}

void hurt_player(i32 damage) {
    S->hurt = 12;
    tone(100 | 70 << 16, 10, 40, 1);
    if (S->cheats & INVINCIBLE) return;
    i32 worn = smaller(S->armour, damage * 2 / 3);
    S->armour = (i16)(S->armour - worn);
    S->health = (i16)(S->health - (damage - worn));
    if (S->health > 0) return;
    S->health = 0;
    S->mode = DIED;
}

void update_player(u8 pad) {
    i32 dx = !!(pad & PAD_RIGHT) - !!(pad & PAD_LEFT), dy = !!(pad & PAD_DOWN) - !!(pad & PAD_UP);
    if (S->cooldown) S->cooldown--;
    if (S->flash) S->flash--;
    if (S->tracer) S->tracer--;
    if (S->hurt) S->hurt--;
    S->moving = 0;
    if (dx || dy) {
        static const u8 ways[9] = {NORTH_WEST, NORTH, NORTH_EAST, WEST, 0, EAST, SOUTH_WEST, SOUTH, SOUTH_EAST};
        S->facing = ways[(dy + 1) * 3 + dx + 1];
        if (!(pad & PAD_X)) walk(dx, dy);  // who fires stands, and turns
    }
    if (pad & PAD_X) shoot();
    if (pad & PAD_Z && !S->working_on) take_down();
    S->x = (i16)(S->ux / UNIT);
    S->y = (i16)(S->uy / UNIT);
    S->hidden = (does_at(S->x >> 3, S->y >> 3) & HIDES) != 0;
}
