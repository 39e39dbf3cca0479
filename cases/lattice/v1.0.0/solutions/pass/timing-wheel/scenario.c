/* Scenario text in. A strict JSON reader whose common paths are short: plain strings and blanks are scanned sixteen
 * bytes at a time, names are told apart by their length and their first bytes as one integer. */
#include <wasm_simd128.h>

#include "lattice.h"

enum { MAX_DEPTH = 128 };

const Recipe recipes[RECIPES] = {
    {FURNACE, {0, COAL}, {1, 1}, 1, 1, 32},      {FURNACE, {3, COAL}, {1, 1}, 4, 1, 32},
    {ASSEMBLER, {1, NO_ITEM}, {2, 0}, 2, 1, 64}, {ASSEMBLER, {4, NO_ITEM}, {1, 0}, 5, 2, 32},
    {ASSEMBLER, {1, 5}, {1, 3}, 6, 1, 96},       {ASSEMBLER, {1, 2}, {1, 1}, 7, 2, 48},
    {ASSEMBLER, {2, 6}, {1, 1}, 13, 1, 64},      {ASSEMBLER, {6, 7}, {1, 2}, 10, 1, 96},
};

/* Names are at most 24 bytes, padded with zeros. */
typedef struct {
    uint64_t word[3];
} Name;

static const char recipe_names[RECIPES][24] = {
    "iron-plate", "copper-plate", "iron-gear", "copper-cable", "circuit", "transport-belt", "inserter", "assembler",
};
static const char item_names[ITEMS][24] = {
    "iron-ore",       "iron-plate",       "iron-gear", "copper-ore",     "copper-plate",      "copper-cable",
    "circuit",        "transport-belt",   "fast-transport-belt",         "express-transport-belt",
    "assembler",      "fast-assembler",   "express-assembler",           "inserter",          "fast-inserter",
    "express-inserter", "coal",
};

static _Noreturn void reject(void) { __builtin_trap(); }

static inline uint32_t load32(const char *p) {
    uint32_t value;
    __builtin_memcpy(&value, p, 4);
    return value;
}

static inline uint64_t load64(const char *p) {
    uint64_t value;
    __builtin_memcpy(&value, p, 8);
    return value;
}

/* ---- tokens ------------------------------------------------------------------------------------------------- */

/* The byte behind the text is 0, which no token contains: a text that ends too early is rejected where it ends. */

static const char *skip_blanks(const char *p) {
    for (;;) {
        v128_t text = wasm_v128_load(p);
        v128_t blank = wasm_v128_or(wasm_v128_or(wasm_i8x16_eq(text, wasm_i8x16_splat(' ')), wasm_i8x16_eq(text, wasm_i8x16_splat('\n'))),
                                    wasm_v128_or(wasm_i8x16_eq(text, wasm_i8x16_splat('\r')), wasm_i8x16_eq(text, wasm_i8x16_splat('\t'))));
        uint32_t others = ~(uint32_t)wasm_i8x16_bitmask(blank);
        p += __builtin_ctz(others);
        if (others & 0xffff) return p;
    }
}

static inline const char *skip(const char *p) { return (uint8_t)*p > ' ' ? p : skip_blanks(p); }

static inline const char *expect(const char *p, char wanted) {
    p = skip(p);
    if (*p != wanted) reject();
    return p + 1;
}

/* A string as it is meant: where its text starts and how long it is. */
typedef struct {
    const char *at;
    uint32_t length;
} Word;

static uint32_t hex_digit(char c) {
    if (c >= '0' && c <= '9') return (uint32_t)(c - '0');
    if ((c | 32) >= 'a' && (c | 32) <= 'f') return (uint32_t)((c | 32) - 'a' + 10);
    reject();
}

