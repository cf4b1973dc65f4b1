/* Two Functions, one of each style, whose rules are wrong on purpose: backward is five times, jvp seven times x^3, for
 * a forward of x^4. So the value shows which rule ran. */
#ifndef LAM_TESTS_CUSTOM_ODD_H
#define LAM_TESTS_CUSTOM_ODD_H

#include "tests/custom/callbacks.h"

/* How often each has run, of the file that includes this. */
static int forwards, setups;

FORWARD(odd_forward) {
    forwards++;
    out[0] = lam_square(lam_square(in[0]));
}

SETUP(odd_setup) {
    setups++;
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

FORWARD(odd_combined) {
    odd_forward(fc, in, out);
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

static lam_tensor *times_cube(double factor, lam_tensor *x, lam_tensor *t) {
    return lam_mul(lam_mul(factor, lam_integer_pow(x, 3)), t);
}

BACKWARD(odd_backward) {
    gx[0] = times_cube(5, lam_fctx_saved(fc, 0), g[0]);
}

JVP(odd_jvp) {
    dout[0] = times_cube(7, lam_fctx_saved(fc, 0), t[0]);
}

static const lam_function separate = {.name = "separate",
                                      .inputs = 1,
                                      .outputs = 1,
                                      .forward = odd_forward,
                                      .setup_context = odd_setup,
                                      .backward = odd_backward,
                                      .jvp = odd_jvp,
                                      .generate_vmap_rule = true};
static const lam_function combined = {
    .name = "combined", .inputs = 1, .outputs = 1, .forward = odd_combined, .backward = odd_backward, .jvp = odd_jvp};

#endif
