/* Programs as C, functions of matrices: operands are brought to memory without gaps, and a helper is called for each
 * matrix of the stack. f64 and f32. See emit_writer.h and emit_matrix_text.c. Of cholesky(x), behind a copy of x to the
 * result, in place of which the factor is made:
 *     for (int64_t b = 0; b < 1; b++)
 *         cholesky_f64(3, &out0[0] + b * 9); */
#include "lib/program/emit_writer.h"

#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#include <string.h>

enum { PIECES = 5 };

#define ARGUMENTS                                                                                                      \
    lam__emit *e, const lam__equation *q, const lam__emit_place *const in[], const lam__emit_place *const out[]

static const char WRONG[] = "has no form in C for this dtype";

/* Memory of an equation as the arguments $0 to $4 of a call for matrix `b`: how each is spelled, and what is to be
 * given back. */
typedef struct pieces {
    int count, rooms;
    char text[PIECES][LAM__EMIT_TEXT];
    int64_t room[PIECES];
} pieces;

/* Matrix b of memory that begins at base[offset], `size` elements each. That the workspace is used is noted here, as
 * lam__emit_at notes it elsewhere. */
static void add_piece(lam__emit *e, pieces *p, const char *base, int64_t offset, int64_t size) {
    char *text = p->text[p->count++];
    if (base[0] == 'w' && !e->hushed) e->works = true;
    snprintf(text, LAM__EMIT_TEXT, "&%s[%lld + b * %lld]", base, (long long)offset, (long long)size);
}

/* A result, or an operand that was copied to `place`. Forty bytes of the text are kept back for what is behind the
 * address. */
static void add_place(lam__emit *e, pieces *p, const lam__emit_place *x, int64_t size) {
    char text[LAM__EMIT_TEXT];
    lam__emit_place first = *x;
    first.rank = 0;
    lam__emit_at(e, &first, NULL, text);
    snprintf(p->text[p->count++], LAM__EMIT_TEXT, "&%.*s + b * %lld", LAM__EMIT_TEXT - 40, text, (long long)size);
}

/* Room for `size` elements, the same for all matrices. One block serves all matrices in turn: they are done one after
 * the other. A block has one element at least, so that it has a place. */
static void add_room(lam__emit *e, pieces *p, lam_dtype dtype, int64_t size) {
    char base[16];
    const int64_t at = lam__emit_reserve(e, dtype, size ? size : 1);
    snprintf(base, sizeof base, "w->%s", lam__emit_suffix(dtype));
    add_piece(e, p, base, at, 0);
    p->room[p->rooms++] = at;
}

/* When the statement is written, since until then nobody else may have the memory. */
static void give_back(lam__emit *e, const pieces *p) {
    for (int i = 0; i < p->rooms; i++) lam__emit_give_back(e, p->room[i]);
}

/* A copy of x in room of its own, `size` elements for each matrix. Helpers that write over their operand get one of
 * these, since operands are read by others too. */
static void add_copy(lam__emit *e, pieces *p, const lam__emit_place *x, int64_t size) {
    char base[16];
    const int64_t at = lam__emit_reserve(e, x->dtype, x->count ? x->count : 1);
    snprintf(base, sizeof base, "w->%s", lam__emit_suffix(x->dtype));
    lam__emit_place to = lam__emit_dense_place(base, x->dtype, x->rank, x->dims);
    to.offset = at;
    lam__emit_copy(e, x, &to);
    add_piece(e, p, base, at, size);
    p->room[p->rooms++] = at;
}

/* An operand where it lies, if it has no gaps, otherwise a copy. A constant of one element is a number in the file and
 * has no address. Read where it lies by the address of its first matrix; all matrices are in one row of memory then. */
