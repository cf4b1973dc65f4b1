/* Convolution as matrix products. Patches of x are laid out as the columns of a matrix that stays in cache, which the
 * weights then multiply; neither x nor the result is ever copied as a whole. Sums run over panels of patch rows in
 * their order, whatever the sizes. x is read where it lies; what lies outside it, or between its dilated elements, is
 * 0. */
#include "lib/kernels/item.h"
#include "lib/kernels/kernels.h"

#include <string.h>

enum {
    PANEL = 1024,          /* rows of a patch matrix */
    BLOCK_BYTES = 1 << 20, /* of a patch matrix and its product; more only where the least columns need it */
    LEAST_COLUMNS = 64
};

/* Scratch that one product after the other uses: the same block is lent each time. */
typedef struct pocket {
    lam__scratch *scratch;
    void *env;
    void *block[2];
    size_t bytes[2];
    int next;
} pocket;

static void *pocket_lend(void *env, size_t bytes) {
    pocket *p = env;
    const int i = p->next++;
    if (i >= 2) return NULL;
    if (p->bytes[i] < bytes) {
        p->block[i] = p->scratch(p->env, bytes);
        p->bytes[i] = p->block[i] ? bytes : 0;
    }
    return p->block[i];
}

/* ---- patches -------------------------------------------------------------------------------------------------- */

static int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && a < 0);
}

/* Which element of an axis stands at place t of the result and k of the window; -1: none. */
static inline int64_t element_at(const lam__conv_axis *a, int64_t t, int64_t k) {
    int64_t at = t * a->stride + k * a->spread - a->low;
    if (a->gap != 1) {
        if (at < 0 || at % a->gap) return -1;
        at /= a->gap;
    }
    return at >= 0 && at < a->size ? at : -1;
}

/* `count` elements, `step` bytes apart where they come from; item is a constant in every call. */
static inline void copy_items(size_t item, int64_t count, char *to, const char *from, int64_t step) {
    for (int64_t i = 0; i < count; i++) memcpy(to + (size_t)i * item, from + i * step, item);
}

static void copy_run(int64_t item, int64_t count, char *to, const char *from, int64_t step) {
    if (step == item) memcpy(to, from, (size_t)(count * item));
    else if (item == 8) copy_items(8, count, to, from, step);
    else if (item == 4) copy_items(4, count, to, from, step);
    else copy_items((size_t)item, count, to, from, step);
}

/* Places of the last axis for one place of the window: those from first to end, `every` apart, hold elements, the first
 * of them element `from`, `by` apart. Others are 0. */
typedef struct run {
    int64_t first, end, every, from, by;
} run;

/* Where a is not dilated, element t stride + shift stands at t; where it is, strides of 1 are looked at closely, and
 * others place by place. */
static run run_of(const lam__conv_axis *a, int64_t k) {
    const int64_t shift = k * a->spread - a->low;
    run r = {.every = 1, .by = a->stride};
    if (a->gap == 1) {
        r.first = shift < 0 ? -floor_div(shift, a->stride) : 0;
        r.end = floor_div(a->size - 1 - shift, a->stride) + 1;
        r.from = r.first * a->stride + shift;
    } else if (a->stride == 1) {
        const int64_t e = shift > 0 ? (shift + a->gap - 1) / a->gap : 0; /* the first that is not in front */
        r = (run){e * a->gap - shift, (a->size - 1) * a->gap - shift + 1, a->gap, e, 1};
    } else {
        r.every = 0;
    }
    return r;
}

/* Places t0 to t1 of the last axis. `line` is where the axis starts. */
static void lay_run(const lam__conv_axis *a, const run *r, int64_t item, const char *line, int64_t step, int64_t k,
                    int64_t t0, int64_t t1, char *to) {
    if (r->every == 1) {
        int64_t first = r->first < t0 ? t0 : r->first > t1 ? t1 : r->first;
        int64_t end = r->end < first ? first : r->end > t1 ? t1 : r->end;
        memset(to, 0, (size_t)((first - t0) * item));
        if (end > first)
            copy_run(item, end - first, to + (first - t0) * item, line + (r->from + (first - r->first) * r->by) * step,
                     r->by * step);
        memset(to + (end - t0) * item, 0, (size_t)((t1 - end) * item));
        return;
    }
    memset(to, 0, (size_t)((t1 - t0) * item));
    int64_t by = r->every ? r->every : 1, t = r->every ? r->first : t0;
    if (t < t0) t += (t0 - t + by - 1) / by * by;
    for (; t < t1 && (r->every == 0 || t < r->end); t += by) {
        const int64_t at = r->every ? r->from + (t - r->first) / by : element_at(a, t, k);
        if (at >= 0) memcpy(to + (t - t0) * item, line + at * step, (size_t)item);
    }
}

