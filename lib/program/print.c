/* Programs as text, written: NOTE [text] in text.h is the language. The equations are walked three times: constants are
 * gathered, then numbered and written, since they stand on top, then the equations are written. */
#include "lib/program/function.h"
#include "lib/program/layout.h"
#include "lib/program/nested.h"
#include "lib/program/number.h"
#include "lib/program/quoted.h"
#include "lib/program/text.h"

#include <lamina/tensor.h>

#include "lib/tensor/dtype.h"
#include "lib/tensor/print.h"

#include <stdlib.h>
#include <string.h>

/* number: of the constant, in the order of reading; -1: not met yet. */
typedef struct name {
    const lam_value *value;
    int64_t number;
} name;

/* variable: by number in the program, that in the text. constants: sorted by address. */
typedef struct printer {
    FILE *file;
    const lam__program *p;
    int64_t *variable;
    name *constants;
    int64_t count;
    int depth; /* programs around it */
} printer;

enum { INDENT = 4 };

static void print_within(FILE *file, const lam__program *p, const char *title, int depth);

/* Begins a line, `steps` further in than the program. A program within begins two steps in from the one around it: the
 * equation is one step in, its programs one more. */
static void begin_line(const printer *pr, int steps) {
    fprintf(pr->file, "%*s", INDENT * (2 * pr->depth + steps), "");
}

/* ---- constants --------------------------------------------------------------------------------------------------- */

/* A number stands where it is read. A value of an open level has no elements to show. */
static bool is_inline(const lam_value *v) {
    return v->kind == LAM__CONCRETE && v->rank == 0;
}

/* Any order would do for bsearch; numbers are given by reading, so the text does not depend on addresses. */
static int by_address(const void *a, const void *b) {
    const uintptr_t x = (uintptr_t)((const name *)a)->value, y = (uintptr_t)((const name *)b)->value;
    return (x > y) - (x < y);
}

/* Constants are one where they are one value, not where they are equal. A constant that is met in the second walk was
 * gathered in the first one, so it is found. */
static name *find(const printer *pr, const lam_value *v) {
    const name key = {v, 0};
    return bsearch(&key, pr->constants, (size_t)pr->count, sizeof key, by_address);
}

/* Takes part in the first walk of the text; `by_address` sorts what it has gathered, the same value as often as it is
 * read. */
static void add(printer *pr, const lam__atom *a, int64_t *next) {
    (void)next;
    if (a->constant && !is_inline(a->constant)) pr->constants[pr->count++] = (name){a->constant, -1};
}

/* The place of the next element, row-major; index[]: all 0 at first, as again behind the last one. */
static void step(const lam_value *v, int64_t index[], int64_t *at) {
    for (int axis = v->rank - 1; axis >= 0; axis--) {
        *at += v->strides[axis];
        if (++index[axis] < v->dims[axis]) return;
        *at -= v->strides[axis] * v->dims[axis];
        index[axis] = 0;
    }
}

static const char *element_at(const lam_value *v, int64_t at) {
    return (const char *)v->data + at * (int64_t)lam__dtype_bytes(v->dtype);
}

/* Whether one element in memory is shown in all places, which are more than one. */
static bool is_spread(const lam_value *v) {
    for (int axis = 0; axis < v->rank; axis++)
        if (v->dims[axis] > 1 && v->strides[axis]) return false;
    return v->count > 1;
}

/* Whether all elements, which are more than one, have the text of the first. That of NaNs does not say their bits.
 * Bytes are compared first, since making texts takes long. */
static bool all_same(const lam_value *v, const char *first) {
    const size_t bytes = lam__dtype_bytes(v->dtype);
    int64_t index[LAM_INNER_RANK] = {0}, at = 0;
    char text[LAM__NUMBER_TEXT];
    for (int64_t i = 0; i < v->count; i++, step(v, index, &at)) {
        if (!memcmp(element_at(v, at), v->data, bytes)) continue;
        lam__number_print(text, (lam_dtype)v->dtype, element_at(v, at));
        if (strcmp(text, first) != 0) return false;
    }
    return v->count > 1;
}

/* Elements in row-major order, or one that stands for all. Of a value without elements the list is empty, whatever its
 * dims. */
static void print_elements(FILE *file, const lam_value *v) {
    int64_t index[LAM_INNER_RANK] = {0}, at = 0;
    char text[LAM__NUMBER_TEXT] = "";
    if (v->count) lam__number_print(text, (lam_dtype)v->dtype, v->data);
    const bool spread = is_spread(v);
    if (spread || all_same(v, text)) {
        fprintf(file, "%s %s", spread ? "spread" : "all", text);
        return;
    }
    fputc('[', file);
    for (int64_t i = 0; i < v->count; i++, step(v, index, &at)) {
        lam__number_print(text, (lam_dtype)v->dtype, element_at(v, at));
        fprintf(file, "%s%s", i ? ", " : "", text);
    }
    fputc(']', file);
}

