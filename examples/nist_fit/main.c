/* nist_fit: fits the models of the NIST Statistical Reference Datasets for nonlinear regression.
 *
 *     nist_fit [--start 1|2] [--model SET] [--plot FILE.svg] FILE     one fit, printed in full
 *     nist_fit --all DIR                                              every set of DIR from both starts, summed up
 *
 * The derivatives come from Lamina (models.c, curve.c); the reader, the fit and the report know nothing of it.
 * Whatever goes wrong is one line on stderr: exit status 1, or 2 for a command line that makes no sense. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "curve.h"
#include "dataset.h"
#include "fit.h"
#include "report.h"
#include "svg.h"

#define USAGE "usage: nist_fit [--start 1|2] [--model SET] [--plot FILE.svg] FILE, or nist_fit --all DIR"

enum { PLOT_POINTS = 500 };

typedef struct command {
    const char *file, *directory, *model, *plot; /* NULL: not given */
    int start;                                   /* 1 or 2 */
} command;

/* A data set with its model, ready to be fitted. */
typedef struct task {
    dataset set; /* the response is in the model's terms: its logarithm where the model has that */
    const model *row;
    curve over_data;
} task;

typedef struct estimate {
    double parameters[DATASET_MAX_PARAMETERS], deviations[DATASET_MAX_PARAMETERS];
    fit_result result; /* points to the two above */
} estimate;

/* ---- tasks ---- */

static bool complain(const char *subject, const char *what) {
    fprintf(stderr, "nist_fit: %s%s%s\n", subject, *subject ? ": " : "", what);
    return false;
}

static bool model_fits(const char *path, const dataset *set, const model *row) {
    char text[160];
    if (row->parameters == set->parameters && row->predictors == set->predictors) return true;
    snprintf(text, sizeof text, "the model of %s has %d parameters and %d predictors, the file has %d and %d", row->set,
             row->parameters, row->predictors, set->parameters, set->predictors);
    return complain(path, text);
}

static bool response_transform(const char *path, task *t) {
    for (int i = 0; t->row->has_log_response && i < t->set.observations; i++) {
        if (t->set.y[i] <= 0) return complain(path, "the model takes the logarithm of a response that is not positive");
        t->set.y[i] = log(t->set.y[i]);
    }
    return true;
}

/* task_close is due in either case. model_name NULL: the model of the data set's own name. */
static bool task_open(task *t, const char *path, const char *model_name) {
    *t = (task){0};
    if (!dataset_read(&t->set, path)) return complain("", t->set.error);
    t->row = model_of(model_name ? model_name : t->set.name);
    if (!t->row) {
        char text[128];
        snprintf(text, sizeof text, "unknown model '%.64s'", model_name ? model_name : t->set.name);
        return complain(path, text);
    }
    if (!model_fits(path, &t->set, t->row) || !response_transform(path, t)) return false;
    if (!curve_open(&t->over_data, t->row, t->set.observations, t->set.x))
        return complain(path, curve_error(&t->over_data));
    return true;
}

static void task_close(task *t) {
    curve_close(&t->over_data);
    dataset_free(&t->set);
}

/* start is 1 or 2. Without an estimate: false, and the reason in e->result.failure. */
static bool task_fit(task *t, int start, estimate *e) {
    memcpy(e->parameters, t->set.start[start - 1], sizeof e->parameters);
    e->result = (fit_result){.parameters = e->parameters, .deviations = e->deviations};
    const fit_problem problem = {.observations = t->set.observations,
                                 .parameters = t->set.parameters,
                                 .y = t->set.y,
                                 .evaluate = curve_evaluate,
                                 .env = &t->over_data};
    return fit_run(&problem, &e->result);
}

/* ---- the plot ---- */

/* Whether an earlier observation has the same further predictors (x2, ...) as observation i: then they share a curve.
 * With one predictor, all observations do. */
static bool has_curve(const dataset *set, int i) {
    int k = set->predictors;
    for (int j = 0; j < i; j++)
        if (memcmp(set->x + j * k + 1, set->x + i * k + 1, (size_t)(k - 1) * sizeof *set->x) == 0) return true;
    return false;
}

/* Draws the model over x1, with the further predictors of observation i. */
static bool plot_curve(svg *plot, const task *t, const double *b, int i, int color) {
    double x[PLOT_POINTS * DATASET_MAX_PREDICTORS], y[PLOT_POINTS];
    int k = t->set.predictors;
    for (int p = 0; p < PLOT_POINTS; p++) {
        memcpy(x + p * k, t->set.x + i * k, (size_t)k * sizeof *x);
        x[p * k] = plot->x.low + (plot->x.high - plot->x.low) * p / (PLOT_POINTS - 1);
    }
    curve c;
    bool done = curve_open(&c, t->row, PLOT_POINTS, x) && curve_evaluate(&c, b, y, NULL);
    if (done) svg_curve(plot, PLOT_POINTS, x, k, y, color);
    else complain(t->set.name, curve_error(&c));
    curve_close(&c);
    return done;
}

