/* What the vectors of a decomposition are differentiated by: x w + sign w x = p, where w is diagonal, so that x[i, j]
 * is p[i, j] / (w[j] + sign w[i]). With sign -1 these are gaps between eigenvalues, with 1 sums of singular values,
 * with 0 the values themselves.
 *
 * NOTE [equal ones]
 * Where values repeat, their vectors may be turned among each other, and have no derivative. What depends on them by
 * their span alone gets nothing from turning them, so 0 is what 1 / gap then stands for; left infinite, it would make
 * NaN of the zeros that it meets. LAPACK's values are right to a few roundings of the largest one, so a gap of that
 * size is none.
 *
 * NOTE [blocks of values]
 * A change of the matrix moves equal values apart, and mixes their vectors: of w = v^T x v it fills the whole block
 * that they share. Only its diagonal is theirs; taken for all, it would leave the rest out of second derivatives of
 * spans that are well determined. So w comes as a matrix, whose block is followed as such: dx solves the same equation
 * for dp - (x dw + sign dw x). In this frame, of spans instead of vectors, what does not depend on the choice has its
 * derivatives of every order. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"

#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <float.h>
#include <math.h>

/* x is like p; whether w and p fit is for the wrapper to see. */
static lam_status shape_gap_solve(const lam_call_site *call, lam_shape out[]) {
    const lam_value *p = call->in[1];
    lam_status typed = lam__matrices_typed(call, true);
    return typed == LAM_OK ? lam__apply_shape_as(p, (lam_dtype)p->dtype, out) : typed;
}

/* A complex number, of which real matrices use the first part. */
typedef struct number {
    double re, im;
} number;

static number load(int dtype, const char *at) {
    lam_c128 x = lam__dtype_load_complex(dtype, at);
    return (number){x.re, x.im};
}

static void store(int dtype, char *at, number x) {
    const int part = (int)lam__dtype_part(dtype);
    lam__dtype_store(part, at, x.re);
    if (lam__dtype_is_complex(dtype)) lam__dtype_store(part, at + lam__dtype_bytes(part), x.im);
}

/* p / d, by sizes that stay in the range. */
static number quotient(number p, number d) {
    if (d.im == 0) return (number){p.re / d.re, p.im / d.re};
    const double size = hypot(d.re, d.im), re = d.re / size, im = d.im / size;
    return (number){(p.re * re + p.im * im) / size, (p.im * re - p.re * im) / size};
}

/* One equation: w of n rows, p and x of m rows, all row-major. */
typedef struct equation {
    int dtype, sign;
    int64_t m, n, item;
    const char *w, *p;
    char *x;
    double least; /* no smaller divisor counts */
} equation;

static number at(const equation *e, const char *matrix, int64_t i, int64_t j) {
    return load(e->dtype, matrix + (i * e->n + j) * e->item);
}

/* What least_of asks of w: the largest size on the diagonal, the sum of all sizes, and how many elements beside the
 * diagonal are not 0. */
typedef struct sizes {
    double largest, all;
    int64_t beside;
} sizes;

/* What the macro below does for real ones, by element. */
static void sizes_complex(const equation *e, sizes *s) {
    for (int64_t i = 0; i < e->n; i++)
        for (int64_t j = 0; j < e->n; j++) {
            number x = at(e, e->w, i, j);
            double size = hypot(x.re, x.im);
            if (i == j) s->largest = fmax(s->largest, size);
            else s->beside += size != 0;
            s->all += size;
        }
}

/* Real matrices are nearly all there are, and nearly always diagonal; their loops load nothing by dtype. In the second,
 * `gap` has room for n numbers, the gaps of a row: all are known before the first is divided by, so that compilers make
 * vectors of both steps. */
