/* log, log2, log10, log1p and logit of both floating types, below 1 ULP (most at 0.52): by a table of sixteen numbers
 * next to the fraction and a short polynomial. Whole powers of 2 have exact binary logarithms. Table and polynomial are
 * chosen by the unit, so a logarithm to another base costs no product with a rounded constant and is exact where it is
 * whole. The steps are in log_type.h, and those of the cube root in cbrt_type.h. */
#ifndef LAM_KERNELS_SIMD_LOG_H
#define LAM_KERNELS_SIMD_LOG_H

/* UNIT: whether it is the natural logarithm, one over log(base) and log(2) / log(base) as sums of two, the table of the
 * sixteen logarithms, and (log(1 + r) - r) / r^2 in r, over log(base). Of log(2) / log(base) the first part has few
 * digits, so that its multiples by exponents are exact. */
#include "lib/kernels/simd/logexp.h"
#include "lib/kernels/simd/single.h"
#include "lib/kernels/simd/vmath.h"

/* A block of names like this stands before each inclusion of a template, which undefines them at its end: the type, how
 * its helpers are spelled, and its constants. LOG_2 and others without a type's prefix are those of logexp.h. */
#define T       double
#define V       V64
#define M       M64
#define SUM     sum64
#define PARTS   parts64
#define NAME(x) f64_##x
#define OWN(x)  x
#define ANY     any64
/* Subnormal numbers are multiplied by RANGE first; of 24 bits polynomials need five terms, of 53 nine. */
#define LEAST          DBL_MIN
#define RANGE          0x1p54
#define RANGE_EXPONENT 54
/* Coefficients of the polynomials below. */
#define REST_TERMS 9
/* Natural logarithms: log(2) in two parts, of which the first has trailing zeros; the polynomial from the highest power
 * down, minimax on what the table leaves of the fraction. */
#define UNIT_E                                                                                                         \
    {                                                                                                                  \
        true, 1, 0, LOG_2, LOG_2_REST, lam__table_log, {                                                               \
            -0x1.9a745da4a3767p-4, 0x1.c80b17fa50e8ap-4, -0x1.ffffd14f18774p-4, 0x1.24922facf6636p-3,                  \
                -0x1.555555572da35p-3, 0x1.9999999b9cd3fp-3, -0x1.fffffffffff5fp-3, 0x1.55555555554fdp-2, -0x1p-1      \
        }                                                                                                              \
    }
/* Binary ones: log(2) is 1, so whole exponents are exact; all else is that over log(2). */
#define UNIT_2                                                                                                         \
    {                                                                                                                  \
        false, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56, 1, 0, lam__table_log2, {                                   \
            -0x1.2814936fa6b1dp-3, 0x1.48f739fe12bd2p-3, -0x1.715454a485818p-3, 0x1.a6173de9df32ep-3,                  \
                -0x1.ec709dc649a42p-3, 0x1.2776c5106d687p-2, -0x1.71547652b828ap-2, 0x1.ec709dc3a037fp-2,              \
                -0x1.71547652b82fep-1                                                                                  \
        }                                                                                                              \
    }
/* Decimal ones, likewise. log10(2) has few digits in its first part. */
#define UNIT_10                                                                                                        \
    {                                                                                                                  \
        false, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57, 0x1.34413509f8p-2, -0x1.80433b83b532ap-44,                 \
            lam__table_log10, {                                                                                        \
            -0x1.64842bf38d8b7p-5, 0x1.8c1d3cb365f5p-5, -0x1.bcb788c44521ep-5, 0x1.fc3f79d757d5ap-5,                   \
                -0x1.287a76388e73p-4, 0x1.63c62776e492fp-4, -0x1.bcb7b1526e482p-4, 0x1.287a7636f4312p-3,               \
                -0x1.bcb7b1526e50ep-3                                                                                  \
        }                                                                                                              \
    }
#include "lib/kernels/simd/log_type.h"

/* The same constants for floats, with fewer digits. */
#define T              float
#define V              V32
#define M              M32
#define SUM            sum32
#define PARTS          parts32
#define NAME(x)        f32_##x
#define OWN(x)         x##32
#define ANY            any32
#define LEAST          FLT_MIN
#define RANGE          0x1p24f
#define RANGE_EXPONENT 24
#define REST_TERMS     5
/* The same for floats, with half the terms. */
#define UNIT_E                                                                                                         \
    {                                                                                                                  \
        true, 1, 0, 0x1.62e4p-1f, 0x1.7f7d1cp-20f, lam__single_log, {                                                  \
            -0x1.555556p-3f, 0x1.99999ap-3f, -0.25f, 0x1.555556p-2f, -0.5f                                             \
        }                                                                                                              \
    }
#define UNIT_2                                                                                                         \
    {                                                                                                                  \
        false, 0x1.715476p+0f, 0x1.4ae0cp-26f, 1, 0, lam__single_log2, {                                               \
            -0x1.ec709ep-3f, 0x1.2776c6p-2f, -0x1.715476p-2f, 0x1.ec709ep-2f, -0x1.715476p-1f                          \
        }                                                                                                              \
    }
#define UNIT_10                                                                                                        \
    {                                                                                                                  \
        false, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344p-2f, 0x1.3509f8p-18f, lam__single_log10, {                    \
            -0x1.287a76p-4f, 0x1.63c628p-4f, -0x1.bcb7b2p-4f, 0x1.287a76p-3f, -0x1.bcb7b2p-3f                          \
        }                                                                                                              \
    }
#include "lib/kernels/simd/log_type.h"

/* ---- cube root -------------------------------------------------------------------------------------------------- */

#define T       double
#define V       V64
#define M       M64
#define SUM     sum64
#define PARTS   parts64
#define NAME(x) f64_##x
#define OWN(x)  x
/* RANGE_EXPONENT is a multiple of 3, so its cube root is a power of 2 as well. */
#define TABLE          lam__table_cbrt
#define LEAST          DBL_MIN
#define RANGE          0x1p54
#define RANGE_EXPONENT 54
#define SHIFT          52
#include "lib/kernels/simd/cbrt_type.h"

#define T              float
#define V              V32
#define M              M32
#define SUM            sum32
#define PARTS          parts32
#define NAME(x)        f32_##x
#define OWN(x)         x##32
#define TABLE          lam__single_cbrt
#define LEAST          FLT_MIN
#define RANGE          0x1p24f
#define RANGE_EXPONENT 24
#define SHIFT          23
#include "lib/kernels/simd/cbrt_type.h"

#endif
