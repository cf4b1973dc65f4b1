/* The exponential of matrices by Pade approximants with scaling and squaring: Higham, "The scaling and squaring method
 * for the matrix exponential revisited" (2005), whose bounds on the 1-norm make the backward error at most rounding,
 * with no more squarings than the powers of the matrix ask for. Each matrix of a batch gets the degree and the number
 * of squarings that it needs. */
#include "lib/kernels/item.h"
#include "lib/kernels/kernels.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define PASTE(a, b)  a##_##b
#define EXPAND(a, b) PASTE(a, b)
#define FN(name)     EXPAND(name, NAME)

#define T    double
#define NAME f64
#include "lib/kernels/blas/expm_type.h"
#undef T
#undef NAME

#define T    float
#define NAME f32
#include "lib/kernels/blas/expm_type.h"
#undef T
#undef NAME

/* An approximant: up to which norm it is good, and the coefficients of its numerator, the lowest power first. Norms are
 * table 2.3 of Higham's paper for f64; f32 needs fewer terms for its 24 digits, and degree 7 is its last. Rows go by
 * rising norm. */
typedef struct pade {
    double norm;
    int degree;
    double c[14];
} pade;

static const pade approximants_f64[] = {
    {1.495585217958292e-2, 3, {120, 60, 12, 1}},
    {2.539398330063230e-1, 5, {30240, 15120, 3360, 420, 30, 1}},
    {9.504178996162932e-1, 7, {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1}},
    {5.371920351148152e0,
     13,
     {64764752532480000., 32382376266240000., 7771770303897600., 1187353796428800., 129060195264000., 10559470521600.,
      670442572800., 33522128640., 1323241920., 40840800., 960960., 16380., 182., 1.}},
};
static const pade approximants_f32[] = {
    {4.258730016922831e-1, 3, {120, 60, 12, 1}},
    {1.880152677804762e0, 5, {30240, 15120, 3360, 420, 30, 1}},
    {3.925724783138660e0, 7, {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1}},
};

/* The matrices of the desk: the even powers of A, the odd and the even terms of the numerator, and room for one more.
 * The denominator is the numerator of -A, so its terms are the same with other signs. */
enum { A, A2, A4, A6, ODD, EVEN, SUM, MATRICES };

/* NOTE [changes beside]
 * The derivative at x along e is the upper right block of exp([[x, e], [0, x]]) (Mathias 1996). All that is made of
 * such a matrix has this form, so it is kept as the n rows [x, e]: a product then takes three products of n x n, not
 * the eight of 2 n x 2 n, and a quotient the factors of one block. Norms are those of the whole. */

/* One matrix's work: rows have n elements, or 2 n with a change beside them. */
typedef struct desk {
    lam_dtype dtype;
    int64_t n, width;
    void *m[MATRICES], *part; /* n x n */
    int32_t *pivots;
} desk;

/* Each matrix begins at a multiple of 8 bytes, whatever its size. */
static size_t matrix_bytes(lam_dtype dtype, int64_t n, int64_t width) {
    return ((size_t)(n * width) * (size_t)lam__item_bytes(dtype) + 7) & ~(size_t)7;
}

static size_t desk_bytes(lam_dtype dtype, int64_t n, int64_t width) {
    return MATRICES * matrix_bytes(dtype, n, width) + matrix_bytes(dtype, n, n) +
           (((size_t)n * sizeof(int32_t) + 7) & ~(size_t)7);
}

/* In the order of desk_bytes, so that each matrix is aligned for its elements. */
static desk desk_in(lam_dtype dtype, int64_t n, int64_t width, char *work) {
    desk d = {.dtype = dtype, .n = n, .width = width};
    for (int k = 0; k < MATRICES; k++, work += matrix_bytes(dtype, n, width)) d.m[k] = work;
    d.part = work;
    d.pivots = (int32_t *)(void *)(work + matrix_bytes(dtype, n, n));
    return d;
}

size_t lam__kernels_expm_bytes(lam_dtype dtype, int64_t n) {
    return desk_bytes(dtype, n, n);
}

