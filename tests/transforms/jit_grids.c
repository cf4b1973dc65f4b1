/* Grids in what lam_jit compiles: rows one after the other, lines that are put together of runs, and axes that are
 * shorter than the lanes they are in. What is compared is the function itself, one operation at a time. */
#include "tests/support.h"

#include <stdio.h>

static lam_tensor *inside(lam_tensor *u, int64_t i, int64_t j) {
    return lam_at_get(
        u, LAM_AT(LAM_SLICE(1 + i, i == 1 ? LAM_END : i - 1, 1), LAM_SLICE(1 + j, j == 1 ? LAM_END : j - 1, 1)));
}

static lam_tensor *differences(lam_tensor *u) {
    lam_tensor *beside =
        lam_add(lam_add(inside(u, -1, 0), inside(u, 1, 0)), lam_add(inside(u, 0, -1), inside(u, 0, 1)));
    return lam_mul(0.1, lam_sub(beside, lam_mul(4.0, inside(u, 0, 0))));
}

/* One step of the heat equation: fixed borders, added to or set among zeros, and borders that are joined. */
BODY(padded) {
    out[0] = lam_add(in[0], lam_pad(differences(in[0]), LAM_DIMS(1, 1), LAM_DIMS(1, 1), NULL));
}

BODY(updated) {
    out[0] = lam_at_add(in[0], LAM_AT(LAM_SLICE(1, -1, 1), LAM_SLICE(1, -1, 1)), differences(in[0]));
}

BODY(turned) {
    lam_tensor *u = in[0];
    lam_tensor *beside =
        lam_add(lam_add(lam_roll(u, 1, 0), lam_roll(u, -1, 0)), lam_add(lam_roll(u, 1, 1), lam_roll(u, -1, 1)));
    out[0] = lam_add(u, lam_mul(0.1, lam_sub(beside, lam_mul(4.0, u))));
}

/* Two fields that act on each other, as of a reaction with diffusion. */
BODY(two_fields) {
    lam_tensor *u = in[0], *v = lam_roll(lam_cos(u), 2, 1), *rate = lam_mul(u, lam_square(v));
    out[0] = lam_add(lam_sub(lam_roll(u, 1, 0), rate), lam_roll(v, -3, 1));
    out[0] = lam_add(out[0], lam_pad(lam_mul(rate, v), LAM_DIMS(-1, -2), LAM_DIMS(1, 2), NULL));
}

static const lam_body steps[] = {padded, updated, turned, two_fields};
enum { STEPS = sizeof steps / sizeof *steps };

BODY(weighted) {
    lam_tensor *made[1];
    steps[*(int *)env](ctx, in, made, NULL);
    out[0] = lam_sum(lam_mul(lam_square(made[0]), lam_sin(in[0])), NULL);
}

static lam_tensor *grid(int64_t rows, int64_t columns, lam_dtype dtype) {
    lam_tensor *x = lam_sin(lam_mul(1.7, lam_iota(ctx, LAM_F64, LAM_DIMS(rows * columns), 0)));
    return lam_cast(lam_reshape(x, LAM_DIMS(rows, columns)), dtype);
}

/* From fewer columns than a line of runs has to more than a block, of full groups and others. */
START_TEST(steps_and_their_gradients) {
    static const int64_t sizes[][2] = {{3, 5}, {9, 15}, {6, 16}, {7, 19}, {12, 40}, {5, 300}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int s = 0; s < STEPS; s++)
            for (lam_jit_fusion fusion = LAM_JIT_AUTO; fusion <= LAM_JIT_ALL; fusion++) {
                lam_tensor *x = grid(sizes[k][0], sizes[k][1], k % 2 ? LAM_F32 : LAM_F64);
                lam_fn *f = FN(steps[s], 1, 1), *g = lam_grad(FN_ENV(weighted, 1, 1, &s), NULL);
                const lam_jit_options options = {.fusion = fusion};
                EXPECT_SAME(apply1(lam_jit(f, &options), x), apply1(f, x), 0);
                EXPECT_SAME(apply1(lam_jit(g, &options), x), apply1(g, x), k % 2 ? 1e-5 : 1e-13);
            }
    EXPECT_OK();
}
END_TEST

