/* Contractions and linear algebra. References are the sums of the definition and textbook elimination, in long double.
 * Matrices that are to be factored are filled so that they are far from singular and that pivoting has one right
 * choice. */
#include "tests/primitives/cases.h"

#include <math.h>
#include <string.h>

#define END                                                                                                            \
    {                                                                                                                  \
        NULL, {                                                                                                        \
            0                                                                                                          \
        }                                                                                                              \
    }

/* ---- dot_general: arg: pairs of batch axes, pairs contracted, then batch_x, contract_x, batch_y, contract_y ------ */

typedef struct paired {
    int batch, contract;
    int axes[2][CASES_ARGS]; /* of each operand: batch, then contracted */
    int free[2][ARRAY_RANK], frees[2];
} paired;

static paired paired_of(const cases_use *u, const array in[]) {
    paired p = {.batch = (int)u->arg[0], .contract = (int)u->arg[1]};
    int n = p.batch + p.contract;
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < n; i++) p.axes[side][i] = (int)u->arg[2 + side * n + i];
        for (int axis = 0; in && axis < in[side].rank; axis++) {
            bool named = false;
            for (int i = 0; i < n; i++) named = named || p.axes[side][i] == axis;
            if (!named) p.free[side][p.frees[side]++] = axis;
        }
    }
    return p;
}

static void call_dot_general(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    paired p = paired_of(u, NULL);
    out[0] = lam_dot_general(in[0], in[1],
                             &(lam_dot_general_options){.batch_x = {p.batch, p.axes[0]},
                                                        .contract_x = {p.contract, p.axes[0] + p.batch},
                                                        .batch_y = {p.batch, p.axes[1]},
                                                        .contract_y = {p.contract, p.axes[1] + p.batch}});
}

/* One element: the sum over all indices of the contracted axes, counted up like digits. */
static long double dot_element(const paired *p, const array in[], int64_t at[2][ARRAY_RANK]) {
    int64_t terms = 1;
    long double sum = 0;
    for (int i = 0; i < p->contract; i++) terms *= in[0].dims[p->axes[0][p->batch + i]];
    for (int64_t t = 0; t < terms; t++) {
        int64_t rest = t;
        for (int i = p->contract - 1; i >= 0; i--) {
            int64_t size = in[0].dims[p->axes[0][p->batch + i]];
            for (int side = 0; side < 2; side++) at[side][p->axes[side][p->batch + i]] = rest % size;
            rest /= size;
        }
        sum += in[0].data[array_position(&in[0], at[0])] * in[1].data[array_position(&in[1], at[1])];
    }
    return sum;
}

static void reference_dot_general(const cases_use *u, const array in[], array out[]) {
    paired p = paired_of(u, in);
    int64_t dims[ARRAY_RANK], index[ARRAY_RANK], at[2][ARRAY_RANK] = {{0}};
    int rank = 0;
    for (int i = 0; i < p.batch; i++) dims[rank++] = in[0].dims[p.axes[0][i]];
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < p.frees[side]; i++) dims[rank++] = in[side].dims[p.free[side][i]];
    array_shape(out, cases_promote(in[0].dtype, in[1].dtype), rank, dims);
    for (int64_t e = 0; e < out->count; e++) {
        array_index(out, e, index);
        for (int side = 0, n = p.batch; side < 2; side++) {
            for (int i = 0; i < p.batch; i++) at[side][p.axes[side][i]] = index[i];
            for (int i = 0; i < p.frees[side]; i++) at[side][p.free[side][i]] = index[n++];
        }
        out->data[e] = dot_element(&p, in, at);
    }
}

