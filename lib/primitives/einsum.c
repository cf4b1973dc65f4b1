/* Einstein summation. The subscripts become labels, one number per letter and one per axis under the ellipsis; each
 * operand becomes a tensor with a label per axis, none repeated, and is then contracted with another, pair by pair,
 * until one is left. The order of the pairs is the cheapest there is for up to 5 operands; beyond, the cheapest pair
 * goes first until 5 are left. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/contract.h"
#include "lib/primitives/matrices.h"

#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/context.h>
#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

enum { MOST_OPERANDS = 64, MOST_LABELS = 64, EXHAUSTIVE = 5 };

/* A set of labels: bit l is label l. */
typedef uint64_t labels;

/* An operand, or the product of some, with a label for each of its axes. */
typedef struct term {
    lam_tensor *x;
    labels set; /* of all axes */
    int rank;
    bool distinct;                 /* no label is there twice, none belongs to the ellipsis */
    uint8_t label[LAM_INNER_RANK]; /* of each axis */
} term;

/* One call. Arrays are filled as far as their counts say, and no further. */
typedef struct sum {
    lam_ctx *ctx;
    const char *subscripts;
    int count; /* terms left */
    term terms[MOST_OPERANDS];
    int known;                 /* labels in use */
    char letter[MOST_LABELS];  /* '.' for one under the ellipsis */
    int64_t size[MOST_LABELS]; /* elements */
    int dots[LAM_INNER_RANK];  /* label of the ellipsis axis, counted from the last one */
    int dot_count;             /* axes under the ellipsis */
    uint8_t result[LAM_INNER_RANK];
    int result_rank;
    labels wanted; /* of the result */
} sum;

