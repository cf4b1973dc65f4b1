/* Orthogonal factors, eigenvalues, singular values, pseudo-inverses and exponentials. References are Jacobi rotations,
 * orthogonalisation column by column, normal equations and the power series, in long double; none of them is what
 * LAPACK does. Matrices are filled so that values lie apart, and vectors, whose signs are nobody's choice, are turned
 * so that their elements have a positive sum. */
#include "tests/primitives/cases_matrix.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define END       {NULL, {0}}
/* clang-format on */

/* Exchanges and signs of column k of a. */
static void swap_columns(matrix *a, int64_t i, int64_t k) {
    for (int64_t r = 0; r < a->m; r++) {
        long double t = a->x[r][i];
        a->x[r][i] = a->x[r][k];
        a->x[r][k] = t;
    }
}
static void multiply_column(matrix *a, int64_t k, long double by) {
    for (int64_t r = 0; r < a->m; r++) a->x[r][k] *= by;
}
static long double sign_of_column(const matrix *a, int64_t k) {
    long double sum = 0;
    for (int64_t r = 0; r < a->m; r++) sum += a->x[r][k];
    return sum < 0 ? -1 : 1;
}

/* Columns i and k turned by an angle with this cosine and sine. */
static void rotate(matrix *a, int64_t i, int64_t k, long double c, long double s) {
    for (int64_t r = 0; r < a->m; r++) {
        long double x = a->x[r][i], y = a->x[r][k];
        a->x[r][i] = c * x - s * y;
        a->x[r][k] = s * x + c * y;
    }
}

static long double column_dot(const matrix *a, int64_t i, int64_t k) {
    long double sum = 0;
    for (int64_t r = 0; r < a->m; r++) sum += a->x[r][i] * a->x[r][k];
    return sum;
}

/* The angle that makes columns with these products orthogonal. */
static void angle(long double ii, long double kk, long double ik, long double *c, long double *s) {
    long double tau = (kk - ii) / (2 * ik), t = (tau < 0 ? -1 : 1) / (fabsl(tau) + sqrtl(1 + tau * tau));
    *c = 1 / sqrtl(1 + t * t);
    *s = *c * t;
}

/* Jacobi's one-sided rotations of tall a: its columns become u s, the product of the rotations is v. */
static void orthogonalise(matrix *a, matrix *v) {
    *v = identity(a->n);
    for (int sweep = 0; sweep < 30; sweep++)
        for (int64_t i = 0; i < a->n; i++)
            for (int64_t k = i + 1; k < a->n; k++) {
                long double c, s, ik = column_dot(a, i, k);
                if (ik == 0) continue;
                angle(column_dot(a, i, i), column_dot(a, k, k), ik, &c, &s);
                rotate(a, i, k, c, s);
                rotate(v, i, k, c, s);
            }
}

/* Adds columns to orthonormal ones until a is square: each of the unit vectors in turn, made orthogonal twice. */
static void complete(matrix *a) {
    for (int64_t unit = 0; unit < a->m && a->n < a->m; unit++) {
        int64_t k = a->n;
        for (int64_t r = 0; r < a->m; r++) a->x[r][k] = r == unit;
        for (int twice = 0; twice < 2; twice++)
            for (int64_t i = 0; i < k; i++) {
                long double by = column_dot(a, i, k);
                for (int64_t r = 0; r < a->m; r++) a->x[r][k] -= by * a->x[r][i];
            }
        long double length = sqrtl(column_dot(a, k, k));
        if (length < 0.1L) continue;
        multiply_column(a, k, 1 / length);
        multiply_column(a, k, sign_of_column(a, k));
        a->n++;
    }
}

/* ---- eigenvalues of symmetric matrices --------------------------------------------------------------------------- */

/* Rows and columns far enough from each other that no eigenvalues meet. */
static void fill_apart(const cases_use *u, int i, array *x) {
    (void)u;
    if (i || x->rank < 2) return;
    int64_t m = x->dims[x->rank - 2], n = x->dims[x->rank - 1];
    for (int64_t e = 0; n && m && e < x->count; e++)
        if (e % n == e / n % m) x->data[e] += 5 + 6 * (e % n);
}

