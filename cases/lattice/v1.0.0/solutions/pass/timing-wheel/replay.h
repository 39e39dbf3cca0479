/* Recording a period, and replaying it for those who are live: see parts.h. */
#ifndef LATTICE_REPLAY_H
#define LATTICE_REPLAY_H

#include "parts.h"

/* When to record: enough crafters, of which enough (in sixteenths) are as they were so many ticks ago. Shorter periods fit
 * too rarely: what crafts takes turns over several times the longest craft. */
enum { FEWEST_CRAFTERS = EAGER ? 1 : 8, ALIKE = EAGER ? 6 : 8, FIRST_TRY = EAGER ? 16 : 1024, MOMENTS = 64 };
enum { SHORTEST_PERIOD = EAGER ? 2 : 512, LONGEST_PERIOD = 1200, FEWEST_REPLAYS = EAGER ? 1 : 2 };
/* After one that was of no use, how long to wait: each time twice as long. With fewer notes than that in a tick, the
 * factory is so quiet that it is not worth while. */
enum { FIRST_RETREAT = EAGER ? 1 : 64, MOST_RETREAT = EAGER ? 16 : 1 << 20, QUIET = EAGER ? 0 : 16 };
/* How much may be live, in eighths of all notes. */
enum { LIVE_SHARE = EAGER ? 7 : 4 };
/* It pays to let parts rest again if that saves one in so many of all notes, and of those that are work now. */
enum { GAIN = EAGER ? 1 << 20 : 256, PART_GAIN = EAGER ? 1 << 20 : 2 };
/* How many ticks to go on after something did not fit, to see what else will not. */
enum { FORESIGHT = 64 };
/* For so many snapshots there is a middle, and into so many pieces the others divide a period. */
enum { MOST_DUE = EAGER ? 2 : 6, PIECES = 4, MOST_MIDDLES = MOST_DUE + PIECES - 1 };

/* The whole state at a tick of the period, of what rests as it was there when it was last live. There is one wherever a
 * snapshot will be due, and some more, so that not all of a period has to be undone. */
typedef struct {
    int32_t phase; /* ticks since the start of the period */
    Saved state;
} Middle;

static Middle middles[MOST_MIDDLES];
static uint32_t middle_count, next_middle;
static uint64_t covered_until; /* snapshots before that have a middle, or are due at the start of a period */

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

/* How much of the period is known to fit: up to so many middles; the text and the snapshots until there. */
static uint32_t fitting, written_so_far;
static uintptr_t text_so_far;
static bool fresh_lacks; /* what some did in this period before they became live */

/* The state at the end of another period, since which nobody has become live or come to rest. */
static Saved anchor;
static bool is_anchored;
static uint32_t anchored, anchor_step; /* when that was, and after how many periods to take a new one */
static uint32_t next_settling, settling_step;
static uint32_t work; /* see count_work */
static uint32_t walked; /* periods, once the factory is proven to repeat */

static void start_parts(uint32_t multiple) {
    if (!multiple || lane_count > MOST_LANES || actor_counts[CRAFTERS] < FEWEST_CRAFTERS) return;
    size_t bytes = place_lanes();
    if (bytes > CHECKPOINT_BYTES / (2 * LEAST_CHECKPOINTS)) return;
    source_multiple = multiple;
    at_start = reserve_saved(bytes);
    at_end = reserve_saved(bytes);
    anchor = reserve_saved(bytes);
    for (int i = 0; i < MOST_MIDDLES; i++) middles[i].state = reserve_saved(bytes);
    for (int i = 0; i < MOMENTS; i++) moments[i].crafters = reserve(actor_counts[CRAFTERS] * sizeof(uint32_t) + VECTOR);
    reserve_notes();
    next_try = FIRST_TRY;
}

static bool is_due(void) { return written < scenario.snapshot_count && scenario.snapshots[written] == true_tick(); }

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

static void place_middle(uint32_t tick) {
    int32_t phase = (int32_t)(tick % part_period);
    uint32_t place = 0;
    while (place < middle_count && middles[place].phase < phase) place++;
    if (!phase || (place < middle_count && middles[place].phase == phase)) return;
    Saved unused = middles[middle_count].state;
    for (uint32_t i = middle_count++; i > place; i--) middles[i] = middles[i - 1];
    middles[place] = (Middle){phase, unused};
}

/* Where snapshots will be due in some period that begins here and now, and at some other ticks. */
static void place_middles(void) {
    middle_count = next_middle = 0;
    covered_until = scenario.snapshots[scenario.snapshot_count - 1] + part_period;
    for (uint32_t s = written; s < scenario.snapshot_count; s++) {
        if (middle_count == MOST_DUE) {
            covered_until = scenario.snapshots[s];
            break;
        }
        place_middle((uint32_t)((scenario.snapshots[s] - true_tick()) % part_period));
    }
    for (uint32_t k = 1; k < PIECES; k++) place_middle(part_period * k / PIECES);
}

