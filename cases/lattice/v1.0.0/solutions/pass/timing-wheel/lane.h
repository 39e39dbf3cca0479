/* One lane of one run of belts, as blocks of items that stand exactly SPACING apart and move as one.
 *
 * Where a run has one speed, nothing is done for an item that moves: a block that is free to move has its place in a
 * frame that moves with the belt, `at` - speed * phases. What stops it is known in advance: the first block stops at
 * the end of the run, and every other one when it reaches the block before it, of which it then becomes a part.
 * `settle` is when that next happens; whoever looks at the lane after that does it first (see touch). */
#ifndef LATTICE_LANE_H
#define LATTICE_LANE_H

#include <wasm_simd128.h>

#include "lattice.h"
#include "wheel.h"

typedef struct {
    int32_t at, count;
} Block;

/* From `start` upstream, belts run at `speed`. */
typedef struct {
    int32_t start, speed;
} Zone;

/* Somebody who may wait for something to happen on a lane. `upper` bounds what matters: of a tile that is looked at,
 * its upstream edge; of a place that must become free, the first coordinate that does not matter. */
typedef struct {
    int32_t upper;
    uint32_t actor;
    uint32_t wanted; /* the items it waits for, one bit each */
    struct Watch *watch;
} Watcher;

/* What the actor has to know to wait: its bit among those of the lane. */
typedef struct Watch {
    uint64_t bit;
    uint32_t word, index;
} Watch;

/* What it may wait for. */
enum {
    APPEND, /* an item behind all others */
    INSERT, /* an item before another one */
    GRAB,   /* an item taken out of the tile */
    ROW,    /* an item taken out at a place, or further up: it may be of the row that passes the place */
    STIR,   /* an item taken out anywhere before, or one that left at the end: what stood still moves on */
    GAP,    /* the same, but only if that makes room at a place: see first_gap */
    WAITS
};

enum { ANY_ITEM = -1 };

typedef struct {
    int32_t speed;  /* 0 where the run has several speeds: then `at` is the coordinate, and blocks are moved one by one */
    int32_t fastest; /* of the speeds */
    int32_t ticks_per_item; /* for an item to move up by SPACING */
    int32_t settle; /* how many phases there will have been when a block comes to rest; NEVER if none will */
    Block *front, *back;  /* [front, back), downstream first; the lane is empty if they are equal */
    uint8_t *head, *tail; /* the items of all blocks, likewise */
    bool stuck;           /* the first block stands at 0, whatever its `at` says */
    bool moving;          /* several speeds only: it is on the list of lanes to move */
    bool loose;           /* some belt is slower than the one ahead of it, see loose_from */
    /* Where the wheel keeps the actor that takes what arrives at 0; no bit if there is none. */
    uint64_t *consumer_row, consumer_bit;
    uint64_t *waits[WAITS]; /* who waits for what: a bit for each watcher, */
    uint32_t mask_words;    /* in so many words; */
    uint32_t armed;         /* and a bit for each of these that may have any set */
    uint32_t append_items, insert_items; /* at least the items that those two wait for */
    Watcher *watchers; /* from downstream up: by the tile in which `upper` lies */
    uint32_t watcher_count, watcher_room;
    uint32_t *first_of; /* by tile: the first watcher of that tile or one further up */
    Block *blocks;    /* the buffers, which have room at both ends */
    uint8_t *items;
    int32_t capacity, margin;
    const Block *blocks_end; /* once the lists reach these, they are moved back */
    const uint8_t *items_end;
    const Zone *zones;
    int32_t zone_count, tiles;
    Cell *cells; /* by tile: filled when a state is written */
} Lane;

/* An item and where it stands; past the last one `at` is FAR. */
typedef struct {
    Block *block;
    int32_t at, rank, index; /* coordinate, place in its block, place in the lane */
} Spot;

enum { FAR = INT32_MAX };

static int32_t phases; /* how many times the belts have moved */
static Lane **moving_lanes; /* lanes of several speeds that are not at rest */
static uint32_t moving_count;

static inline int32_t travel(const Lane *lane) { return lane->speed * phases; }
static inline bool is_empty(const Lane *lane) { return lane->front == lane->back; }
static inline bool is_mixed(const Lane *lane) { return lane->speed == 0; }

/* When something that has `way` to go will have arrived, as a number of phases; with several speeds, at the earliest. */
static inline int32_t arrival_at(int32_t speed, int32_t way) {
    return phases + (int32_t)((uint32_t)(way + speed - 1) / (uint32_t)speed);
}
static inline int32_t arrival(const Lane *lane, int32_t way) { return arrival_at(lane->fastest, way); }

