/* Template: loops that apply a vector function of complex numbers. Include with T (the type of the parts) and NAME(x).
 * As in map_vector.h every element goes through the same vector function, whatever its place: what does not fill a
 * vector is padded with copies of its own first element, what is not contiguous is gathered into a block first. */

/* Numbers in a block. */
enum { NAME(PLANE_BLOCK) = 16 * LANES64 };

/* `count` numbers of x, the rest of the vector filled up with the first. */
static inline void NAME(fill)(T lanes[2 * LANES64], const T *x, int64_t count) {
    for (int64_t i = 0; i < LANES64; i++) memcpy(lanes + 2 * i, x + 2 * (i < count ? i : 0), 2 * sizeof(T));
}

/* m numbers side by side; `out` may be x itself. */
ALWAYS_INLINE void NAME(plane_block)(int64_t m, T *out, const T *x, plane64 f(plane64)) {
    for (int64_t i = 0; i < m; i += LANES64) {
        /* Of less than a vector a copy is made, so nothing is read or written behind the end. */
        const int64_t count = m - i;
        T lanes[2 * LANES64];
        /* Copies of the first number, so that nothing rare is met that is not there. */
        if (count < LANES64) NAME(fill)(lanes, x + 2 * i, count);
        const plane64 r = f(NAME(parts)(count < LANES64 ? lanes : x + 2 * i));
        NAME(put)(count < LANES64 ? lanes : out + 2 * i, r);
        if (count < LANES64) memcpy(out + 2 * i, lanes, (size_t)count * 2 * sizeof(T));
    }
}

/* Steps count numbers and may be 0 or negative; n may be 0. */
ALWAYS_INLINE void NAME(planes)(int64_t n, void *const p[], const int64_t step[], plane64 f(plane64)) {
    T xs[2 * NAME(PLANE_BLOCK)], results[2 * NAME(PLANE_BLOCK)];
    for (int64_t start = 0, m; start < n; start += m) {
        m = n - start < NAME(PLANE_BLOCK) ? n - start : NAME(PLANE_BLOCK);
        /* A number is two parts. */
        const T *x = (const T *)p[1] + 2 * start * step[1];
        T *out = (T *)p[0] + 2 * start * step[0];
        /* Numbers are pairs, so a step is two parts. */
        if (step[1] != 1)
            for (int64_t i = 0; i < m; i++) memcpy(xs + 2 * i, x + 2 * i * step[1], 2 * sizeof(T));
        NAME(plane_block)(m, step[0] == 1 ? out : results, step[1] == 1 ? x : xs, f);
        if (step[0] != 1)
            for (int64_t i = 0; i < m; i++) memcpy(out + 2 * i * step[0], results + 2 * i, 2 * sizeof(T));
    }
}

/* The same of two operands, a vector at a time. */
ALWAYS_INLINE void NAME(planes2)(int64_t n, void *const p[], const int64_t step[], plane64 f(plane64, plane64)) {
    for (int64_t start = 0, m; start < n; start += m) {
        /* Two operands have long functions, so one vector at a time is enough to fill the processor. */
        m = n - start < LANES64 ? n - start : LANES64;
        T lanes[3][2 * LANES64];
        const T *x[2];
        for (int k = 0; k < 2; k++) {
            const T *from = (const T *)p[k + 1] + 2 * start * step[k + 1];
            /* Read in place where a whole vector lies side by side. */
            const bool near = m == LANES64 && step[k + 1] == 1;
            x[k] = near ? from : lanes[k];
            for (int64_t i = 0; !near && i < LANES64; i++)
                memcpy(lanes[k] + 2 * i, from + 2 * (i < m ? i : 0) * step[k + 1], 2 * sizeof(T));
        }
        T *out = (T *)p[0] + 2 * start * step[0];
        const bool whole = m == LANES64 && step[0] == 1;
        NAME(put)(whole ? out : lanes[2], f(NAME(parts)(x[0]), NAME(parts)(x[1])));
        for (int64_t i = 0; !whole && i < m; i++) memcpy(out + 2 * i * step[0], lanes[2] + 2 * i, 2 * sizeof(T));
    }
}

/* The one function of two operands. */
static void NAME(loop_pow)(LOOP_ARGS) {
    NAME(planes2)(n, p, step, plane_pow);
}

/* A loop of its own for each function, which stands in it once. */
#define PLANE(name)                                                                                                    \
    static void NAME(loop_##name)(LOOP_ARGS) {                                                                         \
        NAME(planes)(n, p, step, plane_##name);                                                                        \
    }
/* clang-format off */
PLANE(sqrt)
PLANE(rsqrt)
PLANE(exp)
PLANE(exp2)
PLANE(expm1)
PLANE(log)
PLANE(log2)
PLANE(log10)
PLANE(log1p)
PLANE(sin)
PLANE(cos)
PLANE(tan)
PLANE(asin)
PLANE(acos)
PLANE(atan)
PLANE(sinh)
PLANE(cosh)
PLANE(tanh)
PLANE(asinh)
PLANE(acosh)
PLANE(atanh)
PLANE(logistic)
PLANE(logistic_slope)
PLANE(tanh_slope)
PLANE(logit)
#undef PLANE
/* clang-format on */
