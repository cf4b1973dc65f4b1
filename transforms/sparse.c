/* Sparse Jacobians and Hessians. Directions that lose no entry are made one (colouring.h); the product with all of
 * these, tangents or cotangents, is a dense matrix of few of them, from public transforms, and each entry has its place
 * in that. Of a tridiagonal Jacobian columns 0, 3, 6, ... may be one direction, and so 1, 4, 7, ... and 2, 5, 8, ...:
 * no row has entries in two columns of one, so entry (i, j) is element i of the product with direction j mod 3. */
#include "transforms/arguments.h"
#include "transforms/colouring.h"
#include "transforms/dependence.h"

#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/tensor/dtype.h"

#include <lamina/indexing.h>
#include <lamina/ops.h>
#include <lamina/sparse.h>
#include <lamina/tensor.h>

#include <string.h>

/* Options made plain: 0..inputs-1. False after recording what is wrong. After this argnum is a number from 0 on, and
 * there is one output to be differentiated. */
static bool options_of(const char *name, lam_fn *f, const lam_sparse_options *options, lam_sparse_options *o) {
    lam__scratch_area area;
    *o = options ? *options : (lam_sparse_options){0};
    if (!lam__arguments_aux(name, f, o->has_aux)) return false;
    if (f->outputs - o->has_aux != 1) {
        lam__error_set(f->ctx, LAM_ERR_ARITY, "join them to one, or count them in has_aux",
                       "%s: '%s' has %d outputs to differentiate, 1 expected", name, f->name, f->outputs - o->has_aux);
        return false;
    }
    if (!lam__arguments_chunk(name, f, o->chunk_size)) return false;
    int *argnums = lam__scratch_get(&area, f->ctx, (size_t)f->inputs * sizeof *argnums);
    const int given = argnums ? lam__arguments_argnums(name, f, (lam_axes){1, &o->argnum}, 1, argnums) : -1;
    if (given == 1) o->argnum = argnums[0];
    lam__scratch_put(&area);
    return given == 1;
}

/* The gradient by that input, with the auxiliary outputs behind it. */
static lam_fn *gradient_of(lam_fn *f, const lam_sparse_options *o) {
    return lam_grad(f, &(lam_grad_options){.argnums = {1, &o->argnum}, .has_aux = o->has_aux});
}

/* ---- where entries are ------------------------------------------------------------------------------------------- */

/* Rows are elements of the output, columns what they depend on. Row by row, and columns ascend within a row, as sets
 * do. Nothing that depends is no pairs at all. */
static lam_value *pairs_of(const lam__sets *sets, const lam_value *depends) {
    int64_t entries = 0, at = 0;
    for (int64_t i = 0; depends && i < depends->count; i++)
        entries += lam__sets_size(sets, ((const int64_t *)depends->data)[i]);
    lam_value *pairs = lam__value_new(sets->ctx, LAM_I64, 2, (int64_t[]){entries, 2});
    for (int64_t i = 0; pairs && depends && i < depends->count; i++) {
        const int64_t name = ((const int64_t *)depends->data)[i], size = lam__sets_size(sets, name);
        const int32_t *items = lam__sets_items(sets, name);
        for (int64_t k = 0; k < size; k++) {
            ((int64_t *)pairs->data)[at++] = i;
            ((int64_t *)pairs->data)[at++] = items[k];
        }
    }
    return pairs;
}

/* Whether v is a real floating array that can be read, input or output number i. Complex numbers would need two
 * directions for each element. */
static bool usable(const char *name, lam_fn *f, bool output, int i, const lam_value *v) {
    if (output ? !lam__arguments_floating_output(name, f, i, v) : !lam__arguments_floating(name, f, i, v)) return false;
    return lam__arguments_complex(name, f, false, output ? "output" : "input", i, v);
}

/* The status for an example that is not concrete: what its level says of reading, where it refuses that. The status is
 * that of reading, since reading is what cannot be done. */
static lam_status status_of(const lam_value *v) {
    if (v->kind != LAM__BOX) return LAM_ERR_ABSTRACT;
    const lam__interpreter *interpreter = lam__payload_of(v)->level->interpreter;
    return interpreter->read ? LAM_ERR_VALUE : interpreter->unreadable_status;
}

