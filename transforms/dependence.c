/* The level that sees what depends on what: see dependence.h. Each call is done below with the values themselves, so
 * that indices and conditions are at hand, and then once more with names of sets in the place of elements. A box is
 * {value, names}; without names the value has no derivative by the input but follows from it, as what floor, a
 * comparison or an order gives. Sets are never too small: what a row does with its operands is said in
 * dependence_rules.c, and what is said of no row there, makes everything depend on everything. Functions that a row
 * calls run at this level, rules of the user's at one above it. */
#include "transforms/dependence.h"

#include "lib/dispatch/dispatch.h"
#include "lib/program/function.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/custom.h"
#include "transforms/dependence_names.h"
#include "transforms/nested.h"
#include "transforms/rematerialise.h"

#include <string.h>

enum { MOST_RULES = 8 }; /* within each other */

/* Borrowed; a value of another level has none. */
static lam_value *names_of(const lam__level *level, const lam_value *v) {
    return lam__level_owns(level, v) ? lam__payload_of(v)->extra : NULL;
}

/* Boxes around the results and their names, which are taken over. On failure nothing is left of the latter. A result
 * that is left out has no names either. One without names is boxed too: that it follows from the input is known of it
 * then. */
static lam_status box_results(lam__level *level, int m, lam_value *out[], lam_value *depends[]) {
    lam_status status = LAM_OK;
    for (int o = 0; o < m; o++) {
        lam_value *box = out[o] ? lam__level_box(level, out[o], depends[o], 0) : NULL;
        if (!box) lam__value_release(depends[o]);
        if (out[o] && !box) status = LAM_ERR_MEMORY;
        out[o] = box;
    }
    return status;
}

/* All instances have rows of their own, with this call in common. */
static bool is_custom(const lam_primitive *row) {
    return row->call == lam__custom_row.call;
}

/* Whether a row calls functions whose derivative is that of what they do. Those of custom Functions have rules, by
 * which results may depend on more than they are made of. What a program's choices call, and how often loops that end
 * by a condition do, there and on the way back, follows from values, which may be others where the program is run
 * next. */
static bool is_looked_through(const lam_primitive *row) {
    return row->call && !is_custom(row) && row != &lam__row_switch && row != &lam__row_while &&
           row != &lam__row_control;
}

/* What is given back for results, and names of what they depend on. */
typedef struct results {
    lam_value **out, **depends;
} results;

static const lam__interpreter of_rules;

/* Boxes of the operands and their tangents, one reference each; needs[i]: it has one. A tangent whose names cannot be
 * boxed gives them up here, as a box would have when it went. */
static lam_status box_for_rule(lam__level *level, const lam_call_site *call, lam_value *const names[],
                               const bool varies[], lam_value *boxes[], lam_value *tangents[], bool needs[]) {
    for (int i = 0; i < call->inputs; i++) {
        lam_value *x = call->in[i], *zero = NULL;
        if (!x) continue;
        boxes[i] = varies[i] ? lam__level_box(level, lam__value_hold(x), NULL, 0) : lam__value_hold(x);
        if (!boxes[i]) return LAM_ERR_MEMORY;
        if (!(needs[i] = names[i] && lam__dtype_is_inexact(x->dtype))) continue;
        if (!(zero = lam__arguments_zero(level->ctx, x))) return LAM_ERR_MEMORY;
        if (!(tangents[i] = lam__level_box(level, zero, lam__value_hold(names[i]), 0))) {
            lam__value_release(names[i]);
            return LAM_ERR_MEMORY;
        }
    }
    return LAM_OK;
}

/* The results of a custom Function depend on its operands as the tangents of its rule do, which is derived where there
 * is only one for the way back. So the rule is run once, at a level of its own with the same sets: operands are boxes
 * that follow from the input and have no names, tangents are zeros with the names of the operands. Elements of these
 * are not shown, nor arrays of the others to C code, which may find places in them that are others elsewhere; where a
 * rule fails, for that or another reason, everything depends on everything. All lists are in one block of zeros, so
 * what is there is released however far it went. */
