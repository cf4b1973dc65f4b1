/* Reductions, arg-reductions and scans in pieces: between results where there are enough of them, and within results
 * where there are few, at the leaves of their tree (NOTE [parts] in lib/kernels/kernels.h). */
#include "lib/base/inline.h"
#include "lib/kernels/item.h"
#include "lib/kernels/means.h"
#include "lib/kernels/scan.h"
#include "lib/parallel/mean.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* One reduction as the workers see it; whoever shares it keeps it in its frame until all pieces are done. */
typedef struct reduction {
    lam__reduce_id id;
    lam_dtype dtype;
    int rank, kept;                                                         /* kept axes come first */
    int64_t dims[LAM__MAX_AXES], strides[LAM__MAX_AXES], to[LAM__MAX_AXES]; /* elements */
    bool reduced[LAM__MAX_AXES];
    const char *x;
    char *out;
    int64_t item, result, results; /* bytes of an element, of a result; results */
    int64_t leaves, part;          /* of each result; leaves of a part */
    bool squares;                  /* a sum of squares */
    const char *centres, *y;       /* of squares, or NULL; centres lie like the results, y like x */
    const double *n;               /* of a mean: what sums are divided by; or NULL */
} reduction;

/* The next axis, behind those added before. */
static void add_axis(reduction *r, int64_t dim, int64_t stride, bool reduced) {
    r->dims[r->rank] = dim;
    r->strides[r->rank] = stride;
    r->reduced[r->rank++] = reduced;
}

/* Kept axes before reduced ones, each in their order; what they are to the kernel does not depend on it. */
static void arrange(reduction *r, int rank, const int64_t *dims, const bool *reduced, const int64_t *strides) {
    for (int i = 0; i < rank; i++)
        if (!reduced[i]) add_axis(r, dims[i], strides[i], false);
    r->kept = r->rank;
    for (int i = 0; i < rank; i++)
        if (reduced[i]) add_axis(r, dims[i], strides[i], true);
    r->results = 1;
    for (int i = r->rank - 1; i >= 0; i--) {
        r->to[i] = r->reduced[i] ? 0 : r->results;
        if (!r->reduced[i]) r->results *= r->dims[i];
    }
}

/* Sums of squares or products of a box of x that begins at these elements, of so many leaves from `first` on. Centres,
 * where there are some, go with the results. */
static void squares_into(const reduction *r, const int64_t *dims, int64_t x, int64_t results, int64_t first,
                         int64_t leaves, char *out) {
    const char *centres = r->centres ? r->centres + results * r->result : NULL;
    const char *y = r->y ? r->y + x * r->item : NULL;
    const lam__squares s = {r->dtype, r->rank, dims, r->strides, r->reduced, r->x + x * r->item, centres, y};
    lam__kernels_squares(&s, first, leaves, out);
}

/* Whole results: a box holds all elements of each of its results, since reduced axes are never cut, so it is the
 * kernel's own call on fewer of them and gives the same bits. */
static void reduce_box(void *env, const int64_t *start, const int64_t *dims, int worker) {
    const reduction *r = env;
    const int64_t x = lam__parallel_offset(r->rank, start, r->strides),
                  to = lam__parallel_offset(r->rank, start, r->to);
    char *out = r->out + to * r->result;
    (void)worker;
    if (r->squares) squares_into(r, dims, x, to, 0, INT64_MAX, out);
    else if (r->n)
        lam__kernels_mean(r->id, r->dtype, r->rank, dims, r->reduced, r->x + x * r->item, r->strides, *r->n, out);
    else lam__kernels_reduce(r->id, r->dtype, r->rank, dims, r->reduced, r->x + x * r->item, r->strides, out);
}

/* Parts are laid side by side, each with all results. */
static void reduce_parts(void *env, int64_t begin, int64_t end, int worker) {
    const reduction *r = env;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        char *out = r->out + i * r->results * r->result;
        if (r->squares) squares_into(r, r->dims, 0, 0, i * r->part, r->part, out);
        else
            lam__kernels_reduce_part(r->id, r->dtype, r->rank, r->dims, r->reduced, r->x, r->strides, i * r->part,
                                     r->part, out);
    }
}