/* What has no elements yet, or has those of a batch, says nothing of where they go. */
static lam_status check_examples(const char *name, lam_fn *f, int n, lam_value *const in[]) {
    for (int i = 0; i < n; i++)
        if (in[i]->kind != LAM__CONCRETE)
            return lam__error_set(f->ctx, status_of(in[i]), "ask for the sparsity outside of other transforms",
                                  "%s of '%s': example %d belongs to a transform", name, f->name, i);
    return LAM_OK;
}

/* Elements are numbered in 32 bits in sets. The first output comes along, for its type is known only now. Names mean
 * something as long as the sets are there, so pairs are made before these go. */
static lam_status sparsity_of(const char *name, lam_fn *f, int input, lam_value *const in[], lam_value **pairs) {
    lam__sets sets;
    lam_value *first = NULL, *depends = NULL;
    if (!usable(name, f, false, input, in[input])) return LAM_ERR_DTYPE;
    if (in[input]->count > INT32_MAX)
        return lam__error_set(f->ctx, LAM_ERR_OVERFLOW, NULL, "%s of '%s': input %d has more than 2^31 - 1 elements",
                              name, f->name, input);
    lam_status status = lam__sets_start(&sets, f->ctx, in[input]->count);
    if (status == LAM_OK) status = lam__dependence_run(f, input, in, &sets, &first, &depends);
    if (status == LAM_OK && !usable(name, f, true, 0, first)) status = LAM_ERR_DTYPE;
    if (status == LAM_OK && !(*pairs = pairs_of(&sets, depends))) status = LAM_ERR_MEMORY;
    lam__value_release(first);
    lam__value_release(depends);
    lam__sets_stop(&sets);
    return status;
}

/* `of` is f, or its gradient. Messages name f even where the gradient is what runs. NULL pairs become the failed
 * tensor. */
static lam_tensor *sparsity(const char *name, lam_fn *f, lam_fn *of, lam_list examples, int input) {
    lam__scratch_area area;
    lam_ctx *ctx = f->ctx;
    lam_value **in = lam__scratch_get(&area, ctx, (size_t)f->inputs * sizeof *in), *pairs = NULL;
    if (!in) return &ctx->failed;
    memset(in, 0, (size_t)f->inputs * sizeof *in);
    lam_status status = lam__arguments_list(name, f, "examples", examples, f->inputs, false, in);
    if (status == LAM_OK) status = check_examples(name, f, f->inputs, in);
    if (status == LAM_OK) sparsity_of(name, of, input, in, &pairs);
    lam__scratch_put(&area);
    return lam__scope_handle(ctx, pairs);
}

lam_tensor *lam_jacobian_sparsity(lam_fn *f, lam_list examples, const lam_sparse_options *options) {
    lam_sparse_options o;
    lam_ctx *where, *ctx = lam__fn_check_call("jacobian_sparsity", f, examples, &where);
    if (!ctx) return &where->failed;
    if (!options_of("jacobian_sparsity", f, options, &o)) return &ctx->failed;
    lam__fn_retain(f); /* its body may drop it */
    lam_tensor *pairs = sparsity("jacobian_sparsity", f, f, examples, o.argnum);
    lam__fn_release(f);
    return pairs;
}

/* The Jacobian of the gradient; messages name f. Rows and columns are both elements of that input. */
lam_tensor *lam_hessian_sparsity(lam_fn *f, lam_list examples, const lam_sparse_options *options) {
    lam_sparse_options o;
    lam_ctx *where, *ctx = lam__fn_check_call("hessian_sparsity", f, examples, &where);
    if (!ctx) return &where->failed;
    if (!options_of("hessian_sparsity", f, options, &o)) return &ctx->failed;
    lam_scope *scope = lam_scope_begin(ctx); /* the gradient is for this alone */
    lam_fn *gradient = gradient_of(f, &o);
    lam_tensor *pairs =
        lam_failed(gradient) ? &ctx->failed : sparsity("hessian_sparsity", f, gradient, examples, o.argnum);
    lam_scope_end(scope, &pairs, 1);
    return pairs;
}

/* ---- their values ------------------------------------------------------------------------------------------------ */

/* One kind of directions: tangents, whose products are sums of columns, or cotangents, whose are sums of rows. colours
 * 0: this kind of directions is not used. */
typedef struct side {
    int64_t colours, named; /* named: elements that have one, or -1; behind those there is no entry */
} side;

/* Entry k is in the product with the direction of colour entry[k].colour, at element entry[k].at, and is at
 * entry[k].row, entry[k].column for messages. Behind the entries stand the colours of the elements that directions are
 * made of, first those of the columns. A Hessian has columns alone. All of it is one block without pointers, so that it
 * can be copied into a function. */