/* Records what is wrong with the subscripts. */
static bool refuse(const sum *s, lam_status status, const char *format, ...) LAM_PRINTF(3, 4);
static bool refuse(const sum *s, lam_status status, const char *format, ...) {
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
static int label_new(sum *s, char letter) {
    if (s->known == MOST_LABELS) return -1;
    s->letter[s->known] = letter;
    s->size[s->known] = -1;
    return s->known++;
}

/* The label of a letter; -1 if there is none and none is to be made, or no room. */
static int label_of(sum *s, char letter, bool make) {
    for (int l = 0; l < s->known; l++)
        if (s->letter[l] == letter) return l;
    return make ? label_new(s, letter) : -1;
}

/* Notes that a label has this many elements; under the ellipsis 1 goes with everything. */
static bool note_size(sum *s, int operand, int l, int64_t size) {
    int64_t known = s->size[l];
    if (known < 0 || (s->letter[l] == '.' && known == 1)) s->size[l] = size;
    else if (known != size && !(s->letter[l] == '.' && size == 1))
        return refuse(s, LAM_ERR_SHAPE, "subscript '%c' has %lld elements in operand %d and %lld before", s->letter[l],
                      (long long)size, operand, (long long)known);
    return true;
}

/* Letters and spaces of ASCII, whatever the locale. */
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

/* How many letters an operand has, and whether an ellipsis. */
static bool count_items(const sum *s, const char *at, int *letters, int *ellipses) {
    *letters = *ellipses = 0;
    const char *start = at;
    for (char c; start = at, (c = next_item(&at));) {
        while (is_space(*start)) start++;
        if (c == '?') return refuse(s, LAM_ERR_VALUE, "'%c' is no subscript", *start);
        *letters += c != '.';
        *ellipses += c == '.';
    }
    return *ellipses <= 1 || refuse(s, LAM_ERR_VALUE, "there are two ellipses in one term");
}

/* Says why the text at `from` does not describe operand n. */
static bool misfit(const sum *s, int n, const char *from) {
    const int rank = lam_rank(s->terms[n].x);
    int letters, ellipses;
    if (!count_items(s, from, &letters, &ellipses)) return false;
    return refuse(s, LAM_ERR_RANK, "operand %d has %d %s, its subscripts name %d", n, rank, rank == 1 ? "axis" : "axes",
                  letters);
}

/* Gives the next axis of operand n, which has `size` elements, label l; -1: there is none left. */
static bool add_axis(sum *s, int n, int l, int64_t size) {
    term *t = &s->terms[n];
    if (l < 0) return refuse(s, LAM_ERR_RANK, "there are more than %d different axes", MOST_LABELS);
    if (!note_size(s, n, l, size)) return false;
    t->distinct = t->distinct && !(t->set >> l & 1u);
    t->set |= (labels)1 << l;
    t->label[t->rank++] = (uint8_t)l;
    return true;
}

/* The axes that the ellipsis of operand n, whose subscripts begin at `from`, stands for. */
static bool add_ellipsis(sum *s, int n, const char *from) {
    term *t = &s->terms[n];
    const lam_value *x = t->x->value;
    int letters, ellipses;
    if (!count_items(s, from, &letters, &ellipses)) return false;
    const int covered = x->rank - letters;
    if (covered < 0) return misfit(s, n, from);
    for (int k = covered - 1; k >= 0; k--) {
        if (k >= s->dot_count) s->dots[k] = label_new(s, '.');
        if (!add_axis(s, n, s->dots[k], x->dims[t->rank])) return false;
    }
    t->distinct = false;
    if (covered > s->dot_count) s->dot_count = covered;
    return true;
}

/* Labels the axes of operand n from the text at *at, which moves behind it. */
static bool read_term(sum *s, int n, const char **at) {
    const char *from = *at;
    term *t = &s->terms[n];
    const lam_value *x = t->x->value;
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
static bool read_terms(sum *s, const char **at) {
    for (int n = 0; n < s->count; n++) {
        if (!read_term(s, n, at)) return false;
        bool more = **at == ',';
        if (more != (n + 1 < s->count))
            return refuse(s, LAM_ERR_ARITY, "%s operands are described than the %d given", more ? "more" : "fewer",
                          s->count);
        *at += more;
    }
    return true;
}

static bool add_result(sum *s, int l) {
    if (s->wanted >> l & 1u) return refuse(s, LAM_ERR_VALUE, "subscript '%c' is twice in the result", s->letter[l]);
    if (s->result_rank == LAM_INNER_RANK) return refuse(s, LAM_ERR_RANK, "the result has too many axes");
    s->wanted |= (labels)1 << l;
    s->result[s->result_rank++] = (uint8_t)l;
    return true;
}

/* The axes under the ellipsis, in their order. */
static bool add_dots(sum *s) {
    for (int k = s->dot_count - 1; k >= 0; k--)
        if (!add_result(s, s->dots[k])) return false;
    return true;
}

/* Without an arrow: the ellipsis, then the letters that occur once, in alphabetical order. The alphabet is that of
 * ASCII, capitals first, as NumPy has it. */
static bool implicit_result(sum *s) {
    int uses[MOST_LABELS] = {0};
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
static bool explicit_result(sum *s, const char *at) {
    const char *from = at;
    int letters, ellipses = 0;
    for (char c; (c = next_item(&at));) {
        if (!is_letter(c) && !count_items(s, from, &letters, &ellipses)) return false;
        int l = c == '.' ? -1 : label_of(s, c, false);
        if (c != '.' && l < 0) return refuse(s, LAM_ERR_VALUE, "subscript '%c' of the result is in no operand", c);
        if (!(c == '.' ? add_dots(s) : add_result(s, l))) return false;
    }
    if (*at) return refuse(s, LAM_ERR_VALUE, "there is something behind the result");
    return ellipses || !s->dot_count || refuse(s, LAM_ERR_VALUE, "the ellipsis is missing from the result");
}

/* *at stands at the arrow or at the end once all terms are read. */
static bool read_subscripts(sum *s) {
    const char *at = s->subscripts;
    if (!read_terms(s, &at)) return false;
    return is_arrow(at) ? explicit_result(s, at + 2) : implicit_result(s);
}

/* ---- one operand ------------------------------------------------------------------------------------------------- */

/* Its label is no longer there, or once less. */
static void remove_axis(term *t, int axis) {
    const uint8_t l = t->label[axis];
    t->rank--;
    t->set &= ~((labels)1 << l);
    for (int i = axis; i < t->rank; i++) t->label[i] = t->label[i + 1];
    for (int i = 0; i < t->rank; i++) t->set |= (labels)1 << t->label[i];
}

/* Axes of one element under the ellipsis that others have longer go; of axes with one label the diagonal is taken. */
static void make_distinct(const sum *s, term *t) {
    if (t->distinct) return;
    for (int i = t->rank - 1; i >= 0; i--)
        if (s->letter[t->label[i]] == '.' && lam_dim(t->x, i) == 1 && s->size[t->label[i]] != 1) {
            t->x = lam_squeeze(t->x, LAM_AXES(i));
            remove_axis(t, i);
        }
    for (int i = 0; i < t->rank; i++)
        for (int k = i + 1; k < t->rank; k++)
            if (t->label[i] == t->label[k]) {
                uint8_t l = t->label[i];
                t->x = lam_diagonal(t->x, 0, i, k);
                remove_axis(t, k);
                remove_axis(t, i);
                t->label[t->rank++] = l;
                t->set |= (labels)1 << l;
                i = k = -1; /* the axes have moved: look at all of them again */
                break;
            }
}

/* Sums over the axes whose labels nobody else needs. */
static void sum_out(term *t, labels needed) {
    int axes[LAM_INNER_RANK], n = 0;
    if (!(t->set & ~needed)) return;
    for (int i = 0; i < t->rank; i++)
        if (!(needed >> t->label[i] & 1u)) axes[n++] = i;
    lam_dtype dtype = lam_dtype_of(t->x);
    t->x = lam_cast(lam_sum(t->x, &(lam_reduce_options){.axes = {n, axes}}), dtype); /* bool stays bool: any of them */
    while (n) remove_axis(t, axes[--n]);
}

/* -1: the term does not have this label. */
static int axis_of(const term *t, int l) {
    for (int i = 0; i < t->rank; i++)
        if (t->label[i] == l) return i;
    return -1;
}

/* The labels that the result, or a term other than i and k, needs. */
static labels needed_outside(const sum *s, int i, int k) {
    labels set = s->wanted;
    for (int n = 0; n < s->count; n++)
        if (n != i && n != k) set |= s->terms[n].set;
    return set;
}

/* ---- two operands ------------------------------------------------------------------------------------------------ */

/* x with its axes in the order of `label`, one element where it has none of that label; itself where that is so. */
static lam_tensor *lined_up(const term *t, int rank, const uint8_t label[]) {
    int order[LAM_INNER_RANK], n = 0;
    int64_t dims[LAM_INNER_RANK];
    if (t->rank == rank && memcmp(t->label, label, (size_t)rank * sizeof *label) == 0) return t->x;
    for (int i = 0; i < rank; i++) {
        int axis = axis_of(t, label[i]);
        dims[i] = axis < 0 ? 1 : lam_dim(t->x, axis);
        if (axis >= 0) order[n++] = axis;
    }
    return lam__apply_reshape(lam_transpose(t->x, (lam_axes){n, order}), rank, dims);
}

/* The labels of a term that the other does not have, behind those of *out; false after recording that they are too
 * many. */
static bool add_labels(const sum *s, const term *t, labels common, term *out) {
    for (int i = 0; i < t->rank; i++) {
        if (common >> t->label[i] & 1u) continue;
        if (out->rank == LAM_INNER_RANK) return refuse(s, LAM_ERR_RANK, "a product has too many axes");
        out->label[out->rank++] = t->label[i];
    }
    return true;
}

/* Which axes of a and b are paired: those that are needed later stay, others are summed over. Those that stay come
 * first in *out. */
static void pair_axes(const term *a, const term *b, labels needed, lam__pairing *p, term *out) {
    int8_t axes[2][LAM_INNER_RANK];
    int8_t *to = p->axes;
    int n = 0;
    for (int i = 0; i < a->rank; i++) { /* from both ends: batch axes, and those summed over */
        const labels l = (labels)1 << a->label[i];
        if (!(b->set & l)) continue;
        const bool stays = needed & l;
        if (stays) out->label[out->rank++] = a->label[i];
        const int at = stays ? p->batch++ : LAM_INNER_RANK - ++p->contract;
        axes[0][at] = (int8_t)i;
        axes[1][at] = (int8_t)axis_of(b, a->label[i]);
        n++;
    }
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < n; i++) *to++ = axes[side][i < p->batch ? i : LAM_INNER_RANK - 1 - (i - p->batch)];
}

/* The product of terms a and b, summed over what only they have. Nothing to sum over: an elementwise product. */
static void contract(const sum *s, const term *a, const term *b, labels needed, term *out) {
    const labels common = a->set & b->set;
    lam__pairing p; /* most of it stays unused */
    p.batch = p.contract = 0;
    out->rank = 0;
    out->x = &s->ctx->failed;
    pair_axes(a, b, needed, &p, out);
    if (!add_labels(s, a, common, out) || !add_labels(s, b, common, out)) return;
    out->set = (a->set | b->set) & (needed | ~common);
    p.loose = s->count == 2 && memcmp(out->label, s->result, (size_t)out->rank * sizeof *out->label) != 0;
    out->x = p.contract ? lam__contract(&p, a->x, b->x)
                        : lam_mul(lined_up(a, out->rank, out->label), lined_up(b, out->rank, out->label));
}

/* ---- order of the pairs ------------------------------------------------------------------------------------------ */

/* Multiplications that it takes to go through these labels. */
static double cost_of(const sum *s, labels set) {
    double cost = 1;
    for (int l = 0; set; l++, set >>= 1)
        if (set & 1u) cost *= (double)s->size[l];
    return cost;
}

/* The sets that are left when i and k > i are contracted, whose product takes the place of the first. */
static void joined(const sum *s, const labels set[], int n, int i, int k, labels rest[]) {
    labels needed = s->wanted;
    for (int o = 0; o < n; o++)
        if (o != i && o != k) needed |= set[o];
    for (int o = 0; o < n; o++)
        if (o != k) rest[o - (o > k)] = o == i ? (set[i] | set[k]) & needed : set[o];
}

/* The least cost of contracting n <= EXHAUSTIVE sets, and the pairs in their order. Calls itself n - 2 deep. There are
 * few enough pairs of so few sets to try all but those that alone cost more than the best order. */
static double cheapest(const sum *s, const labels set[], int n, int pairs[][2]) {
    double best = -1;
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++) {
            labels rest[EXHAUSTIVE];
            int after[EXHAUSTIVE][2];
            double cost = cost_of(s, set[i] | set[k]);
            if (best >= 0 && cost >= best) continue;
            joined(s, set, n, i, k, rest);
            if (n > 2) cost += cheapest(s, rest, n - 1, after);
            if (best >= 0 && cost >= best) continue;
            best = cost;
            pairs[0][0] = i, pairs[0][1] = k;
            if (n > 2) memcpy(pairs + 1, after, (size_t)(n - 2) * sizeof *after);
        }
    return best;
}

/* The pair whose product has the least cost by itself, without a look at what comes after. */
static void greediest(const sum *s, const labels set[], int n, int pair[2]) {
    double best = -1;
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++) {
            double cost = cost_of(s, set[i] | set[k]);
            if (best < 0 || cost < best) best = cost, pair[0] = i, pair[1] = k;
        }
}

