/* One instruction set's elementwise loops, made from the templates beside this file; compiled once per set. The table
 * is generated from elementwise.def, so an operation without its loops does not compile. The set that a machine uses is
 * chosen once, in lib/kernels/elementwise.c. Static helpers of the headers become part of each loop, which is why there
 * is one large file for each set. A loop that is missing is a name that is not declared. */
#define _DEFAULT_SOURCE 1 /* lgamma_r */
#include "lib/kernels/simd/simd.h"

#include <math.h>
#include <string.h>

#include "lib/kernels/reference/reference.h"
#include "lib/kernels/simd/rsqrt.h"

#include "lib/kernels/simd/activation.h"
#include "lib/kernels/simd/atan.h"
#include "lib/kernels/simd/bessel.h"
#include "lib/kernels/simd/distance.h"
#include "lib/kernels/simd/entropy.h"
#include "lib/kernels/simd/hyperbolic.h"
#include "lib/kernels/simd/inverse.h"
#include "lib/kernels/simd/log.h"
#include "lib/kernels/simd/single_functions.h"
#include "lib/kernels/simd/squareplus.h"
#include "lib/kernels/simd/trig.h"
#include "lib/kernels/simd/vmath.h"

/* What all loops take; few look at params. */
#define LOOP_ARGS int64_t n, void *const p[], const int64_t step[], __attribute__((unused)) const void *params

/* Which member of a family is meant; none given is the first. Parameters are an int64_t at the start of what loops are
 * given. */
static int64_t member_of(const void *params) {
    int64_t k = 0;
    if (params) memcpy(&k, params, sizeof k);
    return k;
}

/* Bits of the fraction, the exponent of 1 in memory, and a number in sums with which the last bit counts ones. */
enum { f64_DIGITS = 52, f64_BIAS = 1023, f32_DIGITS = 23, f32_BIAS = 127 };
static const double f64_COUNTER = 0x1.8p52;
static const float f32_COUNTER = 0x1.8p23f;

/* Loops generated from the registry: those of the kind ELEMENTARY. KEEP IN STEP: loop-kinds The vector functions that
 * they apply are named like the operations; kinds that have loops of their own, or come from loops_special.c, expand to
 * nothing here. */
