/* Contractions as users write them: matmul and its kin against sums written out here, einsum against a plain walk over
 * all indices, batched and differentiated forms, and that a batched contraction is one contraction. */
#include "tests/support.h"

/* 0.5, -1, 1.5, ... : exact in every product and sum of these tests. */
static lam_tensor *filled(lam_dims dims, double first) {
    double data[1024];
    int64_t count = 1;
    for (int i = 0; i < dims.rank; i++) count *= dims.dims[i];
    for (int64_t i = 0; i < count; i++) data[i] = (first + 0.5 * (double)(i % 7)) * (i % 2 ? -1 : 1);
    return lam_array(ctx, LAM_F64, dims, data);
}

static void read_all(lam_tensor *t, double *to) {
    ck_assert_msg(lam_read(t, to, (size_t)lam_size(t) * sizeof *to) == LAM_OK, "%s", lam_error(ctx));
}

/* ---- an independent einsum: one walk over the indices of all letters --------------------------------------------- */

typedef struct walk {
    int64_t size[128], at[128];
    double data[5][1024];
    int64_t dims[5][8];
    const char *term[5];
    int terms;
} walk;

static int64_t position(const walk *w, const char *term) {
    int64_t at = 0;
    for (const char *c = term; *c; c++) at = at * w->size[(int)*c] + w->at[(int)*c];
    return at;
}

static void walk_letters(walk *w, const char *letters, const char *result, double *out) {
    if (*letters) {
        for (w->at[(int)*letters] = 0; w->at[(int)*letters] < w->size[(int)*letters]; w->at[(int)*letters]++)
            walk_letters(w, letters + 1, result, out);
        return;
    }
    double product = 1;
    for (int n = 0; n < w->terms; n++) product *= w->data[n][position(w, w->term[n])];
    out[position(w, result)] += product;
}

/* subscripts are terms without ellipsis, given one by one too. */
static void expect_einsum(const char *subscripts, const char *result, int terms, const char *const term[],
                          lam_tensor *const in[]) {
    static walk w;
    static double want[4096];
    char letters[64] = "";
    memset(&w, 0, sizeof w);
    memset(want, 0, sizeof want);
    w.terms = terms;
    for (int n = 0; n < terms; n++) {
        w.term[n] = term[n];
        read_all(in[n], w.data[n]);
        for (int i = 0; term[n][i]; i++) {
            if (!strchr(letters, term[n][i])) strncat(letters, &term[n][i], 1);
            w.size[(int)term[n][i]] = lam_dim(in[n], i);
        }
    }
    walk_letters(&w, letters, result, want);
    lam_tensor *got = lam_einsum(subscripts, (lam_list){(size_t)terms, in});
    EXPECT_OK();
    ck_assert_int_eq(lam_rank(got), (int)strlen(result));
    int64_t dims[8];
    for (int i = 0; result[i]; i++) dims[i] = w.size[(int)result[i]];
    EXPECT_SAME(got, lam_array(ctx, LAM_F64, (lam_dims){(int)strlen(result), dims}, want), 1e-14);
}

#define EINSUM(subscripts, result, terms, ...)                                                                         \
    expect_einsum(subscripts, result, sizeof((const char *const[])terms) / sizeof(char *), (const char *const[])terms, \
                  (lam_tensor *const[]){__VA_ARGS__})
#define TERMS(...)                                                                                                     \
    { __VA_ARGS__ }

