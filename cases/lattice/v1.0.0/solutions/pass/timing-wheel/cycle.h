/* Proven cycles. From time to time everything that decides the future is written down and compared, byte by byte, with
 * what was written down before. If two are equal, the factory repeats what it did between them for ever.
 *
 * The moments are the starts of one busy crafter: a factory with a period starts it at the same places of every period,
 * so whatever the period is, the first moment that comes round again finds its equal. Where nothing crafts, they are
 * multiples of the sources' common period. A signature only picks what is worth comparing. */
#ifndef LATTICE_CYCLE_H
#define LATTICE_CYCLE_H

#ifndef SKIPPING
#define SKIPPING 1 /* 0: every tick is simulated */
#endif

enum { MOST_CHECKPOINTS = 256, LEAST_CHECKPOINTS = 8, CHECKPOINT_BYTES = 48 << 20 };
enum { MOST_TICKS = 1 << 29 };
enum { FIRST_CHOICE = 128, PATIENCE = 512, LEAST_STEP = 64, MOST_STEP = 4096 };

typedef struct {
    uint64_t tick; /* the true one */
    uint32_t size;
    uint8_t *state;
    uint32_t *wakes;    /* of all sources */
    uint64_t *consumed; /* by all sinks: what may differ, by the same amount in every period */
} Checkpoint;

static Checkpoint checkpoints[MOST_CHECKPOINTS];
static uint32_t signatures[MOST_CHECKPOINTS];
static uint32_t checkpoint_count, checkpoint_room;
static uint32_t looks, looks_per_checkpoint = 8;
static int32_t next_look = NEVER, next_choice = FIRST_CHOICE, step = LEAST_STEP;

static uint32_t period; /* proven, or 0 */
static uint64_t *gains; /* of all sinks in one period */

static inline void put_32(uint8_t *to, uint32_t value) { __builtin_memcpy(to, &value, 4); }
static inline void put_64(uint8_t *to, uint64_t value) { __builtin_memcpy(to, &value, 8); }

static size_t most_state_bytes(void) {
    size_t bytes = 64;
    for (int32_t i = 0; i < lane_count; i++) bytes += 4 + 9 * (size_t)lanes[i].tiles * LANE_ITEMS + 2 * VECTOR;
    return bytes + 4 * (actor_counts[ARMS] + actor_counts[CRAFTERS] + actor_counts[SPLITTERS]) + 8 * actor_counts[SOURCES];
}

static INLINE uint8_t *encode_lane(Lane *lane, uint8_t *to) {
    touch(lane);
    int32_t gone = travel(lane);
    if (lane->stuck) lane->front->at = gone;
    v128_t shift = wasm_i32x4_make(gone, 0, gone, 0);
    uint32_t blocks = (uint32_t)(lane->back - lane->front), items = (uint32_t)(lane->tail - lane->head);
    put_32(to, blocks);
    to += 4;
    const uint8_t *from = (const uint8_t *)lane->front, *end = (const uint8_t *)lane->back;
    for (uint8_t *at = to; from < end; from += VECTOR, at += VECTOR) wasm_v128_store(at, wasm_i32x4_sub(wasm_v128_load(from), shift));
    to += blocks * sizeof(Block);
    from = lane->head, end = lane->tail;
    for (uint8_t *at = to; from < end; from += VECTOR, at += VECTOR) wasm_v128_store(at, wasm_v128_load(from));
    return to + items;
}

/* A guess at what is worth comparing: equal states have equal signatures. */
static uint32_t sign_state(void) {
    uint32_t hash = 0;
    for (const Crafter *crafter = crafters, *end = crafters + actor_counts[CRAFTERS]; crafter < end; crafter++)
        hash = (hash ^ crafter->counts ^ (crafter->done ? (uint32_t)(crafter->done - now) << 24 : 0)) * 0x9e3779b1u;
    for (const Lane *lane = lanes, *end = lanes + lane_count; lane < end; lane++)
        hash = hash * 31 + (uint32_t)(lane->tail - lane->head);
    return hash;
}

