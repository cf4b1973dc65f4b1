/* Programs as C, the text of functions of matrices that take more than factors: singular values, pseudo-inverses,
 * equations of eigenvalues, exponentials. See emit_writer.h and emit_matrix_text.c. */
#include "lib/program/emit_writer.h"

const lam__emit_helper lam__emit_spectra[] = {
    /* Hestenes 1958. Two columns are turned in their plane until nothing of one is along the other; where that holds of
     * all, they are left vectors times singular values, each as exact as its own size allows. A column whose square is
     * nothing counts as none. Numbers are near 1, by a power of two. The angle is the smaller one of the two that part
     * a pair of columns, as in eigh, which keeps late turns small, so that sweeps converge. A pair is left alone as
     * soon as its cosine is below a rounding: a test against the largest column would give up the digits of the small
     * ones. */
    {"turned",
     "/* Jacobi's rotations of the q columns of p elements, p >= q, which lie in x one behind the other, as those of\n"
     " * v do. x becomes orthonormal: what it was, times v, divided by the values, which fall. Gives how many of them\n"
     " * are not 0. */\n"
     "static int64_t turned_$S(int64_t p, int64_t q, $T *x, $T *values, $T *v) {\n"
     "    const $T epsilon = sizeof($T) == 8 ? ($T)0x1p-52 : ($T)0x1p-23;\n"
     "    const $T least = (sizeof($T) == 8 ? ($T)0x1p-1022 : ($T)0x1p-126) / epsilon;\n"
     "    $T largest = 0;\n"
     "    int64_t rank = 0;\n"
     "    int exponent = 0;\n"
     "    for (int64_t i = 0; i < p * q; i++) largest = fabs$f(x[i]) > largest ? fabs$f(x[i]) : largest;\n"
     "    if (largest - largest == 0) frexp$f(largest, &exponent);\n"
     "    for (int64_t i = 0; i < p * q; i++) x[i] = ldexp$f(x[i], -exponent);\n"
     "    for (int64_t i = 0; i < q * q; i++) v[i] = i / q == i % q;\n"
     "    for (int sweep = 0; sweep < 60; sweep++) {\n"
     "        int rotated = 0;\n"
     "        for (int64_t i = 0; i < q; i++)\n"
     "            for (int64_t j = i + 1; j < q; j++) {\n"
     "                $T *a = x + i * p, *b = x + j * p, aa = 0, bb = 0, ab = 0;\n"
     "                for (int64_t k = 0; k < p; k++) {\n"
     "                    aa += a[k] * a[k];\n"
     "                    bb += b[k] * b[k];\n"
     "                    ab += a[k] * b[k];\n                }\n"
     "                if (!(fabs$f(ab) > epsilon * sqrt$f(aa) * sqrt$f(bb))) continue;\n"
     "                const $T h = (bb - aa) / (2 * ab), t = copysign$f(1, h) / (fabs$f(h) + hypot$f(h, 1));\n"
     "                const $T c = 1 / hypot$f(t, 1), s = t * c;\n"
     "                rotated = 1;\n"
     "                for (int64_t k = 0; k < p; k++) {\n"
     "                    const $T y = a[k], z = b[k];\n"
     "                    a[k] = c * y - s * z;\n"
     "                    b[k] = s * y + c * z;\n                }\n"
     "                for (int64_t k = 0; k < q; k++) {\n"
     "                    const $T y = v[i * q + k], z = v[j * q + k];\n"
     "                    v[i * q + k] = c * y - s * z;\n"
     "                    v[j * q + k] = s * y + c * z;\n                }\n            }\n"
     "        if (!rotated) break;\n    }\n"
     "    for (int64_t i = 0; i < q; i++) {\n"
     "        $T square = 0;\n"
     "        for (int64_t k = 0; k < p; k++) square += x[i * p + k] * x[i * p + k];\n"
     "        values[i] = square < least ? 0 : sqrt$f(square);\n    }\n"
     "    for (int64_t i = 0; i < q; i++) {\n"
     "        int64_t most = i;\n"
     "        for (int64_t j = i; j < q; j++)\n"
     "            if (values[j] > values[most]) most = j;\n"
     "        for (int64_t k = 0; k < p; k++) {\n"
     "            const $T t = x[i * p + k];\n"
     "            x[i * p + k] = x[most * p + k];\n"
     "            x[most * p + k] = t;\n        }\n"
     "        for (int64_t k = 0; k < q; k++) {\n"
     "            const $T t = v[i * q + k];\n"
     "            v[i * q + k] = v[most * q + k];\n"
     "            v[most * q + k] = t;\n        }\n"
     "        const $T value = values[most];\n"
     "        values[most] = values[i];\n"
     "        values[i] = ldexp$f(value, exponent);\n"
     "        if (value == 0) continue;\n"
     "        rank++;\n"
     "        for (int64_t k = 0; k < p; k++) x[i * p + k] /= value;\n    }\n"
     "    return rank;\n}\n"},
    /* Full decompositions ask for more vectors than there are values, and vectors of values that are 0 are not known
     * either. Of p unit vectors one has at least the mean of what is left of all, so its square is at least 1 / p.
     * Taking away twice is enough where rounding has left something along the others (Kahan and Parlett: "twice is
     * enough"). */
    {"completed",
     "/* Rows of x from `known` to `count`, of p elements, such that all are orthonormal: the unit vector of which\n"
     " * most is left when what lies along the others is taken away, twice. */\n"
     "static void completed_$S(int64_t p, int64_t known, int64_t count, $T *x) {\n"
     "    for (int64_t t = known; t < count; t++) {\n"
     "        $T most = -1, square = 0;\n"
     "        int64_t best = 0;\n"
     "        for (int64_t i = 0; i < p; i++) {\n"
     "            $T left = 1;\n"
     "            for (int64_t k = 0; k < t; k++) left -= x[k * p + i] * x[k * p + i];\n"
     "            if (left > most) most = left, best = i;\n        }\n"
     "        for (int64_t i = 0; i < p; i++) x[t * p + i] = i == best;\n"
     "        for (int64_t k = 0; k < 2 * t; k++) {\n"
     "            const $T *other = x + k % t * p;\n"
     "            $T s = 0;\n"
     "            for (int64_t i = 0; i < p; i++) s += x[t * p + i] * other[i];\n"
     "            for (int64_t i = 0; i < p; i++) x[t * p + i] -= s * other[i];\n        }\n"
     "        for (int64_t i = 0; i < p; i++) square += x[t * p + i] * x[t * p + i];\n"
     "        for (int64_t i = 0; i < p; i++) x[t * p + i] /= sqrt$f(square);\n    }\n}\n"},
    /* Of a wide matrix the rows are turned. Vectors of the shorter side come from the rotations. The transpose of a
     * row-major matrix is its columns one behind the other, which is how `turned` takes them. */
    {"svd",
     "/* x [m, n] = u [m, columns] diag(values) vt [rows, n]; u and vt may be NULL. room has the longer side times as\n"
     " * many vectors as that has, at least the shorter side, and the square of this. */\n"
     "static void svd_$S(int64_t m, int64_t n, int64_t columns, int64_t rows, const $T *x, $T *u, $T *values, $T *vt,\n"
     "                   $T *room) {\n"
     "    const int wide = m < n;\n"
     "    const int64_t p = wide ? n : m, q = wide ? m : n, all = wide ? rows : columns;\n"
     "    $T *a = room, *v = a + (all > q ? all : q) * p;\n"
     "    for (int64_t i = 0; i < m * n; i++) a[wide ? i : i % n * m + i / n] = x[i];\n"
     "    @completed(p, @turned(p, q, a, values, v), all, a);\n"
     "    for (int64_t i = 0; u && i < m * columns; i++)\n"
     "        u[i] = wide ? v[i % columns * q + i / columns] : a[i % columns * p + i / columns];\n"
     "    for (int64_t i = 0; vt && i < rows * n; i++) vt[i] = wide ? a[i] : v[i];\n}\n"},
    /* Small values are compared with the first, which is the largest. Dividing the vector and not the sum keeps
     * products in the range. */
    {"pinv",
     "/* out [n, m], without the singular values up to `cut` times the largest. room: as of svd, for as many vectors\n"
     " * as there are values. */\n"
     "static void pinv_$S(int64_t m, int64_t n, $T cut, const $T *x, $T *out, $T *values, $T *room) {\n"
     "    const int wide = m < n;\n"
     "    const int64_t p = wide ? n : m, q = wide ? m : n;\n"
     "    $T *a = room, *v = a + q * p;\n"
     "    for (int64_t i = 0; i < m * n; i++) a[wide ? i : i % n * m + i / n] = x[i], out[i] = 0;\n"
     "    @turned(p, q, a, values, v);\n"
     "    for (int64_t j = 0; j < q; j++) {\n"
     "        if (values[j] == 0 || values[j] <= cut * values[0]) continue;\n"
     "        for (int64_t i = 0; i < n * m; i++) {\n"
     "            const int64_t row = i / m, column = i % m;\n"
     "            out[i] += a[j * p + (wide ? row : column)] * (v[j * q + (wide ? column : row)] / values[j]);\n"
     "        }\n    }\n}\n"},
    {"polar",
     "/* out [m, n] with orthonormal columns or rows. room: as of svd, for as many vectors as there are values. */\n"
     "static void polar_$S(int64_t m, int64_t n, const $T *x, $T *out, $T *values, $T *room) {\n"
     "    const int wide = m < n;\n"
     "    const int64_t p = wide ? n : m, q = wide ? m : n;\n"
     "    $T *a = room, *v = a + q * p;\n"
     "    for (int64_t i = 0; i < m * n; i++) a[wide ? i : i % n * m + i / n] = x[i], out[i] = 0;\n"
     "    @completed(p, @turned(p, q, a, values, v), q, a);\n"
     "    for (int64_t j = 0; j < q; j++)\n"
     "        for (int64_t i = 0; i < m * n; i++)\n"
     "            out[i] += a[j * p + (wide ? i % n : i / n)] * v[j * q + (wide ? i / n : i % n)];\n}\n"},
    /* As the library does it, see gaps.c: an element that needs those below it and to its left comes behind these, or
     * the other way round, so that triangular w take one pass. Passes are those of Gauss and Seidel, which converge
     * where what lies beside the diagonal is small; NaN says that 200 were not enough. */
    {"gap_solve",
     "/* x w + sign w x = p with p and x [m, n], w [n, n] diagonal or nearly so; where a divisor is no more than\n"
     " * rounding, x is 0. */\n"
     "static void gap_solve_$S(int64_t m, int64_t n, int sign, const $T *w, const $T *p, $T *x) {\n"
     "    const $T epsilon = sizeof($T) == 8 ? ($T)0x1p-52 : ($T)0x1p-23;\n"
     "    $T largest = 0, change = INFINITY, size = 0;\n"
     "    int upper = 0, beside = 0;\n"
     "    for (int64_t i = 0; i < n * n; i++) {\n"
     "        if (i / n == i % n) largest = fabs$f(w[i]) > largest ? fabs$f(w[i]) : largest;\n"
     "        else if (w[i] != 0) beside = 1, upper = upper || i / n < i % n;\n    }\n"
     "    const $T least = largest - largest == 0 ? 4 * ($T)n * epsilon * largest : 0;\n"
     "    for (int64_t i = 0; i < m * n; i++) x[i] = 0;\n"
     "    for (int pass = 0; pass < (beside ? 200 : 1) && change > epsilon * size; pass++) {\n"
     "        change = size = 0;\n"
     "        for (int64_t at = 0; at < m * n; at++) {\n"
     "            const int64_t i = upper ? m - 1 - at / n : at / n, j = upper ? at % n : n - 1 - at % n;\n"
     "            const $T by = w[j * n + j] + (sign ? ($T)sign * w[i * n + i] : 0);\n"
     "            $T rest = p[i * n + j];\n"
     "            for (int64_t k = 0; k < n && beside; k++) {\n"
     "                if (k != j) rest -= x[i * n + k] * w[k * n + j];\n"
     "                if (sign && k != i) rest -= ($T)sign * w[i * n + k] * x[k * n + j];\n            }\n"
     "            const $T next = fabs$f(by) <= least ? 0 : rest / by;\n"
     "            change += fabs$f(next - x[i * n + j]);\n"
     "            size += fabs$f(next);\n"
     "            x[i * n + j] = next;\n        }\n    }\n"
     "    for (int64_t i = 0; i < m * n && beside && !(change <= 4 * epsilon * size); i++) x[i] = NAN;\n}\n"},
    {"times", "/* out = x y of n rows and columns. */\n"
              "static void times_$S(int64_t n, const $T *x, const $T *y, $T *out) {\n"
              "    for (int64_t i = 0; i < n * n; i++) {\n"
              "        $T s = 0;\n"
              "        for (int64_t k = 0; k < n; k++) s += x[i / n * n + k] * y[k * n + i % n];\n"
              "        out[i] = s;\n    }\n}\n"},
    /* Higham, The scaling and squaring method for the matrix exponential revisited, 2005: of the approximant of degree
     * 13 odd and even parts are u and v; 5.37 is the norm up to which it is exact in f64. By the one-norm, the largest
     * sum of a column. Degree 13 in every case: lower ones would save products for small norms, and take four more
     * lists of coefficients. The quotient is a solve with the factors of v - u. */
    {"expm",
     "/* By an approximant of Pade to x 2^-s, squared s times. room has 7 n^2, whole numbers 2 n. */\n"
     "static void expm_$S(int64_t n, const $T *x, $T *out, $T *room, int32_t *order) {\n"
     "    static const $T b[] = {($T)64764752532480000, ($T)32382376266240000, ($T)7771770303897600,\n"
     "                           ($T)1187353796428800,  ($T)129060195264000,   ($T)10559470521600,\n"
     "                           ($T)670442572800,      ($T)33522128640,       ($T)1323241920,\n"
     "                           ($T)40840800,          ($T)960960,            ($T)16380,\n"
     "                           ($T)182,               ($T)1};\n"
     "    const int64_t all = n * n;\n"
     "    $T *a = room, *two = a + all, *four = two + all, *six = four + all, *u = six + all, *v = u + all, norm = 0;\n"
     "    $T *t = v + all;\n"
     "    int squarings = 0;\n"
     "    for (int64_t j = 0; j < n; j++) {\n"
     "        $T sum = 0;\n"
     "        for (int64_t i = 0; i < n; i++) sum += fabs$f(x[i * n + j]);\n"
     "        norm = norm > sum ? norm : sum;\n    }\n"
     "    if (norm - norm == 0 && norm > ($T)5.37) frexp$f(norm / ($T)5.37, &squarings);\n"
     "    for (int64_t i = 0; i < all; i++) a[i] = ldexp$f(x[i], -squarings);\n"
     "    @times(n, a, a, two);\n"
     "    @times(n, two, two, four);\n"
     "    @times(n, four, two, six);\n"
     "    for (int64_t i = 0; i < all; i++) t[i] = b[13] * six[i] + b[11] * four[i] + b[9] * two[i];\n"
     "    @times(n, six, t, v);\n"
     "    for (int64_t i = 0; i < all; i++)\n"
     "        v[i] += b[7] * six[i] + b[5] * four[i] + b[3] * two[i] + (i / n == i % n ? b[1] : 0);\n"
     "    @times(n, a, v, u);\n"
     "    for (int64_t i = 0; i < all; i++) t[i] = b[12] * six[i] + b[10] * four[i] + b[8] * two[i];\n"
     "    @times(n, six, t, v);\n"
     "    for (int64_t i = 0; i < all; i++)\n"
     "        v[i] += b[6] * six[i] + b[4] * four[i] + b[2] * two[i] + (i / n == i % n ? b[0] : 0);\n"
     "    for (int64_t i = 0; i < all; i++) a[i] = v[i] - u[i], v[i] += u[i];\n"
     "    @lu(n, n, a, order);\n"
     "    @i32:order(n, n, order, order + n);\n"
     "    @solve(n, n, a, order + n, 0, v, out);\n"
     "    for (; squarings > 0; squarings--) {\n"
     "        for (int64_t i = 0; i < all; i++) t[i] = out[i];\n"
     "        @times(n, t, t, out);\n    }\n}\n"},
    /* The upper right block of the exponential of [[x, e], [0, x]] (Mathias 1996), e being brought near 1. The result
     * is linear in e, so what e was scaled by goes back on it. */
    {"expm_frechet",
     "/* The derivative of expm at x along e. room has 36 n^2, whole numbers 4 n. */\n"
     "static void expm_frechet_$S(int64_t n, const $T *x, const $T *e, $T *out, $T *room, int32_t *order) {\n"
     "    $T *both = room, *result = both + 4 * n * n, largest = 0;\n"
     "    int exponent = 0;\n"
     "    for (int64_t i = 0; i < n * n; i++) largest = fabs$f(e[i]) > largest ? fabs$f(e[i]) : largest;\n"
     "    if (largest - largest == 0) frexp$f(largest, &exponent);\n"
     "    for (int64_t i = 0; i < 4 * n * n; i++) {\n"
     "        const int64_t row = i / (2 * n), column = i % (2 * n), at = row % n * n + column % n;\n"
     "        both[i] = row / n == column / n ? x[at] : row < n ? ldexp$f(e[at], -exponent) : 0;\n    }\n"
     "    @expm(2 * n, both, result, result + 4 * n * n, order);\n"
     "    for (int64_t i = 0; i < n * n; i++) out[i] = ldexp$f(result[i / n * 2 * n + n + i % n], exponent);\n}\n"},
    {NULL, NULL},
};
