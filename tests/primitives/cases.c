/* The families of the case table as one list, and what their references share. */
#include "tests/primitives/cases.h"

/* clang-format off */
static const cases_row *const families[] = {
    cases_unary,
    cases_binary,
    cases_layout,
    cases_slice,
    cases_reduce,
    cases_scan,
    cases_lanes,
    cases_index,
    cases_bag,
    cases_conv,
    cases_sort,
    cases_linalg,
    cases_determinant,
    cases_plane,
    cases_equations,
    cases_spectral,
    cases_roots,
    cases_function,
    cases_random,
    cases_polynomial,
    cases_special,
    cases_bits,
    cases_integrals,
    cases_complex_rows,
    cases_principal,
    cases_fft,
};
/* clang-format on */

const cases_row *cases_at(int i) {
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++)
        for (const cases_row *row = families[f]; row->name; row++)
            if (i-- == 0) return row;
    return NULL;
}

int cases_count(void) {
    static int n;
    if (n == 0)
        while (cases_at(n)) n++;
    return n;
}

/* bool < integers < floats, the wider of two; u8 with a signed type takes that. */
lam_dtype cases_promote(lam_dtype a, lam_dtype b) {
    static const int order[LAM_DTYPE_COUNT] = {
        [LAM_BOOL] = 0, [LAM_U8] = 1, [LAM_I32] = 2, [LAM_I64] = 3, [LAM_F32] = 4, [LAM_F64] = 5};
    return order[a] >= order[b] ? a : b;
}

void cases_broadcast(int n, const array in[], array *out) {
    int rank = 0;
    int64_t dims[ARRAY_RANK];
    for (int i = 0; i < n; i++)
        if (in[i].rank > rank) rank = in[i].rank;
    for (int axis = 0; axis < rank; axis++) {
        dims[axis] = 1;
        for (int i = 0; i < n; i++) {
            int own = axis - (rank - in[i].rank);
            if (own >= 0 && in[i].dims[own] != 1) dims[axis] = in[i].dims[own];
        }
    }
    array_shape(out, out->dtype, rank, dims);
}

long double cases_broadcast_element(const array *x, const array *out, int64_t e) {
    int64_t index[ARRAY_RANK], own[ARRAY_RANK];
    array_index(out, e, index);
    for (int i = 0; i < x->rank; i++) own[i] = x->dims[i] == 1 ? 0 : index[i + out->rank - x->rank];
    return x->data[array_position(x, own)];
}

void cases_gather(const cases_use *u, const array *x, array *out, cases_move *move) {
    int64_t index[ARRAY_RANK], from[ARRAY_RANK];
    for (int64_t e = 0; e < out->count; e++) {
        array_index(out, e, index);
        move(u, x, out, index, from);
        out->data[e] = x->data[array_position(x, from)];
    }
}

bool cases_of_parts(const cases_row *row) {
    const cases_row *const families_of_parts[] = {cases_complex_rows, cases_principal, cases_plane, cases_fft};
    for (int f = 0; f < 4; f++)
        for (const cases_row *r = families_of_parts[f]; r->name; r++)
            if (r == row) return true;
    return false;
}

/* ---- elementwise rows ----------------------------------------------------------------------------------------- */

void cases_call(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    const cases_row *r = u->row;
    if (r->call) r->call(u, in, out);
    else if (r->unary) out[0] = r->unary(in[0]);
    else if (r->binary) out[0] = r->binary(in[0], in[1]);
    else out[0] = r->ternary(in[0], in[1], in[2]);
}

/* The condition of a select has no say in the dtype. */
static lam_dtype elementwise_dtype(const cases_use *u, const array in[]) {
    int first = u->inputs == 3 && in[0].dtype == LAM_BOOL;
    lam_dtype dtype = in[first].dtype;
    for (int i = first + 1; i < u->inputs; i++) dtype = cases_promote(dtype, in[i].dtype);
    if (u->row->gives == CASES_BOOL) return LAM_BOOL;
    return u->row->gives == CASES_REAL && !array_epsilon(dtype) ? LAM_F64 : dtype;
}

void cases_reference(const cases_use *u, const array in[], array out[]) {
    const cases_row *r = u->row;
    if (r->reference) {
        r->reference(u, in, out);
        return;
    }
    out->dtype = elementwise_dtype(u, in);
    cases_broadcast(u->inputs, in, out);
    for (int64_t e = 0; e < out->count; e++) {
        long double v[3];
        for (int i = 0; i < u->inputs; i++) v[i] = cases_broadcast_element(&in[i], out, e);
        out->data[e] = r->unary_reference    ? r->unary_reference(v[0])
                       : r->binary_reference ? r->binary_reference(v[0], v[1])
                                             : r->ternary_reference(v[0], v[1], v[2]);
    }
}

/* ---- wrong calls ------------------------------------------------------------------------------------------------ */

void cases_call_complex(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    lam_tensor *wide[CASES_OPERANDS];
    for (int i = 0; i < u->inputs; i++) wide[i] = lam_cast(in[i], LAM_C128);
    cases_call(u, wide, out);
}

static void call_filled(const cases_use *u, lam_tensor *const in[], lam_tensor *out[], int which, double value) {
    lam_tensor *filled[CASES_OPERANDS];
    for (int i = 0; i < u->inputs; i++) filled[i] = i == which ? lam_full_like(in[i], value) : in[i];
    cases_call(u, filled, out);
}

void cases_call_negative(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_filled(u, in, out, 0, -1);
}

void cases_call_zeros(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    call_filled(u, in, out, 0, 0);
}
