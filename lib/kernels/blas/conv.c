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
enum { PRODUCTS = 2, PATCHES = PRODUCTS, SUMS, WEIGHTS, BLOCKS };

typedef struct pocket {
    lam__scratch *scratch;
    void *env;
    void *block[BLOCKS];
    size_t bytes[BLOCKS];
    int next; /* of those that products ask for */
} pocket;

static void *pocket_block(pocket *p, int i, int64_t bytes) {
    if (p->bytes[i] < (size_t)bytes) {
        p->block[i] = p->scratch(p->env, (size_t)bytes);
        p->bytes[i] = p->block[i] ? (size_t)bytes : 0;
    }
    return p->block[i];
}

static void *pocket_lend(void *env, size_t bytes) {
    pocket *p = env;
    return p->next < PRODUCTS ? pocket_block(p, p->next++, (int64_t)bytes) : NULL;
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
    int64_t to[5];              /* elements between neighbours of the result: n, o, and the axes */
    bool apart;                 /* the result has gaps: it is a phase of another one */
    pocket *pocket;
} block;

static bool make_block(block *b) {
    const lam__conv_shape *s = b->shape;
    const int64_t all = s->n * b->places;
    b->panel = b->rows < PANEL ? b->rows : PANEL;
    b->whole =
        !b->apart && b->places >= LEAST_COLUMNS && b->rows <= PANEL && b->rows * b->places * b->item <= 2 * BLOCK_BYTES;
    b->columns = BLOCK_BYTES / ((b->panel + s->o) * b->item);
    if (b->columns < LEAST_COLUMNS) b->columns = LEAST_COLUMNS;
    if (b->columns > all) b->columns = all;
    if (b->whole) b->columns = b->places;
    b->patches = pocket_block(b->pocket, PATCHES, b->panel * b->columns * b->item);
    if (!b->patches || b->whole) return b->patches;
    b->sum = pocket_block(b->pocket, SUMS, 2 * s->o * b->columns * b->item);
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
        b->pocket->next = 0;
        if (!lam__kernels_matmul(b->dtype, 1, o, rows, columns, w + r0 * b->item, (int64_t[]){0, b->rows, 1},
                                 b->patches, b->upright ? upright : flat, to, pocket_lend, b->pocket))
            return false;
        lam__loop *add = lam__kernels_loop(LAM__LOOP_add, b->dtype);
        if (r0) add(o * columns, (void *[]){sum, sum, to}, one, NULL);
    }
    return true;
}

/* Columns of `sum` to where they belong: those of one line of the last axis, or of all places where they lie without
 * gaps. */
static void put_run(const block *b, const char *from, int64_t columns, int64_t count, char *to) {
    for (int64_t o = 0; o < b->shape->o; o++, from += columns * b->item, to += b->to[1] * b->item) {
        if (!b->apart) memcpy(to, from, (size_t)(count * b->item));
        else
            for (int64_t i = 0; i < count; i++)
                memcpy(to + i * b->to[4] * b->item, from + i * b->item, (size_t)b->item);
    }
}