static lam_status run_rule(lam__level *level, const lam_call_site *call, lam_value *const names[], const bool varies[],
                           results r) {
    lam__scratch_area area;
    const lam__staged *staged = call->primitive->staged;
    const size_t n = (size_t)call->inputs, m = (size_t)call->outputs, lists = 2 * n + m;
    lam_value **boxes = lam__scratch_get(&area, level->ctx, lists * sizeof *boxes + n + m);
    if (!boxes) return LAM_ERR_MEMORY;
    memset(boxes, 0, lists * sizeof *boxes + n + m);
    lam_value **tangents = boxes + n, **pushed = tangents + n;
    bool *needs = (bool *)(pushed + m), *constant = needs + n;
    lam_call_site at = *call;
    at.in = boxes;
    lam_status status = box_for_rule(level, call, names, varies, boxes, tangents, needs);
    if (status == LAM_OK) status = staged->forward(&at, needs, tangents, r.out, constant, &at.residual);
    if (status == LAM_OK) {
        status = staged->tangents(&at, r.out, tangents, pushed);
        staged->release(level->ctx, at.residual);
    }
    for (size_t o = 0; o < m && status == LAM_OK; o++) {
        r.depends[o] = lam__value_hold_any(names_of(level, pushed[o]));
        if (!lam__level_owns(level, r.out[o])) continue;
        lam_value *value = lam__value_hold(lam__payload_of(r.out[o])->inner);
        lam__value_release(r.out[o]);
        r.out[o] = value;
    }
    lam__arguments_release((int)lists, boxes);
    lam__scratch_put(&area);
    return status;
}

/* The level of a rule, within that of another one where the call is of what that does with tangents. */
typedef struct rule_level {
    lam__level level; /* first */
    const struct rule_level *within;
    const lam__instance *of;
} rule_level;

static const rule_level *rule_at(const lam__level *level) {
    return level->interpreter == &of_rules ? (const rule_level *)(const void *)level : NULL;
}

/* A rule may apply its own Function to tangents, whose rule would be run for that, and so on without end; or one of
 * another Function which does so. Functions are the same by their callbacks and attributes: an instance may be made
 * anew for each call. */
static bool is_endless(const lam__level *level, const lam__instance *x) {
    int depth = 0;
    for (const rule_level *r = rule_at(level); r; r = r->within, depth++) {
        const lam_function *f = &r->of->fn, *g = &x->fn;
        const bool alike = f->forward == g->forward && f->backward == g->backward && f->jvp == g->jvp;
        if (alike && (r->of == x || (f->attrs_size == g->attrs_size &&
                                     (!f->attrs_size || !memcmp(r->of->attrs, x->attrs, f->attrs_size)))))
            return true;
    }
    return depth >= MOST_RULES;
}

/* A level of its own for the rule, in which operands are what the rule's operations see; a rule that comes back to
 * itself is not followed further. What it gives is of the level below by now, so the level of the rule may end. */
static lam_status by_rule(lam__level *outer, const lam_call_site *call, lam_value *const names[], const bool varies[],
                          results r) {
    rule_level rule = {.within = rule_at(outer), .of = lam__custom_of(call)};
    if (is_endless(outer, rule.of)) return LAM_ERR_RULE;
    lam_status status = lam__level_push(call->ctx, &rule.level, &of_rules, outer->state);
    if (status != LAM_OK) return status;
    status = run_rule(&rule.level, call, names, varies, r);
    lam__level_pop(&rule.level);
    return status;
}

/* A linear Function without a jvp is applied to tangents by its own rule: what it does with them is what its operations
 * do. */
static bool is_applied_to_tangents(const lam__level *level, const lam_call_site *call) {
    const lam_function *f = is_custom(call->primitive) && rule_at(level) ? &lam__custom_of(call)->fn : NULL;
    return f && f->is_linear && !f->jvp;
}

