/* Template: all loops of one floating type but the elementary functions. Include with T, B (unsigned integer of the
 * same size), NAME(x), MATH(f) (the libm spelling). Special values are those of C's Annex F; max and min give NaN if
 * either operand is NaN and order -0 below +0, so they do not depend on the order of operands. Each operation is one or
 * two exactly rounded steps, so scalar and vector instructions give the same bits and the compiler may choose; what
 * needs a polynomial is elsewhere. */

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

#include "lib/kernels/simd/elements.h"

/* The next bit pattern away from 0 or towards it; equal operands give the second, which may be the other zero. Bit
 * patterns of one sign are ordered as the numbers are, so one more or less is the neighbour; from 0 the least number of
 * y's sign is it. NaN comes through the sum. */
ALWAYS_INLINE T NAME(nextafter)(T x, T y) {
    /* Whether the bits go up: away from 0. */
    B bits = NAME(to_bits)(x), away = (x < y) == (x > 0);
    T moved = NAME(from_bits)(bits + 2 * away - 1), least = MATH(copysign)(NAME(from_bits)(1), y);
    T other = x == 0 ? least : moved;
    return x != x || y != y ? x + y : x == y ? y : other;
}

/* y relu6(x + 3) / 6. NaN goes through both choices. */
ALWAYS_INLINE T NAME(hard_gate)(T x, T y) {
    const T up = x + 3, open = up < 0 ? 0 : up;
    return y * ((open > 6 ? 6 : open) / 6);
}

/* The gate of x on itself. */
ALWAYS_INLINE T NAME(hard_silu)(T x) {
    return NAME(hard_gate)(x, x);
}

/* (2 x + 3)/6 between the edges, as straight as it stands beyond. Infinite sums are chosen away. */
ALWAYS_INLINE T NAME(hard_silu_slope)(T x) {
    const T between = (x + x + 3) / 6, low = x <= -3 ? 0 : between;
    return x >= 3 ? 1 : low;
}

/* x y, but 0 where x is 0, whatever y is. */
ALWAYS_INLINE T NAME(weigh)(T x, T y) {
    const T product = x * y;
    return x == 0 ? 0 : product;
}

/* x / (1 + |x|); an infinite x does not meet itself. */
ALWAYS_INLINE T NAME(softsign)(T x) {
    const T size = MATH(fabs)(x), share = x / (1 + size);
    return size == (T)INFINITY ? MATH(copysign)(1, x) : share;
}

/* 2^y for a whole y that is the exponent of a normal number. The sum with COUNTER has y + BIAS in its lowest bits. */
ALWAYS_INLINE T NAME(power_of_two)(T y) {
    return NAME(from_bits)(NAME(to_bits)(y + NAME(BIAS) + NAME(COUNTER)) << NAME(DIGITS));
}

/* x 2^y, rounded once, in three products: before the last one numbers are whole, or so small that 0 is right (the steps
 * down are DIGITS + 1 short of the least exponent, as in musl's scalbn). y is rounded to a whole number. */
ALWAYS_INLINE T NAME(ldexp)(T x, T y) {
    const T up = NAME(BIAS), low = 1 - NAME(BIAS), down = low + (NAME(DIGITS) + 1),
            most = 2 * (NAME(BIAS) + NAME(DIGITS));
    T left = MATH(rint)(y < -most ? -most : y > most ? most : y);
    /* At most two steps of the largest size and what is left. */
    const T first = left < low ? down : left > up ? up : 0;
    left -= first;
    const T second = left < low ? down : left > up ? up : 0;
    left -= second;
    const T out = x * NAME(power_of_two)(first) * NAME(power_of_two)(second) * NAME(power_of_two)(left);
    return y != y ? x + y : out;
}

