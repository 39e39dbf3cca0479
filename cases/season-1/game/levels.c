// The five levels: their maps, their palettes, and what is to be done in each. `least`: 0 agent, 1 secret, 2 00 agent.
#include "game.h"

static const char DAM[] = {
#embed "maps/dam.txt"
};
static const char FACILITY[] = {
#embed "maps/facility.txt"
};
static const char RUNWAY[] = {
#embed "maps/runway.txt"
};
static const char SURFACE[] = {
#embed "maps/surface-1.txt"
};
static const char BUNKER[] = {
#embed "maps/bunker-1.txt"
};

// mark, kind, least difficulty, ticks to hold the act button, the key it needs (1 is d), which gates it opens, words
static const Goal DAM_GOALS[] = {
    {'1', USE, 0, 210, 0, 1, "OPEN THE GATE"},
    {'2', PHOTOGRAPH, 0, 210, 0, 0, "PICTURE: SLUICE"},
    {'5', USE, 0, 210, 0, 2, "RAISE THE BARRIER"},
    {'3', TAKE, 1, 0, 0, 0, "TAKE THE CODES"},
    {'6', USE, 0, 210, 0, 3, "LOWER THE LAST BAR"},
    {'4', DESTROY, 2, 120, 0, 0, "BREAK THE RADIO"},
};
static const Goal FACILITY_GOALS[] = {
    {'6', TAKE, 0, 0, 0, 0, "TAKE THE FORMULA"},
    {'d', KEY, 0, 0, 0, 0, 0},
    {'1', MEET, 0, 120, 0, 0, "MEET THE CHEMIST"},
    {'e', KEY, 0, 0, 0, 0, 0},
    {'2', USE, 0, 240, 0, 1, "UNLOCK THE HALL"},
    {'3', DESTROY, 0, 150, 0, 0, "BURN TANK ONE"},
    {'4', DESTROY, 1, 150, 0, 0, "BURN TANK TWO"},
    {'5', DESTROY, 2, 150, 0, 0, "BURN TANK THREE"},
    {'f', KEY, 0, 0, 0, 0, 0},
};
static const Goal RUNWAY_GOALS[] = {
    {'1', TAKE, 0, 0, 0, 0, "TAKE THE PLANE KEY"},
    {'2', DESTROY, 0, 120, 0, 0, "SPIKE THE WEST GUN"},
    {'4', USE, 0, 240, 0, 0, "FUEL THE PLANE"},
    {'3', DESTROY, 1, 120, 0, 0, "SPIKE THE EAST GUN"},
    {'5', TAKE, 2, 0, 0, 0, "TAKE THE ORDERS"},
};
static const Goal SURFACE_GOALS[] = {
    {'d', KEY, 1, 0, 0, 0, 0},
    {'3', TAKE, 2, 0, 0, 0, "TAKE THE REPORT"},
    {'2', DESTROY, 1, 150, 1, 0, "CUT THE RADIO"},
    {'1', PHOTOGRAPH, 0, 120, 0, 0, "PICTURE: THE DISH"},
    {'4', USE, 0, 120, 0, 1, "UNLOCK THE HATCH"},
};
static const Goal BUNKER_GOALS[] = {
    {'d', KEY, 0, 0, 0, 0, 0},
    {'1', USE, 0, 180, 1, 0, "COPY THE KEY"},
    {'4', TAKE, 2, 0, 0, 0, "EMPTY THE SAFE"},
    {'2', PHOTOGRAPH, 0, 120, 0, 0, "PICTURE: SCREEN"},
    {'3', DESTROY, 1, 150, 0, 0, "BREAK THE COMPUTER"},
    {'e', KEY, 0, 0, 0, 0, 0},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define OF(map, goals) map, sizeof map, goals, COUNT(goals)

const Level LEVEL[LEVELS] = {
    {"DAM", "A LONG WAY OVER,", "ONE WAY DOWN", OF(DAM, DAM_GOALS), 0, {0xd9d3c0, 0x8fb0b5, 0x2b3a4a, 0xc8452f}},
    {"FACILITY", "MEET OUR FRIEND,", "BURN WHAT HE MADE", OF(FACILITY, FACILITY_GOALS), 1,
     {0xdfe6da, 0x9fbfa8, 0x27433f, 0xd97a1e}},
    {"RUNWAY", "NO COVER AT ALL:", "BE ON THE PLANE", OF(RUNWAY, RUNWAY_GOALS), 2,
     {0xc9c59a, 0x8f9660, 0x3a3d33, 0xd8472a}},
    {"SURFACE 1", "SNOW WITH EYES:", "FIND A WAY BELOW", OF(SURFACE, SURFACE_GOALS), 3,
     {0xf1f5f8, 0xa9c3d6, 0x2a3556, 0xd2452c}},
    {"BUNKER 1", "COPY THE KEY,", "LEAVE NO TRACE", OF(BUNKER, BUNKER_GOALS), 4,
     {0x9d9a86, 0x6b6a62, 0x17181d, 0xf2573a}},
};
