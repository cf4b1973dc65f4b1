/* Small products of one floating type, included by small_simd.c with T, V (a vector of it), LANES, PARTS (2: elements
 * are complex, two T each), FMA(x, y, sum), LIST and NAME(f). Columns of out lie side by side in vectors; tiles of rows
 * and vectors stay in registers while k runs, and every element is summed in the order of k whatever tile it is in.
 * Vectors times lines that have no gaps are dots instead, in lanes that are then added in pairs. No include guard: that
 * is the point. */

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* A vector at any alignment. By value: compilers keep arrays of vectors in registers only while no address of theirs is
 * taken. */
ALWAYS_INLINE V NAME(whole)(const T *from) {
    V v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* The counterpart: a store at any alignment. */
ALWAYS_INLINE void NAME(put)(T *to, V v) {
    memcpy(to, &v, sizeof v);
}

/* What is half of a vector, or stands for it where halves are not used. */
#if HALVES
typedef NAME(half) NAME(tail);
#define TAIL_OF(v)           NAME(half_of)(v)
#define TAIL_FMA(x, y, z)    NAME(half_fma)(x, y, z)
#define TAIL_LOAD(from, n)   NAME(half_load)(from, n)
#define TAIL_STORE(to, v, n) NAME(half_store)(to, v, n)
#else
typedef V NAME(tail);
#define TAIL_OF(v)           (v)
#define TAIL_FMA(x, y, z)    FMA(x, y, z)
#define TAIL_LOAD(from, n)   NAME(load)(from, n)
#define TAIL_STORE(to, v, n) NAME(store)(to, v, n)
#endif

/* So many vectors of y, of which the last one has `last` lanes; or these are of half a vector more. */
ALWAYS_INLINE void NAME(line)(int vectors, bool half, int last, const T *y, V line[], NAME(tail) * tail) {
    for (int v = 0; v < vectors - !half; v++) line[v] = NAME(whole)(y + v * LANES);
    if (half) *tail = TAIL_LOAD(y + vectors * LANES, last);
    else line[vectors - 1] = NAME(load)(y + (vectors - 1) * LANES, last);
}

/* Four products of reals in two sums, without a shuffle in the loop over k. */
#if PARTS == 2
/* (a + b i)(c + d i): `sum` is of a c, a d, `cross` of b c, b d, which are exchanged and added with the signs. */
ALWAYS_INLINE V NAME(joined)(V sum, V cross) {
    const V turned = __builtin_shufflevector(cross, cross, LIST(PARTNER, 0));
    V signs;
    for (int i = 0; i < LANES; i++) signs[i] = i & 1 ? 1 : -1;
    return FMA(turned, signs, sum);
}
#endif

/* One tile of out from its first row and column on: rows and vectors are constants in the calls, so sums and the line
 * of y are registers. The first products begin the sums. Of complex numbers x's real and imaginary parts have sums of
 * their own, joined at the end. Where y's last vector is a part, so is that of the result. */
ALWAYS_INLINE void NAME(tile)(const tiling *t, int rows, int vectors, bool half, const T *x, const T *y, T *out) {
    V sum[PARTS][MOST_ROWS][WIDEST], line[WIDEST];
    NAME(tail) rest[MOST_ROWS], tail = {0};
    const int last = t->last, whole = vectors - !half;
    NAME(line)(vectors, half, last, y, line, &tail);
    for (int r = 0; r < rows; r++) {
        for (int part = 0; part < PARTS; part++)
            for (int v = 0; v < vectors; v++) sum[part][r][v] = x[r * t->x_row + part] * line[v];
        /* Where there are no halves `tail` is 0 and nothing of `rest` is kept. */
        rest[r] = x[r * t->x_row] * tail;
    }
    for (int64_t q = 1; q < t->k; q++) {
        x += t->x_col;
        y += t->y_row;
        NAME(line)(vectors, half, last, y, line, &tail);
        for (int r = 0; r < rows; r++)
            for (int part = 0; part < PARTS; part++) {
                const V same = x[r * t->x_row + part] - (V){0};
                for (int v = 0; v < vectors; v++) sum[part][r][v] = FMA(same, line[v], sum[part][r][v]);
                /* Without a whole vector there is none of which `same` could be the half. */
                if (half && whole == 0) rest[r] = TAIL_FMA(x[r * t->x_row] - (NAME(tail)){0}, tail, rest[r]);
                else if (half) rest[r] = TAIL_FMA(TAIL_OF(same), tail, rest[r]);
            }
    }
    for (int r = 0; r < rows; r++, out += t->out_row) {
#if PARTS == 2
        for (int v = 0; v < vectors; v++) sum[0][r][v] = NAME(joined)(sum[0][r][v], sum[1][r][v]);
#endif
        for (int v = 0; v < whole; v++) NAME(put)(out + v * LANES, sum[0][r][v]);
        if (half) TAIL_STORE(out + whole * LANES, rest[r], t->put);
        else NAME(store)(out + whole * LANES, sum[0][r][whole], t->put);
    }
}

/* Rows of a tile at most. As many as leave registers for the line of y and an element of x. Without AVX-512 that is six
 * rows of two vectors, or three of complex numbers. */
ALWAYS_INLINE int NAME(most)(int vectors, bool half) {
    const int most = SUMS / ((vectors + half) * PARTS);
    return most < MOST_ROWS ? most : MOST_ROWS;
}

/* A tile of each height is a function; heights above `most` do not occur. The switch has no other cases. */
ALWAYS_INLINE void NAME(tile_of)(const tiling *t, int64_t rows, int vectors, bool half, const T *x, const T *y,
                                 T *out) {
    const int most = NAME(most)(vectors, half);
    switch (rows) {
    case 1: NAME(tile)(t, 1, vectors, half, x, y, out); return;
    case 2: NAME(tile)(t, 2, vectors, half, x, y, out); return;
    case 3: NAME(tile)(t, 3, vectors, half, x, y, out); return;
    case 4:
        if (most >= 4) NAME(tile)(t, 4, vectors, half, x, y, out);
        return;
    case 5:
        if (most >= 5) NAME(tile)(t, 5, vectors, half, x, y, out);
        return;
    case 6:
        if (most >= 6) NAME(tile)(t, 6, vectors, half, x, y, out);
        return;
    case 7:
        if (most >= 7) NAME(tile)(t, 7, vectors, half, x, y, out);
        return;
    default:
        if (most >= 8) NAME(tile)(t, 8, vectors, half, x, y, out);
        return;
    }
}

/* All rows of so many vectors of columns. Tiles go down a panel, whose part of y stays in the first cache. */
ALWAYS_INLINE void NAME(columns)(const tiling *t, int vectors, bool half, const T *x, const T *y, T *out) {
    for (int64_t i = 0; i < t->tiles; i++) {
        const int64_t rows = t->rows + (i < t->more);
        NAME(tile_of)(t, rows, vectors, half, x, y, out);
        x += rows * t->x_row;
        out += rows * t->out_row;
    }
}

/* Panels of full width are one function for all products; the last panel has one for its own width. */
static void NAME(wide_columns)(const tiling *t, const T *x, const T *y, T *out) {
    NAME(columns)(t, WIDEST, false, x, y, out);
}

/* ---- columns left over ------------------------------------------------------------------------------------------ */

/* How many they are: `lam__product_edge`. */
ALWAYS_INLINE int NAME(edge_of)(const lam__product *p, bool turned) {
    return turned || PARTS == 2 ? 0 : lam__product_edge(p, LANES, HALVES);
}

#if PARTS == 1
/* Rows of one column of out in so many vectors, the last one of `last` lanes. Summed as in tiles. */
ALWAYS_INLINE void NAME(upright)(int vectors, int last, const lam__product *p, const T *x, const T *y, T *to) {
    V sum[UPRIGHT], line[UPRIGHT];
    NAME(tail) unused;
    NAME(line)(vectors, false, last, x, line, &unused);
    for (int v = 0; v < vectors; v++) sum[v] = y[0] * line[v];
    for (int64_t q = 1; q < p->k; q++) {
        x += p->x_col;
        y += p->y_row;
        NAME(line)(vectors, false, last, x, line, &unused);
        const V same = y[0] - (V){0};
        for (int v = 0; v < vectors; v++) sum[v] = FMA(same, line[v], sum[v]);
    }
    for (int v = 0; v < vectors; v++) NAME(put)(to + v * LANES, sum[v]);
}

/* All rows of one column, from its first element on. What is put down one by one is no longer the vectors that were
 * summed up: these would not be in registers. */
static void NAME(edge)(const lam__product *p, const T *x, const T *y, T *out) {
    /* Rows of x lie side by side here, and a column of out is made of vectors of them. */
    enum { MOST = UPRIGHT * LANES };
    T each[MOST];
    for (int64_t i = 0; i < p->m; i += MOST, x += MOST, out += MOST * p->n) {
        const int64_t left = p->m - i < MOST ? p->m - i : MOST;
        const int last = (int)((left - 1) % LANES + 1);
        /* The last vector may be a part of one; those before are whole. */
        switch ((left - 1) / LANES) {
        case 0: NAME(upright)(1, last, p, x, y, each); break;
        case 1: NAME(upright)(2, last, p, x, y, each); break;
        case 2: NAME(upright)(3, last, p, x, y, each); break;
        default: NAME(upright)(UPRIGHT, last, p, x, y, each); break;
        }
        for (int64_t r = 0; r < left; r++) out[r * p->n] = each[r];
    }
}
#endif

/* ---- batches of products ----------------------------------------------------------------------------------------- */

/* to[rows, columns], with its rows to_row elements apart, of from[rows, columns] with any steps. Reals by the set's own
 * moves, pairs one by one. */
static void NAME(move)(int64_t rows, int64_t columns, const T *from, int64_t row, int64_t col, T *to, int64_t to_row) {
#if PARTS == 1
    LAM__ISA_NAME(lam__turn_of_)(sizeof(T))->grid(rows, columns, from, row, col, to, to_row);
#else
    for (int64_t i = 0; i < rows; i++, from += 2 * row, to += 2 * to_row)
        for (int64_t j = 0; j < columns; j++) {
            to[2 * j] = from[2 * j * col];
            to[2 * j + 1] = from[2 * j * col + 1];
        }
#endif
}

/* One product in panels of columns; those of y that are not side by side are copied first. A panel holds LAM__SMALL_K
 * lines in the frame, which is why k is bounded. x and y point at the product's own operands. All panels but the last
 * are WIDEST vectors wide. */
ALWAYS_INLINE void NAME(product)(const tiling *wide, const tiling *t, const lam__product *p, int vectors, bool half,
                                 const T *x, const T *y, T *out) {
    enum { LINE = WIDEST * LANES, PANEL = LINE / PARTS };
    T packed[LAM__SMALL_K * LINE] __attribute__((aligned(VECTOR_BYTES)));
    /* A column alone has no neighbours, so its step says nothing. */
    const bool copied = p->y_col != 1 && p->n > 1;
    int64_t first = 0;
    for (; t->columns - first > PANEL; first += PANEL) {
        const T *from = y + first * p->y_col * PARTS;
        if (copied) NAME(move)(p->k, PANEL, from, p->y_row, p->y_col, packed, PANEL);
        NAME(wide_columns)(wide, x, copied ? packed : from, out + first * PARTS);
    }
    const T *from = y + first * p->y_col * PARTS;
    if (copied) NAME(move)(p->k, t->columns - first, from, p->y_row, p->y_col, packed, PANEL);
    NAME(columns)(t, vectors, half, x, copied ? packed : from, out + first * PARTS);
#if PARTS == 1
    for (int64_t j = t->columns; j < p->n; j++) NAME(edge)(p, x, y + j * p->y_col, out + j);
#endif
}

/* `turned`: out has rows and columns exchanged. It is then made in a room in the frame, of at most LAM__SMALL_TURNED
 * rows and columns, and moved into its place. Rows of the room are whole vectors, written as such: what is moved is
 * read again at once, which waits for stores in parts. */
ALWAYS_INLINE void NAME(products)(const lam__product *p, bool turned, int vectors, bool half) {
    enum { LINE = WIDEST * LANES, MOST = LAM__SMALL_TURNED * LAM__SMALL_TURNED * PARTS };
    T room[MOST] __attribute__((aligned(VECTOR_BYTES)));
    /* Panels but the last one have the same tiles for all products; the last one has its own. */
    tiling wide = tiling_of(p, PARTS, NAME(most)(WIDEST, false)), t = tiling_of(p, PARTS, NAME(most)(vectors, half));
    t.columns = p->n - NAME(edge_of)(p, turned);
    wide.last = wide.put = LANES;
    t.last = t.put = (int)((t.columns * PARTS - 1) % LANES + 1);
    if (p->y_col != 1 && p->n > 1) wide.y_row = t.y_row = LINE;
    if (turned) {
        wide.out_row = t.out_row = (p->n * PARTS + LANES - 1) / LANES * LANES;
        t.put = half ? LANES / 2 : LANES;
    }
    T *out = p->out;
    lam__product_place in = {.left = p->left};
    for (int64_t b = 0; b < p->batch; b++, lam__product_next(p, &in), out += p->m * p->n * PARTS) {
        const T *x = (const T *)p->x + in.x * PARTS, *y = (const T *)p->y + in.y * PARTS;
        NAME(product)(&wide, &t, p, vectors, half, x, y, turned ? room : out);
        if (turned) NAME(move)(p->n, p->m, room, 1, t.out_row / PARTS, out, p->m);
    }
}

/* The number of vectors of the last panel is a constant in each of these. */
static void NAME(products_1)(const lam__product *p, bool turned) {
    NAME(products)(p, turned, 1, false);
}

static void NAME(products_2)(const lam__product *p, bool turned) {
    NAME(products)(p, turned, 2, false);
}

#if VECTOR_BYTES >= 64
static void NAME(products_3)(const lam__product *p, bool turned) {
    NAME(products)(p, turned, 3, false);
}

static void NAME(products_4)(const lam__product *p, bool turned) {
    NAME(products)(p, turned, 4, false);
}
#endif

/* Of half a vector, of one and a half, and so on: the tail is a type of its own, so these are functions of their
 * own. */
#if HALVES
static void NAME(products_0_half)(const lam__product *p, bool turned) {
    NAME(products)(p, turned, 0, true);
}

static void NAME(products_1_half)(const lam__product *p, bool turned) {
    NAME(products)(p, turned, 1, true);
}

static void NAME(products_2_half)(const lam__product *p, bool turned) {
    NAME(products)(p, turned, 2, true);
}

static void NAME(products_3_half)(const lam__product *p, bool turned) {
    NAME(products)(p, turned, 3, true);
}
#endif

#include "lib/kernels/blas/dots_type.h"
#if PARTS == 1
#include "lib/kernels/blas/beside_type.h"
#endif

/* By the number of vectors that the last panel has, whether there are panels before it or not. */
static void NAME(tiles)(const lam__product *p, bool turned) {
    const int64_t numbers = (p->n - NAME(edge_of)(p, turned)) * PARTS, before = (numbers - 1) / LANES % WIDEST;
#if HALVES
    if ((numbers - 1) % LANES < LANES / 2) {
        if (before == 0) NAME(products_0_half)(p, turned);
        else if (before == 1) NAME(products_1_half)(p, turned);
        else if (before == 2) NAME(products_2_half)(p, turned);
        else NAME(products_3_half)(p, turned);
        return;
    }
#endif
    switch (before) {
    case 0: NAME(products_1)(p, turned); return;
#if VECTOR_BYTES >= 64
    case 2: NAME(products_3)(p, turned); return;
    case 3: NAME(products_4)(p, turned); return;
#endif
    default: NAME(products_2)(p, turned); return;
    }
}

/* As it lies, and turned over: entries of lam__small_type. */
static void NAME(straight)(const lam__product *p) {
    NAME(tiles)(p, false);
}

/* As the product of the transposes; with one row there is nothing to be turned back. Columns of x then are rows of the
 * turned product, side by side. */
static void NAME(turned)(const lam__product *p) {
    const lam__product q = lam__product_turned(p);
    NAME(tiles)(&q, q.m > 1);
}

#undef T
#undef V
#undef LANES
#undef PARTS
#undef HALVES
#undef TAIL_OF
#undef TAIL_FMA
#undef TAIL_LOAD
#undef TAIL_STORE
#undef FMA
#undef LIST
#undef NAME
