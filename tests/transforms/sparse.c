/* Sparsity and sparse derivatives. Where entries are follows from what the functions are; values are compared with
 * whole Jacobians and Hessians. That no primitive leaves an entry out is a property of the case table. */
#include "tests/support.h"
#include "tests/transforms/entries.h"

enum { N = 6 };

/* ---- functions with known matrices ------------------------------------------------------------------------------- */

/* x_(i+1) - x_i^2: two diagonals. */
BODY(differences) {
    out[0] = lam_sub(from(in[0], 1), lam_square(but_last(in[0])));
}
/* Rosenbrock's function, whose Hessian has three. */
BODY(rosenbrock) {
    lam_tensor *a = but_last(in[0]), *b = from(in[0], 1);
    out[0] = lam_sum(lam_add(lam_mul(100.0, lam_square(lam_sub(b, lam_square(a)))), lam_square(lam_sub(1.0, a))), NULL);
}
/* x_0 sum x_i^2: the first row and column, and the diagonal. */
BODY(arrow) {
    out[0] = lam_sum(lam_mul(lam_square(in[0]), lam_slice_axis(in[0], 0, 0, 1)), NULL);
}
/* sum x, and x_i x_0: the first row and column, and the diagonal, of a matrix that is not symmetric. */
BODY(bordered) {
    lam_tensor *sum = lam_reshape(lam_sum(in[0], NULL), LAM_DIMS(1));
    lam_tensor *products = lam_mul(from(in[0], 1), lam_slice_axis(in[0], 0, 0, 1));
    out[0] = lam_concatenate(LAM_LIST(sum, products), 0);
}
/* x_0 times the sum of three squares, and sum x: rows are longer than columns, but for one of either. */
BODY(bordered_groups) {
    lam_tensor *groups = lam_reshape(lam_square(in[0]), LAM_DIMS(-1, 3));
    lam_tensor *sums = lam_sum(groups, &(lam_reduce_options){LAM_AXES(1), false});
    lam_tensor *sum = lam_reshape(lam_sum(in[0], NULL), LAM_DIMS(1));
    out[0] = lam_concatenate(LAM_LIST(lam_mul(sums, lam_slice_axis(in[0], 0, 0, 1)), sum), 0);
}
BODY(scaled) {
    out[0] = lam_mul(3, in[0]);
}
BODY(floored) {
    out[0] = lam_add(lam_floor(in[0]), lam_cast(lam_gt(in[0], 0.0), LAM_F64));
}
BODY(product_with_next) {
    out[0] = lam_mul(but_last(in[0]), from(in[0], 1));
}
BODY(sum_and_first) {
    lam_tensor *sum = lam_reshape(lam_sum(lam_sin(in[0]), NULL), LAM_DIMS(1));
    out[0] = lam_concatenate(LAM_LIST(sum, lam_slice_axis(in[0], 0, 0, 1)), 0);
}
BODY(sorted) {
    out[0] = lam_sort(in[0], 0);
}
BODY(gram) {
    lam_tensor *m = lam_reshape(in[0], LAM_DIMS(2, 3));
    out[0] = lam_matmul(m, lam_matrix_transpose(m));
}
BODY(by_table) {
    lam_tensor *places = lam_array(ctx, LAM_I64, LAM_DIMS(4), (int64_t[]){5, 0, 0, 2});
    out[0] = lam_scatter_add(lam_zeros(ctx, LAM_F64, LAM_DIMS(3)), lam_mod(places, 3), lam_take(in[0], places, 0), 0);
}
BODY(same_place) {
    out[0] = lam_take_along_axis(in[0], lam_argsort(in[0], 0), 0);
}
BODY(running) {
    out[0] = lam_cumsum(lam_exp(in[0]), 0);
}

