/* The reader of NIST's format: the file becomes lines, the header gives line ranges, the ranges give numbers.
 *
 * Everything is checked where it is read, and the first thing that is wrong becomes one line "path:line: what".
 * All numbers pass number_read, so none is taken for less than the whole word that stands there. */
#include "dataset.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct text {
    const char *path;
    char *bytes;  /* the whole file; line ends are overwritten by 0 */
    char **lines; /* lines[0] is line 1 */
    int count;
} text;

typedef struct line_range {
    int first, last; /* numbers of lines, from 1, both belong to the range */
} line_range;

/* Records the failure and returns false, so that a caller can say `return fail(...)`. Line 0: none to blame. */
static bool fail(dataset *set, const text *file, int line, const char *format, ...) {
    int used = line > 0 ? snprintf(set->error, sizeof set->error, "%s:%d: ", file->path, line)
                        : snprintf(set->error, sizeof set->error, "%s: ", file->path);
    if (used < 0 || (size_t)used >= sizeof set->error) return false; /* a very long path: it alone is the message */
    va_list list;
    va_start(list, format);
    vsnprintf(set->error + used, sizeof set->error - (size_t)used, format, list);
    va_end(list);
    return false;
}

/* ---- the file as lines ---- */

static bool bytes_read(dataset *set, text *file, size_t *size) {
    FILE *stream = fopen(file->path, "rb");
    if (!stream) return fail(set, file, 0, "%s", strerror(errno));
    size_t room = 0, used = 0, got = 0;
    errno = 0;
    do {
        if (room - used < 2) { /* one byte stays free for the final 0 */
            room = room ? 2 * room : 1 << 14;
            char *larger = realloc(file->bytes, room);
            if (!larger) break;
            file->bytes = larger;
        }
        used += got = fread(file->bytes + used, 1, room - used - 1, stream);
    } while (got > 0);
    bool complete = feof(stream) && !ferror(stream);
    int reason = errno;
    fclose(stream);
    if (!complete) return fail(set, file, 0, "cannot be read (%s)", strerror(reason));
    file->bytes[used] = 0;
    *size = used;
    return true;
}

/* Cuts at '\n'; a '\r' before it goes too. A 0 byte would hide the rest of its line, so it is refused. */
static bool lines_cut(dataset *set, text *file, size_t size) {
    if (memchr(file->bytes, 0, size)) return fail(set, file, 0, "is not a text file");
    size_t count = 1;
    for (size_t i = 0; i < size; i++) count += file->bytes[i] == '\n';
    if (count > INT32_MAX) return fail(set, file, 0, "is too long");
    file->lines = malloc(count * sizeof *file->lines);
    if (!file->lines) return fail(set, file, 0, "out of memory");
    char *at = file->bytes;
    while (at && *at) {
        file->lines[file->count++] = at;
        char *end = strchr(at, '\n');
        at = end ? end + 1 : NULL;
        if (end) *end = 0;
        if (end && end > file->lines[file->count - 1] && end[-1] == '\r') end[-1] = 0;
    }
    return true;
}

/* ---- words and numbers ---- */

/* Reads the finite number that is the next blank-separated word. false at the end of the line and at anything else;
 * *at then still points to the word. */
static bool number_read(const char **at, double *number) {
    const char *word = *at + strspn(*at, " \t");
    *at = word;
    if (!*word) return false;
    char *end = NULL;
    *number = strtod(word, &end);
    if (end == word || (*end && *end != ' ' && *end != '\t') || !isfinite(*number)) return false;
    *at = end;
    return true;
}

/* Reads up to room numbers from the text at `at` in the given line; gives how many there were, or -1 after fail. */
static int numbers_read(dataset *set, const text *file, int line, const char *at, double *numbers, int room) {
    int count = 0;
    while (count < room && number_read(&at, &numbers[count])) count++;
    at += strspn(at, " \t");
    if (!*at) return count;
    if (count == room) fail(set, file, line, "more than %d numbers in the row", room);
    else fail(set, file, line, "broken number '%.*s'", (int)strcspn(at, " \t"), at);
    return -1;
}

/* ---- the header ---- */

/* The text behind `key` in the first line that has it and, if `also` is given, has that as well. NULL: none. */
static const char *entry_find(const text *file, const char *key, const char *also, int *line) {
    for (int i = 0; i < file->count; i++) {
        const char *at = strstr(file->lines[i], key);
        if (!at || (also && !strstr(at, also))) continue;
        *line = i + 1;
        return at + strlen(key);
    }
    return NULL;
}

static bool range_read(dataset *set, const text *file, const char *key, line_range *range) {
    int line = 0;
    const char *at = entry_find(file, key, "(lines", &line);
    if (!at) return fail(set, file, 0, "no header entry '%s (lines ... to ...)'", key);
    if (sscanf(strstr(at, "(lines"), "(lines %d to %d)", &range->first, &range->last) != 2)
        return fail(set, file, line, "cannot read the line numbers of '%s'", key);
    if (range->first < 1 || range->last < range->first)
        return fail(set, file, line, "'%s' has the impossible line range %d to %d", key, range->first, range->last);
    if (range->last > file->count)
        return fail(set, file, line, "'%s' ends at line %d, but the file has only %d lines", key, range->last,
                    file->count);
    return true;
}

