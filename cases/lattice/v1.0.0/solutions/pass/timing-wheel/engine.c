/* Lattice on a timing wheel: see README.md. */
#include "actors.h"
#include "answer.h"
#include "layout.h"
#include "notes.h"

/* So that `watched` (see notes.h) is known, and costs nothing where nobody watches. */
#define INLINE inline __attribute__((always_inline))

static Scenario scenario;
static Layout layout;
static Entity *entities;

static Lane *(*lanes_of)[2]; /* by entity, by lane; NULL if it is no belt */
static int32_t *tile_of;     /* where on its lanes a belt starts */
static int32_t *slot_of;     /* the index of an entity in the list of its kind */

/* Actors, by phase; the numbers of each phase start at a new word of the wheel. */
enum { SOURCES, ARMS, SIDE_LOADS, SPLITTERS, LANE_SPLITTERS, CRAFTERS, DRAINS, PHASES };
static uint32_t first_actor[PHASES + 1], actor_counts[PHASES];
static Source *sources;
static Arm *arms;
static Feeder *side_loads, *lane_splitters;
static Splitter *splitters;
static Crafter *crafters;
static Drain *drains;
static Sink *sinks;
static uint32_t sink_count;

/* Puts an item at a place if it fits. */
static INLINE bool put(const Outlet *to, uint32_t item, int watched) {
    if (!force(to->lane, to->at, item)) return false;
    if (watched) note_lane(watched, PUT, to->lane, to->at, item);
    return true;
}

static inline uint64_t *all_consumed(void) { return (uint64_t *)sinks; } /* one sink after the other */

static INLINE void consume(Sink *sink, uint32_t item, int watched) {
    sink->consumed[item]++;
    if (watched) note_meal((uint32_t)(sink - sinks) * ITEMS + item);
}

static uint64_t skipped; /* ticks that were skipped as whole periods: the true tick is `skipped + now` */
static Crafter *section; /* the crafter whose starts are the moments at which states are compared, see cycle.h */
static bool section_hit;

/* ---- sources ------------------------------------------------------------------------------------------------ */

static inline void visit_source(uint32_t index, int64_t tick) { visit(index, tick - now < FARTHEST ? (int32_t)tick : now + FARTHEST); }

static INLINE void run_source(uint32_t index, int watched) {
    Source *source = &sources[index];
    if (source->next != now) {
        if (source->next == ASLEEP) {
            uint32_t late = (uint32_t)((skipped + (uint32_t)now) % source->period);
            source->wakes++;
            source->next = (int64_t)now + (late ? source->period - late : 0);
        }
        if (source->next != now) {
            visit_source(index, source->next);
            return;
        }
    }
    if (!put(&source->to, source->item, watched) && free_after(source->to.lane, source->to.at) == NEVER) {
        wait_for(source->to.lane, GAP, &source->to.watch);
        source->next = ASLEEP;
        return;
    }
    source->next += source->period;
    visit_source(index, source->next);
}

/* ---- crafters ----------------------------------------------------------------------------------------------- */

static inline bool can_start(uint32_t counts, const Crafter *crafter) {
    return (((counts | HIGH_BITS) - crafter->start) & HIGH_BITS) == HIGH_BITS;
}

/* Visits the arms of a mask in the next tick. */
static inline void wake_arms(const Crafter *crafter, uint64_t *mask) {
    for (uint64_t left = *mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        for (uint32_t last = i < LAST_ARM ? i + 1 : crafter->arm_count; i < last; i++) visit(crafter->arms[i], now + 1);
    }
    *mask = 0;
}

static inline void run_crafter(Crafter *crafter) {
    uint32_t counts = crafter->counts;
    if (crafter->done > now) return;
    if (crafter->done == now) {
        counts -= crafter->made_amount;
        wake_arms(crafter, &crafter->starved);
    }
    crafter->done = 0;
    if (can_start(counts, crafter)) {
        counts -= crafter->inputs;
        crafter->done = now + (int32_t)crafter->ticks;
        crafter->starts++;
        visit(crafter->actor, crafter->done);
        wake_arms(crafter, &crafter->glutted);
        section_hit |= crafter == section;
    }
    crafter->counts = counts;
}

/* A crafter that makes nothing starts as soon as it can. */
static inline void set_counts(Crafter *crafter, uint32_t counts) {
    crafter->counts = counts;
    if (!crafter->done && can_start(counts, crafter)) visit(crafter->actor, now);
}

/* How little an item is needed: the least goes first. REFUSED if it is no input or there is no room for it. */
static inline uint32_t rank_for(const Crafter *crafter, uint32_t item) {
    uint32_t count, bias;
    if (item == crafter->first) count = crafter->counts & 0xff, bias = crafter->first_bias;
    else if (item == crafter->second) count = crafter->counts >> 8 & 0xff, bias = crafter->second_bias;
    else return REFUSED;
    return count < INPUT_CAP ? count + bias : REFUSED;
}

/* ---- arms --------------------------------------------------------------------------------------------------- */

