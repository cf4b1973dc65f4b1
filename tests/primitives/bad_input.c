/* Bad and extreme input, counted: each primitive against each kind of wrong argument that it can be given. Which kinds
 * those are is derived: from the parameters and the docstring of the public operation, and from operands that are
 * changed one at a time in dtype, rank and size. A failure must have a status that fits the change and name the
 * primitive; nothing may crash. Extreme are tensors of the highest rank and of more elements than fit in 31 bits. */
#include "lib/primitives/rows.h"

#include "tests/primitives/documented.h"
#include "tests/primitives/probe.h"

#include <lamina/extend.h>

static const lam_primitive *primitive_at(int i) {
    return lam_primitives()[i];
}

static int primitives_count(void) {
    int n = 0;
    while (primitive_at(n)) n++;
    return n;
}

/* Calls visit for each row of the primitive. */
static int each_row(const lam_primitive *p, void (*visit)(const cases_row *row)) {
    int rows = 0;
    for (int i = 0; cases_at(i); i++)
        if (strcmp(cases_at(i)->name, p->name) == 0) {
            visit(cases_at(i));
            rows++;
        }
    return rows;
}

/* ---- what the documentation promises is provoked ----------------------------------------------------------------- */

static unsigned long long provoked;

static void collect(const cases_row *row) {
    for (const cases_wrong *w = row->wrong; w && w->operands; w++) provoked |= DOCUMENTED_BIT(w->status);
    for (int i = 0; i < 2; i++)
        if (row->wrong_calls[i].operands) provoked |= DOCUMENTED_BIT(row->wrong_calls[i].status);
}

/* What happens anywhere, and has tests of its own: failures of memory and of rules; calls with no
 * tensor at all, which belong to no context. */
#define ELSEWHERE                                                                                                      \
    (DOCUMENTED_BIT(LAM_ERR_MEMORY) | DOCUMENTED_BIT(LAM_ERR_RULE) | DOCUMENTED_BIT(LAM_ERR_NULL) |                    \
     DOCUMENTED_BIT(LAM_ERR_ARITY))

START_TEST(documented_failures_are_provoked_by_a_row) {
    const lam_primitive *p = primitive_at(_i);
    provoked = 0;
    each_row(p, collect);
    unsigned long long said = documented_failures(p->name) & ~ELSEWHERE;
    for (int s = 0; s < 64; s++) {
        ck_assert_msg(!(said >> s & 1u) || (provoked >> s & 1u),
                      "no wrong row of '%s' gives %s, which lam_%s documents", p->name, lam_status_name((lam_status)s),
                      p->name);
        ck_assert_msg(!(provoked & ~ELSEWHERE & ~said & DOCUMENTED_BIT(s)),
                      "a row of '%s' gives %s, which lam_%s does not document", p->name, lam_status_name((lam_status)s),
                      p->name);
    }
}
END_TEST

/* A parameter that can be wrong, and the failures of which the docstring must name one. */
static const struct {
    const char *parameter;
    lam_status one_of[5];
} parameters[] = {
    {"int axis", {LAM_ERR_AXIS}},
    {"lam_axes", {LAM_ERR_AXIS}},
    {"reduce_options", {LAM_ERR_AXIS}},
    {"lam_index_mode", {LAM_ERR_OPTION}},
    {"*indices", {LAM_ERR_INDEX}},
    {"lam_dtype", {LAM_ERR_DTYPE}},
    {"lam_dims", {LAM_ERR_VALUE, LAM_ERR_SHAPE, LAM_ERR_OVERFLOW}},
    {"int64_t", {LAM_ERR_VALUE, LAM_ERR_SHAPE, LAM_ERR_AXIS, LAM_ERR_OPTION}},
    {"_options", {LAM_ERR_AXIS, LAM_ERR_OPTION, LAM_ERR_SHAPE, LAM_ERR_RANK, LAM_ERR_DTYPE}},
    {"lam_list", {LAM_ERR_ARITY}},
    {", lam_tensor *", {LAM_ERR_SHAPE, LAM_ERR_RANK, LAM_ERR_DTYPE}},
};

START_TEST(what_can_be_wrong_is_documented) {
    const char *name = primitive_at(_i)->name;
    unsigned long long said = documented_failures(name);
    for (size_t k = 0; k < sizeof parameters / sizeof parameters[0]; k++) {
        unsigned long long wanted = 0;
        for (int s = 0; s < 5; s++) wanted |= DOCUMENTED_BIT(parameters[k].one_of[s]) & ~DOCUMENTED_BIT(LAM_OK);
        /* Options that are numbers, any of which will do, are never wrong. */
        const bool taken = documented_takes(name, parameters[k].parameter) && strcmp(name, "nan_to_num") != 0;
        ck_assert_msg(!taken || (said & wanted), "lam_%s takes '%s' and does not say how a wrong one fails", name,
                      parameters[k].parameter);
    }
}
END_TEST

