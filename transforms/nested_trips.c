/* See nested_trips.h. Where the functions of the loop run on addresses, rows are where its carries are made. */
#include "transforms/nested_trips.h"

#include "lib/base/context.h"
#include "lib/program/function.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/jit.h"

#include <string.h>

/* A run. x[]: what the functions are given; y[]: what the body gives; both are held. types[]: of one row. from[], to[]:
 * addresses of the same. */
typedef struct run {
    lam__trips *t;
    lam_value **x, **y;
    const lam_value **types;
    void **from, **to;
    bool plain;
} run;

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

lam__trips *lam__trips_new(lam_ctx *ctx, lam_fn *const fns[], int operands, int carries, int kept) {
    const size_t pointers = (size_t)(operands + carries + kept) + 1;
    lam__trips *t = lam__alloc_get(&ctx->pool, sizeof *t + pointers * sizeof(lam_value *));
    if (!t) {
        lam__error_memory(ctx, sizeof *t);
        return NULL;
    }
    *t = (lam__trips){.refs = 1, .ctx = ctx, .operands = operands, .carries = carries, .kept = kept};
    t->in = (lam_value **)(void *)(t + 1);
    t->rows = t->in + operands;
    memset(t->in, 0, pointers * sizeof *t->in);
    for (int f = 0; f < LAM__TRIPS_FUNCTIONS; f++) t->fns[f] = lam__fn_retain(fns[f]);
    return t;
}

lam__trips *lam__trips_hold(lam__trips *t) {
    if (t) t->refs++;
    return t;
}

void lam__trips_release(lam__trips *t) {
    if (!t || --t->refs) return;
    const size_t pointers = (size_t)(t->operands + lam__trips_rows(t)) + 1;
    lam__trips_forget(t);
    for (int f = 0; f < LAM__TRIPS_FUNCTIONS; f++) lam__fn_release(t->fns[f]);
    lam__machine_trips_free(t->machine);
    lam__alloc_put(&t->ctx->pool, t, sizeof *t + pointers * sizeof(lam_value *));
}

void lam__trips_forget(lam__trips *t) {
    lam__arguments_release(t->operands, t->in);
    lam__arguments_release(lam__trips_rows(t), t->rows);
    t->there = false;
    t->room = t->made = 0;
}

bool lam__trips_are_of(const lam__trips *t, lam_value *const in[]) {
    bool are = t->there;
    for (int i = 0; i < t->operands && are; i++) are = t->in[i] == in[i];
    return are;
}

static size_t row_bytes(const run *r, int k) {
    return (size_t)r->types[k]->count * lam__dtype_bytes(r->types[k]->dtype);
}

static void *row(const run *r, int k, int64_t trip) {
    return (char *)r->t->rows[k]->data + (size_t)trip * row_bytes(r, k);
}

/* Room for so many trips, of which those made so far are there already. */
static bool make_room(run *r, int64_t room) {
    lam__trips *t = r->t;
    bool fine = true;
    for (int k = 0; k < lam__trips_rows(t) && fine; k++) {
        const lam_value *x = r->types[k];
        int64_t dims[LAM_INNER_RANK + 1] = {room};
        for (int axis = 0; axis < x->rank; axis++) dims[axis + 1] = x->dims[axis];
        lam_value *wider = lam__value_new(t->ctx, (lam_dtype)x->dtype, x->rank + 1, dims), *had = t->rows[k];
        const size_t bytes = (size_t)t->room * row_bytes(r, k);
        fine = wider != NULL;
        if (fine && had && bytes) memcpy(wider->data, had->data, bytes);
        t->rows[k] = wider;
        lam__value_release(had);
    }
    t->room = room;
    return fine;
}

/* Bytes of all rows of a trip; at least one. */
static int64_t trip_bytes(const run *r) {
    int64_t bytes = 1;
    for (int k = 0; k < lam__trips_rows(r->t); k++) bytes += (int64_t)row_bytes(r, k);
    return bytes;
}

/* How many trips there is room for at first: as many as the last time, but few where rows are large, since no more may
 * follow. */
static int64_t first_room(const run *r) {
    enum { LEAST = 16, MOST_BYTES = 1 << 18 };
    const int64_t wanted = r->t->usual > LEAST ? r->t->usual : LEAST, most = MOST_BYTES / trip_bytes(r);
    return 2 + (wanted < most ? wanted : most);
}