/* A value of an open level is shown as a message shows it, and cannot be read back. */
static void print_constant(const printer *pr, const lam_value *v, int64_t number) {
    begin_line(pr, 1);
    fprintf(pr->file, "c%lld: ", (long long)number);
    lam__print_type(pr->file, v);
    fputs(" = ", pr->file);
    if (v->kind == LAM__CONCRETE) {
        print_elements(pr->file, v);
    } else {
        fputs("opaque ", pr->file);
        lam__print_brief(pr->file, v);
    }
    fputc('\n', pr->file);
}

/* Numbers constants as they are met, and prints them. Of equal names in the list `find` gives one, always the same. */
static void meet(printer *pr, const lam__atom *a, int64_t *next) {
    if (!a->constant || is_inline(a->constant)) return;
    name *n = find(pr, a->constant);
    if (n->number >= 0) return;
    n->number = (*next)++;
    print_constant(pr, a->constant, n->number);
}

/* ---- equations --------------------------------------------------------------------------------------------------- */

/* A variable, a dash for what is left out, a number with its dtype, or the name of a constant that stands on top. */
static void print_atom(const printer *pr, const lam__atom *a) {
    if (a->variable >= 0) {
        fprintf(pr->file, "v%lld", (long long)pr->variable[a->variable]);
    } else if (!a->constant) {
        fputc('-', pr->file);
    } else if (is_inline(a->constant)) {
        char text[LAM__NUMBER_TEXT];
        lam__number_print(text, (lam_dtype)a->constant->dtype, a->constant->data);
        fprintf(pr->file, "%s:%s", text, lam_dtype_name((lam_dtype)a->constant->dtype));
    } else {
        fprintf(pr->file, "c%lld", (long long)find(pr, a->constant)->number);
    }
}

/* Member i of a parameter by its kind (`layout` of lam_primitive), as read_element in read.c takes it. Texts of
 * parameters end with a 0, as the layout's room for them allows. */
static void print_element(FILE *file, const lam__parameter *q, const void *params, int64_t i) {
    char text[LAM__NUMBER_TEXT];
    const char *at = (const char *)params + q->at + (size_t)i * q->step;
    switch (q->kind) {
    case 'd':
        lam__number_print(text, LAM_F64, at);
        fputs(text, file);
        break;
    case 's': lam__quoted_print(file, at); break;
    case 'b': fputs(*(const bool *)at ? "true" : "false", file); break;
    case 'T': fputs(lam_dtype_name((lam_dtype)lam__layout_integer(q, params, i)), file); break;
    case 'A': {
        const uint32_t set = (uint32_t)lam__layout_integer(q, params, i);
        const char *comma = "";
        fputc('[', file);
        for (int axis = 0; axis < 32; axis++) {
            if (!(set >> axis & 1)) continue;
            fprintf(file, "%s%d", comma, axis);
            comma = ", ";
        }
        fputc(']', file);
        break;
    }
    default: fprintf(file, "%lld", (long long)lam__layout_integer(q, params, i));
    }
}

/* ` name=value, name=[values]`. Counts that lists tell by their length are hidden. A row that says nothing of its
 * parameters cannot be read back; the word says so where one looks. */
static void print_params(FILE *file, const lam__equation *e) {
    lam__layout l;
    lam__parameter q;
    const char *before = " ";
    if (!e->params_bytes || (!e->primitive->layout && lam__nested_of(e))) return;
    if (!lam__layout_open(&l, e->primitive)) {
        fputs(" opaque", file);
        return;
    }
    while (lam__layout_next(&l, e->params, &q)) {
        if (q.hidden) continue;
        fprintf(file, "%s%.*s=%s", before, q.length, q.name, q.list ? "[" : "");
        for (int64_t i = 0; i < q.count; i++) {
            if (i) fputs(", ", file);
            print_element(file, &q, e->params, i);
        }
        if (q.list) fputc(']', file);
        before = ", ";
    }
}

/* The programs in an equation, behind its parameters. Each is a program as any other, with numbers of its own from
 * 0. */
static void print_nested(const printer *pr, const lam__equation *e) {
    const lam__nested *what = lam__nested_of(e);
    if (!what) return;
    fputs(" {\n", pr->file);
    for (int i = 0; i < what->count; i++)
        print_within(pr->file, lam__program_of(what->fns[i]), what->fns[i]->name, pr->depth + 1);
    begin_line(pr, 1);
    fputc('}', pr->file);
}

