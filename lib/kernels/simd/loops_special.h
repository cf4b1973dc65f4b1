/* Template: the loops of the functions that a whole number, their parameter, chooses from a family. The members that
 * have a vector form are named here, the others are done one by one. Include with T, DTYPE, V, LANES and NAME(x), after
 * map_vector.h. Members are few because derivatives of high order are rare and their vector forms would be long; a
 * member has the bits of its function whatever loop asks for it. OTHERS are loops of reference.c. */

/* A member is a vector function of so many operands. */
#define MEMBER1(name) NAME(vectors1)(n, p, step, NAME(name))
#define MEMBER2(name) NAME(vectors2)(n, p, step, NAME(name))
#define MEMBER3(name) NAME(vectors3)(n, p, step, NAME(name))
#define OTHERS(name)  lam__reference_loop(LAM__LOOP_##name, DTYPE)(n, p, step, params)

/* The order is an operand that does not move, since vector functions take vectors only. */
static void NAME(loop_polygamma)(LOOP_ARGS) {
    int64_t order = member_of(params);
    /* A float holds every order that has a vector form. */
    T number = (T)order;
    if (order == 0) MEMBER1(digamma);
    else if (order == 1) MEMBER1(trigamma);
    else if (order > MOST_VECTOR_POLYGAMMA) OTHERS(polygamma);
    else NAME(vectors2)(n, (void *[]){p[0], p[1], &number}, (int64_t[]){step[0], step[1], 0}, NAME(polygamma));
}

/* The function and its derivative by q, which is again a zeta function. */
static void NAME(loop_zeta)(LOOP_ARGS) {
    switch (member_of(params)) {
    case 0: MEMBER2(zeta); break;
    case LAM__SLOPE_CODE(1, 0): MEMBER2(zeta_by_q); break;
    default: OTHERS(zeta);
    }
}

/* Orders 0 and 1. */
static void NAME(loop_polygamma_gap)(LOOP_ARGS) {
    switch (member_of(params)) {
    case 0: MEMBER2(digamma_gap); break;
    case 1: MEMBER2(trigamma_gap); break;
    default: OTHERS(polygamma_gap);
    }
}

/* One member, without a parameter. */
static void NAME(loop_betaln)(LOOP_ARGS) {
    MEMBER2(betaln);
}

/* P itself, the density, and one derivative by a of each. Q is a function of its own, without derivatives: they are
 * those of P with the other sign. */
static void NAME(loop_igamma)(LOOP_ARGS) {
    switch (member_of(params)) {
    case LAM__SPECIAL_CODE(0, 0, 0): MEMBER2(igamma); break;
    case LAM__SPECIAL_CODE(1, 0, 0): MEMBER2(igamma_by_a); break;
    case LAM__SPECIAL_CODE(0, 0, 1): MEMBER2(igamma_by_x); break;
    case LAM__SPECIAL_CODE(1, 0, 1): MEMBER2(igamma_by_both); break;
    default: OTHERS(igamma);
    }
}

/* One member: its slopes are asked of igamma. */
static void NAME(loop_igammac)(LOOP_ARGS) {
    MEMBER2(igammac);
}

/* I_x(a, b) itself, the density, and one derivative by a or by b of each. */
static void NAME(loop_betainc)(LOOP_ARGS) {
    switch (member_of(params)) {
    case LAM__SPECIAL_CODE(0, 0, 0): MEMBER3(betainc); break;
    case LAM__SPECIAL_CODE(1, 0, 0): MEMBER3(betainc_by_a); break;
    case LAM__SPECIAL_CODE(0, 1, 0): MEMBER3(betainc_by_b); break;
    case LAM__SPECIAL_CODE(0, 0, 1): MEMBER3(betainc_by_x); break;
    case LAM__SPECIAL_CODE(1, 0, 1): MEMBER3(betainc_by_xa); break;
    case LAM__SPECIAL_CODE(0, 1, 1): MEMBER3(betainc_by_xb); break;
    default: OTHERS(betainc);
    }
}

/* As igammac. */
static void NAME(loop_betaincc)(LOOP_ARGS) {
    MEMBER3(betaincc);
}

/* Both sides undone; the other forms are steps and what is odd about the middle. */
static void NAME(loop_igamma_inv)(LOOP_ARGS) {
    switch (member_of(params)) {
    case 0: MEMBER2(igamma_inv); break;
    case LAM__INVERSE_UPPER: MEMBER2(igammac_inv); break;
    default: OTHERS(igamma_inv);
    }
}

/* As igamma_inv. */
static void NAME(loop_betainc_inv)(LOOP_ARGS) {
    switch (member_of(params)) {
    case 0: MEMBER3(betainc_inv); break;
    case LAM__INVERSE_UPPER: MEMBER3(betaincc_inv); break;
    default: OTHERS(betainc_inv);
    }
}

