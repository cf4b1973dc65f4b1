/* Rules for functions of containers: a point with coordinates x and y goes in, a structure with a nested pair comes
 * out.
 *
 * In JAX: arguments and results may be any pytree (named tuples, dicts, lists); rules get and give trees of the same
 * structure.
 * Here: a struct made of lam_tensor * is a tree. LAM_TREE(&s) passes its leaves as a list, LAM_OUT(&s) receives them,
 * and a body may look at its leaves as the struct again by a plain pointer. Rules see the leaves in the same order. */
#include <lamina/lamina.h>

typedef struct point {
    lam_tensor *x, *y;
} point;

/* The squares of both; the sine of one and the cosine of the other. */
typedef struct result {
    point squares;
    struct {
        lam_tensor *sine_x, *cosine_y;
    } waves;
} result;

enum { IN = LAM_LEAF_COUNT(point), OUT = LAM_LEAF_COUNT(result) };

static void f_body(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const point *p = (const point *)(const void *)in;
    (void)ctx, (void)env;
    *(result *)(void *)out = (result){{lam_square(p->x), lam_square(p->y)}, {lam_sin(p->x), lam_cos(p->y)}};
}

/* Outputs, then the residual: the point. */
static void fwd(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    f_body(ctx, in, out, env);
    *(point *)(void *)(out + OUT) = *(const point *)(const void *)in;
}

/* The residual, then cotangents in the form of the result -> cotangents in the form of a point. */
static void bwd(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const point *p = (const point *)(const void *)in;
    const result *g = (const result *)(const void *)(in + IN);
    (void)ctx, (void)env;
    lam_tensor *of_x = lam_add(lam_mul(lam_mul(2.0, p->x), g->squares.x), lam_mul(lam_cos(p->x), g->waves.sine_x));
    lam_tensor *of_y = lam_sub(lam_mul(lam_mul(2.0, p->y), g->squares.y), lam_mul(lam_sin(p->y), g->waves.cosine_y));
    *(point *)(void *)out = (point){of_x, of_y};
}

/* The sum of all leaves of the result. */
static void total(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    result r;
    (void)ctx;
    lam_call(env, (lam_list){IN, in}, LAM_OUT(&r));
    out[0] = lam_add_all(LAM_TREE(&r));
}

static lam_fn *fn(lam_ctx *ctx, const char *name, lam_body body, int inputs, int outputs, void *env) {
    lam_fn_options options = {.name = name, .body = body, .inputs = inputs, .outputs = outputs, .env = env};
    return lam_fn_new(ctx, &options);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn *f = lam_custom_vjp(fn(ctx, "f", f_body, IN, OUT, NULL), fn(ctx, "fwd", fwd, IN, OUT + IN, NULL),
                               fn(ctx, "bwd", bwd, IN + OUT, IN, NULL), NULL);
    lam_fn *sum = fn(ctx, "total", total, IN, 1, f);
    point p = {lam_scalar(ctx, 1), lam_scalar(ctx, 2)}, gradient;
    lam_grad_options by_point = {.argnums = LAM_AXES(LAM_RANGE(0, IN))};

    lam_print(stdout, lam_apply(sum, LAM_TREE(&p))); /* 1 + 4 + sin(1) + cos(2) */
    lam_call(lam_grad(sum, &by_point), LAM_TREE(&p), LAM_OUT(&gradient));
    lam_print(stdout, gradient.x); /* 2 + cos(1) */
    lam_print(stdout, gradient.y); /* 4 - sin(2) */

    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return failed;
}
