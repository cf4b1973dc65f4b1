/* Rotations of space. Quaternions and rotation vectors are functions of squared angles, which have all derivatives
 * where there is no rotation and so no axis: near that they are series in the square, beyond it what they are called.
 * All composed. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"

#include <lamina/ops.h>
#include <lamina/rotation.h>
#include <lamina/tensor.h>

#include <string.h>

#define PI 3.14159265358979323846

/* n operands in one real dtype, of which x[i] has sizes[i] elements along its last axis (0: any); of halves f32. False:
 * *failed is the result. Only halves make a difference between what a function works in and *dtype, which callers bring
 * results back to. Axes in front broadcast by the operations themselves. */
static bool collect(const char *operation, size_t n, lam_tensor *x[], const int64_t sizes[], lam_dtype *dtype,
                    lam_tensor **failed) {
    if (!lam__matrices_ordered(operation, true, n, x, failed)) return false;
    for (size_t i = 0; i < n; i++)
        if (sizes[i] && (lam_rank(x[i]) == 0 || lam_dim(x[i], -1) != sizes[i])) {
            *failed = lam__matrices_fail(operation, n, x, LAM_ERR_SHAPE, NULL, "operand %zu needs a last axis of %lld",
                                         i, (long long)sizes[i]);
            return false;
        }
    *dtype = lam__apply_floats((int)n, x);
    return true;
}

/* Element i of the vectors, and the parts of a quaternion. The real part is the last, as in SciPy. */
static lam_tensor *part(lam_tensor *x, int i) {
    return lam_index(x, -1, i);
}

/* The slice keeps its axis, so that it goes into products with vectors. */
static lam_tensor *axis_of(lam_tensor *q) {
    return lam_slice_axis(q, -1, 0, 3);
}

/* One element, with its axis. */
static lam_tensor *real_of(lam_tensor *q) {
    return lam_slice_axis(q, -1, 3, 4);
}

/* Squares, not lengths: a length has no derivative at 0. */
static lam_tensor *square_of(lam_tensor *x) {
    return lam_sum(lam_square(x), &(lam_reduce_options){.axes = LAM_AXES(-1), .keepdims = true});
}

/* x / |x|, and 0 for a quaternion of zeros, which has no direction. */
static lam_tensor *unit(lam_tensor *q) {
    return lam_norm_slope(q, LAM_AXES(-1));
}

/* The way back, for a quaternion of length 1. */
static lam_tensor *conjugate(lam_tensor *q) {
    return lam_concatenate(LAM_LIST(lam_neg(axis_of(q)), real_of(q)), -1);
}

/* ---- angles that may be 0 ---------------------------------------------------------------------------------------- */

/* 64^-11 is 2^-66: the series of turn_over ends below the rounding of f64. Those of half_turn, which fall like
 * factorials, would need fewer. */
enum { TERMS = 11 };

/* The sum of c_k s^k, the highest first. Coefficients are those of f64, rounded for f32. */
static lam_tensor *series(lam_tensor *s, const double c[TERMS]) {
    return lam_polyval(lam_cast(lam_array(lam_ctx_of(s), LAM_F64, LAM_DIMS(TERMS), c), lam_dtype_of(s)), s);
}

/* sin(a/2) / a and cos(a/2) of the square s of an angle. Of s up to 1/4 the series end below the rounding, and so do
 * their derivatives. Operands are chosen before the functions, on both sides, so that no derivative divides by 0. Terms
 * of the cosine are (-s/4)^k / (2 k)!. */
static void half_turn(lam_tensor *s, lam_tensor **sine, lam_tensor **cosine) {
    double c[TERMS], d[TERMS], term = 1;
    for (int k = 0; k < TERMS; k++) {
        d[TERMS - 1 - k] = term;
        c[TERMS - 1 - k] = term / (2 * (2 * k + 1));
        term /= -4.0 * (2 * k + 1) * (2 * k + 2);
    }
    lam_tensor *small = lam_lt(s, 0.25), *near = lam_where(small, s, 0.0);
    lam_tensor *angle = lam_sqrt(lam_where(small, 1.0, s)), *sin, *cos;
    lam_sincos(lam_mul(0.5, angle), &sin, &cos);
    *sine = lam_where(small, series(near, c), lam_div(sin, angle));
    *cosine = lam_where(small, series(near, d), cos);
}