static inline uint32_t encode_crafter(const Crafter *crafter) {
    return crafter->counts | (crafter->done ? (uint32_t)(crafter->done - now) << 24 : 0);
}

static inline uint32_t encode_arm(const Arm *arm) { return arm->held | (arm->ready > now ? (uint32_t)(arm->ready - now) << 8 : 0); }

/* Of one that sleeps see same_phases. */
static inline uint64_t encode_source(const Source *source) { return source->next == ASLEEP ? 0 : (uint64_t)(source->next - now); }

/* Writes the state down, crafters first; returns its end. */
static uint8_t *encode_state(uint8_t *to) {
    for (uint32_t i = 0; i < actor_counts[CRAFTERS]; i++, to += 4) put_32(to, encode_crafter(&crafters[i]));
    for (int32_t i = 0; i < lane_count; i++) to = encode_lane(&lanes[i], to);
    for (uint32_t i = 0; i < actor_counts[ARMS]; i++, to += 4) put_32(to, encode_arm(&arms[i]));
    for (uint32_t i = 0; i < actor_counts[SOURCES]; i++, to += 8) put_64(to, encode_source(&sources[i]));
    for (uint32_t i = 0; i < actor_counts[SPLITTERS]; i++) *to++ = (uint8_t)splitters[i].preferred;
    if (actor_counts[SPLITTERS]) *to++ = (uint8_t)in_first(skipped + (uint32_t)now);
    wasm_v128_store(to, wasm_i32x4_splat(0)); /* so that whole vectors can be compared */
    return to;
}

static void copy_consumed(uint64_t *to) {
    for (uint32_t i = 0; i < sink_count * ITEMS; i++) to[i] = all_consumed()[i];
}

static void copy_counts(uint32_t *wakes, uint64_t *to) {
    for (uint32_t i = 0; i < actor_counts[SOURCES]; i++) wakes[i] = sources[i].wakes;
    copy_consumed(to);
}

static bool same_state(const Checkpoint *a, const Checkpoint *b) {
    if (a->size != b->size) return false;
    for (uint32_t i = 0; i < a->size; i += VECTOR) {
        v128_t different = wasm_v128_xor(wasm_v128_load(a->state + i), wasm_v128_load(b->state + i));
        if (wasm_v128_any_true(different)) return false;
    }
    return true;
}

/* The phase of a source that sleeps shows only when it wakes. So it has to be the same, or the source must have slept
 * all the time; then it will do so for ever. */
static bool same_phases(const Checkpoint *old) {
    for (uint32_t i = 0; i < actor_counts[SOURCES]; i++)
        if (sources[i].next == ASLEEP && sources[i].wakes != old->wakes[i] && (true_tick() - old->tick) % sources[i].period) return false;
    return true;
}

static void drop_every_other(void) {
    looks_per_checkpoint *= 2;
    for (uint32_t i = 0; i < checkpoint_count / 2; i++) {
        Checkpoint dropped = checkpoints[i];
        checkpoints[i] = checkpoints[2 * i];
        signatures[i] = signatures[2 * i];
        checkpoints[2 * i] = dropped;
    }
    checkpoint_count /= 2;
}

/* The crafter that starts most often now; asked again whenever the time has doubled. */
static void choose_section(void) {
    uint32_t most = 0;
    section = NULL;
    for (uint32_t i = 0; i < actor_counts[CRAFTERS]; i++) {
        if (crafters[i].starts > most) {
            most = crafters[i].starts;
            section = &crafters[i];
        }
        crafters[i].starts = 0;
    }
    next_choice = now < NEVER / 2 ? 2 * now : NEVER;
}

static bool is_known(uint32_t signature) {
    v128_t wanted = wasm_i32x4_splat((int32_t)signature);
    for (uint32_t i = 0; i < checkpoint_count; i += 4) /* what lies behind the last one does no harm */
        if (wasm_v128_any_true(wasm_i32x4_eq(wanted, wasm_v128_load(&signatures[i])))) return true;
    return false;
}

