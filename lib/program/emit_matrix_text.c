/* Programs as C, the text of functions of matrices: plain loops on row-major memory without gaps. What cannot be
 * factored gives NaN. See emit_writer.h. */
#include "lib/program/emit_writer.h"

const lam__emit_helper lam__emit_factors[] = {
    /* Of both triangles the mean: an operand that is symmetric up to rounding has to give what its transpose gives. */
    {"symmetric",
     "static void symmetric_$S(int64_t n, $T *x) {\n"
     "    for (int64_t i = 0; i < n; i++)\n"
     "        for (int64_t j = 0; j < i; j++) x[i * n + j] = x[j * n + i] = (x[i * n + j] + x[j * n + i]) / 2;"
     "\n}\n"},
    /* A pivot that is not above 0, NaN too, is noted and the loops go on: there is nothing to jump out to, and at the
     * end all of it is NaN. */
    {"cholesky", "/* In place: the lower factor of the symmetric part; NaN where that is not positive definite. */\n"
                 "static void cholesky_$S(int64_t n, $T *x) {\n"
                 "    int good = 1;\n"
                 "    @symmetric(n, x);\n"
                 "    for (int64_t j = 0; j < n; j++) {\n"
                 "        for (int64_t k = 0; k < j; k++) x[j * n + j] -= x[j * n + k] * x[j * n + k];\n"
                 "        good = good && x[j * n + j] > 0;\n"
                 "        x[j * n + j] = sqrt$f(x[j * n + j]);\n"
                 "        for (int64_t i = j + 1; i < n; i++) {\n"
                 "            for (int64_t k = 0; k < j; k++) x[i * n + j] -= x[i * n + k] * x[j * n + k];\n"
                 "            x[i * n + j] /= x[j * n + j];\n"
                 "            x[j * n + i] = 0;\n        }\n    }\n"
                 "    for (int64_t i = 0; i < n * n && !good; i++) x[i] = NAN;\n}\n"},
    /* Forwards where op(a) is lower, which it is where `upper` and `transpose` are both true or both false; else from
     * the end. One function for sides, triangles and transposes: rows and columns of a are two strides, and those of x
     * two more. A unit diagonal is not read, since the memory of lu has the other factor's there. */
    {"substitute", "/* Solves op(a) x = b in place for m vectors, a triangular; element i of vector j is\n"
                   " * x[i * step + j * next]. */\n"
                   "static void substitute_$S(int64_t n, int64_t m, const $T *a, int upper, int transpose, int unit,\n"
                   "                           $T *x, int64_t step, int64_t next) {\n"
                   "    const int low = upper == transpose;\n"
                   "    const int64_t row = transpose ? 1 : n, column = transpose ? n : 1;\n"
                   "    for (int64_t at = 0; at < n; at++) {\n"
                   "        const int64_t i = low ? at : n - 1 - at, first = low ? 0 : i + 1, end = low ? i : n;\n"
                   "        for (int64_t j = 0; j < m; j++) {\n"
                   "            $T s = x[i * step + j * next];\n"
                   "            for (int64_t k = first; k < end; k++)\n"
                   "                s -= a[i * row + k * column] * x[k * step + j * next];\n"
                   "            x[i * step + j * next] = unit ? s : s / a[i * n + i];\n        }\n    }\n}\n"},
    /* The largest of a column comes first; of a column of zeros nothing is eliminated, as in LAPACK's getrf. m and n
     * may differ: there are as many exchanges as the shorter side has elements. */
    {"lu", "/* In place, with exchanges of rows; gives the sign of the permutation. */\n"
           "static int lu_$S(int64_t m, int64_t n, $T *x, int32_t *pivots) {\n"
           "    int sign = 1;\n"
           "    for (int64_t k = 0; k < m && k < n; k++) {\n"
           "        int64_t best = k;\n"
           "        for (int64_t i = k + 1; i < m; i++)\n"
           "            if (fabs$f(x[i * n + k]) > fabs$f(x[best * n + k])) best = i;\n"
           "        pivots[k] = (int32_t)best;\n"
           "        if (best != k) sign = -sign;\n"
           "        for (int64_t j = 0; j < n && best != k; j++) {\n"
           "            const $T t = x[k * n + j];\n"
           "            x[k * n + j] = x[best * n + j];\n"
           "            x[best * n + j] = t;\n        }\n"
           "        for (int64_t i = k + 1; i < m && x[k * n + k] != 0; i++) {\n"
           "            const $T f = x[i * n + k] /= x[k * n + k];\n"
           "            for (int64_t j = k + 1; j < n; j++) x[i * n + j] -= f * x[k * n + j];\n        }\n    }\n"
           "    return sign;\n}\n"},
    /* Exchanges, one after the other, as the permutation that they make. */
    {"order", "static void order_i32(int64_t m, int64_t k, const int32_t *pivots, int32_t *order) {\n"
              "    for (int64_t i = 0; i < m; i++) order[i] = (int32_t)i;\n"
              "    for (int64_t i = 0; i < k; i++) {\n"
              "        const int32_t t = order[i];\n"
              "        order[i] = order[pivots[i]];\n"
              "        order[pivots[i]] = t;\n    }\n}\n"},
    /* With P x = L U the transposed system goes through the factors first and is put in order last. The former leaves b
     * written over, which is why it is a copy. */
    {"solve",
     "/* b and x are [n, m]; b is written over. */\n"
     "static void solve_$S(int64_t n, int64_t m, const $T *lu, const int32_t *order, int transpose, $T *b, $T *x) {\n"
     "    if (transpose) {\n"
     "        @substitute(n, m, lu, 1, 1, 0, b, m, 1);\n"
     "        @substitute(n, m, lu, 0, 1, 1, b, m, 1);\n    }\n"
     "    for (int64_t i = 0; i < n; i++)\n"
     "        for (int64_t j = 0; j < m; j++)\n"
     "            x[(transpose ? order[i] : i) * m + j] = b[(transpose ? i : order[i]) * m + j];\n"
     "    if (!transpose) {\n"
     "        @substitute(n, m, lu, 0, 0, 1, x, m, 1);\n"
     "        @substitute(n, m, lu, 1, 0, 0, x, m, 1);\n    }\n}\n"},
    /* The product of the pivots, with the sign of the exchanges. */
    {"det", "/* x is written over. */\n"
            "static $T det_$S(int64_t n, $T *x, int32_t *pivots) {\n"
            "    $T det = ($T)@lu(n, n, x, pivots);\n"
            "    for (int64_t i = 0; i < n; i++) det *= x[i * n + i];\n"
            "    return det;\n}\n"},
    /* A pivot of 0 gives the sign 0 and the logarithm -inf, NaN gives NaN in both. */
    {"slogdet", "/* Gives the sign. x is written over. */\n"
                "static $T slogdet_$S(int64_t n, $T *x, int32_t *pivots, $T *size) {\n"
                "    $T sign = ($T)@lu(n, n, x, pivots), sum = 0;\n"
                "    for (int64_t i = 0; i < n; i++) {\n"
                "        const $T d = x[i * n + i];\n"
                "        sign *= d > 0 ? 1 : d < 0 ? -1 : d;\n"
                "        sum += log$f(fabs$f(d));\n    }\n"
                "    *size = sum;\n"
                "    return sign;\n}\n"},
    /* A matrix of one element has a minor without elements, whose determinant is 1. */
    {"cofactor", "/* The determinants of what is left without a row and a column. */\n"
                 "static void cofactor_$S(int64_t n, const $T *x, $T *out, $T *part, int32_t *pivots) {\n"
                 "    for (int64_t at = 0; at < n * n; at++) {\n"
                 "        $T *to = part;\n"
                 "        for (int64_t i = 0; i < n * n; i++)\n"
                 "            if (i / n != at / n && i % n != at % n) *to++ = x[i];\n"
                 "        const $T det = @det(n - 1, part, pivots);\n"
                 "        out[at] = (at / n + at % n) % 2 ? -det : det;\n    }\n}\n"},
    /* I - tau v v' with v = 1 at its first element, the rest below the diagonal, as LAPACK's geqrf leaves them: signs
     * of r are its signs then. They are applied to the unit matrix from the last on. What lies below alpha is measured
     * by hypot, whose squares do not overflow. beta has the other sign than alpha, so that alpha - beta cannot cancel.
     * A column that is 0 below its diagonal has nothing to be reflected, and tau = 0. */
    {"qr", "/* Householder's reflections of x [m, n], which is written over; q is [m, columns], r [columns, n]. */\n"
           "static void qr_$S(int64_t m, int64_t n, int64_t columns, $T *x, $T *q, $T *r, $T *tau) {\n"
           "    const int64_t k = m < n ? m : n;\n"
           "    for (int64_t j = 0; j < k; j++) {\n"
           "        const $T alpha = x[j * n + j];\n"
           "        $T rest = 0;\n"
           "        for (int64_t i = j + 1; i < m; i++) rest = hypot$f(rest, x[i * n + j]);\n"
           "        tau[j] = 0;\n"
           "        if (rest == 0) continue;\n"
           "        const $T beta = -copysign$f(hypot$f(alpha, rest), alpha);\n"
           "        tau[j] = (beta - alpha) / beta;\n"
           "        for (int64_t i = j + 1; i < m; i++) x[i * n + j] /= alpha - beta;\n"
           "        x[j * n + j] = beta;\n"
           "        for (int64_t c = j + 1; c < n; c++) {\n"
           "            $T s = x[j * n + c];\n"
           "            for (int64_t i = j + 1; i < m; i++) s += x[i * n + j] * x[i * n + c];\n"
           "            s *= tau[j];\n"
           "            x[j * n + c] -= s;\n"
           "            for (int64_t i = j + 1; i < m; i++) x[i * n + c] -= s * x[i * n + j];\n        }\n    }\n"
           "    for (int64_t i = 0; i < columns * n; i++) r[i] = i / n <= i % n ? x[i] : 0;\n"
           "    for (int64_t i = 0; i < m * columns; i++) q[i] = i / columns == i % columns;\n"
           "    for (int64_t j = k; j-- > 0;)\n"
           "        for (int64_t c = 0; c < columns; c++) {\n"
           "            $T s = q[j * columns + c];\n"
           "            for (int64_t i = j + 1; i < m; i++) s += x[i * n + j] * q[i * columns + c];\n"
           "            s *= tau[j];\n"
           "            q[j * columns + c] -= s;\n"
           "            for (int64_t i = j + 1; i < m; i++) q[i * columns + c] -= s * x[i * n + j];\n        }\n}\n"},
    /* Elimination with exchanges of neighbours, as LAPACK's gttrf does it: an exchange fills in a second band above the
     * diagonal. The right-hand sides go along. Bands are what lies below, on and above the diagonal, each element at
     * the number of its row; of the transpose the outer ones change places, and with them where they begin. */
    {"tridiagonal",
     "/* Solves in place for the m rows of x [m, n]; bands are [3, n], room has 4 n. */\n"
     "static void tridiagonal_$S(int64_t n, int64_t m, const $T *bands, int transpose, $T *x, $T *room) {\n"
     "    $T *low = room, *main = low + n, *up = main + n, *far = up + n;\n"
     "    for (int64_t i = 0; i < n; i++) {\n"
     "        main[i] = bands[n + i];\n"
     "        low[i] = i + 1 < n ? bands[transpose ? 2 * n + i : i + 1] : 0;\n"
     "        up[i] = i + 1 < n ? bands[transpose ? i + 1 : 2 * n + i] : 0;\n"
     "        far[i] = 0;\n    }\n"
     "    for (int64_t i = 0; i + 1 < n; i++) {\n"
     "        const int turn = fabs$f(main[i]) < fabs$f(low[i]);\n"
     "        const $T f = turn ? main[i] / low[i] : low[i] / main[i], next = main[i + 1];\n"
     "        main[i + 1] = turn ? up[i] - f * next : next - f * up[i];\n"
     "        if (turn) {\n"
     "            main[i] = low[i];\n"
     "            up[i] = next;\n"
     "            far[i] = up[i + 1];\n"
     "            up[i + 1] *= -f;\n        }\n"
     "        for (int64_t j = 0; j < m; j++) {\n"
     "            $T *at = x + j * n + i;\n"
     "            const $T first = at[turn], second = at[!turn];\n"
     "            at[0] = first;\n"
     "            at[1] = second - f * first;\n        }\n    }\n"
     "    for (int64_t j = 0; j < m; j++)\n"
     "        for (int64_t i = n; i-- > 0;) {\n"
     "            $T s = x[j * n + i];\n"
     "            if (i + 1 < n) s -= up[i] * x[j * n + i + 1];\n"
     "            if (i + 2 < n) s -= far[i] * x[j * n + i + 2];\n"
     "            x[j * n + i] = s / main[i];\n        }\n}\n"},
    /* Each rotation makes one element beside the diagonal 0, by the smaller one of the two angles that do (Golub and
     * Van Loan, Matrix Computations, on Jacobi methods). One that is nothing beside both its diagonal elements is left;
     * where all are, it is done. At the end values are sorted by selection, vectors with them. t is the tangent of the
     * angle: the root of t^2 + 2 h t - 1 of smaller size, written so that it does not cancel. Diagonal elements are set
     * from it by one product each, which rounds less than the turns above. */
    {"eigh",
     "/* Jacobi's rotations of the symmetric part of x, which is written over; values ascend, vectors (which may be\n"
     " * NULL) are columns of v. */\n"
     "static void eigh_$S(int64_t n, $T *x, $T *values, $T *v) {\n"
     "    @symmetric(n, x);\n"
     "    for (int64_t i = 0; i < n * n && v; i++) v[i] = i / n == i % n;\n"
     "    for (int sweep = 0; sweep < 60; sweep++) {\n"
     "        int rotated = 0;\n"
     "        for (int64_t p = 0; p < n; p++)\n"
     "            for (int64_t q = p + 1; q < n; q++) {\n"
     "                const $T a = x[p * n + p], b = x[q * n + q], g = x[p * n + q];\n"
     "                if (fabs$f(a) + fabs$f(g) == fabs$f(a) && fabs$f(b) + fabs$f(g) == fabs$f(b)) continue;\n"
     "                const $T h = (b - a) / (2 * g), t = copysign$f(1, h) / (fabs$f(h) + hypot$f(h, 1));\n"
     "                const $T c = 1 / hypot$f(t, 1), s = t * c;\n"
     "                rotated = 1;\n"
     "                for (int64_t k = 0; k < n; k++) {\n"
     "                    const $T y = x[k * n + p], z = x[k * n + q];\n"
     "                    x[k * n + p] = c * y - s * z;\n"
     "                    x[k * n + q] = s * y + c * z;\n                }\n"
     "                for (int64_t k = 0; k < n; k++) {\n"
     "                    const $T y = x[p * n + k], z = x[q * n + k];\n"
     "                    x[p * n + k] = c * y - s * z;\n"
     "                    x[q * n + k] = s * y + c * z;\n                }\n"
     "                for (int64_t k = 0; k < n && v; k++) {\n"
     "                    const $T y = v[k * n + p], z = v[k * n + q];\n"
     "                    v[k * n + p] = c * y - s * z;\n"
     "                    v[k * n + q] = s * y + c * z;\n                }\n"
     "                x[p * n + p] = a - t * g;\n"
     "                x[q * n + q] = b + t * g;\n"
     "                x[p * n + q] = x[q * n + p] = 0;\n            }\n"
     "        if (!rotated) break;\n    }\n"
     "    for (int64_t i = 0; i < n; i++) {\n"
     "        int64_t least = i;\n"
     "        for (int64_t k = i; k < n; k++)\n"
     "            if (x[k * n + k] < x[least * n + least]) least = k;\n"
     "        values[i] = x[least * n + least];\n"
     "        x[least * n + least] = x[i * n + i];\n"
     "        for (int64_t k = 0; k < n && v; k++) {\n"
     "            const $T t = v[k * n + i];\n"
     "            v[k * n + i] = v[k * n + least];\n"
     "            v[k * n + least] = t;\n        }\n    }\n}\n"},
    {NULL, NULL},
};