static lam_tensor *sign_of_columns(lam_tensor *x) {
    return lam_sign(lam_add(lam_sum(x, &(lam_reduce_options){LAM_AXES(-2), true}), 1e-30));
}

static void call_eigh(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    lam_eigh(in[0], &out[0], &out[1]);
    out[1] = lam_mul(out[1], sign_of_columns(out[1]));
}

static void call_eigvalsh(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_eigvalsh(in[0]);
}

/* Jacobi's rotations of the symmetric part, from both sides. */
static void diagonalise(matrix *a, matrix *v) {
    matrix t = turned(a);
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t k = 0; k < a->n; k++) t.x[i][k] = (a->x[i][k] + t.x[i][k]) / 2;
    *v = identity(a->n);
    for (int sweep = 0; sweep < 30; sweep++)
        for (int64_t i = 0; i < a->n; i++)
            for (int64_t k = i + 1; k < a->n; k++) {
                long double c, s;
                if (t.x[i][k] == 0) continue;
                angle(t.x[i][i], t.x[k][k], t.x[i][k], &c, &s);
                rotate(&t, i, k, c, s);
                t = turned(&t);
                rotate(&t, i, k, c, s);
                rotate(v, i, k, c, s);
            }
    *a = t;
}

static void reference_eigh(const cases_use *u, const array in[], array out[]) {
    (void)u;
    int64_t n = in->dims[in->rank - 1], batch = shape_like(in, &out[0], n, -1);
    bool vectors = strcmp(u->row->name, "eigh") == 0;
    if (vectors) shape_like(in, &out[1], n, n);
    for (int64_t b = 0; b < batch; b++) {
        matrix a = matrix_of(in, b), v;
        diagonalise(&a, &v);
        for (int64_t i = 0; i < n; i++) {
            int64_t least = i;
            for (int64_t k = i; k < n; k++)
                if (a.x[k][k] < a.x[least][least]) least = k;
            long double t = a.x[i][i];
            a.x[i][i] = a.x[least][least];
            a.x[least][least] = t;
            swap_columns(&v, i, least);
            multiply_column(&v, i, sign_of_column(&v, i));
            out[0].data[b * n + i] = a.x[i][i];
        }
        if (vectors) put(&out[1], b, &v);
    }
}
#define reference_eigvalsh reference_eigh

static const cases_form square_forms[] = {
    {"[3,3]", {0}}, {"[1,1]", {0}}, {"[2,2,2]", {0}}, {"[2,1,3,3]", {0}}, {"[0,0]", {0}}, {"[0,2,2]", {0}}, END};
static const cases_wrong square_wrong[] = {
    {"[3]", LAM_ERR_SHAPE, {0}}, {"[]", LAM_ERR_SHAPE, {0}}, {"[2,3]", LAM_ERR_SHAPE, {0}}, CASES_WRONG_END};

/* ---- eigenvalues of general matrices ----------------------------------------------------------------------------- */

/* Sums of powers 1, 2, 3 of the eigenvalues w: they determine all of at most three, in whatever order. */
static void call_eigvals(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    static const int last = -1;
    (void)u;
    lam_tensor *w = lam_eigvals(in[0]), *re = lam_real(w), *im = lam_imag(w);
    lam_tensor *real = re, *imaginary = im, *sums[3];
    for (int k = 0; k < 3; k++) {
        sums[k] = lam_sum(real, &(lam_reduce_options){.axes = {1, &last}});
        lam_tensor *next = lam_sub(lam_mul(real, re), lam_mul(imaginary, im));
        imaginary = lam_add(lam_mul(real, im), lam_mul(imaginary, re));
        real = next;
    }
    out[0] = lam_stack((lam_list){3, sums}, -1);
}

/* Traces of powers of the matrix. */
static void reference_eigvals(const cases_use *u, const array in[], array out[]) {
    (void)u;
    int64_t batch = shape_like(in, &out[0], 3, -1);
    for (int64_t b = 0; b < batch; b++) {
        matrix x = matrix_of(in, b), power = x;
        for (int k = 0; k < 3; k++) {
            long double sum = 0;
            for (int64_t i = 0; i < x.n; i++) sum += power.x[i][i];
            out[0].data[b * 3 + k] = sum;
            power = times(&power, &x);
        }
    }
}

