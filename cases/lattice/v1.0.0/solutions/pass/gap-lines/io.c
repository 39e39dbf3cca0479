/* Scenario text in, state text and checksum out. See io.h. */
#include "io.h"

/* ---- memory ------------------------------------------------------------------------------------------------- */

enum { PAGE = 65536, GROW_PAGES = 64 };

extern unsigned char __heap_base;
static uintptr_t heap_top, heap_limit;

/* Memory only grows, so a reservation is never reused and needs no clearing. */
static void ensure(size_t bytes) {
    if (heap_top == 0) {
        heap_top = ((uintptr_t)&__heap_base + 15) & ~(uintptr_t)15;
        heap_limit = (uintptr_t)__builtin_wasm_memory_size(0) * PAGE;
    }
    if (bytes <= heap_limit - heap_top) return;
    size_t pages = (bytes - (heap_limit - heap_top) + PAGE - 1) / PAGE;
    size_t grown = pages > GROW_PAGES ? pages : GROW_PAGES;
    if (__builtin_wasm_memory_grow(0, grown) == (size_t)-1) {
        grown = pages; /* close to the cap: ask for no more than is needed */
        if (__builtin_wasm_memory_grow(0, grown) == (size_t)-1) __builtin_trap();
    }
    heap_limit += grown * PAGE;
}

void *reserve(size_t bytes) {
    if (bytes > (size_t)1 << 30) __builtin_trap();
    bytes = (bytes + 7) & ~(size_t)7;
    ensure(bytes);
    void *start = (void *)heap_top;
    heap_top += bytes;
    return start;
}

__attribute__((export_name("alloc"))) void *alloc(size_t length) { return reserve(length); }

/* ---- names -------------------------------------------------------------------------------------------------- */

const Recipe recipes[RECIPES] = {
    {"iron-plate", FURNACE, 2, {0, COAL}, {1, 1}, 1, 1, 32},
    {"copper-plate", FURNACE, 2, {3, COAL}, {1, 1}, 4, 1, 32},
    {"iron-gear", ASSEMBLER, 1, {1, NO_ITEM}, {2, 0}, 2, 1, 64},
    {"copper-cable", ASSEMBLER, 1, {4, NO_ITEM}, {1, 0}, 5, 2, 32},
    {"circuit", ASSEMBLER, 2, {1, 5}, {1, 3}, 6, 1, 96},
    {"transport-belt", ASSEMBLER, 2, {1, 2}, {1, 1}, 7, 2, 48},
    {"inserter", ASSEMBLER, 2, {2, 6}, {1, 1}, 13, 1, 64},
    {"assembler", ASSEMBLER, 2, {6, 7}, {1, 2}, 10, 1, 96},
};

enum { NAME_SIZE = 24 }; /* of the longest name, rounded up to whole words: a name is copied as three of them */

static const char item_names[ITEMS][NAME_SIZE] = {
    "iron-ore",       "iron-plate",          "iron-gear",              "copper-ore", "copper-plate",   "copper-cable",
    "circuit",        "transport-belt",      "fast-transport-belt",    "express-transport-belt",
    "assembler",      "fast-assembler",      "express-assembler",      "inserter",   "fast-inserter",  "express-inserter",
    "coal",
};
static const uint8_t item_name_lengths[ITEMS] = {8, 10, 9, 10, 12, 12, 7, 14, 19, 22, 9, 14, 17, 8, 13, 16, 4};

static const char *const kind_names[KINDS] = {
    "belt", "splitter", "inserter", "assembler", "source", "sink", "furnace", "lane-splitter",
};

/* ---- reading JSON ------------------------------------------------------------------------------------------- */

enum { WORD_SIZE = 32, MAX_DEPTH = 128 };

typedef struct {
    const char *at, *end;
} Reader;

typedef struct {
    uint32_t length; /* WORD_SIZE if the string is longer than any known word */
    char text[WORD_SIZE];
} Word;

static _Noreturn void reject(void) { __builtin_trap(); }

static char peek(Reader *in) {
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\n' || *in->at == '\r' || *in->at == '\t')) in->at++;
    return in->at < in->end ? *in->at : 0;
}

