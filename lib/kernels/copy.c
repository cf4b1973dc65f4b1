/* Copies and fills. A copy is an elementwise loop of one input: the driver's merging and tiling serve it too.
 * Contiguous runs of one dtype move as bytes. Items have ways of their own where the axes of the two sides are
 * transposed, where they agree in short runs only, and where the source is read in steps. */
#include "lib/kernels/elementwise_walk.h"
#include "lib/kernels/item.h"
#include "lib/kernels/places.h"

#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "lib/kernels/simd/simd.h"

enum { SHORT = 32 }; /* items of a run that costs more to start than to move */

/* ---- other layouts ----------------------------------------------------------------------------------------------- */

/* A copy without conversion; axes of one element are left out, steps are in items. `turn` has the loops for items of
 * this size: planes that are transposed, grids of steps, short rows, columns. NULL for 16 bytes. */
typedef struct move {
    const lam__turn *turn;
    int64_t bytes;
    int rank;
    int64_t count; /* items */
    int64_t dims[LAM__MAX_AXES], to[LAM__MAX_AXES], from[LAM__MAX_AXES];
} move;

static const lam__turn *turn_of(lam_dtype dtype) {
    return lam__elementwise_simd()->turn(lam__item_bytes(dtype));
}

/* The axis that is walked item by item, forwards (unit of 1) or backwards (-1); -1: none. Its steps are one item, on
 * the side that `step` is of. */
static int unit_axis(int rank, const int64_t step[], int unit) {
    for (int a = 0; a < rank; a++)
        if (step[a] == unit) return a;
    return -1;
}

typedef void plane(const move *m, int a, int b, char *to, const char *from);

/* Does every plane of axes a and b. The other axes are an odometer, the last of them fastest; a and b may be the same
 * axis. */
static void each_plane(const move *m, int a, int b, char *to, const char *from, plane *f) {
    int64_t at[LAM__MAX_AXES];
    for (int c = 0; c < m->rank; c++) at[c] = 0;
    for (int c = 0; c >= 0;) {
        f(m, a, b, to, from);
        for (c = m->rank - 1; c >= 0; c--) {
            if (c == a || c == b) continue;
            to += m->to[c] * m->bytes;
            from += m->from[c] * m->bytes;
            if (++at[c] < m->dims[c]) break;
            to -= m->dims[c] * m->to[c] * m->bytes;
            from -= m->dims[c] * m->from[c] * m->bytes;
            at[c] = 0;
        }
    }
}

/* Runs along a there are runs along b here. */
static void turned_plane(const move *m, int a, int b, char *to, const char *from) {
    enum { FAR = 1 << 19 }; /* bytes: a second-level cache does not hold as much of both */
    m->turn->plane(m->dims[b], m->dims[a], from, m->from[a], to, m->to[b], m->count * m->bytes > FAR);
}

/* The same of items of 16 bytes. Eight columns at a time: what is read of a line is used while it is near, also where
 * columns lie apart by a power of 2 and share places in the caches. */
static void turned_pairs(const move *m, int a, int b, char *to, const char *from) {
    enum { COLUMNS = 8, ROWS = 512, ITEM = 16 };
    const int64_t rows = m->dims[b], n = m->dims[a], down = m->to[b] * ITEM, across = m->from[a] * ITEM;
    for (int64_t i = 0; i < rows; i += ROWS)
        for (int64_t j = 0; j < n; j += COLUMNS) {
            const int64_t end = rows - i < ROWS ? rows : i + ROWS, some = n - j < COLUMNS ? n - j : COLUMNS;
            for (int64_t r = i; r < end; r++)
                for (int64_t c = j; c < j + some; c++)
                    memcpy(to + r * down + c * ITEM, from + c * across + r * ITEM, ITEM);
        }
}

/* A run along a there is made of steps along a here. As a grid of single items. */
static void stepped_run(const move *m, int a, int b, char *to, const char *from) {
    (void)b;
    m->turn->grid(m->dims[a], 1, from, m->from[a], 1, to, 1);
}

/* The same of short runs, row by row along b. */
static void stepped_rows(const move *m, int a, int b, char *to, const char *from) {
    m->turn->grid(m->dims[b], m->dims[a], from, m->from[b], m->from[a], to, m->to[b]);
}

/* Steps along a here, runs along a there. */
static void spread_rows(const move *m, int a, int b, char *to, const char *from) {
    m->turn->spread(m->dims[b], m->dims[a], from, m->from[b], to, m->to[b], m->to[a]);
}

