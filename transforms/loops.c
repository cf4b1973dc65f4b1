/* lam_while and lam_fori. As long as the condition is the same for all examples, a trip is a call of the body at the
 * level of the caller, as in a loop in C. Once it is batched, the loop goes on with lanes: the examples in one axis, of
 * which those that have ended are laid aside, so that a trip costs what the examples still at work cost. Both ways are
 * made of operations that levels see: reverse mode goes back through the trips that were made. */
#include "transforms/deferred.h"

#include "lib/base/context.h"
#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

/* Carries of a loop: handles of the operation's own, n of them, and room for those of the next trip. */
typedef struct carries {
    lam_tensor **now, **next;
    lam_tensor **in; /* what a call is given: an index, if there is one, and carries */
    size_t n;
} carries;

/* Room for an index is there in any case. */
static bool carries_begin(lam__control *c, lam_list init, carries *s) {
    s->n = init.count;
    s->now = lam__apply_room(c->ctx, s->n);
    s->next = lam__apply_room(c->ctx, s->n);
    s->in = lam__apply_room(c->ctx, s->n + 1);
    return s->now && s->next && s->in && lam__control_operands(c, "carries", init, s->now);
}

/* The next ones take the place of those there were, which nobody else sees. */
static void advance(carries *s) {
    for (size_t i = 0; i < s->n; i++) {
        lam_drop(s->now[i]);
        s->now[i] = s->next[i];
    }
}

/* One call of the body at the level of the caller, which leaves nothing but its results; an index stands in front. On
 * failure the carries are what they were, and next[] is the scope's. */
static bool trip(lam__control *c, lam_fn *body, lam_tensor *first, carries *s) {
    size_t extra = first != NULL;
    s->in[0] = first;
    if (s->n) memcpy(s->in + extra, s->now, s->n * sizeof *s->in);
    if (lam_call(body, (lam_list){s->n + extra, s->in}, s->next, s->n) != LAM_OK ||
        !lam__control_same(c, body, s->n, s->now, s->next, 0))
        return false;
    advance(s);
    return true;
}

/* ---- with lanes -------------------------------------------------------------------------------------------------- */

/* A loop whose lanes end at different times. order[]: which lanes the axis holds, in order; parts: what those that have
 * ended had, one entry per carry and part. place[i]: where lane i is among all that have ended. */
typedef struct lanes_loop {
    lam__task condition, body;
    carries s;
    int64_t *order, *place, *chosen;
    uint8_t *holds;
    int64_t active, ended;
    lam_tensor **parts;
    size_t count, room; /* of parts */
    lam__known known;   /* how much there was to see of the condition when it was asked last */
} lanes_loop;

/* Room for one part more; the list doubles. The old list is the scope's, which frees it at the end. */
static bool parts_grow(lam__control *c, lanes_loop *l) {
    if (l->count < l->room) return true;
    size_t wider = l->room ? 2 * l->room : 8;
    lam_tensor **fresh = lam__apply_room(c->ctx, wider * l->s.n);
    if (!fresh) return false;
    if (l->count) memcpy(fresh, l->parts, l->count * l->s.n * sizeof *fresh);
    l->parts = fresh;
    l->room = wider;
    return true;
}

/* Whether the condition is known for each lane. Where it depends on a batch, what that is of has not come in through an
 * operand: the crew was made of all operands and captures, and these are lanes now. */
static bool is_of_lanes(lam__control *c, const lam_fn *f, const lam_tensor *result) {
    lam__crew batches = {.ctx = c->ctx};
    lam__lanes_add(&batches, result);
    if (batches.count == 0) return true;
    lam__error_set(c->ctx, LAM_ERR_CAPTURED, "pass it as an operand, or declare it in the function's captures",
                   "%s: the result of '%s' depends on a batched tensor that did not come in as an operand of the "
                   "control flow",
                   c->what, f->name);
    return false;
}

/* Which lanes go on: holds[]; false, with nothing recorded, where that is not `known`. The condition has carries that
 * are lanes, and results that are. In a scope of its own: a condition is asked once for each trip, and nothing of it is
 * kept. A result that is no bool is compared with 0, as lam__control_truth does for one that is the same for all. */