/* Twice the room, of what is large a quarter more: while it is copied there are both. */
static bool make_more_room(run *r) {
    enum { LARGE = 1 << 24 };
    const int64_t room = r->t->room;
    return make_room(r, room + (room < LARGE / trip_bytes(r) ? room : room / 4 + 1));
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* The carries before the first trip. */
static void begin_rows(const run *r) {
    for (int k = 0; k < r->t->carries; k++)
        if (row_bytes(r, k)) memcpy(row(r, k, 0), r->x[k]->data, row_bytes(r, k));
}

/* By machine code, which comes back where there is no more room. */
static lam_status run_machine(run *r) {
    lam__trips *t = r->t;
    for (int i = 0; i < t->operands; i++) r->from[i] = r->x[i]->data;
    begin_rows(r);
    for (;;) {
        for (int k = 0; k < lam__trips_rows(t); k++) r->to[k] = t->rows[k]->data;
        t->made = lam__machine_trips_there(t->machine, r->from, r->to, t->made, t->room);
        if (t->made + 1 < t->room) return LAM_OK;
        if (!make_more_room(r)) return LAM_ERR_MEMORY;
    }
}

/* On addresses. What the body gives as it gets it stays where it is, and its rows are copies. */
static lam_status run_bare(run *r, lam__plan *condition, lam__plan *body) {
    lam__trips *t = r->t;
    bool holds;
    void *const truth[] = {&holds};
    const int carries = t->carries, rows = lam__trips_rows(t);
    for (int i = 0; i < t->operands; i++) r->from[i] = r->x[i]->data;
    begin_rows(r);
    for (;; t->made++) {
        if (t->made + 1 == t->room && !make_more_room(r)) return LAM_ERR_MEMORY;
        for (int k = 0; k < rows; k++) r->to[k] = row(r, k, t->made + (k < carries));
        for (int k = 0; k < carries; k++) r->from[k] = row(r, k, t->made);
        lam_status status = lam__plan_run_bare(condition, r->from, truth);
        if (status != LAM_OK || !holds) return status;
        status = lam__plan_run_bare(body, r->from, r->to);
        if (status != LAM_OK) return status;
        for (int k = 0; k < rows; k++)
            if (!lam__plan_bare_type(body, k) && row_bytes(r, k)) memcpy(r->to[k], r->from[k], row_bytes(r, k));
    }
}

/* Puts v into its row of this trip; false without memory. */
static bool put_row(const run *r, int k, lam_value *v) {
    lam_value *x = lam__value_contiguous(v);
    if (x && row_bytes(r, k)) memcpy(row(r, k, r->t->made), x->data, row_bytes(r, k));
    lam__value_release(x);
    return x != NULL;
}

/* One trip, after which x[] has the carries of the next one. */
static lam_status make_trip(run *r) {
    const int carries = r->t->carries, rows = lam__trips_rows(r->t);
    for (int k = 0; k < carries; k++)
        if (!put_row(r, k, r->x[k])) return LAM_ERR_MEMORY;
    lam_status status = lam__jit_call(r->t->fns[LAM__TRIPS_BODY], r->x, r->y);
    r->plain = status == LAM_OK && lam__nested_is_plain(rows, r->y);
    if (!r->plain) return status;
    for (int k = carries; k < rows; k++)
        if (!put_row(r, k, r->y[k])) return LAM_ERR_MEMORY;
    for (int k = 0; k < carries; k++) {
        lam__value_release(r->x[k]);
        r->x[k] = lam__value_contiguous(r->y[k]);
        if (!r->x[k]) return LAM_ERR_MEMORY;
    }
    lam__arguments_release(rows, r->y);
    return LAM_OK;
}

/* Value by value. */
static lam_status run_called(run *r) {
    lam__trips *t = r->t;
    for (;; t->made++) {
        lam_value *holds = NULL;
        lam_status status = lam__jit_call(t->fns[LAM__TRIPS_CONDITION], r->x, &holds);
        if (status != LAM_OK) return status;
        r->plain = lam__nested_is_plain(1, &holds) && holds->dtype == LAM_BOOL;
        const bool ends = !r->plain || !*(const bool *)holds->data;
        lam__value_release(holds);
        if (ends) return LAM_OK;
        if (t->made + 1 == t->room && !make_more_room(r)) return LAM_ERR_MEMORY;
        status = make_trip(r);
        if (status != LAM_OK || !r->plain) return status;
    }
}

/* Whether the results of the body can be made where rows are, and the condition asked. */
static bool are_bare(const run *r, lam__plan *condition, lam__plan *body) {
    if (!condition || !body || !lam__plan_is_bare(condition) || !lam__plan_is_bare(body)) return false;
    const lam_value *truth = lam__plan_bare_type(condition, 0);
    for (int k = 0; k < lam__trips_rows(r->t); k++) {
        const lam_value *type = lam__plan_bare_type(body, k);
        if (type && !lam__value_same_type(type, r->types[k])) return false;
    }
    return truth && truth->dtype == LAM_BOOL && truth->rank == 0;
}

/* Copies of the last carries, since rows are given up as a whole. */
static lam_status give_last(const run *r, bool bare, lam_value *last[]) {
    bool fine = true;
    for (int k = 0; k < r->t->carries; k++) {
        const lam_value *x = r->types[k];
        if (!bare) {
            last[k] = lam__value_hold(r->x[k]);
            continue;
        }
        last[k] = lam__value_new(r->t->ctx, (lam_dtype)x->dtype, x->rank, x->dims);
        fine = fine && last[k];
        if (fine && row_bytes(r, k)) memcpy(last[k]->data, row(r, k, r->t->made), row_bytes(r, k));
    }
    if (!fine) lam__arguments_release(r->t->carries, last);
    return fine ? LAM_OK : LAM_ERR_MEMORY;
}

/* By plans, on addresses if they can. */
static lam_status run_plans(run *r, bool *bare) {
    lam__trips *t = r->t;
    lam__plan *condition = NULL, *body = NULL;
    lam_status status = lam__jit_plan(t->fns[LAM__TRIPS_BODY], r->x, &body);
    if (status == LAM_OK) status = lam__jit_plan(t->fns[LAM__TRIPS_CONDITION], r->x, &condition);
    *bare = status == LAM_OK && are_bare(r, condition, body);
    if (status != LAM_OK) return status;
    return *bare ? run_bare(r, condition, body) : run_called(r);
}

static lam_status run_all(run *r, lam_value *last[]) {
    lam__trips *t = r->t;
    bool bare = true;
    for (int i = 0; i < t->operands; i++)
        if (!(r->x[i] = lam__value_contiguous(t->in[i]))) return LAM_ERR_MEMORY;
    for (int k = 0; k < lam__trips_rows(t); k++)
        r->types[k] = lam__program_result_type(lam__program_of(t->fns[LAM__TRIPS_PROGRAM]), k);
    if (!make_room(r, first_room(r))) return LAM_ERR_MEMORY;
    lam_status status = t->machine ? run_machine(r) : run_plans(r, &bare);
    if (status == LAM_OK && r->plain && last) status = give_last(r, bare, last);
    if (status == LAM_OK) t->usual = t->made;
    return status;
}

lam_status lam__trips_run(lam__trips *t, lam_value *const in[], lam_value *last[], bool *plain) {
    lam__scratch_area area;
    const size_t operands = (size_t)t->operands, rows = (size_t)lam__trips_rows(t);
    const size_t pointers = 2 * operands + 3 * rows + 1;
    run r = {.t = t, .x = lam__scratch_get(&area, t->ctx, pointers * sizeof *r.x), .plain = true};
    lam__trips_forget(t);
    if (!r.x) return LAM_ERR_MEMORY;
    memset(r.x, 0, pointers * sizeof *r.x);
    r.y = r.x + operands;
    r.types = (const lam_value **)(r.y + rows);
    r.from = (void **)(r.types + rows);
    r.to = r.from + operands;
    for (int i = 0; i < t->operands; i++) t->in[i] = lam__value_hold(in[i]);
    const lam_status status = run_all(&r, last);
    lam__arguments_release((int)operands, r.x);
    lam__arguments_release((int)rows, r.y);
    t->there = status == LAM_OK && r.plain;
    if (!t->there) lam__trips_forget(t);
    *plain = r.plain;
    lam__scratch_put(&area);
    return status;
}
