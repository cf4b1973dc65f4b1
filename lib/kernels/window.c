/* Reductions over windows that slide along one axis. Windows of several axes are worked on axis by axis, since their
 * sums, maxima and minima can be; the cost is the sum of the window's sides, not their product. Where the largest
 * element of a window stands is asked for of all axes at once. Padding is never there: places outside of the operand,
 * and between its elements where it is dilated, are left out. */
#include "lib/kernels/window_simd.h"

/* The widest loops that this machine and this build have. */
static const lam__window_set *loops(void) {
#if defined(LAM__HAVE_X86_64_LEVELS)
    const lam__simd *simd = lam__elementwise_simd();
    if (simd == &lam__simd_v4) return &lam__window_simd_v4;
    if (simd == &lam__simd_v3) return &lam__window_simd_v3;
#endif
    return &lam__window_simd_v1;
}

/* False, and nothing written, for a reduction or a dtype that has no loop; with s->outer == 0 the call only asks. */
bool lam__kernels_window(lam__reduce_id id, lam_dtype dtype, const lam__lanes *s, const lam__window_axis *a,
                         const void *x, void *out) {
    lam__window_loop *loop = loops()->loop[id][dtype];
    if (loop && s->outer) loop(s, a, x, out);
    return loop;
}

/* Positions count through the axes of the windows in row-major order. A window that meets no element gives the number
 * of elements, which is no position: whoever gathers by it takes what lies outside. */
bool lam__kernels_window_arg(bool maximum, lam_dtype dtype, int64_t outer, const lam__windows *w, const void *x,
                             int64_t *out) {
    lam__window_search *search = (maximum ? loops()->greatest : loops()->least)[dtype];
    if (search) search(outer, w, x, out);
    return search;
}
