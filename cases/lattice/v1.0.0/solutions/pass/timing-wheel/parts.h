/* Parts at rest. Long before the whole factory repeats, nearly all of it does: only a belt somewhere still fills up. So
 * once much of it is as it was one period ago, a period is recorded (notes.h). What is the same at its start and its end
 * is at rest: it is not visited any more, and does not even grow older, for the clock goes back after each period. What
 * differs is live, and so is everybody who has to do with it. Replaying the period (replay.h) is work for them alone.
 *
 * Why that is right: a part at rest does the same as in the last period as long as the lanes it sees go through the
 * same states; these do, as long as everybody changes them as before. Of lanes that only parts at rest touch, that
 * follows. On a lane that live parts share with them, changes at rest are repeated from the notes, and each change of a
 * live part must be the next note. If one is not, what followed is undone, that lane becomes live, and it goes on.
 *
 * After a period that fits, all of it is known again: from the new notes of those who were live, and the old ones of those
 * at rest. So it is as if it had been recorded, and those who are now as they were at its start may rest, too. When all
 * that is live is, at the end of a period, what it was at the end of another one, the whole factory is. */
#ifndef LATTICE_PARTS_H
#define LATTICE_PARTS_H

#include "known.h"

/* How many lanes further something new is expected to be felt. */
enum { HOPS = 4, FRONT = LIVE + 1, NEXT_FRONT };
/* A lane where that happens is live for two periods, and for twice as many each time: it may take turns. */
enum { MOST_BREAKS = 10 };

/* A whole state, in a form in which time is relative, each object at a fixed place. */
typedef struct {
    uint8_t *lanes;
    uint32_t *crafters, *arms;
    uint64_t *sources, *consumed;
    uint8_t *splitters;
} Saved;

static Saved at_start, at_end; /* of what rests they hold the same, as it was when it came to rest */
static uint32_t *lane_places;  /* in Saved.lanes */

static size_t place_lanes(void) {
    size_t bytes = 0;
    lane_places = reserve((size_t)lane_count * sizeof *lane_places);
    for (int32_t i = 0; i < lane_count; i++) {
        lane_places[i] = (uint32_t)bytes;
        bytes += (4 + 9 * (size_t)lanes[i].tiles * LANE_ITEMS + 3 * VECTOR) & ~(size_t)(VECTOR - 1);
    }
    return bytes;
}

static Saved reserve_saved(size_t lane_bytes) {
    return (Saved){
        .lanes = reserve(lane_bytes),
        .crafters = reserve(actor_counts[CRAFTERS] * sizeof(uint32_t)),
        .arms = reserve(actor_counts[ARMS] * sizeof(uint32_t)),
        .sources = reserve(actor_counts[SOURCES] * sizeof(uint64_t)),
        .consumed = reserve(sink_count * sizeof(Sink)),
        .splitters = reserve(actor_counts[SPLITTERS]),
    };
}

/* ---- saving and restoring: what is live, or everything while all is ------------------------------------------------ */

/* Each actor of a phase whose bit is set, or is not: a word of them at a time. */
static inline uint64_t bits_below(uint64_t bits, uint32_t room) { return room < 64 ? bits & ((1ull << room) - 1) : bits; }

#define EACH_BIT(bits, phase, i, unset) \
    for (uint32_t first = first_actor[phase], end = first + actor_counts[phase], word = first; word < end; word += 64) \
        for (uint64_t left = bits_below((bits)[word / 64] ^ (0 - (uint64_t)(unset)), end - word); left; left &= left - 1) \
            for (uint32_t i = word + (uint32_t)__builtin_ctzll(left) - first, once = 1; once; once = 0)

#define EACH_LIVE(phase, i) EACH_BIT(live, phase, i, false)
#define EACH_FORMER(phase, i) EACH_BIT(old_live, phase, i, false)

#define EACH_LIVE_LANE(i) \
    for (int32_t i = 0; i < lane_count; i++) \
        if (parts[i] != AT_REST)

