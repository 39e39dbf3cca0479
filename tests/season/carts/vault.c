// A small game that knows nothing of this kit: walk a corridor, take what is asked for, leave by the door.
// Its disk says which level, how hard, and which cheats. A guard shoots at random; the stream steps every tick.
#include <stdint.h>

#define CONSOLE(name) __attribute__((import_module("env"), import_name(#name)))
CONSOLE(rect) void rect(int32_t x, int32_t y, int32_t width, int32_t height);
CONSOLE(diskr) int32_t diskr(void *to, int32_t bytes);

#define PAD (*(volatile uint8_t *)0x16)
#define COLOURS (*(volatile uint16_t *)0x14)

enum { INTRO, PLAYING, LEFT_BY_THE_DOOR, DEAD, ALARMED };
enum { INVINCIBLE = 1, ENDLESS_AMMO = 2 };

typedef struct {
    uint8_t mode, level, difficulty, cheats;
    int16_t x, health;
    uint8_t taken, wanted, ammo, intro;
    uint32_t ticks, stream;
    int16_t guard, hits;
} State;

static volatile State *const s = (volatile State *)0x8000;

static uint32_t next(void) {
    uint32_t v = s->stream;
    v ^= v << 13;
    v ^= v >> 17;
    v ^= v << 5;
    return s->stream = v;
}

__attribute__((export_name("start"))) void start(void) {
    uint8_t disk[8] = {0};
    diskr(disk, 8);
    s->level = disk[4];
    s->difficulty = disk[5];
    s->cheats = disk[6];
    s->x = 8;
    s->health = 60;
    s->ammo = 5;
    s->guard = 80;
    s->stream = 0x9e3779b9u + s->level;
    s->wanted = s->difficulty ? 7 : 3;
    s->taken = s->level == 1 ? 1 : 0;  // one is done before play begins: nobody earns it
    s->intro = 20;
}

static void play(void) {
    uint8_t pad = PAD;
    if (pad & 16 && s->x > 0) s->x--;
    if (pad & 32 && s->x < 159) s->x++;
    uint8_t zone = s->x / 40;
    if (pad & 64 && zone < 3) s->taken |= (uint8_t)(1 << zone);
    if (pad & 1 && s->ammo) {
        if (!(s->cheats & ENDLESS_AMMO)) s->ammo--;
        if (s->guard > s->x) s->guard += 40;
    }
    if (pad & 128 && s->x == 0) __builtin_trap();
    s->guard += (int16_t)(next() % 5) - 2;
    if (s->guard > 150) s->guard = 150;
    int32_t far = s->guard - s->x;
    if (far < 0) far = -far;
    if (far < 30 && next() % 24 == 0) {
        s->hits++;
        if (!(s->cheats & INVINCIBLE)) s->health -= 5 * (1 + s->difficulty);
    }
    if (s->health <= 0) s->mode = DEAD;
    if (pad & 2 && s->x > 150) s->mode = (s->taken & s->wanted) == s->wanted ? LEFT_BY_THE_DOOR : ALARMED;
}

__attribute__((export_name("update"))) void update(void) {
    s->ticks++;
    next();
    if (s->mode == INTRO && s->ticks >= s->intro) s->mode = PLAYING;
    else if (s->mode == PLAYING) play();
    COLOURS = 0x42;
    rect(s->x, 80, 8, 8);
}
