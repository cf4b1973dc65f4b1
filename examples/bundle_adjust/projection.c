/* The camera model of the data sets as a Lamina function of one observation; everything else is made of it.
 *
 * Each evaluation runs in a scope of its own and goes over the observations in chunks, so beside the arrays of the
 * caller it holds the same few arrays of that size at every step. The function unstacks its inputs into numbers: under
 * vmap each of them is a row of memory. */
#include "projection.h"

enum { CHUNK = 4096 };

/* ---- one observation ---- */

static lam_tensor *dot(lam_tensor *const x[3], lam_tensor *const y[3]) {
    return lam_add(lam_add(lam_mul(x[0], y[0]), lam_mul(x[1], y[1])), lam_mul(x[2], y[2]));
}

static void cross(lam_tensor *const x[3], lam_tensor *const y[3], lam_tensor *out[3]) {
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = lam_sub(lam_mul(x[j], y[k]), lam_mul(x[k], y[j]));
    }
}

/* 1 - q/c0 (1 - q/c1 (1 - q/c2)): how series of sines and cosines begin. */
static lam_tensor *series(lam_tensor *q, double c0, double c1, double c2) {
    lam_tensor *inner = lam_sub(1.0, lam_mul(1 / c2, q));
    inner = lam_sub(1.0, lam_mul(lam_mul(1 / c1, q), inner));
    return lam_sub(1.0, lam_mul(lam_mul(1 / c0, q), inner));
}

/* a = sin(t) / t and b = (1 - cos t) / t^2 of the angle t = sqrt(q): smooth in q. Near 0 they are their series, whose
 * next terms are below 1e-17. The other branch is kept away from 0 even where it is not chosen: where() sends it a
 * derivative of 0 there, and 0 times infinity is NaN. */
static void sines(lam_tensor *q, lam_tensor **a, lam_tensor **b) {
    lam_tensor *is_small = lam_lt(q, 1e-3), *safe = lam_where(is_small, 1.0, q), *t = lam_sqrt(safe);
    *a = lam_where(is_small, series(q, 6, 20, 42), lam_div(lam_sin(t), t));
    *b = lam_where(is_small, lam_mul(0.5, series(q, 12, 30, 56)), lam_div(lam_sub(1.0, lam_cos(t)), safe));
}

/* Rodrigues' formula: the rotation by r of x, cos(t) x + a r x x + b r (r . x). */
static void rotate(lam_tensor *const r[3], lam_tensor *const x[3], lam_tensor *out[3]) {
    lam_tensor *q = dot(r, r), *a, *b, *around[3];
    sines(q, &a, &b);
    lam_tensor *cosine = lam_sub(1.0, lam_mul(q, b)), *along = lam_mul(b, dot(r, x));
    cross(r, x, around);
    for (int i = 0; i < 3; i++)
        out[i] = lam_add(lam_add(lam_mul(cosine, x[i]), lam_mul(a, around[i])), lam_mul(along, r[i]));
}

/* camera [9], point [3], where it was seen [2] -> residual [2] */
static void body_residual(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    lam_tensor *camera[PROBLEM_CAMERA], *point[PROBLEM_POINT], *at[2], *seen[3], *apart[2];
    lam_unstack(in[0], 0, camera, PROBLEM_CAMERA);
    lam_unstack(in[1], 0, point, PROBLEM_POINT);
    lam_unstack(in[2], 0, at, 2);
    rotate(camera, point, seen);
    for (int i = 0; i < 3; i++) seen[i] = lam_add(seen[i], camera[3 + i]);
    lam_tensor *depth = lam_neg(lam_reciprocal(seen[2])), *p[2] = {lam_mul(seen[0], depth), lam_mul(seen[1], depth)};
    lam_tensor *q = lam_add(lam_square(p[0]), lam_square(p[1])),
               *bend = lam_mul(q, lam_add(camera[7], lam_mul(q, camera[8])));
    lam_tensor *scale = lam_mul(camera[6], lam_add(1.0, bend));
    for (int i = 0; i < 2; i++) apart[i] = lam_sub(lam_mul(scale, p[i]), at[i]);
    out[0] = lam_stack(LAM_LIST(apart[0], apart[1]), 0);
}

/* ---- all observations ---- */

void projection_open(projection *m, lam_ctx *ctx, const problem *p) {
    *m = (projection){.ctx = ctx, .p = p};
    lam_fn *residual =
        lam_fn_new(ctx, &(lam_fn_options){.name = "residual", .body = body_residual, .inputs = 3, .outputs = 1});
    const lam_vmap_options over = {.in_axes = LAM_AXES(1, 1, 0), .chunk_size = CHUNK};
    m->values = lam_vmap(residual, &over);
    m->blocks = lam_vmap(lam_value_and_jacobian(residual, &(lam_jacobian_options){.argnums = LAM_AXES(0, 1)}), &over);
}

/* The parameters of what each observation names, one column for each. `which` points to the index in the first. */
static lam_tensor *columns(projection *m, const double *rows, int64_t count, int64_t width, const int64_t *which) {
    const lam_borrow_options stride = {.strides = LAM_DIMS(sizeof(observation) / sizeof(int64_t))};
    lam_tensor *index = lam_borrow(m->ctx, LAM_I64, LAM_DIMS(m->p->observations), (void *)which, &stride);
    lam_tensor *all = lam_array(m->ctx, LAM_F64, LAM_DIMS(count, width), rows);
    return lam_take(lam_transpose(all, LAM_AXES(1, 0)), index, 1);
}

bool projection_evaluate(projection *m, const double *camera, const double *point, bool values_only,
                         const projection_blocks *out) {
    const problem *p = m->p;
    const observation *first = p->observed;
    size_t n = (size_t)p->observations;
    const lam_borrow_options strides = {.strides = LAM_DIMS(sizeof(observation) / sizeof(double), 1)};
    lam_scope *scope = lam_scope_begin(m->ctx);
    lam_tensor *cameras = columns(m, camera, p->cameras, PROBLEM_CAMERA, &first->camera), *results[3];
    lam_tensor *points = columns(m, point, p->points, PROBLEM_POINT, &first->point);
    lam_tensor *at = lam_borrow(m->ctx, LAM_F64, LAM_DIMS(p->observations, 2), (void *)first->at, &strides);
    lam_call(values_only ? m->values : m->blocks, LAM_LIST(cameras, points, at), results, values_only ? 1 : 3);
    lam_status status = lam_read(results[0], out->residual, n * sizeof *out->residual);
    if (status == LAM_OK && !values_only) status = lam_read(results[1], out->by_camera, n * sizeof *out->by_camera);
    if (status == LAM_OK && !values_only) status = lam_read(results[2], out->by_point, n * sizeof *out->by_point);
    lam_scope_end(scope, NULL, 0);
    return status == LAM_OK;
}
