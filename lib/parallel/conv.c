/* Convolutions in the items of their plans, phase by phase where the operand is dilated; before each the weights are
 * packed, once for all threads. */
#include "lib/parallel/conv.h"

#include "lib/kernels/conv/gather.h"
#include "lib/kernels/item.h"

/* One phase. Each worker has a room of plan->room bytes, `rooms` and so many bytes on for each. The plan is read only
 * while items run. */
typedef struct sharing {
    const lam__conv *plan;
    char *rooms;
} sharing;

/* Weights are packed before any item is run: lam__team_run returns when all pieces are done. */
static void pack_part(void *env, int64_t begin, int64_t end, int worker) {
    (void)worker;
    lam__conv_pack(((const sharing *)env)->plan, begin, end);
}

static void run_part(void *env, int64_t begin, int64_t end, int worker) {
    const sharing *s = env;
    lam__conv_run(s->plan, begin, end, s->rooms + (size_t)worker * s->plan->room);
}

/* Elements of the result, and products that each is the sum of. As doubles, since products of sizes may not fit an
 * integer. */
static void sizes(const lam__conv_case *s, double *results, double *products) {
    *results = (double)s->groups * (double)s->n * (double)s->o;
    *products = (double)s->c;
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        *results *= (double)s->axis[i].out;
        *products *= (double)s->axis[i].window;
    }
}

/* One phase; `room` has room for all. The packed weights come first, then a room for each worker; both are multiples of
 * 64 bytes, so workers share no line. */
static void run_phase(lam__team *team, lam__conv *plan, char *room, int threads) {
    sharing s = {plan, room + plan->packed_bytes};
    plan->packed = room;
    const double each = (double)plan->packed_bytes / (double)plan->packs / 4;
    lam__team_run(threads > 1 ? team : NULL, plan->packs, each, pack_part, &s);
    lam__team_run(threads > 1 ? team : NULL, plan->items, plan->cost, run_part, &s);
}

/* Phase i of s; false: nothing is to be done. `meets` tells a phase that is zero everywhere from one that has no
 * elements. */
static bool plan_phase(lam_dtype dtype, const lam__conv_case *s, int64_t i, int threads, const void *x, const void *w,
                       void *out, lam__conv *plan, bool *meets) {
    const int64_t item = lam__item_bytes(dtype);
    lam__conv_case phase;
    int64_t w_first, out_first;
    *meets = lam__conv_phase(s, i, &phase, &w_first, &out_first);
    return *meets && lam__conv_plan(lam__conv_loops_of(dtype), dtype, &phase, threads, x,
                                    (const char *)w + w_first * item, (char *)out + out_first * item, plan);
}

/* NOTE [convolutions that are products]
 * Where the window has one element, places are columns of a matrix whose rows are c; where there is one place, which
 * meets all of x, the window is part of the sum. Both are products of matrices as they lie, if axes join in memory, and
 * are done as such. */

/* The step of axes [first, end) taken as one, which has `count` elements; 0: they do not join. */
static int64_t joined(const int64_t dims[], const int64_t step[], int first, int end, int64_t *count) {
    int64_t each = 0;
    *count = 1;
    for (int i = end - 1; i >= first; i--) {
        if (dims[i] == 1) continue;
        if (*count > 1 && step[i] != each * *count) return 0;
        if (*count == 1) each = step[i];
        *count *= dims[i];
    }
    return *count == 1 ? 1 : each;
}

