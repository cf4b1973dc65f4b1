/* Assembly and elimination in plain C, over blocks of 9 and 3; the dense system goes to Lamina.
 *
 * NOTE [elimination] Point i with block V (damped) meets camera c in W_c = Jc'Jp, summed over its observations. It
 * leaves -W_c V^-1 W_d' at the cameras c and d. With V = L L' and Z_c = W_c L^-T that is -Z_c Z_d', symmetric however
 * it is rounded. Back: step_i = -L^-T (L^-1 g_i + sum of Z_c' step_c). */
#include "normal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { C = PROBLEM_CAMERA, P = PROBLEM_POINT };

/* ---- storage ---- */

/* Sorts observations by their points, by counting. */
static void sort(normal *n) {
    const problem *p = n->p;
    memset(n->first, 0, ((size_t)p->points + 1) * sizeof *n->first);
    for (int64_t k = 0; k < p->observations; k++) n->first[p->observed[k].point + 1]++;
    for (int64_t i = 0; i < p->points; i++) n->first[i + 1] += n->first[i];
    for (int64_t k = 0; k < p->observations; k++) n->sorted[n->first[p->observed[k].point]++] = k;
    for (int64_t i = p->points; i > 0; i--) n->first[i] = n->first[i - 1];
    n->first[0] = 0;
}

static int64_t most_observations(const normal *n) {
    int64_t most = 1;
    for (int64_t i = 0; i < n->p->points; i++)
        if (n->first[i + 1] - n->first[i] > most) most = n->first[i + 1] - n->first[i];
    return most;
}

bool normal_open(normal *n, lam_ctx *ctx, const problem *p) {
    *n = (normal){.ctx = ctx, .p = p};
    size_t cameras = (size_t)p->cameras, points = (size_t)p->points, observations = (size_t)p->observations;
    size_t columns = cameras * C, parameters = columns + points * P;
    n->blocks.residual = malloc(observations * sizeof *n->blocks.residual);
    n->blocks.by_camera = malloc(observations * sizeof *n->blocks.by_camera);
    n->blocks.by_point = malloc(observations * sizeof *n->blocks.by_point);
    n->first = malloc((points + 1) * sizeof *n->first);
    n->sorted = malloc(observations * sizeof *n->sorted);
    n->gradient = malloc(parameters * sizeof *n->gradient);
    n->scale = malloc(parameters * sizeof *n->scale);
    n->step = malloc(parameters * sizeof *n->step);
    n->camera_block = malloc(cameras * sizeof *n->camera_block);
    n->point_block = malloc(points * sizeof *n->point_block);
    n->system = malloc(columns * columns * sizeof *n->system);
    n->right = malloc(columns * sizeof *n->right);
    if (!n->first || !n->sorted) return false;
    sort(n);
    n->met = malloc((size_t)most_observations(n) * sizeof *n->met);
    return n->blocks.residual && n->blocks.by_camera && n->blocks.by_point && n->gradient && n->scale && n->step &&
           n->camera_block && n->point_block && n->system && n->right && n->met;
}

