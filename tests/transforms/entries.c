/* Entries of sparse matrices: see entries.h. */
#include "tests/transforms/entries.h"

#include "tests/support.h"
#include "tests/transforms/build.h"

#include <stdlib.h>

lam_tensor *point(void) {
    return VEC(0.3, -1.2, 0.7, 1.1, -0.4, 2.2);
}

lam_tensor *from(lam_tensor *x, int64_t first) {
    return lam_slice_axis(x, 0, first, LAM_END);
}

lam_tensor *but_last(lam_tensor *x) {
    return lam_slice_axis(x, 0, 0, -1);
}

lam_tensor *dense(lam_tensor *pairs, lam_tensor *entries, int64_t rows, int64_t columns) {
    lam_tensor *at = lam_add(lam_mul(columns, lam_index(pairs, 1, 0)), lam_index(pairs, 1, 1));
    lam_tensor *zeros = lam_zeros(ctx, lam_dtype_of(entries), LAM_DIMS(rows * columns));
    return lam_reshape(lam_scatter_add(zeros, at, entries, 0), LAM_DIMS(rows, columns));
}

void expect_directions(lam_fn *sparse, lam_tensor *x, int64_t directions) {
    char *text = printed_text(lam_trace(sparse, LAM_LIST(x))), want[64], more[64];
    snprintf(want, sizeof want, "f64[%lld, ", (long long)directions);
    snprintf(more, sizeof more, "f64[%lld, ", (long long)directions + 1);
    ck_assert_msg(strstr(text, want) && !strstr(text, more), "no %s in %s", want, text);
    free(text);
}