/* out[n, columns] = x y, of n rows and columns of x and of y, in rows of `x_row` and `y_row`. */
static void multiply_part(const desk *d, const void *x, int64_t x_row, const void *y, int64_t y_row, int64_t columns,
                          void *out) {
    const lam__product p = {.batch = 1,
                            .m = d->n,
                            .k = d->n,
                            .n = columns,
                            .x = x,
                            .x_row = x_row,
                            .x_col = 1,
                            .y = y,
                            .y_row = y_row,
                            .y_col = 1,
                            .out = out};
    lam__kernels_matmul(d->dtype, &p, NULL, NULL);
}

/* The change beside a matrix. */
static void *beside(const desk *d, void *x) {
    return (char *)x + d->n * lam__item_bytes(d->dtype);
}

/* Adds `part` to columns of x from `first` on, or takes it away. */
static void change_columns(const desk *d, int64_t width, int64_t first, bool minus, void *x) {
    if (d->dtype == LAM_F64) change_columns_f64(d->n, width, first, minus, d->part, x);
    else change_columns_f32(d->n, width, first, minus, d->part, x);
}

/* out = x y, where out is neither of them. Beside [a, b] [c, d] stands a d + b c. */
static void multiply(const desk *d, void *x, void *y, void *out) {
    multiply_part(d, x, d->width, y, d->width, d->width, out);
    if (d->width == d->n) return;
    multiply_part(d, beside(d, x), d->width, y, d->width, d->n, d->part);
    change_columns(d, d->width, d->n, false, out);
}

/* out = the sum of c[k] x[k], and `by` on the diagonal, in one pass; out may be one of x. */
static void combine(const desk *d, int count, const double c[], void *const x[], double by, void *out) {
    (d->dtype == LAM_F64 ? combine_f64 : combine_f32)(d->n, d->width, count, c, x, by, out);
}

/* The 1-norm, the largest sum of magnitudes in a column. SUM is used as room. */
static double norm(const desk *d, int which) {
    void *x = d->m[which];
    return d->dtype == LAM_F64 ? norm_f64(d->n, d->width, x, d->m[SUM]) : norm_f32(d->n, d->width, x, d->m[SUM]);
}

/* log2 of the 1-norm of |A|^power, by products of |A|' with a vector: all its elements are positive, so no more is
 * needed. ODD and EVEN are used as room. */
static double growth(const desk *d, int power) {
    return d->dtype == LAM_F64 ? growth_f64(d->n, d->width, d->m[A], power, d->m[ODD], d->m[EVEN])
                               : growth_f32(d->n, d->width, d->m[A], power, d->m[ODD], d->m[EVEN]);
}

/* The terms of one parity: out = A6 (c[first + 8] A2 + ...) + c[first + 2] A2 + c[first + 4] A4 + c[first + 6] A6 +
 * c[first] I, as far as the degree goes. */
static void half(const desk *d, const pade *p, int first, void *out) {
    const double low[3] = {p->c[first + 2], p->degree > 4 ? p->c[first + 4] : 0, p->degree > 6 ? p->c[first + 6] : 0};
    const int count = p->degree > 6 ? 3 : p->degree > 4 ? 2 : 1;
    if (p->degree == 13) {
        const double high[3] = {p->c[first + 8], p->c[first + 10], p->c[first + 12]},
                     one[4] = {low[0], low[1], low[2], 1};
        void *all[4] = {d->m[A2], d->m[A4], d->m[A6], out};
        combine(d, 3, high, &d->m[A2], 0, d->m[SUM]);
        multiply(d, d->m[A6], d->m[SUM], out);
        combine(d, 4, one, all, p->c[first], out);
    } else {
        combine(d, count, low, &d->m[A2], p->c[first], out);
    }
}

/* n columns of rows of `from_width` to rows of `to_width`. */
static void copy_columns(const desk *d, const char *from, int64_t from_width, char *to, int64_t to_width) {
    const int64_t item = lam__item_bytes(d->dtype);
    for (int64_t i = 0; i < d->n; i++)
        memcpy(to + i * to_width * item, from + i * from_width * item, (size_t)(d->n * item));
}

