/* What determinant.c makes of the LU factors of one matrix, x = p^T l u, for one type: T, its real R, NAME, DTYPE,
 * SIZE (the absolute value), EPSILON, TINY, and HUGE_SIZE, from which on products are taken apart. No include guard:
 * that is the point. */

/* x 2^exponent, in steps that are numbers. */
static T FN(moved)(T x, int64_t exponent) {
    enum { MOST = sizeof(R) == 8 ? 1000 : 120 };
    for (; exponent > MOST; exponent -= MOST) x *= (R)ldexp(1, MOST);
    for (; exponent < -MOST; exponent += MOST) x *= (R)ldexp(1, -MOST);
    return x * (R)ldexp(1, (int)exponent);
}

/* Brings x near 1; the exponent that it had. */
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

/* The exponent is put back at the end only: a determinant within the range is found though products of some pivots are
 * not. */
static void FN(det)(int64_t n, void *factors, const int32_t *pivots, void *out) {
    int64_t exponent;
    const T product = FN(determinant)(n, factors, pivots, &exponent);
    *(T *)out = FN(moved)(product, exponent);
}

/* The largest of a row of u. */
static R FN(row_size)(int64_t n, const T *factors, int64_t i) {
    R largest = 0;
    for (int64_t j = i; j < n; j++)
        if (SIZE(factors[i * n + j]) > largest) largest = SIZE(factors[i * n + j]);
    return largest;
}

/* NOTE [small pivots]
 * Pivots below the rounding of what their row is made of are as good as any others of that size, so they get it: the
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

/* Rows of p^T, the last exchange first. */
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
    int64_t exponent;
    FN(raise_pivots)(n, factors, to);
    const T det = FN(determinant)(n, factors, pivots, &exponent);
    for (int64_t e = 0; e < n * n; e++) to[e] = e % (n + 1) == 0;
    lam__kernels_triangular_solve(DTYPE, &upper, 1, n, n, factors, out);
    lam__kernels_triangular_solve(DTYPE, &lower, 1, n, n, factors, out);
    for (int64_t i = n - 1; i >= 0; i--)
        if (pivots[i] != i) FN(exchange_rows)(n, to + i * n, to + pivots[i] * n);
    for (int64_t e = 0; e < n * n; e++) to[e] = exponent ? FN(moved)(det * to[e], exponent) : det * to[e];
}

#undef T
#undef R
#undef NAME
#undef SIZE
#undef EPSILON
#undef TINY
#undef HUGE_SIZE
#undef DTYPE