/* The same as machine code. */
START_TEST(grids_are_machine_code) {
    for (int s = 0; s < STEPS; s++)
        for (int k = 0; k < 2; k++) {
            lam_tensor *x = grid(40, k ? 200 : 64, k ? LAM_F32 : LAM_F64);
            lam_fn *f = FN(steps[s], 1, 1), *made = lam_jit(f, &(lam_jit_options){.native = true});
            lam_fn *g = lam_grad(FN_ENV(weighted, 1, 1, &s), NULL),
                   *way_back = lam_jit(g, &(lam_jit_options){.native = true});
            EXPECT_SAME(apply1(made, x), apply1(f, x), 0);
            /* Of one size of each: compilers take seconds. */
            if (k == s % 2) EXPECT_SAME(apply1(way_back, x), apply1(g, x), k ? 1e-5 : 1e-13);
            const lam_jit_report r = lam_jit_report_of(made);
            if (steps[s] == turned) ck_assert_int_eq(r.fused, r.equations);
            else ck_assert_int_ge(r.fused, r.equations - 3);
            ck_assert_int_ge(r.native, 1);
        }
    EXPECT_OK();
}
END_TEST

/* A step of 64 rows is some steps for each row and few registers, whatever its borders are: no element is moved alone.
 * Of padded borders the inside has 62 columns, in the lanes of the 64 of what it is added to. */
START_TEST(grids_go_row_by_row) {
    lam_tensor *x = grid(64, 64, LAM_F64);
    for (int s = 0; s < STEPS; s++) {
        if (steps[s] == two_fields) continue;
        lam_fn *f = FN(steps[s], 1, 1), *made = lam_jit(f, &(lam_jit_options){.fusion = LAM_JIT_ALL});
        EXPECT_SAME(apply1(made, x), apply1(f, x), 0);
        const lam_jit_report r = lam_jit_report_of(made);
        ck_assert_int_ge(r.fused, r.equations - (steps[s] == updated)); /* the inside may be set by a call */
        ck_assert_int_eq(r.parts, 1);
        ck_assert_int_lt(r.steps, 64 * 20);
        ck_assert_int_lt(r.bytes, 8192);
    }
}
END_TEST

/* Borders of three axes are joined, and what is about each row is written once for all planes. */
BODY(turned_in_space) {
    lam_tensor *u = in[0], *sum = lam_mul(-6.0, u);
    for (int axis = 0; axis < 3; axis++) sum = lam_add(lam_add(sum, lam_roll(u, 1, axis)), lam_roll(u, -1, axis));
    out[0] = lam_add(u, lam_mul(0.1, sum));
}

BODY(energy_in_space) {
    lam_tensor *made[1];
    turned_in_space(ctx, in, made, env);
    out[0] = lam_sum(lam_mul(lam_square(made[0]), lam_sin(in[0])), NULL);
}

START_TEST(planes_are_machine_code) {
    static const int64_t sizes[][3] = {{12, 10, 16}, {8, 9, 21}, {7, 3, 40}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        lam_tensor *x = lam_reshape(grid(sizes[k][0] * sizes[k][1], sizes[k][2], k == 1 ? LAM_F32 : LAM_F64),
                                    (lam_dims){3, sizes[k]});
        const lam_jit_options options = {.fusion = LAM_JIT_ALL, .native = true};
        lam_fn *f = FN(turned_in_space, 1, 1), *g = lam_grad(FN(energy_in_space, 1, 1), NULL),
               *made = lam_jit(f, &options);
        EXPECT_SAME(apply1(made, x), apply1(f, x), 0);
        EXPECT_SAME(apply1(lam_jit(g, &options), x), apply1(g, x), k == 1 ? 1e-5 : 1e-13);
        ck_assert_int_eq(lam_jit_report_of(made).fused, lam_jit_report_of(made).equations);
    }
    EXPECT_OK();
}
END_TEST

