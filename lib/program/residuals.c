/* See residuals.h. What depends on cotangents is left to the way back; of what does not, values are chosen that are
 * kept so that the rest is cheap: from the last equation on, each whose result is needed is run again if that costs
 * less than keeping it, together with keeping what it reads. The trip there mostly has the equation already, and then a
 * value that is kept costs nothing but its place. Results are those from before: what changes is who computes them. */
#include "lib/program/residuals.h"

#include "lib/primitives/rows.h"
#include "lib/program/draft.h"
#include "lib/program/function.h"
#include "lib/program/nested.h"
#include "lib/tensor/dtype.h"

#include <string.h>

/* More pairs of equations are not compared: what is as large takes long whatever is kept. */
enum { MOST_PAIRS = 1 << 24 };

/* By variable of `back`: whether it depends on no cotangent, what it is in `there`, whether the new trip back reads it,
 * and whether that is kept; moved: an equation of `there` has to be made for it. */
typedef struct fate {
    lam__atom image;
    bool known, needed, kept, moved;
} fate;

typedef struct split {
    lam__arena *arena;
    const lam__program *there, *back;
    const lam__atom *link;
    double trips;
    fate *of;     /* by variable of `back` */
    double gain;  /* nanoseconds of a trip */
    double bytes; /* that are kept of a trip */
    int count;    /* of variables that are kept */
} split;

/* ---- costs ------------------------------------------------------------------------------------------------------- */

static const lam_value *type_of(const lam__program *p, const lam__atom *a) {
    return a->variable >= 0 ? p->types[a->variable] : a->constant;
}

static double elements_of(const lam__program *p, const lam__equation *e, bool results) {
    double n = 0;
    for (int i = 0; i < e->inputs && !results; i++)
        n += type_of(p, &e->in[i]) ? (double)type_of(p, &e->in[i])->count : 0;
    for (int o = 0; o < e->outputs && results; o++)
        n += p->types[e->first + o] ? (double)p->types[e->first + o]->count : 0;
    return n;
}

static double program_cost(const lam__program *p);

/* How often a while goes round nobody knows. */
static double nested_cost(const lam__nested *what) {
    const double usual_trips = 10, begin = 100;
    double most = 0, sum = 0;
    for (int f = 0; f < what->count; f++) {
        const lam__program *p = lam__program_of(what->fns[f]);
        const double cost = p ? program_cost(p) : begin;
        most = cost > most ? cost : most;
        sum += cost;
    }
    if (!lam__nested_is_loop(what)) return begin + most;
    return begin + sum * (what->length ? (double)what->length : usual_trips);
}

/* Nanoseconds of an equation in a loop that runs on addresses, roughly: no call is made there, and what is elementwise,
 * or of few numbers, is some steps of a part. A view costs nothing. */
static double cost_of(const lam__program *p, const lam__equation *e) {
    const double step = 1, function = 8, kernel = 40, few = 32;
    const lam__nested *what = lam__nested_of(e);
    if (what) return nested_cost(what);
    if (e->primitive->view && !e->primitive->eval) return 0;
    const double in = elements_of(p, e, false), out = elements_of(p, e, true), begin = in + out <= few ? 0 : kernel;
    if (e->primitive->elementwise && e->primitive->loop) {
        const double lane = lam__fused_loop_cost((lam__loop_id)(e->primitive->loop - 1));
        return (lane < 1 ? step : function) + out * (0.05 + lane);
    }
    if (e->primitive == &lam__row_sincos) return function + 2 * out;
    if (e->primitive == &lam__row_dot_general) return begin + 0.06 * out * lam__draft_contraction_terms(p, e);
    if (e->primitive == &lam__row_logsumexp) return begin + function + 2 * in; /* exponentials, which it gives too */
    return begin + 0.3 * (in + out);
}

static double program_cost(const lam__program *p) {
    double sum = 0;
    for (int64_t k = 0; k < p->equations; k++) sum += cost_of(p, p->list[k]);
    return sum;
}

/* Of a variable that is written on the way there and read on the way back, and leaves caches in between if all trips
 * together are large. */
