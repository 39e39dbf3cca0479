/* What is known of the last period: for everybody, what it did when it was last live, in notes and meals of notes.h. Parts
 * come to rest at different times, so the notes are in several rows, each in order. A lane's notes are chained. */
#ifndef LATTICE_KNOWN_H
#define LATTICE_KNOWN_H

#ifndef EAGER
#define EAGER 0 /* 1: periods are recorded early and everywhere, and much may be live, so that tests see many of them */
#endif

enum { MOST_NOTES = 1 << 19, NOTES_PER_ACTOR = 256, MOST_ROWS = EAGER ? 3 : 8 };

typedef struct {
    Note *start, *end;
} Row;

static Row rows[MOST_ROWS];
static uint32_t row_count, note_count; /* notes that are on a chain: the others are no longer true */
static uint32_t *lane_counts;          /* by lane, how many */
static uint32_t *last_note, *earlier;  /* by lane, its last note; by note, the one before it: numbers from 1 on */
static uint64_t *picked;               /* a bit for each note */
static Note *spare_notes;
static uint32_t most_notes;
static uint64_t *still_gains; /* what parts at rest bring to the sinks in one period */

/* Who was live before that was decided anew, and for how many periods a lane is live at least. */
static uint64_t *old_live;
static uint8_t *old_parts, *breaks;
static uint32_t *restless_until, periods_done; /* since this replay began */

static bool was_live(uint32_t actor) { return old_live[actor / 64] >> (actor & 63) & 1; }

static void remember_live(void) {
    for (int32_t i = 0; i < lane_count; i++) old_parts[i] = parts[i];
    for (uint32_t word = 0; word < first_actor[PHASES] / 64; word++) old_live[word] = live[word];
}

static bool is_full(void) {
    return (uint32_t)(fresh_end - fresh) >= most_notes || (uint32_t)(fresh_meals_end - fresh_meals) >= most_notes;
}

static void reserve_notes(void) {
    size_t tick_room = 4 * first_actor[PHASES]; /* nobody changes more than four lanes in a tick */
    most_notes = NOTES_PER_ACTOR * first_actor[PHASES] < MOST_NOTES ? NOTES_PER_ACTOR * first_actor[PHASES] : MOST_NOTES;
    size_t room = most_notes + tick_room, room_to_know = most_notes + room, room_in_all = room_to_know + room;
    notes = fresh = reserve(room_in_all * sizeof *notes);
    earlier = reserve(room_in_all * sizeof *earlier);
    picked = reserve((room_in_all / 64 + 1) * sizeof *picked);
    spare_notes = reserve(room_to_know * sizeof *notes);
    shared_notes = reserve(room_to_know * sizeof *notes);
    meals = reserve(room_to_know * sizeof *meals);
    fresh_meals = reserve(room * sizeof *meals);
    last_note = reserve((size_t)lane_count * sizeof *last_note);
    lane_counts = reserve((size_t)lane_count * sizeof *lane_counts);
    still_gains = reserve(sink_count * sizeof(Sink));
    old_live = reserve(first_actor[PHASES] / 64 * sizeof *old_live);
    old_parts = reserve((size_t)lane_count);
    breaks = reserve((size_t)lane_count);
    restless_until = reserve((size_t)lane_count * sizeof *restless_until);
}

static void start_fresh(void) {
    fresh_end = fresh;
    fresh_meals_end = fresh_meals;
}

/* Undoes what was done after a tick. */
static void cut_fresh(uint32_t tick) {
    while (fresh_end > fresh && fresh_end[-1].tick > tick) fresh_end--;
    while (fresh_meals_end > fresh_meals && fresh_meals_end[-1].tick > tick) fresh_meals_end--;
}

/* Takes the fresh notes and meals into what is known. */
static void keep_fresh(void) {
    uint32_t number = (uint32_t)(fresh - notes);
    note_count += (uint32_t)(fresh_end - fresh);
    for (const Note *note = fresh; note < fresh_end; note++) {
        uint32_t lane = note->lane;
        lane_counts[lane]++;
        earlier[number++] = last_note[lane];
        last_note[lane] = number;
    }
    rows[row_count++] = (Row){fresh, fresh_end};
    fresh = notes + (((size_t)(fresh_end - notes) + 63) & ~(size_t)63); /* so that its bits begin a word of `picked` */
    for (const Meal *meal = fresh_meals; meal < fresh_meals_end; meal++) *meals_end++ = *meal;
}

static void forget_all(void) {
    for (int32_t i = 0; i < lane_count; i++) lane_counts[i] = last_note[i] = 0;
    note_count = row_count = 0;
    fresh = notes;
    meals_end = meals;
}

