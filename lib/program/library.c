/* See library.h. The context has a list of what is loaded, which holds no references: the last one to go takes its
 * entry out. */
#define _GNU_SOURCE /* posix_spawnp, mkdtemp, dlopen, open_memstream */

#include "lib/program/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 512 };

struct lam__library {
    lam__library *next, **link; /* in the context's list */
    uint32_t refs;
    void *loaded;
    size_t bytes; /* of the text */
    char text[];
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

/* The text, compiled and loaded, for dlclose. */
static void *build(const char *text, size_t bytes) {
    const char *where = getenv("TMPDIR");
    char directory[PATH_BYTES - 16], source[PATH_BYTES], library[PATH_BYTES];
    if (!where || !*where || strlen(where) > PATH_BYTES / 2) where = P_tmpdir;
    snprintf(directory, sizeof directory, "%s/lamina-XXXXXX", where);
    if (!mkdtemp(directory)) return NULL;
    snprintf(source, sizeof source, "%s/part.c", directory);
    snprintf(library, sizeof library, "%s/part.so", directory);
    void *loaded = NULL;
    FILE *file = fopen(source, "w");
    if (file) {
        const bool written = fwrite(text, 1, bytes, file) == bytes;
        if (!fclose(file) && written && compile(source, library)) loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    }
    unlink(source);
    unlink(library);
    rmdir(directory);
    return loaded;
}

/* ---- one for each text ------------------------------------------------------------------------------------------- */

static lam__library *find(lam_ctx *ctx, const char *text, size_t bytes) {
    lam__library *l = ctx->libraries;
    while (l && (l->bytes != bytes || memcmp(l->text, text, bytes) != 0)) l = l->next;
    if (l) l->refs++;
    return l;
}

static lam__library *add(lam_ctx *ctx, const char *text, size_t bytes) {
    lam__library *l = lam__alloc_get(&ctx->pool, sizeof *l + bytes);
    if (!l) return NULL;
    *l = (lam__library){.next = ctx->libraries, .link = &ctx->libraries, .refs = 1, .bytes = bytes};
    memcpy(l->text, text, bytes);
    l->loaded = build(text, bytes);
    if (!l->loaded) {
        lam__alloc_put(&ctx->pool, l, sizeof *l + bytes);
        return NULL;
    }
    if (l->next) l->next->link = &l->next;
    ctx->libraries = l;
    return l;
}

lam__library *lam__library_get(lam_ctx *ctx, bool (*write)(FILE *file, void *env), void *env) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    if (!file) return NULL;
    bool fine = write(file, env) && !ferror(file);
    fine = !fclose(file) && fine;
    lam__library *made = fine ? find(ctx, text, bytes) : NULL;
    if (fine && !made) made = add(ctx, text, bytes);
    free(text);
    return made;
}

void lam__library_release(lam_ctx *ctx, lam__library *library) {
    if (!library || --library->refs) return;
    *library->link = library->next;
    if (library->next) library->next->link = library->link;
    dlclose(library->loaded);
    lam__alloc_put(&ctx->pool, library, sizeof *library + library->bytes);
}

void *lam__library_find(const lam__library *library, const char *name) {
    return library ? dlsym(library->loaded, name) : NULL;
}
