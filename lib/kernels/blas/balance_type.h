/* What balance.c does with parts of one floating type: T, NAME, SIZE (the absolute value) and LIMITS. An element has
 * `parts` of them, one or two. No include guard: that is the point. */

/* The exponent of the larger part of an element, NONE of 0 and of what is no number. ilogb sees through subnormal
 * numbers, so these are brought to full size and not taken for zeros. NONE is below every exponent that a number
 * has. */
static int FN(exponent_of)(int parts, const T *x) {
    int most = NONE;
    for (int p = 0; p < parts; p++) {
        const int e = x[p] == 0 || !isfinite(x[p]) ? NONE : ilogb((double)x[p]);
        if (e > most) most = e;
    }
    return most;
}

/* Part by part: infinities and NaN have no exponents to go by, so this comes first. */
static bool FN(is_finite)(int64_t count, const T *x) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

/* 0 is no pivot: the matrix is singular then, and balancing does not change that. NaN is neither above nor below, so
 * `inside` becomes false and balancing is tried, which finds that the matrix is not finite. For the size of a pair its
 * larger part is enough. */
static bool FN(is_wanted)(int parts, int64_t n, const T *factors) {
    const T far = (T)ldexp(1, LIMITS.far), apart = (T)ldexp(1, LIMITS.apart);
    T most = 1 / far, least = far;
    bool inside = true;
    for (int64_t i = 0; i < n; i++) {
        const T *pivot = factors + i * (n + 1) * parts;
        T size = SIZE(pivot[0]);
        if (parts == 2 && !(SIZE(pivot[1]) <= size)) size = SIZE(pivot[1]);
        if (size == 0) continue;
        inside &= size <= far && size >= 1 / far;
        if (size > most) most = size;
        if (size < least) least = size;
    }
    return !inside || most / apart > least;
}

/* Rows first, then the columns of what that leaves. Afterwards no element is above 2, and each column that is not 0 has
 * one of at least 1, so pivots are found as if the scales had never been. Sums of exponents stay far inside an int. */
static void FN(find_exponents)(int parts, int64_t n, const T *x, int32_t *rows, int32_t *columns) {
    for (int64_t i = 0; i < n; i++) {
        int most = NONE;
        for (int64_t j = 0; j < n; j++) {
            const int e = FN(exponent_of)(parts, x + (i * n + j) * parts);
            if (e > most) most = e;
        }
        rows[i] = most == NONE ? 0 : -most;
    }
    for (int64_t j = 0; j < n; j++) {
        int most = NONE;
        for (int64_t i = 0; i < n; i++) {
            const int e = FN(exponent_of)(parts, x + (i * n + j) * parts);
            if (e != NONE && e + rows[i] > most) most = e + rows[i];
        }
        columns[j] = most == NONE ? 0 : -most;
    }
}

/* In f64 whatever T is: the exponent may be one that no T has, and ldexp rounds once, where the result is subnormal. */
static void FN(move)(int parts, const T *x, int exponent, T *to) {
    for (int p = 0; p < parts; p++) to[p] = (T)ldexp((double)x[p], exponent);
}

/* The matrix that gave the exponents stays as it is; `to` gets the balanced one. */
static bool FN(scale)(int parts, int64_t n, const T *x, T *to, int32_t *rows, int32_t *columns) {
    if (!FN(is_finite)(n * n * parts, x)) return false;
    FN(find_exponents)(parts, n, x, rows, columns);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            FN(move)(parts, x + (i * n + j) * parts, rows[i] + columns[j], to + (i * n + j) * parts);
    return true;
}

/* An exact zero among the pivots: the factors have no inverse, and substitution would divide by it. */
static bool FN(is_singular)(int parts, int64_t n, const T *factors) {
    for (int64_t i = 0; i < n; i++)
        if (FN(exponent_of)(parts, factors + i * (n + 1) * parts) == NONE) return true;
    return false;
}

/* Row i of b times 2^exponents[i], each right-hand side besides as large as leaves room above, by shifts[c]. Shifts
 * keep a column of small numbers from vanishing in the substitution; they are powers of 2, so nothing is rounded by
 * them. */
static void FN(shift_in)(int parts, int64_t n, int64_t m, const int32_t *exponents, int32_t *shifts, T *b) {
    const limits l = LIMITS;
    for (int64_t c = 0; c < m; c++) {
        int most = NONE;
        for (int64_t i = 0; i < n; i++) {
            const int e = FN(exponent_of)(parts, b + (i * m + c) * parts);
            if (e != NONE && e + exponents[i] > most) most = e + exponents[i];
        }
        shifts[c] = most == NONE ? 0 : l.top - most;
        for (int64_t i = 0; i < n; i++) {
            T *at = b + (i * m + c) * parts;
            FN(move)(parts, at, exponents[i] + shifts[c], at);
        }
    }
}

/* The solution's own exponents, and each right-hand side's shift taken back; here a result may overflow or underflow,
 * because it lies outside the range itself. */
static void FN(shift_out)(int parts, int64_t n, int64_t m, const int32_t *exponents, const int32_t *shifts, T *b) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < m; c++) {
            T *at = b + (i * m + c) * parts;
            FN(move)(parts, at, exponents[i] - shifts[c], at);
        }
}

/* Rows exchanged with those that the pivots name, or back. In the order in which the factorisation exchanged them, or
 * from the last exchange to the first, which undoes it. */
static void FN(exchange)(int parts, int64_t n, int64_t m, const int32_t *pivots, bool back, T *b) {
    const int64_t row = m * parts;
    for (int64_t step = 0; step < n; step++) {
        const int64_t i = back ? n - 1 - step : step, other = pivots[i];
        for (int64_t k = 0; k < row && other != i; k++) {
            const T t = b[i * row + k];
            b[i * row + k] = b[other * row + k], b[other * row + k] = t;
        }
    }
}

#undef T
#undef NAME
#undef LIMITS
#undef SIZE
