/* Convolutions of every instruction set and dtype against the sum over all elements that a place meets, written out
 * here. Numbers are small integers, so that sums are exact in any order and every bit is compared. Shapes are drawn:
 * strides, gaps, paddings and cuts on three axes, groups, operands in any layout, and sizes around those of vectors,
 * panels and items. */
#include "tests/unmarked.h"
#include "lib/kernels/conv/conv.h"

#include "lib/kernels/conv/abreast.h"
#include "lib/kernels/conv/few.h"
#include "lib/kernels/conv/gather.h"
#include "lib/kernels/conv/loops.h"
#include "lib/kernels/conv/places.h"
#include "lib/kernels/conv/points.h"
#include "lib/kernels/item.h"
#include "lib/parallel/conv.h"

#include "tests/kernels/convolution_draws.h"
#include "tests/kernels/sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = SANITIZED ? 50 : 150, ROOM = 1 << 22 };

/* ---- the comparison ---------------------------------------------------------------------------------------------- */

static char *aligned_room(char *at, size_t bytes) {
    char *aligned = at + (64 - (uintptr_t)at % 64) % 64;
    ck_assert(bytes + 64 <= ROOM);
    return aligned;
}

/* The convolution as lib/parallel does it, without a team, cut for `threads`. Rooms hold what they held before. */
static void convolve(const lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s, int threads, const char *x,
                     const char *w, char *out, char *packed, char *room) {
    const int64_t item = lam__item_bytes(dtype);
    for (int64_t i = 0; i < lam__conv_phases(s); i++) {
        lam__conv_case phase;
        lam__conv plan;
        int64_t w_first, out_first;
        if (!lam__conv_phase(s, i, &phase, &w_first, &out_first)) continue;
        if (!lam__conv_plan(loops, dtype, &phase, threads, x, w + w_first * item, out + out_first * item, &plan))
            continue;
        plan.packed = aligned_room(packed, plan.packed_bytes);
        lam__conv_pack(&plan, 0, plan.packs);
        for (int64_t k = plan.items - 1; k >= 0; k--) lam__conv_run(&plan, k, k + 1, aligned_room(room, plan.room));
    }
}

/* The same where it is gathered from products; false: it is not. */
static bool gather(lam_dtype dtype, const lam__conv_case *s, const char *x, const char *w, char *out, char *packed,
                   char *room) {
    lam__conv_gather plan;
    if (!lam__conv_gather_plan(dtype, s, x, w, out, &plan)) return false;
    plan.packed = aligned_room(packed, plan.packed_bytes + plan.phases_bytes);
    plan.phases = (void *)(plan.packed + plan.packed_bytes);
    lam__conv_gather_pack(&plan);
    for (int64_t k = plan.items - 1; k >= 0; k--) lam__conv_gather_run(&plan, k, k + 1, aligned_room(room, plan.room));
    return true;
}

/* The items of such a plan. */
static void run_abreast(lam__conv_abreast *plan, char *packed, char *room) {
    plan->packed = aligned_room(packed, plan->packed_bytes + plan->phases_bytes);
    plan->phases = (void *)(plan->packed + plan->packed_bytes);
    lam__conv_abreast_list(plan);
    lam__conv_abreast_pack(plan, 0, plan->packs);
    for (int64_t k = plan->items - 1; k >= 0; k--)
        lam__conv_abreast_run(plan, k, k + 1, aligned_room(room, plan->room));
}

/* The same with groups, or examples, side by side; false: they are not. */
static bool side_by_side(bool groups, const lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s,
                         const char *x, const char *w, char *out, char *packed, char *room) {
    lam__conv_abreast plan;
    if (!(groups ? lam__conv_abreast_plan : lam__conv_abreast_examples)(loops, dtype, s, x, w, out, &plan))
        return false;
    run_abreast(&plan, packed, room);
    return true;
}

/* The same with features of x side by side, whose results are summed up here. */
static bool by_sums(const lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s, const char *x,
                    const char *w, char *out, char *packed, char *room) {
    lam__conv_abreast plan;
    const int64_t count = s->n * s->out_step[1];
    if (!lam__conv_abreast_summed(loops, dtype, s, x, w, NULL, &plan)) return false;
    const size_t bytes = (size_t)(s->c * count * lam__item_bytes(dtype));
    plan.out = draws_memory(bytes);
    run_abreast(&plan, packed, room);
    for (int64_t i = 0; i < count; i++) {
        double sum = 0;
        for (int64_t c = 0; c < s->c; c++) sum += draws_element(dtype, plan.out, c * count + i);
        draws_set(dtype, out, i, sum);
    }
    draws_free(plan.out, bytes);
    return true;
}

