/* The text of native parts: see native.h. Steps are statements on local variables, in functions of some hundred
 * statements, so that the compiler's work grows with their number only; what one function makes and a later one reads
 * goes through the register's place in memory. Steps that come again and again are a loop, with variables for what it
 * remembers of the times before; where it remembers nothing, as a loop over rows of a grid does, lanes are walked
 * within it, along the memory. The words that steps are made of are in native_words.c. Expressions are those of the
 * steps (lib/kernels/simd/elements.h), compiled without liberties, so bits are the same.
 * KEEP IN STEP: native-steps */
#include "lib/program/native_text.h"

#include "lib/kernels/places.h"

#include <string.h>

enum { NAME = 80 };    /* bytes of what an operand is called */
enum { UNROLLED = 8 }; /* steps of loops that are shorter, as those that store zeros are */

typedef struct writer {
    FILE *file;
    lam__native_source *s;
    const lam__native_loop *loop;       /* that is being written; NULL: none */
    uint8_t depth[LAM__NATIVE_PERIOD];  /* of each of its steps: how many times before are remembered */
    bool in_table;                      /* where memory begins stands in a table (NOTE [rows] in native_rows.c) */
    int32_t column[LAM__NATIVE_PERIOD]; /* of each step, in that table */
} writer;

/* A type of so many bytes. */
static const char *type_of(int bytes) {
    return bytes == 8 ? "f64" : bytes == 4 ? "f32" : "word";
}

/* Whether a step says of lanes whether they are in [*from, *to). */
static bool is_within(const lam__lane_step *s, int64_t *from, int64_t *to) {
    const lam__lane_line *line = s->op == LAM__LANE_LINE ? s->as.call.params : NULL;
    for (int k = 0; line && k < line->count; k++) {
        if (line->runs[k].data != LAM__LANE_TRUE) continue;
        *from = k ? line->runs[k - 1].end : 0;
        *to = line->runs[k].end;
        return true;
    }
    return false;
}

/* Whether a step's operand k, or what it makes, is a mask. */
static bool is_mask(const lam__lane_step *s, int k) {
    int64_t from, to;
    const bool compares = s->op >= LAM__LANE_eq_f64 && s->op <= LAM__LANE_ge_f32;
    const bool chooses = s->op == LAM__LANE_where_f64 || s->op == LAM__LANE_where_f32;
    const bool logic = s->op >= LAM__LANE_AND && s->op < LAM__LANE_ARITHMETIC;
    return logic || (compares && k == 0) || (chooses && k == 1) || is_within(s, &from, &to);
}

/* Of a register's element. Arithmetic has its type in its number, f64 and f32 in turns; other steps say it. */
static int bytes_of(const lam__lane_step *s, int k) {
    if (is_mask(s, k)) return 1;
    return s->op <= LAM__LANE_ARITHMETIC ? s->item[0] : (s->op - LAM__LANE_ARITHMETIC - 1) % 2 ? 4 : 8;
}

/* Masks are bools in memory and where they are moved. A mask is all bits or none, a bool 1 or 0: minus one is the
 * other, and one bit of it is the bool. */
static const char *form_of(bool wants_mask, bool is) {
    return wants_mask == is ? "%s" : wants_mask ? "(-%s)" : "(%s & 1)";
}

/* Where in a loop's text a step is, and how many times before. */
static int64_t place_in(const lam__native_loop *l, int64_t reader, int64_t by, int *before) {
    const int64_t place = reader - l->first, at = by - l->first;
    *before = 0;
    for (int64_t k = at; k < 0; k += l->period) ++*before;
    return place < l->period ? at + *before * l->period : at;
}

/* Where register k of a step of the loop's first time is, each time: a number, a number for the first time and how
 * much it goes on by, or an entry of a table. Says whether it is the last. */
static bool locate(const writer *w, int64_t i, int k, char text[48]) {
    const lam__lane_step *s = &w->s->steps[i];
    const lam__native_loop *l = w->loop;
    const int64_t at = s->at[k], by = l->times > 1 ? (int64_t)s[l->period].at[k] - at : 0;
    const bool even = lam__native_even(w->s, l, i, k);
    if (!even) snprintf(text, 48, "q%lld_%d[j]", (long long)i, k);
    else if (by) snprintf(text, 48, "%lld + j * %lld", (long long)at, (long long)by);
    else snprintf(text, 48, "%lld", (long long)at);
    return !even;
}