typedef struct sparse_env {
    bool symmetric; /* a Hessian */
    int argnum, aux;
    int64_t chunk, entries;
    side columns, rows;
    struct {
        int64_t row, column, colour, at;
        bool by_row;
    } entry[];
} sparse_env;

/* By which of both the user called it. */
static const char *name_of(const sparse_env *e) {
    return e->symmetric ? "sparse_hessian" : "sparse_jacobian";
}

/* The block is the function's own, and const only while it runs. */
static int64_t *colours_of(const sparse_env *e, bool rows) {
    return (int64_t *)(uintptr_t)(e->entry + e->entries) + (rows ? e->columns.named : 0);
}

static size_t env_bytes(int64_t entries, int64_t named) {
    return sizeof(sparse_env) + (size_t)entries * sizeof((sparse_env *)0)->entry[0] + (size_t)named * sizeof(int64_t);
}

/* Whether all entries lie in a matrix of so many rows and columns; otherwise records the first that does not. The
 * sparsity was given when the function was made, and dims are known when it is called. */
static bool inside(const lam_fn *f, const sparse_env *e, int64_t rows, int64_t columns) {
    for (int64_t k = 0; k < e->entries; k++) {
        if (e->entry[k].row < rows && e->entry[k].column < columns) continue;
        lam__error_set(f->ctx, LAM_ERR_INDEX, "make the sparsity for inputs of these dims",
                       "%s of '%s': entry %lld of the sparsity is at row %lld and column %lld, of %lld rows and %lld "
                       "columns",
                       name_of(e), f->name, (long long)k, (long long)e->entry[k].row, (long long)e->entry[k].column,
                       (long long)rows, (long long)columns);
        return false;
    }
    return true;
}

/* One direction for each colour, [colours, dims of x]: 1 for the elements of x, an input or output, that have it. A
 * one-hot of the colours, turned; elements without a colour (-1) are in none. One matrix of products, and not a mask
 * for each colour. */
static lam_tensor *directions(lam_ctx *ctx, const sparse_env *e, bool rows, lam_tensor *x) {
    int64_t dims[LAM_INNER_RANK];
    const lam_dims own = lam_dims_of(x);
    const side *s = rows ? &e->rows : &e->columns;
    const int64_t left = lam_size(x) - s->named;
    lam_tensor *colours = lam_array(ctx, LAM_I64, LAM_DIMS(s->named), colours_of(e, rows));
    lam_tensor *chosen = lam_transpose(lam_one_hot(colours, s->colours, lam_dtype_of(x)), (lam_axes){0});
    if (left) {
        lam_tensor *none = lam_zeros(ctx, lam_dtype_of(x), LAM_DIMS(s->colours, left));
        chosen = lam_concatenate(LAM_LIST(chosen, none), 1);
    }
    dims[0] = s->colours;
    for (int i = 0; i < own.rank; i++) dims[1 + i] = own.dims[i];
    return lam__apply_reshape(chosen, own.rank + 1, dims);
}

/* The entries from the products of x and y's function with all directions, of which one may be missing. Products are
 * laid flat, one kind behind the other, and entries taken by number, which levels know how to differentiate. */
static lam_tensor *picked(lam_ctx *ctx, const sparse_env *e, lam_tensor *x, lam_tensor *y, lam_tensor *by_columns,
                          lam_tensor *by_rows) {
    const int64_t n = lam_size(x), m = lam_size(y), first = by_columns ? e->columns.colours * m : 0;
    lam_value *places = lam__value_new(ctx, LAM_I64, 1, (int64_t[]){e->entries});
    for (int64_t k = 0; places && k < e->entries; k++) {
        const int64_t at = e->entry[k].colour * (e->entry[k].by_row ? n : m) + e->entry[k].at;
        ((int64_t *)places->data)[k] = e->entry[k].by_row ? first + at : at;
    }
    lam_tensor *flat[2];
    size_t count = 0;
    if (by_columns) flat[count++] = lam__apply_reshape(by_columns, 1, &first);
    if (by_rows) flat[count++] = lam__apply_reshape(by_rows, 1, (int64_t[]){e->rows.colours * n});
    lam_tensor *all = count == 1 ? flat[0] : lam_concatenate((lam_list){count, flat}, 0);
    return lam_take(all, lam__scope_handle(ctx, places), 0);
}

/* By which input, and how many outputs are passed through. The list of one is the env's own field, which lives as long
 * as the function. */
