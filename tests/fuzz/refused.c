/* Memory that is refused, of the transforms: scenarios for the sweep. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "tests/fuzz/sweep.h"

#include <stdlib.h>

enum { N = 3 };

static const double at[N] = {0.3, -0.7, 1.1};

static lam_tensor *point(void) {
    return lam_array(ctx, LAM_F64, LAM_DIMS(N), at);
}

/* The sum of sin(x) exp(x shifted by one), through a view, a reduction and a product. */
BODY(scalar) {
    lam_tensor *shifted =
        lam_concatenate(LAM_LIST(lam_slice_axis(in[0], 0, 1, LAM_END), lam_slice_axis(in[0], 0, 0, 1)), 0);
    out[0] = lam_sum(lam_mul(lam_sin(in[0]), lam_exp(shifted)), NULL);
}

BODY(vector) {
    lam_tensor *sum = lam_sum(lam_square(in[0]), NULL);
    out[0] = lam_mul(lam_cos(in[0]), sum);
}

BODY(linear) {
    out[0] = lam_add(lam_mul(3, in[0]), lam_reverse(in[0], (lam_axes){0, NULL}));
}

static double total(lam_tensor *t) {
    return lam_item(lam_sum(lam_mul(t, t), NULL));
}

/* ---- scenarios ------------------------------------------------------------------------------------------------- */

static double run_grad(void) {
    return total(apply1(lam_grad(FN(scalar, 1, 1), NULL), point()));
}

BODY(norm_of_gradient) {
    lam_tensor *g = apply1(lam_grad(FN(scalar, 1, 1), NULL), in[0]);
    out[0] = lam_sum(lam_square(g), NULL);
}

static double run_nested_grad(void) {
    return total(apply1(lam_grad(FN(norm_of_gradient, 1, 1), NULL), point()));
}

static double run_vmap_chunked(void) {
    lam_tensor *x =
        lam_mul(lam_reshape(point(), LAM_DIMS(1, N)), lam_reshape(lam_arange(ctx, LAM_F64, 1, 6, 1), LAM_DIMS(5, 1)));
    return total(apply1(
        lam_vmap(lam_grad(FN(scalar, 1, 1), NULL), &(lam_vmap_options){.chunk_size = 2, .axis_name = "rows"}), x));
}

static double run_jacobians(void) {
    lam_jacobian_options by_two = {.chunk_size = 2};
    lam_fn *f = FN(vector, 1, 1);
    double sum = total(apply1(lam_jacfwd(f, &by_two), point())) + total(apply1(lam_jacrev(f, NULL), point()));
    return sum + total(apply1(lam_jacobian(f, &by_two), point()));
}

static double run_hessians(void) {
    lam_tensor *out[3];
    lam_fn *f = FN(scalar, 1, 1);
    double sum = total(apply1(lam_hessian(f, NULL), point()));
    lam_call(lam_value_grad_and_hessian(f, NULL), LAM_LIST(point()), out, 3);
    sum += total(out[0]) + total(out[1]) + total(out[2]);
    lam_call(lam_hvp(f, NULL), LAM_LIST(point(), point()), out, 3);
    return sum + total(out[0]) + total(out[1]) + total(out[2]);
}

static double run_sparse(void) {
    lam_fn *f = FN(vector, 1, 1), *s = FN(scalar, 1, 1);
    lam_tensor *j = lam_jacobian_sparsity(f, LAM_LIST(point()), NULL);
    lam_tensor *h = lam_hessian_sparsity(s, LAM_LIST(point()), NULL);
    return total(apply1(lam_sparse_jacobian(f, j, NULL), point())) +
           total(apply1(lam_sparse_hessian(s, h, NULL), point()));
}

/* A tangent that is zero is made before that of the auxiliary output is dropped. */
BODY(of_second_and_sine) {
    out[0] = lam_sum(in[1], NULL);
    out[1] = lam_sin(in[0]);
}

static double run_jvp_aux(void) {
    lam_tensor *out[2], *tangent;
    const lam_grad_options aux = {.has_aux = 1};
    lam_list x = LAM_LIST(point(), point()), dx = LAM_LIST(point(), NULL);
    lam_jvp(FN(of_second_and_sine, 2, 2), x, dx, out, &tangent, 2, &aux);
    return total(out[0]) + total(out[1]) + total(tangent);
}