static const cases_form dot_forms[] = {
    {"[3] [3]", {0, 1, 0, 0}},
    {"[2,3] [3,4]", {0, 1, 1, 0}},
    {"[3,2] [4,3]", {0, 1, 0, 1}},
    {"[2] [3]", {0, 0}},
    {"[] []", {0, 0}},
    {"[2,3,2] [2,2,3]", {1, 1, 0, 1, 0, 2}},
    {"[2,3,4] [4,3]", {0, 2, 1, 2, 1, 0}},
    {"[3,2] [2,3]", {1, 0, 1, 0}},
    {"[2,3,2] [3,2,2]", {2, 0, 0, 1, 2, 0}},
    {"[2,3,2,2] [2,2,3]", {1, 1, 2, 1, 0, 2}},
    {"[2,0] [0,3]", {0, 1, 1, 0}},
    {"[0,2] [2,3]", {0, 1, 1, 0}},
    {"[0,2] [0,2]", {1, 1, 0, 1, 0, 1}},
    {"f32[2] f64[2]", {0, 1, 0, 0}},
    END,
};
static const cases_wrong dot_wrong[] = {
    {"[3] [2]", LAM_ERR_SHAPE, {0, 1, 0, 0}},
    {"[3] [3]", LAM_ERR_AXIS, {0, 1, 1, 0}},
    {"[3,3] [3,3]", LAM_ERR_AXIS, {1, 1, 0, 0, 0, 1}},
    {"[3,3] [3,3]", LAM_ERR_AXIS, {0, 2, 0, 0, 0, 1}},
    CASES_WRONG_END,
};

/* ---- diagonal: arg: offset, axis1, axis2 ------------------------------------------------------------------------- */

static void call_diagonal(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_diagonal(in[0], u->arg[0], (int)u->arg[1], (int)u->arg[2]);
}

static void reference_diagonal(const cases_use *u, const array in[], array out[]) {
    int64_t dims[ARRAY_RANK], index[ARRAY_RANK], from[ARRAY_RANK] = {0}, n = 0;
    int row = (int)(u->arg[1] < 0 ? u->arg[1] + in->rank : u->arg[1]),
        column = (int)(u->arg[2] < 0 ? u->arg[2] + in->rank : u->arg[2]);
    int rank = 0;
    for (int i = 0; i < in->rank; i++)
        if (i != row && i != column) dims[rank++] = in->dims[i];
    for (int64_t i = 0; i < in->dims[row]; i++) n += i + u->arg[0] >= 0 && i + u->arg[0] < in->dims[column];
    dims[rank] = n;
    array_shape(out, in->dtype, rank + 1, dims);
    for (int64_t e = 0; e < out->count; e++) {
        array_index(out, e, index);
        for (int i = 0, k = 0; i < in->rank; i++)
            if (i != row && i != column) from[i] = index[k++];
        from[row] = index[rank] + (u->arg[0] < 0 ? -u->arg[0] : 0);
        from[column] = from[row] + u->arg[0];
        out->data[e] = in->data[array_position(in, from)];
    }
}

static const cases_form diagonal_forms[] = {
    {"[3,3]", {0, 0, 1}},
    {"[3,4]", {1, 0, 1}},
    {"[3,4]", {-2, 0, 1}},
    {"[3,4]", {-1, 1, 0}},
    {"[2,3,3]", {0, -2, -1}},
    {"[3,2,3]", {0, 2, 0}},
    {"[3,3]", {3, 0, 1}},
    {"[3,3]", {-9, 0, 1}},
    {"[0,3]", {0, 0, 1}},
    {"[2,2,3,2]", {0, 1, 3}},
    END,
};
static const cases_wrong diagonal_wrong[] = {
    {"[3]", LAM_ERR_AXIS, {0, 0, 1}},
    {"[3,3]", LAM_ERR_AXIS, {0, 1, 1}},
    {"[3,3]", LAM_ERR_AXIS, {0, -3, 1}},
    CASES_WRONG_END,
};

/* ---- matrices ---------------------------------------------------------------------------------------------------- */

/* Adds to the elements (i, (i + shift) mod n) of every matrix. */
static void make_dominant(array *x, int64_t shift, long double by) {
    int64_t n = x->rank ? x->dims[x->rank - 1] : 0;
    for (int64_t e = 0; n && e < x->count; e++)
        if (e % n == (e / n + shift) % n) x->data[e] += by;
}

static void fill_definite(const cases_use *u, int i, array *x) {
    (void)u;
    if (i == 0) make_dominant(x, 0, 8);
}

