/* lam_scan and lam_map: loops along axis 0. An element is a view, a trip a call at the level of the caller; cotangents
 * of elements are added where they lie, so a loop forwards and back costs what its trips cost. */
#include "transforms/batch.h"
#include "transforms/deferred.h"

#include "lib/base/context.h"
#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>
#include <lamina/transforms.h>

#include <string.h>

/* A loop of `length` trips: carries, elements of xs, results. rows: results of all trips, those of one output behind
 * one another. whole: per output, all rows in one, where they go as long as they are plain memory. */
typedef struct scan {
    lam_fn *f;
    lam_list init; /* as given: what the carries begin with */
    lam_tensor **carry, **xs, **in, **out, **rows, **whole;
    size_t carries, elements, results;
    int64_t length;
    bool reverse;
    bool only_types; /* there is one trip, whose results stay in out */
} scan;

/* All lengths are listed, that of the option too, since it cannot be known which of them is wrong. */
static bool fail_lengths(lam__control *c, const scan *s, int64_t asked) {
    char text[512];
    lam__text t = {text, sizeof text, 0};
    if (asked) lam__error_append(&t, "`length` is %lld, ", (long long)s->length);
    for (size_t i = 0; i < s->elements; i++)
        lam__error_append(&t, "%snumber %zu has %lld", i ? ", " : "", i, (long long)lam_dim(s->xs[i], 0));
    lam__error_set(c->ctx, LAM_ERR_SHAPE, "all must have one length along axis 0, which is `length` if that is given",
                   "%s of '%s': lengths differ: %s", c->what, s->f->name, text);
    return false;
}

/* Rows are stacked, so they must be alike; the message names the element at which they ceased to be. Rows of a program
 * are stacked by its types, so only loops that run trip by trip come here. */
static lam_tensor *fail_row(lam__control *c, const scan *s, size_t k, int64_t i, const lam_value *first,
                            const lam_value *row) {
    char text[512];
    lam__text t = {text, sizeof text, 0};
    lam__error_append_type(&t, (lam_dtype)first->dtype, first->rank, first->dims);
    lam__error_append(&t, " of the first element and ");
    lam__error_append_type(&t, (lam_dtype)row->dtype, row->rank, row->dims);
    lam__error_set(c->ctx, first->dtype == row->dtype ? LAM_ERR_SHAPE : LAM_ERR_DTYPE,
                   "let it give the same types whichever element it gets",
                   "%s of '%s': result %zu is %s of element %lld", c->what, s->f->name, k, text, (long long)i);
    return &c->ctx->failed;
}

/* From the option and the elements, which must all agree. -1 until something says it: the option first, then the first
 * of xs. */
static bool find_length(lam__control *c, scan *s, int64_t asked) {
    if (asked < LAM_ZERO_SIZE || (!asked && !s->elements)) {
        lam__error_set(c->ctx, LAM_ERR_OPTION, "give a positive number, LAM_ZERO_SIZE for none, or xs",
                       "%s of '%s': the length cannot be %lld", c->what, s->f->name, (long long)asked);
        return false;
    }
    s->length = asked == LAM_ZERO_SIZE ? 0 : asked > 0 ? asked : -1;
    for (size_t i = 0; i < s->elements; i++) {
        if (!lam_rank(s->xs[i])) {
            lam__error_set(c->ctx, LAM_ERR_SHAPE, "give it an axis with lam_expand_dims",
                           "%s of '%s': number %zu of xs has rank 0, and no axis to go along", c->what, s->f->name, i);
            return false;
        }
        if (s->length < 0) s->length = lam_dim(s->xs[i], 0);
        if (lam_dim(s->xs[i], 0) != s->length) return fail_lengths(c, s, asked);
    }
    return true;
}

/* Where row i of output k goes, if it can go there; NULL. The first row decides of which type all are. A row that is a
 * box, or has gaps, cannot be copied by its bytes. Rows of as many axes as users may have leave none for the trips, and
 * are refused where they are stacked. */