/* Rules that look at the axes of what they have made: of windows behind a leading axis, of groups in a batch. */
BODY(windowed) {
    lam_tensor *rows = lam_reshape(in[0], LAM_DIMS(1, N));
    out[0] = lam_sum(lam_square(lam_reduce_window_max(rows, &(lam_window_options){.window = LAM_DIMS(2)})), NULL);
}

BODY(convolved) {
    out[0] = lam_conv_general(in[0], in[1], NULL);
}

static double run_windows(void) {
    lam_fn *both = lam_vmap(FN(convolved, 2, 1), NULL);
    lam_fn *groups = lam_vmap(both, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)});
    lam_tensor *x = lam_ones(ctx, LAM_F64, LAM_DIMS(2, 2, 1, 1, N)), *w = lam_ones(ctx, LAM_F64, LAM_DIMS(2, 1, 1, 2));
    lam_tensor *row = lam_reshape(point(), LAM_DIMS(1, N, 1)), *pair = lam_ones(ctx, LAM_F64, LAM_DIMS(2, 1, 1));
    return total(apply1(lam_hessian(FN(windowed, 1, 1), NULL), point())) + total(apply2(groups, x, w)) +
           total(lam_conv_general(row, pair, &(lam_conv_options){.layout_x = "NWC", .layout_w = "WIO"}));
}

static double run_linearize(void) {
    lam_tensor *y;
    lam_fn *push;
    lam_linearize(FN(vector, 1, 1), LAM_LIST(point()), &y, 1, &push, NULL);
    lam_tensor *columns = apply1(lam_vmap(push, NULL), lam_eye(ctx, LAM_F64, N, N));
    return total(y) + total(columns) + total(apply1(lam_linear_transpose(push, LAM_LIST(point())), y));
}

static double run_transpose(void) {
    return total(apply1(lam_linear_transpose(FN(linear, 1, 1), LAM_LIST(point())), point()));
}

/* The gradient by its second input is made behind that by the first. */
BODY(of_first) {
    out[0] = lam_sum(lam_square(in[0]), NULL);
}

static double run_checkpoint(void) {
    lam_tensor *g[2];
    const lam_grad_options both = {.argnums = LAM_AXES(0, 1)};
    lam_fn *of_both = lam_grad(lam_checkpoint(FN(of_first, 2, 1), NULL), &both);
    lam_call(of_both, LAM_LIST(point(), point()), g, 2);
    lam_trace(of_both, LAM_LIST(point(), point()));
    lam_fn *f = lam_checkpoint(FN(scalar, 1, 1), NULL);
    lam_tensor *rows = lam_broadcast_to(point(), LAM_DIMS(2, N));
    return total(g[0]) + total(g[1]) + total(apply1(lam_grad(f, NULL), point())) +
           total(apply1(lam_vmap(lam_grad(f, NULL), NULL), rows));
}

BODY(named_sine) {
    out[0] = lam_sum(lam_square(lam_checkpoint_name(lam_sin(in[0]), "sine")), NULL);
}

/* A policy around another one. */
static double run_checkpoint_keeping(void) {
    const char *names[] = {"sine"};
    const lam_checkpoint_options keeps = {.policy = LAM_CHECKPOINT_NAMED, .names = names, .name_count = 1};
    lam_fn *f = lam_checkpoint(FN(named_sine, 1, 1), &keeps);
    return total(apply1(lam_grad(f, NULL), point())) +
           total(apply1(lam_hessian(lam_checkpoint(f, &keeps), NULL), point()));
}

static double run_in_place(void) {
    lam_tensor *x = point(), *view = lam_slice_axis(x, 0, 0, 2);
    lam_add_(x, view == x ? x : lam_ones_like(x));
    lam_mul_(x, x);
    lam_set_(x, view, LAM_DIMS(1), LAM_DIMS(3), LAM_DIMS0);
    lam_assign_(x, lam_sin(x));
    return total(x) + total(view);
}

static int released;

static void count_release(void *env, void *data) {
    (void)env, (void)data;
    released++;
}