/* A period may be replayed up to the last snapshot, or the first one for which there is no middle. */
static bool is_time_for(uint32_t periods) {
    uint64_t last = scenario.snapshots[scenario.snapshot_count - 1], until = last < covered_until ? last : covered_until;
    return true_tick() + periods * (uint64_t)part_period <= until;
}

static void try_recording(void) {
    if (next_try == NEVER) return;
    part_period = find_part_period(now < next_try);
    if (!part_period) return;
    place_middles();
    if (!is_time_for(1 + FEWEST_REPLAYS)) return;
    set_all(LIVE);
    save(&at_start);
    fresh = notes;
    start_fresh();
    watching = RECORDING;
    now_at_start = now;
    recorded_until = now + (int32_t)part_period;
    periods_done = 0;
    for (int32_t i = 0; i < lane_count; i++) restless_until[i] = breaks[i] = 0;
}

static bool is_at_middle(void) { return next_middle < middle_count && now - now_at_start == middles[next_middle].phase; }

static void record_tick(void) {
    run_recorded_tick();
    if (is_at_middle()) save(&middles[next_middle++].state);
}

/* ---- one period ----------------------------------------------------------------------------------------------- */

static void rewind_clock(const Saved *state) {
    now = phases = now_at_start;
    restore(state);
}

static void start_period(void) {
    next_note = shared_notes;
    start_fresh();
    next_middle = fitting = broken_count = 0;
    fresh_lacks = false;
    text_so_far = heap_top;
    written_so_far = written;
    schedule();
}

/* What those at rest gave to the sinks between the start of the period and now, in `times`: 1 or -1. */
static void add_meals(uint64_t times) {
    for (const Meal *meal = meals; meal < meals_end; meal++)
        if (meal->tick <= (uint32_t)now && !is_live(meal->actor)) all_consumed()[meal->entry] += times;
}

/* Writes a snapshot while parts rest: they are brought to where they are at this tick of the period, and back. */
static void write_while_resting(uint64_t tick) {
    int32_t here = now;
    uint32_t moving = moving_count, m = 0;
    if (here == now_at_start) {
        write_snapshot(tick);
        return;
    }
    while (middles[m].phase != here - now_at_start) m++;
    restore_parts(&middles[m].state, true);
    add_meals(1);
    write_snapshot(tick);
    add_meals(-1ull);
    now = phases = now_at_start;
    restore_parts(&at_start, true);
    now = phases = here;
    moving_count = moving; /* lanes at rest are not moved */
}

static void pass_middle(void) {
    save(&middles[next_middle].state);
    if (is_due() && !period) write_while_resting(scenario.snapshots[written++]);
    fitting = next_middle + 1;
    text_so_far = heap_top;
    written_so_far = written;
}

/* Runs up to a tick of the period, unless something does not fit; then a little further. Returns whether all fits. */
static bool run_period_until(int32_t end) {
    while (now < end && !(broken_count && now >= broken_at + FORESIGHT) && !is_full()) {
        run_replayed_tick();
        if (!is_at_middle()) continue;
        if (!broken_count) pass_middle();
        next_middle++;
    }
    return !broken_count && !is_full();
}

static bool run_period(void) { return run_period_until(now_at_start + (int32_t)part_period); }

/* The clock goes back, and everybody who is live is as he is now. */
static void finish_period(void) {
    for (uint32_t i = 0; i < sink_count * ITEMS; i++) all_consumed()[i] += still_gains[i];
    save(&at_end);
    skipped += part_period;
    periods_done++;
    rewind_clock(&at_end);
}

static void swap_saved(void) {
    Saved swapped = at_start;
    at_start = at_end;
    at_end = swapped;
}

/* ---- who is live ---------------------------------------------------------------------------------------------- */

/* Returns whether a replay would be much cheaper than to visit everybody. */
static bool pick_live(void) {
    join_all();
    work = count_work();
    if (work && 8 * (uint64_t)work >= (uint64_t)note_count * LIVE_SHARE) return false;
    pick_notes();
    return true;
}

/* Goes back to the last middle that is known to fit. Whoever has become live since has rested until there. */
static void return_to_middle(void) {
    Saved *state = &middles[fitting - 1].state;
    now = phases = now_at_start + middles[fitting - 1].phase;
    for (const Meal *meal = meals; meal < meals_end; meal++)
        if (meal->tick <= (uint32_t)now && is_live(meal->actor) && !was_live(meal->actor)) state->consumed[meal->entry]++;
    restore(state);
    cut_fresh((uint32_t)now);
    fresh_lacks = true;
    for (next_note = shared_notes; next_note->tick <= (uint32_t)now;) next_note++;
    next_middle = fitting;
    broken_count = 0;
    schedule();
}

