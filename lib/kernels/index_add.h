/* The inner loop of scatter_add for one element type, included by index.c with T the element, U the type of the
 * addition (unsigned for integers: they wrap), PARTS of T in an element, ADD and NAME. No include guard: that is the
 * point. */
static void NAME(int64_t inner, int count, const int64_t *at, void *row, const void *updates) {
    const T *from = updates;
    inner *= PARTS;
    for (int j = 0; j < count; j++, from += inner) {
        if (at[j] == OUTSIDE) continue;
        T *restrict to = (T *)row + at[j] * inner;
        for (int64_t i = 0; i < inner; i++) to[i] = (T)ADD((U)to[i], (U)from[i]);
    }
}

#undef T
#undef U
#undef ADD
#undef NAME
