// All of the game's state, at fixed addresses: game.toml names them, so the layout below is a promise.
#pragma once
#include <stddef.h>

#include "console.h"

enum { MENU, BRIEFING, PLAYING, COMPLETED, DIED, FAILED };  // State.mode
enum { INVINCIBLE = 1, INFINITE_AMMO = 2 };                 // State.cheats
enum { LEVELS = 5, DIFFICULTIES = 3 };

// Directions run clockwise from north, by eighths of a turn.
enum { NORTH, NORTH_EAST, EAST, SOUTH_EAST, SOUTH, SOUTH_WEST, WEST, NORTH_WEST };
extern const i8 DIR_X[8], DIR_Y[8];

enum { TILE = 8, UNIT = 6, MAP_W = 128, MAP_H = 64 };  // pixels a tile, units a pixel, tiles of the largest map
enum { VIEW_W = 160, VIEW_H = 144, VIEW_COLUMNS = 21, VIEW_ROWS = 19 };

enum {
    T_FLOOR, T_DETAIL, T_PATH, T_WALL, T_FACE, T_WATER, T_CRATE, T_LOW, T_HIDE, T_DOOR, T_OPEN,
    T_LOCK_A, T_LOCK_B, T_LOCK_C, T_GATE, T_GATE_B, T_GATE_C, T_EXIT, T_VOID, T_LINE, T_TREE, T_RUBBLE, T_MOUNT, TILES
};
enum { SOLID = 1, OPAQUE = 2, HIDES = 4, LOW = 8, DOORWAY = 16 };  // what a tile does
extern const u8 TILE_DOES[TILES];

enum { NO_GOAL, REACH, TAKE, DESTROY, PHOTOGRAPH, MEET, USE, KEY, EXIT };  // Goal.kind and State.goal_kind

// One line of a level's plan. `least` is the lowest difficulty that asks for it; keys are steps, and earn nothing.
typedef struct {
    char mark;  // its letter on the map
    u8 kind, least, hold, needs, opens_gate;
    const char *words;
} Goal;

typedef struct {
    const char *name, *line1, *line2, *map;
    u32 map_bytes;
    const Goal *goals;
    u8 goal_count, theme;
    u32 palette[4];
} Level;
extern const Level LEVEL[LEVELS];

// Sharpness of the guards, by difficulty.
typedef struct {
    u8 sight, react, aim, hit, damage, health, hearing, ammo, radio;
} Sharp;
extern const Sharp SHARP[DIFFICULTIES];

enum { NONE, UNAWARE, SUSPICIOUS, HUNTING, DOWN };  // Guard.state
enum { SENTRY, PACES_ACROSS, PACES_ALONG, ROAMER };

typedef struct {
    i16 x, y;  // in units
    u8 state, kind, facing, health;
    u8 notice, aim, pause, looted, flash, sees;
    u16 hunt, seen;  // ticks left of the hunt; ticks in a row that it saw its prey
} Guard;

enum { AMMO_BOX = 1, ARMOUR_BOX, ALARM_PANEL, CAMERA, SPAWN, BLAST };
typedef struct {
    i16 x, y;  // in pixels
    u8 kind, live, facing, notice;
} Thing;

typedef struct {
    i16 x, y;
    u8 present, done, health, mark;
} Mark;

typedef struct {
    u8 x, y, timer, tile;
} Door;

enum { GUARDS = 40, THINGS = 40, MARKS = 12, DOORS = 32, NEAR = 4 };

