/* ba: bundle adjustment. An observation says where a camera sees a point: rotation by Rodrigues' formula, perspective,
 * radial distortion, times a weight. Its derivative is a block of 2 rows and 15 columns (11 of the camera, 3 of the
 * point, the weight); that of the error 1 - w^2 of each weight has one entry. Rows of the sparse Jacobian: two for each
 * observation, then one for each weight, so that the values below are those of its CSR form in order; the places, which
 * do not change, are made once with the data.
 *
 * A camera: rotation vector, centre (3 each), focal length, principal point (2), radial distortion (2). */
#include "tests/bench/gradbench/gradbench.h"

#include <math.h>

enum { CAMERA = 11, BLOCK = 15, INPUTS = BLOCK + 2, CHUNK = 1280 }; /* CHUNK: the most observations at once */

typedef struct ba {
    int64_t cameras, points, observations, chunk;    /* chunk: observations at once */
    const double *camera, *point, *weight, *feature; /* [cameras, 11], [points, 3], [observations], [observations, 2] */
    int64_t *seen_by, *seen;                         /* [observations]: the camera, the point */
    int64_t *row_start, *column;                     /* the places of the Jacobian's values */
    lam_fn *residuals;
} ba;

static void place(gradbench_store *store, ba *p) {
    int64_t rows = 3 * p->observations, at = 0;
    p->row_start = gradbench_take(store, (size_t)(rows + 1) * sizeof *p->row_start);
    p->column = gradbench_take(store, (size_t)(p->observations * (2 * BLOCK + 1)) * sizeof *p->column);
    for (int64_t row = 0; row < rows; row++) {
        int64_t i = row < 2 * p->observations ? row / 2 : row - 2 * p->observations;
        p->row_start[row] = at;
        for (int64_t j = 0; j < CAMERA && row < 2 * p->observations; j++) p->column[at++] = p->seen_by[i] * CAMERA + j;
        for (int64_t j = 0; j < 3 && row < 2 * p->observations; j++)
            p->column[at++] = p->cameras * CAMERA + p->seen[i] * 3 + j;
        p->column[at++] = p->cameras * CAMERA + p->points * 3 + i;
    }
    p->row_start[rows] = at;
}

/* Cameras look along their third axis at points around (0, 0, 6). */
static double *make_cameras(gradbench_store *store, int64_t count) {
    static const double scale[CAMERA] = {0.3, 0.3, 0.3, 1, 1, 1, 20, 5, 5, 0.01, 0.001};
    static const double centre[CAMERA] = {0.01, 0.02, 0.03, 0, 0, 0, 500, 320, 240, 0, 0};
    double *camera = gradbench_normal(store, count * CAMERA);
    for (int64_t i = 0; i < count * CAMERA; i++) camera[i] = centre[i % CAMERA] + scale[i % CAMERA] * 0.3 * camera[i];
    return camera;
}

static void *make(gradbench_store *store, const gradbench_size *size, int64_t *values, int64_t *derivatives) {
    ba *p = gradbench_take(store, sizeof *p);
    *p = (ba){.cameras = size->n[0], .points = size->n[1], .observations = size->n[2]};
    int64_t n = p->observations, chunks = (n + CHUNK - 1) / CHUNK;
    p->chunk = (n + chunks - 1) / chunks;
    p->camera = make_cameras(store, p->cameras);
    double *point = gradbench_normal(store, p->points * 3);
    for (int64_t i = 0; i < p->points; i++) point[3 * i + 2] += 6;
    p->point = point;
    p->weight = gradbench_uniform(store, n, 0, 1);
    p->feature = gradbench_uniform(store, 2 * n, 0, 500);
    p->seen_by = gradbench_take(store, (size_t)n * sizeof *p->seen_by);
    p->seen = gradbench_take(store, (size_t)n * sizeof *p->seen);
    for (int64_t i = 0; i < n; i++) {
        p->seen_by[i] = gradbench_below(store, p->cameras);
        p->seen[i] = i < p->points ? i : gradbench_below(store, p->points);
    }
    place(store, p);
    *values = 3 * n;
    *derivatives = n * (2 * BLOCK + 1);
    return p;
}

/* ---- in C -------------------------------------------------------------------------------------------------------- */

/* What value and derivative of one observation share. */
typedef struct sight {
    double from[3];         /* the point as seen from the camera's centre */
    double cosine, a, b;    /* R y = cosine y + a (r x y) + b r (r . y) */
    double cross[3], dot;   /* r x from, r . from */
    double turned[3];       /* R from */
    double p[2], square, l; /* on the image plane; |p|^2; distortion */
    double apart[2];        /* projection minus feature */
} sight;

