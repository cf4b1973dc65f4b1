/* Parts of tensors in what lam_jit compiles: what is put among zeros and added, as gradients of slices are, beside the
 * operations one by one. */
#include "tests/support.h"

#include <stdio.h>

/* Parts among zeros that are added or taken away, on either side, at steps: to what dies there, and to what is given,
 * needed beside, the part itself or what it is a view of; parts that are read twice, or among ones. */
static const char *const lines[] = {
    "v3: f64[9] = update_slice(c0, v1) start=[2], step=[1], count=[4]\n"
    "v4: f64[9] = add(v2, v3)\n"
    "return v4\n",
    "v3: f64[9] = update_slice(c0, v1) start=[7], step=[-2], count=[4]\n"
    "v4: f64[9] = add(v3, v2)\n"
    "return v4\n",
    "v3: f64[9] = update_slice(c0, v1) start=[2], step=[1], count=[4]\n"
    "v4: f64[9] = sub(v2, v3)\n"
    "return v4\n",
    "v3: f64[9] = update_slice(c0, v1) start=[2], step=[1], count=[4]\n"
    "v4: f64[9] = sub(v3, v2)\n"
    "return v4\n",
    "v3: f64[9] = update_slice(c0, v1) start=[2], step=[1], count=[4]\n"
    "v4: f64[9] = add(v0, v3)\n"
    "return v4\n",
    "v3: f64[9] = update_slice(c1, v1) start=[2], step=[1], count=[4]\n"
    "v4: f64[9] = add(v2, v3)\n"
    "return v4\n",
    "v3: f64[9] = update_slice(c0, v2) start=[8], step=[-1], count=[9]\n"
    "v4: f64[9] = add(v2, v3)\n"
    "return v4\n",
    "v3: f64[4] = slice(v2) start=[1], step=[2], count=[4]\n"
    "v4: f64[9] = update_slice(c0, v3) start=[0], step=[1], count=[4]\n"
    "v5: f64[9] = add(v2, v4)\n"
    "return v5\n",
    "v3: f64[9] = update_slice(c0, v1) start=[2], step=[1], count=[4]\n"
    "v4: f64[9] = add(v2, v3)\n"
    "v5: f64[9] = mul(v4, v3)\n"
    "return v5\n",
    "v3: f64[9] = update_slice(c0, v1) start=[2], step=[1], count=[4]\n"
    "v4: f64[9] = add(v2, v3)\n"
    "v5: f64[9] = mul(v4, v2)\n"
    "return v5\n",
    "v3: f64[9] = update_slice(c0, v1) start=[0], step=[1], count=[4]\n"
    "v4: f64[9] = update_slice(c0, v1) start=[5], step=[1], count=[4]\n"
    "v5: f64[9] = add(v3, v4)\n"
    "return v5\n",
    "v3: f64[4] = sin(v1)\n"
    "v4: f64[9] = update_slice(c0, v3) start=[0], step=[1], count=[4]\n"
    "v5: f64[9] = update_slice(v4, v3) start=[5], step=[1], count=[4]\n"
    "v6: f64[9] = add(v2, v5)\n"
    "return v6\n",
    "v3: f64[9] = add(c1, v2)\n"
    "v4: f64[9] = update_slice(c0, v1) start=[1], step=[2], count=[4]\n"
    "v5: f64[9] = add(v3, v4)\n"
    "v6: f64[9] = update_slice(c0, v1) start=[0], step=[2], count=[4]\n"
    "v7: f64[9] = sub(v5, v6)\n"
    "return v7\n",
};

START_TEST(parts_are_added_in_place) {
    lam_tensor *x = lam_linspace(ctx, LAM_F64, -1, 2, 9), *y = VEC(0.25, -3, 8, 0.125);
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        char whole[1024];
        snprintf(whole, sizeof whole, "%s%s}\n",
                 "program f(v0: f64[9], v1: f64[4]) {\nc0: f64[9] = spread 0\nc1: f64[9] = spread 1\n"
                 "v2: f64[9] = exp(v0)\n",
                 lines[k]);
        lam_program *p = lam_program_read(ctx, whole);
        ck_assert_msg(lam_status_of(ctx) == LAM_OK, "%s: %s", lines[k], lam_error(ctx));
        lam_tensor *want = lam_apply(p, LAM_LIST(x, y));
        for (lam_jit_fusion fusion = LAM_JIT_AUTO; fusion <= LAM_JIT_NONE; fusion++) {
            lam_fn *made = lam_jit(p, &(lam_jit_options){.fusion = fusion});
            for (int run = 0; run < 2; run++) EXPECT_SAME(lam_apply(made, LAM_LIST(x, y)), want, 0);
        }
    }
    EXPECT_SAME(x, lam_linspace(ctx, LAM_F64, -1, 2, 9), 0);
    EXPECT(y, LAM_DIMS(4), 0.25, -3, 8, 0.125);
}
END_TEST

