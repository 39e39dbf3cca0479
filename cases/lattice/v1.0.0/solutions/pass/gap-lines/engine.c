/* Lattice on transport lines: belts cost something only when a block of items comes to rest; arms, machines, splitters
 * and sinks are all asked in every tick. See README.md. */
#include "io.h"
#include "layout.h"
#include "line.h"

enum { ENTRY = TILE - SPACING, SWING = 8, INPUT_CAP = 8, OUTPUT_CAP = 8 };
enum { SIDE_LOAD_UPSTREAM = 192, SIDE_LOAD_DOWNSTREAM = 64, SIDE_LOAD_HEAD_ON = 128 };

/* One lane of one belt tile: a stretch of a line. Where there is no belt, the line is `nowhere`. */
typedef struct {
    Line *line;
    int64_t start;
} Place;

typedef struct {
    uint64_t next; /* tick of the next emission */
    uint32_t period, target_count;
    Place targets[2];
    uint8_t item;
} Source;

typedef struct {
    const Recipe *recipe;
    uint32_t left; /* ticks until the craft ends, 0 if there is none */
    uint8_t kind, inputs[2], output;
} Crafter;

typedef struct {
    uint64_t consumed[ITEMS];
    uint32_t feeder_count;
    Place feeders[8];
} Sink;

typedef struct {
    uint32_t left; /* ticks until the swing or the return ends */
    uint8_t held;
    uint8_t from_kind, to_kind, source_item;
    Place far, near, drop; /* of the belts it picks from and drops on */
    Crafter *from, *to;
    Sink *sink;
} Inserter;

typedef struct {
    Place in[2][2], out[2][2]; /* by tile, by lane */
    uint8_t out_pref[2];
} Splitter;

typedef struct {
    Line *from, *onto;
    int64_t at;
} SideLoad;

static Scenario scenario;
static Layout layout;
static const Entity *entities;

static Line *lines, nowhere = {.wake = NEVER};
static uint32_t line_count;
static Place (*places)[2]; /* by entity, by lane */

/* Machines by kind, each list in placement order; slots[e] is the place of entity e in the list of its kind. */
static uint32_t counts[KINDS], *slots;
static Source *sources;
static Inserter *inserters;
static Splitter *splitters, *lane_splitters;
static Crafter *crafters;
static Sink *sinks;
static SideLoad *side_loads;
static uint32_t side_load_count, crafter_count;

static uint8_t kind_of(uint32_t e) { return e == NONE ? KINDS : entities[e].kind; }

/* ---- places ------------------------------------------------------------------------------------------------- */

static bool find_head(Place place, Spot *head) {
    *head = line_find(place.line, place.start);
    return head->at < place.start + TILE;
}

/* Almost always the tile ends its run; it does not where an overlapping entity took the tile in front of it. */
static bool item_at_edge(Place place, uint8_t *item) {
    const Line *line = place.line;
    if (place.start == 0) {
        if (!line->stuck) return false;
        *item = line->items[line->head];
        return true;
    }
    Spot head = line_find(line, place.start);
    if (head.at != place.start) return false;
    *item = line->items[head.item];
    return true;
}

static void take_from_edge(Place place) {
    if (place.start == 0) line_pop(place.line);
    else line_remove(place.line, line_find(place.line, place.start));
}

static bool enter(Place place, uint8_t item) { return line_force(place.line, place.start + ENTRY, item); }

/* ---- sources ------------------------------------------------------------------------------------------------ */

static void run_source(Source *source) {
    source->next += source->period;
    for (uint32_t i = 0; i < source->target_count; i++) enter(source->targets[i], source->item);
}

/* ---- inserters ---------------------------------------------------------------------------------------------- */

/* The counter of an input that the crafter would take one more of, or null. */
static uint8_t *wanted_input(Crafter *crafter, uint8_t item) {
    for (int i = 0; i < crafter->recipe->input_count; i++)
        if (crafter->recipe->input[i] == item) return crafter->inputs[i] < INPUT_CAP ? &crafter->inputs[i] : NULL;
    return NULL;
}