/* The same register each time: it is read once, before the loop. */
static bool is_fixed(const writer *w, int64_t i, int k) {
    char text[48];
    if (w->loop->times == 1) return true;
    return !locate(w, i, k, text) && w->s->steps[i].at[k] == w->s->steps[i + w->loop->period].at[k];
}

/* Of a register that goes on unevenly, where it is each time. */
static void write_table(const writer *w, int64_t i, int k) {
    const lam__native_loop *l = w->loop;
    char text[48];
    if (!locate(w, i, k, text)) return;
    fprintf(w->file, "static const uint32_t q%lld_%d[] = {", (long long)i, k);
    for (int64_t t = 0; t < l->times; t++) fprintf(w->file, "%u,", (unsigned)w->s->steps[i + t * l->period].at[k]);
    fputs("};\n", w->file);
}

/* A line that reads a register, where this piece has not done so. */
static void read_register(const writer *w, int64_t i, int k) {
    const lam__lane_step *s = &w->s->steps[i];
    const uint32_t at = s->at[k];
    if (w->s->seen[at / 8] == w->s->piece[i]) return;
    w->s->seen[at / 8] = w->s->piece[i];
    const char *type = type_of(bytes_of(s, k));
    fprintf(w->file, "const %s r%u = %s(%s, %u);\n", type, (unsigned)at, s->same >> k & 1u ? "SAME" : "AT", type,
            (unsigned)at);
}

/* What an operand is called in a loop. What the loop itself makes is a variable, of this time or of one before; all
 * else is read where it lies. */
static void name_in_loop(const writer *w, int64_t i, int k, char name[NAME]) {
    const lam__lane_step *s = &w->s->steps[i];
    const lam__native_loop *l = w->loop;
    const bool mask = is_mask(s, k);
    char own[64];
    if (!lam__native_carried(w->s, l, i, k)) {
        char where[48];
        locate(w, i, k, where);
        if (is_fixed(w, i, k)) snprintf(own, sizeof own, "r%u", (unsigned)s->at[k]);
        else snprintf(own, sizeof own, "%s(%s, %s)", s->same >> k & 1u ? "SAME" : "AT", type_of(bytes_of(s, k)), where);
        snprintf(name, NAME, form_of(mask, false), own);
        return;
    }
    int before;
    const int64_t at = place_in(l, i, w->s->from[3 * i + k - 1], &before);
    if (before) snprintf(own, sizeof own, "t%lld_%d", (long long)(l->first + at), before);
    else snprintf(own, sizeof own, "t%lld", (long long)(l->first + at));
    snprintf(name, NAME, form_of(mask, is_mask(&w->s->steps[l->first + at], 0)), own);
}

/* Writes what an operand is called; before that, where this piece has not seen it, a line that reads it. */
static void name_operand(const writer *w, int64_t i, int k, char name[NAME]) {
    const lam__native_source *s = w->s;
    const int32_t by = s->from[3 * i + k - 1];
    char own[24];
    if (w->loop) {
        name_in_loop(w, i, k, name);
        return;
    }
    const bool here = by >= 0 && s->piece[by] == s->piece[i];
    if (here) snprintf(own, sizeof own, "t%lld", (long long)by);
    else snprintf(own, sizeof own, "r%u", (unsigned)s->steps[i].at[k]);
    snprintf(name, NAME, form_of(is_mask(&s->steps[i], k), here && is_mask(&s->steps[by], 0)), own);
    if (!here) read_register(w, i, k);
}

/* %1 to %3 are the operands. */
static void write_expression(FILE *file, const char *text, char names[4][NAME]) {
    for (; *text; text++)
        if (*text == '%') fputs(names[*++text - '0'], file);
        else fputc(*text, file);
}