static double place_cost(const split *s, int64_t variable) {
    const double place = 6, near = 0.15, far = 1.2, second_cache = 1 << 17; /* elements */
    const double n = (double)s->back->types[variable]->count;
    return place + n * (n * s->trips > second_cache ? far : near);
}

/* ---- what is known ----------------------------------------------------------------------------------------------- */

static bool same_atom(const lam__atom *a, const lam__atom *b) {
    return a->variable == b->variable && a->constant == b->constant;
}

/* What an operand is in `there`. Constants are the same in both. */
static lam__atom image_of(const split *s, const lam__atom *a) {
    return a->variable < 0 ? *a : s->of[a->variable].image;
}

/* Parameters that differ in bytes which nobody reads make the same equation another one, which costs time alone. */
static bool same_equation(const split *s, const lam__equation *e, const lam__equation *other) {
    if (e->primitive != other->primitive || e->inputs != other->inputs || e->outputs != other->outputs ||
        e->params_bytes != other->params_bytes || other->residual)
        return false;
    for (int o = 0; o < e->outputs; o++) {
        const lam_value *type = s->there->types[other->first + o];
        if (!type || !lam__value_same_type(type, s->back->types[e->first + o])) return false;
    }
    for (int i = 0; i < e->inputs; i++) {
        const lam__atom a = image_of(s, &e->in[i]);
        if (!same_atom(&a, &other->in[i])) return false;
    }
    return !e->params_bytes || !memcmp(e->params, other->params, e->params_bytes);
}

/* The equation of `there` that is e, from *next on and round: the way back has them in the order of the way there. */
static const lam__equation *find_same(const split *s, const lam__equation *e, int64_t *next) {
    const int64_t n = s->there->equations;
    for (int64_t k = 0; k < n; k++) {
        const lam__equation *other = s->there->list[(*next + k) % n];
        if (!same_equation(s, e, other)) continue;
        *next = (*next + k + 1) % n;
        return other;
    }
    return NULL;
}

/* Residuals of linear rules are for transposing alone. */
static bool is_known(const split *s, const lam__equation *e) {
    bool known = !e->residual;
    for (int i = 0; i < e->inputs; i++) known = known && (e->in[i].variable < 0 || s->of[e->in[i].variable].known);
    for (int o = 0; o < e->outputs; o++) known = known && s->back->types[e->first + o];
    return known;
}

