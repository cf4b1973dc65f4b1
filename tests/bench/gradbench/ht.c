/* ht: hand tracking. 26 parameters (rotation vector and translation of the whole hand, 4 angles of each finger) move 22
 * bones, those move the vertices of a mesh by linear blend skinning, and the result is how far points of the mesh are
 * from observed ones. Simple: the points are vertices. Complicated: they lie in triangles, where two more parameters of
 * each say. The Jacobian has, for each component, the columns of these two, if there are any, and then the 26.
 *
 * Bones: 0 the wrist, 1 the palm, 2 + 4 f + j joint j of finger f; the first joint turns about two axes, the next two
 * about one, the tip is stiff. */
#include "tests/bench/gradbench/gradbench.h"

#include <math.h>
#include <string.h>

enum { BONES = 22, FINGERS = 5, JOINTS = 4, PARAMETERS = 26, ANGLES = 20, NEAR = 4, CHUNK = 256 };

typedef double matrix[3][4]; /* an affine map; the last row 0 0 0 1 is left out */

typedef struct ht {
    int64_t n; /* vertices, and points */
    bool complicated;
    const double *parameters, *us;       /* [26], [n, 2] */
    matrix *base, *inverse;              /* [22]: of a bone to its parent; from the resting hand to a bone */
    double *vertices, *weights, *points; /* [n, 3], [n, 22], [n, 3] */
    int64_t *corners;                    /* [n, 3]: the triangle of a point */
    int64_t *angle_of;                   /* [22, 3]: which of 20 angles turns a bone about an axis; 20: none */
    double *moved, *columns;             /* of the C form: [n, 3]; [n, 3, 26] */
    double *bases, *inverses;            /* of the Lamina form: with the last row, [22, 4, 4] */
    lam_fn *fingers[2], *whole[2];       /* values; values and derivatives */
} ht;

static int parent(int bone) {
    return bone < 2 ? bone - 1 : (bone - 2) % JOINTS ? bone - 1 : 1;
}

static void multiply(matrix x, matrix y, matrix out) {
    matrix z;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            z[i][j] = x[i][0] * y[0][j] + x[i][1] * y[1][j] + x[i][2] * y[2][j] + (j == 3 ? x[i][3] : 0);
    memcpy(out, z, sizeof z);
}

/* Rotation about the axes x, y, z in this order. with: derivative by that angle; -1: none. */
static void euler(const double angle[3], int with, matrix out) {
    double c[3], s[3];
    for (int i = 0; i < 3; i++) {
        c[i] = i == with ? -sin(angle[i]) : cos(angle[i]);
        s[i] = i == with ? cos(angle[i]) : sin(angle[i]);
    }
    double one[3] = {with != 0, with != 1, with != 2}; /* the entry on the axis */
    double x[3][3] = {{one[0], 0, 0}, {0, c[0], -s[0]}, {0, s[0], c[0]}};
    double y[3][3] = {{c[1], 0, s[1]}, {0, one[1], 0}, {-s[1], 0, c[1]}};
    double z[3][3] = {{c[2], -s[2], 0}, {s[2], c[2], 0}, {0, 0, one[2]}}, yx[3][3];
    memset(out, 0, sizeof(matrix));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) yx[i][j] = y[i][0] * x[0][j] + y[i][1] * x[1][j] + y[i][2] * x[2][j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[i][j] = z[i][0] * yx[0][j] + z[i][1] * yx[1][j] + z[i][2] * yx[2][j];
}

/* ---- data -------------------------------------------------------------------------------------------------------- */

