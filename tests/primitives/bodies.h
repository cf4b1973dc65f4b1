/* What composed operations are asked for beside their values, as bodies of one matrix [3, 3]: derivatives to the second
 * order beside differences, and vmap beside the loop. */
#ifndef LAM_TESTS_BODIES_H
#define LAM_TESTS_BODIES_H

#include "tests/support.h"

static inline lam_tensor *bodies_operand(void) {
    return MAT(3, 3, 0.37, -1.21, 1.53, 1.13, 0.42, -0.71, -1.44, 0.66, 1.28);
}

static inline void bodies_differences(lam_body body, int number) {
    lam_fn *f = FN(body, 1, 1);
    ck_assert_msg(lam_check_grads(f, LAM_LIST(bodies_operand()), &(lam_check_grads_options){.order = 2}) == LAM_OK,
                  "body %d: %s", number, lam_error(ctx));
}

/* The second example is the first one times `factor`. */
static inline void bodies_loop(lam_body body, double factor) {
    lam_fn *f = FN(body, 1, 1);
    lam_tensor *x = bodies_operand(), *y = lam_mul(x, factor);
    lam_tensor *apart = lam_stack(LAM_LIST(apply1(f, x), apply1(f, y)), 0);
    EXPECT_SAME(apply1(lam_vmap(f, NULL), lam_stack(LAM_LIST(x, y), 0)), apart, 1e-13);
}

#endif