/* What a function gives that ran at the level, as one of a choice does: its names beside those of the others, and
 * values where it is the chosen one. References that the function gave are given up here, and names and values held
 * anew. */
static void take_branch(lam__level *level, int m, lam_value *given[], bool chosen, results r) {
    for (int o = 0; o < m; o++) {
        r.depends[o] = lam__names_joined(level->state, r.depends[o], lam__value_hold_any(names_of(level, given[o])));
        if (chosen)
            r.out[o] = lam__value_hold(lam__level_owns(level, given[o]) ? lam__payload_of(given[o])->inner : given[o]);
    }
    lam__arguments_release(m, given);
}

/* Whether a function may be run with values that it was not made for: a program that calls nothing of the user's and in
 * which no loop waits for a condition, which might never come. A call with rules is the user's code as well, so such
 * programs are not run either. */
static bool is_harmless(const lam_fn *f) {
    const lam__program *p = lam__program_of(f);
    bool harmless = p && !p->applications;
    for (int64_t k = 0; harmless && k < p->equations; k++) {
        const lam__nested *what = lam__nested_of(p->list[k]);
        harmless = p->list[k]->primitive != &lam__row_while;
        for (int i = 0; what && harmless && i < what->count; i++) harmless = is_harmless(what->fns[i]);
    }
    return harmless;
}

static bool are_harmless(const lam__nested *what) {
    bool harmless = true;
    for (int k = 0; k < what->count; k++) harmless = harmless && is_harmless(what->fns[k]);
    return harmless;
}

/* A choice in a program is another one where it is run with other values, so its results depend on what those of any of
 * its functions do. All are run, the chosen one last. Each begins with the generator as it was, and the chosen one,
 * which is last, leaves it as a plain choice would. */
static lam_status by_branches(lam__level *level, const lam_call_site *call, const lam_value *index, results r) {
    lam__scratch_area area;
    const lam__nested *what = call->params;
    const lam_random_state before = call->ctx->random;
    const int64_t chosen = *(const int64_t *)index->data;
    lam_value **given = lam__scratch_get(&area, level->ctx, (size_t)call->outputs * sizeof *given);
    lam_status status = given ? LAM_OK : LAM_ERR_MEMORY;
    level->ctx->current = level;
    for (int k = 1; k <= what->count && status == LAM_OK; k++) {
        const int64_t one = (chosen + k) % what->count;
        call->ctx->random = before;
        status = lam__fn_call(what->fns[one], (size_t)call->inputs - 1, call->in + 1, (size_t)call->outputs, given);
        if (status == LAM_OK) take_branch(level, call->outputs, given, one == chosen, r);
    }
    level->ctx->current = level->parent;
    lam__scratch_put(&area);
    return status;
}

/* The operations that the call does are run at the level itself, which so sees each of them; the call counts as the
 * only branch of a choice. Current is the level itself meanwhile, and its parent again at the end, as process has
 * it. */
static lam_status by_operations(lam__level *level, const lam_call_site *call, results r) {
    lam__scratch_area area;
    lam_value **given = lam__scratch_get(&area, level->ctx, (size_t)call->outputs * sizeof *given);
    if (!given) return LAM_ERR_MEMORY;
    level->ctx->current = level;
    const lam_status status = lam__eval_called(call, given);
    if (status == LAM_OK) take_branch(level, call->outputs, given, true, r);
    level->ctx->current = level->parent;
    lam__scratch_put(&area);
    return status;
}

/* What is looked into in a way of its own, if there is one. below: call with the values of its operands. ERR_RULE with
 * nothing on record says no more than that there is no such way. */
static lam_status look_into(lam__level *level, const lam_call_site *call, const lam_call_site *below,
                            lam_value *const names[], const bool varies[], results r) {
    bool any = false;
    for (int o = 0; o < call->outputs; o++) r.out[o] = NULL;
    for (int i = 0; i < call->inputs; i++) any = any || names[i];
    if (!any) return LAM_ERR_RULE;
    if (is_applied_to_tangents(level, call)) return by_operations(level, call, r);
    if (is_custom(call->primitive)) return by_rule(level, below, names, varies, r);
    const bool chooses = call->primitive == &lam__row_switch && below->in[0]->kind == LAM__CONCRETE;
    return chooses && are_harmless(call->params) ? by_branches(level, call, below->in[0], r) : LAM_ERR_RULE;
}

