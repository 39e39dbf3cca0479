/* The rules of Lattice as they read: every tick visits every entity in every phase and moves every item on its own. */
#include "io.h"
#include "layout.h"

enum { TILE = 256, SPACING = 64, ENTRY = TILE - SPACING, SWING = 8, INPUT_CAP = 8, OUTPUT_CAP = 8 };
enum { SIDE_LOAD_UPSTREAM = 192, SIDE_LOAD_DOWNSTREAM = 64, SIDE_LOAD_HEAD_ON = 128 };

/* What an entity remembers between ticks. */
typedef union {
    Lane lanes[2];
    struct {
        uint8_t out_pref[2], in_first;
    } splitter;
    struct {
        uint8_t held, left;
    } inserter;
    struct {
        uint8_t inputs[2], output, craft_left;
    } crafter;
    uint64_t consumed[ITEMS];
} State;

/* Whom an entity meets: the owners of the tiles around it. Index 1 is the second tile of a splitter. */
typedef struct {
    uint32_t ahead[2], behind[2];
    uint32_t around[4];
} Neighbours;

static Scenario scenario;
static Layout layout;
static const Entity *entities;
static Neighbours *neighbours;
static State *states;

static uint8_t kind_of(uint32_t e) { return e == NONE ? KINDS : entities[e].kind; }
static const Recipe *recipe_of(uint32_t e) { return &recipes[entities[e].recipe]; }

/* ---- lanes: the two primitives of the rules, and taking the head off ---------------------------------------- */

static bool accepts(const Lane *lane, int pos) {
    for (uint32_t i = 0; i < lane->count; i++) {
        int distance = lane->items[i].pos - pos;
        if (distance < SPACING && -distance < SPACING) return false;
    }
    return true;
}

static bool force(Lane *lane, int pos, uint8_t item) {
    if (!accepts(lane, pos)) return false;
    uint32_t i = lane->count++;
    for (; i > 0 && lane->items[i - 1].pos > pos; i--) lane->items[i] = lane->items[i - 1];
    lane->items[i] = (LaneItem){(uint8_t)pos, item};
    return true;
}

static uint8_t take_head(Lane *lane) {
    uint8_t item = lane->items[0].item;
    lane->count--;
    for (uint32_t i = 0; i < lane->count; i++) lane->items[i] = lane->items[i + 1];
    return item;
}

static bool head_at_edge(const Lane *lane) { return lane->count && lane->items[0].pos == 0; }

/* ---- phase 1: sources --------------------------------------------------------------------------------------- */

static void run_source(uint32_t e, uint64_t tick) {
    uint32_t target = neighbours[e].ahead[0];
    if (tick % entities[e].period || kind_of(target) != BELT) return;
    for (int lane = LEFT; lane <= RIGHT; lane++)
        if (entities[e].lanes >> lane & 1) force(&states[target].lanes[lane], ENTRY, entities[e].item);
}

/* ---- phase 2: inserters ------------------------------------------------------------------------------------- */

/* The counter of an input that a crafter takes, or null. */
static uint8_t *input_of(uint32_t crafter, uint8_t item) {
    const Recipe *recipe = recipe_of(crafter);
    for (int i = 0; i < recipe->input_count; i++)
        if (recipe->input[i] == item) return &states[crafter].crafter.inputs[i];
    return NULL;
}

static Lane *drop_lane(uint32_t inserter, uint32_t belt) {
    return &states[belt].lanes[near_lane(entities[inserter].dir, entities[belt].dir)];
}

static bool would_accept(uint32_t inserter, uint32_t target, uint8_t item) {
    switch (kind_of(target)) {
    case BELT: return accepts(drop_lane(inserter, target), ENTRY);
    case ASSEMBLER:
    case FURNACE: {
        const uint8_t *count = input_of(target, item);
        return count && *count < INPUT_CAP;
    }
    case SINK: return true;
    default: return false;
    }
}

static bool drop(uint32_t inserter, uint32_t target, uint8_t item) {
    if (!would_accept(inserter, target, item)) return false;
    switch (kind_of(target)) {
    case BELT: force(drop_lane(inserter, target), ENTRY, item); break;
    case SINK: states[target].consumed[item]++; break;
    default: ++*input_of(target, item);
    }
    return true;
}

/* From a belt into a crafter: the head it needs most, coal for a furnace before anything, the far lane on a tie. */
static Lane *choose_for_crafter(uint32_t inserter, uint32_t crafter, Lane *candidates[2]) {
    Lane *best = NULL;
    int best_rank = 0;
    for (int i = 0; i < 2; i++) {
        if (!candidates[i]->count) continue;
        uint8_t item = candidates[i]->items[0].item;
        if (!would_accept(inserter, crafter, item)) continue;
        bool fuel = kind_of(crafter) == FURNACE && item == COAL;
        int rank = (fuel ? 0 : INPUT_CAP + 1) + *input_of(crafter, item);
        if (best && rank >= best_rank) continue;
        best = candidates[i];
        best_rank = rank;
    }
    return best;
}

