/* Convolutions: which of the ways does one. Those that are products of matrices, those of windows of one element, those
 * of groups or examples side by side and those that are gathered from products are shared here; conv_apart.c has those
 * whose places share no element, conv_phases.c all others. */
#include "lib/parallel/conv.h"

#include "lib/kernels/conv/abreast.h"
#include "lib/kernels/conv/few.h"
#include "lib/kernels/conv/gather.h"
#include "lib/kernels/conv/places.h"
#include "lib/kernels/conv/points.h"
#include "lib/kernels/item.h"

enum { MANY_FEATURES = 64 }; /* of x: products are gathered rather than examples put side by side */

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

/* NOTE [convolutions that are products]
 * Where the window has one element, places are columns of a matrix whose rows are c; where there is one place, which
 * meets all of x, the window is part of the sum. Both are products of matrices as they lie, if axes join in memory, and
 * are done as such; several examples of few places and many features are one product in conv_apart.c. */

int64_t lam__parallel_conv_join(const int64_t dims[], const int64_t step[], int first, int end, int64_t *count) {
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
static bool by_places(const lam__conv_case *s, const void *x, const void *w, void *out, lam__product *p) {
    int64_t dims[LAM__CONV_AXES], places;
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const lam__conv_axis *a = &s->axis[i];
        if (a->window != 1 || a->gap != 1 || a->low || a->stride != 1 || a->out != a->size) return false;
        dims[i] = a->out;
    }
    const int64_t step = lam__parallel_conv_join(dims, s->x_step + 3, 0, LAM__CONV_AXES, &places);
    /* Groups and examples are two batches, of which a product has one: one of them has to be single. */
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
                        .y_col = step,
                        .out = out};
    return step != 0 && (s->n == 1 || s->groups == 1);
}

/* out[g, n, o] = x[g, n, c and the window] w[g, o, c and the window] */
static bool by_windows(const lam__conv_case *s, const void *x, const void *w, void *out, lam__product *p) {
    int64_t dims[1 + LAM__CONV_AXES] = {s->c}, terms;
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const lam__conv_axis *a = &s->axis[i];
        if (a->out != 1 || a->gap != 1 || a->low || a->spread != 1 || a->window != a->size) return false;
        dims[1 + i] = a->window;
    }
    const int64_t x_step = lam__parallel_conv_join(dims, s->x_step + 2, 0, 1 + LAM__CONV_AXES, &terms);
    const int64_t w_step = lam__parallel_conv_join(dims, s->w_step + 2, 0, 1 + LAM__CONV_AXES, &terms);
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
                        .y_col = s->w_step[1],
                        .out = out};
    return x_step != 0 && w_step != 0;
}

/* ---- ways that have items ---------------------------------------------------------------------------------------- */

/* What the parts of a way are told: its plan, and a room for each worker. */
typedef struct sharing {
    const void *plan;
    char *rooms;
    size_t each;
} sharing;

static char *room_of(const sharing *s, int worker) {
    return s->rooms + (size_t)worker * s->each;
}

/* A block with `own` bytes for the plan in front of the rooms, or NULL: it was refused. *team becomes NULL where the
 * items are not worth to be shared. */
static char *begin_sharing(sharing *s, lam__team **team, double cost, size_t own, lam__scratch *scratch, void *env) {
    if (!lam__team_shares(*team, cost)) *team = NULL;
    char *block = scratch(env, own + s->each * (size_t)(*team ? lam__team_size(*team) : 1));
    if (block) s->rooms = block + own;
    return block;
}

/* Items of a way, each part in the room of its worker: so in all of these. */
static void gather_part(void *env, int64_t begin, int64_t end, int worker) {
    const sharing *s = env;
    lam__conv_gather_run(s->plan, begin, end, room_of(s, worker));
}