/* The same where places are sums of few products; false: they are not. */
static bool by_few(const lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s, const char *x, const char *w,
                   char *out, char *packed, char *room) {
    lam__conv_few plan;
    if (!lam__conv_few_plan(loops, dtype, s, x, w, out, &plan)) return false;
    plan.packed = aligned_room(packed, plan.packed_bytes);
    lam__conv_few_pack(&plan);
    for (int64_t k = plan.items - 1; k >= 0; k--) lam__conv_few_run(&plan, k, k + 1, aligned_room(room, plan.room));
    return true;
}

/* The same of few places; false: there are many. */
static bool by_places(const lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s, const char *x,
                      const char *w, char *out, char *packed, char *room) {
    lam__conv_places plan;
    if (!lam__conv_places_plan(loops, dtype, s, x, w, out, &plan)) return false;
    plan.at = (int64_t *)(void *)aligned_room(packed, plan.at_bytes);
    lam__conv_places_list(&plan);
    for (int64_t k = plan.items - 1; k >= 0; k--) lam__conv_places_run(&plan, k, k + 1, aligned_room(room, plan.room));
    return true;
}

/* The same of windows of one element, and of gradients by these; false: it is done otherwise. */
static bool by_points(const lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s, const char *x,
                      const char *w, char *out, char *room) {
    lam__conv_points plan;
    if (!lam__conv_points_plan(loops, dtype, s, x, w, out, &plan)) return false;
    plan.room = aligned_room(room, plan.sums ? plan.sum_bytes * (size_t)plan.items : 0);
    for (int64_t k = plan.items - 1; k >= 0; k--) lam__conv_points_run(&plan, k, k + 1);
    if (plan.sums) lam__conv_points_fold(&plan);
    return true;
}

/* As much as is asked for, by one request, full of NaN; *env is to be freed. */
typedef struct lent_rooms {
    void *room[8];
    int count;
} lent_rooms;

static void *any_room(void *env, size_t bytes) {
    lent_rooms *l = env;
    void *room = aligned_alloc(64, (bytes + 63) / 64 * 64);
    ck_assert(room && l->count < 8);
    return l->room[l->count++] = memset(room, 0xff, bytes);
}

static void return_rooms(lent_rooms *l) {
    while (l->count) free(l->room[--l->count]);
}

/* Whether it is done this way. Sums are of products, so there must be some. */
static bool apart(lam_dtype dtype, const lam__conv_case *s, const char *x, const char *w, char *out, lent_rooms *own) {
    bool done = false;
    for (int i = 0; i < 3; i++)
        if (!s->axis[i].out) return false;
    return lam__parallel_conv_apart(NULL, dtype, s, x, w, out, any_room, own, &done) && done;
}

/* Turns the window over, as gradients have it, whose last element then is the first at w; gives where that is. */
static int64_t turn_over(lam__conv_case *s) {
    int64_t first = 0;
    for (int i = 0; i < 3; i++) {
        first += (s->axis[i].window - 1) * s->w_step[3 + i];
        s->w_step[3 + i] = -s->w_step[3 + i];
    }
    return first;
}

enum { BY_PLANS, BY_GATHERING, BY_GROUPS, BY_EXAMPLES, BY_SUMS, BY_FEW, BY_PLACES, BY_POINTS, BY_APART, BY_ANY };

