/* Elements that are looked at: see seen.h. */
#include "lib/primitives/seen.h"

#include "lib/primitives/axes.h"

#include "lib/dispatch/interpreter.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* The elements that x shows; NULL where they cannot be seen. Boxes are opened from level to level where an interpreter
 * can read them; those of batches cannot. */
static lam_value *elements_of(lam_tensor *x) {
    lam_value *v = lam__scope_peek(x);
    while (v && v->kind == LAM__BOX) {
        const lam__interpreter *interpreter = lam__payload_of(v)->level->interpreter;
        v = interpreter->read ? interpreter->read(v) : NULL;
    }
    return v && v->kind == LAM__CONCRETE ? v : NULL;
}

/* A parameter outside its range is found where elements are at hand, by two reductions, whose NaN fails both
 * comparisons. Where they are not at hand nothing is refused: the sample then is what the formula gives. */
bool lam__seen_in_range(const char *operation, const char *name, lam_tensor *x, double low, bool open, double high) {
    lam_value *v = elements_of(x);
    /* No elements lie in every range. */
    if (!v || !v->count) return true;
    lam_scope scope;
    lam__scope_open(x->ctx, &scope);
    lam_tensor lent;
    lam__scope_lend(&lent, x->ctx, v);
    double least = lam_item(lam_min_reduce(&lent, NULL)), most = lam_item(lam_max_reduce(&lent, NULL));
    lam__scope_close(&scope);
    if ((open ? least > low : least >= low) && most <= high) return true;
    lam__axes_fail(operation, x, LAM_ERR_VALUE, "%s has elements from %g to %g, not in %s%g, %g]", name, least, most,
                   open ? "(" : "[", low, high);
    return false;
}

/* On a lent handle below all levels that follow x: nobody records the question. What it makes on the way is freed with
 * the scope. */
bool lam__seen_true(lam_tensor *x) {
    lam_value *v = elements_of(x);
    if (!v) return true;
    lam_scope scope;
    lam__scope_open(x->ctx, &scope);
    lam_tensor lent;
    lam__scope_lend(&lent, x->ctx, v);
    const bool all = lam_item(lam_cast(lam_all(&lent, NULL), LAM_F64)) != 0;
    lam__scope_close(&scope);
    return all;
}
