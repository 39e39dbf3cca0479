// State on the disk alone: what is drawn and read depends on bytes that the page no longer has.
#include "cart.h"

__attribute__((export_name("update"))) void update(void) {
    stir();
    u32 tick = BYTE(0x3000)++;
    if (tick % 16 == 0) {
        for (u32 n = 0; n < 1200; n++) BYTE(0x3100 + n) = (uint8_t)next();
        BYTE(0x3001) = (uint8_t)diskw(0x3100, between(0, 1200));
        for (u32 n = 0; n < 1200; n++) BYTE(0x3100 + n) = 0;
    }
    i32 read = diskr(0x3800, between(0, 1200));
    HALF(0x3004) = (uint16_t)read;
    HALF(0x14) = 2;
    hline(0, (i32)(tick % 160), BYTE(0x3800));
    for (u32 n = 0; n < 1200; n++) BYTE(0x3800 + n) = (uint8_t)(n ? 0 : BYTE(0x3800));
}
