/* What the tests of custom Functions share: the heads of callbacks, and short ways to apply a Function. Functions of
 * these tests have rules that are wrong by a factor on purpose, so that the value tells which rule ran. */
#ifndef LAM_TESTS_CUSTOM_CALLBACKS_H
#define LAM_TESTS_CUSTOM_CALLBACKS_H

#include "tests/support.h"

/* The heads of callbacks; each names its parameters as function.h does, gradients and tangents shorter. */
#define FORWARD(name)  static void name(UNUSED lam_fctx *fc, UNUSED lam_tensor *const in[], UNUSED lam_tensor *out[])
#define BACKWARD(name) static void name(UNUSED lam_fctx *fc, UNUSED lam_tensor *const g[], UNUSED lam_tensor *gx[])
#define JVP(name)      static void name(UNUSED lam_fctx *fc, UNUSED lam_tensor *const t[], UNUSED lam_tensor *dout[])

#define SETUP(name) static void name(UNUSED lam_fctx *fc, UNUSED lam_tensor *const in[], UNUSED lam_tensor *const out[])

#define VMAP(name)                                                                                                     \
    static void name(UNUSED lam_fctx *fc, UNUSED const lam_vmap_info *info, UNUSED const int in_axes[],                \
                     UNUSED lam_tensor *const in[], UNUSED lam_tensor *out[], UNUSED int out_axes[])

/* The only output of a Function. */
UNUSED static lam_tensor *call_function(const lam_function *f, const void *attrs, lam_list in) {
    lam_tensor *out = NULL;
    lam_function_apply(ctx, f, attrs, in, &out, 1);
    return out;
}

/* A Function of one output without attributes, as a function of one or two inputs. */
UNUSED static lam_fn *fn_of(const lam_function *f) {
    return lam_function_fn(ctx, f, NULL, 1, 1);
}

UNUSED static lam_fn *fn_of_two(const lam_function *f) {
    return lam_function_fn(ctx, f, NULL, 2, 1);
}

/* The sum of the output of the function in env, which takes one or two inputs. */
UNUSED BODY(sum_of) {
    out[0] = lam_sum(apply1(env, in[0]), NULL);
}

UNUSED BODY(sum_of_pair) {
    out[0] = lam_sum(apply2(env, in[0], in[1]), NULL);
}

/* The tangent of env's function along ones. */
UNUSED BODY(along) {
    lam_tensor *value;
    lam_jvp(env, LAM_LIST(in[0]), LAM_LIST(lam_ones_like(in[0])), &value, &out[0], 1, NULL);
}

UNUSED static lam_fn *forward_of(lam_fn *f) {
    return FN_ENV(along, 1, 1, f);
}

UNUSED static lam_fn *reverse_of(lam_fn *f) {
    return lam_grad(f, NULL);
}

#endif