/* Returns whether it was done. BY_ANY: by what is chosen for this machine and these operands. */
static bool compare(int way, const lam__conv_loops *loops, lam_dtype dtype, uint64_t *state, char *packed, char *room) {
    lam__conv_case s;
    int64_t count[3], to[6];
    const uint64_t seed = *state;
    bool done = true;
    lent_rooms own = {.count = 0};
    if (way == BY_GROUPS || (way == BY_ANY && draws_number(state, 0, 2) == 0))
        draws_groups(state, loops ? loops->lanes : 16, &s, count);
    else if (way == BY_EXAMPLES || (way == BY_ANY && draws_number(state, 0, 2) == 0))
        draws_examples(state, loops ? loops->lanes : 16, &s, count);
    else if (way == BY_SUMS || (way == BY_ANY && draws_number(state, 0, 2) == 0))
        draws_summed(state, loops ? loops->lanes : 16, &s, count);
    else if (way == BY_PLANS || (way == BY_ANY && draws_number(state, 0, 1))) draws_shape(state, &s, count);
    else if (way == BY_FEW || (way == BY_ANY && draws_number(state, 0, 1))) draws_few(state, &s, count);
    else if (way == BY_PLACES || (way == BY_ANY && draws_number(state, 0, 1))) draws_places(state, &s, count);
    else if (way == BY_POINTS || (way == BY_ANY && draws_number(state, 0, 1))) draws_points(state, &s, count);
    else if (way == BY_APART || (way == BY_ANY && draws_number(state, 0, 1))) draws_apart(state, &s, count);
    else draws_gathered(state, &s, count);
    const int64_t dims[6] = {s.groups, s.n, s.o, s.axis[0].out, s.axis[1].out, s.axis[2].out};
    char *x = draws_elements(state, dtype, count[0], draws_number(state, 0, 1)),
         *w = draws_elements(state, dtype, count[1], false);
    char *out = draws_memory((size_t)(count[2] * lam__item_bytes(dtype))), *all_of_w = w;
    if ((way == BY_PLANS || way == BY_ANY) && draws_number(state, 0, 1)) w += turn_over(&s) * lam__item_bytes(dtype);
    if (way == BY_PLANS) convolve(loops, dtype, &s, draws_number(state, 0, 1) ? 1 : 8, x, w, out, packed, room);
    else if (way == BY_GATHERING) done = gather(dtype, &s, x, w, out, packed, room);
    else if (way == BY_FEW) done = by_few(loops, dtype, &s, x, w, out, packed, room);
    else if (way == BY_PLACES) done = by_places(loops, dtype, &s, x, w, out, packed, room);
    else if (way == BY_SUMS) done = by_sums(loops, dtype, &s, x, w, out, packed, room);
    else if (way == BY_POINTS) done = by_points(loops, dtype, &s, x, w, out, room);
    else if (way == BY_GROUPS || way == BY_EXAMPLES)
        done = side_by_side(way == BY_GROUPS, loops, dtype, &s, x, w, out, packed, room);
    else if (way == BY_APART) done = apart(dtype, &s, x, w, out, &own);
    else done = lam__parallel_conv(NULL, dtype, &s, x, w, out, any_room, &own);
    for (int64_t e = 0; e < count[2] && done; e++) {
        const int64_t at = draws_index(dims, s.out_step, e, to);
        const double want = draws_rounded(dtype, draws_sum(&s, dtype, x, w, to)), got = draws_element(dtype, out, at);
        EXPECT_THAT(want == got || (isnan(want) && isnan(got)),
                    "dtype %d, seed %llu, [%d %d %d %d %d %d]: %g instead of %g", (int)dtype, (unsigned long long)seed,
                    (int)to[0], (int)to[1], (int)to[2], (int)to[3], (int)to[4], (int)to[5], got, want);
    }
    return_rooms(&own);
    draws_free(x, (size_t)(count[0] * lam__item_bytes(dtype)));
    draws_free(all_of_w, (size_t)(count[1] * lam__item_bytes(dtype)));
    draws_free(out, (size_t)(count[2] * lam__item_bytes(dtype)));
    return done;
}

START_TEST(convolutions_are_their_sums) {
    const lam_dtype dtype = draws_dtypes[_i / SETS];
    const lam__conv_loops *loops = draws_loops(_i % SETS, dtype);
    uint64_t state = (uint64_t)_i + 1;
    if (!loops) return;
    char *packed = malloc(ROOM), *room = malloc(ROOM);
    ck_assert(packed && room);
    memset(packed, 0xff, ROOM); /* NaN: nothing is read that was not written */
    memset(room, 0xff, ROOM);
    for (int i = 0; i < DRAWS; i++) compare(BY_PLANS, loops, dtype, &state, packed, room);
    free(packed);
    free(room);
}
END_TEST

/* How many draws are gathered depends on the machine's vectors; not those with too many products for one item, or too
 * little to do. */
START_TEST(convolutions_gathered_from_products_are_their_sums) {
    enum { GATHERED = 300 };
    uint64_t state = (uint64_t)_i + 1;
    int done = 0;
    char *packed = malloc(ROOM), *room = malloc(ROOM);
    ck_assert(packed && room);
    memset(packed, 0xff, ROOM);
    memset(room, 0xff, ROOM);
    for (int i = 0; i < GATHERED; i++) done += compare(BY_GATHERING, NULL, draws_dtypes[_i], &state, packed, room);
    ck_assert_int_gt(done, GATHERED / 8);
    free(packed);
    free(room);
}
END_TEST