static double run_borrow(void) {
    double lent[2 * N] = {1, 2, 3, 4, 5, 6};
    lam_borrow_options options = {.strides = LAM_DIMS(2), .release = count_release};
    released = 0;
    lam_scope *scope = lam_scope_begin(ctx);
    double sum = total(lam_borrow(ctx, LAM_F64, LAM_DIMS(N), lent, &options));
    lam_scope_end(scope, NULL, 0);
    if (scope) ck_assert_int_eq(released, 1);
    return sum;
}

static double run_pullback(void) {
    lam_tensor *y;
    lam_fn *pull;
    lam_scope *scope = lam_scope_begin(ctx);
    lam_vjp(FN(vector, 1, 1), LAM_LIST(point()), &y, 1, &pull, NULL);
    lam_fn *held = lam_fn_hold(pull);
    lam_scope_end(scope, &y, 1);
    double sum = total(apply1(held, y)) + total(apply1(lam_vmap(held, NULL), lam_eye(ctx, LAM_F64, N, N)));
    lam_fn_release(held);
    return sum;
}

static double run_check(void) {
    return lam_check_grads(FN(scalar, 1, 1), LAM_LIST(point()), &(lam_check_grads_options){.order = 2}) == LAM_OK;
}

BODY(with_capture) {
    out[0] = lam_sum(lam_mul(in[0], lam_sin(in[1])), NULL);
    out[1] = in[0];
}

static double run_captures(void) {
    lam_tensor *out[3], *held = lam_hold(point());
    lam_fn *f = lam_fn_new(
        ctx, &(lam_fn_options){
                 .name = "with_capture", .body = with_capture, .inputs = 1, .outputs = 2, .captures = LAM_LIST(held)});
    lam_call(lam_value_and_grad(f, &(lam_grad_options){.has_aux = 1}), LAM_LIST(point()), out, 3);
    double sum = total(out[0]) + total(out[1]) + total(out[2]);
    lam_release(held);
    return sum;
}

/* x, c -> c x^2, and the two rules of it, each of which captures c: x, c; residual, cotangent, c. */
BODY(scaled) {
    out[0] = lam_mul(in[1], lam_square(in[0]));
}

BODY(scaled_fwd) {
    out[0] = lam_mul(in[1], lam_square(in[0]));
    out[1] = in[0];
}

BODY(scaled_bwd) {
    out[0] = lam_mul(lam_mul(2.0, in[2]), lam_mul(in[0], in[1]));
}

static lam_fn *capturing(lam_body body, int inputs, int outputs, lam_tensor *c) {
    return lam_fn_new(
        ctx,
        &(lam_fn_options){.name = "rule", .body = body, .inputs = inputs, .outputs = outputs, .captures = LAM_LIST(c)});
}

BODY(capturing_rules) {
    lam_fn *f = lam_custom_vjp(capturing(scaled, 1, 1, in[1]), capturing(scaled_fwd, 1, 2, in[1]),
                               capturing(scaled_bwd, 2, 1, in[1]), NULL);
    out[0] = apply1(f, lam_on_gradient(in[0], capturing(scaled, 1, 1, in[1]), NULL));
}

static double run_capturing_rules(void) {
    return total(apply2(lam_vmap(lam_grad(FN(capturing_rules, 2, 1), NULL), NULL), point(), point())) +
           total(apply2(lam_vmap(FN(capturing_rules, 2, 1), NULL), point(), point()));
}

/* Operations that look at results on their way. */
static double run_arranged(void) {
    lam_tensor *x = point(), *row, *column, *o[2],
               *counts = lam_array(ctx, LAM_I64, LAM_DIMS(N), (int64_t[N]){1, 0, 2});
    double sum = total(lam_insert(lam_delete(x, LAM_DIMS(1), 0), LAM_DIMS(0, 2, 1), x, 0)) +
                 total(lam_insert(x, LAM_DIMS(1), lam_sin(x), 0)) + total(lam_compress(lam_gt(x, 0.0), x, 4, 5, 0)) +
                 total(lam_repeat_each(x, counts, 4, 0)) + total(lam_choose(counts, LAM_LIST(x, x, lam_square(x)))) +
                 total(lam_pad_with(x, LAM_DIMS(2), LAM_DIMS(1), LAM_PAD_REFLECT)) +
                 total(lam_segment_sum(x, counts, 2)) + total(lam_resize(x, LAM_DIMS(2, 2)));
    lam_triu_indices(ctx, 3, 4, -1, &row, &column);
    lam_broadcast_arrays(LAM_LIST(x, lam_expand_dims(x, 1)), o, 2);
    sum += total(row) + total(column) + total(o[0]) + total(o[1]);
    lam_sort_together(LAM_LIST(x, lam_neg(x)), 1, 0, o, 2);
    return sum + total(o[0]) + total(o[1]) + total(lam_block(LAM_LIST(lam_eye(ctx, LAM_F64, 2, 2)), 1, 1));
}

