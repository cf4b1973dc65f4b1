/* Complex numbers and their parts. real, imag and complex move parts in and out; conj is elementwise. With them a
 * function that is not holomorphic is made of real ones: abs is hypot of the parts, angle atan2, and so their
 * derivatives follow in both modes. NOTE [complex derivatives] in lamina/complex.h says what is meant by these. */
#include "lib/primitives/cplx.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* False for what is no tensor, so that wrappers may ask before they check. */
bool lam__cplx_is(const lam_tensor *x) {
    const lam_value *v = lam__scope_peek(x);
    return v && lam__dtype_is_complex(v->dtype);
}

/* Copies reals; `two_apart` tells of each side that its elements are the parts of complex ones, whose strides count
 * complex elements and are doubled. So no kernel for parts is needed. */
static void copy_parts(const lam_value *like, lam_dtype part, void *to, const int64_t *to_strides, bool to_two_apart,
                       const void *from, const int64_t *from_strides, bool from_two_apart) {
    int64_t t[LAM_INNER_RANK], f[LAM_INNER_RANK];
    for (int i = 0; i < like->rank; i++) {
        t[i] = to_two_apart ? 2 * to_strides[i] : to_strides[i];
        f[i] = from_two_apart ? 2 * from_strides[i] : from_strides[i];
    }
    if (like->count) lam__parallel_copy(lam__value_team(like), like->rank, like->dims, part, to, t, part, from, f);
}

/* ---- real, imag ------------------------------------------------------------------------------------------------- */

/* lam_real and lam_imag of reals do not come here: they are the operand and zeros. */
static lam_status shape_part(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    if (!lam__dtype_is_complex(x->dtype))
        return lam__error_call(call, LAM_ERR_DTYPE, NULL, "the operand is not complex");
    return lam__apply_shape_as(x, lam__dtype_part(x->dtype), out);
}

/* The imaginary part lies one real behind the real one. */
static lam_status eval_part(const lam_call_site *call, lam_value *const out[], bool imaginary) {
    const lam_value *x = call->in[0];
    lam_dtype part = (lam_dtype)out[0]->dtype;
    const char *from = (const char *)x->data + (imaginary ? lam__dtype_bytes(part) : 0);
    copy_parts(x, part, out[0]->data, out[0]->strides, false, from, x->strides, true);
    return LAM_OK;
}

/* Part by part, so a batch axis changes nothing. The row has no parameters. */
static void batch_part(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam__apply1(r->primitive, NULL, 0, r->in[0]);
}

static lam_status eval_real(const lam_call_site *call, lam_value *const out[]) {
    return eval_part(call, out, false);
}

/* Re(g v) = Re(gx v) for all complex v where g is real: gx = g + 0 i. */
static void vjp_real(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    (void)r;
    gx[0] = lam_complex(g[0], lam_zeros_like(g[0]));
}

/* Linear: nothing of x is kept for the rules. */
const lam_primitive lam__row_real = {
    .name = "real",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_part,
    .eval = eval_real,
    .vjp = vjp_real,
    .batch = batch_part,
};

/* A real operand is its own real part: a handle of its own to the same value. */
lam_tensor *lam_real(lam_tensor *x) {
    return lam__scope_peek(x) && !lam__cplx_is(x) ? lam_alias(x) : lam__apply1(&lam__row_real, NULL, 0, x);
}

/* The part that lies behind. */
static lam_status eval_imag(const lam_call_site *call, lam_value *const out[]) {
    return eval_part(call, out, true);
}

/* g Im(v) = Re(-i g v), so gx = -i g: the transpose does not conjugate. */
static void vjp_imag(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    (void)r;
    gx[0] = lam_complex(lam_zeros_like(g[0]), lam_neg(g[0]));
}

const lam_primitive lam__row_imag = {
    .name = "imag",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_part,
    .eval = eval_imag,
    .vjp = vjp_imag,
    .batch = batch_part,
};

