#include "cart.h"

__attribute__((export_name("update"))) void update(void) {
    stir();
    for (u32 n = 0; n < 8; n++) rect(coordinate(), coordinate(), size(), size());
}
