/* What it takes to record and compile large programs: nanoseconds of processor time per operation of the program, of
 * functions and their gradients. Called, traced, the first call of the jitted function, which records and compiles it,
 * and the least of some more calls. Arguments: a kind (all: each of them) and the fewest and the most operations, which
 * are tried in powers of ten: 10000 and 100000. */
#define _POSIX_C_SOURCE 200809L
#include <lamina/lamina.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 4, TRIPS = 40, MORE_CALLS = 5 };

/* One number after the other, each made of the one before and of x. */
static lam_tensor *chained(lam_tensor *x, lam_tensor *by, int64_t operations) {
    for (int64_t i = 0; i < operations / 2; i++) x = lam_mul(lam_sin(x), by);
    return x;
}

static void chain(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    out[0] = lam_sum(chained(in[0], in[0], *(int64_t *)env), NULL);
}

/* A sum of terms that have nothing to do with each other. */
static void terms(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    out[0] = lam_sum(in[0], NULL);
    for (int64_t i = 0; i < *(int64_t *)env / 4; i++)
        out[0] = lam_add(out[0], lam_sum(lam_sin(lam_mul(1e-6 * (double)i, in[0])), NULL));
}

/* A loop in C over the elements of x, each by the next. */
static void slices(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *a = lam_index(in[0], 0, 0);
    (void)ctx, (void)env;
    out[0] = a;
    for (int64_t i = 1; i < lam_dim(in[0], 0); i++) {
        lam_tensor *b = lam_index(in[0], 0, i);
        out[0] = lam_add(out[0], lam_mul(a, b));
        a = b;
    }
}

/* Elements of x that are set, one after the other. */
static void updates(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *x = in[0];
    (void)ctx;
    for (int64_t i = 0; i < *(int64_t *)env / 5; i++) {
        lam_tensor *made = lam_tanh(lam_mul(lam_index(x, 0, i % WIDTH), lam_index(x, 0, (i + 1) % WIDTH)));
        x = lam_at_set(x, LAM_AT(LAM_ELEMENT(i % WIDTH)), made);
    }
    out[0] = lam_sum(x, NULL);
}

static void body(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    out[0] = lam_add(in[0], 1.0);
    out[1] = lam_mul(0.5, chained(in[1], in[1], *(int64_t *)env));
}

static void goes_on(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = lam_lt(in[0], (double)TRIPS);
}

/* A loop whose body has all the operations. */
static void loop(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *y[2];
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "body", .body = body, .inputs = 2, .outputs = 2, .env = env});
    lam_fn *g = lam_fn_new(ctx, &(lam_fn_options){.name = "goes on", .body = goes_on, .inputs = 2, .outputs = 1});
    lam_tensor *none = lam_mul(0.0, lam_sum(in[0], NULL));
    if (lam_while(g, f, LAM_LIST(none, in[0]), y, 2) == LAM_OK) out[0] = lam_sum(y[1], NULL);
}

static const struct {
    const char *name;
    lam_body f;
} kinds[] = {{"chain", chain}, {"terms", terms}, {"slices", slices}, {"updates", updates}, {"loop", loop}};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double call(lam_ctx *ctx, lam_fn *f, lam_tensor *x) {
    lam_scope *scope = lam_scope_begin(ctx);
    const double start = now();
    (void)lam_apply(f, LAM_LIST(x));
    const double end = now();
    (void)lam_scope_end(scope, NULL, 0);
    return end - start;
}

static double least_of_more(lam_ctx *ctx, lam_fn *f, lam_tensor *x) {
    double least = call(ctx, f, x);
    for (int i = 1; i < MORE_CALLS; i++) {
        const double t = call(ctx, f, x);
        if (t < least) least = t;
    }
    return least;
}

/* Of a loop operations are those of its body, each of which is called TRIPS times. */
static void show(int kind, bool gradient, int64_t operations) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn *f = lam_fn_new(
        ctx, &(lam_fn_options){
                 .name = kinds[kind].name, .body = kinds[kind].f, .inputs = 1, .outputs = 1, .env = &operations});
    lam_tensor *x = lam_linspace(ctx, LAM_F64, 0.5, 1, kinds[kind].f == slices ? operations / 3 : WIDTH);
    if (gradient) f = lam_grad(f, NULL);
    lam_fn *jitted = lam_jit(f, NULL);
    const double called = call(ctx, f, x), start = now();
    (void)lam_trace(f, LAM_LIST(x));
    const double traced = now() - start, first = call(ctx, jitted, x), then = least_of_more(ctx, jitted, x);
    const lam_jit_report r = lam_jit_report_of(jitted);
    const double each = (double)(kinds[kind].f == loop ? operations : r.equations);
    printf("%-8s %-9s %8lld %8.0f %8.0f %8.0f %8.1f   %lld of %lld fused\n", kinds[kind].name,
           gradient ? "gradient" : "", (long long)operations, called / each, traced / each, first / each, then / each,
           (long long)r.fused, (long long)r.equations);
    if (lam_status_of(ctx)) fprintf(stderr, "%s\n", lam_error(ctx));
    fflush(stdout);
    lam_ctx_free(ctx);
}

int main(int argc, char **argv) {
    const char *only = argc > 1 ? argv[1] : "all";
    const int64_t fewest = argc > 2 ? atoll(argv[2]) : 10000, most = argc > 3 ? atoll(argv[3]) : 100000;
    printf("%-18s %8s %8s %8s %8s %8s   ns per operation\n", "", "", "called", "traced", "first", "then");
    for (int kind = 0; kind < (int)(sizeof kinds / sizeof *kinds); kind++)
        for (int gradient = 0; gradient < 2; gradient++)
            for (int64_t n = fewest; n <= most && n > 0; n *= 10)
                if (!strcmp(only, "all") || !strcmp(only, kinds[kind].name)) show(kind, gradient, n);
    return 0;
}
