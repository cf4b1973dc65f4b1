/* What determinant.c makes of the LU factors of one matrix, x = p^T l u, for one type: T, its real R, NAME, DTYPE,
 * SIZE (the absolute value), EPSILON, TINY, HUGE_SIZE, from which on products are taken apart, LEAST, of which three
 * may be multiplied, and DIRECTION (x over its size). No include guard: that is the point. */

/* x 2^exponent, in steps that are numbers. */
static T FN(moved)(T x, int64_t exponent) {
    enum { MOST = sizeof(R) == 8 ? 1000 : 120 };
    for (; exponent > MOST; exponent -= MOST) x *= (R)ldexp(1, MOST);
    for (; exponent < -MOST; exponent += MOST) x *= (R)ldexp(1, -MOST);
    return x * (R)ldexp(1, (int)exponent);
}

/* Brings x near 1; the exponent that it had. 0, infinities and NaN stay as they are, with the exponent 0, and decide
 * what the product is. */
static int FN(reduce)(T *x) {
    int exponent = 0;
    if (isfinite(SIZE(*x))) frexp((double)SIZE(*x), &exponent);
    *x = FN(moved)(*x, -exponent);
    return exponent;
}

/* A pivot with the sign of the exchange that brought it to its place; the product of these is the determinant. */
static T FN(pivot_of)(int64_t n, const T *factors, const int32_t *pivots, int64_t i) {
    return pivots[i] == i ? factors[i * n + i] : -factors[i * n + i];
}

/* The product of the pivots is the result times 2^*exponent: it may leave the range on the way and come back. */
static T FN(determinant)(int64_t n, const T *factors, const int32_t *pivots, int64_t *exponent) {
    T product = 1;
    bool inside = true;
    for (int64_t i = 0; i < n; i++) {
        product *= FN(pivot_of)(n, factors, pivots, i);
        const R size = SIZE(product);
        inside &= size > 1 / HUGE_SIZE && size < HUGE_SIZE;
    }
    *exponent = 0;
    if (inside) return product;
    product = 1;
    for (int64_t i = 0; i < n; i++) {
        T pivot = FN(pivot_of)(n, factors, pivots, i);
        *exponent += FN(reduce)(&pivot);
        product *= pivot;
        *exponent += FN(reduce)(&product);
    }
    return product;
}

/* ---- up to three rows, written out ----------------------------------------------------------------------------- */

/* The minor of rows a and b in the two columns behind column c, going around. */
static T FN(minor)(const T *x, int64_t a, int64_t b, int64_t c) {
    const int64_t d = (c + 1) % 3, e = (c + 2) % 3;
    return x[3 * a + d] * x[3 * b + e] - x[3 * a + e] * x[3 * b + d];
}

/* By the first row; of no rows the product is empty. */
static T FN(det_written_out)(int64_t n, const T *x) {
    if (n < 2) return n ? x[0] : 1;
    if (n == 2) return x[0] * x[3] - x[1] * x[2];
    return x[0] * FN(minor)(x, 1, 2, 0) + x[1] * FN(minor)(x, 1, 2, 1) + x[2] * FN(minor)(x, 1, 2, 2);
}

/* Signs come from going around: the minor of the rows and columns that follow cyclically has the sign of the cofactor
 * already. Of n = 0 nothing is written. */
static void FN(cofactor_written_out)(int64_t n, const T *x, T *out) {
    if (n == 1) out[0] = 1;
    if (n == 2) out[0] = x[3], out[1] = -x[2], out[2] = -x[1], out[3] = x[0];
    for (int64_t e = 0; e < 9 && n == 3; e++) out[e] = FN(minor)(x, (e / 3 + 1) % 3, (e / 3 + 2) % 3, e % 3);
}

/* Whether products of three elements may leave the range. Zeros are not: a matrix with zeros beside numbers of ordinary
 * size is no reason to balance. */
static bool FN(is_extreme)(int64_t n, const T *x) {
    bool inside = true;
    for (int64_t e = 0; e < n * n; e++) {
        const R size = SIZE(x[e]);
        inside &= size == 0 || (size > LEAST && size < 1 / LEAST);
    }
    return !inside;
}

/* ---- determinants ---------------------------------------------------------------------------------------------- */

/* The exponent of det(x) over that of balanced x. */
static int64_t FN(moved_by)(int64_t n, const lam__balanced *w) {
    int64_t exponent = 0;
    for (int64_t i = 0; i < n; i++) exponent -= w->rows[i] + w->columns[i];
    return exponent;
}

/* The factors of x, or balanced ones; true for these. */
static bool FN(factored)(int64_t n, const void *x, const lam__balanced *w) {
    /* Factored as it is first, since most matrices need no balancing; the pivots tell. */
    memcpy(w->x, x, (size_t)(n * n) * sizeof(T));
    lam__kernels_lu(DTYPE, 1, n, n, w->x, w->pivots, NULL);
    if (!lam__kernels_solve_is_extreme(DTYPE, n, w->x) || !lam__balance_scale(DTYPE, n, x, w)) return false;
    lam__kernels_lu(DTYPE, 1, n, n, w->x, w->pivots, NULL);
    return true;
}

