/* See library.h. The context has a list of what is loaded, which holds no references: the last one to go takes its
 * entry out. */
#define _GNU_SOURCE /* posix_spawnp, mkdtemp, dlopen */

#include "lib/program/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __ELF__
#include <link.h>
#endif

enum { PATH_BYTES = 512, SLEEP_MOST = 4000000 /* nanoseconds */ };

struct lam__library {
    lam__library *next, **link; /* in the context's list: the next one, and what points to this one */
    uint32_t refs;
    void *loaded; /* what dlopen gave */
    size_t bytes; /* of the text */
    char text[];
};

/* ---- the compiler ------------------------------------------------------------------------------------------------ */

extern char **environ;

/* Waits for the compiler's end, whatever signals come meanwhile. Where the host takes in its children itself (SIGCHLD
 * ignored, a handler that waits for all) nobody knows how it ended: what it has written tells. One that hangs is killed
 * with all that it has started, and is not asked again. */
static bool ended_well(lam_ctx *ctx, pid_t child) {
    int status = 0;
    struct timespec start, now, pause = {0, SLEEP_MOST / 64};
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child) return status == 0;
        if (ended < 0 && errno != EINTR) return errno == ECHILD;
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < SLEEP_MOST) pause.tv_nsec *= 2;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - start.tv_sec < ctx->compiler_seconds);
    ctx->compiler_seconds = 0;
    kill(-child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return false;
}

/* Starts the compiler without a shell, in a process group of its own. What it says goes nowhere. Arguments go to the
 * compiler as they are: no shell sees a path with blanks in it. */
static bool started(pid_t *child, char *const arguments[]) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&actions)) return false;
    bool ran = false;
    if (!posix_spawnattr_init(&attributes)) {
        ran = !posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP) &&
              !posix_spawnattr_setpgroup(&attributes, 0) &&
              !posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0) &&
              !posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1, 0) &&
              !posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0) &&
              !posix_spawnp(child, arguments[0], &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return ran;
}

/* Runs the compiler and waits. Bits have to be those of the kernels: nothing is allowed that changes the order of sums
 * or contracts products. */