START_TEST(einsum_equals_the_walk_over_all_indices) {
    lam_tensor *a = filled(LAM_DIMS(2, 3), 1), *b = filled(LAM_DIMS(3, 4), 2), *c = filled(LAM_DIMS(4, 2), 1),
               *v = filled(LAM_DIMS(3), 3);
    lam_tensor *s = filled(LAM_DIMS(3, 3), 1), *t = filled(LAM_DIMS(2, 3, 3), 1), *u = filled(LAM_DIMS(2, 3, 4), 1);
    EINSUM("ij,jk->ik", "ik", TERMS("ij", "jk"), a, b);
    EINSUM(" i j , j k -> k i ", "ki", TERMS("ij", "jk"), a, b);
    EINSUM("ij,jk", "ik", TERMS("ij", "jk"), a, b);
    EINSUM("ij->ji", "ji", TERMS("ij"), a);
    EINSUM("ba", "ab", TERMS("ba"), a);
    EINSUM("ij->", "", TERMS("ij"), a);
    EINSUM("ij->j", "j", TERMS("ij"), a);
    EINSUM("ii", "", TERMS("ii"), s);
    EINSUM("ii->i", "i", TERMS("ii"), s);
    EINSUM("bii->b", "b", TERMS("bii"), t);
    EINSUM("bii,i->bi", "bi", TERMS("bii", "i"), t, v);
    EINSUM("i,i", "", TERMS("i", "i"), v, v);
    EINSUM("i,i->i", "i", TERMS("i", "i"), v, v);
    EINSUM("i,j->ij", "ij", TERMS("i", "j"), v, v);
    EINSUM("ij,kj->", "", TERMS("ij", "kj"), a, a);
    EINSUM("bij,bjk->bik", "bik", TERMS("bij", "bjk"), t, u);
    EINSUM("bij,bjk->kb", "kb", TERMS("bij", "bjk"), t, u);
    EINSUM("ij,jk,kl->il", "il", TERMS("ij", "jk", "kl"), a, b, c);
    EINSUM("ij,jk,ki", "", TERMS("ij", "jk", "ki"), a, b, c);
    EINSUM("i,ij,jk,k->", "", TERMS("i", "ij", "jk", "k"), filled(LAM_DIMS(2), 1), a, b, filled(LAM_DIMS(4), 1));
    EINSUM("i,i,i->", "", TERMS("i", "i", "i"), v, v, v);
    EINSUM("i,i,i->i", "i", TERMS("i", "i", "i"), v, v, v);
    EINSUM("lm,ij,kl,jk->mi", "mi", TERMS("lm", "ij", "kl", "jk"), a, a, c, b);
    EINSUM("l,lm,ij,kl,jk->mi", "mi", TERMS("l", "lm", "ij", "kl", "jk"), filled(LAM_DIMS(2), 1), a, a, c, b);
    EINSUM("ji,jk,jl->ikl", "ikl", TERMS("ji", "jk", "jl"), s, b, s);
    EINSUM("Aa,aB->BA", "BA", TERMS("Aa", "aB"), a, b);
}
END_TEST

START_TEST(einsum_ellipses_broadcast) {
    lam_tensor *x = filled(LAM_DIMS(2, 1, 3, 4), 1), *y = filled(LAM_DIMS(5, 4, 2), 1);
    EXPECT_SAME(lam_einsum("...ij,...jk->...ik", LAM_LIST(x, y)), lam_matmul(x, y), 0);
    EXPECT_SAME(lam_einsum("...ij,...jk", LAM_LIST(x, y)), lam_matmul(x, y), 0);
    EXPECT_SAME(lam_einsum("i...->...i", LAM_LIST(x)), lam_moveaxis(x, 0, -1), 0);
    EXPECT_SAME(lam_einsum("...->...", LAM_LIST(x)), x, 0);
    EXPECT_SAME(lam_einsum("...,...", LAM_LIST(x, num(2))), lam_mul(x, 2.0), 0);
    EXPECT_SAME(lam_einsum("...ij->i...j", LAM_LIST(x)), lam_moveaxis(x, 2, 0), 0);
}
END_TEST

START_TEST(einsum_of_many_operands_and_dtypes) {
    lam_tensor *m = MAT(2, 2, 1, 1, 0, 1), *ints = lam_cast(m, LAM_I32), *bools = lam_cast(m, LAM_BOOL);
    EXPECT(lam_einsum("ab,bc,cd,de,ef,fg,gh->ah", LAM_LIST(m, m, m, m, m, m, m)), LAM_DIMS(2, 2), 1, 7, 0, 1);
    ck_assert_int_eq(lam_dtype_of(lam_einsum("ij,jk", LAM_LIST(ints, ints))), LAM_I32);
    lam_tensor *reach = lam_einsum("ij,jk->ik", LAM_LIST(bools, bools)), *some = lam_einsum("ij->i", LAM_LIST(bools));
    ck_assert_int_eq(lam_dtype_of(reach), LAM_BOOL);
    ck_assert_int_eq(lam_dtype_of(some), LAM_BOOL);
    EXPECT(lam_cast(reach, LAM_F64), LAM_DIMS(2, 2), 1, 1, 0, 1);
    EXPECT(lam_einsum("ij,jk->ik",
                      LAM_LIST(lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 0)), lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 1)))),
           LAM_DIMS(2, 1), 0, 0);
}
END_TEST

/* By the bytes between: in the first the pair that is cheapest by itself (10 x 1 x n) makes the rest expensive. The
 * last has too many operands for all orders to be tried. */