static void add_operand(lam__emit *e, pieces *p, const lam__emit_place *x, int64_t size) {
    int64_t dense[LAM_INNER_RANK];
    bool fits = true;
    lam__emit_dense(x->rank, x->dims, dense);
    for (int axis = 0; axis < x->rank; axis++) fits = fits && (x->dims[axis] == 1 || x->strides[axis] == dense[axis]);
    if (fits && !(x->constant >= 0 && x->count == 1)) add_place(e, p, x, size);
    else add_copy(e, p, x, size);
}

/* A statement for each matrix of x, which are its last two axes; sizes are $5 to $8. Without a stack there is one
 * matrix, and the loop is one trip. */
static void write_each(lam__emit *e, const lam__emit_place *x, const char *text, const pieces *p,
                       const int64_t sizes[4]) {
    char numbers[4][LAM__EMIT_NUMBER];
    const char *arguments[LAM__EMIT_ARGUMENTS];
    int64_t batch = 1;
    for (int axis = 0; axis < x->rank - 2; axis++) batch *= x->dims[axis];
    for (int i = 0; i < LAM__EMIT_ARGUMENTS; i++) arguments[i] = i < p->count ? p->text[i] : "";
    for (int i = 0; i < 4; i++) {
        snprintf(numbers[i], LAM__EMIT_NUMBER, "%lld", (long long)sizes[i]);
        arguments[5 + i] = numbers[i];
    }
    lam__emit_line(e, "for (int64_t b = 0; b < %lld; b++)", (long long)batch);
    e->depth++;
    lam__emit_statement(e, text, x->dtype, arguments);
    e->depth--;
    give_back(e, p);
}

/* The size of an axis that is counted from the last one, which is 1. */
static int64_t side(const lam__emit_place *x, int from_end) {
    return x->dims[x->rank - from_end];
}

/* In place of a copy of x, which is the result. */
static const char *write_cholesky(ARGUMENTS) {
    const int64_t n = side(in[0], 1);
    pieces p = {0};
    (void)q;
    if (!lam__dtype_is_float(in[0]->dtype)) return WRONG;
    lam__emit_copy(e, in[0], out[0]);
    add_place(e, &p, out[0], n * n);
    write_each(e, in[0], "@cholesky($5, $0);", &p, (int64_t[4]){n});
    return NULL;
}

/* x op(a) = b is op(a)^T x^T = b^T. So the vectors are rows of x, or its columns: how far apart their elements are, and
 * they themselves, are the last two sizes. Vectors are solved for where the result lies. Transposing for the right side
 * and for the parameter cancel each other. */
static const char *write_triangular_solve(ARGUMENTS) {
    const lam__triangular_params *how = q->params;
    const lam__emit_place *x = out[0];
    const int64_t n = side(in[0], 1), rows = side(x, 2), columns = side(x, 1);
    pieces p = {0};
    char text[128];
    if (!lam__dtype_is_float(x->dtype)) return WRONG;
    lam__emit_copy(e, in[1], x);
    add_operand(e, &p, in[0], n * n);
    add_place(e, &p, x, rows * columns);
    snprintf(text, sizeof text, "@substitute($5, $6, $0, %d, %d, %d, $1, $7, $8);", how->upper,
             how->transpose != how->right_side, how->unit_diagonal);
    write_each(e, x, text, &p,
               (int64_t[4]){n, how->right_side ? rows : columns, how->right_side ? 1 : columns,
                            how->right_side ? columns : 1});
    return NULL;
}

/* Factors in place of x, exchanges, and the permutation that these make. There are as many exchanges as the shorter
 * side has elements, and a place in the order for each row. */
static const char *write_lu(ARGUMENTS) {
    const int64_t m = side(in[0], 2), n = side(in[0], 1), k = m < n ? m : n;
    pieces p = {0};
    (void)q;
    if (!lam__dtype_is_float(in[0]->dtype)) return WRONG;
    lam__emit_copy(e, in[0], out[0]);
    add_place(e, &p, out[0], m * n);
    add_place(e, &p, out[1], k);
    add_place(e, &p, out[2], m);
    write_each(e, in[0], "@lu($5, $6, $0, $1), @i32:order($5, $7, $1, $2);", &p, (int64_t[4]){m, n, k});
    return NULL;
}

