/* Bags of rows. References go through the entries one after the other, as the sums in the docstrings read. */
#include "tests/primitives/cases.h"

/* How many elements the axes [from, to) of x have. */
static int64_t size_of(const array *x, int from, int to) {
    int64_t size = 1;
    for (int i = from; i < to; i++) size *= x->dims[i];
    return size;
}

static void add_dims(const array *x, int from, int to, int64_t dims[], int *rank) {
    for (int i = from; i < to; i++) dims[(*rank)++] = x->dims[i];
}

/* The row that entry e names. */
static int64_t row_of(const array *indices, int64_t e, int64_t rows) {
    const int64_t at = (int64_t)indices->data[e];
    return at < 0 ? at + rows : at;
}

static int64_t terms_of(const array *indices) {
    return indices->dims[indices->rank - 1];
}

/* ---- embedding_bag: x, weights, indices -------------------------------------------------------------------------- */

static void call_embedding_bag(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_embedding_bag(in[0], in[2], in[1]);
}

static void reference_embedding_bag(const cases_use *u, const array in[], array out[]) {
    const array *x = &in[0], *w = &in[1], *indices = &in[2];
    int64_t dims[ARRAY_RANK], width = size_of(x, 1, x->rank);
    int rank = 0;
    (void)u;
    add_dims(indices, 0, indices->rank - 1, dims, &rank);
    add_dims(x, 1, x->rank, dims, &rank);
    array_shape(out, x->dtype, rank, dims);
    for (int64_t i = 0; i < out->count; i++) out->data[i] = 0;
    for (int64_t e = 0; e < indices->count; e++)
        for (int64_t i = 0; i < width; i++)
            out->data[e / terms_of(indices) * width + i] +=
                w->data[e] * x->data[row_of(indices, e, x->dims[0]) * width + i];
}

/* ---- bag_spread: y, weights, indices; arg: rows ------------------------------------------------------------------ */

static void call_bag_spread(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_bag_spread(in[0], in[2], in[1], u->arg[0]);
}

static void reference_bag_spread(const cases_use *u, const array in[], array out[]) {
    const array *y = &in[0], *w = &in[1], *indices = &in[2];
    int64_t dims[ARRAY_RANK] = {u->arg[0]}, width = size_of(y, indices->rank - 1, y->rank);
    int rank = 1;
    add_dims(y, indices->rank - 1, y->rank, dims, &rank);
    array_shape(out, y->dtype, rank, dims);
    for (int64_t i = 0; i < out->count; i++) out->data[i] = 0;
    for (int64_t e = 0; e < indices->count; e++)
        for (int64_t i = 0; i < width; i++)
            out->data[row_of(indices, e, u->arg[0]) * width + i] +=
                w->data[e] * y->data[e / terms_of(indices) * width + i];
}

/* ---- bag_dots: x, y, indices ------------------------------------------------------------------------------------- */

static void call_bag_dots(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_bag_dots(in[0], in[2], in[1]);
}

static void reference_bag_dots(const cases_use *u, const array in[], array out[]) {
    const array *x = &in[0], *y = &in[1], *indices = &in[2];
    const int64_t width = size_of(x, 1, x->rank);
    (void)u;
    array_shape(out, x->dtype, indices->rank, indices->dims);
    for (int64_t e = 0; e < indices->count; e++) {
        out->data[e] = 0;
        for (int64_t i = 0; i < width; i++)
            out->data[e] +=
                x->data[row_of(indices, e, x->dims[0]) * width + i] * y->data[e / terms_of(indices) * width + i];
    }
}

/* ---- the rows ---------------------------------------------------------------------------------------------------- */

/* Rows shorter than a vector, of a vector and more, of none; bags of several axes and of none; entries of none. */
static const cases_form bag_forms[] = {{"[3] [2] i64[2]", {0}},
                                       {"[2,3] [4,2] i64[4,2]", {0}},
                                       {"[2,9] [3,2] i64[3,2]", {0}},
                                       {"[2,18] [2,3] i32[2,3]", {0}},
                                       {"[2,2,2] [2,2,3] i64[2,2,3]", {0}},
                                       {"[2,0] [3,2] i64[3,2]", {0}},
                                       {"[2,3] [2,0] i64[2,0]", {0}},
                                       {"[2,3] [0,2] i64[0,2]", {0}},
                                       {"[2,7] [12,4] i64[12,4]", {0}},
                                       {"[9] [3] u8[3]", {0}},
                                       CASES_END};
