/* Plain arrays: see array.h. */
#include "tests/primitives/array.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const layout_names[LAYOUTS] = {"plain", "columns", "backwards", "gaps", "repeated"};

bool array_is_float(const array *x) {
    return x->dtype == LAM_F64 || x->dtype == LAM_F32;
}

double array_epsilon(lam_dtype dtype) {
    return dtype == LAM_F64 ? DBL_EPSILON : dtype == LAM_F32 ? FLT_EPSILON : 0;
}

/* ---- types ---------------------------------------------------------------------------------------------------- */

void array_shape(array *x, lam_dtype dtype, int rank, const int64_t *dims) {
    assert(rank >= 0 && rank <= ARRAY_RANK);
    x->dtype = dtype;
    x->rank = rank;
    x->count = 1;
    for (int i = 0; i < rank; i++) x->count *= x->dims[i] = dims[i];
    assert(x->count >= 0 && x->count <= ARRAY_ELEMENTS);
}

void array_like(array *x, const array *other) {
    array_shape(x, other->dtype, other->rank, other->dims);
}

static lam_dtype dtype_named(const char *text, lam_dtype usual, bool *named) {
    for (int d = 0; d < LAM_DTYPE_COUNT; d++) {
        const char *name = lam_dtype_name((lam_dtype)d);
        if (strncmp(text, name, strlen(name)) == 0) {
            *named = true;
            return (lam_dtype)d;
        }
    }
    *named = false;
    return usual;
}

const char *array_type(array *x, const char *text, lam_dtype usual, bool *named) {
    int64_t dims[ARRAY_RANK];
    int rank = 0;
    lam_dtype dtype = dtype_named(text, usual, named);
    text += strcspn(text, "[");
    assert(*text == '[');
    for (text++; *text != ']'; text += strspn(text, ",")) {
        char *end;
        dims[rank++] = strtoll(text, &end, 10);
        assert(end != text);
        text = end;
    }
    array_shape(x, dtype, rank, dims);
    return text + 1 + strspn(text + 1, " ");
}

void array_index(const array *x, int64_t position, int64_t index[]) {
    for (int i = x->rank - 1; i >= 0; i--) {
        index[i] = position % x->dims[i];
        position /= x->dims[i];
    }
}

int64_t array_position(const array *x, const int64_t index[]) {
    int64_t position = 0;
    for (int i = 0; i < x->rank; i++) position = position * x->dims[i] + index[i];
    return position;
}

/* ---- elements ------------------------------------------------------------------------------------------------- */

/* Multiples of the golden ratio, taken modulo 1, spread evenly and never meet. */
static long double spread(int64_t i, int phase) {
    long double u = (long double)(i + 1) * 0.61803398874989484820L + (long double)phase * 0.27182818284590452354L;
    return u - floorl(u);
}

static long double off_kinks(long double v) {
    long double near = roundl(2 * v) / 2;
    return fabsl(v - near) < 0.04L ? near + (v < near ? -0.04L : 0.04L) : v;
}

void array_fill(array *x, double low, double high, int phase) {
    for (int64_t i = 0; i < x->count; i++) {
        long double v = low + (high - low) * spread(i, phase);
        if (x->dtype == LAM_F64) x->data[i] = (double)off_kinks(v);
        else if (x->dtype == LAM_F32) x->data[i] = (float)off_kinks(v);
        else if (x->dtype == LAM_BOOL) x->data[i] = spread(i, phase) > 0.5L;
        else x->data[i] = floorl(v);
        if (x->dtype == LAM_U8) x->data[i] = fabsl(x->data[i]);
    }
}

void array_repeat(array *x) {
    int64_t part = x->rank && x->dims[0] ? x->count / x->dims[0] : 0;
    for (int64_t i = part; i < x->count && part; i++) x->data[i] = x->data[i % part];
}

void array_stack(array *out, int n, const array *const parts[], bool last) {
    const array *x = parts[0];
    int64_t dims[ARRAY_RANK];
    for (int i = 0; i <= x->rank; i++) dims[i] = last ? (i < x->rank ? x->dims[i] : n) : i ? x->dims[i - 1] : n;
    array_shape(out, x->dtype, x->rank + 1, dims);
    for (int b = 0; b < n; b++)
        for (int64_t e = 0; e < x->count; e++) out->data[last ? e * n + b : b * x->count + e] = parts[b]->data[e];
}

/* ---- tensors -------------------------------------------------------------------------------------------------- */