#define REAL(T, name)                                                                                                  \
    static void sizes_##name(const equation *e, sizes *s) {                                                            \
        const T *w = (const T *)(const void *)e->w;                                                                    \
        for (int64_t i = 0; i < e->n; i++, w += e->n) {                                                                \
            for (int64_t j = 0; j < e->n; j++) s->beside += w[j] != 0;                                                 \
            for (int64_t j = 0; j < e->n; j++) s->all += fabs((double)w[j]);                                           \
            s->beside -= w[i] != 0;                                                                                    \
            s->largest = fmax(s->largest, fabs((double)w[i]));                                                         \
        }                                                                                                              \
    }                                                                                                                  \
    static void divide_##name(const equation *e, double *gap) {                                                        \
        const T *w = (const T *)(const void *)e->w, *p = (const T *)(const void *)e->p;                                \
        T *x = (T *)(void *)e->x;                                                                                      \
        for (int64_t i = 0; i < e->m; i++, p += e->n, x += e->n) {                                                     \
            const double own = e->sign ? e->sign * (double)w[i * e->n + i] : 0;                                        \
            for (int64_t j = 0; j < e->n; j++) gap[j] = (double)w[j * e->n + j] + own;                                 \
            for (int64_t j = 0; j < e->n; j++) x[j] = fabs(gap[j]) <= e->least ? 0 : (T)((double)p[j] / gap[j]);       \
        }                                                                                                              \
    }

REAL(double, f64)
REAL(float, f32)

/* The size up to which a divisor is rounding; 0 where one of w is infinite. *beside: whether w has any element off its
 * diagonal. */
static double least_of(const equation *e, bool *beside) {
    const double epsilon = lam__dtype_part(e->dtype) == LAM_F32 ? FLT_EPSILON : DBL_EPSILON;
    sizes s = {0, 0, 0};
    if (e->dtype == LAM_F64) sizes_f64(e, &s);
    else if (e->dtype == LAM_F32) sizes_f32(e, &s);
    else sizes_complex(e, &s);
    *beside = s.beside > 0 && isfinite(s.all);
    return isfinite(s.largest) ? 4 * (double)e->n * epsilon * s.largest : 0;
}

/* Element i, j of x where the right side is p. NaN is no negligible divisor, and stays. */
static number divided(const equation *e, int64_t i, int64_t j, number p) {
    number a = e->sign ? at(e, e->w, i, i) : (number){0, 0}, b = at(e, e->w, j, j);
    number d = {b.re + e->sign * a.re, b.im + e->sign * a.im};
    return hypot(d.re, d.im) <= e->least ? (number){0, 0} : quotient(p, d);
}

/* sum += by x y */
static void add_product(number *sum, double by, number x, number y) {
    sum->re += by * (x.re * y.re - x.im * y.im);
    sum->im += by * (x.re * y.im + x.im * y.re);
}

/* What is left of p when x n + sign n x is taken away, n being w beside its diagonal. */
static number left_over(const equation *e, const number *x, int64_t i, int64_t j) {
    number rest = at(e, e->p, i, j);
    for (int64_t k = 0; k < e->n; k++) {
        if (k != j) add_product(&rest, -1, x[i * e->n + k], at(e, e->w, k, j));
        if (e->sign && k != i) add_product(&rest, -e->sign, at(e, e->w, i, k), x[k * e->n + j]);
    }
    return rest;
}

enum { STEPS = 200 };

/* One pass over x, in place: upwards and to the right, or the other way. Gives how far elements moved, and their
 * size. */
static void pass(const equation *e, bool back, number *x, double *change, double *size) {
    const int64_t count = e->m * e->n;
    *change = *size = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t row = k / e->n, column = k % e->n, i = back ? row : e->m - 1 - row,
                      j = back ? e->n - 1 - column : column, place = i * e->n + j;
        const number next = divided(e, i, j, left_over(e, x, i, j));
        *change += hypot(next.re - x[place].re, next.im - x[place].im);
        *size += hypot(next.re, next.im);
        x[place] = next;
    }
}

/* Elements beside the diagonal by passes in which each element of x uses the newest others: x = (p - x n - sign n x) /
 * gaps. Of an upper triangular w the first pass is the solution, since each element needs those below it and to its
 * left alone; of a lower one it is the pass back. Others must be small beside the divisors. Gives whether it came to
 * rest. */
static bool iterate(const equation *e, number *x) {
    const int64_t count = e->m * e->n;
    double change = INFINITY, size = 0;
    bool upper = false;
    for (int64_t i = 0; i < e->n; i++)
        for (int64_t j = i + 1; j < e->n; j++) {
            number w = at(e, e->w, i, j);
            upper = upper || w.re != 0 || w.im != 0;
        }
    for (int64_t k = 0; k < count; k++) x[k] = (number){0, 0};
    for (int step = 0; step < STEPS && change > DBL_EPSILON * size; step++) pass(e, !upper, x, &change, &size);
    for (int64_t k = 0; k < count; k++) store(e->dtype, e->x + k * e->item, x[k]);
    return change <= 4 * DBL_EPSILON * size;
}