static void make_bones(gradbench_store *store, ht *p) {
    matrix absolute[BONES];
    const double *angle = gradbench_uniform(store, BONES * 3, -0.5, 0.5);
    const double *step = gradbench_uniform(store, BONES * 3, 0.1, 0.6);
    for (int b = 0; b < BONES; b++) {
        euler(angle + 3 * b, -1, p->base[b]);
        for (int i = 0; i < 3; i++) p->base[b][i][3] = step[3 * b + i];
        if (parent(b) < 0) memcpy(absolute[b], p->base[b], sizeof(matrix));
        else multiply(absolute[parent(b)], p->base[b], absolute[b]);
        for (int i = 0; i < 3; i++) { /* the inverse of a rotation and a step */
            p->inverse[b][i][3] = 0;
            for (int j = 0; j < 3; j++) {
                p->inverse[b][i][j] = absolute[b][j][i];
                p->inverse[b][i][3] -= absolute[b][j][i] * absolute[b][j][3];
            }
        }
    }
    for (int b = 0; b < BONES; b++)
        for (int e = 0; e < 16; e++) {
            p->bases[16 * b + e] = e < 12 ? p->base[b][e / 4][e % 4] : e == 15;
            p->inverses[16 * b + e] = e < 12 ? p->inverse[b][e / 4][e % 4] : e == 15;
        }
    for (int e = 0; e < BONES * 3; e++) p->angle_of[e] = ANGLES;
    for (int f = 0, angles = 0; f < FINGERS; f++)
        for (int j = 0; j < 3; j++)
            for (int axis = 0; axis < (j ? 1 : 2); axis++) p->angle_of[3 * (2 + JOINTS * f + j) + axis] = angles++;
}

/* Each vertex hangs on four bones, with weights that add up to 1. */
static void make_mesh(gradbench_store *store, ht *p) {
    p->vertices = gradbench_normal(store, 3 * p->n);
    p->points = gradbench_normal(store, 3 * p->n);
    for (int64_t v = 0; v < p->n; v++) {
        int first = (int)gradbench_below(store, BONES);
        for (int k = 0; k < NEAR; k++) p->weights[v * BONES + (first + 5 * k) % BONES] = 0.1 * (k + 1);
        for (int k = 0; k < 3; k++) p->corners[3 * v + k] = (v + gradbench_below(store, 5) * k) % p->n;
    }
}

static void *make(gradbench_store *store, const gradbench_size *size, int64_t *values, int64_t *derivatives) {
    ht *p = gradbench_take(store, sizeof *p);
    int64_t n = size->n[0];
    *p = (ht){.n = n, .complicated = size->n[1] != 0};
    p->parameters = gradbench_uniform(store, PARAMETERS, -0.6, 0.6);
    p->us = gradbench_uniform(store, 2 * n, 0, 0.5);
    p->base = gradbench_take(store, BONES * sizeof(matrix));
    p->inverse = gradbench_take(store, BONES * sizeof(matrix));
    p->bases = gradbench_doubles(store, BONES * 16);
    p->inverses = gradbench_doubles(store, BONES * 16);
    p->angle_of = gradbench_take(store, BONES * 3 * sizeof(int64_t));
    p->weights = gradbench_doubles(store, n * BONES);
    p->corners = gradbench_take(store, (size_t)n * 3 * sizeof(int64_t));
    make_bones(store, p);
    make_mesh(store, p);
    size_t data = store->bytes;
    p->moved = gradbench_doubles(store, 3 * n);
    p->columns = gradbench_doubles(store, 3 * n * PARAMETERS);
    store->bytes = data;
    *values = 3 * n;
    *derivatives = 3 * n * (PARAMETERS + (p->complicated ? 2 : 0));
    return p;
}

/* ---- in C -------------------------------------------------------------------------------------------------------- */

/* Rotation by a vector, and its derivatives by the components: see ba.c. */
static void whole_hand(const double *r, matrix out, matrix by_r[3]) {
    double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2], angle = sqrt(square), c = cos(angle);
    double a = square > 0 ? sin(angle) / angle : 1, b = square > 0 ? (1 - c) / square : 0.5;
    double da = square > 0 ? (c - a) / square : 0, db = square > 0 ? (a - 2 * b) / square : 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int k = 3 - i - j;
            double sign = i == j ? 0 : (j - i + 3) % 3 == 1 ? -1 : 1; /* of r[k] in the matrix of the cross product */
            double turn = i == j ? 0 : sign * r[k];
            out[i][j] = (i == j ? c : 0) + a * turn + b * r[i] * r[j];
            for (int m = 0; m < 3; m++)
                by_r[m][i][j] = r[m] * ((i == j ? -a : 0) + da * turn + db * r[i] * r[j]) +
                                (i != j && m == k ? a * sign : 0) + b * ((m == i) * r[j] + (m == j) * r[i]);
        }
}

/* What moves each vertex: maps from the resting hand, turned by the whole hand's rotation, and their derivatives by the
 * four angles of the bone's finger. */
