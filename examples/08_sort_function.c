/* A sort that happens in foreign C code, with derivatives. The Function `sort` calls qsort on raw numbers; its backward
 * is a second Function, `take`, which moves numbers along an axis by another foreign loop; its own derivative rules are
 * itself again. Each has a batching rule written by hand, so a batch is one foreign call, not a loop over examples. The
 * rest of the program uses sort like any operation and does not know that foreign code is below. */
#include <lamina/lamina.h>

#include <math.h>
#include <stdlib.h>

/* ---- the foreign code: it knows rows of numbers only ---- */

typedef struct item {
    double value;
    int64_t place;
} item;

/* Rising, NaN last, equal ones as they stood. */
static int compare(const void *a, const void *b) {
    const item *p = a, *q = b;
    int unordered = !!isnan(p->value) - !!isnan(q->value);
    int order = unordered ? unordered : (p->value > q->value) - (p->value < q->value);
    return order ? order : (p->place > q->place) - (p->place < q->place);
}

static void sort_row(const double *x, int64_t n, double *sorted, int64_t *from, int64_t *to, item *items) {
    for (int64_t i = 0; i < n; i++) items[i] = (item){x[i], i};
    qsort(items, (size_t)n, sizeof *items, compare);
    for (int64_t i = 0; i < n; i++) {
        sorted[i] = items[i].value;
        from[i] = items[i].place;
        to[items[i].place] = i;
    }
}

/* ---- what both Functions share ---- */

/* Their plain argument: which axis. */
typedef struct along {
    int axis;
} along;

static int axis_of(const lam_fctx *fc) {
    return ((const along *)lam_fctx_attrs(fc))->axis;
}

/* Raw numbers of x, row by row along the axis; NULL, with a failure recorded, where there are none to see. */
static const void *rows(const lam_fctx *fc, lam_tensor *x) {
    return lam_data(lam_contiguous(lam_moveaxis(x, axis_of(fc), -1)));
}

static void *room(const lam_fctx *fc, int64_t count, size_t size) {
    void *memory = malloc((size_t)count * size + 1);
    if (!memory) lam_fail(lam_fctx_ctx(fc), LAM_ERR_MEMORY, "no memory for %lld items", (long long)count);
    return memory;
}

/* The way back: a tensor like x from the numbers of its rows. */
static lam_tensor *from_rows(const lam_fctx *fc, lam_tensor *x, lam_dtype dtype, const void *data) {
    lam_dims dims = lam_dims_of(lam_moveaxis(x, axis_of(fc), -1));
    return lam_moveaxis(lam_array(lam_fctx_ctx(fc), dtype, dims, data), -1, axis_of(fc));
}

/* ---- the second Function: take(x, from, to) has x[from[i]] in place i; `to` is the inverse permutation ---- */

static const lam_function take;

static void take_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    int64_t n = lam_dim(in[0], axis_of(fc)), size = lam_size(in[0]);
    const double *x = rows(fc, in[0]);
    const int64_t *from = rows(fc, in[1]);
    double *taken = room(fc, size, sizeof *taken);
    if (x && from && taken) {
        for (int64_t i = 0; i < size; i++) taken[i] = x[i / n * n + from[i]];
        out[0] = from_rows(fc, in[0], LAM_F64, taken);
    }
    free(taken);
}

static void take_setup(lam_fctx *fc, lam_tensor *const in[], lam_tensor *const out[]) {
    (void)out;
    lam_fctx_save_for_backward(fc, LAM_LIST(in[1], in[2]));
}

static lam_tensor *apply_take(const lam_fctx *fc, lam_tensor *x, lam_tensor *from, lam_tensor *to) {
    lam_tensor *out;
    lam_function_apply(lam_fctx_ctx(fc), &take, lam_fctx_attrs(fc), LAM_LIST(x, from, to), &out, 1);
    return out;
}