/* Lines of v0: f64[20, 24], v1 = exp(v0) and v2: bool[20, 24] = v0 > 0: both ends from elsewhere, three sources, runs
 * backwards and at steps, four runs, which are too many for one line, and of columns. */
static const char *const lines[] = {
    "v3: f64[20, 1] = slice(v0) start=[0, 23], step=[1, 1], count=[20, 1]\n"
    "v4: f64[20, 22] = slice(v1) start=[0, 1], step=[1, 1], count=[20, 22]\n"
    "v5: f64[20, 24] = concatenate(v3, v4, v3) axis=1, fresh=0\n"
    "v6: f64[20, 24] = mul(v5, v1)\nreturn v6\n",
    "v3: f64[20, 8] = slice(v0) start=[0, 7], step=[1, -1], count=[20, 8]\n"
    "v4: f64[20, 8] = slice(v1) start=[0, 3], step=[1, 2], count=[20, 8]\n"
    "v5: f64[20, 8] = slice(c0) start=[0, 3], step=[1, 1], count=[20, 8]\n"
    "v6: f64[20, 24] = concatenate(v3, v4, v5) axis=1, fresh=0\n"
    "v7: f64[20, 24] = mul(v6, v1)\nreturn v7\n",
    "v3: f64[20, 6] = slice(v0) start=[0, 9], step=[1, 1], count=[20, 6]\n"
    "v4: f64[20, 6] = slice(v0) start=[0, 2], step=[1, 1], count=[20, 6]\n"
    "v5: f64[20, 24] = concatenate(v3, v4, v3, v4) axis=1, fresh=0\n"
    "v6: f64[20, 24] = mul(v5, v1)\nreturn v6\n",
    "v3: f64[20, 12] = slice(v0) start=[19, 1], step=[-1, 2], count=[20, 12]\n"
    "v4: f64[20, 24] = update_slice(c0, v3) start=[0, 5], step=[1, 1], count=[20, 12]\n"
    "v5: f64[20, 24] = update_slice(c1, v3) start=[0, 11], step=[1, 1], count=[20, 12]\n"
    "v6: f64[20, 24] = mul(v4, v1)\n"
    "v7: f64[20, 24] = add(v5, v6)\n"
    "v8: f64[20, 24] = mul(v7, v1)\nreturn v8\n",
    "v3: bool[20, 23] = slice(v2) start=[0, 1], step=[1, 1], count=[20, 23]\n"
    "v4: bool[20, 1] = slice(v2) start=[0, 0], step=[1, 1], count=[20, 1]\n"
    "v5: bool[20, 24] = concatenate(v3, v4) axis=1, fresh=0\n"
    "v6: f32[20, 24] = cast(v5) dtype=f32\n"
    "v7: f32[20, 23] = slice(v6) start=[0, 1], step=[1, 1], count=[20, 23]\n"
    "v8: f32[20, 24] = update_slice(v6, v7) start=[0, 0], step=[1, 1], count=[20, 23]\n"
    "v9: f64[20, 24] = cast(v8) dtype=f64\n"
    "v10: f64[20, 24] = mul(v9, v1)\nreturn v10\n",
    "v3: f64[19, 24] = slice(v0) start=[1, 0], step=[1, 1], count=[19, 24]\n"
    "v4: f64[1, 24] = slice(v1) start=[0, 0], step=[1, 1], count=[1, 24]\n"
    "v5: f64[20, 24] = concatenate(v3, v4) axis=0, fresh=0\n"
    "v6: f64[20, 24] = mul(v5, v1)\nreturn v6\n",
};

/* A program of one grid, with these constants and lines, in every way of compiling it. */
static void expect_compiled(const char *constants, const char *rest) {
    char whole[1024];
    lam_tensor *x = grid(20, 24, LAM_F64);
    snprintf(whole, sizeof whole, "program f(v0: f64[20, 24]) {\n%s%s}\n", constants, rest);
    lam_program *p = lam_program_read(ctx, whole);
    ck_assert_msg(lam_status_of(ctx) == LAM_OK, "%s: %s", rest, lam_error(ctx));
    for (lam_jit_fusion fusion = LAM_JIT_AUTO; fusion <= LAM_JIT_NONE; fusion++)
        EXPECT_SAME(apply1(lam_jit(p, &(lam_jit_options){.fusion = fusion}), x), apply1(p, x), 0);
    lam_fn *native = lam_jit(p, &(lam_jit_options){.fusion = LAM_JIT_ALL, .native = true});
    EXPECT_SAME(apply1(native, x), apply1(p, x), 1e-15);
    EXPECT_OK();
}

