/* The edge of an engine: scenario text in, state text and checksum out, and the memory both stand on.
 *
 * This file and io.c are the same in every engine of this case; only what happens between the two texts differs. */
#ifndef LATTICE_IO_H
#define LATTICE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds carry the tag that goes into the canonical bytes, directions turn clockwise, lanes are numbered left, right. */
enum { BELT, SPLITTER, INSERTER, ASSEMBLER, SOURCE, SINK, FURNACE, LANE_SPLITTER, KINDS };
enum { NORTH, EAST, SOUTH, WEST };
enum { LEFT, RIGHT };
enum { PHASE_IDLE, PHASE_SWING, PHASE_RETURN };
enum { COAL = 16, ITEMS = 17, RECIPES = 8, LANE_ITEMS = 4, NO_ITEM = 0xff };

/* Every recipe has at most two inputs and one output, so a crafter's buffers are three counters. */
typedef struct {
    const char *name;
    uint8_t runs_on;
    uint8_t input_count;
    uint8_t input[2];
    uint8_t need[2];
    uint8_t output;
    uint8_t amount;
    uint8_t ticks;
} Recipe;

extern const Recipe recipes[RECIPES];

typedef struct {
    _Alignas(8) uint32_t x; /* entities are reserved one by one in steps of 8 bytes, and must form an array */
    uint32_t y;
    uint32_t period; /* source */
    uint8_t kind;
    uint8_t dir;
    uint8_t speed;  /* belt: units per tick */
    uint8_t item;   /* source */
    uint8_t lanes;  /* source: bit 0 left, bit 1 right */
    uint8_t recipe; /* assembler, furnace */
} Entity;

typedef struct {
    uint32_t entity_count;
    uint32_t snapshot_count;
    const Entity *entities;
    const uint64_t *snapshots;
} Scenario;

/* What one belt tile holds on one lane, ascending by position. */
typedef struct {
    uint8_t pos, item;
} LaneItem;

typedef struct {
    uint32_t count;
    LaneItem items[LANE_ITEMS];
} Lane;

static inline bool is_crafter(uint8_t kind) { return kind == ASSEMBLER || kind == FURNACE; }

/* Zeroed memory that lives until the call ends; traps when the host gives no more. */
void *reserve(size_t bytes);

/* Reads a scenario, or traps if it is not a valid one. */
Scenario read_scenario(const char *text, size_t length);

/* The state text is written snapshot by snapshot: open, one write_* per entity in placement order, close.
 * Nothing may be reserved after state_begin: the text grows at the end of memory. */
void state_begin(void);
void snapshot_open(uint64_t tick, uint32_t entity_count);
void write_belt(const Lane *left, const Lane *right);
void write_splitter(uint32_t out_pref, uint32_t in_first);
void write_inserter(uint32_t phase, uint8_t held, uint32_t swing_left);
void write_crafter(uint8_t kind, const Recipe *recipe, const uint8_t inputs[2], uint32_t output, uint32_t craft_left);
void write_source(uint32_t emit_phase);
void write_sink(const uint64_t consumed[ITEMS]);
void write_lane_splitter(void);
void snapshot_close(void);
uint64_t state_end(void); /* pointer << 32 | length */

#endif