/* count: entries of the Jacobian by x of six elements. */
static const struct known {
    lam_body body;
    const char *name;
    int64_t count;
} jacobians[] =
    {
        {differences, "differences", 10},
        {rosenbrock, "rosenbrock", 6},
        {bordered, "bordered", 16},
        {bordered_groups, "bordered groups", 13},
        {scaled, "scaled", 6},
        {floored, "floored", 0},
        {product_with_next, "next", 10},
        {sum_and_first, "sum and first", 7},
        {sorted, "sorted", 36},
        {gram, "gram", 18},
        {by_table, "by table", 3},
        {same_place, "same place", 36},
        {running, "running", 21},
},
  hessians[] = {
      {rosenbrock, "rosenbrock", 16},
      {arrow, "arrow", 16},
};
enum { JACOBIANS = sizeof jacobians / sizeof jacobians[0], HESSIANS = sizeof hessians / sizeof hessians[0] };

static lam_tensor *matrix(lam_tensor *j, int64_t columns) {
    return lam_reshape(j, LAM_DIMS(lam_size(j) / columns, columns));
}

static void expect_jacobian(lam_fn *f, lam_tensor *pairs, lam_tensor *x, const lam_sparse_options *options) {
    lam_tensor *whole = matrix(apply1(lam_jacobian(f, NULL), x), lam_size(x));
    lam_tensor *entries = apply1(lam_sparse_jacobian(f, pairs, options), x);
    EXPECT_SAME(dense(pairs, entries, lam_dim(whole, 0), lam_size(x)), whole, 1e-12);
}

static void expect_hessian(lam_fn *f, lam_tensor *pairs, lam_tensor *x, const lam_sparse_options *options) {
    lam_tensor *whole = matrix(apply1(lam_hessian(f, NULL), x), lam_size(x));
    lam_tensor *entries = apply1(lam_sparse_hessian(f, pairs, options), x);
    EXPECT_SAME(dense(pairs, entries, lam_size(x), lam_size(x)), whole, 1e-12);
}

START_TEST(entries_of_a_jacobian_are_found_and_right) {
    const struct known *k = &jacobians[_i];
    lam_fn *f = function_of(k->name, k->body, 1, 1, NULL);
    lam_tensor *pairs = lam_jacobian_sparsity(f, LAM_LIST(point()), NULL);
    ck_assert_msg(lam_dim(pairs, 0) == k->count, "%s has %d entries", k->name, (int)lam_dim(pairs, 0));
    expect_jacobian(f, pairs, point(), NULL);
    expect_jacobian(f, pairs, point(), &(lam_sparse_options){.argnum = -1, .chunk_size = 2});
    expect_jacobian(f, pairs, point(), &(lam_sparse_options){.chunk_size = 1});
    EXPECT_OK();
}
END_TEST

START_TEST(entries_of_a_hessian_are_found_and_right) {
    const struct known *k = &hessians[_i];
    lam_fn *f = function_of(k->name, k->body, 1, 1, NULL);
    lam_tensor *pairs = lam_hessian_sparsity(f, LAM_LIST(point()), NULL);
    ck_assert_msg(lam_dim(pairs, 0) == k->count, "%s has %d entries", k->name, (int)lam_dim(pairs, 0));
    expect_hessian(f, pairs, point(), NULL);
    expect_hessian(f, pairs, point(), &(lam_sparse_options){.argnum = -1, .chunk_size = 1});
    EXPECT_OK();
}
END_TEST

START_TEST(pairs_are_in_order) {
    lam_tensor *pairs = lam_jacobian_sparsity(FN(differences, 1, 1), LAM_LIST(VEC(1, 2, 3)), NULL);
    EXPECT(lam_cast(pairs, LAM_F64), LAM_DIMS(4, 2), 0, 0, 0, 1, 1, 1, 1, 2);
    ck_assert_int_eq(lam_dtype_of(pairs), LAM_I64);
    EXPECT_SAME(pairs, lam_jacobian_sparsity(FN(differences, 1, 1), LAM_LIST(VEC(0, 0, 0)), NULL), 0);
}
END_TEST

/* ---- how many directions ----------------------------------------------------------------------------------------- */

/* Two diagonals need two directions, three need three, an arrow two; a row that is full needs one cotangent. A diagonal
 * with a row and a column needs two tangents and one cotangent, groups with them one tangent and two cotangents. */
