/* Which of the ways of small.h a product goes, or whether it goes to CBLAS: what each of them would cost is estimated
 * from sizes and steps, and the least is taken. This is done in every call, so it takes a few nanoseconds. */
#include "lib/kernels/blas/small.h"

#include "lib/kernels/cplx.h"
#include "lib/kernels/item.h"

enum {
    NARROW = 8, /* k and n up to here are for the loops whatever m is, */
    SMALL = 32  /* and m and n up to here may be */
};

/* What the ways of small.h cost, in fused products of vectors; fitted to times of random sizes and layouts, and rough.
 * A way begins with START; moving matrices begins with CALL, and takes a MOVE-th of the squares' side for an item of a
 * square, 1 for one beside them, PAIR for a complex number. A result of a dot costs LINE besides its vectors, of which
 * those count more that begin anywhere, and whose lines are not shared. */
enum { CALL = 28, START = 32, MOVE = 4, FAR = 1 << 30 };
static const double PAIR = 1.35, LINE = 1.6, ALIGNED = 1.1, ANYWHERE = 1.3, FLAT = 1.3, CONSTANT = 0.4;

/* Of more than MANY products of numbers CBLAS does better where vectors are less full than FULL, moving counted in; not
 * where it has wide vectors itself. */
enum { MANY = 2000, WIDE_VECTOR = 64 };
static const double FULL = 0.33;

/* Vectors that so many elements fill, the last one in part. */
static double vectors(int64_t n, int lanes) {
    return (double)((n + lanes - 1) / lanes);
}

/* What vectors of columns cost, where the last one may be half a vector; alone it takes more than half the time, since
 * elements of x are read as often. */
static double filled(int64_t n, int lanes, bool halves) {
    const double all = vectors(n, lanes);
    if (halves && 2 * n <= lanes) return 0.75;
    return halves && 2 * ((n - 1) % lanes + 1) <= lanes ? all - 0.5 : all;
}

/* A line that is no multiple of a square's side: all but one or two items are in squares. */
static int64_t in_squares(int64_t n, int64_t side) {
    return n % side <= 2 ? n - n % side : n + side - n % side;
}

/* What moving a matrix costs: in squares, of which the last ones overlap, or item by item. */
static double cost_of_move(int64_t rows, int64_t cols, int lanes, int parts) {
    int64_t side = lanes < 4 ? 4 : lanes;
    if (parts == 2) return CALL + PAIR * (double)(rows * cols);
    if (rows < 4 || cols < 4) return CALL + (double)(rows * cols);
    while (side > 4 && (rows < side || cols < side)) side /= 2;
    const int64_t r = in_squares(rows, side), c = in_squares(cols, side);
    const int64_t beside = (r < rows ? (rows - r) * cols : 0) + (c < cols ? (cols - c) * rows : 0);
    return CALL + (double)(r * c) * MOVE / (double)side + (double)beside;
}

/* The lines that dots_type.h takes the dots of, those that only fill a vector of results among them, and whether
 * vectors of them are shared: KEEP IN STEP: blocks of dots. */
static double lines_of(const lam__product *p, int lanes, bool *shared) {
    *shared = true;
    if (p->n > 4 || p->n == 3 || p->n > lanes) {
        double lines = 0;
        for (int64_t first = 0; first < p->n;) {
            const lam__dots_panel panel = lam__dots_panel_at(p, first, lanes);
            lines += vectors(p->m, panel.rows) * panel.rows * panel.columns;
            first = panel.first + panel.columns;
        }
        return lines;
    }
    *shared = false;
    const int64_t rows = lanes / p->n;
    int lines = 1;
    while (lines < p->m * p->n) lines *= 2;
    if (p->m < rows) return lines;
    *shared = true;
    return vectors(p->m, (int)rows) * lanes;
}

static double cost_of_dots(const lam__product *p, int lanes, double parts, int bytes) {
    bool shared;
    const int numbers = lanes * (int)parts; /* of a vector */
    if (lam__product_is_short(p, numbers, (int)parts, bytes))
        return 2 + vectors(p->m, numbers) * 2 * (double)p->k * parts;
    if (p->m * p->n == 1) return parts * (LINE + vectors(p->k, lanes)); /* a vector of results at a time */
    const double lines = lines_of(p, lanes, &shared) * parts;
    return START + lines * (LINE + vectors(p->k, lanes) * (!shared ? FLAT : p->k % lanes ? ANYWHERE : ALIGNED));
}

/* Columns that hardly fill a vector are made by vectors of rows, each result put down by itself. */
static double cost_of_tiles(const lam__product *p, int lanes, bool halves, int parts) {
    const double m = (double)p->m, k = (double)p->k;
    const int edge = parts == 2 ? 0 : lam__product_edge(p, lanes, halves);
    return START + m * k * filled(p->n - edge, lanes, halves) * parts + edge * (2 * k * vectors(p->m, lanes) + 2 * m);
}

/* FAR: the way does not exist for this product, or its arrays in the frame would be too small for it. These are the
 * limits of small.h. */