static bool ask(lam__control *c, const lam__crew *crew, lanes_loop *l, const lam_fn *f) {
    lam_tensor *result = NULL;
    lam_scope *scope = lam_scope_begin(c->ctx);
    memcpy(l->condition.in, l->s.now, l->s.n * sizeof *l->s.now);
    bool fine =
        lam__lanes_run(crew, l->active, l->condition.f, l->condition.in, l->condition.mapped, &result) == LAM_OK;
    if (fine && lam_rank(result) != 1) {
        lam__error_set(c->ctx, LAM_ERR_SHAPE, "reduce it with lam_all or lam_any",
                       "%s: the result of '%s' has rank %d, a bool of rank 0 expected", c->what, f->name,
                       lam_rank(result) - 1);
        fine = false;
    }
    fine = fine && is_of_lanes(c, f, result);
    if (fine) {
        lam_tensor *truth = lam_dtype_of(result) == LAM_BOOL ? result : lam_ne(result, 0);
        l->known = lam__deferred_known(truth);
        fine = l->known == LAM__KNOWN && lam_read(truth, l->holds, (size_t)l->active) == LAM_OK;
    }
    return lam_scope_end(scope, NULL, 0) == LAM_OK && fine;
}

/* The lanes of x that go on, or those that do not. All of them is x itself, without a copy. */
static lam_tensor *chosen_of(lam__control *c, lanes_loop *l, lam_tensor *x, bool which) {
    int64_t k = 0;
    for (int64_t i = 0; i < l->active; i++) { /* without a branch, since nobody could foresee it */
        l->chosen[k] = i;
        k += l->holds[i] == which;
    }
    return k == l->active ? x : lam_take(x, lam_array(c->ctx, LAM_I64, LAM_DIMS(k), l->chosen), 0);
}

/* Captures that are lanes lose those that have ended. Carries are in front, and are chosen by whoever calls this. */
static void narrow(lam__control *c, lanes_loop *l, lam__task *task) {
    for (int i = (int)l->s.n; i < task->f->inputs; i++)
        if (task->mapped[i]) task->in[i] = chosen_of(c, l, task->in[i], true);
}

/* Tells the crew which lanes are at work, of which alone draws are. NULL again where all are, as in the first trips. */
static bool note_those_at_work(lam__control *c, lam__crew *crew, const lanes_loop *l) {
    lam_drop(crew->index);
    crew->index = l->active < crew->size ? lam_array(c->ctx, LAM_I64, LAM_DIMS(l->active), l->order) : NULL;
    return !crew->index || !lam_failed(crew->index);
}

/* Lays those lanes aside that have ended; the others close up. Those that have ended come to the results in the order
 * in which they did, which place[] undoes. */
static bool lay_aside(lam__control *c, lam__crew *crew, lanes_loop *l) {
    int64_t kept = 0;
    if (!parts_grow(c, l)) return false;
    for (size_t i = 0; i < l->s.n; i++) l->parts[l->count * l->s.n + i] = chosen_of(c, l, l->s.now[i], false);
    l->count++;
    for (size_t i = 0; i < l->s.n; i++) l->s.now[i] = chosen_of(c, l, l->s.now[i], true);
    narrow(c, l, &l->condition);
    narrow(c, l, &l->body);
    for (int64_t i = 0; i < l->active; i++) {
        int64_t lane = l->order[i];
        l->place[lane] = l->ended; /* if it goes on, a later time will tell */
        l->order[kept] = lane;
        kept += l->holds[i];
        l->ended += !l->holds[i];
    }
    l->active = kept;
    return note_those_at_work(c, crew, l);
}

/* Brings holds[] to 0 and 1 on the way. */
static int64_t holding(const lanes_loop *l) {
    int64_t k = 0;
    for (int64_t i = 0; i < l->active; i++) k += l->holds[i] = l->holds[i] != 0;
    return k;
}

/* One call of the body for the lanes at work. What the trip leaves but carries goes with its scope. Types are compared
 * behind the axis of lanes. */