/* Tangents go where x goes, cotangents go back. Both apply the Function again, so both can be differentiated. */
static void take_jvp(lam_fctx *fc, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[0] = apply_take(fc, dx[0], lam_fctx_saved(fc, 0), lam_fctx_saved(fc, 1));
}

static void take_backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = apply_take(fc, g[0], lam_fctx_saved(fc, 1), lam_fctx_saved(fc, 0));
}

/* The batch axis in front; an input that has none is repeated. */
static lam_tensor *batch_first(lam_tensor *x, int axis, int64_t size) {
    int64_t dims[LAM_MAX_RANK + 1] = {size};
    if (axis != LAM_UNMAPPED) return lam_moveaxis(x, axis, 0);
    for (int i = 0; i < lam_rank(x); i++) dims[1 + i] = lam_dim(x, i);
    return lam_broadcast_to(x, (lam_dims){lam_rank(x) + 1, dims});
}

/* The same axis in a tensor with one more in front. */
static along behind_batch(const lam_fctx *fc) {
    int axis = axis_of(fc);
    return (along){axis < 0 ? axis : axis + 1};
}

/* The result has the type of x. With this, and being linear, take is an operation to lam_linearize and its kin, too,
 * which know types only and would otherwise look into forward. */
static void take_shape(lam_fctx *fc, const lam_type in[], lam_type out[]) {
    (void)fc;
    out[0] = in[0];
}

static void take_vmap(lam_fctx *fc, const lam_vmap_info *info, const int in_axes[], lam_tensor *const in[],
                      lam_tensor *out[], int out_axes[]) {
    along inner = behind_batch(fc);
    lam_tensor *batched[3];
    for (int i = 0; i < 3; i++) batched[i] = batch_first(in[i], in_axes[i], info->batch_size);
    lam_function_apply(lam_fctx_ctx(fc), &take, &inner, (lam_list){3, batched}, out, 1);
    out_axes[0] = 0;
}

static const lam_function take = {.name = "take",
                                  .inputs = 3,
                                  .outputs = 1,
                                  .attrs_size = sizeof(along),
                                  .forward = take_forward,
                                  .setup_context = take_setup,
                                  .backward = take_backward,
                                  .jvp = take_jvp,
                                  .vmap = take_vmap,
                                  .shape = take_shape,
                                  .is_linear = true};

/* ---- the first Function: sort(x) gives the sorted values, from where each came, and to where each went ---- */

static const lam_function sort;

static void sort_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    int64_t n = lam_dim(in[0], axis_of(fc)), size = lam_size(in[0]);
    const double *x = rows(fc, in[0]);
    double *sorted = room(fc, size, sizeof *sorted);
    int64_t *from = room(fc, size, sizeof *from), *to = room(fc, size, sizeof *to);
    item *items = room(fc, n, sizeof *items);
    if (x && sorted && from && to && items) {
        for (int64_t at = 0; at < size; at += n) sort_row(x + at, n, sorted + at, from + at, to + at, items);
        out[0] = from_rows(fc, in[0], LAM_F64, sorted);
        out[1] = from_rows(fc, in[0], LAM_I64, from);
        out[2] = from_rows(fc, in[0], LAM_I64, to);
    }
    free(sorted), free(from), free(to), free(items);
}

/* What take saves, in the same order, so the derivative rules are those of take. That the permutations themselves have
 * no derivative goes without saying, since they are integers. */
static void sort_setup(lam_fctx *fc, lam_tensor *const in[], lam_tensor *const out[]) {
    (void)in;
    lam_fctx_save_for_backward(fc, LAM_LIST(out[1], out[2]));
}

static void sort_vmap(lam_fctx *fc, const lam_vmap_info *info, const int in_axes[], lam_tensor *const in[],
                      lam_tensor *out[], int out_axes[]) {
    along inner = behind_batch(fc);
    lam_tensor *x = batch_first(in[0], in_axes[0], info->batch_size);
    lam_function_apply(lam_fctx_ctx(fc), &sort, &inner, LAM_LIST(x), out, 3);
    for (int o = 0; o < 3; o++) out_axes[o] = 0;
}

