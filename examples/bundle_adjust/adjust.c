/* One context for the whole run; what each step makes in it is gone with its scopes, so memory stays the same from
 * step to step. The context is looked at once per iteration: until then, failed tensors pass through.
 *
 * Parameters lie in one array, cameras before points, as the step does. */
#include "adjust.h"

#include "normal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Damping is relative to the diagonal of J'J. At the upper end a step is nothing but rounding; at the lower end the
 * directions that observations do not determine are held by it alone, in the last digits of the reduced system. */
static const double FIRST_DAMPING = 1e-4, LEAST_DAMPING = 1e-12, MOST_DAMPING = 1e16;
/* The end: a step brings, or promises, this little of the cost. */
static const double TOLERANCE = 1e-10;
/* Or the residuals are no more than rounding: an RMS, in pixels. */
static const double ROUNDING = 1e-10;

typedef struct run {
    problem *p;
    adjust_result *result;
    lam_ctx *ctx;
    projection model;
    normal equations;
    double *now, *trial; /* [9 cameras + 3 points] parameters */
    double growth;       /* of the damping, when the next step is rejected */
} run;

static size_t parameters_of(const problem *p) {
    return (size_t)(p->cameras * PROBLEM_CAMERA + p->points * PROBLEM_POINT);
}

/* Records the failure of the context, or else the given one; gives false. */
static bool fail(run *r, const char *otherwise) {
    const char *reason = lam_status_of(r->ctx) == LAM_OK ? otherwise : lam_error(r->ctx);
    snprintf(r->result->error, sizeof r->result->error, "%s", reason);
    return false;
}

/* ---- evaluation ---- */

/* Residuals at the parameters x, unless values_only their blocks, and the cost; infinite for every one that is none. */
static bool evaluate(run *r, const double *x, bool values_only, double *cost) {
    const projection_blocks *out = &r->equations.blocks;
    double sum = 0;
    if (!projection_evaluate(&r->model, x, x + r->p->cameras * PROBLEM_CAMERA, values_only, out)) return fail(r, "");
    for (int64_t k = 0; k < r->p->observations; k++)
        sum += out->residual[k][0] * out->residual[k][0] + out->residual[k][1] * out->residual[k][1];
    *cost = isfinite(sum) ? 0.5 * sum : INFINITY;
    return true;
}

/* Residuals, blocks and normal equations at the parameters that have been reached, which may be the end. */
static bool linearize(run *r) {
    if (!evaluate(r, r->now, false, &r->result->last.cost)) return false;
    r->result->last.rms = sqrt(r->result->last.cost / (double)r->p->observations);
    if (r->result->last.rms <= ROUNDING) r->result->ending = "converged";
    normal_form(&r->equations);
    return true;
}

/* ---- steps ---- */

/* Nielsen's update: less damping the better the cost kept what was promised; more, and faster each time, when it did
 * not. */
static void accept(run *r, double ratio) {
    double *swap = r->now, excess = 2 * ratio - 1;
    r->now = r->trial;
    r->trial = swap;
    r->growth = 2;
    r->result->last.is_rejected = false;
    r->result->last.damping *= fmax(1.0 / 3, 1 - excess * excess * excess);
    r->result->last.damping = fmax(r->result->last.damping, LEAST_DAMPING);
}

static void reject(run *r) {
    r->result->last.is_rejected = true;
    r->result->last.damping *= r->growth;
    r->growth *= 2;
}

/* The trial parameters and what the model promises them to bring. false: no step, more damping is needed. */
static bool propose(run *r, double *promise) {
    normal *n = &r->equations;
    if (!normal_solve(n, r->result->last.damping)) return false;
    for (size_t j = 0; j < parameters_of(r->p); j++) r->trial[j] = r->now[j] + n->step[j];
    *promise = normal_promise(n, r->result->last.damping);
    return isfinite(*promise);
}

/* One iteration. Sets result->ending when it was the last one. */
static bool iterate(run *r) {
    adjust_state *last = &r->result->last;
    double promise = 0, cost = INFINITY, before = last->cost;
    bool is_proposed = propose(r, &promise);
    if (is_proposed && !evaluate(r, r->trial, true, &cost)) return false;
    if (lam_status_of(r->ctx) != LAM_OK) return fail(r, "");
    last->iteration++;
    if (cost < before) {
        accept(r, (before - cost) / promise);
        if (!linearize(r)) return false;
    } else reject(r);
    if ((is_proposed && promise <= TOLERANCE * before) || (cost < before && before - cost <= TOLERANCE * before))
        r->result->ending = "converged";
    else if (last->damping > MOST_DAMPING) r->result->ending = "no step makes the cost smaller";
    return true;
}

static bool descend(run *r, const adjust_options *options) {
    adjust_result *result = r->result;
    if (!linearize(r)) return false;
    if (!isfinite(result->last.cost))
        return fail(r, "the residuals at the start are not finite; does a point lie at the level of a camera?");
    result->last.damping = FIRST_DAMPING;
    result->first = result->last;
    for (;;) {
        if (options->report) options->report(options->env, &result->last);
        if (result->ending) return true;
        if (result->last.iteration >= options->iterations) break;
        if (!iterate(r)) return false;
    }
    result->ending = "stopped";
    return true;
}

/* ---- one run ---- */

static bool prepare(run *r) {
    size_t cameras = (size_t)r->p->cameras * PROBLEM_CAMERA, all = parameters_of(r->p);
    if (!r->now || !r->trial || !normal_open(&r->equations, r->ctx, r->p)) return fail(r, "out of memory");
    memcpy(r->now, r->p->camera, cameras * sizeof *r->now);
    memcpy(r->now + cameras, r->p->point, (all - cameras) * sizeof *r->now);
    projection_open(&r->model, r->ctx, r->p);
    return lam_status_of(r->ctx) == LAM_OK || fail(r, "");
}

static void give_back(run *r) {
    size_t cameras = (size_t)r->p->cameras * PROBLEM_CAMERA, all = parameters_of(r->p);
    memcpy(r->p->camera, r->now, cameras * sizeof *r->now);
    memcpy(r->p->point, r->now + cameras, (all - cameras) * sizeof *r->now);
}

bool adjust_run(problem *p, const adjust_options *options, adjust_result *result) {
    *result = (adjust_result){.ending = NULL};
    run r = {.p = p, .result = result, .ctx = lam_ctx_new(NULL), .growth = 2};
    r.now = malloc(parameters_of(p) * sizeof *r.now);
    r.trial = malloc(parameters_of(p) * sizeof *r.trial);
    bool is_prepared = prepare(&r), done = is_prepared && descend(&r, options);
    if (is_prepared) give_back(&r);
    lam_ctx_free(r.ctx);
    normal_close(&r.equations);
    free(r.now);
    free(r.trial);
    return done;
}
