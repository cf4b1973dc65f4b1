/* The elementwise class: operands broadcast against each other from the last axis on, as in NumPy; all have one dtype
 * (the public wrappers convert), except the condition of a select. One shape rule and one evaluation serve every row.
 * Most operands are alike, so there are several ways, from the commonest on: two alike without gaps
 * (lam__elementwise_pair), all of them read flat or as one element, tile by tile, by strides. They give the same bits,
 * since an element is computed by the same instructions in each. The quick ones give NULL where they do not apply,
 * without a record; the last one checks everything and records what is wrong. */
#include "lib/dispatch/dispatch.h"

#include "lib/base/inline.h"
#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"

#include <string.h>

enum { MAX_OPERANDS = 4 }; /* output and up to three inputs */

/* The operand that sets the dtype: the last one (a select's first is its condition). */
static lam_dtype dtype_of(const lam_call_site *call) {
    return (lam_dtype)call->in[call->inputs - 1]->dtype;
}

static lam_dtype result_dtype(const lam_call_site *call) {
    return call->primitive->predicate ? LAM_BOOL : dtype_of(call);
}

/* Kernels are chosen for the machine once in a process; the context remembers which, so that a call costs a load. NULL:
 * the operation has no loop for this dtype. */
static inline lam__loop *loop_find(lam_ctx *ctx, int id, int dtype) {
    lam__loop *loop = ctx->loops[id][dtype];
    return loop ? loop : (ctx->loops[id][dtype] = lam__kernels_loop((lam__loop_id)id, (lam_dtype)dtype));
}

static lam__loop *loop_of(const lam_call_site *call) {
    return loop_find(call->ctx, call->primitive->loop - 1, dtype_of(call));
}

static lam_status fail_broadcast(const lam_call_site *call, int axis_from_end, int64_t a, int64_t b) {
    return lam__error_call(call, LAM_ERR_SHAPE, "make the sizes equal or 1, or reshape",
                           "dims do not broadcast: axis -%d has %lld and %lld elements", axis_from_end, (long long)a,
                           (long long)b);
}

/* Whether the first operand is a condition, of a dtype of its own. */
static inline bool is_select(const lam_primitive *p) {
    return p->loop == LAM__LOOP_where + 1;
}

/* What the row has a loop for is what it takes: no list of dtypes stands in rows. */
static lam_status check_dtypes(const lam_call_site *call) {
    bool select = is_select(call->primitive);
    if (select && call->in[0]->dtype != LAM_BOOL)
        return lam__error_call(call, LAM_ERR_DTYPE, "compare it with 0 first", "the condition is not bool");
    for (int i = select; i < call->inputs; i++) /* but for the condition */
        if (call->in[i]->dtype != dtype_of(call))
            return lam__error_call(call, LAM_ERR_DTYPE, "cast them to one", "operands differ in dtype");
    if (loop_of(call)) return LAM_OK;
    bool cplx = lam__dtype_is_complex(dtype_of(call));
    return lam__error_call(call, LAM_ERR_DTYPE, cplx ? "take lam_real, lam_imag or lam_abs of it" : "cast first",
                           "not defined for this dtype");
}

/* Sizes line up from the last axis; 1 gives way to any other, also to 0. */
lam_status lam__elementwise_shape(const lam_call_site *call, lam_shape *out) {
    lam_status status = check_dtypes(call);
    if (status != LAM_OK) return status;
    out->dtype = result_dtype(call);
    out->rank = 0;
    for (int i = 0; i < call->inputs; i++)
        if (call->in[i]->rank > out->rank) out->rank = call->in[i]->rank;
    for (int axis = 1; axis <= out->rank; axis++) {
        int64_t size = 1;
        for (int i = 0; i < call->inputs; i++) {
            const lam_value *x = call->in[i];
            int64_t own = axis <= x->rank ? x->dims[x->rank - axis] : 1;
            if (own != 1 && size != 1 && own != size) return fail_broadcast(call, axis, size, own);
            if (own != 1) size = own;
        }
        out->dims[out->rank - axis] = size;
    }
    return LAM_OK;
}

