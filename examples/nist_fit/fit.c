/* Levenberg-Marquardt in a trust region, then Gauss-Newton.
 *
 * Everything happens in scaled parameters s_j = D_j b_j, where D_j is the largest norm that column j of the Jacobian
 * has had so far; so neither the units of a parameter nor its size matter. A step q minimises |r + J D^-1 q| over
 * |q| <= radius; normal equations are never formed (J. J. More, The Levenberg-Marquardt algorithm: implementation
 * and theory, Lecture Notes in Mathematics 630, 1978).
 *
 * NOTE [two phases] The sum of squares is flat at its minimum: once the parameters have 8 digits, its own have all
 * 16, and a method that judges steps by it goes blind. Steps of Gauss-Newton do not look at it and shrink by a
 * constant factor each; the second phase takes them until rounding stops them from shrinking. */
#include "fit.h"

#include "qr.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 5000, MAX_POLISH = 200, MAX_DAMPINGS = 20 };

/* First radius, as a multiple of |D b|: far enough to move, near enough not to leave the valley at once. */
static const double FIRST_RADIUS = 1.0;
/* The first phase ends when a step is this small against the parameters ... */
static const double STEP_TOLERANCE = 1e-9;
/* ... or promises, and brings, this little of the sum of squares. */
static const double SUM_TOLERANCE = 1e-13;

typedef struct state {
    const fit_problem *problem;
    fit_result *result;
    double *b, *trial;         /* [n] parameters, in their own units */
    double *residual, *next;   /* [m] f - y at b and at trial */
    double *jacobian;          /* [m][n] as the model gives it, at b */
    double *scale;             /* [n] D */
    double *a, *qr_residual;   /* [n][m] factors of J D^-1, and Q' residual */
    double *damped, *damped_b; /* [n][2n] and [2n]: R stacked on sqrt(damping) I */
    double *step, *work;       /* [n] q, in scaled parameters; scratch */
    double sum;                /* |residual|^2 */
    double radius, damping;    /* of the trust region; 0 damping is Gauss-Newton */
} state;

static double square(double x) {
    return x * x;
}

static double sum_of_squares(int n, const double *x) {
    return square(qr_norm(n, x));
}

/* ---- evaluation ---- */

/* residual = f(b) - y, and jacobian unless NULL. An infinite sum stands for every value that is not finite. */
static bool residual_at(state *s, const double *b, double *residual, double *jacobian, double *sum) {
    const fit_problem *p = s->problem;
    if (!p->evaluate(p->env, b, residual, jacobian)) {
        s->result->failure = "the model failed";
        return false;
    }
    jacobian ? s->result->jacobian_evaluations++ : s->result->value_evaluations++;
    for (int i = 0; i < p->observations; i++) residual[i] -= p->y[i];
    *sum = sum_of_squares(p->observations, residual);
    if (!isfinite(*sum)) *sum = INFINITY;
    return true;
}

/* Raises D to the norms of the columns. A column of zeros says nothing about its parameter's size: 1 then. */
static bool scale_update(state *s) {
    int m = s->problem->observations, n = s->problem->parameters;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < m; i++) s->qr_residual[i] = s->jacobian[(long)i * n + j];
        double norm = qr_norm(m, s->qr_residual);
        if (!isfinite(norm)) return false;
        s->scale[j] = fmax(s->scale[j], norm);
        if (s->scale[j] == 0) s->scale[j] = 1;
    }
    return true;
}

static void factor(state *s) {
    int m = s->problem->observations, n = s->problem->parameters;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) s->a[i + (long)j * m] = s->jacobian[(long)i * n + j] / s->scale[j];
    memcpy(s->qr_residual, s->residual, (size_t)m * sizeof(double));
    qr_factor(m, n, s->a, s->qr_residual);
}

/* R is of use alone if no diagonal element is lost in the rounding of the others. */
static bool has_full_rank(const state *s) {
    int m = s->problem->observations, n = s->problem->parameters;
    double largest = 0, smallest = INFINITY;
    for (int j = 0; j < n; j++) {
        double diagonal = fabs(s->a[j + (long)j * m]);
        largest = fmax(largest, diagonal);
        smallest = fmin(smallest, diagonal);
    }
    return smallest > DBL_EPSILON * largest;
}

