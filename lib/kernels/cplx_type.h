/* The loops of cplx.c for one type: T of the parts, FN(name). Included once for each; what does not depend on the
 * type is defined the first time. */
#ifndef LAM_KERNELS_CPLX_WALK
#define LAM_KERNELS_CPLX_WALK

/* An odometer over an array, with the places of its elements in the operand and in the result. */
typedef struct walk {
    int rank;
    int64_t count, x, out; /* elements: how many in all; where it stands */
    int64_t dims[LAM__MAX_AXES], from[LAM__MAX_AXES], to[LAM__MAX_AXES], at[LAM__MAX_AXES];
} walk;

/* The axis of a scan: where it starts and how it goes on, in the operand and in the result. */
typedef struct lane {
    int64_t n, from, to, first_from, first_to;
} lane;

/* The axes of a product: those of its inner loops, and those that are walked. */
typedef struct prod_axes {
    lam__reduce_axis columns, rows;
    lam__reduce_axes kept, reduced;
} prod_axes;

/* `columns` results at steps of `out`, each of n elements; elements. */
typedef struct rows {
    int64_t columns, step, out, n, row_step;
} rows;

/* Results that stay in the first cache; trees of eight elements whose product is made apart from what is before it,
 * which need not be waited for then; how many such blocks are made together where elements follow each other. */
enum { TILE = 256, TREES = 16, BLOCK = 8 * TREES, BLOCKS = 4 };

/* The next element, the last axis fastest. An axis that has come to its end goes back to its start and moves the next
 * one. After the last element it stands at the first again. */
static void go_on(walk *w) {
    for (int i = w->rank - 1; i >= 0; i--) {
        w->x += w->from[i], w->out += w->to[i];
        if (++w->at[i] < w->dims[i]) return;
        w->x -= w->from[i] * w->dims[i], w->out -= w->to[i] * w->dims[i];
        w->at[i] = 0;
    }
}

#endif

/* to = x * y, where `to` may be either of them. The schoolbook formula without C's rescue of infinities (annex G), as
 * arrays of numbers have it elsewhere. */
static inline void FN(multiply)(const T *x, const T *y, T *to) {
    const T re = x[0] * y[0] - x[1] * y[1], im = x[0] * y[1] + x[1] * y[0];
    to[0] = re, to[1] = im;
}

typedef struct FN(number) {
    T re, im;
} FN(number);