/* What has tables or is made of exponentials and logarithms. */
static void NAME(loop_integrals)(LOOP_ARGS) {
    switch (member_of(params)) {
    /* Orders besides 0 and 1 go through the default. */
    case LAM__INTEGRAL_CODE(LAM__EXPN, 0): MEMBER1(exp0); break;
    case LAM__INTEGRAL_CODE(LAM__EXPN, 1): MEMBER1(exp1); break;
    case LAM__INTEGRAL_CODE(LAM__EXPI, 0): MEMBER1(expi); break;
    case LAM__INTEGRAL_CODE(LAM__EXPI, 1): MEMBER1(expi_slope); break;
    case LAM__INTEGRAL_CODE(LAM__SIN_INT, 0): MEMBER1(si); break;
    case LAM__INTEGRAL_CODE(LAM__SIN_INT, 1): MEMBER1(si_slope); break;
    case LAM__INTEGRAL_CODE(LAM__COS_INT, 0): MEMBER1(ci); break;
    case LAM__INTEGRAL_CODE(LAM__SIN_FRES, 0): MEMBER1(fresnel_s); break;
    case LAM__INTEGRAL_CODE(LAM__SIN_FRES, 1): MEMBER1(fresnel_s_slope); break;
    case LAM__INTEGRAL_CODE(LAM__COS_FRES, 0): MEMBER1(fresnel_c); break;
    case LAM__INTEGRAL_CODE(LAM__COS_FRES, 1): MEMBER1(fresnel_c_slope); break;
    case LAM__INTEGRAL_CODE(LAM__DAWSON, 0): MEMBER1(dawsn); break;
    case LAM__INTEGRAL_CODE(LAM__DAWSON, 1): MEMBER1(dawsn_slope); break;
    case LAM__INTEGRAL_CODE(LAM__DAWSON, 2): MEMBER1(dawsn_bend); break;
    case LAM__INTEGRAL_CODE(LAM__SPENCE, 0): MEMBER1(spence); break;
    case LAM__INTEGRAL_CODE(LAM__SPENCE, 1): MEMBER1(spence_slope); break;
    case LAM__INTEGRAL_CODE(LAM__LAMBERT, 0): MEMBER1(lambertw); break;
    case LAM__INTEGRAL_CODE(LAM__LAMBERT, 1): MEMBER1(lambertw_slope); break;
    case LAM__INTEGRAL_CODE(LAM__EXPREL, 0): MEMBER1(exprel); break;
    case LAM__INTEGRAL_CODE(LAM__EXPREL, 1): MEMBER1(exprel_slope); break;
    case LAM__INTEGRAL_CODE(LAM__GAMMA, 0): MEMBER1(gamma); break;
    case LAM__INTEGRAL_CODE(LAM__BESSEL_J, 0): MEMBER1(bessel_j0); break;
    case LAM__INTEGRAL_CODE(LAM__BESSEL_J, 1): MEMBER1(bessel_j1); break;
    case LAM__INTEGRAL_CODE(LAM__BESSEL_J, 2): MEMBER1(bessel_j2); break;
    /* Other orders. */
    default: OTHERS(integrals);
    }
}

/* All derivatives of first and second order: n times by x, m times by y. */
static void NAME(loop_pow_slope)(LOOP_ARGS) {
    switch (member_of(params)) {
    case LAM__SLOPE_CODE(1, 0): MEMBER2(pow_slope_10); break;
    case LAM__SLOPE_CODE(0, 1): MEMBER2(pow_slope_01); break;
    case LAM__SLOPE_CODE(2, 0): MEMBER2(pow_slope_20); break;
    case LAM__SLOPE_CODE(1, 1): MEMBER2(pow_slope_11); break;
    case LAM__SLOPE_CODE(0, 2): MEMBER2(pow_slope_02); break;
    /* Higher derivatives. */
    default: OTHERS(pow_slope);
    }
}

/* Of both forms the function itself and its slopes. */
static void NAME(loop_box_cox)(LOOP_ARGS) {
    switch (member_of(params)) {
    case LAM__BOX_CODE(0, 0, 0): MEMBER2(boxcox); break;
    case LAM__BOX_CODE(1, 0, 0): MEMBER2(boxcox_by_x); break;
    case LAM__BOX_CODE(0, 1, 0): MEMBER2(boxcox_by_y); break;
    case LAM__BOX_CODE(0, 0, 1): MEMBER2(boxcox1p); break;
    case LAM__BOX_CODE(1, 0, 1): MEMBER2(boxcox1p_by_x); break;
    case LAM__BOX_CODE(0, 1, 1): MEMBER2(boxcox1p_by_y); break;
    default: OTHERS(box_cox);
    }
}

/* The slope and its own derivatives by both operands. */
static void NAME(loop_atan2_slope)(LOOP_ARGS) {
    switch (member_of(params)) {
    case LAM__SLOPE_CODE(0, 0): MEMBER2(atan2_slope); break;
    case LAM__SLOPE_CODE(1, 0): MEMBER2(atan2_slope_by_x); break;
    case LAM__SLOPE_CODE(0, 1): MEMBER2(atan2_slope_by_y); break;
    default: OTHERS(atan2_slope);
    }
}

/* What has one member. */
/* clang-format off */
static void NAME(loop_hypot_slope)(LOOP_ARGS) { MEMBER2(hypot_slope); }
static void NAME(loop_xlogy)(LOOP_ARGS) { MEMBER2(xlogy); }
static void NAME(loop_xlog1py)(LOOP_ARGS) { MEMBER2(xlog1py); }
static void NAME(loop_rel_entr)(LOOP_ARGS) { MEMBER2(rel_entr); }
static void NAME(loop_log_ratio)(LOOP_ARGS) { MEMBER2(log_ratio); }
static void NAME(loop_rel_entr_slope)(LOOP_ARGS) { MEMBER2(rel_entr_slope); }
/* clang-format on */

#undef MEMBER1
#undef MEMBER2
#undef MEMBER3
#undef OTHERS
