/* What the loops of complex functions give for zeros of either sign, infinities and NaNs, on every instruction set:
 * C's Annex G where C has the function. */
#include <math.h>

#include "tests/unmarked.h"
#include "tests/kernels/sets.h"

#define OP(name) LAM__LOOP_##name

static const lam__simd *sets[SETS];
static int set_count;

static void setup(void) {
    set_count = sets_of_machine(sets);
    ck_assert_int_gt(set_count, 0);
}

/* Signs that C leaves open. */
enum { ANY_RE = 1, ANY_IM = 2, ANY = 3 };

typedef struct complex_special {
    lam__loop_id id;
    double re, im, out_re, out_im;
    int open;
} complex_special;

#define INF INFINITY
#define PI  3.14159265358979323846

/* C17 G.6, whose finite y is 2 here where the sines and cosines of multiples have to have a sign. Each row holds for
 * the conjugate too, and that of an odd or even function for minus the operand; those of sinh, cosh, tanh, asinh and
 * atanh hold for the functions of the circle, by sin z = -i sinh(i z) and so on. */
/* clang-format off */
static const complex_special complex_specials[] = {
    {OP(acos), 0, 0, PI / 2, -0.0, 0}, {OP(acos), 0, NAN, PI / 2, NAN, 0}, {OP(acos), 2, INF, PI / 2, -INF, 0},
    {OP(acos), 2, NAN, NAN, NAN, 0}, {OP(acos), -INF, 2, PI, -INF, 0}, {OP(acos), INF, 2, 0, -INF, 0},
    {OP(acos), -INF, INF, 3 * PI / 4, -INF, 0}, {OP(acos), INF, INF, PI / 4, -INF, 0},
    {OP(acos), INF, NAN, NAN, INF, ANY_IM}, {OP(acos), -INF, NAN, NAN, INF, ANY_IM}, {OP(acos), NAN, 2, NAN, NAN, 0},
    {OP(acos), NAN, INF, NAN, -INF, 0}, {OP(acos), NAN, NAN, NAN, NAN, 0},
    {OP(acosh), 0, 0, 0, PI / 2, 0}, {OP(acosh), -0.0, 0, 0, PI / 2, 0}, {OP(acosh), 2, INF, INF, PI / 2, 0},
    {OP(acosh), 2, NAN, NAN, NAN, 0}, {OP(acosh), -INF, 2, INF, PI, 0}, {OP(acosh), INF, 2, INF, 0, 0},
    {OP(acosh), -INF, INF, INF, 3 * PI / 4, 0}, {OP(acosh), INF, INF, INF, PI / 4, 0},
    {OP(acosh), INF, NAN, INF, NAN, 0}, {OP(acosh), -INF, NAN, INF, NAN, 0}, {OP(acosh), NAN, 2, NAN, NAN, 0},
    {OP(acosh), NAN, INF, INF, NAN, 0}, {OP(acosh), NAN, NAN, NAN, NAN, 0},
    {OP(asinh), 0, 0, 0, 0, 0}, {OP(asinh), 2, INF, INF, PI / 2, 0}, {OP(asinh), 2, NAN, NAN, NAN, 0},
    {OP(asinh), INF, 2, INF, 0, 0}, {OP(asinh), INF, INF, INF, PI / 4, 0}, {OP(asinh), INF, NAN, INF, NAN, 0},
    {OP(asinh), NAN, 0, NAN, 0, 0}, {OP(asinh), NAN, 2, NAN, NAN, 0}, {OP(asinh), NAN, INF, INF, NAN, ANY_RE},
    {OP(asinh), NAN, NAN, NAN, NAN, 0},
    {OP(atanh), 0, 0, 0, 0, 0}, {OP(atanh), 0, NAN, 0, NAN, 0}, {OP(atanh), 1, 0, INF, 0, 0},
    {OP(atanh), 2, INF, 0, PI / 2, 0}, {OP(atanh), 2, NAN, NAN, NAN, 0}, {OP(atanh), INF, 2, 0, PI / 2, 0},
    {OP(atanh), INF, INF, 0, PI / 2, 0}, {OP(atanh), INF, NAN, 0, NAN, 0}, {OP(atanh), NAN, 2, NAN, NAN, 0},
    {OP(atanh), NAN, INF, 0, PI / 2, ANY_RE}, {OP(atanh), NAN, NAN, NAN, NAN, 0},
    {OP(cosh), 0, 0, 1, 0, 0}, {OP(cosh), 0, INF, NAN, 0, ANY_IM}, {OP(cosh), 0, NAN, NAN, 0, ANY_IM},
    {OP(cosh), 2, INF, NAN, NAN, 0}, {OP(cosh), 2, NAN, NAN, NAN, 0}, {OP(cosh), INF, 0, INF, 0, 0},
    {OP(cosh), INF, 2, -INF, INF, 0}, {OP(cosh), INF, INF, INF, NAN, ANY_RE}, {OP(cosh), INF, NAN, INF, NAN, 0},
    {OP(cosh), NAN, 0, NAN, 0, ANY_IM}, {OP(cosh), NAN, 2, NAN, NAN, 0}, {OP(cosh), NAN, NAN, NAN, NAN, 0},
    {OP(sinh), 0, 0, 0, 0, 0}, {OP(sinh), 0, INF, 0, NAN, ANY_RE}, {OP(sinh), 0, NAN, 0, NAN, ANY_RE},
    {OP(sinh), 2, INF, NAN, NAN, 0}, {OP(sinh), 2, NAN, NAN, NAN, 0}, {OP(sinh), INF, 0, INF, 0, 0},
    {OP(sinh), INF, 2, -INF, INF, 0}, {OP(sinh), INF, INF, INF, NAN, ANY_RE}, {OP(sinh), INF, NAN, INF, NAN, ANY_RE},
    {OP(sinh), NAN, 0, NAN, 0, 0}, {OP(sinh), NAN, 2, NAN, NAN, 0}, {OP(sinh), NAN, NAN, NAN, NAN, 0},
    {OP(tanh), 0, 0, 0, 0, 0}, {OP(tanh), 2, INF, NAN, NAN, 0}, {OP(tanh), 2, NAN, NAN, NAN, 0},
    {OP(tanh), INF, 0.5, 1, 0, 0}, {OP(tanh), INF, 2, 1, -0.0, 0}, {OP(tanh), INF, INF, 1, 0, ANY_IM},
    {OP(tanh), INF, NAN, 1, 0, ANY_IM}, {OP(tanh), NAN, 0, NAN, 0, 0}, {OP(tanh), NAN, 2, NAN, NAN, 0},
    {OP(tanh), NAN, NAN, NAN, NAN, 0},
    {OP(exp), 0, 0, 1, 0, 0}, {OP(exp), -0.0, 0, 1, 0, 0}, {OP(exp), 2, INF, NAN, NAN, 0},
    {OP(exp), 2, NAN, NAN, NAN, 0}, {OP(exp), INF, 0, INF, 0, 0}, {OP(exp), -INF, 2, -0.0, 0, 0},
    {OP(exp), INF, 2, -INF, INF, 0}, {OP(exp), -INF, INF, 0, 0, ANY}, {OP(exp), INF, INF, INF, NAN, ANY_RE},
    {OP(exp), -INF, NAN, 0, 0, ANY}, {OP(exp), INF, NAN, INF, NAN, ANY_RE}, {OP(exp), NAN, 0, NAN, 0, 0},
    {OP(exp), NAN, 2, NAN, NAN, 0}, {OP(exp), NAN, NAN, NAN, NAN, 0},
    {OP(log), -0.0, 0, -INF, PI, 0}, {OP(log), 0, 0, -INF, 0, 0}, {OP(log), 2, INF, INF, PI / 2, 0},
    {OP(log), 2, NAN, NAN, NAN, 0}, {OP(log), -INF, 2, INF, PI, 0}, {OP(log), INF, 2, INF, 0, 0},
    {OP(log), -INF, INF, INF, 3 * PI / 4, 0}, {OP(log), INF, INF, INF, PI / 4, 0}, {OP(log), INF, NAN, INF, NAN, 0},
    {OP(log), -INF, NAN, INF, NAN, 0}, {OP(log), NAN, 2, NAN, NAN, 0}, {OP(log), NAN, INF, INF, NAN, 0},
    {OP(log), NAN, NAN, NAN, NAN, 0},
    {OP(sqrt), 0, 0, 0, 0, 0}, {OP(sqrt), -0.0, 0, 0, 0, 0}, {OP(sqrt), 2, INF, INF, INF, 0},
    {OP(sqrt), NAN, INF, INF, INF, 0}, {OP(sqrt), -INF, INF, INF, INF, 0}, {OP(sqrt), 2, NAN, NAN, NAN, 0},
    {OP(sqrt), -INF, 2, 0, INF, 0}, {OP(sqrt), INF, 2, INF, 0, 0}, {OP(sqrt), -INF, NAN, NAN, INF, ANY_IM},
    {OP(sqrt), INF, NAN, INF, NAN, 0}, {OP(sqrt), NAN, 2, NAN, NAN, 0}, {OP(sqrt), NAN, NAN, NAN, NAN, 0},
    /* ours: what C has no function for */
    {OP(expm1), -INF, 0, -1, 0, 0}, {OP(expm1), 0, 0, 0, 0, 0}, {OP(log1p), 0, 0, 0, 0, 0},
    {OP(log1p), -1, 0, -INF, 0, 0}, {OP(log1p), INF, 2, INF, 0, 0}, {OP(exp2), INF, 0, INF, 0, 0},
    {OP(exp2), -INF, 0, 0, 0, 0}, {OP(log2), 0, 0, -INF, 0, 0}, {OP(log10), 0, 0, -INF, 0, 0},
    {OP(reciprocal), INF, 2, 0, 0, ANY}, {OP(logistic), INF, 0, 1, 0, ANY_IM}, {OP(logistic), -INF, 0, 0, 0, ANY},
};
/* clang-format on */