typedef struct pose {
    matrix whole, by_r[3], map[BONES], by_angle[BONES][JOINTS];
    int angles[BONES]; /* how many of the finger's angles move it */
} pose;

static void set_pose(const ht *p, pose *out, bool slopes) {
    matrix relative[BONES], absolute[BONES], turned;
    memset(out, 0, sizeof *out);
    whole_hand(p->parameters, out->whole, out->by_r);
    for (int b = 0; b < BONES; b++) {
        double angle[3];
        for (int i = 0; i < 3; i++) {
            int64_t from = p->angle_of[3 * b + i];
            angle[i] = from < ANGLES ? p->parameters[6 + from] : 0;
        }
        euler(angle, -1, turned);
        multiply(p->base[b], turned, relative[b]);
        multiply(parent(b) < 0 ? out->whole : absolute[parent(b)], relative[b], absolute[b]);
        multiply(absolute[b], p->inverse[b], out->map[b]);
    }
    for (int f = 0; slopes && f < FINGERS; f++)
        for (int k = 0; k < JOINTS; k++) {
            int first = k < 2 ? 0 : k - 1, axis = k == 1;
            matrix along = {{0}};
            for (int j = first; j < JOINTS; j++) {
                int b = 2 + JOINTS * f + j;
                if (j == first) {
                    double angle[3] = {0, 0, 0};
                    for (int i = 0; i < 3; i++)
                        if (p->angle_of[3 * b + i] < ANGLES) angle[i] = p->parameters[6 + p->angle_of[3 * b + i]];
                    euler(angle, axis, turned);
                    multiply(p->base[b], turned, along);
                    for (int i = 0; i < 3; i++) along[i][3] = 0;
                    matrix linear;
                    memcpy(linear, absolute[parent(b)], sizeof linear);
                    for (int i = 0; i < 3; i++) linear[i][3] = 0;
                    multiply(linear, along, along);
                } else {
                    multiply(along, relative[b], along);
                }
                multiply(along, p->inverse[b], out->by_angle[b][k]);
                out->angles[b] = k + 1;
            }
        }
}

static void apply(matrix m, const double *x, double w, double *out, int step) {
    for (int i = 0; i < 3; i++) out[i * step] += w * (m[i][0] * x[0] + m[i][1] * x[1] + m[i][2] * x[2] + m[i][3]);
}

static void move(const ht *p, pose *at) {
    memset(p->moved, 0, (size_t)(3 * p->n) * sizeof *p->moved);
    for (int64_t v = 0; v < p->n; v++) {
        for (int b = 0; b < BONES; b++) {
            double w = p->weights[v * BONES + b];
            if (w != 0) apply(at->map[b], p->vertices + 3 * v, w, p->moved + 3 * v, 1);
        }
        for (int i = 0; i < 3; i++) p->moved[3 * v + i] += p->parameters[3 + i];
    }
}

/* Columns of one vertex, [3, 26]. Those of the rotation need the vertex before it: turned back. */
static void slopes_of_vertex(const ht *p, pose *at, int64_t v, double *out) {
    double resting[3] = {0, 0, 0}, moved[3];
    memset(out, 0, 3 * PARAMETERS * sizeof *out);
    for (int i = 0; i < 3; i++) moved[i] = p->moved[3 * v + i] - p->parameters[3 + i];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) resting[j] += at->whole[i][j] * moved[i];
    for (int m = 0; m < 3; m++) {
        apply(at->by_r[m], resting, 1, out + m, PARAMETERS);
        out[m * PARAMETERS + 3 + m] = 1;
    }
    for (int b = 2; b < BONES; b++) {
        double w = p->weights[v * BONES + b];
        for (int k = 0; w != 0 && k < at->angles[b]; k++)
            apply(at->by_angle[b][k], p->vertices + 3 * v, w, out + 6 + JOINTS * ((b - 2) / JOINTS) + k, PARAMETERS);
    }
}

static void shares(const ht *p, int64_t i, double share[3]) {
    share[0] = p->us[2 * i];
    share[1] = p->us[2 * i + 1];
    share[2] = 1 - share[0] - share[1];
}

