/* Template: all loops of one complex type. Include with P (the type of the parts), T (a struct of two P named re and
 * im), NAME(x), and after NAME(widen) and NAME(narrow) between T and c128. Sums and products are computed in P so that
 * they vectorise; everything else goes through c128, so that c64 neither overflows on the way nor rounds twice.
 * Operands are pairs side by side; steps count pairs. Where the textbook formula of a product meets an infinity it
 * gives NaN, as it does in other array libraries. */

/* Loops with results of the type itself, and of bools. */
#define R      T
#define MAP(x) NAME(x)
#include "lib/kernels/simd/map.h"
#undef R
#undef MAP
#define R      uint8_t
#define MAP(x) NAME(x##_to_bool)
#include "lib/kernels/simd/map.h"
#undef R
#undef MAP

/* One line per operation. */
/* clang-format off */
ALWAYS_INLINE T NAME(neg)(T x) { return (T){-x.re, -x.im}; }
ALWAYS_INLINE T NAME(conj)(T x) { return (T){x.re, -x.im}; }
ALWAYS_INLINE T NAME(add)(T x, T y) { return (T){x.re + y.re, x.im + y.im}; }
ALWAYS_INLINE T NAME(sub)(T x, T y) { return (T){x.re - y.re, x.im - y.im}; }
ALWAYS_INLINE T NAME(mul)(T x, T y) {
    return (T){LAM__ROUNDED(x.re * y.re) - LAM__ROUNDED(x.im * y.im),
               LAM__ROUNDED(x.re * y.im) + LAM__ROUNDED(x.im * y.re)};
}
ALWAYS_INLINE T NAME(square)(T x) { return (T){(x.re - x.im) * (x.re + x.im), 2 * x.re * x.im}; }
ALWAYS_INLINE uint8_t NAME(eq)(T x, T y) { return (x.re == y.re) & (x.im == y.im); }
ALWAYS_INLINE uint8_t NAME(ne)(T x, T y) { return (x.re != y.re) | (x.im != y.im); }
ALWAYS_INLINE uint8_t NAME(is_nan)(T x) { return (x.re != x.re) | (x.im != x.im); }
ALWAYS_INLINE uint8_t NAME(is_finite)(T x) { return (x.re - x.re == 0) & (x.im - x.im == 0); }

/* Loops of functions that are defined here. */
#define UNARY(op) \
    static void NAME(loop_##op)(LOOP_ARGS) { NAME(unary)(n, p, step, NAME(op)); }
#define BINARY(op) \
    static void NAME(loop_##op)(LOOP_ARGS) { NAME(binary)(n, p, step, NAME(op)); }
#define TEST(op) \
    static void NAME(loop_##op)(LOOP_ARGS) { NAME(unary_to_bool)(n, p, step, NAME(op)); }
#define COMPARE(op) \
    static void NAME(loop_##op)(LOOP_ARGS) { NAME(binary_to_bool)(n, p, step, NAME(op)); }
/* Loops of what is above. */
UNARY(neg)
UNARY(conj)
UNARY(square)
BINARY(add)
BINARY(sub)
BINARY(mul)
/* Order has no meaning here: equality alone. */
COMPARE(eq)
COMPARE(ne)
TEST(is_nan)
TEST(is_finite)
#undef UNARY
#undef BINARY
#undef TEST
#undef COMPARE
/* clang-format on */

#include "lib/kernels/simd/loops_where.h"

/* Plain quotients, which are nearly all, in vectors; the others one by one. A block is divided by the formula whatever
 * its elements are; if one of them was not plain, those are divided again with care, and for a plain element both give
 * the same bits. */
ALWAYS_INLINE void NAME(divide)(int64_t n, T *out, const T *x, const T *y, int64_t so, int64_t sx, int64_t sy) {
    enum { BLOCK = 64 };
    T ratio[BLOCK];
    for (int64_t start = 0, m; start < n; start += m, x += m * sx, y += m * sy, out += m * so) {
        unsigned others = 0;
        m = n - start < BLOCK ? n - start : BLOCK;
        INDEPENDENT for (int64_t i = 0; i < m; i++) {
            const c128 a = NAME(widen)(x[i * sx]), b = NAME(widen)(y[i * sy]);
            ratio[i] = NAME(narrow)(lam__complex_quotient(a, b));
            others |= !is_plain(a, b);
        }
        for (int64_t i = 0; i < m && others; i++)
            ratio[i] = NAME(narrow)(lam__complex_div(NAME(widen)(x[i * sx]), NAME(widen)(y[i * sy])));
        for (int64_t i = 0; i < m; i++) out[i * so] = ratio[i];
    }
}

/* Steps of 1 are constants, so that loads of neighbours become vectors. */
static void NAME(loop_div)(LOOP_ARGS) {
    if (step[0] == 1 && step[1] == 1 && step[2] == 1) NAME(divide)(n, p[0], p[1], p[2], 1, 1, 1);
    else NAME(divide)(n, p[0], p[1], p[2], step[0], step[1], step[2]);
}

/* One over x as a quotient with an operand that does not move, so both agree. */
static void NAME(loop_reciprocal)(LOOP_ARGS) {
    static const T one = {1, 0};
    if (step[0] == 1 && step[1] == 1) NAME(divide)(n, p[0], &one, p[1], 1, 0, 1);
    else NAME(divide)(n, p[0], &one, p[1], step[0], 0, step[1]);
}

/* One by one, in c128: powers by squaring, of either sign. */
static void NAME(loop_integer_pow)(LOOP_ARGS) {
    T *out = p[0];
    const T *x = p[1];
    int64_t exponent;
    memcpy(&exponent, params, sizeof exponent);
    for (int64_t i = 0; i < n; i++)
        out[i * step[0]] = NAME(narrow)(lam__complex_integer_pow(NAME(widen)(x[i * step[1]]), exponent));
}

/* x y / z without a product that overflows on the way. */
static void NAME(loop_mul_div)(LOOP_ARGS) {
    T *out = p[0];
    const T *x = p[1], *y = p[2], *z = p[3];
    for (int64_t i = 0; i < n; i++)
        out[i * step[0]] = NAME(narrow)(lam__complex_mul_div(NAME(widen)(x[i * step[1]]), NAME(widen)(y[i * step[2]]),
                                                             NAME(widen)(z[i * step[3]])));
}
