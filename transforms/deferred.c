/* See deferred.h. The functions of the operation, with what they capture as inputs, become those of an equation
 * (nested.h). */
#include "transforms/deferred.h"

#include "lib/base/context.h"
#include "lib/primitives/apply.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/nested.h"
#include "transforms/trace.h"

#include <lamina/ops.h>

#include <string.h>

/* A failed condition counts as known: reading it gives the failure. */
lam__known lam__deferred_known(const lam_tensor *condition) {
    const lam__program *p = lam__nested_program_at(lam__scope_peek(condition));
    return !p ? LAM__KNOWN : p->only_types ? LAM__NOT_ASKED : LAM__TRACED;
}

/* Up to so many trips a loop is recorded trip by trip: FEW. In what is to be fused that is done so that its operations
 * are fused with what is around, and where all that it works on is small, with each other: SOME trips on up to
 * SOME_ELEMENTS, MANY on up to MANY_ELEMENTS. On more than that a trip is a pass over memory, or calls of kernels,
 * which a loop runs as fast and is compiled once. FURTHER times as many where the condition is known: each trip of an
 * equation asks for it. */
enum { FEW_TRIPS = 8, SOME_TRIPS = 64, SOME_ELEMENTS = LAM__PROGRAM_FEW };
enum { MANY_TRIPS = 16384, MANY_ELEMENTS = 16, FURTHER = 8 };

/* A trip that makes arrays of more than those, so many elements in all, is such a pass, whatever it is given: few
 * bodies have many pairs. */
enum { WIDE_ELEMENTS = 192 };

/* Operations of all trips together: longer programs are not fused any more, and take very much longer to compile than a
 * loop takes to run. */
enum { MOST_OPERATIONS = 1 << 17 };

/* What a loop in a trip counts: each is compiled by itself, once for each trip, and what lies between them is not fused
 * across them. So a loop of FEW_TRIPS trips with one in it is one equation. The same of a choice that becomes machine
 * code, which is all the better for having the loop around it; where steps are run, trips by themselves are faster. */
enum { NEST_OPERATIONS = MOST_OPERATIONS / FEW_TRIPS };

/* All operands have a say, since any of them may be the one that is traced; how many trips are long depends on whether
 * the program is fused, and on what it works on: all of it, or what a trip has. */
lam__known lam__deferred_loop(lam_fn *f, size_t n, size_t elements, lam_tensor *const operands[], int64_t trips) {
    const lam_fn *captor = lam__fn_captor(f);
    const size_t captured = (size_t)lam__arguments_captured(f);
    int64_t largest = 0, of_trip = 0, most = FEW_TRIPS;
    bool whole = false, unrolls = false;
    n += elements;
    for (size_t i = 0; i < n + captured; i++) {
        lam_tensor lent;
        if (i >= n) lam__scope_lend(&lent, f->ctx, captor->captures[i - n]);
        const lam_tensor *x = i < n ? operands[i] : &lent;
        const lam__program *p = lam__nested_program_at(lam__scope_peek(x));
        const lam_value *v = lam__scope_peek(x);
        if (p && p->only_types) return LAM__NOT_ASKED;
        whole = whole || (p && p->keeps_loops);
        unrolls = unrolls || (p && p->unrolls);
        const int64_t count = v ? v->count : 0, each = i < n && i >= n - elements ? count / trips : count;
        if (count > largest) largest = count;
        if (each > of_trip) of_trip = each;
    }
    if (unrolls && of_trip <= SOME_ELEMENTS) most = largest <= MANY_ELEMENTS ? MANY_TRIPS : SOME_TRIPS;
    return whole && trips > most ? LAM__TRACED : LAM__KNOWN;
}

/* The first operand that belongs to such a program tells. */
lam__extent lam__deferred_recorded(lam_fn *f, size_t n, lam_tensor *const operands[]) {
    const lam_fn *captor = lam__fn_captor(f);
    const int captured = lam__arguments_captured(f);
    for (size_t i = 0; i < n + (size_t)captured; i++) {
        const lam_value *v = i < n ? lam__scope_peek(operands[i]) : captor->captures[i - n];
        const lam__program *p = lam__nested_program_at(v);
        if (p && p->keeps_loops && p->unrolls) return (lam__extent){p->equations + NEST_OPERATIONS * p->nests, p->wide};
    }
    return (lam__extent){-1, 0};
}

/* By division, since the product could overflow. */
bool lam__deferred_is_long(lam__extent before, lam__extent now, int64_t trips) {
    if (before.operations < 0) return false;
    return now.operations - before.operations > MOST_OPERATIONS / trips ||
           (trips > FEW_TRIPS && now.wide - before.wide >= WIDE_ELEMENTS);
}

/* Whether v is a number, or a variable of a program, or a batch of these: what levels that take derivatives keep of a
 * loop with a condition has no end that a program knows. */
static bool is_free(const lam_value *v) {
    while (v && v->kind == LAM__BOX && lam__payload_of(v)->level) {
        const lam__interpreter *interpreter = lam__payload_of(v)->level->interpreter;
        if (interpreter == &lam__interpreter_trace) return true;
        if (!interpreter->hides_axis) return false;
        v = lam__payload_of(v)->inner;
    }
    return true;
}

