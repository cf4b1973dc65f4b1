/* Drafts: how many lanes a program may have. See draft.h. */
#include "lib/program/draft.h"

/* Sizes that are looked at; scalars that a program has at least for some number of lanes. */
enum { MOST_SIZES = 64, MOST_SCALARS = 1 << 20 };

/* Sizes that lanes may have. weight: elements of the tensors that have it, by half where one axis has it that is not in
 * front. */
typedef struct size_list {
    int64_t size[MOST_SIZES];
    double weight[MOST_SIZES];
    int count;
} size_list;

/* Sizes beyond the list are left out: a draft is a guess at what pays, and may miss one. An axis of one element is no
 * lanes: all lanes would be one. */
static void note_size(size_list *l, int64_t size, double weight) {
    if (size < 2) return;
    int i = 0;
    while (i < l->count && l->size[i] != size) i++;
    if (i == MOST_SIZES) return;
    if (i == l->count) {
        l->size[l->count++] = size;
        l->weight[i] = 0;
    }
    l->weight[i] += weight;
}

/* Nodes that a program has at least, if all of it is lowered. */
static double scalars(const lam__program *p, int64_t lanes) {
    double count = 0;
    for (int64_t v = 0; v < p->variables; v++)
        if (p->types[v]) count += 1 + (double)(p->types[v]->count / lanes);
    return count;
}

/* Whether it matters which of the axes with so many elements are the lanes. Then the first of them and the last are
 * drafts of their own. */
static bool is_square(const lam__program *p, int64_t lanes) {
    for (int64_t v = 0; v < p->variables; v++) {
        const lam_value *type = p->types[v];
        int axes = 0;
        for (int axis = 0; type && axis < type->rank; axis++) axes += type->dims[axis] == lanes;
        if (axes > 1) return true;
    }
    return false;
}

/* The place of the heaviest of the sizes; -1: there are none. Of equal ones the first. */
static int heaviest(const size_list *l) {
    int best = l->count - 1;
    for (int i = 0; i < l->count; i++)
        if (l->weight[i] > l->weight[best]) best = i;
    return best;
}

/* The last axes of most elements with those that may be in the same lanes: so many as the longest of these has. False:
 * there are no others. */
static bool choose_longest(const lam__program *p, lam__draft_lanes *lanes) {
    size_list l = {.count = 0};
    for (int64_t v = 0; v < p->variables; v++) {
        const lam_value *type = p->types[v];
        if (type && type->rank) note_size(&l, type->dims[type->rank - 1], (double)type->count);
    }
    const int64_t most = l.count ? l.size[heaviest(&l)] : 0;
    int64_t longest = most;
    bool differ = false;
    for (int i = 0; i < l.count; i++) {
        const int64_t size = l.size[i];
        if (size == most || !lam__region_may_share(size, most)) continue;
        differ = true;
        if (size > longest) longest = size;
    }
    *lanes = (lam__draft_lanes){.count = longest, .last = true, .shorter = true};
    return differ && scalars(p, longest) <= MOST_SCALARS;
}

/* Sizes of all axes in front together, and of single ones, by how many elements have them; before these two that may
 * take turns. The last place is kept for one lane, which every program can have. A size that is looked at goes from the
 * list, in whose place the last one moves. */
int lam__draft_choices(const lam__program *p, int room, lam__draft_lanes lanes[]) {
    size_list l = {.count = 0};
    for (int64_t v = 0; v < p->variables; v++) {
        const lam_value *type = p->types[v];
        if (!type || !type->count) continue;
        int64_t front = 1;
        for (int axis = 0; axis < type->rank; axis++) {
            front *= type->dims[axis];
            note_size(&l, front, (double)type->count);
            if (front != type->dims[axis]) note_size(&l, type->dims[axis], 0.5 * (double)type->count);
        }
    }
    int n = choose_longest(p, &lanes[0]);
    while (n < room - 1 && l.count) {
        const int best = heaviest(&l);
        const int64_t size = l.size[best];
        if (scalars(p, size) <= MOST_SCALARS) {
            lanes[n++] = (lam__draft_lanes){.count = size};
            if (n < room - 1 && is_square(p, size)) lanes[n++] = (lam__draft_lanes){.count = size, .last = true};
        }
        l.size[best] = l.size[--l.count];
        l.weight[best] = l.weight[l.count];
    }
    if (scalars(p, 1) <= MOST_SCALARS) lanes[n++] = (lam__draft_lanes){.count = 1};
    return n;
}
