/* See machine_cost.h. Both sides are estimated: C, and plans on addresses. */
#include "lib/program/machine_cost.h"

#include "lib/primitives/rows.h"
#include "lib/program/draft.h"
#include "lib/program/emit.h"
#include "lib/program/function.h"
#include "lib/program/nested.h"

/* What is large takes long anyway and gains little from machine code; the compiler's time grows with the equations. The
 * limits are those of the programs together, of each result, and of the products of a contraction. */
enum { MOST_EQUATIONS = 4096, MOST_ELEMENTS = 256, MOST_PRODUCTS = 1 << 14 };

/* Nanoseconds of the programs of an equation, each run once: in C, and as plans on addresses. */
typedef struct costs {
    int64_t equations;
    double machine, plans;
} costs;

/* In C functions of one number are called for one element after the other, in plans for a vector of them. Nanoseconds
 * for one number, in as few steps as the choice takes. */
static double function_cost(const lam__equation *e) {
    enum { CHEAP = 4, USUAL = 12, LONG = 20, SPECIAL = 50 };
    const lam__loop_id id = (lam__loop_id)(e->primitive->loop - 1);
    const double vector = lam__fused_loop_cost(id);
    if (vector < 1) return 0.5;
    switch (id) {
    case LAM__LOOP_exp:
    case LAM__LOOP_exp2:
    case LAM__LOOP_exp_gap:
    case LAM__LOOP_log:
    case LAM__LOOP_log2: return CHEAP;
    case LAM__LOOP_sin:
    case LAM__LOOP_cos:
    case LAM__LOOP_tan:
    case LAM__LOOP_pow:
    case LAM__LOOP_expm1:
    case LAM__LOOP_log1p:
    case LAM__LOOP_logistic: return USUAL;
    default: return vector > 3 ? SPECIAL : LONG;
    }
}

/* Of plans: a step of a part for numbers, and calls or parts of many steps where there are arrays. Whatever is a view
 * is an index in C and nothing in a plan. */
static void add_equation(const lam__program *p, const lam__equation *e, costs *c) {
    const double number = 10, array = 40, kernel = 60, element = 0.1;
    double in = 0, out = 0;
    for (int i = 0; i < e->inputs; i++) {
        const lam_value *v = e->in[i].variable >= 0 ? p->types[e->in[i].variable] : e->in[i].constant;
        in += v ? (double)v->count : 0;
    }
    for (int o = 0; o < e->outputs; o++) out += p->types[e->first + o] ? (double)p->types[e->first + o]->count : 0;
    if (e->primitive->view && !e->primitive->eval) return;
    c->plans += in + out > 4 ? array : number;
    if (e->primitive->elementwise && e->primitive->loop) {
        c->machine += out * function_cost(e);
        c->plans += out * (element + lam__fused_loop_cost((lam__loop_id)(e->primitive->loop - 1)));
        return;
    }
    c->plans += kernel + (in + out) * element;
    if (e->primitive == &lam__row_dot_general) c->machine += 0.65 * out * lam__draft_contraction_terms(p, e);
    else c->machine += e->primitive == &lam__row_logsumexp ? 5 * in : in + out;
}

/* How many products a contraction makes, at most. Elements of the result times those of x: more than there are where x
 * has free axes, which is safe. */
static int64_t products(const lam__program *p, const lam__equation *e) {
    const lam_value *x = e->in[0].variable >= 0 ? p->types[e->in[0].variable] : e->in[0].constant;
    return x->count * p->types[e->first]->count;
}

static void count(const lam__program *p, costs *c);

/* A function that is no program has no text. */
static void count_all(lam_fn *const fns[], int functions, costs *c) {
    for (int i = 0; i < functions; i++) {
        const lam__program *p = lam__program_of(fns[i]);
        if (p) count(p, c);
        else c->equations = MOST_EQUATIONS + 1;
    }
}

/* Counts the equations of p and of the programs in them; more than there may be where one does not go. One place where
 * something does not go is enough to say no, so the number is set beyond the limit there. */
static void count(const lam__program *p, costs *c) {
    for (int64_t k = 0; k < p->equations && c->equations <= MOST_EQUATIONS; k++) {
        const lam__equation *e = p->list[k];
        const lam__nested *what = lam__nested_of(e);
        c->equations++;
        if (what) {
            count_all(what->fns, what->count, c);
            continue;
        }
        bool goes = lam__emit_is_same(e) && (e->primitive != &lam__row_dot_general || products(p, e) <= MOST_PRODUCTS);
        for (int o = 0; o < e->outputs && goes; o++) {
            const lam_value *type = p->types[e->first + o];
            goes = !type || type->count <= MOST_ELEMENTS;
        }
        if (goes) add_equation(p, e, c);
        else c->equations = MOST_EQUATIONS + 1;
    }
}

/* A plan of few steps costs mostly its beginning. */
bool lam__machine_is_worth(lam_fn *const fns[], int count) {
    const double begin = 50; /* of each plan */
    costs c = {0};
    count_all(fns, count, &c);
    return c.equations <= MOST_EQUATIONS && c.machine <= c.plans + begin * count;
}
