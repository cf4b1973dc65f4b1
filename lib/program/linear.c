/* Whether a program is linear in its inputs. Varying is what depends on an input. A product may have one such factor,
 * and what is beside it is a coefficient. A sum may have any number, and constants among its terms only where they are
 * zero: f(x) = x + c is affine. The programs within choices and loops are looked at likewise, each by which of its own
 * inputs vary; a carry that does so after some trip does so from the first on. In a record of tangents constants among
 * the terms are zeros that were computed, of what a trace around it may know no elements of: there those count as zero
 * that cannot be seen to be anything else. Elsewhere what that trace has recorded tells, where x times zero is zero. */
#include "lib/program/application.h"
#include "lib/program/arena.h"
#include "lib/program/function.h"
#include "lib/program/nested.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#include <string.h>

/* A program that is looked at, for a function of this name. varying: per variable. only_flow: what varies is found out,
 * and nothing is refused yet. whole_calls: what has rules of its own gives what these say, so all of it may vary where
 * an operand does. slopes: what varies is what can have a derivative, which a step ends. tangents: the program is a
 * record of these. */
typedef struct flow {
    const lam__program *p;
    const char *name;
    lam__arena *arena;
    bool tangents, only_flow, whole_calls, slopes;
    bool *varying;
} flow;

/* `name` is the function of the user that was recorded, e the operation in it that is at fault. */
static lam_status fail_linear(const flow *f, const lam__equation *e, const char *why) {
    return lam__error_set(f->p->ctx, LAM_ERR_LINEAR, "use lam_vjp for functions that are not linear",
                          "function '%s' is not linear: %s %s", f->name, e->primitive->name, why);
}

static bool varies(const flow *f, const lam__atom *a) {
    return a->variable >= 0 && f->varying[a->variable];
}

/* How many equations are looked at for zeros, so that this takes no time and no stack to speak of. */
enum { MOST_LOOKS = 100 };

static bool variable_is_zero(const lam__program *p, int64_t variable, int *looks);

/* Elements are looked at where there are any. */
static bool constant_is_zero(const lam_value *v) {
    if (!v || lam__value_seen(v)) return lam__value_is_zero(v);
    for (; v && v->kind == LAM__BOX && lam__payload_of(v)->level; v = lam__payload_of(v)->inner) {
        const lam__interpreter *interpreter = lam__payload_of(v)->level->interpreter;
        if (interpreter->zero) return interpreter->zero(v);
    }
    return false;
}

static bool atom_is_zero(const lam__program *p, const lam__atom *a, int *looks) {
    return a->variable < 0 ? constant_is_zero(a->constant) : variable_is_zero(p, a->variable, looks);
}

/* A product with a factor that is zero, or what is linear in operands that are. */
static bool makes_zero(const lam__program *p, const lam__equation *e, int *looks) {
    const lam_primitive *row = e->primitive;
    const bool fma = row == &lam__row_fma;
    bool linear = fma;
    if (fma || row->derivative == LAM_BILINEAR || row->bilinear) {
        const bool zero = atom_is_zero(p, &e->in[0], looks) || atom_is_zero(p, &e->in[1], looks);
        if (!fma || !zero) return zero;
    }
    for (int i = fma ? 2 : 0; i < e->inputs; i++) {
        if (!fma && !lam__rules_linear_in(row, i)) continue;
        if (!atom_is_zero(p, &e->in[i], looks)) return false;
        linear = true;
    }
    return linear;
}

/* Result o of a choice, zero in each of its functions; or of a loop, whose carries begin so as well. */
static bool nested_makes_zero(const lam__program *p, const lam__equation *e, int64_t o, int *looks) {
    const lam__nested *what = lam__nested_of(e);
    if (o < what->carries && !atom_is_zero(p, &e->in[o], looks)) return false;
    for (int k = lam__nested_is_loop(what) ? what->count - 1 : 0; k < what->count; k++) {
        const lam__program *within = lam__program_of(what->fns[k]);
        if (!within || !atom_is_zero(within, &within->results[o], looks)) return false;
    }
    return true;
}

/* Equations are in the order of what they set. */
static const lam__equation *equation_of(const lam__program *p, int64_t variable) {
    int64_t low = 0, high = p->equations;
    while (low < high) {
        const int64_t k = low + (high - low) / 2;
        if (p->list[k]->first <= variable) low = k + 1;
        else high = k;
    }
    const lam__equation *e = low ? p->list[low - 1] : NULL;
    return e && variable < e->first + e->outputs ? e : NULL;
}

static bool variable_is_zero(const lam__program *p, int64_t variable, int *looks) {
    const lam__equation *e = (*looks)-- > 0 ? equation_of(p, variable) : NULL;
    if (!e) return false;
    return lam__nested_of(e) ? nested_makes_zero(p, e, variable - e->first, looks) : makes_zero(p, e, looks);
}