/* b = f^-1 b, of n columns, by the factors f. ODD is used as room. */
static void solve(const desk *d, const void *f, char *b) {
    static const lam__triangular lower = {.unit_diagonal = true}, upper = {.upper = true};
    const size_t row = (size_t)d->n * (size_t)lam__item_bytes(d->dtype);
    for (int64_t i = 0; i < d->n; i++) {
        /* Exchanges in the order of the factorisation: f holds p x = l u. */
        if (d->pivots[i] == i) continue;
        memcpy(d->m[ODD], b + (size_t)i * row, row);
        memcpy(b + (size_t)i * row, b + (size_t)d->pivots[i] * row, row);
        memcpy(b + (size_t)d->pivots[i] * row, d->m[ODD], row);
    }
    lam__kernels_triangular_solve(d->dtype, &lower, 1, d->n, d->n, f, b);
    lam__kernels_triangular_solve(d->dtype, &upper, 1, d->n, d->n, f, b);
}

/* (even - odd)^-1 (even + odd), into `out`. The powers are needed no longer, so the factors take the place of A2 and
 * what is solved for those of A4 and A6: [p, q] [x, y] = [r, s] has p x = r and p y = s - q x. */
static void quotient(const desk *d, void *out) {
    static const double minus[2] = {-1, 1}, plus[2] = {1, 1};
    const int64_t n = d->n, width = d->width;
    combine(d, 2, minus, &d->m[ODD], 0, d->m[SUM]);
    combine(d, 2, plus, &d->m[ODD], 0, d->m[A]);
    copy_columns(d, d->m[SUM], width, d->m[A2], n);
    lam__kernels_lu(d->dtype, 1, n, n, d->m[A2], d->pivots, NULL);
    copy_columns(d, d->m[A], width, d->m[A4], n);
    solve(d, d->m[A2], d->m[A4]);
    copy_columns(d, d->m[A4], n, out, width);
    if (width == n) return;
    copy_columns(d, beside(d, d->m[A]), width, d->m[A6], n);
    multiply_part(d, beside(d, d->m[SUM]), width, d->m[A4], n, n, d->part);
    change_columns(d, n, 0, true, d->m[A6]);
    solve(d, d->m[A2], d->m[A6]);
    copy_columns(d, d->m[A6], n, beside(d, out), width);
}

/* The approximant for this norm; the last one with so many squarings where the norm is larger. frexp gives the least
 * power of 2 above the quotient, which is one too many where the quotient is a power of 2 itself. */
static const pade *choose(lam_dtype dtype, double size, int *squarings) {
    const pade *list = dtype == LAM_F64 ? approximants_f64 : approximants_f32;
    const int last = dtype == LAM_F64 ? 3 : 2;
    *squarings = 0;
    for (int i = 0; i <= last; i++)
        if (size <= list[i].norm) return &list[i];
    double mantissa = frexp(size / list[last].norm, squarings);
    if (mantissa == 0.5) --*squarings;
    return &list[last];
}

/* log2 of the binomial of 2 m over m times (2 m + 1)!, one over the first coefficient of the backward error. */
static const double LEAD_13 = 116.447, LEAD_7 = 51.995;

/* Squarings cost digits, and where x is far from normal its norm asks for too many. What counts are the roots of the
 * norms of its powers, here the fourth and the sixth, unless |x| grows so much faster that the approximant itself would
 * round: Al-Mohy and Higham, "A new scaling and squaring algorithm for the matrix exponential" (2009), (5.1) and
 * section 4. So many squarings of those planned are spared; A to A6 are those of the scaled matrix. */
static int spared(const desk *d, const pade *p, int squarings) {
    const bool wide = d->dtype == LAM_F64;
    const int m = p->degree, most = wide ? 160 : 20; /* so that powers of 2 are numbers */
    const double root = fmax(pow(norm(d, A4), 1.0 / 4), pow(norm(d, A6), 1.0 / 6)) / p->norm;
    const double room = fmin(root > 0 ? floor(-log2(root)) : most, most);
    const int spare = room < squarings ? (int)room : squarings;
    if (spare <= 0) return 0;
    const double rounding = wide ? LEAD_13 - 53 : LEAD_7 - 24;
    const double grown = growth(d, 2 * m + 1) - log2(norm(d, A)) + 2 * m * spare;
    const double back = ceil((grown - rounding) / (2 * m));
    return back >= spare ? 0 : back > 0 ? spare - (int)back : spare;
}

/* The powers of the matrix that is 2^by times as large. */
static void enlarge(const desk *d, int by) {
    static const int powers[] = {[A] = 1, [A2] = 2, [A4] = 4, [A6] = 6};
    for (int k = A; k <= A6; k++) {
        /* Powers of 2, so the scaled powers are those that would have been formed of the larger matrix. */
        const double scale = ldexp(1, by * powers[k]);
        combine(d, 1, &scale, &d->m[k], 0, d->m[k]);
    }
}

