/* What the tests of convolutions draw and compare with: shapes, operands that lie in any way, and the sum over all
 * elements that a place meets, written out. See convolution_draws.h. */
#define _DEFAULT_SOURCE /* mmap */
#include "tests/unmarked.h"
#include "tests/kernels/convolution_draws.h"

#include "lib/kernels/item.h"

#include "tests/kernels/sets.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

const lam_dtype draws_dtypes[DRAWS_DTYPES] = {LAM_F64, LAM_F32, LAM_I64, LAM_I32, LAM_U8, LAM_BOOL};

/* Of the set and the dtype; NULL: this machine has not the set, or the dtype has one only. */
const lam__conv_loops *draws_loops(int set, lam_dtype dtype) {
    const lam__simd *sets[SETS];
    if (set >= sets_of_machine(sets)) return NULL;
    if (dtype != LAM_F64 && dtype != LAM_F32) return set ? NULL : &lam__conv_loops_plain[dtype];
#if defined(LAM__HAVE_X86_64_LEVELS)
    if (sets[set] == &lam__simd_v4) return &lam__conv_loops_v4[dtype == LAM_F32];
    if (sets[set] == &lam__simd_v3) return &lam__conv_loops_v3[dtype == LAM_F32];
#endif
    return &lam__conv_loops_v1[dtype == LAM_F32];
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

int64_t draws_number(uint64_t *state, int64_t low, int64_t high) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return low + (int64_t)((*state >> 33) % (uint64_t)(high - low + 1));
}

void draws_set(lam_dtype dtype, void *x, int64_t i, double v) {
    switch (dtype) {
    case LAM_F64: ((double *)x)[i] = v; return;
    case LAM_F32: ((float *)x)[i] = (float)v; return;
    case LAM_I64: ((int64_t *)x)[i] = (int64_t)v; return;
    case LAM_I32: ((int32_t *)x)[i] = (int32_t)v; return;
    case LAM_BOOL: ((uint8_t *)x)[i] = v != 0; return;
    default: ((uint8_t *)x)[i] = (uint8_t)(int64_t)v; return;
    }
}

double draws_element(lam_dtype dtype, const void *x, int64_t i) {
    switch (dtype) {
    case LAM_F64: return ((const double *)x)[i];
    case LAM_F32: return (double)((const float *)x)[i];
    case LAM_I64: return (double)((const int64_t *)x)[i];
    case LAM_I32: return (double)((const int32_t *)x)[i];
    default: return ((const uint8_t *)x)[i];
    }
}

