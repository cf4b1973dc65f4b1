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

enum { TILE = 256 }; /* results that stay in the first cache */

/* The next element, the last axis fastest. An axis that has come to its end goes back to its start and moves the next
 * one. */
static void go_on(walk *w) {
    for (int i = w->rank - 1; i >= 0; i--) {
        w->x += w->from[i], w->out += w->to[i];
        if (++w->at[i] < w->dims[i]) return;
        w->x -= w->from[i] * w->dims[i], w->out -= w->to[i] * w->dims[i];
        w->at[i] = 0;
    }
}

#endif

/* to = x * y, where `to` may be either of them. */
static inline void FN(multiply)(const T *x, const T *y, T *to) {
    const T re = x[0] * y[0] - x[1] * y[1], im = x[0] * y[1] + x[1] * y[0];
    to[0] = re, to[1] = im;
}

/* to = the product of `count` elements, a power of two up to 8, as a balanced tree. */
static inline __attribute__((always_inline)) void FN(tree)(int count, const T *x, int64_t step, T *to) {
    T part[16];
    for (int k = 0; k < count; k++) part[2 * k] = x[2 * k * step], part[2 * k + 1] = x[2 * k * step + 1];
    for (int half = count / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++) FN(multiply)(part + 2 * k, part + 2 * (k + half), part + 2 * k);
    to[0] = part[0], to[1] = part[1];
}

/* out times, or where it is the first, `count` rows at x. */
static inline __attribute__((always_inline)) void FN(pass)(int count, bool first, const rows *r, const T *restrict x,
                                                           T *restrict out) {
    for (int64_t c = 0; c < r->columns; c++, x += 2 * r->step, out += 2 * r->out) {
        T part[2];
        FN(tree)(count, x, r->row_step, part);
        if (first) out[0] = part[0], out[1] = part[1];
        else FN(multiply)(out, part, out);
    }
}

/* Eight rows at a time, then four, two, one, whatever the number of columns. */
static void FN(prod_rows)(const rows *r, bool first, const T *x, T *out) {
    int64_t i = 0;
    for (; r->n - i >= 8; i += 8) FN(pass)(8, first && i == 0, r, x + 2 * i * r->row_step, out);
    if (r->n - i >= 4) FN(pass)(4, first && i == 0, r, x + 2 * i * r->row_step, out), i += 4;
    if (r->n - i >= 2) FN(pass)(2, first && i == 0, r, x + 2 * i * r->row_step, out), i += 2;
    if (r->n > i) FN(pass)(1, first && i == 0, r, x + 2 * i * r->row_step, out);
}

/* A tile of results at a time, along all walked axes that are reduced. */
static void FN(prod)(const prod_axes *a, const T *x, T *out) {
    lam__reduce_walk to, along;
    lam__reduce_begin(&to, &a->kept);
    do
        for (int64_t c = 0; c < a->columns.dim; c += TILE) {
            const int64_t left = a->columns.dim - c;
            const rows r = {left < TILE ? left : TILE, a->columns.x, a->columns.out, a->rows.dim, a->rows.x};
            bool first = true;
            lam__reduce_begin(&along, &a->reduced);
            do FN(prod_rows)(&r, first, x + 2 * (to.x + along.x + c * r.step), out + 2 * (to.out + c * r.out));
            while (first = false, lam__reduce_next(&along, &a->reduced));
        }
    while (lam__reduce_next(&to, &a->kept));
}

/* Products of no elements. */
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