static double run_sets(void) {
    lam_tensor *x = point(), *count, *y = lam_concatenate(LAM_LIST(x, lam_square(x)), 0);
    double sum = total(lam_set_intersection(x, y, 4, 2, &count)) + lam_item(count);
    sum += total(lam_set_symmetric_difference(x, y, 4, 2, &count)) + lam_item(count);
    lam_tensor *edges = lam_histogram_edges(y, 3), *points = lam_reshape(y, LAM_DIMS(N, 2));
    return sum + total(lam_histogram_nd(points, LAM_LIST(edges, edges), NULL));
}

static double run_parts(void) {
    lam_tensor *x = point(), *o[2], *holes = lam_where(lam_lt(x, 0.0), (double)NAN, x);
    double sum = total(lam_nanquantile(holes, lam_mul(0.5, lam_abs(x)), NULL)) + total(lam_poly(x)) +
                 total(lam_simpson(x, NULL, 0.5, 0)) + total(lam_kaiser(ctx, LAM_F64, 4, 2));
    lam_frexp(x, &o[0], &o[1]);
    sum += total(o[0]) + total(o[1]);
    lam_modf(x, &o[0], &o[1]);
    sum += total(o[0]) + total(o[1]);
    lam_polydiv(lam_polymul(x, x), lam_slice_axis(x, 0, 0, 2), &o[0], &o[1]);
    return sum + total(o[0]) + total(o[1]) + total(lam_cast(lam_bitcast(x, LAM_U8), LAM_F64));
}

BODY(product) {
    out[0] = lam_mul(in[0], in[1]);
}

/* What is converted first: a conversion that fails has no axes to count on. */
static double run_converted(void) {
    lam_tensor *x = lam_cast(lam_round(lam_mul(3, point())), LAM_I64), *b = lam_lt(x, 0), *o[2];
    double sum = total(lam_poly(b)) + total(lam_polyint(x, 2)) + total(lam_simpson(b, NULL, 0.5, 0)) +
                 total(lam_trapezoid(x, x, 1, 0)) + total(lam_reduce(FN(product, 2, 1), point(), num(1), NULL));
#if defined(LAM__HAVE_FFTW)
    const lam_stft_options two = {.nperseg = 2};
    sum += total(lam_istft(lam_stft(x, &two), &two));
#endif
    lam_tensor *pairs[2], *matrix = lam_cast(lam_diag(x, 0), LAM_F64);
    if (lam_tril_indices(ctx, 3, 2, 0, &o[0], &o[1]) == LAM_OK) sum += total(o[0]) + total(o[1]);
    if (lam_unravel_index(x, LAM_DIMS(2, 3), o) == LAM_OK) sum += total(o[0]) + total(o[1]);
    if (lam_meshgrid(LAM_LIST(x, x), pairs, 2) == LAM_OK) sum += total(pairs[0]) + total(pairs[1]);
    if (lam_polar(matrix, &o[0], &o[1]) == LAM_OK) sum += total(o[0]) + total(o[1]);
    return sum;
}

BODY(affine) {
    out[0] = lam_mul(in[0], in[2]);
    out[1] = lam_add(lam_mul(in[1], in[2]), in[3]);
}

static double run_scan(void) {
    lam_tensor *x = lam_concatenate(LAM_LIST(point(), point()), 0), *o[2], *bits = lam_bitcast(x, LAM_I64);
    lam_associative_scan(FN(affine, 4, 2), LAM_LIST(x, lam_sin(x)), 0, true, o, 2);
    return total(o[0]) + total(o[1]) + total(lam_cast(lam_xor_reduce(bits, NULL), LAM_F64));
}

