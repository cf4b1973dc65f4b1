/* Template: loops that apply a vector function. Include with T, V (its vector), LANES and NAME(x). Every element
 * goes through the same vector function, whatever its place: what does not fill a vector is padded with copies of
 * its own first element, what is not contiguous is gathered into a block first. So element i has the same bits for
 * every n, step and alignment, provided that no lane of the vector function depends on another (simd/vmath.h). */

/* BLOCK: 1 KiB of doubles with 512-bit vectors. AHEAD: how far what is read is asked for early. These functions are so
 * long that the processor does not come to the next loads by itself; without it they took up to twice the time on large
 * arrays. The prefetch names addresses beyond the end of x at last, which is harmless: it never faults. */
enum { NAME(BLOCK) = 16 * LANES, NAME(AHEAD) = 24 * LANES };

ALWAYS_INLINE V NAME(load)(const T *x) {
    V v;
    memcpy(&v, x, sizeof v);
    return v;
}

ALWAYS_INLINE V NAME(splat)(T x) {
    return x - (V){0}; /* which keeps a negative zero */
}

/* Filled up with the first element: its function is evaluated anyway, so nothing rare is met that is not there. x has
 * `count` > 0 of them. */
ALWAYS_INLINE V NAME(load_part)(const T *x, int64_t count) {
    T lanes[LANES];
    for (int64_t i = 0; i < LANES; i++) lanes[i] = x[i < count ? i : 0];
    return NAME(load)(lanes);
}

ALWAYS_INLINE void NAME(store_part)(T *out, V v, int64_t count) {
    T lanes[LANES];
    memcpy(lanes, &v, sizeof v);
    for (int64_t i = 0; i < count; i++) out[i] = lanes[i];
}

/* `m` elements of x from `start`, contiguous: in place where they are so, else gathered into `block`. Steps may be 0 or
 * negative. */
static inline const T *NAME(gather)(T *block, const T *x, int64_t step, int64_t start, int64_t m) {
    if (step == 1) return x + start;
    for (int64_t i = 0; i < m; i++) block[i] = x[(start + i) * step];
    return block;
}

/* What gather is for operands. Not called where the result lies contiguous. */
static inline void NAME(scatter)(T *out, int64_t step, int64_t start, int64_t m, const T *block) {
    for (int64_t i = 0; i < m; i++) out[(start + i) * step] = block[i];
}

/* m elements that lie contiguous: whole vectors at any alignment, then a filled one of which m - i lanes are stored.
 * `out` may be x itself. */
ALWAYS_INLINE void NAME(block1)(int64_t m, T *out, const T *x, V f(V)) {
    int64_t i = 0;
    for (; i + LANES <= m; i += LANES) {
        __builtin_prefetch(x + i + NAME(AHEAD));
        V v = f(NAME(load)(x + i));
        memcpy(out + i, &v, sizeof v);
    }
    if (i < m) NAME(store_part)(out + i, f(NAME(load_part)(x + i, m - i)), m - i);
}

ALWAYS_INLINE void NAME(block2)(int64_t m, T *out, const T *x, const T *y, V f(V, V)) {
    int64_t i = 0;
    for (; i + LANES <= m; i += LANES) {
        __builtin_prefetch(x + i + NAME(AHEAD));
        __builtin_prefetch(y + i + NAME(AHEAD));
        V v = f(NAME(load)(x + i), NAME(load)(y + i));
        memcpy(out + i, &v, sizeof v);
    }
    if (i < m) NAME(store_part)(out + i, f(NAME(load_part)(x + i, m - i), NAME(load_part)(y + i, m - i)), m - i);
}

/* f is known when compiling, so there is one loop for each function. A single element is spread over the vector. */
ALWAYS_INLINE void NAME(vectors1)(int64_t n, void *const p[], const int64_t step[], V f(V)) {
    if (n == 1) {
        *(T *)p[0] = f(NAME(splat)(*(const T *)p[1]))[0];
        return;
    }
    T xs[NAME(BLOCK)], results[NAME(BLOCK)];
    for (int64_t start = 0, m; start < n; start += m) {
        m = n - start < NAME(BLOCK) ? n - start : NAME(BLOCK);
        T *out = step[0] == 1 ? (T *)p[0] + start : results;
        NAME(block1)(m, out, NAME(gather)(xs, p[1], step[1], start, m), f);
        if (out == results) NAME(scatter)(p[0], step[0], start, m, results);
    }
}

ALWAYS_INLINE void NAME(vectors2)(int64_t n, void *const p[], const int64_t step[], V f(V, V)) {
    if (n == 1) {
        *(T *)p[0] = f(NAME(splat)(*(const T *)p[1]), NAME(splat)(*(const T *)p[2]))[0];
        return;
    }
    T xs[NAME(BLOCK)], ys[NAME(BLOCK)], results[NAME(BLOCK)];
    for (int64_t start = 0, m; start < n; start += m) {
        m = n - start < NAME(BLOCK) ? n - start : NAME(BLOCK);
        T *out = step[0] == 1 ? (T *)p[0] + start : results;
        NAME(block2)(m, out, NAME(gather)(xs, p[1], step[1], start, m), NAME(gather)(ys, p[2], step[2], start, m), f);
        if (out == results) NAME(scatter)(p[0], step[0], start, m, results);
    }
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
