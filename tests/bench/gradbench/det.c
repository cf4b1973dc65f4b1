/* det: determinants of m matrices by minors, and their gradients. The minor of the first r rows and a set S of r
 * columns is the sum over c in S of +- a[r - 1][c] times that of S without c: each is computed once, as all forms here
 * do, not once for every path that leads to it. Numerically a bad way; as a benchmark, many small products. */
#include "tests/bench/gradbench/gradbench.h"

#include <string.h>

enum { MOST = 12, MINORS = 1 << 15 };

typedef struct det {
    int64_t n, matrices;
    const double *a;                  /* [matrices, n, n] */
    double *minor, *slope;            /* of the C form: by set of columns */
    int64_t sets[MOST + 1];           /* with r columns */
    int64_t *smaller[MOST + 1];       /* [sets[r], r]: place of the set without a column among those of r - 1 */
    int64_t *signed_column[MOST + 1]; /* [sets[r], r], n more where the sign is - */
} det;

static int columns_in(int64_t set) {
    int count = 0;
    for (; set; set &= set - 1) count++;
    return count;
}

static void tabulate(gradbench_store *store, det *p) {
    int64_t all = (int64_t)1 << p->n, *place = gradbench_take(store, (size_t)all * sizeof *place);
    for (int64_t set = 0; set < all; set++) place[set] = p->sets[columns_in(set)]++;
    for (int64_t r = 1; r <= p->n; r++) {
        size_t entries = (size_t)(p->sets[r] * r);
        p->smaller[r] = gradbench_take(store, entries * sizeof(int64_t));
        p->signed_column[r] = gradbench_take(store, entries * sizeof(int64_t));
    }
    for (int64_t set = 1; set < all; set++) {
        int64_t r = columns_in(set), at = place[set] * r;
        bool negative = !(r & 1); /* the first column when the last row is expanded */
        for (int64_t c = 0; c < p->n; c++)
            if (set >> c & 1) {
                p->smaller[r][at] = place[set & ~((int64_t)1 << c)];
                p->signed_column[r][at++] = negative ? p->n + c : c;
                negative = !negative;
            }
    }
}

static void *make(gradbench_store *store, const gradbench_size *size, int64_t *values, int64_t *derivatives) {
    det *p = gradbench_take(store, sizeof *p);
    *p = (det){.n = size->n[0], .matrices = size->n[1]};
    p->a = gradbench_normal(store, p->matrices * p->n * p->n);
    tabulate(store, p);
    p->minor = gradbench_doubles(store, (int64_t)1 << p->n);
    p->slope = gradbench_doubles(store, (int64_t)1 << p->n);
    *values = p->matrices;
    *derivatives = p->matrices * p->n * p->n;
    return p;
}

/* ---- in C -------------------------------------------------------------------------------------------------------- */

/* All minors, by the bits of their columns. */
static void minors(const det *p, const double *a) {
    p->minor[0] = 1;
    for (int64_t set = 1; set < (int64_t)1 << p->n; set++) {
        int r = columns_in(set);
        double sum = 0, sign = r & 1 ? 1 : -1;
        for (int64_t left = set; left; left &= left - 1, sign = -sign)
            sum +=
                sign * a[(r - 1) * p->n + __builtin_ctzll((unsigned long long)left)] * p->minor[set & ~(left & -left)];
        p->minor[set] = sum;
    }
}

static void objective_c(const void *data, double *out) {
    const det *p = data;
    for (int64_t m = 0; m < p->matrices; m++) {
        minors(p, p->a + m * p->n * p->n);
        out[m] = p->minor[((int64_t)1 << p->n) - 1];
    }
}

static void back(const det *p, const double *a, double *ga) {
    int64_t all = (int64_t)1 << p->n;
    memset(p->slope, 0, (size_t)all * sizeof *p->slope);
    memset(ga, 0, (size_t)(p->n * p->n) * sizeof *ga);
    p->slope[all - 1] = 1;
    for (int64_t set = all - 1; set; set--) {
        int r = columns_in(set);
        double g = r & 1 ? p->slope[set] : -p->slope[set];
        for (int64_t left = set; left; left &= left - 1, g = -g) {
            int64_t entry = (r - 1) * p->n + __builtin_ctzll((unsigned long long)left), rest = set & ~(left & -left);
            ga[entry] += g * p->minor[rest];
            p->slope[rest] += g * a[entry];
        }
    }
}

