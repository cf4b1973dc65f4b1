/* Owen's T function, one number at a time. T(h, a) = 1 / 2pi times the integral over [0, a] of
 *   exp(-h^2 (1 + u^2) / 2) / (1 + u^2).
 * For 0 <= a <= 1 the factor without u stands outside, and what is left is smooth: Gauss's rule with 24 nodes has all
 * digits up to h a = 8.7, beyond which the integral to infinity has them, T = erfc(h / sqrt 2) / 4. Larger a follow
 * from T(h, a) = (Q(h) + Q(h a)) / 2 - Q(h) Q(h a) - T(h a, 1 / a), Q the upper tail of the normal distribution. T is
 * even in h and odd in a.
 * Source: Owen, Tables for computing bivariate normal probabilities, 1956; Patefield and Tandy, Fast and accurate
 * calculation of Owen's T function, 2000, of whose methods this is the fifth. */
#include "lib/kernels/special/owens.h"

#include "lib/kernels/special/special.h"

#include <math.h>

static const lam__wide HALF_ROOT = 0.7071067811865475244008443621048490L; /* sqrt(1/2) */
static const lam__wide TURN = 6.283185307179586476925286766559006L;

/* Nodes and weights on [0, 1]. */
static const lam__wide nodes[][2] = {
    {0.002406390001489319910001L, 0.006170614899993599773403L},
    {0.01263572201434525090080L, 0.01426569431446683159065L},
    {0.03086272399863362073818L, 0.02213871940870990308430L},
    {0.05679223649779948289342L, 0.02964929245771839037318L},
    {0.08999900701304853902303L, 0.03667324070554015286702L},
    {0.1299379042107228178781L, 0.04309508076597663795859L},
    {0.1759531740315122153738L, 0.04880932605205694413494L},
    {0.2272892643055802321708L, 0.05372213505798281739129L},
    {0.2831032461869774307565L, 0.05775283402686280067667L},
    {0.3424786601519183128066L, 0.06083523646390169560223L},
    {0.4044405662631918454207L, 0.06291872817341414806069L},
    {0.4679715535686971869575L, 0.06396909767337607848703L},
    {0.5320284464313028130425L, 0.06396909767337607848703L},
    {0.5955594337368081545793L, 0.06291872817341414806069L},
    {0.6575213398480816871934L, 0.06083523646390169560223L},
    {0.7168967538130225692435L, 0.05775283402686280067667L},
    {0.7727107356944197678292L, 0.05372213505798281739129L},
    {0.8240468259684877846262L, 0.04880932605205694413494L},
    {0.8700620957892771821219L, 0.04309508076597663795859L},
    {0.9100009929869514609770L, 0.03667324070554015286702L},
    {0.9432077635022005171066L, 0.02964929245771839037318L},
    {0.9691372760013663792618L, 0.02213871940870990308430L},
    {0.9873642779856547490992L, 0.01426569431446683159065L},
    {0.9975936099985106800900L, 0.006170614899993599773403L},
};
enum { NODES = sizeof nodes / sizeof *nodes };

/* The upper tail of the normal distribution. */
static lam__wide upper(lam__wide x) {
    return 0.5L * erfcl(x * HALF_ROOT);
}

/* For 0 <= a <= 1 and h >= 0. The terms of a far tail are exact to fewer digits, and small. */
static lam__wide near(lam__wide h, lam__wide a) {
    const lam__wide ha = h * a;
    if (ha > 8.7L) return 0.5L * upper(h);
    const double c = (double)(-0.5L * ha * ha), aa = (double)(a * a);
    lam__wide sum = 0;
    for (int k = 0; k < NODES; k++) {
        const double uu = (double)(nodes[k][0] * nodes[k][0]);
        sum += nodes[k][1] * (exp(c * uu) / (1 + aa * uu));
    }
    return expl(-0.5L * h * h) * a * sum / TURN;
}

double lam__special_owens_t(double h, double a) {
    const lam__wide x = fabsl((lam__wide)h), y = fabsl((lam__wide)a);
    lam__wide t;
    if (isnan(h) || isnan(a)) return NAN;
    if (x == 0) t = atanl(y) / TURN;
    else if (isinf(h)) t = 0;
    else if (y <= 1) t = near(x, y);
    else {
        const lam__wide q = upper(x), r = upper(x * y);
        t = 0.5L * (q + r) - q * r - (isinf(y) ? 0 : near(x * y, 1 / y));
    }
    return copysign((double)t, a);
}
