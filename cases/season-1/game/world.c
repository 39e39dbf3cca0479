// The map: reading it, walking on it, looking across it, its doors, and the way from anywhere to the player.
#include "game.h"

const i8 DIR_X[8] = {0, 1, 1, 1, 0, -1, -1, -1}, DIR_Y[8] = {-1, -1, 0, 1, 1, 1, 0, -1};

const u8 TILE_DOES[TILES] = {
    [T_WALL] = SOLID | OPAQUE,
    [T_FACE] = SOLID | OPAQUE,
    [T_WATER] = SOLID,
    [T_CRATE] = SOLID | OPAQUE,
    [T_LOW] = SOLID | LOW,
    [T_HIDE] = HIDES,
    [T_DOOR] = SOLID | OPAQUE | DOORWAY,
    [T_OPEN] = DOORWAY,
    [T_LOCK_A] = SOLID | OPAQUE | DOORWAY,
    [T_LOCK_B] = SOLID | OPAQUE | DOORWAY,
    [T_LOCK_C] = SOLID | OPAQUE | DOORWAY,
    [T_GATE] = SOLID,
    [T_GATE_B] = SOLID,
    [T_GATE_C] = SOLID,
    [T_VOID] = SOLID | OPAQUE,
    [T_TREE] = SOLID | OPAQUE,
    [T_MOUNT] = SOLID,
};

u32 chance(void) {
    u32 v = S->stream;
    v ^= v << 13;
    v ^= v >> 17;
    v ^= v << 5;
    return S->stream = v;
}

u32 below(u32 bound) { return (chance() >> 8) % bound; }

static void add_guard(i32 tx, i32 ty, u8 kind) {
    if (S->guard_count == GUARDS) return;
    Guard *g = &S->guards[S->guard_count++];
    *g = (Guard){.x = (i16)((tx * TILE + 4) * UNIT), .y = (i16)((ty * TILE + 4) * UNIT), .state = UNAWARE};
    g->kind = kind;
    g->health = SHARP[S->difficulty].health;
    g->facing = kind == PACES_ACROSS ? EAST : kind == PACES_ALONG ? SOUTH : (u8)(below(4) * 2);
    g->pause = (u8)below(60);
}

static void add_thing(i32 tx, i32 ty, u8 kind, u8 facing) {
    if (S->thing_count == THINGS) return;
    S->things[S->thing_count++] = (Thing){(i16)(tx * TILE + 4), (i16)(ty * TILE + 4), kind, 1, facing, 0};
}

static u8 add_door(i32 tx, i32 ty, u8 tile) {
    if (S->door_count < DOORS) S->doors[S->door_count++] = (Door){(u8)tx, (u8)ty, 0, tile};
    return tile;
}

// The tile under a letter. Goals and keys are found by their marks first; all letters else are here.
static u8 place(char letter, i32 tx, i32 ty) {
    u8 harder = S->difficulty > 0, hardest = S->difficulty > 1;
    switch (letter) {
        case '#': return T_WALL;
        case ',': return T_DETAIL;
        case ':': return T_PATH;
        case '~': return T_WATER;
        case 'o': return T_CRATE;
        case '=': return T_LOW;
        case '"': return T_HIDE;
        case '|': return T_LINE;
        case '*': return T_RUBBLE;
        case 'T': return T_TREE;
        case ' ': return T_VOID;
        case '+': return add_door(tx, ty, T_DOOR);
        case 'D': return add_door(tx, ty, T_LOCK_A);
        case 'E': return add_door(tx, ty, T_LOCK_B);
        case 'F': return add_door(tx, ty, T_LOCK_C);
        case 'H': return T_GATE;
        case 'I': return T_GATE_B;
        case 'J': return T_GATE_C;
        case 'X':
            S->exit_x = (i16)(tx * TILE + 4);
            S->exit_y = (i16)(ty * TILE + 4);
            return T_EXIT;
        case '@':
            S->ux = (i16)((tx * TILE + 4) * UNIT);
            S->uy = (i16)((ty * TILE + 4) * UNIT);
            break;
        case 'g': add_guard(tx, ty, SENTRY); break;
        case 'p': add_guard(tx, ty, PACES_ACROSS); break;
        case 'q': add_guard(tx, ty, PACES_ALONG); break;
        case 'r': add_guard(tx, ty, ROAMER); break;
        case 'G': if (harder) add_guard(tx, ty, SENTRY); break;
        case 'P': if (harder) add_guard(tx, ty, PACES_ACROSS); break;
        case 'Q': if (harder) add_guard(tx, ty, PACES_ALONG); break;
        case 'R': if (hardest) add_guard(tx, ty, ROAMER); break;
        case 'm': add_thing(tx, ty, AMMO_BOX, 0); break;
        case 'h': add_thing(tx, ty, ARMOUR_BOX, 0); break;
        case 'n': add_thing(tx, ty, ALARM_PANEL, 0); return T_MOUNT;
        case 'c': add_thing(tx, ty, CAMERA, SOUTH); return T_MOUNT;
        case 's': add_thing(tx, ty, SPAWN, 0); break;
        default: break;
    }
    return T_FLOOR;
}