/* A string with escapes is copied without them; what is outside ASCII becomes 0xff, which is in no known name. */
static const char *read_escaped(const char *p, Word *word) {
    const char *end = p;
    for (; *end != '"'; end++) {
        if ((uint8_t)*end < 0x20) reject();
        if (*end == '\\' && *++end == 0) reject();
    }
    char *to = reserve((size_t)(end - p) + 16);
    word->at = to;
    while (p < end) {
        char c = *p++;
        if (c == '\\') {
            switch (c = *p++) {
            case '"': case '\\': case '/': break;
            case 'b': c = '\b'; break;
            case 'f': c = '\f'; break;
            case 'n': c = '\n'; break;
            case 'r': c = '\r'; break;
            case 't': c = '\t'; break;
            case 'u': {
                uint32_t code = 0;
                for (int i = 0; i < 4; i++) code = code * 16 + hex_digit(*p++);
                c = code < 128 ? (char)code : (char)0xff;
                break;
            }
            default: reject();
            }
        }
        *to++ = c;
    }
    word->length = (uint32_t)(to - word->at);
    return end + 1;
}

/* Reads the string behind an opening quote. */
static inline const char *read_word(const char *p, Word *word) {
    const char *start = p;
    for (;;) {
        v128_t text = wasm_v128_load(p);
        v128_t special = wasm_v128_or(wasm_v128_or(wasm_i8x16_eq(text, wasm_i8x16_splat('"')), wasm_i8x16_eq(text, wasm_i8x16_splat('\\'))),
                                      wasm_u8x16_lt(text, wasm_i8x16_splat(0x20)));
        uint32_t found = wasm_i8x16_bitmask(special);
        if (found) {
            p += __builtin_ctz(found);
            break;
        }
        p += 16;
    }
    if (*p != '"') return read_escaped(start, word);
    *word = (Word){start, (uint32_t)(p - start)};
    return p + 1;
}

static const char *skip_digits(const char *p) {
    if (*p < '0' || *p > '9') reject();
    while (*p >= '0' && *p <= '9') p++;
    return p;
}

static const char *skip_number(const char *p) {
    if (*p == '-') p++;
    if (*p == '0') p++;
    else p = skip_digits(p);
    if (*p == '.') p = skip_digits(p + 1);
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-') p++;
        p = skip_digits(p);
    }
    return p;
}

static const char *skip_literal(const char *p, const char *literal) {
    for (; *literal; literal++)
        if (*p++ != *literal) reject();
    return p;
}

/* Any JSON value: an entity may carry keys that mean nothing to us. */
static const char *skip_value(const char *p, int depth) {
    Word word;
    if (depth > MAX_DEPTH) reject();
    p = skip(p);
    switch (*p) {
    case '"': return read_word(p + 1, &word);
    case 't': return skip_literal(p, "true");
    case 'f': return skip_literal(p, "false");
    case 'n': return skip_literal(p, "null");
    case '[':
        p = skip(p + 1);
        if (*p == ']') return p + 1;
        for (;; p++) {
            p = skip(skip_value(p, depth + 1));
            if (*p == ']') return p + 1;
            if (*p != ',') reject();
        }
    case '{':
        p = skip(p + 1);
        if (*p == '}') return p + 1;
        for (;; p++) {
            p = read_word(expect(p, '"'), &word);
            p = skip(skip_value(expect(p, ':'), depth + 1));
            if (*p == '}') return p + 1;
            if (*p != ',') reject();
        }
    default: return skip_number(p);
    }
}

/* ---- values ------------------------------------------------------------------------------------------------- */

enum { ABSENT, TEXT, WHOLE, OTHER };

/* The value of a known key, kept until the entity's type says which keys count. */
typedef struct {
    uint32_t form;
    Word word;
    uint64_t number;
} Value;