/* Runs the loop of an operation over n elements without axes; step[k] is 0 for an operand of one element. */
static inline void run_loop(lam_ctx *ctx, const lam_primitive *p, int dtype, lam__loop *loop, int64_t n,
                            void *const at[], const int64_t step[], const void *params) {
    if (!ctx->team) loop(n, at, step, params);
    else lam__parallel_loop(ctx->team, (lam__loop_id)(p->loop - 1), (lam_dtype)dtype, loop, n, at, step, params);
}

/* Runs the loop into memory that has the result's dims, contiguous. flat: operands have these dims too or one element.
 * Otherwise an axis along which an operand is repeated has a stride of 0 for it. */
static void run(const lam_call_site *call, lam__loop *loop, int rank, const int64_t *dims, void *data, bool flat,
                int64_t count) {
    void *p[MAX_OPERANDS] = {data};
    int n = call->inputs + 1;
    for (int i = 1; i < n; i++) p[i] = call->in[i - 1]->data;
    if (flat) {
        int64_t step[MAX_OPERANDS] = {1};
        for (int i = 1; i < n; i++) step[i] = call->in[i - 1]->count == 1 ? 0 : 1; /* 0: again and again */
        run_loop(call->ctx, call->primitive, dtype_of(call), loop, count, p, step, call->params);
        return;
    }
    int64_t strides[MAX_OPERANDS][LAM_INNER_RANK], step = 1;
    const int64_t *all[MAX_OPERANDS];
    size_t item[MAX_OPERANDS] = {lam__dtype_bytes(result_dtype(call))};
    for (int axis = rank - 1; axis >= 0; axis--) {
        strides[0][axis] = step;
        step *= dims[axis];
    }
    for (int i = 1; i < n; i++) {
        const lam_value *x = call->in[i - 1];
        item[i] = lam__dtype_bytes(x->dtype);
        for (int axis = 0; axis < rank; axis++) {
            int own = axis - (rank - x->rank);
            strides[i][axis] = own < 0 || x->dims[own] == 1 ? 0 : x->strides[own];
        }
    }
    for (int i = 0; i < n; i++) all[i] = strides[i];
    lam__parallel_elementwise(call->ctx->team, (lam__loop_id)(call->primitive->loop - 1), loop, n, rank, dims, all, p,
                              item, call->params);
}

/* An operand that a flat loop can read: same dims and no gaps, or a single element, which is read with a step of 0. */
static bool reads_flat(const lam_value *x, const lam_value *like) {
    return x->count == 1 ? x->rank <= like->rank : x->contiguous && lam__value_same_dims(x, like);
}

/* The operand whose dims are the result's, if all operands can be read flat. Of two with as many elements it is the one
 * of more axes: [1, 3] beside [3] gives [1, 3]. */
static const lam_value *flat_shape(const lam_call_site *call) {
    const lam_value *like = call->in[0];
    for (int i = 1; i < call->inputs; i++) {
        const lam_value *x = call->in[i];
        if (x->count > like->count || (x->count == like->count && x->rank > like->rank)) like = x;
    }
    for (int i = 0; i < call->inputs; i++)
        if (!reads_flat(call->in[i], like)) return NULL;
    return like;
}

/* NOTE [tiles]
 * An operand without gaps whose dims are the last ones of the result's is seen again and again along the axes in front:
 * a row beside a matrix, a saved value beside cotangents of several outputs. Then the loop runs tile by tile, where a
 * tile is long enough to be worth it. A team wants all of the result at once, by strides; what is computed, and with it
 * the bits, is the same. */
enum { LEAST_TILE = 64 };

/* Whether x may be a tile of the result. */
static bool is_tile(const lam_value *x, const lam_value *result) {
    if (x->count < LEAST_TILE || x->rank > result->rank) return false;
    for (int i = 1; i <= x->rank; i++)
        if (x->dims[x->rank - i] != result->dims[result->rank - i]) return false;
    return true;
}

