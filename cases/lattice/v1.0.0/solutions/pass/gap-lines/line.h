/* One lane of one run as a transport line: its items by order, their places by block. See README.md for the idea. */
#ifndef LATTICE_LINE_H
#define LATTICE_LINE_H

#include "io.h"

enum { TILE = 256, SPACING = 64 };

/* Items that stand exactly SPACING apart. `at` is the place of the first in the line's moving frame (see travel()). */
typedef struct {
    int64_t at;
    uint32_t first; /* index of its first item; the block ends where the next one starts */
} Block;

/* From `start` upstream, belts run at `speed`. */
typedef struct {
    int64_t start, speed;
} Zone;

/* Coordinates count upstream from the end of the run: position p on the run's i-th tile is i * TILE + p. */
typedef struct {
    uint64_t wake;     /* the belt phase in which a block next runs into what stands before it, or NEVER */
    int64_t speed;     /* 0 if the line has several zones: it then has no moving frame */
    bool stuck;        /* the first block stands at coordinate 0 */
    uint8_t *items;    /* items[head..tail), downstream first, in a buffer with room at both ends */
    Block *blocks;     /* blocks[front..back), likewise */
    uint32_t head, tail, front, back;
    uint32_t margin, limit; /* where a list that reached an end of its buffer starts anew, and that length of buffer */
    const Zone *zones;
    uint32_t zone_count;
} Line;

/* An item of a line and where it stands; past the last item, `at` is FAR. */
typedef struct {
    uint32_t block, item;
    int64_t at;
} Spot;

#define FAR INT64_MAX
#define NEVER UINT64_MAX

extern uint64_t belt_phases; /* how many belt phases have been completed */

void line_start(Line *line, uint32_t tiles, const Zone *zones, uint32_t zone_count);

/* The first item at coordinate >= `at`, and the item upstream of one. */
Spot line_find(const Line *line, int64_t at);
Spot line_after(const Line *line, Spot spot);

/* Whether an item fits at a coordinate. No two items ever stand closer than SPACING, on any two tiles of a run, so the
 * rule that looks at one tile and this one that looks at the line agree. */
bool line_accepts(const Line *line, int64_t at);
bool line_force(Line *line, int64_t at, uint8_t item);
uint8_t line_remove(Line *line, Spot spot);
uint8_t line_pop(Line *line); /* removes the item at coordinate 0: the line must be stuck */

/* The belt phase of one line, to be called when belt_phases has reached its `wake`. */
void line_settle(Line *line);

#endif
