/* Leaves of reductions whose elements are not reduced where they lie. Rows too short for the vectors of a row are
 * turned, so that neighbouring results are neighbours in vectors too; elements that are to be squared, or multiplied by
 * others, are so in a place that stays in the first cache, which spares memory a pass or three. The order of operations
 * is that of the block as it was: rows that a leaf takes as rows stay rows. */
#include "lib/kernels/reduce_blocks.h"

#include <stdalign.h>

#include "lib/kernels/elementwise_walk.h"
#include "lib/kernels/places.h"
#include "lib/kernels/simd/simd.h"

enum {
    ROOM_BYTES = 16384,
    FAR_BYTES = 2048, /* of results that go past the caches at once: so few that memory goes on being read meanwhile, */
    READ_BYTES = 2048,                        /* unless they are made of fewer than these, which are worth a call */
    READ_BYTES_8 = 16384,                     /* the same of places of bytes, where the start of one takes longer */
    ODD_BYTES = LAM__REDUCE_ODD_LEAF * 8 * 8, /* a leaf of up to seven columns, which stay together */
    ALIGNED = 16,                             /* columns, so that vectors begin where lines do */
    FEWEST = 8,                               /* columns worth a turn */
};

/* A part of the block and what is made of it. */
typedef struct part {
    const lam__reduce_change *change;
    const lam__turn *turn;
    int64_t item;
    bool rows;    /* stay such: row by row, else side by side */
    int64_t down; /* from a row to the next, where columns are side by side */
    const char *numbers;
    int64_t step; /* of the numbers */
    char *room;
} part;

/* loop(x, number), or loop(x), over n elements: `to` and `from` go in steps, so may the number. */
static void apply(lam__loop *loop, int64_t n, char *to, int64_t to_step, const char *from, int64_t from_step,
                  const char *number, int64_t number_step) {
    const int64_t step[] = {to_step, from_step, number_step};
    loop(n, (void *[]){to, (void *)(uintptr_t)from, (void *)(uintptr_t)number}, step, NULL);
}

/* From a row to the next in the room. Few columns keep gaps unless they had none, so that they are none of the runs
 * that are reduced in another order. */
static int64_t side_step(const lam__reduce_block *b) {
    return b->columns >= 8 || lam__reduce_is_run(b) ? b->columns : b->columns + 1;
}

/* The loop over all elements of b into the room, along what lies side by side, or whichever axis the runs are longer.
 * What it reads beside them is a number for each column, or lies as they do. */
static void fill(const part *p, lam__loop *loop, bool numbers, const lam__reduce_block *b, const char *from) {
    const int64_t item = p->item, n = b->columns, down = p->down;
    const char *beside = numbers ? p->numbers : from + p->change->apart;
    const int64_t side = numbers ? p->step : b->step, under = numbers ? 0 : b->row_step;
    const bool beside_each_other = b->step == 1 && n >= FEWEST;
    if (p->rows || (n < b->rows && !beside_each_other))
        for (int64_t c = 0; c < n; c++)
            apply(loop, b->rows, p->room + (p->rows ? c * b->rows : c) * item, p->rows ? 1 : down,
                  from + c * b->step * item, b->row_step, beside + c * side * item, under);
    else
        for (int64_t r = 0; r < b->rows; r++)
            apply(loop, n, p->room + r * down * item, 1, from + r * b->row_step * item, b->step,
                  beside + r * under * item, side);
}

/* The square or product of every element, which lies like the room. */
static void square(const part *p, const lam__reduce_block *b, const char *from) {
    const bool gaps = !p->rows && p->down > b->columns;
    const char *beside = from + p->change->apart;
    for (int64_t c = 0; gaps && c < b->columns; c++)
        apply(p->change->square, b->rows, p->room + c * p->item, p->down, from + c * p->item, p->down,
              beside + c * p->item, p->down);
    if (!gaps) apply(p->change->square, b->rows * b->columns, p->room, 1, from, 1, beside, 1);
}

/* Whether the elements lie as they will in the room. */
static bool lies_alike(const part *p, const lam__reduce_block *b) {
    return p->rows ? b->step == b->rows : b->step == 1 && b->row_step == b->columns && p->down == b->columns;
}