static bool is_part(lam_dtype dtype, double got, double want, bool open) {
    if (isnan(want)) return isnan(got);
    if (want == 0 || isinf(want)) return open ? fabs(got) == fabs(want) : got == want && signbit(got) == signbit(want);
    return fabs(got - want) <= (dtype == LAM_C128 ? 0x1p-52 : 0x1p-22) * fabs(want);
}

static void expect_complex(const lam__simd *set, lam_dtype dtype, const complex_special *s) {
    static const int64_t near[] = {1, 1};
    double x[2] = {s->re, s->im}, out[2];
    float xf[2] = {(float)s->re, (float)s->im}, outf[2];
    if (dtype == LAM_C128) {
        sets_loop(set, s->id, dtype)(1, (void *[]){out, x}, near, NULL);
    } else {
        sets_loop(set, s->id, dtype)(1, (void *[]){outf, xf}, near, NULL);
        out[0] = (double)outf[0];
        out[1] = (double)outf[1];
    }
    EXPECT_THAT(is_part(dtype, out[0], s->out_re, s->open & ANY_RE) &&
                    is_part(dtype, out[1], s->out_im, s->open & ANY_IM),
                "%s %s(%g, %g) = (%g, %g), should be (%g, %g)", set->name, sets_rows[s->id].name, s->re, s->im, out[0],
                out[1], s->out_re, s->out_im);
}

