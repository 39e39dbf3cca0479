/* Tiles, curves and runs. See layout.h. */
#include "layout.h"

static Entity *entities;

/* ---- tiles -------------------------------------------------------------------------------------------------- */

/* Where the entities lie close together, a plain grid around them says who owns a tile; where they are scattered over
 * a huge area, a hash table does. Both hold the entity's index plus one, and 0 for nobody. */
enum { MOST_CELLS = 1 << 22, BORDER = 1 };

typedef struct {
    int32_t x, y, owner;
} Slot;

static int32_t *grid, left, top, columns;
static Slot *table;
static uint32_t table_mask;

static int32_t *cell_at(int32_t x, int32_t y) {
    if (grid) return &grid[(y - top) * columns + (x - left)];
    uint32_t slot = ((uint32_t)x * 0x9e3779b1u + (uint32_t)y * 0x85ebca77u) ;
    slot ^= slot >> 15;
    for (;; slot++) {
        Slot *found = &table[slot & table_mask];
        if (!found->owner) found->x = x, found->y = y;
        if (found->x == x && found->y == y) return &found->owner;
    }
}

static void footprint(const Entity *entity, int *width, int *height) {
    bool upright = entity->dir == EAST || entity->dir == WEST;
    *width = *height = 1;
    if (entity->kind == ASSEMBLER) *width = *height = 3;
    if (entity->kind == FURNACE) *width = *height = 2;
    if (entity->kind == SPLITTER || entity->kind == LANE_SPLITTER) *width += !upright, *height += upright;
}

static void choose_map(int32_t count) {
    enum { WIDEST = 3 };
    int32_t right = 0, bottom = 0;
    left = top = INT32_MAX;
    for (int32_t e = 0; e < count; e++) {
        if (entities[e].x < left) left = entities[e].x;
        if (entities[e].y < top) top = entities[e].y;
        if (entities[e].x > right) right = entities[e].x;
        if (entities[e].y > bottom) bottom = entities[e].y;
    }
    if (count == 0) left = top = 0;
    left -= BORDER;
    top -= BORDER;
    int64_t wide = (int64_t)right - left + WIDEST + BORDER, high = (int64_t)bottom - top + WIDEST + BORDER;
    if (wide <= MOST_CELLS && high <= MOST_CELLS && wide * high <= MOST_CELLS) {
        columns = (int32_t)wide;
        grid = reserve((size_t)(wide * high) * sizeof *grid);
    } else {
        uint32_t slots = 64;
        while (slots < 24 * (uint32_t)count) slots *= 2; /* up to nine tiles each, and the free ones looked at */
        table = reserve(slots * sizeof *table);
        table_mask = slots - 1;
    }
}

static void place_entities(int32_t count) {
    choose_map(count);
    for (int32_t e = 0; e < count; e++) {
        const Entity *entity = &entities[e];
        int width, height;
        footprint(entity, &width, &height);
        for (int dy = 0; dy < height; dy++) /* a later entity takes over a tile that an earlier one covers */
            for (int dx = 0; dx < width; dx++) *cell_at(entity->x + dx, entity->y + dy) = e + 1;
    }
}

int32_t owner_beside(int32_t x, int32_t y, uint8_t dir) {
    x += dir == EAST ? 1 : dir == WEST ? -1 : 0;
    y += dir == SOUTH ? 1 : dir == NORTH ? -1 : 0;
    return *cell_at(x, y) - 1; /* 0 becomes NONE */
}

void second_tile(const Entity *splitter, int32_t *x, int32_t *y) {
    bool upright = splitter->dir == EAST || splitter->dir == WEST;
    *x = splitter->x + !upright;
    *y = splitter->y + upright;
}

/* ---- curves and runs ---------------------------------------------------------------------------------------- */

static bool *curves;

static bool is_belt(int32_t e) { return e != NONE && entities[e].kind == BELT; }

static bool is_pure_curve(const Entity *belt) {
    int feeders = 0;
    bool bent = false;
    for (uint8_t side = 0; side < 4; side++) {
        int32_t neighbour = owner_beside(belt->x, belt->y, side);
        if (neighbour == NONE || entities[neighbour].dir != opposite(side)) continue;
        switch (entities[neighbour].kind) {
        case BELT:
            feeders++;
            bent = entities[neighbour].dir != belt->dir;
            break;
        case SOURCE:
        case INSERTER:
        case SPLITTER:
        case LANE_SPLITTER: return false;
        }
    }
    return feeders == 1 && bent;
}

static int32_t next_belt(int32_t e) {
    int32_t ahead = owner_beside(entities[e].x, entities[e].y, entities[e].dir);
    return is_belt(ahead) && (entities[ahead].dir == entities[e].dir || curves[ahead]) ? ahead : NONE;
}

static bool is_run_head(int32_t e) {
    if (curves[e]) return false;
    int32_t behind = owner_beside(entities[e].x, entities[e].y, opposite(entities[e].dir));
    return !(is_belt(behind) && entities[behind].dir == entities[e].dir);
}

/* Follows a chain from its upstream end and lists it the other way round. */
static Run take_run(int32_t head, bool *used, int32_t *belts) {
    int32_t length = 0;
    for (int32_t e = head; e != NONE && !used[e]; e = next_belt(e)) {
        used[e] = true;
        belts[length++] = e;
    }
    for (int32_t i = 0; i < length / 2; i++) {
        int32_t swapped = belts[i];
        belts[i] = belts[length - 1 - i];
        belts[length - 1 - i] = swapped;
    }
    return (Run){length, belts};
}

Layout read_layout(const Scenario *scenario) {
    int32_t count = scenario->count, run_count = 0;
    entities = scenario->entities;
    place_entities(count);
    curves = reserve((size_t)count);
    for (int32_t e = 0; e < count; e++) curves[e] = entities[e].kind == BELT && is_pure_curve(&entities[e]);

    bool *used = reserve((size_t)count);
    Run *runs = reserve((size_t)count * sizeof *runs);
    int32_t *belts = reserve((size_t)count * sizeof *belts);
    for (int32_t e = 0; e < count; e++) {
        if (entities[e].kind != BELT || used[e] || !is_run_head(e)) continue;
        runs[run_count] = take_run(e, used, belts);
        belts += runs[run_count++].length;
    }
    for (int32_t e = 0; e < count; e++) { /* closed loops have no head: each tile is a run of its own */
        if (entities[e].kind != BELT || used[e]) continue;
        *belts = e;
        runs[run_count++] = (Run){1, belts++};
    }
    return (Layout){curves, run_count, runs};
}
