/* Template: loops that apply an inlined element function, to be vectorised by the compiler. Include with T (input
 * element), R (output element) and MAP(x) (spelling of the names). Only for functions whose result is the same from
 * scalar and vector instructions: exactly rounded arithmetic, comparisons, integers. Single elements leave early,
 * operands of step 0 stay in a register, everything else takes the strided loop. */

/* f is known when compiling and becomes part of the loop. The operand may be the result itself, element by element. n
 * may be 0. */
ALWAYS_INLINE void MAP(unary)(int64_t n, void *const p[], const int64_t step[], R f(T)) {
    R *out = p[0];
    const T *x = p[1];
    int64_t so = step[0], sx = step[1];
    if (n == 1) {
        *out = f(*x);
    } else if (so == 1 && sx == 1) {
        INDEPENDENT for (int64_t i = 0; i < n; i++) out[i] = f(x[i]);
    } else {
        INDEPENDENT for (int64_t i = 0; i < n; i++) out[i * so] = f(x[i * sx]);
    }
}

/* Any steps, negative ones too. The loop of last resort. */
ALWAYS_INLINE void MAP(binary_strided)(int64_t n, void *const p[], const int64_t step[], R f(T, T)) {
    R *out = p[0];
    const T *x = p[1], *y = p[2];
    int64_t so = step[0], sx = step[1], sy = step[2];
    INDEPENDENT for (int64_t i = 0; i < n; i++) out[i * so] = f(x[i * sx], y[i * sy]);
}

ALWAYS_INLINE void MAP(binary)(int64_t n, void *const p[], const int64_t step[], R f(T, T)) {
    R *out = p[0];
    const T *x = p[1], *y = p[2];
    int64_t sx = step[1], sy = step[2];
    if (n == 1) {
        *out = f(*x, *y);
    } else if (n == 0) {
        return; /* not even a scalar operand may be read */
    } else if (step[0] != 1 || sx < 0 || sx > 1 || sy < 0 || sy > 1 || sx + sy == 0) {
        MAP(binary_strided)(n, p, step, f);
    } else if (sx == 0) {
        T fixed = *x;
        INDEPENDENT for (int64_t i = 0; i < n; i++) out[i] = f(fixed, y[i]);
    } else if (sy == 0) {
        T fixed = *y;
        INDEPENDENT for (int64_t i = 0; i < n; i++) out[i] = f(x[i], fixed);
    } else {
        INDEPENDENT for (int64_t i = 0; i < n; i++) out[i] = f(x[i], y[i]);
    }
}
