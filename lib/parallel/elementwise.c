/* Elementwise loops, copies, fills and random bits in pieces. Element i of such a loop is computed in the same way
 * wherever the loop begins, so any cut will do. */
#include "lib/kernels/item.h"
#include "lib/kernels/kinds.h"
#include "lib/parallel/parallel.h"

/* Of a choice: a result, a condition and two branches. */
enum { OPERANDS = 4 };

/* ---- what is known of a loop ------------------------------------------------------------------------------------- */

/* Units that an element costs, by kind of loop (elementwise.def). KEEP IN STEP: loop-kinds */
enum {
    COST_REAL = 1,
    COST_FLOAT = 1,
    COST_ELEMENTARY = 4,
    COST_FAMILY = 12,
    COST_SPECIAL = 100,
    COST_INTEGER = 1,
    COST_COMPARE = 1,
    COST_LOGIC = 1,
    COST_TEST = 1,
    COST_SELECT = 1,
    COST_COMPLEX = 1
};

/* boolean: 1 + the operand that is bools whatever the dtype, 0 where none is. */
static const struct {
    uint8_t inputs, cost, boolean;
} loops[LAM__LOOP_COUNT] = {
#define LAM__LOOP(name, inputs, kind) [LAM__LOOP_##name] = {inputs, COST_##kind, LAM__BOOL_##kind},
#include "lib/kernels/elementwise.def"
#undef LAM__LOOP
};

/* A loop and its operands, the result the first of them; strides and steps in elements, and each operand has its
 * own size of item, since conditions and results of comparisons are bytes. It lies in the frame of the caller, who
 * waits for all pieces. */
typedef struct run {
    lam__loop *loop;
    int operands, rank;
    const int64_t *const *strides; /* of each operand; NULL: step */
    const int64_t *step;
    void *const *p;
    size_t item[OPERANDS]; /* bytes */
    const void *params;
} run;

/* ---- without axes ------------------------------------------------------------------------------------------------ */

/* Elements [begin, end): every operand moves on by its own step, which is 0 for a number. */
static void run_flat(void *env, int64_t begin, int64_t end, int worker) {
    const run *r = env;
    void *p[OPERANDS];
    (void)worker;
    for (int k = 0; k < r->operands; k++) p[k] = (char *)r->p[k] + begin * r->step[k] * (int64_t)r->item[k];
    r->loop(end - begin, p, r->step, r->params);
}

/* The common call ends in the loop itself; nothing is set up before it is known that the work will be shared. */
void lam__parallel_loop(lam__team *team, lam__loop_id id, lam_dtype dtype, lam__loop *loop, int64_t n, void *const p[],
                        const int64_t step[], const void *params) {
    const double cost = loops[id].cost;
    if (!lam__team_shares(team, (double)n * cost)) {
        loop(n, p, step, params);
        return;
    }
    run r = {.loop = loop, .operands = loops[id].inputs + 1, .step = step, .p = p, .params = params};
    /* Bools are bytes whatever the dtype. */
    for (int k = 0; k < r.operands; k++) r.item[k] = (size_t)lam__item_bytes(dtype);
    if (loops[id].boolean) r.item[loops[id].boolean - 1] = 1;
    lam__team_run(team, n, cost, run_flat, &r);
}

/* One operand and two results, none of which has gaps. */
typedef struct pair {
    lam__pair_loop *loop; /* unless it is that of sine and cosine */
    lam_dtype dtype;
    const char *x;
    char *first, *second;
} pair;

/* Element `at` of all three, since none has gaps. */
static void sincos_part(void *env, int64_t begin, int64_t end, int worker) {
    const pair *p = env;
    const int64_t at = begin * lam__item_bytes(p->dtype);
    (void)worker;
    lam__kernels_sincos(p->dtype, end - begin, p->x + at, p->first + at, p->second + at);
}

/* Both take the reduction of the argument once, so they cost little more than one of them. */
void lam__parallel_sincos(lam__team *team, lam_dtype dtype, int64_t n, const void *x, void *sine, void *cosine) {
    pair p = {NULL, dtype, x, sine, cosine};
    lam__team_run(team, n, 2 * COST_ELEMENTARY, sincos_part, &p);
}

static void pair_part(void *env, int64_t begin, int64_t end, int worker) {
    const pair *p = env;
    const int64_t at = begin * lam__item_bytes(p->dtype);
    (void)worker;
    p->loop(end - begin, p->x + at, p->first + at, p->second + at);
}

/* Value and slope in one pass over contiguous memory, each into memory of its own. */
void lam__parallel_sloped(lam__team *team, lam__loop_id id, lam_dtype dtype, lam__pair_loop *loop, int64_t n,
                          const void *x, void *out, void *slope) {
    pair p = {loop, dtype, x, out, slope};
    lam__team_run(team, n, loops[id].cost, pair_part, &p);
}

/* ---- with axes --------------------------------------------------------------------------------------------------- */

/* Boxes are cut along the axes as they are given; the kernel sorts and merges them anew for each box, which changes no
 * element. */
