/* Loops on plain values whose functions run on addresses (lib/program/plan_bare.c): what a trip makes of a carry lies
 * in one of two places, in turns, results lie where they belong, and nothing is allocated, held or counted from trip to
 * trip. Other loops are left to nested_run.c. */
#include "transforms/nested.h"

#include "lib/base/context.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/jit.h"

#include <string.h>

/* in[]: operands without gaps; side[]: the two places of each carry, one after the other; all of these are held.
 * from[], to[]: addresses of what a trip is given and of what it makes. */
typedef struct bare {
    const lam_call_site *call;
    const lam__nested *what;
    lam__plan *test, *body; /* test: of a while */
    lam_value **in, **side, **out;
    void **from, **to;
    int carries, elements;
} bare;

static bool is_scan(const bare *b) {
    return b->call->primitive == &lam__row_scan;
}

/* ---- whether and how --------------------------------------------------------------------------------------------- */

/* The plan of function i for values like in[], if it runs on addresses; *plan is NULL if not. A function that was not
 * compiled has no plan, and the loop is run otherwise. */
static lam_status plan_of(const bare *b, int i, lam_value *const in[], lam__plan **plan) {
    lam_fn *f = b->what->fns[i];
    *plan = NULL;
    if (!lam__jit_made(f)) return LAM_OK;
    const lam_status status = lam__jit_plan(f, in, plan);
    if (*plan && !lam__plan_is_bare(*plan)) *plan = NULL;
    return status;
}

/* What functions are given in the first trip: elements instead of what has all of them. Released by the caller. An
 * element of a scan without trips would be none, but such a scan never comes here (fits in nested_run.c). */
static bool first_operands(const bare *b, lam_value *in[]) {
    bool fine = true;
    for (int i = 0; i < b->call->inputs; i++) {
        lam_value *x = b->call->in[i];
        const bool element = is_scan(b) && i >= b->carries && i < b->carries + b->elements;
        in[i] = element ? lam__value_view(x, x->rank - 1, x->dims + 1, x->strides + 1, 0) : lam__value_hold(x);
        fine = fine && in[i];
    }
    return fine;
}

/* The results of body are carries as they were given, and rows that it makes; that of a condition is a bool. A row that
 * is an input would have to be copied. */
static bool results_fit(const bare *b, lam_value *const in[]) {
    for (int o = 0; o < b->call->outputs; o++) {
        const lam_value *type = lam__plan_bare_type(b->body, o);
        if (o >= b->carries && !type) return false;
        if (o < b->carries && type && !lam__value_same_type(type, in[o])) return false;
    }
    const lam_value *truth = b->test ? lam__plan_bare_type(b->test, 0) : NULL;
    return is_scan(b) || (truth && truth->dtype == LAM_BOOL && truth->rank == 0);
}

