/* Compiled chains: which of the compiled sets serves this machine, and which steps it has. */
#include "lib/kernels/lane.h"

#include "lib/kernels/simd/simd.h"

extern const lam__lane_set lam__lane_simd_v1;
#if defined(LAM__HAVE_X86_64_LEVELS)
extern const lam__lane_set lam__lane_simd_v3, lam__lane_simd_v4;
#endif

/* The set of the elementwise loops, so that a step has the bits of the loop that it stands for. */
static const lam__lane_set *chosen(void) {
#if defined(LAM__HAVE_X86_64_LEVELS)
    const lam__simd *simd = lam__elementwise_simd();
    if (simd == &lam__simd_v4) return &lam__lane_simd_v4;
    if (simd == &lam__simd_v3) return &lam__lane_simd_v3;
#endif
    return &lam__lane_simd_v1;
}

/* Loops without a step are 0 in the table, which is LAM__LANE_LOOP; the step of f32 is the one behind that of f64.
 * Bools have three of their own, in front of those of arithmetic. */
lam__lane_op lam__kernels_lane_op(lam__loop_id id, lam_dtype dtype) {
    static const uint16_t ops[LAM__LOOP_COUNT] = {
#define LAM__LANE_NAME(name, inputs) [LAM__LOOP_##name] = LAM__LANE_##name##_f64,
        LAM__LANE_OPS(LAM__LANE_NAME)
#undef LAM__LANE_NAME
    };
    if (dtype == LAM_BOOL && id == LAM__LOOP_and) return LAM__LANE_AND;
    if (dtype == LAM_BOOL && id == LAM__LOOP_or) return LAM__LANE_OR;
    if (dtype == LAM_BOOL && id == LAM__LOOP_not) return LAM__LANE_NOT;
    if (dtype != LAM_F64 && dtype != LAM_F32) return LAM__LANE_LOOP;
    return (lam__lane_op)(ops[id] ? ops[id] + (dtype == LAM_F32) : LAM__LANE_LOOP);
}

/* Apart from the loops with an id, since a conversion has two dtypes. */
lam__loop *lam__kernels_lane_convert(lam_dtype to, lam_dtype from) {
    return lam__elementwise_simd()->convert(to, from);
}

/* Nothing is looked up for a step: the set is chosen once for each run of a chain. */
void lam__kernels_lane(const lam__lane_step *steps, int64_t count, void *memory, void *const data[], int64_t first,
                       int64_t lanes, int groups) {
    chosen()->run(steps, count, memory, data, first, lanes, groups);
}

void lam__kernels_lane_single(const lam__lane_step *steps, int64_t count, void *memory, void *const data[]) {
    chosen()->single(steps, count, memory, data);
}