static void save(const Saved *to) {
    EACH_LIVE_LANE(i) encode_lane(&lanes[i], to->lanes + lane_places[i]);
    EACH_LIVE(CRAFTERS, i) to->crafters[i] = encode_crafter(&crafters[i]);
    EACH_LIVE(ARMS, i) to->arms[i] = encode_arm(&arms[i]);
    EACH_LIVE(SOURCES, i) to->sources[i] = encode_source(&sources[i]);
    EACH_LIVE(SPLITTERS, i) to->splitters[i] = (uint8_t)splitters[i].preferred;
    copy_consumed(to->consumed);
}

static void restore_lane(Lane *lane, const uint8_t *from) {
    uint32_t blocks, items = 0;
    __builtin_memcpy(&blocks, from, 4);
    from += 4;
    lane->front = lane->back = lane->blocks + lane->margin;
    lane->head = lane->items + lane->margin;
    for (uint32_t i = 0; i < blocks; i++, from += sizeof(Block)) {
        Block block;
        __builtin_memcpy(&block, from, sizeof block);
        items += (uint32_t)block.count;
        *lane->back++ = (Block){block.at + travel(lane), block.count};
    }
    for (uint32_t i = 0; i < items; i += VECTOR) wasm_v128_store(lane->head + i, wasm_v128_load(from + i));
    lane->tail = lane->head + items;
    lane->stuck = blocks && lane->front->at == travel(lane);
    changed(lane);
}

/* Brings back those who are live, or those at rest. */
static void restore_parts(const Saved *from, bool at_rest) {
    for (int32_t i = 0; i < lane_count; i++)
        if ((parts[i] == AT_REST) == at_rest) restore_lane(&lanes[i], from->lanes + lane_places[i]);
    EACH_BIT(live, CRAFTERS, i, at_rest) {
        uint32_t wait = from->crafters[i] >> 24;
        crafters[i].counts = from->crafters[i] & 0xffffff;
        crafters[i].done = wait ? now + (int32_t)wait : 0;
    }
    EACH_BIT(live, ARMS, i, at_rest) {
        arms[i].held = from->arms[i] & 0xff;
        arms[i].ready = now + (int32_t)(from->arms[i] >> 8);
    }
    EACH_BIT(live, SOURCES, i, at_rest) sources[i].next = from->sources[i] ? now + (int64_t)from->sources[i] : ASLEEP;
    EACH_BIT(live, SPLITTERS, i, at_rest) splitters[i].preferred = from->splitters[i];
}

static void restore(const Saved *from) {
    restore_parts(from, false);
    for (uint32_t i = 0; i < sink_count * ITEMS; i++) all_consumed()[i] = from->consumed[i];
}

/* Visits everybody who is live at the next moment at which he may act: a visit too many does no harm. */
static void schedule(void) {
    EACH_LIVE(SOURCES, i) {
        if (sources[i].next == ASLEEP) visit(i, now + 1);
        else visit_source(i, sources[i].next);
    }
    EACH_LIVE(ARMS, i) visit(first_actor[ARMS] + i, arms[i].ready > now ? arms[i].ready : now + 1);
    EACH_LIVE(CRAFTERS, i) visit(first_actor[CRAFTERS] + i, crafters[i].done ? crafters[i].done : now + 1);
    static const uint8_t others[] = {SIDE_LOADS, SPLITTERS, LANE_SPLITTERS, DRAINS};
    for (uint32_t k = 0; k < sizeof others; k++) EACH_LIVE(others[k], i) visit(first_actor[others[k]] + i, now + 1);
    moving_count = 0;
    EACH_LIVE_LANE(i) if (lanes[i].moving) moving_lanes[moving_count++] = &lanes[i];
}

static bool same_bytes(const uint8_t *a, const uint8_t *b, uint32_t size) {
    uint32_t i = 0;
    for (; i + VECTOR <= size; i += VECTOR)
        if (wasm_v128_any_true(wasm_v128_xor(wasm_v128_load(a + i), wasm_v128_load(b + i)))) return false;
    for (; i < size; i++)
        if (a[i] != b[i]) return false;
    return true;
}

