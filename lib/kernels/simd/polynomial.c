/* Polynomials and their transpose; compiled once per instruction set. See lib/kernels/polynomial.h. */
#include "lib/kernels/polynomial.h"

#include "lib/kernels/simd/simd.h"
#include "lib/kernels/simd/vector.h"

/* Vectors of a block, so many that they and another one for each lie in registers; and blocks between two roundings
 * into the sums of all. */
enum { VECTORS = VECTOR_BYTES == 64 ? 8 : 4, CHUNK = 64 };

#define T       double
#define V       V64
#define NAME(x) x##_f64
#include "lib/kernels/simd/polynomial_type.h"

#define T       float
#define V       V32
#define NAME(x) x##_f32
#include "lib/kernels/simd/polynomial_type.h"

/* lib/kernels/polynomial.c declares those of all sets, and chooses. */
extern const lam__polynomials LAM__ISA_NAME(lam__polynomials_);
const lam__polynomials LAM__ISA_NAME(lam__polynomials_) = {{value_f64, value_f32}, {sums_f64, sums_f32}};
