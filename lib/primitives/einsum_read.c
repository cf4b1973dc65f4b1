/* What the subscripts of einsum say: one label per letter, and one per axis under the ellipsis. */
#include "lib/primitives/einsum.h"
#include "lib/tensor/value.h"

#include <lamina/tensor.h>

#include <stdarg.h>

/* Every message shows the subscripts, which may be anything a user has typed. They are cut, since messages have room
 * for some lines only. */
bool lam__einsum_refuse(const lam__einsum *s, lam_status status, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    lam__error_set(s->ctx, status,
                   "write subscripts like \"ij,jk->ik\": one letter per axis, ... for any number of axes",
                   "einsum: %s in \"%.200s\"", text, s->subscripts);
    return false;
}

/* ---- subscripts -------------------------------------------------------------------------------------------------- */

/* -1 where there is no room: labels are bits of a word. */
static int label_new(lam__einsum *s, char letter) {
    if (s->known == LAM__EINSUM_LABELS) return -1;
    s->letter[s->known] = letter;
    /* Not known before an axis bears it. */
    s->size[s->known] = -1;
    return s->known++;
}

/* The label of a letter; -1 if there is none and none is to be made, or no room. */
static int label_of(lam__einsum *s, char letter, bool make) {
    for (int l = 0; l < s->known; l++)
        if (s->letter[l] == letter) return l;
    return make ? label_new(s, letter) : -1;
}

/* Notes that a label has this many elements; under the ellipsis 1 goes with everything. So ellipses broadcast as
 * operands of elementwise operations do; letters do not, as in NumPy. */
static bool note_size(lam__einsum *s, int operand, int l, int64_t size) {
    int64_t known = s->size[l];
    if (known < 0 || (s->letter[l] == '.' && known == 1)) s->size[l] = size;
    else if (known != size && !(s->letter[l] == '.' && size == 1))
        return lam__einsum_refuse(s, LAM_ERR_SHAPE, "subscript '%c' has %lld elements in operand %d and %lld before",
                                  s->letter[l], (long long)size, operand, (long long)known);
    return true;
}

/* Letters and spaces of ASCII, whatever the locale. isalpha and isspace would ask it. */
static bool is_letter(char c) {
    return (unsigned)((c | 32) - 'a') < 26;
}
static bool is_space(char c) {
    return c == ' ' || (unsigned)(c - 9) < 5;
}

/* A '-' alone is no subscript and is found as one. */
static bool is_arrow(const char *at) {
    return at[0] == '-' && at[1] == '>';
}

/* One item of a list of subscripts: a letter, '.' for an ellipsis, '?' for what is neither, 0 at the end (of the
 * operand). */
static inline char next_item(const char **at) {
    while (is_space(**at)) (*at)++;
    const char *here = *at;
    if (is_letter(*here)) return (*at)++, *here;
    if (*here == 0 || *here == ',' || is_arrow(here)) return 0;
    const bool dots = here[0] == '.' && here[1] == '.' && here[2] == '.';
    *at += dots ? 3 : 1;
    return dots ? '.' : '?';
}

/* How many letters an operand has, and whether an ellipsis. Most terms have letters alone and are read once, without
 * this; it is for ellipses and for messages. */
static bool count_items(const lam__einsum *s, const char *at, int *letters, int *ellipses) {
    *letters = *ellipses = 0;
    const char *start = at;
    for (char c; start = at, (c = next_item(&at));) {
        while (is_space(*start)) start++;
        if (c == '?') return lam__einsum_refuse(s, LAM_ERR_VALUE, "'%c' is not a subscript", *start);
        *letters += c != '.';
        *ellipses += c == '.';
    }
    return *ellipses <= 1 || lam__einsum_refuse(s, LAM_ERR_VALUE, "there are two ellipses in one term");
}

/* Says why the text at `from` does not describe operand n. */
static bool misfit(const lam__einsum *s, int n, const char *from) {
    const int rank = s->values->x[n]->rank;
    int letters, ellipses;
    if (!count_items(s, from, &letters, &ellipses)) return false;
    return lam__einsum_refuse(s, LAM_ERR_RANK, "operand %d has %d %s, its subscripts name %d", n, rank,
                              rank == 1 ? "axis" : "axes", letters);
}

/* Gives the next axis of operand n, which has `size` elements, label l; -1: there is none left. */
static bool add_axis(lam__einsum *s, int n, int l, int64_t size) {
    lam__einsum_term *t = &s->terms[n];
    if (l < 0) return lam__einsum_refuse(s, LAM_ERR_RANK, "there are more than %d different axes", LAM__EINSUM_LABELS);
    if (!note_size(s, n, l, size)) return false;
    t->distinct = t->distinct && !(t->set >> l & 1u);
    t->set |= (lam__labels)1 << l;
    t->label[t->rank++] = (uint8_t)l;
    return true;
}

/* The axes that the ellipsis of operand n, whose subscripts begin at `from`, stands for. dots[0] is the last axis under
 * an ellipsis: operands of other ranks line up from there. */