/* Values, Jacobian, scale and factors at b. */
static bool linearize(state *s) {
    if (!residual_at(s, s->b, s->residual, s->jacobian, &s->sum)) return false;
    if (!isfinite(s->sum) || !scale_update(s)) {
        s->result->failure = "the model is not finite there";
        return false;
    }
    factor(s);
    return true;
}

/* ---- the step ---- */

/* q = argmin |R q + Q'r|^2 + damping |q|^2. Leaves the factor of the stacked matrix in s->damped. */
static void damped_step(state *s, double damping) {
    int m = s->problem->observations, n = s->problem->parameters;
    double root = sqrt(damping);
    memset(s->damped, 0, (size_t)n * 2 * (size_t)n * sizeof(double));
    memset(s->damped_b, 0, 2 * (size_t)n * sizeof(double));
    for (int j = 0; j < n; j++) {
        memcpy(s->damped + (long)j * 2 * n, s->a + (long)j * m, ((size_t)j + 1) * sizeof(double));
        s->damped[n + j + (long)j * 2 * n] = root;
        s->damped_b[j] = -s->qr_residual[j];
    }
    qr_factor(2 * n, n, s->damped, s->damped_b);
    qr_solve(2 * n, n, s->damped, s->damped_b, s->step);
}

static bool gauss_newton_step(state *s) {
    if (!has_full_rank(s)) return false;
    damped_step(s, 0);
    return true;
}

/* |R' Q'r|, the gradient in scaled parameters: |gradient| / radius bounds the damping from above. */
static double gradient_norm(state *s) {
    int m = s->problem->observations, n = s->problem->parameters;
    for (int j = 0; j < n; j++) {
        s->work[j] = 0;
        for (int i = 0; i <= j; i++) s->work[j] += s->a[i + (long)j * m] * s->qr_residual[i];
    }
    return qr_norm(n, s->work);
}

/* More's iteration for the damping at which |q| = radius, to a tenth: Newton on 1/|q|, kept between two bounds. */
static void trust_region_step(state *s) {
    int n = s->problem->parameters;
    double lower = 0, upper = gradient_norm(s) / s->radius;
    if (gauss_newton_step(s) && qr_norm(n, s->step) <= 1.1 * s->radius) {
        s->damping = 0;
        return;
    }
    double damping = fmin(s->damping, upper);
    for (int k = 0; k < MAX_DAMPINGS; k++) {
        if (damping <= lower || damping > upper) damping = fmax(sqrt(lower * upper), 1e-3 * upper);
        damped_step(s, damping);
        double length = qr_norm(n, s->step), excess = length - s->radius;
        if (fabs(excess) <= 0.1 * s->radius) break;
        if (excess > 0) lower = damping;
        else upper = damping;
        qr_solve_transposed(2 * n, n, s->damped, s->step, s->work);
        damping += excess / s->radius * square(length / qr_norm(n, s->work));
    }
    s->damping = damping;
}

static void trial_from_step(state *s) {
    for (int j = 0; j < s->problem->parameters; j++) s->trial[j] = s->b[j] + s->step[j] / s->scale[j];
}

/* What the linear model promises the step to take off the sum: |R q|^2 + 2 damping |q|^2. */
static double promised_reduction(state *s) {
    int m = s->problem->observations, n = s->problem->parameters;
    for (int i = 0; i < n; i++) {
        s->work[i] = 0;
        for (int j = i; j < n; j++) s->work[i] += s->a[i + (long)j * m] * s->step[j];
    }
    return sum_of_squares(n, s->work) + 2 * s->damping * sum_of_squares(n, s->step);
}

/* ---- phase one: trust region ---- */

static void radius_update(state *s, double ratio) {
    double length = qr_norm(s->problem->parameters, s->step);
    if (ratio < 0.25) s->radius = 0.25 * fmin(s->radius, length);
    else if (ratio > 0.75 || s->damping == 0) s->radius = fmax(s->radius, 2 * length);
}

static double scaled_norm(const state *s, const double *b) {
    for (int j = 0; j < s->problem->parameters; j++) s->work[j] = s->scale[j] * b[j];
    return qr_norm(s->problem->parameters, s->work);
}

