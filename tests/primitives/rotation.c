/* Rotations: values from SciPy 1.17.1 and by hand, one form brought to another and back, derivatives against
 * differences also where there is no rotation, where known series say them, vmap, what is refused. */
#include "tests/support.h"

#define PI 3.14159265358979323846

static lam_tensor *some(void) {
    return VEC(0.1, -0.2, 0.3, 0.9);
}

/* Rotations of all sorts: none, half turns about each axis, small ones, others. */
static lam_tensor *many(void) {
    return lam_norm_slope(MAT(9, 4, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1e-9, 2e-9, 0, 1, 0.1, -0.2, 0.3,
                              0.9, 3, 1, 2, 0.5, 0.2, -4, 1, 0.3, 1, -1, 5, -0.1),
                          LAM_AXES(-1));
}

/* q or -q, whichever is nearer to p. */
static lam_tensor *nearer(lam_tensor *q, lam_tensor *p) {
    const lam_reduce_options last = {.axes = LAM_AXES(-1), .keepdims = true};
    return lam_where(lam_lt(lam_sum(lam_mul(p, q), &last), 0.0), lam_neg(q), q);
}

/* Elements that may be 0, with an absolute error. */
static void expect_close(lam_tensor *x, lam_tensor *y, double tolerance) {
    EXPECT_SAME(lam_add(x, 10.0), lam_add(y, 10.0), tolerance / 10);
}

START_TEST(known_rotations) {
    EXPECT_NEAR(lam_matrix_from_quat(some()), 1e-14, LAM_DIMS(3, 3), 0.7263157894736842, -0.6105263157894737,
                -0.31578947368421056, 0.5263157894736842, 0.7894736842105263, -0.3157894736842105, 0.4421052631578947,
                0.06315789473684214, 0.8947368421052632);
    EXPECT_NEAR(lam_rotvec_from_quat(some()), 1e-15, LAM_DIMS(3), 0.21060240739016323, -0.42120481478032645,
                0.6318072221704896);
    EXPECT_NEAR(lam_euler_from_quat("xyz", some()), 1e-14, LAM_DIMS(3), 0.07047134457879561, -0.4579444204670944,
                0.6270706625890183);
    EXPECT_NEAR(lam_euler_from_quat("ZYX", some()), 1e-14, LAM_DIMS(3), 0.6270706625890183, -0.4579444204670944,
                0.07047134457879561);
    EXPECT_NEAR(lam_euler_from_quat("zxz", some()), 1e-14, LAM_DIMS(3), 1.4288992721907325, 0.46295472794035675,
                -0.7853981633974483);
    EXPECT_NEAR(lam_euler_from_quat("YXY", some()), 1e-14, LAM_DIMS(3), -1.4677147182721964, 0.6608452958229667,
                1.0303768265243125);
    EXPECT_NEAR(lam_quat_from_euler("xy", VEC(0.5, -0.7)), 1e-15, LAM_DIMS(4), 0.2324045283741036, -0.33223794502093174,
                0.08483427518417373, 0.910169890093852);
    EXPECT_NEAR(lam_quat_from_euler("ZX", VEC(0.5, -0.7)), 1e-15, LAM_DIMS(4), -0.33223794502093174,
                -0.08483427518417373, 0.2324045283741036, 0.910169890093852);
    EXPECT_NEAR(lam_quat_from_euler("y", VEC(PI)), 1e-15, LAM_DIMS(4), 0, 1, 0, cos(PI / 2));
    expect_close(lam_quat_rotate(VEC(0, 0, 3, 3), VEC(1, 0, 5)), VEC(0, 1, 5), 1e-15);
    EXPECT(lam_quat_mul(VEC(1, 0, 0, 0), VEC(0, 1, 0, 0)), LAM_DIMS(4), 0, 0, 1, 0); /* i j = k */
    EXPECT(lam_quat_conj(VEC(1, 2, 3, 4)), LAM_DIMS(4), -1, -2, -3, 4);
    EXPECT(lam_quat_from_rotvec(VEC(0, 0, 0)), LAM_DIMS(4), 0, 0, 0, 1);
    EXPECT_NEAR(lam_quat_from_rotvec(VEC(3e-200, 0, -2)), 1e-15, LAM_DIMS(4), 1.5e-200 * sin(1), 0, -sin(1), cos(1));
    EXPECT_OK();
}
END_TEST

