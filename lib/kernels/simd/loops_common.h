/* Template: the operations that read the same for every arithmetic type. Include with T and NAME(x), after map.h
 * has been included with R = T as NAME(unary), NAME(binary) and with R = uint8_t as NAME(unary_to_bool) and so on.
 * Integers come here as unsigned where they may wrap (loops_integer.h), so nothing overflows. */

/* One line per operation. */
/* clang-format off */
ALWAYS_INLINE uint8_t NAME(eq)(T x, T y) { return x == y; }
ALWAYS_INLINE uint8_t NAME(ne)(T x, T y) { return x != y; }
ALWAYS_INLINE uint8_t NAME(lt)(T x, T y) { return x < y; }
ALWAYS_INLINE uint8_t NAME(le)(T x, T y) { return x <= y; }
ALWAYS_INLINE uint8_t NAME(gt)(T x, T y) { return x > y; }
ALWAYS_INLINE uint8_t NAME(ge)(T x, T y) { return x >= y; }

#define COMPARE(op) \
    static void NAME(loop_##op)(LOOP_ARGS) { NAME(binary_to_bool)(n, p, step, NAME(op)); }
COMPARE(eq)
COMPARE(ne)
COMPARE(lt)
COMPARE(le)
COMPARE(gt)
COMPARE(ge)
#undef COMPARE
/* clang-format on */

#include "lib/kernels/simd/loops_where.h"

/* NaN in any of them comes through. Bounds that do not move are read once. */
static void NAME(loop_clamp)(LOOP_ARGS) {
    T *out = p[0];
    const T *x = p[1], *lo = p[2], *hi = p[3];
    int64_t so = step[0], sx = step[1], sl = step[2], sh = step[3];
    if (n > 0 && so == 1 && sx == 1 && sl == 0 && sh == 0) {
        T low = *lo, high = *hi;
        INDEPENDENT for (int64_t i = 0; i < n; i++) out[i] = NAME(min)(NAME(max)(x[i], low), high);
    } else {
        INDEPENDENT for (int64_t i = 0; i < n; i++) out[i * so] =
            NAME(min)(NAME(max)(x[i * sx], lo[i * sl]), hi[i * sh]);
    }
}