/* Packed weights and the list of phases are the plan's. */
static bool gather(lam__team *team, lam__conv_gather *p, double results, lam__scratch *scratch, void *env) {
    static const uint64_t zero;
    sharing s = {.plan = p, .each = p->room};
    lam__team *workers = team;
    char *own =
        begin_sharing(&s, &workers, p->cost * (double)p->items, p->packed_bytes + p->phases_bytes, scratch, env);
    if (!own) return false;
    p->packed = own;
    p->phases = (void *)(own + p->packed_bytes);
    lam__conv_gather_pack(p);
    if (p->gaps) lam__parallel_fill(team, p->dtype, p->out, (int64_t)results, &zero);
    lam__team_run(workers, p->items, p->cost, gather_part, &s);
    return true;
}

static void pack_part(void *env, int64_t begin, int64_t end, int worker) {
    (void)worker;
    lam__conv_abreast_pack(((const sharing *)env)->plan, begin, end);
}

static void abreast_part(void *env, int64_t begin, int64_t end, int worker) {
    const sharing *s = env;
    lam__conv_abreast_run(s->plan, begin, end, room_of(s, worker));
}

/* Weights, phases and tables are the plan's. */
static bool side_by_side(lam__team *team, lam__conv_abreast *p, lam__scratch *scratch, void *env) {
    sharing s = {.plan = p, .each = p->room};
    char *own = begin_sharing(&s, &team, p->cost * (double)p->items, p->packed_bytes + p->phases_bytes, scratch, env);
    if (!own) return false;
    p->packed = own;
    p->phases = (void *)(own + p->packed_bytes);
    lam__conv_abreast_list(p);
    lam__team_run(team, p->packs, (double)p->packed_bytes / (double)p->packs / 4, pack_part, &s);
    lam__team_run(team, p->items, p->cost, abreast_part, &s);
    return true;
}

/* Results of all features of x, which are the plan's, and their sum. */
static bool summed(lam__team *team, lam__conv_abreast *p, double results, void *out, lam__scratch *scratch, void *env) {
    const int64_t count = (int64_t)results;
    p->out = scratch(env, (size_t)(p->shape.groups * count * lam__item_bytes(p->dtype)));
    if (!p->out || !side_by_side(team, p, scratch, env)) return false;
    lam__parallel_reduce(team, LAM__REDUCE_SUM, p->dtype, 2, (int64_t[]){p->shape.groups, count}, (bool[]){true, false},
                         p->out, (int64_t[]){count, 1}, out);
    return true;
}

static void few_part(void *env, int64_t begin, int64_t end, int worker) {
    const sharing *s = env;
    lam__conv_few_run(s->plan, begin, end, room_of(s, worker));
}

/* Weights and tables are the plan's. */
static bool of_few(lam__team *team, lam__conv_few *p, lam__scratch *scratch, void *env) {
    sharing s = {.plan = p, .each = p->room};
    p->packed = begin_sharing(&s, &team, p->cost * (double)p->items, p->packed_bytes, scratch, env);
    if (!p->packed) return false;
    lam__conv_few_pack(p);
    lam__team_run(team, p->items, p->cost, few_part, &s);
    return true;
}

static void places_part(void *env, int64_t begin, int64_t end, int worker) {
    const sharing *s = env;
    lam__conv_places_run(s->plan, begin, end, room_of(s, worker));
}

/* A table is the plan's. */
static bool of_places(lam__team *team, lam__conv_places *p, lam__scratch *scratch, void *env) {
    sharing s = {.plan = p, .each = p->room};
    p->at = (void *)begin_sharing(&s, &team, p->cost * (double)p->items, p->at_bytes, scratch, env);
    if (!p->at) return false;
    lam__conv_places_list(p);
    lam__team_run(team, p->items, p->cost, places_part, &s);
    return true;
}

static void points_part(void *env, int64_t begin, int64_t end, int worker) {
    (void)worker;
    lam__conv_points_run(((const sharing *)env)->plan, begin, end);
}