/* Of every set. Some draws have no places, or lines that are long enough to fill vectors; of two lanes no line of more
 * than one element is short enough for examples. */
START_TEST(convolutions_with_groups_or_examples_side_by_side_are_their_sums) {
    const lam_dtype dtype = draws_dtypes[_i / SETS];
    const lam__conv_loops *loops = draws_loops(_i % SETS, dtype);
    uint64_t state = (uint64_t)_i + 1;
    int done = 0;
    if (!loops) return;
    char *packed = malloc(ROOM), *room = malloc(ROOM);
    ck_assert(packed && room);
    memset(packed, 0xff, ROOM);
    memset(room, 0xff, ROOM);
    for (int i = 0; i < DRAWS / 4; i++) done += compare(BY_GROUPS, loops, dtype, &state, packed, room);
    ck_assert_int_gt(done, DRAWS / 16);
    for (int i = done = 0; i < DRAWS; i++) done += compare(BY_EXAMPLES, loops, dtype, &state, packed, room);
    ck_assert(done > DRAWS / 4 || loops->lanes < 4);
    for (int i = done = 0; i < DRAWS; i++) done += compare(BY_SUMS, loops, dtype, &state, packed, room);
    ck_assert(done > DRAWS / 4 || loops->lanes < 4);
    free(packed);
    free(room);
}
END_TEST

/* Of every set. Some draws have no places, or lines whose elements are no neighbours. */
START_TEST(convolutions_of_few_products_or_places_are_their_sums) {
    const lam_dtype dtype = draws_dtypes[_i / SETS];
    const lam__conv_loops *loops = draws_loops(_i % SETS, dtype);
    uint64_t state = (uint64_t)_i + 1;
    int done = 0;
    if (!loops) return;
    char *packed = malloc(ROOM), *room = malloc(ROOM);
    ck_assert(packed && room);
    memset(packed, 0xff, ROOM);
    memset(room, 0xff, ROOM);
    for (int i = 0; i < DRAWS; i++) done += compare(BY_FEW, loops, dtype, &state, packed, room);
    ck_assert_int_gt(done, DRAWS / 8);
    for (int i = done = 0; i < DRAWS; i++) done += compare(BY_PLACES, loops, dtype, &state, packed, room);
    ck_assert_int_gt(done, DRAWS / 8);
    free(packed);
    free(room);
}
END_TEST

/* Of the set that has vectors of 64 bytes. Some draws lie otherwise, or are as many products as matrices have. */
START_TEST(convolutions_of_windows_of_one_element_are_their_sums) {
    const lam_dtype dtype = draws_dtypes[_i / SETS];
    const lam__conv_loops *loops = draws_loops(_i % SETS, dtype);
    uint64_t state = (uint64_t)_i + 1;
    int done = 0;
    if (!loops) return;
    char *room = malloc(ROOM);
    ck_assert_ptr_nonnull(room);
    memset(room, 0xff, ROOM);
    for (int i = 0; i < 4 * DRAWS; i++) done += compare(BY_POINTS, loops, dtype, &state, NULL, room);
    if (loops->points) ck_assert_int_gt(done, DRAWS);
    free(room);
}
END_TEST

START_TEST(convolutions_of_places_apart_are_their_sums) {
    uint64_t state = (uint64_t)_i + 1;
    int done = 0;
    for (int i = 0; i < DRAWS; i++) done += compare(BY_APART, NULL, draws_dtypes[_i], &state, NULL, NULL);
    ck_assert_int_gt(done, DRAWS / 4);
}
END_TEST

START_TEST(convolutions_by_whatever_way_are_their_sums) {
    uint64_t state = (uint64_t)_i + 1;
    for (int i = 0; i < DRAWS; i++) ck_assert(compare(BY_ANY, NULL, draws_dtypes[_i], &state, NULL, NULL));
}
END_TEST

/* Lines of phases that are too long for all of three examples to wait: two of them do, then the last. Each place of the
 * result meets one element of x or two, which are numbers that say where they lie. */
