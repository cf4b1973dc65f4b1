/* QR of dense_simd.c for one floating type, by reflectors I - tau v v^T whose v, from a 1 on the diagonal down, replace
 * what they make zero; included after dense_type.h, with the same names. Few columns go one by one, of others a panel
 * is as wide as a vector. Its reflectors together are I - v t v^T (Schreiber and Van Loan, 1989), which takes two
 * products to apply. No include guard: that is the point. beta = |x|, with a minus where x_1 > 0, so that x_1 - beta
 * does not cancel, tau = (beta - x_1) / beta, v = x / (x_1 - beta), and tau = 0 where there is nothing to make zero.
 * The matrix is finite: the caller has looked. */

/* Sum of squares below which, and above which, it may not be what it says. Squares may then have been subnormal or
 * infinite, so the norm is made of quotients by the largest element instead. */
#define FEW  (sizeof(T) == 8 ? (T)1e-280 : (T)1e-30)
#define MANY (sizeof(T) == 8 ? (T)1e280 : (T)1e30)

/* The norm of `first` and of the rest of a column, whose squares sum to `squares`; scaled where that left the range. */
static T NAME(column_norm)(int64_t rows, int64_t step, T first, T squares, const T *rest) {
    const T all = squares + first * first;
    if (all > FEW && all < MANY) return SQRT(all);
    T most = MAGNITUDE(first), sum = 0;
    for (int64_t i = 0; i < rows; i++) most = MAGNITUDE(rest[i * step]) > most ? MAGNITUDE(rest[i * step]) : most;
    if (most == 0) return 0;
    for (int64_t i = 0; i < rows; i++) sum += (rest[i * step] / most) * (rest[i * step] / most);
    return most * SQRT(sum + (first / most) * (first / most));
}

/* Squares of small numbers may underflow, so where the sum is 0 the elements have the last word. */
static bool NAME(is_zero)(int64_t rows, int64_t step, T squares, const T *x) {
    if (squares != 0) return false;
    for (int64_t i = 0; i < rows; i++)
        if (x[i * step] != 0) return false;
    return true;
}

/* Column i of the panel whose rows begin at `a`: its reflector, applied to the columns after it. `squares` is the sum
 * of those below the diagonal, and becomes that of the next column. Both passes over the rows do all columns of the
 * panel at once: the first forms v^T a, the second takes tau v (v^T a) away and puts v in the column's place. Lanes
 * left of column i keep the reflectors they hold; `here` and `right` pick lane i and those after it. Two sums in turn
 * halve the wait from one fma to the next. */
ALWAYS_INLINE T NAME(reflect)(int64_t rows, int64_t n, int i, bool last, int lanes, T *squares, T *a) {
    T *top = a + i * n;
    const T first = top[i];
    const int64_t below = rows - i - 1;
    /* Nothing to make zero, so tau is 0; what the next column has below its diagonal has not been summed up by a
     * pass then. */
    if (NAME(is_zero)(below, n, *squares, top + n + i)) {
        *squares = 0;
        for (int64_t r = 1; i + 1 < lanes && r < below; r++)
            *squares += top[(r + 1) * n + i + 1] * top[(r + 1) * n + i + 1];
        return 0;
    }
    const T norm = NAME(column_norm)(below, n, first, *squares, top + n + i), beta = signbit(first) ? norm : -norm;
    const T tau = (beta - first) / beta, scale = first - beta;
    /* Lane i is the column whose reflector is made, lanes to its right are those that it is applied to. */
    M here, right;
    for (int k = 0; k < LANES; k++) here[k] = k == i ? -1 : 0, right[k] = k > i ? -1 : 0;
    V sum = NAME(get)(top, last, lanes), more = {0};
    for (int64_t r = 1; r <= below; r++) {
        const V line = NAME(get)(top + r * n, last, lanes), same = top[r * n + i] / scale - (V){0};
        if (r & 1) sum = FMA(same, line, sum);
        else more = FMA(same, line, more);
    }
    sum = (V)((M)((sum + more) * -tau) & right);
    const T after = i + 1 < LANES ? sum[i + 1 < LANES ? i + 1 : 0] : 0;
    /* The top row: beta takes the place of the diagonal, and lanes to the left keep what they had. */
    NAME(put)(top, (V)(((M)(NAME(get)(top, last, lanes) + sum) & ~here) | ((M)(beta - (V){0}) & here)), last, lanes);
    T next = 0;
    for (int64_t r = 1; r <= below; r++) {
        T *at = top + r * n;
        const T v = at[i] / scale, moved = i + 1 < lanes ? FUSED(v, after, at[i + 1]) : 0;
        const V same = v - (V){0}, line = FMA(same, sum, NAME(get)(at, last, lanes));
        if (r > 1) next += moved * moved;
        NAME(put)(at, (V)(((M)line & ~here) | ((M)same & here)), last, lanes);
    }
    *squares = next;
    return tau;
}

/* The panel's reflectors as rows of a matrix of their own, [rows, LANES], with ones and zeros where they have them. In
 * the panel their ones are not stored, and r lies where their zeros are. */
