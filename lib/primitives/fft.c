/* Fourier transforms: complex to complex along any set of axes, and between n reals and their n/2 + 1 coefficients
 * along one axis. All are linear over the reals and each is the transpose of another (NOTE [transposes of transforms]),
 * so that derivatives of any order cost one transform. A batch is one more axis, which FFTW walks itself. */
#include "lib/primitives/fft.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"

#include "lib/parallel/fft.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

typedef lam__fft_params fft_params;

/* How a half transform is told its axis and the length of the real side. */
typedef lam__half_params half_params;

/* The plans that a context keeps: NOTE [kept plans] in lib/kernels/fft.h. They do not count as alive memory. */
typedef struct kept_plans {
    lam__idle idle;
    lam__fft_plans plans;
} kept_plans;

/* The context gives up what nobody uses, when it is trimmed or ends. */
static void forget_plans(lam_ctx *ctx, lam__idle *self) {
    lam__kernels_fft_forget(&((kept_plans *)self)->plans);
    lam__alloc_put_aside(&ctx->pool, self, sizeof(kept_plans));
}

/* NULL: without memory for them, or where tools watch each block, plans are made anew. */
static lam__fft_plans *plans_of(lam_ctx *ctx) {
    if (!ctx->plans[LAM__PLANS_OF_TRANSFORMS] && !ctx->pool.plain) {
        kept_plans *k = lam__alloc_get(&ctx->pool, sizeof *k);
        if (!k) return NULL;
        memset(k, 0, sizeof *k);
        k->idle.free = forget_plans;
        lam__alloc_set_aside(&ctx->pool, sizeof *k);
        ctx->plans[LAM__PLANS_OF_TRANSFORMS] = &k->idle;
    }
    return ctx->plans[LAM__PLANS_OF_TRANSFORMS] ? &((kept_plans *)ctx->plans[LAM__PLANS_OF_TRANSFORMS])->plans : NULL;
}

/* x without gaps and beginning at 16 bytes, where new values begin: FFTW goes other ways elsewhere, with other last
 * bits. */
static lam_value *aligned(lam_ctx *ctx, lam_value *x) {
    if (!x->contiguous || (uintptr_t)x->data % 16 == 0) return lam__value_contiguous(x);
    lam_value *copy = lam__value_new(ctx, (lam_dtype)x->dtype, x->rank, x->dims);
    if (copy)
        lam__parallel_copy(ctx->team, x->rank, x->dims, (lam_dtype)x->dtype, copy->data, copy->strides,
                           (lam_dtype)x->dtype, x->data, x->strides);
    return copy;
}

/* What the kernels are told; `longer` has the dims of the real side, or of both. FFTW is given contiguous memory and
 * the axes; making plans is the kernel's business. */
static lam_status transform(const lam_call_site *call, lam__fft_kind kind, const lam_value *longer, lam__axis_set set,
                            double scale, lam_value *out) {
    lam_value *x = aligned(call->ctx, call->in[0]);
    if (!x) return LAM_ERR_MEMORY;
    bool done = lam__parallel_fft(call->ctx->team, kind, lam__dtype_part(x->dtype) == LAM_F64, longer->rank,
                                  longer->dims, set, scale, x->data, out->data, plans_of(call->ctx));
    lam__value_release(x);
    return done ? LAM_OK : lam__error_call(call, LAM_ERR_MEMORY, NULL, "FFTW cannot plan this transform");
}

/* The dims of x, but for one axis (-1: none). Strides are for dispatch to choose. */
static lam_status shape_with(const lam_value *x, lam_dtype dtype, int axis, int64_t size, lam_shape *out) {
    out->dtype = dtype;
    out->rank = x->rank;
    for (int i = 0; i < x->rank; i++) out->dims[i] = i == axis ? size : x->dims[i];
    return LAM_OK;
}

static lam_status fail_dtype(const lam_call_site *call, const char *wanted) {
    return lam__error_call(call, LAM_ERR_DTYPE, NULL, "the operand must be %s", wanted);
}

/* ---- complex to complex ------------------------------------------------------------------------------------------ */

/* Along all axes of the set. */
lam_tensor *lam__fft_complex(lam_tensor *x, lam__axis_set set, bool inverse, double scale) {
    fft_params p = {.scale = scale, .set = set, .inverse = inverse};
    return lam__apply1(&lam__row_fft, &p, sizeof p, x);
}

/* Real operands were made complex, or go by the half that they need. */
static lam_status shape_fft(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    if (!lam__dtype_is_complex(x->dtype)) return fail_dtype(call, "complex");
    return shape_with(x, (lam_dtype)x->dtype, -1, 0, out);
}