/* Rows of `width` items, by calls of memcpy unless they are short. Those of some thousand bytes are left to the vectors
 * as well: memcpy would move them by string instructions, which are slow where the two sides are not aligned alike.
 * item: bytes; steps in items. */
static void move_rows(const lam__turn *turn, int64_t item, int64_t rows, int64_t width, const char *from,
                      int64_t from_step, char *to, int64_t to_step) {
    enum { STRING = 2048 };
    if (width < SHORT || width * item >= STRING) turn->rows(rows, width, from, from_step, to, to_step);
    else
        for (int64_t i = 0; i < rows; i++)
            memcpy(to + i * to_step * item, from + i * from_step * item, (size_t)(width * item));
}

/* Runs along a on both sides, row by row along b. */
static void rows_plane(const move *m, int a, int b, char *to, const char *from) {
    move_rows(m->turn, m->bytes, m->dims[b], m->dims[a], from, m->from[b], to, m->to[b]);
}

/* The axis whose runs are rows beside the short ones: the longest, so that one call moves as many as can be. -1: none,
 * or there is nothing to gain. */
static int longest_but(const move *m, int a) {
    int longest = -1;
    for (int b = 0; b < m->rank; b++) {
        if (b == a) continue;
        if (m->to[b] == m->dims[a] && m->from[b] == m->dims[a]) return -1; /* the runs are longer than they seem */
        if (longest < 0 || m->dims[b] > m->dims[longest]) longest = b;
    }
    return longest;
}

/* Whether the walk in far tiles does better (NOTE [far tiles] in elementwise_tiles.c). Long runs that are
 * written far apart, of more memory than caches hold. */
static bool is_far(const move *m, int a) {
    return m->count * m->bytes >= LAM__WALK_FAR && m->dims[a] >= SHORT;
}

/* Runs along a here, steps there. A step of 0 is a repetition, which the elementwise walk knows. */
static bool move_steps(const move *m, int a, void *dst, const void *src) {
    const int b = longest_but(m, a);
    if (m->from[a] == 0) return false;
    if (m->dims[a] >= SHORT) each_plane(m, a, a, dst, src, stepped_run);
    else if (b >= 0) each_plane(m, a, b, dst, src, stepped_rows);
    return m->dims[a] >= SHORT || b >= 0;
}

/* Steps along a here, runs there. Rows go along the axis with the least steps here, whose lines in memory are near. */
static bool spread_runs(const move *m, int a, void *dst, const void *src) {
    int near = -1;
    for (int b = 0; b < m->rank; b++)
        if (b != a && (near < 0 || m->to[b] < m->to[near])) near = b;
    if (near < 0 || m->to[a] < 0 || m->to[near] < 0 || is_far(m, a)) return false;
    each_plane(m, a, near, dst, src, spread_rows);
    return true;
}

/* Runs along a on both sides, which are no longer than the start of a walk for each is worth. Rows that lie apart are
 * taken a few at a time, so that what lies between them is still near when its turn comes, also where they are apart by
 * a power of 2 and share places in the caches. False: there is nothing to gain. */
static bool move_runs(const move *m, int a, char *dst, const char *src) {
    enum { LONGEST = 4096, APART = 256, SOME = 8 };
    const int b = longest_but(m, a);
    if (b < 0 || m->dims[a] * m->bytes > LONGEST) return false;
    const int64_t to = m->to[b] * m->bytes, from = m->from[b] * m->bytes;
    move some = *m;
    if (m->rank > 2 && (llabs(to) >= APART || llabs(from) >= APART)) some.dims[b] = SOME;
    for (int64_t first = 0; first < m->dims[b]; first += some.dims[b]) {
        if (m->dims[b] - first < some.dims[b]) some.dims[b] = m->dims[b] - first;
        each_plane(&some, a, b, dst + first * to, src + first * from, rows_plane);
    }
    return true;
}

/* False: neither transposed, nor in steps, nor short runs. Conversions and everything else go through the elementwise
 * walk, of which this is the part without arithmetic. */