static bool add_ellipsis(lam__einsum *s, int n, const char *from) {
    lam__einsum_term *t = &s->terms[n];
    const lam_value *x = s->values->x[n];
    int letters, ellipses;
    if (!count_items(s, from, &letters, &ellipses)) return false;
    const int covered = x->rank - letters;
    if (covered < 0) return misfit(s, n, from);
    for (int k = covered - 1; k >= 0; k--) {
        if (k >= s->dot_count) s->dots[k] = label_new(s, '.');
        if (!add_axis(s, n, s->dots[k], x->dims[t->rank])) return false;
    }
    /* Axes under it may have one element where others have more, which the short ways do not expect. */
    t->distinct = false;
    if (covered > s->dot_count) s->dot_count = covered;
    return true;
}

/* Labels the axes of operand n from the text at *at, which moves behind it. */
static bool read_term(lam__einsum *s, int n, const char **at) {
    const char *from = *at;
    lam__einsum_term *t = &s->terms[n];
    const lam_value *x = s->values->x[n];
    t->at = n;
    t->rank = 0;
    t->set = 0;
    t->distinct = true;
    for (char c; (c = next_item(at));) {
        if (c == '.') {
            if (!add_ellipsis(s, n, from)) return false;
        } else if (c == '?' || t->rank == x->rank) {
            return misfit(s, n, from);
        } else if (!add_axis(s, n, label_of(s, c, true), x->dims[t->rank])) {
            return false;
        }
    }
    return t->rank == x->rank || misfit(s, n, from);
}

/* As many terms as operands, divided by commas. */
static bool read_terms(lam__einsum *s, const char **at) {
    for (int n = 0; n < s->count; n++) {
        if (!read_term(s, n, at)) return false;
        /* What ends a term is a comma, the arrow or the end of the text. */
        bool more = **at == ',';
        if (more != (n + 1 < s->count))
            return lam__einsum_refuse(s, LAM_ERR_ARITY, "%s operands are described than the %d given",
                                      more ? "more" : "fewer", s->count);
        *at += more;
    }
    return true;
}

/* A label stands once in a result. */
static bool add_result(lam__einsum *s, int l) {
    if (s->wanted >> l & 1u)
        return lam__einsum_refuse(s, LAM_ERR_VALUE, "subscript '%c' is twice in the result", s->letter[l]);
    if (s->result_rank == LAM_INNER_RANK) return lam__einsum_refuse(s, LAM_ERR_RANK, "the result has too many axes");
    s->wanted |= (lam__labels)1 << l;
    s->result[s->result_rank++] = (uint8_t)l;
    return true;
}

/* The axes under the ellipsis, in their order. */
static bool add_dots(lam__einsum *s) {
    for (int k = s->dot_count - 1; k >= 0; k--)
        if (!add_result(s, s->dots[k])) return false;
    return true;
}

/* Without an arrow: the ellipsis, then the letters that occur once, in alphabetical order. The alphabet is that of
 * ASCII, capitals first, as NumPy has it. */
static bool implicit_result(lam__einsum *s) {
    int uses[LAM__EINSUM_LABELS] = {0};
    for (int n = 0; n < s->count; n++)
        for (int i = 0; i < s->terms[n].rank; i++) uses[s->terms[n].label[i]]++;
    if (!add_dots(s)) return false;
    for (int c = 'A'; c <= 'z'; c++) {
        int l = label_of(s, (char)c, false);
        if (l >= 0 && uses[l] == 1 && !add_result(s, l)) return false;
    }
    return true;
}

/* Each letter of the result must be one of an operand and stand there once; the ellipsis has to be there if an operand
 * has one with axes, since summing over it would be a guess. */
static bool explicit_result(lam__einsum *s, const char *at) {
    const char *from = at;
    int letters, ellipses = 0;
    for (char c; (c = next_item(&at));) {
        /* Only where there is more than letters: to count the ellipses, and to refuse what is neither. */
        if (!is_letter(c) && !count_items(s, from, &letters, &ellipses)) return false;
        int l = c == '.' ? -1 : label_of(s, c, false);
        if (c != '.' && l < 0)
            return lam__einsum_refuse(s, LAM_ERR_VALUE, "subscript '%c' of the result is in no operand", c);
        if (!(c == '.' ? add_dots(s) : add_result(s, l))) return false;
    }
    /* A term ends at a comma or an arrow too, of which there is none behind a result. */
    if (*at) return lam__einsum_refuse(s, LAM_ERR_VALUE, "there is something behind the result");
    return ellipses || !s->dot_count || lam__einsum_refuse(s, LAM_ERR_VALUE, "the ellipsis is missing from the result");
}

/* *at stands at the arrow or at the end once all terms are read. */
bool lam__einsum_read(lam__einsum *s) {
    const char *at = s->subscripts;
    s->known = s->dot_count = s->result_rank = 0;
    s->wanted = 0;
    if (!read_terms(s, &at)) return false;
    return is_arrow(at) ? explicit_result(s, at + 2) : implicit_result(s);
}