/* Leaves one term; gives its tensor. A product takes the place of its first term. */
static lam_tensor *contract_all(sum *s) {
    labels set[MOST_OPERANDS];
    int pairs[EXHAUSTIVE][2] = {{0, 1}}, next = 0; /* those that are known */
    for (bool known = s->count == 2; s->count > 1; s->count--) {
        for (int n = 0; !known && n < s->count; n++) set[n] = s->terms[n].set;
        if (!known && s->count > EXHAUSTIVE) greediest(s, set, s->count, pairs[0]);
        else if (!known) cheapest(s, set, s->count, pairs);
        known = known || s->count <= EXHAUSTIVE;
        const int *pair = pairs[known ? next++ : 0];
        term made;
        contract(s, &s->terms[pair[0]], &s->terms[pair[1]], needed_outside(s, pair[0], pair[1]), &made);
        if (lam_failed(made.x)) return &s->ctx->failed;
        s->terms[pair[0]] = made;
        for (int n = pair[1] + 1; n < s->count; n++) s->terms[n - 1] = s->terms[n];
    }
    return s->terms[0].x;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Whether x is one of the operands, which are not to be given back as they are. */
static bool is_given(lam_list operands, const lam_tensor *x) {
    for (size_t i = 0; i < operands.count; i++)
        if (operands.items[i] == x) return true;
    return false;
}

/* Axes that nobody else needs are summed over before any product, as that can only make products smaller. */
static lam_tensor *evaluate(sum *s, lam_list operands) {
    int order[LAM_INNER_RANK] = {0};
    for (int n = 0; n < s->count; n++) make_distinct(s, &s->terms[n]);
    for (int n = 0; n < s->count; n++) sum_out(&s->terms[n], needed_outside(s, n, n));
    const term *t = &s->terms[0];
    if (lam_failed(contract_all(s))) return &s->ctx->failed;
    bool there = true;
    for (int i = 0; i < s->result_rank; i++) {
        order[i] = axis_of(t, s->result[i]);
        there = there && order[i] == i;
    }
    if (there) return is_given(operands, t->x) ? lam_alias(t->x) : t->x;
    return lam_transpose(t->x, (lam_axes){s->result_rank, order});
}

/* Looks at the operands and brings them to one dtype, one after the other; false: *failed is the result. */
static bool take_operands(sum *s, lam_list list, lam_tensor **failed) {
    lam_value *values[MOST_OPERANDS];
    s->ctx = lam__scope_operands("einsum", list.count, list.items, values, failed);
    if (!s->ctx) return false;
    lam_dtype dtype = (lam_dtype)values[0]->dtype;
    for (size_t n = 1; n < list.count; n++) dtype = lam__dtype_promote(dtype, values[n]->dtype);
    *failed = &s->ctx->failed;
    for (size_t n = 0; n < list.count; n++) {
        s->terms[n].x = values[n]->dtype == dtype ? list.items[n] : lam_cast(list.items[n], dtype);
        if (lam_failed(s->terms[n].x)) return false;
    }
    s->count = (int)list.count;
    return true;
}

/* Two operands whose subscripts are simple go straight to the contraction, without labels. */
lam_tensor *lam_einsum(const char *subscripts, lam_list operands) {
    lam_tensor *failed;
    uint64_t since = operands.count && operands.items ? lam__scope_now(operands.items[0]) : 0;
    sum s; /* most of it stays unused: no time for zeros */
    s.subscripts = subscripts ? subscripts : "";
    s.known = s.dot_count = s.result_rank = 0;
    s.wanted = 0;
    if (!operands.count || !operands.items) return lam__axes_failed(NULL);
    if (operands.count > MOST_OPERANDS)
        return lam__axes_fail("einsum", operands.items[0], LAM_ERR_ARITY, "%zu operands are more than %d",
                              operands.count, MOST_OPERANDS);
    if (!take_operands(&s, operands, &failed)) return failed;
    if (s.count == 2) {
        lam_tensor *x = s.terms[0].x, *y = s.terms[1].x;
        lam__pairing p;
        if (lam__contract_by_letters(s.subscripts, x->value, y->value, &p))
            return lam__scope_only(lam__contract(&p, x, y), since);
    }
    if (!read_subscripts(&s)) return &s.ctx->failed;
    return lam__scope_only(evaluate(&s, operands), since);
}