static bool would_accept(const Inserter *inserter, uint8_t item) {
    switch (inserter->to_kind) {
    case BELT: return line_accepts(inserter->drop.line, inserter->drop.start + ENTRY);
    case ASSEMBLER:
    case FURNACE: return wanted_input(inserter->to, item) != NULL;
    default: return inserter->to_kind == SINK;
    }
}

static bool drop(Inserter *inserter) {
    switch (inserter->to_kind) {
    case BELT: return enter(inserter->drop, inserter->held);
    case SINK: inserter->sink->consumed[inserter->held]++; return true;
    default: break;
    }
    uint8_t *count = wanted_input(inserter->to, inserter->held);
    if (!count) return false;
    ++*count;
    return true;
}

/* How little the crafter needs an item: fuel of a furnace before anything, then what it has least of. */
static int rank_for(const Crafter *crafter, uint8_t item, uint8_t count) {
    return (crafter->kind == FURNACE && item == COAL ? 0 : INPUT_CAP + 1) + count;
}

static uint8_t grab_for_crafter(Inserter *inserter) {
    Crafter *crafter = inserter->to;
    const Place *candidates[2] = {&inserter->far, &inserter->near};
    const Place *best = NULL;
    Spot best_head = {0}, head;
    int best_rank = 0;
    for (int i = 0; i < 2; i++) {
        if (!find_head(*candidates[i], &head)) continue;
        uint8_t item = candidates[i]->line->items[head.item];
        const uint8_t *count = wanted_input(crafter, item);
        if (!count) continue;
        int rank = rank_for(crafter, item, *count);
        if (best && rank >= best_rank) continue;
        best = candidates[i];
        best_head = head;
        best_rank = rank;
    }
    return best ? line_remove(best->line, best_head) : NO_ITEM;
}

static uint8_t grab_from_belt(Inserter *inserter) {
    if (is_crafter(inserter->to_kind)) return grab_for_crafter(inserter);
    Place *place = &inserter->far;
    Spot head;
    if (!find_head(*place, &head)) {
        place = &inserter->near;
        if (!find_head(*place, &head)) return NO_ITEM;
    }
    return would_accept(inserter, place->line->items[head.item]) ? line_remove(place->line, head) : NO_ITEM;
}

static uint8_t grab(Inserter *inserter) {
    switch (inserter->from_kind) {
    case BELT: return grab_from_belt(inserter);
    case ASSEMBLER:
    case FURNACE: {
        Crafter *from = inserter->from;
        if (!from->output || !would_accept(inserter, from->recipe->output)) return NO_ITEM;
        from->output--;
        return from->recipe->output;
    }
    case SOURCE: return would_accept(inserter, inserter->source_item) ? inserter->source_item : NO_ITEM;
    default: return NO_ITEM;
    }
}

static void run_inserter(Inserter *inserter) {
    if (inserter->held == NO_ITEM) {
        if (inserter->left > 0) {
            inserter->left--;
        } else if ((inserter->held = grab(inserter)) != NO_ITEM) {
            inserter->left = SWING;
        }
    } else if (inserter->left > 1) {
        inserter->left--;
    } else if (drop(inserter)) {
        inserter->held = NO_ITEM;
        inserter->left = SWING;
    }
}

/* ---- belts, splitters, sinks -------------------------------------------------------------------------------- */

static void run_belts(void) {
    belt_phases++;
    for (uint32_t i = 0; i < line_count; i++)
        if (lines[i].wake <= belt_phases) line_settle(&lines[i]);
}

static void run_side_load(SideLoad *load) {
    Line *from = load->from;
    if (from->stuck && line_force(load->onto, load->at, from->items[from->head])) line_pop(from);
}

static bool pass_on(Place from, uint8_t item, Place to) {
    if (to.line == &nowhere || !enter(to, item)) return false;
    take_from_edge(from);
    return true;
}