START_TEST(directions_are_few) {
    lam_tensor *x = lam_linspace(ctx, LAM_F64, 0.1, 0.9, 50);
    lam_fn *two = FN(differences, 1, 1), *three = FN(rosenbrock, 1, 1), *star = FN(arrow, 1, 1);
    expect_directions(lam_sparse_jacobian(two, lam_jacobian_sparsity(two, LAM_LIST(x), NULL), NULL), x, 2);
    expect_directions(lam_sparse_hessian(three, lam_hessian_sparsity(three, LAM_LIST(x), NULL), NULL), x, 3);
    expect_directions(lam_sparse_hessian(star, lam_hessian_sparsity(star, LAM_LIST(x), NULL), NULL), x, 2);
    expect_directions(lam_sparse_jacobian(three, lam_jacobian_sparsity(three, LAM_LIST(x), NULL), NULL), x, 1);
    lam_fn *bordering = FN(bordered, 1, 1), *groups = FN(bordered_groups, 1, 1);
    x = lam_slice_axis(x, 0, 0, 48);
    expect_directions(lam_sparse_jacobian(bordering, lam_jacobian_sparsity(bordering, LAM_LIST(x), NULL), NULL), x, 2);
    expect_directions(lam_sparse_jacobian(groups, lam_jacobian_sparsity(groups, LAM_LIST(x), NULL), NULL), x, 2);
    EXPECT_OK();
}
END_TEST

/* A row that is full, with a column too, and a vertex beside all others take time by their lengths; by squares these
 * would be minutes. */
START_TEST(full_lines_take_no_squares) {
    const int64_t n = 400000 / LESS;
    lam_tensor *x = lam_ones(ctx, LAM_F64, LAM_DIMS(n));
    lam_fn *f = FN(sum_and_first, 1, 1), *star = FN(arrow, 1, 1);
    lam_tensor *entries = apply1(lam_sparse_jacobian(f, lam_jacobian_sparsity(f, LAM_LIST(x), NULL), NULL), x);
    EXPECT_NEAR(lam_sum(entries, NULL), 1e-12, LAM_DIMS0, (double)n * cos(1) + 1);
    entries = apply1(lam_sparse_hessian(star, lam_hessian_sparsity(star, LAM_LIST(x), NULL), NULL), x);
    EXPECT_NUM(lam_sum(entries, NULL), 6 * (double)n);
    f = FN(bordered, 1, 1);
    entries = apply1(lam_sparse_jacobian(f, lam_jacobian_sparsity(f, LAM_LIST(x), NULL), NULL), x);
    EXPECT_NUM(lam_sum(entries, NULL), 3 * (double)n - 2);
}
END_TEST

/* Random pairs of elements, whose products' sines are summed, or stand each for itself. */
typedef struct pairing {
    int64_t n, count, a[64], b[64];
} pairing;

BODY(sines) {
    const pairing *p = env;
    lam_tensor *a = lam_take(in[0], lam_array(ctx, LAM_I64, LAM_DIMS(p->count), p->a), 0);
    lam_tensor *b = lam_take(in[0], lam_array(ctx, LAM_I64, LAM_DIMS(p->count), p->b), 0);
    out[0] = lam_sin(lam_mul(a, b));
}
BODY(sum_of_sines) {
    sines(here, in, out, env);
    out[0] = lam_sum(out[0], NULL);
}

START_TEST(random_graphs_keep_their_entries_apart) {
    uint64_t state = (uint64_t)_i;
    pairing p = {.n = 2 + random_below(&state, 20), .count = 1 + random_below(&state, 60)};
    for (int64_t k = 0; k < p.count; k++) {
        p.a[k] = random_below(&state, k % 3 ? (int)p.n : 2);
        p.b[k] = random_below(&state, (int)p.n);
    }
    lam_tensor *x = lam_linspace(ctx, LAM_F64, 0.3, 1.9, p.n);
    lam_fn *f = FN_ENV(sines, 1, 1, &p), *sum = FN_ENV(sum_of_sines, 1, 1, &p);
    expect_jacobian(f, lam_jacobian_sparsity(f, LAM_LIST(x), NULL), x, NULL);
    expect_hessian(sum, lam_hessian_sparsity(sum, LAM_LIST(x), NULL), x, NULL);
    EXPECT_OK();
}
END_TEST

