/* Runs the benchmark problems: per problem and size the medians of objective and derivative, Lamina's and those of C
 * written by hand, taken in turns in one run; their ratios; the largest difference of the derivatives; the most memory
 * that Lamina held. --check compares only, on small sizes, and fails when the results differ: that is its use as a
 * test. Nothing here asserts on time. */
#define _POSIX_C_SOURCE 200809L
#include "tests/bench/gradbench/gradbench.h"
#include "tests/bench/timing.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const gradbench_problem *const problems[] = {
    &gradbench_gmm,    &gradbench_ba,  &gradbench_lstm, &gradbench_ht,     &gradbench_lse,      &gradbench_llsq,
    &gradbench_kmeans, &gradbench_det, &gradbench_ode,  &gradbench_saddle, &gradbench_particle,
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static const double TOLERANCE = 1e-10; /* relative to the largest entry */

typedef struct options {
    const char *problem, *size; /* NULL: all */
    double seconds;             /* to spend on each measurement, about */
    bool check, json, list, all, jit;
} options;

/* One function of one problem in both forms. */
typedef struct contest {
    const gradbench_lamina *l;
    lam_fn *f;
    void (*by_hand)(const void *data, double *out);
    const void *data;
    double *result, *expected;
    int64_t count; /* doubles */
    double lamina_ns, hand_ns, difference;
} contest;

typedef struct result {
    contest objective, derivative;
    size_t peak, data; /* bytes: Lamina's most; inputs and outputs */
} result;

/* ---- one contest ------------------------------------------------------------------------------------------------- */

/* Calls the function and finds its results in memory, as C has them; they are copied out, one after the other, where
 * they are compared. False: the context has the reason. */
static bool call_lamina(contest *c, bool compare) {
    lam_ctx *ctx = c->l->ctx;
    lam_tensor *out[GRADBENCH_OUTPUTS];
    size_t outputs = (size_t)lam_fn_outputs(c->f);
    int64_t at = 0;
    lam_scope *scope = lam_scope_begin(ctx);
    lam_status status = lam_call(c->f, (lam_list){(size_t)c->l->inputs, c->l->in}, out, outputs);
    for (size_t o = 0; o < outputs && status == LAM_OK; o++) {
        int64_t size = lam_size(out[o]);
        const double *from = lam_data(lam_contiguous(out[o]));
        if (at + size > c->count)
            status = lam_status_of(
                lam_ctx_of(lam_fail(ctx, LAM_ERR_VALUE, "more results than the %lld expected", (long long)c->count)));
        else if (from && compare) memcpy(c->result + at, from, (size_t)size * sizeof(double));
        at += size;
    }
    lam_scope_end(scope, NULL, 0);
    return lam_status_of(ctx) == LAM_OK && at == c->count;
}

static double difference(const contest *c) {
    double largest = 0, apart = 0;
    for (int64_t i = 0; i < c->count; i++) {
        largest = fmax(largest, fabs(c->expected[i]));
        double d = fabs(c->result[i] - c->expected[i]);
        if (!(d <= apart)) apart = d;
    }
    return apart / (largest > 0 ? largest : 1);
}

static double seconds_of(const options *o) {
    return o->check ? 0 : o->seconds;
}

/* CPU time of this thread, which does all the work: what else runs on a shared machine does not count. */
static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Runs both forms in turns until the time is used up, and at least three times when time is measured. */
static bool contend(contest *c, const options *o) {
    double lamina[TIMING_MOST], hand[TIMING_MOST], start = timing_now();
    int runs = 0, least = o->check ? 1 : 3;
    memset(c->result, 0, (size_t)c->count * sizeof(double));
    memset(c->expected, 0, (size_t)c->count * sizeof(double));
    if (!call_lamina(c, true)) return false; /* the first call fills the pool of memory */
    while (runs < TIMING_MOST && (runs < least || timing_now() - start < seconds_of(o) * 1e9)) {
        double began = cpu_now();
        if (!call_lamina(c, false)) return false;
        double middle = cpu_now();
        c->by_hand(c->data, c->expected);
        hand[runs] = cpu_now() - middle;
        lamina[runs++] = middle - began;
    }
    qsort(lamina, (size_t)runs, sizeof *lamina, timing_compare);
    qsort(hand, (size_t)runs, sizeof *hand, timing_compare);
    c->lamina_ns = lamina[runs / 2];
    c->hand_ns = hand[runs / 2];
    c->difference = difference(c);
    return true;
}

