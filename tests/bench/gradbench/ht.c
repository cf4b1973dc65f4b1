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

enum { BONES = 22, STIFF = 2, FINGERS = 5, JOINTS = 4, PARAMETERS = 26, ANGLES = 20, NEAR = 4 };

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
    double *links[3];                    /* of the Lamina form, see make_links: [5, 4, 4, 4] each */
    double *tips, *palm;                 /* [5, 4, 4], [4, 3] */
    double *stiff;                       /* [2, 12]: the maps of wrist and palm */
    double *skin;                        /* [n, 16]: a vertex as seen from each of its bones, times the weight */
    int64_t *entries;                    /* [n, 16]: which rows of the maps of all bones, [88, ...], these are for */
    int64_t *edges;                      /* [n, 2, 2]: the corners that a point's two parameters move it to and from */
    double *drift;                       /* [88, 3, 26 or 28]: the slopes of maps that are always the same */
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

/* Adds what an affine map makes of x, times w. */
static void apply(matrix m, const double *x, double w, double *out, int step) {
    for (int i = 0; i < 3; i++) out[i * step] += w * (m[i][0] * x[0] + m[i][1] * x[1] + m[i][2] * x[2] + m[i][3]);
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

/* m turned over, [4, columns]; the corner: what a fourth row of m ends with. */
static void turn_over(matrix m, int columns, double corner, double *out) {
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < columns; i++) out[columns * j + i] = i < 3 ? m[i][j] : j < 3 ? 0 : corner;
}

/* Each angle of a finger turns a link, the first two the two links of the first joint: what stays of it, and what is
 * multiplied by cosine and sine. The map of a joint to its parent is in its link, or in the second of two. */
static void make_links(ht *p) {
    static const int joint[JOINTS] = {0, 0, 1, 2}, axis[JOINTS] = {0, 1, 0, 0};
    matrix unit = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    for (int e = 0; e < FINGERS * JOINTS; e++) {
        int k = e % JOINTS, a = axis[k], b = (a + 1) % 3, c = (a + 2) % 3, bone = STIFF + e - k;
        matrix part[3] = {{{0}}};
        part[0][a][a] = part[1][b][b] = part[1][c][c] = part[2][c][b] = 1;
        part[2][b][c] = -1;
        for (int i = 0; i < 3; i++) {
            multiply(k ? p->base[bone + joint[k]] : unit, part[i], part[i]);
            for (int row = 0; i && row < 3; row++) part[i][row][3] = 0;
            turn_over(part[i], 4, i == 0, p->links[i] + 16 * e);
        }
        if (k == 3) turn_over(p->base[bone + k], 4, 1, p->tips + 16 * (e / JOINTS));
    }
}

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
    for (int b = 0; b < STIFF; b++) turn_over(absolute[b], 3, 1, p->stiff + 12 * b);
    turn_over(absolute[STIFF - 1], 3, 1, p->palm);
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

/* The same as the Lamina form has it: the skinning of a resting hand is a matrix [n, 88] of the model's, with 16
 * entries in each row, since four weights are not 0. */
static void make_sparse(ht *p) {
    int64_t columns = PARAMETERS + (p->complicated ? 2 : 0);
    for (int64_t v = 0; v < p->n; v++)
        for (int b = 0, e = 0; b < BONES; b++) {
            double w = p->weights[v * BONES + b], *seen = p->skin + 16 * v + e;
            if (w == 0) continue;
            for (int j = 0; j < 4; j++) p->entries[16 * v + e++] = 4 * b + j;
            apply(p->inverse[b], p->vertices + 3 * v, w, seen, 1);
            seen[3] = w;
        }
    for (int64_t e = 0; e < 4 * p->n; e++) p->edges[e] = p->corners[e / 4 * 3 + (e % 2 ? e / 2 % 2 : 2)];
    for (int b = 0; b < BONES; b++) /* the translation of the hand is that of each bone */
        for (int i = 0; i < 3; i++) p->drift[(3 * (4 * b + 3) + i) * columns + columns - PARAMETERS + 3 + i] = -1;
}