/* A matrix of random zeros, where some rows and columns have few of them. */
BODY(times_matrix) {
    out[0] = lam_matmul(env, lam_sin(in[0]));
}

START_TEST(random_matrices_keep_their_entries_apart) {
    enum { MOST = 24 };
    uint64_t state = (uint64_t)_i;
    const int rows = 1 + random_below(&state, MOST), columns = 1 + random_below(&state, MOST);
    const int full_rows = random_below(&state, 4), full_columns = random_below(&state, 4);
    double matrix_of[MOST * MOST];
    int64_t pairs[2 * MOST * MOST], count = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            const bool zero = random_below(&state, 10) < (i < full_rows || j < full_columns ? 2 : 9);
            matrix_of[i * columns + j] = zero ? 0 : 1 + random_below(&state, 9);
            if (zero) continue;
            pairs[2 * count] = i;
            pairs[2 * count++ + 1] = j;
        }
    lam_tensor *m = lam_array(ctx, LAM_F64, LAM_DIMS(rows, columns), matrix_of);
    lam_tensor *where = lam_array(ctx, LAM_I64, LAM_DIMS(count, 2), pairs);
    expect_jacobian(FN_ENV(times_matrix, 1, 1, m), where, lam_linspace(ctx, LAM_F64, 0.3, 1.9, columns), NULL);
    EXPECT_OK();
}
END_TEST

/* ---- what users give --------------------------------------------------------------------------------------------- */

/* In any order, more than there are, of any integer dtype. */
START_TEST(any_list_of_pairs_will_do) {
    lam_fn *f = FN(rosenbrock, 1, 1), *g = FN(differences, 1, 1);
    lam_tensor *x = VEC(1.5, -0.5, 2);
    const int32_t lower[] = {2, 1, 2, 2, 0, 0, 1, 0, 1, 1};
    lam_tensor *triangle = lam_array(ctx, LAM_I32, LAM_DIMS(5, 2), lower);
    lam_tensor *h = apply1(lam_hessian(f, NULL), x);
    lam_tensor *got = apply1(lam_sparse_hessian(f, triangle, NULL), x);
    const int64_t at[] = {7, 8, 0, 3, 4};
    EXPECT_SAME(got, lam_take(lam_reshape(h, LAM_DIMS(9)), lam_array(ctx, LAM_I64, LAM_DIMS(5), at), 0), 1e-15);
    const int64_t all[] = {1, 2, 0, 2, 0, 0, 1, 0, 0, 1, 1, 1};
    EXPECT_NEAR(apply1(lam_sparse_jacobian(g, lam_array(ctx, LAM_I64, LAM_DIMS(6, 2), all), NULL), x), 1e-15,
                LAM_DIMS(6), 1, 0, -3, 0, 1, 1);
    EXPECT_OK();
}
END_TEST

/* y = a x^2 + b, with sin(x) beside it. */
BODY(with_aux) {
    out[0] = lam_add(lam_mul(in[0], lam_square(in[1])), in[2]);
    out[1] = lam_sin(in[1]);
}
BODY(scalar_with_aux) {
    out[0] = lam_sum(lam_mul(in[0], lam_integer_pow(in[1], 3)), NULL);
    out[1] = lam_sin(in[1]);
}

