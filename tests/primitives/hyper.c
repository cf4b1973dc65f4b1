/* Hypergeometric functions: values and slopes by every operand against mpmath 1.3 (50 digits), closed forms, what has
 * no value, derivatives that end. */
#include "tests/support.h"

/* Operands (of hyp1f1 without c), then the value and its derivatives by a, b, c and x. */
static const struct entry {
    int operands;
    double at[4], want[5];
} entries[] = {
    /* clang-format off */
    {3, {0.5, 1.5, 0, -4.0}, {0.4410406953812108, -0.804450276275515, 0.2017910040428155, 0.0, 0.05284063206155958}},
    {3, {1.0, 2.0, 0, 30.0}, {356215819384.1154, 1404874556250.1628, -1060957843846.1573, 0.0, 344341958738.01154}},
    {3, {-2.5, 0.75, 0, 3.0}, {1.2290656061202472, -2.27932321877938, -5.102921055586198, 0.0, 2.4890560433761117}},
    {3, {2.25, 0.5, 0, -200.0},
     {4.401683438623641e-06, -3.343281252195279e-05, 1.5303626671611217e-06, 0.0, 5.022111228064174e-08}},
    {3, {-3.0, 1.5, 0, 7.0}, {0.06666666666666667, 5.605213029390137, 2.862222222222222, 0.0, -2.0}},
    {3, {0.3, -1.5, 0, 2.0}, {12.679043486913738, 56.925593365069474, 2.135834226514014, 0.0, 24.963126417636545}},
    {3, {4.0, 4.0, 0, -20.0},
     {2.061153622438558e-09, -4.77920191821712e-05, 4.77920191821712e-05, 0.0, 2.061153622438558e-09}},
    {3, {0.25, 3.5, 0, 600.0},
     {3.248362122450003e+251, 3.4490074971239326e+252, -1.7192003108421871e+252, 0.0, 3.2307446482094573e+251}},
    {3, {0.001, 0.001, 0, 1.0}, {2.718281828459045, 1719.1285299892374, -1719.1285299892374, 0.0, 2.718281828459045}},
    {4, {0.5, 0.5, 1.0, 0.99},
     {2.3527158167797424, 5.417328367768344, 5.417328367768344, -3.718694467103125, 31.478506120863237}},
    {4, {1.0, 1.0, 2.0, -0.5},
     {0.8109302162163288, -0.16440195389316542, -0.16440195389316542, 0.07850375626220178, 0.28852709909932417}},
    {4, {0.5, 1.5, 2.0, 0.999999},
     {9.287079090021525, 72.1667134808049, 56.13902573976966, -53.14658882293185, 636613.6028077023}},
    {4, {2.0, 3.0, 4.5, -1000000.0},
     {4.374833288654232e-12, -5.484018119207021e-11, -6.5611881458006435e-12, 2.9997868117664857e-12,
      8.749512990816333e-18}},
    {4, {-2.0, 3.5, 0.75, -4.0},
     {230.33333333333334, -536.3698621598197, 108.19047619047619, -415.4920634920635, -105.33333333333333}},
    {4, {0.3, 0.7, 1.9, 0.75},
     {1.1257540884294919, 0.46590358182804514, 0.2168809715129111, -0.0897502939509922, 0.2811802989107904}},
    {4, {1.5, 2.5, 0.5, 0.9},
     {14546.477236774557, 48293.96109056234, 39186.6014292774, -76754.46003207778, 521775.8139277831}},
    {4, {0.25, 0.75, -0.5, 0.6},
     {-0.2991684506062879, -6.750091378614525, -2.9389822616682544, 0.4983321038967502, -7.817905159787967}},
    {4, {3.0, 1.0, 2.5, -12.0},
     {0.059719735016961685, -0.02723578361962896, -0.17254153051009713, 0.035442513162461706, 0.004740320917538866}},
    {4, {2.0, 2.0, 4.0, 0.5},
     {1.9065970003160624, 0.6607761676165639, 0.6607761676165639, -0.3577309060620583, 3.2893533312262515}},
    {4, {5.5, -3.25, 2.0, 0.7},
     {0.12640055838913625, 0.046217923077034415, 0.10895117319741872, -0.17176140287897104, -0.07187699534616601}},
    {4, {1.0, 0.5, 1.5, -1000000000000.0},
     {1.5707953267948966e-06, -2.177556459282486e-06, -4.122512238419076e-05, 9.640045632877618e-07,
      7.853971633974483e-19}},
    {4, {-0.5, 1.25, 2.25, 0.95},
     {0.6557801220402826, 0.48467739133077126, -0.3347884187118759, 0.196856502638, -0.5686491109082941}},
    {4, {0.25, 0.75, 1.0, 0.97},
     {1.730899089966044, 4.11148041340883, 1.9580174599755686, -1.643230967992125, 7.357067001217665}},
    {4, {0.4, 1.1, 1.9, -300.0},
     {0.1485645349415652, -0.6764513658898681, -0.10578367731626517, 0.04515847821102247, 0.00019221341790046626}},
    {4, {-1.3, 0.6, 2.2, -40.0},
     {28.33395911091993, -83.60987232451515, 50.72502801033154, -14.818792431262565, -0.8582428552922932}},
    {4, {1.5, 2.5, 3.25, 0.8},
     {5.571523171741709, 6.908044548952698, 4.867301559724983, -4.0427974592268345, 27.43744964505545}},
    /* clang-format on */
};

