/* Equations of two matrices, a x + x b = c: reference the whole linear system of m n unknowns. And the order of columns
 * in QR: reference Gram and Schmidt. */
#include "tests/primitives/cases.h"

#include "tests/primitives/cases_matrix.h"

#include <math.h>

static void call_solve_sylvester(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_solve_sylvester(in[0], in[1], in[2]);
}

/* b is minus a. */
static void call_solve_sylvester_without_solution(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_solve_sylvester(in[0], lam_neg(in[0]), in[0]);
}

/* Eigenvalues to the right of 0. */
static void fill_right(const cases_use *u, int i, array *x) {
    (void)u;
    if (i == 2 || x->rank < 2) return;
    const int64_t m = x->dims[x->rank - 2], n = x->dims[x->rank - 1];
    for (int64_t e = 0; m && n && e < x->count; e++)
        if (e % n == e / n % m) x->data[e] += 4 + i;
}

static void reference_solve_sylvester(const cases_use *u, const array in[], array out[]) {
    const array *longest = &in[2];
    (void)u;
    for (int i = 0; i < 2; i++)
        if (in[i].rank > longest->rank) longest = &in[i];
    const int64_t m = in[2].dims[in[2].rank - 2], n = in[2].dims[in[2].rank - 1];
    const int64_t batch = shape_like(longest, &out[0], m, n);
    for (int64_t k = 0; k < batch; k++) {
        matrix x[3], all = {.m = m * n, .n = m * n}, right = {.m = m * n, .n = 1}, y = {.m = m, .n = n};
        for (int i = 0; i < 3; i++) x[i] = matrix_of(&in[i], in[i].rank < longest->rank ? 0 : k);
        for (int64_t e = 0; e < m * n; e++) {
            for (int64_t j = 0; j < m; j++) all.x[e][j * n + e % n] += x[0].x[e / n][j];
            for (int64_t j = 0; j < n; j++) all.x[e][e / n * n + j] += x[1].x[j][e % n];
            right.x[e][0] = x[2].x[e / n][e % n];
        }
        right = solved(all, right);
        for (int64_t e = 0; e < m * n; e++) y.x[e / n][e % n] = right.x[e][0];
        put(&out[0], k, &y);
    }
}

static const cases_form equations[] = {{"[3,3] [2,2] [3,2]", {0}},
                                       {"[2,2,2] [3,3] [2,3]", {0}},
                                       {"[2,2] [2,2,2] [2,2,2]", {0}},
                                       {"[1,1] [1,1] [1,1]", {0}},
                                       {"[0,0] [2,2] [0,2]", {0}},
                                       {"[0,2,2] [2,2] [2,2]", {0}},
                                       CASES_END};
static const cases_wrong no_equations[] = {{"[2] [2,2] [2,2]", LAM_ERR_SHAPE, {0}},
                                           {"[2,3] [2,2] [2,2]", LAM_ERR_SHAPE, {0}},
                                           {"[2,2] [3,2] [2,2]", LAM_ERR_SHAPE, {0}},
                                           {"[2,2] [3,3] [3,2]", LAM_ERR_SHAPE, {0}},
                                           {"[2,2] [2,2] [2]", LAM_ERR_RANK, {0}},
                                           {"[2,2,2] [2,2] [3,2,2]", LAM_ERR_SHAPE, {0}},
                                           CASES_WRONG_END};

/* ---- the order of QR with column pivoting: LAPACK exchanges columns ---------------------------------------------- */

/* With 3 more on the diagonal, so that columns are independent where all rows are equal. */
static void call_qr_pivots(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    const lam_dims own = lam_dims_of(in[0]);
    if (own.rank < 2) out[0] = lam_qr_pivots(in[0]);
    if (own.rank < 2) return;
    lam_tensor *x = lam_mul(1.0, in[0]); /* a floating dtype */
    lam_tensor *more = lam_eye(lam_ctx_of(x), lam_dtype_of(x), own.dims[own.rank - 2], own.dims[own.rank - 1]);
    out[0] = lam_qr_pivots(lam_add(x, lam_mul(3.0, more)));
}

static long double length_of(const matrix *a, int64_t column) {
    long double sum = 0;
    for (int64_t i = 0; i < a->m; i++) sum += a->x[i][column] * a->x[i][column];
    return sqrtl(sum);
}

/* The longest of the columns from i on comes to i, and what is parallel to it is taken from the others. */
static void take_longest(matrix *a, int64_t i, int64_t order[]) {
    int64_t best = i;
    for (int64_t j = i + 1; j < a->n; j++)
        if (length_of(a, j) > length_of(a, best)) best = j;
    const int64_t moved = order[i];
    order[i] = order[best], order[best] = moved;
    for (int64_t r = 0; r < a->m; r++) {
        const long double x = a->x[r][i];
        a->x[r][i] = a->x[r][best], a->x[r][best] = x;
    }
    const long double length = length_of(a, i);
    for (int64_t j = i + 1; j < a->n; j++) {
        long double dot = 0;
        for (int64_t r = 0; r < a->m; r++) dot += a->x[r][i] * a->x[r][j] / (length * length);
        for (int64_t r = 0; r < a->m; r++) a->x[r][j] -= dot * a->x[r][i];
    }
}

static void reference_qr_pivots(const cases_use *u, const array in[], array out[]) {
    (void)u;
    int64_t order[MOST], batch = shape_like(in, out, in->dims[in->rank - 1], -1);
    array_shape(out, LAM_I32, out->rank, out->dims);
    for (int64_t b = 0; b < batch; b++) {
        matrix a = matrix_of(in, b);
        for (int64_t j = 0; j < a.n; j++) order[j] = j;
        for (int64_t j = 0; j < a.n && j < a.m; j++) a.x[j][j] += 3;
        for (int64_t i = 0; i < a.m && i < a.n; i++) take_longest(&a, i, order);
        for (int64_t j = 0; j < a.n; j++) out->data[b * a.n + j] = order[j];
    }
}

static const cases_form pivot_forms[] = {{"[3,3]", {0}},     {"[4,3]", {0}},   {"[3,4]", {0}}, {"[2,3]", {0}},
                                         {"[1,1]", {0}},     {"[3,1]", {0}},   {"[0,3]", {0}}, {"[3,0]", {0}},
                                         {"[2,1,2,3]", {0}}, {"[0,2,2]", {0}}, CASES_END};
static const cases_wrong no_pivots[] = {{"[3]", LAM_ERR_RANK, {0}}, {"[]", LAM_ERR_RANK, {0}}, CASES_WRONG_END};

const cases_row cases_equations[] = {
    {.name = "solve_sylvester",
     .call = call_solve_sylvester,
     .reference = reference_solve_sylvester,
     .forms = equations,
     .wrong = no_equations,
     .wrong_calls = {{"[2,2]", LAM_ERR_NUMERIC, call_solve_sylvester_without_solution}},
     .fill = fill_right,
     .ulps = 32,
     .normwise = true,
     .least_rank = 2},
    {.name = "qr_pivots",
     .call = call_qr_pivots,
     .reference = reference_qr_pivots,
     .forms = pivot_forms,
     .wrong = no_pivots,
     .no_gradient = true, /* a difference may pass a step */
     .least_rank = 2},
    {.name = NULL},
};