/* Captures count as operands, as the body reads them too. */
bool lam__deferred_trips(lam_fn *f, size_t n, lam_tensor *const operands[], int64_t trips) {
    const lam_fn *captor = lam__fn_captor(f);
    const int captured = lam__arguments_captured(f);
    for (size_t i = 0; i < n; i++)
        if (!is_free(lam__scope_peek(operands[i]))) return false;
    for (int i = 0; i < captured; i++)
        if (!is_free(captor->captures[i])) return false;
    return lam__deferred_loop(f, n, 0, operands, trips / FURTHER) == LAM__TRACED;
}

/* A loop over numbers is a scan whose first carry is the number. After the body the number goes on, whatever the body
 * did with it. */
static void body_counted(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *f = lam__fn_base(env);
    (void)ctx;
    out[0] = lam_add(in[0], 1);
    (void)lam_call(f, (lam_list){(size_t)f->inputs, in}, out + 1, (size_t)f->outputs);
}

static lam_fn *counted(lam_fn *f) {
    return lam__fn_derive(f->ctx, &(lam__derived){"count", f, body_counted, f->inputs, f->outputs + 1, NULL, 0, NULL});
}

/* Function number i, which takes all operands, and of the captures behind them its own. `from`: where its captures
 * begin among the operands of all functions. */
static lam_fn *function_of(const lam__control *c, size_t i, int operands, int inputs, int from) {
    lam_fn *f = lam__arguments_open("body", c->fns[i]);
    if (f->magic != LAM__FN || f->inputs == inputs) return f;
    int *places = (int *)(void *)lam__apply_room(c->ctx, (size_t)f->inputs);
    for (int k = 0; places && k < f->inputs; k++) places[k] = k < operands ? k : from + k - operands;
    return places ? lam__nested_pick(f, inputs, places) : c->ctx->failed_fn;
}

/* What is to be done, with its functions; in[] has room for operands and captures, of which the latter are filled in.
 * NULL after recording a failure. Bytes are cleared, so that equal parameters are equal bytes. */
static lam__nested *nested_of(const lam__control *c, const lam__later *later, int skip, int operands, int inputs,
                              lam_tensor **in) {
    lam__nested *w =
        (lam__nested *)(void *)lam__apply_room(c->ctx, lam__nested_bytes((int)c->count) / sizeof(void *) + 1);
    if (!w) return NULL;
    memset(w, 0, lam__nested_bytes((int)c->count));
    w->count = (int)c->count;
    w->carries = later->kind == LAM__SWITCH ? 0 : (int64_t)later->carries;
    w->elements = operands - w->carries;
    if (later->kind == LAM__SWITCH) w->elements = 0;
    w->length = later->length;
    w->reverse = later->reverse;
    w->kept = later->kind != LAM__SCAN;
    for (int i = 0, at = operands; i < w->count; i++) {
        w->fns[i] = function_of(c, (size_t)i, operands, inputs, at);
        lam__arguments_append_captures(c->fns[i], in + skip, at);
        at += lam__arguments_captured(c->fns[i]);
    }
    if (later->counted) w->fns[0] = counted(w->fns[0]);
    return w;
}

/* Operands, then the captures of each function, are the inputs of one row. A counted loop carries its number as well,
 * which the caller has no use for. The index of a switch stands in front of all, and no function gets it. */
bool lam__deferred_call(lam__control *c, const lam__later *later, lam_tensor *const operands[], lam_tensor *results[]) {
    static const lam_primitive *const rows[] = {&lam__row_switch, &lam__row_while, &lam__row_scan};
    const int skip = later->kind == LAM__SWITCH, n = (int)later->n, m = (int)c->n_out + later->counted;
    int inputs = n;
    for (size_t i = 0; i < c->count; i++) inputs += lam__arguments_captured(c->fns[i]);
    lam_tensor **in = lam__apply_room(c->ctx, (size_t)(inputs + skip));
    lam_value **v = (lam_value **)(void *)lam__apply_room(c->ctx, (size_t)(inputs + skip + m));
    if (!in || !v) return false;
    if (n + skip) memcpy(in, operands, (size_t)(n + skip) * sizeof *in);
    memset(v, 0, (size_t)(inputs + skip + m) * sizeof *v);
    const lam__nested *w = nested_of(c, later, skip, n, inputs, in);
    if (!w || !lam__arguments_values(c->ctx, inputs + skip, in, v)) return false;
    lam_value **made = v + inputs + skip;
    const lam_call_site call = {.ctx = c->ctx,
                                .primitive = rows[later->kind],
                                .params = w,
                                .params_bytes = lam__nested_bytes(w->count),
                                .inputs = inputs + skip,
                                .outputs = m,
                                .in = v};
    lam_status status = lam__nested_apply(c->what, &call, made);
    if (status == LAM_OK && later->counted) lam__value_release(made[0]);
    return lam__arguments_give(c->ctx, status, (int)c->n_out, made + later->counted, results) == LAM_OK;
}

/* What had been recorded by then stays in the program and is read by nobody. ERR_ABSTRACT says that a function has read
 * elements. */
bool lam__deferred_try(lam__control *c, const lam__later *what, lam_tensor *const operands[], lam_tensor *results[],
                       bool *reads) {
    const lam_random_state before = c->ctx->random;
    const lam__mark mark = lam__error_mark(c->ctx);
    *reads = false;
    if (lam__deferred_call(c, what, operands, results)) return true;
    *reads = lam__error_since(c->ctx, mark) == LAM_ERR_ABSTRACT;
    if (!*reads) return false;
    c->ctx->random = before;
    lam__error_roll_back(c->ctx, mark);
    return false;
}