/* One row of the patch matrix: columns j0 to j1, which number the places of the result of all examples. */
static void lay_row(const lam__conv_shape *s, int64_t item, const char *x, int64_t row, int64_t j0, int64_t j1,
                    char *to) {
    const lam__conv_axis *a = s->axis;
    const int64_t k2 = row % a[2].window, k1 = row / a[2].window % a[1].window;
    const int64_t k0 = row / (a[2].window * a[1].window) % a[0].window;
    const int64_t c = row / (a[2].window * a[1].window * a[0].window), line = j0 / a[2].out;
    const run along = run_of(&a[2], k2);
    int64_t t2 = j0 % a[2].out, t1 = line % a[1].out, t0 = line / a[1].out % a[0].out;
    int64_t n = line / (a[1].out * a[0].out);
    for (int64_t j = j0; j < j1;) {
        const int64_t end = a[2].out - t2 < j1 - j ? a[2].out : t2 + j1 - j, bytes = (end - t2) * item;
        const int64_t e0 = element_at(&a[0], t0, k0), e1 = element_at(&a[1], t1, k1);
        const int64_t from = n * s->x_step[1] + c * s->x_step[2] + e0 * s->x_step[3] + e1 * s->x_step[4];
        if (e0 < 0 || e1 < 0) memset(to, 0, (size_t)bytes);
        else lay_run(&a[2], &along, item, x + from * item, s->x_step[5] * item, k2, t2, end, to);
        to += bytes;
        j += end - t2;
        t2 = 0;
        if (++t1 < a[1].out) continue;
        t1 = 0;
        if (++t0 < a[0].out) continue;
        t0 = 0;
        n++;
    }
}

/* The same geometry seen from the window: its places are those of the result, and features are examples. */
static lam__conv_shape turned(const lam__conv_shape *s) {
    lam__conv_shape t = *s;
    t.n = s->c;
    t.c = s->n;
    t.x_step[1] = s->x_step[2];
    t.x_step[2] = s->x_step[1];
    for (int i = 0; i < 3; i++) {
        const lam__conv_axis *a = &s->axis[i];
        t.axis[i] = (lam__conv_axis){a->size, a->out, a->spread, a->low, a->gap, a->stride, a->window};
    }
    return t;
}

/* ---- products -------------------------------------------------------------------------------------------------- */

typedef struct block {
    const lam__conv_shape *shape;
    lam__conv_shape turned;
    bool upright; /* patches are laid along the window, one line per place: it is longer than the result */
    lam_dtype dtype;
    int64_t item, rows, places; /* rows of a whole patch; places of one example's result */
    int64_t panel, columns;     /* largest panel and number of columns */
    bool whole;                 /* a block is one example's result: it is computed where it belongs */
    char *patches, *sum, *part; /* sum and part are [o, columns] */
    pocket pocket;
} block;

static bool make_block(block *b) {
    const lam__conv_shape *s = b->shape;
    const int64_t all = s->n * b->places;
    b->panel = b->rows < PANEL ? b->rows : PANEL;
    b->whole = b->places >= LEAST_COLUMNS && b->rows <= PANEL && b->rows * b->places * b->item <= 2 * BLOCK_BYTES;
    b->columns = BLOCK_BYTES / ((b->panel + s->o) * b->item);
    if (b->columns < LEAST_COLUMNS) b->columns = LEAST_COLUMNS;
    if (b->columns > all) b->columns = all;
    if (b->whole) b->columns = b->places;
    b->patches = b->pocket.scratch(b->pocket.env, (size_t)(b->panel * b->columns * b->item));
    if (!b->patches || b->whole) return b->patches;
    b->sum = b->pocket.scratch(b->pocket.env, (size_t)(2 * s->o * b->columns * b->item));
    b->part = b->sum ? b->sum + s->o * b->columns * b->item : NULL;
    return b->sum;
}

