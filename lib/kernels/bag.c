/* Bags of rows: choice of the loops for this machine, and x brought to the lines of the cache. */
#include "lib/kernels/bag.h"
#include "lib/kernels/item.h"
#include "lib/kernels/simd/simd.h"

#include <string.h>

enum {
    LINE = 64,
    HELD = 1 << 18, /* bytes of a copy that stays in the second cache */
    OFTEN = 8       /* how often each row is read at least */
};

/* The instruction set is that of the elementwise loops: what chooses those, the processor or a test, chooses these. */
static const lam__bag_set *loops(void) {
#if defined(LAM__HAVE_X86_64_LEVELS)
    const lam__simd *simd = lam__elementwise_simd();
    if (simd == &lam__simd_v4) return &lam__bag_simd_v4;
    if (simd == &lam__simd_v3) return &lam__bag_simd_v3;
#endif
    return &lam__bag_simd_v1;
}

bool lam__kernels_bag(lam__bag_op op, lam_dtype dtype, const lam__bag *bag) {
    return (dtype == LAM_F64 ? loops()->f64 : loops()->f32)[op](bag);
}

/* Elements from one row to the next where every row begins with a line of the cache. */
static int64_t aligned_row(lam_dtype dtype, const lam__bag *bag) {
    const int64_t items = LINE / lam__item_bytes(dtype);
    return (bag->width + items - 1) / items * items;
}

/* A row that begins in the middle of a line costs one line more each time it is read, which a copy pays back where rows
 * are read often and the copy stays near. 0 where it would not: rows lie well already, fill less than a line, are too
 * many to stay in the cache, or are hardly read more often than copied. */
size_t lam__kernels_bag_room(lam_dtype dtype, const lam__bag *bag) {
    const int64_t item = lam__item_bytes(dtype), row = aligned_row(dtype, bag);
    const bool there = bag->x_row % (LINE / item) == 0 && (uintptr_t)bag->x % LINE == 0;
    if (there || bag->width * item < LINE || bag->rows > HELD / (row * item)) return 0;
    return bag->bags * bag->terms >= OFTEN * bag->rows ? (size_t)(bag->rows * row * item) : 0;
}

/* The bag then reads the copy. Sums read whole vectors, the last of which may reach into what lies behind a row:
 * there are zeros, so that it reads nothing undefined. */
void lam__kernels_bag_align(lam_dtype dtype, lam__bag *bag, void *room) {
    const int64_t item = lam__item_bytes(dtype), row = aligned_row(dtype, bag);
    const size_t bytes = (size_t)(bag->width * item), rest = (size_t)(row * item) - bytes;
    for (int64_t i = 0; i < bag->rows; i++) {
        char *to = (char *)room + i * row * item;
        memcpy(to, (const char *)bag->x + i * bag->x_row * item, bytes);
        memset(to + bytes, 0, rest);
    }
    bag->x = room;
    bag->x_row = row;
    bag->padded = true;
}
