/* Reads the public headers: see documented.h. A docstring serves all prototypes between it and the next one; a comment
 * behind a prototype on its line is that one's own. */
#include "tests/unmarked.h"
#include "tests/primitives/documented.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const headers[] = {"ops.h",     "indexing.h", "reductions.h", "linalg.h",      "special.h",
                                      "complex.h", "neural.h",   "polynomial.h", "convolution.h", "fft.h",
                                      "random.h",  "tensor.h",   "transforms.h", "numeric.h",     "bits.h",
                                      "arrange.h", "signal.h",   "stats.h",      "structured.h",  "rotation.h"};

enum { HEADERS_COUNT = sizeof headers / sizeof headers[0], TEXT_BYTES = 1 << 16 };

static const char *text_of(int i) {
    static char texts[HEADERS_COUNT][TEXT_BYTES];
    if (texts[i][0]) return texts[i];
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", LAM_TESTS_HEADERS, headers[i]);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file, "cannot open %s", path);
    size_t read = fread(texts[i], 1, TEXT_BYTES - 1, file);
    fclose(file);
    ck_assert_msg(read > 0 && read < TEXT_BYTES - 1, "%s: %zu bytes", path, read);
    return texts[i];
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* The parenthesis behind the name in the prototype of lam_<operation>; the name may stand in parentheses itself. */
static const char *prototype_in(const char *text, const char *operation) {
    char name[80];
    size_t n = (size_t)snprintf(name, sizeof name, "lam_%s", operation);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
        const char *line = at, *end = at + n;
        while (line > text && line[-1] != '\n') line--;
        if (strncmp(line, "LAM_API", 7) != 0 || is_word(at[-1])) continue;
        if (*end == ')') end++;
        if (*end == '(') return end;
    }
    return NULL;
}

static const char *prototype_of(const char *operation, const char **text) {
    for (int i = 0; i < HEADERS_COUNT; i++) {
        const char *at = prototype_in(*text = text_of(i), operation);
        if (at) return at;
    }
    ck_abort_msg("no public header has a prototype of lam_%s", operation);
}

bool documented_takes(const char *operation, const char *wanted) {
    const char *text, *at = prototype_of(operation, &text), *end = strstr(at, ");"), *found = strstr(at, wanted);
    while (found && found[strlen(wanted)] == '*') found = strstr(found + 1, wanted); /* a place for a result */
    return found && found < end;
}

/* The comment that says how the prototype at `at` fails: the one behind it, if that speaks of failing, or the nearest
 * above it that begins a line. */
static const char *docstring_of(const char *text, const char *at, const char **end) {
    const char *stop = strstr(at, ");") + 2, *line_end = strchr(stop, '\n'), *behind = strstr(stop, "/*");
    if (behind && behind < line_end && (*end = strstr(behind, "*/")) && strstr(behind, "Fails") &&
        strstr(behind, "Fails") < *end)
        return behind;
    const char *found = NULL;
    for (const char *c = strstr(text, "\n/*"); c && c < at; c = strstr(c + 1, "\n/*")) found = c;
    ck_assert_ptr_nonnull(found);
    *end = strstr(found, "*/");
    return found;
}

/* Statuses named in [from, end). */
static unsigned long long statuses_in(const char *from, const char *end) {
    unsigned long long set = 0;
    for (const char *at = strstr(from, "LAM_ERR_"); at && at < end; at = strstr(at + 1, "LAM_ERR_"))
        for (int s = 0; s < 64; s++) {
            const char *name = lam_status_name((lam_status)s);
            size_t n = strlen(name);
            if (strncmp(at, name, n) == 0 && !is_word(at[n])) set |= DOCUMENTED_BIT(s);
        }
    return set;
}

static unsigned long long failures(const char *operation, int depth);

/* Those of the operations named in [from, end), as in "as lam_slice and lam_broadcast_to". */
static unsigned long long failures_of_named(const char *from, const char *end, int depth) {
    unsigned long long set = 0;
    for (const char *at = strstr(from, "lam_"); at && at < end; at = strstr(at + 1, "lam_")) {
        char name[80];
        int n = 0;
        for (const char *c = at + 4; is_word(*c) && n < 79; c++) name[n++] = *c;
        name[n] = 0;
        set |= failures(name, depth + 1);
    }
    return set;
}

static unsigned long long failures(const char *operation, int depth) {
    const char *text, *end, *at = prototype_of(operation, &text), *comment = docstring_of(text, at, &end);
    const char *from = strstr(comment, "Fails");
    ck_assert_msg(depth < 8, "lam_%s: the docstrings refer to each other in a circle", operation);
    if (!from || from > end) return 0;
    static const char *const next[] = {"Owner", "Derivative", "Source"};
    for (size_t i = 0; i < sizeof next / sizeof next[0]; i++) {
        const char *field = strstr(from, next[i]);
        if (field && field < end) end = field;
    }
    const char *as = strstr(from, "as lam_"), *other = as ? strchr(as, ';') : NULL;
    unsigned long long set = statuses_in(from, end);
    if (as && as < end) set |= failures_of_named(as, other && other < end ? other : end, depth);
    return set;
}

/* Where there is a lam_<operation>_mode, that is what the rows call. */
static unsigned long long failures_of_row(const char *operation) {
    char general[80];
    snprintf(general, sizeof general, "%s_mode", operation);
    for (int i = 0; i < HEADERS_COUNT; i++)
        if (prototype_in(text_of(i), general)) return failures(general, 0);
    return failures(operation, 0);
}

/* Rows ask for one operation many times in a row; under AddressSanitizer each search measures the whole text first. */
unsigned long long documented_failures(const char *operation) {
    static char last[80];
    static unsigned long long set;
    if (strcmp(last, operation) != 0) {
        set = failures_of_row(operation);
        snprintf(last, sizeof last, "%s", operation);
    }
    return set;
}