static void run_splitter(Splitter *splitter, uint32_t in_first) {
    for (int lane = LEFT; lane <= RIGHT; lane++) {
        for (uint32_t k = 0; k < 2; k++) {
            Place from = splitter->in[in_first ^ k][lane];
            uint8_t item;
            if (!item_at_edge(from, &item)) continue;
            uint8_t want = splitter->out_pref[lane];
            if (pass_on(from, item, splitter->out[want][lane])) splitter->out_pref[lane] ^= 1;
            else pass_on(from, item, splitter->out[want ^ 1][lane]); /* if it lands there, the wish stays */
        }
    }
}

static void run_lane_splitter(Splitter *splitter) {
    uint8_t item;
    for (int lane = LEFT; lane <= RIGHT; lane++)
        if (item_at_edge(splitter->in[0][lane], &item)) pass_on(splitter->in[0][lane], item, splitter->out[lane][lane]);
}

static void run_sink(Sink *sink) {
    for (uint32_t i = 0; i < sink->feeder_count; i++) {
        uint8_t item;
        if (!item_at_edge(sink->feeders[i], &item)) continue;
        sink->consumed[item]++;
        take_from_edge(sink->feeders[i]);
    }
}

/* ---- crafters ----------------------------------------------------------------------------------------------- */

static bool can_start(const Crafter *crafter) {
    const Recipe *recipe = crafter->recipe;
    for (int i = 0; i < recipe->input_count; i++)
        if (crafter->inputs[i] < recipe->need[i]) return false;
    return crafter->output + recipe->amount <= OUTPUT_CAP;
}

static void run_crafter(Crafter *crafter) {
    const Recipe *recipe = crafter->recipe;
    if (crafter->left > 0) {
        if (--crafter->left > 0) return;
        crafter->output += recipe->amount;
    }
    if (!can_start(crafter)) return;
    crafter->left = recipe->ticks;
    for (int i = 0; i < recipe->input_count; i++) crafter->inputs[i] -= recipe->need[i];
}

/* ---- the tick ----------------------------------------------------------------------------------------------- */

static uint32_t in_first(uint64_t tick) { return tick & 1; } /* flips every tick, from 0: the value after `tick` */

static void run_tick(uint64_t tick) {
    for (uint32_t i = 0; i < counts[SOURCE]; i++)
        if (sources[i].next == tick) run_source(&sources[i]);
    for (uint32_t i = 0; i < counts[INSERTER]; i++) run_inserter(&inserters[i]);
    run_belts();
    for (uint32_t i = 0; i < side_load_count; i++) run_side_load(&side_loads[i]);
    for (uint32_t i = 0; i < counts[SPLITTER]; i++) run_splitter(&splitters[i], in_first(tick - 1));
    for (uint32_t i = 0; i < counts[LANE_SPLITTER]; i++) run_lane_splitter(&lane_splitters[i]);
    for (uint32_t i = 0; i < crafter_count; i++) run_crafter(&crafters[i]);
    for (uint32_t i = 0; i < counts[SINK]; i++) run_sink(&sinks[i]);
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

static Lane lane_of(Place place) {
    Lane lane = {0};
    for (Spot spot = line_find(place.line, place.start); spot.at < place.start + TILE; spot = line_after(place.line, spot))
        lane.items[lane.count++] = (LaneItem){(uint8_t)(spot.at - place.start), place.line->items[spot.item]};
    return lane;
}

static void write_arm(const Inserter *inserter) {
    uint8_t phase = inserter->held != NO_ITEM ? PHASE_SWING : inserter->left > 0 ? PHASE_RETURN : PHASE_IDLE;
    write_inserter(phase, inserter->held, inserter->left);
}

static void write_entity(uint32_t e, uint64_t tick) {
    uint32_t slot = slots[e];
    switch (entities[e].kind) {
    case BELT: {
        Lane left = lane_of(places[e][LEFT]), right = lane_of(places[e][RIGHT]);
        write_belt(&left, &right);
        break;
    }
    case SPLITTER: write_splitter(splitters[slot].out_pref[LEFT] + 2u * splitters[slot].out_pref[RIGHT], in_first(tick)); break;
    case INSERTER: write_arm(&inserters[slot]); break;
    case SOURCE: write_source((uint32_t)(tick % entities[e].period)); break;
    case SINK: write_sink(sinks[slot].consumed); break;
    case LANE_SPLITTER: write_lane_splitter(); break;
    default: {
        const Crafter *crafter = &crafters[slot];
        write_crafter(crafter->kind, crafter->recipe, crafter->inputs, crafter->output, crafter->left);
    }
    }
}

/* ---- setting up --------------------------------------------------------------------------------------------- */

/* The stretches of equal speed of a run, as few as there are. */
static uint32_t read_zones(const Run *run, Zone *zones) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->length; i++) {
        uint8_t speed = entities[run->belts[i]].speed;
        if (count == 0 || zones[count - 1].speed != speed) zones[count++] = (Zone){(int64_t)i * TILE, speed};
    }
    return count;
}