/* The first item, from a given one upstream, that is one of two. */
static Spot find_wanted(const Lane *lane, const Spot *from, uint32_t first, uint32_t second) {
    if (from->at == FAR) return *from;
    v128_t firsts = wasm_i8x16_splat((int8_t)first), seconds = wasm_i8x16_splat((int8_t)second);
    for (const uint8_t *item = lane->head + from->index; item < lane->tail; item += VECTOR) {
        v128_t items = wasm_v128_load(item);
        uint32_t found = wasm_i8x16_bitmask(wasm_v128_or(wasm_i8x16_eq(items, firsts), wasm_i8x16_eq(items, seconds)));
        if (!found) continue;
        item += __builtin_ctz(found);
        if (item >= lane->tail) break;
        int32_t index = (int32_t)(item - lane->head), rank = from->rank + index - from->index;
        Block *block = from->block;
        while (rank >= block->count) rank -= block++->count;
        return (Spot){block, block_at(lane, block) + SPACING * rank, rank, index};
    }
    return (Spot){NULL, FAR, 0, 0};
}

/* Waits for an item to come to the head of a tile: `spot` is the first one that will do, `head` the first one of all, and
 * they are not the same, or not yet there. Returns the tick by which to look again, or NEVER if somebody will wake
 * the arm. */
static int32_t watch_tile(Lane *lane, const Watch *watch, int32_t start, uint32_t wanted, const Spot *head, const Spot *spot) {
    int32_t upper = start + TILE;
    lane->watchers[watch->index].wanted = wanted;
    if (spot->at == FAR) {
        wait_for(lane, APPEND, watch);
        lane->append_items |= wanted;
    }
    if (head->at >= start + 2 * SPACING || spot->at >= upper) { /* there is room before it, or will be */
        wait_for(lane, INSERT, watch);
        lane->insert_items |= wanted;
    }
    if (spot->at == FAR) return NEVER;
    if (spot->at >= upper) {
        if (!is_stuck(spot)) return arrival(lane, spot->at - upper + 1) + 1;
        wait_for(lane, STIR, watch);
        return NEVER;
    }
    if (start == 0 || is_stuck(head)) { /* at the end of the lane it does not move away, but somebody may take it */
        wait_for(lane, STIR, watch);
        return NEVER;
    }
    wait_for(lane, GRAB, watch);
    return arrival(lane, head->at - start + 1) + 1;
}

/* Waits until a place on a lane is free. */
static void watch_place(uint32_t actor, const Outlet *place, int32_t later) {
    int32_t free = free_after(place->lane, place->at);
    if (free == NEVER) {
        wait_for(place->lane, GAP, &place->watch);
    } else {
        wait_for(place->lane, ROW, &place->watch);
        visit_by(actor, free + later > now ? free + later : now + 1);
    }
}

static void wait_for_drop(const Arm *arm, uint32_t actor) {
    if (arm->route % 4 == TO_BELT) watch_place(actor, &arm->onto, 1);
    if (arm->route % 4 == TO_CRAFTER) arm->to->glutted |= arm->to_bit;
}

static inline bool would_accept(const Arm *arm, uint32_t item) {
    switch (arm->route % 4) {
    case TO_BELT: return accepts(arm->onto.lane, arm->onto.at);
    case TO_CRAFTER: return rank_for(arm->to, item) != REFUSED;
    default: return arm->route % 4 == TO_SINK;
    }
}

static INLINE bool drop(Arm *arm, int watched) {
    uint32_t item = arm->held;
    switch (arm->route % 4) {
    case TO_BELT: return put(&arm->onto, item, watched);
    case TO_SINK: consume(arm->sink, item, watched); return true;
    }
    if (rank_for(arm->to, item) == REFUSED) return false;
    set_counts(arm->to, arm->to->counts + (item == arm->to->first ? 1 : 1 << 8));
    return true;
}

static inline uint32_t take_unnoticed(Lane *lane, const Spot *spot) {
    uint32_t item = take_out(lane, spot);
    if (lane->armed & (1u << GRAB | 1u << ROW | 1u << STIR | 1u << GAP)) wake_for_grab(lane, spot->at, spot->index);
    return item;
}

static INLINE uint32_t take(Lane *lane, const Spot *spot, int watched) {
    if (watched) note_lane(watched, TAKE, lane, spot->at, 0);
    return take_unnoticed(lane, spot);
}

static void visit_at(uint32_t actor, int32_t tick) {
    if (tick != NEVER) visit_by(actor, tick > now ? tick : now + 1);
}

static inline uint32_t item_at(const Lane *lane, const Spot *spot) { return lane->head[spot->index]; }

static INLINE uint32_t grab_for_crafter(Arm *arm, uint32_t actor, int watched) {
    Crafter *to = arm->to;
    if ((to->counts & to->full) == to->full) {
        to->glutted |= arm->to_bit;
        return NO_ITEM;
    }
    int32_t upper = arm->from_at + TILE;
    Spot far = find_from(arm->far, arm->from_at), near = find_from(arm->near, arm->from_at);
    uint32_t far_rank = REFUSED, near_rank = REFUSED;
    if (far.at < upper) far_rank = rank_for(to, item_at(arm->far, &far));
    if (near.at < upper) near_rank = rank_for(to, item_at(arm->near, &near));
    if (near_rank < far_rank) return take(arm->near, &near, watched);
    if (far_rank < REFUSED) return take(arm->far, &far, watched);
    uint32_t first = to->counts & INPUT_CAP ? to->second : to->first, second = to->counts & INPUT_CAP << 8 ? to->first : to->second;
    uint32_t wanted = 1u << first | 1u << second;
    if (to->counts & to->full) to->glutted |= arm->to_bit;
    Spot spot = find_wanted(arm->far, &far, first, second);
    int32_t far_tick = watch_tile(arm->far, &arm->far_watch, arm->from_at, wanted, &far, &spot);
    spot = find_wanted(arm->near, &near, first, second);
    int32_t near_tick = watch_tile(arm->near, &arm->near_watch, arm->from_at, wanted, &near, &spot);
    visit_at(actor, far_tick < near_tick ? far_tick : near_tick);
    return NO_ITEM;
}

