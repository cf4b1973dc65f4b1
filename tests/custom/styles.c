/* Operations in every style of custom Functions: see styles.h. One table of values and slopes serves all of them, so
 * that a style is no more than its callbacks. */
#include "tests/custom/styles.h"

#include "tests/custom/callbacks.h"

typedef enum kind { SIN, EXP, LOG, MUL } kind;

static const kind kinds[] = {SIN, EXP, LOG, MUL};

static lam_tensor *value(kind k, lam_tensor *const in[]) {
    switch (k) {
    case SIN: return lam_sin(in[0]);
    case EXP: return lam_exp(in[0]);
    case LOG: return lam_log(in[0]);
    default: return lam_mul(in[0], in[1]);
    }
}

/* The derivative by input i; y is the value. */
static lam_tensor *slope(kind k, int i, lam_tensor *const in[], lam_tensor *y) {
    switch (k) {
    case SIN: return lam_cos(in[0]);
    case EXP: return y;
    case LOG: return lam_div(1.0, in[0]);
    default: return in[1 - i];
    }
}

static lam_tensor *second_slope(kind k, lam_tensor *x, lam_tensor *y) {
    return k == SIN ? lam_neg(y) : k == EXP ? y : lam_neg(lam_div(1.0, lam_square(x)));
}

static kind kind_of(const lam_fctx *fc) {
    return *(const kind *)lam_fctx_attrs(fc);
}

/* ---- callbacks --------------------------------------------------------------------------------------------------- */

FORWARD(plain_forward) {
    out[0] = value(kind_of(fc), in);
}

/* Saved are the inputs, then the value. */
SETUP(save_all) {
    int n = lam_fctx_inputs(fc);
    lam_tensor *list[] = {in[0], n > 1 ? in[1] : out[0], out[0]};
    lam_fctx_save_for_backward(fc, (lam_list){(size_t)n + 1, list});
}

SETUP(save_all_and_want_nulls) {
    save_all(fc, in, out);
    lam_fctx_set_materialize_grads(fc, false);
}

FORWARD(combined_forward) {
    plain_forward(fc, in, out);
    save_all(fc, in, out);
}

FORWARD(in_place_forward) {
    lam_assign_(in[0], value(kind_of(fc), in));
    lam_fctx_mark_dirty(fc, LAM_LIST(in[0]));
    out[0] = in[0];
}

SETUP(save_value_twice) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0], out[0]));
}

static lam_tensor *saved_slope(lam_fctx *fc, int i) {
    int n = lam_fctx_inputs(fc);
    lam_tensor *in[] = {lam_fctx_saved(fc, 0), lam_fctx_saved(fc, 1)};
    return slope(kind_of(fc), i, in, lam_fctx_saved(fc, n));
}

/* Gradients come out in the dims of the output; what an input was broadcast to is summed by the library. */
BACKWARD(plain_backward) {
    for (int i = 0; i < lam_fctx_inputs(fc); i++)
        if (lam_fctx_needs_input_grad(fc, i) && g[0]) gx[i] = lam_mul(g[0], saved_slope(fc, i));
}

JVP(plain_jvp) {
    for (int i = 0; i < lam_fctx_inputs(fc); i++) {
        if (!t[i]) continue;
        lam_tensor *part = lam_mul(t[i], saved_slope(fc, i));
        dout[0] = dout[0] ? lam_add(dout[0], part) : part;
    }
}

FORWARD(forward_with_slope) {
    out[0] = value(kind_of(fc), in);
    out[1] = slope(kind_of(fc), 0, in, out[0]);
}

SETUP(save_slope) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0], out[0], out[1]));
}

BACKWARD(backward_with_slope) {
    lam_tensor *curve = second_slope(kind_of(fc), lam_fctx_saved(fc, 0), lam_fctx_saved(fc, 1));
    gx[0] = lam_add(lam_mul(g[0], lam_fctx_saved(fc, 2)), lam_mul(g[1], curve));
}

JVP(jvp_with_slope) {
    dout[0] = lam_mul(t[0], lam_fctx_saved(fc, 2));
    dout[1] = lam_mul(t[0], second_slope(kind_of(fc), lam_fctx_saved(fc, 0), lam_fctx_saved(fc, 1)));
}

/* The batch axis is in front of x; axes of 1 behind it give the example `rank` axes. */
static lam_tensor *lined_up(lam_tensor *x, int rank) {
    for (int k = lam_rank(x); k <= rank; k++) x = lam_expand_dims(x, 1);
    return x;
}

static void value_of_batch(kind k, int n, const bool mapped[], lam_tensor *const in[], lam_tensor *out[]) {
    lam_tensor *x[2];
    int rank = 0;
    for (int i = 0; i < n; i++)
        if (lam_rank(in[i]) - mapped[i] > rank) rank = lam_rank(in[i]) - mapped[i];
    for (int i = 0; i < n; i++) x[i] = mapped[i] ? lined_up(in[i], rank) : in[i];
    out[0] = value(k, x);
}

