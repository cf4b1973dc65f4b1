/* Kernels on [outer, n, inner] and on indices in pieces: outer lanes, rows and places of indices are independent of
 * each other. Samples have keys of their own. */
#include "lib/kernels/item.h"
#include "lib/kernels/sort.h"
#include "lib/parallel/parallel.h"

#include <math.h>

/* ---- sorting ----------------------------------------------------------------------------------------------------- */

/* A sort of all lanes. Each worker has room of its own, `rooms` apart, which the caller has allocated. Keys and
 * positions go there; each lane of the result is written by one worker. */
typedef struct sorting {
    lam_dtype dtype;
    lam__lanes lanes;
    bool descending;
    int64_t count; /* of each lane's order */
    const char *x;
    int64_t *out;
    char *rooms;
} sorting;

/* Rooms begin on lines of the cache, so that workers do not write to the same one. */
static size_t room_bytes(int64_t n) {
    return (lam__kernels_argsort_bytes(n) + 63) & ~(size_t)63;
}

/* Units of a sort of n log n comparisons. Of all lanes of an outer element. */
static double cost_of_lane(const lam__lanes *s) {
    return (double)s->inner * (double)s->n * (4 + 4 * log2((double)s->n + 1));
}

static void sort_part(void *env, int64_t begin, int64_t end, int worker) {
    const sorting *s = env;
    const lam__lanes part = {end - begin, s->lanes.n, s->lanes.inner};
    const char *x = s->x + begin * s->lanes.n * s->lanes.inner * lam__item_bytes(s->dtype);
    lam__kernels_argsort_first(s->dtype, &part, s->descending, s->count, x, s->out + begin * s->count * s->lanes.inner,
                               s->rooms + (size_t)worker * room_bytes(s->lanes.n));
}

/* Room for one worker where the call will not be shared, which is asked of the team in the terms of the call itself. */
size_t lam__parallel_argsort_bytes(const lam__team *team, const lam__lanes *s) {
    const bool shared = lam__team_pieces(team, s->outer, cost_of_lane(s)) > 1;
    return room_bytes(s->n) * (size_t)(shared ? lam__team_size(team) : 1);
}

/* Pieces as lam__parallel_argsort_bytes has counted them: n, cost and team are the same. */
void lam__parallel_argsort(lam__team *team, lam_dtype dtype, const lam__lanes *s, bool descending, int64_t count,
                           const void *x, int64_t *out, void *work) {
    sorting all = {dtype, *s, descending, count, x, out, work};
    lam__team_run(team, s->outer, cost_of_lane(s), sort_part, &all);
}

/* A search for m values of each batch in its own n sorted elements. Values are cut as well as batches: each is looked
 * for by itself. */
typedef struct searching {
    lam_dtype dtype;
    int64_t n, m;
    bool right;
    const char *sorted, *values;
    int64_t *out;
} searching;

static void search_box(void *env, const int64_t *start, const int64_t *dims, int worker) {
    const searching *s = env;
    const int64_t item = lam__item_bytes(s->dtype), at = start[0] * s->m + start[1];
    (void)worker;
    lam__kernels_searchsorted(s->dtype, dims[0], s->n, dims[1], s->right, s->sorted + start[0] * s->n * item,
                              s->values + at * item, s->out + at);
}

void lam__parallel_searchsorted(lam__team *team, lam_dtype dtype, int64_t batch, int64_t n, int64_t m, bool right,
                                const void *sorted, const void *values, int64_t *out) {
    searching s = {dtype, n, m, right, sorted, values, out};
    const int64_t dims[2] = {batch, m};
    /* Halvings of the sorted row, of about four units each. */
    const double cost = (double)batch * (double)m * (4 + 4 * log2((double)n + 1));
    lam__parallel_boxes(team, 2, 2, dims, cost, search_box, &s);
}

/* ---- recurrences and windows ------------------------------------------------------------------------------------- */

/* What recurrences, scans of exponentials and windows have in common: one or two operands, one result, cut between
 * outer elements. `id` and `window` are those of windows alone. Lanes of one outer element lie together, so a cut moves
 * every pointer by whole steps. */
typedef struct lanes {
    lam_dtype dtype;
    lam__lanes shape;
    bool reverse;
    lam__reduce_id id;
    const lam__window_axis *window;
    const char *a, *b;
    char *out;
    int64_t in_step, out_step; /* bytes of an outer element */
} lanes;

/* places: elements that the result has along the axis, of which the operands have n. */
static lanes lanes_of(lam_dtype dtype, const lam__lanes *s, const void *a, const void *b, void *out, int64_t places) {
    const int64_t item = lam__item_bytes(dtype);
    return (lanes){.dtype = dtype,
                   .shape = *s,
                   .a = a,
                   .b = b,
                   .out = out,
                   .in_step = s->n * s->inner * item,
                   .out_step = places * s->inner * item};
}

