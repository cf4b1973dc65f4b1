/* Convolutions and their two transposes, each beside the matrix product of as many multiplications that it would be (of
 * a matrix of patches that is there already, one for each group), or beside one pass over the operand where each
 * feature has its own window; in ms, and the ratios; f32 and f64. With the argument `all`, 1,528 convolutions of images
 * in f32: how many take more than twice and three times as long, and the worst of them, and the same beside what the
 * product or memory allows, whichever takes longer: x read once (sum), or written once (zeros) by the gradient by x.
 * With `each`, the ns of each of these, which peers.py reads; with `networks`, the same as `all` of layers of known
 * networks, one example and eight, in f32 and f64. Prints only. */
#define _POSIX_C_SOURCE 200809L
#include <lamina/lamina.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/timing.h"

/* Forward, and the gradients by the operand and by the window. */
enum { RUNS = 7, WAYS = 3, WORST = 8 };

typedef struct job {
    lam_tensor *x, *w, *a[WAYS], *b[WAYS], *g;
    lam_fn *pullback[WAYS]; /* of the gradients */
    lam_conv_options options;
    int by;
} job;

static void convolve(void *env) {
    job *j = env;
    lam_drop(j->by ? lam_apply(j->pullback[j->by], LAM_LIST(j->g)) : lam_conv_general(j->x, j->w, &j->options));
}

static void multiply(void *env) {
    job *j = env;
    lam_drop(lam_matmul(j->a[j->by], j->b[j->by]));
}

static void body_conv(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    out[0] = lam_conv_general(in[0], in[1], &((job *)env)->options);
}

/* A convolution of an operand [n, c, size...] with o windows, over `rank` axes. */
typedef struct problem {
    int rank;
    int64_t n, c, size, o, window, stride, groups;
} problem;

static lam_tensor *filled(lam_ctx *ctx, lam_dtype dtype, int64_t first, int64_t second, int64_t side, int rank,
                          double value) {
    int64_t dims[5] = {first, second};
    for (int i = 0; i < rank; i++) dims[2 + i] = side;
    return lam_contiguous(lam_full(ctx, dtype, (lam_dims){2 + rank, dims}, value));
}

static void prepare(lam_ctx *ctx, lam_dtype dtype, const problem *p, job *j) {
    lam_tensor *out[1];
    j->x = filled(ctx, dtype, p->n, p->c, p->size, p->rank, 0.5);
    j->w = filled(ctx, dtype, p->o, p->c / p->groups, p->window, p->rank, 0.25);
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.body = body_conv, .inputs = 2, .outputs = 1, .env = j});
    for (int i = 0; i < 2; i++)
        lam_vjp(f, LAM_LIST(j->x, j->w), out, 1, &j->pullback[1 + i], &(lam_grad_options){.argnums = {1, &i}});
    j->g = lam_contiguous(lam_add(out[0], 1.0));
    const int64_t places = lam_size(out[0]) / p->o, terms = lam_size(j->w) / p->o, o = p->o / p->groups;
    const int64_t sizes[WAYS][3] = {{o, terms, places}, {terms, o, places}, {o, places, terms}};
    for (int way = 0; way < WAYS; way++) {
        const int64_t *n = sizes[way];
        j->a[way] = lam_contiguous(lam_full(ctx, dtype, LAM_DIMS(p->groups, n[0], n[1]), 0.25));
        j->b[way] = lam_contiguous(lam_full(ctx, dtype, LAM_DIMS(p->groups, n[1], n[2]), 0.5));
    }
}

/* Where each group has one feature, what is compared with is one pass over the operand. */
static void negate(void *env) {
    lam_drop(lam_neg(((job *)env)->x));
}

/* The operand is read, or where it is the result, written: as fast as the library can. */
static void pass(void *env) {
    job *j = env;
    if (j->by != 1) {
        lam_drop(lam_sum(j->x, NULL));
        return;
    }
    lam_tensor *zeros = lam_zeros_like(j->x); /* one that is seen everywhere */
    lam_drop(lam_contiguous(zeros));
    lam_drop(zeros);
}

static void begin(lam_ctx *ctx, lam_dtype dtype, const problem *p, int64_t strides[3], job *j) {
    for (int i = 0; i < 3; i++) strides[i] = p->stride;
    *j = (job){.options = {.strides = {p->rank, strides}, .padding = LAM_PAD_SAME, .feature_groups = p->groups}};
    prepare(ctx, dtype, p, j);
}