/* What the sum v is in the dtype. */
double draws_rounded(lam_dtype dtype, double v) {
    return dtype == LAM_BOOL ? v != 0 : dtype == LAM_U8 ? (double)((int64_t)v & 255) : v;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static lam__conv_axis draw_axis(uint64_t *state, int64_t longest) {
    lam__conv_axis a = {.size = draws_number(state, 1, longest), .window = draws_number(state, 1, 4), .out = 0};
    if (draws_number(state, 0, 3) == 0) a.window = draws_number(state, 1, longest); /* as gradients have it */
    a.stride = draws_number(state, 0, 1) ? 1 : draws_number(state, 1, 3);
    a.gap = draws_number(state, 0, 2) ? 1 : draws_number(state, 1, 3);
    a.spread = draws_number(state, 0, 1) ? 1 : draws_number(state, 1, 3);
    a.low = draws_number(state, -1, 2);
    const int64_t room = (a.size - 1) * a.gap + draws_number(state, 0, 3) + a.low - (a.window - 1) * a.spread;
    a.out = room < 0 ? 0 : room / a.stride + 1;
    return a;
}

/* Steps of an array of these dims whose axes lie in memory in a drawn order; returns its elements. */
static int64_t draw_steps(uint64_t *state, const int64_t dims[6], int64_t steps[6]) {
    int order[6] = {0, 1, 2, 3, 4, 5};
    int64_t count = 1;
    for (int i = 0; i < 2; i++) {
        const int a = (int)draws_number(state, 0, 5), b = (int)draws_number(state, 0, 5), swap = order[a];
        order[a] = order[b];
        order[b] = swap;
    }
    for (int i = 5; i >= 0; i--) {
        steps[order[i]] = count;
        count *= dims[order[i]];
    }
    return count;
}

/* Operands that lie in any way; elements of x and w. out has no gaps. */
static void draw_all_steps(uint64_t *state, lam__conv_case *s, int64_t count[3]) {
    const lam__conv_axis *a = s->axis;
    const int64_t x[6] = {s->groups, s->n, s->c, a[0].size, a[1].size, a[2].size};
    const int64_t w[6] = {s->groups, s->o, s->c, a[0].window, a[1].window, a[2].window};
    const int64_t out[6] = {s->groups, s->n, s->o, a[0].out, a[1].out, a[2].out};
    count[0] = draw_steps(state, x, s->x_step);
    count[1] = draw_steps(state, w, s->w_step);
    count[2] = 1;
    for (int i = 5; i >= 0; i--) {
        s->out_step[i] = count[2];
        count[2] *= out[i];
    }
}

void draws_shape(uint64_t *state, lam__conv_case *s, int64_t count[3]) {
    *s = (lam__conv_case){
        .groups = draws_number(state, 1, 3), .n = draws_number(state, 1, 3), .c = draws_number(state, 1, 5)};
    s->o = draws_number(state, 0, 1) ? draws_number(state, 1, 6) : draws_number(state, 7, 70);
    if (draws_number(state, 0, 9) == 0) s->c = draws_number(state, 20, 60);
    for (int i = 0; i < 3; i++) {
        s->axis[i] = (lam__conv_axis){1, 1, 1, 0, 1, 1, 1};
        if (draws_number(state, 0, 1)) s->axis[i] = draw_axis(state, i == 2 && s->o < 8 ? 70 : 9);
    }
    draw_all_steps(state, s, count);
}

/* Shapes that may be gathered: dilated operands without strides, as the gradients of strided convolutions are. */
void draws_gathered(uint64_t *state, lam__conv_case *s, int64_t count[3]) {
    *s = (lam__conv_case){
        .groups = draws_number(state, 1, 2), .n = draws_number(state, 1, 3), .c = draws_number(state, 1, 20)};
    s->o = draws_number(state, 0, 1) ? 1 : draws_number(state, 2, 6); /* one feature fills no vector of any machine */
    const int axes = (int)draws_number(state, 1, 3);
    const int64_t longest[] = {2000, 20, 7}, furthest[] = {160, 5, 3};
    for (int i = 0; i < 3; i++) {
        lam__conv_axis *a = &s->axis[i];
        *a = (lam__conv_axis){1, 1, 1, 0, 1, 1, 1};
        if (i < 3 - axes) continue;
        a->gap = draws_number(state, 1, draws_number(state, 0, 2) ? 3 : furthest[axes - 1]);
        a->size = draws_number(state, 1, draws_number(state, 0, 1) ? 7 : 2 * longest[axes - 1] / a->gap + 1);
        a->window = draws_number(state, 1, 4);
        a->spread = draws_number(state, 0, 2) ? 1 : draws_number(state, 2, 3);
        a->low = draws_number(state, -2, 5);
        a->out =
            draws_number(state, 0, 4) ? (a->size - 1) * a->gap + draws_number(state, 1, 6) : draws_number(state, 1, 9);
    }
    const lam__conv_axis *a = s->axis;
    const int64_t x[6] = {s->groups, s->n, s->c, a[0].size, a[1].size, a[2].size};
    const int64_t w[6] = {s->groups, s->o, s->c, a[0].window, a[1].window, a[2].window};
    const int64_t out[6] = {s->groups, s->n, s->o, a[0].out, a[1].out, a[2].out};
    count[0] = count[2] = 1;
    count[1] = draw_steps(state, w, s->w_step);
    for (int i = 5; i >= 0; i--) {
        s->x_step[i] = count[0];
        s->out_step[i] = count[2];
        count[0] *= x[i];
        count[2] *= out[i];
    }
}

/* Shapes whose groups may lie side by side: many of them, with few features; some have places for several items, some
 * windows that are nearly all of x, as gradients have them, for several panels. */
void draws_groups(uint64_t *state, int64_t lanes, lam__conv_case *s, int64_t count[3]) {
    *s = (lam__conv_case){.groups = lanes, .n = draws_number(state, 1, 2), .c = draws_number(state, 1, 4)};
    const int64_t kind = draws_number(state, 0, 3), wide = draws_number(state, 10, 24);
    s->o = draws_number(state, 1, kind < 2 ? 2 - kind : 3 * lanes / 4);
    if (kind < 2) s->n = 1;
    if (draws_number(state, 0, 1)) s->groups = draws_number(state, 0, 1) ? lanes - lanes / 4 : 2 * lanes - lanes / 2;
    for (int i = 0; i < 3; i++) {
        lam__conv_axis *a = &s->axis[i];
        *a = (lam__conv_axis){1, 1, 1, 0, 1, 1, 1};
        if (draws_number(state, 0, 2) || i == 2) *a = draw_axis(state, i == 2 ? 16 : 4);
        if (kind < 2 && i == 0) *a = (lam__conv_axis){1, 1, 1, 0, 1, 1, 1};
        if (kind < 2 && i > 0) a->size = i == 2 ? wide : kind ? 2000 / wide : wide;
        if (kind == 1 && a->window > 3) a->window = 3;
        if (kind == 0 && i > 0) a->window = a->size - draws_number(state, 0, 2);
        const int64_t left = (a->size - 1) * a->gap + a->low + draws_number(state, 0, 2) - (a->window - 1) * a->spread;
        if (kind < 2 && i > 0) a->out = left < 0 ? draws_number(state, 0, 2) : left / a->stride + 1;
    }
    draw_all_steps(state, s, count);
}

/* Shapes whose examples may lie side by side: many of them, with few features and short lines; some have many features
 * of x, for several panels, or places for several items. */
void draws_examples(uint64_t *state, int64_t lanes, lam__conv_case *s, int64_t count[3]) {
    const int64_t half = lanes / 2, kind = draws_number(state, 0, 4);
    *s = (lam__conv_case){.groups = 1, .n = lanes, .c = draws_number(state, 1, 4)};
    if (draws_number(state, 0, 1)) s->n = draws_number(state, 0, 1) ? lanes - lanes / 4 : 2 * lanes - lanes / 2;
    if (kind == 0) s->c = draws_number(state, 20, 60);
    s->o = draws_number(state, 1, (3 * lanes - 1) / 4);
    for (int i = 0; i < 3; i++) {
        lam__conv_axis *a = &s->axis[i];
        *a = (lam__conv_axis){1, 1, 1, 0, 1, 1, 1};
        if (i == 0 && draws_number(state, 0, 2)) continue;
        *a = draw_axis(state, kind == 1 && i == 1 ? 60 : 2 + half);
        if (a->window > half) a->window = draws_number(state, 1, half);
        const int64_t room = (a->size - 1) * a->gap + draws_number(state, 0, 3) + a->low - (a->window - 1) * a->spread;
        a->out = room < 0 ? 0 : room / a->stride + 1;
        if (i == 2 && a->out > half) a->out = half;
    }
    draw_all_steps(state, s, count);
}

/* Shapes whose features of x may lie side by side: many of them, with short lines of the window, or of places. */
void draws_summed(uint64_t *state, int64_t lanes, lam__conv_case *s, int64_t count[3]) {
    *s = (lam__conv_case){.groups = 1, .n = draws_number(state, 1, 6), .c = lanes};
    if (draws_number(state, 0, 1)) s->c = draws_number(state, 0, 1) ? lanes / 2 : 2 * lanes - lanes / 2;
    s->o = draws_number(state, 1, (3 * lanes - 1) / 4);
    for (int i = 0; i < 3; i++) {
        lam__conv_axis *a = &s->axis[i];
        *a = (lam__conv_axis){1, 1, 1, 0, 1, 1, 1};
        if (i == 0 && draws_number(state, 0, 2)) continue;
        a->window = draws_number(state, 1, i == 2 ? lanes - 1 : 7);
        a->out = draws_number(state, 1, i == 2 ? lanes - 1 : 5);
        a->spread = draws_number(state, 1, 2);
        a->stride = draws_number(state, 1, 2);
        a->low = draws_number(state, -1, 2);
        a->size = (a->window - 1) * a->spread + (a->out - 1) * a->stride - a->low - draws_number(state, -1, 3);
        if (a->size < 1) a->size = 1;
    }
    draw_all_steps(state, s, count);
}

/* Shapes whose places are sums of few products: a stride or a gap of two or three along the last axis, or neither,
 * and some that are long enough for several items. */
void draws_few(uint64_t *state, lam__conv_case *s, int64_t count[3]) {
    *s = (lam__conv_case){.groups = draws_number(state, 1, 2), .n = draws_number(state, 1, 2)};
    s->c = draws_number(state, 1, 4);
    s->o = draws_number(state, 1, 5);
    const int64_t kind = draws_number(state, 0, 3), axes = draws_number(state, 1, 3);
    for (int i = 0; i < 3; i++) {
        lam__conv_axis *a = &s->axis[i];
        *a = (lam__conv_axis){1, 1, 1, 0, 1, 1, 1};
        if (i < 3 - axes) continue;
        *a = draw_axis(state, i == 2 ? 80 : 9);
        if (a->window > 5) a->window = draws_number(state, 1, 5);
        const int64_t both = draws_number(state, 0, 1), step = draws_number(state, 2, 3);
        if (i == 2 && kind == 1) a->gap = a->stride = 1;
        else if (i == 2) a->gap = both ? step : 1, a->stride = both ? 1 : step;
        else if (both) a->gap = 1;
        else a->stride = 1;
        if (kind == 0 && i == 3 - axes) a->size = draws_number(state, 1, axes == 1 ? 20000 : axes == 2 ? 300 : 40);
        const int64_t room = (a->size - 1) * a->gap + draws_number(state, 0, 3) + a->low - (a->window - 1) * a->spread;
        a->out = room < 0 ? 0 : room / a->stride + 1;
    }
    draw_all_steps(state, s, count);
}

/* Shapes whose places have no element in common, but for some: windows as long as strides, and both transposes. Some
 * places meet nothing, some elements are met by none, and some need several parts. Some have so few places and so many
 * features that all examples are one product. */
void draws_apart(uint64_t *state, lam__conv_case *s, int64_t count[3]) {
    const int64_t kind = draws_number(state, 0, 3), axes = draws_number(state, 1, 3);
    const bool small = draws_number(state, 0, 3) == 0;
    *s = (lam__conv_case){.groups = 1, .n = draws_number(state, 1, 5), .c = draws_number(state, 1, 4)};
    s->o = draws_number(state, 0, 1) ? draws_number(state, 1, 4) : draws_number(state, 8, 20);
    if (kind == 2 && draws_number(state, 0, 1)) s->c = draws_number(state, 30, 40);
    if (small) s->c = draws_number(state, 40, 60), s->o = draws_number(state, 40, 60);
    for (int i = 0; i < 3; i++) {
        lam__conv_axis *a = &s->axis[i];
        const int64_t step = draws_number(state, 1, 4);
        *a = (lam__conv_axis){1, 1, 1, 0, 1, 1, 1};
        if (i < 3 - axes) continue;
        a->size = draws_number(state, 1, draws_number(state, 0, 19) ? 9 : axes == 1 ? 12000 : axes == 2 ? 40 : 15);
        if (small) a->size = draws_number(state, 1, 2);
        a->low = draws_number(state, -1, 2);
        *(kind == 2 ? &a->gap : kind == 3 ? &a->spread : &a->stride) = step;
        *(kind == 3 ? &a->stride : &a->spread) = draws_number(state, 0, 2) ? 1 : draws_number(state, 2, 3);
        const int64_t most = draws_number(state, 0, 9) ? step : step + 1, few = kind ? draws_number(state, 1, most) : 1;
        const int64_t many = (a->size * a->gap + draws_number(state, 0, 3)) / (kind == 2 ? 1 : step) + 1;
        a->window = kind == 3 ? many : few;
        a->out = kind == 3 ? few : many;
    }
    draw_all_steps(state, s, count);
}

/* Shapes with few places, each of which meets many elements, as gradients by the window have them: what takes the part
 * of the window is nearly as long as x, with gaps of two or three elements in some; some need several parts. */
void draws_places(uint64_t *state, lam__conv_case *s, int64_t count[3]) {
    *s = (lam__conv_case){.groups = draws_number(state, 1, 2), .n = draws_number(state, 1, 3)};
    s->c = draws_number(state, 1, 3);
    s->o = draws_number(state, 0, 1) ? 1 : draws_number(state, 2, 9); /* one fills no vector of any machine */
    const int64_t axes = draws_number(state, 1, 3), far = draws_number(state, 0, 5) == 0;
    for (int i = 0; i < 3; i++) {
        lam__conv_axis *a = &s->axis[i];
        *a = (lam__conv_axis){1, 1, 1, 0, 1, 1, 1};
        if (i < 3 - axes) continue;
        const int64_t longest = i == 2 ? 60 : far && axes == 2 ? 500 : 8;
        a->window = draws_number(state, 1, far && axes == 1 ? 9000 : longest);
        a->spread = draws_number(state, 1, 3);
        a->stride = draws_number(state, 0, 1) ? 1 : draws_number(state, 1, 3);
        a->out = draws_number(state, 1, 4);
        a->low = draws_number(state, -1, 2);
        a->size = (a->window - 1) * a->spread + (a->out - 1) * a->stride - a->low - draws_number(state, -1, 3);
        if (a->size < 1) a->size = 1;
    }
    draw_all_steps(state, s, count);
}

/* Shapes whose windows have one element in x as it is or dilated, and the sums of all places that gradients by such a
 * window are: pictures of all sizes around those of vectors, and lines that are short or have some elements behind. */
void draws_points(uint64_t *state, lam__conv_case *s, int64_t count[3]) {
    const int64_t kind = draws_number(state, 0, 2), axes = draws_number(state, 1, 3),
                  short_lines = draws_number(state, 0, 1);
    *s = (lam__conv_case){.groups = draws_number(state, 1, 2), .n = draws_number(state, 1, 9)};
    s->c = draws_number(state, 1, 9);
    s->o = draws_number(state, 1, draws_number(state, 0, 1) ? 3 : 16);
    for (int i = 0; i < 3; i++) {
        lam__conv_axis *a = &s->axis[i];
        *a = (lam__conv_axis){1, 1, 1, 0, 1, 1, 1};
        if (i < 3 - axes) continue;
        const int64_t places = draws_number(state, 1, i == 0 ? 3 : i == 2 && !short_lines ? 70 : 9);
        const int64_t step = draws_number(state, 1, 3), behind = draws_number(state, 0, step - 1);
        if (kind == 1 && i > 0) {
            a->gap = i == 2 ? 2 : draws_number(state, 1, 2);
            a->size = places;
            a->out = (places - 1) * a->gap + draws_number(state, 1, a->gap);
            continue;
        }
        a->size = (places - 1) * step + 1 + behind;
        *(kind == 2 ? &a->spread : &a->stride) = step;
        *(kind == 2 ? &a->window : &a->out) = places;
    }
    draw_all_steps(state, s, count);
}

/* ---- the oracle -------------------------------------------------------------------------------------------------- */

/* Where element e of dims begins, and its index. */
int64_t draws_index(const int64_t dims[6], const int64_t steps[6], int64_t e, int64_t index[6]) {
    int64_t at = 0;
    for (int i = 5; i >= 0; i--) {
        index[i] = e % dims[i];
        e /= dims[i];
        at += index[i] * steps[i];
    }
    return at;
}

/* Which element of an axis of x place `to` meets at element `of` of the window; -1: none. */
static int64_t met(const lam__conv_axis *a, int64_t to, int64_t of) {
    const int64_t e = to * a->stride + of * a->spread - a->low;
    return e < 0 || e % a->gap || e / a->gap >= a->size ? -1 : e / a->gap;
}

/* Of one feature of x, whose elements begin at x[from] and those of its window at w[by]. */
static double sum_of_feature(const lam__conv_case *s, lam_dtype dtype, const void *x, const void *w,
                             const int64_t to[6], int64_t from, int64_t by) {
    const lam__conv_axis *a = s->axis;
    const int64_t *xs = s->x_step + 3, *ws = s->w_step + 3;
    double sum = 0;
    for (int64_t i = 0; i < a[0].window; i++) {
        const int64_t at = met(&a[0], to[3], i);
        for (int64_t j = 0; j < a[1].window && at >= 0; j++) {
            const int64_t row = met(&a[1], to[4], j);
            for (int64_t k = 0; k < a[2].window && row >= 0; k++) {
                const int64_t element = met(&a[2], to[5], k);
                if (element < 0) continue;
                sum += draws_element(dtype, x, from + at * xs[0] + row * xs[1] + element * xs[2]) *
                       draws_element(dtype, w, by + i * ws[0] + j * ws[1] + k * ws[2]);
            }
        }
    }
    return sum;
}

double draws_sum(const lam__conv_case *s, lam_dtype dtype, const void *x, const void *w, const int64_t to[6]) {
    const int64_t from = to[0] * s->x_step[0] + to[1] * s->x_step[1], by = to[0] * s->w_step[0] + to[2] * s->w_step[1];
    double sum = 0;
    for (int64_t c = 0; c < s->c; c++)
        sum += sum_of_feature(s, dtype, x, w, to, from + c * s->x_step[2], by + c * s->w_step[2]);
    return sum;
}

static size_t pages(size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

char *draws_memory(size_t bytes) {
    const size_t page = pages(1), all = pages(bytes);
    char *p = mmap(NULL, all + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(p, MAP_FAILED);
    ck_assert_int_eq(mprotect(p + all, page, PROT_NONE), 0);
    return p + all - bytes;
}

void draws_free(char *memory, size_t bytes) {
    munmap(memory + bytes - pages(bytes), pages(bytes) + pages(1));
}

/* Of n elements; one in 64 of floats is infinite, if asked for. */
char *draws_elements(uint64_t *state, lam_dtype dtype, int64_t n, bool infinite) {
    char *x = draws_memory((size_t)(n * lam__item_bytes(dtype)));
    infinite = infinite && (dtype == LAM_F64 || dtype == LAM_F32);
    for (int64_t i = 0; i < n; i++) {
        const double v = (double)draws_number(state, -4, 4);
        draws_set(dtype, x, i, infinite && draws_number(state, 0, 63) == 0 ? INFINITY : v);
    }
    return x;
}