/* Slices and what they are put together to again: a stencil with fixed ends, and one that goes round. */
BODY(spread_out) {
    lam_tensor *u = in[0], *left = lam_slice_axis(u, 0, 0, -2), *right = lam_slice_axis(u, 0, 2, LAM_END);
    lam_tensor *middle = lam_slice_axis(u, 0, 1, -1), *turned = lam_sub(lam_roll(u, 1, 0), lam_roll(u, -2, 0));
    lam_tensor *next = lam_fma(in[1], lam_add(lam_sub(left, lam_mul(2.0, middle)), right), middle);
    lam_tensor *all[] = {lam_slice_axis(u, 0, 0, 1), next, lam_slice_axis(u, 0, -1, LAM_END)};
    lam_tensor *joined = lam_concatenate((lam_list){3, all}, 0);
    out[0] = lam_sum(lam_mul(lam_sin(joined), lam_square(turned)), NULL);
}

/* From three numbers, of which one is in the middle, to as many as calls are made for. */
START_TEST(gradients_of_stencils) {
    static const int64_t sizes[] = {3, 10, 100, 5000};
    lam_fn *grad = lam_value_and_grad(FN(spread_out, 2, 1), &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    lam_fn *all = lam_vmap(grad, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)});
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        lam_tensor *x = lam_linspace(ctx, LAM_F64, -2, 3, sizes[k]), *rows = lam_stack(LAM_LIST(x, lam_sin(x)), 0);
        for (int batch = 0; batch < 2; batch++) {
            const lam_list inputs = LAM_LIST(batch ? rows : x, num(0.3));
            lam_tensor *want[3], *got[3];
            ck_assert_int_eq(lam_call(batch ? all : grad, inputs, want, 3), LAM_OK);
            for (lam_jit_fusion fusion = LAM_JIT_AUTO; fusion <= LAM_JIT_NONE; fusion += LAM_JIT_NONE) {
                lam_fn *made = lam_jit(batch ? all : grad, &(lam_jit_options){.fusion = fusion});
                ck_assert_int_eq(lam_call(made, inputs, got, 3), LAM_OK);
                for (int o = 0; o < 3; o++) EXPECT_SAME(got[o], want[o], 1e-10);
            }
        }
    }
}
END_TEST

/* A stencil reads neighbours again and again, which costs machine code next to nothing: whatever its size, no operation
 * on the middle is called. */
BODY(stencil) {
    lam_tensor *u = in[0], *left = lam_slice_axis(u, 0, 0, -2), *right = lam_slice_axis(u, 0, 2, LAM_END);
    lam_tensor *middle = lam_slice_axis(u, 0, 1, -1);
    out[0] = lam_add(middle, lam_mul(in[1], lam_add(lam_sub(left, lam_mul(2.0, middle)), right)));
}

START_TEST(stencils_are_machine_code) {
    for (int64_t size = 1000; size <= 100000; size *= 10) {
        lam_tensor *x = lam_sin(lam_linspace(ctx, LAM_F64, 0, 9, size));
        lam_fn *f = FN(stencil, 2, 1), *made = lam_jit(f, &(lam_jit_options){.native = true});
        EXPECT_SAME(lam_apply(made, LAM_LIST(x, num(0.3))), lam_apply(f, LAM_LIST(x, num(0.3))), 0);
        ck_assert_int_eq(lam_jit_report_of(made).fused, lam_jit_report_of(made).equations);
    }
}
END_TEST

/* What is put together of v2: f64[40] = sin(v0), v10: f64[40] = v0 v2, and ends of v0, constants or one another: in
 * order, twice, backwards, in part, by rows and columns, of other dtypes, and what is made of it. */
