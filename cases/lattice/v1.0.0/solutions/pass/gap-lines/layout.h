/* What follows from the layout alone, worked out once: who owns a tile, which belts curve, which belts form a run.
 *
 * The same in every engine of this case. */
#ifndef LATTICE_LAYOUT_H
#define LATTICE_LAYOUT_H

#include "io.h"

enum { NONE = 0xffffffffu };

/* A chain of belts that compacts as one, listed downstream first. */
typedef struct {
    uint32_t length;
    const uint32_t *belts;
} Run;

typedef struct {
    const bool *curve; /* by entity: a belt that one other belt feeds from the side, and nothing else does */
    uint32_t run_count;
    const Run *runs;
} Layout;

static inline uint8_t opposite(uint8_t dir) { return dir ^ 2; }

/* The side of a belt on which a lane lies, as a direction. */
static inline uint8_t lane_side(uint8_t dir, int lane) { return (dir + (lane == LEFT ? 3 : 1)) & 3; }

/* The lane of a belt facing `belt` that lies towards an actor facing `actor`. */
static inline int near_lane(uint8_t actor, uint8_t belt) {
    return lane_side(belt, LEFT) == opposite(actor) ? LEFT : RIGHT;
}

Layout read_layout(const Scenario *scenario);

/* The entity that owns the tile one step from (x, y), or NONE. Two-tile entities have a second tile at +x or +y. */
uint32_t owner_beside(uint32_t x, uint32_t y, uint8_t dir);
void second_tile(const Entity *splitter, uint32_t *x, uint32_t *y);

#endif