static void find_known(split *s) {
    const lam__program *p = s->back;
    int64_t next = 0;
    for (int i = 0; i < p->inputs; i++)
        s->of[i] = (fate){.image = s->link[i], .known = s->link[i].variable != LAM__RESIDUALS_NONE};
    for (int64_t k = 0; k < p->equations; k++) {
        const lam__equation *e = p->list[k];
        const bool known = is_known(s, e);
        const lam__equation *same = known ? find_same(s, e, &next) : NULL;
        for (int o = 0; o < e->outputs; o++)
            s->of[e->first + o] = (fate){.image = {same ? same->first + o : LAM__RESIDUALS_NONE, NULL}, .known = known};
    }
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

/* Inputs are there in any case. */
static bool is_made(const split *s, const lam__atom *a) {
    return a->variable >= s->back->inputs;
}

static void need_operands(split *s, const lam__equation *e) {
    for (int i = 0; i < e->inputs; i++)
        if (e->in[i].variable >= 0) s->of[e->in[i].variable].needed = true;
}

/* What it takes to have what e reads, beside what is needed anyway; at most, since that may be run again too. */
static double operands_cost(split *s, const lam__equation *e) {
    double cost = 0;
    for (int i = 0; i < e->inputs; i++) {
        bool twice = false;
        for (int j = 0; j < i; j++) twice = twice || same_atom(&e->in[j], &e->in[i]);
        if (!twice && is_made(s, &e->in[i]) && !s->of[e->in[i].variable].needed)
            cost += place_cost(s, e->in[i].variable);
    }
    return cost;
}

/* The stack of a variable's values has an axis more than they have. */
static bool has_room(const split *s, int64_t variable) {
    return s->back->types[variable]->rank < LAM_INNER_RANK;
}

static void keep(split *s, int64_t variable) {
    s->of[variable].kept = true;
    s->bytes += (double)s->back->types[variable]->count * (double)lam__dtype_bytes(s->back->types[variable]->dtype);
    s->count++;
}

/* Decides for a known equation. One that `there` has too costs nothing there. */
static void decide(split *s, const lam__equation *e) {
    bool needed = false, fits = true;
    double places = 0;
    for (int o = 0; o < e->outputs; o++) {
        if (!s->of[e->first + o].needed) continue;
        needed = true;
        fits = fits && has_room(s, e->first + o);
        places += place_cost(s, e->first + o);
    }
    const double cost = cost_of(s->back, e), saved = s->of[e->first].image.variable >= 0 ? cost : 0;
    if (!needed) {
        s->gain += saved;
    } else if (fits && places + cost - saved < cost + operands_cost(s, e)) {
        s->gain += saved - places;
        for (int o = 0; o < e->outputs; o++)
            if (s->of[e->first + o].needed) keep(s, e->first + o);
    } else {
        need_operands(s, e);
    }
}

/* What is needed is told by those behind, so they come first. */
static void choose(split *s) {
    const lam__program *p = s->back;
    for (int o = 0; o < p->outputs; o++)
        if (p->results[o].variable >= 0) s->of[p->results[o].variable].needed = true;
    for (int64_t k = p->equations - 1; k >= 0; k--) {
        const lam__equation *e = p->list[k];
        bool known = e->outputs > 0;
        for (int o = 0; o < e->outputs; o++) known = known && s->of[e->first + o].known;
        if (known) decide(s, e);
        else need_operands(s, e);
    }
}

/* ---- the programs ------------------------------------------------------------------------------------------------ */

/* A program being recorded from another one: atoms of the new one by variable. */
typedef struct recording {
    lam__program *made;
    lam__atom *map;
} recording;

static lam__atom mapped(const recording *r, const lam__atom *a) {
    return a->variable < 0 ? *a : r->map[a->variable];
}

/* A variable of the new program for one of p. */
static bool add_variable(const recording *r, const lam__program *p, int64_t variable) {
    const int64_t made = lam__program_variable_like(r->made, p->types[variable]);
    r->map[variable] = (lam__atom){made, NULL};
    return made >= 0;
}

static bool add_equation(const split *s, const recording *r, const lam__program *p, const lam__equation *e) {
    const lam_call_site all = lam__equation_call(p->ctx, e, NULL);
    lam__atom *in = lam__arena_get(s->arena, (size_t)(e->inputs + 1) * sizeof *in);
    const int64_t first = r->made->variables;
    bool fine = in != NULL;
    for (int i = 0; i < e->inputs && fine; i++) in[i] = mapped(r, &e->in[i]);
    for (int o = 0; o < e->outputs && fine; o++) fine = add_variable(r, p, e->first + o);
    return fine && lam__program_record(r->made, &all, in, first) == LAM_OK;
}

/* A result of the new program: a constant is held by it. */
static void set_result(const recording *r, int o, lam__atom a) {
    r->made->results[o] = a;
    if (a.constant) lam__value_hold(a.constant);
}

/* Empty, with room for the numbers of p's variables; false without memory, *r has what there is. */
static bool open(const split *s, recording *r, const lam__program *p, int inputs, int outputs) {
    *r = (recording){lam__program_new(p->ctx, inputs, outputs),
                     lam__arena_get(s->arena, (size_t)(p->variables + 1) * sizeof *r->map)};
    return r->made && r->map;
}

/* One reference, finished; NULL without memory. */
static lam__program *close(const recording *r, bool fine) {
    if (fine && lam__program_finish(r->made) == LAM_OK) return r->made;
    lam__program_release(r->made);
    return NULL;
}

/* Marks what has to be made on the way there, since it is not yet. */
static void find_moved(split *s) {
    const lam__program *p = s->back;
    for (int64_t k = p->equations - 1; k >= 0; k--) {
        const lam__equation *e = p->list[k];
        bool moved = false;
        for (int o = 0; o < e->outputs; o++) moved = moved || s->of[e->first + o].kept || s->of[e->first + o].moved;
        moved = moved && s->of[e->first].image.variable < 0;
        for (int o = 0; o < e->outputs; o++) s->of[e->first + o].moved = moved;
        for (int i = 0; i < e->inputs && moved; i++)
            if (is_made(s, &e->in[i])) s->of[e->in[i].variable].moved = true;
    }
}

/* All of `there`, behind it what is moved, and what is kept as results. */
static lam__program *make_there(split *s) {
    const lam__program *p = s->there, *back = s->back;
    recording r, moved;
    bool fine = open(s, &r, p, p->inputs, p->outputs + s->count);
    moved = (recording){r.made, lam__arena_get(s->arena, (size_t)(back->variables + 1) * sizeof *moved.map)};
    fine = fine && moved.map;
    for (int i = 0; i < p->inputs && fine; i++) fine = add_variable(&r, p, i);
    for (int64_t k = 0; k < p->equations && fine; k++) fine = add_equation(s, &r, p, p->list[k]);
    for (int64_t v = 0; v < back->variables && fine; v++)
        if (s->of[v].image.variable != LAM__RESIDUALS_NONE) moved.map[v] = mapped(&r, &s->of[v].image);
    for (int64_t k = 0; k < back->equations && fine; k++)
        if (back->list[k]->outputs && s->of[back->list[k]->first].moved)
            fine = add_equation(s, &moved, back, back->list[k]);
    for (int o = 0; o < p->outputs && fine; o++) set_result(&r, o, mapped(&r, &p->results[o]));
    for (int64_t v = 0, o = p->outputs; v < back->variables && fine; v++)
        if (s->of[v].kept) set_result(&r, (int)o++, moved.map[v]);
    return close(&r, fine);
}

static bool add_kept(const split *s, const recording *r) {
    bool fine = true;
    for (int64_t v = 0; v < s->back->variables && fine; v++) fine = !s->of[v].kept || add_variable(r, s->back, v);
    return fine;
}

/* Whether the new trip back makes it: it depends on cotangents, or is run again. */
static bool is_left(const split *s, const lam__equation *e) {
    bool needed = false, kept = false, known = true;
    for (int o = 0; o < e->outputs; o++) {
        const fate *f = &s->of[e->first + o];
        needed = needed || f->needed, kept = kept || f->kept, known = known && f->known;
    }
    return !known || (needed && !kept);
}

/* What is left of `back`, with what is kept as inputs. */
static lam__program *make_back(const split *s, int at) {
    const lam__program *p = s->back;
    recording r;
    bool fine = open(s, &r, p, p->inputs + s->count, p->outputs);
    for (int i = 0; i <= p->inputs && fine; i++) {
        if (i == at) fine = add_kept(s, &r);
        if (i < p->inputs) fine = fine && add_variable(&r, p, i);
    }
    for (int64_t k = 0; k < p->equations && fine; k++)
        if (is_left(s, p->list[k])) fine = add_equation(s, &r, p, p->list[k]);
    for (int o = 0; o < p->outputs && fine; o++) set_result(&r, o, mapped(&r, &p->results[o]));
    return close(&r, fine);
}

bool lam__residuals_split(lam__arena *arena, const lam__program *there, const lam__program *back,
                          const lam__atom link[], int64_t trips, double most, int at, lam__residuals *made) {
    split s = {.arena = arena, .there = there, .back = back, .link = link, .trips = (double)trips};
    *made = (lam__residuals){NULL, NULL, 0};
    if (there->equations * back->equations > MOST_PAIRS || !there->equations || there->spares || back->spares)
        return true;
    s.of = lam__arena_get(arena, (size_t)(back->variables + 1) * sizeof *s.of);
    if (!s.of) return false;
    for (int64_t v = 0; v < back->variables; v++) s.of[v] = (fate){.image = {LAM__RESIDUALS_NONE, NULL}};
    find_known(&s);
    choose(&s);
    if (!s.count || s.gain <= 0 || s.bytes * s.trips > most) return true;
    find_moved(&s);
    *made = (lam__residuals){make_there(&s), make_back(&s, at), s.count};
    if (made->there && made->back) return true;
    lam__program_release(made->there);
    lam__program_release(made->back);
    return false;
}
