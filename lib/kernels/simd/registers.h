/* What keeps vectors in registers where compilers would rather have them in memory. */
#ifndef LAM_KERNELS_SIMD_REGISTERS_H
#define LAM_KERNELS_SIMD_REGISTERS_H

/* Loops over registers: unrolled before anything else looks at them, or they would be blocks of memory. */
#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

/* What is used twice is read once: compilers would read it again in each instruction, which halves the speed of what
 * lies in the second cache, or at no alignment. */
#if defined(__SSE2__)
#define READ_ONCE(v) __asm__("" : "+v"(v))
#else
#define READ_ONCE(v) (void)(v)
#endif

#endif