static void look(void) {
    section_hit = false;
    if (now > MOST_TICKS) __builtin_trap(); /* rather than let coordinates overflow, after more fuel than anybody has */
    if (now >= next_choice) choose_section();
    next_look = section ? now + PATIENCE : now;
    next_look += step - (int32_t)((skipped + (uint32_t)next_look) % (uint32_t)step);
    uint32_t signature = sign_state();
    bool keep = looks++ % looks_per_checkpoint == 0;
    if (!keep && !is_known(signature)) return;
    if (checkpoint_count == checkpoint_room) drop_every_other();
    Checkpoint *fresh = &checkpoints[checkpoint_count];
    fresh->size = (uint32_t)(encode_state(fresh->state) - fresh->state);
    fresh->tick = true_tick();
    for (uint32_t i = checkpoint_count; i-- > 0;) {
        const Checkpoint *old = &checkpoints[i];
        if (signatures[i] != signature || !same_state(old, fresh) || !same_phases(old)) continue;
        period = (uint32_t)(true_tick() - old->tick);
        copy_counts(fresh->wakes, gains);
        for (uint32_t k = 0; k < sink_count * ITEMS; k++) gains[k] -= old->consumed[k];
        return;
    }
    if (!keep) return;
    copy_counts(fresh->wakes, fresh->consumed);
    signatures[checkpoint_count++] = signature;
}

#include "replay.h"

static uint32_t common_multiple(uint32_t a, uint32_t b) {
    uint32_t x = a, y = b;
    while (y) {
        uint32_t rest = x % y;
        x = y;
        y = rest;
    }
    uint64_t multiple = (uint64_t)(a / x) * b;
    return multiple > MOST_STEP ? 0 : (uint32_t)multiple;
}

static void start_looking(uint64_t last_tick) {
    if (!SKIPPING) return;
    size_t bytes = most_state_bytes(), sink_bytes = sink_count * sizeof(Sink);
    size_t each = bytes + sink_bytes + 4 * actor_counts[SOURCES] + 3 * VECTOR;
    checkpoint_room = CHECKPOINT_BYTES / each < MOST_CHECKPOINTS ? (uint32_t)(CHECKPOINT_BYTES / each) & ~1u : MOST_CHECKPOINTS;
    if (checkpoint_room < LEAST_CHECKPOINTS || last_tick < 2 * PATIENCE) return;
    uint32_t multiple = 2;
    for (uint32_t i = 0; i < actor_counts[SOURCES] && multiple; i++)
        multiple = sources[i].period > MOST_STEP ? 0 : common_multiple(multiple, sources[i].period);
    start_parts(multiple);
    if (multiple) step = (int32_t)((LEAST_STEP + multiple - 1) / multiple * multiple);
    next_look = step;
    gains = reserve(sink_bytes);
    for (uint32_t i = 0; i < checkpoint_room; i++) {
        checkpoints[i].state = reserve(bytes);
        checkpoints[i].wakes = reserve(actor_counts[SOURCES] * sizeof(uint32_t));
        checkpoints[i].consumed = reserve(sink_bytes);
    }
}

static bool is_looking(void) { return (section_hit || now >= next_look) && next_look != NEVER; }

/* Runs at least one tick, until the clock says `end` or there is something to think about. */
static void run_until(int32_t end) {
    if (!watching) {
        do run_tick();
        while (now < end && !is_looking());
    } else {
        do {
            record_tick();
        } while (now < end && now < recorded_until && !is_full() && !is_looking());
    }
}

/* Writes the snapshots until they are all written, or a period is known. */
static void advance(void) {
    while (written < scenario.snapshot_count) {
        if (is_due()) {
            write_snapshot(scenario.snapshots[written++]);
            continue;
        }
        if (period) return;
        uint64_t wait = scenario.snapshots[written] - true_tick();
        run_until(wait < (uint64_t)(NEVER - now) ? now + (int32_t)wait : NEVER);
        if (watching && (now == recorded_until || is_full())) {
            finish_recording();
        } else if (is_looking()) {
            look();
            if (!period && !watching && source_multiple) try_recording();
            if (period) watching = UNWATCHED;
        }
    }
}

#endif
