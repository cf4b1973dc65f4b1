/* See valid.h. Public operations check their arguments before they make parameters of them, so rows need not; a text
 * may name any. Parameters are found by the names in the row's layout. */
#include "lib/program/valid.h"

#include "lib/dispatch/dispatch.h"
#include "lib/kernels/special/plane.h"
#include "lib/primitives/rows.h"
#include "lib/program/layout.h"
#include "lib/tensor/dtype.h"

#include <string.h>

/* Bounds of numbers that a text may name: sums and products of a few of them fit 64 bits, so that the checks below need
 * no other care. */
enum { LARGEST = 1 << 30, MOST_MEMBER = 1 << 16, MOST_ORDER = 1 << 10 };

/* Element i of the parameter of this name. Looked for by name each time: this is slow, but a text is read once. -1
 * where the layout has no such name. */
static int64_t get(const lam_call_site *c, const char *name, int64_t i) {
    lam__layout l;
    lam__parameter q;
    if (lam__layout_open(&l, c->primitive))
        while (lam__layout_next(&l, c->params, &q))
            if (strlen(name) == (size_t)q.length && !memcmp(name, q.name, strlen(name)) && (q.hidden || i < q.count))
                return lam__layout_integer(&q, c->params, i);
    return -1;
}

/* In [low, high). */
static bool within(int64_t value, int64_t low, int64_t high) {
    return value >= low && value < high;
}

/* 0 for what is not there: no axis is below it. Rows may have fewer operands than a check asks for. */
static int rank(const lam_call_site *c, int i) {
    return c->inputs > i && c->in[i] ? c->in[i]->rank : 0;
}

/* Whoever asks has compared the axis with the rank. */
static int64_t dim(const lam_call_site *c, int i, int64_t axis) {
    return c->in[i]->dims[axis];
}

/* ---- by family --------------------------------------------------------------------------------------------------- */

/* Rank 0 has no axis, and is refused too. */
static bool axis(const lam_call_site *c) {
    return within(get(c, "axis", 0), 0, rank(c, 0));
}

/* `count` is how many of the order are wanted; -1: all. The axis is looked at first, since its size is the limit. */
static bool sorted(const lam_call_site *c) {
    return axis(c) && within(get(c, "count", 0), -1, dim(c, 0, get(c, "axis", 0)) + 1);
}

/* Compared one by one before the sum, which then cannot be more than twice a rank. */
static bool lanes(const lam_call_site *c) {
    const int64_t first = get(c, "first", 0), count = get(c, "count", 0);
    return within(first, 0, rank(c, 0) + 1) && within(count, 0, rank(c, 0) + 1) && first + count <= rank(c, 0);
}

/* Values inside may have twice as many axes as those of users. */
static bool sizes(const lam_call_site *c) {
    const int64_t n = get(c, "rank", 0);
    if (!within(n, 0, LAM_INNER_RANK + 1)) return false;
    for (int64_t i = 0; i < n; i++)
        if (get(c, "dims", i) < 0) return false;
    return true;
}

/* Axes line up from the last one on, as in shape_broadcast_to; those in front are new. */
static bool spread(const lam_call_site *c) {
    const int64_t n = get(c, "rank", 0), new = n - rank(c, 0);
    if (!sizes(c) || new < 0) return false;
    for (int64_t i = new; i < n; i++)
        if (dim(c, 0, i - new) != 1 && dim(c, 0, i - new) != get(c, "dims", i)) return false;
    return true;
}

/* The count is made by the function that refuses one beyond 2^63, and so is no count of x's then. */
static bool reshaped(const lam_call_site *c) {
    int64_t dims[LAM_INNER_RANK];
    const int64_t n = get(c, "rank", 0);
    if (!sizes(c)) return false;
    for (int64_t i = 0; i < n; i++) dims[i] = get(c, "dims", i);
    return lam__value_count((int)n, dims, 1) == c->in[0]->count;
}