/* The columns of `sum` to where they belong. */
static void put(const block *b, int64_t j0, int64_t j1, char *out) {
    const lam__conv_axis *a = b->shape->axis;
    const int64_t length = b->apart ? a[2].out : b->places;
    for (int64_t j = j0; j < j1;) {
        const int64_t n = j / b->places, t = j % b->places, along = t % length, left = length - along;
        const int64_t count = left < j1 - j ? left : j1 - j, line = t / length;
        int64_t at = n * b->to[0] + along * b->to[4];
        if (b->apart) at += line / a[1].out * b->to[2] + line % a[1].out * b->to[3];
        put_run(b, b->sum + (j - j0) * b->item, j1 - j0, count, out + at * b->item);
        j += count;
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

/* One group, whose operand is not dilated or of which all places meet the same of it. */
static bool convolve(lam_dtype dtype, const lam__conv_shape *s, const int64_t *to, pocket *lent, const char *x,
                     const char *w, char *out) {
    block b = {.shape = s, .dtype = dtype, .item = lam__item_bytes(dtype), .pocket = lent, .apart = to != NULL};
    b.rows = s->c * s->axis[0].window * s->axis[1].window * s->axis[2].window;
    b.places = s->axis[0].out * s->axis[1].out * s->axis[2].out;
    b.turned = turned(s);
    b.upright = s->axis[2].window > s->axis[2].out;
    const int64_t dense[5] = {s->o * b.places, b.places, s->axis[1].out * s->axis[2].out, s->axis[2].out, 1};
    memcpy(b.to, to ? to : dense, sizeof b.to);
    return make_block(&b) && run_group(&b, x, w, out);
}

/* ---- dilated operands ------------------------------------------------------------------------------------------ */

/* NOTE [phases]  Where an operand is dilated, each place of the result meets only some places of the window, and those
 * that are `period` apart meet the same ones: for t = phase + period u the places k = first + every j of the window
 * meet
 * elements, and which elements is again a convolution, without gaps. So no zero is multiplied: the gradient of a
 * convolution of stride 2 along two axes is four convolutions by a quarter of the window each. */
typedef struct phase {
    int64_t period, every, first; /* first: -1 where nothing is met */
    lam__conv_axis axis;
} phase;

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static phase phase_of(const lam__conv_axis *a, int64_t at) {
    phase p = {.period = a->gap / common_divisor(a->gap, a->stride),
               .every = a->gap / common_divisor(a->gap, a->spread),
               .first = -1};
    for (int64_t k = 0; k < p.every && k < a->window && p.first < 0; k++)
        if ((at * a->stride + k * a->spread - a->low) % a->gap == 0) p.first = k;
    if (p.first < 0) return p;
    p.axis = (lam__conv_axis){.size = a->size,
                              .window = (a->window - p.first + p.every - 1) / p.every,
                              .stride = p.period * a->stride / a->gap,
                              .low = -((at * a->stride + p.first * a->spread - a->low) / a->gap),
                              .gap = 1,
                              .spread = p.every * a->spread / a->gap,
                              .out = (a->out - at + p.period - 1) / p.period};
    return p;
}

/* The places of the window that a phase meets, as weights of their own. */
static const char *part_of_window(lam_dtype dtype, const lam__conv_shape *s, const phase p[3], pocket *lent,
                                  const char *w) {
    int64_t dims[5] = {s->o, s->c}, to[5], from[5], item = lam__item_bytes(dtype), count = 1, own = 1, first = 0;
    for (int i = 4; i >= 0; i--) {
        if (i >= 2) dims[i] = p[i - 2].axis.window;
        to[i] = count;
        from[i] = own * (i >= 2 ? p[i - 2].every : 1);
        if (i >= 2) first += own * p[i - 2].first;
        count *= dims[i];
        own *= i >= 2 ? s->axis[i - 2].window : dims[i];
    }
    char *part = pocket_block(lent, WEIGHTS, count * item);
    if (part) lam__kernels_copy(5, dims, dtype, part, to, dtype, w + first * item, from);
    return part;
}

/* One phase of one group; `at`: of each axis. */
static bool run_phase(lam_dtype dtype, const lam__conv_shape *s, const int64_t at[3], pocket *lent, const char *x,
                      const char *w, char *out) {
    phase p[3];
    lam__conv_shape part = *s;
    const lam__conv_axis *a = s->axis;
    int64_t to[5] = {s->o * a[0].out * a[1].out * a[2].out, a[0].out * a[1].out * a[2].out, a[1].out * a[2].out,
                     a[2].out, 1};
    int64_t first = 0;
    for (int i = 0; i < 3; i++) {
        p[i] = phase_of(&a[i], at[i]);
        if (p[i].first < 0) return true;
        part.axis[i] = p[i].axis;
        first += at[i] * to[2 + i];
        to[2 + i] *= p[i].period;
    }
    const char *weights = part_of_window(dtype, s, p, lent, w);
    return weights && convolve(dtype, &part, to, lent, x, weights, out + first * lam__item_bytes(dtype));
}

/* Places that no phase with elements holds are 0. */
static bool run_phases(lam_dtype dtype, const lam__conv_shape *s, pocket *lent, const char *x, const char *w,
                       char *out) {
    int64_t periods[3], at[3];
    for (int i = 0; i < 3; i++) {
        periods[i] = phase_of(&s->axis[i], 0).period;
        if (periods[i] > s->axis[i].out) periods[i] = s->axis[i].out;
    }
    memset(out, 0, (size_t)(s->n * s->o * s->axis[0].out * s->axis[1].out * s->axis[2].out * lam__item_bytes(dtype)));
    for (at[0] = 0; at[0] < periods[0]; at[0]++)
        for (at[1] = 0; at[1] < periods[1]; at[1]++)
            for (at[2] = 0; at[2] < periods[2]; at[2]++)
                if (!run_phase(dtype, s, at, lent, x, w, out)) return false;
    return true;
}

/* ---- few results of many features ------------------------------------------------------------------------------ */

/* NOTE [spread out]  Where the window moves by single elements, the product of all weights with each element of x, [o,
 * window] by [places of x], holds all terms of the result, and each row of it is added to where its place of the window
 * puts it. That moves o window numbers per place, where patches move c window, and gaps between the elements of x
 * cost nothing. */
static bool should_spread(const lam__conv_shape *s) {
    const lam__conv_axis *a = s->axis;
    const int64_t line = a[2].size, plane = a[1].size * line;
    bool dense =
        s->x_step[5] == 1 && (a[1].size == 1 || s->x_step[4] == line) && (a[0].size == 1 || s->x_step[3] == plane);
    bool single = a[0].stride == 1 && a[1].stride == 1 && a[2].stride == 1;
    bool dilated = a[0].gap > 1 || a[1].gap > 1 || a[2].gap > 1;
    return dense && single && plane * a[0].size > 0 && (dilated ? s->o <= s->c : 2 * s->o <= s->c);
}

static void add_run(lam_dtype dtype, int64_t count, char *to, int64_t step, const char *from) {
    const int64_t steps[3] = {step, step, 1};
    if (dtype == LAM_F32)
        for (int64_t i = 0; i < count; i++) ((float *)to)[i * step] += ((const float *)from)[i];
    else if (dtype == LAM_F64)
        for (int64_t i = 0; i < count; i++) ((double *)to)[i * step] += ((const double *)from)[i];
    else lam__kernels_loop(LAM__LOOP_add, dtype)(count, (void *[]){to, to, (void *)(uintptr_t)from}, steps, NULL);
}

/* The place of the result for element e and place k of the window; -1: none. */
static inline int64_t place_at(const lam__conv_axis *a, int64_t e, int64_t k) {
    const int64_t t = e * a->gap + a->low - k * a->spread;
    return t >= 0 && t < a->out ? t : -1;
}

/* Elements first to end of one line of x, for one place k of the window, to a line of the result. */
static void add_line(const lam__conv_axis *a, lam_dtype dtype, int64_t k, int64_t first, int64_t end, const char *from,
                     char *to) {
    const int64_t item = lam__item_bytes(dtype), shift = k * a->spread - a->low;
    int64_t least = shift > 0 ? (shift + a->gap - 1) / a->gap : 0, most = floor_div(a->out - 1 + shift, a->gap) + 1;
    if (least < first) least = first;
    if (most > end) most = end;
    if (least < most)
        add_run(dtype, most - least, to + (least * a->gap - shift) * item, a->gap, from + (least - first) * item);
}

/* Columns j0 to j1 of row [k] of the product, added to the places of one feature of one example. */
static void add_row(const lam__conv_shape *s, lam_dtype dtype, int64_t k, int64_t j0, int64_t j1, const char *from,
                    char *to) {
    const lam__conv_axis *a = s->axis;
    const int64_t item = lam__item_bytes(dtype), k2 = k % a[2].window, k1 = k / a[2].window % a[1].window;
    const int64_t k0 = k / (a[2].window * a[1].window);
    for (int64_t j = j0; j < j1;) {
        const int64_t e2 = j % a[2].size, line = j / a[2].size;
        const int64_t count = a[2].size - e2 < j1 - j ? a[2].size - e2 : j1 - j;
        const int64_t t0 = place_at(&a[0], line / a[1].size, k0), t1 = place_at(&a[1], line % a[1].size, k1);
        if (t0 >= 0 && t1 >= 0)
            add_line(&a[2], dtype, k2, e2, e2 + count, from, to + (t0 * a[1].out + t1) * a[2].out * item);
        from += count * item;
        j += count;
    }
}

/* The weights as [o, window, c]. */
static const char *features_last(lam_dtype dtype, const lam__conv_shape *s, int64_t window, pocket *lent,
                                 const char *w) {
    const int64_t dims[3] = {s->o, window, s->c}, to[3] = {window * s->c, s->c, 1},
                  from[3] = {s->c * window, 1, window};
    char *last = pocket_block(lent, WEIGHTS, s->o * window * s->c * lam__item_bytes(dtype));
    if (last) lam__kernels_copy(3, dims, dtype, last, to, dtype, w, from);
    return last;
}

/* One example, whose places of x are `size`; sums has room for `columns` of them. */
static bool spread_example(lam_dtype dtype, const lam__conv_shape *s, int64_t rows, int64_t columns, const char *w,
                           const char *x, pocket *lent, char *sums, char *out) {
    const lam__conv_axis *a = s->axis;
    const int64_t item = lam__item_bytes(dtype), size = a[0].size * a[1].size * a[2].size, window = rows / s->o;
    const int64_t places = a[0].out * a[1].out * a[2].out;
    for (int64_t j0 = 0; j0 < size; j0 += columns) {
        const int64_t j1 = size - j0 < columns ? size : j0 + columns;
        lent->next = 0;
        if (!lam__kernels_matmul(dtype, 1, rows, s->c, j1 - j0, w, (int64_t[]){0, s->c, 1}, x + j0 * item,
                                 (int64_t[]){0, s->x_step[2], 1}, sums, pocket_lend, lent))
            return false;
        for (int64_t r = 0; r < rows; r++)
            add_row(s, dtype, r % window, j0, j1, sums + r * (j1 - j0) * item, out + r / window * places * item);
    }
    return true;
}

static bool spread_out(lam_dtype dtype, const lam__conv_shape *s, pocket *lent, const char *x, const char *w,
                       char *out) {
    const lam__conv_axis *a = s->axis;
    const int64_t item = lam__item_bytes(dtype), window = a[0].window * a[1].window * a[2].window;
    const int64_t rows = s->o * window, size = a[0].size * a[1].size * a[2].size;
    const int64_t results = s->o * a[0].out * a[1].out * a[2].out;
    int64_t columns = BLOCK_BYTES / (rows * item);
    if (columns < LEAST_COLUMNS) columns = LEAST_COLUMNS;
    if (columns > size) columns = size;
    const char *weights = features_last(dtype, s, window, lent, w);
    char *sums = pocket_block(lent, SUMS, rows * columns * item);
    bool done = weights && sums;
    if (done) memset(out, 0, (size_t)(s->n * results * item));
    for (int64_t n = 0; n < s->n && done; n++)
        done = spread_example(dtype, s, rows, columns, weights, x + n * s->x_step[1] * item, lent, sums,
                              out + n * results * item);
    return done;
}

static bool run_one(lam_dtype dtype, const lam__conv_shape *s, pocket *lent, const char *x, const char *w, char *out) {
    const lam__conv_axis *a = s->axis;
    if (should_spread(s)) return spread_out(dtype, s, lent, x, w, out);
    if (a[0].gap > 1 || a[1].gap > 1 || a[2].gap > 1) return run_phases(dtype, s, lent, x, w, out);
    return convolve(dtype, s, NULL, lent, x, w, out);
}

bool lam__kernels_conv(lam_dtype dtype, const lam__conv_shape *s, const void *x, const void *w, void *out,
                       lam__scratch *scratch, void *env) {
    pocket blocks = {.scratch = scratch, .env = env};
    const lam__conv_axis *a = s->axis;
    const int64_t item = lam__item_bytes(dtype), rows = s->c * a[0].window * a[1].window * a[2].window;
    const int64_t results = s->o * s->n * a[0].out * a[1].out * a[2].out;
    if (s->groups == 0 || results == 0) return true;
    if (rows == 0) {
        memset(out, 0, (size_t)(s->groups * results * item));
        return true;
    }
    bool done = true;
    for (int64_t g = 0; g < s->groups && done; g++)
        done = run_one(dtype, s, &blocks, (const char *)x + g * s->x_step[0] * item,
                       (const char *)w + g * s->o * rows * item, (char *)out + g * results * item);
    return done;
}
