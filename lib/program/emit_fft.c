/* Programs as C, Fourier transforms: each line is taken out, transformed and put back, axis by axis. The helper halves,
 * thirds and so on by the prime factors of the length. See emit_writer.h. */
#include "lib/program/emit_writer.h"

#include "lib/primitives/params.h"
#include "lib/primitives/reduce.h"
#include "lib/primitives/rows.h"

/* By Cooley and Tukey, for any length: with p the smallest prime factor of n, p transforms of every p-th element are
 * put together by turns. Of a prime n the transforms are of one element, and what is left is the sum as it is defined.
 * The turns of a part are those of the whole, `step` apart. */
const lam__emit_helper lam__emit_fourier[] = {
    /* Each angle is worked out by itself, in double: products of turns would gather errors along the line. */
    {"turns", "/* w[k] = exp(sign 2 pi i k / n). */\n"
              "static void turns_$S(int64_t n, int sign, $T *w) {\n"
              "    for (int64_t k = 0; k < n; k++) {\n"
              "        const double angle = 0x1.921fb54442d18p+2 * (double)k / (double)n;\n"
              "        w[k] = @join(($U)cos(angle), ($U)(sign * sin(angle)));\n    }\n}\n"},
    /* Products are @mul, so that no infinity is looked for behind NaN as C's * does. The work is n times the sum of the
     * prime factors, so a prime length takes its square. */
    {"fft",
     "/* out = the transform of n elements of x, `step` apart; step times n elements are in w, t has room for n. */\n"
     "static void fft_$S(int64_t n, const $T *x, int64_t step, $T *out, const $T *w, $T *t) {\n"
     "    int64_t p = 2;\n"
     "    while (p * p <= n && n % p) p++;\n"
     "    if (n % p) p = n;\n"
     "    const int64_t m = n / p, whole = n * step;\n"
     "    if (n == 1) {\n        out[0] = x[0];\n        return;\n    }\n"
     "    for (int64_t r = 0; r < p; r++) fft_$S(m, x + r * step, step * p, out + r * m, w, t);\n"
     "    for (int64_t k = 0; k < m; k++) {\n"
     "        for (int64_t r = 0; r < p; r++) t[r] = @mul(out[r * m + k], w[r * k * step]);\n"
     "        for (int64_t q = 0; q < p; q++) {\n"
     "            $T s = t[0];\n"
     "            for (int64_t r = 1; r < p; r++) s += @mul(t[r], w[r * q * m * step % whole]);\n"
     "            out[q * m + k] = s;\n        }\n    }\n}\n"},
    {NULL, NULL},
};

#if defined(LAM__HAVE_FFTW) /* otherwise there are no such rows */
#define ARGUMENTS                                                                                                      \
    lam__emit *e, const lam__equation *q, const lam__emit_place *const in[], const lam__emit_place *const out[]

/* The lines of an equation along one axis: three are in the workspace, of n complex numbers each, and the turns. In the
 * order of `declare`: the line as it is taken out, its transform, the turns, and the room of the helper. */
typedef struct lines {
    lam_dtype dtype; /* complex */
    int64_t n, room[4];
    int axis;
} lines;

/* All four are asked for, also behind one that failed: the walks have to ask for the same. */
static bool reserve(lam__emit *e, lines *l) {
    bool all = true;
    for (int i = 0; i < 4; i++) all = (l->room[i] = lam__emit_reserve(e, l->dtype, l->n)) >= 0 && all;
    return all;
}

static void give_back(lam__emit *e, const lines *l) {
    for (int i = 0; i < 4; i++) lam__emit_give_back(e, l->room[i]);
}

/* Pointers to what is in the workspace; the turns are worked out once. */
static void declare(lam__emit *e, const lines *l, int sign) {
    static const char *const names[] = {"a", "b", "w_k", "t"};
    char n[LAM__EMIT_NUMBER];
    const char *arguments[LAM__EMIT_ARGUMENTS] = {n, sign > 0 ? "1" : "-1"};
    snprintf(n, sizeof n, "%lld", (long long)l->n);
    if (!e->hushed) e->works = true;
    for (int i = 0; i < 4; i++)
        lam__emit_line(e, "%s *const %s = &w->%s[%lld];", lam__emit_type(l->dtype), names[i],
                       lam__emit_suffix(l->dtype), (long long)l->room[i]);
    lam__emit_statement(e, "@turns($0, $1, w_k);", l->dtype, arguments);
}

/* The loops over all lines, of which there is one for each element of the other axes. The axis itself has one element
 * here, and so no index; `each` gives it one. */
static int open_lines(lam__emit *e, const lines *l, const lam__emit_place *x) {
    int64_t dims[LAM_INNER_RANK];
    for (int axis = 0; axis < x->rank; axis++) dims[axis] = axis == l->axis ? 1 : x->dims[axis];
    return lam__emit_loops(e, x->rank, dims, NULL);
}