/* A permutation: each axis once. Ranks are below 64, so a word is the set of those seen. */
static bool ordered(const lam_call_site *c) {
    uint64_t seen = 0;
    const int64_t n = get(c, "rank", 0);
    if (n != rank(c, 0)) return false;
    for (int64_t i = 0; i < n; i++) {
        const int64_t a = get(c, "order", i);
        if (!within(a, 0, n) || (seen >> a & 1)) return false;
        seen |= (uint64_t)1 << a;
    }
    return true;
}

/* Of update_slice also that what is put there has the size of the place. */
static bool sliced(const lam_call_site *c) {
    const int64_t n = get(c, "rank", 0);
    if (n != rank(c, 0) || (c->inputs > 1 && rank(c, 1) != n)) return false;
    for (int64_t i = 0; i < n; i++) {
        const int64_t start = get(c, "start", i), step = get(c, "step", i), count = get(c, "count", i),
                      d = dim(c, 0, i);
        if (!within(count, 0, LARGEST) || !within(step, -LARGEST, LARGEST)) return false;
        if (count > 0 && (!within(start, 0, d) || !within(start + (count - 1) * step, 0, d))) return false;
        if (c->inputs > 1 && dim(c, 1, i) != count) return false;
        if (c->inputs > 1 && count > 1 && !step) return false;
    }
    return true;
}

/* A fresh axis may stand behind the last one, and then all dims agree. */
static bool joined(const lam_call_site *c) {
    const int64_t at = get(c, "axis", 0), fresh = get(c, "fresh", 0);
    if (!within(fresh, 0, 2) || !within(at, 0, rank(c, 0) + fresh) || c->inputs < 1) return false;
    for (int i = 1; i < c->inputs; i++) {
        if (rank(c, i) != rank(c, 0) || c->in[i]->dtype != c->in[0]->dtype) return false;
        for (int a = 0; a < rank(c, 0); a++)
            if ((fresh || a != at) && dim(c, i, a) != dim(c, 0, a)) return false;
    }
    return true;
}

/* Sizes are taken off what is left one by one, since their sum could wrap around. */
static bool split(const lam_call_site *c) {
    const int64_t end = get(c, "from_end", 0), given = get(c, "given", 0);
    if (!within(end, 1, rank(c, 0) + 1) || (given && given != c->outputs)) return false;
    int64_t left = dim(c, 0, rank(c, 0) - end);
    for (int o = 0; o < c->outputs; o++) {
        const int64_t size = given ? get(c, "sizes", o) : 1;
        if (!within(size, 0, left + 1)) return false;
        left -= size;
    }
    return left == 0;
}

/* Two different axes; the offset may lie just outside, where the diagonal has no elements. */
static bool crossed(const lam_call_site *c) {
    const int64_t row = get(c, "row", 0), column = get(c, "column", 0), offset = get(c, "offset", 0);
    return within(row, 0, rank(c, 0)) && within(column, 0, rank(c, 0)) && row != column &&
           within(offset, -dim(c, 0, row), dim(c, 0, column) + 1);
}

/* Of each side no axis twice, be it of the batch or contracted. That the sizes agree is the shape rule's to say. */
static bool paired(const lam_call_site *c) {
    const int64_t batch = get(c, "batch", 0), contract = get(c, "contract", 0);
    if (!within(batch, 0, LAM_INNER_RANK) || !within(contract, 0, LAM_INNER_RANK)) return false;
    for (int side = 0; side < 2; side++) {
        uint64_t seen = 0;
        for (int64_t i = 0; i < batch + contract; i++) {
            const int64_t a = get(c, side ? "y" : "x", i);
            if (!within(a, 0, rank(c, side)) || (seen >> a & 1)) return false;
            seen |= (uint64_t)1 << a;
        }
    }
    return true;
}