bool lam__program_is_zero(const lam__program *p, int64_t variable) {
    int looks = MOST_LOOKS;
    return variable_is_zero(p, variable, &looks);
}

/* What does not vary and is zero in any case: what is computed within the program, and what has no elements yet, is so
 * among tangents alone, or where it is made of zeros. */
static bool is_zero(const flow *f, const lam__atom *a) {
    int looks = MOST_LOOKS;
    const bool seen = a->variable < 0 && lam__value_seen(a->constant);
    return seen ? lam__value_is_zero(a->constant) : f->tangents || atom_is_zero(f->p, a, &looks);
}

static const lam_value *type_of(const flow *f, const lam__atom *a) {
    return a->variable >= 0 ? f->p->types[a->variable] : a->constant;
}

/* The factor beside factor i of an fma; NULL of other operands. */
static const lam__atom *factor_beside(const lam__equation *e, int i) {
    return e->primitive == &lam__row_fma && i < 2 ? &e->in[1 - i] : NULL;
}

/* Whether the equation gives integers and bools alone: what came of numbers was rounded, as by a cast, whose row is
 * linear for all dtypes since no tangents are integers. */
static bool rounds(const flow *f, const lam__equation *e) {
    bool inexact = false;
    for (int o = 0; o < e->outputs; o++) inexact = inexact || lam__dtype_is_inexact(f->p->types[e->first + o]->dtype);
    return !inexact;
}

/* Whether the equation is linear in operand i. A staged primitive that left a residual is linear in all its floating
 * operands together, another may say in which; of others the row says it, but for the factors of an fma, each of which
 * may vary beside one that does not. */
static bool linear_in(const flow *f, const lam__equation *e, int i) {
    if (rounds(f, e)) return false;
    const lam_value *type = type_of(f, &e->in[i]);
    const lam__atom *beside = factor_beside(e, i);
    const lam__staged *stages = e->primitive->staged;
    if (beside) return !varies(f, beside);
    if (!e->residual && stages && stages->linear_in) return stages->linear_in(e->params, i);
    return e->residual ? type && lam__dtype_is_inexact(type->dtype) : lam__rules_linear_in(e->primitive, i);
}

/* Whether operand i, which does not vary, adds nothing. A constant product of an fma does so if one of its factors is
 * zero. */
static bool adds_nothing(const flow *f, const lam__equation *e, int i) {
    const lam__atom *beside = factor_beside(e, i);
    return is_zero(f, &e->in[i]) || (beside && is_zero(f, beside));
}

/* count: operands that vary, at least one. A product of two of them is of second order, whatever its row says of each
 * alone. */
static lam_status check_operands(const flow *f, const lam__equation *e, int count) {
    const lam_primitive *row = e->primitive;
    for (int i = 0; i < e->inputs; i++)
        if (varies(f, &e->in[i]) && !linear_in(f, e, i))
            return fail_linear(f, e, "is not linear in an operand that depends on the input");
    if (row->derivative == LAM_BILINEAR || row->bilinear)
        return count == 1 ? LAM_OK : fail_linear(f, e, "multiplies two operands that depend on the input");
    for (int i = 0; i < e->inputs; i++)
        if (!varies(f, &e->in[i]) && linear_in(f, e, i) && !adds_nothing(f, e, i))
            return fail_linear(f, e, "adds a constant that is not zero");
    return LAM_OK;
}

/* ---- choices and loops ------------------------------------------------------------------------------------------- */

static lam_status check_equations(const flow *f);

/* The program of function number k of e, of whose inputs those with in[] vary. Anew for each function and each round,
 * from the arena, which goes when the whole program has been looked at. */
static lam_status enter(const flow *f, const lam__equation *e, int k, bool only_flow, const bool in[], flow *within) {
    const lam__program *p = lam__program_of(lam__nested_of(e)->fns[k]);
    if (!p) return fail_linear(f, e, "calls a function that is not a program");
    const size_t room = (size_t)(p->variables + 1);
    *within = *f;
    within->p = p;
    within->only_flow = only_flow;
    within->varying = lam__arena_get(f->arena, room);
    if (!within->varying) return lam__error_memory(p->ctx, room);
    memset(within->varying, 0, room);
    memcpy(within->varying, in, (size_t)p->inputs);
    return check_equations(within);
}

/* Results vary that do so in one of the functions; the others may give zeros for them. So all functions are followed
 * first, and then each is held against what was found; where only the flow is wanted the first walk will do. */