static complex_special conjugate(complex_special s) {
    return (complex_special){s.id, s.re, -s.im, s.out_re, -s.out_im, s.open};
}

/* 1 for even functions, -1 for odd ones, else 0. */
static int parity(lam__loop_id id) {
    switch (id) {
    case OP(cosh): return 1;
    case OP(sinh):
    case OP(tanh):
    case OP(asinh):
    case OP(atanh): return -1;
    default: return 0;
    }
}

/* With i z = (re, im) the function of the circle is -i times that of i z, or of cos the same. */
static bool of_circle(complex_special *s) {
    static const lam__loop_id pairs[][2] = {
        {OP(sinh), OP(sin)}, {OP(tanh), OP(tan)}, {OP(asinh), OP(asin)}, {OP(atanh), OP(atan)}, {OP(cosh), OP(cos)}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (s->id != pairs[i][0]) continue;
        const complex_special h = *s;
        const int turned = (h.open & ANY_RE ? ANY_IM : 0) | (h.open & ANY_IM ? ANY_RE : 0);
        *s = h.id == OP(cosh) ? (complex_special){pairs[i][1], h.im, -h.re, h.out_re, h.out_im, h.open}
                              : (complex_special){pairs[i][1], h.im, -h.re, h.out_im, -h.out_re, turned};
        return true;
    }
    return false;
}