VMAP(users_vmap) {
    int n = lam_fctx_inputs(fc);
    bool mapped[2] = {false, false};
    lam_tensor *front[2];
    for (int i = 0; i < n; i++) {
        mapped[i] = in_axes[i] != LAM_UNMAPPED;
        front[i] = mapped[i] ? lam_moveaxis(in[i], in_axes[i], 0) : in[i];
    }
    value_of_batch(kind_of(fc), n, mapped, front, out);
    out_axes[0] = 0;
}

/* The same beside a second output, which is left out: it has neither cotangent nor tangent. */
FORWARD(forward_with_hole) {
    lam_fctx_mark_absent(fc, LAM_AXES(1));
    plain_forward(fc, in, out);
}

FORWARD(combined_with_hole) {
    combined_forward(fc, in, out);
    lam_fctx_mark_absent(fc, LAM_AXES(-1));
}

SETUP(setup_with_hole) {
    ck_assert_ptr_null(out[1]);
    save_all(fc, in, out);
}

BACKWARD(backward_with_hole) {
    ck_assert_ptr_null(g[1]);
    plain_backward(fc, g, gx);
}

VMAP(vmap_with_hole) {
    lam_fctx_mark_absent(fc, LAM_AXES(LAM_RANGE(1, 1)));
    users_vmap(fc, info, in_axes, in, out, out_axes);
}

/* ---- rules for functions ----------------------------------------------------------------------------------------- */

BODY(body_value) {
    out[0] = value(*(const kind *)env, in);
}

static int arity(kind k) {
    return k == MUL ? 2 : 1;
}

/* The value, then the inputs and the value as residuals. */
BODY(body_fwd) {
    kind k = *(const kind *)env;
    int n = arity(k);
    out[0] = value(k, in);
    for (int i = 0; i < n; i++) out[1 + i] = in[i];
    out[1 + n] = out[0];
}

/* What is larger than x, because x was broadcast, summed to its dims. */
static lam_tensor *summed_like(lam_tensor *g, lam_tensor *x) {
    const int more = lam_rank(g) - lam_rank(x);
    for (int axis = 0; axis < lam_rank(x); axis++)
        if (lam_dim(x, axis) == 1 && lam_dim(g, axis + more) > 1)
            g = lam_sum(g, &(lam_reduce_options){.axes = LAM_AXES(axis + more), .keepdims = true});
    for (int k = 0; k < more; k++) g = lam_sum(g, &(lam_reduce_options){.axes = LAM_AXES(0)});
    return g;
}

/* Here nobody sums, unlike in the other styles. */
BODY(body_bwd) {
    kind k = *(const kind *)env;
    int n = arity(k);
    for (int i = 0; i < n; i++) out[i] = summed_like(lam_mul(in[n + 1], slope(k, i, in, in[n])), in[i]);
}

BODY(body_rule) {
    kind k = *(const kind *)env;
    int n = arity(k);
    out[0] = value(k, in);
    out[1] = lam_mul(in[n], slope(k, 0, in, out[0]));
    if (n > 1) out[1] = lam_add(out[1], lam_mul(in[n + 1], slope(k, 1, in, out[0])));
}

/* Tangent, value, inputs. */
BODY(body_first_rule) {
    out[0] = lam_mul(in[0], slope(*(const kind *)env, 0, in + 2, in[1]));
}

BODY(body_second_rule) {
    out[0] = lam_mul(in[0], slope(*(const kind *)env, 1, in + 2, in[1]));
}

static void batch_rule(lam_ctx *here, const lam_vmap_info *info, const bool mapped[], lam_tensor *const in[],
                       lam_tensor *out[], bool out_mapped[], void *env) {
    (void)here, (void)info;
    value_of_batch(*(const kind *)env, arity(*(const kind *)env), mapped, in, out);
    out_mapped[0] = true;
}

static lam_fn *part(const char *name, lam_body body, int inputs, int outputs, kind k) {
    return function_of(name, body, inputs, outputs, (void *)(uintptr_t)&kinds[k]);
}

