/* The formulas, one per shape of curve, and the table that says which data set has which.
 *
 * Written in the order in which the data sets' pages write them, except that polynomials are in Horner's form. */
#include "models.h"

#include <string.h>

#include "dataset.h"

static const double PI = 3.141592653589793238462643383279;

/* ---- pieces ---- */

/* exp(-rate x) */
static lam_tensor *decay(lam_tensor *rate, lam_tensor *x) {
    return lam_exp(lam_neg(lam_mul(rate, x)));
}

/* height exp(-((x - center) / width)^2) */
static lam_tensor *bell(lam_tensor *height, lam_tensor *center, lam_tensor *width, lam_tensor *x) {
    return lam_mul(height, lam_exp(lam_neg(lam_square(lam_div(lam_sub(x, center), width)))));
}

/* a cos(angle) + b sin(angle) */
static lam_tensor *wave(lam_tensor *a, lam_tensor *b, lam_tensor *angle) {
    return lam_add(lam_mul(a, lam_cos(angle)), lam_mul(b, lam_sin(angle)));
}

/* x (c[0] + x (c[1] + ...)): a polynomial without its constant term */
static lam_tensor *powers(int terms, lam_tensor *const c[], lam_tensor *x) {
    lam_tensor *sum = lam_mul(c[terms - 1], x);
    for (int i = terms - 2; i >= 0; i--) sum = lam_mul(lam_add(c[i], sum), x);
    return sum;
}

/* ---- formulas ---- */

static lam_tensor *bennett(lam_tensor *const b[], lam_tensor *const x[]) {
    return lam_mul(b[1], lam_pow(lam_add(b[2], x[1]), lam_div(-1.0, b[3])));
}

static lam_tensor *saturation(lam_tensor *const b[], lam_tensor *const x[]) {
    return lam_mul(b[1], lam_sub(1.0, decay(b[2], x[1])));
}

static lam_tensor *chwirut(lam_tensor *const b[], lam_tensor *const x[]) {
    return lam_div(decay(b[1], x[1]), lam_add(b[2], lam_mul(b[3], x[1])));
}

static lam_tensor *power_law(lam_tensor *const b[], lam_tensor *const x[]) {
    return lam_mul(b[1], lam_pow(x[1], b[2]));
}

static lam_tensor *enso(lam_tensor *const b[], lam_tensor *const x[]) {
    lam_tensor *turn = lam_mul(2 * PI, x[1]);
    lam_tensor *year = wave(b[2], b[3], lam_div(turn, 12.0));
    lam_tensor *slow = wave(b[5], b[6], lam_div(turn, b[4]));
    lam_tensor *fast = wave(b[8], b[9], lam_div(turn, b[7]));
    return lam_add(lam_add(lam_add(b[1], year), slow), fast);
}

static lam_tensor *eckerle(lam_tensor *const b[], lam_tensor *const x[]) {
    lam_tensor *z = lam_div(lam_sub(x[1], b[3]), b[2]);
    return lam_mul(lam_div(b[1], b[2]), lam_exp(lam_mul(-0.5, lam_square(z))));
}

static lam_tensor *two_bells(lam_tensor *const b[], lam_tensor *const x[]) {
    lam_tensor *slope = lam_mul(b[1], decay(b[2], x[1]));
    return lam_add(lam_add(slope, bell(b[3], b[4], b[5], x[1])), bell(b[6], b[7], b[8], x[1]));
}

static lam_tensor *cubic_by_cubic(lam_tensor *const b[], lam_tensor *const x[]) {
    return lam_div(lam_add(b[1], powers(3, b + 2, x[1])), lam_add(1.0, powers(3, b + 5, x[1])));
}

static lam_tensor *quadratic_by_quadratic(lam_tensor *const b[], lam_tensor *const x[]) {
    return lam_div(lam_add(b[1], powers(2, b + 2, x[1])), lam_add(1.0, powers(2, b + 4, x[1])));
}

static lam_tensor *three_decays(lam_tensor *const b[], lam_tensor *const x[]) {
    lam_tensor *first = lam_mul(b[1], decay(b[2], x[1]));
    lam_tensor *second = lam_mul(b[3], decay(b[4], x[1]));
    return lam_add(lam_add(first, second), lam_mul(b[5], decay(b[6], x[1])));
}

static lam_tensor *mgh09(lam_tensor *const b[], lam_tensor *const x[]) {
    lam_tensor *xx = lam_square(x[1]);
    lam_tensor *above = lam_mul(b[1], lam_add(xx, lam_mul(x[1], b[2])));
    return lam_div(above, lam_add(lam_add(xx, lam_mul(x[1], b[3])), b[4]));
}

static lam_tensor *mgh10(lam_tensor *const b[], lam_tensor *const x[]) {
    return lam_mul(b[1], lam_exp(lam_div(b[2], lam_add(x[1], b[3]))));
}

