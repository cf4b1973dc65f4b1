/* Convolutions in the items of their plans, phase by phase where the operand is dilated; before each the weights are
 * packed, once for all threads. Phases of the last axis write lines of their own, which are then woven: elements that
 * are some apart in the result would each be a store. */
#include "lib/parallel/conv.h"

#include "lib/kernels/conv/loops.h"
#include "lib/kernels/item.h"

enum {
    WOVEN_BYTES = 1 << 20, /* of lines that wait, or one example's if that is more: they stay in a cache */
    ALIGN = 64
};

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

/* Items write to different places of the result, so they need no order. */
static void run_part(void *env, int64_t begin, int64_t end, int worker) {
    const sharing *s = env;
    lam__conv_run(s->plan, begin, end, s->rooms + (size_t)worker * s->plan->room);
}

/* One phase; `room` has room for all. The packed weights come first, then a room for each worker; both are multiples of
 * 64 bytes, so workers share no line. */
static void run_phase(lam__team *team, lam__conv *plan, char *room, int threads) {
    sharing s = {plan, room + plan->packed_bytes};
    plan->packed = room;
    /* In units: four bytes of weights are packed in the time of one. */
    const double each = plan->packs ? (double)plan->packed_bytes / (double)plan->packs / 4 : 0;
    lam__team_run(threads > 1 ? team : NULL, plan->packs, each, pack_part, &s);
    lam__team_run(threads > 1 ? team : NULL, plan->items, plan->cost, run_part, &s);
}

/* All phases of one convolution. */
typedef struct phasing {
    lam__team *team;
    lam_dtype dtype;
    const lam__conv_case *s;
    int threads;
    const char *x, *w;
    char *out;
    int side;   /* phases of the last axis that are woven; 1: none are */
    char *room; /* their lines, then that of a phase */
} phasing;

/* To whole lines of the cache. */
static size_t up(int64_t n) {
    return (size_t)((n + ALIGN - 1) / ALIGN * ALIGN);
}

/* Elements of the lines of a phase: there are as many for each phase, though the lines of some are shorter by one. */
static int64_t woven_part(const phasing *p) {
    const lam__conv_axis *a = p->s->axis;
    const int64_t examples = p->s->groups * p->s->n * p->s->o;
    const int64_t first = (a[0].out - 1) / lam__conv_period(&a[0]) + 1;
    const int64_t second = (a[1].out - 1) / lam__conv_period(&a[1]) + 1;
    return examples * first * second * ((a[2].out - 1) / p->side + 1);
}

/* All phases of the last axis wait at once; phases of the other axes use the same lines after each other. */
static size_t woven_bytes(const phasing *p) {
    return p->side > 1 ? up(p->side * woven_part(p) * lam__item_bytes(p->dtype)) : 0;
}

/* The result of a phase as lines that follow each other. */
static void make_lines(lam__conv_case *phase) {
    const lam__conv_axis *a = phase->axis;
    const int64_t dims[6] = {phase->groups, phase->n, phase->o, a[0].out, a[1].out, a[2].out};
    int64_t step = 1;
    for (int i = 5; i >= 0; step *= dims[i--]) phase->out_step[i] = step;
}

/* Phase i of s; false: nothing is to be done. `meets` tells a phase that is zero everywhere from one that has no
 * elements. */
static bool plan_phase(const phasing *p, int64_t i, lam__conv *plan, bool *meets) {
    const int64_t item = lam__item_bytes(p->dtype);
    lam__conv_case phase;
    int64_t w_first, out_first;
    *meets = lam__conv_phase(p->s, i, &phase, &w_first, &out_first);
    if (!*meets) return false;
    char *out = p->out + out_first * item;
    if (p->side > 1) {
        make_lines(&phase);
        out = p->room ? p->room + i % p->side * woven_part(p) * item : NULL;
    }
    return lam__conv_plan(lam__conv_loops_of(p->dtype), p->dtype, &phase, p->threads, p->x, p->w + w_first * item, out,
                          plan);
}

/* ---- weaving ----------------------------------------------------------------------------------------------------- */

/* Phases from `first` on, of the last axis, whose lines are there. */
typedef struct weaving {
    const phasing *p;
    lam__conv_case phase; /* the first of them, as steps of the result */
    int64_t out_first;
} weaving;

/* Lines of the result, `first` to `end` of all [groups, n, o, first axis]; each has those of the second axis. */
static void weave_part(void *env, int64_t begin, int64_t end, int worker) {
    const weaving *v = env;
    const phasing *p = v->p;
    const lam__conv_case *s = &v->phase;
    const int64_t *step = s->out_step, item = lam__item_bytes(p->dtype), part = woven_part(p) * item;
    const int64_t lines = s->axis[1].out, count = p->s->axis[2].out;
    const lam__conv_loops *loops = lam__conv_loops_of(p->dtype);
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = i % s->axis[0].out, features = i / s->axis[0].out, o = features % s->o;
        const int64_t n = features / s->o % s->n, group = features / s->o / s->n;
        char *to = p->out + (v->out_first + group * step[0] + n * step[1] + o * step[2] + first * step[3]) * item;
        for (int64_t k = 0; k < lines; k++, to += step[4] * item) {
            const void *from[LAM__CONV_SIDE];
            for (int j = 0; j < p->side; j++)
                from[j] = p->room + j * part + (i * lines + k) * ((count - j - 1) / p->side + 1) * item;
            loops->weave(to, from, count, p->side);
        }
    }
}

