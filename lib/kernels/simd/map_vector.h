/* Template: loops that apply a vector function. Include with T, V (its vector), LANES and NAME(x). Every element
 * goes through the same vector function, whatever its place: what does not fill a vector is padded with copies of
 * its own first element, what is not contiguous is gathered into a block first. So element i has the same bits for
 * every n, step and alignment, provided that no lane of the vector function depends on another (simd/vmath.h). */

/* BLOCK: 1 KiB of doubles with 512-bit vectors. AHEAD: how far what is read is asked for early. These functions are so
 * long that the processor does not come to the next loads by itself; without it they took up to twice the time on large
 * arrays. The prefetch names addresses beyond the end of x at last, which is harmless: it never faults. */
enum { NAME(BLOCK) = 16 * LANES, NAME(AHEAD) = 24 * LANES };

/* At any alignment. */
ALWAYS_INLINE V NAME(load)(const T *x) {
    V v;
    memcpy(&v, x, sizeof v);
    return v;
}

ALWAYS_INLINE V NAME(splat)(T x) {
    return x - (V){0}; /* which keeps a negative zero */
}

/* `m` elements of x from `start`, contiguous, for a function that takes whole vectors: in place where they are so,
 * else gathered into `block`. Less than a vector is filled up with its first element: whose function is evaluated
 * anyway, so nothing rare is met that is not there. Steps may be 0 or negative. `block` has room for BLOCK
 * elements; what is given back is either it or x itself. */
static inline const T *NAME(gather)(T *block, const T *x, int64_t step, int64_t start, int64_t m) {
    if (step == 1 && m >= LANES) return x + start;
    x += start * step;
    /* m is at least 1, so there is a first element. */
    const V first = NAME(splat)(*x);
    if (m < LANES) {
        memcpy(block, &first, sizeof first);
        for (int64_t i = 1; i < m; i++) block[i] = x[i * step];
        return block;
    }
    /* An operand that does not move: the same number in all lanes, as long as the block is. */
    if (step == 0) {
        for (int64_t i = 0; i < m; i += LANES) memcpy(block + i, &first, sizeof first);
        return block;
    }
    for (int64_t i = 0; i < m; i++) block[i] = x[i * step];
    return block;
}

/* What gather is for operands. Not called where whole vectors of the result lie contiguous. */
static inline void NAME(scatter)(T *out, int64_t step, int64_t start, int64_t m, const T *block) {
    for (int64_t i = 0; i < m; i++) out[(start + i) * step] = block[i];
}

/* The length of the block at `start`: whole vectors, or at last less than one. */
ALWAYS_INLINE int64_t NAME(block)(int64_t n, int64_t start) {
    const int64_t m = n - start < NAME(BLOCK) ? n - start : NAME(BLOCK);
    return m < LANES ? m : m - m % LANES;
}

/* f is known when compiling, so there is one loop for each function, and f stands in it once: it may be long. `out` may
 * be x itself. */
ALWAYS_INLINE void NAME(vectors1)(int64_t n, void *const p[], const int64_t step[], V f(V)) {
    _Alignas(VECTOR_BYTES) T xs[NAME(BLOCK)], results[NAME(BLOCK)];
    for (int64_t start = 0, m; start < n; start += m) {
        m = NAME(block)(n, start);
        const T *x = NAME(gather)(xs, p[1], step[1], start, m);
        /* Less than a vector, or results with gaps, go through `results`. */
        T *out = step[0] == 1 && m >= LANES ? (T *)p[0] + start : results;
        for (int64_t i = 0; i < m; i += LANES) {
            __builtin_prefetch(x + i + NAME(AHEAD));
            const V v = f(NAME(load)(x + i));
            memcpy(out + i, &v, sizeof v);
        }
        /* In place there is nothing left to do. */
        if (out == results) NAME(scatter)(p[0], step[0], start, m, results);
    }
}

