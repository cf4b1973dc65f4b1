/* Running sums, products, maxima and minima, part of reduce_type.h. No include guard: that is the point. */

/* One step of a running sum. Those of f32 run in double; those of f64 add the rounding error of every step (Knuth's
 * 2Sum, exact) to `rest` and show value + rest. So the error of a prefix stays near one unit whatever its length,
 * at the cost of a plain sum, whose chain of dependent additions is as long. Once an infinity or NaN has come, rest
 * is NaN and the plain sum is shown. KEEP IN STEP: running step (advance_rows). */
ALWAYS_INLINE T FN(advance)(S *value, S *rest, T x) {
    const S old = *value, term = (S)x, now = *value = (S)(old + term);
    if (!COMPENSATED) return (T)now;
    const S part = (S)(now - old);
    *rest += (S)((old - (now - part)) + (term - part));
    const S shown = (S)(now + *rest), difference = (S)(*rest - *rest), zero = 0;
    return difference == zero ? (T)shown : (T)now;
}

#if COMPENSATED
/* A running sum that has no others beside it: the bits of FN(advance), block by block. The plain sums of a block come
 * first; then the errors of all of these, in vectors; then the sums of the errors, beside the plain sums of the next
 * block; then what is shown. So an element waits for one addition and not for the whole of a step. */
typedef struct FN(chain) {
    S term[SCAN_BLOCK], sum[SCAN_BLOCK + 1], error[SCAN_BLOCK], rest[SCAN_BLOCK]; /* sum[0]: before the block */
    int64_t count;
    T *out; /* where the first is shown */
} FN(chain);

/* count: a constant for whole blocks. */
ALWAYS_INLINE void FN(find_errors)(int64_t count, FN(chain) * block) {
    for (int64_t i = 0; i < count; i++) {
        const S old = block->sum[i], now = block->sum[i + 1], part = (S)(now - old);
        block->error[i] = (S)((old - (now - part)) + (block->term[i] - part));
    }
}

ALWAYS_INLINE void FN(show)(int64_t count, const FN(chain) * block, T *restrict out, int64_t out_step) {
    for (int64_t i = 0; i < count; i++) {
        const S now = block->sum[i + 1], rest = block->rest[i], difference = (S)(rest - rest), zero = 0;
        out[i * out_step] = (T)(difference == zero ? (S)(now + rest) : now);
    }
}

/* Both chains of additions, of two blocks, as far as both go; then the longer one. */
ALWAYS_INLINE void FN(run_chains)(FN(chain) * now, const T *x, int64_t step, FN(chain) * before, S *rest) {
    const int64_t both = now->count < before->count ? now->count : before->count;
    S sum = now->sum[0], errors = *rest;
    int64_t i = 0;
    for (; i < both; i++) {
        const S term = x[i * step];
        before->rest[i] = errors = (S)(errors + before->error[i]);
        now->term[i] = term, now->sum[i + 1] = sum = (S)(sum + term);
    }
    for (int64_t k = i; k < before->count; k++) before->rest[k] = errors = (S)(errors + before->error[k]);
    for (; i < now->count; i++) now->term[i] = x[i * step], now->sum[i + 1] = sum = (S)(sum + now->term[i]);
    *rest = errors;
}

ALWAYS_INLINE void FN(scan_chain)(const T *x, int64_t rows, int64_t step, T *out, int64_t out_step) {
    FN(chain) blocks[2];
    S rest = 0, last;
    out[0] = x[0], last = x[0];
    blocks[1].count = 0;
    for (int64_t r = 1, k = 0; r < rows || blocks[1 - k].count; r += SCAN_BLOCK, k = 1 - k) {
        FN(chain) *now = &blocks[k], *before = &blocks[1 - k];
        now->count = r >= rows ? 0 : rows - r < SCAN_BLOCK ? rows - r : SCAN_BLOCK;
        now->sum[0] = last, now->out = out + r * out_step;
        FN(run_chains)(now, x + r * step, step, before, &rest);
        if (before->count == SCAN_BLOCK && out_step == 1) FN(show)(SCAN_BLOCK, before, before->out, 1);
        else FN(show)(before->count, before, before->out, out_step);
        if (now->count == SCAN_BLOCK) FN(find_errors)(SCAN_BLOCK, now);
        else FN(find_errors)(now->count, now);
        last = now->sum[now->count];
    }
}
#endif