static void compare(lam_ctx *ctx, lam_dtype dtype, const problem *p) {
    lam_scope *scope = lam_scope_begin(ctx);
    int64_t strides[3];
    job j;
    begin(ctx, dtype, p, strides, &j);
    const bool single = p->c > 1 && p->groups == p->c;
    printf("%s %3d x %3d x %6d^%d, %3d of %2d^%d by %d, %2d groups %6s", lam_dtype_name(dtype), (int)p->n, (int)p->c,
           (int)p->size, p->rank, (int)p->o, (int)p->window, p->rank, (int)p->stride, (int)p->groups,
           single ? "neg" : "matmul");
    for (j.by = 0; j.by < WAYS; j.by++) {
        const double other = timing_median(single ? negate : multiply, &j, RUNS, 1);
        const double time = timing_median(convolve, &j, RUNS, 1);
        printf("%8.2f%6.2f", time / 1e6, time / other);
    }
    printf("\n");
    lam_scope_end(scope, NULL, 0);
}

/* ---- many shapes ------------------------------------------------------------------------------------------------- */

/* The least time of a call in some runs, each long enough for the clock. */
static double least(void (*work)(void *env), job *j) {
    double start = timing_now(), best;
    work(j);
    const double once = timing_now() - start;
    const int repeats = 1 + (int)(5e4 / once), runs = once > 1e6 ? 3 : 9;
    best = once;
    for (int run = 0; run < runs; run++) {
        start = timing_now();
        for (int i = 0; i < repeats; i++) work(j);
        const double time = (timing_now() - start) / repeats;
        if (time < best) best = time;
    }
    return best;
}

typedef struct tally {
    int cases, twice, thrice;
    double worst[WORST];
    problem of[WORST];
} tally;

static void count(tally *t, const problem *p, double ratio) {
    t->cases++;
    t->twice += ratio > 2;
    t->thrice += ratio > 3;
    int at = WORST;
    for (; at > 0 && ratio > t->worst[at - 1]; at--)
        if (at < WORST) t->worst[at] = t->worst[at - 1], t->of[at] = t->of[at - 1];
    if (at < WORST) t->worst[at] = ratio, t->of[at] = *p;
}

/* Without tallies a line for each way. */
static void count_shape(lam_ctx *ctx, lam_dtype dtype, const problem *p, tally *tallies) {
    int64_t strides[3];
    job j;
    lam_scope *scope = lam_scope_begin(ctx);
    begin(ctx, dtype, p, strides, &j);
    for (j.by = 0; j.by < WAYS; j.by++) {
        const double time = least(convolve, &j), other = least(multiply, &j), again = least(convolve, &j);
        const double best = time < again ? time : again;
        if (tallies) {
            const double memory = least(pass, &j);
            count(&tallies[j.by], p, best / other);
            count(&tallies[WAYS + j.by], p, best / (memory > other ? memory : other));
        } else
            printf("%d %d %d %d %d %d %d %.0f %.0f\n", (int)p->n, (int)p->c, (int)p->size, (int)p->o, (int)p->window,
                   (int)p->stride, j.by, best, other);
    }
    lam_scope_end(scope, NULL, 0);
}

static int64_t multiplications(const problem *p) {
    const int64_t out = p->size / p->stride;
    return p->n * p->c * p->o * p->window * p->window * out * out;
}

static void run_all(lam_ctx *ctx, tally *tallies) {
    enum { MOST = 300000000 };
    static const int images[][2] = {{1, 28},  {32, 28}, {1, 56}, {8, 56}, {1, 112},
                                    {4, 112}, {1, 224}, {16, 7}, {8, 14}},
                     features[][2] = {{1, 1},   {1, 4},  {1, 8},  {1, 16}, {1, 32},  {2, 2},  {3, 8},  {3, 16},
                                      {3, 32},  {3, 64}, {4, 4},  {4, 16}, {8, 1},   {8, 8},  {16, 1}, {16, 4},
                                      {16, 16}, {32, 1}, {32, 3}, {64, 1}, {32, 32}, {64, 64}};
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        for (size_t f = 0; f < sizeof features / sizeof *features; f++)
            for (int window = 1; window <= 7; window += 2)
                for (int stride = 1; stride <= 2; stride++) {
                    const problem p = {2, images[i][0], features[f][0], images[i][1], features[f][1], window, stride,
                                       1};
                    if (multiplications(&p) <= MOST) count_shape(ctx, LAM_F32, &p, tallies);
                }
}