/* Every wait is for one thing without which nothing can be grabbed, so it is enough to be woken by that. */
static INLINE uint32_t grab(Arm *arm, uint32_t actor, int watched) {
    switch (arm->route / 4) {
    case FROM_BELT: {
        if (arm->route % 4 == TO_CRAFTER) return grab_for_crafter(arm, actor, watched);
        if (arm->route % 4 == TO_NOTHING) return NO_ITEM;
        Lane *lane = arm->far;
        int32_t upper = arm->from_at + TILE;
        Spot far = find_from(lane, arm->from_at), head = far;
        if (far.at >= upper) {
            lane = arm->near;
            head = find_from(lane, arm->from_at);
            if (head.at >= upper) {
                int32_t far_tick = watch_tile(arm->far, &arm->far_watch, arm->from_at, ANY_ITEM, &far, &far);
                int32_t near_tick = watch_tile(arm->near, &arm->near_watch, arm->from_at, ANY_ITEM, &head, &head);
                visit_at(actor, far_tick < near_tick ? far_tick : near_tick);
                return NO_ITEM;
            }
        }
        if (!would_accept(arm, item_at(lane, &head))) {
            wait_for_drop(arm, actor);
            return NO_ITEM;
        }
        return take(lane, &head, watched);
    }
    case FROM_CRAFTER: {
        Crafter *from = arm->from;
        if (from->counts >> ROOM_SHIFT == OUTPUT_CAP) {
            from->starved |= arm->from_bit;
            return NO_ITEM;
        }
        if (!would_accept(arm, from->made)) {
            wait_for_drop(arm, actor);
            return NO_ITEM;
        }
        set_counts(from, from->counts + (1 << ROOM_SHIFT));
        return from->made;
    }
    case FROM_SOURCE:
        if (would_accept(arm, arm->source_item)) return arm->source_item;
        wait_for_drop(arm, actor);
        return NO_ITEM;
    default: return NO_ITEM;
    }
}

static INLINE void run_arm(Arm *arm, uint32_t actor, int watched) {
    if (now < arm->ready) return;
    current = actor;
    if (arm->held == NO_ITEM) {
        arm->held = grab(arm, actor, watched);
        if (arm->held == NO_ITEM) return;
        arm->ready = now + SWING;
    } else {
        if (!drop(arm, watched)) {
            wait_for_drop(arm, actor);
            return;
        }
        arm->held = NO_ITEM;
        arm->ready = now + SWING + 1; /* the tick in which the counter reaches 0 does nothing else */
    }
    visit(actor, arm->ready);
}

/* ---- what happens at the ends of lanes ----------------------------------------------------------------------------- */

/* The plain case of an inlet is the end of a lane. */
static inline bool is_plain(const Inlet *inlet) { return inlet->edge == 0 && !inlet->always; }

static bool has_arrived(Inlet *inlet, uint32_t *item) {
    Spot spot = find_from(inlet->lane, inlet->edge);
    if (spot.at != inlet->edge) return false;
    *item = item_at(inlet->lane, &spot);
    return true;
}

static INLINE void take_head(Lane *lane, bool await, int watched) {
    pop(lane, await);
    if (watched) note_lane(watched, POP, lane, 0, 0);
}

static void take_oddly(Lane *lane, const Spot *spot) {
    take_out(lane, spot);
    wake_all(lane);
}

static void take_arrived(Inlet *inlet, int watched) {
    if (inlet->edge == 0) {
        take_head(inlet->lane, false, watched);
    } else {
        Spot spot = find_from(inlet->lane, inlet->edge); /* again: what it was put onto may be the same lane */
        if (watched) note_lane(watched, ODD_TAKE, inlet->lane, spot.at, 0);
        take_oddly(inlet->lane, &spot);
    }
}

static void await_next(const Inlet *inlet, uint32_t actor) {
    if (inlet->always) visit(actor, now + 1);
    else await_head(inlet->lane);
}

__attribute__((noinline)) static void run_odd_feeder(Feeder *feeder, uint32_t actor, int watched) {
    uint32_t item;
    if (has_arrived(&feeder->from, &item) && put(&feeder->to, item, watched)) take_arrived(&feeder->from, watched);
    await_next(&feeder->from, actor);
}

static INLINE void run_feeder(Feeder *feeder, uint32_t actor, int watched) {
    if (!is_plain(&feeder->from)) {
        run_odd_feeder(feeder, actor, watched);
        return;
    }
    Lane *lane = feeder->from.lane;
    if (!has_head(lane)) {
        await_head(lane);
    } else if (put(&feeder->to, *lane->head, watched)) {
        take_head(lane, true, watched);
    } else {
        touch(lane);
        watch_place(actor, &feeder->to, 0);
    }
}

/* Passes an item on to one of the outputs, the preferred one if possible. */
static INLINE bool pass_on(Splitter *splitter, uint32_t item, int watched) {
    uint32_t chosen = splitter->preferred;
    Outlet *to = &splitter->to[chosen];
    if (!to->lane || is_jammed(to->lane, to->at) || !put(to, item, watched)) {
        chosen ^= 1;
        to = &splitter->to[chosen];
        if (!to->lane || !put(to, item, watched)) return false;
    }
    splitter->preferred = chosen ^ 1;
    return true;
}