static bool same_lane(const uint8_t *a, const uint8_t *b) {
    uint32_t blocks, size = 4;
    __builtin_memcpy(&blocks, a, 4);
    for (uint32_t i = 0; i < blocks; i++, size += sizeof(Block)) {
        v128_t both = wasm_v128_xor(wasm_v128_load64_zero(a + size), wasm_v128_load64_zero(b + size));
        if (wasm_v128_any_true(both)) return false;
    }
    uint32_t items = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        int32_t count;
        __builtin_memcpy(&count, a + 8 + 8 * i, 4);
        items += (uint32_t)count;
    }
    return same_bytes(a, b, 4) && same_bytes(a + size, b + size, items);
}

/* Whether all that is live is the same in two states. */
static bool same_saved(const Saved *a, const Saved *b) {
    EACH_LIVE_LANE(i) if (!same_lane(a->lanes + lane_places[i], b->lanes + lane_places[i])) return false;
    EACH_LIVE(CRAFTERS, i) if (a->crafters[i] != b->crafters[i]) return false;
    EACH_LIVE(ARMS, i) if (a->arms[i] != b->arms[i]) return false;
    EACH_LIVE(SOURCES, i) if (a->sources[i] != b->sources[i]) return false;
    EACH_LIVE(SPLITTERS, i) if (a->splitters[i] != b->splitters[i]) return false;
    return true;
}

/* ---- what is live ------------------------------------------------------------------------------------------- */

static bool grew; /* whether something became live */

static bool is_crafter_live(const Crafter *crafter) { return crafter && crafter->part == LIVE; }
static bool is_lane_live(const Lane *lane) { return lane && parts[lane - lanes] == LIVE; }

static void set_live(uint32_t actor) {
    grew |= !is_live(actor);
    live[actor / 64] |= 1ull << (actor & 63);
}

static void share(Lane *lane) {
    if (lane && parts[lane - lanes] == AT_REST) parts[lane - lanes] = SHARED;
}

/* A live actor shares lanes with those at rest, but a crafter is live as a whole. */
static void share_crafter(Crafter *crafter) {
    if (!crafter || crafter->part == LIVE) return;
    crafter->part = LIVE;
    set_live(crafter->actor);
}

/* An actor that touches up to four lanes and two crafters: NULL where there are fewer. */
static void join(uint32_t actor, Lane *a, Lane *b, Lane *c, Lane *d, Crafter *from, Crafter *to) {
    if (is_lane_live(a) || is_lane_live(b) || is_lane_live(c) || is_lane_live(d) || is_crafter_live(from) || is_crafter_live(to))
        set_live(actor);
    if (!is_live(actor)) return;
    share(a), share(b), share(c), share(d);
    share_crafter(from), share_crafter(to);
}

static void join_feeders(const Feeder *feeders, int phase) {
    for (uint32_t i = 0; i < actor_counts[phase]; i++)
        join(first_actor[phase] + i, feeders[i].from.lane, feeders[i].to.lane, NULL, NULL, NULL, NULL);
}

static void join_all(void) {
    do {
        grew = false;
        for (uint32_t i = 0; i < actor_counts[SOURCES]; i++)
            join(first_actor[SOURCES] + i, sources[i].to.lane, NULL, NULL, NULL, NULL, NULL);
        for (uint32_t i = 0; i < actor_counts[ARMS]; i++)
            join(first_actor[ARMS] + i, arms[i].far, arms[i].near, arms[i].onto.lane, NULL, arms[i].from, arms[i].to);
        join_feeders(side_loads, SIDE_LOADS);
        for (uint32_t i = 0; i < actor_counts[SPLITTERS]; i++) {
            const Splitter *splitter = &splitters[i];
            join(first_actor[SPLITTERS] + i, splitter->from[0].lane, splitter->from[1].lane, splitter->to[0].lane,
                 splitter->to[1].lane, NULL, NULL);
        }
        join_feeders(lane_splitters, LANE_SPLITTERS);
        for (uint32_t i = 0; i < actor_counts[DRAINS]; i++)
            join(first_actor[DRAINS] + i, drains[i].from.lane, NULL, NULL, NULL, NULL, NULL);
    } while (grew);
}