/* Operands: the matrix, which is not read here, its factors, their order, the right-hand sides. Only the right-hand
 * sides are copied: the helper writes them over when it solves with the transpose. */
static const char *write_solve(ARGUMENTS) {
    const lam__solve_params *how = q->params;
    const int64_t n = side(out[0], 2), m = side(out[0], 1);
    pieces p = {0};
    if (!lam__dtype_is_float(out[0]->dtype)) return WRONG;
    add_operand(e, &p, in[1], n * n);
    add_operand(e, &p, in[2], n);
    add_copy(e, &p, in[3], n * m);
    add_place(e, &p, out[0], n * m);
    write_each(e, out[0], how->transpose ? "@solve($5, $6, $0, $1, 1, $2, $3);" : "@solve($5, $6, $0, $1, 0, $2, $3);",
               &p, (int64_t[4]){n, m});
    return NULL;
}

/* Bands first, right-hand sides are rows. The helper exchanges rows in copies of the bands, with one more for what that
 * fills in. */
static const char *write_tridiagonal_solve(ARGUMENTS) {
    const lam__tridiagonal_params *how = q->params;
    const int64_t m = side(out[0], 2), n = side(out[0], 1);
    pieces p = {0};
    if (!lam__dtype_is_float(out[0]->dtype)) return WRONG;
    lam__emit_copy(e, in[1], out[0]);
    add_operand(e, &p, in[0], 3 * n);
    add_place(e, &p, out[0], m * n);
    add_room(e, &p, out[0]->dtype, 4 * n);
    write_each(e, out[0],
               how->transpose ? "@tridiagonal($5, $6, $0, 1, $1, $2);" : "@tridiagonal($5, $6, $0, 0, $1, $2);", &p,
               (int64_t[4]){n, m});
    return NULL;
}

/* ---- determinants ------------------------------------------------------------------------------------------------ */

/* By the factors of a copy. Of slogdet the first result is the sign, the second the logarithm. Factors go into the
 * copy, which nobody looks at behind this. */
static const char *write_determinant(lam__emit *e, const lam__emit_place *x, const lam__emit_place *const out[],
                                     int results, const char *text) {
    const int64_t n = side(x, 1);
    pieces p = {0};
    if (!lam__dtype_is_float(x->dtype)) return WRONG;
    add_place(e, &p, out[0], 1);
    add_copy(e, &p, x, n * n);
    add_room(e, &p, LAM_I32, n);
    if (results > 1) add_place(e, &p, out[1], 1);
    write_each(e, x, text, &p, (int64_t[4]){n});
    return NULL;
}

static const char *write_det(ARGUMENTS) {
    (void)q;
    return write_determinant(e, in[0], out, 1, "*($0) = @det($5, $1, $2);");
}

static const char *write_slogdet(ARGUMENTS) {
    (void)q;
    return write_determinant(e, in[0], out, 2, "*($0) = @slogdet($5, $1, $2, $3);");
}

/* n^2 determinants of n - 1 rows, which is what it takes to be right for singular matrices too. The inverse times the
 * determinant would take n^3 in all, and divide by 0 there. */
static const char *write_cofactor(ARGUMENTS) {
    const int64_t n = side(in[0], 1);
    pieces p = {0};
    (void)q;
    if (!lam__dtype_is_float(in[0]->dtype)) return WRONG;
    add_operand(e, &p, in[0], n * n);
    add_place(e, &p, out[0], n * n);
    add_room(e, &p, in[0]->dtype, n * n);
    add_room(e, &p, LAM_I32, n);
    write_each(e, in[0], "@cofactor($5, $0, $1, $2, $3);", &p, (int64_t[4]){n});
    return NULL;
}

