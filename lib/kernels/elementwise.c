/* Drives elementwise loops over strided operands, and picks the loops of the widest instruction set the machine has.
 * The plan of a walk: axes of size 1 dropped, sorted by the output's strides, merged where every operand lets them;
 * one axis becomes the inner run. Where the runs would be short, or an operand is transposed, parts of the operands are
 * brought in order first (elementwise_blocks.c, elementwise_tiles.c); what those do not take is walked in squares, so
 * that cache lines are used up before they leave. Nothing is allocated. */
#include "lib/kernels/elementwise_walk.h"
#include "lib/kernels/places.h"

#include <stdatomic.h>
#include <string.h>

#include "lib/kernels/reference/reference.h"
#include "lib/kernels/simd/simd.h"

enum { OPERANDS = LAM__WALK_OPERANDS };

/* ---- choice of the instruction set ---------------------------------------------------------------------- */

/* The level of x86-64 that all instructions of a build belong to; a part of a level is not used, so there are three
 * texts to test and not a dozen. */
static const lam__simd *detect(void) {
#if defined(LAM__HAVE_X86_64_LEVELS)
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    return v4 ? &lam__simd_v4 : v3 ? &lam__simd_v3 : &lam__simd_v1;
#else
    return &lam__simd_v1;
#endif
}

/* The cache of a fact about the hardware: whichever thread writes it, it writes the same. */
const lam__simd *lam__elementwise_simd(void) {
    static _Atomic(const lam__simd *) chosen;
    const lam__simd *simd = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (!simd) {
        simd = detect();
        atomic_store_explicit(&chosen, simd, memory_order_relaxed);
    }
    return simd;
}

/* A build for processors with fma has it in all sets, the baseline included. */
bool lam__kernels_fuses(void) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return true;
#else
    return lam__elementwise_simd() != &lam__simd_v1; /* all others have it */
#endif
}

/* Narrow floats have loops that wrap those of f32; all others are tables by instruction set. */
lam__loop *lam__kernels_loop(lam__loop_id id, lam_dtype dtype) {
    if (dtype == LAM_F16 || dtype == LAM_BF16) return lam__elementwise_half_loop(id, dtype);
    return lam__elementwise_simd()->loop(id, dtype);
}

/* Both at once, since the reduction of the argument is done once for both. */
void lam__kernels_sincos(lam_dtype dtype, int64_t n, const void *x, void *sine, void *cosine) {
    lam__elementwise_simd()->sincos(dtype)(n, x, sine, cosine);
}

/* NULL is a valid answer: then two calls cost no more than one that does both. */
lam__pair_loop *lam__kernels_sloped(lam__loop_id id, lam_dtype dtype) {
    return lam__elementwise_simd()->sloped(id, dtype);
}

/* ---- walking ------------------------------------------------------------------------------------------- */

/* Strides are compared by their sizes, since a reversed axis is as slow as the axis it reverses. */
static int64_t magnitude(int64_t x) {
    return x < 0 ? -x : x;
}

/* The slower axis goes outside: larger strides of the output, then of the inputs. Of equal ones the order stays. Inputs
 * that are broadcast, with strides of 0, decide nothing unless all before are equal. Sizes of strides, since an axis
 * may be walked from either end. */
static bool is_slower(const lam__walk *w, const lam__walk_axis *a, const lam__walk_axis *b) {
    for (int k = 0; k < w->operands; k++) {
        int64_t x = magnitude(a->stride[k]), y = magnitude(b->stride[k]);
        if (x != y) return x > y;
    }
    return false;
}

/* Whether two axes are one for every operand: the outer one goes on where the inner one ends. */
static bool can_merge(const lam__walk *w, const lam__walk_axis *outer, const lam__walk_axis *inner) {
    for (int k = 0; k < w->operands; k++)
        if (outer->stride[k] != inner->stride[k] * inner->dim) return false;
    return true;
}