enum { PARTS_BYTES = 32768, NEAR = 2048 }; /* NEAR: columns side by side that are worth reading apart from others */

/* Whether neighbours in memory belong to different results, and few of them. */
static bool in_narrow_rows(const reduction *r) {
    int64_t least[2] = {INT64_MAX, INT64_MAX};
    for (int i = 0; i < r->rank; i++)
        if (r->dims[i] > 1 && llabs(r->strides[i]) < least[r->reduced[i]]) least[r->reduced[i]] = llabs(r->strides[i]);
    return least[0] < least[1] && r->results < NEAR;
}

/* Whether results are better made of parts; sets their size, a power of two of leaves. */
static bool choose_parts(reduction *r, int threads) {
    const int64_t most = PARTS_BYTES / (r->result * r->results), few = 2 * (int64_t)threads;
    /* All parts of all results have to fit the frame, and two for each thread are the least that is worth it; eight
     * times as many leave threads something to do that end early. */
    if (most < few || (r->results >= few && !in_narrow_rows(r))) return false;
    r->leaves = lam__kernels_reduce_leaves(r->id, r->dtype, r->rank, r->dims, r->reduced, r->strides);
    const int64_t wanted = most < 8 * few ? most : 8 * few;
    for (r->part = 1; (r->leaves + r->part - 1) / r->part > wanted;) r->part *= 2;
    return r->leaves >= few;
}

/* Parts of results lie in a frame of their own, so nothing is allocated; they are joined as the nodes of the tree that
 * they are, which makes the bits those of one thread. */
static LAM__APART void reduce_by_parts(lam__team *team, reduction *r, double cost) {
    alignas(64) char parts[PARTS_BYTES];
    char *out = r->out;
    const int64_t count = (r->leaves + r->part - 1) / r->part;
    r->out = parts;
    lam__team_run(team, count, cost / (double)count, reduce_parts, r);
    lam__kernels_reduce_join(r->id, r->dtype, r->results, count, parts);
    if (r->n) lam__kernels_mean_of_sums(r->id, r->dtype, r->results, *r->n, parts);
    memcpy(out, parts, (size_t)(r->results * r->result));
}

/* Few results that are long by parts, all others result by result. */
static void share(lam__team *team, reduction *r, double cost) {
    if (choose_parts(r, lam__team_size(team))) reduce_by_parts(team, r, cost);
    else lam__parallel_boxes(team, r->kept, r->rank, r->dims, cost, reduce_box, r);
}

/* n: as in the reduction. */
static void reduce(lam__team *team, lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims,
                   const bool *reduced, const void *x, const int64_t *strides, const double *n, void *out) {
    const double cost = team ? lam__parallel_count(rank, dims) : 0;
    if (!lam__team_shares(team, cost)) {
        if (n) lam__kernels_mean(id, dtype, rank, dims, reduced, x, strides, *n, out);
        else lam__kernels_reduce(id, dtype, rank, dims, reduced, x, strides, out);
        return;
    }
    /* Only now is anything arranged: most reductions are too small to be shared. */
    reduction r = {.id = id, .dtype = dtype, .x = x, .out = out, .item = lam__item_bytes(dtype), .n = n};
    r.result = lam__item_bytes(lam__reduce_result(id, dtype));
    arrange(&r, rank, dims, reduced, strides);
    share(team, &r, cost);
}

void lam__parallel_reduce(lam__team *team, lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims,
                          const bool *reduced, const void *x, const int64_t *strides, void *out) {
    reduce(team, id, dtype, rank, dims, reduced, x, strides, NULL, out);
}

void lam__parallel_mean(lam__team *team, lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims,
                        const bool *reduced, const void *x, const int64_t *strides, double n, void *out) {
    reduce(team, id, dtype, rank, dims, reduced, x, strides, &n, out);
}

void lam__parallel_squares(lam__team *team, const lam__squares *s, void *out) {
    const double cost = team ? lam__parallel_count(s->rank, s->dims) : 0;
    if (!lam__team_shares(team, cost)) {
        lam__kernels_squares(s, 0, INT64_MAX, out);
        return;
    }
    reduction r = {.id = LAM__REDUCE_SUM, .dtype = s->dtype, .x = s->x, .out = out, .squares = true};
    /* A sum of squares has the dtype of its elements. */
    r.item = r.result = lam__item_bytes(s->dtype);
    r.centres = s->centres, r.y = s->y;
    arrange(&r, s->rank, s->dims, s->reduced, s->strides);
    share(team, &r, cost);
}