__attribute__((noinline)) static void run_odd_splitter(Splitter *splitter, uint32_t actor, uint32_t in_first, int watched) {
    for (uint32_t k = 0; k < 2; k++) {
        Inlet *from = &splitter->from[in_first ^ k];
        uint32_t item;
        if (from->lane && has_arrived(from, &item) && pass_on(splitter, item, watched)) take_arrived(from, watched);
    }
    visit(actor, now + 1);
}

static INLINE void run_splitter(Splitter *splitter, uint32_t actor, uint32_t in_first, int watched) {
    bool refused = false;
    if (!splitter->plain) {
        run_odd_splitter(splitter, actor, in_first, watched);
        return;
    }
    for (uint32_t k = 0; k < 2; k++) {
        Lane *lane = splitter->from[in_first ^ k].lane;
        if (!lane) continue;
        if (!has_head(lane)) {
            await_head(lane);
        } else if (!refused && pass_on(splitter, *lane->head, watched)) { /* where one finds no place, nor does the other */
            take_head(lane, true, watched);
        } else {
            touch(lane);
            refused = true;
        }
    }
    if (refused)
        for (int i = 0; i < 2; i++)
            if (splitter->to[i].lane) watch_place(actor, &splitter->to[i], 0);
}

static INLINE void run_drain(Drain *drain, uint32_t actor, int watched) {
    uint32_t item;
    Lane *lane = drain->from.lane;
    if (!is_plain(&drain->from)) {
        if (has_arrived(&drain->from, &item)) {
            consume(drain->sink, item, watched);
            take_arrived(&drain->from, watched);
        }
        await_next(&drain->from, actor);
        return;
    }
    if (has_head(lane)) {
        consume(drain->sink, *lane->head, watched);
        take_head(lane, true, watched);
    } else {
        await_head(lane);
    }
}

/* ---- replaying: see replay.h ---------------------------------------------------------------------------------- */

static inline bool is_live(uint32_t actor) { return live[actor / 64] >> (actor & 63) & 1; }

/* Makes a change that a part at rest made one period ago. */
static void repeat_note(const Note *note) {
    Lane *lane = &lanes[note->lane];
    int32_t at = (int32_t)(note->what >> AT_SHIFT);
    bool same;
    current = note->actor < first_actor[ARMS] ? 0 : note->actor < first_after ? note->actor : UINT32_MAX;
    if (operation_of(note) == PUT) {
        same = force(lane, at, note->what & ITEM_MASK);
    } else if (operation_of(note) == POP) {
        touch(lane);
        same = lane->stuck;
        if (same) pop(lane, false);
    } else {
        Spot spot = find_from(lane, at);
        same = spot.at == at;
        if (same && operation_of(note) == TAKE) take_unnoticed(lane, &spot);
        else if (same) take_oddly(lane, &spot);
    }
    if (!same && is_shared[note->lane]) __builtin_trap(); /* it cannot be: all that happened to this lane is what happened before */
}

/* Those at rest who did something in this tick of the recorded period are visited like everybody else. */
static inline void visit_noted(void) {
    for (const Note *note = next_note; note->tick == (uint32_t)now; note++) visit(note->actor, now);
}

/* Whoever was live and comes before an actor has to have repeated what it did. */
static inline void expect_none_before(uint32_t actor) {
    for (; next_note->tick == (uint32_t)now && next_note->actor < actor; next_note++)
        if (is_shared[next_note->lane]) break_lane(next_note->lane);
}

/* Returns whether an actor is to act by its rules. Of one at rest, the notes are repeated instead. */
static bool acts_anew(uint32_t actor) {
    expect_none_before(actor);
    if (is_live(actor)) return true;
    for (; next_note->tick == (uint32_t)now && next_note->actor == actor; next_note++) repeat_note(next_note);
    return false;
}

/* ---- the tick ----------------------------------------------------------------------------------------------- */

static inline uint32_t in_first(uint64_t tick) { return tick & 1; } /* flips every tick, from 0: the value after `tick` */

/* Visits everybody of one phase whose bit is set. A visit may set further bits of the same tick, behind its own. */
#define EACH(phase, index, actor, body) \
    for (uint32_t start = first_actor[phase], base = start, end = first_actor[(phase) + 1]; base != end; base += 64, bits += SLOTS) \
        for (uint64_t left; (left = *bits);) { \
            uint32_t actor = base + (uint32_t)__builtin_ctzll(left), index = actor - start; \
            *bits = left & (left - 1); \
            if (watched == REPLAYING && !acts_anew(actor)) continue; \
            if (watched) acting = actor; \
            body; \
        }

static INLINE void tick(int watched) {
    uint64_t *bits = wheel + (++now & FARTHEST);
    current = 0;
    if (watched == REPLAYING) visit_noted();
    EACH(SOURCES, i, actor, (void)actor; run_source(i, watched))
    EACH(ARMS, i, actor, run_arm(&arms[i], actor, watched))
    phases++;
    current = UINT32_MAX;
    if (moving_count) move_mixed_lanes();
    EACH(SIDE_LOADS, i, actor, run_feeder(&side_loads[i], actor, watched))
    uint32_t first = in_first(skipped + (uint32_t)now - 1);
    EACH(SPLITTERS, i, actor, run_splitter(&splitters[i], actor, first, watched))
    EACH(LANE_SPLITTERS, i, actor, run_feeder(&lane_splitters[i], actor, watched))
    EACH(CRAFTERS, i, actor, (void)actor; run_crafter(&crafters[i]))
    EACH(DRAINS, i, actor, run_drain(&drains[i], actor, watched))
    if (watched == REPLAYING) expect_none_before(UINT32_MAX);
}