/* Whole numbers, halves and singles; what is not of length 1 is the rotation of its direction. */
START_TEST(dtypes_and_lengths_of_quaternions) {
    lam_tensor *whole = lam_array(ctx, LAM_I64, LAM_DIMS(4), (int64_t[]){0, 0, 2, 2});
    EXPECT_NEAR(lam_rotvec_from_quat(whole), 1e-15, LAM_DIMS(3), 0, 0, PI / 2);
    ck_assert_int_eq(lam_dtype_of(lam_matrix_from_quat(lam_cast(some(), LAM_F32))), LAM_F32);
    ck_assert_int_eq(lam_dtype_of(lam_rotvec_from_quat(lam_cast(some(), LAM_F16))), LAM_F16);
    lam_tensor *longer = lam_mul(7.0, some());
    EXPECT_SAME(lam_matrix_from_quat(longer), lam_matrix_from_quat(some()), 1e-14);
    EXPECT_SAME(lam_rotvec_from_quat(longer), lam_rotvec_from_quat(some()), 1e-14);
    EXPECT_SAME(lam_quat_rotate(longer, VEC(1, 2, 3)), lam_quat_rotate(some(), VEC(1, 2, 3)), 1e-14);
    EXPECT_SAME(lam_slerp(longer, lam_neg(longer), num(0.3)), lam_norm_slope(some(), LAM_AXES(0)), 1e-14);
    EXPECT_SAME(lam_rotvec_from_quat(lam_neg(some())), lam_rotvec_from_quat(some()), 0);
    EXPECT_OK();
}
END_TEST

START_TEST(forms_and_back) {
    lam_tensor *q = many(), *v = MAT(1, 3, 1, -2, 0.5), *m = lam_matrix_from_quat(q);
    expect_close(nearer(lam_quat_from_matrix(m), q), q, 1e-14);
    expect_close(nearer(lam_quat_from_rotvec(lam_rotvec_from_quat(q)), q), q, 1e-14);
    expect_close(lam_matmul(m, lam_matrix_transpose(m)),
                 lam_broadcast_to(lam_eye(ctx, LAM_F64, 3, 3), LAM_DIMS(9, 3, 3)), 1e-14);
    expect_close(lam_quat_rotate(q, v), lam_matvec(m, v), 1e-14);
    expect_close(lam_quat_rotate(lam_quat_conj(q), lam_quat_rotate(q, v)), lam_broadcast_to(v, LAM_DIMS(9, 3)), 1e-14);
    expect_close(lam_matrix_from_quat(lam_quat_mul(q, some())), lam_matmul(m, lam_matrix_from_quat(some())), 1e-14);
    static const char *const axes[] = {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "XYZ", "ZYX", "YZX", "XZY",
                                       "xyx", "xzx", "yxy", "yzy", "zxz", "zyz", "XYX", "ZXZ", "YZY", "ZYZ"};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        lam_tensor *back = lam_quat_from_euler(axes[i], lam_euler_from_quat(axes[i], q));
        expect_close(nearer(back, q), q, 2e-8); /* near a lock the third angle gives up to 1e-7 */
    }
    lam_tensor *tiny = MAT(2, 3, 1e-160, -2e-160, 3e-160, 1e-9, 2e-9, -1e-9);
    EXPECT_SAME(lam_rotvec_from_quat(lam_quat_from_rotvec(tiny)), tiny, 1e-15);
    EXPECT_OK();
}
END_TEST