/* ---- coming to rest ----------------------------------------------------------------------------------------- */

/* Of a lane that is not empty and has one speed. */
static void settle(Lane *lane) {
    Block *front = lane->front;
    int32_t gone = travel(lane);
    if (!lane->stuck) {
        int32_t way = front->at - gone;
        if (way > 0) {
            lane->settle = arrival(lane, way);
            return;
        }
        lane->stuck = true;
    }
    int32_t count = front->count;
    for (Block *next = front + 1; next != lane->back; next++) {
        int32_t way = next->at - gone - SPACING * count;
        if (way > 0) {
            lane->settle = arrival(lane, way);
            return;
        }
        count += next->count;
        next->count = count;
        lane->front = next;
    }
    lane->settle = NEVER;
}

static inline void touch(Lane *lane) {
    if (phases >= lane->settle) settle(lane);
}

/* Whether an item is at the end of a lane, for somebody who will most likely take it. So if one has just arrived, when the
 * next block will come to rest is left open: whoever does not take it has to touch the lane. */
static inline bool has_head(Lane *lane) {
    if (phases >= lane->settle) {
        Block *front = lane->front, *next = front + 1;
        if (lane->stuck || (next != lane->back && next->at - travel(lane) <= SPACING * front->count)) settle(lane);
        else lane->stuck = true; /* as long as it is not, the first block is what comes to rest */
    }
    return lane->stuck;
}

/* To be called after every change. */
static void changed(Lane *lane) {
    if (is_empty(lane)) {
        lane->settle = NEVER;
    } else if (!is_mixed(lane)) {
        settle(lane);
    } else if (!lane->moving) {
        lane->moving = true;
        moving_lanes[moving_count++] = lane;
    }
}

/* The consumer of a lane is visited when the head arrives, which `settle` says while the lane is not stuck. */
static inline void await_head(const Lane *lane) {
    if (lane->stuck || lane->settle == NEVER) return;
    int32_t tick = lane->settle - now < FARTHEST ? lane->settle : now + FARTHEST;
    lane->consumer_row[(uint32_t)tick & FARTHEST] |= lane->consumer_bit;
}

/* ---- waking ------------------------------------------------------------------------------------------------- */

static inline int32_t block_at(const Lane *lane, const Block *block) {
    return lane->stuck && block == lane->front ? 0 : block->at - travel(lane);
}

static inline void wait_for(Lane *lane, int event, const Watch *watch) {
    lane->waits[event][watch->word] |= watch->bit;
    lane->armed |= 1u << event;
}

/* The first watcher whose `upper` may be above a coordinate, and the first one whose `upper` is a tile above it or more. */
static inline uint32_t first_above(const Lane *lane, int32_t at) { return lane->first_of[at / TILE]; }
static inline uint32_t end_of_near(const Lane *lane, int32_t at) { return lane->first_of[at / TILE + 2]; }

/* Visits those who wait for an event, are in a range of watchers and pass the test, each when `when` says; they wait no
 * longer. In `test` and `when`, `watcher` is the one, and `mask` and `bit` are how it waits. */
#define WAKE(lane, event, from, to, test, when, also) \
    if ((lane)->armed >> (event) & 1) { \
        uint32_t first = (from), end = (to), bits_left = 0; \
        for (uint32_t word = first / 64; word * 64 < end; word++) { \
            uint64_t *mask = &(lane)->waits[event][word], in_range = *mask; \
            if (word == first / 64) in_range &= -1ull << (first & 63); \
            if (word == end / 64) in_range &= (1ull << (end & 63)) - 1; \
            for (; in_range; in_range &= in_range - 1) { \
                const Watcher *watcher = &(lane)->watchers[word * 64 + (uint32_t)__builtin_ctzll(in_range)]; \
                if (!(test)) continue; \
                visit(watcher->actor, (when)); \
                *mask &= ~(in_range & -in_range); \
                also; \
            } \
            bits_left |= *mask != 0; \
        } \
        bool all = (lane)->mask_words == 1 || (first == 0 && end == (lane)->watcher_count); \
        if (all && end > 0 && !bits_left) (lane)->armed &= ~(1u << (event)); \
    }

/* An item behind all others: whoever found nothing upstream of its tile now knows when something will arrive. Until
 * then, something else may be put before the item. */