BODY(shrink) {
    out[0] = lam_mul(0.5, in[0]);
}

BODY(lifted) {
    out[0] = lam_exp(in[0]);
}

BODY(above_one) {
    out[0] = lam_gt(in[0], 1.0);
}

BODY(chosen) {
    lam_tensor *y, *mean = lam_pmean(in[0], "batch");
    lam_cond(lam_gt(in[0], mean), FN(shrink, 1, 1), FN(lifted, 1, 1), LAM_LIST(in[0]), &y, 1);
    lam_while(FN(above_one, 1, 1), FN(shrink, 1, 1), LAM_LIST(lam_mul(4.0, y)), &out[0], 1);
}

BODY(carried) {
    out[0] = lam_mul(in[0], in[1]);
    out[1] = lam_sin(out[0]);
}

static double run_control(void) {
    lam_tensor *x = point(), *o[2];
    lam_fn *each = lam_vmap(lam_grad(FN(chosen, 1, 1), NULL), &(lam_vmap_options){.axis_name = "batch"});
    lam_scan(FN(carried, 2, 2), LAM_LIST(lam_sum(x, NULL)), LAM_LIST(x), o, 2, NULL);
    return total(apply1(each, lam_concatenate(LAM_LIST(x, lam_mul(-3.0, x)), 0))) + total(o[0]) + total(o[1]);
}

static double run_control_recorded(void) {
    lam_fn *each = lam_vmap(lam_grad(FN(chosen, 1, 1), NULL), &(lam_vmap_options){.axis_name = "batch"});
    return total(apply1(lam_jit(each, NULL), point()));
}

/* What is written; an order needs scratch, a table is a constant. */
BODY(emitted) {
    lam_tensor *table = lam_arange(ctx, LAM_F64, 1, N + 1, 1);
    out[0] = lam_cumsum(lam_mul(lam_take(in[0], lam_argsort(lam_sin(in[0]), 0), 0), table), 0);
}

static double run_emitted(void) {
    FILE *file = tmpfile();
    lam_emit_c(lam_trace(FN(emitted, 1, 1), LAM_LIST(point())), file, NULL);
    const double bytes = (double)ftell(file);
    fclose(file);
    return bytes;
}

/* A program, from its text, and its gradient; and the types of what is not computed. */
static double run_program(void) {
    char *text = NULL;
    size_t size;
    lam_type type = {0};
    FILE *file = open_memstream(&text, &size);
    lam_fn *f = FN(scalar, 1, 1);
    (void)lam_program_print(file, lam_trace(lam_grad(f, NULL), LAM_LIST(point())));
    fclose(file);
    lam_program *read = lam_program_read(ctx, text);
    free(text);
    (void)lam_program_check(read);
    (void)lam_eval_shape(lam_jacfwd(read, NULL), LAM_LIST(point()), &type, 1);
    return type.rank + total(apply1(lam_jacrev(read, NULL), point()));
}

/* What the branch finds by itself becomes an operand. */
BODY(found) {
    out[0] = lam_mul(in[0], *(lam_tensor **)env);
}

BODY(branched) {
    lam_tensor *z, *w, *e = lam_exp(in[0]);
    lam_cond(lam_gt(lam_sum(e, NULL), 0.0), FN_ENV(found, 1, 1, &e), FN(shrink, 1, 1), LAM_LIST(in[0]), &z, 1);
    lam_while(FN(above_one, 1, 1), FN(shrink, 1, 1), LAM_LIST(lam_add(4.0, lam_sum(z, NULL))), &w, 1);
    out[0] = lam_mul(w, lam_sum(lam_mul(z, in[0]), NULL));
}

/* 70 trips stay a loop. */
BODY(looped) {
    lam_tensor *y[2], *xs = lam_reshape(lam_linspace(ctx, LAM_F64, 0.9, 1, 70), LAM_DIMS(70, 1));
    lam_scan(FN(carried, 2, 2), LAM_LIST(in[0]), LAM_LIST(lam_mul(xs, in[0])), y, 2, NULL);
    out[0] = lam_sum(y[1], NULL);
}