static void expect_with_conjugate(lam_dtype dtype, complex_special s) {
    for (int k = 0; k < set_count; k++) {
        const complex_special other = conjugate(s);
        expect_complex(sets[k], dtype, &s);
        expect_complex(sets[k], dtype, &other);
    }
}

START_TEST(complex_special_values_are_those_of_annex_g) {
    for (lam_dtype dtype = LAM_C128; dtype <= LAM_C64; dtype++) {
        complex_special s = complex_specials[_i];
        const int sign = parity(s.id);
        expect_with_conjugate(dtype, s);
        if (sign)
            expect_with_conjugate(dtype,
                                  (complex_special){s.id, -s.re, -s.im, sign * s.out_re, sign * s.out_im, s.open});
        if (of_circle(&s)) expect_with_conjugate(dtype, s);
    }
}
END_TEST

/* A quotient of infinities follows the formula of the parts, as in other array libraries; what is finite over what is
 * not is 0, and a real or imaginary divisor is taken for one. */
START_TEST(complex_division_at_the_ends) {
    static const double rows[][6] = {
        {1, 2, INF, 3, 0, 0},     {1, 2, INF, 0, 0, 0},   {1, 2, 0, -INF, 0, 0},
        {1, 1, INF, INF, 0, 0},   {4, 2, 2, 0, 2, 1},     {4, 2, 0, 2, 1, -2},
        {0, 0, 0, 0, NAN, NAN},   {1, 0, 0, 0, INF, NAN}, {1e300, 1e300, 1e300, 1e300, 1, 0},
        {NAN, 0, 1, 1, NAN, NAN},
    };
    static const int64_t near[] = {1, 1, 1};
    for (int k = 0; k < set_count; k++)
        for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
            double x[2] = {rows[i][0], rows[i][1]}, y[2] = {rows[i][2], rows[i][3]}, out[2];
            sets_loop(sets[k], OP(div), LAM_C128)(1, (void *[]){out, x, y}, near, NULL);
            for (int part = 0; part < 2; part++)
                EXPECT_THAT(is_part(LAM_C128, out[part], rows[i][4 + part], true), "row %d, part %d: %g", i, part,
                            out[part]);
        }
}
END_TEST

Suite *suite_kernels_special_complex(void) {
    Suite *suite = suite_create("kernels/special_complex");
    TCase *tests = tcase_create("special_complex");
    tcase_add_unchecked_fixture(tests, setup, NULL);
    tcase_add_loop_test(tests, complex_special_values_are_those_of_annex_g, 0,
                        (int)(sizeof complex_specials / sizeof *complex_specials));
    tcase_add_test(tests, complex_division_at_the_ends);
    suite_add_tcase(suite, tests);
    return suite;
}
