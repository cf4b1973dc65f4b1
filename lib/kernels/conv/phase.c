/* Dilated operands: NOTE [phases] in conv.h. What is divided here divides without a rest, since a phase takes only
 * places whose elements exist; nothing but shapes and first elements is computed. */
#include "lib/kernels/conv/conv.h"
#include "lib/kernels/divisor.h"

/* One axis of one phase: of the places every `period`-th one, of the window every `every`-th place from `first` on. */
typedef struct phase {
    int64_t period, every, first; /* first: -1 where nothing is met */
    lam__conv_axis axis;
} phase;

/* The gap without what it has in common with a step, which is 1 most often; and divisions are slow. */
static int64_t gap_without(int64_t gap, int64_t step) {
    return step == 1 ? gap : gap / lam__divisor_common(gap, step);
}

/* The same of the step. */
static int64_t step_without(int64_t step, int64_t gap) {
    return step == 1 ? 1 : step / lam__divisor_common(gap, step);
}

/* Moving by `period` places moves x by a multiple of the gap; there are no more phases than places. */
int64_t lam__conv_period(const lam__conv_axis *a) {
    if (a->gap == 1) return 1;
    const int64_t period = gap_without(a->gap, a->stride);
    return period < a->out ? period : a->out;
}

/* The phase of place `at`; without gaps there is one, which is all of it. Among the first `every` places of the window
 * one at most meets an element, since after that many the remainder by the gap comes again; the divisions below then
 * leave no rest. */
static phase phase_of(const lam__conv_axis *a, int64_t at) {
    if (a->gap == 1) return (phase){.period = 1, .every = 1, .first = a->window > 0 ? 0 : -1, .axis = *a};
    phase p = {.period = gap_without(a->gap, a->stride), .every = gap_without(a->gap, a->spread), .first = -1};
    int64_t rest = (at * a->stride - a->low) % a->gap, more = a->spread == 1 ? 1 : a->spread % a->gap;
    if (rest > 0) rest -= a->gap; /* 0 where an element is met; else what is left to the next one */
    for (int64_t k = 0; k < p.every && k < a->window && p.first < 0; k++) {
        if (rest == 0) p.first = k;
        rest += more;
        if (rest > 0) rest -= a->gap;
    }
    if (p.first < 0) return p;
    p.axis = (lam__conv_axis){.size = a->size,
                              .window = (a->window - p.first + p.every - 1) / p.every,
                              .stride = step_without(a->stride, a->gap),
                              .low = -((at * a->stride + p.first * a->spread - a->low) / a->gap),
                              .gap = 1,
                              .spread = step_without(a->spread, a->gap),
                              .out = (a->out - at + p.period - 1) / p.period};
    return p;
}

/* Phases of all axes are counted through as one number, the last axis fastest. An axis whose result is empty has none,
 * so neither has the whole. */
int64_t lam__conv_phases(const lam__conv_case *s) {
    int64_t phases = 1;
    for (int i = 0; i < LAM__CONV_AXES; i++) phases *= lam__conv_period(&s->axis[i]);
    return phases;
}

bool lam__conv_phase(const lam__conv_case *s, int64_t i, lam__conv_case *phase_shape, int64_t *w_first,
                     int64_t *out_first) {
    *phase_shape = *s;
    *w_first = *out_first = 0;
    for (int a = LAM__CONV_AXES - 1; a >= 0; a--) {
        const int64_t periods = lam__conv_period(&s->axis[a]), at = periods > 1 ? i % periods : 0;
        const phase p = phase_of(&s->axis[a], at);
        if (periods > 1) i /= periods;
        if (p.first < 0) return false;
        phase_shape->axis[a] = p.axis;
        *w_first += p.first * s->w_step[3 + a];
        *out_first += at * s->out_step[3 + a];
        phase_shape->w_step[3 + a] *= p.every;
        phase_shape->out_step[3 + a] *= p.period;
    }
    return true;
}