static void turn(const double *r, sight *s) {
    const double *y = s->from;
    double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2], angle = sqrt(square);
    s->cosine = square > 0 ? cos(angle) : 1;
    s->a = square > 0 ? sin(angle) / angle : 1;
    s->b = square > 0 ? (1 - s->cosine) / square : 0.5;
    s->cross[0] = r[1] * y[2] - r[2] * y[1];
    s->cross[1] = r[2] * y[0] - r[0] * y[2];
    s->cross[2] = r[0] * y[1] - r[1] * y[0];
    s->dot = r[0] * y[0] + r[1] * y[1] + r[2] * y[2];
    for (int i = 0; i < 3; i++) s->turned[i] = s->cosine * y[i] + s->a * s->cross[i] + s->b * r[i] * s->dot;
}

static void look(const double *camera, const double *point, const double *feature, sight *s) {
    for (int i = 0; i < 3; i++) s->from[i] = point[i] - camera[3 + i];
    turn(camera, s);
    for (int i = 0; i < 2; i++) s->p[i] = s->turned[i] / s->turned[2];
    s->square = s->p[0] * s->p[0] + s->p[1] * s->p[1];
    s->l = 1 + s->square * (camera[9] + s->square * camera[10]);
    for (int i = 0; i < 2; i++) s->apart[i] = camera[6] * s->l * s->p[i] + camera[7 + i] - feature[i];
}

static void objective_c(const void *data, double *out) {
    const ba *p = data;
    sight s;
    for (int64_t i = 0; i < p->observations; i++) {
        look(p->camera + p->seen_by[i] * CAMERA, p->point + p->seen[i] * 3, p->feature + 2 * i, &s);
        for (int j = 0; j < 2; j++) out[2 * i + j] = p->weight[i] * s.apart[j];
    }
    for (int64_t i = 0; i < p->observations; i++) out[2 * p->observations + i] = 1 - p->weight[i] * p->weight[i];
}

/* R and the derivative of R from by r, column by column. */
static void slopes_of_turn(const double *r, const sight *s, double rotation[3][3], double by_r[3][3]) {
    double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    double da = square > 0 ? (s->cosine - s->a) / square : 0, db = square > 0 ? (s->a - 2 * s->b) / square : 0;
    for (int j = 0; j < 3; j++) {
        int next = (j + 1) % 3, last = (j + 2) % 3;
        for (int i = 0; i < 3; i++) {
            rotation[i][j] = s->b * r[i] * r[j];
            by_r[i][j] = r[j] * (da * s->cross[i] - s->a * s->from[i] + db * s->dot * r[i]) + s->b * r[i] * s->from[j];
        }
        rotation[j][j] += s->cosine;
        rotation[last][j] -= s->a * r[next]; /* a r x e_j */
        rotation[next][j] += s->a * r[last];
        by_r[j][j] += s->b * s->dot;
        by_r[last][j] += s->a * s->from[next]; /* a e_j x from */
        by_r[next][j] -= s->a * s->from[last];
    }
}

static void block(const double *camera, double w, const sight *s, double *out) {
    double rotation[3][3], by_r[3][3], f = camera[6], grows = 2 * (camera[9] + 2 * s->square * camera[10]);
    slopes_of_turn(camera, s, rotation, by_r);
    for (int row = 0; row < 2; row++, out += BLOCK) {
        double q = w * f * s->p[row] * grows, d[3] = {q * s->p[0], q * s->p[1], 0};
        d[row] += w * f * s->l;
        d[2] = -(d[0] * s->p[0] + d[1] * s->p[1]);
        for (int k = 0; k < 3; k++) d[k] /= s->turned[2];
        for (int j = 0; j < 3; j++) {
            out[j] = d[0] * by_r[0][j] + d[1] * by_r[1][j] + d[2] * by_r[2][j];
            out[CAMERA + j] = d[0] * rotation[0][j] + d[1] * rotation[1][j] + d[2] * rotation[2][j];
            out[3 + j] = -out[CAMERA + j];
        }
        out[6] = w * s->l * s->p[row];
        out[7 + row] = w;
        out[8 - row] = 0;
        out[9] = w * f * s->square * s->p[row];
        out[10] = out[9] * s->square;
        out[14] = s->apart[row];
    }
}