/* Where the memory of a step begins: of a line, of each of its runs. How many there are. */
static int bases_of(const lam__lane_step *s, int64_t bases[LAM__LANE_RUNS]) {
    const lam__lane_line *line = s->op == LAM__LANE_LINE ? s->as.call.params : NULL;
    int64_t from, to;
    if (is_within(s, &from, &to)) return 0;
    if (!line && s->op != LAM__LANE_LOAD && s->op != LAM__LANE_STORE) return 0;
    if (!line) bases[0] = s->as.move.base;
    for (int k = 0; line && k < line->count; k++) bases[k] = line->runs[k].base;
    return line ? (int)line->count : 1;
}

/* And by how much each goes on from one time of the loop to the next. Of one time nothing goes on. */
static int goings_on(const lam__native_source *s, const lam__native_loop *l, int64_t i, int64_t bases[LAM__LANE_RUNS],
                     int64_t by[LAM__LANE_RUNS]) {
    const int count = bases_of(&s->steps[i], bases);
    for (int k = 0; k < count; k++) by[k] = 0;
    if (!l || l->times < 2) return count;
    bases_of(&s->steps[i + l->period], by);
    for (int k = 0; k < count; k++) by[k] -= bases[k];
    return count;
}

/* Memory k of a step begins at this element. */
static void write_base(const writer *w, int64_t i, int k) {
    int64_t bases[LAM__LANE_RUNS], by[LAM__LANE_RUNS];
    goings_on(w->s, w->loop, i, bases, by);
    if (w->in_table) {
        const int column = w->column[i - w->loop->first] + 2 * k;
        const long long piece = w->s->piece[w->loop->first];
        fprintf(w->file, "rows_%lld[r][%d] + j * rows_%lld[r][%d]", piece, column, piece, column + 1);
        return;
    }
    fprintf(w->file, "%lld", (long long)bases[k]);
    if (by[k]) fprintf(w->file, " + j * %lld", (long long)by[k]);
}

/* The arguments of what moves elements of the data with this number. Short blocks have no near form, since a whole
 * vector would reach beyond them. */
static void write_place(const writer *w, int64_t i, const char *verb, const char *type, uint32_t data) {
    const lam__lane_step *s = &w->s->steps[i];
    const bool near = w->s->lanes >= LAM__LANE_GROUP && s->as.move.step == 1;
    fprintf(w->file, "%s%s(%s, %u, ", verb, near ? "_NEAR" : "", type, (unsigned)data);
    write_base(w, i, 0);
    fprintf(w->file, ", %lld", (long long)s->as.move.step);
}

/* LINE(type, each run: its data, the element of lane 0, step, how many there are, end), or WITHIN(lanes from, to). */
static void write_line(const writer *w, int64_t i, const char *type) {
    const lam__lane_line *line = w->s->steps[i].as.call.params;
    int64_t from, to;
    if (is_within(&w->s->steps[i], &from, &to)) {
        fprintf(w->file, "WITHIN(%lld, %lld", (long long)from, (long long)to);
        return;
    }
    fprintf(w->file, "LINE(%s", type);
    for (int k = 0; k < LAM__LANE_RUNS; k++) {
        const long long end = k < line->count ? (long long)line->runs[k].end : -1;
        if (k >= line->count || line->runs[k].data < 0) {
            fprintf(w->file, ", NULL, 0, 0, -1, %lld", end);
            continue;
        }
        fprintf(w->file, ", (const part_%s *)d[%lld], ", type, (long long)line->runs[k].data);
        write_base(w, i, k);
        fprintf(w->file, ", %lld, %lld, %lld", (long long)line->runs[k].step, (long long)line->runs[k].count, end);
    }
}

/* What a step makes goes to its register. */
static void write_set(const writer *w, int64_t i, const char *name) {
    const lam__lane_step *s = &w->s->steps[i];
    fprintf(w->file, is_mask(s, 0) ? "SET(%s, %u, (%s & 1))\n" : "SET(%s, %u, %s)\n", type_of(bytes_of(s, 0)),
            (unsigned)s->at[0], name);
}

/* The same where the register may be another one each time. */
static void write_set_in_loop(const writer *w, int64_t i) {
    const lam__lane_step *s = &w->s->steps[i];
    char where[48];
    locate(w, i, 0, where);
    fprintf(w->file, is_mask(s, 0) ? "SET(%s, %s, (t%lld & 1))\n" : "SET(%s, %s, t%lld)\n", type_of(bytes_of(s, 0)),
            where, (long long)i);
}