static inline const char *read_whole(const char *p, Value *value) {
    const char *start = p;
    uint64_t number = 0;
    for (uint32_t digit; (digit = (uint8_t)*p - '0') <= 9; p++) number = number * 10 + digit;
    value->form = WHOLE;
    value->number = number;
    /* Whatever is not a whole number of at most 19 digits in its shortest form is left to the slow path. */
    if (p == start || p - start > 19 || (*start == '0' && p - start > 1) || *p == '.' || (*p | 32) == 'e') {
        value->form = OTHER;
        p = skip_number(start);
        const char *digits = start;
        number = 0;
        for (; *digits >= '0' && *digits <= '9'; digits++) {
            if (number > (UINT64_MAX - (uint64_t)(*digits - '0')) / 10) return p;
            number = number * 10 + (uint64_t)(*digits - '0');
        }
        if (digits == p && p > start) value->form = WHOLE, value->number = number;
    }
    return p;
}

static inline const char *read_value(const char *p, Value *value) {
    p = skip(p);
    if (*p == '"') {
        value->form = TEXT;
        return read_word(p + 1, &value->word);
    }
    if ((uint8_t)(*p - '0') <= 9) return read_whole(p, value);
    value->form = OTHER;
    return skip_value(p, 0);
}

static inline uint64_t whole(const Value *value, uint64_t most) {
    if (value->form != WHOLE || value->number > most) reject();
    return value->number;
}

static inline uint64_t head_of(const Word *word) {
    return word->length >= 8 ? load64(word->at) : load64(word->at) & ((1ull << (8 * word->length)) - 1);
}

#define CHARS(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define CHARS8(a, b, c, d, e, f, g, h) (CHARS(a, b, c, d) | (uint64_t)CHARS(e, f, g, h) << 32)

static int index_of(const Value *value, const char (*names)[24], int count) {
    if (value->form != TEXT || value->word.length > 24) reject();
    char text[24] = {0};
    for (uint32_t i = 0; i < value->word.length; i++) text[i] = value->word.at[i];
    for (int i = 0; i < count; i++)
        if (load64(text) == load64(names[i]) && load64(text + 8) == load64(names[i] + 8) && load64(text + 16) == load64(names[i] + 16)) return i;
    reject();
}

static inline uint8_t read_kind(const Value *value) {
    if (value->form != TEXT) reject();
    const Word *word = &value->word;
    uint64_t head = head_of(word);
    switch (word->length) {
    case 4:
        if (head == CHARS('b', 'e', 'l', 't')) return BELT;
        if (head == CHARS('s', 'i', 'n', 'k')) return SINK;
        break;
    case 6:
        if (head == CHARS8('s', 'o', 'u', 'r', 'c', 'e', 0, 0)) return SOURCE;
        break;
    case 7:
        if (head == CHARS8('f', 'u', 'r', 'n', 'a', 'c', 'e', 0)) return FURNACE;
        break;
    case 8:
        if (head == CHARS8('i', 'n', 's', 'e', 'r', 't', 'e', 'r')) return INSERTER;
        if (head == CHARS8('s', 'p', 'l', 'i', 't', 't', 'e', 'r')) return SPLITTER;
        break;
    case 9:
        if (head == CHARS8('a', 's', 's', 'e', 'm', 'b', 'l', 'e') && word->at[8] == 'r') return ASSEMBLER;
        break;
    case 13:
        if (head == CHARS8('l', 'a', 'n', 'e', '-', 's', 'p', 'l')
            && load64(word->at + 5) == CHARS8('s', 'p', 'l', 'i', 't', 't', 'e', 'r')) return LANE_SPLITTER;
        break;
    }
    reject();
}

static inline uint8_t read_dir(const Value *value) {
    if (value->form != TEXT || value->word.length != 1) reject();
    switch (*value->word.at) {
    case 'N': return NORTH;
    case 'E': return EAST;
    case 'S': return SOUTH;
    case 'W': return WEST;
    }
    reject();
}

static inline uint8_t read_tier(const Value *value) {
    if (value->form != TEXT) reject();
    uint64_t head = head_of(&value->word);
    if (head == CHARS('s', 'l', 'o', 'w')) return 1;
    if (head == CHARS('f', 'a', 's', 't')) return 2;
    if (head == CHARS8('e', 'x', 'p', 'r', 'e', 's', 's', 0)) return 3;
    reject();
}