/* About axes that turn, one after the other is from the left to the right. */
START_TEST(axes_that_stay_and_that_turn) {
    lam_tensor *x = lam_quat_from_euler("x", VEC(0.4)), *y = lam_quat_from_euler("y", VEC(-1.1));
    EXPECT_SAME(lam_quat_from_euler("xy", VEC(0.4, -1.1)), lam_quat_mul(y, x), 1e-15);
    EXPECT_SAME(lam_quat_from_euler("XY", VEC(0.4, -1.1)), lam_quat_mul(x, y), 1e-15);
    /* locked: 0.3 and 0.5 are known by their sum, or difference, alone */
    EXPECT_NEAR(lam_euler_from_quat("zyz", lam_quat_from_euler("zyz", VEC(0.3, 0, 0.5))), 1e-15, LAM_DIMS(3), 0.8, 0,
                0);
    EXPECT_NEAR(lam_euler_from_quat("XYZ", lam_quat_from_euler("XYZ", VEC(0.3, PI / 2, 0.5))), 1e-15, LAM_DIMS(3), 0.8,
                PI / 2, 0);
    EXPECT_OK();
}
END_TEST

START_TEST(ways_between_rotations) {
    lam_tensor *p = lam_quat_from_euler("z", VEC(0.2)), *q = lam_quat_from_euler("z", VEC(1.4));
    for (int i = 0; i <= 6; i++) {
        const double t = 0.25 * i;
        lam_tensor *want = lam_quat_from_euler("z", VEC(0.2 + 1.2 * t));
        expect_close(lam_slerp(p, q, num(t)), want, 1e-15);
        expect_close(lam_slerp(p, lam_neg(q), num(t)), want, 1e-15);
    }
    lam_tensor *at = lam_slerp(p, lam_stack(LAM_LIST(q, p), 0), VEC(0.5, 0.5));
    expect_close(at, lam_stack(LAM_LIST(lam_quat_from_euler("z", VEC(0.8)), p), 0), 1e-15);
    EXPECT_OK();
}
END_TEST

BODY(from_rotvec) {
    out[0] = lam_quat_from_rotvec(in[0]);
}
BODY(to_rotvec) {
    out[0] = lam_rotvec_from_quat(in[0]);
}
BODY(to_matrix) {
    out[0] = lam_matrix_from_quat(in[0]);
}
BODY(from_euler) {
    out[0] = lam_quat_from_euler("ZYX", in[0]);
}
BODY(to_euler) {
    out[0] = lam_euler_from_quat("zxz", in[0]);
}
BODY(turned) {
    out[0] = lam_quat_rotate(in[0], in[1]);
}
BODY(multiplied) {
    out[0] = lam_quat_mul(in[0], lam_quat_conj(in[1]));
}
BODY(on_the_way) {
    out[0] = lam_slerp(in[0], in[1], in[2]);
}

/* Through matrices, which stay rotations. */
BODY(by_matrix) {
    out[0] = lam_quat_from_matrix(lam_matrix_from_quat(lam_quat_from_rotvec(in[0])));
}

