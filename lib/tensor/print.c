/* Printing: lam_print. Elements stand in nested brackets, in columns of one width; of a large tensor only the first
 * and last few along each axis are shown. One cursor walks over the elements shown, once to find the width and once
 * to print, so that nothing is allocated and nothing recurses over axes; boxes are unwrapped in a loop, one level
 * per line. */
#include "lib/tensor/print.h"

#include "lib/dispatch/interpreter.h"
#include "lib/tensor/dtype.h"

#include <lamina/tensor.h>

#include <math.h>
#include <string.h>

enum {
    WHOLE = 400,   /* elements: a tensor with more is shortened */
    EDGE = 3,      /* elements shown at each end of a shortened axis */
    COLUMNS = 100, /* a line of elements is broken before it gets longer */
    ELEMENT = 64,  /* bytes for the text of one element */
    BRIEF = 8      /* elements that lam__print_brief shows */
};

/* ---- one element ---------------------------------------------------------------------------------------- */

/* A host program may have set a locale that writes 1,5: a comma stays what separates elements. */
static void use_point(char *text) {
    for (char *comma = strchr(text, ','); comma; comma = strchr(comma, ',')) *comma = '.';
}

/* At most 24 bytes. */
static int number_text(char *text, int digits, double value) {
    if (isnan(value)) return snprintf(text, ELEMENT / 2, "nan"); /* some C libraries print the sign of a NaN */
    int length = snprintf(text, ELEMENT / 2, "%.*g", digits, value);
    use_point(text);
    return length;
}

/* Digits are for who looks at them, not enough to be read back: 8 of f64, 7 of f32, 5 of halves. A complex number has
 * the sign of its imaginary part between the two. */
static int element_text(char text[ELEMENT], int dtype, const void *at) {
    if (dtype == LAM_BOOL) return snprintf(text, ELEMENT, "%s", *(const uint8_t *)at ? "true" : "false");
    if (dtype == LAM_U8) return snprintf(text, ELEMENT, "%u", *(const uint8_t *)at);
    if (dtype == LAM_I32) return snprintf(text, ELEMENT, "%ld", (long)*(const int32_t *)at);
    if (dtype == LAM_I64) return snprintf(text, ELEMENT, "%lld", (long long)*(const int64_t *)at);
    lam_c128 value = lam__dtype_load_complex(dtype, at);
    int digits = lam__dtype_part(dtype) == LAM_F32 ? 7 : 8;
    if (lam__dtype_is_half(dtype)) digits = 5;
    int length = number_text(text, digits, value.re);
    if (!lam__dtype_is_complex(dtype)) return length;
    bool minus = signbit(value.im) && !isnan(value.im);
    text[length++] = minus ? '-' : '+';
    length += number_text(text + length, digits, minus ? -value.im : value.im);
    text[length++] = 'i';
    text[length] = '\0';
    return length;
}

/* ---- the elements shown --------------------------------------------------------------------------------- */

/* A place among the elements shown. `shorten`: of each axis with more than 2 * EDGE elements only the ends are
 * visited. */
typedef struct cursor {
    const lam_value *v;
    bool shorten;
    int64_t index[LAM_INNER_RANK];
} cursor;

/* At the first element. v is concrete and has one. */
static cursor cursor_begin(const lam_value *v) {
    return (cursor){.v = v, .shorten = v->count > WHOLE};
}

/* Goes to the next element shown. Gives the axis that has moved on, or -1 at the end; *gap tells that elements of that
 * axis were left out on the way. */
static int cursor_step(cursor *c, bool *gap) {
    for (int axis = c->v->rank - 1; axis >= 0; axis--) {
        int64_t size = c->v->dims[axis];
        c->index[axis]++;
        *gap = c->shorten && size > 2 * EDGE && c->index[axis] == EDGE;
        if (*gap) c->index[axis] = size - EDGE;
        if (c->index[axis] < size) return axis;
        c->index[axis] = 0;
    }
    return -1;
}

/* The text of the element at the cursor, by strides, so that views and broadcasts are printed without a copy. */
static int cursor_text(const cursor *c, char text[ELEMENT]) {
    int64_t offset = 0;
    for (int axis = 0; axis < c->v->rank; axis++) offset += c->index[axis] * c->v->strides[axis];
    const char *first = c->v->data;
    return element_text(text, c->v->dtype, first + offset * (int64_t)lam__dtype_bytes(c->v->dtype));
}

/* The columns of one element: the longest text among those shown. */
static int width_of(const lam_value *v) {
    cursor c = cursor_begin(v);
    char text[ELEMENT];
    int width = 0;
    bool gap;
    do {
        int length = cursor_text(&c, text);
        if (length > width) width = length;
    } while (cursor_step(&c, &gap) >= 0);
    return width;
}

