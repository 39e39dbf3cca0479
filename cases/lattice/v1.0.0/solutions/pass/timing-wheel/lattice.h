/* What every part of the engine agrees on: names of things, the scenario as read, memory.
 *
 * Every position that the rules can produce is a multiple of 32, so this engine counts in units of 32: a tile is 8
 * long, items stand 2 apart, belts run at 1, 2 or 3. */
#ifndef LATTICE_H
#define LATTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds carry the tag that goes into the canonical bytes, directions turn clockwise, lanes are numbered left, right. */
enum { BELT, SPLITTER, INSERTER, ASSEMBLER, SOURCE, SINK, FURNACE, LANE_SPLITTER, KINDS };
enum { NORTH, EAST, SOUTH, WEST };
enum { LEFT, RIGHT };
enum { COAL = 16, ITEMS = 17, RECIPES = 8, NO_ITEM = 0xff };
enum { UNIT = 32, TILE = 8, SPACING = 2, ENTRY = 6, SWING = 8, INPUT_CAP = 8, OUTPUT_CAP = 8 };
enum { NEVER = INT32_MAX, NONE = -1 };

typedef struct {
    uint8_t runs_on, input[2], need[2], output, amount, ticks; /* input[1] is NO_ITEM where there is only one */
} Recipe;

extern const Recipe recipes[RECIPES];

typedef struct {
    int32_t x, y;
    uint32_t period; /* source */
    uint8_t kind, dir;
    uint8_t detail;  /* belt: speed; source: bit 0 left lane, bit 1 right lane; crafter: recipe */
    uint8_t item;    /* source */
} Entity;

/* The items of one lane of one belt tile, ascending by position: each is position << 5 | item. */
typedef struct {
    uint32_t count;
    uint8_t codes[4];
} Cell;

typedef struct {
    int32_t count;
    Entity *entities;
    uint32_t snapshot_count;
    uint64_t *snapshots;
} Scenario;

static inline bool is_crafter(int kind) { return kind == ASSEMBLER || kind == FURNACE; }
static inline uint8_t opposite(uint8_t dir) { return dir ^ 2; }

/* The side of a belt on which a lane lies, as a direction; and the lane that lies towards an actor. */
static inline uint8_t lane_side(uint8_t dir, int lane) { return (dir + (lane == LEFT ? 3 : 1)) & 3; }
static inline int near_lane(uint8_t actor, uint8_t belt) {
    return lane_side(belt, LEFT) == opposite(actor) ? LEFT : RIGHT;
}

/* ---- memory.c: zeroed memory that lives until the call ends; traps when the host gives no more -------------------- */

extern uintptr_t heap_top, heap_limit;
void *reserve(size_t bytes);
void heap_grow(size_t bytes);
static inline void heap_ensure(size_t bytes) { /* after this, `bytes` from heap_top on may be written */
    if (bytes > heap_limit - heap_top) heap_grow(bytes);
}

/* ---- scenario.c: reads a scenario, or traps if it is not a valid one ------------------------------------------- */

Scenario read_scenario(const char *text, size_t length);

#endif