static void derivative_c(const void *data, double *out) {
    const det *p = data;
    for (int64_t m = 0; m < p->matrices; m++) {
        int64_t at = m * p->n * p->n;
        minors(p, p->a + at);
        back(p, p->a + at, out + at);
    }
}

/* ---- in Lamina --------------------------------------------------------------------------------------------------- */

/* Matrices [some, n, n] -> determinants [some]. Row by row, all sets of columns of one size at once, and the matrices
 * side by side in the last axis, so that what is taken are runs. Below each row lies its negative: signs are places. */
static lam_tensor *determinants(const det *p, lam_tensor *a) {
    lam_ctx *ctx = lam_ctx_of(a);
    lam_tensor *rows[MOST], *all = lam_ones(ctx, LAM_F64, LAM_DIMS(1, lam_dim(a, 0)));
    lam_tensor *turned = lam_contiguous(lam_transpose(a, LAM_AXES(1, 2, 0)));
    lam_unstack(lam_concatenate(LAM_LIST(turned, lam_neg(turned)), 1), 0, rows, (size_t)p->n);
    for (int64_t r = 1; r <= p->n; r++) {
        lam_scope *scope = lam_scope_begin(ctx);
        lam_dims dims = LAM_DIMS(p->sets[r], r);
        lam_tensor *smaller = lam_take(all, lam_borrow(ctx, LAM_I64, dims, p->smaller[r], NULL), 0);
        lam_tensor *entries = lam_take(rows[r - 1], lam_borrow(ctx, LAM_I64, dims, p->signed_column[r], NULL), 0);
        all = lam_sum(lam_mul(entries, smaller), &(lam_reduce_options){.axes = LAM_AXES(1)});
        lam_scope_end(scope, &all, 1);
    }
    return lam_index(all, 0, 0);
}

static void body_values(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    out[0] = determinants(env, in[0]);
}

/* Each matrix has a term of its own, so the gradient of the sum is all gradients. */
static void body_total(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    out[0] = lam_sum(determinants(env, in[0]), NULL);
}

/* A function of some matrices for all of them, as many at a time as the caches hold minors of. */
static lam_tensor *in_chunks(lam_fn *f, lam_tensor *a, int64_t chunk) {
    enum { ROOM = 256 };
    lam_tensor *part[ROOM];
    int64_t all = lam_dim(a, 0), count = 0;
    if (chunk * ROOM < all) chunk = (all + ROOM - 1) / ROOM;
    for (int64_t first = 0; first < all; first += chunk) {
        lam_scope *scope = lam_scope_begin(lam_ctx_of(a));
        int64_t end = first + chunk < all ? first + chunk : all;
        part[count] = lam_apply(f, LAM_LIST(lam_slice_axis(a, 0, first, end)));
        lam_scope_end(scope, &part[count++], 1);
    }
    return lam_concatenate((lam_list){(size_t)count, part}, 0);
}

static void body_chunks(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *f = env;
    int64_t n = lam_dim(in[0], 1);
    (void)ctx;
    out[0] = in_chunks(f, in[0], n < MOST ? MINORS >> n : 1);
}

static void lamina(void *data, gradbench_lamina *l) {
    const det *p = data;
    gradbench_input(l, LAM_DIMS(p->matrices, p->n, p->n), p->a);
    lam_fn *values = gradbench_fn(l, "determinants", body_values, 1, 1, data);
    lam_fn *slopes = lam_grad(gradbench_fn(l, "total", body_total, 1, 1, data), NULL);
    l->objective = l->compiled ? values : gradbench_fn(l, "values", body_chunks, 1, 1, values);
    l->derivative = l->compiled ? slopes : gradbench_fn(l, "slopes", body_chunks, 1, 1, slopes);
}

static const gradbench_size sizes[] = {
    {"n5 x64", CHECKED, {5, 64}},   {"n8 x1", USUAL, {8, 1}},       {"n4 x10000", USUAL, {4, 10000}},
    {"n6 x1000", USUAL, {6, 1000}}, {"n10 x100", USUAL, {10, 100}}, {NULL, USUAL, {0}},
};

const gradbench_problem gradbench_det = {
    .name = "det",
    .derivative = "gradient",
    .sizes = sizes,
    .make = make,
    .objective_c = objective_c,
    .derivative_c = derivative_c,
    .lamina = lamina,
};
