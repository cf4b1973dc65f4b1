/* Convolutions whose places have no element of the operand in common, as where windows are no longer than their
 * strides, and the two transposes of those. There the matrix of patches is the operand in another order: so it is made,
 * and all else is a product of matrices, with a copy before it or behind it. */
#include "lib/parallel/conv.h"

#include "lib/kernels/divisor.h"
#include "lib/kernels/item.h"

enum {
    CHUNK = 1 << 17, /* elements of a matrix that is made at once, or those of one example if that is more */
    FRONT = 3        /* axes in front of the places and of the window */
};

/* NOTE [convolutions apart]
 * Along each axis, few * many pairs of a place of the result and one of the window, or of x and one of the window where
 * x is dilated, stand each at an element of their own: few * by_few + many * by_many + first, if there is such an
 * element. The matrix has an entry for each pair. Those without an element are zeros, or go nowhere. */
typedef struct pairs {
    int64_t few, many, by_few, by_many, first;
    int64_t size, step; /* of the elements: how many, and how far apart */
} pairs;

/* What the copy is told: elements of examples and features, at array, and the matrix. Strides in elements. */
typedef struct order {
    lam__team *team;
    lam_dtype dtype;
    pairs axis[LAM__CONV_AXES];
    int64_t few, many;           /* pairs of all axes */
    int64_t features;            /* of an example */
    int64_t array[2], matrix[2]; /* strides of examples and features */
    int64_t by_few, by_many;     /* strides of the matrix: the last axis has these, others follow */
    bool gather;                 /* the matrix is made of the elements; else these are of it */
    bool clipped;                /* some pairs have no element */
    bool complete;               /* not so, or all elements have a pair: nothing is to be zero */
} order;

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* How many of the pairs of one `few` have an element, and the first of them. by_many is positive, since it is a
 * stride, a spread or a gap; by_few and the place may be negative. */
static int64_t met(const pairs *p, int64_t few, int64_t *begin) {
    const int64_t at = few * p->by_few + p->first, left = p->size - 1 - at;
    *begin = at < 0 ? (-at + p->by_many - 1) / p->by_many : 0;
    const int64_t end = left < 0 ? 0 : smaller(left / p->by_many + 1, p->many);
    return end > *begin ? end - *begin : 0;
}

/* Counts pairs and elements. Pairs are counted axis by axis; as doubles, since their product may be more than an
 * integer holds. */
static void survey(order *o) {
    double met_all = 1, elements = 1;
    o->few = o->many = 1;
    o->clipped = false;
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const pairs *p = &o->axis[i];
        int64_t begin, all = 0;
        for (int64_t k = 0; k < p->few; k++) all += met(p, k, &begin);
        o->few *= p->few;
        o->many *= p->many;
        o->clipped = o->clipped || all != p->few * p->many;
        met_all *= (double)all;
        elements *= (double)p->size;
    }
    o->complete = o->gather ? !o->clipped : met_all == elements;
}

/* ---- the copy ---------------------------------------------------------------------------------------------------- */

/* Axes of a copy, those of one element left out. */
typedef struct copied {
    int rank;
    int64_t dims[2 + 2 * LAM__CONV_AXES], array[2 + 2 * LAM__CONV_AXES], matrix[2 + 2 * LAM__CONV_AXES];
} copied;

/* Axes go from the outermost to the innermost as they are added, which is all the order that a copy has. */
static void add_axis(copied *c, int64_t count, int64_t array, int64_t matrix) {
    if (count == 1) return;
    c->dims[c->rank] = count;
    c->array[c->rank] = array;
    c->matrix[c->rank++] = matrix;
}

/* Either way: the matrix is made of elements, or they are taken from it. */
static void copy(const order *o, const copied *c, char *array, char *matrix) {
    if (o->gather)
        lam__parallel_copy(o->team, c->rank, c->dims, o->dtype, matrix, c->matrix, o->dtype, array, c->array);
    else lam__parallel_copy(o->team, c->rank, c->dims, o->dtype, array, c->array, o->dtype, matrix, c->matrix);
}