START_TEST(rotations_are_differentiated) {
    const lam_check_grads_options second = {.order = 2};
    lam_tensor *v = VEC(0.4, -0.3, 0.2), *q = some(), *p = VEC(0.3, 0.1, -0.6, 0.5), *none = VEC(0, 0, 0, 1);
    lam_tensor *vectors[] = {v, VEC(0, 0, 0), VEC(1e-4, 0, -2e-4), VEC(2, -1, 0.5)};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(lam_check_grads(FN(from_rotvec, 1, 1), LAM_LIST(vectors[i]), &second), LAM_OK);
        ck_assert_int_eq(lam_check_grads(FN(by_matrix, 1, 1), LAM_LIST(vectors[i]), &second), LAM_OK);
        ck_assert_int_eq(lam_check_grads(FN(from_euler, 1, 1), LAM_LIST(vectors[i]), &second), LAM_OK);
    }
    lam_tensor *quaternions[] = {q, p, none, VEC(2, 1, -1, -0.5), lam_neg(none)};
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(lam_check_grads(FN(to_rotvec, 1, 1), LAM_LIST(quaternions[i]), &second), LAM_OK);
        ck_assert_int_eq(lam_check_grads(FN(to_matrix, 1, 1), LAM_LIST(quaternions[i]), &second), LAM_OK);
        ck_assert_int_eq(lam_check_grads(FN(turned, 2, 1), LAM_LIST(quaternions[i], v), &second), LAM_OK);
        ck_assert_int_eq(lam_check_grads(FN(on_the_way, 3, 1), LAM_LIST(q, quaternions[i], num(0.3)), &second), LAM_OK);
    }
    ck_assert_int_eq(lam_check_grads(FN(to_euler, 1, 1), LAM_LIST(q), &second), LAM_OK);
    ck_assert_int_eq(lam_check_grads(FN(multiplied, 2, 1), LAM_LIST(q, p), &second), LAM_OK);
    EXPECT_OK();
}
END_TEST

BODY(cosine_of_half) {
    out[0] = lam_squeeze(lam_slice_axis(lam_quat_from_rotvec(in[0]), 0, 3, 4), LAM_AXES(0));
}

BODY(there_and_back) {
    out[0] = lam_sum(lam_mul(VEC(1, 2, 3), lam_rotvec_from_quat(lam_quat_from_rotvec(in[0]))), NULL);
}

/* cos(|v|/2) = 1 - |v|^2/8 + |v|^4/384 - ...: the fourth derivative along the first axis is 24/384. A way there and
 * back is the identity, of whose derivatives only the first is not 0. */
START_TEST(derivatives_where_there_is_no_rotation) {
    lam_tensor *none = VEC(0, 0, 0);
    lam_fn *f = FN(cosine_of_half, 1, 1), *second = lam_hessian(f, NULL);
    EXPECT_NEAR(apply1(second, none), 1e-15, LAM_DIMS(3, 3), -0.25, 0, 0, 0, -0.25, 0, 0, 0, -0.25);
    lam_tensor *fourth = apply1(lam_hessian(second, NULL), none); /* 1/384 of the fourth derivatives of |v|^4 */
    EXPECT_NEAR(lam_reshape(lam_slice(fourth, LAM_DIMS(0, 0, 0, 0), LAM_DIMS(1, 1, 2, 2), LAM_DIMS0), LAM_DIMS(2, 2)),
                1e-14, LAM_DIMS(2, 2), 24. / 384, 0, 0, 8. / 384);
    lam_fn *there = FN(there_and_back, 1, 1);
    EXPECT_NEAR(apply1(lam_grad(there, NULL), none), 1e-15, LAM_DIMS(3), 1, 2, 3);
    EXPECT(lam_lt(lam_abs(apply1(lam_hessian(there, NULL), none)), 1e-15), LAM_DIMS(3, 3), 1, 1, 1, 1, 1, 1, 1, 1, 1);
    lam_tensor *lock = apply1(lam_jacrev(FN(to_euler, 1, 1), NULL), VEC(0, 0, 0.1, 1));
    EXPECT(lam_all(lam_is_finite(lock), NULL), LAM_DIMS0, 1);
    EXPECT_OK();
}
END_TEST