static lam_tensor *mgh17(lam_tensor *const b[], lam_tensor *const x[]) {
    return lam_add(lam_add(b[1], lam_mul(b[2], decay(b[4], x[1]))), lam_mul(b[3], decay(b[5], x[1])));
}

static lam_tensor *misra1b(lam_tensor *const b[], lam_tensor *const x[]) {
    lam_tensor *base = lam_add(1.0, lam_div(lam_mul(b[2], x[1]), 2.0));
    return lam_mul(b[1], lam_sub(1.0, lam_integer_pow(base, -2)));
}

static lam_tensor *misra1c(lam_tensor *const b[], lam_tensor *const x[]) {
    lam_tensor *base = lam_add(1.0, lam_mul(lam_mul(2.0, b[2]), x[1]));
    return lam_mul(b[1], lam_sub(1.0, lam_pow(base, -0.5)));
}

static lam_tensor *misra1d(lam_tensor *const b[], lam_tensor *const x[]) {
    lam_tensor *part = lam_mul(b[2], x[1]);
    return lam_div(lam_mul(b[1], part), lam_add(1.0, part));
}

static lam_tensor *nelson(lam_tensor *const b[], lam_tensor *const x[]) {
    return lam_sub(b[1], lam_mul(lam_mul(b[2], x[1]), decay(b[3], x[2])));
}

/* 1 + exp(b2 - b3 x), of which Rat42 and Rat43 make a sigmoid */
static lam_tensor *sigmoid_base(lam_tensor *const b[], lam_tensor *x) {
    return lam_add(1.0, lam_exp(lam_sub(b[2], lam_mul(b[3], x))));
}

static lam_tensor *rat42(lam_tensor *const b[], lam_tensor *const x[]) {
    return lam_div(b[1], sigmoid_base(b, x[1]));
}

static lam_tensor *rat43(lam_tensor *const b[], lam_tensor *const x[]) {
    return lam_div(b[1], lam_pow(sigmoid_base(b, x[1]), lam_div(1.0, b[4])));
}

static lam_tensor *roszman(lam_tensor *const b[], lam_tensor *const x[]) {
    lam_tensor *angle = lam_atan(lam_div(b[3], lam_sub(x[1], b[4])));
    return lam_sub(lam_sub(b[1], lam_mul(b[2], x[1])), lam_div(angle, PI));
}

/* ---- the table ---- */

static const model MODELS[] = {
    {"Bennett5", bennett, 3, 1, false},
    {"BoxBOD", saturation, 2, 1, false},
    {"Chwirut1", chwirut, 3, 1, false},
    {"Chwirut2", chwirut, 3, 1, false},
    {"DanWood", power_law, 2, 1, false},
    {"ENSO", enso, 9, 1, false},
    {"Eckerle4", eckerle, 3, 1, false},
    {"Gauss1", two_bells, 8, 1, false},
    {"Gauss2", two_bells, 8, 1, false},
    {"Gauss3", two_bells, 8, 1, false},
    {"Hahn1", cubic_by_cubic, 7, 1, false},
    {"Kirby2", quadratic_by_quadratic, 5, 1, false},
    {"Lanczos1", three_decays, 6, 1, false}, /* NOTE [Lanczos1] in report.h */
    {"Lanczos2", three_decays, 6, 1, false},
    {"Lanczos3", three_decays, 6, 1, false},
    {"MGH09", mgh09, 4, 1, false},
    {"MGH10", mgh10, 3, 1, false},
    {"MGH17", mgh17, 5, 1, false},
    {"Misra1a", saturation, 2, 1, false},
    {"Misra1b", misra1b, 2, 1, false},
    {"Misra1c", misra1c, 2, 1, false},
    {"Misra1d", misra1d, 2, 1, false},
    {"Nelson", nelson, 3, 2, true},
    {"Rat42", rat42, 3, 1, false},
    {"Rat43", rat43, 4, 1, false},
    {"Roszman1", roszman, 4, 1, false},
    {"Thurber", cubic_by_cubic, 7, 1, false},
};

const model *model_at(size_t index) {
    return index < sizeof MODELS / sizeof *MODELS ? &MODELS[index] : NULL;
}

const model *model_of(const char *set) {
    for (size_t i = 0; model_at(i); i++)
        if (strcmp(MODELS[i].set, set) == 0) return &MODELS[i];
    return NULL;
}

/* items[1], items[2], ... = the elements of a vector. */
static void unpack(lam_tensor *vector, int count, lam_tensor *items[]) {
    for (int i = 0; i < count; i++) items[i + 1] = lam_squeeze(lam_slice_axis(vector, 0, i, i + 1), LAM_AXES(0));
}

void model_body(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    const model *row = env;
    lam_tensor *b[DATASET_MAX_PARAMETERS + 1], *x[DATASET_MAX_PREDICTORS + 1];
    unpack(in[0], row->parameters, b);
    unpack(in[1], row->predictors, x);
    out[0] = row->formula(b, x);
}