static void fill_pivoting(const cases_use *u, int i, array *x) {
    (void)u;
    if (i == 0) make_dominant(x, 1, 8);
}

/* ---- cholesky ---------------------------------------------------------------------------------------------------- */

static void call_cholesky(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_cholesky(in[0]);
}

/* Row by row, of the symmetric part. */
static void reference_cholesky(const cases_use *u, const array in[], array out[]) {
    (void)u;
    int64_t n = in->dims[in->rank - 1];
    array_like(out, in);
    for (int64_t b = 0; n && b < in->count / (n * n); b++) {
        const long double *x = in->data + b * n * n;
        long double *l = out->data + b * n * n;
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = 0; k < n; k++) {
                long double sum = (x[i * n + k] + x[k * n + i]) / 2;
                for (int64_t j = 0; j < k && k <= i; j++) sum -= l[i * n + j] * l[k * n + j];
                l[i * n + k] = k > i ? 0 : k == i ? sqrtl(sum) : sum / l[k * n + k];
            }
    }
}

static const cases_form cholesky_forms[] = {
    {"[3,3]", {0}}, {"[1,1]", {0}}, {"[2,2,2]", {0}}, {"[2,1,3,3]", {0}}, {"[0,0]", {0}}, {"[0,2,2]", {0}}, END};
static const cases_wrong square_wrong[] = {
    {"[3]", LAM_ERR_SHAPE, {0}}, {"[]", LAM_ERR_SHAPE, {0}}, {"[2,3]", LAM_ERR_SHAPE, {0}}, CASES_WRONG_END};

/* ---- elimination ------------------------------------------------------------------------------------------------- */

/* Solves a x = b for m right-hand sides, b[row * row_step + column * column_step], by Gauss and Jordan with row
 * exchanges. */
static void eliminate(int64_t n, long double *a, int64_t m, long double *b, int64_t row_step, int64_t column_step) {
    for (int64_t i = 0; i < n; i++) {
        int64_t best = i;
        for (int64_t r = i; r < n; r++)
            if (fabsl(a[r * n + i]) > fabsl(a[best * n + i])) best = r;
        for (int64_t c = 0; c < n + m; c++) {
            long double *p = c < n ? &a[i * n + c] : &b[i * row_step + (c - n) * column_step];
            long double *q = c < n ? &a[best * n + c] : &b[best * row_step + (c - n) * column_step], t = *p;
            *p = *q;
            *q = t;
        }
        for (int64_t r = 0; r < n; r++) {
            long double by = r == i ? 0 : a[r * n + i] / a[i * n + i];
            for (int64_t c = 0; c < n; c++) a[r * n + c] -= by * a[i * n + c];
            for (int64_t c = 0; c < m; c++) b[r * row_step + c * column_step] -= by * b[i * row_step + c * column_step];
        }
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < m; c++) b[i * row_step + c * column_step] /= a[i * n + i];
}

/* ---- triangular_solve: arg: right_side, upper, transpose, unit_diagonal ------------------------------------------ */

static void call_triangular_solve(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_triangular_solve(
        in[0], in[1], &(lam_triangular_solve_options){u->arg[0] != 0, u->arg[1] != 0, u->arg[2] != 0, u->arg[3] != 0});
}

/* op(a) of one matrix, turned once more for the right side: x op(a) = b is op(a)^T x^T = b^T. */
static void triangle_of(const cases_use *u, int64_t n, const long double *a, long double *t) {
    bool turned = (u->arg[0] != 0) != (u->arg[2] != 0);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++) {
            bool inside = u->arg[1] ? k >= i : k <= i;
            long double x = u->arg[3] && i == k ? 1 : inside ? a[i * n + k] : 0;
            t[turned ? k * n + i : i * n + k] = x;
        }
}

/* Dims of the result and how often the operands are gone through: leading axes broadcast, where one operand lacks them
 * or has 1. */
