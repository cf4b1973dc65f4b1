/* Loops of elementary functions of complex numbers on every instruction set: against C's in long double, and each
 * number alone against all at once, at any step. Special values are in special_complex.c. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "tests/unmarked.h"
#include "tests/kernels/sets.h"

/* Some vectors of the widest set, and what does not fill one. */
enum { COUNT = 8 * 16 + 5, STEPS = 3 };

typedef long double _Complex wide;

static const lam__simd *sets[SETS];
static int set_count;

static void setup(void) {
    set_count = sets_of_machine(sets);
    ck_assert_int_gt(set_count, 0);
}

/* What C lacks, of numbers where it does not cancel. */
/* clang-format off */
static wide root_inverse(wide z) { return 1 / csqrtl(z); }
static wide power_of_2(wide z) { return cexpl(z * 0.693147180559945309417232121458176568L); }
static wide exp_less_1(wide z) { return cexpl(z) - 1; }
static wide log_of_2(wide z) { return clogl(z) / 0.693147180559945309417232121458176568L; }
static wide log_of_10(wide z) { return clogl(z) / 2.302585092994045684017991454684364208L; }
static wide log_more_1(wide z) { return clogl(1 + z); }
static wide sigmoid(wide z) { return 1 / (1 + cexpl(-z)); }
static wide log_odds(wide z) { return clogl(z) - clogl(conjl(1 - creall(z) + I * cimagl(z))); /* 1 - z: which zero */ }
static wide tanh_slope(wide z) { return 1 / (ccoshl(z) * ccoshl(z)); }
static wide sigmoid_slope(wide z) { return 1 / (4 * ccoshl(z / 2) * ccoshl(z / 2)); }

static const struct {
    lam__loop_id id;
    wide (*truth)(wide);
} functions[] = {
    {LAM__LOOP_sqrt, csqrtl},    {LAM__LOOP_rsqrt, root_inverse}, {LAM__LOOP_exp, cexpl},
    {LAM__LOOP_exp2, power_of_2}, {LAM__LOOP_expm1, exp_less_1},  {LAM__LOOP_log, clogl},
    {LAM__LOOP_log2, log_of_2},  {LAM__LOOP_log10, log_of_10},    {LAM__LOOP_log1p, log_more_1},
    {LAM__LOOP_sin, csinl},      {LAM__LOOP_cos, ccosl},          {LAM__LOOP_tan, ctanl},
    {LAM__LOOP_asin, casinl},    {LAM__LOOP_acos, cacosl},        {LAM__LOOP_atan, catanl},
    {LAM__LOOP_sinh, csinhl},    {LAM__LOOP_cosh, ccoshl},        {LAM__LOOP_tanh, ctanhl},
    {LAM__LOOP_asinh, casinhl},  {LAM__LOOP_acosh, cacoshl},      {LAM__LOOP_atanh, catanhl},
    {LAM__LOOP_logistic, sigmoid}, {LAM__LOOP_logit, log_odds},   {LAM__LOOP_tanh_slope, tanh_slope},
    {LAM__LOOP_logistic_slope, sigmoid_slope},
};
/* clang-format on */

/* Numbers of sizes from 1/8 to 8 in all directions, some of them real or imaginary. */
static void draw(double z[2 * COUNT]) {
    for (int i = 0; i < COUNT; i++) {
        const double size = exp2(3 * sin(7.0 * i)), turn = 2.3 * i;
        z[2 * i] = i % 11 == 3 ? 0 : size * cos(turn);
        z[2 * i + 1] = i % 13 == 5 ? 0 : size * sin(turn);
    }
}

static void put(lam_dtype dtype, char *x, int64_t at, const double z[2]) {
    const float narrow[2] = {(float)z[0], (float)z[1]};
    if (dtype == LAM_C128) memcpy(x + 16 * at, z, 16);
    else memcpy(x + 8 * at, narrow, 8);
}

