/* Small products of one floating type, included by small_simd.c with T and NAME. Up to 4 or 8 columns of out are
 * side by side in vectors, y lies in registers or on the stack in the same form, and four rows are computed at a
 * time. The number of columns (and k, up to 4) is a constant after inlining, so that loads and stores of partial rows
 * are a few moves. More than 8 columns are done 8 at a time. No include guard: that is the point. */
#define LANES half
#define COUNT 4
#include "lib/kernels/blas/small_lanes.h"
#define LANES full
#define COUNT 8
#include "lib/kernels/blas/small_lanes.h"

/* Columns [first, first + n) of every product, n <= 4. */
ALWAYS_INLINE void FN(columns_to_4)(const lam__product *p, int n, int64_t first) {
    switch (p->k) {
    case 1: FN2(products, half)(p, 1, n, first); return;
    case 2: FN2(products, half)(p, 2, n, first); return;
    case 3: FN2(products, half)(p, 3, n, first); return;
    case 4: FN2(products, half)(p, 4, n, first); return;
    default: FN2(products, half)(p, p->k, n, first); return;
    }
}

static void FN(columns)(const lam__product *p, int64_t n, int64_t first) {
    switch (n) {
    case 1: FN(columns_to_4)(p, 1, first); return; /* the last of 9 */
    case 2: FN(columns_to_4)(p, 2, first); return;
    case 3: FN(columns_to_4)(p, 3, first); return;
    case 4: FN(columns_to_4)(p, 4, first); return;
    case 5: FN2(products, full)(p, p->k, 5, first); return;
    case 6: FN2(products, full)(p, p->k, 6, first); return;
    case 7: FN2(products, full)(p, p->k, 7, first); return;
    default: FN2(products, full)(p, p->k, 8, first); return;
    }
}

static void FN(small)(const lam__product *p) {
    if (p->n == 1) {
        FN(plain)(p);
        return;
    }
    for (int64_t first = 0; first < p->n; first += 8) FN(columns)(p, p->n - first < 8 ? p->n - first : 8, first);
}

#undef T
#undef NAME