__attribute__((noinline)) static void wake_for_append(Lane *lane, int32_t at, uint32_t item) {
    uint32_t others = 0;
    /* The tick in which actors that come before the belts see a number of phases is one on. */
    WAKE(lane, APPEND, 0, lane->watcher_count,
         (watcher->wanted >> item & 1 && at >= watcher->upper - TILE) || (others |= watcher->wanted, false),
         at < watcher->upper                      ? now + (watcher->actor <= current)
         : arrival(lane, at - watcher->upper + 1) - now < FARTHEST - 1 ? arrival(lane, at - watcher->upper + 1) + 1
                                                                       : now + FARTHEST,
         lane->waits[INSERT][word] |= in_range & -in_range);
    lane->armed |= 1u << INSERT;
    lane->insert_items |= lane->append_items;
    lane->append_items = others;
}

__attribute__((noinline)) static void wake_for_insert(Lane *lane, int32_t at, uint32_t item) {
    uint32_t others = 0;
    WAKE(lane, INSERT, 0, lane->watcher_count,
         (watcher->wanted >> item & 1 && at >= watcher->upper - TILE) || (others |= watcher->wanted, false),
         now + (watcher->actor <= current), );
    lane->insert_items = others;
}

/* Who waited for the last item of a lane may be served by the next new one, once that item is gone. */
__attribute__((noinline)) static void lose_last(Lane *lane) {
    for (uint32_t word = 0; word < lane->mask_words; word++) lane->waits[APPEND][word] |= lane->waits[INSERT][word];
    lane->armed |= 1u << APPEND;
    lane->append_items |= lane->insert_items;
}

/* Where the belts are slower than those ahead of them, a row of items is pulled apart: the first such coordinate. */
static int32_t loose_from(const Lane *lane, int32_t at) {
    if (!lane->loose) return FAR;
    for (int32_t z = 1; z < lane->zone_count; z++)
        if (lane->zones[z].start > at && lane->zones[z].speed < lane->zones[z - 1].speed) return lane->zones[z].start;
    return FAR;
}

/* Where items stand still or are about to, one item less shifts all that follow, and nobody finds room but where the
 * row ends. Returns the coordinate from which on there may be room once an item has gone from `at`. In the row, items
 * stand so close that nothing fits between them, now or later; only the gap at `at` itself may be as wide as an item,
 * if what is before it rests, for then it closes from behind. */
static int32_t first_gap(const Lane *lane, int32_t at) {
    int32_t gone = travel(lane), count = 0, end = 0, loose = loose_from(lane, 0);
    int32_t start = lane->stuck ? 0 : lane->front->at - gone;
    bool narrow = start <= SPACING;
    for (Block *block = lane->front; block != lane->back && narrow; start = (++block)->at - gone) {
        narrow = count == 0 || start - end < SPACING || (start - end == SPACING && end == at && lane->stuck);
        if (!narrow) break;
        count += block->count;
        end = start + SPACING * block->count;
        if (end > loose) return SPACING * (count - (end - loose + SPACING - 1) / SPACING);
    }
    return SPACING * count;
}

/* An item taken out on the way may free a place at once; those upstream of it may move on. What it was going to take up
 * in the end is where it would have come to rest: that is at twice its index. */
__attribute__((noinline)) static void wake_for_grab(Lane *lane, int32_t at, int32_t index) {
    uint32_t above = first_above(lane, at), near = end_of_near(lane, at), count = lane->watcher_count;
    int32_t rest = SPACING * index;
    WAKE(lane, GRAB, above, near, at < watcher->upper && at >= watcher->upper - TILE, now + (watcher->actor <= current), );
    WAKE(lane, STIR, above, count, at < watcher->upper, now + (watcher->actor <= current), );
    WAKE(lane, ROW, 0, near, at > watcher->upper - 2 * SPACING, now + (watcher->actor <= current), );
    if (!(lane->armed >> GAP & 1)) return;
    int32_t gap = first_gap(lane, at) + SPACING;
    WAKE(lane, GAP, above, near, at < watcher->upper && at > watcher->upper - 2 * SPACING, now + (watcher->actor <= current), );
    if (gap <= rest) gap = rest + 1;
    if (gap > TILE * lane->tiles) gap = TILE * lane->tiles; /* the table ends there; nobody's `upper` is above it */
    WAKE(lane, GAP, first_above(lane, gap - 1), count, gap <= watcher->upper, now + (watcher->actor <= current), );
}

