/* Drawn convolutions and what they are by definition, for the tests of their kernels. Numbers are small integers, so
 * that sums are exact in any order and every bit is compared. */
#ifndef TESTS_KERNELS_CONVOLUTION_DRAWS_H
#define TESTS_KERNELS_CONVOLUTION_DRAWS_H

#include "lib/kernels/conv/conv.h"
#include "lib/kernels/conv/loops.h"

enum { DRAWS_DTYPES = 6 };

extern const lam_dtype draws_dtypes[DRAWS_DTYPES];

/* Of the set and the dtype; NULL: this machine has not the set, or the dtype has one only. */
const lam__conv_loops *draws_loops(int set, lam_dtype dtype);

/* The next number of a sequence, from low to high. */
int64_t draws_number(uint64_t *state, int64_t low, int64_t high);

/* Elements by their numbers. */
void draws_set(lam_dtype dtype, void *x, int64_t i, double v);
double draws_element(lam_dtype dtype, const void *x, int64_t i);

/* What the sum v is in the dtype. */
double draws_rounded(lam_dtype dtype, double v);

/* Shapes with their steps, and the elements of x, w and the result: any; such as may be gathered from products; with
 * many groups; with many examples; with many features of x; whose places are sums of few products, are apart, are few;
 * with windows of one element. */
void draws_shape(uint64_t *state, lam__conv_case *s, int64_t count[3]);
void draws_gathered(uint64_t *state, lam__conv_case *s, int64_t count[3]);
void draws_groups(uint64_t *state, int64_t lanes, lam__conv_case *s, int64_t count[3]);
void draws_examples(uint64_t *state, int64_t lanes, lam__conv_case *s, int64_t count[3]);
void draws_summed(uint64_t *state, int64_t lanes, lam__conv_case *s, int64_t count[3]);
void draws_few(uint64_t *state, lam__conv_case *s, int64_t count[3]);
void draws_apart(uint64_t *state, lam__conv_case *s, int64_t count[3]);
void draws_places(uint64_t *state, lam__conv_case *s, int64_t count[3]);
void draws_points(uint64_t *state, lam__conv_case *s, int64_t count[3]);

/* Memory behind which lies a page that faults: sanitizers do not see masked loads and stores. */
char *draws_memory(size_t bytes);
void draws_free(char *memory, size_t bytes);

/* n elements in such memory; one in 64 of floats is infinite, if asked for. */
char *draws_elements(uint64_t *state, lam_dtype dtype, int64_t n, bool infinite);

/* Where element e of dims begins, and its index. */
int64_t draws_index(const int64_t dims[6], const int64_t steps[6], int64_t e, int64_t index[6]);

/* The result at place `to`, by definition. */
double draws_sum(const lam__conv_case *s, lam_dtype dtype, const void *x, const void *w, const int64_t to[6]);

#endif