/* *done: it was looked into. Otherwise nothing is given, and where this does not serve there is nothing on record and
 * all is as before; that memory was refused does not say so, and is told. A union for which there is no memory counts
 * as well (sets->status). */
static lam_status attempt(lam__level *level, const lam_call_site *call, const lam_call_site *below,
                          lam_value *const names[], const bool varies[], results r, bool *done) {
    const lam_random_state before = call->ctx->random;
    const lam__mark mark = lam__error_mark(call->ctx);
    const lam__sets *sets = level->state;
    lam_status status = look_into(level, call, below, names, varies, r);
    if (status == LAM_OK) status = lam__error_since(call->ctx, mark);
    if (status == LAM_OK) status = sets->status;
    *done = status == LAM_OK;
    if (*done) return LAM_OK;
    lam__arguments_release(call->outputs, r.out);
    lam__arguments_release(call->outputs, r.depends);
    if (status == LAM_ERR_MEMORY) return status;
    lam__error_roll_back(call->ctx, mark);
    call->ctx->random = before;
    return LAM_OK;
}

/* A row that is looked through runs at the level itself, which then sees what its functions do. Examples of a batch
 * that go ways of their own run one by one: a choice is then one row, and not a sort of those who chose alike. A copy
 * of the parameters on the scratch stack, since those of the call are a program's. */
static lam_status look_through(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    lam__scratch_area area;
    lam_call_site one_by_one = *call;
    level->ctx->current = level;
    if (call->primitive != &lam__row_scan || !((const lam__nested *)call->params)->batch)
        return lam__eval_called(call, out);
    lam__nested *what = lam__scratch_get(&area, level->ctx, call->params_bytes);
    if (!what) return LAM_ERR_MEMORY;
    memcpy(what, call->params, call->params_bytes);
    what->batch = false;
    lam__nested_forget(what);
    one_by_one.params = what;
    const lam_status status = lam__eval_called(&one_by_one, out);
    lam__scratch_put(&area);
    return status;
}

/* The call comes before the names, since rules look at its values and results. Where a way of its own has failed the
 * row is done as any other, and dependence_rules.c says what comes of it. */
static lam_status process(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    if (is_looked_through(call->primitive)) return look_through(level, call, out);
    lam__scratch_area area;
    const int n = call->inputs, m = call->outputs;
    lam_value **in = lam__scratch_get(&area, level->ctx, (size_t)(2 * n + m) * sizeof *in + (size_t)n);
    if (!in) return LAM_ERR_MEMORY;
    lam_value **names = in + n, **depends = names + n;
    bool *varies = (bool *)(depends + m);
    for (int i = 0; i < n; i++) {
        varies[i] = lam__level_owns(level, call->in[i]);
        in[i] = varies[i] ? lam__payload_of(call->in[i])->inner : call->in[i];
        names[i] = names_of(level, call->in[i]);
    }
    memset(depends, 0, (size_t)m * sizeof *depends);
    lam_call_site below = *call;
    below.in = in;
    bool done;
    lam_status status = attempt(level, call, &below, names, varies, (results){out, depends}, &done);
    if (status == LAM_OK && !done) {
        status = lam__dispatch(&below, out);
        if (status == LAM_OK) status = lam__dependence_of(level->state, &below, names, varies, out, depends);
    }
    if (status == LAM_OK) status = box_results(level, m, out, depends);
    else lam__arguments_release(m, depends);
    if (status != LAM_OK) lam__arguments_release(m, out);
    lam__scratch_put(&area);
    return status;
}

static lam_value *read_value(const lam_value *box) {
    return lam__payload_of(box)->inner;
}