/* 2 atan(r/w) / r of the square s of r and of w >= 0. Where r is small this is a series in (r/w)^2, whose terms
 * alternate. */
static lam_tensor *turn_over(lam_tensor *s, lam_tensor *w) {
    double c[TERMS];
    for (int k = 0; k < TERMS; k++) c[TERMS - 1 - k] = (k % 2 ? -2.0 : 2.0) / (2 * k + 1);
    lam_tensor *small = lam_lt(lam_mul(64.0, s), lam_square(w)), *below = lam_where(small, w, 1.0);
    lam_tensor *near = lam_div(series(lam_div(lam_where(small, s, 0.0), lam_square(below)), c), below);
    lam_tensor *r = lam_sqrt(lam_where(small, 1.0, s));
    return lam_where(small, near, lam_div(lam_mul(2.0, lam_atan2(r, w)), r));
}

/* The unit quaternion of a rotation vector: (v sin(|v|/2) / |v|, cos(|v|/2)). The length is 1 up to rounding, so it is
 * not divided by. */
static lam_tensor *exponential(lam_tensor *v) {
    lam_tensor *sine, *cosine;
    half_turn(square_of(v), &sine, &cosine);
    return lam_concatenate(LAM_LIST(lam_mul(v, sine), cosine), -1);
}

/* Of q and -q, which are one rotation, the one by half a turn at most. At half a turn both are, and q is kept. */
static lam_tensor *logarithm(lam_tensor *q) {
    q = lam_where(lam_lt(real_of(q), 0.0), lam_neg(q), q);
    lam_tensor *axis = axis_of(q);
    return lam_mul(axis, turn_over(square_of(axis), real_of(q)));
}

/* Without a rotation it is (0, 0, 0, 1), with the slope 1/2. */
lam_tensor *lam_quat_from_rotvec(lam_tensor *v) {
    uint64_t since = lam__scope_now(v);
    lam_tensor *failed;
    lam_dtype dtype;
    if (!collect("quat_from_rotvec", 1, &v, (int64_t[]){3}, &dtype, &failed)) return failed;
    return lam__scope_only(lam__apply_narrowed(exponential(v), dtype), since);
}