/* Both operands have the shape of the result. */
static void recur_part(void *env, int64_t begin, int64_t end, int worker) {
    const lanes *l = env;
    const lam__lanes part = {end - begin, l->shape.n, l->shape.inner};
    (void)worker;
    lam__kernels_recurrence(l->dtype, &part, l->reverse, l->a + begin * l->in_step, l->b + begin * l->in_step,
                            l->out + begin * l->out_step);
}

/* The order along the axis is that of the recurrence, so lanes stay whole; with nothing in front of the axis there is
 * one piece. */
void lam__parallel_recurrence(lam__team *team, lam_dtype dtype, const lam__lanes *s, bool reverse, const void *a,
                              const void *b, void *out) {
    lanes l = lanes_of(dtype, s, a, b, out, s->n);
    l.reverse = reverse;
    lam__team_run(team, s->outer, 4 * (double)s->n * (double)s->inner, recur_part, &l);
}

static void cumlogsumexp_part(void *env, int64_t begin, int64_t end, int worker) {
    const lanes *l = env;
    const lam__lanes part = {end - begin, l->shape.n, l->shape.inner};
    (void)worker;
    lam__kernels_cumlogsumexp(l->dtype, &part, l->reverse, l->a + begin * l->in_step, l->out + begin * l->out_step);
}

/* An exponential and a logarithm for each element, one after the other: ten times the cost of a linear recurrence. */
void lam__parallel_cumlogsumexp(lam__team *team, lam_dtype dtype, const lam__lanes *s, bool reverse, const void *x,
                                void *out) {
    lanes l = lanes_of(dtype, s, x, NULL, out, s->n);
    l.reverse = reverse;
    lam__team_run(team, s->outer, 40 * (double)s->n * (double)s->inner, cumlogsumexp_part, &l);
}

/* Softmax and its kin over panels of lanes (panels.c), cut between outer elements. */
typedef struct panels {
    lam__panels how;
    const char *x;
    char *out, *steepness;
} panels;

/* A panel is a whole number of lanes, so a cut between outer elements is one between panels of the kernel's own or
 * makes smaller ones, whose lanes are computed as before. */
static void panels_part(void *env, int64_t begin, int64_t end, int worker) {
    const panels *all = env;
    const lam__lanes *s = &all->how.lanes;
    const int64_t lane = s->inner * lam__item_bytes(all->how.dtype);
    lam__panels part = all->how;
    (void)worker;
    part.lanes.outer = end - begin;
    lam__kernels_panels(&part, all->x + begin * s->n * lane, all->out + begin * s->n * lane,
                        all->steepness ? all->steepness + begin * lane : NULL);
}

/* An exponential and three or four passes over what is near. */
void lam__parallel_panels(lam__team *team, const lam__panels *how, const void *x, void *out, void *steepness) {
    panels all = {*how, x, out, steepness};
    lam__team_run(team, how->lanes.outer, 5 * (double)how->lanes.n * (double)how->lanes.inner, panels_part, &all);
}

/* The result has other places along the axis than the operand. */
static void window_part(void *env, int64_t begin, int64_t end, int worker) {
    const lanes *l = env;
    const lam__lanes part = {end - begin, l->shape.n, l->shape.inner};
    (void)worker;
    lam__kernels_window(l->id, l->dtype, &part, l->window, l->a + begin * l->in_step, l->out + begin * l->out_step);
}

/* Whether there is a kernel for this reduction is asked of it first, with no lanes to work on: workers cannot say
 * no. */
bool lam__parallel_window(lam__team *team, lam__reduce_id id, lam_dtype dtype, const lam__lanes *s,
                          const lam__window_axis *a, const void *x, void *out) {
    const lam__lanes none = {0, s->n, s->inner};
    if (!lam__kernels_window(id, dtype, &none, a, x, out)) return false;
    lanes l = lanes_of(dtype, s, x, NULL, out, a->out);
    l.id = id;
    l.window = a;
    lam__team_run(team, s->outer, 2 * (double)a->out * (double)a->window * (double)s->inner, window_part, &l);
    return true;
}

/* ---- indices ----------------------------------------------------------------------------------------------------- */

/* A take or a scatter: rows are [batch, outer], places k. Shapes are those of the whole; boxes move the pointers and
 * shrink the dims. */
typedef struct indexing {
    lam__index_shape shape;
    lam__index_mode mode;
    lam__scatter_op op;
    lam_dtype dtype, index_dtype;
    lam__index_source source; /* of a take */
    const char *x, *index;    /* of a scatter: its updates */
    char *out;
} indexing;