static void expect(Reader *in, char wanted) {
    if (peek(in) != wanted) reject();
    in->at++;
}

static bool take(Reader *in, char wanted) {
    if (peek(in) != wanted) return false;
    in->at++;
    return true;
}

static char next_char(Reader *in) {
    if (in->at >= in->end) reject();
    return *in->at++;
}

static uint32_t read_hex4(Reader *in) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = next_char(in);
        if (c >= '0' && c <= '9') value = value * 16 + (uint32_t)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f') value = value * 16 + (uint32_t)((c | 32) - 'a' + 10);
        else reject();
    }
    return value;
}

static char read_escape(Reader *in) {
    switch (next_char(in)) {
    case '"': return '"';
    case '\\': return '\\';
    case '/': return '/';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'u': {
        uint32_t code = read_hex4(in);
        return code < 0x80 ? (char)code : (char)0xff; /* no known word is outside ASCII */
    }
    default: reject();
    }
}

static Word read_word(Reader *in) {
    Word word;
    word.length = 0;
    expect(in, '"');
    for (;;) {
        char c = next_char(in);
        if (c == '"') return word;
        if ((unsigned char)c < 0x20) reject();
        if (c == '\\') c = read_escape(in);
        if (word.length < WORD_SIZE) word.text[word.length++] = c;
    }
}

static bool word_is(const Word *word, const char *name) {
    for (uint32_t i = 0; i < word->length; i++)
        if (word->text[i] != name[i] || name[i] == 0) return false;
    return word->length < WORD_SIZE && name[word->length] == 0;
}

static uint64_t read_integer(Reader *in, uint64_t most) {
    char c = peek(in);
    if (c < '0' || c > '9') reject();
    bool zero = c == '0';
    const char *start = in->at;
    uint64_t value = 0;
    while (in->at < in->end && *in->at >= '0' && *in->at <= '9') {
        uint64_t digit = (uint64_t)(*in->at++ - '0');
        if (value > (UINT64_MAX - digit) / 10) reject();
        value = value * 10 + digit;
    }
    if ((zero && in->at - start > 1) || value > most) reject();
    if (in->at < in->end && (*in->at == '.' || *in->at == 'e' || *in->at == 'E')) reject();
    return value;
}

static void skip_digits(Reader *in) {
    if (in->at >= in->end || *in->at < '0' || *in->at > '9') reject();
    while (in->at < in->end && *in->at >= '0' && *in->at <= '9') in->at++;
}

static void skip_number(Reader *in) {
    if (*in->at == '-') in->at++;
    if (in->at < in->end && *in->at == '0') in->at++;
    else skip_digits(in);
    if (in->at < in->end && *in->at == '.') {
        in->at++;
        skip_digits(in);
    }
    if (in->at < in->end && (*in->at | 32) == 'e') {
        in->at++;
        if (in->at < in->end && (*in->at == '+' || *in->at == '-')) in->at++;
        skip_digits(in);
    }
}

static void skip_literal(Reader *in, const char *literal) {
    for (; *literal; literal++)
        if (next_char(in) != *literal) reject();
}

/* Any JSON value: an entity may carry keys that mean nothing to us. */
static void skip_value(Reader *in, int depth) {
    if (depth > MAX_DEPTH) reject();
    switch (peek(in)) {
    case '"': read_word(in); return;
    case 't': skip_literal(in, "true"); return;
    case 'f': skip_literal(in, "false"); return;
    case 'n': skip_literal(in, "null"); return;
    case '[':
        in->at++;
        if (take(in, ']')) return;
        do skip_value(in, depth + 1);
        while (take(in, ','));
        expect(in, ']');
        return;
    case '{':
        in->at++;
        if (take(in, '}')) return;
        do {
            read_word(in);
            expect(in, ':');
            skip_value(in, depth + 1);
        } while (take(in, ','));
        expect(in, '}');
        return;
    case 0: reject();
    default: skip_number(in);
    }
}

/* ---- reading a scenario ------------------------------------------------------------------------------------- */

/* The place of `word` in a list of names, or -1. */
static int index_of(const Word *word, const char *const *names, int count) {
    for (int i = 0; i < count; i++)
        if (word_is(word, names[i])) return i;
    return -1;
}