START_TEST(argnum_and_auxiliary_outputs) {
    const lam_sparse_options o = {.argnum = 1, .has_aux = 1};
    const lam_list in = LAM_LIST(VEC(2, 3), VEC(0.5, -1), num(4));
    lam_fn *f = FN(with_aux, 3, 2), *s = FN(scalar_with_aux, 2, 2);
    lam_tensor *got[2], *pairs = lam_jacobian_sparsity(f, in, &o);
    ck_assert(lam_call(lam_sparse_jacobian(f, pairs, &o), in, got, 2) == LAM_OK);
    EXPECT(got[0], LAM_DIMS(2), 2, -6);
    EXPECT_SAME(got[1], lam_sin(in.items[1]), 0);
    const lam_list two = {2, in.items};
    ck_assert(lam_call(lam_sparse_hessian(s, lam_hessian_sparsity(s, two, &o), &o), two, got, 2) == LAM_OK);
    EXPECT(got[0], LAM_DIMS(2), 6, -18);
    EXPECT_SAME(got[1], lam_sin(in.items[1]), 0);
    pairs = lam_jacobian_sparsity(f, in, &(lam_sparse_options){.argnum = 2, .has_aux = 1});
    EXPECT(lam_cast(pairs, LAM_F64), LAM_DIMS(2, 2), 0, 0, 1, 0);
}
END_TEST

/* By rows: reverse mode, where the auxiliary output comes from the same run. */
BODY(row_with_aux) {
    out[0] = lam_sum(lam_square(in[0]), NULL);
    out[1] = lam_neg(in[0]);
}

START_TEST(rows_where_they_are_fewer) {
    const lam_sparse_options o = {.has_aux = 1};
    lam_fn *f = FN(row_with_aux, 1, 2);
    lam_tensor *got[2], *x = VEC(1, 2, 3);
    lam_fn *sparse = lam_sparse_jacobian(f, lam_jacobian_sparsity(f, LAM_LIST(x), &o), &o);
    ck_assert(lam_call(sparse, LAM_LIST(x), got, 2) == LAM_OK);
    EXPECT(got[0], LAM_DIMS(3), 2, 4, 6);
    EXPECT(got[1], LAM_DIMS(3), -1, -2, -3);
}
END_TEST

START_TEST(dtypes_and_empty_ones) {
    lam_tensor *x = lam_cast(point(), LAM_F32), *none = lam_zeros(ctx, LAM_F64, LAM_DIMS(0));
    lam_fn *f = FN(differences, 1, 1), *g = FN(scaled, 1, 1);
    lam_tensor *entries = apply1(lam_sparse_jacobian(f, lam_jacobian_sparsity(f, LAM_LIST(x), NULL), NULL), x);
    ck_assert_int_eq(lam_dtype_of(entries), LAM_F32);
    x = lam_cast(point(), LAM_F16);
    entries = apply1(lam_sparse_jacobian(g, lam_jacobian_sparsity(g, LAM_LIST(x), NULL), NULL), x);
    ck_assert_int_eq(lam_dtype_of(entries), LAM_F16);
    lam_tensor *pairs = lam_jacobian_sparsity(g, LAM_LIST(none), NULL);
    EXPECT_EMPTY(lam_cast(pairs, LAM_F64), LAM_DIMS(0, 2));
    EXPECT_EMPTY(apply1(lam_sparse_jacobian(g, pairs, NULL), none), LAM_DIMS(0));
    EXPECT_EMPTY(apply1(lam_sparse_jacobian(g, pairs, NULL), point()), LAM_DIMS(0));
    EXPECT_EMPTY(apply1(lam_sparse_hessian(FN(rosenbrock, 1, 1), pairs, NULL), point()), LAM_DIMS(0));
}
END_TEST

/* ---- transforms inside and around -------------------------------------------------------------------------------- */