static void run_tick(void) { tick(UNWATCHED); }
static void run_recorded_tick(void) { tick(RECORDING); }
static void run_replayed_tick(void) { tick(REPLAYING); }

static uint64_t true_tick(void) { return skipped + (uint32_t)now; }

static uint32_t written; /* snapshots */
static void write_snapshot(uint64_t tick);

#include "cycle.h"

/* ---- writing ------------------------------------------------------------------------------------------------ */


static void fill_cells(void) {
    for (int32_t i = 0; i < lane_count; i++) {
        Lane *lane = &lanes[i];
        for (int32_t t = 0; t < lane->tiles; t++) lane->cells[t].count = 0;
        touch(lane);
        const uint8_t *item = lane->head;
        for (Block *block = lane->front; block < lane->back; block++) {
            int32_t at = block_at(lane, block);
            for (int32_t k = 0; k < block->count; k++, at += SPACING) {
                Cell *here = &lane->cells[at / TILE];
                here->codes[here->count++] = (uint8_t)((at % TILE) << 5 | *item++);
            }
        }
    }
}

static inline void put_arm(Answer *answer, const Arm *arm) {
    int32_t left = arm->ready - now;
    if (arm->held != NO_ITEM) put_swing(answer, arm->held, left > 1 ? (uint32_t)left : 1);
    else put_unloaded(answer, left > 1 ? (uint32_t)left - 1 : 0);
}

static void write_snapshot(uint64_t tick) {
    Answer answer = {(char *)heap_top, 0};
    heap_ensure(ENTITY_TEXT);
    char *checksum = open_snapshot(&answer, tick, (uint32_t)scenario.count);
    fill_cells();
    for (int32_t e = 0; e < scenario.count; e++) {
        heap_top = (uintptr_t)answer.out;
        heap_ensure(ENTITY_TEXT);
        int32_t slot = slot_of[e];
        switch (entities[e].kind) {
        case BELT: put_belt(&answer, &lanes_of[e][0]->cells[tile_of[e]], &lanes_of[e][1]->cells[tile_of[e]]); break;
        case SPLITTER: put_splitter(&answer, splitters[2 * slot].preferred + 2 * splitters[2 * slot + 1].preferred, in_first(tick)); break;
        case INSERTER: put_arm(&answer, &arms[slot]); break;
        case SOURCE: put_source(&answer, (uint32_t)(tick % entities[e].period)); break;
        case SINK: put_sink(&answer, sinks[slot].consumed); break;
        case LANE_SPLITTER: put_lane_splitter(&answer); break;
        default: {
            const Crafter *crafter = &crafters[slot];
            put_crafter(&answer, entities[e].kind, &recipes[entities[e].detail], crafter->counts & 0xff,
                        crafter->counts >> 8 & 0xff, OUTPUT_CAP - (crafter->counts >> ROOM_SHIFT),
                        crafter->done ? (uint32_t)(crafter->done - now) : 0);
        }
        }
    }
    close_snapshot(&answer, checksum);
    heap_top = (uintptr_t)answer.out;
}

/* ---- once the period is known --------------------------------------------------------------------------------- */

enum { MOST_SORTED = 64 };

/* A snapshot, where in the period it lies, how many periods come before it, and its text. */
typedef struct {
    uint64_t tick, periods;
    uint32_t phase;
    char *text;
    size_t size;
} Late;

static void add_gains(uint64_t periods) {
    for (uint32_t s = 0; s < sink_count; s++)
        for (int i = 0; i < ITEMS; i++) sinks[s].consumed[i] += periods * gains[s * ITEMS + (uint32_t)i];
}

static char *copy_text(char *to, const char *from, size_t size) {
    for (size_t i = 0; i < size; i += VECTOR) copy_16(to + i, from + i);
    return to + size;
}

/* Writes up to MOST_SORTED snapshots by passing through one period: sorted by phase, then put into their order behind a
 * copy of the text since `start`. Returns where the whole text now starts. */
static uintptr_t write_sorted(uintptr_t start, const uint64_t *ticks, uint32_t count) {
    static Late late[MOST_SORTED];
    static uint8_t order[MOST_SORTED];
    uint64_t first = skipped + (uint32_t)now;
    int32_t base = now;
    size_t total = heap_top - start;
    for (uint32_t s = 0; s < count; s++) {
        uint64_t wait = ticks[s] - first;
        late[s] = (Late){.tick = ticks[s], .periods = wait / period, .phase = (uint32_t)(wait % period)};
        uint32_t place = s;
        for (; place > 0 && late[order[place - 1]].phase > late[s].phase; place--) order[place] = order[place - 1];
        order[place] = (uint8_t)s;
    }
    char *done = (char *)heap_top;
    for (uint32_t i = 0; i < count; i++) {
        Late *one = &late[order[i]];
        if (watching) walk_to(one->phase);
        else while ((uint32_t)(now - base) < one->phase) run_tick();
        one->text = (char *)heap_top;
        add_gains(one->periods);
        if (watching) write_while_resting(one->tick);
        else write_snapshot(one->tick);
        add_gains(-one->periods);
        one->size = heap_top - (uintptr_t)one->text;
        total += one->size;
    }
    heap_ensure(total + VECTOR);
    char *to = (char *)heap_top;
    uintptr_t moved = heap_top;
    to = copy_text(to, (char *)start, (size_t)(done - (char *)start));
    for (uint32_t s = 0; s < count; s++) to = copy_text(to, late[s].text, late[s].size);
    heap_top = (uintptr_t)to;
    return moved;
}