/* Rows r0 to r0 + rows and columns j0 to j0 + columns of the patch matrix. */
static void lay(const block *b, const char *x, int64_t r0, int64_t rows, int64_t j0, int64_t columns) {
    if (b->upright)
        for (int64_t j = 0; j < columns; j++)
            lay_row(&b->turned, b->item, x, j0 + j, r0, r0 + rows, b->patches + j * rows * b->item);
    else
        for (int64_t r = 0; r < rows; r++)
            lay_row(b->shape, b->item, x, r0 + r, j0, j0 + columns, b->patches + r * columns * b->item);
}

/* sum = w times the patches j0 to j1 of one group. */
static bool multiply(block *b, const char *x, const char *w, int64_t j0, int64_t j1, char *sum) {
    const int64_t columns = j1 - j0, one[3] = {1, 1, 1}, o = b->shape->o;
    for (int64_t r0 = 0; r0 < b->rows; r0 += b->panel) {
        const int64_t rows = b->rows - r0 < b->panel ? b->rows - r0 : b->panel;
        const int64_t upright[3] = {0, 1, rows}, flat[3] = {0, columns, 1};
        char *to = r0 == 0 ? sum : b->part;
        lay(b, x, r0, rows, j0, columns);
        b->pocket.next = 0;
        if (!lam__kernels_matmul(b->dtype, 1, o, rows, columns, w + r0 * b->item, (int64_t[]){0, b->rows, 1},
                                 b->patches, b->upright ? upright : flat, to, pocket_lend, &b->pocket))
            return false;
        lam__loop *add = lam__kernels_loop(LAM__LOOP_add, b->dtype);
        if (r0) add(o * columns, (void *[]){sum, sum, to}, one, NULL);
    }
    return true;
}

/* The columns of `sum` to where they belong: out is [n, o, places]. */
static void put(const block *b, int64_t j0, int64_t j1, char *out) {
    const int64_t count = b->shape->o;
    for (int64_t j = j0; j < j1;) {
        const int64_t n = j / b->places, t = j % b->places, left = b->places - t < j1 - j ? b->places - t : j1 - j;
        for (int64_t o = 0; o < count; o++)
            memcpy(out + ((n * count + o) * b->places + t) * b->item, b->sum + (o * (j1 - j0) + j - j0) * b->item,
                   (size_t)(left * b->item));
        j += left;
    }
}

static bool run_group(block *b, const char *x, const char *w, char *out) {
    const int64_t all = b->shape->n * b->places;
    for (int64_t j0 = 0; j0 < all; j0 += b->columns) {
        const int64_t j1 = all - j0 < b->columns ? all : j0 + b->columns;
        if (!multiply(b, x, w, j0, j1, b->whole ? out + j0 * b->shape->o * b->item : b->sum)) return false;
        if (!b->whole) put(b, j0, j1, out);
    }
    return true;
}

bool lam__kernels_conv(lam_dtype dtype, const lam__conv_shape *s, const void *x, const void *w, void *out,
                       lam__scratch *scratch, void *env) {
    block b = {.shape = s, .dtype = dtype, .item = lam__item_bytes(dtype), .pocket = {.scratch = scratch, .env = env}};
    b.rows = s->c * s->axis[0].window * s->axis[1].window * s->axis[2].window;
    b.places = s->axis[0].out * s->axis[1].out * s->axis[2].out;
    b.turned = turned(s);
    b.upright = s->axis[2].window > s->axis[2].out;
    const int64_t results = s->o * s->n * b.places;
    if (s->groups == 0 || results == 0) return true;
    if (b.rows == 0) {
        memset(out, 0, (size_t)(s->groups * results * b.item));
        return true;
    }
    if (!make_block(&b)) return false;
    for (int64_t g = 0; g < s->groups; g++)
        if (!run_group(&b, (const char *)x + g * s->x_step[0] * b.item, (const char *)w + g * s->o * b.rows * b.item,
                       (char *)out + g * results * b.item))
            return false;
    return true;
}
