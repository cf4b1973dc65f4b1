/* Random bits of many keys, one element of each: for samples of which each splits keys of its own. */
#ifndef LAM_KERNELS_KEYS_H
#define LAM_KERNELS_KEYS_H

#include "lib/kernels/kernels.h"

/* Element i is that of the key whose words are the halves of keys[i], at `counter`, to which places[i] is added (NULL:
 * nothing). Forms are those of lam__kernels_random below LAM__RANDOM_RANGE64; elements of eight bytes may be written
 * over the keys. */
typedef void lam__keys_loop(lam__random_form form, int64_t n, const uint64_t *keys, uint64_t counter,
                            const uint64_t *places, void *out);

extern lam__keys_loop lam__keys_v1;
#if defined(LAM__HAVE_X86_64_LEVELS)
extern lam__keys_loop lam__keys_v3, lam__keys_v4;
#endif

/* The loop for this machine. */
lam__keys_loop *lam__kernels_keys(void);

#endif