static void objective_c(const void *data, double *out) {
    const ht *p = data;
    pose at;
    set_pose(p, &at, false);
    move(p, &at);
    for (int64_t i = 0; i < p->n; i++) {
        double share[3];
        shares(p, i, share);
        for (int c = 0; c < 3; c++) {
            double place = p->complicated ? 0 : p->moved[3 * i + c];
            for (int k = 0; p->complicated && k < 3; k++) place += share[k] * p->moved[3 * p->corners[3 * i + k] + c];
            out[3 * i + c] = p->points[3 * i + c] - place;
        }
    }
}

static void derivative_c(const void *data, double *out) {
    const ht *p = data;
    int64_t size = 3 * PARAMETERS;
    pose at;
    set_pose(p, &at, true);
    move(p, &at);
    for (int64_t v = 0; v < p->n; v++) slopes_of_vertex(p, &at, v, p->columns + v * size);
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t *corner = p->corners + 3 * i;
        double share[3];
        shares(p, i, share);
        for (int c = 0; c < 3; c++) {
            for (int k = 0; p->complicated && k < 2; k++)
                *out++ = p->moved[3 * corner[2] + c] - p->moved[3 * corner[k] + c];
            for (int k = 0; k < PARAMETERS; k++) {
                int64_t e = c * PARAMETERS + k;
                *out++ = !p->complicated ? -p->columns[i * size + e]
                                         : -(share[0] * p->columns[corner[0] * size + e] +
                                             share[1] * p->columns[corner[1] * size + e] +
                                             share[2] * p->columns[corner[2] * size + e]);
            }
        }
    }
}

/* ---- in Lamina --------------------------------------------------------------------------------------------------- */

/* The matrix that r is multiplied by to make one that multiplies vectors as the cross product with r does. */
static double CROSS[3 * 9] = {0, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, 1, 0, 0, 0, -1, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0, 0};

/* Rotation by a vector r [3] -> [3, 3]. */
static void body_rotation(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *r = in[0], *cross = lam_borrow(ctx, LAM_F64, LAM_DIMS(3, 9), CROSS, NULL);
    (void)env;
    lam_tensor *square = lam_sum(lam_square(r), NULL), *angle = lam_sqrt(square), *c = lam_cos(angle);
    lam_tensor *a = lam_div(lam_sin(angle), angle), *b = lam_div(lam_sub(1.0, c), square);
    lam_tensor *turn = lam_reshape(lam_matmul(lam_mul(a, r), cross), LAM_DIMS(3, 3));
    lam_tensor *along = lam_outer(lam_mul(b, r), r);
    out[0] = lam_add(lam_mul(c, lam_eye(ctx, LAM_F64, 3, 3)), lam_add(turn, along));
}

/* Rotations about the axes x, y, z by one angle, in four dimensions, are what stays of them, and what is multiplied by
 * the cosine and the sine. */
static double STAYS[3 * 16] = {[0] = 1, [15] = 1, [21] = 1, [31] = 1, [42] = 1, [47] = 1};
static double TURNS[3 * 2 * 16] = {[5] = 1,  [10] = 1,  [22] = -1, [25] = 1, [32] = 1,  [42] = 1,
                                   [50] = 1, [56] = -1, [64] = 1,  [69] = 1, [81] = -1, [84] = 1};

/* Angles [4, 3] about x, y, z -> rotations [4, 4, 4]. */
static lam_tensor *rotations(lam_ctx *ctx, lam_tensor *angles) {
    lam_axes zero = LAM_AXES(0), one = LAM_AXES(1);
    lam_dot_options each = {.contract_x = LAM_AXES(2), .contract_y = one, .batch_x = one, .batch_y = zero};
    lam_tensor *turns = lam_borrow(ctx, LAM_F64, LAM_DIMS(3, 2, 16), TURNS, NULL), *about[3];
    lam_tensor *stays = lam_borrow(ctx, LAM_F64, LAM_DIMS(3, 1, 16), STAYS, NULL);
    lam_tensor *parts = lam_stack(LAM_LIST(lam_cos(angles), lam_sin(angles)), -1);
    lam_tensor *all = lam_add(lam_dot_general(parts, turns, &each), stays);
    lam_unstack(lam_reshape(all, LAM_DIMS(3, JOINTS, 4, 4)), 0, about, 3);
    return lam_matmul(about[2], lam_matmul(about[1], about[0]));
}

/* Maps [some, 4, 4] from the resting hand -> [some, 4, 3]: turned over, to stand behind a vertex, without the row that
 * is always the same. */
