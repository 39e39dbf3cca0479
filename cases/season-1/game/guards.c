// Guards: what they see and hear, how they walk, hunt and shoot; and the alarm.
#include "game.h"

const Sharp SHARP[DIFFICULTIES] = {
    // In the order of Sharp. Sight and hearing in pixels; react, aim and radio in ticks; hit in per cent, at who stands
    // near by; damage of the player's hundred; health in shots that stop one; ammo is what the player begins with.
    {60, 40, 46, 56, 7, 2, 88, 40, 240},
    {70, 32, 40, 60, 8, 2, 100, 36, 200},
    {78, 28, 40, 60, 8, 2, 104, 40, 190},
};

enum { WALK = 2, RUN = 3, HUNT_TICKS = 160, ALARM_TICKS = 1500, SHOUT = 44 };

static const Sharp *sharp(void) { return &SHARP[S->difficulty]; }

static i32 crowded(Guard *g, i32 x, i32 y) {
    for (Guard *other = S->guards; other < g; other++)
        if (other->state != DOWN && absolute(other->x - x) < 9 * UNIT && absolute(other->y - y) < 9 * UNIT) return 1;
    return 0;
}

static i32 step(Guard *g, i32 dx, i32 dy) {
    i32 moved = 0;
    if (g->state == HUNTING && crowded(g, g->x + dx * 2, g->y + dy * 2)) return 0;
    if (dx && body_fits(g->x + dx, g->y)) g->x = (i16)(g->x + dx), moved = 1;
    if (dy && body_fits(g->x, g->y + dy)) g->y = (i16)(g->y + dy), moved = 1;
    return moved;
}

static i32 sees_player(Guard *g) {
    i32 dx = S->x - g->x / UNIT, dy = S->y - g->y / UNIT, far = distance(dx, dy), reach = sharp()->sight;
    if (g->state == HUNTING) reach += reach / 2;
    if (S->hidden) reach = g->state == HUNTING ? reach / 2 : 18;
    if (far > reach) return 0;
    if (far > 14 && g->state != HUNTING && !within_cone(g->facing, dx, dy, 40)) return 0;
    if (g->state == HUNTING && far > 30 && !within_cone(g->facing, dx, dy, 3)) return 0;
    return clear_line(g->x / UNIT, g->y / UNIT, S->x, S->y);
}

// Only so many hunt at once: the rest stay at their posts, so a mistake costs much but not everything.
static i32 hunters(void) {
    i32 count = 0;
    for (i32 i = 0; i < S->guard_count; i++) count += S->guards[i].state == HUNTING;
    return count;
}

static void begin_hunt(Guard *g) {
    if (g->state == DOWN) return;
    if (g->state != HUNTING) {
        if (hunters() >= 4 + S->difficulty * 2) return;
        g->aim = (u8)(sharp()->aim + below(16));
        g->flash = 40;
        g->seen = 0;
    }
    g->state = HUNTING;
    g->notice = 0;
    g->hunt = HUNT_TICKS;
}

void hear_shot(i32 x, i32 y, i32 reach) {
    for (i32 i = 0; i < S->guard_count; i++) {
        Guard *g = &S->guards[i];
        if (g->state != DOWN && distance(g->x / UNIT - x, g->y / UNIT - y) <= reach) begin_hunt(g);
    }
}

static void shoot(Guard *g, i32 covered) {
    i32 dx = S->x - g->x / UNIT, dy = S->y - g->y / UNIT, far = distance(dx, dy);
    i32 hit = sharp()->hit - far / 4 - (S->moving ? 38 : 0);
    if (covered == 2) hit = hit / 3;
    S->shots++;
    g->flash = 6;
    g->aim = (u8)(sharp()->aim + below(24));
    tone(120 | 60 << 16, 4 | 2 << 8, 35, 3);
    if ((i32)below(100) >= hit) return;
    S->hits++;
    hurt_player(sharp()->damage + (i32)below(3));
}

static void attack(Guard *g, i32 covered) {
    i32 dx = S->x - g->x / UNIT, dy = S->y - g->y / UNIT;
    g->facing = (u8)direction_of(dx, dy);
    g->hunt = HUNT_TICKS;
    if (g->seen < 60000) g->seen++;
    if (g->seen == sharp()->radio && S->panels) raise_alarm("A GUARD CALLED");
    if (g->aim) g->aim--;
    else shoot(g, covered);
    if (distance(dx, dy) > 40) step(g, DIR_X[g->facing] * WALK, DIR_Y[g->facing] * WALK);
}

// Down the flow to the player, from tile to tile, through doors.
static void chase(Guard *g) {
    i32 tx = g->x / (UNIT * TILE), ty = g->y / (UNIT * TILE), way = -1;
    i32 best = tile_at(tx, ty) == T_VOID ? 255 : FLOW[ty * MAP_W + tx];
    g->seen = 0;
    if (g->hunt) g->hunt--;
    if (!g->hunt) {
        g->state = UNAWARE;
        g->kind = SENTRY;  // it stays where the trail was lost
        return;
    }
    for (i32 d = 0; d < 8; d += 2) {
        i32 nx = tx + DIR_X[d], ny = ty + DIR_Y[d];
        if (tile_at(nx, ny) == T_VOID) continue;
        u8 steps = FLOW[ny * MAP_W + nx];
        if (steps < best) best = steps, way = d;
    }
    if (way < 0) return;
    i32 nx = tx + DIR_X[way], ny = ty + DIR_Y[way];
    if (does_at(nx, ny) & SOLID) open_door(nx, ny, 0);
    i32 dx = (nx * TILE + 4) * UNIT - g->x, dy = (ny * TILE + 4) * UNIT - g->y;
    i32 speed = S->ticks & 1 ? RUN : WALK;
    i32 sx = larger(-speed, smaller(speed, dx)), sy = larger(-speed, smaller(speed, dy));
    g->facing = (u8)way;
    step(g, sx, sy);
}