START_TEST(einsum_takes_the_cheapest_order) {
    const int64_t n = 100000, m = 1000;
    lam_tensor *a = lam_ones(ctx, LAM_F64, LAM_DIMS(10, 1)), *b = lam_ones(ctx, LAM_F64, LAM_DIMS(1, n)),
               *c = lam_ones(ctx, LAM_F64, LAM_DIMS(n, 11)), *v = lam_ones(ctx, LAM_F64, LAM_DIMS(m));
    const lam_list operands[] = {LAM_LIST(a, b, c), LAM_LIST(v, v, v), LAM_LIST(v, v, v, v, v, v)};
    const char *const subscripts[] = {"ij,jk,kl->il", "i,j,j->i", "a,b,c,c,b,a->"};
    const double want[] = {(double)n, (double)m, 1e9};
    for (int i = 0; i < 3; i++) {
        const size_t before = lam_ctx_bytes(ctx);
        lam_ctx_reset_peak(ctx);
        lam_tensor *sum = lam_einsum(subscripts[i], operands[i]);
        ck_assert_double_eq(lam_item(lam_index(lam_reshape(sum, LAM_DIMS(-1)), 0, 0)), want[i]);
        ck_assert_msg(lam_ctx_peak_bytes(ctx) - before < 2000000, "%s takes %zu bytes", subscripts[i],
                      lam_ctx_peak_bytes(ctx) - before);
    }
}
END_TEST

/* ---- operands whose axes do not nest ----------------------------------------------------------------------------- */

/* A tensor of these letters whose elements lie in this order of its axes. */
static lam_tensor *laid_out(const char *letters, const int lies[], const int64_t size[128]) {
    int64_t dims[8];
    int back[8], rank = (int)strlen(letters);
    for (int i = 0; i < rank; i++) {
        dims[i] = size[(int)letters[lies[i]]];
        back[lies[i]] = i;
    }
    return lam_transpose(filled((lam_dims){rank, dims}, 1), (lam_axes){rank, back});
}

/* The next permutation in lexicographic order; false after the last. */
static bool permute(int n, int p[]) {
    int i = n - 2, j = n - 1;
    while (i >= 0 && p[i] > p[i + 1]) i--;
    if (i < 0) return false;
    while (p[j] < p[i]) j--;
    for (int t = p[i], a = i + 1, b = (p[i] = p[j], p[j] = t, n - 1); a < b; a++, b--) t = p[a], p[a] = p[b], p[b] = t;
    return true;
}

/* One operand in every order that its elements can lie in, the other row by row, then with its first axis repeated. */
static void expect_any_layout(const char *x, const char *y, const char *result, const int64_t size[128]) {
    const char *const term[] = {x, y};
    char subscripts[32];
    snprintf(subscripts, sizeof subscripts, "%s,%s->%s", x, y, result);
    for (int side = 0; side < 2; side++) {
        int lies[8] = {0, 1, 2, 3, 4, 5, 6, 7}, rank = (int)strlen(term[side]);
        const char *other = term[1 - side];
        lam_tensor *far = laid_out(other, (int[]){0, 1, 2, 3, 4, 5, 6, 7}, size), *in[2];
        lam_tensor *repeated = lam_broadcast_to(lam_slice_axis(far, 0, 0, 1), lam_dims_of(far));
        do {
            in[side] = laid_out(term[side], lies, size);
            in[1 - side] = far;
            expect_einsum(subscripts, result, 2, term, in);
            in[1 - side] = repeated;
            expect_einsum(subscripts, result, 2, term, in);
        } while (permute(rank, lies));
    }
}

/* Small matrices, and such as are worth a call of CBLAS each. */
START_TEST(contractions_of_axes_that_do_not_nest) {
    static const char *const cases[][3] = {
        {"ik", "akj", "aij"},    {"ik", "akj", "iaj"},     {"aki", "kj", "aij"},       {"abik", "bkj", "abij"},
        {"bik", "abkj", "abij"}, {"abik", "abkj", "abij"}, {"abik", "abkj", "baij"},   {"aik", "bkj", "abij"},
        {"abk", "abkj", "abj"},  {"abik", "abik", "ab"},   {"abik", "cabkj", "cabij"}, {"abcik", "abkj", "abcij"}};
    static const int64_t sizes[][6] = {{2, 3, 2, 4, 2, 3}, {2, 1, 2, 17, 8, 17}, {2, 2, 1, 3, 9, 4}};
    for (int s = 0; s < 3; s++) {
        int64_t size[128] = {0};
        for (int k = 0; k < 6; k++) size[(int)"abcikj"[k]] = sizes[s][k];
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
            expect_any_layout(cases[c][0], cases[c][1], cases[c][2], size);
    }
}
END_TEST

