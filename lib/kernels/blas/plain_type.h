/* Products of any size and stride of one element type, included by small_simd.c with T the element, U the type of the
 * arithmetic (unsigned for integers: they wrap), MUL and ADD operators, and NAME. Rows of y are added up where they
 * are contiguous, dots are formed elsewhere. No include guard: that is the point. */

/* One row of the result as a sum of rows of y: the innermost loop has no sum that goes from one step to the next. */
ALWAYS_INLINE void FN(plain_row)(const lam__product *p, const T *x, const T *y, T *restrict out) {
    const int64_t n = p->n;
    for (int64_t j = 0; j < n; j++) out[j] = (T)((U)x[0] MUL(U) y[j]);
    for (int64_t q = 1; q < p->k; q++) {
        const U factor = (U)x[q * p->x_col];
        const T *row = y + q * p->y_row;
        for (int64_t j = 0; j < n; j++) out[j] = (T)((U)out[j] ADD(U)(factor MUL(U) row[j]));
    }
}

/* The first product begins the sum, so that a sum of negative zeros is one. */
ALWAYS_INLINE T FN(plain_dot)(int64_t k, const T *x, int64_t x_step, const T *y, int64_t y_step) {
    U sum = (U)((U)x[0] MUL(U) y[0]);
    for (int64_t q = 1; q < k; q++) sum = (U)(sum ADD(U)((U)x[q * x_step] MUL(U) y[q * y_step]));
    return (T)sum;
}

/* One row of the result where columns of y do not lie side by side; steps of 1 are a loop of their own, which the
 * compiler turns into vectors. */
ALWAYS_INLINE void FN(plain_dots)(const lam__product *p, const T *x, const T *y, T *restrict out) {
    const int64_t n = p->n, k = p->k;
    if (p->x_col == 1 && p->y_row == 1)
        for (int64_t j = 0; j < n; j++) out[j] = FN(plain_dot)(k, x, 1, y + j * p->y_col, 1);
    else
        for (int64_t j = 0; j < n; j++) out[j] = FN(plain_dot)(k, x, p->x_col, y + j * p->y_col, p->y_row);
}

/* Which of the two ways is taken changes no order: sums run along k from the first product on. */
static void FN(plain)(const lam__product *p) {
    T *out = p->out;
    lam__product_place at = {.left = p->left};
    for (int64_t b = 0; b < p->batch; b++, lam__product_next(p, &at)) {
        const T *x = (const T *)p->x + at.x, *y = (const T *)p->y + at.y;
        for (int64_t i = 0; i < p->m; i++, x += p->x_row, out += p->n) {
            if (p->y_col == 1 && p->n > 1) FN(plain_row)(p, x, y, out);
            else FN(plain_dots)(p, x, y, out);
        }
    }
}

#undef T
#undef U
#undef MUL
#undef ADD
#undef NAME
