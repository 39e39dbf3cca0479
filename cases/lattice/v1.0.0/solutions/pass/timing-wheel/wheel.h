/* The timing wheel: who has to be visited in which of the next 127 ticks, as one bit each.
 *
 * Actors are numbered in the order in which a tick visits them, so walking the bits of a tick upwards keeps the order
 * of the phases and of the placement. A visit too many changes nothing, for every rule is a question first; so nobody
 * is ever taken off the wheel. A visit too few would be wrong. */
#ifndef LATTICE_WHEEL_H
#define LATTICE_WHEEL_H

#include "lattice.h"

enum { SLOTS = 128, FARTHEST = SLOTS - 1 };

static uint64_t *wheel; /* [word of actors][slot of ticks] */
static int32_t now;     /* the tick in progress; outside of run_tick, the last one completed */
static uint32_t current;     /* the actor being visited; all ones once the belts have moved */
static uint32_t first_after; /* the first actor that comes after the belts: those before see belts one tick later */

static inline uint64_t *wheel_row(uint32_t actor) { return wheel + (actor >> 6) * SLOTS; }
static inline uint64_t wheel_bit(uint32_t actor) { return 1ull << (actor & 63); }
static inline void visit(uint32_t actor, int32_t tick) { wheel_row(actor)[(uint32_t)tick & FARTHEST] |= wheel_bit(actor); }

/* For ticks that may lie beyond the wheel: the actor will be visited early, and look at the time again. */
static inline void visit_by(uint32_t actor, int32_t tick) { visit(actor, tick - now < FARTHEST ? tick : now + FARTHEST); }

#endif