static void NAME(copy_reflectors)(int64_t rows, int64_t n, int width, const T *a, T *v) {
    for (int64_t r = 0; r < rows; r++)
        for (int k = 0; k < LANES; k++) v[r * LANES + k] = k >= width || k > r ? 0 : k == r ? 1 : a[r * n + k];
}

/* t[LANES, LANES] of the panel: column k is tau_k (e_k - t v^T v_k), of the columns before it. v^T v is formed whole,
 * in registers, though one triangle of it would do. Columns beyond `width` are zero, as are their v, so they change
 * nothing when the panel is applied. */
static void NAME(make_t)(int64_t rows, int width, const T *v, const T tau[], T *t) {
    V gram[LANES];
    for (int k = 0; k < LANES; k++) gram[k] = (V){0};
    for (int64_t r = 0; r < rows; r++) {
        const V line = *(const NAME(loose) *)(v + r * LANES);
        for (int k = 0; k < LANES; k++) gram[k] = FMA(v[r * LANES + k] - (V){0}, line, gram[k]);
    }
    for (int k = 0; k < LANES * LANES; k++) t[k] = 0;
    for (int k = 0; k < width; k++) {
        for (int i = 0; i < k; i++) {
            T sum = 0;
            for (int q = i; q < k; q++) sum += t[i * LANES + q] * gram[q][k];
            t[i * LANES + k] = -tau[k] * sum;
        }
        t[k * LANES + k] = tau[k];
    }
}

/* c[rows, n] becomes (I - v t v^T) c, or with t^T; work: [LANES, n]. Two calls of the product: work = -v^T c, then c -
 * v (t v^T c), with t between them, whose triangle is applied in place by going through its rows from the end that the
 * others do not need any more. */
static void NAME(apply_panel)(int64_t rows, int64_t n, int64_t lead, bool turned, const T *v, const T *t, T *c,
                              T *work) {
    for (int64_t i = 0; i < LANES * n; i++) work[i] = 0;
    NAME(minus)(&(lam__dense_product){LANES, n, rows, v, c, work, 1, LANES, lead, n});
    for (int step = 0; step < LANES; step++) {
        const int i = turned ? LANES - 1 - step : step;
        T *to = work + i * n;
        for (int64_t j = 0; j < n; j++) to[j] *= -t[i * LANES + i];
        for (int q = turned ? 0 : i + 1; q < (turned ? i : LANES); q++) {
            const T factor = turned ? t[q * LANES + i] : t[i * LANES + q];
            const T *from = work + q * n;
            for (int64_t j = 0; j < n; j++) to[j] -= factor * from[j];
        }
    }
    NAME(minus)(&(lam__dense_product){rows, n, LANES, v, work, c, LANES, 1, n, lead});
}

/* One after the other, each applied to what lies to its right. The transpose of t is what belongs to the reflectors in
 * the order in which they were found. */
static void NAME(factor_panels)(int64_t m, int64_t n, T *a, T *v, T *t, T *work) {
    const int64_t k = m < n ? m : n;
    for (int64_t first = 0; first < k; first += LANES, t += LANES * LANES) {
        const int width = (int)(k - first < LANES ? k - first : LANES);
        const int64_t rows = m - first, right = n - first - width;
        T *block = a + first * n + first, tau[LANES], squares = 0;
        for (int64_t r = 1; r < rows; r++) squares += block[r * n] * block[r * n];
        for (int i = 0; i < width; i++)
            tau[i] = width == LANES ? NAME(reflect)(rows, n, i, false, LANES, &squares, block)
                                    : NAME(reflect)(rows, n, i, true, width, &squares, block);
        NAME(copy_reflectors)(rows, n, width, block, v);
        NAME(make_t)(rows, width, v, tau, t);
        if (right > 0) NAME(apply_panel)(rows, right, n, true, v, t, block + width, work);
    }
}

/* q = (I - v t v^T of the first panel) ... (that of the last) of the identity, whose zeros it knows. */
static void NAME(make_q)(int64_t m, int64_t n, int64_t columns, const T *a, T *q, T *v, const T *t, T *work) {
    const int64_t k = m < n ? m : n, last = (k - 1) / LANES;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < columns; j++) q[i * columns + j] = i == j;
    for (int64_t panel = last; panel >= 0; panel--) {
        const int64_t first = panel * LANES, rows = m - first;
        const int width = (int)(k - first < LANES ? k - first : LANES);
        NAME(copy_reflectors)(rows, n, width, a + first * n + first, v);
        NAME(apply_panel)
        (rows, columns - first, columns, false, v, t + panel * LANES * LANES, q + first * columns + first, work);
    }
}

/* ---- few columns ------------------------------------------------------------------------------------------------- */

/* Rows that do not fill a vector leave most of it idle, so matrices of such rows are turned, and their columns are
 * vectors; so are those of tall matrices, of which a panel would pass over each row as often. */
static bool NAME(has_few)(int64_t m, int64_t n, int64_t columns) {
    const int64_t wider = n > columns ? n : columns;
    return wider < LANES || (wider <= MOST_COLUMNS && m >= 4 * wider);
}

