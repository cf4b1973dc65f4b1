/* Complex numbers in the case table. An operand is an array of reals whose last axis has two elements, the parts; the
 * call makes a complex tensor of it, applies the operation and gives the parts of the result back. So every property of
 * real rows says something about complex ones: values against C's long double complex functions, both modes against
 * differences along all real and imaginary directions, which is the pairing Re(g w) of NOTE [complex derivatives],
 * second order, batches, layouts, memory. */
#include "tests/primitives/cases_complex.h"

#include <math.h>
#include <string.h>

/* ---- elementwise ------------------------------------------------------------------------------------------------ */

/* One line per operation. */
/* clang-format off */
static number f_neg(number z) { return -z; }
static number f_square(number z) { return z * z; }
static number f_reciprocal(number z) { return 1 / z; }
static number f_rsqrt(number z) { return 1 / csqrtl(z); }
static number f_exp2(number z) { return cexpl(z * 0.693147180559945309417232121458176568L); }
static number f_expm1(number z) { return cexpl(z) - 1; }
static number f_log2(number z) { return clogl(z) / 0.693147180559945309417232121458176568L; }
static number f_log10(number z) { return clogl(z) / 2.302585092994045684017991454684364208L; }
static number f_log1p(number z) { return clogl(1 + z); }
static number f_logistic(number z) { return 1 / (1 + cexpl(-z)); }
static number f_cube(number z) { return z * z * z; }
static number f_inverse_cube(number z) { return 1 / (z * z * z); }
static number f_real(number z) { return creall(z); }
static number f_imag(number z) { return cimagl(z); }
static number f_conj(number z) { return conjl(z); }
static number f_abs(number z) { return cabsl(z); }
static number f_angle(number z) { return cargl(z); }
static number f_sign(number z) { return z / cabsl(z); }
static number f_add(number x, number y) { return x + y; }
static number f_sub(number x, number y) { return x - y; }
static number f_mul(number x, number y) { return x * y; }
static number f_div(number x, number y) { return x / y; }
static number f_select(number x, number y) { return x == y ? y : x; }
static lam_tensor *cube(lam_tensor *x) { return lam_integer_pow(x, 3); }
static lam_tensor *inverse_cube(lam_tensor *x) { return lam_integer_pow(x, -3); }
static lam_tensor *select_eq(lam_tensor *x, lam_tensor *y) { return (lam_where)(lam_ne(x, y), x, y); }
/* clang-format on */

/* ---- products and sums along an axis, matrices ------------------------------------------------------------------ */

typedef struct cases_whole {
    lam_tensor *(*call)(const cases_use *u, lam_tensor *const x[]);
} cases_whole;

static void call_whole(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    const cases_whole *w = u->row->more;
    lam_tensor *x[CASES_OPERANDS] = {NULL};
    bool fine = usable(u->inputs, in);
    for (int i = 0; i < u->inputs; i++) x[i] = fine && lam_dtype_of(in[i]) != LAM_I64 ? joined(in[i]) : in[i];
    lam_tensor *z = w->call(u, x);
    out[0] = fine ? split(z) : z;
}

/* clang-format off */
static lam_tensor *over_itself(lam_tensor *x, lam_tensor *y) { return lam_mul_div(x, x, y); }
static number f_logistic_slope(number x) { return f_logistic(x) * f_logistic(-x); }
static number f_tanh_slope(number x) { return 1 / (ccoshl(x) * ccoshl(x)); }
static number f_logit(number x) { return clogl(x) - clogl(1 - x); }
static number f_over_itself(number x, number y) { return x * x / y; }
/* clang-format on */

/* [rows, columns] of numbers: an operation along axis 0. */
static lam_tensor *whole_sum(const cases_use *u, lam_tensor *const x[]) {
    (void)u;
    return lam_sum(x[0], &(lam_reduce_options){.axes = LAM_AXES(0)});
}

