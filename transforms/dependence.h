/* What depends on what: an interpreter whose boxes know, for each of their elements, by which elements of one input it
 * has a derivative. */
#ifndef LAM_TRANSFORMS_DEPENDENCE_H
#define LAM_TRANSFORMS_DEPENDENCE_H

#include "transforms/sets.h"

#include "lib/dispatch/fn.h"

/* Runs f at in[], with input `input` as what is depended on. *depends: an i64 value of the dims of output 0, the name
 * in `sets` (started, for as many numbers as the input has elements) of the set of each element; NULL where nothing
 * depends on the input. *first: that output, without what it depends on. The other outputs are given up. */
lam_status lam__dependence_run(lam_fn *f, int input, lam_value *const in[], lam__sets *sets, lam_value **first,
                               lam_value **depends);

/* Whether the elements of v follow from what is depended on, as far as a level says that is open: v is a box of it, or
 * boxes of other levels lie around one. */
bool lam__dependence_sees(const lam_value *v);

/* Whether a box of such a level tells nothing about a further derivative: its elements follow from the input without
 * having a derivative by it, or the level is one that looks into a rule. */
bool lam__dependence_is_once(const lam_value *box);

/* For rows: names[] of operands (NULL: empty sets, everywhere) to depends[] of the results out[], which the call has
 * given. varies[i]: the elements of operand i, though no derivative goes through them, follow from the input, as places
 * and choices do. In dependence_rules.c. */
lam_status lam__dependence_of(lam__sets *sets, const lam_call_site *call, lam_value *const names[], const bool varies[],
                              lam_value *const out[], lam_value *depends[]);

#endif