/* What was recorded is all that is known. The clock will stay `later` by so many ticks. */
static void keep_recording(uint32_t later) {
    forget_all();
    for (Note *note = fresh; note < fresh_end; note++) note->tick += later;
    for (Meal *meal = fresh_meals; meal < fresh_meals_end; meal++) meal->tick += later;
    keep_fresh();
}

/* As a number that is greater for a later note, of all but those of one visit. */
static inline uint64_t moment_of(const Note *note) {
    uint64_t moment;
    __builtin_memcpy(&moment, note, sizeof moment);
    return moment;
}

static inline void copy_note(Note *to, const Note *from) { wasm_v128_store(to, wasm_v128_load(from)); }

/* Puts the notes of all lanes of `is_shared`, but for the rows before one, into `shared_notes`, in order. Returns their end. */
static Note *pick_shared(uint32_t from_row) {
    uint32_t before = (uint32_t)(rows[from_row].start - notes);
    for (int32_t i = 0; i < lane_count; i++) {
        if (!is_shared[i]) continue;
        for (uint32_t next = last_note[i]; next > before; next = earlier[next - 1]) picked[(next - 1) / 64] |= 1ull << ((next - 1) & 63);
    }
    Note *end = shared_notes;
    for (uint32_t r = row_count; r-- > from_row;) { /* the first row is the longest, so it is merged but once */
        bool alone = r + 1 == row_count;
        Note *gathered = alone ? shared_notes : spare_notes, *to = gathered;
        const Note *from = rows[r].start;
        for (uint64_t *word = picked + (from - notes) / 64; from < rows[r].end; word++, from += 64)
            for (; *word; *word &= *word - 1) copy_note(to++, from + __builtin_ctzll(*word));
        Note *last = end;
        end += to - gathered;
        for (Note *place = end; !alone && to > gathered;) { /* two rows are merged from behind */
            bool is_last = last > shared_notes && moment_of(last - 1) > moment_of(to - 1);
            copy_note(--place, is_last ? --last : --to);
        }
    }
    return end;
}

/* Makes one row of all from a given one on. */
static void join_rows(uint32_t from_row) {
    for (int32_t i = 0; i < lane_count; i++) is_shared[i] = 1;
    const Note *end = pick_shared(from_row);
    fresh = rows[from_row].start;
    start_fresh();
    for (const Note *note = shared_notes; note < end; note++) {
        copy_note(fresh_end++, note);
        lane_counts[note->lane]--;
        note_count--;
    }
    for (int32_t i = 0; i < lane_count; i++)
        while (last_note[i] > (uint32_t)(fresh - notes)) last_note[i] = earlier[last_note[i] - 1];
    row_count = from_row;
    keep_fresh();
}

/* Whether there is room to keep what is fresh. What is known may be twice as much as one period has. */
static bool is_room_to_renew(void) {
    return note_count + (uint32_t)(fresh_end - fresh) <= 2 * most_notes &&
           (uint32_t)(meals_end - meals) + (uint32_t)(fresh_meals_end - fresh_meals) <= 2 * most_notes;
}

/* What those did who were live in the last period takes the place of what they did before. */
static void renew_notes(void) {
    for (int32_t i = 0; i < lane_count; i++) {
        if (old_parts[i] == AT_REST) continue;
        uint32_t *place = &last_note[i];
        for (uint32_t next = *place; next; next = earlier[next - 1]) {
            if (old_parts[i] == LIVE || was_live(notes[next - 1].actor)) {
                lane_counts[i]--;
                note_count--;
                continue;
            }
            *place = next;
            place = &earlier[next - 1];
        }
        *place = 0;
    }
    Meal *kept = meals;
    for (const Meal *meal = meals; meal < meals_end; meal++)
        if (!was_live(meal->actor)) *kept++ = *meal;
    meals_end = kept;
    keep_fresh();
    if ((uint32_t)(fresh - notes) > 2 * most_notes) join_rows(0);
    else if (row_count == MOST_ROWS) join_rows(1);
}

/* Picks what a replay needs of what is known. */
static void pick_notes(void) {
    for (int32_t i = 0; i < lane_count; i++) is_shared[i] = parts[i] == SHARED;
    *pick_shared(0) = (Note){first_actor[PHASES], UINT32_MAX, 0, 0};
    for (uint32_t i = 0; i < sink_count * ITEMS; i++) still_gains[i] = 0;
    for (const Meal *meal = meals; meal < meals_end; meal++)
        if (!is_live(meal->actor)) still_gains[meal->entry]++;
}

/* About how many notes of one period are done anew or repeated. */
static uint32_t count_work(void) {
    uint32_t sum = 0;
    for (int32_t i = 0; i < lane_count; i++)
        if (parts[i] != AT_REST) sum += lane_counts[i];
    return sum;
}

#endif
