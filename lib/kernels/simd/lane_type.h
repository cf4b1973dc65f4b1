/* Template: the steps of one floating type. Include after elements.h with T, its size BYTES, SIGNED (an integer of that
 * size), NAME(x), MATH(f), and where the machine has an instruction for it LANES_OF(mask): a bit for each lane. */

/* The register at place k of the step; 0 is the result. */
#define AT(k, type) ((type *)(void *)(memory + s->at[k]))
/* Elements from group to group: none where the register is the same in all lanes. */
#define BY(k) (s->same >> (k)&1u ? 0 : GROUP)

/* A vector of the machine, or a group where that is less; PART: its lanes. */
#define PART_BYTES (VECTOR_BYTES < GROUP * BYTES ? VECTOR_BYTES : GROUP * BYTES)
typedef T NAME(part) __attribute__((vector_size(PART_BYTES)));
typedef SIGNED NAME(mask) __attribute__((vector_size(PART_BYTES)));
enum { NAME(PART) = PART_BYTES / BYTES };
#undef PART_BYTES

/* A group, in vectors. gcc copies arrays 16 bytes at a time where vectors have 32, and who then reads one waits until
 * both halves are in the cache, which takes ten times as long as the step. */
ALWAYS_INLINE void NAME(copy_group)(T *to, const T *from) {
    for (int i = 0; i < GROUP; i += NAME(PART)) {
        NAME(part) v;
        memcpy(&v, from + i, sizeof v);
        memcpy(to + i, &v, sizeof v);
    }
}

/* All of a group is read before any of it is written, which the compiler sees, so that it makes vectors. */
#define GROUP_OF(v, from)                                                                                              \
    T v[GROUP];                                                                                                        \
    NAME(copy_group)(v, from)

/* Each makes two functions: step_ for groups of lanes, whose inner loop has a length that the compiler knows, and one_
 * for a single one. */