static void derivative_c(const void *data, double *out) {
    const ba *p = data;
    sight s;
    for (int64_t i = 0; i < p->observations; i++) {
        const double *camera = p->camera + p->seen_by[i] * CAMERA;
        look(camera, p->point + p->seen[i] * 3, p->feature + 2 * i, &s);
        block(camera, p->weight[i], &s, out + 2 * BLOCK * i);
    }
    for (int64_t i = 0; i < p->observations; i++) out[2 * BLOCK * p->observations + i] = -2 * p->weight[i];
}

/* Whether the sparse Jacobian, as a matrix times a direction, is the derivative along it by central differences. */
static bool places(const void *data, const double *values) {
    enum { LISTS = 3 };
    const double step = 1e-6;
    ba p = *(const ba *)data, *at = &p;
    const double **list[LISTS] = {&at->camera, &at->point, &at->weight};
    const int64_t count[LISTS] = {p.cameras * CAMERA, p.points * 3, p.observations}, rows = 3 * p.observations;
    gradbench_store store = {0};
    gradbench_seed(&store, 1);
    double *along = gradbench_normal(&store, count[0] + count[1] + count[2]), largest = 0, apart = 0;
    double *out[2] = {gradbench_doubles(&store, rows), gradbench_doubles(&store, rows)};
    for (int side = 0; side < 2; side++) {
        const double *direction = along;
        p = *(const ba *)data;
        for (int k = 0; k < LISTS; direction += count[k++]) {
            double *moved = gradbench_doubles(&store, count[k]);
            for (int64_t i = 0; i < count[k]; i++) moved[i] = (*list[k])[i] + (side ? step : -step) * direction[i];
            *list[k] = moved;
        }
        objective_c(&p, out[side]);
    }
    for (int64_t row = 0; row < rows; row++) {
        double sum = 0, slope = (out[1][row] - out[0][row]) / (2 * step);
        for (int64_t e = p.row_start[row]; e < p.row_start[row + 1]; e++) sum += values[e] * along[p.column[e]];
        largest = fmax(largest, fabs(slope));
        if (!(fabs(sum - slope) <= apart)) apart = fabs(sum - slope);
    }
    gradbench_free(&store);
    return apart <= 1e-6 * largest;
}

/* ---- in Lamina --------------------------------------------------------------------------------------------------- */

static lam_tensor *dot(lam_tensor *const x[3], lam_tensor *const y[3]) {
    return lam_fma(x[2], y[2], lam_fma(x[1], y[1], lam_mul(x[0], y[0])));
}

/* The rotation by r of y. */
static void rotate(lam_tensor *const r[3], lam_tensor *const y[3], lam_tensor *out[3]) {
    lam_tensor *square = dot(r, r), *angle = lam_sqrt(square), *sine, *cosine;
    lam_sincos(angle, &sine, &cosine);
    lam_tensor *a = lam_div(sine, angle), *b = lam_div(lam_sub(1.0, cosine), square);
    lam_tensor *along = lam_mul(b, dot(r, y));
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        lam_tensor *around = lam_sub(lam_mul(r[j], y[k]), lam_mul(r[k], y[j]));
        out[i] = lam_fma(cosine, y[i], lam_fma(a, around, lam_mul(along, r[i])));
    }
}

/* One observation: its 15 parameters (camera, point, weight) and 2 features, each a number -> the two components of the
 * residual */
static void body_residual(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *const *v = in, *const *feature = in + BLOCK, *y[3], *turned[3];
    (void)ctx;
    (void)env;
    for (int i = 0; i < 3; i++) y[i] = lam_sub(v[CAMERA + i], v[3 + i]);
    rotate(v, y, turned);
    lam_tensor *depth = lam_reciprocal(turned[2]), *p[2] = {lam_mul(turned[0], depth), lam_mul(turned[1], depth)};
    lam_tensor *square = lam_fma(p[0], p[0], lam_square(p[1]));
    lam_tensor *scale = lam_mul(v[6], lam_add(1.0, lam_mul(square, lam_fma(square, v[10], v[9]))));
    for (int i = 0; i < 2; i++) out[i] = lam_mul(v[14], lam_fma(scale, p[i], lam_sub(v[7 + i], feature[i])));
}

/* What observations [first, end) see, number by number. */
static void gather(lam_tensor *const in[], int64_t first, int64_t end, lam_tensor *seen[INPUTS]) {
    lam_tensor *part[6];
    for (int i = 2; i < 6; i++) part[i] = lam_slice_axis(in[i], 0, first, end);
    for (int i = 0; i < 2; i++) part[i] = lam_take(lam_transpose(in[i], LAM_AXES(1, 0)), part[4 + i], 1);
    lam_unstack(part[0], 0, seen, CAMERA);
    lam_unstack(part[1], 0, seen + CAMERA, 3);
    seen[14] = part[2];
    lam_unstack(part[3], 1, seen + BLOCK, 2);
}

