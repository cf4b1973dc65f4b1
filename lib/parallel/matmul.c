/* Matrix products in parts: along the batch where that gives enough of them, else rows too. Large products are cut into
 * as few parts as there are threads, since each part has CBLAS pack all of y. */
#include "lib/parallel/parallel.h"

/* The plan, and how each of its products is cut: into `groups` parts of about equal numbers of units. */
typedef struct sharing {
    const lam__matmul *plan;
    int64_t groups, units; /* parts of each product; units of plan->rows rows in it */
    char *room;
} sharing;

/* Where group g of a product begins. */
static int64_t row_of(const sharing *s, int64_t g) {
    return g == s->groups ? s->plan->product.m : g * s->units / s->groups * s->plan->rows;
}

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

bool lam__parallel_matmul(lam__team *team, lam_dtype dtype, const lam__product *product, lam__scratch *scratch,
                          void *env) {
    lam__matmul w;
    if (!lam__kernels_matmul_plan(dtype, product, &w)) return true;
    const lam__product *p = &w.product;
    const double each = (double)p->m * (double)p->k * (double)p->n / 8 + 20; /* units: eight products in half a ns */
    const int64_t threads = lam__team_shares(team, each * (double)p->batch) ? lam__team_size(team) : 1;
    sharing s = {.plan = &w, .groups = 1, .units = w.rows ? p->m / w.rows : 1};
    if (p->batch < threads) s.groups = s.units < threads ? s.units : threads;
    if (s.groups < 1) s.groups = 1;
    s.room = w.room ? scratch(env, w.room * (size_t)threads) : NULL;
    if (w.room && !s.room) return false;
    lam__team_run(threads > 1 ? team : NULL, p->batch * s.groups, each / (double)s.groups, multiply_part, &s);
    return true;
}