/* ---- operands changed one at a time ------------------------------------------------------------------------------ */

/* What the calls of one primitive came to. */
static struct { int worked, refused; } tally;

/* The call worked, or failed with one of these statuses or a documented one, naming the primitive. Rows that put
 * operands together from parts may fail in doing so. */
static void judge(const probe *p, lam_tensor *out, unsigned long long allowed, const char *what, int operand) {
    lam_status status = lam_status_of(ctx);
    const char *name = p->use.row->name;
    if (status == LAM_OK) {
        PROBE_CHECK(p, !lam_failed(out), "%s of operand %d: failed without a record", what, operand);
        tally.worked++;
        return;
    }
    bool parts = cases_of_parts(p->use.row);
    allowed |= documented_failures(name) | (parts ? DOCUMENTED_BIT(LAM_ERR_INDEX) : 0);
    PROBE_CHECK(p, lam_failed(out), "%s of operand %d: a failure gives a result", what, operand);
    PROBE_CHECK(p, DOCUMENTED_BIT(status) & allowed, "%s of operand %d: status %s", what, operand,
                lam_status_name(status));
    PROBE_CHECK(p, strstr(lam_error(ctx), name) || parts, "%s of operand %d: the message does not name the primitive",
                what, operand);
    PROBE_CHECK(p, strstr(lam_error(ctx), "remedy: "), "%s of operand %d: the message says no remedy", what, operand);
    lam_clear_error(ctx);
    tally.refused++;
}

static void call_with(const probe *p, int i, lam_tensor *x, unsigned long long allowed, const char *what) {
    lam_tensor *in[CASES_OPERANDS], *out[CASES_OUTPUTS];
    for (int k = 0; k < p->inputs; k++) in[k] = k == i ? x : p->x[k];
    cases_call(&p->use, in, out);
    judge(p, out[0], allowed, what, i);
}

#define LAYOUT_FAILURES                                                                                                \
    (DOCUMENTED_BIT(LAM_ERR_SHAPE) | DOCUMENTED_BIT(LAM_ERR_RANK) | DOCUMENTED_BIT(LAM_ERR_AXIS) |                     \
     DOCUMENTED_BIT(LAM_ERR_VALUE))

static void visit_dtypes(probe *p) {
    for (int i = 0; i < p->inputs; i++)
        for (int d = 0; d < LAM_DTYPE_COUNT; d++) {
            if (d == (int)p->in[i].dtype) continue;
            call_with(p, i, lam_cast(p->x[i], (lam_dtype)d), DOCUMENTED_BIT(LAM_ERR_DTYPE), "another dtype");
        }
}

static lam_tensor *with_axes_in_front(const array *like, lam_tensor *x, int n) {
    int64_t dims[LAM_MAX_RANK];
    for (int i = 0; i < n + like->rank; i++) dims[i] = i < n ? 1 : like->dims[i - n];
    return lam_reshape(x, (lam_dims){n + like->rank, dims});
}

static void visit_ranks(probe *p) {
    for (int i = 0; i < p->inputs; i++) {
        call_with(p, i, with_axes_in_front(&p->in[i], p->x[i], 1), LAYOUT_FAILURES, "one axis more");
        call_with(p, i, lam_reshape(p->x[i], LAM_DIMS(p->in[i].count)), LAYOUT_FAILURES, "all axes as one");
        call_with(p, i, lam_ones_like(lam_cast(lam_scalar(ctx, 1), p->in[i].dtype)), LAYOUT_FAILURES, "rank 0");
    }
}

/* Each axis of each operand in turn without elements, and with one more of them. */
static void visit_sizes(probe *p) {
    for (int i = 0; i < p->inputs; i++)
        for (int axis = 0; axis < p->in[i].rank; axis++) {
            lam_tensor *x = p->x[i], *more = x;
            if (p->in[i].dims[axis] > 0) more = lam_concatenate(LAM_LIST(x, lam_slice_axis(x, axis, 0, 1)), axis);
            call_with(p, i, lam_slice_axis(x, axis, 0, 0), LAYOUT_FAILURES, "an axis without elements");
            call_with(p, i, more, LAYOUT_FAILURES, "an axis longer by one");
        }
}

static void change_dtypes(const cases_row *row) {
    probe_each(row, PLAIN, visit_dtypes);
}