static lam_fn *fn_with_rules(style s, kind k) {
    int n = arity(k);
    lam_fn *f = part("f", body_value, n, 1, k);
    if (s == STYLE_CUSTOM_VJP)
        return lam_custom_vjp(f, part("fwd", body_fwd, n, n + 2, k), part("bwd", body_bwd, n + 2, n, k), NULL);
    if (s == STYLE_CUSTOM_JVP) return lam_custom_jvp(f, part("rule", body_rule, 2 * n, 2, k), NULL);
    if (s == STYLE_CUSTOM_VMAP) return lam_custom_vmap(f, batch_rule, (void *)(uintptr_t)&kinds[k]);
    lam_fn *rules[] = {part("by first", body_first_rule, n + 2, 1, k),
                       part("by second", body_second_rule, n + 2, 1, k)};
    return lam_custom_jvps(f, rules, (size_t)n, NULL);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

#define FUNCTION(...)                                                                                                  \
    { .name = "styled", .inputs = LAM_VARIADIC, .outputs = LAM_VARIADIC, .attrs_size = sizeof(kind), __VA_ARGS__ }

static const struct {
    const char *name;
    lam_function f; /* without forward: a function with rules */
} styles[STYLES] = {
    [STYLE_NONE] = {"none", {0}},
    [STYLE_SEPARATE] = {"separate", FUNCTION(.forward = plain_forward, .setup_context = save_all,
                                             .backward = plain_backward, .jvp = plain_jvp, .generate_vmap_rule = true)},
    [STYLE_COMBINED] = {"combined",
                        FUNCTION(.forward = combined_forward, .backward = plain_backward, .jvp = plain_jvp)},
    [STYLE_BACKWARD_ONLY] = {"backward only", FUNCTION(.forward = plain_forward, .setup_context = save_all,
                                                       .backward = plain_backward, .generate_vmap_rule = true)},
    [STYLE_COMBINED_BACKWARD_ONLY] = {"combined, backward only",
                                      FUNCTION(.forward = combined_forward, .backward = plain_backward)},
    [STYLE_JVP_ONLY] = {"jvp only", FUNCTION(.forward = plain_forward, .setup_context = save_all, .jvp = plain_jvp,
                                             .generate_vmap_rule = true)},
    [STYLE_EXTRA_OUTPUT] = {"extra output", FUNCTION(.forward = forward_with_slope, .setup_context = save_slope,
                                                     .backward = backward_with_slope, .jvp = jvp_with_slope,
                                                     .generate_vmap_rule = true)},
    [STYLE_IN_PLACE] = {"in place", FUNCTION(.forward = in_place_forward, .setup_context = save_value_twice,
                                             .backward = plain_backward, .jvp = plain_jvp, .generate_vmap_rule = true)},
    [STYLE_USERS_VMAP] = {"user's vmap", FUNCTION(.forward = plain_forward, .setup_context = save_all,
                                                  .backward = plain_backward, .jvp = plain_jvp, .vmap = users_vmap)},
    [STYLE_BY_LOOP] = {"by loop", FUNCTION(.forward = plain_forward, .setup_context = save_all,
                                           .backward = plain_backward, .jvp = plain_jvp, .vmap_by_loop = true)},
    [STYLE_ABSENT] = {"absent", FUNCTION(.forward = forward_with_hole, .setup_context = setup_with_hole,
                                         .jvp = plain_jvp, .generate_vmap_rule = true)},
    [STYLE_ABSENT_COMBINED] = {"absent, combined",
                               FUNCTION(.forward = combined_with_hole, .backward = backward_with_hole)},
    [STYLE_ABSENT_VMAP] = {"absent, user's vmap",
                           FUNCTION(.forward = forward_with_hole, .setup_context = setup_with_hole,
                                    .backward = backward_with_hole, .jvp = plain_jvp, .vmap = vmap_with_hole)},
    [STYLE_ABSENT_BY_LOOP] = {"absent, by loop",
                              FUNCTION(.forward = forward_with_hole, .setup_context = setup_with_hole,
                                       .backward = backward_with_hole, .jvp = plain_jvp, .vmap_by_loop = true)},
    [STYLE_NULLS] = {"nulls", FUNCTION(.forward = plain_forward, .setup_context = save_all_and_want_nulls,
                                       .backward = plain_backward, .jvp = plain_jvp, .generate_vmap_rule = true)},
    [STYLE_CUSTOM_VJP] = {"custom_vjp", {0}},
    [STYLE_CUSTOM_JVP] = {"custom_jvp", {0}},
    [STYLE_CUSTOM_JVPS] = {"custom_jvps", {0}},
    [STYLE_CUSTOM_VMAP] = {"custom_vmap", {0}},
};

const char *style_name(style s) {
    return styles[s].name;
}

static lam_tensor *styled(style s, kind k, lam_tensor *x, lam_tensor *y) {
    lam_tensor *in[] = {x, y}, *out[2] = {NULL, NULL};
    bool absent = s >= STYLE_ABSENT && s <= STYLE_ABSENT_BY_LOOP;
    size_t n = (size_t)arity(k), m = s == STYLE_EXTRA_OUTPUT || absent ? 2 : 1;
    if (s == STYLE_NONE) return value(k, in);
    if (!styles[s].f.forward) return lam_apply(fn_with_rules(s, k), (lam_list){n, in});
    if (s == STYLE_IN_PLACE) in[0] = lam_alias(x);
    lam_status status = lam_function_apply(ctx, &styles[s].f, &k, (lam_list){n, in}, out, m);
    if (absent && status == LAM_OK) ck_assert_ptr_null(out[1]);
    return s == STYLE_IN_PLACE ? in[0] : out[0];
}

lam_tensor *style_sin(style s, lam_tensor *x) {
    return styled(s, SIN, x, NULL);
}

lam_tensor *style_exp(style s, lam_tensor *x) {
    return styled(s, EXP, x, NULL);
}

lam_tensor *style_log(style s, lam_tensor *x) {
    return styled(s, LOG, x, NULL);
}

/* Products may be wider than their first factor and their slopes are factors: two of the styles do not fit them. */
lam_tensor *style_mul(style s, lam_tensor *x, lam_tensor *y) {
    return styled(s == STYLE_IN_PLACE || s == STYLE_EXTRA_OUTPUT ? STYLE_SEPARATE : s, MUL, x, y);
}
