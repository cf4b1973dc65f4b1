/* Template: moving items of one size. Include with T (an integer of the size) and NAME(x). A square of four by four
 * goes through registers, so that neither side is walked in steps. No include guard: that is the point. */

typedef T NAME(quad) __attribute__((vector_size(4 * sizeof(T))));

ALWAYS_INLINE void NAME(load)(const T *from, int64_t step, NAME(quad) * v) {
    if (step == 1) memcpy(v, from, sizeof *v);
    else *v = (NAME(quad)){from[0], from[step], from[2 * step], from[3 * step]};
}

/* Four rows of columns j to j + 3, from row i on. */
ALWAYS_INLINE void NAME(turn_square)(const T *const column[], const int64_t step[], int64_t i, int64_t j, T *to,
                                     int64_t to_step) {
    NAME(quad) w, x, y, z, row[4];
    NAME(load)(column[j] + i * step[j], step[j], &w);
    NAME(load)(column[j + 1] + i * step[j + 1], step[j + 1], &x);
    NAME(load)(column[j + 2] + i * step[j + 2], step[j + 2], &y);
    NAME(load)(column[j + 3] + i * step[j + 3], step[j + 3], &z);
    NAME(quad) wx_even = __builtin_shufflevector(w, x, 0, 4, 2, 6), wx_odd = __builtin_shufflevector(w, x, 1, 5, 3, 7);
    NAME(quad) yz_even = __builtin_shufflevector(y, z, 0, 4, 2, 6), yz_odd = __builtin_shufflevector(y, z, 1, 5, 3, 7);
    row[0] = __builtin_shufflevector(wx_even, yz_even, 0, 1, 4, 5);
    row[1] = __builtin_shufflevector(wx_odd, yz_odd, 0, 1, 4, 5);
    row[2] = __builtin_shufflevector(wx_even, yz_even, 2, 3, 6, 7);
    row[3] = __builtin_shufflevector(wx_odd, yz_odd, 2, 3, 6, 7);
    for (int k = 0; k < 4; k++) memcpy(to + j + k * to_step, &row[k], sizeof row[k]);
}

static void NAME(columns)(int64_t rows, int64_t n, const void *const from[], const int64_t step[], void *dst,
                          int64_t to_step) {
    const T *const *column = (const T *const *)from;
    T *to = dst;
    int64_t i = 0, whole = n - n % 4;
    for (; i + 4 <= rows; i += 4, to += 4 * to_step) {
        for (int64_t j = 0; j < whole; j += 4) NAME(turn_square)(column, step, i, j, to, to_step);
        for (int64_t j = whole; j < n; j++)
            for (int k = 0; k < 4; k++) to[k * to_step + j] = column[j][(i + k) * step[j]];
    }
    for (; i < rows; i++, to += to_step)
        for (int64_t j = 0; j < n; j++) to[j] = column[j][i * step[j]];
}

ALWAYS_INLINE void NAME(short_rows)(int64_t rows, size_t n, const T *from, int64_t from_step, T *to, int64_t to_step) {
    for (int64_t i = 0; i < rows; i++) memcpy(to + i * to_step, from + i * from_step, n * sizeof(T));
}

/* Of rows of four or more, the last four may have been moved already. */
static void NAME(rows)(int64_t rows, int64_t n, const void *src, int64_t src_step, void *dst, int64_t dst_step) {
    const T *from = src;
    T *to = dst;
    if (n == 2) NAME(short_rows)(rows, 2, from, src_step, to, dst_step);
    if (n == 3) NAME(short_rows)(rows, 3, from, src_step, to, dst_step);
    for (int64_t i = 0; i < rows && n >= 4; i++, from += src_step, to += dst_step) {
        for (int64_t j = 0; j + 4 < n; j += 4) memcpy(to + j, from + j, sizeof(NAME(quad)));
        memcpy(to + n - 4, from + n - 4, sizeof(NAME(quad)));
    }
}

#undef T
#undef NAME