static void change_ranks(const cases_row *row) {
    probe_each(row, PLAIN, visit_ranks);
}

static void change_sizes(const cases_row *row) {
    probe_each(row, PLAIN, visit_sizes);
}

static void (*const changes[])(const cases_row *row) = {change_dtypes, change_ranks, change_sizes};

enum { CHANGES = sizeof changes / sizeof changes[0] };

START_TEST(operands_of_other_types_work_or_are_refused) {
    tally.worked = tally.refused = 0;
    each_row(primitive_at(_i / CHANGES), changes[_i % CHANGES]);
    ck_assert_int_gt(tally.worked + tally.refused, 0);
}
END_TEST

/* ---- the highest rank -------------------------------------------------------------------------------------------- */

static const lam_primitive *tried;

/* All operands with axes in front up to the highest rank: the same elements, whatever the operation does on the last
 * axes; axes that are counted from the front are other ones then. Then each operand alone. */
static void visit_high_rank(probe *p) {
    lam_tensor *in[CASES_OPERANDS], *out[CASES_OUTPUTS], *usual[CASES_OUTPUTS];
    for (int i = 0; i < p->inputs; i++) {
        in[i] = with_axes_in_front(&p->in[i], p->x[i], LAM_MAX_RANK - p->in[i].rank);
        call_with(p, i, in[i], LAYOUT_FAILURES, "the highest rank");
    }
    cases_call(&p->use, in, out);
    judge(p, out[0], LAYOUT_FAILURES, "the highest rank everywhere", 0);
    if (!tried->elementwise || cases_of_parts(p->use.row)) return;
    cases_call(&p->use, p->x, usual);
    PROBE_CHECK(p, lam_rank(out[0]) == LAM_MAX_RANK && lam_size(out[0]) == lam_size(usual[0]), "other dims");
    expect_same(__LINE__, lam_reshape(out[0], LAM_DIMS(lam_size(out[0]))),
                lam_reshape(usual[0], LAM_DIMS(lam_size(usual[0]))), 0);
}

/* Operations whose operands are of two ranks, or whose numbers count axes: by hand. */
static lam_tensor *high(lam_dtype dtype, int64_t last, double value) {
    int64_t dims[LAM_MAX_RANK];
    for (int i = 0; i < LAM_MAX_RANK; i++) dims[i] = i < LAM_MAX_RANK - 1 ? 1 : last;
    return lam_full(ctx, dtype, (lam_dims){LAM_MAX_RANK, dims}, value);
}

static const int64_t zeros[LAM_MAX_RANK], ends[LAM_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2};
static const lam_dims from = {LAM_MAX_RANK, zeros}, to = {LAM_MAX_RANK, ends};

static lam_tensor *high_slice(void) {
    return lam_slice(high(LAM_F64, 4, 3), from, to, LAM_DIMS0);
}

static lam_tensor *high_update_slice(void) {
    lam_tensor *x = lam_update_slice(high(LAM_F64, 4, 1), lam_scalar(ctx, 3), from, to, LAM_DIMS0);
    return lam_slice(x, from, to, LAM_DIMS0);
}

static lam_tensor *high_complex(void) {
    return lam_imag(lam_complex(lam_scalar(ctx, 0), high(LAM_F64, 2, 3)));
}

#if defined(LAM__HAVE_FFTW)
static lam_tensor *high_rfft(void) {
    return lam_real(lam_rfft(high(LAM_F64, 2, 3), &(lam_fft_options){.axes = LAM_AXES(0)}));
}
#endif

/* Keys of rank 16 and data of rank 15, as one key and one number alone. */
static lam_tensor *high_fold_in(void) {
    int64_t dims[LAM_MAX_RANK - 1];
    for (int i = 0; i < LAM_MAX_RANK - 1; i++) dims[i] = 1;
    lam_tensor *in[2] = {high(LAM_I64, 2, 7), lam_full(ctx, LAM_I64, (lam_dims){LAM_MAX_RANK - 1, dims}, 9)}, *out;
    lam_bind(ctx, &lam__row_fold_in, NULL, 0, (lam_list){2, in}, &out, 1);
    lam_tensor *same = lam_eq(lam_reshape(out, LAM_DIMS(2)), lam_fold_in(lam_full(ctx, LAM_I64, LAM_DIMS(2), 7), 9));
    return lam_where(lam_reshape(same, lam_dims_of(out)), high(LAM_F64, 2, 3), 0.0);
}