/* Whether x can be read as what has the dims of `like`, by strides. */
static bool stretches(const lam_value *x, const lam_value *like) {
    if (x->rank > like->rank) return false;
    for (int i = 1; i <= x->rank; i++) {
        const int64_t own = x->dims[x->rank - i];
        if (own != 1 && own != like->dims[like->rank - i]) return false;
    }
    return true;
}

/* Whether the dims of x are more likely than those of y to be the result's. */
static inline bool is_larger(const lam_value *x, const lam_value *y) {
    if (x->count != y->count) return x->count > y->count;
    return x->rank != y->rank ? x->rank > y->rank : x->contiguous && !y->contiguous;
}

/* The largest of some concrete operands of one dtype but for a condition, and of few axes; NULL: they are not so. */
static const lam_value *largest(const lam_primitive *p, int n, lam_value *const in[]) {
    const int dtype = in[n - 1]->dtype;
    const lam_value *like = in[n - 1];
    for (int i = 0; i < n; i++) {
        const lam_value *x = in[i];
        if (x->kind != LAM__CONCRETE || x->rank > LAM__INLINE_AXES) return NULL;
        if (x->dtype != (i == 0 && is_select(p) ? LAM_BOOL : dtype)) return NULL;
        if (is_larger(x, like)) like = x;
    }
    return like->contiguous ? like : NULL;
}

/* The operand whose dims are the result's, if there is one. The others have them too, are one element, or a tile, of
 * which *tile becomes the smallest one's size; it is the result's where there is none. 0: one has to be read by
 * strides. Tiles are runs of last axes of one shape, so each of them is a multiple of the smaller ones. */
static const lam_value *quick_shape(const lam_primitive *p, int n, lam_value *const in[], int64_t *tile) {
    const lam_value *like = largest(p, n, in);
    if (!like) return NULL;
    bool strides = false;
    *tile = like->count;
    for (int i = 0; i < n; i++) {
        const lam_value *x = in[i];
        if (x == like || (x->count == 1 && x->rank <= like->rank)) continue; /* a step of 0, or its own */
        if (x->contiguous && lam__value_same_dims(x, like)) continue;        /* read flat */
        if (!stretches(x, like)) return NULL;
        const bool tiled = x->contiguous && !lam__full(like)->ctx->team && is_tile(x, like);
        strides = strides || !tiled;
        if (tiled && x->count < *tile) *tile = x->count;
    }
    if (strides) *tile = 0; /* one such operand is enough */
    return like;
}

/* Whether x is concrete without gaps and of few axes, and y is so too with the same dtype and dims: the commonest case
 * of all. One comparison of the first words of both does most of it. */
LAM__UNROLLED bool twins(const lam_value *x, const lam_value *y) {
    if (x->kind != LAM__CONCRETE || !x->contiguous || x->rank > LAM__INLINE_AXES) return false;
    if (x == y) return true; /* also for one operand */
    if (lam__value_lead(x) != lam__value_lead(y) || x->count != y->count) return false;
    for (int axis = 0; axis < x->rank; axis++)
        if (x->dims[axis] != y->dims[axis]) return false;
    return true;
}

/* Steps of a loop whose operands all have the dims of the result. */
static const int64_t ones[MAX_OPERANDS] = {1, 1, 1, 1};

/* Runs a loop over n elements tile by tile. count[k]: those of operand k, 0: the output. */
static void run_tiles(lam__loop *loop, int64_t n, int64_t tile, int operands, const size_t item[],
                      const int64_t count[], void *const at[], const int64_t step[], const void *params) {
    for (int64_t done = 0; done < n; done += tile) {
        void *p[MAX_OPERANDS];
        for (int k = 0; k < operands; k++) p[k] = (char *)at[k] + done % count[k] * step[k] * (int64_t)item[k];
        loop(tile, p, step, params);
    }
}