/* Bodies see the product of a matrix and a stack as they see others: its elements can be had at once. */
START_TEST(products_lie_as_they_are_asked_for) {
    lam_tensor *m = filled(LAM_DIMS(4, 4), 1), *stack = filled(LAM_DIMS(7, 4, 4), 1);
    ck_assert_ptr_nonnull(lam_data(lam_matmul(m, stack)));
    ck_assert_ptr_nonnull(lam_data(lam_matmul(stack, m)));
    ck_assert_ptr_nonnull(lam_data(lam_einsum("ik,akj->iaj", LAM_LIST(m, stack))));
    ck_assert_ptr_nonnull(lam_data(lam_einsum("ik,akj->aij", LAM_LIST(m, stack))));
    EXPECT_OK();
}
END_TEST

START_TEST(einsum_names_the_subscript_that_is_wrong) {
    lam_tensor *a = filled(LAM_DIMS(2, 3), 1);
    static const struct {
        const char *text, *says;
        lam_status status;
    } wrong[] = {
        {"ij,jk", "'j' has 2 elements", LAM_ERR_SHAPE},
        {"ij,ij->iq", "'q'", LAM_ERR_VALUE},
        {"ij,ij->ii", "'i' is twice", LAM_ERR_VALUE},
        {"ijk,ij", "operand 0 has 2 axes", LAM_ERR_RANK},
        {"i,ij", "operand 0 has 2 axes, its subscripts name 1", LAM_ERR_RANK},
        {"ij", "fewer operands", LAM_ERR_ARITY},
        {"ij,ij,ij", "more operands", LAM_ERR_ARITY},
        {"i%,ij", "'%'", LAM_ERR_VALUE},
        {"......,ij", "two ellipses", LAM_ERR_VALUE},
        {"...j,ij->j", "ellipsis is missing", LAM_ERR_VALUE},
        {"ij,ij->i,j", "behind the result", LAM_ERR_VALUE},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert(lam_failed(lam_einsum(wrong[i].text, LAM_LIST(a, a))));
        EXPECT_ERROR(wrong[i].status, "einsum", wrong[i].says, wrong[i].text);
    }
}
END_TEST

/* ---- matmul and its kin ------------------------------------------------------------------------------------------ */

/* The definition, with leading axes broadcast by hand. */
START_TEST(matmul_broadcasts_leading_axes) {
    lam_tensor *x = filled(LAM_DIMS(2, 1, 2, 3), 1), *y = filled(LAM_DIMS(3, 3, 2), 2);
    double a[12], b[18], want[2 * 3 * 2 * 2];
    read_all(x, a);
    read_all(y, b);
    for (int e = 0; e < 24; e++) {
        int p = e / 12, q = e / 4 % 3, i = e / 2 % 2, j = e % 2;
        want[e] = 0;
        for (int k = 0; k < 3; k++) want[e] += a[(p * 2 + i) * 3 + k] * b[(q * 3 + k) * 2 + j];
    }
    EXPECT_SAME(lam_matmul(x, y), lam_array(ctx, LAM_F64, LAM_DIMS(2, 3, 2, 2), want), 0);
}
END_TEST

START_TEST(matmul_takes_vectors_and_stacks) {
    lam_tensor *m = MAT(2, 3, 1, 2, 3, 4, 5, 6), *v = VEC(1, 10, 100), *w = VEC(1, -1);
    lam_tensor *stack = lam_stack(LAM_LIST(m, lam_neg(m)), 0);
    EXPECT(lam_matmul(m, v), LAM_DIMS(2), 321, 654);
    EXPECT(lam_matmul(w, m), LAM_DIMS(3), -3, -3, -3);
    EXPECT(lam_matmul(v, v), LAM_DIMS0, 10101);
    EXPECT(lam_matmul(stack, v), LAM_DIMS(2, 2), 321, 654, -321, -654);
    EXPECT(lam_matmul(w, stack), LAM_DIMS(2, 3), -3, -3, -3, 3, 3, 3);
    EXPECT(lam_matmul(lam_transpose(m, LAM_AXES(1, 0)), w), LAM_DIMS(3), -3, -3, -3);
    EXPECT_EMPTY(lam_matmul(lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 3)), v), LAM_DIMS(0));
    EXPECT(lam_matmul(lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 0)), lam_zeros(ctx, LAM_F64, LAM_DIMS(0))), LAM_DIMS(2), 0,
           0);
}
END_TEST

