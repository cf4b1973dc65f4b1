/* What all elementwise loops of a kind (elementwise.def) have in common. KEEP IN STEP: loop-kinds
 * Loops see bytes where an operand is bool, so code that moves pointers along has to know which operands are:
 * parallel/elementwise.c and elementwise_half.c read it here. */
#ifndef LAM_KERNELS_KINDS_H
#define LAM_KERNELS_KINDS_H

/* Which operand is bool whatever the dtype: 1 the output, 2 the first input, 0 none. */
enum {
    LAM__BOOL_REAL = 0,
    LAM__BOOL_FLOAT = 0,
    LAM__BOOL_ELEMENTARY = 0,
    LAM__BOOL_FAMILY = 0,
    LAM__BOOL_SPECIAL = 0,
    LAM__BOOL_INTEGER = 0,
    LAM__BOOL_COMPARE = 1,
    LAM__BOOL_LOGIC = 0,
    LAM__BOOL_TEST = 1,
    LAM__BOOL_SELECT = 2,
    LAM__BOOL_COMPLEX = 0
};

#endif