/* A new value like `like` for the loop over operands of `dtype`; NULL also where there is none. Empty results, and
 * integers that a real function takes, are left to the general way, which knows what to do or to say. */
static inline lam_value *result_like(lam_ctx *ctx, const lam_primitive *p, const lam_value *like, int dtype,
                                     lam__loop **loop) {
    if (!like->count || (p->real && !lam__dtype_is_inexact(dtype))) return NULL;
    *loop = loop_find(ctx, p->loop - 1, dtype);
    if (!*loop) return NULL;
    const bool number = like->count == 1 && like->dtype == dtype && !p->predicate && lam__dtype_is_float(dtype);
    lam_value *out = number ? lam__value_like_number(like) : NULL;
    return out ? out : lam__value_like(like, p->predicate ? LAM_BOOL : (lam_dtype)dtype);
}

/* Filled from the operands at[1], at[2], ... tile by tile. */
static lam_value *fill_tiles(lam_ctx *ctx, const lam_primitive *p, const lam_value *like, int64_t tile, int n,
                             lam_value *const in[], void *at[], const int64_t step[], const void *params) {
    int64_t count[MAX_OPERANDS] = {like->count};
    lam__loop *loop;
    lam_value *out = result_like(ctx, p, like, in[n - 1]->dtype, &loop);
    if (!out) return NULL;
    size_t item[MAX_OPERANDS] = {lam__dtype_bytes(out->dtype)};
    at[0] = out->data;
    for (int i = 0; i < n; i++) {
        count[i + 1] = in[i]->count;
        item[i + 1] = lam__dtype_bytes(in[i]->dtype);
    }
    run_tiles(loop, like->count, tile, n + 1, item, count, at, step, params);
    return out;
}

/* Filled at once: at[0] is set to the result's elements. */
static inline lam_value *fill_like(lam_ctx *ctx, const lam_primitive *p, const lam_value *like, int dtype, void *at[],
                                   const int64_t step[], const void *params) {
    lam__loop *loop;
    lam_value *out = result_like(ctx, p, like, dtype, &loop);
    if (!out) return NULL;
    at[0] = out->data;
    run_loop(ctx, p, dtype, loop, like->count, at, step, params);
    return out;
}

/* Filled by strides. */
static lam_value *fill_stretched(lam_ctx *ctx, const lam_primitive *p, const lam_value *like, int n,
                                 lam_value *const in[], const void *params) {
    lam__loop *loop;
    lam_value *out = result_like(ctx, p, like, in[n - 1]->dtype, &loop);
    const lam_call_site call = {.ctx = ctx, .primitive = p, .params = params, .inputs = n, .outputs = 1, .in = in};
    if (out) run(&call, loop, out->rank, out->dims, out->data, false, out->count);
    return out;
}

/* Whether x has all elements of `like` in their order, but for axes of one element in front. */
static inline bool fills(const lam_value *x, const lam_value *like) {
    if (!x->contiguous || x->count != like->count || x->rank > like->rank) return false;
    for (int i = 1; i <= x->rank; i++)
        if (x->dims[x->rank - i] != like->dims[like->rank - i]) return false;
    return true;
}

/* The operand whose dims are the result's where all fill them or are one element; else NULL. */
LAM__UNROLLED const lam_value *even_shape(const lam_primitive *p, int n, lam_value *const in[]) {
    const lam_value *like = in[n - 1];
    const int dtype = like->dtype;
    for (int i = 0; i < n - 1; i++)
        if (in[i]->count > like->count || (in[i]->count == like->count && in[i]->rank > like->rank)) like = in[i];
    if (!like->contiguous || like->rank > LAM__INLINE_AXES) return NULL;
    for (int i = 0; i < n; i++) {
        const lam_value *x = in[i];
        if (x->kind != LAM__CONCRETE || x->dtype != (n == 3 && i == 0 && is_select(p) ? LAM_BOOL : dtype)) return NULL;
        if (x->count == 1 ? x->rank > like->rank : !fills(x, like)) return NULL;
    }
    return like;
}

