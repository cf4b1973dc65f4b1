/* What each row does with names of sets: see dependence.h. Most rows are of a few kinds: results that are elements of
 * operands, for which the row itself moves names; element by element; sums, and what else goes over axes; products of
 * matrices; windows. Where names are united, those of one result lie side by side, by a view of their operand with the
 * axes in another order. */
#include "transforms/dependence.h"
#include "transforms/dependence_names.h"

#include "lib/dispatch/dispatch.h"
#include "lib/primitives/contract.h"
#include "lib/primitives/index.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"

#include <string.h>

/* One call, as lam__dependence_of has it. */
typedef struct task {
    lam__sets *sets;
    const lam_call_site *call;
    lam_value *const *names;
    const bool *varies;
    lam_value *const *out;
} task;

/* ---- kinds of rows: the names of result o ------------------------------------------------------------------------ */

/* NULL where nothing depends, and after a failure, which lam__dependence_of finds recorded. */
typedef lam_value *kind(const task *t, int o);

/* Each element of the result is made of those in its place in all operands. Operands of fewer axes are broadcast as the
 * row does it, by strides of 0. */
static lam_value *elementwise(const task *t, int o) {
    lam_value *all = NULL;
    for (int i = 0; i < t->call->inputs; i++)
        all = lam__names_joined(t->sets, all, lam__names_broadcast(t->names[i], t->out[o]));
    return all;
}

/* Everything depends on everything. Right for any row, however it mixes its operands. */
static lam_value *everything(const task *t, int o) {
    lam_value *all = lam__names_like(t->out[o]);
    for (int i = 0; i < t->call->inputs; i++)
        if (t->names[i]) lam__names_add(t->sets, lam__names_of(t->names[i]), t->names[i]->count);
    const int64_t name = lam__sets_take(t->sets);
    for (int64_t k = 0; all && k < all->count; k++) lam__names_of(all)[k] = name;
    return all;
}

/* A row with names, or indices, as operands. What it gives lies at level 0, or else cannot be read here. The row is run
 * on i64, which those that only move elements take as they take any dtype. Parameters are those of the call. */
static lam_value *applied(const task *t, const lam_primitive *row, int n, lam_value *const in[], int o) {
    lam__scratch_area area;
    const int m = t->call->outputs;
    lam_value **out = lam__scratch_get(&area, t->call->ctx, (size_t)m * sizeof *out), *wanted = NULL;
    if (!out) return NULL;
    memset(out, 0, (size_t)m * sizeof *out);
    lam_call_site call = *t->call;
    call.primitive = row;
    call.in = in;
    call.inputs = n;
    if (lam__dispatch(&call, out) == LAM_OK && out[o]->kind == LAM__CONCRETE) wanted = lam__value_contiguous(out[o]);
    else
        lam__error_call(t->call, LAM_ERR_BATCHED, "ask for the sparsity outside of other transforms",
                        "its places are not numbers");
    lam__arguments_release(m, out);
    lam__scratch_put(&area);
    return wanted;
}

/* Results are elements of operands, or zeros: names go where elements would. Where places follow from the input other
 * inputs may take others. Operands without names are zeros, the name of the empty set. Integers among the operands are
 * places and stay what they are. */
static lam_value *moved(const task *t, int o) {
    lam__scratch_area area;
    const int n = t->call->inputs;
    for (int i = 0; i < n; i++)
        if (t->varies[i] && !lam__dtype_is_inexact(t->call->in[i]->dtype)) return everything(t, o);
    lam_value **in = lam__scratch_get(&area, t->call->ctx, (size_t)n * sizeof *in), *result = NULL;
    if (!in) return NULL;
    bool fine = true;
    for (int i = 0; i < n; i++) {
        lam_value *x = t->call->in[i];
        bool data = lam__dtype_is_inexact(x->dtype);
        in[i] = t->names[i] || !data ? lam__value_hold(t->names[i] ? t->names[i] : x)
                                     : lam__value_zeros(t->call->ctx, LAM_I64, x->rank, x->dims);
        fine = fine && in[i];
    }
    if (fine) result = applied(t, t->call->primitive, n, in, o);
    lam__arguments_release(n, in);
    lam__scratch_put(&area);
    return result;
}

