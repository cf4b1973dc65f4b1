/* The doors to the loops that are compiled once per instruction set: LAM__ISA is the suffix the build gives each
 * compilation (v1 the baseline of the architecture, v3 x86-64-v3, v4 x86-64-v4). Every set offers the same
 * functions; lib/kernels/elementwise.c picks one set for the machine and uses it throughout. */
#ifndef LAM_KERNELS_SIMD_H
#define LAM_KERNELS_SIMD_H

#include "lib/kernels/kernels.h"

/* Moving items of one size; steps in items. dst has no item in common with src.
 *   columns  dst[i * to_step + j] = from[j][i * step[j]]
 *   rows     dst[i * dst_step + j] = src[i * src_step + j]
 *   plane    dst[i * dst_step + j] = src[i + j * src_step]; far: most of dst is not in a cache
 *   grid     dst[i * dst_step + j] = src[i * row_step + j * item_step]
 *   spread   dst[i * dst_step + j * item_step] = src[i * src_step + j]
 *   repeat   dst[i * n + j] = src[i * step]; may write up to three items more */
typedef struct lam__turn {
    void (*columns)(int64_t rows, int64_t n, const void *const from[], const int64_t step[], void *dst,
                    int64_t to_step);
    void (*rows)(int64_t rows, int64_t n, const void *src, int64_t src_step, void *dst, int64_t dst_step);
    void (*plane)(int64_t rows, int64_t n, const void *src, int64_t src_step, void *dst, int64_t dst_step, bool far);
    void (*grid)(int64_t rows, int64_t n, const void *src, int64_t row_step, int64_t item_step, void *dst,
                 int64_t dst_step);
    void (*spread)(int64_t rows, int64_t n, const void *src, int64_t src_step, void *dst, int64_t dst_step,
                   int64_t item_step);
    void (*repeat)(int64_t rows, int64_t n, const void *src, int64_t step, void *dst);
} lam__turn;

/* One compiled set. loop(id, dtype): NULL where the operation has no meaning for the dtype. sincos(dtype): of f64 and
 * f32. convert(dst, src): never NULL; one input, as in a lam__loop. threefry: see lam__kernels_random. turn(bytes): for
 * items of one to eight bytes, else NULL. stream: see lam__kernels_stream. sloped(id, dtype): see
 * lam__kernels_sloped. */
typedef struct lam__simd {
    const char *name;
    lam__loop *(*loop)(lam__loop_id id, lam_dtype dtype);
    lam__pair_loop *(*sincos)(lam_dtype dtype);
    lam__loop *(*convert)(lam_dtype dst, lam_dtype src);
    void (*threefry)(lam__random_form form, const uint32_t key[2], uint64_t first, int64_t n, void *out);
    const lam__turn *(*turn)(int64_t bytes);
    void (*stream)(size_t bytes, void *dst, const void *src);
    lam__pair_loop *(*sloped)(lam__loop_id id, lam_dtype dtype);
} lam__simd;

extern const lam__simd lam__simd_v1;
#if defined(LAM__HAVE_X86_64_LEVELS)
extern const lam__simd lam__simd_v3, lam__simd_v4;
#endif

/* The set for this machine. */
const lam__simd *lam__elementwise_simd(void);

/* The loop on a 16-bit float (elementwise_half.c); NULL where f32 has none. */
lam__loop *lam__elementwise_half_loop(lam__loop_id id, lam_dtype dtype);

/* Inside a set's own sources: LAM__ISA_NAME(lam__convert_find_) is lam__convert_find_v4 and so on. */
#if defined(LAM__ISA)
#define LAM__JOIN_(a, b)    a##b
#define LAM__JOIN(a, b)     LAM__JOIN_(a, b)
#define LAM__ISA_NAME(name) LAM__JOIN(name, LAM__ISA)

lam__loop *LAM__ISA_NAME(lam__convert_find_)(lam_dtype dst, lam_dtype src);
void LAM__ISA_NAME(lam__threefry_)(lam__random_form form, const uint32_t key[2], uint64_t first, int64_t n, void *out);
lam__loop *LAM__ISA_NAME(lam__complex_find_)(lam__loop_id id, lam_dtype dtype);
lam__loop *LAM__ISA_NAME(lam__plane_find_)(lam__loop_id id, lam_dtype dtype);
const lam__turn *LAM__ISA_NAME(lam__turn_of_)(int64_t bytes);
void LAM__ISA_NAME(lam__turn_stream_)(size_t bytes, void *dst, const void *src);
lam__loop *LAM__ISA_NAME(lam__special_find_)(lam__loop_id id, lam_dtype dtype);
lam__pair_loop *LAM__ISA_NAME(lam__sloped_find_)(lam__loop_id id, lam_dtype dtype);
#endif

#endif