/* Finds the plans; *fits: it is such a loop. */
static lam_status find_plans(bare *b, bool *fits) {
    lam_value **in = b->in; /* not set yet, and cleared again */
    lam_status status = first_operands(b, in) ? LAM_OK : LAM_ERR_MEMORY;
    if (status == LAM_OK) status = plan_of(b, is_scan(b) ? 0 : 1, in, &b->body);
    if (status == LAM_OK && b->body && !is_scan(b)) status = plan_of(b, 0, in, &b->test);
    *fits = status == LAM_OK && b->body && results_fit(b, in);
    lam__arguments_release(b->call->inputs, in);
    memset(in, 0, (size_t)b->call->inputs * sizeof *in);
    return status;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* So many rows of this type; length -1: one value of it. Not cleared: a trip writes all of it. */
static lam_value *like(lam_ctx *ctx, const lam_value *type, int64_t length) {
    int64_t dims[LAM_INNER_RANK + 1] = {length};
    const bool row = length >= 0;
    for (int axis = 0; axis < type->rank; axis++) dims[axis + row] = type->dims[axis];
    return lam__value_new(ctx, (lam_dtype)type->dtype, type->rank + row, dims);
}

/* Operands, two places for each carry that is made, and rows. The first trip reads the operands themselves; they are
 * never written. */
static lam_status make_room(bare *b) {
    lam_ctx *ctx = b->call->ctx;
    bool fine = true;
    for (int i = 0; i < b->call->inputs; i++) {
        fine = (b->in[i] = lam__value_contiguous(b->call->in[i])) && fine;
        b->from[i] = b->in[i] ? b->in[i]->data : NULL;
    }
    for (int o = 0; o < b->call->outputs; o++) {
        const lam_value *type = lam__plan_bare_type(b->body, o);
        if (!type) continue;
        if (o >= b->carries) fine = (b->out[o] = like(ctx, type, b->what->length)) && fine;
        for (int k = 0; o < b->carries && k < 2; k++) fine = (b->side[2 * o + k] = like(ctx, type, -1)) && fine;
    }
    return fine ? LAM_OK : LAM_ERR_MEMORY;
}

/* ---- trips ------------------------------------------------------------------------------------------------------- */

/* The trip of this number, whose carries become those of the next one. What a trip reads and what it writes are never
 * one place. */
static lam_status run_trip(bare *b, int64_t trip) {
    for (int k = 0; k < b->carries; k++)
        if (b->side[2 * k]) b->to[k] = b->side[2 * k + trip % 2]->data;
    const lam_status status = lam__plan_run_bare(b->body, b->from, b->to);
    for (int k = 0; k < b->carries; k++)
        if (b->side[2 * k]) b->from[k] = b->to[k];
    return status;
}

/* *trips: how many it has made, by which the place of the last carries is known. */
static lam_status run_while(bare *b, int64_t *trips) {
    bool holds;
    void *const truth[] = {&holds};
    for (*trips = 0;; ++*trips) {
        lam_status status = lam__plan_run_bare(b->test, b->from, truth);
        if (status != LAM_OK || !holds) return status;
        status = run_trip(b, *trips);
        if (status != LAM_OK) return status;
    }
}

/* Bytes from one element or row of x to the next. */
static int64_t row_bytes(const lam_value *x) {
    return x->count / x->dims[0] * (int64_t)lam__dtype_bytes(x->dtype);
}

/* Carries change places by the number of the trip, elements and rows by that of the element. */
static lam_status run_scan(bare *b, int64_t *trips) {
    const int64_t length = *trips = b->what->length;
    lam_status status = LAM_OK;
    for (int64_t trip = 0; trip < length && status == LAM_OK; trip++) {
        const int64_t i = b->what->reverse ? length - 1 - trip : trip;
        for (int k = b->carries; k < b->carries + b->elements; k++)
            b->from[k] = (char *)b->in[k]->data + i * row_bytes(b->in[k]);
        for (int o = b->carries; o < b->call->outputs; o++)
            b->to[o] = (char *)b->out[o]->data + i * row_bytes(b->out[o]);
        status = run_trip(b, trip);
    }
    return status;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* Carries that no trip makes, or of no trip at all, are the operands. Which of the two places the last carries are in
 * is told by the number of trips. */
static lam_status run_all(bare *b, bool *fits) {
    lam_status status = find_plans(b, fits);
    if (status != LAM_OK || !*fits) return status;
    int64_t trips = 0;
    status = make_room(b);
    if (status == LAM_OK) status = is_scan(b) ? run_scan(b, &trips) : run_while(b, &trips);
    for (int k = 0; k < b->carries && status == LAM_OK; k++)
        b->out[k] = lam__value_hold(trips && b->side[2 * k] ? b->side[2 * k + (trips - 1) % 2] : b->in[k]);
    if (status != LAM_OK) lam__arguments_release(b->call->outputs, b->out);
    lam__arguments_release(b->call->inputs, b->in);
    lam__arguments_release(2 * b->carries, b->side);
    return status;
}

/* All pointers are in one block: operands, two sides of each carry, which trips write in turns, and where parts read
 * and write. */
bool lam__nested_run_bare(const lam_call_site *call, lam_value *out[], lam_status *status) {
    const lam__nested *w = call->params;
    bare b = {.call = call, .what = w, .out = out, .carries = (int)w->carries, .elements = (int)w->elements};
    lam__scratch_area area;
    bool fits = false;
    const size_t n = (size_t)call->inputs, m = (size_t)call->outputs, sides = 2 * (size_t)b.carries;
    const size_t pointers = 2 * n + m + sides;
    b.in = lam__scratch_get(&area, call->ctx, (pointers + 1) * sizeof *b.in);
    if (!b.in) {
        *status = LAM_ERR_MEMORY;
        return true;
    }
    memset(b.in, 0, pointers * sizeof *b.in);
    memset(out, 0, m * sizeof *out);
    b.side = b.in + n;
    b.from = (void **)(b.side + sides);
    b.to = b.from + n;
    *status = run_all(&b, &fits);
    lam__scratch_put(&area);
    return fits || *status != LAM_OK;
}
