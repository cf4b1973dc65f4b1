/* Sparsity: each entry of a Jacobian or Hessian that is not zero, at the operands and at other ones, is among those
 * that lam_jacobian_sparsity and lam_hessian_sparsity name there, and lam_sparse_jacobian and lam_sparse_hessian give
 * these entries as they are in the whole matrix. */
#include "tests/primitives/probe.h"
#include "tests/primitives/properties.h"

#include <math.h>

/* One output of the call, by one of its operands. */
typedef struct subject {
    const probe *p;
    int output;
} subject;

static void body_output(lam_ctx *here, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const subject *s = env;
    lam_tensor *all[CASES_OUTPUTS];
    (void)here;
    lam_call(s->p->f, (lam_list){(size_t)s->p->inputs, in}, all, (size_t)s->p->outputs);
    out[0] = all[s->output];
}

/* The sum of the same output with weights, which makes it a scalar. */
static void body_weighted(lam_ctx *here, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *y;
    body_output(here, in, &y, env);
    lam_tensor *weights = lam_iota(here, lam_dtype_of(y), LAM_DIMS(lam_size(y)), 0);
    out[0] = lam_sum(lam_mul(lam_add(weights, 0.7), lam_reshape(y, LAM_DIMS(lam_size(y)))), NULL);
}

/* Jacobians, or Hessians: what is compared. */
typedef struct order {
    lam_body body;
    lam_fn *(*whole)(lam_fn *f, const lam_jacobian_options *options);
    lam_tensor *(*sparsity)(lam_fn *f, lam_list examples, const lam_sparse_options *options);
    lam_fn *(*sparse)(lam_fn *f, lam_tensor *sparsity, const lam_sparse_options *options);
    int number;
} order;

static const order orders[] = {
    {body_output, lam_jacrev, lam_jacobian_sparsity, lam_sparse_jacobian, 1},
    {body_weighted, lam_hessian, lam_hessian_sparsity, lam_sparse_hessian, 2},
};

enum { ENTRIES = ARRAY_ELEMENTS * 64 };

/* The whole matrix of f at x, by operand i, row-major. Gives how many entries that are. */
static int64_t whole(const probe *p, const order *by, lam_fn *f, int i, lam_tensor *const x[], double j[ENTRIES]) {
    lam_tensor *full =
        lam_apply(by->whole(f, &(lam_jacobian_options){.argnums = {1, &i}}), (lam_list){(size_t)p->inputs, x});
    const int64_t n = lam_size(full);
    PROBE_CHECK(p, n <= ENTRIES && lam_read(lam_cast(full, LAM_F64), j, (size_t)n * sizeof *j) == LAM_OK,
                "no matrix of order %d by operand %d", by->number, i);
    return n;
}

/* at: where in the whole Jacobian the entries are. named: for each entry there, whether it is one of them. Rows ascend,
 * and columns in them, so none is named twice. */
static int64_t name_entries(const probe *p, lam_tensor *sparsity, int64_t columns, int64_t n, bool named[ENTRIES],
                            int64_t at[ENTRIES]) {
    static int64_t pairs[2 * ENTRIES];
    const int64_t count = lam_failed(sparsity) ? ENTRIES + 1 : lam_dim(sparsity, 0);
    PROBE_CHECK(p, count <= n && lam_read(sparsity, pairs, (size_t)(2 * count) * sizeof *pairs) == LAM_OK,
                "no sparsity");
    for (int64_t k = 0; k < n; k++) named[k] = false;
    for (int64_t k = 0; k < count; k++) {
        at[k] = pairs[2 * k] * columns + pairs[2 * k + 1];
        PROBE_CHECK(p, pairs[2 * k + 1] >= 0 && pairs[2 * k + 1] < columns && at[k] < n, "entry %d is outside", (int)k);
        PROBE_CHECK(p, at[k] >= 0 && (k == 0 || at[k] > at[k - 1]), "entry %d is not in its order", (int)k);
        named[at[k]] = true;
    }
    return count;
}

