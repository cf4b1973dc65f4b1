/* Einstein summation. The subscripts become labels, one number per letter and one per axis under the ellipsis; each
 * operand becomes a tensor with a label per axis, none repeated, and is then contracted with another, pair by pair,
 * until one is left. The order of the pairs is the cheapest there is for up to 5 operands; beyond, the cheapest pair
 * goes first until 5 are left. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"

#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/context.h>
#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <ctype.h>
#include <string.h>

enum { MOST_OPERANDS = 64, MOST_LABELS = 64, EXHAUSTIVE = 5 };

/* A set of labels: bit l is label l. */
typedef uint64_t labels;

typedef struct term {
    lam_tensor *x;
    int rank;
    uint8_t label[LAM_INNER_RANK]; /* of each axis */
} term;

typedef struct sum {
    lam_ctx *ctx;
    const char *subscripts;
    int count; /* terms left */
    term terms[MOST_OPERANDS];
    int known;                 /* labels in use */
    char letter[MOST_LABELS];  /* '.' for one under the ellipsis */
    int64_t size[MOST_LABELS]; /* elements */
    int dots[LAM_INNER_RANK];  /* label of the ellipsis axis, counted from the last one; -1: none yet */
    int dot_count;             /* axes under the ellipsis */
    uint8_t result[LAM_INNER_RANK];
    int result_rank;
    labels wanted; /* of the result */
} sum;

static labels set_of(const term *t) {
    labels set = 0;
    for (int i = 0; i < t->rank; i++) set |= (labels)1 << t->label[i];
    return set;
}

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

/* One item of a list of subscripts: a letter, '.' for an ellipsis, 0 at the end (of the operand). */
static char next_item(const char **at) {
    while (isspace((unsigned char)**at)) (*at)++;
    const char *here = *at;
    if (*here == 0 || *here == ',' || strncmp(here, "->", 2) == 0) return 0;
    if (strncmp(here, "...", 3) == 0) {
        *at += 3;
        return '.';
    }
    (*at)++;
    return isalpha((unsigned char)*here) ? *here : '?';
}

/* How many letters an operand has, and whether an ellipsis. */
static bool count_items(const sum *s, const char *at, int *letters, int *ellipses) {
    *letters = *ellipses = 0;
    const char *start = at;
    for (char c; start = at, (c = next_item(&at));) {
        while (isspace((unsigned char)*start)) start++;
        if (c == '?') return refuse(s, LAM_ERR_VALUE, "'%c' is no subscript", *start);
        *letters += c != '.';
        *ellipses += c == '.';
    }
    return *ellipses <= 1 || refuse(s, LAM_ERR_VALUE, "there are two ellipses in one term");
}

/* Labels the axes of operand n from the text at *at, which moves behind it. */
static bool read_term(sum *s, int n, const char **at) {
    term *t = &s->terms[n];
    lam_dims own = lam_dims_of(t->x);
    int letters, ellipses, axis = 0;
    if (!count_items(s, *at, &letters, &ellipses)) return false;
    int covered = own.rank - letters;
    if (covered < 0 || (covered && !ellipses))
        return refuse(s, LAM_ERR_RANK, "operand %d has %d %s, its subscripts name %d", n, own.rank,
                      own.rank == 1 ? "axis" : "axes", letters);
    t->rank = own.rank;
    for (char c; (c = next_item(at));)
        for (int k = c == '.' ? covered : 1; k > 0; k--) {
            int *dot = &s->dots[k - 1];
            int l = c != '.' ? label_of(s, c, true) : *dot >= 0 ? *dot : (*dot = label_new(s, '.'));
            if (l < 0) return refuse(s, LAM_ERR_RANK, "there are more than %d different axes", MOST_LABELS);
            if (!note_size(s, n, l, own.dims[axis])) return false;
            t->label[axis++] = (uint8_t)l;
        }
    if (ellipses && covered > s->dot_count) s->dot_count = covered;
    return true;
}

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

static bool add_dots(sum *s) {
    for (int k = s->dot_count - 1; k >= 0; k--)
        if (!add_result(s, s->dots[k])) return false;
    return true;
}

/* Without an arrow: the ellipsis, then the letters that occur once, in alphabetical order. */
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

