/* One instruction set's loops on complex numbers, compiled once per set. A complex number is two neighbouring reals.
 * Sums and products are the textbook formulas, as in other array libraries; division neither overflows nor
 * underflows where the quotient does not. Elementary functions have loops of their own (loops_plane.c). */
#include "lib/kernels/simd/simd.h"

#include <string.h>

#include "lib/kernels/item.h"
#include "lib/kernels/special/complex.h"

#include "lib/kernels/simd/vector.h"

#define LOOP_ARGS int64_t n, void *const p[], const int64_t step[], __attribute__((unused)) const void *params

typedef lam_c128 c128;
typedef lam__c64 c64;

/* ---- division --------------------------------------------------------------------------------------------------- */

/* Of the square of a size: products with such numbers stay in range. */
ALWAYS_INLINE bool is_square_moderate(double square) {
    return (square > 0x1p-959) & (square < 0x1p959);
}

/* Whether the formula does it, as lam__complex_div says, seen without branches. */
ALWAYS_INLINE bool is_plain(c128 x, c128 y) {
    const bool none = (x.re == 0) & (x.im == 0), both = (y.re != 0) & (y.im != 0);
    const bool moderate = is_square_moderate(x.re * x.re + x.im * x.im);
    return (moderate | none) & both & is_square_moderate(y.re * y.re + y.im * y.im);
}

/* ---- loops ------------------------------------------------------------------------------------------------------ */

/* f32 is divided in doubles and rounded once; of f64 the same text has nothing to do. */
/* clang-format off */
ALWAYS_INLINE c128 c128_widen(c128 x) { return x; }
ALWAYS_INLINE c128 c128_narrow(c128 x) { return x; }
ALWAYS_INLINE c128 c64_widen(c64 x) { return (c128){(double)x.re, (double)x.im}; }
ALWAYS_INLINE c64 c64_narrow(c128 x) { return (c64){(float)x.re, (float)x.im}; }
/* clang-format on */

#define P       double
#define T       c128
#define NAME(x) c128_##x
#include "lib/kernels/simd/loops_complex.h"
#undef P
#undef T
#undef NAME

#define P       float
#define T       c64
#define NAME(x) c64_##x
#include "lib/kernels/simd/loops_complex.h"
#undef P
#undef T
#undef NAME

/* Operations that are missing have no meaning, or are elementary functions. */
#define ROW(name) [LAM__LOOP_##name] = {c128_loop_##name, c64_loop_##name}

static lam__loop *const loops[LAM__LOOP_COUNT][2] = {
    ROW(neg), ROW(conj),   ROW(square),    ROW(add),        ROW(sub),         ROW(mul),   ROW(div),     ROW(eq),
    ROW(ne),  ROW(is_nan), ROW(is_finite), ROW(reciprocal), ROW(integer_pow), ROW(where), ROW(mul_div),
};

/* NULL for operations that have no meaning for complex numbers, such as comparisons of size. */
lam__loop *LAM__ISA_NAME(lam__complex_find_)(lam__loop_id id, lam_dtype dtype) {
    lam__loop *elementary = LAM__ISA_NAME(lam__plane_find_)(id, dtype);
    return elementary ? elementary : loops[id][dtype == LAM_C64];
}