/* ---- singular values: arg: full ---------------------------------------------------------------------------------- */

static void call_svd(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    lam_tensor *left, *v;
    lam_svd(in[0], &left, &out[1], &v, &(lam_svd_options){.full_matrices = u->arg[0] != 0});
    v = lam_matrix_transpose(v);
    int64_t k = lam_dim(out[1], -1), rows = lam_dim(v, -1);
    lam_tensor *signs = sign_of_columns(left);
    lam_tensor *with_u = lam_slice_axis(signs, -1, 0, k), *own = sign_of_columns(lam_slice_axis(v, -1, k, rows));
    out[0] = lam_mul(left, signs);
    out[2] = lam_matrix_transpose(lam_mul(v, lam_concatenate(LAM_LIST(with_u, own), -1)));
}

static void call_svdvals(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_svdvals(in[0]);
}

/* u, s, v of tall a, by falling singular values; the sign is that of the first of the two that is asked for. */
static void singular(matrix *a, matrix *v, long double s[], bool sign_of_v) {
    orthogonalise(a, v);
    for (int64_t i = 0; i < a->n; i++) {
        int64_t most = i;
        for (int64_t k = i; k < a->n; k++)
            if (column_dot(a, k, k) > column_dot(a, most, most)) most = k;
        swap_columns(a, i, most);
        swap_columns(v, i, most);
        s[i] = sqrtl(column_dot(a, i, i));
        long double sign = sign_of_column(sign_of_v ? v : a, i);
        multiply_column(a, i, sign / s[i]);
        multiply_column(v, i, sign);
    }
}

static void reference_svd(const cases_use *use, const array in[], array out[]) {
    int64_t m = in->dims[in->rank - 2], n = in->dims[in->rank - 1], k = m < n ? m : n;
    bool full = use->arg[0] != 0, vectors = strcmp(use->row->name, "svd") == 0;
    int64_t batch = shape_like(in, &out[vectors ? 1 : 0], k, -1);
    if (vectors) shape_like(in, &out[0], m, full ? m : k);
    if (vectors) shape_like(in, &out[2], full ? n : k, n);
    for (int64_t b = 0; b < batch; b++) {
        matrix u = matrix_of(in, b), v;
        long double s[MOST];
        if (m < n) u = turned(&u);
        singular(&u, &v, s, m < n);
        if (m < n) {
            matrix t = u;
            u = v;
            v = t;
        }
        if (full) complete(&u), complete(&v);
        v = turned(&v);
        for (int64_t i = 0; i < k; i++) out[vectors ? 1 : 0].data[b * k + i] = s[i];
        if (vectors) put(&out[0], b, &u), put(&out[2], b, &v);
    }
}
#define reference_svdvals reference_svd

static const cases_form rectangle_forms[] = {{"[3,3]", {0}},     {"[4,3]", {0}},   {"[3,4]", {0}},     {"[4,3]", {1}},
                                             {"[2,3]", {1}},     {"[1,1]", {0}},   {"[3,1]", {0}},     {"[2,3,2]", {0}},
                                             {"[2,1,2,3]", {0}}, {"[0,3]", {0}},   {"[3,0]", {0}},     {"[0,2]", {1}},
                                             {"[2,0]", {1}},     {"[0,2,2]", {0}}, {"[0,2,3,2]", {1}}, END};
static const cases_wrong rectangle_wrong[] = {{"[3]", LAM_ERR_RANK, {0}}, {"[]", LAM_ERR_RANK, {0}}, CASES_WRONG_END};

/* ---- qr: arg: full ----------------------------------------------------------------------------------------------- */