static uintptr_t write_repeating(uintptr_t start) {
    uint32_t s = written, count = scenario.snapshot_count - s;
    bool sorted = count <= MOST_SORTED && (count > 1 || watching);
    if (watching && (!sorted || covered_until <= scenario.snapshots[scenario.snapshot_count - 1])) stop_resting();
    if (sorted) return write_sorted(start, scenario.snapshots + s, count);
    for (; s < scenario.snapshot_count; s++) { /* one after the other, over as many whole periods as lie between them */
        uint64_t wait = scenario.snapshots[s] - skipped - (uint32_t)now;
        skipped += wait / period * period;
        add_gains(wait / period);
        for (uint32_t rest = (uint32_t)(wait % period); rest > 0; rest--) run_tick();
        write_snapshot(scenario.snapshots[s]);
    }
    return start;
}

/* ---- setting up --------------------------------------------------------------------------------------------- */

/* The stretches of equal speed of a run, as few as there are. */
static int32_t read_zones(const Run *run, Zone *zones) {
    int32_t count = 0;
    for (int32_t i = 0; i < run->length; i++) {
        int32_t speed = entities[run->belts[i]].detail;
        if (count == 0 || zones[count - 1].speed != speed) zones[count++] = (Zone){i * TILE, speed};
    }
    return count;
}

static void lay_lanes(void) {
    lane_count = 2 * layout.run_count;
    lanes = reserve((size_t)lane_count * sizeof *lanes);
    lanes_of = reserve((size_t)scenario.count * sizeof *lanes_of);
    tile_of = reserve((size_t)scenario.count * sizeof *tile_of);
    for (int32_t r = 0; r < layout.run_count; r++) {
        const Run *run = &layout.runs[r];
        Zone *zones = reserve((size_t)run->length * sizeof *zones);
        int32_t zone_count = read_zones(run, zones);
        for (int side = LEFT; side <= RIGHT; side++) start_lane(&lanes[2 * r + side], run->length, zones, zone_count);
        for (int32_t i = 0; i < run->length; i++) {
            int32_t e = run->belts[i];
            lanes_of[e][LEFT] = &lanes[2 * r + LEFT];
            lanes_of[e][RIGHT] = &lanes[2 * r + RIGHT];
            tile_of[e] = i;
        }
    }
    moving_lanes = reserve((size_t)lane_count * sizeof *moving_lanes);
}

static bool is_belt(int32_t e) { return e != NONE && entities[e].kind == BELT; }

/* Takes a lane's end for an actor. Only the first who asks is told when something arrives there. */
static Inlet take_inlet(int32_t belt, int side, uint32_t actor) {
    Lane *lane = lanes_of[belt][side];
    int32_t edge = tile_of[belt] * TILE;
    bool always = edge != 0 || lane->consumer_bit;
    if (always) {
        visit(actor, 1);
    } else {
        lane->consumer_row = wheel_row(actor);
        lane->consumer_bit = wheel_bit(actor);
    }
    return (Inlet){lane, edge, always};
}

static void take_outlet(Outlet *outlet, Lane *lane, int32_t at, uint32_t actor) {
    outlet->lane = lane;
    outlet->at = at;
    add_watcher(lane, at + SPACING, actor, &outlet->watch);
}

static void take_entry(Outlet *outlet, int32_t belt, int side, uint32_t actor) {
    take_outlet(outlet, lanes_of[belt][side], tile_of[belt] * TILE + ENTRY, actor);
}

static void set_up_source(const Entity *entity, uint32_t *next) {
    int32_t target = owner_beside(entity->x, entity->y, entity->dir);
    if (!is_belt(target)) return;
    for (int side = LEFT; side <= RIGHT; side++) {
        if (!(entity->detail >> side & 1)) continue;
        uint32_t index = (*next)++;
        sources[index] = (Source){.period = entity->period, .next = entity->period, .item = entity->item};
        take_entry(&sources[index].to, target, side, index);
        visit(index, entity->period < FARTHEST ? (int32_t)entity->period : FARTHEST);
    }
}

static uint64_t join_crafter(Crafter *crafter, uint32_t actor) {
    uint32_t index = crafter->arm_count++;
    if (index == crafter->arm_room) {
        crafter->arm_room = crafter->arm_room ? 2 * crafter->arm_room : FIRST_WATCHERS;
        uint32_t *joined = reserve(crafter->arm_room * sizeof *joined);
        for (uint32_t i = 0; i < index; i++) joined[i] = crafter->arms[i];
        crafter->arms = joined;
    }
    crafter->arms[index] = actor;
    return 1ull << (index < LAST_ARM ? index : LAST_ARM);
}