/* out[g, n, o, places] = w[g, o, c] x[g, n, c, places] */
static bool by_places(const lam__conv_case *s, const void *x, const void *w, lam__product *p) {
    int64_t dims[LAM__CONV_AXES], places;
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const lam__conv_axis *a = &s->axis[i];
        if (a->window != 1 || a->gap != 1 || a->low || a->stride != 1 || a->out != a->size) return false;
        dims[i] = a->out;
    }
    const int64_t step = joined(dims, s->x_step + 3, 0, LAM__CONV_AXES, &places);
    const int side = s->n == 1 ? 0 : 1; /* the batch is of groups or of n */
    *p = (lam__product){.batch = side ? s->n : s->groups,
                        .m = s->o,
                        .k = s->c,
                        .n = places,
                        .x = w,
                        .x_batch = side ? 0 : s->w_step[0],
                        .x_row = s->w_step[1],
                        .x_col = s->w_step[2],
                        .y = x,
                        .y_batch = s->x_step[side],
                        .y_row = s->x_step[2],
                        .y_col = step};
    return step != 0 && (s->n == 1 || s->groups == 1);
}

/* out[g, n, o] = x[g, n, c and the window] w[g, o, c and the window] */
static bool by_windows(const lam__conv_case *s, const void *x, const void *w, lam__product *p) {
    int64_t dims[1 + LAM__CONV_AXES] = {s->c}, terms;
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const lam__conv_axis *a = &s->axis[i];
        if (a->out != 1 || a->gap != 1 || a->low || a->spread != 1 || a->window != a->size) return false;
        dims[1 + i] = a->window;
    }
    const int64_t x_step = joined(dims, s->x_step + 2, 0, 1 + LAM__CONV_AXES, &terms);
    const int64_t w_step = joined(dims, s->w_step + 2, 0, 1 + LAM__CONV_AXES, &terms);
    *p = (lam__product){.batch = s->groups,
                        .m = s->n,
                        .k = terms,
                        .n = s->o,
                        .x = x,
                        .x_batch = s->x_step[0],
                        .x_row = s->x_step[1],
                        .x_col = x_step,
                        .y = w,
                        .y_batch = s->w_step[0],
                        .y_row = w_step,
                        .y_col = s->w_step[1]};
    return x_step != 0 && w_step != 0;
}

/* What gather_part is told. */
typedef struct gathering {
    const lam__conv_gather *plan;
    char *rooms;
} gathering;

static void gather_part(void *env, int64_t begin, int64_t end, int worker) {
    const gathering *g = env;
    lam__conv_gather_run(g->plan, begin, end, g->rooms + (size_t)worker * g->plan->room);
}

/* Packed weights, the list of phases, and a room for each worker, in one block. False: it was refused. */
static bool gather(lam__team *team, lam__conv_gather *p, double results, lam__scratch *scratch, void *env) {
    static const uint64_t zero;
    const bool shared = lam__team_shares(team, p->cost * (double)p->items);
    const size_t own = p->packed_bytes + p->phases_bytes;
    char *room = scratch(env, own + p->room * (size_t)(shared ? lam__team_size(team) : 1));
    if (!room) return false;
    p->packed = room;
    p->phases = (void *)(room + p->packed_bytes);
    lam__conv_gather_pack(p);
    if (p->gaps) lam__parallel_fill(team, p->dtype, p->out, (int64_t)results, &zero);
    gathering g = {p, room + own};
    lam__team_run(shared ? team : NULL, p->items, p->cost, gather_part, &g);
    return true;
}

/* Phases are planned twice, once for the room that the largest needs and once to be run, because a plan is cheap and a
 * list of them would need memory. Results that no phase meets are zero, so the whole is filled first where there are
 * such. False: the room was refused. */
bool lam__parallel_conv(lam__team *team, lam_dtype dtype, const lam__conv_case *s, const void *x, const void *w,
                        void *out, lam__scratch *scratch, void *env) {
    static const uint64_t zero;
    double results, products;
    size_t most = 0;
    lam__conv plan;
    lam__conv_gather gathered;
    lam__product p;
    if (by_places(s, x, w, &p) || by_windows(s, x, w, &p)) {
        p.out = out;
        return lam__parallel_matmul(team, dtype, &p, scratch, env);
    }
    sizes(s, &results, &products);
    if (products > 0 && results > 0 && lam__conv_gather_plan(dtype, s, x, w, out, &gathered))
        return gather(team, &gathered, results, scratch, env);
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
