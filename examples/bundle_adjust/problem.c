/* The reader goes from word to word and counts lines; what it read last is all it holds beside the problem itself.
 *
 * Every word passes integer_read or number_read, which take the whole of it or refuse it. Arrays grow by doubling while
 * their items arrive, so that a count of many billions in a short file costs nothing. The first thing that is wrong
 * becomes one line, with the item that was being read: "path:12: observation 7: ...". */
#include "problem.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64, FIRST_ROOM = 1024 };

typedef struct reader {
    problem *p;
    const char *path;
    FILE *stream;
    int64_t line;     /* of the word, from 1 */
    char word[WORD];  /* cut off if it is longer, and no number then */
    const char *item; /* what is being read: "observation" */
    int64_t number;   /* which one, from 0; negative: there is only one */
} reader;

/* ---- failure ---- */

static void message(problem *p, int used, const char *format, va_list list) {
    if (used < 0 || (size_t)used >= sizeof p->error) return; /* a very long path: it alone is the message */
    vsnprintf(p->error + used, sizeof p->error - (size_t)used, format, list);
}

/* Both give false, so that a caller can say `return fail(...)`. This one is for the file as a whole. */
static bool fail(problem *p, const char *path, const char *format, ...) {
    va_list list;
    va_start(list, format);
    message(p, snprintf(p->error, sizeof p->error, "%s: ", path), format, list);
    va_end(list);
    return false;
}

/* Names the line and the item too. */
static bool fail_here(reader *r, const char *format, ...) {
    char which[32] = "";
    if (r->number >= 0) snprintf(which, sizeof which, " %" PRId64, r->number);
    va_list list;
    va_start(list, format);
    char *to = r->p->error;
    size_t room = sizeof r->p->error;
    message(r->p, snprintf(to, room, "%s:%" PRId64 ": %s%s: ", r->path, r->line, r->item, which), format, list);
    va_end(list);
    return false;
}

/* ---- words ---- */

/* The next word; an empty one at the end of the file. */
static void word_next(reader *r) {
    int c, length = 0;
    while ((c = getc(r->stream)) != EOF && isspace(c)) r->line += c == '\n';
    for (; c != EOF && !isspace(c); c = getc(r->stream))
        if (length < WORD - 1) r->word[length++] = (char)(isprint(c) ? c : '?');
    r->word[length] = 0;
    if (c != EOF) ungetc(c, r->stream); /* a line end behind the word is not yet behind us */
}

static bool word_read(reader *r, const char *what) {
    word_next(r);
    if (*r->word) return true;
    if (ferror(r->stream)) return fail(r->p, r->path, "cannot be read (%s)", strerror(errno));
    return fail_here(r, "the file ends before %s", what);
}

static bool integer_read(reader *r, const char *what, int64_t low, int64_t high, int64_t *value) {
    if (!word_read(r, what)) return false;
    char *end = r->word;
    errno = 0;
    *value = strtoll(r->word, &end, 10);
    if (*end || end == r->word) return fail_here(r, "%s is not a whole number: '%s'", what, r->word);
    if (errno || *value < low || *value > high)
        return fail_here(r, "%s is %s, not in %" PRId64 " to %" PRId64, what, r->word, low, high);
    return true;
}

static bool number_read(reader *r, const char *what, double *value) {
    if (!word_read(r, what)) return false;
    char *end = r->word;
    *value = strtod(r->word, &end);
    if (*end || end == r->word || strlen(r->word) == WORD - 1)
        return fail_here(r, "%s is not a number: '%s'", what, r->word);
    return isfinite(*value) || fail_here(r, "%s is not finite: '%s'", what, r->word);
}

/* ---- arrays ---- */

/* Room for item number `count` of `total`: *block as it is, or a larger one. NULL: out of memory; the old one stays. */
static void *room_for(void *block, int64_t count, int64_t total, size_t bytes) {
    if (count && (count < FIRST_ROOM || (count & (count - 1)))) return block;
    int64_t room = count ? 2 * count : FIRST_ROOM;
    return realloc(block, (size_t)(room < total ? room : total) * bytes);
}