static bool explicit_result(sum *s, const char *at) {
    int letters, ellipses;
    if (!count_items(s, at, &letters, &ellipses)) return false;
    for (char c; (c = next_item(&at));) {
        int l = c == '.' ? -1 : label_of(s, c, false);
        if (c != '.' && l < 0) return refuse(s, LAM_ERR_VALUE, "subscript '%c' of the result is in no operand", c);
        if (!(c == '.' ? add_dots(s) : add_result(s, l))) return false;
    }
    if (*at) return refuse(s, LAM_ERR_VALUE, "there is something behind the result");
    return ellipses || !s->dot_count || refuse(s, LAM_ERR_VALUE, "the ellipsis is missing from the result");
}

static bool read_subscripts(sum *s) {
    const char *at = s->subscripts;
    for (int k = 0; k < LAM_INNER_RANK; k++) s->dots[k] = -1;
    if (!read_terms(s, &at)) return false;
    return strncmp(at, "->", 2) == 0 ? explicit_result(s, at + 2) : implicit_result(s);
}

/* ---- one operand ------------------------------------------------------------------------------------------------- */

static void remove_axis(term *t, int axis) {
    t->rank--;
    for (int i = axis; i < t->rank; i++) t->label[i] = t->label[i + 1];
}

/* Axes of one element under the ellipsis that others have longer go; of axes with one label the diagonal is taken. */
static void make_distinct(const sum *s, term *t) {
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
                i = k = -1; /* the axes have moved: look at all of them again */
                break;
            }
}

/* Sums over the axes whose labels nobody else needs. */
static void sum_out(term *t, labels needed) {
    int axes[LAM_INNER_RANK], n = 0;
    for (int i = 0; i < t->rank; i++)
        if (!(needed >> t->label[i] & 1u)) axes[n++] = i;
    if (!n) return;
    lam_dtype dtype = lam_dtype_of(t->x);
    t->x = lam_cast(lam_sum(t->x, &(lam_reduce_options){.axes = {n, axes}}), dtype); /* bool stays bool: any of them */
    while (n) remove_axis(t, axes[--n]);
}

static int axis_of(const term *t, int l) {
    for (int i = 0; i < t->rank; i++)
        if (t->label[i] == l) return i;
    return -1;
}

/* The labels that the result, or a term other than i and k, needs. */
static labels needed_outside(const sum *s, int i, int k) {
    labels set = s->wanted;
    for (int n = 0; n < s->count; n++)
        if (n != i && n != k) set |= set_of(&s->terms[n]);
    return set;
}

/* ---- two operands ------------------------------------------------------------------------------------------------ */

/* x with its axes in the order of `label`, one element where it has none of that label. */
static lam_tensor *lined_up(const term *t, int rank, const uint8_t label[]) {
    int order[LAM_INNER_RANK], n = 0;
    int64_t dims[LAM_INNER_RANK];
    for (int i = 0; i < rank; i++) {
        int axis = axis_of(t, label[i]);
        dims[i] = axis < 0 ? 1 : lam_dim(t->x, axis);
        if (axis >= 0) order[n++] = axis;
    }
    return lam__apply_reshape(lam_transpose(t->x, (lam_axes){n, order}), rank, dims);
}

/* The product of terms a and b, summed over what only they have. Nothing to sum over: an elementwise product. */
static term contract(const sum *s, const term *a, const term *b, labels needed) {
    int batch[2][LAM_INNER_RANK], inner[2][LAM_INNER_RANK], batches = 0, inners = 0;
    labels common = set_of(a) & set_of(b);
    term out = {.rank = 0};
    for (int i = 0; i < a->rank; i++) {
        if (!(common >> a->label[i] & 1u)) continue;
        bool kept = needed >> a->label[i] & 1u;
        int n = kept ? batches++ : inners++;
        (kept ? batch : inner)[0][n] = i;
        (kept ? batch : inner)[1][n] = axis_of(b, a->label[i]);
        if (kept) out.label[out.rank++] = a->label[i];
    }
    const term *terms[2] = {a, b};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < terms[side]->rank; i++) {
            if (common >> terms[side]->label[i] & 1u) continue;
            if (out.rank == LAM_INNER_RANK)
                return out.x = &s->ctx->failed, refuse(s, LAM_ERR_RANK, "a product has too many axes"), out;
            out.label[out.rank++] = terms[side]->label[i];
        }
    if (!inners) {
        out.x = lam_mul(lined_up(a, out.rank, out.label), lined_up(b, out.rank, out.label));
        return out;
    }
    out.x = lam_dot_general(a->x, b->x,
                            &(lam_dot_options){.contract_x = {inners, inner[0]},
                                               .contract_y = {inners, inner[1]},
                                               .batch_x = {batches, batch[0]},
                                               .batch_y = {batches, batch[1]}});
    return out;
}

