/* Native parts: the text of native_text.c, compiled and loaded. Pieces of it and calls of loops take turns. See
 * native.h. */
#define _GNU_SOURCE /* posix_spawnp, mkdtemp, dlopen */

#include "lib/program/native.h"

#include "lib/base/context.h"
#include "lib/program/native_text.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 512 };

typedef int native_run(char *memory, void *const data[], int64_t first, int64_t lanes);

/* A function, or NULL: steps that are run. */
typedef struct piece {
    native_run *run;
    const lam__lane_step *steps;
    int64_t count;
} piece;

struct lam__native {
    lam_ctx *ctx;
    void *library;
    bool single;
    int64_t count;
    size_t bytes; /* as allocated */
    piece pieces[];
};

/* ---- the compiler ------------------------------------------------------------------------------------------------ */

extern char **environ;

/* Waits for the compiler's end, whatever signals come meanwhile. Where the host takes in its children itself (SIGCHLD
 * ignored, a handler that waits for all) nobody knows how it ended: what it has written tells. */
static bool ended_well(pid_t child) {
    int status = 0;
    pid_t ended;
    do ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    return ended == child ? status == 0 : errno == ECHILD;
}

/* Runs the compiler without a shell, and waits. What it says goes nowhere. */
static bool compile(const char *source, const char *library) {
    static const char *const options[] = {"cc",
                                          "-std=c11",
                                          "-O1",
                                          "-march=native",
                                          "-ffp-contract=off",
                                          "-fno-math-errno",
                                          "-fno-trapping-math",
                                          "-fno-strict-aliasing",
                                          "-w",
                                          "-shared",
                                          "-fPIC"};
    enum { OPTIONS = sizeof options / sizeof *options };
    const char *const rest[] = {"-o", library, source, "-lm", NULL};
    char *arguments[OPTIONS + 5]; /* which the compiler's process gets copies of */
    for (int i = 0; i < OPTIONS + 5; i++)
        arguments[i] = (char *)(uintptr_t)(i < OPTIONS ? options[i] : rest[i - OPTIONS]);
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions)) return false;
    pid_t child;
    bool ran = !posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0) &&
               !posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1, 0) &&
               !posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0) &&
               !posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return ran && ended_well(child);
}

void *lam__native_build(bool (*write)(FILE *file, void *env), void *env) {
    const char *where = getenv("TMPDIR");
    char directory[PATH_BYTES - 16], text[PATH_BYTES], library[PATH_BYTES];
    if (!where || !*where || strlen(where) > PATH_BYTES / 2) where = P_tmpdir;
    snprintf(directory, sizeof directory, "%s/lamina-XXXXXX", where);
    if (!mkdtemp(directory)) return NULL;
    snprintf(text, sizeof text, "%s/part.c", directory);
    snprintf(library, sizeof library, "%s/part.so", directory);
    void *loaded = NULL;
    FILE *file = fopen(text, "w");
    if (file) {
        const bool written = write(file, env) && !ferror(file);
        if (!fclose(file) && written && compile(text, library)) loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    }
    unlink(text);
    unlink(library);
    rmdir(directory);
    return loaded;
}

static bool write_steps(FILE *file, void *env) {
    lam__native_write(file, env);
    return true;
}

/* False: a function is not there. */
static bool find_pieces(lam__native *n, const lam__native_source *s) {
    for (int64_t i = 0; i < s->count; i++) {
        piece *p = &n->pieces[s->piece[i]];
        char name[32];
        if (p->count++) continue;
        p->steps = &s->steps[i];
        if (lam__native_calls(&s->steps[i])) continue;
        snprintf(name, sizeof name, "lamina_%d", (int)s->piece[i]);
        void *found = dlsym(n->library, name);
        memcpy(&p->run, &found, sizeof found);
        if (!found) return false;
    }
    return true;
}

/* ---- public ------------------------------------------------------------------------------------------------------ */

static lam__native *make(lam_ctx *ctx, lam__native_source *s) {
    const size_t bytes = sizeof(lam__native) + (size_t)s->pieces * sizeof(piece);
    lam__native *n = lam__alloc_get(&ctx->pool, bytes);
    if (!n) return NULL;
    memset(n, 0, bytes);
    *n = (lam__native){.ctx = ctx, .single = s->lanes == 1, .count = s->pieces, .bytes = bytes};
    n->library = lam__native_build(write_steps, s);
    if (n->library && find_pieces(n, s)) return n;
    lam__native_free(n);
    return NULL;
}

lam__native *lam__native_new(lam_ctx *ctx, const lam__lane_step *steps, int64_t count, size_t bytes, int64_t lanes) {
    if (count < 1 || count > INT32_MAX / 16) return NULL;
    lam__native_source s = {.steps = steps, .count = count, .lanes = lanes, .registers = bytes / 8 + 1};
    const size_t room = (size_t)lam__native_words(&s) * sizeof(int32_t);
    int32_t *words = lam__alloc_get(&ctx->pool, room);
    if (!words) return NULL;
    lam__native_read(&s, words);
    lam__native *made = s.written <= LAM__NATIVE_MOST ? make(ctx, &s) : NULL;
    lam__alloc_put(&ctx->pool, words, room);
    return made;
}

void lam__native_free(lam__native *n) {
    if (!n) return;
    if (n->library) dlclose(n->library);
    lam__alloc_put(&n->ctx->pool, n, n->bytes);
}

bool lam__native_run(const lam__native *n, void *memory, void *const data[], int64_t first, int64_t lanes) {
    int odd = 0;
    for (const piece *p = n->pieces, *end = p + n->count; p < end; p++) {
        if (p->run) odd |= p->run(memory, data, first, lanes);
        else if (n->single) lam__kernels_lane_single(p->steps, p->count, memory, data);
        else
            lam__kernels_lane(p->steps, p->count, memory, data, first, lanes,
                              (int)((lanes + LAM__LANE_GROUP - 1) / LAM__LANE_GROUP));
    }
    return !odd;
}