/* NOTE [crowded axes]
 * Along an axis that is not the last one FFTW goes from line to line of memory, and where these are a power of 2 apart
 * they all belong into the same few places of the first cache: columns of 512 x 512 take 26 times as long as rows.
 * Such an axis is made the last one in a copy. Distances count up to the size of a page, after which the places repeat;
 * for fewer lines two copies, which take longer of large items, cost more than they save. Dims alone decide. */
static bool is_crowded(const lam_value *x, int axis) {
    /* For lines a page or more apart, of c128 elements, it is a crowd from 128 of them on; of c64 ones from 64. */
    enum { PAGE = 4096, CROWD = 1 << 15 };
    const int64_t item = (int64_t)lam__dtype_bytes(x->dtype);
    int64_t apart = item;
    for (int i = axis + 1; i < x->rank; i++) apart *= x->dims[i];
    const int64_t power = apart & -apart;
    return axis < x->rank - 1 && x->dims[axis] >= CROWD * item / (power < PAGE ? power : PAGE);
}

/* Along one axis of x by way of copies in which it is the last; x may be `out` itself. Made rows are transformed
 * without crowding and put back, so both copies are paid for by the transform. */
static lam_status transform_aside(const lam_call_site *call, lam__fft_kind kind, const lam_value *x, int axis,
                                  double scale, lam_value *out) {
    const lam_dtype dtype = (lam_dtype)x->dtype;
    const int last = x->rank - 1;
    int64_t dims[LAM_INNER_RANK], from[LAM_INNER_RANK], to[LAM_INNER_RANK];
    for (int i = 0; i <= last; i++) {
        const int at = i < axis ? i : i < last ? i + 1 : axis;
        dims[i] = x->dims[at];
        /* x and out may be one memory: all of it is in `rows` before anything is put back. */
        from[i] = x->strides[at];
        to[i] = out->strides[at];
    }
    lam_value *rows = lam__value_new(call->ctx, dtype, x->rank, dims);
    lam_value *done = lam__value_new(call->ctx, dtype, x->rank, dims);
    bool fits = rows && done;
    if (fits) {
        lam__parallel_copy(call->ctx->team, x->rank, dims, dtype, rows->data, rows->strides, dtype, x->data, from);
        fits = lam__parallel_fft(call->ctx->team, kind, lam__dtype_part(dtype) == LAM_F64, x->rank, dims,
                                 (lam__axis_set)1 << last, scale, rows->data, done->data, plans_of(call->ctx));
    }
    if (fits)
        lam__parallel_copy(call->ctx->team, x->rank, dims, dtype, out->data, to, dtype, done->data, done->strides);
    lam__value_release(rows);
    lam__value_release(done);
    return fits ? LAM_OK : LAM_ERR_MEMORY;
}

/* The axes that are not crowded together, then the others one by one. The first of these transforms scales. Without
 * crowded axes there is one call, also where no axis is named and only the scale is left. */
static lam_status eval_fft(const lam_call_site *call, lam_value *const out[]) {
    const fft_params *p = call->params;
    const lam__fft_kind kind = p->inverse ? LAM__FFT_INVERSE : LAM__FFT_FORWARD;
    const lam_value *x = call->in[0];
    lam__axis_set crowded = 0;
    double scale = p->scale;
    /* Without elements a distance may be 0, by which is_crowded would divide. */
    for (int i = 0; i < x->rank && x->count; i++)
        if (p->set >> i & 1 && is_crowded(x, i)) crowded |= (lam__axis_set)1 << i;
    if (p->set & ~crowded || !crowded) {
        const lam_status status = transform(call, kind, out[0], p->set & ~crowded, scale, out[0]);
        if (status != LAM_OK) return status;
        x = out[0];
        scale = 1;
    }
    for (int i = 0; i < x->rank; i++) {
        if (!(crowded >> i & 1)) continue;
        const lam_status status = transform_aside(call, kind, x, i, scale, out[0]);
        if (status != LAM_OK) return status;
        x = out[0];
        scale = 1;
    }
    return LAM_OK;
}

/* NOTE [transposes of transforms]
 * Cotangents pair by Re(g w), nothing conjugated (NOTE [complex derivatives] in lamina/complex.h). The matrix of a
 * complex transform is symmetric: it is its own transpose. From n reals: Re(sum of g_k exp(-i t_k)) is the inverse real
 * transform of conj(g), in which inner coefficients count twice and therefore enter with half their weight. To n reals:
 * the coefficients of the real transform of g, conjugated, the inner ones twice. Outer ones are that of frequency 0,
 * and of n/2 for even n. */
static void vjp_fft(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const fft_params *p = r->params;
    gx[0] = lam__fft_complex(g[0], p->set, p->inverse, p->scale);
}

/* Only the numbers of axes change. Sets hold 32 axes, so the shift loses none. */
static void batch_fft(const lam_rule *r, lam_tensor *out[]) {
    const fft_params *p = r->params;
    out[0] = lam__fft_complex(r->in[0], p->set << 1, p->inverse, p->scale);
}