static bool is_converged(const state *s, double promised, double actual) {
    bool is_flat = promised <= SUM_TOLERANCE * s->sum && fabs(actual) <= SUM_TOLERANCE * s->sum;
    return is_flat || qr_norm(s->problem->parameters, s->step) <= STEP_TOLERANCE * scaled_norm(s, s->b);
}

static bool descend(state *s) {
    if (!linearize(s)) return false;
    s->radius = FIRST_RADIUS * scaled_norm(s, s->b);
    if (s->radius == 0) s->radius = FIRST_RADIUS;
    for (int k = 0; k < MAX_STEPS; k++) {
        double sum;
        trust_region_step(s);
        trial_from_step(s);
        if (!residual_at(s, s->trial, s->next, NULL, &sum)) return false;
        double promised = promised_reduction(s), actual = s->sum - sum;
        double ratio = promised > 0 ? actual / promised : 0;
        bool converged = is_converged(s, promised, actual);
        radius_update(s, ratio);
        if (ratio > 1e-4) {
            memcpy(s->b, s->trial, (size_t)s->problem->parameters * sizeof(double));
            if (!linearize(s)) return false;
        }
        if (converged) return true;
    }
    s->result->failure = "no convergence";
    return false;
}

/* ---- phase two: Gauss-Newton ---- */

/* NOTE [two phases]: a step is taken as long as what it removes, the projection of the residual on the columns of the
 * Jacobian, is shorter than before. In that norm the iteration contracts from step to step near the minimum (its
 * matrix is symmetric there); in the parameters themselves it need not. */
static bool polish(state *s) {
    int n = s->problem->parameters;
    double before = INFINITY;
    for (int k = 0; k < MAX_POLISH; k++) {
        double projection = qr_norm(n, s->qr_residual);
        if (!gauss_newton_step(s)) {
            s->result->failure = "the data do not determine the parameters";
            return false;
        }
        if (projection >= before) break;
        before = projection;
        trial_from_step(s);
        memcpy(s->b, s->trial, (size_t)n * sizeof(double));
        if (!linearize(s)) return false;
    }
    return true;
}

/* Standard deviation of parameter j: s sqrt(((J'J)^-1)_jj), and that is the norm of R'^-1 e_j, unscaled. */
static void deviations(state *s) {
    int m = s->problem->observations, n = s->problem->parameters;
    double residual_deviation = sqrt(s->sum / (m - n));
    for (int j = 0; j < n; j++) {
        memset(s->work, 0, (size_t)n * sizeof(double));
        s->work[j] = 1;
        qr_solve_transposed(m, n, s->a, s->work, s->work);
        s->result->deviations[j] = residual_deviation * qr_norm(n, s->work) / s->scale[j];
    }
}

/* ---- storage ---- */

/* One block for all arrays of the state. */
static double *storage_new(state *s) {
    size_t m = (size_t)s->problem->observations, n = (size_t)s->problem->parameters;
    struct {
        double **array;
        size_t count;
    } parts[] = {
        {&s->b, n},     {&s->trial, n},        {&s->residual, m},       {&s->next, m},
        {&s->scale, n}, {&s->jacobian, m * n}, {&s->a, m * n},          {&s->qr_residual, m},
        {&s->step, n},  {&s->work, n},         {&s->damped, 2 * n * n}, {&s->damped_b, 2 * n},
    };
    size_t total = 0, count = sizeof parts / sizeof *parts;
    for (size_t i = 0; i < count; i++) total += parts[i].count;
    double *block = calloc(total, sizeof(double)), *at = block;
    for (size_t i = 0; block && i < count; at += parts[i++].count) *parts[i].array = at;
    return block;
}

bool fit_run(const fit_problem *problem, fit_result *result) {
    state s = {.problem = problem, .result = result};
    double *block = storage_new(&s);
    result->failure = block ? NULL : "out of memory";
    result->value_evaluations = result->jacobian_evaluations = 0;
    if (!block) return false;
    size_t bytes = (size_t)problem->parameters * sizeof(double);
    memcpy(s.b, result->parameters, bytes);
    bool done = descend(&s) && polish(&s);
    if (done) deviations(&s);
    memcpy(result->parameters, s.b, bytes);
    result->sum_of_squares = s.sum;
    free(block);
    return done;
}