START_TEST(examples_with_long_lines_are_woven_by_themselves) {
    enum { SIZE = 1 << 16, EXAMPLES = 3 };
    static const float w[3] = {1, 2, 4};
    const int64_t out = 2 * SIZE - 1;
    lam__conv_case s = {.groups = 1, .n = EXAMPLES, .c = 1, .o = 1};
    for (int i = 0; i < 2; i++) s.axis[i] = (lam__conv_axis){1, 1, 1, 0, 1, 1, 1};
    s.axis[2] = (lam__conv_axis){SIZE, 3, 1, 1, 2, 1, out};
    s.x_step[1] = SIZE, s.out_step[1] = out;
    s.x_step[5] = s.w_step[5] = s.out_step[5] = 1;
    float *x = malloc(EXAMPLES * SIZE * sizeof *x), *y = malloc((size_t)(EXAMPLES * out) * sizeof *y);
    lent_rooms room = {.count = 0};
    ck_assert(x && y);
    for (int64_t i = 0; i < EXAMPLES * SIZE; i++) x[i] = (float)i;
    ck_assert(lam__parallel_conv(NULL, LAM_F32, &s, x, w, y, any_room, &room));
    for (int64_t n = 0; n < EXAMPLES; n++)
        for (int64_t t = 0; t < out; t++) {
            const float *at = x + n * SIZE + t / 2, want = t % 2 ? at[0] + 4 * at[1] : 2 * at[0];
            EXPECT_THAT(y[n * out + t] == want, "[%d %d]: %g instead of %g", (int)n, (int)t, (double)y[n * out + t],
                        (double)want);
        }
    return_rooms(&room);
    free(x);
    free(y);
}
END_TEST

/* Of every set: element k of the result is that of line k % side, and nothing is written behind the last one. */
START_TEST(lines_are_woven) {
    enum { LONGEST = 80 };
    const lam_dtype dtype = draws_dtypes[_i / SETS];
    const lam__conv_loops *loops = draws_loops(_i % SETS, dtype);
    if (!loops) return;
    for (int side = 2; side <= LAM__CONV_SIDE; side++)
        for (int64_t count = 0; count <= LONGEST; count++) {
            const void *from[LAM__CONV_SIDE];
            void *lines[LAM__CONV_SIDE], *to = calloc((size_t)count + 1, sizeof(double));
            for (int j = 0; j < side; j++) {
                const int64_t length = (count - j + side - 1) / side;
                from[j] = lines[j] = malloc((size_t)(length > 0 ? length : 0) * sizeof(double) + 1);
                for (int64_t k = 0; k < length; k++) draws_set(dtype, lines[j], k, (double)(k * side + j + 1));
            }
            loops->weave(to, from, count, side);
            for (int64_t k = 0; k <= count; k++)
                EXPECT_THAT(draws_element(dtype, to, k) == (k < count ? (double)(k + 1) : 0), "%d lines, %d of %d: %g",
                            side, (int)k, (int)count, draws_element(dtype, to, k));
            for (int j = 0; j < side; j++) free(lines[j]);
            free(to);
        }
}
END_TEST

/* Element `at` of line i of x with its zeros: a number that says where it lies. */
static double in_line(const lam__conv_lines *l, int64_t i, int64_t at) {
    return at < l->before || at >= l->before + l->count ? 0 : (double)(i * 100 + at);
}

/* Lines of x, `gap` elements from one to the next, split into strips that lie side by side; in front of the odd one is
 * a line of its zeros, which stay what they are. */
static void check_split(const lam__conv_loops *loops, lam_dtype dtype, lam__conv_lines l, int64_t gap) {
    enum { ROOM_BEHIND = 64 };
    const int64_t all = (l.before + l.count + l.behind) / 2, item = lam__item_bytes(dtype), odd = (l.lines + 1) * all;
    char *x = calloc((size_t)(l.lines * (l.count + gap)), (size_t)item);
    char *to = calloc((size_t)(odd + l.lines * all + ROOM_BEHIND), (size_t)item);
    for (int64_t k = 0; k < l.lines * l.count; k++)
        draws_set(dtype, x, k / l.count * (l.count + gap) + k % l.count,
                  in_line(&l, k / l.count, l.before + k % l.count));
    l.x = x;
    l.to = to;
    l.x_step = l.count + gap;
    l.to_step = all;
    loops->split(&l, odd, odd - all);
    for (int64_t k = 0; k < odd + l.lines * all; k++) {
        const bool zeros = k >= odd - all && k < odd;
        const double want = zeros     ? 0
                            : k < odd ? in_line(&l, k / all, k % all * 2)
                                      : in_line(&l, (k - odd) / all, (k - odd) % all * 2 + 1);
        EXPECT_THAT(draws_element(dtype, to, k) == want, "%d lines of %d + %d + %d, %d: %g instead of %g", (int)l.lines,
                    (int)l.before, (int)l.count, (int)l.behind, (int)k, draws_element(dtype, to, k), want);
    }
    free(x);
    free(to);
}

