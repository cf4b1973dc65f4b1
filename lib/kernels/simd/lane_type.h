/* Template: the steps of one floating type. Include after elements.h with T, NAME(x), MATH(f). */

/* The register at place k of the step; 0 is the result. */
#define AT(k, type) ((type *)(void *)(memory + s->at[k]))
/* Elements from group to group: none where the register is the same in all lanes. */
#define BY(k) (s->same >> (k)&1u ? 0 : GROUP)

/* All of a group is read before any of it is written, which the compiler sees, so that it makes vectors. */
#define GROUP_OF(type, v, from)                                                                                        \
    type v[GROUP];                                                                                                     \
    memcpy(v, from, sizeof v)

/* Each makes two functions: step_ for groups of lanes, whose inner loop has a length that the compiler knows, and one_
 * for a single one. R is the type of the result, which is bytes where it is a bool. */
#define UNARY(name, R, f)                                                                                              \
    ALWAYS_INLINE void NAME(step_##name)(const lam__lane_step *s, char *memory, int groups) {                          \
        R *out = AT(0, R), made[GROUP];                                                                                \
        const T *x = AT(1, T);                                                                                         \
        const int64_t by = BY(1);                                                                                      \
        for (int g = 0; g < groups; g++, out += GROUP, x += by) {                                                      \
            GROUP_OF(T, a, x);                                                                                         \
            for (int i = 0; i < GROUP; i++) made[i] = f(a[i]);                                                         \
            memcpy(out, made, sizeof made);                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    ALWAYS_INLINE void NAME(one_##name)(const lam__lane_step *s, char *memory) {                                       \
        *AT(0, R) = f(*AT(1, T));                                                                                      \
    }
/* Two operands, each of which may be the same in all lanes. */
#define BINARY(name, R, f)                                                                                             \
    ALWAYS_INLINE void NAME(step_##name)(const lam__lane_step *s, char *memory, int groups) {                          \
        R *out = AT(0, R), made[GROUP];                                                                                \
        const T *x = AT(1, T), *y = AT(2, T);                                                                          \
        const int64_t by_x = BY(1), by_y = BY(2);                                                                      \
        for (int g = 0; g < groups; g++, out += GROUP, x += by_x, y += by_y) {                                         \
            GROUP_OF(T, a, x);                                                                                         \
            GROUP_OF(T, b, y);                                                                                         \
            for (int i = 0; i < GROUP; i++) made[i] = f(a[i], b[i]);                                                   \
            memcpy(out, made, sizeof made);                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    ALWAYS_INLINE void NAME(one_##name)(const lam__lane_step *s, char *memory) {                                       \
        *AT(0, R) = f(*AT(1, T), *AT(2, T));                                                                           \
    }
/* Three. */
#define TERNARY(name, f)                                                                                               \
    ALWAYS_INLINE void NAME(step_##name)(const lam__lane_step *s, char *memory, int groups) {                          \
        T *out = AT(0, T), made[GROUP];                                                                                \
        const T *x = AT(1, T), *y = AT(2, T), *z = AT(3, T);                                                           \
        const int64_t by_x = BY(1), by_y = BY(2), by_z = BY(3);                                                        \
        for (int g = 0; g < groups; g++, out += GROUP, x += by_x, y += by_y, z += by_z) {                              \
            GROUP_OF(T, a, x);                                                                                         \
            GROUP_OF(T, b, y);                                                                                         \
            GROUP_OF(T, c, z);                                                                                         \
            for (int i = 0; i < GROUP; i++) made[i] = f(a[i], b[i], c[i]);                                             \
            memcpy(out, made, sizeof made);                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    ALWAYS_INLINE void NAME(one_##name)(const lam__lane_step *s, char *memory) {                                       \
        *AT(0, T) = f(*AT(1, T), *AT(2, T), *AT(3, T));                                                                \
    }
/* Comparisons are macros, since they serve both types and give a byte. */
#define EQ(x, y) ((x) == (y))
#define NE(x, y) ((x) != (y))
#define LT(x, y) ((x) < (y))
#define LE(x, y) ((x) <= (y))
#define GT(x, y) ((x) > (y))
#define GE(x, y) ((x) >= (y))

/* NAME(f) are the functions of elements.h, of which the elementwise loops are made too, so the bits agree. */
UNARY(neg, T, NAME(neg))
UNARY(abs, T, NAME(abs))
UNARY(square, T, NAME(square))
UNARY(sqrt, T, NAME(sqrt))
UNARY(reciprocal, T, NAME(reciprocal))
UNARY(rsqrt, T, NAME(rsqrt))
BINARY(add, T, NAME(add))
BINARY(sub, T, NAME(sub))
BINARY(mul, T, NAME(mul))
BINARY(div, T, NAME(div))
BINARY(max, T, NAME(max))
BINARY(min, T, NAME(min))
/* Bytes of 0 and 1. */
BINARY(eq, uint8_t, EQ)
BINARY(ne, uint8_t, NE)
BINARY(lt, uint8_t, LT)
BINARY(le, uint8_t, LE)
BINARY(gt, uint8_t, GT)
BINARY(ge, uint8_t, GE)
/* One rounding: where the machine has no instruction for it the C library does it. */
TERNARY(fma, MATH(fma))
TERNARY(mul_div, NAME(mul_div))

/* Both branches are read, so the choice needs no jump. A result may lie where an operand does, element on element. */
ALWAYS_INLINE void NAME(step_where)(const lam__lane_step *s, char *memory, int groups) {
    T *out = AT(0, T);
    const uint8_t *c = AT(1, uint8_t);
    const T *x = AT(2, T), *y = AT(3, T);
    const int64_t by_c = BY(1), by_x = BY(2), by_y = BY(3);
    for (int g = 0; g < groups; g++, out += GROUP, c += by_c, x += by_x, y += by_y) NAME(choose)(out, c, x, y);
}

/* A single lane has a branch or a move, as the compiler likes. */
ALWAYS_INLINE void NAME(one_where)(const lam__lane_step *s, char *memory) {
    *AT(0, T) = *AT(1, uint8_t) ? *AT(2, T) : *AT(3, T);
}

#undef AT
#undef BY
#undef GROUP_OF
#undef UNARY
#undef BINARY
#undef TERNARY
#undef EQ
#undef NE
#undef LT
#undef LE
#undef GT
#undef GE
