// The five levels: their maps, their palettes, and what is to be done in each. `least`: 0 agent, 1 secret, 2 00 agent.
#include "game.h"

static const char DAM[] = {
#embed "maps/dam.txt"
};

// mark, kind, least difficulty, ticks to hold the act button, the key it needs, which gates it opens, words
static const Goal DAM_GOALS[] = {
    {'1', USE, 0, 90, 0, 1, "OPEN THE GATE"},
    {'2', PHOTOGRAPH, 0, 90, 0, 0, "PICTURE: SLUICE"},
    {'5', USE, 0, 90, 0, 2, "RAISE THE BARRIER"},
    {'3', TAKE, 1, 0, 0, 0, "TAKE THE CODES"},
    {'4', DESTROY, 2, 90, 0, 0, "BREAK THE RADIO"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define LEVEL_OF(array) array, sizeof array

const Level LEVEL[LEVELS] = {
    {"DAM", "A LONG WAY OVER", "AND ONE WAY DOWN", LEVEL_OF(DAM), DAM_GOALS, COUNT(DAM_GOALS), 0,
     {0xd9d3c0, 0x8fb0b5, 0x2b3a4a, 0xc8452f}},
    {"FACILITY", "MEET OUR FRIEND", "BURN WHAT HE MADE", LEVEL_OF(DAM), DAM_GOALS, COUNT(DAM_GOALS), 1,
     {0xdfe6da, 0x9fbfa8, 0x27433f, 0xd97a1e}},
    {"RUNWAY", "THE PLANE IS FUELLED", "BE ON IT", LEVEL_OF(DAM), DAM_GOALS, COUNT(DAM_GOALS), 2,
     {0xc9c59a, 0x8f9660, 0x3a3d33, 0xd8572a}},
    {"SURFACE 1", "SNOW, AND EYES IN IT", "FIND THE WAY BELOW", LEVEL_OF(DAM), DAM_GOALS, COUNT(DAM_GOALS), 3,
     {0xf1f5f8, 0xa9c3d6, 0x2a3556, 0xd2452c}},
    {"BUNKER 1", "COPY THE KEY", "LEAVE NO TRACE", LEVEL_OF(DAM), DAM_GOALS, COUNT(DAM_GOALS), 4,
     {0x2a2733, 0x57506b, 0xd9cfae, 0xe0563f}},
};