static lam_grad_options linear_in(const sparse_env *e) {
    return (lam_grad_options){.argnums = {1, &e->argnum}, .has_aux = e->aux};
}

/* Whether f's output can be differentiated, and the entries lie in the Jacobian of it by x. Asked when f has run:
 * before that its output has no dims. */
static bool fits(lam_fn *f, const sparse_env *e, lam_tensor *x, lam_tensor *y) {
    const lam_value *v = lam__scope_peek(y);
    return v && usable(name_of(e), f, true, 0, v) && inside(f, e, lam_size(y), lam_size(x));
}

/* The ways put entries and auxiliary outputs into out[] and give f's first output, NULL after a failure.
 * Forward mode: f's first output runs along all directions at once, the rest once. Values and auxiliary outputs do not
 * depend on the direction, and are not batched. */
static const lam_tensor *by_columns(lam_fn *f, const sparse_env *e, lam_tensor *const in[], lam_tensor *out[]) {
    lam_ctx *ctx = f->ctx;
    const int n = f->inputs, aux = e->aux;
    const lam_grad_options options = linear_in(e);
    lam_tensor *x = in[e->argnum];
    lam_tensor **given = lam__apply_room(ctx, (size_t)n + 1), **got = lam__apply_room(ctx, (size_t)aux + 2);
    int *axes = (int *)(void *)lam__apply_room(ctx, (size_t)(n + aux) + 3);
    if (!given || !got || !axes || !inside(f, e, INT64_MAX, lam_size(x))) return NULL;
    int *out_axes = axes + n + 1;
    lam_fn *push = lam_jvp_fn(f, &options);
    for (int i = 0; i <= n; i++) axes[i] = i < n ? LAM_UNMAPPED : 0;
    for (int o = 0; o < aux + 2; o++) out_axes[o] = o == 1 ? 0 : LAM_UNMAPPED;
    lam_fn *mapped = lam_vmap(push, &(lam_vmap_options){.in_axes = {n + 1, axes},
                                                        .out_axes = {aux + 2, out_axes},
                                                        .randomness = LAM_RANDOMNESS_SAME, /* it is one function */
                                                        .chunk_size = e->chunk});
    for (int i = 0; i < n; i++) given[i] = in[i];
    given[n] = directions(ctx, e, false, x);
    if (lam_call(mapped, (lam_list){(size_t)n + 1, given}, got, (size_t)aux + 2) != LAM_OK) return NULL;
    if (!fits(f, e, x, got[0])) return NULL;
    out[0] = picked(ctx, e, x, got[0], got[1], NULL);
    for (int a = 0; a < aux; a++) out[1 + a] = got[2 + a];
    return got[0];
}

/* The products of a linear function with the directions of its side, of which `like` is an input: one batch, in chunks
 * if the user wants it so. */
static lam_tensor *products(lam_fn *linear, const sparse_env *e, bool rows, lam_tensor *like) {
    lam_fn *mapped = lam_vmap(linear, &(lam_vmap_options){.chunk_size = e->chunk, .randomness = LAM_RANDOMNESS_SAME});
    return lam_apply(mapped, LAM_LIST(directions(linear->ctx, e, rows, like)));
}

/* Reverse mode: f runs once, its pullback for all directions at once. Nothing is run twice, whatever the number of
 * directions. */
static const lam_tensor *by_rows(lam_fn *f, const sparse_env *e, lam_tensor *const in[], lam_tensor *out[]) {
    lam_fn *pullback;
    const lam_grad_options options = linear_in(e);
    lam_tensor **values = lam__apply_room(f->ctx, (size_t)e->aux + 1), *x = in[e->argnum];
    if (!values) return NULL;
    if (lam_vjp(f, (lam_list){(size_t)f->inputs, in}, values, (size_t)e->aux + 1, &pullback, &options) != LAM_OK)
        return NULL;
    if (!fits(f, e, x, values[0])) return NULL;
    out[0] = picked(f->ctx, e, x, values[0], NULL, products(pullback, e, true, values[0]));
    for (int a = 0; a < e->aux; a++) out[1 + a] = values[1 + a];
    return values[0];
}

/* Some entries by either: f runs once, what is linear in it forwards and backwards. The transpose is that of the same
 * record, so nothing is recorded again. */
