/* Arrays of names: see dependence_names.h. The axes of an operand are brought into order by its strides, so that names
 * that are united, or that belong to one result, lie side by side. */
#include "transforms/dependence_names.h"

/* By the context of v, which need not be a value with names. */
lam_value *lam__names_like(const lam_value *v) {
    return lam__value_new(lam__full(v)->ctx, LAM_I64, v->rank, v->dims);
}

/* A view brings them into order, which may leave axes out or repeat them; the copy makes them neighbours. Arrays are
 * contiguous when they are given, so strides may be counted from the first element. */
lam_value *lam__names_gathered(lam_value *names, int rank, const int64_t *dims, const int64_t *strides) {
    lam_value *view = lam__value_view(names, rank, dims, strides, 0), *all = NULL;
    if (view) all = lam__value_contiguous(view);
    lam__value_release(view);
    return all;
}

/* Axes line up from the last one on. NULL gives NULL, so a caller may go on with what could not be made and looks at
 * the end. */
lam_value *lam__names_broadcast(lam_value *names, const lam_value *v) {
    int64_t strides[LAM_INNER_RANK];
    if (!names) return NULL;
    const int behind = v->rank - names->rank;
    for (int i = 0; i < v->rank; i++)
        strides[i] = i < behind || names->dims[i - behind] == 1 ? 0 : names->strides[i - behind];
    return lam__names_gathered(names, v->rank, v->dims, strides);
}

/* Neighbours are often the same. */
void lam__names_add(lam__sets *sets, const int64_t *names, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || names[i] != names[i - 1]) lam__sets_add(sets, names[i]);
}

/* Axes that are kept come first in the copy, so that what is united for one element of the result is a line of `group`
 * names. Sets are looked through once for each result, whatever their number. */
lam_value *lam__names_united(lam__sets *sets, lam_value *names, const int order[], int kept) {
    int64_t dims[LAM_INNER_RANK], strides[LAM_INNER_RANK], group = 1;
    for (int i = 0; i < names->rank; i++) {
        dims[i] = names->dims[order[i]];
        strides[i] = names->strides[order[i]];
        if (i >= kept) group *= dims[i];
    }
    lam_value *lines = lam__names_gathered(names, names->rank, dims, strides);
    lam_value *all = lines ? lam__value_new(sets->ctx, LAM_I64, kept, dims) : NULL;
    for (int64_t i = 0; all && i < all->count; i++) {
        lam__names_add(sets, lam__names_of(lines) + i * group, group);
        lam__names_of(all)[i] = lam__sets_take(sets);
    }
    lam__value_release(lines);
    return all;
}

/* Those that stay in front, each group in its order. */
lam_value *lam__names_over(lam__sets *sets, lam_value *names, uint32_t set) {
    int order[LAM_INNER_RANK], kept = 0;
    if (!names) return NULL;
    for (int i = 0; i < names->rank; i++)
        if (!(set >> i & 1u)) order[kept++] = i;
    for (int i = 0, n = kept; i < names->rank; i++)
        if (set >> i & 1u) order[n++] = i;
    return lam__names_united(sets, names, order, kept);
}

/* A stride of 0 repeats. The stride of the others is taken in their order. */
lam_value *lam__names_repeated(lam_value *names, const lam_value *v, uint32_t set) {
    int64_t strides[LAM_INNER_RANK];
    if (!names) return NULL;
    for (int i = 0, from = 0; i < v->rank; i++) strides[i] = set >> i & 1u ? 0 : names->strides[from++];
    lam_value *all = lam__names_gathered(names, v->rank, v->dims, strides);
    lam__value_release(names);
    return all;
}

/* Of two arrays of one shape; where one is missing the other is the union. */
lam_value *lam__names_joined(lam__sets *sets, lam_value *a, lam_value *b) {
    if (!a || !b) return a ? a : b;
    lam_value *both = lam__names_like(a);
    for (int64_t i = 0; both && i < a->count; i++)
        lam__names_of(both)[i] = lam__sets_union(sets, lam__names_of(a)[i], lam__names_of(b)[i]);
    lam__value_release(a);
    lam__value_release(b);
    return both;
}
