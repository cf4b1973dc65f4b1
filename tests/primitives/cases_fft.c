/* Fourier transforms in the case table, against the sums of the definition in long double. A complex operand is an
 * array of reals whose last axis has two elements, the parts, as in cases_complex.c. */
#include "tests/primitives/cases.h"

#include "lib/base/scope.h"

#include <math.h>

/* Of a form: the axis (-1: the last two), whether it is the inverse, the norm, the size (0: as it is). */
enum { AXIS, INVERSE, NORM, SIZE };

static lam_tensor *joined(lam_tensor *x) {
    return lam__scope_peek(x) ? lam_complex(lam_index(x, -1, 0), lam_index(x, -1, 1)) : x;
}

static lam_tensor *split(lam_tensor *z) {
    return lam_failed(z) ? z : lam_stack(LAM_LIST(lam_real(z), lam_imag(z)), -1);
}

typedef struct settings {
    int axes[2];
    int64_t size;
    lam_fft_options options;
} settings;

static const lam_fft_options *settings_of(const cases_use *u, settings *s) {
    bool both = u->arg[AXIS] < 0;
    *s = (settings){.axes = {both ? -2 : (int)u->arg[AXIS], -1}, .size = u->arg[SIZE]};
    s->options = (lam_fft_options){.axes = {both ? 2 : 1, s->axes}, .norm = (lam_fft_norm)u->arg[NORM]};
    if (s->size) s->options.sizes = (lam_dims){1, &s->size};
    return &s->options;
}

static void call_fft(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    settings s;
    const lam_fft_options *o = settings_of(u, &s);
    lam_tensor *x = joined(in[0]);
    if (u->arg[AXIS] < 0) out[0] = split(u->arg[INVERSE] ? lam_ifftn(x, o) : lam_fftn(x, o));
    else out[0] = split(u->arg[INVERSE] ? lam_ifft(x, o) : lam_fft(x, o));
}

static void call_rfft(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    settings s;
    out[0] = split(lam_rfft(in[0], settings_of(u, &s)));
}

static void call_irfft(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    settings s;
    out[0] = lam_irfft(joined(in[0]), settings_of(u, &s));
}

/* What the transform of n elements is multiplied with. */
static long double scale_of(const cases_use *u, bool inverse, int64_t n) {
    if (u->arg[NORM] == LAM_FFT_ORTHO) return 1 / sqrtl((long double)n);
    return inverse == (u->arg[NORM] == LAM_FFT_BACKWARD) ? 1 / (long double)n : 1;
}

/* Coefficient k of the n numbers at x, `step` reals apart; the first `have` are there, the others 0. */
static void coefficient(const long double *x, int64_t step, int64_t have, int64_t n, int64_t k, bool inverse, bool real,
                        long double sum[2]) {
    sum[0] = sum[1] = 0;
    for (int64_t j = 0; j < n && j < have; j++) {
        long double t = 2 * acosl(-1) * (long double)(j * k % n) / (long double)n, c = cosl(t);
        long double s = inverse ? sinl(t) : -sinl(t), re = x[j * step], im = real ? 0 : x[j * step + 1];
        sum[0] += re * c - im * s;
        sum[1] += re * s + im * c;
    }
}

/* One axis of a complex array, in place. */
static void transform_axis(const cases_use *u, array *x, int axis) {
    static array from;
    from = *x;
    int64_t n = x->dims[axis], inner = 1;
    for (int i = axis + 1; i < x->rank; i++) inner *= x->dims[i];
    for (int64_t e = 0; e < x->count; e += 2) {
        int64_t k = e / inner % n, first = e - k * inner;
        long double sum[2], scale = scale_of(u, u->arg[INVERSE], n);
        coefficient(from.data + first, inner, n, n, k, u->arg[INVERSE], false, sum);
        x->data[e] = sum[0] * scale, x->data[e + 1] = sum[1] * scale;
    }
}

static void reference_fft(const cases_use *u, const array in[], array out[]) {
    *out = in[0];
    if (u->arg[AXIS] >= 0) transform_axis(u, out, (int)u->arg[AXIS]);
    for (int axis = in[0].rank - 3; u->arg[AXIS] < 0 && axis < in[0].rank - 1; axis++) transform_axis(u, out, axis);
}