static u8 place_goal(char letter, i32 tx, i32 ty, u8 tile) {
    const Level *level = &LEVEL[S->level];
    for (i32 i = 0; i < level->goal_count; i++) {
        if (level->goals[i].mark != letter || level->goals[i].least > S->difficulty) continue;
        S->marks[i] = (Mark){(i16)(tx * TILE + 4), (i16)(ty * TILE + 4), 1, 0, 4, (u8)letter};
        u8 kind = level->goals[i].kind;
        if (kind == DESTROY || kind == PHOTOGRAPH || kind == USE) tile = T_MOUNT;
    }
    return tile;
}

void load_level(void) {
    const Level *level = &LEVEL[S->level];
    i32 tx = 0, ty = 0;
    S->map_w = S->map_h = 0;
    for (u32 at = 0; at < level->map_bytes; at++) {
        char letter = level->map[at];
        if (letter == '\n') {
            tx = 0, ty++;
            continue;
        }
        MAP[ty * MAP_W + tx] = place_goal(letter, tx, ty, place(letter, tx, ty));
        tx++;
        if (tx > S->map_w) S->map_w = (u8)tx;
        S->map_h = (u8)(ty + 1);
    }
    for (i32 y = 0; y + 1 < S->map_h; y++)  // a wall shows its face where the ground before it is open
        for (i32 x = 0; x < S->map_w; x++)
            if (MAP[y * MAP_W + x] == T_WALL && !(does_at(x, y + 1) & OPAQUE)) MAP[y * MAP_W + x] = T_FACE;
    u8 bit = 0;
    S->wanted = S->wanted_count = 0;
    for (i32 i = 0; i < level->goal_count; i++) {
        if (level->goals[i].kind == KEY) continue;
        if (S->marks[i].present) S->wanted |= (u8)(1 << bit), S->wanted_count++;
        bit++;
    }
    for (i32 i = 0; i < S->thing_count; i++) S->panels += S->things[i].kind == ALARM_PANEL;
}

i32 body_fits(i32 ux, i32 uy) {
    i32 left = (ux - 3 * UNIT) / (TILE * UNIT), right = (ux + 3 * UNIT - 1) / (TILE * UNIT);
    i32 top = (uy - 3 * UNIT) / (TILE * UNIT), bottom = (uy + 3 * UNIT - 1) / (TILE * UNIT);
    return !((does_at(left, top) | does_at(right, top) | does_at(left, bottom) | does_at(right, bottom)) & SOLID);
}

i32 clear_line(i32 x0, i32 y0, i32 x1, i32 y1) {
    i32 dx = x1 - x0, dy = y1 - y0, steps = larger(absolute(dx), absolute(dy)) / 4, covered = 1;
    if (!steps) return 1;
    i32 fx = x0 << 8, fy = y0 << 8, sx = (dx << 8) / steps, sy = (dy << 8) / steps;
    for (i32 i = 1; i < steps; i++) {
        fx += sx, fy += sy;
        u8 does = does_at(fx >> 11, fy >> 11);
        if (does & OPAQUE) return 0;
        if (does & LOW && steps - i < 5) covered = 2;
    }
    return covered;
}