/* take by an order or a search: any element along the axis may come, so each stands for all. Elsewhere the order may be
 * another one, while the axis that it goes along is the same. */
static lam_value *taken(const task *t, int o) {
    if (!t->varies[1] || !t->names[0]) return moved(t, o);
    const lam__index_params *p = t->call->params;
    const lam_value *x = t->call->in[0];
    const uint32_t set = 1u << p->axis;
    lam_value *in[2] = {lam__names_repeated(lam__names_over(t->sets, t->names[0], set), x, set), t->call->in[1]};
    lam_value *result = in[0] ? applied(t, t->call->primitive, 2, in, o) : NULL;
    lam__value_release(in[0]);
    return result;
}

/* x, indices, updates: of an array that numbers the places of x, take tells where each update goes. Products and
 * extremes depend on the same elements as sums do: which of them wins may be another one elsewhere. */
static lam_value *scattered(const task *t, int o) {
    const lam_value *x = t->call->in[0];
    if (t->varies[1]) return everything(t, o);
    lam_value *result = lam__value_zeros(t->call->ctx, LAM_I64, x->rank, x->dims);
    if (result && t->names[0]) memcpy(result->data, t->names[0]->data, (size_t)x->count * sizeof(int64_t));
    lam_value *updates = t->names[2] ? lam__value_contiguous(t->names[2]) : NULL;
    /* From 1 on, so that the 0 that take gives for an index outside is nobody's place. */
    lam_value *places = result && updates ? lam__names_like(x) : NULL, *where = NULL;
    for (int64_t i = 0; places && i < x->count; i++) lam__names_of(places)[i] = 1 + i;
    if (places) where = applied(t, &lam__row_take, 2, (lam_value *[]){places, t->call->in[1]}, o);
    for (int64_t i = 0; where && i < where->count; i++) {
        const int64_t to = lam__names_of(where)[i] - 1;
        if (to < 0) continue; /* an index outside, which is left out */
        lam__names_of(result)[to] = lam__sets_union(t->sets, lam__names_of(result)[to], lam__names_of(updates)[i]);
    }
    lam__value_release(where);
    lam__value_release(places);
    lam__value_release(updates);
    return result;
}

/* `count` axes from `first` on. Made of 64 bits, so that all 32 may be set. */
static uint32_t set_of(int first, int count) {
    return (uint32_t)((((uint64_t)1 << count) - 1) << first);
}

/* Lanes: each result depends on the whole of its lane. Operand and result have the same axes outside of the set. */
static lam_value *mixed(const task *t, uint32_t set, int o) {
    return lam__names_repeated(lam__names_over(t->sets, t->names[0], set), t->out[o], set);
}

/* Over the axes that the parameter begins with. They go, but from a second result that has one element for each of the
 * operand. That all reductions begin with their set is what lets one function serve them (kernels and shapes rely on it
 * too). */
static lam_value *reduced(const task *t, int o) {
    const lam__axis_set set = *(const lam__axis_set *)t->call->params;
    if (t->out[o]->rank == t->call->in[0]->rank) return mixed(t, set, o);
    return lam__names_over(t->sets, t->names[0], set);
}

/* A softmax divides by a sum over its lane, and a standardised element takes off the mean of it. */
static lam_value *lanes(const task *t, int o) {
    const lam__lanes_params *p = t->call->params;
    return mixed(t, set_of(p->first, p->count), o);
}

#if defined(LAM__HAVE_FFTW)
static lam_value *transformed(const task *t, int o) {
    return mixed(t, ((const lam__fft_params *)t->call->params)->set, o);
}

/* The result is longer or shorter along its axis than the operand; each of its elements has all of the lane in it. */
static lam_value *half_transformed(const task *t, int o) {
    return mixed(t, 1u << ((const lam__half_params *)t->call->params)->axis, o);
}
#endif

/* Orders along an axis have no derivative, but what stands behind a result runs along it: each on those before it. A
 * factor of a recurrence is in all later results, as what is added is. */