static const struct {
    const char *name;
    lam_tensor *(*make)(void); /* rank 16, two elements: each 3 */
} by_hand[] = {
    {"slice", high_slice}, {"update_slice", high_update_slice}, {"complex", high_complex}, {"fold_in", high_fold_in},
#if defined(LAM__HAVE_FFTW)
    {"rfft", high_rfft},
#endif
};

enum { BY_HAND = sizeof by_hand / sizeof by_hand[0] };

static bool is_by_hand(const char *name) {
    for (int i = 0; i < BY_HAND; i++)
        if (strcmp(by_hand[i].name, name) == 0) return true;
    return false;
}

START_TEST(the_highest_rank_by_hand) {
    lam_tensor *out = by_hand[_i].make();
    if (!lam_failed(out)) ck_assert_int_eq(lam_rank(out), LAM_MAX_RANK);
    EXPECT(lam_reshape(out, LAM_DIMS(2)), LAM_DIMS(2), 3, 3);
}
END_TEST

static void raise_rank(const cases_row *row) {
    probe_each(row, PLAIN, visit_high_rank);
}

START_TEST(the_highest_rank_is_possible) {
    tried = primitive_at(_i);
    tally.worked = tally.refused = 0;
    each_row(tried, raise_rank);
    bool limited = documented_failures(tried->name) & DOCUMENTED_BIT(LAM_ERR_RANK);
    ck_assert_msg(tally.worked > 0 || limited || is_by_hand(tried->name), "'%s' works at no form of rank %d",
                  tried->name, LAM_MAX_RANK);
}
END_TEST

/* ---- more than 2^31 elements ------------------------------------------------------------------------------------- */

BODY(body_of_row) {
    cases_call(&((const probe *)env)->use, in, out);
}

/* The form for 2^31 + 8 examples that are one in memory, under a limit of 16 MB: what is a view works, and what would
 * need memory for each example is refused before it is touched. */
static void visit_many(probe *p) {
    static const int64_t n = ((int64_t)1 << 31) + 8;
    lam_ctx *outside = ctx;
    lam_tensor *in[CASES_OPERANDS], *out[CASES_OUTPUTS];
    ctx = lam_ctx_new(&(lam_ctx_options){.memory_limit = 16 << 20});
    for (int i = 0; i < p->inputs; i++) {
        int64_t dims[ARRAY_RANK + 1] = {n};
        memcpy(dims + 1, p->in[i].dims, sizeof p->in[i].dims);
        in[i] = lam_broadcast_to(array_tensor(ctx, &p->in[i], PLAIN), (lam_dims){p->in[i].rank + 1, dims});
    }
    lam_fn *f = lam_fn_new(
        ctx, &(lam_fn_options){
                 .name = p->use.row->name, .body = body_of_row, .inputs = p->inputs, .outputs = p->outputs, .env = p});
    lam_status status = lam_call(lam_vmap(f, NULL), (lam_list){(size_t)p->inputs, in}, out, (size_t)p->outputs);
    bool named = status == LAM_OK || strstr(lam_error(ctx), p->use.row->name);
    for (int o = 0; status == LAM_OK && o < p->outputs; o++)
        probe_same(p, "the last example of output", o, lam_index(out[o], 0, n - 1), &p->out[o], 64 * p->epsilon, 1);
    PROBE_CHECK(p, status == LAM_OK || status == LAM_ERR_MEMORY, "status %s", lam_status_name(status));
    PROBE_CHECK(p, named, "the message does not name the primitive");
    tally.worked += status == LAM_OK;
    tally.refused += status != LAM_OK;
    lam_ctx_free(ctx);
    ctx = outside;
}

static void make_many(const cases_row *row) {
    probe_each(row, PLAIN, visit_many);
}

START_TEST(more_examples_than_31_bits_can_count) {
    tried = primitive_at(_i);
    tally.worked = tally.refused = 0;
    each_row(tried, make_many);
    ck_assert_msg(tally.worked > 0 || !tried->view, "'%s' is a view and does not work on them", tried->name);
    ck_assert_int_gt(tally.worked + tally.refused, 0);
}
END_TEST

Suite *suite_primitives_bad_input(void) {
    Suite *suite = suite_of("primitives/bad_input", NULL, 0);
    suite_loop(suite, documented_failures_are_provoked_by_a_row, primitives_count());
    suite_loop(suite, what_can_be_wrong_is_documented, primitives_count());
    suite_loop(suite, operands_of_other_types_work_or_are_refused, primitives_count() * CHANGES);
    suite_loop(suite, the_highest_rank_is_possible, primitives_count());
    suite_loop(suite, the_highest_rank_by_hand, BY_HAND);
    suite_loop(suite, more_examples_than_31_bits_can_count, primitives_count());
    return suite;
}
