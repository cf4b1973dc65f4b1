/* How arrays are cut for a team: the first axes, as many of them as give pieces enough, are counted through as one, and
 * a piece is a range of that count. Within it the last of these axes is taken in runs, so a kernel sees whole boxes.
 * What is not shared is one box. */
#include "lib/parallel/parallel.h"

typedef struct cut {
    int axes, rank; /* axes: those that are counted through */
    const int64_t *dims;
    lam__parallel_box *visit;
    void *env;
} cut;

/* Items wanted for each thread: more than the pieces it gets, so that pieces are of one size. */
enum { ITEMS_EACH = 16 };

/* Items [begin, end) of the counted axes as boxes: a range that ends in the middle of a row of the last counted axis is
 * cut there, so there are at most two partial boxes and whole rows between them. */
static void run_boxes(void *env, int64_t begin, int64_t end, int worker) {
    const cut *c = env;
    int64_t start[LAM__MAX_AXES] = {0}, dims[LAM__MAX_AXES];
    for (int i = 0; i < c->rank; i++) dims[i] = i < c->axes ? 1 : c->dims[i];
    /* With no axis to be counted nothing is shared, so there is always a last one here. */
    const int last = c->axes - 1;
    while (begin < end) {
        int64_t outer = begin;
        for (int i = last; i >= 0; i--) {
            start[i] = outer % c->dims[i];
            outer /= c->dims[i];
        }
        const int64_t left = c->dims[last] - start[last];
        dims[last] = left < end - begin ? left : end - begin;
        c->visit(c->env, start, dims, worker);
        begin += dims[last];
    }
}

/* Only the first `axes` may be cut. As many of them are counted as one as give each thread ITEMS_EACH items, no more:
 * boxes stay large. */
void lam__parallel_boxes(lam__team *team, int axes, int rank, const int64_t *dims, double cost,
                         lam__parallel_box *visit, void *env) {
    static const int64_t origin[LAM__MAX_AXES];
    cut c = {.rank = rank, .dims = dims, .visit = visit, .env = env};
    int64_t items = 1;
    const int64_t enough = (int64_t)lam__team_size(team) * ITEMS_EACH;
    for (int i = 0; i < axes; i++)
        if (dims[i] == 0) return;
    while (c.axes < axes && items < enough) items *= dims[c.axes++];
    if (items > 1 && lam__team_shares(team, cost)) lam__team_run(team, items, cost / (double)items, run_boxes, &c);
    else visit(env, origin, dims, 0);
}

int64_t lam__parallel_offset(int rank, const int64_t *start, const int64_t *strides) {
    int64_t offset = 0;
    for (int i = 0; i < rank; i++) offset += start[i] * strides[i];
    return offset;
}

double lam__parallel_count(int rank, const int64_t *dims) {
    double count = 1;
    for (int i = 0; i < rank; i++) count *= (double)dims[i];
    return count;
}