static lam_value *running(const task *t, int o) {
    const lam__scan_params *p = t->call->params;
    lam_value *names = elementwise(t, o);
    if (!names) return NULL;
    lam_value *all = lam__names_like(names); /* whose strides are row-major, for axes of one element too */
    const int64_t n = names->dims[p->axis], step = all ? all->strides[p->axis] : 1;
    for (int64_t i = 0; all && i < names->count; i++) {
        const int64_t at = p->reverse ? names->count - 1 - i : i, place = at / step % n;
        const bool first = place == (p->reverse ? n - 1 : 0);
        const int64_t before = first ? 0 : lam__names_of(all)[p->reverse ? at + step : at - step];
        lam__names_of(all)[at] = lam__sets_union(t->sets, before, lam__names_of(names)[at]);
    }
    lam__value_release(names);
    return all;
}

/* Operands and results have the first `lead` axes in common; what lies behind them depends on all that does. A set of
 * 32 bits, of which those beyond the rank mean nothing. */
static lam_value *stacked_behind(const task *t, int o, int lead) {
    const uint32_t behind = ~0u << lead;
    lam_value *all = NULL;
    for (int i = 0; i < t->call->inputs; i++)
        all = lam__names_joined(t->sets, all, lam__names_over(t->sets, t->names[i], behind));
    return lam__names_repeated(all, t->out[o], behind);
}

/* Stacks of matrices. Each matrix of a result depends on all of the same matrix of the operands: factors have no
 * pattern that could be relied on. */
static lam_value *stacked(const task *t, int o) {
    return stacked_behind(t, o, t->call->in[0]->rank - 2);
}

/* The coefficients [batch..., n] of a polynomial, and x, at whose elements it is taken. Each value of it takes all
 * coefficients, but of the points only its own. */
static lam_value *polynomial(const task *t, int o) {
    const uint32_t behind = ~0u << ((const lam__polynomial_params *)t->call->params)->batch;
    lam_value *all = lam__names_repeated(lam__names_over(t->sets, t->names[0], behind), t->out[o], behind);
    return lam__names_joined(t->sets, all, lam__names_broadcast(t->names[1], t->out[o]));
}

/* Sums of powers, [batch..., count], of weights and x [batch..., any]. */
static lam_value *power_sums(const task *t, int o) {
    return stacked_behind(t, o, (int)((const lam__polynomial_params *)t->call->params)->batch);
}

/* One operand of a contraction: the axes that are paired off go, its own free ones stand in the result behind the batch
 * axes, those of operand 1 last. Other axes of the result are the other operand's, along which the names repeat. */
static lam_value *contracted_side(const task *t, int o, int side) {
    const lam__pairing *p = t->call->params;
    const lam_value *x = t->call->in[side], *out = t->out[o];
    const int8_t *named = lam__contract_axes(p, side);
    int order[LAM_INNER_RANK], own = lam__contract_free(p, side, x->rank, order + p->batch);
    if (!t->names[side]) return NULL;
    /* Axes in the order of the result, and behind them those that are paired off, whose names are united. */
    for (int i = 0; i < p->batch; i++) order[i] = named[i];
    for (int i = 0; i < p->contract; i++) order[p->batch + own + i] = named[p->batch + i];
    const int other = out->rank - p->batch - own, skip = p->batch + (side ? 0 : own);
    return lam__names_repeated(lam__names_united(t->sets, t->names[side], order, p->batch + own), out,
                               set_of(skip, other));
}

