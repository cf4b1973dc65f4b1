/* Entries of sparse matrices beside whole ones, and how many directions they take. */
#ifndef LAM_TESTS_TRANSFORMS_ENTRIES_H
#define LAM_TESTS_TRANSFORMS_ENTRIES_H

#include <lamina/lamina.h>

/* Six numbers. */
lam_tensor *point(void);

/* A vector without what is before, and without its last element. */
lam_tensor *from(lam_tensor *x, int64_t first);
lam_tensor *but_last(lam_tensor *x);

/* A matrix of zeros but for these entries; repeated ones add up. */
lam_tensor *dense(lam_tensor *pairs, lam_tensor *entries, int64_t rows, int64_t columns);

/* Whether the program of a sparse derivative at x has an array of so many directions, and none of more. */
void expect_directions(lam_fn *sparse, lam_tensor *x, int64_t directions);

#endif