/* Positions are less than 2^63, and every place of the result is one of the window. */
static bool moved(const lam_call_site *c) {
    const int64_t n = get(c, "rank", 0), most = 1 << 20;
    if (!within(n, 0, LAM_INNER_RANK + 1)) return false;
    for (int64_t i = 0; i < n; i++)
        if (!within(get(c, "window", i), 0, most) || !within(get(c, "stride", i), 1, most) ||
            !within(get(c, "spread", i), 1, most) || !within(get(c, "gap", i), 1, most) ||
            !within(get(c, "low", i), -most, most) || !within(get(c, "out", i), 0, most))
            return false;
    return true;
}

/* A window without places has no extreme. */
static bool windows(const lam_call_site *c) {
    const int64_t n = get(c, "rank", 0), lead = get(c, "lead", 0);
    if (!moved(c) || !within(lead, 0, rank(c, 0) + 1) || lead + n != rank(c, 0)) return false;
    for (int64_t i = 0; i < n; i++)
        if (!get(c, "window", i)) return false;
    return true;
}

/* Up to three axes of space behind two of batch and features, or three where there are groups: what the kernels have
 * indices for. */
static bool convolved(const lam_call_site *c) {
    const int64_t n = get(c, "rank", 0), front = get(c, "front", 0);
    return moved(c) && within(n, 0, 4) && within(front, 2, 4) && rank(c, 0) == front + n && rank(c, 1) == front + n &&
           c->in[0]->dtype == c->in[1]->dtype;
}

/* The last operand, or the second, is the index; both share `batch` axes. */
static bool indexed(const lam_call_site *c) {
    const int64_t batch = get(c, "batch", 0), at = get(c, "axis", 0);
    return c->inputs > 1 && within(batch, 0, rank(c, 0) + 1) && within(batch, 0, rank(c, 1) + 1) &&
           within(at, batch, rank(c, 0)) && within(get(c, "mode", 0), 0, LAM__INDEX_DROP + 1);
}

/* The axes of the batch are those of the operands, which the shape rule compares. */
static bool bags(const lam_call_site *c) {
    const bool rows = c->primitive == &lam__row_bag_spread;
    return get(c, "batch", 0) >= 0 && (!rows || within(get(c, "rows", 0), 0, LARGEST));
}

/* It is done along the last axis, so there has to be one. */
static bool inverse(const lam_call_site *c) {
    return rank(c, 0) && within(get(c, "n", 0), 0, LARGEST) && within(get(c, "mode", 0), 0, LAM__INDEX_DROP + 1);
}

/* The batch is in front of both operands, so it is no longer than either rank. */
static bool powers(const lam_call_site *c) {
    const int64_t batch = get(c, "batch", 0);
    return within(batch, 0, rank(c, 0) + 1) && within(batch, 0, rank(c, 1) + 1) &&
           within(get(c, "count", 0), 0, LARGEST);
}

#if defined(LAM__HAVE_FFTW)
/* The half of a spectrum that real numbers have: of n numbers n / 2 + 1. */
static bool half(const lam_call_site *c) {
    const int64_t n = get(c, "n", 0), at = get(c, "axis", 0);
    if (!within(at, 0, rank(c, 0)) || !within(n, 1, LARGEST)) return false;
    return dim(c, 0, at) == (strcmp(c->primitive->name, "rfft") ? n / 2 + 1 : n);
}
#endif

/* RANGE8 is the last form that there is. Any span and least number are fine: all of them name some range of words. */
static bool drawn(const lam_call_site *c) {
    return sizes(c) && within(get(c, "form", 0), 0, LAM__RANDOM_RANGE8 + 1);
}

/* Two numbers in one: 256 times the bits of the exponent, and those of the fraction. An exponent has 1 to 11 bits, as
 * many as that of f64 has, and a fraction up to 52. */
static bool precise(const lam_call_site *c) {
    return within(get(c, "bits", 0), 256, 12 * 256) && within(get(c, "bits", 0) % 256, 0, 53);
}