/* Brings the elements of b into the room as they are to be reduced. */
static void prepare(const part *p, lam__reduce_block *b) {
    const lam__reduce_change *change = p->change;
    const bool dense = lies_alike(p, b);
    lam__reduce_block now = *b;
    if (p->turn) {
        now.row_step = p->down;
        p->turn->plane(b->rows, b->columns, b->x, b->step, p->room, now.row_step, false);
        now.x = p->room, now.step = 1;
    }
    if (change->less) fill(p, change->less, true, &now, now.x);
    if (change->square && (change->less || p->turn || dense)) square(p, b, change->less || p->turn ? p->room : b->x);
    else if (change->square) fill(p, change->square, false, &now, now.x);
    b->x = p->room;
    b->step = p->rows ? b->rows : 1;
    b->row_step = p->rows ? 1 : p->down;
}

/* The part of the block from column c on. */
static lam__reduce_block columns_of(const lam__reduce_block *block, int64_t item, int64_t c, int64_t most) {
    lam__reduce_block some = *block;
    some.columns = most < block->columns - c ? most : block->columns - c;
    some.x = (const char *)block->x + c * block->step * item;
    some.behind = 0;
    return some;
}

/* Part by part, each brought in order first. */
static LAM__OWN_FRAME void reduce_prepared(const lam__reduce_change *change, const lam__turn *turn, lam_dtype dtype,
                                           lam__reduce_op op, const lam__reduce_block *block, const char *numbers,
                                           int64_t step, char *out) {
    alignas(64) char room[ODD_BYTES];
    const int64_t item = lam__item_bytes(dtype);
    part p = {.change = change, .turn = turn, .item = item, .step = step, .room = room};
    p.rows = block->row_step == 1 && block->rows >= LAM__REDUCE_SHORT;
    int64_t most = ROOM_BYTES / (item * block->rows);
    if (most > ALIGNED) most -= most % ALIGNED;
    if (lam__reduce_is_odd(block)) most = block->columns;
    for (int64_t c = 0; c < block->columns; c += most) {
        lam__reduce_block some = columns_of(block, item, c, most);
        p.numbers = numbers ? numbers + c * step * item : NULL;
        p.down = side_step(&some);
        prepare(&p, &some);
        lam__reduce_loops(dtype)->leaf(op, &some, out + c * item);
    }
}

/* Short rows that are to be squared; others are reduced as they lie. */
static bool is_turned(const lam__reduce_change *change, const lam__reduce_block *b) {
    const bool shorter = b->row_step == 1 && b->rows >= 2 && b->rows < LAM__REDUCE_SHORT;
    return change->square && !change->apart && shorter && b->columns >= FEWEST;
}

void lam__reduce_finish_some(const lam__reduce_finish *finish, lam__reduce_kind kind, int64_t count, void *results) {
    static const int64_t flat[] = {1, 1, 0};
    if (kind == LAM__REDUCE_TALLIES) lam__reduce_loops(LAM_I64)->share(count, finish->n, results);
    else finish->loop(count * finish->parts, (void *[]){results, results, (void *)(uintptr_t)finish->by}, flat, NULL);
}

/* Results that are near. */
static void reduce_near(const lam__reduce_task *task, const lam__reduce_block *block, const lam__turn *turn,
                        const char *numbers, int64_t step, char *out) {
    const lam__reduce_type *loops = lam__reduce_loops(task->dtype);
    const lam__reduce_target to = {out, 1, block->columns};
    if (task->kind == LAM__REDUCE_TALLIES) loops->tally(block, (int64_t *)(void *)out);
    else if (task->kind == LAM__REDUCE_ROUNDS) loops->round(block, out);
    else if (task->kind == LAM__REDUCE_PLACES) loops->arg(task->op, block, &to);
    else if (!turn && !task->change.square) loops->leaf(task->op, block, out);
    else reduce_prepared(&task->change, turn, task->dtype, task->op, block, numbers, step, out);
    if (task->finish) lam__reduce_finish_some(task->finish, task->kind, block->columns * block->layers, out);
}

/* Bytes of a result. Tallies, rounded sums and places have eight bytes whatever the elements have. */
static int64_t result_bytes(const lam__reduce_task *task) {
    return task->kind == LAM__REDUCE_LEAVES ? lam__item_bytes(task->dtype) : (int64_t)sizeof(int64_t);
}

/* How many results, of so many bytes and made of so many, go past the caches at once. */
static int64_t results_at_once(const lam__reduce_task *task, int64_t bytes, int64_t of) {
    enum { WHOLE = 64 };
    const bool long_start = task->kind == LAM__REDUCE_PLACES && lam__item_bytes(task->dtype) == 1;
    const int64_t fit = ROOM_BYTES / bytes, some = FAR_BYTES / bytes;
    const int64_t worth = (long_start ? READ_BYTES_8 : READ_BYTES) / of;
    const int64_t most = 1 + (some > worth ? some : worth), whole = most & -WHOLE;
    return most > fit ? (fit > 0 ? fit : 1) : whole > 0 ? whole : most;
}