/* Reads an object and leaves, for each named key, a reader at its value (`at` is null where the key is absent). */
static void read_fields(Reader *in, const char *const *names, int count, bool unknown_allowed, Reader *values) {
    for (int i = 0; i < count; i++) values[i].at = NULL;
    expect(in, '{');
    if (take(in, '}')) return;
    do {
        Word key = read_word(in);
        expect(in, ':');
        int field = index_of(&key, names, count);
        if (field < 0 && !unknown_allowed) reject();
        if (field >= 0) {
            if (values[field].at) reject();
            values[field] = *in;
        }
        skip_value(in, 0);
    } while (take(in, ','));
    expect(in, '}');
}

static Reader *required(Reader *value) {
    if (!value->at) reject();
    return value;
}

static uint8_t read_name(Reader *value, const char *const *names, int count) {
    Word word = read_word(required(value));
    int index = index_of(&word, names, count);
    if (index < 0) reject();
    return (uint8_t)index;
}

enum { F_TYPE, F_X, F_Y, F_DIR, F_TIER, F_RECIPE, F_ITEM, F_LANE, F_PERIOD, ENTITY_FIELDS };
static const char *const entity_fields[ENTITY_FIELDS] = {"type", "x", "y", "dir", "tier", "recipe", "item", "lane", "period"};
static const char *const dir_names[4] = {"N", "E", "S", "W"};
static const char *const tier_names[3] = {"slow", "fast", "express"};
static const char *const lane_names[3] = {"left", "right", "both"};

/* A key counts only for a type that has it: on any other it is unknown, whatever its value. */
static void read_entity(Reader *in, Entity *entity, uint64_t width, uint64_t height) {
    Reader values[ENTITY_FIELDS];
    read_fields(in, entity_fields, ENTITY_FIELDS, true, values);
    entity->kind = read_name(&values[F_TYPE], kind_names, KINDS);
    entity->x = (uint32_t)read_integer(required(&values[F_X]), width - 1);
    entity->y = (uint32_t)read_integer(required(&values[F_Y]), height - 1);
    if (is_crafter(entity->kind)) {
        const char *names[RECIPES];
        for (int i = 0; i < RECIPES; i++) names[i] = recipes[i].name;
        entity->recipe = read_name(&values[F_RECIPE], names, RECIPES);
        if (recipes[entity->recipe].runs_on != entity->kind) reject();
        return;
    }
    entity->dir = read_name(&values[F_DIR], dir_names, 4);
    if (entity->kind == BELT) entity->speed = (uint8_t)(32 * (1 + read_name(&values[F_TIER], tier_names, 3)));
    if (entity->kind == SOURCE) {
        const char *names[ITEMS];
        for (int i = 0; i < ITEMS; i++) names[i] = item_names[i];
        entity->item = read_name(&values[F_ITEM], names, ITEMS);
        entity->lanes = (uint8_t)(1 + read_name(&values[F_LANE], lane_names, 3));
        entity->period = (uint32_t)read_integer(required(&values[F_PERIOD]), UINT32_MAX);
        if (entity->period == 0) reject();
    }
}

/* Lists of unknown length are reserved element by element: nothing else is reserved meanwhile, so they are arrays. */
static void read_snapshots(Reader *in, Scenario *scenario, uint64_t ticks) {
    scenario->snapshots = (const uint64_t *)reserve(0);
    uint64_t previous = 0;
    expect(in, '[');
    do {
        uint64_t tick = read_integer(in, ticks);
        if (tick <= previous) reject();
        *(uint64_t *)reserve(sizeof tick) = previous = tick;
        scenario->snapshot_count++;
    } while (take(in, ','));
    expect(in, ']');
}

static void read_entities(Reader *in, Scenario *scenario, uint64_t width, uint64_t height) {
    scenario->entities = (const Entity *)reserve(0);
    expect(in, '[');
    if (take(in, ']')) return;
    do {
        read_entity(in, (Entity *)reserve(sizeof(Entity)), width, height);
        scenario->entity_count++;
    } while (take(in, ','));
    expect(in, ']');
}