/* What the function reads itself is a C variable; what another piece reads goes to memory as well. */
static void write_step(const writer *w, int64_t i) {
    const lam__lane_step *s = &w->s->steps[i];
    const char *type = type_of(bytes_of(s, s->op == LAM__LANE_STORE ? 1 : 0));
    char names[4][NAME];
    int first, last, made;
    lam__native_operands(s, &first, &last, &made);
    for (int k = first; k <= last; k++) name_operand(w, i, k, names[k]);
    if (s->op == LAM__LANE_STORE) {
        const bool all = !lam__native_stores_some(w->s, i);
        write_place(w, i, all ? "INTO" : "INTO_SOME", type, s->at[0]);
        if (!all) fprintf(w->file, ", %lld", (long long)s->as.move.end);
        fprintf(w->file, ", %s)\n", names[1]);
        return;
    }
    fprintf(w->file, "const %s t%lld = ", type, (long long)i);
    if (s->op == LAM__LANE_LOAD) {
        write_place(w, i, "FROM", type, s->at[1]);
        fputc(')', w->file);
    } else if (s->op == LAM__LANE_LINE) {
        write_line(w, i, type);
        fputc(')', w->file);
    } else {
        write_expression(w->file, lam__native_expression(s), names);
    }
    fputs(";\n", w->file);
    const int32_t reader = w->s->last[i];
    if (w->loop) {
        if (lam__native_sets(w->s, w->loop, i)) write_set_in_loop(w, i);
    } else if (reader >= 0 && w->s->piece[reader] != w->s->piece[i]) {
        snprintf(names[0], sizeof names[0], "t%lld", (long long)i);
        write_set(w, i, names[0]);
    }
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

/* Where an operand of the loop's first or second time was made before the loop, the variable that remembers it. */
static void write_remembered(writer *w, int64_t i, int k, int time) {
    const lam__native_loop *l = w->loop;
    const lam__lane_step *s = &w->s->steps[i + time * l->period];
    int before;
    if (!lam__native_carried(w->s, l, i, k)) return;
    const int64_t at = place_in(l, i, w->s->from[3 * i + k - 1], &before);
    if (before - time < 1) return;
    const bool mask = is_mask(&w->s->steps[l->first + at], 0);
    const char *type = type_of(bytes_of(s, k));
    if (before > w->depth[at]) w->depth[at] = (uint8_t)before;
    char own[40];
    snprintf(own, sizeof own, "AT(%s, %u)", type, (unsigned)s->at[k]);
    fprintf(w->file, "t%lld_%d = ", (long long)(l->first + at), before - time);
    fprintf(w->file, form_of(mask, false), own);
    fputs(";\n", w->file);
}

/* Whether what a step makes the last time, or the last but one, is to be set behind the loop. Those that go to memory
 * each time (lam__native_sets) are there already. */
static bool is_needed_behind(const writer *w, int64_t i, int time) {
    const lam__native_loop *l = w->loop;
    if (lam__native_sets(w->s, l, i)) return false;
    return w->s->last[i + (l->times - time) * l->period] >= l->first + l->times * l->period;
}

/* Which times before are read, and which are needed behind the loop. */
static void find_depths(writer *w) {
    const lam__native_loop *l = w->loop;
    memset(w->depth, 0, sizeof w->depth);
    for (int64_t i = l->first; i < l->first + l->period; i++) {
        int first, last, made, before;
        lam__native_operands(&w->s->steps[i], &first, &last, &made);
        for (int k = first; k <= last; k++) {
            if (!lam__native_carried(w->s, l, i, k)) continue;
            const int64_t at = place_in(l, i, w->s->from[3 * i + k - 1], &before);
            if (before > w->depth[at]) w->depth[at] = (uint8_t)before;
        }
        for (int time = 1; time <= 2 && time <= l->times; time++)
            if (is_needed_behind(w, i, time) && w->depth[i - l->first] < time) w->depth[i - l->first] = (uint8_t)time;
    }
}

/* What stands before a loop: the variables that remember times before, with what the registers hold of those; tables;
 * registers that do not change. */
static void write_before(writer *w) {
    const lam__native_loop *l = w->loop;
    for (int64_t at = 0; at < l->period; at++)
        for (int before = 1; before <= w->depth[at]; before++)
            fprintf(w->file, "%s t%lld_%d = {0};\n", type_of(bytes_of(&w->s->steps[l->first + at], 0)),
                    (long long)(l->first + at), before);
    for (int64_t i = l->first; i < l->first + l->period; i++) {
        int first, last, made;
        lam__native_operands(&w->s->steps[i], &first, &last, &made);
        for (int k = first; k <= last; k++) {
            if (!lam__native_carried(w->s, l, i, k)) {
                write_table(w, i, k);
                if (is_fixed(w, i, k)) read_register(w, i, k);
            }
            for (int time = 0; time < 2; time++) write_remembered(w, i, k, time);
        }
        if (made && lam__native_sets(w->s, l, i)) write_table(w, i, 0);
    }
}

/* A value that later rounds read is handed on from round to round, in variables for the last one and the one before.
 * Behind the loop what others read of the last two rounds goes to memory. This is x = r x (1 - x), a
 * hundred times, of which the first lies before the loop; r0 and r80, read there too, are the registers of 1 and r:
 *     t7_1 = AT(f64, 64);
 *     for (int64_t j = 0; j < 99; j++) {
 *         const f64 t5 = r0 - t7_1;
 *         const f64 t6 = r80 * t7_1;
 *         const f64 t7 = t5 * t6;
 *         t7_1 = t7;
 *     }
 *     SET(f64, 64, t7_1) */
static void write_loop(writer *w) {
    const lam__native_loop *l = w->loop;
    write_before(w);
    if (l->period <= UNROLLED / 2) fprintf(w->file, "#pragma GCC unroll %d\n", (int)(UNROLLED / l->period));
    fprintf(w->file, "for (int64_t j = 0; j < %lld; j++) {\n", (long long)l->times);
    for (int64_t i = l->first; i < l->first + l->period; i++) write_step(w, i);
    for (int64_t at = 0; at < l->period; at++) {
        const long long step = (long long)(l->first + at);
        if (w->depth[at] > 1) fprintf(w->file, "t%lld_2 = t%lld_1;\n", step, step);
        if (w->depth[at]) fprintf(w->file, "t%lld_1 = t%lld;\n", step, step);
    }
    fputs("}\n", w->file);
    for (int64_t i = l->first; i < l->first + l->period; i++)
        for (int time = 1; time <= 2 && time <= l->times; time++) {
            const int64_t made = i + (l->times - time) * l->period;
            char name[NAME];
            snprintf(name, sizeof name, "t%lld_%d", (long long)i, time);
            if (is_needed_behind(w, i, time)) write_set(w, made, name);
        }
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* Whether the times of a loop have nothing to do with each other, as rows of a grid have not, and leave nothing. */
static bool is_map(const writer *w) {
    const lam__native_loop *l = w->loop;
    for (int64_t i = l->first; i < l->first + l->period; i++) {
        int first, last, made;
        lam__native_operands(&w->s->steps[i], &first, &last, &made);
        if (w->depth[i - l->first] || (made && lam__native_sets(w->s, l, i))) return false;
    }
    return true;
}

/* A row of the table: how many times a loop runs, and of each memory where it begins and by how much it goes on. */
static void write_table_row(const writer *w, const lam__native_loop *l) {
    fprintf(w->file, "{%lld", (long long)l->times);
    for (int64_t i = l->first; i < l->first + l->period; i++) {
        int64_t bases[LAM__LANE_RUNS], by[LAM__LANE_RUNS];
        const int count = goings_on(w->s, l, i, bases, by);
        for (int k = 0; k < count; k++) fprintf(w->file, ", %lld, %lld", (long long)bases[k], (long long)by[k]);
    }
    fputs("},\n", w->file);
}

/* The table of all loops that are written with this one, and its columns; how many they are. Where there is no other
 * one, there is no table. */
static int64_t write_rows_table(writer *w) {
    const lam__native_source *s = w->s;
    const lam__native_loop *l = w->loop, *const last = s->loops + s->loop_count;
    int64_t loops = 0;
    int columns = 1;
    for (const lam__native_loop *m = l; m < last; m++) loops += m->head == l->head;
    w->in_table = loops > 1;
    if (!w->in_table) return 1;
    for (int64_t i = 0; i < l->period; i++) {
        int64_t bases[LAM__LANE_RUNS];
        w->column[i] = columns;
        columns += 2 * bases_of(&s->steps[l->first + i], bases);
    }
    fprintf(w->file, "static const int64_t rows_%lld[%lld][%d] = {\n", (long long)s->piece[l->first], (long long)loops,
            columns);
    for (const lam__native_loop *m = l; m < last; m++)
        if (m->head == l->head) write_table_row(w, m);
    fputs("};\n", w->file);
    return loops;
}

/* What a piece, the steps from i to end, does with a block of lanes; of a map, of one time. Says what was odd. */
static void write_block(writer *w, int64_t piece, int64_t i, int64_t end, bool map) {
    fprintf(w->file,
            "F word block_%lld(char *restrict m, void *const *restrict d, int64_t first, int64_t i, int64_t j,\n"
            "    int64_t r, int inside) {\nword odd = {0};\n",
            (long long)piece);
    if (map) write_before(w);
    if (w->loop && !map) write_loop(w);
    else
        for (; i < end; i++) write_step(w, i);
    fputs("return odd;\n}\n", w->file);
}

/* The function of a piece: block by block, of a map time by time through all of them. */
static void write_piece(writer *w, int64_t piece, int64_t i, int64_t end) {
    const lam__native_loop *l = w->loop;
    int64_t from, to;
    if (l) find_depths(w);
    const bool map = l && w->s->lanes > 1 && is_map(w);
    if (l) end = i + l->period;
    const int64_t loops = map ? write_rows_table(w) : 1;
    write_block(w, piece, i, end, map);
    fprintf(w->file, "int lamina_%lld(char *restrict m, void *const *restrict d, int64_t first, int64_t lanes) {\n",
            (long long)piece);
    fputs("word odd = {0};\nconst int64_t j = 0, r = 0;\n", w->file);
    if (w->in_table)
        fprintf(w->file, "for (int64_t r = 0; r < %lld; r++)\nfor (int64_t j = 0; j < rows_%lld[r][0]; j++)\n",
                (long long)loops, (long long)piece);
    else if (map) fprintf(w->file, "for (int64_t j = 0; j < %lld; j++)\n", (long long)l->times);
    if (lam__native_borders(w->s, i, end, &from, &to))
        fprintf(w->file, "BETWEEN(%lld, %lld, block_%lld)\n", (long long)from, (long long)to, (long long)piece);
    else fprintf(w->file, "FOR_LANES odd |= block_%lld(m, d, first, i, j, r, 0);\n", (long long)piece);
    fputs("return any(odd);\n}\n", w->file);
    w->in_table = false;
}

/* A function for each piece that is no run of steps. Loops come in their order; those that are written with another one
 * are passed over. */
static void write_functions(writer *w) {
    const lam__native_source *s = w->s;
    const lam__native_loop *l = s->loops, *const last = l + s->loop_count;
    for (int64_t i = 0, next; i < s->count; i = next) {
        w->loop = l < last && l->first == i ? l++ : NULL;
        const bool written = w->loop ? w->loop->head == w->loop - s->loops : !s->is_run[i];
        next = i + (w->loop ? w->loop->period * w->loop->times : 1);
        while (!w->loop && next < s->count && s->piece[next] == s->piece[i]) next++;
        if (written) write_piece(w, s->piece[i], i, next);
    }
}

void lam__native_write(FILE *file, lam__native_source *s) {
    writer w = {.file = file, .s = s};
    bool lines = false;
    for (int64_t i = 0; i < s->count; i++)
        lines = lines || s->steps[i].op == LAM__LANE_LINE || lam__native_stores_some(s, i);
    lam__native_write_words(file, s->lanes, lines);
    write_functions(&w);
}
