/* lam_cond and lam_switch. With one index for all, the function that it names is called as it is. With an index for
 * each example, the examples are sorted by function: each function runs as a batch of those that want it, and their
 * results are put back in order. So no example pays for a function that it does not want, and nothing that would be
 * computed for it there, like a NaN, exists. */
#include "transforms/deferred.h"

#include "lib/base/context.h"
#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

/* What the choice is among. */
typedef struct choice {
    lam_fn *const *branches;
    size_t count;
    lam_tensor **operands; /* of the call's own */
    size_t n;
} choice;

/* Two functions that have both run must have given one type each, from axis `from` on. Axes before `from` are lanes, of
 * which each function has as many as want it. */
static bool agree(lam__control *c, const lam_fn *f, const lam_fn *g, lam_tensor *const a[], lam_tensor *const b[],
                  int from) {
    for (size_t o = 0; o < c->n_out; o++) {
        const lam_value *x = lam__scope_peek(a[o]), *y = lam__scope_peek(b[o]);
        if (!x || !y) return false;
        bool same = x->dtype == y->dtype && x->rank == y->rank;
        for (int i = from; i < x->rank && same; i++) same = x->dims[i] == y->dims[i];
        if (same) continue;
        char one[256], other[256];
        lam__text t = {one, sizeof one, 0}, u = {other, sizeof other, 0};
        lam__error_append_type(&t, (lam_dtype)x->dtype, x->rank - from, x->dims + from);
        lam__error_append_type(&u, (lam_dtype)y->dtype, y->rank - from, y->dims + from);
        lam__error_set(c->ctx, x->dtype == y->dtype ? LAM_ERR_SHAPE : LAM_ERR_DTYPE,
                       "let all functions give the same types", "%s: output %zu of '%s' is %s, that of '%s' is %s",
                       c->what, o, f->name, one, g->name, other);
        return false;
    }
    return true;
}

/* A function of the choice for the lanes of crew->index. Captures are opened anew for each function, operands of the
 * call once for all. */
static bool run_branch(lam__control *c, const lam__crew *crew, const choice *what, const lam__task *opened, size_t b,
                       int64_t k, lam_tensor **out) {
    lam__task task;
    if (!lam__control_task(c, crew, what->branches[b], &task)) return false;
    for (size_t i = 0; i < what->n; i++) {
        task.in[i] = opened->in[i];
        task.mapped[i] = opened->mapped[i];
    }
    for (int i = 0; i < task.f->inputs; i++)
        if (task.mapped[i]) task.in[i] = lam__lanes_taken(crew, task.in[i]);
    return lam__lanes_run(crew, k, task.f, task.in, task.mapped, out) == LAM_OK;
}

/* Which lanes want function b, behind one another in lanes[]; their places among all results are noted. Without a
 * branch, since nobody could foresee it.
 *
 * Of wants 1 0 1: function 0 runs for lane 1 and function 1 for lanes 0 and 2, so their results, one behind the other,
 * are those of lanes 1, 0, 2, and the places of lanes 0, 1, 2 among them are 1, 0, 2. Written at lanes[k] in any case,
 * which counts only where k goes on; so lanes[] has room for one element per lane. */
static int64_t sort_out(const int64_t wants[], int64_t size, int64_t b, int64_t before, int64_t lanes[],
                        int64_t place[]) {
    int64_t k = 0;
    for (int64_t i = 0; i < size; i++) {
        bool is = wants[i] == b;
        place[i] = is ? before + k : place[i];
        lanes[k] = i;
        k += is;
    }
    return k;
}

/* parts: room for count * n_out handles; numbers: for 3 * crew->size. A batch of none asks the first function for its
 * types. Where all lanes want one function there is no index, and nothing is taken out. */