BODY(confluent) {
    out[0] = lam_hyp1f1(in[0], in[1], in[2]);
}
BODY(gauss) {
    out[0] = lam_hyp2f1(in[0], in[1], in[2], in[3]);
}

START_TEST(values_and_slopes) {
    const struct entry *e = &entries[_i];
    lam_tensor *at[4], *got[5], *singles[4];
    const int n = e->operands;
    for (int k = 0; k < n; k++) at[k] = num(e->at[n == 3 && k == 2 ? 3 : k]), singles[k] = lam_cast(at[k], LAM_F32);
    lam_fn *f = n == 3 ? FN(confluent, 3, 1) : FN(gauss, 4, 1);
    lam_call(lam_value_and_grad(f, &(lam_grad_options){.argnums = LAM_AXES(LAM_RANGE(0, n))}),
             (lam_list){(size_t)n, at}, got, (size_t)n + 1);
    for (int k = 0; k <= n; k++) {
        const double want = e->want[n == 3 && k == 3 ? 4 : k], off = fabs(lam_item(got[k]) - want);
        ck_assert_msg(off <= 4 * 0x1p-52 * fabs(want), "entry %d, operand %d: %.17g, not %.17g", _i, k - 1,
                      lam_item(got[k]), want);
    }
    if (fabs(e->want[0]) < 1e38)
        ck_assert_double_le(fabs(lam_item(lam_apply(f, (lam_list){(size_t)n, singles})) - e->want[0]),
                            1e-2 * fabs(e->want[0])); /* operands are rounded */
    EXPECT_OK();
}
END_TEST

/* Parameters around 30, where ten digits or more cancel in every series; two with terms that are nothing before c + n
 * passes 0 and grow again; two whose series end: values and slopes by x, of mpmath as well. */