START_TEST(lines_are_split) {
    const lam_dtype dtype = draws_dtypes[_i / SETS];
    const lam__conv_loops *loops = draws_loops(_i % SETS, dtype);
    if (!loops) return;
    for (int64_t lines = 1; lines <= 5; lines++)
        for (int64_t before = 0; before <= 40; before += before < 3 ? 1 : 37)
            for (int64_t count = 1; count <= 70; count++)
                for (int64_t behind = (before + count) % 2; behind <= 5; behind += 2)
                    check_split(loops, dtype,
                                (lam__conv_lines){.lines = lines,
                                                  .before = before,
                                                  .count = count,
                                                  .behind = behind,
                                                  .apart = 1,
                                                  .loose = true},
                                count % 3);
}
END_TEST

/* Three strips of lines that are whole vectors in each: every one of the three has a number of zeros that fill them. */
START_TEST(lines_are_split_in_three) {
    const lam_dtype dtype = draws_dtypes[_i / SETS];
    const lam__conv_loops *loops = draws_loops(_i % SETS, dtype);
    if (!loops) return;
    const int64_t item = lam__item_bytes(dtype), lines = 3;
    for (int64_t before = 0; before <= 120; before += before < 3 ? 1 : 39)
        for (int64_t count = 1; count <= 130; count++) {
            const int64_t all = (before + count + 3 * loops->lanes - 1) / (3 * loops->lanes) * loops->lanes;
            lam__conv_lines l = {.lines = lines, .before = before, .count = count, .x_step = count, .to_step = all};
            l.behind = 3 * all - before - count;
            char *x = calloc((size_t)(lines * count), (size_t)item), *to = malloc((size_t)(3 * lines * all * item));
            for (int64_t k = 0; k < lines * count; k++)
                draws_set(dtype, x, k, in_line(&l, k / count, before + k % count));
            l.x = x;
            l.to = to;
            loops->split_three(&l, lines * all);
            for (int64_t k = 0; k < 3 * lines * all; k++) {
                const double want = in_line(&l, k / all % lines, k % all * 3 + k / all / lines);
                EXPECT_THAT(draws_element(dtype, to, k) == want, "%d + %d, %d: %g instead of %g", (int)before,
                            (int)count, (int)k, draws_element(dtype, to, k), want);
            }
            free(x);
            free(to);
        }
}
END_TEST

Suite *suite_kernels_convolution(void);
Suite *suite_kernels_convolution(void) {
    Suite *suite = suite_create("kernels/convolution");
    TCase *tests = tcase_create("convolution");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, convolutions_are_their_sums, 0, DRAWS_DTYPES * SETS);
    tcase_add_loop_test(tests, convolutions_gathered_from_products_are_their_sums, 0, 2); /* f64, f32 */
    tcase_add_loop_test(tests, convolutions_with_groups_or_examples_side_by_side_are_their_sums, 0, 2 * SETS);
    tcase_add_loop_test(tests, convolutions_of_few_products_or_places_are_their_sums, 0, 2 * SETS); /* f64, f32 */
    tcase_add_loop_test(tests, convolutions_of_windows_of_one_element_are_their_sums, 0, 2 * SETS);
    tcase_add_loop_test(tests, convolutions_of_places_apart_are_their_sums, 0, DRAWS_DTYPES);
    tcase_add_loop_test(tests, convolutions_by_whatever_way_are_their_sums, 0, DRAWS_DTYPES);
    tcase_add_loop_test(tests, lines_are_woven, 0, 2 * SETS); /* f64, f32 */
    tcase_add_loop_test(tests, lines_are_split, 0, 2 * SETS); /* f64, f32 */
    tcase_add_loop_test(tests, lines_are_split_in_three, 0, 2 * SETS);
    tcase_add_test(tests, examples_with_long_lines_are_woven_by_themselves);
    suite_add_tcase(suite, tests);
    return suite;
}
