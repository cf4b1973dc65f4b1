/* Sorting and searching for one type: T, its keys K (unsigned, of the same size), FLIP(u) (the bits of an element as a
 * key), FN(name). Included by sort.c once for each; no guard. Positions within a lane are uint32_t: lanes that are
 * longer are merged with int64_t ones. */

/* Keys and where they were. */
typedef struct FN(list) {
    K *key;
    int64_t *at;
} FN(list);

/* Keys by rising order. The copies are there because compilers warn of a value compared with itself. Zeros of both
 * signs become one; every NaN gets the largest key, which no other float has. */
static inline K FN(key)(bool descending, T x) {
    const T same = x, value = x == 0 ? 0 : x;
    K bits;
    memcpy(&bits, &value, sizeof bits);
    bits = x == same ? (K)FLIP(bits) : (K) ~(K)0;
    return descending ? (K)~bits : bits;
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

/* Sorts at most RUN keys whose places begin at `at`: each goes to the number of those before it in the order, which is
 * counted without a branch. Of equal keys the one that comes first is before. */
static inline void FN(rank_run)(int64_t n, int64_t at, const K *key, FN(list) to) {
    int64_t before[RUN] = {0};
    for (int64_t i = 1; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            const int64_t less = key[i] < key[j];
            before[j] += less;
            before[i] += 1 - less;
        }
    for (int64_t i = 0; i < n; i++) to.key[before[i]] = key[i], to.at[before[i]] = at + i;
}

/* Element i of one list to place j of another. */
static inline void FN(move)(FN(list) from, int64_t i, FN(list) to, int64_t j) {
    to.key[j] = from.key[i];
    to.at[j] = from.at[i];
}

/* Two runs, of which the second begins where the first ends. As many steps as the shorter one is long can be made from
 * either end without looking for the ends, and these do not wait for each other. Of equal keys that of the first run
 * goes first, which keeps the sort stable. */
static void FN(merge)(FN(list) from, int64_t na, int64_t nb, FN(list) to) {
    const int64_t both = na < nb ? na : nb;
    int64_t a = 0, b = na, last_a = na - 1, last_b = na + nb - 1, front = 0, back = last_b;
    for (; front < both; front++, back--) {
        const bool second = from.key[b] < from.key[a], first = from.key[last_b] < from.key[last_a];
        FN(move)(from, second ? b : a, to, front);
        FN(move)(from, first ? last_a : last_b, to, back);
        a += !second, b += second;
        last_a -= first, last_b -= !first;
    }
    for (; front <= back; front++) {
        const bool second = a > last_a || (b <= last_b && from.key[b] < from.key[a]);
        FN(move)(from, second ? b++ : a++, to, front);
    }
}

/* The places of n keys in their order, in one of the two lists; the keys are those of the first. Short runs come into
 * the second and are merged from one into the other, doubling. */
static const int64_t *FN(order)(int64_t n, FN(list) list, FN(list) other) {
    for (int64_t i = 0; i < n; i += RUN) {
        const FN(list) to = {other.key + i, other.at + i};
        if (n - i >= RUN) FN(rank_run)(RUN, i, list.key + i, to);
        else FN(rank_run)(n - i, i, list.key + i, to);
    }
    for (int64_t width = RUN; width < n; width *= 2) {
        const FN(list) full = other;
        other = list, list = full;
        for (int64_t i = 0; i < n; i += 2 * width) {
            const int64_t na = n - i < width ? n - i : width, nb = n - i - na < width ? n - i - na : width;
            const FN(list) from = {list.key + i, list.at + i}, to = {other.key + i, other.at + i};
            FN(merge)(from, na, nb, to);
        }
    }
    return other.at;
}

/* ---- byte by byte ------------------------------------------------------------------------------------------------ */

/* Moves keys and positions to where byte `shift` of the key puts them; place[b] is where the next one with byte b
 * goes. */
static void FN(deal)(int shift, uint32_t *place, int64_t n, const K *key, const uint32_t *at, K *to_key,
                     uint32_t *to_at) {
    for (int64_t i = 0; i < n; i++) {
        const uint32_t to = place[key[i] >> shift & 255]++;
        to_key[to] = key[i];
        to_at[to] = at[i];
    }
}

/* From the lowest byte up; bytes that all keys share are left out. Gives the positions in their order. Counts of all
 * bytes are made in one pass; each deal is stable, so the order after the last is that of the whole key. */
static const uint32_t *FN(bytewise)(int64_t n, K *key, K *other_key, uint32_t *at, uint32_t *other_at) {
    uint32_t count[sizeof(K)][256] = {{0}};
    for (int64_t i = 0; i < n; i++) {
        at[i] = (uint32_t)i;
        for (size_t b = 0; b < sizeof(K); b++) count[b][key[i] >> 8 * b & 255]++;
    }
    for (size_t b = 0; b < sizeof(K); b++) {
        if (count[b][key[0] >> 8 * b & 255] == n) continue;
        uint32_t sum = 0;
        for (int d = 0; d < 256; d++) {
            const uint32_t own = count[b][d];
            count[b][d] = sum;
            sum += own;
        }
        FN(deal)((int)(8 * b), count[b], n, key, at, other_key, other_at);
        K *full_key = other_key;
        uint32_t *full_at = other_at;
        other_key = key, other_at = at;
        key = full_key, at = full_at;
    }
    return at;
}

/* ---- the first few ----------------------------------------------------------------------------------------------- */

/* Equal keys are in the order of their positions, so a heap, which is not stable by itself, gives the stable order. */
static inline bool FN(is_later)(const K *key, int64_t a, int64_t b) {
    return key[a] > key[b] || (key[a] == key[b] && a > b);
}

/* Element `moved` goes where it belongs below place i of a heap whose top is the last in order. */
static void FN(sink)(const K *key, int64_t *heap, int64_t size, int64_t i, int64_t moved) {
    for (int64_t child; (child = 2 * i + 1) < size; i = child) {
        if (child + 1 < size && FN(is_later)(key, heap[child + 1], heap[child])) child++;
        if (!FN(is_later)(key, heap[child], moved)) break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
}

/* heap[count] becomes the first of the order. Of equals the one that comes later never enters. */
static void FN(first)(const K *key, int64_t n, int64_t count, int64_t *heap) {
    for (int64_t i = 0; i < count; i++) heap[i] = i;
    for (int64_t i = count / 2; i-- > 0;) FN(sink)(key, heap, count, i, heap[i]);
    for (int64_t i = count; i < n; i++)
        if (key[i] < key[heap[0]]) FN(sink)(key, heap, count, 0, i);
    for (int64_t size = count; size-- > 1;) {
        const int64_t last = heap[size];
        heap[size] = heap[0];
        FN(sink)(key, heap, size, 0, last);
    }
}

/* ---- lanes ------------------------------------------------------------------------------------------------------- */

/* The first `count` of the order of one lane; `work` begins with its keys. Few of many by a heap, many by their bytes,
 * few in all by merging. */
static void FN(sort_lane)(int64_t n, int64_t count, K *key, int64_t *out, int64_t step) {
    char *behind = (char *)key + (n * (int64_t)sizeof(K) + 7) / 8 * 8;
    if (count <= n / FEW) {
        int64_t *heap = (int64_t *)(void *)behind;
        if (count > 0) FN(first)(key, n, count, heap);
        for (int64_t i = 0; i < count; i++) out[i * step] = heap[i];
    } else if (n >= BYTEWISE * (int64_t)sizeof(K) && n <= UINT32_MAX) {
        K *other = (K *)(void *)behind;
        uint32_t *at = (uint32_t *)(void *)((char *)other + (n * (int64_t)sizeof(K) + 3) / 4 * 4);
        const uint32_t *order = FN(bytewise)(n, key, other, at, at + n);
        for (int64_t i = 0; i < count; i++) out[i * step] = order[i];
    } else {
        int64_t *at = (int64_t *)(void *)behind;
        const FN(list) list = {key, at}, other = {(K *)(void *)(at + 2 * n), at + n};
        const int64_t *order = FN(order)(n, list, other);
        for (int64_t i = 0; i < count; i++) out[i * step] = order[i];
    }
}

/* One lane at a time: its keys are copied side by side, which costs one pass where lanes are strided and makes all that
 * follows the same. */
static void FN(sort)(const lam__lanes *s, bool descending, int64_t count, const void *x, int64_t *out, void *work) {
    K *key = work;
    for (int64_t o = 0; o < s->outer; o++)
        for (int64_t j = 0; j < s->inner; j++) {
            const T *from = (const T *)x + o * s->n * s->inner + j;
            for (int64_t i = 0; i < s->n; i++) key[i] = FN(key)(descending, from[i * s->inner]);
            FN(sort_lane)(s->n, count, key, out + o * count * s->inner + j, s->inner);
        }
}

/* ---- searching --------------------------------------------------------------------------------------------------- */

/* Whether what is sought lies behind x: NaN is beyond all else. Written without branches, as its callers are. */
static inline bool FN(is_behind)(bool right, T x, T sought) {
    const T same_x = x, same_sought = sought;
    if (right) return !((sought < x) | ((x != same_x) & (sought == same_sought)));
    return (x < sought) | ((sought != same_sought) & (x == same_x));
}

/* A few searches in step, halving what is left of each without a branch. */
static inline void FN(search_few)(int few, int64_t n, bool right, const T *x, const T *v, int64_t *out) {
    int64_t low[SIDE_BY_SIDE] = {0};
    for (int64_t left = n; left > 1;) {
        const int64_t half = left / 2;
        for (int k = 0; k < few; k++) low[k] += half & -(int64_t)FN(is_behind)(right, x[low[k] + half - 1], v[k]);
        left -= half;
    }
    for (int k = 0; k < few; k++) out[k] = low[k] + (n > 0 && FN(is_behind)(right, x[low[k]], v[k]));
}

/* SIDE_BY_SIDE searches at a time, whose loads from memory wait for each other no more; the rest one by one, with the
 * same results. */
static inline void FN(search_side)(int64_t n, int64_t m, bool right, const T *x, const T *v, int64_t *out) {
    int64_t i = 0;
    for (; i + SIDE_BY_SIDE <= m; i += SIDE_BY_SIDE) FN(search_few)(SIDE_BY_SIDE, n, right, x, v + i, out + i);
    for (; i < m; i++) FN(search_few)(1, n, right, x, v + i, out + i);
}

/* The side is a constant inside, so a step has no branch. */
static void FN(search)(int64_t n, int64_t m, bool right, const void *sorted, const void *values, int64_t *out) {
    if (right) FN(search_side)(n, m, true, sorted, values, out);
    else FN(search_side)(n, m, false, sorted, values, out);
}

#undef T
#undef K
#undef FLIP
#undef FN