/* Phases that are woven come one after the other, the last axis fastest (lam__conv_phases), and all have elements. */
static void weave(const phasing *p, int64_t first) {
    weaving v = {.p = p};
    int64_t w_first;
    lam__conv_phase(p->s, first, &v.phase, &w_first, &v.out_first);
    const lam__conv_case *s = &v.phase;
    const double each = (double)s->axis[1].out * (double)p->s->axis[2].out;
    lam__team_run(p->threads > 1 ? p->team : NULL, s->groups * s->n * s->o * s->axis[0].out, each, weave_part, &v);
}

/* Whether all phases of the last axis are woven. */
static int side_of(lam_dtype dtype, const lam__conv_case *s) {
    const int64_t side = lam__conv_period(&s->axis[2]);
    const bool woven = lam__conv_loops_of(dtype)->weave && side <= LAM__CONV_SIDE && s->out_step[5] == 1;
    return woven ? (int)side : 1;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

/* Bytes that the largest phase needs: its packed weights, and a room for each thread. */
static size_t largest(const phasing *p, int64_t phases) {
    size_t most = 0;
    for (int64_t i = 0; i < phases; i++) {
        lam__conv plan;
        bool meets;
        if (!plan_phase(p, i, &plan, &meets)) continue;
        const size_t bytes = plan.packed_bytes + plan.room * (size_t)p->threads;
        if (bytes > most) most = bytes;
    }
    return most;
}

/* Weaving waits until all phases of a line have been run. */
static void run(const phasing *p, int64_t phases) {
    char *room = p->room + woven_bytes(p);
    for (int64_t i = 0; i < phases; i++) {
        lam__conv plan;
        bool meets;
        if (plan_phase(p, i, &plan, &meets)) run_phase(p->team, &plan, room, p->threads);
        if (p->side > 1 && (i + 1) % p->side == 0) weave(p, i + 1 - p->side);
    }
}

/* Examples that are done together: so many that lines which wait stay few. */
static int64_t examples_of(const phasing *p) {
    const double each = (double)woven_bytes(p) / (double)p->s->n;
    if (p->side == 1 || each * (double)p->s->n <= WOVEN_BYTES) return p->s->n;
    return each < WOVEN_BYTES ? (int64_t)(WOVEN_BYTES / each) : 1;
}

/* Without gaps, which is most often so, and with places and products: one phase, which is planned once. */
static bool run_whole(phasing *p, lam__scratch *scratch, void *env) {
    lam__conv plan;
    lam__conv_plan(lam__conv_loops_of(p->dtype), p->dtype, p->s, p->threads, p->x, p->w, p->out, &plan);
    p->room = scratch(env, plan.packed_bytes + plan.room * (size_t)p->threads);
    if (p->room) run_phase(p->team, &plan, p->room, p->threads);
    return p->room != NULL;
}

/* Phases are planned twice, once for the room that the largest needs and once to be run, because a plan is cheap and a
 * list of them would need memory. Results that no phase meets are zero, so the whole is filled first where there are
 * such. False: the room was refused. */
bool lam__parallel_conv_phases(lam__team *team, lam_dtype dtype, const lam__conv_case *s, double results,
                               double products, const void *x, const void *w, void *out, lam__scratch *scratch,
                               void *env) {
    static const uint64_t zero;
    const int64_t phases = products > 0 && results > 0 ? lam__conv_phases(s) : 0, item = lam__item_bytes(dtype);
    lam__conv_case part = *s;
    phasing p = {.team = team, .dtype = dtype, .s = &part, .threads = 1, .x = x, .w = w, .out = out, .side = 1};
    bool all = phases > 0, gaps = false;
    for (int i = 0; i < LAM__CONV_AXES; i++) gaps = gaps || s->axis[i].gap > 1;
    /* Eight products are a unit, as in matmul.c. */
    if (lam__team_shares(team, results * products / 8)) p.threads = lam__team_size(team);
    if (all && !gaps) return run_whole(&p, scratch, env);
    for (int64_t i = 0; i < phases && all; i++) {
        lam__conv_case phase;
        int64_t w_first, out_first;
        all = lam__conv_phase(s, i, &phase, &w_first, &out_first);
    }
    /* Lines can be woven only where every phase writes its own. */
    if (!all) lam__parallel_fill(team, dtype, out, (int64_t)results, &zero);
    else p.side = side_of(dtype, s);
    if (phases == 0) return true;
    const int64_t examples = examples_of(&p), rest = s->n % examples;
    part.n = rest;
    const size_t room_of_rest = rest ? largest(&p, phases) : 0; /* boxes of fewer examples may be larger */
    part.n = examples;
    const size_t room = largest(&p, phases);
    p.room = scratch(env, woven_bytes(&p) + (room > room_of_rest ? room : room_of_rest));
    for (int64_t n = 0; n < s->n && p.room; n += examples) {
        part.n = s->n - n < examples ? s->n - n : examples;
        p.x = (const char *)x + n * s->x_step[1] * item;
        p.out = (char *)out + n * s->out_step[1] * item;
        run(&p, phases);
    }
    return p.room != NULL;
}