typedef struct {
    // What an agent may see: addresses 0xf000 to 0xf0ff.
    u8 mode, level, difficulty, cheats;
    u32 ticks, stream;
    i16 x, y;  // 12: the player's middle, in pixels
    u8 facing, hidden, noticed, alarm;
    i16 health, armour, ammo;  // 20
    u8 keys, can_act;
    u8 done, wanted, goal_kind, goal_index;  // 28
    i16 goal_x, goal_y, exit_x, exit_y;
    u8 exit_open, work, cooldown, kills;  // 40
    u8 wall[8];
    struct {
        i16 x, y;
        u8 state, clear, facing, sees;
    } near[NEAR];          // 52
    i16 view_x, view_y;    // 84: in tiles
    u32 rows[VIEW_ROWS];   // 88: a bit for each tile of the view that blocks the way
    i16 door_x, door_y;    // 164: the nearest door, in pixels
    u8 door_state, door_key, hits, shots;  // 168
    u8 pickup_kind, in_sight, done_count, wanted_count;  // 172: pickup: 1 ammunition, 2 armour, 0 none in view
    i16 pickup_x, pickup_y;  // 176
    // The rest is the game's own.
    u8 by_hand, last_pad, map_w, map_h;
    i16 ux, uy, camera_x, camera_y;  // the player's middle in units; the view's corner in pixels
    u16 alarm_ticks, noise, message_ticks, flash, tracer, work_ticks, abort, over_ticks;
    i16 tracer_x, tracer_y;
    u8 push, guard_count, thing_count, door_count, working_on, moving, reinforcements, footstep, hurt, panels;
    const char *message;
    Guard guards[GUARDS];
    Thing things[THINGS];
    Mark marks[MARKS];
    Door doors[DOORS];
} State;

#define S ((State *)0xf000)
#define MAP ((u8 *)0xd000)   // MAP_W by MAP_H tiles
#define FLOW ((u8 *)0xb000)  // steps from each tile to the player, for guards that hunt

_Static_assert(offsetof(State, x) == 12 && offsetof(State, health) == 20 && offsetof(State, done) == 28, "layout");
_Static_assert(offsetof(State, near) == 52 && offsetof(State, rows) == 88 && offsetof(State, door_x) == 164, "layout");
_Static_assert(offsetof(State, pickup_x) == 176 && sizeof(State) < 0x1000, "layout");
_Static_assert(offsetof(State, ux) == 184 && offsetof(State, guards) == 228 && sizeof(Guard) == 18, "as tests have it");
_Static_assert(offsetof(State, panels) == 221 && offsetof(State, things) == 948 && sizeof(Thing) == 8, "as tests have it");

static inline i32 absolute(i32 value) { return value < 0 ? -value : value; }
static inline i32 larger(i32 a, i32 b) { return a > b ? a : b; }
static inline i32 smaller(i32 a, i32 b) { return a < b ? a : b; }
static inline u8 tile_at(i32 tx, i32 ty) {
    return tx < 0 || ty < 0 || tx >= S->map_w || ty >= S->map_h ? T_VOID : MAP[ty * MAP_W + tx];
}
static inline u8 does_at(i32 tx, i32 ty) { return TILE_DOES[tile_at(tx, ty)]; }

u32 chance(void);                     // the random stream; it also steps by itself at every tick
u32 below(u32 bound);                 // 0 <= result < bound
void load_level(void);                // world.c: read the map, place everything
i32 body_fits(i32 ux, i32 uy);        // whether a body may stand with its middle there
i32 clear_line(i32 x0, i32 y0, i32 x1, i32 y1);  // 0 blocked, 1 clear, 2 clear over low cover near its end
i32 distance(i32 dx, i32 dy);         // about the length of a vector
i32 direction_of(i32 dx, i32 dy);     // the nearest of the eight
i32 within_cone(i32 facing, i32 dx, i32 dy, i32 wide);
i32 open_door(i32 tx, i32 ty, i32 by_player);
void update_doors(void);
void flow_from_player(void);
void update_guards(void);             // guards.c
void hear_shot(i32 x, i32 y, i32 reach);
void raise_alarm(const char *why);
void update_alarm(void);
void update_player(u8 pad);           // player.c
void hurt_player(i32 damage);
void update_mission(u8 pad);          // mission.c: goals, pickups, the exit
void strike_mark(i32 index);
void observe(void);                   // observe.c: fill in what an agent may see
void say(const char *words);
enum {
    MAN_SOUTH, MAN_NORTH = 2, MAN_EAST = 4, BODY = 6, AMMO, ARMOUR, KEY_CARD, SCREEN, PAPERS, DISH, TANK, FLAG, PANEL,
    EYE, BLAST_A, BLAST_B, NOTICED, PUZZLED, FLASH, CREST, SPRITES
};
void decode_art(void);                // art.c
extern u16 TILE_ART[TILES + LEVELS][8];  // then a floor for each theme
extern u8 SPRITE[SPRITES][16];
void draw_world(void);                // draw.c
void draw_screen(void);               // screens.c: the bar, and the pages before and after play
void update_menu(u8 pressed);