BODY(cube_sum) {
    out[0] = lam_sum(lam_mul(lam_square(in[0]), lam_add(in[0], 1.0)), NULL);
}
BODY(gradient_inside) {
    out[0] = apply1(lam_grad(FN(cube_sum, 1, 1), NULL), in[0]);
}
BODY(square_of) {
    out[0] = lam_square(in[0]);
}
BODY(batch_inside) {
    out[0] = apply1(lam_vmap(FN(square_of, 1, 1), NULL), in[0]);
}
BODY(compiled_inside) {
    out[0] = apply1(lam_jit(FN(differences, 1, 1), NULL), in[0]);
}
BODY(step) {
    out[0] = lam_mul(in[0], lam_slice_axis(in[1], 0, 0, 1));
    out[1] = lam_reshape(out[0], LAM_DIMS0);
}
/* y_i = x_0 ... x_i */
BODY(scan_inside) {
    lam_tensor *results[2], *rows = lam_reshape(in[0], LAM_DIMS(-1, 1));
    lam_scan(FN(step, 2, 2), LAM_LIST(lam_ones(ctx, LAM_F64, LAM_DIMS(1))), LAM_LIST(rows), results, 2, NULL);
    out[0] = results[1];
}
BODY(twice_of) {
    out[0] = lam_add(in[0], in[0]);
}
BODY(choice_inside) {
    lam_cond(lam_gt(lam_sum(in[0], NULL), 0.0), FN(square_of, 1, 1), FN(twice_of, 1, 1), LAM_LIST(in[0]), &out[0], 1);
}

BODY(remembered_inside) {
    out[0] = apply1(lam_checkpoint(FN(differences, 1, 1), NULL), in[0]);
}

static const struct known inside[] = {
    {gradient_inside, "gradient inside", 6}, {batch_inside, "batch inside", 6},   {compiled_inside, "compiled", 10},
    {scan_inside, "scan inside", 21},        {choice_inside, "choice inside", 6}, {remembered_inside, "remembered", 10},
};
enum { INSIDE = sizeof inside / sizeof inside[0] };

START_TEST(transforms_inside) {
    const struct known *k = &inside[_i];
    lam_fn *f = function_of(k->name, k->body, 1, 1, NULL);
    lam_tensor *pairs = lam_jacobian_sparsity(f, LAM_LIST(point()), NULL);
    ck_assert_msg(lam_dim(pairs, 0) == k->count, "%s has %d entries", k->name, (int)lam_dim(pairs, 0));
    expect_jacobian(f, pairs, point(), NULL);
    EXPECT_OK();
}
END_TEST

BODY(turned_of) {
    out[0] = lam_reverse(in[0], LAM_AXES(0));
}
/* One diagonal or the other. */
BODY(choice_of_diagonals) {
    lam_cond(lam_gt(lam_sum(in[0], NULL), 0.0), FN(square_of, 1, 1), FN(turned_of, 1, 1), LAM_LIST(in[0]), &out[0], 1);
}
BODY(not_finished) {
    out[0] = lam_gt(lam_sum(in[0], NULL), 1.0);
}
BODY(halved) {
    out[0] = lam_mul(0.5, in[0]);
}
BODY(while_inside) {
    lam_while(FN(not_finished, 1, 1), FN(halved, 1, 1), LAM_LIST(in[0]), out, 1);
}

BODY(endless) {
    lam_while(FN(not_finished, 1, 1), FN(twice_of, 1, 1), LAM_LIST(in[0]), out, 1);
}
/* Where the sum is positive the loop of the other function would not end. */
BODY(choice_of_loops) {
    lam_cond(lam_gt(lam_sum(in[0], NULL), 0.0), FN(while_inside, 1, 1), FN(endless, 1, 1), LAM_LIST(in[0]), &out[0], 1);
}

/* A loop of known length in a program is seen through. A choice has the entries of both of its functions, wherever they
 * were found, and a loop that ends by a condition has all. */
START_TEST(entries_in_programs) {
    lam_tensor *elsewhere = lam_neg(point());
    lam_fn *loop = lam_trace(FN(scan_inside, 1, 1), LAM_LIST(point()));
    lam_fn *choice = lam_trace(FN(choice_of_diagonals, 1, 1), LAM_LIST(point()));
    lam_fn *ends = lam_trace(FN(while_inside, 1, 1), LAM_LIST(point()));
    lam_tensor *pairs = lam_jacobian_sparsity(choice, LAM_LIST(point()), NULL);
    ck_assert_int_eq(lam_dim(pairs, 0), 12);
    expect_jacobian(choice, pairs, point(), NULL);
    expect_jacobian(choice, pairs, elsewhere, NULL);
    EXPECT_SAME(lam_jacobian_sparsity(choice, LAM_LIST(elsewhere), NULL), pairs, 0);
    ck_assert_int_eq(lam_dim(lam_jacobian_sparsity(FN(choice_of_diagonals, 1, 1), LAM_LIST(point()), NULL), 0), 6);
    ck_assert_int_eq(lam_dim(lam_jacobian_sparsity(loop, LAM_LIST(point()), NULL), 0), 21);
    ck_assert_int_eq(lam_dim(lam_jacobian_sparsity(ends, LAM_LIST(point()), NULL), 0), 36);
    choice = lam_trace(FN(choice_of_loops, 1, 1), LAM_LIST(point()));
    ck_assert_int_eq(lam_dim(lam_jacobian_sparsity(choice, LAM_LIST(point()), NULL), 0), 36);
    EXPECT_OK();
}
END_TEST

