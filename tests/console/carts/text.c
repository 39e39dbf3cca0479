// Ink and paper are one colour, so what is compared is which cells text covers, not whose glyphs fill them.
#include "cart.h"

__attribute__((export_name("update"))) void update(void) {
    stir();
    for (u32 n = 0; n < 4; n++) {
        HALF(0x14) = (uint16_t)((next() & 0xff00) | (next() % 16) * 0x11);
        for (u32 k = 0; k < 8; k++) BYTE(between(0x4000, 0x4fff)) = (uint8_t)(next() % 3 ? '\n' : next() % 2 ? 0 : next());
        i32 whole = between(0, 60);
        text(between(0x4000, 0x4800), coordinate(), coordinate());
        textUtf8(pointer() & 0xffbf, whole, coordinate(), coordinate());
        textUtf16(between(0x2000, 0x2400) * 2, whole, coordinate(), coordinate());
        text(65536, 0, 0);
        textUtf8(65536, 0, 0, 0);
        textUtf16(65536, 1, 0, 0);
    }
}
