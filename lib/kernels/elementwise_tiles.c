/* Elementwise walks in tiles, where an operand is transposed: its elements lie side by side along another axis than the
 * output's. A tile is some rows of that axis by a part of the last; the operand's part of it is turned in a place that
 * stays in a near cache, and the loop runs over each row. What a loop computes of an element does not depend on that.
 * NOTE [far tiles]
 * Results larger than the caches go past them. Rows of a tile lie far apart in the output, so that the hardware
 * foresees none of its lines, and fetching them only to write over them took half of the time. A row is computed in a
 * place of its own and written in whole lines; what is left of the last line waits for the next tile of the row.
 * What is read is asked for a little ahead. */
#include "lib/kernels/elementwise_walk.h"

#include <stdalign.h>
#include <string.h>

#include "lib/kernels/places.h"
#include "lib/kernels/simd/simd.h"

enum {
    OPERANDS = LAM__WALK_OPERANDS,
    LINE = 64,             /* bytes */
    ROOM_BYTES = 64 << 10, /* of all turned parts */
    NEAR_COLUMNS = 256,    /* of a tile; sizes measured, like all of these */
    FAR_BYTES = 512,       /* of a row of a far tile */
    FAR_COLUMNS = 128,     /* at most, unless there are few rows */
    MOST_COLUMNS = 512,
    MOST_ROWS = 128,
    LEAST_ROWS = 4, /* below, the lines of a transposed operand hold too few elements to be worth a tile */
    SQUARE = 16,    /* elements turned at once, where those behind them are asked for */
    ROWS_AHEAD = 8, /* asked for while a row is computed */
};

typedef struct tiles {
    const lam__walk *w;
    int first; /* the axis of the rows */
    bool far;
    int64_t rows, columns;           /* of a tile */
    const lam__turn *turn[OPERANDS]; /* of transposed operands, else NULL */
} tiles;

typedef struct tile {
    char *at[OPERANDS]; /* the first element */
    int64_t rows, columns;
    bool begins, ends; /* its rows do so where those of the output do */
} tile;

typedef struct space {
    alignas(LINE) char turned[ROOM_BYTES];
    alignas(LINE) char row[MOST_COLUMNS * 16];
    alignas(LINE) char line[MOST_ROWS][LINE]; /* of each row, what is left of the last line */
} space;

/* ---- planning ---------------------------------------------------------------------------------------------------- */

/* The axis along which operand k lies side by side, if that is not the last: it is transposed. Or -1. */
static int side_axis(const lam__walk *w, int k) {
    const int64_t item = (int64_t)w->item[k];
    if (w->axes[w->rank - 1].stride[k] <= item) return -1;
    for (int a = 0; a < w->rank - 1; a++)
        if (w->axes[a].stride[k] == item) return a;
    return -1;
}

/* The rows are the axis along which an operand lies side by side; others that do so go with it. Their number. */
static int plan_rows(const lam__walk *w, tiles *t) {
    int turned = 0;
    t->w = w;
    t->first = -1;
    for (int k = 1; k < w->operands; k++) {
        const int side = side_axis(w, k);
        const bool fits = side >= 0 && (t->first < 0 || t->first == side) && w->axes[side].dim >= LEAST_ROWS;
        t->turn[k] = fits ? lam__elementwise_simd()->turn((int64_t)w->item[k]) : NULL;
        if (t->turn[k]) t->first = side, turned++;
    }
    return turned;
}

static bool is_far(const lam__walk *w) {
    double bytes = (double)w->item[0];
    for (int a = 0; a < w->rank; a++) bytes *= (double)w->axes[a].dim;
    return bytes >= LAM__WALK_FAR && w->axes[w->rank - 1].stride[0] == (int64_t)w->item[0];
}

static void plan_size(const lam__walk *w, int turned, tiles *t) {
    static const int64_t rows[2][OPERANDS] = {{0, 16, 16, 8}, {0, MOST_ROWS, MOST_ROWS / 2, MOST_ROWS / 4}};
    int64_t item = FAR_BYTES / FAR_COLUMNS;
    for (int k = 1; k < w->operands; k++)
        if (t->turn[k] && (int64_t)w->item[k] > item) item = (int64_t)w->item[k];
    t->far = is_far(w);
    t->rows = rows[t->far][turned];
    t->columns = t->far ? FAR_BYTES / item : NEAR_COLUMNS;
    for (; t->far && t->rows / 2 >= w->axes[t->first].dim && t->columns < MOST_COLUMNS; t->columns *= 2) t->rows /= 2;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Writes the part of a row that belongs at `to`. Its last line waits in `line` unless it is full or the row ends there;
 * so the first one is completed from there. Tiles are no narrower than a line, but for the last of a row. */
static void write_row(const tile *t, char *to, const char *from, int64_t bytes, char *line) {
    const int64_t before = (int64_t)((uintptr_t)to % LINE), waits = t->begins ? before : 0;
    int64_t at = 0;
    if (before) {
        at = bytes < LINE - before ? bytes : LINE - before;
        memcpy(line + before, from, (size_t)at);
        if (waits == 0 && before + at == LINE) lam__kernels_stream(LINE, to - before, line);
        else memcpy(to - before + waits, line + waits, (size_t)(before - waits + at));
    }
    const int64_t lines = (bytes - at) / LINE * LINE;
    lam__kernels_stream((size_t)lines, to + at, from + at);
    at += lines;
    if (at < bytes) memcpy(t->ends ? to + at : line, from + at, (size_t)(bytes - at));
}

/* Compilers take a function that does no more than asking for one that does nothing, and leave out its calls. */
#define ASKING static inline __attribute__((always_inline)) void

ASKING ask_for(const char *from, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += LINE) __builtin_prefetch(from + i, 0, 2);
}