/* ---- lines of elements ---------------------------------------------------------------------------------- */

static void repeat(FILE *file, char c, int times) {
    for (int i = 0; i < times; i++) fputc(c, file);
}

/* Puts what stands between two neighbours whose common axes end before `axis`. Gives the column reached. */
static int separate(FILE *file, int rank, int axis, bool gap, int indent, int column, int width) {
    int closed = rank - 1 - axis;
    bool breaks = closed > 0 || column + width + (gap ? 7 : 2) > COLUMNS;
    repeat(file, ']', closed);
    fputs(gap && !closed ? ", ...," : ",", file);
    if (!breaks) {
        fputc(' ', file);
        return column + (gap ? 7 : 2);
    }
    repeat(file, '\n', closed > 1 ? 2 : 1);
    if (gap && closed) {
        repeat(file, ' ', indent + axis + 1);
        fputs("...,", file);
        repeat(file, '\n', closed > 1 ? 2 : 1);
    }
    repeat(file, ' ', indent + axis + 1);
    repeat(file, '[', closed);
    return indent + rank;
}

/* `indent` is the column of the first bracket; lines below stand behind as many brackets as are open. */
static void print_elements(FILE *file, const lam_value *v, int indent) {
    cursor c = cursor_begin(v);
    char text[ELEMENT];
    int width = width_of(v), column = indent + v->rank, axis;
    bool gap;
    repeat(file, '[', v->rank);
    do {
        cursor_text(&c, text);
        fprintf(file, "%*s", width, text);
        column += width;
        axis = cursor_step(&c, &gap);
        if (axis >= 0) column = separate(file, v->rank, axis, gap, indent, column, width);
    } while (axis >= 0);
    repeat(file, ']', v->rank);
}

/* ---- values --------------------------------------------------------------------------------------------- */

void lam__print_type(FILE *file, const lam_value *v) {
    fprintf(file, "%s[", lam_dtype_name((lam_dtype)v->dtype));
    for (int i = 0; i < v->rank; i++) fprintf(file, "%s%lld", i ? ", " : "", (long long)v->dims[i]);
    fputc(']', file);
}

/* What the interpreter knows of the box goes behind its name: "axis 0", "from mul". */
static void print_box(FILE *file, const lam_value *v) {
    lam__origin box = lam__value_origin(v);
    fprintf(file, " at level %llu (%s", (unsigned long long)box.serial, box.interpreter->name);
    if (box.interpreter->print) {
        fputs(", ", file);
        box.interpreter->print(file, v);
    }
    fputc(')', file);
}

/* What stands behind the type of a value that has no elements to show. */
static void print_absence(FILE *file, const lam_value *v) {
    if (v->kind != LAM__ENDED) {
        fputs(", elements not known", file);
        return;
    }
    lam__origin box = lam__value_origin(v);
    fprintf(file, " of level %llu (%s), which has ended", (unsigned long long)box.serial, box.interpreter->name);
}

/* One line for each level down to the value without a box, which shows its elements. */
static void print_value(FILE *file, const lam_value *v) {
    int indent = 0;
    for (;; indent += 2) {
        repeat(file, ' ', indent);
        lam__print_type(file, v);
        if (v->kind != LAM__BOX) break;
        print_box(file, v);
        const lam_value *inner = lam__payload_of(v)->inner;
        if (!inner) break;
        fputs(":\n", file);
        v = inner;
    }
    if (v->kind == LAM__CONCRETE) {
        bool lines = v->rank > 1 || v->count > BRIEF;
        fputs(lines && v->count ? ":\n" : ": ", file);
        if (lines && v->count) repeat(file, ' ', indent);
        if (v->count) print_elements(file, v, indent);
        else fputs("[]", file);
    } else if (v->kind != LAM__BOX) {
        print_absence(file, v);
    }
    fputc('\n', file);
}

void lam__print_brief(FILE *file, const lam_value *v) {
    lam__print_type(file, v);
    if (v->kind == LAM__BOX) print_box(file, v);
    if (v->kind != LAM__CONCRETE || v->rank > 1 || v->count == 0 || v->count > BRIEF) return;
    fputs(": ", file);
    print_elements(file, v, 0);
}

/* A handle that is no live one is named and not looked into; printing records nothing. */
void lam_print(FILE *file, lam_tensor *t) {
    if (!file) return;
    const lam_value *v = lam__scope_peek(t);
    if (v) print_value(file, v);
    else fputs(!t ? "no tensor (NULL)\n" : t->magic == LAM__FREED ? "freed tensor\n" : "failed tensor\n", file);
}