/* Whether all who wait for room stand beside the row that begins at the end of the lane: nearly always it is so. */
static inline bool all_beside_row(const Lane *lane) {
    uint32_t word = lane->mask_words - 1;
    const uint64_t *mask = lane->waits[GAP];
    while (word > 0 && !mask[word]) word--;
    if (!mask[word]) return true;
    uint32_t last = word * 64 + 63 - (uint32_t)__builtin_clzll(mask[word]);
    return lane->watchers[last].upper / TILE < SPACING * lane->front->count / TILE && !is_mixed(lane);
}

/* An item that left at the end, after the belts have moved, frees no place before they move again; and those who come
 * before the belts see that one tick later still. Only on the last tile the next item is the head at once. */
__attribute__((noinline)) static void wake_for_pop(Lane *lane) {
    WAKE(lane, STIR, 0, lane->watcher_count, true, now + 1 + (watcher->actor < first_after && watcher->upper > TILE), );
    if (!(lane->armed >> GAP & 1) || all_beside_row(lane)) return;
    if (lane->watcher_count == 1) { /* often a splitter at its start: let it look, that is cheaper than to find out whether it should */
        lane->armed &= ~(1u << GAP);
        lane->waits[GAP][0] = 0;
        visit(lane->watchers->actor, now + 1 + (lane->watchers->actor < first_after));
        return;
    }
    int32_t gap = first_gap(lane, 0) + SPACING;
    if (gap > TILE * lane->tiles) gap = TILE * lane->tiles;
    if (lane->mask_words == 1) { /* nearly always, and cheaper than what does for all */
        uint64_t waiting = lane->waits[GAP][0], left = waiting & -1ull << (first_above(lane, gap - 1) & 63);
        for (; left; left &= left - 1) {
            const Watcher *watcher = &lane->watchers[(uint32_t)__builtin_ctzll(left)];
            if (gap > watcher->upper) continue;
            visit(watcher->actor, now + 1 + (watcher->actor < first_after));
            waiting &= ~(left & -left);
        }
        lane->waits[GAP][0] = waiting;
        if (!waiting) lane->armed &= ~(1u << GAP);
        return;
    }
    WAKE(lane, GAP, first_above(lane, gap - 1), lane->watcher_count, gap <= watcher->upper, now + 1 + (watcher->actor < first_after), );
}

/* An item that left after the belts have moved, but not at the end: that is rare, so whoever waits looks again. */
__attribute__((noinline)) static void wake_all(Lane *lane) {
    for (uint32_t i = 0; i < lane->watcher_count; i++) visit(lane->watchers[i].actor, now + 1);
}

/* ---- the two lists ------------------------------------------------------------------------------------------ */

enum { VECTOR = 16 };

/* A list drifts through its buffer as items join at one end and leave at the other. When it reaches an end of it, it
 * goes back to the middle; the margins are wide enough for that to be rare. Vectors may write 16 bytes too far. */
static void move_list(const uint8_t *from, const uint8_t *end, uint8_t *to) {
    if (to < from || to >= end) {
        for (; from < end; from += VECTOR, to += VECTOR) wasm_v128_store(to, wasm_v128_load(from));
    } else {
        for (to += end - from; end > from;) *--to = *--end;
    }
}

__attribute__((noinline)) static void centre_items(Lane *lane) {
    uint8_t *middle = lane->items + lane->margin;
    int32_t size = (int32_t)(lane->tail - lane->head);
    move_list(lane->head, lane->tail, middle);
    lane->head = middle;
    lane->tail = middle + size;
}

__attribute__((noinline)) static void centre_blocks(Lane *lane) {
    Block *middle = lane->blocks + lane->margin;
    int32_t size = (int32_t)(lane->back - lane->front);
    move_list((const uint8_t *)lane->front, (const uint8_t *)lane->back, (uint8_t *)middle);
    lane->front = middle;
    lane->back = middle + size;
}

static inline void make_room_for_item(Lane *lane) {
    if (lane->head - lane->items <= VECTOR || lane->tail >= lane->items_end) centre_items(lane);
}

static inline void append_item(Lane *lane, uint32_t item) {
    if (lane->tail >= lane->items_end) centre_items(lane);
    *lane->tail++ = (uint8_t)item;
}

static inline void append_block(Lane *lane, int32_t at) {
    if (lane->back >= lane->blocks_end) centre_blocks(lane);
    *lane->back++ = (Block){at, 1};
}