static char *place_of_row(lam__control *c, scan *s, size_t k, int64_t i, const lam_value *row, bool first) {
    if (!row || row->kind != LAM__CONCRETE || !row->contiguous) return NULL;
    if (first && row->rank < LAM_MAX_RANK) {
        int64_t dims[LAM_MAX_RANK + 1] = {s->length};
        for (int axis = 0; axis < row->rank; axis++) dims[1 + axis] = row->dims[axis];
        s->whole[k] = lam__scope_handle(c->ctx, lam__value_new(c->ctx, (lam_dtype)row->dtype, row->rank + 1, dims));
        if (lam_failed(s->whole[k])) s->whole[k] = NULL;
    }
    const lam_value *all = s->whole[k] ? lam__scope_peek(s->whole[k]) : NULL;
    bool same = all && all->dtype == row->dtype && all->rank == row->rank + 1;
    for (int axis = 0; same && axis < row->rank; axis++) same = all->dims[axis + 1] == row->dims[axis];
    return same ? (char *)all->data + i * row->count * (int64_t)lam__dtype_bytes(row->dtype) : NULL;
}

/* Row i of output k is kept. Once one cannot go where the others are, these are looked at there. Plain rows are copied
 * and dropped at once, so a long loop holds one block per result and no handle for each trip. */
static void keep_row(lam__control *c, scan *s, size_t k, int64_t i, lam_tensor *row) {
    const int64_t first = s->reverse ? s->length - 1 : 0, step = s->reverse ? -1 : 1;
    const lam_value *v = lam__scope_peek(row);
    char *to = place_of_row(c, s, k, i, v, i == first);
    if (to) {
        if (v->count) memcpy(to, v->data, (size_t)v->count * lam__dtype_bytes(v->dtype));
        lam_drop(row);
        return;
    }
    lam_tensor **rows = s->rows + (int64_t)k * s->length;
    /* Rows that were copied are views of all from here on. */
    for (int64_t j = first; s->whole[k] && j != i; j += step) rows[j] = lam_index(s->whole[k], 0, j);
    s->whole[k] = NULL;
    rows[i] = row;
}

/* Trip i. Nothing of it is left but carries and results. Elements are dropped before it is asked whether the call went
 * well. Carries change hands: those of the trip before are given up here, and nowhere else. */
static bool trip(lam__control *c, scan *s, int64_t i) {
    size_t n = s->carries, m = s->results;
    if (n) memcpy(s->in, s->carry, n * sizeof *s->in);
    for (size_t k = 0; k < s->elements; k++) s->in[n + k] = lam_index(s->xs[k], 0, i);
    bool fine = lam_call(s->f, (lam_list){n + s->elements, s->in}, s->out, n + m) == LAM_OK &&
                lam__control_same(c, s->f, n, s->carry, s->out, 0);
    for (size_t k = 0; k < s->elements; k++) lam_drop(s->in[n + k]);
    if (!fine) return false;
    for (size_t k = 0; k < n; k++) {
        lam_drop(s->carry[k]);
        s->carry[k] = s->out[k];
    }
    for (size_t k = 0; k < m && !s->only_types; k++) keep_row(c, s, k, i, s->out[n + k]);
    return true;
}

/* Whether f, of whose results out[] are none, keeps the types of its carries. The batch of none has its axis in front
 * of what f gave; carries get one too, so that both can be compared behind it. */
static bool keeps_types(lam__control *c, scan *s) {
    for (size_t k = 0; k < s->carries; k++) {
        const lam_dims own = lam_dims_of(s->carry[k]);
        int64_t dims[LAM_INNER_RANK + 1] = {0};
        for (int i = 0; i < own.rank; i++) dims[1 + i] = own.dims[i];
        s->in[k] = lam__apply_broadcast(s->carry[k], own.rank + 1, dims);
    }
    return lam__control_same(c, s->f, s->carries, s->in, s->out, 1);
}

/* The results of no trips: f as a batch of none says of which types they are. Carries come out as they went in. The
 * batch draws nothing and calls f once with no example, which is allowed to look at types alone. */
static bool no_trips(lam__control *c, scan *s) {
    size_t n = s->carries;
    /* Carries are the same for all examples, of which elements have one each. */
    int axes[2] = {LAM_UNMAPPED, 0}, *in_axes = (int *)(void *)lam__apply_room(c->ctx, n + s->elements);
    if (!in_axes) return false;
    for (size_t k = 0; k < n + s->elements; k++) in_axes[k] = axes[k >= n];
    const lam__batch types = {.randomness = LAM_RANDOMNESS_DIFFERENT, .only_types = true};
    lam_fn *none = lam__batch_mapped(s->f, &types, in_axes, NULL);
    if (n) memcpy(s->in, s->carry, n * sizeof *s->in);
    if (s->elements) memcpy(s->in + n, s->xs, s->elements * sizeof *s->in);
    if (lam_call(none, (lam_list){n + s->elements, s->in}, s->out, n + s->results) != LAM_OK || !keeps_types(c, s))
        return false;
    if (n) memcpy(s->out, s->carry, n * sizeof *s->out);
    return true;
}