static lam_status check_switch(const flow *f, const lam__equation *e, bool in[], bool out[]) {
    const int count = lam__nested_of(e)->count, passes = f->only_flow ? 1 : 2;
    lam_status status = LAM_OK;
    for (int k = 0; k < passes * count && status == LAM_OK; k++) {
        flow within;
        status = enter(f, e, k % count, k < count, in + 1, &within);
        for (int o = 0; o < e->outputs && status == LAM_OK; o++) {
            const lam__atom *result = &within.p->results[o];
            out[o] = out[o] || varies(&within, result);
            if (k >= count && out[o] && !varies(&within, result) && !is_zero(f, result))
                status = fail_linear(f, e, "gives a constant that is not zero");
        }
    }
    if (!in[0] || status != LAM_OK) return status;
    if (!f->only_flow) return fail_linear(f, e, "is chosen by what depends on the input");
    memset(out, true, (size_t)e->outputs);
    return LAM_OK;
}

/* Where examples end at different times, each has carries of its own. */
static lam_status follow_end(const flow *f, const lam__equation *e, const bool in[], bool out[]) {
    flow within;
    const lam_status status = enter(f, e, 0, true, in, &within);
    if (status == LAM_OK && varies(&within, &within.p->results[0])) memset(out, true, (size_t)e->outputs);
    return status;
}

/* Carries that vary at the end of a trip do so at its beginning, until there are no more of these. Each round adds one
 * at least, so there are no more rounds than carries. */
static lam_status follow_trips(const flow *f, const lam__equation *e, bool in[], bool out[]) {
    const lam__nested *what = lam__nested_of(e);
    lam_status status = LAM_OK;
    for (bool more = true; more && status == LAM_OK;) {
        flow within;
        more = false;
        status = enter(f, e, what->count - 1, true, in, &within);
        for (int o = 0; o < e->outputs && status == LAM_OK; o++) {
            out[o] = varies(&within, &within.p->results[o]);
            if (o >= what->carries) continue;
            more = more || (out[o] && !in[o]);
            out[o] = in[o] = in[o] || out[o];
        }
    }
    return status == LAM_OK && f->only_flow && what->count > 1 ? follow_end(f, e, in, out) : status;
}

/* What carries begin with, what a trip gives them, and what ends the loop. */
static lam_status check_trips(const flow *f, const lam__equation *e, const bool in[]) {
    const lam__nested *what = lam__nested_of(e);
    flow within;
    lam_status status = enter(f, e, what->count - 1, false, in, &within);
    for (int i = 0; i < what->carries && status == LAM_OK; i++) {
        const lam__atom *result = &within.p->results[i];
        if (in[i] && !varies(&within, result) && !is_zero(f, result))
            status = fail_linear(f, e, "carries a constant that is not zero");
        else if (in[i] && !varies(f, &e->in[i]) && !is_zero(f, &e->in[i]))
            status = fail_linear(f, e, "begins with a constant that is not zero");
    }
    if (status != LAM_OK || what->count < 2) return status;
    status = enter(f, e, 0, true, in, &within);
    return status == LAM_OK && varies(&within, &within.p->results[0])
               ? fail_linear(f, e, "ends by what depends on the input")
               : status;
}

/* in[] and out[] say which operands and results vary. A choice is told by its functions, which have the index no
 * more. */
static lam_status check_nested(const flow *f, const lam__equation *e) {
    const lam__program *first = lam__program_of(lam__nested_of(e)->fns[0]);
    const size_t room = (size_t)(e->inputs + e->outputs + 1);
    bool *in = lam__arena_get(f->arena, room), *out = in + e->inputs;
    if (!in) return lam__error_memory(f->p->ctx, room);
    memset(in, 0, room);
    for (int i = 0; i < e->inputs; i++) in[i] = varies(f, &e->in[i]);
    const bool chosen = first && first->inputs < e->inputs; /* the index comes before their operands */
    lam_status status = chosen ? check_switch(f, e, in, out) : follow_trips(f, e, in, out);
    if (status == LAM_OK && !chosen && !f->only_flow) status = check_trips(f, e, in);
    memcpy(f->varying + e->first, out, (size_t)e->outputs);
    return status;
}

/* What is a tangent by construction: the second half of the results, by the last operands. */
static lam_status check_tangents(const flow *f, const lam__equation *e, int tangents) {
    for (int i = 0; i < e->inputs && !f->only_flow; i++) {
        const bool varying = varies(f, &e->in[i]), tangent = i >= e->inputs - tangents;
        if (varying && !tangent) return fail_linear(f, e, "is not linear in an operand that depends on the input");
        if (tangent && !varying && !is_zero(f, &e->in[i])) return fail_linear(f, e, "adds a constant that is not zero");
    }
    const int half = e->outputs / 2;
    memset(f->varying + e->first + half, true, (size_t)(e->outputs - half));
    return LAM_OK;
}