/* clang-format off */
#define DEFINE_ELEMENTARY(name, inputs) \
    static void NAME(loop_##name)(LOOP_ARGS) { NAME(numbers##inputs)(n, p, step, NAME(name)); }
#define DEFINE_SPECIAL(name, inputs)
#define DEFINE_FAMILY(name, inputs)
#define DEFINE_INTEGER(name, inputs)
#define DEFINE_REAL(name, inputs)
#define DEFINE_FLOAT(name, inputs)
#define DEFINE_COMPARE(name, inputs)
#define DEFINE_LOGIC(name, inputs)
#define DEFINE_TEST(name, inputs)
#define DEFINE_SELECT(name, inputs)
#define DEFINE_COMPLEX(name, inputs)
#define LAM__LOOP(name, inputs, kind) DEFINE_##kind(name, inputs)
/* clang-format on */

/* For each type: the loops of arithmetic, then the vector functions' loops, then one loop for each line of the
 * registry. Within a block NAME(f) is the type's own f. */
#define T          double
#define DTYPE      LAM_F64
#define B          uint64_t
#define NAME(x)    f64_##x
#define MATH(name) name
#include "lib/kernels/simd/loops_float.h"
#define V     V64
#define LANES LANES64
#include "lib/kernels/simd/map_vector.h"
#include "lib/kernels/simd/loops_family.h"
#include "lib/kernels/simd/loops_sincos.h"
#include "lib/kernels/elementwise.def"
#undef V
#undef LANES
#undef T
#undef B
#undef NAME
#undef MATH
#undef DTYPE

#define T          float
#define DTYPE      LAM_F32
#define B          uint32_t
#define NAME(x)    f32_##x
#define MATH(name) name##f
#include "lib/kernels/simd/loops_float.h"
#define V     V32
#define LANES LANES32
#include "lib/kernels/simd/map_vector.h"
#include "lib/kernels/simd/loops_family.h"
#include "lib/kernels/simd/loops_sincos.h"
#include "lib/kernels/elementwise.def"
#undef V
#undef LANES
#undef T
#undef B
#undef NAME
#undef MATH
#undef DTYPE

/* Integers have no vector functions: the compiler makes vectors of their loops. B is the type in which they wrap,
 * at least an unsigned int, so that it is not promoted. */
#define T       int64_t
#define B       uint64_t
#define NAME(x) i64_##x
#include "lib/kernels/simd/loops_integer.h"
#undef T
#undef B
#undef NAME

#define T       int32_t
#define B       uint32_t
#define NAME(x) i32_##x
#include "lib/kernels/simd/loops_integer.h"
#undef T
#undef B
#undef NAME

#define T       uint8_t
#define B       uint32_t
#define NAME(x) u8_##x
#include "lib/kernels/simd/loops_integer.h"
#undef T
#undef B
#undef NAME

/* Rows and one-line adapters. KEEP IN STEP: loop-kinds */
/* clang-format off */
/* Bools are 0 or 1, so their not is no inversion of bits. */
ALWAYS_INLINE uint8_t bool_not(uint8_t x) { return !x; }
static void bool_loop_not(LOOP_ARGS) {
    u8_unary(n, p, step, bool_not);
}

/* A row of the table names the loops of one operation by dtype; what is missing is NULL and has no meaning there. */
#define ROW_REAL(name) \
    { \
        [LAM_F64] = f64_loop_##name, [LAM_F32] = f32_loop_##name, [LAM_I64] = i64_loop_##name, \
        [LAM_I32] = i32_loop_##name, [LAM_U8] = u8_loop_##name \
    }
#define ROW_COMPARE(name) ROW_REAL(name)
#define ROW_SELECT(name)  ROW_REAL(name)
#define ROW_FLOAT(name) \
    { [LAM_F64] = f64_loop_##name, [LAM_F32] = f32_loop_##name }
#define ROW_TEST(name) ROW_FLOAT(name)
/* Integers of all sizes, without floats. */
#define ROW_INTEGER(name) ROW_LOGIC(name)
/* loops_complex.c has a table of its own. */
#define ROW_COMPLEX(name) \
    { NULL }
#define ROW_LOGIC(name) \
    { [LAM_I64] = i64_loop_##name, [LAM_I32] = i32_loop_##name, [LAM_U8] = u8_loop_##name }

/* Floats alone. */
#define ROW_ELEMENTARY(name) ROW_FLOAT(name)

#define ROW_FAMILY(name)   ROW_ELEMENTARY(name)
/* loops_special.c has them. */
#define ROW_SPECIAL(name) \
    { NULL }

/* By operation and dtype. */
static lam__loop *const loops[LAM__LOOP_COUNT][LAM_DTYPE_COUNT] = {
#undef LAM__LOOP
#define LAM__LOOP(name, inputs, kind) [LAM__LOOP_##name] = ROW_##kind(name),
#include "lib/kernels/elementwise.def"
#undef LAM__LOOP
};

/* Where bool has a meaning of its own or shares that of bytes. Sums are or, products and; what is missing has no
 * meaning. */
static lam__loop *const bool_loops[LAM__LOOP_COUNT] = {
    [LAM__LOOP_add] = u8_loop_or,  [LAM__LOOP_mul] = u8_loop_and,   [LAM__LOOP_max] = u8_loop_or,
    [LAM__LOOP_min] = u8_loop_and, [LAM__LOOP_and] = u8_loop_and,   [LAM__LOOP_or] = u8_loop_or,
    [LAM__LOOP_xor] = u8_loop_xor, [LAM__LOOP_eq] = u8_loop_eq,     [LAM__LOOP_ne] = u8_loop_ne,
    [LAM__LOOP_lt] = u8_loop_lt,   [LAM__LOOP_le] = u8_loop_le,     [LAM__LOOP_gt] = u8_loop_gt,
    [LAM__LOOP_ge] = u8_loop_ge,   [LAM__LOOP_not] = bool_loop_not, [LAM__LOOP_where] = u8_loop_where,
};
/* clang-format on */

/* Complex numbers have a table of their own; specials come before the table, whose rows for them are empty. */
static lam__loop *find(lam__loop_id id, lam_dtype dtype) {
    if (dtype == LAM_C128 || dtype == LAM_C64) return LAM__ISA_NAME(lam__complex_find_)(id, dtype);
    lam__loop *special = dtype == LAM_F64 || dtype == LAM_F32 ? LAM__ISA_NAME(lam__special_find_)(id, dtype) : NULL;
    if (special) return special;
    return dtype == LAM_BOOL ? bool_loops[id] : loops[id][dtype];
}

/* The two that there are: callers ask for no other dtype. */
static lam__pair_loop *find_sincos(lam_dtype dtype) {
    return dtype == LAM_F64 ? f64_loop_sincos : f32_loop_sincos;
}

/* The set's name is the suffix that the build compiles it with. */
#define LAM__STRING_(x) #x
#define LAM__STRING(x)  LAM__STRING_(x)
/* What the rest of the library sees of this set. */
const lam__simd LAM__ISA_NAME(lam__simd_) = {
    .name = LAM__STRING(LAM__ISA),
    .loop = find,
    .sincos = find_sincos,
    .convert = LAM__ISA_NAME(lam__convert_find_),
    .threefry = LAM__ISA_NAME(lam__threefry_),
    .turn = LAM__ISA_NAME(lam__turn_of_),
    .stream = LAM__ISA_NAME(lam__turn_stream_),
    .sloped = LAM__ISA_NAME(lam__sloped_find_),
};