static const struct cancelling {
    int operands;
    double at[4], want, slope;
} cancelling[] = {
    /* clang-format off */
    {3, {20.5, -17.25, 0, -28.0}, -174602.428432334084, -89227.1575179752692},
    {3, {-25.5, 2.5, 0, 25.0}, -262.252370172032645, -290.121691565118535},
    {3, {-28.25, -26.5, 0, 29.0}, -73844485489799.7081, -75649109714481.3084},
    {3, {-14.5, 21.25, 0, -30.0}, 101653.768527389454, -25343.0178788618255},
    {3, {-45.5, 3.25, 0, 40.0}, -15818.3305558252268, 9001.15401449027094},
    {4, {25.5, -20.25, -13.5, -2.5}, 1.32298003586432337e+27, -1.02577486462359637e+28},
    {4, {-28.75, 27.5, 1.25, 0.75}, 0.00545875359154526696, -0.693075504772230255},
    {4, {-22.5, -29.25, -27.75, 0.9}, 2.000687317904596e-6, 0.0000636469212466955675},
    {4, {19.5, 28.25, -24.75, -0.625}, -24406.8904361238737, 169548.565252671892},
    {4, {30.0, -29.5, 2.5, -6.0}, 3.45843038970832509e+38, -1.56696921308557293e+39},
    {4, {-4.75, -4.875, -29.125, 0.5}, 0.651360343038969598, -0.604327086857085912},
    {4, {-7.5, -16.5, -28.75, -2.25}, 401.805350793177381, -717.877241572507707},
    {4, {9.0, 11.0, 2.0, -2933.0}, -3.21623015836818423e-38, -1.20485079520771851e-40},
    {4, {-27.0, -30.0, 28.0, -23.0}, -4.68038604016017989e+22, 6.72299044851679647e+21},
    /* clang-format on */
};

START_TEST(what_cancels) {
    const struct cancelling *e = &cancelling[_i];
    const int n = e->operands;
    lam_tensor *at[4], *got[2];
    for (int k = 0; k < n; k++) at[k] = num(e->at[n == 3 && k == 2 ? 3 : k]);
    lam_fn *f = n == 3 ? FN(confluent, 3, 1) : FN(gauss, 4, 1);
    lam_call(lam_value_and_grad(f, &(lam_grad_options){.argnums = LAM_AXES(n - 1)}), (lam_list){(size_t)n, at}, got, 2);
    ck_assert_double_le(fabs(lam_item(got[0]) - e->want), 4 * 0x1p-52 * fabs(e->want));
    ck_assert_double_le(fabs(lam_item(got[1]) - e->slope), 4 * 0x1p-52 * fabs(e->slope));
    EXPECT_OK();
}
END_TEST

/* exp(x); (1 - x)^-a; log(1 + x) / x; Gauss's value at 1; a Legendre polynomial, also beyond 1. */
START_TEST(closed_forms) {
    lam_tensor *x = VEC(-30, -0.5, 0, 2, 20);
    EXPECT_SAME(lam_hyp1f1(num(2.5), num(2.5), x), lam_exp(x), 1e-15);
    lam_tensor *y = VEC(-1e9, -3, -0.25, 0, 0.5, 0.875, 0.9999);
    EXPECT_SAME(lam_hyp2f1(num(0.75), num(3), num(3), y), lam_pow(lam_sub(1.0, y), -0.75), 2e-15);
    EXPECT_SAME(lam_hyp2f1(num(1), num(1), num(2), lam_neg(x)),
                lam_where(lam_eq(x, 0.0), 1.0, lam_div(lam_log1p(x), x)), 4e-15);
    EXPECT_NEAR(lam_hyp2f1(num(0.5), num(0.25), num(1.5), VEC(1, 0)), 4e-15, LAM_DIMS(2),
                tgamma(1.5) * tgamma(0.75) / (tgamma(1) * tgamma(1.25)), 1);
    EXPECT_NEAR(lam_hyp2f1(num(-2), num(3), num(1), VEC(-1, 0.25, 1, 3)), 4e-15, LAM_DIMS(4), 13, -0.125, 1, 37);
    EXPECT_NEAR(lam_hyp2f1(num(1), num(2), num(3), num(1)), 0, LAM_DIMS0, INFINITY);
    /* (1 + x) / (1 - x)^3, where the series on the way is 0 at 1/2 */
    EXPECT_NEAR(lam_hyp2f1(num(2), num(2), num(1), VEC(-7, 0.75, -1)), 4e-15, LAM_DIMS(3), -6. / 512, 112, 0);
    EXPECT_OK();
}
END_TEST

