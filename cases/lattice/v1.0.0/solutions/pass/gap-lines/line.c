/* Transport lines. See line.h. */
#include "line.h"

enum { MIN_MARGIN = 48 };

uint64_t belt_phases;

/* How far the moving frame has gone: coordinate = at - travel. */
static int64_t travel(const Line *line) { return line->speed * (int64_t)belt_phases; }

static uint32_t block_end(const Line *line, uint32_t b) {
    return b + 1 < line->back ? line->blocks[b + 1].first : line->tail;
}

void line_start(Line *line, uint32_t tiles, const Zone *zones, uint32_t zone_count) {
    uint32_t capacity = tiles * LANE_ITEMS, margin = capacity > MIN_MARGIN ? capacity : MIN_MARGIN;
    *line = (Line){.wake = NEVER, .speed = zone_count == 1 ? zones[0].speed : 0, .margin = margin,
                   .limit = margin + capacity + margin, .zones = zones, .zone_count = zone_count};
    line->items = reserve(line->limit);
    line->blocks = reserve(line->limit * sizeof(Block));
    line->head = line->tail = line->front = line->back = margin;
}

/* ---- two lists that grow at both ends ----------------------------------------------------------------------- */

/* A list drifts through its buffer as items join at one end and leave at the other. When it reaches an end it goes back
 * to the middle: once in `margin` insertions, and it is seldom longer than that. */
static void centre_items(Line *line) {
    uint32_t shift = line->head - line->margin;
    __builtin_memmove(line->items + line->margin, line->items + line->head, line->tail - line->head);
    for (uint32_t b = line->front; b < line->back; b++) line->blocks[b].first -= shift;
    line->head -= shift;
    line->tail -= shift;
}

static void centre_blocks(Line *line) {
    uint32_t count = line->back - line->front;
    __builtin_memmove(line->blocks + line->margin, line->blocks + line->front, count * sizeof(Block));
    line->front = line->margin;
    line->back = line->front + count;
}

/* Opens a slot before block `b` by moving the shorter side; returns the slot. */
static uint32_t open_block(Line *line, uint32_t b, Block block) {
    uint32_t rank = b - line->front;
    if (line->front == 0 || line->back == line->limit) centre_blocks(line);
    Block *slot = line->blocks + line->front + rank;
    uint32_t behind = line->back - line->front - rank;
    if (behind <= rank) {
        for (uint32_t i = behind; i > 0; i--) slot[i] = slot[i - 1];
        line->back++;
    } else {
        slot--;
        for (Block *moved = line->blocks + line->front - 1; moved < slot; moved++) moved[0] = moved[1];
        line->front--;
    }
    *slot = block;
    return (uint32_t)(slot - line->blocks);
}

static void close_block(Line *line, uint32_t b) {
    if (b - line->front < line->back - 1 - b) {
        for (; b > line->front; b--) line->blocks[b] = line->blocks[b - 1];
        line->front++;
    } else {
        for (; b + 1 < line->back; b++) line->blocks[b] = line->blocks[b + 1];
        line->back--;
    }
}

/* Puts an item before the first item of block `b` (which may be `back`); returns its index. It then belongs to the
 * block before, unless the caller makes another one of it. */
static uint32_t open_item(Line *line, uint32_t b, uint8_t item) {
    if (line->head == 0 || line->tail == line->limit) centre_items(line);
    uint32_t index = b < line->back ? line->blocks[b].first : line->tail;
    uint32_t before = index - line->head, behind = line->tail - index;
    if (behind <= before) {
        __builtin_memmove(line->items + index + 1, line->items + index, behind);
        line->tail++;
        for (; b < line->back; b++) line->blocks[b].first++;
    } else {
        __builtin_memmove(line->items + line->head - 1, line->items + line->head, before);
        line->head--;
        index--;
        while (b-- > line->front) line->blocks[b].first--;
    }
    line->items[index] = item;
    return index;
}

