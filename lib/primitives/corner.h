/* Functions of matrices whose derivatives come by blocks: f([[x, e], [0, x]]) has f(x) on its diagonal and l(x, e), the
 * derivative of f at x along e, in its upper right corner (Mathias, "A chain rule for matrix functions", 1996). Such a
 * function is two rows, one for f and one for l, whose rules are the same for all; they are right to all orders. */
#ifndef LAM_PRIMITIVES_CORNER_H
#define LAM_PRIMITIVES_CORNER_H

#include <lamina/extend.h>

/* The type of f, and that of l. Real numbers: the calls below work on real matrices of twice the size. */
lam_status lam__corner_shape(const lam_call_site *call, lam_shape out[]);
lam_status lam__corner_shape_map(const lam_call_site *call, lam_shape out[]);

/* Rules of the row of f, which is known here with its l. */
void lam__corner_jvp(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]);
void lam__corner_vjp(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]);
void lam__corner_batch(const lam_rule *r, lam_tensor *out[]);

/* Rules of the row of l. */
void lam__corner_jvp_map(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]);
void lam__corner_vjp_map(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]);
void lam__corner_batch_map(const lam_rule *r, lam_tensor *out[]);

/* What users call: operands are checked, and complex ones go through real ones, whose results have the same form. A
 * stack of changes may go with one matrix: leading axes broadcast. */
lam_tensor *lam__corner_call(const lam_primitive *f, lam_tensor *x);
lam_tensor *lam__corner_call_map(const lam_primitive *l, lam_tensor *x, lam_tensor *e);

/* Both rows of a function: f by eval_<name>, l by eval_<name>_frechet. f keeps its operand, since l(x^T, g) is made of
 * it anew, with the scaling that suits both. */
#define LAM__CORNER_ROWS(word)                                                                                         \
    const lam_primitive lam__row_##word = {                                                                            \
        .name = #word,                                                                                                 \
        .inputs = 1,                                                                                                   \
        .derivative = LAM_GENERAL,                                                                                     \
        .saves = LAM_SAVE_IN(0),                                                                                       \
        .shape = lam__corner_shape,                                                                                    \
        .eval = eval_##word,                                                                                           \
        .jvp = lam__corner_jvp,                                                                                        \
        .vjp = lam__corner_vjp,                                                                                        \
        .batch = lam__corner_batch,                                                                                    \
    };                                                                                                                 \
    const lam_primitive lam__row_##word##_frechet = {                                                                  \
        .name = #word "_frechet",                                                                                      \
        .inputs = 2,                                                                                                   \
        .derivative = LAM_GENERAL,                                                                                     \
        .linear = 2u,                                                                                                  \
        .saves = LAM_SAVE_IN(0),                                                                                       \
        .saves_for = {LAM_SAVE_IN(1)},                                                                                 \
        .shape = lam__corner_shape_map,                                                                                \
        .eval = eval_##word##_frechet,                                                                                 \
        .jvp = lam__corner_jvp_map,                                                                                    \
        .vjp = lam__corner_vjp_map,                                                                                    \
        .batch = lam__corner_batch_map,                                                                                \
    }

#endif