/* Recorded, read back and as C; derived as a program, and compiled, with sums in one order. */
static double run_nested(void) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size), *c = tmpfile();
    lam_fn *f = FN(branched, 1, 1), *compiled = lam_jit(lam_grad(f, NULL), &(lam_jit_options){.fusion = LAM_JIT_NONE});
    (void)lam_program_print(file, lam_trace(lam_grad(FN(looped, 1, 1), NULL), LAM_LIST(point())));
    fclose(file);
    (void)lam_emit_c(lam_program_read(ctx, text), c, NULL);
    free(text);
    const double bytes = (double)ftell(c);
    fclose(c);
    lam_program *p = lam_trace(f, LAM_LIST(point()));
    return bytes + total(apply1(lam_grad(p, NULL), point())) + total(apply1(compiled, point()));
}

BODY(sine) {
    out[0] = lam_sin(in[0]);
}

BODY(sine_and_point) {
    out[0] = lam_sin(in[0]);
    out[1] = in[0];
}

BODY(sine_back) {
    out[0] = lam_mul(in[1], lam_cos(in[0]));
}

/* A function with a rule, and what the branch finds by itself. */
BODY(ruled) {
    lam_fn *f = lam_custom_vjp(FN(sine, 1, 1), FN(sine_and_point, 1, 2), FN(sine_back, 2, 1), NULL);
    out[0] = lam_mul(apply1(f, in[0]), apply1(f, *(lam_tensor **)env));
}

BODY(ruled_branch) {
    lam_tensor *y, *e = lam_exp(in[0]);
    lam_cond(lam_gt(lam_sum(e, NULL), 0.0), FN_ENV(ruled, 1, 1, &e), FN(shrink, 1, 1), LAM_LIST(in[0]), &y, 1);
    out[0] = lam_sum(y, NULL);
}

/* Rules kept in a choice, in the copy that has one operand more, and in the derivative of a program. */
static double run_functions_recorded(void) {
    lam_fn *f = FN(ruled_branch, 1, 1),
           *compiled = lam_jit(lam_grad(f, NULL), &(lam_jit_options){.fusion = LAM_JIT_NONE});
    lam_program *p = lam_trace(FN(sine, 1, 1), LAM_LIST(point())), *q = lam_trace(f, LAM_LIST(point()));
    return total(apply1(p, point())) + total(apply1(q, point())) + total(apply1(compiled, point()));
}

/* ---- the sweep ------------------------------------------------------------------------------------------------- */

static const scenario scenarios[] = {
    {"grad", run_grad},
    {"nested grad", run_nested_grad},
    {"vmap in chunks", run_vmap_chunked},
    {"jacobians", run_jacobians},
    {"hessians", run_hessians},
    {"sparse", run_sparse},
    {"jvp with auxiliary outputs", run_jvp_aux},
    {"windows", run_windows},
    {"linearize", run_linearize},
    {"transpose", run_transpose},
    {"checkpoint", run_checkpoint},
    {"checkpoint with a policy", run_checkpoint_keeping},
    {"in place", run_in_place},
    {"borrow", run_borrow},
    {"pullback", run_pullback},
    {"check_grads", run_check},
    {"captures", run_captures},
    {"rules that capture", run_capturing_rules},
    {"arranged", run_arranged},
    {"sets", run_sets},
    {"parts", run_parts},
    {"converted", run_converted},
    {"scan", run_scan},
    {"control", run_control},
    {"control, recorded", run_control_recorded},
    {"emitted", run_emitted},
    {"program", run_program},
    {"loops in programs", run_nested},
    {"functions in programs", run_functions_recorded},
};
enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0] };

/* Scenario _i. */
START_TEST(every_request_refused_in_turn) {
    sweep_requests(&scenarios[_i]);
}
END_TEST

START_TEST(every_memory_limit) {
    sweep_limits(&scenarios[_i]);
}
END_TEST

Suite *suite_fuzz_refused(void) {
    Suite *suite = suite_of("fuzz/refused", NULL, 0);
    suite_loop(suite, every_request_refused_in_turn, SCENARIOS);
    suite_loop(suite, every_memory_limit, SCENARIOS);
    return suite;
}