static lam_tensor *behind(lam_tensor *maps) {
    return lam_transpose(lam_slice_axis(maps, 1, 0, 3), LAM_AXES(0, 2, 1));
}

/* A finger: 4 angles, its bones to their parents [4, 4, 4], the resting hand to its bones [4, 4, 4], palm [4, 4] ->
 * what its bones do to a vertex [4, 4, 3] */
static void body_finger(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    static double which[3 * JOINTS * 4] = {[0] = 1, [5] = 1, [14] = 1, [27] = 1}; /* of the angles turns it */
    lam_tensor *joint[JOINTS], *chain[JOINTS], *at = in[3];
    (void)env;
    lam_tensor *angles = lam_matmul(lam_borrow(ctx, LAM_F64, LAM_DIMS(3 * JOINTS, 4), which, NULL), in[0]);
    lam_unstack(lam_matmul(in[1], rotations(ctx, lam_reshape(angles, LAM_DIMS(JOINTS, 3)))), 0, joint, JOINTS);
    for (int j = 0; j < JOINTS; j++) at = chain[j] = lam_matmul(at, joint[j]);
    out[0] = behind(lam_matmul(lam_stack((lam_list){JOINTS, chain}, 0), in[2]));
}

/* What the parameters do to vertices, and minus the derivatives by the rotation of the whole hand and by the angles. */
typedef struct hand {
    lam_tensor *maps, *rotation, *translation; /* [88, 3]: the bones'; [3, 3] from behind; [3] */
    lam_tensor *by_r, *by_angle;               /* [3, 9], [5, 16, 12] */
} hand;

static hand pose_of(const ht *p, lam_ctx *ctx, lam_tensor *parameters, bool slopes) {
    enum { FIRST = BONES - FINGERS * JOINTS };
    hand h = {NULL, NULL, NULL, NULL, NULL};
    lam_tensor *base = lam_borrow(ctx, LAM_F64, LAM_DIMS(BONES, 4, 4), p->bases, NULL), *of_finger[2];
    lam_tensor *inverse = lam_borrow(ctx, LAM_F64, LAM_DIMS(BONES, 4, 4), p->inverses, NULL), *out[2] = {NULL, NULL};
    lam_tensor *wrist = lam_index(base, 0, 0), *palm = lam_matmul(wrist, lam_index(base, 0, 1));
    lam_tensor *stiff = lam_matmul(lam_stack(LAM_LIST(wrist, palm), 0), lam_slice_axis(inverse, 0, 0, FIRST));
    for (int i = 0; i < 2; i++)
        of_finger[i] =
            lam_reshape(lam_slice_axis(i ? inverse : base, 0, FIRST, LAM_END), LAM_DIMS(FINGERS, JOINTS, 4, 4));
    lam_tensor *angles = lam_reshape(lam_slice_axis(parameters, 0, 6, LAM_END), LAM_DIMS(FINGERS, JOINTS));
    size_t results = slopes ? 2 : 1;
    lam_call(p->fingers[slopes], LAM_LIST(angles, of_finger[0], of_finger[1], palm), out, results);
    lam_tensor *of_stiff = lam_reshape(behind(stiff), LAM_DIMS(-1, 3)), *bones = lam_reshape(out[0], LAM_DIMS(-1, 3));
    h.maps = lam_concatenate(LAM_LIST(of_stiff, bones), 0);
    lam_tensor *by_angle = out[1];
    lam_call(p->whole[slopes], LAM_LIST(lam_slice_axis(parameters, 0, 0, 3)), out, results);
    h.rotation = lam_transpose(out[0], LAM_AXES(1, 0));
    h.translation = lam_slice_axis(parameters, 0, 3, 6);
    if (!slopes) return h;
    h.by_r = lam_neg(lam_reshape(lam_transpose(out[1], LAM_AXES(1, 0, 2)), LAM_DIMS(3, 9)));
    h.by_angle = lam_reshape(lam_matmul(lam_neg(out[0]), by_angle), LAM_DIMS(FINGERS, 16, 3 * JOINTS));
    return h;
}