START_TEST(vecdot_outer_tensordot_dot) {
    lam_tensor *m = MAT(2, 3, 1, 2, 3, 4, 5, 6), *v = VEC(1, 10, 100);
    EXPECT(lam_vecdot(m, v, -1), LAM_DIMS(2), 321, 654);
    EXPECT(lam_vecdot(m, m, 0), LAM_DIMS(3), 17, 29, 45);
    /* (1 - 2i)(2 - i) + (3 + i)(1 + 4i): the first one is conjugated, as in jax.numpy. */
    lam_tensor *z = lam_vecdot(lam_complex(VEC(1, 3), VEC(2, -1)), lam_complex(VEC(2, 1), VEC(-1, 4)), 0);
    EXPECT_NUM(lam_real(z), -1);
    EXPECT_NUM(lam_imag(z), 8);
    EXPECT(lam_outer(VEC(1, 2), v), LAM_DIMS(2, 3), 1, 10, 100, 2, 20, 200);
    EXPECT(lam_tensordot(m, m, (lam_axes){0, NULL}, (lam_axes){0, NULL}), LAM_DIMS0, 91);
    EXPECT(lam_tensordot(m, m, LAM_AXES(0), LAM_AXES(0)), LAM_DIMS(3, 3), 17, 22, 27, 22, 29, 36, 27, 36, 45);
    EXPECT(lam_tensordot(VEC(1, 2), VEC(3, 5), LAM_NO_AXES, LAM_NO_AXES), LAM_DIMS(2, 2), 3, 5, 6, 10);
    EXPECT(lam_dot(m, v), LAM_DIMS(2), 321, 654);
    EXPECT(lam_dot(num(2), VEC(1, 2)), LAM_DIMS(2), 2, 4);
}
END_TEST

START_TEST(contractions_say_what_does_not_fit) {
    lam_tensor *m = MAT(2, 3, 1, 2, 3, 4, 5, 6);
    lam_matmul(m, m);
    EXPECT_ERROR(LAM_ERR_SHAPE, "matmul", "3 elements", "2", "f64[2, 3]", "remedy");
    lam_matmul(num(1), m);
    EXPECT_ERROR(LAM_ERR_RANK, "matmul", "lam_mul");
    lam_matmul(filled(LAM_DIMS(2, 2, 2), 1), filled(LAM_DIMS(3, 2, 2), 1));
    EXPECT_ERROR(LAM_ERR_SHAPE, "matmul", "broadcast");
    lam_vecdot(m, m, 2);
    EXPECT_ERROR(LAM_ERR_AXIS, "vecdot", "axis 2");
    lam_tensordot(m, m, LAM_AXES(0), LAM_AXES(0, 1));
    EXPECT_ERROR(LAM_ERR_AXIS, "tensordot", "paired");
}
END_TEST

/* ---- transforms -------------------------------------------------------------------------------------------------- */

BODY(matvec) {
    out[0] = lam_matmul(in[0], in[1]);
}
BODY(product_norm) {
    out[0] = lam_sum(lam_square(lam_matmul(in[0], in[1])), NULL);
}
BODY(chain) {
    out[0] = lam_einsum("ij,jk,lk,il->", LAM_LIST(in[0], in[1], in[2], lam_square(in[2])));
}

START_TEST(vmap_of_a_contraction_is_the_contraction) {
    lam_tensor *m = filled(LAM_DIMS(4, 3), 1), *v = filled(LAM_DIMS(5, 3), 1), *stack = filled(LAM_DIMS(5, 4, 3), 2);
    lam_fn *f = FN(matvec, 2, 1);
    lam_vmap_options rows = {.in_axes = LAM_AXES(LAM_UNMAPPED, 0)}, both = {.in_axes = LAM_AXES(0, 0)},
                     left = {.in_axes = LAM_AXES(0, LAM_UNMAPPED)};
    EXPECT_SAME(lam_apply(lam_vmap(f, &rows), LAM_LIST(m, v)), lam_matmul(v, lam_transpose(m, LAM_AXES(1, 0))), 0);
    EXPECT_SAME(lam_apply(lam_vmap(f, &both), LAM_LIST(stack, v)), lam_einsum("bij,bj->bi", LAM_LIST(stack, v)), 0);
    EXPECT_SAME(lam_apply(lam_vmap(f, &left), LAM_LIST(stack, lam_index(v, 0, 0))),
                lam_matmul(stack, lam_index(v, 0, 0)), 0);
    /* nested: every pair of rows */
    lam_fn *pairs = lam_vmap(lam_vmap(f, &rows), &left);
    EXPECT_SAME(lam_apply(pairs, LAM_LIST(v, v)), lam_matmul(v, lam_transpose(v, LAM_AXES(1, 0))), 0);
}
END_TEST