/* All pairs: every one has an element. */
static void copy_all(const order *o, copied c, char *array, char *matrix) {
    const int64_t item = lam__item_bytes(o->dtype);
    int64_t few = o->by_few, many = o->by_many;
    for (int i = LAM__CONV_AXES - 1; i >= 0; i--) {
        const pairs *p = &o->axis[i];
        add_axis(&c, p->few, p->by_few * p->step, few);
        add_axis(&c, p->many, p->by_many * p->step, many);
        few *= p->few;
        many *= p->many;
        array += p->first * p->step * item;
    }
    copy(o, &c, array, matrix);
}

/* Those of one number of each axis, as far as they have elements: along `many` these are a run, since places grow
 * with it. So what is clipped is copied in boxes and no entry is looked at by itself. */
static void copy_some(const order *o, copied c, const int64_t number[], char *array, char *matrix) {
    const int64_t item = lam__item_bytes(o->dtype);
    int64_t few = o->by_few, many = o->by_many;
    for (int i = LAM__CONV_AXES - 1; i >= 0; i--) {
        const pairs *p = &o->axis[i];
        int64_t begin;
        const int64_t count = met(p, number[i], &begin);
        if (!count) return;
        add_axis(&c, count, p->by_many * p->step, many);
        array += (number[i] * p->by_few + begin * p->by_many + p->first) * p->step * item;
        matrix += (number[i] * few + begin * many) * item;
        few *= p->few;
        many *= p->many;
    }
    copy(o, &c, array, matrix);
}

/* Between the elements of n examples and their matrix. */
static void reorder(const order *o, int64_t n, char *array, char *matrix) {
    static const uint64_t zero;
    copied c = {.rank = 0};
    add_axis(&c, n, o->array[0], o->matrix[0]);
    add_axis(&c, o->features, o->array[1], o->matrix[1]);
    if (!o->complete) {
        /* Results have no gaps, so all that lies between examples belongs to them. */
        const int64_t elements = o->gather ? n * o->features * o->few * o->many : n * o->array[0];
        lam__parallel_fill(o->team, o->dtype, o->gather ? matrix : array, elements, &zero);
    }
    if (!o->clipped) {
        copy_all(o, c, array, matrix);
        return;
    }
    int64_t number[LAM__CONV_AXES];
    /* A copy for each of `few`, as pair_up calls the smaller number where it has a choice. */
    for (number[0] = 0; number[0] < o->axis[0].few; number[0]++)
        for (number[1] = 0; number[1] < o->axis[1].few; number[1]++)
            for (number[2] = 0; number[2] < o->axis[2].few; number[2]++) copy_some(o, c, number, array, matrix);
}

/* ---- operands of the product ------------------------------------------------------------------------------------- */

/* One block for all products of a call, which are of the same sizes, but for a smaller last one. */
typedef struct lender {
    lam__scratch *scratch;
    void *env, *block;
    size_t bytes;
} lender;

/* Sizes only fall, so one block serves from the first product on. */
static void *lend(void *env, size_t bytes) {
    lender *l = env;
    if (bytes > l->bytes) {
        l->block = l->scratch(l->env, bytes);
        l->bytes = l->block ? bytes : 0;
    }
    return l->block;
}

/* One call. */
typedef struct apart {
    const lam__conv_case *s;
    order order;
    lender lender;
    const char *x, *w;
    char *out;
    int64_t w_step[2 + LAM__CONV_AXES]; /* o, c and the window */
} apart;

/* It belongs to the caller's scratch and is not given back here. */
static void *room(const apart *a, int64_t elements) {
    return a->lender.scratch(a->lender.env, (size_t)(elements * lam__item_bytes(a->order.dtype)));
}

/* An operand whose axes are to be joined in two groups: axes [0, cut) and [cut, rank), `first` and `second` steps
 * apart, are in place, or in a copy. NULL: no memory. */
static const void *two_groups(const apart *a, const char *x, int rank, int cut, const int64_t dims[],
                              const int64_t steps[], int64_t *first, int64_t *second) {
    int64_t count, all[2 + LAM__CONV_AXES], step = 1;
    *first = lam__parallel_conv_join(dims, steps, 0, cut, &count);
    *second = lam__parallel_conv_join(dims, steps, cut, rank, &count);
    if (*first && *second) return x;
    for (int i = rank - 1; i >= 0; i--) {
        all[i] = step;
        step *= dims[i];
    }
    void *to = room(a, step);
    if (to) lam__parallel_copy(a->order.team, rank, dims, a->order.dtype, to, all, a->order.dtype, x, steps);
    *first = all[cut - 1];
    *second = 1;
    return to;
}