/* w is square and as wide as p, which with a sign is square too. */
static bool signs(const lam_call_site *c) {
    const int r = rank(c, 1), w = rank(c, 0);
    if (!within(get(c, "sign", 0), -1, 2) || r < 2 || w != r || c->in[0]->dtype != c->in[1]->dtype) return false;
    for (int i = 0; i < r - 2; i++)
        if (dim(c, 0, i) != dim(c, 1, i)) return false;
    return dim(c, 0, w - 2) == dim(c, 1, r - 1) && dim(c, 0, w - 1) == dim(c, 1, r - 1) &&
           (!get(c, "sign", 0) || dim(c, 1, r - 2) == dim(c, 1, r - 1));
}

/* Square matrices of a dtype that there are kernels for; floats of 16 bits are widened for them. */
static bool square(const lam_call_site *c) {
    const int r = rank(c, 0);
    return r >= 2 && dim(c, 0, r - 2) == dim(c, 0, r - 1) && lam__dtype_is_inexact(c->in[0]->dtype);
}

/* Matrices, their factors and order as lu gives them, and right-hand sides, of one stack. */
static bool solved(const lam_call_site *c) {
    const int r = rank(c, 0);
    if (!square(c) || rank(c, 1) != r || rank(c, 2) != r - 1 || rank(c, 3) != r) return false;
    const int64_t n = dim(c, 0, r - 1);
    for (int i = 0; i < r - 2; i++)
        if (dim(c, 1, i) != dim(c, 0, i) || dim(c, 2, i) != dim(c, 0, i) || dim(c, 3, i) != dim(c, 0, i)) return false;
    for (int i = 0; i < 4; i++)
        if (c->in[i]->dtype != (i == 2 ? LAM_I32 : c->in[0]->dtype)) return false;
    return dim(c, 0, r - 2) == n && dim(c, 1, r - 2) == n && dim(c, 1, r - 1) == n && dim(c, 2, r - 2) == n &&
           dim(c, 3, r - 2) == n;
}

/* Derivatives of special functions are taken up to orders that these are all below. */
static bool orders(const lam_call_site *c) {
    for (int64_t i = 0; i < 3; i++)
        if (!within(get(c, "by", i), 0, 3)) return false;
    return within(get(c, "by_x", 0), 0, 32);
}

/* Rows that have a member as their parameter, which is also what a row of users has that does not say. Texts are
 * compared, and not rows, so that a row of a user is found too. */
static bool of_family(const lam_primitive *row) {
    lam__layout l;
    return lam__layout_open(&l, row) && !strcmp(l.text, "l member");
}

/* Which member of a family. Codes of several orders are below the most too, so that no kernel counts for long, which
 * that of polygamma does by squares; the orders of expn go on below 0. */
static bool member(const lam_call_site *c) {
    const lam_primitive *row = c->primitive;
    const int64_t most = row == &lam__row_polygamma_gap ? MOST_ORDER : MOST_MEMBER;
    return within(get(c, "member", 0), row == &lam__row_expn ? -most : 0, most);
}

/* wofz has its first derivative and no more, loggamma as many as its kernel has places for. */
static bool order(const lam_call_site *c) {
    const lam_primitive *row = c->primitive;
    const int64_t most = row == &lam__row_polygamma ? MOST_ORDER : row == &lam__row_wofz ? 1 : LAM__LOGGAMMA_ORDERS;
    return within(get(c, "order", 0), 0, most + 1);
}

/* Triangles and right-hand sides of one stack. The triangle is as wide as the columns are long, or where it stands on
 * the right, as the rows are. */