static void patrol(Guard *g) {
    if (g->pause) {
        g->pause--;
        if (g->kind == SENTRY && !g->pause) {
            g->facing = (u8)((g->facing + (below(2) ? 1 : 7)) & 7);
            g->pause = (u8)(40 + below(80));
        }
        if (g->kind == SENTRY || g->pause) return;
        g->facing = g->kind == ROAMER ? (u8)(below(4) * 2) : (u8)((g->facing + 4) & 7);
        return;
    }
    if (g->kind == SENTRY) {
        g->pause = 30;
        return;
    }
    if (!step(g, DIR_X[g->facing] * WALK, DIR_Y[g->facing] * WALK) || below(g->kind == ROAMER ? 160 : 700) == 0)
        g->pause = (u8)(30 + below(70));
}

static void update_guard(Guard *g) {
    if (g->flash) g->flash--;
    i32 near = absolute(S->x - g->x / UNIT) < 130 && absolute(S->y - g->y / UNIT) < 130;
    i32 seen = near ? sees_player(g) : 0;
    g->sees = (u8)(seen != 0);
    if (g->state == HUNTING) {
        if (seen) attack(g, seen);
        else chase(g);
        return;
    }
    if (seen) {
        i32 dx = S->x - g->x / UNIT, dy = S->y - g->y / UNIT;
        g->notice = (u8)(g->notice + (distance(dx, dy) < 28 ? 3 : 1));
        g->state = SUSPICIOUS;
        if (g->notice > sharp()->react / 2) g->facing = (u8)direction_of(dx, dy);
        if (g->notice >= sharp()->react) {
            begin_hunt(g);
            tone(500 | 700 << 16, 8, 30, 1);
            for (i32 i = 0; i < S->guard_count; i++) {  // it shouts
                Guard *other = &S->guards[i];
                if (other != g && other->state == UNAWARE && absolute(other->x - g->x) < SHOUT * UNIT
                    && absolute(other->y - g->y) < SHOUT * UNIT) begin_hunt(other);
            }
        }
        return;
    }
    if (g->state == SUSPICIOUS) {
        if (g->notice) g->notice--;
        else g->state = UNAWARE;
        return;
    }
    patrol(g);
}

void raise_alarm(const char *why) {
    if (!S->alarm_ticks) say(why);
    S->alarm_ticks = ALARM_TICKS;
}

static void reinforce(void) {
    if (S->reinforcements >= 3 + S->difficulty * 2 || S->guard_count == GUARDS) return;
    i32 best = 0x7fff;
    Thing *door = 0;
    for (i32 i = 0; i < S->thing_count; i++) {
        Thing *t = &S->things[i];
        i32 far = distance(t->x - S->x, t->y - S->y);
        if (t->kind == SPAWN && far > 90 && far < best) best = far, door = t;
    }
    if (!door) return;
    Guard *g = &S->guards[S->guard_count++];
    *g = (Guard){.x = (i16)(door->x * UNIT), .y = (i16)(door->y * UNIT), .state = UNAWARE, .health = sharp()->health};
    S->reinforcements++;
    begin_hunt(g);
}

static void watch_camera(Thing *camera) {
    i32 turn = (i32)(S->ticks / 50 + (u32)camera->x) % 6;
    camera->facing = (u8)(turn < 3 ? SOUTH_EAST + turn : SOUTH_WEST - (turn - 3));
    i32 dx = S->x - camera->x, dy = S->y - camera->y;
    i32 seen = distance(dx, dy) < 56 && within_cone(camera->facing, dx, dy, 55) && !S->hidden
        && clear_line(camera->x, camera->y, S->x, S->y);
    if (!seen) {
        camera->notice = camera->notice > 1 ? (u8)(camera->notice - 1) : 0;
        return;
    }
    if (++camera->notice < sharp()->react + 16) return;
    camera->notice = 0;
    raise_alarm("A CAMERA SAW");
}

void update_alarm(void) {
    for (i32 i = 0; i < S->thing_count; i++)
        if (S->things[i].kind == CAMERA && S->things[i].live) watch_camera(&S->things[i]);
    if (!S->alarm_ticks) return;
    S->alarm_ticks--;
    if (S->alarm_ticks % 30 == 0) tone(S->alarm_ticks % 60 ? 620 : 480, 20, 14, 0);
    if (S->alarm_ticks % 150 == 0) hear_shot(S->x, S->y, 120);
    if (S->alarm_ticks % 300 == 299) reinforce();
}

void update_guards(void) {
    i32 hunting = 0;
    S->noticed = 0;
    if (S->ticks % 16 == 0)
        for (i32 i = 0; i < S->guard_count; i++) hunting |= S->guards[i].state == HUNTING;
    if (hunting) flow_from_player();
    for (i32 i = 0; i < S->guard_count; i++) {
        Guard *g = &S->guards[i];
        if (g->state == DOWN) continue;
        update_guard(g);
        i32 level = g->state == HUNTING ? 2 : g->state == SUSPICIOUS;
        if (level > S->noticed) S->noticed = (u8)level;
    }
}
