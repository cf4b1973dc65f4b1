/* What is said of mistakes in rules: each message names the Function, the rule, the position, what was expected and
 * what came. One table, each row run as it is and with the Function mapped over a batch, where types are those of one
 * example. Expected texts follow from the mistake. */
#include "tests/custom/callbacks.h"

typedef enum mistake {
    NONE,
    OUTPUT_UNSET,
    OUTPUT_TOO_MANY,
    OUTPUT_FAILS,
    DIRTY_STRANGER,
    UNMARKED,
    SAVED_TWICE,
    STRANGER_MARKED,
    GRADIENT_SHAPE,
    GRADIENT_DTYPE,
    GRADIENT_OF_INTEGER,
    GRADIENT_TOO_MANY,
    GRADIENT_READS_BEYOND,
    TANGENT_SHAPE,
    TANGENT_DTYPE,
    TANGENT_TOO_MANY,
    BATCH_UNSET,
    BATCH_AXIS_UNSET,
    BATCH_AXIS_BEYOND,
    BATCH_SIZE,
    ONCE,
    NO_RULE,
    NO_BATCH,
    TWO_BATCHES
} mistake;

static mistake made;

static lam_tensor *wide(void) {
    return VEC(1, 2, 3);
}

/* x y and x + y of two vectors; the third input is an integer. */
FORWARD(clumsy_forward) {
    out[0] = lam_mul(in[0], in[1]);
    if (made != OUTPUT_UNSET) out[1] = lam_add(in[0], in[1]);
    if (made == OUTPUT_TOO_MANY) out[2] = in[0];
    if (made == OUTPUT_FAILS) out[1] = lam_fail(ctx, LAM_ERR_USER, "the sum is closed");
    if (made == DIRTY_STRANGER) lam_fctx_mark_dirty(fc, LAM_LIST(in[0], out[0]));
    if (made == UNMARKED) lam_add_(in[1], in[1]);
}

SETUP(clumsy_setup) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0], in[1]));
    if (made == SAVED_TWICE) lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
    if (made == STRANGER_MARKED) lam_fctx_mark_non_differentiable(fc, LAM_LIST(out[0], in[0]));
}

BACKWARD(clumsy_backward) {
    gx[0] = lam_add(lam_mul(g[0], lam_fctx_saved(fc, made == GRADIENT_READS_BEYOND ? 7 : 1)), g[1]);
    gx[1] = lam_add(lam_mul(g[0], lam_fctx_saved(fc, 0)), g[1]);
    if (made == GRADIENT_SHAPE) gx[1] = wide();
    if (made == GRADIENT_DTYPE) gx[1] = lam_cast(gx[1], LAM_F32);
    if (made == GRADIENT_OF_INTEGER) gx[2] = num(0);
    if (made == GRADIENT_TOO_MANY) gx[3] = num(0);
}

JVP(clumsy_jvp) {
    dout[0] = lam_add(lam_mul(t[0], lam_fctx_saved(fc, 1)), lam_mul(t[1], lam_fctx_saved(fc, 0)));
    dout[1] = lam_add(t[0], t[1]);
    if (made == TANGENT_SHAPE) dout[1] = wide();
    if (made == TANGENT_DTYPE) dout[1] = lam_cast(dout[1], LAM_F32);
    if (made == TANGENT_TOO_MANY) dout[2] = num(0);
}

VMAP(clumsy_vmap) {
    out[0] = lam_mul(in[0], in[1]);
    if (made != BATCH_UNSET) out[1] = made == BATCH_SIZE ? wide() : lam_add(in[0], in[1]);
    out_axes[0] = 0;
    if (made != BATCH_AXIS_UNSET) out_axes[1] = made == BATCH_AXIS_BEYOND ? 5 : 0;
}

static lam_function clumsy_function(void) {
    lam_function f = {.name = "clumsy",
                      .inputs = 3,
                      .outputs = 2,
                      .forward = clumsy_forward,
                      .setup_context = clumsy_setup,
                      .backward = clumsy_backward,
                      .jvp = clumsy_jvp,
                      .generate_vmap_rule = true,
                      .once_differentiable = made == ONCE};
    bool by_rule = made >= BATCH_UNSET && made <= BATCH_SIZE;
    if (by_rule || made == TWO_BATCHES) f.vmap = clumsy_vmap;
    if (by_rule || made == NO_BATCH) f.generate_vmap_rule = false;
    if (made == NO_RULE) f.backward = NULL, f.jvp = NULL;
    return f;
}

/* The sum of both outputs for x, y = x. */
BODY(clumsy) {
    lam_tensor *y[2];
    lam_function f = clumsy_function();
    lam_function_apply(ctx, &f, NULL, LAM_LIST(in[0], lam_mul(1.0, in[0]), lam_cast(num(3), LAM_I64)), y, 2);
    out[0] = lam_sum(lam_add(y[0], y[1]), NULL);
}

typedef enum way { VALUE, REVERSE, TANGENT, SECOND, BATCH } way;

static lam_fn *run_by(way w, lam_fn *f) {
    switch (w) {
    case REVERSE: return reverse_of(f);
    case TANGENT: return forward_of(f);
    case SECOND: return reverse_of(FN_ENV(sum_of, 1, 1, reverse_of(f)));
    default: return f;
    }
}