START_TEST(rotations_in_batches) {
    lam_tensor *q = many(), *v = lam_rotvec_from_quat(q), *w = lam_slice_axis(lam_reverse(q, LAM_AXES(0)), 1, 0, 3);
    lam_tensor *t = lam_linspace(ctx, LAM_F64, 0, 1, 9), *r = lam_reverse(q, LAM_AXES(0));
    EXPECT_SAME(apply1(lam_vmap(FN(from_rotvec, 1, 1), NULL), v), lam_quat_from_rotvec(v), 0);
    EXPECT_SAME(apply1(lam_vmap(FN(to_rotvec, 1, 1), NULL), q), lam_rotvec_from_quat(q), 0);
    EXPECT_SAME(apply1(lam_vmap(FN(to_matrix, 1, 1), NULL), q), lam_matrix_from_quat(q), 0);
    EXPECT_SAME(apply1(lam_vmap(FN(to_euler, 1, 1), NULL), q), lam_euler_from_quat("zxz", q), 0);
    EXPECT_SAME(apply1(lam_vmap(FN(from_euler, 1, 1), NULL), v), lam_quat_from_euler("ZYX", v), 0);
    EXPECT_SAME(apply2(lam_vmap(FN(turned, 2, 1), NULL), q, w), lam_quat_rotate(q, w), 0);
    EXPECT_SAME(lam_apply(lam_vmap(FN(on_the_way, 3, 1), NULL), LAM_LIST(q, r, t)), lam_slerp(q, r, t), 0);
    EXPECT_SAME(apply1(lam_vmap(FN(by_matrix, 1, 1), NULL), v), lam_quat_from_matrix(lam_matrix_from_quat(q)), 1e-8);
    EXPECT_OK();
}
END_TEST

START_TEST(wrong_rotations) {
    lam_tensor *v = VEC(1, 2, 3), *q = some(), *z = lam_cast(q, LAM_C128);
    lam_quat_from_rotvec(q);
    EXPECT_ERROR(LAM_ERR_SHAPE, "quat_from_rotvec");
    lam_rotvec_from_quat(v);
    EXPECT_ERROR(LAM_ERR_SHAPE, "rotvec_from_quat");
    lam_matrix_from_quat(num(1));
    EXPECT_ERROR(LAM_ERR_SHAPE, "matrix_from_quat");
    lam_quat_from_matrix(v);
    EXPECT_ERROR(LAM_ERR_SHAPE, "quat_from_matrix");
    lam_quat_from_matrix(lam_eye(ctx, LAM_F64, 2, 3));
    EXPECT_ERROR(LAM_ERR_SHAPE, "quat_from_matrix");
    lam_quat_mul(q, z);
    EXPECT_ERROR(LAM_ERR_DTYPE, "quat_mul");
    lam_quat_conj(v);
    EXPECT_ERROR(LAM_ERR_SHAPE, "quat_conj");
    lam_quat_rotate(q, q);
    EXPECT_ERROR(LAM_ERR_SHAPE, "quat_rotate", "operand 1");
    lam_quat_rotate(q, NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "quat_rotate");
    lam_slerp(q, v, num(1));
    EXPECT_ERROR(LAM_ERR_SHAPE, "slerp");
    lam_slerp(many(), q, VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_SHAPE, "slerp");
    static const char *const names[] = {"", "xyzx", "xxy", "xYz", "abc", NULL};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        lam_quat_from_euler(names[i], v);
        EXPECT_ERROR(LAM_ERR_VALUE, "quat_from_euler", "does not name axes");
        lam_euler_from_quat(names[i], q);
        EXPECT_ERROR(LAM_ERR_VALUE, "euler_from_quat", "does not name axes");
    }
    lam_euler_from_quat("xy", q);
    EXPECT_ERROR(LAM_ERR_VALUE, "euler_from_quat");
    lam_quat_from_euler("xy", v);
    EXPECT_ERROR(LAM_ERR_SHAPE, "quat_from_euler");
}
END_TEST

Suite *suite_primitives_rotation(void) {
    return SUITE_OF("primitives/rotation", known_rotations, dtypes_and_lengths_of_quaternions, forms_and_back,
                    axes_that_stay_and_that_turn, ways_between_rotations, rotations_are_differentiated,
                    derivatives_where_there_is_no_rotation, rotations_in_batches, wrong_rotations);
}