static void lay_lines(void) {
    line_count = 2 * layout.run_count;
    lines = reserve(line_count * sizeof *lines);
    places = reserve(scenario.entity_count * sizeof *places);
    for (uint32_t r = 0; r < layout.run_count; r++) {
        const Run *run = &layout.runs[r];
        Zone *zones = reserve(run->length * sizeof *zones);
        uint32_t zone_count = read_zones(run, zones);
        for (int lane = LEFT; lane <= RIGHT; lane++) {
            line_start(&lines[2 * r + lane], run->length, zones, zone_count);
            for (uint32_t i = 0; i < run->length; i++)
                places[run->belts[i]][lane] = (Place){&lines[2 * r + lane], (int64_t)i * TILE};
        }
    }
}

static bool is_belt(uint32_t e) { return kind_of(e) == BELT; }

static void set_up_source(Source *source, const Entity *entity) {
    uint32_t target = owner_beside(entity->x, entity->y, entity->dir);
    source->next = source->period = entity->period;
    source->item = entity->item;
    for (int lane = LEFT; lane <= RIGHT; lane++)
        if (is_belt(target) && entity->lanes >> lane & 1) source->targets[source->target_count++] = places[target][lane];
}

static void set_up_inserter(Inserter *inserter, const Entity *entity) {
    uint32_t from = owner_beside(entity->x, entity->y, opposite(entity->dir));
    uint32_t to = owner_beside(entity->x, entity->y, entity->dir);
    inserter->held = NO_ITEM;
    inserter->from_kind = kind_of(from);
    inserter->to_kind = kind_of(to);
    inserter->far = inserter->near = inserter->drop = (Place){&nowhere, 0};
    if (is_belt(from)) {
        int near = near_lane(entity->dir, entities[from].dir);
        inserter->near = places[from][near];
        inserter->far = places[from][!near];
    }
    if (is_crafter(inserter->from_kind)) inserter->from = &crafters[slots[from]];
    if (inserter->from_kind == SOURCE) inserter->source_item = entities[from].item;
    if (is_belt(to)) inserter->drop = places[to][near_lane(entity->dir, entities[to].dir)];
    if (is_crafter(inserter->to_kind)) inserter->to = &crafters[slots[to]];
    if (inserter->to_kind == SINK) inserter->sink = &sinks[slots[to]];
}

/* A splitter deals only with belts of its own facing. */
static void set_up_splitter(Splitter *splitter, const Entity *entity) {
    uint32_t x = entity->x, y = entity->y;
    for (int tile = 0; tile < 2; tile++) {
        uint32_t behind = owner_beside(x, y, opposite(entity->dir)), ahead = owner_beside(x, y, entity->dir);
        for (int lane = LEFT; lane <= RIGHT; lane++) {
            bool in = is_belt(behind) && entities[behind].dir == entity->dir;
            bool out = is_belt(ahead) && entities[ahead].dir == entity->dir;
            splitter->in[tile][lane] = in ? places[behind][lane] : (Place){&nowhere, 0};
            splitter->out[tile][lane] = out ? places[ahead][lane] : (Place){&nowhere, 0};
        }
        second_tile(entity, &x, &y);
    }
}

