/* Parts at rest. Long before the whole factory repeats, nearly all of it does: only a belt somewhere still fills up. So
 * where most of it is as it was one period ago, a period is recorded (notes.h). What is the same at its start and its end
 * is at rest: it is not visited any more, and does not even grow older, for the clock goes back after each period. What
 * differs is live, and so is everybody who has to do with it.
 *
 * Why that is right: a part at rest does the same as in the recorded period as long as the lanes it sees go through the
 * same states; these do, as long as everybody changes them as before. Of lanes that only parts at rest touch, that
 * follows. On a lane that live parts share with them, changes at rest are repeated from the notes, and each change of a
 * live part must be the next note. If one is not, the period is undone, that lane becomes live, and it starts again.
 *
 * When the live parts are, at the end of a period, what they were at the end of another one, the whole factory is. */
#ifndef LATTICE_PARTS_H
#define LATTICE_PARTS_H

#ifndef EAGER
#define EAGER 0 /* 1: periods are recorded early and everywhere, and much may be live, so that tests see many of them */
#endif

/* When to record: enough crafters, of which most (in sixteenths) are as they were so many ticks ago. Shorter periods fit
 * too rarely: what crafts takes turns over several times the longest craft. */
enum { FEWEST_CRAFTERS = EAGER ? 1 : 8, ALIKE = EAGER ? 6 : 13, FIRST_TRY = EAGER ? 16 : 1024, MOMENTS = 64 };
enum { SHORTEST_PERIOD = EAGER ? 2 : 512, LONGEST_PERIOD = 1200, FEWEST_REPLAYS = EAGER ? 1 : 2 };
/* After one that was of no use, how long to wait: each time twice as long. With fewer notes than that in a tick, the
 * factory is so quiet that it is not worth while. */
enum { FIRST_RETREAT = EAGER ? 1 : 64, MOST_RETREAT = EAGER ? 16 : 1 << 20, QUIET = EAGER ? 0 : 8 };
/* How much may be live, in eighths of all notes. When what was done since the recording is so many eighths of one period,
 * a new one pays, unless hardly anything is live. */
enum { LIVE_SHARE = EAGER ? 7 : 4, REFRESH = 12, LITTLE = 12 };
/* How many ticks to go on after something did not fit, and how many lanes further it is expected to be felt. */
enum { FORESIGHT = 64, HOPS = 4 };
enum { MOST_NOTES = 1 << 20, NOTES_PER_ACTOR = 256, FRONT = LIVE + 1, NEXT_FRONT, STRIDE = 4 };

/* A whole state, in a form in which time is relative, each object at a fixed place. */
typedef struct {
    uint8_t *lanes;
    uint32_t *crafters, *arms;
    uint64_t *sources, *consumed;
    uint8_t *splitters;
} Saved;

static Saved at_start, at_end, anchor;
static uint32_t *lane_places; /* in Saved.lanes */
static uint64_t *still_gains; /* what parts at rest bring to the sinks in one period */

/* How all crafters were at a moment of the recent past. */
typedef struct {
    uint64_t tick;
    uint32_t *crafters;
} Moment;

static Moment moments[MOMENTS];
static uint32_t moment_count;
static uint32_t part_period, source_multiple; /* of all sources' periods, and of 2 */
static int32_t recorded_until = NEVER, next_try = NEVER, retreat = FIRST_RETREAT;
static int32_t now_at_start;
static uint32_t *lane_counts; /* notes, by lane */
static uint16_t *note_lanes;  /* the lanes of the notes once more, to be read fast */
static uint32_t tick_room, most_notes;

static uint32_t note_count(void) { return (uint32_t)(notes_end - notes); }
static bool is_full(void) { return note_count() >= most_notes || meals_end - meals >= (ptrdiff_t)most_notes; }

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