static void drop(lam_value *box) {
    lam__value_release(lam__payload_of(box)->extra);
}

static const lam__interpreter dependence = {
    .name = "sparsity",
    .process = process,
    .read = read_value,
    .drop = drop,
};

/* The values of operands, not those of tangents. */
static lam_value *read_operand(const lam_value *box) {
    return lam__payload_of(box)->extra ? NULL : lam__payload_of(box)->inner;
}

static const lam__interpreter of_rules = {
    .name = "sparsity of a rule",
    .process = process,
    .read = read_operand,
    .unreadable_status = LAM_ERR_VALUE,
    .unreadable = "a tangent has no elements while it is found out what it depends on",
    .drop = drop,
};

bool lam__dependence_sees(const lam_value *v) {
    while (v && v->kind == LAM__BOX && lam__payload_of(v)->level) {
        const lam__interpreter *interpreter = lam__payload_of(v)->level->interpreter;
        if (interpreter == &dependence || interpreter == &of_rules) return true;
        v = lam__payload_of(v)->inner;
    }
    return false;
}

bool lam__dependence_is_once(const lam_value *box) {
    const lam__payload *p = lam__payload_of(box);
    return p->level->interpreter == &of_rules || (p->level->interpreter == &dependence && !p->extra);
}

/* Each element of the input by itself: element i has the set of i, whose name is 1 + i. 1 + i, since 0 is the name of
 * the empty set. */
static lam_value *seed(lam__level *level, lam_value *x) {
    lam_value *names = lam__value_new(level->ctx, LAM_I64, x->rank, x->dims);
    if (!names) return NULL;
    for (int64_t i = 0; i < x->count; i++) ((int64_t *)names->data)[i] = 1 + i;
    lam_value *box = lam__level_box(level, lam__value_hold(x), names, 0);
    if (!box) lam__value_release(names);
    return box;
}

/* f with the level around it; boxes: room for its inputs, out: for its outputs, of which the first are left. Other
 * inputs are constants: what does not come from the one that is asked about has no box. */
static lam_status run(lam_fn *f, lam__level *level, int input, lam_value *const in[], lam_value *boxes[],
                      lam_value *out[]) {
    lam_status status = LAM_OK;
    for (int i = 0; i < f->inputs; i++) {
        boxes[i] = i == input ? seed(level, in[i]) : lam__value_hold(in[i]);
        if (!boxes[i]) status = LAM_ERR_MEMORY;
    }
    if (status == LAM_OK) status = lam__fn_call(f, (size_t)f->inputs, boxes, (size_t)f->outputs, out);
    lam__arguments_release(f->inputs, boxes);
    const int left = status == LAM_OK; /* after a failure there may be outputs all the same */
    lam__arguments_release(f->outputs - left, out + left);
    return status;
}

/* What is wanted of the box is taken out before the level ends, which drops what boxes hold. */
lam_status lam__dependence_run(lam_fn *f, int input, lam_value *const in[], lam__sets *sets, lam_value **first,
                               lam_value **depends) {
    lam__scratch_area area;
    lam__level level;
    *first = *depends = NULL;
    const size_t values = (size_t)(f->inputs + f->outputs);
    lam_value **boxes = lam__scratch_get(&area, f->ctx, values * sizeof *boxes), **out = boxes + f->inputs;
    if (!boxes) return LAM_ERR_MEMORY;
    memset(boxes, 0, values * sizeof *boxes);
    lam_status status = lam__level_push(f->ctx, &level, &dependence, sets);
    if (status == LAM_OK) {
        status = run(f, &level, input, in, boxes, out);
        if (status == LAM_OK) {
            *depends = lam__value_hold_any(names_of(&level, out[0]));
            *first = lam__value_hold(lam__level_owns(&level, out[0]) ? lam__payload_of(out[0])->inner : out[0]);
            lam__value_release(out[0]);
        }
        lam__level_pop(&level);
    }
    lam__scratch_put(&area);
    return status;
}