/* ---- order of the pairs ------------------------------------------------------------------------------------------ */

/* Multiplications that it takes to go through these labels. */
static double cost_of(const sum *s, labels set) {
    double cost = 1;
    for (int l = 0; l < s->known; l++)
        if (set >> l & 1u) cost *= (double)s->size[l];
    return cost;
}

/* What is left of terms i and k when they are contracted. */
static labels joined(const sum *s, const labels set[], int n, int i, int k) {
    labels needed = s->wanted;
    for (int o = 0; o < n; o++)
        if (o != i && o != k) needed |= set[o];
    return (set[i] | set[k]) & needed;
}

/* The least cost of contracting n <= EXHAUSTIVE sets, and the pair to begin with. Calls itself n - 2 deep. */
static double cheapest(const sum *s, const labels set[], int n, int pair[2]) {
    double best = -1;
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++) {
            labels rest[EXHAUSTIVE];
            int ignored[2], left = 0;
            for (int o = 0; o < n; o++)
                if (o != i && o != k) rest[left++] = set[o];
            rest[left++] = joined(s, set, n, i, k);
            double cost = cost_of(s, set[i] | set[k]) + (left > 1 ? cheapest(s, rest, left, ignored) : 0);
            if (best >= 0 && cost >= best) continue;
            best = cost;
            pair[0] = i;
            pair[1] = k;
        }
    return best;
}

static void greediest(const sum *s, const labels set[], int n, int pair[2]) {
    double best = -1;
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++) {
            double cost = cost_of(s, set[i] | set[k]);
            if (best >= 0 && cost >= best) continue;
            best = cost;
            pair[0] = i;
            pair[1] = k;
        }
}

static void contract_all(sum *s) {
    labels set[MOST_OPERANDS];
    while (s->count > 1) {
        int pair[2] = {0, 1};
        for (int n = 0; n < s->count; n++) set[n] = set_of(&s->terms[n]);
        if (s->count > EXHAUSTIVE) greediest(s, set, s->count, pair);
        else if (s->count > 2) cheapest(s, set, s->count, pair);
        term made = contract(s, &s->terms[pair[0]], &s->terms[pair[1]], needed_outside(s, pair[0], pair[1]));
        s->terms[pair[0]] = made;
        for (int n = pair[1] + 1; n < s->count; n++) s->terms[n - 1] = s->terms[n];
        s->count--;
        if (lam_failed(made.x)) return;
    }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Whether x is one of the operands, which are not to be given back as they are. */
static bool is_given(lam_list operands, const lam_tensor *x) {
    for (size_t i = 0; i < operands.count; i++)
        if (operands.items[i] == x) return true;
    return false;
}

static lam_tensor *evaluate(sum *s, lam_list operands) {
    int order[LAM_INNER_RANK] = {0};
    for (int n = 0; n < s->count; n++) make_distinct(s, &s->terms[n]);
    for (int n = 0; n < s->count; n++) sum_out(&s->terms[n], needed_outside(s, n, n));
    contract_all(s);
    const term *t = &s->terms[0];
    if (lam_failed(t->x)) return &s->ctx->failed;
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

lam_tensor *lam_einsum(const char *subscripts, lam_list operands) {
    lam_tensor *failed;
    sum s; /* most of it stays unused: no time for zeros */
    s.subscripts = subscripts ? subscripts : "";
    s.known = s.dot_count = s.result_rank = 0;
    s.wanted = 0;
    if (!operands.count || !operands.items) return lam__axes_failed(NULL);
    if (operands.count > MOST_OPERANDS)
        return lam__axes_fail("einsum", operands.items[0], LAM_ERR_ARITY, "%zu operands are more than %d",
                              operands.count, MOST_OPERANDS);
    if (!take_operands(&s, operands, &failed)) return failed;
    if (!read_subscripts(&s)) return &s.ctx->failed;
    lam_scope *scope = lam_scope_begin(s.ctx); /* products in between may be large: they go at once */
    lam_tensor *out = evaluate(&s, operands);
    lam_scope_end(scope, &out, 1);
    return out;
}