/* Linear over the complex numbers, so its own jvp. */
const lam_primitive lam__row_fft = {
    .name = "fft",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_fft,
    .eval = eval_fft,
    .vjp = vjp_fft,
    .batch = batch_fft,
    .layout = "d scale, A axes, i inverse",
};

/* ---- between reals and half of the coefficients ------------------------------------------------------------------ */

/* n is given although one side's dims tell it: from n/2 + 1 coefficients alone n is 2 k or 2 k + 1. */
static lam_tensor *apply_half(const lam_primitive *row, lam_tensor *x, int axis, int64_t n, double scale) {
    half_params p = {.scale = scale, .n = n, .axis = axis};
    return lam__apply1(row, &p, sizeof p, x);
}

/* From all n elements along the axis. */
lam_tensor *lam__fft_real(lam_tensor *x, int axis, double scale) {
    return apply_half(&lam__row_rfft, x, axis, lam_dim(x, axis), scale);
}

/* n says which of the two lengths that x may come from is meant. */
lam_tensor *lam__fft_half(lam_tensor *x, int axis, int64_t n, double scale) {
    return apply_half(&lam__row_irfft, x, axis, n, scale);
}

/* x with the inner coefficients of n reals multiplied by `inner`. By a choice and not by a product with weights, so
 * outer ones keep their bits. Numbers k are compared as integers, so nothing is rounded for any n. */
static lam_tensor *weighted(lam_tensor *x, int axis, int64_t n, double inner) {
    int64_t dims[LAM_INNER_RANK];
    int rank = lam_rank(x);
    lam_tensor *k = lam_arange(lam_ctx_of(x), LAM_I64, 0, (double)(n / 2 + 1), 1);
    lam_tensor *outer = lam_or(lam_eq(k, 0), lam_eq(lam_mul(2, k), n));
    for (int i = 0; i < rank; i++) dims[i] = i == axis ? n / 2 + 1 : 1;
    return lam_where(lam__apply_reshape(outer, rank, dims), x, lam_mul(inner, x));
}

/* A batch in front moves the axis by one. */
static void batch_half(const lam_rule *r, lam_tensor *out[]) {
    const half_params *p = r->params;
    out[0] = apply_half(r->primitive, r->in[0], p->axis + 1, p->n, p->scale);
}

/* The other coefficients are conjugates of these. So n/2 + 1 of them, rounded down, tell all. */
static lam_status shape_rfft(const lam_call_site *call, lam_shape out[]) {
    const half_params *p = call->params;
    const lam_value *x = call->in[0];
    if (!lam__dtype_is_float(x->dtype)) return fail_dtype(call, "floating");
    return shape_with(x, lam__dtype_promote(x->dtype, LAM_C64), p->axis, p->n / 2 + 1, out);
}

/* The real side is the operand. */
static lam_status eval_rfft(const lam_call_site *call, lam_value *const out[]) {
    const half_params *p = call->params;
    return transform(call, LAM__FFT_REAL, call->in[0], 1u << p->axis, p->scale, out[0]);
}

/* conj(g), inner ones halved, through the transform back. */
static void vjp_rfft(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const half_params *p = r->params;
    gx[0] = lam__fft_half(weighted(lam_conj(g[0]), p->axis, p->n, 0.5), p->axis, p->n, p->scale);
}

const lam_primitive lam__row_rfft = {
    .name = "rfft",
    .inputs = 1,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_rfft,
    .eval = eval_rfft,
    .vjp = vjp_rfft,
    .batch = batch_half,
    .layout = "d scale, l n, i axis",
};

/* The imaginary parts of the outer coefficients count for nothing, as in NumPy. */
static lam_status shape_irfft(const lam_call_site *call, lam_shape out[]) {
    const half_params *p = call->params;
    const lam_value *x = call->in[0];
    if (!lam__dtype_is_complex(x->dtype)) return fail_dtype(call, "complex");
    return shape_with(x, lam__dtype_part(x->dtype), p->axis, p->n, out);
}

/* The real side is the result, whose dims the plan goes by. */
static lam_status eval_irfft(const lam_call_site *call, lam_value *const out[]) {
    const half_params *p = call->params;
    return transform(call, LAM__FFT_HALF, out[0], 1u << p->axis, p->scale, out[0]);
}

/* The transform of g, conjugated, inner ones doubled. */
static void vjp_irfft(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const half_params *p = r->params;
    gx[0] = weighted(lam_conj(lam__fft_real(g[0], p->axis, p->scale)), p->axis, p->n, 2);
}

const lam_primitive lam__row_irfft = {
    .name = "irfft",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_irfft,
    .eval = eval_irfft,
    .vjp = vjp_irfft,
    .batch = batch_half,
    .layout = "d scale, l n, i axis",
};