/* One matrix, from A of the desk. What is not finite, or whose norm is not, gives NaN everywhere: no number of
 * squarings is enough for it. Degree 3 needs no A4, and neither it nor degree 5 an A6; they are not made then, nor
 * asked for. */
static void exponential(const desk *d, void *out) {
    int squarings;
    const double size = norm(d, A);
    if (!isfinite(size)) {
        const double nan = NAN;
        combine(d, 1, &nan, &d->m[A], NAN, out);
        return;
    }
    const pade *p = choose(d->dtype, size, &squarings);
    const double scale = ldexp(1, -squarings);
    combine(d, 1, &scale, &d->m[A], 0, d->m[A]);
    multiply(d, d->m[A], d->m[A], d->m[A2]);
    if (p->degree > 4) multiply(d, d->m[A2], d->m[A2], d->m[A4]);
    if (p->degree > 6) multiply(d, d->m[A2], d->m[A4], d->m[A6]);
    const int spare = squarings > 0 ? spared(d, p, squarings) : 0;
    if (spare > 0) enlarge(d, spare);
    squarings -= spare;
    half(d, p, 1, d->m[EVEN]);
    multiply(d, d->m[A], d->m[EVEN], d->m[ODD]);
    half(d, p, 0, d->m[EVEN]);
    quotient(d, out);
    for (; squarings > 0; squarings--) {
        memcpy(d->m[A], out, (size_t)(d->n * d->width) * (size_t)lam__item_bytes(d->dtype));
        multiply(d, d->m[A], d->m[A], out);
    }
}

/* x is copied to the desk, which scales it; out is written when all else is done. */
void lam__kernels_expm(lam_dtype dtype, int64_t batch, int64_t n, const void *x, void *out, void *work) {
    const desk d = desk_in(dtype, n, n, work);
    const size_t bytes = (size_t)(n * n) * (size_t)lam__item_bytes(dtype);
    for (int64_t b = 0; b < batch; b++) {
        memcpy(d.m[A], (const char *)x + (size_t)b * bytes, bytes);
        exponential(&d, (char *)out + (size_t)b * bytes);
    }
}

/* ---- derivative -------------------------------------------------------------------------------------------------- */

/* The result is a matrix with its change too; see NOTE [changes beside]. */
size_t lam__kernels_expm_frechet_bytes(lam_dtype dtype, int64_t n) {
    return desk_bytes(dtype, n, 2 * n) + matrix_bytes(dtype, n, 2 * n);
}

/* What e is multiplied by: beside x it keeps its digits, and the norm, on which the squarings depend, stays that of x.
 * Beside a large x, whose exponential is no number unless x is far from normal, it is smaller, so that it has no say in
 * the norms of the powers either; its block never meets the others in a sum. */
static double brought_to_size(double x, double e) {
    const double least = 0x1p-4, share = x > 0x1p10 ? 0x1p-40 : 1;
    const double by = e > 0 && isfinite(e) ? (x > least ? x : least) / e * share : 1;
    return by < 0x1p1000 ? by : 0x1p1000; /* of an e that is hardly a number there are few digits to keep */
}

void lam__kernels_expm_frechet(lam_dtype dtype, int64_t batch, int64_t n, const void *x, const void *e, void *out,
                               void *work) {
    const desk d = desk_in(dtype, n, 2 * n, (char *)work + matrix_bytes(dtype, n, 2 * n));
    for (int64_t b = 0; b < batch; b++) {
        const int64_t at = b * n * n;
        if (dtype == LAM_F64) {
            const double *xb = (const double *)x + at, *eb = (const double *)e + at;
            const double by = brought_to_size(largest_f64(n * n, xb), largest_f64(n * n, eb));
            put_beside_f64(n, xb, eb, by, d.m[A]);
            exponential(&d, work);
            take_beside_f64(n, work, by, (double *)out + at);
        } else {
            const float *xb = (const float *)x + at, *eb = (const float *)e + at;
            const double by = brought_to_size(largest_f32(n * n, xb), largest_f32(n * n, eb));
            put_beside_f32(n, xb, eb, by, d.m[A]);
            exponential(&d, work);
            take_beside_f32(n, work, by, (float *)out + at);
        }
    }
}