static const lam_function sort = {.name = "sort",
                                  .inputs = 1,
                                  .outputs = 3,
                                  .attrs_size = sizeof(along),
                                  .forward = sort_forward,
                                  .setup_context = sort_setup,
                                  .backward = take_backward,
                                  .jvp = take_jvp,
                                  .vmap = sort_vmap};

/* ---- using it ---- */

static lam_tensor *sorted(lam_ctx *ctx, lam_tensor *x, int axis) {
    lam_tensor *out[3];
    lam_function_apply(ctx, &sort, &(along){axis}, LAM_LIST(x), out, 3);
    return out[0];
}

static void sorted_last(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)env;
    out[0] = sorted(ctx, in[0], -1);
}

/* The sum of the cubed gaps between neighbours. For 4, 1, 2 the gaps are 1 and 2, so the sum is 1 + 8; by the sorted
 * values 1, 2, 4 its gradient is -3, 3 - 12, 12, and its Hessian [[6, -6, 0], [-6, 18, -12], [0, -12, 12]]. */
static void cubed_gaps(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)env;
    lam_tensor *s = sorted(ctx, in[0], 0);
    lam_tensor *gaps = lam_sub(lam_slice_axis(s, 0, 1, LAM_END), lam_slice_axis(s, 0, 0, -1));
    out[0] = lam_sum(lam_integer_pow(gaps, 3), NULL);
}

static void show(const char *what, lam_tensor *x) {
    printf("%s\n  ", what);
    lam_print(stdout, x);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn *s = lam_fn_new(ctx, &(lam_fn_options){.name = "sorted", .body = sorted_last, .inputs = 1, .outputs = 1});
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "cubed_gaps", .body = cubed_gaps, .inputs = 1, .outputs = 1});
    lam_tensor *x = lam_array(ctx, LAM_F64, LAM_DIMS(3), (double[]){4, 1, 2}), *all[3];
    lam_tensor *batch = lam_array(ctx, LAM_F64, LAM_DIMS(2, 3), (double[]){4, 1, 2, 0, 3, 1});

    lam_function_apply(ctx, &sort, &(along){0}, LAM_LIST(x), all, 3);
    show("sort: values, from where each came, to where each went", all[0]);
    printf("  "), lam_print(stdout, all[1]);
    printf("  "), lam_print(stdout, all[2]);
    show("jacrev(sort): the permutation as a matrix", lam_apply(lam_jacrev(s, NULL), LAM_LIST(x)));
    show("jacfwd(sort): the same, by jvp", lam_apply(lam_jacfwd(s, NULL), LAM_LIST(x)));
    show("jacobian(sort): the same, recorded once and transposed", lam_apply(lam_jacobian(s, NULL), LAM_LIST(x)));
    show("f: the sum of the cubed gaps", lam_apply(f, LAM_LIST(x)));
    show("grad(f)", lam_apply(lam_grad(f, NULL), LAM_LIST(x)));
    show("hessian(f)", lam_apply(lam_hessian(f, NULL), LAM_LIST(x)));
    show("vmap(sort): rows", lam_apply(lam_vmap(s, NULL), LAM_LIST(batch)));
    lam_vmap_options columns = {.in_axes = LAM_AXES(1), .out_axes = LAM_AXES(1)};
    show("vmap(sort): columns", lam_apply(lam_vmap(s, &columns), LAM_LIST(batch)));
    show("vmap(grad(f))", lam_apply(lam_vmap(lam_grad(f, NULL), NULL), LAM_LIST(batch)));
    show("vmap(hessian(f))", lam_apply(lam_vmap(lam_hessian(f, NULL), NULL), LAM_LIST(batch)));

    int failed = lam_status_of(ctx) != LAM_OK;
    if (failed) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    return failed;
}
