/* A few operations as custom Functions with true rules, in every style that there is: what the compositions and the
 * random expressions put in the place of the library's own operations, to get the same numbers. */
#ifndef LAM_TESTS_CUSTOM_STYLES_H
#define LAM_TESTS_CUSTOM_STYLES_H

#include "tests/support.h"

typedef enum style {
    STYLE_NONE, /* the library's own operations */
    STYLE_SEPARATE,
    STYLE_COMBINED,
    STYLE_BACKWARD_ONLY, /* separate, without jvp */
    STYLE_COMBINED_BACKWARD_ONLY,
    STYLE_JVP_ONLY,
    STYLE_EXTRA_OUTPUT, /* the slope is computed in forward and returned as an output */
    STYLE_IN_PLACE,     /* marked dirty; the caller's handle is what counts */
    STYLE_USERS_VMAP,
    STYLE_BY_LOOP,
    STYLE_ABSENT, /* a second output is left out; jvp only */
    STYLE_ABSENT_COMBINED,
    STYLE_ABSENT_VMAP,
    STYLE_ABSENT_BY_LOOP,
    STYLE_NULLS, /* zero cotangents and tangents are not materialised */
    STYLE_CUSTOM_VJP,
    STYLE_CUSTOM_JVP,
    STYLE_CUSTOM_JVPS,
    STYLE_CUSTOM_VMAP,
    STYLES
} style;

const char *style_name(style s);

lam_tensor *style_sin(style s, lam_tensor *x);
lam_tensor *style_exp(style s, lam_tensor *x);
lam_tensor *style_log(style s, lam_tensor *x);
lam_tensor *style_mul(style s, lam_tensor *x, lam_tensor *y); /* broadcasts */

#endif