/* From a to b. */
static void transform(lam__emit *e, const lines *l) {
    char n[LAM__EMIT_NUMBER];
    const char *arguments[LAM__EMIT_ARGUMENTS] = {n};
    snprintf(n, sizeof n, "%lld", (long long)l->n);
    lam__emit_statement(e, "@fft($0, a, 1, b, w_k, t);", l->dtype, arguments);
}

/* A loop of one statement along the axis, over `count` elements; $1 and $2 are elements, $3 a number, $4 the index. The
 * scale is rounded to the dtype of the parts. */
static void each(lam__emit *e, const lines *l, int64_t count, const char *text, const char *x, double scale) {
    char index[24], number[LAM__EMIT_NUMBER];
    const char *arguments[LAM__EMIT_ARGUMENTS] = {"", x, "", number, index};
    snprintf(index, sizeof index, "i%d", l->axis);
    lam__emit_real(l->dtype == LAM_C128 ? LAM_F64 : LAM_F32, l->dtype == LAM_C128 ? scale : (double)(float)scale,
                   number);
    lam__emit_line(e, "for (int64_t %s = 0; %s < %lld; %s++)", index, index, (long long)count, index);
    e->depth++;
    lam__emit_statement(e, text, l->dtype, arguments);
    e->depth--;
}

/* The first axis takes the scale along. Axis by axis in the result, to which the operand is copied first. */
static const char *write_fft(ARGUMENTS) {
    const lam__fft_params *p = q->params;
    char element[LAM__EMIT_TEXT];
    double scale = p->scale;
    lam__emit_copy(e, in[0], out[0]);
    for (int axis = 0; axis < out[0]->rank; axis++) {
        lines l = {.dtype = out[0]->dtype, .n = out[0]->dims[axis], .axis = axis};
        if (!lam__reduce_has(p->set, axis)) continue;
        if (!reserve(e, &l)) return NULL; /* the arena knows */
        lam__emit_line(e, "{");
        e->depth++;
        declare(e, &l, p->inverse ? 1 : -1);
        const int loops = open_lines(e, &l, out[0]);
        lam__emit_at(e, out[0], NULL, element);
        each(e, &l, l.n, "a[$4] = $1;", element, 1);
        transform(e, &l);
        each(e, &l, l.n, scale == 1 ? "$1 = b[$4];" : "$1 = $3 * b[$4];", element, scale);
        lam__emit_close(e, loops + 1);
        give_back(e, &l);
        scale = 1;
    }
    return NULL;
}

/* n reals to n / 2 + 1 coefficients. The transform is that of complex numbers, of which one half is thrown away: the
 * text stays short. */
static const char *write_rfft(ARGUMENTS) {
    const lam__half_params *p = q->params;
    lines l = {.dtype = out[0]->dtype, .n = p->n, .axis = p->axis};
    char from[LAM__EMIT_TEXT], to[LAM__EMIT_TEXT];
    if (!reserve(e, &l)) return NULL; /* the arena knows */
    declare(e, &l, -1);
    const int loops = open_lines(e, &l, out[0]);
    lam__emit_value(e, in[0], NULL, from);
    lam__emit_at(e, out[0], NULL, to);
    each(e, &l, l.n, "a[$4] = $1;", from, 1);
    transform(e, &l);
    each(e, &l, l.n / 2 + 1, "$1 = $3 * b[$4];", to, p->scale);
    lam__emit_close(e, loops);
    give_back(e, &l);
    return NULL;
}

/* n / 2 + 1 coefficients to n reals: the others are conjugates, and those of frequencies 0 and n / 2 count as real.
 * Whatever stands in the imaginary parts of these two has no say. Both halves are filled in before they are
 * transformed. */
static const char *write_irfft(ARGUMENTS) {
    const lam__half_params *p = q->params;
    lines l = {.dtype = in[0]->dtype, .n = p->n, .axis = p->axis};
    char from[LAM__EMIT_TEXT], to[LAM__EMIT_TEXT], text[128];
    if (!reserve(e, &l)) return NULL; /* the arena knows */
    declare(e, &l, 1);
    const int loops = open_lines(e, &l, in[0]);
    lam__emit_value(e, in[0], NULL, from);
    lam__emit_at(e, out[0], NULL, to);
    snprintf(text, sizeof text, "a[$4 ? %lld - $4 : 0] = 2 * $4 %% %lld ? conj$f($1) : creal$f($1);", (long long)p->n,
             (long long)p->n);
    each(e, &l, l.n / 2 + 1, text, from, 1);
    snprintf(text, sizeof text, "a[$4] = 2 * $4 %% %lld ? $1 : creal$f($1);", (long long)p->n);
    each(e, &l, l.n / 2 + 1, text, from, 1);
    transform(e, &l);
    each(e, &l, l.n, "$1 = $3 * creal$f(b[$4]);", to, p->scale);
    lam__emit_close(e, loops);
    give_back(e, &l);
    return NULL;
}

#endif

const lam__emit_row lam__emit_transforms[] = {
#if defined(LAM__HAVE_FFTW)
    {&lam__row_fft, write_fft},
    {&lam__row_rfft, write_rfft},
    {&lam__row_irfft, write_irfft},
#endif
    {NULL, NULL},
};