static const lam_tensor *by_both(lam_fn *f, const sparse_env *e, lam_tensor *const in[], lam_tensor *out[]) {
    lam_fn *linear;
    const lam_grad_options options = linear_in(e);
    lam_tensor **values = lam__apply_room(f->ctx, (size_t)e->aux + 1), *x = in[e->argnum];
    if (!values) return NULL;
    if (lam_linearize(f, (lam_list){(size_t)f->inputs, in}, values, (size_t)e->aux + 1, &linear, &options) != LAM_OK)
        return NULL;
    if (!fits(f, e, x, values[0])) return NULL;
    lam_tensor *columns = products(linear, e, false, x);
    lam_tensor *rows = products(lam_linear_transpose(linear, LAM_LIST(x)), e, true, values[0]);
    out[0] = picked(f->ctx, e, x, values[0], columns, rows);
    for (int a = 0; a < e->aux; a++) out[1 + a] = values[1 + a];
    return values[0];
}

/* Entries have the dtype that a Jacobian of these operands has, whichever way they were found. out[] is failed first:
 * each way stops at once where something is wrong. */
static void body_sparse(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const sparse_env *e = env;
    lam_fn *f = lam__fn_base(env);
    for (int o = 0; o < f->outputs; o++) out[o] = &ctx->failed;
    const lam_value *x = lam__scope_peek(in[e->argnum]);
    if (!x || !usable(name_of(e), f, false, e->argnum, x)) return;
    ctx->scope->of_rule = true; /* products have an axis more than the user's tensors */
    const bool rows = e->rows.colours > 0, columns = e->columns.colours > 0;
    const lam_tensor *y = (rows && columns ? by_both : rows ? by_rows : by_columns)(f, e, in, out);
    if (y) out[0] = lam_cast(out[0], lam__dtype_promote((int)lam_dtype_of(y), x->dtype));
}

/* ---- the function ------------------------------------------------------------------------------------------------ */

/* Whether it is a list of pairs of integers; otherwise records it. Bools name no places. */
static bool is_sparsity(const char *name, const lam_fn *f, lam_tensor *t) {
    lam_value *v;
    if (lam__arguments_list(name, f, "sparsity", LAM_LIST(t), 1, false, &v) != LAM_OK) return false;
    const lam_dims d = lam_dims_of(t);
    const int dtype = (int)lam_dtype_of(t);
    if (d.rank == 2 && d.dims[1] == 2 && dtype != LAM_BOOL && !lam__dtype_is_inexact(dtype)) return true;
    lam__axes_fail_with(name, t, LAM_ERR_SHAPE, "give integers [entries, 2], as lam_jacobian_sparsity does",
                        "the sparsity for '%s' is not a list of rows and columns", f->name);
    return false;
}

/* Its rows, then its columns, n of each. What is made of them counts as far as the largest. It has to be readable here:
 * which entries there are decides what is computed. 2^31 - 1 itself is left out, so that one more is still a number of
 * 32 bits. */
static bool read_sparsity(const char *name, const lam_fn *f, lam_tensor *t, int64_t n, int64_t numbers[]) {
    lam_scope *scope = lam_scope_begin(t->ctx);
    const uint64_t since = lam__scope_now(t);
    lam_tensor *lists = lam_transpose(lam_cast(t, LAM_I64), (lam_axes){0});
    bool fine = lam_read(lists, numbers, (size_t)(2 * n) * sizeof *numbers) == LAM_OK;
    if (!fine) lam__error_within(t->ctx, since, name);
    lam_scope_end(scope, NULL, 0);
    for (int64_t k = 0; fine && k < 2 * n; k++) {
        if (numbers[k] >= 0 && numbers[k] < INT32_MAX) continue;
        lam__axes_fail_with(name, t, numbers[k] < 0 ? LAM_ERR_INDEX : LAM_ERR_OVERFLOW,
                            "rows and columns are counted from 0 and below 2^31 - 1",
                            "entry %lld of the sparsity for '%s' is at %lld", (long long)(k % n), f->name,
                            (long long)numbers[k]);
        fine = false;
    }
    return fine;
}

/* The least number that none of these reaches: how many rows or columns there are, as far as entries tell. Trailing
 * rows or columns without entries are not counted, and have no colour. */
static int64_t beyond(int64_t n, const int64_t *numbers) {
    int64_t most = 0;
    for (int64_t k = 0; k < n; k++)
        if (numbers[k] >= most) most = numbers[k] + 1;
    return most;
}

/* What each entry is told from. Of a symmetric entry that column is taken whose colour tells it apart in the other's
 * line (restricted star colouring: the lower colour). */
