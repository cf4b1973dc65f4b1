/* Programs as C: orders of elements among which are NaN, which counts as larger than all numbers and is equal to
 * itself; and the order of sums, which is that of memory. */
#include "tests/support.h"
#include "tests/transforms/build.h"

#include <dlfcn.h>
#include <lamina/program.h>

enum { N = 6 };
static const double elements[N] = {NAN, 2, -1, NAN, 0.5, -INFINITY};

static void check_all(const int64_t got[], const int64_t want[], int n) {
    for (int i = 0; i < n; i++) ck_assert_int_eq(got[i], want[i]);
}

BODY(orders) {
    lam_tensor *down;
    lam_top_k(in[0], N, &down);
    out[0] = lam_stack(LAM_LIST(lam_argsort(in[0], 0), down), 0);
}

/* -inf < -1 < 0.5 < 2 < NaN; of equal ones the first comes first, in either direction. */
START_TEST(orders_have_nan_at_the_far_end) {
    static const int64_t want[2 * N] = {5, 2, 4, 1, 0, 3, 0, 3, 1, 4, 2, 5};
    build b;
    int64_t got[2 * N];
    lam_tensor *x = lam_array(ctx, LAM_F64, LAM_DIMS(N), elements);
    build_begin(&b);
    build_add(&b, "orders", lam_trace(FN(orders, 1, 1), LAM_LIST(x)), NULL);
    build_end(&b);
    void (*call)(const double *, int64_t *);
    build_find(&b, "orders", &call);
    call(elements, got);
    check_all(got, want, 2 * N);
    ck_assert_int_eq(lam_read(apply1(FN(orders, 1, 1), x), got, sizeof got), LAM_OK);
    check_all(got, want, 2 * N);
    dlclose(b.library);
}
END_TEST

enum { SORTED = 4 };
static const double sorted[SORTED] = {-1, 2, NAN, NAN}, sought[SORTED] = {NAN, 3, 2, -INFINITY};

BODY(places) {
    out[0] = lam_stack(LAM_LIST(lam_searchsorted(in[0], in[1], false), lam_searchsorted(in[0], in[1], true)), 0);
}

/* How many of -1, 2, NaN, NaN are before NaN, 3, 2, -inf; then up to and with them. */
START_TEST(places_among_sorted_numbers_know_nan) {
    static const int64_t want[2 * SORTED] = {2, 2, 1, 0, 4, 2, 2, 0};
    build b;
    int64_t got[2 * SORTED];
    lam_tensor *x = lam_array(ctx, LAM_F64, LAM_DIMS(SORTED), sorted),
               *y = lam_array(ctx, LAM_F64, LAM_DIMS(SORTED), sought);
    build_begin(&b);
    build_add(&b, "places", lam_trace(FN(places, 2, 1), LAM_LIST(x, y)), NULL);
    build_end(&b);
    void (*call)(const double *, const double *, int64_t *);
    build_find(&b, "places", &call);
    call(sorted, sought, got);
    check_all(got, want, 2 * SORTED);
    ck_assert_int_eq(lam_read(apply2(FN(places, 2, 1), x, y), got, sizeof got), LAM_OK);
    check_all(got, want, 2 * SORTED);
    dlclose(b.library);
}
END_TEST

BODY(sum_backwards) {
    lam_tensor *x = lam_reverse(in[0], LAM_AXES(1));
    out[0] = lam_sum(x, NULL);
    out[1] = lam_sum(lam_sin(lam_mul(x, x)), NULL);
    out[2] = lam_sum(lam_mul(x, in[0]), NULL);
}

/* Sums have no order: what is seen from its other end is read along memory, but where something else is read with it.
 * (gcc 12 at -O2 takes other elements in a loop of two trips that goes backwards inside of one that goes forwards.) Of
 * 1, ..., 6 in rows of two: 21; the products are 2 (2 + 12 + 30). */
START_TEST(sums_go_along_memory) {
    lam_tensor *x = MAT(3, 2, 1, 2, 3, 4, 5, 6);
    lam_program *p = lam_trace(FN(sum_backwards, 1, 3), LAM_LIST(x));
    const char *text = emitted_text(p, NULL);
    ck_assert_ptr_nonnull(strstr(text, "s += in0[i0 * 2 + i1];"));
    ck_assert_ptr_nonnull(strstr(text, "in0[i0 * 2 + i1] * in0[i0 * 2 + i1]"));
    ck_assert_ptr_nonnull(strstr(text, "in0[1 + i0 * 2 - i1] * in0[i0 * 2 + i1]"));
    build b;
    double got[3], sines = 0;
    build_begin(&b);
    build_add(&b, "backwards", p, &(lam_emit_options){.name = "backwards"});
    build_end(&b);
    void (*call)(const void *, double *, double *, double *);
    build_find(&b, "backwards", &call);
    call(lam_data(x), &got[0], &got[1], &got[2]);
    for (int i = 1; i <= 6; i++) sines += sin(i * i);
    ck_assert_double_eq(got[0], 21);
    ck_assert_double_eq_tol(got[1], sines, 1e-14);
    ck_assert_double_eq(got[2], 88);
    dlclose(b.library);
}
END_TEST

Suite *suite_transforms_emit_orders(void) {
    return SUITE_OF("transforms/emit_orders", orders_have_nan_at_the_far_end, places_among_sorted_numbers_know_nan,
                    sums_go_along_memory);
}