static lam_tensor *whole_mean(const cases_use *u, lam_tensor *const x[]) {
    (void)u;
    return lam_mean(x[0], &(lam_reduce_options){.axes = LAM_AXES(0)});
}

static lam_tensor *whole_prod(const cases_use *u, lam_tensor *const x[]) {
    (void)u;
    return lam_prod(x[0], &(lam_reduce_options){.axes = LAM_AXES(0)});
}

static lam_tensor *whole_cumsum(const cases_use *u, lam_tensor *const x[]) {
    return u->arg[0] ? lam_cumsum_reverse(x[0], 0) : lam_cumsum(x[0], 0);
}

static lam_tensor *whole_cumprod(const cases_use *u, lam_tensor *const x[]) {
    return u->arg[0] ? lam_cumprod_reverse(x[0], 0) : lam_cumprod(x[0], 0);
}

static void along(const array *x, array *out, bool product, bool running, bool reverse) {
    int64_t rows = x->dims[0], columns = x->dims[1];
    if (running) array_like(out, x);
    else array_shape(out, x->dtype, 2, (int64_t[]){columns, 2});
    for (int64_t j = 0; j < columns; j++) {
        number total = product ? 1 : 0;
        for (int64_t k = 0; k < rows; k++) {
            int64_t at = (reverse ? rows - 1 - k : k) * columns + j;
            total = product ? total * number_at(x, at) : total + number_at(x, at);
            if (running) put(out, at, total);
        }
        if (!running) put(out, j, total);
    }
}

static void reference_sum(const cases_use *u, const array in[], array out[]) {
    along(&in[0], out, false, false, u->arg[0]);
}

static void reference_mean(const cases_use *u, const array in[], array out[]) {
    reference_sum(u, in, out);
    for (int64_t j = 0; j < in[0].dims[1]; j++) put(out, j, number_at(out, j) / (long double)in[0].dims[0]);
}

static void reference_prod(const cases_use *u, const array in[], array out[]) {
    along(&in[0], out, true, false, u->arg[0]);
}

static void reference_cumsum(const cases_use *u, const array in[], array out[]) {
    along(&in[0], out, false, true, u->arg[0]);
}

static void reference_cumprod(const cases_use *u, const array in[], array out[]) {
    along(&in[0], out, true, true, u->arg[0]);
}

static lam_tensor *whole_recurrence(const cases_use *u, lam_tensor *const x[]) {
    return lam_linear_recurrence(x[0], x[1], 0, u->arg[0]);
}

static void reference_recurrence(const cases_use *u, const array in[], array out[]) {
    int64_t rows = in[0].dims[0], columns = in[0].dims[1];
    array_like(out, &in[0]);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t k = 0; k < rows; k++) {
            int64_t at = (u->arg[0] ? rows - 1 - k : k) * columns + j, before = u->arg[0] ? at + columns : at - columns;
            put(out, at, number_at(&in[1], at) + (k ? number_at(&in[0], at) * number_at(out, before) : 0));
        }
}

/* Places of axis 0 that numbers name, some of them twice, times numbers. */
static lam_tensor *whole_scatter_mul(const cases_use *u, lam_tensor *const x[]) {
    return lam_scatter_mul(x[0], x[1], x[2], 0, (lam_index_mode)u->arg[0]);
}

static void reference_scatter_mul(const cases_use *u, const array in[], array out[]) {
    int64_t rows = in[0].dims[0], columns = in[0].dims[1];
    (void)u;
    *out = in[0];
    for (int64_t e = 0; e < in[1].count * columns; e++) {
        int64_t row = (int64_t)in[1].data[e / columns], at = (row + (row < 0 ? rows : 0)) * columns + e % columns;
        if (row >= -rows && row < rows) put(out, at, number_at(out, at) * number_at(&in[2], e));
    }
}

