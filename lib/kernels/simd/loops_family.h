/* Template: the loops of the functions that a whole number, their parameter, chooses from a family. The members that
 * have a vector form are named here, the others are done one by one. Include with T, DTYPE, V and NAME(x). The
 * parameter is read once for a loop, so members cost nothing over functions of their own. */

#define MEMBER(name) NAME(vectors1)(n, p, step, NAME(name))
#define OTHERS(name) lam__reference_loop(LAM__LOOP_##name, DTYPE)(n, p, step, params)

/* erfcx and, by -2, its first derivative. */
static void NAME(loop_erfcx)(LOOP_ARGS) {
    switch (member_of(params)) {
    case 0: MEMBER(erfcx); break;
    case 1: MEMBER(erfcx_integral); break;
    default: OTHERS(erfcx);
    }
}

/* I_0, I_1 and I_2, the first two times exp(-|x|), and the first derivatives of these. */
static void NAME(loop_bessel_i)(LOOP_ARGS) {
    switch (member_of(params)) {
    /* Codes of special.h: twice the order, and whether it is scaled. */
    case 0: MEMBER(i0); break;
    case 2: MEMBER(i1); break;
    case 4: MEMBER(i2); break;
    case LAM__BESSEL_SCALED(0, 0): MEMBER(i0e); break;
    case LAM__BESSEL_SCALED(1, 0): MEMBER(i1e); break;
    case LAM__BESSEL_SCALED(0, 1): MEMBER(i0e_slope); break;
    case LAM__BESSEL_SCALED(1, 1): MEMBER(i1e_slope); break;
    default: OTHERS(bessel_i);
    }
}

/* The first and the second derivative of mish. */
static void NAME(loop_mish_slope)(LOOP_ARGS) {
    switch (member_of(params)) {
    case 0: MEMBER(mish_slope); break;
    case 1: MEMBER(mish_bend); break;
    default: OTHERS(mish_slope);
    }
}

/* No member of these has a vector form. */
static void NAME(loop_gamma_quotient)(LOOP_ARGS) {
    OTHERS(gamma_quotient);
}

#undef MEMBER
#undef OTHERS