static void solve_all(const cases_use *u, const array in[], array *out, bool right, bool triangular) {
    long double t[64];
    int64_t n = in[0].dims[in[0].rank - 1], dims[ARRAY_RANK], batch = 1, part = n;
    int vector = in[1].rank == 1, lead = in[0].rank > in[1].rank ? in[0].rank - 2 : in[1].rank - 2, rank = lead;
    for (int k = 0; k < lead; k++) {
        int a = k - (lead - (in[0].rank - 2)), b = k - (lead - (in[1].rank - 2));
        dims[k] = a >= 0 && in[0].dims[a] != 1 ? in[0].dims[a] : b >= 0 && !vector ? in[1].dims[b] : 1;
        batch *= dims[k];
    }
    for (int k = vector ? 1 : 2; k > 0; k--) dims[rank++] = in[1].dims[in[1].rank - k];
    if (!vector) part *= right ? in[1].dims[in[1].rank - 2] : in[1].dims[in[1].rank - 1];
    array_shape(out, cases_promote(in[0].dtype, in[1].dtype), rank, dims);
    for (int64_t b = 0; n && b < batch; b++) {
        const long double *a = in[0].data + (in[0].count == n * n ? 0 : b * n * n);
        long double *x = out->data + b * part;
        memcpy(x, in[1].data + (in[1].count == part ? 0 : b * part), (size_t)part * sizeof *x);
        if (triangular) triangle_of(u, n, a, t);
        else memcpy(t, a, (size_t)(n * n) * sizeof *t);
        eliminate(n, t, part / n, x, right ? 1 : part / n, right ? n : 1);
    }
}

static void reference_triangular_solve(const cases_use *u, const array in[], array out[]) {
    solve_all(u, in, out, u->arg[0] != 0, true);
}

static const cases_form triangular_forms[] = {
    {"[3,3] [3,2]", {0, 0, 0, 0}},
    {"[3,3] [3,2]", {0, 1, 0, 0}},
    {"[3,3] [3,2]", {0, 0, 1, 0}},
    {"[3,3] [3,2]", {0, 1, 1, 1}},
    {"[3,3] [2,3]", {1, 0, 0, 0}},
    {"[3,3] [2,3]", {1, 1, 0, 1}},
    {"[3,3] [2,3]", {1, 0, 1, 0}},
    {"[3,3] [2,3]", {1, 1, 1, 0}},
    {"[3,3] [3]", {0}},
    {"[3,3] [3]", {1}},
    {"[2,2,2] [2,2,3]", {0}},
    {"[2,2] [3,2,1]", {0}},
    {"[2,2,2] [2,1]", {0, 1}},
    {"[2,2,2] [1,3,2]", {1}},
    {"[0,0] [0,2]", {0}},
    {"[2,2] [2,0]", {0}},
    {"[0,2,2] [0,2,1]", {0}},
    END,
};
static const cases_wrong solve_wrong[] = {
    {"[3,2] [3,2]", LAM_ERR_SHAPE, {0}}, {"[3,3] [2,3]", LAM_ERR_SHAPE, {0}},     {"[3,3] []", LAM_ERR_SHAPE, {0}},
    {"[3] [3]", LAM_ERR_SHAPE, {0}},     {"[2,3,3] [3,3,1]", LAM_ERR_SHAPE, {0}}, CASES_WRONG_END,
};

/* ---- solve ------------------------------------------------------------------------------------------------------- */

static void call_solve(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_solve(in[0], in[1]);
}

static void reference_solve(const cases_use *u, const array in[], array out[]) {
    solve_all(u, in, out, false, false);
}

static const cases_form solve_forms[] = {
    {"[3,3] [3,2]", {0}},
    {"[3,3] [3]", {0}},
    {"[1,1] [1,1]", {0}},
    {"[2,3,3] [2,3,1]", {0}},
    {"[2,2] [3,2,2]", {0}},
    {"[2,2,2] [2,1]", {0}},
    {"[2,2,2] [1,2,2]", {0}},
    {"[0,0] [0,2]", {0}},
    {"[2,2] [2,0]", {0}},
    {"[0,2,2] [0,2,1]", {0}},
    END,
};

/* ---- tridiagonal_solve: written out as a whole matrix ------------------------------------------------------------ */