static wide get(lam_dtype dtype, const char *x, int64_t at) {
    double z[2];
    float narrow[2];
    memcpy(z, x + 16 * at * (dtype == LAM_C128), 16);
    memcpy(narrow, x + 8 * at * (dtype != LAM_C128), 8);
    return dtype == LAM_C128 ? z[0] + I * z[1] : narrow[0] + I * narrow[1];
}

/* Some units in the last place of the larger part; c64 is computed in c128 and rounded once. */
static void check_values(const lam__simd *set, lam_dtype dtype, int f, const char *x, const char *out) {
    for (int i = 0; i < COUNT; i++) {
        const wide want = functions[f].truth(get(dtype, x, i)), off = get(dtype, out, i) - want;
        const long double size = fmaxl(fabsl(creall(want)), fabsl(cimagl(want)));
        const long double room = dtype == LAM_C128 ? 8 * 0x1p-52L : 0x1.01p-24L;
        EXPECT_THAT(fmaxl(fabsl(creall(off)), fabsl(cimagl(off))) <= room * size, "%s %s of number %d is off by %g",
                    set->name, sets_rows[functions[f].id].name, i, (double)(cabsl(off) / size));
    }
}

/* Each number has the bits that it has among others, wherever it stands; what lies between is left as it was. */
static void check_steps(lam__loop *loop, lam_dtype dtype, const char *x, const char *whole) {
    static const int64_t steps[][2] = {{1, 2}, {2, -1}, {STEPS, 0}, {-1, 1}};
    static char room[STEPS * COUNT * 16], from[STEPS * COUNT * 16];
    const size_t item = sets_item(dtype);
    for (int64_t n = 0; n <= COUNT; n += n < 18 ? 1 : 23)
        for (int s = 0; s < 4; s++) {
            const int64_t so = steps[s][0], sx = steps[s][1], to = so < 0 ? COUNT : 0, at = sx < 0 ? COUNT : 0;
            memset(room, 7, sizeof room);
            for (int64_t i = 0; i < n; i++)
                memcpy(from + (size_t)(at + i * sx) * item, x + (size_t)(sx ? i : 0) * item, item);
            loop(n, (void *[]){room + (size_t)to * item, from + (size_t)at * item}, steps[s], NULL);
            for (int64_t i = 0; i < n; i++) {
                char *got = room + (size_t)(to + i * so) * item;
                EXPECT_THAT(!memcmp(got, whole + (size_t)(sx ? i : 0) * item, item), "number %d of %d, steps %d",
                            (int)i, (int)n, s);
                memset(got, 7, item);
            }
            for (size_t i = 0; i < sizeof room; i++) EXPECT_THAT(room[i] == 7, "byte %d was written", (int)i);
        }
}

START_TEST(complex_functions_of_numbers_among_others) {
    double z[2 * COUNT];
    draw(z);
    for (lam_dtype dtype = LAM_C128; dtype <= LAM_C64; dtype++)
        for (int k = 0; k < set_count; k++) {
            static char x[COUNT * 16], out[COUNT * 16];
            for (int i = 0; i < COUNT; i++) put(dtype, x, i, z + 2 * i);
            lam__loop *loop = sets_loop(sets[k], functions[_i].id, dtype);
            loop(COUNT, (void *[]){out, x}, (int64_t[]){1, 1}, NULL);
            check_values(sets[k], dtype, _i, x, out);
            check_steps(loop, dtype, x, out);
        }
}
END_TEST

static wide product(wide x, wide y) {
    return x * y;
}

static wide quotient(wide x, wide y) {
    return x / y;
}

/* room: of c128 and c64, relative to the result. Products of c64 are computed in floats, the others in c128. */
static const struct {
    lam__loop_id id;
    wide (*truth)(wide, wide);
    long double room[2];
} pairs[] = {
    {LAM__LOOP_pow, cpowl, {12 * 0x1p-52L, 0x1.8p-24L}},
    {LAM__LOOP_mul, product, {0x3p-53L, 0x3p-24L}},
    {LAM__LOOP_div, quotient, {0x8p-53L, 0x1.8p-24L}},
};

/* Powers, of which whole ones are products, products and quotients: against C's, each alone, at other steps, and of an
 * operand that stays. */