/* Opens a slot before `block` by moving the shorter side; returns the slot. */
static Block *open_block(Lane *lane, Block *block) {
    if (lane->front == lane->blocks || lane->back >= lane->blocks_end) {
        int32_t rank = (int32_t)(block - lane->front);
        centre_blocks(lane);
        block = lane->front + rank;
    }
    if (lane->back - block <= block - lane->front) {
        for (Block *to = lane->back++; to > block; to--) *to = to[-1];
        return block;
    }
    Block *to = --lane->front;
    for (; to + 1 < block; to++) *to = to[1];
    return to;
}

static void close_block(Lane *lane, Block *block) {
    if (lane->back - block > block - lane->front) {
        for (; block > lane->front; block--) *block = block[-1];
        lane->front++;
    } else {
        for (lane->back--; block < lane->back; block++) *block = block[1];
    }
}

/* Puts an item before the one of that index. What the vectors overwrite beyond the gap is put back. */
static void open_item(Lane *lane, int32_t index, uint32_t item) {
    make_room_for_item(lane);
    uint8_t *gap = lane->head + index;
    if (index < lane->tail - gap) {
        v128_t behind = wasm_v128_load(gap);
        for (uint8_t *from = lane->head; from < gap; from += VECTOR) wasm_v128_store(from - 1, wasm_v128_load(from));
        wasm_v128_store(gap, behind);
        lane->head--;
        gap[-1] = (uint8_t)item;
    } else {
        v128_t before = wasm_v128_load(gap - VECTOR);
        for (uint8_t *end = lane->tail; end > gap; end -= VECTOR) wasm_v128_store(end - VECTOR + 1, wasm_v128_load(end - VECTOR));
        wasm_v128_store(gap - VECTOR, before);
        lane->tail++;
        *gap = (uint8_t)item;
    }
}

static uint32_t close_item(Lane *lane, int32_t index) {
    uint8_t *gap = lane->head + index;
    uint32_t item = *gap;
    if (index < lane->tail - gap) {
        for (uint8_t *end = gap; end > lane->head; end -= VECTOR) wasm_v128_store(end - VECTOR + 1, wasm_v128_load(end - VECTOR));
        lane->head++;
    } else {
        for (uint8_t *from = gap + 1; from < lane->tail; from += VECTOR) wasm_v128_store(from - 1, wasm_v128_load(from));
        lane->tail--;
    }
    return item;
}

/* ---- looking ------------------------------------------------------------------------------------------------ */

/* The first item at or upstream of a coordinate. */
static inline Spot find_from(Lane *lane, int32_t from) {
    touch(lane);
    int32_t gone = travel(lane), index = 0;
    int32_t at = lane->stuck ? 0 : lane->front->at - gone; /* of an empty lane this is nonsense, and not used */
    for (Block *block = lane->front; block != lane->back; at = (++block)->at - gone) {
        int32_t count = block->count;
        if (at + SPACING * (count - 1) >= from) {
            int32_t rank = at >= from ? 0 : (from - at + SPACING - 1) / SPACING;
            return (Spot){block, at + SPACING * rank, rank, index + rank};
        }
        index += count;
    }
    return (Spot){NULL, FAR, 0, 0};
}

/* Whether it stays until an item before it goes: then all before it stand as close as they can. */
static inline bool is_stuck(const Spot *spot) { return spot->at == SPACING * spot->index; }

/* Where an item would go: before `next`, which starts at `start`, and behind a block that ends at `end`. */
typedef struct {
    Block *next;
    int32_t start, end, index;
} Gap;

/* The search starts from the nearer end of a lane that is not empty. `last_end` is where the last block ends. */
static inline Gap find_gap(const Lane *lane, int32_t at, int32_t last_end) {
    int32_t gone = travel(lane), stuck_at = lane->stuck ? 0 : lane->front->at - gone;
    if (2 * at < last_end) {
        Block *block = lane->front;
        Gap gap = {block, stuck_at, INT32_MIN, 0};
        for (int32_t count, end; block != lane->back; gap.start = (++block)->at - gone) {
            count = block->count;
            end = gap.start + SPACING * count;
            if (end > at) break;
            gap.end = end;
            gap.index += count;
        }
        gap.next = block;
        return gap;
    }
    Block *block = lane->back;
    Gap gap = {block, FAR, last_end, (int32_t)(lane->tail - lane->head)};
    while (gap.end > at) {
        block--;
        gap.index -= block->count;
        gap.start = gap.end - SPACING * block->count;
        if (block == lane->front) {
            gap.end = INT32_MIN;
            break;
        }
        Block *before = block - 1;
        gap.end = (before == lane->front ? stuck_at : before->at - gone) + SPACING * before->count;
    }
    gap.next = block;
    return gap;
}