/* Turned so that r's diagonal, and the sum of further columns of q, is positive. */
static void call_qr(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    lam_tensor *q, *r;
    lam_qr(in[0], &q, &r, &(lam_qr_options){.full_matrices = u->arg[0] != 0});
    int64_t m = lam_dim(in[0], -2), n = lam_dim(in[0], -1), k = m < n ? m : n, columns = lam_dim(q, -1);
    lam_tensor *signs = lam_expand_dims(lam_sign(lam_diagonal(r, 0, -2, -1)), -2);
    signs = lam_concatenate(LAM_LIST(signs, sign_of_columns(lam_slice_axis(q, -1, k, columns))), -1);
    out[0] = lam_mul(q, signs);
    out[1] = lam_mul(r, lam_matrix_transpose(signs));
}

/* Gram and Schmidt, twice. */
static void reference_qr(const cases_use *u, const array in[], array out[]) {
    int64_t m = in->dims[in->rank - 2], n = in->dims[in->rank - 1], k = m < n ? m : n;
    int64_t columns = u->arg[0] ? m : k, batch = shape_like(in, &out[0], m, columns);
    shape_like(in, &out[1], columns, n);
    for (int64_t b = 0; b < batch; b++) {
        matrix x = matrix_of(in, b), q = x;
        q.n = k;
        for (int64_t i = 0; i < k; i++) {
            for (int twice = 0; twice < 2; twice++)
                for (int64_t j = 0; j < i; j++) {
                    long double by = column_dot(&q, j, i);
                    for (int64_t row = 0; row < m; row++) q.x[row][i] -= by * q.x[row][j];
                }
            multiply_column(&q, i, 1 / sqrtl(column_dot(&q, i, i)));
        }
        matrix qt = turned(&q), r = times(&qt, &x);
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = 0; j < i; j++) r.x[i][j] = 0;
        if (u->arg[0]) complete(&q);
        r.m = columns;
        put(&out[0], b, &q);
        put(&out[1], b, &r);
    }
}

/* ---- pinv: of full rank ------------------------------------------------------------------------------------------ */

static void call_pinv(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_pinv(in[0], NULL);
}

/* (x^T x)^-1 x^T of tall matrices. */
static void reference_pinv(const cases_use *u, const array in[], array out[]) {
    (void)u;
    int64_t m = in->dims[in->rank - 2], n = in->dims[in->rank - 1], batch = shape_like(in, &out[0], n, m);
    for (int64_t b = 0; b < batch; b++) {
        matrix x = matrix_of(in, b);
        if (m < n) x = turned(&x);
        matrix xt = turned(&x), p = solved(times(&xt, &x), xt);
        if (m < n) p = turned(&p);
        put(&out[0], b, &p);
    }
}

/* ---- expm -------------------------------------------------------------------------------------------------------- */

static void call_expm(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_expm(in[0]);
}

static void call_expm_frechet(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_expm_frechet(in[0], in[1]);
}

/* The power series of x / 2^6, squared six times. */
static matrix exponential(matrix x) {
    matrix term = identity(x.n), sum = term;
    for (int64_t e = 0; e < x.n * x.n; e++) x.x[e / x.n][e % x.n] /= 64;
    for (int k = 1; k < 30; k++) {
        term = times(&term, &x);
        for (int64_t e = 0; e < x.n * x.n; e++) sum.x[e / x.n][e % x.n] += term.x[e / x.n][e % x.n] /= (long double)k;
    }
    for (int k = 0; k < 6; k++) sum = times(&sum, &sum);
    return sum;
}

static void reference_expm(const cases_use *u, const array in[], array out[]) {
    (void)u;
    int64_t n = in->dims[in->rank - 1], batch = shape_like(in, &out[0], n, n);
    for (int64_t b = 0; b < batch; b++) {
        matrix e = exponential(matrix_of(in, b));
        put(&out[0], b, &e);
    }
}

/* The sum over k of x^i e x^j / k!, i + j = k - 1: the terms of the series differentiated one by one. */
static matrix series_along(const matrix *x, const matrix *e) {
    matrix power = identity(x->n), change = {.m = x->n, .n = x->n}, sum = change;
    long double factorial = 1;
    for (int k = 1; k < 60; k++) {
        matrix a = times(&change, x), b = times(&power, e);
        factorial *= k;
        for (int64_t i = 0; i < x->n * x->n; i++) {
            change.x[i / x->n][i % x->n] = a.x[i / x->n][i % x->n] + b.x[i / x->n][i % x->n];
            sum.x[i / x->n][i % x->n] += change.x[i / x->n][i % x->n] / factorial;
        }
        power = times(&power, x);
    }
    return sum;
}

