/* Balanced matrices, and solves with them: see balance.h. Nothing here allocates. The templates work on parts, so that
 * complex matrices take the loops of real ones: a power of 2 scales both parts alike, and sizes are wanted to a factor
 * of 2 only, for which the larger part serves. */
#include "lib/kernels/blas/balance.h"
#include "lib/kernels/cplx.h"
#include "lib/kernels/item.h"

#include <math.h>

enum { NONE = -100000 }; /* the exponent of 0 */

/* Exponents of 2: sizes of pivots beyond which products may leave the range, how far apart they may be, and the size of
 * right-hand sides. f32 has an exponent of 127 and 23 digits, f64 of 1023 and 52: two pivots of the size `far` can be
 * multiplied, `apart` is more than rounding takes from a pivot, and `top` leaves room for the sums of a
 * substitution. */
typedef struct limits {
    int far, apart, top;
} limits;

#define PASTE(a, b)  a##_##b
#define EXPAND(a, b) PASTE(a, b)
#define FN(name)     EXPAND(name, NAME)

#define T      double
#define NAME   f64
#define SIZE   fabs
#define LIMITS ((limits){.far = 400, .apart = 60, .top = 900})
#include "lib/kernels/blas/balance_type.h"

#define T      float
#define NAME   f32
#define SIZE   fabsf
#define LIMITS ((limits){.far = 50, .apart = 30, .top = 80})
#include "lib/kernels/blas/balance_type.h"

static bool is_wide(lam_dtype dtype) {
    return dtype == LAM_F64 || dtype == LAM_C128;
}

/* A complex element is two parts, which the templates see as two reals. */
static int parts_of(lam_dtype dtype) {
    return lam__cplx_is(dtype) ? 2 : 1;
}

/* Rounded up, so that the ints behind a matrix of three floats are aligned. */
static size_t matrix_bytes(lam_dtype dtype, int64_t n) {
    return ((size_t)(n * n * lam__item_bytes(dtype)) + 7) & ~(size_t)7;
}

/* The matrix, then three lists of n ints, in the order in which the next function finds them. Never 0: a matrix without
 * elements has a room as well. */
size_t lam__balance_bytes(lam_dtype dtype, int64_t n) {
    return (matrix_bytes(dtype, n) + 3 * (size_t)n * sizeof(int32_t) + 8) & ~(size_t)7;
}

lam__balanced lam__balance_parts(lam_dtype dtype, int64_t n, void *room) {
    int32_t *ints = (int32_t *)(void *)((char *)room + matrix_bytes(dtype, n));
    return (lam__balanced){room, ints, ints + n, ints + 2 * n};
}

/* Pivots near the ends of the range, or further apart than the rounding of a singular matrix would leave them. */
bool lam__kernels_solve_is_extreme(lam_dtype dtype, int64_t n, const void *factors) {
    return is_wide(dtype) ? is_wanted_f64(parts_of(dtype), n, factors) : is_wanted_f32(parts_of(dtype), n, factors);
}

bool lam__balance_scale(lam_dtype dtype, int64_t n, const void *x, const lam__balanced *to) {
    return is_wide(dtype) ? scale_f64(parts_of(dtype), n, x, to->x, to->rows, to->columns)
                          : scale_f32(parts_of(dtype), n, x, to->x, to->rows, to->columns);
}

/* The room of the matrix, then a shift for each right-hand side. */
size_t lam__kernels_solve_extreme_bytes(lam_dtype dtype, int64_t n, int64_t m) {
    return lam__balance_bytes(dtype, n) + (((size_t)m * sizeof(int32_t) + 7) & ~(size_t)7);
}

/* With w = r x c and p w = l u: x^-1 b = c u^-1 l^-1 p r b, and x^-T b = r p^T l^-T u^-T c b. */
static void substitute(lam_dtype dtype, bool transpose, int64_t n, int64_t m, const lam__balanced *w, void *b) {
    const lam__triangular lower = {.transpose = transpose, .unit_diagonal = true},
                          upper = {.transpose = transpose, .upper = true};
    const int parts = parts_of(dtype);
    if (!transpose && is_wide(dtype)) exchange_f64(parts, n, m, w->pivots, false, b);
    else if (!transpose) exchange_f32(parts, n, m, w->pivots, false, b);
    lam__kernels_triangular_solve(dtype, transpose ? &upper : &lower, 1, n, m, w->x, b);
    lam__kernels_triangular_solve(dtype, transpose ? &lower : &upper, 1, n, m, w->x, b);
    if (transpose && is_wide(dtype)) exchange_f64(parts, n, m, w->pivots, true, b);
    else if (transpose) exchange_f32(parts, n, m, w->pivots, true, b);
}

/* One matrix, since this is rare. b is touched only when the answer is certain to come: until then false may be
 * returned, and the caller keeps what the ordinary solve made of it. */
bool lam__kernels_solve_extreme(lam_dtype dtype, bool transpose, int64_t n, int64_t m, const void *x, void *b,
                                void *room, bool *singular) {
    const int parts = parts_of(dtype);
    const lam__balanced w = lam__balance_parts(dtype, n, room);
    int32_t *shifts = (int32_t *)(void *)((char *)room + lam__balance_bytes(dtype, n));
    const int32_t *in = transpose ? w.columns : w.rows, *out = transpose ? w.rows : w.columns;
    *singular = false;
    if (!lam__balance_scale(dtype, n, x, &w)) return false;
    lam__kernels_lu(dtype, 1, n, n, w.x, w.pivots, NULL);
    *singular = is_wide(dtype) ? is_singular_f64(parts, n, w.x) : is_singular_f32(parts, n, w.x);
    if (*singular) return false;
    if (is_wide(dtype)) shift_in_f64(parts, n, m, in, shifts, b);
    else shift_in_f32(parts, n, m, in, shifts, b);
    substitute(dtype, transpose, n, m, &w, b);
    if (is_wide(dtype)) shift_out_f64(parts, n, m, out, shifts, b);
    else shift_out_f32(parts, n, m, out, shifts, b);
    return true;
}
