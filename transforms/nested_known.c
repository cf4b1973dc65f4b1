/* Results of recorded choices and loops that their functions alone tell: zeros, which nobody needs to choose or stack,
 * and carries that no trip changes. They are given as such, so that what is done with them is known too: a gradient
 * that is zero in all branches must not look like a constant that a linear function adds. */
#include "transforms/nested.h"

#include "lib/program/function.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"

#include <math.h>

/* Whether the atom is one zero seen with dims, not that of the other sign. A -0 would change what it is added to, so it
 * is not left out. */
static bool is_plain_zero(const lam__atom *a) {
    const lam_value *v = a->variable < 0 ? a->constant : NULL;
    if (!v || v->kind != LAM__CONCRETE || !v->count) return false;
    for (int i = 0; i < v->rank; i++)
        if (v->strides[i] != 0 && v->dims[i] != 1) return false;
    const lam_c128 zero = lam__dtype_load_complex(v->dtype, v->data);
    return zero.re == 0 && zero.im == 0 && !signbit(zero.re) && !signbit(zero.im);
}

/* The value of result o, one reference; NULL: it is not known, or after recording that memory is lacking. A carry whose
 * program gives the input of its own number is that of the first trip, however many there are. */
static lam_value *known(const lam_call_site *call, int o, lam_value *result) {
    const lam__nested *what = call->params;
    const bool chosen = call->primitive == &lam__row_switch, carried = !chosen && o < what->carries;
    const lam__program *last = lam__program_of(what->fns[what->count - 1]);
    if (carried) return last->results[o].variable == o ? lam__value_hold(call->in[o]) : NULL;
    bool zero = lam__dtype_is_inexact(result->dtype);
    for (int f = chosen ? 0 : what->count - 1; f < what->count && zero; f++)
        zero = is_plain_zero(&lam__program_of(what->fns[f])->results[o]);
    return zero ? lam__arguments_zero(call->ctx, result) : NULL;
}

/* A NULL of `known` is most often none; memory that was lacking is on record. */
lam_status lam__nested_known(const lam_call_site *call, lam_value *out[]) {
    const lam__mark mark = lam__error_mark(call->ctx);
    for (int o = 0; o < call->outputs; o++) {
        lam_value *v = known(call, o, out[o]);
        if (!v) continue;
        lam__value_release(out[o]);
        out[o] = v;
    }
    const lam_status status = lam__error_since(call->ctx, mark);
    if (status != LAM_OK) lam__arguments_release(call->outputs, out);
    return status;
}