static const char *const joined[] = {
    "v5: f64[42] = concatenate(v3, v2, v4) axis=0, fresh=0\nreturn v5\n",
    "v5: f64[80] = concatenate(v2, v10) axis=0, fresh=0\nreturn v5\n",
    "v5: f64[81] = concatenate(v2, v3, v2) axis=0, fresh=0\nreturn v5\n",
    "v5: f64[41] = concatenate(c0, v10) axis=0, fresh=0\nv6: f64[41] = exp(v5)\nreturn v6\n",
    "v5: f64[41] = concatenate(v10, v4) axis=0, fresh=0\nv6: f64[40] = slice(v5) start=[0], step=[1], count=[40]\n"
    "v7: f64[40] = sub(v6, v2)\nreturn v7\n",
    "v5: f64[42] = concatenate(v3, v2, v4) axis=0, fresh=0\nv6: f64[40] = slice(v5) start=[2], step=[1], count=[40]\n"
    "v7: f64[40] = sub(v6, v2)\nreturn v7\n",
    "v5: f64[40] = slice(v10) start=[39], step=[-1], count=[40]\nv6: f64[41] = concatenate(v5, v4) axis=0, fresh=0\n"
    "return v6\n",
    "v5: f64[39] = slice(v10) start=[1], step=[1], count=[39]\nv6: f64[40] = concatenate(v5, v4) axis=0, fresh=0\n"
    "v7: f64[40] = add(v6, v10)\nreturn v7\n",
    "v5: f64[40, 1] = reshape(v2) dims=[40, 1]\nv6: f64[40, 1] = reshape(v10) dims=[40, 1]\n"
    "v7: f64[40, 2] = concatenate(v5, v6) axis=1, fresh=0\nv8: f64[1, 2] = concatenate(c1, c1) axis=1, fresh=0\n"
    "v9: f64[41, 2] = concatenate(v7, v8) axis=0, fresh=0\nreturn v9\n",
    "v5: f64[1, 40] = reshape(v2) dims=[1, 40]\nv6: f64[1, 40] = reshape(v10) dims=[1, 40]\n"
    "v7: f64[2, 40] = concatenate(v5, v6) axis=0, fresh=0\nv8: f64[2, 1] = concatenate(c1, c1) axis=0, fresh=0\n"
    "v9: f64[2, 41] = concatenate(v8, v7) axis=1, fresh=0\nreturn v9\n",
    "v5: f32[40] = cast(v10) dtype=f32\nv6: f32[1] = cast(v4) dtype=f32\n"
    "v7: f32[41] = concatenate(v6, v5) axis=0, fresh=0\nreturn v7\n",
    "v5: bool[40] = gt(v2, 0:f64)\nv6: bool[1] = gt(v4, 0:f64)\n"
    "v7: bool[42] = concatenate(v6, v5, v6) axis=0, fresh=0\nreturn v7\n",
    "v5: f64[80] = concatenate(v0, v2) axis=0, fresh=0\nreturn v5\n",
};

START_TEST(lanes_with_ends) {
    lam_tensor *x = lam_linspace(ctx, LAM_F64, -1, 2, 40);
    for (size_t k = 0; k < sizeof joined / sizeof *joined; k++) {
        char whole[1024];
        snprintf(whole, sizeof whole, "%s%s}\n",
                 "program f(v0: f64[40]) {\nc0: f64[1] = spread 3\nc1: f64[1, 1] = spread 4\nv2: f64[40] = sin(v0)\n"
                 "v10: f64[40] = mul(v0, v2)\nv3: f64[1] = slice(v0) start=[0], step=[1], count=[1]\n"
                 "v4: f64[1] = slice(v0) start=[39], step=[1], count=[1]\n",
                 joined[k]);
        lam_program *p = lam_program_read(ctx, whole);
        ck_assert_msg(lam_status_of(ctx) == LAM_OK, "%s: %s", joined[k], lam_error(ctx));
        for (lam_jit_fusion fusion = LAM_JIT_AUTO; fusion <= LAM_JIT_NONE; fusion++) {
            lam_fn *made = lam_jit(p, &(lam_jit_options){.fusion = fusion});
            EXPECT_SAME(lam_apply(made, LAM_LIST(x)), lam_apply(p, LAM_LIST(x)), 0);
        }
    }
}
END_TEST

/* Steps of the heat equation, whose ends stay what they are: a part each, which puts its results where they belong. */
/* Two columns of the same lanes, and a row before or behind them. */
BODY(columns_with_a_row) {
    lam_tensor *y = lam_sin(in[0]), *row = lam_zeros(ctx, LAM_F64, LAM_DIMS(1, 2));
    lam_tensor *columns = lam_stack(LAM_LIST(y, y), 1);
    out[0] = env ? lam_concatenate(LAM_LIST(row, columns), 0) : lam_concatenate(LAM_LIST(columns, row), 0);
}

/* The second of two lanes is beside the first one's other place, too. */
START_TEST(lanes_that_are_there_twice) {
    static const int64_t sizes[] = {2, 3, 8};
    int before;
    for (int k = 0; k < 6; k++) {
        lam_tensor *x = lam_linspace(ctx, LAM_F64, 0.1, 1, sizes[k / 2]);
        lam_fn *f = FN_ENV(columns_with_a_row, 1, 1, k % 2 ? &before : NULL);
        EXPECT_SAME(apply1(lam_jit(f, &(lam_jit_options){.fusion = LAM_JIT_ALL}), x), apply1(f, x), 0);
    }
}
END_TEST