/* ---- one size of one problem ------------------------------------------------------------------------------------- */

static bool run_forms(gradbench_lamina *l, result *r, const options *o) {
    r->objective.f = l->objective;
    r->derivative.f = l->derivative;
    r->objective.l = r->derivative.l = l;
    if (!contend(&r->objective, o)) return false;
    lam_ctx_trim(l->ctx);
    lam_ctx_reset_peak(l->ctx);
    if (!contend(&r->derivative, o)) return false;
    r->peak = lam_ctx_peak_bytes(l->ctx);
    return true;
}

static bool run_size(const gradbench_problem *p, const gradbench_size *size, result *r, const options *o) {
    gradbench_store store = {0};
    gradbench_seed(&store, 20261121);
    void *data = p->make(&store, size, &r->objective.count, &r->derivative.count);
    r->objective.by_hand = p->objective_c;
    r->derivative.by_hand = p->derivative_c;
    r->data = store.bytes + (size_t)(r->objective.count + r->derivative.count) * sizeof(double);
    contest *both[] = {&r->objective, &r->derivative};
    for (int i = 0; i < 2; i++) {
        both[i]->data = data;
        both[i]->result = gradbench_doubles(&store, both[i]->count);
        both[i]->expected = gradbench_doubles(&store, both[i]->count);
    }
    gradbench_lamina l = {.ctx = lam_ctx_new(NULL), .compiled = o->jit};
    p->lamina(data, &l);
    if (o->jit) {
        const lam_jit_options native = {.native = true};
        l.objective = lam_jit(l.objective, &native);
        l.derivative = lam_jit(l.derivative, &native);
    }
    bool ok = run_forms(&l, r, o);
    if (ok && p->places && !p->places(data, r->derivative.result)) {
        lam_fail(l.ctx, LAM_ERR_VALUE, "entries of the derivative are not where they belong");
        ok = false;
    }
    if (!ok) fprintf(stderr, "%s %s: %s\n", p->name, size->label, lam_error(l.ctx));
    lam_ctx_free(l.ctx);
    gradbench_free(&store);
    return ok;
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static void print_head(const options *o) {
    if (o->json) printf("[");
    else if (o->check) printf("%-9s %-24s %11s\n", "problem", "size", "difference");
    else
        printf("%-9s %-24s %10s %10s %6s  %10s %10s %6s  %7s %8s %6s\n%-9s %-24s %10s %10s %6s  %10s %10s %6s  %7s %8s "
               "%6s\n",
               "problem", "size", "objective", "by hand", "ratio", "derivative", "by hand", "ratio", "apart", "peak",
               "/ data", "", "", "us", "us", "", "us", "us", "", "", "MB", "");
}

static double larger_difference(const result *r) {
    double a = r->objective.difference, b = r->derivative.difference;
    return a >= b || isnan(a) ? a : b;
}

static void print_json(const gradbench_problem *p, const gradbench_size *size, const result *r, bool first) {
    const contest *c[] = {&r->objective, &r->derivative};
    printf("%s\n {\"problem\": \"%s\", \"size\": \"%s\", \"derivative\": \"%s\"", first ? "" : ",", p->name,
           size->label, p->derivative);
    for (int i = 0; i < 2; i++)
        printf(",\n  \"%s\": {\"lamina_us\": %.3f, \"by_hand_us\": %.3f, \"ratio\": %.4f, \"difference\": %.3g}",
               i ? "of_derivative" : "of_objective", c[i]->lamina_ns / 1e3, c[i]->hand_ns / 1e3,
               c[i]->lamina_ns / c[i]->hand_ns, c[i]->difference);
    printf(",\n  \"peak_bytes\": %zu, \"data_bytes\": %zu}", r->peak, r->data);
}

static void print_row(const gradbench_problem *p, const gradbench_size *size, const result *r, const options *o) {
    const contest *v = &r->objective, *d = &r->derivative;
    if (o->check)
        printf("%-9s %-24s %11.1e%s\n", p->name, size->label, larger_difference(r),
               larger_difference(r) <= TOLERANCE ? "" : "  WRONG");
    else
        printf("%-9s %-24s %10.1f %10.1f %6.2f  %10.1f %10.1f %6.2f  %7.0e %8.2f %6.1f\n", p->name, size->label,
               v->lamina_ns / 1e3, v->hand_ns / 1e3, v->lamina_ns / v->hand_ns, d->lamina_ns / 1e3, d->hand_ns / 1e3,
               d->lamina_ns / d->hand_ns, larger_difference(r), (double)r->peak / 1e6,
               (double)r->peak / (double)r->data);
    fflush(stdout);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static bool wanted(const char *name, const char *want) {
    return !want || !strcmp(name, want);
}

/* Gives how many of the problem's results were missing or wrong; counts the rows printed in *rows. */
static int run_problem(const gradbench_problem *p, const options *o, int *rows) {
    int wrong = 0;
    for (const gradbench_size *size = p->sizes; size->label; size++) {
        if (!wanted(size->label, o->size) || (o->check && size->when != CHECKED)) continue;
        if (size->when == ASKED && !o->size && !o->all && !o->list) continue;
        if (o->list) {
            printf("%s \"%s\": %s%s\n", p->name, size->label, p->derivative,
                   size->when == ASKED ? ", if asked for" : "");
            (*rows)++;
            continue;
        }
        result r = {0};
        if (!*rows) print_head(o);
        if (isatty(2)) fprintf(stderr, "%s %s ...\033[K\r", p->name, size->label);
        bool ran = run_size(p, size, &r, o);
        if (isatty(2)) fprintf(stderr, "\033[K");
        if (ran && o->json) print_json(p, size, &r, !*rows);
        if (ran && !o->json) print_row(p, size, &r, o);
        if (!ran || !(larger_difference(&r) <= TOLERANCE)) wrong++;
        (*rows)++;
    }
    return wrong;
}

static int usage(const char *what) {
    fprintf(stderr,
            "gradbench: %s\nusage: gradbench [--list] [--all] [--check] [--jit] [--json] [--problem NAME] "
            "[--size LABEL] [--seconds S]\n",
            what);
    return 2;
}

static int parse(int argc, char **argv, options *o) {
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        char *end;
        if (!strcmp(argv[i], "--list")) o->list = true;
        else if (!strcmp(argv[i], "--all")) o->all = true;
        else if (!strcmp(argv[i], "--check")) o->check = true;
        else if (!strcmp(argv[i], "--jit")) o->jit = true;
        else if (!strcmp(argv[i], "--json")) o->json = true;
        else if (!value) return usage("an option is unknown or lacks its value");
        else if (!strcmp(argv[i], "--problem")) o->problem = argv[++i];
        else if (!strcmp(argv[i], "--size")) o->size = argv[++i];
        else if (!strcmp(argv[i], "--seconds")) {
            o->seconds = strtod(argv[++i], &end);
            if (*end || end == argv[i] || !(o->seconds >= 0)) return usage("--seconds takes a number");
        } else return usage("an option is unknown");
    }
    return 0;
}

int main(int argc, char **argv) {
    options o = {.seconds = 0.5};
    int bad = parse(argc, argv, &o), wrong = 0, rows = 0;
    if (bad) return bad;
    for (int i = 0; i < PROBLEMS; i++)
        if (wanted(problems[i]->name, o.problem)) wrong += run_problem(problems[i], &o, &rows);
    if (!rows) return usage("no such problem or size; see --list");
    if (o.json && !o.list) printf("\n]\n");
    if (wrong) fprintf(stderr, "gradbench: %d of %d results are wrong or missing\n", wrong, rows);
    return wrong != 0;
}
