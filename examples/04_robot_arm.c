/* Jacobians: a robot arm of two links that is to reach a point.
 *
 * Forward kinematics is a function of two joint angles; lam_value_and_jacobian gives the position of the hand and
 * how it moves with the joints from one run. Inverse kinematics is damped least squares on that 2 x 2 Jacobian,
 *     step = J^T (J J^T + lambda I)^-1 error,
 * solved by hand here. lam_vmap over a batch of poses then tells where the arm moves well: Yoshikawa's
 * manipulability |det J|, which is 0 where the arm is stretched out. */
#include <lamina/lamina.h>

#include <math.h>

static const double lengths[2] = {1.0, 0.7}; /* of the links, in metres */

/* angles[2], in radians -> position[2], in metres */
static void hand(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    lam_tensor *first = lam_index(in[0], 0, 0), *second = lam_add(first, lam_index(in[0], 0, 1));
    lam_tensor *x = lam_add(lam_mul(lengths[0], lam_cos(first)), lam_mul(lengths[1], lam_cos(second)));
    lam_tensor *y = lam_add(lam_mul(lengths[0], lam_sin(first)), lam_mul(lengths[1], lam_sin(second)));
    out[0] = lam_stack(LAM_LIST(x, y), 0);
}

/* J^T (J J^T + damping I)^-1 e */
static void damped_step(double j[2][2], const double e[2], double damping, double step[2]) {
    double a = j[0][0] * j[0][0] + j[0][1] * j[0][1] + damping, d = j[1][0] * j[1][0] + j[1][1] * j[1][1] + damping;
    double b = j[0][0] * j[1][0] + j[0][1] * j[1][1], det = a * d - b * b;
    double u = (d * e[0] - b * e[1]) / det, v = (a * e[1] - b * e[0]) / det;
    for (int i = 0; i < 2; i++) step[i] = j[0][i] * u + j[1][i] * v;
}

/* Moves the angles until the hand is at the target. Gives the number of steps, or -1 after a failure. */
static int reach(lam_ctx *ctx, lam_fn *kinematics, const double target[2], double angles[2]) {
    for (int k = 0; k < 100; k++) {
        double position[2], jacobian[2][2], step[2];
        lam_scope *scope = lam_scope_begin(ctx);
        lam_tensor *out[2];
        lam_call(kinematics, LAM_LIST(lam_array(ctx, LAM_F64, LAM_DIMS(2), angles)), out, 2);
        lam_status status = lam_read(out[0], position, sizeof position);
        if (status == LAM_OK) status = lam_read(out[1], jacobian, sizeof jacobian);
        lam_scope_end(scope, NULL, 0);
        if (status != LAM_OK) return -1;
        double error[2] = {target[0] - position[0], target[1] - position[1]};
        if (hypot(error[0], error[1]) < 1e-10) return k;
        damped_step(jacobian, error, 1e-4, step);
        for (int i = 0; i < 2; i++) angles[i] += step[i];
    }
    return 100;
}

/* A batch of poses with the elbow at 0, 30, ..., 180 degrees: one Jacobian each, from one call. */
static void print_manipulability(lam_ctx *ctx, lam_fn *f) {
    enum { POSES = 7 };
    double pi = acos(-1), poses[POSES][2], j[POSES][2][2];
    for (int i = 0; i < POSES; i++) poses[i][0] = 0.3, poses[i][1] = i * pi / 6;
    lam_tensor *batch = lam_array(ctx, LAM_F64, LAM_DIMS(POSES, 2), poses);
    if (lam_read(lam_apply(lam_vmap(lam_jacfwd(f, NULL), NULL), LAM_LIST(batch)), j, sizeof j) != LAM_OK) return;
    for (int i = 0; i < POSES; i++)
        printf("elbow %3d degrees: manipulability %.4f\n", 30 * i,
               fabs(j[i][0][0] * j[i][1][1] - j[i][0][1] * j[i][1][0]));
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "hand", .body = hand, .inputs = 1, .outputs = 1});
    double angles[2] = {0.3, 0.5}, target[2] = {0.4, 1.2};
    int steps = reach(ctx, lam_value_and_jacobian(f, NULL), target, angles);
    if (steps >= 0)
        printf("reached (%.1f, %.1f) with angles %.6f and %.6f\n", target[0], target[1], angles[0], angles[1]);
    print_manipulability(ctx, f);

    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return failed;
}
