/* Complex numbers in vectors, part of reduce_type.h: T is two LANE, re and im, which lie in turn. Sums add lanes;
 * products are the textbook formula without C's rescue of infinities (annex G), as arrays of numbers have it elsewhere.
 * OF_PART(f): f of the vectors of LANE. No include guard: that is the point. */

typedef LANE FN(pair) __attribute__((vector_size(2 * sizeof(LANE))));

/* In a vector of two: of plain numbers GCC 12 makes fused operations, whatever it has been told about these. */
ALWAYS_INLINE T FN(fold)(lam__reduce_op op, T a, T b) {
    if (op == LAM__REDUCE_OP_SUM) return (T){a.re + b.re, a.im + b.im};
    const FN(pair) x = {a.re, a.im}, other = {a.im, a.re}, re = {b.re, b.re}, im = {-b.im, b.im};
    const FN(pair) v = x * re + other * im;
    return (T){v[0], v[1]};
}

/* The same for vectors. What is subtracted has its sign turned first, which gives the same bits. */
ALWAYS_INLINE void FN(fold_lanes)(lam__reduce_op op, FN(vec) * a, const FN(vec) * b) {
    const FN(vec) x = *a, y = *b;
    const FN(mask) signs = {LIST(SIGN_OF_PART, 8 * sizeof(LANE) - 1)};
    const FN(vec) re = __builtin_shufflevector(y, y, LIST(PART_OF_PAIR, 0));
    const FN(vec) im = __builtin_shufflevector(y, y, LIST(PART_OF_PAIR, 1));
    const FN(vec) other = __builtin_shufflevector(x, x, LIST(PARTNER, 0)) * im;
    if (op == LAM__REDUCE_OP_SUM) *a = x + y;
    else *a = x * re + (FN(vec))((FN(mask))other ^ signs);
}

/* As of the parts: see reduce_vectors.h. */
ALWAYS_INLINE FN(vec) FN(first_of)(int64_t n, const T *x, LANE none) {
    return (FN(vec))OF_PART(first_of)(2 * n, &x->re, none);
}

#if SPREADS
ALWAYS_INLINE FN(vec) FN(spread)(int size, int64_t n, const T *x, int64_t step, LANE none) {
    return (FN(vec))OF_PART(spread)(2 * size, 2 * n, &x->re, 2 * step, none);
}
#endif