/* ---- orthogonal factors ------------------------------------------------------------------------------------------ */

/* Of x a copy, in which reflections replace what they reflect. How many columns q has says whether it is the whole
 * square: the helper fills them with the unit matrix first. */
static const char *write_qr(ARGUMENTS) {
    const int64_t m = side(in[0], 2), n = side(in[0], 1), columns = side(out[0], 1);
    pieces p = {0};
    (void)q;
    if (!lam__dtype_is_float(in[0]->dtype)) return WRONG;
    add_copy(e, &p, in[0], m * n);
    add_place(e, &p, out[0], m * columns);
    add_place(e, &p, out[1], columns * n);
    add_room(e, &p, in[0]->dtype, m < n ? m : n);
    write_each(e, in[0], "@qr($5, $6, $7, $0, $1, $2, $3);", &p, (int64_t[4]){m, n, columns});
    return NULL;
}

/* eigvalsh is the same without vectors. Only the symmetric part counts, as in the row. */
static const char *write_eigh(ARGUMENTS) {
    const int64_t n = side(in[0], 1);
    pieces p = {0};
    if (!lam__dtype_is_float(in[0]->dtype)) return WRONG;
    add_copy(e, &p, in[0], n * n);
    add_place(e, &p, out[0], n);
    if (q->outputs > 1) add_place(e, &p, out[1], n * n);
    write_each(e, in[0], q->outputs > 1 ? "@eigh($5, $0, $1, $2);" : "@eigh($5, $0, $1, NULL);", &p, (int64_t[4]){n});
    return NULL;
}

/* ---- singular values --------------------------------------------------------------------------------------------- */

/* What the helper takes for vectors of the longer side, `count` of them or as many as there are values, and for all of
 * the shorter one. */
static int64_t svd_room(int64_t m, int64_t n, int64_t count) {
    const int64_t longer = m < n ? n : m, shorter = m < n ? m : n;
    return (count > shorter ? count : shorter) * longer + shorter * shorter;
}

/* svdvals is the same without vectors. How many vectors there are is read off the dims of the results, and not off the
 * parameters. */
static const char *write_svd(ARGUMENTS) {
    const bool vectors = q->outputs > 1;
    const lam__emit_place *values = out[vectors ? 1 : 0];
    const int64_t m = side(in[0], 2), n = side(in[0], 1), columns = vectors ? side(out[0], 1) : 0,
                  rows = vectors ? side(out[2], 2) : 0;
    pieces p = {0};
    if (!lam__dtype_is_float(in[0]->dtype)) return WRONG;
    add_operand(e, &p, in[0], m * n);
    add_place(e, &p, values, side(values, 1));
    add_room(e, &p, in[0]->dtype, svd_room(m, n, m < n ? rows : columns));
    if (vectors) add_place(e, &p, out[0], m * columns);
    if (vectors) add_place(e, &p, out[2], rows * n);
    write_each(e, in[0],
               vectors ? "@svd($5, $6, $7, $8, $0, $3, $1, $4, $2);" : "@svd($5, $6, $7, $8, $0, NULL, $1, NULL, $2);",
               &p, (int64_t[4]){m, n, columns, rows});
    return NULL;
}

/* Which singular values count as 0 is a number in the text, since it is a parameter. Rooms are for the singular values
 * and for what the decomposition needs. */
static const char *write_pinv(ARGUMENTS) {
    const lam__pinv_params *how = q->params;
    const int64_t m = side(in[0], 2), n = side(in[0], 1);
    pieces p = {0};
    char cut[LAM__EMIT_NUMBER], text[128];
    if (!lam__dtype_is_float(in[0]->dtype)) return WRONG;
    lam__emit_real(in[0]->dtype, how->rtol, cut);
    add_operand(e, &p, in[0], m * n);
    add_place(e, &p, out[0], n * m);
    add_room(e, &p, in[0]->dtype, m < n ? m : n);
    add_room(e, &p, in[0]->dtype, svd_room(m, n, 0));
    snprintf(text, sizeof text, "@pinv($5, $6, %s, $0, $1, $2, $3);", cut);
    write_each(e, in[0], text, &p, (int64_t[4]){m, n});
    return NULL;
}

