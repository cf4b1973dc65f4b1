/* Convolutions in the items of their plans, phase by phase where the operand is dilated; before each the weights are
 * packed, once for all threads. */
#include "lib/parallel/conv.h"

#include "lib/kernels/item.h"

typedef struct sharing {
    const lam__conv *plan;
    char *rooms;
} sharing;

static void pack_part(void *env, int64_t begin, int64_t end, int worker) {
    (void)worker;
    lam__conv_pack(((const sharing *)env)->plan, begin, end);
}

static void run_part(void *env, int64_t begin, int64_t end, int worker) {
    const sharing *s = env;
    lam__conv_run(s->plan, begin, end, s->rooms + (size_t)worker * s->plan->room);
}

/* Elements of the result, and products that each is the sum of. */
static void sizes(const lam__conv_case *s, double *results, double *products) {
    *results = (double)s->groups * (double)s->n * (double)s->o;
    *products = (double)s->c;
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        *results *= (double)s->axis[i].out;
        *products *= (double)s->axis[i].window;
    }
}

/* One phase; `room` has room for all. */
static void run_phase(lam__team *team, lam__conv *plan, char *room, int threads) {
    sharing s = {plan, room + plan->packed_bytes};
    plan->packed = room;
    const double each = (double)plan->packed_bytes / (double)plan->packs / 4;
    lam__team_run(threads > 1 ? team : NULL, plan->packs, each, pack_part, &s);
    lam__team_run(threads > 1 ? team : NULL, plan->items, plan->cost, run_part, &s);
}

/* Phase i of s; false: nothing is to be done. */
static bool plan_phase(lam_dtype dtype, const lam__conv_case *s, int64_t i, int threads, const void *x, const void *w,
                       void *out, lam__conv *plan, bool *meets) {
    const int64_t item = lam__item_bytes(dtype);
    lam__conv_case phase;
    int64_t w_first, out_first;
    *meets = lam__conv_phase(s, i, &phase, &w_first, &out_first);
    return *meets && lam__conv_plan(lam__conv_loops_of(dtype), dtype, &phase, threads, x,
                                    (const char *)w + w_first * item, (char *)out + out_first * item, plan);
}

bool lam__parallel_conv(lam__team *team, lam_dtype dtype, const lam__conv_case *s, const void *x, const void *w,
                        void *out, lam__scratch *scratch, void *env) {
    static const uint64_t zero;
    double results, products;
    size_t most = 0;
    lam__conv plan;
    sizes(s, &results, &products);
    const int threads = lam__team_shares(team, results * products / 8) ? lam__team_size(team) : 1;
    const int64_t phases = products > 0 && results > 0 ? lam__conv_phases(s) : 0;
    bool all = phases > 0, meets;
    for (int64_t i = 0; i < phases; i++, all = all && meets)
        if (plan_phase(dtype, s, i, threads, x, w, out, &plan, &meets)) {
            const size_t bytes = plan.packed_bytes + plan.room * (size_t)threads;
            if (bytes > most) most = bytes;
        }
    if (!all) lam__parallel_fill(team, dtype, out, (int64_t)results, &zero);
    if (most == 0) return true;
    char *room = scratch(env, most);
    for (int64_t i = 0; i < phases && room; i++)
        if (plan_phase(dtype, s, i, threads, x, w, out, &plan, &meets)) run_phase(team, &plan, room, threads);
    return room != NULL;
}