#define UNARY(name, f)                                                                                                 \
    ALWAYS_INLINE void NAME(step_##name)(const lam__lane_step *s, char *memory, int groups) {                          \
        T *out = AT(0, T), made[GROUP];                                                                                \
        const T *x = AT(1, T);                                                                                         \
        const int64_t by = BY(1);                                                                                      \
        for (int g = 0; g < groups; g++, out += GROUP, x += by) {                                                      \
            GROUP_OF(a, x);                                                                                            \
            for (int i = 0; i < GROUP; i++) made[i] = f(a[i]);                                                         \
            NAME(copy_group)(out, made);                                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    ALWAYS_INLINE void NAME(one_##name)(const lam__lane_step *s, char *memory) {                                       \
        *AT(0, T) = f(*AT(1, T));                                                                                      \
    }
/* Two operands, each of which may be the same in all lanes. */
#define BINARY(name, f)                                                                                                \
    ALWAYS_INLINE void NAME(step_##name)(const lam__lane_step *s, char *memory, int groups) {                          \
        T *out = AT(0, T), made[GROUP];                                                                                \
        const T *x = AT(1, T), *y = AT(2, T);                                                                          \
        const int64_t by_x = BY(1), by_y = BY(2);                                                                      \
        for (int g = 0; g < groups; g++, out += GROUP, x += by_x, y += by_y) {                                         \
            GROUP_OF(a, x);                                                                                            \
            GROUP_OF(b, y);                                                                                            \
            for (int i = 0; i < GROUP; i++) made[i] = f(a[i], b[i]);                                                   \
            NAME(copy_group)(out, made);                                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    ALWAYS_INLINE void NAME(one_##name)(const lam__lane_step *s, char *memory) {                                       \
        *AT(0, T) = f(*AT(1, T), *AT(2, T));                                                                           \
    }
/* Three. */
#define TERNARY(name, f)                                                                                               \
    ALWAYS_INLINE void NAME(step_##name)(const lam__lane_step *s, char *memory, int groups) {                          \
        T *out = AT(0, T), made[GROUP];                                                                                \
        const T *x = AT(1, T), *y = AT(2, T), *z = AT(3, T);                                                           \
        const int64_t by_x = BY(1), by_y = BY(2), by_z = BY(3);                                                        \
        for (int g = 0; g < groups; g++, out += GROUP, x += by_x, y += by_y, z += by_z) {                              \
            GROUP_OF(a, x);                                                                                            \
            GROUP_OF(b, y);                                                                                            \
            GROUP_OF(c, z);                                                                                            \
            for (int i = 0; i < GROUP; i++) made[i] = f(a[i], b[i], c[i]);                                             \
            NAME(copy_group)(out, made);                                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    ALWAYS_INLINE void NAME(one_##name)(const lam__lane_step *s, char *memory) {                                       \
        *AT(0, T) = f(*AT(1, T), *AT(2, T), *AT(3, T));                                                                \
    }

/* ---- choices and comparisons, which compilers take apart where they are to find the vectors ---------------------- */

/* The bits of NaN go through. */
ALWAYS_INLINE NAME(part) NAME(either)(NAME(mask) c, NAME(part) x, NAME(part) y) {
    return (NAME(part))((c & (NAME(mask))x) | (~c & (NAME(mask))y));
}

/* NAME(max) and NAME(min) of elements.h, lane by lane. */
ALWAYS_INLINE NAME(part) NAME(max_part)(NAME(part) x, NAME(part) y) {
    const NAME(part) same = x, equal = (NAME(part))((NAME(mask))x & (NAME(mask))y);
    return NAME(either)(x == y, equal, NAME(either)((x > y) | (x != same), x, y));
}

ALWAYS_INLINE NAME(part) NAME(min_part)(NAME(part) x, NAME(part) y) {
    const NAME(part) same = x, equal = (NAME(part))((NAME(mask))x | (NAME(mask))y);
    return NAME(either)(x == y, equal, NAME(either)((x < y) | (x != same), x, y));
}

/* A bit for each lane. */
ALWAYS_INLINE unsigned NAME(lanes_of)(NAME(mask) mask) {
#ifdef LANES_OF
    return (unsigned)LANES_OF(mask);
#else
    unsigned lanes = 0;
    for (int i = 0; i < NAME(PART); i++) lanes |= (unsigned)(mask[i] & 1) << i;
    return lanes;
#endif
}

/* The greater or the lesser. */
#define CHOICE(name)                                                                                                   \
    ALWAYS_INLINE void NAME(step_##name)(const lam__lane_step *s, char *memory, int groups) {                          \
        T *out = AT(0, T);                                                                                             \
        const T *x = AT(1, T), *y = AT(2, T);                                                                          \
        const int64_t by_x = BY(1), by_y = BY(2);                                                                      \
        for (int g = 0; g < groups; g++, out += GROUP, x += by_x, y += by_y)                                           \
            for (int i = 0; i < GROUP; i += NAME(PART)) {                                                              \
                NAME(part) a, b;                                                                                       \
                memcpy(&a, x + i, sizeof a);                                                                           \
                memcpy(&b, y + i, sizeof b);                                                                           \
                a = NAME(name##_part)(a, b);                                                                           \
                memcpy(out + i, &a, sizeof a);                                                                         \
            }                                                                                                          \
    }                                                                                                                  \
    ALWAYS_INLINE void NAME(one_##name)(const lam__lane_step *s, char *memory) {                                       \
        *AT(0, T) = NAME(name)(*AT(1, T), *AT(2, T));                                                                  \
    }
/* Bytes of 0 and 1. */
#define COMPARE(name, op)                                                                                              \
    ALWAYS_INLINE void NAME(step_##name)(const lam__lane_step *s, char *memory, int groups) {                          \
        uint8_t *out = AT(0, uint8_t);                                                                                 \
        const T *x = AT(1, T), *y = AT(2, T);                                                                          \
        const int64_t by_x = BY(1), by_y = BY(2);                                                                      \
        for (int g = 0; g < groups; g++, out += GROUP, x += by_x, y += by_y) {                                         \
            unsigned holds = 0;                                                                                        \
            for (int i = 0; i < GROUP; i += NAME(PART)) {                                                              \
                NAME(part) a, b;                                                                                       \
                memcpy(&a, x + i, sizeof a);                                                                           \
                memcpy(&b, y + i, sizeof b);                                                                           \
                holds |= NAME(lanes_of)(a op b) << i;                                                                  \
            }                                                                                                          \
            put_bools(out, holds);                                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    ALWAYS_INLINE void NAME(one_##name)(const lam__lane_step *s, char *memory) {                                       \
        *AT(0, uint8_t) = *AT(1, T) op * AT(2, T);                                                                     \
    }

/* NAME(f) are the functions of elements.h, of which the elementwise loops are made too, so the bits agree. */
UNARY(neg, NAME(neg))
UNARY(abs, NAME(abs))
UNARY(square, NAME(square))
UNARY(sqrt, NAME(sqrt))
UNARY(reciprocal, NAME(reciprocal))
UNARY(rsqrt, NAME(rsqrt))
BINARY(add, NAME(add))
BINARY(sub, NAME(sub))
BINARY(mul, NAME(mul))
BINARY(div, NAME(div))
CHOICE(max)
CHOICE(min)
COMPARE(eq, ==)
COMPARE(ne, !=)
COMPARE(lt, <)
COMPARE(le, <=)
COMPARE(gt, >)
COMPARE(ge, >=)
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
#undef CHOICE
#undef COMPARE