/* An element is a sum of products, and depends on both factors of each. */
static lam_value *contracted(const task *t, int o) {
    lam_value *x = contracted_side(t, o, 0);
    return lam__names_joined(t->sets, x, contracted_side(t, o, 1));
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */

/* Windows over the last `rank` axes of x; in front of them stand those that say which lane it is. One walk after the
 * other: the place is that of the result in hand. */
typedef struct sliding {
    const task *t;
    int rank;
    const lam__window_axis *at;
    const lam_value *x;
    int64_t place[LAM_INNER_RANK]; /* of a result, along the windowed axes */
} sliding;

/* Adds the elements from offset `from` of x on that the window has under it along axis i and those behind: element s
 * with s gap = place stride + k spread - low. Recursion goes as deep as there are windowed axes. What lies outside of
 * x, or between its elements, is padding and depends on nothing. */
static void add_window(const sliding *s, const int64_t *names, int64_t from, int i) {
    if (i == s->rank) {
        lam__sets_add(s->t->sets, names[from]);
        return;
    }
    const lam__window_axis *a = &s->at[i];
    const int axis = s->x->rank - s->rank + i;
    for (int64_t k = 0; k < a->window; k++) {
        const int64_t at = s->place[i] * a->stride + k * a->spread - a->low;
        if (at >= 0 && at % a->gap == 0 && at / a->gap < s->x->dims[axis])
            add_window(s, names, from + at / a->gap * s->x->strides[axis], i + 1);
    }
}

/* The place of result number i along the windowed axes of the result; gives which lane it is in. Behind the division by
 * all windowed axes the lane is what is left. */
static int64_t place_result(sliding *s, const lam_value *out, int64_t i) {
    for (int a = s->rank - 1; a >= 0; a--) {
        const int64_t n = out->dims[out->rank - s->rank + a];
        s->place[a] = i % n;
        i /= n;
    }
    return i;
}

/* Reductions over windows: lanes of results are those of the operand. Of an extreme all elements under the window
 * count, since any of them may be it elsewhere. */
static lam_value *windowed(const task *t, int o) {
    const lam__window_params *p = t->call->params;
    lam_value *names = t->names[0] ? lam__value_contiguous(t->names[0]) : NULL;
    lam_value *all = names ? lam__names_like(t->out[o]) : NULL;
    sliding s = {.t = t, .rank = p->rank, .at = p->at, .x = names};
    int64_t lane = 1;
    for (int i = p->lead; all && i < names->rank; i++) lane *= names->dims[i];
    for (int64_t i = 0; all && i < all->count; i++) {
        add_window(&s, lam__names_of(names), place_result(&s, all, i) * lane, 0);
        lam__names_of(all)[i] = lam__sets_take(t->sets);
    }
    lam__value_release(names);
    return all;
}

/* x is [groups,] n, features, places...; the result has features of its own, each of which has seen all of x. So
 * features are united first, and then the windows of what is left are walked. */
static lam_value *convolved_operand(const task *t, int o) {
    const lam__conv_params *p = t->call->params;
    const uint32_t features = 1u << (p->front - 1);
    if (!t->names[0]) return NULL;
    lam_value *x = lam__names_over(t->sets, t->names[0], features), *all = x ? lam__names_like(t->out[o]) : NULL;
    sliding s = {.t = t, .rank = p->rank, .at = p->at, .x = x};
    int64_t lane = 1;
    for (int i = p->front - 1; all && i < x->rank; i++) lane *= x->dims[i];
    for (int64_t i = 0; all && i < all->count; i++) {
        add_window(&s, lam__names_of(x), place_result(&s, all, i) / all->dims[p->front - 1] * lane, 0);
        lam__names_of(all)[i] = lam__sets_take(t->sets);
    }
    lam__value_release(x);
    return all;
}

/* The window is [groups,] features of the result, those of x, places...: each result has seen all that is for its
 * feature. The place of the result has no say: every place has been under the same window. */
static lam_value *convolved_window(const task *t, int o) {
    const lam__conv_params *p = t->call->params;
    const lam_value *out = t->out[o];
    int64_t strides[LAM_INNER_RANK] = {0};
    if (!t->names[1]) return NULL;
    lam_value *w = lam__names_over(t->sets, t->names[1], ~0u << (p->front - 1)), *all = NULL;
    if (w) {
        if (p->front > 2) strides[0] = w->strides[0];
        strides[p->front - 1] = w->strides[p->front - 2];
        all = lam__names_gathered(w, out->rank, out->dims, strides);
    }
    lam__value_release(w);
    return all;
}

/* Elements of x and of the window are factors of one product, on both of which it depends. */
static lam_value *convolved(const task *t, int o) {
    lam_value *x = convolved_operand(t, o);
    return lam__names_joined(t->sets, x, convolved_window(t, o));
}

/* ---- the rows ---------------------------------------------------------------------------------------------------- */

/* Elementwise rows need no line. A row that is missing here is slower, and never wrong. */
static const struct {
    const lam_primitive *row;
    kind *kind;
} kinds[] = {
    {&lam__row_cast, elementwise},
    {&lam__row_real, elementwise},
    {&lam__row_imag, elementwise},
    {&lam__row_complex, elementwise},
    {&lam__row_contiguous, elementwise},
    {&lam__row_checkpoint_name, elementwise},
    {&lam__row_broadcast_to, moved},
    {&lam__row_reshape, moved},
    {&lam__row_transpose, moved},
    {&lam__row_slice, moved},
    {&lam__row_update_slice, moved},
    {&lam__row_concatenate, moved},
    {&lam__row_split_sizes, moved},
    {&lam__row_diagonal, moved},
    {&lam__row_put, moved},
    {&lam__row_take, taken},
    {&lam__row_scatter_add, scattered},
    {&lam__row_scatter_mul, scattered},
    {&lam__row_scatter_min, scattered},
    {&lam__row_scatter_max, scattered},
    {&lam__row_sum, reduced},
    {&lam__row_prod, reduced},
    {&lam__row_max_reduce, reduced},
    {&lam__row_min_reduce, reduced},
    {&lam__row_norm, reduced},
    {&lam__row_mean, reduced},
    {&lam__row_var, reduced},
    {&lam__row_logsumexp, reduced},
    {&lam__row_softmax, lanes},
    {&lam__row_log_softmax, lanes},
    {&lam__row_standardize, lanes},
    {&lam__row_linear_recurrence, running},
    {&lam__row_cumsum, running},
    {&lam__row_cumprod, running},
    {&lam__row_cummax, running},
    {&lam__row_cummin, running},
    {&lam__row_cumlogsumexp, running},
    {&lam__row_polyval, polynomial},
    {&lam__row_power_sums, power_sums},
    {&lam__row_dot_general, contracted},
    {&lam__row_conv_general, convolved},
    {&lam__row_reduce_window_sum, windowed},
    {&lam__row_reduce_window_max, windowed},
    {&lam__row_reduce_window_min, windowed},
    {&lam__row_cholesky, stacked},
    {&lam__row_triangular_solve, stacked},
    {&lam__row_lu, stacked},
    {&lam__row_solve, stacked},
    {&lam__row_tridiagonal_solve, stacked},
    {&lam__row_det, stacked},
    {&lam__row_cofactor, stacked},
    {&lam__row_slogdet, stacked},
    {&lam__row_qr, stacked},
    {&lam__row_eigh, stacked},
    {&lam__row_eigvalsh, stacked},
    {&lam__row_svd, stacked},
    {&lam__row_svdvals, stacked},
    {&lam__row_eigvals, stacked},
    {&lam__row_schur, stacked},
    {&lam__row_hessenberg, stacked},
    {&lam__row_pinv, stacked},
    {&lam__row_polar, stacked},
    {&lam__row_expm, stacked},
    {&lam__row_expm_frechet, stacked},
    {&lam__row_sqrtm, stacked},
    {&lam__row_sqrtm_frechet, stacked},
    {&lam__row_logm, stacked},
    {&lam__row_logm_frechet, stacked},
#if defined(LAM__HAVE_FFTW)
    {&lam__row_fft, transformed},
    {&lam__row_rfft, half_transformed},
    {&lam__row_irfft, half_transformed},
#endif
};

/* What no kind is known of depends on everything: too much is slow, too little would be wrong. Elementwise rows, those
 * of users among them, are known by their class. */
static lam_value *names_of_result(const task *t, int o) {
    const lam_primitive *row = t->call->primitive;
    if (row->elementwise) return elementwise(t, o);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (kinds[k].row == row) return kinds[k].kind(t, o);
    return everything(t, o);
}

/* Results that are no floats, and those of rows without derivative, follow from the input but do not depend on it.
 * depends[] stays as it is where nothing depends. A staged row may give derivatives though its row says nothing of
 * them. */
lam_status lam__dependence_of(lam__sets *sets, const lam_call_site *call, lam_value *const names[], const bool varies[],
                              lam_value *const out[], lam_value *depends[]) {
    const task t = {sets, call, names, varies, out};
    bool any = false;
    for (int i = 0; i < call->inputs; i++) any = any || names[i];
    if (!any || (call->primitive->derivative == LAM_NOT_DIFFERENTIABLE && !call->primitive->staged)) return LAM_OK;
    const lam__mark mark = lam__error_mark(call->ctx);
    for (int o = 0; o < call->outputs && sets->status == LAM_OK; o++)
        if (out[o] && lam__dtype_is_inexact(out[o]->dtype)) depends[o] = names_of_result(&t, o);
    const lam_status status = lam__error_since(call->ctx, mark);
    return status != LAM_OK ? status : sets->status;
}