/* Zeros for a real operand, which take no memory. They are a view of one element. */
lam_tensor *lam_imag(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(
        lam__scope_peek(x) && !lam__cplx_is(x) ? lam_zeros_like(x) : lam__apply1(&lam__row_imag, NULL, 0, x), since);
}

/* ---- complex ---------------------------------------------------------------------------------------------------- */

/* Both parts have one type here; the public form broadcasts and converts. */
static lam_status shape_complex(const lam_call_site *call, lam_shape out[]) {
    const lam_value *re = call->in[0];
    if (!lam__value_same_type(re, call->in[1]))
        return lam__error_call(call, LAM_ERR_SHAPE, "broadcast or cast them", "the operands differ in type");
    if (!lam__dtype_is_float(re->dtype))
        return lam__error_call(call, LAM_ERR_DTYPE, "cast them first", "the parts of complex numbers are floats");
    return lam__apply_shape_as(re, lam__dtype_promote(re->dtype, LAM_C64), out);
}

/* Real parts at even places of the result, imaginary parts at odd ones. */
static lam_status eval_complex(const lam_call_site *call, lam_value *const out[]) {
    for (int i = 0; i < 2; i++) {
        const lam_value *x = call->in[i];
        char *to = (char *)out[0]->data + (size_t)i * lam__dtype_bytes(x->dtype);
        copy_parts(x, (lam_dtype)x->dtype, to, out[0]->strides, true, x->data, x->strides, false);
    }
    return LAM_OK;
}

/* Re(g (a + i b)) = Re(g) a - Im(g) b. */
static void vjp_complex(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    if (r->needs[0]) gx[0] = lam_real(g[0]);
    if (r->needs[1]) gx[1] = lam_neg(lam_imag(g[0]));
}

/* For operands of one floating type. The row says what does not fit. */
static lam_tensor *apply_complex(lam_tensor *re, lam_tensor *im) {
    lam_tensor *in[2] = {re, im};
    return lam__apply(&lam__row_complex, NULL, 0, 2, in);
}

/* Both parts get the axis, since the row does not broadcast. */
static void batch_complex(const lam_rule *r, lam_tensor *out[]) {
    out[0] = apply_complex(lam__rules_with_batch(r, 0), lam__rules_with_batch(r, 1));
}

/* Linear in both: no parts are saved. */
const lam_primitive lam__row_complex = {
    .name = "complex",
    .inputs = 2,
    .derivative = LAM_LINEAR,
    .linear = 3u,
    .shape = shape_complex,
    .eval = eval_complex,
    .vjp = vjp_complex,
    .batch = batch_complex,
};

/* The dims of both operands broadcast; false where they do not fit, which the row then says. */
static bool common_dims(lam_dims a, lam_dims b, int *rank, int64_t dims[]) {
    *rank = a.rank > b.rank ? a.rank : b.rank;
    for (int i = 1; i <= *rank; i++) {
        int64_t x = i <= a.rank ? a.dims[a.rank - i] : 1, y = i <= b.rank ? b.dims[b.rank - i] : 1;
        if (x != y && x != 1 && y != 1) return false;
        dims[*rank - i] = x == 1 ? y : x;
    }
    return true;
}

/* x as floats of dtype with these dims. Gradients come back in the dtype and the dims of x: both steps are rows. */
static lam_tensor *brought(lam_tensor *x, lam_dtype dtype, int rank, const int64_t *dims) {
    if (lam_dtype_of(x) != dtype) x = lam_cast(x, dtype);
    const lam_dims own = lam_dims_of(x);
    bool there = own.rank == rank;
    for (int i = 0; there && i < rank; i++) there = own.dims[i] == dims[i];
    return there ? x : lam__apply_broadcast(x, rank, dims);
}