static void set_all(uint8_t part) {
    for (uint32_t word = 0; word < first_actor[PHASES] / 64; word++) live[word] = part == LIVE ? -1ull : 0;
    for (int32_t i = 0; i < lane_count; i++) parts[i] = part;
    for (uint32_t i = 0; i < actor_counts[CRAFTERS]; i++) crafters[i].part = part;
}

/* Makes live what differs between the start and the end of the last period; the rest rests. Returns whether anything
 * differs. What was at rest before does not. */
static bool part_by_difference(void) {
    const Saved *a = &at_start, *b = &at_end;
    bool any = false;
    remember_live();
    for (int32_t i = 0; i < lane_count; i++) {
        if (parts[i] == AT_REST) continue;
        bool same = restless_until[i] <= periods_done && same_lane(a->lanes + lane_places[i], b->lanes + lane_places[i]);
        parts[i] = same ? AT_REST : LIVE;
        any |= !same;
    }
    for (uint32_t word = 0; word < first_actor[PHASES] / 64; word++) live[word] = 0;
    for (uint32_t i = 0; i < actor_counts[CRAFTERS]; i++) crafters[i].part = AT_REST;
    grew = false;
    EACH_FORMER(CRAFTERS, i) if (a->crafters[i] != b->crafters[i]) share_crafter(&crafters[i]);
    EACH_FORMER(ARMS, i) if (a->arms[i] != b->arms[i]) set_live(first_actor[ARMS] + i);
    EACH_FORMER(SOURCES, i) if (a->sources[i] != b->sources[i]) set_live(first_actor[SOURCES] + i);
    EACH_FORMER(SPLITTERS, i) if (a->splitters[i] != b->splitters[i]) set_live(first_actor[SPLITTERS] + i);
    return any || grew;
}

/* As it was before that. */
static void part_as_before(void) {
    for (int32_t i = 0; i < lane_count; i++) parts[i] = old_parts[i];
    for (uint32_t word = 0; word < first_actor[PHASES] / 64; word++) live[word] = old_live[word];
    for (uint32_t i = 0; i < actor_counts[CRAFTERS]; i++) crafters[i].part = is_live(crafters[i].actor) ? LIVE : AT_REST;
}

/* ---- what will not fit any more -------------------------------------------------------------------------------------- */

/* What happens on a lane for the first time will soon be felt on those to which it leads. */
static void spread_from(const Lane *from, const Lane *to) {
    if (from && to && parts[from - lanes] == FRONT && parts[to - lanes] < LIVE) parts[to - lanes] = NEXT_FRONT;
}

/* Makes live a lane on which something else happened than before, and some lanes further. */
static void spread(int32_t lane) {
    parts[lane] = FRONT;
    if (breaks[lane] < MOST_BREAKS) breaks[lane]++;
    restless_until[lane] = periods_done + (1u << breaks[lane]);
    for (int hop = 0; hop < HOPS; hop++) {
        for (uint32_t i = 0; i < actor_counts[SIDE_LOADS]; i++) spread_from(side_loads[i].from.lane, side_loads[i].to.lane);
        for (uint32_t i = 0; i < actor_counts[LANE_SPLITTERS]; i++) spread_from(lane_splitters[i].from.lane, lane_splitters[i].to.lane);
        for (uint32_t i = 0; i < actor_counts[SPLITTERS]; i++)
            for (int k = 0; k < 4; k++) spread_from(splitters[i].from[k / 2].lane, splitters[i].to[k % 2].lane);
        for (int32_t i = 0; i < lane_count; i++)
            if (parts[i] > LIVE) parts[i]--;
    }
    for (int32_t i = 0; i < lane_count; i++)
        if (parts[i] > LIVE) parts[i] = LIVE;
}

#endif