static void print_tallies(const tally tallies[2 * WAYS]) {
    static const char *const names[WAYS] = {"forward", "by x", "by w"};
    for (int way = 0; way < 2 * WAYS; way++) {
        const tally *t = &tallies[way];
        printf("%-8s%5d cases, %4d of more than twice the time, %4d of more than three times%s\n", names[way % WAYS],
               t->cases, t->twice, t->thrice, way < WAYS ? "" : ", of the product or memory");
        for (int i = 0; i < WORST && t->worst[i] > 0; i++) {
            const problem *p = &t->of[i];
            printf("%10.2f  %2d x %2d x %3d^%d, %2d of %d^%d by %d, %d groups\n", t->worst[i], (int)p->n, (int)p->c,
                   (int)p->size, p->rank, (int)p->o, (int)p->window, p->rank, (int)p->stride, (int)p->groups);
        }
    }
}

static void count_all(lam_ctx *ctx) {
    tally tallies[2 * WAYS] = {{0}};
    run_all(ctx, tallies);
    print_tallies(tallies);
}

/* ---- networks ---------------------------------------------------------------------------------------------------- */

/* ResNet-50 and 18, and for images of 32 x 32; MobileNet; U-Net; a generator of images; patches of transformers;
 * groups; sounds; volumes. */
static const problem layers[] = {
    {2, 0, 3, 224, 64, 7, 2, 1},       {2, 0, 64, 56, 64, 1, 1, 1},     {2, 0, 64, 56, 64, 3, 1, 1},
    {2, 0, 64, 56, 256, 1, 1, 1},      {2, 0, 256, 56, 64, 1, 1, 1},    {2, 0, 128, 56, 128, 3, 2, 1},
    {2, 0, 256, 56, 512, 1, 2, 1},     {2, 0, 128, 28, 128, 3, 1, 1},   {2, 0, 512, 28, 128, 1, 1, 1},
    {2, 0, 256, 28, 256, 3, 2, 1},     {2, 0, 512, 28, 1024, 1, 2, 1},  {2, 0, 256, 14, 256, 3, 1, 1},
    {2, 0, 1024, 14, 256, 1, 1, 1},    {2, 0, 512, 14, 512, 3, 2, 1},   {2, 0, 1024, 14, 2048, 1, 2, 1},
    {2, 0, 512, 7, 512, 3, 1, 1},      {2, 0, 2048, 7, 512, 1, 1, 1},   {2, 0, 512, 7, 2048, 1, 1, 1},
    {2, 0, 64, 56, 128, 3, 2, 1},      {2, 0, 64, 56, 128, 1, 2, 1},    {2, 0, 256, 14, 512, 1, 2, 1},
    {2, 0, 3, 32, 16, 3, 1, 1},        {2, 0, 16, 32, 16, 3, 1, 1},     {2, 0, 16, 32, 32, 3, 2, 1},
    {2, 0, 16, 32, 32, 1, 2, 1},       {2, 0, 32, 16, 64, 3, 2, 1},     {2, 0, 64, 8, 64, 3, 1, 1},
    {2, 0, 3, 224, 32, 3, 2, 1},       {2, 0, 16, 112, 96, 1, 1, 1},    {2, 0, 96, 112, 96, 3, 2, 96},
    {2, 0, 96, 56, 24, 1, 1, 1},       {2, 0, 144, 56, 144, 3, 1, 144}, {2, 0, 192, 28, 192, 3, 2, 192},
    {2, 0, 120, 28, 120, 5, 1, 120},   {2, 0, 64, 14, 384, 1, 1, 1},    {2, 0, 384, 14, 384, 3, 1, 384},
    {2, 0, 960, 7, 960, 3, 1, 960},    {2, 0, 160, 7, 960, 1, 1, 1},    {2, 0, 96, 56, 96, 7, 1, 96},
    {2, 0, 1, 128, 32, 3, 1, 1},       {2, 0, 32, 128, 32, 3, 1, 1},    {2, 0, 32, 64, 64, 3, 1, 1},
    {2, 0, 256, 16, 256, 3, 1, 1},     {2, 0, 32, 128, 2, 1, 1, 1},     {2, 0, 32, 128, 64, 2, 2, 1},
    {2, 0, 3, 64, 64, 4, 2, 1},        {2, 0, 256, 16, 128, 4, 2, 1},   {2, 0, 3, 224, 96, 4, 4, 1},
    {2, 0, 3, 224, 192, 16, 16, 1},    {2, 0, 128, 56, 128, 3, 1, 32},  {2, 0, 256, 56, 256, 3, 2, 32},
    {2, 0, 240, 28, 240, 1, 1, 3},     {2, 0, 1, 28, 6, 5, 1, 1},       {2, 0, 6, 14, 16, 5, 1, 1},
    {1, 0, 1, 16000, 64, 10, 5, 1},    {1, 0, 512, 400, 512, 3, 2, 1},  {1, 0, 80, 1000, 384, 3, 1, 1},
    {1, 0, 1, 32000, 256, 16, 8, 1},   {1, 0, 64, 4000, 128, 2, 1, 1},  {1, 0, 32, 8000, 32, 11, 1, 1},
    {1, 0, 512, 1000, 512, 3, 1, 512}, {1, 0, 1, 8000, 32, 80, 4, 1},   {1, 0, 12, 1000, 64, 15, 2, 1},
    {3, 0, 1, 32, 16, 3, 1, 1},        {3, 0, 16, 32, 16, 3, 1, 1},     {3, 0, 16, 32, 32, 3, 2, 1},
};