static void store(lam_dtype dtype, void *to, int64_t at, long double v) {
    switch (dtype) {
    case LAM_F64: ((double *)to)[at] = (double)v; break;
    case LAM_F32: ((float *)to)[at] = (float)v; break;
    case LAM_I64: ((int64_t *)to)[at] = (int64_t)v; break;
    case LAM_I32: ((int32_t *)to)[at] = (int32_t)v; break;
    default: ((uint8_t *)to)[at] = (uint8_t)v; break;
    }
}

static long double load(lam_dtype dtype, const void *from, int64_t at) {
    switch (dtype) {
    case LAM_F64: return ((const double *)from)[at];
    case LAM_F32: return ((const float *)from)[at];
    case LAM_I64: return (long double)((const int64_t *)from)[at];
    case LAM_I32: return ((const int32_t *)from)[at];
    default: return ((const uint8_t *)from)[at];
    }
}

/* Strides of the layout; gives the number of elements that the memory spans, *first is the place of element 0. */
static int64_t strides_of(const array *x, layout how, int64_t strides[], int64_t *first) {
    int64_t step = how == GAPS ? 3 : 1;
    *first = 0;
    for (int k = 0; k < x->rank; k++) {
        int axis = how == COLUMNS ? k : x->rank - 1 - k;
        int64_t size = x->dims[axis] > 1 ? x->dims[axis] : 1;
        bool none = how == REPEATED && axis == 0, back = how == BACKWARDS;
        strides[axis] = none ? 0 : back ? -step : step;
        if (back) *first += (size - 1) * step;
        if (!none) step = step * size + (how == GAPS);
    }
    return step;
}

static void release(void *env, void *data) {
    (void)data;
    free(env);
}

lam_tensor *array_tensor(lam_ctx *ctx, const array *x, layout how) {
    int64_t strides[ARRAY_RANK] = {0}, index[ARRAY_RANK], first, span = strides_of(x, how, strides, &first);
    size_t item = lam_dtype_bytes(x->dtype);
    char *memory = calloc((size_t)span + 1, item), *start = memory + (size_t)first * item;
    for (int64_t e = 0; e < x->count; e++) {
        int64_t at = first;
        array_index(x, e, index);
        for (int i = 0; i < x->rank; i++) at += index[i] * strides[i];
        store(x->dtype, memory, at, x->data[e]);
    }
    lam_borrow_options options = {.strides = {x->rank, strides}, .release = release, .env = memory};
    return lam_borrow(ctx, x->dtype, (lam_dims){x->rank, x->dims}, start, &options);
}

bool array_read(array *x, lam_tensor *t) {
    union {
        int64_t words[ARRAY_ELEMENTS];
        double doubles[ARRAY_ELEMENTS];
    } memory;
    lam_dims dims = lam_dims_of(t);
    if (lam_failed(t) || dims.rank > ARRAY_RANK || lam_size(t) > ARRAY_ELEMENTS) return false;
    array_shape(x, lam_dtype_of(t), dims.rank, dims.dims);
    if (lam_read(t, &memory, (size_t)x->count * lam_dtype_bytes(x->dtype)) != LAM_OK) return false;
    for (int64_t i = 0; i < x->count; i++) x->data[i] = load(x->dtype, &memory, i);
    return true;
}

/* ---- comparing ------------------------------------------------------------------------------------------------ */

/* Integers wrap. */
static long double as_stored(lam_dtype dtype, long double v) {
    if (dtype == LAM_I32) return (int32_t)(int64_t)v;
    return dtype == LAM_U8 ? (uint8_t)(int64_t)v : v;
}

int64_t array_compare(const array *got, const array *want, long double tolerance, long double scale) {
    bool same = got->dtype == want->dtype && got->rank == want->rank;
    for (int i = 0; same && i < want->rank; i++) same = got->dims[i] == want->dims[i];
    if (!same) return -2;
    for (int64_t i = 0; i < want->count; i++) {
        long double g = got->data[i], w = as_stored(want->dtype, want->data[i]);
        bool equal = g == w || (isnan(g) && isnan(w));
        long double most = fabsl(w) > scale ? fabsl(w) : scale;
        if (!equal && !(fabsl(g - w) <= tolerance * most && isfinite(w))) return i;
    }
    return -1;
}

long double array_largest(const array *x) {
    long double most = 0;
    for (int64_t i = 0; i < x->count; i++)
        if (isfinite(x->data[i]) && fabsl(x->data[i]) > most) most = fabsl(x->data[i]);
    return most;
}

long double array_dot(const array *x, const array *y) {
    long double sum = 0;
    assert(x->count == y->count);
    for (int64_t i = 0; i < x->count; i++) sum += x->data[i] * y->data[i];
    return sum;
}
