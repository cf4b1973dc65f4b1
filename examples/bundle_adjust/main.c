/* bundle_adjust: cameras and points from where the cameras see the points.
 *
 *     bundle_adjust [--iterations N] [--quiet] [--result FILE] [--write FILE] [--seed N] [FILE]
 *
 * FILE holds a problem in the format of the "Bundle Adjustment in the Large" data sets; without one, a synthetic scene
 * is made, which --seed chooses. --write saves the problem as it is at the start, --result with what came of it, both
 * in that format. --quiet leaves out the line for each iteration. The derivatives and the dense solves come from Lamina
 * (projection.c, normal.c). Whatever goes wrong is one line on stderr: exit status 1, or 2 for a command line that
 * makes no sense. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adjust.h"
#include "scene.h"

#define OPTIONS "--iterations N, --quiet, --result FILE, --write FILE, --seed N"

typedef struct command {
    const char *file, *write, *result; /* NULL: not given */
    const char *seed;                  /* NULL: 1 */
    int64_t iterations;
    bool is_quiet;
} command;

static bool complain(const char *subject, const char *what) {
    fprintf(stderr, "bundle_adjust: %s%s%s\n", subject, *subject ? ": " : "", what);
    return false;
}

/* ---- the report ---- */

static void print_state(void *env, const adjust_state *state) {
    (void)env;
    if (state->iteration == 0) printf("%9s  %16s  %12s  %8s\n", "iteration", "cost", "RMS, pixels", "damping");
    printf("%9" PRId64 "  %16.9e  %12.6f  %8.1e%s\n", state->iteration, state->cost, state->rms, state->damping,
           state->is_rejected ? "  step rejected" : "");
    fflush(stdout); /* a line when it happens, also into a pipe */
}

static void print_problem(const command *c, const problem *p) {
    printf("%s: %" PRId64 " cameras, %" PRId64 " points, %" PRId64 " observations\n",
           c->file ? c->file : "synthetic scene", p->cameras, p->points, p->observations);
}

static void print_result(const command *c, const problem *p, const adjust_result *r) {
    printf("%s after %" PRId64 " iterations: cost %.12e to %.12e, RMS %.6f to %.6f pixels\n", r->ending,
           r->last.iteration, r->first.cost, r->last.cost, r->first.rms, r->last.rms);
    if (!c->file)
        printf("expected from the noise of %.1f pixels in the pictures: RMS %.6f\n", SCENE_NOISE,
               scene_expected_rms(p));
}

/* ---- the command ---- */

static bool run(const command *c, problem *p) {
    adjust_result result;
    adjust_options options = {.iterations = c->iterations, .report = c->is_quiet ? NULL : print_state};
    if (!(c->file ? problem_read(p, c->file) : scene_make(p, strtoull(c->seed ? c->seed : "1", NULL, 10))))
        return complain("", p->error);
    if (c->write && !problem_write(p, c->write)) return complain("", p->error);
    print_problem(c, p);
    if (!adjust_run(p, &options, &result)) return complain(c->file ? c->file : "synthetic scene", result.error);
    print_result(c, p, &result);
    return !c->result || problem_write(p, c->result) || complain("", p->error);
}

/* A whole number, not negative; the word must be nothing else. */
static bool number_parse(const char *word, int64_t *number) {
    char *end;
    errno = 0;
    *number = strtoll(word, &end, 10);
    return *word >= '0' && *word <= '9' && !*end && !errno;
}

/* The place for the value of an option that has one, or NULL. */
static const char **option_value(command *c, const char *name, const char **iterations) {
    if (strcmp(name, "--iterations") == 0) return iterations;
    if (strcmp(name, "--write") == 0) return &c->write;
    if (strcmp(name, "--result") == 0) return &c->result;
    if (strcmp(name, "--seed") == 0) return &c->seed;
    return NULL;
}

static bool command_parse(command *c, int argc, char **argv) {
    const char *iterations = "50";
    int64_t seed;
    for (int i = 1; i < argc; i++) {
        const char **value = option_value(c, argv[i], &iterations);
        if (value && i + 1 == argc) return complain(argv[i], "a value is missing");
        if (value) *value = argv[++i];
        else if (strcmp(argv[i], "--quiet") == 0) c->is_quiet = true;
        else if (argv[i][0] == '-') return complain(argv[i], "no such option; there are " OPTIONS);
        else if (c->file) return complain(argv[i], "only one file at a time");
        else c->file = argv[i];
    }
    if (!number_parse(iterations, &c->iterations)) return complain(iterations, "no number of iterations");
    if (c->seed && !number_parse(c->seed, &seed)) return complain(c->seed, "no seed: a whole number is needed");
    return !(c->seed && c->file) || complain("--seed", "is for the scene that is made without a file");
}

int main(int argc, char **argv) {
    command c = {0};
    problem p = {0};
    if (!command_parse(&c, argc, argv)) return 2;
    bool done = run(&c, &p);
    problem_free(&p);
    if (fflush(stdout) != 0) done = complain("", "cannot write the report");
    return done ? 0 : 1;
}