static lam_tensor *whole_matmul(const cases_use *u, lam_tensor *const x[]) {
    (void)u;
    return lam_dot_general(x[0], x[1],
                           &(lam_dot_general_options){.contract_x = LAM_AXES(1), .contract_y = LAM_AXES(0)});
}

static void reference_matmul(const cases_use *u, const array in[], array out[]) {
    (void)u;
    int64_t m = in[0].dims[0], k = in[0].dims[1], n = in[1].dims[1];
    array_shape(out, in[0].dtype, 3, (int64_t[]){m, n, 2});
    for (int64_t i = 0; i < m * n; i++) {
        number sum = 0;
        for (int64_t q = 0; q < k; q++) sum += number_at(&in[0], i / n * k + q) * number_at(&in[1], q * n + i % n);
        put(out, i, sum);
    }
}

/* ---- solves: elimination without exchanges, so the matrices are dominated by their diagonal ---------------------- */

static void fill_dominant(const cases_use *u, int i, array *x) {
    (void)u;
    int64_t n = x->dims[0];
    for (int64_t k = 0; i == 0 && k < n; k++) x->data[2 * (k * n + k)] += 5;
}

static void fill_main(const cases_use *u, int i, array *x) {
    (void)u;
    for (int64_t k = 0; i == 1 && k < x->count; k += 2) x->data[k] += 5;
}

/* a x = b for one matrix of n rows and m right-hand sides; a is overwritten. */
static void eliminate(int64_t n, int64_t m, number *a, array *x) {
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < n; i++) {
            if (i == k) continue;
            number factor = a[i * n + k] / a[k * n + k];
            for (int64_t j = 0; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
            for (int64_t j = 0; j < m; j++)
                put(x, i * m + j, number_at(x, i * m + j) - factor * number_at(x, k * m + j));
        }
    for (int64_t i = 0; i < n * m; i++) put(x, i, number_at(x, i) / a[i / m * n + i / m]);
}

static void solve_reference(const array in[], array out[], bool triangle) {
    number a[16];
    int64_t n = in[0].dims[0];
    *out = in[1];
    for (int64_t i = 0; i < n * n; i++) a[i] = triangle && i % n > i / n ? 0 : number_at(&in[0], i);
    eliminate(n, in[1].dims[1], a, out);
}

static lam_tensor *whole_solve(const cases_use *u, lam_tensor *const x[]) {
    (void)u;
    return lam_solve(x[0], x[1]);
}

static void reference_solve(const cases_use *u, const array in[], array out[]) {
    (void)u;
    solve_reference(in, out, false);
}

static lam_tensor *whole_tridiagonal(const cases_use *u, lam_tensor *const x[]) {
    (void)u;
    return lam_tridiagonal_solve(x[0], x[1], x[2], x[3]);
}

static void reference_tridiagonal(const cases_use *u, const array in[], array out[]) {
    number a[16];
    int64_t n = in[1].dims[0];
    (void)u;
    *out = in[3];
    for (int64_t i = 0; i < n * n; i++) {
        int64_t row = i / n, band = i % n - row + 1;
        a[i] = band >= 0 && band < 3 ? number_at(&in[band], row) : 0;
    }
    eliminate(n, in[3].dims[1], a, out);
}

static lam_tensor *whole_triangular(const cases_use *u, lam_tensor *const x[]) {
    (void)u;
    return lam_triangular_solve(x[0], x[1], NULL);
}

static void reference_triangular(const cases_use *u, const array in[], array out[]) {
    (void)u;
    solve_reference(in, out, true);
}

/* The factor of the Hermitian part, whose diagonal is positive. */
static lam_tensor *whole_cholesky(const cases_use *u, lam_tensor *const x[]) {
    (void)u;
    return lam_cholesky(x[0]);
}