/* All results of an equation with an operand that varies do, but those that its row knows to depend on no tangent. */
static lam_status check_other(const flow *f, const lam__equation *e, int count) {
    const lam__staged *stages = e->primitive->staged;
    const int tangents = stages && stages->tangents_in ? stages->tangents_in(e->params) : 0;
    if (tangents && !f->whole_calls) return check_tangents(f, e, tangents);
    memset(f->varying + e->first, true, (size_t)e->outputs);
    return f->only_flow ? LAM_OK : check_operands(f, e, count);
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

/* Whether what varies goes into a call with rules, this one or one around it: then a level sees that call, as it is in
 * NOTE [calls in programs] in run.c. Others are what their equations are. */
static bool is_called(const flow *f, lam__application *a) {
    for (a = lam__application_done(a); a; a = lam__application_done(a->outer))
        for (int i = 0; i < a->call->inputs; i++)
            if (varies(f, &a->call->in[i])) return true;
    return false;
}

/* Where derivatives alone are followed: integers have none, nor what is made by steps. */
static void end_at_steps(const flow *f, const lam__equation *e, bool in_call) {
    const bool step = !in_call && !e->primitive->staged && e->primitive->derivative == LAM_NOT_DIFFERENTIABLE;
    for (int64_t v = e->first; v < e->first + e->outputs; v++) {
        const lam_value *type = f->p->types[v]; /* NULL: it is left out */
        if (step || !type || !lam__dtype_is_inexact(type->dtype)) f->varying[v] = false;
    }
}

/* In the order of the program, so that it is known of all operands. What nothing that varies goes into is a constant
 * and need not be linear. Equations of one call follow one another, and it is asked once for them. */
static lam_status check_equations(const flow *f) {
    lam_status status = LAM_OK;
    const lam__application *within = NULL;
    bool in_call = false;
    for (int64_t k = 0; k < f->p->equations && status == LAM_OK; k++) {
        const lam__equation *e = f->p->list[k];
        int count = 0;
        for (int i = 0; i < e->inputs; i++) count += varies(f, &e->in[i]);
        if (e->within != within) in_call = f->whole_calls && is_called(f, e->within);
        within = e->within;
        if (in_call) memset(f->varying + e->first, true, (size_t)e->outputs);
        else if (count) status = lam__nested_of(e) ? check_nested(f, e) : check_other(f, e, count);
        if (f->slopes) end_at_steps(f, e, in_call);
    }
    return status;
}

/* A result that does not vary and is not zero would be f(0), so that the function could not be linear. */
static lam_status check_results(const flow *f) {
    for (int o = 0; o < f->p->outputs; o++)
        if (!varies(f, &f->p->results[o]) && !is_zero(f, &f->p->results[o]))
            return lam__error_set(f->p->ctx, LAM_ERR_LINEAR, NULL,
                                  "function '%s' is not linear: output %d is a constant that is not zero", f->name, o);
    return LAM_OK;
}

/* One walk along the equations: what an equation reads has been judged before it. */
lam_status lam__program_check_linear(const lam__program *p, const char *name, bool tangents) {
    lam__arena arena;
    lam__arena_open(&arena, p->ctx);
    const size_t room = (size_t)(p->variables + 1);
    flow f = {.p = p, .name = name, .arena = &arena, .tangents = tangents, .varying = lam__arena_get(&arena, room)};
    lam_status status = f.varying ? LAM_OK : lam__error_memory(p->ctx, room);
    if (status == LAM_OK) {
        memset(f.varying, 0, room);
        memset(f.varying, true, (size_t)p->inputs);
        status = check_equations(&f);
    }
    if (status == LAM_OK) status = check_results(&f);
    lam__arena_close(&arena);
    return status;
}

/* The same walk, which refuses nothing that is a program. A call with rules counts as one: where an operand varies its
 * rules may let anything vary. */
static lam_status follow(const lam__program *p, bool slopes, const bool in[], bool out[]) {
    lam__arena arena;
    lam__arena_open(&arena, p->ctx);
    const size_t room = (size_t)(p->variables + 1);
    flow f = {.p = p, .name = "", .arena = &arena, .only_flow = true, .whole_calls = true, .slopes = slopes};
    f.varying = lam__arena_get(&arena, room);
    lam_status status = f.varying ? LAM_OK : lam__error_memory(p->ctx, room);
    if (status == LAM_OK) {
        memset(f.varying, 0, room);
        memcpy(f.varying, in, (size_t)p->inputs);
        status = check_equations(&f);
    }
    for (int o = 0; o < p->outputs && status == LAM_OK; o++) out[o] = varies(&f, &p->results[o]);
    lam__arena_close(&arena);
    return status;
}

lam_status lam__program_varying(const lam__program *p, const bool in[], bool out[]) {
    return follow(p, false, in, out);
}

lam_status lam__program_slopes(const lam__program *p, const bool in[], bool out[]) {
    return follow(p, true, in, out);
}
