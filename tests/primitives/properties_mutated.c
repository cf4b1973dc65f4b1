/* Texts of programs that somebody has spoilt: numbers, types, names and letters are changed at random. Such a text is
 * refused with a message, or it is a program that can be run; it never is one that reads or writes where it must
 * not, which the sanitizers watch. MUTATIONS in the environment says how many per function; more than the usual ones
 * are for looking for mistakes by hand. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "tests/primitives/probe.h"
#include "tests/primitives/properties.h"
#include "tests/support.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL = 6, MOST = 1 << 16 };

static const char *const NUMBERS[] = {"0",  "1",  "-1",  "2",    "3",   "4",    "7",
                                      "31", "64", "100", "-100", "300", "true", "nan"};
static const char *const TYPES[] = {"f64", "f32", "i64", "i32", "u8", "bool", "c128", "c64", "f16", "bf16"};

static size_t word(const char *at) {
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_') n++;
    return n;
}

/* The text with `length` bytes at `at` replaced. */
static void replace(char *text, size_t at, size_t length, const char *by) {
    const size_t size = strlen(by), rest = strlen(text + at + length) + 1;
    if (at + size + rest > MOST) return;
    memmove(text + at + size, text + at + length, rest);
    memcpy(text + at, by, size);
}

/* One word of the text becomes another one of its kind, or a letter any other. */
static void mutate(char *text, uint64_t *state) {
    const size_t length = strlen(text);
    size_t at = (size_t)random_below(state, (int)length);
    if (random_below(state, 10) == 0) {
        text[at] = (char)(32 + random_below(state, 95));
        return;
    }
    while (at > 0 && (isalnum((unsigned char)text[at - 1]) || text[at - 1] == '_')) at--;
    const size_t n = word(text + at);
    if (!n) return;
    const bool number = isdigit((unsigned char)text[at]);
    for (size_t k = 0; k < sizeof TYPES / sizeof *TYPES; k++)
        if (strlen(TYPES[k]) == n && !memcmp(TYPES[k], text + at, n)) {
            replace(text, at, n, TYPES[random_below(state, sizeof TYPES / sizeof *TYPES)]);
            return;
        }
    if (number || n > 4) {
        if (number) replace(text, at, n, NUMBERS[random_below(state, sizeof NUMBERS / sizeof *NUMBERS)]);
    } else {
        char name[8];
        snprintf(name, sizeof name, "%c%d", text[at] == 'c' ? 'c' : 'v', random_below(state, 6));
        replace(text, at, n, name);
    }
}

static void try_text(const probe *p, const char *text, lam_list in, size_t outputs) {
    lam_tensor *out[2 * CASES_OPERANDS + CASES_OUTPUTS];
    lam_scope *scope = lam_scope_begin(ctx);
    lam_program *read = lam_program_read(ctx, text);
    const bool failed = lam_failed(read);
    PROBE_CHECK(p, failed == (lam_status_of(ctx) != LAM_OK), "refused without a message:\n%s", text);
    if (!failed && lam_fn_inputs(read) == (int)in.count && lam_fn_outputs(read) == (int)outputs)
        (void)lam_call(read, in, out, outputs);
    lam_clear_error(ctx);
    (void)lam_scope_end(scope, NULL, 0);
}

static void spoil(const probe *p, lam_fn *f, lam_list in, size_t outputs, uint64_t *state) {
    static char text[MOST];
    const char *given = getenv("MUTATIONS");
    const int count = given ? atoi(given) : USUAL;
    char *whole = NULL;
    size_t size;
    FILE *file = open_memstream(&whole, &size);
    PROBE_CHECK(p, file && lam_program_print(file, lam_trace(f, in)) == LAM_OK, "it cannot be printed");
    fclose(file);
    for (int k = 0; k < count && size < MOST / 2; k++) {
        memcpy(text, whole, size + 1);
        for (int m = 0; m <= k % 3; m++) mutate(text, state);
        try_text(p, text, in, outputs);
    }
    free(whole);
}

static void visit(probe *p) {
    uint64_t state = 1;
    for (const char *c = p->operands; *c; c++) state = state * 31 + (unsigned char)*c;
    for (int i = 0; i < p->inputs; i++) state += (uint64_t)p->in[i].count;
    spoil(p, p->f, (lam_list){(size_t)p->inputs, p->x}, (size_t)p->outputs, &state);
}

int property_mutated(const cases_row *row) {
    return probe_each(row, PLAIN, visit);
}