START_TEST(lines_of_runs) {
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
        expect_compiled("c0: f64[20, 24] = spread 0\nc1: f64[20, 24] = spread 3\n"
                        "v1: f64[20, 24] = exp(v0)\nv2: bool[20, 24] = gt(v0, 0:f64)\n",
                        lines[k]);
}
END_TEST

/* With fixed borders the gradient is two passes, of which the first writes the cotangent; in a loop it is one. */
BODY(line_padded) {
    lam_tensor *u = in[0], *l = lam_slice_axis(u, 0, 0, -2), *m = lam_slice_axis(u, 0, 1, -1),
               *r = lam_slice_axis(u, 0, 2, LAM_END);
    out[0] = lam_add(u, lam_pad(lam_mul(0.2, lam_sub(lam_add(l, r), lam_mul(2.0, m))), LAM_DIMS(1), LAM_DIMS(1), NULL));
}

BODY(line_energy) {
    lam_tensor *made[1];
    line_padded(ctx, in, made, env);
    out[0] = lam_sum(lam_square(made[0]), NULL);
}

START_TEST(gradients_with_fixed_borders_are_few_passes) {
    static const int64_t sizes[] = {40, 1000, 1003};
    int padded_step = 0;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        lam_tensor *x = lam_reshape(grid(1, sizes[k], LAM_F64), LAM_DIMS(sizes[k]));
        lam_fn *g = lam_grad(FN(line_energy, 1, 1), NULL), *made = lam_jit(g, &(lam_jit_options){.native = true});
        EXPECT_SAME(apply1(made, x), apply1(g, x), 1e-14);
        if (sizes[k] > 40) ck_assert_int_le(lam_jit_report_of(made).parts, 2);
    }
    lam_fn *g = lam_grad(FN_ENV(weighted, 1, 1, &padded_step), NULL),
           *made = lam_jit(g, &(lam_jit_options){.native = true});
    lam_tensor *x = grid(64, 64, LAM_F64);
    EXPECT_SAME(apply1(made, x), apply1(g, x), 1e-13);
    const lam_jit_report r = lam_jit_report_of(made);
    ck_assert_int_eq(r.fused, r.equations);
    ck_assert_int_le(r.parts, 2);
    ck_assert_int_lt(r.steps, 64 * 60);
}
END_TEST

/* Of v0: f64[20, 24], with 24 lanes: what is stored is shorter (in the last block, and up to the middle), what is moved
 * goes to both sides and once more; lines are made of two results, and of one and memory; numbers that would be rare
 * stand where nobody looks; bools and integers; and an axis that is too short. */