static bool run_all(lam__control *c, lam__crew *crew, const choice *what, const lam__task *opened, lam_tensor **parts,
                    int64_t *numbers) {
    int64_t *wants = numbers, *place = wants + crew->size, *lanes = place + crew->size, done = 0;
    if (crew->size) memset(place, 0, (size_t)crew->size * sizeof *place);
    size_t ran = 0, first = 0;
    for (size_t b = 0; b < what->count; b++) {
        int64_t k = sort_out(wants, crew->size, (int64_t)b, done, lanes, place);
        if (!k && (crew->size || b)) continue;
        crew->index = k < crew->size ? lam_array(c->ctx, LAM_I64, LAM_DIMS(k), lanes) : NULL;
        if (!run_branch(c, crew, what, opened, b, k, parts + ran * c->n_out)) return false;
        /* Whatever has run first is what all others are compared with. */
        if (!ran) first = b;
        else if (!agree(c, what->branches[first], what->branches[b], parts, parts + ran * c->n_out, 1)) return false;
        done += k;
        ran++;
    }
    for (size_t o = 0; o < c->n_out; o++)
        parts[o] = lam__lanes_close(crew, lam__control_join(c, ran, parts + o, c->n_out, place, crew->size));
    return true;
}

/* Operands are opened once, for all functions; each function takes its lanes out of them. The index is read here, so
 * choosing is C from here on. Parts lie function by function, each with room for all outputs, though only those that
 * ran are there. */
static lam_status choose_batched(lam__control *c, lam__crew *crew, lam_tensor *index, const choice *what) {
    lam__scratch_area area;
    lam__task opened = {NULL, lam__apply_room(c->ctx, what->n), (bool *)(void *)lam__apply_room(c->ctx, what->n),
                        what->n};
    lam_tensor **parts = lam__apply_room(c->ctx, what->count * c->n_out);
    int64_t *numbers = lam__scratch_get(&area, c->ctx, 3 * (size_t)crew->size * sizeof *numbers);
    bool fine = opened.in && opened.mapped && parts && numbers;
    for (size_t i = 0; i < what->n && fine; i++) fine = lam__control_set(crew, &opened, i, what->operands[i]);
    if (fine)
        fine = lam_read(lam__lanes_open(crew, index), numbers, (size_t)crew->size * sizeof *numbers) == LAM_OK &&
               run_all(c, crew, what, &opened, parts, numbers);
    lam_status status = lam__control_end(c, fine ? parts : NULL);
    if (numbers) lam__scratch_put(&area);
    return status;
}

/* For types alone: all functions, which must give the same. Two rows of room: the first function's results stay, those
 * of the others come after each other. */
static lam_status choose_types(lam__control *c, const choice *what) {
    lam_tensor **results = lam__apply_room(c->ctx, 2 * c->n_out);
    bool fine = results != NULL;
    for (size_t b = 0; b < what->count && fine; b++) {
        lam_tensor **out = results + (b ? c->n_out : 0);
        fine = lam_call(what->branches[b], (lam_list){what->n, what->operands}, out, c->n_out) == LAM_OK &&
               (!b || agree(c, what->branches[0], what->branches[b], results, out, 0));
    }
    return lam__control_end(c, fine ? results : NULL);
}

/* Of an index that is traced: chosen when the program is run. The index comes first, as the row `switch` has it. */
static lam_status choose_later(lam__control *c, lam_tensor *index, const choice *what) {
    lam_tensor **in = lam__apply_room(c->ctx, what->n + 1), **results = lam__apply_room(c->ctx, c->n_out);
    bool fine = in && results;
    if (fine) in[0] = index;
    for (size_t i = 0; i < what->n && fine; i++) in[1 + i] = what->operands[i];
    lam__later later = {.kind = LAM__SWITCH, .n = what->n};
    fine = fine && lam__deferred_call(c, &later, in, results);
    return lam__control_end(c, fine ? results : NULL);
}

/* index: an i64 of rank 0 within bounds. Whether the index is known is asked before whether it is batched: of a traced
 * one nothing can be read. */
