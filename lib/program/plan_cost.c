/* What a fused part takes, in nanoseconds: rough numbers, measured once, by which drafts are compared with each other
 * and with calls. See plan_items.h. */
#include "lib/program/plan_items.h"

#include "lib/primitives/rows.h"

/* Sources are read where they have no gaps, which a view may have: calls take it as it is, for lanes it is copied. */
static double copies_cost(const lam__program *p, const lam__region *r) {
    double cost = 0;
    for (int64_t i = 0; i < r->source_count; i++) {
        const int64_t variable = r->sources[i].variable;
        const lam__equation *e = variable < p->inputs ? NULL : lam__program_maker(p, variable);
        if (!e || !e->primitive->view || e->primitive == &lam__row_reshape || !p->types[variable]) continue;
        const double elements = (double)p->types[variable]->count;
        cost += 2 * elements * lam__draft_move_cost(2 * elements);
    }
    return cost;
}

static const lam_value *type_of(const lam__program *p, const lam__source *s) {
    return s->variable >= 0 ? p->types[s->variable] : s->constant;
}

/* Elements of all that a part reads. Zeros are numbers there. */
static double read_elements(const lam__program *p, const lam__region *r) {
    double count = 0;
    for (int64_t i = 0; i < r->source_count; i++) {
        const lam__source *s = &r->sources[i];
        const bool zeros = lam__program_is_zeros(&(lam__atom){s->variable, s->constant});
        if (type_of(p, s) && !zeros) count += (double)s->count;
    }
    return count;
}

/* Machine code takes a third of the time of steps that are run one by one, of one lane an eighth, but what it moves
 * takes as long, unless neighbours go to neighbours or there is one lane alone; lanes apart in memory are waited for
 * one by one. What is read again, as in stencils, is in the first cache. What calls would find in the caches, one after
 * the other, has left them when a part reads and writes all of it, at more places at once than the machine fetches
 * ahead. A part that goes along the data, row by row or from end to end without calls between, is at few of them, and
 * what it reads is there when it comes: it is a pass as a call is, whose cost is that of what it writes. Loops over
 * rows have nothing beside their instructions. */
double lam__plan_part_cost(const lam__program *p, const lam__region *r, const lam__fused *f, bool native) {
    enum { SECOND_CACHE = 1 << 16, PLACES = 64 }; /* elements */
    const double near = 0.2, apart = 1.2, beside = 0.03, far = 3, fetched = 0.5, row = 0.025, begin = 100;
    int64_t small = 0, places = 0, stores = 0, even = 0, large = 0;
    double work = 0; /* of a lane, beside what any instruction takes */
    for (int64_t i = 0; i < f->step_count; i++) {
        const lam__lane_step *s = &f->steps[i];
        work += s->op > LAM__LANE_ARITHMETIC ? (double)s->cost : 0;
        if (s->op != LAM__LANE_LOAD && s->op != LAM__LANE_LINE && s->op != LAM__LANE_STORE) continue;
        const lam_value *type = s->op == LAM__LANE_LOAD ? type_of(p, &r->sources[s->at[1]]) : NULL;
        places++;
        stores += s->op == LAM__LANE_STORE;
        const bool is_even = f->lanes == 1 || s->op == LAM__LANE_LINE || s->as.move.step == 1;
        even += is_even;
        small += !type || type->count <= SECOND_CACHE;
        large += !is_even && type && type->count > SECOND_CACHE;
    }
    const double lanes = (double)f->lanes, moved = lanes * (double)places;
    const double all = read_elements(p, r) + lanes * (double)stores, first = all < moved ? all : moved;
    const bool is_far = moved > 4 * SECOND_CACHE && places > PLACES && !f->by_rows;
    const bool fits = native && (f->by_rows || f->step_count <= LAM__NATIVE_MOST);
    const double moves =
        lanes * (near * (double)(places - even - large) + apart * (double)large + beside * (double)even);
    const double steps = fits ? f->called + (f->cost - f->called) / (f->lanes == 1 ? 8 : 3) + moves : f->cost;
    const double brought = first * lam__draft_move_cost(first);
    const bool along = f->by_rows || (f->lanes > 1 && places == even && places <= PLACES);
    if (fits && along)
        return begin + f->called + lanes * (row * (double)f->step_count + work) + fetched * brought + copies_cost(p, r);
    return steps + brought + (moved - first) * lam__draft_move_cost(0) + copies_cost(p, r) +
           (is_far ? far * lanes * (double)small : 0);
}