static void *make(gradbench_store *store, const gradbench_size *size, int64_t *values, int64_t *derivatives) {
    ht *p = gradbench_take(store, sizeof *p);
    int64_t n = size->n[0];
    *p = (ht){.n = n, .complicated = size->n[1] != 0};
    p->parameters = gradbench_uniform(store, PARAMETERS, -0.6, 0.6);
    p->us = gradbench_uniform(store, 2 * n, 0, 0.5);
    p->base = gradbench_take(store, BONES * sizeof(matrix));
    p->inverse = gradbench_take(store, BONES * sizeof(matrix));
    for (int i = 0; i < 3; i++) p->links[i] = gradbench_doubles(store, FINGERS * JOINTS * 16);
    p->tips = gradbench_doubles(store, FINGERS * 16);
    p->palm = gradbench_doubles(store, 12);
    p->stiff = gradbench_doubles(store, STIFF * 12);
    p->angle_of = gradbench_take(store, BONES * 3 * sizeof(int64_t));
    p->weights = gradbench_doubles(store, n * BONES);
    p->corners = gradbench_take(store, (size_t)n * 3 * sizeof(int64_t));
    make_bones(store, p);
    make_links(p);
    make_mesh(store, p);
    size_t data = store->bytes;
    p->skin = gradbench_doubles(store, 4 * NEAR * n);
    p->entries = gradbench_take(store, (size_t)n * 4 * NEAR * sizeof(int64_t));
    p->edges = gradbench_take(store, (size_t)n * 4 * sizeof(int64_t));
    p->drift = gradbench_doubles(store, BONES * 12 * (PARAMETERS + 2));
    make_sparse(p);
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

/* [3, 3, 3]: r times it is the matrix that multiplies vectors as the cross product with r does. */
static double CROSS[27] = {[5] = -1, [7] = 1, [11] = 1, [15] = -1, [19] = -1, [21] = 1};

/* Rotation by a vector r [3] -> [3, 3]. */
static void body_rotation(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *r = in[0], *square = lam_matmul(r, r), *angle = lam_sqrt(square);
    lam_tensor *a = lam_div(lam_sin(angle), angle), *b = lam_div(lam_sub(1.0, lam_cos(angle)), square);
    lam_tensor *k = lam_einsum("i,ijk->jk", LAM_LIST(r, lam_borrow(ctx, LAM_F64, LAM_DIMS(3, 3, 3), CROSS, NULL)));
    (void)env;
    out[0] = lam_fma(b, lam_matmul(k, k), lam_fma(a, k, lam_eye(ctx, LAM_F64, 3, 3)));
}

/* Angles [5, 4] -> the maps of the bones of the fingers, [5, 4, 4, 3]. All maps are turned over: a vertex stands in
 * front of them. The second angle of a finger turns its first joint before the first one does. */
static void body_fingers(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const ht *p = env;
    const lam_dims each = LAM_DIMS(FINGERS, JOINTS, 4, 4);
    lam_tensor *angles = lam_reshape(in[0], LAM_DIMS(FINGERS, JOINTS, 1, 1)), *part[3], *link[JOINTS], *chain[JOINTS];
    for (int i = 0; i < 3; i++) part[i] = lam_borrow(ctx, LAM_F64, each, p->links[i], NULL);
    lam_unstack(lam_fma(lam_cos(angles), part[1], lam_fma(lam_sin(angles), part[2], part[0])), 1, link, JOINTS);
    lam_tensor *tip = lam_borrow(ctx, LAM_F64, LAM_DIMS(FINGERS, 4, 4), p->tips, NULL);
    lam_tensor *at = lam_matmul(link[1], lam_borrow(ctx, LAM_F64, LAM_DIMS(4, 3), p->palm, NULL));
    chain[0] = at = lam_matmul(link[0], at);
    for (int j = 1; j < JOINTS; j++) chain[j] = at = lam_matmul(j + 1 < JOINTS ? link[j + 1] : tip, at);
    out[0] = lam_stack((lam_list){JOINTS, chain}, 1);
}

/* What the parameters do to vertices. Maps are those of all bones below each other, before the whole hand turns. */
typedef struct hand {
    lam_tensor *maps, *rotation, *translation; /* [88, 3]; [3, 3] turned over; [3] */
    lam_tensor *by_r, *by_angle;               /* minus the slopes of turned maps: [88, 3, 3]; [5, 16, 3, 4] */
} hand;

static hand pose_of(const ht *p, lam_ctx *ctx, lam_tensor *parameters, bool slopes) {
    hand h = {NULL, NULL, lam_slice_axis(parameters, 0, 3, 6), NULL, NULL};
    lam_tensor *r = lam_slice_axis(parameters, 0, 0, 3), *bones[2] = {NULL, NULL}, *whole[2] = {NULL, NULL};
    lam_tensor *angles = lam_reshape(lam_slice_axis(parameters, 0, 6, LAM_END), LAM_DIMS(FINGERS, JOINTS));
    if (slopes) { /* no finger has to do with another: one tangent for all of their first angles, and so on */
        lam_tensor *unit = lam_eye(ctx, LAM_F64, 3, 3),
                   *one = lam_expand_dims(lam_eye(ctx, LAM_F64, JOINTS, JOINTS), 1);
        lam_call(p->fingers[1], LAM_LIST(angles, lam_broadcast_to(one, LAM_DIMS(JOINTS, FINGERS, JOINTS))), bones, 2);
        lam_call(p->whole[1], LAM_LIST(r, unit), whole, 2);
    } else {
        lam_call(p->fingers[0], LAM_LIST(angles), bones, 1);
        lam_call(p->whole[0], LAM_LIST(r), whole, 1);
    }
    lam_tensor *stiff = lam_borrow(ctx, LAM_F64, LAM_DIMS(STIFF * 4, 3), p->stiff, NULL);
    h.maps = lam_concatenate(LAM_LIST(stiff, lam_reshape(bones[0], LAM_DIMS((BONES - STIFF) * 4, 3))), 0);
    h.rotation = lam_transpose(whole[0], LAM_AXES(1, 0));
    if (!slopes) return h;
    lam_tensor *by_r = lam_neg(lam_reshape(lam_transpose(whole[1], LAM_AXES(1, 0, 2)), LAM_DIMS(3, 9)));
    h.by_r = lam_reshape(lam_matmul(h.maps, by_r), LAM_DIMS(BONES * 4, 3, 3));
    h.by_angle = lam_reshape(lam_matmul(lam_neg(whole[0]), bones[1]), LAM_DIMS(FINGERS, 16, 3, JOINTS));
    return h;
}

/* Skinning: the product of the model's sparse matrix with something for each of the 88 rows of maps. */
static lam_tensor *skinned(const ht *p, lam_tensor *skin, lam_tensor *x) {
    lam_tensor *entries = lam_borrow(lam_ctx_of(skin), LAM_I64, LAM_DIMS(p->n, 4 * NEAR), p->entries, NULL);
    return lam_embedding_bag(x, entries, skin);
}

/* us [n, 2] -> how much of each corner of its triangle a point has, [n, 3] */
static lam_tensor *shares_of(lam_tensor *us) {
    return lam_concatenate(
        LAM_LIST(us, lam_sub(1.0, lam_sum(us, &(lam_reduce_options){.axes = LAM_AXES(1), .keepdims = true}))), 1);
}

/* parameters, us, skin, points -> how far the points are, [n, 3] */
static void body_errors(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const ht *p = env;
    hand h = pose_of(p, ctx, in[0], false);
    lam_tensor *at = skinned(p, in[2], lam_matmul(h.maps, h.rotation));
    if (p->complicated)
        at = lam_embedding_bag(at, lam_borrow(ctx, LAM_I64, LAM_DIMS(p->n, 3), p->corners, NULL), shares_of(in[1]));
    out[0] = lam_sub(lam_sub(in[3], h.translation), at);
}

/* Minus the slopes of all maps, [88, 3, 26]. With two columns in front, for those that points will have there, the
 * first of them has the turned maps themselves. */
static lam_tensor *slopes_of_maps(const ht *p, const hand *h, lam_ctx *ctx, int64_t lead) {
    const int64_t columns = lead + PARAMETERS;
    lam_tensor *all = lam_borrow(ctx, LAM_F64, LAM_DIMS(BONES * 4, 3, columns), p->drift, NULL), *of[FINGERS];
    lam_set_(all, h->by_r, LAM_DIMS(0, 0, lead), LAM_DIMS(BONES * 4, 3, lead + 3), LAM_DIMS(1, 1, 1));
    if (lead)
        lam_set_(all, lam_expand_dims(lam_matmul(h->maps, h->rotation), 2), LAM_DIMS(0, 0, 0),
                 LAM_DIMS(BONES * 4, 3, 1), LAM_DIMS(1, 1, 1));
    lam_unstack(h->by_angle, 0, of, FINGERS);
    for (int f = 0; f < FINGERS; f++) {
        const int64_t row = 4 * (STIFF + JOINTS * f), column = lead + 6 + JOINTS * f;
        lam_set_(all, of[f], LAM_DIMS(row, 0, column), LAM_DIMS(row + 16, 3, column + JOINTS), LAM_DIMS(1, 1, 1));
    }
    return all;
}

/* The same -> [n, 3, 26], or with the two parameters of each point in front [n, 3, 28]. Skinning is linear, so it takes
 * the slopes of maps to those of vertices. */
static void body_slopes(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const ht *p = env;
    hand h = pose_of(p, ctx, in[0], true);
    lam_tensor *slopes = skinned(p, in[2], slopes_of_maps(p, &h, ctx, p->complicated ? 2 : 0));
    out[0] = slopes;
    if (p->complicated) {
        lam_tensor *corners = lam_borrow(ctx, LAM_I64, LAM_DIMS(p->n, 3), p->corners, NULL);
        lam_tensor *turned = lam_squeeze(lam_slice_axis(slopes, 2, 0, 1), LAM_AXES(2));
        lam_tensor *edges = lam_embedding_bag(
            turned, lam_borrow(ctx, LAM_I64, LAM_DIMS(p->n, 2, 2), p->edges, NULL),
            lam_broadcast_to(lam_array(ctx, LAM_F64, LAM_DIMS(2), (double[]){1, -1}), LAM_DIMS(p->n, 2, 2)));
        out[0] = lam_embedding_bag(slopes, corners, shares_of(in[1]));
        lam_set_(out[0], lam_transpose(edges, LAM_AXES(0, 2, 1)), LAM_DIMS(0, 0, 0), LAM_DIMS(p->n, 3, 2),
                 LAM_DIMS(1, 1, 1));
    }
}

static void lamina(void *data, gradbench_lamina *l) {
    ht *p = data;
    lam_vmap_options over = {.in_axes = LAM_AXES(LAM_UNMAPPED, 0), .out_axes = LAM_AXES(LAM_UNMAPPED, -1)};
    p->fingers[0] = gradbench_fn(l, "fingers", body_fingers, 1, 1, p);
    p->fingers[1] = lam_vmap(lam_jvp_fn(p->fingers[0], NULL), &over);
    p->whole[0] = gradbench_fn(l, "rotation", body_rotation, 1, 1, p);
    p->whole[1] = lam_vmap(lam_jvp_fn(p->whole[0], NULL), &over);
    gradbench_input(l, LAM_DIMS(PARAMETERS), p->parameters);
    gradbench_input(l, LAM_DIMS(p->n, 2), p->us);
    gradbench_input(l, LAM_DIMS(p->n, 4 * NEAR), p->skin);
    gradbench_input(l, LAM_DIMS(p->n, 3), p->points);
    l->objective = gradbench_fn(l, "errors", body_errors, 4, 1, p);
    l->derivative = gradbench_fn(l, "slopes", body_slopes, 4, 1, p);
}

static const gradbench_size sizes[] = {
    {"simple 100", CHECKED, {100, 0}},
    {"complicated 100", CHECKED, {100, 1}},
    {"simple 544", USUAL, {544, 0}},
    {"simple 10000", USUAL, {10000, 0}},
    {"complicated 544", USUAL, {544, 1}},
    {"complicated 10000", USUAL, {10000, 1}},
    {NULL, USUAL, {0}},
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
