/* What follows from the layout alone: who owns a tile, which belts curve, which belts form a run. */
#ifndef LATTICE_LAYOUT_H
#define LATTICE_LAYOUT_H

#include "lattice.h"

/* A chain of belts that compacts as one, listed downstream first. */
typedef struct {
    int32_t length;
    const int32_t *belts;
} Run;

typedef struct {
    const bool *curve; /* by entity: a belt that one other belt feeds from the side, and nothing else does */
    int32_t run_count;
    const Run *runs;
} Layout;

Layout read_layout(const Scenario *scenario);

/* The entity that owns the tile one step from (x, y), or NONE. */
int32_t owner_beside(int32_t x, int32_t y, uint8_t dir);
/* Two-tile entities have their second tile at +x or +y, whichever way they face. */
void second_tile(const Entity *splitter, int32_t *x, int32_t *y);

#endif