static void call_tridiagonal_solve(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_tridiagonal_solve(in[0], in[1], in[2], in[3]);
}

static void call_no_bands(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    lam_tensor *none = lam_zeros_like(in[0]);
    (void)u;
    out[0] = lam_tridiagonal_solve(none, none, none, in[3]);
}

static void call_most_axes(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    lam_tensor *wide[3];
    int64_t dims[LAM_MAX_RANK];
    (void)u;
    for (int k = 0; k < LAM_MAX_RANK; k++) dims[k] = k + 1 < LAM_MAX_RANK ? 1 : lam_size(in[0]);
    for (int i = 0; i < 3; i++) wide[i] = lam_reshape(in[i], (lam_dims){LAM_MAX_RANK, dims});
    out[0] = lam_tridiagonal_solve(wide[0], wide[1], wide[2], in[3]);
}

/* The diagonals of matrix number b, of those that there are, as a matrix. */
static void write_out(const array in[], int64_t b, long double *t) {
    int64_t n = in[1].dims[in[1].rank - 1], at = in[1].count == n ? 0 : b * n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++)
            t[i * n + k] = k + 1 == i || k == i || k == i + 1 ? in[k - i + 1].data[at + i] : 0;
}

static void reference_tridiagonal_solve(const cases_use *u, const array in[], array out[]) {
    long double t[64];
    (void)u;
    int64_t n = in[1].dims[in[1].rank - 1], batch = n ? in[1].count / n : 0;
    if (in[3].rank > 2 && in[3].dims[0] > batch) batch = in[3].dims[0];
    int64_t dims[ARRAY_RANK] = {batch}, m = in[3].rank == 1 ? 1 : in[3].dims[in[3].rank - 1];
    int rank = in[1].rank > 1 || in[3].rank > 2;
    for (int k = in[3].rank == 1 ? 1 : 2; k > 0; k--) dims[rank++] = in[3].dims[in[3].rank - k];
    array_shape(out, in[1].dtype, rank, dims);
    for (int64_t b = 0; b < batch; b++) {
        long double *x = out->data + b * n * m;
        memcpy(x, in[3].data + (in[3].count == n * m ? 0 : b * n * m), (size_t)(n * m) * sizeof *x);
        write_out(in, b, t);
        eliminate(n, t, m, x, m, 1);
    }
}

/* Below the diagonal twice as large as on it, so that rows are exchanged; still far from singular. */
static void fill_bands(const cases_use *u, int i, array *x) {
    (void)u;
    for (int64_t e = 0; i < 3 && e < x->count; e++) x->data[e] = (i == 0 ? 4 : i == 1 ? 2 : 0.125L) + x->data[e] / 16;
}

static const cases_form tridiagonal_forms[] = {
    {"[4] [4] [4] [4]", {0}},
    {"[4] [4] [4] [4,2]", {0}},
    {"[1] [1] [1] [1,1]", {0}},
    {"[2] [2] [2] [3,2,2]", {0}},
    {"[2,3] [2,3] [2,3] [2,3,1]", {0}},
    {"[2,3] [2,3] [2,3] [3]", {0}},
    {"[2,3] [2,3] [2,3] [3,2]", {0}},
    {"[0] [0] [0] [0,2]", {0}},
    {"[2] [2] [2] [2,0]", {0}},
    {"[0,2] [0,2] [0,2] [0,2,1]", {0}},
    END,
};
static const cases_wrong tridiagonal_wrong[] = {
    {"[3] [2] [3] [3]", LAM_ERR_SHAPE, {0}},           {"[3] [3] [3] [2]", LAM_ERR_SHAPE, {0}},
    {"[3] [3] [1,3] [3]", LAM_ERR_SHAPE, {0}},         {"[] [] [] []", LAM_ERR_SHAPE, {0}},
    {"[2,3] [2,3] [2,3] [3,3,1]", LAM_ERR_SHAPE, {0}}, CASES_WRONG_END,
};

/* ---- lu: the factors; pivots and permutation are in tests/primitives/linalg.c ------------------------------------ */

