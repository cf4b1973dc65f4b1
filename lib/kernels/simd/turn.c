/* Moving items of four and eight bytes between layouts; compiled once per instruction set. See simd.h. */
#include "lib/kernels/simd/simd.h"

#include "lib/kernels/simd/vector.h"

#define T       uint32_t
#define NAME(x) x##_4
#include "lib/kernels/simd/turn_type.h"

#define T       uint64_t
#define NAME(x) x##_8
#include "lib/kernels/simd/turn_type.h"

const lam__turn LAM__ISA_NAME(lam__turn_4_) = {columns_4, rows_4}, LAM__ISA_NAME(lam__turn_8_) = {columns_8, rows_8};