static svg_range first_predictor_range(const dataset *set) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < set->observations; i++) {
        low = fmin(low, set->x[i * set->predictors]);
        high = fmax(high, set->x[i * set->predictors]);
    }
    return svg_range_of(2, (double[]){low, high});
}

static bool plot_write(const char *path, const task *t, const double *b) {
    const dataset *set = &t->set;
    svg plot;
    char title[128];
    snprintf(title, sizeof title, "%s: data and fitted curve", set->name);
    if (!svg_begin(&plot, path, first_predictor_range(set), svg_range_of(set->observations, set->y), title,
                   set->predictors > 1 ? "x1" : "x", t->row->has_log_response ? "log y" : "y"))
        return complain(path, strerror(errno));
    bool done = true;
    for (int i = 0, color = 0; i < set->observations && done; i++)
        if (!has_curve(set, i)) done = plot_curve(&plot, t, b, i, color++);
    svg_points(&plot, set->observations, set->x, set->predictors, set->y);
    bool is_written = svg_end(&plot);
    return done && (is_written || complain(path, "cannot be written"));
}

/* ---- the two commands ---- */

static bool run_file(const command *c) {
    task t;
    estimate e;
    bool done = task_open(&t, c->file, c->model);
    if (done && !task_fit(&t, c->start, &e)) {
        const char *reason = curve_error(&t.over_data);
        done = complain(c->file, *reason ? reason : e.result.failure);
    }
    if (done) report_fit(stdout, &t.set, c->start, &e.result);
    if (done && c->plot) done = plot_write(c->plot, &t, e.parameters);
    task_close(&t);
    return done;
}

typedef struct summary {
    int sets, failures;                                 /* fits without an estimate */
    int with_9[DATASET_STARTS], with_6[DATASET_STARTS]; /* sets with as many digits of every parameter */
} summary;

/* Fits one set from all starts, prints its row and counts. false: the set cannot be read. */
static bool summary_add(summary *sum, const char *path) {
    task t;
    estimate e[DATASET_STARTS];
    fit_result results[DATASET_STARTS];
    bool done = task_open(&t, path, NULL);
    for (int s = 0; s < DATASET_STARTS && done; s++) {
        sum->failures += !task_fit(&t, s + 1, &e[s]);
        results[s] = e[s].result;
        double digits = report_digits_all(&t.set, &results[s]).parameters;
        sum->with_9[s] += digits >= 9;
        sum->with_6[s] += digits >= 6;
    }
    sum->sets += done;
    if (done) report_summary_row(stdout, &t.set, results);
    task_close(&t);
    return done;
}

static bool run_all(const char *directory) {
    summary sum = {0};
    report_summary_title(stdout);
    for (const model *row; (row = model_at((size_t)sum.sets));) {
        char path[4096];
        int length = snprintf(path, sizeof path, "%s/%s.dat", directory, row->set);
        if (length < 0 || (size_t)length >= sizeof path) return complain("", "the name of the directory is too long");
        if (!summary_add(&sum, path)) return false;
    }
    putchar('\n');
    for (int s = 0; s < DATASET_STARTS; s++)
        printf("start %d: at least 9 digits of every parameter on %d of %d sets, at least 6 on %d\n", s + 1,
               sum.with_9[s], sum.sets, sum.with_6[s]);
    return sum.failures == 0;
}

/* ---- the command line ---- */

/* The place for the value of an option that has one, or NULL. */
static const char **option_value(command *c, const char *name, const char **start) {
    if (strcmp(name, "--start") == 0) return start;
    if (strcmp(name, "--model") == 0) return &c->model;
    if (strcmp(name, "--plot") == 0) return &c->plot;
    if (strcmp(name, "--all") == 0) return &c->directory;
    return NULL;
}

static bool command_parse(command *c, int argc, char **argv) {
    const char *start = "2";
    for (int i = 1; i < argc; i++) {
        const char **value = option_value(c, argv[i], &start);
        if (!value && argv[i][0] == '-') return complain(argv[i], "no such option; " USAGE);
        if (value && i + 1 == argc) return complain(argv[i], "a value is missing");
        if (!value && c->file) return complain(argv[i], "only one file at a time");
        if (value) *value = argv[++i];
        else c->file = argv[i];
    }
    if (strcmp(start, "1") != 0 && strcmp(start, "2") != 0) return complain(start, "the start is 1 or 2");
    c->start = start[0] - '0';
    if (c->directory && (c->file || c->model || c->plot)) return complain("--all", "goes with no other argument");
    if (!c->directory && !c->file) return complain("", USAGE);
    return true;
}

int main(int argc, char **argv) {
    command c = {0};
    if (!command_parse(&c, argc, argv)) return 2;
    bool done = c.directory ? run_all(c.directory) : run_file(&c);
    if (fflush(stdout) != 0) done = complain("", "cannot write the report");
    return done ? 0 : 1;
}