/* Insertion sort: ranks are small, and axes nearly always come in order. It is stable. */
static void sort_axes(lam__walk *w) {
    for (int i = 1; i < w->rank; i++)
        for (int j = i; j > 0 && is_slower(w, &w->axes[j], &w->axes[j - 1]); j--) {
            /* Axes change places one step at a time, so equal ones never pass each other. */
            lam__walk_axis swap = w->axes[j];
            w->axes[j] = w->axes[j - 1];
            w->axes[j - 1] = swap;
        }
}

/* Merged axes cost one loop; whole arrays in any common order come out as a single axis. Axes are sorted by then. */
static void merge_axes(lam__walk *w) {
    int kept = 0;
    for (int i = 1; i < w->rank; i++) {
        if (can_merge(w, &w->axes[kept], &w->axes[i])) {
            int64_t dim = w->axes[kept].dim * w->axes[i].dim;
            w->axes[kept] = w->axes[i];
            w->axes[kept].dim = dim;
        } else {
            w->axes[++kept] = w->axes[i];
        }
    }
    w->rank = kept + 1;
}

/* Fills the axes; false if there is no element to compute. At least one axis remains. Axes of one element say nothing
 * and are left out. */
static bool read_axes(lam__walk *w, int rank, const int64_t *dims, const int64_t *const strides[]) {
    for (int a = 0; a < rank; a++) {
        if (dims[a] == 0) return false;
        if (dims[a] == 1) continue;
        lam__walk_axis *to = &w->axes[w->rank++];
        to->dim = dims[a];
        for (int k = 0; k < w->operands; k++) to->stride[k] = strides[k][a] * (int64_t)w->item[k];
    }
    if (w->rank == 0) {
        w->axes[w->rank++] = (lam__walk_axis){.dim = 1};
        for (int k = 0; k < w->operands; k++) w->axes[0].stride[k] = (int64_t)w->item[k];
    }
    return true;
}

/* Runs the last axis as the inner loop, the others as an odometer that carries from the back. Pointers move by
 * additions only; an axis at its end takes them back by what it has added. */
static void walk(const lam__walk *w, char *const base[]) {
    int64_t at[LAM__MAX_AXES] = {0}, step[OPERANDS] = {0};
    void *p[OPERANDS];
    const lam__walk_axis *inner = &w->axes[w->rank - 1];
    for (int k = 0; k < w->operands; k++) {
        p[k] = base[k];
        step[k] = inner->stride[k] / (int64_t)w->item[k];
    }
    for (;;) {
        w->loop(inner->dim, p, step, w->params);
        int a = w->rank - 2;
        for (; a >= 0 && ++at[a] == w->axes[a].dim; a--) {
            at[a] = 0;
            for (int k = 0; k < w->operands; k++) p[k] = (char *)p[k] - (w->axes[a].dim - 1) * w->axes[a].stride[k];
        }
        if (a < 0) return;
        for (int k = 0; k < w->operands; k++) p[k] = (char *)p[k] + w->axes[a].stride[k];
    }
}

/* Sizes measured, not derived: a RUN stays in the first cache with its neighbours, a TILE by TILE square of 8-byte
 * elements fits there and uses whole cache lines. */
enum { SHORT = LAM__WALK_SHORT, RUN = 1024, TILE = 64 };

/* Walks with the last axis cut into pieces of `run` and axis `other` into pieces of `tile`, pieces outermost. `other`
 * may be an axis that is not cut, where tile is its dim. The axes of w are changed on the way and have their last
 * pieces in the end, so w serves for one walk. */
static void walk_tiles(lam__walk *w, void *const p[], int64_t run, int other, int64_t tile) {
    lam__walk_axis *inner = &w->axes[w->rank - 1], *outer = &w->axes[other];
    int64_t run_end = inner->dim, tile_end = outer->dim;
    char *base[OPERANDS];
    for (int64_t i = 0; i < run_end; i += run) {
        inner->dim = run < run_end - i ? run : run_end - i;
        for (int64_t j = 0; j < tile_end; j += tile) {
            outer->dim = tile < tile_end - j ? tile : tile_end - j;
            for (int k = 0; k < w->operands; k++) base[k] = (char *)p[k] + i * inner->stride[k] + j * outer->stride[k];
            walk(w, base);
        }
    }
}

