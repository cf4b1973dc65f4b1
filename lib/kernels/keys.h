/* Random bits of many keys, one element of each, for samples of which each splits keys of its own; and what makes
 * integers of a range of them. */
#ifndef LAM_KERNELS_KEYS_H
#define LAM_KERNELS_KEYS_H

#include "lib/kernels/kernels.h"

/* Largest spans of remainders: of words of 64 bits, so that a sum of products of their halves stays below 2^52, and of
 * 32, so that jax.random's do not wrap. */
enum { LAM__KEYS_SPAN64 = 1 << 18, LAM__KEYS_SPAN32 = 1 << 16 };

/*   each        element i is that of the key whose words are the halves of keys[i], at `counter`, to which places[i] is
 *               added (NULL: nothing). Forms are those of lam__kernels_random below LAM__RANDOM_RANGE64; elements of
 *               eight bytes may be written over the keys
 *   remainders  high 2^64 + low, or of words of 32 bits high 2^32 + low, modulo span, in the place of high */
typedef struct lam__keys_set {
    void (*each)(lam__random_form form, int64_t n, const uint64_t *keys, uint64_t counter, const uint64_t *places,
                 void *out);
    void (*remainders)(bool wide, uint32_t span, int64_t n, void *high, const void *low);
} lam__keys_set;

extern const lam__keys_set lam__keys_v1;
#if defined(LAM__HAVE_X86_64_LEVELS)
extern const lam__keys_set lam__keys_v3, lam__keys_v4;
#endif

/* For this machine. */
const lam__keys_set *lam__kernels_keys(void);

#endif
