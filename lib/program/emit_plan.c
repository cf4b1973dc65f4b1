/* Programs as C, the workspace: who needs how much of it from when to when is noted on the dry walk; then places are
 * given out, the widest first, each the lowest that nobody has at the same time; the walk to the file asks for them in
 * the same order. See emit_writer.h. */
#include "lib/program/emit_writer.h"

#include "lib/tensor/dtype.h"

#include <stdlib.h>
#include <string.h>

/* On the dry walk a place is the number of the request. Blocks begin at multiples of 16 bytes. Each request is one of
 * its own, also where something was given back just before: which of them may share a place is worked out at the end,
 * from their times. */
int64_t lam__emit_reserve(lam__emit *e, lam_dtype dtype, int64_t count) {
    lam__emit_plan *p = &e->plan;
    if (p->made) return p->requests[p->next++].at;
    const int64_t item = (int64_t)lam__dtype_bytes(dtype), step = item < 16 ? 16 / item : 1;
    lam__emit_request *requests = lam__arena_grow(&e->arena, p->requests, p->count, &p->room, sizeof *requests);
    if (!requests) return -1;
    p->requests = requests;
    requests[p->count] = (lam__emit_request){.class = lam__emit_class(dtype),
                                             .count = (count + step - 1) / step * step,
                                             .number = p->count,
                                             .born = p->clock++,
                                             .died = INT64_MAX};
    return p->count++;
}

void lam__emit_give_back(lam__emit *e, int64_t at) {
    if (!e->plan.made) e->plan.requests[at].died = e->plan.clock++;
}

/* Requests of one size in the order in which they were made, so that files do not depend on how qsort orders equals. */
static int by_size(const void *a, const void *b) {
    const lam__emit_request *const *x = a, *const *y = b;
    if ((*x)->class != (*y)->class) return (*x)->class < (*y)->class ? -1 : 1;
    if ((*x)->count != (*y)->count) return (*x)->count > (*y)->count ? -1 : 1;
    return (*x)->number < (*y)->number ? -1 : 1;
}

/* Those that have a place are ordered by it; r goes into the first gap between those alive with it that is wide
 * enough. */
static void place(lam__emit_request *r, lam__emit_request **placed, int64_t count) {
    int64_t at = 0, i = 0;
    for (; i < count; i++) {
        const lam__emit_request *other = placed[i];
        if (other->died < r->born || r->died < other->born) continue;
        if (other->at - at >= r->count) break;
        if (other->at + other->count > at) at = other->at + other->count;
    }
    r->at = at;
    for (i = count; i > 0 && placed[i - 1]->at > at; i--) placed[i] = placed[i - 1];
    placed[i] = r;
}

/* A class after the other; within one, by size. False without memory. Classes are different arrays, so a place of one
 * never meets that of another. */
bool lam__emit_plan_make(lam__emit *e) {
    lam__emit_plan *p = &e->plan;
    const size_t bytes = (size_t)(p->count + 1) * sizeof(lam__emit_request *);
    lam__emit_request **order = lam__arena_get(&e->arena, bytes), **placed = lam__arena_get(&e->arena, bytes);
    if (!order || !placed) return false;
    for (int64_t i = 0; i < p->count; i++) order[i] = &p->requests[i];
    if (p->count) qsort(order, (size_t)p->count, sizeof *order, by_size);
    for (int64_t i = 0, count = 0; i < p->count; i++) {
        lam__emit_request *r = order[i];
        if (i && order[i - 1]->class != r->class) count = 0;
        place(r, placed, count++);
        if (r->at + r->count > p->peak[r->class]) p->peak[r->class] = r->at + r->count;
    }
    p->made = true;
    return true;
}