#if defined(LIST)
#include "lib/kernels/reduce_running_rows.h"
#endif

/* The first row is copied, so a running product or maximum of one element is that element, bit by bit. Sums and values
 * lie on the stack, a row of columns at a time. */
ALWAYS_INLINE void FN(scan_columns)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to,
                                    int64_t first, int columns, int64_t step, int64_t out_step) {
    S sum[SCAN_COLUMNS], rest[SCAN_COLUMNS];
    T value[SCAN_COLUMNS]; /* of what is no sum */
    const T *x = (const T *)b->x + first * step;
    T *out = (T *)to->out + first * out_step;
    for (int c = 0; c < columns; c++) out[c * out_step] = value[c] = x[c * step], sum[c] = (S)value[c], rest[c] = 0;
    for (int64_t r = 1; r < b->rows; r++) {
        const T *restrict row = x + r * b->row_step;
        T *restrict to_row = out + r * to->row_step;
        if (op == LAM__REDUCE_OP_SUM)
            for (int c = 0; c < columns; c++) to_row[c * out_step] = FN(advance)(&sum[c], &rest[c], row[c * step]);
        else
            for (int c = 0; c < columns; c++) to_row[c * out_step] = value[c] = FN(fold)(op, value[c], row[c * step]);
    }
}

/* Up to four columns stay in registers; contiguous ones go in vectors; others eight at a time to hide latency. Sums
 * that carry their errors go one by one, if they are long, unless they go in vectors. How many columns there are is a
 * constant for 1 to 4 and 8. */
ALWAYS_INLINE void FN(scan_of)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    const bool contiguous = b->step == 1 && to->step == 1;
    const int most = contiguous ? SCAN_COLUMNS : 8;
    int columns;
#if defined(LIST)
    if (FN(are_rows)(op, b, to)) {
        if (b->row_step > 0) FN(scan_rows)(op, false, b, to);
        else FN(scan_rows)(op, true, b, to);
        return;
    }
#endif
    for (int64_t first = 0; first < b->columns; first += columns) {
        columns = (int)(b->columns - first < most ? b->columns - first : most);
#if COMPENSATED
        if (op == LAM__REDUCE_OP_SUM && b->rows >= 4 * SCAN_BLOCK && (!contiguous || columns < FEW_ROWS)) {
            columns = 1;
            FN(scan_chain)
            ((const T *)b->x + first * b->step, b->rows, b->row_step, (T *)to->out + first * to->step, to->row_step);
            continue;
        }
#endif
        if (columns == 1) FN(scan_columns)(op, b, to, first, 1, b->step, to->step);
        else if (contiguous && columns == 2) FN(scan_columns)(op, b, to, first, 2, 1, 1);
        else if (contiguous && columns == 3) FN(scan_columns)(op, b, to, first, 3, 1, 1);
        else if (contiguous && columns == 4) FN(scan_columns)(op, b, to, first, 4, 1, 1);
        else if (contiguous) FN(scan_columns)(op, b, to, first, columns, 1, 1);
        else if (columns == 8) FN(scan_columns)(op, b, to, first, 8, b->step, to->step);
        else FN(scan_columns)(op, b, to, first, columns, b->step, to->step);
    }
}

static void FN(scan)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    switch (op) {
    case LAM__REDUCE_OP_SUM: FN(scan_of)(LAM__REDUCE_OP_SUM, b, to); return;
    case LAM__REDUCE_OP_PROD: FN(scan_of)(LAM__REDUCE_OP_PROD, b, to); return;
    case LAM__REDUCE_OP_MAX: FN(scan_of)(LAM__REDUCE_OP_MAX, b, to); return;
    case LAM__REDUCE_OP_MIN: FN(scan_of)(LAM__REDUCE_OP_MIN, b, to); return;
    }
}