static void place_entries(sparse_env *e, const lam__entries *all, const int64_t columns[], const int64_t rows[],
                          bool rows_first) {
    for (int64_t k = 0; k < all->count; k++) {
        const int64_t i = all->lines[k], j = all->across[k];
        const bool by_row = !e->symmetric && (rows_first ? rows[i] >= 0 : columns[j] < 0);
        const bool other = e->symmetric ? columns[i] < columns[j] : by_row;
        e->entry[k].row = i;
        e->entry[k].column = j;
        e->entry[k].by_row = by_row;
        e->entry[k].colour = (by_row ? rows : columns)[other ? i : j];
        e->entry[k].at = other ? j : i;
    }
}

/* The env of the function in room for it, its entries, and the colours of columns and rows. The colours of rows move up
 * behind those of the columns that are kept. */
static bool fill_env(lam_ctx *ctx, sparse_env *e, const lam__entries *all) {
    lam__bicolouring b = {0};
    int64_t *columns = colours_of(e, false), *rows = columns + all->n_across;
    if (e->symmetric) b.columns = lam__colouring_symmetric(ctx, all, columns);
    else if (!lam__colouring_jacobian(ctx, all, columns, rows, &b)) return false;
    if (b.columns < 0) return false;
    place_entries(e, all, columns, rows, b.rows_first);
    /* without entries one direction, of zeros, tells what there is to tell of types: a batch of none asks for more */
    e->columns = (side){b.columns || b.rows ? b.columns : 1, b.columns ? all->n_across : 0};
    e->rows = (side){b.rows, b.rows ? all->n_lines : 0};
    memmove(colours_of(e, true), rows, (size_t)e->rows.named * sizeof *rows);
    return true;
}

/* The function of the entries. Its env is as long as the colours that are needed, which only the colouring tells, so it
 * is put together in room for the most there can be and copied by lam__fn_derive as far as it is used. */
static lam_fn *sparse_new(const char *name, lam_fn *f, lam_tensor *where, const lam_sparse_options *o, bool symmetric) {
    lam_ctx *ctx = f->ctx;
    lam_fn *made = ctx->failed_fn;
    lam__scratch_area area, area_env;
    if (!is_sparsity(name, f, where)) return made;
    const int64_t n = lam_dim(where, 0);
    int64_t *numbers = lam__scratch_get(&area, ctx, (size_t)(2 * n) * sizeof *numbers);
    if (numbers && read_sparsity(name, f, where, n, numbers)) {
        lam__entries all = {n, numbers, numbers + n, beyond(n, numbers), beyond(n, numbers + n)};
        if (symmetric) all.n_lines = all.n_across = all.n_lines > all.n_across ? all.n_lines : all.n_across;
        sparse_env *e = lam__scratch_get(&area_env, ctx, env_bytes(n, all.n_across + all.n_lines));
        if (e)
            *e = (sparse_env){
                .symmetric = symmetric, .argnum = o->argnum, .aux = o->has_aux, .chunk = o->chunk_size, .entries = n};
        lam_fn *of = symmetric ? gradient_of(f, o) : f;
        if (e && !lam_failed(of) && fill_env(ctx, e, &all)) {
            const size_t bytes = env_bytes(n, e->columns.named + e->rows.named);
            lam__derived d = {name, of, body_sparse, f->inputs, 1 + o->has_aux, e, bytes, NULL};
            made = lam__fn_derive(ctx, &d);
        }
        lam__scratch_put(&area_env);
    }
    lam__scratch_put(&area);
    return made;
}

static lam_fn *sparse(const char *name, lam_fn *f, lam_tensor *where, const lam_sparse_options *options,
                      bool symmetric) {
    lam_sparse_options o;
    lam_ctx *ctx = lam__fn_check(name, f);
    if (!ctx) return f ? f->ctx->failed_fn : lam__context_failed.failed_fn;
    if (!options_of(name, f, options, &o)) return ctx->failed_fn;
    return sparse_new(name, f, where, &o, symmetric);
}

lam_fn *lam_sparse_jacobian(lam_fn *f, lam_tensor *sparsity, const lam_sparse_options *options) {
    return sparse("sparse_jacobian", f, sparsity, options, false);
}

lam_fn *lam_sparse_hessian(lam_fn *f, lam_tensor *sparsity, const lam_sparse_options *options) {
    return sparse("sparse_hessian", f, sparsity, options, true);
}
