/* Two words to the compiler, for the few functions that every call of a primitive passes. */
#ifndef LAM_BASE_INLINE_H
#define LAM_BASE_INLINE_H

/* NOTE [short ways]
 * A function on the way of every call that may have to call another one in a rare case pays for it always: registers
 * are saved at its beginning. So such functions do the common case alone and end in a call of a function that lies
 * apart. And those that loop over operands are UNROLLED: called with constants for the counts of most calls, so that
 * loops and offsets are folded, and with variables for all others; one text serves both. */
#if defined(__GNUC__)
#define LAM__UNROLLED static inline __attribute__((always_inline))
#define LAM__APART    __attribute__((noinline))
#else
#define LAM__UNROLLED static inline
#define LAM__APART
#endif

#endif
