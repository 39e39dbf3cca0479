#include "cart.h"

static i32 extent(void) { return next() % 20 ? between(-30, 190) : between(-4000, 4000); }

__attribute__((export_name("update"))) void update(void) {
    stir();
    for (u32 n = 0; n < 8; n++) oval(coordinate(), coordinate(), extent(), extent());
}