/* Rows or, where there is one row, places of the index: dims are [batch, outer, k]. */
static void take_box(void *env, const int64_t *start, const int64_t *dims, int worker) {
    const indexing *t = env;
    const lam__index_shape *s = &t->shape, part = {dims[0], dims[1], s->n, dims[2], s->inner};
    const int64_t item = lam__item_bytes(t->dtype), row = start[0] * s->outer + start[1];
    lam__index_source x = t->source;
    (void)worker;
    x.data = (const char *)x.data + (start[0] * x.batch + start[1] * x.outer) * item;
    lam__kernels_take_from(&part, t->mode, t->dtype, &x, t->index_dtype,
                           t->index + (start[0] * s->k + start[2]) * lam__item_bytes(t->index_dtype),
                           t->out + (row * s->k + start[2]) * s->inner * item);
}

/* Places are independent too, so one row with a long index is shared as well as many rows. Every place of the result is
 * written once. */
void lam__parallel_take(lam__team *team, const lam__index_shape *s, lam__index_mode mode, lam_dtype dtype,
                        const lam__index_source *x, lam_dtype index_dtype, const void *index, void *out) {
    indexing t = {*s, mode, LAM__SCATTER_ADD, dtype, index_dtype, *x, NULL, index, out};
    const int64_t dims[3] = {s->batch, s->outer, s->k};
    /* To find a place costs as much as to move three elements. */
    const double cost = lam__parallel_count(3, dims) * ((double)s->inner + 3);
    lam__parallel_boxes(team, 3, 3, dims, cost, take_box, &t);
}

/* Whole rows: x and out move by rows, the index by batches, which rows of one batch share. */
static void scatter_box(void *env, const int64_t *start, const int64_t *dims, int worker) {
    const indexing *t = env;
    const lam__index_shape *s = &t->shape, part = {dims[0], dims[1], s->n, s->k, s->inner};
    const int64_t row = start[0] * s->outer + start[1], run = s->inner * lam__item_bytes(t->dtype);
    (void)worker;
    lam__kernels_scatter(t->op, &part, t->mode, t->dtype, t->out + row * s->n * run, t->index_dtype,
                         t->index + start[0] * s->k * lam__item_bytes(t->index_dtype), t->x + row * s->k * run);
}

/* Only rows are cut: within a row updates of one place have an order. */
void lam__parallel_scatter(lam__team *team, lam__scatter_op op, const lam__index_shape *s, lam__index_mode mode,
                           lam_dtype dtype, void *out, lam_dtype index_dtype, const void *index, const void *updates) {
    indexing t = {*s, mode, op, dtype, index_dtype, {0}, updates, index, out};
    const int64_t dims[2] = {s->batch, s->outer};
    const double cost = lam__parallel_count(2, dims) * (double)s->k * ((double)s->inner + 3);
    lam__parallel_boxes(team, 2, 2, dims, cost, scatter_box, &t);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* Samples by rejection: element i draws as many numbers as it needs from the key that is folded with i. The parameter
 * is an array beside the result, element by element. */
typedef struct sampling {
    lam_dtype dtype;
    const uint32_t *key;
    bool logarithm;
    const char *parameter, *second;
    char *out;
} sampling;

/* Element i takes key number i, whoever draws it. */
static void gamma_part(void *env, int64_t begin, int64_t end, int worker) {
    const sampling *s = env;
    const int64_t at = begin * lam__item_bytes(s->dtype);
    (void)worker;
    lam__kernels_random_gamma(s->dtype, s->key, begin, end - begin, s->parameter + at, s->logarithm, s->out + at);
}

/* A sample costs some hundred units, whichever way its rejections go. */
void lam__parallel_random_gamma(lam__team *team, lam_dtype dtype, const uint32_t key[2], int64_t n, const void *a,
                                bool logarithm, void *out) {
    sampling s = {dtype, key, logarithm, a, NULL, out};
    lam__team_run(team, n, 400, gamma_part, &s);
}

static void poisson_part(void *env, int64_t begin, int64_t end, int worker) {
    const sampling *s = env;
    (void)worker;
    lam__kernels_random_poisson(s->key, begin, end - begin, (const float *)(const void *)s->parameter + begin,
                                (int64_t *)(void *)s->out + begin);
}

/* Counters are numbers of elements of the whole, so a piece is told where it begins. */
void lam__parallel_random_poisson(lam__team *team, const uint32_t key[2], int64_t n, const float *rate, int64_t *out) {
    sampling s = {LAM_F32, key, false, (const char *)rate, NULL, (char *)out};
    lam__team_run(team, n, 400, poisson_part, &s);
}

static void binomial_part(void *env, int64_t begin, int64_t end, int worker) {
    const sampling *s = env;
    const int64_t at = begin * lam__item_bytes(s->dtype);
    (void)worker;
    lam__kernels_random_binomial(s->dtype, s->key, begin, end - begin, s->parameter + at, s->second + at, s->out + at);
}

/* NaN for what has no distribution, so there is nothing to report from a worker. */
void lam__parallel_random_binomial(lam__team *team, lam_dtype dtype, const uint32_t key[2], int64_t n,
                                   const void *count, const void *probability, void *out) {
    sampling s = {dtype, key, false, count, probability, out};
    lam__team_run(team, n, 400, binomial_part, &s);
}
