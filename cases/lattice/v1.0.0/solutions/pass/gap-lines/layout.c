/* Tiles, curves and runs. See layout.h. */
#include "layout.h"

/* ---- tiles -------------------------------------------------------------------------------------------------- */

/* A hash table, not a grid: its size follows the entities, however large the grid is. */
typedef struct {
    int64_t x, y;
    uint32_t owner_plus_one; /* 0: free slot */
} Tile;

static Tile *tiles;
static uint32_t tile_mask;

static Tile *tile_at(int64_t x, int64_t y) {
    uint32_t slot = (uint32_t)(((uint64_t)x * 0x9e3779b97f4a7c15ull + (uint64_t)y * 0xc2b2ae3d27d4eb4full) >> 32);
    for (;; slot++) {
        Tile *tile = &tiles[slot & tile_mask];
        if (!tile->owner_plus_one || (tile->x == x && tile->y == y)) return tile;
    }
}

static void footprint(const Entity *entity, uint32_t *width, uint32_t *height) {
    bool upright = entity->dir == EAST || entity->dir == WEST;
    switch (entity->kind) {
    case ASSEMBLER: *width = *height = 3; break;
    case FURNACE: *width = *height = 2; break;
    case SPLITTER:
    case LANE_SPLITTER: *width = upright ? 1 : 2, *height = upright ? 2 : 1; break;
    default: *width = *height = 1;
    }
}

/* A later entity takes over a tile that an earlier one covers. */
static void place_entities(const Scenario *scenario) {
    uint32_t width, height, covered = 0, slots = 16;
    for (uint32_t e = 0; e < scenario->entity_count; e++) {
        footprint(&scenario->entities[e], &width, &height);
        covered += width * height;
    }
    while (slots < 2 * covered) slots *= 2;
    tiles = reserve(slots * sizeof *tiles);
    tile_mask = slots - 1;
    for (uint32_t e = 0; e < scenario->entity_count; e++) {
        const Entity *entity = &scenario->entities[e];
        footprint(entity, &width, &height);
        for (uint32_t i = 0; i < width * height; i++) {
            int64_t x = (int64_t)entity->x + i % width, y = (int64_t)entity->y + i / width;
            *tile_at(x, y) = (Tile){x, y, e + 1};
        }
    }
}

uint32_t owner_beside(uint32_t x, uint32_t y, uint8_t dir) {
    static const int8_t dx[4] = {0, 1, 0, -1}, dy[4] = {-1, 0, 1, 0};
    return tile_at((int64_t)x + dx[dir], (int64_t)y + dy[dir])->owner_plus_one - 1; /* 0 wraps to NONE */
}

void second_tile(const Entity *splitter, uint32_t *x, uint32_t *y) {
    bool upright = splitter->dir == EAST || splitter->dir == WEST;
    *x = splitter->x + !upright;
    *y = splitter->y + upright;
}

/* ---- curves and runs ---------------------------------------------------------------------------------------- */

static const Entity *entities;
static bool *curves;

static bool is_belt(uint32_t e) { return e != NONE && entities[e].kind == BELT; }

static bool is_pure_curve(const Entity *belt) {
    int feeders = 0;
    bool bent = false;
    for (uint8_t side = 0; side < 4; side++) {
        uint32_t neighbour = owner_beside(belt->x, belt->y, side);
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

static uint32_t next_belt(uint32_t e) {
    uint32_t ahead = owner_beside(entities[e].x, entities[e].y, entities[e].dir);
    return is_belt(ahead) && (entities[ahead].dir == entities[e].dir || curves[ahead]) ? ahead : NONE;
}

static bool is_run_head(uint32_t e) {
    uint32_t behind = owner_beside(entities[e].x, entities[e].y, opposite(entities[e].dir));
    return !curves[e] && !(is_belt(behind) && entities[behind].dir == entities[e].dir);
}

/* Follows a chain from its upstream end and lists it the other way round. */
static Run take_run(uint32_t head, bool *used, uint32_t *belts) {
    uint32_t length = 0;
    for (uint32_t e = head; e != NONE && !used[e]; e = next_belt(e)) {
        used[e] = true;
        belts[length++] = e;
    }
    for (uint32_t i = 0; i < length / 2; i++) {
        uint32_t swapped = belts[i];
        belts[i] = belts[length - 1 - i];
        belts[length - 1 - i] = swapped;
    }
    return (Run){length, belts};
}

Layout read_layout(const Scenario *scenario) {
    uint32_t count = scenario->entity_count;
    entities = scenario->entities;
    place_entities(scenario);
    curves = reserve(count);
    for (uint32_t e = 0; e < count; e++) curves[e] = entities[e].kind == BELT && is_pure_curve(&entities[e]);

    bool *used = reserve(count);
    Run *runs = reserve(count * sizeof *runs);
    uint32_t *belts = reserve(count * sizeof *belts), run_count = 0;
    for (uint32_t e = 0; e < count; e++) {
        if (entities[e].kind != BELT || used[e] || !is_run_head(e)) continue;
        runs[run_count] = take_run(e, used, belts);
        belts += runs[run_count++].length;
    }
    for (uint32_t e = 0; e < count; e++) { /* closed loops have no head: each tile is a run of its own */
        if (entities[e].kind != BELT || used[e]) continue;
        *belts = e;
        runs[run_count++] = (Run){1, belts++};
    }
    return (Layout){curves, run_count, runs};
}