/* Halves have no complex dtype and become f32. What is unusable goes to the row, which says so. */
lam_tensor *lam_complex(lam_tensor *re, lam_tensor *im) {
    uint64_t since = lam__scope_now(re);
    int64_t dims[LAM_INNER_RANK];
    int rank;
    if (!lam__scope_peek(re) || !lam__scope_peek(im) || lam__cplx_is(re) || lam__cplx_is(im) ||
        !common_dims(lam_dims_of(re), lam_dims_of(im), &rank, dims))
        return apply_complex(re, im);
    lam_dtype dtype = lam__dtype_promote((int)lam_dtype_of(re), (int)lam_dtype_of(im));
    if (lam__dtype_is_half((int)dtype)) dtype = LAM_F32;
    if (!lam__dtype_is_float((int)dtype)) dtype = LAM_F64;
    return lam__scope_only(apply_complex(brought(re, dtype, rank, dims), brought(im, dtype, rank, dims)), since);
}

/* ---- conj ------------------------------------------------------------------------------------------------------- */

/* Linear over the reals only: the tangent is conjugated. The transpose is conj too: Re(g conj(v)) = Re(conj(g) v). */
static lam_tensor *slope_conj(const lam_rule *r, int i, lam_tensor *t) {
    (void)r, (void)i;
    return lam_conj(t);
}

/* Linear over the reals, which is what `linear` says. */
const lam_primitive lam__row_conj = {
    .name = "conj",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_conj + 1,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_conj,
    .linear = 1u,
};

/* A real operand is its own conjugate, under another handle. */
lam_tensor *lam_conj(lam_tensor *x) {
    return lam__scope_peek(x) && !lam__cplx_is(x) ? lam_alias(x) : lam__apply_unary(&lam__row_conj, x);
}

/* ---- what is made of the parts ---------------------------------------------------------------------------------- */

/* hypot neither over- nor underflows on the way, unlike the root of the size below. Its slope is 0 at 0. */
lam_tensor *lam__cplx_abs(lam_tensor *x) {
    return lam_hypot(lam_real(x), lam_imag(x));
}

/* z / |z| by parts, 0 at 0, from quotients that stay in range for any z. The slope of hypot is the share of a part in
 * the modulus, and 0 at the origin. */
lam_tensor *lam__cplx_sign(lam_tensor *x) {
    lam_tensor *re = lam_real(x), *im = lam_imag(x);
    return lam_complex(lam_hypot_slope(re, im), lam_hypot_slope(im, re));
}

/* Not the square of the modulus: no root is taken, so the slope at 0 is 0 by itself. */
lam_tensor *lam__cplx_size(lam_tensor *x) {
    return lam_add(lam_square(lam_real(x)), lam_square(lam_imag(x)));
}

/* Of reals too: 0, or pi for negative ones and -0. Their step at 0 has no slope. */
lam_tensor *lam_angle(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    if (!lam__cplx_is(x)) x = lam_stop_gradient(x); /* a step, as sign is */
    return lam__scope_only(lam_atan2(lam_imag(x), lam_real(x)), since);
}

/* z -> [[re, -im], [im, re]] keeps sums, products and inverses, so real algorithms serve; the cost is twice that of a
 * complex one. */
lam_tensor *lam__cplx_as_real(lam_tensor *x) {
    lam_tensor *re = lam_real(x), *im = lam_imag(x);
    lam_tensor *above = lam_concatenate(LAM_LIST(re, lam_neg(im)), -1), *below = lam_concatenate(LAM_LIST(im, re), -1);
    return lam_concatenate(LAM_LIST(above, below), -2);
}

/* The left half holds all. What the right half says again is left out, so that a derivative goes through one of
 * them. */
lam_tensor *lam__cplx_from_real(lam_tensor *both) {
    int64_t m = lam_dim(both, -2) / 2, n = lam_dim(both, -1) / 2;
    lam_tensor *left = lam_slice_axis(both, -1, 0, n);
    return lam_complex(lam_slice_axis(left, -2, 0, m), lam_slice_axis(left, -2, m, LAM_END));
}