static const cases_wrong bag_wrong[] = {{"[3,2] [2] f64[2]", LAM_ERR_DTYPE, {0}},
                                        {"[3,2] [2,2] i64[2]", LAM_ERR_SHAPE, {0}},
                                        {"[3,2] [2,3] i64[2,2]", LAM_ERR_SHAPE, {0}},
                                        {"[1,2] [5] i64[5]", LAM_ERR_INDEX, {0}},
                                        {"[] [2] i64[2]", LAM_ERR_RANK, {0}},
                                        {"[3,2] [] i64[]", LAM_ERR_RANK, {0}},
                                        CASES_WRONG_END};
static const cases_form spread_forms[] = {
    {"[] [2] i64[2]", {3}},         {"[4,3] [4,2] i64[4,2]", {2}},       {"[3,9] [3,2] i64[3,2]", {2}},
    {"[2,18] [2,3] i32[2,3]", {3}}, {"[2,2,2] [2,2,3] i64[2,2,3]", {2}}, {"[3,0] [3,2] i64[3,2]", {2}},
    {"[2,3] [2,0] i64[2,0]", {0}},  {"[0,3] [0,2] i64[0,2]", {2}},       CASES_END};
static const cases_wrong spread_wrong[] = {
    {"[2,3] [2,2] f64[2,2]", LAM_ERR_DTYPE, {3}}, {"[2,3] [3] i64[2,2]", LAM_ERR_SHAPE, {3}},
    {"[3,3] [2,2] i64[2,2]", LAM_ERR_SHAPE, {3}}, {"[2,3] [2,3] i64[2,3]", LAM_ERR_INDEX, {1}},
    {"[] [2,2] i64[2,2]", LAM_ERR_SHAPE, {3}},    {"[2,3] [2,2] i64[2,2]", LAM_ERR_VALUE, {-1}},
    {"[] [] i64[]", LAM_ERR_RANK, {3}},           CASES_WRONG_END};
static const cases_form dots_forms[] = {
    {"[3] [] i64[2]", {0}},          {"[2,3] [4,3] i64[4,2]", {0}},     {"[2,9] [3,9] i64[3,2]", {0}},
    {"[2,37] [2,37] i32[2,3]", {0}}, {"[2,2,2] [2,2,2] i64[2,3]", {0}}, {"[2,0] [3,0] i64[3,2]", {0}},
    {"[2,3] [2,3] i64[2,0]", {0}},   {"[2,3] [0,3] i64[0,2]", {0}},     CASES_END};
static const cases_wrong dots_wrong[] = {{"[3,2] [2,2] f64[2,2]", LAM_ERR_DTYPE, {0}},
                                         {"[3,2] [2] i64[2,2]", LAM_ERR_SHAPE, {0}},
                                         {"[3,2] [3,2] i64[2,2]", LAM_ERR_SHAPE, {0}},
                                         {"[3,2] [2,3] i64[2,2]", LAM_ERR_SHAPE, {0}},
                                         {"[1,2] [2,2] i64[2,5]", LAM_ERR_INDEX, {0}},
                                         {"[] [2] i64[2,2]", LAM_ERR_RANK, {0}},
                                         CASES_WRONG_END};

/* Indices name the first and the last two rows. */
#define NEAR .domain = {{0, 0}, {0, 0}, {-2, 2}}, .ulps = 4, .normwise = true

const cases_row cases_bag[] = {
    {.name = "embedding_bag",
     .call = call_embedding_bag,
     .reference = reference_embedding_bag,
     .forms = bag_forms,
     .wrong = bag_wrong,
     NEAR,
     .least_rank = 1},
    {.name = "bag_spread",
     .call = call_bag_spread,
     .reference = reference_bag_spread,
     .forms = spread_forms,
     .wrong = spread_wrong,
     NEAR},
    {.name = "bag_dots",
     .call = call_bag_dots,
     .reference = reference_bag_dots,
     .forms = dots_forms,
     .wrong = dots_wrong,
     NEAR,
     .least_rank = 1},
    {.name = NULL},
};