static void start_parts(uint32_t multiple) {
    if (!multiple || lane_count > MOST_LANES || actor_counts[CRAFTERS] < FEWEST_CRAFTERS) return;
    source_multiple = multiple;
    lane_places = reserve((size_t)lane_count * sizeof *lane_places);
    size_t bytes = 0;
    for (int32_t i = 0; i < lane_count; i++) {
        lane_places[i] = (uint32_t)bytes;
        bytes += (4 + 9 * (size_t)lanes[i].tiles * LANE_ITEMS + 3 * VECTOR) & ~(size_t)(VECTOR - 1);
    }
    if (bytes > CHECKPOINT_BYTES / LEAST_CHECKPOINTS) return;
    at_start = reserve_saved(bytes);
    at_end = reserve_saved(bytes);
    anchor = reserve_saved(bytes);
    for (int i = 0; i < MOMENTS; i++) moments[i].crafters = reserve(actor_counts[CRAFTERS] * sizeof(uint32_t) + VECTOR);
    still_gains = reserve(sink_count * sizeof(Sink));
    tick_room = 4 * first_actor[PHASES] + STRIDE; /* nobody changes more than four lanes in a tick */
    most_notes = NOTES_PER_ACTOR * first_actor[PHASES] < MOST_NOTES ? NOTES_PER_ACTOR * first_actor[PHASES] : MOST_NOTES;
    size_t note_room = most_notes + tick_room;
    note_lanes = reserve(note_room * sizeof *note_lanes);
    lane_counts = reserve((size_t)lane_count * sizeof *lane_counts);
    meals = reserve(note_room * sizeof *meals);
    notes = reserve(note_room * sizeof *notes);
    shared_notes = reserve(note_room * sizeof *shared_notes);
    next_try = FIRST_TRY;
}

/* ---- saving and restoring: what is live, or everything while all is ------------------------------------------------ */

#define EACH_LIVE(phase, i) \
    for (uint32_t i = 0; i < actor_counts[phase]; i++) \
        if (is_live(first_actor[phase] + i))

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