static void reference_cholesky(const cases_use *u, const array in[], array out[]) {
    (void)u;
    int64_t n = in[0].dims[0];
    array_like(out, &in[0]);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            number sum = (number_at(&in[0], i * n + j) + conjl(number_at(&in[0], j * n + i))) / 2;
            for (int64_t k = 0; k < j && j <= i; k++)
                sum -= number_at(out, i * n + k) * conjl(number_at(out, j * n + k));
            put(out, i * n + j, j > i ? 0 : j == i ? csqrtl(sum) : sum / number_at(out, j * n + j));
        }
}

/* ---- determinants and cofactors by minors, eigenvalues by traces of powers --------------------------------------- */

static lam_tensor *whole_det(const cases_use *u, lam_tensor *const x[]) {
    (void)u;
    return lam_det(x[0]);
}

static lam_tensor *whole_cofactor(const cases_use *u, lam_tensor *const x[]) {
    (void)u;
    return lam_cofactor(x[0]);
}

/* Sums of powers 1 to n of the eigenvalues: they determine all n, in whatever order. */
static lam_tensor *whole_eigvals(const cases_use *u, lam_tensor *const x[]) {
    lam_tensor *w = lam_eigvals(x[0]), *power = w, *sums[4] = {NULL};
    int n = lam_failed(w) ? 0 : (int)lam_dim(w, -1);
    (void)u;
    for (int k = 0; k < n; k++, power = lam_mul(power, w))
        sums[k] = lam_sum(power, &(lam_reduce_options){.axes = LAM_AXES(-1)});
    return n ? lam_stack((lam_list){(size_t)n, sums}, 0) : w;
}

/* The matrix of n rows and columns without row i and column j. */
static void without(int64_t n, const number *a, int64_t i, int64_t j, number *out) {
    for (int64_t e = 0; e < n * n; e++)
        if (e / n != i && e % n != j) *out++ = a[e];
}

static number determinant(int64_t n, const number *a) {
    number sum = 0, rest[9];
    if (n == 0) return 1;
    for (int64_t j = 0; j < n; j++) {
        without(n, a, 0, j, rest);
        sum += (j % 2 ? -1 : 1) * a[j] * determinant(n - 1, rest);
    }
    return sum;
}

static int64_t matrix_of(const array *x, number a[16]) {
    for (int64_t e = 0; e < x->dims[0] * x->dims[0]; e++) a[e] = number_at(x, e);
    return x->dims[0];
}

static void reference_det(const cases_use *u, const array in[], array out[]) {
    number a[16];
    (void)u;
    array_shape(out, in[0].dtype, 1, (int64_t[]){2});
    int64_t n = matrix_of(in, a);
    put(out, 0, determinant(n, a));
}

static void reference_cofactor(const cases_use *u, const array in[], array out[]) {
    number a[16], rest[9];
    (void)u;
    array_like(out, &in[0]);
    int64_t n = matrix_of(in, a);
    for (int64_t e = 0; e < n * n; e++) {
        without(n, a, e / n, e % n, rest);
        put(out, e, ((e / n + e % n) % 2 ? -1 : 1) * determinant(n - 1, rest));
    }
}

static void reference_eigvals(const cases_use *u, const array in[], array out[]) {
    number a[16], power[16], next[16];
    int64_t n = matrix_of(in, a);
    (void)u;
    array_shape(out, in[0].dtype, 2, (int64_t[]){n, 2});
    memcpy(power, a, sizeof a);
    for (int64_t k = 0; k < n; k++) {
        number trace = 0;
        for (int64_t i = 0; i < n; i++) trace += power[i * n + i];
        put(out, k, trace);
        for (int64_t e = 0; e < n * n; e++) {
            next[e] = 0;
            for (int64_t q = 0; q < n; q++) next[e] += power[e / n * n + q] * a[q * n + e % n];
        }
        memcpy(power, next, sizeof power);
    }
}

static const cases_form columns_of_one[] = {
    {"[4,3,2]", {0}}, {"[4,2,2]", {1}}, {"[0,2,2]", {0}}, {"[1,2,2]", {1}}, CASES_END};