/* Room that all matrices of a stack use in turn, made when the first of them needs it: a row of divisors for diagonal
 * w, numbers of one x for others. */
typedef struct rooms {
    lam_ctx *ctx;
    lam__work row, all;
} rooms;

/* NULL after recording that there is no memory. solve_all gives it back. */
static void *room_of(lam_ctx *ctx, lam__work *work, size_t bytes) {
    return work->room || lam__matrices_work(ctx, bytes, work) ? work->room : NULL;
}

/* Where w is diagonal. Complex numbers go one by one, real ones a row at a time. */
static lam_status divide(rooms *r, const equation *e) {
    const int64_t count = e->m * e->n;
    for (int64_t k = 0; lam__dtype_is_complex(e->dtype) && k < count; k++) {
        const int64_t i = k / e->n, j = k % e->n;
        store(e->dtype, e->x + k * e->item, divided(e, i, j, at(e, e->p, i, j)));
    }
    if (lam__dtype_is_complex(e->dtype)) return LAM_OK;
    double *row = room_of(r->ctx, &r->row, (size_t)e->n * sizeof(double));
    if (!row) return LAM_ERR_MEMORY;
    if (e->dtype == LAM_F32) divide_f32(e, row);
    else divide_f64(e, row);
    return LAM_OK;
}

/* Matrix after matrix. The first that `iterate` cannot do is *bad. */
static lam_status solve_all(lam_ctx *ctx, equation e, int64_t matrices, int64_t *bad) {
    const int64_t count = e.m * e.n;
    /* Rooms are taken by the first matrix that needs them, and kept for those that follow. */
    rooms r = {.ctx = ctx};
    lam_status status = LAM_OK;
    for (int64_t b = 0; b < matrices && *bad < 0 && status == LAM_OK; b++) {
        bool beside;
        /* Each matrix goes its own way: diagonal ones are divided by, others take an iteration. */
        e.least = least_of(&e, &beside);
        number *numbers = beside ? room_of(ctx, &r.all, (size_t)count * sizeof(number)) : NULL;
        if (!beside) status = divide(&r, &e);
        else if (!numbers) status = LAM_ERR_MEMORY;
        else if (!iterate(&e, numbers)) *bad = b;
        e.w += e.n * e.n * e.item;
        e.p += count * e.item;
        e.x += count * e.item;
    }
    lam__matrices_work_end(&r.row);
    lam__matrices_work_end(&r.all);
    return status;
}

/* By numbers without gaps, whatever the operands are views of. */
static lam_status eval_gap_solve(const lam_call_site *call, lam_value *const out[]) {
    const lam__gap_params *params = call->params;
    lam_value *x = out[0];
    int64_t bad = -1;
    if (x->count == 0) return LAM_OK;
    lam_value *w = lam__value_contiguous(call->in[0]), *p = lam__value_contiguous(call->in[1]);
    lam_status status = LAM_ERR_MEMORY;
    equation e = {x->dtype, params->sign, x->dims[x->rank - 2], x->dims[x->rank - 1], 0, NULL, NULL, x->data, 0};
    e.item = (int64_t)lam__dtype_bytes(x->dtype);
    if (w && p) {
        e.w = w->data;
        e.p = p->data;
        status = solve_all(call->ctx, e, lam__matrices_count(x), &bad);
    }
    lam__value_release(w);
    lam__value_release(p);
    return bad < 0 ? status
                   : lam__matrices_bad(call, call->in[0], bad, "is not nearly diagonal or triangular",
                                       "bring it to its Schur form first");
}

static lam_tensor *apply_gaps(lam_tensor *w, lam_tensor *p, int sign) {
    lam__gap_params params = {sign};
    lam_tensor *in[2] = {w, p};
    return lam__apply(&lam__row_gap_solve, &params, sizeof params, 2, in);
}