static inline int32_t last_end(const Lane *lane) {
    Block *last = lane->back - 1;
    return block_at(lane, last) + SPACING * last->count;
}

/* Whether there is room for an item. No two items ever stand closer than SPACING, on any two tiles of a run, so the rule
 * that looks at one tile and this one that looks at the lane agree. */
static inline bool accepts(Lane *lane, int32_t at) {
    touch(lane);
    if (is_empty(lane)) return true;
    int32_t end = last_end(lane);
    if (at >= end) return true;
    if (at > end - 2 * SPACING) return false;
    return find_gap(lane, at, end).start >= at + SPACING;
}

/* Whether a lane is one row at rest that reaches beyond a place: a quick no, where asking in full would be a no too. */
static inline bool is_jammed(const Lane *lane, int32_t at) {
    return lane->stuck && lane->back - lane->front == 1 && SPACING * lane->front->count > at;
}

/* When a place that is taken may be free, as a number of phases: never too late. NEVER if something has to be taken
 * out first. */
static int32_t free_after(const Lane *lane, int32_t at) {
    if (is_empty(lane)) return phases;
    if (is_jammed(lane, at) && !is_mixed(lane)) return NEVER;
    Gap gap = find_gap(lane, at, last_end(lane));
    if (gap.start >= at + SPACING) return phases;
    Block *block = gap.next;
    int32_t start = gap.start, index = gap.index, count = block->count;
    if (is_mixed(lane)) { /* what stands behind the row may fall back, so the row is all that can be relied on */
        int32_t loose = loose_from(lane, at);
        if (start + SPACING * count > loose) count = start < loose ? (loose - start + SPACING - 1) / SPACING : 1;
    }
    for (int32_t gone = travel(lane), way;;) {
        index += count;
        if (SPACING * index > at) return NEVER; /* it comes to rest too early */
        way = (arrival(lane, start + SPACING * count - at) - phases) * lane->fastest;
        if (++block == lane->back || is_mixed(lane) || block->at - gone - way >= at + SPACING) return arrival(lane, way);
        start = block->at - gone;
        count = block->count;
    }
}

/* ---- changing ----------------------------------------------------------------------------------------------- */

/* An item ahead of all others, or the first one: whoever takes from the end learns when it will arrive. */
static inline void new_head(const Lane *lane) {
    if (lane->consumer_bit) await_head(lane);
}

__attribute__((noinline)) static bool insert_between(Lane *lane, int32_t at, uint32_t item, int32_t last_end) {
    Gap gap = find_gap(lane, at, last_end);
    Block *block = gap.next;
    if (gap.start < at + SPACING) return false;
    bool joins_next = gap.start == at + SPACING;
    if (gap.end == at) {
        block[-1].count++;
        if (joins_next) { /* it fills the gap between two blocks */
            block[-1].count += block->count;
            close_block(lane, block);
        }
    } else if (joins_next) {
        block->at -= SPACING;
        block->count++;
    } else {
        block = open_block(lane, block);
        *block = (Block){at + travel(lane), 1};
    }
    open_item(lane, gap.index, item);
    changed(lane);
    if (gap.index == 0) new_head(lane);
    if (lane->insert_items >> item & 1) wake_for_insert(lane, at, item);
    return true;
}

static inline void insert_first(Lane *lane, int32_t at, uint32_t item) {
    append_block(lane, at + travel(lane));
    append_item(lane, item);
    if (at > 0 && !is_mixed(lane)) lane->settle = arrival(lane, at);
    else changed(lane);
    new_head(lane);
}

/* Puts an item at a coordinate if it fits. */
static inline bool force(Lane *lane, int32_t at, uint32_t item) {
    touch(lane);
    Block *last = lane->back;
    if (lane->front == last) {
        insert_first(lane, at, item);
    } else {
        last--;
        bool rests = lane->stuck && last == lane->front;
        int32_t end = SPACING * last->count, speed = lane->speed;
        if (!rests) end += last->at - speed * phases;
        if (at < end) {
            if (at > end - 2 * SPACING) return false;
            return insert_between(lane, at, item, end);
        }
        if (at == end) {
            last->count++;
        } else {
            append_block(lane, at + speed * phases);
            if (rests && speed) lane->settle = arrival_at(speed, at - end);
        }
        append_item(lane, item);
        if (!speed) changed(lane);
    }
    if (lane->append_items >> item & 1) wake_for_append(lane, at, item);
    return true;
}

