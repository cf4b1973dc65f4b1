/* The dtypes that the tests of kernels loop over: those in front of the complex ones, which tests/complex is about. */
#ifndef TESTS_KERNELS_REAL_H
#define TESTS_KERNELS_REAL_H

#include <lamina/base.h>

#define REAL_DTYPES ((lam_dtype)(LAM_BOOL + 1))

#endif
