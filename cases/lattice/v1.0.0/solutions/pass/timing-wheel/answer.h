/* State text and checksum out. The writers are inlined into one function, so that the place in the text and the hash
 * stay in locals; texts come whole from tables and are copied by vectors that may write a little too far. */
#ifndef LATTICE_ANSWER_H
#define LATTICE_ANSWER_H

#include <wasm_simd128.h>

#include "lattice.h"

typedef struct {
    char *out;
    uint64_t hash;
} Answer;

enum { ENTITY_TEXT = 1024 }; /* more than the text of any one entity */
enum { ITEM_TEXT = 48, NAME_TEXT = 32 };

extern const char belt_item_texts[256][ITEM_TEXT]; /* by code: the object and a comma */
extern const uint8_t belt_item_lengths[256];
extern const char name_texts[ITEMS][NAME_TEXT]; /* "name": with the quotes and the colon */
extern const uint8_t name_lengths[ITEMS];

/* ---- FNV-1a over the canonical bytes, without building them ---------------------------------------------------- */

/* A zero byte only multiplies, so the zero bytes of a small number cost one multiplication by a power of the prime. */
#define PRIME 0x100000001b3ull
#define PRIME_2 (PRIME * PRIME)
#define PRIME_4 (PRIME_2 * PRIME_2)
#define PRIME_8 (PRIME_4 * PRIME_4)

/* Open to -D, as are STAGES and SKIPPING: measure.py of the case takes a part of the work away to see what it cost. */
#ifndef HASHING
#define HASHING 1
#endif

static inline void hash_step(Answer *a, uint64_t byte, uint64_t power) {
    if (HASHING) a->hash = (a->hash ^ byte) * power;
}

static inline void hash_bytes(Answer *a, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++, value >>= 8) hash_step(a, value & 0xff, PRIME);
}

/* Of values below 256, in the given number of bytes. */
static inline void hash_1(Answer *a, uint64_t value) { hash_step(a, value, PRIME); }
static inline void hash_2(Answer *a, uint64_t value) { hash_step(a, value, PRIME_2); }
static inline void hash_4(Answer *a, uint64_t value) { hash_step(a, value, PRIME_4); }

/* ---- text --------------------------------------------------------------------------------------------------- */

#define PUT(a, literal) (__builtin_memcpy((a)->out, literal, sizeof(literal) - 1), (a)->out += sizeof(literal) - 1)

static inline void copy_16(char *to, const char *from) { wasm_v128_store(to, wasm_v128_load(from)); }

static inline void put_name(Answer *a, uint32_t item) {
    copy_16(a->out, name_texts[item]);
    copy_16(a->out + 16, name_texts[item] + 16);
    a->out += name_lengths[item];
}

static inline void put_small(Answer *a, uint32_t value) { /* below 100 */
    if (value >= 10) {
        *a->out++ = (char)('0' + value / 10);
        value %= 10;
    }
    *a->out++ = (char)('0' + value);
}

static inline char *put_number(char *out, uint64_t value) {
    char digits[20];
    int count = 0;
    do digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count) *out++ = digits[--count];
    return out;
}

/* ---- entities: each leaves a comma behind it ------------------------------------------------------------------- */

static inline void put_cell(Answer *a, const Cell *cell) {
    uint32_t count = cell->count;
    hash_4(a, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t code = cell->codes[i];
        const char *text = belt_item_texts[code];
        copy_16(a->out, text);
        copy_16(a->out + 16, text + 16);
        copy_16(a->out + 32, text + 32);
        a->out += belt_item_lengths[code];
        hash_4(a, code & 0xe0); /* the position, for a unit is 32 */
        hash_2(a, code & 0x1f);
    }
    if (count) a->out--;
}

static inline void put_belt(Answer *a, const Cell *left, const Cell *right) {
    hash_1(a, BELT);
    PUT(a, "{\"belt\":{\"left\":[");
    put_cell(a, left);
    PUT(a, "],\"right\":[");
    put_cell(a, right);
    PUT(a, "]}},");
}

static inline void put_splitter(Answer *a, uint32_t out_pref, uint32_t in_first) {
    hash_1(a, SPLITTER);
    hash_2(a, out_pref);
    hash_1(a, in_first);
    PUT(a, "{\"splitter\":{\"out_pref\":0,\"in_first\":0}},");
    a->out[-17] += (char)out_pref;
    a->out[-4] += (char)in_first;
}