static void check_named(const probe *p, const char *where, int64_t n, const double j[], const bool named[]) {
    for (int64_t k = 0; k < n; k++)
        PROBE_CHECK(p, named[k] || j[k] == 0, "%s: entry %d of the Jacobian is %g, and is not named", where, (int)k,
                    j[k]);
}

/* Forward and reverse mode round differently, and gaps between eigenvalues, or what is nearly zero beside a diagonal,
 * make more of that with each order (434 epsilons of a Hessenberg form in f32); 1024 are what the modes may differ by
 * in properties_derivative.c too. */
static void check_entries(const probe *p, int number, lam_tensor *entries, int64_t count, const double j[],
                          const int64_t at[]) {
    static double got[ENTRIES];
    const double epsilons = number == 1 ? 256 : 1024;
    double most = 1e-3;
    PROBE_CHECK(p, lam_size(entries) == count, "there are %d entries", (int)lam_size(entries));
    PROBE_CHECK(p, lam_read(lam_cast(entries, LAM_F64), got, (size_t)count * sizeof *got) == LAM_OK, "no entries");
    for (int64_t k = 0; k < count; k++) most = fmax(most, fabs(j[at[k]]));
    for (int64_t k = 0; k < count; k++)
        PROBE_CHECK(p, fabs(got[k] - j[at[k]]) <= epsilons * p->epsilon * most || (isnan(got[k]) && isnan(j[at[k]])),
                    "entry %d is %.17g, in the whole Jacobian %.17g", (int)k, got[k], j[at[k]]);
}

/* The same operands, but for those that are floating. */
static void take_others(const probe *p, lam_tensor *others[]) {
    static array x;
    for (int i = 0; i < p->inputs; i++) {
        x = p->in[i];
        if (p->floating[i]) probe_fill(p, i, 16, &x);
        others[i] = p->floating[i] ? array_tensor(ctx, &x, PLAIN) : p->x[i];
    }
}

static void check_by(const probe *p, const order *by, int output, int i) {
    static double j[ENTRIES];
    static bool named[ENTRIES];
    static int64_t at[ENTRIES];
    subject s = {p, output};
    lam_tensor *others[CASES_OPERANDS];
    const lam_sparse_options options = {.argnum = i};
    const lam_list in = {(size_t)p->inputs, p->x};
    lam_fn *f = lam_fn_new(
        ctx, &(lam_fn_options){.name = "output", .body = by->body, .env = &s, .inputs = p->inputs, .outputs = 1});
    lam_tensor *sparsity = by->sparsity(f, in, &options);
    int64_t n = whole(p, by, f, i, p->x, j);
    const int64_t count = name_entries(p, sparsity, p->in[i].count, n, named, at);
    check_named(p, "here", n, j, named);
    check_entries(p, by->number, lam_apply(by->sparse(f, sparsity, &options), in), count, j, at);
    take_others(p, others);
    n = whole(p, by, f, i, others, j);
    check_named(p, "elsewhere", n, j, named);
}

/* What is complex has no sparsity; there is nothing to look at beyond that it is refused. */
static void check_refused(const probe *p, int i) {
    const lam_sparse_options by = {.argnum = i};
    lam_fn *f = p->f;
    lam_tensor *sparsity = lam_jacobian_sparsity(f, (lam_list){(size_t)p->inputs, p->x}, &by);
    PROBE_CHECK(p, lam_failed(sparsity), "a complex function has a sparsity");
    lam_clear_error(ctx);
}

static bool is_complex(lam_dtype dtype) {
    return dtype == LAM_C128 || dtype == LAM_C64;
}

static void visit_sparsity(probe *p) {
    for (int i = 0; i < p->inputs; i++)
        for (int o = 0; o < p->outputs && p->floating[i]; o++)
            if (is_complex(p->in[i].dtype) || is_complex(p->out[o].dtype)) check_refused(p, i);
            else
                for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) check_by(p, &orders[k], o, i);
}

int property_sparsity(const cases_row *row) {
    return probe_each(row, PLAIN, visit_sparsity);
}