static void set_up_sink(Sink *sink, const Entity *entity) {
    for (uint8_t side = 0; side < 4; side++) {
        uint32_t belt = owner_beside(entity->x, entity->y, side);
        if (!is_belt(belt) || entities[belt].dir != opposite(side)) continue;
        for (int lane = LEFT; lane <= RIGHT; lane++) sink->feeders[sink->feeder_count++] = places[belt][lane];
    }
}

static void set_up_side_load(uint32_t e) {
    const Entity *entity = &entities[e];
    uint32_t target = owner_beside(entity->x, entity->y, entity->dir);
    if (!is_belt(target) || entities[target].dir == entity->dir || layout.curve[target]) return;
    uint8_t dir = entities[target].dir;
    Place onto = places[target][near_lane(entity->dir, dir)];
    for (int lane = LEFT; lane <= RIGHT; lane++) {
        uint8_t side = lane_side(entity->dir, lane);
        int at = side == opposite(dir) ? SIDE_LOAD_UPSTREAM : side == dir ? SIDE_LOAD_DOWNSTREAM : SIDE_LOAD_HEAD_ON;
        /* A belt that loads from the side ends its run, so what stands at its edge stands at the end of the line. */
        side_loads[side_load_count++] = (SideLoad){places[e][lane].line, onto.line, onto.start + at};
    }
}

static void list_machines(void) {
    uint32_t count = scenario.entity_count;
    slots = reserve(count * sizeof *slots);
    for (uint32_t e = 0; e < count; e++)
        slots[e] = is_crafter(entities[e].kind) ? crafter_count++ : counts[entities[e].kind]++;
    sources = reserve(counts[SOURCE] * sizeof *sources);
    inserters = reserve(counts[INSERTER] * sizeof *inserters);
    splitters = reserve(counts[SPLITTER] * sizeof *splitters);
    lane_splitters = reserve(counts[LANE_SPLITTER] * sizeof *lane_splitters);
    crafters = reserve(crafter_count * sizeof *crafters);
    sinks = reserve(counts[SINK] * sizeof *sinks);
    side_loads = reserve(2 * counts[BELT] * sizeof *side_loads);
    for (uint32_t e = 0; e < count; e++) {
        const Entity *entity = &entities[e];
        switch (entity->kind) {
        case BELT: set_up_side_load(e); break;
        case SPLITTER: set_up_splitter(&splitters[slots[e]], entity); break;
        case LANE_SPLITTER: set_up_splitter(&lane_splitters[slots[e]], entity); break;
        case INSERTER: set_up_inserter(&inserters[slots[e]], entity); break;
        case SOURCE: set_up_source(&sources[slots[e]], entity); break;
        case SINK: set_up_sink(&sinks[slots[e]], entity); break;
        default: crafters[slots[e]] = (Crafter){.recipe = &recipes[entity->recipe], .kind = entity->kind};
        }
    }
}

__attribute__((export_name("simulate"))) uint64_t simulate(const char *text, size_t length) {
    scenario = read_scenario(text, length);
    entities = scenario.entities;
    layout = read_layout(&scenario);
    lay_lines();
    list_machines();

    state_begin();
    uint64_t tick = 0;
    for (uint32_t s = 0; s < scenario.snapshot_count; s++) {
        while (tick < scenario.snapshots[s]) run_tick(++tick);
        snapshot_open(tick, scenario.entity_count);
        for (uint32_t e = 0; e < scenario.entity_count; e++) write_entity(e, tick);
        snapshot_close();
    }
    return state_end();
}