START_TEST(complex_pairs_among_others) {
    static char x[COUNT * 16], y[COUNT * 16], out[2 * COUNT * 16], one[16];
    const lam_dtype dtype = _i % 2 ? LAM_C64 : LAM_C128;
    const int f = _i / 2;
    const int64_t item = (int64_t)sets_item(dtype);
    double z[2 * COUNT], w[2 * COUNT];
    draw(z);
    for (int i = 0; i < COUNT; i++) {
        w[2 * i] = i % 7 == 2 ? i % 5 : 3 * sin(1.7 * i), w[2 * i + 1] = i % 7 == 2 ? 0 : 2 * cos(2.9 * i);
        put(dtype, x, i, z + 2 * i), put(dtype, y, i, w + 2 * i);
    }
    for (int k = 0; k < set_count; k++)
        for (int64_t n = 0; n <= COUNT; n += n < 18 ? 1 : 23)
            for (int s = 0; s < 3; s++) {
                const int64_t step[] = {s == 1 ? 2 : 1, s == 2 ? 0 : 1, 1};
                lam__loop *loop = sets_loop(sets[k], pairs[f].id, dtype);
                memset(out, 7, sizeof out);
                loop(n, (void *[]){out, x, y}, step, NULL);
                for (int64_t i = 0; i < n; i++) {
                    const char *got = out + i * step[0] * item, *base = x + i * step[1] * item;
                    const wide want = pairs[f].truth(get(dtype, base, 0), get(dtype, y, i));
                    const wide off = get(dtype, got, 0) - want;
                    loop(1, (void *[]){one, (void *)(uintptr_t)base, y + i * item}, step, NULL);
                    EXPECT_THAT(!memcmp(one, got, (size_t)item), "%s: number %d of %d", sets[k]->name, (int)i, (int)n);
                    EXPECT_THAT(!isfinite(cabsl(want)) || cabsl(off) <= pairs[f].room[_i % 2] * cabsl(want),
                                "%s: result %d is off by %g", sets[k]->name, (int)i,
                                (double)(cabsl(off) / cabsl(want)));
                }
                EXPECT_THAT(out[(n ? (n - 1) * step[0] + 1 : 0) * item] == 7, "what lies behind was written");
            }
}
END_TEST

/* What takes a long way leaves its neighbours as they are. */
START_TEST(special_complex_numbers_leave_their_neighbours) {
    static const double odd[] = {INFINITY, (double)NAN, 1e300, 5e-324, 0, -710};
    double z[2 * COUNT], with[2 * COUNT], want[2 * COUNT], got[2 * COUNT];
    draw(z);
    memcpy(with, z, sizeof z);
    for (int i = 0; i < COUNT; i += 3) with[2 * i] = odd[i % 6], with[2 * i + 1] = odd[i / 6 % 6];
    for (int k = 0; k < set_count; k++) {
        lam__loop *loop = sets_loop(sets[k], functions[_i].id, LAM_C128);
        loop(COUNT, (void *[]){want, z}, (int64_t[]){1, 1}, NULL);
        loop(COUNT, (void *[]){got, with}, (int64_t[]){1, 1}, NULL);
        for (int i = 0; i < COUNT; i++)
            EXPECT_THAT(i % 3 == 0 || !memcmp(got + 2 * i, want + 2 * i, 16), "%s: number %d", sets[k]->name, i);
    }
}
END_TEST

Suite *suite_kernels_plane(void) {
    Suite *suite = suite_create("kernels/plane");
    TCase *tests = tcase_create("plane");
    const int count = (int)(sizeof functions / sizeof *functions);
    tcase_add_unchecked_fixture(tests, setup, NULL);
    tcase_add_loop_test(tests, complex_functions_of_numbers_among_others, 0, count);
    tcase_add_loop_test(tests, special_complex_numbers_leave_their_neighbours, 0, count);
    tcase_add_loop_test(tests, complex_pairs_among_others, 0, 2 * (int)(sizeof pairs / sizeof *pairs));
    suite_add_tcase(suite, tests);
    return suite;
}