/* Without a cut, since nothing is divided. */
static const char *write_polar(ARGUMENTS) {
    const int64_t m = side(in[0], 2), n = side(in[0], 1);
    pieces p = {0};
    (void)q;
    if (!lam__dtype_is_float(in[0]->dtype)) return WRONG;
    add_operand(e, &p, in[0], m * n);
    add_place(e, &p, out[0], m * n);
    add_room(e, &p, in[0]->dtype, m < n ? m : n);
    add_room(e, &p, in[0]->dtype, svd_room(m, n, 0));
    write_each(e, in[0], "@polar($5, $6, $0, $1, $2, $3);", &p, (int64_t[4]){m, n});
    return NULL;
}

/* The result is m x n, as the second operand is; the first one is n x n. The helper reads both operands more than once,
 * so nothing is solved in place. */
static const char *write_gap_solve(ARGUMENTS) {
    const lam__gap_params *how = q->params;
    const int64_t m = side(out[0], 2), n = side(out[0], 1);
    pieces p = {0};
    char text[128];
    if (!lam__dtype_is_float(out[0]->dtype)) return WRONG;
    add_operand(e, &p, in[0], n * n);
    add_operand(e, &p, in[1], m * n);
    add_place(e, &p, out[0], m * n);
    snprintf(text, sizeof text, "@gap_solve($5, $6, %d, $0, $1, $2);", how->sign);
    write_each(e, out[0], text, &p, (int64_t[4]){m, n});
    return NULL;
}

/* ---- exponentials ------------------------------------------------------------------------------------------------ */

/* The derivative, which has a direction as its second operand, is found in the exponential of twice the rows. 36 n^2
 * are the matrix of twice the rows, its exponential, and seven more of that size which this takes. */
static const char *write_expm(ARGUMENTS) {
    const bool derivative = q->inputs > 1;
    const int64_t n = side(out[0], 1);
    pieces p = {0};
    if (!lam__dtype_is_float(out[0]->dtype)) return WRONG;
    add_operand(e, &p, in[0], n * n);
    add_place(e, &p, out[0], n * n);
    add_room(e, &p, out[0]->dtype, (derivative ? 36 : 7) * n * n);
    add_room(e, &p, LAM_I32, (derivative ? 4 : 2) * n);
    if (derivative) add_operand(e, &p, in[1], n * n);
    write_each(e, out[0], derivative ? "@expm_frechet($5, $0, $4, $1, $2, $3);" : "@expm($5, $0, $1, $2, $3);", &p,
               (int64_t[4]){n});
    return NULL;
}

const lam__emit_row lam__emit_matrices[] = {
    {&lam__row_cholesky, write_cholesky},
    {&lam__row_triangular_solve, write_triangular_solve},
    {&lam__row_lu, write_lu},
    {&lam__row_solve, write_solve},
    {&lam__row_tridiagonal_solve, write_tridiagonal_solve},
    {&lam__row_det, write_det},
    {&lam__row_slogdet, write_slogdet},
    {&lam__row_cofactor, write_cofactor},
    {&lam__row_qr, write_qr},
    {&lam__row_eigh, write_eigh},
    {&lam__row_eigvalsh, write_eigh},
    {&lam__row_svd, write_svd},
    {&lam__row_svdvals, write_svd},
    {&lam__row_pinv, write_pinv},
    {&lam__row_polar, write_polar},
    {&lam__row_gap_solve, write_gap_solve},
    {&lam__row_expm, write_expm},
    {&lam__row_expm_frechet, write_expm},
    {NULL, NULL},
};
