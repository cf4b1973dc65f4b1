/* Random numbers. A key is a tensor, so a batch of keys is mapped over like any other batch; and a sample written as a
 * function of its parameters, at fixed bits, can be differentiated: the gradient of an expectation is the mean of such
 * gradients. Beside keys, the context's own generator: another draw each time, and a word with vmap on what that means.
 */
#include <lamina/lamina.h>

#include <math.h>
#include <stdlib.h>

enum { DRAWS = 20000, EXAMPLES = 4 };

/* (x - 3)^2 at x = mean + scale z, with z normal, made of a key. */
static void cost(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    lam_tensor *mean = in[0], *scale = in[1], *key = in[2];
    lam_tensor *x = lam_add(mean, lam_mul(scale, lam_random_normal(key, LAM_F64, LAM_DIMS0)));
    out[0] = lam_square(lam_sub(x, 3.0));
}

/* x with each element kept or dropped by the toss of a coin. */
static void dropout(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)env;
    out[0] = lam_mul(in[0], lam_rand_bernoulli(lam_full(ctx, LAM_F64, lam_dims_of(in[0]), 0.5)));
}

static void print_estimate(const char *name, lam_tensor *gradients, double exact) {
    double mean = lam_item(lam_mean(gradients, NULL)), error = lam_item(lam_std(gradients, NULL)) / sqrt(DRAWS);
    printf("  d/d%-5s %7.3f +- %.3f, exactly %.1f\n", name, mean, error, exact);
}

/* E (x - 3)^2 is (mean - 3)^2 + scale^2; the estimate is one gradient per key, all of them at once. */
static void gradient_of_an_expectation(lam_ctx *ctx) {
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "cost", .body = cost, .inputs = 3, .outputs = 1});
    lam_fn *gradient = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    lam_fn *per_key = lam_vmap(gradient, &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, LAM_UNMAPPED, 0)});
    lam_tensor *keys = lam_split(lam_key(ctx, 2026), DRAWS), *g[2];
    lam_call(per_key, LAM_LIST(lam_scalar(ctx, 1), lam_scalar(ctx, 0.5), keys), g, 2);
    printf("gradient of E (x - 3)^2 at mean 1, scale 0.5, from %d keys:\n", DRAWS);
    print_estimate("mean", g[0], 2 * (1 - 3.0));
    print_estimate("scale", g[1], 2 * 0.5);
}

static void draws_of_the_context(lam_ctx *ctx) {
    static const struct {
        const char *name;
        lam_randomness randomness;
    } modes[] = {{"same for all", LAM_RANDOMNESS_SAME}, {"different for each", LAM_RANDOMNESS_DIFFERENT}};
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "dropout", .body = dropout, .inputs = 1, .outputs = 1});
    lam_tensor *x = lam_ones(ctx, LAM_F64, LAM_DIMS(EXAMPLES, 10));
    for (int i = 0; i < 2; i++) {
        lam_ctx_seed(ctx, 1);
        printf("dropout, %s:\n", modes[i].name);
        lam_print(stdout, lam_apply(lam_vmap(f, &(lam_vmap_options){.randomness = modes[i].randomness}), LAM_LIST(x)));
    }
    lam_apply(lam_vmap(f, NULL), LAM_LIST(x));
    printf("dropout, without a word:\n%s\n", lam_error(ctx));
    lam_clear_error(ctx);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_tensor *key = lam_key(ctx, 42);
    printf("the key of 42, two keys made of it, three numbers of it:\n");
    lam_print(stdout, key);
    lam_print(stdout, lam_split(key, 2));
    lam_print(stdout, lam_random_uniform(key, LAM_F64, LAM_DIMS(3), NULL));
    gradient_of_an_expectation(ctx);
    draws_of_the_context(ctx);
    bool failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