/* Without a or b the function is 1 everywhere, also where others have no value. */
START_TEST(constants_have_no_slope) {
    for (int which = 0; which < 2; which++)
        for (int i = 0; i < 4; i++) {
            const double x = ((double[]){-3, 0.5, 1, 1.5})[i];
            lam_list at = LAM_LIST(num(which ? 0.5 : 0), num(which ? 0 : 0.5), num(3), num(x));
            EXPECT_NUM(lam_apply(FN(gauss, 4, 1), at), 1);
            EXPECT_NUM(lam_apply(lam_grad(FN(gauss, 4, 1), &(lam_grad_options){.argnums = LAM_AXES(3)}), at), 0);
        }
    EXPECT_OK();
}
END_TEST

START_TEST(what_has_no_value) {
    lam_tensor *none = VEC(0, -1, -7);
    EXPECT_NEAR(lam_hyp1f1(num(0.5), none, num(1)), 0, LAM_DIMS(3), NAN, NAN, NAN);
    EXPECT_NEAR(lam_hyp2f1(num(0.5), num(1), none, num(0.5)), 0, LAM_DIMS(3), NAN, NAN, NAN);
    EXPECT_NEAR(lam_hyp2f1(num(0.5), num(1), num(2), VEC(1.5, NAN, -INFINITY)), 0, LAM_DIMS(3), NAN, NAN, NAN);
    EXPECT_NEAR(lam_hyp1f1(num(20000), num(1), VEC(1, 2)), 0, LAM_DIMS(2), NAN, NAN);
    EXPECT_NEAR(lam_hyp1f1(num(-60.5), num(40.25), num(90)), 0, LAM_DIMS0, NAN); /* all digits cancel */
    EXPECT_OK();
    lam_hyp2f1(VEC(1, 2), VEC(1, 2, 3), num(1), num(0.5));
    EXPECT_ERROR(LAM_ERR_SHAPE, "hyp2f1");
    lam_hyp1f1(lam_cast(num(1), LAM_C128), num(1), num(1));
    EXPECT_ERROR(LAM_ERR_DTYPE, "hyp1f1");
}
END_TEST

/* By x without end; by the parameters twice, of which mixed ones are the same in both orders. */
START_TEST(derivatives_end_by_the_parameters) {
    lam_list at = LAM_LIST(num(0.7), num(1.3), num(2.1), num(0.6));
    ck_assert(lam_check_grads(FN(gauss, 4, 1), at, &(lam_check_grads_options){.order = 2}) == LAM_OK);
    lam_fn *f = FN(gauss, 4, 1), *by_x = f, *by_a = f;
    for (int k = 0; k < 4; k++) by_x = lam_grad(by_x, &(lam_grad_options){.argnums = LAM_AXES(3)});
    /* (a)_4 (b)_4 / (c)_4 F(a + 4, b + 4; c + 4; x) */
    const double factor = 0.7 * 1.7 * 2.7 * 3.7 * 1.3 * 2.3 * 3.3 * 4.3 / (2.1 * 3.1 * 4.1 * 5.1);
    lam_tensor *moved = lam_hyp2f1(num(4.7), num(5.3), num(6.1), num(0.6));
    EXPECT_SAME(lam_apply(by_x, at), lam_mul(factor, moved), 1e-14);
    for (int k = 0; k < 3; k++) by_a = lam_grad(by_a, NULL);
    lam_apply(by_a, at);
    EXPECT_ERROR(LAM_ERR_RULE, "hyp2f1");
}
END_TEST

Suite *suite_primitives_hyper(void) {
    Suite *suite = SUITE_OF("primitives/hyper", closed_forms, constants_have_no_slope, what_has_no_value,
                            derivatives_end_by_the_parameters);
    suite_loop(suite, values_and_slopes, sizeof entries / sizeof entries[0]);
    suite_loop(suite, what_cancels, sizeof cancelling / sizeof cancelling[0]);
    return suite;
}
