/* Compiled chains: steps that work on registers in memory, one behind the other, without a call for each. A register
 * holds one scalar for each of a block of lanes, or one for all of them. */
#ifndef LAM_KERNELS_LANE_H
#define LAM_KERNELS_LANE_H

#include "lib/kernels/kernels.h"

/* Lanes of a group: what is worked on at once. A register of `groups` groups takes LAM__LANE_BYTES times that; one that
 * is the same in all lanes is one group. */
enum { LAM__LANE_GROUP = 8, LAM__LANE_BYTES = 64 };

/* What a step does. Those of arithmetic come for f64 and for f32, in this order. */
/* clang-format off */
#define LAM__LANE_OPS(X)                                                                                               \
    X(add, 2) X(sub, 2) X(mul, 2) X(div, 2) X(max, 2) X(min, 2) X(neg, 1) X(abs, 1) X(square, 1) X(sqrt, 1)            \
    X(reciprocal, 1) X(fma, 3) X(eq, 2) X(ne, 2) X(lt, 2) X(le, 2) X(gt, 2) X(ge, 2) X(where, 3) X(rsqrt, 1)           \
    X(mul_div, 3)
/* clang-format on */

typedef enum lam__lane_op {
    LAM__LANE_LOOP,   /* any lam__loop */
    LAM__LANE_SINCOS, /* at[0] and at[1] are sine and cosine of at[2] */
    LAM__LANE_LOAD,   /* elements of data[at[1]], of `item` bytes */
    LAM__LANE_LINE,   /* elements that as.call.params, a lam__lane_line, says */
    LAM__LANE_STORE,  /* at[1] to elements of data[at[0]] */
    LAM__LANE_AND,    /* of bools */
    LAM__LANE_OR,
    LAM__LANE_NOT,
    LAM__LANE_ARITHMETIC,
#define LAM__LANE_NAME(name, inputs) LAM__LANE_##name##_f64, LAM__LANE_##name##_f32,
    LAM__LANE_OPS(LAM__LANE_NAME)
#undef LAM__LANE_NAME
        LAM__LANE_COUNT
} lam__lane_op;

/* Lanes that are put together of runs, as a line of a grid whose ends are joined is: those before `end`, from the end
 * of the run before on. Lane l is element base + l step of the data with this number, or all bits of it are 0, or it is
 * a bool that is true. */
enum { LAM__LANE_RUNS = 3, LAM__LANE_ZEROS = -1, LAM__LANE_TRUE = -2 };
typedef struct lam__lane_line {
    int64_t count;
    struct {
        int64_t end, base, step, data;
        int64_t count; /* elements of the data */
    } runs[LAM__LANE_RUNS];
} lam__lane_line;

/* at: registers, in bytes from the beginning of memory, the result first. same: bit k says that register k is the same
 * in all lanes. item: bytes of an element of each, for loops. */
typedef struct lam__lane_step {
    uint16_t op;
    uint8_t same, inputs;
    uint8_t item[4];
    uint32_t at[4];
    float cost; /* of a lane, in nanoseconds, for those who plan */
    union {
        struct {
            lam__loop *loop;
            const void *params;
        } call;
        lam_dtype dtype; /* of a sincos */
        struct {
            int64_t base, step; /* elements: of lane 0, from lane to lane */
            int64_t end;        /* lanes before this one are stored, or those of the run, if these are fewer */
        } move;
    } as;
} lam__lane_step;

/* The step for an arithmetic loop of f64 or f32, or of bools; LAM__LANE_LOOP where it has none of its own. */
lam__lane_op lam__kernels_lane_op(lam__loop_id id, lam_dtype dtype);

/* The loop that converts. */
lam__loop *lam__kernels_lane_convert(lam_dtype to, lam_dtype from);

/* Runs steps on `lanes` lanes from `first` on, which are at most `groups` groups. Registers of f64 and i64 have groups
 * of 64 bytes, others of as many as eight elements take. What is the same in all lanes, results too, is one group, or
 * where `lanes` is LAM__LANE_GROUP and every register is so, all of it. Stored lanes are `lanes`; a store of what is
 * the same in all stores one element where its step is 0. */
void lam__kernels_lane(const lam__lane_step *steps, int64_t count, void *memory, void *const data[], int64_t first,
                       int64_t lanes, int groups);

/* One lane; every register is of eight bytes. */
void lam__kernels_lane_single(const lam__lane_step *steps, int64_t count, void *memory, void *const data[]);

/* ---- for the kernels --------------------------------------------------------------------------------------------- */

typedef struct lam__lane_set {
    void (*run)(const lam__lane_step *steps, int64_t count, void *memory, void *const data[], int64_t first,
                int64_t lanes, int groups);
    void (*single)(const lam__lane_step *steps, int64_t count, void *memory, void *const data[]);
} lam__lane_set;

#endif
