/* One instruction set's factorisations and solves: see dense.h. Columns of a matrix lie in vectors, so rows of any
 * length end in a part of one. A masked access reads and writes no byte beyond its lanes, so the last vector of the
 * last row is safe, also where the memory ends with it; without masks its elements are taken one by one. */
#include "lib/kernels/blas/dense.h"

#include <math.h>

#include "lib/kernels/simd/first.h"
#include "lib/kernels/simd/fused.h"

/* Registers decide how large tiles are: 32 of them with AVX-512, else 16. Of a product these are 6 x 4 (or 6 x 2) sums,
 * a line of b and an element of a; of a substitution 8 x 2 (or 8 x 1) sums with the same beside them. A tile that
 * spills its sums into memory is slower than a smaller one. */
enum {
    WIDEST = VECTOR_BYTES >= 64 ? 4 : 2, /* vectors of a tile, */
    MOST_ROWS = 6,                       /* and rows */
    BLOCK = 8,                           /* rows of a substitution, */
    BLOCK_WIDEST = VECTOR_BYTES >= 64 ? 2 : 1,
    MOST_COLUMNS = 24 /* of tall matrices whose QR goes column by column; of more, panels are faster */
};

#if defined(VECTOR_FMA)
/* Numbers of which a vector holds the same elsewhere must be rounded as they are there, or a pivot would be chosen by a
 * number that is not the one in the matrix. */
#define SCALAR_FMA(fma, x, y, z) fma(x, y, z)
#else
#define SCALAR_FMA(fma, x, y, z) ((x) * (y) + (z))
#endif

#define T              double
#define V              V64
#define M              M64
#define LANES          LANES64
#define FMA(x, y, z)   madd(x, y, z)
#define FUSED(x, y, z) SCALAR_FMA(__builtin_fma, x, y, z)
#define SQRT           sqrt
#define MAGNITUDE      fabs
#define NAME(f)        f##_f64
#include "lib/kernels/blas/dense_type.h"
#include "lib/kernels/blas/dense_qr_type.h"

#define T              float
#define V              V32
#define M              M32
#define LANES          LANES32
#define FMA(x, y, z)   madd32(x, y, z)
#define FUSED(x, y, z) SCALAR_FMA(__builtin_fmaf, x, y, z)
#define SQRT           sqrtf
#define MAGNITUDE      fabsf
#define NAME(f)        f##_f32
#include "lib/kernels/blas/dense_type.h"
#include "lib/kernels/blas/dense_qr_type.h"

/* In the order of lam__dense_loops, f64 before f32; dense.c takes the ones for this machine. The first entry is the
 * number of columns that a panel of LU takes. */
const lam__dense_loops LAM__ISA_NAME(lam__dense_loops_)[2] = {
    {LANES64, minus_f64, solve_f64, cholesky_f64, lu_f64, qr_room_f64, qr_f64},
    {LANES32, minus_f32, solve_f32, cholesky_f32, lu_f32, qr_room_f32, qr_f32},
};