static lam_status choose(lam__control *c, lam_tensor *index, const choice *what) {
    lam__crew crew = {.ctx = c->ctx};
    int64_t one;
    lam__known known = lam__deferred_known(index);
    if (known == LAM__NOT_ASKED) return choose_types(c, what);
    if (known == LAM__TRACED) return choose_later(c, index, what);
    lam__lanes_add(&crew, index);
    if (crew.count) return choose_batched(c, &crew, index, what);
    lam_tensor **results = lam__apply_room(c->ctx, c->n_out);
    bool fine = results && lam_read(index, &one, sizeof one) == LAM_OK &&
                lam_call(what->branches[one], (lam_list){what->n, what->operands}, results, c->n_out) == LAM_OK;
    return lam__control_end(c, fine ? results : NULL);
}

/* The operands, and whether all functions fit to them and to each other. Counts are compared here, types when functions
 * have run. */
static bool prepare(lam__control *c, choice *what, lam_list operands) {
    what->operands = lam__apply_room(c->ctx, operands.count);
    what->n = operands.count;
    if (!what->operands || !lam__control_operands(c, "operands", operands, what->operands)) return false;
    for (size_t b = 1; b < what->count; b++) {
        const lam_fn *f = what->branches[0], *g = what->branches[b];
        if (f->inputs == g->inputs && f->outputs == g->outputs) continue;
        lam__error_set(c->ctx, LAM_ERR_ARITY, "let all functions take and give the same",
                       "%s: '%s' takes %d and gives %d, '%s' takes %d and gives %d", c->what, f->name, f->inputs,
                       f->outputs, g->name, g->inputs, g->outputs);
        return false;
    }
    return lam__control_arity(c, what->branches[0], operands.count, c->n_out);
}

/* A switch by the predicate as a number, so false comes first. Names and counts of both functions have been looked at
 * before the predicate is. */
lam_status lam_cond(lam_tensor *pred, lam_fn *if_true, lam_fn *if_false, lam_list operands, lam_tensor **out,
                    size_t n_out) {
    lam_fn *branches[] = {if_false, if_true};
    choice what = {branches, 2, NULL, 0};
    lam__control c;
    lam_status status;
    lam_tensor *given;
    if (!lam__control_begin(&c, "cond", 2, branches, operands, out, n_out, &status)) return status;
    if (!prepare(&c, &what, operands) || !lam__control_operands(&c, "predicates", LAM_LIST(pred), &given))
        return lam__control_end(&c, NULL);
    lam_tensor *index = lam__control_truth(&c, NULL, given);
    return lam_failed(index) ? lam__control_end(&c, NULL) : choose(&c, index, &what);
}

/* The index is brought into the range first, so that all that comes after it finds a function. */
lam_status lam_switch(lam_tensor *index, lam_fn *const branches[], size_t count, lam_list operands, lam_tensor **out,
                      size_t n_out) {
    choice what = {branches, count, NULL, 0};
    lam__control c;
    lam_status status;
    lam_tensor *given;
    /* Without functions nobody but the index can say where a failure goes, and lam__control_begin has nothing to
     * hold. */
    lam_ctx *where = lam__scope_context(1, &index);
    if (!count || !branches) {
        for (size_t i = 0; out && i < n_out; i++) out[i] = &where->failed;
        return lam__error_set(where, LAM_ERR_VALUE, "give at least one", "switch: there are no functions");
    }
    if (!lam__control_begin(&c, "switch", count, branches, operands, out, n_out, &status)) return status;
    if (!prepare(&c, &what, operands) || !lam__control_operands(&c, "indices", LAM_LIST(index), &given))
        return lam__control_end(&c, NULL);
    const lam_value *v = lam__scope_peek(given);
    if (v->rank || lam__dtype_is_inexact(v->dtype) || v->dtype == LAM_BOOL) {
        lam__error_set(c.ctx, v->rank ? LAM_ERR_SHAPE : LAM_ERR_DTYPE, "cast it with lam_cast",
                       "switch: the index is %s of rank %d, an integer of rank 0 expected",
                       lam_dtype_name((lam_dtype)v->dtype), v->rank);
        return lam__control_end(&c, NULL);
    }
    /* Below the range it is the first function, above it the last; in i64, as a choice reads it. */
    lam_tensor *within = lam_clamp(lam_cast(given, LAM_I64), 0, (int64_t)count - 1);
    return lam_failed(within) ? lam__control_end(&c, NULL) : choose(&c, within, &what);
}