static uint8_t read_lanes(const Value *value) {
    static const char names[3][24] = {"left", "right", "both"};
    return (uint8_t)(1 + index_of(value, names, 3));
}

/* ---- entities ----------------------------------------------------------------------------------------------- */

enum { F_X, F_Y, F_TYPE, F_DIR, F_TIER, F_RECIPE, F_ITEM, F_LANE, F_PERIOD, F_NONE };

static inline int field_of(const Word *key) {
    switch (key->length) {
    case 1: return *key->at == 'x' ? F_X : *key->at == 'y' ? F_Y : F_NONE;
    case 3: return (load32(key->at) & 0xffffff) == CHARS('d', 'i', 'r', 0) ? F_DIR : F_NONE;
    case 4:
        switch (load32(key->at)) {
        case CHARS('t', 'y', 'p', 'e'): return F_TYPE;
        case CHARS('t', 'i', 'e', 'r'): return F_TIER;
        case CHARS('i', 't', 'e', 'm'): return F_ITEM;
        case CHARS('l', 'a', 'n', 'e'): return F_LANE;
        }
        return F_NONE;
    case 6: {
        uint64_t head = head_of(key);
        return head == CHARS8('r', 'e', 'c', 'i', 'p', 'e', 0, 0)   ? F_RECIPE
               : head == CHARS8('p', 'e', 'r', 'i', 'o', 'd', 0, 0) ? F_PERIOD
                                                                    : F_NONE;
    }
    }
    return F_NONE;
}

/* A key counts only for a type that has it: on any other it is unknown, whatever its value. */
static const char *read_entity(const char *p, Entity *entity) {
    static Value values[F_NONE];
    for (int i = 0; i < F_NONE; i++) values[i].form = ABSENT;
    p = skip(expect(p, '{'));
    if (*p == '}') reject();
    for (;; p++) {
        Word key;
        p = read_word(expect(p, '"'), &key);
        p = expect(p, ':');
        int field = field_of(&key);
        if (field == F_NONE) {
            p = skip_value(p, 0);
        } else {
            if (values[field].form != ABSENT) reject();
            p = read_value(p, &values[field]);
        }
        p = skip(p);
        if (*p == '}') break;
        if (*p != ',') reject();
    }
    entity->kind = read_kind(&values[F_TYPE]);
    entity->x = (int32_t)whole(&values[F_X], INT32_MAX - 1);
    entity->y = (int32_t)whole(&values[F_Y], INT32_MAX - 1);
    if (is_crafter(entity->kind)) {
        entity->detail = (uint8_t)index_of(&values[F_RECIPE], recipe_names, RECIPES);
        if (recipes[entity->detail].runs_on != entity->kind) reject();
        return p + 1;
    }
    entity->dir = read_dir(&values[F_DIR]);
    if (entity->kind == BELT) entity->detail = read_tier(&values[F_TIER]);
    if (entity->kind == SOURCE) {
        entity->item = (uint8_t)index_of(&values[F_ITEM], item_names, ITEMS);
        entity->detail = read_lanes(&values[F_LANE]);
        entity->period = (uint32_t)whole(&values[F_PERIOD], UINT32_MAX);
        if (entity->period == 0) reject();
    }
    return p + 1;
}

/* Lists are read where they are found, in one pass; what they have to agree with may stand behind them. Their length
 * is not known before, so room is reserved for as many as the rest of the text could hold. */
static const char *read_entities(const char *p, const char *end, Scenario *scenario) {
    enum { SHORTEST = 28 }; /* bytes of text that no entity comes below */
    p = skip(expect(p, '['));
    scenario->entities = reserve((size_t)(end - p) / SHORTEST * sizeof(Entity) + sizeof(Entity));
    if (*p == ']') return p + 1;
    for (;; p++) {
        p = skip(read_entity(p, &scenario->entities[scenario->count++]));
        if (*p == ']') return p + 1;
        if (*p != ',') reject();
    }
}