/* ---- where the largest lies -------------------------------------------------------------------------------------- */

typedef struct search {
    bool maximum;
    lam_dtype dtype;
    int rank;
    const char *x;
    int64_t strides[LAM__MAX_AXES], to[LAM__MAX_AXES];
    int64_t *out;
} search;

/* The axis that is searched has been put last. */
static void search_box(void *env, const int64_t *start, const int64_t *dims, int worker) {
    const search *s = env;
    (void)worker;
    lam__kernels_arg(s->maximum, s->dtype, s->rank, dims, s->rank - 1,
                     s->x + lam__parallel_offset(s->rank, start, s->strides) * lam__item_bytes(s->dtype), s->strides,
                     s->out + lam__parallel_offset(s->rank, start, s->to));
}

/* A search along one axis is never cut, so the first of equal elements is found whatever the number of threads. The
 * axis is put last, since boxes are cut along the first ones. */
void lam__parallel_arg(lam__team *team, bool maximum, lam_dtype dtype, int rank, const int64_t *dims, int axis,
                       const void *x, const int64_t *strides, int64_t *out) {
    const double cost = team ? lam__parallel_count(rank, dims) : 0;
    if (!lam__team_shares(team, cost)) {
        lam__kernels_arg(maximum, dtype, rank, dims, axis, x, strides, out);
        return;
    }
    search s = {.maximum = maximum, .dtype = dtype, .rank = rank, .x = x, .out = out};
    int64_t moved[LAM__MAX_AXES], count = 1;
    for (int i = 0; i < rank; i++) {
        const int from = i == rank - 1 ? axis : i < axis ? i : i + 1;
        moved[i] = dims[from];
        s.strides[i] = strides[from];
    }
    for (int i = rank - 2; i >= 0; i--) {
        s.to[i] = count;
        count *= moved[i];
    }
    lam__parallel_boxes(team, rank - 1, rank, moved, cost, search_box, &s);
}

/* ---- scans ------------------------------------------------------------------------------------------------------- */

/* A scan whose axis is the last one, in pieces of the axes before. Both sides have strides of their own, as the
 * result of the whole has no gaps but a piece of it may. */
typedef struct scanning {
    lam__scan scan; /* its dims are those of a piece */
    const char *x;
    char *out;
} scanning;

/* The scanned axis has been put last. */
static void scan_box(void *env, const int64_t *start, const int64_t *dims, int worker) {
    const scanning *s = env;
    const int64_t item = lam__item_bytes(s->scan.dtype);
    lam__scan part = s->scan;
    part.dims = dims;
    (void)worker;
    lam__scan_run(&part, s->x + lam__parallel_offset(part.rank, start, part.from) * item,
                  s->out + lam__parallel_offset(part.rank, start, part.to) * item);
}

/* A scan goes through its axis from one end to the other, so only the other axes are cut; one long vector stays with
 * one thread. Elements count four times, since each waits for the one before. */
void lam__parallel_cumulate(lam__team *team, lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims,
                            int axis, bool reverse, const void *x, const int64_t *strides, void *out) {
    const double cost = team ? 4 * lam__parallel_count(rank, dims) : 0;
    int64_t moved[LAM__MAX_AXES], from[LAM__MAX_AXES], to[LAM__MAX_AXES], dense[LAM__MAX_AXES];
    if (!lam__team_shares(team, cost)) {
        lam__kernels_cumulate(id, dtype, rank, dims, axis, reverse, x, strides, out);
        return;
    }
    lam__scan_dense(rank, dims, dense);
    for (int i = 0; i < rank; i++) {
        const int old = i == rank - 1 ? axis : i < axis ? i : i + 1;
        moved[i] = dims[old], from[i] = strides[old], to[i] = dense[old];
    }
    scanning s = {{id, dtype, rank, rank - 1, reverse, moved, from, to}, x, out};
    lam__parallel_boxes(team, rank - 1, rank, moved, cost, scan_box, &s);
}
