/* One instruction set's sums and products of complex numbers: see reduce_simd.c. */
#include "lib/kernels/item.h"
#include "lib/kernels/reduce_limits.h"

typedef lam_c128 c128;
typedef lam__c64 c64;

/* Names as in reduce_simd.c. OF_PART(f): f of the vectors of LANE. */
#define T          c128
#define LANE       double
#define PARTS      2
#define OF_PART(f) f##_f64
#define M          int64_t
#define NAME       c128
#define ORDERED    0
#define FLOATING   1
#define LIST       LIST64
#define SPREADS    0
#include "lib/kernels/reduce_type.h"
#undef OF_PART

/* As above, in floats. */
#define T          c64
#define LANE       float
#define PARTS      2
#define OF_PART(f) f##_f32
#define M          int32_t
#define NAME       c64
#define ORDERED    0
#define FLOATING   1
#define LIST       LIST32
#define SPREADS    SPREAD64
#include "lib/kernels/reduce_type.h"
#undef OF_PART

/* Complex numbers have no order and so no places; their running sums and products are in cplx.c. */
const lam__reduce_type LAM__ISA_NAME(lam__reduce_c128_) = {leaf_c128, merge_c128, NULL, NULL, NULL, NULL, NULL};
const lam__reduce_type LAM__ISA_NAME(lam__reduce_c64_) = {leaf_c64, merge_c64, NULL, NULL, NULL, NULL, NULL};