static inline FN(number) FN(times)(FN(number) x, FN(number) y) {
    return (FN(number)){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/* The product of two, four or eight elements, as a balanced tree, or one element. By value and written out: what goes
 * through memory is waited for. */
static inline __attribute__((always_inline)) FN(number) FN(two)(const T *x, int64_t step) {
    return FN(times)((FN(number)){x[0], x[1]}, (FN(number)){x[2 * step], x[2 * step + 1]});
}

static inline __attribute__((always_inline)) FN(number) FN(four)(const T *x, int64_t step) {
    return FN(times)(FN(two)(x, step), FN(two)(x + 4 * step, step));
}

static inline __attribute__((always_inline)) FN(number) FN(tree)(int count, const T *x, int64_t step) {
    if (count == 1) return (FN(number)){x[0], x[1]};
    if (count == 2) return FN(two)(x, step);
    return count == 4 ? FN(four)(x, step) : FN(times)(FN(four)(x, step), FN(four)(x + 8 * step, step));
}

/* out times, or where it is the first, `count` rows at x. */
static inline __attribute__((always_inline)) void FN(pass)(int count, bool first, const rows *r, const T *restrict x,
                                                           T *restrict out) {
    for (int64_t c = 0; c < r->columns; c++, x += 2 * r->step, out += 2 * r->out) {
        FN(number) all = FN(tree)(count, x, r->row_step);
        if (!first) all = FN(times)((FN(number)){out[0], out[1]}, all);
        out[0] = all.re, out[1] = all.im;
    }
}

/* Products of neighbours, parts apart. */
static inline __attribute__((always_inline)) void FN(pairs)(int n, const T *re, const T *im, T *to_re, T *to_im) {
    for (int i = 0; i < n; i++) {
        to_re[i] = re[2 * i] * re[2 * i + 1] - im[2 * i] * im[2 * i + 1];
        to_im[i] = re[2 * i] * im[2 * i + 1] + im[2 * i] * re[2 * i + 1];
    }
}

/* Blocks that follow each other, as do their elements: trees level by level, of which compilers make vectors. */
static void FN(blocks)(const T *x, FN(number) to[BLOCKS]) {
    enum { ALL = BLOCKS * TREES };
    T re_2[4 * ALL], im_2[4 * ALL], re_4[2 * ALL], im_4[2 * ALL], re[ALL], im[ALL];
    for (int i = 0; i < 4 * ALL; i++) {
        re_2[i] = x[4 * i] * x[4 * i + 2] - x[4 * i + 1] * x[4 * i + 3];
        im_2[i] = x[4 * i] * x[4 * i + 3] + x[4 * i + 1] * x[4 * i + 2];
    }
    FN(pairs)(2 * ALL, re_2, im_2, re_4, im_4);
    FN(pairs)(ALL, re_4, im_4, re, im);
    for (int b = 0; b < BLOCKS; b++) to[b] = (FN(number)){re[b * TREES], im[b * TREES]};
    for (int k = 1; k < TREES; k++)
        for (int b = 0; b < BLOCKS; b++) to[b] = FN(times)(to[b], (FN(number)){re[b * TREES + k], im[b * TREES + k]});
}

/* n elements, a block at most: trees of eight, then of four, two and one. */
static FN(number) FN(block)(const T *x, int64_t step, int64_t n) {
    int64_t i = n >= 8 ? 8 : n >= 4 ? 4 : n >= 2 ? 2 : 1;
    FN(number) all = FN(tree)(1, x, step);
    if (i == 8) all = FN(tree)(8, x, step);
    if (i == 4) all = FN(tree)(4, x, step);
    if (i == 2) all = FN(tree)(2, x, step);
    for (; n - i >= 8; i += 8) all = FN(times)(all, FN(tree)(8, x + 2 * i * step, step));
    if (n - i >= 4) all = FN(times)(all, FN(tree)(4, x + 2 * i * step, step)), i += 4;
    if (n - i >= 2) all = FN(times)(all, FN(tree)(2, x + 2 * i * step, step)), i += 2;
    if (n > i) all = FN(times)(all, FN(tree)(1, x + 2 * i * step, step));
    return all;
}

/* One result, block by block. */
static void FN(prod_column)(const rows *r, bool first, const T *x, T *out) {
    const int64_t n = r->n, step = r->row_step;
    FN(number) all = {1, 0}, some[BLOCKS];
    int64_t i = 0;
    if (!first) all = (FN(number)){out[0], out[1]};
    for (; step == 1 && n - i >= BLOCKS * BLOCK; i += BLOCKS * BLOCK, first = false) {
        FN(blocks)(x + 2 * i, some);
        for (int b = 0; b < BLOCKS; b++) all = first && b == 0 ? some[0] : FN(times)(all, some[b]);
    }
    for (; i < n; i += BLOCK, first = false) {
        const FN(number) one = FN(block)(x + 2 * i * step, step, n - i < BLOCK ? n - i : BLOCK);
        all = first ? one : FN(times)(all, one);
    }
    out[0] = all.re, out[1] = all.im;
}

/* The rows of one block. */
static void FN(prod_block)(const rows *r, const T *x, T *out) {
    int64_t i = 0;
    for (; r->n - i >= 8; i += 8) FN(pass)(8, i == 0, r, x + 2 * i * r->row_step, out);
    if (r->n - i >= 4) FN(pass)(4, i == 0, r, x + 2 * i * r->row_step, out), i += 4;
    if (r->n - i >= 2) FN(pass)(2, i == 0, r, x + 2 * i * r->row_step, out), i += 2;
    if (r->n > i) FN(pass)(1, i == 0, r, x + 2 * i * r->row_step, out);
}

/* The order is the same whatever the number of columns, so a product along an axis does not depend on what lies beside
 * it. The first block is made where the results are, the others are then multiplied to it. */
static void FN(prod_rows)(const rows *r, bool first, const T *x, T *out) {
    T room[2 * TILE];
    if (r->columns == 1) {
        FN(prod_column)(r, first, x, out);
        return;
    }
    for (int64_t i = 0; i < r->n; i += BLOCK, first = false) {
        rows part = *r;
        part.n = r->n - i < BLOCK ? r->n - i : BLOCK;
        if (!first) part.out = 1;
        FN(prod_block)(&part, x + 2 * i * r->row_step, first ? out : room);
        for (int64_t c = 0; c < r->columns && !first; c++)
            FN(multiply)(out + 2 * c * r->out, room + 2 * c, out + 2 * c * r->out);
    }
}

/* A tile of results at a time, along all walked axes that are reduced; one where its elements are many, and nearer to
 * each other than to those of the next. `first` holds until the first element of the walk has been taken, so nothing
 * needs a 1 to begin with. */
static void FN(prod)(const prod_axes *a, const T *x, T *out) {
    const bool near = llabs(a->rows.x) < llabs(a->columns.x) && a->rows.dim >= TILE;
    const int64_t tile = near ? 1 : TILE;
    lam__reduce_walk to, along;
    lam__reduce_begin(&to, &a->kept);
    do
        for (int64_t c = 0; c < a->columns.dim; c += tile) {
            const int64_t left = a->columns.dim - c;
            const rows r = {left < tile ? left : tile, a->columns.x, a->columns.out, a->rows.dim, a->rows.x};
            bool first = true;
            lam__reduce_begin(&along, &a->reduced);
            do FN(prod_rows)(&r, first, x + 2 * (to.x + along.x + c * r.step), out + 2 * (to.out + c * r.out));
            while (first = false, lam__reduce_next(&along, &a->reduced));
        }
    while (lam__reduce_next(&to, &a->kept));
}

/* Products of no elements. 1 + 0 i. */
static void FN(ones)(int64_t n, T *out) {
    for (int64_t i = 0; i < n; i++) out[2 * i] = 1, out[2 * i + 1] = 0;
}

/* The walk goes over all other axes; for each of their places the scanned axis is run through. */
static void FN(cumprod)(walk *w, const lane *l, const T *x, T *out) {
    for (int64_t i = 0; i < w->count; i++, go_on(w)) {
        const T *from = x + 2 * (w->x + l->first_from);
        T *to = out + 2 * (w->out + l->first_to), now[2] = {from[0], from[1]};
        to[0] = now[0], to[1] = now[1];
        for (int64_t j = 1; j < l->n; j++) {
            FN(multiply)(now, from + 2 * j * l->from, now);
            to[2 * j * l->to] = now[0], to[2 * j * l->to + 1] = now[1];
        }
    }
}

/* out[i] = a[i] out[i - 1] + b[i] along n, from the far end where it is reversed; the first element has nothing before
 * it, so a is not read there. */
static void FN(recurrence)(const lam__lanes *s, bool reverse, const T *a, const T *b, T *out) {
    const int64_t step = reverse ? -s->inner : s->inner, start = reverse ? (s->n - 1) * s->inner : 0;
    for (int64_t o = 0; o < s->outer; o++)
        for (int64_t j = 0; j < s->inner; j++) {
            int64_t at = 2 * (o * s->n * s->inner + start + j);
            out[at] = b[at], out[at + 1] = b[at + 1];
            for (int64_t i = 1; i < s->n; i++) {
                const int64_t before = at;
                at += 2 * step;
                FN(multiply)(a + at, out + before, out + at);
                out[at] += b[at], out[at + 1] += b[at + 1];
            }
        }
}

#undef T
#undef FN