/* The window turned over where it lies that way, as that of a transpose does: w begins at its last element and
 * places go down instead of up. Only where `few` counts the window. */
static void turn_window(apart *a) {
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        pairs *p = &a->order.axis[i];
        const int64_t step = a->w_step[2 + i];
        if (step >= 0) continue;
        a->w += (p->few - 1) * step * lam__item_bytes(a->order.dtype);
        a->w_step[2 + i] = -step;
        p->first += (p->few - 1) * p->by_few;
        p->by_few = -p->by_few;
    }
}

/* Examples that are done at once. Their products are each for themselves, so bits do not depend on it. */
static int64_t chunk_of(const apart *a) {
    /* No size is 0 here, so no product of them is. */
    const int64_t each = a->order.features * a->order.few * a->order.many, n = CHUNK / each;
    return smaller(a->s->n, n < 1 ? 1 : n);
}

/* ---- ways -------------------------------------------------------------------------------------------------------- */

/* Many places: out[n] [o, places] = w [o, (c, window)] times the matrix [(c, window), places] of example n. */
static bool by_examples(apart *a) {
    const lam__conv_case *s = a->s;
    order *o = &a->order;
    turn_window(a);
    /* x and the matrix go by chunks of examples, w is one matrix for all of them. */
    const int64_t item = lam__item_bytes(o->dtype), terms = s->c * o->few, chunk = chunk_of(a);
    const int64_t dims[] = {s->o, s->c, s->axis[0].window, s->axis[1].window, s->axis[2].window};
    lam__product p = {.m = s->o, .k = terms, .n = o->many, .y_batch = terms * o->many, .y_row = o->many, .y_col = 1};
    o->matrix[0] = terms * o->many;
    o->matrix[1] = o->few * o->many;
    o->by_few = o->many;
    o->by_many = 1;
    char *matrix = room(a, chunk * terms * o->many);
    p.x = two_groups(a, a->w, 2 + LAM__CONV_AXES, 1, dims, a->w_step, &p.x_row, &p.x_col);
    if (!matrix || !p.x) return false;
    for (int64_t n = 0; n < s->n; n += chunk) {
        p.batch = smaller(chunk, s->n - n);
        reorder(o, p.batch, (char *)(uintptr_t)a->x + n * o->array[0] * item, matrix);
        p.y = matrix;
        p.out = a->out + n * s->o * o->many * item;
        if (!lam__parallel_matmul(o->team, o->dtype, &p, lend, &a->lender)) return false;
    }
    return true;
}

/* Few places, which meet many elements: out[n, places, o] = the matrix [(n, places), (c, window)] times w
 * [(c, window), o], whose last two axes are then exchanged. */
static bool by_places(apart *a) {
    const lam__conv_case *s = a->s;
    order *o = &a->order;
    /* Rows of the matrix are places, so by_few walks them and by_many a row of c and the window. */
    const int64_t terms = s->c * o->many, rows = s->n * o->few;
    const int64_t dims[] = {s->o, s->c, s->axis[0].window, s->axis[1].window, s->axis[2].window};
    lam__product p = {.batch = 1, .m = rows, .k = terms, .n = s->o, .x_row = terms, .x_col = 1};
    o->matrix[0] = o->few * terms;
    o->matrix[1] = o->many;
    o->by_few = terms;
    o->by_many = 1;
    char *matrix = room(a, rows * terms);
    /* With one place there is nothing to exchange, and the product is the result. */
    char *products = o->few > 1 ? room(a, rows * s->o) : a->out;
    p.y = two_groups(a, a->w, 2 + LAM__CONV_AXES, 1, dims, a->w_step, &p.y_col, &p.y_row);
    if (!matrix || !products || !p.y) return false;
    reorder(o, s->n, (char *)(uintptr_t)a->x, matrix);
    p.x = matrix;
    p.out = products;
    if (!lam__parallel_matmul(o->team, o->dtype, &p, lend, &a->lender)) return false;
    if (o->few > 1)
        lam__parallel_copy(o->team, 3, (int64_t[]){s->n, s->o, o->few}, o->dtype, a->out,
                           (int64_t[]){s->o * o->few, o->few, 1}, o->dtype, products,
                           (int64_t[]){s->o * o->few, 1, s->o});
    return true;
}

