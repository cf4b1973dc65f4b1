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