/* Three operands, filled at once. NULL: they are not so. */
static inline lam_value *quick_three(lam_ctx *ctx, const lam_primitive *p, lam_value *const in[], const void *params) {
    const lam_value *like = even_shape(p, 3, in);
    if (!like) return NULL;
    void *at[MAX_OPERANDS] = {NULL, in[0]->data, in[1]->data, in[2]->data};
    const int64_t step[MAX_OPERANDS] = {1, in[0]->count != 1, in[1]->count != 1, in[2]->count != 1};
    return fill_like(ctx, p, like, in[2]->dtype, at, step, params);
}

LAM__APART static lam_value *quick_unlike(lam_ctx *ctx, const lam_primitive *p, int n, lam_value *const in[],
                                          const void *params) {
    void *at[MAX_OPERANDS];
    int64_t tile;
    const lam_value *like = quick_shape(p, n, in, &tile);
    if (!like) return NULL;
    if (!tile) return fill_stretched(ctx, p, like, n, in, params); /* NOTE [tiles] */
    int64_t step[MAX_OPERANDS] = {1};
    for (int i = 0; i < n; i++) {
        at[i + 1] = in[i]->data;
        step[i + 1] = in[i]->count != 1;
    }
    if (tile < like->count) return fill_tiles(ctx, p, like, tile, n, in, at, step, params);
    return fill_like(ctx, p, like, in[n - 1]->dtype, at, step, params);
}

LAM__APART static lam_value *pair_unlike(const lam_primitive *p, lam_value *x, lam_value *y, const void *params) {
    lam_value *in[2] = {x, y}, *same;
    const lam_value *like = even_shape(p, 2, in);
    if (!like && (same = lam__elementwise_by_one(p, x, y))) return same;
    if (!like || p->inputs != 2) return quick_unlike(lam__full(x)->ctx, p, p->inputs, in, params);
    void *at[MAX_OPERANDS] = {NULL, x->data, y->data};
    const int64_t step[MAX_OPERANDS] = {1, x->count != 1, y->count != 1};
    return fill_like(lam__full(x)->ctx, p, like, like->dtype, at, step, params);
}

LAM__APART static lam_value *pair_alike(const lam_primitive *p, lam_value *x, lam_value *y, const void *params) {
    void *at[MAX_OPERANDS] = {NULL, x->data, y->data};
    return fill_like(lam__full(x)->ctx, p, x, x->dtype, at, ones, params);
}

/* For numbers of a known loop everything happens here: one block, one call. */
lam_value *lam__elementwise_pair(const lam_primitive *p, lam_value *x, lam_value *y, const void *params) {
    if (!twins(x, y)) return pair_unlike(p, x, y, params);
    lam__loop *loop = lam__full(x)->ctx->loops[p->loop - 1][x->dtype]; /* NULL: not looked up yet */
    bool number = x->count == 1 && lam__dtype_is_float(x->dtype);      /* a word or less */
    lam_value *out = loop && number && !p->predicate ? lam__value_like_number(x) : NULL;
    if (!out) return pair_alike(p, x, y, params);
    void *at[MAX_OPERANDS] = {out->data, x->data, y->data};
    loop(1, at, ones, params);
    return out;
}

lam_value *lam__elementwise_quick(lam_ctx *ctx, const lam_primitive *p, int n, lam_value *const in[],
                                  const void *params) {
    lam_value *out = n > 2 ? quick_three(ctx, p, in, params) : NULL;
    return out ? out : n > 2 ? quick_unlike(ctx, p, n, in, params) : lam__elementwise_pair(p, in[0], in[n - 1], params);
}