/* Some vertices [some, 3] with weights [some, 22] -> [88, some]: what the maps are multiplied by. */
static lam_tensor *spread(lam_tensor *weights, lam_tensor *vertices) {
    int64_t some = lam_dim(vertices, 0);
    lam_tensor *one = lam_ones(lam_ctx_of(vertices), LAM_F64, LAM_DIMS(1, some));
    lam_tensor *place = lam_concatenate(LAM_LIST(lam_transpose(vertices, LAM_AXES(1, 0)), one), 0);
    lam_tensor *shares = lam_contiguous(lam_transpose(weights, LAM_AXES(1, 0)));
    lam_tensor *all = lam_mul(lam_expand_dims(shares, 1), lam_expand_dims(place, 0));
    return lam_reshape(all, LAM_DIMS(4 * BONES, some));
}

/* Rows first .. first + CHUNK - 1. */
static lam_tensor *rows_of(lam_tensor *x, int64_t first) {
    return lam_slice_axis(x, 0, first, first + CHUNK < lam_dim(x, 0) ? first + CHUNK : LAM_END);
}

/* Puts x [some, 3, k] into out [n, 3, all] from row `first` and column `column` on. */
static void put(lam_tensor *out, lam_tensor *x, int64_t first, int64_t column) {
    lam_set_(out, x, LAM_DIMS(first, 0, column), LAM_DIMS(first + lam_dim(x, 0), 3, column + lam_dim(x, 2)),
             LAM_DIMS(1, 1, 1));
}

/* The first columns of each point, of which those of the translation are the same for all: [3, before + 6]. */
static lam_tensor *first_columns(lam_ctx *ctx, int64_t before) {
    lam_tensor *minus = lam_neg(lam_eye(ctx, LAM_F64, 3, 3));
    return lam_concatenate(LAM_LIST(lam_zeros(ctx, LAM_F64, LAM_DIMS(3, before + 3)), minus), 1);
}

/* The moved vertices [n, 3]; in `columns`, if any, from column `before` on, minus their derivatives by the 26
 * parameters. They are linear in the maps, so the slopes of the maps move them to their slopes; a finger's angles need
 * its bones only. */
static lam_tensor *move_vertices(const hand *h, lam_tensor *weights, lam_tensor *vertices, lam_tensor *columns,
                                 int64_t before) {
    lam_ctx *ctx = lam_ctx_of(weights);
    int64_t n = lam_dim(vertices, 0);
    lam_tensor *moved = lam_empty(ctx, LAM_F64, LAM_DIMS(n, 3)), *same = first_columns(ctx, before);
    for (int64_t first = 0; first < n; first += CHUNK) {
        lam_scope *scope = lam_scope_begin(ctx);
        lam_tensor *all = spread(rows_of(weights, first), rows_of(vertices, first));
        lam_tensor *resting = lam_matmul(lam_transpose(all, LAM_AXES(1, 0)), h->maps);
        lam_tensor *now = lam_matmul(resting, h->rotation);
        int64_t some = lam_dim(all, 1);
        lam_set_(moved, lam_add(now, h->translation), LAM_DIMS(first, 0), LAM_DIMS(first + some, 3), LAM_DIMS(1, 1));
        if (columns) {
            lam_tensor *bones = lam_reshape(lam_slice_axis(all, 0, 8, LAM_END), LAM_DIMS(FINGERS, 4 * JOINTS, some));
            lam_tensor *slopes = lam_matmul(lam_transpose(bones, LAM_AXES(0, 2, 1)), h->by_angle);
            put(columns, lam_broadcast_to(same, LAM_DIMS(some, 3, before + 6)), first, 0);
            put(columns, lam_reshape(lam_matmul(resting, h->by_r), LAM_DIMS(some, 3, 3)), first, before);
            for (int f = 0; f < FINGERS; f++)
                put(columns, lam_reshape(lam_index(slopes, 0, f), LAM_DIMS(some, 3, JOINTS)), first,
                    before + 6 + f * JOINTS);
        }
        lam_scope_end(scope, NULL, 0);
    }
    return moved;
}

/* Rows of x at the corners [some, 3] of triangles; and what lies between them, where us [some, 2] say. */
static void at_corners(lam_tensor *x, lam_tensor *corners, lam_tensor *out[3]) {
    for (int k = 0; k < 3; k++) out[k] = lam_take(x, lam_index(corners, 1, k), 0);
}