static void restore(const Saved *from) {
    EACH_LIVE_LANE(i) restore_lane(&lanes[i], from->lanes + lane_places[i]);
    EACH_LIVE(CRAFTERS, i) {
        uint32_t wait = from->crafters[i] >> 24;
        crafters[i].counts = from->crafters[i] & 0xffffff;
        crafters[i].done = wait ? now + (int32_t)wait : 0;
    }
    EACH_LIVE(ARMS, i) {
        arms[i].held = from->arms[i] & 0xff;
        arms[i].ready = now + (int32_t)(from->arms[i] >> 8);
    }
    EACH_LIVE(SOURCES, i) sources[i].next = from->sources[i] ? now + (int64_t)from->sources[i] : ASLEEP;
    EACH_LIVE(SPLITTERS, i) splitters[i].preferred = from->splitters[i];
    const uint64_t *count = from->consumed;
    for (uint32_t s = 0; s < sink_count; s++)
        for (int i = 0; i < ITEMS; i++) sinks[s].consumed[i] = *count++;
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

/* Makes live what differs between the start and the end of the recorded period. Returns whether anything does. */
static bool part_by_difference(void) {
    const Saved *a = &at_start, *b = &at_end;
    bool any = false;
    set_all(AT_REST);
    for (int32_t i = 0; i < lane_count; i++) {
        if (same_lane(a->lanes + lane_places[i], b->lanes + lane_places[i])) continue;
        parts[i] = LIVE;
        any = true;
    }
    grew = false;
    for (uint32_t i = 0; i < actor_counts[CRAFTERS]; i++)
        if (a->crafters[i] != b->crafters[i]) share_crafter(&crafters[i]);
    for (uint32_t i = 0; i < actor_counts[ARMS]; i++)
        if (a->arms[i] != b->arms[i]) set_live(first_actor[ARMS] + i);
    for (uint32_t i = 0; i < actor_counts[SOURCES]; i++)
        if (a->sources[i] != b->sources[i]) set_live(first_actor[SOURCES] + i);
    for (uint32_t i = 0; i < actor_counts[SPLITTERS]; i++)
        if (a->splitters[i] != b->splitters[i]) set_live(first_actor[SPLITTERS] + i);
    return any || grew;
}

static uint32_t work;         /* about how many notes of one period are done anew or repeated */

static void count_notes(void) {
    uint16_t *to = note_lanes;
    for (int32_t i = 0; i < lane_count; i++) lane_counts[i] = 0;
    for (const Note *note = notes; note < notes_end; note++) {
        lane_counts[note->lane]++;
        *to++ = (uint16_t)note->lane;
    }
    for (int i = 0; i < STRIDE; i++) to[i] = 0;
}

/* Picks the notes that a replay needs. Returns whether it would be much cheaper than to visit everybody. */
/* Picks the notes that a replay needs. Returns whether it would be much cheaper than to visit everybody. */
static bool pick_notes(void) {
    join_all();
    work = 0;
    for (int32_t i = 0; i < lane_count; i++)
        if (parts[i] != AT_REST) work += lane_counts[i];
    if (8 * (uint64_t)work >= (uint64_t)note_count() * LIVE_SHARE) return false;
    for (int32_t i = 0; i < lane_count; i++) is_shared[i] = parts[i] == SHARED;
    Note *to = shared_notes;
    const uint16_t *lane = note_lanes;
    for (const Note *note = notes; note < notes_end; note += STRIDE, lane += STRIDE) { /* most are passed over */
        if (!(is_shared[lane[0]] | is_shared[lane[1]] | is_shared[lane[2]] | is_shared[lane[3]])) continue;
        for (int i = 0; i < STRIDE && note + i < notes_end; i++) {
            if (!is_shared[lane[i]]) continue;
            *to = note[i];
            to++->tick += part_period; /* the clock stays in the period after the recorded one */
        }
    }
    *to = (Note){UINT32_MAX, first_actor[PHASES], 0, 0};
    for (uint32_t i = 0; i < sink_count * ITEMS; i++) still_gains[i] = 0;
    for (const Meal *meal = meals; meal < meals_end; meal++)
        if (!is_live(meal->actor)) still_gains[meal->entry]++;
    return true;
}

/* ---- recording ---------------------------------------------------------------------------------------------- */

static void retreat_for_now(void) {
    next_try = now + retreat;
    if (retreat < MOST_RETREAT) retreat *= 2;
}

/* Keeps how the crafters are now. Returns how long ago most of them were like that, or 0. */
static uint32_t find_part_period(bool only_keep) {
    uint32_t count = actor_counts[CRAFTERS], best = count * ALIKE / 16, found = 0;
    Moment *fresh = &moments[moment_count++ % MOMENTS];
    fresh->tick = true_tick();
    for (uint32_t i = 0; i < count; i++) fresh->crafters[i] = encode_crafter(&crafters[i]);
    for (uint32_t k = 1; k < MOMENTS && k < moment_count && !only_keep; k++) {
        const Moment *past = &moments[(moment_count - 1 - k) % MOMENTS];
        uint64_t distance = true_tick() - past->tick;
        if (distance > LONGEST_PERIOD) break;
        if (distance < SHORTEST_PERIOD || distance % source_multiple) continue;
        v128_t same_4 = wasm_i32x4_splat(0);
        for (uint32_t i = 0; i < count; i += 4) /* what lies behind the last one is zero in both */
            same_4 = wasm_i32x4_sub(same_4, wasm_i32x4_eq(wasm_v128_load(past->crafters + i), wasm_v128_load(fresh->crafters + i)));
        int32_t first = wasm_i32x4_extract_lane(same_4, 0) + wasm_i32x4_extract_lane(same_4, 1);
        uint32_t same = (uint32_t)(first + wasm_i32x4_extract_lane(same_4, 2) + wasm_i32x4_extract_lane(same_4, 3));
        if (same < best) continue;
        best = same + 1;
        found = (uint32_t)distance;
    }
    return found;
}

static void start_recording(uint32_t length) {
    part_period = length;
    set_all(LIVE);
    save(&at_start);
    notes_end = notes;
    meals_end = meals;
    watching = RECORDING;
    recorded_until = now + (int32_t)length;
}

static void try_recording(uint64_t target) {
    if (next_try == NEVER) return;
    uint32_t length = find_part_period(now < next_try);
    if (length && true_tick() + (1 + FEWEST_REPLAYS) * (uint64_t)length <= target) start_recording(length);
}

/* ---- replaying ---------------------------------------------------------------------------------------------- */

static void prove(const Saved *before, uint32_t periods) {
    period = periods * part_period;
    copy_consumed(gains);
    for (uint32_t i = 0; i < sink_count * ITEMS; i++) gains[i] -= before->consumed[i];
}

static void rewind_clock(const Saved *state) {
    now = phases = now_at_start;
    next_note = shared_notes;
    broken_count = 0;
    restore(state);
    schedule();
}

/* What happens on a lane for the first time will soon be felt on those to which it leads. */
static void spread_from(const Lane *from, const Lane *to) {
    if (from && to && parts[from - lanes] == FRONT && parts[to - lanes] < LIVE) parts[to - lanes] = NEXT_FRONT;
}

static void spread(int32_t lane) {
    parts[lane] = FRONT;
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

/* The period so far, from its start, did not fit the notes: undoes it and makes more live. Returns whether to go on. */
static bool widen(void) {
    for (uint32_t i = 0; i < broken_count; i++) spread(broken[i]);
    bool cheap = pick_notes();
    rewind_clock(&at_start); /* what became live now was saved there when the recording ended, and has rested since */
    return cheap;
}

static void swap_saved(void) {
    Saved swapped = at_start;
    at_start = at_end;
    at_end = swapped;
}

/* Replays whole periods up to a tick, or until the factory is proven to repeat. What is saved of parts at rest is the
 * same at the start and at the end, so the two may change places. */
static void replay(uint64_t target) {
    uint64_t spent = 0;
    uint32_t done = 0, anchored = 0, next_anchor = 1, step = 1;
    bool goes_on = true;
    now_at_start = now;
    watching = REPLAYING;
    rewind_clock(&at_start);
    while (goes_on && !period && true_tick() + part_period <= target) {
        int32_t end = now_at_start + (int32_t)part_period;
        while (now < end && !(broken_count && now >= broken_at + FORESIGHT)) run_watched_tick();
        if (broken_count) {
            spent += (uint64_t)work * (uint32_t)(now - now_at_start) / part_period;
            goes_on = widen();
            anchored = 0; /* what was saved there lacks what has become live */
            step = 1;
            next_anchor = done + 1;
            continue;
        }
        for (uint32_t s = 0; s < sink_count; s++)
            for (uint32_t i = 0; i < ITEMS; i++) sinks[s].consumed[i] += still_gains[s * ITEMS + i];
        save(&at_end);
        done++;
        spent += work;
        goes_on = 8 * spent < (uint64_t)note_count() * REFRESH || work < note_count() / LITTLE;
        skipped += part_period;
        if (same_saved(&at_start, &at_end)) prove(&at_start, 1);
        else if (anchored && same_saved(&anchor, &at_end)) prove(&anchor, done - anchored);
        swap_saved();
        rewind_clock(&at_start);
        if (done == next_anchor) {
            save(&anchor);
            anchored = done;
            next_anchor = done + (step *= 2);
        }
    }
    watching = UNWATCHED;
    set_all(LIVE);
    for (uint32_t i = 0; i < actor_counts[SOURCES]; i++) sources[i].wakes++; /* for same_phases: it may have been awake */
    schedule();
    if (period) return;
    if (done > 1) retreat = FIRST_RETREAT;
    retreat_for_now();
    next_look = now;
    if (!goes_on && done > 1) start_recording(part_period);
}

static void finish_recording(uint64_t target) {
    watching = UNWATCHED;
    recorded_until = NEVER;
    if (!is_full()) {
        save(&at_end);
        if (!part_by_difference()) {
            set_all(LIVE);
            prove(&at_start, 1);
            return;
        }
        count_notes();
        if (note_count() < QUIET * part_period) {
            set_all(LIVE);
            next_try = NEVER;
            return;
        }
        if (pick_notes()) {
            swap_saved();
            replay(target);
            return;
        }
        set_all(LIVE);
    }
    retreat_for_now();
}

#endif