static double cost_of(int way, const lam__product *p, int lanes, bool halves, int parts, int bytes) {
    const double m = (double)p->m, k = (double)p->k, n = (double)p->n;
    switch (way) {
    case LAM__BY_TINY:
        if (p->k > LAM__SMALL_TINY || p->n > LAM__SMALL_TINY || p->n == 1) return FAR;
        return LAM__SMALL_TINY * (2 + CONSTANT * m * k * parts / lanes);
    case LAM__BY_TILES:
        return cost_of_tiles(p, lanes, halves, parts) +
               (p->y_col != 1 && p->n > 1 ? cost_of_move(p->k, p->n, lanes, parts) : 0);
    case LAM__BY_TURNED:
        if (p->x_row != 1 || p->m > LAM__SMALL_TURNED) return FAR;
        return START + n * k * filled(p->m, lanes, halves) * parts +
               (p->n > 1 ? cost_of_move(p->m, p->n, lanes, parts) : 0);
    default:
        if (p->x_col != 1 || (p->n > LAM__SMALL_TURNED && p->y_row != 1)) return FAR;
        return cost_of_dots(p, lanes, parts, bytes) + (p->y_row != 1 ? cost_of_move(p->k, p->n, lanes, parts) : 0);
    }
}

/* Products of two vectors that lie side by side: whatever their length, memory is read in its order. */
static bool lie_beside(const lam__small_type *loops, const lam__product *p) {
    const int64_t run = p->run ? p->run : p->batch;
    return loops->by[LAM__BY_BESIDE] && p->m * p->n == 1 && p->k > 1 && p->x_batch == 1 && p->y_batch == 1 &&
           run >= loops->lanes;
}

/* NOTE [large products of our own]
 * CBLAS copies both operands before it multiplies, and its kernels make four rows and more at once, so that with
 * vectors of 32 bytes products with few rows, columns or terms have a fifth to a half of the speed that it has
 * otherwise. Tiles need no copy where rows of y have no gaps, and make up for worse use of the caches as long as y is
 * small, and columns of x that lie side by side: of products of all kinds in f64 and f32 they took 0.2 to 1.0 of the
 * time. Dots of few lines read each of the others once, wherever it is. With vectors of 64 bytes CBLAS is better at few
 * rows and columns: there tiles of more columns took 0.5 to 1.1 of its time, and dots twice as long as often as half.
 * 16 bytes are less than CBLAS has on most machines. A sum is one chain of roundings, of a dot one in each lane, so
 * long ones are left to CBLAS, which makes them in blocks. */
enum { OWN_VECTOR = 32, FEW_ROWS = 16, FEW_LINES = 7, NEAR = 1 << 17, FEW_NEAR = 1 << 19, LONGEST = 1024 };

static bool is_own(int way, const lam__product *p, int64_t item, int bytes) {
    const bool few = p->m <= FEW_ROWS;
    const int64_t near = (few ? FEW_NEAR : NEAR) / item;
    if (p->m == 1 || p->n == 1 || p->k == 1 || p->k > LONGEST) return false;
    if (bytes > OWN_VECTOR && (way != LAM__BY_TILES || p->n <= FEW_LINES)) return false;
    if (way == LAM__BY_TILES && (few || p->x_col == 1 || p->k <= LAM__SMALL_K || p->m * p->k <= near))
        return p->y_col == 1 && p->k * p->n <= near;
    if (way != LAM__BY_DOTS || p->x_col != 1) return false;
    if (p->y_row != 1) return p->n <= FEW_LINES && p->k * p->n <= LAM__SMALL_K * LAM__SMALL_TURNED;
    return p->n <= FEW_LINES || p->m <= FEW_LINES;
}

/* Narrow products are for the loops whatever m is; NOTE [large products of our own]. */
int lam__small_way(lam_dtype dtype, const lam__small_type *loops, const lam__product *p) {
    const int lanes = loops->lanes, parts = lam__cplx_is(dtype) ? 2 : 1;
    const int64_t item = lam__item_bytes(dtype);
    const int bytes = lanes * (int)item;
    const double products = (double)p->m * (double)p->k * (double)p->n;
    int best = LAM__SMALL_WAYS;
    double least = FAR;
    const bool narrow = p->k <= NARROW && p->n <= NARROW, own = parts == 1 && bytes >= OWN_VECTOR;
    const bool small = narrow || (p->k <= LAM__SMALL_K && p->n <= SMALL && p->m <= SMALL);
    if (lie_beside(loops, p)) return LAM__BY_BESIDE;
    if (!small && !own) return best;
    for (int way = 0; way < LAM__BY_BESIDE; way++) {
        if (!small && !is_own(way, p, item, bytes)) continue;
        const double cost = cost_of(way, p, lanes, loops->halves, parts, bytes);
        if (cost < least) best = way, least = cost;
    }
    if (narrow || bytes >= WIDE_VECTOR || (own && is_own(best, p, item, bytes))) return best;
    return products > MANY && products * parts < FULL * lanes * least ? LAM__SMALL_WAYS : best;
}
