/* Equations of two matrices, a x + x b = c. Reference: the whole linear system of m n unknowns. */
#include "tests/primitives/cases.h"

#include "tests/primitives/cases_matrix.h"

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
    {.name = NULL},
};