/* Types alone: those of one trip, with results for all. A broadcast stands for the rows: nobody reads elements of
 * it. */
static bool run_for_types(lam__control *c, scan *s) {
    s->only_types = true;
    if (!trip(c, s, 0)) return false;
    if (s->carries) memcpy(s->out, s->carry, s->carries * sizeof *s->out);
    for (size_t k = s->carries; k < c->n_out; k++) {
        lam_dims one = lam_dims_of(s->out[k]);
        int64_t dims[LAM_MAX_RANK + 1] = {s->length};
        for (int i = 0; i < one.rank; i++) dims[1 + i] = one.dims[i];
        s->out[k] = lam_broadcast_to(s->out[k], (lam_dims){one.rank + 1, dims});
    }
    return true;
}

/* The loop as one operation of the program that is being recorded, from the beginning. in[] has room for carries and
 * xs. reads: as of lam__deferred_try; NULL: it is a failure where f reads elements. From the carries as they were
 * given, since the first trip may have been made already. */
static bool run_later(lam__control *c, scan *s, bool *reads) {
    size_t n = s->carries + s->elements;
    lam__later what = {.kind = LAM__SCAN, .n = n, .carries = s->carries, .length = s->length, .reverse = s->reverse};
    if (!lam__control_operands(c, "carries", s->init, s->in)) return false;
    if (s->elements) memcpy(s->in + s->carries, s->xs, s->elements * sizeof *s->in);
    return reads ? lam__deferred_try(c, &what, s->in, s->out, reads) : lam__deferred_call(c, &what, s->in, s->out);
}

/* See lam__deferred_recorded: by what all trips read, and what they have carried so far. None where neither belongs to
 * a program, so that trips are never too many. */
static lam__extent recorded(const scan *s) {
    const lam__extent by_elements = lam__deferred_recorded(s->f, s->elements, s->xs);
    return by_elements.operations >= 0 ? by_elements : lam__deferred_recorded(s->f, s->carries, s->carry);
}

/* The rows of result k in one, where trips have kept them apart. They must have the type of the first one. Looked at in
 * the order of the elements; in reverse the last of these was made first, and is the one that all are compared with. */
static lam_tensor *joined(lam__control *c, const scan *s, size_t k) {
    lam_tensor **rows = s->rows + (int64_t)k * s->length;
    const lam_value *first = lam__scope_peek(rows[s->reverse ? s->length - 1 : 0]);
    for (int64_t i = 0; i < s->length; i++) {
        const lam_value *row = lam__scope_peek(rows[i]);
        if (!first || !row) return &c->ctx->failed;
        if (!lam__value_same_type(first, row)) return fail_row(c, s, k, i, first, row);
    }
    lam_tensor *all = lam_stack((lam_list){(size_t)s->length, rows}, 0);
    for (int64_t i = 0; i < s->length; i++) lam_drop(rows[i]);
    return all;
}

/* All trips; s->out gets the results. While a program is being recorded the first trip shows how many operations each
 * trip adds to it. If that times the trips is too much for one program, what the first trip has made is dropped, and
 * the loop becomes one operation, unless f reads elements, which are known trip by trip alone. Rows that have been
 * stacked are given up one output after the other. Room for all rows at once is refused before it can overflow. */
static bool run(lam__control *c, scan *s) {
    if (!s->length) return no_trips(c, s);
    lam__known known = lam__deferred_loop(s->f, s->carries, s->elements, s->carry, s->length);
    if (known == LAM__TRACED) return run_later(c, s, NULL);
    if (s->results && s->length > INT64_MAX / 64 / (int64_t)s->results) {
        lam__error_set(c->ctx, LAM_ERR_OVERFLOW, NULL, "%s of '%s': there are too many results", c->what, s->f->name);
        return false;
    }
    s->rows = lam__apply_rooms(c->ctx, (int64_t)s->results, s->length + 1);
    if (!s->rows) return false;
    /* Behind the rows, in the same block. */
    s->whole = s->rows + (int64_t)s->results * s->length;
    if (s->results) memset(s->whole, 0, s->results * sizeof *s->whole);
    if (known == LAM__NOT_ASKED) return run_for_types(c, s);
    /* Before any trip, since the difference is what the first one adds. */
    const lam__extent before = recorded(s);
    for (int64_t i = 0; i < s->length; i++) {
        if (!trip(c, s, s->reverse ? s->length - 1 - i : i)) return false;
        if (i || s->length == 1 || !lam__deferred_is_long(before, recorded(s), s->length)) continue;
        bool reads = false;
        const bool fine = run_later(c, s, &reads);
        if (!reads) return fine;
    }
    for (size_t k = 0; k < s->carries; k++) s->out[k] = s->carry[k];
    for (size_t k = 0; k < s->results; k++) s->out[s->carries + k] = s->whole[k] ? s->whole[k] : joined(c, s, k);
    return true;
}