static const char *const shorts[] = {
    "v1: f64[20, 22] = slice(v0) start=[0, 2], step=[1, 1], count=[20, 22]\n"
    "v2: f64[20, 22] = slice(v0) start=[0, 0], step=[1, 1], count=[20, 22]\n"
    "v3: f64[20, 22] = sub(v1, v2)\nreturn v3\n",
    "v1: f64[20, 12] = slice(v0) start=[0, 1], step=[1, 2], count=[20, 12]\n"
    "v2: f64[20, 12] = slice(v0) start=[0, 0], step=[1, 2], count=[20, 12]\n"
    "v3: f64[20, 12] = mul(v1, v2)\nreturn v3\n",
    "v1: f64[20, 21] = slice(v0) start=[0, 3], step=[1, 1], count=[20, 21]\n"
    "v2: f64[20, 21] = mul(v1, v1)\n"
    "v3: f64[20, 24] = update_slice(c0, v2) start=[0, 0], step=[1, 1], count=[20, 21]\n"
    "v4: f64[20, 24] = update_slice(c0, v2) start=[0, 2], step=[1, 1], count=[20, 21]\n"
    "v5: f64[20, 24] = sub(v3, v4)\n"
    "v6: f64[20, 22] = slice(v5) start=[0, 1], step=[1, 1], count=[20, 22]\n"
    "v7: f64[20, 22] = add(v6, v6)\n"
    "v8: f64[20, 24] = update_slice(v5, v7) start=[0, 2], step=[1, 1], count=[20, 22]\nreturn v8\n",
    "v1: f64[20, 13] = slice(v0) start=[0, 4], step=[1, 1], count=[20, 13]\n"
    "v2: f64[20, 13] = neg(v1)\n"
    "v3: f64[20, 12] = slice(v0) start=[0, 12], step=[1, 1], count=[20, 12]\n"
    "v4: f64[20, 12] = square(v3)\n"
    "v5: f64[20, 11] = slice(v2) start=[0, 1], step=[1, 1], count=[20, 11]\n"
    "v6: f64[20, 1] = slice(v0) start=[0, 5], step=[1, 1], count=[20, 1]\n"
    "v7: f64[20, 24] = concatenate(v5, v6, v4) axis=1, fresh=0\n"
    "v8: f64[20, 24] = add(v7, v0)\nreturn v8\n",
    "v1: f64[20, 22] = slice(v0) start=[0, 1], step=[1, 1], count=[20, 22]\n"
    "v2: f64[20, 22] = square(v1)\n"
    "v3: f64[20, 22] = add(0.5:f64, v2)\n"
    "v4: f64[20, 22] = rsqrt(v3)\n"
    "v5: f64[20, 22] = mul_div(v1, v4, v3)\n"
    "v6: f64[20, 24] = update_slice(v0, v5) start=[0, 1], step=[1, 1], count=[20, 22]\nreturn v6\n",
    "v1: bool[20, 24] = gt(v0, 0:f64)\n"
    "v2: bool[20, 23] = slice(v1) start=[0, 1], step=[1, 1], count=[20, 23]\n"
    "v3: bool[20, 23] = not(v2)\n"
    "v4: i64[20, 23] = cast(v3) dtype=i64\n"
    "v5: i64[20, 1] = slice(v4) start=[0, 3], step=[1, 1], count=[20, 1]\n"
    "v6: i64[20, 24] = concatenate(v5, v4) axis=1, fresh=0\n"
    "v7: f64[20, 24] = cast(v6) dtype=f64\n"
    "v8: f64[20, 24] = mul(v7, v0)\nreturn v8\n",
    "v1: f64[20, 24] = square(v0)\n"
    "v2: f64[20, 13] = slice(v0) start=[0, 9], step=[1, 1], count=[20, 13]\n"
    "v3: f64[20, 24] = update_slice(v1, v2) start=[0, 5], step=[1, 1], count=[20, 13]\n"
    "v4: f64[20, 24] = add(v3, v0)\nreturn v4\n",
    "v1: f64[20, 9] = slice(v0) start=[0, 1], step=[1, 1], count=[20, 9]\n"
    "v2: f64[20, 9] = abs(v1)\n"
    "v3: f64[20, 24] = update_slice(v0, v2) start=[0, 3], step=[1, 1], count=[20, 9]\n"
    "v4: f64[20, 23] = slice(v3) start=[0, 1], step=[1, 1], count=[20, 23]\n"
    "v5: f64[20, 23] = add(v4, v4)\nreturn v5\n",
};

START_TEST(short_axes) {
    for (size_t k = 0; k < sizeof shorts / sizeof *shorts; k++)
        expect_compiled("c0: f64[20, 24] = spread 0\n", shorts[k]);
}
END_TEST

Suite *suite_transforms_jit_grids(void) {
    return SUITE_OF("transforms/jit_grids", steps_and_their_gradients, grids_are_machine_code, grids_go_row_by_row,
                    planes_are_machine_code, lines_of_runs, gradients_with_fixed_borders_are_few_passes, short_axes);
}