/* Sums of items are the plan's, where places are summed up. */
static bool of_points(lam__team *team, lam__conv_points *p, lam__scratch *scratch, void *env) {
    sharing s = {.plan = p};
    if (p->sums) p->room = scratch(env, p->sum_bytes * (size_t)p->items);
    if (p->sums && !p->room) return false;
    lam__team_run(team, p->items, p->cost, points_part, &s);
    if (p->sums) lam__conv_points_fold(p);
    return true;
}

/* NOTE [ways]
 * The first that fits does it, in this order; plans know which sizes they are fast for, as measured:
 *
 *   a product         windows of one element, or of all of x              NOTE [convolutions that are products]
 *   points            windows of one element, few features                kernels/conv/points.h
 *   apart             places have no element of x in common               conv_apart.c
 *   groups abreast    many groups of few features                         kernels/conv/abreast.h
 *   gathered          few features of the result, very many of x          kernels/conv/gather.h
 *   examples abreast  one group, lines too short for vectors              kernels/conv/abreast.h
 *   summed abreast    the same with features of x, as by the window       kernels/conv/abreast.h
 *   few               places that are sums of few products                kernels/conv/few.h
 *   places            few places of many products, as by the window       kernels/conv/places.h
 *   gathered          few features of the result                          kernels/conv/gather.h
 *   phases            everything else                                     conv_phases.c
 *
 * Windows of one element on many examples with features are asked for as points first, and are products after all where
 * those do not fit: by_windows has written over p meanwhile. False: the room was refused. */
bool lam__parallel_conv(lam__team *team, lam_dtype dtype, const lam__conv_case *s, const void *x, const void *w,
                        void *out, lam__scratch *scratch, void *env) {
    double results, products;
    lam__conv_gather gathered;
    lam__conv_abreast groups;
    lam__conv_few near;
    lam__conv_places few_places;
    lam__conv_points points;
    lam__product p;
    const bool places = by_places(s, x, w, out, &p), small = places && s->n > 1 && s->c > 1;
    if ((places && !small) || by_windows(s, x, w, out, &p)) return lam__parallel_matmul(team, dtype, &p, scratch, env);
    sizes(s, &results, &products);
    const struct lam__conv_loops *loops = lam__conv_loops_of(dtype);
    const bool some = products > 0 && results > 0; /* else no way has anything to cut */
    if (some && lam__conv_points_plan(loops, dtype, s, x, w, out, &points))
        return of_points(team, &points, scratch, env);
    if (places && !lam__parallel_conv_exchanges(s) && by_places(s, x, w, out, &p))
        return lam__parallel_matmul(team, dtype, &p, scratch, env);
    if (some) {
        bool done;
        if (lam__parallel_conv_apart(team, dtype, s, x, w, out, scratch, env, &done)) return done;
        if (lam__conv_abreast_plan(loops, dtype, s, x, w, out, &groups))
            return side_by_side(team, &groups, scratch, env);
        if (s->c >= MANY_FEATURES && lam__conv_gather_plan(dtype, s, x, w, out, &gathered))
            return gather(team, &gathered, results, scratch, env);
        if (lam__conv_abreast_examples(loops, dtype, s, x, w, out, &groups))
            return side_by_side(team, &groups, scratch, env);
        if (lam__conv_abreast_summed(loops, dtype, s, x, w, NULL, &groups))
            return summed(team, &groups, results, out, scratch, env);
        if (lam__conv_few_plan(loops, dtype, s, x, w, out, &near)) return of_few(team, &near, scratch, env);
        if (lam__conv_places_plan(loops, dtype, s, x, w, out, &few_places))
            return of_places(team, &few_places, scratch, env);
        if (lam__conv_gather_plan(dtype, s, x, w, out, &gathered))
            return gather(team, &gathered, results, scratch, env);
    }
    return lam__parallel_conv_phases(team, dtype, s, results, products, x, w, out, scratch, env);
}