static void close_item(Line *line, uint32_t index) {
    uint32_t before = index - line->head, behind = line->tail - 1 - index;
    if (before <= behind) {
        if (before) __builtin_memmove(line->items + line->head + 1, line->items + line->head, before);
        line->head++;
        for (uint32_t b = line->front; b < line->back && line->blocks[b].first <= index; b++) line->blocks[b].first++;
    } else {
        if (behind) __builtin_memmove(line->items + index, line->items + index + 1, behind);
        line->tail--;
        for (uint32_t b = line->back; b-- > line->front && line->blocks[b].first > index;) line->blocks[b].first--;
    }
}

/* ---- looking ------------------------------------------------------------------------------------------------ */

static int64_t block_at(const Line *line, uint32_t b) {
    return line->stuck && b == line->front ? 0 : line->blocks[b].at - travel(line);
}

static Spot block_spot(const Line *line, uint32_t b) {
    if (b == line->back) return (Spot){b, line->tail, FAR};
    return (Spot){b, line->blocks[b].first, block_at(line, b)};
}

Spot line_find(const Line *line, int64_t at) {
    uint32_t low = line->front, high = line->back;
    if (line->stuck) { /* its `at` is stale, so it stays out of the search below */
        low++;
        if (low == high || line->blocks[low].at - travel(line) > at) high = low;
    }
    int64_t wanted = at + travel(line);
    while (low < high) { /* the first block that starts beyond `at` */
        uint32_t middle = (low + high) / 2;
        if (line->blocks[middle].at > wanted) high = middle;
        else low = middle + 1;
    }
    if (low == line->front) return block_spot(line, low);
    uint32_t b = low - 1;
    int64_t start = block_at(line, b);
    uint32_t rank = (uint32_t)(at - start + SPACING - 1) / SPACING;
    uint32_t item = line->blocks[b].first + rank;
    if (item >= block_end(line, b)) return block_spot(line, low);
    return (Spot){b, item, start + (int64_t)rank * SPACING};
}

Spot line_after(const Line *line, Spot spot) {
    if (spot.item + 1 < block_end(line, spot.block)) return (Spot){spot.block, spot.item + 1, spot.at + SPACING};
    return block_spot(line, spot.block + 1);
}

/* The coordinate of the last item; one spacing before the line's end if it has none. */
static int64_t last_at(const Line *line) {
    if (line->front == line->back) return -SPACING;
    uint32_t b = line->back - 1;
    return block_at(line, b) + (int64_t)(line->tail - 1 - line->blocks[b].first) * SPACING;
}

static bool fits(Spot next, int64_t at) { return next.at >= at + SPACING; }

bool line_accepts(const Line *line, int64_t at) {
    int64_t last = last_at(line);
    if (at - last >= SPACING) return true;
    if (last - at < SPACING) return false;
    return fits(line_find(line, at - SPACING + 1), at);
}

/* ---- moving ------------------------------------------------------------------------------------------------- */

/* With one speed all moving blocks have moved already, with the frame. Here those come to rest that have reached what
 * stands before them, and the alarm is set for the next that will: only the first block that moves can run into
 * something, for those behind it keep their distance. */
static void come_to_rest(Line *line) {
    for (;;) {
        uint32_t mover = line->front + line->stuck;
        if (mover == line->back) {
            line->wake = NEVER;
            return;
        }
        int64_t way = line->blocks[mover].at - travel(line);
        if (line->stuck) way -= (int64_t)(line->blocks[mover].first - line->head) * SPACING;
        if (way > 0) {
            line->wake = belt_phases + (uint64_t)((way + line->speed - 1) / line->speed);
            return;
        }
        if (line->stuck) close_block(line, mover);
        else line->stuck = true;
    }
}

