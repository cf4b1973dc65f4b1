/* The exponential of matrices, and its derivative at x along e, l(x, e), which is the upper right block of the
 * exponential of [[x, e], [0, x]] (Mathias, "A chain rule for matrix functions", 1996). The transpose by e is l(x^T,
 * g), and a derivative of l is the upper right block of an l of such blocks: rules of two rows, right to all orders. */
#include "lib/primitives/apply.h"
#include "lib/primitives/corner.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/kernels.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* What the workers share. */
typedef struct stack {
    const lam_value *x, *e, *out; /* e: the change, for the derivative */
} stack;

/* Scaling and squaring with a Pade approximant (Higham 2005; Al-Mohy and Higham 2009 for the derivative) is the
 * kernel's. */
static int64_t expm_part(const void *env, int64_t begin, int64_t end, void *room) {
    const stack *s = env;
    const int64_t n = s->x->dims[s->x->rank - 1], at = begin * n * n * (int64_t)lam__dtype_bytes(s->x->dtype);
    const char *x = (const char *)s->x->data + at;
    char *out = (char *)s->out->data + at;
    const lam_dtype dtype = (lam_dtype)s->x->dtype;
    if (s->e) lam__kernels_expm_frechet(dtype, end - begin, n, x, (const char *)s->e->data + at, out, room);
    else lam__kernels_expm(dtype, end - begin, n, x, out, room);
    return -1;
}

/* Units of lam__team_run: some twenty products of matrices. What it takes depends on the norm, which is not looked at
 * for this. */
static double cost_of(int64_t n) {
    return 20 * (double)n * (double)n * (double)(n + 8) / 8;
}

/* Complex matrices do not come here: the public form works on real ones of twice the size. */
static lam_status eval_expm(const lam_call_site *call, lam_value *const out[]) {
    if (out[0]->count == 0) return LAM_OK;
    lam_value *x = lam__value_contiguous(call->in[0]);
    if (!x) return LAM_ERR_MEMORY;
    const stack s = {x, NULL, out[0]};
    int64_t n = x->dims[x->rank - 1], bad;
    lam_status status = lam__matrices_each(call->ctx, lam__matrices_count(x), cost_of(n),
                                           lam__kernels_expm_bytes((lam_dtype)x->dtype, n), expm_part, &s, &bad);
    lam__value_release(x);
    return status;
}

/* ---- the derivative ---------------------------------------------------------------------------------------------- */

/* For sharing it counts as an exponential of twice the rows. */
static lam_status eval_expm_frechet(const lam_call_site *call, lam_value *const out[]) {
    if (out[0]->count == 0) return LAM_OK;
    lam_value *x = lam__value_contiguous(call->in[0]), *e = lam__value_contiguous(call->in[1]);
    const stack s = {x, e, out[0]};
    int64_t n = out[0]->dims[out[0]->rank - 1], bad;
    lam_status status = LAM_ERR_MEMORY;
    if (x && e)
        status = lam__matrices_each(call->ctx, lam__matrices_count(x), cost_of(2 * n),
                                    lam__kernels_expm_frechet_bytes((lam_dtype)x->dtype, n), expm_part, &s, &bad);
    lam__value_release(x);
    lam__value_release(e);
    return status;
}

LAM__CORNER_ROWS(expm);

/* ---- public ------------------------------------------------------------------------------------------------------ */

lam_tensor *lam_expm(lam_tensor *x) {
    return lam__corner_call(&lam__row_expm, x);
}

lam_tensor *lam_expm_frechet(lam_tensor *x, lam_tensor *e) {
    return lam__corner_call_map(&lam__row_expm_frechet, x, e);
}
