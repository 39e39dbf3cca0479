#include "cart.h"

__attribute__((export_name("update"))) void update(void) {
    stir();
    for (u32 n = 0; n < 4; n++) {
        i32 x = coordinate(), y = coordinate(), width = size(), height = size();
        blitSub(pointer(), x, y, width, height, size(), size(), size(), next() % 3 ? (i32)next() % 16 : (i32)next());
    }
}