/* The length of q plays no part: turn_over takes the angle between its two parts. */
lam_tensor *lam_rotvec_from_quat(lam_tensor *q) {
    uint64_t since = lam__scope_now(q);
    lam_tensor *failed;
    lam_dtype dtype;
    if (!collect("rotvec_from_quat", 1, &q, (int64_t[]){4}, &dtype, &failed)) return failed;
    return lam__scope_only(lam__apply_narrowed(logarithm(q), dtype), since);
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* (u, a) (v, b) = (a v + b u + u x v, a b - u v). */
static lam_tensor *product(lam_tensor *p, lam_tensor *q) {
    lam_tensor *u = axis_of(p), *v = axis_of(q), *a = real_of(p), *b = real_of(q);
    lam_tensor *dot = lam_sum(lam_mul(u, v), &(lam_reduce_options){.axes = LAM_AXES(-1), .keepdims = true});
    lam_tensor *axis = lam_add(lam_add(lam_mul(a, v), lam_mul(b, u)), lam_cross(u, v, -1));
    return lam_concatenate(LAM_LIST(axis, lam_sub(lam_mul(a, b), dot)), -1);
}

/* Lengths multiply; they are not brought to 1, so products of any quaternions can be had. */
lam_tensor *lam_quat_mul(lam_tensor *p, lam_tensor *q) {
    uint64_t since = lam__scope_now(p);
    lam_tensor *in[2] = {p, q}, *failed;
    lam_dtype dtype;
    if (!collect("quat_mul", 2, in, (int64_t[]){4, 4}, &dtype, &failed)) return failed;
    return lam__scope_only(lam__apply_narrowed(product(in[0], in[1]), dtype), since);
}

lam_tensor *lam_quat_conj(lam_tensor *q) {
    uint64_t since = lam__scope_now(q);
    lam_tensor *failed;
    lam_dtype dtype;
    if (!collect("quat_conj", 1, &q, (int64_t[]){4}, &dtype, &failed)) return failed;
    return lam__scope_only(lam__apply_narrowed(conjugate(q), dtype), since);
}

/* v + 2 u x (u x v + a v) for (u, a) of length 1. Two cross products; no matrix is made. */
lam_tensor *lam_quat_rotate(lam_tensor *q, lam_tensor *v) {
    uint64_t since = lam__scope_now(q);
    lam_tensor *in[2] = {q, v}, *failed;
    lam_dtype dtype;
    if (!collect("quat_rotate", 2, in, (int64_t[]){4, 3}, &dtype, &failed)) return failed;
    lam_tensor *one = unit(in[0]), *u = axis_of(one);
    lam_tensor *inner = lam_add(lam_cross(u, in[1], -1), lam_mul(real_of(one), in[1]));
    lam_tensor *out = lam_add(in[1], lam_mul(2.0, lam_cross(u, inner, -1)));
    return lam__scope_only(lam__apply_narrowed(out, dtype), since);
}

/* From p on by the part t of the rotation that leads from p to q. The logarithm takes the shorter way round, since q
 * and -q are one rotation. Of t outside [0, 1] it goes on beyond. */
lam_tensor *lam_slerp(lam_tensor *p, lam_tensor *q, lam_tensor *t) {
    uint64_t since = lam__scope_now(p);
    lam_tensor *in[3] = {p, q, t}, *failed;
    lam_dtype dtype;
    if (!collect("slerp", 3, in, (int64_t[]){4, 4, 0}, &dtype, &failed)) return failed;
    lam_tensor *from = unit(in[0]), *way = logarithm(product(conjugate(from), in[1]));
    lam_tensor *out = product(from, exponential(lam_mul(lam_expand_dims(in[2], -1), way)));
    return lam__scope_only(lam__apply_narrowed(out, dtype), since);
}

/* ---- matrices ---------------------------------------------------------------------------------------------------- */

/* The last axis in front, so that what is done with each element goes along many of them side by side. lam_contiguous
 * makes the copy for that. */
static lam_tensor *in_front(lam_tensor *x) {
    return lam_contiguous(lam_moveaxis(x, -1, 0));
}

/* Of the direction of q alone, so any length will do. */
lam_tensor *lam_matrix_from_quat(lam_tensor *q) {
    uint64_t since = lam__scope_now(q);
    lam_tensor *failed, *cell[9];
    lam_dtype dtype;
    if (!collect("matrix_from_quat", 1, &q, (int64_t[]){4}, &dtype, &failed)) return failed;
    lam_tensor *one = lam_norm_slope(in_front(q), LAM_AXES(0)), *u[4];
    for (int i = 0; i < 4; i++) u[i] = lam_index(one, 0, i);
    /* i, j, k go in a circle: 1 - 2 (u_j^2 + u_k^2) on the diagonal, 2 (u_i u_j -+ u_k w) to both sides of it. */
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        lam_tensor *both = lam_mul(u[i], u[j]), *third = lam_mul(u[k], u[3]);
        cell[4 * i] = lam_sub(1.0, lam_mul(2.0, lam_add(lam_square(u[j]), lam_square(u[k]))));
        cell[3 * i + j] = lam_mul(2.0, lam_sub(both, third));
        cell[3 * j + i] = lam_mul(2.0, lam_add(both, third));
    }
    lam_dims own = lam_dims_of(q);
    int64_t dims[LAM_INNER_RANK + 1];
    for (int i = 0; i + 1 < own.rank; i++) dims[i] = own.dims[i];
    dims[own.rank - 1] = dims[own.rank] = 3;
    lam_tensor *all = lam_reshape(lam_stack((lam_list){9, cell}, -1), (lam_dims){own.rank + 1, dims});
    return lam__scope_only(lam__apply_narrowed(all, dtype), since);
}

/* Of matrices whose rows and columns are in front. */
static lam_tensor *cell_of(lam_tensor *m, int row, int column) {
    return lam_index(lam_index(m, 0, row), 0, column);
}

