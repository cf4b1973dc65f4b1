/* Per-example gradients, and a training loop that holds its memory: logistic regression on Fisher's iris flowers.
 *
 * The loss is written for one flower. vmap(value_and_grad(loss)), mapped over the flowers and not over the weights,
 * gives the loss and gradient of each flower by itself in one pass. Training clips each of these gradients to length 1
 * before it takes their mean, as differentially private training does; no gradient of a mean could give that.
 *
 * An iteration makes its tensors in a scope and leaves only what lam_assign_ put into `weights`, a tensor that is older
 * than the scope. So memory after 300 iterations is what it was after the first. */
#include <lamina/lamina.h>

#include "data/iris.h"

enum { FEATURES = IRIS_COLUMNS + 1, ROWS = 2 * IRIS_ROWS_PER_CLASS, FIRST = IRIS_ROWS_PER_CLASS, STEPS = 300 };

/* weights[FEATURES], flower[FEATURES], label (0 or 1) -> -log of the probability that the model gives to the label. */
static void loss(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    lam_tensor *score = lam_sum(lam_mul(in[0], in[1]), NULL);
    out[0] = lam_sub(lam_logaddexp(0.0, score), lam_mul(in[2], score));
}

/* The last two species, versicolor (0) and virginica (1), which no plane separates. */
static void fill(double flowers[ROWS][FEATURES], double labels[ROWS]) {
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < IRIS_COLUMNS; j++) flowers[i][j] = iris_rows[FIRST + i][j] - iris_rows[FIRST][j];
        flowers[i][IRIS_COLUMNS] = 1; /* its weight is the offset */
        labels[i] = i >= IRIS_ROWS_PER_CLASS;
    }
}

static lam_tensor *mean_of_rows(lam_tensor *rows) {
    return lam_div(lam_sum(rows, &(lam_reduce_options){.axes = LAM_AXES(0)}), ROWS);
}

/* One step. Gives the mean loss before it, and the length of the longest gradient before clipping. */
static void step(lam_ctx *ctx, lam_fn *each, lam_tensor *weights, lam_tensor *flowers, lam_tensor *labels,
                 double seen[2]) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_tensor *out[2];
    lam_call(each, LAM_LIST(weights, flowers, labels), out, 2); /* out[0]: [ROWS], out[1]: [ROWS][FEATURES] */
    lam_tensor *lengths =
        lam_sqrt(lam_sum(lam_square(out[1]), &(lam_reduce_options){.axes = LAM_AXES(1), .keepdims = true}));
    lam_tensor *clipped = lam_div(out[1], lam_max(lengths, 1.0));
    lam_assign_(weights, lam_sub(weights, lam_mul(1.0, mean_of_rows(clipped))));
    seen[0] = lam_item(mean_of_rows(out[0]));
    seen[1] = lam_item(lam_max_reduce(lengths, NULL));
    lam_scope_end(scope, NULL, 0);
}

static int right_answers(lam_tensor *weights, lam_tensor *flowers, lam_tensor *labels) {
    lam_tensor *scores = lam_sum(lam_mul(flowers, weights), &(lam_reduce_options){.axes = LAM_AXES(1)});
    return (int)lam_item(lam_sum(lam_eq(lam_gt(scores, 0.0), lam_gt(labels, 0.5)), NULL));
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    double data[ROWS][FEATURES], classes[ROWS], seen[2];
    fill(data, classes);
    lam_tensor *flowers = lam_array(ctx, LAM_F64, LAM_DIMS(ROWS, FEATURES), data);
    lam_tensor *labels = lam_array(ctx, LAM_F64, LAM_DIMS(ROWS), classes);
    lam_tensor *weights = lam_zeros(ctx, LAM_F64, LAM_DIMS(FEATURES));
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "loss", .body = loss, .inputs = 3, .outputs = 1});
    lam_fn *each = lam_vmap(lam_value_and_grad(f, NULL), &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0, 0)});

    size_t bytes = 0;
    for (int i = 0; i < STEPS; i++) {
        if (i == STEPS / 2) bytes = lam_ctx_bytes(ctx);
        step(ctx, each, weights, flowers, labels, seen);
        if (i % 100 == 0) printf("before step %3d: loss %.4f, longest gradient %.3f\n", i, seen[0], seen[1]);
    }
    printf("memory grew by %zu bytes in the second half of the steps\n", lam_ctx_bytes(ctx) - bytes);
    printf("loss %.4f, %d of %d flowers right\n", seen[0], right_answers(weights, flowers, labels), ROWS);
    printf("weights: ");
    lam_print(stdout, weights);

    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return failed;
}
