/* Triangular solves of small matrices of one type, real or complex, included by factor.c (for reals through
 * factor_type.h) with T and NAME. No include guard: that is the point. */

/* Solves A x = b for `m` right-hand sides: A(i, q) is a[i * s->a_row + q * s->a_col], lower (forward) or upper. In the
 * order of rows, each taking from its own row what is known; right-hand sides are the innermost loop, where steps of 1
 * get a loop of their own for the compiler to make vectors of. A zero pivot divides as IEEE says. */
static void FN(solve)(const small_solve *s, int64_t n, int64_t m, const T *a, T *b) {
    for (int64_t step = 0; step < n; step++) {
        const int64_t i = s->forward ? step : n - 1 - step;
        T *x = b + i * s->b_row;
        for (int64_t before = 0; before < step; before++) {
            const int64_t q = s->forward ? before : n - 1 - before;
            const T factor = a[i * s->a_row + q * s->a_col];
            const T *known = b + q * s->b_row;
            if (s->b_col == 1)
                for (int64_t c = 0; c < m; c++) x[c] -= factor * known[c];
            else
                for (int64_t c = 0; c < m; c++) x[c * s->b_col] -= factor * known[c * s->b_col];
        }
        const T pivot = a[i * s->a_row + i * s->a_col];
        if (!s->unit_diagonal)
            for (int64_t c = 0; c < m; c++) x[c * s->b_col] /= pivot;
    }
}

#undef T
#undef NAME