/* The period did not fit the notes: undoes what is not known to fit and makes more live. Returns whether to go on. */
static bool widen(void) {
    bool goes_on = !is_full();
    remember_live();
    for (uint32_t i = 0; i < broken_count; i++) spread(broken[i]);
    goes_on &= pick_live();
    heap_top = text_so_far;
    written = written_so_far;
    if (fitting && goes_on) {
        return_to_middle();
    } else {
        rewind_clock(&at_start);
        start_period();
    }
    is_anchored = false;
    settling_step = 1;
    next_settling = periods_done + 1;
    return goes_on;
}

/* At the end of a period: lets those rest again that are as they were at its start. Returns whether that pays. */
static bool settle_parts(void) {
    uint32_t before = work;
    part_by_difference(); /* something does differ, or it would be proven */
    join_all();
    uint32_t after = count_work(), gain = before > after ? before - after : 0;
    if (gain <= note_count / GAIN || gain <= before / PART_GAIN || !is_room_to_renew()) {
        part_as_before();
        settling_step *= 2;
        next_settling = periods_done + settling_step;
        return false;
    }
    settling_step = 1;
    next_settling = periods_done + 1;
    renew_notes();
    work = count_work();
    pick_notes();
    return true;
}

/* ---- periods --------------------------------------------------------------------------------------------------- */

/* The state is what it was so many periods ago. Parts go on resting: see walk_to. */
static void prove(const Saved *before, uint32_t periods) {
    period = periods * part_period;
    copy_consumed(gains);
    for (uint32_t i = 0; i < sink_count * ITEMS; i++) gains[i] -= before->consumed[i];
}

static void set_anchor(uint32_t next_step) {
    save(&anchor);
    is_anchored = true;
    anchored = periods_done;
    anchor_step = next_step;
}

/* Ends a replay between two periods: everybody is visited again. */
static void stop_resting(void) {
    watching = UNWATCHED;
    set_all(LIVE);
    for (uint32_t i = 0; i < actor_counts[SOURCES]; i++) sources[i].wakes++; /* for same_phases: it may have been awake */
    schedule();
}

/* Replays periods until the factory is proven to repeat, or this is of no use for the snapshots that are left. */
static void replay(void) {
    bool goes_on = true;
    next_settling = 0;
    settling_step = 1;
    rewind_clock(&at_start);
    start_period();
    set_anchor(2);
    while (goes_on && !period && skipped + (uint32_t)now_at_start + part_period <= covered_until) {
        if (is_due()) { /* at the start of a period: a middle writes its own */
            write_snapshot(scenario.snapshots[written++]);
            text_so_far = heap_top;
            written_so_far = written;
        }
        if (written == scenario.snapshot_count) break;
        if (!run_period()) {
            goes_on = widen();
            continue;
        }
        finish_period();
        if (same_saved(&at_start, &at_end)) prove(&at_start, 1);
        else if (is_anchored && same_saved(&anchor, &at_end)) prove(&anchor, periods_done - anchored);
        bool settled = !period && periods_done >= next_settling && !fresh_lacks && settle_parts();
        swap_saved();
        start_period();
        if (settled || !is_anchored) set_anchor(2);
        else if (periods_done >= anchored + anchor_step) set_anchor(2 * anchor_step);
    }
    if (period) return;
    stop_resting();
    if (periods_done > 1) retreat = FIRST_RETREAT;
    retreat_for_now();
    next_look = now;
}

static void finish_recording(void) {
    bool full = is_full();
    recorded_until = NEVER;
    watching = UNWATCHED;
    if (!full) {
        save(&at_end);
        bool any = part_by_difference();
        if (any && (uint32_t)(fresh_end - fresh) < QUIET * part_period) {
            next_try = NEVER;
        } else {
            keep_recording(part_period);
            now_at_start = now;
            if (!any) prove(&at_start, 1);
            if (pick_live()) {
                watching = REPLAYING;
                swap_saved();
                if (any) replay();
                else start_period();
                return;
            }
        }
        set_all(LIVE);
    }
    if (next_try != NEVER) retreat_for_now();
}

/* Goes on to a tick so long after the factory was proven to repeat; these ticks ascend. */
static void walk_to(uint32_t wait) {
    while (wait >= (walked + 1) * part_period) {
        if (!run_period()) __builtin_trap(); /* it cannot be: all this happened before */
        walked++;
        finish_period();
        swap_saved();
        start_period();
    }
    if (!run_period_until(now_at_start + (int32_t)(wait - walked * part_period))) __builtin_trap();
}

#endif