/* With several speeds the blocks move one by one. A block stays whole unless part of it lies in a slower zone. */
static bool move_blocks(Line *line) {
    bool moved = false;
    int64_t floor = 0;
    uint32_t zone = 0;
    for (uint32_t b = line->front; b < line->back; b++) {
        const Zone *zones = line->zones;
        int64_t at = line->blocks[b].at;
        uint32_t first = line->blocks[b].first;
        while (zone + 1 < line->zone_count && zones[zone + 1].start <= at) zone++;
        int64_t step = at - floor < zones[zone].speed ? at - floor : zones[zone].speed;
        int64_t last = at + (int64_t)(block_end(line, b) - first - 1) * SPACING;
        for (uint32_t z = zone + 1; z < line->zone_count && zones[z].start <= last; z++) {
            if (zones[z].speed >= step) continue;
            uint32_t rank = (uint32_t)(zones[z].start - at + SPACING - 1) / SPACING;
            int64_t rest = at + (int64_t)rank * SPACING;
            if (rest > last) continue;
            b = open_block(line, b + 1, (Block){rest, first + rank}) - 1;
            break;
        }
        uint32_t count = block_end(line, b) - first;
        moved |= step != 0;
        line->blocks[b].at = at - step;
        bool touches = b > line->front && at - step == floor;
        floor = at - step + (int64_t)count * SPACING;
        if (touches) {
            uint32_t rank = b - line->front;
            close_block(line, b);
            b = line->front + rank - 1;
        }
    }
    line->stuck = line->blocks[line->front].at == 0;
    return moved;
}

void line_settle(Line *line) {
    if (line->zone_count > 1) {
        line->wake = move_blocks(line) ? 0 : NEVER; /* a jam stays one until the line changes */
    } else {
        come_to_rest(line);
    }
}

/* ---- changing ----------------------------------------------------------------------------------------------- */

/* To be called after every change that may move the line's alarm. */
static void changed(Line *line) {
    if (line->zone_count == 1) come_to_rest(line);
    else line->wake = line->head == line->tail ? NEVER : 0;
}

/* Whether a change at block `b` may move the alarm: not on a moving line, behind the block that moves first. */
static bool matters(const Line *line, uint32_t b) { return line->wake == NEVER || b <= line->front + line->stuck; }

/* Puts an item before block `b`, which starts at `next`; the item fits. */
static void insert(Line *line, uint32_t b, int64_t next, int64_t at, uint8_t item) {
    bool extends = false, alarm = matters(line, b);
    if (b > line->front) {
        uint32_t end = b < line->back ? line->blocks[b].first : line->tail;
        extends = block_at(line, b - 1) + (int64_t)(end - line->blocks[b - 1].first) * SPACING == at;
    }
    uint32_t index = open_item(line, b, item);
    if (!extends && next == at + SPACING) {
        line->blocks[b].at -= SPACING;
        line->blocks[b].first = index;
    } else if (!extends) {
        open_block(line, b, (Block){at + travel(line), index});
    }
    if (alarm) changed(line);
}

bool line_force(Line *line, int64_t at, uint8_t item) {
    /* Most items join a line behind its last one, or do not because that one is still too near: no search for those. */
    int64_t last = last_at(line);
    if (at - last >= SPACING) {
        insert(line, line->back, FAR, at, item);
        return true;
    }
    if (last - at < SPACING) return false;
    Spot next = line_find(line, at - SPACING + 1);
    if (!fits(next, at)) return false;
    insert(line, next.block, next.at, at, item); /* `next` starts a block: two spacings lie before it */
    return true;
}

uint8_t line_pop(Line *line) {
    Block *block = line->blocks + line->front;
    if (block_end(line, line->front) - line->head == 1) {
        line->front++;
    } else {
        block->at = SPACING + travel(line);
        block->first++;
    }
    line->stuck = false;
    uint8_t item = line->items[line->head++];
    changed(line);
    return item;
}

uint8_t line_remove(Line *line, Spot spot) {
    uint32_t b = spot.block, first = line->blocks[b].first, end = block_end(line, b);
    uint8_t item = line->items[spot.item];
    int64_t rest = spot.at + SPACING + travel(line);
    bool alarm = matters(line, b);
    if (spot.item == first) {
        if (b == line->front) line->stuck = false;
        if (end - first == 1) close_block(line, b);
        else line->blocks[b].at = rest;
    } else if (spot.item + 1 < end) {
        open_block(line, b + 1, (Block){rest, spot.item + 1});
    }
    close_item(line, spot.item);
    if (alarm) changed(line);
    return item;
}