static bool move_planes(const move *m, void *dst, const void *src) {
    int a = unit_axis(m->rank, m->to, 1), b = unit_axis(m->rank, m->from, 1);
    if (!m->turn) {
        if (a >= 0 && b >= 0 && a != b) each_plane(m, a, b, dst, src, turned_pairs);
        return a >= 0 && b >= 0 && a != b;
    }
    if (a < 0) return b >= 0 && spread_runs(m, b, dst, src);
    if (b < 0) return move_steps(m, a, dst, src);
    if (a != b) {
        if (is_far(m, a)) return false;
        each_plane(m, a, b, dst, src, turned_plane);
        return true;
    }
    return move_runs(m, a, dst, src);
}

/* An axis within those that are there already. It is one with the last of them where they follow each other on both
 * sides: a short one would be moved a few items at a time. */
static void add_axis(move *m, int64_t dim, int64_t to, int64_t from) {
    const int last = m->rank - 1;
    if (dim == 1) return;
    if (last >= 0 && m->to[last] == dim * to && m->from[last] == dim * from) dim *= m->dims[last];
    else m->rank++;
    m->dims[m->rank - 1] = dim;
    m->to[m->rank - 1] = to;
    m->from[m->rank - 1] = from;
}

/* Where there are no runs here, one that is read backwards is written backwards instead: planes of it are turned in
 * squares. */
static void turn_round(move *m, char **to, const char **from) {
    const int a = unit_axis(m->rank, m->from, -1);
    if (a < 0 || m->to[a] == 1 || unit_axis(m->rank, m->from, 1) >= 0) return;
    *from -= (m->dims[a] - 1) * m->bytes;
    *to += (m->dims[a] - 1) * m->to[a] * m->bytes;
    m->from[a] = 1;
    m->to[a] = -m->to[a];
}

/* Most copies are small or dense and leave at once. */
static bool moved(int rank, const int64_t *dims, lam_dtype dtype, void *dst, const int64_t *dst_strides,
                  const void *src, const int64_t *src_strides) {
    enum { FEW = 32 };
    int64_t count = 1;
    bool dense = true;
    for (int a = rank - 1; a >= 0; a--) {
        dense = dense && (dims[a] == 1 || (dst_strides[a] == count && src_strides[a] == count));
        count *= dims[a];
    }
    if (dense || count < FEW) return false;
    move m;
    m.turn = turn_of(dtype);
    m.bytes = lam__item_bytes(dtype);
    m.count = count;
    m.rank = 0;
    for (int a = 0; a < rank; a++) add_axis(&m, dims[a], dst_strides[a], src_strides[a]);
    char *to = dst;
    const char *from = src;
    turn_round(&m, &to, &from);
    return move_planes(&m, to, from);
}

/* Items of 16 bytes have no turn, and the caller does it otherwise. */
bool lam__kernels_columns(lam_dtype dtype, int64_t rows, int64_t n, const void *const columns[], const int64_t step[],
                          void *dst, int64_t to_step) {
    const lam__turn *turn = turn_of(dtype);
    if (turn) turn->columns(rows, n, columns, step, dst, to_step);
    return turn != NULL;
}

/* NOTE [joined rows]
 * Parts that are narrow leave gaps between what they write, and long parts would go through all of the memory once
 * each. So they are written in turns, as many rows at a time as the first cache holds. to_step is not 0: a result
 * without elements is not joined (eval_concatenate). */
bool lam__kernels_rows(lam_dtype dtype, int64_t rows, int64_t n, const lam__rows parts[], void *dst, int64_t to_step) {
    const lam__turn *turn = turn_of(dtype);
    const int64_t item = lam__item_bytes(dtype), fit = LAM__ROWS_HELD / (to_step * item), block = fit > 1 ? fit : 1;
    for (int64_t first = 0; turn && first < rows; first += block) {
        const int64_t some = rows - first < block ? rows - first : block;
        char *to = (char *)dst + first * to_step * item;
        for (int64_t k = 0; k < n; to += parts[k++].width * item) {
            const lam__rows *p = &parts[k];
            const char *from = (const char *)p->from + first * p->step * item;
            if (!p->width) continue;
            move_rows(turn, item, some, p->width, from, p->step, to, to_step);
        }
    }
    return turn != NULL;
}

/* ---- copies and fills -------------------------------------------------------------------------------------------- */

/* One number everywhere, in memory without gaps; false: it is something else. Strides of axes with one element say
 * nothing. */