/* Asks for what row i of a tile reads as it lies. */
ASKING ask_row(const tiles *t, const tile *of, int64_t i) {
    const lam__walk_axis *outer = &t->w->axes[t->first], *inner = &t->w->axes[t->w->rank - 1];
    for (int k = 1; k < t->w->operands; k++) {
        const int64_t item = (int64_t)t->w->item[k];
        if (!t->turn[k] && inner->stride[k] == item) ask_for(of->at[k] + i * outer->stride[k], of->columns * item);
    }
}

static int64_t at_most(int64_t x, int64_t limit) {
    return x < limit ? x : limit;
}

/* Turns operand k square by square, asking for those beside them: what is asked for much earlier is gone again where
 * lines lie apart by a power of 2. */
static void turn_far(const tiles *t, int k, const tile *now, const tile *next, char *room) {
    const int64_t item = (int64_t)t->w->item[k], stride = t->w->axes[t->w->rank - 1].stride[k];
    for (int64_t j = 0; j < now->columns; j += SQUARE) {
        const int64_t later = j + SQUARE - now->columns;
        const char *ahead = later < 0 ? now->at[k] + (j + SQUARE) * stride : next->at[k] + later * stride;
        for (int64_t i = 0; i < now->rows; i += SQUARE) {
            for (int64_t c = 0; c < SQUARE; c++) ask_for(ahead + c * stride + i * item, SQUARE * item);
            t->turn[k]->plane(at_most(now->rows - i, SQUARE), at_most(now->columns - j, SQUARE),
                              now->at[k] + j * stride + i * item, stride / item, room + (i * now->columns + j) * item,
                              now->columns, false);
        }
    }
}

/* The loop on each row of a tile. next: NULL unless the tiles are far. */
static void run_tile(const tiles *t, const tile *now, const tile *next, space *s) {
    const lam__walk *w = t->w;
    int64_t step[OPERANDS], down[OPERANDS];
    char *room = s->turned, *to = now->at[0];
    void *p[OPERANDS];
    for (int k = 0; k < w->operands; k++) {
        const int64_t item = (int64_t)w->item[k], stride = w->axes[w->rank - 1].stride[k];
        p[k] = now->at[k];
        step[k] = stride / item;
        down[k] = w->axes[t->first].stride[k];
        if (k == 0 || !t->turn[k]) continue;
        if (next) turn_far(t, k, now, next, room);
        else t->turn[k]->plane(now->rows, now->columns, p[k], step[k], room, now->columns, false);
        p[k] = room;
        step[k] = 1;
        down[k] = now->columns * item;
        room += t->rows * t->columns * item;
    }
    for (int64_t i = 0; i < now->rows; i++, to += down[0]) {
        const int64_t later = i + ROWS_AHEAD - now->rows;
        if (next) ask_row(t, later < 0 ? now : next, later < 0 ? i + ROWS_AHEAD : later);
        p[0] = next ? s->row : to;
        w->loop(now->columns, p, step, w->params);
        if (next) write_row(now, to, s->row, now->columns * (int64_t)w->item[0], s->line[i]);
        for (int k = 1; k < w->operands; k++) p[k] = (char *)p[k] + down[k];
    }
}

/* The tile that begins at element i of the rows' axis and j of the last. */
static tile tile_at(const tiles *t, void *const base[], int64_t i, int64_t j) {
    const lam__walk *w = t->w;
    const lam__walk_axis *outer = &w->axes[t->first], *inner = &w->axes[w->rank - 1];
    tile to;
    to.rows = t->rows < outer->dim - i ? t->rows : outer->dim - i;
    to.columns = t->columns < inner->dim - j ? t->columns : inner->dim - j;
    to.begins = j == 0;
    to.ends = j + to.columns == inner->dim;
    for (int k = 0; k < w->operands; k++) to.at[k] = (char *)base[k] + i * outer->stride[k] + j * inner->stride[k];
    return to;
}

/* All tiles of two axes, along the rows; the one behind the last is the last again. */
static void run_plane(const tiles *t, void *const base[], space *s) {
    const int64_t rows = t->w->axes[t->first].dim, columns = t->w->axes[t->w->rank - 1].dim;
    tile next = tile_at(t, base, 0, 0);
    for (int64_t i = 0, j = 0; i < rows;) {
        const tile now = next;
        j += t->columns;
        if (j >= columns) j = 0, i += t->rows;
        if (i < rows) next = tile_at(t, base, i, j);
        run_tile(t, &now, t->far ? &next : NULL, s);
    }
}

bool lam__elementwise_tiles(const lam__walk *w, void *const base[]) {
    space s;
    int64_t at[LAM__MAX_AXES] = {0};
    void *p[OPERANDS];
    tiles t;
    const int turned = plan_rows(w, &t);
    if (!turned) return false;
    plan_size(w, turned, &t);
    for (int k = 0; k < w->operands; k++) p[k] = base[k];
    do run_plane(&t, p, &s);
    while (lam__elementwise_next(w, w->rank - 2, t.first, at, p));
    if (t.far) lam__kernels_stream_end();
    return true;
}