BODY(warmed) {
    lam_tensor *middle[1], *u = in[1];
    stencil(ctx, LAM_LIST(u, in[2]).items, middle, NULL);
    lam_tensor *all[] = {lam_slice_axis(u, 0, 0, 1), middle[0], lam_slice_axis(u, 0, -1, LAM_END)};
    out[0] = lam_concatenate((lam_list){3, all}, 0);
}

BODY(warmed_for_long) {
    lam_fn *step = lam_fn_new(
        ctx,
        &(lam_fn_options){.name = "warmed", .body = warmed, .inputs = 2, .outputs = 1, .captures = LAM_LIST(in[1])});
    lam_fori(0, *(int64_t *)env, step, LAM_LIST(in[0]), out, 1);
}

START_TEST(steps_of_the_heat_equation) {
    static int64_t trips[] = {1, 5, 100};
    lam_tensor *x = lam_sin(lam_linspace(ctx, LAM_F64, 0, 9, 1000));
    for (size_t k = 0; k < sizeof trips / sizeof *trips; k++) {
        lam_fn *f = FN_ENV(warmed_for_long, 2, 1, &trips[k]);
        for (int native = 0; native < 2; native++) {
            lam_fn *made = lam_jit(f, &(lam_jit_options){.native = native});
            EXPECT_SAME(lam_apply(made, LAM_LIST(x, num(0.3))), lam_apply(f, LAM_LIST(x, num(0.3))), 0);
            const lam_jit_report r = lam_jit_report_of(made);
            if (trips[k] < 64) ck_assert_int_eq(r.fused, r.equations);
        }
    }
    EXPECT_OK();
}
END_TEST

/* ---- single steps ------------------------------------------------------------------------------------------------ */

/* Each operation that is a step of its own. The signs of zeros are a result, since comparisons do not see them. */
BODY(single_steps) {
    lam_tensor *x = in[0], *y = in[1], *made[] = {lam_max(x, y), lam_min(x, y), lam_where(lam_lt(x, y), x, y)};
    lam_tensor *const bools[] = {lam_eq(x, y), lam_ne(x, y), lam_lt(x, y), lam_le(x, y), lam_gt(x, y), lam_ge(x, y)};
    for (int k = 0; k < 3; k++)
        out[k] = made[k], out[3 + k] = lam_copysign(lam_ones(here, lam_dtype_of(x), lam_dims_of(x)), made[k]);
    for (int k = 0; k < 6; k++) out[6 + k] = bools[k];
    out[12] = lam_stack(LAM_LIST(lam_neg(x), lam_abs(x), lam_square(x), lam_sqrt(x), lam_reciprocal(x)), 0);
    out[13] = lam_stack(LAM_LIST(lam_add(x, y), lam_sub(x, y), lam_mul(x, y), lam_div(x, y)), 0);
}

/* All pairs of numbers that are special, as steps of many lanes, of few, which fill no group, and as machine code. */
START_TEST(steps_of_special_values) {
    static const double special[] = {0.0, -0.0, 1.5, -2.5, INFINITY, -INFINITY, NAN, -NAN, 5e-324, 1e30, -1e30};
    enum { SPECIAL = sizeof special / sizeof *special, RESULTS = 14 };
    const lam_dtype dtype = _i % 2 ? LAM_F32 : LAM_F64;
    lam_tensor *all = lam_cast(lam_array(ctx, LAM_F64, LAM_DIMS(SPECIAL), special), dtype), *want[RESULTS],
               *got[RESULTS];
    lam_fn *f = FN(single_steps, 2, RESULTS);
    lam_fn *jitted = lam_jit(f, &(lam_jit_options){.fusion = LAM_JIT_ALL, .native = _i > 1});
    for (int64_t n = 1; n <= SPECIAL; n++)
        for (int64_t by = 0; by < SPECIAL; by++) {
            lam_tensor *x = lam_slice_axis(all, 0, 0, n), *y = lam_slice_axis(lam_roll(all, by, 0), 0, 0, n);
            if (n < SPECIAL && n != 1 && n != 5) continue;
            ck_assert_int_eq(lam_call(f, LAM_LIST(x, y), want, RESULTS), LAM_OK);
            ck_assert_int_eq(lam_call(jitted, LAM_LIST(x, y), got, RESULTS), LAM_OK);
            for (int o = 0; o < RESULTS; o++) EXPECT_SAME(got[o], want[o], 0);
        }
    ck_assert_int_ge(lam_jit_report_of(jitted).fused, 20);
}
END_TEST

Suite *suite_transforms_jit_parts(void) {
    Suite *suite =
        SUITE_OF("transforms/jit_parts", parts_are_added_in_place, gradients_of_stencils, stencils_are_machine_code,
                 lanes_with_ends, lanes_that_are_there_twice, steps_of_the_heat_equation);
    suite_loop(suite, steps_of_special_values, 4);
    return suite;
}