/* One place, which meets all of x: for each feature out [n, o] = x [n, window] times w [window, o], added up, where
 * that is less than to bring both in order. False: it is not. */
static bool by_sums(apart *a, bool *done) {
    const lam__conv_case *s = a->s;
    const order *o = &a->order;
    int64_t window[LAM__CONV_AXES], terms;
    for (int i = 0; i < LAM__CONV_AXES; i++) window[i] = s->axis[i].window;
    /* Results are written once for each feature and read again: worth it where they are fewer than what would be
     * copied. */
    if (o->clipped || o->few > 1 || s->n * s->o > (s->n + s->o) * o->many / 2) return false;
    if (o->dtype != LAM_F64 && o->dtype != LAM_F32) return false;
    int64_t x_step[LAM__CONV_AXES], first = 0;
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        x_step[i] = o->axis[i].by_many * o->axis[i].step;
        first += o->axis[i].first * o->axis[i].step;
    }
    const int64_t x_col = lam__parallel_conv_join(window, x_step, 0, LAM__CONV_AXES, &terms);
    const int64_t y_row = lam__parallel_conv_join(window, a->w_step + 2, 0, LAM__CONV_AXES, &terms);
    if (!x_col || !y_row) return false;
    void *products = room(a, s->c * s->n * s->o);
    *done = products != NULL;
    if (!products) return true;
    lam__product p = {.batch = s->c,
                      .m = s->n,
                      .k = terms,
                      .n = s->o,
                      .x = a->x + first * lam__item_bytes(o->dtype),
                      .x_batch = s->x_step[2],
                      .x_row = s->x_step[1],
                      .x_col = x_col,
                      .y = a->w,
                      .y_batch = a->w_step[1],
                      .y_row = y_row,
                      .y_col = a->w_step[0],
                      .out = products};
    *done = lam__parallel_matmul(o->team, o->dtype, &p, lend, &a->lender);
    if (*done)
        lam__parallel_reduce(o->team, LAM__REDUCE_SUM, o->dtype, 2, (int64_t[]){s->c, s->n * s->o},
                             (bool[]){true, false}, products, (int64_t[]){s->n * s->o, 1}, a->out);
    return true;
}

/* x with its elements as columns of matrices of each example, and the steps of these: in place, or a copy. NULL: no
 * memory. */
static const char *elements(const apart *a, lam__product *p) {
    const lam__conv_case *s = a->s;
    int64_t dims[2 + LAM__CONV_AXES] = {s->n, s->c}, all[2 + LAM__CONV_AXES], step = 1, count;
    for (int i = 0; i < LAM__CONV_AXES; i++) dims[2 + i] = s->axis[i].size;
    p->y_batch = s->x_step[1];
    p->y_row = s->x_step[2];
    p->y_col = lam__parallel_conv_join(dims, s->x_step + 1, 2, 2 + LAM__CONV_AXES, &count);
    if (p->y_col) return a->x;
    for (int i = 1 + LAM__CONV_AXES; i >= 0; i--) {
        all[i] = step;
        step *= dims[i];
    }
    char *to = room(a, step);
    if (to)
        lam__parallel_copy(a->order.team, 2 + LAM__CONV_AXES, dims, a->order.dtype, to, all, a->order.dtype, a->x,
                           s->x_step + 1);
    p->y_batch = all[0];
    p->y_row = all[1];
    p->y_col = 1;
    return to;
}

/* Whether one product for each example of so few columns would take longer than one of all of them, for which x is
 * exchanged with what follows its features, and the result is too: CBLAS packs the weights for each product. */
static bool is_repeated(const lam__conv_case *s, double columns, int64_t rows) {
    enum { MOVED = 4 };
    return s->n > 1 && MOVED * columns * (double)(rows + s->c) < (double)rows * (double)s->c;
}