/* One line per operation. */
/* clang-format off */
#define UNARY(op) \
    static void NAME(loop_##op)(LOOP_ARGS) { NAME(unary)(n, p, step, NAME(op)); }
#define TEST(op) \
    static void NAME(loop_##op)(LOOP_ARGS) { NAME(unary_to_bool)(n, p, step, NAME(op)); }
#define BINARY(op) \
    static void NAME(loop_##op)(LOOP_ARGS) { NAME(binary)(n, p, step, NAME(op)); }
UNARY(neg)
UNARY(abs)
UNARY(sign)
UNARY(square)
UNARY(floor)
UNARY(ceil)
UNARY(round)
UNARY(trunc)
UNARY(sqrt)
UNARY(rsqrt)
UNARY(reciprocal)
UNARY(softsign)
UNARY(hard_silu)
UNARY(hard_silu_slope)
TEST(is_finite)
TEST(is_nan)
BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(div)
BINARY(copysign)
BINARY(nextafter)
BINARY(hard_gate)
BINARY(weigh)
BINARY(ldexp)
BINARY(max)
BINARY(min)
#undef UNARY
#undef TEST
#undef BINARY
/* clang-format on */

#include "lib/kernels/simd/loops_common.h"

/* NOTE [known steps]
 * x y + z rounded once. Steps are constants in the calls that are common: neighbours, and one number for all. Only then
 * does the compiler make vectors of the loop; the last call, with any steps, is for the rest. */
ALWAYS_INLINE void NAME(fma_steps)(int64_t n, T *out, const T *x, const T *y, const T *z, int64_t so, int64_t sx,
                                   int64_t sy, int64_t sz) {
    INDEPENDENT for (int64_t i = 0; i < n; i++) out[i * so] = MATH(fma)(x[i * sx], y[i * sy], z[i * sz]);
}

/* One step of 0 is a number that goes along. */
static void NAME(loop_fma)(LOOP_ARGS) {
    T *out = p[0];
    const T *x = p[1], *y = p[2], *z = p[3];
    int64_t so = step[0], sx = step[1], sy = step[2], sz = step[3];
    const bool near = so == 1 && sz == 1, number = so == 1 && sz == 0 && sx == 1;
    if (n == 1) *out = MATH(fma)(*x, *y, *z);
    else if (near && sx == 1 && sy == 1) NAME(fma_steps)(n, out, x, y, z, 1, 1, 1, 1);
    else if (near && sx == 1 && sy == 0) NAME(fma_steps)(n, out, x, y, z, 1, 1, 0, 1);
    else if (near && sx == 0 && sy == 1) NAME(fma_steps)(n, out, x, y, z, 1, 0, 1, 1);
    else if (number && sy == 1) NAME(fma_steps)(n, out, x, y, z, 1, 1, 1, 0);
    else if (number && sy == 0) NAME(fma_steps)(n, out, x, y, z, 1, 1, 0, 0);
    else NAME(fma_steps)(n, out, x, y, z, so, sx, sy, sz);
}

/* z - x y, for the way back through differences: sums and factors lie side by side there. */
static void NAME(loop_fnma)(LOOP_ARGS) {
    T *out = p[0];
    const T *x = p[1], *y = p[2], *z = p[3];
    int64_t so = step[0], sx = step[1], sy = step[2], sz = step[3];
    if (n == 1) *out = MATH(fma)(-*x, *y, *z);
    else if (so == 1 && sx == 1 && sy == 1 && sz == 1)
        INDEPENDENT for (int64_t i = 0; i < n; i++) out[i] = MATH(fma)(-x[i], y[i], z[i]);
    else INDEPENDENT for (int64_t i = 0; i < n; i++) out[i * so] = MATH(fma)(-x[i * sx], y[i * sy], z[i * sz]);
}

/* See NOTE [known steps]; so are the others of this name. */
ALWAYS_INLINE void NAME(mul_div_steps)(int64_t n, T *out, const T *x, const T *y, const T *z, int64_t so, int64_t sx,
                                       int64_t sy, int64_t sz) {
    INDEPENDENT for (int64_t i = 0; i < n; i++) out[i * so] = NAME(mul_div)(x[i * sx], y[i * sy], z[i * sz]);
}

/* Operands that go along are the first or the third. */
static void NAME(loop_mul_div)(LOOP_ARGS) {
    const int64_t so = step[0], sx = step[1], sy = step[2], sz = step[3];
    const bool near = so == 1 && sy == 1 && n > 1;
    if (near && sx == 1 && sz == 1) NAME(mul_div_steps)(n, p[0], p[1], p[2], p[3], 1, 1, 1, 1);
    else if (near && sx == 0 && sz == 1) NAME(mul_div_steps)(n, p[0], p[1], p[2], p[3], 1, 0, 1, 1);
    else if (near && sx == 1 && sz == 0) NAME(mul_div_steps)(n, p[0], p[1], p[2], p[3], 1, 1, 1, 0);
    else NAME(mul_div_steps)(n, p[0], p[1], p[2], p[3], so, sx, sy, sz);
}

/* By squaring: at most 128 products for any exponent, each of which rounds. Special values follow from the products: 1
 * for the exponent 0 whatever the base is. */
static T NAME(power)(T base, uint64_t exponent) {
    T result = 1;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}

/* The same products, but the exponent's bits are walked outside and the elements inside, so that they vectorise. */
static void NAME(power_block)(int64_t m, T *result, T *base, uint64_t exponent) {
    for (int64_t i = 0; i < m; i++) result[i] = 1;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            for (int64_t i = 0; i < m; i++) result[i] *= base[i];
        /* The last square would not be used. */
        if (exponent > 1)
            for (int64_t i = 0; i < m; i++) base[i] *= base[i];
    }
}

/* The power that is met most, as power makes it, without blocks in between. */
static void NAME(cubes)(int64_t n, T *out, const T *x) {
    INDEPENDENT for (int64_t i = 0; i < n; i++) out[i] = x[i] * (x[i] * x[i]);
}

/* Negative exponents are reciprocals of positive ones, so there is one rounding more and not one for each product.
 * Blocks stay in the first cache. */
static void NAME(loop_integer_pow)(LOOP_ARGS) {
    enum { BLOCK = 128 };
    T base[BLOCK], result[BLOCK], *out = p[0];
    const T *x = p[1];
    int64_t exponent;
    memcpy(&exponent, params, sizeof exponent);
    /* Unsigned, so that the least exponent has a size too. */
    uint64_t size = exponent < 0 ? 0 - (uint64_t)exponent : (uint64_t)exponent;
    if (n == 1) {
        T power = NAME(power)(*x, size);
        *out = exponent < 0 ? 1 / power : power;
        return;
    }
    if (exponent == 3 && step[0] == 1 && step[1] == 1) {
        NAME(cubes)(n, out, x);
        return;
    }
    for (int64_t start = 0, m; start < n; start += m) {
        m = n - start < BLOCK ? n - start : BLOCK;
        for (int64_t i = 0; i < m; i++) base[i] = x[(start + i) * step[1]];
        NAME(power_block)(m, result, base, size);
        for (int64_t i = 0; i < m; i++) out[(start + i) * step[0]] = exponent < 0 ? 1 / result[i] : result[i];
    }
}

/* ---- remainders -------------------------------------------------------------------------------------------------- */

#if defined(VECTOR_FMA)
/* Division never rounds below a whole quotient, at most up to the next one; what a fused product leaves is then a
 * number, and one more divisor mends it. Holds while quotients are numbers with all their digits. */
ALWAYS_INLINE T NAME(quick_rem)(T x, T y) {
    T a = MATH(fabs)(x), b = MATH(fabs)(y), left = MATH(fma)(-MATH(trunc)(a / b), b, a);
    /* The quotient was one too large. */
    T rest = left < 0 ? left + b : left;
    return MATH(copysign)(a < b ? a : rest, x);
}

/* True if one of the quotients does not allow it. All elements are computed before it is known, which costs less than a
 * branch for each. */
ALWAYS_INLINE bool NAME(quick_rems)(int64_t m, T *out, const T *x, const T *y, int64_t sx, int64_t sy) {
    B slow = 0;
    INDEPENDENT for (int64_t i = 0; i < m; i++) {
        T a = MATH(fabs)(x[i * sx]), b = MATH(fabs)(y[i * sy]);
        out[i] = NAME(quick_rem)(x[i * sx], y[i * sy]);
        /* Division by 0, an infinite x and NaN are slow too: fmod has the rules. */
        slow |= a < b || a / b < NAME(WHOLE) ? 0 : 1;
    }
    return slow;
}

/* Blocks by the quick way, and a block in which one quotient has too many digits by fmod altogether: both give the same
 * bits where both hold. */
static void NAME(loop_rem)(LOOP_ARGS) {
    enum { BLOCK = 256 };
    T rest[BLOCK], *out = p[0];
    const T *x = p[1], *y = p[2];
    const int64_t so = step[0], sx = step[1], sy = step[2];
    for (int64_t start = 0, m; start < n; start += m, x += m * sx, y += m * sy, out += m * so) {
        m = n - start < BLOCK ? n - start : BLOCK;
        /* Few elements cost less by fmod. */
        bool slow = m < 4                ? true
                    : sx == 1 && sy == 1 ? NAME(quick_rems)(m, rest, x, y, 1, 1)
                    : sx == 1 && sy == 0 ? NAME(quick_rems)(m, rest, x, y, 1, 0)
                                         : NAME(quick_rems)(m, rest, x, y, sx, sy);
        for (int64_t i = 0; i < m && slow; i++) rest[i] = MATH(fmod)(x[i * sx], y[i * sy]);
        for (int64_t i = 0; i < m; i++) out[i * so] = rest[i];
    }
}
#else
/* fmod is exact. */
ALWAYS_INLINE T NAME(rem)(T x, T y) {
    return MATH(fmod)(x, y);
}

static void NAME(loop_rem)(LOOP_ARGS) {
    NAME(binary)(n, p, step, NAME(rem));
}
#endif

/* ---- x times factor y^exponent ------------------------------------------------------------------------------- */

/* The exponents that slopes have. One line each. Of positive powers the factor goes with the power, of negative ones
 * with x. */
/* clang-format off */
ALWAYS_INLINE T NAME(times_1)(T x, T y, T factor) { return x * (factor * y); }
ALWAYS_INLINE T NAME(times_2)(T x, T y, T factor) { return x * (factor * (y * y)); }
ALWAYS_INLINE T NAME(times_3)(T x, T y, T factor) { return x * (factor * (y * (y * y))); }
ALWAYS_INLINE T NAME(over_1)(T x, T y, T factor) { return x * factor / y; }
ALWAYS_INLINE T NAME(over_2)(T x, T y, T factor) { return x * factor / (y * y); }
/* clang-format on */

/* f is known when compiling: one of those above, or another of two operands and a number; see NOTE [known steps]. */
ALWAYS_INLINE void NAME(times_steps)(int64_t n, T *out, const T *x, const T *y, int64_t so, int64_t sx, int64_t sy,
                                     T factor, T f(T, T, T)) {
    INDEPENDENT for (int64_t i = 0; i < n; i++) out[i * so] = f(x[i * sx], y[i * sy], factor);
}

/* One loop for each f and each of the common steps. */
ALWAYS_INLINE void NAME(times)(int64_t n, void *const p[], const int64_t step[], T factor, T f(T, T, T)) {
    int64_t so = step[0], sx = step[1], sy = step[2];
    bool near = so == 1 && n > 1;
    if (near && sx == 1 && sy == 1) NAME(times_steps)(n, p[0], p[1], p[2], 1, 1, 1, factor, f);
    else if (near && sx == 0 && sy == 1) NAME(times_steps)(n, p[0], p[1], p[2], 1, 0, 1, factor, f);
    else if (near && sx == 1 && sy == 0) NAME(times_steps)(n, p[0], p[1], p[2], 1, 1, 0, factor, f);
    else NAME(times_steps)(n, p[0], p[1], p[2], so, sx, sy, factor, f);
}

/* Negative powers are one division by a positive one, as in integer_pow. */
static T NAME(times_any)(T x, T y, T factor, int64_t exponent) {
    T power = NAME(power)(y, exponent < 0 ? 0 - (uint64_t)exponent : (uint64_t)exponent);
    return exponent < 0 ? x * factor / power : x * (factor * power);
}

/* The slopes that rows name as a power (lam__power), without one they are x y. */
static void NAME(loop_times_power)(LOOP_ARGS) {
    lam__power k = {1, 1};
    if (params) memcpy(&k, params, sizeof k);
    const T factor = (T)k.factor;
    switch (k.exponent) {
    case 1: NAME(times)(n, p, step, factor, NAME(times_1)); break;
    case 2: NAME(times)(n, p, step, factor, NAME(times_2)); break;
    case 3: NAME(times)(n, p, step, factor, NAME(times_3)); break;
    case -1: NAME(times)(n, p, step, factor, NAME(over_1)); break;
    case -2: NAME(times)(n, p, step, factor, NAME(over_2)); break;
    default:
        for (int64_t i = 0; i < n; i++)
            ((T *)p[0])[i * step[0]] =
                NAME(times_any)(((const T *)p[1])[i * step[1]], ((const T *)p[2])[i * step[2]], factor, k.exponent);
    }
}

/* ---- huber_loss ---------------------------------------------------------------------------------------------- */

/* With c the difference d cut off at delta, c^2/2 + c (d - c). */
ALWAYS_INLINE T NAME(huber_of)(T x, T y, T delta) {
    const T d = x - y, c = NAME(min)(NAME(max)(d, -delta), delta);
    /* Inside of delta d - c is 0. */
    return c * (d - c) + (T)0.5 * (c * c);
}

static void NAME(loop_huber_loss)(LOOP_ARGS) {
    double delta = 0;
    if (params) memcpy(&delta, params, sizeof delta);
    /* delta goes along as a factor does. */
    NAME(times)(n, p, step, (T)delta, NAME(huber_of));
}

/* ---- ramp, nan_to_num ---------------------------------------------------------------------------------------- */

/* `flat` and the steps are constants where they are common. y is read whatever x is, or there would be no vectors. */
ALWAYS_INLINE void NAME(ramp_steps)(int64_t n, T *out, const T *x, const T *y, int64_t so, int64_t sx, int64_t sy,
                                    bool flat, T slope) {
    INDEPENDENT for (int64_t i = 0; i < n; i++) {
        const T right = y[i * sy], left = flat ? 0 : slope * right;
        out[i * so] = x[i * sx] <= 0 ? left : right;
    }
}

/* y, but slope y where x <= 0: 0 for a slope of 0, whatever y is. */
static void NAME(loop_ramp)(LOOP_ARGS) {
    double slope = 0;
    if (params) memcpy(&slope, params, sizeof slope);
    const bool near = step[0] == 1 && step[1] == 1, flat = slope == 0;
    if (near && step[2] == 1 && flat) NAME(ramp_steps)(n, p[0], p[1], p[2], 1, 1, 1, true, 0);
    else if (near && step[2] == 1) NAME(ramp_steps)(n, p[0], p[1], p[2], 1, 1, 1, false, (T)slope);
    else if (near && step[2] == 0 && flat) NAME(ramp_steps)(n, p[0], p[1], p[2], 1, 1, 0, true, 0);
    else if (near && step[2] == 0) NAME(ramp_steps)(n, p[0], p[1], p[2], 1, 1, 0, false, (T)slope);
    else NAME(ramp_steps)(n, p[0], p[1], p[2], step[0], step[1], step[2], flat, (T)slope);
}

/* Choices without branches, so that they become vectors. */
ALWAYS_INLINE void NAME(replace_steps)(int64_t n, T *out, const T *x, int64_t so, int64_t sx, T nan, T high, T low) {
    INDEPENDENT for (int64_t i = 0; i < n; i++) {
        const T a = x[i * sx], number = a == (T)INFINITY ? high : a == -(T)INFINITY ? low : a;
        out[i * so] = a != a ? nan : number;
    }
}

/* The replacements are rounded to T once, before the loop. */
static void NAME(loop_nan_to_num)(LOOP_ARGS) {
    lam__replacements r = {0, 0, 0};
    if (params) memcpy(&r, params, sizeof r);
    const T nan = (T)r.nan, high = (T)r.high, low = (T)r.low;
    if (step[0] == 1 && step[1] == 1) NAME(replace_steps)(n, p[0], p[1], 1, 1, nan, high, low);
    else NAME(replace_steps)(n, p[0], p[1], step[0], step[1], nan, high, low);
}

/* ---- reduce_precision ---------------------------------------------------------------------------------------- */

/* What a format with fewer bits makes of numbers: `cut` bits of the fraction fall off, to the nearest number and in the
 * middle to the even one; sizes above `most` become infinite and those below `least` 0, with their sign. */
ALWAYS_INLINE T NAME(rounded)(T x, B cut, B most, B least) {
    const B one = 1, bits = NAME(to_bits)(x), sign = one << (8 * sizeof(T) - 1), size = bits & ~sign;
    /* Half a step less one, and one more where the last bit that stays is odd: ties go to even. A carry goes into
     * the exponent, which is what rounding means. */
    const B half = cut ? (one << (cut - 1)) - 1 + (size >> cut & 1) : 0;
    const B kept = (size + half) >> cut << cut;
    const B out = kept > most ? NAME(to_bits)((T)INFINITY) : kept < least ? 0 : kept;
    return x != x ? x : NAME(from_bits)(out | (bits & sign));
}

/* The ends of the exponent's range as bit patterns, which are ordered as sizes are. An exponent with all its bits, or
 * with more, keeps the range of T, subnormal numbers too; a narrower one has none of these. */
static void NAME(loop_reduce_precision)(LOOP_ARGS) {
    int64_t code = 0;
    if (params) memcpy(&code, params, sizeof code);
    const int64_t exponent = code >> 8 & 255, digits = code & 255, width = 8 * (int64_t)sizeof(T) - 1 - NAME(DIGITS);
    const B cut = digits < NAME(DIGITS) ? (B)(NAME(DIGITS) - digits) : 0;
    const bool whole = exponent >= width;
    /* Of a format with so many bits of exponent, as IEEE 754 has it. */
    const B bias = whole || exponent < 1 ? 0 : ((B)1 << (exponent - 1)) - 1;
    const B most = whole ? NAME(to_bits)((T)INFINITY) : ((NAME(BIAS) + bias + 1) << NAME(DIGITS)) - 1;
    /* The least normal number of that format. */
    const B least = whole ? 0 : (NAME(BIAS) - bias + 1) << NAME(DIGITS);
    T *out = p[0];
    const T *x = p[1];
    const int64_t so = step[0], sx = step[1];
    if (so == 1 && sx == 1) INDEPENDENT for (int64_t i = 0; i < n; i++) out[i] = NAME(rounded)(x[i], cut, most, least);
    else INDEPENDENT for (int64_t i = 0; i < n; i++) out[i * so] = NAME(rounded)(x[i * sx], cut, most, least);
}