/* 4 q_i q of the unit quaternion q: it has the direction of q, and is made of sums of elements of the matrix. It is
 * good where q_i is not small, and chosen where it is the largest (Shepperd, Quaternion from rotation matrix, 1978).
 * The sums of two elements beside the diagonal are 4 q_a q_b, the differences 4 q_a w. */
static lam_tensor *by_element(lam_tensor *m, lam_tensor *trace, int i) {
    lam_tensor *q[4];
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        lam_tensor *turn = lam_sub(cell_of(m, c, b), cell_of(m, b, c));
        if (i == 3) q[a] = turn;
        else if (i == a) {
            q[a] = lam_add(lam_sub(1.0, trace), lam_mul(2.0, cell_of(m, a, a)));
            q[3] = turn;
        } else q[a] = lam_add(cell_of(m, a, i), cell_of(m, i, a));
    }
    if (i == 3) q[3] = lam_add(1.0, trace);
    return lam_stack(LAM_LIST(q[0], q[1], q[2], q[3]), 0);
}

/* By the largest element, which is that with the largest of the diagonal and its sum; so nothing is divided by 0. All
 * four are made and one is chosen for each matrix. Branches that are not chosen have no share in the derivative. */
lam_tensor *lam_quat_from_matrix(lam_tensor *m) {
    uint64_t since = lam__scope_now(m);
    lam_tensor *failed;
    lam_dtype dtype;
    if (!collect("quat_from_matrix", 1, &m, (int64_t[]){3}, &dtype, &failed)) return failed;
    if (lam_rank(m) < 2 || lam_dim(m, -2) != 3)
        return lam__axes_fail("quat_from_matrix", m, LAM_ERR_SHAPE, "matrices of 3 rows and columns are needed");
    m = in_front(lam_moveaxis(m, -1, 0)); /* rows, columns, the rest */
    lam_tensor *diagonal[3] = {cell_of(m, 0, 0), cell_of(m, 1, 1), cell_of(m, 2, 2)};
    lam_tensor *trace = lam_add(lam_add(diagonal[0], diagonal[1]), diagonal[2]);
    lam_tensor *sizes = lam_stack(LAM_LIST(diagonal[0], diagonal[1], diagonal[2], trace), 0);
    lam_tensor *which = lam_argmax(sizes, 0), *q = by_element(m, trace, 3);
    for (int i = 0; i < 3; i++) q = lam_where(lam_eq(which, i), by_element(m, trace, i), q);
    q = lam_contiguous(lam_moveaxis(lam_norm_slope(q, LAM_AXES(0)), 0, -1));
    return lam__scope_only(lam__apply_narrowed(q, dtype), since);
}

/* ---- Euler angles ------------------------------------------------------------------------------------------------ */

/* Axes as numbers; intrinsic: in capitals, about axes that turn with the body. A body that has turned already takes its
 * axes along. */
typedef struct sequence {
    int count, axis[3];
    bool intrinsic;
} sequence;

/* One to three of x, y, z, of which neighbours differ; all of one case. Two neighbours alike would be one rotation. */
static bool read(const char *text, sequence *s) {
    static const char names[] = "xyzXYZ";
    *s = (sequence){.count = 0};
    const size_t length = text ? strlen(text) : 0;
    if (length < 1 || length > 3) return false;
    s->count = (int)length;
    for (int i = 0; i < s->count; i++) {
        const char *at = strchr(names, text[i]);
        if (!at || (i > 0 && (at - names >= 3) != s->intrinsic)) return false;
        s->intrinsic = at - names >= 3;
        s->axis[i] = (int)((at - names) % 3);
        if (i > 0 && s->axis[i] == s->axis[i - 1]) return false;
    }
    return true;
}

/* Eight characters are enough to see what was meant. */
static lam_tensor *no_axes(const char *operation, lam_tensor *x, const char *text) {
    return lam__axes_fail_with(operation, x, LAM_ERR_VALUE,
                               "write \"xyz\" about axes that stay, \"ZYX\" about axes that turn with the body",
                               "\"%.8s\" does not name axes", text ? text : "");
}

/* A rotation about an axis that stays is multiplied from the left, one about an axis that turns from the right. Each
 * has half its angle in the quaternion. */