/* A dilated operand: x [(n, elements), c] times w [c, (o, window)] is the matrix, whose entries are the result. */
static bool by_few_elements(apart *a) {
    const lam__conv_case *s = a->s;
    order *o = &a->order;
    const int64_t *step = s->x_step, rows = s->o * o->few;
    const int64_t dims[] = {s->o, s->axis[0].window, s->axis[1].window, s->axis[2].window, s->c};
    const int64_t steps[] = {a->w_step[0], a->w_step[2], a->w_step[3], a->w_step[4], a->w_step[1]};
    const int64_t all[] = {s->n, s->axis[0].size, s->axis[1].size, s->axis[2].size, s->c};
    const int64_t from[] = {step[1], step[3], step[4], step[5], step[2]};
    lam__product p = {.batch = 1, .m = s->n * o->many, .k = s->c, .n = rows};
    o->matrix[0] = o->many * rows;
    o->matrix[1] = o->few;
    o->by_few = 1;
    o->by_many = rows;
    char *matrix = room(a, p.m * rows);
    p.x = two_groups(a, a->x, 2 + LAM__CONV_AXES, 1 + LAM__CONV_AXES, all, from, &p.x_row, &p.x_col);
    p.y = two_groups(a, a->w, 2 + LAM__CONV_AXES, 1 + LAM__CONV_AXES, dims, steps, &p.y_col, &p.y_row);
    if (!matrix || !p.x || !p.y) return false;
    p.out = matrix;
    if (!lam__parallel_matmul(o->team, o->dtype, &p, lend, &a->lender)) return false;
    reorder(o, s->n, a->out, matrix);
    return true;
}

/* The same in another order: w [(o, window), c] times x[n] [c, elements]. */
static bool by_elements(apart *a) {
    const lam__conv_case *s = a->s;
    order *o = &a->order;
    turn_window(a);
    if (is_repeated(s, (double)o->many, s->o * o->few)) return by_few_elements(a);
    const int64_t item = lam__item_bytes(o->dtype), rows = s->o * o->few, chunk = chunk_of(a);
    const int64_t dims[] = {s->o, s->axis[0].window, s->axis[1].window, s->axis[2].window, s->c};
    const int64_t steps[] = {a->w_step[0], a->w_step[2], a->w_step[3], a->w_step[4], a->w_step[1]};
    lam__product p = {.m = rows, .k = s->c, .n = o->many};
    o->matrix[0] = rows * o->many;
    o->matrix[1] = o->few * o->many;
    o->by_few = o->many;
    o->by_many = 1;
    const char *x = elements(a, &p);
    char *matrix = room(a, chunk * rows * o->many);
    p.x = two_groups(a, a->w, 2 + LAM__CONV_AXES, 1 + LAM__CONV_AXES, dims, steps, &p.x_row, &p.x_col);
    if (!matrix || !p.x || !x) return false;
    for (int64_t n = 0; n < s->n; n += chunk) {
        p.batch = smaller(chunk, s->n - n);
        p.y = x + n * p.y_batch * item;
        p.out = matrix;
        if (!lam__parallel_matmul(o->team, o->dtype, &p, lend, &a->lender)) return false;
        reorder(o, p.batch, a->out + n * o->array[0] * item, matrix);
    }
    return true;
}

/* ---- which ------------------------------------------------------------------------------------------------------- */

/* Whether windows meet no element twice: those of two places, or the same places of two windows. Places t and t'
 * and window places k and k' meet where (t - t') stride = (k' - k) spread, so where t - t' is a multiple of spread
 * / common and k - k' one of stride / common. */
static bool is_apart(const lam__conv_axis *a) {
    const int64_t common = lam__divisor_common(a->stride, a->spread);
    return a->gap == 1 && (a->window <= a->stride / common || a->out <= a->spread / common);
}

/* The same of a dilated operand: each place meets one element at most, since k and k' both meet one only where
 * (k - k') spread is a multiple of the gap. */
static bool is_apart_dilated(const lam__conv_axis *a) {
    return a->stride == 1 && a->size > 0 && a->window <= a->gap / lam__divisor_common(a->gap, a->spread);
}

bool lam__parallel_conv_exchanges(const lam__conv_case *s) {
    double places = 1;
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        if (s->axis[i].window != 1 || s->axis[i].gap != 1) return false;
        places *= (double)s->axis[i].out;
    }
    return s->groups == 1 && is_repeated(s, places, s->o);
}

