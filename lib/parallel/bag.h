/* Bags of rows shared among threads. */
#ifndef LAM_PARALLEL_BAG_H
#define LAM_PARALLEL_BAG_H

#include "lib/kernels/bag.h"
#include "lib/parallel/parallel.h"

/* False: as lam__kernels_bag. */
bool lam__parallel_bag(lam__team *team, lam__bag_op op, lam_dtype dtype, const lam__bag *bag);

#endif