static bool lanes_trip(lam__control *c, const lam__crew *crew, lanes_loop *l, const lam_fn *f) {
    lam_scope *scope = lam_scope_begin(c->ctx);
    memcpy(l->body.in, l->s.now, l->s.n * sizeof *l->s.now);
    bool fine = lam__lanes_run(crew, l->active, l->body.f, l->body.in, l->body.mapped, l->s.next) == LAM_OK &&
                lam__control_same(c, f, l->s.n, l->s.now, l->s.next, 1);
    if (lam_scope_end(scope, l->s.next, fine ? l->s.n : 0) != LAM_OK || !fine) return false;
    advance(&l->s);
    return true;
}

/* All carries become lanes, since any may come to depend on one that is. Captures are opened with the tasks, and know
 * from then on which lanes they are of. */
static bool lanes_start(lam__control *c, const lam__crew *crew, lanes_loop *l, lam_fn *condition, lam_fn *body) {
    if (!lam__control_task(c, crew, condition, &l->condition) || !lam__control_task(c, crew, body, &l->body))
        return false;
    for (size_t i = 0; i < l->s.n; i++) {
        l->s.now[i] = lam__lanes_open(crew, l->s.now[i]);
        if (lam_failed(l->s.now[i])) return false;
        l->condition.mapped[i] = l->body.mapped[i] = true;
    }
    for (int64_t i = 0; i < crew->size; i++) l->order[i] = i;
    l->active = crew->size;
    return true;
}

/* From the state where the condition was found to be batched to the end. Asked first, since the trip that found the
 * condition batched has not been made. */
static bool run_lanes(lam__control *c, lam__crew *crew, lanes_loop *l, lam_fn *condition, lam_fn *body) {
    if (!lanes_start(c, crew, l, condition, body)) return false;
    do {
        if (!ask(c, crew, l, condition)) return false;
        if (holding(l) < l->active && !lay_aside(c, crew, l)) return false;
        if (l->active && !lanes_trip(c, crew, l, body)) return false;
    } while (l->active);
    if (!l->count && !lay_aside(c, crew, l)) return false; /* a batch of none */
    for (size_t i = 0; i < l->s.n; i++)
        l->s.now[i] =
            lam__lanes_close(crew, lam__control_join(c, l->count, l->parts + i, l->s.n, l->place, crew->size));
    return true;
}

/* Which levels there are lanes of: those that any of the operands has, so that no condition later on has another. One
 * block: three numbers for each lane and a byte. *known: of the conditions; where it says that there is one that cannot
 * be looked at, the carries are what they were. */
static bool run_with_lanes(lam__control *c, lam__crew *crew, carries *s, lam_fn *condition, lam_fn *body,
                           lam__known *known) {
    lam__scratch_area area;
    lanes_loop l = {.s = *s};
    *known = LAM__KNOWN;
    for (size_t i = 0; i < s->n; i++) lam__lanes_add(crew, s->now[i]);
    lam__control_add_captures(crew, condition);
    lam__control_add_captures(crew, body);
    size_t n = (size_t)crew->size;
    l.order = lam__scratch_get(&area, c->ctx, n * (3 * sizeof *l.order + 1));
    if (!l.order) return false;
    l.place = l.order + n;
    l.chosen = l.place + n;
    l.holds = (uint8_t *)(l.chosen + n);
    l.s.now = lam__apply_room(c->ctx, s->n); /* the operation's own stay as they are, for whoever needs them again */
    if (l.s.now && s->n) memcpy(l.s.now, s->now, s->n * sizeof *s->now);
    bool fine = l.s.now && run_lanes(c, crew, &l, condition, body);
    if (fine && s->n) memcpy(s->now, l.s.now, s->n * sizeof *s->now);
    *known = l.known;
    lam__scratch_put(&area);
    return fine;
}

/* ---- the operations ---------------------------------------------------------------------------------------------- */

/* What the condition has said: that it failed, that the loop ends or goes on; or that it is batched, is known when a
 * program is run, or need not be asked, since types alone are wanted. */
enum verdict { FAILED, ENDS, GOES_ON, BATCHED, TRACED, NOT_ASKED };

/* What the condition says of the carries. crew gets the levels it is batched at. A plain bool, which is the usual case,
 * is looked at without a cast. */
