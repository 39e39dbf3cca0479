/* Who acts in a tick, and what each remembers between the ticks in which it is visited. */
#ifndef LATTICE_ACTORS_H
#define LATTICE_ACTORS_H

#include "lane.h"

/* A place on a lane onto which an actor puts items, and how it waits for that place to be free. */
typedef struct {
    Lane *lane;
    int32_t at;
    Watch watch;
} Outlet;

/* A source that feeds one lane; one that feeds both is two of them. */
typedef struct {
    Outlet to;
    uint32_t period;
    int64_t next;    /* the tick of its next attempt; ASLEEP while what blocks it stands still */
    uint32_t wakes;  /* how often it was woken from that */
    uint32_t item;
} Source;

enum { ASLEEP = -1 };

typedef struct {
    /* Counts in one word: first input, second input, room for the product. So one subtraction answers whether a craft
     * can start: no byte may fall below what `start` has in it. */
    uint32_t counts, start, inputs;
    uint32_t full; /* the bits that are set when it takes nothing more */
    uint32_t first, second, made; /* items */
    uint32_t first_bias, second_bias; /* what makes a furnace's fuel come before everything else */
    uint32_t made_amount, ticks;
    int32_t done; /* the tick in which the craft ends; 0 if there is none */
    uint32_t actor, starts;
    uint64_t starved, glutted; /* arms that wait for a product, and for room for an input; by index into `arms` */
    uint32_t *arms, arm_count, arm_room;
    uint8_t part; /* AT_REST or LIVE, see parts.h */
} Crafter;

enum { LAST_ARM = 63 }; /* bit that stands for all arms from there on; only overlaps make so many */
enum { ROOM_SHIFT = 16, HIGH_BITS = 0x808080, REFUSED = 64 };

typedef struct {
    uint64_t consumed[ITEMS];
} Sink;

typedef struct {
    int32_t ready; /* the tick from which on it drops or grabs */
    uint32_t held;
    uint32_t route; /* from and to, see below */
    int32_t from_at; /* start of the tile it picks from */
    Lane *far, *near;
    Outlet onto;
    Watch far_watch, near_watch;
    Crafter *from, *to;
    uint64_t from_bit, to_bit;
    Sink *sink;
    uint32_t source_item;
} Arm;

enum { FROM_NOTHING, FROM_BELT, FROM_CRAFTER, FROM_SOURCE };
enum { TO_NOTHING, TO_BELT, TO_CRAFTER, TO_SINK };

/* Takes what arrives at the edge of a tile, which almost always is the end of its lane. If it is not (because something
 * was placed over the tile ahead) or if somebody else takes from there too, it is visited in every tick. */
typedef struct {
    Lane *lane;
    int32_t edge;
    bool always;
} Inlet;

/* A belt that ends at the side of another, or one lane of a lane splitter. */
typedef struct {
    Inlet from;
    Outlet to;
} Feeder;

/* One lane of a splitter; the other one has nothing to do with it. */
typedef struct {
    Inlet from[2];
    Outlet to[2];
    uint32_t preferred;
    bool plain; /* neither inlet is an odd one */
} Splitter;

typedef struct {
    Inlet from;
    Sink *sink;
} Drain;

#endif