Scenario read_scenario(const char *text, size_t length) {
    enum { VERSION, GRID, TICKS, SNAPSHOTS, ENTITIES, FIELDS };
    static const char *const fields[FIELDS] = {"version", "grid", "ticks", "snapshots", "entities"};
    static const char *const grid_fields[2] = {"width", "height"};
    Scenario scenario = {0};
    Reader in = {text, text + length}, values[FIELDS], grid[2];
    read_fields(&in, fields, FIELDS, false, values);
    if (peek(&in) != 0 || in.at != in.end) reject();
    if (read_integer(required(&values[VERSION]), 1) != 1) reject();
    read_fields(required(&values[GRID]), grid_fields, 2, false, grid);
    uint64_t width = read_integer(required(&grid[0]), INT32_MAX), height = read_integer(required(&grid[1]), INT32_MAX);
    if (width == 0 || height == 0) reject();
    read_snapshots(required(&values[SNAPSHOTS]), &scenario, read_integer(required(&values[TICKS]), UINT64_MAX));
    read_entities(required(&values[ENTITIES]), &scenario, width, height);
    return scenario;
}

/* ---- the checksum ------------------------------------------------------------------------------------------- */

/* FNV-1a over the canonical bytes, without building them. A zero byte only multiplies, so the zero bytes of a small
 * number cost one multiplication by a power of the prime. */
#define PRIME 0x100000001b3ull
#define PRIME_2 (PRIME * PRIME)
#define PRIME_4 (PRIME_2 * PRIME_2)
#define PRIME_8 (PRIME_4 * PRIME_4)

static uint64_t hash;

static void hash_bytes(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++, value >>= 8) hash = (hash ^ (value & 0xff)) * PRIME;
}

static void hash_u8(uint32_t value) { hash = (hash ^ value) * PRIME; }

static void hash_u16(uint32_t value) {
    if (value < 256) hash = (hash ^ value) * PRIME_2;
    else hash_bytes(value, 2);
}

static void hash_u32(uint32_t value) {
    if (value < 256) hash = (hash ^ value) * PRIME_4;
    else hash_bytes(value, 4);
}

static void hash_u64(uint64_t value) {
    if (value < 256) hash = (hash ^ value) * PRIME_8;
    else hash_bytes(value, 8);
}

/* ---- writing the state -------------------------------------------------------------------------------------- */

enum { ENTITY_TEXT = 1024 }; /* more than the text of any one entity */

static char *out, *checksum_text;
static uintptr_t state_start;

#define PUT(literal) (__builtin_memcpy(out, literal, sizeof(literal) - 1), out += sizeof(literal) - 1)

/* Makes room for one more entity; `out` is the top of the heap while the state is written. */
static void room(void) {
    heap_top = (uintptr_t)out;
    ensure(ENTITY_TEXT);
}

static void put_item(uint32_t item) {
    __builtin_memcpy(out, item_names[item], NAME_SIZE);
    out += item_name_lengths[item];
}

static void put_number(uint64_t value) {
    char digits[20];
    int count = 0;
    if (value < 10) {
        *out++ = (char)('0' + value);
        return;
    }
    do digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count) *out++ = digits[--count];
}

static void separate(void) {
    room();
    if (out[-1] != '[') *out++ = ',';
}

void state_begin(void) {
    out = reserve(0);
    state_start = (uintptr_t)out;
    room();
    PUT("[");
}

void snapshot_open(uint64_t tick, uint32_t entity_count) {
    separate();
    PUT("{\"tick\":");
    put_number(tick);
    PUT(",\"checksum\":\"fnv1a64:");
    checksum_text = out;
    PUT("0000000000000000\",\"entities\":[");
    hash = 0xcbf29ce484222325ull;
    hash_u64(tick);
    hash_u32(entity_count);
}

static void put_lane(const Lane *lane) {
    *out++ = '[';
    hash_u32(lane->count);
    for (uint32_t i = 0; i < lane->count; i++) {
        if (i) *out++ = ',';
        PUT("{\"pos\":");
        put_number(lane->items[i].pos);
        PUT(",\"item\":\"");
        put_item(lane->items[i].item);
        PUT("\"}");
        hash_u32(lane->items[i].pos);
        hash_u16(lane->items[i].item);
    }
    *out++ = ']';
}

