/* Matrix products in parts: along the batch where that gives enough of them, else rows too. Large products are cut into
 * as few parts as there are threads, since each part has CBLAS pack all of y. Long sums of few results are cut
 * themselves. */
#include "lib/kernels/item.h"
#include "lib/parallel/parallel.h"

/* The plan, and how each of its products is cut: into `groups` parts of about equal numbers of units. */
typedef struct sharing {
    const lam__matmul *plan;
    int64_t groups, units; /* parts of each product; units of plan->rows rows in it */
    char *room;
} sharing;

/* Where group g of a product begins: at a multiple of plan->rows, where the plan lets rows be cut. */
static int64_t row_of(const sharing *s, int64_t g) {
    return g == s->groups ? s->plan->product.m : g * s->units / s->groups * s->plan->rows;
}

/* Items are products of the batch, or where these are cut, their parts one product after the other. */
static void multiply_part(void *env, int64_t begin, int64_t end, int worker) {
    const sharing *s = env;
    char *room = s->room ? s->room + (size_t)worker * s->plan->room : NULL;
    if (s->groups == 1) {
        lam__kernels_matmul_part(s->plan, begin, end, 0, s->plan->product.m, room);
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        const int64_t b = i / s->groups, g = i % s->groups;
        lam__kernels_matmul_part(s->plan, b, b + 1, row_of(s, g), row_of(s, g + 1), room);
    }
}

/* NOTE [long sums in parts]
 * One product whose result has few elements and no rows to cut at, such as transpose(x) x of tall x, is a sum of
 * products of parts, whose number follows from the sizes alone: the bits do not depend on the number of threads. */
typedef struct long_sum {
    const lam__matmul *plan;
    int64_t parts, results;
    char *partial, *room; /* [parts, results]; scratch for each worker */
} long_sum;

/* 1: it is no such product, or not long enough. */
static int64_t parts_of_sum(const lam__matmul *w) {
    enum { RESULTS = 4096, PARTS = 64, WORTH = 1 << 22, READ = 4 };
    const lam__product *p = &w->product;
    const bool floats = w->dtype == LAM_F64 || w->dtype == LAM_F32 || w->dtype == LAM_C128 || w->dtype == LAM_C64;
    const bool few = p->m <= RESULTS && p->n <= RESULTS && p->m * p->n <= RESULTS;
    if (!floats || !few || p->batch != 1 || (w->rows > 0 && p->m >= 2 * w->rows)) return 1;
    const double work = (double)p->k * (double)(p->m * p->n + READ * (p->m + p->n)), parts = work / WORTH;
    return parts < 2 ? 1 : parts < PARTS ? (int64_t)parts : PARTS;
}

/* The last part has what is left of the sum. */
static void sum_part(void *env, int64_t begin, int64_t end, int worker) {
    const long_sum *s = env;
    const int64_t item = lam__item_bytes(s->plan->dtype), k = s->plan->product.k;
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = k / s->parts * i, last = i == s->parts - 1 ? k : first + k / s->parts;
        lam__matmul part = *s->plan;
        lam__product *p = &part.product;
        p->x = (const char *)p->x + first * p->x_col * item;
        p->y = (const char *)p->y + first * p->y_row * item;
        p->k = last - first;
        p->out = s->partial + i * s->results * item;
        lam__kernels_matmul_part(&part, 0, 1, 0, p->m, s->room ? s->room + (size_t)worker * part.room : NULL);
    }
}

/* Parts are added by the kernel of sums, in an order that does not depend on threads either. */
static bool add_parts(lam__team *team, const lam__matmul *w, int64_t parts, double cost, lam__scratch *scratch,
                      void *env) {
    long_sum s = {.plan = w, .parts = parts, .results = w->product.m * w->product.n};
    const size_t bytes = ((size_t)(parts * s.results * lam__item_bytes(w->dtype)) + 63) & ~(size_t)63;
    if (!lam__team_shares(team, cost)) team = NULL;
    s.partial = scratch(env, bytes + w->room * (size_t)lam__team_size(team));
    if (!s.partial) return false;
    if (w->room) s.room = s.partial + bytes;
    lam__team_run(team, parts, cost / (double)parts, sum_part, &s);
    const int64_t dims[2] = {parts, s.results}, strides[2] = {s.results, 1};
    const bool reduced[2] = {true, false};
    lam__kernels_reduce(LAM__REDUCE_SUM, w->dtype, 2, dims, reduced, s.partial, strides, w->product.out);
    return true;
}

/* In units of a team: eight products in half a nanosecond. */
static double cost_of(const lam__product *p) {
    return (double)p->m * (double)p->k * (double)p->n / 8 + 20;
}

bool lam__parallel_matmul_alone(lam__team *team, lam_dtype dtype, const lam__product *product, lam__matmul *w) {
    if (!product->k || !lam__kernels_matmul_plan(dtype, product, w)) return false;
    return !w->room && parts_of_sum(w) == 1 && !lam__team_shares(team, cost_of(&w->product) * (double)w->product.batch);
}

/* Without a plan there is nothing to be done: no results, or sums of nothing that have been written. Rows are shared
 * where there are fewer products than threads. */
bool lam__parallel_matmul(lam__team *team, lam_dtype dtype, const lam__product *product, lam__scratch *scratch,
                          void *env) {
    lam__matmul w;
    if (!lam__kernels_matmul_plan(dtype, product, &w)) return true;
    const lam__product *p = &w.product;
    const double each = cost_of(p);
    const int64_t parts = parts_of_sum(&w);
    if (parts > 1) return add_parts(team, &w, parts, each, scratch, env);
    const int64_t threads = lam__team_shares(team, each * (double)p->batch) ? lam__team_size(team) : 1;
    sharing s = {.plan = &w, .groups = 1, .units = w.rows ? p->m / w.rows : 1};
    if (p->batch < threads) s.groups = s.units < threads ? s.units : threads;
    if (s.groups < 1) s.groups = 1;
    /* A room for each thread that works, in one block. */
    s.room = w.room ? scratch(env, w.room * (size_t)threads) : NULL;
    if (w.room && !s.room) return false;
    lam__team_run(threads > 1 ? team : NULL, p->batch * s.groups, each / (double)s.groups, multiply_part, &s);
    return true;
}