static const struct {
    mistake made;
    way way;
    lam_status status;
    const char *texts[5];
} rows[] = {
    {OUTPUT_UNSET, VALUE, LAM_ERR_ARITY, {"Function 'clumsy', forward:", "output 1 was not set", "set every out[o]"}},
    {OUTPUT_TOO_MANY, VALUE, LAM_ERR_ARITY, {"Function 'clumsy', forward:", "number 2 is set", "2 expected"}},
    {OUTPUT_FAILS, VALUE, LAM_ERR_USER, {"the sum is closed", "'clumsy' (forward)"}},
    {OUTPUT_FAILS, SECOND, LAM_ERR_USER, {"the sum is closed", "'clumsy' (forward)"}},
    {DIRTY_STRANGER,
     VALUE,
     LAM_ERR_RULE,
     {"Function 'clumsy', forward:", "lam_fctx_mark_dirty", "tensor 1 is not an input"}},
    {UNMARKED, VALUE, LAM_ERR_RULE, {"Function 'clumsy', forward:", "input 1 was overwritten", "lam_fctx_mark_dirty"}},
    {SAVED_TWICE,
     REVERSE,
     LAM_ERR_RULE,
     {"Function 'clumsy', setup_context:", "lam_fctx_save_for_backward was called twice"}},
    {STRANGER_MARKED, REVERSE, LAM_ERR_RULE, {"Function 'clumsy', setup_context:", "tensor 1 is not an output"}},
    {GRADIENT_SHAPE,
     REVERSE,
     LAM_ERR_SHAPE,
     {"Function 'clumsy', backward:", "gradient of input 1", "expected f64[2], got f64[3]"}},
    {GRADIENT_DTYPE,
     REVERSE,
     LAM_ERR_DTYPE,
     {"Function 'clumsy', backward:", "gradient of input 1", "expected f64[2], got f32[2]"}},
    {GRADIENT_OF_INTEGER,
     REVERSE,
     LAM_ERR_RULE,
     {"Function 'clumsy', backward:", "gradient for input 2, which is not a floating-point tensor"}},
    {GRADIENT_TOO_MANY, REVERSE, LAM_ERR_ARITY, {"Function 'clumsy', backward:", "number 3 is set", "3 expected"}},
    {GRADIENT_READS_BEYOND,
     REVERSE,
     LAM_ERR_RULE,
     {"Function 'clumsy', backward:", "tensor 7 is asked for", "2 were saved"}},
    {GRADIENT_SHAPE,
     SECOND,
     LAM_ERR_SHAPE,
     {"Function 'clumsy', backward:", "gradient of input 1", "expected f64[2], got f64[3]"}},
    {TANGENT_SHAPE,
     TANGENT,
     LAM_ERR_SHAPE,
     {"Function 'clumsy', jvp:", "tangent of output 1", "expected f64[2], got f64[3]"}},
    {TANGENT_DTYPE,
     TANGENT,
     LAM_ERR_DTYPE,
     {"Function 'clumsy', jvp:", "tangent of output 1", "expected f64[2], got f32[2]"}},
    {TANGENT_TOO_MANY, TANGENT, LAM_ERR_ARITY, {"Function 'clumsy', jvp:", "number 2 is set", "2 expected"}},
    {BATCH_UNSET, BATCH, LAM_ERR_ARITY, {"Function 'clumsy', vmap:", "output 1 was not set"}},
    {BATCH_AXIS_UNSET, BATCH, LAM_ERR_AXIS, {"Function 'clumsy', vmap:", "out_axes[1] was not set", "LAM_UNMAPPED"}},
    {BATCH_AXIS_BEYOND, BATCH, LAM_ERR_AXIS, {"Function 'clumsy', vmap:", "out_axes[1] is 5", "out of range [-2, 2)"}},
    {BATCH_SIZE,
     BATCH,
     LAM_ERR_SHAPE,
     {"Function 'clumsy', vmap:", "output 1 has 3 elements on axis 0", "expected the batch size 2"}},
    {ONCE,
     SECOND,
     LAM_ERR_RULE,
     {"Function 'clumsy'", "once_differentiable", "second derivative reaches its backward"}},
    {NO_RULE, REVERSE, LAM_ERR_RULE, {"Function 'clumsy'", "no derivative rule", "give it backward or jvp"}},
    {NO_BATCH, BATCH, LAM_ERR_RULE, {"Function 'clumsy'", "no batching rule", "vmap_by_loop"}},
    {TWO_BATCHES, VALUE, LAM_ERR_RULE, {"Function 'clumsy'", "more than one batching rule", "choose one"}},
};

START_TEST(each_message_names_all_there_is) {
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        made = rows[k].made;
        lam_fn *f = run_by(rows[k].way, FN(clumsy, 1, 1));
        if (rows[k].way != BATCH) {
            apply1(f, VEC(1, 2));
            expect_error(__LINE__, rows[k].status, "remedy: ", rows[k].texts);
        }
        apply1(lam_vmap(f, NULL), MAT(2, 2, 1, 2, 3, 4));
        expect_error(__LINE__, rows[k].status, "remedy: ", rows[k].texts);
    }
    made = NONE;
    EXPECT_NUM(apply1(FN(clumsy, 1, 1), VEC(1, 2)), 1 + 4 + 2 + 4);
    EXPECT(apply1(reverse_of(FN(clumsy, 1, 1)), VEC(1, 2)), LAM_DIMS(2), 4, 6);
}
END_TEST

Suite *suite_custom_messages(void) {
    return SUITE_OF("custom/messages", each_message_names_all_there_is);
}