static enum verdict judge(lam__control *c, lam__crew *crew, lam_fn *condition, const carries *s) {
    int64_t holds = 0;
    lam_scope *scope = lam_scope_begin(c->ctx);
    lam_tensor *given = lam_apply(condition, (lam_list){s->n, s->now});
    const lam_value *v = lam__scope_peek(given);
    if (v && v->kind == LAM__CONCRETE && v->dtype == LAM_BOOL && !v->rank) {
        bool is = *(const bool *)v->data;
        return lam_scope_end(scope, NULL, 0) != LAM_OK ? FAILED : is ? GOES_ON : ENDS;
    }
    lam_tensor *truth = lam__control_truth(c, condition, given);
    bool failed = lam_failed(truth);
    lam__known known = lam__deferred_known(truth);
    if (!failed && known == LAM__KNOWN) {
        lam__lanes_add(crew, truth);
        failed = !crew->count && lam_read(truth, &holds, sizeof holds) != LAM_OK;
    }
    if (lam_scope_end(scope, NULL, 0) != LAM_OK || failed) return FAILED;
    if (known != LAM__KNOWN) return known == LAM__TRACED ? TRACED : NOT_ASKED;
    return crew->count ? BATCHED : holds ? GOES_ON : ENDS;
}

/* The rest of the loop is for the program that is being recorded. From where the carries are now: trips made so far
 * stay in the program. */
static bool continue_later(lam__control *c, carries *s) {
    const lam__later what = {.kind = LAM__WHILE, .n = s->n, .carries = s->n};
    if (!lam__deferred_call(c, &what, s->now, s->next)) return false;
    advance(s);
    return true;
}

/* With lanes, as long as they know what they want. Trips may make a condition of what is traced, though it was known
 * in front of the first one: then the loop is for the program from there on, and what has been recorded of the lanes is
 * read by nobody. */
static bool continue_with_lanes(lam__control *c, lam__crew *crew, carries *s, lam_fn *condition, lam_fn *body) {
    lam__known known;
    if (run_with_lanes(c, crew, s, condition, body, &known)) return true;
    if (known == LAM__KNOWN) return false;
    return known == LAM__TRACED ? continue_later(c, s) : trip(c, body, NULL, s);
}

/* The whole of it, if the functions can do without elements; *reads as of lam__deferred_try, and s is as it was. */
static bool try_later(lam__control *c, carries *s, bool *reads) {
    const lam__later what = {.kind = LAM__WHILE, .n = s->n, .carries = s->n};
    if (!lam__deferred_try(c, &what, s->now, s->next, reads)) return false;
    advance(s);
    return true;
}

/* The same of all trips of a loop over numbers. The number is the first carry (`counted`), of which the caller gets
 * nothing back. */
static bool count_later(lam__control *c, int64_t lower, int64_t trips, carries *s, bool *reads) {
    const lam__later what = {.kind = LAM__SCAN, .n = s->n + 1, .carries = s->n + 1, .length = trips, .counted = true};
    s->in[0] = lam__scope_handle(c->ctx, lam__value_integer(c->ctx, LAM_I64, lower));
    if (s->n) memcpy(s->in + 1, s->now, s->n * sizeof *s->in);
    *reads = false;
    if (lam_failed(s->in[0]) || !lam__deferred_try(c, &what, s->in, s->next, reads)) return false;
    advance(s);
    return true;
}

/* A condition on constants is known while the loop is recorded, trip by trip. Where these are too many for a program,
 * the whole loop is one equation of it after all, and what the trips have left there is read by nobody; but for a body
 * that reads elements, which only goes trip by trip. `start` has the carries as they were given, for the case that the
 * whole loop has to be one equation. */