/* Takes the item at coordinate 0: the lane must be stuck. With `await`, its consumer is
 * visited when the next one arrives. */
static inline __attribute__((always_inline)) void pop(Lane *lane, bool await) {
    Block *front = lane->front;
    int32_t speed = lane->speed, count = front->count - 1, rests = NEVER;
    lane->head++;
    lane->stuck = false;
    if (count) {
        front->count = count;
        front->at = SPACING + speed * phases;
        if (speed) rests = phases + lane->ticks_per_item;
    } else {
        lane->front = ++front;
        if (front != lane->back && speed) rests = arrival_at(speed, front->at - speed * phases);
    }
    lane->settle = rests;
    if (rests != NEVER) {
        if (await) lane->consumer_row[(uint32_t)(rests - now < FARTHEST ? rests : now + FARTHEST) & FARTHEST] |= lane->consumer_bit;
    } else if (!speed) {
        changed(lane);
    }
    if (lane->armed & (1u << STIR | 1u << GAP)) wake_for_pop(lane);
}

/* Takes an item out, wherever it is. */
static uint32_t take_out(Lane *lane, const Spot *spot) {
    Block *block = spot->block;
    int32_t rank = spot->rank, behind = block->count - 1 - rank, gone = travel(lane);
    int32_t index = spot->index;
    uint32_t item = close_item(lane, index);
    if (rank == 0) {
        if (block == lane->front) lane->stuck = false;
        if (behind == 0) close_block(lane, block);
        else *block = (Block){spot->at + SPACING + gone, behind};
    } else {
        block->count = rank;
        if (behind) {
            /* The slot may be made on the other side of `block`, which then moves down by one. */
            Block *rest = open_block(lane, block + 1);
            *rest = (Block){spot->at + SPACING + gone, behind};
        }
    }
    changed(lane);
    if (lane->head + index == lane->tail && lane->insert_items) lose_last(lane);
    return item;
}

/* ---- several speeds ----------------------------------------------------------------------------------------- */

/* The blocks move one by one. A block stays whole unless part of it lies in a slower zone. Returns whether any moved. */
static bool move_blocks(Lane *lane) {
    bool moved = false;
    int32_t floor = 0, zone = 0;
    const Zone *zones = lane->zones;
    if (lane->stuck) lane->front->at = 0;
    for (Block *block = lane->front; block < lane->back; block++) {
        int32_t at = block->at, last = at + SPACING * (block->count - 1);
        while (zone + 1 < lane->zone_count && zones[zone + 1].start <= at) zone++;
        int32_t step = at - floor < zones[zone].speed ? at - floor : zones[zone].speed;
        for (int32_t z = zone + 1; z < lane->zone_count && zones[z].start <= last; z++) {
            if (zones[z].speed >= step) continue;
            int32_t rank = (zones[z].start - at + SPACING - 1) / SPACING, rest = at + SPACING * rank;
            if (rest > last) continue;
            Block slower = {rest, block->count - rank};
            block->count = rank;
            Block *slot = open_block(lane, block + 1);
            *slot = slower;
            block = slot - 1;
            break;
        }
        moved |= step != 0;
        block->at = at - step;
        bool touches = block > lane->front && at - step == floor;
        floor = at - step + SPACING * block->count;
        if (touches) {
            block[-1].count += block->count;
            int32_t rank = (int32_t)(block - lane->front);
            close_block(lane, block);
            block = lane->front + rank - 1;
        }
    }
    lane->stuck = !is_empty(lane) && lane->front->at == 0;
    return moved;
}

/* The same where no belt is slower than the ones ahead of it: then blocks only grow. Within a zone, once a block moves
 * freely, so do all behind it. */
static bool move_whole_blocks(Lane *lane) {
    if (lane->stuck) lane->front->at = 0;
    bool moved = false;
    int32_t floor = 0;
    Block *front = lane->front, *back = lane->back, *block = front, *kept = front - 1; /* the last block that is done */
    for (int32_t z = 0; block < back; z++) {
        int32_t speed = lane->zones[z].speed, next_zone = z + 1 < lane->zone_count ? lane->zones[z + 1].start : FAR;
        for (; block < back && block->at < next_zone && block->at - speed <= floor; block++) {
            moved |= block->at != floor;
            if (kept >= front) kept->count += block->count;
            else *++kept = (Block){floor, block->count};
            floor += SPACING * block->count;
        }
        if (block == back || block->at >= next_zone) continue;
        moved = true;
        if (kept + 1 == block) {
            do block->at -= speed;
            while (++block < back && block->at < next_zone);
            kept = block - 1;
        } else {
            do *++kept = (Block){block->at - speed, block->count};
            while (++block < back && block->at < next_zone);
        }
        floor = kept->at + SPACING * kept->count;
    }
    lane->back = kept + 1;
    lane->stuck = front < lane->back && front->at == 0;
    return moved;
}