/* Two sums of vectors, then lane by lane: the order follows from n alone. */
static T NAME(dot)(int64_t n, const T *x, const T *y) {
    V sum = {0}, more = {0};
    T all = 0;
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        sum = FMA(*(const NAME(loose) *)(x + i), *(const NAME(loose) *)(y + i), sum);
        more = FMA(*(const NAME(loose) *)(x + i + LANES), *(const NAME(loose) *)(y + i + LANES), more);
    }
    if (i) {
        sum += more;
        for (int k = 0; k < LANES; k++) all += sum[k];
    }
    for (; i < n; i++) all = FUSED(x[i], y[i], all);
    return all;
}

/* y += by x. */
static void NAME(add_times)(int64_t n, T by, const T *restrict x, T *restrict y) {
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        NAME(loose) *to = (NAME(loose) *)(y + i);
        *to = FMA(by - (V){0}, *(const NAME(loose) *)(x + i), *to);
    }
    for (; i < n; i++) y[i] = FUSED(by, x[i], y[i]);
}

/* The reflector of x, whose place it takes with its 1; gives tau and, where r has it, the diagonal. */
static T NAME(reflector)(int64_t rows, T *x, T *diagonal) {
    const T first = x[0], squares = NAME(dot)(rows - 1, x + 1, x + 1);
    *diagonal = first;
    x[0] = 1;
    /* With tau = 0 nothing is reflected. */
    if (NAME(is_zero)(rows - 1, 1, squares, x + 1)) return 0;
    const T norm = NAME(column_norm)(rows - 1, 1, first, squares, x + 1), beta = signbit(first) ? norm : -norm;
    const T scale = first - beta;
    for (int64_t i = 1; i < rows; i++) x[i] /= scale;
    *diagonal = beta;
    return (beta - first) / beta;
}

/* Applies reflector v of `rows` elements to some columns, of which each begins `step` after the one before. */
static void NAME(apply_reflector)(int64_t rows, T tau, const T *v, int64_t count, int64_t step, T *x) {
    for (int64_t j = 0; j < count && tau != 0; j++, x += step)
        NAME(add_times)(rows, -tau * NAME(dot)(rows, v, x), v, x);
}

/* Rows of `by` are columns of a, those of `made` columns of q. q is made from the last reflector to the first: the
 * columns before reflector i are those of the identity still. */
static void NAME(qr_of_columns)(int64_t m, int64_t n, int64_t columns, const T *a, T *q, T *r, T *room) {
    const int64_t k = m < n ? m : n;
    T *by = room, *made = room + n * m, tau[MOST_COLUMNS], diagonal[MOST_COLUMNS];
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) by[j * m + i] = a[i * n + j];
    for (int64_t i = 0; i < k; i++) {
        T *v = by + i * m + i;
        tau[i] = NAME(reflector)(m - i, v, diagonal + i);
        NAME(apply_reflector)(m - i, tau[i], v, n - i - 1, m, v + m);
    }
    for (int64_t i = 0; i < columns; i++)
        for (int64_t j = 0; j < n; j++) r[i * n + j] = i < j ? by[j * m + i] : i == j ? diagonal[i] : 0;
    if (!q) return;
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < m; i++) made[j * m + i] = i == j;
    for (int64_t i = k - 1; i >= 0; i--)
        NAME(apply_reflector)(m - i, tau[i], by + i * m + i, columns - i, m, made + i * m + i);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < columns; j++) q[i * columns + j] = made[j * m + i];
}

/* ---- any matrix -------------------------------------------------------------------------------------------------- */

/* Elements: t of each panel, the reflectors of one panel, and a row of products for each of them. In the order in which
 * qr lays them. */
static int64_t NAME(qr_room)(int64_t m, int64_t n, int64_t columns) {
    if (NAME(has_few)(m, n, columns)) return m * (n + columns);
    const int64_t k = m < n ? m : n, panels = (k + LANES - 1) / LANES, widest = n > columns ? n : columns;
    /* In the order of qr: t of all panels, v of one, products of as many columns as the wider of a and q has. */
    return LANES * (m + widest + panels * LANES);
}

/* x is left with r in its upper triangle and the reflectors below; what is made of it goes to r and q. */
static void NAME(qr)(int64_t m, int64_t n, int64_t columns, void *x, void *q, void *r, void *room) {
    const int64_t k = m < n ? m : n, panels = (k + LANES - 1) / LANES;
    T *a = x, *to = r, *t = room, *v = t + panels * LANES * LANES, *work = v + m * LANES;
    if (NAME(has_few)(m, n, columns)) {
        NAME(qr_of_columns)(m, n, columns, a, q, r, room);
        return;
    }
    NAME(factor_panels)(m, n, a, v, t, work);
    for (int64_t i = 0; i < columns; i++)
        for (int64_t j = 0; j < n; j++) to[i * n + j] = i <= j ? a[i * n + j] : 0;
    if (q) NAME(make_q)(m, n, columns, a, q, v, t, work);
}

#undef FEW
#undef MANY
#undef T
#undef V
#undef M
#undef LANES
#undef FMA
#undef FUSED
#undef SQRT
#undef MAGNITUDE
#undef NAME