/* d |x y|^2 = 2 (x y) y^T by x, 2 x^T (x y) by y. */
START_TEST(gradient_of_a_product_norm) {
    lam_tensor *x = filled(LAM_DIMS(2, 3), 1), *y = filled(LAM_DIMS(3, 2), 2), *gx[2];
    lam_fn *g = lam_grad(FN(product_norm, 2, 1), &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    ck_assert_int_eq(lam_call(g, LAM_LIST(x, y), gx, 2), LAM_OK);
    lam_tensor *twice = lam_mul(2.0, lam_matmul(x, y));
    EXPECT_SAME(gx[0], lam_matmul(twice, lam_transpose(y, LAM_AXES(1, 0))), 0);
    EXPECT_SAME(gx[1], lam_matmul(lam_transpose(x, LAM_AXES(1, 0)), twice), 0);
}
END_TEST

START_TEST(einsum_of_several_operands_has_derivatives) {
    lam_tensor *x = filled(LAM_DIMS(2, 3), 1), *y = filled(LAM_DIMS(3, 2), 1), *z = filled(LAM_DIMS(2, 2), 1);
    ck_assert_msg(lam_check_grads(FN(chain, 3, 1), LAM_LIST(x, y, z), &(lam_check_grads_options){.order = 2}) == LAM_OK,
                  "%s", lam_error(ctx));
}
END_TEST

BODY(traces) {
    out[0] = lam_mul(lam_matrix_trace(lam_square(in[0]), 1, 0, 1),
                     lam_sum(lam_mul(lam_tril(in[0], -1), lam_triu(lam_transpose(in[0], LAM_AXES(1, 0)), 0)), NULL));
}

START_TEST(parts_of_matrices) {
    lam_tensor *m = MAT(2, 3, 1, 2, 3, 4, 5, 6), *hole = MAT(2, 2, 1, NAN, 2, 3);
    EXPECT(lam_matrix_trace(m, 0, 0, 1), LAM_DIMS0, 6);
    EXPECT(lam_matrix_trace(m, 1, 0, 1), LAM_DIMS0, 8);
    EXPECT(lam_tril(m, 0), LAM_DIMS(2, 3), 1, 0, 0, 4, 5, 0);
    EXPECT(lam_tril(m, 1), LAM_DIMS(2, 3), 1, 2, 0, 4, 5, 6);
    EXPECT(lam_triu(m, 1), LAM_DIMS(2, 3), 0, 2, 3, 0, 0, 6);
    EXPECT(lam_tril(hole, 0), LAM_DIMS(2, 2), 1, 0, 2, 3);
    ck_assert_int_eq(lam_dtype_of(lam_triu(lam_cast(m, LAM_I32), 0)), LAM_I32);
    ck_assert_msg(lam_check_grads(FN(traces, 1, 1), LAM_LIST(filled(LAM_DIMS(3, 3), 1)), NULL) == LAM_OK, "%s",
                  lam_error(ctx));
    lam_tril(VEC(1, 2), 0);
    EXPECT_ERROR(LAM_ERR_RANK, "tril", "matrix");
    lam_diagonal(m, 0, 1, 1);
    EXPECT_ERROR(LAM_ERR_AXIS, "diagonal", "both axis 1");
}
END_TEST

Suite *suite_primitives_contract(void) {
    return SUITE_OF("primitives/contract", einsum_equals_the_walk_over_all_indices, einsum_ellipses_broadcast,
                    einsum_of_many_operands_and_dtypes, einsum_takes_the_cheapest_order,
                    einsum_names_the_subscript_that_is_wrong, contractions_of_axes_that_do_not_nest,
                    products_lie_as_they_are_asked_for, matmul_broadcasts_leading_axes, matmul_takes_vectors_and_stacks,
                    vecdot_outer_tensordot_dot, contractions_say_what_does_not_fit,
                    vmap_of_a_contraction_is_the_contraction, gradient_of_a_product_norm,
                    einsum_of_several_operands_has_derivatives, parts_of_matrices);
}