static uint8_t grab_from_belt(uint32_t inserter, uint32_t belt, uint32_t target) {
    int near = near_lane(entities[inserter].dir, entities[belt].dir);
    Lane *lanes = states[belt].lanes, *candidates[2] = {&lanes[!near], &lanes[near]};
    Lane *chosen;
    if (is_crafter(kind_of(target))) {
        chosen = choose_for_crafter(inserter, target, candidates);
    } else {
        chosen = candidates[candidates[0]->count == 0];
        if (!chosen->count || !would_accept(inserter, target, chosen->items[0].item)) return NO_ITEM;
    }
    return chosen ? take_head(chosen) : NO_ITEM;
}

static uint8_t grab(uint32_t inserter) {
    uint32_t from = neighbours[inserter].behind[0], target = neighbours[inserter].ahead[0];
    switch (kind_of(from)) {
    case BELT: return grab_from_belt(inserter, from, target);
    case ASSEMBLER:
    case FURNACE: {
        uint8_t item = recipe_of(from)->output;
        if (!states[from].crafter.output || !would_accept(inserter, target, item)) return NO_ITEM;
        states[from].crafter.output--;
        return item;
    }
    case SOURCE: return would_accept(inserter, target, entities[from].item) ? entities[from].item : NO_ITEM;
    default: return NO_ITEM;
    }
}

static void run_inserter(uint32_t e) {
    uint8_t *held = &states[e].inserter.held, *left = &states[e].inserter.left;
    if (*held == NO_ITEM) {
        if (*left > 0) {
            --*left;
        } else {
            *held = grab(e);
            if (*held != NO_ITEM) *left = SWING;
        }
    } else if (*left > 1) {
        --*left;
    } else if (drop(e, neighbours[e].ahead[0], *held)) {
        *held = NO_ITEM;
        *left = SWING;
    }
}

/* ---- phase 3: belts ----------------------------------------------------------------------------------------- */

static void compact(const Run *run, int lane) {
    int64_t floor = 0;
    for (uint32_t i = 0; i < run->length; i++) {
        Lane *from = &states[run->belts[i]].lanes[lane];
        int64_t speed = entities[run->belts[i]].speed;
        Lane moving = *from;
        from->count = 0;
        for (uint32_t k = 0; k < moving.count; k++) {
            int64_t at = (int64_t)i * TILE + moving.items[k].pos - speed;
            if (at < floor) at = floor;
            floor = at + SPACING;
            Lane *to = &states[run->belts[at / TILE]].lanes[lane]; /* this tile or the one just downstream */
            to->items[to->count++] = (LaneItem){(uint8_t)(at % TILE), moving.items[k].item};
        }
    }
}

static int side_load_pos(uint8_t side, uint8_t target_dir) {
    if (side == opposite(target_dir)) return SIDE_LOAD_UPSTREAM;
    if (side == target_dir) return SIDE_LOAD_DOWNSTREAM;
    return SIDE_LOAD_HEAD_ON;
}

static void side_load(uint32_t e) {
    uint32_t target = neighbours[e].ahead[0];
    uint8_t dir = entities[e].dir;
    if (kind_of(target) != BELT || entities[target].dir == dir || layout.curve[target]) return;
    Lane *onto = &states[target].lanes[near_lane(dir, entities[target].dir)];
    for (int lane = LEFT; lane <= RIGHT; lane++) {
        Lane *from = &states[e].lanes[lane];
        if (!head_at_edge(from)) continue;
        int pos = side_load_pos(lane_side(dir, lane), entities[target].dir);
        if (force(onto, pos, from->items[0].item)) take_head(from);
    }
}

/* ---- phase 4: splitters and lane splitters ------------------------------------------------------------------ */

/* A splitter deals only with belts of its own facing. */
static Lane *splitter_lane(uint32_t splitter, uint32_t belt, int lane) {
    return kind_of(belt) == BELT && entities[belt].dir == entities[splitter].dir ? &states[belt].lanes[lane] : NULL;
}

static bool pass_on(uint32_t splitter, Lane *from, int lane, int output) {
    Lane *to = splitter_lane(splitter, neighbours[splitter].ahead[output], lane);
    if (!to || !force(to, ENTRY, from->items[0].item)) return false;
    take_head(from);
    return true;
}

static void run_splitter(uint32_t e) {
    uint8_t *in_first = &states[e].splitter.in_first;
    for (int lane = LEFT; lane <= RIGHT; lane++) {
        uint8_t *want = &states[e].splitter.out_pref[lane];
        for (int k = 0; k < 2; k++) {
            Lane *from = splitter_lane(e, neighbours[e].behind[*in_first ^ k], lane);
            if (!from || !head_at_edge(from)) continue;
            if (pass_on(e, from, lane, *want)) *want ^= 1;
            else pass_on(e, from, lane, *want ^ 1); /* landed on the other one: the wish stays */
        }
    }
    *in_first ^= 1;
}