/* The sum of squares of the entries, which a gradient goes through. */
typedef struct entries_of {
    lam_fn *f;
    lam_tensor *pairs;
    bool sparse;
} entries_of;

BODY(size_of_entries) {
    const entries_of *e = env;
    lam_tensor *j =
        e->sparse ? apply1(lam_sparse_jacobian(e->f, e->pairs, NULL), in[0]) : apply1(lam_jacobian(e->f, NULL), in[0]);
    out[0] = lam_sum(lam_square(j), NULL);
}

/* By columns, and by columns and rows. */
static const struct known around[] = {{product_with_next, "next", 10}, {bordered, "bordered", 16}};
enum { AROUND = sizeof around / sizeof around[0] };

START_TEST(transforms_around) {
    entries_of sparse = {function_of(around[_i].name, around[_i].body, 1, 1, NULL), NULL, true}, whole = sparse;
    sparse.pairs = lam_jacobian_sparsity(sparse.f, LAM_LIST(point()), NULL);
    whole.sparse = false;
    lam_fn *f = FN_ENV(size_of_entries, 1, 1, &sparse), *want = FN_ENV(size_of_entries, 1, 1, &whole);
    lam_tensor *rows = lam_stack(LAM_LIST(point(), lam_neg(point()), lam_exp(point())), 0);
    EXPECT_SAME(apply1(lam_grad(f, NULL), point()), apply1(lam_grad(want, NULL), point()), 1e-14);
    EXPECT_SAME(apply1(lam_hessian(f, NULL), point()), apply1(lam_hessian(want, NULL), point()), 1e-14);
    EXPECT_SAME(apply1(lam_vmap(lam_grad(f, NULL), NULL), rows), apply1(lam_vmap(lam_grad(want, NULL), NULL), rows),
                1e-14);
    lam_fn *entries = lam_sparse_jacobian(sparse.f, sparse.pairs, NULL);
    lam_tensor *at = apply1(entries, point());
    EXPECT_SAME(apply1(lam_jit(entries, NULL), point()), at, 0);
    EXPECT_SAME(apply1(lam_trace(entries, LAM_LIST(point())), point()), at, 0);
    EXPECT_SAME(lam_reshape(lam_slice_axis(apply1(lam_vmap(entries, NULL), rows), 0, 0, 1), lam_dims_of(at)), at, 0);
    EXPECT_OK();
}
END_TEST

Suite *suite_transforms_sparse(void) {
    Suite *suite = SUITE_OF("transforms/sparse", pairs_are_in_order, directions_are_few, full_lines_take_no_squares,
                            any_list_of_pairs_will_do, argnum_and_auxiliary_outputs, rows_where_they_are_fewer,
                            dtypes_and_empty_ones, entries_in_programs);
    suite_loop(suite, entries_of_a_jacobian_are_found_and_right, JACOBIANS);
    suite_loop(suite, entries_of_a_hessian_are_found_and_right, HESSIANS);
    suite_loop(suite, random_graphs_keep_their_entries_apart, 40);
    suite_loop(suite, random_matrices_keep_their_entries_apart, 100);
    suite_loop(suite, transforms_inside, INSIDE);
    suite_loop(suite, transforms_around, AROUND);
    return suite;
}