static const char *read_snapshots(const char *p, const char *end, Scenario *scenario) {
    p = expect(p, '[');
    scenario->snapshots = reserve((size_t)(end - p) / 2 * sizeof(uint64_t) + sizeof(uint64_t));
    uint64_t previous = 0;
    for (;; p++) {
        Value value;
        p = read_value(p, &value);
        uint64_t tick = whole(&value, UINT64_MAX);
        if (tick <= previous) reject();
        scenario->snapshots[scenario->snapshot_count++] = previous = tick;
        p = skip(p);
        if (*p == ']') return p + 1;
        if (*p != ',') reject();
    }
}

/* ---- the whole ---------------------------------------------------------------------------------------------- */

enum { VERSION, GRID, TICKS, SNAPSHOTS, ENTITIES, TOP_KEYS };
enum { WIDTH, HEIGHT, GRID_KEYS };

static bool word_is(const Word *word, const char *name) {
    for (uint32_t i = 0; i < word->length; i++)
        if (word->at[i] != name[i] || name[i] == 0) return false;
    return name[word->length] == 0;
}

/* Reads one key of an object with exactly these keys, and the colon. */
static const char *read_key(const char *p, const char *const *names, int count, uint32_t *seen, int *field) {
    Word key;
    p = read_word(expect(p, '"'), &key);
    for (*field = 0; *field < count && !word_is(&key, names[*field]);) ++*field;
    if (*field == count || *seen >> *field & 1) reject();
    *seen |= 1u << *field;
    return expect(p, ':');
}

static const char *read_number(const char *p, uint64_t *number) {
    Value value;
    p = read_value(p, &value);
    *number = whole(&value, UINT64_MAX);
    return p;
}

static const char *read_grid(const char *p, uint64_t sizes[GRID_KEYS]) {
    static const char *const names[GRID_KEYS] = {"width", "height"};
    uint32_t seen = 0;
    int field;
    p = expect(p, '{');
    for (;; p++) {
        p = read_key(p, names, GRID_KEYS, &seen, &field);
        p = skip(read_number(p, &sizes[field]));
        if (*p == '}') break;
        if (*p != ',') reject();
    }
    if (seen != 3 || sizes[WIDTH] == 0 || sizes[HEIGHT] == 0) reject();
    return p + 1;
}

Scenario read_scenario(const char *text, size_t length) {
    static const char *const names[TOP_KEYS] = {"version", "grid", "ticks", "snapshots", "entities"};
    Scenario scenario = {0};
    const char *end = text + length, *p;
    uint64_t version = 0, ticks = 0, sizes[GRID_KEYS];
    uint32_t seen = 0;
    int field;
    ((char *)text)[length] = 0; /* alloc leaves room for it */
    p = expect(text, '{');
    for (;; p++) {
        p = read_key(p, names, TOP_KEYS, &seen, &field);
        switch (field) {
        case VERSION: p = read_number(p, &version); break;
        case GRID: p = read_grid(p, sizes); break;
        case TICKS: p = read_number(p, &ticks); break;
        case SNAPSHOTS: p = read_snapshots(p, end, &scenario); break;
        case ENTITIES: p = read_entities(p, end, &scenario); break;
        }
        p = skip(p);
        if (*p == '}') break;
        if (*p != ',') reject();
    }
    if (skip(p + 1) != end || seen != (1 << TOP_KEYS) - 1 || version != 1) reject();
    if (scenario.snapshots[scenario.snapshot_count - 1] > ticks) reject();
    for (int32_t e = 0; e < scenario.count; e++)
        if ((uint64_t)scenario.entities[e].x >= sizes[WIDTH] || (uint64_t)scenario.entities[e].y >= sizes[HEIGHT]) reject();
    return scenario;
}