i32 distance(i32 dx, i32 dy) {
    i32 a = absolute(dx), b = absolute(dy);
    return a > b ? a + (b * 3 >> 3) : b + (a * 3 >> 3);
}

i32 direction_of(i32 dx, i32 dy) {
    i32 a = absolute(dx), b = absolute(dy);
    i32 across = b * 5 > a * 2, along = a * 5 > b * 2;  // tan of 22 degrees is about 2/5
    if (along && !across) return dx > 0 ? EAST : WEST;
    if (across && !along) return dy > 0 ? SOUTH : NORTH;
    return dx > 0 ? (dy > 0 ? SOUTH_EAST : NORTH_EAST) : (dy > 0 ? SOUTH_WEST : NORTH_WEST);
}

// Whether (dx, dy) lies within a cone about a direction: `wide` is the square of its cosine, in hundredths.
i32 within_cone(i32 facing, i32 dx, i32 dy, i32 wide) {
    i32 scale = facing & 1 ? 7 : 10;
    i32 dot = (DIR_X[facing] * dx + DIR_Y[facing] * dy) * scale;
    return dot > 0 && dot * dot >= wide * (dx * dx + dy * dy);
}

// Opens the door at a tile. The player needs its key; guards have them all. False where there is none, or no key.
i32 open_door(i32 tx, i32 ty, i32 by_player) {
    u8 tile = tile_at(tx, ty);
    if (!(TILE_DOES[tile] & DOORWAY) || tile == T_OPEN) return 0;
    if (by_player && tile != T_DOOR && !(S->keys & 1 << (tile - T_LOCK_A))) {
        say("LOCKED: NO KEY");
        return 0;
    }
    for (i32 i = 0; i < S->door_count; i++) {
        Door *door = &S->doors[i];
        if (door->x != tx || door->y != ty) continue;
        if (by_player) door->tile = T_DOOR;  // a door unlocked stays so
        door->timer = 150;
    }
    MAP[ty * MAP_W + tx] = T_OPEN;
    if (by_player) tone(180 | 240 << 16, 6, 30, 2);
    return 1;
}

static i32 someone_in(i32 tx, i32 ty) {
    i32 x = tx * TILE + 4, y = ty * TILE + 4;
    if (absolute(S->ux / UNIT - x) < 9 && absolute(S->uy / UNIT - y) < 9) return 1;
    for (i32 i = 0; i < S->guard_count; i++) {
        Guard *g = &S->guards[i];
        if (g->state != DOWN && absolute(g->x / UNIT - x) < 9 && absolute(g->y / UNIT - y) < 9) return 1;
    }
    return 0;
}

void update_doors(void) {
    for (i32 i = 0; i < S->door_count; i++) {
        Door *door = &S->doors[i];
        if (!door->timer || --door->timer) continue;
        if (someone_in(door->x, door->y)) door->timer = 30;
        else MAP[door->y * MAP_W + door->x] = door->tile;
    }
}

// Breadth first from the player's tile, 40 steps at most; doors count as open.
void flow_from_player(void) {
    static u16 queue[1024];
    u32 head = 0, tail = 0;
    __builtin_memset(FLOW, 255, MAP_W * MAP_H);
    i32 start = S->uy / (UNIT * TILE) * MAP_W + S->ux / (UNIT * TILE);
    FLOW[start] = 0;
    queue[tail++] = (u16)start;
    while (head != tail) {
        i32 at = queue[head++ & 1023];
        if (FLOW[at] >= 40) continue;
        for (i32 d = 0; d < 8; d += 2) {
            i32 tx = at % MAP_W + DIR_X[d], ty = at / MAP_W + DIR_Y[d], to = ty * MAP_W + tx;
            u8 does = does_at(tx, ty);
            if ((does & SOLID && !(does & DOORWAY)) || FLOW[to] != 255) continue;
            if (tail - head == 1024) return;
            FLOW[to] = FLOW[at] + 1;
            queue[tail++ & 1023] = (u16)to;
        }
    }
}