/* camera, point, weight, feature, which camera, which point -> residuals [observations, 2], errors of the weights */
static void body_errors(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const ba *p = env;
    out[0] = lam_empty(ctx, LAM_F64, LAM_DIMS(p->observations, 2));
    for (int64_t first = 0, end; first < p->observations; first = end) {
        end = first + p->chunk < p->observations ? first + p->chunk : p->observations;
        lam_scope *scope = lam_scope_begin(ctx);
        lam_tensor *seen[INPUTS], *apart[2];
        gather(in, first, end, seen);
        lam_call(p->residuals, (lam_list){INPUTS, seen}, apart, 2);
        lam_set_stack_(out[0], LAM_LIST(apart[0], apart[1]), 1, LAM_DIMS(first, 0), LAM_DIMS(end, 2), LAM_DIMS0);
        lam_scope_end(scope, NULL, 0);
    }
    out[1] = lam_sub(1.0, lam_square(in[2]));
}

/* The same -> blocks [observations, 30]: a component of one observation's residual depends on no other observation, so
 * that ones as cotangents of a component give its row of every block. */
static void body_blocks(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const ba *p = env;
    out[0] = lam_empty(ctx, LAM_F64, LAM_DIMS(p->observations, 2 * BLOCK));
    for (int64_t first = 0, end; first < p->observations; first = end) {
        end = first + p->chunk < p->observations ? first + p->chunk : p->observations;
        lam_scope *scope = lam_scope_begin(ctx);
        lam_tensor *seen[INPUTS], *apart[2], *column[2 * BLOCK];
        lam_fn *back;
        gather(in, first, end, seen);
        lam_vjp(p->residuals, (lam_list){INPUTS, seen}, apart, 2, &back,
                &(lam_grad_options){.argnums = LAM_AXES(LAM_RANGE(0, BLOCK))});
        lam_tensor *one = lam_ones_like(apart[0]);
        lam_call(back, LAM_LIST(one, NULL), column, BLOCK);
        lam_call(back, LAM_LIST(NULL, one), column + BLOCK, BLOCK);
        lam_set_stack_(out[0], (lam_list){2 * BLOCK, column}, 1, LAM_DIMS(first, 0), LAM_DIMS(end, 2 * BLOCK),
                       LAM_DIMS0);
        lam_scope_end(scope, NULL, 0);
    }
    out[1] = lam_mul(-2.0, in[2]);
}

static void lamina(void *data, gradbench_lamina *l) {
    ba *p = data;
    p->chunk = gradbench_chunk(l, p->chunk);
    if (!p->chunk) p->chunk = p->observations;
    gradbench_input(l, LAM_DIMS(p->cameras, CAMERA), p->camera);
    gradbench_input(l, LAM_DIMS(p->points, 3), p->point);
    gradbench_input(l, LAM_DIMS(p->observations), p->weight);
    gradbench_input(l, LAM_DIMS(p->observations, 2), p->feature);
    l->in[l->inputs++] = lam_borrow(l->ctx, LAM_I64, LAM_DIMS(p->observations), p->seen_by, NULL);
    l->in[l->inputs++] = lam_borrow(l->ctx, LAM_I64, LAM_DIMS(p->observations), p->seen, NULL);
    p->residuals = lam_vmap(gradbench_fn(l, "residual", body_residual, INPUTS, 2, p), NULL);
    l->objective = gradbench_fn(l, "errors", body_errors, 6, 2, p);
    l->derivative = gradbench_fn(l, "blocks", body_blocks, 6, 2, p);
}

static const gradbench_size sizes[] = {
    {"49/1000/3000", CHECKED, {49, 1000, 3000}},           {"49/7776/31843", USUAL, {49, 7776, 31843}},
    {"21/11315/36455", USUAL, {21, 11315, 36455}},         {"138/19878/85217", USUAL, {138, 19878, 85217}},
    {"356/226730/1255268", USUAL, {356, 226730, 1255268}}, {NULL, USUAL, {0}},
};

const gradbench_problem gradbench_ba = {
    .name = "ba",
    .derivative = "sparse Jacobian",
    .sizes = sizes,
    .make = make,
    .objective_c = objective_c,
    .derivative_c = derivative_c,
    .lamina = lamina,
    .places = places,
};