static void run_box(void *env, const int64_t *start, const int64_t *dims, int worker) {
    const run *r = env;
    void *p[OPERANDS];
    (void)worker;
    for (int k = 0; k < r->operands; k++)
        p[k] = (char *)r->p[k] + lam__parallel_offset(r->rank, start, r->strides[k]) * (int64_t)r->item[k];
    lam__kernels_elementwise(r->loop, r->operands, r->rank, dims, r->strides, p, r->item, r->params);
}

void lam__parallel_elementwise(lam__team *team, lam__loop_id id, lam__loop *loop, int operands, int rank,
                               const int64_t *dims, const int64_t *const strides[], void *const p[],
                               const size_t item[], const void *params) {
    /* Without a team nothing is counted: the call is short. */
    const double cost = team ? lam__parallel_count(rank, dims) * loops[id].cost : 0;
    if (!lam__team_shares(team, cost)) {
        lam__kernels_elementwise(loop, operands, rank, dims, strides, p, item, params);
        return;
    }
    run r = {.loop = loop, .operands = operands, .rank = rank, .strides = strides, .p = p, .params = params};
    for (int k = 0; k < operands; k++) r.item[k] = item[k];
    lam__parallel_boxes(team, rank, rank, dims, cost, run_box, &r);
}

/* ---- copies and fills -------------------------------------------------------------------------------------------- */

/* A copy between two layouts, which may convert on the way. Strides are those of the whole, in elements of each side's
 * dtype. */
typedef struct copy {
    int rank;
    lam_dtype to_dtype, from_dtype;
    char *to;
    const char *from;
    const int64_t *to_strides, *from_strides;
} copy;

/* Each side moves by its own strides, in elements of its own dtype. */
static void copy_box(void *env, const int64_t *start, const int64_t *dims, int worker) {
    const copy *c = env;
    (void)worker;
    lam__kernels_copy(c->rank, dims, c->to_dtype,
                      c->to + lam__parallel_offset(c->rank, start, c->to_strides) * lam__item_bytes(c->to_dtype),
                      c->to_strides, c->from_dtype,
                      c->from + lam__parallel_offset(c->rank, start, c->from_strides) * lam__item_bytes(c->from_dtype),
                      c->from_strides);
}

void lam__parallel_copy(lam__team *team, int rank, const int64_t *dims, lam_dtype dst_dtype, void *dst,
                        const int64_t *dst_strides, lam_dtype src_dtype, const void *src, const int64_t *src_strides) {
    const double cost = team ? lam__parallel_count(rank, dims) : 0;
    if (!lam__team_shares(team, cost)) {
        lam__kernels_copy(rank, dims, dst_dtype, dst, dst_strides, src_dtype, src, src_strides);
        return;
    }
    copy c = {rank, dst_dtype, src_dtype, dst, src, dst_strides, src_strides};
    lam__parallel_boxes(team, rank, rank, dims, cost, copy_box, &c);
}

/* Bytes of any dtype, each of the same item. */
typedef struct filling {
    lam_dtype dtype;
    char *to;
    const void *item;
} filling;

static void fill_part(void *env, int64_t begin, int64_t end, int worker) {
    const filling *f = env;
    (void)worker;
    lam__kernels_fill(f->dtype, f->to + begin * lam__item_bytes(f->dtype), end - begin, f->item);
}

/* Half a unit for each element: nothing is read. Any dtype: `item` points to its bits. */
void lam__parallel_fill(lam__team *team, lam_dtype dtype, void *dst, int64_t n, const void *item) {
    filling f = {dtype, dst, item};
    lam__team_run(team, n, 0.5, fill_part, &f);
}

typedef struct counting {
    lam_dtype dtype;
    double first, step;
    char *to;
} counting;

static void count_part(void *env, int64_t begin, int64_t end, int worker) {
    const counting *c = env;
    (void)worker;
    lam__kernels_count_up(c->dtype, c->first, c->step, begin, end - begin, c->to + begin * lam__item_bytes(c->dtype));
}

/* Each element is made from its own number, so pieces need no state. */
void lam__parallel_count_up(lam__team *team, lam_dtype dtype, double first, double step, int64_t n, void *out) {
    counting c = {dtype, first, step, out};
    lam__team_run(team, n, 1, count_part, &c);
}

/* ---- random bits ------------------------------------------------------------------------------------------------- */

/* `first` is the counter of element 0, which a piece moves on by where it begins. */
typedef struct drawing {
    const lam__random *what;
    const uint32_t *key;
    uint64_t first;
    char *out;
    int64_t bytes; /* of an element */
} drawing;

static void draw_part(void *env, int64_t begin, int64_t end, int worker) {
    const drawing *d = env;
    (void)worker;
    lam__kernels_random(d->what, d->key, d->first + (uint64_t)begin, end - begin, d->out + begin * d->bytes);
}

/* Each element is a function of the key and its own number (threefry is counted through), so pieces need no state.
 * Both words of a pair belong to one number, so an element is two items then. */
void lam__parallel_random(lam__team *team, const lam__random *what, const uint32_t key[2], uint64_t first, int64_t n,
                          void *out) {
    const int64_t item = lam__item_bytes(lam__kernels_random_dtype(what->form));
    drawing d = {what, key, first, out, what->form == LAM__RANDOM_PAIRS ? 2 * item : item};
    lam__team_run(team, n, 4, draw_part, &d);
}