/* Of equal ones the last, which is the nearest in memory. Its runs touch the most neighbours. */
static int longest_axis(const lam__walk *w) {
    int longest = w->rank - 1;
    for (int a = 0; a < w->rank - 1; a++)
        if (w->axes[a].dim > w->axes[longest].dim) longest = a;
    return longest;
}

/* The others keep their order. An axis in the middle goes to the end. */
static void make_last(lam__walk *w, int a) {
    lam__walk_axis moved = w->axes[a];
    memmove(&w->axes[a], &w->axes[a + 1], (size_t)(w->rank - 1 - a) * sizeof(lam__walk_axis));
    w->axes[w->rank - 1] = moved;
}

/* The axis along which some input moves in smaller steps than along the last: the two are transposed. Or -1. Inputs
 * that stay where they are along an axis have no say. */
static int transposed_axis(const lam__walk *w) {
    for (int k = 1; k < w->operands; k++) {
        int64_t least = magnitude(w->axes[w->rank - 1].stride[k]);
        int found = -1;
        for (int a = 0; a < w->rank - 1; a++) {
            int64_t stride = magnitude(w->axes[a].stride[k]);
            if (stride && stride < least) {
                least = stride;
                found = a;
            }
        }
        if (found >= 0) return found;
    }
    return -1;
}

/* In this order: parts brought in order first, where that pays; runs along the longest axis where those along the last
 * would be short, RUN elements at a time, so that the lines they touch are still there for the next run; squares, where
 * an operand is transposed; else as it lies. */
static void walk_best(lam__walk *w, void *const p[]) {
    const bool brief = w->axes[w->rank - 1].dim < SHORT;
    if ((!brief && lam__elementwise_tiles(w, p)) || lam__elementwise_blocks(w, p)) return;
    int longest = brief ? longest_axis(w) : w->rank - 1;
    if (longest != w->rank - 1) {
        make_last(w, longest);
        walk_tiles(w, p, RUN, 0, w->axes[0].dim);
        return;
    }
    int other = transposed_axis(w);
    if (other >= 0) walk_tiles(w, p, TILE, other, TILE);
    else walk_tiles(w, p, w->axes[w->rank - 1].dim, 0, w->axes[0].dim);
}

/* The number of elements if every operand is dense in row-major order, as most are, else -1. */
static int64_t dense_count(int operands, int rank, const int64_t *dims, const int64_t *const strides[]) {
    int64_t count = 1;
    for (int a = rank - 1; a >= 0; a--) {
        for (int k = 0; k < operands; k++)
            if (strides[k][a] != count && dims[a] != 1) return -1;
        count *= dims[a];
    }
    return count;
}

/* Nearly all calls are dense and leave at once, which is why the walk is set up by hand and not cleared. */
void lam__kernels_elementwise(lam__loop *loop, int operands, int rank, const int64_t *dims,
                              const int64_t *const strides[], void *const p[], const size_t item[],
                              const void *params) {
    static const int64_t ones[OPERANDS] = {1, 1, 1, 1};
    /* Also where there are no elements: the loop then does nothing. */
    int64_t count = dense_count(operands, rank, dims, strides);
    if (count >= 0) {
        loop(count, p, ones, params);
        return;
    }
    lam__walk w;
    w.loop = loop;
    w.params = params;
    w.operands = operands;
    w.rank = 0;
    memcpy(w.item, item, (size_t)operands * sizeof *item);
    if (!read_axes(&w, rank, dims, strides)) return;
    sort_axes(&w);
    merge_axes(&w);
    if (w.rank > 1) {
        walk_best(&w, p);
        return;
    }
    /* One axis is left. Long runs in steps are brought in order by blocks; a short one costs less as it is. */
    if (w.axes[0].dim >= SHORT && lam__elementwise_blocks(&w, p)) return;
    int64_t step[OPERANDS] = {0};
    for (int k = 0; k < operands; k++) step[k] = w.axes[0].stride[k] / (int64_t)item[k];
    loop(w.axes[0].dim, p, step, params);
}