void normal_close(normal *n) {
    void *const blocks[] = {
        n->blocks.residual,
        n->blocks.by_camera,
        n->blocks.by_point,
        n->first,
        n->sorted,
        n->gradient,
        n->scale,
        n->step,
        n->camera_block,
        n->point_block,
        n->system,
        n->right,
        n->met,
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

/* ---- J'J and J'r ---- */

/* Adds j'j to block [width][width], and j'r to gradient, for the two rows j of one observation. */
static void add_rows(int width, const double *j, const double *r, double *block, double *gradient) {
    for (int a = 0; a < width; a++) {
        gradient[a] += j[a] * r[0] + j[width + a] * r[1];
        for (int b = 0; b < width; b++) block[a * width + b] += j[a] * j[b] + j[width + a] * j[width + b];
    }
}

/* The diagonal of blocks; 1 for a parameter that no residual depends on. */
static void take_scale(int64_t count, int width, const double *blocks, double *scale) {
    for (int64_t i = 0; i < count * width; i++) {
        double diagonal = blocks[i * width + i % width];
        scale[i] = diagonal > 0 ? diagonal : 1;
    }
}

void normal_form(normal *n) {
    const problem *p = n->p;
    double *point_gradient = n->gradient + p->cameras * C;
    memset(n->gradient, 0, (size_t)(p->cameras * C + p->points * P) * sizeof *n->gradient);
    memset(n->camera_block, 0, (size_t)p->cameras * sizeof *n->camera_block);
    memset(n->point_block, 0, (size_t)p->points * sizeof *n->point_block);
    for (int64_t k = 0; k < p->observations; k++) {
        const double *r = n->blocks.residual[k];
        int64_t c = p->observed[k].camera, i = p->observed[k].point;
        add_rows(C, n->blocks.by_camera[k][0], r, n->camera_block[c], n->gradient + c * C);
        add_rows(P, n->blocks.by_point[k][0], r, n->point_block[i], point_gradient + i * P);
    }
    take_scale(p->cameras, C, n->camera_block[0], n->scale);
    take_scale(p->points, P, n->point_block[0], n->scale + p->cameras * C);
}

/* ---- elimination: NOTE [elimination] ---- */

/* The Cholesky factor of the damped block of a point, [3][3]. Damping keeps it positive definite until its numbers run
 * out of digits; a pivot lost in their rounding is set to what damping alone would leave. */
static void factor_point(const normal *n, int64_t i, double damping, double l[P][P]) {
    const double *v = n->point_block[i], *scale = n->scale + n->p->cameras * C + i * P;
    for (int a = 0; a < P; a++)
        for (int b = 0; b <= a; b++) {
            double sum = v[a * P + b] + (a == b ? damping * scale[a] : 0);
            for (int k = 0; k < b; k++) sum -= l[a][k] * l[b][k];
            l[a][b] = a == b ? sqrt(fmax(sum, damping * scale[a])) : sum / l[b][b];
        }
}

static void solve_lower(double l[P][P], double *x) {
    for (int a = 0; a < P; a++) {
        for (int k = 0; k < a; k++) x[a] -= l[a][k] * x[k];
        x[a] /= l[a][a];
    }
}

static void solve_upper(double l[P][P], double *x) {
    for (int a = P - 1; a >= 0; a--) {
        for (int k = a + 1; k < P; k++) x[a] -= l[k][a] * x[k];
        x[a] /= l[a][a];
    }
}

/* Z' = L^-1 Jp'Jc of observation k, [3][9]. */
static void meet(const normal *n, int64_t k, double l[P][P], double *z) {
    const double *jc = n->blocks.by_camera[k][0], *jp = n->blocks.by_point[k][0];
    for (int a = 0; a < P; a++)
        for (int b = 0; b < C; b++) {
            double sum = jp[a] * jc[b] + jp[P + a] * jc[C + b];
            for (int m = 0; m < a; m++) sum -= l[a][m] * z[m * C + b];
            z[a * C + b] = sum / l[a][a];
        }
}

/* block -= z'w, rows of which are `columns` apart. */
static void subtract_product(const double *z, const double *w, double *block, size_t columns) {
    for (int a = 0; a < C; a++)
        for (int b = 0; b < C; b++)
            block[(size_t)a * columns + (size_t)b] -= z[a] * w[b] + z[C + a] * w[C + b] + z[2 * C + a] * w[2 * C + b];
}

/* Takes one point out of the system: of each pair of cameras that see it, the block on or below the diagonal. */
static void eliminate(normal *n, int64_t i, double damping) {
    const problem *p = n->p;
    const int64_t *k = n->sorted + n->first[i], views = n->first[i + 1] - n->first[i];
    size_t columns = (size_t)p->cameras * C;
    double l[P][P] = {{0}}, g[P];
    factor_point(n, i, damping, l);
    memcpy(g, n->gradient + columns + i * P, sizeof g);
    solve_lower(l, g);
    for (int64_t a = 0; a < views; a++) {
        int64_t c = p->observed[k[a]].camera;
        double *z = n->met[a], *right = n->right + c * C;
        meet(n, k[a], l, z);
        for (int b = 0; b < C; b++) right[b] += z[b] * g[0] + z[C + b] * g[1] + z[2 * C + b] * g[2];
    }
    for (int64_t a = 0; a < views; a++)
        for (int64_t b = 0; b < views; b++) {
            size_t c = (size_t)p->observed[k[a]].camera, d = (size_t)p->observed[k[b]].camera;
            if (c >= d) subtract_product(n->met[a], n->met[b], n->system + c * C * columns + d * C, columns);
        }
}

/* The reduced system for the step of the cameras, both triangles. */
static void reduce(normal *n, double damping) {
    const problem *p = n->p;
    size_t columns = (size_t)p->cameras * C;
    memset(n->system, 0, columns * columns * sizeof *n->system);
    for (size_t j = 0; j < columns; j++) {
        const double *row = n->camera_block[j / C] + j % C * C;
        memcpy(n->system + j * columns + j / C * C, row, C * sizeof *row);
        n->system[j * columns + j] += damping * n->scale[j];
        n->right[j] = -n->gradient[j];
    }
    for (int64_t i = 0; i < p->points; i++) eliminate(n, i, damping);
    for (size_t a = 0; a < columns; a++)
        for (size_t b = 0; b < a; b++) n->system[b * columns + a] = n->system[a * columns + b];
}

/* ---- the step ---- */

static bool solve_cameras(normal *n) {
    int64_t columns = n->p->cameras * C;
    lam_scope *scope = lam_scope_begin(n->ctx);
    lam_tensor *system = lam_borrow(n->ctx, LAM_F64, LAM_DIMS(columns, columns), n->system, NULL);
    lam_tensor *right = lam_borrow(n->ctx, LAM_F64, LAM_DIMS(columns), n->right, NULL);
    lam_tensor *step = lam_cho_solve(lam_cholesky(system), right);
    lam_status status = lam_read(step, n->step, (size_t)columns * sizeof *n->step);
    lam_scope_end(scope, NULL, 0);
    if (status == LAM_ERR_NUMERIC) lam_clear_error(n->ctx);
    return status == LAM_OK;
}

/* Every point, once the cameras are known. */
static void substitute(normal *n, double damping) {
    const problem *p = n->p;
    double *step = n->step + p->cameras * C;
    const double *gradient = n->gradient + p->cameras * C;
    for (int64_t i = 0; i < p->points; i++, step += P, gradient += P) {
        double l[P][P] = {{0}};
        factor_point(n, i, damping, l);
        for (int a = 0; a < P; a++) step[a] = -gradient[a];
        for (int64_t at = n->first[i]; at < n->first[i + 1]; at++) {
            int64_t k = n->sorted[at];
            const double *by_camera = n->blocks.by_camera[k][0], *by_point = n->blocks.by_point[k][0];
            const double *camera = n->step + p->observed[k].camera * C;
            for (int row = 0; row < 2; row++) {
                double moved = 0; /* how far the camera's step alone moves this residual */
                for (int j = 0; j < C; j++) moved += by_camera[row * C + j] * camera[j];
                for (int a = 0; a < P; a++) step[a] -= by_point[row * P + a] * moved;
            }
        }
        solve_lower(l, step);
        solve_upper(l, step);
    }
}

bool normal_solve(normal *n, double damping) {
    reduce(n, damping);
    if (!solve_cameras(n)) return false;
    substitute(n, damping);
    return true;
}

/* -g's - s'J'J s / 2, with J'J s = -g - damping D s. */
double normal_promise(const normal *n, double damping) {
    int64_t parameters = n->p->cameras * C + n->p->points * P;
    double promise = 0;
    for (int64_t j = 0; j < parameters; j++)
        promise += n->step[j] * (damping * n->scale[j] * n->step[j] - n->gradient[j]);
    return 0.5 * promise;
}
