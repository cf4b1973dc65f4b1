/* What determinant.c makes of the LU factors of one matrix, x = p^T l u, for one type: T, its real R, NAME, DTYPE,
 * SIZE (the absolute value), EPSILON and TINY. No include guard: that is the point. */

static T FN(determinant)(int64_t n, const T *factors, const int32_t *pivots) {
    T product = 1;
    for (int64_t i = 0; i < n; i++) product *= pivots[i] == i ? factors[i * n + i] : -factors[i * n + i];
    return product;
}

static void FN(det)(int64_t n, void *factors, const int32_t *pivots, void *out) {
    *(T *)out = FN(determinant)(n, factors, pivots);
}

/* NOTE [small pivots]
 * Pivots below the rounding of the largest are as good as any others of that size, so they get it: the cofactors are
 * polynomials, so they move by rounding only, and det x^-T is theirs for every rank. */
static void FN(raise_pivots)(int64_t n, T *factors) {
    R largest = 0;
    for (int64_t i = 0; i < n; i++) {
        const R size = SIZE(factors[i * n + i]);
        if (size > largest) largest = size;
    }
    const R least = largest > 0 ? EPSILON * largest : TINY;
    for (int64_t i = 0; i < n; i++) {
        T *pivot = &factors[i * n + i];
        const R size = SIZE(*pivot);
        if (size < least) *pivot = size > 0 ? *pivot / size * least : least;
    }
}

static void FN(exchange_rows)(int64_t n, T *x, T *y) {
    for (int64_t i = 0; i < n; i++) {
        const T t = x[i];
        x[i] = y[i], y[i] = t;
    }
}

/* det p^T l^-T u^-T */
static void FN(cofactor)(int64_t n, void *factors, const int32_t *pivots, void *out) {
    static const lam__triangular lower = {.transpose = true, .unit_diagonal = true},
                                 upper = {.transpose = true, .upper = true};
    T *to = out;
    FN(raise_pivots)(n, factors);
    const T det = FN(determinant)(n, factors, pivots);
    for (int64_t e = 0; e < n * n; e++) to[e] = e % (n + 1) == 0;
    lam__kernels_triangular_solve(DTYPE, &upper, 1, n, n, factors, out);
    lam__kernels_triangular_solve(DTYPE, &lower, 1, n, n, factors, out);
    for (int64_t i = n - 1; i >= 0; i--)
        if (pivots[i] != i) FN(exchange_rows)(n, to + i * n, to + pivots[i] * n);
    for (int64_t e = 0; e < n * n; e++) to[e] *= det;
}

#undef T
#undef R
#undef NAME
#undef SIZE
#undef EPSILON
#undef TINY
#undef DTYPE
