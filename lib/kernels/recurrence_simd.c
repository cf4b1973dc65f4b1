/* Linear recurrences for one instruction set. Rows of few lanes keep what runs in registers: memory would make each
 * step wait for the store of the one before. Long rows are swept whole, since there is enough to do meanwhile. Each
 * number is one product and one sum, so that all sets and all ways give the same bits. */
#include "lib/kernels/recurrence_simd.h"

#include "lib/kernels/simd/vector.h"

enum {
    LONG = 48,   /* lanes of a row that is swept */
    ABREAST = 4, /* rows of one lane */
};

#define T        double
#define FN(name) name##_f64
#include "lib/kernels/recurrence_rows.h"

#define T        float
#define FN(name) name##_f32
#include "lib/kernels/recurrence_rows.h"

const lam__recurrence_set LAM__ISA_NAME(lam__recurrence_simd_) = {recurrence_f64, recurrence_f32};