static lam_tensor *between(lam_tensor *const corner[3], lam_tensor *us) {
    lam_tensor *u = lam_slice_axis(us, 1, 0, 1), *v = lam_slice_axis(us, 1, 1, 2);
    lam_tensor *rest = lam_mul(corner[2], lam_sub(lam_sub(1.0, u), v));
    return lam_fma(corner[1], v, lam_fma(corner[0], u, rest));
}

/* parameters, us, weights, vertices, points -> how far the points are, [n, 3] */
static void body_errors(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const ht *p = env;
    hand h = pose_of(p, ctx, in[0], false);
    lam_tensor *place = move_vertices(&h, in[2], in[3], NULL, 0), *corner[3];
    if (p->complicated) {
        at_corners(place, lam_borrow(ctx, LAM_I64, LAM_DIMS(p->n, 3), p->corners, NULL), corner);
        place = between(corner, in[1]);
    }
    out[0] = lam_sub(in[4], place);
}

/* The same -> [n, 3, 26], or with the two parameters of each point in front [n, 3, 28] */
static void body_slopes(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const ht *p = env;
    hand h = pose_of(p, ctx, in[0], true);
    int64_t before = p->complicated ? 2 : 0;
    lam_tensor *corner[3], *columns = out[0] = lam_empty(ctx, LAM_F64, LAM_DIMS(p->n, 3, before + PARAMETERS));
    lam_tensor *moved = move_vertices(&h, in[2], in[3], columns, before);
    if (!p->complicated) return;
    lam_tensor *corners = lam_borrow(ctx, LAM_I64, LAM_DIMS(p->n, 3), p->corners, NULL);
    columns = lam_reshape(columns, LAM_DIMS(p->n, 3 * (PARAMETERS + 2)));
    out[0] = lam_empty(ctx, LAM_F64, LAM_DIMS(p->n, 3, PARAMETERS + 2));
    for (int64_t first = 0; first < p->n; first += CHUNK) {
        lam_scope *scope = lam_scope_begin(ctx);
        lam_tensor *some = rows_of(corners, first);
        int64_t count = lam_dim(some, 0);
        at_corners(columns, some, corner);
        put(out[0], lam_reshape(between(corner, rows_of(in[1], first)), LAM_DIMS(count, 3, PARAMETERS + 2)), first, 0);
        at_corners(moved, some, corner);
        for (int k = 0; k < 2; k++) put(out[0], lam_expand_dims(lam_sub(corner[2], corner[k]), 2), first, k);
        lam_scope_end(scope, NULL, 0);
    }
}

static void lamina(void *data, gradbench_lamina *l) {
    ht *p = data;
    lam_fn *finger = gradbench_fn(l, "finger", body_finger, 4, 1, p);
    lam_fn *whole = gradbench_fn(l, "rotation", body_rotation, 1, 1, p);
    lam_vmap_options over = {.in_axes = LAM_AXES(0, 0, 0, LAM_UNMAPPED)};
    lam_jacobian_options by = {.argnums = LAM_AXES(0)};
    p->fingers[0] = lam_vmap(finger, &over);
    p->fingers[1] = lam_vmap(lam_value_and_jacobian(finger, &by), &over);
    p->whole[0] = whole;
    p->whole[1] = lam_value_and_jacobian(whole, NULL);
    gradbench_input(l, LAM_DIMS(PARAMETERS), p->parameters);
    gradbench_input(l, LAM_DIMS(p->n, 2), p->us);
    gradbench_input(l, LAM_DIMS(p->n, BONES), p->weights);
    gradbench_input(l, LAM_DIMS(p->n, 3), p->vertices);
    gradbench_input(l, LAM_DIMS(p->n, 3), p->points);
    l->objective = gradbench_fn(l, "errors", body_errors, 5, 1, p);
    l->derivative = gradbench_fn(l, "slopes", body_slopes, 5, 1, p);
}

static const gradbench_size sizes[] = {
    {"simple 100", true, {100, 0}},
    {"complicated 100", true, {100, 1}},
    {"simple 544", false, {544, 0}},
    {"simple 10000", false, {10000, 0}},
    {"complicated 544", false, {544, 1}},
    {"complicated 10000", false, {10000, 1}},
    {NULL, false, {0}},
};

const gradbench_problem gradbench_ht = {
    .name = "ht",
    .derivative = "Jacobian",
    .sizes = sizes,
    .make = make,
    .objective_c = objective_c,
    .derivative_c = derivative_c,
    .lamina = lamina,
};
