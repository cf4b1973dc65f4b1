/* A recorded while in which each example of a batch ends for itself, on plain values and addresses, where its condition
 * and its body are one fused part each, of as many lanes as there are examples: all that are at work make a trip at
 * once, and the place of one that has ended is the last one's. Other such loops are left to loops.c and machine
 * code. */
#include "transforms/nested_draft.h"

#include "lib/base/context.h"
#include "lib/primitives/apply.h"
#include "lib/program/function.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/jit.h"

#include <lamina/transforms.h>

#include <string.h>

/* Beside the function of one example: its while, of which the functions are compiled for all examples together. */
typedef struct abreast_env {
    const lam__equation *loop; /* in the program of the function, which keeps it */
    lam_fn *fns[2];            /* the condition, the body; held */
} abreast_env;

/* ---- which loops ------------------------------------------------------------------------------------------------- */

/* The while that is all of a program; NULL: there is none. Results that are inputs would have to be found elsewhere. */
static const lam__equation *only_while(const lam__program *p) {
    const lam__equation *e = p && p->equations == 1 ? p->list[0] : NULL;
    if (!e || e->primitive != &lam__row_while) return NULL;
    for (int o = 0; o < p->outputs; o++)
        if (p->results[o].variable < e->first) return NULL;
    return e;
}

/* Whether examples differ in operand k of the loop: in what they have elements of, and in all carries. Carries are
 * another thing for each example as soon as one of them has made a trip more. */
static bool differs(const lam__equation *loop, int64_t elements, int k) {
    const int64_t v = loop->in[k].variable;
    return k < lam__nested_of(loop)->carries || (v >= 0 && v < elements);
}

/* What the functions are compiled for. Zeros of a view take no memory for the elements that nobody looks at. NULL too
 * where an axis more would be too many. */
static lam_value *operand_type(const lam__program *p, const lam__equation *loop, int64_t elements, int64_t size,
                               int k) {
    const lam__atom *a = &loop->in[k];
    const lam_value *v = a->variable >= 0 ? p->types[a->variable] : a->constant;
    int64_t dims[LAM_INNER_RANK + 1] = {size};
    if (!differs(loop, elements, k)) return lam__arguments_zero(p->ctx, v);
    for (int axis = 0; axis < v->rank; axis++) dims[axis + 1] = v->dims[axis];
    return v->rank < LAM_INNER_RANK ? lam__value_zeros(p->ctx, (lam_dtype)v->dtype, v->rank + 1, dims) : NULL;
}

/* The plans of the functions for operands like in[]. NULL where one is not a part for the first of its lanes.
 * lam__jit_plan compiles for these types if it has not done so yet. */
static lam_status find_plans(lam_fn *const fns[2], const bool lanes[], int64_t size, lam_value *const in[],
                             lam__plan *plans[2]) {
    lam_status status = LAM_OK;
    for (int f = 0; f < 2 && status == LAM_OK; f++) {
        plans[f] = NULL;
        status = lam__jit_plan(fns[f], in, &plans[f]);
        if (plans[f] && !lam__plan_is_abreast(plans[f], size, lanes)) plans[f] = NULL;
    }
    return status;
}

/* The condition gives a bool, the body carries as they were given or made as they are. A carry that is not made is the
 * input of its own number (lam__plan_bare_type), and stays where it is. */
static bool results_fit(lam__plan *const plans[2], int carries, lam_value *const in[]) {
    if (!plans[0] || !plans[1]) return false;
    const lam_value *truth = lam__plan_bare_type(plans[0], 0);
    for (int o = 0; o < carries; o++) {
        const lam_value *type = lam__plan_bare_type(plans[1], o);
        if (type && !lam__value_same_type(type, in[o])) return false;
    }
    return truth && truth->dtype == LAM_BOOL && truth->rank == 1;
}

/* Compiles both functions for all examples, as one part each if that can be done, and asks what has become of them.
 * Everything is fused: a part for all lanes is what this needs, whether or not it would pay by itself. Operands are
 * made here for their types alone. */
static lam_status compile(lam_ctx *ctx, const lam__program *p, const lam__nested *what, const lam_jit_options *options,
                          abreast_env *e, bool *fits) {
    const lam__nested *loop = lam__nested_of(e->loop);
    const size_t n = (size_t)e->loop->inputs;
    lam_jit_options fused = *options;
    fused.fusion = LAM_JIT_ALL;
    int *axes = (int *)(void *)lam__apply_room(ctx, n);
    bool *lanes = (bool *)(void *)lam__apply_room(ctx, n);
    lam_value **in = lam__nested_values(ctx, (int)n);
    lam__plan *plans[2] = {NULL};
    lam_status status = axes && lanes && in ? LAM_OK : LAM_ERR_MEMORY;
    for (size_t k = 0; k < n && status == LAM_OK; k++) {
        lanes[k] = differs(e->loop, what->elements, (int)k);
        axes[k] = lanes[k] ? 0 : LAM_UNMAPPED;
        in[k] = operand_type(p, e->loop, what->elements, what->length, (int)k);
        if (!in[k]) status = LAM_ERR_MEMORY;
    }
    for (int f = 0; f < 2 && status == LAM_OK; f++) {
        const lam_vmap_options all = {.in_axes = {(int)n, axes}, .axis_size = what->length};
        e->fns[f] = lam_jit(lam_vmap(loop->fns[f], &all), &fused);
        if (e->fns[f]->magic != LAM__FN) status = LAM_ERR_MEMORY;
    }
    if (status == LAM_OK) status = find_plans(e->fns, lanes, what->length, in, plans);
    *fits = status == LAM_OK && results_fit(plans, (int)loop->carries, in);
    if (in) lam__arguments_release((int)n, in);
    return status;
}