static const cases_form columns_of_some[] = {{"[4,3,2]", {0}}, {"[1,2,2]", {0}}, CASES_END};
static const cases_form columns_forward[] = {{"[4,3,2]", {0}}, {"[0,2,2]", {0}}, {"[1,2,2]", {0}}, CASES_END};
static const cases_form columns_of_two[] = {{"[4,2,2] [4,2,2]", {0}}, {"[3,1,2] [3,1,2]", {1}}, CASES_END};
static const cases_form places[] = {{"[3,2,2] i64[4] [4,2,2]", {0}}, {"[2,1,2] i64[1] [1,1,2]", {0}}, CASES_END};
static const cases_form far_places[] = {{"[3,1,2] i64[6] [6,1,2]", {LAM_INDEX_FILL}}, CASES_END};
static const cases_form products[] = {{"[2,3,2] [3,4,2]", {0}}, {"[1,0,2] [0,2,2]", {0}}, CASES_END};
static const cases_form banded[] = {{"[3,2] [3,2] [3,2] [3,2,2]", {0}}, {"[1,2] [1,2] [1,2] [1,1,2]", {0}}, CASES_END};
static const cases_form systems[] = {{"[3,3,2] [3,2,2]", {0}}, {"[1,1,2] [1,1,2]", {0}}, CASES_END};
static const cases_form squares[] = {{"[3,3,2]", {0}}, {"[1,1,2]", {0}}, CASES_END};
static const cases_form of_four[] = {{"[4,4,2]", {0}}, CASES_END};
static const cases_form larger_squares[] = {{"[4,4,2]", {0}}, {"[2,2,2]", {0}}, {"[1,1,2]", {0}}, CASES_END};

#define WHOLE(name_, forms_, call_, reference_)                                                                        \
    .name = #name_, .forms = forms_, .call = call_whole, .reference = reference_, .least_rank = 1, .normwise = true,   \
    .ulps = 16, .more = &(const cases_whole) {                                                                         \
        call_                                                                                                          \
    }

/* ---- complex itself: two operands, which broadcast and are promoted ---------------------------------------------- */

static void call_complex(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    lam_tensor *z = lam_complex(in[0], in[1]);
    out[0] = lam_failed(z) ? z : split(z);
}

static void reference_complex(const cases_use *u, const array in[], array out[]) {
    static array both;
    (void)u;
    int64_t dims[ARRAY_RANK];
    both.dtype = cases_promote(in[0].dtype, in[1].dtype);
    cases_broadcast(2, in, &both);
    for (int i = 0; i < both.rank; i++) dims[i] = both.dims[i];
    dims[both.rank] = 2;
    array_shape(out, array_is_float(&both) ? both.dtype : LAM_F64, both.rank + 1, dims);
    for (int64_t e = 0; e < both.count; e++)
        for (int side = 0; side < 2; side++) out->data[2 * e + side] = cases_broadcast_element(&in[side], &both, e);
}

static const cases_form parts[] = {{"[3] [3]", {0}},       {"[] []", {0}},     {"[2,3] [1]", {0}}, {"[0] []", {0}},
                                   {"f64[2] f32[2]", {0}}, {"i64[2] []", {0}}, CASES_END};
static const cases_wrong wrong_parts[] = {{"[2] [3]", LAM_ERR_SHAPE, {0}}, CASES_WRONG_END};

