/* A written record of who put what onto which lane, and took what from it, over one period: see parts.h.
 *
 * While a period is recorded, every change of a lane is a note. While it is replayed, the changes that the parts at rest
 * made are made again from their notes, and each change that a live part makes to a lane they share has to be the next
 * note. */
#ifndef LATTICE_NOTES_H
#define LATTICE_NOTES_H

#include "lane.h"

enum { UNWATCHED, RECORDING, REPLAYING };
enum { PUT, POP, TAKE, ODD_TAKE };
enum { AT_REST, SHARED, LIVE };
enum { OPERATION_SHIFT = 5, AT_SHIFT = 8, ITEM_MASK = 31 };

typedef struct {
    uint32_t actor, tick, lane, what; /* what: place, operation and item */
} Note;

/* What a sink got. */
typedef struct {
    uint32_t tick, actor, entry; /* entry: of the sinks' counts, one after the other */
} Meal;

enum { MOST_LANES = 1 << 16 };

static Lane *lanes;
static int32_t lane_count;
static uint8_t parts[MOST_LANES];     /* of the lanes: AT_REST, SHARED or LIVE */
static uint8_t is_shared[MOST_LANES]; /* the same in short */

static uint64_t *live; /* by word of actors: who is not at rest, while a period is replayed */
static int watching;
static uint32_t acting; /* the actor being visited, while somebody watches */
static Note *notes, *fresh, *fresh_end; /* from `fresh` on: what has been done in this period, by all or by those who are live */
static Note *shared_notes, *next_note; /* those on shared lanes, and the first that is not done yet */
static Meal *meals, *meals_end, *fresh_meals, *fresh_meals_end; /* likewise */

/* Shared lanes on which something else happened than before, and when that began. What the notes say of such a lane is
 * not asked for any more; the period goes on for a while only to see which lanes are next. */
enum { MOST_BROKEN = 64 };
static int32_t broken[MOST_BROKEN], broken_at;
static uint32_t broken_count;

static void break_lane(uint32_t lane) {
    if (!broken_count) broken_at = now;
    if (broken_count < MOST_BROKEN) broken[broken_count++] = (int32_t)lane;
    is_shared[lane] = 0;
}

static inline uint32_t operation_of(const Note *note) { return note->what >> OPERATION_SHIFT & 7; }

/* Passes over what live parts did on lanes that are no longer compared. */
static inline void skip_broken(void) {
    while (broken_count && !is_shared[next_note->lane] && live[next_note->actor / 64] >> (next_note->actor & 63) & 1) next_note++;
}

static void compare_note(const Note *note) {
    if (!is_shared[note->lane]) return;
    skip_broken();
    v128_t different = wasm_v128_xor(wasm_v128_load(note), wasm_v128_load(next_note));
    if (wasm_v128_any_true(different)) break_lane(note->lane);
    else next_note++;
}

/* There is room for all that can happen in a tick, see is_full. */
static inline void note_lane(int watched, uint32_t operation, const Lane *lane, int32_t at, uint32_t item) {
    Note *note = fresh_end++;
    *note = (Note){acting, (uint32_t)now, (uint32_t)(lane - lanes), (uint32_t)at << AT_SHIFT | operation << OPERATION_SHIFT | item};
    if (watched == REPLAYING) compare_note(note);
}

static inline void note_meal(uint32_t entry) {
    *fresh_meals_end++ = (Meal){(uint32_t)now, acting, entry};
}

#endif