/* x y + sign z t */
static lam_tensor *products(lam_tensor *x, lam_tensor *y, int sign, lam_tensor *z, lam_tensor *t) {
    lam_tensor *first = lam_matmul(x, y);
    return sign ? lam_add(first, lam_mul(sign, lam_matmul(z, t))) : first;
}

/* The same equation for dp - (x dw + sign dw x). */
static void jvp_gap_solve(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    const lam__gap_params *params = r->params;
    lam_tensor *x = r->out[0], *rest = dx[1];
    if (dx[0]) {
        lam_tensor *moved = lam_neg(products(x, dx[0], params->sign, dx[0], x));
        rest = lam__matrices_plus(rest, moved);
    }
    if (rest) dout[0] = apply_gaps(r->in[0], rest, params->sign);
}

/* y w^T + sign w^T y = g gives gp = y and gw = -(x^T y + sign y x^T). */
static void vjp_gap_solve(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const lam__gap_params *params = r->params;
    lam_tensor *y = apply_gaps(lam__matrices_turn(r->in[0]), g[0], params->sign);
    gx[1] = y;
    if (!r->needs[0]) return;
    lam_tensor *xt = lam__matrices_turn(r->out[0]);
    gx[0] = lam_neg(products(xt, y, params->sign, y, xt));
}

/* Each example has both operands of its own. */
static void batch_gap_solve(const lam_rule *r, lam_tensor *out[]) {
    const lam__gap_params *params = r->params;
    out[0] = apply_gaps(lam__matrices_with_batch(r, 0), lam__matrices_with_batch(r, 1), params->sign);
}

const lam_primitive lam__row_gap_solve = {
    .name = "gap_solve",
    .inputs = 2,
    .takes_complex = true,
    .derivative = LAM_GENERAL,
    .linear = 2u,
    .saves = LAM_SAVE_IN(0),
    .saves_for = {LAM_SAVE_OUT(0)},
    .shape = shape_gap_solve,
    .eval = eval_gap_solve,
    .jvp = jvp_gap_solve,
    .vjp = vjp_gap_solve,
    .batch = batch_gap_solve,
    .layout = "i sign",
};

/* With sign 0 nothing of w stands on the left of x, so p may have any number of rows. */
lam_tensor *lam_gap_solve(lam_tensor *w, lam_tensor *p, int sign) {
    uint64_t since = lam__scope_now(w);
    lam_tensor *in[2] = {w, p}, *failed;
    if (!lam__matrices_operands("gap_solve", true, 2, in, in, &failed)) return failed;
    if (sign < -1 || sign > 1)
        return lam__axes_fail("gap_solve", in[0], LAM_ERR_OPTION, "%d is none of the signs -1, 0, 1", sign);
    if (!lam__matrices_square("gap_solve", in[0])) return lam__axes_failed(in[0]);
    const int rank = lam_rank(in[1]);
    const int64_t n = lam_dim(in[0], -1);
    if (rank < 2 || lam_dim(in[1], -1) != n || (sign && lam_dim(in[1], -2) != n))
        return lam__matrices_fail("gap_solve", 2, in, LAM_ERR_SHAPE, NULL,
                                  "the right-hand side has not the columns and rows of the values");
    if (!lam__matrices_lead("gap_solve", in)) return lam__axes_failed(in[0]);
    return lam__scope_only(apply_gaps(in[0], in[1], sign), since);
}

/* Rounding beside the diagonal would be taken for a block: of the product the changes alone are kept. Where no level
 * follows x there are none to keep, and the product, which would cost as much as the rest of a rule, is left out. */
lam_tensor *lam__gaps_values(lam_tensor *w, lam_tensor *left, lam_tensor *x, lam_tensor *right) {
    lam_tensor *fixed = lam_stop_gradient(w);
    lam_tensor *unit = lam_eye(lam_ctx_of(w), lam_dtype_of(fixed), lam_dim(w, -1), lam_dim(w, -1));
    lam_tensor *values = lam_mul(unit, lam_expand_dims(fixed, -2));
    const lam_value *followed = lam__scope_peek(x); /* NULL for a failed handle, as for want of memory */
    if (!followed || !lam__value_is_box(followed)) return values;
    lam_tensor *block = lam_matmul(left, lam_matmul(x, right));
    return lam_add(lam_sub(block, lam_stop_gradient(block)), values);
}