static bool filled(int rank, const int64_t *dims, lam_dtype dtype, void *dst, const int64_t *dst_strides,
                   const void *src, const int64_t *src_strides) {
    int64_t count = 1;
    for (int a = rank - 1; a >= 0; a--) {
        if (dims[a] != 1 && (src_strides[a] != 0 || dst_strides[a] != count)) return false;
        count *= dims[a];
    }
    if (count > 0) lam__kernels_fill(dtype, dst, count, src);
    return true;
}

/* First what is a fill, then what is a rearrangement of items, else the loop that converts, which is a copy where both
 * dtypes are one. */
void lam__kernels_copy(int rank, const int64_t *dims, lam_dtype dst_dtype, void *dst, const int64_t *dst_strides,
                       lam_dtype src_dtype, const void *src, const int64_t *src_strides) {
    if (dst_dtype == src_dtype && filled(rank, dims, dst_dtype, dst, dst_strides, src, src_strides)) return;
    if (dst_dtype == src_dtype && moved(rank, dims, dst_dtype, dst, dst_strides, src, src_strides)) return;
    lam__loop *loop = lam__elementwise_simd()->convert(dst_dtype, src_dtype);
    const int64_t *strides[] = {dst_strides, src_strides};
    void *p[] = {dst, (void *)(uintptr_t)src}; /* a lam__loop writes p[0] only */
    size_t item[] = {(size_t)lam__item_bytes(dst_dtype), (size_t)lam__item_bytes(src_dtype)};
    lam__kernels_elementwise(loop, 2, rank, dims, strides, p, item, NULL);
}

/* Whoever calls it calls lam__kernels_stream_end before another thread may read. */
void lam__kernels_stream(size_t bytes, void *dst, const void *src) {
    lam__elementwise_simd()->stream(bytes, dst, src);
}

void lam__kernels_stream_end(void) {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/* Patterns of bits by size: a NaN keeps its payload, which assigning floats need not. */
static void fill16(uint64_t *dst, int64_t n, const void *item) {
    uint64_t bits[2];
    memcpy(bits, item, sizeof bits);
    for (int64_t i = 0; i < n; i++) dst[2 * i] = bits[0], dst[2 * i + 1] = bits[1];
}

static void fill8(uint64_t *dst, int64_t n, const void *item) {
    uint64_t bits;
    memcpy(&bits, item, sizeof bits);
    for (int64_t i = 0; i < n; i++) dst[i] = bits;
}

static void fill4(uint32_t *dst, int64_t n, const void *item) {
    uint32_t bits;
    memcpy(&bits, item, sizeof bits);
    for (int64_t i = 0; i < n; i++) dst[i] = bits;
}

static void fill2(uint16_t *dst, int64_t n, const void *item) {
    uint16_t bits;
    memcpy(&bits, item, sizeof bits);
    for (int64_t i = 0; i < n; i++) dst[i] = bits;
}

void lam__kernels_fill(lam_dtype dtype, void *dst, int64_t n, const void *item) {
    const int64_t bytes = lam__item_bytes(dtype);
    if (bytes == 16) fill16(dst, n, item);
    else if (bytes == 8) fill8(dst, n, item);
    else if (bytes == 4) fill4(dst, n, item);
    else if (bytes == 2) fill2(dst, n, item);
    else if (n > 0) memset(dst, *(const unsigned char *)item, (size_t)n);
}

/* A number below 2^53 is the exact sum of where its block begins and of its place there, which is an int, as machines
 * without AVX-512 have no vectors of conversions from 64 bits. */
static void count_block(double first, double step, int64_t begin, int n, double *dst) {
    const double base = (double)begin;
    for (int j = 0; j < n; j++) dst[j] = first + step * (base + (double)j);
}

/* Each number comes from its place and not from its neighbour, so errors do not add up; other dtypes are converted from
 * f64, so that f32 elements are rounded from there. Blocks stay in the first cache on their way. */
void lam__kernels_count_up(lam_dtype dtype, double first, double step, int64_t begin, int64_t n, void *dst) {
    enum { BLOCK = 512 };
    static const int64_t unit[] = {1};
    double block[BLOCK];
    for (int64_t at = 0, m; at < n; at += m) {
        m = n - at < BLOCK ? n - at : BLOCK;
        char *to = (char *)dst + at * lam__item_bytes(dtype);
        double *wide = dtype == LAM_F64 ? (double *)(void *)to : block;
        count_block(first, step, begin + at, (int)m, wide);
        if (wide == block) lam__kernels_copy(1, &m, dtype, to, unit, LAM_F64, block, unit);
    }
}
