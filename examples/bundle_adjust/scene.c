/* Everything is drawn first as it is, then pictures are taken, then the parameters are disturbed; so the noise of the
 * pictures and the errors of the start have nothing to do with each other. Cameras look down their negative third axis,
 * as those of the data sets do. */
#include "scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lengths in units of the scene; those of pictures in pixels. */
static const double ROCK = 2, BUMPS = 0.2, RING = 5, PICTURE[2] = {640, 480};
/* Cosine between a point's direction and the camera's, seen from the middle: below that, the rock is in the way. */
static const double FACING = 0.25;
enum { LEAST_VIEWS = 3 };

/* By how much the start is wrong. */
static const double WRONG_ROTATION = 0.01, WRONG_TRANSLATION = 0.03, WRONG_FOCAL = 0.02, WRONG_POINT = 0.05;

/* ---- random numbers ---- */

/* Splitmix64 (Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014), in [0, 1). */
static double uniform(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Box and Muller's method; of the pair it gives, one is used. */
static double normal(uint64_t *state) {
    double radius = sqrt(-2 * log(1 - uniform(state)));
    return radius * cos(6.283185307179586 * uniform(state));
}

/* ---- geometry ---- */

static double dot(const double *x, const double *y) {
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

static void cross(const double *x, const double *y, double *out) {
    for (int i = 0; i < 3; i++) out[i] = x[(i + 1) % 3] * y[(i + 2) % 3] - x[(i + 2) % 3] * y[(i + 1) % 3];
}

static void normalize(double *x) {
    double length = sqrt(dot(x, x));
    for (int i = 0; i < 3; i++) x[i] /= length;
}

/* The rotation vector of a rotation matrix, by way of its quaternion: the larger of four forms of it does not cancel.
 */
static void vector_of_rotation(double m[3][3], double *r) {
    double trace = m[0][0] + m[1][1] + m[2][2], q[4]; /* q[3]: cosine of half the angle */
    int k = 0;
    for (int i = 1; i < 3; i++)
        if (m[i][i] > m[k][k]) k = i;
    int a = (k + 1) % 3, b = (k + 2) % 3;
    if (trace > m[k][k]) {
        q[3] = 1 + trace;
        for (int i = 0; i < 3; i++) q[i] = m[(i + 2) % 3][(i + 1) % 3] - m[(i + 1) % 3][(i + 2) % 3];
    } else {
        q[k] = 1 + 2 * m[k][k] - trace;
        q[a] = m[a][k] + m[k][a];
        q[b] = m[b][k] + m[k][b];
        q[3] = m[b][a] - m[a][b];
    }
    double sine = sqrt(dot(q, q)), angle = 2 * atan2(sine, q[3]);
    for (int i = 0; i < 3; i++) r[i] = sine > 0 ? q[i] * angle / sine : 0;
}

/* Rodrigues' formula, plainly: the rotation by r of x. */
static void rotate(const double *r, const double *x, double *out) {
    double angle = sqrt(dot(r, r)), along, around[3];
    if (angle == 0) {
        memcpy(out, x, 3 * sizeof *out);
        return;
    }
    double axis[3] = {r[0] / angle, r[1] / angle, r[2] / angle};
    cross(axis, x, around);
    along = dot(axis, x) * (1 - cos(angle));
    for (int i = 0; i < 3; i++) out[i] = cos(angle) * x[i] + sin(angle) * around[i] + along * axis[i];
}

/* Where the camera sees the point. false: behind it, or outside of the picture. */
static bool picture(const double *camera, const double *point, double *at) {
    double seen[3];
    rotate(camera, point, seen);
    for (int i = 0; i < 3; i++) seen[i] += camera[3 + i];
    if (seen[2] >= 0) return false;
    double p[2] = {-seen[0] / seen[2], -seen[1] / seen[2]}, square = p[0] * p[0] + p[1] * p[1];
    double scale = camera[6] * (1 + square * (camera[7] + square * camera[8]));
    for (int i = 0; i < 2; i++) at[i] = scale * p[i];
    return fabs(at[0]) < PICTURE[0] && fabs(at[1]) < PICTURE[1];
}

/* ---- the scene ---- */

/* A camera at the given place, aimed at somewhere near the middle, upright. */
static void make_camera(uint64_t *state, const double *place, double *camera) {
    double m[3][3], up[3] = {0, 0, 1}, turned[3];
    for (int i = 0; i < 3; i++) m[2][i] = place[i] - 0.3 * normal(state);
    normalize(m[2]);
    cross(up, m[2], m[0]);
    normalize(m[0]);
    cross(m[2], m[0], m[1]);
    vector_of_rotation(m, camera);
    rotate(camera, place, turned);
    for (int i = 0; i < 3; i++) camera[3 + i] = -turned[i];
    camera[6] = 800 + 40 * normal(state);
    camera[7] = -0.1 + 0.02 * normal(state);
    camera[8] = 0.05 + 0.01 * normal(state);
}

static void make_cameras(uint64_t *state, problem *p, double (*place)[3]) {
    for (int64_t i = 0; i < p->cameras; i++) {
        double angle = 6.283185307179586 * ((double)i + 0.5 * uniform(state)) / (double)p->cameras;
        double distance = RING * (1 + 0.1 * normal(state));
        place[i][0] = distance * cos(angle);
        place[i][1] = distance * sin(angle);
        place[i][2] = normal(state);
        make_camera(state, place[i], p->camera + i * PROBLEM_CAMERA);
    }
}

/* Adds what the cameras see of the point, and gives how many do. */
static int take_pictures(problem *p, double (*place)[3], int64_t point, const double *direction) {
    int views = 0;
    const double *x = p->point + point * PROBLEM_POINT;
    for (int64_t c = 0; c < p->cameras; c++) {
        observation *o = &p->observed[p->observations];
        *o = (observation){.camera = c, .point = point};
        if (dot(direction, place[c]) < FACING * sqrt(dot(place[c], place[c]))) continue;
        if (!picture(p->camera + c * PROBLEM_CAMERA, x, o->at)) continue;
        p->observations++;
        views++;
    }
    return views;
}

/* A point that fewer than LEAST_VIEWS cameras see is drawn again. */
static void make_point(uint64_t *state, problem *p, double (*place)[3], int64_t point) {
    int64_t before = p->observations;
    double direction[3], *x = p->point + point * PROBLEM_POINT;
    do {
        p->observations = before;
        for (int i = 0; i < 3; i++) direction[i] = normal(state);
        normalize(direction);
        double radius = ROCK + BUMPS * normal(state);
        for (int i = 0; i < 3; i++) x[i] = radius * direction[i];
    } while (take_pictures(p, place, point, direction) < LEAST_VIEWS);
}

static void disturb(uint64_t *state, problem *p) {
    for (int64_t i = 0; i < 2 * p->observations; i++) p->observed[i / 2].at[i % 2] += SCENE_NOISE * normal(state);
    for (int64_t i = 0; i < p->cameras; i++) {
        double *camera = p->camera + i * PROBLEM_CAMERA;
        for (int j = 0; j < 3; j++) camera[j] += WRONG_ROTATION * normal(state);
        for (int j = 3; j < 6; j++) camera[j] += WRONG_TRANSLATION * normal(state);
        camera[6] *= 1 + WRONG_FOCAL * normal(state);
        camera[7] = camera[8] = 0;
    }
    for (int64_t i = 0; i < p->points * PROBLEM_POINT; i++) p->point[i] += WRONG_POINT * normal(state);
}

bool scene_make(problem *p, uint64_t seed) {
    *p = (problem){.cameras = SCENE_CAMERAS, .points = SCENE_POINTS};
    double place[SCENE_CAMERAS][3];
    p->camera = malloc(SCENE_CAMERAS * PROBLEM_CAMERA * sizeof *p->camera);
    p->point = malloc(SCENE_POINTS * PROBLEM_POINT * sizeof *p->point);
    p->observed = malloc((SCENE_CAMERAS * SCENE_POINTS + 1) * sizeof *p->observed); /* one is written ahead */
    if (!p->camera || !p->point || !p->observed) {
        snprintf(p->error, sizeof p->error, "out of memory");
        return false;
    }
    make_cameras(&seed, p, place);
    for (int64_t i = 0; i < p->points; i++) make_point(&seed, p, place, i);
    disturb(&seed, p);
    return true;
}

double scene_expected_rms(const problem *p) {
    double residuals = 2 * (double)p->observations;
    double determined = (double)(p->cameras * PROBLEM_CAMERA + p->points * PROBLEM_POINT - 7);
    return SCENE_NOISE * sqrt((residuals - determined) / residuals);
}