/* Everything but the trips. s->f, reverse are set. out[] lies behind in[] in one block; the caller's list is written by
 * lam__control_end alone. */
static bool prepare(lam__control *c, scan *s, lam_list init, lam_list xs, int64_t asked) {
    size_t n = init.count + xs.count;
    if (n != (size_t)s->f->inputs || c->n_out != (size_t)s->f->outputs || c->n_out < init.count) {
        lam__error_set(
            c->ctx, LAM_ERR_ARITY, "f takes carries and elements, and gives carries and results",
            "%s of '%s': it takes %d and gives %d; there are %zu carries, %zu of xs, and room for %zu results", c->what,
            s->f->name, s->f->inputs, s->f->outputs, init.count, xs.count, c->n_out);
        return false;
    }
    s->init = init;
    s->carries = init.count;
    s->elements = xs.count;
    s->results = c->n_out - init.count;
    lam_tensor **room = lam__apply_room(c->ctx, 2 * n + c->n_out);
    if (!room) return false;
    s->carry = room;
    s->xs = room + init.count;
    s->in = room + n;
    s->out = s->in + n;
    return lam__control_operands(c, "carries", init, s->carry) && lam__control_operands(c, "xs", xs, s->xs) &&
           find_length(c, s, asked);
}

/* The context is asked of xs where there are any: a scan may have no carries, and one by `length` no elements. */
lam_status lam_scan(lam_fn *f, lam_list init, lam_list xs, lam_tensor **out, size_t n_out,
                    const lam_scan_options *options) {
    static const lam_scan_options none;
    const lam_scan_options *o = options ? options : &none;
    scan s = {.f = f, .reverse = o->reverse};
    lam__control c;
    lam_status status;
    if (!lam__control_begin(&c, "scan", 1, &f, xs.count ? xs : init, out, n_out, &status)) return status;
    bool fine = o->unroll >= 0;
    if (!fine)
        lam__error_set(c.ctx, LAM_ERR_OPTION, "give a positive number, or 0 for the default",
                       "scan of '%s': unroll cannot be %lld", f->name, (long long)o->unroll);
    fine = fine && prepare(&c, &s, init, xs, o->length) && run(&c, &s);
    return lam__control_end(&c, fine ? s.out : NULL);
}

/* ---- map --------------------------------------------------------------------------------------------------------- */

/* Several elements at once are a batch by chunks, in which each draws for itself, as one after the other would.
 * lam_vmap is a public call at this level, so it is refused where a vmap would be, with its own message. */
static bool map_batches(scan *s, int64_t batch_size) {
    lam_fn *batched =
        lam_vmap(s->f, &(lam_vmap_options){.chunk_size = batch_size, .randomness = LAM_RANDOMNESS_DIFFERENT});
    return lam_call(batched, (lam_list){s->elements, s->xs}, s->out, s->results) == LAM_OK;
}

/* A scan without carries; its elements depend on each other in nothing, which is what lets several go at once. */
lam_status lam_map(lam_fn *f, lam_list xs, lam_tensor **out, size_t n_out, const lam_map_options *options) {
    static const lam_map_options none;
    const lam_map_options *o = options ? options : &none;
    scan s = {.f = f};
    lam__control c;
    lam_status status;
    if (!lam__control_begin(&c, "map", 1, &f, xs, out, n_out, &status)) return status;
    bool fine = o->batch_size >= 0;
    if (!fine)
        lam__error_set(c.ctx, LAM_ERR_OPTION, "give a positive number, or 0 for the default",
                       "map of '%s': batch_size cannot be %lld", f->name, (long long)o->batch_size);
    fine = fine && prepare(&c, &s, (lam_list){0, NULL}, xs, 0) &&
           (o->batch_size && s.length ? map_batches(&s, o->batch_size) : run(&c, &s));
    return lam__control_end(&c, fine ? s.out : NULL);
}