static bool triangular(const lam_call_site *c) {
    const int r = rank(c, 0);
    if (!square(c) || rank(c, 1) != r || c->in[0]->dtype != c->in[1]->dtype) return false;
    for (int i = 0; i < r - 2; i++)
        if (dim(c, 0, i) != dim(c, 1, i)) return false;
    return dim(c, 1, r - (get(c, "right_side", 0) ? 1 : 2)) == dim(c, 0, r - 1);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* Sets of axes are known by their kind in the layout, whatever their name; parameters are as long as that says. A set
 * has 32 bits and is shifted as 64, so that no rank is too far. */
static bool axes_fit(const lam_call_site *c) {
    lam__layout l;
    lam__parameter q;
    if (!c->params_bytes || !lam__layout_open(&l, c->primitive)) return true;
    while (lam__layout_next(&l, c->params, &q)) {
        const uint64_t set = q.kind == 'A' ? (uint32_t)lam__layout_integer(&q, c->params, 0) : 0;
        if (set >> rank(c, 0)) return false;
    }
    return lam__layout_bytes(&l) <= c->params_bytes;
}

/* What each row takes for granted. Rows that are not in the list have parameters of which any value will do, or a shape
 * rule that looks at them itself. */
static const struct {
    const lam_primitive *row;
    bool (*fits)(const lam_call_site *c);
} expected[] = {
#define OF(row, fits)                                                                                                  \
    { &lam__row_##row, fits }
    OF(argmax, axis),
    OF(argmin, axis),
    OF(argsort, sorted),
    OF(cumsum, axis),
    OF(cumprod, axis),
    OF(cummax, axis),
    OF(cummin, axis),
    OF(cumlogsumexp, axis),
    OF(linear_recurrence, axis),
    OF(softmax, lanes),
    OF(log_softmax, lanes),
    OF(standardize, lanes),
    OF(broadcast_to, spread),
    OF(reshape, reshaped),
    OF(transpose, ordered),
    OF(slice, sliced),
    OF(update_slice, sliced),
    OF(concatenate, joined),
    OF(split_sizes, split),
    OF(diagonal, crossed),
    OF(dot_general, paired),
    OF(conv_general, convolved),
    OF(reduce_window_sum, windows),
    OF(reduce_window_max, windows),
    OF(reduce_window_min, windows),
    OF(reduce_window_argmax, windows),
    OF(reduce_window_argmin, windows),
    OF(take, indexed),
    OF(put, indexed),
    OF(scatter_add, indexed),
    OF(scatter_mul, indexed),
    OF(scatter_min, indexed),
    OF(scatter_max, indexed),
    OF(embedding_bag, bags),
    OF(bag_spread, bags),
    OF(bag_dots, bags),
    OF(index_inverse, inverse),
    OF(polyval, powers),
    OF(power_sums, powers),
    OF(random_bits, drawn),
    OF(reduce_precision, precise),
    OF(gap_solve, signs),
    OF(hyp1f1, orders),
    OF(solve, solved),
    OF(cholesky, square),
    OF(triangular_solve, triangular),
    OF(polygamma, order),
    OF(wofz, order),
    OF(loggamma, order),
    OF(hyp2f1, orders),
#if defined(LAM__HAVE_FFTW)
    OF(rfft, half),
    OF(irfft, half),
#endif
#undef OF
};

/* In an order in which each question may take the ones before it for granted. Rows that call functions may lack
 * operands. Of those in the table the ones without parameters are functions of square matrices, which is what the last
 * message says of them. */
const char *lam__program_fault(const lam_call_site *call) {
    const lam_primitive *row = call->primitive;
    for (int i = 0; i < call->inputs; i++)
        if (!call->in[i] && !row->call) return "an operand is missing";
    if (row->layout && !call->params_bytes) return "parameters are missing";
    if (!row->shape && !row->elementwise) return "it calls functions, which are not here";
    if (of_family(row) && call->params_bytes && !member(call)) return "there is no such member of the family";
    if (!axes_fit(call)) return "there are no such axes";
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++)
        if (expected[k].row == row && !expected[k].fits(call))
            return row->layout ? "the parameters do not fit the operands" : "the operands are not square matrices";
    return NULL;
}