/* Results get the next names in the order of the text. What nobody reads has none, so that a text stays the same when
 * it is read and printed again; what is left out is a dash. */
static void print_equation(const printer *pr, const lam__equation *e, int64_t k, int64_t *next) {
    begin_line(pr, 1);
    for (int o = 0; o < e->outputs; o++) {
        const int64_t v = e->first + o;
        /* A variable that nobody reads has its own equation as its last use (lam__program_finish). */
        const bool read = pr->p->last_use[v] > k;
        if (o) fputs(", ", pr->file);
        if (!pr->p->types[v]) {
            fputc('-', pr->file);
            continue;
        }
        if (read) fprintf(pr->file, "v%lld: ", (long long)(pr->variable[v] = (*next)++));
        else fputs("_: ", pr->file);
        lam__print_type(pr->file, pr->p->types[v]);
    }
    fprintf(pr->file, " = %s(", e->primitive->name);
    for (int i = 0; i < e->inputs; i++) {
        if (i) fputs(", ", pr->file);
        print_atom(pr, &e->in[i]);
    }
    fputc(')', pr->file);
    print_params(pr->file, e);
    print_nested(pr, e);
    fputc('\n', pr->file);
}

/* `to` each atom that is read, in the order of the text. */
static void each_atom(printer *pr, void to(printer *pr, const lam__atom *a, int64_t *next)) {
    const lam__program *p = pr->p;
    int64_t next = 0;
    for (int64_t k = 0; k < p->equations; k++)
        for (int i = 0; i < p->list[k]->inputs; i++) to(pr, &p->list[k]->in[i], &next);
    for (int o = 0; o < p->outputs; o++) to(pr, &p->results[o], &next);
}

/* Whether a name is a word of the language; one that is not stands in quotes. Letters are listed, since isalpha depends
 * on the locale and a text must not. */
static bool is_word(const char *text) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return *text && !(*text >= '0' && *text <= '9') && strspn(text, letters) == strlen(text);
}

/* Inputs have the first numbers, read or not: they are what is passed. An input keeps its number of the program, so
 * equations begin at the number of inputs. */
static void print_head(const printer *pr, const char *title) {
    const lam__program *p = pr->p;
    begin_line(pr, 0);
    fputs("program ", pr->file);
    if (is_word(title)) fputs(title, pr->file);
    else lam__quoted_print(pr->file, title);
    fputc('(', pr->file);
    for (int i = 0; i < p->inputs; i++) {
        fprintf(pr->file, "%sv%d: ", i ? ", " : "", i);
        lam__print_type(pr->file, p->types[i]);
        pr->variable[i] = i;
    }
    fputs(") {\n", pr->file);
}

/* The last line of the body, and the brace that closes it. */
static void print_return(const printer *pr) {
    begin_line(pr, 1);
    fputs("return", pr->file);
    for (int o = 0; o < pr->p->outputs; o++) {
        fputs(o ? ", " : " ", pr->file);
        print_atom(pr, &pr->p->results[o]);
    }
    fputc('\n', pr->file);
    begin_line(pr, 0);
    fputs("}\n", pr->file);
}

/* Constants are numbered as the text meets them, for which it is walked before it is written: they stand on top, and
 * `add` and `meet` find those that are one value. A name for each time that a constant is read is too many, but needs
 * no table that grows. */
static void print_all(printer *pr, const char *title) {
    const lam__program *p = pr->p;
    int64_t next = p->inputs;
    each_atom(pr, add);
    if (pr->count) qsort(pr->constants, (size_t)pr->count, sizeof *pr->constants, by_address);
    print_head(pr, title);
    each_atom(pr, meet);
    for (int64_t k = 0; k < p->equations; k++) print_equation(pr, p->list[k], k, &next);
    print_return(pr);
}

/* One block: a name for each atom that there is at most, then numbers of variables. Without memory nothing of this
 * program is written; the record of it is what lam_program_print returns. */
static void print_within(FILE *file, const lam__program *p, const char *title, int depth) {
    int64_t atoms = p->outputs;
    for (int64_t k = 0; k < p->equations; k++) atoms += p->list[k]->inputs;
    const size_t bytes = (size_t)p->variables * sizeof(int64_t) + (size_t)(atoms + 1) * sizeof(name);
    name *room = lam__alloc_get(&p->ctx->pool, bytes);
    if (!room) {
        lam__error_memory(p->ctx, bytes);
        return;
    }
    printer pr = {
        .file = file, .p = p, .variable = (int64_t *)(void *)(room + atoms + 1), .constants = room, .depth = depth};
    print_all(&pr, title);
    lam__alloc_put(&p->ctx->pool, room, bytes);
}

void lam__program_print(FILE *file, const lam__program *p, const char *title) {
    print_within(file, p, title, 0);
}