/* Both are there: no env is left with one of them alone. */
static void abreast_free(lam_ctx *ctx, void *env) {
    const abreast_env *e = env;
    (void)ctx;
    for (int f = 0; f < 2; f++) lam__fn_release(e->fns[f]);
}

/* Where something is no plain value examples are those of a batch, as without this. So the function may be used in any
 * place of the one that it stands for. */
static void body_abreast(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *f = lam__fn_base(env);
    (void)ctx;
    (void)lam_call(f, (lam_list){(size_t)f->inputs, in}, out, (size_t)f->outputs);
}

/* What does not fit is no failure. The functions are held by the one that is made, which is the function of one example
 * to everybody else. */
lam_status lam__nested_abreast(const lam__nested *what, const lam_jit_options *options, lam_fn **made) {
    lam_fn *one = what->fns[0];
    lam_ctx *ctx = one->ctx;
    const lam__program *p = lam__program_of(one);
    abreast_env e = {.loop = only_while(p)};
    bool fits = false;
    *made = NULL;
    if (!what->batch || what->length < 2 || !e.loop || options->fusion == LAM_JIT_NONE) return LAM_OK;
    const lam_status status = compile(ctx, p, what, options, &e, &fits);
    if (status != LAM_OK || !fits) return status;
    for (int f = 0; f < 2; f++) lam__fn_retain(e.fns[f]);
    *made = lam__fn_derive(
        ctx, &(lam__derived){"abreast", one, body_abreast, one->inputs, one->outputs, &e, sizeof e, abreast_free});
    if ((*made)->magic == LAM__FN) return LAM_OK;
    abreast_free(ctx, &e);
    return LAM_ERR_MEMORY;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* state[k]: what the functions are given as operand k, of carries that are made in two places, in turns; bytes[k]: of a
 * row of it, 0 where it has none; order[]: which example each of those at work is. */
typedef struct run {
    const lam_call_site *call;
    const lam__nested *what;
    const lam__equation *loop;
    const lam__program *program;
    lam__plan *plans[2];
    lam_value **state, **side; /* held */
    void **from, **to;
    lam_value **out;
    int64_t *order, active;
    size_t *bytes;
    bool *holds, *lanes;
    int n, carries;
} run;

/* Lanes are the first axis, so the elements of one lie together. */
static size_t row_bytes(const lam_value *x, int64_t rows) {
    return (size_t)(x->count / rows) * lam__dtype_bytes(x->dtype);
}

/* Rows are single numbers most of the time, which are copied without a call of memcpy. A memcpy whose size is known is
 * one move. */
static inline void copy_row(void *to, int64_t i, const void *from, int64_t k, size_t bytes) {
    char *at = (char *)to + (size_t)i * bytes;
    const char *row = (const char *)from + (size_t)k * bytes;
    if (bytes == 8) memcpy(at, row, 8);
    else memcpy(at, row, bytes);
}

/* Rows of our own for what examples differ in, since these change places. An operand that examples share is repeated
 * for each, a carry for instance that begins alike. */
static lam_value *rows_of(const run *r, int k, lam_value *v) {
    const int64_t size = r->what->length;
    int64_t dims[LAM_INNER_RANK + 1] = {size};
    const int64_t at = r->loop->in[k].variable;
    const bool element = at >= 0 && at < r->what->elements;
    lam_value *dense = lam__value_contiguous(v);
    for (int axis = 0; axis < v->rank - element; axis++) dims[axis + 1] = v->dims[axis + element];
    lam_value *made = dense ? lam__value_new(r->call->ctx, (lam_dtype)v->dtype, v->rank + !element, dims) : NULL;
    if (made && made->count) {
        const size_t bytes = row_bytes(made, size);
        if (element) memcpy(made->data, dense->data, bytes * (size_t)size);
        for (int64_t i = 0; i < size && !element; i++) copy_row(made->data, i, dense->data, 0, bytes);
    }
    lam__value_release(dense);
    return made;
}

/* By the loop's operands, which are inputs of the function of one example or constants of it. What they have in common
 * is read where it lies, by all lanes. */
static bool make_state(run *r) {
    bool fine = true;
    for (int k = 0; k < r->n; k++) {
        const lam__atom *a = &r->loop->in[k];
        lam_value *v = a->variable >= 0 ? r->call->in[a->variable] : a->constant;
        r->lanes[k] = differs(r->loop, r->what->elements, k);
        r->state[k] = r->lanes[k] ? rows_of(r, k, v) : lam__value_contiguous(v);
        fine = fine && r->state[k];
        if (!r->state[k]) continue;
        r->from[k] = r->state[k]->data;
        r->bytes[k] = r->lanes[k] ? row_bytes(r->state[k], r->what->length) : 0;
    }
    return fine;
}

/* The other places of carries that are made, and results. A carry that the body gives as it was given needs no second
 * place. */
static bool make_room(run *r) {
    bool fine = true;
    for (int k = 0; k < r->carries; k++) {
        const lam_value *x = r->state[k];
        r->to[k] = NULL;
        if (!lam__plan_bare_type(r->plans[1], k)) continue;
        r->side[k] = lam__value_new(r->call->ctx, (lam_dtype)x->dtype, x->rank, x->dims);
        if (r->side[k]) r->to[k] = r->side[k]->data;
        fine = fine && r->side[k];
    }
    for (int o = 0; o < r->call->outputs; o++) {
        const lam_value *x = r->state[r->program->results[o].variable - r->loop->first];
        fine = (r->out[o] = lam__value_new(r->call->ctx, (lam_dtype)x->dtype, x->rank, x->dims)) && fine;
    }
    for (int64_t i = 0; i < r->what->length; i++) r->order[i] = i;
    r->active = r->what->length;
    return fine;
}

/* Example i has ended: its carries are results, and the last of those at work takes its place. Only lanes in front are
 * run, so those at work have to be there. */
static void lay_aside(run *r, int64_t i) {
    const int64_t last = --r->active;
    for (int o = 0; o < r->call->outputs; o++) {
        const int64_t k = r->program->results[o].variable - r->loop->first;
        copy_row(r->out[o]->data, r->order[i], r->from[k], i, r->bytes[k]);
    }
    r->order[i] = r->order[last];
    for (int k = 0; k < r->n && i != last; k++)
        if (r->bytes[k]) copy_row(r->from[k], i, r->from[k], last, r->bytes[k]);
}

/* Until none is at work. The last ones are laid aside first, so that whatever takes a place holds. Carries have two
 * places in turns, so that a trip reads all of the one before. */
static void run_trips(run *r) {
    void *const truth[] = {r->holds};
    for (;;) {
        lam__plan_run_abreast(r->plans[0], r->from, truth, r->active);
        for (int64_t i = r->active - 1; i >= 0; i--)
            if (!r->holds[i]) lay_aside(r, i);
        if (!r->active) return;
        lam__plan_run_abreast(r->plans[1], r->from, r->to, r->active);
        for (int k = 0; k < r->carries; k++) {
            if (!r->to[k]) continue;
            void *was = r->from[k];
            r->from[k] = r->to[k];
            r->to[k] = was;
        }
    }
}

/* Plans are asked for again: what they were made for may have been given up meanwhile, and types of operands may be
 * others. Beyond the state nothing is allocated until all of this is known. */
static lam_status run_all(run *r, lam_fn *const fns[2], bool *fits) {
    *fits = make_state(r);
    if (!*fits) return LAM_ERR_MEMORY;
    lam_status status = find_plans(fns, r->lanes, r->what->length, r->state, r->plans);
    *fits = status == LAM_OK && results_fit(r->plans, r->carries, r->state);
    if (!*fits) return status;
    status = make_room(r) ? LAM_OK : LAM_ERR_MEMORY;
    if (status == LAM_OK) run_trips(r);
    else lam__arguments_release(r->call->outputs, r->out);
    return status;
}

/* One block for all lists, by falling size of what they hold. True too after a failure, which is the caller's then.
 * Bools come last, so that nothing is out of line. */
bool lam__nested_run_abreast(const lam_call_site *call, lam_value *out[], lam_status *status) {
    const lam__nested *w = call->params;
    const lam_fn *f = w->fns[0];
    if (f->body != body_abreast) return false;
    const abreast_env *e = f->env;
    run r = {.call = call, .what = w, .loop = e->loop, .out = out, .n = e->loop->inputs, .carries = e->loop->outputs};
    r.program = lam__program_of(lam__fn_base(f->env));
    lam__scratch_area area;
    const size_t n = (size_t)r.n, size = (size_t)w->length;
    bool fits = false;
    memset(out, 0, (size_t)call->outputs * sizeof *out);
    r.state = lam__scratch_get(&area, call->ctx, (5 * n + size + 1) * sizeof *r.state + size + n);
    if (!r.state) {
        *status = LAM_ERR_MEMORY;
        return true;
    }
    memset(r.state, 0, 5 * n * sizeof *r.state);
    r.side = r.state + n;
    r.from = (void **)(r.side + n);
    r.to = r.from + n;
    r.bytes = (size_t *)(void *)(r.to + n);
    r.order = (int64_t *)(void *)(r.bytes + n);
    r.holds = (bool *)(r.order + size);
    r.lanes = r.holds + size;
    *status = run_all(&r, e->fns, &fits);
    lam__arguments_release(r.n, r.state);
    lam__arguments_release(r.n, r.side);
    lam__scratch_put(&area);
    return fits || *status != LAM_OK;
}