/* As vectors1. Either operand may be gathered while the other is read in place. */
ALWAYS_INLINE void NAME(vectors2)(int64_t n, void *const p[], const int64_t step[], V f(V, V)) {
    _Alignas(VECTOR_BYTES) T xs[NAME(BLOCK)], ys[NAME(BLOCK)], results[NAME(BLOCK)];
    for (int64_t start = 0, m; start < n; start += m) {
        m = NAME(block)(n, start);
        const T *x = NAME(gather)(xs, p[1], step[1], start, m), *y = NAME(gather)(ys, p[2], step[2], start, m);
        T *out = step[0] == 1 && m >= LANES ? (T *)p[0] + start : results;
        for (int64_t i = 0; i < m; i += LANES) {
            __builtin_prefetch(x + i + NAME(AHEAD));
            __builtin_prefetch(y + i + NAME(AHEAD));
            const V v = f(NAME(load)(x + i), NAME(load)(y + i));
            memcpy(out + i, &v, sizeof v);
        }
        if (out == results) NAME(scatter)(p[0], step[0], start, m, results);
    }
}

/* The same with a text of its own for a single element, for functions that programs apply to numbers: what the loop
 * keeps in registers would be loaded for nothing, which takes as long as the function. */
ALWAYS_INLINE void NAME(numbers1)(int64_t n, void *const p[], const int64_t step[], V f(V)) {
    if (n == 1) *(T *)p[0] = f(NAME(splat)(*(const T *)p[1]))[0];
    else NAME(vectors1)(n, p, step, f);
}

/* The same of two operands. */
ALWAYS_INLINE void NAME(numbers2)(int64_t n, void *const p[], const int64_t step[], V f(V, V)) {
    if (n == 1) *(T *)p[0] = f(NAME(splat)(*(const T *)p[1]), NAME(splat)(*(const T *)p[2]))[0];
    else NAME(vectors2)(n, p, step, f);
}

/* Functions of three operands are long: blocks are filled lane by lane where they are not contiguous. */
ALWAYS_INLINE void NAME(vectors3)(int64_t n, void *const p[], const int64_t step[], V f(V, V, V)) {
    for (int64_t start = 0, m; start < n; start += m) {
        m = n - start < LANES ? n - start : LANES;
        T lanes[3][LANES], results[LANES];
        for (int k = 0; k < 3; k++)
            for (int64_t i = 0; i < LANES; i++)
                lanes[k][i] = ((const T *)p[k + 1])[(start + (i < m ? i : 0)) * step[k + 1]];
        const V v = f(NAME(load)(lanes[0]), NAME(load)(lanes[1]), NAME(load)(lanes[2]));
        memcpy(results, &v, sizeof v);
        NAME(scatter)(p[0], step[0], start, m, results);
    }
}

/* What a function of two results gives. */
typedef struct NAME(both) {
    V value, slope;
} NAME(both);

/* Two results in one pass, neither of which overlaps x. Nothing has gaps: whole vectors are one block. */
ALWAYS_INLINE void NAME(vectors_both)(int64_t n, const T *x, T *value, T *slope, NAME(both) f(V)) {
    _Alignas(VECTOR_BYTES) T xs[LANES], results[2][LANES];
    for (int64_t start = 0, m; start < n; start += m) {
        /* Whole vectors first, all at once; then what is left. */
        m = n - start < LANES ? n - start : (n - start) / LANES * LANES;
        const T *from = NAME(gather)(xs, x, 1, start, m);
        T *to[2] = {value + start, slope + start};
        if (m < LANES) to[0] = results[0], to[1] = results[1];
        for (int64_t i = 0; i < m; i += LANES) {
            __builtin_prefetch(from + i + NAME(AHEAD));
            const NAME(both) s = f(NAME(load)(from + i));
            memcpy(to[0] + i, &s.value, sizeof s.value);
            memcpy(to[1] + i, &s.slope, sizeof s.slope);
        }
        /* They have been written where they belong. */
        if (m >= LANES) continue;
        NAME(scatter)(value, 1, start, m, results[0]);
        NAME(scatter)(slope, 1, start, m, results[1]);
    }
}
