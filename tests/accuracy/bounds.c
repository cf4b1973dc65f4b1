/* Every row of rows.c keeps what it promises, in f64 and in f32: values within the bound (a float's are rounded from
 * more digits where the bound is above 1, but those of composed functions), and derivatives within 4 ulps where they
 * are well conditioned. Ranges where a float overflows are those of doubles cut to what a float holds.
 * tests/kernels/accuracy.c looks at special values, thresholds, whole ranges and all instruction sets; this is what a
 * user calls. */
#include <math.h>

#include "tests/unmarked.h"
#include "tests/accuracy/measure.h"
#include "tests/support.h"

enum { SAMPLES = 600 };

static void holds(const measure_row *row, lam_dtype dtype, int by, double bound) {
    measure_result r = measure(ctx, row, dtype, by, SAMPLES);
    EXPECT_OK();
    ck_assert_msg(r.looked > 0, "%s by %d: no point is well conditioned", row->name, by);
    ck_assert_msg(r.ulps <= bound, "%s in %s, %s %d: %g ulps at %.17g, more than %g", row->name,
                  dtype == LAM_F64 ? "f64" : "f32", by < 0 ? "value" : "derivative by", by, r.ulps, r.at, bound);
}

START_TEST(values_keep_their_bound) {
    const measure_row *row = &measure_rows[_i];
    holds(row, LAM_F64, -1, row->bound);
    holds(row, LAM_F32, -1, row->truth ? row->bound : fmin(row->bound, 1));
}
END_TEST

START_TEST(derivatives_keep_theirs_where_well_conditioned) {
    const measure_row *row = &measure_rows[_i];
    for (int by = 0; by < row->inputs; by++)
        for (lam_dtype dtype = LAM_F64; dtype <= LAM_F32; dtype++)
            if (row->derivatives >> by & 1u) holds(row, dtype, by, MEASURE_SLOPE_BOUND);
}
END_TEST

Suite *suite_accuracy_bounds(void) {
    Suite *suite = suite_create("accuracy/bounds");
    suite_loop(suite, values_keep_their_bound, measure_count);
    suite_loop(suite, derivatives_keep_theirs_where_well_conditioned, measure_count);
    return suite;
}