static void reference_expm_frechet(const cases_use *u, const array in[], array out[]) {
    (void)u;
    const array *longer = in[0].rank < in[1].rank ? &in[1] : &in[0];
    int64_t n = in->dims[in->rank - 1], batch = shape_like(longer, &out[0], n, n);
    out[0].dtype = cases_promote(in[0].dtype, in[1].dtype);
    for (int64_t b = 0; b < batch; b++) {
        matrix x = matrix_of(&in[0], in[0].rank < longer->rank ? 0 : b),
               e = matrix_of(&in[1], in[1].rank < longer->rank ? 0 : b), l = series_along(&x, &e);
        put(&out[0], b, &l);
    }
}

static const cases_form frechet_forms[] = {{"[3,3] [3,3]", {0}},
                                           {"[1,1] [1,1]", {0}},
                                           {"[2,2,2] [2,2]", {0}},
                                           {"[0,0] [0,0]", {0}},
                                           {"[0,2,2] [2,2]", {0}},
                                           {"f32[2,2] f64[2,2]", {0}},
                                           END};
static const cases_wrong frechet_wrong[] = {{"[3] [3]", LAM_ERR_SHAPE, {0}},
                                            {"[2,2] [2,3]", LAM_ERR_SHAPE, {0}},
                                            {"[3,3] [2,2]", LAM_ERR_SHAPE, {0}},
                                            CASES_WRONG_END};

/* ---- schur: complex form --------------------------------------------------------------------------------------- */

/* The square, by the square of the form, which depends on no order and phases. */
static void call_schur(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    lam_tensor *t, *z;
    lam_schur(in[0], &t, &z, &(lam_schur_options){.complex_form = u->arg[0] != 0});
    lam_tensor *back = lam_conj(lam_matrix_transpose(z));
    out[0] = lam_real(lam_matmul(z, lam_matmul(lam_matmul(t, t), back)));
}

static void reference_schur(const cases_use *u, const array in[], array out[]) {
    (void)u;
    int64_t n = in->dims[in->rank - 1], batch = shape_like(in, &out[0], n, n);
    for (int64_t b = 0; b < batch; b++) {
        matrix x = matrix_of(in, b);
        x = times(&x, &x);
        put(&out[0], b, &x);
    }
}

static const cases_form schur_forms[] = {{"[3,3]", {1}},     {"[3,3]", {0}}, {"[1,1]", {0}},   {"[2,2,2]", {1}},
                                         {"[2,1,3,3]", {0}}, {"[0,0]", {1}}, {"[0,2,2]", {0}}, END};

/* The same by the Hessenberg form. */
static void call_hessenberg(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    lam_tensor *h, *q;
    (void)u;
    lam_hessenberg(in[0], &h, &q);
    out[0] = lam_matmul(q, lam_matmul(lam_matmul(h, h), lam_matrix_transpose(q)));
}

#define reference_hessenberg reference_schur

/* ---- equations with gaps: arg: sign ------------------------------------------------------------------------------ */

static void call_gap_solve(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_gap_solve(in[0], in[1], (int)u->arg[0]);
}

/* Nothing beside the diagonal, whose elements lie apart. */
static void fill_diagonal(const cases_use *u, int i, array *x) {
    fill_apart(u, i, x);
    if (i || x->rank < 2) return;
    int64_t n = x->dims[x->rank - 1];
    for (int64_t e = 0; n && e < x->count; e++)
        if (e % n != e / n % n) x->data[e] = 0;
}

