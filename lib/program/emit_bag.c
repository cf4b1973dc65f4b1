/* Programs as C, bags of rows: an index that lies outside is clipped. See emit_writer.h and lib/primitives/bag.c, whose
 * operands these are. */
#include "lib/program/emit_writer.h"

#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"

#define ARGUMENTS                                                                                                      \
    lam__emit *e, const lam__equation *q, const lam__emit_place *const in[], const lam__emit_place *const out[]

enum { INDEX = 2 }; /* its number among the operands */

/* Loops are called by number: batch and bags, terms, then items, and the row that an index names. In each list a name
 * for each axis of that operand: entries of indices and weights, rows of the table, sums of the bags. */
typedef struct bags {
    int batch, bags; /* axes of the indices: batch, and with the bags */
    int items;       /* axes */
    int64_t item_dims[LAM_INNER_RANK];
    int entries[LAM_INNER_RANK], rows[LAM_INNER_RANK], sums[LAM_INNER_RANK], item_names[LAM_INNER_RANK];
} bags;

/* Names along the axes of indices and weights, of a table [batch, rows, items...] and of sums [batch, bags...,
 * items...]. */
static bags bags_of(const lam__equation *q, const lam__emit_place *index, const lam__emit_place *table) {
    bags b = {.batch = ((const lam__bag_params *)q->params)->batch, .bags = index->rank - 1};
    b.items = table->rank - b.batch - 1;
    for (int i = 0; i < index->rank; i++) b.entries[i] = i;
    for (int i = 0; i < b.batch; i++) b.rows[i] = i;
    for (int i = 0; i < b.bags; i++) b.sums[i] = i;
    b.rows[b.batch] = index->rank + b.items;
    for (int i = 0; i < b.items; i++) {
        b.item_dims[i] = table->dims[b.batch + 1 + i];
        b.item_names[i] = b.rows[b.batch + 1 + i] = b.sums[b.bags + i] = index->rank + i;
    }
    return b;
}

/* The loops over all entries, in which the row that an entry names is known. An index below 0 counts from the end. The
 * variable that is the row has the name of a loop, so that lam__emit_at finds it as an index. */
static int open_entries(lam__emit *e, const bags *b, const lam__emit_place *index, int64_t rows) {
    char text[LAM__EMIT_TEXT];
    const int loops = lam__emit_loops(e, index->rank, index->dims, NULL), row = b->rows[b->batch];
    lam__emit_value(e, index, NULL, text);
    lam__emit_line(e, "int64_t i%d = %s;", row, text);
    lam__emit_line(e, "if (i%d < 0) i%d += %lld;", row, row, (long long)rows);
    lam__emit_line(e, "i%d = i%d < 0 ? 0 : i%d >= %lld ? %lld : i%d;", row, row, row, (long long)rows,
                   (long long)(rows ? rows - 1 : 0), row);
    return loops;
}

/* Sums begin at 0, those of empty bags stay there. Sums are added up where they lie, since one bag's entries need not
 * be the innermost loop. */
static void clear(lam__emit *e, const lam__emit_place *out) {
    char result[LAM__EMIT_TEXT];
    const int loops = lam__emit_loops(e, out->rank, out->dims, NULL);
    lam__emit_at(e, out, NULL, result);
    lam__emit_line(e, "%s = 0;", result);
    lam__emit_close(e, loops);
}

/* Weights times rows into sums (table, weights), or sums into rows (sums, weights). Where there is nothing to name or
 * nothing that could be named, only the zeros are written. */
static const char *spread(lam__emit *e, const lam__equation *q, const lam__emit_place *const in[],
                          const lam__emit_place *out, bool back) {
    const lam__emit_place *table = back ? out : in[0];
    const bags b = bags_of(q, in[INDEX], table);
    char x[LAM__EMIT_TEXT], w[LAM__EMIT_TEXT], result[LAM__EMIT_TEXT];
    clear(e, out);
    const lam__emit_sink sink = lam__emit_hush(e, table->count == 0 || in[INDEX]->count == 0);
    const int loops = open_entries(e, &b, in[INDEX], table->dims[b.batch]);
    const int items = lam__emit_loops(e, b.items, b.item_dims, b.item_names);
    lam__emit_value(e, in[0], back ? b.sums : b.rows, x);
    lam__emit_value(e, in[1], b.entries, w);
    lam__emit_at(e, out, back ? b.rows : b.sums, result);
    lam__emit_line(e, "%s += %s * %s;", result, w, x);
    lam__emit_close(e, loops + items);
    lam__emit_speak(e, sink);
    return NULL;
}

static const char *write_embedding_bag(ARGUMENTS) {
    return spread(e, q, in, out[0], false);
}

static const char *write_bag_spread(ARGUMENTS) {
    return spread(e, q, in, out[0], true);
}

/* Of each entry the product of the row that it names with that of its bag. The row is found before the loops over
 * items, once for each entry. */
static const char *write_bag_dots(ARGUMENTS) {
    const bags b = bags_of(q, in[INDEX], in[0]);
    char x[LAM__EMIT_TEXT], y[LAM__EMIT_TEXT], result[LAM__EMIT_TEXT];
    const int loops = open_entries(e, &b, in[INDEX], in[0]->dims[b.batch]);
    lam__emit_value(e, in[0], b.rows, x);
    lam__emit_value(e, in[1], b.sums, y);
    lam__emit_at(e, out[0], b.entries, result);
    lam__emit_line(e, "%s s = 0;", lam__emit_type(out[0]->dtype));
    const int items = lam__emit_loops(e, b.items, b.item_dims, b.item_names);
    lam__emit_line(e, "s += %s * %s;", x, y);
    lam__emit_close(e, items);
    lam__emit_line(e, "%s = s;", result);
    lam__emit_close(e, loops);
    return NULL;
}

const lam__emit_row lam__emit_bags[] = {
    {&lam__row_embedding_bag, write_embedding_bag},
    {&lam__row_bag_spread, write_bag_spread},
    {&lam__row_bag_dots, write_bag_dots},
    {NULL, NULL},
};