static void call_lu(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    lam_tensor *pivots, *permutation;
    (void)u;
    lam_lu(in[0], &out[0], &pivots, &permutation);
}

/* Doolittle's scheme, the largest element of the column first, until rows or columns end. */
static void reference_lu(const cases_use *u, const array in[], array out[]) {
    (void)u;
    int64_t m = in->dims[in->rank - 2], n = in->dims[in->rank - 1];
    array_like(out, in);
    memcpy(out->data, in->data, (size_t)in->count * sizeof in->data[0]);
    for (int64_t b = 0; b < in->count && b < in->count / (m * n); b++)
        for (int64_t i = 0; i < m && i < n; i++) {
            long double *x = out->data + b * m * n;
            int64_t best = i;
            for (int64_t r = i; r < m; r++)
                if (fabsl(x[r * n + i]) > fabsl(x[best * n + i])) best = r;
            for (int64_t c = 0; c < n; c++) {
                long double t = x[i * n + c];
                x[i * n + c] = x[best * n + c];
                x[best * n + c] = t;
            }
            for (int64_t r = i + 1; r < m; r++) {
                x[r * n + i] /= x[i * n + i];
                for (int64_t c = i + 1; c < n; c++) x[r * n + c] -= x[r * n + i] * x[i * n + c];
            }
        }
}

/* In as many rows as there are pivots, beside the diagonal of their square. */
static void fill_lu(const cases_use *u, int i, array *x) {
    (void)u;
    const int64_t m = x->rank > 1 ? x->dims[x->rank - 2] : 0, n = x->rank > 1 ? x->dims[x->rank - 1] : 0;
    const int64_t k = m < n ? m : n;
    for (int64_t e = 0; i == 0 && k && e < x->count; e++)
        if (e / n % m < k && e % n == (e / n % m + 1) % k) x->data[e] += 8;
}

static const cases_form lu_forms[] = {{"[3,3]", {0}},   {"[1,1]", {0}},
                                      {"[2,2,2]", {0}}, {"[2,1,3,3]", {0}},
                                      {"[4,2]", {0}},   {"[2,4]", {0}},
                                      {"[2,5,3]", {0}}, {"[3,1]", {0}},
                                      {"[2,1,3]", {0}}, {"[0,0]", {0}},
                                      {"[0,3,2]", {0}}, {"[0,2]", {0}},
                                      {"[2,0]", {0}},   END};
static const cases_wrong lu_wrong[] = {{"[3]", LAM_ERR_RANK, {0}}, {"[]", LAM_ERR_RANK, {0}}, CASES_WRONG_END};

#define LINALG(op, list, bad, filler)                                                                                  \
    .name = #op, .call = call_##op, .reference = reference_##op, .forms = list##_forms, .wrong = bad##_wrong,          \
    .fill = filler, .ulps = 32, .normwise = true

const cases_row cases_linalg[] = {
    {LINALG(dot_general, dot, dot, NULL), .dtypes = CASES_NUMBERS},
    {LINALG(diagonal, diagonal, diagonal, NULL), .dtypes = CASES_ALL, .least_rank = 2},
    {LINALG(cholesky, cholesky, square, fill_definite),
     .wrong_calls = {{"[2,2]", LAM_ERR_NUMERIC, cases_call_negative}}, .least_rank = 2},
    {LINALG(triangular_solve, triangular, solve, fill_definite), .least_rank = 2},
    {LINALG(lu, lu, lu, fill_lu), .least_rank = 2},
    {LINALG(solve, solve, solve, fill_pivoting), .wrong_calls = {{"[2,2] [2]", LAM_ERR_NUMERIC, cases_call_zeros}},
     .least_rank = 2},
    {LINALG(tridiagonal_solve, tridiagonal, tridiagonal, fill_bands),
     .wrong_calls = {{"[2] [2] [2] [2]", LAM_ERR_NUMERIC, call_no_bands},
                     {"[2] [2] [2] [2]", LAM_ERR_RANK, call_most_axes}},
     .least_rank = 1},
    {.name = NULL},
};
