/* Running choices and loops on plain values: functions are programs or compiled, so nothing has to be asked of handles,
 * and results go where they belong. What turns out not to be plain is left to the public operations (nested.c). */
#include "transforms/nested_trips.h"

#include "lib/base/context.h"
#include "lib/program/function.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/jit.h"

#include <string.h>

/* A compiled function goes past its body, which would look at handles first. */
static lam_status run(lam_fn *f, lam_value *const in[], lam_value *out[]) {
    return lam__jit_made(f) ? lam__jit_call(f, in, out) : lam__program_run(lam__program_of(f), in, out);
}

/* in[]: what functions get; the carries are its own. out[]: what they give. */
typedef struct loop {
    const lam_call_site *call;
    const lam__nested *what;
    lam_value **in, **out;
    int n, m;
} loop;

/* Carries of the next trip take the place of those there were. out[] is emptied, so that whatever is released later is
 * released once. */
static void advance(loop *l) {
    for (int i = 0; i < l->what->carries; i++) {
        lam__value_release(l->in[i]);
        l->in[i] = l->out[i];
        l->out[i] = NULL;
    }
}

/* ---- while ------------------------------------------------------------------------------------------------------- */

/* *plain: all that was seen. A truth that is no plain bool of this level means that somebody else sees the loop, so
 * nothing of it is kept. */
static lam_status run_while(loop *l, bool *plain) {
    lam_value *holds = NULL;
    for (;;) {
        lam_status status = run(l->what->fns[0], l->in, &holds);
        if (status != LAM_OK) return status;
        *plain = lam__nested_is_plain(1, &holds) && holds->dtype == LAM_BOOL;
        const bool ends = !*plain || !*(const bool *)holds->data;
        lam__value_release(holds);
        if (ends) return LAM_OK;
        status = run(l->what->fns[1], l->in, l->out);
        if (status != LAM_OK) return status;
        advance(l);
    }
}

/* ---- scan -------------------------------------------------------------------------------------------------------- */

/* Element i of operand k, one reference. No copy: a compiled function reads it where it lies, if its gaps allow. */
static lam_value *element(const loop *l, int k, int64_t i) {
    lam_value *x = l->call->in[k];
    return lam__value_view(x, x->rank - 1, x->dims + 1, x->strides + 1, i * x->strides[0]);
}

/* Row i of result o goes where all of it are; the first one says how large that is. Types of rows are those of a
 * program or of one compilation, so all rows are as large as the first. */
static bool keep(const loop *l, int o, int64_t i, lam_value *rows[]) {
    lam_value *row = lam__value_contiguous(l->out[o]);
    const int64_t length = l->what->length;
    if (row && !rows[o]) {
        int64_t dims[LAM_INNER_RANK + 1] = {length};
        for (int axis = 0; axis < row->rank; axis++) dims[axis + 1] = row->dims[axis];
        rows[o] = lam__value_new(l->call->ctx, (lam_dtype)row->dtype, row->rank + 1, dims);
    }
    const size_t bytes = row ? (size_t)row->count * lam__dtype_bytes(row->dtype) : 0;
    const bool fine = row && rows[o];
    if (fine && bytes) memcpy((char *)rows[o]->data + (size_t)i * bytes, row->data, bytes);
    lam__value_release(row);
    lam__value_release(l->out[o]);
    l->out[o] = NULL;
    return fine;
}

/* Elements are views, rows are copied to where all of them lie. The element of the trip before is given up when the
 * next one is looked at. */
static lam_status run_scan(loop *l, lam_value *rows[], bool *plain) {
    const int carries = (int)l->what->carries, behind = carries + (int)l->what->elements;
    for (int64_t trip = 0; trip < l->what->length; trip++) {
        const int64_t i = l->what->reverse ? l->what->length - 1 - trip : trip;
        lam_status status = LAM_OK;
        for (int k = carries; k < behind; k++) {
            lam__value_release(l->in[k]);
            if (!(l->in[k] = element(l, k, i))) status = LAM_ERR_MEMORY;
        }
        if (status == LAM_OK) status = run(l->what->fns[0], l->in, l->out);
        if (status != LAM_OK) return status;
        *plain = lam__nested_is_plain(l->m, l->out);
        if (!*plain) return LAM_OK;
        for (int o = carries; o < l->m; o++)
            if (!keep(l, o, i, rows)) return LAM_ERR_MEMORY;
        advance(l);
    }
    return LAM_OK;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* Whether all operands are plain and all functions are programs or jitted. A scan of no trips is left to lam_scan,
 * which finds out types. Choices and whiles of any function would do, but its calls go by handles. */
static bool fits(const lam_call_site *call, const lam__nested *w) {
    bool fits = lam__nested_is_plain(call->inputs, call->in);
    for (int i = 0; i < w->count && fits; i++) fits = lam__jit_made(w->fns[i]) || lam__program_of(w->fns[i]);
    return fits && (call->primitive != &lam__row_scan || w->length);
}

/* in[] are held while it runs, since carries and elements are. out[] has the rows while it runs; carries come to the
 * results at the end. */
static lam_status run_loop(loop *l, lam_value *out[], bool *plain) {
    for (int i = 0; i < l->n; i++) l->in[i] = lam__value_hold(l->call->in[i]);
    lam_status status = l->call->primitive == &lam__row_while ? run_while(l, plain) : run_scan(l, out, plain);
    for (int o = 0; o < l->what->carries && status == LAM_OK && *plain; o++) out[o] = lam__value_hold(l->in[o]);
    lam__arguments_release(l->n, l->in);
    lam__arguments_release(l->m, l->out);
    if (status != LAM_OK || !*plain) lam__arguments_release(l->m, out);
    return status;
}

/* False, with nothing done: something is not plain, and the public operations are to do it. */
bool lam__nested_run(const lam_call_site *call, lam_value *out[], lam_status *status) {
    const lam__nested *w = call->params;
    if (w->batch) return lam__nested_is_plain(call->inputs, call->in) && lam__nested_run_abreast(call, out, status);
    if (!fits(call, w)) return false;
    if (call->primitive == &lam__row_switch) {
        /* As lam_switch clamps it: a program that was read may have the row without that. */
        const int64_t index = *(const int64_t *)call->in[0]->data;
        *status = run(w->fns[index < 0 ? 0 : index < w->count ? index : w->count - 1], call->in + 1, out);
        return true;
    }
    bool plain = true;
    if (w->trips) {
        *status = lam__trips_run(w->trips, call->in, out, &plain);
        return plain;
    }
    /* On addresses if that can be done, where trips make no values. */
    if (lam__nested_run_bare(call, out, status)) return true;
    lam__scratch_area area;
    const size_t values = (size_t)(call->inputs + call->outputs);
    loop l = {call,         w, lam__scratch_get(&area, call->ctx, (values + 1) * sizeof *l.in), NULL, call->inputs,
              call->outputs};
    if (l.in) {
        memset(l.in, 0, (values + 1) * sizeof *l.in);
        memset(out, 0, (size_t)l.m * sizeof *out);
        l.out = l.in + l.n;
    }
    *status = l.in ? run_loop(&l, out, &plain) : LAM_ERR_MEMORY;
    lam__scratch_put(&area);
    return plain;
}