/* The equation as one of its m n elements, without those that are taken as 0: of equal values for sign -1. */
static matrix gap_equation(const matrix *w, const matrix *p, long double sign) {
    const int64_t n = p->n, m = p->m;
    matrix all = {.m = m * n, .n = m * n}, right = {.m = m * n, .n = 1}, x = {.m = m, .n = n};
    for (int64_t e = 0; e < m * n; e++) {
        const int64_t i = e / n, j = e % n;
        const bool none = sign < 0 && i == j;
        for (int64_t k = 0; k < n && !none; k++) all.x[e][i * n + k] += w->x[k][j];
        for (int64_t k = 0; k < m && !none && sign != 0; k++) all.x[e][k * n + j] += sign * w->x[i][k];
        if (none) all.x[e][e] = 1;
        right.x[e][0] = none ? 0 : p->x[i][j];
    }
    right = solved(all, right);
    for (int64_t e = 0; e < m * n; e++) x.x[e / n][e % n] = right.x[e][0];
    return x;
}

static void reference_gap_solve(const cases_use *u, const array in[], array out[]) {
    const array *longer = in[0].rank < in[1].rank ? &in[1] : &in[0];
    int64_t n = in[1].dims[in[1].rank - 1], m = in[1].dims[in[1].rank - 2], batch = shape_like(longer, &out[0], m, n);
    for (int64_t b = 0; b < batch; b++) {
        matrix w = matrix_of(&in[0], in[0].rank < longer->rank ? 0 : b),
               p = matrix_of(&in[1], in[1].rank < longer->rank ? 0 : b), x = gap_equation(&w, &p, u->arg[0]);
        put(&out[0], b, &x);
    }
}

static const cases_form gap_forms[] = {{"[3,3] [3,3]", {-1}},  {"[3,3] [3,3]", {1}},
                                       {"[3,3] [2,3]", {0}},   {"[2,2,2] [2,2]", {-1}},
                                       {"[2,2] [2,3,2]", {0}}, {"[1,1] [1,1]", {1}},
                                       {"[0,0] [0,0]", {-1}},  {"[0,2,2] [2,2]", {1}},
                                       {"[3,3] [1,3]", {0}},   END};
static const cases_wrong gap_wrong[] = {{"[3] [3,3]", LAM_ERR_SHAPE, {-1}},
                                        {"[2,3] [2,3]", LAM_ERR_SHAPE, {1}},
                                        {"[3,3] [2,3]", LAM_ERR_SHAPE, {-1}},
                                        {"[3,3] [3]", LAM_ERR_SHAPE, {0}},
                                        {"[2,3,3] [3,3,3]", LAM_ERR_SHAPE, {0}},
                                        {"[2,2] [2,2]", LAM_ERR_OPTION, {2}},
                                        CASES_WRONG_END};

/* Far from diagonal. */
static void call_gap_crowded(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_gap_solve(lam_add(lam_mul(100.0, lam_ones_like(in[0])), in[0]), in[1], -1);
}

#define SPECTRAL(op, list, bad, filler)                                                                                \
    .name = #op, .call = call_##op, .reference = reference_##op, .forms = list##_forms, .wrong = bad##_wrong,          \
    .fill = filler, .ulps = 32, .normwise = true, .least_rank = 2

const cases_row cases_spectral[] = {
    {SPECTRAL(qr, rectangle, rectangle, fill_apart), .outputs = 2},
    {SPECTRAL(eigh, square, square, fill_apart), .outputs = 2},
    {SPECTRAL(eigvalsh, square, square, fill_apart)},
    {SPECTRAL(eigvals, square, square, NULL)},
    {SPECTRAL(schur, schur, square, fill_apart)},
    {SPECTRAL(hessenberg, schur, square, fill_apart)},
    {SPECTRAL(gap_solve, gap, gap, fill_diagonal), .wrong_calls = {{"[3,3] [3,3]", LAM_ERR_NUMERIC, call_gap_crowded}}},
    {SPECTRAL(svd, rectangle, rectangle, fill_apart), .outputs = 3},
    {SPECTRAL(svdvals, rectangle, rectangle, fill_apart)},
    {SPECTRAL(pinv, rectangle, rectangle, fill_apart)},
    {SPECTRAL(expm, square, square, NULL)},
    {SPECTRAL(expm_frechet, frechet, frechet, NULL)},
    {.name = NULL},
};