static void reference_rfft(const cases_use *u, const array in[], array out[]) {
    int axis = (int)u->arg[AXIS], rank = in[0].rank;
    int64_t have = in[0].dims[axis], n = u->arg[SIZE] ? u->arg[SIZE] : have, inner = 1, dims[ARRAY_RANK];
    for (int i = 0; i < rank; i++) dims[i] = i == axis ? n / 2 + 1 : in[0].dims[i];
    for (int i = axis + 1; i < rank; i++) inner *= dims[i];
    dims[rank] = 2;
    array_shape(out, in[0].dtype, rank + 1, dims);
    for (int64_t e = 0; e < out->count / 2; e++) {
        int64_t k = e / inner % dims[axis], outer = e / inner / dims[axis];
        long double sum[2], scale = scale_of(u, false, n);
        coefficient(in[0].data + outer * have * inner + e % inner, inner, have, n, k, false, true, sum);
        out->data[2 * e] = sum[0] * scale, out->data[2 * e + 1] = sum[1] * scale;
    }
}

/* The sum over all n coefficients, of which those beyond n/2 are conjugates. */
static void reference_irfft(const cases_use *u, const array in[], array out[]) {
    int axis = (int)u->arg[AXIS], rank = in[0].rank - 1;
    int64_t have = in[0].dims[axis], n = u->arg[SIZE] ? u->arg[SIZE] : 2 * (have - 1), inner = 1, dims[ARRAY_RANK];
    for (int i = 0; i < rank; i++) dims[i] = i == axis ? n : in[0].dims[i];
    for (int i = axis + 1; i < rank; i++) inner *= dims[i];
    array_shape(out, in[0].dtype, rank, dims);
    for (int64_t e = 0; e < out->count; e++) {
        int64_t j = e / inner % n, first = (e / inner / n * have * inner + e % inner) * 2;
        long double sum = 0;
        for (int64_t k = 0; k < n; k++) {
            int64_t at = k <= n / 2 ? k : n - k;
            long double t = 2 * acosl(-1) * (long double)(j * k % n) / (long double)n;
            const long double *z = in[0].data + first + 2 * at * inner;
            if (at < have) sum += z[0] * cosl(t) - (at == 0 || 2 * at == n ? 0 : k > n / 2 ? -z[1] : z[1]) * sinl(t);
        }
        out->data[e] = sum * scale_of(u, true, n);
    }
}

static const cases_form forms_fft[] = {{"[4,2]", {0}},
                                       {"[5,2]", {0, 1}},
                                       {"[3,4,2]", {0, 0, LAM_FFT_ORTHO}},
                                       {"[2,3,2]", {-1, 1, LAM_FFT_FORWARD}},
                                       {"[2,2,2]", {-1}},
                                       {"[1,2]", {0, 1}},
                                       {"[0,3,2]", {1}},
                                       CASES_END};
static const cases_form forms_rfft[] = {
    {"[6]", {0}},          {"[5]", {0}},          {"[4,3]", {0, 0, LAM_FFT_ORTHO}},   {"[1]", {0}},
    {"[4]", {0, 0, 0, 7}}, {"[5]", {0, 0, 0, 4}}, {"[0,4]", {1, 0, LAM_FFT_FORWARD}}, CASES_END};
static const cases_form forms_irfft[] = {{"[4,2]", {0}},
                                         {"[4,2]", {0, 0, 0, 7}},
                                         {"[3,2,2]", {0, 0, LAM_FFT_ORTHO}},
                                         {"[1,2]", {0, 0, 0, 1}},
                                         {"[3,2]", {0, 0, 0, 8}},
                                         {"[0,3,2]", {1}},
                                         CASES_END};
static const cases_wrong wrong_fft[] = {{"[4,2]", LAM_ERR_AXIS, {3}},
                                        {"[0,2]", LAM_ERR_VALUE, {0}},
                                        {"[4,2]", LAM_ERR_VALUE, {0, 0, 0, -1}},
                                        {"[4,2]", LAM_ERR_OPTION, {0, 0, 3}},
                                        CASES_WRONG_END};
static const cases_wrong wrong_rfft[] = {
    {"[4]", LAM_ERR_AXIS, {3}},         {"[0]", LAM_ERR_VALUE, {0}}, {"[4]", LAM_ERR_VALUE, {0, 0, 0, -1}},
    {"[4]", LAM_ERR_OPTION, {0, 0, 3}}, {"[]", LAM_ERR_AXIS, {0}},   CASES_WRONG_END};

#define ROW(name_)                                                                                                     \
    .name = #name_, .forms = forms_##name_, .call = call_##name_, .reference = reference_##name_, .normwise = true,    \
    .ulps = 16, .least_rank = 1

const cases_row cases_fft[] = {
    {ROW(fft), .wrong = wrong_fft},
    {ROW(rfft), .wrong = wrong_rfft, .wrong_calls = {{"[4]", LAM_ERR_DTYPE, cases_call_complex}}},
    {ROW(irfft), .wrong = wrong_fft},
    {0},
};