static inline void put_swing(Answer *a, uint32_t held, uint32_t left) { /* left: 1 to 8 */
    hash_1(a, INSERTER);
    hash_1(a, 1);
    hash_1(a, 1);
    hash_2(a, held);
    hash_2(a, left);
    PUT(a, "{\"inserter\":{\"phase\":\"swing\",\"held\":");
    put_name(a, held);
    a->out--;
    PUT(a, ",\"swing_left\":0}},");
    a->out[-4] += (char)left;
}

static inline void put_unloaded(Answer *a, uint32_t left) { /* 0 to 8; idle at 0 */
    hash_1(a, INSERTER);
    hash_1(a, left ? 2 : 0);
    hash_1(a, 0);
    hash_2(a, left);
    if (left) PUT(a, "{\"inserter\":{\"phase\":\"return\",\"swing_left\":0}},");
    else PUT(a, "{\"inserter\":{\"phase\":\"idle\",\"swing_left\":0}},");
    a->out[-4] += (char)left;
}

/* Count maps leave out zero counts; their keys are sorted by index in the hash, and here in the text too. */
static inline void put_count(Answer *a, uint32_t item, uint32_t count) { /* 1 to 8, with a comma */
    hash_2(a, item);
    hash_2(a, count);
    put_name(a, item);
    *a->out++ = (char)('0' + count);
    *a->out++ = ',';
}

static inline void put_crafter(Answer *a, uint32_t kind, const Recipe *recipe, uint32_t first, uint32_t second,
                               uint32_t made, uint32_t craft_left) {
    hash_1(a, kind);
    if (kind == FURNACE) PUT(a, "{\"furnace\":{\"inputs\":{");
    else PUT(a, "{\"assembler\":{\"inputs\":{");
    hash_1(a, (first != 0) + (second != 0));
    if (first) put_count(a, recipe->input[0], first);
    if (second) put_count(a, recipe->input[1], second);
    a->out -= first || second;
    PUT(a, "},\"output\":{");
    hash_1(a, made != 0);
    if (made) {
        put_count(a, recipe->output, made);
        a->out--;
    }
    PUT(a, "},\"craft_left\":");
    hash_2(a, craft_left);
    put_small(a, craft_left);
    PUT(a, "}},");
}

static inline void put_source(Answer *a, uint32_t emit_phase) {
    hash_1(a, SOURCE);
    hash_bytes(a, emit_phase, 4);
    PUT(a, "{\"source\":{\"emit_phase\":");
    a->out = put_number(a->out, emit_phase);
    PUT(a, "}},");
}

static inline void put_sink(Answer *a, const uint64_t consumed[ITEMS]) {
    hash_1(a, SINK);
    uint32_t entries = 0;
    for (int i = 0; i < ITEMS; i++) entries += consumed[i] != 0;
    hash_1(a, entries);
    PUT(a, "{\"sink\":{\"consumed\":{");
    for (uint32_t i = 0; i < ITEMS; i++) {
        if (consumed[i] == 0) continue;
        hash_2(a, i);
        hash_bytes(a, consumed[i], 8);
        put_name(a, i);
        a->out = put_number(a->out, consumed[i]);
        *a->out++ = ',';
    }
    a->out -= entries != 0;
    PUT(a, "}}},");
}

static inline void put_lane_splitter(Answer *a) {
    hash_1(a, LANE_SPLITTER);
    PUT(a, "{\"lanesplitter\":{}},");
}

/* ---- snapshots ---------------------------------------------------------------------------------------------- */

/* Opens a snapshot and returns where its checksum goes. */
static inline char *open_snapshot(Answer *a, uint64_t tick, uint32_t entity_count) {
    PUT(a, "{\"tick\":");
    a->out = put_number(a->out, tick);
    PUT(a, ",\"checksum\":\"fnv1a64:");
    char *checksum = a->out;
    PUT(a, "0000000000000000\",\"entities\":[");
    a->hash = 0xcbf29ce484222325ull;
    hash_bytes(a, tick, 8);
    hash_bytes(a, entity_count, 4);
    return checksum;
}

static inline void close_snapshot(Answer *a, char *checksum) {
    for (int i = 0; i < 16; i++) checksum[i] = "0123456789abcdef"[a->hash >> (60 - 4 * i) & 15];
    if (a->out[-1] == ',') a->out--;
    PUT(a, "]},");
}

#endif