/* The pairs of all axes. Places of the result are the fewer ones where windows are long, or examples small. */
static bool pair_up(const lam__conv_case *s, order *o, bool *by_window) {
    bool gathered = true, dilated = true;
    double places = 1, window = 1;
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        gathered = gathered && is_apart(&s->axis[i]);
        dilated = dilated && is_apart_dilated(&s->axis[i]);
        places *= (double)s->axis[i].out;
        window *= (double)s->axis[i].window;
    }
    if (!gathered && !dilated) return false;
    *by_window = places >= window && !lam__parallel_conv_exchanges(s);
    o->gather = gathered;
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        const lam__conv_axis *a = &s->axis[i];
        /* Place k of the window meets at place t of the result element t stride + k spread - low of x; where x is
         * dilated, its element e meets k at place e gap - k spread + low of the result, and `size` is that of
         * results. */
        if (!gathered) o->axis[i] = (pairs){a->window, a->size, -a->spread, a->gap, a->low, a->out, 0};
        else if (*by_window) o->axis[i] = (pairs){a->window, a->out, a->spread, a->stride, -a->low, a->size, 0};
        else o->axis[i] = (pairs){a->out, a->window, a->stride, a->spread, -a->low, a->size, 0};
        o->axis[i].step = gathered ? s->x_step[FRONT + i] : s->out_step[FRONT + i];
    }
    return true;
}

/* Whether the elements that one place meets are one axis in memory, so that nothing of x need be copied. */
static bool lies_in_order(const lam__conv_case *s, const order *o) {
    int64_t dims[LAM__CONV_AXES], step[LAM__CONV_AXES], count;
    for (int i = 0; i < LAM__CONV_AXES; i++) {
        dims[i] = s->axis[i].window;
        step[i] = o->axis[i].by_many * o->axis[i].step;
    }
    return !o->clipped && lam__parallel_conv_join(dims, step, 0, LAM__CONV_AXES, &count) != 0;
}

/* Whether it is less work than the ways that need no matrix, as measured. A copy is as much as some tens of products
 * for each element, so those win but where they lose themselves: where windows of one element leave most of x out,
 * where features do not fill a vector or places are few, where places of a dilated operand's result are in many phases,
 * and where many features meet long sums, in f64 more than some: nothing that they read is in the first cache twice. */
static bool is_worth(const lam__conv_case *s, const order *o, bool by_window) {
    enum { VECTOR = 64, GAP = 3, PRODUCTS = 32, SHORT = 64, MANY = 512 }; /* VECTOR: bytes */
    const int64_t all = o->few * o->many, row = s->o * lam__item_bytes(o->dtype);
    const int64_t terms = s->c * (by_window ? o->few : o->many), features = o->dtype == LAM_F64 ? PRODUCTS : MANY;
    if (o->gather && s->o >= features && terms >= SHORT) return true;
    if (o->gather && o->few == 1) {
        if (row < VECTOR || (by_window ? o->many > SHORT : s->n < PRODUCTS / 2)) return true;
        return by_window ? s->o >= PRODUCTS : s->n < 2 * PRODUCTS && o->many > SHORT && lies_in_order(s, o);
    }
    if (o->gather && by_window) return all <= VECTOR;
    if (o->gather) return all <= 100 || (o->many <= PRODUCTS && row > VECTOR);
    bool far = s->c >= PRODUCTS;
    for (int i = 0; i < LAM__CONV_AXES; i++) far = far || s->axis[i].gap > (s->c < VECTOR / 4 ? GAP : GAP - 1);
    return far;
}

bool lam__parallel_conv_apart(lam__team *team, lam_dtype dtype, const lam__conv_case *s, const void *x, const void *w,
                              void *out, lam__scratch *scratch, void *env, bool *done) {
    apart a = {s, {.team = team, .dtype = dtype}, {.scratch = scratch, .env = env}, .x = x, .w = w, .out = out};
    order *o = &a.order;
    bool by_window;
    if (s->groups != 1 || !pair_up(s, o, &by_window)) return false;
    survey(o);
    if (!is_worth(s, o, by_window)) return false;
    const int64_t *step = o->gather ? s->x_step : s->out_step;
    o->features = o->gather ? s->c : s->o;
    for (int i = 0; i < 2; i++) o->array[i] = step[1 + i];
    for (int i = 0; i < 2 + LAM__CONV_AXES; i++) a.w_step[i] = s->w_step[1 + i];
    if (o->gather && !by_window && by_sums(&a, done)) return true;
    *done = !o->gather ? by_elements(&a) : by_window ? by_examples(&a) : by_places(&a);
    return true;
}