lam_tensor *lam_quat_from_euler(const char *axes, lam_tensor *angles) {
    uint64_t since = lam__scope_now(angles);
    lam_tensor *failed, *q = NULL;
    lam_dtype dtype;
    sequence s;
    const bool known = read(axes, &s);
    if (!collect("quat_from_euler", 1, &angles, (int64_t[]){s.count}, &dtype, &failed)) return failed;
    if (!known) return no_axes("quat_from_euler", angles, axes);
    for (int i = 0; i < s.count; i++) {
        lam_tensor *sine, *cosine, *next;
        lam_sincos(lam_mul(0.5, part(angles, i)), &sine, &cosine);
        lam_tensor *none = lam_zeros_like(sine);
        next = lam_stack(
            LAM_LIST(s.axis[i] == 0 ? sine : none, s.axis[i] == 1 ? sine : none, s.axis[i] == 2 ? sine : none, cosine),
            -1);
        q = !q ? next : s.intrinsic ? product(q, next) : product(next, q);
    }
    return lam__scope_only(lam__apply_narrowed(q, dtype), since);
}

/* Within half a turn. Sums of two arctangents lie within twice that. So one addition is enough. */
static lam_tensor *wrapped(lam_tensor *x) {
    return lam_where(lam_gt(x, PI), lam_sub(x, 2 * PI), lam_where(lam_lt(x, -PI), lam_add(x, 2 * PI), x));
}

/* Bernardes and Viollet, Quaternion to Euler angles conversion, 2022, for axes that stay; those that turn are the same
 * in the other order. Where the first and the third axis coincide, their angles are known by sum or difference alone,
 * and the third is taken as 0. An angle within 1e-7 of that counts as such, as in SciPy. k is the axis left over where
 * the first comes twice, else the last. */
static lam_tensor *angles_of(lam_tensor *q, const sequence *s) {
    const int i = s->axis[s->intrinsic ? 2 : 0], j = s->axis[1], last = s->axis[s->intrinsic ? 0 : 2];
    const bool symmetric = i == last;
    const int k = symmetric ? 3 - i - j : last;
    const double sign = (i - j) * (j - k) * (k - i) / 2;
    lam_tensor *a = part(q, 3), *b = part(q, i), *c = part(q, j), *d = lam_mul(sign, part(q, k)), *angle[3];
    if (!symmetric) {
        lam_tensor *w = a, *x = b, *y = c, *z = d;
        a = lam_sub(w, y), b = lam_add(x, z), c = lam_add(y, w), d = lam_sub(z, x);
    }
    lam_tensor *second = lam_mul(2.0, lam_atan2(lam_hypot(c, d), lam_hypot(a, b)));
    lam_tensor *none = lam_le(second, 1e-7), *half = lam_ge(second, PI - 1e-7), *locked = lam_or(none, half);
    /* 1 stands for what is nearly 0 there: atan2 of two zeros has no derivative. */
    lam_tensor *sum = lam_atan2(b, lam_where(half, 1.0, a)), *difference = lam_atan2(d, lam_where(none, 1.0, c));
    lam_tensor *first = lam_sub(sum, difference), *third = lam_add(sum, difference);
    if (!symmetric) third = lam_mul(sign, third);
    lam_tensor *kept = lam_where(none, lam_mul(2.0, sum), lam_mul(s->intrinsic ? 2.0 : -2.0, difference));
    if (s->intrinsic && !symmetric) kept = lam_mul(sign, kept);
    angle[0] = lam_where(locked, kept, s->intrinsic ? third : first);
    angle[1] = symmetric ? second : lam_sub(second, PI / 2);
    angle[2] = lam_where(locked, 0.0, s->intrinsic ? first : third);
    return wrapped(lam_stack((lam_list){3, angle}, -1));
}

lam_tensor *lam_euler_from_quat(const char *axes, lam_tensor *q) {
    uint64_t since = lam__scope_now(q);
    lam_tensor *failed;
    lam_dtype dtype;
    sequence s;
    if (!collect("euler_from_quat", 1, &q, (int64_t[]){4}, &dtype, &failed)) return failed;
    if (!read(axes, &s) || s.count != 3) return no_axes("euler_from_quat", q, axes);
    return lam__scope_only(lam__apply_narrowed(angles_of(q, &s), dtype), since);
}