/* Reduces some layers at a time; results that are larger than the caches (`far`) go past these. Layers behind those of
 * a round may be read with them, and there is room for what comes of that. */
static LAM__OWN_FRAME void reduce_some_layers(const lam__reduce_task *task, const lam__reduce_block *block,
                                              const char *numbers, int64_t step, bool far, char *out) {
    enum { BEYOND = LAM__REDUCE_BEHIND * (int)sizeof(int64_t) };
    alignas(64) char results[ROOM_BYTES + BEYOND];
    const int64_t item = lam__item_bytes(task->dtype), row = block->columns * result_bytes(task);
    const int64_t most = results_at_once(task, row, block->columns * block->rows * item);
    for (int64_t k = 0; k < block->layers; k += most) {
        lam__reduce_block some = lam__reduce_layer(block, k, item);
        some.layers = most < block->layers - k ? most : block->layers - k;
        some.behind = block->behind + block->layers - k - some.layers;
        lam__reduce_block_into(task, &some, numbers ? numbers + k * step * row : NULL, step,
                               far ? results : out + k * row);
        if (far) lam__kernels_stream((size_t)(some.layers * row), out + k * row, results);
    }
    /* Once for all of them: it waits until what went past the caches is in memory. */
    if (far) lam__kernels_stream_end();
}

/* Blocks whose results are larger than the caches: these go past them, so that memory is not read to be written. */
static LAM__OWN_FRAME void reduce_some_columns(const lam__reduce_task *task, const lam__reduce_block *block,
                                               const char *numbers, int64_t step, bool far, char *out) {
    alignas(64) char results[ROOM_BYTES];
    const int64_t item = lam__item_bytes(task->dtype), result = result_bytes(task);
    const bool rows = block->row_step == 1;
    const int64_t most = rows ? results_at_once(task, result, block->rows * item) : ROOM_BYTES / result;
    for (int64_t c = 0; c < block->columns; c += most) {
        const lam__reduce_block some = columns_of(block, item, c, most);
        lam__reduce_block_into(task, &some, numbers ? numbers + c * step * item : NULL, step,
                               far ? results : out + c * result);
        if (far) lam__kernels_stream((size_t)(some.columns * result), out + c * result, results);
    }
    if (far) lam__kernels_stream_end();
}

/* Layers one by one. */
static void reduce_each(const lam__reduce_task *task, const lam__reduce_block *block, const char *numbers, int64_t step,
                        char *out) {
    const int64_t item = lam__item_bytes(task->dtype), row = block->columns * result_bytes(task);
    for (int64_t k = 0; k < block->layers; k++) {
        const lam__reduce_block one = lam__reduce_layer(block, k, item);
        lam__reduce_block_into(task, &one, numbers ? numbers + k * step * row : NULL, step, out + k * row);
    }
}

/* Whether twice as much is read as is written: else writing takes the time, whether memory is read for it or not. */
static bool is_worth(const lam__reduce_task *task, const lam__reduce_block *b) {
    return b->rows * lam__item_bytes(task->dtype) >= 2 * result_bytes(task);
}

void lam__reduce_block_into(const lam__reduce_task *task, const lam__reduce_block *block, const void *numbers,
                            int64_t step, void *out) {
    const lam__reduce_change *change = &task->change;
    const int64_t row = block->columns * result_bytes(task), all = row * block->layers;
    const lam__turn *turn =
        is_turned(change, block) ? lam__elementwise_simd()->turn(lam__item_bytes(task->dtype)) : NULL;
    const bool far = all >= LAM__WALK_FAR && is_worth(task, block), some = far || (task->finish && all > ROOM_BYTES);
    /* What has to be done layer by layer: what is laid out anew, or is larger than what is written at once. */
    const bool apart = turn || change->square || (far && row >= LAM__WALK_FAR) || (some && task->finish);
    if (some && block->layers > 1 && row <= ROOM_BYTES) reduce_some_layers(task, block, numbers, step, far, out);
    else if (block->layers > 1 && apart) reduce_each(task, block, numbers, step, out);
    else if (block->layers == 1 && (far || (some && block->row_step == 1)))
        reduce_some_columns(task, block, numbers, step, far, out);
    else reduce_near(task, block, turn, numbers, step, out);
}
