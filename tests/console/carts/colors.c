// Every pair of draw colours with every blit flag, once each in 4,096 ticks, on a screen that is kept so that what is
// transparent shows.
#include "cart.h"

__attribute__((export_name("update"))) void update(void) {
    stir();
    u32 tick = HALF(0x3000)++;
    BYTE(0x1f) = 1;
    for (u32 n = 0; n < 16; n++) BYTE(between(0xa0, 0x199f)) = (uint8_t)next();
    i32 flags = (i32)(tick % 16);
    HALF(0x14) = (uint16_t)(tick / 16 % 256 * 0x0101);
    blit(between(0x4000, 0x4400), between(-4, 150), between(-4, 150), 16, 11, flags);
    blitSub(between(0x4000, 0x4400), between(-4, 150), between(-4, 150), 7, 9, 3, 2, 21, flags);
    rect(between(-4, 150), between(-4, 150), 9, 14);
    oval(between(-4, 150), between(-4, 150), 14, 9);
    hline(between(-4, 150), between(0, 159), 30);
    vline(between(0, 159), between(-4, 150), 30);
    line(between(-4, 164), between(-4, 164), between(-4, 164), between(-4, 164));
}
