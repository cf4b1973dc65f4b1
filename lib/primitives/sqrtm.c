/* The principal square root and logarithm of matrices, and their derivatives at x along e, which are the corners of
 * the function of [[x, e], [0, x]]: of the root r the solution l of r l + l r = e. Rules of two rows for each function
 * as in expm.c, right to all orders. */
#include "lib/primitives/apply.h"
#include "lib/primitives/corner.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/blas/root.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* A function of matrices: its kernel, and what that takes in units of products of matrices. Both kernels take one
 * matrix at a time. */
typedef struct function {
    bool (*of)(int64_t n, int64_t own, const double *a, double *x, void *room);
    size_t (*bytes)(int64_t n);
    double products;
    const char *none; /* what is said of matrices that have none */
} function;

/* About ten steps of an inversion and a product each; some ten roots and seven solutions. */
static const function square_root = {lam__kernels_sqrtm, lam__kernels_sqrtm_bytes, 10,
                                     "it has no principal square root, or rounding decides which"};
static const function logarithm = {lam__kernels_logm, lam__kernels_logm_bytes, 100,
                                   "it has no principal logarithm, or rounding decides which"};

/* What the workers share; e: the change, for the derivative, or NULL. */
typedef struct stack {
    const function *f;
    const lam_value *x, *e, *out;
    int64_t n;
} stack;

/* Matrices of either dtype are computed in f64. So those of f32 keep their digits. */
static double element(const lam_value *x, int64_t at) {
    return x->dtype == LAM_F64 ? ((const double *)x->data)[at] : (double)((const float *)x->data)[at];
}

/* Rounded once, to the dtype of the result. */
static void put(const lam_value *out, int64_t at, double x) {
    if (out->dtype == LAM_F64) ((double *)out->data)[at] = x;
    else ((float *)out->data)[at] = (float)x;
}

/* sqrt of the sum of squares of the matrix that begins at `at`. By hypot, since a square may leave the range where the
 * size does not. */
static double size_of(const lam_value *x, int64_t at, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum = hypot(sum, element(x, at + i));
    return sum;
}

/* Doubles: the operand and the result, of n rows, or of 2 n rows for the derivative. Then what the kernel works in. */
static size_t room_bytes(const function *f, int64_t rows) {
    return 2 * (size_t)(rows * rows) * sizeof(double) + f->bytes(rows);
}

/* One matrix. The derivative is linear in e, which is brought to the size of x, since both stand in one matrix. After
 * that it is brought back by the same factor. */
static bool value_of(const stack *s, int64_t number, double *a) {
    const int64_t n = s->n, rows = s->e ? 2 * n : n, at = number * n * n;
    double *value = a + rows * rows, large = s->e ? size_of(s->e, at, n * n) : 0;
    /* Sizes that are 0 or not finite leave e as it is. */
    const double scale = large > 0 && isfinite(large) ? size_of(s->x, at, n * n) / large : 1;
    for (int64_t i = 0; i < rows * rows; i++) a[i] = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const int64_t k = at + i * n + j;
            a[i * rows + j] = element(s->x, k);
            if (!s->e) continue;
            a[(n + i) * rows + n + j] = element(s->x, k);
            a[i * rows + n + j] = scale * element(s->e, k);
        }
    /* The room holds three parts: the operand, the result and what the kernel works in. */
    if (!s->f->of(rows, n, a, value, value + rows * rows)) return false;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            put(s->out, at + i * n + j, s->e ? value[i * rows + n + j] / scale : value[i * rows + j]);
    return true;
}

/* The first matrix that has no such function, or -1. Called by several threads at once, each with a room of its own.
 * Later ones of its part are left as they are. */
static int64_t some(const void *env, int64_t begin, int64_t end, void *room) {
    for (int64_t b = begin; b < end; b++)
        if (!value_of(env, b, room)) return b;
    return -1;
}

/* Without a change the function itself. Both are made contiguous first, so that matrices lie one behind the other. */
static lam_status run(const lam_call_site *call, const function *f, bool change, lam_value *out) {
    if (out->count == 0) return LAM_OK;
    lam_value *x = lam__value_contiguous(call->in[0]), *e = change ? lam__value_contiguous(call->in[1]) : NULL;
    const int64_t n = out->dims[out->rank - 1], rows = change ? 2 * n : n;
    lam_status status = LAM_ERR_MEMORY;
    int64_t bad = -1;
    const stack s = {f, x, e, out, n};
    if (x && (e || !change))
        status =
            lam__matrices_each(call->ctx, lam__matrices_count(out), f->products * (double)(rows * rows) * (double)rows,
                               room_bytes(f, rows), some, &s, &bad);
    if (status == LAM_OK && bad >= 0)
        status = lam__matrices_bad(call, out, bad, "has an eigenvalue that is 0 or on the negative real axis", f->none);
    lam__value_release(x);
    if (change) lam__value_release(e);
    return status;
}

/* ---- the root ---------------------------------------------------------------------------------------------------- */

/* Matrices without eigenvalues on the closed negative axis have one root in the right half plane. */
static lam_status eval_sqrtm(const lam_call_site *call, lam_value *const out[]) {
    return run(call, &square_root, false, out[0]);
}

/* The corner of the root of twice the size. */
static lam_status eval_sqrtm_frechet(const lam_call_site *call, lam_value *const out[]) {
    return run(call, &square_root, true, out[0]);
}

LAM__CORNER_ROWS(sqrtm);

/* ---- the logarithm, by the same rules ---------------------------------------------------------------------------- */

/* The inverse of expm whose eigenvalues have imaginary parts between -pi and pi. */
static lam_status eval_logm(const lam_call_site *call, lam_value *const out[]) {
    return run(call, &logarithm, false, out[0]);
}

static lam_status eval_logm_frechet(const lam_call_site *call, lam_value *const out[]) {
    return run(call, &logarithm, true, out[0]);
}

LAM__CORNER_ROWS(logm);

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* Integers become floats in corner.c, and stacks are checked there. */
lam_tensor *lam_sqrtm(lam_tensor *x) {
    return lam__corner_call(&lam__row_sqrtm, x);
}

lam_tensor *lam_sqrtm_frechet(lam_tensor *x, lam_tensor *e) {
    return lam__corner_call_map(&lam__row_sqrtm_frechet, x, e);
}

/* A complex matrix goes as a real one of twice the rows. */
lam_tensor *lam_logm(lam_tensor *x) {
    return lam__corner_call(&lam__row_logm, x);
}

lam_tensor *lam_logm_frechet(lam_tensor *x, lam_tensor *e) {
    return lam__corner_call_map(&lam__row_logm_frechet, x, e);
}