/* The general way: everything is checked, and any strides are taken. */
lam_status lam__elementwise_eval(const lam_call_site *call, lam_value **out) {
    const lam_value *like = flat_shape(call);
    lam_shape shape;
    lam_status status = like ? check_dtypes(call) : lam__elementwise_shape(call, &shape);
    if (status != LAM_OK) return status;
    int rank = like ? like->rank : shape.rank;
    *out = lam__value_new(call->ctx, result_dtype(call), rank, like ? like->dims : shape.dims);
    if (!*out) return LAM_ERR_MEMORY;
    if ((*out)->count) run(call, loop_of(call), rank, (*out)->dims, (*out)->data, like != NULL, (*out)->count);
    return LAM_OK;
}

/* Types are known to fit, and there is a loop. */
void lam__elementwise_fill(const lam_call_site *call, lam_value *out) {
    if (out->count) run(call, loop_of(call), out->rank, out->dims, out->data, flat_shape(call) != NULL, out->count);
}

/* Where the loop is not known yet, or does not exist. */
LAM__APART static bool pair_into_at_first(const lam_primitive *p, lam_value *x, lam_value *y) {
    return x->count && loop_find(lam__full(x)->ctx, p->loop - 1, x->dtype) && lam__elementwise_pair_into(p, x, y);
}

/* Element i is read before it is written, so x may be operand and result of one loop. */
bool lam__elementwise_pair_into(const lam_primitive *p, lam_value *x, lam_value *y) {
    if (!twins(x, y) || !lam__value_unshared(x)) return false;
    lam__loop *loop = lam__full(x)->ctx->loops[p->loop - 1][x->dtype];
    if (!loop || !x->count) return pair_into_at_first(p, x, y);
    void *at[MAX_OPERANDS] = {x->data, x->data, y->data};
    run_loop(lam__full(x)->ctx, p, x->dtype, loop, x->count, at, ones, NULL);
    return true;
}

/* The part is given by strides into sum, which must not overlap within it. */
bool lam__elementwise_add_part(lam_value *sum, const lam_value *x, int sign, const int64_t strides[], int64_t offset) {
    const lam__loop_id id = sign < 0 ? LAM__LOOP_sub : LAM__LOOP_add; /* sum - x, sum + x */
    lam_ctx *ctx = lam__full(sum)->ctx;
    const lam_dtype dtype = (lam_dtype)sum->dtype;
    if (sum->kind != LAM__CONCRETE || !sum->contiguous || !lam__value_unshared(sum)) return false;
    if (x->kind != LAM__CONCRETE || x->dtype != dtype || x->rank != sum->rank || lam__dtype_is_half(dtype))
        return false;
    const size_t item = lam__dtype_bytes(dtype), items[] = {item, item, item};
    const int64_t *all[] = {strides, strides, x->strides};
    void *first = (char *)sum->data + offset * (int64_t)item, *at[] = {first, first, x->data};
    if (x->count)
        lam__parallel_elementwise(ctx->team, id, loop_find(ctx, id, dtype), 3, x->rank, x->dims, all, at, items, NULL);
    return true;
}

/* Whether x can be read as what has the dims of the sum. */
static bool factor_of(const lam_value *sum, const lam_value *x) {
    if (twins(sum, x)) return true;
    return sum->count != 1 && x->kind == LAM__CONCRETE && x->dtype == sum->dtype && stretches(x, sum);
}

/* Elements of the smaller of two factors that is a tile; those of the sum where none is; 0 where one has to be read by
 * strides. NOTE [tiles] */
static int64_t tile_of(const lam_value *sum, const lam_value *x, const lam_value *y) {
    const lam_value *factor[2] = {x, y};
    int64_t tile = sum->count;
    for (int i = 0; i < 2; i++) {
        const lam_value *f = factor[i];
        if (f->count == 1 || twins(sum, f)) continue;
        if (!f->contiguous || !is_tile(f, sum)) return 0;
        if (f->count < tile) tile = f->count;
    }
    return tile;
}

/* Strides of a factor along the axes of the sum. */
static void factor_strides(const lam_value *sum, const lam_value *x, int64_t strides[]) {
    const int lead = sum->rank - x->rank;
    for (int i = 0; i < sum->rank; i++) strides[i] = i < lead || x->dims[i - lead] == 1 ? 0 : x->strides[i - lead];
}

