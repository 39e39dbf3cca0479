/* The texts that make up most of an answer. */
#include "answer.h"

#define EACH_ITEM(_) \
    _(0, "iron-ore") _(1, "iron-plate") _(2, "iron-gear") _(3, "copper-ore") _(4, "copper-plate") _(5, "copper-cable") \
    _(6, "circuit") _(7, "transport-belt") _(8, "fast-transport-belt") _(9, "express-transport-belt") \
    _(10, "assembler") _(11, "fast-assembler") _(12, "express-assembler") _(13, "inserter") _(14, "fast-inserter") \
    _(15, "express-inserter") _(16, "coal")

#define BELT_ITEM(pos, name) "{\"pos\":" #pos ",\"item\":\"" name "\"},"
#define TEXT(pos, index, name) [(pos) | (index)] = BELT_ITEM(pos, name),
#define LENGTH(pos, index, name) [(pos) | (index)] = sizeof BELT_ITEM(pos, name) - 1,

#define AT_0(index, name) USE(0, index, name)
#define AT_32(index, name) USE(32, index, name)
#define AT_64(index, name) USE(64, index, name)
#define AT_96(index, name) USE(96, index, name)
#define AT_128(index, name) USE(128, index, name)
#define AT_160(index, name) USE(160, index, name)
#define AT_192(index, name) USE(192, index, name)
#define AT_224(index, name) USE(224, index, name)
#define EACH_CODE \
    EACH_ITEM(AT_0) EACH_ITEM(AT_32) EACH_ITEM(AT_64) EACH_ITEM(AT_96) \
    EACH_ITEM(AT_128) EACH_ITEM(AT_160) EACH_ITEM(AT_192) EACH_ITEM(AT_224)

#define USE TEXT
const char belt_item_texts[256][ITEM_TEXT] = {EACH_CODE};
#undef USE
#define USE LENGTH
const uint8_t belt_item_lengths[256] = {EACH_CODE};

#define NAME(index, name) [index] = "\"" name "\":",
#define NAME_LENGTH(index, name) [index] = sizeof("\"" name "\":") - 1,
const char name_texts[ITEMS][NAME_TEXT] = {EACH_ITEM(NAME)};
const uint8_t name_lengths[ITEMS] = {EACH_ITEM(NAME_LENGTH)};