static void count_networks(lam_ctx *ctx) {
    for (int d = 0; d < 2; d++)
        for (int n = 1; n <= 8; n += 7) {
            tally tallies[2 * WAYS] = {{0}};
            for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
                problem p = layers[i];
                p.n = n;
                count_shape(ctx, d ? LAM_F64 : LAM_F32, &p, tallies);
            }
            printf("%s, examples: %d\n", lam_dtype_name(d ? LAM_F64 : LAM_F32), n);
            print_tallies(tallies);
        }
}

/* ---- some shapes ------------------------------------------------------------------------------------------------- */

static const problem problems[] = {
    {2, 4, 3, 64, 32, 3, 1, 1},    {2, 4, 32, 32, 64, 3, 1, 1},    {2, 4, 64, 28, 64, 3, 1, 1},
    {2, 8, 128, 7, 128, 3, 1, 1},  {2, 4, 64, 28, 128, 3, 2, 1},   {2, 4, 64, 28, 64, 1, 1, 1},
    {2, 4, 64, 56, 64, 3, 1, 64},  {2, 8, 512, 7, 512, 3, 1, 512}, {2, 4, 64, 28, 64, 3, 1, 4},
    {2, 4, 64, 28, 64, 3, 1, 32},  {1, 1, 1, 300000, 1, 25, 1, 1}, {1, 4, 16, 4000, 16, 25, 1, 1},
    {3, 1, 16, 20, 16, 3, 1, 1},   {2, 4, 3, 64, 32, 3, 2, 1},     {2, 4, 3, 64, 64, 4, 4, 1},
    {2, 8, 1, 28, 32, 3, 2, 1},    {2, 4, 64, 28, 1, 3, 2, 1},     {2, 4, 64, 28, 64, 3, 2, 32},
    {1, 4, 64, 1000, 64, 3, 2, 1}, {1, 8, 1, 2000, 16, 16, 8, 1},  {3, 1, 1, 32, 8, 3, 2, 1},
    {3, 1, 16, 20, 16, 3, 2, 1},
};

int main(int argc, char **argv) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    if (argc > 1 && !strcmp(argv[1], "all")) {
        count_all(ctx);
    } else if (argc > 1 && !strcmp(argv[1], "each")) {
        run_all(ctx, NULL);
    } else if (argc > 1 && !strcmp(argv[1], "networks")) {
        count_networks(ctx);
    } else {
        printf("%56s%8s%6s%8s%6s%8s%6s\n", "", "conv", "ratio", "by x", "ratio", "by w", "ratio");
        for (int d = 0; d < 2; d++)
            for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
                compare(ctx, d ? LAM_F64 : LAM_F32, &problems[i]);
    }
    if (lam_status_of(ctx) != LAM_OK) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return EXIT_SUCCESS;
}
