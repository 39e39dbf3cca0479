// Boot and tick. The kit boots a mission from the disk; a person who has no such disk gets a menu.
#include "game.h"

enum { BRIEFING_TICKS = 48, PAGE_TICKS = 60 };

extern u8 __heap_base;

static void centre_camera(void) {
    i32 x = S->x - VIEW_W / 2, y = S->y - VIEW_H / 2;
    S->camera_x = (i16)larger(0, smaller(x, S->map_w * TILE - VIEW_W));
    S->camera_y = (i16)larger(0, smaller(y, S->map_h * TILE - VIEW_H));
}

static void begin(u8 level, u8 difficulty, u8 cheats, u8 by_hand) {
    u32 stream = S->stream, ticks = S->ticks;
    __builtin_memset(S, 0, sizeof(State));
    S->level = level, S->difficulty = difficulty, S->cheats = cheats, S->by_hand = by_hand;
    S->stream = by_hand ? stream : 0x9e3779b9u ^ (u32)(level + 1) * 0x85ebca6bu ^ (u32)(difficulty + 1) * 0xc2b2ae35u;
    S->ticks = by_hand ? ticks : 0;
    S->health = 100;
    S->ammo = SHARP[difficulty].ammo;
    S->facing = EAST;
    S->mode = BRIEFING;
    load_level();
    update_player(0);
    update_mission(0);
    centre_camera();
    observe();
}

__attribute__((export_name("start"))) void start(void) {
    u8 disk[8] = {0};
    if ((u32)&__heap_base > (u32)FLOW) __builtin_trap();  // the program grew into its own maps
    SYSTEM_FLAGS = KEEP_FRAMEBUFFER;
    decode_art();
    i32 count = diskr(disk, sizeof disk);
    if (count >= 7 && disk[0] == 'E' && disk[1] == 'V' && disk[2] == 'K' && disk[3] == '1') {
        begin((u8)(disk[4] % LEVELS), (u8)(disk[5] % DIFFICULTIES), disk[6], 0);
        return;
    }
    S->mode = MENU;
    S->stream = 0x9e3779b9u;
}

static void play(u8 pad) {
    update_player(pad);
    update_guards();
    update_alarm();
    update_doors();
    if (S->mode == PLAYING) update_mission(pad);
    if (S->mode > PLAYING) S->over_ticks = 0;
}

__attribute__((export_name("update"))) void update(void) {
    u8 pad = GAMEPAD, pressed = (u8)(pad & ~S->last_pad);
    S->last_pad = pad;
    S->ticks++;
    chance();
    if (S->mode == MENU) {
        update_menu(pressed);
        if (S->mode == BRIEFING) begin(S->level, S->difficulty, 0, 1);
    } else if (S->mode == BRIEFING) {
        S->over_ticks++;
        if (S->by_hand ? S->over_ticks > 30 && pressed & (PAD_X | PAD_Z) : S->over_ticks >= BRIEFING_TICKS)
            S->mode = PLAYING;
        update_guards();
    } else if (S->mode == PLAYING) {
        play(pad);
    } else {
        S->over_ticks++;
        if (S->by_hand && S->over_ticks > PAGE_TICKS && pressed & (PAD_X | PAD_Z)) S->mode = MENU;
    }
    if (S->mode != MENU) {
        centre_camera();
        observe();
    }
    if (S->mode == PLAYING || S->mode > PLAYING) draw_world();
    draw_screen();
}