static void move_mixed_lanes(void) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < moving_count; i++) {
        Lane *lane = moving_lanes[i];
        bool was_stuck = lane->stuck;
        lane->moving = lane->loose ? move_blocks(lane) : move_whole_blocks(lane);
        if (lane->stuck && !was_stuck && lane->consumer_bit) lane->consumer_row[(uint32_t)now & FARTHEST] |= lane->consumer_bit;
        if (lane->moving) moving_lanes[kept++] = lane;
    }
    moving_count = kept;
}

/* ---- setting up --------------------------------------------------------------------------------------------- */

enum { LANE_ITEMS = TILE / SPACING, LEAST_MARGIN = 64, FIRST_WATCHERS = 8 };

static void start_lane(Lane *lane, int32_t tiles, const Zone *zones, int32_t zone_count) {
    int32_t most = tiles * LANE_ITEMS;
    lane->margin = most > LEAST_MARGIN ? most : LEAST_MARGIN;
    lane->capacity = 2 * lane->margin + most;
    lane->items = reserve((size_t)lane->capacity + 2 * VECTOR);
    lane->blocks = reserve((size_t)(lane->capacity + 2) * sizeof(Block));
    lane->blocks_end = lane->blocks + lane->capacity;
    lane->items_end = lane->items + lane->capacity - VECTOR;
    lane->front = lane->back = lane->blocks + lane->margin;
    lane->head = lane->tail = lane->items + lane->margin;
    lane->speed = zone_count == 1 ? zones[0].speed : 0;
    for (int32_t z = 0; z < zone_count; z++)
        if (zones[z].speed > lane->fastest) lane->fastest = zones[z].speed;
    lane->ticks_per_item = (SPACING + lane->fastest - 1) / lane->fastest;
    for (int32_t z = 1; z < zone_count; z++) lane->loose |= zones[z].speed < zones[z - 1].speed;
    lane->settle = NEVER;
    lane->zones = zones;
    lane->zone_count = zone_count;
    lane->tiles = tiles;
}

/* Lets an actor wait on a lane. `watch` is filled in by number_watchers, when all have been added. */
static void add_watcher(Lane *lane, int32_t upper, uint32_t actor, Watch *watch) {
    uint32_t index = lane->watcher_count++;
    if (index == lane->watcher_room) {
        lane->watcher_room = lane->watcher_room ? 2 * lane->watcher_room : FIRST_WATCHERS;
        Watcher *watchers = reserve(lane->watcher_room * sizeof *watchers);
        for (uint32_t i = 0; i < index; i++) watchers[i] = lane->watchers[i];
        lane->watchers = watchers;
    }
    lane->watchers[index] = (Watcher){upper, actor, (uint32_t)ANY_ITEM, watch};
}

/* Sorts the watchers of a lane by tile. */
static void number_watchers(Lane *lane) {
    if (!lane->watcher_count) return;
    Watcher *sorted = reserve(lane->watcher_count * sizeof *sorted);
    uint32_t *first_of = lane->first_of = reserve((size_t)(lane->tiles + 3) * sizeof *first_of);
    for (uint32_t i = 0; i < lane->watcher_count; i++) first_of[lane->watchers[i].upper / TILE + 1]++;
    for (int32_t tile = 0; tile <= lane->tiles + 1; tile++) first_of[tile + 1] += first_of[tile];
    /* While they are placed, each entry runs up to the start of the next tile; so it is kept one entry further down. */
    for (uint32_t i = 0; i < lane->watcher_count; i++) {
        const Watcher *watcher = &lane->watchers[i];
        uint32_t index = first_of[watcher->upper / TILE]++;
        sorted[index] = *watcher;
        *watcher->watch = (Watch){1ull << (index & 63), index / 64, index};
    }
    for (int32_t tile = lane->tiles + 2; tile > 0; tile--) first_of[tile] = first_of[tile - 1];
    first_of[0] = 0;
    lane->watchers = sorted;
    lane->mask_words = (lane->watcher_count + 63) / 64;
    for (int event = 0; event < WAITS; event++) lane->waits[event] = reserve(lane->mask_words * sizeof(uint64_t));
}

#endif
