/* Sorting and searching for one type: T, FN(name). Included by sort.c once for each; no guard. */

/* NaN is beyond all else. The copies are there because compilers warn of a value compared with itself. */
static inline bool FN(less)(T a, T b) {
    const T same_a = a, same_b = b;
    return (a < b) | ((b != same_b) & (a == same_a));
}

static inline bool FN(before)(bool descending, T a, T b) {
    return descending ? FN(less)(b, a) : FN(less)(a, b);
}

static void FN(insert_run)(bool descending, const T *key, int64_t *order, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        const int64_t moved = order[i];
        int64_t j = i;
        for (; j > 0 && FN(before)(descending, key[moved], key[order[j - 1]]); j--) order[j] = order[j - 1];
        order[j] = moved;
    }
}

static void FN(merge)(bool descending, const T *key, const int64_t *a, int64_t na, const int64_t *b, int64_t nb,
                      int64_t *to) {
    while (na > 0 && nb > 0) {
        const bool second = FN(before)(descending, key[*b], key[*a]);
        *to++ = second ? *b++ : *a++;
        if (second) nb--;
        else na--;
    }
    memcpy(to, a, (size_t)na * sizeof *a);
    memcpy(to + na, b, (size_t)nb * sizeof *b);
}

/* The order of `key`; gives the one of the two rooms where it ended up. */
static const int64_t *FN(order)(bool descending, const T *key, int64_t n, int64_t *room, int64_t *other) {
    for (int64_t i = 0; i < n; i++) room[i] = i;
    for (int64_t i = 0; i < n; i += RUN) FN(insert_run)(descending, key, room + i, n - i < RUN ? n - i : RUN);
    for (int64_t width = RUN; width < n; width *= 2) {
        for (int64_t i = 0; i < n; i += 2 * width) {
            const int64_t na = n - i < width ? n - i : width, nb = n - i - na < width ? n - i - na : width;
            FN(merge)(descending, key, room + i, na, room + i + na, nb, other + i);
        }
        int64_t *full = other;
        other = room;
        room = full;
    }
    return room;
}

static void FN(sort)(const lam__lanes *s, bool descending, const void *x, int64_t *out, void *work) {
    int64_t *room = work, *other = room + s->n;
    T *key = (T *)(void *)(other + s->n);
    for (int64_t o = 0; o < s->outer; o++)
        for (int64_t j = 0; j < s->inner; j++) {
            const int64_t first = o * s->n * s->inner + j;
            for (int64_t i = 0; i < s->n; i++) key[i] = ((const T *)x)[first + i * s->inner];
            const int64_t *order = FN(order)(descending, key, s->n, room, other);
            for (int64_t i = 0; i < s->n; i++) out[first + i * s->inner] = order[i];
        }
}

static void FN(search)(int64_t n, int64_t m, bool right, const void *sorted, const void *values, int64_t *out) {
    const T *x = sorted, *v = values;
    for (int64_t i = 0; i < m; i++) {
        int64_t low = 0, high = n;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            const bool behind = right ? !FN(less)(v[i], x[middle]) : FN(less)(x[middle], v[i]);
            if (behind) low = middle + 1;
            else high = middle;
        }
        out[i] = low;
    }
}

#undef T
#undef FN