/* With a team all of the sum at once, by strides. */
LAM__APART static void add_product_tiles(lam__loop_id id, lam__loop *loop, int64_t tile, lam_value *sum,
                                         const lam_value *x, const lam_value *y, void *const at[],
                                         const int64_t step[]) {
    const size_t bytes = lam__dtype_bytes(sum->dtype), item[MAX_OPERANDS] = {bytes, bytes, bytes, bytes};
    const int64_t count[MAX_OPERANDS] = {sum->count, x->count, y->count, sum->count}; /* fma: x, y, then the sum */
    lam__team *team = lam__full(sum)->ctx->team;
    int64_t of_x[LAM_INNER_RANK], of_y[LAM_INNER_RANK];
    if (!team && tile) {
        run_tiles(loop, sum->count, tile, MAX_OPERANDS, item, count, at, step, NULL);
        return;
    }
    factor_strides(sum, x, of_x);
    factor_strides(sum, y, of_y);
    const int64_t *const strides[MAX_OPERANDS] = {sum->strides, of_x, of_y, sum->strides};
    lam__parallel_elementwise(team, id, loop, MAX_OPERANDS, sum->rank, sum->dims, strides, at, item, NULL);
}

/* Factors that are not like the sum, or no loop yet. */
LAM__APART static bool add_product_any(lam_value *sum, const lam_value *x, const lam_value *y, lam__loop_id id) {
    lam_ctx *ctx = lam__full(sum)->ctx;
    if (!factor_of(sum, x) || !factor_of(sum, y) || !sum->count) return false;
    lam__loop *loop = loop_find(ctx, id, sum->dtype);
    void *at[MAX_OPERANDS] = {sum->data, x->data, y->data, sum->data};
    int64_t step[MAX_OPERANDS] = {1, x->count != 1, y->count != 1, 1}, tile = tile_of(sum, x, y);
    if (tile < sum->count) add_product_tiles(id, loop, tile, sum, x, y, at, step);
    else if (!ctx->team) loop(sum->count, at, step, NULL);
    else lam__parallel_loop(ctx->team, id, (lam_dtype)sum->dtype, loop, sum->count, at, step, NULL);
    return true;
}

/* sum += x y as fma(x, y, sum): one pass and one rounding, where the machine has an instruction for it. */
bool lam__elementwise_add_product(lam_value *sum, const lam_value *x, const lam_value *y, int sign) {
    if (!lam__value_unshared(sum) || !lam__dtype_is_float(sum->dtype) || !lam__kernels_fuses()) return false;
    const lam__loop_id id = sign < 0 ? LAM__LOOP_fnma : LAM__LOOP_fma; /* sum - x y, sum + x y */
    const lam_ctx *ctx = lam__full(sum)->ctx;
    lam__loop *loop = ctx->loops[id][sum->dtype];
    if (!loop || ctx->team || !twins(sum, x) || !twins(sum, y)) return add_product_any(sum, x, y, id);
    void *at[MAX_OPERANDS] = {sum->data, x->data, y->data, sum->data};
    loop(sum->count, at, ones, NULL);
    return true;
}

/* The same for any number of operands; those that are not x may be one element each. */
bool lam__elementwise_into_first(const lam_call_site *call) {
    lam_value *x = call->in[0];
    const lam_primitive *p = call->primitive;
    if (call->inputs == 2 && !p->predicate && lam__elementwise_pair_into(p, x, call->in[1])) return true;
    if (!lam__value_unshared(x) || flat_shape(call) != x || x->dtype != result_dtype(call)) return false;
    for (int i = 0; i < call->inputs; i++)
        if (call->in[i]->kind != LAM__CONCRETE || call->in[i]->dtype != x->dtype) return false;
    if (!loop_of(call)) return false;
    if (x->count) run(call, loop_of(call), x->rank, x->dims, x->data, true, x->count);
    return true;
}