const cases_row cases_complex_rows[] = {
    {.name = "complex",
     .forms = parts,
     .call = call_complex,
     .reference = reference_complex,
     .wrong = wrong_parts,
     .wrong_calls = {{"[2] [2]", LAM_ERR_DTYPE, cases_call_complex}}},
    ONE_REAL(real, lam_real, f_real),
    ONE_REAL(imag, lam_imag, f_imag),
    ROW(real, of_one, .unary = lam_abs, .of_one = f_abs, .gives_real = true, .composed = true),
    ROW(real, of_one, .unary = lam_angle, .of_one = f_angle, .gives_real = true, .composed = true),
    ONE(conj, lam_conj, f_conj),
    ROW(real, of_one, .unary = lam_sign, .of_one = f_sign, .composed = true),
    ONE(neg, lam_neg, f_neg),
    ONE(square, lam_square, f_square),
    ONE(reciprocal, lam_reciprocal, f_reciprocal),
    ONE(integer_pow, cube, f_cube),
    ONE(integer_pow, inverse_cube, f_inverse_cube),
    ONE(sqrt, lam_sqrt, csqrtl),
    ONE(rsqrt, lam_rsqrt, f_rsqrt),
    ONE(exp, lam_exp, cexpl),
    ONE(exp2, lam_exp2, f_exp2),
    ONE(expm1, lam_expm1, f_expm1),
    ONE(log, lam_log, clogl),
    ONE(log2, lam_log2, f_log2),
    ONE(log10, lam_log10, f_log10),
    ONE(log1p, lam_log1p, f_log1p),
    ONE(sin, lam_sin, csinl),
    ONE(cos, lam_cos, ccosl),
    ONE(tan, lam_tan, ctanl),
    ONE(asin, lam_asin, casinl),
    ONE(acos, lam_acos, cacosl),
    ONE(atan, lam_atan, catanl),
    ONE(sinh, lam_sinh, csinhl),
    ONE(cosh, lam_cosh, ccoshl),
    ONE(tanh, lam_tanh, ctanhl),
    ONE(asinh, lam_asinh, casinhl),
    ONE(acosh, lam_acosh, cacoshl),
    ONE(atanh, lam_atanh, catanhl),
    ONE(logistic, lam_logistic, f_logistic),
    ONE(logistic_slope, lam_logistic_slope, f_logistic_slope),
    ONE(tanh_slope, lam_tanh_slope, f_tanh_slope),
    ONE(logit, lam_logit, f_logit),
    TWO(mul_div, over_itself, f_over_itself),
    TWO(add, (lam_add), f_add),
    TWO(sub, (lam_sub), f_sub),
    TWO(mul, (lam_mul), f_mul),
    TWO(div, (lam_div), f_div),
    TWO(pow, (lam_pow), cpowl),
    TWO(ne, select_eq, f_select),
    {WHOLE(sum, columns_forward, whole_sum, reference_sum)},
    {WHOLE(mean, columns_of_some, whole_mean, reference_mean)},
    {WHOLE(prod, columns_forward, whole_prod, reference_prod)},
    {WHOLE(cumsum, columns_of_one, whole_cumsum, reference_cumsum)},
    {WHOLE(cumprod, columns_of_one, whole_cumprod, reference_cumprod)},
    {WHOLE(linear_recurrence, columns_of_two, whole_recurrence, reference_recurrence)},
    {WHOLE(scatter_mul, places, whole_scatter_mul, reference_scatter_mul), .domain = {{0, 0}, {-2, 2}}},
    {WHOLE(scatter_mul, far_places, whole_scatter_mul, reference_scatter_mul), .domain = {{0, 0}, {-6, 7}}},
    {WHOLE(dot_general, products, whole_matmul, reference_matmul)},
    {WHOLE(solve, systems, whole_solve, reference_solve), .fill = fill_dominant},
    {WHOLE(tridiagonal_solve, banded, whole_tridiagonal, reference_tridiagonal), .fill = fill_main},
    {WHOLE(triangular_solve, systems, whole_triangular, reference_triangular), .fill = fill_dominant},
    {WHOLE(cholesky, squares, whole_cholesky, reference_cholesky), .fill = fill_dominant},
    {WHOLE(det, of_four, whole_det, reference_det), .fill = fill_dominant},
    {WHOLE(cofactor, larger_squares, whole_cofactor, reference_cofactor), .fill = fill_dominant},
    {WHOLE(eigvals, squares, whole_eigvals, reference_eigvals)},
    {0},
};