void write_belt(const Lane *left, const Lane *right) {
    separate();
    hash_u8(BELT);
    PUT("{\"belt\":{\"left\":");
    put_lane(left);
    PUT(",\"right\":");
    put_lane(right);
    PUT("}}");
}

void write_splitter(uint32_t out_pref, uint32_t in_first) {
    separate();
    hash_u8(SPLITTER);
    hash_u16(out_pref);
    hash_u8(in_first);
    PUT("{\"splitter\":{\"out_pref\":");
    put_number(out_pref);
    PUT(",\"in_first\":");
    put_number(in_first);
    PUT("}}");
}

void write_inserter(uint32_t phase, uint8_t held, uint32_t swing_left) {
    separate();
    hash_u8(INSERTER);
    hash_u8(phase);
    hash_u8(held != NO_ITEM);
    if (held != NO_ITEM) hash_u16(held);
    hash_u16(swing_left);
    if (phase == PHASE_IDLE) PUT("{\"inserter\":{\"phase\":\"idle\"");
    if (phase == PHASE_SWING) PUT("{\"inserter\":{\"phase\":\"swing\"");
    if (phase == PHASE_RETURN) PUT("{\"inserter\":{\"phase\":\"return\"");
    if (held != NO_ITEM) {
        PUT(",\"held\":\"");
        put_item(held);
        PUT("\"");
    }
    PUT(",\"swing_left\":");
    put_number(swing_left);
    PUT("}}");
}

/* Count maps leave out zero counts and list items by ascending index. */
static void put_count(bool first, uint32_t item, uint64_t count) {
    if (!first) *out++ = ',';
    *out++ = '"';
    put_item(item);
    PUT("\":");
    put_number(count);
}

/* The recipe table lists inputs by ascending index, so no sorting is needed. */
static void put_buffer(const uint8_t *items, const uint8_t *counts, int size) {
    uint32_t entries = 0;
    for (int i = 0; i < size; i++) entries += counts[i] != 0;
    hash_u8(entries);
    *out++ = '{';
    bool first = true;
    for (int i = 0; i < size; i++) {
        if (counts[i] == 0) continue;
        put_count(first, items[i], counts[i]);
        hash_u16(items[i]);
        hash_u16(counts[i]);
        first = false;
    }
    *out++ = '}';
}

void write_crafter(uint8_t kind, const Recipe *recipe, const uint8_t inputs[2], uint32_t output, uint32_t craft_left) {
    separate();
    hash_u8(kind);
    if (kind == FURNACE) PUT("{\"furnace\":{\"inputs\":");
    else PUT("{\"assembler\":{\"inputs\":");
    put_buffer(recipe->input, inputs, recipe->input_count);
    PUT(",\"output\":");
    uint8_t made = (uint8_t)output;
    put_buffer(&recipe->output, &made, 1);
    hash_u16(craft_left);
    PUT(",\"craft_left\":");
    put_number(craft_left);
    PUT("}}");
}

void write_source(uint32_t emit_phase) {
    separate();
    hash_u8(SOURCE);
    hash_u32(emit_phase);
    PUT("{\"source\":{\"emit_phase\":");
    put_number(emit_phase);
    PUT("}}");
}

void write_sink(const uint64_t consumed[ITEMS]) {
    separate();
    hash_u8(SINK);
    uint32_t entries = 0;
    for (int i = 0; i < ITEMS; i++) entries += consumed[i] != 0;
    hash_u8(entries);
    PUT("{\"sink\":{\"consumed\":{");
    bool first = true;
    for (uint32_t i = 0; i < ITEMS; i++) {
        if (consumed[i] == 0) continue;
        put_count(first, i, consumed[i]);
        hash_u16(i);
        hash_u64(consumed[i]);
        first = false;
    }
    PUT("}}}");
}

void write_lane_splitter(void) {
    separate();
    hash_u8(LANE_SPLITTER);
    PUT("{\"lanesplitter\":{}}");
}

void snapshot_close(void) {
    room();
    for (int i = 0; i < 16; i++) checksum_text[i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15];
    PUT("]}");
}

uint64_t state_end(void) {
    room();
    PUT("]");
    return (uint64_t)state_start << 32 | (uint64_t)((uintptr_t)out - state_start);
}
