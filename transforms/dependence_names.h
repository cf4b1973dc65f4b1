/* Arrays of names of sets, for the rows of dependence_rules.c: the names of the elements of an operand, brought to
 * where those of a result are, and united. Arrays that are given are contiguous, of i64, one reference; NULL after a
 * failure, which is on record. */
#ifndef LAM_TRANSFORMS_DEPENDENCE_NAMES_H
#define LAM_TRANSFORMS_DEPENDENCE_NAMES_H

#include "transforms/sets.h"

#include "lib/tensor/value.h"

static inline int64_t *lam__names_of(lam_value *names) {
    return (int64_t *)names->data;
}

/* Of the dims of v, to be filled. */
lam_value *lam__names_like(const lam_value *v);

/* Of these dims from `names`, whose axes have these strides there. */
lam_value *lam__names_gathered(lam_value *names, int rank, const int64_t *dims, const int64_t *strides);

/* To the dims of v as elementwise rows broadcast. NULL stays. */
lam_value *lam__names_broadcast(lam_value *names, const lam_value *v);

/* The unions over all axes but the first `kept` of an order of the axes; the result has those, in that order. */
lam_value *lam__names_united(lam__sets *sets, lam_value *names, const int order[], int kept);

/* The unions over the axes of a set, bit a for axis a. NULL stays. */
lam_value *lam__names_over(lam__sets *sets, lam_value *names, uint32_t set);

/* Of the dims of v, the same along the axes of a set, from `names` which has the others, in their order. Takes `names`
 * over; NULL stays. */
lam_value *lam__names_repeated(lam_value *names, const lam_value *v, uint32_t set);

/* Unions element by element. Both are taken over; one may be NULL, or both. */
lam_value *lam__names_joined(lam__sets *sets, lam_value *a, lam_value *b);

/* Adds the names of a whole array to the union that is being made. */
void lam__names_add(lam__sets *sets, const int64_t *names, int64_t count);

#endif