static bool name_read(dataset *set, const text *file) {
    int line = 0;
    const char *at = entry_find(file, "Dataset Name:", NULL, &line);
    if (!at || sscanf(at, "%63s", set->name) != 1) return fail(set, file, line, "no header entry 'Dataset Name:'");
    return true;
}

/* ---- values and data ---- */

/* One row for each parameter: b1 = start1 start2 certified deviation. */
static bool parameters_read(dataset *set, const text *file, line_range range) {
    set->parameters = range.last - range.first + 1;
    if (set->parameters > DATASET_MAX_PARAMETERS)
        return fail(set, file, range.first, "%d parameters are more than the %d that this program takes",
                    set->parameters, DATASET_MAX_PARAMETERS);
    for (int j = 0; j < set->parameters; j++) {
        int line = range.first + j, number = 0, used = 0;
        const char *at = file->lines[line - 1];
        double values[4];
        if (sscanf(at, " b%d =%n", &number, &used) != 1 || !used || number != j + 1)
            return fail(set, file, line, "expected the starting values of b%d", j + 1);
        int count = numbers_read(set, file, line, at + used, values, 4);
        if (count < 0) return false;
        if (count != 4) return fail(set, file, line, "4 numbers are needed for b%d, here are %d", j + 1, count);
        set->start[0][j] = values[0];
        set->start[1][j] = values[1];
        set->certified[j] = values[2];
        set->deviation[j] = values[3];
    }
    return true;
}

static bool sum_of_squares_read(dataset *set, const text *file, line_range range) {
    static const char key[] = "Residual Sum of Squares:";
    int line = 0;
    const char *at = entry_find(file, key, NULL, &line);
    if (!at || line < range.first || line > range.last)
        return fail(set, file, range.first, "no '%s' among the certified values", key);
    int count = numbers_read(set, file, line, at, &set->sum_of_squares, 1);
    if (count < 0) return false;
    return count == 1 || fail(set, file, line, "'%s' has no number", key);
}

/* One row for each observation: y x or y x1 x2 ...; the first row decides how many predictors there are. */
static bool observations_read(dataset *set, const text *file, line_range range) {
    int rows = set->observations = range.last - range.first + 1;
    if (rows <= set->parameters)
        return fail(set, file, range.first, "too few points: %d observations for %d parameters", rows, set->parameters);
    set->y = malloc((size_t)rows * sizeof *set->y);
    set->x = malloc((size_t)rows * DATASET_MAX_PREDICTORS * sizeof *set->x);
    if (!set->y || !set->x) return fail(set, file, 0, "out of memory");
    for (int i = 0; i < rows; i++) {
        double row[1 + DATASET_MAX_PREDICTORS];
        int line = range.first + i;
        int count = numbers_read(set, file, line, file->lines[line - 1], row, 1 + DATASET_MAX_PREDICTORS);
        if (count < 0) return false;
        if (count < 2)
            return fail(set, file, line, "a response and a predictor are needed, here are %d numbers", count);
        if (i == 0) set->predictors = count - 1;
        if (count != 1 + set->predictors)
            return fail(set, file, line, "%d numbers in the row, %d in the first one", count, 1 + set->predictors);
        set->y[i] = row[0];
        memcpy(set->x + (size_t)i * (size_t)set->predictors, row + 1, (size_t)set->predictors * sizeof *row);
    }
    return true;
}

/* A file that says how many observations it holds must hold as many. */
static bool count_check(dataset *set, const text *file) {
    int line = 0, count = 0;
    const char *at = entry_find(file, "Number of Observations:", NULL, &line);
    if (!at || (sscanf(at, "%d", &count) == 1 && count == set->observations)) return true;
    return fail(set, file, line, "%d observations are announced, %d lines of data given", count, set->observations);
}

static bool text_parse(dataset *set, const text *file) {
    line_range starts, certified, data;
    return name_read(set, file) && range_read(set, file, "Starting Values", &starts) &&
           range_read(set, file, "Certified Values", &certified) && range_read(set, file, "Data", &data) &&
           parameters_read(set, file, starts) && sum_of_squares_read(set, file, certified) &&
           observations_read(set, file, data) && count_check(set, file);
}

bool dataset_read(dataset *set, const char *path) {
    *set = (dataset){0};
    text file = {.path = path};
    size_t size = 0;
    bool done = bytes_read(set, &file, &size) && lines_cut(set, &file, size) && text_parse(set, &file);
    free(file.lines);
    free(file.bytes);
    return done;
}

void dataset_free(dataset *set) {
    free(set->y);
    free(set->x);
    set->y = set->x = NULL;
}