static void run_lane_splitter(uint32_t e) {
    for (int lane = LEFT; lane <= RIGHT; lane++) {
        Lane *from = splitter_lane(e, neighbours[e].behind[0], lane);
        if (from && head_at_edge(from)) pass_on(e, from, lane, lane);
    }
}

/* ---- phases 5 and 6: crafters and sinks --------------------------------------------------------------------- */

static void run_crafter(uint32_t e) {
    const Recipe *recipe = recipe_of(e);
    uint8_t *inputs = states[e].crafter.inputs, *output = &states[e].crafter.output, *left = &states[e].crafter.craft_left;
    if (*left > 1) {
        --*left;
        return;
    }
    if (*left == 1) {
        *output += recipe->amount;
        *left = 0;
    }
    for (int i = 0; i < recipe->input_count; i++)
        if (inputs[i] < recipe->need[i]) return;
    if (*output + recipe->amount > OUTPUT_CAP) return;
    for (int i = 0; i < recipe->input_count; i++) inputs[i] -= recipe->need[i];
    *left = recipe->ticks;
}

static void run_sink(uint32_t e) {
    for (uint8_t side = 0; side < 4; side++) {
        uint32_t belt = neighbours[e].around[side];
        if (kind_of(belt) != BELT || entities[belt].dir != opposite(side)) continue;
        for (int lane = LEFT; lane <= RIGHT; lane++)
            while (head_at_edge(&states[belt].lanes[lane])) states[e].consumed[take_head(&states[belt].lanes[lane])]++;
    }
}

/* ---- the tick ----------------------------------------------------------------------------------------------- */

#define EACH(e) for (uint32_t e = 0; e < scenario.entity_count; e++)

static void run_tick(uint64_t tick) {
    EACH(e) if (entities[e].kind == SOURCE) run_source(e, tick);
    EACH(e) if (entities[e].kind == INSERTER) run_inserter(e);
    for (uint32_t r = 0; r < layout.run_count; r++)
        for (int lane = LEFT; lane <= RIGHT; lane++) compact(&layout.runs[r], lane);
    EACH(e) if (entities[e].kind == BELT) side_load(e);
    EACH(e) if (entities[e].kind == SPLITTER) run_splitter(e);
    EACH(e) if (entities[e].kind == LANE_SPLITTER) run_lane_splitter(e);
    EACH(e) if (is_crafter(entities[e].kind)) run_crafter(e);
    EACH(e) if (entities[e].kind == SINK) run_sink(e);
}

static void write_entity(uint32_t e, uint64_t tick) {
    const State *state = &states[e];
    uint8_t held = state->inserter.held, left = state->inserter.left;
    switch (entities[e].kind) {
    case BELT: write_belt(&state->lanes[LEFT], &state->lanes[RIGHT]); break;
    case SPLITTER:
        write_splitter(state->splitter.out_pref[LEFT] + 2u * state->splitter.out_pref[RIGHT], state->splitter.in_first);
        break;
    case INSERTER: write_inserter(held != NO_ITEM ? PHASE_SWING : left ? PHASE_RETURN : PHASE_IDLE, held, left); break;
    case SOURCE: write_source((uint32_t)(tick % entities[e].period)); break;
    case SINK: write_sink(state->consumed); break;
    case LANE_SPLITTER: write_lane_splitter(); break;
    default:
        write_crafter(entities[e].kind, recipe_of(e), state->crafter.inputs, state->crafter.output, state->crafter.craft_left);
    }
}

static void meet_neighbours(void) {
    neighbours = reserve(scenario.entity_count * sizeof *neighbours);
    EACH(e) {
        const Entity *entity = &entities[e];
        Neighbours *n = &neighbours[e];
        uint32_t x = entity->x, y = entity->y;
        for (uint8_t side = 0; side < 4; side++) n->around[side] = owner_beside(x, y, side);
        n->ahead[0] = n->around[entity->dir];
        n->behind[0] = n->around[opposite(entity->dir)];
        second_tile(entity, &x, &y);
        n->ahead[1] = owner_beside(x, y, entity->dir);
        n->behind[1] = owner_beside(x, y, opposite(entity->dir));
    }
}

__attribute__((export_name("simulate"))) uint64_t simulate(const char *text, size_t length) {
    scenario = read_scenario(text, length);
    entities = scenario.entities;
    layout = read_layout(&scenario);
    meet_neighbours();
    states = reserve(scenario.entity_count * sizeof *states);
    EACH(e) if (entities[e].kind == INSERTER) states[e].inserter.held = NO_ITEM;

    state_begin();
    uint64_t tick = 0;
    for (uint32_t s = 0; s < scenario.snapshot_count; s++) {
        while (tick < scenario.snapshots[s]) run_tick(++tick);
        snapshot_open(tick, scenario.entity_count);
        EACH(e) write_entity(e, tick);
        snapshot_close();
    }
    return state_end();
}