static void set_up_arm(Arm *arm, const Entity *entity, uint32_t actor) {
    int32_t from = owner_beside(entity->x, entity->y, opposite(entity->dir));
    int32_t to = owner_beside(entity->x, entity->y, entity->dir);
    uint32_t from_kind = FROM_NOTHING, to_kind = TO_NOTHING;
    arm->held = NO_ITEM;
    if (is_belt(from)) {
        int near = near_lane(entity->dir, entities[from].dir);
        from_kind = FROM_BELT;
        arm->from_at = tile_of[from] * TILE;
        arm->near = lanes_of[from][near];
        arm->far = lanes_of[from][!near];
        add_watcher(arm->near, arm->from_at + TILE, actor, &arm->near_watch);
        add_watcher(arm->far, arm->from_at + TILE, actor, &arm->far_watch);
    } else if (from != NONE && is_crafter(entities[from].kind)) {
        from_kind = FROM_CRAFTER;
        arm->from = &crafters[slot_of[from]];
        arm->from_bit = join_crafter(arm->from, actor);
    } else if (from != NONE && entities[from].kind == SOURCE) {
        from_kind = FROM_SOURCE;
        arm->source_item = entities[from].item;
    }
    if (is_belt(to)) {
        to_kind = TO_BELT;
        take_entry(&arm->onto, to, near_lane(entity->dir, entities[to].dir), actor);
    } else if (to != NONE && is_crafter(entities[to].kind)) {
        to_kind = TO_CRAFTER;
        arm->to = &crafters[slot_of[to]];
        arm->to_bit = join_crafter(arm->to, actor);
    } else if (to != NONE && entities[to].kind == SINK) {
        to_kind = TO_SINK;
        arm->sink = &sinks[slot_of[to]];
    }
    arm->route = 4 * from_kind + to_kind;
    if (from_kind != FROM_NOTHING && to_kind != TO_NOTHING) visit(actor, 1);
}

/* The belt of a splitter's own facing behind or in front of one of its tiles, or NONE. */
static int32_t splitter_end(const Entity *entity, int tile, bool ahead) {
    int32_t x = entity->x, y = entity->y;
    if (tile) second_tile(entity, &x, &y);
    int32_t belt = owner_beside(x, y, ahead ? entity->dir : opposite(entity->dir));
    return is_belt(belt) && entities[belt].dir == entity->dir ? belt : NONE;
}

static void set_up_splitter(const Entity *entity, uint32_t slot) {
    for (int side = LEFT; side <= RIGHT; side++) {
        uint32_t index = 2 * slot + (uint32_t)side, actor = first_actor[SPLITTERS] + index;
        for (int tile = 0; tile < 2; tile++) {
            int32_t in = splitter_end(entity, tile, false), out = splitter_end(entity, tile, true);
            if (in != NONE) splitters[index].from[tile] = take_inlet(in, side, actor);
            if (out != NONE) take_entry(&splitters[index].to[tile], out, side, actor);
        }
        splitters[index].plain = is_plain(&splitters[index].from[0]) && is_plain(&splitters[index].from[1]);
    }
}

static void set_up_lane_splitter(const Entity *entity, uint32_t *next) {
    int32_t in = splitter_end(entity, 0, false);
    if (in == NONE) return;
    for (int side = LEFT; side <= RIGHT; side++) {
        int32_t out = splitter_end(entity, side, true);
        if (out == NONE) continue;
        uint32_t index = (*next)++, actor = first_actor[LANE_SPLITTERS] + index;
        lane_splitters[index].from = take_inlet(in, side, actor);
        take_entry(&lane_splitters[index].to, out, side, actor);
    }
}

static void set_up_side_load(int32_t e, uint32_t *next) {
    enum { UPSTREAM = 6, DOWNSTREAM = 2, HEAD_ON = 4 };
    const Entity *entity = &entities[e];
    int32_t target = owner_beside(entity->x, entity->y, entity->dir);
    if (!is_belt(target) || entities[target].dir == entity->dir || layout.curve[target]) return;
    uint8_t dir = entities[target].dir;
    int near = near_lane(entity->dir, dir);
    for (int side = LEFT; side <= RIGHT; side++) {
        uint8_t lies = lane_side(entity->dir, side);
        int32_t at = lies == opposite(dir) ? UPSTREAM : lies == dir ? DOWNSTREAM : HEAD_ON;
        uint32_t index = (*next)++, actor = first_actor[SIDE_LOADS] + index;
        side_loads[index].from = take_inlet(e, side, actor);
        take_outlet(&side_loads[index].to, lanes_of[target][near], tile_of[target] * TILE + at, actor);
    }
}

static void set_up_sink(const Entity *entity, Sink *sink, uint32_t *next) {
    for (uint8_t side = 0; side < 4; side++) {
        int32_t belt = owner_beside(entity->x, entity->y, side);
        if (!is_belt(belt) || entities[belt].dir != opposite(side)) continue;
        for (int lane = LEFT; lane <= RIGHT; lane++) {
            uint32_t index = (*next)++;
            drains[index] = (Drain){take_inlet(belt, lane, first_actor[DRAINS] + index), sink};
        }
    }
}

static void set_up_crafter(Crafter *crafter, const Entity *entity, uint32_t actor) {
    const Recipe *recipe = &recipes[entity->detail];
    bool two = recipe->input[1] != NO_ITEM;
    *crafter = (Crafter){
        .counts = OUTPUT_CAP << ROOM_SHIFT,
        .inputs = recipe->need[0] | (uint32_t)recipe->need[1] << 8,
        .full = two ? INPUT_CAP | INPUT_CAP << 8 : INPUT_CAP,
        .first = recipe->input[0],
        .second = two ? recipe->input[1] : ITEMS,
        .made = recipe->output,
        .made_amount = (uint32_t)recipe->amount << ROOM_SHIFT,
        .ticks = recipe->ticks,
        .actor = actor,
    };
    crafter->start = crafter->inputs | crafter->made_amount;
    if (entity->kind == FURNACE) {
        if (crafter->first != COAL) crafter->first_bias = 16;
        if (crafter->second != COAL) crafter->second_bias = 16;
    }
}