/* The determinant is the result times 2^*exponent. */
static T FN(det_of)(int64_t n, const void *x, const lam__balanced *w, int64_t *exponent) {
    if (n <= WRITTEN_OUT) {
        const bool balanced = FN(is_extreme)(n, x) && lam__balance_scale(DTYPE, n, x, w);
        *exponent = balanced ? FN(moved_by)(n, w) : 0;
        return FN(det_written_out)(n, balanced ? w->x : x);
    }
    const bool balanced = FN(factored)(n, x, w);
    const T product = FN(determinant)(n, w->x, w->pivots, exponent);
    if (balanced) *exponent += FN(moved_by)(n, w);
    return product;
}

/* The exponent is put back at the end only: a determinant within the range is found though products of some pivots are
 * not. */
static void FN(det)(int64_t n, const void *x, const lam__balanced *w, void *out, void *unused) {
    int64_t exponent;
    const T product = FN(det_of)(n, x, w, &exponent);
    (void)unused;
    *(T *)out = exponent ? FN(moved)(product, exponent) : product;
}

/* log: that of the mantissa and that of the exponent, neither of which leaves the range. */
static void FN(log_det)(int64_t n, const void *x, const lam__balanced *w, void *out, void *log_size) {
    int64_t exponent;
    T product = FN(det_of)(n, x, w, &exponent);
    exponent += FN(reduce)(&product);
    const R size = SIZE(product);
    *(T *)out = size > 0 ? DIRECTION(product, size) : product; /* 0 or NaN */
    *(R *)log_size = (R)(log((double)size) + (double)exponent * 0.693147180559945309417);
}

/* ---- cofactors ------------------------------------------------------------------------------------------------- */

/* The largest of a row of u. */
static R FN(row_size)(int64_t n, const T *factors, int64_t i) {
    R largest = 0;
    for (int64_t j = i; j < n; j++)
        if (SIZE(factors[i * n + j]) > largest) largest = SIZE(factors[i * n + j]);
    return largest;
}

/* Pivots below the rounding of what their row is made of are as good as any others of that size, so they get it: the
 * cofactors are polynomials, so they move by rounding only, and det x^-T is theirs for every rank. A row of zeros takes
 * the size of the largest one. */
static void FN(raise_pivots)(int64_t n, T *factors, T *room) {
    R largest = 0;
    for (int64_t i = 0; i < n; i++) {
        const R size = FN(row_size)(n, factors, i);
        room[i] = size;
        if (size > largest) largest = size;
    }
    for (int64_t i = 0; i < n; i++) {
        R of_row = SIZE(room[i]);
        for (int64_t k = 0; k < i; k++) {
            const R term = SIZE(factors[i * n + k]) * SIZE(room[k]);
            if (term > of_row) of_row = term;
        }
        const R least = of_row > 0 ? EPSILON * of_row : largest > 0 ? EPSILON * largest : TINY;
        T *pivot = &factors[i * n + i];
        const R size = SIZE(*pivot);
        if (size < least) *pivot = size > 0 ? *pivot / size * least : least;
    }
}

/* Rows of p^T, the last exchange first. x and y are rows of the same matrix, and never one. */
static void FN(exchange_rows)(int64_t n, T *x, T *y) {
    for (int64_t i = 0; i < n; i++) {
        const T t = x[i];
        x[i] = y[i], y[i] = t;
    }
}

/* det p^T l^-T u^-T of factors and pivots, times 2^-*exponent. The product may be one of factors that the range does
 * not hold, so the exponent is kept apart until the end; the solves see pivots that `raise_pivots` has kept from
 * zero. */
static void FN(cofactor_of_factors)(int64_t n, const lam__balanced *w, T *to, int64_t *exponent) {
    static const lam__triangular lower = {.transpose = true, .unit_diagonal = true},
                                 upper = {.transpose = true, .upper = true};
    FN(raise_pivots)(n, w->x, to);
    const T det = FN(determinant)(n, w->x, w->pivots, exponent);
    for (int64_t e = 0; e < n * n; e++) to[e] = e % (n + 1) == 0;
    lam__kernels_triangular_solve(DTYPE, &upper, 1, n, n, w->x, to);
    lam__kernels_triangular_solve(DTYPE, &lower, 1, n, n, w->x, to);
    for (int64_t i = n - 1; i >= 0; i--)
        if (w->pivots[i] != i) FN(exchange_rows)(n, to + i * n, to + w->pivots[i] * n);
    for (int64_t e = 0; e < n * n; e++) to[e] *= det;
}

/* A cofactor of balanced x lacks its own row and column of the exponents. */
static void FN(cofactor)(int64_t n, const void *x, const lam__balanced *w, void *out, void *unused) {
    T *to = out;
    int64_t exponent = 0;
    bool balanced;
    (void)unused;
    if (n <= WRITTEN_OUT) {
        balanced = FN(is_extreme)(n, x) && lam__balance_scale(DTYPE, n, x, w);
        FN(cofactor_written_out)(n, balanced ? w->x : x, to);
    } else {
        balanced = FN(factored)(n, x, w);
        FN(cofactor_of_factors)(n, w, to, &exponent);
    }
    if (balanced) exponent += FN(moved_by)(n, w);
    for (int64_t e = 0; e < n * n && (balanced || exponent); e++)
        to[e] = FN(moved)(to[e], exponent + (balanced ? w->rows[e / n] + w->columns[e % n] : 0));
}

#undef T
#undef R
#undef NAME
#undef SIZE
#undef EPSILON
#undef TINY
#undef HUGE_SIZE
#undef LEAST
#undef DIRECTION
#undef DTYPE