static bool observations_read(reader *r) {
    problem *p = r->p;
    r->item = "observation";
    for (int64_t i = r->number = 0; i < p->observations; r->number = ++i) {
        observation *larger = room_for(p->observed, i, p->observations, sizeof *larger), *o;
        if (!larger) return fail(p, r->path, "out of memory");
        p->observed = larger;
        o = &larger[i];
        if (!integer_read(r, "the camera", 0, p->cameras - 1, &o->camera) ||
            !integer_read(r, "the point", 0, p->points - 1, &o->point) || !number_read(r, "x", &o->at[0]) ||
            !number_read(r, "y", &o->at[1]))
            return false;
    }
    return true;
}

/* count items of `width` numbers each, with the given names. */
static bool rows_read(reader *r, const char *item, double **rows, int64_t count, int width, const char *const *names) {
    r->item = item;
    for (int64_t i = r->number = 0; i < count; r->number = ++i) {
        double *larger = room_for(*rows, i, count, (size_t)width * sizeof *larger);
        if (!larger) return fail(r->p, r->path, "out of memory");
        *rows = larger;
        for (int j = 0; j < width; j++)
            if (!number_read(r, names[j], &larger[i * width + j])) return false;
    }
    return true;
}

/* ---- the file ---- */

static bool counts_read(reader *r) {
    problem *p = r->p;
    r->item = "counts";
    r->number = -1;
    return integer_read(r, "the number of cameras", 1, PROBLEM_MAX_CAMERAS, &p->cameras) &&
           integer_read(r, "the number of points", 1, INT32_MAX, &p->points) &&
           integer_read(r, "the number of observations", 1, INT32_MAX, &p->observations);
}

static bool end_read(reader *r) {
    word_next(r);
    r->item = "end of the file";
    r->number = -1;
    if (*r->word) return fail_here(r, "'%s' stands behind the last point that is announced", r->word);
    return !ferror(r->stream) || fail(r->p, r->path, "cannot be read (%s)", strerror(errno));
}

bool problem_read(problem *p, const char *path) {
    static const char *const camera[PROBLEM_CAMERA] = {
        "rotation 1",    "rotation 2",   "rotation 3",    "translation 1", "translation 2",
        "translation 3", "focal length", "distortion k1", "distortion k2",
    };
    static const char *const point[PROBLEM_POINT] = {"x", "y", "z"};
    *p = (problem){0};
    reader r = {.p = p, .path = path, .stream = fopen(path, "r"), .line = 1};
    if (!r.stream) return fail(p, path, "%s", strerror(errno));
    bool done = counts_read(&r) && observations_read(&r) &&
                rows_read(&r, "camera", &p->camera, p->cameras, PROBLEM_CAMERA, camera) &&
                rows_read(&r, "point", &p->point, p->points, PROBLEM_POINT, point) && end_read(&r);
    fclose(r.stream);
    return done;
}

/* 17 digits tell every double apart. */
bool problem_write(problem *p, const char *path) {
    FILE *stream = fopen(path, "w");
    if (!stream) return fail(p, path, "%s", strerror(errno));
    fprintf(stream, "%" PRId64 " %" PRId64 " %" PRId64 "\n", p->cameras, p->points, p->observations);
    for (const observation *o = p->observed; o < p->observed + p->observations; o++)
        fprintf(stream, "%" PRId64 " %" PRId64 " %.17g %.17g\n", o->camera, o->point, o->at[0], o->at[1]);
    for (int64_t i = 0; i < p->cameras * PROBLEM_CAMERA; i++) fprintf(stream, "%.17g\n", p->camera[i]);
    for (int64_t i = 0; i < p->points * PROBLEM_POINT; i++) fprintf(stream, "%.17g\n", p->point[i]);
    bool is_written = !ferror(stream);
    if (fclose(stream) != 0) is_written = false;
    return is_written || fail(p, path, "cannot be written (%s)", strerror(errno));
}

void problem_free(problem *p) {
    free(p->camera);
    free(p->point);
    free(p->observed);
    p->camera = p->point = NULL;
    p->observed = NULL;
}