static bool run_while(lam__control *c, lam_fn *condition, lam_fn *body, lam_list init, carries *s) {
    carries start = {0};
    bool kept = lam__deferred_trips(body, s->n, s->now, INT64_MAX), reads;
    const lam__extent before = lam__deferred_recorded(body, s->n, s->now);
    if (kept && !carries_begin(c, init, &start)) return false;
    for (int64_t trips = 1;; trips++) {
        lam__crew crew = {.ctx = c->ctx};
        enum verdict v = judge(c, &crew, condition, s);
        if (v == BATCHED) return continue_with_lanes(c, &crew, s, condition, body);
        if (v == NOT_ASKED) return trip(c, body, NULL, s); /* one trip keeps the types, or fails */
        if (v == TRACED) return continue_later(c, s);
        if (v != GOES_ON) return v == ENDS;
        if (kept && (lam__deferred_trips(body, s->n, s->now, trips) ||
                     lam__deferred_is_long(before, lam__deferred_recorded(body, start.n, start.now), 1))) {
            const bool fine = try_later(c, &start, &reads);
            if (fine) *s = start;
            if (!reads) return fine;
            kept = false;
        }
        if (!trip(c, body, NULL, s)) return false;
    }
}

/* The two questions about the body together ask that there is room for as many results as there are carries. */
lam_status lam_while(lam_fn *condition, lam_fn *body, lam_list init, lam_tensor **out, size_t n_out) {
    lam_fn *fns[] = {condition, body};
    lam__control c;
    lam_status status;
    carries s;
    if (!lam__control_begin(&c, "while", 2, fns, init, out, n_out, &status)) return status;
    bool fine = lam__control_arity(&c, condition, init.count, 1) && lam__control_arity(&c, body, init.count, n_out) &&
                lam__control_arity(&c, body, n_out, init.count) && carries_begin(&c, init, &s) &&
                run_while(&c, condition, body, init, &s);
    return lam__control_end(&c, fine ? s.now : NULL);
}

/* From INT64_MIN to INT64_MAX there are more than a signed number holds. */
static int64_t trips_of(int64_t lower, int64_t upper) {
    uint64_t trips = (uint64_t)upper - (uint64_t)lower;
    return trips > INT64_MAX ? INT64_MAX : (int64_t)trips;
}

/* A trip at a time, but for a loop that is to be one equation, and one that the first trip shows to be too long for a
 * program: what that has left there is read by nobody. A body that reads its number has it trip by trip alone. The
 * number of a trip is a constant of that trip, so a body may use it as any tensor. */
static bool run_fori(lam__control *c, int64_t lower, int64_t upper, lam_fn *body, lam_list init, carries *s) {
    carries start = {0};
    const int64_t trips = trips_of(lower, upper);
    const lam__known known = lam__deferred_loop(body, s->n, 0, s->now, trips);
    const lam__extent before = lam__deferred_recorded(body, s->n, s->now);
    if (known == LAM__TRACED) {
        bool reads = false;
        const bool fine = count_later(c, lower, trips, s, &reads);
        if (!reads) return fine;
    }
    if (known == LAM__NOT_ASKED) upper = lower + 1; /* one trip keeps the types, or fails */
    if (before.operations >= 0 && !carries_begin(c, init, &start)) return false;
    for (int64_t i = lower; i < upper; i++) {
        lam_tensor *number = lam__scope_handle(c->ctx, lam__value_integer(c->ctx, LAM_I64, i));
        const bool fine = !lam_failed(number) && trip(c, body, number, s);
        lam_drop(number);
        if (!fine) return false;
        if (i > lower || trips == 1 ||
            !lam__deferred_is_long(before, lam__deferred_recorded(body, start.n, start.now), trips))
            continue;
        bool reads = false;
        const bool all = count_later(c, lower, trips, &start, &reads);
        if (all) *s = start;
        if (!reads) return all;
    }
    return true;
}

/* Without trips the carries are the results, and the body is only counted. */
lam_status lam_fori(int64_t lower, int64_t upper, lam_fn *body, lam_list init, lam_tensor **out, size_t n_out) {
    lam__control c;
    lam_status status;
    carries s;
    if (!lam__control_begin(&c, "fori", 1, &body, init, out, n_out, &status)) return status;
    bool fine = lam__control_arity(&c, body, init.count + 1, n_out) &&
                lam__control_arity(&c, body, n_out + 1, init.count) && carries_begin(&c, init, &s);
    if (upper > lower) fine = fine && run_fori(&c, lower, upper, body, init, &s);
    return lam__control_end(&c, fine ? s.now : NULL);
}