static bool compile(lam_ctx *ctx, const char *source, const char *library) {
    static const char *const options[] = {"cc",
                                          "-std=c11",
                                          "-O1",
                                          "-ftree-vectorize", /* loops, as they are: sums keep their order */
                                          "-ftree-vrp",       /* what lies across no border looks for none */
                                          "-fno-tree-slp-vectorize",
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
    pid_t child;
    return ctx->compiler_seconds && started(&child, arguments) && ended_well(ctx, child);
}

/* Whether a library is as long as it says. Of one that was cut off, by a full disk perhaps, without the compiler's
 * saying so, the first touch of what is missing would end the process. */
static bool is_whole(const char *library) {
#ifdef __ELF__
    FILE *file = fopen(library, "rb");
    if (!file) return false;
    ElfW(Ehdr) head;
    bool whole = fread(&head, sizeof head, 1, file) == 1 && !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
                 head.e_phentsize == sizeof(ElfW(Phdr)) && !fseek(file, 0, SEEK_END);
    const long size = whole ? ftell(file) : -1;
    for (int i = 0; size >= 0 && whole && i < head.e_phnum; i++) {
        ElfW(Phdr) part;
        whole = !fseek(file, (long)head.e_phoff + i * (long)sizeof part, SEEK_SET) &&
                fread(&part, sizeof part, 1, file) == 1 && part.p_offset <= (size_t)size &&
                part.p_filesz <= (size_t)size - part.p_offset;
    }
    return !fclose(file) && whole && size >= 0;
#else
    (void)library;
    return true;
#endif
}

/* A directory of our own, with a source in it and a library. mkdtemp makes it with a name that nobody has, and for this
 * user alone, so that nobody else can put another library in its place. */
typedef struct place {
    char directory[PATH_BYTES - 16], source[PATH_BYTES], library[PATH_BYTES];
} place;

/* Where TMPDIR says, unless it is longer than what is put together of it here may be. */
static bool place_begin(place *p) {
    const char *where = getenv("TMPDIR");
    if (!where || !*where || strlen(where) > PATH_BYTES / 2) where = P_tmpdir;
    snprintf(p->directory, sizeof p->directory, "%s/lamina-XXXXXX", where);
    if (!mkdtemp(p->directory)) return false;
    snprintf(p->source, sizeof p->source, "%s/part.c", p->directory);
    snprintf(p->library, sizeof p->library, "%s/part.so", p->directory);
    return true;
}

/* What is not there any more is no harm. */
static void place_end(const place *p) {
    unlink(p->source);
    unlink(p->library);
    rmdir(p->directory);
}

/* ---- one for each text ------------------------------------------------------------------------------------------- */

static void library_free(lam_ctx *ctx, lam__library *l) {
    lam__alloc_put(&ctx->pool, l, sizeof *l + l->bytes);
}

/* What stands in a file, with nothing loaded; NULL where that cannot be had. The text is kept to be compared with the
 * next one, byte by byte, so no hash can be wrong about it. */
static lam__library *read_back(lam_ctx *ctx, FILE *file) {
    const long bytes = ftell(file);
    if (bytes < 0) return NULL;
    lam__library *l = lam__alloc_get(&ctx->pool, sizeof *l + (size_t)bytes);
    if (!l) return NULL;
    *l = (lam__library){.refs = 1, .bytes = (size_t)bytes};
    rewind(file);
    if (fread(l->text, 1, l->bytes, file) == l->bytes) return l;
    library_free(ctx, l);
    return NULL;
}

/* What `write` writes, in its place, with nothing loaded. */
static lam__library *written(lam_ctx *ctx, const place *p, bool (*write)(FILE *file, void *env), void *env) {
    FILE *file = fopen(p->source, "w+");
    if (!file) return NULL;
    lam__library *l = write(file, env) && !fflush(file) && !ferror(file) ? read_back(ctx, file) : NULL;
    if (!fclose(file)) return l;
    if (l) library_free(ctx, l);
    return NULL;
}

/* The one that the context has of this text, or else this one, compiled. All texts name their functions alike, so each
 * keeps its names to itself (RTLD_LOCAL). */
static lam__library *loaded(lam_ctx *ctx, const place *p, lam__library *l) {
    lam__library *same = ctx->libraries;
    while (same && (same->bytes != l->bytes || memcmp(same->text, l->text, l->bytes) != 0)) same = same->next;
    if (same) same->refs++;
    else if (compile(ctx, p->source, p->library) && is_whole(p->library))
        l->loaded = dlopen(p->library, RTLD_NOW | RTLD_LOCAL);
    if (!l->loaded) {
        library_free(ctx, l);
        return same;
    }
    l->next = ctx->libraries;
    l->link = &ctx->libraries;
    if (l->next) l->next->link = &l->next;
    return ctx->libraries = l;
}

/* The directory goes at once: what is loaded stays mapped without its file. */
lam__library *lam__library_get(lam_ctx *ctx, bool (*write)(FILE *file, void *env), void *env) {
    place p;
    if (!place_begin(&p)) return NULL;
    lam__library *l = written(ctx, &p, write, env);
    if (l) l = loaded(ctx, &p, l);
    place_end(&p);
    return l;
}

/* Nobody may be in its functions any more, or hold one of them. */
void lam__library_release(lam_ctx *ctx, lam__library *library) {
    if (!library || --library->refs) return;
    *library->link = library->next;
    if (library->next) library->next->link = library->link;
    dlclose(library->loaded);
    library_free(ctx, library);
}

/* NULL also where there is no library, which spares callers one question. */
void *lam__library_find(const lam__library *library, const char *name) {
    return library ? dlsym(library->loaded, name) : NULL;
}
