/* Parameters of rows that not only the row's own file reads: a program that leaves as C is written from them. Plain
 * data, as all parameters are. */
#ifndef LAM_PRIMITIVES_PARAMS_H
#define LAM_PRIMITIVES_PARAMS_H

#include "lib/kernels/conv/conv.h"
#include "lib/kernels/kernels.h"
#include "lib/primitives/axes.h"

/* Of concatenate. `axis` counts in the result, and batch rules add one. */
typedef struct lam__join_params {
    int32_t axis;  /* of the result */
    int32_t fresh; /* the parts do not have it */
} lam__join_params;

/* Of split_sizes. Without sizes parts are of one element, and lose the axis. The axis is counted from the end, so that
 * a batch axis in front changes nothing. */
typedef struct lam__split_params {
    int32_t from_end; /* 1: the last */
    int32_t given;    /* sizes: 0, or as many as results */
    int64_t sizes[];
} lam__split_params;

/* Of norm and its slope. The parameter of both rows. Of slopes the axes count from the end. */
typedef struct lam__norm_params {
    lam__axis_set set;
    uint32_t none; /* 0, where the compiler would leave a gap */
    double order;
} lam__norm_params;

/* Of var. */
typedef struct lam__variance_params {
    lam__axis_set set; /* first, as in every reduction */
    double ddof;
} lam__variance_params;

/* Of softmax, log_softmax and standardize. The axes that are seen as one: `count` of them from `first` on. */
typedef struct lam__lanes_params {
    int32_t first, count;
    double epsilon; /* of standardize */
} lam__lanes_params;

/* Of what runs along an axis. */
typedef struct lam__scan_params {
    int32_t axis;
    int32_t reverse; /* 0 or 1 */
} lam__scan_params;

/* Of polyval and power_sums. */
typedef struct lam__polynomial_params {
    int64_t batch; /* leading axes that both operands share */
    int64_t count; /* of the powers whose sums are wanted; polyval: 0 */
} lam__polynomial_params;

/* Of argsort. `axis` is one of the value that the row gets: batch rules add one. */
typedef struct lam__sort_params {
    int32_t axis;
    int32_t descending; /* 0 or 1 */
    int64_t count;      /* so many of the order, from its front; ALL of it */
} lam__sort_params;

/* Of index_inverse. */
typedef struct lam__inverse_params {
    int64_t n;
    int64_t mode; /* lam__index_mode: ERROR or DROP */
} lam__inverse_params;

/* Of wrap_index. */
typedef struct lam__wrap_params {
    int64_t n, limit; /* negative indices have n added to them; then none may be limit or more */
} lam__wrap_params;

/* Of triangular_solve. As the public options; all of them are closed under the rules, which exchange transpose and
 * not. */
typedef struct lam__triangular_params {
    bool right_side, upper, transpose, unit_diagonal;
} lam__triangular_params;

/* Of solve. The matrix itself is an operand so that the result depends on it; its elements are read where its
 * factors say that parts of them have left the range. */
typedef struct lam__solve_params {
    bool transpose; /* solve a^T x = b */
    bool singular;  /* a matrix that is singular gives infinities and NaN, and no failure */
} lam__solve_params;

/* Of qr. */
typedef struct lam__qr_params {
    bool full;
} lam__qr_params;

/* Of pinv: a singular value of no more than rtol times the largest counts as 0. */
typedef struct lam__pinv_params {
    double rtol; /* negative: none does */
} lam__pinv_params;

/* Of gap_solve: x w + sign w x = p. */
typedef struct lam__gap_params {
    int sign;
} lam__gap_params;

/* Of tridiagonal_solve. The row solves with the transpose too, as its way back needs that; users do not ask for it. */
typedef struct lam__tridiagonal_params {
    bool transpose; /* of the matrix */
} lam__tridiagonal_params;

/* Of conv_general. One entry for each window axis; sizes of x come from x itself. */
typedef struct lam__conv_params {
    int32_t rank, front; /* window axes; axes in front of them: groups (if there are FRONT), n or o, c */
    lam__window_axis at[LAM__CONV_AXES];
} lam__conv_params;

/* Of reduce_window_*. Only the first `rank` entries of `at` are copied with a call. */
typedef struct lam__window_params {
    int32_t lead; /* axes in front of the windowed ones */
    int32_t rank; /* windowed axes, the last ones */
    lam__window_axis at[LAM_INNER_RANK];
} lam__window_params;

/* Of fft. */
typedef struct lam__fft_params {
    double scale;
    lam__axis_set set;
    int32_t inverse; /* 0 or 1 */
} lam__fft_params;

/* Of rfft and irfft. Which of the two kinds is said by the row; n cannot be told from n/2 + 1 coefficients. */
typedef struct lam__half_params {
    double scale;
    int64_t n; /* elements of the real side */
    int32_t axis;
    int32_t unused; /* parameters are compared as bytes */
} lam__half_params;

/* Of embedding_bag, bag_spread and bag_dots. `rows` cannot be told from the operands of bag_spread: it is how many
 * rows the table has. */
typedef struct lam__bag_params {
    int32_t batch;
    int64_t rows; /* of the result of bag_spread; else not read */
} lam__bag_params;

#endif