/* Numbers the actors: how many there can be of each phase is known from the kinds, and numbers may stay unused. */
static void number_actors(void) {
    uint32_t counts[KINDS] = {0};
    int32_t count = scenario.count;
    slot_of = reserve((size_t)count * sizeof *slot_of);
    for (int32_t e = 0; e < count; e++) {
        int kind = entities[e].kind == FURNACE ? ASSEMBLER : entities[e].kind;
        slot_of[e] = (int32_t)counts[kind]++;
    }
    uint32_t most[PHASES] = {
        [SOURCES] = 2 * counts[SOURCE],       [ARMS] = counts[INSERTER],
        [SIDE_LOADS] = 0,                     [SPLITTERS] = 2 * counts[SPLITTER],
        [LANE_SPLITTERS] = 2 * counts[LANE_SPLITTER], [CRAFTERS] = counts[ASSEMBLER],
        [DRAINS] = 8 * counts[SINK],
    };
    for (int32_t e = 0; e < count; e++) {
        if (entities[e].kind != BELT) continue;
        int32_t target = owner_beside(entities[e].x, entities[e].y, entities[e].dir);
        if (is_belt(target) && entities[target].dir != entities[e].dir && !layout.curve[target]) most[SIDE_LOADS] += 2;
    }
    for (int phase = 0; phase < PHASES; phase++) first_actor[phase + 1] = (first_actor[phase] + most[phase] + 63) & ~63u;
    first_after = first_actor[SIDE_LOADS];
    wheel = reserve((size_t)first_actor[PHASES] / 64 * SLOTS * sizeof *wheel);
    live = reserve(((size_t)first_actor[PHASES] / 64 + 1) * sizeof *live); /* one more, for the end of the notes */
    sources = reserve(most[SOURCES] * sizeof *sources);
    arms = reserve(most[ARMS] * sizeof *arms);
    side_loads = reserve(most[SIDE_LOADS] * sizeof *side_loads);
    splitters = reserve(most[SPLITTERS] * sizeof *splitters);
    lane_splitters = reserve(most[LANE_SPLITTERS] * sizeof *lane_splitters);
    crafters = reserve(most[CRAFTERS] * sizeof *crafters);
    drains = reserve(most[DRAINS] * sizeof *drains);
    sinks = reserve(counts[SINK] * sizeof *sinks);
    sink_count = counts[SINK];
    actor_counts[ARMS] = most[ARMS];
    actor_counts[SPLITTERS] = most[SPLITTERS];
    actor_counts[CRAFTERS] = most[CRAFTERS];
}

static void set_up(void) {
    number_actors();
    for (int32_t e = 0; e < scenario.count; e++) { /* before the arms that join them */
        uint32_t slot = (uint32_t)slot_of[e];
        if (is_crafter(entities[e].kind)) set_up_crafter(&crafters[slot], &entities[e], first_actor[CRAFTERS] + slot);
    }
    for (int32_t e = 0; e < scenario.count; e++) {
        const Entity *entity = &entities[e];
        uint32_t slot = (uint32_t)slot_of[e];
        switch (entity->kind) {
        case BELT: set_up_side_load(e, &actor_counts[SIDE_LOADS]); break;
        case SPLITTER: set_up_splitter(entity, slot); break;
        case LANE_SPLITTER: set_up_lane_splitter(entity, &actor_counts[LANE_SPLITTERS]); break;
        case INSERTER: set_up_arm(&arms[slot], entity, first_actor[ARMS] + slot); break;
        case SOURCE: set_up_source(entity, &actor_counts[SOURCES]); break;
        case SINK: set_up_sink(entity, &sinks[slot], &actor_counts[DRAINS]); break;
        }
    }
    for (int32_t i = 0; i < lane_count; i++) number_watchers(&lanes[i]);
    /* Cells for writing: one for each tile of each lane. */
    size_t tiles = 0;
    for (int32_t i = 0; i < lane_count; i++) tiles += (size_t)lanes[i].tiles;
    Cell *next = reserve(tiles * sizeof *next);
    for (int32_t i = 0; i < lane_count; i++) {
        lanes[i].cells = next;
        next += lanes[i].tiles;
    }
}

#ifndef STAGES
#define STAGES 3 /* 1: only reads the scenario; 2: is also set up */
#endif

__attribute__((export_name("simulate"))) uint64_t simulate(const char *text, size_t length) {
    scenario = read_scenario(text, length);
    if (STAGES == 1) return 0;
    entities = scenario.entities;
    layout = read_layout(&scenario);
    lay_lanes();
    set_up();
    start_looking(scenario.snapshots[scenario.snapshot_count - 1]);
    if (STAGES == 2) return 0;

    uintptr_t start = heap_top;
    heap_ensure(ENTITY_TEXT);
    *(char *)heap_top++ = '[';
    advance();
    if (written < scenario.snapshot_count) start = write_repeating(start); /* in another order */
    ((char *)heap_top)[-1] = ']'; /* in place of the comma behind the last snapshot */
    return (uint64_t)start << 32 | (uint64_t)(heap_top - start);
}
