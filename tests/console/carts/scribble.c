// Overwrites all that the console keeps in the page, and copies what it found there: nobody may put anything back.
#include "cart.h"

__attribute__((export_name("update"))) void update(void) {
    for (u32 at = 0; at < 0xa0; at++) BYTE(0x3000 + at) = BYTE(at);
    for (u32 at = 0x19a0; at < 0x1a00; at++) BYTE(0x3000 + at) = BYTE(at);
    stir();
    u32 keep = BYTE(0x1f);
    for (u32 at = next() % 4; at < 0x1a00; at += next() % 64 + 1) BYTE(at) = (uint8_t)next();
    BYTE(0x1f) = (uint8_t)keep;
    tone((i32)next(), (i32)next(), (i32)next(), (i32)next());
    hline(coordinate(), coordinate(), size());
}
